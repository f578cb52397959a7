"""The sight rules of css once more, in plain Python: what `css.los` is held against.

Written from the rulebook, with the closed form of the trace and without a database, so
that a slip in one of the two is not repeated in the other. Slow, and simple on purpose.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import NamedTuple

Cell = tuple[int, int]
"""A hex (q, r); or, where it says so, a doubled cell (x, y)."""

OPEN = {"clear", "beach", "swamp", "runway"}
COUNTED = {"brush", "rice_paddy"}
BLOCKING_SIDES = {"slope", "steep_slope", "ridge", "cliff"}
CLOSED_TO_CAVES = {"slope", "steep_slope", "ridge"}
BARRAGES = {"smoke_barrage", "light_barrage", "medium_barrage", "heavy_barrage", "bombardment"}
SEEN_OVER = {"sugar_cane", "brush", "rocky"}
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
    conditions: dict[str, str] = dataclasses.field(default_factory=dict)
    policy: dict[str, str] = dataclasses.field(default_factory=dict)

    def reading(self, point: str) -> str:
        return self.policy.get(point, DEFAULTS[point])

    def marked(self, cell: Cell) -> frozenset[str]:
        return self.markers.get(cell, frozenset())

    def features(self, side: Cell) -> frozenset[str]:
        return self.sides.get(side, frozenset())


class Line(NamedTuple):
    """What the line between two centres meets between its ends."""

    hexes: list[Cell]
    touched: list[Cell]
    """Hexes met in one point."""
    spines: list[Cell]
    """Doubled cells of the sides it runs along."""
    sides: list[Cell]
    """Doubled cells of the sides it goes through."""
    side_ends: list[Cell]
    """Doubled cells of the sides it meets at an end."""


class Verdict(NamedTuple):
    """Whether the target is seen (None: nobody can say), and the places that stop the line."""

    visible: bool | None
    blocked_by: frozenset[Cell]
    """Doubled cells; the target's own where it is too far away, the viewer's where it sees one hex only."""


class Sight(NamedTuple):
    """One question."""

    board: Board
    start: Cell
    target: Cell
    start_in_cave: bool
    target_in_cave: bool
    cane: int
    """What sugar cane is taken to do."""

    @property
    def line(self) -> Line:
        return trace(self.start, self.target)

    @property
    def ends(self) -> tuple[Cell, Cell]:
        return self.start, self.target

    @property
    def levels(self) -> tuple[int, int]:
        """The lower and the higher end."""
        low, high = sorted(self.board.hexes[end].level for end in self.ends)
        return low, high


def distance(one: Cell, other: Cell) -> int:
    q, r = other[0] - one[0], other[1] - one[1]
    return max(abs(q), abs(r), abs(q + r))


def doubled(cell: Cell) -> Cell:
    return 2 * cell[0], 2 * cell[1]


def halves(side: Cell) -> tuple[Cell, Cell]:
    """The two hexes of a hexside."""
    x, y = side
    a, b = {(1, 0): (1, 0), (0, 1): (0, 1), (1, 1): (1, -1)}[x % 2, y % 2]
    return ((x - a) // 2, (y - b) // 2), ((x + a) // 2, (y + b) // 2)


def trace(start: Cell, target: Cell) -> Line:
    """The line from hex to hex, each list in the order in which it meets them."""

    def moved(cells: list[Cell], by: int) -> list[Cell]:
        return [(x + by * start[0], y + by * start[1]) for x, y in cells]

    line = _trace(target[0] - start[0], target[1] - start[1])
    return Line(
        moved(line.hexes, 1),
        moved(line.touched, 1),
        moved(line.spines, 2),
        moved(line.sides, 2),
        moved(line.side_ends, 2),
    )


@functools.cache
def _trace(dq: int, dr: int) -> Line:
    """The closed form: integer arithmetic on the doubled lattice."""
    line = Line([], [], [], [], [])
    widths = {(1, 0): abs(2 * dq + dr), (0, 1): abs(dq + 2 * dr), (1, 1): abs(dq - dr)}
    whole = sum(widths.values())
    den = 4 * (dq * dq + dr * dr + dq * dr)
    near = [
        (2 * x * dq + 2 * y * dr + x * dr + y * dq, x, y)
        for x in range(min(0, 2 * dq) - 2, max(0, 2 * dq) + 3)
        for y in range(min(0, 2 * dr) - 2, max(0, 2 * dr) + 3)
    ]
    for num, x, y in sorted(near):
        if not 0 < num < den:
            continue
        off = 3 * abs(dq * y - dr * x)
        if (x % 2, y % 2) == (0, 0):
            if off < whole:
                line.hexes.append((x // 2, y // 2))
            elif off == whole and 0 not in widths.values():
                line.touched.append((x // 2, y // 2))
            continue
        width = widths[x % 2, y % 2]
        if width == off == 0:
            line.spines.append((x, y))
        elif off < width:
            line.sides.append((x, y))
        elif off == width:
            line.side_ends.append((x, y))
    return line


def judge(
    board: Board, start: Cell, target: Cell, start_in_cave: bool = False, target_in_cave: bool = False
) -> Verdict:
    """Whether the target is seen, and every place that stops the line."""
    guesses = [COUNTS] if board.reading("css-54") == "b" else [CLEAR, COUNTS, BLOCKS]
    found = [
        set(_stops(Sight(board, start, target, start_in_cave, target_in_cave, cane))) for cane in guesses
    ]
    verdicts = {not stops for stops in found}
    return Verdict(
        verdicts.pop() if len(verdicts) == 1 else None, frozenset(found[0].intersection(*found[1:]))
    )


def _stops(sight: Sight) -> Iterator[Cell]:
    """The places that stop the line, as doubled cells."""
    far = distance(*sight.ends)
    if far == 0:
        return
    yield from _closed_caves(sight)
    if far == 1:
        return
    yield from _limits(sight)
    yield from _stopping_sides(sight)
    yield from _stopping_hexes(sight)


def _limits(sight: Sight) -> Iterator[Cell]:
    """How far is seen: by what lies on the viewer, by weather and by light (7.1.2, 8.7.3, 17.0)."""
    board, far = sight.board, distance(*sight.ends)
    limiting = {"a": BARRAGES, "b": set(), "c": {"bombardment"}}[board.reading("css-11")]
    if board.marked(sight.start) & limiting:
        yield doubled(sight.start)
    dark = board.conditions.get("time") == "night" and "illumination" not in board.marked(sight.target)
    if far > (1 if dark else 3 if board.conditions.get("weather") == "rain" else 8):
        yield doubled(sight.target)


def _through(sight: Sight) -> list[Cell]:
    """Sides through which the line goes from one hex into the next, be it at a corner."""
    line = sight.line
    passed = {*sight.ends, *line.hexes}
    return line.sides + [side for side in line.side_ends if passed.issuperset(halves(side))]


def _crossed(sight: Sight) -> list[Cell]:
    """Sides that the line crosses; met at an end, as css-62 has it."""
    if sight.board.reading("css-62") == "b":
        return sight.line.sides + sight.line.side_ends
    return _through(sight)


def _closed_caves(sight: Sight) -> Iterator[Cell]:
    """6.3: out of a cave no sight over slopes and ridges of its own hex; and so none into it."""
    for side in _crossed(sight):
        if sight.board.features(side) & CLOSED_TO_CAVES:
            if sight.start_in_cave and sight.start in halves(side):
                yield side
            if sight.target_in_cave and sight.target in halves(side):
                yield side


def _stopping_sides(sight: Sight) -> Iterator[Cell]:
    blocking = BLOCKING_SIDES - ({"cliff"} if _overlooks(sight) is not None else set())
    for side in _crossed(sight):
        if sight.board.features(side) & blocking and not set(sight.ends) & set(halves(side)):
            yield side
    for spine in sight.line.spines:
        if sight.board.features(spine) & BLOCKING_SIDES:
            yield spine


def _overlooks(sight: Sight) -> int | None:
    """The level of an end that looks down through a steep slope of its own hex (6.2.2), if one does.

    Sight is mutual, so either end may be the one that overlooks.
    """
    hexes = sight.board.hexes
    if sight.board.reading("css-44") == "b":
        return None
    above = [
        hexes[upper].level
        for side in _through(sight)
        if "steep_slope" in sight.board.features(side) and hexes.keys() >= set(halves(side))
        for upper, lower in (halves(side), halves(side)[::-1])
        if upper in sight.ends and hexes[upper].level > hexes[lower].level
    ]
    return max(above, default=None)


def _places(sight: Sight) -> list[tuple[Cell, tuple[Cell, ...]]]:
    """What the line passes, in order: a hex alone, the two hexes of a spine together."""
    line = sight.line
    hexes = line.hexes + (line.touched if sight.board.reading("css-62") == "b" else [])
    places: list[tuple[Cell, tuple[Cell, ...]]] = [(doubled(cell), (cell,)) for cell in hexes]
    places += [(spine, halves(spine)) for spine in line.spines]
    dq, dr = sight.target[0] - sight.start[0], sight.target[1] - sight.start[1]

    def along(place: tuple[Cell, tuple[Cell, ...]]) -> int:
        x, y = place[0][0] - 2 * sight.start[0], place[0][1] - 2 * sight.start[1]
        return 2 * x * dq + 2 * y * dr + x * dr + y * dq

    return sorted(places, key=along)


def _stopping_hexes(sight: Sight) -> Iterator[Cell]:
    counted = 0
    for place, cells in _places(sight):
        effects = {cell: _effect(sight, cell) for cell in cells if cell in sight.board.hexes}
        if not effects:
            # nothing of it is on the map: a line that passes such a hex is stopped
            if cells[0] in sight.line.hexes:
                yield place
            continue
        # 7.1.1 b: the better side of a spine is the one that counts
        effect = min(effects.values())
        counted += effect == COUNTS
        if effect == BLOCKS:
            yield from map(doubled, effects)
        elif effect == COUNTS and counted > 1:
            yield place


def _effect(sight: Sight, cell: Cell) -> int:
    board, marked = sight.board, sight.board.marked(cell)
    ground = board.hexes[cell]
    low, high = sight.levels
    above = _overlooks(sight)
    excused = above is not None and "on_fire" not in marked and _terrain(board, cell) in SEEN_OVER
    if marked & BARRAGES:
        return BLOCKS
    if excused and board.reading("css-44") == "c" and above is not None and ground.level <= above:
        return CLEAR
    if ground.level > high:
        return BLOCKS
    if low < high:
        return BLOCKS if _hides(sight, cell) else CLEAR
    if ground.level < low or excused:
        return CLEAR
    return BLOCKS if "on_fire" in marked else _thickness(sight, cell)


def _hides(sight: Sight, cell: Cell) -> bool:
    """Height between ends of different level: 7.1.2 a and b, or its opening words (css-43)."""
    hexes = sight.board.hexes
    low, high = sight.levels
    level = hexes[cell].level
    if sight.board.reading("css-43") == "a":
        return level > low
    lower = next(end for end in sight.ends if hexes[end].level == low)
    return level == high or (level > low and distance(cell, lower) == 1)


def _terrain(board: Board, cell: Cell) -> str:
    if "fire_cleared" in board.marked(cell):
        return "clear"
    return "rocky" if board.hexes[cell].cave else board.hexes[cell].terrain


def _thickness(sight: Sight, cell: Cell) -> int:
    """Terrain on the level of both ends (7.1.1 a, c)."""
    terrain = _terrain(sight.board, cell)
    if terrain == "sugar_cane":
        return sight.cane
    if terrain in OPEN or (terrain == "rice_paddy" and sight.board.reading("css-12") == "a"):
        return CLEAR
    return COUNTS if terrain in COUNTED else BLOCKS
