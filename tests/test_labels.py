"""Labels: every numbering scheme names each hex once, and the rulebooks' examples agree with it."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from sqlalchemy.engine import Connection

from db.labels import STEPS, Axial, Board, LabelError, Scheme, nearest, side_hexes
from db.rulesets import CODES, FOLDER, RulesetFile, RulesFile, read_form

FOUR_HUNDRED = settings(max_examples=400, deadline=None)


@functools.cache
def scheme_of(ruleset: str) -> Scheme:
    return read_form(FOLDER / ruleset / "ruleset.yaml", RulesetFile).scheme


class Stated(NamedTuple):
    """A distance between two hexes that a rulebook's example states or needs."""

    ruleset: str
    first: str
    second: str
    distance: int
    rule: str
    """The rule beside which the example stands."""
    why: str


STATED = [
    Stated("css", "66.88", "65.87", 1, "6.2", "a company moves up to the ridge"),
    Stated("css", "22.79", "23.79", 1, "7.1.1", "first spine of the sight line along hexsides"),
    Stated("css", "23.77", "24.78", 1, "7.1.1", "second spine of that line"),
    Stated("css", "22.79", "22.80", 1, "7.1.1", "the forest that hides the marine next behind it"),
    Stated("css", "23.79", "24.79", 1, "8.6", "one step from hex to hex of the same fire zone"),
    Stated("css", "24.80", "23.79", 1, "8.6", "the gun reaches the hex that is left"),
    Stated("css", "24.80", "24.79", 1, "8.6", "and the hex that is entered"),
    Stated("css", "24.80", "23.78", 2, "8.6", "but not the hex where the other company goes"),
    Stated("css", "23.79", "23.78", 1, "8.6", "which goes there in one step"),
    Stated("css", "23.78", "22.79", 1, "8.6", "one step at night, out of the illuminated hex"),
    Stated("css", "26.37", "27.37", 1, "8.7.6", "a round scatters to the next hex"),
    Stated("css", "28.48", "29.47", 1, "9.4", "assaulted from here"),
    Stated("css", "28.48", "29.48", 1, "9.4", "and from here"),
    Stated("css", "29.47", "29.48", 1, "9.4", "two neighbouring stacks of one assault"),
    Stated("css", "70.79", "71.78", 1, "10.2.3", "a company leaves one DG marker for another"),
    Stated("css", "22.80", "23.79", 1, "11.3.1", "the airfield is one strip"),
    Stated("css", "24.78", "24.79", 1, "11.3.1", "the barracks stand at its end"),
    Stated("css", "20.81", "21.81", 1, "25.0", "a sniper is set off from beside it"),
    Stated("fpb", "2311", "2413", 2, "6.1", "one start, one step to either of two hexes not adjacent"),
    Stated("fpb", "1302", "1303", 1, "11.1", "an airstrip of two hexes"),
    Stated("bob", "I4", "J4", 1, "43.4", "the two hexes in front of a cave share its corner"),
    Stated("bob", "D2", "E3", 1, "44.0", "a hedgerow on the side between them"),
    Stated("bob", "C6", "C7", 1, "47.2", "seen from the next hex"),
    Stated("bob", "C8", "D7", 1, "47.2", "one hex away, so it hides nothing"),
    Stated("bob", "C8", "E7", 2, "47.2", "what lies behind that hex"),
    Stated("bob", "E4", "E6", 2, "47.2", "an obstacle at two hexes hides one hex"),
    Stated("bob", "E6", "E7", 1, "47.2", "the hidden hex"),
    Stated("bob", "A7", "B6", 1, "54.4", "a tank clears its way"),
    Stated("bob", "B6", "C6", 1, "54.4", "its second step"),
    Stated("bob", "C6", "D5", 1, "54.4", "its third"),
    Stated("bob", "C7", "C6", 1, "54.4", "the next tank follows"),
    Stated("bob", "D5", "E5", 1, "54.4", "and goes on"),
    Stated("bob", "A4", "B3", 1, "54.4", "a trail straight across the board"),
    Stated("bob", "B3", "C4", 1, "54.4", "in a zigzag along the columns"),
    Stated("bob", "A4", "I4", 8, "54.4", "and its far end, a step for each column"),
    Stated("bob", "C3", "F4", 3, "54.4", "a straight row of hexes"),
    Stated("bob", "C3", "E6", 4, "54.4", "a straight line along hexsides"),
    Stated("bob", "D6", "C7", 1, "65.3", "D6 is bound by the marker in C7"),
    Stated("bob", "D6", "G5", 3, "65.3", "not by the farther one in G5"),
    Stated("bob", "E5", "G5", 2, "65.3", "E5 is bound by the marker in G5"),
    Stated("bob", "E5", "C7", 3, "65.3", "not by the farther one in C7"),
    Stated("bob", "F7", "G5", 3, "67.0", "halved fire with a range of two"),
    Stated("bob", "G7", "F5", 2, "67.0", "full fire with a range of two"),
    Stated("bob", "H6", "H5", 1, "67.0", "a squad joins another"),
    Stated("bob", "F5", "H5", 2, "67.0", "fire at a mover in the open two hexes away"),
    Stated("bob", "G4", "F4", 1, "46.0", "fire into the next hex"),
    Stated("bob", "G5", "F3", 2, "46.0", "fire between two hexes that share no side"),
    Stated("ddp", "0213", "0314", 1, "8.2", "attacks from beside"),
    Stated("ddp", "0315", "0314", 1, "8.2", "attacks from beside"),
    Stated("ddp", "0213", "0315", 2, "8.22", "two attackers flank, so they are not adjacent"),
    Stated("ddp", "0215", "0216", 1, "8.62", "thrown back to where the close combat was entered from"),
    Stated("ddp", "1016", "0916", 1, "11.2", "two hexes equally near to the position that sallies"),
    Stated("ddp", "1016", "0917", 1, "11.2", "the other of them"),
]  # fmt: skip

