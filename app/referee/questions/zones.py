"""`fire_zone`, `zoc` and `trace_path`: what a unit or side dominates, and ways that keep out of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from pydantic import Field

from app.referee.questions.geometry import Place
from app.referee.questions.movement import needed, step_of
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, Ruling
from app.referee.words import (
    LISTED,
    clauses,
    counted,
    in_words,
    is_long,
    members,
    not_known,
    rest_unknown,
    series,
)
from importers.questions import Names

POINTS: tuple[str, ...] = (
    "css-11", "css-12", "css-43", "css-44", "css-47", "css-54", "css-62", "css-64",
    "ccp-7", "ccp-29", "ccp-33", "ccp-34",
)  # fmt: skip
"""Contested points that a zone turns on: sight, and what an indirect unit in Column has."""
NAVAL = {"final_run_in": "final run-in", "approach": "approach"}
"""Naval zones of css that can be fired into, each told by its beach hex (22.3.1)."""
TRACED = {"open": True, "closed": False, "unknown": None}
TRACED_FOR = {
    "leader": "a leader",
    "support_weapon": "a support weapon",
    "tank_support_weapon": "a tank support weapon",
    "routed": "a routed unit",
}
NO_WAY = "there is no such way"
"""A reason that says no more than that there is none."""


class ZoneOf(Arguments):
    """Whose zone: a unit's, or that of a whole side."""

    one_of = ("unit", "side")
    which = "whose zone? Give a unit or a side, one of them"
    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="A unit's id")
    side: Annotated[str | None, Names(("side",))] = Field(None, description="A side: all its units together")


class TracePath(Arguments):
    """From where to where, and for whom."""

    start: Place = Field(alias="from", description="A hex label or a unit's id")
    target: Place = Field(alias="to", description="A hex label or a unit's id")
    traced_for: Literal["leader", "support_weapon", "tank_support_weapon", "routed"] = Field(
        alias="for", description="Who goes: a leader, a support weapon, a tank among them, or a routed unit"
    )
    side: Annotated[str | None, Names(("side",))] = Field(
        None, description="Whose; needed where neither end is a unit"
    )


def _labels(rows: list[sa.Row[Any]], *arms: str) -> list[str]:
    return sorted({row.label for row in rows if row.arm in arms})


def _fire_zone(asked: Asked, of: ZoneOf) -> Finding:
    whose = {"unit": of.unit} if of.unit is not None else {"side": of.side}
    function = "fire_zone" if of.unit is not None else "side_zone"
    [argument] = whose
    rows = asked.rows(
        f"select * from {asked.ruleset}.{function}(:position, :{argument}, :conditions, :policy)", **whose
    )
    # ccp: the reasons tell which hexes are hindered
    tell = asked.rows if asked.ruleset == "ccp" else asked.reasons
    reasons = tell(
        f"select * from {asked.ruleset}.{function}_reasons(:position, :{argument}, :conditions, :policy)",
        **whose,
    )
    answer: dict[str, Any] = {"hexes": _labels(rows, "unit")}
    if asked.ruleset == "ccp":
        answer["weapon"] = _labels(rows, "weapon")
        answer["hindered"] = sorted({row.at for row in reasons if row.effect == "hindered"})
    if asked.ruleset == "css":
        answer["naval"] = {run: _labels(rows, run) for run in NAVAL}
    if of.side is not None:
        answer["by"] = {
            code: _labels([row for row in rows if row.by == code], "unit", "weapon")
            for code in sorted({row.by for row in rows})
        }
    return Finding(
        answer,
        [step_of(row) for row in reasons],
        [row.point for row in reasons if row.point],
        [Need(row.note, row.rule) for row in reasons if row.effect == "unknown"],
    )


def _zoc(asked: Asked, of: ZoneOf) -> Finding:
    rows = asked.rows(
        f"select * from {asked.ruleset}.zoc(:position, :unit, :side, :conditions, :policy)",
        unit=of.unit,
        side=of.side,
    )
    return Finding(rows[-1].facts, [step_of(row) for row in rows], [row.point for row in rows if row.point])


def _trace_path(asked: Asked, path: TracePath) -> Finding:
    rows = asked.rows(
        f"select * from {asked.ruleset}.trace_path("
        ":position, :start, :target, :traced_for, :side, :conditions, :policy)",
        start=path.start,
        target=path.target,
        traced_for=path.traced_for,
        side=path.side,
    )
    verdict = rows[-1]
    is_open = TRACED[verdict.effect]
    return Finding(
        {"open": is_open, "path": list(verdict.path), "why": verdict.note},
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        needed(rows, is_open),
    )


def _fire_zone_verdict(ruling: Ruling) -> str:
    of = ruling.question["fire_zone"]
    zone = _side_zone(ruling, of["side"]) if "side" in of else _unit_zone(ruling, of["unit"])
    return clauses(zone, _naval(ruling.answer.get("naval", {})), _hindered(ruling), rest_unknown(ruling))


