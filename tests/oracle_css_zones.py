"""The zones, triggers and traces of css once more, in plain Python: what the SQL is held against.

Written from the rulebook on top of `oracle_css`, without a database. A trigger is found by
setting the mover down in the hex it leaves and asking for every enemy's zone anew.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator

from tests.oracle_css import BARRAGES, Board, Cell, distance, halves, judge

MARKERS = {"leader", "hero", "support_weapon", "truck"}
STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
NO_VEHICLES = {"swamp", "tropical_forest", "mangrove_swamp"}
ROAD_ONLY = {
    "leg": {"ravine"},
    "wheeled": {"ravine", "river", "steep_slope", "ridge"},
    "tracked": {"ravine", "river", "steep_slope", "ridge"},
}


@dataclasses.dataclass(frozen=True)
class Counter:
    """A counter on the map."""

    id: str
    side: str
    cell: Cell
    kind: str = "infantry"
    posture: str = "deployed"
    fire: str | None = "small_arms"
    range: int = 1
    inside: bool = False
    alert: int | None = None

    @property
    def is_unit(self) -> bool:
        return self.kind not in MARKERS


def hushing(gunner: Counter) -> set[str]:
    """Markers that take its fire away; what lies on a hex suppresses nobody inside the cave."""
    return {"concentrated_fire"} if gunner.inside else {"suppressed", "concentrated_fire"}


@dataclasses.dataclass(frozen=True)
class Table:
    """A board with counters on it."""

    board: Board
    counters: tuple[Counter, ...]

    def reading(self, point: str, default: str) -> str:
        return self.board.policy.get(point, default)

    def enemies(self, side: str) -> Iterator[Counter]:
        return (counter for counter in self.counters if counter.side != side)

    def reach(self, gunner: Counter) -> int:
        """How many hexes it fires: 7.2, 8.1, 8.3.6, 8.7, 10.2.1."""
        marked = self.board.marked(gunner.cell)
        if not gunner.is_unit or gunner.fire is None or marked & hushing(gunner):
            return 0
        reach = gunner.range
        if gunner.fire == "indirect":
            if gunner.posture == "deployed" or self.reading("css-47", "a") != "a":
                return 0
            reach = 1
        near = any(
            enemy.is_unit and distance(enemy.cell, gunner.cell) <= 1 for enemy in self.enemies(gunner.side)
        )
        return min(1, reach) if near or marked & BARRAGES else reach

    def covers(self, gunner: Counter, cell: Cell, inside: bool = False) -> bool:
        """Whether it could fire at somebody there: 6.3, 7.2."""
        reach = self.reach(gunner)
        if inside or cell == gunner.cell:
            return reach > 0 and cell == gunner.cell and inside != gunner.inside
        seen = judge(self.board, gunner.cell, cell, gunner.inside).visible
        return distance(cell, gunner.cell) <= reach and seen is True

    def zone(self, gunner: Counter) -> dict[Cell, int]:
        found = {cell: distance(cell, gunner.cell) for cell in self.board.hexes if self.covers(gunner, cell)}
        under = any(
            enemy.inside and enemy.cell == gunner.cell and enemy.is_unit
            for enemy in self.enemies(gunner.side)
        )
        if self.reach(gunner) > 0 and (gunner.inside or under):
            found[gunner.cell] = 1
        return found

    def moved(self, ids: set[str], cell: Cell, inside: bool) -> Table:
        return dataclasses.replace(
            self,
            counters=tuple(
                dataclasses.replace(counter, cell=cell, inside=inside) if counter.id in ids else counter
                for counter in self.counters
            ),
        )

    def triggers(self, mover: str, way: list[Cell], along: set[str]) -> set[tuple[int, str, str]]:
        """Step, enemy and effect, for every enemy whose zone is left: 6.1.3, 8.6, 8.6.2, 12.5."""
        [unit] = [counter for counter in self.counters if counter.id == mover]
        going = {mover, *along}
        inside, found = unit.inside, set()
        for n, (here, there) in enumerate(itertools.pairwise(way), start=1):
            then_inside = inside != (here == there)
            table = self.moved(going, here, inside)
            for enemy in table.enemies(unit.side):
                # who cannot fire has no zone, and is told all the same
                hushed = table.board.marked(enemy.cell) & hushing(enemy)
                heard = table.unmarked(enemy.cell) if hushed else table
                if heard.covers(enemy, here, inside):
                    follows = heard.covers(enemy, there, then_inside)
                    screened = any(
                        friend.cell == here
                        and friend.inside == inside
                        and friend.is_unit
                        and friend.posture == "deployed"
                        for friend in table.counters
                        if friend.side == unit.side and friend.id not in going
                    )
                    silent = bool(hushed) or (inside and then_inside)
                    effect = (
                        "no opportunity fire" if silent
                        else "screened" if screened and not follows
                        else table.answer(unit.side, enemy, here, follows)
                    )  # fmt: skip
                    found.add((n, enemy.id, effect))
            inside = then_inside
        return found

    def unmarked(self, cell: Cell) -> Table:
        markers = dict(self.board.markers)
        markers[cell] = markers[cell] - {"suppressed", "concentrated_fire"}
        return dataclasses.replace(self, board=dataclasses.replace(self.board, markers=markers))

    def answer(self, side: str, enemy: Counter, here: Cell, follows: bool) -> str:
        """Whether an enemy whose zone is left fires, as far as it is not screened."""
        dogs = any(
            counter.alert is not None and (counter.cell, counter.inside) == (enemy.cell, enemy.inside)
            for counter in self.enemies(side)
        )
        night = side == "japan" and self.board.conditions.get("time") == "night"
        stealth = night and "illumination" not in self.board.marked(here)
        wide = self.reading("css-42", "b") == "b"
        free = stealth and (wide or follows)
        spent = "no_opportunity_fire" in self.board.marked(enemy.cell)
        if free and not (wide and dogs):
            return "no opportunity fire"
        if spent and not dogs:
            return "no opportunity fire"
        return "roll" if spent or free else "opportunity fire"

    def trace(
        self, side: str, start: Cell, target: Cell, mobility: str, exempt: set[Cell], roads: set[Cell]
    ) -> int | None:
        """Steps of a shortest trace, or None: 8.5.1, 12.1, 12.2, 13.1; `roads` are doubled cells."""
        shut = {cell for enemy in self.enemies(side) for cell in self.zone(enemy)} - exempt
        shut |= {enemy.cell for enemy in self.enemies(side) if enemy.is_unit and not enemy.inside} - {start}
        shut |= {cell for cell in self.board.hexes if "on_fire" in self.board.marked(cell)} - {start}
        if start in shut:
            return None
        reached, wave, steps = {start}, {start}, 0
        while wave and target not in reached:
            wave = {
                next
                for cell in wave
                for next in self._enterable(cell, mobility, roads)
                if next not in reached and next not in shut
            }
            reached |= wave
            steps += 1
        return steps if target in reached else None

    def _enterable(self, cell: Cell, mobility: str, roads: set[Cell]) -> Iterator[Cell]:
        for dq, dr in STEPS:
            there, side = (cell[0] + dq, cell[1] + dr), (2 * cell[0] + dq, 2 * cell[1] + dr)
            assert set(halves(side)) == {cell, there}
            if there not in self.board.hexes or "cliff" in self.board.features(side):
                continue
            ground = self.board.hexes[there]
            burnt = "fire_cleared" in self.board.marked(there)
            wild = ground.terrain in NO_VEHICLES and not ground.cave and not burnt
            if side in roads or not (
                self.board.features(side) & ROAD_ONLY[mobility] or (wild and mobility != "leg")
            ):
                yield there
