"""Maps: hexes, hexside features, paths, drawn artwork and marked places, on one integer lattice.

Geometry is generated from the integers beside it, so the two cannot disagree. All maps
lie over one another on the lattice; every spatial index therefore starts with the map.
"""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BIT
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base
from db.geometry import Geometry

HEX_SET = BIT(289)
"""Hexes within 8 of a start; `lattice.hex_bit` tells the place of each."""
SIDE_SET = BIT(1089)
"""Hexsides within 8 of a start; `lattice.side_bit` tells the place of each."""


def _id() -> Mapped[int]:
    return mapped_column(sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="Row")


def _of_map(foreign_key: str | None = None, **options: Any) -> Mapped[int]:
    points_to = [sa.ForeignKey(foreign_key, ondelete="CASCADE")] if foreign_key else []
    return mapped_column(sa.BigInteger, *points_to, comment="The map", autoincrement=False, **options)


def _geometry(kind: str, expression: str | None, comment: str) -> Any:
    computed = [sa.Computed(expression, persisted=True)] if expression else []
    return mapped_column(Geometry(kind), *computed, comment=comment, nullable=False)


def _map_and_ruleset() -> sa.ForeignKeyConstraint:
    """A row's ruleset is its map's, so that a feature of another game cannot stand on it."""
    return sa.ForeignKeyConstraint(["map_id", "ruleset"], ["map.id", "map.ruleset"], ondelete="CASCADE")


def _spatial_index() -> sa.Index:
    return sa.Index(None, "map_id", "geom", postgresql_using="gist")


class Map(Base):
    """A map of one game."""

    __tablename__ = "map"
    __table_args__ = (
        sa.UniqueConstraint("id", "ruleset"),
        sa.CheckConstraint("name ~ '^[a-z0-9][a-z0-9_-]*$'", name="name"),
        sa.CheckConstraint("(srid is null) = (affine is null)", name="georeference"),
        sa.CheckConstraint("cardinality(affine) = 6", name="affine"),
        {"comment": "A map: a numbering scheme, a scale, and where it lies in the world"},
    )

    id: Mapped[int] = _id()
    name: Mapped[str] = mapped_column(unique=True, comment="Short name for addresses and commands")
    title: Mapped[str] = mapped_column(comment="Name for people")
    ruleset: Mapped[str] = mapped_column(sa.ForeignKey("ruleset.code"), comment="The game it is for")
    scheme: Mapped[dict[str, Any]] = mapped_column(comment="Label scheme, see docs/maps.md")
    meters_per_hex: Mapped[int | None] = mapped_column(comment="Scale, where known")
    source: Mapped[str] = mapped_column(
        server_default="", comment="After what it was drawn: a sheet, a survey, a book; whose it is"
    )
    note: Mapped[str] = mapped_column(server_default="", comment="Remarks")
    srid: Mapped[int | None] = mapped_column(comment="CRS of the georeference, an EPSG code")
    affine: Mapped[list[float] | None] = mapped_column(
        ARRAY(sa.Double), comment="Lattice to CRS, as ST_Affine takes it: a, b, d, e, xoff, yoff"
    )
    control_points: Mapped[list[Any]] = mapped_column(
        server_default="[]", comment="Label, x, y and residual of each control point"
    )
    created_at: Mapped[datetime.datetime] = mapped_column(
        server_default=sa.func.now(), comment="Imported when"
    )


class MapSummary(Base):
    """What is kept of a map beside its rows; triggers keep it, see `sql/maps/kept.sql`."""

    __tablename__ = "map_summary"
    __table_args__ = ({"comment": "Derived: the version and the bounds of a map; triggers keep it"},)

    map_id: Mapped[int] = _of_map(foreign_key="map.id", primary_key=True)
    version: Mapped[uuid.UUID] = mapped_column(
        server_default=sa.func.gen_random_uuid(), comment="Another one after every edit, never used again"
    )
    q_low: Mapped[int | None] = mapped_column(comment="Least axial column of a hex; null where there is none")
    q_high: Mapped[int | None] = mapped_column(comment="Greatest axial column")
    y_low: Mapped[int | None] = mapped_column(comment="Least lattice row of a centre, 2 r + q")
    y_high: Mapped[int | None] = mapped_column(comment="Greatest lattice row of a centre")


