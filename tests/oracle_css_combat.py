"""Fire and assault in css by hand: what the rulebook adds, counted without a database (8.3, 9.5)."""

from __future__ import annotations

import dataclasses
import random
from typing import Any

TERRAIN = {
    "clear": 0, "beach": 0, "rocky": -2, "brush": -1, "swamp": 2, "runway": 1, "town": -2, "buildings": -2,
    "rice_paddy": -1, "palm_forest": -1, "tropical_forest": -2, "mangrove_swamp": -3,
}  # fmt: skip
WORKS = {None: 0, "foxhole": -1, "trench": -2}
FIRE_UNDER_DG = (0, -1, -1, -2, -3)
QUALITY_UNDER_DG = (0, 0, -1, -1, -2)
ODDS = {"1-3": -5, "1-2": -4, "1-1": -3, "3-2": -2, "2-1": -1, "3-1": 0, "4-1": 1, "5-1": 2}


@dataclasses.dataclass
class Duel:
    """Americans in 23.79 fire at, or assault, Japanese in 23.78."""

    terrain: str
    work: str | None
    side_feature: str | None
    firers: int
    fire: int
    dg: int
    pinned: bool
    weapon: int | None
    leader: int
    concentrated: bool
    weather: str
    time: str
    defense: int
    target: str
    defenders: int
    target_dg: int
    quality: int
    target_quality: int
    target_leader: int


def drawn(chance: random.Random) -> Duel:
    """A position at random."""
    return Duel(
        terrain=chance.choice(sorted(TERRAIN)),
        work=chance.choice([None, None, "foxhole", "trench"]),
        side_feature=chance.choice([None, None, "ridge", "river", "slope", "stream"]),
        firers=chance.randint(1, 3),
        fire=chance.randint(0, 8),
        dg=chance.randint(0, 3),
        pinned=chance.random() < 0.2,
        weapon=chance.choice([None, 1, 2]),
        leader=chance.randint(0, 2),
        concentrated=chance.random() < 0.3,
        weather=chance.choice(["clear", "clear", "rain"]),
        time=chance.choice(["day", "day", "night"]),
        defense=chance.randint(-3, 1),
        target=chance.choice(["soft", "soft", "soft", "tank"]),
        defenders=chance.randint(1, 3),
        target_dg=chance.randint(0, 4),
        quality=chance.randint(3, 7),
        target_quality=chance.randint(2, 6),
        target_leader=chance.randint(0, 2),
    )


def fire_value(duel: Duel) -> int:
    """8.3, item by item; a tank among the targets is one of several, the first of which is fired at."""
    value = duel.fire + duel.defense + TERRAIN[duel.terrain] + WORKS[duel.work]
    value += duel.leader + (duel.weapon or 0)
    value += FIRE_UNDER_DG[duel.dg] - (3 if duel.pinned else 0)
    value += duel.firers - 1
    value += 1 if duel.concentrated else 0
    value -= 2 if duel.target == "tank" else 0
    value -= 1 if duel.side_feature == "ridge" else 0
    value -= (1 if duel.weather == "rain" else 0) + (2 if duel.time == "night" else 0)
    return value


def hits(value: int) -> int:
    """Faces of ten on which it hits: a 0 always, a 9 never."""
    return len([die for die in range(9) if die == 0 or die <= value])


def ratio(attackers: int, defenders: int) -> str:
    """9.5, the printed columns."""
    for times in (5, 4, 3, 2):
        if attackers >= times * defenders:
            return f"{times}-1"
    if attackers / defenders >= 1.5:
        return "3-2"
    if attackers >= defenders:
        return "1-1"
    return "1-2" if attackers / defenders >= 0.5 else "1-3"


def attacker(duel: Duel) -> int:
    """9.5: ratio, the marker's 1, Disorganization, leader, Troop Quality (6.2.1)."""
    quality = duel.quality - (2 if duel.terrain == "tropical_forest" else 0)
    return ODDS[ratio(duel.firers, duel.defenders)] + 1 + QUALITY_UNDER_DG[duel.dg] + duel.leader + quality


def defender(duel: Duel) -> int:
    """9.5: what protects him is added, a Trench twice (css-4), tanks, Disorganization, leader, Troop Quality."""
    total = -TERRAIN[duel.terrain] - WORKS[duel.work] - duel.defense
    total += 1 if duel.work == "trench" else 0
    total += {"river": 2, "slope": 1, "ridge": 1}.get(duel.side_feature or "", 0)
    if duel.target == "tank":
        total += -2 if duel.defenders == 1 else 2
    return total + QUALITY_UNDER_DG[duel.target_dg] + duel.target_leader + duel.target_quality


def position(duel: Duel, ask: dict[str, Any]) -> dict[str, Any]:
    """The duel as a case with a question."""
    us = {"side": "us", "at": "23.79", "division": "3 MarDiv", "formation": "3 RCT"}
    them = {"side": "japan", "at": "23.78", "division": "Navy", "service": "navy"}
    small = {"type": "small_arms"}
    units: list[dict[str, Any]] = [
        {**us, "id": f"U{n}", "posture": "deployed", "mobility": "leg", "fire": {"value": duel.fire, **small}}
        for n in range(duel.firers)
    ]
    units += [
        {
            **them, "id": f"J{n}", "posture": "deployed", "mobility": "leg", "defense": duel.defense,
            "target": duel.target if n == 0 else "soft", "fire": {"value": 4, **small},
        }
        for n in range(duel.defenders)
    ]  # fmt: skip
    if duel.weapon is not None:
        units.append({**us, "id": "W", "kind": "support_weapon", "fire": {"value": duel.weapon, **small}})
    units.append({**us, "id": "L", "kind": "leader", "bonus": {"fire": duel.leader, "tq": duel.leader}})
    units.append({**them, "id": "JL", "kind": "leader", "bonus": {"fire": 0, "tq": duel.target_leader}})
    markers: list[dict[str, Any]] = [{"kind": "prepared_assault", "side": "us", "at": "23.78"}]
    if duel.work:
        markers.append({"kind": duel.work, "at": "23.78"})
    for value, at in ((duel.dg, "23.79"), (duel.target_dg, "23.78")):
        if value:
            markers.append({"kind": "dg", "value": value, "at": at})
    if duel.pinned:
        markers.append({"kind": "pinned", "at": "23.79"})
    return {
        "case": "duel", "ruleset": "css", "conditions": {"weather": duel.weather, "time": duel.time},
        "map": {
            "extent": ["22.77", "24.81"], "fill": {"terrain": "clear", "level": 1},
            "hexes": {"23.78": {"terrain": duel.terrain}},
            "hexsides": {"23.78|23.79": [duel.side_feature]} if duel.side_feature else {},
        },
        "units": units, "markers": markers,
        "tracks": {"divisions": {
            "3 MarDiv": {"side": "us", "troop_quality": duel.quality},
            "Navy": {"side": "japan", "troop_quality": duel.target_quality},
        }},
        "ask": [ask],
    }  # fmt: skip