CHAINS = [
    ("bob", "54.4", "C3 D3 D4 E5 E6"),
    ("bob", "54.4", "C3 C4 D4 D5 E6"),
    ("bob", "54.4", "A7 B6 C6 D5 E5"),
    ("bob", "65.3", "A7 B6 C7 D6"),
    ("bob", "65.3", "E5 F4 G5"),
    ("css", "11.3.1", "22.80 23.79 24.79 24.78"),
]


@pytest.mark.parametrize("stated", STATED, ids=lambda s: f"{s.ruleset} {s.rule} {s.first} {s.second}")
def test_a_distance_that_the_rulebook_states_holds(stated: Stated) -> None:
    scheme = scheme_of(stated.ruleset)
    assert scheme.hex(stated.first).distance(scheme.hex(stated.second)) == stated.distance


@pytest.mark.parametrize("ruleset", CODES)
def test_the_rules_cited_here_exist(ruleset: str) -> None:
    known = {rule.number for rule in read_form(FOLDER / ruleset / "rules.yaml", RulesFile).rules}
    cited = {stated.rule for stated in STATED if stated.ruleset == ruleset}
    cited |= {rule for code, rule, *_ in (*CHAINS, *TRACED) if code == ruleset}
    assert cited
    assert cited <= known


@pytest.mark.parametrize("ruleset", ["css", "fpb", "bob", "ddp"])
def test_columns_shifted_the_other_way_would_contradict_the_rulebook(ruleset: str) -> None:
    other = {"odd": "even", "even": "odd"}
    scheme = scheme_of(ruleset)
    turned = scheme.model_copy(update={"shifted": other[scheme.shifted]})
    assert any(
        turned.hex(stated.first).distance(turned.hex(stated.second)) != stated.distance
        for stated in STATED
        if stated.ruleset == ruleset
    )


@pytest.mark.parametrize(("ruleset", "rule", "chain"), CHAINS)
def test_a_way_that_the_rulebook_walks_does_not_jump(ruleset: str, rule: str, chain: str) -> None:
    hexes = [scheme_of(ruleset).hex(label) for label in chain.split()]
    assert [a.distance(b) for a, b in itertools.pairwise(hexes)] == [1] * (len(hexes) - 1), rule


def test_both_goals_of_the_fpb_zone_example_have_a_start_in_common() -> None:
    scheme = scheme_of("fpb")  # 6.1
    around = [{scheme.hex(label).beside(d) for d in range(1, 7)} for label in ("2311", "2413")]
    assert {scheme.label(place) for place in around[0] & around[1]} == {"2312", "2412"}


