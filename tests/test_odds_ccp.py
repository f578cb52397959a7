"""Odds of ccp: over two dice and over the cards left in a pile, against all falls counted out in Python."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import Connection

from app.referee.cases import rule_text
from db.rulesets import FOLDER
from importers.charts import import_chart, read_chart

SCENE = """
case: test
ruleset: ccp
conditions: {vp: 0, active: japan, phase: orders}
map: {extent: [A1, H6], fill: {terrain: open_ground}, hexes: {D2: {terrain: palm}}}
units:
  - {id: Gunners, side: japan, nation: japan, kind: team, fp: 9, range: 8, movement: 4, morale: 7, activated: fire, at: B2,
     weapon: {name: Mortar, fp: 6, range: [2, 9], ordnance: true, mortar: true}}
  - {id: Sergeant, side: allied, nation: us, kind: leader, fp: 1, range: 4, movement: 6, morale: 6, command: 2, at: D2}
  - {id: Marines, side: allied, nation: us, fp: 6, range: 5, movement: 5, morale: 7, broken: true, at: D2}
  - {id: Raiders, side: allied, nation: us, fp: 6, range: 5, movement: 5, morale: 7, activated: move, at: D2}
"""
ORDER = ["Sergeant", "Marines", "Raiders"]
HOUSE = FOLDER / "ccp" / "house" / "fate_cards.yaml"
DICE = [list(pair) for pair in itertools.product(range(1, 7), repeat=2)]
Dice = list[list[int]]


def asked(connection: Connection, question: dict[str, Any], **more: Any) -> dict[str, Any]:
    document = yaml.safe_load(SCENE) | more | {"ask": [question]}
    _, [ruling] = rule_text(connection, json.dumps(document), "test.yaml")
    return ruling.answer


def result_of(attack: int, defense: int, tie: str) -> str:
    if 2 * defense <= attack:
        return "eliminated"
    if defense < attack:
        return "breaks"
    return tie if defense == attack else "none"


def fates(attacks: Dice, defenses: Dice, *, drawn: bool) -> dict[str, dict[str, str]]:
    """What becomes of the three in the palm hex: overstacked by 2, commanded by 2, one broken, one moving.

    Every Attack roll with every three Defense rolls; off a pile no card comes twice.
    """
    found: dict[str, Counter[str]] = {code: Counter() for code in ORDER}
    totals = Counter(9 + sum(dice) for dice in attacks)
    rolls: Counter[tuple[int, ...]] = Counter(
        tuple(sum(dice) for dice in one)
        for one in (itertools.permutations(defenses, 3) if drawn else itertools.product(defenses, repeat=3))
    )
    for (total, ways), ((first, second, third), more) in itertools.product(totals.items(), rolls.items()):
        sergeant = result_of(total, 6 + first + 1 - 2, "suppressed")
        command = 2 if sergeant in ("suppressed", "none") else 0
        figures = 9 - (sergeant == "eliminated")
        marines = result_of(total, 7 + second + command + 1 - max(0, figures - 7), "suppressed")
        figures -= 4 * (marines in ("eliminated", "breaks"))
        raiders = result_of(total, 7 + third + command + 1 - max(0, figures - 7), "breaks")
        for code, fate in zip(ORDER, (sergeant, marines, raiders), strict=True):
            found[code][fate] += ways * more
    every = {code: sum(counted.values()) for code, counted in found.items()}
    return {
        code: {fate: str(Fraction(ways, every[code])) for fate, ways in counted.items()}
        for code, counted in found.items()
    }


def test_the_odds_of_three_units_are_those_of_all_falls_of_two_dice(connection: Connection) -> None:
    answer = asked(connection, {"fire": {"by": ["Gunners"], "at": "D2", "choices": {"order": ORDER}}})
    assert answer["basis"] == "two_dice"
    assert answer["odds"] == fates(DICE, DICE, drawn=False)


@pytest.fixture
def piles(connection: Connection) -> dict[str, list[str]]:
    import_chart(connection, HOUSE, source="house")
    return {
        "japan": [f"japan-{n}" for n in range(1, 13)],
        "allied": [f"us-{n}" for n in range(1, 15)],
    }


def dice_of(names: list[str]) -> Dice:
    cells = read_chart(HOUSE.read_bytes(), str(HOUSE)).cells
    return [[int(cells[name, "white"][0]), int(cells[name, "coloured"][0])] for name in names]


def test_the_odds_over_kept_piles_are_those_of_the_cards_left(
    connection: Connection, piles: dict[str, list[str]]
) -> None:
    tracks = {"pile": piles, "order": {"kind": "fire"}}
    question = {"fire": {"by": ["Gunners"], "at": "D2", "choices": {"order": ORDER}}}
    answer = asked(connection, question, tracks=tracks)
    assert answer["basis"] == "deck"
    assert answer["odds"] == fates(dice_of(piles["japan"]), dice_of(piles["allied"]), drawn=True)


def test_a_targeting_roll_off_a_kept_pile_counts_its_cards(
    connection: Connection, piles: dict[str, list[str]]
) -> None:
    pile = [f"japan-{n}" for n in range(1, 60)]
    tracks = {"pile": piles | {"japan": pile}, "order": {"kind": "fire"}}
    answer = asked(connection, {"fire": {"by": ["Gunners:weapon"], "at": "D2"}}, tracks=tracks)
    hits = [white * coloured > 2 for white, coloured in dice_of(pile)]
    assert 0 < sum(hits) < len(hits)
    assert Fraction(answer["odds"]["attack"]) == Fraction(sum(hits), len(hits))
    assert answer["basis"] == "deck"


def test_a_card_that_was_put_back_is_the_next_roll(
    connection: Connection, piles: dict[str, list[str]]
) -> None:
    tracks = {"pile": piles, "next_card": {"japan": "japan-3"}}
    answer = asked(connection, {"roll": {"side": "japan"}}, tracks=tracks)
    assert answer["odds"] == {str(sum(dice_of(["japan-3"])[0])): "1/1"}
    assert answer["basis"] == "deck"
