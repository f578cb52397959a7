"""What is kept for sight: the viewshed cache and the css ground never lag behind an edit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection, Engine

from db.database import make_engine, psycopg_connection
from db.map_draft import HexDraft, MapDraft
from db.position_draft import PositionDraft
from db.rulesets import read_ruleset
from db.schema import SQL
from importers.cases import store_position
from tests.rounds import rounds
from tests.small_map import scheme_of

SCHEME = scheme_of("css")
SIDE = 9
LABELS = [f"{column:02d}.{row:02d}" for column in range(1, SIDE + 1) for row in range(1, SIDE + 1)]
TERRAIN = ["clear", "brush", "rice_paddy", "rocky", "palm_forest", "swamp"]
HEXSIDES = ["ridge", "slope", "steep_slope", "cliff", "stream"]
MARKERS = [
    "smoke_barrage",
    "heavy_barrage",
    "bombardment",
    "on_fire",
    "fire_cleared",
    "illumination",
    "foxhole",
    "dg",
]


def plain_position(connection: Connection) -> int:
    board = MapDraft("css", SCHEME, hexes={SCHEME.hex(label): HexDraft("clear", 1) for label in LABELS})
    return store_position(connection, PositionDraft("css", board))


def board_of(connection: Connection, position: int) -> int:
    found = connection.scalar(sa.text("select map_id from position where id = :id"), {"id": position})
    assert found is not None
    return int(found)


Rows = set[tuple[Any, ...]]


def looked(connection: Connection, functions: tuple[str, str], **asked: Any) -> Rows:
    """What is seen, hex by hex, and the reasons why no more is."""
    seen, reasons = (
        connection.execute(sa.text(f"select * from {name}(:position, :viewer, :radius)"), asked).all()
        for name in functions
    )
    return {tuple(row) for row in seen} | {("why", None, None, *row) for row in reasons}


def cached(connection: Connection, position: int, viewer: str, radius: int | None) -> Rows:
    functions = "positions.viewshed", "positions.viewshed_reasons"
    return looked(connection, functions, position=position, viewer=viewer, radius=radius)


def live(connection: Connection, position: int, viewer: str, radius: int | None) -> Rows:
    functions = "css.fan", "css.fan_reasons"
    return looked(connection, functions, position=position, viewer=viewer, radius=radius)


def line(connection: Connection, function: str, position: int, start: str, target: str) -> list[Any]:
    """The rows of a line of sight, from what is kept (`positions.line`) or found anew (`css.los`)."""
    query = sa.text(f"select * from {function}(:position, :start, :target)")
    values = {"position": position, "start": start, "target": target}
    return [tuple(row) for row in connection.execute(query, values)]


def lagging(connection: Connection) -> list[tuple[Any, ...]]:
    """Rows of the kept ground that are not what the tables say, and rows that it lacks."""
    query = """
        (select 'kept', * from css_ground except select 'kept', * from css.ground)
        union all
        (select 'lacking', * from css.ground except select 'lacking', * from css_ground)
    """
    return [tuple(row) for row in connection.execute(sa.text(query))]


label = st.sampled_from(LABELS)
edit = st.one_of(
    st.tuples(st.just("terrain"), label, st.sampled_from(TERRAIN)),
    st.tuples(st.just("level"), label, st.integers(1, 4)),
    st.tuples(st.just("hexside"), label, st.tuples(st.integers(1, 6), st.sampled_from(HEXSIDES))),
    st.tuples(st.just("no_hexside"), label, st.none()),
    st.tuples(st.just("other_hexside"), label, st.sampled_from(HEXSIDES)),
    st.tuples(st.just("features"), label, st.sampled_from(["{}", "{cave}", "{village}"])),
    st.tuples(st.just("sight"), label, st.sampled_from(["open", "blocks", "blocks_at_second", None])),
    st.tuples(st.just("presets"), label, st.sampled_from(["a", "b"])),
    st.tuples(st.just("marker"), label, st.sampled_from(MARKERS)),
    st.tuples(st.just("no_marker"), label, st.none()),
    st.tuples(st.just("move_marker"), label, label),
    st.tuples(
        st.just("conditions"),
        label,
        st.sampled_from(
            ["{}", '{"time": "night"}', '{"weather": "rain"}', '{"acted": {"A": 1}, "weather": "rain"}']
        ),
    ),
    st.tuples(st.just("policy"), label, st.sampled_from(["{}", '{"css-12": "a"}', '{"css-11": "a"}'])),
    st.tuples(st.just("erase"), label, st.none()),
    st.tuples(st.just("restore"), label, st.sampled_from(TERRAIN)),
    st.tuples(st.just("relabel"), label, st.none()),
    st.tuples(st.just("move_hexside"), label, st.none()),
)
EDITS = {
    "terrain": "update hex set terrain = :what where map_id = :map and label = :label",
    "level": "update hex set level = :what where map_id = :map and label = :label",
    "hexside": "insert into hexside (map_id, ruleset, x, y, kind) select :map, 'css', hex.q + beside.nq,"
    " hex.r + beside.nr, :kind from hex, lattice.neighbours(hex.q, hex.r) as beside"
    " where hex.map_id = :map and hex.label = :label and beside.direction = :direction on conflict do nothing",
    "no_hexside": "delete from hexside where map_id = :map and (x, y) in (select hex.q + beside.nq, hex.r + beside.nr"
    " from hex, lattice.neighbours(hex.q, hex.r) as beside where hex.map_id = :map and hex.label = :label)",
    "other_hexside": "update hexside set kind = :what where map_id = :map and (x, y) in"
    " (select hex.q + beside.nq, hex.r + beside.nr from hex, lattice.neighbours(hex.q, hex.r) as beside"
    " where hex.map_id = :map and hex.label = :label) and (select count(*) from hexside as other"
    " where (other.map_id, other.x, other.y) = (hexside.map_id, hexside.x, hexside.y)) = 1",
    "features": "update hex set features = cast(:what as text[]) where map_id = :map and label = :label",
    "sight": "update terrain set sight = :what where ruleset = 'css'"
    " and code in ('brush', 'rocky', 'rice_paddy')",
    "presets": "update ruleset set presets = presets || jsonb_build_object('css-12', cast(:what as text))"
    " where code = 'css'",
    "marker": "insert into marker (position_id, map_id, q, r, kind) select :position, map_id, q, r, :what"
    " from hex where map_id = :map and label = :label",
    "no_marker": "delete from marker where (map_id, q, r) in"
    " (select map_id, q, r from hex where map_id = :map and label = :label)",
    "move_marker": "update marker set (q, r) = (select q, r from hex where map_id = :map and label = :what)"
    " where position_id = :position and (q, r) = (select q, r from hex where map_id = :map and label = :label)"
    " and exists (select from hex where map_id = :map and label = :what)",
    "conditions": "update position set conditions = cast(:what as jsonb) where id = :position",
    "policy": "update position set policy = cast(:what as jsonb) where id = :position",
    "erase": "delete from hex where map_id = :map and label = :label and :viewer <> label",
    "restore": "insert into hex (map_id, ruleset, q, r, label, terrain, level)"
    " values (:map, 'css', :q, :r, :label, :what, 2) on conflict do nothing",
    "relabel": "update hex set label = label || 'X' where map_id = :map and label = :label and :viewer <> label",
    "move_hexside": "update hexside set y = y + 2 where ctid = (select side.ctid from hexside as side,"
    " lattice.side_hexes(side.x, side.y + 2) as beside, hex where side.map_id = :map and hex.map_id = :map"
    " and (hex.q, hex.r) = (beside.q1, beside.r1) and not exists (select from hexside as other where"
    " (other.map_id, other.x, other.y, other.kind) = (side.map_id, side.x, side.y + 2, side.kind)) limit 1)",
}


@settings(
    max_examples=rounds(20, 300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(edit, label, st.sampled_from([None, 2, 4])), min_size=3, max_size=14), label)
def test_no_stale_answer_survives_any_edit(
    connection: Connection, edits: list[tuple[tuple[str, str, Any], str, int | None]], watched: str
) -> None:
    with connection.begin_nested() as savepoint:
        position = plain_position(connection)
        board = board_of(connection, position)
        there = set(LABELS)
        cached(connection, position, watched, None)
        for (kind, where, what), viewer, radius in edits:
            values = {"map": board, "position": position, "label": where, "what": what, "viewer": watched}
            if kind == "hexside":
                values |= {"direction": what[0], "kind": what[1]}
            if kind in ("erase", "relabel") and where != watched:
                there.discard(where)
            if kind == "restore":
                there.add(where)
                values |= dict(zip("qr", SCHEME.hex(where), strict=True))
            query = EDITS[kind]
            connection.execute(
                sa.text(query), {key: value for key, value in values.items() if f":{key}" in query}
            )
            assert lagging(connection) == [], kind
            for asked, far in ((watched, None), (viewer, radius)):
                if asked in there:
                    assert cached(connection, position, asked, far) == live(
                        connection, position, asked, far
                    ), kind
                    kept, found = (
                        line(connection, function, position, asked, watched)
                        for function in ("positions.line", "css.los")
                    )
                    assert kept == found, kind
        savepoint.rollback()


def test_the_second_look_comes_from_the_cache(connection: Connection) -> None:
    position = plain_position(connection)
    first = cached(connection, position, "05.05", None)
    kept = sa.text("select count(*) from viewshed where position_id = :id")
    assert connection.scalar(kept, {"id": position}) == 1
    # a cache that is really read: what is kept is what is answered
    connection.execute(
        sa.text("update viewshed set labels[1] = 'kept' where position_id = :id"), {"id": position}
    )
    assert "kept" in {row[2] for row in cached(connection, position, "05.05", None)}
    assert len(first) == len(live(connection, position, "05.05", None))


KEPT_LINES = sa.text("select count(*) from kept_line where position_id = :id")


def test_a_line_that_was_asked_is_kept_with_its_clauses(connection: Connection) -> None:
    position = plain_position(connection)
    connection.execute(
        sa.text("update hex set terrain = 'rocky' where map_id = :map and label = '05.05'"),
        {"map": board_of(connection, position)},
    )
    first = line(connection, "positions.line", position, "05.03", "05.07")
    assert first == line(connection, "css.los", position, "05.03", "05.07")
    # 7.1.1 a
    assert ("7.1.1", "a", "05.05", "blocks") in {row[:4] for row in first}
    assert connection.scalar(KEPT_LINES, {"id": position}) == 1
    connection.execute(
        sa.text("update kept_line set clauses[1] = 'kept' where position_id = :id"), {"id": position}
    )
    assert line(connection, "positions.line", position, "05.03", "05.07")[0][1] == "kept"


def test_lines_that_share_a_slot_take_turns(connection: Connection) -> None:
    """However many are asked, a position keeps no more than it has slots."""
    position = plain_position(connection)
    slot = sa.text("select positions._line_slot(:start, :target)")
    pairs: dict[Any, tuple[str, str]] = {}
    for start in LABELS:
        for target in LABELS:
            other = pairs.setdefault(
                connection.scalar(slot, {"start": start, "target": target}), (start, target)
            )
            if other != (start, target):
                break
        else:
            continue
        break
    for pair in (other, (start, target), other):
        kept, found = (line(connection, name, position, *pair) for name in ("positions.line", "css.los"))
        assert kept == found
        assert connection.execute(
            sa.text("select viewer, target from kept_line where position_id = :id"), {"id": position}
        ).all() == [pair]


def test_a_counter_that_changes_takes_its_line_along(connection: Connection) -> None:
    position = plain_position(connection)
    connection.execute(
        sa.text(
            "insert into unit (position_id, map_id, code, side, q, r, attributes)"
            " select :id, map_id, 'A', 'us', q, r, '{}' from hex where map_id = :map and label = '05.05'"
        ),
        {"id": position, "map": board_of(connection, position)},
    )
    on_land = line(connection, "positions.line", position, "05.03", "A")
    assert connection.scalar(KEPT_LINES, {"id": position}) == 1
    # 22.3.1: at sea it is seen at its beach, and no edit there would drop the line
    connection.execute(
        sa.text(
            'update unit set q = null, r = null, attributes = \'{"zone"\\: {"beach"\\: "05.05",'
            ' "run"\\: "approach"}}\' where position_id = :id'
        ),
        {"id": position},
    )
    assert connection.scalar(KEPT_LINES, {"id": position}) == 0
    at_sea = line(connection, "positions.line", position, "05.03", "A")
    assert at_sea == line(connection, "css.los", position, "05.03", "A")
    assert at_sea[-1][6] == on_land[-1][6] + 3
    assert connection.scalar(KEPT_LINES, {"id": position}) == 0


def test_an_edit_out_of_reach_drops_nothing(connection: Connection) -> None:
    position = plain_position(connection)
    cached(connection, position, "01.01", 2)
    connection.execute(sa.text("update hex set terrain = 'rocky' where label = '09.09'"))
    kept = sa.text("select count(*) from viewshed where position_id = :id")
    assert connection.scalar(kept, {"id": position}) == 1
    connection.execute(sa.text("update hex set terrain = 'rocky' where label = '02.02'"))
    assert connection.scalar(kept, {"id": position}) == 0


@pytest.mark.parametrize(
    ("edit", "dropped"),
    [
        ("update position set conditions = '{\"acted\": {\"A\": 1}, \"phase\": \"action\"}' where id = :id", False),
        ("update position set conditions = '{\"weather\": \"rain\"}' where id = :id", True),
        ("update position set conditions = '{\"time\": \"night\"}' where id = :id", True),
        ("insert into marker (position_id, map_id, q, r, kind) select position_id, map_id, q, r, 'dg' from viewshed", False),
        (
            "insert into marker (position_id, map_id, q, r, kind)"
            " select position_id, map_id, q, r, 'on_fire' from viewshed",
            True,
        ),
    ],
)  # fmt: skip
def test_what_hides_nothing_drops_nothing(connection: Connection, edit: str, dropped: bool) -> None:
    position = plain_position(connection)
    cached(connection, position, "05.05", 4)
    connection.execute(sa.text(edit.replace(": 1", "\\: 1")), {"id": position} if ":id" in edit else {})
    kept = sa.text("select count(*) from viewshed where position_id = :id")
    assert connection.scalar(kept, {"id": position}) == (0 if dropped else 1)
    assert cached(connection, position, "05.05", 4) == live(connection, position, "05.05", 4)


def test_a_renewed_position_keeps_what_was_seen(connection: Connection) -> None:
    position = plain_position(connection)
    cached(connection, position, "05.05", 4)
    made = connection.scalar(sa.text("select games.renewed(:id)"), {"id": position})
    kept = sa.text("select position_id from viewshed")
    assert connection.scalars(kept).all() == [made]
    assert cached(connection, made or 0, "05.05", 4) == live(connection, made or 0, "05.05", 4)


def test_a_viewer_in_a_cave_is_cached_apart(connection: Connection) -> None:
    position = plain_position(connection)
    connection.execute(
        sa.text(
            "insert into unit (position_id, map_id, code, side, q, r, attributes)"
            " select :id, map_id, 'in', 'japan', q, r, '{\"in_cave\": true}' from hex where label = '05.05'"
        ),
        {"id": position},
    )
    connection.execute(
        sa.text(
            "insert into hexside (map_id, ruleset, x, y, kind) select a.map_id, 'css', a.q + b.q, a.r + b.r, 'ridge'"
            " from hex a, hex b where a.map_id = b.map_id and a.label = '05.05' and b.label = '05.04'"
        )
    )
    outside = cached(connection, position, "05.05", None)
    inside = cached(connection, position, "in", None)
    assert "05.04" in {row[2] for row in outside}
    assert "05.04" not in {row[2] for row in inside}
    assert cached(connection, position, "05.05", None) == outside


def test_two_units_in_a_hex_are_cached_apart_and_a_changed_counter_is_seen_anew(
    connection: Connection,
) -> None:
    facts = read_ruleset("ddp").facts
    board = MapDraft("ddp", facts.scheme)
    board.hexes = {
        facts.scheme.hex(f"{column:02d}{row:02d}"): HexDraft("clear", 0)
        for column in range(1, 8)
        for row in range(1, 8)
    }
    position = store_position(connection, PositionDraft("ddp", board))
    for code, steps in (("full", 4), ("worn", 3)):
        connection.execute(
            sa.text(
                "insert into unit (position_id, map_id, code, side, kind, q, r, attributes)"
                " select :id, hex.map_id, :code, 'us', 'infantry', hex.q, hex.r, jsonb_build_object('steps', :steps)"
                " from hex join position on position.map_id = hex.map_id"
                " where position.id = :id and hex.label = '0404'"
            ),
            {"id": position, "code": code, "steps": steps},
        )

    def seen(unit: str) -> int:
        query = sa.text("select count(*) from positions.viewshed(:id, :unit)")
        count = connection.scalar(query, {"id": position, "unit": unit})
        assert count == connection.scalar(
            sa.text("select count(*) from ddp.fan(:id, :unit)"), {"id": position, "unit": unit}
        )
        return int(count)

    # 8.27: four steps reach two hexes, three only the next
    assert (seen("full"), seen("worn"), seen("full")) == (18, 6, 18)
    connection.execute(sa.text("update unit set attributes = '{\"steps\": 2}' where code = 'full'"))
    assert seen("full") == 6


Work = Callable[[Connection], object]


def waits(engine: Engine, first: Work, second: Work) -> None:
    """While the first has not committed, the second must wait; then it goes through."""
    done = threading.Event()

    def work() -> None:
        with engine.begin() as connection:
            second(connection)
        done.set()

    with engine.begin() as connection:
        first(connection)
        other = threading.Thread(target=work)
        other.start()
        time.sleep(0.3)
        assert not done.is_set(), "the second must wait for the first"
    other.join(timeout=10)
    assert done.is_set()


def test_a_reader_and_an_editor_at_once_leave_nothing_stale(own_engine: Engine) -> None:
    """One fills the cache and waits with its commit while the other edits."""
    with own_engine.begin() as connection:
        position = plain_position(connection)
    waits(
        own_engine,
        lambda reader: cached(reader, position, "05.05", None),
        lambda editor: editor.execute(sa.text("update hex set terrain = 'rocky' where label = '05.04'")),
    )
    with own_engine.begin() as connection:
        assert cached(connection, position, "05.05", None) == live(connection, position, "05.05", None)
        assert "05.03" not in {row[2] for row in cached(connection, position, "05.05", None)}


def test_a_map_that_goes_takes_its_ground_along(connection: Connection) -> None:
    board = board_of(connection, plain_position(connection))
    count = sa.text("select count(*) from css_ground where map_id = :map")
    assert connection.scalar(count, {"map": board}) == SIDE * SIDE
    connection.execute(sa.text("delete from map where id = :map"), {"map": board})
    assert connection.scalar(count, {"map": board}) == 0


@pytest.mark.parametrize("table", ["hexside", "hex cascade"])
def test_emptying_a_table_empties_what_is_kept(connection: Connection, table: str) -> None:
    position = plain_position(connection)
    connection.execute(
        sa.text(EDITS["hexside"]),
        {"map": board_of(connection, position), "label": "05.05", "kind": "ridge", "direction": 1},
    )
    cached(connection, position, "05.05", None)
    connection.execute(sa.text(f"truncate {table}"))
    assert lagging(connection) == []
    assert connection.scalar(sa.text("select count(*) from viewshed")) == 0
    walls = connection.scalar(sa.text("select coalesce(sum(walls), 0) from css_ground"))
    assert walls == 0


def test_an_upgrade_works_the_ground_out_anew(connection: Connection) -> None:
    plain_position(connection)
    connection.execute(sa.text("update css_ground set level = 4, walls = 99 where label = '05.05'"))
    connection.execute(sa.text("delete from css_ground where label = '05.06'"))
    assert len(lagging(connection)) == 3
    psycopg_connection(connection).execute((SQL / "css" / "ground.sql").read_text(encoding="utf-8"))  # type: ignore[arg-type]
    assert lagging(connection) == []


def test_two_editors_of_one_hex_leave_nothing_behind(own_engine: Engine) -> None:
    """Each puts a feature on another side of the same hex; neither sees the other's before it commits."""
    with own_engine.begin() as connection:
        plain_position(connection)

    def build(direction: int) -> Work:
        query = (
            "insert into hexside (map_id, ruleset, x, y, kind) select map_id, 'css', q + nq, r + nr, 'ridge'"
            " from hex, lattice.neighbours(q, r) as beside where label = '05.05' and beside.direction = :direction"
        )
        return lambda connection: connection.execute(sa.text(query), {"direction": direction})

    waits(own_engine, build(1), build(4))
    with own_engine.begin() as connection:
        assert lagging(connection) == []
        walls = connection.scalar(sa.text("select walls from css_ground where label = '05.05'"))
        assert bin(walls).count("1") == 2


