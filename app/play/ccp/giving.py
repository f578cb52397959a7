"""How an order is given: a card is played, units are activated, the order counts (12.1, O20)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.play.ccp.cards import plays
from app.play.ccp.table import Doing, counter, keep, now, other
from app.play.procedures import Ask, Change, Refused, Tell, Undecided
from app.referee.rulings import Step

ACTIVATION = "select * from ccp.activation(:position, :given, :unit, :others, :conditions, :policy)"
DEFENDERS = ("hidden_cave", "hidden_pillbox", "hidden_trenchline", "light_wounds")
"""Actions of an attack that whoever is attacked plays."""
CARRIED_OUT = ("fire", "move", "advance")
"""Orders that are carried out piece by piece after their activation."""


def pieces_named(names: Sequence[str]) -> Doing:
    """Units and weapons as somebody names them: of each its name, `Squad` or `Squad:weapon`, its unit, and which it is."""
    return (yield Ask("select * from ccp.pieces_named(:position, :names)", proves=False, names=list(names)))


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
    played = is_played(row)
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
        yield from _done(order, units, (under_way or {}).get("done") or [])
        yield Tell(Step("O20.4", None, order, "carried out"))


def _done(order: str, units: Sequence[str], done: Sequence[str]) -> Doing:
    """O22.1, O29.2: who has moved or advanced has done so; fire is counted piece by piece."""
    again = [code for code in units if code in done]
    if again and order != "fire":
        raise Refused(
            "O29.2" if order == "move" else "O22.1", f"{again[0]} has carried out the order already"
        )
    value = {"kind": order, "acted": True, "done": list(dict.fromkeys([*done, *units]))}
    yield Change({"track": "order", "value": value}, kept=True)


def is_played(row: Any) -> bool:
    """Whether orders are kept track of: a game with decks, or one in which an order is under way."""
    return "pile" in row.tracks or "order" in row.tracks


def obeys(order: str | None, pieces: Sequence[str], actions: Sequence[str] = ()) -> Doing:
    """In a game: whoever fires is activated for it, and the cards of the actions leave the hands of who plays them.

    Where no decks are kept, cards and activation are the table's affair.
    """
    row = yield from now()
    if not is_played(row) or not pieces:
        return
    units = list(dict.fromkeys(piece.removesuffix(":weapon") for piece in pieces))
    if order is not None:
        yield from carries_out(order, units)
    side = (yield from counter(units[0])).side
    yield from plays_actions(side, actions)


def orders_asset(order: str, leader: str | None = None) -> Doing:
    """In a game: an Asset Request or Asset Denied card is played, and the leader who asks is activated (O23, O24)."""
    row = yield from now()
    active = row.conditions.get("active")
    if not is_played(row) or active is None:
        return
    if leader is not None:
        yield from gives_order(order, leader)
    else:
        yield from may_order(active, order)
        yield from announces(active, order, None)


def may_order(side: str, order: str) -> Doing:
    """12.1, O20.1: whether a side may give an order now, whoever carries it out."""
    rows = yield Ask(
        "select step.* from positions.state(:position, :conditions, :policy) as state"
        " cross join lateral ccp._turn_steps(state, :side, :given) as step",
        side=side,
        given=order,
    )
    if (bar := refused_by(rows)) is not None:
        raise bar


def plays_actions(side: str, actions: Sequence[str]) -> Doing:
    """The cards of an attack's actions: those of the defender are the other side's."""
    for word in actions:
        yield from plays(other(side) if word in DEFENDERS else side, "action", word, None, "1.6")


def refused_by(rows: Sequence[Any]) -> Refused | None:
    """The refusal that rows of a ledger tell; None where nothing forbids."""
    bars = [row for row in rows if row.effect == "forbids"]
    if not bars:
        return None
    points = [row.point for row in bars if row.point]
    return Refused(
        bars[0].rule, "; ".join(dict.fromkeys(row.note for row in bars)), bars[0].at, points=points
    )
