"""Infantry against Vehicles in bob, satchel charges, suicide teams and Unconfirmed Kills: 20.9, 33.0, 36.0, 59.4, 61.2."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.bob.checks import Doing, counter, kinds, rolls_again, spend, taken
from app.play.bob.fire import (
    ATTACK_ANSWERS,
    POINTS,
    RESULTS,
    Fire,
    _critical,
    _maybe_event,
    _use,
    fire_verdict,
    shoot,
    shooters_at,
)
from app.play.bob.losses import destroy, gravest, show_works, suffer, uncovered
from app.play.procedures import Action, Ask, Change, Choose, Procedure, Refused, Roll, Tell, procedure_kind
from app.referee.questions.bob.ground import Unit
from app.referee.rulings import Ruling, Step
from importers.questions import Names

SATW = "select * from bob.satw(:position, :by, :target, :manner, cast(:read as jsonb), :conditions, :policy)"
ASSAULT = "select * from bob.close_assault(:position, :unit, :target, :weapon, :conditions, :policy)"
CHARGE = "select * from bob.satchel_charge(:position, :unit, :at, :conditions, :policy)"
SATT_SITE = """
select hex.label, hex.terrain, vehicle.kind, vehicle.side,
  coalesce(vehicle.attributes -> 'satt_at', '[]') as gone_for,
  exists (
    select from bob._counters(state) as near
    where bob._japanese(near) and near.side <> vehicle.side and near.kind not in ('vehicle', 'carrier')
      and lattice.distance(near.q, near.r, vehicle.q, vehicle.r) <= 3
  ) as near,
  exists (
    select from bob._counters(state) as other
    where other.side = vehicle.side and other.id <> vehicle.id and other.q = vehicle.q and other.r = vehicle.r
      and other.attributes ->> 'in' is distinct from vehicle.code
  ) as accompanied,
  (select near.side from bob._counters(state) as near where bob._japanese(near) order by near.code collate "C" limit 1) as owner,
  (select bob._of_side(state, owner.side, 'satt') from bob._counters(state) as owner where bob._japanese(owner) order by owner.code collate "C" limit 1) as held
