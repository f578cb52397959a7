"""Cards of ddp: typed by the section, by number once the deck is in its charts, with odds over what is left."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from app.play.ddp.cards import read_card
from app.referee.cases import rule_text
from db.rulesets import FOLDER
from importers.charts import import_chart

HOUSE = FOLDER / "ddp" / "house"
CASE = {
    "case": "cards", "title": "a deck", "ruleset": "ddp", "conditions": {"turn": 4},
    "map": {
        "extent": ["0101", "0606"], "fill": {"terrain": "clear"},
        "positions": {"B5": {"hexes": ["0303"], "color": "blue", "intense": ["0304"], "steady": []}},
    },
    "units": [
        {"id": "J1", "side": "japan", "at": "0303"},
        {"id": "A", "side": "us", "kind": "infantry", "steps": 2, "symbol": "circle", "at": "0304"},
    ],
}  # fmt: skip


def ruled(connection: Connection, question: dict[str, Any], **more: Any) -> Any:
    _, [ruling] = rule_text(connection, json.dumps(CASE | more | {"ask": [question]}), "cards.json")
    return ruling


def deck(connection: Connection) -> None:
    """An owner types in a deck, and its events."""
    for name in ("cards", "card_events"):
        import_chart(connection, HOUSE / f"{name}.yaml", source="owner")


def test_without_a_deck_the_section_is_asked_for_and_there_are_no_odds(connection: Connection) -> None:
    ruling = ruled(connection, {"fire": {"position": "B5"}})
    assert ruling.answer["pending"] == {"card": "fire", "for": "the fire of B5"}
    assert ruling.answer["odds"] is None
    assert [need.what for need in ruling.needs] == ["cards"]


def test_with_a_deck_odds_are_counted_over_its_cards(connection: Connection) -> None:
    deck(connection)
    answer = ruled(connection, {"fire": {"position": "B5"}}).answer
    assert answer["basis"] == "over 54 cards not yet drawn"
    odds = {result: Fraction(chance) for result, chance in answer["odds"].items()}
    # blue is on half the cards; by all others the position does not fire
    assert odds == {"A": Fraction(1, 2), "no_hit": Fraction(1, 2)}


def test_a_deck_of_which_some_is_drawn_has_other_odds(connection: Connection) -> None:
    deck(connection)
    some = {"tracks": {"deck": {"draw": [1, 2, 3], "discard": [4]}}}
    answer = ruled(connection, {"fire": {"position": "B5"}}, **some).answer
    assert answer["basis"] == "over 3 cards not yet drawn"
    assert sum(map(Fraction, answer["odds"].values())) == 1


def test_a_card_is_told_by_its_number(connection: Connection) -> None:
    deck(connection)
    [row] = [line for line in (HOUSE / "cards.yaml").read_text().splitlines() if line.startswith("  5: ")]
    shown = "blue" in row.split(",")[0:3].__str__()
    answer = ruled(connection, {"fire": {"position": "B5", "cards": [{"card": 5}]}}).answer
    assert answer["allowed"] is shown
    assert ruled(connection, {"event": {"cards": [5]}}).answer["event"] is not None


def test_a_number_that_is_in_no_deck_is_refused(connection: Connection) -> None:
    deck(connection)
    with pytest.raises(Exception, match="is not in the deck"):
        ruled(connection, {"fire": {"position": "B5", "cards": [99]}})


@pytest.mark.parametrize(
    ("told", "section", "wrong"),
    [
        ({"colors": ["pink"]}, "fire", "does not begin with a color"),
        ({"colors": ["red M R"]}, "fire", "one of M, R, P, A, I"),
        ({"colors": ["red"], "symbol": "square"}, "fire", "no target symbol"),
        ({"landing": {"symbol": "circle"}}, "landing", "has a color"),
        ({"event": "picnic"}, "event", "no event"),
        ({"colors": ["red"], "cc": "picnic"}, "close_combat", "no close combat event"),
    ],
)
def test_what_no_card_shows_is_told_with_what_there_is(
    told: dict[str, Any], section: str, wrong: str
) -> None:
    with pytest.raises(ValueError, match=wrong):
        read_card(told, section)


def test_a_card_reads_as_it_is_typed() -> None:
    card = read_card(
        {"colors": ["orange R", "blue star", "brown armor"], "symbol": "diamond", "artillery": 7}, "fire"
    )
    assert [str(color) for color in card.colors] == ["orange R", "blue star", "brown armor"]
    assert (card.symbol, card.artillery) == ("diamond", 7)
    landing = read_card({"landing": {"color": "blue", "symbol": "triangle", "drift": "left"}}, "landing")
    assert (landing.landing_color, landing.symbol, landing.drift) == ("blue", "triangle", "left")
