"""`/api/v1/maps`, `/positions` and `/legend`: ground, counters and looks for whoever draws maps.

Features come from `sql/gis/features.sql`, tiles from `sql/gis/tiles.sql`, squares of ground from
`sql/gis/ground.sql`. A map's layers are not made again as long as nothing has changed, which
`gis.map_version` tells without looking at its hexes.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

import flask
import sqlalchemy as sa
from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema
from sqlalchemy.engine import Connection, Engine

from app.drawing import counter, describe, marker
from app.drawing.palette import (
    CONTOUR,
    CREST,
    DOTS,
    HEXSIDES,
    INKS,
    MARKS,
    PATHS,
    TERRAIN,
    Stroke,
    at_night,
    by_night,
    dark_inks,
    tile,
)
from app.web.api import PREFIX, problems
from app.web.site import database, engine, known_version, piece_by_piece
from db import SightlineError
from db.counters import UNITS
from db.inventory import map_facts, maps, no_map, no_position, positions
from db.labels import nearest
from db.maps import Map, MapCount
from db.positions import Position
from db.rulesets import CODES, Feature, read_ruleset
from db.values import to_json
from importers.positions import position_tree

api = APIBlueprint("maps_api", __name__, url_prefix=PREFIX)
MAPS = Tag(name="Maps", description="Ground, counters and looks, for whoever draws maps")

GEOJSON = "application/geo+json"
MVT = "application/vnd.mapbox-vector-tile"
LAYERS = ("hexes", "hexsides", "paths", "areas", "crests", "features")
STANDING = ("units", "markers")
DEEPEST = 12
"""The last zoom; a tile is then smaller than a hex on every map."""

AT_ONCE = 10_000
"""Features of an answer that is made before it is sent."""
PAGE = 2_000
"""Features that are read at a time, where they are sent piece by piece."""
HEX_AREA = 1.5 * 3**0.5
DENSEST = {"hexes": 1, "hexsides": 3}
"""How many of a layer there can be for every hex, where there is one kind on each side."""
COUNTED = dict(zip(LAYERS, ("terrain", "hexside", "path", "area", "crest", "place"), strict=True))
"""What the kept counts of a map call a layer."""
STEPS = tuple(2**n for n in range(9))
FARTHEST = 10_000

NUMBER = r"-?[0-9]{1,7}(\.[0-9]{1,9})?"
FOUR_NUMBERS = rf"^{NUMBER}(,{NUMBER}){{3}}$"


def _is_box(text: str) -> str:
    if not re.fullmatch(FOUR_NUMBERS, text):
        raise ValueError("a box is four numbers, minx,miny,maxx,maxy, such as 0,-40,30,0")
    return text


Box = Annotated[
    str,
    AfterValidator(_is_box),
    WithJsonSchema({"type": "string", "pattern": FOUR_NUMBERS, "examples": ["0,-40,30,0"]}),
]


class NoSuchLayerError(SightlineError):
    """A layer, tile or ruleset that there is none of."""

    status = 404


class MapPath(BaseModel):
    """Which map."""

    name: str = Field(description="Its short name")


class LayerPath(MapPath):
    """Which layer of a map."""

    layer: str = Field(description=f"One of {', '.join(LAYERS)}")


class TilePath(MapPath):
    """Which tile of a map."""

    z: int = Field(description=f"Zoom, 0 to {DEEPEST}: the square is cut into 2^z columns and rows")
    x: int = Field(description="Column, from the left")
    y: int = Field(description="Row, from the top")


class GroundPath(MapPath):
    """Which square of a map's ground."""

    step: int = Field(description="1, or from afar a power of two: one hex in step · step is told")
    x: int = Field(description="Column of the square, from the origin to the right")
    y: int = Field(description="Row of the square, from the origin upward")


class PositionPath(BaseModel):
    """Which position."""

    name: str = Field(description="Its short name")


class StandingPath(PositionPath):
    """Which layer of a position."""

    layer: str = Field(description=f"One of {', '.join(STANDING)}")


class GamePath(BaseModel):
    """Which game."""

    ruleset: str = Field(description="css, ccp, fpb, bob or ddp")


class LayerQuery(BaseModel):
    """Which part of a layer; all of it where nothing is said."""

    bbox: Box | None = Field(
        None, description="Two opposite corners in the display plane: minx,miny,maxx,maxy"
    )


