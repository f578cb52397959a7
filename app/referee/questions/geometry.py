"""`range` and `trace`: distance and what a straight line passes, for every ruleset."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, Step
from app.referee.words import LISTED, clauses, counted, is_long, series
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
