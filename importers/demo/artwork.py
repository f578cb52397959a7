"""Drawn artwork: rounded outlines of woods and fields, houses, water courses and crest lines.

Outlines start as the exact border of a group of hexes; they are drawn in a little, bent by
noise and rounded off, so that artwork and hex grid agree about each hex but not about each
line, as on a printed map.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction

from db.labels import CORNERS, Axial
from importers.demo.noise import Noise
from importers.demo.sheet import (
    COLUMN_PITCH,
    Corner,
    Point,
    Sheet,
    centre,
    corner_point,
    corners,
    hexes_at,
)

GRAIN = 32
"""Artwork is drawn on a grid of 1/32 of a column and row, which the lattice holds exactly."""
TURNS = ((1.0, 0.0), (0.96, 0.28), (0.8, 0.6), (0.6, 0.8), (0.28, 0.96), (0.96, -0.28), (0.8, -0.6))
"""Cosine and sine of the angles at which houses stand."""


class Brush:
    """Draws on a sheet; all strokes of one brush bend by the same noise."""

    def __init__(self, sheet: Sheet, seed: int, bend: float = 0.3) -> None:
        self.sheet = sheet
        self.bend = bend
        self._east, self._south = Noise(seed, 0.8, 2), Noise(seed + 1, 0.8, 2)

    def area(self, terrain: str, group: Collection[Axial], inset: float = 0.16, rounds: int = 2) -> None:
        """The outline of a connected group of hexes, and of the holes in it."""
        outlines: list[list[Point]] = []
        holes: list[list[Point]] = []
        for loop in borders(group):
            points = self._bent([_drawn_in(corner, group, inset) for corner in loop])
            ring = self._drawn(_rounded(points, rounds, closed=True))
            (outlines if _clockwise(points) else holes).append(ring)
        self.sheet.areas.append((terrain, outlines[0], holes))

    def exact_area(self, terrain: str, group: Collection[Axial]) -> None:
        """Terrain that fills its hexes to the sides."""
        for loop in borders(group):
            self.sheet.areas.append((terrain, [self._exact(corner) for corner in loop], []))

    def crest(self, level: int, upper: Collection[Axial]) -> None:
        """Crest lines around the ground of a level and above, the higher ground on their left."""
        for loop in borders(upper):
            for stretch in self._inner_stretches(loop[::-1], upper):
                points = self._bent([_drawn_in(corner, upper, 0.12) for corner in stretch])
                closed = stretch[0] == stretch[-1]
                line = _rounded(points[:-1] if closed else points, 2, closed)
                drawn = self._drawn(line)
                self.sheet.crests.append((level, [*drawn, drawn[0]] if closed else drawn))

    def course(self, terrain: str, chain: Sequence[Axial], width: float) -> None:
        """A band along a chain of hexes, such as a stream, that runs off the paper at its ends."""
        points = [centre(place) for place in chain]
        points = [_beyond(points[1], points[0]), *points, _beyond(points[-2], points[-1])]
        middle = _rounded(self._bent(_straightened(points)), 2, closed=False)
        left = [_aside(middle, n, width / 2) for n in range(len(middle))]
        right = [_aside(middle, n, -width / 2) for n in range(len(middle))]
        self.sheet.areas.append((terrain, self._drawn(left + right[::-1]), []))

    def house(self, terrain: str, at: Point, size: tuple[float, float], turn: int = 0) -> None:
        """A rectangle on the painter's plane."""
        cos, sin = TURNS[turn % len(TURNS)]
        across, down = size[0] / 2, size[1] / 2
        box = ((-across, -down), (across, -down), (across, down), (-across, down))
        points = [(at[0] + x * cos - y * sin, at[1] + x * sin + y * cos) for x, y in box]
        self.sheet.areas.append((terrain, self._drawn(points), []))

    def _bent(self, points: Sequence[Point]) -> list[Point]:
        return [
            (
                x + self.bend * (self._east.at(x, y) - 0.5),
                y + self.bend * (self._south.at(x, y) - 0.5),
            )
            for x, y in points
        ]

    def _inner_stretches(self, loop: list[Corner], group: Collection[Axial]) -> list[list[Corner]]:
        """The parts of a border that do not run along the rim of the paper."""
        sides = list(zip(loop, [*loop[1:], loop[0]], strict=True))
        inner = [self._outside(side, group) in self.sheet for side in sides]
        if all(inner):
            return [[*loop, loop[0]]]
        start = inner.index(False) + 1
        stretches: list[list[Corner]] = []
        open_line = False
        for n in range(start, start + len(sides)):
            one, other = sides[n % len(sides)]
            if inner[n % len(sides)]:
                stretches = (
                    [*stretches[:-1], [*stretches[-1], other]] if open_line else [*stretches, [one, other]]
                )
            open_line = inner[n % len(sides)]
        return stretches

    def _outside(self, side: tuple[Corner, Corner], group: Collection[Axial]) -> Axial:
        """The hex on the other side of a border, on the paper or not."""
        beside = set(hexes_at(side[0])) & set(hexes_at(side[1]))
        return next(place for place in sorted(beside) if place not in group)

    def _exact(self, corner: Corner) -> Point:
        x, y = self.sheet.scheme.drawn_point(Fraction(corner[0]), Fraction(corner[1]))
        return round(float(x), 6), float(y)

    def _drawn(self, points: Sequence[Point]) -> list[Point]:
        """Column and row of points of the plane, on the grain, without repeated points."""
        first_column = float(self.sheet.scheme.drawn_point(Fraction(0), Fraction(0))[0])
        drawn: list[Point] = []
        for x, y in points:
            point = _grain(x / COLUMN_PITCH + first_column), _grain(y)
            if not drawn or point != drawn[-1]:
                drawn.append(point)
        return drawn[:-1] if len(drawn) > 1 and drawn[0] == drawn[-1] else drawn