def test_two_hex_rows_bound_the_placement_of_bob_65_3() -> None:
    """D6 and E5 stand side by side in the list, yet are not adjacent: two rows meet there."""
    scheme = scheme_of("bob")
    assert scheme.hex("D6").distance(scheme.hex("E5")) == 2


def test_a_ccp_map_has_ten_rows_and_fifteen_columns() -> None:
    scheme = scheme_of("ccp")
    labels = [scheme.label(place) for place in scheme.rectangle("A1", "O10")]  # E50
    assert len(labels) == len(set(labels)) == 150
    assert sum(label.startswith("D") for label in labels) == 10
    assert sum(label[1:] == "4" for label in labels) == 15


TRACED = [
    ("css", "7.1.1", "22.80", "24.77", ["22.79|23.79", "23.78", "23.77|24.78"]),
    ("bob", "47.2", "C6", "E7", ["D6"]),
    ("bob", "47.2", "C6", "E5", ["D5"]),
    ("bob", "47.2", "C6", "E6", ["D5|D6"]),
    ("bob", "47.2", "E3", "E6", ["E4", "E5"]),
    ("bob", "47.2", "E4", "E7", ["E5", "E6"]),
    ("bob", "54.4", "C3", "E6", ["C4|D3", "D4", "D5|E5"]),
    ("bob", "54.4", "C3", "F4", ["D3", "E4"]),
    ("bob", "46.0", "G5", "F3", ["F4|G4"]),
    ("ccp", "16", "E8", "G8", ["F7|F8"]),
    ("ccp", "16", "E9", "G10", ["F9"]),
    ("ccp", "16", "C9", "C10", []),
    ("ccp", "16", "B9", "D9", ["C9|C10"]),
]


@pytest.mark.parametrize(("ruleset", "rule", "start", "target", "expected"), TRACED)
def test_a_line_passes_what_the_example_says(
    connection: Connection, ruleset: str, rule: str, start: str, target: str, expected: list[str]
) -> None:
    assert passed(connection, scheme_of(ruleset), start, target) == expected, rule


@pytest.mark.parametrize(
    ("start", "target", "blocker"), [("E3", "C5", "D3"), ("E4", "C8", "D5"), ("C8", "E7", "D7")]
)
def test_a_line_meets_the_hex_that_bob_47_2_names(
    connection: Connection, start: str, target: str, blocker: str
) -> None:
    assert blocker in "|".join(passed(connection, scheme_of("bob"), start, target)).split("|")


