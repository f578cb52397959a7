"""The roll: two dice off the roller's Fate deck, with all that may come of the card: 1.3, 1.9, 10.1, 13.1.2.

Every roll of the game goes through `rolled`: the card is revealed; the holder of the Initiative may have it
rolled again; an emptied pile advances the time; the trigger is done in full; then the result counts. What a
trigger does is in `triggers.py`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal

from pydantic import Field

from app.play.ccp.table import (
    SIDES,
    Doing,
    GameOver,
    conditions,
    ending,
    keep_of,
    now,
    other,
    reading,
    takes_initiative,
)
from app.play.procedures import (
    Action,
    Ask,
    Call,
    Choose,
    Draw,
    Given,
    Procedure,
    Roll,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses
from db.values import canonical

TRIGGERS = ("event", "sniper", "disperse", "time")
MORE = ("dice", "trigger", "cards", "rolls", "draws", "choices", "reroll")
"""What a roll may say that is more than its dice."""
TWO_DICE = "two_dice"


@dataclasses.dataclass(frozen=True)
class Rolled:
    """Two dice as they count in the end."""

    white: int
    coloured: int

    @property
    def dice(self) -> list[int]:
        return [self.white, self.coloured]

    @property
    def sum(self) -> int:
        return self.white + self.coloured

    @property
    def product(self) -> int:
        """For Targeting, and the Fire Attack of a Sogeki Hei (1.9)."""
        return self.white * self.coloured

    @property
    def doubles(self) -> bool:
        return self.white == self.coloured


@dataclasses.dataclass(frozen=True)
class Chances:
    """The query for the odds of a roll (rows of `ccp.chance`), and other words for its results."""

    ask: Ask
    words: tuple[tuple[str, str], ...] = ()

    def told(self, rows: Sequence[Any], basis: str) -> dict[str, Any]:
        """Each result with its chance; of several units each with its own."""
        words, units = dict(self.words), list(dict.fromkeys(row.unit for row in rows))
        fates: dict[str | None, dict[str, str]] = {}
        for row in rows:
            chance = Fraction(int(row.ways), int(row.of_all))
            fate = fates.setdefault(row.unit, {})
            fate[words.get(row.result, row.result)] = f"{chance.numerator}/{chance.denominator}"
        if not fates:
            return {"odds": None, "basis": "give the rolls: what they are made with is not told"}
        return {"odds": fates if len(units) > 1 else fates[units[0]], "basis": basis}


@dataclasses.dataclass(frozen=True)
class FateRoll(Roll):
    """Dice off the top card: `[white, coloured]`, or a mapping with trigger and re-roll."""

    dice: str = "2d6"
    purpose: str = ""
    known: Chances | None = None
    """How its odds are found; None: the falls are tried."""
    basis: ClassVar[str | None] = TWO_DICE

    @property
    def odds_query(self) -> Ask | None:  # type: ignore[override]
        return None if self.known is None else self.known.ask

    def found_odds(self, rows: Sequence[Any]) -> dict[str, Any]:
        assert self.known is not None
        return self.known.told(rows, TWO_DICE)

    def mistake(self, value: Any) -> str | None:
        if isinstance(value, list):
            return super().mistake(value)
        if not isinstance(value, dict) or "dice" not in value:
            return f"a roll for {self.purpose} is [white, coloured] or {{dice: [white, coloured], …}}, not {canonical(value)}"
        if unknown := [key for key in value if key not in MORE]:
            return f"a roll has no {unknown[0]!r}; it has {', '.join(MORE)}"
        if value.get("trigger") not in (None, *TRIGGERS):
            return f"{canonical(value['trigger'])} is no trigger; there are {', '.join(TRIGGERS)}"
        if "reroll" in value and (wrong := self.mistake(value["reroll"])) is not None:
            return wrong
        return super().mistake(value["dice"])


@dataclasses.dataclass(frozen=True)
class FateCard(Draw):
    """The top card of a pile that a game keeps, for its dice: odds are over the cards left."""

    known: Chances | None = None

    @property
    def odds_query(self) -> Ask | None:  # type: ignore[override]
        return None if self.known is None else self.known.ask

    def found_odds(self, rows: Sequence[Any]) -> dict[str, Any]:
        assert self.known is not None
        return self.known.told(rows, "deck")


def rolled(side: str, purpose: str, triggers: bool = True, chances: Chances | None = None) -> Doing:
    """A roll of a side with all that comes of it before its result: gives the `Rolled` that counts.

    Within a trigger `triggers` is false: the dice cannot bring another (1.9.1.2).
    """
    item = yield from _fallen(side, purpose, chances)
    while "reroll" in item or (yield from _is_cancelled(side, item)):
        yield from _cancel(side, triggers)
        item = _read(item["reroll"]) if "reroll" in item else (yield from _fallen(side, purpose, chances))
    emptied = yield from reveals(side)
    trigger = item.get("trigger")
    if trigger is not None and not triggers:
        yield Tell(Step("1.9.1.2", None, "void", f"no {trigger} within a trigger"))
        trigger = None
    if emptied and trigger != "time":
        yield from empties(side, triggers)
    elif emptied:
        yield Tell(Step("13.1.2", None, "once", "the last card shows Time: one advance, not two"))
    if trigger is not None:
        yield from _triggered(trigger, side, item)
    return Rolled(*item["dice"])


def sum_chances(side: str, below: int | None = None) -> Chances:
    """The odds of each sum; or whether it is below a number."""
    return Chances(
        Ask("select * from ccp.sum_odds(:position, :side, :below)", proves=False, side=side, below=below)
    )


def _read(value: Any) -> dict[str, Any]:
    return {"dice": value} if isinstance(value, list) else dict(value)


def _fallen(side: str, purpose: str, chances: Chances | None) -> Doing:
    """The card that comes up: dice, trigger, and what was told with them; off a pile that is kept, where one is."""
    from app.play.ccp.cards import fallen_card

    card = yield from fallen_card(side, purpose, chances)
    return card if card is not None else _read((yield FateRoll(purpose=purpose, known=chances)))


def _is_cancelled(side: str, item: dict[str, Any]) -> Doing:
    """10.1: where dice are typed, a re-roll is typed with them; off a kept pile the holder of the Initiative is asked."""
    told = yield from conditions()
    holder = told.get("initiative")
    if "card" not in item or holder is None or told.get("rerolls") == "unasked":
        return False
    asked = yield Call(_asked_again(holder, side, item), Given())
    return asked["again"]


def _asked_again(holder: str, side: str, item: dict[str, Any]) -> Procedure:
    trigger = f", {item['trigger']}" if "trigger" in item else ""
    shown = f"{item['dice'][0]} and {item['dice'][1]}{trigger}"
    again = yield Choose(
        "reroll", holder, f"whether {SIDES[side]} roll again: {shown}", options=[False, True], default=False
    )
    yield Tell(again=again)


def _cancel(side: str, triggers: bool) -> Doing:
    """10.1: all effects of the roll are void, and the Initiative passes."""
    holder = (yield from conditions()).get("initiative")
    if holder is None:
        yield Tell(Step("10.1", None, "rolled again", "who holds the Initiative is not told"))
    else:
        yield Tell(
            Step("10.1", None, "rolled again", f"{SIDES[holder]} call for it and hand the Initiative over")
        )
        yield from takes_initiative(other(holder))
    if (yield from reveals(side)):
        if (yield from reading("ccp-40")) == "a":
            yield from empties(side, triggers)
        else:
            yield Tell(Step("10.1", None, "shuffled", "the roll is void, the pile is shuffled anew"))
            yield from shuffles(side)


def reveals(side: str) -> Doing:
    """A card leaves the pile of a side: whether it was the last. Piles are counted where they are told (1.3)."""
    kept = ((yield from now()).tracks.get("pile") or {}).get(side)
    if kept is not None:
        return not kept
    left = ((yield from conditions()).get("deck") or {}).get(side)
    if left is None:
        return False
    yield from keep_of("deck", side, max(left - 1, 0))
    return left <= 1


def empties(side: str, triggers: bool = True) -> Doing:
    """13.1.2: an emptied pile counts as a Time trigger; within a trigger that is contested (ccp-31)."""
    if not triggers and (yield from reading("ccp-31")) == "b":
        yield Tell(
            Step("1.9.1.2", None, "shuffled", "within a trigger the pile is shuffled without an advance")
        )
        yield from shuffles(side)
        return
    yield Tell(Step("13.1.2", None, "time", f"the draw pile of {SIDES[side]} is empty"))
    yield from _triggered("time", side, {})


def shuffles(side: str) -> Doing:
    """1.4: all cards that the side does not hold are its draw pile again; their number is known with its hand."""
    from app.play.ccp.cards import shuffled

    if (yield from shuffled(side)):
        return
    told = yield from conditions()
    if (told.get("deck") or {}).get(side) is None:
        return
    hand = (told.get("hand") or {}).get(side)
    held = len(hand) if isinstance(hand, list) else hand
    yield from keep_of("deck", side, None if held is None else DECK - held)


def revealed(side: str, purpose: str) -> Doing:
    """A card turned up that is no roll, outside a trigger: what it shows (1.3, O24.3.2)."""
    from app.play.ccp.cards import revealed as shown

    return (yield from shown(side, purpose, within=False))


DECK = 72
"""Cards of a Fate deck (1)."""


def _triggered(trigger: str, side: str, item: dict[str, Any]) -> Doing:
    """1.9.1: play pauses; what the card was told with is for its trigger."""
    from app.play.ccp.triggers import triggered

    yield Tell(Step("1.9.1", None, trigger, f"a trigger of {SIDES[side]}, before the roll counts"))
    brought = Given(item.get("rolls", ()), item.get("draws", ()), item.get("cards", ()), item.get("choices"))
    inner = yield Call(_guarded(triggered(trigger, side)), brought)
    if "ended" in inner:
        raise GameOver(*inner["ended"])


def _guarded(procedure: Procedure) -> Procedure:
    """A part of a procedure in which the game may end: that is told outward."""
    try:
        yield from procedure
    except GameOver as ended:
        yield Tell(ended=[ended.winner, ended.end])


# The roll alone, as a procedure.


class OneRoll(Action):
    """Whose roll, and how many cards are in his pile."""

    side: Literal["japan", "allied"] = Field(description="The side that rolls")
    deck: int | None = Field(
        None, ge=1, le=DECK, description="Cards in its draw pile, the one revealed included"
    )


@ending
def roll(of: OneRoll) -> Procedure:
    """A roll with all that comes of it: what is first, what then, and the dice that count."""
    if of.deck is not None:
        yield from keep_of("deck", of.side, of.deck)
    before = yield from now()
    left = (before.conditions.get("deck") or {}).get(of.side)
    shown = _shown(of)
    order = _order(shown.get("trigger"), left == 1 + _rerolls(of))
    yield Tell(**order)
    try:
        fallen = yield from rolled(of.side, "the roll", chances=sum_chances(of.side))
    except GameOver:
        yield from _tell_tracks()
        raise
    yield Tell(
        dice=fallen.dice,
        sum=fallen.sum,
        product=fallen.product,
        doubles=fallen.doubles,
        result=str(fallen.sum),
    )
    yield from _tell_tracks()


def _tell_tracks() -> Doing:
    """Initiative and time afterwards, as far as they are told."""
    after = yield from conditions()
    yield Tell(**{key: after[key] for key in ("initiative", "time") if key in after})


def _shown(of: OneRoll) -> dict[str, Any]:
    """The roll that counts of those told."""
    item = _read(of.rolls[0]) if of.rolls and isinstance(of.rolls[0], list | dict) else {}
    while isinstance(item.get("reroll"), list | dict):
        item = _read(item["reroll"])
    return item


def _rerolls(of: OneRoll) -> int:
    item = _read(of.rolls[0]) if of.rolls and isinstance(of.rolls[0], list | dict) else {}
    number = 0
    while isinstance(item.get("reroll"), list | dict):
        item, number = _read(item["reroll"]), number + 1
    return number


def _order(trigger: str | None, last: bool) -> dict[str, Any]:
    """What comes first and what then, before the result (1.9.1.1, 13.1.2)."""
    parts = ["time_advance"] if last or trigger == "time" else []
    if trigger not in (None, "time"):
        parts.append(str(trigger))
    return dict(zip(("first", "then"), [*parts, None, None], strict=False))


def _roll_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if "sum" not in answer:
        return "The roll is still to be made"
    return clauses(
        f"The roll is {answer['sum']} ({answer['dice'][0]} and {answer['dice'][1]}, multiplied {answer['product']})",
        f"first comes {answer['first'].replace('_', ' ')}" if answer["first"] else None,
        "the game is over" if answer["over"] else None,
    )


ENDS = {
    "over": "whether the game has ended by it",
    "winner": "if so, who has won",
    "end": "by what: surrender, elimination, exit, sudden_death",
    "vp": "the Victory Track afterwards, where it was told: plus is the Allied side",
}
"""Answers of every procedure that may end the game."""

KINDS = [
    procedure_kind(
        roll,
        kinds=functools.partial(kinds_of, "ccp"),
        name="roll",
        title="Roll",
        arguments=OneRoll,
        rulesets=("ccp",),
        answers={
            "sum": "the two dice added",
            "product": "the two dice multiplied",
            "doubles": "whether both show the same",
            "dice": "white and coloured die, as they count",
            "first": "what is done before the result: time_advance, event, sniper, disperse, or null",
            "then": "what is done after that, or null",
            "initiative": "who holds the Initiative afterwards",
            "time": "the time marker's space afterwards",
            "result": "the sum, as a word",
            **ENDS,
        },
        verdict=_roll_verdict,
        points=("ccp-31", "ccp-40"),
        example="roll: {side: japan, rolls: [[3, 4]]}",
        acts=False,
    )
]
