"""Morale Checks and Command Points in bob: 3.0, 7.1, 8.0; who checks, rolls again, and is Used."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Generator
from typing import Any, Literal

from pydantic import Field

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
    Want,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.questions.bob.ground import Unit
from app.referee.questions.bob.morale import POINTS, Purpose
from app.referee.rulings import Need, Ruling
from app.referee.words import needs_in_words

Doing = Generator[Want, Any, Any]
MORALE = "select * from bob.morale(:position, :unit, :purpose, :conditions, :policy)"
POINT = "select * from bob.command_point(:position, :unit, :purpose, :conditions, :policy)"
COUNTER = """
select unit.code, unit.side, unit.kind, unit.attributes, hex.label
from unit
left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
where unit.position_id = :position and unit.code = :unit
"""
SCENE = "select cast(:conditions as jsonb) as conditions from position where id = :position"
READING = "select positions.readings(:position, :policy) ->> :point as reading"
kinds = functools.partial(kinds_of, "bob")


def counter(code: str) -> Doing:
    """A unit as it is now."""
    [unit] = yield Ask(COUNTER, proves=False, unit=code)
    return unit


def reading(point: str) -> Doing:
    """The reading in force for a contested point; it is touched."""
    [row] = yield Ask(READING, proves=False, point=point)
    yield Tell(points=(point,))
    return row.reading


def conditions() -> Doing:
    """The conditions as they are now."""
    [row] = yield Ask(SCENE, proves=False)
    return row.conditions


def in_force(rule: str) -> Doing:
    """Whether an optional rule is played."""
    query = "select bob._in_force(state, :rule) as so from positions.state(:position, :conditions, :policy) as state"
    [row] = yield Ask(query, proves=False, rule=rule)
    return row.so


def taken(of: Action, side: str, *names: str) -> Doing:
    """Decisions that were told with the action itself, by name."""
    said = {}
    for name in names:
        if name in of.choices:
            said[name] = yield Choose(name, side, "decided beforehand")
    return said


@dataclasses.dataclass(frozen=True)
class Checked:
    """How a Morale Check went."""

    mc: str
    morale: int | None
    margin: int = 0

    @property
    def passed(self) -> bool:
        return self.mc != "failed"

    def told(self) -> dict[str, Any]:
        return {"morale": self.morale, "mc": self.mc}


def rolls_again(cp: Any, unit: str) -> bool:
    """Whether a CP is told for the check of a unit (3.0): `reroll`, yes, its id, a list of units, or any of it by unit."""
    said = cp.get(unit) if isinstance(cp, dict) else cp
    return unit in said if isinstance(said, list) else said is True or said in ("reroll", unit)


@dataclasses.dataclass(frozen=True)
class OneOfSeveral(Roll):
    """A check among those of several units: together they have no one result whose chance could be told."""

    def odds(self) -> dict[str, Any]:
        """None, without a look at the ways in which all the dice may fall."""
        return {"odds": None, "basis": "several units check: ask for one of them, or give their rolls"}


def check(
    unit: str, purpose: str, *, reroll: bool = False, asks: bool = False, dice: type[Roll] = Roll
) -> Doing:
    """7.1: a Morale Check; failed, a CP may roll it again, where it was told so or the player is asked."""
    [*_, verdict] = yield Ask(MORALE, unit=unit, purpose=purpose)
    facts = verdict.facts
    if facts["automatic"] is None:
        raise Undecided(Need("counter", "7.0"))
    if facts["automatic"]:
        return Checked("automatic", None)
    morale = facts["morale"]
    die = yield dice("1d10", f"the Morale Check of {unit}")
    if die > morale and (reroll or (asks and (yield from _wants_reroll(facts["unit"])))):
        yield from spend(facts["unit"], "reroll")
        die = yield dice("1d10", f"the Morale Check of {unit}, again for a CP")
    return Checked("passed" if die <= morale else "failed", morale, max(0, die - morale))


def _wants_reroll(unit: str) -> Doing:
    """3.0: whether a CP is spent on a check that failed; asked only where one may be."""
    [*_, verdict] = yield Ask(POINT, proves=False, unit=unit, purpose="reroll")
    if not verdict.facts["allowed"] or not verdict.facts["held"]:
        return False
    side = verdict.facts["side"]
    return (
        yield Choose(
            f"reroll {unit}", side, f"a CP to roll the check of {unit} again", [True, False], default=False
        )
    )


def spend(unit: str, purpose: str) -> Doing:
    """3.0: a CP on a unit."""
    [*_, verdict] = yield Ask(POINT, unit=unit, purpose=purpose)
    facts = verdict.facts
    if not facts["allowed"]:
        raise Refused(facts["rule"], facts["why"])
    if not facts["held"] and facts["bonus"]:
        yield Change({"side": facts["side"], "bonus_cps": facts["bonus"] - 1})
    elif facts["company"] and facts["held"] is not None:
        yield Change({"company": facts["company"], "cps": facts["held"] - 1})
    elif facts["held"] is not None:
        yield Change({"side": facts["side"], "cps": facts["held"] - 1})
    yield Change({"unit": unit, "cp": True})


# The procedures


class MoraleCheck(Action):
    """Who checks, and for what."""

    unit: Unit = Field(description="A unit's id")
    purpose: Purpose = Field("move", alias="for", description="What it attempts")


def morale_check(of: MoraleCheck) -> Procedure:
    """A Morale Check and, failed in the Operations Phase, a Used counter."""
    unit = yield from counter(of.unit)
    said = yield from taken(of, unit.side, "cp")
    done = yield from check(
        of.unit, of.purpose, reroll=rolls_again(said.get("cp"), of.unit), asks=said.get("cp") == "ask"
    )
    yield Tell(**done.told(), margin=done.margin, result="passed" if done.passed else "failed")
    if not done.passed and of.purpose != "rout":
        gone = {"op_fire": False} if unit.attributes.get("op_fire") else {}
        yield Change({"unit": of.unit, "used": True, **gone})


class CommandPoint(Action):
    """Whose CP, on whom and for what."""

    side: str | None = Field(None, description="The side that spends it")
    unit: Unit = Field(description="The unit or asset it is spent on")
    purpose: Literal["reroll", "first", "range", "melee", "fp", "mp"] = Field(
        alias="for", description="Which of its uses"
    )


def command_point(of: CommandPoint) -> Procedure:
    """3.0: a CP on a unit; what it brings is part of what the unit then does."""
    unit = yield from counter(of.unit)
    if of.side is not None and unit.side != of.side:
        raise Refused("3.0", f"{of.unit} is not of that side")
    [*_, verdict] = yield Ask(POINT, proves=False, unit=of.unit, purpose=of.purpose)
    if not verdict.facts["allowed"]:
        yield Tell(left=verdict.facts["left"])
    yield from spend(of.unit, of.purpose)
    yield Tell(left=verdict.facts["left"])


def _check_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["morale_check"], ruling.answer
    if answer["allowed"] is None:
        return f"The check of {of['unit']} cannot be rolled: {needs_in_words(ruling.needs)}"
    if answer["allowed"] is False:
        return f"The check of {of['unit']} is not allowed so: {answer['why']}"
    if "mc" not in answer:
        return f"{of['unit']} checks its Morale and waits for its roll"
    return f"{of['unit']} {'passes without a roll' if answer['mc'] == 'automatic' else answer['mc']}"


def _point_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["command_point"], ruling.answer
    if answer["allowed"] is False:
        return f"No CP for {of['unit']}: {answer['why']}"
    left = answer.get("left")
    return f"A CP is spent on {of['unit']}" + (f"; {left} left" if left is not None else "")


KINDS = [
    procedure_kind(
        morale_check, kinds=kinds, name="morale_check", title="Morale Check", arguments=MoraleCheck,
        rulesets=("bob",),
        answers={
            "morale": "what is rolled against; null where no roll is needed",
            "mc": "passed, failed or automatic", "margin": "by how much it failed", "result": "passed or failed",
        },
        verdict=_check_verdict, points=POINTS, example="morale_check: {unit: A, for: move, rolls: [4]}", acts=False,
    ),
    procedure_kind(
        command_point, kinds=kinds, name="command_point", title="Command Point", arguments=CommandPoint,
        rulesets=("bob",), answers={"left": "CPs left after it; null where nobody says how many there are"},
        verdict=_point_verdict, points=("bob-29",), example="command_point: {side: us, unit: A, for: fp}", acts=False,
    ),
]  # fmt: skip
