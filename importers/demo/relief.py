"""Relief: heights into coasts, levels, slopes and the water that runs down them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Iterable, Sequence

from db.labels import Axial, side_hexes
from importers.demo.noise import chance
from importers.demo.sheet import (
    Corner,
    Sheet,
    Side,
    centre,
    corners,
    hexes_at,
    neighbours,
    side_between,
    side_corners,
)

Heights = dict[Axial, float]


def heights(sheet: Sheet, height: Callable[[float, float], float], smoothing: int = 1) -> Heights:
    """The height at each centre, evened out with the neighbours."""
    field = {place: height(*centre(place)) for place in sheet.hexes}
    for _ in range(smoothing):
        field = {
            place: (2 * field[place] + math.fsum(around)) / (2 + len(around))
            for place in sheet.hexes
            for around in [[field[other] for other in sheet.beside(place)]]
        }
    return field


def quantile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def flooded(sheet: Sheet, field: Heights, share: float, least_island: int = 6) -> set[Axial]:
    """The lowest share of the sheet, as one sea: ponds are dry land and specks of land are sea."""
    shore = quantile(field.values(), share)
    wet = {place for place in sheet.hexes if field[place] < shore}
    for patch in sheet.patches(lambda place: place in wet):
        open_to_rim = any(len(sheet.beside(place)) < 6 for place in patch)
        if patch[0] in wet and not (open_to_rim and len(patch) >= least_island):
            wet.difference_update(patch)
        elif patch[0] not in wet and len(patch) < least_island:
            wet.update(patch)
    return wet


def levels(sheet: Sheet, field: Heights, land: Collection[Axial], shares: Sequence[float], base: int) -> None:
    """Cut the heights into levels; `shares` are the parts of the land below each step."""
    steps = [quantile((field[place] for place in land), share) for share in shares]
    for place in land:
        sheet.level[place] = base + sum(field[place] >= step for step in steps)
    _drop_lone_levels(sheet, land)


def _drop_lone_levels(sheet: Sheet, land: Collection[Axial]) -> None:
    """A single hex above or below all around it is taken to its nearest neighbour's level."""
    for place in [place for place in sheet.hexes if place in land]:
        around = [sheet.level[other] for other in sheet.beside(place) if other in land]
        if around and sheet.level[place] not in around:
            sheet.level[place] = min(around, key=lambda level: (abs(level - sheet.level[place]), level))


def slopes(sheet: Sheet, field: Heights, steep_share: float, cliff_share: float) -> None:
    """Hexsides where the level changes: slopes, and the steepest of them steep slopes and cliffs."""
    rises = {
        side_between(place, other): (
            abs(sheet.level[place] - sheet.level[other]),
            field[place] - field[other],
        )
        for place in sheet.hexes
        for other in sheet.beside(place)
        if place < other and sheet.level.get(place) != sheet.level.get(other)
        if place in sheet.level and other in sheet.level
    }
    climbs = [abs(climb) for _, climb in rises.values()]
    steep, sheer = quantile(climbs, 1 - steep_share), quantile(climbs, 1 - cliff_share)
    for side, (rise, climb) in rises.items():
        if abs(climb) >= sheer:
            sheet.add_side(side, "cliff")
        elif abs(climb) >= steep or rise > 1:
            sheet.add_side(side, "steep_slope")
        else:
            sheet.add_side(side, "slope")
    _soften_lone(sheet, "cliff", "steep_slope")
    _soften_lone(sheet, "steep_slope", "slope")


def _soften_lone(sheet: Sheet, kind: str, softer: str) -> None:
    """A cliff is drawn as a line; a single side of it, joined to no other, is softened."""
    of_kind = [side for side, kinds in sheet.sides.items() if kind in kinds]
    ends: dict[Corner, int] = {}
    for side in of_kind:
        for corner in side_corners(side):
            ends[corner] = ends.get(corner, 0) + 1
    for side in of_kind:
        one, other = (sheet.level[place] for place in side_hexes(*side))
        if all(ends[corner] == 1 for corner in side_corners(side)) and abs(one - other) <= 1:
            sheet.sides[side] = [softer if known == kind else known for known in sheet.sides[side]]


