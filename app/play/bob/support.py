"""Assets in bob: Fire Missions, aircraft, illumination and smoke: 32.0 to 32.2, 35.0, 35.1, 48.0 to 48.2, 50.1, 59.3."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.bob.checks import Doing, conditions, counter, kinds, reading
from app.play.bob.fire import ATTACK_ANSWERS, RESULTS, check_movers, fire_verdict
from app.play.bob.losses import gravest, reveal, suffer, suppress
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Roll,
    Tell,
    Undecided,
    procedure_kind,
    proof,
)
from app.referee.questions.bob.ground import Unit
from app.referee.questions.bob.movement import needs_of
from app.referee.questions.movement import points
from app.referee.rulings import Need, Ruling, Step
from importers.questions import Names

MISSION = "select * from bob.indirect_fire(:position, :by, :at, :manner, :spotter, :conditions, :policy)"
DRIFT = "select drifted.label from bob.drifted(:position, :at, :direction, :hexes) as drifted"
BARRAGE = (
    "select * from bob.barrage(:position, :by, :at, :unit, cast(:read as jsonb), :conditions, :policy, :op)"
)
AIR = "select * from bob.air_attack(:position, :by, :target, cast(:read as jsonb), :conditions, :policy)"
DIVERSIONS = "select * from bob.diversions(:position, :by, :target, :conditions, :policy)"
MISSIONS = """
select marker.attributes ->> 'by' as by, hex.label, here.label as at
from positions.state(:position, :conditions, :policy) as state
cross join lateral bob._counter(state, :unit) as here
join marker on marker.position_id = state.position_id and marker.kind = 'fire_mission'
  and lattice.distance(marker.q, marker.r, here.q, here.r) <= 1
join hex on hex.map_id = state.map_id and hex.q = marker.q and hex.r = marker.r
where not coalesce((marker.attributes ->> 'smoke')::boolean, false)
order by marker.id
"""
SMOKES = """
select hex.label, array_agg(marker.kind) filter (where marker.kind is not null) as kinds
from positions.state(:position, :conditions, :policy) as state
join hex on hex.map_id = state.map_id and hex.label = any(:labels)
left join marker on marker.position_id = state.position_id and marker.q = hex.q and marker.r = hex.r
  and marker.kind in ('smoke', 'dispersed_smoke')
group by hex.label
"""
SMOKE_SITE = """
select squad.side, squad.kind, squad.attributes, squad.label as here, hex.label, hex.terrain,
  lattice.distance(squad.q, squad.r, hex.q, hex.r) as away,
  bob._in_melee(state, squad) as melee,
  bob._far(bob._shown(squad.attributes, 'range')) as far,
  exists (select from bob.los(state.position_id, bob._place_name(squad), 'hex:' || hex.label, state.conditions, state.readings) as step where step.effect = 'visible') as visible,
  bob._of_side(state, squad.side, 'smoke') as held
from positions.state(:position, :conditions, :policy) as state
cross join lateral bob._counter(state, :unit) as squad
cross join lateral positions.place(state.position_id, :at) as place
join hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r
"""
MOVES_THERE = "select * from bob.move(:position, :unit, :path, '{}', :conditions, :policy)"
LIT = """
select hex.label,
  exists (
    select from bob._counters(state) as friend
    where friend.side = asset.side and lattice.distance(friend.q, friend.r, hex.q, hex.r) <= 5 and not bob._in_melee(state, friend)
  ) as near,
  exists (
    select from bob._counters(state) as friend
    where friend.side = asset.side and lattice.distance(friend.q, friend.r, hex.q, hex.r) <= 5 and not bob._in_melee(state, friend)
      and not bob._flag(friend, 'used')
  ) as fresh,
  asset.side
