"""See at a glance."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

HEX_SET = postgresql.BIT(289)
SIDE_SET = postgresql.BIT(1089)

# The rows are written anew, in order, since an update would leave as many dead ones behind.
DIRECT = """
create temporary table kept on commit drop as select * from lattice.trace;
truncate lattice.trace;
alter table lattice.trace add column direction smallint, add column leads_in boolean not null default false;
insert into lattice.trace (
  dq, dr, n, kind, x, y, q1, r1, q2, r2, crossed, of_start, of_target, enter, leave, den, direction, leads_in
)
select
  cell.dq, cell.dr, cell.n, cell.kind, cell.x, cell.y, cell.q1, cell.r1, cell.q2, cell.r2,
  cell.crossed, cell.of_start, cell.of_target, cell.enter, cell.leave, cell.den,
  case
    when cell.kind = 'hex' then lattice.direction(side.q1 + side.q2 - 2 * cell.q1, side.r1 + side.r2 - 2 * cell.r1)
    else lattice.direction(cell.q2 - cell.q1, cell.r2 - cell.r1)
  end,
  entered.n is not null
from kept as cell
left join kept as side
  on cell.kind = 'hex' and side.kind = 'side'
    and side.dq = cell.dq and side.dr = cell.dr and side.enter = cell.enter
    and (cell.q1, cell.r1) in ((side.q1, side.r1), (side.q2, side.r2))
left join kept as entered
  on cell.kind = 'side' and entered.kind = 'hex'
    and entered.dq = cell.dq and entered.dr = cell.dr and entered.enter = cell.enter
    and (entered.q1, entered.r1) in ((cell.q1, cell.r1), (cell.q2, cell.r2))
order by cell.dq, cell.dr, cell.n
"""


def upgrade() -> None:
    for statement in DIRECT.split(";"):
        op.execute(statement)
    comments = {
        "direction": "From the first hex of a side to the second; of a hex, where the line comes from",
        "leads_in": "A side that the line enters a hex by, which has its direction",
    }
    for column, comment in comments.items():
        op.execute(f"comment on column lattice.trace.{column} is '{comment}'")
    op.create_index(
        op.f("trace_dq_dr_n_idx"),
        "trace",
        ["dq", "dr", "n"],
        unique=False,
        schema="lattice",
        postgresql_where=sa.text("not leads_in"),
    )
    op.create_table(
        "ray",
        sa.Column("dq", sa.SmallInteger(), autoincrement=False, nullable=False, comment="Target q"),
        sa.Column("dr", sa.SmallInteger(), autoincrement=False, nullable=False, comment="Target r"),
        sa.Column("away", sa.SmallInteger(), nullable=False, comment="Hexes to the target"),
        sa.Column("place", sa.SmallInteger(), nullable=False, comment="The target's place in a set of hexes"),
        sa.Column("hexes", HEX_SET, nullable=False, comment="Hexes it passes through"),
        sa.Column(
            "beside_target",
            HEX_SET,
            nullable=False,
            comment="Of those and the touched, the hexes next to the target",
        ),
        sa.Column("across", SIDE_SET, nullable=False, comment="Sides it crosses, of neither end"),
        sa.Column("along", SIDE_SET, nullable=True, comment="Spines: sides it runs along"),
        sa.Column(
            "spine1",
            postgresql.ARRAY(sa.SmallInteger()),
            nullable=True,
            comment="The first hex of each spine, as its place in a set",
        ),
        sa.Column(
            "spine2",
            postgresql.ARRAY(sa.SmallInteger()),
            nullable=True,
            comment="The second hex of each spine",
        ),
        sa.Column("touched", HEX_SET, nullable=True, comment="Hexes it meets in a point"),
        sa.Column("grazed", SIDE_SET, nullable=True, comment="Sides of neither end it meets in a point"),
        sa.Column("leaving", SIDE_SET, nullable=False, comment="Sides of the start that it crosses"),
        sa.Column("arriving", SIDE_SET, nullable=False, comment="Sides of the target that it crosses"),
        sa.Column(
            "grazed_leaving", SIDE_SET, nullable=True, comment="Sides of the start it meets in a point"
        ),
        sa.PrimaryKeyConstraint("dq", "dr", name=op.f("ray_pkey")),
        schema="lattice",
        comment="What the line from (0, 0) to (dq, dr) passes, as sets of cells",
    )
    op.execute("select lattice.build_ray()")
    op.execute("analyze lattice.trace, lattice.ray")
    op.create_table(
        "css_ground",
        sa.Column("map_id", sa.BigInteger(), autoincrement=False, nullable=False, comment="The map"),
        sa.Column("q", sa.Integer(), autoincrement=False, nullable=False, comment="Axial column"),
        sa.Column("r", sa.Integer(), autoincrement=False, nullable=False, comment="Axial row"),
        sa.Column("label", sa.Text(), nullable=False, comment="Printed number"),
        sa.Column("level", sa.SmallInteger(), nullable=False, comment="Elevation level"),
        sa.Column(
            "terrain",
            sa.Text(),
            nullable=False,
            comment="The terrain whose effects it has: a cave hex is rocky (6.3)",
        ),
        sa.Column(
            "sight",
            sa.Integer(),
            nullable=False,
            comment="What its ground does to a line, as bits of css._met",
        ),
        sa.Column(
            "walls",
            sa.Integer(),
            nullable=False,
            comment="What on its sides may stop a line, four bits a side",
        ),
        sa.PrimaryKeyConstraint("map_id", "q", "r", name=op.f("css_ground_pkey")),
        sa.UniqueConstraint("map_id", "label", name=op.f("css_ground_map_id_label_key")),
        comment="Derived: what sight asks of a hex of a css map; triggers keep it, edit hex and hexside instead",
    )
