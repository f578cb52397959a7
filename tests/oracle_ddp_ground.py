"""D-Day at Peleliu read plainly in Python: US control (11.1) and communication of both sides (11.2, 11.3), for comparison with SQL.

A world is a small map by column and row, with what stands on it. Nothing here is shared with the project's code.
"""

from __future__ import annotations

import dataclasses
import random
from collections import deque
from collections.abc import Iterable
from typing import Any

Place = tuple[int, int]
FOOT = ("infantry", "heavy_infantry", "infantry_hq", "engineer")


@dataclasses.dataclass
class World:
    """A map, its positions, and the counters of both sides."""

    columns: int
    rows: int
    terrain: dict[Place, str]
    road: set[Place]
    beaches: set[Place]
    positions: dict[str, dict[str, Any]]
    """By key: hexes, intense, steady, as sets of places."""
    us: list[dict[str, Any]]
    japan: list[dict[str, Any]]
    turn: int

    def places(self) -> list[Place]:
        return [(c, r) for c in range(1, self.columns + 1) for r in range(1, self.rows + 1)]

    def beside(self, place: Place) -> list[Place]:
        """Even columns lie half a hex lower."""
        column, row = place
        lower = column % 2 == 0
        near = [(column, row - 1), (column, row + 1)]
        for other in (column - 1, column + 1):
            near += [(other, row), (other, row + 1)] if lower else [(other, row - 1), (other, row)]
        return [(c, r) for c, r in near if 1 <= c <= self.columns and 1 <= r <= self.rows]


def label(place: Place) -> str:
    return f"{place[0]:02}{place[1]:02}"


def control(world: World) -> dict[str, set[Place]]:
    """11.1, 11.11, 16.0: the hexes of each US unit; who controls none is not there."""
    found: dict[str, set[Place]] = {}
    enemies = {unit["at"] for unit in world.japan}
    for unit in world.us:
        at = unit["at"]
        if at in enemies:
            continue
        stacked = sorted(
            (other["steps"] for other in world.us if other["at"] == at and other["kind"] in FOOT),
            reverse=True,
        )
        wide = (
            unit["kind"] in ("tank", "amphibious_tank")
            or (unit["kind"] in ("infantry", "heavy_infantry") and unit["steps"] >= 3)
            or (unit["kind"] in FOOT and len(stacked) > 1 and sum(stacked[:2]) >= 3)
        )
        found[unit["id"]] = {at, *world.beside(at)} if wide and world.turn != 13 else {at}
    return found


def japanese_paths(world: World, start: Place, own: str) -> set[str]:
    """11.2, 11.21: the other occupied positions that a path from a position hex reaches."""
    ours, theirs = {unit["at"] for unit in world.us}, {unit["at"] for unit in world.japan}
    if start in ours and start not in theirs:
        return set()
    held = {place for hexes in control(world).values() for place in hexes} - theirs

    def closed(place: Place) -> bool:
        ground = world.terrain[place]
        return (
            place in ours
            or place in held
            or ground in ("sea", "shallow")
            or (ground == "swamp" and place not in world.road)
            or place in world.beaches
        )

    reached = _flood(world, start, closed)
    return {
        key
        for key, position in world.positions.items()
        if key != own and any(place in reached and place in theirs for place in position["hexes"])
    }


def us_path(world: World, start: Place) -> bool:
    """11.3, 11.31: whether a landing beach hex is reached, out of every field of an occupied position."""
    theirs = {unit["at"]: unit for unit in world.japan}
    fields: set[Place] = set()
    for position in world.positions.values():
        holders = [theirs[place] for place in position["hexes"] if place in theirs]
        if holders:
            printed = position["intense"] | position["steady"]
            fields |= printed
            if any(unit["tank"] and not unit["disrupted"] for unit in holders):
                fields |= {near for dot in printed for near in world.beside(dot)} - position["hexes"]
    reached = _flood(world, start, lambda place: place in theirs or place in fields)
    return not reached.isdisjoint(world.beaches)


def _flood(world: World, start: Place, closed: Any) -> set[Place]:
    reached, waiting = {start}, deque([start])
    while waiting:
        for place in world.beside(waiting.popleft()):
            if place not in reached and not closed(place):
                reached.add(place)
                waiting.append(place)
    return reached


