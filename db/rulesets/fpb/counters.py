"""Counters of Forgotten Pacific Battles: what its units, markers and conditions may say."""

from __future__ import annotations

from typing import Annotated, Literal

from db.counter_forms import Form, Hidden, Label, MarkerKind, Name, Points, Unit, Whole

Island = Literal["engebi", "eniwetok", "parry", "guam", "tinian", "angaur"]
MovementPhase = Literal["movement", "mobile_movement"]


class FpbSide(Form):
    """The other side of a counter."""

    attack: Whole | None = None
    defense: Whole | None = None
    movement: Points | None = None


class FpbUnit(Unit):
    """A unit of Forgotten Pacific Battles: what its counter shows now, and what it did in this player turn."""

    side: Literal["us", "japan"]
    kind: Literal[
        "infantry", "amphibious_infantry", "tank", "amphibious_tank", "engineer", "heavy_weapons",
        "japanese_marine", "sniper",
    ] = "infantry"  # fmt: skip
    mobility: Literal["leg", "mobile"] = "leg"
    attack: Whole | None = None
    defense: Whole | None = None
    movement: Points | None = None
    zoc: bool = True
    depleted: bool = False
    one_step: bool = False
    back: FpbSide | None = None
    island: Island | None = None
    identifier: Name | None = None
    command: (
        Literal["22nd_marines", "77th_infantry", "81st_infantry", "106th_infantry", "iii_corps"] | None
    ) = None
    """Of a US unit: the insignia on its counter (10.3)."""
    assaulting: Label | None = None
    """In a sea hex: the assault boat hex it is there for (12.0)."""
    moved: MovementPhase | None = None
    attacked: Literal["combat", "mobile_combat"] | None = None
    advanced: bool = False
    displaced: bool = False
    landed: MovementPhase | None = None
    hit: tuple[Literal["bombardment", "combat", "mobile_combat"], ...] = ()
    forced: bool = False
    blocked_by: tuple[Name, ...] = ()
    rebuilt: bool = False
    status: Literal["available", "repulsed", "eliminated"] | None = None


MARKERS: dict[str, MarkerKind] = {
    "assault_boat": MarkerKind(),
    "landing_beach": MarkerKind(),
    # with the game turn of its capture, where that is told (18.1)
    "captured": MarkerKind(value=(1, 22), untold=True),
    "fortification": MarkerKind(),
}


class SupportMarker(Form):
    """A support marker in a cup (17.0)."""

    value: Whole
    type: Literal["artillery", "air", "naval", "banzai", "fortification"] | None = None
    single_use: bool = False
    target: Label | None = None
    """Withheld for the first game turn: the hex it will be fired at (18.1)."""


class Cups(Form):
    """The markers of each side."""

    us: tuple[SupportMarker, ...] = ()
    japan: tuple[SupportMarker, ...] = ()


class FpbTracks(Form):
    """What is kept beside the map of an island: support markers, boats, losses, points."""

    cup: Annotated[Cups, Hidden("all")] | None = None
    used: Cups | None = None
    withheld: tuple[SupportMarker, ...] = ()
    removed: Cups | None = None
    boats_placed: Whole | None = None
    won_on: Whole | None = None
    depleted: Whole | None = None
    eliminated: Whole | None = None
    vp: int | None = None
    islands: dict[Island, FpbTracks] | None = None
    """Several islands at once: the same for each (18.1, 18.2)."""


class FpbConditions(Form):
    """Game turn and phase, whose they are, and which game is played where."""

    turn: Whole | None = None
    phase: (
        Literal[
            "support_fire", "movement", "bombardment", "combat", "mobile_movement", "mobile_combat", "game_turn_end",
        ]
        | None
    ) = None  # fmt: skip
    active: Literal["us", "japan"] | None = None
    mode: Literal["two_player", "solitaire"] | None = None
    scenario: Literal["individual", "sequenced", "simultaneous"] | None = None
    island: Island | None = None
    free_deployment: bool = False
