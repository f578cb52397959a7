"""A position that is read or written: units and markers on a map, checked, not yet in the database."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection
from typing import Any

from db.counters import CONDITIONS, Unit
from db.labels import Axial, LabelError
from db.map_draft import Line, MapDraft
from db.values import canonical


@dataclasses.dataclass(frozen=True)
class MarkerDraft:
    """A marker in a hex."""

    kind: str
    at: Axial
    value: int | None = None
    facing: int | None = None
    attributes: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class PositionDraft:
    """A position that is not in the database yet."""

    ruleset: str
    board: MapDraft
    saved_map: str | None = None
    """The name of a map that is in the database already, if it stands on one."""
    name: str | None = None
    title: str = ""
    conditions: dict[str, Any] = dataclasses.field(default_factory=dict)
    policy: dict[str, str] = dataclasses.field(default_factory=dict)
    units: dict[str, tuple[Unit, Axial | None]] = dataclasses.field(default_factory=dict)
    markers: list[MarkerDraft] = dataclasses.field(default_factory=list)
    tracks: dict[str, Any] = dataclasses.field(default_factory=dict)
    unread: set[str] = dataclasses.field(default_factory=set)
    """Ids of units with a mistake: who names one makes none."""

    def is_unit(self, code: str) -> bool:
        return code in self.units

    def is_hex(self, word: str) -> bool:
        """Whether a word is the label of a hex of the map."""
        try:
            return self.board.scheme.hex(word) in self.board.hexes
        except LabelError:
            return False

    def codes(self) -> Collection[str]:
        return self.units.keys()

    def standing(self, code: str) -> Axial | None:
        """The hex of a unit, or its beach on the way ashore; None off the map."""
        unit, place = self.units[code]
        zone = getattr(unit, "zone", None)
        return place if zone is None else self.board.scheme.hex(zone.beach)

    def digest(self, conditions: dict[str, Any] | None = None) -> str:
        """SHA-256 of all that a ruling on it can depend on but the readings, in one order.

        The same position written in another way has the same digest. A question's own
        conditions may take the place of the position's.
        """
        board = self.board
        facts = {
            "ruleset": self.ruleset,
            "conditions": in_force(self.ruleset, self.conditions if conditions is None else conditions),
            "hexes": sorted(
                [place, ground.terrain, ground.level, sorted(ground.features)]
                for place, ground in board.hexes.items()
            ),
            "labels": board.scheme.model_dump(mode="json"),
            "hexsides": sorted(board.hexsides),
            "paths": sorted([path.kind, min(path.hexes, path.hexes[::-1])] for path in board.paths),
            "areas": sorted(
                [area.terrain, _ring(area.rings[0]), sorted(map(_ring, area.rings[1:]))] for area in board.areas
            ),
            "crests": sorted([crest.level, crest.line] for crest in board.crests),
            "features": sorted(
                [code, feature.kind, sorted(feature.at), sorted(feature.intense), sorted(feature.steady),
                 feature.attributes]
                for code, feature in board.features.items()
            ),
            "units": sorted([code, place, _counter(unit)] for code, (unit, place) in self.units.items()),
            "markers": sorted(
                [marker.at, marker.kind, marker.value or 0, marker.facing or 0, canonical(marker.attributes)]
                for marker in self.markers
            ),
        }  # fmt: skip
        if self.tracks:
            facts["tracks"] = self.tracks
        return hashlib.sha256(canonical(facts).encode()).hexdigest()


def in_force(ruleset: str, conditions: dict[str, Any]) -> dict[str, Any]:
    """Conditions without those that hold anyway, so that saying so makes no difference."""
    return CONDITIONS[ruleset].model_validate(conditions).model_dump(exclude_defaults=True)


def _counter(unit: Unit) -> dict[str, Any]:
    """What a counter says, numbers as numbers: 5.0 movement points are 5."""
    return unit.model_dump(exclude={"id", "at"}, exclude_defaults=True)


def _ring(ring: Line) -> Line:
    """An outline from its least point on, one way round."""
    first = ring.index(min(ring))
    turned = ring[first:] + ring[:first]
    return min(turned, (turned[0], *turned[:0:-1]))