class MapCount(Base):
    """How much of one kind is on a map; triggers keep it, see `sql/maps/kept.sql`."""

    __tablename__ = "map_count"
    __table_args__ = ({"comment": "Derived: how much of each kind is on a map; triggers keep it"},)

    map_id: Mapped[int] = _of_map(foreign_key="map.id", primary_key=True)
    part: Mapped[str] = mapped_column(
        primary_key=True, comment="terrain and level of hexes, hexside, path, area, crest, place"
    )
    word: Mapped[str] = mapped_column(primary_key=True, comment="The kind, or the level")
    count: Mapped[int] = mapped_column(comment="How many")


class Hex(Base):
    """A hex of a map."""

    __tablename__ = "hex"
    __table_args__ = (
        _map_and_ruleset(),
        sa.ForeignKeyConstraint(["ruleset", "terrain"], ["terrain.ruleset", "terrain.code"]),
        sa.UniqueConstraint("map_id", "label"),
        sa.Index("hex_named_idx", "map_id", postgresql_where=sa.text("name is not null")),
        sa.CheckConstraint("level between -9 and 9", name="level"),
        _spatial_index(),
        {"comment": "Hexes: terrain, level and features, with their exact polygon"},
    )

    map_id: Mapped[int] = _of_map(primary_key=True)
    q: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial column")
    r: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial row")
    ruleset: Mapped[str] = mapped_column(comment="The map's game")
    label: Mapped[str] = mapped_column(comment="Printed number, e.g. 31.64")
    terrain: Mapped[str] = mapped_column(comment="Kind of terrain that fills it")
    level: Mapped[int] = mapped_column(sa.SmallInteger, comment="Elevation level")
    features: Mapped[list[str]] = mapped_column(
        ARRAY(sa.Text), server_default="{}", comment="cave, village, airstrip, coast, landing_beach, …"
    )
    name: Mapped[str | None] = mapped_column(comment="A place name")
    geom: Mapped[Any] = _geometry("POLYGON", "lattice.hex(q, r)", "The hex on the lattice")
    center: Mapped[Any] = _geometry("POINT", "lattice.center(q, r)", "Its centre on the lattice")


class Hexside(Base):
    """A feature on a hexside; the doubled cell (x, y) is the sum of its two hexes."""

    __tablename__ = "hexside"
    __table_args__ = (
        _map_and_ruleset(),
        sa.ForeignKeyConstraint(["ruleset", "kind"], ["hexside_kind.ruleset", "hexside_kind.code"]),
        sa.CheckConstraint("mod(x, 2) <> 0 or mod(y, 2) <> 0", name="is_a_side"),
        _spatial_index(),
        {"comment": "Features on hexsides, those of the map's rim included"},
    )

    map_id: Mapped[int] = _of_map(primary_key=True)
    x: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="q of both hexes, added")
    y: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="r of both hexes, added")
    kind: Mapped[str] = mapped_column(primary_key=True, comment="Kind of feature")
    ruleset: Mapped[str] = mapped_column(comment="The map's game")
    geom: Mapped[Any] = _geometry("LINESTRING", "lattice.hexside(x, y)", "The side on the lattice")


class Path(Base):
    """A road, trail or railway: a chain of adjacent hexes."""

    __tablename__ = "path"
    __table_args__ = (
        _map_and_ruleset(),
        sa.ForeignKeyConstraint(["ruleset", "kind"], ["path_kind.ruleset", "path_kind.code"]),
        sa.CheckConstraint("lattice.is_chain(qs, rs)", name="does_not_jump"),
        _spatial_index(),
        {"comment": "Paths: chains of adjacent hexes"},
    )

    id: Mapped[int] = _id()
    map_id: Mapped[int] = _of_map()
    ruleset: Mapped[str] = mapped_column(comment="The map's game")
    kind: Mapped[str] = mapped_column(comment="Kind of path")
    name: Mapped[str | None] = mapped_column(comment="A name, e.g. of a road")
    qs: Mapped[list[int]] = mapped_column(ARRAY(sa.Integer), comment="q of its hexes, in order")
    rs: Mapped[list[int]] = mapped_column(ARRAY(sa.Integer), comment="r of its hexes, in order")
    geom: Mapped[Any] = _geometry("LINESTRING", "lattice.chain(qs, rs)", "The line through the centres")


