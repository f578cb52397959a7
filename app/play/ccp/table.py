"""What lies beside the map of a ccp game: points, time, Initiative, piles; and the words in which changes to it are told."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from app.play.procedures import Action, Ask, Change, Procedure, Tell, Want
from app.referee.rulings import Step

Doing = Generator[Want, Any, Any]
A = TypeVar("A", bound=Action)
NOW = """
select cast(:conditions as jsonb) as conditions, position.tracks,
  ruleset.presets || coalesce(cast(:policy as jsonb), position.policy) as readings
from position
join ruleset on ruleset.code = position.ruleset
where position.id = :position
"""
UNITS = """
select unit.code, unit.side, unit.kind, unit.attributes, hex.label, hex.terrain
from unnest(cast(:units as text[])) with ordinality as wanted (code, n)
join unit on unit.position_id = :position and unit.code = wanted.code
left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
order by wanted.n
"""
SIDES = {"japan": "Japan", "allied": "the Allies"}
TOWARD = {"allied": 1, "japan": -1}
"""11.1.1: which way the VP marker goes for whom."""


class GameOver(Exception):  # noqa: N818 - how a game ends, not a mistake
    """The game has ended in the midst of a procedure: who won, and by what."""

    def __init__(self, winner: str | None, end: str) -> None:
        super().__init__(end)
        self.winner, self.end = winner, end


def other(side: str) -> str:
    return "allied" if side == "japan" else "japan"


def now() -> Doing:
    """Conditions, tracks and readings as they are."""
    [row] = yield Ask(NOW, proves=False)
    return row


def conditions() -> Doing:
    return (yield from now()).conditions


def reading(point: str) -> Doing:
    """The reading in force for a contested point, which is thereby touched."""
    row = yield from now()
    yield Tell(points=(point,))
    return row.readings[point]


def counter(code: str) -> Doing:
    """A unit as it is now."""
    [unit] = yield Ask(UNITS, proves=False, units=[code])
    return unit


def counters(codes: Sequence[str]) -> Doing:
    """Several units as they are now, in that order."""
    return (yield Ask(UNITS, proves=False, units=list(codes)))


def keep(**values: Any) -> Doing:
    """Conditions of the game that change, without a word: the effect tells them in the game's own."""
    yield Change({"conditions": values}, kept=True)


def keep_of(name: str, side: str, value: Any) -> Doing:
    """The same for what each side has its own of."""
    was = (yield from conditions()).get(name) or {}
    yield from keep(**{name: {**was, side: value}})


def gains(side: str, points: int, rule: str, note: str) -> Doing:
    """The VP marker moves toward whoever is awarded points; a payment is negative (11.1.1)."""
    if points == 0:
        return
    yield Tell(Step(rule, None, f"{points:+d}", f"{SIDES[side]}: {note}"))
    yield Change({"side": side, "gains": points}, told=True)
    was = (yield from conditions()).get("vp")
    if was is not None:
        yield from keep(vp=was + TOWARD[side] * points)


def takes_initiative(side: str) -> Doing:
    yield Change({"side": side, "initiative": True}, told=True)
    yield from keep(initiative=side)


def adds_marker(kind: str, at: str, value: int | None = None, **says: Any) -> Doing:
    valued = {} if value is None else {"value": value}
    yield Change({"marker": kind, "at": at, **valued, **says, "added": True})


def removes_marker(kind: str, at: str, value: int | None = None) -> Doing:
    valued = {} if value is None else {"value": value}
    yield Change({"marker": kind, "at": at, **valued, "removed": True})


def ending(play: Callable[[A], Procedure]) -> Callable[[A], Procedure]:
    """A procedure that may end the game: it stops there, and says so; points are told wherever they are known."""

    @functools.wraps(play)
    def played(of: A) -> Procedure:
        over: dict[str, Any] = {"over": False}
        yield Tell(**over)
        try:
            yield from play(of)
        except GameOver as ended:
            over = {"over": True, "winner": ended.winner, "end": ended.end}
            yield Tell(**over)
        yield from tell_points()

    return played


def tell_points() -> Doing:
    """The Victory Track afterwards, where it was told."""
    known = (yield from conditions()).get("vp")
    if known is not None:
        yield Tell(vp=known)