def passed(connection: Connection, scheme: Scheme, start: str, target: str) -> list[str]:
    """Hexes and spines that the line between two labels passes, in order."""
    (q1, r1), (q2, r2) = scheme.hex(start), scheme.hex(target)
    cells = connection.execute(
        sa.text("select kind, x, y from lattice.line(:q1, :r1, :q2, :r2) where kind in ('hex', 'spine')"),
        {"q1": q1, "r1": r1, "q2": q2, "r2": r2},
    )
    return [
        scheme.label((cell.x // 2, cell.y // 2)) if cell.kind == "hex" else scheme.side_label(cell.x, cell.y)
        for cell in cells
    ]


# The drawing units of CASES.md


@pytest.mark.parametrize(
    ("ruleset", "label", "drawn"),
    [
        ("ccp", "A1", (1, 1)),
        ("ccp", "B1", (2, Fraction(3, 2))),
        ("ccp", "O10", (15, 10)),
        ("bob", "A1", (1, 1)),
        ("bob", "E4", (5, 4)),
        ("bob", "D4", (4, Fraction(9, 2))),
        ("ddp", "0101", (1, 1)),
        ("ddp", "0201", (2, Fraction(3, 2))),
        ("fpb", "0101", (1, 1)),
        ("fpb", "0202", (2, Fraction(3, 2))),
        ("css", "02.01", (2, 1)),
        ("css", "01.01", (1, Fraction(3, 2))),
    ],
)
def test_a_hex_is_drawn_at_its_column_and_row(ruleset: str, label: str, drawn: tuple[int, int]) -> None:
    scheme = scheme_of(ruleset)
    assert scheme.drawn_point(*center(scheme.hex(label))) == drawn


def test_drawing_begins_at_the_first_hex_whatever_its_number() -> None:
    scheme = Scheme(first_column=0, first_row=0, shifted="odd")
    assert scheme.drawn_point(*center(scheme.hex("0000"))) == (1, 1)
    assert scheme.drawn_point(*center(scheme.hex("0100"))) == (2, Fraction(3, 2))


def test_drawing_goes_down_the_map_even_where_rows_are_numbered_upward() -> None:
    scheme = Scheme(row_direction="up")
    assert scheme.drawn_point(*center(scheme.hex("0101"))) == (1, 1)
    assert scheme.drawn_point(*center(scheme.hex("0102"))) == (1, 0)
    assert scheme.drawn_point(*center(scheme.hex("0201"))) == (2, Fraction(3, 2))


def test_a_pointed_map_is_drawn_in_rows() -> None:
    scheme = Scheme(orientation="pointed")
    assert scheme.drawn_point(*center(scheme.hex("0101"))) == (1, 1)
    assert scheme.drawn_point(*center(scheme.hex("0501"))) == (5, 1)
    assert scheme.drawn_point(*center(scheme.hex("0102"))) == (Fraction(3, 2), 2)


def center(place: Axial) -> tuple[Fraction, Fraction]:
    return Fraction(3 * place.q), Fraction(2 * place.r + place.q)


# Schemes of one's own


def neighbours(scheme: Scheme, label: str) -> set[str]:
    return {scheme.label(scheme.hex(label).beside(direction)) for direction in range(1, 7)}


def test_rows_that_grow_upward_put_the_next_number_above() -> None:
    scheme = Scheme(row_direction="up", shifted="even", shift="down")
    assert scheme.label(scheme.hex("0305").beside(1)) == "0306"
    # an even column lies half a hex lower, so a higher number comes to lie beside
    assert neighbours(scheme, "0305") == {"0304", "0306", "0205", "0206", "0405", "0406"}


def test_a_pointed_map_has_its_neighbours_in_the_row() -> None:
    scheme = Scheme(orientation="pointed", shifted="even", shift="down")
    assert neighbours(scheme, "0503") == {"0403", "0603", "0402", "0502", "0404", "0504"}
    assert neighbours(scheme, "0502") == {"0402", "0602", "0501", "0601", "0503", "0603"}


def test_pointed_rows_that_grow_upward_put_the_next_row_above() -> None:
    scheme = Scheme(orientation="pointed", row_direction="up", shifted="odd", shift="up")
    drawn = [scheme.drawn_point(*center(scheme.hex(label))) for label in ("0202", "0203", "0302")]
    assert drawn[1][1] < drawn[0][1] == drawn[2][1] < drawn[0][1] + 1
    assert drawn[1][0] == drawn[0][0] - Fraction(1, 2)


@pytest.mark.parametrize("orientation", ["flat", "pointed"])
def test_directions_go_round_clockwise_as_seen_on_the_map(orientation: Any) -> None:
    scheme = Scheme(orientation=orientation)
    middle = scheme.hex("0505")
    around = [scheme.drawn_point(*center(middle.beside(direction))) for direction in range(1, 7)]
    x, y = scheme.drawn_point(*center(middle))
    for (ax, ay), (bx, by) in zip(around, around[1:] + around[:1], strict=True):
        assert (ax - x) * (by - y) - (ay - y) * (bx - x) > 0, "y is down: a right turn is positive"


@pytest.mark.parametrize(
    ("columns", "label", "column"),
    [
        ("letters", "A7", 1),
        ("letters", "Z7", 26),
        ("letters", "AA7", 27),
        ("letters", "AB7", 28),
        ("letters", "BA7", 53),
        ("letters", "ZZ7", 702),
        ("doubled_letters", "Z7", 26),
        ("doubled_letters", "AA7", 27),
        ("doubled_letters", "BB7", 28),
        ("doubled_letters", "ZZ7", 52),
    ],
)
def test_letters_go_on_beyond_z(columns: Any, label: str, column: int) -> None:
    scheme = Scheme(columns=columns, row_digits=1)
    assert scheme.hex(label).q == scheme.hex("A7").q + column - 1
    assert scheme.label(scheme.hex(label)) == label


def test_the_column_after_the_last_letters_has_no_label() -> None:
    scheme = Scheme(columns="doubled_letters", row_digits=1)
    with pytest.raises(LabelError, match="Column 53, row 7 has no label here"):
        scheme.label(scheme.hex("ZZ7").beside(2))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"columns": "letters", "rows": "letters"}, "need a separator"),
        ({"columns": "letters", "first_column": 0}, "begin at 1"),
        ({"boards": [{"board": "1", "columns": 2, "rows": 2}] * 2}, "same name"),
        ({"boards": [{"board": "1-2", "columns": 2, "rows": 2}]}, "pattern"),
        ({"shifted": "third"}, "'odd' or 'even'"),
        ({"colums": "letters"}, "Extra inputs"),
    ],
)
def test_a_scheme_that_cannot_work_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Scheme.model_validate(changes)


