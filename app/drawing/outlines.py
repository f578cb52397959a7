"""The lie of the land as shapes: rounded edges of terrain, the shore, the depth of the sea, slopes in light and shade.

Everything is found from a hex and its neighbours alone, corner by corner, so that any part of a map is drawn as the
whole is; `static/map/outlines.js` does the same on the screen. Points are those of the lattice; who draws turns them
into the sheet's. A curve runs from the middle of a side around a corner to the middle of the next side, so that a
rounded edge still crosses every side in its middle, and roads and rivers keep to their hexes and sides.
"""

from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from db.labels import CORNERS, STEPS, Axial
from db.map_draft import HexDraft

Spot = tuple[float, float]
Side = tuple[Axial, int]
"""A hex and the step across the side, 0 to 5: directions 1 to 6."""

WATER = frozenset({"sea", "ocean", "shallow", "reef", "surf"})
SHORE = frozenset({"beach", "mangrove_swamp"})
"""Terrain that the sea touches: where such hexes end a map, there is water beyond."""
DEEP = 3
"""Hexes from the shore within which the sea grows deeper."""
LIGHT = (-0.5, -0.7)
"""Where the light comes from, over the upper left, as maps have it."""
ROOT: float = 0.75**0.5
SHADES = 6
"""Degrees of light and of shade that are told apart."""


CROWN = [
    (dq, dr) for dr in range(-3, 4) for dq in range(-3, 4) if abs(dq + dr) <= 3 and (2 * dr + dq, dq) < (0, 0)
]
"""Places before a hex, as a page is read, that may have the word instead of it."""


class Cut(NamedTuple):
    """A corner of a hex that its two neighbours there share, in two halves."""

    middles: tuple[Spot, Spot]
    """Of the sides next to the corner; the curve runs from one to the other."""
    corner: Spot
    terrain: tuple[str, str]
    """Who takes each half."""


class Land:
    """What lies where, and what is beside it."""

    def __init__(self, hexes: Mapping[Axial, HexDraft]) -> None:
        self.hexes = hexes

    def terrain(self, place: Axial) -> str | None:
        """Of a hex; of a place beyond the map the sea, where a shore ends the map."""
        ground = self.hexes.get(place)
        if ground is not None:
            return ground.terrain
        return "sea" if place in self.beyond else None

    @functools.cached_property
    def beyond(self) -> dict[Axial, int]:
        """Places outside a map without sea of its own that are sea, with how far from the shore they lie."""
        found: dict[Axial, int] = {}
        if any(ground.terrain in WATER for ground in self.hexes.values()):
            return found
        edge = [place for place, ground in self.hexes.items() if ground.terrain in SHORE]
        for far in range(1, DEEP + 1):
            edge = [
                other
                for place in edge
                for other in around(place)
                if other not in self.hexes and other not in found
            ]
            found.update(dict.fromkeys(edge, far))
        return found

    def cuts(self, place: Axial) -> Iterator[Cut]:
        """The corners that are rounded off a hex, because both who meet it there are of one kind."""
        mine = self.terrain(place)
        if mine is None:
            return
        corners = _corners(place)
        beside = [self.terrain(other) for other in around(place)]
        for n, corner in enumerate(corners):
            one, other = beside[(n + 1) % 6], beside[(n + 2) % 6]
            if one is None or other is None or mine in (one, other):
                continue
            if one == other or (one in WATER) == (other in WATER) != (mine in WATER):
                middles = _middle(corners[n - 1], corner), _middle(corner, corners[(n + 1) % 6])
                yield Cut(middles, corner, (one, other))

    def depth(self, place: Axial) -> int:
        """How far a place of the sea is from land, at most `DEEP`; 0 on land."""
        if place in self.beyond:
            return self.beyond[place]
        if self.terrain(place) not in WATER:
            return 0
        ring = {place}
        for far in range(1, DEEP):
            ring |= {other for one in ring for other in around(one)}
            if any(
                (kind := self.terrain(other)) is not None and kind not in WATER for other in ring - {place}
            ):
                return far
        return DEEP

    def shore(self, place: Axial) -> Iterator[tuple[Spot, Spot, Spot]]:
        """The coast at a land hex: curves from a side's middle around a corner to the next side's."""
        if (mine := self.terrain(place)) is None or mine in WATER:
            return
        corners = _corners(place)
        wet = [self.terrain(other) in WATER for other in around(place)]
        for n, corner in enumerate(corners):
            before, after = wet[(n + 1) % 6], wet[(n + 2) % 6]
            here = _middle(corners[n - 1], corner), corner, _middle(corner, corners[(n + 1) % 6])
            if before and after:
                yield here
            elif before and self.terrain(around(place)[(n + 2) % 6]) is not None:
                # the coast goes on between the two neighbours; from the other land hex it is not drawn again
                wet_one, dry_one = around(place)[(n + 1) % 6], around(place)[(n + 2) % 6]
                yield here[0], corner, _middle(wet_one.center, dry_one.center)

    def slopes(self, place: Axial) -> Iterator[tuple[int, tuple[Spot, Spot, Spot]]]:
        """Six faces of a hex with their light (above 0) or shade, as far as the ground is not level there."""
        level = self._level(place)
        assert level is not None
        beside = [self._level(other) for other in around(place)]
        if all(other in (None, level) for other in beside):
            return
        middle, corners = place.center, _corners(place)
        heights = [_mean(level, beside[(n + 1) % 6], beside[(n + 2) % 6]) for n in range(6)]
        for n in range(6):
            face = middle, corners[n], corners[(n + 1) % 6]
            light = _light(face, (level, heights[n], heights[(n + 1) % 6]))
            if light:
                yield light, face

    def crowns(self, place: Axial) -> bool:
        """Whether a level is written here: at the upper end of ground that is level, not in all of it."""
        level = self._level(place)
        return not any(self._level(Axial(place.q + dq, place.r + dr)) == level for dq, dr in CROWN)

    def _level(self, place: Axial) -> int | None:
        ground = self.hexes.get(place)
        return None if ground is None else ground.level


