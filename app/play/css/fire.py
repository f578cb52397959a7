"""Direct fire and Opportunity Fire in css: 8.2 to 8.6, 8.8, 12.5, 22.3.

Sums and charts are SQL (`css.fire`, `css.fire_result`, `css.flame`); here is the order of play. Others fire through
`shoot` (an action of one's own, an ambush) and `react` (Opportunity Fire with its alert roll and its markers).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from app.play.css.dice import d10
from app.play.css.frame import css_kind
from app.play.css.rout import Checked, check
from app.play.css.status import (
    MARKS,
    PAYS,
    RESULTS,
    Doing,
    Orders,
    Struck,
    breaks,
    charge,
    disorganize,
    eliminate,
    lift,
    note_action,
    pin,
    place_marker,
    reading,
    settle,
    suppress,
    used_up,
)
from app.play.procedures import (
    UNDECIDED,
    Action,
    AnswerError,
    Ask,
    Change,
    Choose,
    NotOfferedError,
    Procedure,
    Refused,
    Tell,
)
from app.referee.questions.geometry import Place
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, series
from db.values import canonical
from importers.questions import Names

LEDGER = "select * from css.fire(:position, cast(:shot as jsonb), :conditions, :policy)"
RESULT = "select * from css.fire_result(:position, :row, :value, :die, cast(:read as jsonb))"
CHANCES = "select css.fire_chances(:position, :value, :harms) as chances"
FLAME = "select * from css.flame(:position, :terrain, :die, :conditions)"
CHOICES = ("pays", "target_unit", "impose", "rout_unit", "tenacity", "eliminated", "weapons_lost")
Ids = Annotated[list[str], Names(("unit",))]
Unit = Annotated[str, Names(("unit",))]


@dataclasses.dataclass(frozen=True)
class Shot:
    """A direct fire: who fires with what at whom."""

    by: Sequence[str]
    with_: Sequence[str] = ()
    at: str | None = None
    target: str | None = None
    zone: dict[str, str] | None = None
    as_: str | None = None
    concentrated: bool = False
    manner: Literal["fire", "op_fire"] = "fire"
    charge: str | None = None
    """Against assaulters: their marker (9.4, 9.6)."""
    alerted: bool = False
    landing: Sequence[str] = ()
    """Units on their way from the Final Run-In Zone to the beach, at which it is fired (22.3.2)."""
    postures: dict[str, str] = dataclasses.field(default_factory=dict)
    """Of those who land."""
    read: dict[str, Any] = dataclasses.field(default_factory=dict)
    pays: str | None = None
    """The Division that pays, where several may (24.2, 26.0)."""

    def said(self, **more: Any) -> str:
        """The shot as its ledger takes it."""
        told = {
            "by": list(self.by), "with": list(self.with_), "at": self.at, "target": self.target, "zone": self.zone,
            "as": self.as_, "concentrated": self.concentrated, "manner": self.manner, "charge": self.charge,
            "alerted": self.alerted, "landing": list(self.landing) or None, "read": self.read, **more,
        }  # fmt: skip
        return canonical({key: value for key, value in told.items() if value is not None})


@dataclasses.dataclass(frozen=True)
class Hit:
    """What a shot came to: its facts, the die, and the parts of the result."""

    facts: dict[str, Any]
    die: int
    result: str | None
    crt: str | None
    parts: dict[str, Any]
    broken: tuple[str, ...] = ()
    """Weapons that broke."""


def declare(shot: Shot, orders: Orders) -> Doing:
    """A shot up to its value: who is the target unit, what is imposed on it; refused where it may not be fired."""
    [*_, first] = yield Ask(LEDGER, proves=False, shot=shot.said())
    facts = first.facts
    if not facts["allowed"]:
        yield Ask(LEDGER, shot=shot.said())
        raise Refused(first.rule, first.note, first.at)
    chosen: dict[str, Any] = {}
    if not shot.target and not facts["at_sea"]:
        chosen["target_unit"] = yield from _target_unit(facts, orders)
        [*_, first] = yield Ask(LEDGER, proves=False, shot=shot.said(**chosen))
    if imposed := (yield from _imposed(first.facts, orders)):
        chosen["impose"] = imposed
    rows = yield Ask(LEDGER, shot=shot.said(**chosen))
    facts = rows[-1].facts
    yield Tell(
        type=facts["type"], value=facts["value"], cost=facts["cost"],
        modifiers=[
            {"rule": row.rule, "value": row.halves // 2, "note": row.note} for row in rows if row.effect == "adds"
        ],
    )  # fmt: skip
    return facts


def _target_unit(facts: dict[str, Any], orders: Orders) -> Doing:
    """8.3.1: the defender chooses if any unit is Deployed; else css-60."""
    options = facts["target_options"]
    if facts["all_in_column"] and len(options) > 1:
        yield from reading("css-60")
    side = facts["enemy"] if facts["target_by"] == "defender" else facts["side"]
    alike = facts["target_alike"] and not facts["imposable"]
    return (
        yield from orders.one(
            "target_unit", side, "whose Defense is used", options, alike=alike, rule="8.3.1"
        )
    )


def _imposed(facts: dict[str, Any], orders: Orders) -> Doing:
    """8.3.1, 12.3, css-19: what of the defender's the firer adds; or what its owner must."""
    offered = {one["id"]: one["kind"] for one in facts.get("imposable", [])}
    if not offered:
        return []
    weapons = [code for code, kind in offered.items() if kind == "support_weapon"]
    owner_picks = facts["named"] is not None
    if weapons and not facts["all_in_column"] and facts["named"] is None:
        owner_picks = (yield from reading("css-19")) == "a"
    side = facts["enemy"] if owner_picks else facts["side"]
    if owner_picks and facts["named"] is None:
        # 12.3: one must be chosen
        chosen = yield from orders.some("impose", side, "which weapon modifies the Defense", weapons, 1)
        return chosen

    def wrong(value: Any) -> str | None:
        told = value if isinstance(value, list) else [value]
        if others := [one for one in told if one not in offered]:
            return f"{canonical(others[0])} is not offered for impose; there is {', '.join(offered)}"
        kinds = [offered[one] for one in told]
        return None if len(set(kinds)) == len(kinds) else "one weapon, one leader and one hero may be imposed"

    told = yield from orders.free(
        "impose", side, "which weapon, leader or hero of the target adds its Defense", f"a list of {', '.join(offered)}",
        unsaid=[], default=[],
    )  # fmt: skip
    if (mistake := wrong(told)) is not None:
        raise NotOfferedError("8.3.1", f"{mistake[0].upper()}{mistake[1:]}.")
    return [told] if isinstance(told, str) else told


