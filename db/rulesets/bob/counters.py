"""Counters of Band of Brothers: what its units, markers and conditions may say."""

from __future__ import annotations

from typing import Literal

from db.counter_forms import Direction, Form, MarkerKind, Name, Points, Unit, Whole, plain_markers


class BobUnit(Unit):
    """A unit of Band of Brothers."""

    side: Name
    nation: Literal["us", "japan", "german", "russian", "commonwealth", "italian"] | None = None
    kind: Literal["squad", "wt", "gun", "vehicle", "carrier", "decoy"] = "squad"
    company: Name | None = None
    fp: tuple[Whole, Whole] | None = None
    melee_fp: Whole | None = None
    range: Whole | None = None
    casualty: tuple[Whole, Whole] | None = None
    facing: Direction | None = None
    suppression: Literal["none", "suppressed", "full"] = "none"
    reduced: bool = False
    concealed: Literal[0, 1, 2] = 0
    used: bool = False
    op_fire: bool = False
    upper_level: bool = False
    in_cave: bool = False
    movement: Points | None = None


MARKERS = {
    "cave": MarkerKind(facing=True),
    "company_hub": MarkerKind(value=(0, 20), company=True),
    **plain_markers(
        "foxhole trench pillbox bunker small_cave fortified wire smoke dispersed_smoke illumination upper_level"
    ),
}


class BobNight(Form):
    """How far is seen at night (50.2)."""

    visibility: Whole


class BobConditions(Form):
    """Night, weather and module."""

    night: BobNight | None = None
    weather: Literal["snow", "monsoon"] | None = None
    module: Literal["pacific", "europe", "desert"] | None = None
    jungle_cost: Points | None = None
