"""The sight rules of css once more, in plain Python: what `css.los` is held against.

Written from the rulebook alone, with the closed form of the trace and without a database,
so that a slip in one of the two is not repeated in the other. Slow, and proud of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

Cell = tuple[int, int]

BLOCKING = {"rocky", "town", "buildings", "palm_forest", "tropical_forest", "mangrove_swamp"}
COUNTED = {"brush", "rice_paddy"}
OPEN = {"clear", "beach", "swamp", "runway"}
BLOCKING_SIDES = {"slope", "steep_slope", "ridge", "cliff"}
CLOSED_TO_CAVES = {"slope", "steep_slope", "ridge"}
BARRAGES = {"smoke_barrage", "light_barrage", "medium_barrage", "heavy_barrage", "bombardment"}
FIRED_OVER = {"sugar_cane", "brush", "rocky"}
DEFAULTS = {"css-11": "b", "css-12": "b", "css-43": "b", "css-44": "a", "css-54": "a", "css-62": "a"}

CLEAR, COUNTS, BLOCKS = 0, 1, 2
"""What a place does to the line, from the least to the most."""


@dataclasses.dataclass(frozen=True)
class Ground:
    """A hex."""

    terrain: str = "clear"
    level: int = 1
    cave: bool = False


@dataclasses.dataclass(frozen=True)
class Board:
    """A position, as far as sight goes."""

    hexes: dict[Cell, Ground]
    sides: dict[Cell, frozenset[str]] = dataclasses.field(default_factory=dict)
    """Features of hexsides, by doubled cell."""
    markers: dict[Cell, frozenset[str]] = dataclasses.field(default_factory=dict)
    weather: str = "clear"
    time: str = "day"
    policy: dict[str, str] = dataclasses.field(default_factory=dict)

    def reading(self, point: str) -> str:
        return self.policy.get(point, DEFAULTS[point])

    def marked(self, cell: Cell) -> frozenset[str]:
        return self.markers.get(cell, frozenset())


class Line(NamedTuple):
    """What the line between two centres meets between its ends."""

    hexes: list[Cell]
    touched: list[Cell]
    spines: list[Cell]
    sides: list[Cell]
    side_ends: list[Cell]


def distance(one: Cell, other: Cell) -> int:
    q, r = other[0] - one[0], other[1] - one[1]
    return max(abs(q), abs(r), abs(q + r))


def halves(side: Cell) -> tuple[Cell, Cell]:
    """The two hexes of a hexside."""
    x, y = side
    a, b = {(1, 0): (1, 0), (0, 1): (0, 1), (1, 1): (1, -1)}[x % 2, y % 2]
    return ((x - a) // 2, (y - b) // 2), ((x + a) // 2, (y + b) // 2)


def trace(start: Cell, target: Cell) -> Line:
    """The closed form: integer arithmetic on the doubled lattice."""
    line = Line([], [], [], [], [])
    dq, dr = target[0] - start[0], target[1] - start[1]
    widths = {(1, 0): abs(2 * dq + dr), (0, 1): abs(dq + 2 * dr), (1, 1): abs(dq - dr)}
    whole = sum(widths.values())
    along_spines = 0 in widths.values()
    den = 4 * (dq * dq + dr * dr + dq * dr)
    for x in range(min(0, 2 * dq) - 2, max(0, 2 * dq) + 3):
        for y in range(min(0, 2 * dr) - 2, max(0, 2 * dr) + 3):
            if not 0 < 2 * x * dq + 2 * y * dr + x * dr + y * dq < den:
                continue
            off = 3 * abs(dq * y - dr * x)
            cell = (x + 2 * start[0], y + 2 * start[1])
            if (x % 2, y % 2) == (0, 0):
                middle = (cell[0] // 2, cell[1] // 2)
                if off < whole:
                    line.hexes.append(middle)
                elif off == whole and not along_spines:
                    line.touched.append(middle)
                continue
            width = widths[x % 2, y % 2]
            if width == 0:
                if off == 0:
                    line.spines.append(cell)
            elif off < width:
                line.sides.append(cell)
            elif off == width:
                line.side_ends.append(cell)
    return line


def sees(board: Board, start: Cell, target: Cell, in_cave: bool = False) -> bool | None:
    """Whether the target hex is seen; None where only an unprinted terrain could tell."""
    if board.reading("css-54") == "b":
        return _sees(board, start, target, in_cave, {"sugar_cane": COUNTS})
    verdicts = {
        _sees(board, start, target, in_cave, {"sugar_cane": effect}) for effect in (CLEAR, COUNTS, BLOCKS)
    }
    return verdicts.pop() if len(verdicts) == 1 else None


def _sees(board: Board, start: Cell, target: Cell, in_cave: bool, unprinted: dict[str, int]) -> bool:
    far = distance(start, target)
    if far == 0:
        return True
    line = trace(start, target)
    if in_cave and any(_closed_to_cave(board, side, start) for side in _crossed(board, line, start, target)):
        return False
    if far == 1:
        return True
    return (
        far <= _reach(board, start, target)
        and not _stopped_by_sides(board, line, start, target)
        and not _stopped_by_hexes(board, line, start, target, unprinted)
    )


def _reach(board: Board, start: Cell, target: Cell) -> int:
    """How far is seen, by weather, light and what lies on the viewer."""
    limiting = {"a": BARRAGES, "b": set(), "c": {"bombardment"}}[board.reading("css-11")]
    if board.marked(start) & limiting:
        return 1
    if board.time == "night" and "illumination" not in board.marked(target):
        return 1
    return 3 if board.weather == "rain" else 8


def _crossed(board: Board, line: Line, start: Cell, target: Cell) -> list[Cell]:
    """Hexsides that the line crosses; one met at its end, as css-62 has it."""
    if board.reading("css-62") == "b":
        return line.sides + line.side_ends
    passed = {start, target, *line.hexes}
    return line.sides + [side for side in line.side_ends if passed.issuperset(halves(side))]


def _closed_to_cave(board: Board, side: Cell, cave: Cell) -> bool:
    return cave in halves(side) and bool(board.sides.get(side, frozenset()) & CLOSED_TO_CAVES)


def _stopped_by_sides(board: Board, line: Line, start: Cell, target: Cell) -> bool:
    lifted = {"cliff"} if _fires_over(board, line, start, target) else set()
    for side in _crossed(board, line, start, target):
        features = board.sides.get(side, frozenset()) & BLOCKING_SIDES
        if features - lifted and not {start, target} & set(halves(side)):
            return True
    # along a blocking side: always, and beside an end too
    return any(board.sides.get(spine, frozenset()) & BLOCKING_SIDES for spine in line.spines)


def _fires_over(board: Board, line: Line, start: Cell, target: Cell) -> bool:
    """Whether one end looks down through a steep slope of its own hex; sight is mutual."""
    if board.reading("css-44") == "b":
        return False
    for side in _crossed(board, line, start, target):
        if "steep_slope" not in board.sides.get(side, frozenset()):
            continue
        one, other = halves(side)
        for upper, lower in ((one, other), (other, one)):
            if upper in (start, target) and lower in board.hexes:
                if board.hexes[upper].level > board.hexes[lower].level:
                    return True
    return False


def _places(board: Board, line: Line) -> Iterator[tuple[Cell, ...]]:
    """Each hex passed, alone; the two hexes of a spine, together."""
    for cell in line.hexes:
        yield (cell,)
    if board.reading("css-62") == "b":
        for cell in line.touched:
            yield (cell,)
    for spine in line.spines:
        yield halves(spine)


def _stopped_by_hexes(board: Board, line: Line, start: Cell, target: Cell, unprinted: dict[str, int]) -> bool:
    over = _fires_over(board, line, start, target)
    counted = 0
    for place in _places(board, line):
        # the better side of a spine is the one that counts
        effect = min(
            _effect(board, cell, start, target, over, unprinted) for cell in place if cell in board.hexes
        )
        if effect == BLOCKS:
            return True
        counted += effect
    return counted > 1


def _effect(
    board: Board, cell: Cell, start: Cell, target: Cell, over: bool, unprinted: dict[str, int]
) -> int:
    ground, marked = board.hexes[cell], board.marked(cell)
    terrain = "rocky" if ground.cave else ground.terrain
    if "fire_cleared" in marked:
        terrain = "clear"
    if marked & BARRAGES:
        return BLOCKS
    low, high = sorted((board.hexes[start].level, board.hexes[target].level))
    ignored = over and terrain in FIRED_OVER
    if ground.level > high:
        return BLOCKS
    if low < high:
        if ignored and board.reading("css-44") == "c":
            return CLEAR
        lower = start if board.hexes[start].level == low else target
        hides = ground.level == high or (ground.level > low and distance(cell, lower) == 1)
        if board.reading("css-43") == "a":
            hides = ground.level > low
        return BLOCKS if hides else CLEAR
    if ground.level < low:
        return CLEAR
    if "on_fire" in marked:
        return BLOCKS
    if ignored or terrain in OPEN:
        return CLEAR
    if terrain == "rice_paddy" and board.reading("css-12") == "a":
        return CLEAR
    if terrain in COUNTED:
        return COUNTS
    return unprinted[terrain] if terrain in unprinted else BLOCKS
