"""A position drawn as SVG: ground, hexsides, paths, artwork, labels, counters, and what a ruling marks.

One unit of the drawing is a hundredth of a hex's corner radius; y goes down. What is alike
is drawn as one path, so that a map of a thousand hexes stays a small document.
"""

from __future__ import annotations

import collections
import functools
import itertools
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from markupsafe import Markup, escape

from app.drawing.counters import counter, marker, placed
from app.drawing.outlines import Land, around, chained, rim, rounded, side
from app.drawing.palette import (
    CONTOUR,
    CREST,
    HEXSIDES,
    INKS,
    MARKS,
    PATHS,
    SIGNS,
    TERRAIN,
    Stroke,
    dot_colour,
    tile,
)
from app.referee.picture import window as part_around
from db.counters import Unit
from db.labels import Axial, side_corners, side_hexes
from db.map_draft import GRID, MapDraft, vocabulary
from db.position_draft import PositionDraft
from db.values import to_json

Point = tuple[float, float]

RADIUS = 100
"""A hex's corner radius in units of the drawing."""
ROOT3 = 3**0.5
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
SLANTS = ("slope", "steep_slope", "cliff", "escarpment")
"""Hexsides that show the change of level themselves, without a contour."""

BUILT = ("blocks", "houses", "huts")
"""Patterns of what people built."""
DEEPENING = ("sea", "ocean")
"""Terrain that is darker the farther it is from land."""
FLOWING = ("river", "stream")
"""Hexsides without corners."""
SHADING = 0.05
"""How dark or light a degree of shade or light is."""
FADING = (1, 1, 0.6, 0.25)
"""Of the water beyond a map, by how far it is from the shore."""
SOFT = 22
"""How far what is soft is blurred."""
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
) -> Markup:
    """A position, or the part of it around the marks, or else around its counters.

    `marks` as `app.terminal.report.marked` gives them; `line` is drawn between two centres, `path`
    as a way from hex to hex, `costs` are written into their hexes. With `window` a large map
    is cut to what matters. `ghosts` are counters where they stood before; `picked` lays a field over every
    hex that a script can ask for its label and its units.
    """
    spoken = dict(marks) | dict.fromkeys([*(line or ()), *path], "end") if marks or line or path else {}
    shown = part_around(position, spoken, WIDEST, HIGHEST, AROUND) if window else set(position.board.hexes)
    sheet = _Sheet(position, shown, f"m{zlib.crc32(repr((sorted(shown), sorted(marks.items()))).encode()):x}")
    parts = [
        *sheet.ground(),
        *sheet.within((*sheet.artwork(), *sheet.levels(), *sheet.coast(), *sheet.hexsides(), *sheet.paths())),
        *sheet.grid(),
        *sheet.places(),
        *sheet.marked(marks),
        *sheet.ghosts(ghosts),
        *sheet.units(),
        *sheet.markers(),
        *sheet.words(),
        *sheet.found(line, path, costs or {}),
        *(sheet.fields() if picked else ()),
    ]
    left, top, width, height = sheet.box
    title = position.title or position.board.title or position.board.name or "Map"
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="board" role="img" viewBox="{left:g} {top:g} {width:g} {height:g}"'
        f' width="{width * PIXELS:.0f}" height="{height * PIXELS:.0f}" font-family="DejaVu Sans, Verdana, sans-serif">'
        f"<title>{escape(title)}</title><desc>{escape(sheet.told())}</desc>"
        f"<defs>{''.join(sheet.patterns())}</defs>{''.join(parts)}</svg>"
    )


def swatch(terrain: str) -> Markup:
    """A sample of a terrain, for legends."""
    key = f"s-{terrain}"
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="swatch" viewBox="0 0 160 100" width="48" height="30"'
        f' aria-hidden="true"><defs>{_pattern(terrain, key)}</defs><rect width="160" height="100" fill="url(#{key})"/></svg>'
    )


