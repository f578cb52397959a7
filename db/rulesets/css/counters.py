"""Counters of Guam: Return to Glory: what its units, markers and conditions may say."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from db.counter_forms import Form, Hidden, Label, MarkerKind, Name, Points, Signed, Unit, Whole, plain_markers


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


class Bonus(Form):
    """What a leader or hero gives: to fire (8.3.2) and to Troop Quality (13.2)."""

    fire: Signed = 0
    tq: Signed = 0


class ColumnSide(Form):
    """The Column side of a counter, where it says otherwise than the Deployed one."""

    fire: Fire | None = None
    defense: Signed | None = None
    movement: Points | None = None


Box = Literal[
    "routed", "available", "reallocating", "truck_pool", "repairing", "off_board", "pool"
]  # fmt: skip


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
    order: Whole | None = None
    """Its place in the line of a Transport Zone (22.1)."""
    flamethrower: bool = False
    bonus: Bonus | None = None
    replacement: bool | Literal["none"] | None = None
    """Of a leader: whether he is the replacement already; none: he has no other side (13.3)."""
    troop_quality: Whole | None = None
    """Its own and constant: HQs and Ambush Units (3.2, 24.0)."""
    gun: bool | None = None
    """The Japanese gun symbol (8.7, 27.0)."""
    column: ColumnSide | Literal["none"] | None = None
    """The Column side where it differs; none: it has none (8.7.5)."""
    no_movement: bool = False
    """A movement allowance of No."""
    loaded_in: Name | None = None
    box: Box | None = None
    hidden: bool = False
    """In a Mangrove Swamp (6.2.1)."""
    amphibious: bool = False
    """An amphibious tank (22.2)."""
    corps: bool = False
    """Marine Corps artillery and trucks (26.0)."""
    dg: Annotated[int, Field(ge=0, le=4, strict=True)] = 0
    """Its own Disorganization: a named Hard Target (css-78), or a unit at sea (22.3.1)."""
    pinned: bool = False
    suppressed: bool = False
    status: Literal["eliminated"] | None = None
    due: Whole | None = None
    """Turns until it arrives (12.4.2, 18.0)."""

    @model_validator(mode="after")
    def only_japanese_in_caves(self) -> Self:
        if self.in_cave and self.side != "japan":
            raise ValueError("only Japanese units may be inside a cave (6.3)")
        if self.zone is not None and self.at is not None:
            raise ValueError("a unit is in a hex or in a naval zone, not both (22.0)")
        if (self.sustained_fire or self.alert is not None) and self.kind != "support_weapon":
            raise ValueError("sustained_fire and alert are abilities of a support weapon (8.6.1, 12.5)")
        return self


class Claimed(Form):
    """A marker of one side's (6.2.2, 9.2)."""

    side: Literal["us", "japan"] | None = None


class TrapValues(Form):
    """The numbers of a booby trap or sniper (23.0, 25.0)."""

    pin: Whole | None = None
    dg: Whole | None = None
    suppress: Whole | None = None
    fire: Whole | None = None
    leader_loss: Whole | None = None


class Trap(Form):
    """A booby trap or sniper: what it does, and which of its pool it is."""

    values: TrapValues | None = None
    id: Name | None = None


class Minefield(Form):
    """Mines: the DGs that demolition teams placed under them (28.3)."""

    demolition: Whole = 0


class Assigned(Form):
    """A marker that is one of several of a side's."""

    id: Name | None = None


MARKERS = {
    "dg": MarkerKind(value=(1, 4), in_cave=True),
    "pinned": MarkerKind(in_cave=True),
    "suppressed": MarkerKind(in_cave=True),
    "ridge": MarkerKind(facing=True, untold=True, says=Claimed),
    **dict.fromkeys(("prepared_assault", "banzai_charge", "drunk_banzai_charge"), MarkerKind(says=Claimed)),
    **dict.fromkeys(("booby_trap", "sniper"), MarkerKind(says=Trap)),
    "mines": MarkerKind(says=Minefield),
    **dict.fromkeys(("air_strike", "task_force"), MarkerKind(says=Assigned)),
    **plain_markers(
        "smoke_barrage light_barrage medium_barrage heavy_barrage bombardment on_fire"
        " fire_cleared illumination concentrated_fire no_opportunity_fire sustained_fire foxhole trench"
        " pillbox bunker gyokusai drunk hungover cave_sealed orote_cleared orote_operational beach_closed"
    ),
}
STATUS = ("dg", "pinned", "suppressed")
"""Markers that an effect tells as keys of their hex: `{hex: "22.80", dg: 2}` (10.0)."""


class Stacked(Form):
    """What a css hex has been disorganized for before: how many over the limit, and mixed formations (6.1)."""

    over: Whole = 0
    mixed: bool = False


class Active(Form):
    """Who is Active (5.1): a Division, a Formation of one, a side on its Direct Command chit, or single units."""

    division: Name | None = None
    formation: Name | None = None
    side: Literal["us", "japan"] | None = None
    units: tuple[Name, ...] | None = None


NIGHTS = {"night_1": 1, "night_2": 2}
"""The night turns (2.0)."""


