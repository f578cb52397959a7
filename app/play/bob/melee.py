"""Melee (12.0): two dice a unit, ambushers first, all others at once; casualties are their owners' choice."""

from __future__ import annotations

import functools
import itertools
from typing import Annotated, Any

from pydantic import Field

from app.play.bob.asking import Asking, game, modifiers, of_side, step_lost
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Roll,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, series
from importers.questions import Names

Fighter = dict[str, Any]


class Melee(Action):
    """Where."""

    at: Annotated[str, Names(("hex", "unit"))] = Field(description="The hex of the Melee, or a unit in it")


def melee(of: Melee, *, played: bool = False) -> Procedure:
    """12.0, 12.1, 51.2: ambushers strike first and their casualties are taken before the rest strike."""
    rows = yield Ask("select * from bob.melee(:position, :at, :conditions, :policy)", at=of.at)
    verdict = rows[-1]
    fighters: list[Fighter] = verdict.facts["fighters"]
    if not fighters:
        raise Refused("12.0", verdict.note, verdict.at)
    yield from _consumed(of)
    values = verdict.facts["values"]
    yield Tell(values=values, modifiers=modifiers(rows), hits={}, results={})
    if verdict.effect == "unknown":
        raise Undecided(hits=None, results=None)
    state = {fighter["unit"]: fighter for fighter in fighters}
    hits: dict[str, int] = {}
    ambushers = [fighter for fighter in fighters if fighter["ambush"]]
    spent: set[str] = set()
    told: dict[str, list[str]] = {}
    for stage in filter(None, (ambushers, [fighter for fighter in fighters if not fighter["ambush"]])):
        alive = [fighter for fighter in stage if fighter["unit"] in state]
        if hits:
            values = yield from _reckoned_again(of, values)
        yield from _struck(of, alive, values, hits, state, spent, told, played=played)
    # a unit that fought and was hit is told by what became of it
    results = {
        unit: "eliminated" if unit not in state else "reduced" if state[unit].get("hit") else "no_effect"
        for unit in (fighter["unit"] for fighter in fighters)
    }
    yield Tell(hits=hits, results=results)


def _reckoned_again(of: Melee, values: dict[str, int]) -> Asking:
    """51.2: who was Reduced from ambush strikes back with what is left of it."""
    rows = yield Ask("select * from bob.melee(:position, :at, :conditions, :policy)", proves=False, at=of.at)
    values = values | (rows[-1].facts.get("values") or {})
    yield Tell(values=values)
    return values


def _consumed(of: Melee) -> Procedure:
    """What was decided beforehand, for all units and sides at once."""
    for name in ("cp", "casualties", "order"):
        if name in of.choices:
            yield Choose(name, "referee", "the Melee", form="units, or units by side")


def _struck(
    of: Melee,
    alive: list[Fighter],
    values: dict[str, int],
    hits: dict[str, int],
    state: dict[str, Fighter],
    spent: set[str],
    told: dict[str, list[str]],
    *,
    played: bool,
) -> Procedure:
    """One exchange: all roll, Command Points roll again, then the casualties of each side."""
    dice: dict[str, list[int]] = {}
    for fighter in alive:
        dice[fighter["unit"]] = yield Roll("2d10", f"the Melee of {fighter['unit']}")
    yield from _rerolled(of, alive, dice, spent, played=played)
    scored: dict[str, int] = {}
    for fighter in alive:
        unit = fighter["unit"]
        hits[unit] = sum(die <= values[unit] for die in dice[unit])
        scored[fighter["side"]] = scored.get(fighter["side"], 0) + hits[unit]
        shown = " and ".join(map(str, dice[unit]))
        step = Step("12.0", None, f"{hits[unit]} hits", f"{unit} rolls {shown} against {values[unit]}")
        yield Tell(step, hits=dict(hits))
    sides = list(dict.fromkeys(fighter["side"] for fighter in state.values()))
    losses = []
    first = all(fighter["ambush"] for fighter in alive)
    if not first:
        yield Tell(Step("12.1", None, "at once", "all have struck before any casualty is taken"))
    for side in sides:
        suffered = sum(count for other, count in scored.items() if other != side)
        mine = [fighter for fighter in state.values() if fighter["side"] == side]
        losses += yield from _allotted(of, side, suffered, mine, told, first=first)
    # 12.1: at once
    for unit in losses:
        yield from _taken(unit, state)


def _rerolled(
    of: Melee, alive: list[Fighter], dice: dict[str, list[int]], spent: set[str], *, played: bool
) -> Procedure:
    """3.0 (4): both dice of one unit, one Command Point a side in a Melee (bob-29)."""
    now = yield from game()
    both_limits = now.readings["bob-29"] == "a"
    asked_for = of.choices.get("cp") or []
    asked_for = [asked_for] if isinstance(asked_for, str) else list(asked_for)
    if any(fighter["cp"] for fighter in alive):
        yield Tell(points=("bob-29",))
    for side in dict.fromkeys(fighter["side"] for fighter in alive):
        left = yield from of_side(side, "cps")
        able = [
            fighter["unit"]
            for fighter in alive
            if fighter["side"] == side and fighter["kind"] != "gun" and not (both_limits and fighter["cp"])
        ]
        mine = [fighter["unit"] for fighter in alive if fighter["side"] == side]
        wanted = [unit for unit in asked_for if unit in mine]
        if side in spent:
            continue
        if not played:
            if len(wanted) > 1:
                raise Refused("3.0", "one Command Point a side in each Melee")
            if any(fighter["unit"] in wanted and fighter["kind"] == "gun" for fighter in alive):
                raise Refused("20.0", f"no Command Point is used on {wanted[0]}, a Gun")
            if wanted and wanted[0] not in able:
                raise Refused("3.0", f"{wanted[0]} has had its Command Point this turn", points=("bob-29",))
            if wanted and left == 0:
                raise Refused("3.0", f"{side} has no Command Point left")
            unit = wanted[0] if wanted else None
        else:
            if not left or not able:
                continue
            name = f"cp:{side}"
            unit = yield Choose(
                name, side, "a Command Point for a Melee roll", options=["none", *able], default="none"
            )
            unit = None if unit == "none" else unit
        if unit is None:
            continue
        spent.add(side)
        yield Change(
            {"unit": unit, "cp": True}, *([{"side": side, "cps": left - 1}] if left is not None else [])
        )
        yield Tell(Step("3.0", None, "rerolls", f"a Command Point for {unit}"))
        dice[unit] = yield Roll("2d10", f"the Melee of {unit}, again")


