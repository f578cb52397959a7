"""Counterattack stance (13.41): tanks and up to four others near them, each with a marker face up; in play till 13.47."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from app.play.ddp.deciding import Deciding
from app.play.ddp.placing import Hand, is_empty, left, pool
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import series

ENTRANTS = "select * from ddp.stance_entrants(:position, :conditions, :policy)"
MOST_OTHERS = 4
"""13.41: units that are no tanks."""


class Counterattack(Action):
    """Nothing is asked but the position; the markers are drawn."""


def counterattack(of: Counterattack) -> Procedure:
    """13.41: who enters the stance, and what becomes of their depth."""
    if (yield from pool("counterattack")):
        raise Refused(
            "13.48", "the counterattack has happened; the event brings a reinforcement instead", units=[]
        )
    yield from enter_stance(Hand(of))


def enter_stance(hand: Hand) -> Deciding:
    """Tanks first, then the others; as many as there are markers."""
    rows = yield Ask(ENTRANTS)
    facts = rows[-1].facts
    chosen = [*facts["tanks"], *(yield from _others(facts["others"], hand))]
    held = yield from pool("counterattack_markers")
    most = len(held) if isinstance(held, list) else held
    if most is not None and most < len(chosen):
        yield Tell(Step("13.41", None, "no marker", f"there are but {most} counterattack markers"))
        chosen = chosen[:most]
    units = [one["unit"] for one in chosen]
    yield Tell(units=units)
    for one in chosen:
        yield from _enters(one, hand)
    yield Change({"side": "japan", "counterattack": True})
    return units


def _others(ranked: Sequence[Mapping[str, Any]], hand: Hand) -> Deciding:
    """The closest to a tank, then the farthest from a landing beach; the player breaks ties."""
    chosen: list[Mapping[str, Any]] = []
    for _, group in itertools.groupby(ranked, key=lambda one: one["rank"]):
        tied = {one["unit"]: one for one in group}
        room = min(MOST_OTHERS - len(chosen), len(tied))
        if room <= 0:
            break
        ways = list(itertools.combinations(tied, room))
        picked = yield from hand.names.pick("counterattack", "which units enter counterattack stance", ways)
        chosen += [tied[code] for code in picked]
    return chosen


def _enters(one: Mapping[str, Any], hand: Hand) -> Deciding:
    """One unit: revealed, undisrupted, its depth gone, a marker on top."""
    code = one["unit"]
    if one["depth"] and not one["tank"]:
        yield from _depth_returns(code)
    held = yield from pool("counterattack_markers")
    if not is_empty(held):
        marker, now = yield from hand.shown("counterattack", held, f"the counterattack marker of {code}")
        yield from left("counterattack_markers", now)
    gone = {"depth": None} if one["depth"] else {}
    said = {key: told for key, told in marker.items() if told not in (None, [])}
    yield Change(
        {"unit": code, "revealed": True, "disrupted": False, **gone, "counterattack": {"depth": True, **said}}
    )
    yield Tell(Step("13.41", one["label"], "enters stance", f"{code}{', a tank' if one['tank'] else ''}"))


def _depth_returns(code: str) -> Deciding:
    """13.41: depth of a unit that is no tank goes back to the pool, face down; of a tank it is out of play."""
    held = yield from pool("depth")
    [row] = yield Ask(
        "select attributes -> 'depth' as depth from unit where position_id = :position and code = :code",
        proves=False,
        code=code,
    )
    yield Tell(Step("13.41", None, "returns", f"the depth marker of {code} goes back to the pool"))
    if isinstance(held, int):
        yield Change({"side": "japan", "depth": held + 1})
    elif isinstance(held, list):
        marker = {key: told for key, told in row.depth.items() if key != "revealed"}
        yield Change({"side": "japan", "depth": [*held, marker]})


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"There is no counterattack: {answer['why']}"
    if not answer.get("units"):
        return "Nobody enters counterattack stance"
    return (
        f"{series(answer['units'])} {'enter' if len(answer['units']) > 1 else 'enters'} counterattack stance"
    )


KINDS = [
    procedure_kind(
        counterattack,
        kinds=functools.partial(kinds_of, "ddp"),
        name="counterattack",
        title="Counterattack",
        arguments=Counterattack,
        rulesets=("ddp",),
        answers={"units": "the units that enter counterattack stance, tanks first"},
        verdict=_verdict,
        points=("ddp-40",),
        acts=False,
        example="counterattack: {draws: [{color: red, strength: 2}]}",
    )
]
