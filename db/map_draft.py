"""A map as it is read or written: every hex and feature, checked, not yet in the database."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Iterable, Iterator, MutableMapping, MutableSet
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from db.labels import Axial, Scheme, side_hexes
from db.rulesets import FOLDER, RulesetFile, TerrainFile, read_form

GRID = 1024
"""Drawn artwork lies on the grid of 1/1024 lattice unit."""

Point = tuple[int, int]
"""A point of the artwork, in 1/1024 lattice unit."""
Line = tuple[Point, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class HexDraft:
    """A hex: what fills it, how high it lies, what else is printed in it."""

    terrain: str
    level: int
    features: tuple[str, ...] = ()
    name: str | None = None


class PathDraft(NamedTuple):
    """A road, trail or railway."""

    kind: str
    hexes: tuple[Axial, ...]
    name: str | None = None


class AreaDraft(NamedTuple):
    """Drawn terrain: its outline, then its holes; each ring without its first point repeated."""

    terrain: str
    rings: tuple[Line, ...]


class CrestDraft(NamedTuple):
    """A crest line on the lattice, the higher ground on its left where y goes down."""

    level: int
    line: Line


class FeatureDraft(NamedTuple):
    """A marked place: an objective, a printed position with its fire dots, an exit, a box."""

    kind: str
    at: frozenset[Axial] = frozenset()
    intense: frozenset[Axial] = frozenset()
    steady: frozenset[Axial] = frozenset()
    attributes: dict[str, Any] = {}  # noqa: RUF012


class ControlPoint(NamedTuple):
    """A hex whose centre is known in the world."""

    hex: Axial
    x: Decimal
    y: Decimal


class Georeference(NamedTuple):
    """Where a map lies in the world: a CRS by its EPSG code, and points known in it."""

    srid: int
    points: tuple[ControlPoint, ...]


@dataclasses.dataclass
class MapDraft:
    """A whole map."""

    ruleset: str
    scheme: Scheme
    name: str | None = None
    """None: a passing map, such as a case's; it gets a name of its own when it is stored."""
    title: str = ""
    meters_per_hex: int | None = None
    source: str = ""
    note: str = ""
    hexes: MutableMapping[Axial, HexDraft] = dataclasses.field(default_factory=dict)
    hexsides: MutableSet[tuple[int, int, str]] = dataclasses.field(default_factory=set)
    """(x, y, kind), (x, y) the sum of the side's two hexes."""
    paths: list[PathDraft] = dataclasses.field(default_factory=list)
    areas: list[AreaDraft] = dataclasses.field(default_factory=list)
    crests: list[CrestDraft] = dataclasses.field(default_factory=list)
    features: dict[str, FeatureDraft] = dataclasses.field(default_factory=dict)
    """By code, such as B5."""
    georeference: Georeference | None = None
    kept: dict[str, dict[str, str]] = dataclasses.field(default_factory=dict, compare=False)
    """By label: what the file says that a position keeps of a hex, such as who controls it; no part of the map."""
    moved: Fraction = dataclasses.field(default=Fraction(0), compare=False)
    """How far, in lattice units, a point of the artwork moved at most when it was snapped."""
    notices: list[str] = dataclasses.field(default_factory=list, compare=False)
    """What was assumed because the file does not say it."""

    @property
    def version(self) -> str | None:
        """A word that is another one after every edit; None of a map that is not stored."""
        return None

    @property
    def size(self) -> int:
        """How many hexes it has."""
        return len(self.hexes)

    @property
    def drawn_terrain(self) -> set[str]:
        """Terrains of its artwork."""
        return {area.terrain for area in self.areas}

    @property
    def has_crests(self) -> bool:
        return bool(self.crests)

    def span(self) -> tuple[range, range]:
        """Its columns and rows, from the first to the last."""
        return columns_of(self.hexes), rows_of(self.hexes)

    def cut(self, columns: range, rows: range) -> MapDraft:
        """At least what lies in some columns and rows and touches them; a map at hand is given whole."""
        return self

    def part(self, places: Iterable[Axial]) -> MapDraft:
        """Some hexes of the map with what lies on them; artwork as far as it may reach into them."""
        kept = {place: self.hexes[place] for place in places}
        box = _box([corner for place in kept for corner in place.corners])
        return dataclasses.replace(
            self,
            hexes=kept,
            hexsides={side for side in self.hexsides if not kept.keys().isdisjoint(side_hexes(*side[:2]))},
            paths=[run for path in self.paths for run in _runs(path, kept)],
            areas=[area for area in self.areas if _meets(area.rings[0], box)],
            crests=[crest for crest in self.crests if _meets(crest.line, box)],
            features={
                code: feature._replace(
                    at=feature.at & kept.keys(),
                    intense=feature.intense & kept.keys(),
                    steady=feature.steady & kept.keys(),
                )
                for code, feature in self.features.items()
                if not feature.at or not kept.keys().isdisjoint(feature.at)
            },
            georeference=None,
        )


