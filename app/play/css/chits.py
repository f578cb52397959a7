"""The cup and its chits (4.0 2, 5.0): filled, drawn, played; who is Active, what the end of an Activation does."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.play.css.dice import d10
from app.play.css.frame import Asking, NothingMore, css_kind, game, ledger
from app.play.css.points import DirectCommand, chit_parts, direct_command, paid
from app.play.css.status import RESULTS, Orders, eliminate, forsaken, settle
from app.play.css.victory import orote_watched
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Draw,
    Procedure,
    Refused,
    Tell,
)
from app.play.sequence import State, begin_phase, walk_of
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, counted, series
from db.values import canonical
from importers.questions import Names

ACTIVATION = (
    "leaders", "attach", "restock", "detach", "clear_markers", "assaults", "place_assaults", "postures", "actions",
    "second_actions", "overstacking",
)  # fmt: skip
COMMANDS = ("gain_commands", "activate", "overstacking")
CHITS = {
    "wind": "8.8.1",
    "random_event": "20.0",
    "naval_support": "21.0",
    "amphibious": "22.1",
    "air_support": "16.0",
    "direct_command_us": "5.3",
    "direct_command_japan": "5.3",
}
"""Chits of every turn, and the rules that say what they do; all others are a Division's or a Formation's (5.1)."""
USED_UP = (
    "fired", "indirect_fired", "supporting", "rallied", "engineered", "ambush_tried", "acted", "action", "changed",
)  # fmt: skip
"""What an Activation remembers."""


def steps_of(chit: str) -> tuple[str, ...]:
    """The steps in which a chit is resolved."""
    if chit.startswith("direct_command"):
        return COMMANDS
    return (chit,) if chit in CHITS else ACTIVATION


def fill_cup(_: NothingMore) -> Procedure:
    """4.0 2A."""
    facts = yield from ledger("fill_cup")
    yield Tell(cup=facts["cup"])
    yield Change(*({"cup": chit} for chit in facts["cup"]))
    yield Change({"track": "cup", "value": facts["cup"]}, {"track": "played", "value": None}, kept=True)


class DrawChit(Action):
    """Nothing more is said; `cards` has the chit."""


def draw(of: DrawChit) -> Procedure:
    """4.0 2C: one chit out of the cup."""
    state, tracks = yield from game()
    cup = tracks.get("cup")
    if cup == []:
        raise Refused("4.0", "the cup is empty")
    if state.conditions.get("phase", "action") != "action":
        raise Refused("4.0", "chits are drawn in the Action Phase")
    chit = yield Draw("the cup", "the next chit", pool=cup, kind="card")
    rule = CHITS.get(chit, "5.1")
    yield Tell(
        Step(rule, None, "drawn", f"the chit of {chit}"), chit=chit, rule=rule, steps=list(steps_of(chit))
    )
    yield Change({"cup": chit, "removed": True})
    if cup is not None:
        left = list(cup)
        left.remove(chit)
        yield Change({"track": "cup", "value": left}, kept=True)
    if state.conditions.get("step") == "draw":
        if chit not in CHITS:
            yield Change({"track": "played", "value": [*tracks.get("played", []), chit]}, kept=True)
        yield from played(chit)


def played(chit: str) -> Procedure:
    """A chit is resolved: who is Active, and its first step."""
    yield Change({"conditions": activated_by(chit)}, kept=True)
    walk = walk_of("css")
    from app.play.css.turn import moment_at

    state, tracks = yield from game()
    moment = moment_at(walk, "action", steps_of(chit)[0], State(state.conditions, tracks))
    if (yield from begin_phase(walk, moment)):
        from app.play.sequence import END_PHASE, EndPhase

        yield from END_PHASE.begin(EndPhase())


def activated_by(chit: str) -> dict[str, Any]:
    """The conditions under which a chit is resolved; nothing is used up yet."""
    fresh = dict.fromkeys(USED_UP)
    if chit.startswith("direct_command_"):
        side = chit.removeprefix("direct_command_")
        return fresh | {"activation": "direct_command", "active": {"side": side}}
    if chit == "amphibious":
        return fresh | {"activation": "amphibious", "active": {"side": "us"}}
    if chit in CHITS:
        return fresh | {"activation": None, "active": None}
    division, formation = chit_parts(chit, None)
    if formation is None:
        return fresh | {"activation": "division", "active": {"division": division}}
    return fresh | {"activation": "formation", "active": {"division": division, "formation": formation}}


class Activate(Action):
    """Whom: a Division, a Formation, or one unit on the Direct Command chit."""

    division: str | None = Field(None, description="The Division whose chit it is")
    formation: str | None = Field(None, description="The Formation, as its name or as Division/Formation")
    unit: Annotated[str | None, Names(("unit",))] = Field(
        None, description="A unit that is activated by a Direct Command"
    )
    pays: str | None = Field(None, description="The Division that pays, where several may (24.2, 26.0)")


FORMATIONS = (
    "select distinct attributes ->> 'division' as division from unit where position_id = :position"
    " and attributes ->> 'formation' = :formation and attributes ? 'division'"
)


def activate(of: Activate) -> Procedure:
    """5.1: who is Active; 4.0 2C v c and e: weapons become available, fire markers come off."""
    if of.unit is not None:
        yield from _by_command(of)
        return
    division, formation = yield from _named(of)
    facts = yield from ledger("activate", division=division, formation=formation)
    yield Tell(**{key: facts[key] for key in ("units", "weapons", "leaders", "cost", "restock")})
    yield from _restocked(facts["restock"])
    yield from _readied(facts)


def _readied(facts: dict[str, Any]) -> Procedure:
    """4.0 2C v e: fire markers come off the hexes of Active Units; 8.7.5: those beset flip, or are lost."""
    yield Change(*({**marker, "removed": True} for marker in facts["markers"]))
    for gun in facts["forced"]:
        if gun["eliminated"]:
            yield from eliminate(gun["unit"], "8.7.5", f"{gun['unit']} is beset and has no Column side")
            yield from settle(gun["at"], False, Orders())
        else:
            yield Tell(Step("8.7.5", gun["at"], "forces", f"an enemy stands beside {gun['unit']}"))
            yield Change({"unit": gun["unit"], "posture": "column"})


def _named(of: Activate) -> Asking:
    division, formation = of.division, of.formation
    if division is None and formation is None:
        raise Refused("5.1", "a Division, a Formation or a unit is named")
    if division is None and formation is not None and "/" not in formation:
        found = yield Ask(FORMATIONS, proves=False, formation=formation)
        if len(found) > 1:
            raise Refused(
                "5.1", f"{formation} is of {series(row.division for row in found)}: name the Division"
            )
        return (found[0].division if found else None), formation
    return chit_parts(division or "", formation) if division else chit_parts(formation or "", None)


def _restocked(weapons: list[str]) -> Procedure:
    for weapon in weapons:
        yield Tell(Step("4.0", None, "restocks", f"{weapon} is available again"))
        yield Change({"unit": weapon, "box": "available"})


def _by_command(of: Activate) -> Procedure:
    facts = yield from ledger("activate_unit", unit=of.unit)
    yield Tell(units=facts["units"], weapons=[], leaders=[], restock=[])
    payers = facts["payers"]
    division = of.pays
    if division is None and len(payers) > 1:
        side = yield Ask(
            "select side from unit where position_id = :position and code = :unit", proves=False, unit=of.unit
        )
        division = yield Choose(
            "pays", side[0].side, "which Division pays", options=payers, rule=facts["rule"]
        )
    elif division is None and payers:
        division = payers[0]
    if division is not None and division not in payers:
        raise Refused(facts["rule"], f"{division} does not pay for {of.unit}")
    if division is not None:
        _, tracks = yield from game()
        if division in tracks.get("divisions", {}):
            yield Tell(cost={division: (yield from paid(division))})
        else:
            yield Tell(cost={division: 1})
    yield from _readied(facts)
    [row] = yield Ask(
        "select side from unit where position_id = :position and code = :unit", proves=False, unit=of.unit
    )
    # the chit stays its owner's while his units act one by one
    yield Change(
        {"conditions": {"active": {"side": row.side, "units": [of.unit]}, "action": None}}, kept=True
    )


def restock(_: NothingMore) -> Procedure:
    """4.0 2C v c: what the Active Division had in the Reallocating box is available."""
    facts = yield from _active_facts()
    yield from _restocked(facts["restock"])


def clear_markers(_: NothingMore) -> Procedure:
    """4.0 2C v e, 8.7.5."""
    yield from _readied((yield from _active_facts()))


def _active_facts() -> Asking:
    state, _ = yield from game()
    active = state.conditions.get("active") or {}
    if not isinstance(active, dict) or "division" not in active:
        return {"restock": [], "markers": [], "forced": []}
    return (yield from ledger("activate", division=active["division"], formation=active.get("formation")))


def gain_commands(_: NothingMore) -> Procedure:
    """4.0 2C vi a: on the Direct Command chit every Division of its owner rolls."""
    state, _ = yield from game()
    side = (state.conditions.get("active") or {}).get("side", "us")
    yield from direct_command(DirectCommand(side=side))


# The end of an Activation.


HERE = (
    "select unit.code, unit.side from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and hex.label = :label and css._is_unit(unit.kind)"
    " and coalesce((unit.attributes ->> 'in_cave')::boolean, false) = :inside order by unit.code"
)
CROWDED = (
    "select place from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral css._crowded(state) as place"
)
SCORCHED = (
    "select unit.code, unit.label from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral css._scorched(state) as unit order by unit.code"
)


def end_activation(_: NothingMore) -> Procedure:
    """6.1, 8.8.1, 9.2, 6.2.2, 11.3.1: overstacking, fire, markers that nobody stands by, the airfield."""
    yield from _overstacking()
    for row in (yield Ask(SCORCHED, proves=False)):
        yield Tell(Step("8.8.1", row.label, "eliminates", f"{row.code} ends its Activation in a burning hex"))
        yield Change({"unit": row.code, "eliminated": True})
    yield from forsaken()
    yield from orote_watched()


def _overstacking() -> Procedure:
    state, _ = yield from game()
    stacked: dict[str, Any] = dict(state.conditions.get("stacked") or {})
    checked: dict[str, dict[str, Any]] = {}
    for row in (yield Ask(CROWDED, proves=False)):
        rows = yield Ask("select * from css.stack(:position, :hex, :conditions, :policy)", hex=row.place)
        facts, label = rows[-1].facts, rows[-1].at
        inside = label.endswith(" cave")
        label = label.removesuffix(" cave")
        if facts["added"]:
            cave = {"in_cave": True} if inside else {}
            yield Change({"hex": label, **cave, "dg": facts["dg"]})
            yield from _lost(label, facts["eliminated"], inside)
        if facts["over"] or facts["mixed"]:
            told = {"over": facts["over"], "mixed": bool(facts["mixed"])}
            checked[label] = {key: value for key, value in told.items() if value}
    if {key: value for key, value in stacked.items() if value} != checked:
        yield Change({"conditions": {"stacked": checked or None}}, kept=True)


def _lost(label: str, number: int | None, inside: bool) -> Procedure:
    """10.2.3: as many units as the DG is over four, of their owner's choice."""
    if not number:
        return
    rows = yield Ask(HERE, proves=False, label=label, inside=inside)
    orders = Orders()
    lost = yield from orders.some(
        "eliminated", rows[0].side, "which units are eliminated", [row.code for row in rows], number
    )
    for code in lost:
        yield from eliminate(code, "10.2.3")
    yield from settle(label, inside, orders)


