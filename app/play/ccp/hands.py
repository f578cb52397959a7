"""What is done with hands: a pass with a discard (12.3, O21), the refill (12.4), and Reconnoiter (O30)."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from app.play.ccp.cards import (
    discards_if_kept,
    hand_of,
    hand_size,
    holds,
    pile_of,
    top_card,
)
from app.play.ccp.giving import gives_order, is_played, refused_by
from app.play.ccp.roll import ENDS, empties, reveals
from app.play.ccp.table import SIDES, Doing, conditions, ending, now, other
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Draw,
    Procedure,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, counted, not_known, series
from importers.questions import Names

Side = Literal["japan", "allied"]
OPENED = ("demolitions", "hidden_unit")
"""Actions that a pass with a discard opens to the opponent (A38, A43.6)."""
MOST_CARDS = 72
TIME_POINTS = ("ccp-31", "ccp-35", "ccp-40")
"""Contested points that a time advance may touch."""


# A pass.


class Discard(Action):
    """Who passes, and what is thrown away."""

    side: Side = Field(description="The side that passes")
    nation: Literal["japan", "us", "commonwealth"] | None = Field(
        None, description="Of the Allies: whom they command, where no unit tells it"
    )

    @model_validator(mode="before")
    @classmethod
    def cards_are_chosen(cls, told: Any) -> Any:
        """`cards` are those that go: a list, or how many."""
        if isinstance(told, dict) and "cards" in told:
            told = dict(told)
            told["choices"] = {**told.get("choices", {}), "cards": told.pop("cards")}
        return told


LIMIT = "select * from ccp.discard_limit(:position, :side, :nation, :conditions)"


@ending
def discard(of: Discard) -> Procedure:
    """O21: a turn without orders, in which cards are thrown away."""
    rows = yield Ask(LIMIT, side=of.side, nation=of.nation)
    limit = rows[-1].facts["limit"]
    yield Tell(limit=limit, opens=[])
    if (bar := refused_by(rows)) is not None:
        raise bar
    hand = yield from hand_of(of.side)
    thrown = yield Choose(
        "cards",
        of.side,
        "what is discarded",
        check=functools.partial(_is_thrown, hand),
        form="names of cards, or how many",
        default=[] if isinstance(hand, list) else 0,
    )
    number = len(thrown) if isinstance(thrown, list) else thrown
    if limit is None and number:
        raise Undecided(Need("which nation the Allies are", "12.3"))
    if limit is not None and number > limit:
        raise Refused("12.3", f"{counted(number, 'card')}, where {limit} may be discarded")
    left = yield from _without(of.side, hand, thrown, number)
    if number and left is not None:
        yield from holds(of.side, left)
    yield Tell(
        Step("O21", None, "discards", f"{counted(number, 'card')} of {SIDES[of.side]}"),
        hand=hand_size(left),
        opens=list(OPENED) if number else [],
    )
    if is_played((yield from now())):
        yield Change({"track": "passed", "value": number}, kept=True)
    if number:
        yield from interrupts(other(of.side), number)


def _without(side: str, hand: Any, thrown: Any, number: int) -> Doing:
    """What is left of a hand."""
    if isinstance(hand, list) and isinstance(thrown, list):
        left = list(hand)
        for name in thrown:
            left.remove(name)
        yield from discards_if_kept(side, thrown)
        return left
    size = hand_size(hand)
    return None if size is None else size - number


def interrupts(side: str, discarded: int) -> Doing:
    """A38, A43.6: the other side may answer a discard, where its hand is known to the game."""
    from app.play.ccp.deeds import answered_discard

    yield from answered_discard(side, discarded)


def _is_thrown(hand: Any, value: Any) -> str | None:
    number = len(value) if isinstance(value, list) else value
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        return "cards are a list of names, or how many"
    if isinstance(hand, list) and isinstance(value, list):
        lost = [name for name in value if value.count(name) > hand.count(name)]
        if lost:
            return f"{series(lost)} is not in hand"
    if isinstance(hand, list) and not isinstance(value, list):
        return "the cards by name, of a hand that is told"
    size = hand_size(hand)
    return f"{number} cards of a hand of {size}" if size is not None and number > size else None


# The refill.


class DrawUp(Action):
    """Whose hand is filled, and how many cards are drawn where that is not its hand size."""

    side: Side | None = Field(None, description="The side that draws; else the active one")
    number: int | None = Field(
        None, ge=0, le=MOST_CARDS, description="How many cards; else up to the hand size"
    )

    @model_validator(mode="before")
    @classmethod
    def cards_may_be_a_number(cls, told: Any) -> Any:
        """`cards` may be how many."""
        if isinstance(told, dict) and isinstance(told.get("cards"), int):
            told = {**told, "number": told["cards"], "cards": []}
        return told


@ending
def draw(of: DrawUp) -> Procedure:
    """12.4: the active side fills its hand; an emptied pile advances the time, then it goes on."""
    before = yield from conditions()
    side = of.side or before.get("active")
    if side is None:
        raise Undecided(Need("whose hand is filled", "12.4"))
    if before.get("active") not in (None, side):
        raise Refused("12.4", "only the active player refills his hand")
    hand = yield from hand_of(side)
    number = of.number
    if number is None:
        [size] = yield Ask("select * from ccp.hand_size(:position, :side, :conditions)", side=side)
        if size.facts["size"] is None:
            raise Undecided(Need(f"the Posture of {SIDES[side]}", "1.1"))
        if hand_size(hand) is None:
            raise Undecided(Need(f"how many cards {SIDES[side]} hold", "12.4"))
        number = max(0, size.facts["size"] - (hand_size(hand) or 0))
    yield from draws(side, number, typed=len(of.cards))
    now_held = yield from hand_of(side)
    after = yield from conditions()
    yield Tell(
        drawn=number,
        hand=hand_size(now_held),
        advanced=after.get("time") != before.get("time"),
        **({"time": after["time"]} if "time" in after else {}),
    )


def draws(side: str, number: int, typed: int = 0) -> Doing:
    """Cards come off the pile into the hand, one by one; their names, where they are told."""
    names: list[str | None] = []
    for n in range(number):
        name = None
        if (yield from pile_of(side)) is not None:
            name = yield from top_card(side, "the hand")
        elif n < typed:
            name = yield Draw(f"the Fate deck of {SIDES[side]}", "the hand", None, kind="card")
        names.append(name)
        hand = yield from hand_of(side)
        if isinstance(hand, list):
            yield from holds(side, [*hand, name or "unknown"], told=n == number - 1)
        elif hand is not None:
            yield from holds(side, hand + 1, told=n == number - 1)
        if (yield from reveals(side)):
            yield from empties(side)
    return names


# Reconnoiter.


class Reconnoiter(Action):
    """Which leader looks."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the leader")
    card: str | None = Field(None, description="The card that is played for it, where hands are told")


