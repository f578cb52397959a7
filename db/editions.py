"""Editions of an owner's rulebook: which are there, which is shown, and where one differs from what was digested."""

from __future__ import annotations

import datetime
import functools
import re
from collections import Counter
from collections.abc import Iterable

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.engine import Connection

from db.rule_numbers import Answer, NotInReference, game_title
from db.rules import EditionRule, Rule, Rulebook, RuleText
from db.rulesets import FOLDER, Strict, read_form

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
FIGURE = re.compile(
    r"(?<![\w.])(?:\d{1,2}\.\d[\d.]*(?P<reference>)|(?P<number>\d+)|(?P<half>½))(?![\w])|(?i:\b(?P<word>"
    + "|".join(WORDS)
    + r")\b)"
)
"""A number as a rule has it; one with a point is most often a reference, and says nothing."""
TOLD = 4
"""Numbers that a remark names."""


class Edition(Answer):
    """An imported edition."""

    ruleset: str
    edition: str
    shown: bool = Field(description="Whether its text is the one beside the digests")
    chosen: bool = Field(description="Whether it was chosen; else the newest import is shown")
    imported: datetime.datetime
    rules: int = Field(description="Rules of ours that it has")
    of: int = Field(description="Rules that there are digests of")
    added: int = Field(description="Rules that only editions have")
    differing: list[str] = Field(
        description="Rules whose numbers are not those that the digest was written from"
    )


class Editions(Answer):
    """The editions of a game."""

    ruleset: str
    title: str
    editions: list[Edition]


class FiguresFile(Strict):
    """`figures.yaml`: the numbers that stand in each rule of the edition that was digested."""

    ruleset: str
    figures: dict[str, str]


@functools.cache
def _digested_figures(ruleset: str) -> dict[str, str]:
    return read_form(FOLDER / ruleset / "figures.yaml", FiguresFile).figures


def figures(texts: Iterable[str]) -> list[str]:
    """The numbers in some passages, written as digits, in order of size."""
    found: list[str] = []
    for text in texts:
        for match in FIGURE.finditer(text):
            if match["number"] or match["half"]:
                found.append(match["number"] or match["half"])
            elif match["word"]:
                found.append(str(WORDS.index(match["word"].lower()) + 1))
    return sorted(found, key=lambda number: (number.isdigit(), int(number) if number.isdigit() else 0))


def in_use(connection: Connection, ruleset: str) -> str | None:
    """The edition whose text is shown: the chosen one, else the newest import; None where none is imported."""
    query = (
        sa.select(Rulebook.edition)
        .where(Rulebook.ruleset == ruleset)
        .order_by(Rulebook.chosen.desc(), Rulebook.imported_at.desc(), Rulebook.id.desc())
        .limit(1)
    )
    return connection.scalar(query)


def editions(connection: Connection, ruleset: str) -> Editions:
    """The imported editions of a game, the one that is shown first."""
    rows = connection.execute(
        sa.select(
            Rulebook.id,
            Rulebook.edition,
            Rulebook.chosen,
            Rulebook.imported_at,
            sa.func.count().filter(Rule.digest != "").label("rules"),
            sa.func.count().filter(Rule.digest == "").label("added"),
        )
        .join(EditionRule, EditionRule.rulebook_id == Rulebook.id)
        .join(Rule, Rule.id == EditionRule.rule_id)
        .where(Rulebook.ruleset == ruleset)
        .group_by(Rulebook.id)
        .order_by(Rulebook.chosen.desc(), Rulebook.imported_at.desc(), Rulebook.id.desc())
    ).all()
    of = connection.scalar(sa.select(sa.func.count()).where(Rule.ruleset == ruleset, Rule.digest != "")) or 0
    return Editions(
        ruleset=ruleset,
        title=game_title(connection, ruleset),
        editions=[
            Edition(
                ruleset=ruleset,
                edition=row.edition,
                shown=n == 0,
                chosen=row.chosen,
                imported=row.imported_at,
                rules=row.rules,
                of=of,
                added=row.added,
                differing=_differing(connection, ruleset, row.id),
            )
            for n, row in enumerate(rows)
        ],
    )


