"""Drawn terrain hex by hex: what sight asks of the artwork on ccp and bob maps, kept beside it."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base


def _numbers(comment: str) -> Mapped[list[int]]:
    return mapped_column(ARRAY(sa.Integer), comment=comment)


class DrawnHex(Base):
    """What the artwork of a map tells of a whole hex; kept by `sql/maps/drawn.sql`."""

    __tablename__ = "drawn_hex"
    __table_args__ = (
        sa.UniqueConstraint("map_id", "label"),
        {
            "comment": "Derived: what sight asks of a hex of a map with drawn terrain; triggers keep it, edit hex and"
            " artwork instead"
        },
    )

    map_id: Mapped[int] = mapped_column(
        sa.BigInteger, primary_key=True, autoincrement=False, comment="The map"
    )
    q: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial column")
    r: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial row")
    label: Mapped[str] = mapped_column(comment="Printed number")
    terrain: Mapped[str] = mapped_column(comment="Kind of terrain at its centre dot")
    level: Mapped[int] = mapped_column(sa.SmallInteger, comment="Elevation level of its centre dot")
    ridge: Mapped[bool] = mapped_column(comment="It has the feature ridge")
    drawn: Mapped[bool] = mapped_column(comment="Its own terrain is drawn in it; else it is taken to fill it")
    areas: Mapped[list[int]] = _numbers("Drawn areas of which it has a part, by their numbers")
    whole: Mapped[list[int]] = _numbers("Of these, those that cover all of it")
    within: Mapped[list[int]] = _numbers("Drawn areas that its centre dot lies inside of")
    brink: Mapped[list[int]] = _numbers("Drawn areas on whose outline its centre dot lies")
    crests: Mapped[list[int]] = _numbers("Crest lines drawn inside it, by their numbers")
    crest_levels: Mapped[list[int]] = _numbers("The levels of these")
    area_terrains: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), server_default="{}", comment="The terrains of its drawn areas"
    )


class DrawnEdge(Base):
    """A straight edge of artwork in a hex that it meets; kept by `sql/maps/drawn.sql`."""

    __tablename__ = "drawn_edge"
    __table_args__ = (
        {
            "comment": "Derived: the edges of drawn areas and crest lines in each hex that they meet, on the grid of 1/1024"
            " lattice unit; triggers keep them, edit the artwork instead"
        },
    )

    map_id: Mapped[int] = mapped_column(
        sa.BigInteger, primary_key=True, autoincrement=False, comment="The map"
    )
    q: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial column")
    r: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial row")
    crest: Mapped[bool] = mapped_column(primary_key=True, comment="Of a crest line; else of an area")
    n: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="The artwork's number")
    e: Mapped[int] = mapped_column(
        primary_key=True, autoincrement=False, comment="Which of its edges; the inside of an area on the left"
    )
    level: Mapped[int | None] = mapped_column(sa.SmallInteger, comment="Of a crest line, its level")
    x1: Mapped[int] = mapped_column(comment="Where it begins, in 1/1024 lattice unit")
    y1: Mapped[int] = mapped_column(comment="Where it begins")
    x2: Mapped[int] = mapped_column(comment="Where it ends")
    y2: Mapped[int] = mapped_column(comment="Where it ends")
