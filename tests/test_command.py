"""Command: what SQL rules is what a plain reading of the rules in Python finds, in any position."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from app.referee.questions import forms, kinds_of
from app.referee.rulings import Ruling, rule_case
from importers.cases import CaseDraft, read_case, store_position
from importers.documents import Problems

CASES = Path(__file__).parent / "cases"
PAGE = Path(__file__).parent.parent / "docs" / "command.md"
many = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Counter = dict[str, Any]
Place = tuple[int, int]
COLUMNS, ROWS = 9, 9
"""The maps of this test: small, so that counters are often near one another."""


def read(connection: Connection, document: dict[str, Any]) -> CaseDraft:
    return read_case(json.dumps(document), "test.yaml", forms(), connection)


def ruled(connection: Connection, document: dict[str, Any]) -> list[Ruling]:
    case = read(connection, document)
    return rule_case(connection, case, kinds_of(case.position.ruleset))


def written(ruleset: str, units: list[Counter], asked: list[Counter], **more: Any) -> dict[str, Any]:
    """A case that asks for the command of each unit of `asked`, by its label on this ruleset's map."""
    return {
        "case": "test",
        "ruleset": ruleset,
        "map": {
            "extent": [label(ruleset, (0, 0)), label(ruleset, (COLUMNS - 1, ROWS - 1))],
            "fill": {"terrain": {"css": "clear", "ccp": "grass", "bob": "woods", "ddp": "clear"}[ruleset]},
        }
        | more.pop("map", {}),
        "units": [unit | {"at": label(ruleset, unit["at"])} for unit in units],
        "ask": [{"command": {"unit": unit["id"]}} for unit in asked],
    } | more


def label(ruleset: str, place: Place) -> str:
    """The hex in this column and row, counted from 0."""
    column, row = place[0] + 1, place[1] + 1
    if ruleset in ("ccp", "bob"):
        return f"{chr(ord('A') + column - 1)}{row}"
    return f"{column:02}.{row:02}" if ruleset == "css" else f"{column:02}{row:02}"


def axial(ruleset: str, place: Place) -> Place:
    """By hand: css shifts its odd columns down by half a hex, the others their even ones."""
    column, row = place[0] + 1, place[1] + 1
    down = column % 2 if ruleset == "css" else -(column % 2)
    return column, row - (column - down) // 2


def away(ruleset: str, one: Place, two: Place) -> int:
    (q1, r1), (q2, r2) = axial(ruleset, one), axial(ruleset, two)
    return max(abs(q1 - q2), abs(r1 - r2), abs(q1 + r1 - q2 - r2))


places = st.tuples(st.integers(0, COLUMNS - 1), st.integers(0, ROWS - 1))
seldom = st.sampled_from([False, False, False, True])


def named(counters: list[Counter]) -> list[Counter]:
    return [counter | {"id": f"unit {n}"} for n, counter in enumerate(counters)]


def without_nothing(counter: Counter) -> Counter:
    return {key: value for key, value in counter.items() if value is not None}


# css


@st.composite
def css_counters(draw: st.DrawFn) -> list[Counter]:
    """Counters that tell all of Division, stripe and Formation."""

    def counter() -> Counter:
        division = draw(st.sampled_from(["3 Marine", "77 Infantry"]))
        kind = draw(st.sampled_from(["infantry", "infantry", "hq", "leader"]))
        stripe = draw(st.sampled_from(["formation", "formation", "white"] + ["none"] * (kind != "hq")))
        return without_nothing(
            {
                "side": draw(st.sampled_from(["us", "us", "japan"])),
                "kind": kind,
                "division": division,
                "stripe": stripe,
                "formation": f"{draw(st.integers(1, 2))} of {division}" if stripe == "formation" else None,
                "command_range": draw(st.integers(0, 5)) if kind == "hq" else None,
                "at": draw(places),
            }
        )

    return named([counter() for _ in range(draw(st.integers(1, 12)))])


