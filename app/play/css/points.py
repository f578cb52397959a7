"""Points of the Divisions (4.0 1, 19.0): the morning of a day, chits bought, fatigue, Dispatch Points, Direct Commands."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from app.play.charts import cell
from app.play.css.dice import d10
from app.play.css.frame import Asking, NothingMore, css_kind, game, ledger
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, Undecided
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, counted, series

WEATHERS = ("clear", "rain", "hot", "tropical_storm")
CLEARED = (
    "on_fire", "dg", "suppressed", "pinned", "no_opportunity_fire", "sustained_fire", "concentrated_fire",
)  # fmt: skip
"""Markers that a Tropical Storm takes off (4.0 1A)."""
LYING = (
    "select marker.kind, marker.value, hex.label, coalesce((marker.attributes ->> 'in_cave')::boolean, false) as inside"
    " from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
    " where marker.position_id = :position and marker.kind = any(:kinds) order by marker.kind, hex.label"
)
STATUS = ("dg", "suppressed", "pinned")


class DayStart(Action):
    """Nothing but the weather table is read, where nobody filled it in."""


def lifted(*kinds: str) -> Procedure:
    """Markers of these kinds leave the map, wherever they lie."""
    for row in (yield Ask(LYING, proves=False, kinds=list(kinds))):
        cave = {"in_cave": True} if row.inside else {}
        if row.kind in STATUS:
            yield Change({"hex": row.label, **cave, row.kind: 0 if row.kind == "dg" else False})
        else:
            yield Change({"marker": row.kind, "at": row.label, "removed": True})


def to_transport(rule: str) -> Procedure:
    """All who are at sea go back to the Transport Zone of their beach, in the line that they had (17.0)."""
    query = (
        "select code, attributes -> 'zone' as zone from unit where position_id = :position"
        " and attributes -> 'zone' ->> 'run' <> 'transport' order by code"
    )
    for row in (yield Ask(query, proves=False)):
        yield Tell(Step(rule, row.zone["beach"], "returns", f"{row.code} goes back to the Transport Zone"))
        yield Change({"unit": row.code, "zone": row.zone | {"run": "transport"}})


def day_start(of: DayStart) -> Procedure:
    """4.0 1 A to D: weather, fatigue, illumination, whiskey and sake."""
    state, tracks = yield from game()
    turn = state.conditions.get("turn", "0500")
    if turn != "0500":
        raise Refused("4.0", "weather and fatigue are of the 0500 turn")
    weather = yield from _weather(of, state.conditions)
    yield Tell(weather=weather, result=weather)
    if weather is None:
        raise Undecided(Need("weather_table", "4.0"), weather=None)
    facts = yield from ledger("day_start", weather=weather)
    yield Tell(weather=weather, skips_day=facts["skips_day"])
    if weather != state.conditions.get("weather", "clear"):
        yield Change({"conditions": {"weather": weather}})
    for division, changed in facts["divisions"].items():
        if changed:
            yield Change({"division": division, **changed})
    if weather in ("rain", "tropical_storm"):
        yield Tell(Step("8.8.1", None, "puts out", "rain puts fires out"))
        yield from lifted("on_fire")
    if facts["skips_day"]:
        yield Tell(Step("4.0", None, "skips", "the day of a tropical storm is skipped"))
        yield from _cleared(state)
        yield from to_transport("4.0")
        return
    yield from lifted("illumination")
    yield from _bottles(tracks)


OWN = (
    "select code, attributes from unit where position_id = :position and attributes ->> 'status' is null"
    " and attributes ?| array['dg', 'pinned', 'suppressed'] order by code"
)


def _cleared(state: Any) -> Procedure:
    """4.0 1A: what a storm takes off hexes and units; css-34: DG, Pinned and Suppressed too."""
    kinds: tuple[str, ...] = CLEARED[1:]
    units = yield Ask(OWN, proves=False)
    if units or (yield Ask(LYING, proves=False, kinds=list(STATUS))):
        yield Tell(points=("css-34",))
        if state.readings["css-34"] == "b":
            kinds, units = tuple(kind for kind in kinds if kind not in STATUS), []
    yield from lifted(*kinds)
    for row in units:
        own = {kind: 0 if kind == "dg" else False for kind in STATUS if row.attributes.get(kind)}
        if own:
            yield Change({"unit": row.code, **own})


def _weather(of: DayStart, conditions: dict[str, Any]) -> Asking:
    """The table by a die, one more after a day of rain; what was read needs no die."""
    if "weather_table" in of.read and not of.rolls:
        told = of.read["weather_table"]
        if isinstance(told, str):
            return _word(told)
    die = yield from d10("the weather")
    row = die + (1 if conditions.get("weather") == "rain" else 0)
    if row != die:
        yield Tell(Step("4.0", None, "+1", "yesterday it rained"))
    yield Tell(roll=row)
    told = yield from cell(of, "weather_table", str(row), "weather", rule="4.0", what="weather_table")
    return None if told is None else _word(told)


def _word(told: str) -> str:
    if told not in WEATHERS:
        raise Refused("4.0", f"{told} is no weather; there is {series(WEATHERS)}")
    return told


def _bottles(tracks: dict[str, Any]) -> Procedure:
    """31.0: each player has a bottle again."""
    for side, bottle in (("us", "whiskey"), ("japan", "sake")):
        if tracks.get(side, {}).get(bottle) is False:
            yield Tell(Step("31.0", None, "returns", f"{bottle} for another day"))
            yield Change({"side": side, bottle: True})


class Buy(Action):
    """Which chit."""

    division: str = Field(description="The Division whose chit it is, or whose Formation's")
    formation: str | None = Field(None, description="The Formation; without it the chit is the Division's")


def buy(of: Buy) -> Procedure:
    """4.0 1G and 2C: a chit for the cup, or a Formation played before the draw."""
    division, formation = chit_parts(of.division, of.formation)
    facts = yield from ledger("buy", tells=True, division=division, formation=formation)
    yield Tell(cost=facts["cost"], chit=facts["chit"], left=facts["left"])
    yield Change({"division": division, "dispatch_points": facts["left"]})
    state, tracks = yield from game()
    if state.conditions.get("phase") == "action":
        yield Change({"track": "played", "value": [*tracks.get("played", []), facts["chit"]]}, kept=True)
        if state.conditions.get("step") == "purchase":
            from app.play.css.chits import played

            yield from played(facts["chit"])
    else:
        yield Change({"track": "bought", "value": [*tracks.get("bought", []), facts["chit"]]}, kept=True)


def chit_parts(division: str, formation: str | None) -> tuple[str, str | None]:
    """A chit may be told as one word: `3 MarDiv/3 RCT`."""
    if formation is None and "/" in division:
        division, _, formation = division.partition("/")
    if formation is not None and formation.startswith(f"{division}/"):
        formation = formation.removeprefix(f"{division}/")
    return division, formation


class Fatigue(Action):
    """Whose fatigue, and whether its chit was bought."""

    division: str = Field(description="The Division")
    bought: bool | None = Field(
        None, description="Whether its Division chit was bought; else as the tracks tell"
    )


def fatigue(of: Fatigue) -> Procedure:
    """4.0 1H."""
    bought = of.bought
    if bought is None:
        _, tracks = yield from game()
        bought = of.division in tracks.get("bought", [])
    facts = yield from ledger("fatigue", tells=True, division=of.division, bought=bought)
    yield Tell(**facts)
    yield Change({"division": of.division, "fatigue": facts["fatigue"]})


class Dispatch(Action):
    """Whose roll."""

    division: str = Field(description="The Division")


def dispatch(of: Dispatch) -> Procedure:
    """4.0 1I, 19.1."""
    die = yield from d10(f"Dispatch Points of {of.division}")
    facts = yield from ledger("dispatch", tells=True, division=of.division, die=die)
    yield Tell(roll=die, **{key: facts[key] for key in ("result", "gained", "dispatch_points")})
    for division, points in facts["divisions"].items():
        if points is None:
            continue
        yield Change({"division": division, "dispatch_points": points})


class DirectCommand(Action):
    """Whose chit."""

    side: Literal["us", "japan"] = Field(description="Whose Divisions roll")


DIVISIONS = (
    "select told.name from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral css._displays(state) as told where told.side = :side order by told.place"
)


def direct_command(of: DirectCommand) -> Procedure:
    """4.0 2C vi, 19.1: a die for every Division of the side, in the order of its tracks."""
    rows = yield Ask(DIVISIONS, proves=False, side=of.side)
    if not rows:
        raise Undecided(Need(f"the Divisions of {of.side}", "19.1"))
    gained: dict[str, int] = {}
    for row in rows:
        die = yield from d10(f"Direct Commands of {row.name}")
        facts = yield from ledger("direct_command", tells=True, division=row.name, die=die)
        gained[row.name] = facts["gained"]
        yield Tell(gained=dict(gained))
        if facts["direct_commands"] is not None:
            yield Change({"division": row.name, "direct_commands": facts["direct_commands"]})


def paid(division: str, commands: int = 1) -> Asking:
    """A Division pays Direct Commands, twice as many on a Hot day; gives what that came to."""
    facts = yield from ledger("command_price", division=division, commands=commands)
    yield Change({"division": division, "direct_commands": facts["left"]})
    return facts["cost"]


# What happens by itself in the Preparation Phase, for all Divisions in turn.


ALL_DIVISIONS = DIVISIONS.replace(" where told.side = :side", "")


def fatigue_of_all(_: NothingMore) -> Procedure:
    """4.0 1H for every Division."""
    for row in (yield Ask(ALL_DIVISIONS, proves=False)):
        yield from fatigue(Fatigue(division=row.name))


def dispatch_of_all(_: NothingMore) -> Procedure:
    """4.0 1I for every Division."""
    for row in (yield Ask(ALL_DIVISIONS, proves=False)):
        yield from dispatch(Dispatch(division=row.name))


def _day_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    changed = [effect for effect in answer["effects"] if "division" in effect]
    return clauses(
        f"The day is {answer['weather'].replace('_', ' ')}",
        "it is skipped" if answer["skips_day"] else None,
        f"{counted(len(changed), 'Division')} changed" if changed else None,
    )


def _buy_verdict(ruling: Ruling) -> str:
    return f"{ruling.answer['chit']} is bought for {counted(ruling.answer['cost'], 'Dispatch Point')}"


def _fatigue_verdict(ruling: Ruling) -> str:
    return f"{ruling.question['fatigue']['division']} has fatigue {ruling.answer['fatigue']}"


def _dispatch_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    now = answer["dispatch_points"]
    have = f"gains {answer['gained']}: {now}" if now is not None else f"gains {answer['gained']}"
    return f"{ruling.question['dispatch']['division']} {have} Dispatch Points"


def _gained_verdict(ruling: Ruling) -> str:
    return f"Direct Commands gained: {series(f'{name} {gain}' for name, gain in ruling.answer['gained'].items())}"


KINDS = [
    css_kind(
        day_start,
        name="day_start",
        title="The morning of a day",
        what="morning",
        done=_day_verdict,
        arguments=DayStart,
        answers={
            "weather": "clear, rain, hot or tropical_storm",
            "roll": "the row of the weather table: the die, one more after a day of rain",
            "skips_day": "whether the day is skipped",
            "result": "the weather",
        },
        points=("css-34",),
        acts=False,
        example="day_start: {read: {weather_table: hot}}",
    ),
    css_kind(
        buy,
        name="buy",
        title="A chit bought with Dispatch Points",
        what="purchase",
        done=_buy_verdict,
        arguments=Buy,
        answers={"cost": "Dispatch Points", "chit": "the chit", "left": "Dispatch Points that would be left"},
        points=("css-46",),
        example="buy: {division: 3 MarDiv, formation: 3 RCT}",
    ),
    css_kind(
        fatigue,
        name="fatigue",
        title="Fatigue for a Division chit",
        what="fatigue",
        done=_fatigue_verdict,
        arguments=Fatigue,
        answers={"change": "what is added", "fatigue": "the Division's fatigue after it"},
        acts=False,
        example="fatigue: {division: 3 MarDiv, bought: true}",
    ),
    css_kind(
        dispatch,
        name="dispatch",
        title="Dispatch Points rolled for",
        what="Dispatch roll",
        done=_dispatch_verdict,
        arguments=Dispatch,
        answers={
            "roll": "the die",
            "result": "passes or fails",
            "gained": "Dispatch Points won",
            "dispatch_points": "what the Division has then",
        },
        points=("css-45",),
        acts=False,
        example="dispatch: {division: 3 MarDiv, rolls: [4]}",
    ),
    css_kind(
        direct_command,
        name="direct_command",
        title="Direct Commands rolled for",
        what="Direct Command roll",
        done=_gained_verdict,
        arguments=DirectCommand,
        answers={"gained": "Direct Commands won, by Division"},
        points=("css-9",),
        acts=False,
        example="direct_command: {side: us, rolls: [3]}",
    ),
    css_kind(
        fatigue_of_all,
        name="fatigue_of_all",
        title="Fatigue of every Division",
        what="fatigue",
        done=lambda _: "Every Division has its fatigue",
        arguments=NothingMore,
        answers={"change": "of the last Division: what is added", "fatigue": "its fatigue"},
        acts=False,
        example="fatigue_of_all: {}",
    ),
    css_kind(
        dispatch_of_all,
        name="dispatch_of_all",
        title="Dispatch Points of every Division",
        what="Dispatch roll",
        done=lambda _: "Every Division has rolled for Dispatch Points",
        arguments=NothingMore,
        answers={
            "roll": "of the last Division: the die",
            "result": "passes or fails",
            "gained": "Dispatch Points won",
            "dispatch_points": "what it has then",
        },
        points=("css-45",),
        acts=False,
        example="dispatch_of_all: {}",
    ),
]
