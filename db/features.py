"""Maps, positions, games and campaigns as collections of features on real ground, for OGC API – Features.

A collection is called after what it is of: `map.guam-house.hex`, `position.lipata.unit`,
`campaign.guam-1944.entry`. Only what lies on a georeferenced map, or has a place of its own, is there.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.archive import Campaign
from db.games import Game
from db.inventory import NotThereError
from db.labels import nearest
from db.maps import Map
from db.positions import Position

HIDDEN = (
    "id",
    "map_id",
    "position_id",
    "position",
    "map",
    "campaign",
    "geom",
    "during",
    "known",
    "attributes",
)
"""Columns of a view that are no property: they say which collection, or are told otherwise."""
SHOWN_OF_GAMES = ("code", "side", "label", "stack")
"""Of a counter in a game only what an observer may know."""
TYPES: dict[str, dict[str, Any]] = {
    "smallint": {"type": "integer"},
    "integer": {"type": "integer"},
    "bigint": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "double precision": {"type": "number"},
    "timestamp with time zone": {"type": "string", "format": "date-time"},
    "text[]": {"type": "array", "items": {"type": "string"}},
}
COUNTED = 10_000
"""Up to so many features are counted for whoever asks for some of them."""
MAP_LAYERS = {
    "hex": "Hexes",
    "hexside": "Hexsides",
    "path": "Paths",
    "terrain_area": "Drawn terrain",
    "crest": "Crest lines",
    "map_feature": "Marked places",
}
LAYERS = {
    "map": MAP_LAYERS,
    "position": {"unit": "Units", "marker": "Markers"},
    "game": {"unit": "Units"},
    "campaign": {"entry": "What happened", "stance": "Where forces stood"},
}
"""Of what there are collections, and which."""
_COLUMNS: dict[str, dict[str, dict[str, Any]]] = {}
"""Columns of the views by their names: they are part of this version, so they are looked up once."""


@dataclasses.dataclass(frozen=True)
class Collection:
    """A layer of something."""

    kind: str
    name: str
    layer: str
    title: str
    of: int
    """Row of the map, position or campaign."""

    @property
    def id(self) -> str:
        return f"{self.kind}.{self.name}.{self.layer}"

    @property
    def relation(self) -> str:
        """The view that has its features."""
        if self.kind == "campaign":
            return f"archive.{self.layer}_feature"
        return f"gis.{self.layer}_world"

    @property
    def key(self) -> str:
        """The column by which a feature is asked for."""
        return "key" if self.kind == "campaign" else "id"

    @property
    def owner(self) -> str:
        """The column that says whose a feature is."""
        return {"map": "map_id", "position": "position_id", "game": "position_id", "campaign": "campaign_id"}[
            self.kind
        ]

    @property
    def in_time(self) -> bool:
        """Whether its features have a time."""
        return self.kind == "campaign"


@dataclasses.dataclass(frozen=True)
class Query:
    """Which features are wanted, and how."""

    limit: int
    offset: int = 0
    box: tuple[float, float, float, float] | None = None
    box_srid: int = 4326
    begins: datetime.datetime | None = None
    ends: datetime.datetime | None = None
    known: datetime.datetime | None = None
    properties: Mapping[str, str] = dataclasses.field(default_factory=dict)
    srid: int = 4326
    only: Sequence[str] | None = None
    """Codes of the counters that may be seen."""


def collections(connection: Connection) -> list[Collection]:
    """Every collection."""
    return [found for kind in LAYERS for found in _named(connection, kind)]


def _named(connection: Connection, kind: str, name: str | None = None) -> list[Collection]:
    """The collections of a kind, of everything or of what has that name."""
    if kind not in LAYERS:
        return []
    query, called = _owners(kind)
    rows = connection.execute(query.order_by(called) if name is None else query.where(called == name))
    return [
        Collection(kind, found, layer, f"{title or found}: {words}", id)
        for id, found, title in rows
        for layer, words in LAYERS[kind].items()
    ]


def _owners(kind: str) -> tuple[Any, Any]:
    """What collections of a kind are of: row, name and title; and the column of the name."""
    on_ground = sa.select(Map.id).where(Map.srid.is_not(None))
    if kind == "map":
        return sa.select(Map.id, Map.name, Map.title).where(Map.srid.is_not(None)), Map.name
    if kind == "position":
        named = Position.name.is_not(None) & Position.map_id.in_(on_ground)
        return sa.select(Position.id, Position.name, Position.title).where(named), Position.name
    if kind == "game":
        games = sa.select(Game.position_id, Game.name, Game.title)
        played = games.join(Position, Position.id == Game.position_id)
        return played.where(Position.map_id.in_(on_ground)), Game.name
    today = sa.func.upper_inf(Campaign.known)
    return sa.select(Campaign.id, Campaign.name, Campaign.title).where(today), Campaign.name


def find_collection(connection: Connection, id: str) -> Collection:
    """The collection of that id, looked for by itself: a client asks for one again and again."""
    kind, _, rest = id.partition(".")
    name, _, layer = rest.rpartition(".")
    for found in _named(connection, kind, name):
        if found.layer == layer:
            return found
    known = [collection.id for collection in collections(connection)]
    alike = nearest(id, known)
    raise NotThereError(
        f"There is no collection {id[:120]!r}.",
        f"Did you mean {alike[0]}?" if alike else "/ogc/collections lists all.",
    )


def properties_of(connection: Connection, collection: Collection) -> dict[str, dict[str, Any]]:
    """The properties of a collection's features, each with its JSON type."""
    relation = collection.relation
    if relation not in _COLUMNS:
        query = sa.text(
            "select attname as name, format_type(atttypid, null) as type from pg_attribute"
            " where attrelid = cast(:relation as regclass) and attnum > 0 order by attnum"
        )
        rows = connection.execute(query, {"relation": relation})
        _COLUMNS[relation] = {
            row.name: TYPES.get(row.type, {"type": "string"}) for row in rows if row.name not in HIDDEN
        }
    return {
        name: type
        for name, type in _COLUMNS[relation].items()
        if collection.kind != "game" or name in SHOWN_OF_GAMES
    }