def borders(group: Collection[Axial]) -> list[list[Corner]]:
    """The closed borders of a group of hexes, the group on the right of each."""
    after: dict[Corner, Corner] = {}
    for place in sorted(group):
        around = corners(place)
        for n, (dx, dy) in enumerate(CORNERS):
            ex, ey = CORNERS[(n + 1) % 6]
            dq = (dx + ex) // 3
            beyond = Axial(place.q + dq, place.r + (dy + ey - dq) // 2)
            if beyond not in group:
                after[around[n]] = around[(n + 1) % 6]
    loops: list[list[Corner]] = []
    while after:
        loop = [min(after)]
        while loop[-1] in after:
            loop.append(after.pop(loop[-1]))
        loops.append(loop[:-1])
    return loops


def _drawn_in(corner: Corner, group: Collection[Axial], inset: float) -> Point:
    """A corner moved toward the middle of the group's hexes that meet in it."""
    x, y = corner_point(corner)
    inner = [centre(place) for place in hexes_at(corner) if place in group]
    to_x, to_y = (math.fsum(values) / len(inner) for values in zip(*inner, strict=True))
    return x + inset * (to_x - x), y + inset * (to_y - y)


def _rounded(points: Sequence[Point], rounds: int, closed: bool) -> list[Point]:
    """Corners cut off, again and again, as Chaikin does; an open line keeps its ends."""
    line = list(points)
    for _ in range(rounds):
        following = [*line[1:], line[0]] if closed else line[1:]
        cut: list[Point] = []
        for (x, y), (to_x, to_y) in zip(line, following, strict=False):
            cut += [((3 * x + to_x) / 4, (3 * y + to_y) / 4), ((x + 3 * to_x) / 4, (y + 3 * to_y) / 4)]
        line = cut if closed else [line[0], *cut[1:-1], line[-1]]
    return line


def _straightened(points: Sequence[Point]) -> list[Point]:
    """The line without the zigzag of the hexes it passes."""
    inner = zip(points, points[1:], points[2:], strict=False)
    smooth = [((a[0] + 2 * b[0] + c[0]) / 4, (a[1] + 2 * b[1] + c[1]) / 4) for a, b, c in inner]
    return [points[0], *smooth, points[-1]]


def _clockwise(points: Sequence[Point]) -> bool:
    """True for an outline, false for the border of a hole, on a plane with y down."""
    following = [*points[1:], points[0]]
    return math.fsum(x * to_y - to_x * y for (x, y), (to_x, to_y) in zip(points, following, strict=True)) > 0


def _aside(line: Sequence[Point], n: int, distance: float) -> Point:
    """A point beside the n-th of a line, at right angles to it."""
    before, after = line[max(0, n - 1)], line[min(len(line) - 1, n + 1)]
    dx, dy = after[0] - before[0], after[1] - before[1]
    length = math.sqrt(dx * dx + dy * dy)
    return line[n][0] - dy / length * distance, line[n][1] + dx / length * distance


def _beyond(before: Point, end: Point) -> Point:
    return end[0] + 0.5 * (end[0] - before[0]), end[1] + 0.5 * (end[1] - before[1])


def _grain(value: float) -> float:
    return round(value * GRAIN) / GRAIN
