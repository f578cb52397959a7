"""The database as a command uses it: opened, brought up to date, and left in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.engine import Connection, Engine

from app.terminal.output import say
from db.database import open_database, open_doors


@contextmanager
def asking() -> Iterator[Connection]:
    """A connection of the role that only asks; what is not committed is undone."""
    with _connected(open_doors) as connection:
        yield connection


@contextmanager
def reading() -> Iterator[Connection]:
    """A connection for questions: what they find out is kept for the next who asks."""
    with asking() as connection:
        yield connection.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def owning() -> Iterator[Connection]:
    """A connection of the owner, who may write everything; what is not committed is undone."""
    with _connected(open_database) as connection:
        yield connection


@contextmanager
def writing() -> Iterator[Connection]:
    """A transaction of the owner: all that is done in it, or nothing."""
    with owning() as connection, connection.begin():
        yield connection


@contextmanager
def _connected(opened: Callable[..., Engine]) -> Iterator[Connection]:
    engine = opened(say=say, step=lambda step: say(f"… {step}"))
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()
