"""Rulings kept for good: question, answer and proof, under a permanent address."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class SavedRuling(Base):
    """A ruling that was kept. It never changes; asking again gives the same id."""

    __tablename__ = "ruling"
    __table_args__ = (
        sa.Index(None, "ruleset", "kind"),
        sa.Index(None, "steps", postgresql_using="gin"),
        sa.Index(None, "contested", postgresql_using="gin"),
        {"comment": "Kept rulings: immutable, addressed by a digest of what was asked"},
    )

    id: Mapped[str] = mapped_column(primary_key=True, comment="Digest of case, question and ruleset version")
    ruleset: Mapped[str] = mapped_column(sa.ForeignKey("ruleset.code"), comment="The game")
    ruleset_version: Mapped[str] = mapped_column(comment="Digest of rules data and functions that ruled")
    kind: Mapped[str] = mapped_column(comment="Question kind")
    case_id: Mapped[str] = mapped_column(comment="Id of the case file")
    title: Mapped[str] = mapped_column(server_default="", comment="Title of the case file")
    document: Mapped[dict[str, Any]] = mapped_column(comment="The whole case, so that it can be asked again")
    position_digest: Mapped[str] = mapped_column(comment="SHA-256 of map, units, markers and conditions")
    question: Mapped[dict[str, Any]] = mapped_column(comment="The question asked")
    answer: Mapped[dict[str, Any]] = mapped_column(comment="The verdict")
    steps: Mapped[list[Any]] = mapped_column(JSONB, comment="Every rule applied, in order")
    contested: Mapped[list[Any]] = mapped_column(JSONB, comment="Contested points touched")
    errata: Mapped[list[Any]] = mapped_column(
        JSONB, server_default="[]", comment="Errata and house rules on the rules applied, as they stood"
    )
    policy: Mapped[dict[str, Any]] = mapped_column(comment="Readings chosen")
    terrain: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text),
        server_default="{}",
        comment="Terrain, hexsides and markers at the places of its steps",
    )
    mood: Mapped[str | None] = mapped_column(
        comment="yes, no, open (for want of something) or plain; null: kept before it was told"
    )
    created_at: Mapped[datetime.datetime] = mapped_column(
        server_default=sa.func.now(), comment="First asked when"
    )


class DeletedRuling(Base):
    """What is left of a kept ruling that the operator deleted: who did it, when and why, and a digest of what it was."""

    __tablename__ = "deleted_ruling"
    __table_args__ = ({"comment": "Kept rulings that were deleted: a trace of each, without what it said"},)

    id: Mapped[str] = mapped_column(primary_key=True, comment="The id that it had, and its address has")
    ruleset: Mapped[str] = mapped_column(sa.ForeignKey("ruleset.code"), comment="The game")
    kind: Mapped[str] = mapped_column(comment="Question kind")
    digest: Mapped[str] = mapped_column(comment="SHA-256 of all that was kept of it")
    created_at: Mapped[datetime.datetime] = mapped_column(comment="First asked when")
    who: Mapped[str] = mapped_column(comment="Who deleted it")
    why: Mapped[str] = mapped_column(comment="Why, in their words")
    deleted_at: Mapped[datetime.datetime] = mapped_column(
        server_default=sa.func.now(), comment="Deleted when; the last time, if it was asked again meanwhile"
    )
