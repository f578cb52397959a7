"""Maps in and out of the database: storing a draft, loading it again, importing and exporting files.

report = import_map(connection, "island.yaml")
export_map(connection, "island", "island.gpkg")
"""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import psycopg
import shapely
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.database import psycopg_connection
from db.labels import Axial, LabelError, Scheme, nearest
from importers.map_draft import (
    GRID,
    AreaDraft,
    ControlPoint,
    CrestDraft,
    FeatureDraft,
    Georeference,
    HexDraft,
    Line,
    MapDraft,
    PathDraft,
)
from importers.map_reading import read_hex, read_map

__all__ = ["MapDraft", "MapError", "delete_map", "load_draft", "read_hex", "read_map", "store_map"]

Progress = Callable[[int, int], None]
"""Is told how many of how many rows are done; see `PROGRESS_ABOVE`."""
PROGRESS_ABOVE = 1000
"""Smaller maps are in before a bar could be drawn."""
BATCH = 500


class MapError(SightlineError):
    """A map that is not there, or that cannot be stored as asked."""


def store_map(connection: Connection, draft: MapDraft, progress: Progress | None = None) -> int:
    """Put a draft into the database, in the caller's transaction; gives the map's id.

    A draft without a name gets one that no other map has.
    """
    map_id: int = connection.execute(
        sa.text(
            "insert into map (name, title, ruleset, scheme, meters_per_hex, note, control_points)"
            " values (:name, :title, :ruleset, cast(:scheme as jsonb), :meters, :note,"
            " cast(:points as jsonb)) returning id"
        ),
        {
            "name": draft.name or f"passing-{secrets.token_hex(8)}",
            "title": draft.title,
            "ruleset": draft.ruleset,
            "scheme": draft.scheme.model_dump_json(),
            "meters": draft.meters_per_hex,
            "note": draft.note,
            "points": _control_points(draft),
        },
    ).scalar_one()
    _Copier(connection, map_id, draft, progress).copy()
    return map_id


def load_draft(connection: Connection, map: int | str) -> MapDraft:  # noqa: A002
    """A stored map, by id or name, as a draft."""
    row = connection.execute(
        sa.text(
            "select id, name, title, ruleset, scheme, meters_per_hex, note, srid,"
            f" control_points::text as points from map where {'id' if isinstance(map, int) else 'name'} = :map"
        ),
        {"map": map},
    ).one_or_none()
    if row is None:
        raise _no_map(connection, str(map))
    draft = MapDraft(
        row.ruleset,
        Scheme.model_validate(row.scheme),
        row.name,
        row.title,
        row.meters_per_hex,
        row.note,
    )
    draft.georeference = _georeference(row.points, draft.scheme)
    _load_ground(connection, row.id, draft)
    _load_artwork(connection, row.id, draft)
    _load_features(connection, row.id, draft)
    return draft


def delete_map(connection: Connection, name: str, *, with_positions: bool = False) -> None:
    """Remove a map; one on which positions stand only if these may go too."""
    map_id = connection.scalar(sa.text("select id from map where name = :name"), {"name": name})
    if map_id is None:
        raise _no_map(connection, name)
    count = connection.scalar(sa.text("select count(*) from position where map_id = :map"), {"map": map_id})
    if count and not with_positions:
        raise MapError(
            f"{count} position{'s' if count > 1 else ''} on the map {name} would be lost.",
            "Delete the positions first, or import the map under another name.",
        )
    connection.execute(sa.text("delete from map where id = :map"), {"map": map_id})


def _no_map(connection: Connection, name: str) -> MapError:
    names = list(connection.scalars(sa.text("select name from map order by name")))
    alike = nearest(name, names) or names[:5]
    return MapError(
        f"There is no map {name!r}.",
        f"Maps: {', '.join(alike)}." if alike else "No map has been imported yet.",
    )


