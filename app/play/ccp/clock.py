"""Game time: the time marker advances (13.1.2), sudden death (13.2), reinforcements; and placement (13.1.2, 15, 17.4)."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ccp.arrivals import comes_in, defender, edge_hexes
from app.play.ccp.giving import refused_by
from app.play.ccp.losses import fixes_weapon, turns
from app.play.ccp.picks import inactive_first, placed_by
from app.play.ccp.roll import ENDS, rolled, shuffles, sum_chances
from app.play.ccp.table import (
    SIDES,
    Doing,
    GameOver,
    adds_marker,
    conditions,
    counter,
    ending,
    gains,
    keep,
    keep_of,
    reading,
)
from app.play.ccp.victory import decided_by_points
from app.play.procedures import Action, Ask, Change, Procedure, Tell, Undecided, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, counted, series
from db.values import canonical

WAITING = """
select code, side from unit
where position_id = :position and q is null and not coalesce((attributes ->> 'eliminated')::boolean, false)
  and (attributes ->> 'space')::integer = :space
order by code
"""
MOST_UNITS = 100


class Advance(Action):
    """Whose roll or pile brought it about."""

    side: Literal["japan", "allied"] = Field(description="The side that triggers the time advance")


@ending
def time_advance(of: Advance) -> Procedure:
    """13.1.2 with all its steps."""
    yield from advances(of.side)
    yield Tell(result="goes_on")


def advances(side: str) -> Doing:
    """The time marker goes on a space: a) shuffle, b) sudden death, c) the Defender's point, d) reinforcements."""
    told = yield from conditions()
    if told.get("time") is None:
        yield Tell(needs=[Need("the space of the time marker", "13.1.2")], time=None)
        time = None
    else:
        time = told["time"] + 1
        yield Tell(Step("13.1.2", None, "advances", f"the time marker to space {time}"), time=time)
        yield Change({"track": "time", "value": time}, told=True)
        yield from keep(time=time)
    yield Tell(Step("13.1.2", None, "shuffled", f"deck and discards of {SIDES[side]} alone", "a"))
    yield from shuffles(side)
    if time is not None:
        yield from _sudden_death(side, time)
    if (whose := (yield from defender())) is not None:
        yield from gains(whose, 1, "13.1.2", "the Defender's point")
    if time is not None:
        yield from _reinforcements(time)


def _sudden_death(side: str, time: int) -> Doing:
    """13.2.2: at or past the marker a roll below the number of the time marker's own space ends the game."""
    marker = (yield from conditions()).get("sudden_death")
    if marker is None or time < marker:
        return
    dice = yield from rolled(side, "sudden death", triggers=False, chances=sum_chances(side, time))
    ends = dice.sum < time
    yield Tell(
        Step(
            "13.2.2",
            None,
            "ends" if ends else "goes on",
            f"{dice.sum} is {'below' if ends else 'not below'} {time}",
            "b",
        ),
        roll=dice.sum,
    )
    if ends:
        yield Tell(result="ends")
        winner = yield from decided_by_points()
        raise GameOver(winner, "sudden_death")


def _reinforcements(time: int) -> Doing:
    """13.1.2 d: what lies on the new space comes in along its owner's edge, the inactive player's first."""
    waiting = yield Ask(WAITING, proves=False, space=time)
    reserves = (yield from conditions()).get("time_track") or []
    come = [one for one in reserves if one["space"] == time]
    if come:
        yield from keep(time_track=[one for one in reserves if one not in come])
    told: dict[str, str] = {}
    for side in (yield from inactive_first()):
        own = [one for one in come if one.get("side", "japan") == side]
        for one in own:
            yield from _tuned_in(side, one.get("radio"))
        units = [row.code for row in waiting if row.side == side]
        signs = _sightings(sum(one.get("sighting") or 0 for one in own))
        if units or signs:
            told = yield from _come_in(side, units, signs, told)


def _tuned_in(side: str, radio: dict[str, Any] | None) -> Doing:
    """A radio goes to its owner's Artillery Box; where a radio or the denied marker is, that takes precedence (15.1.2)."""
    if radio is None:
        return
    now_ = yield from conditions()
    if (now_.get("radio") or {}).get(side) or side in (now_.get("artillery_denied") or ()):
        yield Tell(Step("15.1.2", None, "stays out", f"the Artillery Box of {SIDES[side]} is not empty"))
        return
    yield Tell(Step("13.1.2", None, "radio", f"a radio of {radio['fp']} FP for {SIDES[side]}", "d"))
    yield from keep_of("radio", side, radio)
    yield Change({"side": side, "radio": radio["fp"]}, told=True)