from positions.state(:position, :conditions, :policy) as state
cross join lateral bob._counter(state, :target) as vehicle
join hex on hex.map_id = state.map_id and hex.q = vehicle.q and hex.r = vehicle.r
"""
TEAM = "SATT"
"""The name of a suicide team while it is on the map."""


class Satw(Action):
    """Who fires an anti-tank weapon at which Vehicle."""

    by: Annotated[list[str] | str, Names(("unit",))] = Field(description="The unit that fires")
    target: Unit = Field(description="The Vehicle")
    manner: Literal["fire", "op_fire", "assault_fire", "final_op_fire"] = Field(
        "fire", alias="as", description="Whether it fires, Op Fires or Assault Fires"
    )

    @property
    def firer(self) -> str:
        return self.by if isinstance(self.by, str) else self.by[0]


def satw(of: Satw) -> Procedure:
    """33.0: the SATW Check, in place of the Morale Check, and the shot."""
    rows = yield Ask(
        SATW, by=of.firer, target=f"unit:{of.target}", manner=of.manner, read=json.dumps(of.read)
    )
    facts = rows[-1].facts
    [hit] = facts["targets"]
    yield Tell(
        fp=facts["fp"],
        morale=facts["check"],
        value=hit["value"],
        values={of.target: hit["value"]},
        modifiers=_entries(rows),
    )
    if facts["allowed"] is False:
        yield from refuse(of.firer, facts)
        return
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    unit = yield from counter(of.firer)
    said = yield from taken(of, unit.side, "cp")
    passed = yield from _satw_check(of, facts["check"], rolls_again(said.get("cp"), of.firer))
    unit = yield from counter(of.firer)
    if not passed:
        yield from _use(unit)
        yield Tell(result="no_effect", results={of.target: "no_effect"})
        return
    if unit.attributes.get("concealed"):
        yield from show_works(of.firer)
    if unit.kind == "decoy":
        yield Tell(Step("57.5", unit.label, "eliminated", "a Decoy that fires a Panzerfaust is gone"))
        yield Change({"unit": of.firer, "concealed": 0, "eliminated": True, "cause": "fired"})
    else:
        yield from _use(unit, **uncovered(unit))
    yield from _shot(of, facts, unit)


def _satw_check(of: Satw, against: int, reroll: bool) -> Doing:
    if against >= 10:
        yield Tell(mc="automatic")
        return True
    die = yield Roll("1d10", f"the SATW Check of {of.firer}")
    if die > against and reroll:
        yield from spend(of.firer, "reroll")
        die = yield Roll("1d10", f"the SATW Check of {of.firer}, again for a CP")
    yield Tell(mc="passed" if die <= against else "failed")
    return die <= against


def _shot(of: Satw, facts: dict[str, Any], unit: Any) -> Doing:
    die = yield Roll("1d10", f"the attack of {of.firer}")
    rows = yield Ask(RESULTS, targets=json.dumps(facts["targets"]), roll=die)
    results = {row.by: row.facts["result"] for row in rows}
    results |= yield from _critical(facts["targets"], results, die)
    yield Tell(results=results, result=gravest(list(results.values())))
    for code, word in results.items():
        yield from suffer(code, word)
    yield from _maybe_event(of, unit, list(results), die)  # type: ignore[arg-type]


def _entries(rows: Any) -> list[dict[str, Any]]:
    """Signed entries; those of the check are told as such."""
    told = []
    for row in rows[:-1]:
        word = row.effect.removeprefix("check ")
        if row.halves and word[:1] in ("+", "-"):
            of = {"of": "check"} if row.effect.startswith("check") else {}
            told.append({"rule": row.rule, "value": row.halves // 2, "note": row.note, **of})
    return told


def refuse(unit: str, facts: dict[str, Any]) -> Doing:
    """A shot that is blocked costs the Use (14.0); any other refusal costs nothing."""
    if not facts.get("blocked"):
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    yield Tell(allowed=False, why=facts["why"])
    yield from _use((yield from counter(unit)))


# Close Assault


class CloseAssault(Action):
    """Who assaults which Vehicle, with what."""

    unit: Unit = Field(description="The Squad or WT")
    target: Unit = Field(description="The Vehicle")
    weapon: Literal["melee", "satchel", "satt"] = Field(
        "melee", alias="with", description="By hand, with a satchel charge, or as a suicide team"
    )


def close_assault(of: CloseAssault) -> Procedure:
    """20.9: into the hex of a Vehicle, one die, and back."""
    rows = yield Ask(ASSAULT, unit=of.unit, target=of.target, weapon=of.weapon)
    facts = rows[-1].facts
    yield Tell(cost=facts["cost"], value=facts["value"], modifiers=_entries(rows))
    if facts["allowed"] is False:
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    yield from storm(of, facts)


def storm(of: CloseAssault, facts: dict[str, Any]) -> Doing:
    """The die of a Close Assault, and the way back."""
    die = yield Roll("1d10", f"the Close Assault of {of.unit}")
    result = "destroyed" if die <= facts["value"] else "no_effect"
    yield Tell(result=result, results={of.target: result})
    unit = yield from counter(of.unit)
    if result == "destroyed":
        yield from destroy(of.target)
    if of.weapon == "satt":
        # 59.4: whatever came of it
        yield Change({"unit": of.unit, "eliminated": True})
        return
    back = {"at": facts["from"]} if facts["from"] and facts["at"] == facts["hex"] else {}
    yield Change({"unit": of.unit, **back, "used": True, **uncovered(unit)})
    if of.weapon == "satchel":
        yield from _spend_charge(of.unit, facts["retention"])


def _spend_charge(unit: str, retention: int | None) -> Doing:
    """36.0: the charge is gone, unless the scenario lets it be kept on a roll."""
    if retention:
        die = yield Roll("1d10", f"whether {unit} keeps a Satchel Charge")
        if die <= retention:
            yield Tell(
                Step("36.0", None, "kept", f"{die} against {retention}: it has another charge"), retained=True
            )
            return
        yield Tell(retained=False)
    yield Change({"unit": unit, "satchel": False})


# Satchel charges


class Satchel(Action):
    """Who places a satchel charge where."""

    unit: Unit = Field(description="The Squad")
    at: Annotated[str, Names(("hex", "unit"))] = Field(description="The adjacent hex, or a unit in it")


def satchel_charge(of: Satchel) -> Procedure:
    """36.0: a charge at infantry and Guns in an adjacent hex, as the end of a move."""
    rows = yield Ask(CHARGE, unit=of.unit, at=of.at)
    facts = rows[-1].facts
    values = {one["unit"]: one["value"] for one in facts["targets"]}
    yield Tell(
        cost=1,
        fp=8,
        values=values,
        modifiers=_entries(rows),
        **({"value": next(iter(values.values()))} if len(values) == 1 else {}),
    )
    if facts["allowed"] is False:
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    for code in values:
        yield from show_works(code)
    unit = yield from counter(of.unit)
    yield from _use(unit, **uncovered(unit))
    die = yield Roll("1d10", f"the Satchel Charge of {of.unit}")
    found = yield Ask(RESULTS, targets=json.dumps(facts["targets"]), roll=die)
    results = {row.by: row.facts["result"] for row in found}
    if None in results.values():
        yield Tell(allowed=None)
        return
    yield Tell(results=results, result=gravest(list(results.values())))
    for code, word in results.items():
        yield from suffer(code, word)
    yield from _spend_charge(of.unit, facts["retention"])


# Suicide anti-tank teams


class Satt(Action):
    """Which Vehicle a suicide team goes for."""

    target: Unit = Field(description="The Vehicle")
    at: Annotated[str | None, Names(("hex",))] = Field(None, description="Its hex")
    by: str | None = Field(None, description="What the team is called")


def satt(of: Satt) -> Procedure:
    """59.4: a suicide team appears, is shot at, and assaults."""
    [site] = yield Ask(SATT_SITE, proves=False, target=of.target)
    _site_allows(of, site)
    rows = yield Ask(ASSAULT, unit=of.target, target=of.target, weapon="satt")
    value = rows[-1].facts["value"]
    yield Tell(prof=7, value=value, modifiers=_entries(rows))
    owner = site.owner or "japan"
    die = yield Roll("1d10", "the Prof Check of the team")
    yield Tell(prof_passed=die <= 7)
    if site.held is not None:
        yield Change({"side": owner, "satt": site.held - 1})
    yield Change({"unit": of.target, "satt_at": [*site.gone_for, site.label]}, kept=True)
    if die > 7:
        yield Tell(
            Step("59.4", site.label, "eliminated", f"{die} against 7: the team is lost"), result="no_effect"
        )
        return
    name = of.by or TEAM
    placed = {
        "unit": name,
        "side": owner,
        "nation": "japan",
        "kind": "satt",
        "at": site.label,
        "casualty": [2],
        "moving": {"hexes": 1},
    }
    yield Change(placed, kept=True)
    survives = yield from _team_under_fire(of, name, site)
    # what was told of the shots at it is theirs
    yield Tell(prof=7, prof_passed=True, value=value, values={of.target: value}, modifiers=_entries(rows))
    yield Change({"unit": name, "removed": True}, kept=True)
    if not survives:
        yield Tell(Step("59.4", site.label, "eliminated", "the team is shot"), result="no_effect")
        return
    die = yield Roll("1d10", "the Close Assault of the team")
    result = "destroyed" if die <= value else "no_effect"
    yield Tell(result=result, results={of.target: result})
    if result == "destroyed":
        yield from destroy(of.target)


def owner_of(target: str) -> Doing:
    """Whose team would go for a Vehicle."""
    [site] = yield Ask(SATT_SITE, proves=False, target=target)
    return site.owner or "japan"


def _site_allows(of: Satt, site: Any) -> None:
    refusals = (
        (site.kind not in ("vehicle", "carrier"), f"{of.target} is no Vehicle"),
        (not site.near, "no Japanese unit that is no Vehicle is within 3 hexes"),
        (site.accompanied, "the Vehicle is not by itself"),
        (site.terrain in ("surf", "ocean", "river", "canal"), "it is in water"),
        (site.held == 0, "there is no team left"),
        (site.label in site.gone_for, "a team has gone for it in this hex this turn"),
    )
    for refused, why in refusals:
        if refused:
            raise Refused("59.4", why, site.label)


def _team_under_fire(of: Satt, name: str, site: Any) -> Doing:
    """59.4: it is Op Fired on from outside the hex, by those whom their side chooses; gives whether it lives."""
    able = {row.who: row.kind for row in (yield from shooters_at(name, site.label)) if row.who != of.target}
    if not able and "fires" not in of.choices:
        return True
    firing = yield Choose(
        "fires", site.side, "who fires at the team", options=[*able], many=True, default=[], unsaid=[], rule="59.4"
    )  # fmt: skip
    for code in firing:
        results = yield from shoot(Fire(by=code, target=name), able[code], {})
        if results.get(name) == "eliminated":
            return False
    return True


# Unconfirmed Kills


class UkOf(Action):
    """Which Vehicle."""

    unit: Unit = Field(description="A Vehicle with UK counters")


def uk(of: UkOf) -> Procedure:
    """61.2: a die for each counter; a 6 or more, and the Vehicle was destroyed."""
    unit = yield from counter(of.unit)
    count = unit.attributes.get("uk", 0)
    if not count:
        raise Refused("61.2", f"{of.unit} has no UK counter")
    yield Tell(Step("61.2", unit.label, "checks", "a die for each counter: on 6 or more it was destroyed"))
    for n in range(count):
        die = yield Roll("1d10", f"UK counter {n + 1} of {of.unit}")
        yield Tell(Step("61.2", unit.label, "destroyed" if die >= 6 else "undamaged", f"a {die}"))
        if die >= 6:
            yield Tell(result="destroyed")
            yield from destroy(of.unit)
            return
    yield Tell(result="no_effect")
    yield Change({"unit": of.unit, "uk": 0})


def _done(ruling: Ruling) -> str:
    """A Close Assault, a team or a UK roll in a sentence."""
    of, answer = ruling.question[ruling.kind], ruling.answer
    what = f"The {ruling.kind.replace('_', ' ')} on {of.get('target') or of.get('unit')}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    if answer["allowed"] is None:
        return f"{what} cannot be summed up: a counter is not told"
    value = f" needs {answer['value']} or less" if answer.get("value") is not None else ""
    if "result" in answer:
        return f"{what}{value}: {answer['result'].replace('_', ' ')}"
    return (
        f"{what}{value}; it waits for {answer['pending']['for']}" if "pending" in answer else f"{what}{value}"
    )


KINDS = [
    procedure_kind(
        satw, kinds=kinds, name="satw", title="Anti-tank weapon", arguments=Satw, rulesets=("bob",), answers=ATTACK_ANSWERS,
        verdict=fire_verdict, points=("bob-3", "bob-8", "bob-16", "bob-23", "bob-26", "bob-30", "bob-33", "bob-38", "bob-42", "bob-46"),
        example="satw: {by: A, target: T-34, rolls: [2, 5]}",
    ),
    procedure_kind(
        close_assault, kinds=kinds, name="close_assault", title="Close Assault", arguments=CloseAssault, rulesets=("bob",),
        answers={key: ATTACK_ANSWERS[key] for key in ("value", "modifiers", "result", "results", "cost")} | {"retained": "whether it keeps a satchel charge"},
        verdict=_done, points=("bob-4", "bob-21", "bob-46"), example="close_assault: {unit: A, target: T-34, rolls: [4]}",
    ),
    procedure_kind(
        satchel_charge, kinds=kinds, name="satchel_charge", title="Satchel Charge", arguments=Satchel, rulesets=("bob",),
        answers={key: ATTACK_ANSWERS[key] for key in ("value", "values", "fp", "modifiers", "result", "results", "cost")} | {"retained": "whether it keeps a satchel charge"},
        verdict=fire_verdict, points=("bob-9", "bob-15", "bob-26", "bob-27", "bob-51"), example="satchel_charge: {unit: A, at: E4, rolls: [5]}",
    ),
    procedure_kind(
        satt, kinds=kinds, name="satt", title="Suicide Anti-Tank Team", arguments=Satt, rulesets=("bob",),
        answers=ATTACK_ANSWERS, verdict=_done, points=POINTS,
        example="satt: {target: Sherman, rolls: [5, 3]}",
    ),
    procedure_kind(
        uk, kinds=kinds, name="uk", title="Unconfirmed Kill", arguments=UkOf, rulesets=("bob",),
        answers={"result": "destroyed or no_effect"}, verdict=_done, points=("bob-46",), example="uk: {unit: T-34, rolls: [5]}", acts=False,
    ),
]  # fmt: skip
