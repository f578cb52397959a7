"""The turns of a game: melees, orders or a pass, refill; then the other side (12, 19.2, O20.4)."""

from __future__ import annotations

import functools
from typing import Any

from app.play import sequence
from app.play.ccp.giving import CARRIED_OUT
from app.play.ccp.table import SIDES, Doing, conditions, keep, now, other
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.play.sequence import Leaf, Moment, State
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step

MELEE, ORDERS, REFILL = "melee", "orders", "refill"
DEEDS = {"fire": ("fire",), "move": ("move", "exit"), "advance": ("advance", "exit")}
"""What carries out an order that is under way."""
MELEES = """
select hex.label from marker
join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
where marker.position_id = :position and marker.kind = 'melee' order by hex.label
"""
FLAGS = "select code from unit where position_id = :position and attributes ?| array['activated', 'fired'] order by code"


class Walk(sequence.Walk):
    """Turns that alternate, without a count; a melee phase only in an Allied turn with a melee hex."""

    def __init__(self, ruleset: str) -> None:
        super().__init__(ruleset)
        # a time advance comes between, and is never walked to
        self.leaves = tuple(leaf for leaf in self.leaves if leaf.phase.code in (MELEE, ORDERS, REFILL))

    def holds(self, leaf: Leaf, state: State) -> bool:
        fights = state.conditions.get("active") == "allied" and "melee" in state.markers
        return leaf.phase.code != MELEE or fights

    def moment(self, state: State) -> Moment:
        """A turn that begins is in its melees, if it has any, else among its orders."""
        told = state.conditions
        phase, active = told.get("phase"), told.get("active")
        if phase == "pass":
            phase = ORDERS
        if phase in ("start", MELEE) or (phase is None and active is not None):
            phase = MELEE if self.holds(self.leaves[0], state) else ORDERS
        return Moment(None, phase, active, None, self.alone(state))

    def first_turn(self, state: State) -> Any:
        return None

    def next_turn(self, state: State) -> Any:
        return None

    def following(self, state: State) -> Moment:
        now_ = self.leaf(state)
        active = state.conditions.get("active")
        if now_ is None:
            return self._begins(state, state.conditions.get("first") or "japan")
        if now_.phase.code == REFILL:
            return self._begins(state, other(active or "allied"))
        later = ORDERS if now_.phase.code == MELEE else REFILL
        return Moment(None, later, active)

    def _begins(self, state: State, side: str) -> Moment:
        fights = side == "allied" and "melee" in state.markers
        return Moment(None, MELEE if fights else ORDERS, side)

    def conditions(self, moment: Moment) -> dict[str, Any]:
        return {"phase": moment.phase, "active": moment.active}

    def actions(self, state: State) -> tuple[str, ...]:
        """While an order waits for somebody to carry it out, nothing else is done (O20.3, O20.4)."""
        listed = super().actions(state)
        order = state.tracks.get("order")
        if state.tracks.get("passed") is not None:
            return ("action", listed[-1])
        if order and not order.get("acted") and order["kind"] in DEEDS:
            return (*DEEDS[order["kind"]], "action", listed[-1])
        return listed

    def told(self, state: State, later: Moment | None) -> dict[str, Any]:
        following = {} if later is None else {"phase": later.phase, "active": later.active}
        return {"phase": self.moment(state).phase or sequence.SET_UP, "next": following or None}


class NothingMore(Action):
    """What is asked is only the position."""


def end_melees(_: NothingMore) -> Procedure:
    """19.2: a melee ensues in every melee hex before any order."""
    left = yield Ask(MELEES, proves=False)
    if left:
        raise Refused("19.2", f"a melee is to be fought in {left[0].label}", left[0].label)


def end_orders(_: NothingMore) -> Procedure:
    """O20.3: the last order is carried out before the turn ends, if anybody can."""
    order = (yield from now()).tracks.get("order")
    if order and not order.get("acted") and order["kind"] in CARRIED_OUT:
        if (yield from _somebody_could(order["kind"])):
            raise Refused("O20.3", f"somebody must carry out the {order['kind']} order first")
        yield Tell(Step("O20.3", None, "void", "nobody can carry out the order"))


def _somebody_could(kind: str) -> Doing:
    """Whether one of those who are activated can still do what the order says."""
    [row] = yield Ask(
        "select ccp.could_carry_out(:position, :kind, :conditions, :policy) as could", proves=False, kind=kind
    )
    return row.could


def end_turn(_: NothingMore) -> Procedure:
    """12: activations, the order under way and a pass are forgotten; the other side takes its turn."""
    for row in (yield Ask(FLAGS, proves=False)):
        yield Change({"unit": row.code, "activated": None, "fired": None}, kept=True)
    for track in ("order", "passed", "twins"):
        if track in (yield from now()).tracks:
            yield Change({"track": track, "value": None}, kept=True)
    told = yield from conditions()
    if told.get("orders_given") is not None:
        yield from keep(orders_given=0)
    active = told.get("active")
    yield Tell(Step("12", None, "ends", f"the turn of {SIDES[active]}" if active else "a turn"))


def _verdict(ruling: Ruling) -> str:
    if ruling.answer["allowed"] is False:
        return f"Not over yet: {ruling.answer['why']}"
    return {"end_orders": "The orders are over", "end_melees": "The melees are over"}.get(
        ruling.kind, "The turn is over"
    )


KINDS = [
    procedure_kind(
        play,
        kinds=functools.partial(kinds_of, "ccp"),
        name=name,
        title=title,
        arguments=NothingMore,
        rulesets=("ccp",),
        answers={},
        verdict=_verdict,
        acts=False,
        example=f"{name}: {{}}",
    )
    for name, title, play in (
        ("end_melees", "The end of a turn's melees", end_melees),
        ("end_orders", "The end of a turn's orders", end_orders),
        ("end_turn", "The end of a turn", end_turn),
    )
]
