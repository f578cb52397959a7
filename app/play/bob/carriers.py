"""Carriers (21.3, 21.7, 22.0) and swimmers (45.5): mounting, dismounting, panic at the tiller, the way to the Surf."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from pydantic import Field

from app.play.bob.asking import Asking, checked, counter, piece, pieces
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Roll,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import series
from importers.questions import Names

BESIDE = (
    "select beside.label, beside.terrain from position"
    " join hex on hex.map_id = position.map_id and hex.q = :q and hex.r = :r"
    " cross join lateral lattice.neighbours(hex.q, hex.r) as step"
    " join hex as beside on beside.map_id = hex.map_id and beside.q = step.nq and beside.r = step.nr"
    " where position.id = :position order by step.direction"
)
GROUND = (
    "select hex.terrain, hex.terrain not in ('ocean', 'river', 'canal') and cell.value = 'prohibited' as closed"
    " from position join hex on hex.map_id = position.map_id and hex.label = :at"
    " cross join lateral bob._pac('pac_terrain', hex.terrain, 'mp_vehicle') as cell"
    " where position.id = :position"
)
"""A hex, and whether it is land that no Vehicle enters (20.3)."""
WORSE = {"none": "suppressed", "suppressed": "full", "full": "full"}


class Ride(Action):
    """Who, and which Carrier."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit")
    carrier: Annotated[str | None, Names(("unit",))] = Field(
        None, description="The Carrier, or the tank that it rides on; without it, the one that it is in"
    )
    forced: bool = Field(False, description="Tank Riders that must jump off (22.0)")
    moved: bool = Field(False, description="Whether the Carrier has moved this turn (21.3)")


class Panic(Action):
    """Which Landing Craft."""

    carrier: Annotated[str, Names(("unit",))] = Field(description="The Landing Craft")
    at: Annotated[str | None, Names(("hex",))] = Field(
        None, description="Where the firing player puts it, if it is not next to Surf"
    )


class Swim(Action):
    """Who is in the Ocean."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit")
    to: Annotated[str | None, Names(("hex",))] = Field(None, description="The Surf hex that it goes to")


def _half(carrier: Any) -> int | None:
    """21.3: half the points of the Carrier, rounded down."""
    told = carrier.attributes.get("movement")
    return None if told is None else int(float(told)) // 2


def _fit_place(carrier: Any, unit: str, side: str, at: str | None) -> Procedure:
    """21.3: no other Vehicle and no enemy there, not in the Ocean, and where the Carrier could have come."""
    if at is None:
        raise Refused("21.3", f"{carrier.code} is not on the map")
    [ground] = yield Ask(GROUND, proves=False, at=at)
    if ground.terrain == "ocean":
        raise Refused("21.3", "nobody mounts or dismounts in the Ocean", at)
    if ground.closed:
        raise Refused("21.3", "the Carrier could not have come there", at)
    for other in (yield from pieces()):
        if other.label != at or other.code in (unit, carrier.code):
            continue
        if other.side != side:
            raise Refused("21.3", f"an enemy is there: {other.code}", at)
        if other.vehicle:
            raise Refused("21.3", f"another Vehicle is there: {other.code}", at)


def _where(code: str) -> Asking:
    """The hex of a unit; None off the map."""
    found = yield from piece(code)
    return None if found is None else found.label


def mount(of: Ride) -> Procedure:
    """21.3: by a scenario's leave, before it has moved; a unit that fails its check stays on foot, Used."""
    own = yield from counter(of.unit)
    if of.carrier is None:
        raise Refused("21.3", "no Carrier is named")
    carrier = yield from counter(of.carrier)
    if carrier.kind not in ("carrier", "vehicle"):
        raise Refused("21.0", f"{of.carrier} carries nobody")
    if own.attributes.get("in"):
        raise Refused("21.3", f"{of.unit} is mounted already")
    if own.attributes.get("used") or own.attributes.get("moving"):
        raise Refused("21.3", "only a unit that has not moved may mount")
    riders = [one for one in (yield from _riders(of.carrier)) if one.code != of.unit]
    room = carrier.attributes.get("capacity") or 1
    if len(riders) >= room:
        raise Refused("21.0", f"{of.carrier} carries {room} at the most")
    fetched = carrier.attributes.get("status") == "available"
    here, there = (yield from _where(of.unit)), (yield from _where(of.carrier))
    if not fetched and there != here:
        raise Refused("21.3", f"{of.carrier} is not in its hex", here)
    if own.kind in ("gun", "vehicle") and carrier.attributes.get("used"):
        raise Refused("21.3", f"{of.carrier} has been Used: a Gun mounts as its only action", here)
    yield from _fit_place(carrier, of.unit, own.side, at=here)
    yield Tell(cost=_half(carrier))
    if not (yield from _may_ride(of, own)):
        return
    if fetched:
        yield Tell(Step("21.3", here, "brought", "a Carrier whose troops had dismounted"))
        yield Change({"unit": of.carrier, "at": here})
    yield Change(
        {"unit": of.unit, "in": of.carrier, "concealed": 0}
        if own.attributes.get("concealed")
        else {"unit": of.unit, "in": of.carrier}
    )
    if own.kind in ("gun", "vehicle"):
        yield Change({"unit": of.unit, "used": True}, {"unit": of.carrier, "used": True})
    yield Tell(result="mounted")


