"""Asset Denied in ccp: a weapon or a radio breaks, an aircraft goes: O23."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ccp.fire import SIGHT_POINTS
from app.play.ccp.giving import orders_asset
from app.play.ccp.losses import breaks_weapon
from app.play.ccp.roll import ENDS
from app.play.ccp.table import Doing, conditions, counter, keep_of, other, tell_points
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from importers.questions import Names

SEEN = """
select min(eye.code) as by
from positions.state(:position, :conditions, :policy) as state
join unit as prey on prey.position_id = state.position_id and prey.code = :unit
join unit as eye on eye.position_id = state.position_id and eye.side <> prey.side and eye.q is not null
  and eye.kind <> 'aircraft'
where (eye.q = prey.q and eye.r = prey.r)
  or ccp._sees(state, eye.id, eye.q, eye.r, prey.id, prey.q, prey.r)
"""
AIRCRAFT = """
select unit.code, unit.side, hex.label
from unit
join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
where unit.position_id = :position and unit.kind = 'aircraft'
order by unit.id
"""
Side = Literal["japan", "allied"]


class AssetDenied(Action):
    """What is denied, and to whom."""

    option: Literal["weapon_jam", "communication_disrupted", "abort_run"] = Field(
        description="weapon_jam, communication_disrupted or abort_run"
    )
    unit: Annotated[str | None, Names(("unit",))] = Field(
        None, description="Of a jam, the enemy unit whose weapon it is; else the aircraft"
    )
    side: Side | None = Field(None, description="Of radio and aircraft, the side that suffers it")


def asset_denied(of: AssetDenied) -> Procedure:
    """One of the three ways to deny something to the opponent."""
    yield from orders_asset("asset_denied")
    match of.option:
        case "weapon_jam":
            yield from _jam(of)
        case "communication_disrupted":
            yield from _disrupt(of)
        case "abort_run":
            yield from _abort(of)
    yield from tell_points()


def _jam(of: AssetDenied) -> Doing:
    """O23.1: an enemy weapon in sight of any friendly unit, in whatever state that is."""
    if of.unit is None:
        raise Refused("O23.1", "a Weapon Jam names the unit whose weapon it is")
    unit = yield from counter(of.unit)
    active = (yield from conditions()).get("active")
    if not unit.attributes.get("weapon") or unit.label is None:
        raise Refused("O23.1", f"{of.unit} has no weapon on the map", unit.label)
    if active == unit.side:
        raise Refused("O23.1", f"{of.unit} is no enemy of the side whose turn it is", unit.label)
    [seen] = yield Ask(SEEN, proves=False, unit=of.unit)
    if seen.by is None:
        raise Refused("O23", f"no unit of the other side sees {of.unit}", unit.label)
    yield Tell(Step("O23.1", unit.label, "in sight", f"of {seen.by}"))
    yield Tell(result=(yield from breaks_weapon(of.unit, "O23.1", "it is jammed")))


def _victim(of: AssetDenied, owners: set[str]) -> Doing:
    """Whose radio or aircraft it is: the opponent's of whoever's turn it is."""
    active = (yield from conditions()).get("active")
    if active is not None:
        return other(active)
    if of.side is not None and of.side in owners:
        return of.side
    return next(iter(owners)) if len(owners) == 1 else of.side


def _disrupt(of: AssetDenied) -> Doing:
    """O23.2: the enemy radio breaks, or goes where it was broken."""
    radios: dict[str, Any] = (yield from conditions()).get("radio") or {}
    side = yield from _victim(of, {name for name, radio in radios.items() if radio})
    radio = radios.get(side) if side else None
    if not radio:
        raise Refused("O23", "there is no enemy radio in play")
    result = "eliminated" if radio.get("broken") else "broken"
    yield Tell(Step("O23.2", None, result, f"the radio of {side}"), result=result)
    yield Change({"side": side, "radio": result}, told=True)
    yield from keep_of("radio", side, None if result == "eliminated" else {**radio, "broken": True})


def _abort(of: AssetDenied) -> Doing:
    """O23.3: the enemy aircraft leaves the map."""
    planes = yield Ask(AIRCRAFT, proves=False)
    side = yield from _victim(of, {plane.side for plane in planes})
    plane = next((plane for plane in planes if plane.side == side and of.unit in (None, plane.code)), None)
    if plane is None:
        raise Refused("O23", "there is no enemy aircraft in play")
    yield Tell(Step("O23.3", plane.label, "removed", f"{plane.code} breaks off"), result="removed")
    yield Change({"unit": plane.code, "countermix": True})
    yield Change({"unit": plane.code, "at": None}, kept=True)


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["asset_denied"], ruling.answer
    what = of["option"].replace("_", " ").capitalize()
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    whose = {
        "weapon_jam": "the weapon is",
        "communication_disrupted": "the radio is",
        "abort_run": "the aircraft is",
    }
    return f"{what}: {whose[of['option']]} {answer['result']}"


KINDS = [
    procedure_kind(
        asset_denied,
        kinds=functools.partial(kinds_of, "ccp"),
        name="asset_denied",
        title="Asset Denied",
        arguments=AssetDenied,
        rulesets=("ccp",),
        answers={"result": "broken, eliminated or removed", "vp": ENDS["vp"]},
        verdict=_verdict,
        points=SIGHT_POINTS,
        example="asset_denied: {option: weapon_jam, unit: 1 Squad}",
    )
]