def _steps(fighter: Fighter) -> int:
    """Casualties that a unit can take."""
    return 1 if fighter["reduced"] or fighter["kind"] in ("wt", "gun") else 2


def _allotted(
    of: Melee, side: str, suffered: int, mine: list[Fighter], taken: dict[str, list[str]], *, first: bool
) -> Asking:
    """12.0: its owner chooses who loses the steps; no choice where all are lost, or only one can be.

    Told beforehand, they are one list a side: those of an ambush come first (51.2).
    """
    if suffered == 0 or not mine:
        return []
    most = {fighter["unit"]: _steps(fighter) for fighter in mine}
    if suffered >= sum(most.values()):
        return list(itertools.chain(*([unit] * steps for unit, steps in most.items())))
    if len(most) == 1:
        return [next(iter(most))] * suffered
    told = of.choices.get("casualties")
    if isinstance(told, dict) and side in told:
        chosen = [told[side]] if isinstance(told[side], str) else list(told[side])
        before = taken.setdefault(side, [])
        chosen = chosen[len(before) : len(before) + suffered if first else None]
        _check_casualties(side, chosen, suffered, most)
        before += chosen
        return chosen
    options = sorted(
        {
            tuple(sorted(found))
            for found in itertools.product(most, repeat=suffered)
            if all(found.count(unit) <= most[unit] for unit in found)
        }
    )
    chosen = yield Choose(
        f"casualties:{side}",
        side,
        f"who of {side} loses {suffered} step{'s' if suffered > 1 else ''}",
        options=[list(option) for option in options],
    )
    return list(chosen)


def _check_casualties(side: str, chosen: list[str], suffered: int, most: dict[str, int]) -> None:
    if len(chosen) != suffered or any(chosen.count(unit) > most.get(unit, 0) for unit in chosen):
        who = series(f"{unit} ({steps})" for unit, steps in most.items())
        raise Refused("12.0", f"{side} has {suffered} casualties to take, of {who}")


def _taken(unit: str, state: dict[str, Fighter]) -> Procedure:
    """8.0, 12.0: a step is lost."""
    fighter = state[unit]
    effect = step_lost(fighter)
    if "eliminated" in effect:
        del state[unit]
        yield Change(effect)
    else:
        state[unit] = {**fighter, "reduced": True, "hit": True}
        yield Change(effect)


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    at = ruling.question["melee"]["at"]
    if answer["allowed"] is False:
        return f"There is nothing to fight in {at}: {answer['why']}"
    if answer["allowed"] is None:
        return f"The Melee in {at} cannot be told: a Melee FP is missing"
    if "pending" in answer:
        return f"The Melee in {at} waits"
    gone = [unit for unit, result in answer["results"].items() if result == "eliminated"]
    hurt = [unit for unit, result in answer["results"].items() if result == "reduced"]
    return clauses(
        f"The Melee in {at} is fought",
        f"{series(gone)} eliminated" if gone else None,
        f"{series(hurt)} reduced" if hurt else None,
        None if gone or hurt else "nobody is hit",
    )


FACTS: dict[str, Any] = {
    "kinds": functools.partial(kinds_of, "bob"),
    "name": "melee",
    "title": "Melee",
    "arguments": Melee,
    "rulesets": ("bob",),
    "answers": {
        "values": "the Melee FP of each unit",
        "modifiers": "what was added, by rule",
        "hits": "how many dice of each unit hit",
        "results": "what became of each unit: no_effect, reduced, eliminated",
    },
    "verdict": _verdict,
    "points": ("bob-4", "bob-29"),
    "example": 'melee: {at: "E4", rolls: [[3, 6], [1, 6]]}',
    "names_units": ("values", "hits", "results"),
}


def play_melee(of: Melee) -> Procedure:
    """12.0: one round a location and turn; Command Points are asked for when the dice lie on the table."""
    now = yield from game()
    rows = yield Ask("select label from bob._pieces(:position) where code = :at", proves=False, at=of.at)
    label = rows[0].label if rows else of.at
    fought = list(now.tracks.get("fought") or ())
    if label in fought:
        raise Refused("12.0", "one round a turn is fought in a location", label)
    yield from melee(of, played=True)
    yield Change({"track": "fought", "value": [*fought, label]}, kept=True)


KINDS = [procedure_kind(melee, **FACTS)]
ACTIONS = [procedure_kind(play_melee, **FACTS)]
