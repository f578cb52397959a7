"""Maps in and out of the database: storing a draft, loading it again, importing and exporting files.

report = import_map(connection, "island.yaml")
export_map(connection, "island", "island.gpkg")
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import secrets
import string
import tempfile
import zipfile
from collections import UserDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.budget import allow, spend
from db.database import psycopg_connection, take_turns
from db.inventory import no_map
from db.labels import Axial, Scheme
from db.map_draft import (
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
from importers.documents import Problems, read_document
from importers.georeference import georeference
from importers.map_formats import Progress, read_root, read_tables, read_written, write_tables
from importers.map_reading import LARGE, NAME, is_name, read_hex, read_map
from importers.map_writing import write_json, write_yaml

__all__ = [
    "FORMATS",
    "ImportReport",
    "MapDraft",
    "MapError",
    "delete_map",
    "export_map",
    "import_map",
    "load_draft",
    "open_map",
    "read_hex",
    "read_map",
    "read_map_file",
    "store_map",
]

Box = tuple[int, int, int, int]
"""Left, low, right and high edge, on the lattice."""
PROGRESS_ABOVE = 1000
"""Smaller maps are in before a bar could be drawn."""
BATCH = 500
ROWS = 250_000
"""Rows that are sent in one go."""
LISTED = 8
"""Games and positions that a word on a map in use names."""
SIGNS = string.digits + string.ascii_uppercase + "./:-"
LONGEST = 16
"""Signs that labels are made of, and characters of the longest."""
BLOCK = 12
"""Columns and rows of a stored map that are looked up at a time."""

FORMATS = {
    "yaml": (".yaml", ".yml"),
    "json": (".json",),
    "csv": (".zip", ""),
    "geojson": (".geojson",),
    "geopackage": (".gpkg",),
}
"""The forms of a map, and how files of each end; a folder is CSV."""


class MapError(SightlineError):
    """A map that cannot be read, stored or written as asked."""


@dataclasses.dataclass(frozen=True)
class ImportReport:
    """What an import brought in, and what it had to assume."""

    name: str
    map_id: int
    ruleset: str
    format: str
    replaced: bool
    hexes: int
    hexsides: int
    paths: int
    areas: int
    crests: int
    features: int
    notices: tuple[str, ...]


def import_map(
    connection: Connection,
    path: Path | str,
    *,
    name: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Bring a map file into the database, whole or not at all.

    Raises `Problems` with everything that is wrong with the file, or a `MapError`. Commits
    where the caller has not begun a transaction of their own.
    """
    path = Path(path)
    draft = read_map_file(path, progress)
    if _format(path) not in ("yaml", "json"):
        # there the extent was counted as it was read
        spend("hexes of a map", len(draft.hexes))
    draft.name = _chosen_name(name, draft, path)
    draft.title = draft.title or draft.name
    with connection.begin_nested() if connection.in_transaction() else connection.begin():
        take_turns(connection, f"map {draft.name}")
        there = connection.scalar(sa.text("select id from map where name = :name"), {"name": draft.name})
        if there is not None and replace:
            delete_map(connection, draft.name, otherwise=", or import the map under another name")
        map_id = store_map(connection, draft, progress)
        if len(draft.hexes) > PROGRESS_ABOVE:
            # else the first questions are planned as if the tables were still empty
            connection.execute(sa.text("analyze hex, hexside, path, terrain_area, crest, css_ground"))
    return ImportReport(
        name=draft.name,
        map_id=map_id,
        ruleset=draft.ruleset,
        format=_format(path),
        replaced=there is not None,
        hexes=len(draft.hexes),
        hexsides=len(draft.hexsides),
        paths=len(draft.paths),
        areas=len(draft.areas),
        crests=len(draft.crests),
        features=len(draft.features),
        notices=(*draft.notices, *_moved(draft)),
    )


def read_map_file(path: Path, progress: Progress | None = None) -> MapDraft:
    """The draft of a map file in any form, or `Problems`; CSV tables are read row by row, and progress is told."""
    form = _format(path)
    if not path.exists():
        raise MapError(f"There is no file {path}.")
    # GDAL and its kin take longer to load than most questions to answer, so they wait for a file
    from importers.map_gis import read_geojson, read_geopackage

    readers: dict[str, Callable[[Path, Problems], MapDraft | None]] = {
        "yaml": read_written,
        "json": _read_json,
        "csv": functools.partial(read_tables, progress=progress),
        "geojson": read_geojson,
        "geopackage": read_geopackage,
    }
    problems = Problems()
    try:
        draft = readers[form](path, problems)
    except OSError as error:
        raise MapError(f"Cannot read {path}: {error.strerror}.") from error
    except Problems as fatal:
        if fatal is not problems:
            problems.found += fatal.found
        draft = None
    problems.raise_if_any()
    assert draft is not None
    return draft


