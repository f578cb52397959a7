"""Georeference by land: a map of the database laid on a coastline by the hexes that must be land.

report = georeference_by_land(connection, "guam-house", coast, hexes)
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import shapely
import sqlalchemy as sa
from shapely.geometry.base import BaseGeometry
from sqlalchemy.engine import Connection

from db import SightlineError
from db.features import utm_of
from db.inventory import no_map
from db.labels import Axial, Scheme, nearest
from db.map_draft import ControlPoint
from db.maps import Hex, Map
from db.rulesets import read_ruleset
from importers.georeference import Report, georeference
from importers.land_fit import LandFit, equal_turns, fit_land

Found = TypeVar("Found")
SLACK = 0.15
"""By how much a hex may differ from the map's own scale, as a part of it."""


@dataclasses.dataclass(frozen=True)
class LandReport:
    """How a map lies on a coast."""

    map: str
    srid: int
    ashore: int
    """Hexes whose centre is land."""
    touching: int
    """Hexes that have land within their inscribed circle."""
    of: int
    meters_per_hex: float
    turn: float
    rms_hexes: float
    control_rms: float | None
    depth: float
    """Hexes that the outermost centre lies inland; below nothing, at sea."""
    turns: tuple[float, float] | None
    """Between which turns every centre can be ashore; None where that cannot be, or control points hold the map."""
    misfits: tuple[tuple[str, float], ...]
    """Hexes whose centres lie at sea, and by how many hexes, the worst first."""
    other_shift: dict[str, Any] | None
    """The same where shifted columns lie the other way."""
    equal: tuple[tuple[float, int, float, float], ...] | None
    """Turns that fit about as well, the best first: degrees, centres ashore, root mean square, depth; None where nobody asked."""
    placed: Report | None
    """The georeference as it was stored; None where it was only tried."""


def read_coast(path: Path, name: str | None, near: str) -> tuple[str, BaseGeometry]:
    """A coastline of a GeoJSON file by its name, or the one that is called as the map begins."""
    try:
        features = json.loads(path.read_text(encoding="utf-8"))["features"]
        known = {str(one["properties"]["name"]): shapely.geometry.shape(one["geometry"]) for one in features}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SightlineError(
            f"{path} is no GeoJSON file of coastlines.", "Each feature needs a property `name` and a polygon."
        ) from error
    wanted = name or next((one for one in sorted(known, key=len, reverse=True) if near.startswith(one)), None)
    if wanted is None or wanted not in known:
        alike = nearest(wanted or near, known)
        raise SightlineError(
            f"{path.name} has no coast {(wanted or near)!r}.",
            f"Did you mean {alike[0]}? --island names one."
            if alike
            else f"There are {', '.join(known)}; --island names one.",
        )
    return wanted, known[wanted]


def printed_hexes(island: str) -> list[str]:
    """The hex numbers that fpb's placement tables (19.0) print for an island: each of them is land."""
    cells = read_ruleset("fpb").charts["random_placement"].each_cell()
    found = {
        str(cell.value) for row, column, cell in cells if row.startswith(f"{island}/") and column.isdigit()
    }
    return sorted(found)


