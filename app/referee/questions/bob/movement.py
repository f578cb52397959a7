"""`reach`, `stack`, `area_of_control`, `control` and `rout_path` of Band of Brothers.

Costs are halves of a movement point in SQL, so that ½ is exact, and points here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import Field

from app.referee.questions.movement import points, step_of
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling
from app.referee.words import clauses, counted, in_points, members, series
from db.charts import chart_needed
from importers.questions import Names

RULESETS = ("bob",)
Manner = Literal["move", "withdraw", "retreat", "seishin", "banzai", "reverse", "trail"]


class ReachOf(Arguments):
    """Whose reach, and how it moves."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that moves")
    manner: Manner | None = Field(
        None,
        alias="as",
        description="withdraw, retreat, seishin, banzai, reverse or trail; else a plain move",
    )
    cp: bool = Field(False, description="Whether a Command Point is spent on it: +1 MP (5.4)")
    off_path: bool = Field(False, description="Whether it keeps off Paths (53.0)")
    to: Annotated[str | None, Names(("hex",))] = Field(
        None, description="Tell a cheapest way to this hex, too"
    )
    read: dict[str, Any] = Field(
        default_factory=dict,
        description="Costs read off the Player Aid Card where they are not told: pac_terrain and pac_hexside",
    )


class InHex(Arguments):
    """Which hex."""

    hex: Annotated[str, Names(("hex", "unit"))] = Field(
        description="A hex label, or a unit that stands there"
    )


class OfSide(Arguments):
    """Whose area."""

    side: str = Field(min_length=1, max_length=80, description="The side, as its units name it")


