"""What may be done now: the actions of the phase by name, and where the game can tell, with their arguments."""

from __future__ import annotations

from typing import Any

from sqlalchemy.engine import Connection

from app.play.actions import actions_of
from app.play.tables import GameError, Table, shown_pending
from app.referee.questions import kinds_of
from db.rulesets import read_ruleset

Tree = dict[str, Any]
LEGAL = "legal"
"""The question that tells actions with their arguments."""


def actions_now(table: Table) -> list[str]:
    """What may be done in this phase, by name; an answer alone where one is awaited, nothing when all is over."""
    if table.over:
        return []
    if table.pending is not None:
        return ["answer"]
    known = actions_of(table.ruleset)
    return [name for name in table.walk.actions(table.state) if name in known]


def legal(connection: Connection, table: Table, *, unit: str | None = None, side: str | None = None) -> Tree:
    """What a unit or a side may do now; nothing said, whoever is on turn.

    `names` are the actions of the phase. Where the game answers the question `legal`, `actions` are those that
    can be entered as they stand, each with its arguments.
    """
    told: Tree = {"game": table.name, "now": table.moment.as_dict(), "names": actions_now(table)}
    if table.pending is not None:
        return told | {"pending": shown_pending(table.pending)}
    if LEGAL not in kinds_of(table.ruleset):
        if unit is not None:
            raise GameError(
                f"What a single unit may do is not told in {table.ruleset}.",
                f"In this phase there may be done: {', '.join(told['names']) or 'nothing'}.",
            )
        return told
    if table.over:
        return told | {"actions": []}
    found: list[Tree] = []
    steps: list[Tree] = []
    for about in _asked_of(table, unit, side):
        ruling = table.board().ask(connection, {LEGAL: about}).ruling
        found += [action for action in ruling.answer["actions"] if action not in found]
        steps += [step.as_dict() for step in ruling.steps]
    return told | {"actions": found, "steps": steps}


def _asked_of(table: Table, unit: str | None, side: str | None) -> list[Tree]:
    if unit is not None:
        return [{"unit": unit}]
    on_turn = side or table.moment.active
    return [{"side": one} for one in ([on_turn] if on_turn else read_ruleset(table.ruleset).facts.sides)]