def css_by(unit: Counter, units: list[Counter]) -> set[str]:
    """5.1, as it is printed."""

    def commands(head: Counter) -> bool:
        range_ = away("css", unit["at"], head["at"])
        same_division = unit["division"] == head["division"]
        if unit["side"] != head["side"]:
            return False
        if head["kind"] == "leader":
            return head is not unit and range_ <= 1 and (same_division or head["stripe"] == "none")
        if head["kind"] != "hq" or range_ > head["command_range"]:
            return False
        if head["stripe"] == "white" or unit["stripe"] == "none":
            return same_division
        return unit["stripe"] == "formation" and unit["formation"] == head["formation"]

    return {head["id"] for head in units if commands(head)}


@many
@given(units=css_counters())
def test_css_command_is_that_of_rule_5_1(connection: Connection, units: list[Counter]) -> None:
    for unit, ruling in zip(units, ruled(connection, written("css", units, units)), strict=True):
        by = css_by(unit, units)
        assert (ruling.answer["in_command"], set(ruling.answer["by"])) == (bool(by), by), unit


@many
@given(units=css_counters(), data=st.data())
def test_what_a_css_counter_does_not_tell_leaves_the_answer_open_or_as_it_is(
    connection: Connection, units: list[Counter], data: st.DataObject
) -> None:
    def forgetful(unit: Counter) -> Counter:
        known = ["command_range", "division"] + ["stripe"] * (unit["kind"] != "hq")
        lost = data.draw(st.sets(st.sampled_from(known)))
        return {key: value for key, value in unit.items() if key not in lost}

    vague = [forgetful(unit) for unit in units]
    for unit, ruling in zip(units, ruled(connection, written("css", vague, vague)), strict=True):
        by = css_by(unit, units)
        assert ruling.answer["in_command"] in (bool(by), None)
        assert set(ruling.answer["by"]) <= by
        assert bool(ruling.needs) == (ruling.answer["in_command"] is None)


# ccp


@st.composite
def ccp_counters(draw: st.DrawFn) -> list[Counter]:
    """Counters close together, a Scout and a mortar among them."""
    near = st.tuples(st.integers(0, 4), st.integers(0, 4))

    def counter(kind: str, side: str) -> Counter:
        return without_nothing(
            {
                "side": side,
                "kind": kind,
                "command": draw(st.integers(0, 3)) if kind in ("leader", "hero") else None,
                "broken": draw(seldom),
                "suppressed": draw(seldom),
                "weapon": {"name": "mortar", "mortar": True, "broken": draw(seldom)}
                if kind == "team"
                else None,
                "at": draw(near),
            }
        )

    kinds = st.sampled_from(["squad", "team", "leader", "hero", "scout", "sogeki_hei"])
    sides = st.sampled_from(["japan", "allied"])
    others = [counter(draw(kinds), draw(sides)) for _ in range(draw(st.integers(0, 8)))]
    return named([counter("scout", "japan"), counter("team", "japan"), counter("team", "allied"), *others])


def ccp_by(unit: Counter, units: list[Counter], broken_leader: str) -> set[str]:
    """3.3.1.1 and O27.1.3."""
    friends = [other for other in units if other["side"] == unit["side"]]
    in_melee = any(other["at"] == unit["at"] and other["side"] != unit["side"] for other in units)
    weapon = unit.get("weapon", {"broken": True})
    fires = not (unit["broken"] or unit["suppressed"] or weapon["broken"] or in_melee)
    by = set()
    for leader in friends:
        if unit["kind"] not in ("squad", "team"):
            continue
        if leader["kind"] in ("leader", "hero"):
            command = 0 if leader["broken"] and broken_leader == "a" else leader["command"]
            if away("ccp", unit["at"], leader["at"]) <= command:
                by.add(leader["id"])
        elif leader["kind"] == "scout" and fires and not leader["broken"]:
            by.add(leader["id"])
    return by


@many
@given(units=ccp_counters(), reading=st.sampled_from("ab"))
def test_ccp_command_is_the_command_radius(
    connection: Connection, units: list[Counter], reading: str
) -> None:
    document = written("ccp", units, units, policy={"ccp-29": reading})
    for unit, ruling in zip(units, ruled(connection, document), strict=True):
        by = ccp_by(unit, units, reading)
        assert (ruling.answer["in_command"], set(ruling.answer["by"])) == (bool(by), by), unit


