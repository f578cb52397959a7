"""What maps and positions the database holds, and what is on each: to list them and to show one."""

from __future__ import annotations

import collections
import dataclasses
import datetime
from collections.abc import Collection
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.labels import STEPS, Scheme, nearest
from db.maps import Crest, Hex, Hexside, Map, MapCount, MapFeature, MapFeatureHex, Path, TerrainArea
from db.positions import Marker, Position, Unit
from db.rulesets.tables import HexsideKind, PathKind, Terrain


class NotThereError(SightlineError):
    """A map or position of that name is not in the database."""

    status = 404


@dataclasses.dataclass(frozen=True)
class MapEntry:
    """A map as the list has it."""

    name: str
    title: str
    ruleset: str
    hexes: int
    positions: int
    srid: int | None


@dataclasses.dataclass(frozen=True)
class PositionEntry:
    """A position as the list has it."""

    name: str
    title: str
    ruleset: str
    map: str
    units: int
    markers: int


@dataclasses.dataclass(frozen=True)
class MapFacts:
    """A map with all that is on it, counted by kind."""

    name: str
    title: str
    ruleset: str
    scheme: dict[str, Any]
    first: str | None
    last: str | None
    """Labels of the hexes at its two ends, by column."""
    meters_per_hex: int | None
    source: str
    note: str
    hexes: int
    terrain: dict[str, int]
    levels: dict[int, int]
    hexsides: dict[str, int]
    paths: dict[str, int]
    areas: dict[str, int]
    crests: dict[int, int]
    places: dict[str, int]
    positions: list[str]
    srid: int | None
    crs: str | None
    control_points: list[dict[str, Any]]
    created_at: datetime.datetime


class OnHex(NamedTuple):
    """Something that lies in a hex or on its side: what, by which rule, and where or how."""

    title: str
    rule: str | None
    told: str = ""


@dataclasses.dataclass(frozen=True)
class HexFacts:
    """A hex with all that is printed in it and on its sides."""

    label: str
    name: str | None
    terrain: OnHex
    level: int
    features: tuple[str, ...]
    hexsides: list[OnHex]
    paths: list[OnHex]
    areas: list[OnHex]
    crests: list[int]
    places: list[OnHex]


def maps(connection: Connection) -> list[MapEntry]:
    """Every map, by name."""
    query = sa.select(
        Map.name,
        Map.title,
        Map.ruleset,
        _hexes().where(MapCount.map_id == Map.id).scalar_subquery(),
        _count((Position.map_id == Map.id) & Position.name.is_not(None)),
        Map.srid,
    ).order_by(Map.name)
    return [MapEntry(*row) for row in connection.execute(query)]


def positions(connection: Connection) -> list[PositionEntry]:
    """Every saved position, by name."""
    query = (
        sa.select(
            sa.type_coerce(Position.name, sa.Text()),
            Position.title,
            Position.ruleset,
            Map.name,
            _count(Unit.position_id == Position.id),
            _count(Marker.position_id == Position.id),
        )
        .join(Map, Map.id == Position.map_id)
        .where(Position.name.is_not(None))
        .order_by(Position.name)
    )
    return [PositionEntry(*row) for row in connection.execute(query)]


def map_facts(connection: Connection, name: str) -> MapFacts:
    """One map, with what is kept of it: nothing is counted here."""
    end = sa.select(Hex.label).where(Hex.map_id == Map.id).limit(1)
    standing = sa.select(Position.name).where(Position.map_id == Map.id, Position.name.is_not(None))
    kept = sa.select(sa.func.jsonb_build_array(MapCount.part, MapCount.word, MapCount.count)).where(
        MapCount.map_id == Map.id
    )
    found = connection.execute(
        sa.select(
            *Map.__table__.columns,
            end.order_by(Hex.q, Hex.r).scalar_subquery().label("first"),
            end.order_by(Hex.q.desc(), Hex.r.desc()).scalar_subquery().label("last"),
            sa.func.array(standing.order_by(Position.name).scalar_subquery()).label("positions"),
            sa.func.array(kept.order_by(MapCount.count.desc(), MapCount.word).scalar_subquery()).label(
                "counts"
            ),
        ).where(Map.name == name)
    ).one_or_none()
    if found is None:
        raise no_map(connection, name)
    counted: dict[str, dict[str, int]] = collections.defaultdict(dict)
    for part, word, count in found.counts:
        counted[part][word] = count
    return MapFacts(
        name=found.name,
        title=found.title,
        ruleset=found.ruleset,
        scheme=found.scheme,
        first=found.first,
        last=found.last,
        meters_per_hex=found.meters_per_hex,
        source=found.source,
        note=found.note,
        hexes=sum(counted["terrain"].values()),
        terrain=counted["terrain"],
        levels=_by_level(counted["level"]),
        hexsides=counted["hexside"],
        paths=counted["path"],
        areas=counted["area"],
        crests=_by_level(counted["crest"]),
        places=counted["place"],
        positions=found.positions,
        srid=found.srid,
        crs=_crs(connection, found.srid),
        control_points=found.control_points,
        created_at=found.created_at,
    )