class MapEntryAnswer(BaseModel):
    """A map in the list."""

    name: str
    title: str
    ruleset: str
    hexes: int
    positions: int = Field(description="How many positions are saved on it")
    srid: int | None = Field(description="EPSG code of the CRS it is georeferenced in")


class MapsAnswer(BaseModel):
    """Every map."""

    maps: list[MapEntryAnswer]


class MapAnswer(BaseModel):
    """A map with all that is on it, counted by kind."""

    name: str
    title: str
    ruleset: str
    scheme: dict[str, Any] = Field(description="How its hexes are numbered, and which way they stand")
    first: str | None = Field(description="Label at one end")
    last: str | None = Field(description="Label at the other")
    meters_per_hex: int | None
    source: str = Field(description="After what it was drawn, and whose it is")
    note: str
    hexes: int
    terrain: dict[str, int]
    levels: dict[str, int]
    hexsides: dict[str, int]
    paths: dict[str, int]
    areas: dict[str, int]
    crests: dict[str, int]
    places: dict[str, int]
    positions: list[str] = Field(description="Names of the positions on it")
    georeferenced: bool
    srid: int | None
    crs: str | None
    control_points: list[dict[str, Any]]
    created_at: datetime.datetime
    bounds: list[float] | None = Field(description="minx, miny, maxx, maxy in the display plane")
    tile_square: list[float] | None = Field(description="What tile 0/0/0 covers, in the display plane")
    layers: dict[str, int] = Field(description="How many features each layer has")


class PositionEntryAnswer(BaseModel):
    """A position in the list."""

    name: str
    title: str
    ruleset: str
    map: str
    units: int
    markers: int


class PositionsAnswer(BaseModel):
    """Every saved position."""

    positions: list[PositionEntryAnswer]


class PositionAnswer(BaseModel):
    """A position as its file has it."""

    name: str
    title: str = ""
    ruleset: str
    map: str = Field(description="Name of the map it stands on")
    conditions: dict[str, Any] = Field({}, description="Weather, time of day, turn")
    policy: dict[str, str] = Field({}, description="Readings of contested points")
    units: list[dict[str, Any]]
    markers: list[dict[str, Any]]


class Collection(BaseModel):
    """A GeoJSON FeatureCollection whose features have a second geometry, `place`."""

    type: str = Field(description="FeatureCollection")
    name: str = Field(description="The map or position, and the layer")
    coordRefSys: dict[str, Any] = Field(description="Of `place`: the display plane")  # noqa: N815
    bounds: list[float] | None = Field(description="Of the map, in the display plane")
    features: list[dict[str, Any]] = Field(
        description="`geometry` in WGS 84 where the map is georeferenced, else null; `place` in the display plane"
    )


class GroundAnswer(BaseModel):
    """A square of the ground and a rim of hexes around it; a part that is empty is null."""

    hexes: list[list[Any]] | None = Field(description="q, r, label, terrain, level; near: features, name")
    sides: list[list[Any]] | None = Field(None, description="Doubled cell x and y, kind; near only")
    paths: list[list[Any]] | None = Field(
        None, description="id, kind, the q and the r of its hexes; near only"
    )
    lines: list[list[Any]] | None = Field(
        None, description="id, kind, points of the display plane; from afar"
    )
    areas: list[list[Any]] | None = Field(None, description="Number, terrain, rings of the display plane")
    crests: list[list[Any]] | None = Field(None, description="Number, level, points; near only")
    marked: list[list[Any]] | None = Field(None, description="Code, colour, role, q, r; near only")


class LegendAnswer(BaseModel):
    """How a game's terrain, hexsides and paths look, and what they do."""

    ruleset: str
    terrain: dict[str, dict[str, Any]]
    hexsides: dict[str, dict[str, Any]]
    paths: dict[str, dict[str, Any]]
    inks: dict[str, dict[str, str]] = Field(description="Other colours of a map, by day and by night")
    dots: dict[str, str] = Field(description="Colours of printed positions by their word; by none for others")


@api.get("/maps", tags=[MAPS], responses={"200": MapsAnswer})
def list_maps() -> Response:
    """Every map, by name."""
    return flask.jsonify({"maps": [dataclasses.asdict(entry) for entry in maps(database())]})


