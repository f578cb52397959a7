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
def reading() -> Iterator[Connection]:
    """A connection for questions: what they find out is kept for the next who asks."""
    with asking() as connection:
        yield connection.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def writing() -> Iterator[Connection]:
    """A transaction: all that is done in it, or nothing."""
    with asking() as connection, connection.begin():
        yield connection
