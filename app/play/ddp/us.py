"""What a disrupted US unit may do: lose its marker (7.6)."""

from __future__ import annotations

from app.play.ddp.acting import Doing, counter, is_ridge, scene
from app.play.procedures import Ask, Change, Refused, Tell
from app.referee.rulings import Step

RECOVERED = (
    "select other.code from unit join unit as other on other.position_id = unit.position_id and other.side = 'us'"
    " and (other.q, other.r) is distinct from (unit.q, unit.r) and ddp._flag(other.attributes, 'acted')"
    " where unit.position_id = :position and unit.code = :code order by other.code"
)
"""Who has lost a marker in this HQ Phase of Bloody Nose Ridge, in another hex."""


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
    if is_ridge(now.conditions) and now.conditions.get("phase") == "hq":
        others = yield Ask(RECOVERED, proves=False, code=code)
        if others:
            raise Refused("18.2", f"{others[0].code} has lost its marker: one unit or stack does", unit.label)
    yield Change({"unit": code, "disrupted": False})
    yield Change({"unit": code, "acted": True}, kept=True)
    yield Tell(Step("7.6", unit.label, "recovers", f"{code} loses its disruption marker"), recovered=[code])
