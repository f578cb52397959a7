"""The database as a command uses it: opened, brought up to date, and left in order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import Connection

from app.terminal.output import say
from db.database import open_database


@contextmanager
def asking() -> Iterator[Connection]:
    """A connection; what is not committed is undone."""
    engine = open_database(say=say, step=lambda step: say(f"… {step}"))
    try:
        with engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def writing() -> Iterator[Connection]:
    """A transaction: all that is done in it, or nothing."""
    with asking() as connection, connection.begin():
        yield connection
