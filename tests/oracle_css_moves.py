"""The movement rules of css once more, in plain Python: what `css.reach` and `css.move` are held against.

Written from the rulebook, costs included, and without a database. Every state that a unit can be in is
visited (where, how disorganized, how many points are left), so nothing is lost to a clever key.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

Cell = tuple[int, int]
"""A hex (q, r); or, where it says so, a doubled cell (x, y)."""

STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
HALF = Fraction(1, 2)
NEVER = None
COSTS: dict[str, tuple[int | None, int | None, int | None]] = {
    # 6.2.1: leg, wheeled, tracked
    "clear": (1, 3, 2),
    "beach": (1, 5, 3),
    "rocky": (2, 6, 4),
    "brush": (2, 4, 3),
    "swamp": (3, NEVER, NEVER),
    "runway": (1, 3, 2),
    "town": (1, 3, 2),
    "buildings": (1, 1, 1),
    "rice_paddy": (2, 5, 5),
    "palm_forest": (2, 5, 3),
    "tropical_forest": (3, NEVER, NEVER),
    "mangrove_swamp": (3, NEVER, NEVER),
    # 8.8: named, but with no cost
    "sugar_cane": (NEVER, NEVER, NEVER),
}
ROADS = {"trail": Fraction(2), "unpaved_road": Fraction(1), "paved_road": HALF, "causeway": HALF}
COLUMN = {"leg": 0, "wheeled": 1, "tracked": 2}
STOPPING = {"pinned", "suppressed", "bombardment", "smoke_barrage", "light_barrage", "heavy_barrage"}
"""10.2.1, 10.2.2, 8.7.7 let nobody go on; what the other barrages do is printed on their markers alone."""


@dataclasses.dataclass(frozen=True)
class Board:
    """A position, as far as movement goes."""

    terrain: dict[Cell, str]
    caves: frozenset[Cell] = frozenset()
    sides: dict[Cell, frozenset[str]] = dataclasses.field(default_factory=dict)
    """Features of hexsides, by doubled cell."""
    paths: tuple[tuple[str, tuple[Cell, ...]], ...] = ()
    markers: dict[Cell, frozenset[str]] = dataclasses.field(default_factory=dict)
    disorder: dict[Cell, int] = dataclasses.field(default_factory=dict)
    enemies: frozenset[Cell] = frozenset()
    friends_in_caves: dict[Cell, int] = dataclasses.field(default_factory=dict)
    interdiction: int = 0
    policy: dict[str, str] = dataclasses.field(default_factory=dict)

    def along(self, one: Cell, two: Cell) -> set[str]:
        """The kinds of path that lead from one hex to the next."""
        return {
            kind
            for kind, hexes in self.paths
            if any({a, b} == {one, two} for a, b in itertools.pairwise(hexes))
        }

    def marked(self, cell: Cell) -> frozenset[str]:
        return self.markers.get(cell, frozenset())


@dataclasses.dataclass(frozen=True)
class Mover:
    """Who goes."""

    at: Cell
    side: str = "us"
    mobility: str = "leg"
    movement: int = 5
    weapon: bool = False
    tank: bool = False
    inside: bool = False


class State(NamedTuple):
    """Where a unit is, and in what state."""

    cell: Cell
    inside: bool
    disorder: int
    left: Fraction


def down(points: Fraction) -> Fraction:
    return Fraction(math.floor(points))


def disordered(left: Fraction, before: int, after: int) -> Fraction:
    """8.5.4: one point at DG1 or DG2, half at DG3 or DG4, neither twice."""
    if after >= 3 > before:
        return down(left / 2)
    return max(left - 1, Fraction(0)) if after >= 1 > before else left


def crossing(kind: str, mover: Mover, policy: dict[str, str], by_road: bool) -> int | None:
    """What a hexside adds (6.2.2)."""
    leg = mover.mobility == "leg"
    kept_off = mover.weapon or (mover.tank and policy.get("css-41", "a") == "a")
    match kind:
        case "stream":
            return {"leg": 1, "wheeled": 3, "tracked": 2}[mover.mobility]
        case "river":
            return 2 if leg else (0 if by_road else NEVER)
        case "ravine":
            return 0 if by_road else NEVER
        case "slope":
            return 0
        case "cliff":
            return NEVER
        case "ridge":
            return 0 if by_road else (1 if leg and not kept_off else NEVER)
        case "steep_slope":
            if by_road:
                return 1 if leg else 0
            return 1 if leg and not kept_off else NEVER
    raise AssertionError(kind)


def step_cost(board: Board, mover: Mover, one: Cell, two: Cell, trail_only: bool) -> Fraction | None:
    """The least that a step to an adjacent hex costs, or nothing where it cannot be taken."""
    if two not in board.terrain or two in board.enemies or "on_fire" in board.marked(two):
        return NEVER
    terrain = "rocky" if two in board.caves else board.terrain[two]
    if "fire_cleared" in board.marked(two):
        terrain = "clear"
    if terrain == "sugar_cane" and board.policy.get("css-54", "a") == "b":
        terrain = "brush"
    kinds = board.sides.get((one[0] + two[0], one[1] + two[1]), frozenset())
    prices: list[Fraction] = []
    ground = COSTS[terrain][COLUMN[mover.mobility]]
    if mover.tank and terrain == "swamp" and board.policy.get("css-41", "a") == "a":
        ground = NEVER
    extras = [crossing(kind, mover, board.policy, by_road=False) for kind in kinds]
    if not trail_only and ground is not NEVER and NEVER not in extras:
        prices.append(Fraction(ground + sum(extra for extra in extras if extra)))
    extras = [crossing(kind, mover, board.policy, by_road=True) for kind in kinds]
    for road in board.along(one, two):
        if NEVER not in extras and (road == "trail" or not trail_only):
            prices.append(ROADS[road] + sum(extra for extra in extras if extra))
    taxed = mover.side == "japan" or board.policy.get("css-57", "a") == "b"
    return min(prices) + (board.interdiction if taxed else 0) if prices else NEVER


def entered(board: Board, state: State, cell: Cell, inside: bool, left: Fraction) -> State:
    """A unit in its new place: DG first, then the barrage (10.2.3, 8.7.2)."""
    there = 0 if inside else board.disorder.get(cell, 0)
    disorder = max(state.disorder, there)
    if board.policy.get("css-58", "a") == "a":
        left = disordered(left, state.disorder, disorder)
    if not inside and cell != state.cell:
        marks = board.marked(cell)
        if board.policy.get("css-6", "a") == "b":
            marks -= {"pinned"}
        if "medium_barrage" in marks:
            left = down(left / 2)
        if marks & STOPPING:
            left = Fraction(0)
    return State(cell, inside, disorder, left)


def onward(
    board: Board, mover: Mover, state: State, start: bool, trail_only: bool
) -> Iterator[tuple[Fraction, State]]:
    """Every step that can be taken, with its cost."""
    cell = state.cell
    room = board.friends_in_caves.get(cell, 0) < 2
    if mover.side == "japan" and mover.mobility == "leg" and cell in board.caves and not trail_only:
        may = cell not in board.enemies if state.inside else room
        if state.left >= 1 and may:
            yield Fraction(1), entered(board, state, cell, not state.inside, state.left - 1)
    for dq, dr in STEPS:
        beside = cell[0] + dq, cell[1] + dr
        if state.inside:
            # 6.3: cave to cave, with everything, as the whole action
            room = board.friends_in_caves.get(beside, 0) < 2
            burning = "on_fire" in board.marked(beside)
            if start and beside in board.caves and room and not burning and state.left > 0:
                yield state.left, State(beside, True, state.disorder, Fraction(0))
            continue
        cost = step_cost(board, mover, cell, beside, trail_only)
        if cost is not NEVER and cost <= state.left:
            yield cost, entered(board, state, beside, False, state.left - cost)


def setting_out(board: Board, mover: Mover, bonus: int) -> State:
    """What a unit may spend where it stands."""
    marks = board.marked(mover.at)
    disorder = 0 if mover.inside else board.disorder.get(mover.at, 0)
    left = disordered(Fraction(mover.movement + bonus), 0, disorder)
    if "medium_barrage" in marks:
        left = down(left / 2)
    held = marks & (STOPPING - {"pinned", "suppressed"} if mover.inside else STOPPING)
    return State(mover.at, mover.inside, disorder, Fraction(0) if held else left)


def reach(board: Board, mover: Mover) -> dict[Cell, Fraction]:
    """The least cost of every hex that a unit can end its move in."""
    found: dict[Cell, Fraction] = {}
    for trail_only in (False, True):
        start = setting_out(board, mover, 2 if trail_only else 0)
        if trail_only and (start.left and not start.inside) is False:
            continue
        spent = {start: Fraction(0)}
        heap = [(Fraction(0), start)]
        while heap:
            cost, state = heapq.heappop(heap)
            if cost > spent[state]:
                continue
            found[state.cell] = min(cost, found.get(state.cell, cost))
            for price, after in onward(board, mover, state, state == start and cost == 0, trail_only):
                if cost + price < spent.get(after, Fraction(10**6)):
                    spent[after] = cost + price
                    heapq.heappush(heap, (cost + price, after))
    return found