# Wrong labels


@pytest.mark.parametrize(
    ("ruleset", "label", "remedy"),
    [
        ("css", "2280", "Did you mean 22.80?"),
        ("css", "22,80", "Did you mean 22.80?"),
        ("css", "5.7", "Did you mean 05.07?"),
        ("css", "022.80", "Did you mean 22.80?"),
        ("css", "E4", "Labels look like 05.07."),
        ("bob", "e4", "Did you mean E4?"),
        ("bob", "E04", "Did you mean E4?"),
        ("bob", "E-4", "Did you mean E4?"),
        ("bob", "0504", "Labels look like E7."),
        ("bob", "", "Labels look like E7."),
        ("bob", "E٤", "Labels look like E7."),
        ("fpb", "23.11", "Did you mean 2311?"),
        ("fpb", "23110", "Labels look like 0507."),
        ("ddp", "314", "Labels look like 0507."),
    ],
)
def test_a_label_of_the_wrong_form_shows_the_right_one(ruleset: str, label: str, remedy: str) -> None:
    with pytest.raises(LabelError, match="is not a label of this map") as caught:
        scheme_of(ruleset).hex(label)
    assert caught.value.remedy == remedy


def test_spaces_around_a_label_do_not_matter() -> None:
    assert scheme_of("css").hex(" 22.80 ") == scheme_of("css").hex("22.80")


@pytest.mark.parametrize(
    ("label", "first"),
    [("27.80", "26.80"), ("22.89", "22.84"), ("32.80", "22.80"), ("2280", "22.80"), ("22-80", "22.80")],
)
def test_a_label_off_the_map_names_the_nearest_right_ones(label: str, first: str) -> None:
    scheme = scheme_of("css")
    known = [scheme.label(place) for place in scheme.rectangle("20.76", "26.84")]
    found = scheme.nearest(label, known)
    assert found[0] == first
    assert len(found) == 3


def test_the_nearest_words_are_found_in_either_case() -> None:
    assert nearest("JUNGEL", ["jungle", "clear", "light_jungle"])[0] == "jungle"
    assert nearest("qqq", ["jungle", "clear"]) == []


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("C6", "a hexside is two adjacent hexes joined by |"),
        ("C6|C7|C8", "a hexside is two adjacent hexes joined by |"),
        ("C6|C8", "not adjacent.\nAdjacent to C6 are C5, D5, D6, C7, B6, B5."),
        ("C6|C6", "not adjacent"),
        ("C6|7", "'7' is not a label"),
        ("C6|x", "'x' is not a label"),
    ],
)
def test_a_wrong_hexside_says_what_is_beside(side: str, message: str) -> None:
    with pytest.raises(LabelError) as caught:
        scheme_of("bob").side(side)
    assert message in str(caught.value)


def test_a_hexside_reads_the_same_in_either_order() -> None:
    scheme = scheme_of("css")
    assert scheme.side("22.79|23.79") == scheme.side("23.79|22.79")
    assert scheme.side_label(*scheme.side("23.79|22.79")) == "22.79|23.79"


def test_the_lower_label_comes_first_by_number_not_by_spelling() -> None:
    scheme = scheme_of("bob")
    assert scheme.side_label(*scheme.side("E10|E9")) == "E9|E10"
    assert scheme.side_label(*scheme.side("AA4|Z4")) == "Z4|AA4"


def test_a_side_of_the_rim_is_named_by_its_hex_and_a_direction() -> None:
    scheme = scheme_of("bob")
    side = scheme.side("A1|6")
    assert scheme.hex("A1") in side_hexes(*side)
    assert scheme.side_label(*side) == "A1|6"
    assert scheme.side_label(*scheme.side("C6|1")) == "C5|C6"
    beyond = scheme.hex("A1").beside(6)
    with pytest.raises(LabelError, match="No hex beside"):
        scheme.side_label(2 * beyond.q - 1, 2 * beyond.r)


