"""Movement, stacking and fire reach of ccp: what SQL rules is what a plain reading of the rules finds."""

from __future__ import annotations

import functools
import json
import random
import re
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from app.referee.questions import forms, kinds_of
from app.referee.rulings import Ruling, rule_case
from db import SightlineError
from importers.cases import read_case, store_position
from tests.conftest import ROOT
from tests.oracle_ccp_moves import Board, Counter, neighbours

LABELS = [f"{column}{row}" for column in "ABCDEF" for row in range(1, 7)]
GROUND = ["open_ground"] * 4 + [
    "palm", "beach", "building", "bush", "grass", "gully", "hut", "jungle", "stream", "swamp", "bridge",
    "water_barrier",
]  # fmt: skip
FORTS = ["wire", "trench", "trench", "pillbox", "bunker", "foxholes", "mines", "blaze"]
FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
dice = st.integers(0, 2**32).map(random.Random)
"""One number makes a whole position: drawn hex by hex it would take longer than it is ruled on."""
Document = dict[str, Any]


def drawn(rng: random.Random, enemies: int = 1, paths: int = 2) -> Document:
    """A map of 36 hexes with all that movement knows, and counters of both sides on it."""
    hexes = {label: {"terrain": rng.choice(GROUND), "level": rng.choice([0, 0, 0, 1, 2])} for label in LABELS}
    for ground in hexes.values():
        if ground["terrain"] == "bridge":
            ground["features"] = [rng.choice(["stream", "gully", "swamp", "water_barrier"])]
    land = [label for label in LABELS if hexes[label]["terrain"] not in ("stream", "swamp", "water_barrier")]
    forts = {label: rng.choice(FORTS) for label in rng.sample(land, 8)}
    free = [label for label in LABELS if forts.get(label) != "blaze"]
    origin = rng.choice(free)
    movers = [_counter(rng, "U0", "squad", origin)]
    for n in range(rng.randint(0, 2)):
        movers.append(_counter(rng, f"U0 with {n}", rng.choice(["team", "leader", "scout"]), origin))
    others = [
        _counter(rng, f"friend {n}", rng.choice(["leader", "hero", "squad"]), rng.choice(free))
        for n in range(rng.randint(0, 3))
    ]
    foes = [label for label in free if label not in {unit["at"] for unit in (*movers, *others)}]
    against = [
        _counter(rng, f"foe {n}", rng.choice(["squad", "leader"]), rng.choice(foes), "japan")
        for n in range(rng.randint(0, enemies))
    ]
    return {
        "case": "test",
        "ruleset": "ccp",
        "conditions": {"night": rng.random() < 0.5},
        "map": {
            "extent": ["A1", "F6"],
            "fill": {"terrain": "open_ground"},
            "hexes": hexes,
            "paths": [_path(rng, origin) for _ in range(paths)],
        },
        "units": [*movers, *others, *against],
        "markers": [{"kind": kind, "at": label} for label, kind in forts.items()],
    }


def _path(rng: random.Random, origin: str) -> Document:
    """A road or trail that begins where the movers are, or beside them."""
    chain = [rng.choice([origin, *(label for label in neighbours(origin) if label in LABELS)])]
    for _ in range(rng.randint(1, 6)):
        onward = [label for label in neighbours(chain[-1]) if label in LABELS and label not in chain]
        chain += [rng.choice(onward)] if onward else []
    return {"kind": rng.choice(["road", "trail"]), "hexes": chain}


def _counter(rng: random.Random, name: str, kind: str, at: str, side: str = "allied") -> Counter:
    unit: Counter = {
        "id": name, "side": side, "kind": kind, "at": at, "movement": rng.randint(0, 6),
        "fp": rng.randint(1, 6), "range": rng.randint(1, 5), "morale": rng.randint(4, 9),
    }  # fmt: skip
    if kind in ("leader", "hero"):
        unit["command"] = rng.randint(0, 2)
    for flag in ("veteran", "suppressed", "broken"):
        unit[flag] = rng.random() < 0.25
    if kind in ("squad", "team") and rng.random() < 0.5:
        unit["weapon"] = {
            "name": "gun", "fp": rng.randint(1, 6), "range": rng.randint(1, 5),
            "movement": rng.randint(-2, 0), "ordnance": rng.random() < 0.5,
        }  # fmt: skip
    return unit


