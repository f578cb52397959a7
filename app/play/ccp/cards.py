"""Fate cards: piles, hands and discards, typed in at the table or kept by name (1).

Where a game keeps decks (`tracks: {pile, hand, discards}`, names of the chart `fate_cards`), cards come out of
them; where it does not, what a card shows is typed in, and piles and hands are at most counted (`conditions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from app.play.ccp.roll import Chances, FateCard, empties, reveals
from app.play.ccp.table import SIDES, Doing, conditions, keep_of, now
from app.play.procedures import AnswerError, Ask, Call, Change, Choose, Draw, Given, Procedure, Refused, Tell
from app.referee.rulings import Step

# Piles.


def card_of(name: str) -> Doing:
    """What a card says, by column."""
    [row] = yield Ask("select ccp.fate_card(:name) as card", proves=False, name=name)
    return row.card or {}


def pile_of(side: str) -> Doing:
    """The draw pile by names; None where the game keeps none."""
    return ((yield from now()).tracks.get("pile") or {}).get(side)


def top_card(side: str, purpose: str, chances: Chances | None = None) -> Doing:
    """The name of the top card, drawn from a pile that is kept; it leaves the pile. `chances` are those of its dice."""
    tracks = (yield from now()).tracks
    pile = tracks["pile"][side]
    known = (tracks.get("next_card") or {}).get(side)
    name = yield FateCard(
        f"the draw pile of {SIDES[side]}", purpose, [known] if known else pile, kind="card", known=chances
    )
    left = list(pile)
    left.remove(name)
    yield Change({"track": f"pile.{side}", "value": left}, kept=True)
    if known:
        yield Change({"track": f"next_card.{side}", "value": None}, kept=True)
    return name


def discards(side: str, names: Sequence[str]) -> Doing:
    """Cards go face-up onto the discard pile (1.2)."""
    lying = ((yield from now()).tracks.get("discards") or {}).get(side) or []
    yield Change({"track": f"discards.{side}", "value": [*lying, *names]}, kept=True)


def shuffled(side: str) -> Doing:
    """1.4: pile and discards become the new pile, where they are kept; whether they are."""
    tracks = (yield from now()).tracks
    pile = (tracks.get("pile") or {}).get(side)
    if pile is None:
        return False
    lying = (tracks.get("discards") or {}).get(side) or []
    yield Change(
        {"track": f"pile.{side}", "value": [*pile, *lying]},
        {"track": f"discards.{side}", "value": []},
        {"track": f"next_card.{side}", "value": None},
        kept=True,
    )
    return True


def fallen_card(side: str, purpose: str, chances: Chances | None = None) -> Doing:
    """A roll off a pile that is kept: its dice and trigger as a roll tells them; None where none is kept."""
    if (yield from pile_of(side)) is None:
        return None
    name = yield from top_card(side, purpose, chances)
    yield from discards(side, [name])
    card = yield from card_of(name)
    if "white" not in card or "coloured" not in card:
        raise AnswerError(
            f"What {name} shows is not told.",
            "Import its row of the chart fate_cards, or leave the pile out.",
        )
    trigger = card.get("trigger")
    told = {"dice": [int(card["white"]), int(card["coloured"])], "card": name}
    return told if trigger is None else told | {"trigger": trigger}


def revealed(side: str, purpose: str, *, within: bool = True) -> Doing:
    """A card turned up that is no roll (1.3): what it shows; an emptied pile advances the time (13.1.2, ccp-31)."""
    if (yield from pile_of(side)) is not None:
        name = yield from top_card(side, purpose)
        yield from discards(side, [name])
        row = yield from card_of(name)
        shown = {key: value for key, value in row.items() if key in ("hex", "event", "event_value")}
        shown["dice"] = [int(row["white"]), int(row["coloured"])]
    else:
        shown = _shown((yield Draw(f"the Fate deck of {SIDES[side]}", purpose, None, kind="card")))
    if (yield from reveals(side)):
        yield from empties(side, triggers=not within)
    return shown


def _shown(value: Any) -> dict[str, Any]:
    """A card as somebody typed it: a mapping, or in short its hex or its dice."""
    if isinstance(value, Mapping):
        return dict(value)
    return {"dice": value} if isinstance(value, list) else {"hex": value}


# Hands.


def hand_of(side: str) -> Doing:
    """A hand: names, a number, or None where it is not told."""
    row = yield from now()
    kept = (row.tracks.get("hand") or {}).get(side)
    return kept if kept is not None else (row.conditions.get("hand") or {}).get(side)


def hand_size(hand: Any) -> int | None:
    return len(hand) if isinstance(hand, list) else hand


def holds(side: str, hand: Any, *, told: bool = True) -> Doing:
    """A side has these cards in hand from now on, or so many."""
    if ((yield from now()).tracks.get("hand") or {}).get(side) is not None:
        yield Change({"track": f"hand.{side}", "value": hand}, kept=True)
    elif ((yield from conditions()).get("hand") or {}).get(side) is not None:
        yield from keep_of("hand", side, hand)
    if told and hand_size(hand) is not None:
        yield Change({"side": side, "hand": hand_size(hand)}, told=True)


def named(hand: Sequence[str]) -> Doing:
    """The cards of a hand by name, each with its order and action; a plain word is both."""
    rows = yield Ask("select * from ccp.cards_of(:names)", proves=False, names=list(dict.fromkeys(hand)))
    found = {row.name: row.card for row in rows}
    return {name: found[name] or _typed(name) for name in hand}


def _typed(word: str) -> dict[str, str]:
    """A card that somebody tells by what it is played for: `fire`, `revive 3`, `infiltrate A`."""
    name, _, value = word.replace("-", " ").strip().partition(" ")
    return {"order": name, "action": name, **({"order_value": value} if value else {})}


def plays(side: str, use: Literal["order", "action"], word: str, card: str | None, rule: str) -> Doing:
    """A card leaves the hand for its order or action (1.5, 1.6); where the hand is told, it must be there.

    Gives what the card says; nothing where no hand is told.
    """
    hand = yield from hand_of(side)
    if not isinstance(hand, list):
        if isinstance(hand, int):
            if hand == 0:
                raise Refused(rule, f"{SIDES[side]} have no card in hand")
            yield from holds(side, hand - 1, told=False)
        return (yield from card_of(card)) if card else {}
    if card is not None and card not in hand:
        raise Refused(rule, f"{card} is not in the hand of {SIDES[side]}")
    cards = yield from named(hand)
    fitting = [name for name in dict.fromkeys(hand) if cards[name].get(use) == word]
    if card is None and not fitting:
        raise Refused(rule, f"no card in the hand of {SIDES[side]} has {word.replace('_', ' ')} as its {use}")
    if card is None:
        card = fitting[0]
    elif cards[card].get(use) != word:
        raise Refused(rule, f"the {use} of {card} is not {word.replace('_', ' ')}")
    left = list(hand)
    left.remove(card)
    yield from holds(side, left, told=False)
    yield from discards_if_kept(side, [card])
    yield Tell(Step("1.5" if use == "order" else "1.6", None, "plays", f"{card}, for its {use}"), card=card)
    return cards[card]


def could_play(side: str, action: str) -> Doing:
    """Whether a side holds a card of an action, in a game that keeps hands."""
    hand = ((yield from now()).tracks.get("hand") or {}).get(side)
    if not hand:
        return False
    return any(card.get("action") == action for card in (yield from named(hand)).values())


def asked_to_play(side: str, action: str, purpose: str, rule: str) -> Doing:
    """In a game: whoever holds a card of an action is asked whether to play it now; whether it is played."""
    if not (yield from could_play(side, action)):
        return False
    answer = yield Call(_wants(side, action, purpose), Given())
    if answer["plays"]:
        yield from plays(side, "action", action, None, rule)
    return answer["plays"]


def _wants(side: str, action: str, purpose: str) -> Procedure:
    wanted = yield Choose(f"plays_{action}", side, purpose, options=[False, True], default=False)
    yield Tell(plays=wanted)


def discards_if_kept(side: str, names: Sequence[str]) -> Doing:
    if (yield from pile_of(side)) is not None:
        yield from discards(side, names)
