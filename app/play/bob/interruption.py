"""What interrupts a move (5.0, 9.0, 10.0, 16.2, 32.0, 59.4), what its unit fires itself (5.2, 36.0, 58.3), and who answers a flash (50.2).

In a hex that is entered first the Fire Missions strike that lie there; then the other side draws from its FOW cup, sends
suicide teams, calls for Artillery and fires, in any order and number. A window is a choice of the side whose it is: in a
game it is asked for, in a question it is open only where the question names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.play.bob.anti_tank import Satchel, Satt, satchel_charge, satt
from app.play.bob.asking import Asking, counter, game, piece
from app.play.bob.fire import Fire, shoot, shooters_at, stands
from app.play.bob.placement import DrawFrom, Placement, draw, placement
from app.play.bob.support import (
    MISSIONS,
    MOVES_THERE,
    IndirectFire,
    Smoke,
    has_grenades,
    indirect_fire,
    is_walked,
    shelled,
    smoke,
)
from app.play.procedures import Action, Ask, Call, Choose, Given, Procedure
from app.referee.questions.movement import points

NONE = "none"
Option = dict[str, Any]
OTHERS = "select * from bob.interruptions(:position, :unit, :conditions, :policy)"
FLASHES = "select * from bob.flashes(:position, :unit, :conditions, :policy)"
TARGETS = "select * from bob.assault_targets(:position, :unit, :conditions, :policy)"
FOW_SPOTS = "select * from bob.fow_spots(:position, :mover, :unit, :conditions, :policy)"

AROUND = """
select hex.label
from positions.state(:position, :conditions, :policy) as state
cross join lateral bob._counter(state, :unit) as squad
join hex on hex.map_id = state.map_id and lattice.distance(hex.q, hex.r, squad.q, squad.r) <= 1
where hex.terrain not in ('river', 'canal', 'ocean', 'surf')
order by lattice.distance(hex.q, hex.r, squad.q, squad.r), hex.label
"""
"""The hex of a unit and those around it that are no water (48.1)."""


def is_open(of: Action, played: bool, *names: str) -> bool:
    """Whether a window is looked into: always in a game, else where the question names it."""
    return played or not {*names}.isdisjoint(of.choices)


def struck(unit: str) -> Procedure:
    """32.0: the Fire Missions that reach the hex strike who enters it."""
    if (yield Ask(MISSIONS, proves=False, unit=unit)):
        yield Call(shelled(unit), Given())


def interrupted(of: Action, unit: str, label: str, *, played: bool) -> Asking:
    """9.0, 10.0: the other side does as much as it can and will; whether the mover may go on."""
    done: list[str] = []
    asked: set[str] = set()
    while (now := (yield from piece(unit))) is not None and not now.attributes.get("used"):
        name = f"interrupt:{label}:{len(done) + 1}"
        names = {name, f"interrupt:{label}", "interrupt"}
        if not is_open(of, played, *(names - asked)):
            break
        options, side = yield from _options(unit, label, done)
        if not options:
            break
        asked |= names
        chosen = yield Choose(
            name,
            side,
            f"fire at {unit} in {label}",
            options=[NONE, *options],
            default=NONE,
            also=(f"interrupt:{label}", "interrupt"),
        )
        if chosen == NONE:
            break
        done.append(_key(chosen))
        yield from _interrupts(of, chosen, unit, played=played)
    now = yield from piece(unit)
    return now is not None and not now.attributes.get("used")


def _key(option: Option) -> str:
    """What is done once in a hex: a unit's fire, a battery's, a team's, a draw."""
    return str(option.get("by") or option["fire"])


def _options(unit: str, label: str, done: Sequence[str]) -> Asking:
    """All that may interrupt now, and whose it is."""
    options: list[Option] = []
    side = None
    for row in (yield from shooters_at(unit, label, done)):
        options.append({"fire": row.kind, "by": row.who})
        side = row.side
    for row in (yield Ask(OTHERS, proves=False, unit=unit)):
        option = {key: value for key, value in (("fire", row.fire), ("by", row.by), ("at", row.at)) if value}
        if _key(option) not in done:
            options.append(option)
            side = row.side
    return options, side


def _interrupts(of: Action, chosen: Option, unit: str, *, played: bool) -> Procedure:
    """What was chosen happens; what is asked for in it again has a number."""
    kind = chosen["fire"]
    if kind == "satt":
        yield Call(
            satt(
                Satt(target=unit, choices={key: of.choices[key] for key in ("fires",) if key in of.choices})
            ),
            Given(),
        )
    elif kind == "indirect_fire":
        told = {"by": chosen["by"], "at": chosen["at"], "as": "op_fire"}
        yield Call(indirect_fire(IndirectFire.model_validate(told)), Given())
    elif kind == "fow":
        yield from _reinforced(chosen["by"], unit)
    else:
        told = yield Call(shoot(Fire(by=[chosen["by"]], target=unit), kind, {}, asks=played), Given())
        yield from _answered(of, chosen["by"], told, played=played)