def _may_ride(of: Ride, own: Any) -> Asking:
    """21.3: it is a move, so it takes a Morale Check."""
    yield Tell(Step("21.3", None, "moves", "who mounts or dismounts is moving"))
    if own.kind in ("vehicle",):
        return True
    found = yield from checked(of.unit, "move", of)
    yield Tell(morale=found["morale"], mc=found["mc"])
    if found["mc"] != "failed":
        return True
    yield Change(
        {"unit": of.unit, "in": None, "used": True}
        if own.attributes.get("in")
        else {"unit": of.unit, "used": True}
    )
    yield Tell(result="failed")
    return False


def _riders(carrier: str) -> Asking:
    return (
        yield Ask(
            "select code, kind, side, attributes from unit where position_id = :position"
            " and attributes ->> 'in' = :unit order by id",
            proves=False,
            unit=carrier,
        )
    )


def dismount(of: Ride) -> Procedure:
    """21.3, 22.0: half the Carrier's points; who jumps off a tank under fire takes a step of Suppression."""
    own = yield from counter(of.unit)
    code = of.carrier or own.attributes.get("in")
    if code is None or own.attributes.get("in") != code:
        raise Refused("21.3", f"{of.unit} rides in nothing")
    carrier = yield from counter(code)
    riding = own.attributes.get("tank_rider") or carrier.kind == "vehicle"
    if of.forced:
        yield from _jumped(of, own, carrier)
        return
    if of.moved and own.kind in ("gun", "vehicle"):
        raise Refused("21.3", "a Gun or Vehicle dismounts as the only action of both")
    yield from _fit_place(carrier, of.unit, own.side, at=(yield from _where(code)))
    if riding:
        yield Tell(Step("22.0", None, "dismounts", "a rider gets down, Used; the Vehicle keeps its points"))
    yield Tell(
        cost=_half(carrier) if not riding else None,
        may_move=0 if of.moved or riding or own.kind == "gun" else 2,
    )
    if not (yield from _may_ride(of, own)):
        yield from _emptied(code, riding)
        return
    yield Change(
        {
            "unit": of.unit,
            "in": None,
            **({"used": True} if of.moved or riding or own.kind in ("gun", "vehicle") else {}),
        }
    )
    yield Tell(result="dismounted")
    yield from _emptied(code, riding)


def _emptied(carrier: str, riding: bool) -> Procedure:
    """21.1: a Carrier without passengers comes off the board; a tank stays (22.0)."""
    if not riding and not (yield from _riders(carrier)):
        yield Tell(Step("21.1", None, "removed", "the empty Carrier comes off the board"))
        yield Change({"unit": carrier, "at": None, "status": "available"})