# Worlds drawn at random.


def drawn(seed: int) -> World:
    dice = random.Random(seed)
    columns, rows = dice.randint(4, 8), dice.randint(4, 8)
    places = [(c, r) for c in range(1, columns + 1) for r in range(1, rows + 1)]
    grounds = ["clear"] * 5 + ["jungle", "swamp", "sea", "coral"]
    terrain = {place: dice.choice(grounds) for place in places}
    world = World(columns, rows, terrain, set(), set(), {}, [], [], dice.choice([5, 5, 5, 13]))
    way = dice.choice(places)
    world.road = {way}
    for _ in range(dice.randint(0, 6)):
        way = dice.choice(world.beside(way))
        world.road.add(way)
    world.beaches = set(dice.sample([place for place in places if place[0] == 1], k=min(2, rows)))
    free = list(places)
    dice.shuffle(free)
    for n in range(dice.randint(2, 6)):
        hexes = {free.pop()}
        if dice.random() < 0.3:
            pair = [place for place in world.beside(next(iter(hexes))) if place in free]
            if pair:
                hexes.add(pair[0])
                free.remove(pair[0])
        dots = dice.sample(places, k=min(len(places), dice.randint(0, 5)))
        world.positions[f"P{n}"] = {
            "hexes": hexes, "intense": set(dots[:2]) - hexes, "steady": set(dots[2:]) - hexes,
        }  # fmt: skip
    _men(world, dice, places)
    return world


def _men(world: World, dice: random.Random, places: list[Place]) -> None:
    n = 0
    for position in world.positions.values():
        for place in sorted(position["hexes"]):
            if dice.random() < 0.7:
                n += 1
                world.japan.append(
                    {
                        "id": f"J{n}",
                        "at": place,
                        "tank": dice.random() < 0.15,
                        "disrupted": dice.random() < 0.3,
                    }
                )
    kinds = [
        "infantry",
        "heavy_infantry",
        "infantry_hq",
        "engineer",
        "tank",
        "artillery",
        "regimental_hq",
        "garrison",
    ]
    for n in range(dice.randint(0, 6)):
        kind = dice.choice(kinds)
        world.us.append({"id": f"U{n}", "at": dice.choice(places), "kind": kind, "steps": dice.randint(1, 4)})


def document(world: World, ask: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The world as a case."""
    chain = _chain(world)
    return {
        "case": "drawn",
        "ruleset": "ddp",
        "conditions": {"turn": world.turn},
        "map": {
            "extent": [label((1, 1)), label((world.columns, world.rows))],
            "fill": {"terrain": "clear"},
            "hexes": {
                label(place): {"terrain": ground} | ({"landing_beach": True} if place in world.beaches else {})
                for place, ground in world.terrain.items()
            },
            "paths": [{"kind": "road", "hexes": [label(place) for place in run]} for run in chain],
            "positions": {
                key: {
                    "hexes": sorted(map(label, position["hexes"])), "color": "red",
                    "intense": sorted(map(label, position["intense"])), "steady": sorted(map(label, position["steady"])),
                }
                for key, position in world.positions.items()
            },
        },
        "units": [
            {"id": unit["id"], "side": "us", "kind": unit["kind"], "steps": unit["steps"], "at": label(unit["at"])}
            for unit in world.us
        ]
        + [
            {"id": unit["id"], "side": "japan", "tank": unit["tank"], "disrupted": unit["disrupted"], "at": label(unit["at"])}
            for unit in world.japan
        ],
        "ask": list(ask),
    }  # fmt: skip


def _chain(world: World) -> list[list[Place]]:
    """The road as pieces of two hexes; a lone hex joins a neighbour, which is then a road hex as well."""
    pieces = [
        [one, two]
        for one in sorted(world.road)
        for two in world.beside(one)
        if two in world.road and one < two
    ]
    for lone in sorted(world.road - {place for piece in pieces for place in piece}):
        pieces.append([lone, world.beside(lone)[0]])
        world.road.add(world.beside(lone)[0])
    return pieces
