"""Ways: roads and trails by the cheapest line, joining those that are there already."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable

from db.labels import Axial
from importers.demo.sheet import Sheet

Toll = Callable[[Axial, Axial], float | None]
"""What a step from a hex to the next costs a road builder; None where no road can go."""


class Surveyor:
    """Lays out ways on a sheet."""

    def __init__(self, sheet: Sheet, toll: Toll, reuse: float = 0.25) -> None:
        self.sheet = sheet
        self.toll = toll
        self.reuse = reuse
        """Part of the cost that remains where a way already runs."""
        self.built: set[tuple[Axial, Axial]] = set()
        for _, _, chain in sheet.paths:
            self._note(chain)

    def connect(self, kind: str, start: Axial, goal: Axial, name: str | None = None) -> None:
        """Lay a way from start to goal; parts that follow an older way are that way, not a second one."""
        chain = self.cheapest(start, goal)
        for stretch in self._new_stretches(chain):
            self.sheet.paths.append((kind, name, stretch))
            self._note(stretch)

    def cheapest(self, start: Axial, goal: Axial) -> list[Axial]:
        best: dict[Axial, float] = {start: 0}
        came: dict[Axial, Axial] = {}
        heap: list[tuple[float, Axial]] = [(0, start)]
        while heap:
            cost, place = heapq.heappop(heap)
            if place == goal:
                break
            if cost > best[place]:
                continue
            for other in self.sheet.beside(place):
                toll = self.toll(place, other)
                if toll is None:
                    continue
                spent = cost + (toll * self.reuse if (place, other) in self.built else toll)
                if spent < best.get(other, float("inf")):
                    best[other], came[other] = spent, place
                    heapq.heappush(heap, (spent, other))
        return _walked_back(came, start, goal)

    def _note(self, chain: list[Axial]) -> None:
        for one, other in itertools.pairwise(chain):
            self.built |= {(one, other), (other, one)}

    def _new_stretches(self, chain: list[Axial]) -> Iterable[list[Axial]]:
        stretch = chain[:1]
        for one, other in itertools.pairwise(chain):
            if (one, other) in self.built:
                if len(stretch) > 1:
                    yield stretch
                stretch = [other]
            else:
                stretch = [*stretch, other]
        if len(stretch) > 1:
            yield stretch


def _walked_back(came: dict[Axial, Axial], start: Axial, goal: Axial) -> list[Axial]:
    if goal != start and goal not in came:
        return []
    chain = [goal]
    while chain[-1] != start:
        chain.append(came[chain[-1]])
    return chain[::-1]
