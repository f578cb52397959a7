"""Find the hexes of a line by themselves."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0020"
down_revision: str | None = "0019"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_index(
        op.f("trace_hexes_idx"),
        "trace",
        ["dq", "dr", "n"],
        schema="lattice",
        postgresql_include=["kind", "q1", "r1", "q2", "r2", "enter", "leave", "den"],
        postgresql_where=sa.text("kind in ('hex', 'spine', 'touch')"),
    )
