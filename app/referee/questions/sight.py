"""`los` and `fan`: who sees whom, and all that a hex sees."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from app.referee.questions.geometry import Ends, Place
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling, Step
from app.referee.words import clauses, members, not_known, series

SIGHTED = ("css", "ccp", "bob", "ddp")
"""Rulesets with a line of sight; each has the SQL functions `los` and `fan`."""
KEPT = ("css", "ccp", "bob")
"""Those whose lines are kept from one question to the next: they hang on map, markers, conditions and their ends alone."""
UNSIGHTED = {"fpb": "units fight who is adjacent, and support fire needs no line of sight (fpb 7.0, 8.0)"}
POINTS = (
    "css-11", "css-12", "css-43", "css-44", "css-54", "css-62", "css-64", "ccp-7", "ccp-33", "ccp-34",
    "bob-3", "bob-33", "ddp-38",
)  # fmt: skip
"""Contested points that a line of sight turns on."""


class FanOf(Arguments):
    """From where, and how far."""

    start: Place = Field(alias="from", description="A hex label or a unit's id")
    range: Annotated[int, Field(ge=1, le=24)] | None = Field(None, description="No farther than this")


def _los(asked: Asked, ends: Ends) -> Finding:
    function = f"{asked.ruleset}.los(:position, :start, :target, :conditions, :policy)"
    if asked.as_it_stands and asked.ruleset in KEPT:
        function = "positions.line(:position, :start, :target)"
    rows = asked.rows(f"select * from {function}", start=ends.start, target=ends.target)
    verdict = rows[-1]
    unknown = [row for row in rows[:-1] if row.effect == "unknown"]
    visible = None if verdict.effect == "unknown" else verdict.effect == "visible"
    # null in a game that knows no hindrance
    hindered = {} if verdict.hindrance is None else {"hindrance": verdict.hindrance}
    return Finding(
        {
            "visible": visible,
            "range": verdict.range,
            **hindered,
            "blocked_by": list(dict.fromkeys(row.at for row in rows if row.effect == "blocks" and row.at)),
        },
        [Step(row.rule, row.at, row.effect, row.note, row.clause) for row in rows],
        [row.point for row in rows if row.point],
        [Need(row.note, row.rule) for row in unknown] if visible is None else [],
    )


def _fan(asked: Asked, fan: FanOf) -> Finding:
    given = {"start": fan.start, "range": fan.range}
    if asked.as_it_stands:
        # what a position as it is saved sees, and why no more, is kept from one question to the next
        rows = asked.rows("select label from positions.viewshed(:position, :start, :range)", **given)
        reasons = asked.reasons(
            "select * from positions.viewshed_reasons(:position, :start, :range)", **given
        )
    else:
        arguments = "(:position, :start, :range, :conditions, :policy)"
        rows = asked.rows(f"select label from {asked.ruleset}.fan{arguments}", **given)
        reasons = asked.reasons(f"select * from {asked.ruleset}.fan_reasons{arguments}", **given)
    return Finding(
        {"visible": sorted(row.label for row in rows)},
        [Step(row.rule, row.at, row.effect, row.note, row.clause) for row in reasons],
        [row.point for row in reasons if row.point],
    )


def _sees(ruling: Ruling, visible: bool | None = True) -> str:
    """In the words of the game: ddp has ranged fire, and no sight beside it (ddp 8.1)."""
    if ruling.ruleset == "ddp":
        return "may not fire at" if visible is False else "may fire at"
    return "does not see" if visible is False else "sees"


def _los_verdict(ruling: Ruling) -> str:
    answer, ends = ruling.answer, ruling.question["los"]
    visible, hindrance = answer["visible"], answer.get("hindrance")
    seen = f"{ends['from']} {_sees(ruling, visible)} {ends['to']}"
    hindered = f"hindrance {hindrance}" if hindrance else None
    distance = None if answer["range"] is None else f"range {answer['range']}"
    if visible is None:
        return not_known(seen, ruling, hindered, distance)
    if not visible:
        return clauses(f"{seen}: {_obstacles(ruling)}", hindered, distance)
    return clauses(f"{seen} unhindered" if hindrance == 0 else seen, hindered, distance)


def _obstacles(ruling: Ruling) -> str:
    """What stops a line; of an end that does, such as one that is too far, why alone."""
    ends = {*ruling.question["los"].values(), ruling.steps[-1].at if ruling.steps else None}
    between = [place for place in ruling.answer["blocked_by"] if place not in ends]
    at_ends = {step.at: step.note for step in ruling.steps if step.effect == "blocks" and step.at in ends}
    # how far is seen is told of an end, which is no obstacle itself
    return clauses(*dict.fromkeys(at_ends.values()), f"blocked by {series(between)}" if between else None)


def _fan_verdict(ruling: Ruling) -> str:
    fan = ruling.question["fan"]
    within = f"within range {fan['range']}" if "range" in fan else ""
    return f"{fan['from']} {_sees(ruling)} {members(ruling.answer['visible'], 'hex', within)}"


KINDS = [
    QuestionKind(
        name="los",
        title="Line of sight",
        arguments=Ends,
        rulesets=SIGHTED,
        rule=_los,
        answers={
            "visible": "true, false, or null where the rulebook does not print what would decide it",
            "range": "hexes from one to the other",
            "hindrance": "ccp, bob: by how much fire along the line is hindered, 0 where by nothing",
            "blocked_by": "every hex and hexside that stops the line",
        },
        verdict=_los_verdict,
        points=POINTS,
        example='los: {from: "22.80", to: "24.77"}',
        draws="line",
        lacking=UNSIGHTED,
    ),
    QuestionKind(
        name="fan",
        title="All that is seen",
        arguments=FanOf,
        rulesets=SIGHTED,
        rule=_fan,
        answers={"visible": "labels of all hexes seen"},
        verdict=_fan_verdict,
        points=POINTS,
        example='fan: {from: "22.80", range: 4}',
        draws="hexes",
        lacking=UNSIGHTED,
    ),
]
