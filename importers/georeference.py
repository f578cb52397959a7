"""Georeference: where a map lies in the world, from hexes whose place there is known.

Three or more control points (a hex, and the coordinates of its centre) give an affine
from the lattice to a CRS by least squares. It is solved in exact fractions, so that points
which fit leave no residual at all, and the only rounding is that of the six numbers kept.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.inventory import no_map
from db.labels import Axial, Scheme
from db.map_draft import ControlPoint, HexDraft, MapDraft
from db.maps import Hex, Map
from importers.documents import Node, Problem, Problems, resolved
from importers.map_reading import read_hex

FEWEST = 3
"""Points that settle an affine; more of them show how well it fits."""
HEADERS = (("label", "x", "y"), ("label", "lon", "lat"))
SUSPECT = Fraction(1, 2)
"""Hexes by which a control point may be off before the report asks about its label."""


class GeoreferenceError(SightlineError):
    """Control points that place no map; nothing was changed."""


class Affine(NamedTuple):
    """Lattice to CRS, as ST_Affine takes it, exact."""

    a: Fraction
    b: Fraction
    d: Fraction
    e: Fraction
    xoff: Fraction
    yoff: Fraction

    def at(self, place: Axial) -> tuple[Fraction, Fraction]:
        """Where the centre of a hex comes to lie."""
        x, y = place.center
        return self.a * x + self.b * y + self.xoff, self.d * x + self.e * y + self.yoff

    @property
    def determinant(self) -> Fraction:
        return self.a * self.e - self.b * self.d


@dataclasses.dataclass(frozen=True)
class FittedPoint:
    """A control point and how far the fit puts its hex from it."""

    label: str
    x: Decimal
    y: Decimal
    dx: float
    """Fitted less given, in units of the CRS."""
    dy: float
    residual: float
    """Length of (dx, dy)."""
    meters: float
    """The same on the ground."""

    def stored(self, srid: int) -> str:
        """As `map.control_points` keeps it, JSON with the given numbers digit for digit."""
        fit = {"srid": srid, "dx": self.dx, "dy": self.dy, "residual": self.residual, "meters": self.meters}
        return f'{{"label": {json.dumps(self.label)}, "x": {self.x:f}, "y": {self.y:f}, {json.dumps(fit)[1:]}'


@dataclasses.dataclass(frozen=True)
class Report:
    """How well a map fits its control points."""

    map: str
    srid: int
    crs: str
    unit: str
    affine: tuple[float, ...]
    points: tuple[FittedPoint, ...]
    rms: float
    """Root mean square of the residuals, in units of the CRS."""
    rms_meters: float
    meters_per_hex: tuple[float, float]
    """From centre to centre on the ground, in the direction where it is least and where it is most."""
    notices: tuple[str, ...]
    """What the user should look at."""


class Crs(NamedTuple):
    """A coordinate reference system that PostGIS knows."""

    srid: int
    name: str
    unit: str
    geographic: bool


def fit(points: Sequence[ControlPoint]) -> Affine:
    """The affine with the least sum of squared residuals, exact."""
    if len({point.hex for point in points}) < FEWEST:
        raise GeoreferenceError(
            f"A georeference needs control points in at least three hexes; there are {len(points)}.",
            "Give three or more that do not lie on one line.",
        )
    n = len(points)
    centers = [point.hex.center for point in points]
    mean_u, mean_v = (Fraction(sum(numbers), n) for numbers in zip(*centers, strict=True))
    spread = [(u - mean_u, v - mean_v) for u, v in centers]
    suu, suv, svv = (sum(p[i] * p[j] for p in spread) for i, j in ((0, 0), (0, 1), (1, 1)))
    determinant = suu * svv - suv * suv
    if determinant == 0:
        raise GeoreferenceError(
            "The control points' hexes lie on one line: the map could be turned over about it.",
            "Add a point far off that line.",
        )

    def row(values: Sequence[Fraction]) -> tuple[Fraction, Fraction, Fraction]:
        """Two slopes and an offset: the normal equations of one coordinate, about the mean."""
        sux = sum((u * value for (u, _), value in zip(spread, values, strict=True)), Fraction(0))
        svx = sum((v * value for (_, v), value in zip(spread, values, strict=True)), Fraction(0))
        along_u = (svv * sux - suv * svx) / determinant
        along_v = (suu * svx - suv * sux) / determinant
        return along_u, along_v, sum(values, Fraction(0)) / n - along_u * mean_u - along_v * mean_v

    a, b, xoff = row([Fraction(point.x) for point in points])
    d, e, yoff = row([Fraction(point.y) for point in points])
    return Affine(a, b, d, e, xoff, yoff)


def georeference(connection: Connection, map: int | str, points: Iterable[ControlPoint], srid: int) -> Report:
    """Place a map, by id or name, and say how well its control points fit; a bad set changes nothing."""
    found = _find_map(connection, map)
    given = tuple(points)
    crs = _find_crs(connection, srid)
    scheme = Scheme.model_validate(found.scheme)
    _check_points(given, scheme, crs)
    affine = fit(given)
    _check_affine(affine)
    numbers = tuple(float(number) for number in affine)
    with connection.begin_nested():
        connection.execute(sa.update(Map).where(Map.id == found.id).values(srid=srid, affine=list(numbers)))
        _check_extent(connection, found, crs)
        meters = _meters_off(connection, found.id, given)
        fitted = tuple(
            _fitted(point, scheme.label(point.hex), affine, off)
            for point, off in zip(given, meters, strict=True)
        )
        connection.execute(
            sa.text("update map set control_points = cast(:points as jsonb) where id = :map"),
            {"map": found.id, "points": f"[{', '.join(point.stored(srid) for point in fitted)}]"},
        )
        pitch = _meters_per_hex(connection, found.id, given[0].hex)
    return Report(
        found.name,
        srid,
        crs.name,
        crs.unit,
        numbers,
        fitted,
        _root_mean_square(point.residual for point in fitted),
        _root_mean_square(point.meters for point in fitted),
        pitch,
        tuple(_notices(fitted, pitch, found.meters_per_hex)),
    )


def forget(connection: Connection, map: int | str) -> bool:
    """Take a map out of the world again. True if it was there."""
    found = _find_map(connection, map)
    connection.execute(
        sa.update(Map).where(Map.id == found.id).values(srid=None, affine=None, control_points=[])
    )
    return found.srid is not None


def import_control_points(
    connection: Connection, map: int | str, text: str, file: str, srid: int = 4326
) -> Report:
    """Place a map by a CSV file of control points: `label,x,y`, or `label,lon,lat`."""
    return georeference(connection, map, read_control_points(connection, map, text, file), srid)


def read_control_points(connection: Connection, map: int | str, text: str, file: str) -> list[ControlPoint]:
    """The control points of a CSV file, or every problem in it."""
    draft = _draft(connection, _find_map(connection, map))
    problems = Problems()
    points: list[ControlPoint] = []
    for line, row in _rows(text, file, problems):
        cells = [
            Node(resolved(cell), text=cell, file=file, line=line, key=name) for name, cell in row.items()
        ]
        point = _read_point(cells, draft, problems)
        if point is not None:
            points.append(point)
    problems.raise_if_any()
    return points


def _rows(text: str, file: str, problems: Problems) -> list[tuple[int, dict[str, str]]]:
    """The rows below the header, each with its line."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff")), strict=True)
    rows: list[tuple[int, dict[str, str]]] = []
    try:
        header = tuple(name.strip().lower() for name in next(reader, []))
        if header not in HEADERS:
            problems.found.append(Problem(file, 1, "", "the first line must read label,x,y or label,lon,lat"))
            return []
        for cells in reader:
            if len(cells) == len(header):
                row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
                rows.append((reader.line_num, row))
            elif cells:
                found = f"expected {len(header)} values, found {len(cells)}"
                problems.found.append(Problem(file, reader.line_num, "", found))
    except csv.Error as error:
        problems.found.append(Problem(file, reader.line_num, "", f"not CSV: {error}"))
    return rows