def extent_of(connection: Connection, collection: Collection) -> dict[str, Any]:
    """Where and when a collection lies: a box, a beginning and an end, each null where there is none."""
    times = (
        "min(begins) as begins, max(ends) as ends" if collection.in_time else "null as begins, null as ends"
    )
    # a campaign may have places of which one is far away: all of them count
    query = (
        f"select st_extent(geom) as box, {times} from {collection.relation} where {collection.owner} = :of"
    )
    if collection.in_time:
        query += " and upper_inf(known)"
    row = connection.execute(
        sa.text(
            f"select st_xmin(box) as west, st_ymin(box) as south, st_xmax(box) as east, st_ymax(box) as north, begins, ends from ({query}) as found"
        ),
        {"of": collection.of},
    ).one()
    box = None if row.west is None else [row.west, row.south, row.east, row.north]
    return {"box": box, "begins": row.begins, "ends": row.ends}


def items(
    connection: Connection, collection: Collection, query: Query
) -> tuple[list[dict[str, Any]], bool, int | None]:
    """The features that are wanted, whether there are more, and how many in all where that is soon counted."""
    where, values = _conditions(connection, collection, query)
    rows = connection.execute(
        sa.text(
            f"{_selected(connection, collection, query.srid)} where {where} order by id limit :limit offset :offset"
        ),
        values | {"limit": query.limit + 1, "offset": query.offset},
    ).mappings()
    found = [_feature(collection, dict(row)) for row in rows]
    more = len(found) > query.limit
    if not more and (found or not query.offset):
        return found, False, query.offset + len(found)
    limited = f"select 1 from {collection.relation} where {where} limit {COUNTED + 1}"
    count = connection.execute(sa.text(f"select count(*) from ({limited}) as few"), values).scalar_one()
    return found[: query.limit], more, count if count <= COUNTED else None


def item(connection: Connection, collection: Collection, id: str, query: Query) -> dict[str, Any]:
    """One feature by its id."""
    where, values = _conditions(connection, collection, query)
    row = (
        connection.execute(
            sa.text(
                f"{_selected(connection, collection, query.srid)} where {where} and {collection.key}::text = :id"
            ),
            values | {"id": id},
        )
        .mappings()
        .one_or_none()
    )
    if row is None:
        raise NotThereError(f"The collection {collection.id} has no feature {id[:120]!r}.")
    return _feature(collection, dict(row))


def utm_of(box: Sequence[float] | None) -> int | None:
    """The UTM zone of the middle of a box."""
    if box is None:
        return None
    lon, lat = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return (32600 if lat >= 0 else 32700) + int((lon + 180) // 6) % 60 + 1


def _selected(connection: Connection, collection: Collection, srid: int) -> str:
    columns = ", ".join(f'"{name}"' for name in properties_of(connection, collection))
    shape = "geom" if srid == 4326 else f"st_transform(geom, {int(srid)})"
    digits = 7 if srid == 4326 else 3
    return f'select {collection.key} as "_id", st_asgeojson({shape}, {digits}) as "_shape", {columns} from {collection.relation}'


def _conditions(connection: Connection, collection: Collection, query: Query) -> tuple[str, dict[str, Any]]:
    """What a feature must be; only what is asked for, so that the indexes serve."""
    parts = [f"{collection.owner} = :of"]
    values: dict[str, Any] = {"of": collection.of}
    if collection.in_time:
        parts.append("upper_inf(known)" if query.known is None else "known @> cast(:known as timestamptz)")
        values["known"] = query.known
        if query.begins is not None or query.ends is not None:
            parts.append(
                "during && tstzrange(cast(:begins as timestamptz), cast(:ends as timestamptz), '[]')"
            )
            values |= {"begins": query.begins, "ends": query.ends}
    if query.box is not None:
        box = "st_makeenvelope(:west, :south, :east, :north, :box_srid)"
        if query.box_srid != 4326:
            # a straight edge there may be bent here
            box = f"st_transform(st_segmentize({box}, greatest(:east - :west, :north - :south) / 16), 4326)"
        parts.append(f"geom && {box} and st_intersects(geom, {box})")
        values |= dict(zip(("west", "south", "east", "north"), query.box, strict=True)) | {
            "box_srid": query.box_srid
        }
    if query.only is not None:
        parts.append("code = any(:codes)")
        values["codes"] = list(query.only)
    known = properties_of(connection, collection) if query.properties else {}
    for n, (name, value) in enumerate(query.properties.items()):
        if name not in known:
            raise SightlineError(
                f"{name!r} is no property to ask {collection.id} by.", f"There are {', '.join(known)}."
            )
        listed = known[name].get("type") == "array"
        parts.append(f':value{n} = any("{name}")' if listed else f'"{name}"::text = :value{n}')
        values[f"value{n}"] = value
    return " and ".join(parts), {key: value for key, value in values.items() if f":{key}" in " ".join(parts)}


def _feature(collection: Collection, row: dict[str, Any]) -> dict[str, Any]:
    id, shape = row.pop("_id"), row.pop("_shape")
    return {"id": id, "shape": shape, "properties": row}
