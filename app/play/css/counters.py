"""Counters that go with Units: Support Weapons (12.0), Leaders (13.0), Heroes (14.0), trucks (15.0), Ridge markers (6.2.2)."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.css.fire import CHOICES, Gunners, Trigger, aimed, as_told, react
from app.play.css.fire import POINTS as FIRE_POINTS
from app.play.css.frame import Asking, css_kind, game, ledger
from app.play.css.landing import GUNNERS
from app.play.css.status import (
    PAYS,
    RESULTS,
    Orders,
    breaks,
    charge,
    counter,
    lose_leader,
    note_action,
    shelve,
)
from app.play.procedures import NOTHING, Action, Ask, Call, Change, Procedure, Put, Refused, Tell, Undecided
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import series
from importers.questions import Names

Unit = Annotated[str, Names(("unit",))]


class Attach(Action):
    """Which weapon, and to whom."""

    weapon: Unit = Field(description="The Support Weapon")
    to: Place = Field(description="The hex, or a Unit in it")


def attach(of: Attach) -> Procedure:
    """12.1, 12.4.1."""
    facts = yield from ledger("attach", weapon=of.weapon, to=of.to)
    path = yield from _traced(facts["heads"], facts["at"], facts["for"], outward=True)
    yield Tell(path=path)
    yield Change({"unit": of.weapon, "at": facts["at"], "box": None})


def _traced(heads: list[str], at: str, what: str, *, outward: bool) -> Asking:
    """The first way between an HQ and a hex that is open; refused where none is."""
    if not heads:
        raise Refused("12.1", "no HQ of its own is on the map", at, path=[])
    bar = None
    untold = False
    for head in heads:
        ends = ("from", "to") if outward else ("to", "from")
        asked: dict[str, Any] = {ends[0]: head, ends[1]: at, "for": what}
        finding = yield Put("trace_path", **asked)
        if finding.answer["open"]:
            return finding.answer["path"]
        untold = untold or finding.answer["open"] is None
        bar = next((step for step in finding.steps if step.effect == "forbids"), finding.steps[-1])
    assert bar is not None
    if untold:
        raise Undecided(path=[])
    raise Refused("12.4.1" if what.startswith("tank") else "12.1", f"no way is open: {bar.note}", at, path=[])


class Detach(Action):
    """Which weapon, and why."""

    weapon: Unit = Field(description="The Support Weapon")
    source: Place | None = Field(None, alias="from", description="The hex it is in")
    involuntary: bool = Field(False, description="It has to go, as there are too few Units")
    breakdown: bool = Field(False, description="It broke in a fire")


def detach(of: Detach) -> Procedure:
    """12.2."""
    facts = yield from ledger("detach", weapon=of.weapon, source=of.source)
    if of.breakdown:
        yield from breaks(of.weapon, "12.2")
        yield Tell(result="breaks")
        return
    if of.involuntary:
        yield from shelve(of.weapon, "12.2", f"{of.weapon} has to go")
        yield Tell(result="removed")
        return
    if facts["kept"] is not None:
        raise Refused("12.2", facts["kept"], facts["at"], path=[])
    path = yield from _traced(facts["heads"], facts["at"], facts["for"], outward=False)
    yield Tell(path=path, result="detached")
    yield Change({"unit": of.weapon, "at": None, "box": "reallocating"})


class LeaderMove(Action):
    """Which Leader, and to whom."""

    leader: Unit = Field(description="The Leader")
    to: Place = Field(description="The hex, or a Unit in it")


def leader_move(of: LeaderMove) -> Procedure:
    """13.1."""
    facts = yield from ledger("leader_move", leader=of.leader, to=of.to)
    if facts["afloat"]:
        yield Tell(
            Step("4.0", facts["at"], "assumed", "from a naval zone no way is traced"), path=[facts["at"]]
        )
        yield Change({"unit": of.leader, "zone": None, "at": facts["at"], "box": None})
        return
    finding = yield Put("trace_path", **{"from": of.leader, "to": facts["at"], "for": "leader"})
    if finding.answer["open"] is None:
        raise Undecided(path=[])
    if not finding.answer["open"]:
        bar = next((step for step in finding.steps if step.effect == "forbids"), finding.steps[-1])
        raise Refused("13.1", f"no way is open: {bar.note}", facts["at"], path=[])
    yield Tell(path=finding.answer["path"])
    yield Change({"unit": of.leader, "at": facts["at"]})


class LeaderLoss(Action):
    """Which Leader."""

    leader: Unit = Field(description="The Leader who is lost")


def leader_loss(of: LeaderLoss) -> Procedure:
    """13.3: he flips to his replacement, or is out of the game."""
    yield from lose_leader(of.leader)


class Hero(Action):
    """Which Hero, and how."""

    hero: Unit = Field(description="The Hero")
    use: bool | str | None = Field(None, description="He is used, in the combat that is fought")
    place: Place | None = Field(None, description="The hex in which he is placed, or a Unit in it")


def hero(of: Hero) -> Procedure:
    """14.1."""
    facts = yield from ledger("hero", hero=of.hero, place=of.place)
    name = facts["name"]
    if facts["at"] is not None:
        yield Tell(result="placed")
        yield Change({"unit": of.hero, "at": facts["at"], "box": None})
        return
    yield Tell(result="reroll" if name == "mason" else "used")
    yield Change({"unit": of.hero, "eliminated": True})
    _, tracks = yield from game()
    yield Change({"track": "once", "value": [*(tracks.get("once") or []), name]}, kept=True)


class Load(Action):
    """Which truck, and whom."""

    truck: Unit = Field(description="The truck")
    unit: Unit = Field(description="The Unit that it carries")
    pays: str | None = PAYS


def load(of: Load) -> Procedure:
    """15.0: a Unit is loaded; that is all that either does."""
    facts = yield from ledger("truck", truck=of.truck, unit=of.unit, loading=True)
    orders = Orders(of.choices)
    yield from _haulage(of, of.unit, orders)
    yield from orders.finish("pays")
    yield Change({"unit": of.truck, "at": facts["at"], "box": None}, {"unit": of.unit, "loaded_in": of.truck})
    yield from note_action({}, [of.truck, of.unit, of.truck, of.unit])


def _haulage(of: Load | Unload, unit: str, orders: Orders) -> Procedure:
    """26.0, css-87: what Corps trucks cost, and which Marine Division pays."""
    facts = yield from ledger("truck_cost", truck=of.truck, unit=unit)
    yield from charge(facts["cost"], orders, [of.truck], of.pays)


class Unload(Action):
    """Which truck."""

    truck: Unit = Field(description="The truck")
    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The Unit that it carries")
    pays: str | None = PAYS


def unload(of: Unload) -> Procedure:
    """15.0: in a Fire Zone the enemy may fire first; markers stay with the Unit."""
    facts = yield from ledger("truck", truck=of.truck, unit=of.unit, loading=False)
    orders = Orders(of.choices)
    yield Tell(op_fire=facts["zoned"])
    yield from _haulage(of, facts["unit"], orders)
    if facts["zoned"]:
        yield Tell(
            Step("15.0", facts["at"], "op fire", "in a Fire Zone the enemy may fire before it is unloaded")
        )
        yield from _fired_at(of, facts["at"], orders)
    yield from note_action({}, [of.truck, facts["unit"], of.truck, facts["unit"]])
    if (yield from counter(of.truck)).label is not None:
        yield Change(
            {"unit": of.truck, "at": None, "box": "truck_pool"}, {"unit": facts["unit"], "loaded_in": None}
        )
    yield from orders.finish("op_fire", *CHOICES)


def _fired_at(of: Unload, hex: str, orders: Orders) -> Procedure:
    """8.6, 15.0: enemies fire at a truck that is unloaded one after the other, each hex once, until their owner declines."""
    done: set[str] = set()
    while (yield from counter(of.truck)).label is not None:
        rows = yield Ask(GUNNERS, proves=False, beach=hex, arm="unit")
        guns = {row.code: row.label for row in rows if row.label not in done}
        if not guns:
            return
        options = sorted(set(guns.values()))
        gunners = Gunners(
            orders.named("op_fire"), "japan", f"who fires as {of.truck} is unloaded", options=[*options, NOTHING],
            unsaid=NOTHING, rule="8.6", guns=guns,
        )  # fmt: skip
        chosen = yield gunners
        if chosen == NOTHING:
            return
        shot = dataclasses.replace(gunners.shot(chosen), at=hex, read=of.read)
        done.add(guns[shot.by[0]])
        shot = yield from (aimed if chosen in options else as_told)(shot, orders)
        purpose = f"Opportunity Fire of {shot.by[0]} as {of.truck} is unloaded"
        yield Call(react(shot, Trigger(), orders, purpose, alerted=False))


class RidgeMarker(Action):
    """Who claims a ridge, or gives it up."""

    unit: Unit = Field(description="The unit beside the ridge")
    do: Literal["claim", "decline", "remove"] = Field(description="claim, decline or remove")


def ridge_marker(of: RidgeMarker) -> Procedure:
    """6.2.2."""
    facts = yield from ledger("ridge_marker", unit=of.unit, deed=of.do)
    yield Tell(result={"claim": "claimed", "decline": "declined", "remove": "removed"}[of.do])
    if facts["may_claim"]:
        yield Tell(may_claim=facts["may_claim"])
    if of.do == "claim":
        yield Change({"marker": "ridge", "at": facts["at"], "side": facts["side"]})
    elif of.do == "remove":
        yield Change({"marker": "ridge", "at": facts["at"], "removed": True})


class Posture(Action):
    """Who changes, and to what."""

    unit: Unit = Field(description="The unit that changes")
    to: Literal["deployed", "column"] | None = Field(
        None, description="deployed or column; without it, what the rules force on it"
    )


def posture(of: Posture) -> Procedure:
    """6.0, 6.2.1, 8.7.5: a change between Deployed and Column, by will or by force."""
    facts = yield from ledger("posture", unit=of.unit, posture=of.to)
    yield Tell(posture=facts["posture"], forced=facts["forced"])
    if facts["eliminated"]:
        yield Tell(result="eliminated")
        yield Change({"unit": of.unit, "eliminated": True})
        return
    yield Tell(result=facts["posture"])
    finding = yield Put("move", unit=of.unit, path=[facts["at"]], posture=facts["posture"])
    answer = finding.answer
    if answer["legal"] is False:
        bar = next((step for step in finding.steps if step.effect == "forbids"), finding.steps[-1])
        raise Refused(bar.rule, bar.note, facts["at"], points=finding.points)
    yield Change({"unit": of.unit, "posture": facts["posture"]})
    cave = {"in_cave": True} if facts["inside"] else {}
    for dg in answer.get("dg", {}).values():
        yield Change({"hex": facts["at"], **cave, "dg": int(dg)})
    yield Change({"conditions": {"changed": [*facts["changed"], of.unit]}}, kept=True)


def _path(ruling: Ruling) -> str:
    return f" by {counted_path(ruling.answer['path'])}" if ruling.answer.get("path") else ""


def counted_path(path: list[str]) -> str:
    """A way in words."""
    return series(path) if len(path) < 6 else f"{path[0]} to {path[-1]}"


PATH = {"path": "the way that was traced, both ends included"}
COST = {"cost": "Direct Commands, by Division"}
KINDS = [
    css_kind(
        attach,
        name="attach",
        title="A Support Weapon is attached",
        what="attachment",
        done=lambda ruling: f"{ruling.question['attach']['weapon']} is attached{_path(ruling)}",
        arguments=Attach,
        answers=PATH,
        points=("css-41", "css-47", "css-64"),
        example="attach: {weapon: FT/3, to: A/1/3}",
    ),
    css_kind(
        detach,
        name="detach",
        title="A Support Weapon is detached",
        what="detachment",
        done=lambda ruling: (
            f"{ruling.question['detach']['weapon']} is {ruling.answer['result'].replace('breaks', 'broken')}{_path(ruling)}"
        ),
        arguments=Detach,
        answers={**PATH, "result": "detached, removed or breaks"},
        points=("css-41", "css-47"),
        example="detach: {weapon: FT/3}",
    ),
    css_kind(
        leader_move,
        name="leader_move",
        title="A Leader is moved",
        what="move of the Leader",
        done=lambda ruling: (
            f"{ruling.question['leader_move']['leader']} goes to {ruling.question['leader_move']['to']}"
        ),
        arguments=LeaderMove,
        answers=PATH,
        points=("css-47",),
        example="leader_move: {leader: Hall, to: A/1/3}",
    ),
    css_kind(
        leader_loss,
        name="leader_loss",
        title="A Leader is lost",
        what="loss",
        done=lambda ruling: (
            f"{ruling.question['leader_loss']['leader']} "
            + ("is out of the game" if ruling.answer["effects"][0].get("eliminated") else "is replaced")
        ),
        arguments=LeaderLoss,
        acts=False,
        example="leader_loss: {leader: Hall}",
    ),
    css_kind(
        hero,
        name="hero",
        title="An American Hero",
        what="Hero",
        done=lambda ruling: (
            f"{ruling.question['hero']['hero']} is {ruling.answer['result'].replace('reroll', 'used for a new roll')}"
        ),
        arguments=Hero,
        answers={"result": "placed, used, or reroll"},
        example='hero: {hero: Wilson, place: "31.64"}',
    ),
    css_kind(
        load,
        name="load",
        title="A truck is loaded",
        what="loading",
        done=lambda ruling: (
            f"{ruling.question['load']['unit']} is loaded into {ruling.question['load']['truck']}"
        ),
        arguments=Load,
        answers=COST,
        points=("css-47", "css-65", "css-87"),
        example="load: {truck: Truck 1, unit: Art/12}",
    ),
    css_kind(
        unload,
        name="unload",
        title="A truck is unloaded",
        what="unloading",
        done=lambda ruling: f"{ruling.question['unload']['truck']} is unloaded",
        arguments=Unload,
        answers={"op_fire": "whether the enemy may fire first", **COST},
        points=("css-47", "css-87", *FIRE_POINTS, *RESULTS),
        example="unload: {truck: Truck 1}",
    ),
    css_kind(
        ridge_marker,
        name="ridge_marker",
        title="A Ridge marker",
        what="Ridge marker",
        done=lambda ruling: f"The Ridge marker is {ruling.answer['result']}",
        arguments=RidgeMarker,
        answers={
            "result": "claimed, declined or removed",
            "may_claim": "enemies who may claim the ridge then",
        },
        names_units=("may_claim",),
        example="ridge_marker: {unit: K/3/306, do: claim}",
    ),
    css_kind(
        posture,
        name="posture",
        title="A change of posture",
        what="change of posture",
        done=lambda ruling: (
            f"{ruling.question['posture']['unit']} is {ruling.answer['result'].replace('column', 'in Column').replace('deployed', 'Deployed')}"
        ),
        arguments=Posture,
        answers={
            "posture": "deployed or column",
            "forced": "whether the rules force it",
            "result": "the posture, or eliminated",
        },
        points=("css-16", "css-79"),
        example="posture: {unit: A/1/3, to: column}",
    ),
]