class _Copier:
    """Streams a draft's rows into the tables, one COPY each."""

    def __init__(
        self, connection: Connection, map_id: int, draft: MapDraft, progress: Progress | None
    ) -> None:
        self.cursor = psycopg_connection(connection).cursor()
        self.map_id = map_id
        self.draft = draft
        self.progress = progress if len(draft.hexes) > PROGRESS_ABOVE else None
        self.done = 0
        self.total = len(draft.hexes) + len(draft.hexsides)

    def copy(self) -> None:
        draft, label = self.draft, self.draft.scheme.label
        self._into(
            "hex (map_id, ruleset, q, r, label, terrain, level, features, name)",
            (
                (*place, label(place), hex.terrain, hex.level, list(hex.features), hex.name)
                for place, hex in draft.hexes.items()
            ),
            bool(draft.hexes),
        )
        self._into("hexside (map_id, ruleset, x, y, kind)", sorted(draft.hexsides))
        self._into(
            "path (map_id, ruleset, kind, name, qs, rs)",
            [
                (path.kind, path.name, [place.q for place in path.hexes], [place.r for place in path.hexes])
                for path in draft.paths
            ],
        )
        self._into(
            "terrain_area (map_id, ruleset, n, terrain, geom)",
            [(n, area.terrain, _polygon(area.rings)) for n, area in enumerate(draft.areas, 1)],
        )
        self._into(
            "crest (map_id, ruleset, n, level, geom)",
            [(n, crest.level, f"linestring{_points(crest.line)}") for n, crest in enumerate(draft.crests, 1)],
        )
        if draft.features:
            self._features()

    def _into(self, table: str, rows: Iterable[Sequence[Any]], filled: bool | None = None) -> None:
        if not (rows if filled is None else filled):
            return
        with self.cursor.copy(f"copy {table} from stdin") as copy:
            for row in rows:
                copy.write_row((self.map_id, self.draft.ruleset, *row))
                self._tell()

    def _tell(self) -> None:
        if self.progress is None:
            return
        self.done += 1
        if self.done % BATCH == 0 or self.done == self.total:
            self.progress(min(self.done, self.total), self.total)

    def _features(self) -> None:
        rows = [
            {"code": code, "kind": feature.kind, "attributes": feature.attributes}
            for code, feature in self.draft.features.items()
        ]
        self.cursor.execute(
            "insert into map_feature (map_id, ruleset, kind, code, attributes)"
            " select %s, %s, row.kind, row.code, row.attributes"
            " from jsonb_to_recordset(%s::jsonb) as row (code text, kind text, attributes jsonb)"
            " returning code, id",
            (self.map_id, self.draft.ruleset, json.dumps(rows)),
        )
        ids: dict[str, int] = dict(self.cursor.fetchall())
        with self.cursor.copy("copy map_feature_hex (feature, role, map_id, q, r) from stdin") as copy:
            for code, feature in self.draft.features.items():
                for role, hexes in (
                    ("at", feature.at),
                    ("intense", feature.intense),
                    ("steady", feature.steady),
                ):
                    for place in sorted(hexes):
                        copy.write_row((ids[code], role, self.map_id, *place))


def _points(line: Line) -> str:
    """A line as WKT; thousandths of two are written exactly by their shortest digits."""
    return f"({', '.join(f'{x / GRID!r} {y / GRID!r}' for x, y in line)})"


def _polygon(rings: tuple[Line, ...]) -> str:
    return f"polygon({', '.join(_points((*ring, ring[0])) for ring in rings)})"


def _control_points(draft: MapDraft) -> str:
    if draft.georeference is None:
        return "[]"
    label, srid = draft.scheme.label, draft.georeference.srid
    # written by hand, since Decimals must keep their digits
    points = (
        f'{{"label": {json.dumps(label(point.hex))}, "x": {point.x:f}, "y": {point.y:f}, "srid": {srid}}}'
        for point in draft.georeference.points
    )
    return f"[{', '.join(points)}]"


def _georeference(text: str, scheme: Scheme) -> Georeference | None:
    points = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    if not points:
        return None
    return Georeference(
        int(points[0]["srid"]),
        tuple(ControlPoint(scheme.hex(point["label"]), point["x"], point["y"]) for point in points),
    )


def _load_ground(connection: Connection, map_id: int, draft: MapDraft) -> None:
    def rows(query: str) -> sa.CursorResult[Any]:
        return connection.execute(sa.text(query), {"map": map_id})

    for q, r, terrain, level, features, name in rows(
        "select q, r, terrain, level, features, name from hex where map_id = :map order by q, r"
    ):
        draft.hexes[Axial(q, r)] = HexDraft(terrain, level, tuple(features), name)
    draft.hexsides = {
        (x, y, kind) for x, y, kind in rows("select x, y, kind from hexside where map_id = :map")
    }
    draft.paths = [
        PathDraft(kind, tuple(map(Axial, qs, rs)), name)
        for kind, name, qs, rs in rows("select kind, name, qs, rs from path where map_id = :map order by id")
    ]


def _load_artwork(connection: Connection, map_id: int, draft: MapDraft) -> None:
    def rows(table: str, column: str) -> Iterable[tuple[Any, Any]]:
        query = f"select {column}, st_asbinary(geom) from {table} where map_id = :map order by n"
        for value, geometry in connection.execute(sa.text(query), {"map": map_id}):
            yield value, shapely.from_wkb(bytes(geometry))

    draft.areas = [
        AreaDraft(terrain, tuple(_grid(ring.coords)[:-1] for ring in (polygon.exterior, *polygon.interiors)))
        for terrain, polygon in rows("terrain_area", "terrain")
    ]
    draft.crests = [CrestDraft(level, _grid(line.coords)) for level, line in rows("crest", "level")]


def _grid(points: Iterable[tuple[float, float]]) -> Line:
    return tuple((int(x * GRID), int(y * GRID)) for x, y in points)


def _load_features(connection: Connection, map_id: int, draft: MapDraft) -> None:
    hexes: dict[str, dict[str, set[Axial]]] = defaultdict(lambda: defaultdict(set))
    for code, role, q, r in connection.execute(
        sa.text(
            "select feature.code, place.role, place.q, place.r from map_feature as feature"
            " join map_feature_hex as place on place.feature = feature.id where feature.map_id = :map"
        ),
        {"map": map_id},
    ):
        hexes[code][role].add(Axial(q, r))
    for code, kind, attributes in connection.execute(
        sa.text("select code, kind, attributes from map_feature where map_id = :map order by id"),
        {"map": map_id},
    ):
        at, intense, steady = (frozenset(hexes[code][role]) for role in ("at", "intense", "steady"))
        draft.features[code] = FeatureDraft(kind, at, intense, steady, attributes)