class CssConditions(Form):
    """Weather (4.0), time of day (17.0), the moment of the turn, who is Active, and what the Activation has used up."""

    @model_validator(mode="before")
    @classmethod
    def a_night_turn_is_night(cls, told: Any) -> Any:
        """Who names a night turn, or its number, need not say that it is night (2.0, 17.0)."""
        if not isinstance(told, dict):
            return told
        if told.get("turn") in NIGHTS:
            return {"time": "night", "night": NIGHTS[told["turn"]]} | told
        return {"time": "night"} | told if told.get("night") else told

    weather: Literal["clear", "rain", "hot", "tropical_storm"] = "clear"
    time: Literal["day", "night"] = "day"
    night: Literal[1, 2] | None = None
    """Which of the two night turns."""
    interdiction: Annotated[int, Field(ge=0, le=3, strict=True)] = 0
    """Air Support markers in the Interdiction box."""
    activation: Literal["division", "formation", "direct_command", "amphibious"] | None = None
    """Which kind of chit is in play."""
    stacked: dict[Label, Stacked] = {}  # noqa: RUF012
    turn: Name | None = None
    """`0500` and further, `night_1`, `night_2` (2.0)."""
    day: Name | None = None
    """Month and day, `07-25`."""
    phase: Literal["preparation", "action", "end"] | None = None
    step: Name | None = None
    initiative: Literal["us", "japan"] | None = None
    naval_support: bool = True
    """Whether the scenario adds the Naval Support chit in rain, too (21.0)."""
    active: Active | Literal["us", "japan"] | None = None
    action: Literal["first", "second"] | None = None
    fired: tuple[Label, ...] = ()
    """Hexes from which direct fire was made in this Activation (8.2)."""
    indirect_fired: tuple[Label, ...] = ()
    """Hexes from which indirect fire was made, one entry a fire (8.0)."""
    supporting: dict[Label, tuple[Name, ...]] = {}  # noqa: RUF012
    """Indirect units that have fired in support of an assault, by the hex that is assaulted (9.1 B)."""
    rallied: tuple[Label, ...] = ()
    engineered: tuple[Label, ...] = ()
    ambush_tried: tuple[Label, ...] = ()
    changed: tuple[Name, ...] = ()
    """Units that have changed their posture in this Activation (6.0)."""
    acted: dict[Name, Whole] = {}  # noqa: RUF012
    """How many Actions each unit has done in this Activation."""


class CssSide(Form):
    """Points and bottle of a side (30.0, 31.0)."""

    vp: Annotated[int, Field(ge=0, le=29, strict=True)] | None = None
    casualties: Whole | None = None
    whiskey: bool | None = None
    sake: bool | None = None
    drunk_banzai: bool | None = None
    """Whether an event that a scenario adds makes the next charge a drunk one (9.6.1, css-23)."""


class Division(Form):
    """A Division's display (19.0)."""

    order: Whole | None = None
    """Its place among the Divisions, in which they roll."""
    side: Literal["us", "japan"] | None = None
    service: Literal["marine", "army", "navy"] | None = None
    command_rating: Whole | None = None
    dispatch_rating: Whole | None = None
    base_troop_quality: Whole | None = None
    troop_quality: Whole | None = None
    direct_commands: Annotated[int, Field(ge=0, le=19, strict=True)] | None = None
    dispatch_points: Annotated[int, Field(ge=0, le=9, strict=True)] | None = None
    fatigue: Annotated[int, Field(ge=0, le=19, strict=True)] | None = None


class Pools(Form):
    """What is drawn blind: Ambush Units, snipers, booby traps, by their ids (23.0 to 25.0)."""

    ambush: tuple[Name, ...] = ()
    sniper: tuple[Name, ...] = ()
    booby_trap: tuple[Name, ...] = ()


class CssTracks(Form):
    """What is kept beside the map: points, displays, the cup, pools and boxes."""

    @field_validator("divisions", mode="after")
    @classmethod
    def in_order(cls, divisions: dict[str, Division] | None) -> dict[str, Division] | None:
        """Divisions roll in the order in which they are told, which a database does not keep."""
        if divisions is None or len(divisions) < 2 or all(one.order for one in divisions.values()):
            return divisions
        return {
            name: one.model_copy(update={"order": n}) for n, (name, one) in enumerate(divisions.items(), 1)
        }

    us: CssSide | None = None
    japan: CssSide | None = None
    divisions: dict[Name, Division] | None = None
    cup: Annotated[tuple[Name, ...], Hidden("all")] | None = None
    bought: tuple[Name, ...] | None = None
    played: tuple[Name, ...] | None = None
    pools: Annotated[Pools, Hidden("all")] | None = None
    air_box: Annotated[int, Field(ge=0, le=3, strict=True)] | None = None
    task_forces: Whole | None = None
    air_strikes: Whole | None = None
    """Air Support markers of this draw that are not used yet (16.0)."""
    once: tuple[Name, ...] | None = None
    """What may happen once and has: massed_banzai, mason … ."""
    hexes: dict[Label, dict[str, Any]] | None = None
    """What is remembered of a hex: who has entered, who controls it (11.3, 30.2)."""
    schedule: dict[Name, Any] | None = None
    """What comes later, by turn (18.0, 12.4.2)."""
