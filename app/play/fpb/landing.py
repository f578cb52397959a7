"""Landings (11.2, 12.0, 12.1, 13.0): with the boats, into the sea for an assault, as a reinforcement, and mobile."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from pydantic import Field

from app.play.fpb.boats import flipped
from app.play.fpb.movement import MOST_HEXES, captured, moved
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.questions.movement import points
from app.referee.rulings import Ruling
from app.referee.words import clauses, in_points, not_known
from importers.questions import Names


class Landing(Action):
    """Who lands where, from which sea hex, and how it goes on."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that lands")
    at: Annotated[str, Names(("hex",))] = Field(description="The hex of the marker: boats or landing beach")
    source: Annotated[str | None, Names(("hex",))] = Field(
        None, alias="from", description="The sea hex from which it will assault, beside boats in a held hex"
    )
    path: Annotated[list[str] | None, Names(("hex",)), Field(max_length=MOST_HEXES)] = Field(
        None, description="Labels of the hexes that it enters after the beach, in order"
    )


def landing(of: Landing) -> Procedure:
    """11.2, 12.0: one unit comes to the island."""
    path = of.path[1:] if of.path and of.path[0] == of.at else of.path or []
    query = "select * from fpb.landing(:position, :unit, :at, :source, :onward, :conditions, :policy)"
    rows = yield Ask(query, unit=of.unit, at=of.at, source=of.source, onward=bool(path))
    verdict, facts = rows[-1], rows[-1].facts
    if facts["allowed"] is False:
        raise Refused(verdict.rule, verdict.note, of.at, cost=None, left=None, ends_at=None)
    if facts["allowed"] is None:
        raise Undecided(cost=None, left=None, ends_at=None)
    if facts["way"] == "assault":
        yield from _to_sea(of, facts["berths"])
        return
    phase = "mobile_movement" if facts["way"] == "mobile" else "movement"
    if facts["flips"]:
        yield Change(*flipped(of.at))
    yield Change({"unit": of.unit, "at": of.at})
    # 11.2: of what comes after all movement, only what goes on foot stays for good
    rest = None if path else phase if facts["way"] == "mobile" else "movement" if facts["stays"] else None
    yield Change({"unit": of.unit, "landed": phase, "moved": rest}, kept=True)
    if facts["captures"]:
        yield from captured(of.at)
    yield Tell(cost=points(facts["cost"]), left=points(facts["left"]), ends_at=of.at)
    if path:
        yield from moved(of.unit, path, phase)


def _to_sea(of: Landing, berths: list[str]) -> Procedure:
    """12.0: beside a held hex it waits in the sea, and will assault it."""
    source = of.source
    if of.path:
        raise Refused(
            "12.1", "from the sea it comes ashore by assault", of.at, cost=None, left=None, ends_at=None
        )
    if source is None:
        source = (
            berths[0] if len(berths) == 1 else (yield Choose("from", "us", "the sea hex", options=berths))
        )
    yield Change({"unit": of.unit, "at": source, "assaulting": of.at})
    yield Change({"unit": of.unit, "landed": "movement", "moved": "movement"}, kept=True)
    yield Tell(cost=0, left=None, ends_at=source)


def _landing_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["landing"], ruling.answer
    if answer["allowed"] is None:
        return not_known(f"{of['unit']} may land in {of['at']}", ruling)
    if not answer["allowed"]:
        return f"{of['unit']} may not land in {of['at']}: {answer['why']}"
    if "pending" in answer:
        return f"{of['unit']} is put into the sea beside {of['at']}; the hex is to be chosen"
    afloat = any(effect.get("assaulting") for effect in answer["effects"])
    return clauses(
        f"{of['unit']} waits in {answer['ends_at']} to assault {of['at']}"
        if afloat
        else f"{of['unit']} lands in {of['at']}",
        None if afloat or answer["ends_at"] == of["at"] else f"it goes on to {answer['ends_at']}",
        f"{in_points(answer['cost'])} spent" if answer["cost"] else None,
    )


ANSWERS: dict[str, Any] = {
    "cost": "points that it spends, coming ashore included",
    "left": "points that it has left; null for a unit in the sea",
    "ends_at": "the hex in which it ends",
}

KINDS = [
    procedure_kind(
        landing,
        kinds=functools.partial(kinds_of, "fpb"),
        name="landing",
        title="Landing",
        arguments=Landing,
        rulesets=("fpb",),
        answers=ANSWERS,
        verdict=_landing_verdict,
        points=("fpb-3", "fpb-4", "fpb-5", "fpb-21", "fpb-22", "fpb-28", "fpb-47", "fpb-48"),
        example='landing: {unit: 1/22, at: "1404"}',
    ),
]
