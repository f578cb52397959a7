"""Combat Events in bob: 17.0 and its two tables, with snipers.

The tables are charts (`combat_event_table`, `japanese_event_table`); what each event does is here, and a choice
that can be made must be made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.bob.checks import Doing, conditions, counter, kinds, reading
from app.play.bob.losses import eliminate, mark_kill, reduce, reveal, suffer
from app.play.procedures import Action, Ask, Change, Choose, Procedure, Refused, Roll, Tell, procedure_kind
from app.referee.rulings import Ruling, Step
from importers.questions import Names

UNITS = """
select unit.code, unit.side, unit.kind, unit.attributes, hex.label,
  bob._in_melee(state, bob._counter(state, unit.code)) as melee
from positions.state(:position, :conditions, :policy) as state
join unit on unit.position_id = state.position_id
left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
order by unit.code collate "C"
"""
TABLE = "select cell.value, cell.rule from charts.cell('bob', :chart, :row, 'event') as cell"
SHELTERED = "select bob.sheltered(:position, :unit, :conditions, :policy) as so"


class EventOf(Action):
    """Whose roll it was, and on which table it is rolled."""

    roll_by: str | None = Field(None, description="The side whose unit rolled the 1, or that unit")
    table: Literal["combat", "japanese"] | None = Field(
        None, description="The table, where it is known already: then no trigger is rolled"
    )
    by: Annotated[str | None, Names(("unit",))] = Field(None, description="The unit that rolled the 1")
    targets: Annotated[list[str] | None, Names(("unit",))] = Field(
        None, description="The units that it attacked"
    )


def triggered(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """17.0: the roll after a 1: whose event it is, or none."""
    die = yield Roll("1d10", "whether there is a Combat Event")
    units = yield Ask(UNITS, proves=False)
    sides = list(dict.fromkeys(unit.side for unit in units))
    others = [other for other in sides if other != side]
    japanese = next((unit.side for unit in units if _nation(unit) == "japan"), None)
    if die == 1:
        yield from happen("combat", side, involved, choices)
    elif die == 2 and others:
        yield from happen("combat", others[0], involved, choices)
    elif die == 3 and japanese is not None:
        yield from happen("japanese", japanese, involved, choices)
    else:
        yield Tell(Step("17.0", None, "none", f"{die}: no Combat Event"), event="none")


def happen(table: str, side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """One roll on a table, and what it brings."""
    yield Tell(event=table, event_by=side)
    die = yield Roll("1d10", f"the {table} event table")
    [entry] = yield Ask(TABLE, proves=False, chart=f"{table}_event_table", row=str(die))
    yield Tell(Step("17.0", None, entry.value, f"{die} on the {table} event table"), entry=entry.value)
    yield from EVENTS[entry.value](side, involved, choices)


def _nation(unit: Any) -> str:
    return str(unit.attributes.get("nation") or unit.side)


def _standing() -> Doing:
    """All units on the map."""
    return [unit for unit in (yield Ask(UNITS, proves=False)) if unit.label or unit.attributes.get("in")]


def _open_foot(units: Sequence[Any]) -> list[Any]:
    return [unit for unit in units if unit.kind in ("squad", "wt") and not unit.attributes.get("concealed")]


def pick(
    side: str,
    purpose: str,
    options: Sequence[str],
    choices: Mapping[str, Any],
    *names: str,
    many: int | None = None,
) -> Doing:
    """A choice of the side whose event it is: one, or as many as there are up to `many`; alone it is not asked."""
    name = next((one for one in names if one in choices), names[0])
    told = name in choices
    if not options:
        if told:
            raise Refused("17.0", f"nobody can be chosen for {purpose}")
        return [] if many else None
    if many is None:
        if len(options) == 1 and not told:
            return options[0]
        return (yield Choose(name, side, purpose, list(options), default=options[0]))
    wanted = min(many, len(options))
    if len(options) <= many and not told:
        return list(options)
    chosen = yield Choose(
        name, side, f"{purpose}: {wanted}", list(options), many=True, default=list(options[:wanted]),
        check=lambda value: None if isinstance(value, list) and len(set(value)) == wanted == len(value) else f"{wanted} of them are to be chosen",
    )  # fmt: skip
    return chosen


def _mishap(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """1: the firer or one target is Reduced, removed, or a UK; where nobody says who they are, any unit is offered."""
    there = [unit.code for unit in (yield from _standing())]
    able = [one for one in involved if one in there] if involved else there
    code = yield from pick(side, "who is hit by the mishap", able, choices, "unit", "target")
    if code is None:
        return
    unit = yield from counter(code)
    if unit.kind in ("decoy", "satt", "gun"):
        yield from eliminate(code, "combat event")
    elif unit.kind in ("vehicle", "carrier"):
        played = yield from _kills_count()
        if played:
            yield from mark_kill(code)
    else:
        yield from reduce(code)


def _kills_count() -> Doing:
    """bob-38: whether a UK counter means something where 61.2 is not played."""
    how = yield from reading("bob-38")
    now = yield from conditions()
    return how == "a" or "unconfirmed_kills" in (now.get("rules") or ())


def _sniper(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """2, and 1-3 of the Japanese: an unconcealed Squad or WT is Reduced; enemies first, else one of one's own (451)."""
    open_foot = _open_foot((yield from _standing()))
    enemies = [unit.code for unit in open_foot if unit.side != side]
    code = yield from pick(
        side, "whom the sniper hits", enemies or [unit.code for unit in open_foot], choices, "unit", "target"
    )
    if code is not None:
        yield from reduce(code)


