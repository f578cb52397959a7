"""Movement of ccp as a plain reading of its rules, to hold against the SQL: no table of ours is asked.

Costs are halves of a point. Sight is the one thing not known here: a function tells who sees what.
"""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Callable, Iterator
from typing import Any

Counter = dict[str, Any]

ENTRY = {
    "open_ground": 2, "palm": 2, "beach": 3, "building": 4, "bush": 4, "grass": 4, "gully": 4, "hut": 4,
    "jungle": 6, "stream": 6, "swamp": 8,
}  # fmt: skip
"""T82 to T98, in halves; bridge (T84), blaze (T83) and water barrier (T99) have rules of their own."""
COVER = {
    "open_ground": 0, "palm": 1, "beach": 0, "building": 3, "bush": 2, "grass": 0, "gully": 1, "hut": 2,
    "jungle": 2, "stream": -1, "swamp": 2, "bridge": 1, "water_barrier": -2,
}  # fmt: skip
SHELTER = {"bunker": 6, "pillbox": 5, "trench": 4, "foxholes": 3}


def neighbours(label: str) -> Iterator[str]:
    """The six hexes around; columns B, D, … stand half a hex lower."""
    column, row = ord(label[0]) - ord("A"), int(label[1:])
    low = column % 2
    for dc, dr in ((0, -1), (0, 1), (-1, low - 1), (-1, low), (1, low - 1), (1, low)):
        if row + dr >= 1 and column + dc >= 0:
            yield f"{chr(ord('A') + column + dc)}{row + dr}"


@dataclasses.dataclass
class Board:
    """A position as the rules see it."""

    terrain: dict[str, str]
    level: dict[str, int]
    beneath: dict[str, str]
    """What lies under a bridge."""
    paths: dict[frozenset[str], set[str]]
    markers: dict[str, set[str]]
    units: list[Counter]
    night: bool
    seen: Callable[[str], bool]
    """Whether an enemy of those who move sees a hex."""

    def has(self, label: str, *kinds: str) -> bool:
        return bool(self.markers.get(label, set()) & set(kinds))

    def entrenched(self, start: str, goal: str) -> bool:
        """Whether a step goes through a trench (F106.2)."""
        strong = ("bunker", "pillbox")
        return (self.has(start, "trench") and self.has(goal, "trench", *strong)) or (
            self.has(start, *strong) and self.has(goal, "trench")
        )

    def price(self, start: str, goal: str) -> int | None:
        """What a step costs, by O29.1, 18.2, T84, T89.1, T94, T98 and F106.2; None: nobody may."""
        if self.terrain[goal] == "blaze" or self.has(goal, "blaze"):
            return None
        if self.entrenched(start, goal):
            return 2
        climb = 2 * max(0, self.level[goal] - self.level[start])
        along = self.paths.get(frozenset((start, goal)), set())
        if "road" in along:
            return (2 if self.seen(goal) else 1) + climb
        if "trail" in along:
            return 2 + climb
        dark = 2 if self.night else 0
        if self.terrain[goal] == "bridge":
            if self.terrain[start] == "bridge":
                return 2 + dark + climb
            return ENTRY[self.beneath[goal]] + dark + climb
        return ENTRY[self.terrain[goal]] + dark + climb

    def leaders(self, label: str, side: str, party: set[str]) -> int:
        """Command of the leaders who stay in a hex."""
        return sum(
            unit["command"]
            for unit in self.units
            if unit["at"] == label
            and unit["side"] == side
            and unit["kind"] in ("leader", "hero")
            and unit["id"] not in party
            and not unit.get("broken")
        )

    def allowance(self, label: str, party: list[Counter]) -> int:
        """What those who move have in all, in this hex: the slowest counts."""
        names = {unit["id"] for unit in party}
        carried = sum(unit.get("command", 0) for unit in party if not unit.get("broken"))
        least = 99
        for unit in party:
            points = unit["movement"] + bool(unit.get("veteran")) - bool(unit.get("suppressed"))
            points += unit.get("weapon", {}).get("movement", 0)
            if unit["kind"] in ("squad", "team"):
                points += carried + self.leaders(label, unit["side"], names)
            least = min(least, points)
        return max(0, 2 * least)

    def reach(self, party: list[Counter]) -> dict[str, int]:
        """Every hex that a Move can end in, with its least cost: Dijkstra's search."""
        origin, side = party[0]["at"], party[0]["side"]
        enemies = {unit["at"] for unit in self.units if unit["side"] != side}
        best = {origin: 0}
        drowned: dict[str, int] = {}
        queue = [(0, origin)]
        while queue:
            spent, here = heapq.heappop(queue)
            if spent > best[here] or (here != origin and self._over(here, origin)):
                continue
            for goal in neighbours(here):
                if goal not in self.terrain or goal in enemies:
                    continue
                has = self.allowance(here, party)
                if self._drowns(here, goal):
                    if here == origin and has > 0 and not self.has(goal, "blaze"):
                        drowned[goal] = has
                    continue
                price = self.price(here, goal)
                if price is None or spent + price > has:
                    continue
                if spent + price < best.get(goal, 10**6):
                    best[goal] = spent + price
                    heapq.heappush(queue, (spent + price, goal))
        return best | {label: min(cost, best.get(label, cost)) for label, cost in drowned.items()}

    def _drowns(self, start: str, goal: str) -> bool:
        """Whether a step is into a water barrier, which a bridge spares those who come along it (T84, T99)."""
        if self.terrain[goal] != "bridge":
            return self.terrain[goal] == "water_barrier"
        along = self.terrain[start] == "bridge" or frozenset((start, goal)) in self.paths
        return self.beneath[goal] == "water_barrier" and not along and not self.entrenched(start, goal)

    def _over(self, here: str, origin: str) -> bool:
        """Whether a Move that has come here is over (F107.2)."""
        return self.has(here, "wire") or self.has(origin, "wire")

    def arms(self, unit: Counter) -> list[tuple[int, int]]:
        """How far and how strong a unit and its weapon fire, ordnance left out (A41.3)."""
        side, at = unit["side"], unit["at"]
        if {other["side"] for other in self.units if other["at"] == at} != {side} or self.has(at, "melee"):
            return []
        led = self.leaders(at, side, set()) if unit["kind"] in ("squad", "team") else 0
        change = led + bool(unit.get("veteran")) - bool(unit.get("suppressed")) - self.has(at, "wire")
        found = []
        if unit["kind"] != "sogeki_hei":
            found.append((unit["range"] + change, unit["fp"] + change))
        weapon = unit.get("weapon")
        if (
            weapon
            and not weapon.get("ordnance")
            and not unit.get("broken")
            and not unit.get("suppressed")
            and not self.has(at, "wire")
            and self.terrain[at] not in ("stream", "swamp", "water_barrier")
        ):
            found.append((weapon["range"] + led, weapon["fp"] + led))
        return found

    def stack(self, label: str) -> tuple[int, int]:
        """Soldier figures in a hex, and its Cover (15.2, T81.3)."""
        figures = sum(
            {"squad": 4, "team": 2}.get(unit["kind"], 1) for unit in self.units if unit["at"] == label
        )
        cover = max(
            [
                COVER[self.terrain[label]],
                *(SHELTER[kind] for kind in self.markers.get(label, ()) if kind in SHELTER),
            ]
        )
        return figures, cover - max(0, figures - 7)