def stroke_sample(kind: str, word: str) -> Markup:
    """A sample of a `hexside` or `path` kind, for legends; the lower ground is below."""
    strokes = HEXSIDES if kind == "hexside" else PATHS
    drawn = _stroked(f"{kind}-{word}", strokes[word], "M10 40H150", [((10, 40), (150, 40), (80, 90))])
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" class="swatch" viewBox="0 0 160 100" width="48" height="30"'
        f' aria-hidden="true">{drawn}</svg>'
    )


class _Sheet:
    """A part of a position on its way to the paper."""

    def __init__(self, position: PositionDraft, shown: Collection[Axial], key: str) -> None:
        self.position, self.shown, self.key = position, shown, key
        self.board: MapDraft = position.board
        self.pointed = self.board.scheme.orientation == "pointed"
        self.turn = 90 if self.pointed else 0
        self.land = Land(self.board.hexes)
        self.drawn: dict[str, None] = {}
        """Terrains whose pattern is wanted."""

    def at(self, x: float, y: float) -> Point:
        """A lattice point on the sheet: y down; a pointed map is turned by a quarter circle."""
        x, y = 50 * x, 50 * ROOT3 * y
        return (round(-y, 1), round(x, 1)) if self.pointed else (round(x, 1), round(y, 1))

    def center(self, place: Axial) -> Point:
        return self.at(*place.center)

    def outline(self, places: Iterable[Axial]) -> str:
        return "".join(_closed([self.at(*corner) for corner in place.corners]) for place in places)

    @functools.cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of all that is shown, with a rim."""
        centers = [self.center(place) for place in self.shown]
        xs, ys = [x for x, _ in centers], [y for _, y in centers]
        rim = RADIUS + 12
        return (
            round(min(xs) - rim), round(min(ys) - rim),
            round(max(xs) - min(xs) + 2 * rim), round(max(ys) - min(ys) + 2 * rim),
        )  # fmt: skip

    def told(self) -> str:
        label = self.board.scheme.label
        ends = f"{label(min(self.shown))} to {label(max(self.shown))}"
        units = [code for code, (_, place) in self.position.units.items() if place in self.shown]
        whole = "hexes" if len(self.shown) == len(self.board.hexes) else f"of {len(self.board.hexes)} hexes"
        told = f"{len(self.shown)} {whole}, {ends}."
        return told + (f" Units: {', '.join(units)}." if units else "")

    def within(self, parts: Iterable[str]) -> Iterator[str]:
        """Roads and artwork run on where a map is cut; the drawing does not."""
        if len(self.shown) == len(self.board.hexes):
            yield from parts
            return
        rim = f"{self.key}-rim"
        outline = self.outline(sorted(self.shown))
        # hexsides on the rim are as wide as elsewhere
        yield f'<mask id="{rim}" maskUnits="userSpaceOnUse" {_sized(self.box)}>'
        yield f'<path d="{outline}" fill="#fff" stroke="#fff" stroke-width="22"/></mask><g mask="url(#{rim})">'
        yield from parts
        yield "</g>"

    # The ground

    def ground(self) -> Iterator[str]:
        """Hexes by terrain, their edges rounded; where artwork is drawn, it decides, and the hex itself is paler."""
        by_terrain = collections.defaultdict(list)
        for place in sorted(self.shown):
            by_terrain[self.board.hexes[place].terrain].append(place)
        pale = {area.terrain for area in self.board.areas}
        yield from self._beyond()
        if pale:
            plain = vocabulary(self.position.ruleset).plain
            yield self._filled(plain, self.outline(sorted(self.shown)))
        for terrain, places in sorted(by_terrain.items()):
            if terrain in pale:
                yield _flat(terrain, self.outline(places), ' opacity=".3"')
            else:
                yield self._filled(terrain, self.outline(places))
        for terrain, d in sorted(self._cut_off(pale).items()):
            yield self._filled(terrain, d)
        yield from self._depths()

    def _beyond(self) -> Iterator[str]:
        """Where a shore ends the map: the water beyond, fading away."""
        by_depth = collections.defaultdict(list)
        for place, far in sorted(self.land.beyond.items()):
            if any(other in self.shown for other in around(place)) or far > 1:
                by_depth[far].append(place)
        if by_depth:
            yield f'<g filter="url(#{self.key}-soft)">'
            for far, places in sorted(by_depth.items()):
                near = [place for place in places if self._inside(self.center(place))]
                yield _flat("sea", self.outline(near), f' opacity="{FADING[far]}"')
            yield "</g>"

    def _cut_off(self, pale: Collection[str]) -> dict[str, str]:
        """What neighbours take of a hex's corners, by the terrain that takes it."""
        taken: dict[str, str] = collections.defaultdict(str)
        rim = {place for place in self.land.beyond if any(other in self.shown for other in around(place))}
        for place in sorted({*self.shown, *rim}):
            for cut in self.land.cuts(place):
                one, other = (self.at(*middle) for middle in cut.middles)
                corner = self.at(*cut.corner)
                if cut.terrain[0] == cut.terrain[1]:
                    halves = [
                        (cut.terrain[0], f"{_open([one, corner, other])}Q{_spot(corner)} {_spot(one)}z")
                    ]
                else:
                    peak = _between(_between(one, corner), _between(corner, other))
                    halves = [
                        (word, f"{_open([end, corner, peak])}Q{_spot(_between(end, corner))} {_spot(end)}z")
                        for word, end in zip(cut.terrain, (one, other), strict=True)
                    ]
                for word, d in halves:
                    if word not in pale:
                        taken[word] += d
        return taken

    def _depths(self) -> Iterator[str]:
        """The sea, the deeper the darker."""
        by_depth = collections.defaultdict(list)
        for place in sorted(self.shown):
            if self.board.hexes[place].terrain in DEEPENING and (depth := self.land.depth(place)) > 1:
                by_depth[depth].append(place)
        for depth, places in sorted(by_depth.items()):
            yield (
                f'<path class="map-deep" color="{INKS["deep"]}" d="{self.outline(places)}" fill="currentColor"'
                f' fill-opacity="{0.14 * (depth - 1):.2f}"/>'
            )

    def coast(self) -> Iterator[str]:
        """The line between land and sea, with foam along it."""
        d = "".join(self._curve(curve) for place in sorted(self.shown) for curve in self.land.shore(place))
        if d:
            yield f'<path class="map-foam" color="{INKS["foam"]}" d="{d}" fill="none" stroke="currentColor" stroke-width="13" stroke-opacity=".75" stroke-linecap="round"/>'
            yield f'<path class="map-coast" color="{INKS["coast"]}" d="{d}" fill="none" stroke="currentColor" stroke-width="4.5" stroke-linecap="round"/>'

    def _curve(self, points: Sequence[Point]) -> str:
        """A straight piece, or a curve around a corner."""
        spots = [self.at(*point) for point in points]
        if len(spots) == 2:
            return _open(spots)
        one, corner, other = spots
        return f"M{_spot(one)}Q{_spot(corner)} {_spot(other)}"

    def artwork(self) -> Iterator[str]:
        for area in self.board.areas:
            rings = [[self.at(x / GRID, y / GRID) for x, y in ring] for ring in area.rings]
            if self._within(rings[0]):
                look = TERRAIN[area.terrain]
                d = "".join(_closed(ring) for ring in rings)
                edge = (
                    f'<path class="ink-{area.terrain}" color="{look.ink}" d="{d}" fill="none" stroke="currentColor"'
                    ' stroke-width="4" stroke-linejoin="round"/>'
                )
                # a house that is drawn needs no picture of houses
                ground = _flat if look.pattern in BUILT else self._filled
                yield ground(area.terrain, d, ' fill-rule="evenodd"') + edge

    def levels(self) -> Iterator[str]:
        """The higher, the browner, slopes in light and shade; a contour wherever two hexes differ, unless crests are drawn."""
        by_level = collections.defaultdict(list)
        for place in sorted(self.shown):
            by_level[self.board.hexes[place].level].append(place)
        lowest = min(by_level)
        for level, places in sorted(by_level.items()):
            if level > lowest:
                yield (
                    f'<path class="map-height" color="{INKS["height"]}" d="{self.outline(places)}" fill="currentColor"'
                    f' fill-opacity="{min(0.24, 0.06 * (level - lowest)):.2f}"/>'
                )
        yield from self._slopes()
        if len(by_level) > 1 and not self.board.crests:
            yield from self._contours()
        for crest in self.board.crests:
            points = [self.at(x / GRID, y / GRID) for x, y in crest.line]
            if self._within(points):
                d = _open(points)
                # the higher ground lies on its left where y goes down: the lower is on the right
                sides = [(one, other, _beside(one, other, 40)) for one, other in itertools.pairwise(points)]
                yield _stroked("crest", CREST, d, sides)

    def _slopes(self) -> Iterator[str]:
        faces: dict[int, str] = collections.defaultdict(str)
        for place in sorted(self.shown):
            for light, face in self.land.slopes(place):
                faces[light] += _closed([self.at(*corner) for corner in face])
        if faces:
            yield f'<g filter="url(#{self.key}-soft)">'
            for light, d in sorted(faces.items()):
                ink = "#ffffff" if light > 0 else "#2a1c08"
                yield f'<path d="{d}" fill="{ink}" fill-opacity="{SHADING * abs(light):.2f}"/>'
            yield "</g>"

    def _contours(self) -> Iterator[str]:
        slanted = {(x, y) for x, y, kind in self.board.hexsides if kind in SLANTS}
        d = []
        for place in sorted(self.shown):
            for direction in (1, 2, 3):
                other = place.beside(direction)
                side = place.q + other.q, place.r + other.r
                if other not in self.shown or side in slanted:
                    continue
                if self.board.hexes[other].level != self.board.hexes[place].level:
                    d.append(_open([self.at(*corner) for corner in side_corners(*side)]))
        if d:
            yield _stroked("contour", CONTOUR, "".join(d), [])

    def hexsides(self) -> Iterator[str]:
        by_kind = collections.defaultdict(list)
        for x, y, kind in sorted(self.board.hexsides):
            if any(place in self.shown for place in side_hexes(x, y)):
                by_kind[kind].append((x, y))
        # broad and wet first, so that what is narrow stays visible upon it
        for kind in sorted(by_kind, key=lambda kind: -HEXSIDES[kind].width):
            sides = [self._side(x, y) for x, y in by_kind[kind]]
            if kind in FLOWING:
                d = "".join(
                    self._curve(piece) for piece in chained(side_corners(x, y) for x, y in by_kind[kind])
                )
            else:
                d = "".join(_open([one, other]) for one, other, _ in sides)
            yield _stroked(f"hexside-{kind}", HEXSIDES[kind], d, sides)

    def _side(self, x: int, y: int) -> tuple[Point, Point, Point | None]:
        """A hexside's two ends and the centre of its lower hex, if one of the two is lower."""
        one, other = (self.at(*corner) for corner in side_corners(x, y))
        ground = {
            place: self.board.hexes[place].level for place in side_hexes(x, y) if place in self.board.hexes
        }
        lower = min(ground, key=lambda place: ground[place])
        return one, other, self.center(lower) if len(set(ground.values())) == 2 else None

    def paths(self) -> Iterator[str]:
        by_kind = collections.defaultdict(list)
        for way in self.board.paths:
            if any(place in self.shown for place in way.hexes):
                by_kind[way.kind].append(self._way([place.center for place in way.hexes]))
        for kind in sorted(by_kind, key=lambda kind: PATHS[kind].width):
            yield _stroked(f"path-{kind}", PATHS[kind], "".join(by_kind[kind]), [])

    def _way(self, centers: Sequence[Point]) -> str:
        """A road without corners, as one line, so that its dashes run on."""
        first, *pieces = rounded(centers)
        d = _open([self.at(*point) for point in first])
        for piece in pieces:
            spots = [self.at(*point) for point in piece[1:]]
            d += f"{'Q' if len(spots) == 2 else 'L'}{' '.join(map(_spot, spots))}"
        return d

    def grid(self) -> Iterator[str]:
        """Hexsides, thinner within one terrain."""
        within: list[str] = []
        between: list[str] = []
        for place in sorted(self.shown):
            for step, other in enumerate(around(place)):
                if other in self.shown and other < place:
                    continue
                alike = self.land.terrain(other) == self.land.terrain(place)
                ends = [self.at(*corner) for corner in side(place, step)]
                (within if alike else between).append(_open(ends))
        for d, width in ((within, 1.2), (between, 2.2)):
            if d:
                yield (
                    f'<path class="map-grid" color="{INKS["grid"]}" d="{"".join(d)}" fill="none"'
                    f' stroke="currentColor" stroke-width="{width:g}" stroke-opacity="{0.3 + 0.2 * width:.2f}"/>'
                )

    def words(self) -> Iterator[str]:
        """Labels, levels above the lowest, names, and what else is printed in a hex."""
        levels = {self.board.hexes[place].level for place in self.shown}
        labels, numbers, names = [], [], []
        for place in sorted(self.shown):
            ground = self.board.hexes[place]
            x, y = self.center(place)
            labels.append(f'<text x="{x:g}" y="{y - 60:g}">{escape(self.board.scheme.label(place))}</text>')
            if ground.level > min(levels) and self.land.crowns(place):
                numbers.append(f'<text x="{x - 62:g}" y="{y + 56:g}">{ground.level}</text>')
            if ground.name:
                names.append(f'<text x="{x:g}" y="{y + 74:g}">{escape(ground.name)}</text>')
            yield from (self._sign(sign, x - 34 * n, y) for n, sign in enumerate(ground.features))
        yield _written("label", labels, 20)
        yield _written("level", numbers, 24, "700")
        yield _written("name", names, 25, "700", ' font-style="italic"')

    def places(self) -> Iterator[str]:
        """Objectives, printed positions with their fire dots, exits."""
        dots: collections.Counter[Axial] = collections.Counter()
        for code, feature in self.board.features.items():
            colour = dot_colour(feature.attributes.get("color"))
            for place in sorted((feature.intense | feature.steady) & set(self.shown)):
                x, y = self.center(place)
                dots[place] += 1
                inside = colour if place in feature.intense else "#ffffff"
                yield (
                    f'<circle cx="{x - 40 + 18 * (dots[place] - 1):g}" cy="{y + 72:g}" r="7" fill="{inside}"'
                    f' stroke="{colour}" stroke-width="3"/>'
                )
            for place in sorted(feature.at & set(self.shown)):
                x, y = self.center(place)
                yield _badge(x - 66, y, code, colour, feature.kind)

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
                yield f'<path d="{d}" fill="none" stroke="#ffffff" stroke-opacity=".85" stroke-width="{width + casing}" stroke-linejoin="round" stroke-linecap="round"/>'
            yield (
                f'<path class="mark-{mark}" color="{MARKS[mark]}" d="{d}" fill="none" stroke="currentColor"'
                f' stroke-width="{width}" stroke-linejoin="round" stroke-linecap="round"{more}/>'
            )

    def _rim(self, places: Iterable[Axial]) -> str:
        """Around some hexes together."""
        return "".join(_open([self.at(*end) for end in side(*one)]) for one in rim(places))

    def found(
        self, line: tuple[Axial, Axial] | None, path: Sequence[Axial], costs: Mapping[Axial, str]
    ) -> Iterator[str]:
        if line is not None:
            ends = [self.center(place) for place in line]
            yield from _cased(_open(ends), "end", 6)
            yield "".join(
                f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="#ffffff" class="mark-end" color="{MARKS["end"]}"'
                ' stroke="currentColor" stroke-width="5"/>'
                for x, y in ends
            )
        if len(path) > 1:
            points = [self.center(place) for place in path]
            yield from _cased(_open(points), "answer", 9)
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

    def _sign(self, sign: str, x: float, y: float) -> str:
        """What a hex has beside its terrain, at its lower right: a sign, or a drop of another terrain."""
        title = f"<title>{escape(sign.replace('_', ' '))}</title>"
        if sign == "coast":
            # most of a shore: it must not shout
            colour, d = SIGNS[sign]
            return (
                f'<path d="{d}" transform="translate({x + 52:g} {y + 50:g})" fill="none" stroke="{colour}"'
                f' stroke-width="4">{title}</path>'
            )
        if sign not in SIGNS:
            self.drawn[sign] = None
            return (
                f'<circle cx="{x + 40:g}" cy="{y + 34:g}" r="17" fill="url(#{self.key}-{sign})"'
                f' stroke="{TERRAIN[sign].ink}" stroke-width="3">{title}</circle>'
            )
        colour, d = SIGNS[sign]
        return (
            f'<g transform="translate({x + 40:g} {y + 34:g})">{title}'
            f'<circle r="19" fill="#ffffff" fill-opacity=".88" stroke="{colour}" stroke-width="2.5"/>'
            f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="4.5" stroke-linecap="round"'
            ' stroke-linejoin="round"/></g>'
        )

    def patterns(self) -> Iterator[str]:
        yield from (_pattern(terrain, f"{self.key}-{terrain}") for terrain in self.drawn)
        yield f'<filter id="{self.key}-soft"><feGaussianBlur stdDeviation="{SOFT}"/></filter>'

    def _filled(self, terrain: str, d: str, more: str = "") -> str:
        self.drawn[terrain] = None
        return f'<path d="{d}" fill="url(#{self.key}-{terrain})"{more}/>'

    def _inside(self, point: Point) -> bool:
        """Whether a hex about a point is seen, if only in part."""
        left, top, width, height = self.box
        return (
            left - RADIUS < point[0] < left + width + RADIUS
            and top - RADIUS < point[1] < top + height + RADIUS
        )

    def _within(self, points: Sequence[Point]) -> bool:
        """Whether something drawn may reach into the part that is shown."""
        left, top, width, height = self.box
        xs, ys = [x for x, _ in points], [y for _, y in points]
        return min(xs) < left + width and max(xs) > left and min(ys) < top + height and max(ys) > top


