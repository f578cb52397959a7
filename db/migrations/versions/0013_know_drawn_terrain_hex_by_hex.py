"""Know drawn terrain hex by hex."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def _place() -> tuple[sa.Column[int], ...]:
    return (
        sa.Column("map_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The map"),
        sa.Column("q", sa.Integer(), autoincrement=False, nullable=False, comment="Axial column"),
        sa.Column("r", sa.Integer(), autoincrement=False, nullable=False, comment="Axial row"),
    )


def _numbers(name: str, comment: str) -> sa.Column[list[int]]:
    return sa.Column(name, postgresql.ARRAY(sa.Integer()), nullable=False, comment=comment)


def _words(name: str, comment: str) -> sa.Column[list[str]]:
    return sa.Column(name, postgresql.ARRAY(sa.Text()), nullable=False, comment=comment)


def upgrade() -> None:
    op.create_table(
        "drawn_hex",
        *_place(),
        sa.Column("label", sa.Text(), nullable=False, comment="Printed number"),
        sa.Column("terrain", sa.Text(), nullable=False, comment="Kind of terrain at its centre dot"),
        sa.Column("level", sa.SmallInteger(), nullable=False, comment="Elevation level of its centre dot"),
        sa.Column("ridge", sa.Boolean(), nullable=False, comment="It has the feature ridge"),
        sa.Column(
            "drawn",
            sa.Boolean(),
            nullable=False,
            comment="Its own terrain is drawn in it; else it is taken to fill it",
        ),
        _numbers("areas", "Drawn areas of which it has a part, by their numbers"),
        _numbers("whole", "Of these, those that cover all of it"),
        _numbers("within", "Drawn areas that its centre dot lies inside of"),
        _numbers("brink", "Drawn areas on whose outline its centre dot lies"),
        _numbers("crests", "Crest lines drawn inside it, by their numbers"),
        _numbers("crest_levels", "The levels of these"),
        sa.PrimaryKeyConstraint("map_id", "q", "r", name=op.f("drawn_hex_pkey")),
        sa.UniqueConstraint("map_id", "label", name=op.f("drawn_hex_map_id_label_key")),
        comment="Derived: what sight asks of a hex of a map with drawn terrain; triggers keep it, edit hex and artwork"
        " instead",
    )
    op.create_table(
        "drawn_edge",
        *_place(),
        sa.Column("crest", sa.Boolean(), nullable=False, comment="Of a crest line; else of an area"),
        sa.Column("n", sa.Integer(), autoincrement=False, nullable=False, comment="The artwork's number"),
        sa.Column(
            "e",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="Which of its edges; the inside of an area on the left",
        ),
        sa.Column("level", sa.SmallInteger(), nullable=True, comment="Of a crest line, its level"),
        sa.Column("x1", sa.Integer(), nullable=False, comment="Where it begins, in 1/1024 lattice unit"),
        sa.Column("y1", sa.Integer(), nullable=False, comment="Where it begins"),
        sa.Column("x2", sa.Integer(), nullable=False, comment="Where it ends"),
        sa.Column("y2", sa.Integer(), nullable=False, comment="Where it ends"),
        sa.PrimaryKeyConstraint("map_id", "q", "r", "crest", "n", "e", name=op.f("drawn_edge_pkey")),
        comment="Derived: the edges of drawn areas and crest lines in each hex that they meet, on the grid of 1/1024"
        " lattice unit; triggers keep them, edit the artwork instead",
    )
    op.create_table(
        "kept_line",
        sa.Column("position_id", sa.BigInteger(), nullable=False, comment="The position"),
        sa.Column("viewer", sa.Text(), nullable=False, comment="From where, by the name asked"),
        sa.Column("target", sa.Text(), nullable=False, comment="To where, by the name asked"),
        sa.Column("map_id", sa.BigInteger(), nullable=False, comment="The position's map"),
        sa.Column("q", sa.Integer(), nullable=False, comment="Axial column of the viewer"),
        sa.Column("r", sa.Integer(), nullable=False, comment="Axial row of the viewer"),
        sa.Column("away", sa.Integer(), nullable=False, comment="Hexes to the target"),
        _words("rules", "Rule of every step told, the verdict last"),
        _words("places", "Where each is at work"),
        _words("effects", "What each does"),
        _words("notes", "Each in words"),
        _words("points", "The contested point that each turns on"),
        _numbers("ranges", "Range of each"),
        _numbers("hindrances", "Hindrance of each"),
        sa.ForeignKeyConstraint(
            ["position_id", "map_id"],
            ["position.id", "position.map_id"],
            name=op.f("kept_line_position_id_map_id_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("position_id", "viewer", "target", name=op.f("kept_line_pkey")),
        comment="Cache: lines of sight that were asked; dropped around every edit",
    )
    op.create_index(op.f("kept_line_map_id_idx"), "kept_line", ["map_id"], unique=False)
