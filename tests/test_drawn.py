"""Drawn terrain hex by hex: what is kept of it follows every edit, and lines that are kept are those that los tells."""

from __future__ import annotations

import random
from typing import Any

import pytest
import shapely
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.database import psycopg_connection
from db.labels import Axial
from db.position_draft import PositionDraft
from db.schema import SQL
from tests import test_sight_bob, test_sight_ccp
from tests.bench import _center, _polygon
from tests.compare_sight import GAMES, QUERIES, answer, dense
from tests.test_sight import Stored

PAINTERS = {"bob": lambda seed: test_sight_bob.paint(seed, (5, 5)), "ccp": test_sight_ccp.paint}
EDITS = (
    "update hex set terrain = 'open_ground', level = 1 - level where map_id = :map and (q + r + :n) % 5 = 0",
    "update hex set features = '{ridge}' where map_id = :map and (q + :n) % 3 = 0 and ruleset = 'bob'",
    "update hex set label = 'X' || label where map_id = :map and (q + r + :n) % 7 = 0",
    "delete from hex where map_id = :map and (q + 2 * r + :n) % 9 = 0",
    "update terrain_area set geom = st_translate(geom, 1, 0.5) where map_id = :map and n % 2 = :n % 2",
    "update terrain_area set terrain = 'jungle' where map_id = :map and n % 3 = :n % 3",
    "insert into terrain_area (map_id, ruleset, n, terrain, geom) select map_id, ruleset, 90 + :n, 'jungle', geom"
    " from terrain_area where map_id = :map order by n limit 1",
    "delete from terrain_area where map_id = :map and n % 4 = :n % 4",
    "insert into crest (map_id, ruleset, n, level, geom) select map_id, ruleset, 90 + :n, 1, st_boundary(geom)"
    " from hex where map_id = :map order by q, r offset :n limit 1",
    "update crest set geom = st_reverse(st_translate(geom, 0.5, 0.25)), level = 2 where map_id = :map and n % 2 = :n % 2",
    "delete from crest where map_id = :map and n % 3 = :n % 3",
)
LAGGING = """
(select 'kept', * from {table} except select 'kept', * from maps.{view})
union all
(select 'lacking', * from maps.{view} except select 'lacking', * from {table})
"""


def lagging(connection: Connection) -> list[tuple[Any, ...]]:
    """Rows that are kept and are not what the tables say, and rows that are lacking."""
    return [
        tuple(row)
        for table, view in (("drawn_hex", "drawn_hexes"), ("drawn_edge", "drawn_edges"))
        for row in connection.execute(sa.text(LAGGING.format(table=table, view=view)))
    ]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_of_artwork_follows_every_edit(connection: Connection, game: str, seed: int) -> None:
    dice = random.Random(seed)
    with Stored(connection, PAINTERS[game](seed + 40)) as position:
        values = {"id": position}
        board = connection.scalar(sa.text("select map_id from position where id = :id"), values)
        connection.execute(sa.text("delete from path where map_id = :map"), {"map": board})
        assert lagging(connection) == []
        for edit in dice.sample(EDITS, k=len(EDITS)):
            connection.execute(sa.text(edit), {"map": board, "n": dice.randint(0, 8)})
            assert lagging(connection) == [], edit
        connection.execute(sa.text("delete from map where id = :map"), {"map": board})
        kept = sa.text(
            "select count(*) from drawn_hex full join drawn_edge using (map_id) where map_id = :map"
        )
        assert connection.scalar(kept, {"map": board}) == 0


def corners(dice: random.Random, hexes: list[Axial], count: int) -> list[tuple[float, float]]:
    """So many points at the dots, corners and sides of hexes, or halfway between."""
    x, y = _center(dice.choice(hexes))
    reach, part = dice.choice((2, 4, 9)), dice.choice((1, 2))
    steps = [step / part for step in range(-reach * part, reach * part + 1)]
    return dice.sample([(x + right, y + up) for right in steps for up in steps], k=count)


