"""Streams: a game followed as it is played, an event a message (text/event-stream).

PostgreSQL tells who listens that there is something new (`sightline_game`); what it is, is read from the log. So
every process tells the same, and where a pooler swallows the word, the next sign of life brings the news.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play.log import log
from app.play.tables import NoGameError, Table, open_game, shown_pending
from app.play.views import View
from app.play.words import sentence
from db.database import connection_apart, psycopg_connection
from db.settings import Settings
from db.values import to_json

CHANNEL = "sightline_game"
BATCH = 100
"""Events that are read at a time."""
TICK_SECONDS = 0.5
"""How long a stop may go unnoticed."""
RETRY_SECONDS = 2
"""After so long a reader whose stream has ended asks again."""


class Streams:
    """The streams of a process: so many at once, each for so long."""

    def __init__(self, settings: Settings, engine: Engine) -> None:
        self._engine = engine
        self._seconds, self._heartbeat = settings.stream_seconds, settings.stream_heartbeat
        # a stream holds a thread as long as it lasts, and others want to be answered too
        self._free = max(0, min(settings.streams, settings.threads - 1))
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def take(self) -> bool:
        """Whether there is room for one more; who has taken it gives it back."""
        with self._lock:
            if self._free == 0 or self._closed.is_set():
                return False
            self._free -= 1
            return True

    def give_back(self) -> None:
        with self._lock:
            self._free += 1

    def close(self) -> None:
        """End all streams; no other begins."""
        self._closed.set()

    def messages(self, name: str, after: int | None, view: View) -> Iterator[str]:
        """What happens in a game from now on, or from after an event, as a seat sees it."""
        # what the server has to say of a connection that it ends is no matter for whoever reads: they ask again
        try:
            with connection_apart(self._engine) as connection:
                psycopg_connection(connection).execute(f"listen {CHANNEL}")
                yield f"retry: {RETRY_SECONDS * 1000}\n\n"
                yield from self._followed(connection, name, after, view)
        except (psycopg.Error, sa.exc.DBAPIError) as error:
            logging.getLogger("sightline").warning("a stream of %s ended: %s", name, error)

    def _followed(self, connection: Connection, name: str, after: int | None, view: View) -> Iterator[str]:
        end = time.monotonic() + self._seconds
        waiting: str | None = None
        while True:
            try:
                table = open_game(connection, name)
            except NoGameError:
                yield message("gone", {"game": name})
                return
            if after is None:
                after = table.events
                yield message("now", view.game(connection, table).as_dict(), after)
                waiting = table.version if table.pending else None
            for event in _new_events(connection, table, after, view):
                yield message("event", event, event["number"])
            after = max(after, table.events)
            if table.pending is not None and waiting != table.version:
                pending = view.pending(connection, table)
                yield message("waits", shown_pending(pending or table.pending))
            waiting = table.version if table.pending else None
            if not self._news(connection, name, end):
                if self._closed.is_set() or time.monotonic() >= end:
                    return
                yield ": still here\n\n"

    def _news(self, connection: Connection, name: str, end: float) -> bool:
        """Wait until something happens in the game; False where nothing did before the next sign of life."""
        until = min(time.monotonic() + self._heartbeat, end)
        listener = psycopg_connection(connection)
        while (left := until - time.monotonic()) > 0 and not self._closed.is_set():
            for notice in listener.notifies(timeout=min(left, TICK_SECONDS), stop_after=1):
                if f'"{name}"' in notice.payload:
                    return True
        return False


def _new_events(connection: Connection, table: Table, after: int, view: View) -> Iterator[dict[str, Any]]:
    for first in range(after + 1, table.events + 1, BATCH):
        found = log(connection, table, first=first, last=min(first + BATCH - 1, table.events))
        for seen in view.events(connection, table, found):
            yield {**seen, "verdict": sentence(table.ruleset, seen)}


def message(kind: str, data: dict[str, Any], number: int | None = None) -> str:
    """A message of a stream; a number is where a reader goes on from."""
    lines = [f"id: {number}"] if number is not None else []
    return "\n".join([*lines, f"event: {kind}", f"data: {to_json(data, indent=None)}", "", ""])
