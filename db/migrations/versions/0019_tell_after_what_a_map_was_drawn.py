"""Tell after what a map was drawn: its source, beside remarks of any kind."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column(
        "map",
        sa.Column(
            "source",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="After what it was drawn: a sheet, a survey, a book; whose it is",
        ),
    )
    op.alter_column("map", "note", comment="Remarks", existing_comment="Source, licence, remarks")
