"""The tables of ruleset data: what terrain is and costs, charts and their cells, the sequence of play, contested points."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base

SIGHT = "sight in ('open', 'hinders', 'blocks_at_second', 'blocks')"


class Ruleset(Base):
    """A game."""

    __tablename__ = "ruleset"
    __table_args__ = {"comment": "A game whose rules Sightline knows"}  # noqa: RUF012

    code: Mapped[str] = mapped_column(primary_key=True, comment="Short name: css, ccp, fpb, bob, ddp")
    title: Mapped[str] = mapped_column(comment="The name of the game")
    version: Mapped[str] = mapped_column(comment="Digest of the ruleset's data; a ruling names it")
    presets: Mapped[dict[str, Any]] = mapped_column(
        server_default="{}", comment="The default reading of every contested point, by point"
    )


class _FeatureKind:
    """What terrain, hexside and path kinds have in common."""

    ruleset: Mapped[str] = mapped_column(
        sa.ForeignKey("ruleset.code", ondelete="CASCADE"), primary_key=True, comment="The game"
    )
    code: Mapped[str] = mapped_column(primary_key=True, comment="The rulebook's heading in snake case")
    title: Mapped[str] = mapped_column(comment="The rulebook's heading")
    rule: Mapped[str] = mapped_column(comment="Number of the rule that describes it")
    sight: Mapped[str | None] = mapped_column(
        comment="open, hinders, blocks_at_second or blocks; null where the rulebook does not say"
    )
    sight_rule: Mapped[str | None] = mapped_column(comment="Number of the rule that says so")
    note: Mapped[str] = mapped_column(server_default="", comment="What the numbers cannot say")


class Terrain(_FeatureKind, Base):
    """A kind of terrain that fills hexes."""

    __tablename__ = "terrain"
    __table_args__ = (sa.CheckConstraint(SIGHT, name="sight"), {"comment": "Kinds of terrain of a game"})


class HexsideKind(_FeatureKind, Base):
    """A kind of feature on hexsides."""

    __tablename__ = "hexside_kind"
    __table_args__ = (sa.CheckConstraint(SIGHT, name="sight"), {"comment": "Kinds of hexside of a game"})


class PathKind(_FeatureKind, Base):
    """A kind of road, trail or railway."""

    __tablename__ = "path_kind"
    __table_args__ = (sa.CheckConstraint(SIGHT, name="sight"), {"comment": "Kinds of path of a game"})


class TerrainEffect(Base):
    """One printed number about a feature, with the rule that prints it.

    One table for all numbers, so that each carries its rule and a number that is not
    printed is a row that is not there. The views `maps.terrain_cost`, `hexside_cost` and
    `path_cost` show the movement costs alone.
    """

    __tablename__ = "terrain_effect"
    __table_args__ = (
        sa.CheckConstraint("feature in ('terrain', 'hexside', 'path', 'overlay')", name="feature"),
        sa.CheckConstraint(
            "aspect in ('cost', 'defense', 'cover', 'hindrance', 'height', 'fire', 'strength', 'assault')",
            name="aspect",
        ),
        sa.CheckConstraint("(halves is null) = (word is not null)", name="number_or_word"),
        sa.CheckConstraint("word in ('prohibited', 'all')", name="word"),
        sa.CheckConstraint("source in ('printed', 'owner', 'house')", name="source"),
        sa.Index(None, "ruleset", "feature", "code", "aspect", "mobility"),
        {
            "comment": "Every number a rulebook prints about terrain, hexsides and paths, with its rule; also costs that were filled in"
        },
    )

    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row")
    ruleset: Mapped[str] = mapped_column(
        sa.ForeignKey("ruleset.code", ondelete="CASCADE"), comment="The game"
    )
    feature: Mapped[str] = mapped_column(comment="terrain, hexside, path or overlay")
    code: Mapped[str] = mapped_column(comment="Which kind of it")
    aspect: Mapped[str] = mapped_column(comment="cost, defense, cover, hindrance, height, fire, …")
    mobility: Mapped[str | None] = mapped_column(comment="For a cost: of which mobility")
    halves: Mapped[int | None] = mapped_column(comment="The number, doubled, so that ½ is 1")
    word: Mapped[str | None] = mapped_column(comment="prohibited, or all movement points")
    condition: Mapped[str | None] = mapped_column(comment="When it holds, in our words; null: always")
    rule: Mapped[str] = mapped_column(comment="Number of the rule that prints it")
    source: Mapped[str] = mapped_column(
        server_default="printed",
        comment="printed, or the chart of an owner or a house that it was filled into",
    )


class Chart(Base):
    """A chart that the rulebook mentions."""

    __tablename__ = "chart"
    __table_args__ = {"comment": "Charts a rulebook mentions, printed or not"}  # noqa: RUF012

    ruleset: Mapped[str] = mapped_column(
        sa.ForeignKey("ruleset.code", ondelete="CASCADE"), primary_key=True, comment="The game"
    )
    code: Mapped[str] = mapped_column(primary_key=True, comment="Name of the chart in snake case")
    title: Mapped[str] = mapped_column(comment="Its printed name")
    rule: Mapped[str] = mapped_column(comment="The rule that refers to it")
    printed: Mapped[bool] = mapped_column(comment="False: its owner must import it from the player aid")
    note: Mapped[str] = mapped_column(server_default="", comment="What is known of it")
    row_name: Mapped[str | None] = mapped_column(comment="What a row is, such as die; null: it has no cells")
    column_name: Mapped[str | None] = mapped_column(comment="What a column is, where all are of one kind")
    column_keys: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), server_default="{}", comment="Its columns, in order"
    )
    open: Mapped[bool] = mapped_column(server_default="false", comment="Whether an owner adds rows to it")
    place: Mapped[str] = mapped_column(
        server_default="", comment="Where it stands, if not among the numbered rules: back cover, map, card"
    )


class ChartCell(Base):
    """A cell of a chart: what the book prints there, and what an owner or a house rule says.

    The book's row is there for every cell, with no value where the book does not print it; an
    upgrade writes it anew. Rows of an owner or of a house are theirs, and stay.
    """

    __tablename__ = "chart_cell"
    __table_args__ = (
        sa.ForeignKeyConstraint(["ruleset", "chart"], ["chart.ruleset", "chart.code"]),
        sa.CheckConstraint("source in ('printed', 'owner', 'house')", name="source"),
        sa.CheckConstraint("value is not null or source = 'printed'", name="filled"),
        sa.Index("ix_chart_cell_filled", "ruleset", postgresql_where=sa.text("source <> 'printed'")),
        {"comment": "Cells of charts: as printed, as an owner read them off, as a house rules"},
    )

    ruleset: Mapped[str] = mapped_column(
        sa.ForeignKey("ruleset.code", ondelete="CASCADE"), primary_key=True, comment="The game"
    )
    chart: Mapped[str] = mapped_column(primary_key=True, comment="The chart")
    row_key: Mapped[str] = mapped_column(primary_key=True, comment="Which row, such as a die roll")
    column_key: Mapped[str] = mapped_column(primary_key=True, comment="Which column")
    source: Mapped[str] = mapped_column(
        primary_key=True, comment="printed in the rulebook, read off the player aid by an owner, or house"
    )
    row_n: Mapped[int] = mapped_column(comment="Place of the row in the chart")
    value: Mapped[str | None] = mapped_column(
        comment="What stands there; null where the book does not print it"
    )
    rule: Mapped[str] = mapped_column(comment="Number of the rule that prints or refers to it")
    example: Mapped[bool] = mapped_column(
        server_default="false", comment="Whether it is read off a worked example of that rule"
    )


class Phase(Base):
    """A phase of the sequence of play, or a step within one."""

    __tablename__ = "phase"
    __table_args__ = (
        sa.ForeignKeyConstraint(["ruleset", "parent"], ["phase.ruleset", "phase.path"], ondelete="CASCADE"),
        sa.UniqueConstraint("ruleset", "n"),
        {"comment": "The sequence of play of a game"},
    )

    ruleset: Mapped[str] = mapped_column(
        sa.ForeignKey("ruleset.code", ondelete="CASCADE"), primary_key=True, comment="The game"
    )
    path: Mapped[str] = mapped_column(primary_key=True, comment="Codes from the outermost phase to it, by /")
    n: Mapped[int] = mapped_column(comment="Its place in the whole sequence, from 1")
    code: Mapped[str] = mapped_column(comment="Its word, as conditions name it")
    parent: Mapped[str | None] = mapped_column(comment="Path of the phase that it is a step of")
    title: Mapped[str] = mapped_column(comment="What it is called")
    who: Mapped[str | None] = mapped_column(comment="Who acts; null where nobody decides anything")
    rule: Mapped[str] = mapped_column(comment="Number of the rule that orders it")


class ContestedPoint(Base):
    """A point where a rulebook disagrees with itself."""

    __tablename__ = "contested_point"
    __table_args__ = (
        sa.CheckConstraint("severity in ('high', 'medium', 'low')", name="severity"),
        {"comment": "Points where a rulebook contradicts itself or leaves a gap"},
    )

    id: Mapped[str] = mapped_column(primary_key=True, comment="For example css-12")
    ruleset: Mapped[str] = mapped_column(
        sa.ForeignKey("ruleset.code", ondelete="CASCADE"), comment="The game"
    )
    n: Mapped[int] = mapped_column(comment="Its number within the game")
    title: Mapped[str] = mapped_column(comment="What it is about")
    severity: Mapped[str] = mapped_column(comment="high: changes a number; medium: legality; low: wording")
    cites: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="The rules that disagree")
    preset: Mapped[str] = mapped_column(comment="The reading used where no policy chooses")
    why: Mapped[str] = mapped_column(comment="Why that reading is the default")
    affects: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="Question kinds it may decide")


class Reading(Base):
    """One way to read a contested point."""

    __tablename__ = "reading"
    __table_args__ = {"comment": "The named readings of contested points"}  # noqa: RUF012

    point: Mapped[str] = mapped_column(
        sa.ForeignKey("contested_point.id", ondelete="CASCADE"), primary_key=True, comment="The point"
    )
    letter: Mapped[str] = mapped_column(primary_key=True, comment="a, b, …")
    title: Mapped[str] = mapped_column(comment="Short name")
    effect: Mapped[str] = mapped_column(comment="What to do under this reading")
