"""Japanese fire by brute force: who is eligible by the plain words of 6.3, and every way in which a card can hit units.

Nothing here is shared with the code that it judges: distances are counted over columns and rows, eligibility is
written out anew, and assignments are tried one and all.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

Tree = dict[str, Any]
ORDER = ("intense", "steady", "leader")


@dataclasses.dataclass(frozen=True)
class Target:
    """A unit that a position may hit, and how early."""

    unit: str
    rank: tuple[int, int, int]
    leader: bool


@dataclasses.dataclass(frozen=True)
class Firing:
    """A position that fires: its limit and its targets."""

    place: str
    limit: int
    targets: tuple[Target, ...]

    def ranks(self, hits: Sequence[str]) -> list[tuple[int, int, int]]:
        return sorted(target.rank for target in self.targets if target.unit in hits)


def distance(one: str, other: str) -> int:
    """Hexes from one to another; even columns lie half a hex lower."""
    (c1, r1), (c2, r2) = ((int(label[:2]), int(label[2:])) for label in (one, other))
    across = abs(c1 - c2)
    down = abs((2 * r1 + (c1 % 2 == 0)) - (2 * r2 + (c2 % 2 == 0)))
    return across + max(0, (down - across) // 2)


def firing(case: Tree, card: Tree, done: Sequence[str] = ()) -> list[Firing]:
    """The positions that fire by a plain card and have not yet, in the order in which they are checked."""
    marks = {text.split()[0]: text.split()[1:] for text in card["colors"]}
    places = case["map"]["positions"]
    checked = [
        (list(marks).index(place["color"]), min(label[:2] for label in place["hexes"]), code)
        for code, place in places.items()
        if place["color"] in marks and code not in done
    ]
    found = []
    for _, _, code in sorted(checked):
        place = places[code]
        awake = [
            unit for unit in case["units"]
            if unit["side"] == "japan" and unit["at"] in place["hexes"] and not unit.get("disrupted")
        ]  # fmt: skip
        if awake:
            limit = len(awake) + sum("depth" in unit for unit in awake)
            targets = tuple(_targets(case, place, marks[place["color"]], card["symbol"], awake))
            found.append(Firing(code, limit, targets))
    return found


def _targets(case: Tree, place: Tree, marks: list[str], symbol: str, awake: list[Tree]) -> Iterator[Target]:
    marines = [unit for unit in case["units"] if unit["side"] == "us"]
    for unit in marines:
        if unit.get("stepped"):
            continue
        steps = sum(other["steps"] for other in marines if other["at"] == unit["at"])
        near = min(distance(unit["at"], other["at"]) for other in awake)
        leader = unit["kind"] == "infantry_hq"
        armored = unit["kind"] == "tank"
        if unit["at"] in place["intense"]:
            fire = "intense"
        elif unit["at"] in place["steady"] and (leader or unit["symbol"] == symbol or steps >= 7):
            fire = "steady"
        else:
            continue
        if (leader and "star" not in marks) or (fire == "steady" and armored and "armor" not in marks):
            continue
        fire = "leader" if leader else fire
        yield Target(unit["id"], (ORDER.index(fire), -unit["steps"], near), leader)


def best(positions: Sequence[Firing], gone: frozenset[str]) -> tuple[int, list[tuple[int, int, int]]]:
    """The most units that these positions can hit, and the ranks that the first may then hit at best; leaders apart."""
    most, ranks = -1, None
    for hits in _ways(positions, gone):
        total = sum(map(len, hits))
        own = positions[0].ranks(hits[0])
        if total > most or (total == most and _better(own, ranks or [])):
            most, ranks = total, own
    return most, ranks or []


def _better(own: list[tuple[int, int, int]], other: list[tuple[int, int, int]]) -> bool:
    """Whether one set of ranks comes before another: the earlier ranks first, and more of them before fewer."""
    for one, two in zip(own, other, strict=False):
        if one != two:
            return one < two
    return len(own) > len(other)


def _ways(positions: Sequence[Firing], gone: frozenset[str]) -> Iterator[list[tuple[str, ...]]]:
    """Every way in which each position hits some of its targets, no unit twice."""
    if not positions:
        yield []
        return
    first, *rest = positions
    able = [target.unit for target in first.targets if not target.leader and target.unit not in gone]
    for count in range(min(first.limit, len(able)) + 1):
        for hits in itertools.combinations(able, count):
            for others in _ways(rest, gone | {*hits}):
                yield [hits, *others]


def leaders_hit(position: Firing) -> int:
    """10.41: leaders take what the other eligible units leave of the limit."""
    others = [target for target in position.targets if not target.leader]
    leaders = [target for target in position.targets if target.leader]
    return min(len(leaders), max(0, position.limit - len(others)))


def struck(case: Tree, hits: Sequence[str]) -> Tree:
    """The case after these units have lost a step; who has none left is gone."""
    units = [
        unit | {"steps": unit["steps"] - 1, "stepped": True} if unit["id"] in hits else unit
        for unit in case["units"]
    ]
    return case | {"units": [unit for unit in units if unit.get("steps") != 0]}
