"""Statements that a fact-check found wrong or missing, held against the books where these are beside the project.

Each takes the number or the word from the book itself, by a few words around it, and compares it with what the
data, the digest, the concept or the chart says.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from db.rulesets import CODES, FOLDER, Effect, read_ruleset
from importers.rulebook import parse

DATA = Path(__file__).parent / "data"
EXCEPTIONS = yaml.safe_load((DATA / "rulebook_exceptions.yaml").read_text(encoding="utf-8"))
CONCEPTS = yaml.safe_load((FOLDER / "concepts.yaml").read_text(encoding="utf-8"))["concepts"]


def cell(code: str, chart: str, row: str, column: str) -> str | None:
    cells = {(r, c): found.value for r, c, found in read_ruleset(code).charts[chart].each_cell()}
    return cells[row, column]


def digest(code: str, number: str) -> str:
    return next(rule.digest for rule in read_ruleset(code).rules if rule.number == number)


def term(code: str, name: str) -> str:
    return next(entry.definition for entry in read_ruleset(code).terms if entry.term == name)


def first(effects: tuple[Effect, ...]) -> str:
    return str(effects[0].value)


def overlay(code: str, name: str) -> tuple[Effect, ...]:
    return read_ruleset(code).terrain.overlays[name].fire


def says(text: str, pattern: str) -> str:
    """The number that our text gives, by a pattern with one group."""
    found = re.search(pattern, text)
    assert found, f"{pattern!r} is not in {text!r}"
    return found[1]


def comparison(concept: str, pattern: str) -> str:
    return says(" ".join(CONCEPTS[concept]["comparison"].split()), pattern)


NUMBERS: dict[str, tuple[str, str, Callable[[], str | None]]] = {
    "fpb a village costs 1 more": (
        "fpb",
        r"village \(\+(\d) MP",
        lambda: first(read_ruleset("fpb").terrain.terrain["village"].cost["leg"]),
    ),
    "fpb the terrain key has the village": (
        "fpb",
        r"village \(\+(\d) MP",
        lambda: cell("fpb", "terrain_key", "village", "plus"),
    ),
    "css a foxhole is -1": (
        "css",
        r"have a foxhole - so (-\d)",
        lambda: cell("css", "fortification_values", "foxhole", "defense"),
    ),
    "css a barrage on the firer is -2": (
        "css",
        r"under a Barrage - (-\d)",
        lambda: says(digest("css", "8.3.1"), r"Barrage on the firer (-\d)"),
    ),
    "css the ambush number of a town is 7": (
        "css",
        r"for towns, the Japanese needs to roll a (\d)",
        lambda: cell("css", "terrain_effects_chart", "town", "ambush"),
    ),
    "css going into a cave costs 1": (
        "css",
        r"pay (\d) Movement Point to enter the cave",
        lambda: says(digest("css", "6.3"), r"pays (\d) Movement Point to go in"),
    ),
    "bob a panzerfaust has 22": (
        "bob",
        r"destroy it: (\d+) FP",
        lambda: cell("bob", "satw_values", "panzerfaust", "fp"),
    ),
    "bob two hexes cost a SATW check 2": (
        "bob",
        r"SATW number, (-\d) Range",
        lambda: cell("bob", "pac_satw", "range/2", "value"),
    ),
    "bob a foxhole is -2 against aircraft": (
        "bob",
        r"11 FP (-\d) for the Foxholes",
        lambda: cell("bob", "pac_terrain", "foxhole", "fire_aircraft"),
    ),
    "bob a small feature is -1 to infantry fire": (
        "bob",
        r"vertices\) gets a (-\d) Infantry",
        lambda: first(overlay("bob", "small_feature")),
    ),
    "bob a small feature is -1 to prof": (
        "bob",
        r"firing at that unit get (-\d) to Prof Rating\. Units on",
        lambda: cell("bob", "pac_prof", "small_feature", "value"),
    ),
    "bob a ridge is -1 to infantry fire": (
        "bob",
        r"to a Ridge hex gets a (-\d)",
        lambda: first(overlay("bob", "ridge")),
    ),
    "bob the card has the ridge": (
        "bob",
        r"to a Ridge hex gets a (-\d)",
        lambda: cell("bob", "pac_hexside", "ridge", "fire_infantry"),
    ),
    "bob a ridge is -1 to prof": (
        "bob",
        r"to a Ridge hex gets a -\d [^.]*? get (-\d) to Prof",
        lambda: cell("bob", "pac_prof", "ridge", "value"),
    ),
    "ccp smoke hinders by 1 at least": (
        "ccp",
        r"LOS: (\d)-\d Hindrance into",
        lambda: first(read_ruleset("ccp").terrain.overlays["smoke"].hindrance),
    ),
    "ccp smoke hinders by 8 at most": (
        "ccp",
        r"LOS: \d-(\d) Hindrance into",
        lambda: says(str(read_ruleset("ccp").terrain.overlays["smoke"].hindrance[0].when), r"up to (\d)"),
    ),
    "ccp a hill costs 1 a level": (
        "ccp",
        r"unit must expend \+(\d) MP per elevation",
        lambda: first(read_ruleset("ccp").terrain.overlays["hill"].cost["all"]),
    ),
    "ddp action under fire adds a hit": (
        "ddp",
        r"fortified position is increased by (one)",
        lambda: {"1": "one"}.get(str(cell("ddp", "fortified_hit_limits", "plus_action_under_fire", "hits"))),
    ),
    "ddp the attack chart: less, unit alone, without weapons": (
        "ddp",
        r"less than the Japanese strength \(7:8\)[^\n]*(disrupt) the attacking US unit and add a depth",
        lambda: (
            "disrupt"
            if cell("ddp", "us_attack_chart", "without_weapons/less", "alone")
            == "attackers_disrupted add_depth"
            else None
        ),
    ),
    "ddp buildings double strength outright": (
        "ddp",
        r"strength of 4, doubled to (\d) for occupying buildings",
        lambda: str(4 * int(cell("ddp", "terrain_effects_chart", "buildings", "strength_factor") or 0)),
    ),
}
"""What the book says, by a few words around a number, and where ours stands."""


@pytest.mark.parametrize("statement", NUMBERS)
def test_a_number_is_the_books(books: dict[str, str], statement: str) -> None:
    code, pattern, ours = NUMBERS[statement]
    found = re.search(pattern, books[code])
    assert found, f"the book does not have {pattern!r}"
    assert ours() == found[1]


@pytest.fixture(scope="module")
def books(rulebooks: Path) -> dict[str, str]:
    return {code: next(rulebooks.glob(f"{code}-*.txt")).read_text(encoding="utf-8") for code in CODES}


def test_css_scatter_falls_on_the_target_up_to_3_and_south_east_on_6(books: dict[str, str]) -> None:
    low, high, die = re.search(r"rolls a (\d)-(\d), [^\n]*? rolls say a (\d)", books["css"]).groups()  # type: ignore[union-attr]
    lands = {str(n): cell("css", "scatter_chart", str(n), "lands") for n in range(10)}
    assert {key for key, value in lands.items() if value == "on_target"} == {
        str(n) for n in range(int(low), int(high) + 1)
    }
    assert {key for key, value in lands.items() if value == "3"} == {die}
    assert {value for key, value in lands.items() if int(key) in (4, 5, 7, 8, 9)} == {None}


def test_css_division_displays_are_open(books: dict[str, str]) -> None:
    assert re.search(r"Either Player may look at his opponent's Division Display", books["css"])
    assert "open to both players" in term("css", "Division Display")
    assert "Either player may look" in digest("css", "19.0")


def test_bob_a_breach_costs_half_the_points_of_an_armored_vehicle(books: dict[str, str]) -> None:
    assert re.search(r"cost of half of its MP \(rounded down\)", books["bob"])
    assert says(digest("bob", "54.5"), r"(half its MPs \(rounded down\))")
    assert "half its Movement Points, rounded down" in read_ruleset("bob").terrain.overlays["breach"].note


def test_ccp_the_manifest_stands_on_the_back_cover(books: dict[str, str]) -> None:
    chart = read_ruleset("ccp").charts["order_action_manifest"]
    assert (chart.rule, chart.place) == ("1", "on the back cover")
    at = books["ccp"].index("ORDER & ACTION MANIFEST")
    assert at > 0.95 * len(books["ccp"]), "it is at the very end, far behind 1.8"


def test_ccp_hills_and_smoke_are_in_the_terrain_data(books: dict[str, str]) -> None:
    overlays = read_ruleset("ccp").terrain.overlays
    assert re.search(r"T89\b", books["ccp"])
    assert (overlays["hill"].rule, overlays["smoke"].rule) == ("T89", "T95")
    assert (first(overlays["hill"].cost["all"]), first(overlays["smoke"].hindrance)) == ("1", "1")


def test_ccp_the_converse_of_blind_hexes_is_told(books: dict[str, str]) -> None:
    assert re.search(r"Conversely, a unit on a level 1 hill", books["ccp"])
    assert "looks up past a level 1 building" in digest("ccp", "T89.4.1")


def test_ddp_machine_guns_hit_beside_intense_hexes_without_disruption(books: dict[str, str]) -> None:
    assert re.search(r"loses a step, but is not disrupted", books["ddp"])
    columns = ("symbol", "step", "disrupted")
    told = [cell("ddp", "japanese_fire_chart", "machine_guns", column) for column in columns]
    assert told == ["true", "true", "false"]


def test_concepts_say_what_the_books_say(books: dict[str, str]) -> None:
    assert re.search(r"choose any Active In-Command Unit", books["css"])
    assert comparison("command", r"(to load a Truck) \(css 19\.1")
    assert re.search(r"squads and teams \(only\)", books["ccp"])
    assert comparison("command", r"bonus to the (squads and teams) in his hex")
    assert comparison("leaders", r"to every (squad and team) in their hex")
    assert re.search(r"A1: \*?The attacking unit\(s\) must retreat one hex", books["fpb"])
    assert comparison("retreat", r"attackers by (one), two or three hexes")
    assert cell("fpb", "combat_results_key", "A1", "attacker") == "retreat_1"


@pytest.mark.parametrize(
    ("concept", "code", "printed"),
    [
        ("smoke", "ddp", r"Smoke prevents Japanese fire"),
        ("mines", "ddp", r"Minefield disrupts one US infantry"),
        ("caves", "ddp", r"Hidden Caves"),
        ("snipers", "bob", r"Sniper Attack: Pick"),
    ],
)
def test_a_concept_has_every_game_that_treats_it(
    books: dict[str, str], concept: str, code: str, printed: str
) -> None:
    assert re.search(printed, books[code])
    assert CONCEPTS[concept]["rules"].get(code)
    assert comparison(concept, rf"\(({code} [\d.]+)")


def test_ddp_36_cites_the_rule_that_the_event_stands_at(books: dict[str, str]) -> None:
    point = next(point for point in read_ruleset("ddp").contested if point.id == "ddp-36")
    assert point.cites == ("2.3",)
    assert cell("ddp", "event_descriptions", "minefield", "what")
    assert re.search(r"Minefield disrupts one US infantry", books["ddp"])


@pytest.mark.parametrize("code", CODES)
def test_a_digest_has_every_reference_that_its_rule_prints(books: dict[str, str], code: str) -> None:
    seen = {rule.number: set(rule.see) for rule in read_ruleset(code).rules}
    lacking = {
        f"{link.rule} to {link.target}"
        for link in parse(books[code], code).references
        if link.rule in seen and link.target in seen
        if link.target != link.rule and link.target not in seen[link.rule]
    }
    assert lacking == set(EXCEPTIONS["references"].get(code, {}))


@pytest.mark.parametrize(
    ("code", "printed", "ours", "told"),
    [
        ("css", r"used again in a following Activation", lambda: digest("css", "15.0"), "in a later Activation"),
        ("css", r"If the cave was unoccupied", lambda: digest("css", "11.2"), "an empty cave as well"),
        ("ddp", r"fires but no US units are hit, no further", lambda: digest("ddp", "13.2"), "without a hit nothing more"),
        ("bob", r"6FP against a target in Jungle and 10FP", lambda: digest("bob", "36.0"), "10 in Foxholes, 6 in Jungle"),
        ("bob", r"the FP is 15 \(7\+4\+4\)", lambda: digest("bob", "37.0"), "7 + 4 + 4 = 15"),
        ("bob", r"not Used or currently being Used", lambda: cell("bob", "japanese_event_table", "9", "what"), "nor being Used"),
        ("ccp", r"\* Banzai Posture only", lambda: read_ruleset("ccp").charts["order_action_manifest"].note, "Banzai Posture alone"),
        ("ccp", r"\*\* Defender Posture only", lambda: read_ruleset("ccp").charts["order_action_manifest"].note, "Defender alone"),
        ("ddp", r"do not place a fortification marker with the", lambda: cell("ddp", "event_descriptions", "infiltration", "what"), "getting none"),
        ("ddp", r"on the command track is not affected", lambda: cell("ddp", "event_descriptions", "cp_under_fire", "what"), "staying where it is"),
        ("ddp", r"same distance from US units, you choose", lambda: cell("ddp", "event_descriptions", "patrol_report", "what"), "of equals your choice"),
    ],
)  # fmt: skip
def test_what_a_further_reading_found_wanting_is_told(
    books: dict[str, str], code: str, printed: str, ours: Callable[[], str | None], told: str
) -> None:
    assert re.search(printed, books[code]), f"the book does not have {printed!r}"
    assert told in " ".join((ours() or "").split())