def patch(dice: random.Random, hexes: list[Axial]) -> str:
    """An area whose outline runs through dots or along sides, now and then with a hole, turning either way."""
    if dice.random() < 0.3:
        joined = shapely.union_all([_polygon(hex) for hex in dice.sample(hexes, k=dice.randint(1, 9))])
        found = shapely.get_parts(joined)[0]
    else:
        found, hole = (shapely.Polygon(corners(dice, hexes, dice.randint(3, 5))) for _ in range(2))
        holed = shapely.Polygon(found.exterior, [hole.exterior])
        found = holed if holed.is_valid else found
    if not found.is_valid:
        return patch(dice, hexes)
    return str(found if dice.random() < 0.5 else shapely.reverse(found))


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_artwork_through_dots_and_along_sides_is_reckoned_as_postgis_finds_it(
    connection: Connection, game: str, seed: int
) -> None:
    dice = random.Random(f"{game} {seed}")
    position = PAINTERS[game](seed + 60)
    hexes, terrain = sorted(position.board.hexes), {"bob": "woods", "ccp": "jungle"}[game]
    told = "select sum(cardinality(whole)), sum(cardinality(brink)), sum(cardinality(crests)) from drawn_hex"
    with Stored(connection, position) as id:
        board = connection.scalar(sa.text("select map_id from position where id = :id"), {"id": id})
        for n in range(100, 120):
            values = {"map": board, "game": game, "n": n, "terrain": terrain, "area": patch(dice, hexes)}
            values["line"] = shapely.LineString(corners(dice, hexes, 2)).wkt
            connection.execute(
                sa.text(
                    "insert into terrain_area (map_id, ruleset, n, terrain, geom) values (:map, :game, :n, :terrain, :area)"
                ),
                values,
            )
            connection.execute(
                sa.text(
                    "insert into crest (map_id, ruleset, n, level, geom) values (:map, :game, :n, 1, :line)"
                ),
                values,
            )
            assert lagging(connection) == [], values
        assert all(connection.execute(sa.text(told)).one())


@pytest.mark.parametrize("table", ["terrain_area", "crest", "hex cascade"])
def test_emptying_a_table_empties_what_is_kept_of_it(connection: Connection, table: str) -> None:
    with Stored(connection, test_sight_ccp.paint(3)):
        connection.execute(sa.text(f"truncate {table}"))
        assert lagging(connection) == []


def test_an_upgrade_works_drawn_terrain_out_anew(connection: Connection) -> None:
    with Stored(connection, test_sight_ccp.paint(3)):
        connection.execute(sa.text("update drawn_hex set areas = '{99}', level = 4"))
        connection.execute(sa.text("delete from drawn_edge where e = 1"))
        assert lagging(connection) != []
        psycopg_connection(connection).execute((SQL / "maps" / "drawn.sql").read_text(encoding="utf-8"))  # type: ignore[arg-type]
        assert lagging(connection) == []


def test_an_edge_stands_in_each_hex_that_it_meets(connection: Connection) -> None:
    """PostGIS says the same of the hexes that are on the map."""
    query = """
        with met as (
          select hex.q, hex.r, edge.x1, edge.y1, edge.x2, edge.y2
          from hex
          join (select distinct map_id, crest, n, e, x1, y1, x2, y2 from drawn_edge) as edge using (map_id)
          where hex.map_id = :map and st_intersects(
            hex.geom, st_makeline(st_point(x1 / 1024.0, y1 / 1024.0), st_point(x2 / 1024.0, y2 / 1024.0))
          )
        ),
        kept as (select q, r, x1, y1, x2, y2 from drawn_edge join hex using (map_id, q, r) where map_id = :map)
        select count(*)
        from ((table met except all table kept) union all (table kept except all table met)) as differing
    """
    for seed in range(5):
        with Stored(connection, test_sight_bob.paint(seed + 70, (6, 6))) as position:
            board = connection.scalar(sa.text("select map_id from position where id = :id"), {"id": position})
            assert connection.scalar(sa.text(query), {"map": board}) == 0


HEXES = """
select dq, dr, kind, q1, r1, enter, leave, den from lattice.trace where kind in ('hex', 'spine', 'touch')
union all
select dq, dr, kind, q2, r2, enter, leave, den from lattice.trace where kind = 'spine'
"""
RECKONED = """
select line.dq, line.dr, hex.*
from (select distinct dq, dr from lattice.trace) as line
cross join lateral lattice._reckoned_hexes(line.dq, line.dr) as hex
"""


def test_the_hexes_of_a_line_are_reckoned_as_postgis_finds_them(connection: Connection) -> None:
    traced, reckoned = (
        {tuple(row) for row in connection.execute(sa.text(query))} for query in (HEXES, RECKONED)
    )
    assert len(traced) > 30_000
    assert traced == reckoned


def test_long_lines_are_reckoned_as_postgis_finds_them(connection: Connection) -> None:
    dice = random.Random(5)
    query = "select * from lattice.{}(:dq, :dr) order by x, y, kind"
    for _ in range(25):
        step = {"dq": dice.randint(-40, 40), "dr": dice.randint(-40, 40)}
        if step != {"dq": 0, "dr": 0}:
            reckoned, literal = (
                connection.execute(sa.text(query.format(name)), step).all()
                for name in ("_reckoned", "_literal")
            )
            assert reckoned == literal, step


