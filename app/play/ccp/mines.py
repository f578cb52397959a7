"""Mine Attacks in ccp on units that Move or Advance into or out of mines: F104, A43.2, A43.3."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from app.play.ccp.attack import Asker, Attack, attacked, other_roll, refuse
from app.play.ccp.fire import ATTACK_ANSWERS, DEFENSE_POINTS, AttackAction, outcome_words
from app.play.ccp.table import Doing, counters, ending, other, reading
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses
from importers.questions import Names

LEDGER = "select * from ccp.mine_attack(:position, :at, :manner, :conditions, :policy)"
FIRE_ACTIONS = (
    "bore_sighting", "crossfire", "enfilade", "explosive_charge", "hand_grenades", "marksmanship", "sustained_fire",
)  # fmt: skip
"""Actions that name a Fire Attack roll."""
Manner = Literal["move", "advance", "stealth", "infiltrate", "displacement"]


class Mines(Action):
    """Who enters or leaves the mines, and how."""

    units: Annotated[list[str], Names(("unit",)), Field(min_length=1, max_length=12)] = Field(
        description="The units that enter or leave together"
    )
    at: Place = Field(description="The hex with the mines")
    manner: Manner = Field("move", alias="as", description="move or advance; mines attack nobody else")
    to: Place | None = Field(None, description="Where they leave, the hex that they enter (ccp-37)")
    hidden: bool = Field(False, description="Whether a Hidden action has just placed the mines (ccp-11)")
    actions: list[AttackAction] = Field(
        default_factory=list,
        description="light_wounds, for a squad; those of a Fire Attack roll as far as they may be played (ccp-49)",
    )

    @field_validator("units", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


@ending
def mines(of: Mines) -> Procedure:
    """One Mine Attack."""
    yield from mined(of.units, of.at, of.manner, Asker(of), of.actions, of.to, of.hidden)


def mined(
    units: Sequence[str],
    at: str,
    manner: str,
    asker: Asker,
    actions: Sequence[str] = (),
    to: str | None = None,
    hidden: bool = False,
) -> Doing:
    """A Mine Attack as a part of a Move or an Advance; `to` is the hex entered by units that leave the mines."""
    rows = yield Ask(LEDGER, at=at, manner=manner)
    facts = rows[-1].facts
    if not facts["allowed"]:
        refuse(facts, rows)
    there = yield from counters(units)
    if any(unit.label is None for unit in there):
        raise Refused("F104.1", "a unit that is named is not on the map", facts["hex"])
    fired = [name for name in actions if name in FIRE_ACTIONS]
    value = facts["value"] + (yield from other_roll(facts["hex"], units, manner == "move", fired))
    yield Tell(value=value, result="attack")
    place = yield from _counted_in(there, facts["hex"], to)
    groups = [list(units)]
    if hidden and len(units) > 1 and (yield from reading("ccp-11")) == "b":
        groups = [[code] for code in units]
    for group in groups:
        yield from attacked(
            Attack(
                side=other(there[0].side),
                hex=facts["hex"],
                value=value,
                source="mines",
                targets=group,
                purpose="the Mine Attack",
                rule="F104.2",
                actions=Counter(actions),
                movers=group if manner == "move" else (),
            ),
            asker,
        )
    yield from _put_back(place)


def _counted_in(units: Sequence[Any], mined: str, to: str | None) -> Doing:
    """Where they count as standing, and where to put them back: in the mines, or by ccp-37 b in the hex they leave for."""
    label = mined
    if to is not None and (yield from reading("ccp-37")) == "b":
        label = to.removeprefix("hex:")
        yield Tell(Step("F104.2", label, "counts", "they count as in the hex that they enter"))
    elsewhere = {unit.code: unit.label for unit in units if unit.label != label}
    for code in elsewhere:
        yield Change({"unit": code, "at": label}, kept=True)
    return elsewhere


def _put_back(places: dict[str, str]) -> Doing:
    for unit in (yield from counters(list(places))):
        if unit.label is not None:
            yield Change({"unit": unit.code, "at": places[unit.code]}, kept=True)


def _verdict(ruling: Ruling) -> str:
    answer, where = ruling.answer, ruling.question["mines"]["at"]
    if answer["allowed"] is False:
        return f"The mines of {where} do not attack: {answer['why']}"
    return clauses(f"The mines of {where} attack with {answer['value']} FP", *outcome_words(answer))


KINDS = [
    procedure_kind(
        mines,
        kinds=functools.partial(kinds_of, "ccp"),
        name="mines",
        title="Mine attack",
        arguments=Mines,
        rulesets=("ccp",),
        answers=ATTACK_ANSWERS,
        verdict=_verdict,
        points=("ccp-11", "ccp-37", "ccp-49", *DEFENSE_POINTS),
        example="mines: {units: [1 Squad], at: D4, as: move}",
        acts=False,
    )
]
