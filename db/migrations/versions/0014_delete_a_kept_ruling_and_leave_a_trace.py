"""Delete a kept ruling, and leave a trace."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0014"
down_revision: str | None = "0013"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "deleted_ruling",
        sa.Column("id", sa.Text(), nullable=False, comment="The id that it had, and its address has"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("kind", sa.Text(), nullable=False, comment="Question kind"),
        sa.Column("digest", sa.Text(), nullable=False, comment="SHA-256 of all that was kept of it"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, comment="First asked when"),
        sa.Column("who", sa.Text(), nullable=False, comment="Who deleted it"),
        sa.Column("why", sa.Text(), nullable=False, comment="Why, in their words"),
        sa.Column(
            "deleted_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Deleted when; the last time, if it was asked again meanwhile",
        ),
        sa.ForeignKeyConstraint(["ruleset"], ["ruleset.code"], name=op.f("deleted_ruling_ruleset_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("deleted_ruling_pkey")),
        comment="Kept rulings that were deleted: a trace of each, without what it said",
    )
    # a word on an event outlives the ruling that it refers to
    op.drop_constraint(op.f("annotation_ruling_fkey"), "annotation", type_="foreignkey")
    op.alter_column(
        "annotation",
        "ruling",
        comment="Id of a kept ruling that it refers to; it may have been deleted since",
    )
