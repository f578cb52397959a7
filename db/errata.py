"""Errata and house rules: what changes a rule, from when, by whose word; entered, edited with a history, withdrawn.

A house rule may settle a contested point: rulings then read it so, unless a case or a position says otherwise.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.engine import Connection

from db import SightlineError
from db.citations import rule_index
from db.rule_numbers import Answer, FoundRule, NotInReference, found_rule
from db.rules import Erratum, ErratumVersion, Rule
from db.rulesets import read_ruleset
from db.rulesets.tables import ContestedPoint, Reading

Kind = Literal["erratum", "house_rule"]
WORDS = {"erratum": "erratum", "house_rule": "house rule"}
WORDING = ("clause", "since", "ends", "source", "effect", "point", "reading")
"""What may be edited, and what the history keeps."""


class ErratumEntry(Answer):
    """An erratum or a house rule."""

    id: int
    ruleset: str
    number: str
    clause: str | None = Field(description="The lettered item of the rule that it changes; null: the rule")
    title: str
    kind: Kind
    since: datetime.date
    ends: datetime.date | None = Field(description="First day on which it no longer holds")
    source: str
    effect: str
    point: str | None = Field(description="The contested point that a house rule settles")
    reading: str | None = Field(description="The reading that it chooses")
    entered: datetime.datetime
    edits: int = Field(description="How often it was edited")
    withdrawn: datetime.datetime | None = Field(description="When it was withdrawn; null: it was not")
    withdrawn_why: str | None

    @property
    def cited(self) -> str:
        """The rule that it changes, with the item."""
        return f"{self.number} {self.clause}" if self.clause else self.number


class ErratumWording(Answer):
    """What an erratum said before it was edited."""

    n: int
    clause: str | None
    since: datetime.date
    ends: datetime.date | None
    source: str
    effect: str
    point: str | None
    reading: str | None
    replaced: datetime.datetime


class ErratumHistory(Answer):
    """An erratum as it stands, and every earlier wording, the first one first."""

    now: ErratumEntry
    before: list[ErratumWording]


@dataclasses.dataclass(frozen=True)
class Amendment:
    """An erratum or house rule that holds today, as a ruling meets it."""

    id: int
    kind: Kind
    rule: str
    clause: str | None
    since: str
    source: str
    effect: str
    point: str | None = None
    reading: str | None = None

    def bears_on(self, rule: str, clause: str | None) -> bool:
        """Whether it changes what a step cites; a step without an item may be about any."""
        return self.rule == rule and (self.clause is None or clause is None or self.clause == clause)

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in dataclasses.asdict(self).items() if value is not None}


def amendments(told: list[dict[str, Any]] | None) -> tuple[Amendment, ...]:
    """What holds today, from the rows that `rules.in_force` gives as JSON."""
    return tuple(Amendment(**entry) for entry in told or ())


def in_force(connection: Connection, ruleset: str) -> tuple[Amendment, ...]:
    """What holds today in a game."""
    told = connection.scalar(sa.text("select rules.in_force(:ruleset)"), {"ruleset": ruleset})
    return amendments(told)


def errata(
    connection: Connection,
    ruleset: str | None = None,
    rule_id: int | None = None,
    as_of: datetime.date | None = None,
    withdrawn: bool = False,
    erratum: int | None = None,
) -> list[ErratumEntry]:
    """Errata and house rules: all, of one game or of one rule; with a day, those that hold on it."""
    edits = sa.select(sa.func.count()).where(ErratumVersion.erratum_id == Erratum.id).scalar_subquery()
    query = (
        sa.select(
            Erratum.id,
            Rule.ruleset,
            Rule.number,
            Rule.title,
            Erratum.kind,
            *(getattr(Erratum, name) for name in WORDING),
            Erratum.created_at.label("entered"),
            edits.label("edits"),
            Erratum.withdrawn_at.label("withdrawn"),
            Erratum.withdrawn_why,
        )
        .join(Rule, Rule.id == Erratum.rule_id)
        .order_by(Rule.ruleset, Rule.path, Erratum.since, Erratum.id)
    )
    if ruleset is not None:
        query = query.where(Rule.ruleset == ruleset)
    if rule_id is not None:
        query = query.where(Erratum.rule_id == rule_id)
    if erratum is not None:
        query = query.where(Erratum.id == erratum)
    if not withdrawn:
        query = query.where(Erratum.withdrawn_at.is_(None))
    if as_of is not None:
        query = query.where(Erratum.since <= as_of, sa.or_(Erratum.ends.is_(None), Erratum.ends > as_of))
    return [ErratumEntry(**row) for row in connection.execute(query).mappings()]


def erratum_of(connection: Connection, erratum: int) -> ErratumEntry:
    """One erratum, withdrawn or not."""
    found = errata(connection, erratum=erratum, withdrawn=True)
    if not found:
        raise NotInReference(f"There is no erratum {erratum}.", "See `sightline rules errata list`.")
    return found[0]


def history(connection: Connection, erratum: int) -> ErratumHistory:
    """An erratum with every wording that it had."""
    now = erratum_of(connection, erratum)
    query = (
        sa.select(
            ErratumVersion.n,
            *(getattr(ErratumVersion, name) for name in WORDING),
            ErratumVersion.replaced_at.label("replaced"),
        )
        .where(ErratumVersion.erratum_id == erratum)
        .order_by(ErratumVersion.n)
    )
    return ErratumHistory(
        now=now, before=[ErratumWording(**row) for row in connection.execute(query).mappings()]
    )


def add_erratum(
    connection: Connection,
    ruleset: str,
    number: str,
    *,
    effect: str,
    source: str,
    kind: str = "erratum",
    since: datetime.date,
    ends: datetime.date | None = None,
    reading: str | None = None,
) -> ErratumEntry:
    """Attach an erratum or a house rule to a rule, or to the lettered item that the number names.

    `reading` is written css-12:a: the reading of a contested point that a house rule chooses.
    """
    found = found_rule(connection, ruleset, number)
    point, letter = _reading(connection, ruleset, kind, reading)
    wording = {
        "clause": _clause(ruleset, found),
        "since": since,
        "ends": ends,
        "source": source.strip(),
        "effect": effect.strip(),
        "point": point,
        "reading": letter,
    }
    _check(connection, found.id, ruleset, kind, wording)
    added = connection.execute(
        sa.insert(Erratum).values(rule_id=found.id, kind=kind, **wording).returning(Erratum.id)
    ).scalar_one()
    _learn(connection, effect)
    return erratum_of(connection, added)


def _learn(connection: Connection, effect: str) -> None:
    """Let its words be searched for."""
    connection.execute(sa.text("select rules.learn(:words)"), {"words": effect})


def edit_erratum(
    connection: Connection, erratum: int, *, reading: str | None = None, **changes: Any
) -> ErratumEntry:
    """Word an erratum otherwise; what it said before is kept in its history. A reading of "" chooses none."""
    now = erratum_of(connection, erratum)
    if now.withdrawn:
        raise SightlineError(f"Erratum {erratum} was withdrawn.", "Add a new one.")
    wording = {name: changes.get(name, getattr(now, name)) for name in WORDING}
    wording = {name: value.strip() if isinstance(value, str) else value for name, value in wording.items()}
    if reading is not None:
        wording["point"], wording["reading"] = _reading(connection, now.ruleset, now.kind, reading or None)
    if all(wording[name] == getattr(now, name) for name in WORDING):
        return now
    row = found_rule(connection, now.ruleset, now.number)
    _check(connection, row.id, now.ruleset, now.kind, wording, besides=erratum)
    before = {name: getattr(now, name) for name in WORDING}
    connection.execute(sa.insert(ErratumVersion).values(erratum_id=erratum, n=now.edits + 1, **before))
    connection.execute(sa.update(Erratum).where(Erratum.id == erratum).values(**wording))
    _learn(connection, wording["effect"])
    return erratum_of(connection, erratum)


def withdraw_erratum(connection: Connection, erratum: int, why: str = "") -> ErratumEntry:
    """Let an erratum hold no longer, and keep it with its history."""
    if erratum_of(connection, erratum).withdrawn:
        raise SightlineError(f"Erratum {erratum} was withdrawn before.", "There is nothing to do.")
    connection.execute(
        sa.update(Erratum)
        .where(Erratum.id == erratum)
        .values(withdrawn_at=sa.func.now(), withdrawn_why=why.strip() or None)
    )
    return erratum_of(connection, erratum)


def remove_erratum(connection: Connection, erratum: int) -> None:
    """Take an erratum away for good, with its history."""
    gone = connection.execute(sa.delete(Erratum).where(Erratum.id == erratum))
    if gone.rowcount == 0:
        raise NotInReference(f"There is no erratum {erratum}.", "See `sightline rules errata list`.")


def known_clauses(ruleset: str, number: str) -> str:
    """The lettered items of a rule: those that the book has, and those that the code tells."""
    last = next((rule.clauses for rule in read_ruleset(ruleset).rules if rule.number == number), None)
    lettered = {chr(code) for code in range(ord("a"), ord(last) + 1)} if last else set()
    cited = {clause.lower() for place in rule_index(ruleset).places(number) for clause in place.clauses}
    return "".join(sorted(lettered | cited))


def _clause(ruleset: str, found: FoundRule) -> str | None:
    """The item that was named; one that the rule does not have is an error."""
    if found.clause is None:
        return None
    clauses = known_clauses(ruleset, found.number)
    if found.clause not in clauses:
        raise NotInReference(
            f"{ruleset} {found.number} has no item {found.clause}.",
            f"It has {', '.join(clauses)}." if clauses else f"Attach it to {found.number} as a whole.",
        )
    return found.clause


def _reading(
    connection: Connection, ruleset: str, kind: str, reading: str | None
) -> tuple[str | None, str | None]:
    """The point and the letter of a reading that is written css-12:a."""
    if reading is None:
        return None, None
    if kind != "house_rule":
        raise SightlineError("An erratum chooses no reading.", "A house rule may: --house-rule.")
    point, _, letter = reading.partition(":")
    known = list(
        connection.scalars(
            sa.select(Reading.letter)
            .join(ContestedPoint, ContestedPoint.id == Reading.point)
            .where(ContestedPoint.ruleset == ruleset, Reading.point == point)
            .order_by(Reading.letter)
        )
    )
    if letter not in known:
        raise NotInReference(
            f"{ruleset} has no reading {reading!r}.",
            f"{point} has {', '.join(known)}; write {point}:{known[0]}."
            if known
            else f"Write it as {ruleset}-12:a; see `sightline rules contested {ruleset}`.",
        )
    return point, letter


def _check(
    connection: Connection,
    rule_id: int,
    ruleset: str,
    kind: str,
    wording: Mapping[str, Any],
    besides: int | None = None,
) -> None:
    """Refuse what says nothing, ends before it begins, is there already, or reads a settled point otherwise."""
    since, ends, point = wording["since"], wording["ends"], wording["point"]
    if not wording["effect"] or not wording["source"]:
        raise SightlineError("An erratum needs an effect and a source.", "Say what changes, and who says so.")
    if ends is not None and ends <= since:
        raise SightlineError(f"It would end on {ends}, before it begins on {since}.", "Give a later end.")
    others = [entry for entry in errata(connection, ruleset) if entry.id != besides]
    at_rule = {entry.id for entry in errata(connection, rule_id=rule_id)}
    for other in others:
        same = other.id in at_rule and (other.kind, other.clause) == (kind, wording["clause"])
        if same and other.effect.casefold() == wording["effect"].casefold():
            raise SightlineError(
                f"{WORDS[kind].capitalize()} {other.id} says the same of {ruleset} {other.cited}.",
                f"Edit that one: sightline rules errata edit {other.id}",
            )
        overlaps = (other.ends is None or other.ends > since) and (ends is None or ends > other.since)
        if point is not None and other.point == point and overlaps:
            raise SightlineError(
                f"House rule {other.id} reads {point} as {other.reading} in these days.",
                f"Withdraw it first: sightline rules errata withdraw {other.id}",
            )
