"""What the database refuses, told as what it is: by SQLSTATE, in words, with what to do."""

from __future__ import annotations

import dataclasses

import psycopg
import sqlalchemy as sa

CHANGED = ("cache lookup failed", "could not open relation", "cached plan must not change")
"""What PostgreSQL says to a statement whose functions were made anew beneath it."""


@dataclasses.dataclass(frozen=True)
class Refusal:
    """How a web server answers it, what is wrong, what to do."""

    status: int
    message: str
    remedy: str


REFUSALS = {
    "40001": Refusal(503, "Somebody else changed the same thing at the same moment.", "Ask again."),
    "40P01": Refusal(503, "Somebody else changed the same things at the same moment.", "Ask again."),
    "53100": Refusal(507, "The database has no room left on its disk.", "Make room; nothing was changed."),
    "53200": Refusal(503, "The database has not enough memory for this.", "Ask for less at a time."),
    "53300": Refusal(503, "The database has no connection free.", "Ask again in a moment."),
    "54000": Refusal(422, "This is more than the database can work out at once.", "Ask for less at a time."),
    "54001": Refusal(
        422, "This is nested more deeply than the database can follow.", "Ask for less at a time."
    ),
    "55P03": Refusal(503, "Somebody else is changing the same thing.", "Ask again in a moment."),
    "57014": Refusal(
        503, "This took longer than one statement may.", "Ask for less at a time; see the settings."
    ),
    "58030": Refusal(
        503,
        "The database cannot read or write its disk.",
        "Look at the disk and the server's log; nothing was changed.",
    ),
}
"""By SQLSTATE."""
UPGRADED = Refusal(503, "The database was brought up to date at this moment.", "Ask again.")
"""Known by its words."""


def cause(error: BaseException) -> psycopg.Error | None:
    """What psycopg said, by itself or through SQLAlchemy; None where the database said nothing."""
    said = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    return said if isinstance(said, psycopg.Error) else None


def refusal(error: BaseException) -> Refusal | None:
    """Which of these it is; None where it is none."""
    said = cause(error)
    if said is None:
        return None
    if any(words in str(said) for words in CHANGED):
        return UPGRADED
    return REFUSALS.get(said.sqlstate or "")
