"""Fire and melee of ccp as a plain reading of its rules, to hold against the SQL: no table of ours is asked.

Sight is the one thing not known here: a function tells whether a unit sees a hex, and how hindered.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from tests.oracle_ccp_moves import COVER, neighbours

Counter = dict[str, Any]
WATER = ("stream", "swamp", "water_barrier")
SHELTER = {"bunker": (6, 7), "pillbox": (5, 6), "trench": (4, 5), "foxholes": (3, 4)}
"""F101 to F106: Cover against fire, and against what comes from above."""
FORTIFICATIONS = (*SHELTER, "cave", "mines", "wire")
FIGURES = {"squad": 4, "team": 2}
WORTH = {"squad": 2, "team": 1, "scout": 1, "sogeki_hei": 1, "hero": 0}


def apart(one: str, two: str) -> int:
    """Hexes from one to another, counted ring by ring."""
    ring, reached, steps = {one}, {one}, 0
    while two not in reached:
        ring = {near for label in ring for near in neighbours(label)} - reached
        reached |= ring
        steps += 1
    return steps


@dataclasses.dataclass
class Piece:
    """What fires: a unit, or what it carries."""

    name: str
    unit: Counter
    weapon: Counter | None
    fp: int
    reach: tuple[int, int]
    ordnance: bool


@dataclasses.dataclass
class Field:
    """A position as the rules see it."""

    terrain: dict[str, str]
    level: dict[str, int]
    markers: dict[str, set[str]]
    units: list[Counter]
    posture: dict[str, str]
    sight: Callable[[str, str], tuple[bool, int]]

    def has(self, label: str, *kinds: str) -> bool:
        return bool(self.markers.get(label, set()) & set(kinds))

    def unit(self, name: str) -> Counter:
        return next(unit for unit in self.units if unit["id"] == name)

    def here(self, label: str, side: str | None = None) -> list[Counter]:
        return [unit for unit in self.units if unit["at"] == label and side in (None, unit["side"])]

    def is_melee(self, label: str) -> bool:
        return len({unit["side"] for unit in self.here(label)}) == 2

    def command(self, unit: Counter) -> int:
        """3.3.1.2: unbroken leaders help squads and teams in their hex."""
        if unit["kind"] not in FIGURES:
            return 0
        leaders = self.here(unit["at"], unit["side"])
        return sum(one.get("command", 0) for one in leaders if not one.get("broken"))

    def change(self, unit: Counter) -> int:
        """What is added to FP and range of a unit."""
        return (
            self.command(unit)
            + bool(unit.get("veteran"))
            - bool(unit.get("suppressed"))
            - self.has(unit["at"], "wire")
        )

    def piece(self, name: str) -> Piece:
        if not name.endswith(":weapon"):
            unit = self.unit(name)
            change = self.change(unit)
            return Piece(
                name,
                unit,
                None,
                unit["fp"] + change,
                (1, unit["range"] + change),
                unit["kind"] == "sogeki_hei",
            )
        unit = self.unit(name.removesuffix(":weapon"))
        weapon = unit["weapon"]
        ordnance = bool(weapon.get("ordnance") or weapon.get("mortar"))
        led = 0 if ordnance else self.command(unit)
        low, high = weapon["range"] if isinstance(weapon["range"], list) else (1, weapon["range"])
        return Piece(name, unit, weapon, weapon["fp"] + led, (low, high + led), ordnance)

    def may_fire(self, piece: Piece, at: str) -> bool:
        """One piece for itself: 19.1, 3.2.3, 4.2.2, 5.4, T96, F107.3, range and sight."""
        unit = piece.unit
        if self.is_melee(unit["at"]):
            return False
        if piece.weapon is not None and (
            unit.get("broken")
            or unit.get("suppressed")
            or piece.weapon.get("broken")
            or self.terrain[unit["at"]] in WATER
            or self.has(unit["at"], "wire")
        ):
            return False
        away = apart(unit["at"], at)
        return piece.reach[0] <= away <= piece.reach[1] and self.sight(unit["id"], at)[0]

    def action(self, name: str, pieces: Sequence[Piece], at: str) -> int | None:
        """What an action adds to the FP; None where it cannot be played."""
        side = pieces[0].unit["side"]
        weapons = [piece.weapon for piece in pieces if piece.weapon]
        moving = any(unit.get("activated") == "move" for unit in self.here(at))
        match name:
            case "bore_sighting":
                heavy = any(weapon.get("printed_fp", weapon["fp"]) >= 5 for weapon in weapons)
                return 2 if self.posture[side] == "defender" and heavy else None
            case "crossfire":
                return 2 if moving else None
            case "enfilade":
                return len(pieces) - 1 if len(pieces) > 1 else None
            case "hand_grenades":
                return 2 if any(apart(piece.unit["at"], at) == 1 for piece in pieces) else None
            case "marksmanship":
                return (
                    2
                    if any(piece.weapon is None and piece.unit["kind"] in FIGURES for piece in pieces)
                    else None
                )
            case "sustained_fire":
                return 2 if any(one.get("machine_gun") or one.get("mortar") for one in weapons) else None
        raise AssertionError(name)

    def is_chain(self, pieces: Sequence[Piece]) -> bool:
        """O27.3.1: from one of the hexes all others are reached through neighbours among them."""
        hexes = {piece.unit["at"] for piece in pieces}
        found = {min(hexes)}
        while more := {near for label in found for near in neighbours(label) if near in hexes} - found:
            found |= more
        return found == hexes

    def fire(self, by: Sequence[str], at: str, actions: Sequence[str]) -> dict[str, Any]:
        """Whether the shot may be made, with how much, and what a Targeting roll must be."""
        pieces = [self.piece(name) for name in by]
        side = pieces[0].unit["side"]
        foes = [unit for unit in self.here(at) if unit["side"] != side]
        ordnance = any(piece.ordnance for piece in pieces)
        hindrance = max(self.sight(piece.unit["id"], at)[1] for piece in pieces)
        added = [self.action(name, pieces, at) for name in actions]
        legal = (
            bool(foes)
            and not self.is_melee(at)
            and all(self.may_fire(piece, at) for piece in pieces)
            and not (ordnance and len(pieces) > 1)
            and self.is_chain(pieces)
            and not any(
                self.has(one.unit["at"], "wire") and one.unit["at"] != two.unit["at"]
                for one in pieces
                for two in pieces
            )
            and None not in added
        )
        if not legal:
            return {"allowed": False}
        heights = [self.level[piece.unit["at"]] - self.level[at] for piece in pieces]
        value = max(piece.fp for piece in pieces) + len(pieces) - 1
        value += any(height > 0 for height in heights) - any(height < 0 for height in heights)
        value += sum(filter(None, added)) - (0 if ordnance else hindrance)
        if value < 1:
            return {"allowed": False}
        told = {"allowed": True, "value": value, "hindrance": hindrance}
        if ordnance:
            told["at_least"] = apart(pieces[0].unit["at"], at) + hindrance + 1
        return told

    def to_total(self, pieces: Sequence[Piece], at: str) -> int:
        """T82, T91, T97: what terrain does to the Attack Total of ordnance weapons."""
        weapon = pieces[0].weapon
        if weapon is None or not pieces[0].ordnance:
            return 0
        if self.terrain[at] == "beach":
            return -2
        return 2 if weapon.get("mortar") and self.terrain[at] in ("jungle", "swamp") else 0

    def cover(self, label: str, source: str) -> int:
        """T81.3, 5.6, 15.2.2."""
        if source in ("flamethrower", "mines"):
            return 0
        above = source == "mortar"
        covers = [
            COVER[self.terrain[label]],
            *(SHELTER[kind][above] for kind in self.markers.get(label, ()) if kind in SHELTER),
        ]
        figures = sum(FIGURES.get(unit["kind"], 1) for unit in self.here(label))
        return max(covers) - max(0, figures - 7)

    def morale(self, unit: Counter, source: str) -> int:
        return int(unit["morale"]) + self.change(unit) + self.cover(unit["at"], source)

    def defend(self, unit: Counter, source: str, total: int, roll: int, moving: bool) -> dict[str, Any]:
        """One Defense roll, and what it does to the unit: O27.3.4, 3.2."""
        cover, morale = self.cover(unit["at"], source), self.morale(unit, source)
        defense = morale + roll
        if 2 * defense <= total:
            result = "eliminated"
        elif defense < total or (defense == total and moving):
            result = "breaks"
        else:
            result = "suppressed" if defense == total else "none"
        if result == "eliminated" or (result == "breaks" and unit.get("broken")):
            self.units.remove(unit)
        elif result == "breaks":
            unit |= {"broken": True, **unit["reverse"]}
        elif result == "suppressed":
            unit["suppressed"] = True
        return {"cover": cover, "morale": morale, "roll": roll, "total": defense, "result": result}

    def attack(
        self, by: Sequence[str], at: str, value: int, dice: Sequence[tuple[int, int]], order: Sequence[str]
    ) -> dict[str, Any]:
        """The Attack roll and all Defense rolls, on a copy of the field."""
        field = dataclasses.replace(self, units=copy.deepcopy(self.units))
        pieces = [field.piece(name) for name in by]
        (white, coloured), *rest = dice
        roll = (
            white * coloured
            if pieces[0].unit["kind"] == "sogeki_hei" and pieces[0].weapon is None
            else white + coloured
        )
        total = value + roll + field.to_total(pieces, at)
        weapon = pieces[0].weapon or {}
        source = "mortar" if weapon.get("mortar") else "fire"
        if any((piece.weapon or {}).get("flamethrower") for piece in pieces):
            source = "flamethrower"
        told = {}
        for name, fall in zip(order, rest, strict=False):
            unit = field.unit(name)
            told[name] = field.defend(unit, source, total, sum(fall), unit.get("activated") == "move")
        lost = {unit["id"] for unit in self.units} - {unit["id"] for unit in field.units}
        return {"total": total, "defense": told, "lost": sorted(lost)}

    def mined(
        self, names: Sequence[str], strength: int, dice: Sequence[tuple[int, int]], moving: bool
    ) -> dict[str, Any]:
        """F104.2: one roll for those together, a Defense roll each, with Cover 0."""
        field = dataclasses.replace(self, units=copy.deepcopy(self.units))
        total = strength + sum(dice[0])
        told = {
            name: field.defend(field.unit(name), "mines", total, sum(fall), moving)
            for name, fall in zip(names, dice[1:], strict=True)
        }
        return {"total": total, "defense": told}

    def melee(self, label: str) -> dict[str, int]:
        """19.2.1: the current FP of units, and a point for each box; weapons do not count."""
        return {
            side: sum(
                unit["fp"] + self.change(unit) + bool(unit.get("boxed_fp")) for unit in self.here(label, side)
            )
            for side in ("japan", "allied")
        }

    def worth(self, unit: Counter) -> int:
        """14.1: what the opponent is awarded for a unit."""
        return 1 + int(unit["command"]) if unit["kind"] == "leader" else WORTH[unit["kind"]]