def roll(facts: dict[str, Any], read: dict[str, Any], purpose: str) -> Doing:
    """The die of a fire, and what the results table makes of it (8.4)."""
    [row] = yield Ask(CHANCES, proves=False, value=facts["value"], harms=bool(facts["units"]))
    die = yield from d10(purpose, chances=row.chances)
    rows = yield Ask(RESULT, row=facts["type"], value=facts["value"], die=die, read=canonical(read))
    found = rows[-1].facts
    told = read.get("combat_results_table")
    if isinstance(told, str) and found["crt"] is not None and not (yield from _agrees(told, found["crt"])):
        raise AnswerError(
            f"The results table has {found['crt']} for {facts['type']} and {die}, not {told}.",
            "Leave combat_results_table out of what is read.",
        )
    yield Tell(roll=die, result=found["result"], crt=found["crt"])
    return Hit(facts, die, found["result"], found["crt"], found)


def _agrees(told: str, printed: str) -> Doing:
    """Whether what is read off the results table is what it has; css-55 b: of a printed R the stars may be lost."""
    told = told.replace(" ", "")
    if told != printed and told.replace("R**", "R") == printed:
        return (yield from reading("css-55")) == "b"
    return told == printed


def shoot(shot: Shot, orders: Orders, purpose: str = "fire") -> Doing:
    """A direct fire from its declaration to the last result; gives its `Hit`."""
    facts = yield from declare(shot, orders)
    yield from charge(facts["cost"], orders, shot.by, shot.pays)
    if shot.manner == "fire":
        yield from note_action({"fired": facts["from"]}, shot.by)
    if shot.concentrated:
        yield Tell(Step("8.3.6", facts["from"], "placed", "Concentrated Fire"))
        yield from place_marker("concentrated_fire", facts["from"])
    yield from used_up(facts["serves_once"])
    hit = yield from roll(facts, shot.read, purpose)
    hit = dataclasses.replace(hit, broken=tuple((yield from _weapons(shot, hit))))
    burns = yield from _burns(hit)
    if shot.charge in CHARGES:
        yield Tell(incurred=hit.parts["dg"] if hit.result == "hit" else 0)
        return hit
    yield from results(shot, hit, orders, burns)
    return hit


