"""What the other side does while units move: Hidden actions and Op Fire at each hex entered (A41, A43).

In a game that keeps hands the other player is asked at every hex, if there is anything that he could do. In a case
file nobody is: what is done there is a question of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.play.ccp.attack import Asker
from app.play.ccp.cards import hand_of, named, plays
from app.play.ccp.giving import gives_order, is_played, pieces_named, plays_actions
from app.play.ccp.picks import picked
from app.play.ccp.table import Doing, conditions, counter, now, other
from app.play.procedures import Ask, Refused, Tell
from app.referee.rulings import Step

READY = "select * from ccp.op_fire_offers(:position, :at, :side, :carded, :conditions, :policy)"
HIDDEN = {"hidden_mines": ("mines",), "hidden_wire": ("wire",), "hidden_panji_trap": ("mines", "wire")}


class Interrupts:
    """The other player at one Move or Advance, and whether he fired at the last hex."""

    def __init__(self, asker: Asker) -> None:
        self.asker = asker
        self.fired = False

    def _cards(self, side: str, use: str) -> Doing:
        """What a side could play, by order or action; None where its hand is not kept."""
        hand = yield from hand_of(side)
        if not isinstance(hand, list) or not is_played((yield from now())):
            return None
        cards = yield from named(hand)
        return {card.get(use) for card in cards.values()}

    def hidden_in(self, label: str, mover: str) -> Doing:
        """A43.2, A43.3, A43.7: what the Defender reveals where the enemy has just entered; None: nothing."""
        side = other(mover)
        actions = yield from self._cards(side, "action")
        if not actions or ((yield from conditions()).get("posture") or {}).get(side) != "defender":
            return None
        [ground] = yield Ask(
            "select * from ccp.hex_now(:position, :hex, :conditions)", proves=False, hex=label
        )
        if ground.water or ground.blaze or ground.fortification is not None:
            return None
        options = {
            f"{name} {word}": (name, word)
            for name, words in HIDDEN.items()
            if name in actions
            for word in words
        }
        chosen = yield from picked("hidden", side, f"what is hidden in {label}", options, may=True)
        if chosen is None:
            return None
        name, word = options[chosen]
        yield from plays(side, "action", name, None, "A43")
        yield Tell(Step("A43", label, word, f"{name.replace('_', ' ')} as the hex is entered"))
        return word

    def fire_at(self, label: str, was: str, movers: Sequence[str], mover: str) -> Doing:
        """A41.2: one attack at the hex just entered, by who is activated for Op Fire, or is now by a Fire card."""
        self.fired = False
        side = other(mover)
        orders = yield from self._cards(side, "order")
        if orders is None:
            return
        rows = yield Ask(READY, proves=False, at=label, side=side, carded="fire" in orders)
        offers = {row.word: row for row in rows}
        chosen = yield from picked("op_fire", side, f"Op Fire at {label}", offers, may=True)
        if chosen is not None:
            yield from self._takes(offers[chosen], label, was, movers)

    def _takes(self, offer: Any, label: str, was: str, movers: Sequence[str]) -> Doing:
        """An offer that was taken up; a shot that turns out to be none is no mistake of the mover."""
        try:
            if offer.head is not None:
                yield from gives_order("op_fire", offer.head, offer.others)
            yield from self.fires(list(offer.pieces), label, was, movers)
        except Refused as refused:
            yield Tell(Step(refused.step.rule, label, "no shot", refused.why))

    def fires(
        self, by: Sequence[str], label: str, was: str, movers: Sequence[str], actions: Sequence[str] = ()
    ) -> Doing:
        """A41.2: an Op Fire attack in the midst of the move."""
        from app.play.ccp.fire import OpFire, op_fired

        said = {"by": list(by), "at": label, "movers": list(movers), "from": was, "actions": list(actions)}
        if is_played((yield from now())):
            [first, *_] = yield from pieces_named(by)
            side = (yield from counter(first.code)).side
            yield from plays_actions(side, actions)
        yield from op_fired(OpFire.model_validate(said), self.asker)
        self.fired = True
