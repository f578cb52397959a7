"""The ground of a map drawn as SVG: terrain, artwork, levels, hexsides, paths, labels and marked places.

One unit of the drawing is a hundredth of a hex's corner radius; y goes down. What is alike is drawn as one path, so
that a map of a thousand hexes stays a small document. The ground of a stored map is drawn once for each version and
kept; what stands on it, and what a ruling marks, is drawn upon it in `app.drawing.board`.
"""

from __future__ import annotations

import collections
import functools
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from app.drawing.labels import Box as LabelBox
from app.drawing.outlines import Land, around, before, chained, rounded, side
from app.drawing.palette import (
    CONTOUR,
    CREST,
    HEXSIDES,
    INKS,
    PATHS,
    SIGNS,
    TERRAIN,
    Stroke,
    dot_colour,
    tile,
)
from db.keeping import Kept
from db.labels import Axial, side_corners, side_hexes
from db.map_draft import GRID, MapDraft, vocabulary

Point = tuple[float, float]
Box = tuple[float, float, float, float]

FACE = "'Source Sans 3', 'DejaVu Sans', sans-serif"
"""Of words on the map; a name with a number in it wants quotes."""
NAME = 26
"""Size of the letters of a name."""
FAR = 0.02
"""The same where a drawing is shown so small that hex numbers go: of its width."""
NUMBER = 30
"""Size of the figures of hex numbers and levels."""
TALL = 13
"""Hexes upon another that a page shows with 40 pixels each, at most."""
RADIUS = 100
"""A hex's corner radius in units of the drawing."""
ROOT3 = 3**0.5
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
KEY = "\ue000"
"""Stands in a kept drawing for what its ids begin with, which is another word in every drawing on a page."""
ROOM = 24 * 1024 * 1024
"""Bytes of drawn ground that are kept."""


class Ground(NamedTuple):
    """The ground of a part of a map as it is drawn, in two layers: marks of a ruling lie between them."""

    shown: frozenset[Axial]
    box: Box
    """Left, top, width and height, with a rim."""
    patterns: str
    beneath: str
    words: str

    @property
    def size(self) -> str:
        """Words for the stylesheet: how many hexes lie side by side, in fives, and whether they are many upon another.

        A hex below 40 pixels shows no number.
        """
        _, _, width, height = self.box
        across = 5 * math.ceil(width / RADIUS / 10)
        return f"across-{across}{' tall' if height / RADIUS > 2 * TALL else ''}"

    def keyed(self, key: str) -> Ground:
        """The same with ids of its own."""
        drawn = (text.replace(KEY, key) for text in (self.patterns, self.beneath, self.words))
        return Ground(self.shown, self.box, *drawn)


GROUNDS: Kept[Ground] = Kept(ROOM)
"""By the version of the map, and the part that is shown."""


def drawn_ground(board: MapDraft, columns: range, rows: range) -> Ground:
    """The ground of some columns and rows of a map; of a stored one as it was drawn for this version of it."""
    # the version first: see db.keeping
    key = (board.version, columns, rows)
    ground = GROUNDS.get(key) if board.version is not None else None
    if ground is None:
        ground = _GroundSheet(board, columns, rows).drawn()
        if board.version is not None:
            size = 300 * len(ground.shown) + sum(map(len, ground[2:]))
            GROUNDS.put(key, ground, size)
    return ground


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


class Paper:
    """Where hexes come to lie on the sheet."""

    def __init__(self, pointed: bool) -> None:
        self.pointed = pointed

    def at(self, x: float, y: float) -> Point:
        """A lattice point on the sheet: y down; a pointed map is turned by a quarter circle."""
        x, y = 50 * x, 50 * ROOT3 * y
        return (round(-y, 1), round(x, 1)) if self.pointed else (round(x, 1), round(y, 1))

    def center(self, place: Axial) -> Point:
        return self.at(*place.center)

    def outline(self, places: Iterable[Axial]) -> str:
        return "".join(closed_line([self.at(*corner) for corner in place.corners]) for place in places)


