"""Weigh the words of every rule."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "rule_word",
        sa.Column("stem", sa.Text(), nullable=False, comment="A word, as its stem"),
        sa.Column("rule_id", sa.BigInteger(), nullable=False, comment="The rule that has it"),
        sa.Column(
            "title",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="What share of the title it is, in thousandths; 0: not in the title",
        ),
        sa.Column(
            "digest",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="How much digest and charts speak of it, in thousandths",
        ),
        sa.Column(
            "asked", sa.Boolean(), server_default="false", nullable=False, comment="Players ask for it so"
        ),
        sa.Column(
            "above", sa.Boolean(), server_default="false", nullable=False, comment="A title above has it"
        ),
        sa.Column(
            "points",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="A contested point of the rule has it in its title",
        ),
        sa.Column(
            "terms",
            sa.Boolean(),
            server_default="false",
            nullable=False,
            comment="A term that the rule defines has it",
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("rule_word_rule_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("stem", "rule_id", name=op.f("rule_word_pkey")),
        comment="Which rule has which word, and where: made anew by rules.refresh, for ranking",
    )
    op.create_index(op.f("rule_word_rule_id_idx"), "rule_word", ["rule_id"])
    op.create_table(
        "ranking",
        sa.Column("feature", sa.Text(), nullable=False, comment="What is looked at"),
        sa.Column("weight", sa.Integer(), nullable=False, comment="How much it counts when rules are ranked"),
        sa.PrimaryKeyConstraint("feature", name=op.f("ranking_pkey")),
        comment="How much each feature of a rule counts in a search, as fitted on queries",
    )
    op.create_table(
        "idle_word",
        sa.Column("stem", sa.Text(), nullable=False, comment="The word, as its stem"),
        sa.PrimaryKeyConstraint("stem", name=op.f("idle_word_pkey")),
        comment="Words that people wrap a question in; they decide nothing",
    )
    op.add_column(
        "synonym",
        sa.Column(
            "parts",
            postgresql.ARRAY(sa.Text()),
            sa.Computed("string_to_array(stems, ' ')", persisted=True),
            nullable=False,
            comment="Its stems, one by one",
        ),
    )
    op.add_column(
        "synonym",
        sa.Column(
            "mass",
            sa.Double(),
            server_default="0",
            nullable=False,
            comment="What its words weigh together: rare ones more",
        ),
    )
    op.create_index(
        "synonym_parts_idx",
        "synonym",
        ["parts"],
        postgresql_using="gin",
        postgresql_where=sa.text("rule_id is not null"),
    )