# Reinforcements.


class Reinforce(Action):
    """Who arrives, and where."""

    units: Annotated[list[str], Names(("unit",)), Field(min_length=1, max_length=60)] = Field(
        description="Ids of the units that arrive"
    )
    at: Annotated[str | None, Names(("hex",))] = Field(None, description="The hex that they enter")
    zone: dict[str, str] | str | None = Field(
        None, description="The beach off which they wait, `{beach: Red 1}`; they go to its Transport Zone"
    )
    box: str | None = Field(None, description="The box of the Division's display that they are placed in")


def reinforce(of: Reinforce) -> Procedure:
    """18.0: arrivals of the turn; 22.1: behind those who wait already."""
    places = [place for place in (of.at, of.zone, of.box) if place is not None]
    if len(places) > 1:
        raise Refused("18.0", "they arrive in one place: a hex, a zone or a box")
    for unit in of.units:
        rows = yield Ask(REINFORCE, unit=unit, place=canonical(_place(of)), company=of.units)
        verdict = rows[-1]
        if verdict.effect == "refused":
            raise Refused(verdict.rule, verdict.note, verdict.at)
        yield Change({"unit": unit, **verdict.facts})


REINFORCE = (
    "select * from css.reinforce(:position, :unit, cast(:place as jsonb), :company, :conditions, :policy)"
)


