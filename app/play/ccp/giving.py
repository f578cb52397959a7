"""How an order is given: a card is played, units are activated, the order counts (12.1, O20)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.play.ccp.cards import plays
from app.play.ccp.table import Doing, keep, now
from app.play.procedures import Ask, Change, Refused, Tell, Undecided
from app.referee.rulings import Step

ACTIVATION = "select * from ccp.activation(:position, :given, :unit, :others, :conditions, :policy)"
CARRIED_OUT = ("fire", "move", "advance")
"""Orders that are carried out piece by piece after their activation."""


def gives_order(order: str, unit: str, others: Sequence[str] = (), card: str | None = None) -> Doing:
    """One unit, with those it takes along, is activated by an order or Op Fire; gives its side.

    Whoever calls says whether the activation is an effect; here it is written down.
    """
    side, units = yield from may_activate(order, unit, others)
    yield from announces(side, order, card)
    yield Change(*({"unit": code, "activated": order} for code in units), kept=True)
    return side


def may_activate(order: str, unit: str, others: Sequence[str] = ()) -> Doing:
    """The side and the units that would be activated; refused where one of them may not be (O20)."""
    rows = yield Ask(ACTIVATION, given=order, unit=unit, others=list(others))
    verdict = rows[-1]
    if (bar := refused_by(rows)) is not None:
        raise bar
    if verdict.effect == "unsure":
        raise Undecided()
    return verdict.facts["side"], verdict.facts["units"]


def announces(side: str, order: str, card: str | None, rule: str = "O20.1") -> Doing:
    """A card is played for an order, which counts toward the limit; gives what the card says (12.1, 1.5)."""
    yield from before_is_done(order)
    said = yield from plays(side, "order", "fire" if order == "op_fire" else order, card, rule)
    if order == "op_fire":
        return said
    row = yield from now()
    given = row.conditions.get("orders_given")
    if given is not None:
        yield from keep(orders_given=given + 1)
    if row.conditions.get("phase") is not None:
        yield Change(
            {"track": "order", "value": {"kind": order, "acted": order not in CARRIED_OUT}}, kept=True
        )
    return said


def before_is_done(order: str) -> Doing:
    """O20.3, O20.4: the order before is done in full, and somebody carried it out."""
    under_way = (yield from now()).tracks.get("order")
    if order != "op_fire" and under_way and not under_way.get("acted"):
        word = under_way["kind"].replace("_", " ")
        raise Refused("O20.3", f"somebody must carry out the {word} order first")


def carries_out(order: str, units: Sequence[str]) -> Doing:
    """What a unit does belongs to the order for which it is activated (O20.2); in a game that order is under way.

    Outside a game, who has no order yet this turn is taken to be activated for this one.
    """
    row = yield from now()
    under_way = row.tracks.get("order")
    played = row.conditions.get("phase") is not None
    if played and (under_way is None or under_way["kind"] != order):
        raise Refused("O20.4", f"no {order} order is under way")
    for code in units:
        [unit] = yield Ask(
            "select kind, attributes ->> 'activated' as done from unit"
            " where position_id = :position and code = :unit",
            proves=False,
            unit=code,
        )
        if unit.done != order and (played or (unit.done is not None and unit.kind != "hero")):
            was = f"to {unit.done.replace('_', ' ')}" if unit.done else "for nothing"
            raise Refused("O20.2", f"{code} is activated {was} this turn, not to {order}")
    if played:
        yield Change({"track": "order", "value": {"kind": order, "acted": True}}, kept=True)
    yield Tell(Step("O20.4", None, order, "carried out"))


def refused_by(rows: Sequence[Any]) -> Refused | None:
    """The refusal that rows of a ledger tell; None where nothing forbids."""
    bars = [row for row in rows if row.effect == "forbids"]
    if not bars:
        return None
    points = [row.point for row in bars if row.point]
    return Refused(
        bars[0].rule, "; ".join(dict.fromkeys(row.note for row in bars)), bars[0].at, points=points
    )
