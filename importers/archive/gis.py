"""A campaign for GIS programs: GeoPackage and GeoJSON in longitude and latitude, with times that a time slider reads.

Every layer has one kind of shape, since GIS programs draw a layer in one way: `entry` has the points,
`entry_line` and `entry_area` the rest, `entry_nowhere` what has no place; likewise stances. `begins`
and `ends` are UTC, empty where a time is open.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyogrio.raw  # type: ignore[import-untyped]
import shapely
import sqlalchemy as sa
from shapely.geometry.base import BaseGeometry
from sqlalchemy.engine import Connection

from db.chronicle import find_campaign
from db.coasts import coasts
from importers.archive.campaigns import stored_rows
from importers.archive.times import read_zone, write_when
from importers.archive.writing import shape_of, utc
from importers.map_writing import flow

CRS = "EPSG:4326"
TIMES = ("begins", "ends")
WHOLE = ("uncertainty", "strength_least", "strength_most", "year", "stations")
ENTRY = (
    "key", "when", "begins", "ends", "kind", "title", "text", "event", "certainty", "hex", "place", "uncertainty",
    "forces", "account", "page",
)  # fmt: skip
STANCE = (
    "key", "force", "name", "side", "when", "begins", "ends", "state", "hex", "place", "uncertainty",
    "strength_least", "strength_most", "account", "page", "note",
)  # fmt: skip
COLUMNS: dict[str, tuple[str, ...]] = {
    "entry": ENTRY,
    "entry_line": ENTRY,
    "entry_area": ENTRY,
    "entry_nowhere": ENTRY,
    "stance": STANCE,
    "stance_line": STANCE,
    "stance_area": STANCE,
    "stance_nowhere": STANCE,
    "track": ("force", "name", "side", "account", "stations", "begins", "ends"),
    "force": ("key", "name", "side", "kind", "note"),
    "account": ("key", "author", "title", "year", "publisher", "kind", "reliability", "url", "note"),
    "subordination": ("force", "superior", "begins", "ends", "account", "page"),
    "coast": ("name", "source"),
}
SHAPES = {
    "entry": "Point",
    "entry_line": "LineString",
    "entry_area": "Polygon",
    "stance": "Point",
    "stance_line": "LineString",
    "stance_area": "Polygon",
    "track": "LineString",
    "coast": "MultiPolygon",
}
"""Layers that are drawn; the others are tables."""
SUFFIX = {"Point": "", "LineString": "_line", "Polygon": "_area"}


class Told(NamedTuple):
    """A feature to be written."""

    properties: dict[str, Any]
    shape: BaseGeometry | None


Layers = dict[str, list[Told]]


def layers(connection: Connection, name: str, known: datetime.datetime | None = None) -> Layers:
    """Every layer of a campaign, empty ones included."""
    found = find_campaign(connection, name)
    rows = stored_rows(connection, found.id, known)
    zone = read_zone(found.zone)
    forces = rows["force"]
    told: Layers = {layer: [] for layer in COLUMNS}
    for kind in ("entry", "stance"):
        for key, row in rows[kind].items():
            properties = _times(row) | {
                "when": write_when(row["during"], row["precision"], row["about"], zone)
            }
            properties |= _entry(key, row) if kind == "entry" else _stance(key, row, forces)
            shape = shape_of(row)
            told[kind + ("_nowhere" if shape is None else SUFFIX[shape.geom_type])].append(
                Told(properties, shape)
            )
    told["track"] = [_track(row, forces) for row in _tracks(connection, found.id, known)]
    for kind in ("force", "account", "subordination"):
        told[kind] = [Told(dict(row) | _times(row) | {"key": key}, None) for key, row in rows[kind].items()]
    if found.coast:
        shape = shapely.geometry.shape(coasts()[found.coast])
        source = "GSHHG 2.3.7 (Wessel and Smith, 1996), LGPL-3.0-or-later"
        told["coast"] = [Told({"name": found.coast, "source": source}, shape)]
    return told


UTC = 100
"""GDAL's word for UTC beside a moment: a GeoPackage has no other, and a reader need not guess."""


