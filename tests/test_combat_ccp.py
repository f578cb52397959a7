"""Fire and melee of ccp: what SQL rules on random positions is what a plain reading of the rules finds."""

from __future__ import annotations

import functools
import json
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from app.play.ccp.roll import TRIGGERS
from app.play.effects import inverse
from app.play.procedures import Choose, Draw, ProcedureKind, Roll, apply, tried
from app.referee.cases import rule_text
from app.referee.questions import kinds_of
from app.referee.rulings import Asked
from tests.oracle_ccp_fire import Counter, Field
from tests.test_movement_ccp import LABELS, sees, stored
from tests.test_play import digest

POSITIONS = int(os.environ.get("SIGHTLINE_FUZZ", "0")) or 8
"""Positions of each kind: a dozen attacks in each; more with SIGHTLINE_FUZZ."""
GROUND = ["open_ground"] * 6 + [
    "palm",
    "beach",
    "building",
    "bush",
    "grass",
    "gully",
    "hut",
    "jungle",
    "stream",
    "swamp",
]
FORTS = ["wire", "wire", "trench", "pillbox", "bunker", "foxholes", "mines"]
ACTIONS = ("bore_sighting", "crossfire", "enfilade", "hand_grenades", "marksmanship", "sustained_fire")
WEAPONS: list[Counter] = [
    {"name": "MG", "machine_gun": True},
    {"name": "Mortar", "mortar": True, "ordnance": True},
    {"name": "Gun", "ordnance": True},
    {"name": "Flamethrower", "flamethrower": True},
]
Document = dict[str, Any]


def pair(rng: random.Random) -> list[int]:
    white = rng.randint(1, 6)
    # doubles bring more than this test knows
    return [white, rng.choice([face for face in range(1, 7) if face != white])]


def counter(rng: random.Random, name: str, side: str, at: str) -> Counter:
    kind = rng.choice(
        ["squad", "squad", "team", "leader", "hero", "scout"] + ["sogeki_hei"] * (side == "japan")
    )
    unit: Counter = {
        "id": name, "side": side, "kind": kind, "at": at, "movement": 4, "fp": rng.randint(1, 7), "range": rng.randint(1, 6),
        "morale": rng.randint(5, 9), "boxed_fp": rng.random() < 0.3,
        "reverse": {"fp": rng.randint(0, 3), "range": rng.randint(1, 3), "movement": 3, "morale": rng.randint(4, 7)},
    }  # fmt: skip
    if kind in ("leader", "hero"):
        unit["command"] = rng.randint(0, 2)
    for flag in ("veteran", "suppressed", "broken"):
        unit[flag] = rng.random() < 0.2
    if rng.random() < 0.2:
        unit["activated"] = "move"
    if kind in ("squad", "team") and rng.random() < 0.6:
        weapon = {**rng.choice(WEAPONS), "fp": rng.randint(2, 8), "broken": rng.random() < 0.1}
        weapon["range"] = [2, 8] if weapon.get("mortar") else rng.randint(1, 6)
        unit["weapon"] = weapon
    return unit


def scene(rng: random.Random, shared: int = 0) -> Document:
    """A map of 36 hexes, counters of both sides close together, and some hexes that both sides share."""
    hexes = {
        label: {"terrain": rng.choice(GROUND), "level": rng.choice([0, 0, 0, 0, 1, 2])} for label in LABELS
    }
    land = [label for label in LABELS if hexes[label]["terrain"] not in ("stream", "swamp")]
    places = rng.sample(LABELS, 8)
    sides = {label: ("japan", "allied")[n % 2] for n, label in enumerate(places)}
    units = [
        counter(rng, f"{sides[label]} {n}", sides[label], label)
        for n, label in enumerate([*places[:2], *(rng.choice(places) for _ in range(12))])
    ]
    for n, label in enumerate(places[:shared]):
        units += [counter(rng, f"{side} in {n}", side, label) for side in ("japan", "allied")]
    return {
        "case": "test", "ruleset": "ccp",
        "conditions": {"night": rng.random() < 0.2, "vp": 0, "posture": {"japan": "defender", "allied": "attacker"}},
        "map": {"extent": ["A1", "F6"], "fill": {"terrain": "open_ground"}, "hexes": hexes},
        "units": units,
        "markers": [{"kind": rng.choice(FORTS), "at": label} for label in rng.sample(land, 8)]
        + [{"kind": "smoke", "value": rng.randint(1, 4), "at": label} for label in rng.sample(land, 2)],
    }  # fmt: skip


