"""US attacks (8.1 to 8.3): declared, summed up, read off the US Attack Chart, and applied; depth revealed means a second look.

Sums, weapons and who may take part are SQL (`ddp.attack`); here is the order of play.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from app.play.charts import cell
from app.play.ddp.acting import Doing, counter, declare, finish, forgiving, is_ridge, scene
from app.play.ddp.close_combat import remove_japanese
from app.play.ddp.fortification import marker_at, replace
from app.play.ddp.losses import disrupt, lose_step
from app.play.ddp.placing import Hand, give_depth, is_empty, place_one, place_reserve, pool
from app.play.ddp.revealing import reveal_depth, reveal_unit
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, in_words, needs_in_words, series
from db.values import canonical
from importers.questions import Names

LEDGER = "select * from ddp.attack(:position, :units, :at, :support, :wild, cast(:factor as integer), :conditions, :policy)"
LINKED = (
    "select coalesce(bool_or(found.in_communication), false) as linked"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._japanese_communication(state) as found where found.label = :at"
)
READINGS = "select positions.readings(:position, :policy) as readings"
TOLD = (
    "strength", "defense", "factor", "requires", "met", "missing", "section", "column", "row",
)  # fmt: skip
WEAPONS = ("AR", "BR", "BZ", "DE", "FT", "MG", "NA", "RD")
"""What a hero may stand in for (8.24): all but flanking and close combat."""
NEVER_WILD = {"FL": "flanking", "CC": "close combat"}
MOST_ROUNDS = 3


class Attack(Action):
    """Who attacks which hex, and with what support."""

    by: Annotated[list[str], Names(("unit",)), Field(min_length=1, max_length=20)] = Field(
        description="Ids of the units that attack"
    )
    at: Annotated[str, Names(("hex", "unit"))] = Field(
        description="The hex that is attacked, or the unit in it"
    )
    support: Literal["naval_fire", "dauntless"] | None = Field(
        None, description="A marker spent in support: naval_fire or dauntless (8.51)"
    )

    @field_validator("by", mode="before")
    @classmethod
    def one_is_a_list(cls, by: Any) -> Any:
        return [by] if isinstance(by, str) else by

    @field_validator("by")
    @classmethod
    def each_once(cls, by: list[str]) -> list[str]:
        if len(set(by)) < len(by):
            raise ValueError("a unit is named twice; each attacks once")
        return by


@dataclasses.dataclass
class Assault:
    """An attack that is being resolved."""

    of: Attack
    hand: Hand
    at: str = ""
    enemy: str = ""
    wild: str | None = None
    depth_added: bool = False
    rounds: list[dict[str, Any]] = dataclasses.field(default_factory=list)


def attack(of: Attack) -> Procedure:
    """8.3: an attack from its declaration to its last result."""
    return forgiving(of, _attack(of))


def _attack(of: Attack) -> Procedure:
    [*_, first] = yield from _ledger(of, None, proves=False)
    if not first.facts["allowed"]:
        rows = yield from _ledger(of, None)
        bar = next(row for row in rows if row.effect == "forbids")
        raise Refused(bar.rule, rows[-1].note, bar.at)
    cost = yield from declare(of.by)
    assault = Assault(of, Hand(of), first.facts["at"])
    assault.enemy = yield from _turn_up(assault, first.facts)
    for _ in range(MOST_ROUNDS):
        again = yield from _round(assault)
        if not again:
            break
    yield Tell(rounds=assault.rounds, depth_added=assault.depth_added)
    yield from _spend(of, assault.at)
    yield from finish(of.by, cost["actions"])


def _ledger(of: Attack, wild: str | None, *, proves: bool = True) -> Doing:
    factor = of.read.get("terrain_effects_chart")
    return (
        yield Ask(
            LEDGER, proves=proves, units=of.by, at=of.at, support=of.support, wild=wild,
            factor=factor if isinstance(factor, int) else None,
        )
    )  # fmt: skip


def _turn_up(assault: Assault, facts: dict[str, Any]) -> Doing:
    """8.3 step 1: the unit is revealed, its depth not yet; a fortification alone gains a unit (19.5)."""
    enemy = facts["enemy"]
    if enemy is not None:
        yield from reveal_unit(enemy, "8.3")
        return enemy
    enemy = yield from place_reserve(assault.at, "19.5", assault.hand, depth=False, revealed=True)
    if enemy is None:
        raise Refused("19.5", f"no unit is left to be placed in {assault.at}", assault.at)
    marker = yield from marker_at(assault.at)
    depth = (marker.attributes or {}).get("depth")
    if depth is None:
        return enemy
    said = {key: value for key, value in marker.attributes.items() if key != "depth"}
    yield from replace(assault.at, said)
    yield Change({"unit": enemy, "depth": depth})
    [row] = yield Ask(READINGS, proves=False)
    yield Tell(points=("ddp-17",))
    if row.readings["ddp-17"] == "a":
        yield from _show(assault, enemy)
    return enemy


def _show(assault: Assault, enemy: str) -> Doing:
    """A depth marker is turned up; a tactical reinforcement comes at once (9.4)."""
    if (yield from reveal_depth(enemy, "8.3")) == "tactical":
        yield from place_one("tactical", assault.at, assault.hand)


def _round(assault: Assault) -> Doing:
    """8.3 steps 2 to 5: sums, weapons, chart, result; true where the chart is consulted again."""
    of = assault.of
    yield from _hero(assault)
    rows = yield from _ledger(of, assault.wild)
    facts = rows[-1].facts
    told = _told(facts)
    modifiers = [
        {"rule": row.rule, "value": row.halves // 2, "note": row.note}
        for row in rows
        if row.halves is not None
    ]
    yield Tell(**told, modifiers=modifiers)
    if facts["row"] is None or facts["section"] is None:
        assault.rounds.append(told | {"result": None})
        raise Undecided(**told, rounds=assault.rounds, result=None)
    value = yield from cell(
        of, "us_attack_chart", f"{facts['section']}/{facts['row']}", facts["column"], rule="8.3"
    )
    if value is None:
        assault.rounds.append(told | {"result": None})
        raise Undecided(**told, rounds=assault.rounds, result=None)
    words = value.replace(",", " ").split() if isinstance(value, str) else list(value)
    result = words[0] if len(words) == 1 else words
    assault.rounds.append(told | {"result": result})
    # told already while a choice or a draw is waited for
    yield Tell(
        Step("8.3", assault.at, series(words), "the US Attack Chart"),
        result=result,
        rounds=list(assault.rounds),
    )
    if "reveal_depth" in words:
        yield from _show(assault, assault.enemy)
        return True
    for word in words:
        yield from _apply(assault, word, facts)
    return False


def _told(facts: dict[str, Any]) -> dict[str, Any]:
    """What a ledger says of one look at the chart."""
    return {key: facts[key] for key in TOLD}


def _hero(assault: Assault) -> Doing:
    """8.24: once all is revealed a hero beside the hex stands in for a weapon, or raises the strength by one."""
    if assault.wild is not None:
        return
    [*_, row] = yield from _ledger(assault.of, None, proves=False)
    facts = row.facts
    hidden = facts["column"] == "unrevealed_depth"
    if not facts["heroes"] or (hidden and not assault.of.choices.get("hero") and not facts["missing"]):
        return
    # what he is chosen by is seen first
    yield Tell(**_told(facts))
    options = [*(weapon for weapon in facts["missing"] if weapon in WEAPONS), "strength"]

    def check(value: Any) -> str | None:
        if value in (*WEAPONS, *NEVER_WILD, "strength", "none"):
            return None
        return f"a hero is no {canonical(value)}: {', '.join((*WEAPONS, 'strength'))}"

    assault.wild = yield HeroChoice(
        "hero", "us", "what the hero brings to the attack", options, check, default=options[0]
    )
    if assault.wild in NEVER_WILD:
        raise Refused("8.24", f"a hero stands in for no {NEVER_WILD[assault.wild]}", assault.at)
    yield Tell(hero=assault.wild)


@dataclasses.dataclass(frozen=True)
class HeroChoice(Choose):
    """A weapon that a hero stands in for; one that the depth may yet require can be named as well."""

    def mistake(self, value: Any) -> str | None:
        return self.check(value) if self.check is not None else None


# Results.


def _apply(assault: Assault, word: str, facts: dict[str, Any]) -> Doing:
    """A result of the chart, of which the names are its words."""
    match word:
        case "depth_eliminated":
            yield from strip(assault.enemy, "8.3")
        case "unit_disrupted":
            yield from _disrupt_enemy(assault)
        case "unit_defeated":
            yield from defeat(assault.enemy, assault.at)
        case "unit_unrevealed":
            yield Change({"unit": assault.enemy, "revealed": False})
        case "attackers_disrupted":
            yield from _disrupt_attackers(assault)
        case "add_depth":
            yield from _add_depth(assault)
        case "optional_attrition":
            yield from _attrition(assault, facts)
        case "step_loss":
            code = yield from _sufferer(
                facts["adjacent"] or assault.of.by, "step", "the attacker that loses a step"
            )
            yield from lose_step(code, "8.3", "a result of the attack", choice=None)
        case "none":
            yield Tell(Step("8.3", assault.at, "no effect", "the attack has no effect"))


def _disrupt_enemy(assault: Assault) -> Doing:
    unit = yield from counter(assault.enemy)
    if not unit.attributes.get("disrupted"):
        yield Change({"unit": assault.enemy, "disrupted": True})
        yield Tell(Step("8.3", assault.at, "disrupted", f"{assault.enemy}: a result of the attack"))


def _disrupt_attackers(assault: Assault) -> Doing:
    for code in assault.of.by:
        if (yield from disrupt(code, "8.3", "a result of the attack")):
            yield Change({"unit": code, "fresh": True}, kept=True)


def strip(code: str, rule: str) -> Doing:
    """A unit loses its depth for good; a counterattack marker is turned over (9.23, 13.46). Whether there was any."""
    unit = yield from counter(code)
    stance = unit.attributes.get("counterattack")
    if "depth" in unit.attributes:
        yield Change({"unit": code, "depth": None})
    elif stance is not None and stance.get("depth", True):
        yield Change({"unit": code, "counterattack": stance | {"depth": False}})
    else:
        return False
    yield Tell(Step(rule, unit.label, "depth eliminated", f"{code} loses its depth"))
    return True


def defeat(code: str, at: str) -> Doing:
    """8.33: an elite unit in communication withdraws into the reserve; the others are eliminated (ddp-7)."""
    unit = yield from counter(code)
    now = yield from scene()
    elite = bool(unit.attributes.get("elite")) and not unit.attributes.get("tank")
    if elite and not is_ridge(now.conditions):
        [found] = yield Ask(LINKED, proves=False, at=at)
        if found.linked:
            yield from _withdraw(code, at)
            return
        yield Tell(Step("8.33", at, "no withdrawal", f"{code} is out of communication"))
    yield from remove_japanese(code, "8.33", "defeated by an attack")
    if not elite and not unit.attributes.get("tank") and not is_ridge(now.conditions):
        [row] = yield Ask(READINGS, proves=False)
        yield Tell(points=("ddp-7",))
        if row.readings["ddp-7"] == "b":
            held = now.tracks.get("japan", {}).get("eliminated") or 0
            yield Change({"side": "japan", "eliminated": held + 1})


def _withdraw(code: str, at: str) -> Doing:
    yield Change(
        {"unit": code, "at": None, "status": "reserve", "revealed": False, "disrupted": False, "depth": None}
    )
    yield Tell(Step("8.33", at, "withdraws", f"{code} goes back to the reserve, face down"))
    held = yield from pool("reserve")
    if held is not None:
        yield Change({"side": "japan", "reserve": [*held, code] if isinstance(held, list) else held + 1})


def _add_depth(assault: Assault) -> Doing:
    """8.3, 9.2, 11.2: a marker face down, for a unit in communication that may have one."""
    unit = yield from counter(assault.enemy)
    [found] = yield Ask(LINKED, proves=False, at=assault.at)
    held = yield from pool("depth")
    why = None
    if unit.attributes.get("tank"):
        why = "9.22", "a tank gains no depth marker"
    elif "depth" in unit.attributes or "counterattack" in unit.attributes:
        why = "9.2", f"{assault.enemy} gains no further depth"
    elif not found.linked:
        why = "11.2", f"{assault.enemy} is out of communication"
    elif is_empty(held):
        why = "9.23", "no depth marker is left"
    if why is not None:
        yield Tell(Step(why[0], assault.at, "no depth", why[1]))
        return
    assault.depth_added = yield from give_depth(assault.enemy, assault.at, "8.3", assault.hand)


def _attrition(assault: Assault, facts: dict[str, Any]) -> Doing:
    """The depth for a step of an attacker beside the hex, where the player wants that."""
    adjacent = facts["adjacent"]

    def check(value: Any) -> str | None:
        if isinstance(value, bool) or value in adjacent:
            return None
        return f"attrition is true, false, or one of {', '.join(adjacent)}"

    unit = yield from counter(assault.enemy)
    if "depth" not in unit.attributes and not (unit.attributes.get("counterattack") or {}).get(
        "depth", False
    ):
        return
    wanted = yield AttritionChoice(
        "attrition", "us", "whether the depth is eliminated for a step of an adjacent attacker",
        [*adjacent, False], check, default=False,
    )  # fmt: skip
    if wanted is False:
        return
    code = (
        wanted if isinstance(wanted, str) else (yield from _sufferer(adjacent, "step", "who loses the step"))
    )
    yield from strip(assault.enemy, "8.3")
    yield from lose_step(code, "8.3", "attrition", choice=None)


@dataclasses.dataclass(frozen=True)
class AttritionChoice(Choose):
    """Whether, and by whom, attrition is taken."""

    def mistake(self, value: Any) -> str | None:
        return self.check(value) if self.check is not None else None


def _sufferer(units: list[str], name: str, purpose: str) -> Doing:
    if len(units) == 1:
        return units[0]
    return (yield Choose(name, "us", purpose, units, default=units[0]))


def _spend(of: Attack, at: str) -> Doing:
    """The hex was attacked in this phase (8.31), the marker is gone (8.54)."""
    now = yield from scene()
    yield Change({"conditions": {"attacked": [*now.conditions.get("attacked", []), at]}}, kept=True)
    if of.support is not None:
        yield from spend_marker(of.support)


def spend_marker(marker: str) -> Doing:
    """8.54: a naval fire or Dauntless marker is used up, where they are counted."""
    now = yield from scene()
    held = now.tracks.get("us", {}).get(marker)
    if held:
        yield Change({"side": "us", marker: held - 1})


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["attack"], ruling.answer
    what = f"The attack on {of['at']}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    sums = f"{what}: {answer.get('strength')} against {answer.get('defense')}"
    untold = needs_in_words(ruling.needs) if ruling.needs else None
    if answer["allowed"] is None or answer.get("strength") is None or answer.get("defense") is None:
        return clauses(f"{what} cannot be read off to the end", untold)
    missing = f"without {series(answer['missing'])}" if answer["missing"] else "with all weapons required"
    result = in_words(answer["result"]).replace("_", " ") if answer.get("result") else None
    return clauses(
        f"{sums}, {missing}",
        result,
        "it waits for a choice or a counter" if "pending" in answer else None,
    )


KINDS = [
    procedure_kind(
        attack,
        kinds=functools.partial(kinds_of, "ddp"),
        name="attack",
        title="Attack",
        arguments=Attack,
        rulesets=("ddp",),
        answers={
            "actions": "how many of the two actions of the turn it takes",
            "free": "who acts for free",
            "strength": "strength of the attackers, with marker and hero",
            "defense": "strength of the defenders that are revealed, with terrain",
            "factor": "by what terrain multiplied it",
            "requires": "weapons that the revealed defenders require",
            "met": "those that the attackers have",
            "missing": "those that they lack",
            "section": "with_weapons or without_weapons: the part of the chart",
            "column": "alone, unrevealed_depth or revealed_depth",
            "row": "less, equal, more or more_than_twice",
            "result": "what the chart says, a word or a list of words; null where nobody has told the cell",
            "rounds": "the same for every time that the chart was consulted",
            "hero": "what a hero brought: a weapon, or strength",
            "depth_added": "whether the defenders gained a depth marker",
            "modifiers": "the strengths that were summed, each with rule and value, negative for the defenders",
        },
        verdict=_verdict,
        points=("ddp-7", "ddp-9", "ddp-10", "ddp-11", "ddp-17", "ddp-38"),
        example='attack: {by: [A/1/5, B/1/5], at: "0314"}',
    )
]
