"""Combat in css: the ledgers of fire and assault against a count by hand, on positions drawn at random."""

from __future__ import annotations

import contextlib
import os
import random
from fractions import Fraction
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import Connection

from app.play.actions import actions_of
from app.play.css.status import Orders
from app.play.procedures import Given, Outcome, tried
from app.referee.cases import rule_text
from app.referee.conformance import SUITE
from app.referee.questions import forms, kinds_of
from app.referee.rulings import Asked
from db.values import canonical
from importers.cases import case_of, store_position
from tests.oracle_css_combat import Duel, attacker, defender, drawn, fire_value, hits, position, ratio

POSITIONS = int(os.environ.get("SIGHTLINE_COMBAT_CSS", "200"))
"""How many are drawn for each ledger; thousands on demand."""


def answer(connection: Connection, duel: Duel, ask: dict[str, Any]) -> dict[str, Any]:
    with connection.begin_nested() as savepoint:
        [ruling] = rule_text(connection, canonical(position(duel, ask)), "duel.json")[1]
        savepoint.rollback()
    return ruling.answer


def test_the_value_of_a_fire_is_what_a_count_by_hand_finds(connection: Connection) -> None:
    chance = random.Random(1944)
    for _ in range(POSITIONS):
        duel = drawn(chance)
        others = ["L", *(["W"] if duel.weapon is not None else [])]
        by = [f"U{n}" for n in range(duel.firers)]
        ask = {"by": by, "with": others, "concentrated": duel.concentrated}
        if duel.target == "tank" and duel.defenders == 1:
            found = answer(connection, duel, {"fire": {**ask, "at": "23.78"}})
            assert found["allowed"] is False, duel
            found = answer(connection, duel, {"fire": {**ask, "target": "J0"}})
            assert found["value"] == fire_value(duel) + 2, duel
            continue
        found = answer(connection, duel, {"fire": {**ask, "at": "23.78"}})
        assert found["value"] == fire_value(duel), duel
        chances = Fraction(hits(found["value"]), 10)
        assert found["odds"]["hit"] == f"{chances.numerator}/{chances.denominator}", duel


def test_both_totals_of_an_assault_are_what_a_count_by_hand_finds(connection: Connection) -> None:
    chance = random.Random(722)
    for _ in range(POSITIONS):
        duel = drawn(chance)
        by = [f"U{n}" for n in range(duel.firers)]
        found = answer(connection, duel, {"assault": {"at": "23.78", "by": by, "with": ["L"]}})
        if duel.pinned:
            assert found["allowed"] is False, duel
            continue
        assert found["ratio"] == ratio(duel.firers, duel.defenders), duel
        assert found["attacker"]["modifier"] == attacker(duel), duel
        assert found["defender"]["modifier"] == defender(duel), duel


@pytest.mark.parametrize("die", range(10))
def test_a_nought_always_hits_and_a_nine_never(connection: Connection, die: int) -> None:
    duel = drawn(random.Random(die))
    duel.target, duel.pinned = "soft", False
    found = answer(connection, duel, {"fire": {"by": ["U0"], "at": "23.78", "rolls": [die]}})
    if die in (0, 9):
        assert found["result"] == {0: "hit", 9: "miss"}[die]
    else:
        assert found["result"] == ("hit" if die <= found["value"] else "miss")


STRUCK_COLUMN = {
    "case": "struck",
    "title": "A column on the road, where a strike has fallen before",
    "ruleset": "css",
    "cites": ["16.0"],
    "conditions": {"interdiction": 1, "active": {"units": ["2/18"]}, "phase": "action", "step": "actions"},
    "map": {
        "extent": ["20.76", "24.80"],
        "fill": {"terrain": "clear"},
        "paths": [{"kind": "paved_road", "hexes": ["22.79", "22.78"]}],
    },
    "units": [
        {"id": "2/18", "side": "japan", "at": "22.79", "posture": "column", "mobility": "leg", "movement": 6}
    ],
    "markers": [{"kind": "air_strike", "at": "22.78"}],
    "tracks": {"air_box": 1},
    "ask": [{"stack": {"hex": "22.78"}}],
}


