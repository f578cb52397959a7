"""A moment of a campaign as SVG: the coast in Web Mercator, forces, what happens, and the ways they came."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup, escape

WIDTH = 900.0
MARGIN = 0.06
LABEL = (60, 14)
"""Width and height that a label is given."""
SIDES = ("us", "japan")
"""Sides with a colour of their own; all others share one."""
METERS_PER_DEGREE = 111_320.0


class Frame(NamedTuple):
    """What of the world is drawn: longitudes, and latitudes as Mercator has them, in degrees."""

    west: float
    south: float
    east: float
    north: float

    @property
    def scale(self) -> float:
        return WIDTH / (self.east - self.west)

    @property
    def height(self) -> float:
        return (self.north - self.south) * self.scale

    def at(self, lon: float, lat: float) -> tuple[float, float]:
        """A place in the drawing."""
        return (lon - self.west) * self.scale, (self.north - mercator(lat)) * self.scale


class Mark(NamedTuple):
    """Something to be drawn."""

    shape: Mapping[str, Any]
    title: str
    address: str
    look: str
    """Classes for the style sheet."""
    label: str = ""
    uncertainty: int | None = None


def mercator(lat: float) -> float:
    """A latitude as Web Mercator draws it, in degrees."""
    bounded = max(-85.0, min(85.0, lat))
    return math.degrees(math.log(math.tan(math.pi / 4 + math.radians(bounded) / 2)))


def frame_of(coast: Mapping[str, Any] | None, marks: Sequence[Mark]) -> Frame:
    """The coast with a margin; without one, all that is drawn."""
    shapes = [coast] if coast is not None else [mark.shape for mark in marks]
    points = [point for shape in shapes for point in _points(shape["coordinates"])]
    if not points:
        return Frame(-180, mercator(-60), 180, mercator(75))
    west, east = min(lon for lon, _ in points), max(lon for lon, _ in points)
    south, north = (mercator(end(lat for _, lat in points)) for end in (min, max))
    margin = max(east - west, north - south, 0.02) * MARGIN
    return Frame(west - margin, south - margin, east + margin, north + margin)


def campaign_svg(
    coast: Mapping[str, Any] | None, tracks: Iterable[Mark], marks: Sequence[Mark], title: str
) -> Markup:
    """The drawing; its frame stands in data attributes, so that a click can be told in degrees."""
    frame = frame_of(coast, marks)
    parts = [_path(frame, coast, "coast")] if coast is not None else []
    parts += [_linked(track, _path(frame, track.shape, f"track {track.look}")) for track in tracks]
    shown = [mark for mark in marks if _inside(frame, mark)]
    parts += [_haze(frame, mark) for mark in shown]
    labels = _label_places(frame, shown)
    parts += [_linked(mark, _drawn(frame, mark, places)) for mark, places in zip(shown, labels, strict=True)]
    numbers = " ".join(f'data-{key}="{value:.6f}"' for key, value in frame._asdict().items())
    return Markup(
        f'<svg class="campaign-map" viewBox="0 0 {WIDTH:.0f} {frame.height:.0f}" {numbers} role="group"'
        f' aria-label="{escape(title)}" preserveAspectRatio="xMidYMid meet">'
        f'<rect class="sea" width="{WIDTH:.0f}" height="{frame.height:.0f}"/>{"".join(parts)}</svg>'
    )


def _inside(frame: Frame, mark: Mark) -> bool:
    """Whether any of it lies in the frame: what happens elsewhere is in the list only."""
    return any(
        frame.west <= lon <= frame.east and frame.south <= mercator(lat) <= frame.north
        for lon, lat in _points(mark.shape["coordinates"])
    )


def _label_places(frame: Frame, marks: Sequence[Mark]) -> list[float]:
    """How far down each label is moved, so that none lies on another."""
    taken: list[tuple[float, float]] = []
    found: list[float] = []
    for mark in marks:
        if not mark.label or mark.shape["type"] != "Point":
            found.append(0)
            continue
        x, y = frame.at(*mark.shape["coordinates"])
        shift = next(
            down
            for down in range(0, LABEL[1] * (len(marks) + 1), LABEL[1])
            if all(abs(x - a) >= LABEL[0] or abs(y + down - b) >= LABEL[1] for a, b in taken)
        )
        taken.append((x, y + shift))
        found.append(shift)
    return found


def _drawn(frame: Frame, mark: Mark, shift: float) -> str:
    if mark.shape["type"] != "Point":
        return _path(frame, mark.shape, mark.look)
    x, y = frame.at(*mark.shape["coordinates"])
    if "stance" in mark.look:
        dot = f'<rect class="{mark.look}" x="{x - 6:.1f}" y="{y - 4:.1f}" width="12" height="8" rx="1"/>'
    else:
        dot = f'<circle class="{mark.look}" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'
    label = (
        f'<text class="force-label" x="{x + 9:.1f}" y="{y + 4 + shift:.1f}">{escape(mark.label)}</text>'
        if mark.label
        else ""
    )
    return dot + label


def _haze(frame: Frame, mark: Mark) -> str:
    """How far a point may be off."""
    if not mark.uncertainty or mark.shape["type"] != "Point":
        return ""
    lon, lat = mark.shape["coordinates"]
    x, y = frame.at(lon, lat)
    radius = mark.uncertainty / (METERS_PER_DEGREE * math.cos(math.radians(lat))) * frame.scale
    return (
        f'<circle class="haze" cx="{x:.1f}" cy="{y:.1f}" r="{min(radius, WIDTH):.1f}"/>' if radius > 8 else ""
    )


def _path(frame: Frame, shape: Mapping[str, Any], look: str) -> str:
    lines = _lines(shape["type"], shape["coordinates"])
    close = "Z" if "Polygon" in shape["type"] else ""
    drawn = "".join(
        "M" + "L".join("{:.1f} {:.1f}".format(*frame.at(*point[:2])) for point in line) + close
        for line in lines
    )
    return f'<path class="{look}" d="{drawn}"/>'


def _linked(mark: Mark, drawn: str) -> str:
    return f'<a href="{escape(mark.address)}"><title>{escape(mark.title)}</title>{drawn}</a>'


def _lines(kind: str, coordinates: Any) -> list[Any]:
    if kind in ("LineString", "MultiPoint"):
        return [coordinates]
    if kind == "Point":
        return [[coordinates]]
    if kind in ("Polygon", "MultiLineString"):
        return list(coordinates)
    return [ring for polygon in coordinates for ring in polygon]


def _points(coordinates: Any) -> Iterable[tuple[float, float]]:
    if coordinates and isinstance(coordinates[0], int | float):
        yield coordinates[0], coordinates[1]
        return
    for part in coordinates:
        yield from _points(part)


def shape_of(text: str | None) -> Any:
    """A shape as the database tells it."""
    return None if text is None else json.loads(text)


def side_look(side: str) -> str:
    """The class of a side's colour."""
    return side if side in SIDES else "other"