CHARGES = ("banzai_charge", "drunk_banzai_charge", "gyokusai")
"""9.6: of fire at who charges only DGs count, and they are kept for the losses of the charge."""


def _weapons(shot: Shot, hit: Hit) -> Doing:
    """8.4: a 9 breaks the weapon that was used; 8.6.1: Sustained Fire on a 7 or more (css-56)."""
    broken: list[str] = []
    facts = hit.facts
    used = facts["weapon"]
    if shot.manner == "op_fire" and facts["sustained"] and hit.die >= 7 and hit.die < 9:
        first = not facts["sustaining"]
        if not first or (used == facts["sustained"] and (yield from reading("css-56")) == "b"):
            broken.append(facts["sustained"])
            yield from breaks(facts["sustained"], "8.6.1")
    if hit.die == 9 and used:
        broken.append(used)
        yield from breaks(used, "8.4")
    elif hit.die == 9 and shot.manner == "op_fire" and facts["sustaining"] and facts["sustained"]:
        broken.append(facts["sustained"])
        yield from breaks(facts["sustained"], "8.6.1")
    yield Tell(broken=broken)
    return broken


def _burns(hit: Hit) -> Doing:
    """8.8: whether the target hex catches fire, by the die alone."""
    facts = hit.facts
    if not facts["flame"] or facts["at_sea"]:
        return False
    [*_, verdict] = yield Ask(FLAME, terrain=facts["terrain"], die=hit.die)
    if verdict.facts["burns"]:
        yield from place_marker("on_fire", facts["hex"])
    return verdict.facts["burns"]


def results(shot: Shot, hit: Hit, orders: Orders, burns: bool = False, indirect: bool = False) -> Doing:
    """The parts of a result in the order in which they are printed (8.5)."""
    if hit.result != "hit" or hit.crt is None:
        return
    struck = dataclasses.replace((yield from _struck(shot, hit.facts)), indirect=indirect)
    if hit.parts["eliminated"]:
        yield from eliminate(hit.facts["target_unit"] or struck.units[0], "8.5")
        yield from settle(struck.hex, struck.inside, orders)
        return
    yield from disorganize(struck, hit.parts["dg"], orders)
    desperate = yield from _is_desperate(struck)
    if desperate:
        return
    if hit.parts["suppressed"]:
        yield from suppress(struck)
    elif hit.parts["pinned"]:
        yield from pin(struck, "8.5")
    if hit.parts["rout"] is not None:
        yield from _rout(shot, hit, struck, orders, burns)


def _is_desperate(struck: Struck) -> Doing:
    """9.6.3: who is under a Gyokusai marker ignores all but losses."""
    marks = yield Ask(MARKS, proves=False, hex=struck.hex, inside=False)
    if struck.side != "japan" or struck.carriers or not any(mark.kind == "gyokusai" for mark in marks):
        return False
    yield Tell(Step("9.6.3", struck.hex, "ignores", "under a Gyokusai marker only losses count"))
    return True


def _struck(shot: Shot, facts: dict[str, Any]) -> Doing:
    """What the results fall on: the hex, or units that carry their own markers (css-78, 22.3)."""
    carriers: tuple[str, ...] = ()
    if shot.landing:
        # 22.3.2: an amphibious tank may be fired at by itself
        carriers = (facts["named"],) if facts["named"] else tuple(shot.landing)
    elif facts["at_sea"]:
        carriers = tuple(facts["units"])
    elif facts["named"] and (yield from reading("css-78")) == "a":
        carriers = (facts["named"],)
    return Struck(
        facts["enemy"], facts["hex"], tuple(facts["units"]), facts["inside"], carriers, bool(facts["at_sea"])
    )


