"""Counters of D-Day at Peleliu: what its units, markers and conditions may say."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from db.counter_forms import Form, MarkerKind, Name, Unit, Whole


class DdpDepth(Form):
    """A depth marker beneath a Japanese unit."""

    strength: Whole | None = None
    requires: tuple[Name, ...] = ()
    revealed: bool = False


class DdpUnit(Unit):
    """A unit of D-Day at Peleliu, of either side."""

    side: Literal["us", "japan"]
    kind: Literal[
        "infantry", "heavy_infantry", "infantry_hq", "regimental_hq", "command_post", "tank",
        "amphibious_tank", "artillery", "engineer", "garrison", "hero",
    ] | None = None  # fmt: skip
    steps: Whole | None = None
    symbol: Literal["circle", "diamond", "triangle", "star"] | None = None
    strength: Whole | None = None
    range: Whole | None = None
    weapons: tuple[Name, ...] = ()
    disrupted: bool = False
    hero: bool = False
    command_range: Whole | None = None
    requires: tuple[Name, ...] = ()
    elite: bool = False
    tank: bool = False
    revealed: bool = False
    depth: DdpDepth | None = None

    @model_validator(mode="after")
    def each_side_its_own(self) -> Self:
        ours = {"kind", "steps", "symbol", "range", "weapons", "hero", "command_range"}
        theirs = {"requires", "elite", "tank", "revealed", "depth"}
        wrong = (theirs if self.side == "us" else ours) & self.model_fields_set
        if wrong:
            raise ValueError(f"a unit of side {self.side} has no {', '.join(sorted(wrong))}")
        return self


MARKERS: dict[str, MarkerKind] = {}


class DdpConditions(Form):
    """The turn, which decides what is in force, and the scenario."""

    turn: Whole | None = None
    scenario: Literal["invasion", "bloody_nose_ridge"] = "invasion"