def _place(of: Reinforce) -> dict[str, Any]:
    zone = of.zone if isinstance(of.zone, dict) else {"beach": of.zone}
    return zone | {"at": of.at, "box": of.box}


class TankArrival(Action):
    """Which Tank Support Weapon."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The M4 or M5 that is due")
    to: Place | None = Field(
        None, description="The Unit, or its hex, with which the Campaign lets it be placed at once (12.4.2)"
    )


def tank_arrival(of: TankArrival) -> Procedure:
    """12.4.2: it arrives on 0 to 6; else something has happened."""
    # who does not roll at all is told before the first die
    due = yield from ledger("tank_due", unit=of.unit, to=of.to)
    now, _ = yield from game()
    if now.readings["css-83"] == "b" and _ends_early(of.rolls):
        # a delay of no turns rolls again, without end: chances are not counted die by die
        yield Tell(odds=None, basis="a delay of no turns rolls again at once")
    yield from _arrival(of, due["at"])


def _ends_early(rolls: list[Any]) -> bool:
    """Whether the dice that were told end before the tank's fate is known."""
    shown = [roll["die"] if isinstance(roll, dict) else roll for roll in rolls]
    while shown:
        if shown[0] <= LAST_ARRIVAL:
            return False
        if len(shown) < 2:
            return True
        if shown[1] > LAST_CHECKED:
            return False
        if len(shown) < 3:
            return True
        if shown[1] == LAST_CHECKED or shown[2]:
            return False
        shown = shown[3:]
    return True


