"""`range` and `trace`: distance and what a straight line passes, for every ruleset."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, RulingError, Step
from db.rulesets import CODES, read_ruleset
from importers.questions import Names

Place = Annotated[str, Names(("hex", "unit"))]


class Ends(Arguments):
    """From where to where: hexes by label, or units by id."""

    start: Place = Field(alias="from", description="A hex label or a unit's id")
    target: Place = Field(alias="to", description="A hex label or a unit's id")


def _range(asked: Asked, ends: Ends) -> Finding:
    (row,) = asked.rows(
        "select * from positions.range(:position, :start, :target)", start=ends.start, target=ends.target
    )
    if row.hexes is None:
        raise RulingError(
            f"There is no range from {ends.start} to {ends.target}: one of them is off the map."
        )
    steps = [Step(read_ruleset(asked.ruleset).facts.cites["range"], ends.target, row.hexes, "hexes counted")]
    if row.rule is not None:
        steps.append(Step(row.rule, row.at, row.effect, row.note))
    return Finding({"range": row.range}, steps)


def _trace(asked: Asked, ends: Ends) -> Finding:
    rows = asked.rows(
        "select * from positions.trace(:position, :start, :target)", start=ends.start, target=ends.target
    )
    rule = read_ruleset(asked.ruleset).facts.cites["trace"]
    notes = {
        "hex": "passed through its inside",
        "spine": "the line runs along this side",
        "touch": "met in a single point",
    }
    return Finding(
        {
            "trace": [row.label for row in rows if row.kind in ("hex", "spine")],
            "touches": [row.label for row in rows if row.kind == "touch"],
        },
        [
            Step(
                rule,
                row.label,
                "graze" if row.kind != "hex" else "passes",
                f"{notes[row.kind]}, {row.way} of the way",
            )
            for row in rows
        ],
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