def columns_of(places: Collection[Axial]) -> range:
    """From the first to the last column of some hexes."""
    return range(min(q for q, _ in places), max(q for q, _ in places) + 1) if places else range(0)


def rows_of(places: Collection[Axial]) -> range:
    """From the first to the last row of some hexes."""
    rows = [place.row for place in places]
    return range(min(rows), max(rows) + 1) if rows else range(0)


def _runs(path: PathDraft, kept: Collection[Axial]) -> Iterator[PathDraft]:
    """The stretches of a path within some hexes."""
    run: list[Axial] = []
    for place in (*path.hexes, None):
        if place is not None and place in kept:
            run.append(place)
            continue
        if len(run) > 1:
            yield path._replace(hexes=tuple(run))
        run = []


def _box(points: Collection[Point]) -> tuple[int, int, int, int]:
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _meets(line: Line, box: tuple[int, int, int, int]) -> bool:
    """Whether drawn artwork comes near a box in lattice units."""
    left, top, right, bottom = _box(line)
    return (
        left <= box[2] * GRID and right >= box[0] * GRID and top <= box[3] * GRID and bottom >= box[1] * GRID
    )


class Vocabulary(NamedTuple):
    """The words a ruleset's maps are written in."""

    base_level: int
    levels: tuple[int, int]
    scheme: Scheme
    terrain: tuple[str, ...]
    hexsides: tuple[str, ...]
    paths: tuple[str, ...]
    features: tuple[str, ...]
    """Printed in a hex beside its terrain."""
    flags: tuple[str, ...]
    """Those features that a file writes as `cave: true`."""
    kept: tuple[str, ...]
    """What a position keeps of a hex; its value is a side."""
    sides: tuple[str, ...]
    printed_positions: bool
    """Whether positions with their fields of fire are printed on the map."""
    printed_beaches: bool
    """Whether landing beaches with naval zones are printed on the map."""
    plain: str
    """The terrain of a hex about which a file says nothing."""


@functools.cache
def vocabulary(ruleset: str) -> Vocabulary:
    facts = read_form(FOLDER / ruleset / "ruleset.yaml", RulesetFile)
    kinds = read_form(FOLDER / ruleset / "terrain.yaml", TerrainFile)
    return Vocabulary(
        base_level=facts.base_level,
        levels=facts.levels,
        scheme=facts.scheme,
        terrain=tuple(kind for kind in kinds.terrain if kind not in facts.only_features),
        hexsides=tuple(kinds.hexsides),
        paths=tuple(kinds.paths),
        features=facts.features,
        flags=facts.flags,
        kept=facts.kept,
        sides=facts.sides,
        printed_positions=facts.printed_positions,
        printed_beaches=facts.printed_beaches,
        plain="clear" if "clear" in kinds.terrain else "open_ground",
    )