def test_terrain_and_a_map_edited_at_once_leave_nothing_behind(own_engine: Engine) -> None:
    """Who changes what terrain does waits for a map that is coming in, and then sees it."""

    def bring_in(connection: Connection) -> None:
        plain_position(connection)
        connection.execute(sa.text("update hex set terrain = 'brush' where label = '05.04'"))

    let_brush_block = sa.text("update terrain set sight = 'blocks' where ruleset = 'css' and code = 'brush'")
    waits(own_engine, bring_in, lambda connection: connection.execute(let_brush_block))
    with own_engine.begin() as connection:
        assert lagging(connection) == []
        position = connection.scalar(sa.text("select id from position"))
        assert position is not None
        assert "05.03" not in {row[2] for row in cached(connection, position, "05.05", None)}


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_nobody_edits_what_others_keep_without_seeing_it(own_engine: Engine, level: str) -> None:
    """Under a stricter isolation an editor would not see, and so not drop, what was kept since it began."""
    with own_engine.begin() as connection:
        position = plain_position(connection)
    with own_engine.connect().execution_options(isolation_level=level) as editor:
        editor.execute(sa.text("select 1 from map")).all()
        with own_engine.begin() as reader:
            assert "05.03" in {row[2] for row in cached(reader, position, "05.05", None)}
        with pytest.raises(sa.exc.DBAPIError, match="edited under READ COMMITTED only"):
            editor.execute(sa.text("update hex set terrain = 'rocky' where label = '05.04'"))
    with own_engine.begin() as connection:
        assert cached(connection, position, "05.05", None) == live(connection, position, "05.05", None)


def test_a_server_with_a_stricter_default_is_used_all_the_same(databases: Any) -> None:
    url = databases.make()
    owner = make_engine(url)
    with owner.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(
            sa.text(f"alter database {url.database} set default_transaction_isolation = 'serializable'")
        )
    owner.dispose()
    engine = make_engine(url)
    with engine.begin() as connection:
        plain_position(connection)
    engine.dispose()
