"""Who has won: the ways in which a game ends, secret chits, ties (10.2, 13.3, 14)."""

from __future__ import annotations

import functools
from typing import Any, Literal

from pydantic import Field

from app.play.ccp.table import SIDES, Doing, conditions, gains, other
from app.play.procedures import Action, Ask, Procedure, Tell, Undecided, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses
from db.values import canonical

End = Literal["surrender", "elimination", "exit", "sudden_death"]
CHITS = "select * from ccp.chit_points(:position, cast(:chits as jsonb), :conditions)"


class Victory(Action):
    """By what the game ends; without it, as the position stands."""

    end: End | None = Field(
        None, description="surrender, elimination, exit or sudden_death; else what the position shows"
    )


def victory(of: Victory) -> Procedure:
    """13.3: whether the game is over, and who has won."""
    rows = yield Ask("select * from ccp.standing(:position, :conditions)")
    lost = [row.facts for row in rows if row.effect == "loses"]
    beaten = {fact["side"] for fact in lost if fact["end"] in ("surrender", "elimination")}
    end = of.end or next((fact["end"] for fact in lost), None)
    points: dict[str, int] = {}
    winner: str | None = None
    if beaten and of.end in (None, "exit", "sudden_death"):
        # 13.3.2: only where a and b do not apply
        end = next(fact["end"] for fact in lost if fact["side"] in beaten)
    if end in ("surrender", "elimination"):
        losers = beaten or ({"allied"} if end == "surrender" else set())
        winner = yield from _by_elimination(losers)
    elif end is not None:
        winner = yield from decided_by_points(points)
    now = (yield from conditions()).get("vp")
    yield Tell(
        over=end is not None,
        winner=winner,
        end=end,
        vp=now,
        facts={"points": points},
        result=winner or "open",
    )


def _by_elimination(losers: set[str]) -> Doing:
    """13.3.1: whoever has lost so loses whatever the points; both at once, and the Initiative decides."""
    if not losers:
        raise Undecided(Need("whose last unit is eliminated", "13.3.1"))
    if len(losers) == 1:
        [loser] = losers
        yield Tell(Step("13.3.1", None, "loses", f"{SIDES[loser]}, whatever the points"))
        return other(loser)
    return (yield from _by_initiative("13.3.1", "both have lost"))


def decided_by_points(told: dict[str, int] | None = None) -> Doing:
    """13.3.2: secret chits are opened and pay whoever holds their objectives; then the Victory Track decides."""
    secret = ((yield from conditions()).get("chits") or {}).get("secret") or {}
    chits = [chit for side in SIDES for chit in secret.get(side) or ()]
    for row in (yield Ask(CHITS, proves=False, chits=canonical(chits))):
        yield from gains(
            row.holder, row.points, "13.3.2", f"objective {row.number}, by the secret chit {row.letter}"
        )
        if told is not None:
            told[row.holder] = told.get(row.holder, 0) + row.points
    vp = (yield from conditions()).get("vp")
    if vp is None:
        yield Tell(needs=[Need("the Victory Track", "13.3.2")])
        return None
    if vp == 0:
        return (yield from _by_initiative("10.2", "the VP marker is on zero"))
    winner = "allied" if vp > 0 else "japan"
    yield Tell(Step("13.3.2", None, winner, f"the VP marker is {abs(vp)} on the side of {SIDES[winner]}"))
    return winner


def _by_initiative(rule: str, why: str) -> Doing:
    holder: Any = (yield from conditions()).get("initiative")
    if holder is None:
        yield Tell(needs=[Need("who holds the Initiative", "10.2")])
    else:
        yield Tell(Step(rule, None, holder, f"{why}: {SIDES[holder]} hold the Initiative"))
    return holder


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "Who has won is not known"
    if not answer["over"]:
        return "The game is not over"
    winner = answer["winner"]
    return clauses(
        f"The game is over by {answer['end'].replace('_', ' ')}",
        f"{SIDES[winner]} win" if winner == "allied" else "Japan wins" if winner else "who wins is not told",
        f"VP marker at {answer['vp']}" if answer["vp"] is not None else None,
    )


KINDS = [
    procedure_kind(
        victory,
        kinds=functools.partial(kinds_of, "ccp"),
        name="victory",
        title="Victory",
        arguments=Victory,
        rulesets=("ccp",),
        answers={
            "over": "whether the game is over",
            "winner": "japan or allied; null where it is not over, or not known",
            "end": "by what: surrender, elimination, exit, sudden_death",
            "vp": "the Victory Track at the end, secret chits counted",
            "points": "what secret chits paid, by side",
            "result": "the winner, or open",
        },
        verdict=_verdict,
        example="victory: {end: sudden_death}",
        acts=False,
    ),
]
