"""Read long chronicles in order."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_index(
        "entry_order_idx",
        "entry",
        ["campaign_id", sa.text("lower(during) nulls first"), "key"],
        postgresql_where=sa.text("upper_inf(known)"),
    )
