"""`terrain_line`, `crt`, `fortified` and `retreat`: where a combat is read, who is dug in, and where the beaten go."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import Field

from app.referee.questions.geometry import Place
from app.referee.questions.movement import step_of
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling
from app.referee.words import clauses, counted, members, needs_in_words, not_known, series
from importers.questions import Names


class TerrainLine(Arguments):
    """Which hex, and who attacks it."""

    at: Place = Field(description="The hex that is attacked, or a unit in it")
    by: Annotated[list[str] | None, Names(("unit", "hex"))] = Field(
        None, description="Ids of the units that attack, or the hexes they attack from"
    )
    bombardment: bool = Field(
        False,
        description="Whether it is a bombardment, in which no unit takes part: `by` then does not matter",
    )


class ResultsTable(Arguments):
    """Where the table is read."""

    line: Annotated[int, Field(ge=1, le=5)] = Field(description="The terrain line, 1 to 5 from the top")
    differential: Annotated[int, Field(ge=-99, le=99)] = Field(
        description="Strength of the attack less that of the defense"
    )
    roll: Annotated[int | None, Field(ge=1, le=6)] = Field(
        None, description="What the die shows; without it the odds are told"
    )


class FortifiedUnit(Arguments):
    """Which unit."""

    unit: Annotated[str, Names(("unit",))] = Field(description="A unit's id")


class RetreatOf(Arguments):
    """Which unit, how far, and after what."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that must retreat")
    hexes: Annotated[int, Field(ge=1, le=3)] = Field(description="How many hexes the result demands")
    after: Literal["attack", "bombardment"] = Field(
        "attack", description="What it suffered: an attack (the default) or a bombardment"
    )


def _finding(rows: list[sa.Row[Any]]) -> Finding:
    """The facts of a ledger's last row, and its steps; what is not told is needed where there is no verdict."""
    untold = rows[-1].effect == "unknown"
    return Finding(
        rows[-1].facts,
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        [Need(row.note, row.rule) for row in rows[:-1] if row.effect == "unknown"] if untold else [],
    )


def _terrain_line(asked: Asked, of: TerrainLine) -> Finding:
    return _finding(
        asked.rows(
            f"select * from {asked.ruleset}.terrain_line("
            ":position, :at, :by, :bombardment, :conditions, :policy)",
            at=of.at,
            # 8.1.4: hexsides are void in a bombardment, wherever units stand
            by=[] if of.bombardment else of.by or [],
            bombardment=of.bombardment,
        )
    )


def _crt(asked: Asked, of: ResultsTable) -> Finding:
    return _finding(
        asked.rows(
            f"select * from {asked.ruleset}.crt(:position, :line, :differential, :roll, :conditions, :policy)",
            line=of.line,
            differential=of.differential,
            roll=of.roll,
        )
    )


def _fortified(asked: Asked, of: FortifiedUnit) -> Finding:
    return _finding(
        asked.rows(
            f"select * from {asked.ruleset}.fortified(:position, :unit, :conditions, :policy)", unit=of.unit
        )
    )


def _retreat(asked: Asked, of: RetreatOf) -> Finding:
    return _finding(
        asked.rows(
            f"select * from {asked.ruleset}.retreat(:position, :unit, :hexes, :after, :conditions, :policy)",
            unit=of.unit,
            hexes=of.hexes,
            after=of.after,
        )
    )


def _terrain_line_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["terrain_line"], ruling.answer
    attack = f"A bombardment of {of['at']}" if of.get("bombardment") else f"An attack on {of['at']}"
    if answer["line"] is not None:
        return f"{attack} uses line {answer['line']}: {answer['why']}"
    return clauses(
        f"{attack} has no line: {answer['why']}", needs_in_words(ruling.needs) if ruling.needs else None
    )


