"""Barrages (8.4, 8.52): a tank, artillery or a marker against one hex, by a fire card and the US Barrage Table."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from app.play.ddp import cards
from app.play.ddp.acting import Doing, counter, declare, finish, is_ridge, scene
from app.play.ddp.attack import spend_marker, strip
from app.play.ddp.close_combat import remove_japanese
from app.play.ddp.fortification import marker_at, reduce, replace, reveal
from app.play.ddp.placing import Blind
from app.play.procedures import (
    Action,
    AnswerError,
    Ask,
    Change,
    Procedure,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, in_words, needs_in_words
from importers.questions import Names

LEDGER = "select * from ddp.barrage(:position, :unit, :marker, :at, :conditions, :policy)"
RESULT = "select * from ddp.barrage_result(:match, :strength, :shift)"
MARKERS = ("naval_fire", "dauntless")
SYMBOLS = {"dauntless": ("diamond",), "naval_fire": ("circle", "triangle")}
"""8.52: what a marker counts as."""


class Barrage(Action):
    """Who barrages which hex: a unit, or a marker."""

    one_of = ("by", "marker")
    which = "who barrages? Give one unit or one marker"
    by: str | None = Field(None, description="The id of a tank or artillery unit; or naval_fire or dauntless")
    marker: Literal["naval_fire", "dauntless"] | None = Field(
        None, description="A marker instead of a unit: naval_fire or dauntless"
    )
    at: Annotated[str, Names(("hex", "unit"))] = Field(
        description="The hex that is barraged, or the unit in it"
    )

    @field_validator("by", mode="before")
    @classmethod
    def one_unit(cls, by: Any) -> Any:
        return by[0] if isinstance(by, list) and len(by) == 1 else by

    @property
    def of_marker(self) -> str | None:
        """The marker, by whichever word it was named."""
        return self.marker or (self.by if self.by in MARKERS else None)

    @property
    def unit(self) -> str | None:
        return None if self.of_marker else self.by


def barrage(of: Barrage) -> Procedure:
    """8.4: eligibility, one fire card, and the table."""
    rows = yield Ask(LEDGER, unit=of.unit, marker=of.of_marker, at=of.at)
    facts = rows[-1].facts
    if not facts["allowed"]:
        bar = next(row for row in rows if row.effect == "forbids")
        raise Refused(bar.rule, rows[-1].note, bar.at)
    cost = {"actions": 0}
    if of.unit is not None:
        cost = yield from declare([of.unit])
    else:
        yield Tell(Step("8.53", facts["at"], "free", "a marker's barrage is a free action"))
    modifiers = [
        {"rule": row.rule, "value": row.halves // 2, "note": row.note}
        for row in rows
        if row.halves is not None
    ]
    yield Tell(strength=facts["strength"], shift=facts["shift"], modifiers=modifiers)
    color = facts["color"] or (yield from _cave_color(facts))
    card = yield from cards.fire(f"the barrage of {facts['at']}")
    match = yield from _match(of, card, color)
    yield Tell(match=match)
    result = yield from _result(of, match, facts)
    yield Tell(result=result[0] if len(result) == 1 else result)
    for word in result:
        yield from _apply(word, facts)
    yield from _spend(of, facts)
    if of.unit is not None:
        yield from finish([of.unit], cost["actions"])


def _cave_color(facts: dict[str, Any]) -> Doing:
    """A cave has the colour of a counterattack marker that is drawn for it the first time."""
    if not facts["cave"]:
        return None
    drawn = yield Blind("counterattack", f"the colour of the cave in {facts['at']}")
    yield Change({"unit": facts["enemy"], "color": drawn.get("color")})
    return drawn.get("color")


def _match(of: Barrage, card: cards.Card, color: str | None) -> Doing:
    """What the card shows: the position's colour, the symbol of who fires, both or neither."""
    symbols: tuple[str | None, ...] = SYMBOLS.get(of.of_marker or "", ())
    if of.unit is not None:
        unit = yield from counter(of.unit)
        symbols = (unit.attributes.get("symbol"),)
    by_color, by_symbol = card.shows(color), card.symbol is not None and card.symbol in symbols
    return {(True, True): "both", (True, False): "color", (False, True): "symbol"}.get(
        (by_color, by_symbol), "none"
    )


