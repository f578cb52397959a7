"""Solitaire moves of fpb once more, in plain Python: which principle speaks, for what, and what a way may be.

Written from 16.1, with the costs of `oracle_fpb`: a Dijkstra from the unit outward, one target at a time.
"""

from __future__ import annotations

import dataclasses
import heapq
import itertools
from fractions import Fraction

from tests.oracle_fpb import Board, Cell, Piece, apart, around, entry, is_zoned

Price = tuple[int, Fraction]


@dataclasses.dataclass(frozen=True)
class Demand:
    """What 16.1 demands of a unit: hexes of which it must reach one, or nothing."""

    principle: int | None
    goals: frozenset[Cell] = frozenset()


def step(board: Board, piece: Piece, here: Cell, goal: Cell) -> Price | None:
    """Whether a step enters an enemy zone, and its points (5.4, 6.1, 13.1); None where it is closed."""
    ground = entry(board, piece, here, goal) if goal in board.terrain else None
    if ground is None:
        return None
    if not is_zoned(board, piece, goal):
        return 0, ground
    return 1, piece.movement // 2 + (ground if board.reads("fpb-4") == "a" else Fraction(0))


def outward(board: Board, piece: Piece, start: Cell) -> dict[Cell, Price]:
    """The least price to every hex: enemy zones first, then points."""
    best: dict[Cell, Price] = {}
    heap: list[tuple[Price, Cell]] = [((0, Fraction(0)), start)]
    while heap:
        price, here = heapq.heappop(heap)
        if here in best:
            continue
        best[here] = price
        for goal in around(here):
            cost = step(board, piece, here, goal)
            if cost is not None:
                heapq.heappush(heap, ((price[0] + cost[0], price[1] + cost[1]), goal))
    return best


def without_enemies(board: Board) -> Board:
    return dataclasses.replace(board, pieces=tuple(board.of("japan")))


def demand(
    board: Board, piece: Piece, airstrips: frozenset[Cell], beaches: frozenset[Cell], number: dict[Cell, int]
) -> Demand:
    """16.1, with every contested point as it is by default."""
    us = [enemy.at for enemy in board.of("us")]
    ways = outward(board, piece, piece.at)
    empty = [beach for beach in beaches if beach not in us and beach != piece.at]
    drawn = []
    for beach in empty:
        rivals = [
            other
            for other in board.of("japan")
            if other.mobile == piece.mobile and beach in outward(board, other, other.at)
        ]
        if beach in ways and apart(piece.at, beach) == min(apart(other.at, beach) for other in rivals):
            drawn.append(beach)
    if drawn:
        first = min(drawn, key=lambda cell: (apart(piece.at, cell), ways[cell], -number[cell]))
        return Demand(1, frozenset({first}))
    if piece.at in airstrips:
        return Demand(2)
    adjacent = any(apart(piece.at, cell) == 1 for cell in us)
    held = {other.at for other in board.of("japan")}
    wanted = [cell for cell in airstrips if cell not in held]
    free = [cell for cell in wanted if cell in ways]
    if free:
        if adjacent:
            return Demand(2)
        return Demand(2, frozenset({min(free, key=lambda cell: (apart(piece.at, cell), -number[cell]))}))
    ground = outward(without_enemies(board), piece, piece.at)
    if any(cell in ways for cell in empty) or not any(cell in ground for cell in (*wanted, *empty)):
        return Demand(None)
    if adjacent:
        return Demand(4)
    fronts = {
        cell: frozenset(end for end in around(cell) if end in ways and end not in held - {piece.at})
        for cell in us
    }
    open_fronts = {cell: ends for cell, ends in fronts.items() if ends}
    if not open_fronts:
        return Demand(4)
    # strengths are alike here, so that distance alone decides, and any of equals may be chosen
    least = min(apart(piece.at, cell) for cell in open_fronts)
    return Demand(
        4, frozenset(e for cell, ends in open_fronts.items() if apart(piece.at, cell) == least for e in ends)
    )


def is_best_way(board: Board, piece: Piece, goals: frozenset[Cell], path: list[Cell]) -> bool:
    """Whether a way is the beginning of one of the least price to a goal, as far as points and friends allow."""
    price: Price = (0, Fraction(0))
    for here, goal in itertools.pairwise(path):
        cost = step(board, piece, here, goal)
        if cost is None:
            return False
        price = price[0] + cost[0], price[1] + cost[1]
    if price[1] > piece.movement:
        return False
    rest = outward(board, piece, path[-1])
    totals = [(price[0] + rest[goal][0], price[1] + rest[goal][1]) for goal in goals if goal in rest]
    whole = outward(board, piece, piece.at)
    return min(totals) == min(whole[goal] for goal in goals if goal in whole)
