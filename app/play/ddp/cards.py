"""Cards (2.3): drawn for one purpose, of which only that section is read.

    card = yield from cards.fire("the barrage")
    card = yield from cards.close_combat("us")

At the table the card is typed in, a few words of one section; where the deck is known (the chart `cards`, filled
in by an owner or a house) its number is enough, and in a game the server draws it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from app.play.procedures import Ask, Change, Draw, Tell, Want
from app.referee.rulings import Need, RulingError, Step
from db.values import canonical

COLORS = ("blue", "brown", "green", "orange", "purple", "red")
SYMBOLS = ("circle", "diamond", "triangle")
LETTERS = ("M", "R", "P", "A", "I")
NONE = ("", "-", "none", None)
CC_EVENTS = (
    "conscripts_surrender", "heroism", "naval_artillery_blast", "reinforce", "us_fire_on_counterattack",
    "us_withdrawal_hit",
)  # fmt: skip
"""8.7: what a card may do in close combat."""
EVENTS = (
    "black_angels", "japanese_infiltration", "counterattack", "heat_exhaustion", "hero", "hidden_caves",
    "mandatory_attacks", "lost", "war_dogs", "minefield", "observation_plane", "fortification",
    "rupertus_relieved", "scattered_platoon", "smoke", "suicide_attack", "flamethrower", "unexpected_naval_fire",
    "cp_under_fire", "patrol_report", "depth", "reinforcement", "naval_fire", "dauntless", "remove_disruption",
    "tank_action", "none",
)  # fmt: skip
"""Events by name, those told in the descriptions first."""
SECTIONS = ("fire", "landing", "event", "close_combat")
DECK_UNKNOWN = Need("cards", "2.3")
KNOWN = (
    "select position.tracks -> 'deck' as deck, cast(:conditions as jsonb) as conditions,"
    # a house deck is that of a game, which has its cards on a track
    " case when position.tracks ? 'deck' then '{}' else array(select distinct cell.row_key from chart_cell as cell"
    " where cell.ruleset = 'ddp' and cell.chart = 'cards' and cell.source = 'owner') end as printed"
    " from position where position.id = :position"
)
PRINTED = (
    "select coalesce(jsonb_object_agg(cell.column_key, cell.value), '{}') as faces"
    " from chart_cell as cell where cell.ruleset = 'ddp' and cell.chart = 'cards' and cell.row_key = :card"
    " and cell.value is not null"
)
EVENTS_OF = (
    "select cell.row_key, jsonb_object_agg(cell.column_key, cell.value) as facts"
    " from chart_cell as cell where cell.ruleset = 'ddp' and cell.chart = 'card_events' and cell.value is not null"
    " and cell.row_key in (select one.row_key from chart_cell as one where one.ruleset = 'ddp'"
    " and one.chart = 'card_events' and one.column_key = 'card' and one.value = :card)"
    " group by cell.row_key order by cell.row_key"
)


class CardError(RulingError):
    """A card that no deck has."""


@dataclasses.dataclass(frozen=True)
class Color:
    """A position colour on a card, with what stands in it (6.1)."""

    name: str
    star: bool = False
    armor: bool = False
    letter: str | None = None

    def __str__(self) -> str:
        marks = [self.name, *(["star"] if self.star else []), *(["armor"] if self.armor else [])]
        return " ".join([*marks, *([self.letter] if self.letter else [])])


@dataclasses.dataclass(frozen=True)
class Card:
    """What was drawn, as far as it is told."""

    number: int | None = None
    colors: tuple[Color, ...] = ()
    symbol: str | None = None
    artillery: int | None = None
    cc: str | None = None
    landing_color: str | None = None
    drift: str | None = None
    event: str | None = None
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """What else an event says: count, depth, colors, positions."""

    def color(self, name: str | None) -> Color | None:
        """A colour on the card, with what stands in it; None where it is not there."""
        return next((one for one in self.colors if one.name == name), None)

    def shows(self, name: str | None) -> bool:
        return self.color(name) is not None


# Reading.


def read_card(value: Any, section: str) -> Card:
    """One section of a card as somebody typed it; a ValueError says what is wrong with it."""
    if isinstance(value, str):
        value = _typed(value, section)
    if not isinstance(value, Mapping):
        raise ValueError(f"a card is its {section} section, as a mapping or in a few words, or its number")
    said = dict(value)
    inner = said.get(section) if section != "event" else None
    if isinstance(inner, Mapping):
        said = {**said, **inner}
    return READERS[section](said)


def _typed(words: str, section: str) -> dict[str, Any]:
    """A section in a few words: `orange R, blue star, brown armor, diamond, 7`; `blue circle left`; `hero depth`."""
    said: dict[str, Any] = {}
    colors: list[str] = []
    for word in re.findall(r"[A-Za-z_]+|\d+", words.replace("★", " star ")):
        if section == "event" and "event" not in said:
            said["event"] = word
        elif word in COLORS:
            colors.append(word)
        elif colors and word in ("star", "armor", *LETTERS):
            colors[-1] += f" {word}"
        elif word in SYMBOLS:
            said["symbol"] = word
        elif word in ("left", "right"):
            said["drift"] = word
        elif section == "event" and word == "depth":
            said["depth"] = True
        elif word.isdigit():
            said["count" if section == "event" else "artillery"] = int(word)
        elif section == "close_combat":
            said["cc"] = word
        else:
            raise ValueError(f"{word} is no word of a {section.replace('_', ' ')} section")
    if section == "landing":
        return {"color": colors[0] if len(colors) == 1 else None, **said}
    return {**said, **({"colors": colors} if colors else {})}


def _fire(said: Mapping[str, Any]) -> Card:
    if not said.get("colors"):
        raise ValueError("a fire card has colors, such as [orange R, blue star, brown armor]")
    return _symbol_alone(said)


def _symbol_alone(said: Mapping[str, Any]) -> Card:
    """A fire card of which no color is read."""
    return Card(
        _number(said.get("card")),
        _colors(said.get("colors") or ()),
        _symbol(said.get("symbol")),
        _whole(said.get("artillery")),
    )


def _close_combat(said: Mapping[str, Any]) -> Card:
    cc = said.get("cc")
    if cc not in NONE and cc not in CC_EVENTS:
        raise ValueError(f"{canonical(cc)} is no close combat event; there is {', '.join(CC_EVENTS)}")
    colors = _colors(said.get("colors") or ())
    return Card(_number(said.get("card")), colors, _symbol(said.get("symbol")), cc=None if cc in NONE else cc)


def _landing(said: Mapping[str, Any]) -> Card:
    color, drift = said.get("color", said.get("landing_color")), said.get("drift")
    if color not in COLORS:
        raise ValueError(f"a landing card has a color, one of {', '.join(COLORS)}")
    if drift not in (*NONE, "left", "right"):
        raise ValueError("drift is left or right")
    symbol = _symbol(said.get("symbol", said.get("landing_symbol")))
    if symbol is None:
        raise ValueError(f"a landing card has a symbol, one of {', '.join(SYMBOLS)}")
    return Card(
        _number(said.get("card")), symbol=symbol, landing_color=color, drift=None if drift in NONE else drift
    )


def _event(said: Mapping[str, Any]) -> Card:
    event = said.get("event")
    if event not in EVENTS:
        raise ValueError(f"{canonical(event)} is no event; there is {', '.join(EVENTS)}")
    details = {
        key: value
        for key, value in said.items()
        if key not in ("event", "symbol", "card") and value not in NONE
    }
    return Card(_number(said.get("card")), symbol=_symbol(said.get("symbol")), event=event, details=details)


READERS = {
    "fire": _fire, "symbol": _symbol_alone, "landing": _landing, "event": _event, "close_combat": _close_combat,
}  # fmt: skip


def _colors(told: Any) -> tuple[Color, ...]:
    listed = [told] if isinstance(told, str) else list(told)
    return tuple(_color(one) for one in listed)


def _color(told: Any) -> Color:
    if isinstance(told, Mapping):
        told = " ".join(str(one) for pair in told.items() for one in pair)
    words = re.findall(r"[A-Za-z]+", str(told).replace("★", " star "))
    if not words or words[0] not in COLORS:
        raise ValueError(f"{canonical(told)} does not begin with a color: {', '.join(COLORS)}")
    letters = [word for word in words[1:] if word in LETTERS]
    others = [word for word in words[1:] if word not in (*LETTERS, "star", "armor")]
    if others or len(letters) > 1:
        raise ValueError(f"{canonical(told)}: a color has star, armor or one of {', '.join(LETTERS)}")
    return Color(words[0], "star" in words, "armor" in words, letters[0] if letters else None)


def _symbol(told: Any) -> str | None:
    if told in NONE:
        return None
    if told not in SYMBOLS:
        raise ValueError(f"{canonical(told)} is no target symbol; there is {', '.join(SYMBOLS)}")
    return str(told)


def _number(told: Any) -> int | None:
    return None if told in NONE else _whole(told)


def _whole(told: Any) -> int | None:
    if told in NONE:
        return None
    if isinstance(told, bool) or not re.fullmatch(r"\d{1,3}", str(told)):
        raise ValueError(f"{canonical(told)} is no number")
    return int(str(told))


# Drawing.


def moment() -> Generator[Want, Any, dict[str, Any]]:
    """The conditions in force, looked up with the deck of which a card is drawn next."""
    [known] = yield Ask(KNOWN, proves=False)
    return dict(known.conditions or {})


@dataclasses.dataclass(frozen=True)
class CardDraw(Draw):
    """A card off the deck: typed by the section, or by its number where the deck is known."""

    kind: str = "card"
    counted: bool = True
    section: str = ""
    """What is read of it: its source, or the symbol alone."""

    def mistake(self, value: Any) -> str | None:
        number = card_number(value)
        if number is not None:
            if self.pool is not None and number not in self.pool:
                return f"card {number} is not in the deck"
            return None
        try:
            read_card(value, self.section or self.source)
        except ValueError as error:
            return f"the {self.source.replace('_', ' ')} card for {self.purpose}: {error}"
        return None


def card_number(value: Any) -> int | None:
    """The number that a card was told by, where nothing else of it was."""
    if isinstance(value, Mapping):
        value = value["card"] if set(value) == {"card"} else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


Drawing = Generator[Want, Any, Card]


def fire(purpose: str) -> Drawing:
    """A card for its fire section: Japanese fire, infiltration, barrages, events that want one."""
    return (yield from draw("fire", purpose))


def symbol(purpose: str) -> Drawing:
    """A fire card of which its symbol, or its artillery value, is read and no color need be told."""
    return (yield from draw("fire", purpose, "symbol"))


def landing(purpose: str) -> Drawing:
    return (yield from draw("landing", purpose))


def event(purpose: str) -> Drawing:
    return (yield from draw("event", purpose))


def close_combat(purpose: str) -> Drawing:
    return (yield from draw("close_combat", purpose))


def draw(section: str, purpose: str, read: str | None = None) -> Drawing:
    """One card, of which a section or only a part of it is read; what the deck of a game has lost by it is kept."""
    [known] = yield Ask(KNOWN, proves=False)
    deck = yield from _filled(known.deck)
    pool = deck["draw"] if deck else [int(card) for card in sorted(known.printed, key=int)] or None
    value = yield CardDraw(
        section, purpose, pool, lacks=None if pool else DECK_UNKNOWN, section=read or section
    )
    number = card_number(value)
    if deck and number is not None:
        yield from _taken(deck, number, shown=section in ("fire", "event"))
    return (
        read_card(value, read or section)
        if number is None
        else (yield from _printed(number, section, known.conditions))
    )


def unseen(count: int) -> Generator[Want, Any, None]:
    """8.6: cards that leave a pile without being turned up; only a game's deck knows which they are."""
    for _ in range(count):
        [known] = yield Ask(KNOWN, proves=False)
        deck = yield from _filled(known.deck)
        if not deck:
            return
        yield from _taken(
            deck, (yield Draw("deck", "a card that nobody turns up", deck["draw"])), shown=False
        )


