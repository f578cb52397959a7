"""The rules reference: rules and their digests, the owner's imported texts, references, terms, concepts.

A rule is a thing of its own: its row stays the same when a digest is rewritten, when the
owner's rulebook is imported again, and when another edition gives it another number
(`edition_rule`). Errata and house rules hang on that row.
"""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, TSVECTOR
from sqlalchemy.engine import Connection
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base

CONFIGURATION = "public.sightline"
"""The text search configuration: English stems, accents taken off; made by a migration."""


def _id() -> Mapped[int]:
    return mapped_column(sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row")


def _of_ruleset(**options: Any) -> Mapped[str]:
    return mapped_column(sa.ForeignKey("ruleset.code", ondelete="CASCADE"), comment="The game", **options)


def _of_rulebook(comment: str = "The imported rulebook", **options: Any) -> Mapped[Any]:
    return mapped_column(
        sa.BigInteger, sa.ForeignKey("rulebook.id", ondelete="CASCADE"), comment=comment, **options
    )


def _of_rule(comment: str, ondelete: str = "CASCADE", **options: Any) -> Mapped[Any]:
    return mapped_column(
        sa.BigInteger, sa.ForeignKey("rule.id", ondelete=ondelete), comment=comment, **options
    )


def _flag(comment: str) -> Mapped[bool]:
    return mapped_column(server_default=sa.false(), comment=comment)


def _words(expression: str, comment: str) -> Mapped[Any]:
    return mapped_column(TSVECTOR, sa.Computed(expression, persisted=True), comment=comment)


def _trigrams(column: str) -> sa.Index:
    return sa.Index(None, column, postgresql_using="gin", postgresql_ops={column: "gin_trgm_ops"})


class Rulebook(Base):
    """A rulebook that its owner imported: one edition of one game."""

    __tablename__ = "rulebook"
    __table_args__ = (
        sa.UniqueConstraint("ruleset", "edition"),
        sa.CheckConstraint("edition ~ '^[a-z0-9][a-z0-9._-]*$'", name="edition"),
        sa.Index("ix_rulebook_chosen", "ruleset", unique=True, postgresql_where=sa.text("chosen")),
        {"comment": "Rulebooks that their owner imported, one row for each edition"},
    )

    id: Mapped[int] = _id()
    ruleset: Mapped[str] = _of_ruleset()
    edition: Mapped[str] = mapped_column(comment="Short name of the edition, for addresses and commands")
    title: Mapped[str] = mapped_column(comment="Name for people")
    source: Mapped[str] = mapped_column(comment="SHA-256 of the imported file")
    figures: Mapped[dict[str, Any]] = mapped_column(comment="The counts that the import reported")
    imported_at: Mapped[datetime.datetime] = mapped_column(
        server_default=sa.func.now(), comment="Imported when"
    )
    chosen: Mapped[bool] = mapped_column(
        server_default="false", comment="Whether its text is the one shown; of none chosen, the newest import"
    )


class Rule(Base):
    """A rule of a game, whatever number an edition gives it."""

    __tablename__ = "rule"
    __table_args__ = (
        sa.UniqueConstraint("ruleset", "number"),
        sa.CheckConstraint("kind in ('rule', 'section', 'unused')", name="kind"),
        sa.Index(None, "ruleset", "path"),
        sa.Index(None, "document", postgresql_using="gin"),
        _trigrams("title"),
        {"comment": "Every numbered rule, with a digest in our own words"},
    )

    id: Mapped[int] = _id()
    ruleset: Mapped[str] = _of_ruleset()
    number: Mapped[str] = mapped_column(comment="Its number, e.g. 7.1.2 or T89.4.1")
    path: Mapped[list[int]] = mapped_column(
        ARRAY(sa.Integer), comment="Its place in the tree: sorts naturally, begins with its parent's"
    )
    parent_id: Mapped[int | None] = _of_rule("The rule it stands under", "SET NULL", index=True)
    kind: Mapped[str] = mapped_column(server_default="rule", comment="rule, section or unused")
    title: Mapped[str] = mapped_column(comment="Its heading")
    digest: Mapped[str] = mapped_column(
        server_default="", comment="What it says, in our words; empty where only an edition has it"
    )
    asked: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), server_default="{}", comment="What players say when they look for it"
    )
    chart_words: Mapped[str] = mapped_column(
        server_default="", comment="Words of the charts that stand at it, for searching"
    )
    heading: Mapped[str] = _words(f"to_tsvector('{CONFIGURATION}', title)", "The words of the title")
    document: Mapped[str] = _words(
        f"setweight(to_tsvector('{CONFIGURATION}', title), 'A')"
        f" || setweight(to_tsvector('{CONFIGURATION}', digest), 'B')"
        f" || setweight(to_tsvector('{CONFIGURATION}', chart_words), 'C')",
        "Title (weight A), digest (B) and charts (C), for searching",
    )