LAST_ARRIVAL, LAST_CHECKED = 6, 4
"""The last numbers of the two tables on which nothing happens, and on which a third die is rolled."""


def _arrival(of: TankArrival, at: str | None, attempt: int = 1) -> Procedure:
    again = "" if attempt == 1 else f", attempt {attempt}"
    die = yield from d10(f"the arrival of {of.unit}{again}")
    facts = yield from ledger("tank_arrival", unit=of.unit, die=die)
    if facts["result"] == "arrives":
        yield Tell(result="arrives")
        yield Change({"unit": of.unit, **({"box": "available"} if at is None else {"at": at, "box": None})})
        return
    incident = yield from d10(f"the landing incident{again}")
    facts = yield from ledger("tank_incident", unit=of.unit, die=incident)
    yield Tell(result=facts["result"])
    match facts["result"]:
        case "delayed":
            turns = yield from d10(f"the turns of delay{again}")
            facts = yield from ledger("tank_delay", unit=of.unit, die=turns)
            yield Tell(turns=facts["turns"])
            if facts["again"]:
                yield from _arrival(of, at, attempt + 1)
            else:
                yield Change({"unit": of.unit, "due": facts["turns"]}, kept=True)
        case "obstacle":
            check = yield from d10(f"a Troop Quality Check{again}")
            facts = yield from ledger("tank_obstacle", unit=of.unit, die=check)
            yield Tell(result=facts["result"], passes=facts["result"] == "obstacle")
            yield Change(
                {
                    "unit": of.unit,
                    **({"box": "available"} if facts["result"] == "obstacle" else {"eliminated": True}),
                }
            )
        case "next_turn":
            yield Tell(turns=1)
            yield Change({"unit": of.unit, "due": 1}, kept=True)
        case _:
            yield Change({"unit": of.unit, "eliminated": True})