def _sightings(number: int) -> list[str]:
    """Words by which the owner puts Sighting markers: `sighting`, `sighting_2`."""
    return [f"sighting_{n}" if n > 1 else "sighting" for n in range(1, number + 1)]


def _come_in(side: str, units: list[str], signs: list[str], told: dict[str, str]) -> Doing:
    """Units and Sighting markers on their owner's edge, as he likes; units not into a blaze (ccp-44)."""
    hexes, edge = yield from edge_hexes(side)
    if not edge:
        raise Undecided(Need(f"the friendly map edge of {SIDES[side]}", "13.1.2"))
    goals = {**dict.fromkeys(units, hexes), **dict.fromkeys(signs, edge)}
    told = yield from placed_by(
        "placement", side, "where reinforcements come in", [*units, *signs], goals, told
    )
    for unit in units:
        if hexes:
            yield from _whole_again(unit)
            yield from comes_in(unit, told[unit], "13.1.2")
    for sign in signs:
        yield Tell(Step("13.1.2", told[sign], "placed", "a Sighting marker", "d"))
        yield from adds_marker("sighting", told[sign])
    return told


def _whole_again(code: str) -> Doing:
    """ccp-35: a Banzai loss that was broken comes back whole, by the other reading as it fell."""
    unit = yield from counter(code)
    weapon = unit.attributes.get("weapon") or {}
    if not unit.attributes.get("broken") and not weapon.get("broken"):
        return
    if (yield from reading("ccp-35")) == "b":
        return
    if unit.attributes.get("broken"):
        yield from turns(unit, broken=False)
    if weapon.get("broken"):
        yield from fixes_weapon(code, "17.2", "it comes back whole")


# Placement.


class Placement(Action):
    """Who is put where."""

    units: Annotated[dict[str, str], Field(min_length=1, max_length=MOST_UNITS)] = Field(
        description="The hex of each unit: {Squad: C3}"
    )
    manner: Literal["setup", "reinforcement"] = Field(
        "reinforcement", alias="as", description="setup, or reinforcement (the default)"
    )


@ending
def placement(of: Placement) -> Procedure:
    """Units stand where they are put, if they may."""
    rows = yield Ask(
        "select * from ccp.placement(:position, cast(:units as jsonb), :manner, :conditions, :policy)",
        units=canonical(of.units),
        manner=of.manner,
    )
    if (bar := refused_by(rows)) is not None:
        raise bar
    for unit, label in of.units.items():
        yield from comes_in(unit, label, "15.2.3" if of.manner == "setup" else "13.1.2")
    yield Tell(result="placed")


def _time_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "The time advances; what follows is not known"
    if answer.get("over"):
        return f"The game is over by sudden death: {answer['winner'] or 'nobody'} wins"
    return clauses(
        f"The time marker is on space {answer['time']}"
        if answer.get("time") is not None
        else "The time advances",
        f"the sudden death roll is {answer['roll']}" if "roll" in answer else None,
    )


def _placement_verdict(ruling: Ruling) -> str:
    units = ruling.question["placement"]["units"]
    if not ruling.answer["allowed"]:
        return f"They may not be placed so: {ruling.answer['why']}"
    return f"{counted(len(units), 'unit')} placed: {series(f'{unit} in {label}' for unit, label in units.items())}"


KINDS = [
    procedure_kind(
        time_advance,
        kinds=functools.partial(kinds_of, "ccp"),
        name="time_advance",
        title="Time advance",
        arguments=Advance,
        rulesets=("ccp",),
        answers={
            "time": "the space on which the time marker is now",
            "roll": "the sudden death roll, if one is due",
            "result": "goes_on or ends",
            **ENDS,
        },
        verdict=_time_verdict,
        points=("ccp-31", "ccp-35"),
        example="time_advance: {side: japan}",
        acts=False,
    ),
    procedure_kind(
        placement,
        kinds=functools.partial(kinds_of, "ccp"),
        name="placement",
        title="Placement of units",
        arguments=Placement,
        rulesets=("ccp",),
        answers={"result": "placed", **ENDS},
        verdict=_placement_verdict,
        points=("ccp-21",),
        example="placement: {units: {Squad: A3}, as: setup}",
        acts=False,
    ),
]
