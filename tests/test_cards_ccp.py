"""Fate cards of ccp: the house decks, what an import is checked against, hands that nobody else sees, cards in play."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import Connection

from app.play.games import act
from app.play.log import Deed
from app.play.openings import begin
from app.play.tables import Table, open_game
from app.referee.cases import rule_text
from db.counters import TRACKS
from db.rulesets import FOLDER, read_ruleset
from importers.charts import ChartDraft, import_chart, read_chart
from importers.documents import Problems

HOUSE = FOLDER / "ccp" / "house" / "fate_cards.yaml"
HEAD = (
    "chart,ccp,fate_cards\n"
    "card,nation,order,order_value,action,faction,event,event_value,hex,white,coloured,trigger\n"
)


@pytest.fixture(scope="module")
def deck() -> dict[str, dict[str, str]]:
    draft: ChartDraft = read_chart(HOUSE.read_bytes(), str(HOUSE))
    cards: dict[str, dict[str, str]] = {}
    for (row, column), (value, _) in draft.cells.items():
        cards.setdefault(row, {})[column] = value
    return cards


@pytest.mark.parametrize("nation", ["japan", "us"])
def test_a_house_deck_has_the_printed_orders_and_actions(
    deck: dict[str, dict[str, str]], nation: str
) -> None:
    cards = [card for card in deck.values() if card["nation"] == nation]
    assert len(cards) == 72
    manifest = read_ruleset("ccp").charts["order_action_manifest"]
    for row, column, cell in manifest.each_cell():
        use, _, word = row.partition("/")
        if column == nation:
            assert sum(card[use] == word for card in cards) == int(cell.value or 0), row


@pytest.mark.parametrize("nation", ["japan", "us"])
def test_a_house_deck_shows_every_pair_of_dice_twice(deck: dict[str, dict[str, str]], nation: str) -> None:
    dice = Counter(
        (int(card["white"]), int(card["coloured"])) for card in deck.values() if card["nation"] == nation
    )
    assert dice == dict.fromkeys(itertools.product(range(1, 7), repeat=2), 2)


def test_a_house_deck_has_events_and_hexes_of_the_game(deck: dict[str, dict[str, str]]) -> None:
    events = {cell.value for _, _, cell in read_ruleset("ccp").charts["events"].each_cell()}
    assert {card["event"] for card in deck.values()} <= events
    hexes = {f"{column}{row}" for column in "ABCDEFGHIJKLMNO" for row in range(1, 11)}
    assert {card["hex"] for card in deck.values()} <= hexes
    assert all(card["order_value"] in "12345" for card in deck.values() if card["order"] == "revive")


def test_an_import_with_more_cards_than_the_manifest_prints_is_refused(
    connection: Connection, tmp_path: Path
) -> None:
    rows = [f"jp-{n},japan,charge,-,ambush,-,kia,-,A1,1,2,-" for n in range(6)]
    file = tmp_path / "cards.csv"
    file.write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    with pytest.raises(
        Problems, match="6 rows of japan with order/charge, where order_action_manifest prints 5"
    ):
        import_chart(connection, file)
    file.write_text(HEAD + "\n".join(rows[:5]) + "\n", encoding="utf-8")
    assert import_chart(connection, file).filled == 5 * 11


def test_an_import_with_an_order_that_there_is_not_is_refused(connection: Connection, tmp_path: Path) -> None:
    file = tmp_path / "cards.csv"
    file.write_text(HEAD + "jp-1,japan,retreat,-,ambush,-,kia,-,A1,1,2,-\n", encoding="utf-8")
    with pytest.raises(Problems, match="there is no order 'retreat'"):
        import_chart(connection, file)


def test_the_house_decks_can_be_imported_whole(connection: Connection) -> None:
    report = import_chart(connection, HOUSE, source="house")
    assert report.filled == 144 * 11


# In a game.


@pytest.fixture
def table(connection: Connection) -> Table:
    begin(connection, "scenario:hanua_ridge", name="hanua", seed="tests", options={"rerolls": "unasked"})
    act(connection, "hanua", Deed("end_phase", {}, "referee"))
    return open_game(connection, "hanua")


def test_a_game_begins_with_hands_by_posture_and_the_first_side_on_turn(table: Table) -> None:
    assert {side: len(hand) for side, hand in table.tracks["hand"].items()} == {"japan": 4, "allied": 6}
    assert {side: len(pile) for side, pile in table.tracks["pile"].items()} == {"japan": 68, "allied": 66}
    assert (table.moment.phase, table.moment.active) == ("orders", "allied")


def test_hands_are_hidden_from_the_opponent_and_piles_from_everybody() -> None:
    hidden = {
        name: [getattr(word, "from_", None) for word in field.metadata]
        + [
            getattr(word, "from_", None)
            for part in getattr(field.annotation, "__args__", ())
            for word in getattr(part, "__metadata__", ())
        ]
        for name, field in TRACKS["ccp"].model_fields.items()
    }
    assert "owner" in hidden["hand"]
    assert "all" in hidden["pile"]
    assert not any(hidden["discards"])


def test_a_card_that_is_played_for_its_order_goes_to_the_discards(
    connection: Connection, table: Table
) -> None:
    cards = _with(connection, table, "order", "move")
    if cards is None:
        pytest.skip("no Move card in this hand")
    act(connection, "hanua", Deed("activate", {"order": "move", "unit": "Rifle 1", "card": cards}, "allied"))
    now = open_game(connection, "hanua")
    assert cards in now.tracks["discards"]["allied"]
    assert cards not in now.tracks["hand"]["allied"]
    assert now.tracks["order"] == {"kind": "move", "acted": False}
    assert now.conditions["orders_given"] == 1


def _with(connection: Connection, table: Table, use: str, word: str) -> str | None:
    from db.database import fetched

    rows: list[Any] = fetched(
        connection, "select * from ccp.cards_of(:names)", {"names": table.tracks["hand"]["allied"]}
    )
    return next((row.name for row in rows if row.card.get(use) == word), None)


def test_a_card_that_is_not_in_hand_is_not_played(connection: Connection, table: Table) -> None:
    lying = table.tracks["pile"]["allied"][0]
    with pytest.raises(Exception, match="is not in the hand"):
        act(
            connection,
            "hanua",
            Deed("activate", {"order": "move", "unit": "Rifle 1", "card": lying}, "allied"),
        )


def test_a_pass_fills_the_hand_again_and_the_other_side_is_on_turn(
    connection: Connection, table: Table
) -> None:
    thrown = table.tracks["hand"]["allied"][:2]
    act(connection, "hanua", Deed("discard", {"side": "allied", "cards": thrown}, "allied"))
    waiting = open_game(connection, "hanua").pending
    if waiting is not None:
        act(
            connection, "hanua", Deed("answer", {"choices": {waiting["prompt"]["choice"]: "none"}}, "referee")
        )
    act(connection, "hanua", Deed("end_phase", {}, "allied"))
    now = open_game(connection, "hanua")
    assert (now.moment.phase, now.moment.active) == ("orders", "japan")
    assert len(now.tracks["hand"]["allied"]) == 6
    assert set(thrown) <= set(now.tracks["discards"]["allied"])
    assert "passed" not in now.tracks


SUPPORT = "chart,ccp,support_tables\nentry,nation,roll,year_from,year_to,kind,name,weapon,vp\n" + "".join(
    f"jp-{roll},japan,{roll},-,-,team,Rifle Team,-,2\n" for roll in range(2, 13)
)
PASSED = """
case: test
ruleset: ccp
conditions: {active: allied, phase: orders, year: 1943, posture: {japan: defender, allied: attacker}}
tracks: {hand: {japan: [hidden_unit], allied: [fire, move]}}
map:
  extent: [A1, D4]
  fill: {terrain: open_ground}
  hexes: {C2: {terrain: jungle}}
  places: {Camp: {kind: zone, hexes: [C2, C3], attributes: {setup: japan}}}
units:
  - {id: Marines, side: allied, nation: us, at: A1}
  - {id: Defenders, side: japan, nation: japan, at: D4}
"""


def passed(connection: Connection, **told: Any) -> dict[str, Any]:
    asked = {"discard": {"side": "allied", "cards": ["fire"], **told}}
    _, [ruling] = rule_text(connection, json.dumps(yaml.safe_load(PASSED) | {"ask": [asked]}), "test.yaml")
    return ruling.answer


def test_a_defender_with_a_hidden_unit_is_asked_after_a_discard_where_there_is_a_support_table(
    connection: Connection, tmp_path: Path
) -> None:
    assert "pending" not in passed(connection)
    file = tmp_path / "support.csv"
    file.write_text(SUPPORT, encoding="utf-8")
    import_chart(connection, file)
    assert passed(connection)["pending"]["choice"] == "plays_hidden_unit"
    placed = passed(connection, choices={"plays_hidden_unit": True}, rolls=[[3, 4]])
    assert {"unit": "Rifle Team 1", "at": "C2"} in placed["effects"]
    assert passed(connection, choices={"plays_hidden_unit": False})["effects"] == [
        {"side": "allied", "hand": 1}
    ]
