"""Hold positions and keep rulings."""

from collections.abc import Sequence

import geoalchemy2
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "ruling",
        sa.Column("id", sa.Text(), nullable=False, comment="Digest of case, question and ruleset version"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column(
            "ruleset_version",
            sa.Text(),
            nullable=False,
            comment="Digest of rules data and functions that ruled",
        ),
        sa.Column("kind", sa.Text(), nullable=False, comment="Question kind"),
        sa.Column("case_id", sa.Text(), nullable=False, comment="Id of the case file"),
        sa.Column("title", sa.Text(), server_default="", nullable=False, comment="Title of the case file"),
        sa.Column(
            "document",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="The whole case, so that it can be asked again",
        ),
        sa.Column(
            "position_digest",
            sa.Text(),
            nullable=False,
            comment="SHA-256 of map, units, markers and conditions",
        ),
        sa.Column(
            "question", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="The question asked"
        ),
        sa.Column("answer", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="The verdict"),
        sa.Column(
            "steps",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="Every rule applied, in order",
        ),
        sa.Column(
            "contested",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="Contested points touched",
        ),
        sa.Column(
            "policy", postgresql.JSONB(astext_type=sa.Text()), nullable=False, comment="Readings chosen"
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="First asked when",
        ),
        sa.ForeignKeyConstraint(["ruleset"], ["ruleset.code"], name=op.f("ruling_ruleset_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("ruling_pkey")),
        comment="Kept rulings: immutable, addressed by a digest of what was asked",
    )
    op.create_index(op.f("ruling_ruleset_kind_idx"), "ruling", ["ruleset", "kind"], unique=False)
    op.create_index(op.f("ruling_steps_idx"), "ruling", ["steps"], unique=False, postgresql_using="gin")
    op.create_table(
        "position",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("name", sa.Text(), nullable=True, comment="Short name; null for a passing case"),
        sa.Column("title", sa.Text(), server_default="", nullable=False, comment="Name for people"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game"),
        sa.Column(
            "conditions",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Weather, time, …",
        ),
        sa.Column(
            "policy",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="Readings chosen for contested points, by point",
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Made when",
        ),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name=op.f("position_name_check")),
        sa.ForeignKeyConstraint(
            ["map_id", "ruleset"],
            ["map.id", "map.ruleset"],
            name=op.f("position_map_id_ruleset_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("position_pkey")),
        sa.UniqueConstraint("id", "map_id", name=op.f("position_id_map_id_key")),
        sa.UniqueConstraint("name", name=op.f("position_name_key")),
        comment="A state of play: a map, conditions, chosen readings, units and markers",
    )
    op.create_index(op.f("position_map_id_idx"), "position", ["map_id"], unique=False)
    op.create_table(
        "marker",
        sa.Column("kind", sa.Text(), nullable=False, comment="dg, smoke, foxhole, …"),
        sa.Column("value", sa.Integer(), nullable=True, comment="Its number, where it has one"),
        sa.Column("facing", sa.SmallInteger(), nullable=True, comment="Direction 1 to 6, where it has one"),
        sa.Column(
            "attributes",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What else it says",
        ),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("position_id", sa.BigInteger(), nullable=False, comment="The position"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The position's map"),
        sa.Column("q", sa.Integer(), nullable=True, comment="Axial column; null off the map"),
        sa.Column("r", sa.Integer(), nullable=True, comment="Axial row; null off the map"),
        sa.CheckConstraint("(q is null) = (r is null)", name=op.f("marker_place_check")),
        sa.ForeignKeyConstraint(
            ["map_id", "q", "r"],
            ["hex.map_id", "hex.q", "hex.r"],
            name=op.f("marker_map_id_q_r_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["position_id", "map_id"],
            ["position.id", "position.map_id"],
            name=op.f("marker_position_id_map_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("marker_pkey")),
        comment="Markers: barrages, smoke, status, fortifications",
    )
    op.create_index(op.f("marker_position_id_q_r_idx"), "marker", ["position_id", "q", "r"], unique=False)
    op.create_table(
        "unit",
        sa.Column("code", sa.Text(), nullable=False, comment="Identity within the position, e.g. C/1/9"),
        sa.Column("side", sa.Text(), nullable=False, comment="us, japan, allied, …"),
        sa.Column("kind", sa.Text(), nullable=True, comment="infantry, tank, squad, …"),
        sa.Column(
            "attributes",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="The rest of the counter, checked by the ruleset's model",
        ),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("position_id", sa.BigInteger(), nullable=False, comment="The position"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The position's map"),
        sa.Column("q", sa.Integer(), nullable=True, comment="Axial column; null off the map"),
        sa.Column("r", sa.Integer(), nullable=True, comment="Axial row; null off the map"),
        sa.CheckConstraint("(q is null) = (r is null)", name=op.f("unit_place_check")),
        sa.ForeignKeyConstraint(
            ["map_id", "q", "r"],
            ["hex.map_id", "hex.q", "hex.r"],
            name=op.f("unit_map_id_q_r_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["position_id", "map_id"],
            ["position.id", "position.map_id"],
            name=op.f("unit_position_id_map_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("unit_pkey")),
        sa.UniqueConstraint("position_id", "code", name=op.f("unit_position_id_code_key")),
        comment="Units: where they stand and what their counters say",
    )
    op.create_index(op.f("unit_position_id_q_r_idx"), "unit", ["position_id", "q", "r"], unique=False)
    op.alter_column(
        "crest",
        "geom",
        existing_type=geoalchemy2.types.Geometry(
            geometry_type="LINESTRING",
            dimension=2,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
            _spatial_index_reflected=True,
        ),
        type_=geoalchemy2.types.Geometry(
            geometry_type="LINESTRING",
            srid=0,
            dimension=2,
            spatial_index=False,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
        ),
        existing_comment="Line, on the grid of 1/1024 lattice unit",
        existing_nullable=False,
    )
    op.alter_column(
        "hex",
        "geom",
        existing_type=geoalchemy2.types.Geometry(
            geometry_type="POLYGON",
            dimension=2,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
            _spatial_index_reflected=True,
        ),
        type_=geoalchemy2.types.Geometry(
            geometry_type="POLYGON",
            srid=0,
            dimension=2,
            spatial_index=False,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
        ),
        existing_comment="The hex on the lattice",
        existing_nullable=False,
        existing_server_default=sa.Computed("lattice.hex(q, r)", persisted=True),
    )
    op.alter_column(
        "hex",
        "center",
        existing_type=geoalchemy2.types.Geometry(
            geometry_type="POINT",
            dimension=2,
            spatial_index=False,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
            _spatial_index_reflected=True,
        ),
        type_=geoalchemy2.types.Geometry(
            geometry_type="POINT",
            srid=0,
            dimension=2,
            spatial_index=False,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
        ),
        existing_comment="Its centre on the lattice",
        existing_nullable=False,
        existing_server_default=sa.Computed("lattice.center(q, r)", persisted=True),
    )
    op.alter_column(
        "hexside",
        "geom",
        existing_type=geoalchemy2.types.Geometry(
            geometry_type="LINESTRING",
            dimension=2,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
            _spatial_index_reflected=True,
        ),
        type_=geoalchemy2.types.Geometry(
            geometry_type="LINESTRING",
            srid=0,
            dimension=2,
            spatial_index=False,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
        ),
        existing_comment="The side on the lattice",
        existing_nullable=False,
        existing_server_default=sa.Computed("lattice.hexside(x, y)", persisted=True),
    )
    op.alter_column(
        "path",
        "geom",
        existing_type=geoalchemy2.types.Geometry(
            geometry_type="LINESTRING",
            dimension=2,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
            _spatial_index_reflected=True,
        ),
        type_=geoalchemy2.types.Geometry(
            geometry_type="LINESTRING",
            srid=0,
            dimension=2,
            spatial_index=False,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
        ),
        existing_comment="The line through the centres",
        existing_nullable=False,
        existing_server_default=sa.Computed("lattice.chain(qs, rs)", persisted=True),
    )
    op.alter_column(
        "terrain_area",
        "geom",
        existing_type=geoalchemy2.types.Geometry(
            geometry_type="POLYGON",
            dimension=2,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
            _spatial_index_reflected=True,
        ),
        type_=geoalchemy2.types.Geometry(
            geometry_type="POLYGON",
            srid=0,
            dimension=2,
            spatial_index=False,
            from_text="ST_GeomFromEWKT",
            name="geometry",
            nullable=False,
        ),
        existing_comment="Outline, on the grid of 1/1024 lattice unit",
        existing_nullable=False,
    )