class _GroundSheet(Paper):
    """A part of a map on its way to the paper."""

    def __init__(self, board: MapDraft, columns: range, rows: range) -> None:
        super().__init__(board.scheme.orientation == "pointed")
        self.whole = board
        self.board = board.cut(columns, rows)
        self.shown: Collection[Axial] = frozenset(
            place for place in self.board.hexes if place.q in columns and place.row in rows
        )
        self.land = Land(self.board.hexes)
        self.drawn_terrains: dict[str, None] = {}
        """Terrains whose pattern is wanted."""

    def drawn(self) -> Ground:
        beneath = "".join(
            (
                *self.ground(),
                *self.within(
                    (*self.artwork(), *self.levels(), *self.coast(), *self.hexsides(), *self.paths())
                ),
                *self.grid(),
                *self.places(),
            )
        )
        words = "".join(self.words())
        return Ground(frozenset(self.shown), self.box, "".join(self.patterns()), beneath, words)

    @functools.cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of all that is shown, with a rim."""
        centers = [self.center(place) for place in self.shown] or [(0.0, 0.0)]
        xs, ys = [x for x, _ in centers], [y for _, y in centers]
        rim = RADIUS + 12
        return (
            round(min(xs) - rim), round(min(ys) - rim),
            round(max(xs) - min(xs) + 2 * rim), round(max(ys) - min(ys) + 2 * rim),
        )  # fmt: skip

    def within(self, parts: Iterable[str]) -> Iterator[str]:
        """Roads and artwork run on where a map is cut; the drawing does not."""
        if len(self.shown) == self.whole.size:
            yield from parts
            return
        rim = f"{KEY}-rim"
        outline = self.outline(sorted(self.shown))
        # hexsides on the rim are as wide as elsewhere
        yield f'<mask id="{rim}" maskUnits="userSpaceOnUse" {_sized(self.box)}>'
        yield f'<path d="{outline}" fill="#fff" stroke="#fff" stroke-width="22"/></mask><g mask="url(#{rim})">'
        yield from parts
        yield "</g>"

    def ground(self) -> Iterator[str]:
        """Hexes by terrain, their edges rounded; where artwork is drawn, it decides, and the hex itself is paler."""
        by_terrain = collections.defaultdict(list)
        for place in sorted(self.shown):
            by_terrain[self.board.hexes[place].terrain].append(place)
        pale = self.whole.drawn_terrain
        yield from self._beyond()
        if pale:
            plain = vocabulary(self.board.ruleset).plain
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
            yield f'<g filter="url(#{KEY}-soft)">'
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
                        (cut.terrain[0], f"{open_line([one, corner, other])}Q{_spot(corner)} {_spot(one)}z")
                    ]
                else:
                    peak = _between(_between(one, corner), _between(corner, other))
                    halves = [
                        (
                            word,
                            f"{open_line([end, corner, peak])}Q{_spot(_between(end, corner))} {_spot(end)}z",
                        )
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
            return open_line(spots)
        one, corner, other = spots
        return f"M{_spot(one)}Q{_spot(corner)} {_spot(other)}"

    def artwork(self) -> Iterator[str]:
        for area in self.board.areas:
            rings = [[self.at(x / GRID, y / GRID) for x, y in ring] for ring in area.rings]
            if self._within(rings[0]):
                look = TERRAIN[area.terrain]
                d = "".join(closed_line(ring) for ring in rings)
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
        lowest = min(by_level, default=0)
        for level, places in sorted(by_level.items()):
            if level > lowest:
                yield (
                    f'<path class="map-height" color="{INKS["height"]}" d="{self.outline(places)}" fill="currentColor"'
                    f' fill-opacity="{min(0.24, 0.06 * (level - lowest)):.2f}"/>'
                )
        yield from self._slopes()
        if len(by_level) > 1 and not self.whole.has_crests:
            yield from self._contours()
        for crest in self.board.crests:
            points = [self.at(x / GRID, y / GRID) for x, y in crest.line]
            if self._within(points):
                d = open_line(points)
                # the higher ground lies on its left where y goes down: the lower is on the right
                sides = [(one, other, _beside(one, other, 40)) for one, other in itertools.pairwise(points)]
                yield _stroked("crest", CREST, d, sides)

    def _slopes(self) -> Iterator[str]:
        faces: dict[int, str] = collections.defaultdict(str)
        for place in sorted(self.shown):
            for light, face in self.land.slopes(place):
                faces[light] += closed_line([self.at(*corner) for corner in face])
        if faces:
            yield f'<g filter="url(#{KEY}-soft)">'
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
                    d.append(open_line([self.at(*corner) for corner in side_corners(*side)]))
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
                d = "".join(open_line([one, other]) for one, other, _ in sides)
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
        d = open_line([self.at(*point) for point in first])
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
                (within if alike else between).append(open_line(ends))
        for d, width in ((within, 1.2), (between, 2.2)):
            if d:
                yield (
                    f'<path class="map-grid" color="{INKS["grid"]}" d="{"".join(d)}" fill="none"'
                    f' stroke="currentColor" stroke-width="{width:g}" stroke-opacity="{0.3 + 0.2 * width:.2f}"/>'
                )

    def words(self) -> Iterator[str]:
        """Labels, levels above the lowest, names, and what else is printed in a hex."""
        levels = {self.board.hexes[place].level for place in self.shown}
        labels, numbers = [], []
        for place in sorted(self.shown):
            ground = self.board.hexes[place]
            x, y = self.center(place)
            labels.append(f'<text x="{x:g}" y="{y - 60:g}">{escape(self.board.scheme.label(place))}</text>')
            if ground.level > min(levels) and self.land.crowns(place):
                numbers.append(f'<text x="{x - 62:g}" y="{y + 56:g}">{ground.level}</text>')
            yield from (self._sign(sign, x - 34 * n, y) for n, sign in enumerate(ground.features))
        yield _written("label", labels, NUMBER)
        yield _written("level", numbers, NUMBER, "700")
        far, names = self.box[2] * FAR, _written("name", self._names(NAME), NAME, "600")
        if not names or far <= NAME:
            yield names
            return
        # where the page shows a drawing so small that hex numbers go, the stylesheet shows the second
        yield f'<g class="near-by">{names}</g>'
        yield f'<g class="from-afar" display="none">{_written("name", self._names(far), round(far), "600")}</g>'

    def _names(self, size: float) -> list[str]:
        """Names below the counters of their hexes, else above them; who finds no room has none, and hexes that
        lie together and share a name have it once.

        As in `named` of `static/map/painter.js`; y is where the letters stand.
        """
        taken: list[LabelBox] = []
        written = []
        named = {place: text for place in sorted(self.shown) if (text := self.board.hexes[place].name)}
        for place, text in named.items():
            if any(named.get(other) == text for other in before(place)):
                continue
            x, middle = self.center(place)
            half = 0.275 * size * len(text)
            for low in (middle + 59.4 + 1.1 * size, middle - 89):
                box = LabelBox(x - half, low - 1.1 * size, x + half, low)
                if not any(box.meets(other) for other in taken):
                    taken.append(box)
                    written.append(f'<text x="{x:g}" y="{low - 0.25 * size:g}">{escape(text)}</text>')
                    break
        return written

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
                if self._told(code, place, feature.at):
                    continue
                x, y = self.center(place)
                yield _badge(x - 66, y, code, colour, feature.kind)

    def _told(self, code: str, place: Axial, lies: Collection[Axial]) -> bool:
        """Whether the code of a marked place is told already: by the words of the hex, by a name, or a hex before it.

        As `writes` in `static/map/ground.js`.
        """
        ground = self.board.hexes[place]
        said = {self.board.scheme.label(place), *ground.features}
        return code in self._called or said.issuperset(code.split()) or not before(place).isdisjoint(lies)

    @functools.cached_property
    def _called(self) -> frozenset[str]:
        """The names of all hexes."""
        return frozenset(ground.name for ground in self.board.hexes.values() if ground.name)

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
            self.drawn_terrains[sign] = None
            return (
                f'<circle cx="{x + 40:g}" cy="{y + 34:g}" r="17" fill="url(#{KEY}-{sign})"'
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
        yield from (_pattern(terrain, f"{KEY}-{terrain}") for terrain in self.drawn_terrains)
        yield f'<filter id="{KEY}-soft"><feGaussianBlur stdDeviation="{SOFT}"/></filter>'

    def _filled(self, terrain: str, d: str, more: str = "") -> str:
        self.drawn_terrains[terrain] = None
        return f'<path d="{d}" fill="url(#{KEY}-{terrain})"{more}/>'

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


def open_line(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def closed_line(points: Sequence[Point]) -> str:
    return open_line(points) + "z"


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


def _written(word: str, texts: Sequence[str], size: int, weight: str = "400") -> str:
    """Words on the map, with a halo of paper so that they are read over any pattern."""
    if not texts:
        return ""
    return (
        f'<g class="map-{word} halo" color="{INKS[word]}" fill="currentColor" stroke="{INKS["paper"]}"'
        f' stroke-width="6" stroke-linejoin="round" paint-order="stroke" font-size="{size}" font-weight="{weight}"'
        f' font-family="{FACE}" text-anchor="middle">{"".join(texts)}</g>'
    )


def _badge(x: float, y: float, code: str, colour: str, kind: str) -> str:
    width = max(34, 15 * len(code) + 18)
    return (
        f'<g><title>{escape(f"{kind} {code}")}</title><rect x="{x - width / 2:g}" y="{y - 15:g}" width="{width}" height="28"'
        f' rx="14" fill="#ffffff" stroke="{colour}" stroke-width="5"/><text x="{x:g}" y="{y + 6.5:g}" font-size="20"'
        f' font-weight="700" text-anchor="middle" fill="#1d1b17">{escape(code)}</text></g>'
    )
