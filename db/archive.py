"""The archive: campaigns as they were, by accounts that may differ, as we know them today and knew them before.

Every table here is bitemporal. `during` says when something was so; `known` says from when to when
it stood so in this database. A row is never overwritten: whoever updates or deletes it leaves the
old version behind, its `known` closed (`sql/archive/versions.sql`). What holds today is what has
no end of `known`.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, INT4RANGE, JSONB, TSTZRANGE, ExcludeConstraint, Range
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base
from db.geometry import Geometry

ACCOUNT_KINDS = (
    "rulebook", "official_history", "report", "diary", "memoir", "book", "article", "map", "photograph",
    "website", "other",
)  # fmt: skip
RELIABILITIES = ("high", "fair", "low", "unknown")
ENTRY_KINDS = (
    "landing", "attack", "counterattack", "bombardment", "movement", "defence", "withdrawal", "capture",
    "loss", "arrival", "order", "surrender", "award", "weather", "note",
)  # fmt: skip
CERTAINTIES = ("certain", "likely", "possible", "doubtful")
PRECISIONS = ("minute", "hour", "day", "month", "year")
"""How finely a time is told: an hour is all of that hour, a day all of that day."""
WORLD = 4326
"""Longitude and latitude, in which every place is kept."""
KEY = "^[A-Za-z0-9][A-Za-z0-9_./@+:-]*$"


def _words(column: str, known: tuple[str, ...], name: str | None = None) -> sa.CheckConstraint:
    return sa.CheckConstraint(f"{column} in {known}", name=name or column)


class _Known:
    """What every version of a thing has: its row, when it stood so, and who wrote it."""

    id: Mapped[int] = mapped_column(
        sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row: one version"
    )
    known: Mapped[Range[Any]] = mapped_column(
        TSTZRANGE,
        server_default=sa.text("tstzrange(clock_timestamp(), null)"),
        comment="From when to when it stood so here; without an end: today",
    )
    writer: Mapped[str] = mapped_column(server_default="", comment="Who wrote this version")
    why: Mapped[str] = mapped_column(server_default="", comment="Why it was written so, if told")
    ended_by: Mapped[str | None] = mapped_column(comment="Who wrote the next version, or removed it")


class _Recorded(_Known):
    """Something of a campaign, told from version to version by its key."""

    campaign_id: Mapped[int] = mapped_column(
        sa.ForeignKey("campaign.id", ondelete="CASCADE"), comment="The campaign"
    )
    key: Mapped[str] = mapped_column(comment="What it is called in files and addresses; never changes")


class _Placed:
    """When and where, as finely as an account tells it."""

    during: Mapped[Range[Any]] = mapped_column(TSTZRANGE, comment="When it was so; an end may be open")
    precision: Mapped[str] = mapped_column(
        server_default="minute", comment="How finely the time is told: minute, hour, day, month or year"
    )
    about: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="Whether the time is only about so"
    )
    hex: Mapped[str | None] = mapped_column(comment="The hex of the campaign's map, where it is told by one")
    geom: Mapped[Any | None] = mapped_column(
        Geometry("GEOMETRY", WORLD), comment="Point, line or area in longitude and latitude"
    )
    uncertainty: Mapped[int | None] = mapped_column(comment="Metres by which the place may be off")
    place: Mapped[str] = mapped_column(server_default="", comment="What the place is called")


def _one_version(table: str) -> ExcludeConstraint:
    return ExcludeConstraint(
        ("campaign_id", "="), ("key", "="), ("known", "&&"), name=f"{table}_version_excl", using="gist"
    )


def _recorded(table: str) -> tuple[Any, ...]:
    return (
        _one_version(table),
        sa.CheckConstraint(f"key ~ '{KEY}'", name="key"),
        sa.CheckConstraint("not isempty(known)", name="known"),
    )


def _placed(table: str) -> tuple[Any, ...]:
    return (
        _words("precision", PRECISIONS),
        sa.CheckConstraint("not isempty(during)", name="during"),
        sa.CheckConstraint("uncertainty >= 0", name="uncertainty"),
        sa.Index(
            f"{table}_campaign_id_during_geom_idx", "campaign_id", "during", "geom", postgresql_using="gist"
        ),
        sa.Index(f"{table}_begun_idx", "campaign_id", sa.text("lower(known)")),
        sa.Index(
            f"{table}_ended_idx",
            "campaign_id",
            sa.text("upper(known)"),
            postgresql_where=sa.text("not upper_inf(known)"),
        ),
    )


class Campaign(_Known, Base):
    """A campaign: from when to when, on which ground, in whose time."""

    __tablename__ = "campaign"
    __table_args__ = (
        ExcludeConstraint(("name", "="), ("known", "&&"), name="campaign_version_excl", using="gist"),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name="name"),
        sa.CheckConstraint("zone ~ '^[+-][0-9]{2}:[0-9]{2}$'", name="zone"),
        {"comment": "Campaigns that are recorded; the row without an end of known is today's version"},
    )

    name: Mapped[str] = mapped_column(comment="Short name, part of its address; never changes")
    title: Mapped[str] = mapped_column(server_default="", comment="Name for people")
    note: Mapped[str] = mapped_column(server_default="", comment="What it covers, remarks")
    span: Mapped[Range[Any]] = mapped_column(TSTZRANGE, comment="From when to when")
    zone: Mapped[str] = mapped_column(
        server_default="+00:00", comment="Offset from UTC in which its times are told"
    )
    map_id: Mapped[int | None] = mapped_column(
        sa.ForeignKey("map.id", ondelete="SET NULL"), comment="The map whose hexes its places are told by"
    )
    coast: Mapped[str | None] = mapped_column(
        comment="The coastline it is drawn on, by its name in db/coasts"
    )


class Account(_Recorded, Base):
    """A source: somebody who tells what happened."""

    __tablename__ = "account"
    __table_args__ = (
        *_recorded("account"),
        _words("kind", ACCOUNT_KINDS),
        _words("reliability", RELIABILITIES),
        {"comment": "Accounts: the sources of a campaign, with what is thought of them"},
    )

    author: Mapped[str] = mapped_column(server_default="", comment="Who wrote it")
    title: Mapped[str] = mapped_column(comment="What it is called")
    year: Mapped[int | None] = mapped_column(comment="When it appeared")
    publisher: Mapped[str] = mapped_column(server_default="", comment="Who brought it out")
    kind: Mapped[str] = mapped_column(server_default="book", comment="What sort of source it is")
    reliability: Mapped[str] = mapped_column(server_default="unknown", comment="How far it is trusted")
    url: Mapped[str] = mapped_column(server_default="", comment="Where it can be read")
    note: Mapped[str] = mapped_column(server_default="", comment="Remarks")


class Force(_Recorded, Base):
    """Somebody who takes part: an army, a battalion, a ship, a person."""

    __tablename__ = "force"
    __table_args__ = (*_recorded("force"), {"comment": "Forces: whoever takes part in a campaign"})

    name: Mapped[str] = mapped_column(comment="Its full name")
    side: Mapped[str] = mapped_column(comment="Whose it is: us, japan, …")
    kind: Mapped[str] = mapped_column(server_default="", comment="Corps, division, company, person, ship …")
    counters: Mapped[dict[str, Any]] = mapped_column(
        JSONB, server_default="{}", comment="By ruleset: the counter that stands for it in a position"
    )
    note: Mapped[str] = mapped_column(server_default="", comment="Remarks")


class Subordination(_Recorded, Base):
    """Under whom a force stood, by one account."""

    __tablename__ = "subordination"
    __table_args__ = (
        *_recorded("subordination"),
        _words("precision", PRECISIONS),
        ExcludeConstraint(
            ("campaign_id", "="), ("force", "="), ("account", "="), ("during", "&&"), ("known", "&&"),
            name="subordination_one_superior_excl", using="gist",
        ),
        sa.CheckConstraint("not isempty(during)", name="during"),
        sa.CheckConstraint("force <> superior", name="superior"),
        {"comment": "Orders of battle: under whom a force stood and when; by one account, one superior at a time"},
    )  # fmt: skip

    force: Mapped[str] = mapped_column(comment="Key of the force")
    superior: Mapped[str] = mapped_column(comment="Key of the force it stood under")
    account: Mapped[str] = mapped_column(comment="Key of the account that tells it")
    page: Mapped[str] = mapped_column(server_default="", comment="Where in that account")
    during: Mapped[Range[Any]] = mapped_column(TSTZRANGE, comment="When it was so; an end may be open")
    precision: Mapped[str] = mapped_column(server_default="day", comment="How finely the time is told")
    about: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="Whether the time is only about so"
    )


class Entry(_Recorded, _Placed, Base):
    """Something that happened, as one account has it."""

    __tablename__ = "entry"
    __table_args__ = (
        *_recorded("entry"),
        *_placed("entry"),
        _words("kind", ENTRY_KINDS),
        _words("certainty", CERTAINTIES),
        sa.CheckConstraint("jsonb_typeof(involved) = 'array'", name="involved"),
        sa.Index("entry_forces_idx", "forces", postgresql_using="gin"),
        sa.Index("entry_event_idx", "campaign_id", "event"),
        sa.Index("entry_today_idx", "campaign_id", "id", postgresql_where=sa.text("upper_inf(known)")),
        sa.Index(
            "entry_order_idx",
            "campaign_id",
            sa.text("lower(during) nulls first"),
            "key",
            postgresql_where=sa.text("upper_inf(known)"),
        ),
        {"comment": "Entries: what happened, when, where, to whom, by which account"},
    )

    kind: Mapped[str] = mapped_column(server_default="note", comment="Landing, attack, capture …")
    title: Mapped[str] = mapped_column(comment="In a few words")
    text: Mapped[str] = mapped_column(server_default="", comment="What happened, in words of our own")
    event: Mapped[str | None] = mapped_column(
        comment="Names what happened where several accounts tell of it: their entries share this word"
    )
    certainty: Mapped[str] = mapped_column(server_default="certain", comment="How sure it is")
    account: Mapped[str] = mapped_column(comment="Key of the account that tells it")
    page: Mapped[str] = mapped_column(server_default="", comment="Page, rule or line in that account")
    involved: Mapped[list[Any]] = mapped_column(
        JSONB,
        server_default="[]",
        comment="Forces: force, role, strength and losses as [least, most], in the order told",
    )
    forces: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), server_default="{}", comment="Keys of the forces involved; written by trigger"
    )


class Stance(_Recorded, _Placed, Base):
    """Where a force was and how it stood, by one account."""

    __tablename__ = "stance"
    __table_args__ = (
        *_recorded("stance"),
        *_placed("stance"),
        ExcludeConstraint(
            ("campaign_id", "="), ("force", "="), ("account", "="), ("during", "&&"), ("known", "&&"),
            name="stance_one_place_excl", using="gist",
        ),
        {"comment": "Stances: where a force was and in what state; by one account, one place at a time"},
    )  # fmt: skip

    force: Mapped[str] = mapped_column(comment="Key of the force")
    state: Mapped[str] = mapped_column(server_default="", comment="In line, in reserve, afloat, destroyed …")
    strength: Mapped[Range[Any] | None] = mapped_column(INT4RANGE, comment="Men, at least and at most")
    account: Mapped[str] = mapped_column(comment="Key of the account that tells it")
    page: Mapped[str] = mapped_column(server_default="", comment="Page, rule or line in that account")
    note: Mapped[str] = mapped_column(server_default="", comment="Remarks")


RECORDED = (Account, Force, Subordination, Entry, Stance)
"""What a campaign is made of, in the order in which one needs the other."""
