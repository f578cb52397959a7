"""Zones, triggers and traces of css: what must hold of them in any position, drawn at random."""

from __future__ import annotations

import dataclasses
import itertools
import random
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection

from db.counters import CssUnit, Fire, NavalZone
from db.labels import Axial
from db.map_draft import PathDraft
from db.position_draft import PositionDraft
from tests.oracle_css import Board, Cell, Ground, halves
from tests.oracle_css_zones import STEPS, Counter, Table
from tests.test_sight import SCHEME, Moved, Stored, bounded, draft, moves, paint

EFFECTS = {"opportunity fire", "no opportunity fire", "screened", "roll"}
MARKERS = ("suppressed", "concentrated_fire", "no_opportunity_fire", "sustained_fire", "illumination")


# Random positions


def counters_on(board: Board, dice: random.Random) -> tuple[Counter, ...]:
    """Counters of both sides, each hex to one of them but for caves."""
    found: list[Counter] = []
    for n, cell in enumerate(dice.sample(sorted(board.hexes), k=min(len(board.hexes), dice.randint(3, 9)))):
        side = dice.choice(("us", "japan"))
        for copy in range(dice.choice((1, 1, 2))):
            kind = dice.choice(("infantry", "infantry", "infantry", "tank", "leader"))
            fire = dice.choice(("small_arms", "high_explosive", "white", "indirect"))
            posture = dice.choice(("deployed", "column"))
            found.append(
                Counter(
                    f"{side} {n}.{copy}", side, cell, kind, posture, fire, dice.choice((1, 1, 2, 3, 5, 8))
                )
            )
        if board.hexes[cell].cave and dice.random() < 0.7:
            found.append(Counter(f"cave {n}", "japan", cell, inside=True, range=dice.choice((1, 4))))
        if dice.random() < 0.3:
            found.append(Counter(f"dogs {n}", side, cell, "support_weapon", fire=None, alert=4))
    return tuple(found)


def deal(seed: int, size: tuple[int, int]) -> Table:
    """A position with all that bears on zones, from a seed; without sugar cane, which leaves things open."""
    dice = random.Random(seed)
    board = paint(seed, size)
    markers = dict(board.markers)
    for cell in dice.sample(sorted(board.hexes), k=min(len(board.hexes), 5)):
        markers[cell] = markers.get(cell, frozenset()) | {dice.choice(MARKERS)}
    hexes = {
        cell: dataclasses.replace(
            ground,
            terrain="swamp" if ground.terrain == "sugar_cane" else ground.terrain,
            cave=ground.cave or dice.random() < 0.1,
        )
        for cell, ground in board.hexes.items()
    }
    policy = board.policy | {
        point: dice.choice(letters)
        for point, letters in {"css-42": "ab", "css-47": "ac"}.items()
        if dice.random() < 0.4
    }
    board = dataclasses.replace(board, hexes=hexes, markers=markers, policy=policy)
    return Table(board, counters_on(board, dice))


def position_of(table: Table) -> PositionDraft:
    position = draft(table.board)
    position.units.clear()
    for counter in table.counters:
        unit = CssUnit(
            id=counter.id,
            at=SCHEME.label(counter.cell),
            side=counter.side,
            kind=counter.kind,
            posture=counter.posture or None,
            fire=None if counter.fire is None else Fire(value=3, type=counter.fire, range=counter.range),
            in_cave=counter.inside,
            alert=counter.alert,
        )
        position.units[unit.id] = unit, Axial(*counter.cell)
    return position


AT = {SCHEME.label(cell): cell for cell in paint(1, (5, 5)).hexes}
OPEN = Board({cell: Ground() for cell in AT.values()})
"""Open ground, 30.30 to 34.34."""

tables = st.builds(deal, st.integers(0, 2**32), st.tuples(st.integers(3, 8), st.integers(3, 8)))


def zone(connection: Connection, position: int, unit: str, **given: Any) -> dict[Cell, int]:
    query = sa.text(
        "select q, r, range from css.fire_zone(:position, :unit, :conditions, :policy)"
    ).bindparams(*(sa.bindparam(name, type_=JSONB(none_as_null=True)) for name in ("conditions", "policy")))
    values = {"position": position, "unit": unit, "conditions": None, "policy": None} | given
    rows = connection.execute(query, values).all()
    assert len({(row.q, row.r) for row in rows}) == len(rows)
    return {(row.q, row.r): row.range for row in rows}