def field_of(connection: Connection, document: Document) -> Field:
    position = stored(connection, document)

    @functools.cache
    def sight(unit: str, label: str) -> tuple[bool, int]:
        at = next(one["at"] for one in document["units"] if one["id"] == unit)
        hindrance = None if at == label else sees(connection, position, unit, label)
        return hindrance is not None, hindrance or 0

    marked: dict[str, set[str]] = {}
    for marker in document["markers"]:
        marked.setdefault(marker["at"], set()).add(marker["kind"])
    hexes = document["map"]["hexes"]
    return Field(
        {label: ground["terrain"] for label, ground in hexes.items()},
        {label: ground["level"] for label, ground in hexes.items()},
        marked, document["units"], document["conditions"]["posture"], sight,
    )  # fmt: skip


def pieces_of(rng: random.Random, units: list[Counter], side: str) -> list[str]:
    """Some pieces of a side that stand near each other, as somebody might fire them."""
    first = rng.choice([unit for unit in units if unit["side"] == side])
    able = [unit for unit in units if unit["side"] == side and unit.get("activated") != "move"]
    names = [
        name
        for unit in able
        for name in (unit["id"], *([f"{unit['id']}:weapon"] if "weapon" in unit else []))
    ]
    together = [name for name in names if name.removesuffix(":weapon") == first["id"]] or names[:1]
    return rng.sample(names, min(len(names), rng.randint(1, 3))) if rng.random() < 0.5 else together


def shots(rng: random.Random, field: Field) -> Iterator[tuple[Document, dict[str, Any]]]:
    """Fire attacks with all their dice, and what the rules say comes of them."""
    for _ in range(14):
        side = rng.choice(sorted({unit["side"] for unit in field.units}))
        foes = [unit for unit in field.units if unit["side"] != side]
        by = pieces_of(rng, field.units, side)
        if not foes or not by:
            continue
        at = rng.choice(foes)["at"]
        actions = [rng.choice(ACTIONS)] if rng.random() < 0.3 else []
        wanted = field.fire(by, at, actions)
        asked: Document = {"by": by, "at": at, "actions": actions}
        if wanted["allowed"]:
            order = [unit["id"] for unit in field.here(at)]
            sniped = (
                by[0] == field.piece(by[0]).unit["id"] and field.piece(by[0]).unit["kind"] == "sogeki_hei"
            )
            if sniped:
                unbroken = [unit["id"] for unit in field.here(at) if not unit.get("broken")]
                order = [rng.choice(unbroken or order)]
                asked["target"] = order[0]
            else:
                rng.shuffle(order)
            dice = [pair(rng) for _ in range(len(order) + 1)]
            wanted |= field.attack(by, at, wanted["value"], [(white, other) for white, other in dice], order)
            asked["rolls"] = ([[6, 6]] if "at_least" in wanted else []) + dice
            if len(order) > 1:
                asked["choices"] = {"order": order}
        yield {"fire": asked}, wanted