def _rout(shot: Shot, hit: Hit, struck: Struck, orders: Orders, burns: bool) -> Doing:
    """8.5.1: who checks, and the check; nobody where the hex was emptied."""
    facts = hit.facts
    left = yield Ask(PRESENT, proves=False, codes=list(struck.units))
    here = [row.code for row in left]
    if not here:
        return
    if (stars := (yield from _stars(hit, shot.read))) is None:
        return
    unit = yield from _checks(facts, here, orders)
    lender = None
    if facts["target_unit"] and facts["target_unit"] != unit and (yield from reading("css-85")) == "b":
        lender = facts["target_unit"]
    told = yield from check(
        Checked(
            unit, stars, dataclasses.replace(struck, units=tuple(here)), bool(shot.landing),
            shot.postures.get(unit), lender, facts["flame"], burns, shot.read,
        ),
        orders,
    )  # fmt: skip
    yield Tell(rout=told)


def _stars(hit: Hit, read: dict[str, Any]) -> Doing:
    """8.5: R takes nothing off the check; css-55 b: or 2, and only who reads the chart can tell."""
    stars: int = hit.parts["rout"]
    if stars or (yield from reading("css-55")) == "a":
        return stars
    if isinstance(told := read.get("combat_results_table"), str):
        return told.count("*")
    yield Tell(
        Step("8.5", hit.facts["hex"], UNDECIDED, "combat_results_table"),
        needs=[Need("combat_results_table", "8.5")],
        rout={"result": None},
    )
    return None


PRESENT = (
    "select code from unit where position_id = :position and code = any(:codes)"
    " and (q is not null or attributes ? 'zone') and attributes ->> 'status' is null"
    " and attributes ->> 'box' is null order by code"
)


def _checks(facts: dict[str, Any], here: list[str], orders: Orders) -> Doing:
    """8.5.1, css-5: the firer may name a unit in Column; else the target unit checks."""
    if facts["named"]:
        return facts["named"] if facts["named"] in here else here[0]
    target = facts["target_unit"] if facts["target_unit"] in here else None
    column = [code for code in facts["column"] if code in here]
    if column and target and column != [target]:
        if (yield from reading("css-5")) == "b":
            return target
        options = [*column, *([target] if target not in column else [])]
        return (
            yield from orders.one(
                "rout_unit", facts["side"], "who makes the rout check", options, unsaid=target, rule="8.5.1"
            )
        )
    if target:
        return target
    options = column or here
    return (
        yield from orders.one(
            "rout_unit",
            facts["side"] if column else facts["enemy"],
            "who makes the rout check",
            options,
            rule="8.5.1",
        )
    )


# Opportunity Fire.


@dataclasses.dataclass(frozen=True)
class Trigger:
    """What Opportunity Fire answers: a unit that leaves a hex, an assault, or a landing (8.6, 9.4, 22.3.2)."""

    unit: str | None = None
    from_: str | None = None
    to: str | None = None
    assault: str | None = None
    landing: str | None = None


ALERTS = (
    "select max((weapon.attributes ->> 'alert')::integer) as alert from unit"
    " join css._pieces(:position, unit.q, unit.r, coalesce((unit.attributes ->> 'in_cave')::boolean, false)) as weapon"
    " on weapon.side = unit.side and weapon.attributes ->> 'alert' is not null"
    " where unit.position_id = :position and unit.code = :code"
)
HERE = (
    "select hex.label from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and unit.code = :code"
)


def aimed(shot: Shot, orders: Orders) -> Doing:
    """8.2, 22.3.2: the hex, or a Hard Target in it, which may be all there is; at sea css-30. Gives the shot at that."""
    if shot.target is not None:
        return shot
    [*_, verdict] = yield Ask(LEDGER, proves=False, shot=shot.said())
    facts = verdict.facts
    apart = facts["apart"]
    # a hex of Hard Targets alone is not fired at
    whole = [facts["hex"]] if set(facts["units"]) - set(apart) or not apart else []
    target = yield from orders.one(
        "target", facts["side"], "what is fired at", [*whole, *apart], unsaid=whole[0] if whole else None
    )
    return shot if target in whole else dataclasses.replace(shot, target=target)


