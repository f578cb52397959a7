"""Reading the tree of a map, as map files and the `map:` of case files have it, into a draft.

Every format is brought to this one tree first, so that all are checked here, and alike.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction

from pydantic import ValidationError

from db.budget import spend
from db.compact import Grid, HexTable, SideSet
from db.labels import LARGEST_RECTANGLE, Axial, LabelError, Scheme, side_hexes
from db.map_draft import (
    GRID,
    AreaDraft,
    ControlPoint,
    CrestDraft,
    FeatureDraft,
    Georeference,
    HexDraft,
    Line,
    MapDraft,
    PathDraft,
    vocabulary,
)
from importers.documents import Node, Problems, Rows

MAX_COORDINATE = 100_000
"""Lattice units."""
LARGE = 20_000
"""Hexes; a draft of more is kept more tightly."""
KEYS = (
    "name", "title", "scheme", "scale", "source", "note", "extent", "fill", "hexes", "hexsides", "paths",
    "areas", "crests", "positions", "beaches", "places", "georeference",
)  # fmt: skip
PLACES = ("objective", "exit", "entry", "box", "zone", "landmark", "beach")
"""Kinds of marked places besides the printed positions of ddp."""
BEACHHEADS = ("asan", "agat", "tumon")
NUMBERED = "victory"
"""A feature that may tell a number, the points that the hex is worth (css 30.2)."""
POSITION_FLAGS = ("artillery", "mountaintop", "provisional")
SETUPS = ("x", "artillery", "armor", "armor_alternate")
"""What is printed in a position of ddp: its guns and kind (2.1), and who is set up there (3.0, 20.2)."""
ToLattice = Callable[[Fraction, Fraction], tuple[Fraction, Fraction]]
Plane = Callable[[MapDraft], ToLattice]
"""For a map as far as its numbering and georeference: the way from where its artwork is drawn to the lattice."""
NAME = "a name has lower-case letters, digits, - and _ only, and starts with a letter or digit"


def in_pitches(draft: MapDraft) -> ToLattice:
    """The usual plane of artwork: column and row pitches."""
    return draft.scheme.lattice_point


def read_map(node: Node, ruleset: str, problems: Problems, plane: Plane = in_pitches) -> MapDraft | None:
    """The map that a tree describes; None where anything in it is wrong, all of which is noted.

    `plane` brings the points of drawn artwork to the lattice, where they are not in pitches.
    """
    before = len(problems.found)
    draft = _MapReader(node, ruleset, problems, plane).read()
    return draft if len(problems.found) == before else None


def _is_number(node: Node) -> bool:
    return isinstance(node.value, int) and not isinstance(node.value, bool)


def read_hex(node: Node, draft: MapDraft, problems: Problems) -> Axial | None:
    """The hex of a draft that a label names, or a problem with the nearest labels."""
    text = node.string(problems)
    return None if text is None else _Places(draft.scheme, problems, draft.hexes).hex(node, text)


def is_name(text: str) -> bool:
    """Whether a text can be the short name of a map."""
    return re.fullmatch("[a-z0-9][a-z0-9_-]*", text) is not None


class _Places:
    """From labels to the hexes of one map, with a good word where that fails."""

    def __init__(self, scheme: Scheme, problems: Problems, hexes: Collection[Axial] | None) -> None:
        self.scheme = scheme
        self.problems = problems
        self.hexes = hexes
        """None while it is unknown which hexes the map has."""
        self.read = functools.lru_cache(maxsize=LARGE)(scheme.hex)

    def any_hex(self, node: Node, text: str) -> Axial | None:
        """The hex a label names, on the map or not."""
        try:
            return self.read(text)
        except LabelError as error:
            self.problems.add(node, self._sentence(error), functools.partial(self._near, text))
            return None

    def hex(self, node: Node, text: str) -> Axial | None:
        place = self.any_hex(node, text)
        if place is None or self.hexes is None or place in self.hexes:
            return place
        self.problems.add(node, f"{text} is not a hex of this map", functools.partial(self._near, text))
        return None

    def listed(self, node: Node) -> list[Axial]:
        """The hexes of a list of labels."""
        found: list[Axial] = []
        for item in node.items(self.problems):
            text = item.string(self.problems)
            place = None if text is None else self.hex(item, text)
            if place is not None:
                found.append(place)
        return found

    def side(self, node: Node, text: str) -> tuple[int, int] | None:
        try:
            x, y = self.scheme.side(text)
        except LabelError as error:
            self.problems.add(node, self._sentence(error))
            return None
        if self.hexes is not None and not any(place in self.hexes for place in side_hexes(x, y)):
            self.problems.add(node, f"neither hex of {text} is on this map")
            return None
        return x, y

    def _near(self, text: str) -> list[str]:
        if self.hexes is None:
            return []
        # a large map in the database is asked for the few labels that come into question
        likely = getattr(self.hexes, "likely", lambda text: None)(text)
        return self.scheme.nearest(text, self._labels if likely is None else likely)

    @functools.cached_property
    def _labels(self) -> list[str]:
        return [self.scheme.label(place) for place in self.hexes or ()]

    def _sentence(self, error: LabelError) -> str:
        """An error's message and remedy as one phrase; the nearest labels are told apart from it."""
        message, remedy = error.message.rstrip("."), error.remedy.rstrip(".")
        if not remedy or (remedy.startswith("Did you mean") and self.hexes is not None):
            return message
        return f"{message}; {remedy[0].lower()}{remedy[1:]}"


