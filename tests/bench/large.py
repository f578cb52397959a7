"""Large maps: ground drawn by arithmetic, of any number of hexes, and what looking at it costs at the doors.

The same questions are put to a map of 10⁴ hexes and to a large one in one run. What a screen shows is as much on
either, so that the ratio tells what the rest of the map costs those who do not look at it.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.rulesets import read_ruleset

HEXES = """
insert into hex (map_id, ruleset, q, r, label, terrain, level)
select
  :map, 'css', c, (2 * n + c % 2 - c) / 2,
  lpad(c::text, greatest(2, length(c::text)), '0') || '.' || lpad(n::text, greatest(2, length(n::text)), '0'),
  (array['clear', 'clear', 'brush', 'palm_forest', 'tropical_forest', 'rice_paddy', 'rocky'])[
    1 + (abs(hashint4((c / 7) * 1009 + n / 9)) % 7)
  ],
  (2.5 + 0.95 * sin(c / 31.0) + 0.95 * cos(n / 23.0))::integer
from generate_series(1, :columns) as c, generate_series(1, :rows) as n
"""
"""Patches of terrain on rolling ground; columns and rows as the scheme of css counts them."""
HEXSIDES = """
insert into hexside (map_id, ruleset, x, y, kind)
select distinct hex.map_id, 'css', 2 * hex.q, 2 * hex.r + 1, 'slope'
from hex
join hex as below on below.map_id = hex.map_id and below.q = hex.q and below.r = hex.r + 1
where hex.map_id = :map and hex.level <> below.level
"""
PATHS = """
insert into path (map_id, ruleset, kind, qs, rs)
select :map, 'css', case c % 40 when 20 then 'paved_road' else 'trail' end, array_agg(c), array_agg((2 * n + c % 2 - c) / 2)
from generate_series(20, :columns, 20) as c, generate_series(1, :rows) as n, lateral (select n / 50 as run) as part
group by c, run
having count(*) > 1
"""
"""A road or trail down every twentieth column, in stretches of fifty hexes."""


def draw_map(connection: Connection, name: str, columns: int, rows: int) -> int:
    """Put a css map of so many columns and rows into the tables; its id."""
    scheme = read_ruleset("css").facts.scheme.model_dump_json()
    made = connection.scalar(
        sa.text(
            "insert into map (name, title, ruleset, scheme) values (:name, :name, 'css', cast(:scheme as jsonb)) returning id"
        ),
        {"name": name, "scheme": scheme},
    )
    assert made is not None
    # else the hexes just made would be joined as if there were none
    for query in (HEXES, "analyze hex", HEXSIDES, PATHS):
        connection.execute(sa.text(query), {"map": made, "columns": columns, "rows": rows})
    return int(made)
