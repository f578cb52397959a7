"""A position drawn as SVG: the ground, and upon it counters, and what a ruling marks.

One unit of the drawing is a hundredth of a hex's corner radius; y goes down. The ground is
`app.drawing.ground`'s, which keeps it.
"""

from __future__ import annotations

import collections
import functools
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup, escape

from app.drawing.counters import counter, marker, placed
from app.drawing.ground import Ground, Paper, Point, closed_line, drawn_ground, open_line
from app.drawing.outlines import rim, side
from app.drawing.palette import INKS, MARKS
from app.referee.picture import part as part_around
from db.counters import Unit
from db.labels import Axial
from db.position_draft import PositionDraft
from db.values import to_json

PIXELS = 0.5
"""Of the screen for a unit, where there is room."""
WIDEST, HIGHEST, AROUND = 26, 24, 3
"""Columns and rows of a drawing that shows a part of a map; how many of them around what matters."""
COUNTER = 108
MARKER = 80
BESIDE = 44
"""Sides of a counter, of a marker, and of a marker that lies with counters."""
SHOWN = 3
"""Counters of a stack that are seen; a number tells how many there are."""
MANY = 7
"""Hexes found from which on all others lie under a veil."""
RIMS: dict[str, tuple[int, int, str]] = {
    "line": (4, 5, ' stroke-dasharray="10 9"'), "answer": (7, 5, ""), "blocks": (10, 6, ""), "end": (11, 6, ""),
}  # fmt: skip
"""How a mark goes around its hexes: its width, how much wider the white beneath it is, and what else."""


def svg(
    position: PositionDraft,
    marks: Mapping[Axial, str],
    *,
    line: tuple[Axial, Axial] | None = None,
    path: Sequence[Axial] = (),
    costs: Mapping[Axial, str] | None = None,
    window: bool = True,
    ghosts: Sequence[tuple[Unit, Axial]] = (),
    picked: bool = False,
    about_units: bool = False,
) -> Markup:
    """A position, or the part of it around the marks, or else around its counters.

    `marks` as `app.terminal.report.marked` gives them; `line` is drawn between two centres, `path`
    as a way from hex to hex, `costs` are written into their hexes. With `window` a large map
    is cut to what matters. `ghosts` are counters where they stood before; `picked` lays a field over every
    hex that a script can ask for its label and its units. With `about_units` the part is the one around the
    counters, whatever is marked.
    """
    spoken = dict(marks) | dict.fromkeys([*(line or ()), *path], "end") if marks or line or path else {}
    if about_units:
        spoken = {}
    columns, rows = (
        part_around(position, spoken, WIDEST, HIGHEST, AROUND) if window else position.board.span()
    )
    told = repr((position.board.name, columns, rows, sorted(marks.items())))
    ground = drawn_ground(position.board, columns, rows).keyed(f"m{zlib.crc32(told.encode()):x}")
    sheet = _Sheet(position, ground)
    parts = [
        ground.beneath,
        *sheet.marked(marks),
        *sheet.ghosts(ghosts),
        *sheet.units(),
        *sheet.markers(),
        ground.words,
        *sheet.found(line, path, costs or {}),
        *(sheet.fields() if picked else ()),
    ]
    left, top, width, height = ground.box
    title = position.title or position.board.title or position.board.name or "Map"
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board {ground.size}" role="img" viewBox="{left:g} {top:g} {width:g} {height:g}"'
        f' width="{width * PIXELS:.0f}" height="{height * PIXELS:.0f}" font-family="DejaVu Sans, Verdana, sans-serif">'
        f"<title>{escape(title)}</title><desc>{escape(sheet.told())}</desc>"
        f"<defs>{ground.patterns}</defs>{''.join(parts)}</svg>"
    )


