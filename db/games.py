"""Games: who sits at the table, and the log of all that was done, which is the game."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base

LEGALITIES = ("legal", "illegal_stood", "overruled", "contested")
"""Whether what was done is what the rules allow, or what the table let stand."""
DICE = ("server", "typed")
REFEREE, OBSERVER = "referee", "observer"


class Game(Base):
    """A game that is played: its position now, its dice, its last event."""

    __tablename__ = "game"
    __table_args__ = (
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name="name"),
        sa.CheckConstraint(f"dice in {DICE}", name="dice"),
        {"comment": "Games: the position now, whose dice, and the last event"},
    )

    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row")
    name: Mapped[str] = mapped_column(unique=True, comment="Short name, part of its address")
    title: Mapped[str] = mapped_column(server_default="", comment="Name for people")
    ruleset: Mapped[str] = mapped_column(sa.ForeignKey("ruleset.code"), comment="The game that is played")
    position_id: Mapped[int] = mapped_column(
        sa.ForeignKey("position.id", ondelete="RESTRICT"),
        unique=True,
        comment="The position now; only the log writes it",
    )
    scenario: Mapped[str | None] = mapped_column(comment="The scenario it began from, if it was one")
    house: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="Whether part of its set-up is not the publisher's"
    )
    dice: Mapped[str] = mapped_column(
        server_default="server", comment="Who rolls: the server, or a table that types"
    )
    seed: Mapped[bytes | None] = mapped_column(
        sa.LargeBinary, comment="What the server's dice are derived from; told at the end"
    )
    opened: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="Whether the seed is told to everybody"
    )
    over: Mapped[bool] = mapped_column(server_default=sa.false(), comment="Whether it has ended")
    events: Mapped[int] = mapped_column(server_default="0", comment="Number of its last event")
    digest: Mapped[str] = mapped_column(server_default="", comment="Digest of its last event")
    pending: Mapped[dict[str, Any] | None] = mapped_column(
        JSONB, comment="The action that waits for an answer, with the answers it has, and whom it waits for"
    )
    parent_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("game.id", ondelete="SET NULL"), comment="The game it was branched off from"
    )
    parent_event: Mapped[int | None] = mapped_column(comment="After which event of that one")
    created_at: Mapped[datetime.datetime] = mapped_column(server_default=sa.func.now(), comment="Begun when")


class Seat(Base):
    """A place at the table."""

    __tablename__ = "seat"
    __table_args__ = ({"comment": "Seats: the referee, each side, observers"},)

    game_id: Mapped[int] = mapped_column(
        sa.ForeignKey("game.id", ondelete="CASCADE"), primary_key=True, comment="The game"
    )
    role: Mapped[str] = mapped_column(primary_key=True, comment="referee, a side, or observer")
    name: Mapped[str] = mapped_column(server_default="", comment="Who sits there")


class Event(Base):
    """Something that was done. It never changes."""

    __tablename__ = "event"
    __table_args__ = (
        sa.CheckConstraint(f"legality in {LEGALITIES}", name="legality"),
        sa.Index("ix_event_taken_back", "game_id", postgresql_where=sa.text("undoes <> '{}'")),
        {
            "comment": "The log of every game: append-only, numbered without gaps, each with the digest of the one before"
        },
    )

    game_id: Mapped[int] = mapped_column(
        sa.ForeignKey("game.id", ondelete="CASCADE"), primary_key=True, comment="The game"
    )
    number: Mapped[int] = mapped_column(primary_key=True, comment="1, 2, 3 … without gaps")
    at: Mapped[datetime.datetime] = mapped_column(comment="When it was written down")
    actor: Mapped[str] = mapped_column(comment="Who did it: a side, or the referee")
    action: Mapped[str] = mapped_column(comment="What was done: a procedure, begin, undo, set, note, end")
    arguments: Mapped[dict[str, Any]] = mapped_column(
        server_default="{}", comment="With what, as a case file has it"
    )
    rolls: Mapped[list[Any]] = mapped_column(
        JSONB, server_default="[]", comment="Dice in order, with where they came from"
    )
    draws: Mapped[list[Any]] = mapped_column(
        JSONB, server_default="[]", comment="Cards and counters drawn, in order"
    )
    choices: Mapped[list[Any]] = mapped_column(JSONB, server_default="[]", comment="Who chose what, in order")
    answer: Mapped[dict[str, Any]] = mapped_column(server_default="{}", comment="The numbers and the result")
    steps: Mapped[list[Any]] = mapped_column(
        JSONB, server_default="[]", comment="Every rule that spoke, in order"
    )
    contested: Mapped[list[Any]] = mapped_column(
        JSONB, server_default="[]", comment="Contested points that it touched"
    )
    effects: Mapped[list[Any]] = mapped_column(
        JSONB, server_default="[]", comment="What changed, in the words of the game"
    )
    changes: Mapped[list[Any]] = mapped_column(
        JSONB, server_default="[]", comment="The same and the bookkeeping as rows, with old and new value"
    )
    phase: Mapped[dict[str, Any]] = mapped_column(server_default="{}", comment="Turn, phase and whose it was")
    legality: Mapped[str] = mapped_column(
        server_default="legal", comment="legal, illegal_stood, overruled or contested"
    )
    note: Mapped[str | None] = mapped_column(comment="Why, in the words of whoever wrote it down")
    undoes: Mapped[list[int]] = mapped_column(
        ARRAY(sa.Integer), server_default="{}", comment="Events that it takes back"
    )
    ruleset_version: Mapped[str] = mapped_column(comment="Digest of the rules that ruled")
    position_digest: Mapped[str] = mapped_column(comment="SHA-256 of the position after it")
    previous: Mapped[str] = mapped_column(comment="Digest of the event before it; empty for the first")
    digest: Mapped[str] = mapped_column(comment="SHA-256 of all this")


class Request(Base):
    """A request that was answered: repeated, it is answered again and not done again."""

    __tablename__ = "request"
    __table_args__ = (
        {"comment": "Idempotency keys of a game's writers, with the event that each was about"},
    )

    game_id: Mapped[int] = mapped_column(
        sa.ForeignKey("game.id", ondelete="CASCADE"), primary_key=True, comment="The game"
    )
    key: Mapped[str] = mapped_column(primary_key=True, comment="The key that the client made up")
    asked: Mapped[str] = mapped_column(comment="Digest of what was asked with it")
    number: Mapped[int] = mapped_column(comment="The event that it made, or is making")


class Snapshot(Base):
    """The whole position after an event, so that a moment of a long game is found quickly."""

    __tablename__ = "snapshot"
    __table_args__ = (
        sa.ForeignKeyConstraint(["game_id", "number"], ["event.game_id", "event.number"], ondelete="CASCADE"),
        {
            "comment": "The position after some events, as one object each; can always be made anew from the log"
        },
    )

    game_id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, comment="The game")
    number: Mapped[int] = mapped_column(primary_key=True, comment="The event it is after")
    tree: Mapped[dict[str, Any]] = mapped_column(comment="Units, markers, conditions and tracks")


class Annotation(Base):
    """A word on an event, said later."""

    __tablename__ = "annotation"
    __table_args__ = (
        sa.ForeignKeyConstraint(["game_id", "number"], ["event.game_id", "event.number"], ondelete="CASCADE"),
        sa.Index(None, "game_id", "number"),
        {"comment": "Annotations: what was said of an event afterwards, with rulings it refers to"},
    )

    id: Mapped[int] = mapped_column(sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row")
    game_id: Mapped[int] = mapped_column(sa.BigInteger, comment="The game")
    number: Mapped[int] = mapped_column(comment="The event")
    author: Mapped[str] = mapped_column(comment="Who says it")
    text: Mapped[str] = mapped_column(comment="What is said")
    ruling: Mapped[str | None] = mapped_column(
        comment="Id of a kept ruling that it refers to; it may have been deleted since"
    )
    at: Mapped[datetime.datetime] = mapped_column(server_default=sa.func.now(), comment="Said when")
