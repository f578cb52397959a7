"""Rulings for people: the map drawn in text, the verdict, and the proof below it.

A hex takes two lines: its label, and its terrain with level, units and markers. A column
that is shifted by half a hex stands a line lower, which is just half of that.
"""

from __future__ import annotations

import collections
from collections.abc import Collection, Iterable, Mapping

from rich.console import Console
from rich.text import Text
from sqlalchemy.engine import Connection

from app.referee import words
from app.referee.picture import picture, window
from app.referee.rulings import Ruling
from db.labels import Axial, side_hexes
from db.map_draft import MapDraft, columns_of, rows_of, vocabulary
from db.position_draft import PositionDraft
from importers.cases import CaseDraft

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


def draw(position: PositionDraft, marks: Mapping[Axial, str]) -> Text:
    """The map, or the part of it that the marks and counters stand in, with a legend."""
    shown = window(position, marks)
    board = position.board.cut(columns_of(shown), rows_of(shown))
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
    for sentence in _legend(position, board, shown, short, marks):
        drawn.append(sentence + "\n", style="dim")
    return drawn


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
    position: PositionDraft,
    board: MapDraft,
    shown: Collection[Axial],
    short: Mapping[str, str],
    marks: Mapping[Axial, str],
) -> Iterable[str]:
    terrain = sorted({board.hexes[place].terrain for place in shown})
    yield ", ".join(f"{short[word]} {word.replace('_', ' ')}" for word in terrain)
    used = {mark for place, mark in marks.items() if place in shown}
    meaning = {"end": "asked", "line": "on the line", "blocks": "stops it", "answer": "found"}
    if used:
        yield ", ".join(f"{MARKS[mark]} {meaning[mark]}" for mark in MARKS if mark in used)
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
    if len(shown) < position.board.size:
        yield f"{len(shown)} of {position.board.size} hexes are shown"


def _listed(what: str, items: list[str]) -> Iterable[str]:
    if items:
        more = f" … and {len(items) - LISTED} more" if len(items) > LISTED else ""
        yield f"{what}: {', '.join(items[:LISTED])}{more}"


def report_ruling(ruling: Ruling, console: Console) -> None:
    """The verdict first, then every rule that made it, what is contested, needed and expected."""
    style = "bold yellow" if None in ruling.answer.values() else "bold"
    console.print(Text.assemble((words.verdict(ruling), style), (f"  {words.asked(ruling)}", "dim")))
    for name, members in words.lists(ruling).items():
        console.print(Text.assemble(f"  {name}: ", (members, "dim")))
    for step in ruling.steps:
        said = words.step_in_words(step)
        line = Text(f"  {said}")
        line.stylize("bold", 2, 2 + len(said.cites))
        line.stylize("dim", len(line) - len(said.note))
        console.print(line)
    for touched in ruling.contested:
        _warn(str(words.point_in_words(ruling.ruleset, touched)), console)
    for entry in ruling.errata:
        _warn(str(words.erratum_in_words(entry)), console)
    for need in ruling.needs:
        _warn(str(words.need_in_words(ruling, need)), console)
    if ruling.ok is True:
        console.print(Text.assemble("  ", ("as expected", "green")))
    for difference in ruling.differences():
        console.print(Text.assemble("  ", ("not as expected", "bold red"), f" {difference}"))
    if ruling.id is not None:
        console.print(f"  kept as {ruling.id}", style="dim", markup=False)


def _warn(line: str, console: Console) -> None:
    """A line whose first word says what it is about."""
    word, _, rest = line.partition(" ")
    console.print(Text.assemble("  ", (word, "yellow"), f" {rest}"))


def report_case(case: CaseDraft, rulings: list[Ruling], connection: Connection, console: Console) -> None:
    """A whole case: its title, then each question with its map; the same map is drawn once."""
    console.print(Text.assemble((case.case, "bold"), f"  {case.title}" if case.title else ""))
    drawn = None
    for ruling in rulings:
        marks = picture(ruling, case.position).marks(case.position.board, connection)
        if drawn is None or not marks.items() <= drawn.items():
            console.print(draw(case.position, marks), no_wrap=True)
            drawn = marks
        report_ruling(ruling, console)
        console.print()