class Drainage:
    """Where rain runs: from each corner of the land along hexsides down to the sea.

    The land is filled from the sea inwards, always over the lowest rim yet reached, so that
    every corner finds one way down and rivers join but never part, cross or stop.
    """

    def __init__(self, sheet: Sheet, field: Heights, land: Collection[Axial], seed: int) -> None:
        self.sheet = sheet
        self.land = land
        self.field = field
        self.seed = seed
        self.sides = self._inland_sides()
        self.height = self._corner_heights()
        self.downhill: dict[Corner, Corner] = {}
        self.order: list[Corner] = []
        self._fill_from_the_sea()
        self.water = self._gather()

    def _inland_sides(self) -> dict[Corner, list[Corner]]:
        joined: dict[Corner, list[Corner]] = {}
        for place in self.sheet.hexes:
            for other in self.sheet.beside(place):
                if place < other and place in self.land and other in self.land:
                    one, two = side_corners(side_between(place, other))
                    joined.setdefault(one, []).append(two)
                    joined.setdefault(two, []).append(one)
        return joined

    def _corner_heights(self) -> dict[Corner, float]:
        around: dict[Corner, list[float]] = {}
        for place in self.sheet.hexes:
            for corner in corners(place):
                around.setdefault(corner, []).append(self.field[place])
        return {corner: math.fsum(around[corner]) / len(around[corner]) for corner in self.sides}

    def _mouths(self) -> list[Corner]:
        sea = [place for place in self.sheet.hexes if place not in self.land]
        wet = {corner for place in sea for corner in corners(place)}
        mouths = [corner for corner in self.sides if corner in wet]
        return mouths or [min(self.sides, key=lambda corner: (self.height[corner], corner))]

    def _fill_from_the_sea(self) -> None:
        heap = [(self.height[mouth], chance(self.seed, *mouth), mouth) for mouth in self._mouths()]
        reached = {mouth for _, _, mouth in heap}
        heapq.heapify(heap)
        while heap:
            rim, _, corner = heapq.heappop(heap)
            self.order.append(corner)
            for upper in self.sides[corner]:
                if upper not in reached:
                    reached.add(upper)
                    self.downhill[upper] = corner
                    lift = max(rim, self.height[upper])
                    heapq.heappush(heap, (lift, chance(self.seed, *upper), upper))

    def _gather(self) -> dict[Corner, int]:
        water = dict.fromkeys(self.order, 1)
        for corner in reversed(self.order):
            if corner in self.downhill:
                water[self.downhill[corner]] += water[corner]
        return water

    def reaches(self, least: int) -> list[tuple[Side, int]]:
        """Sides along which the water of at least so many corners runs, from the mouths upwards."""
        return [
            (self._side(corner, self.downhill[corner]), self.water[corner])
            for corner in self.order
            if corner in self.downhill and self.water[corner] >= least
        ]

    def _side(self, one: Corner, two: Corner) -> Side:
        beside = [set(hexes_at(corner)) for corner in (one, two)]
        first, second = sorted(beside[0] & beside[1])
        return side_between(first, second)


def wet_hexes(sides: Iterable[Side], land: Collection[Axial]) -> set[Axial]:
    """Hexes of the land with one of these sides."""
    marked = set(sides)
    return {
        place for place in land if any(side_between(place, other) in marked for other in neighbours(place))
    }


def side_chains(sheet: Sheet, kind: str) -> list[list[Side]]:
    """The sides of a kind, grouped by which touch one another."""
    at: dict[Corner, list[Side]] = {}
    of_kind = [side for side, kinds in sheet.sides.items() if kind in kinds]
    for side in of_kind:
        for corner in side_corners(side):
            at.setdefault(corner, []).append(side)
    seen: set[Side] = set()
    chains: list[list[Side]] = []
    for start in of_kind:
        if start in seen:
            continue
        seen.add(start)
        chain = [start]
        for side in chain:
            for corner in side_corners(side):
                fresh = [other for other in at[corner] if other not in seen]
                seen.update(fresh)
                chain += fresh
        chains.append(chain)
    return chains
