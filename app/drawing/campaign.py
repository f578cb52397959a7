"""A moment of a campaign as SVG: the coast in Web Mercator, forces, what happens, and the ways they came."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from app.drawing.labels import LINE, Box, Spot, place_labels

WIDTH = 900.0
MARGIN = 0.06
HALF = (9.0, 6.0)
"""Half the width and height of a force's mark."""
DOT = 8.0
"""Radius of an event's mark."""
TOGETHER = 6.0
"""Forces that stand nearer to one another than this share a mark and a label."""
LEADER = 16.0
"""How far a label may stand from its mark without a line to it."""
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
    named = [mark for mark in shown if mark.label and mark.shape["type"] == "Point"]
    parts += [_linked(mark, _drawn(frame, mark)) for mark in shown if mark not in named]
    told, boxes = _named(frame, named, [mark for mark in shown if mark not in named])
    parts += told
    numbers = " ".join(f'data-{key}="{value:.6f}"' for key, value in frame._asdict().items())
    if boxes:
        numbers += f' data-shown="{_shown(boxes, frame)}"'
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


def _drawn(frame: Frame, mark: Mark) -> str:
    if mark.shape["type"] != "Point":
        return _path(frame, mark.shape, mark.look)
    x, y = frame.at(*mark.shape["coordinates"])
    if "stance" in mark.look:
        across, down = HALF
        return f'<rect class="{mark.look}" x="{x - across:.1f}" y="{y - down:.1f}" width="{2 * across:.0f}" height="{2 * down:.0f}" rx="1.5"/>'
    return f'<circle class="{mark.look}" cx="{x:.1f}" cy="{y:.1f}" r="{DOT:.0f}"/>'


def _named(frame: Frame, named: Sequence[Mark], others: Sequence[Mark]) -> tuple[list[str], list[Box]]:
    """Marks with their labels, those of one place together, a line to each label that stands off; and what all take."""
    places: list[tuple[tuple[float, float], list[Mark]]] = []
    for mark in named:
        at = frame.at(*mark.shape["coordinates"])
        here = next((marks for there, marks in places if math.dist(at, there) < TOGETHER), None)
        if here is None:
            places.append((at, [mark]))
        else:
            here.append(mark)
    spots = [Spot(*at, list(dict.fromkeys(mark.label for mark in marks))) for at, marks in places]
    points = [frame.at(*mark.shape["coordinates"]) for mark in others if mark.shape["type"] == "Point"]
    taken = [Box(x - DOT, y - DOT, x + DOT, y + DOT) for x, y in points]
    taken += [Box(x - HALF[0], y - HALF[1], x + HALF[0], y + HALF[1]) for (x, y), _ in places]
    boxes = place_labels(spots, taken, Box(0, 0, WIDTH, frame.height))
    leaders = [_leader(spot, box) for spot, box in zip(spots, boxes, strict=True) if box is not None]
    told = []
    for (_, marks), box in zip(places, boxes, strict=True):
        told += [_linked(mark, _drawn(frame, mark)) for mark in marks]
        told += _lines_of(marks, box) if box is not None else []
    return [*leaders, *told], [*taken, *(box for box in boxes if box is not None)]


def _shown(boxes: Sequence[Box], frame: Frame) -> str:
    """The part of the drawing with all marks and labels, as a box of its view: for a screen that is too small for all."""
    edges = list(zip(*boxes, strict=True))
    left, top, right, bottom = min(edges[0]), min(edges[1]), max(edges[2]), max(edges[3])
    # no smaller than a third of the whole, and of its proportions
    share = min(1.0, max((right - left) / WIDTH + 0.05, (bottom - top) / frame.height + 0.05, 1 / 3))
    width, height = share * WIDTH, share * frame.height
    x = min(max((left + right - width) / 2, 0), WIDTH - width)
    y = min(max((top + bottom - height) / 2, 0), frame.height - height)
    return f"{x:.0f} {y:.0f} {width:.0f} {height:.0f}"


def _leader(spot: Spot, box: Box) -> str:
    end = box.nearest(spot.x, spot.y)
    if math.dist(end, (spot.x, spot.y)) <= LEADER:
        return ""
    return f'<line class="leader" x1="{spot.x:.1f}" y1="{spot.y:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"/>'


def _lines_of(marks: Sequence[Mark], box: Box) -> list[str]:
    """The label of one place, a force a line, each a link; who is there by two accounts is named once."""
    once = {mark.label: mark for mark in reversed(marks)}
    return [
        _linked(once[label], f'<text class="force-label" x="{box.left:.1f}" y="{box.top + LINE * (n + 0.78):.1f}">{escape(label)}</text>')
        for n, label in enumerate(dict.fromkeys(mark.label for mark in marks))
    ]  # fmt: skip


def _haze(frame: Frame, mark: Mark) -> str:
    """How far what happened at a point may be off; forces stand too close to show it of each."""
    if not mark.uncertainty or mark.shape["type"] != "Point" or "stance" in mark.look:
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
