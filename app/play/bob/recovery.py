"""The Recovery Phase (13.0): Suppression wears off, counters of the turn come off, smoke disperses; the monsoon (55.2)."""

from __future__ import annotations

import functools
from typing import Any

from app.play.bob.asking import Asking, game, piece, pieces
from app.play.bob.melee import Melee, melee
from app.play.bob.rout import Rout, rout
from app.play.bob.turn import other
from app.play.procedures import (
    Action,
    Ask,
    Call,
    Change,
    Choose,
    Given,
    Procedure,
    Refused,
    Roll,
    Tell,
    procedure_kind,
)
from app.play.sequence import State
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, counted, series

COUNTERS = {
    "used": False, "op_fire": False, "cp": False, "flank": False, "ambush": False, "sustained": [],
}  # fmt: skip
"""Counters that come off every unit (13.0, 61.1)."""
FLAGS = ("fired", "moving", "declared", "entered", "satt_at")
"""What a unit did in the turn, which the log keeps."""
LAID = "select code, attributes from unit where position_id = :position and attributes ?| :names order by id"


class NothingMore(Action):
    """What is asked is only the position."""


def recover(_: NothingMore) -> Procedure:
    """13.0: in the order of the rule; Move and UK counters stay."""
    rows = yield Ask("select * from bob.recover(:position, :conditions, :policy)")
    facts = rows[-1].facts
    over = facts["over"]
    recovered = [row.by for row in rows if row.effect in ("suppressed", "none")]
    lifted = [row for row in rows if row.effect in ("removed", "disperses")]
    yield Tell(
        recovered=recovered,
        markers={row.at: "dispersed_smoke" if row.effect == "disperses" else None for row in lifted},
        next_turn=None if over or facts["turn"] is None else facts["turn"] + 1,
        over=over,
    )
    for row in rows:
        if row.effect in ("suppressed", "none"):
            yield Change({"unit": row.by, "suppression": row.effect})
    for row in lifted:
        yield Change({"marker": row.by, "at": row.at, **(row.facts or {}), "removed": True})
    for row in lifted:
        if row.effect == "disperses":
            yield Change({"marker": "dispersed_smoke", "at": row.at})
    yield from _counters_off()
    yield from _fatigue(rows)
    yield from _weather(compulsory=False)
    if not over and (yield from _stanza_ends()):
        over = True
        yield from _fought_out()
    if over:
        won = yield Ask("select * from bob.victory(:position, :conditions, :policy)")
        yield Tell(winner=won[-1].facts["winner"])


def _stanza_ends() -> Asking:
    """65.1: without a turn limit the Attacker goes on, or the other side takes over and moves first, or it is the end."""
    now = yield from game()
    attacker = now.conditions.get("attacker")
    if attacker is None or now.conditions.get("turns") is not None:
        return False
    if (
        yield Choose(
            "continue", attacker, "whether the attack goes on", [True, False], default=True, unsaid=True
        )
    ):
        return False
    rival = other(State(now.conditions, now.tracks), attacker) or next(
        (one.side for one in (yield from pieces()) if one.side != attacker), None
    )
    if rival is not None and (
        yield Choose(
            "attack",
            rival,
            f"whether {rival} becomes the Attacker",
            [True, False],
            default=False,
            unsaid=False,
        )
    ):
        yield Tell(
            Step("65.1", None, "attacks", f"{rival} is the Attacker now, and moves first"), attacker=rival
        )
        yield Change({"conditions": {"attacker": rival, "first": rival}})
        return False
    yield Tell(Step("65.1", None, "ends", "neither side wishes to go on"), over=True, next_turn=None)
    return True


def _fought_out() -> Procedure:
    """65.1: Melees go on until one side is left, a Rout before each round, without Command Points."""
    while melees := (yield Ask("select label from bob.melees(:position) order by label", proves=False)):
        at = melees[0].label
        for unit in [one for one in (yield from pieces()) if one.label == at and one.melee]:
            now = yield from piece(unit.code)
            if now is not None and now.label == at and now.melee:
                yield Call(rout(Rout(unit=unit.code)), Given())
        if any(one.label == at and one.melee for one in (yield from pieces())):
            yield Call(melee(Melee(at=at)), Given())


