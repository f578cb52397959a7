"""Japanese placement (18.1, 18.4, 19.0): a row of the table and a die, rolled again while the hex is taken; or freely."""

from __future__ import annotations

import functools
from collections.abc import Generator
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from app.play.procedures import Action, Ask, Change, Procedure, Refused, Roll, Tell, Want, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, RulingError, Step
from app.referee.words import counted, series
from db.rulesets.fpb.counters import Island
from importers.questions import Names


class Placement(Action):
    """Which row of which island; or, in free deployment, which unit where."""

    island: Island | None = Field(None, description="The island; without it the one that is played")
    row: int | str | None = Field(
        None, description="The row of the table by its number, or as it is printed: `3-4-8 (1/38)`"
    )
    unit: Annotated[str | None, Names(("unit",))] = Field(
        None, description="The unit that is placed; without it one of the same strengths that is off the map"
    )
    at: Annotated[str | None, Names(("hex",))] = Field(
        None, description="In free deployment: the hex that its owner wrote down"
    )

    @model_validator(mode="after")
    def by_die_or_freely(self) -> Self:
        if (self.row is None) == (self.at is None):
            raise ValueError("a `row` is placed by die, a `unit` is deployed `at` a hex: one of the two")
        if self.at is not None and self.unit is None:
            raise ValueError("free deployment names the `unit`")
        return self


def placement(of: Placement) -> Procedure:
    """19.0: roll, and roll again while a Japanese unit is there (5.3)."""
    if of.at is not None:
        yield from _deployed(of)
        return
    key = yield from _row_key(of)
    rows = yield Ask("select * from fpb.placement(:position, :row, :conditions, :policy)", row=key)
    facts = rows[-1].facts
    yield Tell(rerolls=0, odds=facts["odds"], basis="a hex that is taken is rolled again")
    rerolls = 0
    while True:
        die = yield Roll("1d6", f"the placement of {key}")
        face = facts["faces"][str(die)]
        if face["free"]:
            break
        rerolls += 1
        yield Tell(Step("19.0", face["at"], "rolled again", "a Japanese unit is there"), rerolls=rerolls)
    yield Tell(at=face["at"], result=face["at"])
    if not face["mapped"]:
        yield Tell(Step("19.0", face["at"], "assumed", "this map does not show the hex"))
        return
    yield Change(_counter(of, key, facts) | {"at": face["at"]})


def _counter(of: Placement, key: str, facts: dict[str, Any]) -> dict[str, Any]:
    """The unit that is placed; where the position has none like it, one as the table prints it."""
    known = of.unit or facts["counter"]
    if known is not None:
        return {"unit": known}
    printed = facts["unit"]
    strengths = {name: int(printed[name]) for name in ("attack", "defense", "movement")}
    identifier = {"identifier": printed["identifier"]} if "identifier" in printed else {}
    return (
        {"unit": key, "side": "japan", "kind": "infantry", "island": key.partition("/")[0]}
        | strengths
        | identifier
    )


def _row_key(of: Placement) -> Generator[Want, Any, str]:
    """The key of a row: by number, or by strengths and identifier as the table prints them."""
    [row] = yield Ask("select cast(:conditions as jsonb) as now", proves=False)
    island = of.island or row.now.get("island")
    if island is None:
        raise RulingError("The island of the row is not told.", "Name it: `island: angaur`.")
    if row.now.get("free_deployment") and row.now.get("mode") != "solitaire":
        raise Refused("18.4", "in free deployment nobody rolls: name unit and hex")
    if row.now.get("phase") is not None:
        raise Refused("18.1", "the Japanese are set up before the first phase")
    cells = yield Ask(
        "select row_key, column_key, value from charts.cells('fpb', 'random_placement')"
        " where split_part(row_key, '/', 1) = :island",
        proves=False,
        island=island,
    )
    table: dict[str, dict[str, str]] = {}
    for cell in cells:
        table.setdefault(cell.row_key, {})[cell.column_key] = cell.value
    numbered = f"{island}/{of.row}"
    # on Tinian numbers are identifiers as well
    found = (
        [numbered] if numbered in table else [key for key in table if str(of.row) in _names(key, table[key])]
    )
    if len(found) != 1:
        rows = series(f"{key.partition('/')[2]}: {_names(key, table[key])[1]}" for key in found or table)
        raise RulingError(
            f"{len(found) or 'No'} rows of {island.title()} are {of.row}.", f"Name one by its number: {rows}."
        )
    return found[0]


def _names(key: str, printed: dict[str, str]) -> list[str]:
    strengths = "-".join(printed[name] for name in ("attack", "defense", "movement"))
    identifier = printed.get("identifier")
    if identifier in (None, "-"):
        return [key.partition("/")[2], strengths, key]
    return [key.partition("/")[2], f"{strengths} ({identifier})", key, str(identifier), strengths]


def _deployed(of: Placement) -> Procedure:
    """18.4: where its owner wrote it down."""
    rows = yield Ask(
        "select * from fpb.deployment(:position, :unit, :at, :conditions, :policy)", unit=of.unit, at=of.at
    )
    for row in rows:
        if row.effect == "forbids":
            raise Refused(row.rule, row.note, row.at)
    yield Tell(at=of.at, rerolls=0)
    yield Change({"unit": of.unit, "at": of.at})


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["placement"], ruling.answer
    who = of.get("unit") or f"row {of.get('row')}"
    if not answer["allowed"]:
        return f"{who} is not placed: {answer['why']}"
    if "pending" in answer:
        chances = series(f"{hexes} {chance}" for hexes, chance in sorted(answer["odds"].items()))
        return f"{who} is placed by die: {chances}"
    again = f", after {counted(answer['rerolls'], 'roll')} for taken hexes" if answer["rerolls"] else ""
    return f"{who} is placed in {answer['at']}{again}"


KINDS = [
    procedure_kind(
        placement,
        kinds=functools.partial(kinds_of, "fpb"),
        name="placement",
        title="Japanese placement",
        arguments=Placement,
        rulesets=("fpb",),
        answers={
            "at": "the hex",
            "rerolls": "rolls that gave a taken hex",
            "result": "the hex, as the odds name it",
        },
        verdict=_verdict,
        example="placement: {island: angaur, row: 3, rolls: [3]}",
    ),
]
