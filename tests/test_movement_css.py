"""Movement in css: what must hold of it on any ground, and against an independent oracle."""

from __future__ import annotations

import dataclasses
import random
from fractions import Fraction
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection

from app.referee.cases import rule_text
from db import SightlineError
from db.counters import CssUnit
from db.labels import Axial
from db.map_draft import HexDraft, MapDraft, PathDraft
from db.position_draft import MarkerDraft, PositionDraft
from importers.cases import store_position
from tests.oracle_css_moves import COSTS, STEPS, Board, Cell, Mover, reach
from tests.small_map import scheme_of

SCHEME = scheme_of("css")
CORNER = Axial(*SCHEME.hex("30.30"))
TERRAIN = (*COSTS, *("clear",) * 6, "brush", "town")
SIDES = ("stream", "stream", "river", "ravine", "slope", "steep_slope", "ridge", "cliff")
PATHS = ("trail", "trail", "unpaved_road", "paved_road", "causeway")
MARKERS = (
    "medium_barrage", "medium_barrage", "light_barrage", "pinned", "suppressed", "bombardment", "on_fire",
    "fire_cleared",
)  # fmt: skip
READINGS = {"css-6": "ab", "css-41": "ab", "css-54": "ab", "css-57": "ab", "css-58": "ab"}
MOVER = "mover"


def bounded(examples: int) -> settings:
    """So many positions; one that fails is shown as it was found."""
    return settings(
        max_examples=examples,
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )


def neighbours(cell: Cell) -> list[Cell]:
    return [(cell[0] + dq, cell[1] + dr) for dq, dr in STEPS]


def wander(dice: random.Random, cells: set[Cell]) -> tuple[Cell, ...]:
    """A chain of adjacent hexes that does not turn back at once."""
    chain = [dice.choice(sorted(cells))]
    for _ in range(dice.randint(1, 9)):
        beside = [cell for cell in neighbours(chain[-1]) if cell in cells and cell not in chain[-2:]]
        if not beside:
            break
        chain.append(dice.choice(beside))
    return tuple(chain)


