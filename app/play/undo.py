"""Taking back and doing again: events of their own, made of the inverse of what they take back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.engine import Connection

from app.play.effects import Change, inverse
from app.play.log import Deed, Entry, append, repeated, standing_events
from app.play.tables import GameError, Table, Tree, check_free, check_seated, open_game, refuse_stale
from db.database import fetched
from db.games import REFEREE


def undo(
    connection: Connection,
    name: str,
    *,
    actor: str = REFEREE,
    events: int = 1,
    free_dice: bool = False,
    note: str | None = None,
    expected: int | None = None,
    key: str | None = None,
    seen: str | None = None,
) -> Entry:
    """Take back the last events that still stand, by their inverse: they stay in the log, struck out.

    Dice that were rolled for them are kept for the same action, unless the referee frees them. An undo can be
    undone: that is a redo.
    """
    table = open_game(connection, name, writing=True)
    deed = Deed("undo", {"events": events, "free_dice": free_dice}, actor, note, expected, key, seen=seen)
    if (again := repeated(connection, table, deed)) is not None:
        return again
    refuse_stale(connection, table, deed.expected, deed.seen)
    check_seated(table, actor)
    check_free(table, deed.action)
    if free_dice and actor != REFEREE:
        raise GameError("Only the referee frees dice.", "Undo keeps them for the same action.")
    standing = standing_events(connection, table)
    if events < 1 or events > len(standing):
        raise GameError(
            f"{name} has {len(standing)} events that can be taken back, not {events}." if standing
            else f"Nothing in {name} can be taken back."
        )  # fmt: skip
    taken = fetched(
        connection,
        "select number, changes, answer from event where game_id = :game and number = any(:numbers) order by number desc",
        {"game": table.id, "numbers": standing[:events]},
    )
    changes = [change for event in taken for change in inverse(event.changes)]
    return _take(connection, table, deed, "undo", taken, changes)


def redo(
    connection: Connection,
    name: str,
    *,
    actor: str = REFEREE,
    note: str | None = None,
    expected: int | None = None,
    key: str | None = None,
    seen: str | None = None,
) -> Entry:
    """Do again what the last undo took back, where nothing has been done since."""
    table = open_game(connection, name, writing=True)
    deed = Deed("redo", {}, actor, note, expected, key, seen=seen)
    if (again := repeated(connection, table, deed)) is not None:
        return again
    refuse_stale(connection, table, deed.expected, deed.seen)
    check_seated(table, actor)
    check_free(table, deed.action)
    rows = fetched(
        connection,
        "select number, action, changes, undoes from event where game_id = :game and number = :number",
        {"game": table.id, "number": table.events},
    )
    if not rows or rows[0].action != "undo":
        raise GameError(f"The last event of {name} is no undo, so there is nothing to do again.")
    return _take(connection, table, deed, "redo", rows, inverse(rows[0].changes))


def _take(
    connection: Connection, table: Table, deed: Deed, action: str, taken: Sequence[Any], changes: list[Change]
) -> Entry:
    arguments = {"free_dice": True} if deed.arguments.get("free_dice") else {}
    said: Tree = {
        "arguments": arguments, "undoes": [event.number for event in taken], "changes": changes,
        "effects": [], **({"note": deed.note} if deed.note else {}),
    }  # fmt: skip
    event = append(connection, table, deed.actor, action, said, deed)
    _tell_end(connection, table)
    return Entry(table.name, event["number"], event=event)


def _tell_end(connection: Connection, table: Table) -> None:
    """The game is over where an event that stands says so; a seed that was opened stays so."""
    fetched(
        connection,
        "update game set over = exists (select from event where game_id = :game and number = any(:standing)"
        " and answer ->> 'over' = 'true') where id = :game returning 1",
        {"game": table.id, "standing": standing_events(connection, table)},
    )