def as_told(shot: Shot, orders: Orders) -> Doing:
    """A shot with helpers that somebody names, aimed; what its ledger does not allow is no answer, and vetoes nothing."""
    shot = yield from aimed(shot, orders)
    ready = dataclasses.replace(shot, manner="op_fire", alerted=True)
    [*_, verdict] = yield Ask(LEDGER, proves=False, shot=ready.said())
    if not verdict.facts["allowed"]:
        raise NotOfferedError(verdict.rule, f"{verdict.note[0].upper()}{verdict.note[1:]}.")
    return shot


def react(
    shot: Shot,
    trigger: Trigger,
    orders: Orders,
    purpose: str = "opportunity fire",
    alerted: bool | None = None,
) -> Doing:
    """Opportunity Fire: the alert roll where dogs may give something, the fire, and its markers; gives the `Hit`.

    `alerted` is told where the dogs have rolled already, as earlier in the same assault (12.5).
    """
    [row] = yield Ask(HERE, proves=False, code=shot.by[0])
    marks = {mark.kind for mark in (yield Ask(MARKS, proves=False, hex=row.label, inside=False))}
    if alerted is None:
        alerted = yield from alert(shot.by[0])
    yield from _triggered(shot, trigger, alerted)
    charge = yield from charge_of(trigger)
    shot = dataclasses.replace(shot, manner="op_fire", alerted=bool(alerted), charge=charge)
    yield Tell(alerted=bool(alerted))
    hit = yield from shoot(shot, orders, purpose)
    yield from _spent(hit, row.label, marks)
    return hit


def alert(code: str) -> Doing:
    """12.5: the roll of an Alert weapon with the firer; None where there is none."""
    [dogs] = yield Ask(ALERTS, proves=False, code=code)
    if dogs.alert is None:
        return None
    die = yield from d10("alert")
    extremes = (yield from reading("css-59")) == "b"
    [verdict] = yield Ask(CHECK, die=die, quality=dogs.alert, extremes=extremes)
    yield Tell(alert=die)
    return verdict.facts["passes"]


CHECK = "select * from css.quality_check(:position, :die, 0, :quality, :extremes, '12.5')"


def charge_of(trigger: Trigger) -> Doing:
    """The marker of the assault or charge against which is fired."""
    if trigger.assault is None:
        return None
    marks = yield Ask(MARKS, proves=False, hex=trigger.assault, inside=False)
    kinds = ("drunk_banzai_charge", "banzai_charge", "prepared_assault")
    return next((kind for kind in kinds if any(mark.kind == kind for mark in marks)), "banzai_charge")


def _triggered(shot: Shot, trigger: Trigger, alerted: bool | None) -> Doing:
    """8.6, 9.4: whether this gives the firer a shot; sight and markers are the ledger's."""
    [row] = yield Ask(HERE, proves=False, code=shot.by[0])
    elsewhere = trigger.assault is not None and row.label != trigger.assault
    if elsewhere and (yield from reading("css-67")) == "a":
        raise Refused("9.4", "only the hex that is assaulted fires at who assaults it", row.label)
    if trigger.unit is None or trigger.to is None:
        return
    rows = yield Ask(MOVE, proves=False, unit=trigger.unit, path=[trigger.to], options={})
    if rows[-1].effect == "unknown":
        # what a mover has to spend bears on its move, not on who sees it leave
        rows = yield Ask(WATCHED, proves=False, unit=trigger.unit, to=trigger.to)
    mine = [row for row in rows if row.by in shot.by]
    yield Tell(points=[row.point for row in mine if row.point])
    if any(row.effect == "opportunity fire" for row in mine):
        return
    if any(row.effect == "roll" and row.rule == "12.5" for row in mine):
        # a marker or infiltration that only alert dogs overcome
        if alerted:
            return
        raise Refused("12.5", "the dogs do not give the alarm", trigger.from_)
    why = next((row for row in mine if row.effect in NO_SHOT), None)
    raise Refused(
        why.rule if why else "8.6", why.note if why else "leaving that hex gives it no shot", trigger.from_
    )


MOVE = "select * from css.move(:position, :unit, :path, :options, :conditions, :policy)"
WATCHED = "select * from css.watched(:position, :unit, :to, :conditions, :policy)"
NO_SHOT = ("screened", "no opportunity fire", "unknown")


