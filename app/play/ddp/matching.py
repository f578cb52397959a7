"""Hits over a whole fire card (6.34): so many units as possible, then each position by its own priorities.

A position hits up to its limit of units, each unit loses one step. The most units that can be hit over all
positions is a maximum matching; the sets that one position may hit in such a matching form a matroid, so that
going down its priorities and taking whatever still leaves a maximum is exact.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence


@dataclasses.dataclass(frozen=True)
class Shooter:
    """A position that fires: how many units it may hit, and which."""

    limit: int
    targets: frozenset[str]


def most_hit(shooters: Sequence[Shooter], spared: frozenset[str] = frozenset()) -> int:
    """The most units that can be hit together, those that are spoken for left out."""
    hit_by: dict[str, int] = {}
    hits = [0] * len(shooters)

    def place(unit: str, tried: set[int]) -> bool:
        """Find a position for a unit, moving others to theirs."""
        for n, shooter in enumerate(shooters):
            if unit not in shooter.targets or n in tried:
                continue
            tried.add(n)
            if hits[n] < shooter.limit:
                hit_by[unit], hits[n] = n, hits[n] + 1
                return True
            for other in [held for held, by in hit_by.items() if by == n]:
                if place(other, tried):
                    # the other has moved on, so that there is room again
                    hits[n] -= 1
                    hit_by[unit], hits[n] = n, hits[n] + 1
                    return True
        return False

    units = sorted(set().union(*(shooter.targets for shooter in shooters)) - spared) if shooters else []
    return sum(place(unit, set()) for unit in units)


class Assignment:
    """The hits of one position, with those that fire after it on the same card."""

    def __init__(self, own: Shooter, later: Sequence[Shooter]) -> None:
        self._own, self._later = own, list(later)
        self._most = most_hit([own, *self._later])
        self.hits: tuple[str, ...] = ()

    def allows(self, more: Sequence[str]) -> bool:
        """Whether these can be hit besides, and still as many over the whole card as possible."""
        taken = frozenset({*self.hits, *more})
        if len(taken) > self._own.limit:
            return False
        left = Shooter(self._own.limit - len(taken), self._own.targets - taken)
        return len(taken) + most_hit([left, *self._later], taken) == self._most

    def ways(self, tied: Sequence[str]) -> list[tuple[str, ...]]:
        """Of units of one priority, each largest set that can be hit: one, or the player's choice."""
        taken: list[str] = []
        for unit in tied:
            if self.allows([*taken, unit]):
                taken.append(unit)
        if len(taken) in (0, len(tied)):
            return [tuple(taken)]
        return [way for way in itertools.combinations(tied, len(taken)) if self.allows(way)]

    def take(self, units: Sequence[str]) -> None:
        self.hits = (*self.hits, *units)
