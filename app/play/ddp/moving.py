"""Moves and entering (7.3, 7.4): up to three hexes, past positions by infiltration, or into an enemy hex."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ddp import cards
from app.play.ddp.acting import Doing, counter, declare, finish, forgiving, scene
from app.play.ddp.fortification import reveal_beside
from app.play.ddp.losses import lose_step
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
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, needs_in_words, series
from importers.questions import Names

MOVE = "select * from ddp.move(:position, :units, :path, :manner, :conditions, :policy)"
ENTER = "select * from ddp.enter(:position, :units, :to, :conditions, :policy)"
CHECKED = ("infantry", "heavy_infantry", "engineer")
"""Who is fired at when it infiltrates; HQs that go along are not (7.33)."""


class Move(Action):
    """Who moves, and along which way."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that moves")
    together: Annotated[list[str], Names(("unit",))] = Field(
        default_factory=list, alias="with", description="Ids of units of its stack that move along"
    )
    path: Annotated[list[str], Names(("hex",)), Field(min_length=1, max_length=20)] = Field(
        description="Labels of the hexes entered, in order; the one it stands in may come first"
    )
    manner: Literal["preservation"] | None = Field(
        None, alias="as", description="A preservation move out of a landing beach hex (7.35)"
    )


def move(of: Move) -> Procedure:
    """7.3: a move from its first hex to its last, with the card of an infiltration between."""
    return forgiving(of, _move(of), cards=True)


def _move(of: Move) -> Procedure:
    units = [of.unit, *of.together]
    rows = yield Ask(MOVE, units=units, path=of.path, manner=of.manner)
    facts = dict(rows[-1].facts)
    colors, cliff = facts.pop("colors"), facts.pop("cliff")
    if facts["legal"] is False:
        bar = next((row for row in rows if row.effect == "forbids"), rows[-1])
        raise Refused(bar.rule, rows[-1].note, facts["ends_at"], **facts)
    if facts["legal"] is None:
        raise Undecided(**facts, why="the type of the unit may be barred from the terrain")
    yield Tell(**facts)
    cost = yield from declare(units, preserves=of.manner == "preservation", **facts | {"legal": False})
    start = yield from counter(of.unit)
    stays: list[str] = []
    if facts["infiltration"]:
        stays = yield from _infiltrate(units, colors, facts["ends_at"])
    for code in units:
        if code not in stays:
            yield from _arrive(code, start.label, facts["ends_at"], cliff)
    if stays:
        yield Tell(ends_at=start.label if len(stays) == len(units) else facts["ends_at"])
    if len(stays) < len(units):
        yield from reveal_beside(facts["ends_at"])
    yield from finish(units, cost["actions"], [start.label, *of.path])


def _infiltrate(units: list[str], colors: list[str], goal: str) -> Doing:
    """7.33: one fire card; who shows its symbol with the position's colour loses a step. Gives who stays behind."""
    now = yield from scene()
    if now.conditions.get("turn") == 13 and now.conditions.get("scenario") != "bloody_nose_ridge":
        yield Tell(Step("16.0", goal, "no check", "overnight nobody is fired at when it infiltrates"))
        return []
    fired_at = []
    for code in units:
        unit = yield from counter(code)
        if unit.kind in CHECKED:
            fired_at.append((code, unit.attributes.get("symbol")))
    if not fired_at:
        yield Tell(Step("7.33", goal, "no check", "tanks are not fired at when they infiltrate"))
        return []
    card = yield from cards.fire(f"infiltration to {goal}")
    shown = [color for color in colors if card.shows(color)]
    stays: list[str] = []
    losers: list[str] = []
    for code, symbol in fired_at:
        if not shown or symbol != card.symbol:
            yield Tell(Step("7.33", goal, "no loss", f"the card does not show colour and symbol for {code}"))
            continue
        name = "" if not losers else f"_{len(losers) + 1}"
        losers.append(code)
        lost = yield from lose_step(code, "7.33", "fired at as it infiltrates", choice=f"sacrifice{name}")
        yield Tell(lost=list(losers))
        goes_on = lost != "eliminated" and (
            yield Choose(
                f"complete{name}", "us", f"whether {code} completes its move", [True, False], default=True
            )
        )
        if not goes_on:
            stays.append(code)
    if stays and len(stays) == len(fired_at):
        # an HQ does not infiltrate alone
        stays = list(units)
    return stays