def _activate_verdict(ruling: Ruling) -> str:
    answer, of = ruling.answer, ruling.question["activate"]
    who = of.get("unit") or "/".join(filter(None, (of.get("division"), of.get("formation"))))
    return clauses(
        f"{who} is Active",
        f"{counted(len(answer['units']), 'unit')}, {counted(len(answer['weapons']), 'support weapon')}, "
        f"{counted(len(answer['leaders']), 'leader')}"
        if "unit" not in of
        else None,
        f"paid: {series(f'{name} {n}' for name, n in answer['cost'].items())}"
        if answer.get("cost")
        else None,
    )


def _tank_verdict(ruling: Ruling) -> str:
    answer, unit = ruling.answer, ruling.question["tank_arrival"]["unit"]
    return {
        "arrives": f"{unit} is {'attached' if 'to' in ruling.question['tank_arrival'] else 'available'}",
        "delayed": f"{unit} is delayed by {counted(answer.get('turns', 0), 'turn')}",
        "next_turn": f"{unit} may come next turn",
        "obstacle": f"{unit} overcomes an obstacle and is available",
        "eliminated": f"{unit} is lost",
    }[answer["result"]]


def _effects_verdict(title: str) -> Any:
    return lambda ruling: f"{title}: {counted(len(ruling.answer['effects']), 'change')}"


KINDS = [
    css_kind(
        fill_cup,
        name="fill_cup",
        title="The cup filled",
        what="cup",
        done=lambda ruling: (
            f"{counted(len(ruling.answer['cup']), 'chit')} in the cup: {series(ruling.answer['cup'])}"
        ),
        arguments=NothingMore,
        answers={"cup": "the chits in it"},
        points=("css-28", "css-29"),
        acts=False,
        example="fill_cup: {}",
    ),
    css_kind(
        draw,
        name="draw",
        title="A chit drawn",
        what="draw",
        done=lambda ruling: f"The chit of {ruling.answer['chit']} is drawn",
        arguments=DrawChit,
        answers={
            "chit": "what is drawn",
            "rule": "the rule that resolves it",
            "steps": "the steps of its resolution, in order",
        },
        example="draw: {cards: [wind]}",
    ),
    css_kind(
        activate,
        name="activate",
        title="Who is Active",
        what="activation",
        done=_activate_verdict,
        arguments=Activate,
        answers={
            "units": "Units that are Active",
            "weapons": "their Support Weapons",
            "leaders": "their Leaders and Heroes",
            "cost": "Direct Commands, by the Division that pays",
            "restock": "Support Weapons that go from Reallocating to Available",
            "payers": "Divisions that may pay",
        },
        names_units=("units", "weapons", "leaders"),
        points=RESULTS,
        example="activate: {division: 3 MarDiv, formation: 3 RCT}",
    ),
    *(
        css_kind(
            play,
            name=play.__name__,
            title=title,
            what=what,
            done=_effects_verdict(title),
            arguments=NothingMore,
            answers=answers,
            points=points,
            acts=False,
            example=f"{play.__name__}: {{}}",
        )
        for play, title, what, answers, points in (
            (restock, "Support Weapons become available", "restocking", {}, ()),
            (clear_markers, "Fire markers of Active units come off", "removal", {}, RESULTS),
            (
                gain_commands,
                "Direct Commands on the chit",
                "roll",
                {"gained": "Direct Commands won, by Division"},
                ("css-9",),
            ),
            (
                end_activation,
                "The end of an Activation",
                "end of the Activation",
                {},
                ("css-20", "css-21", "css-32"),
            ),
        )
    ),
    css_kind(
        reinforce,
        name="reinforce",
        title="Reinforcements",
        what="arrival",
        done=lambda ruling: f"{series(ruling.question['reinforce']['units'])} arrive",
        arguments=Reinforce,
        example="reinforce: {units: [A/1/3], zone: {beach: Red 1}}",
    ),
    css_kind(
        tank_arrival,
        name="tank_arrival",
        title="A Tank Support Weapon arrives",
        what="arrival of the tank",
        done=_tank_verdict,
        arguments=TankArrival,
        answers={
            "result": "arrives, delayed, next_turn, obstacle (overcome) or eliminated",
            "turns": "turns of delay",
            "passes": "whether the Troop Quality Check is passed",
        },
        points=("css-59", "css-83"),
        example="tank_arrival: {unit: 4/A/4, rolls: [3]}",
    ),
]
