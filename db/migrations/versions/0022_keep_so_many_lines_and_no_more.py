"""Keep so many lines and no more: each has a slot of its position, and its clauses, which those of Guam name (7.1.1 a)."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import ARRAY

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

CLAUSES = "Lettered item of each rule, where it has one"
SLOT = "Where it is kept: of lines that share one, the last that was asked"


def _empty() -> None:
    """A cache: what is kept in another form is found anew."""
    op.execute("delete from kept_line")
    op.drop_constraint("kept_line_pkey", "kept_line")


def upgrade() -> None:
    _empty()
    op.add_column("kept_line", sa.Column("clauses", ARRAY(sa.Text), nullable=False, comment=CLAUSES))
    op.add_column("kept_line", sa.Column("slot", sa.SmallInteger, nullable=False, comment=SLOT))
    op.create_primary_key("kept_line_pkey", "kept_line", ["position_id", "slot"])


def downgrade() -> None:
    _empty()
    op.drop_column("kept_line", "slot")
    op.drop_column("kept_line", "clauses")
    op.create_primary_key("kept_line_pkey", "kept_line", ["position_id", "viewer", "target"])
