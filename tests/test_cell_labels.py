"""Rulings name a hexside by its two labels, the lower first: SQL and `db.labels` agree on which that is."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_map import make_map, scheme_of
from sqlalchemy.engine import Connection

from db.labels import Axial, Board, Scheme
from db.rulesets import CODES

SCHEMES: dict[str, tuple[Scheme, tuple[str, str]]] = {
    "css": (scheme_of("css"), ("97.96", "102.101")),
    "ccp": (scheme_of("ccp"), ("X7", "AC12")),
    "fpb": (scheme_of("fpb"), ("0707", "1212")),
    "bob": (scheme_of("bob"), ("C7", "H12")),
    "ddp": (scheme_of("ddp"), ("0794", "1299")),
    "rows first": (Scheme(order="row_column", separator=".", row_digits=1), ("7.07", "12.12")),
    "doubled letters": (Scheme(columns="doubled_letters", row_digits=1), ("Y7", "CC12")),
    "rows upward": (Scheme(row_direction="up", separator=".", column_digits=1), ("7.07", "12.12")),
    "pointed": (Scheme(orientation="pointed", columns="letters", row_digits=1), ("X7", "AC12")),
    "joined boards": (
        Scheme(
            columns="letters", row_digits=1,
            boards=(Board(board="21", columns=4, rows=10), Board(board="3", columns=4, rows=10, at=(3, 0))),
        ),
        ("21-A1", "3-D10"),
    ),
}  # fmt: skip


def in_sql(connection: Connection, map_id: int, first: Axial, second: Axial) -> str | None:
    return connection.scalar(
        sa.text("select positions.cell_label(:map, :q1, :r1, :q2, :r2)"),
        {"map": map_id, "q1": first.q, "r1": first.r, "q2": second.q, "r2": second.r},
    )


@pytest.mark.parametrize("numbering", SCHEMES)
def test_every_side_has_the_same_name_in_sql_and_in_python(connection: Connection, numbering: str) -> None:
    scheme, extent = SCHEMES[numbering]
    ruleset = numbering if numbering in CODES else "css"
    map_id = make_map(connection, "sides", extent, ruleset=ruleset, scheme=scheme)
    hexes = set(scheme.rectangle(*extent))
    sides = {
        (place, place.beside(direction))
        for place in hexes
        for direction in range(1, 7)
        if place.beside(direction) in hexes
    }
    assert len(sides) > 100
    for first, second in sides:
        name = scheme.side_label(first.q + second.q, first.r + second.r)
        assert in_sql(connection, map_id, first, second) == name


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_random_side_of_a_games_numbering_has_the_same_name(
    connection: Connection, data: st.DataObject
) -> None:
    """Without a map: two labels are ordered by what they say."""
    scheme = scheme_of(data.draw(st.sampled_from(CODES)))
    number = st.integers(1, 99)
    place = scheme._axial(data.draw(number), data.draw(number), None)
    beside = place.beside(data.draw(st.integers(1, 6)))
    if not (scheme._has_label(place) and scheme._has_label(beside)):
        return
    told = connection.scalar(
        sa.text("select positions.side_label(:one, :two)"),
        {"one": scheme.label(place), "two": scheme.label(beside)},
    )
    assert told == scheme.side_label(place.q + beside.q, place.r + beside.r)


def test_a_hex_and_a_side_of_the_rim_have_one_label(connection: Connection) -> None:
    map_id = make_map(connection, "rim", ("C9", "D10"), ruleset="bob")
    scheme = scheme_of("bob")
    corner = scheme.hex("C9")
    assert in_sql(connection, map_id, corner, corner) == "C9"
    assert in_sql(connection, map_id, corner, corner.beside(1)) == "C9"
    assert in_sql(connection, map_id, corner.beside(1), corner) == "C9"
    assert in_sql(connection, map_id, corner.beside(1), corner.beside(6)) is None


def test_a_trace_and_a_line_of_sight_name_a_spine_alike(connection: Connection) -> None:
    """Both orders of the numbers of 9 and 10 stand on this line's spine."""
    scheme = Scheme(separator=".", column_digits=1, row_digits=1, shifted="odd")
    map_id = make_map(connection, "spine", ("6.6", "13.13"), scheme=scheme)
    position = connection.scalar(
        sa.text("insert into position (map_id, ruleset) values (:map, 'css') returning id"), {"map": map_id}
    )
    seen = 0
    for label in ("8.9", "8.10", "9.10"):
        start = scheme.hex(label)
        target = Axial(start.q + 1, start.r - 2)
        spine = scheme.side_label(2 * start.q + 1, 2 * start.r - 2)
        ends = {"position": position, "from": label, "to": scheme.label(target)}
        traced = connection.scalars(
            sa.text("select at from css.trace(:position, :from, :to) where kind = 'spine'"), ends
        ).all()
        grazed = connection.scalars(
            sa.text("select at from css.los(:position, :from, :to) where effect = 'graze'"), ends
        ).all()
        assert traced == grazed == [spine]
        seen += "10" in spine and "9" in spine
    assert seen
