"""Hold the rules and find them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    # Generated columns stand on this configuration, so it lives beside the tables, not with the verbs.
    op.execute("create text search configuration public.sightline (copy = pg_catalog.english)")
    op.execute(
        "alter text search configuration public.sightline"
        " alter mapping for hword, hword_part, word with public.unaccent, pg_catalog.english_stem"
    )
    op.execute(
        "comment on text search configuration public.sightline is"
        " 'English stems, accents taken off: the words of the rules reference'"
    )
    op.create_table(
        "concept",
        sa.Column("code", sa.Text(), nullable=False, comment="Its name in snake case, e.g. line_of_sight"),
        sa.Column("n", sa.Integer(), nullable=False, comment="Order in the list"),
        sa.Column("title", sa.Text(), nullable=False, comment="Its name"),
        sa.Column("aliases", postgresql.ARRAY(sa.Text()), nullable=False, comment="Other words for it"),
        sa.Column("comparison", sa.Text(), nullable=False, comment="How the games differ"),
        sa.PrimaryKeyConstraint("code", name=op.f("concept_pkey")),
        comment="Things that several games treat, compared in our own words",
    )
    op.create_table(
        "word",
        sa.Column("word", sa.Text(), nullable=False, comment="The word, in lower case"),
        sa.Column("stem", sa.Text(), nullable=False, comment="Its stem"),
        sa.Column("rules", sa.Integer(), nullable=False, comment="How many rules have the stem"),
        sa.PrimaryKeyConstraint("word", name=op.f("word_pkey")),
        comment="The vocabulary of the reference: for typing mistakes and beginnings of words",
    )
    op.create_index(
        "word_beginning_idx", "word", ["word"], unique=False, postgresql_ops={"word": "text_pattern_ops"}
    )
    op.create_index(op.f("word_stem_idx"), "word", ["stem"], unique=False)
    op.create_index(
        op.f("word_word_idx"),
        "word",
        ["word"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"word": "gin_trgm_ops"},
    )
    op.create_table(
        "rule",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("number", sa.Text(), nullable=False, comment="Its number, e.g. 7.1.2 or T89.4.1"),
        sa.Column(
            "path",
            postgresql.ARRAY(sa.Integer()),
            nullable=False,
            comment="Its place in the tree: sorts naturally, begins with its parent's",
        ),
        sa.Column("parent_id", sa.BigInteger(), nullable=True, comment="The rule it stands under"),
        sa.Column(
            "kind", sa.Text(), server_default="rule", nullable=False, comment="rule, section or unused"
        ),
        sa.Column("title", sa.Text(), nullable=False, comment="Its heading"),
        sa.Column(
            "digest",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="What it says, in our words; empty where only an edition has it",
        ),
        sa.Column(
            "heading",
            postgresql.TSVECTOR(),
            sa.Computed("to_tsvector('public.sightline', title)", persisted=True),
            nullable=False,
            comment="The words of the title",
        ),
        sa.Column(
            "document",
            postgresql.TSVECTOR(),
            sa.Computed(
                "setweight(to_tsvector('public.sightline', title), 'A') || setweight(to_tsvector('public.sightline', digest), 'B')",
                persisted=True,
            ),
            nullable=False,
            comment="Title (weight A) and digest (B), for searching",
        ),
        sa.CheckConstraint("kind in ('rule', 'section', 'unused')", name=op.f("rule_kind_check")),
        sa.ForeignKeyConstraint(
            ["parent_id"], ["rule.id"], name=op.f("rule_parent_id_fkey"), ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("rule_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("rule_pkey")),
        sa.UniqueConstraint("ruleset", "number", name=op.f("rule_ruleset_number_key")),
        comment="Every numbered rule, with a digest in our own words",
    )
    op.create_index(op.f("rule_document_idx"), "rule", ["document"], unique=False, postgresql_using="gin")
    op.create_index(op.f("rule_parent_id_idx"), "rule", ["parent_id"], unique=False)
    op.create_index(op.f("rule_ruleset_path_idx"), "rule", ["ruleset", "path"], unique=False)
    op.create_index(
        op.f("rule_title_idx"),
        "rule",
        ["title"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"title": "gin_trgm_ops"},
    )
    op.create_table(
        "rulebook",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column(
            "edition",
            sa.Text(),
            nullable=False,
            comment="Short name of the edition, for addresses and commands",
        ),
        sa.Column(
            "title",
            sa.Text(),
            nullable=False,
            comment="Name for people",
        ),
        sa.Column("source", sa.Text(), nullable=False, comment="SHA-256 of the imported file"),
        sa.Column(
            "figures",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="The counts that the import reported",
        ),
        sa.Column(
            "imported_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Imported when",
        ),
        sa.CheckConstraint("edition ~ '^[a-z0-9][a-z0-9._-]*$'", name=op.f("rulebook_edition_check")),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("rulebook_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("rulebook_pkey")),
        sa.UniqueConstraint("ruleset", "edition", name=op.f("rulebook_ruleset_edition_key")),
        comment="Rulebooks that their owner imported, one row for each edition",
    )
    op.create_table(
        "concept_rule",
        sa.Column("concept", sa.Text(), nullable=False, comment="The concept"),
        sa.Column("rule_id", sa.BigInteger(), nullable=False, comment="The rule"),
        sa.Column("n", sa.Integer(), nullable=False, comment="Order within the game: 1 is the chief rule"),
        sa.ForeignKeyConstraint(
            ["concept"], ["concept.code"], name=op.f("concept_rule_concept_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("concept_rule_rule_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("concept", "rule_id", name=op.f("concept_rule_pkey")),
        comment="The rules of each game that treat a concept, the chief one first",
    )
    op.create_index(op.f("concept_rule_rule_id_idx"), "concept_rule", ["rule_id"], unique=False)
    op.create_table(
        "edition_rule",
        sa.Column("rulebook_id", sa.BigInteger(), nullable=False, comment="The imported rulebook"),
        sa.Column("rule_id", sa.BigInteger(), nullable=False, comment="The rule"),
        sa.Column("number", sa.Text(), nullable=False, comment="Its number in this edition"),
        sa.Column("title", sa.Text(), nullable=False, comment="Its heading in this edition"),
        sa.Column("line", sa.Integer(), nullable=False, comment="Line of the file on which it begins"),
        sa.Column(
            "recovered",
            sa.Boolean(),
            nullable=False,
            comment="The file lost its heading; the contents gave it back",
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("edition_rule_rule_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["rulebook_id"], ["rulebook.id"], name=op.f("edition_rule_rulebook_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rulebook_id", "rule_id", name=op.f("edition_rule_pkey")),
        sa.UniqueConstraint("rulebook_id", "number", name=op.f("edition_rule_rulebook_id_number_key")),
        comment="The number and title of each rule in each imported edition",
    )
    op.create_index(op.f("edition_rule_rule_id_idx"), "edition_rule", ["rule_id"], unique=False)
    op.create_table(
        "erratum",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("rule_id", sa.BigInteger(), nullable=False, comment="The rule it changes"),
        sa.Column("kind", sa.Text(), nullable=False, comment="erratum or house_rule"),
        sa.Column("since", sa.Date(), nullable=False, comment="First day on which it holds"),
        sa.Column("ends", sa.Date(), nullable=True, comment="First day on which it no longer holds"),
        sa.Column("source", sa.Text(), nullable=False, comment="Who says so, and where"),
        sa.Column("effect", sa.Text(), nullable=False, comment="What changes"),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Entered when",
        ),
        sa.CheckConstraint("kind in ('erratum', 'house_rule')", name=op.f("erratum_kind_check")),
        sa.CheckConstraint("ends > since", name=op.f("erratum_ends_after_it_began_check")),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("erratum_rule_id_fkey"), ondelete="RESTRICT"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("erratum_pkey")),
        comment="Errata and house rules: what changes in a rule, from when, by whose word",
    )
    op.create_index(op.f("erratum_rule_id_since_idx"), "erratum", ["rule_id", "since"], unique=False)
    op.create_table(
        "glossary_entry",
        sa.Column("rulebook_id", sa.BigInteger(), nullable=False, comment="The imported rulebook"),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False, comment="Order in the book"),
        sa.Column("name", sa.Text(), nullable=False, comment="The word"),
        sa.Column("text", sa.Text(), nullable=False, comment="Its definition"),
        sa.Column(
            "rule_id",
            sa.BigInteger(),
            nullable=True,
            comment="The rule that holds it; null: an unnumbered glossary",
        ),
        sa.Column("line", sa.Integer(), nullable=False, comment="Line of the file"),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("glossary_entry_rule_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["rulebook_id"], ["rulebook.id"], name=op.f("glossary_entry_rulebook_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rulebook_id", "n", name=op.f("glossary_entry_pkey")),
        comment="Definitions as an imported rulebook prints them; never shipped",
    )
    op.create_index(op.f("glossary_entry_rule_id_idx"), "glossary_entry", ["rule_id"], unique=False)
    op.create_table(
        "rule_reference",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column(
            "rulebook_id", sa.BigInteger(), nullable=True, comment="Where it is printed; null: in our digest"
        ),
        sa.Column(
            "rule_id",
            sa.BigInteger(),
            nullable=True,
            comment="The rule that refers; null: a glossary without a number",
        ),
        sa.Column("printed", sa.Text(), nullable=False, comment="The number as it is printed"),
        sa.Column(
            "target_id", sa.BigInteger(), nullable=True, comment="The rule referred to; null: there is none"
        ),
        sa.Column("line", sa.Integer(), nullable=True, comment="Line of the imported file; null for our own"),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("rule_reference_rule_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["rulebook_id"], ["rulebook.id"], name=op.f("rule_reference_rulebook_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["target_id"], ["rule.id"], name=op.f("rule_reference_target_id_fkey"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("rule_reference_pkey")),
        comment="Cross references between rules; without a target they dangle",
    )
    op.create_index(op.f("rule_reference_rule_id_idx"), "rule_reference", ["rule_id"], unique=False)
    op.create_index(op.f("rule_reference_rulebook_id_idx"), "rule_reference", ["rulebook_id"], unique=False)
    op.create_index(op.f("rule_reference_target_id_idx"), "rule_reference", ["target_id"], unique=False)
    op.create_table(
        "rule_text",
        sa.Column("rulebook_id", sa.BigInteger(), nullable=False, comment="The imported rulebook"),
        sa.Column("rule_id", sa.BigInteger(), nullable=False, comment="The rule"),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False, comment="Order within the rule"),
        sa.Column("kind", sa.Text(), nullable=False, comment="text, example, note or table"),
        sa.Column("text", sa.Text(), nullable=False, comment="The passage"),
        sa.Column("first_line", sa.Integer(), nullable=False, comment="First line in the file"),
        sa.Column("last_line", sa.Integer(), nullable=False, comment="Last line in the file"),
        sa.Column(
            "document",
            postgresql.TSVECTOR(),
            sa.Computed("to_tsvector('public.sightline', text)", persisted=True),
            nullable=False,
            comment="Its words, for searching",
        ),
        sa.CheckConstraint("kind in ('text', 'example', 'note', 'table')", name=op.f("rule_text_kind_check")),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("rule_text_rule_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["rulebook_id"], ["rulebook.id"], name=op.f("rule_text_rulebook_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rulebook_id", "rule_id", "n", name=op.f("rule_text_pkey")),
        comment="The owner's imported text, passage by passage; never shipped",
    )
    op.create_index(
        op.f("rule_text_document_idx"), "rule_text", ["document"], unique=False, postgresql_using="gin"
    )
    op.create_index(op.f("rule_text_rule_id_idx"), "rule_text", ["rule_id"], unique=False)
    op.create_table(
        "term",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column("name", sa.Text(), nullable=False, comment="The word"),
        sa.Column("definition", sa.Text(), nullable=False, comment="What it means in this game"),
        sa.Column(
            "aliases", postgresql.ARRAY(sa.Text()), nullable=False, comment="Other forms and names of it"
        ),
        sa.Column(
            "rule_id", sa.BigInteger(), nullable=True, comment="Where it is defined; null: in a glossary"
        ),
        sa.ForeignKeyConstraint(["rule_id"], ["rule.id"], name=op.f("term_rule_id_fkey"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["ruleset"], ["ruleset.code"], name=op.f("term_ruleset_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("term_pkey")),
        sa.UniqueConstraint("ruleset", "name", name=op.f("term_ruleset_name_key")),
        comment="Words that a game defines, explained in our own words",
    )
    op.create_index(
        op.f("term_name_idx"),
        "term",
        ["name"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"name": "gin_trgm_ops"},
    )
    op.create_index(op.f("term_rule_id_idx"), "term", ["rule_id"], unique=False)
    op.create_table(
        "rule_term",
        sa.Column("rule_id", sa.BigInteger(), nullable=False, comment="The rule"),
        sa.Column("term_id", sa.BigInteger(), nullable=False, comment="A term its digest uses"),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["rule.id"], name=op.f("rule_term_rule_id_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["term_id"], ["term.id"], name=op.f("rule_term_term_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rule_id", "term_id", name=op.f("rule_term_pkey")),
        comment="Which terms each digest uses",
    )
    op.create_index(op.f("rule_term_term_id_idx"), "rule_term", ["term_id"], unique=False)
    op.create_table(
        "synonym",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("phrase", sa.Text(), nullable=False, comment="The name as it is written"),
        sa.Column("stems", sa.Text(), nullable=False, comment="Its stems, in order"),
        sa.Column("term_id", sa.BigInteger(), nullable=True, comment="The term, if one"),
        sa.Column("concept", sa.Text(), nullable=True, comment="The concept, if one"),
        sa.Column("word_group", sa.Integer(), nullable=True, comment="The group of everyday words, if one"),
        sa.CheckConstraint(
            "num_nonnulls(term_id, concept, word_group) = 1", name=op.f("synonym_of_one_thing_check")
        ),
        sa.ForeignKeyConstraint(
            ["concept"], ["concept.code"], name=op.f("synonym_concept_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["term_id"], ["term.id"], name=op.f("synonym_term_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("synonym_pkey")),
        comment="Names of terms and concepts and everyday words, reduced to stems, for searching",
    )
    op.create_index(op.f("synonym_concept_idx"), "synonym", ["concept"], unique=False)
    op.create_index(op.f("synonym_stems_idx"), "synonym", ["stems"], unique=False)
    op.create_index(op.f("synonym_term_id_idx"), "synonym", ["term_id"], unique=False)