# bob


@many
@given(
    unit=places,
    hub=places,
    value=st.integers(0, 8),
    displaced=st.booleans(),
    company=st.sampled_from(["A", "B"]),
)
def test_bob_command_is_the_range_of_the_company_hub(
    connection: Connection, unit: Place, hub: Place, value: int, displaced: bool, company: str
) -> None:
    counter = {"id": "squad", "side": "us", "company": "A", "at": unit}
    marker = {"kind": "company_hub", "company": company, "value": value, "at": label("bob", hub)}
    document = written(
        "bob", [counter], [counter], markers=[marker | ({"displaced": True} if displaced else {})]
    )
    [ruling] = ruled(connection, document)
    wanted = away("bob", unit, hub) <= value - 2 * displaced if company == "A" else None
    assert ruling.answer["in_command"] is wanted
    assert ruling.answer["by"] == (["A"] if wanted else [])


# ddp


@st.composite
def ddp_counters(draw: st.DrawFn) -> list[Counter]:
    """A command post and units about it, many of them Japanese, so that ways are barred."""

    def us() -> Counter:
        kind = draw(st.sampled_from(["infantry", "tank", "infantry_hq", "regimental_hq", "command_post"]))
        return without_nothing(
            {
                "side": "us",
                "kind": kind,
                "disrupted": draw(st.booleans()),
                "command_range": draw(st.integers(1, 4)) if kind == "command_post" else None,
                "at": draw(places),
            }
        )

    def japan() -> Counter:
        return {
            "side": "japan",
            "disrupted": draw(st.booleans()),
            "tank": draw(st.booleans()),
            "at": draw(places),
        }

    post = {"side": "us", "kind": "command_post", "disrupted": False, "command_range": 4, "at": draw(places)}
    ours = [us() for _ in range(draw(st.integers(1, 6)))]
    return named([post, *ours, *(japan() for _ in range(draw(st.integers(0, 30))))])


def around(place: Place) -> list[Place]:
    return [
        (column, row)
        for column in range(place[0] - 1, place[0] + 2)
        for row in range(place[1] - 1, place[1] + 2)
        if away("ddp", place, (column, row)) == 1
    ]


def counted(start: Place, target: Place, barred: set[Place]) -> int | None:
    """14.31: the shortest way over the map through no hex with a Japanese unit."""
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        if here == target:
            return steps[here]
        for column, row in around(here):
            there = (column, row)
            on_map = 0 <= column < COLUMNS and 0 <= row < ROWS
            if on_map and there not in steps and (there == target or there not in barred):
                steps[there] = steps[here] + 1
                waiting.append(there)
    return None


def ddp_by(unit: Counter, units: list[Counter], fields: dict[Place, set[Place]]) -> set[str]:
    """10.21, 10.3, 14.3, 14.31 and 14.32; a field is a position of one hex with its dots."""
    enemies = [other for other in units if other["side"] == "japan"]

    def under_fire(place: Place) -> bool:
        for enemy in enemies:
            dots = fields.get(enemy["at"], set())
            reach = dots | {beyond for dot in dots for beyond in around(dot)} if enemy["tank"] else dots
            if place in reach and not enemy["disrupted"]:
                return True
        return False

    def commands(head: Counter) -> bool:
        if head["side"] != "us" or unit["side"] != "us":
            return False
        if head["kind"] == "regimental_hq":
            return away("ddp", unit["at"], head["at"]) <= 1
        if head["kind"] == "infantry_hq":
            infantry = unit["kind"] in ("infantry", "infantry_hq")
            return infantry and unit["at"] == head["at"] and not head["disrupted"]
        if head["kind"] != "command_post" or under_fire(head["at"]):
            return False
        steps = counted(head["at"], unit["at"], {enemy["at"] for enemy in enemies})
        return steps is not None and steps <= head["command_range"]

    return {head["id"] for head in units if commands(head)}


