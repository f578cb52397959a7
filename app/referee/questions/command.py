"""`command`: whether a unit is in command, and of whom."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling, Step
from app.referee.words import not_known, series
from importers.questions import Names

GIVES = "gives "
"""How the effect of a rule begins that says what command brings."""


class CommandOf(Arguments):
    """Whose command is asked for."""

    unit: Annotated[str, Names(("unit",))] = Field(description="A unit's id")


def _command(asked: Asked, of: CommandOf) -> Finding:
    rows = asked.rows(
        f"select * from {asked.ruleset}.command(:position, :unit, :conditions, :policy)", unit=of.unit
    )
    verdict = rows[-1].effect
    in_command = None if verdict == "unknown" else verdict == "in command"
    return Finding(
        {
            "in_command": in_command,
            "by": sorted({row.by for row in rows if row.effect == "commands"}),
            "gives": [row.effect.removeprefix(GIVES) for row in rows if row.effect.startswith(GIVES)],
        },
        [Step(row.rule, row.at, row.effect, row.note, row.clause) for row in rows],
        [row.point for row in rows if row.point],
        [Need(row.note, row.rule) for row in rows[:-1] if row.effect == "unknown"]
        if in_command is None
        else [],
    )


def _verdict(ruling: Ruling) -> str:
    answer, unit = ruling.answer, ruling.question["command"]["unit"]
    if answer["in_command"] is None:
        return not_known(f"{unit} is in command", ruling)
    if not answer["in_command"]:
        return f"{unit} is out of command: {ruling.steps[-1].note}"
    by = f", by {series(answer['by'])}" if answer["by"] else ""
    gives = f", which gives {series(answer['gives'])}" if answer["gives"] else ""
    return f"{unit} is in command{by}{gives}"


KIND = QuestionKind(
    name="command",
    title="Command",
    arguments=CommandOf,
    rulesets=("css", "ccp", "bob", "ddp"),
    rule=_command,
    answers={
        "in_command": "true, false, or null where a counter does not tell what would decide it",
        "by": "ids of the HQs, leaders or command posts that command it; of a Company Hub, its company",
        "gives": "what being in command brings it: second action, orders, free action, radio, …",
    },
    verdict=_verdict,
    points=("css-65", "ccp-29", "ddp-1", "ddp-11", "ddp-24"),
    example="command: {unit: C/1/9}",
    names_units=("by",),
    lacking={"fpb": "every unit acts by itself: nobody is in or out of command"},
)