def stored(connection: Connection, document: Document) -> int:
    asked = document | {"ask": [{"range": {"from": "A1", "to": "A2"}}]}
    return store_position(connection, read_case(json.dumps(asked), "test.yaml", forms(), connection).position)


def board_of(connection: Connection, document: Document, position: int) -> Board:
    @functools.cache
    def seen(label: str) -> bool:
        return any(sees(connection, position, unit["id"], label) is not None for unit in foes)

    foes = [unit for unit in document["units"] if unit["side"] == "japan"]
    hexes = document["map"]["hexes"]
    sides: dict[frozenset[str], set[str]] = {}
    for path in document["map"]["paths"]:
        for pair in zip(path["hexes"], path["hexes"][1:], strict=False):
            sides.setdefault(frozenset(pair), set()).add(path["kind"])
    marked: dict[str, set[str]] = {}
    for marker in document["markers"]:
        marked.setdefault(marker["at"], set()).add(marker["kind"])
    return Board(
        {label: ground["terrain"] for label, ground in hexes.items()},
        {label: ground["level"] for label, ground in hexes.items()},
        {label: ground["features"][0] for label, ground in hexes.items() if "features" in ground},
        sides,
        marked,
        document["units"],
        document["conditions"]["night"],
        seen,
    )


def sees(connection: Connection, position: int, unit: str, label: str) -> int | None:
    """The Hindrance from a unit to a hex; None: out of sight."""
    rows = connection.execute(
        sa.text("select effect, hindrance from ccp.los(:p, :u, :h)"), {"p": position, "u": unit, "h": label}
    ).all()
    return rows[-1].hindrance if rows[-1].effect == "visible" else None


def reach(connection: Connection, position: int, **options: Any) -> dict[str, int]:
    rows = connection.execute(
        sa.text("select label, halves from ccp.reach(:p, 'U0', cast(:o as jsonb))"),
        {"p": position, "o": json.dumps(options)},
    )
    return {row.label: row.halves for row in rows}


def moved(
    connection: Connection, position: int, path: list[str], unit: str = "U0", **options: Any
) -> list[Any]:
    return list(
        connection.execute(
            sa.text("select * from ccp.move(:p, :u, :path, cast(:o as jsonb))"),
            {"p": position, "u": unit, "path": path, "o": json.dumps(options)},
        )
    )


def movers_of(document: Document) -> list[Counter]:
    return [unit for unit in document["units"] if unit["id"].startswith("U")]


@FEW
@given(rng=dice)
def test_reach_is_what_a_plain_search_finds(connection: Connection, rng: random.Random) -> None:
    document = drawn(rng)
    position = stored(connection, document)
    board = board_of(connection, document, position)
    movers = movers_of(document)
    assert reach(connection, position) == board.reach(movers[:1])
    together = {"with": [unit["id"] for unit in movers[1:]]}
    assert reach(connection, position, **together) == board.reach(movers)


@FEW
@given(rng=dice)
def test_a_cheapest_way_is_a_legal_move_at_that_cost(connection: Connection, rng: random.Random) -> None:
    document = drawn(rng, enemies=0)
    position = stored(connection, document)
    found = reach(connection, position)
    goal = rng.choice(sorted(found))
    way = connection.execute(
        sa.text("select label, halves from ccp.reach_path(:p, 'U0', :to)"), {"p": position, "to": goal}
    ).all()
    assert (way[0].label, way[0].halves) == (document["units"][0]["at"], 0)
    assert (way[-1].label, way[-1].halves) == (goal, found[goal])
    if len(way) > 1:
        rows = moved(connection, position, [row.label for row in way])
        assert rows[-1].effect == "legal"
        assert rows[-1].halves == found[goal]
        assert sum(row.halves for row in rows if row.effect == "cost") == found[goal]
        assert all(row.halves > 0 for row in rows if row.effect == "cost")


