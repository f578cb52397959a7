"""The viewshed cache: what a hex of a position sees, kept until something near it changes."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


class Viewshed(Base):
    """What one hex sees under its position's terrain, markers, conditions and policy.

    Filled by `positions.viewshed` on first use, dropped by triggers (`sql/positions/viewshed.sql`).
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
