"""Hold maps and traces on one integer lattice."""

from collections.abc import Sequence

import geoalchemy2
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "trace",
        sa.Column("dq", sa.SmallInteger(), autoincrement=False, nullable=False, comment="Target q"),
        sa.Column("dr", sa.SmallInteger(), autoincrement=False, nullable=False, comment="Target r"),
        sa.Column("n", sa.SmallInteger(), autoincrement=False, nullable=False, comment="Order"),
        sa.Column("kind", sa.Text(), nullable=False, comment="hex, spine, side, touch or end"),
        sa.Column("x", sa.SmallInteger(), nullable=False, comment="Doubled q of the cell"),
        sa.Column("y", sa.SmallInteger(), nullable=False, comment="Doubled r of the cell"),
        sa.Column("q1", sa.SmallInteger(), nullable=False, comment="The hex, or the first hex of the side"),
        sa.Column("r1", sa.SmallInteger(), nullable=False, comment="The hex, or the first hex of the side"),
        sa.Column("q2", sa.SmallInteger(), nullable=False, comment="The hex, or the second hex of the side"),
        sa.Column("r2", sa.SmallInteger(), nullable=False, comment="The hex, or the second hex of the side"),
        sa.Column(
            "crossed",
            sa.Boolean(),
            nullable=False,
            comment="The line goes from one hex of the side to the other here",
        ),
        sa.Column("of_start", sa.Boolean(), nullable=False, comment="A side of the hex the line starts from"),
        sa.Column("of_target", sa.Boolean(), nullable=False, comment="A side of the hex the line goes to"),
        sa.Column(
            "enter",
            sa.Integer(),
            nullable=False,
            comment="Where the line enters the cell, in 1/den of its length",
        ),
        sa.Column("leave", sa.Integer(), nullable=False, comment="Where it leaves the cell"),
        sa.Column("den", sa.Integer(), nullable=False, comment="Common denominator of this displacement"),
        sa.CheckConstraint("kind in ('hex', 'spine', 'side', 'touch', 'end')", name=op.f("trace_kind_check")),
        sa.PrimaryKeyConstraint("dq", "dr", "n", name=op.f("trace_pkey")),
        schema="lattice",
        comment="What the line from (0, 0) to (dq, dr) passes, between its ends",
    )
    op.create_table(
        "map",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("name", sa.Text(), nullable=False, comment="Short name for addresses and commands"),
        sa.Column("title", sa.Text(), nullable=False, comment="Name for people"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The game it is for"),
        sa.Column(
            "scheme",
            postgresql.JSONB(astext_type=sa.Text()),
            nullable=False,
            comment="Label scheme, see docs/maps.md",
        ),
        sa.Column("meters_per_hex", sa.Integer(), nullable=True, comment="Scale, where known"),
        sa.Column("note", sa.Text(), server_default="", nullable=False, comment="Source, licence, remarks"),
        sa.Column("srid", sa.Integer(), nullable=True, comment="CRS of the georeference, an EPSG code"),
        sa.Column(
            "affine",
            postgresql.ARRAY(sa.Double()),
            nullable=True,
            comment="Lattice to CRS, as ST_Affine takes it: a, b, d, e, xoff, yoff",
        ),
        sa.Column(
            "control_points",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="[]",
            nullable=False,
            comment="Label, x, y and residual of each control point",
        ),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
            comment="Imported when",
        ),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name=op.f("map_name_check")),
        sa.CheckConstraint("(srid is null) = (affine is null)", name=op.f("map_georeference_check")),
        sa.CheckConstraint("cardinality(affine) = 6", name=op.f("map_affine_check")),
        sa.ForeignKeyConstraint(["ruleset"], ["ruleset.code"], name=op.f("map_ruleset_fkey")),
        sa.PrimaryKeyConstraint("id", name=op.f("map_pkey")),
        sa.UniqueConstraint("id", "ruleset", name=op.f("map_id_ruleset_key")),
        sa.UniqueConstraint("name", name=op.f("map_name_key")),
        comment="A map: a numbering scheme, a scale, and where it lies in the world",
    )
    op.create_table(
        "crest",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("n", sa.Integer(), nullable=False, comment="Its number on the map, for citing it"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The map's game"),
        sa.Column("level", sa.SmallInteger(), nullable=False, comment="Level of the higher ground"),
        sa.Column(
            "geom",
            geoalchemy2.types.Geometry(
                geometry_type="LINESTRING",
                srid=0,
                dimension=2,
                spatial_index=False,
                from_text="ST_GeomFromEWKT",
                name="geometry",
                nullable=False,
            ),
            nullable=False,
            comment="Line, on the grid of 1/1024 lattice unit",
        ),
        sa.CheckConstraint("lattice.is_snapped(geom)", name=op.f("crest_snapped_check")),
        sa.CheckConstraint("level between -9 and 9", name=op.f("crest_level_check")),
        sa.CheckConstraint("st_isvalid(geom) and not st_isempty(geom)", name=op.f("crest_valid_check")),
        sa.ForeignKeyConstraint(
            ["map_id", "ruleset"],
            ["map.id", "map.ruleset"],
            name=op.f("crest_map_id_ruleset_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("crest_pkey")),
        sa.UniqueConstraint("map_id", "n", name=op.f("crest_map_id_n_key")),
        comment="Crest lines as drawn: the higher ground on the left",
    )
    op.create_index(
        op.f("crest_map_id_geom_idx"), "crest", ["map_id", "geom"], unique=False, postgresql_using="gist"
    )
    op.create_table(
        "hex",
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("q", sa.Integer(), autoincrement=False, nullable=False, comment="Axial column"),
        sa.Column("r", sa.Integer(), autoincrement=False, nullable=False, comment="Axial row"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The map's game"),
        sa.Column("label", sa.Text(), nullable=False, comment="Printed number, e.g. 31.64"),
        sa.Column("terrain", sa.Text(), nullable=False, comment="Kind of terrain that fills it"),
        sa.Column("level", sa.SmallInteger(), nullable=False, comment="Elevation level"),
        sa.Column(
            "features",
            postgresql.ARRAY(sa.Text()),
            server_default="{}",
            nullable=False,
            comment="cave, village, airstrip, coast, landing_beach, …",
        ),
        sa.Column("name", sa.Text(), nullable=True, comment="A place name"),
        sa.Column(
            "geom",
            geoalchemy2.types.Geometry(
                geometry_type="POLYGON",
                srid=0,
                dimension=2,
                spatial_index=False,
                from_text="ST_GeomFromEWKT",
                name="geometry",
                nullable=False,
            ),
            sa.Computed("lattice.hex(q, r)", persisted=True),
            nullable=False,
            comment="The hex on the lattice",
        ),
        sa.Column(
            "center",
            geoalchemy2.types.Geometry(
                geometry_type="POINT",
                srid=0,
                dimension=2,
                spatial_index=False,
                from_text="ST_GeomFromEWKT",
                name="geometry",
                nullable=False,
            ),
            sa.Computed("lattice.center(q, r)", persisted=True),
            nullable=False,
            comment="Its centre on the lattice",
        ),
        sa.CheckConstraint("level between -9 and 9", name=op.f("hex_level_check")),
        sa.ForeignKeyConstraint(
            ["map_id", "ruleset"],
            ["map.id", "map.ruleset"],
            name=op.f("hex_map_id_ruleset_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["ruleset", "terrain"], ["terrain.ruleset", "terrain.code"], name=op.f("hex_ruleset_terrain_fkey")
        ),
        sa.PrimaryKeyConstraint("map_id", "q", "r", name=op.f("hex_pkey")),
        sa.UniqueConstraint("map_id", "label", name=op.f("hex_map_id_label_key")),
        comment="Hexes: terrain, level and features, with their exact polygon",
    )
    op.create_index(
        op.f("hex_map_id_geom_idx"), "hex", ["map_id", "geom"], unique=False, postgresql_using="gist"
    )
    op.create_table(
        "hexside",
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("x", sa.Integer(), autoincrement=False, nullable=False, comment="q of both hexes, added"),
        sa.Column("y", sa.Integer(), autoincrement=False, nullable=False, comment="r of both hexes, added"),
        sa.Column("kind", sa.Text(), nullable=False, comment="Kind of feature"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The map's game"),
        sa.Column(
            "geom",
            geoalchemy2.types.Geometry(
                geometry_type="LINESTRING",
                srid=0,
                dimension=2,
                spatial_index=False,
                from_text="ST_GeomFromEWKT",
                name="geometry",
                nullable=False,
            ),
            sa.Computed("lattice.hexside(x, y)", persisted=True),
            nullable=False,
            comment="The side on the lattice",
        ),
        sa.CheckConstraint("mod(x, 2) <> 0 or mod(y, 2) <> 0", name=op.f("hexside_is_a_side_check")),
        sa.ForeignKeyConstraint(
            ["map_id", "ruleset"],
            ["map.id", "map.ruleset"],
            name=op.f("hexside_map_id_ruleset_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["ruleset", "kind"],
            ["hexside_kind.ruleset", "hexside_kind.code"],
            name=op.f("hexside_ruleset_kind_fkey"),
        ),
        sa.PrimaryKeyConstraint("map_id", "x", "y", "kind", name=op.f("hexside_pkey")),
        comment="Features on hexsides, those of the map's rim included",
    )
    op.create_index(
        op.f("hexside_map_id_geom_idx"), "hexside", ["map_id", "geom"], unique=False, postgresql_using="gist"
    )
    op.create_table(
        "map_feature",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The map's game"),
        sa.Column("kind", sa.Text(), nullable=False, comment="objective, position, exit, box, …"),
        sa.Column("code", sa.Text(), nullable=False, comment="Its printed name, e.g. B5"),
        sa.Column(
            "attributes",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default="{}",
            nullable=False,
            comment="What else is printed: colour, artillery, mountaintop, value, …",
        ),
        sa.ForeignKeyConstraint(
            ["map_id", "ruleset"],
            ["map.id", "map.ruleset"],
            name=op.f("map_feature_map_id_ruleset_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("map_feature_pkey")),
        sa.UniqueConstraint("map_id", "code", name=op.f("map_feature_map_id_code_key")),
        comment="Objectives, printed positions, exits, boxes off the map",
    )
    op.create_table(
        "path",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The map's game"),
        sa.Column("kind", sa.Text(), nullable=False, comment="Kind of path"),
        sa.Column("name", sa.Text(), nullable=True, comment="A name, e.g. of a road"),
        sa.Column("qs", postgresql.ARRAY(sa.Integer()), nullable=False, comment="q of its hexes, in order"),
        sa.Column("rs", postgresql.ARRAY(sa.Integer()), nullable=False, comment="r of its hexes, in order"),
        sa.Column(
            "geom",
            geoalchemy2.types.Geometry(
                geometry_type="LINESTRING",
                srid=0,
                dimension=2,
                spatial_index=False,
                from_text="ST_GeomFromEWKT",
                name="geometry",
                nullable=False,
            ),
            sa.Computed("lattice.chain(qs, rs)", persisted=True),
            nullable=False,
            comment="The line through the centres",
        ),
        sa.CheckConstraint("lattice.is_chain(qs, rs)", name=op.f("path_does_not_jump_check")),
        sa.ForeignKeyConstraint(
            ["map_id", "ruleset"],
            ["map.id", "map.ruleset"],
            name=op.f("path_map_id_ruleset_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["ruleset", "kind"], ["path_kind.ruleset", "path_kind.code"], name=op.f("path_ruleset_kind_fkey")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("path_pkey")),
        comment="Paths: chains of adjacent hexes",
    )
    op.create_index(
        op.f("path_map_id_geom_idx"), "path", ["map_id", "geom"], unique=False, postgresql_using="gist"
    )
    op.create_table(
        "terrain_area",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False, comment="Row"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("n", sa.Integer(), nullable=False, comment="Its number on the map, for citing it"),
        sa.Column("ruleset", sa.Text(), nullable=False, comment="The map's game"),
        sa.Column("terrain", sa.Text(), nullable=False, comment="Kind of terrain drawn"),
        sa.Column(
            "geom",
            geoalchemy2.types.Geometry(
                geometry_type="POLYGON",
                srid=0,
                dimension=2,
                spatial_index=False,
                from_text="ST_GeomFromEWKT",
                name="geometry",
                nullable=False,
            ),
            nullable=False,
            comment="Outline, on the grid of 1/1024 lattice unit",
        ),
        sa.CheckConstraint("lattice.is_snapped(geom)", name=op.f("terrain_area_snapped_check")),
        sa.CheckConstraint(
            "st_isvalid(geom) and not st_isempty(geom)", name=op.f("terrain_area_valid_check")
        ),
        sa.ForeignKeyConstraint(
            ["map_id", "ruleset"],
            ["map.id", "map.ruleset"],
            name=op.f("terrain_area_map_id_ruleset_fkey"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["ruleset", "terrain"],
            ["terrain.ruleset", "terrain.code"],
            name=op.f("terrain_area_ruleset_terrain_fkey"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("terrain_area_pkey")),
        sa.UniqueConstraint("map_id", "n", name=op.f("terrain_area_map_id_n_key")),
        comment="Terrain as it is drawn, where the artwork decides (ccp, bob)",
    )
    op.create_index(
        op.f("terrain_area_map_id_geom_idx"),
        "terrain_area",
        ["map_id", "geom"],
        unique=False,
        postgresql_using="gist",
    )
    op.create_table(
        "map_feature_hex",
        sa.Column("feature", sa.BigInteger(), nullable=False, comment="The place"),
        sa.Column("role", sa.Text(), nullable=False, comment="at: it lies there; intense, steady: fire dots"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The map"),
        sa.Column("q", sa.Integer(), autoincrement=False, nullable=False, comment="Axial column"),
        sa.Column("r", sa.Integer(), autoincrement=False, nullable=False, comment="Axial row"),
        sa.CheckConstraint("role in ('at', 'intense', 'steady')", name=op.f("map_feature_hex_role_check")),
        sa.ForeignKeyConstraint(
            ["feature"], ["map_feature.id"], name=op.f("map_feature_hex_feature_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["map_id", "q", "r"],
            ["hex.map_id", "hex.q", "hex.r"],
            name=op.f("map_feature_hex_map_id_q_r_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("feature", "role", "q", "r", name=op.f("map_feature_hex_pkey")),
        comment="Hexes of a marked place: where it is, and its fire dots",
    )
    op.create_index(
        op.f("map_feature_hex_map_id_q_r_idx"), "map_feature_hex", ["map_id", "q", "r"], unique=False
    )
    op.execute("select lattice.build_trace(24)")
    op.create_index(
        op.f("trace_dq_dr_idx"),
        "trace",
        ["dq", "dr"],
        unique=False,
        schema="lattice",
        postgresql_where=sa.text("crossed and (of_start or of_target)"),
    )
