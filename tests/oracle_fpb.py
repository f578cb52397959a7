"""Zones, movement and retreat in fpb once more, in plain Python: what the SQL functions are held against.

Written from the rulebook, without a database. Movement visits every state (where, how much is spent) with
Dijkstra; a retreat tries every way, and every chain of displacements, one after the other.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from collections.abc import Iterator
from fractions import Fraction

Cell = tuple[int, int]
"""A hex (q, r); of a side, the sum of its two hexes."""
STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
PRINTED = {"clear": 1, "jungle": 3}
"""5.4: what the text prices."""
FILLED = {"hill": 2, "marsh": 4, "reef": 2}
"""A Terrain Key made up for the tests."""
CLOSED = {"leg": set[str](), "mobile": {"mountain"}}
MOUNTAIN = 5
"""For leg units, in that key; closed to mobile ones."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """A unit on the map."""

    side: str
    at: Cell
    mobile: bool = False
    movement: int = 0
    zoc: bool = True
    last_step: bool = False


@dataclasses.dataclass(frozen=True)
class Board:
    """A position, as far as zones, movement and retreat go."""

    terrain: dict[Cell, str]
    villages: frozenset[Cell]
    rivers: frozenset[Cell]
    paths: tuple[tuple[str, tuple[Cell, ...]], ...]
    pieces: tuple[Piece, ...]
    policy: dict[str, str]

    def reads(self, point: str) -> str:
        return self.policy.get(point, "a")

    def of(self, side: str) -> list[Piece]:
        return [piece for piece in self.pieces if piece.side == side]

    def against(self, side: str) -> list[Piece]:
        return [piece for piece in self.pieces if piece.side != side]


def around(cell: Cell) -> list[Cell]:
    return [(cell[0] + q, cell[1] + r) for q, r in STEPS]


def apart(one: Cell, two: Cell) -> int:
    q, r = one[0] - two[0], one[1] - two[1]
    return max(abs(q), abs(r), abs(q + r))


def zone(board: Board, piece: Piece) -> set[Cell]:
    """6.0, and fpb-3 b for a piece that has none."""
    ring = {cell for cell in around(piece.at) if cell in board.terrain}
    if piece.zoc:
        return ring
    if board.reads("fpb-3") == "a":
        return set()
    return {enemy.at for enemy in board.against(piece.side) if enemy.zoc and enemy.at in ring}


def is_zoned(board: Board, piece: Piece, cell: Cell) -> bool:
    """Whether a piece that stood in this hex would be in an enemy zone."""
    moved = dataclasses.replace(piece, at=cell)
    others = tuple(moved if other is piece else other for other in board.pieces)
    there = dataclasses.replace(board, pieces=others)
    # friends where they are now may have drawn a zone upon their own hex
    both = itertools.chain(
        (zone(board, enemy) for enemy in board.against(piece.side)),
        (zone(there, enemy) for enemy in board.against(piece.side)),
    )
    return any(cell in covered for covered in both)


def entry(board: Board, piece: Piece, start: Cell, goal: Cell) -> Fraction | None:
    """What the ground costs: 5.4, 5.4.1, 5.4.2; None where it is closed."""
    ground, kind = board.terrain[goal], "mobile" if piece.mobile else "leg"
    if ground == "sea" or any(enemy.at == goal for enemy in board.against(piece.side)):
        return None
    side = start[0] + goal[0], start[1] + goal[1]
    paths = {
        name
        for name, cells in board.paths
        for one, two in itertools.pairwise(cells)
        if (one[0] + two[0], one[1] + two[1]) == side
    }
    if paths and (board.reads("fpb-28") == "a" or (ground == "clear" and goal not in board.villages)):
        return Fraction(1, 2) if "road" in paths else Fraction(1)
    if ground in CLOSED[kind]:
        return None
    cost = MOUNTAIN if ground == "mountain" else (PRINTED | FILLED)[ground]
    return Fraction(cost + (goal in board.villages) + (side in board.rivers))


def may_end(board: Board, piece: Piece, cell: Cell) -> bool:
    """5.3, 10.6."""
    friends = [other for other in board.of(piece.side) if other is not piece and other.at == cell]
    if not friends:
        return True
    return piece.side == "us" and len(friends) == 1 and not (piece.zoc and friends[0].zoc)


def reach(board: Board, piece: Piece) -> dict[Cell, Fraction]:
    """Where a piece can end its move, with the least cost (6.1, 13.1)."""
    stops = not piece.mobile and piece.side == "us"
    zoned = {cell: is_zoned(board, piece, cell) for cell in board.terrain}
    best: dict[Cell, Fraction] = {piece.at: Fraction(0)}
    seen: set[tuple[Cell, Fraction, bool]] = set()
    heap: list[tuple[Fraction, Cell, bool]] = [(Fraction(0), piece.at, True)]
    while heap:
        spent, here, fresh = heapq.heappop(heap)
        if (here, spent, fresh) in seen or (stops and zoned[here] and not fresh):
            continue
        seen.add((here, spent, fresh))
        for goal in around(here):
            ground = entry(board, piece, here, goal) if goal in board.terrain else None
            if ground is None:
                continue
            if stops and zoned[goal] and zoned[here]:
                cost = Fraction(piece.movement) if ground <= piece.movement else Fraction(1000)
            elif not stops and zoned[goal]:
                cost = piece.movement // 2 + (ground if board.reads("fpb-4") == "a" else Fraction(0))
            else:
                cost = ground
            total = spent + cost
            if total <= piece.movement:
                best[goal] = min(best.get(goal, total), total)
                heapq.heappush(heap, (total, goal, False))
    return {cell: cost for cell, cost in best.items() if may_end(board, piece, cell)}


@dataclasses.dataclass(frozen=True)
class Retreat:
    """What becomes of a piece that must retreat."""

    distance: int
    ends: frozenset[Cell] = frozenset()
    displace: frozenset[Cell] = frozenset()
    depletes: bool = False
    eliminated: bool = False


def open_to(board: Board, piece: Piece, cell: Cell) -> bool:
    """8.3: on the map, no sea, no enemy, no enemy zone."""
    return (
        cell in board.terrain
        and board.terrain[cell] != "sea"
        and all(enemy.at != cell for enemy in board.against(piece.side))
        and not is_zoned(board, piece, cell)
    )


def ways(board: Board, piece: Piece, steps: int) -> Iterator[tuple[Cell, ...]]:
    """Every way of up to so many steps, each of which leads farther off (fpb-42 a)."""
    front: list[tuple[Cell, ...]] = [(piece.at,)]
    for count in range(1, steps + 1):
        front = [
            (*way, cell)
            for way in front
            for cell in around(way[-1])
            if apart(piece.at, cell) == count and open_to(board, piece, cell)
        ]
        yield from front


def roundabout(board: Board, piece: Piece, through: bool) -> set[Cell]:
    """Every hex that some way of any length leads to (fpb-42 b); friends are passed or not."""
    held = {friend.at for friend in board.of(piece.side)}
    found, front = {piece.at}, [piece.at]
    while front:
        here = front.pop()
        if here != piece.at and here in held and not through:
            continue
        for cell in around(here):
            if cell not in found and open_to(board, piece, cell):
                found.add(cell)
                front.append(cell)
    return found - {piece.at}


def can_give_way(board: Board, cell: Cell, side: str, busy: frozenset[Cell]) -> bool:
    """8.3.1: whether those in a hex can be displaced, others in turn if need be."""
    here = [friend for friend in board.of(side) if friend.at == cell]
    held = {friend.at for friend in board.of(side)}
    if len(here) > 1:
        free = [x for x in around(cell) if x not in held and all(open_to(board, one, x) for one in here)]
        return len(free) >= len(here)
    for goal in around(cell):
        if goal in busy or not open_to(board, here[0], goal):
            continue
        if goal not in held:
            return True
        alone = sum(friend.at == goal for friend in board.of(side)) == 1
        if alone and can_give_way(board, goal, side, busy | {goal}):
            return True
    return False


def retreat(board: Board, piece: Piece, hexes: int) -> Retreat:
    """8.3, 8.3.1 by trying everything."""
    held = {friend.at for friend in board.of(piece.side)}
    every = list(ways(board, piece, hexes))
    for count in range(hexes, 0, -1):
        if board.reads("fpb-42") == "a":
            long = [way for way in every if len(way) == count + 1]
            dry = {way[-1] for way in long if not held & set(way[1:-1])}
            wet = {way[-1] for way in long}
        else:
            dry = {x for x in roundabout(board, piece, False) if apart(piece.at, x) == count}
            wet = {x for x in roundabout(board, piece, True) if apart(piece.at, x) == count}
        spent = count < hexes
        for ends in (dry - held, wet - held):
            if ends:
                return Retreat(count, frozenset(ends), depletes=spent, eliminated=spent and piece.last_step)
        busy = frozenset({piece.at})
        for taken in (dry, wet):
            clear = {x for x in taken if can_give_way(board, x, piece.side, busy | {x})}
            if clear:
                return Retreat(
                    count, displace=frozenset(clear), depletes=spent, eliminated=spent and piece.last_step
                )
    barred_by_friends = any(open_to(board, piece, cell) for cell in around(piece.at))
    stays = barred_by_friends and board.reads("fpb-15") == "a"
    return Retreat(0, depletes=stays, eliminated=not stays or piece.last_step)