@ending
def reconnoiter(of: Reconnoiter) -> Procedure:
    """O30: the top card is put back, discarded or taken."""
    side = yield from gives_order("reconnoiter", of.unit, (), of.card)
    kept = (yield from pile_of(side)) is not None
    name: Any = None
    if kept:
        name = yield from top_card(side, "what Reconnoiter shows")
    elif of.cards:
        name = yield Draw(f"the Fate deck of {SIDES[side]}", "what Reconnoiter shows", None, kind="card")
    where = yield Choose(
        "card", side, "what becomes of the top card", options=["top", "discard", "hand"], also=("put",)
    )
    yield Tell(Step("O30", None, where, "the top card of the draw pile"), result=where)
    if where == "top":
        yield from _put_back(side, name, kept)
    else:
        if where == "discard":
            yield from discards_if_kept(side, [name])
        else:
            yield from _taken(side, name)
        if (yield from reveals(side)):
            yield from empties(side)
    after = yield from conditions()
    yield Tell(**({"time": after["time"]} if "time" in after else {}))


def _put_back(side: str, name: str | None, kept: bool) -> Doing:
    if not kept:
        return
    pile = yield from pile_of(side)
    yield Change(
        {"track": f"pile.{side}", "value": [*pile, name]},
        {"track": f"next_card.{side}", "value": name},
        kept=True,
    )


def _taken(side: str, name: Any) -> Doing:
    hand = yield from hand_of(side)
    if isinstance(hand, list):
        yield from holds(side, [*hand, name or "unknown"])
    elif hand is not None:
        yield from holds(side, hand + 1)


# In words.


def _discard_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return not_known("so many cards may be discarded", ruling)
    if not answer["allowed"]:
        return f"No pass: {answer['why']}"
    if "hand" not in answer:
        return f"A pass: up to {answer['limit']} cards may be discarded"
    return clauses(
        "The side passes",
        f"the hand has {counted(answer['hand'], 'card')} left" if answer["hand"] is not None else None,
        f"the other side may play {series(word.replace('_', ' ') for word in answer['opens'])}"
        if answer["opens"]
        else None,
    )


def _draw_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return not_known("how many cards are drawn", ruling)
    if not answer["allowed"]:
        return f"Nothing is drawn: {answer['why']}"
    if "drawn" not in answer:
        return "Cards are drawn"
    return clauses(
        f"{counted(answer['drawn'], 'card')} drawn",
        "the time marker advances" if answer["advanced"] else None,
        "the game is over" if answer.get("over") else None,
    )


def _reconnoiter_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return not_known("the leader may reconnoiter", ruling)
    if not answer["allowed"]:
        return f"No Reconnoiter: {answer['why']}"
    where = {"top": "put back", "discard": "discarded", "hand": "taken into the hand"}
    return f"The top card is {where[answer['result']]}" if "result" in answer else "The top card is looked at"


KINDS = [
    procedure_kind(
        discard,
        kinds=functools.partial(kinds_of, "ccp"),
        name="discard",
        title="A pass, with cards thrown away",
        arguments=Discard,
        rulesets=("ccp",),
        answers={
            "limit": "how many may be discarded; null where the nation of the Allies is not told",
            "hand": "cards left in hand, where that is told",
            "opens": "actions that the other side may now play",
            **ENDS,
        },
        verdict=_discard_verdict,
        example="discard: {side: japan, cards: 2}",
    ),
    procedure_kind(
        draw,
        kinds=functools.partial(kinds_of, "ccp"),
        name="draw",
        title="Hand refill",
        arguments=DrawUp,
        rulesets=("ccp",),
        answers={
            "drawn": "how many cards are drawn",
            "hand": "cards in hand afterwards",
            "advanced": "whether the time marker advanced",
            "time": "the time marker's space afterwards",
            **ENDS,
        },
        verdict=_draw_verdict,
        points=TIME_POINTS,
        example="draw: {side: allied}",
    ),
    procedure_kind(
        reconnoiter,
        kinds=functools.partial(kinds_of, "ccp"),
        name="reconnoiter",
        title="Reconnoiter",
        arguments=Reconnoiter,
        rulesets=("ccp",),
        answers={
            "result": "what becomes of the top card: top, discard or hand",
            "time": "the time marker's space afterwards",
            **ENDS,
        },
        verdict=_reconnoiter_verdict,
        points=TIME_POINTS,
        example="reconnoiter: {unit: Leader, choices: {card: hand}}",
    ),
]