def _counters_off() -> Procedure:
    rows = yield Ask(LAID, proves=False, names=[*COUNTERS, *FLAGS])
    for row in rows:
        off = {name: clear for name, clear in COUNTERS.items() if name in row.attributes}
        if off:
            yield Change({"unit": row.code, **off})
        if flags := {name: None for name in FLAGS if name in row.attributes}:
            yield Change({"unit": row.code, **flags}, kept=True)
    now = yield from game()
    for side, told in sorted(now.tracks.items()):
        if isinstance(told, dict) and "cps" in told:
            # 3.0: counters go back to the player; what is left is not kept
            yield Change({"side": side, "cps": None}, kept=True)
        if isinstance(told, dict) and "spent" in told:
            yield Change({"side": side, "spent": None}, kept=True)


def _fatigue(rows: list[Any]) -> Procedure:
    """64.1: the companies of the Attacker tire."""
    now = yield from game()
    for row in rows:
        if row.effect == "adds":
            had = (now.tracks.get("companies", {}).get(row.by, {}) or {}).get("fatigue")
            had = (now.conditions.get("fatigue") or {}).get(row.by, 0) if had is None else had
            yield Change({"company": row.by, "fatigue": had + row.halves // 2})


def weather(_: NothingMore) -> Procedure:
    """55.2: the first player rolls until the rain has changed once."""
    yield from _weather(compulsory=True)


def _weather(*, compulsory: bool) -> Asking:
    now = yield from game()
    monsoon = now.conditions.get("monsoon")
    raining = now.conditions.get("weather") == "monsoon" or bool((monsoon or {}).get("raining"))
    if monsoon is None or monsoon.get("done") or not monsoon.get("check"):
        if compulsory:
            why = "no monsoon is in this scenario" if monsoon is None else "the rain has changed already"
            raise Refused("55.2", why)
        return
    low, high = monsoon["check"]
    yield Tell(Step("55.2", None, "checks", "until the rain has begun or ended the first player rolls"))
    die = yield Roll("1d10", "the Monsoon Storm Check")
    changes = low <= die <= high
    result = ("stops" if raining else "starts") if changes else "no_change"
    yield Tell(Step("55.2", None, result, f"{die}; the rain changes on {low} to {high}"), result=result)
    if changes:
        yield Tell(raining=not raining)
        yield Change(
            {
                "conditions": {
                    "monsoon": {**monsoon, "raining": not raining, "done": True},
                    "weather": None if raining else "monsoon",
                }
            }
        )
    else:
        yield Tell(raining=raining)


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    recovered = answer["recovered"]
    who = series(recovered) if len(recovered) <= 6 else counted(len(recovered), "unit")
    return clauses(
        f"{who} recover{'s' if len(recovered) == 1 else ''}" if recovered else "Nobody recovers",
        "the game is over" if answer["over"] else None,
        f"turn {answer['next_turn']} comes next" if answer["next_turn"] else None,
    )


def _weather_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"Nobody rolls for the monsoon: {answer['why']}"
    words = {"starts": "It begins to rain", "stops": "The rain stops", "no_change": "The weather stays"}
    return words.get(answer.get("result", ""), "The Monsoon Storm Check is to be rolled")


KINDS = [
    procedure_kind(
        recover,
        kinds=functools.partial(kinds_of, "bob"),
        name="recover",
        title="The Recovery Phase",
        arguments=NothingMore,
        rulesets=("bob",),
        answers={
            "recovered": "units that lost a step of Suppression",
            "markers": "hexes in which a marker was taken off (null) or flipped",
            "next_turn": "the turn that follows; null where the game is over",
            "over": "whether this was the last turn",
            "winner": "who has won, where it was",
            "attacker": "the new Attacker, where the other side takes over (65.1)",
            "result": "of the Monsoon Storm Check: starts, stops, no_change",
            "raining": "whether it rains now",
        },
        verdict=_verdict,
        points=("bob-39",),
        acts=False,
        example="recover: {}",
    ),
    procedure_kind(
        weather,
        kinds=functools.partial(kinds_of, "bob"),
        name="weather",
        title="The Monsoon Storm Check",
        arguments=NothingMore,
        rulesets=("bob",),
        answers={"result": "starts, stops or no_change", "raining": "whether it rains now"},
        verdict=_weather_verdict,
        acts=False,
        example="weather: {rolls: [7]}",
    ),
]
