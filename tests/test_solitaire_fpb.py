"""Solitaire moves of fpb, on random positions, against an oracle in plain Python."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from sqlalchemy.engine import Connection

from app.play.fpb.solitaire import ForcedMove, forced_move
from app.play.procedures import Choose, Draw, Outcome, Roll, tried
from app.referee.questions import kinds_of
from app.referee.rulings import Asked
from db.labels import Axial
from db.map_draft import HexDraft
from db.position_draft import PositionDraft
from importers.cases import store_position
from importers.charts import import_chart
from tests import oracle_fpb_solitaire as oracle
from tests.oracle_fpb import Board, Cell, Piece
from tests.rounds import rounds
from tests.test_movement_fpb import KEY, SCHEME, bounded, draft, paint, seeds

few = settings(bounded, max_examples=rounds(60, 500))


@pytest.fixture
def priced(connection: Connection, tmp_path: Path) -> Connection:
    """A database whose owner has filled in a Terrain Key, airstrips included."""
    path = tmp_path / "key.csv"
    path.write_text(f"{KEY}airstrip,,,0\n", encoding="utf-8")
    import_chart(connection, path)
    return connection


class FirstOption:
    """A US player who takes what is offered first."""

    def roll(self, want: Roll) -> Any:
        return None

    def draw(self, want: Draw) -> Any:
        return None

    def choice(self, want: Choose) -> Any:
        assert want.options
        return want.options[0]


def island(seed: int) -> tuple[Board, frozenset[Cell], frozenset[Cell]]:
    """A board whose first piece is Japanese and nobody stands in the sea; airstrips; landing beaches."""
    board = paint(seed, crowded=seed % 3 == 0)
    board = dataclasses.replace(
        board, policy={k: v for k, v in board.policy.items() if k in ("fpb-3", "fpb-4", "fpb-28")}
    )
    ashore = [piece for piece in board.pieces if board.terrain[piece.at] != "sea"]
    if board.pieces[0] not in ashore:
        board = dataclasses.replace(board, terrain=board.terrain | {board.pieces[0].at: "clear"})
        ashore.insert(0, board.pieces[0])
    first = dataclasses.replace(board.pieces[0], side="japan")
    board = dataclasses.replace(
        board, pieces=(first, *(piece for piece in ashore if piece is not board.pieces[0]))
    )
    dice = random.Random(seed)
    land = sorted(
        cell for cell, terrain in board.terrain.items() if terrain == "clear" and cell not in board.villages
    )
    airstrips = frozenset(dice.sample(land, k=min(len(land), dice.randint(0, 3))))
    held = {piece.at for piece in board.of("japan")}
    beaches = frozenset(
        cell for cell in land if cell not in held and cell not in airstrips and dice.random() < 0.04
    )
    return board, airstrips, beaches


def with_places(
    position: PositionDraft, airstrips: frozenset[Cell], beaches: frozenset[Cell]
) -> PositionDraft:
    from db.position_draft import MarkerDraft

    for cell in airstrips:
        position.board.hexes[Axial(*cell)] = HexDraft("clear", 0, ("airstrip",))
    for cell in beaches:
        position.markers.append(MarkerDraft("landing_beach", Axial(*cell)))
    return position


def moved(connection: Connection, position: int, board: Board, piece: Piece) -> Outcome:
    conditions = {"mode": "solitaire", "active": "japan", "turn": 2}
    conditions["phase"] = "mobile_movement" if piece.mobile else "movement"
    asked = Asked(connection, position, "fpb", conditions, dict(board.policy))
    return tried(asked, lambda: forced_move(ForcedMove(unit="0")), FirstOption(), lambda: kinds_of("fpb"))


@few
@given(seed=seeds)
def test_a_solitaire_move_is_what_the_oracle_demands(priced: Connection, seed: int) -> None:
    board, airstrips, beaches = island(seed)
    piece = board.pieces[0]
    with priced.begin_nested() as savepoint:
        position = store_position(priced, with_places(draft(board), airstrips, beaches))
        outcome = moved(priced, position, board, piece)
        savepoint.rollback()
    answer = outcome.answer
    number = {cell: int(SCHEME.label(cell)) for cell in board.terrain}
    wanted = oracle.demand(board, piece, airstrips, beaches, number)
    assert outcome.allowed is True
    assert answer["principle"] == wanted.principle, answer
    if not wanted.goals:
        assert not answer["moves"]
        return
    cells = {SCHEME.label(cell): cell for cell in board.terrain}
    path = [cells[label] for label in answer["path"]]
    goals = wanted.goals
    if wanted.principle == 4:
        goals = frozenset(end for end in goals if oracle.apart(end, cells[answer["target"]]) == 1)
    assert oracle.is_best_way(board, piece, goals, path), answer
    held = {other.at for other in board.of("japan")}
    assert answer["moves"] == (len(path) > 1)
    assert not answer["moves"] or path[-1] not in held
