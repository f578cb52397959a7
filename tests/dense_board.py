"""Boards drawn as densely as printed ones: outlines of many vertices, crest lines; for the bench and for comparisons.

A board of 33 columns has 346 hexes, 80 areas and about 5,000 vertices; one of 36 by 37 has 1,332, drawn as densely. What covers
the dot of a hex is its terrain, and how many crest lines lie around it its level, as on printed boards.
"""

from __future__ import annotations

import functools
import math
import random
from typing import NamedTuple

import shapely

from db.labels import Axial
from db.map_draft import GRID, AreaDraft, CrestDraft, HexDraft, Line, MapDraft, PathDraft, Point
from tests.small_map import scheme_of

CORNER = {"bob": "AD30", "ccp": "C3"}
"""Where a board begins: far enough from the end of the labels."""
TERRAIN = {
    "bob": (
        "woods",
        "stone_building",
        "wooden_building",
        "wheat_field",
        "orchard",
        "woods",
        "stone_building",
    ),
    "ccp": ("jungle", "building", "hut", "bush", "grass", "jungle", "palm"),
}
SMALL = ("stone_building", "wooden_building", "building", "hut")
SIZES = {346: (33, 10), 1332: (36, 37)}
"""Columns and rows of a board; the smaller has one more hex in every other column."""


class Shape(NamedTuple):
    """How a board is drawn."""

    ruleset: str
    hexes: int = 346
    hills: bool = False
    vertices: int = 5000
    """Of areas, on as much ground as 346 hexes; half as many again of crest lines where there are hills."""
    seed: int = 1


def outline(dice: random.Random, middle: Point, radius: float, corners: int) -> Line:
    """A bumpy outline around a point that turns one way and crosses itself nowhere."""
    waves = [(dice.uniform(0.05, 0.3) / n, dice.uniform(0, math.tau), n) for n in range(1, 6)]
    stretch, tilt = dice.uniform(0.6, 1.0), dice.uniform(0, math.tau)
    points: dict[Point, None] = {}
    for n in range(corners):
        angle = math.tau * n / corners
        far = radius * (1 + sum(size * math.sin(k * angle + shift) for size, shift, k in waves))
        far *= dice.uniform(0.97, 1.0)
        x, y = far * math.cos(angle), stretch * far * math.sin(angle)
        points[
            round(middle[0] + x * math.cos(tilt) - y * math.sin(tilt)),
            round(middle[1] + x * math.sin(tilt) + y * math.cos(tilt)),
        ] = None
    found = tuple(points)
    # snapped to the grid, a bump may touch the next one
    return found if shapely.Polygon(found).is_valid else outline(dice, middle, radius, corners)


def places(shape: Shape) -> list[Axial]:
    """The hexes of a board, in columns."""
    columns, rows = SIZES[shape.hexes]
    corner = scheme_of(shape.ruleset).hex(CORNER[shape.ruleset])
    found = []
    for q in range(columns):
        # 33 columns of 10 and 11 hexes are 346
        longer = shape.hexes == 346 and q % 2
        found += [Axial(corner.q + q, corner.r + r - q // 2) for r in range(-1 if longer else 0, rows)]
    return found


@functools.cache
def dense_board(shape: Shape) -> MapDraft:
    """A board of that shape, always the same."""
    dice = random.Random(str(shape))
    hexes = places(shape)
    board = MapDraft(shape.ruleset, scheme_of(shape.ruleset))
    count = max(1, round(80 * shape.hexes / 346))
    corners = max(3, round(shape.vertices / 80))
    for n in range(count):
        terrain = TERRAIN[shape.ruleset][n % len(TERRAIN[shape.ruleset])]
        radius = dice.uniform(0.5, 1.1) if terrain in SMALL else dice.uniform(1.2, 3.5)
        board.areas.append(
            AreaDraft(terrain, (outline(dice, centre(dice.choice(hexes)), GRID * radius, corners),))
        )
    if shape.hills:
        for _ in range(max(1, round(5 * shape.hexes / 346))):
            middle, radius = centre(dice.choice(hexes)), dice.uniform(4, 9)
            for level in (1, 2, 3):
                ring = outline(dice, middle, GRID * radius, max(8, round(shape.vertices / 30)))
                board.crests.append(CrestDraft(level, (*ring, ring[0])))
                radius *= dice.uniform(0.4, 0.6)
    woods = [(area.terrain, filled(area.rings[0])) for area in board.areas]
    tops = [(crest.level, filled(crest.line)) for crest in board.crests]
    for hex in hexes:
        dot = shapely.Point(centre(hex))
        covered = [terrain for terrain, area in woods if area.contains(dot)]
        level = max((level for level, ring in tops if ring.contains(dot)), default=0)
        board.hexes[hex] = HexDraft(covered[-1] if covered else "open_ground", level)
    columns, rows = SIZES[shape.hexes]
    corner = hexes[0]
    row = rows // 2
    road = tuple(Axial(corner.q + q, corner.r + row - q // 2) for q in range(columns))
    board.paths.append(PathDraft("road", road))
    return board


def filled(line: Line) -> shapely.Polygon:
    """What an outline encloses, ready to be asked often."""
    found = shapely.Polygon(line)
    shapely.prepare(found)
    return found


def centre(hex: Axial) -> Point:
    """The dot of a hex, in grid units."""
    return 3 * GRID * hex.q, GRID * (2 * hex.r + hex.q)
