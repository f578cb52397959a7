"""Counters of Guam: Return to Glory: what its units, markers and conditions may say."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from db.counter_forms import Form, Label, MarkerKind, Name, Points, Signed, Unit, Whole, plain_markers


class Fire(Form):
    """A css fire value with its type (the colour of its box) and range."""

    value: Whole
    type: Literal["small_arms", "high_explosive", "armor_piercing", "white", "indirect"]
    range: Whole = 1
    """8.1: a counter without a range fires one hex."""


class NavalZone(Form):
    """Where a landing unit of css is: which run of which beach hex."""

    beach: Label
    run: Literal["final_run_in", "approach", "transport"]


class CssUnit(Unit):
    """A unit of Guam."""

    side: Literal["us", "japan"]
    service: Literal["marine", "army", "navy"] | None = None
    division: Name | None = None
    formation: Name | None = None
    stripe: Literal["formation", "white", "none"] | None = None
    kind: Literal[
        "infantry", "engineer", "tank", "artillery", "hq", "leader", "hero", "support_weapon", "truck", "ambush"
    ] = "infantry"  # fmt: skip
    posture: Literal["deployed", "column"] | None = None
    mobility: Literal["leg", "wheeled", "tracked"] | None = None
    movement: Points | None = None
    fire: Fire | None = None
    defense: Signed | None = None
    target: Literal["soft", "hard", "tank"] | None = None
    in_cave: bool = False
    command_range: Whole | None = None
    sustained_fire: bool = False
    """A Support Weapon's ability (8.6.1)."""
    alert: Annotated[int, Field(ge=0, le=9, strict=True)] | None = None
    """A Support Weapon's ability: the roll, or less, on which it is alert (12.5)."""
    zone: NavalZone | None = None

    @model_validator(mode="after")
    def only_japanese_in_caves(self) -> Self:
        if self.in_cave and self.side != "japan":
            raise ValueError("only Japanese units may be inside a cave (6.3)")
        if self.zone is not None and self.at is not None:
            raise ValueError("a unit is in a hex or in a naval zone, not both (22.0)")
        if (self.sustained_fire or self.alert is not None) and self.kind != "support_weapon":
            raise ValueError("sustained_fire and alert are abilities of a support weapon (8.6.1, 12.5)")
        return self


MARKERS = {
    "dg": MarkerKind(value=(1, 4), in_cave=True),
    "pinned": MarkerKind(in_cave=True),
    "suppressed": MarkerKind(in_cave=True),
    "ridge": MarkerKind(facing=True),
    **plain_markers(
        "smoke_barrage light_barrage medium_barrage heavy_barrage bombardment on_fire"
        " fire_cleared illumination concentrated_fire no_opportunity_fire sustained_fire foxhole trench"
        " pillbox bunker booby_trap mines prepared_assault banzai_charge gyokusai drunk hungover"
    ),
}


class Stacked(Form):
    """What a css hex has been disorganized for before: how many over the limit, and mixed formations (6.1)."""

    over: Whole = 0
    mixed: bool = False


class CssConditions(Form):
    """Weather (4.0), time of day (17.0), the Interdiction box (16.0), stacks that have paid, the activation (6.1)."""

    weather: Literal["clear", "rain", "hot", "tropical_storm"] = "clear"
    time: Literal["day", "night"] = "day"
    night: Literal[1, 2] | None = None
    """Which of the two night turns."""
    interdiction: Annotated[int, Field(ge=0, le=3, strict=True)] = 0
    """Air Support markers in the Interdiction box."""
    activation: Literal["division", "formation", "direct_command", "amphibious"] | None = None
    """Which kind of chit is in play."""
    stacked: dict[Label, Stacked] = {}  # noqa: RUF012
