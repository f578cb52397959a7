"""Zones, movement and retreat in fpb: on random positions, against an oracle in plain Python."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from app.referee.cases import rule_text
from db.counters import FpbUnit
from db.labels import Axial
from db.map_draft import HexDraft, MapDraft, PathDraft
from db.position_draft import PositionDraft
from importers.cases import store_position
from importers.charts import import_chart
from tests import oracle_fpb as oracle
from tests.oracle_fpb import Board, Cell, Piece
from tests.rounds import rounds
from tests.small_map import scheme_of
from tests.test_movement_css import neighbours, wander

SCHEME = scheme_of("fpb")
CORNER = Axial(*SCHEME.hex("1010"))
TERRAIN = (*("clear",) * 8, "jungle", "hill", "marsh", "reef", "mountain", "sea")
KEY = (
    "chart,fpb,terrain_key\nname,leg,mobile,plus\nhill,2,2,\nmarsh,4,4,\nreef,2,2,\nmountain,5,prohibited,\n"
)
READINGS = ("fpb-3", "fpb-4", "fpb-15", "fpb-28", "fpb-42")
seeds = st.integers(0, 2**32)
bounded = settings(
    max_examples=rounds(120, 2_000),
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def priced(connection: Connection, tmp_path: Path) -> Connection:
    """A database whose owner has filled in a Terrain Key."""
    path = tmp_path / "key.csv"
    path.write_text(KEY, encoding="utf-8")
    import_chart(connection, path)
    return connection


def paint(seed: int, *, crowded: bool = False) -> Board:
    """A position from a seed; its first piece is the one that is asked about."""
    dice = random.Random(seed)
    across, deep = dice.randint(3, 7), dice.randint(3, 7)
    cells = {(CORNER.q + q, CORNER.r + r - q // 2) for q in range(across) for r in range(deep)}
    terrain = {cell: dice.choice(TERRAIN) for cell in sorted(cells)}
    share = dice.choice((0.0, 0.1, 0.3))
    rivers = {
        (cell[0] + beside[0], cell[1] + beside[1])
        for cell in sorted(cells)
        for beside in neighbours(cell)
        if beside in cells and dice.random() < share
    }
    chains = [(dice.choice(("road", "trail")), wander(dice, cells)) for _ in range(dice.choice((0, 2, 4)))]
    spots = sorted(cells)
    dice.shuffle(spots)
    side = dice.choice(("us", "japan"))
    many = min(len(spots) - 1, dice.randint(2, 14) if crowded else dice.randint(0, 7))
    pieces = [piece(dice, side, spots[0])]
    for cell in spots[1 : many + 1]:
        friend = dice.random() < (0.75 if crowded else 0.5)
        pieces.append(piece(dice, side if friend else ("japan" if side == "us" else "us"), cell))
    villages = frozenset(cell for cell in sorted(cells) if terrain[cell] != "sea" and dice.random() < 0.15)
    policy = {point: "b" for point in READINGS if dice.random() < 0.3}
    paths = tuple(chain for chain in chains if len(chain[1]) > 1)
    return Board(terrain, villages, frozenset(rivers), paths, tuple(pieces), policy)


def piece(dice: random.Random, side: str, at: Cell) -> Piece:
    return Piece(side, at, dice.random() < 0.4, dice.randint(1, 10), dice.random() < 0.7, dice.random() < 0.3)


def draft(board: Board) -> PositionDraft:
    ground = MapDraft(
        "fpb",
        SCHEME,
        hexes={
            Axial(*cell): HexDraft(terrain, 0, ("village",) if cell in board.villages else ())
            for cell, terrain in board.terrain.items()
        },
        hexsides={(*side, "river") for side in board.rivers},
        paths=[PathDraft(kind, tuple(Axial(*cell) for cell in cells)) for kind, cells in board.paths],
    )
    position = PositionDraft("fpb", ground, policy=dict(board.policy))
    for n, one in enumerate(board.pieces):
        unit = FpbUnit(
            id=str(n), at=SCHEME.label(one.at), side=one.side,  # type: ignore[arg-type]
            mobility="mobile" if one.mobile else "leg", movement=one.movement,  # type: ignore[arg-type]
            zoc=one.zoc, one_step=one.last_step,
        )  # fmt: skip
        position.units[unit.id] = unit, Axial(*one.at)
    return position


def labels(cells: Any) -> set[str]:
    return {SCHEME.label(cell) for cell in cells}


def ask(connection: Connection, query: str, **values: Any) -> list[sa.Row[Any]]:
    return list(connection.execute(sa.text(query), values))


def reached(connection: Connection, position: int) -> dict[str, Fraction]:
    rows = ask(connection, "select label, halves from fpb.reach(:position, '0')", position=position)
    return {label: Fraction(halves, 2) for label, halves in rows}


@bounded
@given(seed=seeds)
def test_a_zone_is_what_the_oracle_finds(connection: Connection, seed: int) -> None:
    board = paint(seed)
    with connection.begin_nested() as savepoint:
        position = store_position(connection, draft(board))
        rows = ask(connection, "select * from fpb.zoc(:position, null, 'us')", position=position)
        savepoint.rollback()
    found = rows[-1].facts
    zones = [oracle.zone(board, one) for one in board.of("us")]
    assert set(found["hexes"]) == labels(cell for zone in zones for cell in zone)
    assert {by: set(hexes) for by, hexes in found["by"].items()} == {
        str(n): labels(oracle.zone(board, one))
        for n, one in enumerate(board.pieces)
        if one.side == "us" and oracle.zone(board, one)
    }


@bounded
@given(seed=seeds)
def test_reach_is_what_the_oracle_finds(priced: Connection, seed: int) -> None:
    board = paint(seed)
    with priced.begin_nested() as savepoint:
        position = store_position(priced, draft(board))
        found = reached(priced, position)
        savepoint.rollback()
    assert board.terrain[board.pieces[0].at] == "sea" or found == {
        SCHEME.label(cell): cost for cell, cost in oracle.reach(board, board.pieces[0]).items()
    }


@bounded
@given(seed=seeds)
def test_reach_agrees_with_move_on_its_cheapest_ways(priced: Connection, seed: int) -> None:
    board = paint(seed)
    with priced.begin_nested() as savepoint:
        position = store_position(priced, draft(board))
        found = reached(priced, position)
        for label in random.Random(seed).sample(sorted(found), k=min(4, len(found))):
            way = [
                row.label
                for row in ask(
                    priced,
                    "select label from fpb.reach_path(:position, '0', :goal) order by n",
                    position=position,
                    goal=label,
                )
            ]
            assert (way[0], way[-1]) == (SCHEME.label(board.pieces[0].at), label)
            rows = ask(priced, "select * from fpb.move(:position, '0', :path)", position=position, path=way)
            verdict = rows[-1]
            if board.terrain[board.pieces[0].at] == "sea":
                continue
            assert (verdict.effect, verdict.at) == ("legal", label), (way, rows)
            assert Fraction(verdict.halves, 2) == found[label]
            assert sum(row.halves for row in rows if row.effect == "cost") == verdict.halves
        savepoint.rollback()


@bounded
@given(seed=seeds)
def test_no_wandering_gets_farther_than_reach(priced: Connection, seed: int) -> None:
    board = paint(seed)
    start = board.pieces[0].at
    if board.terrain[start] == "sea":
        return
    dice = random.Random(seed)
    with priced.begin_nested() as savepoint:
        position = store_position(priced, draft(board))
        found = reached(priced, position)
        for _ in range(4):
            way, here = [], start
            for _ in range(dice.randint(1, 5)):
                here = dice.choice([cell for cell in neighbours(here) if cell in board.terrain] or [here])
                way.append(SCHEME.label(here))
            verdict = ask(
                priced, "select * from fpb.move(:position, '0', :path)", position=position, path=way
            )[-1]
            if verdict.effect == "legal":
                assert Fraction(verdict.halves, 2) >= found[way[-1]], way
            else:
                assert verdict.effect == "illegal"
        savepoint.rollback()


@bounded
@given(seed=seeds)
def test_a_retreat_is_what_trying_everything_finds(connection: Connection, seed: int) -> None:
    board = paint(seed, crowded=True)
    if board.terrain[board.pieces[0].at] == "sea":
        return
    hexes = random.Random(seed).randint(1, 3)
    with connection.begin_nested() as savepoint:
        position = store_position(connection, draft(board))
        query = "select * from fpb.retreat(:position, '0', :hexes)"
        found = ask(connection, query, position=position, hexes=hexes)[-1].facts
        savepoint.rollback()
    wanted = oracle.retreat(board, board.pieces[0], hexes)
    assert found["distance"] == wanted.distance
    assert set(found["ends"]) == labels(wanted.ends)
    assert set(found["displace"]) == labels(wanted.displace)
    assert (found["depletes"], found["eliminated"]) == (wanted.depletes, wanted.eliminated)


def test_a_cost_that_the_owner_filled_in_is_named_as_his(priced: Connection) -> None:
    case = """
        case: key
        ruleset: fpb
        map: {extent: ["1010", "1212"], hexes: {"1011": hill, "1110": mountain}}
        units:
          - {id: foot, side: us, at: "1010", movement: 6}
          - {id: tank, side: us, mobility: mobile, at: "1211", movement: 9}
        ask:
          - move: {unit: foot, path: ["1011"]}
          - move: {unit: foot, path: ["1110"]}
          - move: {unit: tank, path: ["1110"]}
    """
    hill, climb, drive = rule_text(priced, case, "key.yaml")[1]
    assert (hill.answer["cost"], hill.needs) == (2, [])
    assert "hill, by the owner's chart" in [step.note for step in hill.steps]
    assert climb.answer["cost"] == 5
    assert (drive.answer["legal"], drive.answer["ends_at"]) == (False, "1110")


def test_words_of_other_games_are_refused(connection: Connection) -> None:
    case = """
        case: words
        ruleset: fpb
        map: {extent: ["1010", "1212"]}
        units: [{id: A, side: us, at: "1010", movement: 6}]
        ask: [{move: {unit: A, path: ["1011"], as: advance}}]
    """
    with pytest.raises(Exception, match="fpb knows no 'as' here"):
        rule_text(connection, case, "words.yaml")
