"""The rulebook parser: on small books of our own in the five formats, and on the real books where present.

The real books are found by SIGHTLINE_RULEBOOKS or in `shared/rulebooks` beside the repository. Of their text
only numbers, titles and two or three words stand here.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from importers.rulebook import PROFILES, ParsedRulebook, RulebookError, parse

CODES = tuple(PROFILES)
SMALL_BOOKS = Path(__file__).parent / "data" / "rulebooks"
REAL_BOOKS = Path(
    os.environ.get("SIGHTLINE_RULEBOOKS", Path(__file__).resolve().parents[2] / "shared" / "rulebooks")
)


def small_text(code: str) -> str:
    return (SMALL_BOOKS / f"{code}.txt").read_text(encoding="utf-8")


@cache
def small(code: str) -> ParsedRulebook:
    return parse(small_text(code), code)


@cache
def real_text(code: str) -> str:
    found = sorted(REAL_BOOKS.glob(f"{code}*.txt"))
    if not found:
        pytest.skip(f"the rulebook of {code} is not here")
    return found[0].read_text(encoding="utf-8")


@cache
def real(code: str) -> ParsedRulebook:
    return parse(real_text(code), code)


def numbers(book: ParsedRulebook) -> list[str]:
    return [rule.number for rule in book.rules]


def kinds(book: ParsedRulebook, number: str) -> list[str]:
    return [passage.kind for passage in book.rule(number).passages]


def aside(book: ParsedRulebook, what: str) -> list[tuple[int, int]]:
    return [(span.first_line, span.last_line) for span in book.set_aside if span.what == what]


def assert_every_line_has_one_place(book: ParsedRulebook, text: str) -> None:
    places: defaultdict[int, set[str]] = defaultdict(set)
    for line, place in book.account():
        places[line].add(place)
    shared = {rule.line for rule in book.rules if Counter(r.line for r in book.rules)[rule.line] > 1}
    for number, printed in enumerate(text.split("\n"), 1):
        if printed.strip():
            assert places[number], f"line {number} has no place"
            assert len(places[number]) == 1 or number in shared, f"line {number} has places {places[number]}"


def assert_passages_are_the_lines(book: ParsedRulebook, text: str) -> None:
    lines = text.split("\n")
    for rule in book.rules:
        for passage in rule.passages:
            printed = " ".join("\n".join(lines[passage.first_line - 1 : passage.last_line]).split())
            assert printed.endswith(" ".join(passage.text.split())), f"rule {rule.number}"
            if passage.first_line != rule.line:
                assert printed == " ".join(passage.text.split()), f"rule {rule.number}"


def assert_no_rule_swallows_another(book: ParsedRulebook) -> None:
    headings = {rule.line: rule.number for rule in book.rules if not rule.recovered}
    for rule in book.rules:
        for passage in rule.passages:
            for line in range(passage.first_line, passage.last_line + 1):
                assert headings.get(line, rule.number) == rule.number


def assert_tree_is_sound(book: ParsedRulebook) -> None:
    assert len(set(numbers(book))) == len(book.rules)
    assert [rule.path for rule in book.rules] == sorted(rule.path for rule in book.rules)
    for rule in book.rules:
        if rule.parent is not None:
            parent = book.rule(rule.parent)
            assert rule.path[: len(parent.path)] == parent.path != rule.path
            assert rule in book.children(rule.parent)
            assert book.ancestors(rule.number)[-1] == parent
            assert rule in book.subtree(rule.parent)


# --- small books of our own -------------------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_small_book_is_understood_whole(code: str) -> None:
    book, text = small(code), small_text(code)
    assert_every_line_has_one_place(book, text)
    assert_passages_are_the_lines(book, text)
    assert_no_rule_swallows_another(book)
    assert_tree_is_sound(book)
    assert book.missing == ()


def test_contents_in_two_columns_are_no_rules() -> None:
    assert aside(small("css"), "contents") == [(6, 14)]
    assert small("css").rule("1.0").line == 16


def test_contents_with_dotted_leaders_are_no_rules() -> None:
    assert aside(small("fpb"), "contents") == [(1, 7)]
    assert numbers(small("fpb"))[:4] == ["1.0", "2.0", "2.1", "2.1.1"]


def test_crowded_and_torn_contents_are_no_rules() -> None:
    assert aside(small("ddp"), "contents") == [(2, 14)]
    assert small("ddp").rule("1.0").line == 16


def test_index_is_no_rule_and_no_reference() -> None:
    book = small("ccp")
    ((first, last),) = aside(book, "index")
    assert last - first > 20
    assert not any(first <= reference.line <= last for reference in book.references)


def test_rules_are_in_the_order_of_their_numbers() -> None:
    expected = "1.0 2.0 3.0 3.1 3.2 3.4 4.0 5.0 6.0 6.1 7.0 13.0 13.1 13.2"
    assert numbers(small("css")) == expected.split()


def test_heading_after_its_text_gets_the_text_back() -> None:
    book = small("css")
    assert [passage.first_line for passage in book.rule("13.1").passages] == [97, 85]
    assert book.rule("7.0").text.endswith("lantern is out.")


def test_lost_heading_is_recovered_from_the_contents() -> None:
    ferries = small("css").rule("5.0")
    assert (ferries.title, ferries.recovered) == ("FERRIES", True)
    assert ferries.text.startswith("Anyone may ask")
    latches = small("ddp").rule("2.12")
    assert (latches.title, latches.parent, latches.recovered) == ("Wooden Latches", "2.1", True)
    assert latches.text.startswith("Latches of the")


def test_section_printed_twice_is_kept_once() -> None:
    book = small("css")
    assert len(aside(book, "repeat")) == 1
    assert book.rule("4.0").text.count("Morning") == 1


def test_nought_for_the_letter_o_is_mended() -> None:
    book = small("ccp")
    assert [n for n in numbers(book) if n.startswith("O")] == [
        "O20",
        "O21",
        "O22",
        "O22.1",
        "O22.2",
        "O23",
        "O23.1",
    ]
    assert book.rule("O22.1").parent == "O22"


def test_plain_chapters_and_their_point_nought_are_two_rules() -> None:
    book = small("ccp")
    assert [rule.number for rule in book.subtree("1")] == ["1", "1.0", "1.1"]
    assert [rule.number for rule in book.chapters()] == ["1", "2", "O20", "O21", "O22", "O23"]


def test_letter_for_a_digit_and_missing_title_are_still_headings() -> None:
    book = small("fpb")
    assert [rule.number for rule in book.children("3.0")] == ["3.1", "3.2", "3.3"]
    assert book.rule("3.1").title == "Mending"
    assert book.rule("3.2").title == ""


def test_wrapped_line_that_begins_with_a_number_is_no_heading() -> None:
    book = small("fpb")
    assert book.rule("3.0").title == "NETS"
    assert "3.0 Nets or" in book.rule("2.1.1").text


def test_rule_whose_parent_is_absent_hangs_below_the_next_above() -> None:
    assert small("fpb").rule("2.3.2").parent == "2.0"


def test_compact_numbers_find_their_parents() -> None:
    book = small("ddp")
    parents = {rule.number: rule.parent for rule in book.rules}
    assert parents["2.11"] == "2.1"
    assert parents["3.10"] == "3.0"
    assert parents["3.101"] == "3.10"
    assert numbers(book)[-4:] == ["3.1", "3.10", "3.101", "4.0"]


def test_tenth_rule_sorts_after_the_ninth() -> None:
    book = small("bob")
    assert [rule.number for rule in book.children("2.0")] == ["2.1", "2.10"]


def test_unused_sections_share_one_heading() -> None:
    book = small("bob")
    assert [book.rule(n).title for n in ("4.0", "5.0", "6.0")] == ["UNUSED SECTIONS"] * 3
    assert [book.rule(n).passages for n in ("4.0", "5.0", "6.0")] == [(), (), ()]


def test_text_on_the_heading_line_is_not_title() -> None:
    hinges = small("ddp").rule("2.11")
    assert hinges.title == "Hinges"
    assert hinges.text.startswith("Sample Hinge")


def test_page_debris_and_misread_pictures_are_told_apart() -> None:
    book = small("ddp")
    assert aside(book, "debris") == [(38, 38), (46, 46)]
    assert [(span.first_line, span.what) for span in book.not_understood] == [
        (63, "a picture, misread by the scan")
    ]


def test_kinds_of_passages() -> None:
    assert kinds(small("css"), "3.1") == ["text", "example", "text"]
    assert kinds(small("css"), "6.1") == ["table", "text"]
    assert kinds(small("css"), "5.0") == ["text", "note"]
    assert kinds(small("ccp"), "1") == ["note", "text"]
    assert kinds(small("ccp"), "O21") == ["text", "note"]
    assert kinds(small("fpb"), "3.0") == ["example", "note"]
    assert kinds(small("bob"), "2.1") == ["text", "example", "text"]
    assert kinds(small("ddp"), "2.11") == ["text", "example"]


def test_chart_on_the_last_page_belongs_to_its_rule() -> None:
    assert kinds(small("fpb"), "8.2.4") == ["text", "text", "table"]
    assert "lights go out" in small("bob").rule("17.0").text


def test_part_titles_are_in_no_rule() -> None:
    assert "ORDERS" not in small("ccp").rule("2.1").text
    assert aside(small("ccp"), "divider") == [(29, 29), (56, 60)]


def test_references_as_printed_and_resolved() -> None:
    found = {(r.rule, r.printed): r.target for r in small("css").references}
    assert found == {
        ("2.0", "6.0"): "6.0",
        ("3.1", "3.2"): "3.2",
        ("3.2", "4.0"): "4.0",
        ("3.2", "7.0"): "7.0",
        ("3.2", "3.1"): "3.1",
        ("3.0", "9.9.9"): None,
    }
    assert [(r.rule, r.printed) for r in small("css").dangling()] == [("3.0", "9.9.9")]


def test_bracketed_references_ranges_and_parts() -> None:
    book = small("ccp")
    assert [r.target for r in book.references_from("O20")] == ["O21", "O23"]
    assert [(r.printed, r.target) for r in book.references_from("1.1")] == [("2.1c", "2.1")]
    assert [(r.printed, r.target) for r in book.references_from("2.1")] == [("O23.1", "O23.1"), ("O99", None)]
    assert [r.rule for r in book.references_to("1.1")] == [None, "1", "O23.1"]


def test_section_numbers_without_a_point_are_references_after_the_word() -> None:
    found = [(r.printed, r.target) for r in small("bob").references_from("1.0")]
    assert found == [("2", "2.0"), ("3", "3.0"), ("9", None)]


def test_glossaries_of_every_form() -> None:
    assert [(t.term, t.rule) for t in small("css").terms] == [
        ("Goat", "2.0"), ("The Bucket", "2.0"), ("Lantern (LN)", "2.0"), ("GT", "3.4"), ("LN", "3.4"),
    ]  # fmt: skip
    assert small("css").terms[1].text == "Where the lots are kept until someone asks for them."
    assert [t.term for t in small("ccp").terms] == ["Kite", "String", "Wind"]
    assert [t.term for t in small("fpb").terms] == ["Keel", "Mast"]
    assert [t.term for t in small("bob").terms] == ["BS", "DS", "WS", "BOW", "CLAP", "ENCORE (E)", "STAND"]
    assert small("bob").terms[3].text == "To lean forward after the last note."


def test_glossary_outside_the_rules_may_have_dangling_references() -> None:
    assert [(r.rule, r.printed) for r in small("bob").dangling() if r.rule is None] == [(None, "88.0")]


def test_rule_in_the_contents_alone_is_reported_missing() -> None:
    text = small_text("css").replace("6.1 Wicks\n\nWeather", "Weather")
    assert parse(text, "css").missing == ("6.1",)


# --- what is not such a rulebook --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", "css", "empty"),
        (" \n\t\n", "ccp", "empty"),
        ("%PDF-1.7\n\x00\x01\x02\x00", "fpb", "not plain text"),
        ("Company Scale System\n\nNothing here has a number.\n", "css", "numbered headings"),
        ("1.0 ONE\n2.0 TWO\n", "bob", "never names"),
        ("anything", "chess", "no ruleset"),
    ],
)
def test_other_files_are_refused(text: str, code: str, message: str) -> None:
    with pytest.raises(RulebookError, match=message) as refusal:
        parse(text, code)
    assert refusal.value.remedy


@pytest.mark.parametrize("code", CODES)
def test_rulebook_of_another_game_is_refused_by_name(code: str) -> None:
    for other in CODES:
        if other != code:
            with pytest.raises(RulebookError, match=re.escape(PROFILES[code].game)) as refusal:
                parse(small_text(code), other)
            assert f"import it as {code}" in refusal.value.remedy


def test_refusal_names_the_line() -> None:
    with pytest.raises(RulebookError) as refusal:
        parse("one\ntwo\x00\n", "css")
    assert refusal.value.line == 2


# --- the parser never stumbles ----------------------------------------------------------------------------


def parse_or_refuse(text: str, code: str) -> ParsedRulebook | None:
    try:
        return parse(text, code)
    except RulebookError:
        return None


@given(text=st.text(max_size=2000), code=st.sampled_from(CODES))
def test_random_text_is_parsed_or_refused(text: str, code: str) -> None:
    parse_or_refuse(text, code)


FRAGMENTS = (
    "7.1 Some Title", "O21. PASS", "### 2.25 Boats", "3.0 – 9.0 UNUSED", "GLOSSARY", "see 7.1.2 d)",
    "[O27 & 3.3.4b]", "a\tb\t3", "7.1", "l3.4 Goats", "— A. Name", '"Quoted."', "Example: one", "- a) list",
    "", "CREDITS", "33", "\u0663.1 X", "TERM 7.0 8.1: text", "CSS: Guam", "Combat Commander",
    "Band of Brothers", "D-Day at Peleliu", "Fire Example", "Forgotten Pacific Battles", "1.0 ONE ..... 3",
    "2.0 TWO ..... 4", "O24.101.5 THREE ..... 9", "**", "###", "12.101 X",
)  # fmt: skip


@given(lines=st.lists(st.sampled_from(FRAGMENTS), max_size=60), code=st.sampled_from(CODES))
def test_random_heaps_of_lines_are_parsed_or_refused(lines: list[str], code: str) -> None:
    text = "\n".join(lines)
    book = parse_or_refuse(text, code)
    if book is not None:
        assert_tree_is_sound(book)


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """The text with lines dropped, doubled, swapped and spoilt."""
    lines = text.split("\n")
    places = st.integers(0, len(lines) - 1)
    for _ in range(draw(st.integers(1, 12))):
        at, other = draw(places), draw(places)
        change = draw(st.sampled_from(("drop", "double", "swap", "spoil", "join", "fragment")))
        if change == "drop":
            lines[at] = ""
        elif change == "double":
            lines[other] = lines[at]
        elif change == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        elif change == "spoil":
            lines[at] = lines[at].translate(
                str.maketrans(draw(st.sampled_from(("01.", "lO ", "e\t "))), "lO,")
            )
        elif change == "join":
            lines[at] += draw(st.text(max_size=20)).replace("\n", " ").replace("\r", " ")
        else:
            lines[at] = draw(st.sampled_from(FRAGMENTS))
    return "\n".join(lines)


@given(data=st.data(), code=st.sampled_from(CODES))
def test_mutated_small_books_are_parsed_or_refused(data: st.DataObject, code: str) -> None:
    text = data.draw(mutated(small_text(code)))
    book = parse_or_refuse(text, code)
    if book is not None:
        assert_tree_is_sound(book)
        assert_every_line_has_one_place(book, text.replace("\f", " "))


# --- the real books ---------------------------------------------------------------------------------------

# Printed headings, and those that the scan lost and the contents give back.
RULES = {"css": (134, ["15.0"]), "ccp": (336, []), "fpb": (73, []), "bob": (176, []), "ddp": (209, ["2.25"])}
REFERENCES = {"css": 74, "ccp": 335, "fpb": 63, "bob": 179, "ddp": 102}
TERMS = {"css": 102, "ccp": 39, "fpb": 8, "bob": 43, "ddp": 0}
DANGLING: dict[str, list[tuple[str | None, str]]] = {
    "css": [],
    "ccp": [],
    "fpb": [],
    "bob": [(None, "92.0")],
    "ddp": [("8.33", "11.23"), ("12.0", "11.4")],
}


@pytest.mark.parametrize("code", CODES)
def test_real_book_has_all_its_rules(code: str) -> None:
    book = real(code)
    printed, lost = RULES[code]
    assert [rule.number for rule in book.recovered()] == lost
    assert len(book.rules) == printed + len(lost)
    assert book.missing == ()


@pytest.mark.parametrize("code", CODES)
def test_real_book_references_and_terms(code: str) -> None:
    book = real(code)
    assert [(r.rule, r.printed) for r in book.dangling()] == DANGLING[code]
    assert len(book.references) == REFERENCES[code]
    assert len(book.terms) == TERMS[code]


@pytest.mark.parametrize("code", CODES)
def test_real_book_is_understood_whole(code: str) -> None:
    book, text = real(code), real_text(code)
    assert_every_line_has_one_place(book, text)
    assert_passages_are_the_lines(book, text)
    assert_no_rule_swallows_another(book)
    assert_tree_is_sound(book)
    assert sum(len(span.lines) for span in book.not_understood) <= 3


@pytest.mark.parametrize("code", CODES)
def test_real_book_parses_the_same_every_time(code: str) -> None:
    assert parse(real_text(code), code) == real(code)


@pytest.mark.parametrize("code", CODES)
def test_real_book_of_another_game_is_refused(code: str) -> None:
    for other in CODES:
        if other != code:
            with pytest.raises(RulebookError, match=re.escape(PROFILES[code].game)):
                parse(real_text(code), other)


def without_decoration(text: str) -> str:
    return re.sub(r"[#*]+ ?", "", text)


def with_other_line_ends(text: str) -> str:
    return text.replace("\n", "\r\n")


def wrapped(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        textwrap.fill(line, 90) if len(line) > 90 and "\t" not in line else line for line in lines
    )


def indented(text: str) -> str:
    return "\n".join(f"  {line} " for line in text.split("\n"))


def with_page_numbers(text: str) -> str:
    lines = text.split("\n")
    return "\n".join(
        f"\n{at // 40}\n" if not line.strip() and at % 40 == 0 else line for at, line in enumerate(lines)
    )


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize(
    "scan", [without_decoration, with_other_line_ends, wrapped, indented, with_page_numbers]
)
def test_another_scan_of_the_book_has_the_same_rules(code: str, scan: Callable[[str], str]) -> None:
    assert numbers(parse(scan(real_text(code)), code)) == numbers(real(code))


@pytest.mark.parametrize("code", CODES)
@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_mutated_real_books_are_parsed_or_refused(code: str, data: st.DataObject) -> None:
    book = parse_or_refuse(data.draw(mutated(real_text(code))), code)
    if book is not None:
        assert_tree_is_sound(book)


# Number, title, parent, first words of the first passage, last words of the last.
SPOTS = {
    "css": [
        ("1.0", "INTRODUCTION", None, "On December 8,", "on the battle."),
        ("2.0", "GAME DEFINITIONS", None, "The following are", "use and placement."),
        ("3.3", "The Game Charts and Tables", "3.0", "Terrain Effects Chart", "Victory Point Tracks"),
        ("3.4", "Abbreviations", "3.0", "- AA: Anti-Aircraft", "- Tk: Tank"),
        ("4.0", "EXPANDED SEQUENCE OF PLAY", None, "1. PREPARATION PHASE", "repeat this procedure"),
        ("6.1.1", "Disorganized Markers", "6.1", "A Disorganized Marker", "that might remain."),
        ("7.1.2", "Line of Sight and different elevations", "7.1", "Things get a", "Line of Sight."),
        ("8.3.7", "Rain and/or Night", "8.3", "- Subtract 1", "(these are cumulative)"),
        ("9.0", "ASSAULT ACTIONS", None, "Assault is a", "that follows occurs."),
        ("13.0", "LEADERS", None, "Leaders may provide", "3rd Marine Division"),
        ("13.1", "Moving Leaders", "13.0", "Leaders move at", "of his Formation."),
        ("15.0", "TRANSPORT", None, "In *CSS: Guam*,", "these Markers active."),
        ("27.0", "JAPANESE ARTILLERY", None, "All Japanese Artillery", "game as Infantry."),
        ("33.0", "CREDITS", None, "Game Designer: Ross", "in that game."),
    ],
    "ccp": [
        ("1", "FATE CARDS", None, "“I rate the", "identified as such)."),
        ("1.0", "GOLDEN RULE", "1", "Some card effects", "always takes precedence."),
        ("1.9.1.2", "Die Triggers NA Within Triggers", "1.9.1", "Any roll made", "associated with it."),
        ("11.3", "MISCELLANEOUS", "11", "● **OB Display**—Each", "Japanese player [O28]."),
        ("16.3.2.1", "Firepower Reduction", "16.3.2", "Any non-ordnance Fire", "the Terrain Chart."),
        ("19.2.3", "Melee Result", "19.2", "Eliminate all units", "in the playbook."),
        ("O21", "PASS (DISCARD)", None, "“The wise does", "ease of reference."),
        ("O24.3.2.1", "Minor Drift Check", "O24.3.2", "If the Targeting", "– good shot!"),
        ("O24.7", "ILLUMINATION", "O24", "If Illumination is", "from the map."),
        ("O31", "REVIVE", None, '"You, you, and', "future Revive orders."),
        ("A41", "(OPPORTUNITY) FIRE", None, "ORDER / ACTION", "/ ACTION FIRE"),
        ("E78", "TENNŌHEIKA BANZAI!", None, "When this event", "hand to three."),
        ("T89.4.1", "Blind Hexes", "T89.4", "A unit on", "along that LOS.*"),
        ("F107.3", "WIRE & FIRE ATTACKS", "F107", "Units in a", "a wire hex."),
    ],
    "fpb": [
        ("1.0", "INTRODUCTION", None, "Each game represents", "and clarify concepts."),
        ("2.3.2", "Definitions of Terms", "2.3", "Attack Strength: The", "in the game."),
        ("5.4", "Effects of Terrain", "5.0", "A unit must", "is 3 MP."),
        ("5.4.2", "Trail Movement", "5.4", "A unit that", "or hexside terrain."),
        ("7.2", "Support Fire Application", "7.0", "All support fire", 'then become "9".'),
        ("8.1.3", "Results", "8.1", "Apply the results", "bombarded (friendly fire)."),
        ("8.2.4", "Combat Resolution", "8.2", "The combat results", "units, eliminate them."),
        ("8.3.1", "Displacement", "8.3", "If a retreating", "other unit's hex."),
        ("9.0", "SUPPLY", None, "There are no", "suffer no penalties."),
        ("12.3", "Reefs", "12.0", "If unoccupied by", "a reef hex."),
        ("13.1", "Japanese ZOC Exemption", "13.0", "To represent the", "effect of EZOC."),
        ("16.2", "Combat", "16.0", "1) Japanese units", "these governing principles."),
        ("18.4", "Free Deployment Scenario", "18.0", "If playing with", "recorded on paper."),
        ("19.0", "JAPANESE RANDOM PLACEMENT", None, "If a Japanese", "1803 1606 1903"),
    ],
    "bob": [
        ("1.0", "GAME TURNS", None, "The game is", "removed or advanced."),
        ("2.2", "INFANTRY FACING", "2.0", "This is an", "stacked hex, etc.)."),
        ("12.2", "FLANK BONUS", "12.0", "Units may not", "still in Melee."),
        ("19.0", "UNUSED SECTION", None, "", ""),
        ("26.0", "UNUSED SECTIONS", None, "", ""),
        ("31.1", "DIRECTED FIRE", "31.0", "If a Mortar", "its second hex."),
        ("32.1", "REVERSE SLOPE BLIND HEX (RSBH)", "32.0", "If the Artillery", '"X" are RSBH.'),
        ("40.2", "UPPER LEVEL", "40.0", "By SSR, building", "one another's flanks."),
        ("45.3", "STREAM (IN A SHALLOW DEPRESSION)", "45.0", "Movement into a", "the woods artwork."),
        ("47.2", "LOS", "47.0", "Units in a", "Level 1 Terrain."),
        ("59.6", "JAPANESE BANZAI CHARGE", "59.0", "By SSR, a", "except during Rout."),
        ("67.0", "EXTENDED EXAMPLE OF PLAY", None, "Board 20, 2", "must pass a"),
    ],
    "ddp": [
        ("1.0", "INTRODUCTION", None, "*D-Day at Peleliu*", "examples of play."),
        ("2.22", "Japanese Units", "2.2", "Sample Japanese Unit", "a position hex."),
        ("2.24", "Japanese Depth Markers", "2.2", "Depth markers are", "conducting a counterattack."),
        ("2.25", "Japanese Fortification Markers", "2.2", "Fortification markers are", "depth markers."),
        ("2.26", "Other Markers", "2.2", "**Note:** The countermix", "Nose Ridge scenario"),
        ("6.34", "Step Loss Limitation", "6.3", "A given US", "the other two."),
        ("12.9", "Ambush Action [A]", "12.0", "Eligible position type:", "field of fire."),
        ("12.91", "One unit affected", "12.9", "No more than", "equal, you choose."),
        ("12.10", "Infiltrate Action [I]", "12.0", "Eligible position type:", "it is placed."),
        ("12.101", "Infiltrating a position group", "12.10", "If both hexes", "in both hexes."),
        ("16.0", "THE OVERNIGHT TURN (TURN 13)", None, "If playing the", "their unrevealed side."),
        ("20.2", "Alternate Japanese Armor Deployment", "20.0", "You may vary", "unit, face down."),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("code", "number", "title", "parent", "opens", "closes"),
    [(code, *spot) for code, spots in SPOTS.items() for spot in spots],
    ids=[f"{code} {spot[0]}" for code, spots in SPOTS.items() for spot in spots],
)
def test_spot_check(code: str, number: str, title: str, parent: str | None, opens: str, closes: str) -> None:
    rule = real(code).rule(number)
    assert (rule.title, rule.parent) == (title, parent)
    words = [passage.text.split() for passage in rule.passages] or [[]]
    assert " ".join(words[0][:3]) == opens
    assert " ".join(words[-1]).endswith(closes)
    assert bool(closes) == bool(rule.passages)


def test_sixty_spots_are_checked() -> None:
    assert sum(map(len, SPOTS.values())) >= 60
