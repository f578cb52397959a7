"""Remember what a hex sees."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "viewshed",
        sa.Column("position_id", sa.BigInteger(), nullable=False, comment="The position"),
        sa.Column("viewer", sa.Text(), nullable=False, comment="The hex or unit, by the name asked"),
        sa.Column(
            "radius",
            sa.SmallInteger(),
            autoincrement=False,
            nullable=False,
            comment="No farther than this; 24: as far as seen",
        ),
        sa.Column("q", sa.Integer(), nullable=False, comment="Axial column of the viewer"),
        sa.Column("r", sa.Integer(), nullable=False, comment="Axial row of the viewer"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The position's map"),
        sa.Column("qs", postgresql.ARRAY(sa.Integer()), nullable=False, comment="q of every hex seen"),
        sa.Column("rs", postgresql.ARRAY(sa.Integer()), nullable=False, comment="r of every hex seen"),
        sa.Column("labels", postgresql.ARRAY(sa.Text()), nullable=False, comment="Label of every hex seen"),
        sa.Column(
            "ranges", postgresql.ARRAY(sa.Integer()), nullable=False, comment="Range of every hex seen"
        ),
        sa.ForeignKeyConstraint(
            ["position_id", "map_id"],
            ["position.id", "position.map_id"],
            name=op.f("viewshed_position_id_map_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("position_id", "viewer", "radius", name=op.f("viewshed_pkey")),
        comment="Cache: what a hex sees; dropped around every edit",
    )
    op.create_index(op.f("viewshed_map_id_idx"), "viewshed", ["map_id"], unique=False)
