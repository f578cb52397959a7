"""Losses in fpb, and what entering or leaving a hex brings: 2.3, 8.2.4, 12.0, 12.2, 18.1."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from app.play.procedures import Ask, Change, Tell, Want
from app.referee.questions.movement import entry_effects
from app.referee.rulings import Step

Doing = Generator[Want, Any, Any]
STRENGTHS = ("attack", "defense", "movement")
COUNTER = """
select unit.code, unit.side, unit.kind, unit.attributes, hex.label, hex.terrain, hex.features
from unit
left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
where unit.position_id = :position and unit.code = :unit
"""
BOAT = """
select
  exists (
    select from unit where unit.position_id = position.id and unit.q = hex.q and unit.r = hex.r and unit.side = 'japan'
  ) as held,
  array(
    select unit.code from unit
    where unit.position_id = position.id and unit.attributes ->> 'assaulting' = hex.label and unit.q is not null
    order by unit.code
  ) as landing
from position
join hex on hex.map_id = position.map_id and hex.label = :label
join marker on marker.position_id = position.id and marker.kind = 'assault_boat'
  and marker.q = hex.q and marker.r = hex.r
where position.id = :position
"""
ENTRY = "select * from fpb.entry(:position, :side, :labels, :conditions, :policy)"
NOW = "select cast(:conditions as jsonb) as conditions from position where id = :position"


def counter(code: str) -> Doing:
    """A unit as it is now."""
    [unit] = yield Ask(COUNTER, proves=False, unit=code)
    return unit


def on_last_step(unit: Any) -> bool:
    """2.3: depleted, or of one step."""
    return bool(unit.attributes.get("depleted") or unit.attributes.get("one_step"))


def flipped(unit: Any) -> dict[str, Any]:
    """A counter turned over: what its other side shows, as far as it is told, and this side for the way back."""
    shown = {key: unit.attributes[key] for key in STRENGTHS if unit.attributes.get(key) is not None}
    other = unit.attributes.get("back") or {}
    return {
        "unit": unit.code,
        "depleted": not unit.attributes.get("depleted", False),
        **{key: other.get(key) for key in STRENGTHS},
        "back": shown or None,
    }


def lose_step(code: str, rule: str, why: str) -> Doing:
    """A unit is depleted, or eliminated if it was so already or has one step; gives whether it lives."""
    unit = yield from counter(code)
    if on_last_step(unit):
        yield from eliminate(code, rule, f"{why}: it has no other step")
        return False
    yield Tell(Step(rule, unit.label, "depleted", f"{code}: {why}"))
    if not unit.attributes.get("back"):
        yield Tell(Step("2.3", unit.label, "not told", f"what the other side of {code} shows"))
    yield Change(flipped(unit))
    return True


def eliminate(code: str, rule: str, why: str) -> Doing:
    """A unit is out of the game, whatever steps it has."""
    unit = yield from counter(code)
    yield Tell(Step(rule, unit.label, "eliminated", f"{code}: {why}"))
    yield Change({"unit": code, "eliminated": True})
    if "assaulting" in unit.attributes:
        yield Change({"unit": code, "assaulting": None}, kept=True)
    yield from leave(unit)


def enter(side: str, labels: Sequence[str]) -> Doing:
    """What a unit changes by entering hexes: captured ones, landing beaches (12.0, 18.1)."""
    if not labels:
        return
    [now] = yield Ask(NOW, proves=False)
    rows = yield Ask(ENTRY, side=side, labels=list(labels))
    effects = entry_effects(rows, now.conditions)
    if effects:
        yield Change(*effects)


def leave(unit: Any) -> Doing:
    """12.2: what a Japanese unit opens that is gone from where it stood."""
    if unit.side == "japan" and unit.label is not None:
        yield from open_beach(unit.label)


def open_beach(label: str, reef: bool = False) -> Doing:
    """12.2: an assault boat hex that nobody holds any more becomes a beach, and who assaulted it comes ashore."""
    rows = yield Ask(BOAT, proves=False, label=label)
    if not rows or rows[0].held:
        return
    what = "the reef is passed" if reef else "no Japanese unit is left in the assault boat hex"
    yield Tell(Step("12.2", label, "flips", what))
    yield Change(
        {"marker": "assault_boat", "at": label, "removed": True}, {"marker": "landing_beach", "at": label}
    )
    for code in rows[0].landing:
        yield Tell(Step("12.2", label, "lands", f"{code} comes ashore"))
        yield Change({"unit": code, "at": label, "assaulting": None})
        yield from enter("us", [label])