@st.composite
def ddp_fields(draw: st.DrawFn, units: list[Counter]) -> dict[Place, set[Place]]:
    """Positions where units stand, or not, with dots on others of them."""
    here = st.sampled_from([unit["at"] for unit in units])
    held = st.sampled_from([unit["at"] for unit in units if unit["side"] == "japan"] or [(0, 0)])
    return draw(st.dictionaries(held | places, st.sets(here | places, max_size=5), max_size=3))


@many
@given(units=ddp_counters(), data=st.data())
def test_ddp_command_posts_count_round_japanese_units_and_fall_silent_under_fire(
    connection: Connection, units: list[Counter], data: st.DataObject
) -> None:
    fields = data.draw(ddp_fields(units))
    steady = data.draw(st.booleans())
    positions = {
        f"P{n}": {
            "hexes": [label("ddp", place)],
            "steady" if steady else "intense": [label("ddp", dot) for dot in sorted(dots)],
        }
        for n, (place, dots) in enumerate(sorted(fields.items()))
    }
    document = written("ddp", units, units, map={"positions": positions})
    for unit, ruling in zip(units, ruled(connection, document), strict=True):
        by = ddp_by(unit, units, fields)
        assert (ruling.answer["in_command"], set(ruling.answer["by"])) == (bool(by), by), unit


def test_a_command_post_counts_round_a_wall_of_japanese_units_to_the_hex(connection: Connection) -> None:
    post = {"id": "CP", "side": "us", "kind": "command_post", "command_range": 4, "at": (4, 1)}
    unit = {"id": "A", "side": "us", "kind": "infantry", "at": (4, 3)}
    wall = [{"id": f"J{n}", "side": "japan", "at": place} for n, place in enumerate([(3, 2), (4, 2), (5, 2)])]
    [open_way] = ruled(connection, written("ddp", [post, unit], [unit]))
    [one_more] = ruled(connection, written("ddp", [post, unit, wall[1]], [unit]))
    [barred] = ruled(connection, written("ddp", [post | {"command_range": 3}, unit, *wall], [unit]))
    assert open_way.steps[0].note == "CP, a command post: range 2, command range 4"
    assert (
        one_more.steps[0].note == "CP, a command post: range 2, command range 4, 3 hexes round Japanese units"
    )
    assert (barred.steps[0].rule, barred.answer["in_command"]) == ("14.31", False)


# readings, reasons, mistakes


def contested(connection: Connection, case: str) -> list[tuple[str, str, bool]]:
    path = next(CASES.glob(f"*/{case}.yaml"))
    draft = read_case(path.read_bytes(), path.name, forms(), connection)
    rulings = rule_case(connection, draft, kinds_of(draft.position.ruleset))
    return [
        (point["point"], point["reading"], point["decides"])
        for ruling in rulings
        for point in ruling.contested
    ]


def test_a_broken_leader_is_contested_and_the_reading_decides(connection: Connection) -> None:
    assert contested(connection, "ccp-O27.3.4-broken-leader") == [
        ("ccp-29", "a", False),
        ("ccp-29", "a", True),
        ("ccp-29", "b", True),
        ("ccp-29", "b", False),
    ]


def test_the_turn_of_command_posts_is_contested_on_turn_seven_alone(connection: Connection) -> None:
    found = [point for point in contested(connection, "ddp-7.1-a") if point[0] == "ddp-1"]
    assert found == [("ddp-1", "b", True), ("ddp-1", "a", True)]


def test_the_radio_of_an_infantry_hq_is_contested(connection: Connection) -> None:
    assert ("ddp-11", "b", True) in contested(connection, "ddp-10.3-a")


def test_every_reason_is_told_and_the_verdict_comes_last(connection: Connection) -> None:
    units = [
        {
            "id": "HQ",
            "side": "us",
            "kind": "hq",
            "division": "3",
            "formation": "9",
            "command_range": 2,
            "at": (0, 0),
        },
        {"id": "Hall", "side": "us", "kind": "leader", "division": "77", "formation": "305", "at": (0, 4)},
        {"id": "A", "side": "us", "division": "3", "formation": "9", "at": (0, 5)},
    ]
    [ruling] = ruled(connection, written("css", units, units[2:]))
    assert [(step.rule, step.at, step.effect, step.note) for step in ruling.steps] == [
        ("5.1", "01.05", "does not command", "Hall, not of its Division: range 1, command range 1"),
        ("5.1", "01.01", "does not command", "HQ, its Formation HQ: range 5, command range 2, 3 too far"),
        ("5.1", "01.06", "out of command", "no HQ or Leader of its own is near enough"),
    ]


