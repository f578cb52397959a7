"""Victory (18.1, 18.2, 18.3): one island by itself, all in sequence by points, all at once against the track."""

from __future__ import annotations

import functools

from pydantic import Field

from app.play.procedures import Action, Ask, Procedure, Tell, Undecided, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Need, Ruling, RulingError
from app.referee.words import clauses, members, not_known, series
from db.rulesets.fpb.counters import Island
from db.values import canonical


class Reckoning(Arguments):
    """What an island took, and what it cost."""

    turns: int | None = Field(None, ge=1, le=99, description="Game turns in which it was won")
    won_on: int | None = Field(None, ge=1, le=99, description="The game turn on which it was won")
    landed_on: int | None = Field(None, ge=1, le=99, description="The game turn of its first landing")
    given_up: int | None = Field(None, ge=1, le=99, description="The game turn after which it was given up")
    depleted: int = Field(0, ge=0, le=99, description="US units that are depleted")
    eliminated: int = Field(0, ge=0, le=99, description="US units that are eliminated")
    depleted_first: int = Field(0, ge=0, le=99, description="Of these, those that had been depleted before")


class Victory(Action):
    """Islands that are over; without them, what the position tells."""

    islands: dict[Island, Reckoning] | None = Field(
        None, description="By island: `turns` or `won_on`, `depleted`, `eliminated`"
    )


def victory(of: Victory) -> Procedure:
    """18.1(6), 18.2(6), 18.3: who has won."""
    [row] = yield Ask("select cast(:conditions as jsonb) as now", proves=False)
    scenario = row.now.get("scenario") or ("individual" if of.islands is None else None)
    if scenario is None:
        raise RulingError(
            "The scenario of these islands is not told.",
            "Add it to the conditions: scenario: sequenced or simultaneous.",
        )
    if scenario == "individual":
        yield from _individual(of)
        return
    if of.islands is None:
        [told] = yield Ask("select * from fpb.campaign(:position, :conditions, :policy)", proves=False)
        islands = told.islands
    else:
        islands = {name: island.model_dump(exclude_none=True) for name, island in of.islands.items()}
    function = "points" if scenario == "sequenced" else "deadlines"
    rows = yield Ask(
        f"select * from fpb.{function}(:position, cast(:islands as jsonb), :conditions, :policy)",
        islands=canonical(islands),
    )
    yield Tell(facts=rows[-1].facts)


def _individual(of: Victory) -> Procedure:
    """18.3: what holds at the end of the last game turn."""
    if of.islands is not None:
        raise RulingError(
            "One island by itself is judged by its position.",
            "Leave out `islands`, or name another scenario.",
        )
    rows = yield Ask("select * from fpb.island_won(:position, :conditions, :policy)")
    facts = rows[-1].facts
    if facts["island"] is None:
        raise Undecided(Need("the island", "18.3"), winner=None, met=None)
    if facts["met"] is None:
        raise Undecided(winner=None, met=None)
    early = facts["turn"] is not None and facts["turn"] < facts["length"]
    winner = None if early else "us" if facts["met"] else "japan"
    yield Tell(winner=winner, met=facts["met"], missing=facts["missing"], survivors=facts["survivors"])


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    winner = answer.get("winner")
    whose = {"us": "The US side wins", "japan": "The Japanese win", "draw": "The game is a draw"}
    verdict = whose.get(winner or "", "Nobody has won yet")
    if "points" in answer:
        return f"{verdict}: {answer['points']['total']} victory points"
    if "track" in answer:
        return f"{verdict}: {answer['track']} game turns on the track"
    if answer["allowed"] is None:
        return not_known("the US side has won", ruling)
    return clauses(
        verdict,
        f"not captured: {members(answer['missing'], 'hex')}" if answer["missing"] else None,
        f"not eliminated: {series(answer['survivors'])}" if answer["survivors"] else None,
    )


KINDS = [
    procedure_kind(
        victory,
        kinds=functools.partial(kinds_of, "fpb"),
        name="victory",
        title="Victory",
        arguments=Victory,
        rulesets=("fpb",),
        answers={
            "winner": "us, japan or draw; null where it is not decided yet",
            "points": "sequenced: victory points of each island, and their total",
            "allowance": "simultaneous: game turns that each island may take",
            "track": "simultaneous: game turns of the whole scenario",
            "met": "individual: whether the conditions are met now",
            "missing": "individual: hexes that are to be captured yet",
            "survivors": "individual: Japanese units that are to be eliminated yet",
        },
        verdict=_verdict,
        points=("fpb-24", "fpb-25", "fpb-37", "fpb-38", "fpb-52"),
        example="victory: {}",
        acts=False,
        names_units=("survivors",),
    ),
]