class EditionRule(Base):
    """What number and title a rule bears in one edition."""

    __tablename__ = "edition_rule"
    __table_args__ = (
        sa.UniqueConstraint("rulebook_id", "number"),
        {"comment": "The number and title of each rule in each imported edition"},
    )

    rulebook_id: Mapped[int] = _of_rulebook(primary_key=True)
    rule_id: Mapped[int] = _of_rule("The rule", primary_key=True, index=True)
    number: Mapped[str] = mapped_column(comment="Its number in this edition")
    title: Mapped[str] = mapped_column(comment="Its heading in this edition")
    line: Mapped[int] = mapped_column(comment="Line of the file on which it begins")
    recovered: Mapped[bool] = mapped_column(comment="The file lost its heading; the contents gave it back")


class RuleText(Base):
    """A passage of an imported rulebook. It is the owner's; none is ever shipped."""

    __tablename__ = "rule_text"
    __table_args__ = (
        sa.CheckConstraint("kind in ('text', 'example', 'note', 'table')", name="kind"),
        sa.Index(None, "document", postgresql_using="gin"),
        {"comment": "The owner's imported text, passage by passage; never shipped"},
    )

    rulebook_id: Mapped[int] = _of_rulebook(primary_key=True)
    rule_id: Mapped[int] = _of_rule("The rule", primary_key=True, index=True)
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Order within the rule")
    kind: Mapped[str] = mapped_column(comment="text, example, note or table")
    text: Mapped[str] = mapped_column(comment="The passage")
    first_line: Mapped[int] = mapped_column(comment="First line in the file")
    last_line: Mapped[int] = mapped_column(comment="Last line in the file")
    document: Mapped[str] = _words(f"to_tsvector('{CONFIGURATION}', text)", "Its words, for searching")


class RuleReference(Base):
    """One rule names another: in our digests' `see`, or as printed in an imported edition."""

    __tablename__ = "rule_reference"
    __table_args__ = (
        sa.Index(None, "rule_id"),
        sa.Index(None, "target_id"),
        {"comment": "Cross references between rules; without a target they dangle"},
    )

    id: Mapped[int] = _id()
    rulebook_id: Mapped[int | None] = _of_rulebook("Where it is printed; null: in our digest", index=True)
    rule_id: Mapped[int | None] = _of_rule("The rule that refers; null: a glossary without a number")
    printed: Mapped[str] = mapped_column(comment="The number as it is printed")
    target_id: Mapped[int | None] = _of_rule("The rule referred to; null: there is none", "SET NULL")
    line: Mapped[int | None] = mapped_column(comment="Line of the imported file; null for our own")


class Term(Base):
    """A word that a game uses in a sense of its own."""

    __tablename__ = "term"
    __table_args__ = (
        sa.UniqueConstraint("ruleset", "name"),
        _trigrams("name"),
        {"comment": "Words that a game defines, explained in our own words"},
    )

    id: Mapped[int] = _id()
    ruleset: Mapped[str] = _of_ruleset()
    name: Mapped[str] = mapped_column(comment="The word")
    definition: Mapped[str] = mapped_column(comment="What it means in this game")
    aliases: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="Other forms and names of it")
    rule_id: Mapped[int | None] = _of_rule("Where it is defined; null: in a glossary", index=True)


class RuleTerm(Base):
    """A digest uses a term."""

    __tablename__ = "rule_term"
    __table_args__ = {"comment": "Which terms each digest uses"}  # noqa: RUF012

    rule_id: Mapped[int] = _of_rule("The rule", primary_key=True)
    term_id: Mapped[int] = mapped_column(
        sa.BigInteger,
        sa.ForeignKey("term.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
        comment="A term its digest uses",
    )


class GlossaryEntry(Base):
    """A definition as an imported rulebook prints it. It is the owner's; none is ever shipped."""

    __tablename__ = "glossary_entry"
    __table_args__ = {"comment": "Definitions as an imported rulebook prints them; never shipped"}  # noqa: RUF012

    rulebook_id: Mapped[int] = _of_rulebook(primary_key=True)
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Order in the book")
    name: Mapped[str] = mapped_column(comment="The word")
    text: Mapped[str] = mapped_column(comment="Its definition")
    rule_id: Mapped[int | None] = _of_rule("The rule that holds it; null: an unnumbered glossary", index=True)
    line: Mapped[int] = mapped_column(comment="Line of the file")


class Concept(Base):
    """A thing that several games treat."""

    __tablename__ = "concept"
    __table_args__ = {"comment": "Things that several games treat, compared in our own words"}  # noqa: RUF012

    code: Mapped[str] = mapped_column(primary_key=True, comment="Its name in snake case, e.g. line_of_sight")
    n: Mapped[int] = mapped_column(comment="Order in the list")
    title: Mapped[str] = mapped_column(comment="Its name")
    aliases: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="Other words for it")
    comparison: Mapped[str] = mapped_column(comment="How the games differ")
    nearest: Mapped[dict[str, Any]] = mapped_column(
        server_default="{}", comment="Of games that do not have it: the rules that come nearest"
    )