@pytest.mark.parametrize("ruleset", ["css", "ccp", "bob", "ddp"])
def test_a_unit_off_the_map_is_out_of_command(connection: Connection, ruleset: str) -> None:
    side = {"css": "us", "ccp": "allied", "bob": "us", "ddp": "us"}[ruleset]
    document = written(ruleset, [], [{"id": "A"}]) | {"units": [{"id": "A", "side": side}]}
    [ruling] = ruled(connection, document)
    assert ruling.answer == {"in_command": False, "by": [], "gives": []}
    assert ruling.steps[-1].note == "A is not on the map"


def test_the_positions_own_conditions_and_policy_hold_where_none_are_given(connection: Connection) -> None:
    units = [
        {"id": "CP", "side": "us", "kind": "command_post", "command_range": 2, "at": (2, 2)},
        {"id": "A", "side": "us", "kind": "infantry", "at": (2, 3)},
    ]
    for policy, verdict in (({}, "out of command"), ({"ddp-1": "a"}, "in command")):
        document = written("ddp", units, units[1:], conditions={"turn": 7}, policy=policy)
        position = store_position(connection, read(connection, document).position)
        rows = connection.execute(
            sa.text("select * from ddp.command(:position, 'A')"), {"position": position}
        )
        assert list(rows)[-1].effect == verdict


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: document["ask"][0]["command"].update(unit="B/1/9"), "there is no unit 'B/1/9'"),
        (lambda document: document["ask"][0]["command"].update(by="A/1/9"), "unknown key 'by'"),
        (lambda document: document["ask"][0].update(command={}), "unit is missing"),
        (lambda document: document["markers"][0].pop("company"), "a company_hub marker needs its company"),
        (lambda document: document["markers"][0].pop("value"), "a company_hub marker needs its value"),
        (lambda document: document["markers"][0].update(displaced="so"), "expected true or false"),
        (lambda document: document["markers"][0].update(kind="foxhole"), "a foxhole marker has no company"),
    ],
)
def test_a_mistake_is_named(
    connection: Connection, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    unit = {"id": "A/1/9", "side": "us", "company": "A", "at": (1, 1)}
    hub = {"kind": "company_hub", "company": "A", "value": 3, "at": "A1"}
    document = written("bob", [unit], [unit], markers=[hub])
    ruled(connection, document)
    change(document)
    with pytest.raises(Problems, match=re.escape(message)):
        read(connection, document)


def test_whose_hub_it_is_makes_another_position(connection: Connection) -> None:
    hub = {"kind": "company_hub", "company": "A", "value": 3, "at": "A1"}
    unit = {"id": "A/1/9", "side": "us", "company": "A", "at": (1, 1)}
    digests = {
        read(connection, written("bob", [unit], [unit], markers=[hub | change])).position.digest()
        for change in ({}, {"company": "B"}, {"displaced": True})
    }
    assert len(digests) == 3


EXAMPLE = re.compile(r"Of `tests/cases/(\S+)`:\n\n```sql\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize(
    "example", EXAMPLE.findall(PAGE.read_text(encoding="utf-8")), ids=lambda found: found[0]
)
def test_a_query_of_the_page_gives_the_result_of_the_page(
    connection: Connection, example: tuple[str, str, str]
) -> None:
    name, query, result = example
    case = read_case((CASES / name).read_bytes(), name, forms(), connection)
    position = store_position(connection, case.position)
    rows = connection.execute(sa.text(query.replace("42", ":position").rstrip(";\n")), {"position": position})
    found = "\n".join(" | ".join(value or "" for value in row).rstrip(" |") for row in rows)
    assert found == result.strip()


def test_the_page_shows_every_ruleset() -> None:
    shown = {name.split("/")[0] for name, _, _ in EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))}
    assert shown == {"css", "ccp", "bob", "ddp"}