# Zones


@bounded(40)
@given(table=tables)
def test_a_zone_is_what_is_seen_within_range(connection: Connection, table: Table) -> None:
    with Stored(connection, position_of(table)) as position:
        for counter in table.counters:
            assert zone(connection, position, counter.id) == table.zone(counter), counter.id


@bounded(25)
@given(table=tables)
def test_the_zone_of_a_side_is_that_of_its_units(connection: Connection, table: Table) -> None:
    with Stored(connection, position_of(table)) as position:
        for side in ("us", "japan"):
            rows = connection.execute(
                sa.text("select by, q, r, range from css.side_zone(:position, :side)"),
                {"position": position, "side": side},
            ).all()
            assert {tuple(row) for row in rows} == {
                (counter.id, *cell, range)
                for counter in table.counters
                if counter.side == side
                for cell, range in zone(connection, position, counter.id).items()
            }


@bounded(20)
@given(table=tables, moved=moves)
def test_turning_mirroring_and_shifting_a_map_change_no_zone(
    connection: Connection, table: Table, moved: Moved
) -> None:
    other = Table(
        moved.board(table.board),
        tuple(dataclasses.replace(counter, cell=moved.hex(counter.cell)) for counter in table.counters),
    )
    zones = []
    for one in (table, other):
        with Stored(connection, position_of(one)) as position:
            zones.append({unit.id: zone(connection, position, unit.id) for unit in table.counters})
    assert zones[1] == {
        unit: {moved.hex(cell): range for cell, range in found.items()} for unit, found in zones[0].items()
    }


@bounded(20)
@given(table=tables, place=st.integers(0, 1000), kind=st.sampled_from(["heavy_barrage", "bombardment"]))
def test_a_barrage_lets_no_zone_grow(connection: Connection, table: Table, place: int, kind: str) -> None:
    cells = sorted(table.board.hexes)
    with Stored(connection, position_of(table)) as position:
        before = {unit.id: zone(connection, position, unit.id) for unit in table.counters}
        connection.execute(
            sa.text(
                "insert into marker (position_id, map_id, q, r, kind)"
                " select id, map_id, :q, :r, :kind from position where id = :position"
            ),
            dict(zip("qr", cells[place % len(cells)], strict=True)) | {"kind": kind, "position": position},
        )
        for unit, found in before.items():
            after = zone(connection, position, unit)
            assert after.keys() <= found.keys(), unit


@bounded(20)
@given(table=tables, place=st.integers(0, 1000))
def test_an_enemy_beside_it_lets_no_zone_grow(connection: Connection, table: Table, place: int) -> None:
    unit = table.counters[place % len(table.counters)]
    around = [(unit.cell[0] + dq, unit.cell[1] + dr) for dq, dr in STEPS]
    free = [
        cell
        for cell in around
        if cell in table.board.hexes and all(other.cell != cell for other in table.counters)
    ]
    if not free:
        return
    enemy = Counter("new", "us" if unit.side == "japan" else "japan", free[0])
    with Stored(connection, position_of(table)) as position:
        before = zone(connection, position, unit.id)
    with Stored(
        connection, position_of(dataclasses.replace(table, counters=(*table.counters, enemy)))
    ) as position:
        after = zone(connection, position, unit.id)
    assert after.keys() <= before.keys()
    assert all(range == 1 for range in after.values())


@bounded(15)
@given(table=tables, place=st.integers(0, 1000))
def test_the_cache_changes_no_zone(connection: Connection, table: Table, place: int) -> None:
    # what is chosen in so many words is not the position's own: then nothing is taken from the cache
    chosen = table.board.policy | {"of nothing": "a"}
    cells = sorted(table.board.hexes)
    edit = dict(zip("qr", cells[place % len(cells)], strict=True)) | {"code": table.counters[0].id}
    with Stored(connection, position_of(table)) as position:
        for _ in range(2):
            for counter in table.counters:
                live = zone(connection, position, counter.id, policy=chosen)
                assert zone(connection, position, counter.id) == live
                assert zone(connection, position, counter.id) == live
            connection.execute(
                sa.text("update unit set q = :q, r = :r where position_id = :position and code = :code"),
                edit | {"position": position},
            )


