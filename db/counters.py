"""Counters: what units, markers and conditions of each game may say, as checked forms.

The words are those of the case format. One unit form a game: an attribute that the game
does not have, or that cannot be, is an error. Numbers are kept as the counter prints them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Whole = Annotated[int, Field(ge=0, le=99, strict=True)]
Signed = Annotated[int, Field(ge=-20, le=20, strict=True)]
Direction = Annotated[int, Field(ge=1, le=6, strict=True)]
Points = Annotated[Decimal, Field(ge=0, le=99, multiple_of=Decimal("0.5"))]
Label = Annotated[str, Field(min_length=1, max_length=20)]
Name = Annotated[str, Field(min_length=1, max_length=80)]


class Form(BaseModel):
    """A form in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class Unit(Form):
    """What every unit has."""

    id: Name
    at: Label | None = None
    """The hex it stands in; absent: off the map."""


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


UNITS: dict[str, type[Unit]] = {
    "css": CssUnit,
    "ccp": CcpUnit,
    "fpb": FpbUnit,
    "bob": BobUnit,
    "ddp": DdpUnit,
}


class MarkerKind(NamedTuple):
    """What a kind of marker says beside where it lies."""

    value: tuple[int, int] | None = None
    """The numbers it may show; None: it has none."""
    facing: bool = False
    """Whether it looks in a direction."""
    company: bool = False
    """Whether it belongs to a company; such a marker may be displaced (bob 63.2)."""
    in_cave: bool = False
    """Whether it may lie inside a cave, which is a place of its own (css 6.3)."""


def _plain(words: str) -> dict[str, MarkerKind]:
    return dict.fromkeys(words.split(), MarkerKind())


MARKERS: dict[str, dict[str, MarkerKind]] = {
    "css": {
        "dg": MarkerKind(value=(1, 4), in_cave=True),
        "pinned": MarkerKind(in_cave=True),
        "suppressed": MarkerKind(in_cave=True),
        "ridge": MarkerKind(facing=True),
        **_plain(
            "smoke_barrage light_barrage medium_barrage heavy_barrage bombardment on_fire"
            " fire_cleared illumination concentrated_fire no_opportunity_fire sustained_fire foxhole trench"
            " pillbox bunker booby_trap mines prepared_assault banzai_charge gyokusai drunk hungover"
        ),
    },
    "ccp": {
        "smoke": MarkerKind(value=(1, 8)),
        **_plain("blaze starshell bunker cave foxholes mines pillbox trench wire melee"),
    },
    "fpb": {},
    "bob": {
        "cave": MarkerKind(facing=True),
        "company_hub": MarkerKind(value=(0, 20), company=True),
        **_plain(
            "foxhole trench pillbox bunker small_cave fortified wire smoke dispersed_smoke illumination upper_level"
        ),
    },
    "ddp": {},
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
    stacked: dict[Label, Stacked] = {}


class CcpConditions(Form):
    """Night (18)."""

    night: bool = False


class FpbConditions(Form):
    """The game turn."""

    turn: Whole | None = None


class BobNight(Form):
    """How far is seen at night (50.2)."""

    visibility: Whole


class BobConditions(Form):
    """Night, weather and module."""

    night: BobNight | None = None
    weather: Literal["snow", "monsoon"] | None = None
    module: Literal["pacific", "europe", "desert"] | None = None
    jungle_cost: Points | None = None


class DdpConditions(Form):
    """The turn, which decides what is in force, and the scenario."""

    turn: Whole | None = None
    scenario: Literal["invasion", "bloody_nose_ridge"] = "invasion"


CONDITIONS: dict[str, type[Form]] = {
    "css": CssConditions,
    "ccp": CcpConditions,
    "fpb": FpbConditions,
    "bob": BobConditions,
    "ddp": DdpConditions,
}


def unit_columns(unit: Unit) -> tuple[str, str | None, dict[str, Any]]:
    """How a unit is stored: side, kind, and what its counter says besides."""
    said = unit.model_dump(mode="json", exclude={"id", "at", "side", "kind"}, exclude_defaults=True)
    return unit.side, getattr(unit, "kind", None), said  # type: ignore[attr-defined]
