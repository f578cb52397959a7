"""Keep what a map is instead of counting it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Make room for the version, the bounds and the counts of every map; `sql/maps/kept.sql` fills them."""
    op.create_table(
        "map_summary",
        sa.Column("map_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The map"),
        sa.Column(
            "version",
            sa.Uuid(),
            server_default=sa.func.gen_random_uuid(),
            nullable=False,
            comment="Another one after every edit, never used again",
        ),
        sa.Column(
            "q_low",
            sa.Integer(),
            nullable=True,
            comment="Least axial column of a hex; null where there is none",
        ),
        sa.Column("q_high", sa.Integer(), nullable=True, comment="Greatest axial column"),
        sa.Column("y_low", sa.Integer(), nullable=True, comment="Least lattice row of a centre, 2 r + q"),
        sa.Column("y_high", sa.Integer(), nullable=True, comment="Greatest lattice row of a centre"),
        sa.ForeignKeyConstraint(
            ["map_id"], ["map.id"], name=op.f("map_summary_map_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("map_id", name=op.f("map_summary_pkey")),
        comment="Derived: the version and the bounds of a map; triggers keep it",
    )
    op.create_table(
        "map_count",
        sa.Column("map_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The map"),
        sa.Column(
            "part",
            sa.Text(),
            nullable=False,
            comment="terrain and level of hexes, hexside, path, area, crest, place",
        ),
        sa.Column("word", sa.Text(), nullable=False, comment="The kind, or the level"),
        sa.Column("count", sa.Integer(), nullable=False, comment="How many"),
        sa.ForeignKeyConstraint(
            ["map_id"], ["map.id"], name=op.f("map_count_map_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("map_id", "part", "word", name=op.f("map_count_pkey")),
        comment="Derived: how much of each kind is on a map; triggers keep it",
    )
