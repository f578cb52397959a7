"""Name the bits of sight."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.alter_column(
        "css_ground",
        "sight",
        existing_type=sa.Integer(),
        existing_nullable=False,
        comment="What its ground does to a line, as bits of css._bit",
        existing_comment="What its ground does to a line, as bits of css._met",
    )