def test_the_second_question_about_a_zone_is_answered_from_the_cache(connection: Connection) -> None:
    gun = Counter("gun", "us", AT["30.32"], range=3)
    with Stored(connection, position_of(Table(OPEN, (gun,)))) as position:
        assert zone(connection, position, "gun") == Table(OPEN, (gun,)).zone(gun)
        connection.execute(
            sa.text("update viewshed set ranges[1] = 77 where position_id = :position"),
            {"position": position},
        )
        assert 77 in zone(connection, position, "gun").values()


def reasons(connection: Connection, unit: Counter, **facts: Any) -> list[tuple[str, str]]:
    """Rule and effect of all that makes the zone of a counter on open ground, with an enemy beside it."""
    enemy = Counter("enemy", "us" if unit.side == "japan" else "japan", AT["33.33"])
    with Stored(
        connection, position_of(Table(dataclasses.replace(OPEN, **facts), (unit, enemy)))
    ) as position:
        rows = connection.execute(
            sa.text("select * from css.fire_zone_reasons(:position, :unit)"),
            {"position": position, "unit": unit.id},
        ).all()
    return [(row.rule, row.effect) for row in rows if row.effect != "graze"]


def test_a_zone_names_every_rule_that_makes_it(connection: Connection) -> None:
    gun = Counter("gun", "japan", AT["30.30"], range=4)
    printed = ("8.1", "range")
    assert reasons(connection, gun) == [printed]
    assert reasons(connection, gun, conditions={"time": "night"}) == [printed, ("17.0", "visibility")]
    assert reasons(connection, gun, conditions={"weather": "rain"}) == [printed, ("7.1.2", "visibility")]
    far = dataclasses.replace(gun, range=12)
    assert reasons(connection, far) == [printed, ("7.1.2", "visibility")]
    barrage, bombardment = ({AT["30.30"]: frozenset({kind})} for kind in ("light_barrage", "bombardment"))
    assert reasons(connection, gun, markers=barrage) == [printed, ("8.7.2", "one hex")]
    assert reasons(connection, gun, markers=bombardment) == [printed, ("8.7.7", "one hex")]
    beset = dataclasses.replace(gun, cell=AT["33.32"])
    assert reasons(connection, beset) == [printed, ("7.2", "one hex")]
    leader = dataclasses.replace(beset, kind="leader")
    assert reasons(connection, leader) == [("2.0", "no zone")], "no enemy shortens what a marker has not"


# Triggers


def walk(table: Table, dice: random.Random) -> tuple[Counter, list[Cell], set[str]]:
    """A unit that goes some way, through the mouth of a cave now and then, and who goes along."""
    mover = dice.choice([counter for counter in table.counters if counter.is_unit])
    way, inside = [mover.cell], mover.inside
    for _ in range(dice.randint(1, 4)):
        q, r = way[-1]
        cave = table.board.hexes[way[-1]].cave and mover.side == "japan"
        nexts = [(q + dq, r + dr) for dq, dr in STEPS if (q + dq, r + dr) in table.board.hexes]
        if inside:
            nexts = [cell for cell in nexts if table.board.hexes[cell].cave]
        if (cave and dice.random() < 0.3) or not nexts:
            if not cave:
                break
            nexts = [way[-1]]
        way.append(dice.choice(nexts))
        inside = inside != (way[-1] == way[-2])
    along = {
        counter.id
        for counter in table.counters
        if (counter.side, counter.cell, counter.inside) == (mover.side, mover.cell, mover.inside)
        and counter.id != mover.id
        and dice.random() < 0.3
    }
    return mover, way, along


def triggers(
    connection: Connection, position: int, mover: str, way: list[Cell], **options: Any
) -> list[sa.Row[Any]]:
    query = sa.text(
        """
        with way as materialized (
          select mover, array(select leg from css._legs(mover, :qs, :rs) as leg) as legs
          from css._mover(:position, :mover, :options, null, null) as mover
        )
        select leg.n, step.*
        from way
        cross join lateral unnest(way.legs) as leg
        cross join lateral css._op_fire_steps(
          way.mover, leg, array(select gunner from css._gunners(way.mover, way.legs) as gunner)
        ) as step
        """
    ).bindparams(sa.bindparam("options", type_=JSONB))
    values = {"qs": [q for q, _ in way], "rs": [r for _, r in way], "options": options}
    return list(connection.execute(query, {"position": position, "mover": mover} | values))


