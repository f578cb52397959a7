"""What of a ruling lies on the map: its ends, its line or way, what stops it, what it found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.referee.questions import kinds_of
from app.referee.rulings import Ruling
from db.labels import Axial, LabelError, side_hexes
from db.position_draft import PositionDraft

AROUND = 2
"""Hexes drawn around what a case speaks of."""
WIDEST = 18
HIGHEST = 24
"""Columns and rows; a larger window says that it is cut."""


def line_hexes(connection: Connection, start: Axial, target: Axial) -> list[Axial]:
    """The hexes that a straight line passes or runs along, its ends left out."""
    rows = connection.execute(
        sa.text(
            "select q1, r1, q2, r2 from lattice.line(:q1, :r1, :q2, :r2) where kind in ('hex', 'spine') order by n"
        ),
        {"q1": start.q, "r1": start.r, "q2": target.q, "r2": target.r},
    )
    found = [Axial(q, r) for row in rows for q, r in ((row.q1, row.r1), (row.q2, row.r2)) if q is not None]
    return list(dict.fromkeys(found))


def place_of(name: Any, position: PositionDraft) -> Axial | None:
    """The hex that a name of a question means: a unit's, a landing unit's beach, or a label."""
    if not isinstance(name, str):
        return None
    if name in position.units:
        unit, place = position.units[name]
        zone = getattr(unit, "zone", None)
        return place if zone is None else place_of(zone.beach, position)
    try:
        place = position.board.scheme.hex(name)
    except LabelError:
        return None
    return place if place in position.board.hexes else None


def ends(ruling: Ruling, position: PositionDraft) -> list[Axial]:
    """The hexes that a question names, in its order."""
    return [
        place
        for value in ruling.question[ruling.kind].values()
        for name in (value if isinstance(value, list) else [value])
        if (place := place_of(name, position)) is not None
    ]


def marked(ruling: Ruling, position: PositionDraft, connection: Connection) -> dict[Axial, str]:
    """What the drawing marks: the question's ends, its line, what stops it, what it found."""
    kind = kinds_of(ruling.ruleset)[ruling.kind]
    asked_of = ends(ruling, position)
    marks: dict[Axial, str] = {}
    if kind.draws == "line" and len(asked_of) == 2:
        marks |= dict.fromkeys(line_hexes(connection, asked_of[0], asked_of[1]), "line")
    if kind.draws in ("hexes", "path"):
        for found in ruling.answer.values():
            if isinstance(found, list | dict):
                places = (place_of(name, position) for name in found)
                marks |= {place: "answer" for place in places if place is not None}
    for label in ruling.answer.get("blocked_by", ()):
        marks |= dict.fromkeys(_hexes_of(label, position), "blocks")
    return marks | dict.fromkeys(asked_of, "end")


def _hexes_of(label: str, position: PositionDraft) -> list[Axial]:
    if "|" not in label:
        place = place_of(label, position)
        return [] if place is None else [place]
    return [
        place for place in side_hexes(*position.board.scheme.side(label)) if place in position.board.hexes
    ]


def step_costs(ruling: Ruling) -> dict[str, int | Decimal]:
    """What the steps of a proof say that each hex of a way costs."""
    costs: dict[str, int | Decimal] = {}
    for step in ruling.steps:
        if step.at and isinstance(step.effect, int | Decimal):
            costs[step.at] = costs.get(step.at, 0) + step.effect
    return costs


def window(
    position: PositionDraft,
    marks: Mapping[Axial, str],
    widest: int = WIDEST,
    highest: int = HIGHEST,
    around: int = AROUND,
) -> set[Axial]:
    """The hexes to draw: a whole small map, else the rectangle around the marks, or around the units."""
    hexes = position.board.hexes
    if len(_lines(hexes, 0)) <= widest and len(_lines(hexes, 1)) <= highest:
        return set(hexes)
    spoken = set(marks) or {place for _, place in position.units.values() if place is not None} or set(hexes)
    ends = [place for place, mark in marks.items() if mark == "end"]
    columns = _kept(_lines(spoken, 0, around), _lines(ends, 0), widest)
    rows = _kept(_lines(spoken, 1, around), _lines(ends, 1), highest)
    return {place for place in hexes if _line(place, 0) in columns and _line(place, 1) in rows}


def _line(place: Axial, axis: int) -> int:
    """The column (axis 0) or row (1) of a hex on the sheet."""
    return place.q if axis == 0 else (2 * place.r + place.q) // 2


def _lines(places: Collection[Axial], axis: int, around: int = 0) -> range:
    """The columns or rows from the first to the last of some hexes, and some around them."""
    lines = [_line(place, axis) for place in places]
    return range(min(lines) - around, max(lines) + around + 1) if lines else range(0)


def _kept(lines: range, asked: range, most: int) -> range:
    """Of too many columns or rows, those about the middle of the question's ends."""
    if len(lines) <= most:
        return lines
    asked = asked or lines[:most]
    first = max(lines.start, min(sum(asked) // len(asked) - most // 2, lines.stop - most))
    return range(first, first + most)