class TerrainArea(Base):
    """Drawn artwork of a terrain."""

    __tablename__ = "terrain_area"
    __table_args__ = (
        _map_and_ruleset(),
        sa.ForeignKeyConstraint(["ruleset", "terrain"], ["terrain.ruleset", "terrain.code"]),
        sa.CheckConstraint("st_isvalid(geom) and not st_isempty(geom)", name="valid"),
        sa.CheckConstraint("lattice.is_snapped(geom)", name="snapped"),
        sa.UniqueConstraint("map_id", "n"),
        _spatial_index(),
        {"comment": "Terrain as it is drawn, where the artwork decides (ccp, bob)"},
    )

    id: Mapped[int] = _id()
    map_id: Mapped[int] = _of_map()
    n: Mapped[int] = mapped_column(comment="Its number on the map, for citing it")
    ruleset: Mapped[str] = mapped_column(comment="The map's game")
    terrain: Mapped[str] = mapped_column(comment="Kind of terrain drawn")
    geom: Mapped[Any] = _geometry("POLYGON", None, "Outline, on the grid of 1/1024 lattice unit")


class Crest(Base):
    """A crest line: the higher ground lies on its left."""

    __tablename__ = "crest"
    __table_args__ = (
        _map_and_ruleset(),
        sa.CheckConstraint("st_isvalid(geom) and not st_isempty(geom)", name="valid"),
        sa.CheckConstraint("lattice.is_snapped(geom)", name="snapped"),
        sa.CheckConstraint("level between -9 and 9", name="level"),
        sa.UniqueConstraint("map_id", "n"),
        _spatial_index(),
        {"comment": "Crest lines as drawn: the higher ground on the left"},
    )

    id: Mapped[int] = _id()
    map_id: Mapped[int] = _of_map()
    n: Mapped[int] = mapped_column(comment="Its number on the map, for citing it")
    ruleset: Mapped[str] = mapped_column(comment="The map's game")
    level: Mapped[int] = mapped_column(sa.SmallInteger, comment="Level of the higher ground")
    geom: Mapped[Any] = _geometry("LINESTRING", None, "Line, on the grid of 1/1024 lattice unit")


class MapFeature(Base):
    """A marked place: an objective, a printed position, an exit, a box off the map."""

    __tablename__ = "map_feature"
    __table_args__ = (
        _map_and_ruleset(),
        sa.UniqueConstraint("map_id", "code"),
        {"comment": "Objectives, printed positions, exits, boxes off the map"},
    )

    id: Mapped[int] = _id()
    map_id: Mapped[int] = _of_map()
    ruleset: Mapped[str] = mapped_column(comment="The map's game")
    kind: Mapped[str] = mapped_column(comment="objective, position, exit, box, …")
    code: Mapped[str] = mapped_column(comment="Its printed name, e.g. B5")
    attributes: Mapped[dict[str, Any]] = mapped_column(
        server_default="{}", comment="What else is printed: colour, artillery, mountaintop, value, …"
    )


class MapFeatureHex(Base):
    """A hex that belongs to a marked place, and as what."""

    __tablename__ = "map_feature_hex"
    __table_args__ = (
        sa.ForeignKeyConstraint(["map_id", "q", "r"], ["hex.map_id", "hex.q", "hex.r"], ondelete="CASCADE"),
        sa.CheckConstraint("role in ('at', 'intense', 'steady')", name="role"),
        sa.Index(None, "map_id", "q", "r"),
        {"comment": "Hexes of a marked place: where it is, and its fire dots"},
    )

    feature: Mapped[int] = mapped_column(
        sa.ForeignKey("map_feature.id", ondelete="CASCADE"), primary_key=True, comment="The place"
    )
    role: Mapped[str] = mapped_column(
        primary_key=True, comment="at: it lies there; intense, steady: fire dots"
    )
    map_id: Mapped[int] = _of_map()
    q: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial column")
    r: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial row")


def _small_key(comment: str) -> Mapped[int]:
    return mapped_column(sa.SmallInteger, primary_key=True, autoincrement=False, comment=comment)


