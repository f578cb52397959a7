"""Let errata speak, and choose an edition."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0011"
down_revision: str | None = "0010"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    _errata()
    _words_of_charts()
    op.add_column(
        "ruling",
        sa.Column(
            "errata",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="Errata and house rules on the rules applied, as they stood",
        ),
    )
    op.add_column(
        "rulebook",
        sa.Column(
            "chosen",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether its text is the one shown; of none chosen, the newest import",
        ),
    )
    op.create_index(
        "ix_rulebook_chosen", "rulebook", ["ruleset"], unique=True, postgresql_where=sa.text("chosen")
    )
    op.add_column(
        "chart",
        sa.Column(
            "place",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Where it stands, if not among the numbered rules: back cover, map, card",
        ),
    )
    op.add_column(
        "chart_cell",
        sa.Column(
            "example",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether it is read off a worked example of that rule",
        ),
    )
    op.alter_column(
        "terrain_effect",
        "feature",
        existing_type=sa.Text(),
        existing_nullable=False,
        comment="terrain, hexside, path or overlay",
        existing_comment="terrain, hexside or path",
    )
    op.drop_constraint(op.f("terrain_effect_feature_check"), "terrain_effect", type_="check")
    op.create_check_constraint(
        op.f("terrain_effect_feature_check"),
        "terrain_effect",
        "feature in ('terrain', 'hexside', 'path', 'overlay')",
    )


def _words_of_charts() -> None:
    op.add_column(
        "rule",
        sa.Column(
            "asked",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What players say when they look for it",
        ),
    )
    op.add_column(
        "concept",
        sa.Column(
            "nearest",
            postgresql.JSONB(),
            server_default="{}",
            nullable=False,
            comment="Of games that do not have it: the rules that come nearest",
        ),
    )
    op.add_column(
        "synonym",
        sa.Column("rule_id", sa.BigInteger(), comment="The rule that players ask for so, if one"),
    )
    op.create_foreign_key(
        op.f("synonym_rule_id_fkey"), "synonym", "rule", ["rule_id"], ["id"], ondelete="CASCADE"
    )
    op.create_index(op.f("synonym_rule_id_idx"), "synonym", ["rule_id"])
    op.drop_constraint(op.f("synonym_of_one_thing_check"), "synonym", type_="check")
    op.create_check_constraint(
        op.f("synonym_of_one_thing_check"),
        "synonym",
        "num_nonnulls(term_id, concept, word_group, rule_id) = 1",
    )
    op.add_column(
        "rule",
        sa.Column(
            "chart_words",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Words of the charts that stand at it, for searching",
        ),
    )
    # what is generated cannot be altered; its index goes with it, and functions are made anew after every upgrade
    op.execute("alter table rule drop column document cascade")
    op.add_column(
        "rule",
        sa.Column(
            "document",
            postgresql.TSVECTOR(),
            sa.Computed(
                "setweight(to_tsvector('public.sightline', title), 'A')"
                " || setweight(to_tsvector('public.sightline', digest), 'B')"
                " || setweight(to_tsvector('public.sightline', chart_words), 'C')",
                persisted=True,
            ),
            nullable=False,
            comment="Title (weight A), digest (B) and charts (C), for searching",
        ),
    )
    op.create_index(op.f("rule_document_idx"), "rule", ["document"], postgresql_using="gin")


def _errata() -> None:
    for column in (
        sa.Column("clause", sa.Text(), comment="The lettered item that it changes; null: the rule"),
        sa.Column("point", sa.Text(), comment="The contested point that a house rule settles"),
        sa.Column("reading", sa.Text(), comment="The reading that it chooses"),
        sa.Column(
            "withdrawn_at",
            sa.DateTime(timezone=True),
            comment="Withdrawn when; null: it was not. A withdrawn one holds on no day",
        ),
        sa.Column("withdrawn_why", sa.Text(), comment="Why it was withdrawn"),
    ):
        op.add_column("erratum", column)
    for name, check in (
        ("clause", "clause ~ '^[a-z]$'"),
        ("reading_of_a_point", "(point is null) = (reading is null)"),
        ("a_house_chooses", "point is null or kind = 'house_rule'"),
    ):
        op.create_check_constraint(op.f(f"erratum_{name}_check"), "erratum", check)
    # what was entered twice before stays, once in force
    op.execute("""
        update erratum set withdrawn_at = now(), withdrawn_why = 'entered twice'
        where exists (
          select from erratum as first
          where first.id < erratum.id and first.rule_id = erratum.rule_id
            and first.kind = erratum.kind and first.effect = erratum.effect
        )
    """)
    op.create_index(
        "ix_erratum_once",
        "erratum",
        ["rule_id", "clause", "kind", sa.text("md5(effect)")],
        unique=True,
        postgresql_where=sa.text("withdrawn_at is null"),
        postgresql_nulls_not_distinct=True,
    )
    op.create_table(
        "erratum_version",
        sa.Column("erratum_id", sa.BigInteger(), nullable=False, comment="The erratum"),
        sa.Column("n", sa.Integer(), nullable=False, comment="1 is the first wording"),
        sa.Column("clause", sa.Text(), comment="The lettered item that it changed"),
        sa.Column("since", sa.Date(), nullable=False, comment="First day on which it held"),
        sa.Column("ends", sa.Date(), comment="First day on which it no longer held"),
        sa.Column("source", sa.Text(), nullable=False, comment="Who said so"),
        sa.Column("effect", sa.Text(), nullable=False, comment="What changed"),
        sa.Column("point", sa.Text(), comment="The contested point that it settled"),
        sa.Column("reading", sa.Text(), comment="The reading that it chose"),
        sa.Column(
            "replaced_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Edited when",
        ),
        sa.ForeignKeyConstraint(
            ["erratum_id"], ["erratum.id"], name=op.f("erratum_version_erratum_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("erratum_id", "n", name=op.f("erratum_version_pkey")),
        comment="Earlier wordings of errata and house rules, each with when it was replaced",
    )
