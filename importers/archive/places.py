"""Places as an archivist writes them: a hex, a point, a line or an area in longitude and latitude."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import shapely
from shapely.geometry.base import BaseGeometry

WKT = re.compile(r"\s*(POINT|LINESTRING|POLYGON)\s*\(", re.IGNORECASE)
PAIR = re.compile(r"\s*(-?\d+\.\d+)\s*[,\s]\s*(-?\d+\.\d+)\s*")
"""Longitude and latitude in one cell or field; with decimals, so that it is no label."""
SAMPLES = "a hex (1905), [144.65, 13.47], {line: [[lon, lat], …]} or {area: [[lon, lat], …]}"


class Place(NamedTuple):
    """Where: by the label of a hex, or as a shape in longitude and latitude; or nowhere."""

    hex: str | None = None
    shape: BaseGeometry | None = None


def read_place(at: Any) -> Place:
    """The place that a value of a file tells."""
    if at is None or at == "":
        return Place()
    if isinstance(at, str) and WKT.match(at):
        return Place(shape=_from_wkt(at))
    if isinstance(at, str) and (pair := PAIR.fullmatch(at)):
        return Place(shape=shapely.Point(_point([pair[1], pair[2]])))
    if isinstance(at, str | int):
        return Place(hex=str(at).removeprefix("hex:").strip())
    if isinstance(at, dict) and at.keys() == {"lon", "lat"}:
        return Place(shape=shapely.Point(_point([at["lon"], at["lat"]])))
    if isinstance(at, dict) and at.keys() == {"line"}:
        return Place(shape=_sound(shapely.LineString(_points(at["line"], 2))))
    if isinstance(at, dict) and at.keys() == {"area"}:
        return Place(shape=_sound(shapely.Polygon(_points(at["area"], 3))))
    if isinstance(at, list) and len(at) == 2:
        return Place(shape=shapely.Point(_point(at)))
    raise ValueError(f"this is no place; write {SAMPLES}")


def write_place(hex: str | None, shape: BaseGeometry | None) -> Any:
    """The value that `read_place` reads as this place."""
    if hex is not None or shape is None:
        return hex
    if shape.geom_type == "Point":
        return _pair(shape.coords[0])
    if shape.geom_type == "LineString":
        return {"line": [_pair(pair) for pair in shape.coords]}
    if isinstance(shape, shapely.Polygon) and not shape.interiors:
        return {"area": [_pair(pair) for pair in shape.exterior.coords[:-1]]}
    # drawn elsewhere (in QGIS, say), of many parts: its hull says roughly where
    return write_place(None, shape.convex_hull)


def _from_wkt(text: str) -> BaseGeometry:
    """A shape in well-known text, as spreadsheets and GIS hand it on."""
    try:
        shape = shapely.from_wkt(text)
    except shapely.errors.GEOSException:
        raise ValueError(f"{text[:40]!r} is no well-known text") from None
    for pair in shapely.get_coordinates(shape):
        _point([repr(float(number)) for number in pair])
    return shape if shape.geom_type == "Point" else _sound(shape)


def _pair(pair: Any) -> list[Decimal]:
    return [Decimal(repr(float(number))) for number in pair[:2]]


def _points(value: Any, least: int) -> list[tuple[float, float]]:
    if not isinstance(value, list) or len(value) < least:
        raise ValueError(f"a line has two or more points, an area three or more; write {SAMPLES}")
    return [_point(pair) for pair in value]


def _point(pair: Any) -> tuple[float, float]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError("a point is [longitude, latitude]")
    try:
        lon, lat = (Decimal(str(number)) for number in pair)
    except InvalidOperation:
        raise ValueError(f"{pair[0]}, {pair[1]}: a point is two numbers, longitude and latitude") from None
    if not (abs(lon) <= 180 and abs(lat) <= 90):
        raise ValueError(f"there is no longitude {lon}, latitude {lat}; are they swapped?")
    return float(lon), float(lat)


def _sound(shape: BaseGeometry) -> BaseGeometry:
    if not shape.is_valid or shape.is_empty or shape.length == 0:
        raise ValueError("the outline crosses itself, or has no extent")
    return shape