@bounded(100)
@given(table=tables, seed=st.integers(0, 2**32))
def test_a_way_triggers_what_the_oracle_says(connection: Connection, table: Table, seed: int) -> None:
    if not any(counter.is_unit for counter in table.counters):
        return
    mover, way, along = walk(table, random.Random(seed))
    with Stored(connection, position_of(table)) as position:
        rows = triggers(connection, position, mover.id, way, **{"with": sorted(along)})
    found = {(row.n, row.by, row.effect) for row in rows if row.effect in EFFECTS}
    assert found == table.triggers(mover.id, way, along)
    assert all(SCHEME.hex(row.at) == way[row.n - 1] for row in rows)


def told(connection: Connection, counters: tuple[Counter, ...], way: list[str], **facts: Any) -> set[Any]:
    """Effect, rule, enemy and point of all that a way of the first counter triggers on open ground."""
    board = dataclasses.replace(OPEN, **facts)
    with Stored(connection, position_of(Table(board, counters))) as position:
        rows = triggers(connection, position, counters[0].id, [AT[label] for label in way])
    return {(row.effect, row.rule, row.by, row.point) for row in rows}


def test_an_enemy_whose_fire_is_not_told_may_or_may_not_fire(connection: Connection) -> None:
    mover, enemy = Counter("A", "us", AT["31.31"]), Counter("X", "japan", AT["31.33"], fire=None)
    assert told(connection, (mover, enemy), ["31.31", "31.30"]) == {("unknown", "8.6", "X", None)}


def test_a_friend_whose_posture_is_not_told_may_or_may_not_screen(connection: Connection) -> None:
    mover, enemy = Counter("A", "us", AT["31.31"]), Counter("X", "japan", AT["31.32"])
    friend = Counter("B", "us", AT["31.31"], posture="")
    assert told(connection, (mover, enemy, friend), ["31.31", "31.30"]) == {("unknown", "8.6", "X", None)}
    # from zone to zone no screen counts
    assert told(connection, (mover, enemy, friend), ["31.31", "30.32"]) == {
        ("opportunity fire", "8.6", "X", None)
    }


def test_an_enemy_beside_it_does_not_tell_what_a_counter_fires(connection: Connection) -> None:
    mover, enemy = Counter("A", "us", AT["31.31"]), Counter("X", "japan", AT["31.32"], fire=None)
    other = Counter("B", "us", AT["32.33"])
    assert told(connection, (mover, enemy, other), ["31.31", "31.30"]) == {("unknown", "8.6", "X", None)}


def test_a_mortar_of_untold_posture_fires_one_hex_at_most(connection: Connection) -> None:
    mover = Counter("A", "us", AT["31.31"])
    far, near = (
        Counter("81mm", "japan", AT[label], posture="", fire="indirect", range=8)
        for label in ("31.33", "31.32")
    )
    touched = ("contested", "7.2", "81mm", "css-47")
    assert told(connection, (mover, far), ["31.31", "31.30"]) == {touched}
    assert told(connection, (mover, near), ["31.31", "31.30"]) == {touched, ("unknown", "8.6", "81mm", None)}


def test_an_ambush_unit_is_deployed_and_screens(connection: Connection) -> None:
    mover, enemy = Counter("A", "japan", AT["31.31"]), Counter("X", "us", AT["31.32"])
    friend = Counter("B", "japan", AT["31.31"], "ambush", posture="")
    assert told(connection, (mover, enemy, friend), ["31.31", "31.30"]) == {("screened", "8.6", "X", None)}


