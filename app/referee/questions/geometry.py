"""`range` and `trace`: distance and what a straight line passes, for every ruleset."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Step
from db.rulesets import CODES
from importers.questions import Names

Place = Annotated[str, Names(("hex", "unit"))]


class Ends(Arguments):
    """From where to where: hexes by label, or units by id."""

    start: Place = Field(alias="from", description="A hex label or a unit's id")
    target: Place = Field(alias="to", description="A hex label or a unit's id")


def _range(asked: Asked, ends: Ends) -> Finding:
    rows = asked.rows(
        f"select * from {asked.ruleset}.range(:position, :start, :target)",
        start=ends.start,
        target=ends.target,
    )
    return Finding(
        {"range": rows[-1].range},
        [
            Step(row.rule, row.at, row.range if row.effect == "counted" else row.effect, row.note, row.clause)
            for row in rows
        ],
    )


def _trace(asked: Asked, ends: Ends) -> Finding:
    rows = asked.rows(
        f"select * from {asked.ruleset}.trace(:position, :start, :target)",
        start=ends.start,
        target=ends.target,
    )
    return Finding(
        {
            "trace": [row.at for row in rows if row.kind in ("hex", "spine")],
            "touches": [row.at for row in rows if row.kind == "touch"],
        },
        [Step(row.rule, row.at, row.effect, row.note, row.clause) for row in rows],
    )


KINDS = [
    QuestionKind(
        name="range",
        title="Range",
        arguments=Ends,
        rulesets=CODES,
        rule=_range,
        answers={
            "range": "hexes from one to the other, the target's counted; null from or to a zone out of all range"
        },
        example='range: {from: "22.80", to: "24.77"}',
    ),
    QuestionKind(
        name="trace",
        title="Trace of a line",
        arguments=Ends,
        rulesets=CODES,
        rule=_trace,
        answers={
            "trace": "hexes passed and spines run along, in order",
            "touches": "hexes met in a single point",
        },
        example='trace: {from: "22.80", to: "24.77"}',
        draws="line",
    ),
]