@FEW
@given(rng=dice)
def test_more_points_lose_no_hex_and_cheapen_none(connection: Connection, rng: random.Random) -> None:
    document = drawn(rng, enemies=0)
    position = stored(connection, document)
    water = {
        label
        for label, ground in document["map"]["hexes"].items()
        if "water_barrier" in (ground["terrain"], *ground.get("features", ()))
    }
    before: dict[str, int] = {}
    for points in ("0", "1.5", "3", "6"):
        now = reach(connection, position, points=points)
        assert before.keys() <= now.keys()
        assert all(now[label] == cost for label, cost in before.items() if label not in water)
        assert all(cost <= 2 * Decimal(points) for cost in now.values())
        before = now


@FEW
@given(rng=dice)
def test_a_way_in_two_parts_costs_the_same(connection: Connection, rng: random.Random) -> None:
    """Unless wire or water ends the first part, or the way fails."""
    document = drawn(rng, enemies=0)
    path = [document["units"][0]["at"]]
    for _ in range(4):
        path.append(rng.choice([label for label in neighbours(path[-1]) if label in LABELS]))
    twin = {"id": "T", "side": "allied", "kind": "scout", "movement": 1, "at": path[2]}
    position = stored(connection, document | {"units": [*document["units"], twin]})
    whole = moved(connection, position, path, points="40")[-1]
    first = moved(connection, position, path[:3], points="40")[-1]
    second = moved(connection, position, path[2:], unit="T", points="40")[-1]
    if whole.effect == "legal":
        assert (first.effect, second.effect) == ("legal", "legal")
        assert whole.halves == first.halves + second.halves
    elif first.effect == "legal" and first.remaining > 0:
        assert second.effect == "illegal" or second.halves == 80
    else:
        assert first.effect == "illegal" or first.remaining == 0


@FEW
@given(rng=dice)
def test_op_fire_is_by_all_who_reach_and_see_the_hex(connection: Connection, rng: random.Random) -> None:
    document = drawn(rng, enemies=2, paths=0)
    position = stored(connection, document)
    board = board_of(connection, document, position)
    origin = document["units"][0]["at"]
    for goal in rng.sample([label for label in neighbours(origin) if label in LABELS], 2):
        rows = moved(connection, position, [goal], points="20")
        if rows[-1].effect != "legal":
            continue
        expected = set()
        for enemy in (unit for unit in document["units"] if unit["side"] == "japan"):
            far = distance(enemy["at"], goal)
            strengths = [fp for most, fp in board.arms(enemy) if far <= most]
            hindrance = sees(connection, position, enemy["id"], goal)
            if not strengths or hindrance is None:
                continue
            height = board.level[enemy["at"]] - board.level[goal]
            strength = max(strengths) + len(strengths) - 1 + (height > 0) - (height < 0)
            if strength > hindrance:
                expected.add(enemy["id"])
        found = {row.by for row in rows if row.effect == "opportunity fire"}
        assert found == (set() if board.entrenched(origin, goal) else expected)


def distance(one: str, two: str) -> int:
    """Hexes from one to the other, counted by going there."""
    rings, away = {one}, 0
    while two not in rings:
        rings |= {beside for label in rings for beside in neighbours(label) if beside in LABELS}
        away += 1
    return away


@settings(FEW, max_examples=4)
@given(rng=dice)
def test_fire_reach_is_range_sight_and_strength(connection: Connection, rng: random.Random) -> None:
    document = drawn(rng, enemies=2, paths=0)
    position = stored(connection, document)
    board = board_of(connection, document, position)
    unit = document["units"][0] | {"weapon": None}
    zone = set(
        connection.scalars(
            sa.text("select label from ccp.fire_zone(:p, 'U0') where arm = 'unit'"), {"p": position}
        )
    )
    expected = set()
    for far, strength in board.arms(unit):
        for label in LABELS:
            away = distance(unit["at"], label)
            hindrance = sees(connection, position, "U0", label) if 0 < away <= far else None
            height = board.level[unit["at"]] - board.level[label]
            melee = len({other["side"] for other in document["units"] if other["at"] == label}) > 1
            if hindrance is not None and strength + (height > 0) - (height < 0) > hindrance and not melee:
                expected.add(label)
    assert zone == expected