def _jumped(of: Ride, own: Any, carrier: Any) -> Procedure:
    """22.0: forced off: one more level of Suppression, Used; where that cannot be, eliminated."""
    here = yield from piece(carrier.code)
    others = [
        one
        for one in (yield from pieces())
        if here is not None and one.label == here.label and one.code != of.unit
    ]
    foes = [one for one in others if one.side != own.side and not one.mounted]
    friends = [
        one
        for one in others
        if one.side == own.side and (one.infantry or one.gun or one.decoy) and not one.mounted
    ]
    if foes or len(friends) >= 2:
        yield Tell(Step("22.0", None, "eliminated", "it jumps where it cannot stand"), result="eliminated")
        yield Change({"unit": of.unit, "eliminated": True, "in": None})
        return
    worse = WORSE[own.attributes.get("suppression", "none")]
    yield Tell(Step("22.0", None, worse, "forced off: one more level of Suppression"), result="dismounted")
    yield Change({"unit": of.unit, "in": None, "suppression": worse, "used": True})


def coxswain_panic(of: Panic) -> Procedure:
    """21.7: beside the Surf all jump; infantry is Reduced, a Vehicle lost, on 6 or more; Guns are lost."""
    craft = yield from counter(of.carrier)
    here = yield from piece(of.carrier)
    if craft.attributes.get("landing_craft") != "blue" or here is None:
        raise Refused("21.7", "only a Landing Craft with blue points at sea panics")
    [ground] = yield Ask(GROUND, proves=False, at=here.label)
    if ground.terrain != "ocean":
        raise Refused("21.7", "it is not in an Ocean hex", here.label)
    surf = yield Ask(
        "select min(lattice.distance(hex.q, hex.r, :q, :r)) as away from position"
        " join hex on hex.map_id = position.map_id and hex.terrain = 'surf' where position.id = :position",
        proves=False,
        q=here.q,
        r=here.r,
    )
    away = surf[0].away
    if away is None or away > 2:
        raise Refused("21.7", "no Surf is within 2 hexes", here.label)
    place = here.label
    if away > 1:
        place = yield from _driven(of, here)
    riders = yield from _riders(of.carrier)
    yield Tell(at=place, results={})
    results = {}
    for rider in riders:
        results[rider.code] = yield from _overboard(rider, place)
    yield Change({"unit": of.carrier, "at": None, "status": "removed"})
    yield Tell(results=results, result=next(iter(results.values()), "no_effect"))


def _driven(of: Panic, here: Any) -> Asking:
    """21.7: the firing player puts it next to the nearest Surf."""
    rows = yield Ask(
        "select distinct sea.label from position join hex as surf on surf.map_id = position.map_id and surf.terrain = 'surf'"
        " cross join lateral lattice.neighbours(surf.q, surf.r) as step"
        " join hex as sea on sea.map_id = surf.map_id and sea.q = step.nq and sea.r = step.nr and sea.terrain = 'ocean'"
        " where position.id = :position and lattice.distance(surf.q, surf.r, :q, :r) = 2 order by sea.label",
        proves=False,
        q=here.q,
        r=here.r,
    )
    options = [row.label for row in rows]
    place = of.at
    if place is None:
        rivals = [one for one in (yield from pieces()) if one.side != here.side]
        by = rivals[0].side if rivals else "referee"
        place = yield Choose("at", by, f"where {of.carrier} is put", options=options, obvious=True)
    elif place not in options:
        raise Refused("21.7", f"{place} is not next to the nearest Surf", place)
    yield Tell(Step("21.7", place, "placed", "next to the nearest Surf, whatever its points"))
    yield Change({"unit": of.carrier, "at": place})
    return place


def _overboard(rider: Any, place: str) -> Asking:
    if rider.kind == "gun":
        yield Tell(Step("21.7", place, "eliminated", f"{rider.code}: Guns are lost"))
        yield Change({"unit": rider.code, "eliminated": True, "in": None})
        return "eliminated"
    die = yield Roll("1d10", f"{rider.code} in the water")
    yield Tell(Step("21.7", place, str(die), f"{rider.code} suffers on 6 or more"))
    if die < 6:
        yield Change({"unit": rider.code, "at": place, "in": None, "used": True})
        return "no_effect"
    if rider.kind == "vehicle" or rider.attributes.get("reduced"):
        yield Change({"unit": rider.code, "eliminated": True, "in": None})
        return "eliminated"
    yield Change(
        {"unit": rider.code, "at": place, "in": None, "used": True, "reduced": True, "suppression": "full"}
    )
    return "reduced"


