"""Counters of Forgotten Pacific Battles: what its units, markers and conditions may say."""

from __future__ import annotations

from typing import Literal

from db.counter_forms import Form, MarkerKind, Points, Unit, Whole


class FpbUnit(Unit):
    """A unit of Forgotten Pacific Battles."""

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


MARKERS: dict[str, MarkerKind] = {}


class FpbConditions(Form):
    """The game turn."""

    turn: Whole | None = None
