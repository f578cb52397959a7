"""Nights of Bloody Nose Ridge: US withdrawal and relief (18.37), Japanese reorganization (18.21)."""

from __future__ import annotations

import functools
from typing import Any

from pydantic import Field

from app.play.ddp import cards
from app.play.ddp.acting import Doing, is_ridge, scene
from app.play.ddp.fortification import marker_at, replace
from app.play.ddp.landing import Spot
from app.play.ddp.placing import pool
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, series

RELIEF = "select * from ddp.relief(:position, :battalion, :conditions, :policy)"
REORGANIZATION = "select * from ddp.reorganization(:position, :colors, :conditions, :policy)"


class Relief(Action):
    """Which battalion is withdrawn."""

    withdraw: str | None = Field(
        None, description="The battalion that is withdrawn, such as 3/7; without it nobody comes or goes"
    )


class Reorganize(Action):
    """What is drawn is a fire card."""


def relief(of: Relief) -> Procedure:
    """18.37: one whole battalion for the units of this night's space, or everybody stays."""
    rows = yield Ask(RELIEF, battalion=of.withdraw)
    facts = rows[-1].facts
    if not facts["allowed"]:
        bar = next(row for row in rows if row.effect == "forbids")
        raise Refused(bar.rule, rows[-1].note)
    space = {} if facts["space"] is None else {"arrives": facts["space"]}
    if of.withdraw is None:
        for code in facts["due"]:
            yield Change({"unit": code, **(space or {"arrives": None})})
        yield Tell(withdrawn=[], arrived={}, to=facts["space"])
        return
    arrived: dict[str, str] = {}
    for code in facts["due"]:
        to = str((yield Spot(code, "us", f"where {code} is placed", facts["open"])))
        if to not in facts["open"]:
            raise Refused("18.37", f"{code} may not be placed in {to}", to)
        arrived[code] = to
    for code in facts["withdrawn"]:
        yield Change({"unit": code, "at": None, **space})
    for code, to in arrived.items():
        yield Change({"unit": code, "at": to, "arrives": None})
    yield Tell(
        Step("18.37", None, "relief", f"battalion {of.withdraw} waits in space {facts['space']}"),
        withdrawn=facts["withdrawn"],
        arrived=arrived,
        to=facts["space"],
    )


def reorganize(of: Reorganize) -> Procedure:
    """18.21: units and depth leave fortified mountain positions of the three colours, back to their pools."""
    now = yield from scene()
    if not is_ridge(now.conditions):
        raise Refused("18.21", "the Japanese reorganize on nights of Bloody Nose Ridge")
    card = yield from cards.fire("the Japanese reorganization")
    rows = yield Ask(REORGANIZATION, colors=[color.name for color in card.colors])
    removed: list[str] = []
    depth = 0
    for facts in (row.facts for row in rows):
        depth += bool(facts["depth"])
        if facts["fortification"]:
            yield from _bare(facts["label"])
        else:
            removed.append(facts["code"])
            yield Change(
                {"unit": facts["code"], "at": None, "status": "reserve", "revealed": False, "depth": None}
            )
    yield from _back("reserve", removed)
    yield from _back("depth", [{}] * depth)
    yield Change({"conditions": {"drawn": (now.conditions.get("drawn") or 0) + 1}}, kept=True)
    yield Tell(removed=removed, depth=depth)


def _bare(label: str) -> Doing:
    marker = yield from marker_at(label)
    yield from replace(label, {key: value for key, value in marker.attributes.items() if key != "depth"})


def _back(name: str, counters: list[Any]) -> Doing:
    """Counters go back to a pool, where it is told."""
    held = yield from pool(name)
    if counters and held is not None:
        now = [*held, *counters] if isinstance(held, list) else held + len(counters)
        yield Change({"side": "japan", name: now})


def _relief_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if not answer["allowed"]:
        return f"There is no relief: {answer['why']}"
    if "withdrawn" not in answer:
        return "The relief waits for where the units are placed"
    if not answer["withdrawn"]:
        return "Nobody is relieved; the units that wait go on to the next empty night"
    return clauses(f"{series(answer['withdrawn'])} leave", f"{series(answer['arrived'])} come")


def _reorganize_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if not answer["allowed"]:
        return f"There is no reorganization: {answer['why']}"
    if "removed" not in answer:
        return "The reorganization waits for a fire card"
    return (
        f"{series(answer['removed']) or 'No unit'} and {answer['depth']} depth markers go back to their pools"
    )


KINDS = [
    procedure_kind(
        relief,
        kinds=functools.partial(kinds_of, "ddp"),
        name="relief",
        title="Withdrawal and relief",
        arguments=Relief,
        rulesets=("ddp",),
        answers={
            "withdrawn": "units of the battalion that leave the map",
            "arrived": "units that come, each with its hex",
            "to": "the space of the turn track in which the others wait",
        },
        verdict=_relief_verdict,
        example='relief: {withdraw: 3/7, choices: {A/1/5: "0505"}}',
    ),
    procedure_kind(
        reorganize,
        kinds=functools.partial(kinds_of, "ddp"),
        name="reorganize",
        title="Japanese reorganization",
        arguments=Reorganize,
        rulesets=("ddp",),
        answers={
            "removed": "units that go back to the reserve",
            "depth": "how many depth markers go back to the pool",
        },
        verdict=_reorganize_verdict,
        example="reorganize: {cards: [{colors: [red, blue, green]}]}",
    ),
]