def swim(of: Swim) -> Procedure:
    """45.5: all its points to an adjacent Surf hex, or it is lost."""
    here = yield from piece(of.unit)
    if here is None:
        raise Refused("45.5", f"{of.unit} is not on the map")
    [ground] = yield Ask(GROUND, proves=False, at=here.label)
    if ground.terrain != "ocean" or here.attributes.get("landing_craft") or here.mounted:
        raise Refused("45.5", "it does not swim in the Ocean", here.label)
    rows = yield Ask(BESIDE, proves=False, q=here.q, r=here.r)
    surf = [row.label for row in rows if row.terrain == "surf"]
    if not surf:
        yield Tell(Step("45.5", here.label, "eliminated", "no Surf is adjacent"), result="eliminated")
        yield Change({"unit": of.unit, "eliminated": True})
        return
    if of.to is not None and of.to not in surf:
        raise Refused("45.5", f"{of.to} is no Surf beside it", of.to)
    yield Tell(Step("45.5", here.label, "swims", "to an adjacent Surf hex"))
    goal = of.to or (yield Choose("to", here.side, f"where {of.unit} swims to", options=surf, obvious=True))
    yield Tell(Step("45.5", goal, "moved", "all its points into the Surf"), result="moved", ends_at=goal)
    yield Change({"unit": of.unit, "at": goal, "used": True})


def _ride_verdict(ruling: Ruling) -> str:
    [(name, of)] = ruling.question.items()
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"{of['unit']} may not {name}: {answer['why']}"
    words = {
        "failed": "fails its Morale Check, on foot and Used",
        "eliminated": "is eliminated",
        "mounted": "mounts",
        "dismounted": "dismounts",
    }
    return f"{of['unit']} {words.get(answer.get('result', ''), 'must pass a Morale Check')}"


def _panic_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["coxswain_panic"], ruling.answer
    if answer["allowed"] is False:
        return f"There is no panic in {of['carrier']}: {answer['why']}"
    return f"All in {of['carrier']} jump: {series(answer.get('results') or ['nobody yet'])}"


def _swim_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["swim"], ruling.answer
    if answer["allowed"] is False:
        return f"{of['unit']} does not swim: {answer['why']}"
    if answer.get("result") == "eliminated":
        return f"{of['unit']} is eliminated in the Ocean"
    return f"{of['unit']} swims into the Surf"


COMMON: dict[str, Any] = {"kinds": functools.partial(kinds_of, "bob"), "rulesets": ("bob",)}
RIDING = {
    "cost": "points that the Carrier spends",
    "morale": "the Morale that it rolls against",
    "mc": "passed, failed or automatic",
    "may_move": "points that it may use after dismounting",
    "result": "mounted, dismounted, failed or eliminated",
}
KINDS = [
    procedure_kind(
        mount, name="mount", title="A unit mounts", arguments=Ride, answers=RIDING, verdict=_ride_verdict,
        example='mount: {unit: "1/A", carrier: Truck}', **COMMON,
    ),
    procedure_kind(
        dismount, name="dismount", title="A unit dismounts", arguments=Ride, answers=RIDING, verdict=_ride_verdict,
        example='dismount: {unit: "1/A"}', **COMMON,
    ),
    procedure_kind(
        coxswain_panic, name="coxswain_panic", title="Coxswain Panic", arguments=Panic,
        answers={"at": "where all jump", "results": "what becomes of each passenger", "result": "of the first of them"},
        verdict=_panic_verdict, acts=False, example="coxswain_panic: {carrier: LCVP, rolls: [5]}",
        names_units=("results",), **COMMON,
    ),
    procedure_kind(
        swim, name="swim", title="A unit in the Ocean", arguments=Swim,
        answers={"result": "moved or eliminated", "ends_at": "the Surf hex"}, verdict=_swim_verdict,
        example='swim: {unit: "1/A"}', **COMMON,
    ),
]  # fmt: skip