from positions.state(:position, :conditions, :policy) as state
cross join lateral positions._asked_counter(state.position_id, :by) as asset
cross join lateral positions.place(state.position_id, :at) as place
join hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r
"""


def one_of(by: list[str] | str) -> str:
    """A name that may be told as a list of one."""
    return by if isinstance(by, str) else by[0]


def entries(rows: Any, whose: bool = False) -> list[dict[str, Any]]:
    """The signed entries of a ledger; whose: each with its unit."""
    return [
        {"rule": row.rule, "value": row.halves // 2, "note": row.note, **({"unit": row.by} if whose else {})}
        for row in rows[:-1]
        if row.halves and row.effect[:1] in ("+", "-")
    ]


# Artillery


class IndirectFire(Action):
    """Which battery fires where, spotted by whom."""

    by: Annotated[list[str] | str, Names(("unit",))] = Field(description="The battery")
    at: Annotated[str, Names(("hex", "unit"))] = Field(description="The hex it fires at")
    spotter: Annotated[str | None, Names(("unit",))] = Field(
        None, description="Who spots; else anybody who can"
    )
    manner: Literal["fire", "op_fire", "smoke"] = Field(
        "fire", alias="as", description="Fire, Op Fire, or smoke"
    )

    @property
    def firer(self) -> str:
        return one_of(self.by)


def indirect_fire(of: IndirectFire) -> Procedure:
    """32.0: the Prof Check, where the shells fall, and what they do."""
    battery = one_of(of.by)
    rows = yield Ask(MISSION, by=battery, at=of.at, manner=of.manner, spotter=of.spotter)
    facts = rows[-1].facts
    yield Tell(prof=facts["prof"], modifiers=entries(rows))
    if facts["allowed"] is False:
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    die = yield Roll("1d10", f"the Prof Check of {battery}")
    yield Tell(prof_passed=die <= facts["prof"])
    asset = yield from counter(battery)
    marked = {"op_fire": False} if asset.attributes.get("op_fire") else {}
    yield Change({"unit": battery, "used": True, **marked})
    if die > facts["prof"]:
        yield Tell(result="no_effect")
        return
    if facts["t44"]:
        yield Tell(Step("32.2", None, "spent", "rockets are fired once"))
        yield Change({"unit": battery, "eliminated": True})
    ends_at = yield from _drift(battery, facts)
    if ends_at is None:
        yield Tell(ends_at=None, hexes=[], result="no_effect")
        return
    yield from _land(of, battery, ends_at)


def _drift(battery: str, facts: dict[str, Any]) -> Doing:
    """32.0: a roll above its Accuracy drifts a hex for each point, in a direction rolled for."""
    die = yield Roll("1d10", f"the accuracy of {battery}")
    away = max(0, die - facts["accuracy"])
    yield Tell(accuracy=facts["accuracy"], accurate=away == 0)
    if not away:
        yield Tell(drift=0, ends_at=facts["hex"])
        return facts["hex"]
    direction = yield Roll("1d6", "the direction of the drift")
    [row] = yield Ask(DRIFT, proves=False, at=f"hex:{facts['hex']}", direction=direction, hexes=away)
    note = f"{away} hexes in direction {direction}" + ("" if row.label else ", off the map")
    yield Tell(Step("32.0", row.label, "drifts", note), drift=away, direction=direction, ends_at=row.label)
    return row.label


def _land(of: IndirectFire, battery: str, ends_at: str) -> Doing:
    """The Fire Mission counter, and each occupied hex in turn: the centre, then directions 1 to 6."""
    smoke = of.manner == "smoke"
    rows = yield Ask(
        BARRAGE,
        proves=not smoke,
        by=battery,
        at=f"hex:{ends_at}",
        unit=None,
        read=json.dumps(of.read),
        op=of.manner == "op_fire",
    )
    facts = rows[-1].facts
    labels = [one["hex"] for one in facts["hexes"]]
    yield Tell(hexes=labels)
    if smoke:
        yield Tell(Step("48.0", ends_at, "smoke", "smoke in all seven hexes, and no attack"))
        yield from lay_smoke(labels, "smoke")
        yield Tell(result="no_effect")
        return
    yield Change({"marker": "fire_mission", "at": ends_at, "by": battery})
    targets = [target for one in facts["hexes"] for target in one["targets"]]
    yield Tell(
        values={target["unit"]: target["value"] for target in targets}, modifiers=entries(rows, whose=True)
    )
    results: dict[str, str] = {}
    for one in facts["hexes"]:
        if one["targets"] or one["wire"]:
            results |= yield from _strike(one, facts, f"the shells on {one['hex']}")
    yield Tell(results=results, result=gravest(list(results.values())))


def _strike(one: Mapping[str, Any], facts: Mapping[str, Any], purpose: str) -> Doing:
    """One roll for all in a hex; wire is torn by a casualty of 7 (43.6)."""
    if any(target["value"] is None for target in one["targets"]):
        raise Undecided  # the ledger has told which chart
    die = yield Roll("1d10", purpose)
    found = yield Ask(RESULTS, targets=json.dumps(one["targets"]), roll=die)
    results = {row.by: row.facts["result"] for row in found}
    if None in results.values():
        raise Undecided(Need("counter", "2.1"))
    for target in one["targets"]:
        if target.get("vehicle"):
            yield from reveal(target["unit"])
        yield from suffer(target["unit"], results[target["unit"]])
    if one["wire"] and facts["wire_fp"] is not None and die + 7 <= facts["wire_fp"]:
        yield Change({"marker": "wire", "at": one["hex"], "removed": True})
    movers = yield from check_movers(one["targets"], results)
    if movers:
        yield Tell(movers=movers)
    return results


class MissionOn(Action):
    """Who enters a Fire Mission."""

    unit: Unit = Field(description="The unit that enters, mounts or dismounts there")
    at: Annotated[str | None, Names(("hex",))] = Field(
        None, description="The hex that it enters, or that of the Fire Mission, where several reach it"
    )


def fire_mission(of: MissionOn) -> Procedure:
    """32.0: a Fire Mission that lies there strikes whoever enters one of its seven hexes."""
    yield from shelled(of.unit, of.at, of.read)


def shelled(unit: str, at: str | None = None, read: Mapping[str, Any] | None = None) -> Doing:
    """All Fire Missions that reach a unit strike it; gives what became of it by unit."""
    missions = [
        row for row in (yield Ask(MISSIONS, proves=False, unit=unit)) if at in (None, row.label, row.at)
    ]
    if not missions:
        raise Refused("32.0", f"no Fire Mission reaches {unit}")
    results: dict[str, str] = {}
    for row in missions:
        if row.by is None:
            raise Undecided(Need("the battery of the Fire Mission", "32.0"))
        rows = yield Ask(
            BARRAGE, by=row.by, at=f"hex:{row.label}", unit=unit, read=json.dumps(dict(read or {})), op=False
        )
        facts = rows[-1].facts
        hit = next((one for one in facts["hexes"] if one["hex"] == row.at), None)
        if hit is None or not hit["targets"]:
            continue
        values = {target["unit"]: target["value"] for target in hit["targets"]}
        yield Tell(values=values, modifiers=entries(rows), value=next(iter(values.values())))
        results |= yield from _strike({**hit, "wire": False}, facts, f"the shells on {unit}")
    yield Tell(results=results, result=gravest(list(results.values())))
    return results


# Aircraft


class AirAttack(Action):
    """Which aircraft attacks whom."""

    by: Annotated[list[str] | str, Names(("unit",))] = Field(description="The aircraft")
    target: Unit = Field(description="The unit it selects")

    @property
    def firer(self) -> str:
        return one_of(self.by)


def air_attack(of: AirAttack) -> Procedure:
    """35.0: the Prof Check, perhaps another target, and the attack."""
    plane = one_of(of.by)
    facts = yield from _declare_air(of, plane, of.target)
    if facts["allowed"] is False:
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    die = yield Roll("1d10", f"the Prof Check of {plane}")
    yield Tell(prof_passed=die <= facts["prof"])
    target: str | None = of.target
    if die == facts["prof"] + 1:
        target = yield from _diverted(of, plane, facts)
        if target is not None:
            facts = yield from _declare_air(of, plane, target)
    elif die > facts["prof"]:
        target = None
    yield Change({"unit": plane, "used": True})
    if target is None:
        yield Tell(
            Step("35.0", None, "no attack", "no attack this turn; the aircraft may come again"),
            result="no_attack",
            decision="no_attack",
        )
        return
    yield Tell(decision="attack" if target == of.target else "new_target", target=target)
    yield from _bomb(plane, target, facts)


def _declare_air(of: AirAttack, plane: str, target: str) -> Doing:
    rows = yield Ask(AIR, by=plane, target=target, read=json.dumps(of.read))
    facts = rows[-1].facts
    [hit] = facts["targets"]
    yield Tell(
        prof=facts["prof"],
        fp=facts["fp"],
        value=hit["value"],
        values={target: hit["value"]},
        modifiers=entries(rows),
    )
    return facts


def _diverted(of: AirAttack, plane: str, facts: dict[str, Any]) -> Doing:
    """One above its Rating: the opponent names another target within 5 hexes."""
    rows = yield Ask(DIVERSIONS, proves=False, by=plane, target=of.target)
    vehicles = facts["type"] == "ju87g"
    codes = []
    for row in rows:
        unit = yield from counter(row.unit)
        if not vehicles or unit.kind in ("vehicle", "carrier"):
            codes.append(row.unit)
    if not codes:
        return None
    yield Tell(result="new_target", decision="new_target")
    opponent = (yield from counter(of.target)).side
    return (yield Choose("new_target", opponent, "another target for the aircraft", codes, default=codes[0]))


def _bomb(plane: str, target: str, facts: dict[str, Any]) -> Doing:
    """All in the hex lose Concealment; one unit is attacked; a Stuka shakes the rest."""
    unit = yield from counter(target)
    around = facts["here"] if facts["type"] != "ju87g" else [target]
    for code in around:
        yield from reveal(code)
    fresh = (
        yield Ask(AIR, proves=False, by=plane, target=target, read="{}")
        if unit.kind != "decoy"
        else Ask("select 1 where false", proves=False)
    )
    hit = fresh[-1].facts["targets"] if fresh else facts["targets"]
    if unit.kind == "decoy":
        yield Tell(result="eliminated", results={target: "eliminated"})
        yield from _leave(plane, facts, None)
        return
    if hit[0]["value"] is None:
        raise Undecided  # the ledger has told which chart
    die = yield Roll("1d10", f"the attack of {plane}")
    rows = yield Ask(RESULTS, targets=json.dumps(hit), roll=die)
    results = {row.by: row.facts["result"] for row in rows}
    if None in results.values():
        raise Undecided(Need("counter", "2.1"))
    yield Tell(
        value=hit[0]["value"],
        values={target: hit[0]["value"]},
        results=results,
        result=gravest(list(results.values())),
    )
    for code, word in results.items():
        yield from suffer(code, word)
    if facts["type"] == "ju87":
        for code in facts["here"]:
            there = yield from counter(code)
            if there.label and there.kind in ("squad", "wt", "gun"):
                yield from suppress(code)
    yield from _leave(plane, facts, die)


def _leave(plane: str, facts: dict[str, Any], die: int | None) -> Doing:
    """35.0, 35.1: most aircraft attack once; fighter-bombers come again unless their roll was 9 or 10 (bob-46)."""
    if facts["type"] not in ("ju87g", "sturmovik", "jabo"):
        yield Change({"unit": plane, "eliminated": True})
        return
    yield Tell(points=("bob-46",))
    if die is not None and die >= 9:
        yield Change({"unit": plane, "eliminated": True})
    elif facts["type"] != "ju87g":
        yield Change({"unit": plane, "side_up": "mg"})


# Light and smoke


class Illumination(Action):
    """Which counter lights up which hex."""

    by: Annotated[list[str] | str, Names(("unit",))] = Field(description="The Illumination counter")
    at: Annotated[str, Names(("hex", "unit"))] = Field(description="The hex")

    @property
    def firer(self) -> str:
        return one_of(self.by)


def illumination(of: Illumination) -> Procedure:
    """50.1: within 5 hexes of a friend not in Melee; it lights its hex and those around it."""
    asset = one_of(of.by)
    now = yield from conditions()
    [site] = yield Ask(LIT, proves=False, by=asset, at=of.at)
    unit = yield from counter(asset)
    if now.get("weather") == "monsoon":
        raise Refused("55.2", "there is no Illumination in the deluge", site.label)
    if unit.attributes.get("used") or unit.attributes.get("status") == "eliminated":
        raise Refused("50.1", f"{asset} has been used", site.label)
    if not site.near:
        raise Refused("50.1", "no friend that is not in Melee is within 5 hexes", site.label)
    counts = 1
    if not site.fresh and (yield from reading("bob-17")) == "b":
        counts = 0
    yield Tell(
        Step(
            "50.1", site.label, "lit", "a friend not in Melee is within 5 hexes; this hex and those around it"
        ),
        counts=counts,
    )
    yield Change(
        {"marker": "illumination", "at": site.label}, {"unit": asset, "eliminated": True, "used": True}
    )


class Smoke(Action):
    """Who lays smoke where, and how."""

    by: Annotated[list[str] | str, Names(("unit",))] = Field(description="The Squad or the battery")
    at: Annotated[str, Names(("hex", "unit"))] = Field(description="The hex")
    manner: Literal["grenade", "discharger", "artillery"] = Field(
        "grenade", alias="as", description="By what"
    )

    @property
    def firer(self) -> str:
        return one_of(self.by)


def smoke(of: Smoke) -> Procedure:
    """48.0 to 48.2, 59.3: smoke grenades, grenade dischargers, or Artillery."""
    if of.manner == "artillery":
        told = {"by": of.by, "at": of.at, "as": "smoke", "read": of.read, "choices": of.choices}
        yield from indirect_fire(IndirectFire.model_validate(told))
        return
    unit = one_of(of.by)
    [site] = yield Ask(SMOKE_SITE, proves=False, unit=unit, at=of.at)
    now = yield from conditions()
    if now.get("weather") == "monsoon":
        raise Refused("55.2", "there is no smoke in the deluge", site.label)
    if of.manner == "grenade":
        yield from _grenade(unit, site, now)
    else:
        yield from _discharger(unit, site)
    yield from lay_smoke([site.label], "dispersed_smoke")


def is_walked(rows: Sequence[Any]) -> bool:
    """Whether a step into the next hex was counted: it may be entered, for points that the unit has (5.0)."""
    return bool(rows[-1].effect != "illegal" or rows[-1].halves)


def has_grenades(now: Mapping[str, Any], side: str) -> bool:
    """48.1: whether the scenario gives a side Smoke Grenades."""
    told = now.get("smoke_grenades")
    return told is True or told == side or (isinstance(told, list | dict) and side in told)


def _grenade(unit: str, site: Any, now: Mapping[str, Any]) -> Doing:
    """48.1: a moving Squad, its own hex or the next, for what it would cost to move there."""
    given = now.get("smoke_grenades") is None or has_grenades(now, site.side)
    refusals = (
        (not given, "its side has no Smoke Grenades"),
        (site.kind != "squad", "Squads have Smoke Grenades"),
        (site.attributes.get("used"), "it is Used"),
        (site.away > 1, "it is placed in its own or an adjacent hex"),
        (site.terrain in ("river", "canal", "ocean", "surf"), "not in a water hex"),
        (site.melee, "an enemy is in its hex"),
        (site.attributes.get("fired"), "not after Assault Fire"),
        ((site.attributes.get("moving") or {}).get("grenade"), "it has placed one in this activation"),
    )
    for refused, why in refusals:
        if refused:
            raise Refused("48.1", why, site.label)
    moving = site.attributes.get("moving")
    if moving is not None:
        yield Change({"unit": unit, "moving": moving | {"grenade": True}}, kept=True)
    if not site.away:
        yield Tell(Step("48.1", site.label, "smoke", "Dispersed Smoke in its own hex"), cost=0)
        return
    rows = yield Ask(MOVES_THERE, proves=False, unit=unit, path=[site.label])
    yield proof([row for row in rows if row.effect == "cost"])
    cost = points(rows[-1].halves)
    if not is_walked(rows):
        raise Refused("48.1", f"as for a move there: {rows[-1].note}", site.label, cost=None)
    yield Tell(Step("48.1", site.label, "smoke", "for what it would cost to move there"), cost=cost)
    if cost is None:
        raise Undecided(*needs_of("bob", rows[:-1]), cost=None)


def _discharger(unit: str, site: Any) -> Doing:
    """59.3: a grenade discharger Squad is Used for it, within sight and Range, as long as there are counters."""
    refusals = (
        (not site.attributes.get("grenade_discharger"), "it has no grenade discharger"),
        (site.attributes.get("used") or site.attributes.get("moving"), "it is Used, or moves"),
        (site.held == 0, "there are no Smoke counters left"),
        (site.far is not None and site.away > site.far, "beyond its normal Range"),
        (not site.visible, "it does not see the hex"),
        (site.melee, "an enemy is in its hex"),
    )
    for refused, why in refusals:
        if refused:
            raise Refused("59.3", why, site.label)
    yield Tell(
        Step("48.2", site.label, "smoke", "a grenade discharger lays Dispersed Smoke"),
        Step("59.3", site.label, "used", "it sees the hex within its Range, and is Used for it"),
    )
    yield Change({"unit": unit, "used": True})
    if site.held is not None:
        yield Change({"side": site.side, "smoke": site.held - 1})


def lay_smoke(labels: list[str], kind: str) -> Doing:
    """48.0: one counter a hex; smoke on dispersed smoke flips it, and nothing is laid on what is there."""
    rows = {row.label: row.kinds or [] for row in (yield Ask(SMOKES, proves=False, labels=labels))}
    for label in labels:
        there = rows[label]
        if kind in there or "smoke" in there:
            continue
        if there:
            yield Change({"marker": "dispersed_smoke", "at": label, "removed": True})
        yield Change({"marker": kind, "at": label})


def _placed(ruling: Ruling) -> str:
    of, answer = ruling.question[ruling.kind], ruling.answer
    what = f"{ruling.kind.capitalize()} in {of['at']}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    return f"{what} waits for {answer['pending']['for']}" if "pending" in answer else f"{what} is placed"


MISSION_ANSWERS = ATTACK_ANSWERS | {
    "accuracy": "the Accuracy of the battery", "accurate": "whether the shells fall where they should",
    "drift": "by how many hexes they drift", "direction": "in which direction", "ends_at": "where they fall; null off the map",
    "hexes": "the hexes they strike, the centre first",
}  # fmt: skip
BURST_POINTS = (
    "bob-9",
    "bob-15",
    "bob-16",
    "bob-23",
    "bob-27",
    "bob-30",
    "bob-47",
    "bob-48",
    "bob-49",
    "bob-51",
)
KINDS = [
    procedure_kind(
        indirect_fire, kinds=kinds, name="indirect_fire", title="Artillery", arguments=IndirectFire, rulesets=("bob",),
        answers=MISSION_ANSWERS, verdict=fire_verdict, points=("bob-3", "bob-5", "bob-33", *BURST_POINTS),
        example="indirect_fire: {by: battery, at: E4, rolls: [3, 5]}", draws="hexes",
    ),
    procedure_kind(
        fire_mission, kinds=kinds, name="fire_mission", title="Fire Mission", arguments=MissionOn, rulesets=("bob",),
        answers=ATTACK_ANSWERS, verdict=fire_verdict, points=BURST_POINTS, example="fire_mission: {unit: A, rolls: [4]}", acts=False,
    ),
    procedure_kind(
        air_attack, kinds=kinds, name="air_attack", title="Aircraft", arguments=AirAttack, rulesets=("bob",),
        answers=ATTACK_ANSWERS | {"target": "who is attacked", "decision": "attack, new_target or no_attack"},
        verdict=fire_verdict, points=("bob-7", "bob-9", "bob-16", "bob-46"), example="air_attack: {by: Stuka, target: T-34, rolls: [5, 4]}",
    ),
    procedure_kind(
        illumination, kinds=kinds, name="illumination", title="Illumination", arguments=Illumination, rulesets=("bob",),
        answers={"counts": "what it counts against the Operations Range"}, verdict=_placed, points=("bob-17",),
        example="illumination: {by: flare, at: E4}",
    ),
    procedure_kind(
        smoke, kinds=kinds, name="smoke", title="Smoke", arguments=Smoke, rulesets=("bob",), answers=MISSION_ANSWERS,
        verdict=_placed, points=("bob-3", "bob-5", "bob-33"), example="smoke: {by: A, at: E4, as: grenade}",
    ),
]  # fmt: skip