@pytest.mark.parametrize("game", GAMES)
def test_on_dense_artwork_a_fan_sees_what_los_sees(connection: Connection, game: str) -> None:
    for seed in range(4):
        dice = random.Random(f"{game} {seed}")
        position = dense(game, dice)
        middle = dice.choice(sorted(position.board.hexes))
        near = [hex for hex in position.board.hexes if hex.distance(middle) <= 4]
        position.board = position.board.part(near)
        position.units = {name: (unit, at) for name, (unit, at) in position.units.items() if at in near}
        position.markers = [marker for marker in position.markers if marker.at in near]
        viewer = f"hex:{position.board.scheme.label(middle)}"
        with Stored(connection, position) as id:
            given: dict[str, Any] = {"position": id, "from": viewer, "radius": None, "policy": None}
            fan = answer(connection, QUERIES["fan"].format(game=game), given)
            seen = {row[2]: row[3] for row in fan if isinstance(row, tuple)}
            for hex in near:
                label = position.board.scheme.label(hex)
                line = answer(connection, QUERIES["los"].format(game=game), given | {"to": f"hex:{label}"})
                verdict = line[-1]
                assert isinstance(verdict, tuple)
                visible = verdict[3] == "visible" and hex != middle
                assert seen.get(label) == (verdict[6] if visible else None), (viewer, label)


def told(connection: Connection, position: int, start: str, target: str) -> list[tuple[Any, ...]]:
    query = "select * from positions.line(:position, :start, :target)"
    values = {"position": position, "start": start, "target": target}
    return [tuple(row) for row in connection.execute(sa.text(query), values)]


CHANGES = (
    "update hex set level = level + 1 where map_id = :map and q + r = (select min(q + r) from hex where map_id = :map)",
    "update terrain_area set terrain = 'jungle' where map_id = :map",
    "update crest set level = level + 1 where map_id = :map",
    "insert into path (map_id, ruleset, kind, qs, rs) select map_id, ruleset, 'road', array[q, q], array[r, r + 1]"
    " from hex where map_id = :map order by q, r limit 1",
    "insert into marker (position_id, map_id, q, r, kind, value) select :id, map_id, q, r, 'smoke', 3 from hex"
    " where map_id = :map order by q, r limit 1",
    'update position set policy = \'{"ccp-34": "b"}\' where id = :id',
    "update position set conditions = '{\"night\": true}' where id = :id",
    'update position set tracks = \'{"hexes": {"A1|A2": {"roadblock": "cleared"}}}\' where id = :id',
    "update ruleset set presets = presets || '{\"ccp-34\": \"b\"}' where code = 'ccp'",
    "update terrain_effect set halves = halves + 2 where ruleset = 'ccp' and aspect = 'hindrance'",
)


@pytest.mark.parametrize("change", CHANGES)
def test_a_line_that_is_kept_is_dropped_by_whatever_may_change_it(
    connection: Connection, change: str
) -> None:
    position: PositionDraft = test_sight_ccp.paint(17)
    labels = [test_sight_ccp.label(hex) for hex in position.board.hexes]
    pairs = list(zip(labels, reversed(labels), strict=True))[:6]
    with Stored(connection, position) as id:
        board = connection.scalar(sa.text("select map_id from position where id = :id"), {"id": id})
        kept = sa.text("select count(*) from kept_line where position_id = :id")
        for start, target in pairs:
            told(connection, id, start, target)
        assert connection.scalar(kept, {"id": id}) == len(pairs)
        connection.execute(sa.text(change), {"map": board, "id": id})
        for start, target in pairs:
            live = answer(
                connection,
                QUERIES["los"].format(game="ccp"),
                {"position": id, "from": start, "to": target, "policy": None},
            )
            assert told(connection, id, start, target) == live
            assert told(connection, id, start, target) == live


def test_a_counter_that_changes_takes_its_lines_along(connection: Connection) -> None:
    with Stored(connection, test_sight_ccp.ground(test_sight_ccp.rectangle(2, 6, "C1"))) as id:
        connection.execute(
            sa.text(
                "insert into unit (position_id, map_id, q, r, code, side, kind) select :id, map_id, q, r, 'Zero', 'japan',"
                " 'aircraft' from hex join position using (map_id) where position.id = :id and label = 'C2'"
            ),
            {"id": id},
        )
        aloft = told(connection, id, "C5", "Zero")
        connection.execute(sa.text("update unit set kind = 'squad' where position_id = :id"), {"id": id})
        assert told(connection, id, "C5", "Zero") != aloft