def _read_point(cells: Sequence[Node], draft: MapDraft, problems: Problems) -> ControlPoint | None:
    label, x, y = cells
    place = read_hex(label, draft, problems)
    east, north = (cell.number(problems) for cell in (x, y))
    if place is None or east is None or north is None:
        return None
    return ControlPoint(place, Decimal(str(x.value)), Decimal(str(y.value)))


def _draft(connection: Connection, found: sa.Row[Any]) -> MapDraft:
    """As much of a stored map as reading its labels needs."""
    places = connection.execute(sa.select(Hex.q, Hex.r).where(Hex.map_id == found.id))
    hexes = dict.fromkeys((Axial(*place) for place in places), HexDraft("", 0))
    return MapDraft(found.ruleset, Scheme.model_validate(found.scheme), hexes=hexes)


def _find_map(connection: Connection, map: int | str) -> sa.Row[Any]:
    found = connection.execute(
        sa.select(Map.id, Map.name, Map.ruleset, Map.scheme, Map.srid, Map.meters_per_hex).where(
            Map.id == map if isinstance(map, int) else Map.name == map
        )
    ).one_or_none()
    if found is None:
        raise no_map(connection, str(map))
    return found


def _find_crs(connection: Connection, srid: int) -> Crs:
    text = connection.scalar(sa.text("select srtext from spatial_ref_sys where srid = :srid"), {"srid": srid})
    kind, _, rest = (text or "").partition("[")
    if kind not in ("GEOGCS", "PROJCS"):
        what = "is not a CRS of the plane or of longitude and latitude" if text else "is unknown"
        raise GeoreferenceError(
            f"EPSG:{srid} {what}.",
            "Give the code of a CRS that PostGIS knows, such as 4326 (longitude and latitude)"
            " or 32655 (UTM zone 55 north).",
        )
    units = re.findall(r'UNIT\["([^"]+)"', rest)
    return Crs(srid, rest.split('"')[1], units[-1] if units else "unit", kind == "GEOGCS")