class ConceptRule(Base):
    """A rule that treats a concept."""

    __tablename__ = "concept_rule"
    __table_args__ = {"comment": "The rules of each game that treat a concept, the chief one first"}  # noqa: RUF012

    concept: Mapped[str] = mapped_column(
        sa.ForeignKey("concept.code", ondelete="CASCADE"), primary_key=True, comment="The concept"
    )
    rule_id: Mapped[int] = _of_rule("The rule", primary_key=True, index=True)
    n: Mapped[int] = mapped_column(comment="Order within the game: 1 is the chief rule")


class Synonym(Base):
    """A name by which people ask for a term or a concept, or one of several words for one thing."""

    __tablename__ = "synonym"
    __table_args__ = (
        sa.CheckConstraint("num_nonnulls(term_id, concept, word_group, rule_id) = 1", name="of_one_thing"),
        sa.Index(None, "stems"),
        sa.Index(
            "synonym_parts_idx",
            "parts",
            postgresql_using="gin",
            postgresql_where=sa.text("rule_id is not null"),
        ),
        {"comment": "Names of terms and concepts and everyday words, reduced to stems, for searching"},
    )

    id: Mapped[int] = _id()
    phrase: Mapped[str] = mapped_column(comment="The name as it is written")
    stems: Mapped[str] = mapped_column(comment="Its stems, in order")
    term_id: Mapped[int | None] = mapped_column(
        sa.BigInteger, sa.ForeignKey("term.id", ondelete="CASCADE"), index=True, comment="The term, if one"
    )
    concept: Mapped[str | None] = mapped_column(
        sa.ForeignKey("concept.code", ondelete="CASCADE"), index=True, comment="The concept, if one"
    )
    word_group: Mapped[int | None] = mapped_column(comment="The group of everyday words, if one")
    rule_id: Mapped[int | None] = _of_rule("The rule that players ask for so, if one", index=True)
    parts: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text),
        sa.Computed("string_to_array(stems, ' ')", persisted=True),
        comment="Its stems, one by one",
    )
    mass: Mapped[float] = mapped_column(
        sa.Double, server_default="0", comment="What its words weigh together: rare ones more"
    )


class Word(Base):
    """A word that occurs in titles, digests, terms or imported texts."""

    __tablename__ = "word"
    __table_args__ = (
        _trigrams("word"),
        sa.Index("word_beginning_idx", "word", postgresql_ops={"word": "text_pattern_ops"}),
        {"comment": "The vocabulary of the reference: for typing mistakes and beginnings of words"},
    )

    word: Mapped[str] = mapped_column(primary_key=True, comment="The word, in lower case")
    stem: Mapped[str] = mapped_column(index=True, comment="Its stem")
    rules: Mapped[int] = mapped_column(comment="How many rules have the stem")


class RuleWord(Base):
    """Where a rule has a word: the index by which rules are ranked."""

    __tablename__ = "rule_word"
    __table_args__ = (
        {"comment": "Which rule has which word, and where: made anew by rules.refresh, for ranking"},
    )

    stem: Mapped[str] = mapped_column(primary_key=True, comment="A word, as its stem")
    rule_id: Mapped[int] = _of_rule("The rule that has it", primary_key=True, index=True)
    title: Mapped[int] = mapped_column(
        server_default="0", comment="What share of the title it is, in thousandths; 0: not in the title"
    )
    digest: Mapped[int] = mapped_column(
        server_default="0", comment="How much digest and charts speak of it, in thousandths"
    )
    asked: Mapped[bool] = _flag("Players ask for it so")
    above: Mapped[bool] = _flag("A title above has it")
    points: Mapped[bool] = _flag("A contested point of the rule has it in its title")
    terms: Mapped[bool] = _flag("A term that the rule defines has it")


class Ranking(Base):
    """How much a feature of a rule counts when rules are ranked."""

    __tablename__ = "ranking"
    __table_args__ = (
        {"comment": "How much each feature of a rule counts in a search, as fitted on queries"},
    )

    feature: Mapped[str] = mapped_column(primary_key=True, comment="What is looked at")
    weight: Mapped[int] = mapped_column(comment="How much it counts when rules are ranked")


