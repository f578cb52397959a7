"""Amphibious movement (22.0): onto the beach, into the Final Run-In, into the Approach, beach by beach."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.css.fire import Gunners, Shot, Trigger, aimed, alert, as_told, react
from app.play.css.frame import css_kind, ledger
from app.play.css.hazards import trapped
from app.play.css.status import Orders
from app.play.css.victory import entered_by
from app.play.procedures import NOTHING, Action, Ask, Change, Procedure, Tell
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, series
from importers.questions import Names

Ids = Annotated[list[str], Names(("unit",))]
ERRANDS = ("land", "run_in", "approach")
AFLOAT = (
    "select code, attributes -> 'zone' as zone, attributes ->> 'posture' as posture,"
    " coalesce((attributes ->> 'dg')::integer, 0) as dg, coalesce((attributes ->> 'pinned')::boolean, false) as pinned,"
    " coalesce((attributes ->> 'suppressed')::boolean, false) as suppressed, attributes ? 'order' as in_line,"
    " coalesce((attributes ->> 'amphibious')::boolean, false) as amphibious"
    " from unit where position_id = :position and code = any(:codes) and attributes ? 'zone' order by code"
)
MARKED = (
    "select count(*) as traps from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q"
    " and hex.r = marker.r where marker.position_id = :position and marker.kind = 'booby_trap' and hex.label = :label"
)


class Landing(Action):
    """Who moves off a beach, zone by zone; an amphibious tank takes its side as it lands, like all others (22.2)."""

    beach: str = Field(description="The beach by its name, or its hex")
    land: Ids = Field(default_factory=list, description="From the Final Run-In Zone onto the beach")
    run_in: Ids = Field(
        default_factory=list, description="From the Approach Run Zone into the Final Run-In Zone"
    )
    approach: Ids = Field(
        default_factory=list, description="From the Transport Zone into the Approach Run Zone"
    )
    shift: Annotated[dict[str, str], Field(max_length=60)] = Field(
        default_factory=dict,
        description="From the Final Run-In Zone to the Transport Zone of another beach, by unit",
    )
    postures: Annotated[dict[str, Literal["deployed", "column"]], Field(max_length=60)] = Field(
        default_factory=dict, description="The side on which each unit lands; else in Column"
    )


def landing(of: Landing) -> Procedure:
    """22.1: in this order; those who land and run in may be fired at."""
    orders = Orders(of.choices)
    told = {name: getattr(of, name) for name in ERRANDS if getattr(of, name)} | (
        {"shift": of.shift} if of.shift else {}
    )
    facts = yield from ledger("landing", beach=of.beach, orders=told)
    if not told:
        yield Tell(Step("22.1", facts["at"], "waits", "nobody has to move"), op_fire={})
        return
    asked: Counter[str] = Counter()
    targets = {unit: list(facts["at_beach"]) for unit in of.land}
    yield Tell(op_fire=targets)
    if of.land:
        yield from _window(of, facts, "unit", of.land, orders, asked)
        yield from _lands(of, facts, orders)
    if of.run_in:
        run = facts["fired_run"]
        if run == "final_run_in":
            # css-75 b: they are fired at where they have come
            yield from _to_zone(of.run_in, facts["at"], run)
        # 22.1: the landing is over, and whoever has come ashore is beside the guns now (7.2)
        gunners = [row.code for row in (yield Ask(GUNNERS, proves=False, beach=facts["at"], arm=run))]
        yield Tell(op_fire=targets | dict.fromkeys(of.run_in, gunners))
        yield from _window(of, facts, run, of.run_in, orders, asked)
        if run != "final_run_in":
            yield from _to_zone(of.run_in, facts["at"], "final_run_in")
    yield from _to_zone(of.approach, facts["at"], "approach")
    for n, (unit, beach) in enumerate(sorted(of.shift.items()), 1):
        label = facts["shift"][unit]
        line = facts["line"][label] + n
        yield Tell(Step("22.1", label, "shifts", f"{unit} goes to the Transport Zone of {beach}"))
        yield Change({"unit": unit, "zone": {"beach": label, "run": "transport"}, "order": line})


# Opportunity Fire: in a case nothing is fired unless it is told.


GUNNERS = (
    "select gunner.code, gunner.label from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral css._naval_fire_steps(state, :beach, :arm) as gunner"
)


def _window(
    of: Landing, facts: dict[str, Any], arm: str, units: Sequence[str], orders: Orders, asked: Counter[str]
) -> Procedure:
    """Enemies fire one after the other, each hex once, until the Japanese player declines."""
    if arm == "unit" and not facts["at_beach"]:
        return
    done: set[str] = set()
    while True:
        rows = yield Ask(GUNNERS, proves=False, beach=facts["at"], arm=arm)
        rows = [row for row in rows if row.label not in done]
        left = [row.code for row in (yield Ask(AFLOAT, proves=False, codes=list(units)))]
        if not rows or not left:
            return
        options = sorted({row.label for row in rows})
        asked["op_fire"] += 1
        guns = {row.code: row.label for row in rows}
        gunners = Gunners(
            "op_fire" if asked["op_fire"] == 1 else f"op_fire_{asked['op_fire']}", "japan", "who fires at those who come ashore" if arm == "unit" else "who fires at the run-in",
            options=[*options, NOTHING], unsaid=NOTHING, rule="22.3.2", guns=guns,
        )  # fmt: skip
        chosen = yield gunners
        if chosen == NOTHING:
            return
        shot = _at_sea(of, facts, arm, gunners.shot(chosen), left)
        by = shot.by[0]
        done.add(guns[by])
        shot = yield from (aimed if chosen in options else as_told)(shot, orders)
        alerted = yield from alert(by)
        yield from react(
            shot,
            Trigger(),
            orders,
            purpose=f"Opportunity Fire of {by} at {arm.replace('_', ' ')}",
            alerted=bool(alerted),
        )


def _at_sea(of: Landing, facts: dict[str, Any], arm: str, shot: Shot, left: list[str]) -> Shot:
    """The shot at those who land, or at the zone."""
    if arm == "unit":
        return dataclasses.replace(
            shot, at=facts["at"], landing=tuple(left), postures=dict(of.postures), read=of.read
        )
    return dataclasses.replace(shot, zone={"beach": facts["at"], "run": arm}, read=of.read)


# Onto the beach.


def _lands(of: Landing, facts: dict[str, Any], orders: Orders) -> Procedure:
    rows = yield Ask(AFLOAT, proves=False, codes=of.land)
    # who was routed back or lost on the way does not land
    landers = [row for row in rows if row.zone["run"] == "final_run_in"]
    if not landers:
        return
    label = facts["at"]
    for row in landers:
        side = of.postures.get(row.code, row.posture or "column")
        turned = {"posture": side} if side != row.posture else {}
        # what was scored on it at sea lies on the hex from now on
        own = {
            key: none
            for key, none in (("dg", 0), ("pinned", False), ("suppressed", False))
            if getattr(row, key)
        }
        yield Change({"unit": row.code, "zone": None, "at": label, **turned, **own})
        if row.in_line:
            yield Change({"unit": row.code, "order": None}, kept=True)
    # 22.1: the worse of beach and landing force, never their sum
    worst = max(row.dg for row in landers)
    if worst > facts["beach_dg"]:
        yield Tell(Step("22.1", label, f"DG{worst}", "the worse of beach and landing force"))
        yield Change({"hex": label, "dg": worst})
    for key in ("pinned", "suppressed"):
        if any(getattr(row, key) for row in landers):
            yield Change({"hex": label, key: True})
    yield from entered_by("us", label)
    [row] = yield Ask(MARKED, proves=False, label=label)
    if row.traps:
        yield from trapped(label, of, orders)


def _to_zone(units: Sequence[str], label: str, run: str) -> Procedure:
    rows = yield Ask(AFLOAT, proves=False, codes=list(units))
    wanted = {"final_run_in": "approach", "approach": "transport"}[run]
    for row in rows:
        if row.zone["run"] == wanted:
            line = {"order": None} if row.in_line else {}
            yield Change({"unit": row.code, "zone": {"beach": label, "run": run}})
            if line:
                yield Change({"unit": row.code, **line}, kept=True)


def _verdict(ruling: Ruling) -> str:
    of = ruling.question["landing"]
    return (
        clauses(
            f"{series(of['land'])} land on {of['beach']}" if of.get("land") else None,
            f"{series(of['run_in'])} run in" if of.get("run_in") else None,
            f"{series(of['approach'])} approach" if of.get("approach") else None,
            f"{series(of['shift'])} shift" if of.get("shift") else None,
        )
        or f"Nobody moves off {of['beach']}"
    )


KINDS = [
    css_kind(
        landing,
        name="landing",
        title="Amphibious movement off a beach",
        what="landing",
        done=_verdict,
        arguments=Landing,
        answers={
            "op_fire": "who may fire at each unit that lands or runs in",
            "type": "of the last fire at them: its type",
            "value": "its value",
            "cost": "its price",
            "roll": "its die",
            "result": "hit or miss",
            "crt": "the code of the results table",
            "broken": "weapons that broke",
            "rout": "the rout check",
            "alert": "the alert roll",
            "alerted": "whether dogs were alert",
        },
        points=("css-28", "css-30", "css-34", "css-47", "css-60", "css-63", "css-64", "css-75"),
        example="landing: {beach: Red 1, land: [I/3/3], run_in: [L/3/3]}",
    ),
]