@pytest.mark.parametrize("seed", range(POSITIONS))
def test_a_fire_attack_is_what_the_rules_say(connection: Connection, seed: int) -> None:
    rng = random.Random(seed)
    document = scene(rng)
    field = field_of(connection, document)
    asked = [(question, wanted) for question, wanted in shots(rng, field) if not is_last(field, wanted)]
    _, rulings = rule_text(connection, json.dumps(document | {"ask": [one for one, _ in asked]}), "test.yaml")
    for ruling, (question, wanted) in zip(rulings, asked, strict=True):
        answer = ruling.answer
        found = {key: answer.get(key) for key in wanted if key not in ("lost", "at_least")}
        assert found == {key: value for key, value in wanted.items() if key not in ("lost", "at_least")}, (
            question
        )
        if "at_least" in wanted:
            assert answer["targeting"]["at_least"] == wanted["at_least"]
        if wanted["allowed"]:
            gone = sorted(effect["unit"] for effect in answer["effects"] if effect.get("eliminated"))
            assert gone == wanted["lost"]
            points = sum(field.worth(field.unit(name)) for name in gone)
            toward = 1 if field.piece(question["fire"]["by"][0]).unit["side"] == "allied" else -1
            assert answer["vp"] == toward * points


def is_last(field: Field, wanted: dict[str, Any]) -> bool:
    """Whether the attack would take a side's last unit: the game ends in the midst of it."""
    lost = set(wanted.get("lost", ()))
    return any(
        lost and all(unit["id"] in lost for unit in field.units if unit["side"] == side)
        for side in ("japan", "allied")
    )


@pytest.mark.parametrize("seed", range(POSITIONS))
def test_melees_and_mines_are_what_the_rules_say(connection: Connection, seed: int) -> None:
    rng = random.Random(1000 + seed)
    document = scene(rng, shared=4)
    for label in {unit["at"] for unit in document["units"]}:
        if rng.random() < 0.3 and document["map"]["hexes"][label]["terrain"] not in ("stream", "swamp"):
            document["markers"] = [one for one in document["markers"] if one["at"] != label]
            document["markers"].append({"kind": "mines", "at": label})
    field = field_of(connection, document)
    asked: list[tuple[Document, dict[str, Any]]] = []
    for label in sorted({unit["at"] for unit in field.units if field.is_melee(unit["at"])}):
        strong = field.has(label, "bunker", "pillbox")
        fp, dice = field.melee(label), [pair(rng), pair(rng)]
        totals = {"japan": fp["japan"] + sum(dice[0]), "allied": fp["allied"] + sum(dice[1])}
        if totals["japan"] == totals["allied"] and strong:
            continue
        winner = "tie" if totals["japan"] == totals["allied"] else max(totals, key=lambda side: totals[side])
        lost = [unit["id"] for unit in field.here(label) if unit["side"] != winner]
        asked.append(
            (
                {"melee": {"hex": label, "rolls": dice}},
                {"fp": fp, "totals": totals, "result": winner, "lost": lost},
            )
        )
    for label in sorted({unit["at"] for unit in field.units if field.has(unit["at"], "mines")}):
        side = field.here(label)[0]["side"]
        names = [unit["id"] for unit in field.here(label, side)][:3]
        dice = [pair(rng) for _ in range(len(names) + 1)]
        manner = rng.choice(["move", "advance"])
        # who is activated to Move breaks on a tie, whatever else he does
        wanted = field.mined(names, 6, [(white, other) for white, other in dice], manner == "move")
        question = {
            "mines": {"units": names, "at": label, "as": manner, "rolls": dice, "choices": {"order": names}}
        }
        if len(names) == 1:
            del question["mines"]["choices"]
        if manner == "move" or not any(unit.get("activated") for unit in field.here(label)):
            asked.append((question, wanted))
    assert asked
    _, rulings = rule_text(connection, json.dumps(document | {"ask": [one for one, _ in asked]}), "test.yaml")
    for ruling, (question, wanted) in zip(rulings, asked, strict=True):
        answer = ruling.answer
        if "melee" in question:
            assert sorted(answer["eliminated"]) == sorted(wanted.pop("lost")), question
        assert {key: answer.get(key) for key in wanted} == wanted, question


