"""Movement and Rout in bob once more, in plain Python: what the SQL functions are held against.

Written from the rulebook, without a database. Movement visits hexes by Dijkstra; a Rout tries every way, one after
the other, and remembers whom the unit has seen on it. Sight is told from outside, as a table.
"""

from __future__ import annotations

import dataclasses
import heapq
from fractions import Fraction

Cell = tuple[int, int]
STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
COSTS = {
    "open_ground": 1, "hut": 1, "stone_building": 2, "wooden_building": 2, "jungle": 3, "stream": 2, "sandbar": 1,
}  # fmt: skip
"""5.0, 40.1, 45.2, 45.3, 51.0: what the text prices; all else is on the card."""
SHELTER = {"hut", "stone_building", "wooden_building", "jungle", "woods", "swamp", "orchard", "palm_trees"}
"""6.2: terrain that lowers Direct Fire, and the Orchard."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """A unit on the map."""

    side: str
    at: Cell
    kind: str = "squad"
    japanese: bool = False

    @property
    def on_foot(self) -> bool:
        return self.kind in ("squad", "wt", "gun")


@dataclasses.dataclass(frozen=True)
class Board:
    """A position, as far as movement and Rout go."""

    terrain: dict[Cell, str]
    links: frozenset[Cell]
    """Sides that a Path crosses: the sum of their two hexes."""
    wire: frozenset[Cell]
    mines: frozenset[Cell]
    foxholes: frozenset[Cell]
    pieces: tuple[Piece, ...]
    night: bool = False
    snow: bool = False
    deluge: bool = False

    def foes(self, mover: Piece) -> list[Piece]:
        return [piece for piece in self.pieces if piece.side != mover.side]

    def enters(self, mover: Piece, start: Cell, goal: Cell) -> Fraction | None:
        """What a step costs; None where it cannot be made (5.0, 20.9) or nobody has told its price."""
        foes = [foe for foe in self.foes(mover) if foe.at == goal]
        if any(foe.kind == "vehicle" for foe in foes) and any(foe.on_foot for foe in foes):
            return None
        base = COSTS.get(self.terrain[goal])
        side = start[0] + goal[0], start[1] + goal[1]
        if side in self.links and (base is None or base >= 1):
            base = 1
        if base is None:
            return None
        least = Fraction(0)
        if self.night and not mover.japanese:
            least = Fraction(3, 2)
        if goal in self.mines:
            least = max(least, Fraction(3, 2))
        price = max(Fraction(base), least)
        if any(foe.kind == "vehicle" for foe in foes):
            price += 1
        return price

    def full(self, mover: Piece, cell: Cell) -> bool:
        """2.0: whether a third Squad, WT or Gun would stand there."""
        mates = [piece for piece in self.pieces if piece.side == mover.side and piece.at == cell]
        return sum(piece.on_foot for piece in mates if piece is not mover) >= 2


def beside(cell: Cell) -> list[Cell]:
    return [(cell[0] + dq, cell[1] + dr) for dq, dr in STEPS]


def distance(one: Cell, other: Cell) -> int:
    dq, dr = one[0] - other[0], one[1] - other[1]
    return max(abs(dq), abs(dr), abs(dq + dr))


def allowance(board: Board, mover: Piece) -> int:
    """2.0, 55.1."""
    return (4 if mover.kind == "wt" else 5) - (1 if board.snow else 0)


def reach(board: Board, mover: Piece) -> dict[Cell, Fraction]:
    """Every hex in which a unit can end its move, with the least cost (5.0, 43.6, 55.2)."""
    points = allowance(board, mover)
    foes = {foe.at for foe in board.foes(mover)}
    best: dict[tuple[Cell, int], Fraction] = {}
    waiting: list[tuple[Fraction, int, Cell]] = [(Fraction(0), 0, mover.at)]
    while waiting:
        spent, hexes, cell = heapq.heappop(waiting)
        if (cell, hexes) in best:
            continue
        best[cell, hexes] = spent
        if hexes and (cell in foes or cell in board.wire):
            continue
        if hexes and mover.at in board.wire:
            continue
        if board.deluge and hexes == 2:
            continue
        for goal in beside(cell):
            price = board.enters(mover, cell, goal) if goal in board.terrain else None
            if price is not None and spent + price <= points:
                # how many hexes were entered matters in a deluge alone
                count = hexes + 1 if board.deluge or hexes == 0 else 1
                heapq.heappush(waiting, (spent + price, count, goal))
    found: dict[Cell, Fraction] = {}
    for (cell, _), spent in sorted(best.items(), key=lambda item: item[1]):
        vehicle = any(foe.at == cell and foe.kind == "vehicle" for foe in board.foes(mover))
        if cell == mover.at or not (vehicle or board.full(mover, cell)):
            found.setdefault(cell, spent)
    return found


def rout(
    board: Board, mover: Piece, sees: dict[tuple[Cell, Cell], bool], *, most: int
) -> dict[Cell, Fraction]:
    """11.0: hexes that shelter a routing unit, by trying every way within its points; none where there are none."""
    foes = board.foes(mover)
    fighting = {
        foe.at for foe in foes if foe.on_foot and any(
            piece.side != foe.side and piece.on_foot and piece.at == foe.at for piece in board.pieces
        )
    }  # fmt: skip
    barred = {foe.at for foe in foes} | {
        cell for foe in foes if foe.at not in fighting or foe.kind == "vehicle" for cell in beside(foe.at)
    }
    found: dict[Cell, Fraction] = {}
    waiting: list[tuple[Cell, Fraction, frozenset[Cell], int]] = [(mover.at, Fraction(0), frozenset(), 0)]
    done: dict[tuple[Cell, frozenset[Cell], int], Fraction] = {}
    while waiting:
        cell, spent, seen, hexes = waiting.pop()
        seen |= {foe.at for foe in foes if sees[cell, foe.at]}
        if done.get((cell, seen, hexes), Fraction(most + 1)) <= spent:
            continue
        done[cell, seen, hexes] = spent
        if cell != mover.at and shelters(board, mover, sees, cell) and not board.full(mover, cell):
            found[cell] = min(spent, found.get(cell, spent))
        if cell != mover.at and (cell in board.wire or mover.at in board.wire):
            continue
        if board.deluge and hexes == 2:
            continue
        for goal in beside(cell):
            if goal not in board.terrain or goal in barred:
                continue
            if any(distance(goal, foe) < distance(cell, foe) for foe in seen):
                continue
            price = board.enters(mover, cell, goal)
            if price is not None and spent + price <= most:
                # how many hexes were entered matters in a deluge alone
                waiting.append((goal, spent + price, seen, hexes + 1 if board.deluge or hexes == 0 else 1))
    return found


def shelters(board: Board, mover: Piece, sees: dict[tuple[Cell, Cell], bool], cell: Cell) -> bool:
    """11.0: Beneficial against all Direct Fire, or seen by no enemy."""
    if cell in board.foxholes or board.terrain[cell] in SHELTER:
        return True
    return not any(sees[cell, foe.at] for foe in board.foes(mover))