def _japanese_sniper(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    enemies = [unit.code for unit in _open_foot((yield from _standing())) if unit.side != side]
    code = yield from pick(side, "whom the sniper hits", enemies, choices, "unit", "target")
    if code is not None:
        yield from reduce(code)


def _restored(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """3: a Reduced Squad is at full strength again and keeps its Suppression."""
    units = yield from _standing()
    reduced = [unit for unit in units if unit.kind == "squad" and unit.attributes.get("reduced")]
    own = [unit.code for unit in reduced if unit.side == side]
    code = yield from pick(
        side, "the Squad that is restored", own or [unit.code for unit in reduced], choices, "unit", "target"
    )
    if code is not None:
        yield Change({"unit": code, "reduced": False})


def _lost_squad(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """4: a lost Squad comes back Reduced and Used to a lone open Squad of its nation."""
    units = yield Ask(UNITS, proves=False)
    lost = [unit for unit in units if unit.kind == "squad" and unit.attributes.get("status") == "eliminated"]
    lone = [
        unit
        for unit in units
        if unit.kind == "squad" and unit.label and not unit.attributes.get("in") and _alone(unit, units)
    ]
    able = [one for one in lost if any(_nation(host) == _nation(one) for host in lone)]
    own = [unit.code for unit in able if unit.side == side]
    code = yield from pick(
        side, "the Squad that comes back", own or [unit.code for unit in able], choices, "unit", "squad"
    )
    if code is None:
        yield Tell(Step("17.0", None, "none", "no lost Squad has a lone Squad of its nation to come back to"))
        return
    nation = _nation(next(unit for unit in lost if unit.code == code))
    hosts = [unit for unit in lone if _nation(unit) == nation]
    shown = [unit.code for unit in hosts if not unit.attributes.get("concealed")]
    host = yield from pick(
        side, "the Squad it joins", shown or [unit.code for unit in hosts], choices, "to", "host"
    )
    yield from reveal(host)
    at = (yield from counter(host)).label
    yield Change({"unit": code, "at": at, "reduced": True, "used": True, "suppression": "none"})


def _alone(unit: Any, units: Sequence[Any]) -> bool:
    return not any(
        other.code != unit.code
        and other.label == unit.label
        and other.kind in ("squad", "wt", "gun", "decoy")
        for other in units
    )


def _revealed(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """5: two enemies lose their Concealment."""
    units = yield from _standing()
    hidden = [unit.code for unit in units if unit.side != side and unit.attributes.get("concealed")]
    for code in (yield from pick(side, "who is revealed", hidden, choices, "units", many=2)):
        yield from reveal(code)


def _concealed(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """6: two open Squads or WTs in Beneficial Terrain, next to no enemy, are Concealed."""
    able = []
    for unit in _open_foot((yield from _standing())):
        if unit.attributes.get("in"):
            continue
        [place] = yield Ask(SHELTERED, proves=False, unit=unit.code)
        if place.so:
            able.append(unit)
    own = [unit.code for unit in able if unit.side == side]
    for code in (
        yield from pick(
            side, "who is Concealed", own or [unit.code for unit in able], choices, "units", many=2
        )
    ):
        yield Change({"unit": code, "concealed": 1})


def _used(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """7: two open Squads or WTs are Used."""
    able = [
        unit
        for unit in _open_foot((yield from _standing()))
        if not unit.attributes.get("in") and not unit.attributes.get("used")
    ]
    enemies = [unit.code for unit in able if unit.side != side]
    chosen = choices.get("units")
    options = enemies if len(enemies) >= 2 and not chosen else [unit.code for unit in able]
    for code in (yield from pick(side, "who is Used", options, choices, "units", many=2)):
        unit = yield from counter(code)
        gone = {"op_fire": False} if unit.attributes.get("op_fire") else {}
        yield Change({"unit": code, "used": True, **gone})


def _refreshed(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """8: Used and Op Fire counters come off two infantry units, or one other unit."""
    units = [
        unit
        for unit in (yield from _standing())
        if unit.attributes.get("used") or unit.attributes.get("op_fire")
    ]
    own = [unit for unit in units if unit.side == side] or units
    foot = [unit.code for unit in own if unit.kind in ("squad", "wt", "decoy")]
    other = [unit.code for unit in own if unit.kind in ("gun", "vehicle", "carrier")]
    told = choices.get("units") or ([choices["unit"]] if "unit" in choices else None)
    if "unit" in choices:
        told = [(yield Choose("unit", side, "whose counters come off", [*foot, *other]))]
    elif "units" in choices:
        told = yield Choose("units", side, "whose counters come off", [*foot, *other], many=True)
    elif foot and other and len(foot) + len(other) > 1:
        told = yield Choose(
            "units", side, "whose counters come off: two infantry units or one other", [*foot, *other], many=True,
            default=foot[:2],
        )  # fmt: skip
    chosen = told if told is not None else (foot or other)[:2]
    if told is None and len(foot) > 2:
        chosen = yield from pick(side, "whose counters come off", foot, choices, "units", many=2)
    if len(chosen) > 2 or (len(chosen) == 2 and not set(chosen) <= set(foot)):
        raise Refused("17.0", "two infantry units, or one Vehicle, Gun or loaded Carrier")
    # a Carrier with its passengers
    riders = [unit.code for unit in units if unit.attributes.get("in") in chosen]
    for code in dict.fromkeys([*chosen, *riders]):
        unit = yield from counter(code)
        off: dict[str, Any] = {key: False for key in ("used", "op_fire") if unit.attributes.get(key)}
        if unit.attributes.get("sustained"):
            off["sustained"] = []
        yield Change({"unit": code, **off})


def _command_points(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """9: two CPs for one use each, now or later."""
    query = "select bob._of_side(state, :side, 'bonus_cps') as held from positions.state(:position, :conditions, :policy) as state"
    [row] = yield Ask(query, proves=False, side=side)
    yield Change({"side": side, "bonus_cps": (row.held or 0) + 2})


def _choose(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """10: one event of the table by choice; by its number or its name."""
    names = {str(n): name for n, name in enumerate(COMBAT, start=1)}
    told = yield Choose("event", side, "which event", [*range(1, 10), *COMBAT], default=2)
    entry = names.get(str(told), str(told))
    yield Tell(entry=entry)
    yield from EVENTS[entry](side, involved, choices)


def _babe_ruth(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """Japanese 4-6: an enemy on foot is lured into firing at nothing (bob-42)."""
    units = yield from _standing()
    foot = [
        unit.code
        for unit in units
        if unit.side != side and unit.kind in ("squad", "wt", "decoy") and not unit.attributes.get("in")
    ]
    code = yield from pick(side, "who is called names", foot, choices, "unit", "target")
    if code is None:
        return
    unit = yield from counter(code)
    yield from reveal(code)
    if unit.kind == "decoy" or unit.attributes.get("used"):
        return
    die = yield Roll("1d10", f"whether {code} fires")
    more = 0 if unit.attributes.get("marine") else 3
    yield Tell(
        Step(
            "17.0", unit.label, die + more, f"{die}{' + 3, no Marine' if more else ''}: it fires on 9 or more"
        ),
        total=die + more,
    )
    if die + more < 9:
        return
    off = {"op_fire": False} if unit.attributes.get("op_fire") else {}
    yield Change({"unit": code, "used": True, **off})
    now = yield from conditions()
    how = yield from reading("bob-42")
    yield Tell(flash=bool(now.get("night")) or how == "b")


def _ambush(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """Japanese 7-8: one unit in a Melee strikes at once, without a bonus."""
    units = yield from _standing()
    fighting = [unit for unit in units if unit.side == side and unit.melee]
    code = yield from pick(side, "who strikes", [unit.code for unit in fighting], choices, "unit")
    if code is None:
        return
    striker = next(unit for unit in fighting if unit.code == code)
    [row] = yield Ask(MELEE_FP, proves=False, unit=code)
    dice = yield Roll("2d10", f"the Melee attack of {code}")
    hits = sum(1 for die in dice if die <= row.fp)
    yield Tell(value=row.fp, hits={code: hits})
    owner = next((unit.side for unit in units if unit.side != side and unit.label == striker.label), side)
    for _ in range(hits):
        here = [
            unit.code
            for unit in (yield from _standing())
            if unit.side != side and unit.label == striker.label and unit.melee
        ]
        hurt = yield from pick(owner, "who takes the casualty", here, choices, "casualty")
        if hurt is None:
            return
        unit = yield from counter(hurt)
        yield from suffer(
            hurt, "eliminated" if unit.kind in ("wt", "gun") or unit.attributes.get("reduced") else "reduced"
        )


MELEE_FP = """
select case
  when unit.kind = 'gun' then 2
  when bob._shown(unit.attributes, 'melee_fp') is not null then bob._shown(unit.attributes, 'melee_fp')::integer
  when unit.kind = 'wt' and state.readings ->> 'bob-4' = 'a' then case when bob._flag(unit, 'reduced') then 1 else 2 end
  else bob._nth(bob._shown(unit.attributes, 'fp'), 1)
end as fp
from positions.state(:position, :conditions, :policy) as state
cross join lateral bob._counter(state, :unit) as unit
"""


def _banzai(side: str, involved: Sequence[str], choices: Mapping[str, Any]) -> Doing:
    """Japanese 9-10: a Squad that the opponent picks charges at once, its Suppression gone."""
    units = yield from _standing()
    able = [
        unit.code for unit in units
        if unit.side == side and unit.kind == "squad" and not unit.attributes.get("grenade_discharger")
        and not unit.attributes.get("concealed") and not unit.melee and not unit.attributes.get("used")
        and not unit.attributes.get("moving") and unit.code not in involved[:1]
    ]  # fmt: skip
    opponent = next((unit.side for unit in units if unit.side != side), side)
    code = yield from pick(opponent, "the Squad that charges", able, choices, "unit", "squad")
    if code is None:
        yield Tell(Step("17.0", None, "none", "no Squad can charge: no event"))
        return
    unit = yield from counter(code)
    calm = {"suppression": "none"} if unit.attributes.get("suppression", "none") != "none" else {}
    off = {"op_fire": False} if unit.attributes.get("op_fire") else {}
    yield Change({"unit": code, "declared": "banzai", **calm, **off})
    yield Tell(charges=code)


COMBAT = (
    "mishap",
    "sniper",
    "restored",
    "lost_squad",
    "revealed",
    "concealed",
    "used",
    "refreshed",
    "command_points",
)
EVENTS: dict[str, Any] = {
    "mishap": _mishap, "sniper": _sniper, "restored": _restored, "lost_squad": _lost_squad, "revealed": _revealed,
    "concealed": _concealed, "used": _used, "refreshed": _refreshed, "command_points": _command_points, "choose": _choose,
    "babe_ruth": _babe_ruth, "ambush": _ambush, "banzai": _banzai,
}  # fmt: skip


# The procedures


def event(of: EventOf) -> Procedure:
    """17.0: from the trigger, or on a table that is told."""
    units = yield Ask(UNITS, proves=False)
    firer = next((unit for unit in units if unit.code == (of.by or of.roll_by)), None)
    roll_by = of.roll_by if firer is None or of.roll_by not in (None, firer.code) else firer.side
    involved = [*([firer.code] if firer else []), *(of.targets or [])]
    # a table that is told needs no trigger; where dice for both are told, the trigger comes first
    if of.table is None or (len(of.rolls) > 1 and (of.table == "combat" or of.rolls[0] == 3)):
        if roll_by is None:
            raise Refused("17.0", "whose roll was it? Give roll_by, a side or a unit")
        yield from triggered(roll_by, involved, of.choices)
        return
    japanese = next((unit.side for unit in units if _nation(unit) == "japan"), None)
    if of.table == "japanese" and japanese is None:
        yield Tell(event="none")
        return
    if of.table == "japanese" and japanese is not None:
        side = japanese
    else:
        side = roll_by or (yield from _whose_range(units))
    yield from happen(of.table, side, involved, of.choices)


def _whose_range(units: Sequence[Any]) -> Doing:
    """Whose roll it was, where nobody says: the side whose Operations Range it is, or that moves first."""
    now = yield from conditions()
    side = now.get("active") or now.get("first")
    if side is None and len({unit.side for unit in units}) > 1:
        raise Refused("17.0", "whose roll was it? Give roll_by, a side or a unit")
    return side or next((unit.side for unit in units), "us")


class SniperOf(Action):
    """Whose sniper."""

    side: str | None = Field(None, description="The side whose sniper it is")
    target: Annotated[str | None, Names(("unit",))] = Field(None, description="Whom it hits")
    unit: Annotated[str | None, Names(("unit",))] = Field(
        None, description="The same, as other procedures name it"
    )


def sniper(of: SniperOf) -> Procedure:
    """17.0: the sniper of either table: an open Squad or WT is Reduced."""
    open_foot = _open_foot((yield from _standing()))
    hit = of.target or of.unit
    if hit is not None:
        if hit not in [unit.code for unit in open_foot]:
            raise Refused("17.0", f"{hit} is not an unconcealed Squad or WT")
        yield Tell(Step("17.0", None, "sniper", f"{hit}, an unconcealed Squad or WT, is hit"))
        yield from reduce(hit)
        return
    if of.side is None:
        raise Refused("17.0", "whose sniper is it? Give a side, or whom it hits")
    yield from _sniper(of.side, [], of.choices)


def _event_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"There is no such event: {answer['why']}"
    if answer.get("event") == "none":
        return "There is no Combat Event"
    entry = answer.get("entry")
    said = (
        f"Event of {answer.get('event_by')}: {entry.replace('_', ' ')}"
        if entry
        else "A Combat Event is rolled for"
    )
    pending = answer.get("pending")
    return said if pending is None else f"{said}; it waits for {pending['for']}"


def _sniper_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"The sniper hits nobody: {answer['why']}"
    hit = [effect["unit"] for effect in answer["effects"] if "unit" in effect]
    if hit:
        return f"The sniper hits {hit[-1]}"
    return "The sniper waits for a target to be chosen" if "pending" in answer else "The sniper finds nobody"


EVENT_POINTS = ("bob-4", "bob-38", "bob-42")
KINDS = [
    procedure_kind(
        event, kinds=kinds, name="event", title="Combat Event", arguments=EventOf, rulesets=("bob",),
        answers={
            "event": "none, combat or japanese", "event_by": "whose event it is", "entry": "which event of the table",
            "total": "a die with what is added to it", "flash": "whether a muzzle flash may be answered",
            "value": "Melee FP of who strikes", "hits": "hits by unit", "charges": "the Squad that charges",
        },
        verdict=_event_verdict, points=EVENT_POINTS, example="event: {roll_by: us, table: combat, rolls: [2], choices: {unit: B}}",
        acts=False,
    ),
    procedure_kind(
        sniper, kinds=kinds, name="sniper", title="Sniper", arguments=SniperOf, rulesets=("bob",), answers={},
        verdict=_sniper_verdict, points=EVENT_POINTS, example="sniper: {side: japan, target: A}", acts=False,
    ),
]  # fmt: skip