def test_an_extent_that_is_no_map_is_refused() -> None:
    with pytest.raises(LabelError, match="at most 4,000,000"):
        scheme_of("css").rectangle("01.01", "9999.9999")


# Joined boards

LEFT = Board(board="20", columns=9, rows=8, half_hexes=True)
RIGHT = Board(board="21", columns=9, rows=8, at=(8, 0), half_hexes=True)
BELOW = Board(board="22", columns=9, rows=8, at=(0, 7), half_hexes=True)


def joined(*boards: Board) -> Scheme:
    return scheme_of("bob").model_copy(update={"boards": boards})


def test_the_last_column_of_a_board_is_the_first_of_the_next() -> None:
    scheme = joined(LEFT, RIGHT)
    for row in range(1, 9):
        assert scheme.hex(f"20-I{row}") == scheme.hex(f"21-A{row}")
        assert scheme.label(scheme.hex(f"21-A{row}")) == f"20-I{row}"
    assert scheme.label(scheme.hex("20-I4").beside(3)) == "21-B4"
    assert scheme.hex("20-H4").distance(scheme.hex("21-B4")) == 2


def test_the_last_row_of_a_board_is_the_first_of_the_one_below() -> None:
    scheme = joined(LEFT, BELOW)
    for column in "ACEGI":
        assert scheme.hex(f"20-{column}8") == scheme.hex(f"22-{column}1")
    # where hexes are cut in half, a shifted column ends one hex earlier and none is shared
    assert scheme.hex("20-B7").beside(4) == scheme.hex("22-B1")
    assert scheme.label(scheme.hex("22-B1")) == "22-B1"
    with pytest.raises(LabelError, match="board 20 has 9 columns and 8 rows"):
        scheme.hex("20-B8")


def test_a_turned_board_changes_first_and_last() -> None:
    turned = LEFT.model_copy(update={"rotated": True})
    alone, scheme = joined(LEFT), joined(turned)
    assert scheme.hex("20-A1") == alone.hex("20-I8")
    assert scheme.hex("20-E4") == alone.hex("20-E5")
    assert scheme.hex("20-B1") == alone.hex("20-H7")
    for direction in range(1, 7):
        beside = alone.label(alone.hex("20-D4").beside(direction))
        opposite = (direction + 2) % 6 + 1
        assert scheme.hex(beside) == scheme.hex("20-D4").beside(opposite)


def test_a_turned_board_keeps_its_hexes_on_the_same_ground() -> None:
    turned = joined(LEFT.model_copy(update={"rotated": True}))
    alone = joined(LEFT)
    ground = set(alone.rectangle("20-A1", "20-I8"))
    assert {turned.hex(alone.label(place)) for place in ground} == ground


def test_every_hex_of_joined_boards_has_one_label_and_reads_back() -> None:
    scheme = joined(LEFT, RIGHT.model_copy(update={"rotated": True}), BELOW)
    places = scheme.rectangle("20-A1", "21-A8") + scheme.rectangle("22-A1", "22-I8")
    labels = {scheme.label(place): place for place in places}
    assert {label.split("-")[0] for label in labels} == {"20", "21", "22"}
    for label, place in labels.items():
        assert scheme.hex(label) == place
    # the corner beside board 22 and below 21 is no board's
    with pytest.raises(LabelError, match="No board has a hex"):
        scheme.label(scheme.hex("21-A1").beside(4))


def test_a_board_moved_by_an_odd_number_of_columns_keeps_its_neighbours() -> None:
    scheme = joined(LEFT, Board(board="30", columns=5, rows=5, at=(9, 2)))
    alone = joined(Board(board="30", columns=5, rows=5))
    for direction in range(1, 7):
        beside = alone.label(alone.hex("30-C3").beside(direction))
        assert scheme.hex(beside) == scheme.hex("30-C3").beside(direction)
    assert scheme.hex("30-A1") == scheme._axial(10, 3, None)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("E4", "'E4' does not begin with a board of this map.\nBoards: 20, 21; labels look like 20-E7."),
        ("19-E4", "does not begin with a board"),
        ("20-e4", "'20-e4' is not a label of this map.\nDid you mean 20-E4?"),
        ("20-K4", "board 20 has 9 columns and 8 rows.\nIt reaches from 20-A1 to 20-I8."),
        ("20-E9", "board 20 has 9 columns and 8 rows"),
        ("20-E0", "board 20 has 9 columns and 8 rows"),
    ],
)
def test_a_wrong_label_on_joined_boards_says_what_is_there(label: str, message: str) -> None:
    with pytest.raises(LabelError) as caught:
        joined(LEFT, RIGHT).hex(label)
    assert message in str(caught.value)


