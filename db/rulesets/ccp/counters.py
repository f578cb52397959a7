"""Counters of Combat Commander: Pacific: what its units, markers and conditions may say."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from db.counter_forms import Form, MarkerKind, Name, Points, Signed, Unit, Whole, plain_markers


class CcpWeapon(Form):
    """A weapon that a ccp unit carries."""

    name: Name
    fp: Whole | None = None
    range: Whole | tuple[Whole, Whole] | None = None
    movement: Signed | None = None
    ordnance: bool = False
    mortar: bool = False
    machine_gun: bool = False
    flamethrower: bool = False
    broken: bool = False


class CcpUnit(Unit):
    """A unit of Combat Commander: Pacific."""

    side: Literal["japan", "allied"]
    nation: Literal["japan", "us", "commonwealth"] | None = None
    kind: Literal["squad", "team", "leader", "hero", "scout", "sogeki_hei", "aircraft"] = "squad"
    fp: Whole | None = None
    range: Whole | None = None
    movement: Points | None = None
    morale: Whole | None = None
    command: Whole | None = None
    boxed_fp: bool = False
    broken: bool = False
    suppressed: bool = False
    veteran: bool = False
    in_cave: bool = False
    weapon: CcpWeapon | None = None

    @model_validator(mode="after")
    def command_is_a_leaders(self) -> Self:
        if self.command is not None and self.kind not in ("leader", "hero"):
            raise ValueError("only a leader or hero has a command number (3.3.1)")
        return self


MARKERS = {
    "smoke": MarkerKind(value=(1, 8)),
    **plain_markers("blaze starshell bunker cave foxholes mines pillbox trench wire melee"),
}


class CcpConditions(Form):
    """Night (18)."""

    night: bool = False
