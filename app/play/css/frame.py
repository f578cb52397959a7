"""What the procedures of css have in common: how they are listed, the state that they ask for, their verdicts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any

from app.play.procedures import (
    Action,
    Ask,
    Procedure,
    ProcedureKind,
    Refused,
    Tell,
    Undecided,
    Want,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling
from app.referee.words import not_known

GAME = (
    "select cast(:conditions as jsonb) as conditions, positions.readings(:position, :policy) as readings,"
    " tracks from position where id = :position"
)
OTHER = {"us": "japan", "japan": "us"}
Asking = Generator[Want, Any, Any]


class NothingMore(Action):
    """What is asked is only the position."""


def css_kind(
    play: Callable[[Any], Procedure], *, done: Callable[[Ruling], str], what: str, **facts: Any
) -> ProcedureKind:
    """A procedure of css; `done` is its verdict where it is allowed, `what` names it where it is not."""
    facts["answers"] = facts.get("answers", {}) | {"modifiers": "what the rules add, each with its rule"}
    return procedure_kind(
        play,
        kinds=functools.partial(kinds_of, "css"),
        rulesets=("css",),
        verdict=functools.partial(_verdict, done, what),
        **facts,
    )


def _verdict(done: Callable[[Ruling], str], what: str, ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return not_known(f"{what} may be", ruling)
    if not answer["allowed"]:
        return f"No {what}: {answer['why']}"
    if "pending" in answer:
        wanted = answer["pending"]
        return f"{what[0].upper()}{what[1:]}: {waits_for(wanted)}"
    return done(ruling)


def waits_for(pending: dict[str, Any]) -> str:
    """What a procedure waits for, in words."""
    if "choice" in pending:
        return f"{pending['by']} chooses {pending['choice'].replace('_', ' ')}"
    if "roll" in pending:
        return f"a die for {pending['for']} is to be rolled"
    return f"{pending.get('card') or pending.get('draw')} is to be drawn"


def game() -> Asking:
    """Conditions, readings and tracks as they are now."""
    [row] = yield Ask(GAME, proves=False)
    row_tracks = row.tracks or {}
    return row, row_tracks


def ledger(query: str, *, tells: bool = False, **values: Any) -> Asking:
    """The facts of a ledger; one that refuses ends the procedure, one that does not know leaves it open.

    The query is the name of a function of the schema, which takes position, its own values, conditions and policy.
    With `tells`, what its rows add is part of the answer, as `modifiers`.
    """
    given = "".join(f":{name}, " for name in values)
    rows = yield Ask(f"select * from css.{query}(:position, {given}:conditions, :policy)", **values)
    verdict = rows[-1]
    if tells:
        yield Tell(modifiers=modifiers(rows))
    if verdict.effect == "refused":
        raise Refused(verdict.rule, verdict.note, verdict.at, **shown(verdict.facts))
    if verdict.effect == "unknown":
        raise Undecided(Need(verdict.note, verdict.rule), **shown(verdict.facts))
    return verdict.facts


def modifiers(rows: list[Any]) -> list[dict[str, Any]]:
    """The signed entries of a ledger."""
    return [
        {"rule": row.rule, "value": row.halves // 2, "note": row.note}
        for row in rows[:-1]
        if row.halves is not None
    ]


TOLD_ANYWAY = ("cost", "chit", "left", "result")
"""Facts that are part of the answer where a ledger refuses or does not know."""


def shown(facts: dict[str, Any] | None) -> dict[str, Any]:
    """Facts of a ledger that are told though nothing is done."""
    return {key: value for key, value in (facts or {}).items() if key in TOLD_ANYWAY}
