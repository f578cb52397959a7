"""Rolls of ccp: what a card brings for its trigger, and how choices are named that it leaves to others."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import Connection

from app.play.ccp.roll import FateRoll
from app.referee.cases import rule_text
from db import SightlineError

SCENE = """
case: test
ruleset: ccp
map: {extent: [A1, H8], fill: {terrain: open_ground}}
units:
  - {id: Rifles, side: allied, fp: 7, range: 6, movement: 4, morale: 8, at: C3}
  - {id: Target, side: japan, kind: team, fp: 5, range: 5, movement: 4, morale: 6, at: E3}
  - {id: Near, side: japan, kind: team, fp: 5, range: 5, movement: 4, morale: 6, at: F6}
  - {id: Far, side: japan, kind: team, fp: 5, range: 5, movement: 4, morale: 6, at: G6}
"""
SNIPER = {"dice": [1, 2], "trigger": "sniper", "cards": [{"hex": "F6"}]}


def asked(connection: Connection, question: dict[str, Any]) -> dict[str, Any]:
    document = yaml.safe_load(SCENE) | {"ask": [question]}
    _, [ruling] = rule_text(connection, json.dumps(document), "test.yaml")
    return ruling.answer


def fire(**told: Any) -> dict[str, Any]:
    return {"fire": {"by": ["Rifles"], "at": "E3", **told}}


def test_a_choice_that_a_second_trigger_leaves_open_has_a_number(connection: Connection) -> None:
    first = asked(connection, fire(rolls=[SNIPER, SNIPER]))
    assert first["pending"]["choice"] == "unit"
    second = asked(connection, fire(rolls=[SNIPER, SNIPER], choices={"unit": "Near"}))
    assert second["pending"]["choice"] == "unit_2"
    done = asked(connection, fire(rolls=[SNIPER, SNIPER], choices={"unit": "Near", "unit_2": "Far"}))
    assert [effect["unit"] for effect in done["effects"]] == ["Near", "Far", "Target"]


def test_what_a_trigger_never_calls_for_is_a_mistake(connection: Connection) -> None:
    spare = {"dice": [1, 2], "trigger": "disperse", "cards": [{"hex": "F6"}]}
    with pytest.raises(SightlineError, match="1 card too many"):
        asked(connection, fire(rolls=[spare, [3, 4]]))


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ([3, 7], "shows 1 to 6"),
        (7, "is \\[white, coloured\\]"),
        ({"dice": [3, 4], "trigger": "rain"}, "no trigger"),
        ({"dice": [3, 4], "reroll": [0, 1]}, "shows 1 to 6"),
        ({"dice": [3, 4], "dyce": 1}, "has no 'dyce'"),
    ],
)
def test_a_roll_that_cannot_be_is_told_what_is_wrong_with_it(value: Any, wrong: str) -> None:
    found = FateRoll(purpose="the roll").mistake(value)
    assert found is not None
    assert re.search(wrong, found)
