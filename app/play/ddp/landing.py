"""Landing (5.0): checks of the boxes from north to south, units ashore, and next turn's units into the boxes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from app.play.ddp import cards
from app.play.ddp.acting import Doing, forgiving, is_ridge, scene
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
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, series
from importers.questions import Names

CHECK = "select * from ddp.landing(:position, :box, :color, :symbol, :drift, :conditions, :policy)"
ROOM = "select * from ddp.landing_room(:position, :box)"
WAITING = "select * from ddp._in_box(:position, :box)"
BOXES = "select box.* from position cross join lateral ddp._boxes(position.map_id) as box where position.id = :position"
DUE = (
    "select unit.code, unit.attributes ->> 'beach' as beach from unit where unit.position_id = :position"
    " and unit.side = 'us' and unit.q is null and not unit.attributes ? 'box'"
    " and (unit.attributes ->> 'arrives')::integer = :turn order by unit.code"
)
FREE = ("regimental_hq", "command_post", "hero", "garrison")
"""Who does not count in a hex (5.2, 7.51)."""
STAY = "box"
"""What is said of a unit that stays in its box for want of room."""


class Box(Action):
    """Which landing box."""

    box: Annotated[str, Names(("map_feature",))] = Field(description="A beach landing box, such as W1")


class Anything(Action):
    """What is asked is only the position."""


@dataclasses.dataclass(frozen=True)
class Spot(Choose):
    """Where a unit goes; a place that the rules do not allow is refused, not a mistake."""

    def mistake(self, value: Any) -> str | None:
        return None if isinstance(value, str | int) else f"{self.name} names a place"


def _landing_turn(rule: str, *, first: bool) -> Doing:
    """4.0, 16.0, 18.2: on which turns units land at all."""
    now = yield from scene()
    turn = now.conditions.get("turn")
    if is_ridge(now.conditions):
        raise Refused("18.2", "nobody lands on Bloody Nose Ridge")
    if turn == 13:
        raise Refused("16.0", "there are no amphibious operations on turn 13")
    if turn == 1 and not first:
        raise Refused("4.0", "on turn 1 units only come into the boxes")
    return turn


def landing(of: Box) -> Procedure:
    """5.1: one card for a box: who has its symbol loses a step under fire, and one of them drifts."""
    return forgiving(of, _landing(of))


def _landing(of: Box) -> Procedure:
    yield from _landing_turn("5.1", first=False)
    waiting = yield Ask(WAITING, proves=False, box=of.box)
    if not waiting:
        raise Refused("5.1", f"nobody waits in {of.box}")
    if all(unit.acted or unit.checked or unit.drifted for unit in waiting):
        raise Refused("5.1", f"{of.box} has been checked")
    card = yield from cards.landing(f"the landing check of {of.box}")
    rows = yield Ask(CHECK, box=of.box, color=card.landing_color, symbol=card.symbol, drift=card.drift)
    facts = rows[-1].facts
    for unit in waiting:
        yield Change({"unit": unit.code, "checked": True}, kept=True)
    yield Tell(fire=facts["fire"], hit=facts["hit"], drift=None)
    lost: list[str] = []
    for n, code in enumerate(facts["hit"], start=1):
        choice = "sacrifice" if n == 1 else f"sacrifice_{n}"
        if (yield from lose_step(code, "5.1", f"fired at in {of.box}", choice=choice)) == "eliminated":
            lost.append(code)
    drifters = [code for code in facts["drifters"] if code not in lost]
    if not drifters or facts["beside"] is None:
        return
    code = drifters[0]
    if len(drifters) > 1:
        code = yield Choose("drift", "us", "the unit that drifts", drifters, default=drifters[0])
    yield Change({"unit": code, "box": facts["beside"], "drifted": True})
    yield Tell(
        Step("5.1", of.box, "drifts", f"{code} to {facts['beside']}"),
        drift={"unit": code, "to": facts["beside"]},
    )


def land(of: Box) -> Procedure:
    """5.2: units of a box into its beach hexes, two to a hex; who finds no room waits."""
    yield from _landing_turn("5.2", first=False)
    waiting = yield Ask(WAITING, proves=False, box=of.box)
    waiting = [unit for unit in waiting if not unit.acted]
    if not waiting:
        raise Refused("5.2", f"nobody in {of.box} lands this turn")
    room = {row.facts["label"]: row.facts["room"] for row in (yield Ask(ROOM, box=of.box))}
    landed: dict[str, str] = {}
    left: list[str] = []
    # who is told where to go comes before the others
    for unit in sorted(waiting, key=lambda one: (one.code not in of.choices, one.code)):
        free = unit.kind in FREE
        options = [label for label, places in room.items() if free or places > 0]
        if not options and unit.code not in of.choices:
            left.append(unit.code)
            continue
        counting = [one for one in waiting if one.kind not in FREE and one.code not in (*landed, *left)]
        short = not free and sum(room.values()) < len(counting)
        only = len(options) == 1 and not short and unit.code not in of.choices
        to = options[0] if only else (yield from _where(unit.code, options, [STAY] if short else []))
        if to == STAY and short:
            left.append(unit.code)
            continue
        if to not in room:
            raise Refused("5.2", f"{to} does not adjoin {of.box}", to)
        if not free and room[to] < 1:
            raise Refused("5.2", f"{to} has no room for {unit.code}: two units to a hex", to)
        room[to] -= 0 if free else 1
        landed[unit.code] = to
    # in an order that does not hang on who was told first
    for code, to in sorted(landed.items()):
        yield Change({"unit": code, "at": to, "box": None})
        yield Change({"unit": code, "drifted": False, "checked": False}, kept=True)
    for code in left:
        yield from _waits(code)
    yield Tell(landed=landed, left=left)


def _waits(code: str) -> Doing:
    """Who is in a box till the next turn is neither checked nor landed any more in this one."""
    yield Change({"unit": code, "acted": True, "drifted": False, "checked": False}, kept=True)


def _where(code: str, options: Sequence[str], more: Sequence[str]) -> Doing:
    offered = [*options, *more]
    return str(
        (yield Spot(code, "us", f"where {code} goes", offered, default=offered[0] if offered else None))
    )


def arrivals(of: Anything) -> Procedure:
    """5.3: units of the next turn's space into the boxes that they list."""
    turn = yield from _landing_turn("5.3", first=True)
    if turn is None:
        raise Undecided(Need("the turn", "5.3"))
    boxes = [row.code for row in (yield Ask(BOXES, proves=False))]
    placed: dict[str, str] = {}
    for unit in (yield Ask(DUE, proves=False, turn=turn + 1)):
        options = _listed(unit.beach, boxes)
        only = len(options) == 1 and unit.code not in of.choices
        to = options[0] if only else (yield from _where(unit.code, options, []))
        if to not in options:
            raise Refused("5.3", f"{unit.code} may not be placed in {to}")
        placed[unit.code] = to
    for code, to in placed.items():
        yield Change({"unit": code, "box": to, "arrives": None})
        yield from _waits(code)
    yield Tell(Step("5.3", None, "placed", series(placed) or "nobody is due"), placed=placed)