@api.get("/maps/<name>", tags=[MAPS], responses={"200": MapAnswer, **problems(404)})
def one_map(path: MapPath) -> Response:
    """What a map is and what is on it."""
    connection = database()
    row = _map(connection, path.name)
    facts = dataclasses.asdict(map_facts(connection, row.name))
    counted = {"hexes": facts["hexes"]} | {
        layer: sum(facts[source].values())
        for layer, source in zip(LAYERS[1:], ("hexsides", "paths", "areas", "crests", "places"), strict=True)
    }
    return flask.jsonify(
        facts
        | {
            "levels": {str(level): count for level, count in facts["levels"].items()},
            "crests": {str(level): count for level, count in facts["crests"].items()},
            "created_at": facts["created_at"].isoformat(),
            "georeferenced": facts["srid"] is not None,
            "bounds": _box(connection, sa.func.gis.bounds(row.id)),
            "tile_square": _box(connection, sa.func.gis.tile_square(row.id)),
            "layers": counted,
        }
    )


@api.get(
    "/maps/<name>/layers/<layer>",
    tags=[MAPS],
    responses={
        "200": {"content": {GEOJSON: {"schema": Collection.model_json_schema()}}},
        **problems(404, 422),
    },
)
def map_layer(path: LayerPath, query: LayerQuery) -> Response:
    """One layer of a map as GeoJSON, or what of it meets a box; one of many features piece by piece."""
    connection = database()
    row = _map(connection, path.name)
    _check(path.layer, LAYERS, "layer of a map")
    box = None if query.bbox is None else _envelope(query.bbox)
    name = f"{path.name}/{path.layer}"
    if _count(connection, row, path.layer, box) > AT_ONCE:
        known_version(row.version)
        head = _head(connection, row, name)
        pieces = _pieces(head, _pages(engine(), row.id, path.layer, box))
        return piece_by_piece(pieces, GEOJSON)
    known_version(row.version, keep=True)
    rows = sa.func.gis.features(row.id, path.layer, box).table_valued("feature")
    return _collection(connection, row, name, connection.scalars(sa.select(rows.c.feature)))


@api.get(
    "/maps/<name>/ground/<step>/<x>/<y>",
    tags=[MAPS],
    responses={"200": GroundAnswer, **problems(404, 422)},
)
def map_ground(path: GroundPath) -> Response:
    """A square of the ground in few words, for a script that paints what a screen shows.

    The display plane is cut into squares of 64 · step, numbered from its origin, x to the right and y up. With a
    step above 1 one hex in step · step stands for those around it, and hexsides are left out.
    """
    connection = database()
    row = _map(connection, path.name)
    if path.step not in STEPS or max(abs(path.x), abs(path.y)) > FARTHEST:
        raise NoSuchLayerError(
            f"There is no ground {path.step}/{path.x}/{path.y}.",
            f"Steps are {', '.join(map(str, STEPS))}; squares are numbered up to {FARTHEST}.",
        )
    known_version(row.version, keep=True)
    told = connection.scalar(sa.select(sa.func.gis.ground(row.id, path.step, path.x, path.y)))
    return Response(told or "{}", mimetype="application/json")


@api.get(
    "/maps/<name>/tiles/<z>/<x>/<y>.mvt",
    tags=[MAPS],
    responses={
        "200": {"content": {MVT: {"schema": {"type": "string", "format": "binary"}}}}, **problems(404, 422)
    },
)  # fmt: skip
def map_tile(path: TilePath) -> Response:
    """A vector tile of a map: hexes, areas, crests, hexsides and paths.

    Tiles lie in the display plane. Tile 0/0/0 is the square of `tile_square`; x counts to the
    right and y down. Where more than a hundred hexes would lie side by side, one in `step` · `step` stands for
    those around it, as large as they are together, and hexsides are left out.
    """
    connection = database()
    row = _map(connection, path.name)
    if not (0 <= path.z <= DEEPEST and 0 <= path.x < 2**path.z and 0 <= path.y < 2**path.z):
        raise NoSuchLayerError(
            f"There is no tile {path.z}/{path.x}/{path.y}.",
            f"Zooms are 0 to {DEEPEST}; at zoom z columns and rows are 0 to 2^z - 1.",
        )
    known_version(row.version, keep=True)
    tile = connection.scalar(sa.select(sa.func.gis.tile(row.id, path.z, path.x, path.y)))
    return Response(tile or b"", mimetype=MVT)