def _filled(deck: dict[str, list[int]] | None) -> Generator[Want, Any, dict[str, list[int]] | None]:
    """4.0: a deck that has run out is made of its discards at once."""
    if not deck:
        return None
    left, gone = list(deck.get("draw", ())), list(deck.get("discard", ()))
    if not left:
        yield Tell(Step("4.0", None, "reshuffles", "the deck has run out: the discards are the deck again"))
        left, gone = gone, []
    shown = list(deck.get("shown", ()))
    if not left:
        # every card is on the Card Track
        left, shown = shown, []
    return {"draw": left, "discard": gone, "shown": shown}


def _taken(deck: Mapping[str, Sequence[int]], number: int, *, shown: bool) -> Generator[Want, Any, None]:
    """A card off the deck: on the Card Track till the end of the turn, or discarded at once."""
    where = "shown" if shown else "discard"
    now = {**deck, "draw": [card for card in deck["draw"] if card != number], where: [*deck[where], number]}
    yield Change({"track": "deck", "value": {pile: cards for pile, cards in now.items() if cards}}, kept=True)


def _printed(number: int, section: str, conditions: Mapping[str, Any]) -> Drawing:
    """A section of a card of the deck, as the chart `cards` has it."""
    [row] = yield Ask(PRINTED, proves=False, card=str(number))
    faces = {key: value for key, value in row.faces.items() if value not in NONE}
    if not faces:
        raise CardError(
            f"Card {number} is not in the chart of cards.",
            "Type the section that is read, or fill the chart `cards`.",
        )
    if section == "event":
        return (yield from _printed_event(number, faces, conditions))
    colors = [
        f"{faces[f'color_{n}']} {faces.get(f'mark_{n}', '')}" for n in (1, 2, 3) if f"color_{n}" in faces
    ]
    try:
        return read_card(
            {"card": number, "colors": colors, **faces, **_landing_face(faces, section)}, section
        )
    except ValueError as error:
        raise CardError(f"Card {number} of the chart cannot be read: {error}.") from error