class _Sheet(Paper):
    """What stands on the ground and what a ruling marks, on its way to the paper."""

    def __init__(self, position: PositionDraft, ground: Ground) -> None:
        super().__init__(position.board.scheme.orientation == "pointed")
        self.position, self.board, self.shown = position, position.board, ground.shown
        self.turn = 90 if self.pointed else 0

    def told(self) -> str:
        label = self.board.scheme.label
        if not self.shown:
            return "No hexes."
        ends = f"{label(min(self.shown))} to {label(max(self.shown))}"
        units = [code for code, (_, place) in self.position.units.items() if place in self.shown]
        whole = "hexes" if len(self.shown) == self.board.size else f"of {self.board.size} hexes"
        told = f"{len(self.shown)} {whole}, {ends}."
        return told + (f" Units: {', '.join(units)}." if units else "")

    # What stands on it

    def markers(self) -> Iterator[str]:
        """In the middle of an empty hex, else at its right corner, beside what a counter has printed on it."""
        lying: collections.Counter[Axial] = collections.Counter()
        for one in self.position.markers:
            if one.at in self.shown:
                x, y = self.center(one.at)
                picture = marker(one.kind, one.value, one.facing, self.turn)
                beside, n = one.at in self.standing, lying[one.at]
                size = BESIDE if beside else MARKER
                right, down = (78, 10 + 40 * ((n + 1) // 2) * (-1) ** (n + 1)) if beside else (18 * n, 10)
                yield placed(picture, x + right - size / 2, y + down - size / 2, size)
                lying[one.at] += 1

    def units(self) -> Iterator[str]:
        stacks: dict[Axial, list[Unit]] = collections.defaultdict(list)
        for unit, place in self.position.units.values():
            if place is not None and place in self.shown:
                stacks[place].append(unit)
        for place, stack in sorted(stacks.items()):
            x, y = self.center(place)
            seen = stack[:SHOWN]
            for n, unit in reversed(list(enumerate(seen))):
                step = 11 * (n - (len(seen) - 1) / 2)
                picture = counter(unit, self.position.ruleset, self.turn)
                yield placed(picture, x + step - COUNTER / 2, y - step + 8 - COUNTER / 2, COUNTER)
            if len(stack) > 1:
                yield _count(x + 62, y - 40, len(stack))

    def ghosts(self, gone: Sequence[tuple[Unit, Axial]]) -> Iterator[str]:
        """Counters where they stood before, pale."""
        for unit, place in gone:
            if place in self.shown:
                x, y = self.center(place)
                picture = counter(unit, self.position.ruleset, self.turn)
                yield f'<g class="ghost" opacity=".35">{placed(picture, x - COUNTER / 2, y + 8 - COUNTER / 2, COUNTER)}</g>'

    def fields(self) -> Iterator[str]:
        """A clear field over every hex, with its label and the ids of its units."""
        standing: dict[Axial, list[str]] = collections.defaultdict(list)
        for code, (_, place) in self.position.units.items():
            if place is not None:
                standing[place].append(code)
        for place in sorted(self.shown):
            units = (
                f' data-units="{escape(to_json(standing[place], indent=None))}"' if place in standing else ""
            )
            label = escape(self.board.scheme.label(place))
            yield f'<path class="field" data-hex="{label}"{units} d="{self.outline([place])}" fill="transparent"/>'

    # What a ruling found

    def marked(self, marks: Mapping[Axial, str]) -> Iterator[str]:
        """What is marked has a rim and keeps its colours; of much that was found, the rest lies under a veil."""
        by_mark = collections.defaultdict(list)
        for place, mark in sorted(marks.items()):
            if place in self.shown:
                by_mark[mark].append(place)
        if len(by_mark["answer"]) >= MANY:
            rest = sorted(set(self.shown) - {place for place in marks if marks[place] in ("answer", "end")})
            yield f'<path class="map-veil" color="{INKS["veil"]}" d="{self.outline(rest)}" fill="currentColor" fill-opacity=".5"/>'
        for mark, (width, casing, more) in RIMS.items():
            if not by_mark[mark]:
                continue
            d = self._rim(by_mark[mark]) if mark == "answer" else self.outline(by_mark[mark])
            if casing:
                yield (
                    f'<path class="mark-casing" d="{d}" fill="none" stroke="#ffffff" stroke-opacity=".85"'
                    f' stroke-width="{width + casing}" stroke-linejoin="round" stroke-linecap="round"/>'
                )
            yield (
                f'<path class="mark-{mark}" color="{MARKS[mark]}" d="{d}" fill="none" stroke="currentColor"'
                f' stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"{more}/>'
            )

    def _rim(self, places: Iterable[Axial]) -> str:
        """Around some hexes together."""
        return "".join(open_line([self.at(*end) for end in side(*one)]) for one in rim(places))

    def found(
        self, line: tuple[Axial, Axial] | None, path: Sequence[Axial], costs: Mapping[Axial, str]
    ) -> Iterator[str]:
        if line is not None:
            ends = [self.center(place) for place in line]
            yield from _cased(open_line(ends), "end", 6)
            yield "".join(
                f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="#ffffff" class="mark-end" color="{MARKS["end"]}"'
                ' stroke="currentColor" stroke-width="5"/>'
                for x, y in ends
            )
        if len(path) > 1:
            points = [self.center(place) for place in path]
            yield from _cased(open_line(points), "answer", 9)
            yield _head(points[-2], points[-1])
        for place, text in costs.items():
            if place in self.shown:
                yield _pill(*self._cost_at(place, path), text)

    def _cost_at(self, place: Axial, path: Sequence[Axial]) -> Point:
        """Where a hex's cost is written: on the side a way enters by, at the left corner where counters are."""
        x, y = self.center(place)
        step = path.index(place) if place in path else 0
        if step:
            before = self.center(path[step - 1])
            return (x + before[0]) / 2, (y + before[1]) / 2
        taken = place in self.standing or any(one.at == place for one in self.position.markers)
        return (x - 74, y + 8) if taken else (x, y)

    @functools.cached_property
    def standing(self) -> set[Axial]:
        """Hexes with counters."""
        return {place for _, place in self.position.units.values() if place is not None}


# Pieces


def _cased(d: str, mark: str, width: float) -> Iterator[str]:
    yield (
        f'<path class="mark-casing" d="{d}" fill="none" stroke="#ffffff" stroke-width="{width + 6:g}"'
        ' stroke-linecap="round" stroke-linejoin="round" stroke-opacity=".85"/>'
    )
    yield (
        f'<path class="ray" d="{d}" fill="none" stroke="{MARKS[mark]}" stroke-width="{width:g}" stroke-linecap="round"'
        ' stroke-linejoin="round"/>'
    )


def _head(before: Point, last: Point) -> str:
    (x1, y1), (x2, y2) = before, last
    length = max(1e-9, ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5)
    dx, dy = (x2 - x1) / length, (y2 - y1) / length
    corners = [(x2 + 26 * dx, y2 + 26 * dy), (x2 - 16 * dy, y2 + 16 * dx), (x2 + 16 * dy, y2 - 16 * dx)]
    d = closed_line([(round(x, 1), round(y, 1)) for x, y in corners])
    return f'<path d="{d}" fill="{MARKS["answer"]}" stroke="#ffffff" stroke-width="4"/>'


def _count(x: float, y: float, count: int) -> str:
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="16" fill="#1d1b17" stroke="#ffffff" stroke-width="3"/>'
        f'<text x="{x:g}" y="{y + 7:g}" font-size="20" font-weight="700" text-anchor="middle" fill="#ffffff">{count}</text>'
    )


def _pill(x: float, y: float, text: str) -> str:
    width = 18 * len(text) + 22
    return (
        f'<rect x="{x - width / 2:g}" y="{y - 19:g}" width="{width}" height="38" rx="19" fill="#ffffff" fill-opacity=".9"'
        f' stroke="{MARKS["answer"]}" stroke-width="3"/><text x="{x:g}" y="{y + 10:g}" font-size="28" font-weight="700"'
        f' text-anchor="middle" fill="#10305f">{escape(text)}</text>'
    )