@api.get("/positions", tags=[MAPS], responses={"200": PositionsAnswer})
def list_positions() -> Response:
    """Every saved position, by name."""
    return flask.jsonify({"positions": [dataclasses.asdict(entry) for entry in positions(database())]})


@api.get("/positions/<name>", tags=[MAPS], responses={"200": PositionAnswer, **problems(404)})
def one_position(path: PositionPath) -> Response:
    """Units, markers, conditions and readings of a position."""
    return flask.jsonify(position_tree(database(), _plain(path.name)))


@api.get(
    "/positions/<name>/layers/<layer>",
    tags=[MAPS],
    responses={"200": {"content": {GEOJSON: {"schema": Collection.model_json_schema()}}}, **problems(404)},
)
def position_layer(path: StandingPath) -> Response:
    """The units or markers of a position as GeoJSON; the property `svg` is the picture of each."""
    connection = database()
    found = connection.execute(
        sa.select(Position.id, Position.ruleset, Map.name.label("map"))
        .join(Map, Map.id == Position.map_id)
        .where(Position.name == _plain(path.name))
    ).one_or_none()
    if found is None:
        raise no_position(connection, path.name)
    _check(path.layer, STANDING, "layer of a position")
    row = _map(connection, found.map)
    rows = sa.func.gis.position_features(found.id, path.layer).table_valued("feature")
    turn = 90 if row.scheme.get("orientation") == "pointed" else 0
    features = (
        to_json(_pictured(json.loads(text), path.layer, found.ruleset, turn), indent=None)
        for text in connection.scalars(sa.select(rows.c.feature))
    )
    return _collection(connection, row, f"{path.name}/{path.layer}", features)


@api.get("/legend/<ruleset>", tags=[MAPS], responses={"200": LegendAnswer, **problems(404)})
def legend(path: GamePath) -> Response:
    """Terrain, hexsides and paths of a game: title, rule, sight and costs; colours, pattern and stroke.

    Widths, dashes and tiles are in hundredths of a hex's corner radius. The ink of a tile's
    shapes is `currentColor`.
    """
    _check(path.ruleset, CODES, "ruleset")
    kinds = read_ruleset(path.ruleset).terrain
    return flask.jsonify(
        {
            "ruleset": path.ruleset,
            "terrain": {word: _kind(kind) | _look(word) for word, kind in kinds.terrain.items()},
            "hexsides": {
                word: _kind(kind) | _stroke(HEXSIDES[word]) for word, kind in kinds.hexsides.items()
            },
            "paths": {word: _kind(kind) | _stroke(PATHS[word]) for word, kind in kinds.paths.items()},
            "inks": _inks(),
            "dots": DOTS,
        }
    )


def _map(connection: Connection, name: str) -> sa.Row[Any]:
    """A map's row with its version."""
    query = sa.select(
        Map.id, Map.name, Map.scheme, Map.srid, sa.func.gis.map_version(Map.id).label("version")
    )
    found = connection.execute(query.where(Map.name == _plain(name))).one_or_none()
    if found is None:
        raise no_map(connection, name)
    return found


def _plain(name: str) -> str:
    """A name as the database can take it."""
    return name.replace("\0", "�")


def _check(word: str, known: Iterable[str], what: str) -> None:
    if word not in known:
        alike = nearest(word, known)
        remedy = f"Did you mean {' or '.join(alike)}?" if alike else f"There are: {', '.join(known)}."
        raise NoSuchLayerError(f"There is no {what} {word[:80]!r}.", remedy)


def _box(connection: Connection, shape: sa.ColumnElement[Any]) -> list[float] | None:
    """The edges of a shape: left, low, right, high."""
    edges = [getattr(sa.func, f"st_{edge}")(sa.column("shape")) for edge in ("xmin", "ymin", "xmax", "ymax")]
    row = connection.execute(sa.select(*edges).select_from(sa.select(shape.label("shape")).subquery())).one()
    return None if row[0] is None else [round(edge, 6) for edge in row]


def _head(connection: Connection, row: sa.Row[Any], name: str) -> str:
    """A FeatureCollection as it begins, before its features."""
    head = to_json(
        {
            "type": "FeatureCollection",
            "name": name,
            "coordRefSys": {
                "name": f"display plane of {row.name}",
                "axes": ["x to the right", "y up"],
                "unit": "corner radius of a hex",
                "orientation": row.scheme.get("orientation", "flat"),
            },
            "bounds": _box(connection, sa.func.gis.bounds(row.id)),
        },
        indent=None,
    )
    return f'{head[:-1]}, "features": [\n'