class Trace(Base):
    """What a line passes, for every displacement up to range 24; see `sql/lattice/trace.sql`."""

    __tablename__ = "trace"
    __table_args__ = (
        sa.CheckConstraint("kind in ('hex', 'spine', 'side', 'touch', 'end')", name="kind"),
        # the sides by which a line leaves its start and comes to its target
        sa.Index(None, "dq", "dr", postgresql_where=sa.text("crossed and (of_start or of_target)")),
        # all but the sides that a hex knows of
        sa.Index(None, "dq", "dr", "n", postgresql_where=sa.text("not leads_in")),
        # the hexes alone, for whoever looks along many lines at once
        sa.Index(
            "trace_hexes_idx",
            "dq",
            "dr",
            "n",
            postgresql_include=["kind", "q1", "r1", "q2", "r2", "enter", "leave", "den"],
            postgresql_where=sa.text("kind in ('hex', 'spine', 'touch')"),
        ),
        {"schema": "lattice", "comment": "What the line from (0, 0) to (dq, dr) passes, between its ends"},
    )

    dq: Mapped[int] = _small_key("Target q")
    dr: Mapped[int] = _small_key("Target r")
    n: Mapped[int] = _small_key("Order")
    kind: Mapped[str] = mapped_column(comment="hex, spine, side, touch or end")
    x: Mapped[int] = mapped_column(sa.SmallInteger, comment="Doubled q of the cell")
    y: Mapped[int] = mapped_column(sa.SmallInteger, comment="Doubled r of the cell")
    q1: Mapped[int] = mapped_column(sa.SmallInteger, comment="The hex, or the first hex of the side")
    r1: Mapped[int] = mapped_column(sa.SmallInteger, comment="The hex, or the first hex of the side")
    q2: Mapped[int] = mapped_column(sa.SmallInteger, comment="The hex, or the second hex of the side")
    r2: Mapped[int] = mapped_column(sa.SmallInteger, comment="The hex, or the second hex of the side")
    crossed: Mapped[bool] = mapped_column(comment="The line goes from one hex of the side to the other here")
    of_start: Mapped[bool] = mapped_column(comment="A side of the hex the line starts from")
    of_target: Mapped[bool] = mapped_column(comment="A side of the hex the line goes to")
    enter: Mapped[int] = mapped_column(comment="Where the line enters the cell, in 1/den of its length")
    leave: Mapped[int] = mapped_column(comment="Where it leaves the cell")
    den: Mapped[int] = mapped_column(comment="Common denominator of this displacement")
    direction: Mapped[int | None] = mapped_column(
        sa.SmallInteger,
        comment="From the first hex of a side to the second; of a hex, where the line comes from",
    )
    leads_in: Mapped[bool] = mapped_column(
        server_default=sa.false(), comment="A side that the line enters a hex by, which has its direction"
    )


class Ray(Base):
    """A line of up to 8 hexes as sets of cells around its start; see `sql/lattice/ray.sql`."""

    __tablename__ = "ray"
    __table_args__ = (
        {"schema": "lattice", "comment": "What the line from (0, 0) to (dq, dr) passes, as sets of cells"},
    )

    dq: Mapped[int] = _small_key("Target q")
    dr: Mapped[int] = _small_key("Target r")
    away: Mapped[int] = mapped_column(sa.SmallInteger, comment="Hexes to the target")
    place: Mapped[int] = mapped_column(sa.SmallInteger, comment="The target's place in a set of hexes")
    hexes: Mapped[str] = mapped_column(HEX_SET, comment="Hexes it passes through")
    beside_target: Mapped[str] = mapped_column(
        HEX_SET, comment="Of those and the touched, the hexes next to the target"
    )
    across: Mapped[str] = mapped_column(SIDE_SET, comment="Sides it crosses, of neither end")
    along: Mapped[str | None] = mapped_column(SIDE_SET, comment="Spines: sides it runs along")
    spine1: Mapped[list[int] | None] = mapped_column(
        ARRAY(sa.SmallInteger), comment="The first hex of each spine, as its place in a set"
    )
    spine2: Mapped[list[int] | None] = mapped_column(
        ARRAY(sa.SmallInteger), comment="The second hex of each spine"
    )
    touched: Mapped[str | None] = mapped_column(HEX_SET, comment="Hexes it meets in a point")
    grazed: Mapped[str | None] = mapped_column(SIDE_SET, comment="Sides of neither end it meets in a point")
    leaving: Mapped[str] = mapped_column(SIDE_SET, comment="Sides of the start that it crosses")
    arriving: Mapped[str] = mapped_column(SIDE_SET, comment="Sides of the target that it crosses")
    grazed_leaving: Mapped[str | None] = mapped_column(
        SIDE_SET, comment="Sides of the start it meets in a point"
    )