def _listed(beach: str | None, boxes: list[str]) -> list[str]:
    """The boxes that a unit lists: one, those of a colour, or any."""
    if beach is None or beach in boxes:
        return boxes if beach is None else [beach]
    return [box for box in boxes if box[0].lower() == beach[0].lower()]


def _landing_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["landing"], ruling.answer
    if not answer["allowed"]:
        return f"There is no landing check for {of['box']}: {answer['why']}"
    if "hit" not in answer:
        return f"The landing check for {of['box']} waits for a card"
    drift = answer["drift"]
    return clauses(
        f"In {of['box']} {series(answer['hit'])} is hit"
        if answer["hit"]
        else f"Nobody is hit in {of['box']}",
        f"{drift['unit']} drifts to {drift['to']}" if drift else None,
    )


def _land_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["land"], ruling.answer
    if not answer["allowed"]:
        return f"The units in {of['box']} do not land so: {answer['why']}"
    if "landed" not in answer:
        return f"The landing from {of['box']} waits for a choice"
    ashore = series(f"{unit} in {to}" for unit, to in answer["landed"].items())
    return clauses(
        f"From {of['box']} land {ashore or 'none'}",
        f"{series(answer['left'])} waits" if answer["left"] else None,
    )


def _arrivals_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if not answer["allowed"]:
        return f"Nobody comes into the boxes: {answer.get('why') or 'the turn is not told'}"
    if "placed" not in answer:
        return "The arrivals wait for a choice of a box"
    into = series(f"{unit} in {box}" for unit, box in answer["placed"].items())
    return f"Next turn's units: {into}" if into else "Nobody is due next turn"


_KIND = functools.partial(procedure_kind, kinds=functools.partial(kinds_of, "ddp"), rulesets=("ddp",))

KINDS = [
    _KIND(
        landing,
        name="landing",
        title="Landing check",
        arguments=Box,
        answers={
            "fire": "whether an undisrupted position of the card's colour fires into the box",
            "hit": "who loses a step",
            "drift": "who drifts, and to which box; null where nobody does",
        },
        verdict=_landing_verdict,
        example="landing: {box: W1, cards: [{landing: {color: blue, symbol: triangle, drift: left}}]}",
    ),
    _KIND(
        land,
        name="land",
        title="Units ashore",
        arguments=Box,
        answers={"landed": "each unit with its beach hex", "left": "who waits in the box for want of room"},
        verdict=_land_verdict,
        example='land: {box: W1, choices: {A/1/5: "0214"}}',
    ),
    _KIND(
        arrivals,
        name="arrivals",
        title="Arrivals",
        arguments=Anything,
        answers={"placed": "each unit of the next turn's space with its box"},
        verdict=_arrivals_verdict,
        example="arrivals: {choices: {A/1/5: W1}}",
    ),
]
