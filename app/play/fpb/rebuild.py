"""Rebuilds (11.1): depleted Japanese units that are whole again at the end of their Movement Phase."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Generator
from typing import Annotated, Any

from pydantic import Field

from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    Undecided,
    Want,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import counted, series
from importers.questions import Names

MOST_UNITS = 30
"""Units that one question names: more than the Japanese have on an island."""
STRENGTHS = ("attack", "defense", "movement")


class Rebuild(Action):
    """Which units."""

    units: Annotated[list[str] | None, Names(("unit",)), Field(max_length=MOST_UNITS)] = Field(
        None, description="Ids of the units that are rebuilt; without them, those that must be"
    )


def rebuild(of: Rebuild) -> Procedure:
    """11.1: after all movement."""
    rows = yield Ask("select * from fpb.rebuild(:position, :conditions, :policy)")
    facts = rows[-1].facts
    yield Tell(limit=facts["limit"], eligible=facts["eligible"])
    if facts["limit"] is None:
        raise Undecided()
    yield from _in_time()
    units = of.units if of.units is not None else (yield from _chosen(facts))
    _check(units, facts)
    for unit in units:
        yield from whole(unit)
        yield Change({"unit": unit, "rebuilt": True}, kept=True)


def _in_time() -> Procedure:
    [row] = yield Ask("select cast(:conditions as jsonb) as now", proves=False)
    if row.now.get("active") == "us" or row.now.get("phase", "movement") != "movement":
        raise Refused("11.1", "units are rebuilt at the end of the Japanese Movement Phase")


def _chosen(facts: dict[str, Any]) -> Generator[Want, Any, list[str]]:
    """Those that must be; among equals, and with two players, somebody chooses."""
    number, must, eligible = facts["number"], facts["must"], facts["eligible"]
    if not eligible or not facts["limit"]:
        return []
    if number is not None and len(must) == number:
        return list(must)
    if number is None:
        chosen: list[str] = yield Choose(
            "units", "japan", "who is rebuilt", options=eligible, many=True, default=[]
        )
        return chosen
    others = [unit for unit in eligible if unit not in must]
    sets = [sorted([*must, *more]) for more in itertools.combinations(others, number - len(must))]
    chosen = yield Choose("units", "us", "who of equals is rebuilt", options=sets)
    return chosen


def _check(units: list[str], facts: dict[str, Any]) -> None:
    if len(set(units)) != len(units):
        raise Refused("11.1", "a unit is named twice")
    if len(units) > facts["limit"]:
        most = (
            f"{counted(facts['limit'], 'rebuild')} and no more"
            if facts["limit"]
            else "nobody may be rebuilt now"
        )
        raise Refused("11.1", most)
    if others := [unit for unit in units if unit not in facts["eligible"]]:
        raise Refused("11.1", f"{series(others)} may not be rebuilt")
    if facts["number"] is not None:
        if left := [unit for unit in facts["must"] if unit not in units]:
            raise Refused("11.1", f"{series(left)} must be rebuilt")
        if len(units) < facts["number"]:
            raise Refused("11.1", f"{counted(facts['number'], 'unit')} must be rebuilt")


def whole(unit: str) -> Procedure:
    """A depleted counter shows its front again; where nobody has told that, it is told so."""
    [row] = yield Ask(
        "select attributes from unit where position_id = :position and code = :unit", proves=False, unit=unit
    )
    said = row.attributes
    front = said.get("back")
    if front is None:
        yield Tell(Step("2.3", None, "flips", f"what the front of {unit} shows is not told"))
        yield Change({"unit": unit, "depleted": False})
        yield Change({"unit": unit, **dict.fromkeys(STRENGTHS)}, kept=True)
        return
    back = {key: said[key] for key in STRENGTHS if key in said}
    yield Change(
        {"unit": unit, "depleted": False, **{key: front.get(key) for key in STRENGTHS}, "back": back or None}
    )


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "How many may be rebuilt is not known: the island is not told"
    if not answer["allowed"]:
        return f"No rebuild: {answer['why']}"
    if "pending" in answer:
        return f"{counted(answer['limit'], 'rebuild')}, of {series(answer['eligible'])}: to be chosen"
    units = [effect["unit"] for effect in answer["effects"]]
    return f"Rebuilt: {series(units)}" if units else f"Nobody is rebuilt, where {answer['limit']} might be"


KINDS = [
    procedure_kind(
        rebuild,
        kinds=functools.partial(kinds_of, "fpb"),
        name="rebuild",
        title="Japanese rebuilds",
        arguments=Rebuild,
        rulesets=("fpb",),
        answers={
            "limit": "how many may be rebuilt now; null where the island is not told",
            "eligible": "ids of the units of which they may be",
        },
        verdict=_verdict,
        points=("fpb-3",),
        example="rebuild: {units: []}",
        names_units=("eligible",),
    ),
]
