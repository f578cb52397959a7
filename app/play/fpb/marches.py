"""Ways over an island for the solitaire Japanese (16.1): the least costly, enemy zones avoided, equals told apart."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Iterable
from typing import Any

UNTOLD = 3
"""5.4: terrain other than clear costs more than one point, so three halves at the least where nobody tells."""
Price = tuple[int, int]
"""Enemy zones entered, then halves of a point: 16.1(2) avoids the first where there is any other way."""
FAR: Price = (10**6, 0)


@dataclasses.dataclass(frozen=True)
class Place:
    """A hex as a unit meets it on the march."""

    label: str
    q: int
    r: int
    zoned: bool
    enemy: bool
    friend: bool
    sea: bool
    airstrip: bool
    beach: bool


@dataclasses.dataclass(frozen=True)
class Leg:
    """A step to a hex."""

    goal: str
    halves: int
    zoned: bool
    told: bool

    @property
    def price(self) -> Price:
        return int(self.zoned), self.halves


class Island:
    """The hexes and steps of an island for one unit."""

    def __init__(self, hexes: Iterable[Any], legs: Iterable[Any]) -> None:
        self.places = {row.label: Place(*row) for row in hexes}
        self._prices: dict[tuple[frozenset[str], bool], dict[str, Price]] = {}
        self.legs: dict[str, list[Leg]] = {label: [] for label in self.places}
        self._open_ground: dict[str, list[str]] = {label: [] for label in self.places}
        self._into: dict[str, list[tuple[str, Leg]]] = {label: [] for label in self.places}
        for row in legs:
            if row.shut:
                continue
            self._open_ground[row.start].append(row.goal)
            goal = self.places[row.goal]
            if goal.enemy:
                continue
            told = row.halves is not None
            leg = Leg(row.goal, row.halves if told else UNTOLD + row.zone, goal.zoned, told)
            self.legs[row.start].append(leg)
            self._into[row.goal].append((row.start, leg))

    def apart(self, one: str, two: str) -> int:
        """Hexes from one to the other."""
        a, b = self.places[one], self.places[two]
        q, r = a.q - b.q, a.r - b.r
        return max(abs(q), abs(r), abs(q + r))

    def beside(self, label: str) -> list[str]:
        return [other for other in self.places if self.apart(label, other) == 1]

    def reachable(self, start: str, *, through_enemies: bool = False) -> set[str]:
        """Every hex to which the ground leads, whatever it costs."""
        seen, waiting = {start}, [start]
        while waiting:
            here = waiting.pop()
            goals = self._open_ground[here] if through_enemies else [leg.goal for leg in self.legs[here]]
            for goal in goals:
                if goal not in seen:
                    seen.add(goal)
                    waiting.append(goal)
        return seen

    def prices_to(self, goals: Iterable[str], *, told: bool = False) -> dict[str, Price]:
        """The least price from every hex to the nearest of these; `told`: by steps whose price is told, but for the last."""
        ends = frozenset(goals)
        if (ends, told) not in self._prices:
            self._prices[ends, told] = self._inward(ends, told=told)
        return self._prices[ends, told]

    def _inward(self, ends: frozenset[str], *, told: bool) -> dict[str, Price]:
        best: dict[str, Price] = dict.fromkeys(ends, (0, 0))
        heap = [(price, label) for label, price in best.items()]
        heapq.heapify(heap)
        while heap:
            price, label = heapq.heappop(heap)
            if price > best[label]:
                continue
            for start, leg in self._into[label]:
                if told and not leg.told and label not in ends:
                    continue
                total = (price[0] + leg.price[0], price[1] + leg.price[1])
                if total < best.get(start, FAR):
                    best[start] = total
                    heapq.heappush(heap, (total, start))
        return best

    def next_legs(self, here: str, prices: dict[str, Price]) -> list[Leg]:
        """The steps from a hex that lie on a way of the least price."""
        return [
            leg
            for leg in self.legs[here]
            if leg.goal in prices
            and (leg.price[0] + prices[leg.goal][0], leg.price[1] + prices[leg.goal][1]) == prices[here]
        ]

    def farther(self, labels: list[str], enemies: list[str]) -> list[str]:
        """Of equally eligible hexes those that no other is farther than from more US units (16.1(3))."""

        def beaten(one: str, other: str) -> bool:
            gaps = [self.apart(other, enemy) - self.apart(one, enemy) for enemy in enemies]
            return sum(gap > 0 for gap in gaps) > sum(gap < 0 for gap in gaps)

        best = [one for one in labels if not any(beaten(one, other) for other in labels)]
        # in a ring of three each is beaten by another
        return best or labels