class _Unnumbered(_Places):
    """Where the numbering itself is wrong, nothing can be said of a label; all other words can be checked."""

    def any_hex(self, node: Node, text: str) -> Axial | None:
        return None

    def side(self, node: Node, text: str) -> tuple[int, int] | None:
        return None


class _Named:
    """How, and on which line, hexes or hexsides were first named."""

    def __init__(self) -> None:
        self.lines = Grid()
        self.others: dict[tuple[int, int], tuple[str, str]] = {}

    def note(
        self, place: tuple[int, int], label: str, node: Node, *, usual: bool
    ) -> tuple[str | None, str] | None:
        """Note how it is named here; if it was before, how and where. None is how it is usually written."""
        if place in self.others:
            return self.others[place]
        line = self.lines.get(*place)
        if line:
            return None, f"on line {line}"
        if usual and node.line is not None:
            self.lines.set(*place, node.line)
        else:
            self.others[place] = label, node.where
        return None


class _MapReader:
    """One pass over the tree of a map."""

    def __init__(self, node: Node, ruleset: str, problems: Problems, plane: Plane) -> None:
        self.node = node
        self.plane = plane
        self.problems = problems
        self.words = vocabulary(ruleset)
        self.draft = MapDraft(ruleset, self.words.scheme)
        self.keys = node.mapping(problems, KEYS)
        self.hex_keys = ("terrain", "level", "name", "features", *self.words.flags, *self.words.kept)

    def read(self) -> MapDraft:
        self._about()
        reader = _Places if self._scheme() else _Unnumbered
        self.places = reader(self.draft.scheme, self.problems, None)
        self._hexes()
        sections: tuple[tuple[str, Callable[[Node], None]], ...] = (
            ("hexsides", self._hexsides),
            ("paths", self._paths),
            # artwork may be drawn where the map lies in the world
            ("georeference", self._georeference),
            ("areas", self._areas),
            ("crests", self._crests),
            ("positions", self._positions),
            ("beaches", self._beaches),
            ("places", self._places),
        )
        for key, section in sections:
            if key in self.keys:
                section(self.keys[key])
        return self.draft

    def _about(self) -> None:
        for key in ("title", "source", "note"):
            if key in self.keys:
                setattr(self.draft, key, self.keys[key].string(self.problems) or "")
        if "scale" in self.keys:
            self.draft.meters_per_hex = self.keys["scale"].whole(self.problems, 1, 1_000_000)
        if "name" in self.keys:
            name = self.keys["name"].string(self.problems)
            if name and not is_name(name):
                self.problems.add(self.keys["name"], f"{name!r}: {NAME}")
            self.draft.name = name

    def _scheme(self) -> bool:
        node = self.keys.get("scheme")
        if node is None:
            return True
        defaults = self.words.scheme.model_dump()
        keys = node.mapping(self.problems, tuple(Scheme.model_fields))
        try:
            # what a map does not say of its numbering is as its game has it
            self.draft.scheme = Scheme.model_validate(
                defaults | {key: value.plain() for key, value in keys.items()}
            )
        except ValidationError as error:
            for wrong in error.errors():
                message = wrong["msg"].removeprefix("Value error, ")
                self.problems.add(node.at(wrong["loc"]), message[0].lower() + message[1:])
            return False
        return len(keys) == len(node.value) if isinstance(node.value, dict) else True

    def _extent(self, ground: HexDraft) -> bool:
        """Fill the extent's rectangles; False where no extent can be told."""
        node = self.keys.get("extent")
        if node is None:
            return False
        if not isinstance(node.value, list) or not node.value:
            self.problems.add(node, f"expected two corner labels, or a list of such pairs, found {node.kind}")
            return False
        pairs = [node] if node.value[0].text is not None else node.value
        rectangles = [self._rectangle(pair) for pair in pairs]
        if None in rectangles:
            return False
        for place in itertools.chain.from_iterable(filter(None, rectangles)):
            self._put(place, ground)
        return True

    def _put(self, place: Axial, ground: HexDraft) -> None:
        """A hex is so; beyond some number of them they are kept more tightly."""
        self.draft.hexes[place] = ground
        if len(self.draft.hexes) == LARGE and isinstance(self.draft.hexes, dict):
            roomy = HexTable()
            roomy.update(self.draft.hexes)
            self.draft.hexes, self.draft.hexsides = roomy, SideSet(self.draft.hexsides)
            if self.places.hexes is not None:
                self.places.hexes = roomy

    def _rectangle(self, node: Node) -> Iterator[Axial] | None:
        labels = [item.string(self.problems) for item in node.items(self.problems)]
        if len(labels) != 2:
            self.problems.add(node, f"an extent has two corner labels, not {len(labels)}")
            return None
        corners = [
            self.places.any_hex(item, label)
            for item, label in zip(node.items(self.problems), labels, strict=True)
            if label is not None
        ]
        first, last = labels
        if len(corners) != 2 or corners[0] is None or corners[1] is None or first is None or last is None:
            return None
        try:
            return self.draft.scheme.within(first, last)
        except LabelError as error:
            self.problems.add(node, f"too large: {error.message[0].lower()}{error.message[1:].rstrip('.')}")
            return None

    def _entries(self, node: Node | None) -> Iterable[tuple[str, Node]]:
        """The entries of a section by their labels, of a table row by row."""
        if node is None:
            return ()
        return node.entries if isinstance(node, Rows) else node.mapping(self.problems).items()

    def _hexes(self) -> None:
        ground = self._ground()
        if self._extent(ground):
            self.places.hexes = self.draft.hexes
        first, count, stated = _Named(), 0, 0
        for label, value in self._entries(self.keys.get("hexes")):
            count += 1
            place = self.places.hex(value, label)
            first_named = place is not None and self._named_once(first, place, label, value)
            found = self._hex(value, ground, self.hex_keys)
            if place is None or not first_named:
                continue
            if place not in self.draft.hexes:
                spend("hexes of a map", 1)
            self._put(place, found)
            self._worth(place, value)
            self._keep(place, value)
            stated += _states_terrain(value)
        if not count and "extent" not in self.keys:
            self.problems.add(self.node, "extent is missing: which hexes has the map?")
            return
        if "extent" not in self.keys:
            self.places.hexes = self.draft.hexes
        if len(self.draft.hexes) > LARGEST_RECTANGLE:
            self.problems.add(self.node, f"the map has more than {LARGEST_RECTANGLE:,} hexes")
        self._tell_assumed(len(self.draft.hexes) - stated)

    def _named_once(self, first: _Named, place: Axial, label: str, node: Node) -> bool:
        """Whether a hex is named here for the first time."""
        before = first.note(place, label, node, usual=not self.draft.scheme.boards)
        if before is None:
            return True
        other, where = before
        known = f"{label} is named twice, first" if other in (None, label) else None
        self.problems.add(node, f"{known or f'{label} is the same hex as {other}, named'} {where}")
        return False

    def _ground(self) -> HexDraft:
        """What fills the hexes that are not named, and completes those that are."""
        ground = HexDraft(self.words.plain, self.words.base_level)
        fill = self.keys.get("fill")
        keys = tuple(key for key in self.hex_keys if key not in ("name", *self.words.kept))
        return ground if fill is None else self._hex(fill, ground, keys)

    def _tell_assumed(self, count: int) -> None:
        fill = self.keys.get("fill")
        if count and (fill is None or not _states_terrain(fill)):
            self.draft.notices.append(
                f"the file names no terrain for {count} hexes: taken as {self.words.plain}"
            )

    def _hex(self, node: Node, ground: HexDraft, known: tuple[str, ...]) -> HexDraft:
        if node.text is not None and node.value is not None:
            terrain = node.word(self.problems, "terrain", self.words.terrain)
            return HexDraft(terrain or ground.terrain, ground.level, ground.features)
        keys = node.mapping(self.problems, known)
        terrain, level, features = ground.terrain, ground.level, set(ground.features)
        if "terrain" in keys:
            terrain = keys["terrain"].word(self.problems, "terrain", self.words.terrain) or terrain
        if "level" in keys:
            read = self._level(keys["level"])
            level = level if read is None else read
        if "features" in keys:
            features = self._features(keys["features"])
        for flag in self.words.flags:
            if flag in keys:
                holds = _is_number(keys[flag]) if flag == NUMBERED else False
                holds = holds or bool(keys[flag].flag(self.problems))
                features = features | {flag} if holds else features - {flag}
        name = keys["name"].string(self.problems) if "name" in keys else None
        in_order = tuple(word for word in self.words.features if word in features)
        return HexDraft(terrain, level, in_order, name or None)

    def _worth(self, place: Axial, node: Node) -> None:
        """`victory: 2`: the hex is a Victory Hex, and an objective of that value."""
        told = node.get(NUMBERED) if NUMBERED in self.words.flags and isinstance(node.value, dict) else None
        if told is None or not _is_number(told):
            return
        points = told.whole(self.problems, 1, 99, "the points that the hex is worth")
        code = f"{NUMBERED} {self.draft.scheme.label(place)}"
        self.draft.features[code] = FeatureDraft(
            "objective", frozenset({place}), attributes={"value": points}
        )

    def _keep(self, place: Axial, node: Node) -> None:
        """`controlled_by: us`: a state of the hex, which the position keeps."""
        for key in self.words.kept if isinstance(node.value, dict) else ():
            told = node.get(key)
            side = told.word(self.problems, "side", self.words.sides) if told is not None else None
            if side is not None:
                self.draft.kept.setdefault(self.draft.scheme.label(place), {})[key] = side

    def _level(self, node: Node) -> int | None:
        low, high = self.words.levels
        game = self.draft.ruleset
        which = f"the levels of {game}" if low < high else f"since {game} has no levels: leave it out"
        return node.whole(self.problems, low, high, which)

    def _features(self, node: Node) -> set[str]:
        if not self.words.features and node.value not in ([], None):
            self.problems.add(node, f"hexes of {self.draft.ruleset} have no features")
            return set()
        found = (
            item.word(self.problems, "hex feature", self.words.features)
            for item in (node.one_or_more(self.problems) if node.value is not None else ())
        )
        return {word for word in found if word is not None}

    def _hexsides(self, node: Node) -> None:
        first = _Named()
        # in a table every kind has a row of its own
        a_row_each = isinstance(node, Rows)
        for label, value in self._entries(node):
            side = self.places.side(value, label)
            kinds = [
                item.word(self.problems, "hexside", self.words.hexsides)
                for item in value.one_or_more(self.problems)
            ]
            if side is None:
                continue
            usual = self._usual_side(*side)
            before = first.note(side, label, value, usual=label == usual)
            if before is not None:
                other, where = before[0] or usual, before[1]
                if not a_row_each or other != label:
                    self.problems.add(value, f"{label} is the same hexside as {other}, named {where}")
                for kind in kinds:
                    if a_row_each and other == label and (*side, kind) in self.draft.hexsides:
                        self.problems.add(value, f"{label} has its {kind} twice, first {where}")
            self.draft.hexsides |= {(*side, kind) for kind in kinds if kind is not None}

    def _usual_side(self, x: int, y: int) -> str:
        """How a hexside is most often written; empty where a hex beside it has no label."""
        try:
            return "|".join(map(self.draft.scheme.label, side_hexes(x, y)))
        except LabelError:
            return ""

    def _paths(self, node: Node) -> None:
        rows = (row for _, row in node.entries) if isinstance(node, Rows) else node.items(self.problems)
        for item in rows:
            keys = item.mapping(self.problems, ("kind", "hexes", "name"), ("kind", "hexes"))
            kind = keys["kind"].word(self.problems, "path", self.words.paths) if "kind" in keys else None
            name = keys["name"].string(self.problems) if "name" in keys else None
            hexes = self._chain(keys["hexes"]) if "hexes" in keys else None
            if kind is not None and hexes is not None:
                self.draft.paths.append(PathDraft(kind, hexes, name or None))

    def _chain(self, node: Node) -> tuple[Axial, ...] | None:
        hexes = self.places.listed(node)
        if not isinstance(node.value, list) or len(hexes) < len(node.value):
            return None
        if len(hexes) < 2:
            self.problems.add(node, "a path has at least two hexes")
            return None
        for item, before, place in zip(node.value[1:], hexes, hexes[1:], strict=False):
            if before.distance(place) != 1:
                label = self.draft.scheme.label(before)
                beside = [before.beside(direction) for direction in range(1, 7)]
                self.problems.add(
                    item,
                    f"the path jumps: {item.text} is not adjacent to {label}",
                    lambda: [
                        self.draft.scheme.label(hex)
                        for hex in sorted(beside, key=place.distance)  # noqa: B023
                        if hex in self.draft.hexes
                    ][:2],
                )
                return None
        return tuple(hexes)

    def _areas(self, node: Node) -> None:
        for item in node.items(self.problems):
            keys = item.mapping(self.problems, ("terrain", "polygon", "holes"), ("terrain", "polygon"))
            terrain = None
            if "terrain" in keys:
                terrain = keys["terrain"].word(self.problems, "terrain", self.words.terrain)
            rings = [keys["polygon"]] if "polygon" in keys else []
            rings += keys["holes"].items(self.problems) if "holes" in keys else []
            read = [self._ring(ring) for ring in rings]
            sound = tuple(ring for ring in read if ring is not None)
            if read and len(sound) == len(read) and self._simple(item, sound) and terrain is not None:
                self.draft.areas.append(AreaDraft(terrain, sound))

    def _ring(self, node: Node) -> Line | None:
        points = self._points(node)
        if points is None:
            return None
        if len(points) > 1 and points[0] == points[-1]:
            points = points[:-1]
        if len(points) < 3:
            self.problems.add(node, f"an outline has at least three points, not {len(points)}")
            return None
        return points

    def _simple(self, node: Node, rings: tuple[Line, ...]) -> bool:
        import shapely.validation

        polygon = shapely.Polygon(rings[0], rings[1:])
        if polygon.is_valid:
            return True
        reason, _, where = shapely.validation.explain_validity(polygon).partition("[")
        try:
            x, y = (Fraction(float(part)) / GRID for part in where.rstrip("]").split())
            drawn = self.draft.scheme.drawn_point(x, y)
            reason += f" near ({float(drawn[0]):.3g}, {float(drawn[1]):.3g})"
        except ValueError:
            pass
        self.problems.add(node, f"the outline is no simple polygon: {reason.lower()}")
        return False

    def _crests(self, node: Node) -> None:
        for item in node.items(self.problems):
            keys = item.mapping(self.problems, ("level", "line"), ("level", "line"))
            level = self._level(keys["level"]) if "level" in keys else None
            line = self._points(keys["line"]) if "line" in keys else None
            if line is not None and len(line) < 2:
                self.problems.add(keys["line"], f"a crest has at least two points, not {len(line)}")
            elif line is not None and level is not None:
                self.draft.crests.append(CrestDraft(level, line))

    def _points(self, node: Node) -> Line | None:
        """Points on the lattice grid; one that falls on the point before it is left out."""
        points: list[tuple[int, int]] = []
        items = node.items(self.problems)
        for item in items:
            numbers = [part.number(self.problems) for part in item.items(self.problems)]
            if len(numbers) != 2:
                self.problems.add(item, f"a point is [x, y], not {len(numbers)} numbers")
                return None
            if numbers[0] is None or numbers[1] is None:
                return None
            exact = self.to_lattice(numbers[0], numbers[1])
            if max(map(abs, exact)) > MAX_COORDINATE:
                self.problems.add(item, "the point lies far beyond any map")
                return None
            point = self._snapped(*exact)
            if not points or points[-1] != point:
                points.append(point)
        return tuple(points) if isinstance(node.value, list) else None

    @functools.cached_property
    def to_lattice(self) -> ToLattice:
        return self.plane(self.draft)

    def _snapped(self, x: Fraction, y: Fraction) -> tuple[int, int]:
        point = round(x * GRID), round(y * GRID)
        off = (abs(Fraction(grid, GRID) - exact) for grid, exact in zip(point, (x, y), strict=True))
        self.draft.moved = max(self.draft.moved, *off)
        return point

    def _positions(self, node: Node) -> None:
        if not self.words.printed_positions:
            self.problems.add(node, f"no positions are printed on maps of {self.draft.ruleset}")
            return
        known = ("hexes", "color", *POSITION_FLAGS, "ids", "mortar", "setup", "intense", "steady")
        for code, value in node.mapping(self.problems).items():
            keys = value.mapping(self.problems, known, ("hexes",))
            attributes: dict[str, object] = {}
            if "color" in keys:
                attributes["color"] = keys["color"].string(self.problems)
            for flag in POSITION_FLAGS:
                if flag in keys and keys[flag].flag(self.problems):
                    attributes[flag] = True
            if "ids" in keys:
                attributes["ids"] = self._ids(keys["ids"])
            if "mortar" in keys:
                found = sorted(self.places.listed(keys["mortar"]))
                attributes["mortar"] = [self.draft.scheme.label(place) for place in found]
            if "setup" in keys:
                attributes["setup"] = keys["setup"].word(self.problems, "set-up", SETUPS)
            self._feature(code, value, "position", keys, attributes)

    def _beaches(self, node: Node) -> None:
        """Landing beaches with what their naval zones show (css 22.0, 22.3.1)."""
        if not self.words.printed_beaches:
            self.problems.add(node, f"no landing beaches are printed on maps of {self.draft.ruleset}")
            return
        for code, value in node.mapping(self.problems).items():
            keys = value.mapping(self.problems, ("hex", "beachhead", "final_run_in", "approach"), ("hex",))
            attributes: dict[str, object] = {}
            if "beachhead" in keys:
                attributes["beachhead"] = keys["beachhead"].word(self.problems, "beachhead", BEACHHEADS)
            for run in ("final_run_in", "approach"):
                if run in keys:
                    attributes[run] = keys[run].whole(self.problems, -2, 0, "what the zone shows")
            text = keys["hex"].string(self.problems) if "hex" in keys else None
            place = None if text is None else self.places.hex(keys["hex"], text)
            self._feature(code, value, "beach", {}, attributes)
            if place is not None:
                self.draft.features[code] = FeatureDraft("beach", frozenset({place}), attributes=attributes)

    def _ids(self, node: Node) -> dict[str, str | None]:
        """The IDs of the hexes of a group, each by its label."""
        found: dict[str, str | None] = {}
        for label, name in node.mapping(self.problems).items():
            place = self.places.hex(name, label)
            if place is not None:
                found[self.draft.scheme.label(place)] = name.string(self.problems)
        return found

    def _places(self, node: Node) -> None:
        for code, value in node.mapping(self.problems).items():
            keys = value.mapping(self.problems, ("kind", "hexes", "attributes"), ("kind",))
            kind = keys["kind"].word(self.problems, "kind of place", PLACES) if "kind" in keys else None
            attributes = keys["attributes"].mapping(self.problems) if "attributes" in keys else {}
            plain = {key: self._attribute(entry) for key, entry in attributes.items()}
            self._feature(code, value, kind or "", keys, plain)

    def _attribute(self, node: Node) -> object:
        """Text, a whole number, true or false, or a list of these."""
        if isinstance(node.value, list):
            return [self._attribute(item) for item in node.value]
        if isinstance(node.value, bool | str) or (isinstance(node.value, int) and abs(node.value) < 2**53):
            return node.value
        self.problems.add(node, f"expected text, a whole number, true or false, found {node.kind}")
        return None

    def _feature(
        self, code: str, node: Node, kind: str, keys: dict[str, Node], attributes: dict[str, object]
    ) -> None:
        if not code.strip():
            self.problems.add(node, "a place needs a name")
        if code in self.draft.features:
            self.problems.add(node, f"{code} is the name of a position already")
        at, intense, steady = (
            frozenset(self.places.listed(keys[role])) if role in keys else frozenset()
            for role in ("hexes", "intense", "steady")
        )
        if kind == "position" and "hexes" in keys and keys["hexes"].value in ([], None):
            self.problems.add(keys["hexes"], "a position lies in at least one hex")
        self.draft.features[code] = FeatureDraft(kind, at, intense, steady, attributes)

    def _georeference(self, node: Node) -> None:
        keys = node.mapping(self.problems, ("crs", "points"), ("crs", "points"))
        srid = self._srid(keys["crs"]) if "crs" in keys else None
        points: list[ControlPoint] = []
        for item in keys["points"].items(self.problems) if "points" in keys else []:
            point = self._control_point(item)
            if point is None:
                continue
            if point.hex in [other.hex for other in points]:
                self.problems.add(item, f"{self.draft.scheme.label(point.hex)} has a control point already")
            points.append(point)
        if "points" in keys and len(keys["points"].items(Problems())) < 3:
            self.problems.add(keys["points"], "a georeference needs at least three control points")
        if srid is not None:
            self.draft.georeference = Georeference(srid, tuple(points))

    def _srid(self, node: Node) -> int | None:
        text = node.string(self.problems)
        if text is None:
            return None
        code = text.upper().removeprefix("EPSG:")
        if code.isascii() and code.isdigit() and 0 < int(code[:9]) < 999_999:
            return int(code)
        self.problems.add(node, f"{text!r} is no EPSG code; write it as EPSG:4326")
        return None

    def _control_point(self, node: Node) -> ControlPoint | None:
        names = ("lon", "lat") if node.get("lon") is not None or node.get("lat") is not None else ("x", "y")
        keys = node.mapping(self.problems, ("hex", *names), ("hex", *names))
        if len(keys) != 3:
            return None
        text = keys["hex"].string(self.problems)
        place = None if text is None else self.places.hex(keys["hex"], text)
        x, y = (self._decimal(keys[name]) for name in names)
        return None if place is None or x is None or y is None else ControlPoint(place, x, y)

    def _decimal(self, node: Node) -> Decimal | None:
        number = node.number(self.problems)
        if number is None or isinstance(node.value, Fraction):
            return None
        return Decimal(str(node.value))


def _states_terrain(node: Node) -> bool:
    return (node.text is not None and node.value is not None) or node.get("terrain") is not None
