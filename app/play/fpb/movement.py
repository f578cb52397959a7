"""Moves (5.0): a unit goes along a way; what it enters is captured, taken back or destroyed."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from pydantic import Field

from app.play.procedures import (
    Action,
    Ask,
    Change,
    Procedure,
    Put,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling
from app.referee.words import in_points
from importers.questions import Names

MOST_HEXES = 200
"""Hexes that one way has."""


class Move(Action):
    """Who moves, and along which way."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that moves")
    path: Annotated[list[str], Names(("hex",)), Field(min_length=1, max_length=MOST_HEXES)] = Field(
        description="Labels of the hexes entered, in order; the one it stands in may come first"
    )


def captured(label: str) -> Procedure:
    """18.1: the hex is the US side's, since this game turn where that is told (fpb-37)."""
    [row] = yield Ask("select cast(:conditions as jsonb) ->> 'turn' as turn", proves=False)
    turn = {} if row.turn is None else {"value": int(row.turn)}
    yield Change({"marker": "captured", "at": label, **turn})


def moved(unit: str, path: list[str], phase: str | None) -> Procedure:
    """A unit goes along a way that the rules allow, and all that this changes."""
    finding = yield Put("move", unit=unit, path=path)
    answer = finding.answer
    told = {key: answer[key] for key in ("cost", "left", "ends_at")}
    if answer["legal"] is False:
        bars = [step for step in finding.steps if step.effect == "forbids"]
        why = "; ".join(dict.fromkeys(step.note for step in bars)) or answer["why"]
        bar = bars[0] if bars else finding.steps[-1]
        raise Refused(bar.rule, why, answer["ends_at"], clause=bar.clause, **told)
    if answer["legal"] is None:
        raise Undecided(**told)
    yield Tell(**told)
    yield Change({"unit": unit, "at": answer["ends_at"]})
    for effect in answer["effects"]:
        if effect.get("marker") == "captured" and not effect.get("removed"):
            yield from captured(effect["at"])
        elif "unit" in effect:
            yield from _put_ashore(effect)
        else:
            yield Change(effect)
    if phase is not None:
        yield Change({"unit": unit, "moved": phase}, kept=True)


def _put_ashore(effect: dict[str, Any]) -> Procedure:
    """12.2: who waited in the sea has no assault before it any more, and enters the hex (18.1)."""
    yield Change({**effect, "assaulting": None})
    entered = yield Ask(
        "select step.* from positions.state(:position, :conditions, :policy) as state"
        " cross join lateral fpb._entry_steps(state, 'us', array[:at]) as step",
        at=effect["at"],
    )
    if any(row.effect == "captures" for row in entered):
        yield from captured(effect["at"])


def move(of: Move) -> Procedure:
    """5.1: a move, of which the phase and the flags of the unit are part."""
    rows = yield Ask(
        "select * from fpb.movement_closed(:position, :unit, :conditions, :policy)", unit=of.unit
    )
    if rows:
        raise Refused(rows[0].rule, rows[0].note, rows[0].at)
    [row] = yield Ask("select cast(:conditions as jsonb) ->> 'phase' as phase", proves=False)
    yield from moved(of.unit, of.path, row.phase or "movement")


def _move_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["move"], ruling.answer
    if not answer["allowed"]:
        return f"{of['unit']} may not move to {of['path'][-1]}: {answer.get('why', 'it is not known')}"
    return f"{of['unit']} moves to {answer['ends_at']} for {in_points(answer['cost'])}"


ANSWERS: dict[str, Any] = {
    "cost": "points that it spends",
    "left": "points that it has left",
    "ends_at": "the hex in which it ends",
}

ACTIONS = [
    procedure_kind(
        move,
        kinds=functools.partial(kinds_of, "fpb"),
        name="move",
        title="A move",
        arguments=Move,
        rulesets=("fpb",),
        answers=ANSWERS,
        verdict=_move_verdict,
    ),
]
"""A move is asked by the question of that name, and done by this."""
