"""`reach`, `stack` and `free_action`: where a US unit can go, who stands with it, and what its action costs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.referee.questions.ddp.ledger import found
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling
from app.referee.words import clauses, counted, members, rest_unknown, series
from importers.questions import Names


class UnitOf(Arguments):
    """Which unit."""

    unit: Annotated[str, Names(("unit",))] = Field(description="A US unit's id")


class StackIn(Arguments):
    """Which hex."""

    hex: Annotated[str, Names(("hex", "unit"))] = Field(description="A hex label, or a unit in it")


def _reach(asked: Asked, of: UnitOf) -> Finding:
    return found(asked.rows("select * from ddp.reach(:position, :unit, :conditions, :policy)", unit=of.unit))


def _stack(asked: Asked, of: StackIn) -> Finding:
    return found(asked.rows("select * from ddp.stack(:position, :hex, :conditions, :policy)", hex=of.hex))


def _free_action(asked: Asked, of: UnitOf) -> Finding:
    return found(
        asked.rows("select * from ddp.free_action(:position, :unit, :conditions, :policy)", unit=of.unit)
    )


def _reach_verdict(ruling: Ruling) -> str:
    unit, answer = ruling.question["reach"]["unit"], ruling.answer
    if not answer["hexes"]:
        why = next((step.note for step in ruling.steps if step.effect == "forbids"), None)
        return clauses(f"{unit} can move nowhere", why, rest_unknown(ruling))
    return clauses(
        f"{unit} can move to {members(sorted(answer['hexes']), 'hex')}",
        f"by infiltration to {series(sorted(answer['past']))}" if answer["past"] else None,
        rest_unknown(ruling),
    )


def _stack_verdict(ruling: Ruling) -> str:
    answer, place = ruling.answer, ruling.steps[-1].at or ruling.question["stack"]["hex"]
    crowd = f"{place} holds {counted(answer['units'], 'unit')} of {answer['limit']}"
    return clauses(
        f"{crowd}, {answer['over']} too many at the end of the Action Phase" if answer["over"] else crowd,
        f"{answer['steps']} steps" + (", a concentrated target" if answer["concentrated"] else ""),
    )


def _free_verdict(ruling: Ruling) -> str:
    unit, answer = ruling.question["free_action"]["unit"], ruling.answer
    if not answer["free"]:
        return ruling.steps[-1].note
    return f"{unit} acts for free: {series(word.replace('_', ' ') for word in answer['because'])}"


KINDS = [
    QuestionKind(
        name="reach",
        title="Where a unit can go",
        arguments=UnitOf,
        rulesets=("ddp",),
        rule=_reach,
        answers={
            "hexes": "every hex in which it can end a move, with the hexes that it takes",
            "infiltration": "the positions past which it can infiltrate (7.33)",
            "past": "of the hexes those to which it infiltrates, each with the positions past which it goes",
        },
        verdict=_reach_verdict,
        points=("ddp-22", "ddp-48"),
        example="reach: {unit: A/1/5}",
        draws="hexes",
    ),
    QuestionKind(
        name="stack",
        title="Who stands together",
        arguments=StackIn,
        rulesets=("ddp",),
        rule=_stack,
        answers={
            "units": "US units in the hex that count",
            "limit": "how many may be there when the Action Phase ends, or be landed there",
            "over": "how many are above it",
            "steps": "steps of all US units in the hex",
            "concentrated": "whether they are a concentrated target (6.35)",
        },
        verdict=_stack_verdict,
        points=("ddp-23",),
        example='stack: {hex: "0314"}',
    ),
    QuestionKind(
        name="free_action",
        title="A free action",
        arguments=UnitOf,
        rulesets=("ddp",),
        rule=_free_action,
        answers={
            "free": "whether it may act without spending one of the two actions",
            "because": "on what grounds: hero, inspired, disrupted, hq, command, infantry_hq, preservation, scenario",
        },
        verdict=_free_verdict,
        points=("ddp-1", "ddp-5", "ddp-24"),
        example="free_action: {unit: A/1/5}",
    ),
]
