"""Record campaigns on real ground."""

from collections.abc import Sequence

import geoalchemy2
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "campaign",
        sa.Column(
            "name", sa.Text(), nullable=False, comment="Short name, part of its address; never changes"
        ),
        sa.Column("title", sa.Text(), server_default="", nullable=False, comment="Name for people"),
        sa.Column("note", sa.Text(), server_default="", nullable=False, comment="What it covers, remarks"),
        sa.Column("span", postgresql.TSTZRANGE(), nullable=False, comment="From when to when"),
        sa.Column(
            "zone",
            sa.Text(),
            server_default="+00:00",
            nullable=False,
            comment="Offset from UTC in which its times are told",
        ),
        sa.Column(
            "map_id", sa.BigInteger(), nullable=True, comment="The map whose hexes its places are told by"
        ),
        sa.Column(
            "coast",
            sa.Text(),
            nullable=True,
            comment="The coastline it is drawn on, by its name in db/coasts",
        ),
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row: one version"
        ),
        sa.Column(
            "known",
            postgresql.TSTZRANGE(),
            server_default=sa.text("tstzrange(clock_timestamp(), null)"),
            nullable=False,
            comment="From when to when it stood so here; without an end: today",
        ),
        sa.Column("writer", sa.Text(), server_default="", nullable=False, comment="Who wrote this version"),
        sa.Column(
            "why", sa.Text(), server_default="", nullable=False, comment="Why it was written so, if told"
        ),
        sa.Column("ended_by", sa.Text(), nullable=True, comment="Who wrote the next version, or removed it"),
        postgresql.ExcludeConstraint(
            (sa.column("name"), "="), (sa.column("known"), "&&"), using="gist", name="campaign_version_excl"
        ),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name=op.f("campaign_name_check")),
        sa.CheckConstraint("zone ~ '^[+-][0-9]{2}:[0-9]{2}$'", name=op.f("campaign_zone_check")),
        sa.ForeignKeyConstraint(
            ["map_id"], ["map.id"], name=op.f("campaign_map_id_fkey"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("campaign_pkey")),
        comment="Campaigns that are recorded; the row without an end of known is today's version",
    )
    op.create_table(
        "account",
        sa.Column("author", sa.Text(), server_default="", nullable=False, comment="Who wrote it"),
        sa.Column("title", sa.Text(), nullable=False, comment="What it is called"),
        sa.Column("year", sa.Integer(), nullable=True, comment="When it appeared"),
        sa.Column("publisher", sa.Text(), server_default="", nullable=False, comment="Who brought it out"),
        sa.Column(
            "kind", sa.Text(), server_default="book", nullable=False, comment="What sort of source it is"
        ),
        sa.Column(
            "reliability",
            sa.Text(),
            server_default="unknown",
            nullable=False,
            comment="How far it is trusted",
        ),
        sa.Column("url", sa.Text(), server_default="", nullable=False, comment="Where it can be read"),
        sa.Column("note", sa.Text(), server_default="", nullable=False, comment="Remarks"),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False, comment="The campaign"),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="What it is called in files and addresses; never changes",
        ),
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row: one version"
        ),
        sa.Column(
            "known",
            postgresql.TSTZRANGE(),
            server_default=sa.text("tstzrange(clock_timestamp(), null)"),
            nullable=False,
            comment="From when to when it stood so here; without an end: today",
        ),
        sa.Column("writer", sa.Text(), server_default="", nullable=False, comment="Who wrote this version"),
        sa.Column(
            "why", sa.Text(), server_default="", nullable=False, comment="Why it was written so, if told"
        ),
        sa.Column("ended_by", sa.Text(), nullable=True, comment="Who wrote the next version, or removed it"),
        postgresql.ExcludeConstraint(
            (sa.column("campaign_id"), "="),
            (sa.column("key"), "="),
            (sa.column("known"), "&&"),
            using="gist",
            name="account_version_excl",
        ),
        sa.CheckConstraint("key ~ '^[A-Za-z0-9][A-Za-z0-9_./@+:-]*$'", name=op.f("account_key_check")),
        sa.CheckConstraint(
            "kind in ('rulebook', 'official_history', 'report', 'diary', 'memoir', 'book', 'article', 'map', 'photograph', 'website', 'other')",
            name=op.f("account_kind_check"),
        ),
        sa.CheckConstraint(
            "reliability in ('high', 'fair', 'low', 'unknown')", name=op.f("account_reliability_check")
        ),
        sa.CheckConstraint("not isempty(known)", name=op.f("account_known_check")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("account_campaign_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("account_pkey")),
        comment="Accounts: the sources of a campaign, with what is thought of them",
    )
    op.create_table(
        "entry",
        sa.Column(
            "kind", sa.Text(), server_default="note", nullable=False, comment="Landing, attack, capture …"
        ),
        sa.Column("title", sa.Text(), nullable=False, comment="In a few words"),
        sa.Column(
            "text", sa.Text(), server_default="", nullable=False, comment="What happened, in words of our own"
        ),
        sa.Column(
            "event",
            sa.Text(),
            nullable=True,
            comment="Names what happened where several accounts tell of it: their entries share this word",
        ),
        sa.Column("certainty", sa.Text(), server_default="certain", nullable=False, comment="How sure it is"),
        sa.Column("account", sa.Text(), nullable=False, comment="Key of the account that tells it"),
        sa.Column(
            "page", sa.Text(), server_default="", nullable=False, comment="Page, rule or line in that account"
        ),
        sa.Column(
            "involved",
            postgresql.JSONB(),
            server_default="[]",
            nullable=False,
            comment="Forces: force, role, strength and losses as [least, most], in the order told",
        ),
        sa.Column(
            "forces",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Keys of the forces involved; written by trigger",
        ),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False, comment="The campaign"),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="What it is called in files and addresses; never changes",
        ),
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row: one version"
        ),
        sa.Column(
            "known",
            postgresql.TSTZRANGE(),
            server_default=sa.text("tstzrange(clock_timestamp(), null)"),
            nullable=False,
            comment="From when to when it stood so here; without an end: today",
        ),
        sa.Column("writer", sa.Text(), server_default="", nullable=False, comment="Who wrote this version"),
        sa.Column(
            "why", sa.Text(), server_default="", nullable=False, comment="Why it was written so, if told"
        ),
        sa.Column("ended_by", sa.Text(), nullable=True, comment="Who wrote the next version, or removed it"),
        sa.Column(
            "during", postgresql.TSTZRANGE(), nullable=False, comment="When it was so; an end may be open"
        ),
        sa.Column(
            "precision",
            sa.Text(),
            server_default="minute",
            nullable=False,
            comment="How finely the time is told: minute, hour, day, month or year",
        ),
        sa.Column(
            "about",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether the time is only about so",
        ),
        sa.Column(
            "hex", sa.Text(), nullable=True, comment="The hex of the campaign's map, where it is told by one"
        ),
        sa.Column(
            "geom",
            geoalchemy2.Geometry("GEOMETRY", srid=4326, spatial_index=False),
            nullable=True,
            comment="Point, line or area in longitude and latitude",
        ),
        sa.Column("uncertainty", sa.Integer(), nullable=True, comment="Metres by which the place may be off"),
        sa.Column("place", sa.Text(), server_default="", nullable=False, comment="What the place is called"),
        postgresql.ExcludeConstraint(
            (sa.column("campaign_id"), "="),
            (sa.column("key"), "="),
            (sa.column("known"), "&&"),
            using="gist",
            name="entry_version_excl",
        ),
        sa.CheckConstraint(
            "certainty in ('certain', 'likely', 'possible', 'doubtful')", name=op.f("entry_certainty_check")
        ),
        sa.CheckConstraint("jsonb_typeof(involved) = 'array'", name=op.f("entry_involved_check")),
        sa.CheckConstraint("key ~ '^[A-Za-z0-9][A-Za-z0-9_./@+:-]*$'", name=op.f("entry_key_check")),
        sa.CheckConstraint(
            "kind in ('landing', 'attack', 'counterattack', 'bombardment', 'movement', 'defence', 'withdrawal', 'capture', 'loss', 'arrival', 'order', 'surrender', 'award', 'weather', 'note')",
            name=op.f("entry_kind_check"),
        ),
        sa.CheckConstraint(
            "precision in ('minute', 'hour', 'day', 'month', 'year')", name=op.f("entry_precision_check")
        ),
        sa.CheckConstraint("not isempty(during)", name=op.f("entry_during_check")),
        sa.CheckConstraint("not isempty(known)", name=op.f("entry_known_check")),
        sa.CheckConstraint("uncertainty >= 0", name=op.f("entry_uncertainty_check")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("entry_campaign_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("entry_pkey")),
        comment="Entries: what happened, when, where, to whom, by which account",
    )
    op.create_index(
        "entry_campaign_id_during_geom_idx",
        "entry",
        ["campaign_id", "during", "geom"],
        unique=False,
        postgresql_using="gist",
    )
    op.create_index(
        "entry_today_idx", "entry", ["campaign_id", "id"], postgresql_where=sa.text("upper_inf(known)")
    )
    op.create_index("entry_event_idx", "entry", ["campaign_id", "event"], unique=False)
    op.create_index("entry_forces_idx", "entry", ["forces"], unique=False, postgresql_using="gin")
    op.create_table(
        "force",
        sa.Column("name", sa.Text(), nullable=False, comment="Its full name"),
        sa.Column("side", sa.Text(), nullable=False, comment="Whose it is: us, japan, …"),
        sa.Column(
            "kind",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="Corps, division, company, person, ship …",
        ),
        sa.Column(
            "counters",
            postgresql.JSONB(),
            server_default="{}",
            nullable=False,
            comment="By ruleset: the counter that stands for it in a position",
        ),
        sa.Column("note", sa.Text(), server_default="", nullable=False, comment="Remarks"),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False, comment="The campaign"),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="What it is called in files and addresses; never changes",
        ),
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row: one version"
        ),
        sa.Column(
            "known",
            postgresql.TSTZRANGE(),
            server_default=sa.text("tstzrange(clock_timestamp(), null)"),
            nullable=False,
            comment="From when to when it stood so here; without an end: today",
        ),
        sa.Column("writer", sa.Text(), server_default="", nullable=False, comment="Who wrote this version"),
        sa.Column(
            "why", sa.Text(), server_default="", nullable=False, comment="Why it was written so, if told"
        ),
        sa.Column("ended_by", sa.Text(), nullable=True, comment="Who wrote the next version, or removed it"),
        postgresql.ExcludeConstraint(
            (sa.column("campaign_id"), "="),
            (sa.column("key"), "="),
            (sa.column("known"), "&&"),
            using="gist",
            name="force_version_excl",
        ),
        sa.CheckConstraint("key ~ '^[A-Za-z0-9][A-Za-z0-9_./@+:-]*$'", name=op.f("force_key_check")),
        sa.CheckConstraint("not isempty(known)", name=op.f("force_known_check")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("force_campaign_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("force_pkey")),
        comment="Forces: whoever takes part in a campaign",
    )
    op.create_table(
        "stance",
        sa.Column("force", sa.Text(), nullable=False, comment="Key of the force"),
        sa.Column(
            "state",
            sa.Text(),
            server_default="",
            nullable=False,
            comment="In line, in reserve, afloat, destroyed …",
        ),
        sa.Column("strength", postgresql.INT4RANGE(), nullable=True, comment="Men, at least and at most"),
        sa.Column("account", sa.Text(), nullable=False, comment="Key of the account that tells it"),
        sa.Column(
            "page", sa.Text(), server_default="", nullable=False, comment="Page, rule or line in that account"
        ),
        sa.Column("note", sa.Text(), server_default="", nullable=False, comment="Remarks"),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False, comment="The campaign"),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="What it is called in files and addresses; never changes",
        ),
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row: one version"
        ),
        sa.Column(
            "known",
            postgresql.TSTZRANGE(),
            server_default=sa.text("tstzrange(clock_timestamp(), null)"),
            nullable=False,
            comment="From when to when it stood so here; without an end: today",
        ),
        sa.Column("writer", sa.Text(), server_default="", nullable=False, comment="Who wrote this version"),
        sa.Column(
            "why", sa.Text(), server_default="", nullable=False, comment="Why it was written so, if told"
        ),
        sa.Column("ended_by", sa.Text(), nullable=True, comment="Who wrote the next version, or removed it"),
        sa.Column(
            "during", postgresql.TSTZRANGE(), nullable=False, comment="When it was so; an end may be open"
        ),
        sa.Column(
            "precision",
            sa.Text(),
            server_default="minute",
            nullable=False,
            comment="How finely the time is told: minute, hour, day, month or year",
        ),
        sa.Column(
            "about",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether the time is only about so",
        ),
        sa.Column(
            "hex", sa.Text(), nullable=True, comment="The hex of the campaign's map, where it is told by one"
        ),
        sa.Column(
            "geom",
            geoalchemy2.Geometry("GEOMETRY", srid=4326, spatial_index=False),
            nullable=True,
            comment="Point, line or area in longitude and latitude",
        ),
        sa.Column("uncertainty", sa.Integer(), nullable=True, comment="Metres by which the place may be off"),
        sa.Column("place", sa.Text(), server_default="", nullable=False, comment="What the place is called"),
        postgresql.ExcludeConstraint(
            (sa.column("campaign_id"), "="),
            (sa.column("force"), "="),
            (sa.column("account"), "="),
            (sa.column("during"), "&&"),
            (sa.column("known"), "&&"),
            using="gist",
            name="stance_one_place_excl",
        ),
        postgresql.ExcludeConstraint(
            (sa.column("campaign_id"), "="),
            (sa.column("key"), "="),
            (sa.column("known"), "&&"),
            using="gist",
            name="stance_version_excl",
        ),
        sa.CheckConstraint("key ~ '^[A-Za-z0-9][A-Za-z0-9_./@+:-]*$'", name=op.f("stance_key_check")),
        sa.CheckConstraint(
            "precision in ('minute', 'hour', 'day', 'month', 'year')", name=op.f("stance_precision_check")
        ),
        sa.CheckConstraint("not isempty(during)", name=op.f("stance_during_check")),
        sa.CheckConstraint("not isempty(known)", name=op.f("stance_known_check")),
        sa.CheckConstraint("uncertainty >= 0", name=op.f("stance_uncertainty_check")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("stance_campaign_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("stance_pkey")),
        comment="Stances: where a force was and in what state; by one account, one place at a time",
    )
    op.create_index(
        "stance_campaign_id_during_geom_idx",
        "stance",
        ["campaign_id", "during", "geom"],
        unique=False,
        postgresql_using="gist",
    )
    op.create_table(
        "subordination",
        sa.Column("force", sa.Text(), nullable=False, comment="Key of the force"),
        sa.Column("superior", sa.Text(), nullable=False, comment="Key of the force it stood under"),
        sa.Column("account", sa.Text(), nullable=False, comment="Key of the account that tells it"),
        sa.Column("page", sa.Text(), server_default="", nullable=False, comment="Where in that account"),
        sa.Column(
            "during", postgresql.TSTZRANGE(), nullable=False, comment="When it was so; an end may be open"
        ),
        sa.Column(
            "precision",
            sa.Text(),
            server_default="day",
            nullable=False,
            comment="How finely the time is told",
        ),
        sa.Column(
            "about",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Whether the time is only about so",
        ),
        sa.Column("campaign_id", sa.BigInteger(), nullable=False, comment="The campaign"),
        sa.Column(
            "key",
            sa.Text(),
            nullable=False,
            comment="What it is called in files and addresses; never changes",
        ),
        sa.Column(
            "id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row: one version"
        ),
        sa.Column(
            "known",
            postgresql.TSTZRANGE(),
            server_default=sa.text("tstzrange(clock_timestamp(), null)"),
            nullable=False,
            comment="From when to when it stood so here; without an end: today",
        ),
        sa.Column("writer", sa.Text(), server_default="", nullable=False, comment="Who wrote this version"),
        sa.Column(
            "why", sa.Text(), server_default="", nullable=False, comment="Why it was written so, if told"
        ),
        sa.Column("ended_by", sa.Text(), nullable=True, comment="Who wrote the next version, or removed it"),
        postgresql.ExcludeConstraint(
            (sa.column("campaign_id"), "="),
            (sa.column("force"), "="),
            (sa.column("account"), "="),
            (sa.column("during"), "&&"),
            (sa.column("known"), "&&"),
            using="gist",
            name="subordination_one_superior_excl",
        ),
        postgresql.ExcludeConstraint(
            (sa.column("campaign_id"), "="),
            (sa.column("key"), "="),
            (sa.column("known"), "&&"),
            using="gist",
            name="subordination_version_excl",
        ),
        sa.CheckConstraint("key ~ '^[A-Za-z0-9][A-Za-z0-9_./@+:-]*$'", name=op.f("subordination_key_check")),
        sa.CheckConstraint(
            "precision in ('minute', 'hour', 'day', 'month', 'year')",
            name=op.f("subordination_precision_check"),
        ),
        sa.CheckConstraint("force <> superior", name=op.f("subordination_superior_check")),
        sa.CheckConstraint("not isempty(during)", name=op.f("subordination_during_check")),
        sa.CheckConstraint("not isempty(known)", name=op.f("subordination_known_check")),
        sa.ForeignKeyConstraint(
            ["campaign_id"], ["campaign.id"], name=op.f("subordination_campaign_id_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("subordination_pkey")),
        comment="Orders of battle: under whom a force stood and when; by one account, one superior at a time",
    )