EVENTS = (
    "battle_harden", "battlelust", "blaze", "bushido", "deploy", "detritus_of_war", "gusts", "hero", "interdiction", "jam",
    "kia", "malfunction", "medic", "prisoners_of_war", "shell_shock", "shellholes", "stealth", "suppressing_fire",
    "walking_wounded", "white_phosphorus",
)  # fmt: skip


class Whim:
    """Dice with triggers, cards and decisions at random."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def roll(self, want: Roll) -> Any:
        dice = [self._rng.randint(1, 6), self._rng.randint(1, 6)]
        return {"dice": dice, "trigger": self._rng.choice(TRIGGERS)} if self._rng.random() < 0.3 else dice

    def draw(self, want: Draw) -> Any:
        if want.pool:
            return self._rng.choice(list(want.pool))
        if want.kind != "card":
            return self._rng.randint(1, 8)
        return {
            "dice": [self._rng.randint(1, 6), self._rng.randint(1, 6)],
            "hex": self._rng.choice(LABELS),
            "event": self._rng.choice(EVENTS),
        }

    def choice(self, want: Choose) -> Any:
        if not want.options:
            return want.default
        options = list(want.options)
        return (
            self._rng.sample(options, self._rng.randint(0, len(options)))
            if want.many
            else self._rng.choice(options)
        )


def deeds(rng: random.Random, units: list[Counter]) -> Iterator[tuple[str, Document]]:
    """One of each procedure that hurts somebody, on somebody."""
    chart = {"fortification_vulnerability": 7}
    for side in ("japan", "allied"):
        foe = rng.choice([unit for unit in units if unit["side"] != side])
        if by := pieces_of(rng, units, side):
            yield (
                "fire",
                {
                    "by": by,
                    "at": foe["at"],
                    "actions": rng.choice([[], ["light_wounds"], ["sustained_fire"]]),
                },
            )
        yield "melee", {"hex": foe["at"], "actions": {side: rng.choice([[], ["ambush", "bayonets"]])}}
        yield "mines", {"units": [foe["id"]], "at": foe["at"], "as": "move"}
        yield "indirect_fire", {"by": rng.choice(units)["id"], "at": rng.choice(LABELS), "read": chart}
        yield rng.choice(["break", "eliminate"]), {"unit": foe["id"]}
    yield "bombing_run", {"at": rng.choice(units)["at"], "read": chart}
    yield "strafing_run", {"direction": rng.randint(1, 6)}


@pytest.mark.parametrize("seed", range(POSITIONS // 2))
def test_whatever_dice_cards_and_players_say_it_comes_to_an_end_and_can_be_taken_back(
    connection: Connection, seed: int
) -> None:
    rng = random.Random(2000 + seed)
    document = scene(rng, shared=2)
    document["conditions"] |= {
        "initiative": "japan", "time": 3, "sudden_death": 5, "surrender": 3, "year": 1943, "quality": "line",
        "deck": {"japan": 5, "allied": 4}, "hand": {"japan": 4, "allied": 6},
        "radio": {"japan": {"fp": 9}, "allied": {"fp": 10}},
    }  # fmt: skip
    units = list(document["units"])
    document["units"] = [
        *units,
        {"id": "Plane", "side": "allied", "kind": "aircraft", "at": rng.choice(LABELS)},
    ]
    position = stored(connection, document)
    asked = Asked(connection, position, "ccp", document["conditions"], {})
    kinds = kinds_of("ccp")
    was = digest(connection, position)
    for name, arguments in deeds(rng, units):
        kind = kinds[name]
        assert isinstance(kind, ProcedureKind)
        of = kind.arguments(**arguments)
        outcome = tried(asked, functools.partial(kind.begin, of), Whim(rng), lambda: kinds)  # type: ignore[arg-type]
        assert outcome.pending is None, (name, arguments)
        apply(asked, outcome.changes)
        apply(asked, inverse(outcome.changes))
        assert digest(connection, position) == was, (name, arguments)