def _check_points(points: Sequence[ControlPoint], scheme: Scheme, crs: Crs) -> None:
    seen: set[Axial] = set()
    for point in points:
        label = scheme.label(point.hex)
        if point.hex in seen:
            raise GeoreferenceError(
                f"{label} has two control points.", "Keep the better one; a hex has one centre."
            )
        seen.add(point.hex)
        if not (point.x.is_finite() and point.y.is_finite()):
            raise GeoreferenceError(f"{label}: ({point.x}, {point.y}) is no place.", "Give two numbers.")
        if crs.geographic and (abs(point.y) > 90 or abs(point.x) > 180):
            raise GeoreferenceError(
                f"{label}: there is no longitude {point.x}, latitude {point.y}.",
                "x is the longitude and y the latitude, in degrees; are they swapped, or in another CRS?",
            )


def _check_affine(affine: Affine) -> None:
    if affine.determinant == 0:
        raise GeoreferenceError(
            "The control points' coordinates lie on one line or in one place.",
            "Check their coordinates; the map would have no area.",
        )
    # the lattice has y down and a CRS y up, so a map seen from above changes its handedness
    if affine.determinant > 0:
        raise GeoreferenceError(
            "The control points show the map as in a mirror.",
            "Check that x (east, longitude) comes before y (north, latitude) and that no two labels are swapped.",
        )