def choose(connection: Connection, ruleset: str, edition: str | None) -> None:
    """Show the text of an edition from now on; with None the newest import."""
    game_title(connection, ruleset)
    if edition is not None:
        _known(connection, ruleset, edition)
    connection.execute(sa.update(Rulebook).where(Rulebook.ruleset == ruleset).values(chosen=False))
    if edition is not None:
        connection.execute(
            sa.update(Rulebook)
            .where(Rulebook.ruleset == ruleset, Rulebook.edition == edition)
            .values(chosen=True)
        )


def remove(connection: Connection, ruleset: str, edition: str) -> None:
    """Take an edition out of the database, with the rules that it alone has."""
    _known(connection, ruleset, edition)
    connection.execute(
        sa.text("select rules.remove_edition(:ruleset, :edition)"), {"ruleset": ruleset, "edition": edition}
    )


def remarks(
    connection: Connection, ruleset: str, rule_id: int, number: str, edition: str | None
) -> list[str]:
    """Where the text that is shown is not what the digest was written from, or has no such rule."""
    shown = edition or in_use(connection, ruleset)
    if shown is None:
        return []
    row = connection.execute(
        sa.select(EditionRule.rulebook_id, EditionRule.number, EditionRule.title, Rule.title.label("ours"))
        .join(Rulebook, Rulebook.id == EditionRule.rulebook_id)
        .join(Rule, Rule.id == EditionRule.rule_id)
        .where(Rulebook.ruleset == ruleset, Rulebook.edition == shown, EditionRule.rule_id == rule_id)
    ).one_or_none()
    if row is None:
        return [f"Your edition {shown} has no such rule."]
    found = []
    if row.number != number:
        found.append(f"Your edition {shown} numbers it {row.number}.")
    texts = connection.scalars(
        sa.select(RuleText.text).where(
            RuleText.rulebook_id == row.rulebook_id,
            RuleText.rule_id == rule_id,
            RuleText.kind.in_(("text", "note")),
        )
    )
    if told := _difference(ruleset, number, texts):
        found.append(f"Your edition {shown} differs from what the digest was written from: {told}.")
    return found


def _difference(ruleset: str, number: str, texts: Iterable[str]) -> str:
    """Numbers that an edition has more, or no longer has; empty where they are the same."""
    ours = Counter(_digested_figures(ruleset).get(number, "").split())
    theirs = Counter(figures(texts))
    parts = [
        f"{word} {', '.join(list(numbers.elements())[:TOLD])}"
        for word, numbers in (("it prints", theirs - ours), ("it no longer has", ours - theirs))
        if numbers
    ]
    return "; ".join(parts)


def _differing(connection: Connection, ruleset: str, rulebook: int) -> list[str]:
    rows = connection.execute(
        sa.select(Rule.number, sa.func.array_agg(RuleText.text))
        .join(EditionRule, EditionRule.rule_id == Rule.id)
        .outerjoin(
            RuleText,
            sa.and_(
                RuleText.rule_id == Rule.id,
                RuleText.rulebook_id == rulebook,
                RuleText.kind.in_(("text", "note")),
            ),
        )
        .where(EditionRule.rulebook_id == rulebook, Rule.digest != "")
        .group_by(Rule.id)
        .order_by(Rule.path, Rule.number)
    )
    return [
        number for number, texts in rows if _difference(ruleset, number, [text for text in texts if text])
    ]


def _known(connection: Connection, ruleset: str, edition: str) -> None:
    known = [entry.edition for entry in editions(connection, ruleset).editions]
    if edition not in known:
        raise NotInReference(
            f"No edition {edition!r} of {ruleset} is imported.",
            f"Imported: {', '.join(known)}."
            if known
            else f"Import one: sightline import rulebook {ruleset} FILE --edition {edition}",
        )
