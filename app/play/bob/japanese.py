"""Japanese spirit (59.5, 59.6): Seishin of a Squad, and the Banzai Charge of all."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from pydantic import Field

from app.play.bob.asking import counter, game, piece, pieces
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import series
from importers.questions import Names


class Banzai(Action):
    """Who calls it."""

    side: str = Field("japan", description="The side that charges")


class Seishin(Action):
    """Who declares it, and where it goes."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The Squad")
    target: Annotated[str | None, Names(("hex", "unit"))] = Field(
        None, description="The enemy, or the hex of an enemy, that it goes for"
    )


def banzai(of: Banzai, *, played: bool = False) -> Procedure:
    """59.6: Suppression off all Japanese units, then the Allies may mark units Op Fire."""
    now = yield from game()
    told = now.conditions.get("banzai") or {}
    turn, phase = now.conditions.get("turn"), now.conditions.get("phase")
    if phase not in (None, "start"):
        raise Refused("59.6", "a Banzai Charge is announced at the start of a turn, before any action")
    if told.get("turns") and turn is not None and not _within(turn, told["turns"]):
        raise Refused("59.6", f"turn {turn} is not one in which the scenario has a Charge")
    if turn is not None and turn in (told.get("called") or ()):
        raise Refused("59.6", "it has been called this turn")
    mine = [one for one in (yield from pieces()) if one.side == of.side]
    squads = [one for one in mine if one.kind == "squad"]
    must = [one.code for one in squads if not one.attributes.get("grenade_discharger") and not one.melee]
    yield Tell(
        Step("59.6", None, "called", "every Squad charges that does not Op Fire; Grenade Dischargers may"),
        result="called", must_charge=must,
        may_charge=[one.code for one in squads if one.attributes.get("grenade_discharger") and not one.melee],
    )  # fmt: skip
    for one in mine:
        if one.attributes.get("suppression"):
            yield Change({"unit": one.code, "suppression": "none"})
    for one in squads:
        if one.melee:
            # who fights stays, with what the Charge brings
            yield Change({"unit": one.code, "declared": "banzai"})
    called = [*(told.get("called") or ()), *([turn] if turn is not None else [])]
    yield Change({"conditions": {"banzai": {**told, "called": called}}})
    yield from _allies_ready(of, played=played)


def _within(turn: int, turns: list[int]) -> bool:
    """A range of turns, by its first and last, or the turns one by one."""
    return turns[0] <= turn <= turns[-1] if len(turns) == 2 else turn in turns


def _allies_ready(of: Banzai, *, played: bool) -> Procedure:
    """59.6: the other side may mark any of its units Op Fire."""
    able = [
        one
        for one in (yield from pieces())
        if one.side != of.side
        and not one.mounted
        and not one.attributes.get("used")
        and not one.attributes.get("op_fire")
    ]
    if not able or not (played or "op_fire" in of.choices):
        return
    chosen = yield Choose(
        "op_fire", able[0].side, "units that are marked Op Fire", options=[one.code for one in able],
        many=True, default=[],
    )  # fmt: skip
    for code in chosen:
        yield Change({"unit": code, "op_fire": True})


def seishin(of: Seishin) -> Procedure:
    """59.5: declared once the check to move is passed, with the points to reach an enemy, its bonus included."""
    own = yield from counter(of.unit)
    here = yield from piece(of.unit)
    if here is None:
        raise Refused("59.5", f"{of.unit} is not on the map")
    rows = yield Ask(
        "select step.* from positions.state(:position, :conditions, :policy) as state"
        " cross join lateral (select array(select piece from bob._pieces(:position) as piece) as told) as board"
        " cross join lateral bob._mover(state, board.told, :unit, 'seishin', false, false) as mover"
        " cross join lateral unnest(board.told) as own"
        " cross join lateral bob._permission_steps(state, own, mover, false) as step"
        " where own.code = :unit and step.effect = 'forbids' and step.rule in ('59.0', '59.5', '63.1')",
        unit=of.unit,
    )
    if rows:
        raise Refused(rows[0].rule, "; ".join(dict.fromkeys(row.note for row in rows)), here.label)
    foes = {one.label for one in (yield from pieces()) if one.side != own.side and not one.mounted}
    reach = yield Ask(
        'select * from bob.reach(:position, :unit, cast(\'{"as": "seishin"}\' as jsonb), :conditions, :policy)',
        proves=False,
        unit=of.unit,
    )
    near = {row.label: row.halves for row in reach if row.label in foes}
    goal = of.target
    if goal is not None:
        found = [one for one in (yield from pieces()) if one.code == goal]
        goal = found[0].label if found else goal
        if goal not in foes:
            raise Refused("59.5", f"no enemy is in {goal}", goal)
        near = {label: halves for label, halves in near.items() if label == goal}
    yield Tell(targets=sorted(near))
    if not near:
        raise Refused("59.5", "it has not the points to reach an enemy", goal, targets=[])
    yield Tell(
        Step("59.5", here.label, "declared", "+1 MP, +1 Morale in the Operations Phase, +2 in Melee"),
        result="declared", morale=1, mp=1, melee=2,
    )  # fmt: skip
    yield Change({"unit": of.unit, "declared": "seishin"})


def _banzai_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"There is no Banzai Charge: {answer['why']}"
    must = answer.get("must_charge") or []
    return f"A Banzai Charge is called; {series(must) if must else 'no Squad'} must charge"


def _seishin_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["seishin"], ruling.answer
    if answer["allowed"] is False:
        return f"{of['unit']} may not declare Seishin: {answer['why']}"
    return f"{of['unit']} declares Seishin"


BANZAI: dict[str, Any] = {
    "kinds": functools.partial(kinds_of, "bob"),
    "name": "banzai",
    "title": "A Banzai Charge is called",
    "arguments": Banzai,
    "rulesets": ("bob",),
    "answers": {
        "result": "called",
        "must_charge": "Squads that must charge unless they Op Fire",
        "may_charge": "Grenade Discharger Squads, which may",
    },
    "verdict": _banzai_verdict,
    "example": "banzai: {side: japan}",
}
KINDS = [
    procedure_kind(banzai, **BANZAI),
    procedure_kind(
        seishin,
        kinds=functools.partial(kinds_of, "bob"),
        name="seishin",
        title="Seishin is declared",
        arguments=Seishin,
        rulesets=("bob",),
        answers={
            "result": "declared",
            "targets": "hexes of enemies that it can reach",
            "morale": "what is added to its Morale",
            "mp": "what is added to its movement points",
            "melee": "what is added to its Melee FP",
        },
        verdict=_seishin_verdict,
        acts=False,
        example='seishin: {unit: "1/J", target: "E4"}',
    ),
]
ACTIONS = [procedure_kind(functools.partial(banzai, played=True), **BANZAI)]