def paint(seed: int) -> tuple[Board, Mover]:
    """A position with all that bears on movement, from a seed."""
    dice = random.Random(seed)
    across, deep = dice.randint(3, 9), dice.randint(3, 9)
    cells = {(CORNER.q + q, CORNER.r + r - q // 2) for q in range(across) for r in range(deep)}
    at = dice.choice(sorted(cells))
    terrain = {cell: dice.choice(TERRAIN) for cell in sorted(cells)}
    # a third of the positions are for the caves (6.3)
    dug = dice.random() < 0.3
    share = 0.6 if dug else dice.choice((0, 0.15))
    caves = frozenset(cell for cell in sorted(cells) if dice.random() < share) | ({at} if dug else set())
    sides: dict[Cell, frozenset[str]] = {}
    share = dice.choice((0.0, 0.05, 0.2))
    for cell in sorted(cells):
        for beside in neighbours(cell):
            if beside in cells and dice.random() < share:
                side = cell[0] + beside[0], cell[1] + beside[1]
                sides[side] = sides.get(side, frozenset()) | {dice.choice(SIDES)}
    chains = [(dice.choice(PATHS), wander(dice, cells)) for _ in range(dice.choice((0, 2, 5)))]
    if dice.random() < 0.4:
        chains.append(("trail", (at, *wander_from(dice, cells, at))))
    marked = dice.sample(sorted(cells), k=min(len(cells), dice.choice((0, 0, 3, 8))))
    side = "japan" if dug else dice.choice(("us", "japan"))
    mobility = "leg" if dug else dice.choice(("leg", "leg", "leg", "wheeled", "tracked"))
    weapon = dice.choice((None, None, "weapon", "tank"))
    inside = side == "japan" and mobility == "leg" and at in caves and dice.random() < 0.6
    board = Board(
        terrain,
        caves,
        sides,
        tuple(chain for chain in chains if len(chain[1]) > 1),
        {cell: frozenset({dice.choice(MARKERS)}) for cell in marked if cell != at or dice.random() < 0.3},
        {cell: dice.randint(1, 4) for cell in dice.sample(sorted(cells), k=dice.choice((0, 1, 3)))},
        frozenset(cell for cell in sorted(cells) if cell != at and dice.random() < 0.06),
        {cell: dice.randint(0, 2) for cell in sorted(caves) if cell != at},
        dice.choice((0, 0, 0, 1, 3)),
        {point: dice.choice(letters) for point, letters in READINGS.items() if dice.random() < 0.3},
    )
    movement = dice.randint(1, 7) if mobility == "leg" else dice.randint(4, 14)
    return board, Mover(at, side, mobility, movement, weapon == "weapon", weapon == "tank", inside)


def wander_from(dice: random.Random, cells: set[Cell], at: Cell) -> tuple[Cell, ...]:
    beside = [cell for cell in neighbours(at) if cell in cells]
    return (dice.choice(beside),) if beside else ()


def draft(board: Board, mover: Mover) -> PositionDraft:
    ground = MapDraft(
        "css",
        SCHEME,
        hexes={
            Axial(*cell): HexDraft(terrain, 1, ("cave",) if cell in board.caves else ())
            for cell, terrain in board.terrain.items()
        },
        hexsides={(*side, kind) for side, kinds in board.sides.items() for kind in kinds},
        paths=[PathDraft(kind, tuple(Axial(*cell) for cell in hexes)) for kind, hexes in board.paths],
    )
    position = PositionDraft(
        "css", ground, conditions={"interdiction": board.interdiction}, policy=dict(board.policy)
    )
    enemy = "japan" if mover.side == "us" else "us"

    def stand(cell: Cell, **facts: Any) -> None:
        unit = CssUnit(**{"at": SCHEME.label(cell), "side": mover.side, "posture": "column"} | facts)
        position.units[unit.id] = unit, Axial(*cell)

    stand(mover.at, id=MOVER, mobility=mover.mobility, movement=mover.movement, in_cave=mover.inside)
    if mover.weapon or mover.tank:
        stand(mover.at, id="weapon", kind="support_weapon", target="tank" if mover.tank else "soft",
              in_cave=mover.inside)  # fmt: skip
    for cell in board.enemies:
        stand(cell, id=f"enemy {cell}", side=enemy)
    if mover.side == "japan":
        for cell, count in board.friends_in_caves.items():
            for n in range(count):
                stand(cell, id=f"{n} in {cell}", in_cave=True)
    position.markers = [
        MarkerDraft(kind, Axial(*cell)) for cell, kinds in board.markers.items() for kind in kinds
    ] + [MarkerDraft("dg", Axial(*cell), value) for cell, value in board.disorder.items()]
    return position


def options(mover: Mover, **more: Any) -> dict[str, Any]:
    return ({"with": ["weapon"]} if mover.weapon or mover.tank else {}) | more


def ask(connection: Connection, query: str, **values: Any) -> list[sa.Row[Any]]:
    statement = sa.text(query)
    if ":options" in query:
        statement = statement.bindparams(sa.bindparam("options", type_=JSONB))
    return list(connection.execute(statement, values))


def reached(connection: Connection, position: int, told: dict[str, Any]) -> dict[str, Fraction]:
    rows = ask(
        connection,
        "select label, halves from css.reach(:position, :unit, :options)",
        position=position,
        unit=MOVER,
        options=told,
    )
    return {label: Fraction(halves, 2) for label, halves in rows}


def moved(connection: Connection, position: int, path: list[str], told: dict[str, Any]) -> list[sa.Row[Any]]:
    return ask(
        connection,
        "select * from css.move(:position, :unit, :path, :options)",
        position=position,
        unit=MOVER,
        path=path,
        options=told,
    )


def way_to(connection: Connection, position: int, label: str, told: dict[str, Any]) -> list[str]:
    rows = ask(
        connection,
        "select label from css.reach_path(:position, :unit, :target, :options) order by n",
        position=position,
        unit=MOVER,
        target=label,
        options=told,
    )
    return [row.label for row in rows]


seeds = st.integers(0, 2**32)


@bounded(70)
@given(seed=seeds)
def test_reach_is_what_the_oracle_finds(connection: Connection, seed: int) -> None:
    board, mover = paint(seed)
    with connection.begin_nested() as savepoint:
        position = store_position(connection, draft(board, mover))
        found = reached(connection, position, options(mover))
        savepoint.rollback()
    assert found == {SCHEME.label(cell): cost for cell, cost in reach(board, mover).items()}


@bounded(18)
@given(seed=seeds)
def test_reach_agrees_with_move_on_its_cheapest_ways(connection: Connection, seed: int) -> None:
    board, mover = paint(seed)
    told = options(mover)
    with connection.begin_nested() as savepoint:
        position = store_position(connection, draft(board, mover))
        found = reached(connection, position, told)
        chosen = random.Random(seed).sample(sorted(found), k=min(6, len(found)))
        for label in chosen:
            way = way_to(connection, position, label, told)
            assert (way[0], way[-1]) == (SCHEME.label(mover.at), label)
            if len(way) == 1:
                assert found[label] == 0
                continue
            rows = moved(connection, position, way, told)
            verdict = rows[-1]
            assert (verdict.effect, verdict.at) == ("legal", label), (way, rows)
            assert Fraction(verdict.halves, 2) == found[label]
            assert sum(row.halves for row in rows if row.effect == "cost") == verdict.halves
        savepoint.rollback()


@bounded(12)
@given(seed=seeds)
def test_no_step_beyond_the_reach_is_legal(connection: Connection, seed: int) -> None:
    board, mover = paint(seed)
    told = options(mover)
    with connection.begin_nested() as savepoint:
        position = store_position(connection, draft(board, mover))
        found = reached(connection, position, told)
        for label in random.Random(seed).sample(sorted(found), k=min(4, len(found))):
            way = way_to(connection, position, label, told)
            for beyond in neighbours(tuple(SCHEME.hex(label))):
                if beyond in board.terrain and (name := SCHEME.label(beyond)) not in found:
                    assert moved(connection, position, [*way, name], told)[-1].effect != "legal", (way, name)
        savepoint.rollback()


@bounded(30)
@given(seed=seeds)
def test_a_longer_allowance_loses_no_hex_and_makes_none_dearer(connection: Connection, seed: int) -> None:
    board, mover = paint(seed)
    with connection.begin_nested() as savepoint:
        position = store_position(connection, draft(board, mover))
        some = reached(connection, position, options(mover, points=mover.movement))
        more = reached(connection, position, options(mover, points=mover.movement + 1))
        savepoint.rollback()
    dearer = {label for label, cost in some.items() if more.get(label, cost) > cost}
    # 6.3: from cave to cave costs all there is, so more of it
    assert dearer <= ({SCHEME.label(cell) for cell in board.caves} if mover.inside else set())
    assert some.keys() <= more.keys()
    # points that are given count as if the counter printed them
    longer = dataclasses.replace(mover, movement=mover.movement + 1)
    assert more == {SCHEME.label(cell): cost for cell, cost in reach(board, longer).items()}


@bounded(25)
@given(seed=seeds, data=st.data())
def test_a_way_costs_what_its_halves_cost(connection: Connection, seed: int, data: st.DataObject) -> None:
    """Split anywhere: the second half starts with what the first left. Trails, caves and markers say otherwise."""
    board, mover = paint(seed)
    plain = Board(
        board.terrain,
        sides=board.sides,
        paths=tuple(path for path in board.paths if path[0] != "trail"),
        interdiction=board.interdiction,
    )
    mover = Mover(mover.at, mover.side, mover.mobility, mover.movement, mover.weapon, mover.tank)
    told = options(mover)
    with connection.begin_nested() as savepoint:
        position = store_position(connection, draft(plain, mover))
        found = reached(connection, position, told)
        goal = data.draw(st.sampled_from(sorted(found)))
        way = way_to(connection, position, goal, told)
        if len(way) > 2:
            cut = data.draw(st.integers(1, len(way) - 2))
            first = moved(connection, position, way[: cut + 1], told)[-1]
            middle = Axial(*SCHEME.hex(way[cut]))
            ask(connection, "update unit set q = :q, r = :r where position_id = :position returning id",
                q=middle.q, r=middle.r, position=position)  # fmt: skip
            second = moved(
                connection, position, way[cut:], options(mover, points=float(Fraction(first.remaining, 2)))
            )[-1]
            assert (first.effect, second.effect) == ("legal", "legal")
            assert Fraction(first.halves + second.halves, 2) == found[goal]
        savepoint.rollback()


CASE = """
case: words
ruleset: css
map: {{extent: ["30.30", "32.32"], fill: {{terrain: clear}}}}
conditions: {{{conditions}}}
units: [{{id: mover, side: us, at: "30.30", posture: column, mobility: leg, movement: 5}}]
markers: [{marker}]
ask: [{{move: {{unit: mover, path: ["30.31"], {word}}}}}]
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"marker": '{kind: foxhole, at: "30.31", in_cave: true}'}, "has no in_cave"),
        ({"marker": '{kind: dg, value: 1, at: "30.31", in_cave: true}'}, "no cave in 30.31"),
        ({"conditions": "interdiction: 4"}, "interdiction"),
        ({"conditions": "night: 3"}, "night"),
        ({"conditions": 'stacked: {"30.30": {under: 1}}'}, "under"),
        ({"word": "posture: prone"}, "posture"),
        ({"word": 'hits: {"30.30": 0}'}, "hits"),
        ({"word": "exit: true"}, "css knows no 'exit' here"),
    ],
)
def test_a_word_that_cannot_be_is_refused(
    connection: Connection, change: dict[str, str], message: str
) -> None:
    plain = {"conditions": "", "marker": "", "word": "points: 4"}
    assert rule_text(connection, CASE.format(**plain), "words.yaml")[1][0].answer["legal"]
    with pytest.raises(SightlineError, match=message):
        rule_text(connection, CASE.format(**plain | change), "words.yaml")


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ("move(%s, 'nobody', array['30.31'])", "no unit nobody"),
        ("move(%s, 'mover', array['99.99'])", "no hex 99.99"),
        ("move(%s, 'mover', array['30.30'])", "name a hex to go to"),
        ("""move(%s, 'mover', array['30.31'], '{"with": ["enemy"]}')""", "an enemy"),
        ("""move(%s, 'mover', array['30.31'], '{"with": ["tanks"]}')""", "different ways"),
        ("""move(%s, 'mover', array['30.31'], '{"hits": {"31.31": 1}}')""", "not on the way"),
        ("""move(%s, 'mover', array['30.31'], '{"hits": {"30.31": 1}}')""", "30.31, where the way ends"),
        ("""move(%s, 'mover', array['30.31'], '{"hits": {"30.30": 1}, "as": "advance"}')""", "has no hits"),
        ("move(%s, 'away', array['30.31'])", "not on the map"),
        ("reach(%s, 'away')", "not on the map"),
        ("reach_path(%s, 'mover', '99.99')", "no hex 99.99"),
        ("stack(%s, '99.99')", "no hex or unit 99.99"),
        ("""stack(%s, '30.30', '{"stacked": {"99.99": {}}}')""", "no hex 99.99"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    connection: Connection, question: str, message: str
) -> None:
    cells = {(CORNER.q + q, CORNER.r + r) for q in range(2) for r in range(3)}
    position = draft(Board(dict.fromkeys(cells, "clear")), Mover((CORNER.q, CORNER.r)))
    for unit in (
        CssUnit(id="enemy", side="japan", at="30.30"),
        CssUnit(id="tanks", side="us", at="30.30", mobility="tracked", movement=9, posture="column"),
        CssUnit(id="away", side="us", mobility="leg", movement=5),
    ):
        position.units[unit.id] = unit, CORNER if unit.at else None
    stored = store_position(connection, position)
    with pytest.raises(sa.exc.DBAPIError, match=message):
        connection.exec_driver_sql(f"select * from css.{question}", (stored,))
