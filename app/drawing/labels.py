"""Labels beside marks on a small map: where none lies on another or on a mark, the nearest place first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

FONT = 22.0
"""Size of the letters, in units of the drawing."""
LINE = 25.0
LETTER = 0.64 * FONT
"""What a letter takes; m and w of a short name take more than the average."""
RINGS = (12, 26, 44, 66, 92, 122, 156, 194, 236, 282)
"""How far off a label is tried."""
WAYS = 16
MOST = 60
"""Marks that are labelled; of more the map says nothing, the list does."""


class Box(NamedTuple):
    """A rectangle of the drawing."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Its point that is nearest to another."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


class Spot(NamedTuple):
    """A place with what is to be said of it, a line each."""

    x: float
    y: float
    lines: Sequence[str]


def place_labels(spots: Sequence[Spot], marks: Sequence[Box], within: Box) -> list[Box | None]:
    """A box for each label, or None where there is no room for it.

    The outermost come first and turn outward, so that a crowd opens like a fan.
    """
    if not spots:
        return []
    middle = sum(spot.x for spot in spots) / len(spots), sum(spot.y for spot in spots) / len(spots)
    outward = sorted(range(len(spots)), key=lambda n: -math.dist(spots[n][:2], middle))
    found: list[Box | None] = [None] * len(spots)
    taken = list(marks)
    for n in outward[:MOST]:
        box = next((box for box in _places(spots[n], middle) if _is_free(box, taken, within)), None)
        if box is not None:
            found[n] = box
            taken.append(box)
    return found


def _is_free(box: Box, taken: Sequence[Box], within: Box) -> bool:
    inside = within.left <= box.left and box.right <= within.right and within.top <= box.top and box.bottom <= within.bottom  # fmt: skip
    return inside and not any(box.meets(other) for other in taken)


def _places(spot: Spot, middle: tuple[float, float]) -> list[Box]:
    """Where a label may stand, the best first: near, and away from the middle of all."""
    width = LETTER * max(len(line) for line in spot.lines)
    height = LINE * len(spot.lines)
    away = math.atan2(spot.y - middle[1], spot.x - middle[0])
    turns = sorted(range(WAYS), key=lambda n: min(n, WAYS - n))
    places = []
    for far in RINGS:
        for turn in turns:
            angle = away + 2 * math.pi * turn / WAYS
            # the box begins where the ring ends: its half width to the side, its half height above and below
            x = spot.x + math.cos(angle) * (far + width / 2)
            y = spot.y + math.sin(angle) * (far + height / 2)
            places.append(Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2))
    return places
