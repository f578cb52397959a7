"""A ruling in words: each kind's sentence for yes, no and not known, and the same words at every door."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlalchemy.engine import URL, Connection, Engine

from app.referee import words
from app.referee.cases import rule_text
from app.referee.questions import common_kinds, kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.web.site import create_app
from db.database import make_engine
from db.rulings import SavedRuling
from db.settings import Settings
from importers.demo.load import load_demo
from tests.command_line import CommandLine
from tests.conftest import ROOT, Databases, web_engine

CASES = ROOT / "tests" / "cases"
VERDICTS: dict[str, list[str]] = {
    "css-22.1-ex-b": [
        "The range from 1/54 NGF to I/3/3 is 1 hex",
        "1/54 NGF sees 23.59; range 1",
        "The fire zone of 1/54 NGF has 6 hexes: 22.60, 22.61, 23.59, 23.61, 24.60, 24.61",
    ],
    "css-7.2-threats": [
        "No enemy can fire at 22.82",
        "1 enemy unit can fire at 22.81: Near with small arms 4",
        "The worst hex of the way is 22.81, at which 1 enemy unit can fire: Near with small arms 4; at 22.82 and 23.81 nobody can",
    ],
    "ccp-3.3.1.2-movement": [
        "Runner may end its move in A5 for 0, A4 for 1, A6 for 1, A3 for 2, A7 for 2, A2 for 3, A8 for 3 and A9 for 4 points;"
        " command adds 2 in A8 and ends where it leaves that hex",
    ],
    "bob-54.4-a": [
        "The range from C3 to E6 is 4 hexes",
    ],
    "css-7.1-sameB": [
        "The line from 22.80 to 24.77 passes 22.79|23.79, 23.78 and 23.77|24.78",
    ],
    "bob-44.0-corner": [
        "The line from C2 to D6 passes C3, C4, D4 and D5; touches D3 and C5",
        "O2 sees P6; hindrance 1; range 5",
    ],
    "fpb-2.1-grid": [
        "The line from 2311 to 2613 passes 2412 and 2512",
    ],
    "fpb-6.0-a": [
        "The zone of control of alone has 6 hexes: 2211, 2212, 2310, 2312, 2411, 2412",
        "reserve has no zone of control",
    ],
    "fpb-7.2-c": [
        "The attack on 2312 is at +3 on line 5, column 9: D2 1/3, Ex 1/2 and NE 1/6",
    ],
    "fpb-8.0-b": [
        "The attack on 2312 is not allowed: B is not beside the hex",
    ],
    "fpb-8.2.4-untold": [
        "The attack on 2312 cannot be summed up; needs counters (rule 8.2.1)",
    ],
    "fpb-8.5-a": [
        "The attack on 2312 is at +4 on line 5, column 10: D3; it waits for the choice stiff",
    ],
    "fpb-8.1.3-a": [
        "The bombardment on 2312 is at +0 on line 5, column 7: Ex, applied as NE",
    ],
    "fpb-8.0-a": [
        "The bombardment on 2312 is not allowed: it was attacked in this phase already",
    ],
    "fpb-17.1-a": [
        "The US side has +3; 1 marker back to the cup",
    ],
    "fpb-16.2.2-a": [
        "Japan draws nothing: 2 markers are drawn, no fewer",
    ],
    "fpb-18.1-withhold": [
        "1 naval marker withheld for 0303",
        "No naval fire is withheld: two markers to a hex are the most",
    ],
    "fpb-8.0-d": [
        "It is the combat phase of us; next comes mobile movement of us",
    ],
    "fpb-12.0-a": [
        "Assault boats in 1301; 1301 at once a landing beach",
        "No assault boats in 1201: jungle without a road",
    ],
    "fpb-11.2-b": [
        "T lands in 1101; it goes on to 1201; 3 points spent",
        "T may not land in 1101: it must go on to a free hex",
    ],
    "fpb-11.2-untold": [
        "It is not known whether A may land in 1501; needs the game turn (rule 11.2)",
        "How many may be rebuilt is not known: the island is not told",
        "The game turn is not told, and so not which comes next",
        "Landing beaches open in 1301",
    ],
    "fpb-11.1-b": [
        "Rebuilt: A and B",
        "2 rebuilds, of A, B and C: to be chosen",
        "No rebuild: D may not be rebuilt",
    ],
    "fpb-19.0-a": [
        "row 2 is placed in 1303, after 2 rolls for taken hexes",
        "row 1-2-8 is placed by die: 1303 2/5 and 1404 3/5",
    ],
    "fpb-18.4-a": [
        "A is not placed: a Japanese unit is there",
    ],
    "fpb-18.3-a": [
        "The US side wins",
        "Nobody has won yet; not captured: 1 hex: 1601",
    ],
    "fpb-18.2-e": [
        "The Japanese win: -2 victory points",
    ],
    "fpb-4.1-end": [
        "Game turn 4 begins",
        "The game is over; the US side wins",
        "What was done in the player turn is forgotten",
    ],
    "fpb-16.1-d": [
        "A moves to 1505 for 0.5 points: it marches for the nearest airstrip hex",
        "B moves, and the US player chooses how",
        "It is not known whether C moves; needs terrain_key (rule 5.4)",
    ],
    "fpb-16.1-e": [
        "B stays: every way is barred, and a US unit is beside it",
    ],
    "fpb-16.2-a": [
        "Must attack: A on 1105 and E and F on 1905",
        "No attack must be made",
        "No attacks by principle: two players attack as they like",
    ],
    "fpb-12.1-must": [
        "The phase cannot end: a unit waits in the sea for every boat in a held hex",
        "Nothing is left that must be done",
        "us has 1 action now",
    ],
    "fpb-4.1-b": [
        "T has no action now",
    ],
    "fpb-6.1-e": [
        "T may move to 2311 for 4 points; 3 left",
        "It is not known whether T may move to 2310; needs terrain_key (rule 5.4)",
    ],
    "fpb-5.3-a": [
        "A may not move to 2411: a friend is there; 1 point spent, 3 left",
    ],
    "fpb-5.2-a": [
        "A may end its move in 1 hex: 2311; there is no way to 2310",
    ],
    "fpb-18.1-j": [
        "A may move to 2209 for 2 points; 2 left; captured placed in 2209",
        "Y may move to 2710 for 1 point; 7 left; assault boat removed in 2711; landing beach placed in 2711;"
        " waiting comes ashore in 2711",
    ],
    "fpb-10.6-a": [
        "All in 2311 may be together; 2 units, within the limit of 2",
        "Not all in 2411 may be together: 2 here, 1 may be; 2 units, 1 over the limit of 1",
    ],
    "fpb-8.2.2-a": [
        "An attack on 2311 uses line 5: clear",
        "A bombardment of 2311 uses line 5: clear",
        "An attack on 2311 has no line: far is not beside the hex",
    ],
    "fpb-8.2.2-f": [
        "A bombardment of 2211 has no line: the line of sea; needs the line of sea (rule 8.2.2)",
    ],
    "fpb-8.2-crt-e": [
        "Line 5, differential 3 is column 9: a roll of 1 is D2",
        "Line 5, differential 3 is column 9: D2 1/3, Ex 1/2 and NE 1/6",
    ],
    "fpb-8.2.1-beyond": [
        "Line 1, differential -5: no attack can be made",
    ],
    "fpb-8.3-f": [
        "U retreats 1 hex, to 3 hexes: 2213, 2313, 2413",
    ],
    "fpb-8.3-a": [
        "U cannot retreat; it is eliminated",
    ],
    "fpb-8.3-e": [
        "U retreats 2 hexes, to 1 hex: 2314; it is depleted",
    ],
    "fpb-8.3-through": [
        "U retreats 2 hexes, to 1 hex: 2314; through 2313",
    ],
    "fpb-8.3.1-a": [
        "U retreats 1 hex, if it displaces who is in 2313",
    ],
    "fpb-8.3-g": [
        "afloat goes off the map",
        "afloat goes off the map; it is depleted",
    ],
    "fpb-14.0-a": [
        "near is fortified by builder",
        "dug in is fortified",
        "far is not fortified",
    ],
    "fpb-14.0-island": [
        "It is not known whether near is fortified; needs the island (rule 14.0)",
    ],
    "bob-14.0-a": [
        "A2 does not see A5: blocked by A3; range 3",
        "B2 sees B5 unhindered; range 3",
    ],
    "ccp-16.3.4-corner": [
        "A1 does not see B5: blocked by A4; hindrance 5; range 5",
    ],
    "css-6.2.1-cane": [
        "It is not known whether 22.12 sees 22.14; range 2; needs what sugar cane does to sight is"
        " not printed (rule 6.2.1)",
    ],
    "ddp-8.1-between": [
        "0305 may not fire at 0303: blocked by 0304; range 2",
        "0705 may fire at 0703; range 2",
        "It is not known whether B/1 Tk may fire at 0303; range 2; needs the range of B/1 Tk (rule 8.1)",
    ],
    "css-6.3-ridge": [
        "2/322 sees 5 hexes within range 1: 57.68, 58.67, 58.69, 59.67, 59.68",
    ],
    "ccp-T89.3.2-levels": [
        "A1 sees 13 hexes within range 6",
    ],
    "ddp-8.1-spine": [
        "0505 may fire at 15 hexes",
    ],
    "css-7.2-a": [
        "mortar has no fire zone",
    ],
    "css-7.2-beset-untold": [
        "X has no fire zone; not all is known: needs the fire that the counter of X prints (rule 7.2)",
    ],
    "css-22.3.1-zone": [
        "The fire zones of japan have 149 hexes; by hidden gun (56), long gun (92), short gun (68)"
        " and shorter gun (59); the final run-in off 23.59 and the approach off 23.59",
    ],
    "ccp-O27.1-a": [
        "The units of allied may fire at 40 hexes; by A (6) and B (39)",
    ],
    "ccp-O27.3.1-pair": [
        "Pair may fire at 1 hex: A2; its weapon at 2 hexes: A2, A3; Hindrance leaves no FP at 5"
        " hexes: A3, A4, A5, A6, A7",
    ],
    "ccp-A41-c": [
        "Held may fire at no hex",
    ],
    "css-12.1-a": [
        "There is a way for a support weapon from HQ/9 to A/1/9: 22.12, 23.12, 24.13",
        "There is no way for a support weapon from HQ/9 to B/1/9",
    ],
    "css-8.5.1-b": [
        "It is not known whether there is a way for a routed unit from 2/18 to HQ/18; needs the"
        " mobility of 2/18 (rule 8.5.1)",
    ],
    "css-10.2-a": [
        "A may move to 71.78 for 2 points; 0 left; DG becomes 0 in 70.79 and 3 in 71.78",
    ],
    "css-10.2-c": [
        "A may move to 71.78 for 1 point; 1 left; 3/II/10 may fire at it in 70.79; DG becomes 3 in 70.79",
    ],
    "css-10.2-d": [
        "C may not move to 23.80: pinned units do not move; 0 points spent, 5 left",
        "C cannot move: pinned units do not move",
    ],
    "css-12.1-left": [
        "C may move to 22.77 for 1 point; 4 left; it leaves Mason, Hall and bazooka alone; not all"
        " is known: needs whether the hex is in the zone of 2/18 (rule 8.6)",
        "D with E and Craig may move to 23.77 for 1 point; 4 left; it leaves mortar alone",
    ],
    "css-15.0-truck": [
        "1/12/3 with truck may move to 22.79 for 0.5 points; 15.5 left",
    ],
    "css-22.1-landing": [
        "I/3/3 may not move to 23.60: it lands on the beach of its zone and stops there; it fails at 23.59",
    ],
    "css-26.0-a": [
        "gun may shift to 22.76; artillery shifts by night, without going into column",
        "gun may not shift to 22.75: two hexes and no more",
        "gun may shift to 16 hexes",
    ],
    "css-28.1-roll": [
        "A may move to 35.79 for 2 points; 3 left; 3/I/38 may fire at it in 35.80; dice are rolled"
        " by 28.1 in 35.81 and 23.0 in 35.79",
    ],
    "css-3.2-move": [
        "It is not known whether untold may move to 22.80; needs the movement allowance of untold (rule 3.2)",
    ],
    "css-6.2.1-deploy": [
        "E may change to column and move to 21.79 for 1 point; 4 left",
    ],
    "css-6.2.1-mangroveDG": [
        "C may change to deployed in 22.77; DG becomes 2 in 22.77",
    ],
    "ccp-14.2-b": [
        "Front may move off the map from C1 for 1 point; 0 left",
        "Front may advance off the map from C1",
        "Flank may not move off the map from A3: there is no Exit Point here; 0 points spent, 4 left",
        "It is not known whether Unsure may move off the map from E1; needs the side that may leave"
        " by Exit Point unclear (rule 14.2.1)",
    ],
    "ccp-19.1-leaving": [
        "One with Two may move to A1 for 2 points; 2 left; Enemy may fire at it in A2 and A1",
        "One with Two may advance to A2",
    ],
    "ccp-F104.1-mines": [
        "One with Two may move to A3 for 2 points; 2 left; Gun may fire at it in A3; dice are rolled"
        " by F104.1 in A2 (2 times) and F104.1 in A3",
    ],
    "ccp-3.2-b": [
        "Broken may end its move in A1 for 0, A2 for 1 and A3 for 2 points",
    ],
    "ccp-F102-d": [
        "Mole may advance to 9 hexes: A2, A3, B1, B2, B3, C2, C3, E5, N8",
    ],
    "css-24.2-along": [
        "2/18 with ambushers cannot move: an ambush unit is always deployed",
    ],
    "css-6.1.2-cave": [
        "2/18 may end its move in 20 hexes for up to 3 points; cheapest way to 22.78 for 2 points:"
        " 22.77, 22.78",
    ],
    "css-6.2.1-cane-cost": [
        "C may end its move in 17 hexes for up to 2 points; not all is known: needs what sugar cane"
        " costs (rule 6.2.1)",
    ],
    "css-6.1-a": [
        "All in 22.78 may be together; 4 units, 1 over the limit of 3; DG 1, 1 of it added",
        "All in 23.78 may be together; 3 units, within the limit of 3",
    ],
    "css-6.1-b": [
        "All in 22.78 may be together; 5 units, 2 over the limit of 3; mixed, of 2 formations; DG 3,"
        " 2 of it added",
    ],
    "css-6.3-cave-full": [
        "Not all in 22.78 cave may be together: never more than two inside a cave; 3 units, 1 over"
        " the limit of 2; not all is known: needs of which formation every unit is (rule 6.1)",
    ],
    "ccp-15.2-b": [
        "All in B2 may be together; 8 figures, 1 over the limit of 7; not so at set-up; cover 0;"
        " morale s1 7, s2 7",
    ],
    "ccp-15.1-c": [
        "Not all in B4 may be together: where a blaze is no unit, fortification or smoke may be; no"
        " figure, within the limit of 7; smoke 2",
    ],
    "ddp-10.21-a": [
        "A/1/5 is in command, by 5th HQ, which gives free action and radio",
        "Pack Howitzers is out of command: no HQ or command post commands it",
    ],
    "bob-64.1-no-company": [
        "Tank is in command",
    ],
    "css-5.1-untold": [
        "It is not known whether A/1/21 is in command; needs the command range of 21 RCT HQ (rule 5.1)",
    ],
}
"""What is said of questions of these cases."""


@pytest.mark.parametrize("case", VERDICTS)
def test_a_verdict_is_the_sentence_of_its_kind(connection: Connection, case: str) -> None:
    path = CASES / case.partition("-")[0] / f"{case}.yaml"
    _, rulings = rule_text(connection, path.read_bytes(), path.name)
    said = [words.verdict(ruling) for ruling in rulings]
    assert [sentence for sentence in VERDICTS[case] if sentence not in said] == [], said


def test_every_kind_has_a_yes_a_no_and_a_not_known_among_them() -> None:
    """What a kind cannot answer is left out: a range is always a number."""
    said = " | ".join(sentence for case in VERDICTS.values() for sentence in case)
    patterns = {
        "range": ("The range from",),
        "trace": ("The line from",),
        "los": (r"sees \d\d\.\d\d", "does not see", "not known whether 22.12 sees", "may not fire at"),
        "fan": ("sees 5 hexes", "may fire at 15 hexes"),
        "fire_zone": (
            "fire zone of",
            "has no fire zone",
            "no fire zone; not all is known",
            "may fire at no hex",
        ),
        "trace_path": ("There is a way", "There is no way", "not known whether there is a way"),
        "move": ("may move to", "may not move to", "not known whether untold may move"),
        "reach": ("may end its move in", "there is no way to", "hexes for up to 2 points; not all is known"),
        "stack": (r"\| All in", "Not all in", "not all is known: needs of which formation"),
        "zoc": ("zone of control of alone has", "has no zone of control"),
        "withhold": ("1 naval marker withheld for 0303", "No naval fire is withheld: two markers"),
        "sequence": ("It is the combat phase of us; next comes mobile movement of us",),
        "terrain_line": ("uses line 5", "has no line: far", "has no line: the line of sea; needs"),
        "crt": ("a roll of 1 is D2", "NE 1/6", "no attack can be made"),
        "attack": (
            "is at \\+3 on line 5",
            "attack on 2312 is not allowed",
            "cannot be summed up",
            "waits for the choice",
        ),
        "bombardment": ("applied as NE", "bombardment on 2312 is not allowed"),
        "draw": ("The US side has", "Japan draws nothing"),
        "retreat": ("U retreats 1 hex, to", "U cannot retreat", "if it displaces", "goes off the map"),
        "fortified": (r"near is fortified by", "is not fortified", "not known whether near is fortified"),
        "assault_boats": ("Assault boats in", "No assault boats in"),
        "open_beaches": ("Landing beaches open in",),
        "landing": ("T lands in", "may not land in", "not known whether A may land"),
        "rebuild": ("Rebuilt: A", "No rebuild", "How many may be rebuilt is not known"),
        "placement": ("is placed in", "is not placed", "is placed by die"),
        "victory": ("The US side wins", "The Japanese win", "Nobody has won yet"),
        "end_player_turn": ("What was done in the player turn",),
        "end_turn": ("Game turn 4 begins", "The game is over", "The game turn is not told"),
        "forced_move": ("A moves to", "B stays", "not known whether C moves"),
        "forced_attacks": ("Must attack", "No attack must be made", "No attacks by principle"),
        "duties": ("The phase cannot end", "Nothing is left that must be done"),
        "legal": ("us has 1 action now", "T has no action now"),
        "threats": ("No enemy can fire at", "1 enemy unit can fire at", "The worst hex of the way is"),
        "command": ("is in command", "is out of command", "not known whether A/1/21 is in command"),
    }
    assert patterns.keys() >= {kind.name for kind in common_kinds()}
    assert [found for parts in patterns.values() for found in parts if not re.search(found, said)] == []


def ruling(kind: str, question: dict[str, Any], answer: dict[str, Any], **fields: Any) -> Ruling:
    blank: dict[str, Any] = {"steps": [], "contested": [], "needs": [], "policy": {}}
    known = kinds_of("css").get(kind)
    return Ruling("css", kind, {kind: question}, answer, question_kind=known, **blank | fields)


def test_a_line_that_an_end_stops_tells_why() -> None:
    steps = [
        Step("7.1.2", "24.80", "blocks", "sight is 8 hexes, the range is 10"),
        Step("7.1.1", "24.80", "blocked", ""),
    ]
    far = ruling(
        "los",
        {"from": "A", "to": "B"},
        {"visible": False, "range": 10, "blocked_by": ["23.79", "24.80"]},
        steps=steps,
    )
    assert words.verdict(far) == (
        "A does not see B: sight is 8 hexes, the range is 10; blocked by 23.79; range 10"
    )


def test_a_zone_out_of_all_range_has_none() -> None:
    assert words.verdict(ruling("range", {"from": "A", "to": "B"}, {"range": None})) == (
        "There is no range from A to B: one of them is in a zone out of all range"
    )
    assert words.verdict(ruling("range", {"from": "A", "to": "A"}, {"range": 0})).endswith("is 0 hexes")


def test_neighbours_have_nothing_between_them() -> None:
    said = words.verdict(ruling("trace", {"from": "A", "to": "B"}, {"trace": [], "touches": []}))
    assert said == "The line from A to B passes nothing on its way"


def test_a_long_list_is_counted_in_the_sentence_and_told_below_it() -> None:
    labels = [f"22.{number}" for number in range(10, 10 + words.LISTED)]
    short = ruling("fan", {"from": "A"}, {"visible": labels})
    assert words.verdict(short) == f"A sees 12 hexes: {', '.join(labels)}"
    assert words.lists(short) == {}
    long = ruling("fan", {"from": "A"}, {"visible": [*labels, "23.10"]})
    assert words.verdict(long) == "A sees 13 hexes"
    assert words.lists(long) == {"visible": ", ".join([*labels, "23.10"])}
    passed = ruling("trace", {"from": "A", "to": "B"}, {"trace": [*labels, "1.1|1.2"], "touches": []})
    assert words.verdict(passed) == "The line from A to B passes 12 hexes and 1 hexside"


def test_many_needs_are_named_up_to_three() -> None:
    needs = [Need(f"chart {number}", "1.1") for number in range(1, 6)]
    said = words.verdict(
        ruling(
            "los", {"from": "A", "to": "B"}, {"visible": None, "range": None, "blocked_by": []}, needs=needs
        )
    )
    assert said == (
        "It is not known whether A sees B; needs chart 1 (rule 1.1), chart 2 (rule 1.1), chart 3 (rule 1.1)"
        " and 2 more"
    )


def test_an_answer_that_stands_names_one_need() -> None:
    needs = [Need(f"chart {number}", "1.1") for number in (1, 2)]
    zone = ruling("fire_zone", {"unit": "A"}, {"hexes": [], "naval": {}}, needs=needs)
    assert words.verdict(zone) == (
        "A has no fire zone; not all is known: needs chart 1 (rule 1.1) and 1 more"
    )


def test_what_holds_is_told_by_yes_and_no() -> None:
    assert words.arguments_in_words({"night": True, "rain": False, "turn": 1}) == [
        "night yes",
        "rain no",
        "turn 1",
    ]


def test_halves_are_told_as_such() -> None:
    answer = {"hexes": {"22.78": 0, "22.79": Decimal("0.5")}}
    assert words.verdict(ruling("reach", {"unit": "A"}, answer)) == (
        "A may end its move in 22.78 for 0 and 22.79 for 0.5 points"
    )


def test_a_ruling_of_a_kind_that_is_gone_is_told_key_by_key() -> None:
    gone = ruling("lob", {"from": "A", "to": "B"}, {"visible": False, "range": 5, "blocked_by": ["22.76"]})
    assert gone.question_kind is None
    assert words.verdict(gone) == "not visible; range 5; blocked by 22.76"
    assert gone.as_dict()["verdict"] == words.verdict(gone)


def test_a_ruling_that_was_kept_with_other_keys_is_told_key_by_key() -> None:
    early = ruling("command", {"unit": "A"}, {"commanded": True, "by": ["HQ"]})
    assert words.verdict(early) == "commanded; by HQ"
    unproved = ruling("command", {"unit": "A"}, {"in_command": False, "by": [], "gives": []})
    assert words.verdict(unproved) == "not in command"


def test_a_step_has_rule_clause_place_effect_and_note_in_this_order() -> None:
    assert str(words.step_in_words(Step("7.1.1", "22.79|23.79", "passes", "clear", "b"))) == (
        "7.1.1 b at 22.79|23.79: passes: clear"
    )
    assert str(words.step_in_words(Step("6.0", None, Decimal("0.5"), "a road"))) == "6.0: 0.5: a road"


def test_a_contested_point_tells_its_reading_and_whether_it_decides() -> None:
    touched = {"point": "css-12", "reading": "b", "decides": False}
    assert str(words.point_in_words("css", touched)) == (
        "contested css-12 (Rice Paddy and sight), read as b (Counts with Brush): the answer stands either way"
    )
    gone = {"point": "css-9999", "reading": "a", "decides": True}
    assert str(words.point_in_words("css", gone)) == (
        "contested css-9999, read as a: another reading would change the answer"
    )


# --- the same at every door ---

PADDY = {
    "case": "paddy-line",
    "title": "Brush beyond a paddy",
    "ruleset": "css",
    "map": {"extent": ["20.74", "24.81"], "hexes": {"22.78": "rice_paddy", "22.76": "brush"}},
    "ask": [{"los": {"from": "22.80", "to": "22.75"}}],
}
SAID = "22.80 does not see 22.75: blocked by 22.76; range 5"
CONTESTED = "another reading would change the answer"


@pytest.fixture(scope="module")
def url(databases: Databases) -> URL:
    """A database with the demo, in which rulings may be kept."""
    return databases.make()


@pytest.fixture(scope="module")
def doors(url: URL) -> Iterator[Engine]:
    engine = make_engine(url)
    load_demo(engine, str)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def client(doors: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(doors)).test_client()


def shown(client: FlaskClient, address: str) -> list[str]:
    """The verdicts that a page shows."""
    page = client.get(address).text
    return [unescape(found) for found in re.findall(r'<p class="verdict[^>]*>([^<]*)</p>', page)]


def test_every_door_tells_a_case_in_the_same_words(client: FlaskClient, url: URL, tmp_path: Path) -> None:
    [ruled] = client.post("/api/v1/rulings", json=PADDY).json
    assert ruled["verdict"] == SAID
    address = f"/rulings/{ruled['ruling']}"
    assert client.get(f"/api/v1{address}").json["verdict"] == SAID
    assert [one["verdict"] for one in client.get("/api/v1/rulings").json["rulings"]] == [SAID]
    assert shown(client, address) == [SAID]
    assert shown(client, f"{address}/again") == [SAID]
    for page in ("/rulings", "/search?q=paddy"):
        assert f"<strong>{SAID}</strong>" in client.get(page).text
    desk = client.post("/cases", data={"text": json.dumps(PADDY)}).text
    assert f">{SAID}</p>" in desk
    assert CONTESTED in desk
    file = tmp_path / "paddy.json"
    file.write_text(json.dumps(PADDY))
    sightline = CommandLine(url)
    report = sightline("rule", file)
    assert f"{SAID}  los from 22.80, to 22.75" in report.lines
    assert CONTESTED in report.out
    assert sightline("rule", "--json", file).json[0]["verdict"] == SAID
    assert sightline("rulings", "list").lines[0].split("\t")[-1] == SAID
    assert f"{SAID}  los from 22.80, to 22.75" in sightline("rulings", "show", ruled["ruling"]).lines


QUESTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("los", {"from": "A/1/31", "to": "14.12"}, "does not see"),
    ("fan", {"from": "A/7 Tank", "range": 5}, "hexes within range 5"),
    ("command", {"unit": "A/1/31"}, "is in command"),
    ("reach", {"unit": "C/1/31"}, "hexes for up to"),
    ("move", {"unit": "C/1/31", "path": ["13.16"]}, "C/1/31 may"),
    ("stack", {"hex": "13.15"}, "13.15"),
]


@pytest.mark.parametrize(("kind", "arguments", "part"), QUESTIONS)
def test_every_door_tells_a_saved_position_in_the_same_words(
    client: FlaskClient, url: URL, kind: str, arguments: dict[str, Any], part: str
) -> None:
    asked = client.post("/api/v1/ask", json={"on": "lipata-landing", "question": {kind: arguments}}).json
    said = asked["verdict"]
    assert part in said
    query = {name: ",".join(value) if isinstance(value, list) else value for name, value in arguments.items()}
    page = client.get("/positions/lipata-landing", query_string={"tool": kind, **query}).text
    assert [unescape(found) for found in re.findall(r'<p class="verdict[^>]*>([^<]*)</p>', page)] == [said]
    assert f"<title>{said} · " in unescape(page)
    flat = [word for value in arguments.values() for word in (value if isinstance(value, list) else [value])]
    line = [str(word) for word in flat]
    if kind == "fan":
        line.insert(1, "--range")
    told = CommandLine(url)(kind, "lipata-landing", *line)
    assert told.lines[0].startswith(f"{said}  {kind} ")
    for step in asked["steps"]:
        place = f" at {step['at']}" if "at" in step else ""
        clause = f" {step['clause']}" if "clause" in step else ""
        assert f"  {step['rule']}{clause}{place}: {step['effect']}: {step['note']}" in told.lines
    for name, members in words.lists(as_ruling(asked)).items():
        assert f"  {name}: {members}" in told.lines
        assert members in unescape(page)


def as_ruling(asked: dict[str, Any]) -> Ruling:
    [(kind, arguments)] = asked["question"].items()
    return ruling(kind, arguments, asked["answer"])


def test_a_kept_ruling_of_a_kind_that_is_gone_has_its_page(
    client: FlaskClient, doors: Engine, url: URL
) -> None:
    [ruled] = client.post("/api/v1/rulings", json=PADDY | {"case": "gone"}).json
    with doors.begin() as connection:
        table = SavedRuling.__table__
        row = dict(connection.execute(sa.select(table).filter_by(id=ruled["ruling"])).mappings().one())
        gone = {"lob": row["question"]["los"]}
        changed = {
            "id": "d" * 20,
            "kind": "lob",
            "question": gone,
            "document": row["document"] | {"ask": [gone]},
        }
        touched = [{"point": "css-9999", "reading": "a", "decides": True}]
        connection.execute(sa.insert(SavedRuling).values(**row | changed | {"contested": touched}))
    general = "range 5; not visible; blocked by 22.76"
    assert shown(client, f"/rulings/{'d' * 20}") == [general]
    assert client.get(f"/api/v1/rulings/{'d' * 20}").json["verdict"] == general
    told = CommandLine(url)("rulings", "show", "d" * 20)
    assert told.lines[1].startswith(f"{general}  lob ")
    assert "  contested css-9999, read as a: another reading would change the answer" in told.lines
    assert general in client.get("/rulings?kind=lob").text


def test_an_answer_that_is_nothing_is_open_only_where_something_is_wanting() -> None:
    """No enemy can fire there: a plain answer, though there is no worst hex to tell."""
    safe = {"counts": {"22.82": 0}, "worst": None}
    assert words.mood(safe, []) == "plain"
    assert words.mood(safe, ["the range of a gun"]) == "open"
    assert words.mood(safe) == "open", "of a ruling kept before its needs were"
    assert words.mood({"visible": None}, []) == "open"
    assert words.mood({"visible": False}, []) == "no"