def _check_extent(connection: Connection, found: sa.Row[Any], crs: Crs) -> None:
    """Refuse an affine by which a hex of the map leaves the world: no view could show it."""
    try:
        with connection.begin_nested():
            reach = connection.execute(
                sa.text(
                    """
                    select min(st_xmin(box)) as west, max(st_xmax(box)) as east,
                           min(st_ymin(box)) as south, max(st_ymax(box)) as north
                    from (
                      select st_transform(gis._world(hex.geom, map.affine, map.srid), 4326) as box
                      from hex join map on map.id = hex.map_id where map.id = :map_id
                    ) as placed
                    """
                ),
                {"map_id": found.id},
            ).one()
    except sa.exc.DBAPIError as error:
        raise _outside(crs) from error
    ends = [value for value in reach if value is not None]
    if not all(math.isfinite(value) for value in ends) or any(abs(value) > 90 for value in ends[2:]):
        raise _outside(crs)


def _outside(crs: Crs) -> GeoreferenceError:
    return GeoreferenceError(
        f"By these control points hexes of the map lie outside the world of EPSG:{crs.srid} ({crs.name}).",
        "Check the coordinates, and that they are in this CRS.",
    )


def _meters_off(connection: Connection, map_id: int, points: Sequence[ControlPoint]) -> list[float]:
    """How far, on the ground, each control point is from where the map now puts its hex."""
    query = sa.text(
        """
        select st_distance(
                 st_transform(gis.world(map.id, lattice.center(point.q, point.r)), 4326)::geography,
                 st_transform(st_setsrid(st_makepoint(point.x, point.y), map.srid), 4326)::geography
               )
        from map, unnest(cast(:q as integer[]), cast(:r as integer[]), cast(:x as float8[]), cast(:y as float8[]))
             with ordinality as point (q, r, x, y, n)
        where map.id = :map_id
        order by point.n
        """
    )
    values = {
        "map_id": map_id,
        "q": [point.hex.q for point in points],
        "r": [point.hex.r for point in points],
        "x": [float(point.x) for point in points],
        "y": [float(point.y) for point in points],
    }
    return list(connection.scalars(query, values))


def _meters_per_hex(connection: Connection, map_id: int, place: Axial) -> tuple[float, float]:
    """Least and greatest distance on the ground from a hex to its neighbours."""
    query = sa.text(
        """
        select min(step.meters) as least, max(step.meters) as most
        from lattice.neighbours(:q, :r) as beside,
             lateral (
               select st_distance(
                        st_transform(gis.world(:map_id, lattice.center(:q, :r)), 4326)::geography,
                        st_transform(gis.world(:map_id, lattice.center(beside.nq, beside.nr)), 4326)::geography
                      ) as meters
             ) as step
        """
    )
    row = connection.execute(query, {"map_id": map_id, "q": place.q, "r": place.r}).one()
    return row.least, row.most


def _fitted(point: ControlPoint, label: str, affine: Affine, meters: float) -> FittedPoint:
    x, y = affine.at(point.hex)
    dx, dy = x - Fraction(point.x), y - Fraction(point.y)
    length = math.hypot(dx, dy)
    # the six stored numbers are rounded; where the exact fit leaves nothing, nor shall the report
    return FittedPoint(label, point.x, point.y, float(dx), float(dy), length, meters if length else 0.0)


def _notices(points: Sequence[FittedPoint], pitch: tuple[float, float], stated: int | None) -> Iterable[str]:
    if len(points) == FEWEST:
        yield "Three points always fit: add a fourth to see how well the map does."
    mean = sum(pitch) / 2
    for point in points:
        if point.meters > SUSPECT * mean:
            yield f"{point.label} is {point.meters / mean:.1f} hexes off: check its label and coordinates."
    if pitch[1] > 1.15 * pitch[0]:
        yield (
            f"Hexes are {pitch[0]:,.0f} m across one way and {pitch[1]:,.0f} m another:"
            " the map is stretched, or a control point is wrong."
        )
    if stated is not None and not 0.8 * stated < mean < 1.25 * stated:
        yield f"A hex comes out at {mean:,.0f} m; the map says {stated:,} m."


def _root_mean_square(lengths: Iterable[float]) -> float:
    squares = [length * length for length in lengths]
    return math.sqrt(sum(squares) / len(squares))