def around(place: Axial) -> list[Axial]:
    """The six neighbours, in directions 1 to 6."""
    return [Axial(place.q + dq, place.r + dr) for dq, dr in STEPS]


def before(place: Axial) -> frozenset[Axial]:
    """The neighbours that come before it in the order of places."""
    return frozenset(other for other in around(place) if other < place)


def rounded(points: Iterable[Spot]) -> Iterator[tuple[Spot, ...]]:
    """A way from hex to hex without its corners: a straight piece of two points, or a curve of three."""
    way = list(points)
    middles = [_middle(one, other) for one, other in itertools.pairwise(way)]
    yield way[0], middles[0]
    yield from zip(middles, way[1:-1], middles[1:], strict=False)
    yield middles[-1], way[-1]


def chained(sides: Iterable[tuple[Spot, Spot]]) -> Iterator[tuple[Spot, ...]]:
    """Water along hexsides: a curve around a corner where two sides meet, straight to it where one ends or three do."""
    meeting: dict[Spot, list[Spot]] = collections.defaultdict(list)
    for one, other in sides:
        meeting[one].append(_middle(one, other))
        meeting[other].append(_middle(one, other))
    for corner, middles in meeting.items():
        if len(middles) == 2:
            yield middles[0], corner, middles[1]
        else:
            yield from ((middle, corner) for middle in middles)


def rim(places: Iterable[Axial]) -> Iterator[Side]:
    """The sides that part some hexes from all others."""
    inside = set(places)
    for place in sorted(inside):
        for step, other in enumerate(around(place)):
            if other not in inside:
                yield place, step


def side(place: Axial, step: int) -> tuple[Spot, Spot]:
    """The two ends of the side of a hex in a direction."""
    corners = _corners(place)
    return corners[(step + 4) % 6], corners[(step + 5) % 6]


def _corners(place: Axial) -> list[Spot]:
    x, y = place.center
    return [(x + dx, y + dy) for dx, dy in CORNERS]


def _middle(one: Spot, other: Spot) -> Spot:
    return (one[0] + other[0]) / 2, (one[1] + other[1]) / 2


def _mean(*levels: int | None) -> float:
    known = [level for level in levels if level is not None]
    return sum(known) / len(known)


def _light(face: tuple[Spot, Spot, Spot], heights: tuple[float, float, float]) -> int:
    """How much a face is turned to the light: degrees of light above 0, of shade below."""
    (ax, ay), (bx, by), (cx, cy) = ((x / 2, y * ROOT) for x, y in face)
    rise = heights[1] - heights[0], heights[2] - heights[0]
    area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
    east = (rise[0] * (cy - ay) - rise[1] * (by - ay)) / area
    south = (rise[1] * (bx - ax) - rise[0] * (cx - ax)) / area
    # ground that falls toward the light is lit
    lit = -(east * LIGHT[0] + south * LIGHT[1])
    return max(-SHADES, min(SHADES, round(lit * SHADES)))