def _landing_face(faces: Mapping[str, str], section: str) -> dict[str, Any]:
    if section != "landing":
        return {}
    return {"color": faces.get("landing_color"), "symbol": faces.get("landing_symbol")}


def _printed_event(number: int, faces: Mapping[str, str], conditions: Mapping[str, Any]) -> Drawing:
    """The event of a card for this turn, as the chart `card_events` has it."""
    rows = yield Ask(EVENTS_OF, proves=False, card=str(number))
    held = next((row.facts for row in rows if _holds(row.facts.get("when", ""), conditions)), None)
    said: dict[str, Any] = {"event": "none"} if held is None else {**held}
    for key in ("card", "when"):
        said.pop(key, None)
    if "colors" in said:
        said["colors"] = said["colors"].split()
    if "positions" in said:
        said["positions"] = dict(pair.split("=", 1) for pair in said["positions"].split())
    if "count" in said:
        said["count"] = _whole(said["count"])
    if "depth" in said:
        said["depth"] = said["depth"] == "true"
    return read_card({"card": number, "symbol": faces.get("symbol"), **said}, "event")


def _holds(when: str, conditions: Mapping[str, Any]) -> bool:
    """Whether an event is that of this turn: `2-12`, `14-21`, `bnr`."""
    if conditions.get("scenario") == "bloody_nose_ridge":
        return when == "bnr"
    first, _, last = when.partition("-")
    turn = conditions.get("turn")
    return turn is not None and first.isdigit() and int(first) <= turn <= int(last or first)


def listed(colors: Iterable[Color]) -> list[str]:
    """Colours as a card is typed."""
    return [str(color) for color in colors]
