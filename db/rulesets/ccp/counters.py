"""Counters of Combat Commander: Pacific: what its units, markers, conditions and tracks may say."""

from __future__ import annotations

from typing import Annotated, Generic, Literal, Self, TypeVar

from pydantic import Field, model_validator

from db.counter_forms import Form, Hidden, MarkerKind, Name, Points, Signed, Unit, Whole, plain_markers

Side = Literal["japan", "allied"]
Quality = Literal["elite", "line", "green"]
Posture = Literal["invader", "attacker", "recon", "defender", "banzai"]
Order = Literal["fire", "op_fire", "move", "advance", "asset_request", "reconnoiter"]
Total = Annotated[int, Field(ge=-999, le=999, strict=True)]
T = TypeVar("T")


class CcpWeapon(Form):
    """A weapon that a ccp unit carries, or that lies in the Weapons Box with the unit that lost it."""

    name: Name
    fp: Whole | None = None
    printed_fp: Whole | None = None
    """What the counter shows, where `fp` is not it (A35)."""
    range: Whole | tuple[Whole, Whole] | None = None
    movement: Signed | None = None
    ordnance: bool = False
    mortar: bool = False
    machine_gun: bool = False
    flamethrower: bool = False
    smoke: bool = False
    """Whether it can fire smoke (O27.2.1)."""
    broken: bool = False
    box: bool = False
    """Whether it lies in the Weapons Box, with no holder (11.2)."""


class CcpFace(Form):
    """The other face of a unit's counter (3.2.1)."""

    fp: Whole | None = None
    range: Whole | None = None
    movement: Points | None = None
    morale: Whole | None = None
    command: Whole | None = None


class CcpUnit(Unit):
    """A unit of Combat Commander: Pacific: what the face that is up shows, and what lies on it."""

    side: Side
    nation: Literal["japan", "us", "commonwealth"] | None = None
    kind: Literal["squad", "team", "leader", "hero", "scout", "sogeki_hei", "aircraft", "weapon"] = "squad"
    """`weapon`: no unit, a weapon in the Weapons Box that nobody holds."""
    fp: Whole | None = None
    range: Whole | None = None
    movement: Points | None = None
    morale: Whole | None = None
    command: Whole | None = None
    """The number of the unbroken face (14.1)."""
    boxed_fp: bool = False
    broken: bool = False
    suppressed: bool = False
    veteran: bool = False
    in_cave: bool = False
    weapon: CcpWeapon | None = None
    reverse: CcpFace | None = None
    quality: Quality | None = None
    activated: Order | None = None
    """The order that it was activated for in this turn (O20.2)."""
    fired: tuple[Literal["unit", "weapon"], ...] = ()
    """What of it has taken its shot in the Fire order that it was activated for (O27.3)."""
    box: Literal["A", "B", "C"] | None = None
    """The Infiltration Box in which it waits (O28)."""
    space: Whole | None = None
    """The space of the Time Track, or of the Casualty Track where it is eliminated, on which it lies."""
    eliminated: bool = False
    """On the Casualty Track (11.2)."""
    countermix: bool = False

    @model_validator(mode="after")
    def command_is_a_leaders(self) -> Self:
        if self.command is not None and self.kind not in ("leader", "hero"):
            raise ValueError("only a leader or hero has a command number (3.3.1)")
        return self


class Stronghold(Form):
    """Of a bunker or pillbox: the side that last had its hex to itself (F101, F105)."""

    held: Side | None = None


MARKERS = {
    "smoke": MarkerKind(value=(1, 8)),
    "bunker": MarkerKind(says=Stronghold),
    "pillbox": MarkerKind(says=Stronghold),
    **plain_markers("blaze starshell cave foxholes mines trench wire melee sighting sr"),
}


class OfSides(Form, Generic[T]):
    """The same for each side, as far as it is told."""

    japan: T | None = None
    allied: T | None = None


class Radio(Form):
    """A radio in its Artillery Box (6)."""

    fp: Annotated[int, Field(ge=8, le=12, strict=True)]
    broken: bool = False


class Reserve(Form):
    """What waits on a space of the Time Track and is no unit: a radio, or Sighting markers (13.1.2)."""

    space: Whole
    side: Side = "japan"
    radio: Radio | None = None
    sighting: Whole = 0
    """How many Sighting markers."""


class Chit(Form):
    """An objective chit: points for one objective, for each, for exits or for eliminations (14.3.3)."""

    letter: Name
    objective: Annotated[int, Field(ge=1, le=5, strict=True)] | None = None
    value: Whole | None = None
    each: Whole | None = None
    exit: Whole | None = None
    elimination: Whole | None = None


class Chits(Form):
    """The chits in the Objective Box (14.3.4)."""

    open: tuple[Chit, ...] = ()
    secret: OfSides[tuple[Chit, ...]] | None = None


class CcpConditions(Form):
    """Turn and tracks of the game: night (18), whose turn it is, Postures, points, time, decks and hands."""

    night: bool = False
    turn: Whole | None = None
    first: Side | None = None
    """The side that takes the first turn."""
    phase: Literal["start", "melee", "orders", "pass", "refill", "time_advance"] | None = None
    active: Side | None = None
    orders_given: Whole | None = None
    posture: OfSides[Posture] | None = None
    order_limit: Whole | OfSides[Whole] | None = None
    quality: Quality | OfSides[Quality] | None = None
    year: Annotated[int, Field(ge=1930, le=1950, strict=True)] | None = None
    vp: Total | None = None
    """The Victory Track: plus on the Allied side of zero, minus on the Japanese (11.1.1)."""
    time: Whole | None = None
    sudden_death: Whole | None = None
    surrender: Whole | None = None
    initiative: Side | None = None
    rerolls: Literal["asked", "unasked"] | None = None
    """In a game with decks: whether the holder of the Initiative is asked after every roll (10.1)."""
    deck: OfSides[Whole] | None = None
    """Cards in each draw pile."""
    hand: OfSides[Whole | tuple[Name, ...]] | None = None
    radio: OfSides[Radio] | None = None
    artillery_denied: tuple[Side, ...] = ()
    time_track: tuple[Reserve, ...] = ()
    """Radios and Sighting markers that come in when the time marker reaches their space; units say their `space` themselves."""
    mines: Literal[6, 7, 8] | None = None
    """The strength of Mine Attacks; 6 where nothing is told (F104.2)."""
    chits: Chits | None = None
    control: dict[str, Side] | None = None
    """Who holds an objective now, by its number, where that is no longer what the map says (14.3.1)."""


class UnderWay(Form):
    """The order that is being carried out (O20.4)."""

    kind: Name
    acted: bool = False
    """Whether somebody has carried it out (O20.3)."""
    done: tuple[Name, ...] = ()
    """Who has (O22.1, O29.2)."""


class CcpTracks(Form):
    """The Fate decks of a game, by the names of their cards; what lies in a pile in no order."""

    pile: Annotated[OfSides[tuple[Name, ...]], Hidden("all")] | None = None
    hand: Annotated[OfSides[tuple[Name, ...]], Hidden("owner")] | None = None
    discards: OfSides[tuple[Name, ...]] | None = None
    next_card: Annotated[OfSides[Name], Hidden("owner")] | None = None
    """The card that a Reconnoiter order put back on top (O30)."""
    order: UnderWay | None = None
    passed: Whole | None = None
    """Cards that the active side discarded instead of giving orders (O21)."""
    twins: dict[str, Name] | None = None
    """Teams that came of squads this turn: the second of each (E56)."""
    came: tuple[Name, ...] = ()
    """Units that a Support Table brought."""