def column_tries(connection: Connection, action: str, arguments: dict[str, Any], given: Given) -> Outcome:
    case = case_of(STRUCK_COLUMN, "struck.yaml", forms(), connection)
    position = store_position(connection, case.position)
    asked = Asked(connection, position, "css", dict(STRUCK_COLUMN["conditions"]), {})  # type: ignore[call-overload]
    kind = actions_of("css").get(action) or kinds_of("css")[action]
    of = kind.arguments.model_validate(arguments)
    return tried(asked, lambda: kind.begin(of), given, lambda: kinds_of("css"))  # type: ignore[union-attr, arg-type]


def test_interdiction_strikes_where_a_strike_has_fallen_before(connection: Connection) -> None:
    given = Given(rolls=[9], choices={"air_strike": True})
    outcome = column_tries(connection, "move", {"unit": "2/18", "path": ["22.78"]}, given)
    assert outcome.allowed, outcome.answer
    assert (outcome.answer["ends_at"], [roll["for"] for roll in outcome.rolls]) == (
        "22.78",
        ["the air strike on 22.78"],
    )


def test_the_strikes_of_the_last_chit_are_over_when_it_is_drawn_again(connection: Connection) -> None:
    outcome = column_tries(connection, "air_support", {}, Given(rolls=[2]))
    assert {"marker": {"at": "22.78", "kind": "air_strike"}, "by": -1} in outcome.changes


def test_who_does_not_get_ashore_is_not_on_the_beach(connection: Connection) -> None:
    """22.3.1: routed or lost on the way he leaves nothing there; and who lands carries no DG of his own."""
    text = (SUITE / "css" / "css-22.1-compare.yaml").read_text(encoding="utf-8")
    landed = {
        str(ruling.question["landing"]["land"][0])
        + str(ruling.question["landing"]["rolls"][-1]): ruling.answer
        for ruling in rule_text(connection, text, "landing.yaml")[1]
    }
    assert landed["I2"]["after"] == {"I": {"zone": None, "at": "23.59"}}
    assert landed["K2"]["after"] == {"K": {"zone": None, "at": "27.59"}, "27.59": {"dg": 1}}
    assert landed["K9"]["after"] == {"K": {"eliminated": True}}
    assert landed["L9"]["after"] == {"L": {"zone": None, "box": "routed"}}


@pytest.mark.parametrize(("reading", "rule"), [("a", "8.7.3"), ("b", "17.1")])
@pytest.mark.parametrize(
    "spotter", [{}, {"spotter": "self"}, {"spotter": "Spot"}], ids=["any", "self", "unit"]
)
def test_a_hex_that_nobody_sees_is_not_lit_by_the_rule_of_illumination(
    connection: Connection, reading: str, rule: str, spotter: dict[str, str]
) -> None:
    unseen = {"illuminate": {"by": ["Mortar"], "at": "24.36", **spotter}, "policy": {"css-13": reading}}
    told = yaml.safe_load((SUITE / "css" / "css-8.7.3-a.yaml").read_text(encoding="utf-8"))
    hill = {"24.41": {"level": 3}, "24.39": {"level": 3}}
    ground = told["map"] | {"hexes": hill}
    [ruling] = rule_text(connection, canonical(told | {"map": ground, "ask": [unseen]}), "unseen.json")[1]
    assert ruling.answer["allowed"] is False
    assert {step.rule for step in ruling.steps if step.effect in ("forbids", "refused")} == {rule}


def test_an_answer_goes_to_the_question_that_asked_for_it() -> None:
    """A choice of which there is only one is not asked for; what answers a later one is not taken for its answer."""

    def asked(orders: Orders) -> list[str]:
        names = []
        for payers in (["Navy"], ["48 IMB", "Navy"]):
            with contextlib.suppress(StopIteration):
                names.append(next(orders.one("pays", "japan", "which Division pays", payers)).name)
        return names

    assert asked(Orders()) == ["pays_2"]
    assert asked(Orders({"pays_2": "48 IMB"})) == ["pays_2"], "the same run, answered"
    assert asked(Orders({"pays": "Navy"})) == ["pays", "pays_2"], "told beforehand, it is the first one's"
