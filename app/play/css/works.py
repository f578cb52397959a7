"""Rally, engineering, the airfield, wind and what a day leaves behind in css: 8.8.1, 10.1, 11.0, 28.2, 29.2, 30.3."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, field_validator

from app.play.css.dice import d10
from app.play.css.fire import Ids, Unit
from app.play.css.frame import NothingMore, css_kind
from app.play.css.status import (
    BARRAGES,
    PAYS,
    Doing,
    Orders,
    charge,
    eliminate,
    lift,
    note_action,
    place_marker,
    reading,
    state,
)
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, counted, series
from db.values import canonical

RALLY = "select * from css.rally(:position, :hex, :by, :conditions, :policy)"
ENGINEER = "select * from css.engineer(:position, :unit, :work, cast(:read as jsonb), :conditions, :policy)"
CHECK = "select * from css.quality_check(:position, :die, 0, :quality, :extremes, :rule)"
ENTOMBED = "select * from css.entombed(:position, :hex)"
AIRFIELD = "select * from css.airfield(:position, :conditions, :policy)"
SOBER = "select * from css.sober(:position, :hex, :conditions, :policy)"
WIND = "select * from css.wind(:position, :hex, :die, :conditions)"
LYING = (
    "select marker.kind, hex.label from marker"
    " join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
    " where marker.position_id = :position and marker.kind = any(:kinds) order by hex.label, marker.kind"
)


class Rally(Action):
    """Who rallies which hex."""

    hex: Place | None = Field(None, description="The hex that is rallied; its unit's, where it is left out")
    by: Ids = Field(min_length=1, max_length=1, description="An Active unit in it")
    pays: str | None = PAYS

    @field_validator("by", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


def rally(of: Rally) -> Procedure:
    """10.1: Suppressed or Pinned first, else one level of DG."""
    rows = yield Ask(RALLY, hex=of.hex, by=of.by[0])
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, rows[-1].at)
    yield Tell(result="rallied")
    orders = Orders(of.choices)
    yield from charge(facts["cost"], orders, of.by, of.pays)
    yield from note_action({"rallied": facts["hex"]}, of.by)
    cave = {"in_cave": True} if facts["inside"] else {}
    whose = {"unit": of.by[0]} if facts["own"] else {"hex": facts["hex"], **cave}
    yield Change({**whose, facts["removes"]: facts["dg"] if facts["removes"] == "dg" else False})
    yield from orders.finish("pays")


class Engineer(Action):
    """Who does which work."""

    unit: Unit = Field(description="The unit that does it")
    work: Literal["foxhole", "trench", "seal_cave", "clear_mines", "repair_airfield"] = Field(
        description="foxhole, trench, seal_cave, clear_mines or repair_airfield"
    )
    pays: str | None = PAYS


def engineer(of: Engineer) -> Procedure:
    """11.0: an Engineering Action; a Foxhole needs no die."""
    rows = yield Ask(ENGINEER, unit=of.unit, work=of.work, read=canonical(of.read))
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, rows[-1].at)
    yield from charge(facts["cost"], Orders(of.choices), [of.unit], of.pays)
    yield from note_action({"engineered": facts["hex"]} if facts["hex"] else {}, [of.unit])
    if not facts["checks"]:
        yield Tell(Step("11.1", facts["hex"], "placed", "a Foxhole"), result="placed")
        yield Change({"marker": "foxhole", "at": facts["hex"]})
        return
    if facts["point"]:
        yield Tell(points=[facts["point"]])
    yield Tell(tq=facts["tq"])
    die = yield from d10(of.work.replace("_", " "))
    rule = {"trench": "11.1", "seal_cave": "11.2", "clear_mines": "28.2", "repair_airfield": "11.3.2"}[
        of.work
    ]
    [verdict] = yield Ask(CHECK, die=die, quality=facts["tq"], extremes=facts["extremes"], rule=rule)
    passes = verdict.facts["passes"]
    yield Tell(
        roll=die,
        total=verdict.facts["total"],
        result=None if passes is None else "passes" if passes else "fails",
    )
    if passes:
        yield from WORKS[of.work](facts["hex"])


def _trench(hex: str) -> Doing:
    yield from lift("foxhole", hex)
    yield Change({"marker": "trench", "at": hex})


def _sealed(hex: str) -> Doing:
    """11.2: who is inside is lost, unless an open cave beside it saves them."""
    yield from place_marker("cave_sealed", hex)
    for row in (yield Ask(ENTOMBED, proves=False, hex=hex)):
        if row.saved:
            yield Tell(Step("11.2", hex, "saved", f"{row.code} has an open cave beside it"))
        else:
            yield from eliminate(row.code, "11.2", f"{row.code} is entombed")


def _cleared(hex: str) -> Doing:
    yield Change({"marker": "mines", "at": hex, "removed": True})


DAY = "select to_char(to_date('1944-' || :day, 'YYYY-MM-DD') + cast(:days as integer), 'MM-DD') as day"


def _repaired(_: str | None) -> Doing:
    """11.3.2: operational on the same turn one day later; after a repair that was broken off css-31."""
    now = yield from state()
    once = (now.tracks or {}).get("once") or []
    again = "orote_repaired" in once
    days = 4 if again and (yield from reading("css-31")) == "b" else 1
    turn, day = now.conditions.get("turn"), now.conditions.get("day")
    if day is not None:
        [row] = yield Ask(DAY, proves=False, day=day, days=days)
        day = row.day
    when = {key: value for key, value in (("day", day), ("turn", turn), ("days", days)) if value is not None}
    yield Tell(
        Step("11.3.2", "23.79", "repaired", f"operational in {counted(days, 'day')}"), operational_on=when
    )
    yield Change({"track": "schedule.orote_operational", "value": when}, kept=True)
    if not again:
        yield Change({"track": "once", "value": [*once, "orote_repaired"]}, kept=True)


WORKS: dict[str, Any] = {
    "trench": _trench,
    "seal_cave": _sealed,
    "clear_mines": _cleared,
    "repair_airfield": _repaired,
}


def airfield(_: NothingMore) -> Procedure:
    """11.3: whether Orote is cleared and operational; its marker is placed and taken off by itself."""
    rows = yield Ask(AIRFIELD)
    facts = rows[-1].facts
    yield Tell(cleared=facts["cleared"], operational=facts["operational"], missing=facts["missing"])
    yield Tell(
        result="operational" if facts["operational"] else "cleared" if facts["cleared"] else "not_cleared"
    )
    if facts["cleared"] and not facts["marked"] and not facts["was_operational"]:
        yield Change({"marker": "orote_cleared", "at": "23.79"})
    elif not facts["cleared"] and (facts["marked"] or facts["was_operational"]):
        yield from lift("orote_operational" if facts["was_operational"] else "orote_cleared", "23.79")
        yield Change({"track": "schedule.orote_operational", "value": None}, kept=True)


class Sober(Action):
    """Which hex sobers up."""

    hex: Place = Field(description="A hex with a Drunk or Hungover marker")


def sober(of: Sober) -> Procedure:
    """29.2: Drunk turns to Hungover with a leader there; Hungover goes."""
    [row] = yield Ask(SOBER, hex=of.hex)
    facts = row.facts
    if not facts["allowed"]:
        raise Refused(row.rule, row.note, row.at)
    yield from lift(facts["kind"], facts["hex"])
    if facts["kind"] == "drunk":
        yield Change({"marker": "hungover", "at": facts["hex"]})
    yield Tell(result="hungover" if facts["kind"] == "drunk" else "sober")


def wind(_: NothingMore) -> Procedure:
    """8.7.2, 8.7.3, 8.8.1: Barrages and light go; each fire burns out, goes on, or spreads."""
    for row in (yield Ask(LYING, proves=False, kinds=[*BARRAGES, "illumination"])):
        rule = "8.7.3" if row.kind == "illumination" else "8.7.2"
        yield Tell(Step(rule, row.label, "removed", f"a {row.kind.replace('_', ' ')}"))
        yield from lift(row.kind, row.label)
    told: list[dict[str, Any]] = []
    for row in (yield Ask(LYING, proves=False, kinds=["on_fire"])):
        told.append((yield from _blown(row.label)))
        yield Tell(fires=told)
    yield Tell(fires=told, result="wind")


def _blown(hex: str) -> Doing:
    """One fire."""
    die = yield from d10(f"the fire in {hex}")
    [*_, verdict] = yield Ask(WIND, hex=hex, die=die)
    facts = verdict.facts
    told = {"hex": hex, "roll": die, "result": facts["result"]}
    if facts["result"] == "cleared":
        yield from lift("on_fire", hex)
        yield Change({"marker": "fire_cleared", "at": hex})
    elif facts["result"] == "spreads":
        to = facts["to"][0]
        if len(facts["to"]) > 1:
            # 0-4 north-west, 5-9 south-west
            way = yield from d10(f"where the fire in {hex} spreads")
            to = facts["to"][way // 5]
        yield Change({"marker": "on_fire", "at": to})
        told["to"] = to
    return told


class Casualties(Action):
    """DGs on Americans, and what caused them."""

    dg: int = Field(1, ge=0, le=99, description="How many DGs were scored")
    cause: str = Field(
        description="direct_fire, indirect_fire, op_fire or mines count; assault, stacking and others see css-49"
    )


FIRES = {"cleared": "burns out", "burns": "goes on", "spreads": "spreads"}
COUNTED = ("fire", "direct_fire", "indirect_fire", "op_fire", "opportunity_fire", "mines", "booby_trap")


def casualties(of: Casualties) -> Procedure:
    """30.3: the Casualty Marker moves for DGs that the Japanese score by fire or mines."""
    counts = of.cause in COUNTED[:-1] or (yield from reading("css-49")) == "a"
    now = yield from state()
    before = (now.tracks or {}).get("us", {}).get("casualties") or 0
    after = before + (of.dg if counts else 0)
    yield Tell(
        Step("30.3", None, f"+{of.dg}" if counts else "+0", f"DG from {of.cause.replace('_', ' ')}"),
        counts=counts, casualties=after, result="counted" if counts else "not_counted",
    )  # fmt: skip
    yield Change({"side": "us", "casualties": after})


def _work_verdict(ruling: Ruling) -> str:
    answer, of = ruling.answer, ruling.question["engineer"]
    done = {
        "placed": "digs a foxhole", "passes": f"succeeds with {of['work'].replace('_', ' ')}",
        "fails": f"fails with {of['work'].replace('_', ' ')}", None: "works, and with what success is not told",
    }[answer.get("result")]  # fmt: skip
    when = answer.get("operational_on")
    told = f"operational in {counted(when['days'], 'day')}" if when else None
    return clauses(f"{of['unit']} {done}", told)


def _airfield_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    word = "operational" if answer["operational"] else "cleared" if answer["cleared"] else "not cleared"
    missing = answer["missing"]
    return clauses(f"Orote Airfield is {word}", f"{series(missing)} missing" if missing else None)


KINDS = [
    css_kind(
        rally, what="rally", done=lambda ruling: "The hex rallies", name="rally", title="Rally", arguments=Rally,
        answers={"result": "rallied", "cost": "Direct Commands, by Division"}, example='rally: {hex: "22.80", by: C/1/9}',
    ),
    css_kind(
        engineer, what="engineering", done=_work_verdict, name="engineer", title="Engineering Action",
        arguments=Engineer,
        answers={
            "tq": "the number on which it succeeds", "roll": "the die", "total": "the modified die",
            "result": "placed (a foxhole), passes or fails",
            "operational_on": "when the airfield is in use: day, turn, days from now",
            "cost": "Direct Commands, by Division",
        },
        points=("css-31", "css-59"), example="engineer: {unit: A/19, work: trench, rolls: [3]}",
    ),
    css_kind(
        airfield, what="airfield", done=_airfield_verdict, name="airfield", title="Orote Airfield",
        arguments=NothingMore,
        answers={
            "cleared": "whether it is cleared", "operational": "whether it is operational",
            "missing": "hexes that are wanting", "result": "operational, cleared or not_cleared",
        },
        points=("css-32",), acts=False, example="airfield: {}",
    ),
    css_kind(
        sober, what="sobering up", done=lambda ruling: f"The Marines are {ruling.answer['result']}", name="sober",
        title="Drunk Marines sober up", arguments=Sober, answers={"result": "hungover or sober"},
        example='sober: {hex: "22.80"}',
    ),
    css_kind(
        wind, what="wind",
        done=lambda ruling: clauses(
            "Barrages and light go",
            *(f"the fire in {one['hex']} {FIRES[one['result']]}" for one in ruling.answer["fires"]),
        ),
        name="wind", title="Wind chit", arguments=NothingMore,
        answers={"fires": "each fire: hex, roll, result (cleared, burns, spreads), to", "result": "wind"},
        example="wind: {rolls: [8]}",
    ),
    css_kind(
        casualties, what="casualties",
        done=lambda ruling: f"The Casualty Marker stands at {ruling.answer['casualties']}", name="casualties",
        title="Casualties", arguments=Casualties,
        answers={"counts": "whether these count", "casualties": "where the marker stands then", "result": "counted or not_counted"},
        points=("css-49",), acts=False, example="casualties: {dg: 2, cause: direct_fire}",
    ),
]  # fmt: skip