class Passage(Base):
    """A hex that a line of up to 8 hexes passes between its ends; see `sql/lattice/beam.sql`."""

    __tablename__ = "passage"
    __table_args__ = (
        {
            "schema": "lattice",
            "comment": "The lines of up to 8 hexes from (0, 0) to (dq, dr) that pass a hex between their ends",
        },
    )

    q: Mapped[int] = _small_key("Axial column of the hex")
    r: Mapped[int] = _small_key("Axial row of the hex")
    dq: Mapped[int] = _small_key("Target q")
    dr: Mapped[int] = _small_key("Target r")
    place: Mapped[int] = mapped_column(sa.SmallInteger, comment="The target's place in a set of hexes")
    spine: Mapped[bool] = mapped_column(comment="The line runs along a side of the hex")
    touch: Mapped[bool] = mapped_column(comment="The line meets the hex in a point")
    near: Mapped[bool] = mapped_column(comment="It comes there out of the hex that it begins in")
    far: Mapped[bool] = mapped_column(comment="It goes on from there into its target")
    enter: Mapped[int] = mapped_column(comment="Where the line comes to the hex, in 1/den of its length")
    leave: Mapped[int] = mapped_column(comment="Where it leaves the hex")
    den: Mapped[int] = mapped_column(comment="Common denominator of this displacement")


class Beam(Base):
    """The lines of up to 8 hexes that pass a hex, as sets of targets; see `sql/lattice/beam.sql`."""

    __tablename__ = "beam"
    __table_args__ = (
        {
            "schema": "lattice",
            "comment": "The lines of up to 8 hexes from (0, 0) that pass a hex, as sets of their targets",
        },
    )

    q: Mapped[int] = _small_key("Axial column")
    r: Mapped[int] = _small_key("Axial row")
    away: Mapped[int] = mapped_column(sa.SmallInteger, comment="Hexes to it")
    place: Mapped[int] = mapped_column(sa.SmallInteger, comment="Its place in a set of hexes")
    through: Mapped[str] = mapped_column(HEX_SET, comment="Targets of the lines through its inside")
    met: Mapped[str] = mapped_column(
        HEX_SET, comment="Of these, of those along a side of it and of those that meet it in a point"
    )
    passed: Mapped[str] = mapped_column(HEX_SET, comment="Of the former two")
    near: Mapped[str] = mapped_column(HEX_SET, comment="Of those that come there out of the start")
    far: Mapped[str] = mapped_column(HEX_SET, comment="Of those that go on into their target")
    dot: Mapped[str] = mapped_column(HEX_SET, comment="Of those through its dot")


class CssGround(Base):
    """What sight asks of a hex of a css map, in one narrow row; kept by `sql/css/ground.sql`."""

    __tablename__ = "css_ground"
    __table_args__ = (
        sa.UniqueConstraint("map_id", "label"),
        {
            "comment": "Derived: what sight asks of a hex of a css map; triggers keep it, edit hex and hexside instead"
        },
    )

    map_id: Mapped[int] = _of_map(primary_key=True)
    q: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial column")
    r: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, comment="Axial row")
    label: Mapped[str] = mapped_column(comment="Printed number")
    level: Mapped[int] = mapped_column(sa.SmallInteger, comment="Elevation level")
    terrain: Mapped[str] = mapped_column(
        comment="The terrain whose effects it has: a cave hex is rocky (6.3)"
    )
    sight: Mapped[int] = mapped_column(comment="What its ground does to a line, as bits of css._bit")
    walls: Mapped[int] = mapped_column(comment="What on its sides may stop a line, four bits a side")