@FEW
@given(rng=dice)
def test_figures_and_cover_are_counted_as_the_rules_say(connection: Connection, rng: random.Random) -> None:
    document = drawn(rng, enemies=3, paths=0)
    position = stored(connection, document)
    board = board_of(connection, document, position)
    for label in {unit["at"] for unit in document["units"]}:
        rows = connection.execute(
            sa.text("select effect, facts from ccp.stack(:p, :h)"), {"p": position, "h": label}
        ).all()
        assert (rows[-1].facts["figures"], rows[-1].facts["cover"]) == board.stack(label)


SMALL: Document = {
    "case": "test",
    "ruleset": "ccp",
    "map": {"extent": ["A1", "C5"], "fill": {"terrain": "open_ground"}},
    "units": [
        {"id": "U0", "side": "allied", "kind": "squad", "movement": 4, "at": "B2"},
        {"id": "off", "side": "allied", "kind": "squad", "movement": 4},
        {"id": "foe", "side": "japan", "kind": "squad", "fp": 5, "range": 1, "at": "B5"},
        {"id": "plane", "side": "japan", "kind": "aircraft", "at": "B3"},
    ],
}


def ruled(connection: Connection, question: dict[str, Any], **more: Any) -> Ruling:
    text = json.dumps(SMALL | more | {"ask": [question]})
    case = read_case(text, "test.yaml", forms(), connection)
    [ruling] = rule_case(connection, case, kinds_of("ccp"))
    return ruling


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"move": {"unit": "off", "path": ["B3"]}}, "off is not on the map"),
        ({"move": {"unit": "plane", "path": ["B4"]}}, "plane is an aircraft"),
        ({"move": {"unit": "U0", "path": ["B3"], "with": ["foe"]}}, "foe is no friend of U0"),
        ({"reach": {"unit": "U0", "posture": "column"}}, "ccp knows no 'posture'"),
        ({"fire_zone": {"unit": "off"}}, "off is not on the map"),
        (
            {"move": {"unit": "U0", "path": ["B3"], "hidden_wire": ["B3"], "hidden_mines": ["B3"]}},
            "either wire or mines are revealed in B3",
        ),
    ],
)
def test_a_question_without_sense_is_refused(
    connection: Connection, question: Document, message: str
) -> None:
    with pytest.raises(SightlineError, match=f"(?i){message}"):
        ruled(connection, question)


def test_an_aircraft_is_no_enemy_in_the_way(connection: Connection) -> None:
    assert ruled(connection, {"move": {"unit": "U0", "path": ["B3"]}}).answer["legal"] is True


def test_a_way_that_enters_no_hex_is_no_move(connection: Connection) -> None:
    assert ruled(connection, {"move": {"unit": "U0", "path": ["B2"]}}).answer["legal"] is False


def test_all_reasons_against_a_step_are_told(connection: Connection) -> None:
    markers = [{"kind": "blaze", "at": "B4"}, {"kind": "wire", "at": "B3"}]
    ruling = ruled(connection, {"move": {"unit": "U0", "path": ["B3", "B4"], "points": 1}}, markers=markers)
    assert [step.rule for step in ruling.steps if step.effect == "forbids"] == ["F107.2", "O29.4"]


def test_an_overstacked_end_is_told_with_its_price(connection: Connection) -> None:
    units = [*SMALL["units"], {"id": "friend", "side": "allied", "kind": "squad", "at": "B3"}]
    ruling = ruled(connection, {"move": {"unit": "U0", "path": ["B3"]}}, units=units)
    assert [step.rule for step in ruling.steps if step.effect == "overstacked"] == ["15.2.2"]


def test_op_fire_that_hangs_on_a_broken_leader_is_contested(connection: Connection) -> None:
    leader = {"id": "boss", "side": "japan", "kind": "leader", "command": 1, "broken": True, "at": "B5"}
    question = {"move": {"unit": "U0", "path": ["B3"]}}
    ruling = ruled(connection, question, units=[*SMALL["units"], leader])
    assert ruling.answer["opportunity_fire"] == []
    assert ruling.contested == [{"point": "ccp-29", "reading": "a", "decides": True}]
    whole = ruled(connection, question, units=[*SMALL["units"], leader | {"broken": False}])
    assert (whole.answer["opportunity_fire"], whole.contested) == ([{"by": "foe", "at": "B3"}], [])