def hex_facts(connection: Connection, map: str, q: int, r: int) -> HexFacts | None:
    """One hex of a map; None where it has none there."""
    found = connection.execute(
        sa.select(
            Hex.map_id, Hex.label, Hex.name, Hex.level, Hex.features, Hex.geom, Map.scheme,
            Terrain.title, Terrain.rule,
        )
        .join(Map, Map.id == Hex.map_id)
        .join(Terrain, (Terrain.ruleset == Hex.ruleset) & (Terrain.code == Hex.terrain))
        .where(Map.name == map, Hex.q == q, Hex.r == r)
    ).one_or_none()  # fmt: skip
    if found is None:
        return None
    scheme = Scheme.model_validate(found.scheme)

    def kinds(kind: Any, on: Any, code: Any, *told: Any) -> list[Any]:
        """Rows of a table of the map with the title and rule of their kind."""
        return list(
            connection.execute(
                sa.select(kind.title, kind.rule, *told)
                .select_from(on.__table__.join(
                    kind.__table__, (kind.ruleset == on.ruleset) & (kind.code == code)
                ))
                .where(on.map_id == found.map_id, _touches(on, q, r, found.geom))
            )
        )  # fmt: skip

    return HexFacts(
        label=found.label,
        name=found.name,
        terrain=OnHex(found.title, found.rule),
        level=found.level,
        features=tuple(found.features),
        hexsides=sorted(
            OnHex(title, rule, scheme.side_label(x, y))
            for title, rule, x, y in kinds(HexsideKind, Hexside, Hexside.kind, Hexside.x, Hexside.y)
        ),
        paths=[
            OnHex(title, rule, name or "")
            for title, rule, name in kinds(PathKind, Path, Path.kind, Path.name)
        ],
        areas=[
            OnHex(title, rule, f"drawing {n}")
            for title, rule, n in kinds(Terrain, TerrainArea, TerrainArea.terrain, TerrainArea.n)
        ],
        crests=sorted(
            connection.scalars(
                sa.select(Crest.level)
                .distinct()
                .where(Crest.map_id == found.map_id, _touches(Crest, q, r, found.geom))
            )
        ),
        places=[
            OnHex(f"{kind} {code}", None, "" if role == "at" else f"{role} fire")
            for kind, code, role in connection.execute(
                sa.select(MapFeature.kind, MapFeature.code, MapFeatureHex.role)
                .join(MapFeatureHex, MapFeatureHex.feature == MapFeature.id)
                .where(MapFeatureHex.map_id == found.map_id, MapFeatureHex.q == q, MapFeatureHex.r == r)
                .order_by(MapFeature.kind, MapFeature.code)
            )
        ],
    )


def _touches(table: Any, q: int, r: int, geom: Any) -> sa.ColumnElement[bool]:
    """Whether something of a map lies in a hex: a side by its cell, anything drawn by its geometry."""
    if table is Hexside:
        sides = [(2 * q + dq, 2 * r + dr) for dq, dr in STEPS]
        return sa.tuple_(Hexside.x, Hexside.y).in_(sides)
    if table is Path:
        return sa.func.st_intersects(Path.geom, sa.func.lattice.center(q, r))
    return sa.func.st_intersects(table.geom, geom)


def no_map(connection: Connection, name: str) -> NotThereError:
    """The word on a map that is not there, with the names most like it."""
    here, there = maps(connection), positions(connection)
    return _not_there(
        "map", name, [entry.name for entry in here], [entry.name for entry in there], "position"
    )


def no_position(connection: Connection, name: str) -> NotThereError:
    """The word on a position that is not there."""
    here, there = positions(connection), maps(connection)
    return _not_there(
        "position", name, [entry.name for entry in here], [entry.name for entry in there], "map"
    )


def no_board(connection: Connection, name: str) -> NotThereError:
    """The word on a name that is neither a map's nor a position's."""
    known = {entry.name for entry in maps(connection)} | {entry.name for entry in positions(connection)}
    return _not_there("map or position", name, known)


def _not_there(
    what: str, name: str, known: Collection[str], others: Collection[str] = (), other: str = ""
) -> NotThereError:
    """`others` are the names of another kind of thing, for which this one may have been taken."""
    alike = nearest(name, known)
    if name in others:
        remedy = f"There is a {other} of that name."
    elif alike:
        remedy = f"Did you mean {' or '.join(alike)}?"
    elif known:
        remedy = f"There {'is' if len(known) == 1 else 'are'}: {', '.join(sorted(known)[:10])}."
    else:
        remedy = "There is none yet: see `sightline import` and `sightline demo load`."
    return NotThereError(f"There is no {what} {name!r}.", remedy)


def _by_level(counts: dict[str, int]) -> dict[int, int]:
    return dict(sorted((int(level), count) for level, count in counts.items()))


def _hexes() -> sa.Select[Any]:
    """How many hexes maps have, as it is kept."""
    return sa.select(sa.func.coalesce(sa.func.sum(MapCount.count), 0)).where(MapCount.part == "terrain")


def _count(of: sa.ColumnElement[bool]) -> sa.ScalarSelect[int]:
    """How many rows of a table belong to the row that is listed."""
    return sa.select(sa.func.count()).where(of).scalar_subquery()


def _crs(connection: Connection, srid: int | None) -> str | None:
    if srid is None:
        return None
    text = connection.scalar(sa.text("select srtext from spatial_ref_sys where srid = :srid"), {"srid": srid})
    return text.split('"')[1] if text else None
