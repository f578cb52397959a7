"""A sheet of hex paper: what a painter draws on, and how it is written as a map file.

The painter's plane has neighbouring centres one unit apart, x to the right and y down, so
that distances and noise look the same in every direction. Corners and hexsides keep the
lattice's own integers.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from db import labels
from db.labels import STEPS, Axial, Scheme
from db.rulesets import FOLDER, RulesetFile, read_form

Side = tuple[int, int]
"""A hexside: the sum of its two hexes, as the table `hexside` keys it."""
Corner = tuple[int, int]
"""A corner of hexes, in lattice units."""
Point = tuple[float, float]
Document = dict[str, Any]

COLUMN_PITCH = 0.8660254037844386
"""Columns stand √3/2 of a hex apart."""


@functools.cache
def scheme_of(ruleset: str) -> Scheme:
    return read_form(FOLDER / ruleset / "ruleset.yaml", RulesetFile).scheme


def centre(place: Axial) -> Point:
    return place.q * COLUMN_PITCH, place.r + place.q / 2


def corner_point(corner: Corner) -> Point:
    return corner[0] / 3 * COLUMN_PITCH, corner[1] / 2


def corners(place: Axial) -> list[Corner]:
    """The six corners, clockwise on a map with y down."""
    return place.corners


def neighbours(place: Axial) -> list[Axial]:
    return [Axial(place.q + dq, place.r + dr) for dq, dr in STEPS]


def side_between(one: Axial, other: Axial) -> Side:
    return one.q + other.q, one.r + other.r


def side_corners(side: Side) -> tuple[Corner, Corner]:
    return labels.side_corners(*side)


def hexes_at(corner: Corner) -> list[Axial]:
    """The three hexes that meet in a corner."""
    x, y = corner
    around = [Axial(x // 3 + dq, (y - x // 3 - dq) // 2 + dr) for dq in (-1, 0, 1) for dr in (-1, 0, 1)]
    return [place for place in around if corner in corners(place)]


SOURCE = "Invented for Sightline, and under its licence."
"""Of every map of the demo."""


@dataclass
class Sheet:
    """A map being drawn."""

    name: str
    title: str
    ruleset: str
    extent: tuple[str, str]
    meters_per_hex: int
    note: str
    fill: str
    fill_level: int = 0
    terrain: dict[Axial, str] = field(default_factory=dict)
    """Terrain of every hex; a hex without one is not part of the map."""
    level: dict[Axial, int] = field(default_factory=dict)
    features: dict[Axial, list[str]] = field(default_factory=dict)
    names: dict[Axial, str] = field(default_factory=dict)
    sides: dict[Side, list[str]] = field(default_factory=dict)
    paths: list[tuple[str, str | None, list[Axial]]] = field(default_factory=list)
    areas: list[tuple[str, list[Point], list[list[Point]]]] = field(default_factory=list)
    """Terrain, outline and holes, in columns and rows."""
    crests: list[tuple[int, list[Point]]] = field(default_factory=list)
    extra: Document = field(default_factory=dict)
    """Further keys of the file, such as `positions`."""
    source: str = ""
    """After what it was drawn, and whose it is."""
    numbering: Scheme | None = None
    """A scheme of its own; without one its hexes are numbered as its game has it."""

    def __post_init__(self) -> None:
        self.scheme = self.numbering or scheme_of(self.ruleset)
        self.hexes = self.scheme.rectangle(*self.extent)
        self._on_paper = set(self.hexes)

    def __contains__(self, place: Axial) -> bool:
        return place in self._on_paper

    def beside(self, place: Axial) -> list[Axial]:
        """Neighbours on the paper."""
        return [other for other in neighbours(place) if other in self._on_paper]

    def at(self, label: str) -> Axial:
        return self.scheme.hex(label)

    def label(self, place: Axial) -> str:
        return self.scheme.label(place)

    def within(self, place: Axial, distance: int) -> list[Axial]:
        """Hexes of the paper within a distance, column by column."""
        span = range(-distance, distance + 1)
        disc = [(dq, dr) for dq in span for dr in span if abs(dq + dr) <= distance]
        around = [Axial(place.q + dq, place.r + dr) for dq, dr in disc]
        return [other for other in around if other in self._on_paper]

    def add_side(self, side: Side, kind: str) -> None:
        kinds = self.sides.setdefault(side, [])
        if kind not in kinds:
            kinds.append(kind)

    def add_feature(self, place: Axial, feature: str) -> None:
        marks = self.features.setdefault(place, [])
        if feature not in marks:
            marks.append(feature)

    def distances(self, sources: Iterable[Axial]) -> dict[Axial, int]:
        """Hexes from the nearest of the sources."""
        found = dict.fromkeys(sources, 0)
        queue = deque(found)
        while queue:
            place = queue.popleft()
            for other in self.beside(place):
                if other not in found:
                    found[other] = found[place] + 1
                    queue.append(other)
        return found

    def patches(self, alike: Callable[[Axial], object]) -> list[list[Axial]]:
        """The connected groups of hexes for which `alike` gives the same, None left out."""
        seen: set[Axial] = set()
        groups: list[list[Axial]] = []
        for start in self.hexes:
            kind = alike(start)
            if start in seen or kind is None:
                continue
            seen.add(start)
            group = [start]
            for place in group:
                for other in self.beside(place):
                    if other not in seen and alike(other) == kind:
                        seen.add(other)
                        group.append(other)
            groups.append(group)
        return groups

    def connected(self, places: Collection[Axial]) -> list[list[Axial]]:
        """The connected groups of these hexes."""
        return self.patches(lambda place: place in places or None)

    def of_terrain(self, kind: str) -> set[Axial]:
        return {place for place, terrain in self.terrain.items() if terrain == kind}

    def merge_small_patches(self, least: int, kinds: Iterable[str]) -> None:
        """Give patches of fewer than `least` hexes to the terrain that mostly surrounds them."""
        natural = set(kinds)
        for _ in range(3):
            for patch in self.patches(lambda place: self.terrain.get(place)):
                if len(patch) >= least or self.terrain[patch[0]] not in natural:
                    continue
                around = [
                    self.terrain[other]
                    for place in patch
                    for other in self.beside(place)
                    if other in self.terrain and other not in patch and self.terrain[other] in natural
                ]
                if around:
                    winner = max(sorted(set(around)), key=around.count)
                    self.terrain.update(dict.fromkeys(patch, winner))