def _result(of: Barrage, match: str, facts: dict[str, Any]) -> Doing:
    """The cell of the US Barrage Table, or what was read there."""
    strength, told = facts["strength"], of.read.get("us_barrage_table")
    value = None
    if strength is not None:
        [row] = yield Ask(RESULT, proves=False, match=match, strength=strength, shift=facts["shift"])
        value = row.value
    if value is not None and told is not None and told != value:
        raise AnswerError(
            f"The US Barrage Table has {value} there, not {told}.", "Leave it out of what is read."
        )
    value = value if value is not None else told
    if value is None:
        yield Tell(result=None)
        raise Undecided(Need("us_barrage_table", "8.4"), match=match, result=None)
    words = value.replace(",", " ").split() if isinstance(value, str) else list(value)
    yield Tell(Step("8.4", facts["at"], in_words(words), f"the US Barrage Table, {match}"))
    return words


def _apply(word: str, facts: dict[str, Any]) -> Doing:
    """A result of the table, of which the names are its words."""
    at, enemy = facts["at"], facts["enemy"]
    match word:
        case "disrupted":
            yield from _disrupt(at, enemy)
        case "depth_eliminated":
            yield from _strip(at, enemy)
        case "unit_eliminated" if enemy is not None:
            yield from remove_japanese(enemy, "8.4", "eliminated by a barrage")
        case "artillery_destroyed" if facts["guns"]:
            yield Change({"marker": "artillery_destroyed", "at": at})
            yield Tell(Step("6.51", at, "destroyed", "the guns of the position"))
        case "fortification_may_be_reduced" if facts["fortified"]:
            marker = yield from marker_at(at)
            if marker.attributes.get("revealed"):
                yield from reduce(at)
            else:
                yield from reveal(marker)


def _disrupt(at: str, enemy: str | None) -> Doing:
    """A unit, or a fortification that nobody holds (19.4)."""
    if enemy is None:
        marker = yield from marker_at(at)
        if marker.attributes is not None:
            yield from replace(at, marker.attributes | {"disrupted": True})
        return
    unit = yield from counter(enemy)
    if not unit.attributes.get("disrupted"):
        yield Change({"unit": enemy, "disrupted": True})
        yield Tell(Step("8.4", at, "disrupted", f"{enemy}: a result of the barrage"))


def _strip(at: str, enemy: str | None) -> Doing:
    if enemy is not None:
        yield from strip(enemy, "8.4")
        return
    marker = yield from marker_at(at)
    if marker.attributes is not None and "depth" in marker.attributes:
        yield from replace(at, {key: value for key, value in marker.attributes.items() if key != "depth"})


def _spend(of: Barrage, facts: dict[str, Any]) -> Doing:
    """The hex was barraged in this phase (8.43); a marker is gone, but not the bonus of a morning (18.22)."""
    now = yield from scene()
    yield Change({"conditions": {"barraged": [*now.conditions.get("barraged", []), facts["at"]]}}, kept=True)
    if of.of_marker is not None and not (is_ridge(now.conditions) and facts["morning"]):
        yield from spend_marker(of.of_marker)


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["barrage"], ruling.answer
    what = f"The barrage of {of['at']} by {of.get('by') or of['marker'].replace('_', ' ')}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    if answer.get("result") is None:
        waits = "it waits for a card" if "pending" in answer else None
        return clauses(f"{what} is allowed", waits, needs_in_words(ruling.needs) if ruling.needs else None)
    return f"{what}: {in_words(answer['result']).replace('_', ' ')}"


KINDS = [
    procedure_kind(
        barrage,
        kinds=functools.partial(kinds_of, "ddp"),
        name="barrage",
        title="Barrage",
        arguments=Barrage,
        rulesets=("ddp",),
        answers={
            "actions": "how many of the two actions of the turn it takes",
            "free": "who acts for free",
            "strength": "strength of the unit or marker",
            "shift": "columns by which terrain moves it",
            "match": "what the card shows: none, color, symbol or both",
            "result": "what the table says; null where nobody has told the cell",
            "blocked": "sides that a fortification blocks now",
            "replaced": "whether a smaller fortification marker took its place",
            "turned": "sixths of a turn clockwise that the new marker was turned",
        },
        verdict=_verdict,
        points=("ddp-3", "ddp-31", "ddp-33"),
        example='barrage: {by: T1, at: "0216"}',
    )
]
