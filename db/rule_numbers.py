"""Games and rules by what people call them: a code, a number in any spelling, with the item of it that is meant."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict
from sqlalchemy.engine import Connection

from db import SightlineError
from db.labels import nearest
from db.rules import Rule
from db.rulesets import CODES
from db.rulesets.tables import Ruleset


class NotInReference(SightlineError):  # noqa: N818
    """The reference has no such game, rule, concept or edition; the remedy names what is near."""

    status = 404


class Answer(BaseModel):
    """What the reference tells."""

    model_config = ConfigDict(frozen=True)


def game_title(connection: Connection, ruleset: str) -> str:
    """The name of a game; an unknown code is an error."""
    # only a known code is asked for: PostgreSQL takes no NUL, which an address may hold
    known = sa.select(Ruleset.title).where(Ruleset.code == ruleset)
    title = connection.scalar(known) if ruleset in CODES else None
    if title is None:
        raise no_ruleset(ruleset)
    return title


def no_ruleset(ruleset: str) -> NotInReference:
    """The error for a code that no game has."""
    return NotInReference(f"No ruleset {ruleset!r}.", f"Rulesets: {', '.join(CODES)}.")


def numbers(connection: Connection, ruleset: str) -> set[str]:
    """The numbers of all rules of a game."""
    return set(connection.scalars(sa.select(Rule.number).where(Rule.ruleset == ruleset)))


class FoundRule(NamedTuple):
    """A rule that a number names."""

    id: int
    number: str
    title: str
    clause: str | None
    """The lettered item, where the number named one: b of 7.1.2 b."""


def find_rule(connection: Connection, ruleset: str, number: str, edition: str | None = None) -> int:
    """The row of the rule that a number names, however it is written."""
    return found_rule(connection, ruleset, number, edition).id


def found_rule(connection: Connection, ruleset: str, number: str, edition: str | None = None) -> FoundRule:
    """The rule that a number names, with the item that it names of it."""
    game_title(connection, ruleset)
    row = connection.execute(
        sa.text("select id, rule, title, part from rules.find(:ruleset, :number, :edition)"),
        {"ruleset": ruleset, "number": number.replace("\0", " "), "edition": edition},
    ).one_or_none()
    if row is None:
        alike = nearest(number, sorted(numbers(connection, ruleset)))
        raise NotInReference(
            f"{ruleset} has no rule {number}.",
            f"Near it: {', '.join(alike)}." if alike else f"See `sightline rules list {ruleset}`.",
        )
    return FoundRule(row.id, row.rule, row.title, row.part)