def export_map(connection: Connection, name: str, path: Path | str, format: str | None = None) -> Path:
    """Write a stored map to a file (for CSV: a folder, or a zip), in the form its name ends with."""
    path = Path(path)
    form = _format(path, format)
    draft = load_draft(connection, name)
    if form == "csv" and path.suffix != ".zip":
        return _write_folder(path, write_tables(draft))
    from importers.map_gis import write_geojson, write_geopackage

    writers: dict[str, Callable[[Path], object]] = {
        "yaml": lambda file: file.write_text(write_yaml(draft), encoding="utf-8"),
        "json": lambda file: file.write_text(write_json(draft), encoding="utf-8"),
        "csv": lambda file: _write_zip(file, write_tables(draft)),
        "geojson": lambda file: file.write_text(write_geojson(draft), encoding="utf-8"),
        "geopackage": lambda file: write_geopackage(draft, file),
    }
    try:
        # beside its place first, so that a file that fails half-way harms nothing
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".export-") as folder:
            file = Path(folder) / f"map{path.suffix}"
            writers[form](file)
            file.replace(path)
    except OSError as error:
        raise MapError(f"Cannot write {path}: {error.strerror}.") from error
    return path


def store_map(connection: Connection, draft: MapDraft, progress: Progress | None = None) -> int:
    """Put a draft into the database, in the caller's transaction; gives the map's id.

    A draft without a name gets one that no other map has.
    """
    name = draft.name or f"passing-{secrets.token_hex(8)}"
    map_id: int | None = connection.execute(
        sa.text(
            "insert into map (name, title, ruleset, scheme, meters_per_hex, source, note)"
            " values (:name, :title, :ruleset, cast(:scheme as jsonb), :meters, :source, :note)"
            " on conflict (name) do nothing returning id"
        ),
        {
            "name": name,
            "title": draft.title,
            "ruleset": draft.ruleset,
            "scheme": draft.scheme.model_dump_json(),
            "meters": draft.meters_per_hex,
            "source": draft.source,
            "note": draft.note,
        },
    ).scalar_one_or_none()
    if map_id is None:
        raise MapError(
            f"There is a map {name!r} already.",
            "Replace it (--replace; on the page, its box), or bring this one in under another name (--name).",
        )
    _Copier(connection, map_id, draft, progress).copy()
    if draft.georeference is not None:
        fitted = georeference(connection, map_id, draft.georeference.points, draft.georeference.srid)
        draft.notices += fitted.notices
    return map_id


def load_draft(connection: Connection, map: int | str) -> MapDraft:
    """A stored map, by id or name, as a draft."""
    stored = open_map(connection, map)
    allow("hexes of a map", stored.size)
    draft = MapDraft(**{field: getattr(stored, field) for field in ABOUT})
    for part in PARTS:
        setattr(draft, part, getattr(stored, part))
    draft.hexes = dict(stored.hexes)
    return draft


def open_map(connection: Connection, map: int | str) -> StoredMap:
    """A stored map, by id or name, of which nothing is loaded before it is wanted."""
    row = connection.execute(
        sa.text(
            "select id, name, title, ruleset, scheme, meters_per_hex, source, note, srid,"
            f" control_points::text as points from map where {'id' if isinstance(map, int) else 'name'} = :map"
        ),
        {"map": map},
    ).one_or_none()
    if row is None:
        raise no_map(connection, str(map))
    scheme = Scheme.model_validate(row.scheme)
    stored = StoredMap(connection, row.id, row.ruleset, scheme)
    stored.name, stored.title = row.name, row.title
    stored.meters_per_hex, stored.source, stored.note = row.meters_per_hex, row.source, row.note
    stored.georeference = _georeference(row.srid, row.points, scheme)
    return stored