def test_a_side_of_the_rim_of_joined_boards_has_a_name() -> None:
    scheme = joined(LEFT, RIGHT)
    for label in ("20-A4|6", "20-E1|1", "21-I8|4"):
        assert scheme.side_label(*scheme.side(label)) == label
    assert scheme.side_label(*scheme.side("21-B4|21-A4")) == "20-I4|21-B4"


# Any scheme

numerals = st.sampled_from(["digits", "letters", "doubled_letters"])


@st.composite
def schemes(draw: st.DrawFn) -> Scheme:
    columns, rows = draw(numerals), draw(numerals)
    separators = [".", "-", "/", ":"] if "digits" not in (columns, rows) else ["", ".", "-", "/", ":"]
    return Scheme(
        orientation=draw(st.sampled_from(["flat", "pointed"])),
        columns=columns,
        column_digits=draw(st.integers(2, 4)),
        rows=rows,
        row_digits=draw(st.integers(2, 4)),
        first_column=draw(st.integers(0 if columns == "digits" else 1, 3)),
        first_row=draw(st.integers(0 if rows == "digits" else 1, 3)),
        order=draw(st.sampled_from(["column_row", "row_column"])),
        separator=draw(st.sampled_from(separators)),
        shifted=draw(st.sampled_from(["odd", "even"])),
        shift=draw(st.sampled_from(["down", "up"])),
        row_direction=draw(st.sampled_from(["down", "up"])),
    )


board_sizes = st.tuples(st.integers(2, 12), st.integers(2, 12))


@st.composite
def schemes_with_boards(draw: st.DrawFn) -> Scheme:
    boards = [
        Board(
            board=name,
            columns=draw(st.integers(2, 12)),
            rows=draw(st.integers(2, 12)),
            at=draw(st.tuples(st.integers(-20, 20), st.integers(-20, 20))),
            rotated=draw(st.booleans()),
            half_hexes=draw(st.booleans()),
        )
        for name in draw(st.sampled_from([("1",), ("1", "2"), ("20", "21", "b")]))
    ]
    return draw(schemes()).model_copy(update={"boards": tuple(boards)})


numbers = st.integers(3, 52)


@FOUR_HUNDRED
@given(schemes(), numbers, numbers)
def test_a_label_leads_to_its_hex_and_back(scheme: Scheme, column: int, row: int) -> None:
    label = scheme._text(column, row)
    assert scheme.label(scheme.hex(label)) == label


@FOUR_HUNDRED
@given(schemes(), st.integers(-80, 80), st.integers(-80, 80))
def test_a_hex_that_has_a_label_is_found_by_it(scheme: Scheme, q: int, r: int) -> None:
    try:
        label = scheme.label((q, r))
    except LabelError:
        return
    assert scheme.hex(label) == (q, r)


@FOUR_HUNDRED
@given(schemes(), numbers, numbers)
def test_six_labels_are_around_each(scheme: Scheme, column: int, row: int) -> None:
    """The neighbours are those whose centres are drawn one pitch away: no scheme tears the map."""
    place = scheme.hex(scheme._text(column, row))
    x, y = scheme.drawn_point(*center(place))
    half = Fraction(1, 2)
    expected = {(0, 1), (0, -1), (1, half), (1, -half), (-1, half), (-1, -half)}
    if scheme.orientation == "pointed":
        expected = {(b, a) for a, b in expected}
    around = [scheme.drawn_point(*center(place.beside(direction))) for direction in range(1, 7)]
    assert {(ax - x, ay - y) for ax, ay in around} == expected


