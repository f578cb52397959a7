"""The set-up of a scenario, step by step: what is fixed or decided by die happens by itself, a choice is waited for.

The steps stand in the game's first event, so that a record holds them too. A step is done by an event of its
procedure with its arguments, and is to be done again when that event is taken back.
"""

from __future__ import annotations

from sqlalchemy.engine import Connection

from app.play.log import standing_events
from app.play.tables import Table, Tree
from db.database import fetched

WORDS = ("choice", "die", "fixed")
"""Who or what decides a step, each with the procedure that is called."""


def steps_left(connection: Connection, table: Table) -> list[Tree]:
    """The steps of the set-up that are not done yet, in order; none once the first phase has begun."""
    if table.moment.phase is not None:
        return []
    [begin] = fetched(
        connection,
        "select arguments -> 'setup' as setup from event where game_id = :game and number = 1",
        {"game": table.id},
    )
    left = list(begin.setup or ())
    if not left:
        return []
    done = fetched(
        connection,
        "select action, arguments from event where game_id = :game and number = any(:numbers) order by number",
        {"game": table.id, "numbers": standing_events(connection, table)},
    )
    for event in done:
        step = next((step for step in left if _is_done(step, event.action, event.arguments)), None)
        if step is not None:
            left.remove(step)
    return left


def _is_done(step: Tree, action: str, arguments: Tree) -> bool:
    told = step.get("arguments", {})
    return procedure_of(step) == action and all(arguments.get(key) == value for key, value in told.items())


def procedure_of(step: Tree) -> str:
    """The procedure that a step calls."""
    called: str = next(step[word] for word in WORDS if step.get(word))
    return called


def is_decided(step: Tree) -> bool:
    """Whether no player has a say in it."""
    return not step.get("choice")
