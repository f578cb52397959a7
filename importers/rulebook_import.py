"""Importing the owner's own rulebook: its text goes beside our digests, in the owner's database only.

`import_rulebook` reads a file with the pure parser of `importers.rulebook`, finds for each
printed rule the rule that it is, and stores passages, references and definitions. All of
it happens in the caller's transaction: a file that cannot be read changes nothing.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.base import Base
from db.rules import EditionRule, GlossaryEntry, Rule, Rulebook, RuleReference, RuleText, forget_orphans
from db.rulesets.tables import Ruleset
from importers.rulebook import ParsedRule, ParsedRulebook, RulebookError, parse

MAX_BYTES = 16 * 1024 * 1024
STANDARD = "standard"
"""The edition's name where the owner gives none."""
EDITION = re.compile(r"[a-z0-9][a-z0-9._-]*")
ALIKE = 0.6
"""Two titles alike at least so much, by difflib's measure, are one title printed twice."""


class RulebookImportError(SightlineError):
    """A rulebook that cannot be imported; nothing was changed."""


@dataclasses.dataclass(frozen=True)
class DanglingReference:
    """A reference to a rule that the rulebook does not have."""

    rule: str | None
    printed: str
    line: int


@dataclasses.dataclass(frozen=True)
class ImportReport:
    """What an import found and stored."""

    ruleset: str
    edition: str
    replaced: bool
    rules: int
    recovered: list[str]
    """Rules whose heading the file lost; the contents gave it back."""
    added: list[str]
    """Rules that our digests do not have."""
    absent: list[str]
    """Rules of our digests that this edition does not have."""
    digested: int
    """Rules that there are digests of."""
    renumbered: dict[str, str]
    """Rules that bear another number in this edition: its number, and ours."""
    references: int
    dangling: list[DanglingReference]
    terms: int
    lines_not_understood: list[int]
    seconds: float


@dataclasses.dataclass(frozen=True)
class KnownRule:
    """A rule that the database has before the import."""

    id: int
    number: str
    title: str
    digested: bool


def import_rulebook(
    connection: Connection, ruleset: str, path: Path, edition: str = STANDARD
) -> ImportReport:
    """Store the rulebook in `path` as an edition of a game, replacing that edition if it is there."""
    started = time.perf_counter()
    title = connection.scalar(sa.select(Ruleset.title).where(Ruleset.code == ruleset))
    if title is None:
        codes = connection.scalars(sa.select(Ruleset.code).order_by(Ruleset.code))
        raise RulebookImportError(f"No ruleset {ruleset!r}.", f"Rulesets: {', '.join(codes)}.")
    if not EDITION.fullmatch(edition):
        raise RulebookImportError(
            f"{edition!r} cannot name an edition.",
            "Use small letters, digits, points, hyphens and underscores, e.g. 2nd or 2019.",
        )
    content = _content(path)
    try:
        parsed = parse(content.decode("utf-8"), ruleset)
    except UnicodeDecodeError as error:
        raise RulebookImportError(
            f"{path}: byte {error.start} is not UTF-8 text.", "Save the rulebook as plain text in UTF-8."
        ) from error
    except RulebookError as error:
        place = f"{path}:{error.line}" if error.line else str(path)
        raise RulebookImportError(f"{place}: {error.message}.", f"{error.remedy.capitalize()}.") from error
    return _Import(connection, parsed, edition, title, content).run(started)