@pytest.mark.parametrize(
    ("gunner", "weapon", "sustains"),
    [
        ({"posture": "deployed", "formation": "3 RCT"}, {"formation": "3 RCT"}, True),
        ({"posture": "column", "formation": "3 RCT"}, {"formation": "3 RCT"}, False),
        ({"posture": "column"}, {"target": "tank"}, True),
        ({"posture": "deployed", "formation": "3 RCT"}, {"formation": "9 RCT"}, False),
        ({"posture": "deployed"}, {"formation": "9 RCT"}, True),
    ],
)
def test_who_may_use_a_support_weapon(
    connection: Connection, gunner: dict[str, str], weapon: dict[str, str], sustains: bool
) -> None:
    query = sa.text("select css._serves(:weapon, :gunner)").bindparams(
        sa.bindparam("weapon", type_=JSONB), sa.bindparam("gunner", type_=JSONB)
    )
    assert connection.execute(query, {"weapon": weapon, "gunner": gunner}).scalar() is sustains
    enemy = CssUnit(id="X", at="31.32", side="us", fire=Fire(value=3, type="small_arms", range=1), **gunner)
    gun = CssUnit(id="HMG", at="31.32", side="us", kind="support_weapon", sustained_fire=True, **weapon)
    position = position_of(Table(OPEN, (Counter("A", "japan", AT["31.31"]),)))
    position.units |= {unit.id: (unit, Axial(*AT["31.32"])) for unit in (enemy, gun)}
    with Stored(connection, position) as stored:
        rows = triggers(connection, stored, "A", [AT["31.31"], AT["31.30"]])
    assert ("sustained fire" in {row.effect for row in rows}) == sustains


def test_an_alert_weapon_adds_to_fire_that_is_allowed(connection: Connection) -> None:
    mover, enemy = Counter("A", "us", AT["31.31"]), Counter("X", "japan", AT["31.32"])
    dogs = Counter("dogs", "japan", AT["31.32"], "support_weapon", fire=None, alert=4)
    assert told(connection, (mover, enemy, dogs), ["31.31", "31.30"]) == {
        ("opportunity fire", "8.6", "X", None),
        ("alert", "12.5", "X", None),
    }


def test_a_hex_under_a_sustained_fire_marker_goes_on_firing(connection: Connection) -> None:
    mover, enemy = Counter("A", "us", AT["31.31"]), Counter("X", "japan", AT["31.32"])
    marked = {AT["31.32"]: frozenset({"sustained_fire"})}
    assert told(connection, (mover, enemy), ["31.31", "31.30"], markers=marked) == {
        ("opportunity fire", "8.6", "X", None),
        ("sustained fire", "8.6.1", "X", None),
    }


def test_a_trigger_names_the_points_that_it_turns_on(connection: Connection) -> None:
    mover = Counter("A", "japan", AT["31.31"])
    mortar = Counter("81mm", "us", AT["31.32"], posture="column", fire="indirect", range=8)
    night = {"time": "night"}
    assert told(connection, (mover, mortar), ["31.31", "31.30"], conditions=night) == {
        ("no opportunity fire", "8.6.2", "81mm", "css-42"),
        ("contested", "7.2", "81mm", "css-47"),
    }
    assert told(
        connection,
        (mover, mortar),
        ["31.31", "31.30"],
        conditions=night,
        policy={"css-42": "a", "css-47": "c"},
    ) == {("contested", "7.2", "81mm", "css-47")}


def test_a_lit_hex_is_named_where_it_undoes_infiltration(connection: Connection) -> None:
    mover, enemy = Counter("A", "japan", AT["31.31"]), Counter("X", "us", AT["31.32"])
    lit = {"conditions": {"time": "night"}, "markers": {AT["31.31"]: frozenset({"illumination"})}}
    assert told(connection, (mover, enemy), ["31.31", "31.30"], **lit) == {
        ("opportunity fire", "8.6", "X", None),
        ("lit", "8.6.2", "X", None),
    }


def test_an_advance_after_an_assault_triggers_nothing(connection: Connection) -> None:
    counters = Counter("A", "us", AT["31.31"]), Counter("X", "japan", AT["31.32"])
    way = [AT["31.31"], AT["31.30"]]
    with Stored(connection, position_of(Table(OPEN, counters))) as position:
        [row] = triggers(connection, position, "A", way, **{"as": "advance"})
        [fire] = triggers(connection, position, "A", way, **{"as": "move"})
    assert (row.n, row.rule, row.at, row.effect) == (1, "8.6", "31.31", "no opportunity fire")
    assert (fire.n, fire.effect, fire.by) == (1, "opportunity fire", "X")


