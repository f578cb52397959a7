"""Positions: units and markers on a map, under conditions, read by a policy."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class Position(Base):
    """A state of play on a map. A case is one that lives for a single transaction."""

    __tablename__ = "position"
    __table_args__ = (
        sa.ForeignKeyConstraint(["map_id", "ruleset"], ["map.id", "map.ruleset"], ondelete="CASCADE"),
        sa.UniqueConstraint("id", "map_id"),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name="name"),
        sa.CheckConstraint("not bare or name is null", name="bare"),
        sa.Index("ix_position_bare", "map_id", unique=True, postgresql_where=sa.text("bare")),
        {"comment": "A state of play: a map, conditions, chosen readings, units and markers"},
    )

    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row")
    name: Mapped[str | None] = mapped_column(unique=True, comment="Short name; null for a passing case")
    title: Mapped[str] = mapped_column(server_default="", comment="Name for people")
    map_id: Mapped[int] = mapped_column(sa.BigInteger, index=True, comment="The map")
    ruleset: Mapped[str] = mapped_column(comment="The game")
    conditions: Mapped[dict[str, Any]] = mapped_column(server_default="{}", comment="Weather, time, …")
    policy: Mapped[dict[str, Any]] = mapped_column(
        server_default="{}", comment="Readings chosen for contested points, by point"
    )
    tracks: Mapped[dict[str, Any]] = mapped_column(
        server_default="{}", comment="Numbers, lists and pools of a side or the game: points, cups, hands"
    )
    bare: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="Whether nothing ever stands on it: the map itself, to be asked"
    )
    created_at: Mapped[datetime.datetime] = mapped_column(server_default=sa.func.now(), comment="Made when")


class _OnPosition:
    """Something that stands in a hex of a position's map, or off the map."""

    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row")
    position_id: Mapped[int] = mapped_column(sa.BigInteger, comment="The position")
    map_id: Mapped[int] = mapped_column(sa.BigInteger, comment="The position's map")
    q: Mapped[int | None] = mapped_column(comment="Axial column; null off the map")
    r: Mapped[int | None] = mapped_column(comment="Axial row; null off the map")


def _on_position() -> tuple[sa.ForeignKeyConstraint, ...]:
    return (
        sa.ForeignKeyConstraint(
            ["position_id", "map_id"], ["position.id", "position.map_id"], ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["map_id", "q", "r"], ["hex.map_id", "hex.q", "hex.r"], ondelete="CASCADE"),
    )


class Unit(_OnPosition, Base):
    """A counter of one side."""

    __tablename__ = "unit"
    __table_args__ = (
        *_on_position(),
        sa.UniqueConstraint("position_id", "code"),
        sa.CheckConstraint("(q is null) = (r is null)", name="place"),
        sa.Index(None, "position_id", "q", "r"),
        {"comment": "Units: where they stand and what their counters say"},
    )

    code: Mapped[str] = mapped_column(comment="Identity within the position, e.g. C/1/9")
    side: Mapped[str] = mapped_column(comment="us, japan, allied, …")
    kind: Mapped[str | None] = mapped_column(comment="infantry, tank, squad, …")
    attributes: Mapped[dict[str, Any]] = mapped_column(
        JSONB, server_default="{}", comment="The rest of the counter, checked by the ruleset's model"
    )


class Marker(_OnPosition, Base):
    """A marker in a hex."""

    __tablename__ = "marker"
    __table_args__ = (
        *_on_position(),
        sa.CheckConstraint("(q is null) = (r is null)", name="place"),
        sa.Index(None, "position_id", "q", "r"),
        {"comment": "Markers: barrages, smoke, status, fortifications"},
    )

    kind: Mapped[str] = mapped_column(comment="dg, smoke, foxhole, …")
    value: Mapped[int | None] = mapped_column(comment="Its number, where it has one")
    facing: Mapped[int | None] = mapped_column(sa.SmallInteger, comment="Direction 1 to 6, where it has one")
    attributes: Mapped[dict[str, Any]] = mapped_column(
        JSONB, server_default="{}", comment="What else it says"
    )