def _content(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise RulebookImportError(
                f"{path} has more than {MAX_BYTES // 1024 // 1024} MB.",
                "A rulebook as plain text is smaller.",
            )
        return path.read_bytes()
    except OSError as error:
        raise RulebookImportError(
            f"{path}: {error.strerror}.", "Name a text file that can be read."
        ) from error


class _Import:
    """One edition on its way into the database."""

    def __init__(
        self, connection: Connection, parsed: ParsedRulebook, edition: str, title: str, content: bytes
    ) -> None:
        self.connection = connection
        self.parsed = parsed
        self.ruleset = parsed.ruleset
        self.edition = edition
        self.title = title
        self.source = hashlib.sha256(content).hexdigest()
        self.ids: dict[str, int] = {}
        """The row of each rule, by its number in this edition."""
        self.chosen = False
        """Whether the edition that it replaces was the chosen one."""

    def run(self, started: float) -> ImportReport:
        known = self._known()
        self.ids = same_rules(self.parsed.rules, known, self._bound_before())
        added = self._add_new({rule.number for rule in known})
        replaced = self._forget_edition()
        self._store()
        forget_orphans(self.connection, self.ruleset)
        self.connection.execute(sa.text("select rules.refresh()"))
        ours = {rule.id: rule for rule in known}
        return ImportReport(
            ruleset=self.ruleset,
            edition=self.edition,
            replaced=replaced,
            rules=len(self.parsed.rules),
            recovered=[rule.number for rule in self.parsed.recovered()],
            added=added,
            absent=[r.number for r in known if r.digested and r.id not in self.ids.values()],
            digested=sum(rule.digested for rule in known),
            renumbered={
                number: ours[row].number
                for number, row in self.ids.items()
                if row in ours and ours[row].digested and ours[row].number != number
            },
            references=len(self.parsed.references),
            dangling=[
                DanglingReference(reference.rule, reference.printed, reference.line)
                for reference in self.parsed.dangling()
            ],
            terms=len(self.parsed.terms),
            lines_not_understood=[line for span in self.parsed.not_understood for line in span.lines],
            seconds=round(time.perf_counter() - started, 2),
        )

    def _known(self) -> list[KnownRule]:
        query = (
            sa.select(Rule.id, Rule.number, Rule.title, (Rule.digest != "").label("digested"))
            .where(Rule.ruleset == self.ruleset)
            .order_by(Rule.path, Rule.number)
        )
        return [KnownRule(**row) for row in self.connection.execute(query).mappings()]

    def _bound_before(self) -> dict[str, int]:
        """What an earlier import of this edition found, so that importing again changes no identity."""
        query = (
            sa.select(EditionRule.number, EditionRule.rule_id)
            .join(Rulebook, Rulebook.id == EditionRule.rulebook_id)
            .where(Rulebook.ruleset == self.ruleset, Rulebook.edition == self.edition)
        )
        return {row.number: row.rule_id for row in self.connection.execute(query)}

    def _add_new(self, taken: set[str]) -> list[str]:
        """Rules that only this edition has; a number that is taken is told apart by the edition."""
        added = [rule for rule in self.parsed.rules if rule.number not in self.ids]
        for rule in added:
            number = rule.number if rule.number not in taken else f"{rule.number}~{self.edition}"
            self.ids[rule.number] = self.connection.execute(
                sa.insert(Rule)
                .values(
                    ruleset=self.ruleset,
                    number=number,
                    path=list(rule.path),
                    title=rule.title,
                    parent_id=self.ids.get(rule.parent) if rule.parent else None,
                )
                .returning(Rule.id)
            ).scalar_one()
        return [rule.number for rule in added]

    def _forget_edition(self) -> bool:
        self.chosen = bool(
            self.connection.scalar(
                sa.select(Rulebook.chosen).where(
                    Rulebook.ruleset == self.ruleset, Rulebook.edition == self.edition
                )
            )
        )
        gone = self.connection.execute(
            sa.delete(Rulebook).where(Rulebook.ruleset == self.ruleset, Rulebook.edition == self.edition)
        )
        return gone.rowcount > 0

    def _store(self) -> None:
        rulebook = self.connection.execute(
            sa.insert(Rulebook)
            .values(
                ruleset=self.ruleset,
                edition=self.edition,
                title=self.title,
                source=self.source,
                figures=self.parsed.figures(),
                chosen=self.chosen,
            )
            .returning(Rulebook.id)
        ).scalar_one()
        self._insert(
            EditionRule,
            (
                {
                    "rulebook_id": rulebook,
                    "rule_id": self.ids[rule.number],
                    "number": rule.number,
                    "title": rule.title,
                    "line": rule.line,
                    "recovered": rule.recovered,
                }
                for rule in self.parsed.rules
            ),
        )
        self._insert(
            RuleText,
            (
                {
                    "rulebook_id": rulebook,
                    "rule_id": self.ids[rule.number],
                    "n": n,
                    "kind": passage.kind,
                    "text": passage.text,
                    "first_line": passage.first_line,
                    "last_line": passage.last_line,
                }
                for rule in self.parsed.rules
                for n, passage in enumerate(rule.passages, 1)
            ),
        )
        self._insert(
            RuleReference,
            (
                {
                    "rulebook_id": rulebook,
                    "rule_id": self.ids[reference.rule] if reference.rule else None,
                    "printed": reference.printed,
                    "target_id": self.ids[reference.target] if reference.target else None,
                    "line": reference.line,
                }
                for reference in self.parsed.references
            ),
        )
        self._insert(
            GlossaryEntry,
            (
                {
                    "rulebook_id": rulebook,
                    "n": n,
                    "name": term.term,
                    "text": term.text,
                    "rule_id": self.ids[term.rule] if term.rule else None,
                    "line": term.line,
                }
                for n, term in enumerate(self.parsed.terms, 1)
            ),
        )

    def _insert(self, table: type[Base], rows: Iterable[dict[str, Any]]) -> None:
        if found := list(rows):
            self.connection.execute(sa.insert(table), found)


def same_rules(
    printed: Sequence[ParsedRule], known: Sequence[KnownRule], bound: dict[str, int]
) -> dict[str, int]:
    """Which known rule each printed rule is, by printed number; new rules are left out.

    A rule is the same where number and title agree; else where the title alone does (the
    edition renumbered it); else where the number does (the edition retitled it).
    """
    by_id = {rule.id: rule for rule in known}
    by_number = {rule.number: rule for rule in known}
    by_title = _unique_titles(known)
    printed_titles = Counter(_plain(rule.title) for rule in printed)
    ids: dict[str, int] = {}
    free = set(by_id)

    def bind(rule: ParsedRule, candidate: KnownRule | None) -> None:
        if rule.number not in ids and candidate is not None and candidate.id in free:
            ids[rule.number] = candidate.id
            free.remove(candidate.id)

    for rule in printed:
        bind(rule, by_id.get(bound.get(rule.number, -1)))
    for rule in printed:
        candidate = by_number.get(rule.number)
        bind(rule, candidate if candidate and titles_agree(rule.title, candidate.title) else None)
    for rule in printed:
        title = _plain(rule.title)
        bind(rule, by_title.get(title) if title and printed_titles[title] == 1 else None)
    for rule in printed:
        bind(rule, by_number.get(rule.number))
    return ids


def titles_agree(one: str, other: str) -> bool:
    """Whether two titles are the same but for slips; a lost title agrees with any."""
    first, second = _plain(one), _plain(other)
    return not first or not second or difflib.SequenceMatcher(None, first, second).ratio() >= ALIKE


def _unique_titles(known: Sequence[KnownRule]) -> dict[str, KnownRule]:
    counts = Counter(_plain(rule.title) for rule in known)
    return {title: rule for rule in known if counts[title := _plain(rule.title)] == 1}


def _plain(title: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", title.lower()))
