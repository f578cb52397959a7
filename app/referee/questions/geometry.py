"""`range` and `trace`: distance and what a straight line passes, for every ruleset."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, RulingError, Step
from app.referee.words import LISTED, clauses, counted, is_long, series
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


def _range_verdict(ruling: Ruling) -> str:
    ends = ruling.question["range"]
    between = f"from {ends['from']} to {ends['to']}"
    distance = ruling.answer["range"]
    if distance is None:
        return f"There is no range {between}: one of them is in a zone out of all range"
    return f"The range {between} is {distance} hex{'' if distance == 1 else 'es'}"


def _trace_verdict(ruling: Ruling) -> str:
    ends = ruling.question["trace"]
    passed, touched = ruling.answer["trace"], ruling.answer["touches"]
    between = f"The line from {ends['from']} to {ends['to']}"
    if not passed:
        return f"{between} passes nothing on its way"
    # a hexside has two hexes in its name
    sides = sum("|" in label for label in passed)
    count = series([counted(n, noun) for n, noun in ((len(passed) - sides, "hex"), (sides, "hexside")) if n])
    return clauses(
        f"{between} passes {count if is_long(passed, LISTED) else series(passed)}",
        f"touches {counted(len(touched), 'hex') if is_long(touched, LISTED) else series(touched)}"
        if touched
        else None,
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
        verdict=_range_verdict,
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
        verdict=_trace_verdict,
        example='trace: {from: "22.80", to: "24.77"}',
        draws="line",
    ),
]
