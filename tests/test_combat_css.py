"""Combat in css: the ledgers of fire and assault against a count by hand, on positions drawn at random."""

from __future__ import annotations

import os
import random
from fractions import Fraction
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from app.referee.cases import rule_text
from db.values import canonical
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