def _reinforced(side: str, mover: str) -> Procedure:
    """16.2: a FOW unit is drawn and placed near who has just entered a hex, Concealed."""
    told = yield Call(draw(DrawFrom.model_validate({"from": "fow", "side": side})), Given())
    unit = told["drawn"]
    spots = [row.label for row in (yield Ask(FOW_SPOTS, proves=False, mover=mover, unit=unit))]
    if not spots:
        return
    where = yield Choose(f"place:{unit}", side, f"where {unit} appears", options=spots, default=spots[0])
    yield Call(
        placement(Placement.model_validate({"unit": unit, "at": where, "as": "fow_reaction"})), Given()
    )


# What the mover does itself


def smokes(of: Action, unit: str, label: str, left: Any, *, played: bool) -> Asking:
    """48.1: a Squad may place a Smoke Grenade for points that its way leaves; gives what it costs, None where it places none."""
    own = yield from piece(unit)
    name = f"smoke:{label}"
    if own is None or own.kind != "squad" or own.melee or left is None or not is_open(of, played, name):
        return None
    now = yield from game()
    if played and not has_grenades(now.conditions, own.side):
        return None
    costs = {}
    for row in (yield Ask(AROUND, proves=False, unit=unit)):
        rows = yield Ask(MOVES_THERE, proves=False, unit=unit, path=[row.label])
        cost = 0 if row.label == label else points(rows[-1].halves)
        if cost is not None and cost <= left and (row.label == label or is_walked(rows)):
            costs[row.label] = cost
    at = yield Choose(
        name,
        own.side,
        f"where {unit} places a Smoke Grenade",
        options=[NONE, *costs],
        default=NONE,
        rule="48.1",
    )
    if at == NONE:
        return None
    yield Call(smoke(Smoke.model_validate({"by": unit, "at": at, "as": "grenade"})), Given())
    return costs[at]


def fires_on(of: Action, unit: str, label: str, left: Any, *, last: bool, played: bool) -> Procedure:
    """5.2, 36.0, 58.3: a Squad may Assault Fire or place a charge where its move ends; one in Fireteams on the way too."""
    own = yield from piece(unit)
    if own is None or own.kind != "squad" or own.melee or own.attributes.get("used"):
        return
    name = f"assault:{label}"
    names = (name, "assault")
    if not is_open(of, played, *names):
        return
    fireteam = bool(own.attributes.get("fireteam")) and not own.attributes.get("fired")
    if not last and not (fireteam and left is not None and left >= 2):
        return
    options: list[Option] = []
    for row in (yield Ask(TARGETS, proves=False, unit=unit)):
        if row.fire == "satchel_charge" and last and (left is None or left >= 1):
            options.append({"fire": row.fire, "at": row.at})
        elif row.fire == "assault_fire" and (yield from stands(unit, f"hex:{row.at}", "assault_fire")):
            options.append({"fire": "assault_fire" if last else "fireteam", "at": row.at})
    if not options:
        return
    chosen = yield Choose(
        name,
        own.side,
        f"the fire of {unit} in {label}",
        options=[NONE, *options],
        default=NONE,
        also=names[1:],
    )
    if chosen == NONE:
        return
    if chosen["fire"] == "satchel_charge":
        yield Call(satchel_charge(Satchel(unit=unit, at=chosen["at"])), Given())
        return
    said = {"fireteam": True} if chosen["fire"] == "fireteam" else {}
    told = yield Call(shoot(Fire(by=[unit], at=chosen["at"]), "assault_fire", said, asks=played), Given())
    yield from _answered(of, unit, told, played=played)


# Flashes


def _answered(of: Action, firer: str, told: dict[str, Any], *, played: bool) -> Procedure:
    """Who has fired, and not failed a check instead, is answered."""
    if told.get("mc") != "failed" and told.get("prof_passed") is not False:
        yield from flashes(of, firer, played=played)


def flashes(of: Action, firer: str, *, played: bool) -> Procedure:
    """50.2: at night one unit that could not see who fired answers its flash, and may be answered itself."""
    name = f"flash:{firer}"
    if not is_open(of, played, name, "flash"):
        return
    options = []
    side = None
    for row in (yield Ask(FLASHES, proves=False, unit=firer)):
        if (yield from stands(row.by, f"unit:{firer}", "muzzle_flash")):
            options.append(row.by)
            side = row.side
    if side is None:
        return
    chosen = yield Choose(
        name, side, f"the flash of {firer}", options=[NONE, *options], default=NONE, also=("flash",)
    )
    if chosen == NONE:
        return
    told = yield Call(shoot(Fire(by=[chosen], target=firer), "muzzle_flash", {}, asks=played), Given())
    yield from _answered(of, chosen, told, played=played)


def answered(play: Callable[[Any], Procedure]) -> Callable[[Any], Procedure]:
    """The same action, and then whoever answers its flash."""

    def act(of: Any) -> Procedure:
        yield from play(of)
        unit = yield from counter(of.firer)
        if unit.attributes.get("fired"):
            yield from flashes(of, of.firer, played=True)

    return act
