"""What sight has found out: what a hex of a position sees, and lines that were asked, kept until something near changes."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class Viewshed(Base):
    """What one hex sees under its position's terrain, markers, conditions and policy.

    Filled by `positions.viewshed` on first use and by `positions.survey` ahead of it, dropped by triggers
    (`sql/positions/viewshed.sql`).
    """

    __tablename__ = "viewshed"
    __table_args__ = (
        sa.ForeignKeyConstraint(
            ["position_id", "map_id"], ["position.id", "position.map_id"], ondelete="CASCADE"
        ),
        sa.Index(None, "map_id"),
        {"comment": "Cache: what a hex sees; dropped around every edit"},
    )

    position_id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, comment="The position")
    viewer: Mapped[str] = mapped_column(primary_key=True, comment="The hex or unit, by the name asked")
    radius: Mapped[int] = mapped_column(
        sa.SmallInteger,
        primary_key=True,
        autoincrement=False,
        comment="No farther than this; 24: as far as seen",
    )
    q: Mapped[int] = mapped_column(comment="Axial column of the viewer")
    r: Mapped[int] = mapped_column(comment="Axial row of the viewer")
    map_id: Mapped[int] = mapped_column(sa.BigInteger, comment="The position's map")
    qs: Mapped[list[int]] = mapped_column(ARRAY(sa.Integer), comment="q of every hex seen")
    rs: Mapped[list[int]] = mapped_column(ARRAY(sa.Integer), comment="r of every hex seen")
    labels: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="Label of every hex seen")
    reasons: Mapped[list[Any] | None] = mapped_column(
        JSONB, comment="What hides the rest, as the reasons of the fan tell it; null until somebody asks"
    )
    ranges: Mapped[list[int]] = mapped_column(ARRAY(sa.Integer), comment="Range of every hex seen")


class KeptLine(Base):
    """A line of sight that was asked before, with all that it told.

    Filled by `positions.line` on first use, dropped by the triggers of the viewsheds.
    """

    __tablename__ = "kept_line"
    __table_args__ = (
        sa.ForeignKeyConstraint(
            ["position_id", "map_id"], ["position.id", "position.map_id"], ondelete="CASCADE"
        ),
        sa.Index(None, "map_id"),
        {"comment": "Cache: lines of sight that were asked; dropped around every edit"},
    )

    position_id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, comment="The position")
    slot: Mapped[int] = mapped_column(
        sa.SmallInteger,
        primary_key=True,
        autoincrement=False,
        comment="Where it is kept: of lines that share one, the last that was asked",
    )
    viewer: Mapped[str] = mapped_column(comment="From where, by the name asked")
    target: Mapped[str] = mapped_column(comment="To where, by the name asked")
    map_id: Mapped[int] = mapped_column(sa.BigInteger, comment="The position's map")
    q: Mapped[int] = mapped_column(comment="Axial column of the viewer")
    r: Mapped[int] = mapped_column(comment="Axial row of the viewer")
    away: Mapped[int] = mapped_column(comment="Hexes to the target")
    rules: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), comment="Rule of every step told, the verdict last"
    )
    places: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="Where each is at work")
    effects: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="What each does")
    notes: Mapped[list[str]] = mapped_column(ARRAY(sa.Text), comment="Each in words")
    points: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), comment="The contested point that each turns on"
    )
    ranges: Mapped[list[int]] = mapped_column(ARRAY(sa.Integer), comment="Range of each")
    hindrances: Mapped[list[int]] = mapped_column(ARRAY(sa.Integer), comment="Hindrance of each")
    clauses: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), comment="Lettered item of each rule, where it has one"
    )
