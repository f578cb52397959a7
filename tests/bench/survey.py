"""A survey of a css map, and numpy as a rival: who sees whom, found out for all hexes at once.

The rival goes through the traces, one for each way that a line may lie, and judges the lines of all viewers that lie so in one
go. It rules as the other rivals do, on bare ground, has map and traces in memory, and keeps one bit for each pair;
the survey writes what everybody sees into the database, by label and distance.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from app.referee.boards import open_board
from app.referee.survey import survey
from db.labels import Axial, side_hexes
from tests.bench import (
    LOW_COVER,
    RADIUS,
    BenchError,
    Cell,
    Ground,
    Measure,
    _map_id,
    _ratio,
    read_ground,
    read_traces,
)

BITS = {"cliff": 1, "slope": 2, "ridge": 2, "steep_slope": 2 | 4}
SIGHT = {"open": 0, "blocks_at_second": 1, "blocks": 2}
TURNS = 3
Grid = NDArray[np.int16]
Mask = NDArray[np.bool_]


class NumpyRival:
    """The map in arrays, with a rim as wide as a line is long."""

    def __init__(self, ground: Ground, traces: dict[tuple[int, int], list[Cell]], radius: int) -> None:
        self.traces, self.radius, self.rim = traces, radius, radius + 1
        self.west, self.south = min(q for q, _ in ground.level), min(r for _, r in ground.level)
        self.size = (
            max(q for q, _ in ground.level) - self.west + 1,
            max(r for _, r in ground.level) - self.south + 1,
        )
        shape = self.size[0] + 2 * self.rim, self.size[1] + 2 * self.rim
        self.level: Grid = np.full(shape, -99, np.int16)
        self.cover: Grid = np.zeros(shape, np.int16)
        self.low: Mask = np.zeros(shape, np.bool_)
        self.sides: Grid = np.zeros((2 * shape[0] + 2, 2 * shape[1] + 2), np.int16)
        for (q, r), level in ground.level.items():
            at = q - self.west + self.rim, r - self.south + self.rim
            terrain = ground.terrain[Axial(q, r)]
            self.level[at], self.cover[at] = level, SIGHT[ground.sight[terrain]]
            self.low[at] = terrain in LOW_COVER
        for (x, y), kinds in ground.features.items():
            at = x - 2 * self.west + 2 * self.rim, y - 2 * self.south + 2 * self.rim
            for kind in kinds:
                self.sides[at] |= BITS[kind]

    def _shifted(self, grid: NDArray[Any], place: Axial) -> NDArray[Any]:
        q, r = self.rim + place.q, self.rim + place.r
        return grid[q : q + self.size[0], r : r + self.size[1]]

    def _side(self, x: int, y: int) -> Grid:
        x, y = 2 * self.rim + x, 2 * self.rim + y
        return self.sides[x : x + 2 * self.size[0] : 2, y : y + 2 * self.size[1] : 2]

    def sees(self) -> dict[Axial, Mask]:
        """For each step to a target, which hexes see the one there."""
        reach = range(-self.radius, self.radius + 1)
        steps = [
            Axial(q, r) for q in reach for r in reach if 0 < Axial(0, 0).distance(Axial(q, r)) <= self.radius
        ]
        return {step: self._lines(step) for step in steps}

    def _lines(self, target: Axial) -> Mask:
        """The css sight rules over all lines that lie alike (7.1.1, 7.1.2, 6.2.2)."""
        viewer = Axial(0, 0)
        own, other = self._shifted(self.level, viewer), self._shifted(self.level, target)
        seen: Mask = (own > -99) & (other > -99)
        if viewer.distance(target) <= 1:
            return seen
        high, low = np.maximum(own, other), np.minimum(own, other)
        cells = self.traces[target]
        above = np.zeros(self.size, np.bool_)
        for _, x, y, crossed in cells:
            one, two = side_hexes(x, y)
            for upper, lower in ((one, two), (two, one)) if crossed else ():
                if upper in (viewer, target):
                    top, foot = self._shifted(self.level, upper), self._shifted(self.level, lower)
                    above |= ((self._side(x, y) & 4) > 0) & (foot > -99) & (top > foot)
        thin = np.zeros(self.size, np.int16)
        for kind, x, y, crossed in cells:
            there = True
            if kind in ("hex", "spine"):
                places = [Axial(x // 2, y // 2)] if kind == "hex" else list(side_hexes(x, y))
                judged = [self._met(place, target, high, low, own, other, above) for place in places]
                on = [self._shifted(self.level, place) > -99 for place in places]
                there = np.logical_or.reduce(on)
                if kind == "hex":
                    seen &= there
                # of a side, a hex that is not there has no say
                stops = np.logical_and.reduce(
                    [stop | ~is_on for (stop, _), is_on in zip(judged, on, strict=True)]
                )
                dims = np.logical_and.reduce(
                    [stop | dim | ~is_on for (stop, dim), is_on in zip(judged, on, strict=True)]
                )
                seen &= ~(stops & there)
                thin += dims & there
            if kind == "spine":
                seen &= ~((self._side(x, y) > 0) & there)
            if crossed and not {viewer, target} & set(side_hexes(x, y)):
                found = self._side(x, y)
                seen &= ~((((found & 2) > 0) | ((found > 0) & ~above)) & there)
        return seen & (thin < 2)

    def _met(
        self, place: Axial, target: Axial, high: Grid, low: Grid, own: Grid, other: Grid, above: Mask
    ) -> tuple[Mask, Mask]:
        """Where a hex on the way stops the line, and where it thins it."""
        level, cover = self._shifted(self.level, place), self._shifted(self.cover, place)
        same = high == low
        stops = (level > high) | ((level == high) & ~same)
        beside = np.where(other < own, place.distance(target) == 1, place.distance(Axial(0, 0)) == 1)
        stops |= ~same & (level > low) & beside
        level_with = (level == high) & ~(above & self._shifted(self.low, place))
        return stops | (level_with & (cover == 2)), same & level_with & (cover == 1)

    def fan(self, found: dict[Axial, Mask], viewer: Axial) -> set[Axial]:
        at = viewer.q - self.west, viewer.r - self.south
        return {Axial(viewer.q + q, viewer.r + r) for (q, r), seen in found.items() if seen[at]}


def measure_survey(connection: Connection, name: str, say: Callable[[str], None]) -> list[Measure]:
    """A survey of one css map and the same by numpy, in turn, the best of each.

    The connection is in autocommit, as that of a survey: the position that is surveyed is really there for a while.
    """
    map_id = _map_id(connection, name)
    ground = read_ground(connection, map_id)
    # css-54 b: sugar cane is brush, so that nothing is left open
    ground.sight["sugar_cane"] = "blocks_at_second"
    rival = NumpyRival(ground, read_traces(connection, RADIUS), RADIUS)
    title = f"survey-{secrets.token_hex(6)}"
    position = connection.scalar(
        sa.text(
            "insert into position (map_id, ruleset, name, title, policy)"
            " values (:id, 'css', :name, :name, '{\"css-54\": \"b\"}') returning id"
        ),
        {"id": map_id, "name": title},
    )
    say(f"{name}: a survey")
    taken: dict[str, list[float]] = {"survey": [], "numpy": []}
    try:
        for _ in range(TURNS):
            connection.execute(sa.text("delete from viewshed where position_id = :id"), {"id": position})
            taken["survey"].append(1000 * survey(connection, open_board(connection, title)).seconds)
            started = time.perf_counter()
            found = rival.sees()
            taken["numpy"].append(1000 * (time.perf_counter() - started))
        kept = connection.execute(
            sa.text("select q, r, qs, rs from viewshed where position_id = :id"), {"id": position}
        )
        fans = {Axial(q, r): {*map(Axial, qs, rs)} for q, r, qs, rs in kept}
    finally:
        connection.execute(sa.text("delete from position where id = :id"), {"id": position})
    if fans != {viewer: rival.fan(found, viewer) for viewer in ground.level}:
        raise BenchError(f"numpy sees otherwise than the survey on {name}.")
    surveyed, by_numpy = (min(taken[who]) for who in ("survey", "numpy"))
    return [
        Measure(f"{name}: all that {len(fans):,} hexes see, numpy", by_numpy),
        _ratio(f"{name}: a survey of the same", surveyed, "numpy", surveyed / by_numpy),
    ]
