"""Forgotten Pacific Battles at the table: moves and landings that change it."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection

from app.play.actions import actions_of
from app.play.procedures import Action, Given, Outcome, tried
from app.referee.questions import forms, kinds_of
from app.referee.rulings import Asked
from importers.cases import case_of, store_position

BEACHHEAD: dict[str, Any] = {
    "case": "beachhead",
    "ruleset": "fpb",
    "map": {
        "extent": ["1001", "1906"],
        "hexes": {"1001": {"terrain": "clear", "features": ["coast"]}, "1901": "sea"},
    },
    "units": [
        {"id": "A", "side": "us", "at": "1203", "movement": 4},
        {"id": "B", "side": "us", "movement": 4},
        {"id": "C", "side": "us", "at": "1901", "movement": 4, "assaulting": "1801"},
        {"id": "J", "side": "japan", "at": "1801", "movement": 8},
    ],
    "markers": [{"kind": "landing_beach", "at": "1001"}, {"kind": "assault_boat", "at": "1801"}],
    "ask": [{"sequence": {}}],
}
US = {"turn": 2, "phase": "movement", "active": "us", "scenario": "individual"}
JAPAN = {**US, "active": "japan"}


def entered(connection: Connection, conditions: dict[str, Any], action: str, **arguments: Any) -> Outcome:
    """What an action does on the beachhead."""
    document = {**BEACHHEAD, "conditions": conditions}
    position_id = store_position(connection, case_of(document, "play", forms(), connection).position)
    kind = actions_of("fpb")[action]
    of = kind.arguments(**arguments)
    assert isinstance(of, Action)
    asked = Asked(connection, position_id, "fpb", conditions, {})
    return tried(asked, lambda: kind.begin(of), Given(), lambda: kinds_of("fpb"))


def flags(outcome: Outcome, unit: str) -> dict[str, Any]:
    """What the log keeps of a unit."""
    said: dict[str, Any] = {}
    for change in outcome.changes:
        if change.get("unit") == unit:
            said |= change["set"]
    return said


def test_a_move_takes_the_unit_there_and_captures_what_it_enters(connection: Connection) -> None:
    outcome = entered(connection, US, "move", unit="A", path=["1204", "1205"])
    assert outcome.allowed
    assert outcome.effects == [
        {"unit": "A", "at": "1205"},
        {"marker": "captured", "at": "1204", "value": 2},
        {"marker": "captured", "at": "1205", "value": 2},
    ]
    assert flags(outcome, "A")["moved"] == "movement"


def test_a_move_that_breaks_a_rule_changes_nothing_and_tells_which(connection: Connection) -> None:
    outcome = entered(connection, US, "move", unit="A", path=["1204", "1205", "1206", "1306", "1406"])
    assert outcome.allowed is False
    assert outcome.effects == outcome.changes == []
    assert outcome.answer["ends_at"] == "1406"
    assert outcome.steps[-1].rule == "5.2"


def test_a_japanese_unit_that_leaves_the_boats_lets_the_assault_ashore(connection: Connection) -> None:
    outcome = entered(connection, JAPAN, "move", unit="J", path=["1802"])
    assert outcome.allowed
    assert {"marker": "landing_beach", "at": "1801"} in outcome.effects
    assert {"unit": "C", "at": "1801", "assaulting": None} in outcome.effects
    assert {"marker": "captured", "at": "1801", "value": 2} in outcome.effects


def test_alone_nobody_moves_the_japanese_at_will(connection: Connection) -> None:
    outcome = entered(connection, {**JAPAN, "mode": "solitaire"}, "move", unit="J", path=["1802"])
    assert outcome.allowed is False
    assert outcome.steps[-1].rule == "16.1"


def test_a_reinforcement_on_foot_has_done_its_moving(connection: Connection) -> None:
    outcome = entered(connection, US, "landing", unit="B", at="1001")
    assert outcome.allowed
    assert flags(outcome, "B") | {"at": "1001", "landed": "movement", "moved": "movement"} == flags(
        outcome, "B"
    )
