"""The log of a game: events written down, repeated requests known again, any moment looked at, events annotated."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.effects import folded
from app.play.tables import GameError, Table, Tree, open_game, sha256, shown_pending
from app.referee.version import ruleset_version
from db.database import fetched
from db.rulings import SavedRuling
from db.values import canonical, exact

EVENT = "to_jsonb(event) - array['game_id', 'changes']"
"""Of an event: what is told of it."""


@dataclasses.dataclass(frozen=True)
class Deed:
    """What somebody does: an action with its arguments, as a case file has them."""

    action: str
    arguments: Tree
    actor: str
    note: str | None = None
    expected: int | None = None
    """The number of the last event that the writer has seen."""
    key: str | None = None
    """Made up by the client: a repeated request has the same."""
    stands: str | None = None
    """Why what the rules do not allow stands nevertheless, or who overruled them: `illegal_stood`, `overruled`."""
    seen: str | None = None
    """The version of the game that the writer has seen."""

    weighed: bool = True
    """Whether it is found out which readings would change it; random play leaves that out mostly."""
    named: bool = True
    """Whether the request named its actor; else it was whoever was on turn, which may be another by now."""

    @property
    def asked(self) -> str:
        """A digest of what is asked: a key belongs to it alone."""
        return sha256(canonical([self.action, exact(self.arguments), self.actor if self.named else None]))


@dataclasses.dataclass(frozen=True)
class Entry:
    """What became of a deed: an event, or a prompt that waits for an answer."""

    game: str
    number: int
    """Of the event that was written, or that will be."""
    event: Tree | None = None
    pending: Tree | None = None
    repeated: bool = False
    """Whether the request was answered before."""
    followed: tuple[Tree, ...] = ()
    """Events that came by themselves after it, in the set-up of a scenario."""

    def as_dict(self) -> Tree:
        told: Tree = {"game": self.game, "number": self.number}
        if self.event is not None:
            told["event"] = self.event
        if self.pending is not None:
            told["pending"] = self.pending
        if self.repeated:
            told["repeated"] = True
        if self.followed:
            told["followed"] = list(self.followed)
        return told


def repeated(connection: Connection, table: Table, deed: Deed) -> Entry | None:
    """A request that was answered before is answered again, and not done again."""
    if deed.key is None:
        return None
    query = "select asked, number from request where game_id = :game and key = :key"
    rows = fetched(connection, query, {"game": table.id, "key": deed.key})
    if not rows:
        return None
    [row] = rows
    if row.asked != deed.asked:
        raise GameError(
            f"The key {deed.key!r} came with another request already.", "Make up a new key for a new request."
        )
    if row.number <= table.events:
        return Entry(table.name, row.number, event=event_tree(connection, table, row.number), repeated=True)
    return Entry(
        table.name, row.number, pending=table.pending and shown_pending(table.pending), repeated=True
    )


def append(
    connection: Connection, table: Table, actor: str, action: str, said: Tree, deed: Deed | None = None
) -> Tree:
    """An event written down, its changes made; as it is told."""
    told = {
        "actor": actor,
        "action": action,
        "phase": table.moment.as_dict(),
        "ruleset_version": ruleset_version(table.ruleset),
        **said,
    }
    key = deed.key if deed is not None else None
    [row] = fetched(
        connection,
        f"select {EVENT} as told from games.append(:game, cast(:told as jsonb), :key, :asked) as event",
        {
            "game": table.id,
            "told": canonical(exact(told)),
            "key": key,
            "asked": deed.asked if deed is not None and key is not None else None,
        },
    )
    return _told(row)


def remember(connection: Connection, table: Table, deed: Deed, number: int) -> None:
    if deed.key is not None:
        fetched(
            connection,
            "insert into request (game_id, key, asked, number) values (:game, :key, :asked, :number) returning 1",
            {"game": table.id, "key": deed.key, "asked": deed.asked, "number": number},
        )


def standing_events(connection: Connection, table: Table) -> list[int]:
    """Numbers of the events that stand, the last first; the first of a game always does."""
    rows = fetched(
        connection,
        "select number, action, undoes from event where game_id = :game and number > 1 order by number desc",
        {"game": table.id},
    )
    return [row.number for row in _standing(rows)]


def _standing(rows: Sequence[Any]) -> list[Any]:
    """From the last event on: an undo strikes out what it took back, a redo strikes out the undo."""
    struck: set[int] = set()
    found = []
    for row in rows:
        if row.number in struck:
            continue
        if row.action in ("undo", "redo"):
            struck.update(row.undoes)
            if row.action == "redo":
                continue
        else:
            found.append(row)
    return found


def moment(connection: Connection, table: Table, number: int) -> Tree:
    """The position after an event, as one tree."""
    [(_, tree)] = moments(connection, table, number, number)
    return tree


def moments(connection: Connection, table: Table, first: int, last: int) -> Iterator[tuple[int, Tree]]:
    """The positions after some events that follow each other, each with its number; read once, folded one by one."""
    if not 1 <= first <= last <= table.events:
        number = last if 1 <= first <= table.events else first
        raise GameError(f"{table.name} has no event {number}.", f"Its events are 1 to {table.events}.")
    [start] = fetched(
        connection,
        "select number, tree from snapshot where game_id = :game and number <= :number order by number desc limit 1",
        {"game": table.id, "number": first},
    )
    rows = fetched(
        connection,
        "select number, changes from event where game_id = :game and number > :start and number <= :number"
        " order by number",
        {"game": table.id, "start": start.number, "number": last},
    )
    tree = folded(start.tree, (change for row in rows if row.number <= first for change in row.changes))
    yield first, tree
    for row in rows:
        if row.number > first:
            tree = folded(tree, row.changes)
            yield row.number, tree


def event_tree(connection: Connection, table: Table, number: int) -> Tree:
    """An event as it is told."""
    return log(connection, table, first=number, last=number)[0]


def log(connection: Connection, table: Table, *, first: int = 1, last: int | None = None) -> list[Tree]:
    """Events in order, each as it is told, with what was said of it later."""
    rows = fetched(
        connection,
        f"select {EVENT} as told from event where game_id = :game and number between :first and :last order by number",
        {"game": table.id, "first": first, "last": table.events + 1 if last is None else last},
    )
    told = [_told(row) for row in rows]
    struck = struck_out(connection, table)
    notes = _annotations(connection, table, first, last)
    for event in told:
        if event["number"] in struck:
            event["struck_out_by"] = struck[event["number"]]
        if event["number"] in notes:
            event["annotations"] = notes[event["number"]]
    return told


def _annotations(connection: Connection, table: Table, first: int, last: int | None) -> dict[int, list[Tree]]:
    """What was said of events afterwards, by their numbers."""
    rows = fetched(
        connection,
        "select number, author, text, ruling, at from annotation"
        " where game_id = :game and number between :first and :last order by id",
        {"game": table.id, "first": first, "last": table.events + 1 if last is None else last},
    )
    found: dict[int, list[Tree]] = {}
    for row in rows:
        said = {key: value for key, value in row._mapping.items() if key not in ("number", "at") and value}
        found.setdefault(row.number, []).append({**said, "at": row.at.isoformat()})
    return found


def _told(row: sa.Row[Any]) -> Tree:
    return {key: value for key, value in row.told.items() if value not in (None, [], {})}


def struck_out(connection: Connection, table: Table) -> dict[int, int]:
    """Events that were taken back, each with the undo that did it."""
    struck: dict[int, int] = {}
    rows = fetched(
        connection,
        "select number, action, undoes from event where game_id = :game and undoes <> '{}' order by number",
        {"game": table.id},
    )
    for row in rows:
        for taken in row.undoes:
            if row.action == "redo":
                struck = {number: by for number, by in struck.items() if by != taken}
            else:
                struck[taken] = row.number
    return struck


def note(
    connection: Connection, name: str, number: int, text: str, *, author: str, ruling: str | None = None
) -> None:
    """Say something of an event; a kept ruling may be referred to."""
    table = open_game(connection, name)
    if not 1 <= number <= table.events:
        raise GameError(f"{name} has no event {number}.", f"Its events are 1 to {table.events}.")
    if not text.strip():
        raise GameError("An annotation says something.")
    if (
        ruling is not None
        and connection.scalar(sa.select(SavedRuling.id).where(SavedRuling.id == ruling)) is None
    ):
        raise GameError(f"There is no ruling {ruling!r}.", "`sightline rulings list` lists the kept ones.")
    fetched(
        connection,
        "insert into annotation (game_id, number, author, text, ruling)"
        " values (:game, :number, :author, :text, :ruling) returning 1",
        {"game": table.id, "number": number, "author": author, "text": text, "ruling": ruling},
    )