class StoredMap(MapDraft):
    """A map in the database as a draft: each part of it is loaded when it is first looked at.

    A question on a large map looks at a few hexes only, and so does not wait for the rest.
    Good as long as its connection is.
    """

    def __init__(self, connection: Connection, map_id: int, ruleset: str, scheme: Scheme) -> None:
        self._connection, self._id = connection, map_id
        self.ruleset, self.scheme = ruleset, scheme
        self.name = self.meters_per_hex = self.georeference = None
        self.title = self.source = self.note = ""
        self.moved = Fraction(0)
        self.notices = []

    def __getattr__(self, part: str) -> Any:
        if part not in PARTS:
            raise AttributeError(part)
        loaded = StoredHexes(self._connection, self._id) if part == "hexes" else self._load(part)
        setattr(self, part, loaded)
        return loaded

    def _load(self, part: str, box: Box | None = None) -> Any:
        return PARTS[part](self._connection, self._id, box)

    @functools.cached_property
    def _kept(self) -> sa.Row[Any]:
        """What is kept of it beside its rows (sql/maps/kept.sql)."""
        return self._connection.execute(
            sa.text(
                "select gis.map_version(map_id) as version, q_low, q_high, y_low, y_high,"
                " (select coalesce(sum(count), 0)::integer from map_count where map_id = :map and part = 'terrain') as size,"
                " array(select word from map_count where map_id = :map and part = 'area') as drawn,"
                " exists (select from map_count where map_id = :map and part = 'crest') as crests"
                " from map_summary where map_id = :map"
            ),
            {"map": self._id},
        ).one()

    @property
    def version(self) -> str | None:
        return str(self._kept.version)

    @property
    def size(self) -> int:
        return int(self._kept.size)

    @property
    def drawn_terrain(self) -> set[str]:
        return set(self._kept.drawn)

    @property
    def has_crests(self) -> bool:
        return bool(self._kept.crests)

    def span(self) -> tuple[range, range]:
        kept = self._kept
        if kept.q_low is None:
            return range(0), range(0)
        return range(kept.q_low, kept.q_high + 1), range(kept.y_low // 2, kept.y_high // 2 + 1)

    def cut(self, columns: range, rows: range) -> MapDraft:
        draft = MapDraft(**{field: getattr(self, field) for field in ABOUT})
        # in lattice units: columns are 3 apart, rows 2; the hexes beside those that are asked for are in it, too
        box = 3 * columns.start - 4, 2 * rows.start - 2, 3 * columns.stop + 1, 2 * rows.stop + 1
        for part in PARTS:
            setattr(draft, part, self._load(part, box))
        return draft


class StoredHexes(UserDict[Axial, HexDraft]):
    """The hexes of a stored map: looked up block by block, until somebody goes through them all."""

    def __init__(self, connection: Connection, map_id: int) -> None:
        super().__init__()
        self._connection, self._id = connection, map_id
        self._blocks: set[tuple[int, int]] = set()
        self._noted: dict[Axial, bool] = {}
        self._whole = False

    def note(self, place: Axial, is_there: bool) -> None:
        """Whether a hex is there, by somebody who has just looked."""
        self._noted[place] = is_there

    def likely(self, text: str) -> list[str] | None:
        """Of a large map, the labels that differ from a text in a character or two; None where all may be looked at."""
        if self._whole or self._size() <= LARGE:
            return None
        written = text.strip().upper()[:LONGEST]
        ends = [(written[:n], written[n:]) for n in range(len(written) + 1)]
        spellings = {start + rest[1:] for start, rest in ends}
        spellings |= {start + sign + rest[skip:] for start, rest in ends for sign in SIGNS for skip in (0, 1)}
        known = sa.text(
            "select label from hex where map_id = :map and label = any(:spellings) order by label"
        )
        return list(self._connection.scalars(known, {"map": self._id, "spellings": sorted(spellings)}))

    def __contains__(self, place: object) -> bool:
        if not isinstance(place, Axial):
            return False
        if place not in self.data and place in self._noted:
            return self._noted[place]
        self._load_around(place)
        return place in self.data

    def __missing__(self, place: Axial) -> HexDraft:
        self._load_around(place)
        if place in self.data:
            return self.data[place]
        raise KeyError(place)

    def __iter__(self) -> Iterator[Axial]:
        self._load_all()
        return iter(self.data)

    def __len__(self) -> int:
        self._load_all()
        return len(self.data)

    def _load_around(self, place: Axial) -> None:
        """Those near a hex, too: units stand together, and one question of many is soonest answered."""
        block = place.q // BLOCK, place.r // BLOCK
        if self._whole or block in self._blocks:
            return
        self._blocks.add(block)
        q, r = (BLOCK * number for number in block)
        self._load(
            "and q between :q and :q2 and r between :r and :r2", q=q, q2=q + BLOCK - 1, r=r, r2=r + BLOCK - 1
        )

    def _size(self) -> int:
        counted = "select coalesce(sum(count), 0) from map_count where map_id = :map and part = 'terrain'"
        return int(self._connection.scalar(sa.text(counted), {"map": self._id}) or 0)

    def _load_all(self) -> None:
        if not self._whole:
            allow("hexes of a map", self._size())
            self._whole = True
            self.data.clear()
            self._load("order by q, r")

    def _load(self, which: str, **values: int) -> None:
        self.data |= _hexes(self._connection, self._id, None, which, **values)


def delete_map(
    connection: Connection, name: str, *, with_positions: bool = False, otherwise: str = ""
) -> None:
    """Remove a map; one on which positions stand only if these may go too. `otherwise` is what else could be done."""
    map_id = connection.scalar(sa.text("select id from map where name = :name"), {"name": name})
    if map_id is None:
        raise no_map(connection, name)
    played = connection.scalars(
        sa.text(
            "select game.name from game join position on position.id = game.position_id"
            " where position.map_id = :map order by game.name"
        ),
        {"map": map_id},
    ).all()
    if played:
        raise MapError(
            f"On the map {name} games are played that would be lost: {', '.join(played[:LISTED])}.",
            f"Delete them first (`sightline game delete`){otherwise}.",
        )
    standing = connection.scalars(
        sa.text(
            "select coalesce(name, 'one without a name') from position where map_id = :map and not bare order by name"
        ),
        {"map": map_id},
    ).all()
    if standing and not with_positions:
        one = len(standing) == 1
        raise MapError(
            f"{len(standing)} position{'' if one else 's'} on the map {name} would be lost:"
            f" {', '.join(standing[:LISTED])}{', …' * (len(standing) > LISTED)}.",
            f"Delete {'it' if one else 'them'} first{otherwise}.",
        )
    connection.execute(sa.text("delete from map where id = :map"), {"map": map_id})


def _format(path: Path, format: str | None = None) -> str:
    if format is not None:
        if format in FORMATS:
            return format
        raise MapError(f"{format!r} is no form of a map.", f"Forms: {', '.join(FORMATS)}.")
    if path.is_dir():
        return "csv"
    for form, endings in FORMATS.items():
        if path.suffix.lower() in endings and (path.suffix or not path.is_file()):
            return form
    known = [ending for endings in FORMATS.values() for ending in endings if ending]
    remedy = (
        "Name the folder it is in." if path.suffix == ".csv" else f"Known: {', '.join(known)}, or a folder."
    )
    raise MapError(f"{path.name}: a map is not in a file that ends so.", remedy)


def _read_json(path: Path, problems: Problems) -> MapDraft | None:
    from importers.map_gis import is_collection, read_collection

    root = read_document(path.read_bytes(), str(path), problems)
    return read_collection(root, problems) if is_collection(root) else read_root(root, problems)


def _chosen_name(name: str | None, draft: MapDraft, path: Path) -> str:
    chosen = name or draft.name or path.stem.lower()
    if not is_name(chosen):
        raise MapError(
            f"{chosen!r} cannot be the name of a map: {NAME}.",
            "Write a name into the file, or give one.",
        )
    return chosen


def _moved(draft: MapDraft) -> tuple[str, ...]:
    """A word on snapping, where it is more than the digits of a written coordinate lose."""
    if draft.moved < Fraction(1, 100_000):
        return ()
    return (f"drawn artwork was moved by at most {float(draft.moved):.2g} lattice units (a hex is 2 high)",)


def _write_zip(path: Path, files: dict[str, str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def _write_folder(path: Path, files: dict[str, str]) -> Path:
    try:
        path.mkdir(exist_ok=True)
        for name, text in files.items():
            (path / name).write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise MapError(f"Cannot write {path}: {error.strerror}.") from error
    return path


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
        sides = draft.hexsides
        self._into(
            "hexside (map_id, ruleset, x, y, kind)",
            sorted(sides) if isinstance(sides, set) else sides,
        )
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
        left = iter(rows)
        # what is kept beside the rows is worked out after every so many: so the bar does not stand still at its end
        while batch := list(itertools.islice(left, 1)):
            with self.cursor.copy(f"copy {table} from stdin") as copy:
                for row in itertools.chain(batch, itertools.islice(left, ROWS - 1)):
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


def _georeference(srid: int | None, text: str, scheme: Scheme) -> Georeference | None:
    points = json.loads(text, parse_float=Decimal, parse_int=Decimal)
    if srid is None or not points:
        return None
    return Georeference(
        srid, tuple(ControlPoint(scheme.hex(point["label"]), point["x"], point["y"]) for point in points)
    )


def _hexes(
    connection: Connection, map_id: int, box: Box | None, which: str = "order by q, r", **values: int
) -> dict[Axial, HexDraft]:
    query = f"select q, r, terrain, level, features, name from hex where {_within(box)} {which}"
    rows = _rows(connection, map_id, query, box, **values)
    return {
        Axial(q, r): HexDraft(terrain, level, tuple(features), name)
        for q, r, terrain, level, features, name in rows
    }


def _hexsides(connection: Connection, map_id: int, box: Box | None) -> set[tuple[int, int, str]]:
    rows = _rows(connection, map_id, f"select x, y, kind from hexside where {_within(box)}", box)
    return {(x, y, kind) for x, y, kind in rows}


def _paths(connection: Connection, map_id: int, box: Box | None) -> list[PathDraft]:
    query = f"select kind, name, qs, rs from path where {_within(box)} order by id"
    rows = _rows(connection, map_id, query, box)
    return [PathDraft(kind, tuple(map(Axial, qs, rs)), name) for kind, name, qs, rs in rows]


def _areas(connection: Connection, map_id: int, box: Box | None) -> list[AreaDraft]:
    return [
        AreaDraft(terrain, tuple(_grid(ring.coords)[:-1] for ring in (polygon.exterior, *polygon.interiors)))
        for terrain, polygon in _drawn(connection, map_id, box, "terrain_area", "terrain")
    ]


def _crests(connection: Connection, map_id: int, box: Box | None) -> list[CrestDraft]:
    drawn = _drawn(connection, map_id, box, "crest", "level")
    return [CrestDraft(level, _grid(line.coords)) for level, line in drawn]


def _within(box: Box | None) -> str:
    """Which rows of a map are meant: all, or those in a box of the lattice."""
    near = " and geom && st_makeenvelope(:left, :low, :right, :high)" if box else ""
    # a number that is sent as a smaller one would not be sought in the spatial index
    return f"map_id = cast(:map as bigint){near}"


def _rows(
    connection: Connection, map_id: int, query: str, box: Box | None = None, **values: int
) -> Iterable[Any]:
    edges = dict(zip(("left", "low", "right", "high"), box, strict=True)) if box else {}
    return connection.execute(sa.text(query), {"map": map_id, **edges, **values})


def _drawn(
    connection: Connection, map_id: int, box: Box | None, table: str, column: str
) -> Iterable[tuple[Any, Any]]:
    query = f"select {column}, st_asbinary(geom) from {table} where {_within(box)} order by n"
    for value, geometry in _rows(connection, map_id, query, box):
        import shapely  # of maps without artwork nothing is drawn

        yield value, shapely.from_wkb(bytes(geometry))


def _grid(points: Iterable[tuple[float, float]]) -> Line:
    return tuple((int(x * GRID), int(y * GRID)) for x, y in points)


def _features(connection: Connection, map_id: int, box: Box | None) -> dict[str, FeatureDraft]:
    hexes: dict[str, dict[str, set[Axial]]] = defaultdict(lambda: defaultdict(set))
    near = (
        " join hex on (hex.map_id, hex.q, hex.r) = (place.map_id, place.q, place.r)"
        " and hex.geom && st_makeenvelope(:left, :low, :right, :high)"
    )
    for code, role, q, r in _rows(
        connection,
        map_id,
        "select feature.code, place.role, place.q, place.r from map_feature as feature"
        f" join map_feature_hex as place on place.feature = feature.id{near if box else ''}"
        " where feature.map_id = :map",
        box,
    ):
        hexes[code][role].add(Axial(q, r))
    rows = _rows(
        connection, map_id, "select code, kind, attributes from map_feature where map_id = :map order by id"
    )
    features: dict[str, FeatureDraft] = {}
    for code, kind, attributes in rows:
        at, intense, steady = (frozenset(hexes[code][role]) for role in ("at", "intense", "steady"))
        features[code] = FeatureDraft(kind, at, intense, steady, attributes)
    return features


ABOUT = ("ruleset", "scheme", "name", "title", "meters_per_hex", "source", "note", "georeference")
"""What a stored map's own row tells."""
PARTS: dict[str, Callable[[Connection, int, Box | None], Any]] = {
    "hexes": _hexes,
    "hexsides": _hexsides,
    "paths": _paths,
    "areas": _areas,
    "crests": _crests,
    "features": _features,
}
"""What is loaded of it when it is looked at."""
