"""Indirect, naval and air fire in css: 8.7, 16.0, 21.2.

Sums are SQL (`css.indirect_fire`, `css.scatter`); results are applied as those of direct fire. Others fire through
`bombard`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from app.play.css.dice import d10
from app.play.css.fire import CHOICES, Hit, Ids, Shot, Unit, results, roll
from app.play.css.frame import css_kind
from app.play.css.points import LYING
from app.play.css.status import (
    BARRAGES,
    MARKS,
    PAYS,
    RESULTS,
    Doing,
    Orders,
    charge,
    note_action,
    pay,
    place_marker,
    state,
)
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, counted
from db.values import canonical
from importers.questions import Names

LEDGER = "select * from css.indirect_fire(:position, cast(:fire as jsonb), :conditions, :policy)"
SCATTER = "select * from css.scatter(:position, :at, :die, cast(:read as jsonb))"
STAYS = "select css.barrage_stays(:position, :lies, :comes) as stays"


@dataclasses.dataclass(frozen=True)
class Barrage:
    """Indirect fire: who fires at which hex, and who spots."""

    by: Sequence[str] = ()
    at: str = ""
    spotter: str | None = None
    manner: Literal["indirect", "naval", "bombardment", "illumination"] = "indirect"
    read: dict[str, Any] = dataclasses.field(default_factory=dict)
    pays: str | None = None
    """The Division that pays, where several may (26.0)."""

    def said(self, **more: Any) -> str:
        """The fire as its ledger takes it."""
        told = {
            "by": list(self.by),
            "at": self.at,
            "spotter": self.spotter,
            "manner": self.manner,
            "read": self.read,
        }
        return canonical({key: value for key, value in (told | more).items() if value is not None})


def bombard(fire: Barrage, orders: Orders, purpose: str = "indirect fire") -> Doing:
    """Indirect fire from its declaration to its Barrage; gives its facts with `barrage` and `result`."""
    facts = yield from declare(fire, orders)
    if fire.by:
        yield from note_action({"indirect_fired": facts["from"]}, fire.by)
    if fire.manner == "naval":
        yield from _task_force(facts["hex"])
    lands_at: str | None = facts["hex"]
    if facts["spotter"] == "aircraft":
        lands_at = yield from scattered(fire, facts["hex"])
        if lands_at is None:
            return facts | {"barrage": None, "result": None}
        facts = yield from _again(fire, lands_at, facts)
    yield Tell(lands_at=lands_at)
    hit = yield from roll(facts, fire.read, purpose)
    return (yield from _falls(fire, facts, hit, orders))


def declare(fire: Barrage, orders: Orders) -> Doing:
    """The fire with its value, paid for; refused where it may not be fired."""
    rows = yield Ask(LEDGER, fire=fire.said(), proves=fire.manner != "bombardment")
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, rows[-1].at)
    yield _told(facts, rows)
    yield from charge(facts["cost"], orders, fire.by, fire.pays)
    return facts


def _told(facts: dict[str, Any], rows: Sequence[Any]) -> Tell:
    return Tell(
        value=facts["value"], type=facts["type"], spotter=facts["spotter"],
        modifiers=[
            {"rule": row.rule, "value": row.halves // 2, "note": row.note} for row in rows if row.effect == "adds"
        ],
    )  # fmt: skip


def _again(fire: Barrage, lands_at: str, first: dict[str, Any]) -> Doing:
    """The value at the hex where it comes down."""
    if lands_at == first["hex"]:
        return first
    rows = yield Ask(LEDGER, fire=fire.said(lands_at=lands_at, spotter=first["spotter"]))
    yield _told(rows[-1].facts, rows)
    return rows[-1].facts


def scattered(fire: Barrage, at: str) -> Doing:
    """8.7.6: the hex where it comes down; None off the map, or where the chart would tell it."""
    die = yield from d10("scatter")
    [row] = yield Ask(SCATTER, at=at, die=die, read=canonical(fire.read))
    yield Tell(scatter=die)
    if row.facts["lands_at"] is None:
        yield Tell(lands_at=None, result=None if not row.facts["known"] else "no_effect", barrage=None)
    return row.facts["lands_at"]


def _task_force(hex: str) -> Doing:
    """21.2: the Task Force is placed, and there is one less."""
    now = yield from state()
    left = (now.tracks or {}).get("task_forces")
    yield Change({"marker": "task_force", "at": hex}, kept=True)
    if left is not None:
        yield Change({"track": "task_forces", "value": left - 1}, kept=True)


def _falls(fire: Barrage, facts: dict[str, Any], hit: Hit, orders: Orders) -> Doing:
    """The result on enemies who can be harmed, and the Barrage unless a 9 is rolled (8.7.1, 8.7.2)."""
    told = facts | {"inside": False, "at_sea": None, "named": None, "target_unit": None, "flame": False}
    result = hit.result
    if facts["units"]:
        struck = dataclasses.replace(hit, facts=told)
        yield from results(Shot(by=fire.by, read=fire.read), struck, orders, indirect=True)
    else:
        result = "no_effect"
        empty = Step("8.7.1", facts["hex"], "no effect", "nobody is there whom it can harm")
        yield Tell(empty, result=result, crt=None)
    barrage: str | None = None
    if fire.manner == "bombardment":
        yield from _bombarded(facts)
        barrage = "bombardment"
    elif hit.die != 9:
        barrage = yield from lay(facts)
    yield Tell(barrage=barrage)
    return told | {"barrage": barrage, "result": result}


def lay(facts: dict[str, Any]) -> Doing:
    """8.7.2: by the unmodified strength; the greater replaces the lesser. Gives what lies there then."""
    comes = facts["barrage"]
    if comes is None:
        return None
    # what lay there when it was fired may have gone with the last unit (css-70)
    marks = yield Ask(MARKS, proves=False, hex=facts["hex"], inside=False)
    lies = next((mark.kind for mark in marks if mark.kind in BARRAGES), None)
    if lies is not None:
        [row] = yield Ask(STAYS, proves=False, lies=lies, comes=comes)
        if row.stays:
            yield Tell(Step("8.7.2", facts["hex"], "stays", f"the {lies.replace('_', ' ')} is no less"))
            return lies
        yield Change({"marker": lies, "at": facts["hex"], "removed": True})
    yield Tell(
        Step("8.7.2", facts["hex"], "placed", f"a {comes.replace('_', ' ')} of strength {facts['strength']}")
    )
    yield Change({"marker": comes, "at": facts["hex"]})
    return comes


def _bombarded(facts: dict[str, Any]) -> Doing:
    """8.7.7: one marker in a hex."""
    if facts["bombarded"]:
        yield Tell(Step("8.7.7", facts["hex"], "removed", "one Bombardment lies there already"))
        return
    yield Tell(Step("8.7.7", facts["hex"], "placed", "a Bombardment"))
    yield Change({"marker": "bombardment", "at": facts["hex"]})


# The kinds.


class Battery(Action):
    """Who fires indirectly, at which hex, spotted by whom."""

    by: Ids = Field(
        min_length=1, max_length=10, description="The firing unit, then others of its hex that add to it"
    )
    at: Place = Field(description="The hex that is fired at")
    spotter: Annotated[str, Names(())] | None = Field(
        None, description="A unit's id, self or aircraft; without it the best there is"
    )
    assault: Place | None = Field(
        None, description="The assault that it supports (9.1 B): the hex that is assaulted"
    )
    pays: str | None = PAYS

    @field_validator("by", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


def indirect_fire(of: Battery) -> Procedure:
    """8.7: an Indirect Fire Action."""
    orders = Orders(of.choices)
    if of.assault is not None:
        yield from _supports(of, of.assault)
    yield from bombard(Barrage(of.by, of.at, of.spotter, read=of.read, pays=of.pays), orders)
    yield from orders.finish(*CHOICES)


ASSAULTED = (
    "select there.charge from positions.place(:position, :hex) as place join position on position.id = :position"
    " cross join lateral css._footing(position.id, position.map_id, place.q, place.r, false) as there"
)


def _supports(of: Battery, hex: str) -> Doing:
    """9.1 B, 9.4: fire at the hex that is assaulted; who has fired counts when it is."""
    if hex != of.at:
        raise Refused("9.4", "supporting fire falls on the hex that is assaulted", of.at)
    [there] = yield Ask(ASSAULTED, proves=False, hex=hex)
    if there.charge is None:
        raise Refused("9.4", "no assault is prepared on the hex", hex)
    now = yield from state()
    before = now.conditions.get("supporting", {})
    fired = [*before.get(hex, []), *of.by]
    yield Tell(
        Step("9.4", hex, "supports", f"{counted(len(fired), 'unit')} in support of the assault"),
        support=fired,
    )
    yield Change({"conditions": {"supporting": before | {hex: fired}}}, kept=True)


class Round(Action):
    """An Illumination Round."""

    by: Ids = Field(min_length=1, max_length=1, description="The indirect unit that fires it")
    at: Place = Field(description="The hex that is to be lit")
    spotter: Annotated[str, Names(())] | None = Field(None, description="A unit's id or self")
    pays: str | None = PAYS

    @field_validator("by", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


def illuminate(of: Round) -> Procedure:
    """8.7.3, 17.1: a hex is lit unless a 9 is rolled."""
    orders = Orders(of.choices)
    facts = yield from declare(Barrage(of.by, of.at, of.spotter, "illumination", of.read, of.pays), orders)
    yield from note_action({"indirect_fired": facts["from"]}, of.by)
    die = yield from d10("illumination")
    lit = die != 9
    yield Tell(
        Step("8.7.3", facts["hex"], "placed" if lit else "fails", f"{die}: the hex is {'lit' if lit else 'not lit'}"),
        roll=die, result="placed" if lit else "failed",
    )  # fmt: skip
    if lit:
        yield from place_marker("illumination", facts["hex"])
    yield from orders.finish("pays")


class Smoke(Action):
    """Smoke by any unit, in its hex or beside it."""

    by: Ids = Field(min_length=1, max_length=1, description="The unit that lays it")
    at: Place = Field(description="Its own hex or an adjacent one")
    pays: str | None = PAYS

    @field_validator("by", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


SMOKE = "select * from css.smoke(:position, :by, :at, :conditions, :policy)"


def smoke(of: Smoke) -> Procedure:
    """8.7.2: a Smoke marker as a Direct Fire Action."""
    rows = yield Ask(SMOKE, by=of.by[0], at=of.at)
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, rows[-1].at)
    yield Tell(result="placed")
    orders = Orders(of.choices)
    yield from charge(facts["cost"], orders, of.by, of.pays)
    yield from note_action({"fired": facts["from"]}, of.by)
    barrage = yield from lay(facts)
    yield Tell(barrage=barrage)
    yield from orders.finish("pays")


class Bombardment(Action):
    """A Preparation Bombardment counter."""

    at: Place = Field(description="The hex that is aimed at")


def bombardment(of: Bombardment) -> Procedure:
    """8.7.7: scatter, then strength 5 without modifiers."""
    orders = Orders(of.choices)
    # on which row of the results table it is read
    yield Tell(points=("css-76",))
    yield from bombard(Barrage(at=of.at, manner="bombardment", read=of.read), orders, "bombardment")
    yield from orders.finish(*CHOICES)


class NavalFire(Action):
    """The fire of a Task Force."""

    at: Place = Field(description="The hex that is fired at")
    spotter: Annotated[str, Names(())] | None = Field(None, description="An American unit's id, or aircraft")


def naval_fire(of: NavalFire) -> Procedure:
    """21.2: indirect fire of strength 7 where a unit spots."""
    orders = Orders(of.choices)
    yield from bombard(
        Barrage(at=of.at, spotter=of.spotter, manner="naval", read=of.read), orders, "naval fire"
    )
    yield from orders.finish(*CHOICES)


# Air power (16.0).

AIR = "select * from css.air_support(:position, :die, :conditions)"
STRIKE = "select * from css.air_strike(:position, cast(:strike as jsonb), :conditions, :policy)"
PAYERS = "select * from css.air_payers(:position, :conditions, :policy)"


class AirSupport(Action):
    """The Air Support chit is drawn."""


def air_support(of: AirSupport) -> Procedure:
    """16.0: how many markers there are, and what each costs."""
    [*_, early] = yield Ask(AIR, die=None, proves=False)
    if not early.facts["allowed"]:
        raise Refused(early.rule, early.note)
    die = yield from d10("air support")
    rows = yield Ask(AIR, die=die)
    facts = rows[-1].facts
    yield Tell(roll=facts["roll"], markers=facts["markers"], cost_each=facts["cost_each"])
    yield Tell(result=str(facts["markers"]))
    yield Change({"track": "air_strikes", "value": facts["markers"]}, kept=True)
    for row in (yield Ask(LYING, proves=False, kinds=["air_strike"])):
        # the strikes of the last chit are over
        yield Change({"marker": "air_strike", "at": row.label, "removed": True}, kept=True)
    now = yield from state()
    if (now.tracks or {}).get("air_box"):
        yield Tell(Step("16.0", None, "removed", "the Interdiction box is emptied"))
        yield Change({"track": "air_box", "value": 0})
        yield Change({"conditions": {"interdiction": None}}, kept=True)


class AirStrike(Action):
    """An Air Strike marker: where it strikes, and who pays."""

    at: Place | None = Field(None, description="The hex that is struck, with 6 High Explosive")
    target: Unit | None = Field(None, description="A Hard Target that is struck, with 6 Armor Piercing")
    pays: str | None = Field(None, description="The American Division that pays for it")

    @model_validator(mode="after")
    def one_of_them(self) -> AirStrike:
        if (self.at is None) == (self.target is None):
            raise ValueError("a strike is at a hex or at a Hard Target: name one of at, target")
        return self


def air_strike(of: AirStrike) -> Procedure:
    """16.0: a strike, without modifiers and without a spotter."""
    orders = Orders(of.choices)
    yield from strike(of.at, of.target, orders, of.pays, of.read)
    yield from orders.finish(*CHOICES)


def strike(
    at: str | None, target: str | None, orders: Orders, pays: str | None = None, read: dict[str, Any] | None = None,
    interdicts: bool = False, purpose: str = "air strike",
) -> Doing:  # fmt: skip
    """A strike on a hex or Hard Target; one out of the Interdiction box is paid for already."""
    said = {"at": at, "target": target, "interdicts": interdicts or None}
    rows = yield Ask(
        STRIKE, strike=canonical({key: value for key, value in said.items() if value is not None})
    )
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, rows[-1].at)
    if not interdicts:
        yield from bill(1, pays, orders)
        yield Change({"marker": "air_strike", "at": facts["hex"]}, kept=True)
    yield Tell(value=facts["value"], type=facts["type"], modifiers=[])
    hit = yield from roll(facts, read or {}, purpose)
    yield from results(Shot(by=(), target=target, read=read or {}), hit, orders)


def bill(markers: int, pays: str | None, orders: Orders) -> Doing:
    """16.0, css-80: a Direct Command for each marker, of a Division with its HQ on the map."""
    rows = yield Ask(PAYERS, proves=False)
    price = rows[-1].facts
    if price["point"] and markers:
        yield Tell(points=["css-80"])
    if pays is not None and pays not in price["divisions"] and price["known"]:
        why = price["barred"].get(pays, "is no American Division that could pay")
        raise Refused("16.0", f"{pays} {why}")
    if not price["known"] and pays is None:
        yield Tell(cost={})
        return
    if pays is None:
        if not price["divisions"]:
            raise Refused("16.0", "no Division can pay")
        pays = yield from orders.one("pays", "us", "which Division pays", price["divisions"])
    total = (
        price["each"] * markers if not price["once"] else (price["each"] if price["first"] and markers else 0)
    )
    cost = {pays: total} if total else {}
    yield Tell(cost=cost)
    left = price["left"].get(pays)
    if left is not None and left < total:
        raise Refused("16.0", f"{pays} has {counted(left, 'Direct Command')}, and it costs {total}")
    yield from pay(cost)
    now = yield from state()
    if (available := (now.tracks or {}).get("air_strikes")) is not None:
        if available < markers:
            raise Refused("16.0", "so many Air Support markers are not left")
        yield Change({"track": "air_strikes", "value": available - markers}, kept=True)


class Interdict(Action):
    """Air Support markers for the Interdiction box."""

    n: int = Field(1, ge=1, description="How many, up to 3")
    pays: str | None = Field(None, description="The American Division that pays for them")


def interdict(of: Interdict) -> Procedure:
    """16.0: up to 3 markers lie in the box."""
    orders = Orders(of.choices)
    now = yield from state()
    lying = (now.tracks or {}).get("air_box") or now.conditions.get("interdiction") or 0
    if lying + of.n > 3:
        raise Refused("16.0", "at most 3 markers lie in the Interdiction box")
    yield from bill(of.n, of.pays, orders)
    yield Tell(
        Step("16.0", None, "placed", f"{counted(of.n, 'marker')} in the Interdiction box"),
        result=lying + of.n,
    )
    yield Change({"track": "air_box", "value": lying + of.n})
    yield Change({"conditions": {"interdiction": lying + of.n}}, kept=True)
    yield from orders.finish("pays")


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    result = answer.get("result")
    if answer.get("lands_at") is None and "lands_at" in answer:
        return (
            "The fire scatters off the map"
            if result == "no_effect"
            else "Where the fire lands the chart tells"
        )
    words = {"hit": "hits", "miss": "misses", "no_effect": "harms nobody"}.get(str(result), "falls")
    code = answer.get("crt")
    laid = answer.get("barrage")
    return clauses(
        f"The fire {words}" + (f": {code}" if code else ""),
        None if answer.get("value") is None else f"value {answer['value']}",
        f"a {laid.replace('_', ' ')} lies in {answer['lands_at']}" if laid and "lands_at" in answer else None,
    )


FALLS = {
    "lands_at": "the hex where it comes down",
    "scatter": "the die for it, of fire that aircraft spot",
    "value": "the modified value; null where a chart would decide",
    "type": "the row of the results table",
    "spotter": "who spots: self, a unit, or aircraft",
    "modifiers": "what the rules add, each with its rule",
    "roll": "the die that counts",
    "result": "hit, miss, or no_effect where nobody is there whom it can harm",
    "crt": "the code of the results table; null where it is not told",
    "barrage": "the marker that lies there then; null on a 9",
    "rout": "the rout check: unit, total, tq, result",
    "cost": "Direct Commands, by Division",
    "support": "units that have fired in support of the assault",
}
KINDS = [
    css_kind(
        indirect_fire, what="indirect fire", done=_verdict, name="indirect_fire", title="Indirect fire",
        arguments=Battery, answers=FALLS, points=("css-15", "css-17", "css-50", "css-55", *RESULTS),
        example='indirect_fire: {by: [1/12/3], at: "26.37", spotter: C/1/3, rolls: [5]}',
    ),
    css_kind(
        illuminate, what="Illumination Round",
        done=lambda ruling: f"The round lights {ruling.question['illuminate']['at']}"
        if ruling.answer["result"] == "placed" else "The round fails",
        name="illuminate", title="Illumination Round", arguments=Round,
        answers={"result": "placed or failed", "spotter": "who sees the hex", "cost": "Direct Commands, by Division"},
        points=("css-13",), example='illuminate: {by: [1/12/3], at: "26.37", rolls: [5]}',
    ),
    css_kind(
        smoke, what="smoke", done=lambda ruling: f"Smoke lies in {ruling.question['smoke']['at']}",
        name="smoke", title="Smoke by any unit", arguments=Smoke,
        answers={"result": "placed", "barrage": "the marker that lies there then", "cost": "Direct Commands, by Division"},
        points=("css-18",), example='smoke: {by: [C/1/9], at: "22.79"}',
    ),
    css_kind(
        bombardment, what="bombardment", done=_verdict, name="bombardment", title="Preparation Bombardment",
        arguments=Bombardment, answers=FALLS, points=("css-17", "css-55", "css-76", *RESULTS),
        example='bombardment: {at: "26.37", rolls: [2, 5]}',
    ),
    css_kind(
        naval_fire, what="naval fire", done=_verdict, name="naval_fire", title="Fire of a Task Force",
        arguments=NavalFire, answers=FALLS, points=("css-17", "css-50", "css-55", *RESULTS), example='naval_fire: {at: "26.37", spotter: C/1/3, rolls: [5]}',
    ),
    css_kind(
        air_support, what="air support", done=lambda ruling: f"There are {counted(ruling.answer['markers'], 'air marker')}",
        name="air_support", title="Air Support chit", arguments=AirSupport,
        answers={
            "roll": "the die, with Orote", "markers": "Air Strike or Interdiction markers",
            "cost_each": "Direct Commands for each", "result": "the number of markers",
        },
        points=("css-80",), example="air_support: {rolls: [2]}",
    ),
    css_kind(
        air_strike, what="air strike", done=_verdict, name="air_strike", title="Air Strike", arguments=AirStrike,
        answers=FALLS, points=("css-55", "css-80", "css-82", *RESULTS), example='air_strike: {at: "26.37", pays: 3 MarDiv, rolls: [3]}',
    ),
    css_kind(
        interdict, what="interdiction",
        done=lambda ruling: f"{counted(ruling.answer['result'], 'marker')} in the Interdiction box",
        name="interdict", title="Interdiction", arguments=Interdict,
        answers={"result": "markers in the box", "cost": "Direct Commands, by Division"},
        points=("css-80",), example="interdict: {n: 2, pays: 3 MarDiv}",
    ),
]  # fmt: skip
