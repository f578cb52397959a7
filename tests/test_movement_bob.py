"""Reach and Rout in bob: on random positions, against an oracle in plain Python that tries everything."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from app.play.bob.interruption import NONE
from app.play.bob.legal import Legal
from app.play.bob.movement import Move, play_move
from app.play.procedures import Choose, Given, tried
from app.referee.questions import kinds_of
from app.referee.rulings import Asked, ask
from db.counters import BobUnit
from db.labels import Axial
from db.map_draft import HexDraft, MapDraft, PathDraft
from db.position_draft import MarkerDraft, PositionDraft
from importers.cases import store_position
from importers.charts import fill_blanks, read_chart
from tests import oracle_bob_moves as oracle
from tests.oracle_bob_moves import Board, Cell, Piece
from tests.rounds import rounds
from tests.small_map import scheme_of

SCHEME = scheme_of("bob")
CORNER = Axial(*SCHEME.hex("C3"))
TERRAIN = (
    *("open_ground",) * 8, "hut", "stone_building", "jungle", "jungle", "stream", "woods", "swamp", "sandbar",
)  # fmt: skip
seeds = st.integers(0, 2**32)
REACHED = sa.text(
    "select way.*, said.effect, said.halves as cost"
    " from bob.reach_paths(:position, 'T', cast(:options as jsonb)) as way"
    " cross join lateral (select step.* from bob.move(:position, 'T', way.path,"
    " cast(:options as jsonb) || jsonb_build_object('turns', way.turns)) with ordinality as step order by ordinality desc limit 1)"
    " as said"
)
"""Where a Vehicle can go, and what its move by that way is ruled to cost."""
CARD = b"chart: pac_terrain\nruleset: bob\ncells: {turning: {mp_vehicle: 1}}\n"
bounded = settings(
    max_examples=rounds(30, 300),
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def paint(seed: int, *, flat: bool = False) -> Board:
    """A position from a seed; its first piece is the one that is asked about."""
    dice = random.Random(seed)
    across, deep = dice.randint(3, 7), dice.randint(3, 7)
    cells = sorted((CORNER.q + q, CORNER.r + r - q // 2) for q in range(across) for r in range(deep))
    kinds = ("open_ground", "open_ground", "open_ground", "hut", "jungle") if flat else TERRAIN
    terrain = {cell: dice.choice(kinds) for cell in cells}
    links = frozenset(
        (one[0] + other[0], one[1] + other[1])
        for one in cells
        for other in oracle.beside(one)
        if other in terrain and one < other and dice.random() < 0.15
    )
    some = lambda share: frozenset(cell for cell in cells if dice.random() < share)  # noqa: E731
    pieces = [Piece("us", dice.choice(cells), dice.choice(("squad", "wt")))]
    for _ in range(dice.randint(1, 6)):
        side = dice.choice(("us", "japan", "japan"))
        kind = dice.choice(("squad", "squad", "wt", "vehicle"))
        pieces.append(Piece(side, dice.choice(cells), kind, side == "japan"))
    # who is asked about stands in no enemy's hex
    mover = pieces[0]
    pieces = [mover, *(piece for piece in pieces[1:] if piece.side == "us" or piece.at != mover.at)]
    return Board(
        terrain, links, some(0.08), some(0.08), some(0.1), tuple(pieces),
        night=dice.random() < 0.3, **dice.choice(({}, {}, {"snow": True}, {"deluge": True})),
    )  # fmt: skip


def stored(connection: Connection, board: Board) -> int:
    """The same position in the database."""
    draft = MapDraft(
        "bob",
        SCHEME,
        hexes={Axial(*cell): HexDraft(kind, 0) for cell, kind in board.terrain.items()},
        paths=_paths(board),
    )
    conditions: dict[str, Any] = {"rout_edge": {"us": "south", "japan": "north"}}
    if board.night:
        conditions["night"] = {"visibility": 12}
    if board.snow or board.deluge:
        conditions["weather"] = "monsoon" if board.deluge else "snow"
    markers = [
        MarkerDraft(kind, Axial(*cell))
        for kind, places in (("wire", board.wire), ("mines", board.mines), ("foxhole", board.foxholes))
        for cell in sorted(places)
    ]
    units = {
        f"unit {n}": (
            BobUnit(id=f"unit {n}", side=piece.side, kind=piece.kind, range=4, fp=(4, 3)), Axial(*piece.at)
        )
        for n, piece in enumerate(board.pieces)
    }  # fmt: skip
    return store_position(
        connection, PositionDraft("bob", draft, conditions=conditions, units=units, markers=markers)
    )


def _paths(board: Board) -> list[PathDraft]:
    found = []
    for x, y in sorted(board.links):
        one = next(
            cell
            for cell in board.terrain
            if (x - cell[0], y - cell[1]) in board.terrain
            and oracle.distance(cell, (x - cell[0], y - cell[1])) == 1
        )
        found.append(PathDraft("path", (Axial(*one), Axial(x - one[0], y - one[1]))))
    return found


@bounded
@given(seeds)
def test_reach_is_what_dijkstra_finds(connection: Connection, seed: int) -> None:
    board = paint(seed)
    with connection.begin_nested() as undone:
        position = stored(connection, board)
        rows = connection.execute(
            sa.text("select label, halves from bob.reach(:position, 'unit 0')"), {"position": position}
        ).all()
        undone.rollback()
    found = {tuple(SCHEME.hex(row.label)): Fraction(row.halves, 2) for row in rows}
    assert found == oracle.reach(board, board.pieces[0])


def _driven(
    terrain: dict[Cell, str], start: Cell, faced: int, allowance: int, turning: int
) -> dict[Cell, int]:
    """Every hex a Vehicle gets to, by trying all: forward over its two front sides, or a corner to the left or right."""
    costs, ways = {"hut": 2, "stream": 8}, [(0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)]
    best = {(start, faced): 0}
    fresh = [(start, faced)]
    while fresh:
        cell, corner = fresh.pop()
        spent = best[cell, corner]
        fore = [(cell[0] + q, cell[1] + r) for q, r in (ways[corner - 1], ways[corner % 6])]
        steps = [((cell, corner % 6 + 1), turning), ((cell, (corner - 2) % 6 + 1), turning)]
        steps += [((one, corner), costs[terrain[one]]) for one in fore if terrain.get(one) in costs]
        for state, price in steps:
            if spent + price <= min(allowance, best.get(state, allowance + 1) - 1):
                best[state] = spent + price
                fresh.append(state)
    return {cell: min(cost for (at, _), cost in best.items() if at == cell) for cell, _ in best}


@bounded
@given(seeds)
def test_a_vehicle_reaches_what_trying_every_turn_finds_and_its_ways_are_legal(
    connection: Connection, seed: int
) -> None:
    dice = random.Random(seed)
    cells = [(CORNER.q + q, CORNER.r + r - q // 2) for q in range(6) for r in range(6)]
    terrain = {cell: dice.choice(("hut", "hut", "hut", "stream", "jungle")) for cell in cells}
    start, faced, allowance, turning = (
        dice.choice(cells),
        dice.randint(1, 6),
        dice.randint(3, 9),
        dice.randint(0, 2),
    )
    terrain[start] = "hut"
    draft = MapDraft("bob", SCHEME, hexes={Axial(*cell): HexDraft(kind, 0) for cell, kind in terrain.items()})
    tank = BobUnit(id="T", side="us", kind="vehicle", movement=allowance, facing=faced)
    options = {"read": {"pac_terrain": {"turning": turning}}}
    with connection.begin_nested() as undone:
        position = store_position(connection, PositionDraft("bob", draft, units={"T": (tank, Axial(*start))}))
        rows = connection.execute(REACHED, {"position": position, "options": json.dumps(options)}).all()
        undone.rollback()
    told = {tuple(SCHEME.hex(row.label)): row.halves for row in rows}
    expected = _driven(terrain, start, faced, 2 * allowance, 2 * turning)
    assert told == {cell: cost for cell, cost in expected.items() if cell != start}
    assert [row for row in rows if (row.effect, row.cost) != ("legal", row.halves)] == []


@bounded
@given(seeds)
def test_a_rout_goes_where_trying_every_way_leads(connection: Connection, seed: int) -> None:
    board = paint(seed, flat=True)
    mover = board.pieces[0]
    with connection.begin_nested() as undone:
        position = stored(connection, board)
        sees = _sights(connection, position, board)
        [facts] = connection.execute(
            sa.text("select facts from bob.rout_path(:position, 'unit 0') where facts is not null"),
            {"position": position},
        ).scalars()
        undone.rollback()
    expected = oracle.rout(board, mover, sees, most=_points(board, mover))
    if expected:
        told = {tuple(SCHEME.hex(label)): Fraction(halves, 2) for label, halves in facts["halves"].items()}
        assert told == expected
        assert (facts["eliminated"], facts["toward"], facts["edge"]) == (False, None, False)
    else:
        assert facts["eliminated"] or facts["toward"] is not None or facts["edge"]


def _points(board: Board, mover: Piece) -> int:
    return oracle.allowance(board, mover)


def _sights(connection: Connection, position: int, board: Board) -> dict[tuple[Cell, Cell], bool]:
    """Who sees whom, as the database rules it: sight has tests of its own."""
    query = sa.text(
        "select exists (select from bob.los(:position, 'hex:' || :one, 'hex:' || :other) as line"
        " where line.effect = 'visible')"
    )
    return {
        (cell, foe.at): bool(
            connection.scalar(
                query,
                {"position": position, "one": SCHEME.label(cell), "other": SCHEME.label(foe.at)},
            )
        )
        for cell in board.terrain
        for foe in board.foes(board.pieces[0])
    }


def test_two_checks_of_one_unit_in_one_move_are_asked_for_apart(connection: Connection) -> None:
    cells = {Axial(*SCHEME.hex(label)): "open_ground" for label in ("D4", "D5", "D6", "D7")}
    units = {
        "S": (BobUnit(id="S", side="us", morale=(10, 6, 1), casualty=(4, 7)), Axial(*SCHEME.hex("D7"))),
        "C": (
            BobUnit(id="C", side="japan", nation="japan", fp=(5, 3), range=4, morale=(10, 6, 1), suppression="suppressed"),
            Axial(*SCHEME.hex("D4")),
        ),
    }  # fmt: skip
    board = MapDraft("bob", SCHEME, hexes={cell: HexDraft(kind, 0) for cell, kind in cells.items()})
    conditions: Any = {
        "night": {"visibility": 4},
        "cps": {"us": 1, "japan": 1},
        "active": "us",
        "phase": "operations",
        "first": "us",
    }
    position = store_position(connection, PositionDraft("bob", board, conditions=conditions, units=units))
    asked = Asked(connection, position, "bob", conditions, {})
    first, second = {"fire": "op_fire", "by": "C"}, {"fire": "final_op_fire", "by": "C"}
    choices = {
        "interrupt:D6:1": NONE, "interrupt:D5:1": first, "reroll C": False, "interrupt:D5:2": NONE,
    }  # fmt: skip
    move = Move(unit="S", path=["D6", "D5"])
    outcome = tried(asked, lambda: play_move(move), Given([9], choices=choices), lambda: kinds_of("bob"))
    assert outcome.pending is None
    choices |= {"interrupt:D6:1": first, "reroll C": False, "interrupt:D5:1": second, "reroll C_2": True}
    supply = Given([9, 9, 3, 10], choices=choices | {"interrupt:D6:2": NONE})
    outcome = tried(asked, lambda: play_move(move), supply, lambda: kinds_of("bob"))
    assert outcome.pending is None
    assert [die["value"] for die in outcome.rolls] == [9, 9, 3, 10]
    assert {"unit": "C", "cp": True} in outcome.effects


def test_who_is_stopped_before_a_melee_is_on_its_way_no_more(connection: Connection) -> None:
    cells = {Axial(*SCHEME.hex(label)): "open_ground" for label in ("D4", "D5", "D6")}
    own = BobUnit(id="S", side="us", morale=(10, 6, 1), casualty=(4, 7))
    foe = BobUnit(id="C", side="japan", nation="japan", fp=(5, 3), range=4, morale=(10, 6, 1))
    units = {"S": (own, Axial(*SCHEME.hex("D5"))), "C": (foe, Axial(*SCHEME.hex("D4")))}
    board = MapDraft("bob", SCHEME, hexes={cell: HexDraft(kind, 0) for cell, kind in cells.items()})
    conditions: Any = {
        "night": {"visibility": 4},
        "cps": {"us": 1, "japan": 1},
        "active": "us",
        "phase": "operations",
        "first": "us",
    }
    position = store_position(connection, PositionDraft("bob", board, conditions=conditions, units=units))
    asked = Asked(connection, position, "bob", conditions, {})
    move = Move(unit="S", path=["D4"])
    stopped = 0
    for die in range(1, 11):
        choices: dict[str, Any] = {}
        rolls = [die] * 6
        while True:
            outcome = tried(
                asked, lambda: play_move(move), Given(rolls, choices=choices), lambda: kinds_of("bob")
            )
            if not isinstance(outcome.pending, Choose):
                break
            options = outcome.pending.options or [NONE]
            fire = next((one for one in options if isinstance(one, dict) and one.get("by") == "C"), NONE)
            choices[outcome.pending.name] = fire if outcome.pending.name.endswith(":1") else options[0]
        own_changes = [change["set"] for change in outcome.changes if change.get("unit") == "S"]
        lives = not any(change.get("status") == "eliminated" for change in own_changes)
        if outcome.answer.get("result") == "failed" and lives:
            stopped += 1
            assert [change["moving"] for change in own_changes if "moving" in change][-1] is None
    assert stopped


def test_moves_into_a_cave_and_with_turns_are_offered_as_they_can_be_entered(connection: Connection) -> None:
    cells = {Axial(*SCHEME.hex(label)): "hut" for label in ("D4", "D5", "D6", "D7", "C5", "E5")}
    units = {
        "J": (BobUnit(id="J", side="japan", nation="japan", morale=(10, 6, 1)), Axial(*SCHEME.hex("D6"))),
        "T": (BobUnit(id="T", side="japan", kind="vehicle", movement=2, facing=4), Axial(*SCHEME.hex("D5"))),
    }
    hexes = {cell: HexDraft(kind, 0) for cell, kind in cells.items()}
    hill = Axial(*SCHEME.hex("D4"))
    hexes[hill] = HexDraft("open_ground", 1)
    conditions: Any = {"phase": "operations", "active": "japan", "first": "japan"}
    draft = PositionDraft(
        "bob", MapDraft("bob", SCHEME, hexes=hexes), conditions=conditions, units=units,
        markers=[MarkerDraft("cave", hill, facing=3)],
    )  # fmt: skip
    with connection.begin_nested() as undone:
        fill_blanks(connection, read_chart(CARD, "card.yaml"), "owner")
        position = store_position(connection, draft)
        asked = Asked(connection, position, "bob", conditions, {})
        found = ask(asked, kinds_of("bob")["legal"], Legal(side="japan"))
        undone.rollback()
    moves = [offer["arguments"] for offer in found.answer["actions"] if offer["action"] == "move"]
    assert {"unit": "J", "path": ["D5", "D4"], "into": "cave"} in moves
    assert {"unit": "T", "path": ["C5"], "turns": {"D5": 5}} in moves
