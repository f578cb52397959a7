"""Branching off: another game from a moment of one, and questions put to a moment."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import Connection

from app.play.dice import new_seed
from app.play.games import new_game
from app.play.log import moment
from app.play.tables import Table, Tree, open_game
from app.referee.boards import Board
from db.database import fetched, psycopg_connection
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
    with psycopg_connection(connection).transaction(force_rollback=True):
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
