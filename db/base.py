"""The base of all tables: how constraints are named, and the state of the schema itself."""

from __future__ import annotations

import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMING = {
    "ix": "%(table_name)s_%(column_0_N_name)s_idx",
    "uq": "%(table_name)s_%(column_0_N_name)s_key",
    "ck": "%(table_name)s_%(constraint_name)s_check",
    "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    "pk": "%(table_name)s_pkey",
}


class Base(DeclarativeBase):
    """The parent of every table."""

    metadata = sa.MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012
        str: sa.Text(),
        dict[str, Any]: JSONB(),
        list[Any]: JSONB(),
        datetime.datetime: sa.DateTime(timezone=True),
    }


class SchemaState(Base):
    """Which verbs and ruleset data the database holds; see `db.schema`."""

    __tablename__ = "schema_state"
    __table_args__ = (
        sa.CheckConstraint("single", name="one_row"),
        {"comment": "One row: the digests of the functions and ruleset data that were applied last"},
    )

    single: Mapped[bool] = mapped_column(primary_key=True, comment="Always true: there is one row")
    verbs: Mapped[str] = mapped_column(comment="SHA-256 over sql/")
    rulesets: Mapped[str] = mapped_column(comment="SHA-256 over the rulesets' data files")
    upgraded_at: Mapped[datetime.datetime] = mapped_column(
        server_default=sa.func.now(), comment="When the last upgrade finished"
    )