class IdleWord(Base):
    """A word that people wrap a question in."""

    __tablename__ = "idle_word"
    __table_args__ = ({"comment": "Words that people wrap a question in; they decide nothing"},)

    stem: Mapped[str] = mapped_column(primary_key=True, comment="The word, as its stem")


class Erratum(Base):
    """A correction by the publisher, or an agreement among players, that changes a rule from a day on."""

    __tablename__ = "erratum"
    __table_args__ = (
        sa.CheckConstraint("kind in ('erratum', 'house_rule')", name="kind"),
        sa.CheckConstraint("ends > since", name="ends_after_it_began"),
        sa.CheckConstraint("clause ~ '^[a-z]$'", name="clause"),
        sa.CheckConstraint("(point is null) = (reading is null)", name="reading_of_a_point"),
        sa.CheckConstraint("point is null or kind = 'house_rule'", name="a_house_chooses"),
        sa.Index(None, "rule_id", "since"),
        sa.Index(
            "ix_erratum_once",
            "rule_id",
            "clause",
            "kind",
            sa.text("md5(effect)"),
            unique=True,
            postgresql_where=sa.text("withdrawn_at is null"),
            postgresql_nulls_not_distinct=True,
        ),
        {"comment": "Errata and house rules: what changes in a rule, from when, by whose word"},
    )

    id: Mapped[int] = _id()
    rule_id: Mapped[int] = _of_rule("The rule it changes", "RESTRICT")
    clause: Mapped[str | None] = mapped_column(comment="The lettered item that it changes; null: the rule")
    kind: Mapped[str] = mapped_column(comment="erratum or house_rule")
    since: Mapped[datetime.date] = mapped_column(comment="First day on which it holds")
    ends: Mapped[datetime.date | None] = mapped_column(comment="First day on which it no longer holds")
    source: Mapped[str] = mapped_column(comment="Who says so, and where")
    effect: Mapped[str] = mapped_column(comment="What changes")
    point: Mapped[str | None] = mapped_column(comment="The contested point that a house rule settles")
    reading: Mapped[str | None] = mapped_column(comment="The reading that it chooses")
    created_at: Mapped[datetime.datetime] = mapped_column(
        server_default=sa.func.now(), comment="Entered when"
    )
    withdrawn_at: Mapped[datetime.datetime | None] = mapped_column(
        comment="Withdrawn when; null: it was not. A withdrawn one holds on no day"
    )
    withdrawn_why: Mapped[str | None] = mapped_column(comment="Why it was withdrawn")


class ErratumVersion(Base):
    """What an erratum or a house rule said before it was edited."""

    __tablename__ = "erratum_version"
    __table_args__ = {"comment": "Earlier wordings of errata and house rules, each with when it was replaced"}  # noqa: RUF012

    erratum_id: Mapped[int] = mapped_column(
        sa.BigInteger,
        sa.ForeignKey("erratum.id", ondelete="CASCADE"),
        primary_key=True,
        comment="The erratum",
    )
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="1 is the first wording")
    clause: Mapped[str | None] = mapped_column(comment="The lettered item that it changed")
    since: Mapped[datetime.date] = mapped_column(comment="First day on which it held")
    ends: Mapped[datetime.date | None] = mapped_column(comment="First day on which it no longer held")
    source: Mapped[str] = mapped_column(comment="Who said so")
    effect: Mapped[str] = mapped_column(comment="What changed")
    point: Mapped[str | None] = mapped_column(comment="The contested point that it settled")
    reading: Mapped[str | None] = mapped_column(comment="The reading that it chose")
    replaced_at: Mapped[datetime.datetime] = mapped_column(
        server_default=sa.func.now(), comment="Edited when"
    )


def path_below(number: str, parent: str | None, parent_path: list[int]) -> list[int]:
    """The place of a rule in the tree, from its number and its parent's.

    A number goes on where its parent's stops: `7.1.2` below `7.1`, and `2.25` below `2.2`
    where the rulebook leaves the second point out. A chapter may end in `.0` or not.
    """
    stem = parent.removesuffix(".0") if parent else ""
    own = (
        number.removeprefix(stem)
        if parent
        else number.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ").removesuffix(".0")
    )
    return [*parent_path, *(int(part) for part in own.split(".") if part)]


def rule_ids(connection: Connection, ruleset: str) -> dict[str, int]:
    """The row of every rule of a game, by number."""
    rows = connection.execute(sa.select(Rule.number, Rule.id).where(Rule.ruleset == ruleset))
    return {row.number: row.id for row in rows}


def forget_orphans(connection: Connection, ruleset: str) -> None:
    """Drop rules that neither our digests nor any edition has, unless an erratum hangs on them."""
    connection.execute(sa.text("select rules._forget_orphans(:ruleset)"), {"ruleset": ruleset})