def _arrive(code: str, start: str, goal: str, cliff: bool) -> Doing:
    """A unit comes to its goal: over a cliff disrupted (7.32); an HQ that moved commands no more (7.34)."""
    unit = yield from counter(code)
    yield Change({"unit": code, "at": goal, **({"disrupted": True} if cliff else {})})
    kept: dict[str, Any] = {"started": unit.attributes.get("started", start)}
    if cliff:
        kept["fresh"] = True
    if unit.kind in ("regimental_hq", "infantry_hq"):
        kept["moved"] = True
    yield Change({"unit": code, **kept}, kept=True)


class Enter(Action):
    """Who enters which hex."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that enters")
    together: Annotated[list[str], Names(("unit",))] = Field(
        default_factory=list, alias="with", description="Ids of units of its stack that enter along"
    )
    to: Annotated[str, Names(("hex", "unit"))] = Field(description="The hex with the Japanese unit")


def enter(of: Enter) -> Procedure:
    """7.4: a unit enters the hex of a revealed enemy; close combat follows when all actions are done."""
    units = [of.unit, *of.together]
    rows = yield Ask(ENTER, units=units, to=of.to)
    facts = rows[-1].facts
    if not facts["allowed"]:
        bar = next((row for row in rows if row.effect == "forbids"), rows[-1])
        raise Refused(bar.rule, rows[-1].note, facts["at"])
    cost = yield from declare(units)
    for code in units:
        unit = yield from counter(code)
        climbs = code in facts["climbers"]
        # 7.32: whoever crosses a cliff is disrupted, into an enemy hex too
        yield Change({"unit": code, "at": facts["at"], **({"disrupted": True} if climbs else {})})
        kept: dict[str, Any] = {"from": unit.label, "started": unit.attributes.get("started", unit.label)}
        yield Change({"unit": code, **kept, **({"fresh": True} if climbs else {})}, kept=True)
        if unit.kind == "infantry_hq":
            yield Change({"unit": code, "moved": True}, kept=True)
    yield from finish(units, cost["actions"])


def _move_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["move"], ruling.answer
    who = series([of["unit"], *of.get("with", [])])
    if answer["allowed"] is None:
        return clauses(
            f"It is not known whether {who} may move to {of['path'][-1]}",
            needs_in_words(ruling.needs) if ruling.needs else None,
        )
    if not answer["allowed"]:
        return f"{who} may not move to {of['path'][-1]}: {answer['why']}"
    past = f"past {series(answer['infiltration'])}" if answer["infiltration"] else None
    return clauses(
        f"{who} moves to {answer['ends_at']}", past, "a card is wanted" if "pending" in answer else None
    )


def _enter_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["enter"], ruling.answer
    who = series([of["unit"], *of.get("with", [])])
    if not answer["allowed"]:
        return f"{who} may not enter {of['to']}: {answer['why']}"
    return f"{who} enters {of['to']} for close combat"


KINDS = [
    procedure_kind(
        move,
        kinds=functools.partial(kinds_of, "ddp"),
        name="move",
        title="A move",
        arguments=Move,
        rulesets=("ddp",),
        answers={
            "legal": "whether the move is allowed by the map; null where the Terrain Effects Chart would decide",
            "cost": "hexes entered",
            "left": "hexes that it could still enter; none where it must stop",
            "ends_at": "where it ends; of an illegal move, the first hex that cannot be entered",
            "infiltration": "positions past which it infiltrates (7.33)",
            "actions": "how many of the two actions of the turn it takes",
            "free": "who acts for free",
            "lost": "who lost a step by infiltrating",
        },
        verdict=_move_verdict,
        points=("ddp-1", "ddp-5", "ddp-22", "ddp-24", "ddp-35", "ddp-48"),
        example='move: {unit: A/1/5, path: ["0405", "0406"]}',
        draws="path",
    ),
    procedure_kind(
        enter,
        kinds=functools.partial(kinds_of, "ddp"),
        name="enter",
        title="Entering an enemy hex",
        arguments=Enter,
        rulesets=("ddp",),
        answers={
            "actions": "how many of the two actions of the turn it takes",
            "free": "who acts for free",
        },
        verdict=_enter_verdict,
        points=("ddp-22", "ddp-32"),
        example='enter: {unit: A/1/5, to: "0216"}',
    ),
]