def write_geojson(connection: Connection, name: str, known: datetime.datetime | None = None) -> str:
    """A campaign as one FeatureCollection; the property `layer` says which layer a feature is of."""
    features = [
        flow(
            {
                "type": "Feature",
                "properties": {"layer": layer} | _listed(layer, told.properties),
                "geometry": None if told.shape is None else json.loads(shapely.to_geojson(told.shape)),
            },
            json.dumps,
        )
        for layer, rows in layers(connection, name, known).items()
        for told in rows
    ]
    head = flow({"campaign": name, "title": find_campaign(connection, name).title}, json.dumps)
    return (
        f'{{"type": "FeatureCollection",\n"sightline": {head},\n"features": [\n'
        + ",\n".join(features)
        + "\n]}\n"
    )


def write_geopackage(
    connection: Connection, name: str, path: Path, known: datetime.datetime | None = None
) -> None:
    """A campaign as a GeoPackage with all its layers and tables."""
    for layer, rows in layers(connection, name, known).items():
        columns = COLUMNS[layer]
        shapes = [None if told.shape is None else shapely.to_wkb(told.shape) for told in rows]
        pyogrio.raw.write(
            path,
            np.array(shapes, object) if layer in SHAPES else None,
            [_column(column, [told.properties.get(column) for told in rows]) for column in columns],
            list(columns),
            field_mask=[
                np.array([told.properties.get(column) is None for told in rows]) for column in columns
            ],
            gdal_tz_offsets={column: np.full(len(rows), UTC) for column in columns if column in TIMES},
            layer=layer,
            driver="GPKG",
            # what QGIS 3.22 (GDAL 3.6) and later read without a warning
            dataset_options={"VERSION": "1.3"},
            **({"geometry_type": SHAPES[layer], "crs": CRS} if layer in SHAPES else {}),
        )


def _column(name: str, values: Iterable[Any]) -> np.typing.NDArray[Any]:
    """A column of a table: moments, whole numbers or text."""
    listed = list(values)
    if name in TIMES:
        return np.array(
            [np.datetime64(value.removesuffix("Z") if value else "NaT", "ms") for value in listed],
            "datetime64[ms]",
        )
    if name in WHOLE:
        return np.array([value or 0 for value in listed], np.int32)
    return np.array(listed, object)


def _listed(layer: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {column: properties.get(column) for column in COLUMNS[layer]}


def _times(row: Mapping[str, Any]) -> dict[str, Any]:
    during = row.get("during")
    if during is None:
        return {}
    ends = (during.lower, during.upper)
    return {name: None if end is None else utc(end) for name, end in zip(TIMES, ends, strict=True)}


def _entry(key: str, row: Mapping[str, Any]) -> dict[str, Any]:
    columns = (
        "kind",
        "title",
        "text",
        "event",
        "certainty",
        "hex",
        "place",
        "uncertainty",
        "account",
        "page",
    )
    return {column: row[column] for column in columns} | {"key": key, "forces": ", ".join(row["forces"])}


def _stance(key: str, row: Mapping[str, Any], forces: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    columns = ("force", "state", "hex", "place", "uncertainty", "account", "page", "note")
    force, strength = forces[row["force"]], row["strength"]
    return {column: row[column] for column in columns} | {
        "key": key,
        "name": force["name"],
        "side": force["side"],
        "strength_least": strength and strength.lower,
        "strength_most": strength and strength.upper - 1,
    }


def _tracks(connection: Connection, campaign_id: int, known: datetime.datetime | None) -> list[Any]:
    query = sa.text(
        "select force, account, stations, during, upper(encode(st_asewkb(geom), 'hex')) as geom"
        " from archive.tracks(:campaign, null, :known)"
    )
    return [
        dict(row) for row in connection.execute(query, {"campaign": campaign_id, "known": known}).mappings()
    ]


def _track(row: Mapping[str, Any], forces: Mapping[str, Mapping[str, Any]]) -> Told:
    force = forces[row["force"]]
    properties = {column: row[column] for column in ("force", "account", "stations")}
    return Told(properties | _times(row) | {"name": force["name"], "side": force["side"]}, shape_of(row))