def _unit_zone(ruling: Ruling, unit: str) -> str:
    hexes = ruling.answer["hexes"]
    if ruling.ruleset == "ccp":
        weapon = ruling.answer["weapon"]
        return clauses(
            f"{unit} may fire at {members(hexes, 'hex')}",
            f"its weapon at {members(weapon, 'hex')}" if weapon else None,
        )
    return f"The fire zone of {unit} has {members(hexes, 'hex')}" if hexes else f"{unit} has no fire zone"


def _side_zone(ruling: Ruling, side: str) -> str:
    by = ruling.answer["by"]
    hexes = members(sorted({label for labels in by.values() for label in labels}), "hex")
    whose = "The units of {} may fire at" if ruling.ruleset == "ccp" else "The fire zones of {} have"
    counts = is_long(by, LISTED)
    shares = [f"{unit} ({len(labels) if counts else in_words(labels)})" for unit, labels in by.items()]
    return clauses(f"{whose.format(side)} {hexes}", f"by {series(shares)}" if shares else None)


def _zoc_verdict(ruling: Ruling) -> str:
    of, hexes = ruling.question["zoc"], ruling.answer["hexes"]
    whose = of.get("unit") or of["side"]
    return (
        f"The zone of control of {whose} has {members(hexes, 'hex')}"
        if hexes
        else f"{whose} has no zone of control"
    )


def _naval(runs: dict[str, list[str]]) -> str | None:
    """Zones off the shore, each by its beach (css 22.3.1)."""
    found = [f"the {NAVAL[run]} off {series(beaches)}" for run, beaches in runs.items() if beaches]
    return series(found) if found else None


def _hindered(ruling: Ruling) -> str | None:
    hexes = ruling.answer.get("hindered")
    return f"Hindrance leaves no FP at {members(hexes, 'hex')}" if hexes else None


def _trace_path_verdict(ruling: Ruling) -> str:
    answer, ends = ruling.answer, ruling.question["trace_path"]
    way = f"way for {TRACED_FOR[ends['for']]} from {ends['from']} to {ends['to']}"
    if answer["open"] is None:
        return not_known(f"there is a {way}", ruling)
    if not answer["open"]:
        reason = answer["why"]
        return f"There is no {way}" if reason == NO_WAY else f"There is no {way}: {reason}"
    path = answer["path"]
    return f"There is a {way}: {counted(len(path), 'hex') if is_long(path, LISTED) else in_words(path)}"


KINDS = [
    QuestionKind(
        name="fire_zone",
        title="Fire zone",
        arguments=ZoneOf,
        rulesets=("css", "ccp"),
        rule=_fire_zone,
        answers={
            "hexes": "labels of all hexes in it; ccp: those that the unit may fire at",
            "weapon": "ccp: hexes that the unit's weapon may fire at",
            "hindered": "ccp: hexes where Hindrance leaves it no FP, unless in a Fire Group or by an action",
            "naval": "css: naval zones in it (`final_run_in`, `approach`), each by its beach hex",
            "by": "of a side: the hexes of each of its units",
        },
        verdict=_fire_zone_verdict,
        points=POINTS,
        example="fire_zone: {unit: C/1/9}",
        draws="hexes",
        names_units=("by",),
        lacking={
            "fpb": "units have zones of control instead (fpb 6.0)",
            "bob": "who may fire at a mover follows from sight, range and arc; see Area of Control",
            "ddp": "positions have printed fields of fire instead (ddp 6.2)",
        },
    ),
    QuestionKind(
        name="zoc",
        title="Zone of control",
        arguments=ZoneOf,
        rulesets=("fpb",),
        rule=_zoc,
        answers={
            "hexes": "labels of all hexes in it",
            "by": "of a side: the hexes of each of its units",
        },
        verdict=_zoc_verdict,
        points=("fpb-3",),
        example="zoc: {unit: 1/22}",
        draws="hexes",
        names_units=("by",),
        lacking={
            "css": "units have Fire Zones instead (css 7.2)",
            "ccp": "units have no zone but what they can fire into; see Fire zone",
            "bob": "squads have an Area of Control instead",
            "ddp": "positions have fields of fire instead (ddp 6.2)",
        },
    ),
    QuestionKind(
        name="trace_path",
        title="A way out of enemy zones",
        arguments=TracePath,
        rulesets=("css",),
        rule=_trace_path,
        answers={
            "open": "true, false, or null where a counter or the rulebook does not tell what would decide it",
            "path": "a shortest way, both ends included; empty where there is none",
            "why": "what decides it, in a few words",
        },
        verdict=_trace_path_verdict,
        points=tuple(point for point in POINTS if point.startswith("css-")),
        example="trace_path: {from: C/1/9, to: D/1/9, for: leader}",
        draws="path",
        lacking={
            "ccp": "nothing is traced: command reaches as far as a leader's radius",
            "fpb": "nothing is traced; who retreats keeps out of zones by itself: see Where a unit retreats",
            "bob": "nothing is traced; who routs keeps away from the enemy by itself: see Where a unit may rout to",
            "ddp": "what is traced here is communication (ddp 11.31)",
        },
    ),
]
