"""What a disrupted US unit may do: lose its marker (7.6)."""

from __future__ import annotations

from app.play.ddp.acting import Doing, counter, is_ridge, scene
from app.play.procedures import Change, Refused, Tell
from app.referee.rulings import Step


def recover_us(code: str) -> Doing:
    """7.6: the only action of a disrupted unit, free; not of one disrupted in this Action Phase."""
    unit = yield from counter(code)
    now = yield from scene()
    said = unit.attributes
    if unit.side != "us":
        raise Refused("6.42", f"{code} is Japanese: it recovers by the colours of a fire card", unit.label)
    if not said.get("disrupted"):
        raise Refused("7.6", f"{code} is not disrupted", unit.label)
    if said.get("fresh"):
        raise Refused("7.6", f"{code} was disrupted in this Action Phase", unit.label)
    if said.get("acted") and not is_ridge(now.conditions):
        raise Refused("7.2", f"{code} has performed its action of this turn", unit.label)
    yield Change({"unit": code, "disrupted": False})
    yield Change({"unit": code, "acted": True}, kept=True)
    yield Tell(Step("7.6", unit.label, "recovers", f"{code} loses its disruption marker"), recovered=[code])
