"""Ask a map where it lies."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Give every map a position on which nothing stands, and keep the reasons of what is seen."""
    op.add_column(
        "position",
        sa.Column(
            "bare",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Whether nothing ever stands on it: the map itself, to be asked",
        ),
    )
    op.create_check_constraint("bare", "position", "not bare or name is null")
    op.create_index("ix_position_bare", "position", ["map_id"], unique=True, postgresql_where=sa.text("bare"))
    op.add_column(
        "viewshed",
        sa.Column(
            "reasons",
            postgresql.JSONB(),
            nullable=True,
            comment="What hides the rest, as the reasons of the fan tell it; null until somebody asks",
        ),
    )
    op.execute("insert into position (map_id, ruleset, bare) select id, ruleset, true from map")