def georeference_by_land(
    connection: Connection,
    name: str,
    coast: BaseGeometry,
    labels: Collection[str] | None = None,
    *,
    meters: float | None = None,
    control: Sequence[tuple[str, float, float]] = (),
    free_scale: bool = False,
    compare_shift: bool = False,
    compare_turns: bool = False,
    keep: bool = True,
) -> LandReport:
    """Lay a map on a coast; `labels` are land, else every hex of the map that is not sea.

    A hex measures what the map says, or `meters`; with `free_scale` a little more or less. Land alone
    would always have it smaller, so that is for where control points hold it.
    """
    found = connection.execute(
        sa.select(Map.id, Map.name, Map.scheme, Map.meters_per_hex, Map.ruleset).where(Map.name == name)
    ).one_or_none()
    if found is None:
        raise no_map(connection, name)
    scheme = Scheme.model_validate(found.scheme)
    named = list(labels) if labels is not None else _land(connection, found.id)
    lengths = _lengths(meters, found.meters_per_hex, free_scale)
    if free_scale and len(control) < 2:
        raise SightlineError(
            "Land alone would only make the hexes smaller.", "Give two or more control points beside."
        )
    srid = utm_of(coast.bounds)
    assert srid is not None
    plane = _plane(coast)
    ground = _projected(connection, coast, plane)
    points = [(label, _point(connection, lon, lat, plane)) for label, lon, lat in control]
    fit = _fitted(scheme, named, ground, lengths, points, fit_land)
    other = None
    if compare_shift:
        turned = scheme.model_copy(update={"shift": "up" if scheme.shift == "down" else "down"})
        there = _fitted(turned, named, ground, lengths, points, fit_land)
        other = {"shift": turned.shift, "ashore": there.ashore, "touching": there.touching, "of": there.of, "rms_hexes": there.rms_hexes, "depth": there.depth, "control_rms": there.control_rms}  # fmt: skip
    equal = None
    if compare_turns:
        ways = _fitted(scheme, named, ground, lengths, points, equal_turns)
        equal = tuple((way.turn, way.ashore, way.rms_hexes, way.depth) for way in ways)
    placed = None
    if keep:
        placed = georeference(connection, name, _corner_points(connection, found.id, fit, plane, srid), srid)
    return LandReport(
        name, srid, fit.ashore, fit.touching, fit.of, fit.meters_per_hex, fit.turn, fit.rms_hexes, fit.control_rms, fit.depth, fit.turns,
        tuple((scheme.label(misfit.hex), misfit.hexes) for misfit in fit.misfits), other, equal, placed,
    )  # fmt: skip


def _fitted(
    scheme: Scheme,
    labels: Sequence[str],
    ground: BaseGeometry,
    lengths: tuple[float, float],
    points: Sequence[tuple[str, complex]],
    by: Callable[..., Found],
) -> Found:
    """What a way of fitting finds for hexes and control points by their labels."""
    return by(
        [scheme.hex(label) for label in labels],
        ground,
        lengths,
        [(scheme.hex(label), world) for label, world in points],
        pointed=scheme.orientation == "pointed",
    )


def _lengths(meters: float | None, scale: int | None, free: bool) -> tuple[float, float]:
    size = meters or scale
    if size is None:
        raise SightlineError("The map does not say how large its hexes are.", "Give --scale, in metres.")
    return (size * (1 - SLACK), size * (1 + SLACK)) if free else (size, size)


def _land(connection: Connection, map_id: int) -> list[str]:
    query = sa.select(Hex.label).where(Hex.map_id == map_id, Hex.terrain != "sea").order_by(Hex.label)
    return list(connection.scalars(query))


def _plane(coast: BaseGeometry) -> str:
    """A plane of true metres about the middle of a coast: the grid of a UTM zone is off by up to a thousandth."""
    west, south, east, north = coast.bounds
    return f"+proj=tmerc +lat_0={(south + north) / 2:.6f} +lon_0={(west + east) / 2:.6f} +k=1 +datum=WGS84 +units=m"


def _projected(connection: Connection, coast: BaseGeometry, plane: str) -> BaseGeometry:
    wkb = connection.scalar(
        sa.text("select st_asbinary(st_transform(st_geomfromwkb(:coast, 4326), :plane))"),
        {"coast": shapely.to_wkb(coast), "plane": plane},
    )
    return shapely.make_valid(shapely.from_wkb(bytes(wkb)))


def _point(connection: Connection, lon: float, lat: float, plane: str) -> complex:
    query = "select st_x(p), st_y(p) from st_transform(st_setsrid(st_point(:lon, :lat), 4326), :plane) as p"
    return complex(*connection.execute(sa.text(query), {"lon": lon, "lat": lat, "plane": plane}).one())


def _corner_points(
    connection: Connection, map_id: int, fit: LandFit, plane: str, srid: int
) -> list[ControlPoint]:
    """Hexes at the ends of the map where the fit puts them, to a centimetre: what the map keeps of it."""
    places = [
        Axial(*place) for place in connection.execute(sa.select(Hex.q, Hex.r).where(Hex.map_id == map_id))
    ]
    ways = (lambda p: p.center[0] + p.center[1], lambda p: p.center[0] - p.center[1])
    ends = dict.fromkeys(end(places, key=way) for way in ways for end in (min, max))
    query = sa.text("select st_x(p), st_y(p) from st_transform(st_point(:x, :y), :plane, :srid) as p")
    found = []
    for place in ends:
        x, y = fit.at(place)
        world = connection.execute(query, {"x": x, "y": y, "plane": plane, "srid": srid}).one()
        found.append(ControlPoint(place, *(Decimal(f"{number:.2f}") for number in world)))
    return found
