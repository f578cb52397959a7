"""Japanese counters turned up (9.1): what a face-down one says is told now, where it was not before."""

from __future__ import annotations

from typing import Any

from app.play.ddp.acting import Doing, counter
from app.play.ddp.placing import Blind, Hand, is_empty, left, pool
from app.play.procedures import Change, Tell
from app.referee.rulings import Step

FACES = ("strength", "requires", "elite")
"""What the front of a Japanese unit says."""


def reveal_unit(code: str, rule: str = "9.1") -> Doing:
    """A Japanese unit is turned up; what its counter says is asked for where nobody knew it."""
    unit = yield from counter(code)
    said = unit.attributes
    if said.get("revealed") or "counterattack" in said:
        return
    now: dict[str, Any] = {"revealed": True}
    if said.get("strength") is None:
        drawn = yield Blind("reserve", f"{code} turned up")
        now |= {key: drawn[key] for key in FACES if drawn.get(key) is not None}
    yield Change({"unit": code, **now})
    yield Tell(Step(rule, unit.label, "revealed", f"{code} is turned up"))


def reveal_depth(code: str, rule: str = "9.1") -> Doing:
    """A depth marker is turned up: `revealed`, `tactical` (and then it is gone, 9.4), or None where there is none."""
    unit = yield from counter(code)
    depth = unit.attributes.get("depth")
    if depth is None:
        return None
    if not depth.get("revealed"):
        told = depth
        if depth.get("strength") is None and not depth.get("tactical"):
            drawn = yield Blind("depth", f"the depth marker of {code} turned up")
            told = {
                key: drawn[key] for key in ("strength", "requires", "tactical") if drawn.get(key) is not None
            }
        depth = {**told, "revealed": True}
        if not depth.get("tactical"):
            yield Change({"unit": code, "depth": depth})
            yield Tell(Step(rule, unit.label, "revealed", f"the depth marker of {code} is turned up"))
    if depth.get("tactical"):
        yield Change({"unit": code, "depth": None})
        yield Tell(
            Step("9.4", unit.label, "tactical", f"the depth marker of {code} is a tactical reinforcement")
        )
        return "tactical"
    return "revealed"


def show_depth(code: str, rule: str, hand: Hand) -> Doing:
    """A depth marker drawn and laid face up beneath a unit: `added`, `tactical`, or None where the pool is empty (9.23)."""
    held = yield from pool("depth")
    unit = yield from counter(code)
    if is_empty(held):
        yield Tell(Step("9.23", unit.label, "none", "no depth marker is left"))
        return None
    drawn, now = yield from hand.shown("depth", held, f"a depth marker for {code}, face up")
    yield from left("depth", now)
    if drawn.get("tactical"):
        yield Tell(Step("9.4", unit.label, "tactical", "the marker drawn is a tactical reinforcement"))
        return "tactical"
    said = {key: drawn[key] for key in ("strength", "requires") if drawn.get(key) is not None}
    yield Change({"unit": code, "depth": {**said, "revealed": True}})
    yield Tell(Step(rule, unit.label, "depth", f"{code} gains a depth marker, face up"))
    return "added"
