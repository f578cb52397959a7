"""Counters of D-Day at Peleliu: what its units, markers, tracks and conditions may say."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from db.counter_forms import Direction, Form, Hidden, Label, MarkerKind, Name, Unit, Whole, plain_markers

Color = Literal["blue", "brown", "green", "orange", "purple", "red"]
Symbol = Literal["circle", "diamond", "triangle", "star"]
Letter = Literal["M", "R", "P", "A", "I"]


FOREIGN: dict[str, frozenset[str]] = {
    "japan": frozenset({
        "kind", "steps", "symbol", "range", "weapons", "hero", "inspired", "command_range", "range_box",
        "under_fire", "range_before", "box", "drifted", "arrives", "beach", "started", "acted", "moved", "stepped", "fresh",
        "action_under_fire",
    }),
    "us": frozenset({
        "requires", "elite", "tank", "color", "revealed", "depth", "counterattack", "cave",
    }),
}  # fmt: skip
"""What no counter of a side says."""


class DdpDepth(Form):
    """A depth marker beneath a Japanese unit."""

    strength: Whole | None = None
    requires: tuple[Name, ...] = ()
    revealed: bool = False
    tactical: bool = False
    """Whether it turns out to be a tactical reinforcement (9.4)."""


class DdpCounterattack(Form):
    """A counterattack marker on a Japanese unit: it is in counterattack stance (13.4)."""

    color: Color | None = None
    depth: bool = True
    """Whether its depth side is up (13.46)."""
    strength: Whole | None = None
    requires: tuple[Name, ...] = ()


class DdpUnit(Unit):
    """A unit of D-Day at Peleliu, of either side, and what it did in this turn."""

    side: Literal["us", "japan"]
    kind: Literal[
        "infantry", "heavy_infantry", "infantry_hq", "regimental_hq", "command_post", "tank",
        "amphibious_tank", "artillery", "engineer", "garrison", "hero",
    ] | None = None  # fmt: skip
    steps: Whole | None = None
    symbol: Symbol | None = None
    strength: Whole | None = None
    range: Whole | Literal["U"] | None = None
    """`U`: anywhere on the map (2.21)."""
    weapons: tuple[Name, ...] = ()
    disrupted: bool = False
    hero: bool = False
    inspired: bool = False
    command_range: Whole | None = None
    range_box: Whole | None = None
    """Of a command post: the box of the Command Range Track in which its marker lies (14.2)."""
    under_fire: bool = False
    """Of a command post: an event leaves it a range of one for this turn."""
    range_before: Whole | None = None
    """The range that such a post gets back at the end of the turn."""
    box: Name | None = None
    """The beach landing box in which it waits, instead of a hex (5.3)."""
    drifted: bool = False
    arrives: Whole | None = None
    """The space of the Turn Track in which it waits (2.21)."""
    beach: Name | None = None
    """Where it may land: a box, the letter of a beach, or anywhere (5.3)."""
    started: Label | None = None
    """The hex where this Action Phase found it; that in which it stands, where nothing is said."""
    acted: bool = False
    moved: bool = False
    """Of an HQ: it has moved in this Action Phase (7.34)."""
    stepped: bool = False
    """It has lost a step in this Japanese Fire Phase (6.34)."""
    fresh: bool = False
    """It was disrupted in this Action Phase (7.6)."""
    action_under_fire: bool = False
    requires: tuple[Name, ...] = ()
    elite: bool = False
    tank: bool = False
    color: Color | None = None
    """Of a Japanese tank: the colour on its counter (2.22)."""
    revealed: bool = False
    depth: DdpDepth | None = None
    counterattack: DdpCounterattack | None = None
    cave: bool = False
    checked: bool = False
    """It was checked in this phase: a Japanese unit for an action (12.0), a US unit in its box for landing (5.1)."""
    status: Literal["eliminated", "reserve", "removed"] | None = None
    # `from` is a word of Python: the hex from which a unit came into a close combat (8.62)
    __annotations__["from"] = "Label | None"
    locals()["from"] = None

    @model_validator(mode="after")
    def each_side_its_own(self) -> Self:
        wrong = FOREIGN[self.side] & self.model_fields_set
        if wrong:
            raise ValueError(f"a unit of side {self.side} has no {', '.join(sorted(wrong))}")
        if self.box is not None and self.at is not None:
            raise ValueError(f"{self.id} is in the box {self.box} or in a hex, not in both")
        return self


class DdpFortification(Form):
    """What a fortification marker says (19.1)."""

    revealed: bool = False
    blocked: tuple[Direction, ...] = ()
    """The sides of its hex that cannot be crossed, as the marker lies (19.2)."""
    requires: tuple[Name, ...] = ()
    depth: DdpDepth | None = None
    """The depth marker beneath it where no unit is there (18.31)."""
    disrupted: bool = False


MARKERS: dict[str, MarkerKind] = {
    **plain_markers("artillery_destroyed smoke attack_orders cave"),
    "fortification": MarkerKind(says=DdpFortification),
}


class DdpReserve(Form):
    """A Japanese unit in the reserve or eliminated box, as its counter reads."""

    id: Name | None = None
    strength: Whole | None = None
    requires: tuple[Name, ...] = ()
    elite: bool = False


class DdpUsTracks(Form):
    """What the US side keeps beside the map."""

    naval_fire: Whole | None = None
    dauntless: Whole | None = None
    flamethrower: Annotated[int, Field(ge=0, le=1, strict=True)] | None = None
    heroes: Whole | None = None
    """Hero markers placed so far (10.17)."""
    infantry_loss: Whole | None = None
    """Counters in the Infantry Loss Box (15.1)."""
    loss_level: Whole | None = None
    """The level of catastrophic loss of this turn, from the Turn Track."""


class DdpJapanTracks(Form):
    """What the Japanese side has beside the map."""

    reserve: Annotated[Whole | tuple[Name | DdpReserve, ...], Hidden("all")] | None = None
    depth: Annotated[Whole | tuple[DdpDepth, ...], Hidden("all")] | None = None
    eliminated_elite: Whole | tuple[Name | DdpReserve, ...] | None = None
    eliminated: Whole | None = None
    """Other units in the eliminated box, where they are put there (ddp-7)."""
    counterattack: bool | None = None
    """Whether the counterattack has happened (13.48)."""
    counterattack_markers: Annotated[Whole | tuple[DdpCounterattack, ...], Hidden("all")] | None = None
    fortifications: Annotated[Whole | tuple[DdpFortification, ...], Hidden("all")] | None = None
    """Markers in the cup (18.1)."""


class DdpDeck(Form):
    """The cards of a game by their numbers: those to be drawn, in no order, those of this turn, and those discarded."""

    draw: Annotated[tuple[Whole, ...], Hidden("all")] = ()
    shown: tuple[Whole, ...] = ()
    """On the Card Track until the turn ends (4.0)."""
    discard: tuple[Whole, ...] = ()


class DdpTracks(Form):
    """What is kept beside the map: markers in hand, losses, pools, and the deck where it is known."""

    us: DdpUsTracks | None = None
    japan: DdpJapanTracks | None = None
    deck: DdpDeck | None = None


def spelt_out(scenario: Any) -> Any:
    """The rulebook writes BNR for Bloody Nose Ridge throughout (18.0), so a case may as well."""
    return "bloody_nose_ridge" if scenario == "bnr" else scenario


class DdpConditions(Form):
    """The turn, which decides what is in force, the phase, and the scenario."""

    turn: Whole | None = None
    scenario: Annotated[
        Literal["invasion", "15_september", "peleliu_assault", "bloody_nose_ridge", "house_white_beach"],
        BeforeValidator(spelt_out),
    ] = "invasion"
    """`house_white_beach`: a scenario of the house, played by the rules of the first day."""
    phase: (
        Literal[
            "amphibious_operations", "first_event", "japanese_fire", "second_event", "hq", "us_action",
            "end_of_turn", "night", "morning",
        ]
        | None
    ) = None  # fmt: skip
    active: Literal["us", "japan"] | None = None
    letters: tuple[Letter, ...] | None = None
    """The letters in force where they come in another order (20.1)."""
    rupertus: bool | None = None
    """On Bloody Nose Ridge: whether General Rupertus is in command (18.32)."""
    attacked: tuple[Label, ...] = ()
    """Hexes attacked in this Action Phase (8.31)."""
    barraged: tuple[Label, ...] = ()
    """Hexes barraged in this Action Phase (8.43)."""
    drawn: Whole | None = None
    """Cards drawn in this event or fire phase of a game (4.0)."""
    actions: Annotated[int, Field(ge=0, le=2, strict=True)] = 0
    """Of the two actions of the turn, those that are spent (7.0)."""
