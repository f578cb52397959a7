"""Tell who changed a campaign and when: the newest changes of a long chronicle are found without sorting it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0021"
down_revision: str | None = "0020"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

PLACED = ("entry", "stance")


def upgrade() -> None:
    for table in PLACED:
        op.create_index(f"{table}_begun_idx", table, ["campaign_id", sa.text("lower(known)")])
        op.create_index(
            f"{table}_ended_idx",
            table,
            ["campaign_id", sa.text("upper(known)")],
            postgresql_where=sa.text("not upper_inf(known)"),
        )


def downgrade() -> None:
    for table in PLACED:
        op.drop_index(f"{table}_ended_idx", table)
        op.drop_index(f"{table}_begun_idx", table)
