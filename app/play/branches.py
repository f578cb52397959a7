"""Branching off: another game from a moment of one, a position or a case made of it, and questions put to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.dice import new_seed
from app.play.games import new_game
from app.play.log import event_tree, moment
from app.play.procedures import ProcedureKind
from app.play.tables import GameError, Table, Tree, check_name, open_game
from app.referee.boards import Board, case_file
from app.referee.questions import kinds_of
from db.database import fetched, undone
from db.positions import Position
from db.values import canonical
from importers.positions import stored_tree


def stored(connection: Connection, table: Table, tree: Tree) -> int:
    """A nameless position with what a tree tells, on a game's map."""
    [row] = fetched(
        connection,
        "select games.store(:map, :ruleset, :policy, cast(:tree as jsonb)) as position",
        {"map": table.map_id, "ruleset": table.ruleset, "policy": table.policy, "tree": canonical(tree)},
    )
    position: int = row.position
    return position


def fork(connection: Connection, name: str, number: int, new_name: str, *, title: str = "") -> Table:
    """A new game that begins where another was after an event, with dice of its own."""
    table = open_game(connection, name)
    position = stored(connection, table, moment(connection, table, number))
    begun = new_game(
        connection,
        new_name,
        position,
        title=title or f"{table.title}, from event {number}",
        dice=table.dice,
        seed=new_seed() if table.dice == "server" else None,
        scenario=table.scenario,
        house=table.house,
        opening={"forked_from": name, "after": number, "digest": _digest_of(connection, table, number)},
        parent=(table.id, number),
    )
    fetched(connection, "delete from position where id = :id returning 1", {"id": position})
    return begun


def _digest_of(connection: Connection, table: Table, number: int) -> str:
    [row] = fetched(
        connection,
        "select digest from event where game_id = :game and number = :number",
        {"game": table.id, "number": number},
    )
    digest: str = row.digest
    return digest


@contextmanager
def board_at(connection: Connection, table: Table, number: int) -> Iterator[Board]:
    """The position after an event, to be asked until the end of the block."""
    if number == table.events:
        yield table.board()
        return
    tree = moment(connection, table, number)
    with undone(connection):
        position = stored(connection, table, tree)
        yield dataclasses.replace(
            table.board(), position_id=position, conditions=tree["conditions"], passing=True
        )


def position_at(connection: Connection, table: Table, number: int) -> Tree:
    """The position after an event as its file would have it; counters by side and id, at every moment alike."""
    with board_at(connection, table, number) as board:
        tree = stored_tree(connection, board.position_id)
    tree["units"].sort(key=lambda unit: (unit["side"], unit["id"]))
    tree["markers"].sort(key=canonical)
    return {"game": table.name, "after": number, **tree}


def keep_position(connection: Connection, name: str, number: int, position: str) -> str:
    """A moment kept as a saved position of that name."""
    table = open_game(connection, name)
    check_name(position)
    if connection.scalar(sa.select(Position.id).where(Position.name == position)) is not None:
        raise GameError(f"There is a position {position!r} already.", "Give this one another name.")
    row = stored(connection, table, moment(connection, table, number))
    title = f"{table.title}, after event {number}"
    connection.execute(sa.update(Position).where(Position.id == row).values(name=position, title=title))
    return position


def case_text(connection: Connection, table: Table, number: int) -> str:
    """An event as a case file: the position it was done in, what was done, with the answers it was given.

    What no question asks, such as the end of a phase, is a case of where the game then stood.
    """
    event = event_tree(connection, table, number) if 1 <= number <= table.events else {}
    if not event:
        raise GameError(f"{table.name} has no event {number}.", f"Its events are 1 to {table.events}.")
    action = event["action"]
    if number > 1 and isinstance(kinds_of(table.ruleset).get(action), ProcedureKind):
        asked = event.get("arguments", {}) | _answers(event)
        with board_at(connection, table, number - 1) as board:
            return case_file(connection, board, {action: asked})
    with board_at(connection, table, number) as board:
        return case_file(connection, board, {"sequence": {}})


def _answers(event: Tree) -> Tree:
    """What dice, draws and players said, as a case file gives it."""
    draws = event.get("draws", [])
    told = {
        "rolls": [roll["value"] for roll in event.get("rolls", [])],
        "draws": [draw["value"] for draw in draws if "draw" in draw],
        "cards": [draw["value"] for draw in draws if "card" in draw],
        "choices": {choice["choice"]: choice["value"] for choice in event.get("choices", [])},
    }
    return {key: value for key, value in told.items() if value}
