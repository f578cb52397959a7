"""Fill the charts and tell the phases."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.add_column(
        "terrain_effect",
        sa.Column(
            "source",
            sa.Text(),
            server_default="printed",
            nullable=False,
            comment="printed, or the chart of an owner or a house that it was filled into",
        ),
    )
    op.create_check_constraint("source", "terrain_effect", "source in ('printed', 'owner', 'house')")
    op.create_table_comment(
        "terrain_effect",
        "Every number a rulebook prints about terrain, hexsides and paths, with its rule; also costs that were filled in",
    )
    for column in (
        sa.Column(
            "row_name", sa.Text(), nullable=True, comment="What a row is, such as die; null: it has no cells"
        ),
        sa.Column(
            "column_name", sa.Text(), nullable=True, comment="What a column is, where all are of one kind"
        ),
        sa.Column(
            "column_keys",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Its columns, in order",
        ),
        sa.Column(
            "open",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="Whether an owner adds rows to it",
        ),
    ):
        op.add_column("chart", column)
    op.create_table(
        "chart_cell",
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("chart", sa.Text(), nullable=False, comment="The chart"),
        sa.Column("row_key", sa.Text(), nullable=False, comment="Which row, such as a die roll"),
        sa.Column("column_key", sa.Text(), nullable=False, comment="Which column"),
        sa.Column(
            "source",
            sa.Text(),
            nullable=False,
            comment="printed in the rulebook, read off the player aid by an owner, or house",
        ),
        sa.Column("row_n", sa.Integer(), nullable=False, comment="Place of the row in the chart"),
        sa.Column(
            "value",
            sa.Text(),
            nullable=True,
            comment="What stands there; null where the book does not print it",
        ),
        sa.Column(
            "rule", sa.Text(), nullable=False, comment="Number of the rule that prints or refers to it"
        ),
        sa.CheckConstraint("source in ('printed', 'owner', 'house')", name=op.f("chart_cell_source_check")),
        sa.CheckConstraint("value is not null or source = 'printed'", name=op.f("chart_cell_filled_check")),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("chart_cell_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["ruleset", "chart"], ["chart.ruleset", "chart.code"], name=op.f("chart_cell_ruleset_chart_fkey")
        ),
        sa.PrimaryKeyConstraint(
            "ruleset", "chart", "row_key", "column_key", "source", name=op.f("chart_cell_pkey")
        ),
        comment="Cells of charts: as printed, as an owner read them off, as a house rules",
    )
    op.create_table(
        "phase",
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("path", sa.Text(), nullable=False, comment="Codes from the outermost phase to it, by /"),
        sa.Column("n", sa.Integer(), nullable=False, comment="Its place in the whole sequence, from 1"),
        sa.Column("code", sa.Text(), nullable=False, comment="Its word, as conditions name it"),
        sa.Column("parent", sa.Text(), nullable=True, comment="Path of the phase that it is a step of"),
        sa.Column("title", sa.Text(), nullable=False, comment="What it is called"),
        sa.Column("who", sa.Text(), nullable=True, comment="Who acts; null where nobody decides anything"),
        sa.Column("rule", sa.Text(), nullable=False, comment="Number of the rule that orders it"),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("phase_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["ruleset", "parent"],
            ["phase.ruleset", "phase.path"],
            name=op.f("phase_ruleset_parent_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("ruleset", "path", name=op.f("phase_pkey")),
        sa.UniqueConstraint("ruleset", "n", name=op.f("phase_ruleset_n_key")),
        comment="The sequence of play of a game",
    )
