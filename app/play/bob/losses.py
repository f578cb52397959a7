"""What fire does to units in bob: Suppression, reduction, loss, Concealment lost, passengers and riders: 6.2, 8.0, 15.0, 21.5, 22.0, 43.0, 61.2."""

from __future__ import annotations

from typing import Any

from app.play.bob.checks import Doing, counter
from app.play.procedures import Ask, Change, Tell
from app.referee.rulings import Step

WORSE = {"none": "suppressed", "suppressed": "full", "full": "full"}
GRAVITY = ("no_effect", "suppressed", "reduced", "eliminated", "unconfirmed_kill", "destroyed")
AFLOAT = "select bob._afloat(state, bob._counter(state, :unit)) as so from positions.state(:position, :conditions, :policy) as state"
RIDERS = """
select unit.code, unit.side, unit.kind, unit.attributes
from unit where unit.position_id = :position and unit.attributes ->> 'in' = :carrier
order by unit.code collate "C"
"""
CROWDED = """
select
  count(*) filter (where other.side = :side and other.kind in ('squad', 'wt', 'gun', 'decoy')) as friends,
  count(*) filter (where other.side <> :side) as enemies
from unit as tank
join unit as other on other.position_id = tank.position_id and other.q = tank.q and other.r = tank.r
  and other.attributes ->> 'in' is null and other.code <> tank.code
where tank.position_id = :position and tank.code = :unit
"""
WORKS = """
select marker.kind, hex.label
from unit
left join unit as carrier on carrier.position_id = unit.position_id and carrier.code = unit.attributes ->> 'in'
join hex on hex.map_id = unit.map_id and hex.q = coalesce(carrier.q, unit.q) and hex.r = coalesce(carrier.r, unit.r)
join marker on marker.position_id = unit.position_id and marker.q = hex.q and marker.r = hex.r
where unit.position_id = :position and unit.code = :unit and marker.attributes ->> 'concealed' = 'true'
"""


def gravest(words: list[str]) -> str:
    return max(words, key=GRAVITY.index) if words else "no_effect"


def uncovered(unit: Any) -> dict[str, Any]:
    """The end of its Concealment, where it has any."""
    return {"concealed": 0} if unit.attributes.get("concealed") else {}


def show_works(code: str) -> Doing:
    """43.0: a hidden fortification whose occupant is found is shown for good."""
    for marker in (yield Ask(WORKS, proves=False, unit=code)):
        yield Change(
            {"marker": marker.kind, "at": marker.label, "concealed": True, "removed": True},
            {"marker": marker.kind, "at": marker.label},
        )
        yield Tell(Step("43.0", marker.label, "revealed", f"the {marker.kind.replace('_', ' ')} is shown"))


def reveal(code: str) -> Doing:
    """15.0: a unit loses its Concealment; a Decoy is gone with it."""
    unit = yield from counter(code)
    if not unit.attributes.get("concealed"):
        return
    yield from show_works(code)
    if unit.kind == "decoy":
        yield Change({"unit": code, "concealed": 0, "eliminated": True, "cause": "revealed"})
    else:
        yield Change({"unit": code, "concealed": 0})


def suppress(code: str) -> Doing:
    """6.2: one step of Suppression; Concealment is lost, and a Decoy with it."""
    unit = yield from counter(code)
    if unit.kind == "decoy":
        yield from reveal(code)
        return
    [sea] = yield Ask(AFLOAT, proves=False, unit=code)
    was = unit.attributes.get("suppression", "none")
    now = was if sea.so or unit.kind in ("satt", "vehicle", "carrier") else WORSE[was]
    changed = ({"suppression": now} if now != was else {}) | uncovered(unit)
    if unit.attributes.get("concealed"):
        yield from show_works(code)
    if changed:
        yield Change({"unit": code, **changed})
    if unit.attributes.get("tank_rider") and unit.attributes.get("in"):
        yield from jump_off(code)


def reduce(code: str) -> Doing:
    """8.0: a unit is Reduced and red; a Reduced one is lost. At sea nobody is Suppressed (21.5)."""
    unit = yield from counter(code)
    if unit.attributes.get("reduced") or unit.kind in ("gun", "satt", "decoy"):
        yield from eliminate(code)
        return
    [sea] = yield Ask(AFLOAT, proves=False, unit=code)
    if unit.attributes.get("concealed"):
        yield from show_works(code)
    red = {} if sea.so else {"suppression": "full"}
    yield Change({"unit": code, "reduced": True, **red, **uncovered(unit)})
    if unit.attributes.get("tank_rider") and unit.attributes.get("in"):
        yield from jump_off(code)


def jump_off(code: str) -> Doing:
    """22.0: riders must get down, with one more step of Suppression, and are Used; where they cannot, they are lost."""
    unit = yield from counter(code)
    ridden = yield from counter(unit.attributes["in"])
    [place] = yield Ask(CROWDED, proves=False, unit=ridden.code, side=unit.side)
    if place.friends >= 2 or place.enemies:
        yield Change({"unit": code, "eliminated": True}, {"unit": code, "in": None})
        yield Tell(Step("22.0", ridden.label, "eliminated", f"{code} cannot get off where it is"))
        return
    now = WORSE[unit.attributes.get("suppression", "none")]
    yield Change({"unit": code, "in": None, "at": ridden.label, "suppression": now, "used": True})
    yield Tell(Step("22.0", ridden.label, "dismounts", f"{code} must get off, with more Suppression"))


def eliminate(code: str, cause: str | None = None) -> Doing:
    """A unit is lost; with its last passenger a Carrier goes, and with a Carrier all of them (21.5)."""
    unit = yield from counter(code)
    if unit.attributes.get("concealed"):
        yield from show_works(code)
    why = {"cause": cause} if cause else {}
    yield Change({"unit": code, "eliminated": True, **why})
    carrier = unit.attributes.get("in")
    if carrier:
        yield Change({"unit": code, "in": None}, kept=True)
        ridden = yield from counter(carrier)
        left = yield Ask(RIDERS, proves=False, carrier=carrier)
        if ridden.kind == "carrier" and not left and ridden.label:
            yield Change({"unit": carrier, "eliminated": True})
    for rider in (yield Ask(RIDERS, proves=False, carrier=code)):
        if rider.attributes.get("tank_rider"):
            continue
        yield Change({"unit": rider.code, "eliminated": True, **why})


def destroy(code: str) -> Doing:
    """20.6: a Vehicle is destroyed; riders on it jump off first (22.0)."""
    yield from shake_off(code)
    yield from eliminate(code, "destroyed")


def shake_off(code: str) -> Doing:
    """22.0, bob-46: a roll to kill at a Vehicle makes its riders get down."""
    for rider in (yield Ask(RIDERS, proves=False, carrier=code)):
        if rider.attributes.get("tank_rider"):
            yield Tell(points=("bob-46",))
            yield from jump_off(rider.code)


def mark_kill(code: str) -> Doing:
    """61.2: an Unconfirmed Kill; a mover stops there, Used."""
    unit = yield from counter(code)
    stop = {"used": True} if unit.attributes.get("moving") else {}
    yield Change({"unit": code, "uk": unit.attributes.get("uk", 0) + 1, **stop})


def suffer(code: str, word: str) -> Doing:
    """The effect of a result on a unit."""
    match word:
        case "suppressed":
            yield from suppress(code)
        case "reduced":
            yield from reduce(code)
        case "eliminated":
            yield from eliminate(code)
        case "destroyed":
            yield from destroy(code)
        case "unconfirmed_kill":
            yield from shake_off(code)
            yield from mark_kill(code)
