"""Assault boats (12.0): where the landings are made, and the beaches that are open at once."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from pydantic import Field

from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling
from app.referee.words import series
from importers.questions import Names

MOST_LABELS = 20
"""Hexes that one question names: more than there are markers in the game."""


class AssaultBoats(Action):
    """Which hexes."""

    at: Annotated[list[str], Names(("hex",)), Field(max_length=MOST_LABELS)] = Field(
        description="Labels of the hexes that get an assault boat marker"
    )


def flipped(label: str) -> list[dict[str, Any]]:
    """An assault boat marker that shows its other side."""
    return [
        {"marker": "assault_boat", "at": label, "removed": True},
        {"marker": "landing_beach", "at": label},
    ]


def assault_boats(of: AssaultBoats) -> Procedure:
    """12.0: markers are placed, and those in free hexes flip."""
    rows = yield Ask(
        "select * from fpb.assault_boats(:position, :labels, :conditions, :policy)", labels=of.at
    )
    verdict = rows[-1]
    yield Tell(refused=verdict.facts["refused"])
    if not verdict.facts["allowed"]:
        raise Refused(verdict.rule, verdict.note)
    for label in verdict.facts["boats"]:
        yield Change({"marker": "assault_boat", "at": label})
        if label in verdict.facts["flips"]:
            yield Change(*flipped(label))
    [row] = yield Ask(
        "select count(*) as lying from marker where position_id = :position"
        " and kind in ('assault_boat', 'landing_beach')",
        proves=False,
    )
    yield Change({"track": "boats_placed", "value": row.lying}, kept=True)


def open_beaches(_: Action) -> Procedure:
    """18.1, 12.0: boats that were placed at set-up flip where the Japanese set-up has left their hexes free."""
    rows = yield Ask("select * from fpb.open_beaches(:position, :conditions, :policy)")
    for row in rows:
        if row.effect == "flips":
            yield Change(*flipped(row.at))


def _boats_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    where = series(ruling.question["assault_boats"]["at"]) or "no hex"
    if not answer["allowed"]:
        refused = answer["refused"]
        why = next(iter(refused.values())) if list(refused) == [where] else answer["why"]
        return f"No assault boats in {where}: {why}"
    beaches = [
        effect["at"]
        for effect in answer["effects"]
        if effect.get("marker") == "landing_beach" and not effect.get("removed")
    ]
    flips = f"; {series(beaches)} at once a landing beach" if beaches else ""
    return f"Assault boats in {where}{flips}"


def _open_verdict(ruling: Ruling) -> str:
    beaches = [effect["at"] for effect in ruling.answer["effects"] if effect["marker"] == "landing_beach"]
    return f"Landing beaches open in {series(beaches)}" if beaches else "No landing beach opens"


class NothingMore(Action):
    """What is asked is only the position."""


KINDS = [
    procedure_kind(
        assault_boats,
        kinds=functools.partial(kinds_of, "fpb"),
        name="assault_boats",
        title="Placing assault boats",
        arguments=AssaultBoats,
        rulesets=("fpb",),
        answers={"refused": "hexes that may not have a marker, each with what stands against it"},
        verdict=_boats_verdict,
        points=("fpb-21", "fpb-23", "fpb-43"),
        example='assault_boats: {at: ["1404"]}',
    ),
    procedure_kind(
        open_beaches,
        kinds=functools.partial(kinds_of, "fpb"),
        name="open_beaches",
        title="Boats that flip as the first Movement Phase begins",
        arguments=NothingMore,
        rulesets=("fpb",),
        verdict=_open_verdict,
        points=("fpb-21",),
        acts=False,
        example="open_beaches: {}",
    ),
]