def _collection(connection: Connection, row: sa.Row[Any], name: str, features: Iterable[str]) -> Response:
    """A FeatureCollection of features that are text already."""
    body = "".join(_pieces(_head(connection, row, name), [list(features)]))
    return Response(body, mimetype=GEOJSON)


def _pieces(head: str, pages: Iterable[list[str]]) -> Iterator[str]:
    """A collection as text, page by page."""
    yield head
    separator = ""
    for page in pages:
        if page:
            yield separator + ",\n".join(page)
            separator = ",\n"
    yield "\n]}\n"


def _pages(engine: Engine, map_id: int, layer: str, box: sa.ColumnElement[Any] | None) -> Iterator[list[str]]:
    """The features of a layer, so many at a time, all of one moment."""
    one_moment = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    with engine.connect().execution_options(**one_moment) as connection:
        after = 0
        while True:
            page = sa.func.gis.features_after(map_id, layer, after, PAGE, box).table_valued("id", "feature")
            found = connection.execute(sa.select(page.c.id, page.c.feature)).all()
            if found:
                yield [feature for _, feature in found]
            if len(found) < PAGE:
                return
            after = found[-1].id


def _envelope(bbox: str) -> sa.ColumnElement[Any]:
    return sa.func.st_makeenvelope(*map(float, bbox.split(",")))


def _count(connection: Connection, row: sa.Row[Any], layer: str, box: sa.ColumnElement[Any] | None) -> float:
    """How many features a layer has, as it is kept, or at most how many of its hexes or sides a box may meet."""
    part = COUNTED[layer]
    many: int = connection.execute(
        sa.select(sa.func.coalesce(sa.func.sum(MapCount.count), 0)).where(
            MapCount.map_id == row.id, MapCount.part == part
        )
    ).scalar_one()
    if box is None or many <= AT_ONCE:
        return many
    within = sa.func.st_area(sa.func.st_intersection(box, sa.func.gis.bounds(row.id)))
    hexes = (connection.scalar(sa.select(within)) or 0) / HEX_AREA
    return min(many, DENSEST[layer] * hexes) if layer in DENSEST else many


def _pictured(feature: dict[str, Any], layer: str, ruleset: str, turn: int) -> dict[str, Any]:
    """A unit or marker with its counter, and that in words."""
    said = feature["properties"]
    if layer == "markers":
        picture = marker(said["kind"], said["value"], said["facing"], turn)
        return feature | {"properties": said | {"svg": str(picture)}}
    facts = {key: said[key] for key in ("id", "side", "kind", "at") if said[key] is not None}
    unit = UNITS[ruleset].model_validate(facts | said["counter"])
    return feature | {
        "properties": said | {"words": describe(unit), "svg": str(counter(unit, ruleset, turn))}
    }


def _kind(kind: Feature) -> dict[str, Any]:
    """What the rulebook says about a kind of terrain, hexside or path."""
    return {
        "title": kind.title,
        "rule": kind.rule,
        "sight": kind.sight,
        "sight_rule": kind.sight_rule or kind.rule if kind.sight else None,
        "effects": [
            {"aspect": aspect, "mobility": mobility, "value": effect.value, "when": effect.when,
             "rule": effect.rule or kind.rule}
            for aspect, mobility, effect in kind.effects()
        ],
        "note": kind.note,
    }  # fmt: skip


def _look(word: str) -> dict[str, Any]:
    day = TERRAIN[word]
    night = at_night(day)
    return {
        "light": {"fill": day.fill, "ink": day.ink},
        "dark": {"fill": night.fill, "ink": night.ink},
        "pattern": day.pattern,
        "tile": tile(day)._asdict(),
    }


def _stroke(day: Stroke) -> dict[str, Any]:
    night = by_night(day)
    return {
        "light": {"ink": day.ink, "casing": day.casing},
        "dark": {"ink": night.ink, "casing": night.casing},
        "width": day.width,
        "dash": day.dash,
        "teeth": day.teeth,
    }


def _inks() -> dict[str, Mapping[str, str]]:
    drawn = {"contour": CONTOUR.ink, "crest": CREST.ink}
    return {"light": INKS | MARKS | drawn, "dark": dark_inks()}
