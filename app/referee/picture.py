"""What of a ruling lies on the map: its ends, its line or way, what stops it, what it found.

There is one picture of a ruling. The map page's script gets it as JSON (`as_dict`); drawings in
SVG and in text get it as marks on hexes (`marks`).
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.referee.arguments import arguments
from app.referee.questions import kinds_of
from app.referee.rulings import QuestionKind, Ruling
from db.labels import HEX, Axial, LabelError, Scheme, side_hexes, unprefixed
from db.map_draft import MapDraft, columns_of, rows_of
from db.position_draft import PositionDraft
from importers.questions import Roster

AROUND = 2
"""Hexes drawn around what a case speaks of."""
WIDEST = 18
HIGHEST = 24
"""Columns and rows; a larger window says that it is cut."""

Tree = dict[str, Any]
Mark = Literal["end", "line", "blocks", "answer"]


@dataclasses.dataclass(frozen=True)
class Picture:
    """A ruling on the map, every place by its label."""

    kind: Literal["line", "hexes", "path", "places"]
    ends: tuple[str, ...]
    """The hexes that the question names."""
    line: tuple[str, str] | None
    path: tuple[str, ...]
    """A way, hex by hex."""
    blocked: tuple[str, ...]
    """Hexes and hexsides that stop it."""
    hexes: Mapping[str, Any]
    """What was found, each with its cost, or None."""
    units: tuple[str, ...]
    """Units that the answer names."""

    def as_dict(self, scheme: Scheme) -> Tree:
        """For the script of the map page and the API; a line by its ends in the display plane."""
        return {
            "kind": self.kind,
            "line": [list(scheme.display_point(scheme.hex(label))) for label in self.line or ()],
            "hexes": dict(self.hexes),
            "blocked": list(self.blocked),
            "path": list(self.path),
            "ends": list(self.ends),
            "units": list(self.units),
            "places": self.places(scheme),
        }

    def places(self, scheme: Scheme) -> dict[str, list[int]]:
        """Where everything lies that is named: a map that is not loaded as a whole cannot look it up."""
        found: dict[str, list[int]] = {}
        for told in (*self.ends, *self.path, *self.blocked, *self.hexes):
            for label in told.split("|"):
                with contextlib.suppress(LabelError):
                    found[label] = list(scheme.hex(label))
        return found

    def marks(self, board: MapDraft, connection: Connection) -> dict[Axial, Mark]:
        """What a drawing marks; what is named in several ways has the strongest mark."""
        marks: dict[Axial, Mark] = {}
        for label in (*self.hexes, *self.path):
            marks |= dict.fromkeys(_hexes_of(label, board), "answer")
        if self.line is not None:
            start, target = (board.scheme.hex(label) for label in self.line)
            marks |= dict.fromkeys(_line_hexes(connection, start, target), "line")
        for label in self.blocked:
            marks |= dict.fromkeys(_hexes_of(label, board), "blocks")
        return marks | {board.scheme.hex(label): "end" for label in self.ends}

    def costs(self, board: MapDraft) -> dict[Axial, Any]:
        """What is written into hexes."""
        return {
            place: cost
            for label, cost in self.hexes.items()
            if cost is not None
            for place in _hexes_of(label, board)
        }


def picture(ruling: Ruling, roster: Roster) -> Picture:
    """The picture of a ruling on a position, stored or not."""
    kind = kinds_of(ruling.ruleset)[ruling.kind]
    asked = ruling.question[ruling.kind]
    ends = tuple(dict.fromkeys(_labels(_named(kind, asked, many=False), roster)))
    told_path = tuple(ruling.answer.get("path") or ())
    way = told_path or tuple(_labels(_named(kind, asked, many=True, what="hex"), roster))
    if kind.draws == "path" and not told_path and way and ends and ends[0] != way[0]:
        way = (ends[0], *way)
    return Picture(
        kind=kind.draws or "places",  # type: ignore[arg-type]
        ends=ends,
        line=(ends[0], ends[1]) if kind.draws == "line" and len(ends) == 2 else None,
        path=way if kind.draws != "line" else (),
        blocked=_blocked(ruling),
        hexes=_found(kind, ruling),
        units=tuple(sorted(set(_units(kind, ruling.answer)))),
    )


def _blocked(ruling: Ruling) -> tuple[str, ...]:
    """What stops a line, or the hex in which a move fails."""
    stops = (step.at for step in ruling.steps if step.effect in ("blocks", "illegal") and step.at)
    return tuple(dict.fromkeys([*ruling.answer.get("blocked_by", ()), *stops]))


def _found(kind: QuestionKind, ruling: Ruling) -> Tree:
    if kind.draws == "path":
        return dict(step_costs(ruling))
    hexes: Tree = {}
    for key, found in ruling.answer.items() if kind.draws in ("hexes", "line") else ():
        if key in ("blocked_by", "path", *kind.names_units):
            continue
        if isinstance(found, dict) and not any(isinstance(item, list) for item in found.values()):
            hexes |= found
        elif isinstance(found, list):
            hexes |= {name: None for name in found if isinstance(name, str)}
    return hexes


def _units(kind: QuestionKind, answer: Tree) -> Iterator[str]:
    """The units that an answer names: listed, by whom something is done, or as keys."""
    for key in kind.names_units:
        told = answer.get(key) or ()
        for item in told:
            if isinstance(item, str):
                yield item
            elif isinstance(item, Mapping) and isinstance(item.get("by"), str):
                yield item["by"]


def step_costs(ruling: Ruling) -> dict[str, int | Decimal]:
    """What the steps of a proof say that each hex of a way costs."""
    costs: dict[str, int | Decimal] = {}
    for step in ruling.steps:
        if step.at and isinstance(step.effect, int | Decimal):
            costs[step.at] = costs.get(step.at, 0) + step.effect
    return costs


def _named(kind: QuestionKind, asked: Tree, *, many: bool, what: str | None = None) -> Iterator[str]:
    """The places that a question names, in the order of its arguments; a hex that can be nothing else says so."""
    for argument in arguments(kind):
        if argument.picked and argument.many == many and (what is None or what in argument.names):
            value = asked.get(argument.word)
            # one may be told as a list of one
            names = () if value is None else value if isinstance(value, list | tuple) else (value,)
            yield from names if "unit" in argument.names else (f"{HEX}{name}" for name in names)


def _labels(names: Iterable[str], roster: Roster) -> Iterator[str]:
    """The labels of the hexes that are meant; a unit off the map has none."""
    for name in names:
        place = place_of(name, roster)
        if place is not None:
            yield roster.board.scheme.label(place)


def place_of(name: str, roster: Roster) -> Axial | None:
    """The hex that a name of a question means: a unit's, a landing unit's beach, or a label."""
    prefix, word = unprefixed(name)
    if prefix != HEX and roster.is_unit(word):
        return roster.standing(word)
    try:
        place = roster.board.scheme.hex(word)
    except LabelError:
        return None
    return place if place in roster.board.hexes else None


def _hexes_of(label: str, board: MapDraft) -> list[Axial]:
    """The hexes of a label: one, or the two of a hexside; none where it is no place of this map."""
    try:
        if "|" in label:
            places: tuple[Axial, ...] = side_hexes(*board.scheme.side(label))
        else:
            places = (board.scheme.hex(label),)
    except LabelError:
        return []
    return [place for place in places if place in board.hexes]


def _line_hexes(connection: Connection, start: Axial, target: Axial) -> list[Axial]:
    """The hexes that a straight line passes or runs along, its ends left out."""
    rows = connection.execute(
        sa.text(
            "select q1, r1, q2, r2 from lattice.line(:q1, :r1, :q2, :r2) where kind in ('hex', 'spine') order by n"
        ),
        {"q1": start.q, "r1": start.r, "q2": target.q, "r2": target.r},
    )
    found = [Axial(q, r) for row in rows for q, r in ((row.q1, row.r1), (row.q2, row.r2)) if q is not None]
    return list(dict.fromkeys(found))


def window(
    position: PositionDraft,
    marks: Mapping[Axial, str],
    widest: int = WIDEST,
    highest: int = HIGHEST,
    around: int = AROUND,
) -> set[Axial]:
    """The hexes to draw: a whole small map, else the rectangle around the marks, or around the units."""
    columns, rows = part(position, marks, widest, highest, around)
    board = position.board.cut(columns, rows)
    return {place for place in board.hexes if place.q in columns and place.row in rows}


def part(
    position: PositionDraft,
    marks: Mapping[Axial, str],
    widest: int = WIDEST,
    highest: int = HIGHEST,
    around: int = AROUND,
) -> tuple[range, range]:
    """The columns and rows of these hexes; no hex is looked at for it."""
    whole = position.board.span()
    if len(whole[0]) <= widest and len(whole[1]) <= highest:
        return whole
    spoken = set(marks) or {place for _, place in position.units.values() if place is not None}
    ends = [place for place, mark in marks.items() if mark == "end"]
    named = (columns_of(spoken), rows_of(spoken)) if spoken else whole
    columns = _kept(_widened(named[0], around), columns_of(ends), widest)
    rows = _kept(_widened(named[1], around), rows_of(ends), highest)
    return columns, rows


def _widened(lines: range, around: int) -> range:
    return range(lines.start - around, lines.stop + around)


def _kept(lines: range, asked: range, most: int) -> range:
    """Of too many columns or rows, those about the middle of the question's ends."""
    if len(lines) <= most:
        return lines
    asked = asked or lines[:most]
    first = max(lines.start, min(sum(asked) // len(asked) - most // 2, lines.stop - most))
    return range(first, first + most)