class OfUnit(Arguments):
    """Which unit."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit")


def needs_of(ruleset: str, rows: list[sa.Row[Any]]) -> list[Need]:
    """What is not told, each by the chart that would tell it where there is one: `pac_terrain woods` by pac_terrain."""
    untold = {
        chart_needed(ruleset, row.note) or chart_needed(ruleset, row.note.split()[0]) or row.note: row.rule
        for row in rows
        if row.effect == "unknown"
    }
    return [Need(what, rule) for what, rule in untold.items()]


def _reach(asked: Asked, of: ReachOf) -> Finding:
    options = {"as": of.manner, "cp": of.cp, "off_path": of.off_path, "read": of.read}
    given = {"unit": of.unit, "options": {key: value for key, value in options.items() if value}}
    query = "(:position, :unit, :options, :conditions, :policy)"
    rows = asked.rows(f"select * from bob.reach{query}", **given)
    reasons = asked.reasons(f"select * from bob.reach_reasons{query}", **given)
    answer: dict[str, Any] = {"hexes": {row.label: points(row.halves) for row in rows}, "locations": {}}
    for row in asked.rows(f"select * from bob.reach_locations{query} order by halves desc", **given):
        answer["locations"].setdefault(row.label, {})[row.location] = points(row.halves)
    if of.to is not None:
        way = asked.rows(
            "select * from bob.reach_path(:position, :unit, :to, :options, :conditions, :policy)",
            to=of.to,
            **given,
        )
        answer["path"] = [row.label for row in way]
    return Finding(
        answer,
        [step_of(row) for row in reasons],
        [row.point for row in reasons if row.point],
        needs_of(asked.ruleset, reasons),
    )


def _reach_verdict(ruling: Ruling) -> str:
    hexes = ruling.answer["hexes"]
    unit = ruling.question["reach"]["unit"]
    if len(hexes) < 2:
        return f"{unit} can only stay where it is"
    return (
        f"{unit} can end its move in {counted(len(hexes), 'hex')} for up to {in_points(max(hexes.values()))}"
    )


def _last(rows: list[sa.Row[Any]], asked: Asked, answer: dict[str, Any]) -> Finding:
    return Finding(
        answer,
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        needs_of(asked.ruleset, rows[:-1]),
    )


def _stack(asked: Asked, of: InHex) -> Finding:
    rows = asked.rows("select * from bob.stack(:position, :hex, :conditions, :policy)", hex=of.hex)
    return _last(rows, asked, {"legal": rows[-1].effect == "legal", **rows[-1].facts})


def _stack_verdict(ruling: Ruling) -> str:
    answer, at = ruling.answer, ruling.question["stack"]["hex"]
    if answer["legal"]:
        return f"The units in {at} may stand together"
    return f"The units in {at} may not stand together: {answer['why']}"


def _area(asked: Asked, of: OfSide) -> Finding:
    query = "select * from bob.area_of_control(:position, :side, :conditions, :policy)"
    rows = asked.rows(query, side=of.side)
    return _last(rows, asked, dict(rows[-1].facts))


def _area_verdict(ruling: Ruling) -> str:
    side, hexes = ruling.question["area_of_control"]["side"], ruling.answer["hexes"]
    if hexes is None:
        return f"The Area of Control of {side} is not known: its Rout Edge is not told"
    return f"The Area of Control of {side} is {members(hexes, 'hex')}"


def _control(asked: Asked, of: InHex) -> Finding:
    rows = asked.rows("select * from bob.control(:position, :hex, :conditions, :policy)", hex=of.hex)
    return _last(rows, asked, dict(rows[-1].facts))


def _control_verdict(ruling: Ruling) -> str:
    at, side = ruling.question["control"]["hex"], ruling.answer["side"]
    return f"{side} controls {at}" if side else f"Nobody controls {at}"


def rout_answer(facts: dict[str, Any]) -> dict[str, Any]:
    """Where a unit may rout to, in points."""
    costs = {label: points(halves) for label, halves in facts["halves"].items()}
    return {key: value for key, value in facts.items() if key != "halves"} | {"costs": costs}


def _rout_path(asked: Asked, of: OfUnit) -> Finding:
    rows = asked.rows("select * from bob.rout_path(:position, :unit, :conditions, :policy)", unit=of.unit)
    return _last(rows, asked, rout_answer(rows[-1].facts))


def _rout_verdict(ruling: Ruling) -> str:
    answer, unit = ruling.answer, ruling.question["rout_path"]["unit"]
    if answer["eliminated"]:
        return f"{unit} is eliminated: {ruling.steps[-1].note}"
    return clauses(
        f"{unit} routs to {series(answer['destinations'])}",
        f"toward {answer['toward']}" if answer["toward"] else None,
        "toward the Rout Edge" if answer["edge"] else None,
    )


KINDS = [
    QuestionKind(
        name="reach",
        title="Where a unit can go",
        arguments=ReachOf,
        rulesets=RULESETS,
        rule=_reach,
        answers={
            "hexes": "every hex in which it can end its move, with the least cost",
            "locations": "Caves and levels of buildings into which it can go, by hex, each with the least cost",
            "path": "with `to`: a cheapest way, from where it stands",
        },
        verdict=_reach_verdict,
        points=("bob-1", "bob-44", "bob-45"),
        example='reach: {unit: "1/A"}',
    ),
    QuestionKind(
        name="stack",
        title="Who stands together",
        arguments=InHex,
        rulesets=RULESETS,
        rule=_stack,
        answers={
            "legal": "whether these units may stand together",
            "over": "how many are above the limits",
            "why": "where they may not: why",
        },
        verdict=_stack_verdict,
        points=("bob-1", "bob-44"),
        example='stack: {hex: "E4"}',
    ),
    QuestionKind(
        name="area_of_control",
        title="Area of Control",
        arguments=OfSide,
        rulesets=RULESETS,
        rule=_area,
        answers={"hexes": "the hexes of the area; null where the Rout Edge is not told"},
        verdict=_area_verdict,
        points=("bob-52",),
        example="area_of_control: {side: us}",
    ),
    QuestionKind(
        name="control",
        title="Who controls a hex",
        arguments=InHex,
        rulesets=RULESETS,
        rule=_control,
        answers={"side": "the side that was last alone in it; null where none was"},
        verdict=_control_verdict,
        points=(),
        example='control: {hex: "E4"}',
    ),
    QuestionKind(
        name="rout_path",
        title="Where a unit may rout to",
        arguments=OfUnit,
        rulesets=RULESETS,
        rule=_rout_path,
        answers={
            "destinations": "the hexes in which it may end",
            "costs": "movement points to each of them",
            "toward": "the hex that it heads for, where it cannot reach one that shelters it",
            "edge": "whether it makes for its Rout Edge",
            "eliminated": "whether it is lost, as it cannot rout or routs off the board",
        },
        verdict=_rout_verdict,
        points=("bob-50", "bob-52"),
        example='rout_path: {unit: "1/A"}',
    ),
]
