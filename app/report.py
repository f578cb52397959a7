"""Rulings for people: the map drawn in text, the verdict, and the proof below it.

A hex takes two lines: its label, and its terrain with level, units and markers. A column
that is shifted by half a hex stands a line lower, which is just half of that.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from rich.console import Console
from rich.text import Text
from sqlalchemy.engine import Connection

from app.questions import kinds_of
from app.rulings import Ruling, Step, contested_points
from db.labels import Axial, LabelError, side_hexes
from importers.cases import CaseDraft, PositionDraft
from importers.map_draft import vocabulary

AROUND = 2
"""Hexes drawn around what a case speaks of."""
WIDEST = 18
HIGHEST = 24
"""Columns and rows; a larger window says that it is cut."""
LISTED = 12

GROUND = {
    "forest": "green", "jungle": "green", "woods": "green", "palm": "green", "mangrove": "green",
    "orchard": "green", "brush": "yellow", "bush": "yellow", "grass": "yellow", "field": "yellow",
    "cane": "yellow", "sea": "blue", "ocean": "blue", "water": "blue", "river": "blue", "stream": "blue",
    "reef": "cyan", "surf": "cyan", "shallow": "cyan", "swamp": "cyan", "marsh": "cyan", "paddy": "cyan",
    "building": "magenta", "town": "magenta", "village": "magenta", "hut": "magenta",
    "mountain": "red", "hill": "red", "rocky": "red", "coral": "red", "beach": "bright_yellow",
}  # fmt: skip
MARKS = {"end": "@", "line": "+", "blocks": "#", "answer": "*"}
"""What stands before a label: the ends of a question, what lies on its line, what stops it, what it found."""
STYLES = {"end": "bold reverse", "line": "reverse", "blocks": "bold white on red", "answer": "underline"}


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


def draw(position: PositionDraft, marks: Mapping[Axial, str]) -> Text:
    """The map, or the part of it that the marks and counters stand in, with a legend."""
    board = position.board
    shown = window(position, marks)
    short = abbreviations(position.ruleset)
    levels = {board.hexes[place].level for place in shown}
    counters = _counters(position)
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    top, left = min(2 * r + q for q, r in shown), min(q for q, _ in shown)
    for place in shown:
        ground = board.hexes[place]
        column, line = place.q - left, 2 * place.r + place.q - top
        mark = marks.get(place)
        label = (MARKS[mark] if mark else " ") + board.scheme.label(place)
        level = str(ground.level) if len(levels) > 1 else ""
        cells[line, column] = label, STYLES[mark] if mark else "bold"
        under = f" {short[ground.terrain]}{level}{counters.get(place, '')}"
        cells[line + 1, column] = under, _colour(ground.terrain)
    width = max(len(text) for text, _ in cells.values()) + 1
    drawn = Text()
    for line in range(max(line for line, _ in cells) + 1):
        for column in range(max(column for _, column in cells) + 1):
            text, style = cells.get((line, column), ("", ""))
            drawn.append(text, style=style)
            drawn.append(" " * (width - len(text)))
        drawn.rstrip()
        drawn.append("\n")
    for sentence in _legend(position, shown, short, marks):
        drawn.append(sentence + "\n", style="dim")
    return drawn


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


def _counters(position: PositionDraft) -> dict[Axial, str]:
    """How many units of which side stand in a hex, and ' for markers."""
    sides: dict[Axial, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for unit, place in position.units.values():
        if place is not None:
            sides[place][unit.side[:1].upper()] += 1  # type: ignore[attr-defined]
    told = {
        place: " " + "".join(f"{side}{count if count > 1 else ''}" for side, count in sorted(counts.items()))
        for place, counts in sides.items()
    }
    for marker in position.markers:
        told[marker.at] = told.get(marker.at, " ").removesuffix("'") + "'"
    return told


def abbreviations(ruleset: str) -> dict[str, str]:
    """Two letters for each terrain: the initials of two words, or the first letters that are free."""
    short: dict[str, str] = {}
    for word in sorted(vocabulary(ruleset).terrain, key=lambda word: "_" not in word):
        first, _, second = word.partition("_")
        wanted = [first[0] + second[:1]] if second else []
        wanted += [first[0] + letter for letter in first[1:] + second]
        short[word] = next(two for two in wanted if two not in short.values())
    return short


def _colour(terrain: str) -> str:
    return next((colour for word, colour in GROUND.items() if word in terrain), "")


def _legend(
    position: PositionDraft, shown: Collection[Axial], short: Mapping[str, str], marks: Mapping[Axial, str]
) -> Iterable[str]:
    board = position.board
    terrain = sorted({board.hexes[place].terrain for place in shown})
    yield ", ".join(f"{short[word]} {word.replace('_', ' ')}" for word in terrain)
    used = {mark for place, mark in marks.items() if place in shown}
    words = {"end": "asked", "line": "on the line", "blocks": "stops it", "answer": "found"}
    if used:
        yield ", ".join(f"{MARKS[mark]} {words[mark]}" for mark in MARKS if mark in used)
    sides: dict[tuple[int, int], list[str]] = collections.defaultdict(list)
    for x, y, kind in sorted(board.hexsides):
        if any(place in shown for place in side_hexes(x, y)):
            sides[x, y].append(kind.replace("_", " "))
    yield from _listed(
        "hexsides", [f"{board.scheme.side_label(*side)} {' and '.join(sides[side])}" for side in sides]
    )
    yield from _listed(
        "units",
        [
            f"{code} ({unit.side}) {'in ' + board.scheme.label(place) if place else 'off the map'}"  # type: ignore[attr-defined]
            for code, (unit, place) in position.units.items()
        ],
    )
    yield from _listed(
        "markers",
        [
            f"{marker.kind.replace('_', ' ')}{'' if marker.value is None else f' {marker.value}'}"
            f" in {board.scheme.label(marker.at)}"
            for marker in position.markers
        ],
    )
    if len(shown) < len(board.hexes):
        yield f"{len(shown)} of {len(board.hexes)} hexes are shown"


def _listed(what: str, items: list[str]) -> Iterable[str]:
    if items:
        more = f" … and {len(items) - LISTED} more" if len(items) > LISTED else ""
        yield f"{what}: {', '.join(items[:LISTED])}{more}"


def asked(ruling: Ruling) -> str:
    """The question in a line."""
    told = ", ".join(arguments_in_words(ruling.question[ruling.kind]))
    return f"{ruling.kind} {told}".strip()


def verdict(ruling: Ruling) -> str:
    """The answer in a line."""
    return answer_in_words(ruling.answer)


def arguments_in_words(arguments: Mapping[str, Any]) -> list[str]:
    """What a question was asked of, an argument each."""
    return [f"{name} {in_words(value)}" for name, value in arguments.items()]


def answer_in_words(answer: Mapping[str, Any], longest: int | None = None) -> str:
    """An answer in a line; what has more members than `longest` is counted, not listed.

    A list that is empty goes without saying where something else is said: visible, blocked by none.
    """
    telling = {key: value for key, value in answer.items() if not _is_empty(value)} or answer
    return "; ".join(_said(key, value, longest) for key, value in telling.items())


def _is_empty(value: Any) -> bool:
    """Whether a list has no members, or a table nothing but such lists."""
    return isinstance(value, dict | list) and all(
        map(_is_empty, value.values() if isinstance(value, dict) else value)
    )


def _said(key: str, value: Any, longest: int | None) -> str:
    words = "because" if key == "why" else key.replace("_", " ")
    if value is True:
        return words
    if value is False:
        return f"not {words}"
    if value is None:
        return f"{words}: not known"
    if longest is not None and is_long(value, longest):
        return f"{words}: {len(value)} in all"
    return f"{words} {in_words(value)}"


def is_long(value: Any, longest: int) -> bool:
    """Whether a value has more members than this, those of its lists counted."""

    def members(part: Any) -> int:
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ()
        return max(1, sum(map(members, inner)))

    return members(value) > longest


def in_words(value: Any) -> str:
    """A value of a question or an answer, as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {in_words(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(in_words(item) for item in value) or "none"
    return str(value)


def report_ruling(ruling: Ruling, console: Console) -> None:
    """The verdict first, then every rule that made it, what is contested, needed and expected."""
    style = "bold yellow" if None in ruling.answer.values() else "bold"
    console.print(Text.assemble((asked(ruling), "cyan"), ": ", (verdict(ruling), style)))
    for step in ruling.steps:
        console.print(
            Text.assemble(
                "  ", (_cited(step), "bold"), _at(step), f" {step.effect}", (f": {step.note}", "dim")
            )
        )
    points = contested_points(ruling.ruleset)
    for entry in ruling.contested:
        point = points[entry["point"]]
        effect = (
            "another reading would change the answer" if entry["decides"] else "the answer stands either way"
        )
        reading = point.readings[entry["reading"]].title
        told = f" {point.title}; read as {entry['reading']} ({reading}): {effect}"
        console.print(Text.assemble("  ", (f"contested {entry['point']}", "yellow"), told))
    for need in ruling.needs:
        console.print(Text.assemble("  ", ("needs", "yellow"), f" {need.what} (rule {need.rule})"))
    if ruling.ok is True:
        console.print(Text.assemble("  ", ("as expected", "green")))
    for difference in ruling.differences():
        console.print(Text.assemble("  ", ("not as expected", "bold red"), f" {difference}"))
    if ruling.id is not None:
        console.print(f"  kept as {ruling.id}", style="dim", markup=False)


def _cited(step: Step) -> str:
    return f"{step.rule} {step.clause}" if step.clause else step.rule


def _at(step: Step) -> str:
    return f" at {step.at}" if step.at else ""


def report_case(case: CaseDraft, rulings: list[Ruling], connection: Connection, console: Console) -> None:
    """A whole case: its title, then each question with its map; the same map is drawn once."""
    console.print(Text.assemble((case.case, "bold"), f"  {case.title}" if case.title else ""))
    drawn = None
    for ruling in rulings:
        marks = marked(ruling, case.position, connection)
        if drawn is None or not marks.items() <= drawn.items():
            console.print(draw(case.position, marks), no_wrap=True)
            drawn = marks
        report_ruling(ruling, console)
        console.print()