@FOUR_HUNDRED
@given(schemes(), st.tuples(numbers, numbers), st.tuples(numbers, numbers))
def test_a_hex_is_drawn_where_its_numbers_say(
    scheme: Scheme, one: tuple[int, int], two: tuple[int, int]
) -> None:
    """Columns lie a pitch apart to the right, rows a pitch apart down (or up), shifted ones half a pitch off."""
    drawn = [scheme.drawn_point(*center(scheme.hex(scheme._text(*numbers)))) for numbers in (one, two)]
    shift = [off(scheme, *numbers) for numbers in (one, two)]
    right = two[0] - one[0]
    down = (two[1] - one[1]) * (1 if scheme.row_direction == "down" else -1)
    along = shift[1] - shift[0]
    expected = (right + along, down) if scheme.orientation == "pointed" else (right, down + along)
    assert (drawn[1][0] - drawn[0][0], drawn[1][1] - drawn[0][1]) == expected


def off(scheme: Scheme, column: int, row: int) -> Fraction:
    line = row if scheme.orientation == "pointed" else column
    if line % 2 != (scheme.shifted == "odd"):
        return Fraction(0)
    return Fraction(1, 2) if scheme.shift == "down" else Fraction(-1, 2)


@FOUR_HUNDRED
@given(schemes(), st.fractions(), st.fractions())
def test_drawing_on_the_lattice_can_be_undone(scheme: Scheme, x: Fraction, y: Fraction) -> None:
    assert scheme.drawn_point(*scheme.lattice_point(x, y)) == (x, y)
    assert scheme.lattice_point(*scheme.drawn_point(x, y)) == (x, y)


@FOUR_HUNDRED
@given(schemes(), numbers, numbers, st.integers(1, 6))
def test_a_hexside_leads_to_its_cell_and_back(scheme: Scheme, column: int, row: int, direction: int) -> None:
    place = scheme.hex(scheme._text(column, row))
    dq, dr = STEPS[direction - 1]
    x, y = 2 * place.q + dq, 2 * place.r + dr
    label = scheme.side_label(x, y)
    assert scheme.side(label) == (x, y)
    assert scheme.side(f"{scheme.label(place)}|{direction}") == (x, y)


@FOUR_HUNDRED
@given(schemes_with_boards(), st.data())
def test_every_hex_of_a_board_has_a_label_that_names_it(scheme: Scheme, data: st.DataObject) -> None:
    board = data.draw(st.sampled_from(scheme.boards))
    column = scheme.first_column + data.draw(st.integers(0, board.columns - 1))
    row = scheme.first_row + data.draw(st.integers(0, board.rows - 1))
    if not scheme._on_board(column, row, board):
        return
    own = f"{board.board}-{scheme._text(column, row)}"
    assert scheme.hex(scheme.label(scheme.hex(own))) == scheme.hex(own)


@FOUR_HUNDRED
@given(schemes_with_boards(), st.data())
def test_hexes_of_a_board_keep_their_distance_where_it_is_laid(scheme: Scheme, data: st.DataObject) -> None:
    board = data.draw(st.sampled_from(scheme.boards))
    columns = st.integers(scheme.first_column, scheme.first_column + board.columns - 1)
    rows = st.integers(scheme.first_row, scheme.first_row + board.rows - 1)
    one, two = (data.draw(st.tuples(columns, rows)) for _ in range(2))
    laid = scheme._axial(*one, board).distance(scheme._axial(*two, board))
    assert laid == scheme._axial(*one, None).distance(scheme._axial(*two, None))


@pytest.mark.parametrize("ruleset", CODES)
def test_python_and_database_agree_on_neighbours_and_sides(connection: Connection, ruleset: str) -> None:
    scheme = scheme_of(ruleset)
    place = scheme._axial(5, 7, None)
    rows = connection.execute(
        sa.text("select direction, nq, nr from lattice.neighbours(:q, :r)"), {"q": place.q, "r": place.r}
    ).all()
    assert [(row.nq, row.nr) for row in rows] == [place.beside(row.direction) for row in rows]
    for row in rows:
        pair = connection.execute(
            sa.text("select q1, r1, q2, r2 from lattice.side_hexes(:x, :y)"),
            {"x": place.q + row.nq, "y": place.r + row.nr},
        ).one()
        assert ((pair.q1, pair.r1), (pair.q2, pair.r2)) == side_hexes(place.q + row.nq, place.r + row.nr)