# Pieces


def _sized(box: tuple[float, float, float, float]) -> str:
    return 'x="{:g}" y="{:g}" width="{:g}" height="{:g}"'.format(*box)


def _flat(terrain: str, d: str, more: str = "") -> str:
    return f'<path class="fill-{terrain}" d="{d}" fill="{TERRAIN[terrain].fill}"{more}/>'


def _spot(point: Point) -> str:
    return f"{point[0]:g} {point[1]:g}"


def _between(one: Point, other: Point) -> Point:
    return round((one[0] + other[0]) / 2, 1), round((one[1] + other[1]) / 2, 1)


def _open(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _closed(points: Sequence[Point]) -> str:
    return _open(points) + "z"


def _pattern(terrain: str, id: str) -> str:
    look = TERRAIN[terrain]
    width, height, shapes = tile(look)
    return (
        f'<pattern id="{id}" width="{width}" height="{height}" patternUnits="userSpaceOnUse">'
        f'<rect width="{width}" height="{height}" fill="{look.fill}" class="fill-{terrain}"/>'
        f'<g class="ink-{terrain}" color="{look.ink}">{shapes}</g></pattern>'
    )


def _stroked(word: str, stroke: Stroke, d: str, sides: Iterable[tuple[Point, Point, Point | None]]) -> str:
    """Lines of one kind: the casing, the line, and its teeth toward the lower ground."""
    dash = f' stroke-dasharray="{stroke.dash}"' if stroke.dash else ""
    drawn = ""
    if stroke.casing:
        drawn += (
            f'<path class="{word}-casing" color="{stroke.casing}" d="{d}" fill="none" stroke="currentColor"'
            f' stroke-width="{stroke.width + 5:g}" stroke-linecap="round" stroke-linejoin="round"/>'
        )
    drawn += (
        f'<path class="{word}" color="{stroke.ink}" d="{d}" fill="none" stroke="currentColor"'
        f' stroke-width="{stroke.width:g}"{dash} stroke-linecap="{"round" if stroke.dash.startswith("1 ") or not dash else "butt"}"'
        ' stroke-linejoin="round"/>'
    )
    if stroke.teeth:
        teeth = "".join(_teeth(stroke.teeth, *side) for side in sides)
        look = (
            'fill="currentColor"'
            if stroke.teeth == "triangles"
            else 'fill="none" stroke="currentColor" stroke-width="4"'
        )
        drawn += f'<path class="{word}" color="{stroke.ink}" d="{teeth}" {look}/>'
    return drawn


def _teeth(kind: str, one: Point, other: Point, lower: Point | None) -> str:
    """Marks along a side, toward the lower ground; toward both where none is lower."""
    (x1, y1), (x2, y2) = one, other
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    if not length:
        return ""
    along = (x2 - x1) / length, (y2 - y1) / length
    across = -along[1], along[0]
    if kind == "cross":
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        return f"M{x - 16:.1f} {y - 16:.1f}l32 32m0-32l-32 32"
    signs: tuple[int, ...] = (1, -1)
    if lower is not None:
        toward = (lower[0] - x1) * across[0] + (lower[1] - y1) * across[1]
        signs = (1,) if toward > 0 else (-1,)
    gap, reach = {"ticks": (20, 13), "long_ticks": (14, 20), "triangles": (25, 17)}[kind]
    count = max(1, round(length / gap))
    drawn = ""
    for n in range(count):
        t = (n + 0.5) * length / count
        x, y = x1 + t * along[0], y1 + t * along[1]
        for sign in signs:
            dx, dy = sign * reach * across[0], sign * reach * across[1]
            if kind == "triangles":
                half = 0.36 * length / count
                drawn += (
                    f"M{x - half * along[0]:.1f} {y - half * along[1]:.1f}L{x + half * along[0]:.1f}"
                    f" {y + half * along[1]:.1f}L{x + dx:.1f} {y + dy:.1f}z"
                )
            else:
                drawn += f"M{x:.1f} {y:.1f}l{dx:.1f} {dy:.1f}"
    return drawn


def _beside(one: Point, other: Point, reach: float) -> Point:
    """A point to the right of the way from one to the other, where y goes down."""
    (x1, y1), (x2, y2) = one, other
    length = max(1e-9, ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5)
    return (x1 + x2) / 2 - reach * (y2 - y1) / length, (y1 + y2) / 2 + reach * (x2 - x1) / length


def _cased(d: str, mark: str, width: float) -> Iterator[str]:
    yield (
        f'<path d="{d}" fill="none" stroke="#ffffff" stroke-width="{width + 6:g}" stroke-linecap="round"'
        ' stroke-linejoin="round" stroke-opacity=".85"/>'
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
    d = _closed([(round(x, 1), round(y, 1)) for x, y in corners])
    return f'<path d="{d}" fill="{MARKS["answer"]}" stroke="#ffffff" stroke-width="4"/>'


def _written(word: str, texts: Sequence[str], size: int, weight: str = "400", more: str = "") -> str:
    """Words on the map, with a halo of paper so that they are read over any pattern."""
    if not texts:
        return ""
    return (
        f'<g class="map-{word} halo" color="{INKS[word]}" fill="currentColor" stroke="{INKS["paper"]}"'
        f' stroke-width="6" stroke-linejoin="round" paint-order="stroke" font-size="{size}" font-weight="{weight}"'
        f' text-anchor="middle"{more}>{"".join(texts)}</g>'
    )


def _badge(x: float, y: float, code: str, colour: str, kind: str) -> str:
    width = max(34, 15 * len(code) + 18)
    return (
        f'<g><title>{escape(f"{kind} {code}")}</title><rect x="{x - width / 2:g}" y="{y - 15:g}" width="{width}" height="28"'
        f' rx="14" fill="#ffffff" stroke="{colour}" stroke-width="5"/><text x="{x:g}" y="{y + 6.5:g}" font-size="20"'
        f' font-weight="700" text-anchor="middle" fill="#1d1b17">{escape(code)}</text></g>'
    )


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
