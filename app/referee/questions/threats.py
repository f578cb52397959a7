"""`threats`: who can hurt whoever is in a hex or goes along a way, by fire."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.referee.questions.geometry import Place
from app.referee.questions.movement import LONGEST_LIST, step_of
from app.referee.questions.sight import POINTS as SIGHT_POINTS
from app.referee.questions.sight import SIGHTED, UNSIGHTED
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling, RulingError
from app.referee.words import LISTED, clauses, counted, is_long, rest_unknown, series
from importers.questions import Names

POINTS = (*SIGHT_POINTS, "css-47", "ccp-29", "ddp-3", "ddp-37", "ddp-48", "ddp-49", "ddp-52")
"""Contested points that fire into a hex turns on: sight, zones and fields."""


class Threatened(Arguments):
    """Where somebody is or goes, and whose he is."""

    one_of = ("hex", "path")
    which = "where? Give a hex or a path, one of them"
    hex: Place | None = Field(None, description="A hex label, or a unit where it stands")
    path: Annotated[list[str] | None, Names(("hex",)), Field(min_length=1)] = Field(
        None, max_length=LONGEST_LIST, description="Labels of the hexes of a way, in order"
    )
    unit: Annotated[str | None, Names(("unit",))] = Field(
        None, description="Who would be there; the enemies are its own"
    )
    side: Annotated[str | None, Names(("side",))] = Field(
        None, description="Whose enemies; needed where no unit is named and none stands there"
    )


def _threats(asked: Asked, of: Threatened) -> Finding:
    hexes, side = _places(asked, of)
    rows = asked.rows(
        f"select * from {asked.ruleset}.threats(:position, :hexes, :side, :conditions, :policy)",
        hexes=hexes,
        side=side,
    )
    shots = [row for row in rows if row.effect == "fires"]
    by = {code: list(dict.fromkeys(row.at for row in shots if row.by == code)) for code in _firers(shots)}
    counts = {label: sum(label in reached for reached in by.values()) for label in hexes}
    return Finding(
        {
            "counts": counts,
            # of several that are alike the first on the way
            "worst": max(counts, key=lambda label: counts[label]) if any(counts.values()) else None,
            "by": by,
            "with": {code: series(_arms(shots, code)) for code in by},
        },
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        [Need(row.note, row.rule) for row in rows if row.effect == "unknown"],
    )


def _firers(shots: list[Any]) -> list[str]:
    return sorted({row.by for row in shots})


def _arms(shots: list[Any], code: str) -> list[str]:
    return list(dict.fromkeys(row.facts["with"] for row in shots if row.by == code))


def _places(asked: Asked, of: Threatened) -> tuple[list[str], str]:
    """The hexes that are meant, by label, and whose enemies: the unit's, the side's, or of who stands there."""
    names = [of.hex] if of.hex is not None else list(of.path or ())
    rows = asked.rows("select * from positions.hexes_named(:position, :names)", names=names)
    if not rows:
        raise RulingError(f"{series(names)} is not on the map.")
    side = of.side or _side_of(asked, of.unit) or rows[0].side
    if side is None and len(rows[0].sides) == 1:
        [side] = rows[0].sides
    if side is None:
        raise RulingError("Whose enemies? Name a unit, or a side.")
    return list(dict.fromkeys(row.label for row in rows)), side


def _side_of(asked: Asked, unit: str | None) -> str | None:
    if unit is None:
        return None
    rows = asked.rows("select side from positions._asked_counter(:position, :unit)", unit=unit)
    side: str = rows[0].side
    return side


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    counts = answer["counts"]
    worst = answer["worst"]
    if worst is None:
        where = series(counts) if not is_long(counts, LISTED) else "any hex of the way"
        return clauses(f"No enemy can fire at {where}", rest_unknown(ruling))
    there = [code for code, hexes in answer["by"].items() if worst in hexes]
    told = series(f"{code} with {answer['with'][code]}" for code in there)
    who = counted(len(there), "unit") if is_long(there, LISTED) else told
    if len(counts) == 1:
        return clauses(
            f"{counted(counts[worst], 'enemy unit')} can fire at {worst}: {who}", rest_unknown(ruling)
        )
    safe = [label for label, count in counts.items() if not count]
    return clauses(
        f"The worst hex of the way is {worst}, at which {counted(counts[worst], 'enemy unit')} can fire: {who}",
        f"at {series(safe)} nobody can" if safe and not is_long(safe, LISTED) else None,
        rest_unknown(ruling),
    )


KIND = QuestionKind(
    name="threats",
    title="Who can hurt me here?",
    arguments=Threatened,
    rulesets=SIGHTED,
    rule=_threats,
    answers={
        "counts": "for every hex asked about, how many enemy units can fire at it",
        "worst": "the hex at which most can, the first of several; null where none can at any",
        "by": "for every enemy that can, the hexes at which",
        "with": "for every enemy that can, with what",
    },
    verdict=_verdict,
    points=POINTS,
    example='threats: {hex: "22.80", side: us}',
    draws="hexes",
    names_units=("by", "with"),
    lacking=UNSIGHTED,
)
