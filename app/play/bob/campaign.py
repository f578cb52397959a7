"""Campaigns: Company Hubs (63.2, 63.3), Fatigue (64.0) and Loss Recovery (65.2)."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.bob.asking import Asking, modifiers
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Procedure,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Ruling, Step
from importers.questions import Names

Count = Annotated[int, Field(ge=0, le=99)]


class Losses(Arguments):
    """What a company lost."""

    full_eliminated: Count = Field(0, description="Full-strength units eliminated")
    reduced: Count = Field(0, description="Units Reduced")
    reduced_eliminated: Count = Field(0, description="Reduced units eliminated")


class FatigueOf(Action):
    """Which company, and what has happened to it."""

    company: str = Field(min_length=1, max_length=80, description="The company")
    losses: Losses = Field(default_factory=Losses, description="Infantry steps that it lost")
    hub_flips: Count = Field(0, description="How often its Hub turned to the Fresh side")
    recoveries: Count = Field(0, description="Recovery Phases as the Attacker")
    understrength: bool = Field(False, description="Whether it began with less than half its Squads")


class Forces(Arguments):
    """Units of a company."""

    squads: Count = Field(0, description="Full-strength Squads")
    squads_reduced: Count = Field(0, description="Reduced Squads")
    wts: Count = Field(0, description="Full-strength Weapon Teams")
    wts_reduced: Count = Field(0, description="Reduced Weapon Teams")


class Regroup(Action):
    """What a company began a scenario with, and what it ended with."""

    company: str = Field(min_length=1, max_length=80, description="The company")
    started: Forces = Field(description="Its units at the start")
    ended: Forces = Field(description="Its units at the end")
    fatigue: Annotated[int | None, Field(ge=0, le=999)] = Field(
        None, description="Its Fatigue; without it, what the conditions tell"
    )
    rests: bool = Field(False, description="Whether it takes no part in the next scenario")


class Hub(Action):
    """Whose Hub, and where to."""

    company: str = Field(min_length=1, max_length=80, description="The company")
    to: Annotated[str, Names(("hex",))] = Field(description="The hex that it goes to")
    manner: Literal["displace", "move"] = Field(
        "move", alias="as", description="displace (63.2) or move (63.3)"
    )


def fatigue(of: FatigueOf) -> Procedure:
    """64.1, 64.2: the marker, its level, and what that costs."""
    rows = yield Ask(
        "select * from bob.fatigue(:position, :company, cast(:losses as jsonb), :flips, :recoveries, :weak, :conditions, :policy)",
        company=of.company, losses=of.losses.model_dump_json(), flips=of.hub_flips, recoveries=of.recoveries,
        weak=of.understrength,
    )  # fmt: skip
    facts = rows[-1].facts
    yield Tell(modifiers=modifiers(rows), **facts)
    if facts["level"] is None:
        raise Undecided()
    yield Change({"company": of.company, "fatigue": facts["fatigue"]})


def regroup(of: Regroup) -> Procedure:
    """65.2: half the steps come back, 10 points of Fatigue go."""
    rows = yield Ask(
        "select * from bob.regroup(:position, :company, cast(:started as jsonb), cast(:ended as jsonb), :fatigue, :rests,"
        " :conditions, :policy)",
        company=of.company, started=of.started.model_dump_json(), ended=of.ended.model_dump_json(), fatigue=of.fatigue,
        rests=of.rests,
    )  # fmt: skip
    facts = rows[-1].facts
    yield Tell(**facts)
    if facts["fatigue"] is not None:
        yield Change({"company": of.company, "fatigue": facts["fatigue"]})


def hub(of: Hub) -> Procedure:
    """63.2, 63.3: a Hub is displaced by an enemy in its hex, or moves in the Recovery Phase."""
    rows = yield Ask(
        "select * from bob.hub(:position, :company, :to, :manner, :conditions, :policy)",
        company=of.company,
        to=of.to,
        manner=of.manner,
    )
    facts = rows[-1].facts
    yield Tell(cost=None if facts["halves"] is None else facts["halves"] / 2, displaced=facts["displaced"])
    bars = [row for row in rows if row.effect == "forbids"]
    if bars:
        raise Refused(bars[0].rule, "; ".join(row.note for row in bars), of.to)
    before = {"marker": "company_hub", "company": of.company, "value": facts["value"]}
    old = {"displaced": True} if facts["was_displaced"] else {}
    new = {"displaced": True} if facts["displaced"] else {}
    yield Change({**before, "at": facts["at"], **old, "removed": True}, {**before, "at": of.to, **new})
    if facts["was_displaced"] and not facts["displaced"]:
        yield from _flipped(of.company)


def _flipped(company: str) -> Asking:
    """64.1: a Hub that turns to its Fresh side tires its company."""
    rows = yield Ask(
        "select * from bob.fatigue(:position, :company, '{}', 1, 0, false, :conditions, :policy)",
        proves=False,
        company=company,
    )
    yield Tell(Step("64.1", None, "adds", "2 points of Fatigue as the Hub turns to its Fresh side"))
    yield Change({"company": company, "fatigue": rows[-1].facts["fatigue"]})


def _fatigue_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["fatigue"], ruling.answer
    if answer["allowed"] is None:
        return f"Company {of['company']} has {answer['fatigue']} Fatigue; its level is not known without thresholds"
    return f"Company {of['company']} has {answer['fatigue']} Fatigue, level {answer['level']}"


def _regroup_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["regroup"], ruling.answer
    return (
        f"Company {of['company']} lost {answer['steps_lost']} steps and gets {answer['steps_returned']} back"
    )


def _hub_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["hub"], ruling.answer
    if answer["allowed"] is False:
        return f"The Hub of company {of['company']} may not go to {of['to']}: {answer['why']}"
    return f"The Hub of company {of['company']} goes to {of['to']}"


COMMON: dict[str, Any] = {"kinds": functools.partial(kinds_of, "bob"), "rulesets": ("bob",)}
KINDS = [
    procedure_kind(
        fatigue,
        name="fatigue",
        title="Fatigue of a company",
        arguments=FatigueOf,
        answers={
            "fatigue": "where its marker stands",
            "level": "thresholds that it has reached",
            "cps_lost": "Command Points that it has lost",
            "morale": "what is added to the Morale of its units",
            "modifiers": "what was added, by rule",
        },
        verdict=_fatigue_verdict,
        points=("bob-39",),
        acts=False,
        example="fatigue: {company: A, losses: {reduced: 1}}",
        **COMMON,
    ),
    procedure_kind(
        regroup,
        name="regroup",
        title="Loss Recovery of a company",
        arguments=Regroup,
        answers={
            "steps_lost": "steps lost in the scenario",
            "steps_returned": "steps that come back",
            "fatigue": "its Fatigue afterwards; null where it was not told",
            "max_cps": "Command Points that it may have at the most",
        },
        verdict=_regroup_verdict,
        acts=False,
        example="regroup: {company: A, started: {squads: 7, wts: 1}, ended: {squads: 2, squads_reduced: 3}}",
        **COMMON,
    ),
    procedure_kind(
        hub,
        name="hub",
        title="A Company Hub is displaced or moves",
        arguments=Hub,
        answers={"cost": "movement points", "displaced": "whether it shows its Displaced side afterwards"},
        verdict=_hub_verdict,
        points=("bob-52",),
        example='hub: {company: A, to: "E4", as: displace}',
        **COMMON,
    ),
]
