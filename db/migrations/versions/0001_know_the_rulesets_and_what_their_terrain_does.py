"""Know the rulesets and what their terrain does."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "ruleset",
        sa.Column("code", sa.Text(), nullable=False, comment="Short name: css, ccp, fpb, bob, ddp"),
        sa.Column("title", sa.Text(), nullable=False, comment="The name of the game"),
        sa.Column(
            "version", sa.Text(), nullable=False, comment="Digest of the ruleset's data; a ruling names it"
        ),
        sa.Column(
            "presets",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="The default reading of every contested point, by point",
        ),
        sa.PrimaryKeyConstraint("code", name=op.f("ruleset_pkey")),
        comment="A game whose rules Sightline knows",
    )
    op.create_table(
        "schema_state",
        sa.Column("single", sa.Boolean(), nullable=False, comment="Always true: there is one row"),
        sa.Column("verbs", sa.Text(), nullable=False, comment="SHA-256 over sql/"),
        sa.Column("rulesets", sa.Text(), nullable=False, comment="SHA-256 over the rulesets' data files"),
        sa.Column(
            "upgraded_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="When the last upgrade finished",
        ),
        sa.CheckConstraint("single", name=op.f("schema_state_one_row_check")),
        sa.PrimaryKeyConstraint("single", name=op.f("schema_state_pkey")),
        comment="One row: the digests of the functions and ruleset data that were applied last",
    )
    op.create_table(
        "chart",
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("code", sa.Text(), nullable=False, comment="Name of the chart in snake case"),
        sa.Column("title", sa.Text(), nullable=False, comment="Its printed name"),
        sa.Column("rule", sa.Text(), nullable=False, comment="The rule that refers to it"),
        sa.Column(
            "printed",
            sa.Boolean(),
            nullable=False,
            comment="False: its owner must import it from the player aid",
        ),
        sa.Column("note", sa.Text(), server_default="", nullable=False, comment="What is known of it"),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("chart_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ruleset", "code", name=op.f("chart_pkey")),
        comment="Charts a rulebook mentions, printed or not",
    )
    op.create_table(
        "contested_point",
        sa.Column("id", sa.Text(), nullable=False, comment="For example css-12"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("n", sa.Integer(), nullable=False, comment="Its number within the game"),
        sa.Column("title", sa.Text(), nullable=False, comment="What it is about"),
        sa.Column(
            "severity",
            sa.Text(),
            nullable=False,
            comment="high: changes a number; medium: legality; low: wording",
        ),
        sa.Column("cites", postgresql.ARRAY(sa.Text()), nullable=False, comment="The rules that disagree"),
        sa.Column("preset", sa.Text(), nullable=False, comment="The reading used where no policy chooses"),
        sa.Column("why", sa.Text(), nullable=False, comment="Why that reading is the default"),
        sa.Column(
            "affects", postgresql.ARRAY(sa.Text()), nullable=False, comment="Question kinds it may decide"
        ),
        sa.CheckConstraint(
            "severity in ('high', 'medium', 'low')", name=op.f("contested_point_severity_check")
        ),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("contested_point_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("contested_point_pkey")),
        comment="Points where a rulebook contradicts itself or leaves a gap",
    )
    op.create_table(
        "hexside_kind",
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("code", sa.Text(), nullable=False, comment="The rulebook's heading in snake case"),
        sa.Column("title", sa.Text(), nullable=False, comment="The rulebook's heading"),
        sa.Column("rule", sa.Text(), nullable=False, comment="Number of the rule that describes it"),
        sa.Column(
            "sight",
            sa.Text(),
            nullable=True,
            comment="open, hinders, blocks_at_second or blocks; null where the rulebook does not say",
        ),
        sa.Column("sight_rule", sa.Text(), nullable=True, comment="Number of the rule that says so"),
        sa.Column(
            "note", sa.Text(), server_default="", nullable=False, comment="What the numbers cannot say"
        ),
        sa.CheckConstraint(
            "sight in ('open', 'hinders', 'blocks_at_second', 'blocks')",
            name=op.f("hexside_kind_sight_check"),
        ),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("hexside_kind_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ruleset", "code", name=op.f("hexside_kind_pkey")),
        comment="Kinds of hexside of a game",
    )
    op.create_table(
        "path_kind",
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("code", sa.Text(), nullable=False, comment="The rulebook's heading in snake case"),
        sa.Column("title", sa.Text(), nullable=False, comment="The rulebook's heading"),
        sa.Column("rule", sa.Text(), nullable=False, comment="Number of the rule that describes it"),
        sa.Column(
            "sight",
            sa.Text(),
            nullable=True,
            comment="open, hinders, blocks_at_second or blocks; null where the rulebook does not say",
        ),
        sa.Column("sight_rule", sa.Text(), nullable=True, comment="Number of the rule that says so"),
        sa.Column(
            "note", sa.Text(), server_default="", nullable=False, comment="What the numbers cannot say"
        ),
        sa.CheckConstraint(
            "sight in ('open', 'hinders', 'blocks_at_second', 'blocks')", name=op.f("path_kind_sight_check")
        ),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("path_kind_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ruleset", "code", name=op.f("path_kind_pkey")),
        comment="Kinds of path of a game",
    )
    op.create_table(
        "terrain",
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("code", sa.Text(), nullable=False, comment="The rulebook's heading in snake case"),
        sa.Column("title", sa.Text(), nullable=False, comment="The rulebook's heading"),
        sa.Column("rule", sa.Text(), nullable=False, comment="Number of the rule that describes it"),
        sa.Column(
            "sight",
            sa.Text(),
            nullable=True,
            comment="open, hinders, blocks_at_second or blocks; null where the rulebook does not say",
        ),
        sa.Column("sight_rule", sa.Text(), nullable=True, comment="Number of the rule that says so"),
        sa.Column(
            "note", sa.Text(), server_default="", nullable=False, comment="What the numbers cannot say"
        ),
        sa.CheckConstraint(
            "sight in ('open', 'hinders', 'blocks_at_second', 'blocks')", name=op.f("terrain_sight_check")
        ),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("terrain_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("ruleset", "code", name=op.f("terrain_pkey")),
        comment="Kinds of terrain of a game",
    )
    op.create_table(
        "terrain_effect",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("feature", sa.Text(), nullable=False, comment="terrain, hexside or path"),
        sa.Column("code", sa.Text(), nullable=False, comment="Which kind of it"),
        sa.Column(
            "aspect", sa.Text(), nullable=False, comment="cost, defense, cover, hindrance, height, fire, …"
        ),
        sa.Column("mobility", sa.Text(), nullable=True, comment="For a cost: of which mobility"),
        sa.Column("halves", sa.Integer(), nullable=True, comment="The number, doubled, so that ½ is 1"),
        sa.Column("word", sa.Text(), nullable=True, comment="prohibited, or all movement points"),
        sa.Column("condition", sa.Text(), nullable=True, comment="When it holds, in our words; null: always"),
        sa.Column("rule", sa.Text(), nullable=False, comment="Number of the rule that prints it"),
        sa.CheckConstraint(
            "aspect in ('cost', 'defense', 'cover', 'hindrance', 'height', 'fire', 'strength', 'assault')",
            name=op.f("terrain_effect_aspect_check"),
        ),
        sa.CheckConstraint(
            "feature in ('terrain', 'hexside', 'path')", name=op.f("terrain_effect_feature_check")
        ),
        sa.CheckConstraint("word in ('prohibited', 'all')", name=op.f("terrain_effect_word_check")),
        sa.CheckConstraint(
            "(halves is null) = (word is not null)", name=op.f("terrain_effect_number_or_word_check")
        ),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("terrain_effect_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("terrain_effect_pkey")),
        comment="Every number a rulebook prints about terrain, hexsides and paths, with its rule",
    )
    op.create_index(
        op.f("terrain_effect_ruleset_feature_code_aspect_mobility_idx"),
        "terrain_effect",
        ["ruleset", "feature", "code", "aspect", "mobility"],
        unique=False,
    )
    op.create_table(
        "reading",
        sa.Column("point", sa.Text(), nullable=False, comment="The point"),
        sa.Column("letter", sa.Text(), nullable=False, comment="a, b, …"),
        sa.Column("title", sa.Text(), nullable=False, comment="Short name"),
        sa.Column("effect", sa.Text(), nullable=False, comment="What to do under this reading"),
        sa.ForeignKeyConstraint(
            ["point"], ["contested_point.id"], name=op.f("reading_point_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("point", "letter", name=op.f("reading_pkey")),
        comment="The named readings of contested points",
    )