def test_who_lands_is_fired_at_on_the_beach(connection: Connection) -> None:
    gun, far = Counter("gun", "japan", AT["31.33"], range=2), Counter("far", "japan", AT["33.33"])
    position = position_of(Table(OPEN, (gun, far, Counter("ashore", "us", AT["31.31"]))))
    zone_of = NavalZone(beach="31.31", run="final_run_in")
    position.units["A"] = CssUnit(id="A", side="us", zone=zone_of), None
    with Stored(connection, position) as stored:
        rows = triggers(connection, stored, "A", [AT["31.31"]])
    assert [(row.n, row.effect, row.rule, row.at, row.by) for row in rows] == [
        (1, "opportunity fire", "22.3.2", "31.31", "gun")
    ]


# Traces


@bounded(50)
@given(table=tables, seed=st.integers(0, 2**32))
def test_a_trace_is_as_long_as_the_oracle_says(connection: Connection, table: Table, seed: int) -> None:
    dice = random.Random(seed)
    roads = [
        side
        for side in ((2 * q + dq, 2 * r + dr) for q, r in table.board.hexes for dq, dr in STEPS[1:4])
        if dice.random() < 0.15
    ]
    start, target = (dice.choice(sorted(table.board.hexes)) for _ in range(2))
    traced_for = dice.choice(("leader", "support_weapon", "tank_support_weapon"))
    side = dice.choice(("us", "japan"))
    held = {counter.cell for counter in table.counters if counter.side != side and not counter.inside}
    if start in held:
        return
    hq = Counter("HQ", side, start, "hq", fire="small_arms")
    table = dataclasses.replace(table, counters=(*table.counters, hq))
    position = position_of(table)
    links = [(cell, other) for cell, other in map(halves, roads) if {cell, other} <= table.board.hexes.keys()]
    position.board.paths.extend(PathDraft("trail", (Axial(*one), Axial(*two))) for one, two in links)
    with Stored(connection, position) as position_id:
        rows = connection.execute(
            sa.text("select * from css.trace_path(:position, :start, :target, :for, :side)"),
            {
                "position": position_id,
                "start": "HQ",
                "target": SCHEME.label(target),
                "for": traced_for,
                "side": side,
            },
        ).all()
    steps = table.trace(
        side,
        start,
        target,
        "tracked" if traced_for == "tank_support_weapon" else "leg",
        {start, target} if traced_for == "leader" else {target},
        {(one[0] + two[0], one[1] + two[1]) for one, two in links},
    )
    verdict = rows[-1]
    assert verdict.effect == ("closed" if steps is None else "open")
    assert len(verdict.path) == (0 if steps is None else steps + 1)
    if steps is not None:
        way = [SCHEME.hex(label) for label in verdict.path]
        assert (way[0], way[-1]) == (start, target)
        assert all(one.distance(two) == 1 for one, two in itertools.pairwise(way))
    else:
        assert any(row.effect == "blocks" for row in rows), "what is closed has a reason"


# What cannot be asked


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("css.fire_zone(:position, 'nobody')", "there is no unit nobody"),
        ("css._mover(:position, 'nobody', null, null, null)", "no unit nobody"),
        ("css.trace_path(:position, 'nobody', '30.30', 'leader')", "one of them is not on the map"),
        ("css.trace_path(:position, '30.30', '30.31', 'leader')", "whose trace"),
        ("css.trace_path(:position, '30.30', '30.31', 'luck', 'us')", "nothing is traced for luck"),
        ("css.trace_path(:position, '30.30', '30.31', 'routed', 'us')", "which unit routs"),
        ("css.trace_path(:position, 'A', '30.31', 'support_weapon')", "neither A nor 30.31 has one"),
        ("css.trace_path(:position, 'A', 'B', 'leader')", "they are not of one side"),
        ("css.trace_path(:position, 'B', '30.31', 'routed')", "B is inside a cave"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(connection: Connection, call: str, message: str) -> None:
    table = deal(1, (4, 4))
    cells = sorted(table.board.hexes)
    counters = (Counter("A", "us", cells[0]), Counter("B", "japan", cells[0], inside=True))
    with (
        Stored(connection, position_of(dataclasses.replace(table, counters=counters))) as position,
        pytest.raises(sa.exc.DBAPIError, match=message),
        connection.begin_nested(),
    ):
        connection.execute(sa.text(f"select * from {call}"), {"position": position})
