"""Blaze and Breezy (E53, E54): smoke drifts, fire breaks out and spreads, and whoever is there makes way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from app.play.ccp.arrivals import comes_in
from app.play.ccp.losses import eliminates, settles
from app.play.ccp.picks import inactive_first, placed_by
from app.play.ccp.table import Doing, adds_marker, reading, removes_marker
from app.play.procedures import Ask, Change, Choose

if TYPE_CHECKING:
    from app.play.ccp.events import Card

MARKERS = """
select hex.label, marker.value
from marker
join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
where marker.position_id = :position and marker.kind = :kind
order by hex.label, marker.value
"""
TOWARD = "select * from ccp.hex_toward(:position, :hex, :direction, :conditions)"
THERE = "select * from ccp.units_near(:position, :hex, 0)"
BESIDE = "select * from ccp.hexes_near(:position, :hex, 1, 1, :conditions)"


def blaze(card: Card) -> Doing:
    """E53: fire breaks out in a random hex, not in water nor where one burns."""
    ground = yield from card.hex("a blaze")
    if ground.water or ground.blaze:
        why = "water does not burn" if ground.water else "it burns already"
        yield card.nothing(why, ground.label)
        return
    yield from _burns(card, ground, clears=True)
    yield from _displaced(card, [ground.label])


def _burns(card: Card, ground: Any, *, clears: bool) -> Doing:
    """A blaze marker; the fortification goes and, where it does, smoke."""
    yield card.happens("blaze", "a blaze marker is placed", ground.label)
    yield from adds_marker("blaze", ground.label)
    if ground.smoke is not None and clears:
        yield from removes_marker("smoke", ground.label, ground.smoke)
    if ground.fortification is not None:
        yield from removes_marker(ground.fortification, ground.label)


def breezy(card: Card) -> Doing:
    """E54: smoke drifts, then blazes spread, then units make way."""
    direction = card.said.get("direction") or card.said.get("event_value") or card.said.get("value")
    if direction is None:
        direction = yield Choose(
            "direction", card.side, "the downwind direction on the card", options=list(range(1, 7))
        )
    yield from _drifts(card, int(direction))
    spread = yield from _spreads(card, int(direction))
    yield from _displaced(card, spread)


def _drifts(card: Card, direction: int) -> Doing:
    """Every smoke marker goes a hex downwind; off the map, into water or a blaze it is gone."""
    lying = yield Ask(MARKERS, proves=False, kind="smoke")
    goals = []
    for row in lying:
        goals.append((row, (yield Ask(TOWARD, proves=False, hex=row.label, direction=direction))))
    for row, found in goals:
        goal = found[0] if found else None
        if goal is None or goal.water or goal.blaze:
            yield card.happens("removed", f"smoke of {row.value} drifts away", row.label)
            yield from removes_marker("smoke", row.label, row.value)
        else:
            yield card.happens("drifts", f"smoke of {row.value}", goal.label)
            yield Change({"marker": "smoke", "at": row.label, "value": row.value, "to": goal.label})


def _spreads(card: Card, direction: int) -> Doing:
    """A new blaze downwind of each that burned before; it does not spread again. Gives the new ones."""
    burning = yield Ask(MARKERS, proves=False, kind="blaze")
    goals = []
    for row in burning:
        found = yield Ask(TOWARD, proves=False, hex=row.label, direction=direction)
        goals += [goal for goal in found if not goal.water and not goal.blaze]
    clears = True
    if any(goal.smoke is not None for goal in goals):
        clears = (yield from reading("ccp-9")) == "a"
    for goal in goals:
        yield from _burns(card, goal, clears=clears)
    return [goal.label for goal in goals]


def _displaced(card: Card, labels: list[str]) -> Doing:
    """Units make way into adjacent hexes without a blaze, the inactive owner's first; else they are eliminated."""
    burning: dict[str, Any] = {}
    for label in labels:
        for row in (yield Ask(THERE, proves=False, hex=label)):
            burning[row.code] = row
    hexes = {}
    for code, row in burning.items():
        near = yield Ask(BESIDE, proves=False, hex=row.label)
        hexes[code] = [one.label for one in near if not one.blaze]
    told: dict[str, str] = {}
    for side in (yield from inactive_first()):
        own = [code for code, row in burning.items() if row.side == side]
        name = "displace" if not told else f"displace_{side}"
        told = yield from placed_by(name, side, "where they make way to", own, hexes, told)
    lost = [code for code in burning if not hexes[code]]
    for code in burning:
        if hexes[code]:
            yield from comes_in(code, told[code], card.rule)
    if lost:
        yield from eliminates(lost, card.rule, "nowhere to make way to")
    for label in labels:
        yield from settles(label)
