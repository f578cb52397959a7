"""Counters of Band of Brothers: what its units, assets, markers and conditions may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, create_model, model_validator

from db.counter_forms import (
    Direction,
    Form,
    Hidden,
    Label,
    MarkerKind,
    Name,
    Points,
    Tracks,
    Unit,
    Whole,
    plain_markers,
)

Nation = Literal["us", "japan", "german", "russian", "commonwealth", "italian"]
INFANTRY = ("squad", "wt")
ASSETS = ("artillery", "aircraft", "illumination")
"""Counters that are Used and are no units (4.0)."""


def _listed(value: object) -> object:
    """One number is a list of one."""
    return [value] if isinstance(value, int) and not isinstance(value, bool) else value


Numbers = Annotated[tuple[Whole, ...], BeforeValidator(_listed), Field(min_length=1, max_length=2)]
Morale = tuple[Whole, Whole, Whole]
"""White, yellow, red (7.0)."""
Range = Whole | tuple[Whole, Whole | None]
"""How far; with a least range, and none at the far end where it has no limit (31.0)."""


class BobSide(Form):
    """The Reduced side of a counter (2.0); what it leaves out is as on the front."""

    fp: Numbers | None = None
    melee_fp: Whole | None = None
    range: Range | None = None
    casualty: Numbers | None = None
    morale: Morale | None = None


class BobSatw(Form):
    """A Special Anti-Tank Weapon (33.0)."""

    name: Literal["bazooka", "panzerfaust", "panzerschreck", "piat", "atr"] | None = None
    number: Whole | None = None
    fp: Whole | None = None
    range: Whole | None = None


_Left = create_model("_Left", __base__=Form, **{"from": (Label | None, None)})  # type: ignore[call-overload]
"""`from`: the hex that a mover left last."""
_Riding = create_model("_Riding", __base__=Unit, **{"in": (Name | None, None)})  # type: ignore[call-overload]
"""`in`: the Carrier or tank that a unit rides on (21.0, 22.0)."""


class BobMoving(_Left):
    """A move that is paused for the other side (5.0, 9.0)."""

    hexes: Whole = 0
    """Hexes that it has entered."""
    start: Label | None = None
    """Where it stood when it was selected."""
    spent: Points | None = None
    fired_by: tuple[Name, ...] = ()
    """Who has fired at it in the hex that it is in (10.0)."""
    suppressed: bool | None = None
    """Whether it was Suppressed as it entered this hex (5.2); untold, a Suppressed mover was."""
    on_path: bool = False
    retreat: bool = False
    banzai: bool = False
    seishin: bool = False
    grenade: bool = False
    """Whether it has placed its Smoke Grenade (48.1)."""


class BobUnit(_Riding):
    """A unit or an asset of Band of Brothers: what its counter shows, and what lies on it."""

    side: Name
    nation: Nation | None = None
    kind: Literal[
        "squad", "wt", "gun", "vehicle", "carrier", "decoy", "satt", "artillery", "aircraft", "illumination",
    ] = "squad"  # fmt: skip
    company: Name | None = None
    # what is printed
    fp: Numbers | None = None
    melee_fp: Whole | None = None
    range: Range | None = None
    casualty: Numbers | None = None
    morale: Morale | None = None
    back: BobSide | None = None
    movement: Points | None = None
    type: Literal["mg", "mortar", "atr", "flame", "ju87", "ju87g", "sturmovik", "jabo", "other"] | None = None
    satw: BobSatw | None = None
    flame: Whole | None = None
    satchel: bool = False
    grenade_discharger: bool = False
    seishin: bool = False
    reluctant: bool = False
    fireteam: bool = False
    pluck: bool = False
    elite: bool = False
    marine: bool = False
    ss: bool = False
    panzer_grenadier: bool = False
    fires_mounted: bool = False
    set_up_here: bool = False
    """Of a mortar in Jungle: it did not move there (31.0)."""
    # Guns and Vehicles
    prof: Whole | None = None
    canister: Whole | None = None
    dot: bool = False
    as_mortar: bool = False
    tracked: bool = False
    armor: tuple[Whole, Whole] | None = None
    open_topped: bool = False
    rear_casualty: Whole | None = None
    unarmored: Whole | None = None
    universal: bool = False
    crusher: bool = False
    capacity: Whole | None = None
    landing_craft: Literal["blue", "brown"] | None = None
    tank_rider: bool = False
    # assets
    accuracy: Whole | None = None
    caliber: Annotated[int, Field(ge=0, le=999, strict=True)] | None = None
    smoke: bool = False
    t44: bool = False
    side_up: Literal["bomb", "mg"] | None = None
    # how it stands
    facing: Direction | None = None
    suppression: Literal["none", "suppressed", "full"] = "none"
    reduced: bool = False
    concealed: Literal[0, 1, 2] = 0
    used: bool = False
    op_fire: bool = False
    cp: bool = False
    moving: BobMoving | None = None
    declared: Literal["retreat", "seishin", "banzai"] | None = None
    flank: bool = False
    ambush: bool = False
    move_counter: bool = False
    uk: Whole = 0
    satt_at: tuple[Label, ...] = ()
    """Of a Vehicle: hexes in which a suicide team has gone for it this turn (59.4)."""
    fired: bool = False
    sustained: tuple[Label, ...] = ()
    entered: bool = False
    """It came into the hex of a fortification in which others are (43.0)."""
    under_bridge: bool = False
    behind: tuple[Direction, ...] = ()
    """On a Dike Road: the sides of the hex toward which it is covered (46.1)."""
    upper_level: bool = False
    in_cave: bool = False
    ammo_out: bool = False
    cause: Name | None = None
    status: Literal["eliminated", "available", "fow", "reinforcement", "removed"] | None = None


class Concealable(Form):
    """A fortification that the enemy does not know of (43.0)."""

    concealed: bool = False


class MissionMarker(Form):
    """Whose battery fires (32.0)."""

    by: Name | None = None
    smoke: bool = False


class WireMarker(Form):
    """Whether its Trip Flare has gone up (43.6)."""

    flare_used: bool = False


class TrailMarker(Form):
    """One end of a Trail, its other end, and who knows it (54.4)."""

    owner: Name | None = None
    to: Label | None = None


class VictoryMarker(Form):
    """Who holds it (18.0)."""

    side: Name | None = None


class SustainedMarker(Form):
    """The MG that fires there, and the hex beside it (61.1)."""

    by: Name | None = None
    toward: Label | None = None


MARKERS = {
    "cave": MarkerKind(facing=True, says=Concealable),
    # 43.4: it faces a corner too, where no cave marker beside it tells that
    "small_cave": MarkerKind(facing=True, untold=True, says=Concealable),
    "company_hub": MarkerKind(value=(0, 20), company=True),
    **dict.fromkeys(
        ("foxhole", "trench", "pillbox", "bunker", "fortified", "sangar"),
        MarkerKind(says=Concealable),
    ),
    "wire": MarkerKind(says=WireMarker),
    "fire_mission": MarkerKind(says=MissionMarker),
    "trail": MarkerKind(says=TrailMarker),
    "victory": MarkerKind(value=(0, 20), untold=True, says=VictoryMarker),
    "small_feature": MarkerKind(facing=True),
    "sustained_fire": MarkerKind(says=SustainedMarker),
    **plain_markers("smoke dispersed_smoke illumination upper_level ambush mines concentrated_mines breach"),
}


class BobNight(Form):
    """How far is seen at night (50.2)."""

    visibility: Whole


class BobBanzai(Form):
    """In which turns a Banzai Charge must be called, and when it was (59.6)."""

    turns: tuple[Whole, ...] = ()
    called: tuple[Whole, ...] = ()
    next: bool = False


class BobMonsoon(Form):
    """On which rolls the rain starts or stops (55.2)."""

    check: tuple[Whole, Whole] | None = None
    raining: bool = False
    done: bool = False


Rule = Literal[
    "facing", "combat_events", "sustained_fire", "unconfirmed_kills", "critical_hits", "fire_lanes",
    "fortification_concealment", "company_cps", "command", "crushing", "tank_shock", "trails", "upper_levels",
]  # fmt: skip
Edge = Literal["north", "south", "east", "west"] | tuple[Label, ...]
BySide = dict[Name, Whole]


class BobVictory(Form):
    """What a scenario wants of a side; the other side wins otherwise (18.0)."""

    side: Name
    markers: Whole | None = None
    """Victory markers that it controls at the end."""
    eliminate: Name | None = None
    """The side of which nothing but Decoys may be left."""
    losses: Whole | None = None
    """Units of that side that are to be eliminated; one that came back still counts (17.0)."""


class BobConditions(Form):
    """Turn and phase, whose they are, night, weather, module, and what the scenario card tells."""

    turn: Whole | None = None
    turns: Whole | None = None
    phase: Literal["start", "operations", "rout", "melee", "recovery"] | None = None
    first: Name | None = None
    active: Name | None = None
    year: Annotated[int, Field(ge=1900, le=2000, strict=True)] | None = None
    attacker: Name | None = None
    night: BobNight | None = None
    weather: Literal["snow", "monsoon"] | None = None
    module: Literal["pacific", "europe", "desert"] | None = None
    jungle_cost: Points | None = None
    operations_range: dict[Name, tuple[Whole, Whole]] | None = None
    spent: BySide | None = None
    cps: dict[Name, Whole | BySide] | None = None
    bonus_cps: BySide | None = None
    rout_edge: dict[Name, Edge] | None = None
    rules: tuple[Rule, ...] | None = None
    """Optional rules in force; the module pacific has some of them anyway (2.2, 17.0, 43.0)."""
    fow: dict[Name, tuple[Name, ...] | bool | Whole | BySide | Name] | None = None
    """The units in the cup of each side; `drawn`: who has drawn from it this turn (16.2)."""
    satt: BySide | None = None
    smoke: BySide | None = None
    smoke_grenades: bool | Name | tuple[Name, ...] | BySide | None = None
    sc_retention: Whole | None = None
    banzai: BobBanzai | None = None
    monsoon: BobMonsoon | None = None
    fatigue: BySide | None = None
    thresholds: tuple[Whole, ...] | dict[Name, tuple[Whole, ...]] | None = None
    lost: BySide | None = None
    started: dict[Name, Whole | BySide] | None = None
    victory: BobVictory | None = None

    @model_validator(mode="before")
    @classmethod
    def _rains(cls, told: object) -> object:
        """55.2: a monsoon in which it rains is the weather, and one in which it does not is none."""
        monsoon = told.get("monsoon") if isinstance(told, dict) else None
        if not isinstance(told, dict) or not isinstance(monsoon, dict) or "weather" in told:
            return told
        raining = monsoon.get("raining")
        return told | {"weather": "monsoon" if raining else None} if isinstance(raining, bool) else told


class BobSideTracks(Form):
    """What a side keeps beside the map; how many Suicide Teams and who is in the cup is known to nobody else."""

    spent: Whole | None = None
    cps: Whole | None = None
    bonus_cps: Whole | None = None
    smoke: Whole | None = None
    satt: Annotated[Whole, Hidden("owner")] | None = None
    fow: Annotated[tuple[Name, ...], Hidden("all")] | None = None
    fow_drawn: Whole | None = None
    fow_due: Name | None = None
    """Who was placed from the cup in this Operations Range and has to be Used in it (16.2)."""
    solo: Annotated[tuple[Name, ...], Hidden("all")] | None = None
    credits: Whole | None = None
    """Enemy units that it eliminated and that came back (17.0)."""


class BobTracks(Tracks):
    """Numbers and cups of each side, Fatigue of companies, control of hexes, and what a phase has done."""

    us: BobSideTracks | None = None
    japan: BobSideTracks | None = None
    german: BobSideTracks | None = None
    russian: BobSideTracks | None = None
    commonwealth: BobSideTracks | None = None
    italian: BobSideTracks | None = None
    fought: tuple[Label, ...] | None = None
    """Hexes whose Melee was fought this turn."""
    routed: tuple[Name, ...] | None = None
    """Sides whose part of the Rout Phase is over."""
