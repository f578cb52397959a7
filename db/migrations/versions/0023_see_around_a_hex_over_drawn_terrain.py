"""See around a hex over drawn terrain: which lines pass a hex, and what is drawn in it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0023"
down_revision: str | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

HEX_SET = postgresql.BIT(289)


def _small(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.SmallInteger(), autoincrement=False, nullable=False, comment=comment)


def _flag(name: str, comment: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False, comment=comment)


def _number(name: str, comment: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False, comment=comment)


def _set(name: str, comment: str) -> sa.Column[str]:
    return sa.Column(name, HEX_SET, nullable=False, comment=comment)


def upgrade() -> None:
    op.create_table(
        "passage",
        _small("q", "Axial column of the hex"),
        _small("r", "Axial row of the hex"),
        _small("dq", "Target q"),
        _small("dr", "Target r"),
        _small("place", "The target's place in a set of hexes"),
        _flag("spine", "The line runs along a side of the hex"),
        _flag("touch", "The line meets the hex in a point"),
        _flag("near", "It comes there out of the hex that it begins in"),
        _flag("far", "It goes on from there into its target"),
        _number("enter", "Where the line comes to the hex, in 1/den of its length"),
        _number("leave", "Where it leaves the hex"),
        _number("den", "Common denominator of this displacement"),
        sa.PrimaryKeyConstraint("q", "r", "dq", "dr", name=op.f("passage_pkey")),
        schema="lattice",
        comment="The lines of up to 8 hexes from (0, 0) to (dq, dr) that pass a hex between their ends",
    )
    op.create_table(
        "beam",
        _small("q", "Axial column"),
        _small("r", "Axial row"),
        _small("away", "Hexes to it"),
        _small("place", "Its place in a set of hexes"),
        _set("through", "Targets of the lines through its inside"),
        _set("met", "Of these, of those along a side of it and of those that meet it in a point"),
        _set("passed", "Of the former two"),
        _set("near", "Of those that come there out of the start"),
        _set("far", "Of those that go on into their target"),
        _set("dot", "Of those through its dot"),
        sa.PrimaryKeyConstraint("q", "r", name=op.f("beam_pkey")),
        schema="lattice",
        comment="The lines of up to 8 hexes from (0, 0) that pass a hex, as sets of their targets",
    )
    op.execute("select lattice.build_passage()")
    op.execute("select lattice.build_beam()")
    op.execute("analyze lattice.passage, lattice.beam")
    # derived, and worked out anew by every upgrade
    op.execute("delete from drawn_hex")
    op.add_column(
        "drawn_hex",
        sa.Column(
            "area_terrains",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="The terrains of its drawn areas",
        ),
    )


def downgrade() -> None:
    op.drop_column("drawn_hex", "area_terrains")
    op.drop_table("beam", schema="lattice")
    op.drop_table("passage", schema="lattice")