def test_every_part_of_a_morale_is_told(connection: Connection) -> None:
    units = [
        {"id": "S", "side": "allied", "kind": "squad", "morale": 7, "veteran": True, "at": "B2"},
        {"id": "L", "side": "allied", "kind": "leader", "morale": 8, "command": 2, "at": "B2"},
    ]
    ruling = ruled(connection, {"stack": {"hex": "B2"}}, units=units, markers=[{"kind": "wire", "at": "B2"}])
    parts = [(step.rule, step.effect) for step in ruling.steps if (step.note or "").startswith("S: ")]
    assert parts == [
        ("3.1.4", "7"), ("3.3.1.2", "+2"), ("4.1.2", "+1"), ("F107.1", "-1"), ("T81.3.1", "+0"),
    ]  # fmt: skip
    assert ruling.answer["morale"] == {"S": 9, "L": 7}


def test_an_advance_tells_what_it_meets(connection: Connection) -> None:
    question = {"move": {"unit": "U0", "path": ["B3"], "as": "advance", "hidden_wire": ["B3", "C3"]}}
    ruling = ruled(connection, question)
    assert [(step.rule, step.at, step.effect) for step in ruling.steps] == [
        ("O22.1", "B3", "advances"), ("A43.7", "B3", "places wire"), ("A43.7", "C3", "not placed"),
        ("O22.1", "B3", "legal"),
    ]  # fmt: skip


def test_reach_tells_what_an_unseen_road_costs(connection: Connection) -> None:
    place = SMALL["map"] | {"paths": [{"kind": "road", "hexes": ["B2", "B3", "B4"]}]}
    costs = {
        len(units): [
            step.effect
            for step in ruled(connection, {"reach": {"unit": "U0"}}, map=place, units=units).steps
            if step.rule == "T94"
        ]
        for units in (SMALL["units"][:2], SMALL["units"])
    }
    assert costs == {2: [Decimal(1) / 2], 4: [1]}


def test_reach_tells_only_costs_of_steps_that_can_be_taken(connection: Connection) -> None:
    hexes = {"B4": {"terrain": "jungle"}, "A2": {"terrain": "water_barrier"}}
    place = SMALL["map"] | {"hexes": hexes}
    wired = ruled(connection, {"reach": {"unit": "U0"}}, map=place, markers=[{"kind": "wire", "at": "B2"}])
    assert [step.rule for step in wired.steps if step.note == "jungle"] == []
    free = ruled(connection, {"reach": {"unit": "U0"}}, map=place)
    assert [step.rule for step in free.steps if step.note == "jungle"] == ["T91"]
    assert [step.effect for step in free.steps if step.rule == "T99"] == ["stops"]


def test_a_point_that_decides_a_cost_is_named(connection: Connection) -> None:
    markers = [{"kind": "trench", "at": "B2"}, {"kind": "pillbox", "at": "B3"}]
    ruling = ruled(
        connection, {"move": {"unit": "U0", "path": ["B3"]}}, markers=markers, conditions={"night": True}
    )
    assert ruling.answer["cost"] == 1
    assert ruling.contested == [{"point": "ccp-17", "reading": "a", "decides": True}]


def test_the_example_of_the_page_is_what_sql_answers(connection: Connection) -> None:
    page = (ROOT / "docs" / "movement.md").read_text(encoding="utf-8").partition("## ccp")[2]
    name, query, told = re.findall(r"Of `(\S+)`.*?```sql\n(.*?);\n```\n\n```text\n(.*?)```", page, re.DOTALL)[
        0
    ]
    case = read_case((ROOT / name).read_text(encoding="utf-8"), name, forms(), connection)
    position = store_position(connection, case.position)
    rows = connection.execute(sa.text(query.replace("42", ":position")), {"position": position})
    found = [" | ".join("" if value is None else str(value) for value in row) for row in rows]
    assert [" ".join(line.split()) for line in found] == told.splitlines()