def _spent(hit: Hit, hex: str, marks: set[str]) -> Doing:
    """8.6: No Opportunity Fire, or Sustained Fire for a hex that may go on; a broken weapon ends it (9.4)."""
    facts = hit.facts
    if facts["sustained"] and facts["sustained"] not in hit.broken:
        yield Tell(Step("8.6.1", hex, "placed", "Sustained Fire"))
        if "sustained_fire" not in marks:
            yield Change({"marker": "sustained_fire", "at": hex})
        return
    if "sustained_fire" in marks:
        yield from lift("sustained_fire", hex)
    yield Tell(Step("8.6", hex, "placed", "No Opportunity Fire"))
    if "no_opportunity_fire" not in marks:
        yield Change({"marker": "no_opportunity_fire", "at": hex})


# The kinds.


class Zone(BaseModel):
    """A naval zone (22.0)."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    beach: str
    run: Literal["final_run_in", "approach", "transport"]


class FireChoices(dict[str, Any]):
    """What players decide in a fire, by name."""


class Fire(Action):
    """Who fires with what, at whom, and how."""

    by: Ids = Field(
        min_length=1, max_length=10, description="The firing unit, then others of its hex that add to it"
    )
    with_: Ids = Field(
        default_factory=list, alias="with", max_length=6, description="A weapon, a leader, a hero that help"
    )
    at: Place | None = Field(None, description="The hex that is fired at")
    target: Unit | None = Field(None, description="A Hard Target that is fired at by itself")
    zone: Zone | None = Field(None, description="A naval zone that is fired at: {beach, run}")
    as_: Literal["he", "ap", "high_explosive", "armor_piercing"] | None = Field(
        None, alias="as", description="Of a white box: he or ap"
    )
    concentrated: bool = Field(False, description="Concentrated Fire (8.3.6)")
    pays: str | None = PAYS

    @field_validator("by", "with_", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="after")
    def something_is_fired_at(self) -> Fire:
        if self.at is None and self.target is None and self.zone is None:
            raise ValueError("a fire is at a hex, a target or a zone: name one of at, target, zone")
        return self

    def shot(self) -> Shot:
        zone = self.zone.model_dump() if self.zone else None
        return Shot(
            self.by, self.with_, self.at, self.target, zone, self.as_, self.concentrated, read=self.read,
            pays=self.pays,
        )  # fmt: skip


def fire(of: Fire) -> Procedure:
    """8.2: a Direct Fire Action."""
    orders = Orders(of.choices)
    yield from shoot(of.shot(), orders)
    yield from orders.finish(*CHOICES)


GUN = ("by", "with", "as", "target")
"""What may be told of an Opportunity Fire on the way of others; the rest they tell themselves."""


@dataclasses.dataclass(frozen=True)
class Gunners(Choose):
    """Who fires on the way of others: a hex that is offered, or as `op_fire` has it, {by, with, as, target}."""

    guns: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Units that may fire, each with its hex."""

    def mistake(self, value: Any) -> str | None:
        if not isinstance(value, Mapping):
            return super().mistake(value)
        if others := [key for key in value if key not in GUN]:
            return f"{canonical(others[0])} is not told of {self.name}; there is {', '.join(GUN)}"
        try:
            by = self._told(value).by[0]
        except ValidationError as wrong:
            first = wrong.errors()[0]
            return f"{self.name}: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        return None if by in self.guns else f"{by} may not fire; there is {series(self.guns)}"

    def shot(self, chosen: Any) -> Shot:
        """The shot that was chosen, at nothing yet; of a hex its first unit fires alone."""
        if isinstance(chosen, Mapping):
            return dataclasses.replace(self._told(chosen).shot(), at=None)
        return Shot(by=(next(code for code, hex in self.guns.items() if hex == chosen),))

    def _told(self, value: Mapping[str, Any]) -> Fire:
        return Fire.model_validate({**value, "at": next(iter(self.guns.values()))})