def _crt_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["crt"], ruling.answer
    where = f"Line {of['line']}, differential {of['differential']}"
    if answer["column"] is None:
        return f"{where}: no attack can be made"
    if "odds" in answer:
        chances = series(f"{result} {chance}" for result, chance in sorted(answer["odds"].items()))
        return f"{where} is column {answer['column']}: {chances}"
    return f"{where} is column {answer['column']}: a roll of {of['roll']} is {answer['result']}"


def _fortified_verdict(ruling: Ruling) -> str:
    unit, answer = ruling.question["fortified"]["unit"], ruling.answer
    if answer["fortified"] is None:
        return not_known(f"{unit} is fortified", ruling)
    if not answer["fortified"]:
        return f"{unit} is not fortified"
    return f"{unit} is fortified{' by ' + series(answer['by']) if answer['by'] else ''}"


def _retreat_verdict(ruling: Ruling) -> str:
    unit, answer = ruling.question["retreat"]["unit"], ruling.answer
    loss = "is eliminated" if answer["eliminated"] else "is depleted" if answer["depletes"] else None
    if answer["distance"] is None:
        return clauses(f"{unit} goes off the map", f"it {loss}" if loss else None)
    if not answer["distance"]:
        return clauses(f"{unit} cannot retreat", f"it {loss}" if loss else None)
    way = f"{unit} retreats {counted(answer['distance'], 'hex')}"
    return clauses(
        f"{way}, to {members(answer['ends'], 'hex')}"
        if answer["ends"]
        else f"{way}, if it displaces who is in {series(answer['displace'])}",
        f"through {series(answer['through'])}" if answer["through"] else None,
        f"it {loss}" if loss else None,
    )


KINDS = [
    QuestionKind(
        name="terrain_line",
        title="Terrain line of an attack",
        arguments=TerrainLine,
        rulesets=("fpb",),
        rule=_terrain_line,
        answers={
            "line": "the line of the Combat Results Table, 1 to 5; null where there is none",
            "why": "the terrain or crossing that gives it, or what stands against the attack",
        },
        verdict=_terrain_line_verdict,
        points=("fpb-1", "fpb-2", "fpb-32", "fpb-49"),
        example='terrain_line: {at: "1404", by: [1/22, 2/22]}',
    ),
    QuestionKind(
        name="crt",
        title="Combat results table",
        arguments=ResultsTable,
        rulesets=("fpb",),
        rule=_crt,
        answers={
            "column": "the column, 1 to 13; null where no attack can be made",
            "result": "with a roll: what the table says",
            "odds": "without a roll: each result with its chance, a fraction in lowest terms",
        },
        verdict=_crt_verdict,
        points=("fpb-29",),
        example="crt: {line: 5, differential: 3, roll: 1}",
    ),
    QuestionKind(
        name="fortified",
        title="Fortified units",
        arguments=FortifiedUnit,
        rulesets=("fpb",),
        rule=_fortified,
        answers={
            "fortified": "true, false, or null where the island is not told",
            "by": "ids of the Japanese engineers whose caves it is in",
        },
        verdict=_fortified_verdict,
        example="fortified: {unit: 1/38}",
        names_units=("by",),
    ),
    QuestionKind(
        name="retreat",
        title="Where a unit retreats",
        arguments=RetreatOf,
        rulesets=("fpb",),
        rule=_retreat,
        answers={
            "distance": "hexes from where it stands that it can get to; null for a unit in the sea",
            "ends": "free hexes where it may end",
            "displace": "where there is no free one: hexes of friends who can give way",
            "through": "hexes of friends through which it must go",
            "depletes": "whether the retreat costs it a step",
            "eliminated": "whether it is lost",
            "repulsed": "whether it goes off the map, from an assault out of the sea",
            "stiff": "what standing instead costs it: `depletes` or `eliminated`; null where it may not",
            "unless_displaced": "what becomes of it where it would have to displace a friend and does not",
        },
        verdict=_retreat_verdict,
        points=("fpb-3", "fpb-15", "fpb-16", "fpb-20", "fpb-42"),
        example="retreat: {unit: 1/22, hexes: 2}",
        draws="hexes",
    ),
]
