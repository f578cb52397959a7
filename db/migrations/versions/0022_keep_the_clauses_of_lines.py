"""Keep the clauses of lines: those of Guam name them (7.1.1 a), and are kept like those over drawn terrain."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COMMENT = "Lettered item of each rule, where it has one"


def upgrade() -> None:
    # a cache: what is kept without clauses is found anew
    op.execute("delete from kept_line")
    op.add_column("kept_line", sa.Column("clauses", ARRAY(sa.Text), nullable=False, comment=COMMENT))


def downgrade() -> None:
    op.drop_column("kept_line", "clauses")