class Trigger_(BaseModel):  # noqa: N801 - the name Trigger is taken by what it becomes
    """What it answers, as a case tells it."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    unit: Unit | None = None
    from_: str | None = Field(None, alias="from")
    to: str | None = None
    assault: str | None = None
    landing: str | None = None


class OpFire(Fire):
    """An Opportunity Fire: a fire, and what triggers it."""

    trigger: Trigger_ | None = Field(
        None,
        description="{unit, from, to} of who leaves a hex, {assault: hex} or {landing: beach}; it tells the target, too",
    )

    @model_validator(mode="after")
    def something_is_fired_at(self) -> OpFire:
        if self.at is None and self.target is None and self.zone is None and self.trigger is None:
            raise ValueError(
                "an opportunity fire is at a hex, a target or a zone, or has a trigger that tells it"
            )
        return self

    def shot(self) -> Shot:
        shot = super().shot()
        told = self.trigger
        if told is not None and not (shot.at or shot.target or shot.zone):
            shot = dataclasses.replace(shot, at=told.from_ or told.unit or told.landing or told.assault)
        return shot


BEACH = (
    "select coalesce((select beach.label from position cross join lateral css._beach(position.map_id, :beach) as beach"
    " where position.id = :position limit 1), :beach) as label"
)
LANDERS = (
    "select code from unit where position_id = :position and attributes #>> '{zone,beach}' = :beach"
    " and attributes #>> '{zone,run}' = 'final_run_in' and side = 'us' order by code"
)


def op_fire(of: OpFire) -> Procedure:
    """8.6: Opportunity Fire."""
    orders = Orders(of.choices)
    told = of.trigger
    trigger = Trigger(told.unit, told.from_, told.to, told.assault, told.landing) if told else Trigger()
    shot = of.shot()
    if trigger.landing is not None and not shot.landing and shot.zone is None:
        [beach] = yield Ask(BEACH, proves=False, beach=trigger.landing)
        landers = yield Ask(LANDERS, proves=False, beach=beach.label)
        shot = dataclasses.replace(shot, landing=tuple(row.code for row in landers), at=beach.label)
    yield from react(shot, trigger, orders)
    yield from orders.finish(*CHOICES)


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    what = {"hit": "hits", "miss": "misses", None: "falls, and whether it hits is not told"}[
        answer.get("result")
    ]
    code = answer.get("crt")
    if answer.get("result") == "hit":
        what = f"hits: {code}" if code else "hits, with what result the chart tells"
    value = answer.get("value")
    return clauses(
        f"The fire {what}",
        None if value is None else f"value {value} on the {answer['type'].replace('_', ' ')} row",
        f"{series(answer['broken'])} breaks" if answer.get("broken") else None,
    )


ANSWERS = {
    "type": "the row: small_arms, high_explosive or armor_piercing",
    "value": "the modified Fire Value; null where a chart would decide",
    "modifiers": "what the rules add, each with its rule",
    "roll": "the die that counts",
    "result": "hit or miss",
    "crt": "the code of the results table; null where it is not told",
    "broken": "weapons that broke",
    "rout": "the rout check: unit, total, tq, result",
    "cost": "Direct Commands, by Division",
}
POINTS = (
    "css-3",
    "css-5",
    "css-10",
    "css-18",
    "css-19",
    "css-30",
    "css-55",
    "css-60",
    "css-73",
    "css-78",
    "css-85",
)
KINDS = [
    css_kind(
        fire,
        what="fire",
        done=_verdict,
        name="fire",
        title="Direct fire",
        arguments=Fire,
        answers=ANSWERS,
        points=(*POINTS, *RESULTS),
        example='fire: {by: [C/1/9], with: [Craig], at: "22.79", rolls: [3, 4]}',
    ),
    css_kind(
        op_fire,
        what="opportunity fire",
        done=_verdict,
        name="op_fire",
        title="Opportunity Fire",
        arguments=OpFire,
        answers=ANSWERS
        | {
            "alert": "the alert roll of dogs",
            "alerted": "whether dogs were alert",
            "incurred": "DGs that a charge takes, to be turned into losses",
        },
        points=("css-42", "css-56", "css-59", "css-61", "css-67", *POINTS, *RESULTS),
        example='op_fire: {by: [C/1/9], trigger: {unit: 2/18, from: "22.79", to: "23.79"}, rolls: [3]}',
    ),
]
