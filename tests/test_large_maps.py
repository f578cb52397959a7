"""Large maps at the doors: what is kept equals what is counted, nothing kept is stale, nobody loads a map to show it."""

from __future__ import annotations

import gzip
import random
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shapely
import sqlalchemy as sa
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection, Engine

from app.web import site
from app.web.api import maps as api
from app.web.site import create_app
from db.budget import Budget, TooMuchError, within
from db.compact import HexTable, SideSet
from db.database import make_engine
from db.inventory import map_facts
from db.keeping import Kept
from db.labels import Axial
from db.settings import Settings
from importers import maps as stored
from importers.documents import Problems
from importers.maps import import_map, load_draft, open_map, read_map_file
from tests.bench.large import draw_map
from tests.conftest import Databases
from tests.small_map import make_map
from tests.test_gis import fill
from tests.test_map_api import decoded

COLUMNS, ROWS = 130, 120
"""More hexes side by side than a tile shows one by one."""
MAPS = "/api/v1/maps"


@pytest.fixture(scope="module")
def engine_of_large(databases: Databases) -> Iterator[Engine]:
    engine = make_engine(databases.make())
    with engine.begin() as connection:
        draw_map(connection, "large", COLUMNS, ROWS)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def large(engine_of_large: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), engine_of_large).test_client()


# What is kept is what counting gives

EDITS = {
    "a hex comes": "insert into hex (map_id, ruleset, q, r, label, terrain, level) select {map}, ruleset, {q}, {r}, {label},"
    " terrain, 1 from hex where map_id = {map} limit 1",
    "a hex goes": "delete from hex where map_id = {map} and (q, r) = (select q, r from hex where map_id = {map}"
    " order by {end} limit 1)",
    "hexes are otherwise": "update hex set level = 1 + {n} % 4, terrain = (select code from terrain where"
    " terrain.ruleset = hex.ruleset order by md5(code || {n}) limit 1) where map_id = {map} and q % 3 = {n} % 3",
    "a hex moves": "update hex set q = {q}, r = {r}, label = {label} where map_id = {map} and (q, r) ="
    " (select q, r from hex where map_id = {map} order by {end} limit 1)",
    "hexsides come": "insert into hexside (map_id, ruleset, x, y, kind) select map_id, ruleset, 2 * q, 2 * r + 1,"
    " (select code from hexside_kind where hexside_kind.ruleset = hex.ruleset order by md5(code || {n}) limit 1)"
    " from hex where map_id = {map} and r % 2 = {n} % 2 on conflict do nothing",
    "hexsides go": "delete from hexside where map_id = {map} and x % 3 = {n} % 3",
    "a path comes": "insert into path (map_id, ruleset, kind, qs, rs) select map_id, ruleset, (select code from path_kind"
    " where path_kind.ruleset = one.ruleset order by md5(code || {n}) limit 1), array[q, q], array[r, r + 1] from hex as one"
    " where map_id = {map} and exists (select from hex as other where other.map_id = one.map_id and other.q = one.q"
    " and other.r = one.r + 1) limit 1",
    "paths go": "delete from path where map_id = {map}",
    "a place comes": "insert into map_feature (map_id, ruleset, kind, code) values ({map}, (select ruleset from map where"
    " id = {map}), 'landmark', 'place {n}') on conflict do nothing",
    "artwork goes and comes": "update terrain_area set terrain = terrain where map_id = {map}",
    "a title changes": "update map set title = 'title {n}' where id = {map}",
    "all in turn": "delete from map_feature where map_id = {map}",
}


def kept_and_counted(connection: Connection) -> tuple[list[Any], list[Any]]:
    counts = "select map_id, part, word, count from {} order by 1, 2, 3"
    bounds = (
        "select map.id, q_low, q_high, y_low, y_high from map left join {} as kept on kept.map_id = map.id"
        " order by map.id"
    )
    return tuple(  # type: ignore[return-value]
        [
            list(connection.execute(sa.text(query.format(table))))
            for query, table in ((counts, counted), (bounds, bounded))
        ]
        for counted, bounded in (("map_count", "map_summary"), ("maps.counted", "maps.bounded"))
    )


def versions(connection: Connection) -> dict[int, str]:
    rows = connection.execute(sa.text("select id, gis.map_version(id) from map"))
    return {row[0]: row[1] for row in rows}


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_is_what_counting_gives_after_any_edit(connection: Connection, seed: int) -> None:
    fill(connection)
    chance = random.Random(seed)
    ids = list(connection.scalars(sa.text("select id from map order by id")))
    done = 0
    for n in range(60):
        map_id, edit = chance.choice(ids), chance.choice(list(EDITS))
        q, r = chance.randint(-9, 30), chance.randint(-30, 100)
        end = chance.choice(["q", "q desc", "2 * r + q", "2 * r + q desc", "md5(label)"])
        query = EDITS[edit].format(map=map_id, n=n, q=q, r=r, label=f"'X{n}'", end=end)
        before = versions(connection)
        savepoint = connection.begin_nested()
        try:
            changed = connection.execute(sa.text(query)).rowcount
        except sa.exc.IntegrityError:
            # under a path or beside a hexside a hex stays; one is there already
            savepoint.rollback()
            assert versions(connection) == before, edit
            continue
        kept, counted = kept_and_counted(connection)
        assert kept == counted, (n, edit)
        after = versions(connection)
        assert (after[map_id] != before[map_id]) == (changed > 0), edit
        assert {one: after[one] for one in ids if one != map_id} == {
            one: before[one] for one in ids if one != map_id
        }
        done += changed > 0
        if chance.random() < 0.2:
            savepoint.rollback()
            assert versions(connection) == before
            assert kept_and_counted(connection)[0] == kept_and_counted(connection)[1]
    assert done > 20


def test_a_map_that_goes_takes_what_is_kept_of_it_along(connection: Connection) -> None:
    fill(connection)
    connection.execute(sa.text("delete from position where not bare"))
    connection.execute(sa.text("delete from map where name = 'guam'"))
    kept, counted = kept_and_counted(connection)
    assert kept == counted
    connection.execute(sa.text("truncate crest"))
    assert kept_and_counted(connection)[0] == kept_and_counted(connection)[1]
    assert map_facts(connection, "ridge").crests == {}


# Nothing that is kept is stale


def test_no_answer_is_older_than_the_last_edit_before_it(databases: Databases) -> None:
    """An editor edits all the while; who asks after an edit has committed sees it, at every door and in every process."""
    url = databases.make()
    engines = [make_engine(url) for _ in range(2)]
    with engines[0].begin() as connection:
        map_id = make_map(connection, "busy", ("01.01", "06.06"))
    clients = [create_app(Settings(log_level="error"), engine).test_client() for engine in engines]
    doors = (
        "/maps/busy", "/maps/busy?look=03.03", f"{MAPS}/busy/layers/hexes", f"{MAPS}/busy/ground/1/0/-1",
        f"{MAPS}/busy/tiles/0/0/0.mvt",
    )  # fmt: skip
    committed, asked, stale = [0], [0], []
    over = threading.Event()

    def ask(client: FlaskClient, seed: int) -> None:
        chance = random.Random(seed)
        while not over.is_set():
            address, at_least = chance.choice(doors), committed[0]
            answer = client.get(address)
            text = answer.data.decode(errors="replace")
            told = [n for n in range(at_least, at_least + 200) if f"edit {n}." in text]
            if answer.status_code != 200 or not told:
                stale.append((address, at_least, answer.status_code))
            asked[0] += 1

    edit = sa.text("update hex set name = :name where map_id = :map and label = '03.03'")
    with engines[1].connect() as connection:
        connection.execute(edit, {"name": "edit 0.", "map": map_id})
        connection.commit()
        threads = [threading.Thread(target=ask, args=(clients[n % 2], n)) for n in range(3)]
        for thread in threads:
            thread.start()
        for n in range(1, 121):
            connection.execute(edit, {"name": f"edit {n}.", "map": map_id})
            connection.commit()
            committed[0] = n
        over.set()
        for thread in threads:
            thread.join()
    for engine in engines:
        engine.dispose()
    assert not stale
    assert asked[0] > 20


def test_an_unchanged_page_is_not_made_again(large: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    first = large.get("/maps/large")
    monkeypatch.setattr("app.web.pages.maps.render_template", None)
    again = large.get("/maps/large")
    assert (again.status_code, again.data) == (200, first.data)
    unchanged = large.get("/maps/large", headers={"If-None-Match": first.headers["ETag"]})
    assert unchanged.status_code == 304


def test_what_is_kept_has_its_limit() -> None:
    kept: Kept[str] = Kept(100)
    for key in range(10):
        kept.put(key, str(key), 20)
        assert kept.get(0 if key else key) in ("0", None)
        assert kept.size <= 100
    assert kept.get(0) == "0", "what is asked for stays"
    assert kept.get(1) is None
    kept.put("much", "much", 60)
    assert kept.get("much") is None


# Nobody loads a map to show it


@pytest.mark.parametrize(
    ("address", "status", "told"),
    [
        ("/maps/large", 200, "15,600 hexes"),
        ("/maps/large?look=60.60", 200, "60.60"),
        ("/maps/large?look=160.60", 422, "160.60 is not a hex of this map (did you mean"),
        ("/maps/large?tool=fan&from=60.60", 200, "sees"),
        ("/maps/large?tool=fan&from=60.60&part=panel", 200, "sees"),
        ("/maps/large/picture.svg", 200, "<svg"),
        ("/maps/large/case?tool=los&from=60.60&to=62.62", 200, "expect:"),
        ("/maps", 200, "15,600 hexes"),
        (f"{MAPS}/large", 200, "15600"),
        (f"{MAPS}/large/layers/hexes?bbox=60,-80,70,-70", 200, "features"),
    ],
)
def test_no_page_reads_all_hexes(
    large: FlaskClient, monkeypatch: pytest.MonkeyPatch, address: str, status: int, told: str
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("all hexes of the map are read")

    monkeypatch.setattr(stored.StoredHexes, "_load_all", refuse)
    monkeypatch.setattr(stored, "load_draft", refuse)
    monkeypatch.setattr(stored, "LARGE", 100)
    site.ANSWERS.clear()
    answer = large.get(address)
    assert answer.status_code == status
    assert told in answer.text
    assert len(answer.data) < 1_000_000


def test_a_part_of_a_stored_map_is_what_a_drawing_of_it_needs(engine_of_large: Engine) -> None:
    with engine_of_large.connect() as connection:
        board, whole = open_map(connection, "large"), load_draft(connection, "large")
        assert (board.size, board.span()) == (whole.size, whole.span())
        columns, rows = range(18, 26), range(40, 50)
        cut = board.cut(columns, rows)
    inside = {place for place in whole.hexes if place.q in columns and place.row in rows}
    beside = {place.beside(direction) for place in inside for direction in range(1, 7)} & whole.hexes.keys()
    assert inside | beside <= cut.hexes.keys()
    assert len(cut.hexes) < 3 * len(inside)
    assert all(cut.hexes[place] == whole.hexes[place] for place in cut.hexes)
    mine, theirs = whole.part(inside), cut.part(inside)
    assert (mine.hexsides, mine.paths) == (theirs.hexsides, theirs.paths)


# From afar


def test_a_tile_of_many_hexes_is_thinned_out(large: FlaskClient, engine_of_large: Engine) -> None:
    tile = decoded(large.get(f"{MAPS}/large/tiles/0/0/0.mvt").data)
    with engine_of_large.connect() as connection:
        terrain = {
            (row.q, row.r): (row.terrain, row.level)
            for row in connection.execute(sa.text("select q, r, terrain, level from hex"))
        }
    assert "hexsides" not in tile
    assert tile["paths"]
    hexes = tile["hexes"]
    assert len(terrain) / 5 < len(hexes) < len(terrain) / 3
    for said, _ in hexes:
        assert said["step"] == 2
        assert said["q"] % 2 == said["r"] % 2 == 0
        assert terrain[said["q"], said["r"]] == (said["terrain"], said["level"])
    # they cover the map as all its hexes would: without gaps, and without lying over one another
    left, low, right, high = large.get(f"{MAPS}/large").json["bounds"]
    size = max(right - left, high - low) / 4096
    shapes = [shapely.Polygon(points) for _, points in hexes]
    together = shapely.union_all([shape.buffer(1) for shape in shapes])
    assert together.area * size**2 == pytest.approx((right - left) * (high - low), rel=0.06)
    assert sum(shape.area for shape in shapes) * size**2 == pytest.approx(together.area * size**2, rel=0.06)
    nearer = [decoded(large.get(f"{MAPS}/large/tiles/1/{x}/{y}.mvt").data) for x in (0, 1) for y in (0, 1)]
    assert {said["label"] for one in nearer for said, _ in one["hexes"]} >= {
        said["label"] for said, _ in hexes
    }
    assert all("step" not in said for one in nearer for said, _ in one["hexes"])


def test_squares_of_ground_have_every_hex_once(large: FlaskClient, engine_of_large: Engine) -> None:
    with engine_of_large.connect() as connection:
        draft = load_draft(connection, "large")
    found: dict[Axial, Any] = {}
    for x in range(4):
        for y in range(-5, 0):
            square = large.get(f"{MAPS}/large/ground/1/{x}/{y}").json
            for q, r, *told in square["hexes"] or []:
                px, py = draft.scheme.display_point(Axial(q, r))
                if (px // 64, py // 64) == (x, y):
                    assert Axial(q, r) not in found
                    found[Axial(q, r)] = told
    assert {place: (told[1], told[2]) for place, told in found.items()} == {
        place: (hex.terrain, hex.level) for place, hex in draft.hexes.items()
    }
    assert all(draft.scheme.label(place) == told[0] for place, told in found.items())
    square = large.get(f"{MAPS}/large/ground/1/0/-1").json
    assert {(x, y, kind) for x, y, kind in square["sides"]} <= set(draft.hexsides)
    assert square["paths"]
    far = large.get(f"{MAPS}/large/ground/4/0/-1").json
    assert far["hexes"]
    assert all(q % 4 == r % 4 == 0 for q, r, *_ in far["hexes"])
    assert far["lines"]
    for wrong in ("3/0/0", "1/99999/0", "1/a/0"):
        assert large.get(f"{MAPS}/large/ground/{wrong}").status_code in (404, 422)


# Streams


@pytest.mark.parametrize("layer", ["hexes", "hexsides", "paths"])
@pytest.mark.parametrize("bbox", [None, "30,-80,90,-20"])
def test_a_layer_is_the_same_piece_by_piece(
    large: FlaskClient, monkeypatch: pytest.MonkeyPatch, layer: str, bbox: str | None
) -> None:
    def asked(**headers: str) -> Any:
        address = f"{MAPS}/large/layers/{layer}"
        return large.get(address, query_string={"bbox": bbox} if bbox else {}, headers=headers, buffered=True)

    monkeypatch.setattr(api, "AT_ONCE", 100_000)
    whole = asked()
    monkeypatch.setattr(api, "AT_ONCE", 10)
    monkeypatch.setattr(api, "PAGE", 97)
    pieces = asked()
    assert "Content-Length" in whole.headers
    assert "Content-Length" not in pieces.headers
    assert pieces.data == whole.data
    assert pieces.headers["ETag"] == whole.headers["ETag"]
    assert gzip.decompress(asked(**{"Accept-Encoding": "gzip"}).data) == whole.data
    assert asked(**{"If-None-Match": pieces.headers["ETag"]}).status_code == 304


def test_only_so_many_long_answers_are_sent_at_once(
    engine_of_large: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "AT_ONCE", 10)
    client = create_app(Settings(log_level="error", streams=1), engine_of_large).test_client()
    address = f"{MAPS}/large/layers/paths"
    first = client.get(address, buffered=False)
    refused = client.get(address)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    first.close()
    assert client.get(address, buffered=True).status_code == 200


# In little memory

PLACES = st.tuples(st.integers(-70, 70), st.integers(-70, 70)).map(lambda place: Axial(*place))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PLACES, st.sampled_from(["clear", "brush", None]))))
def test_a_table_of_hexes_is_a_mapping(edits: list[tuple[Axial, str | None]]) -> None:
    table, plain = HexTable(), {}
    for place, ground in edits:
        if ground is None:
            assert table.pop(place, None) == plain.pop(place, None)
        else:
            table[place] = plain[place] = ground
    assert table == plain
    assert len(table) == len(plain)
    assert all(place in table for place in plain)
    assert Axial(99, 99) not in table


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(PLACES, st.sampled_from(["ridge", "cliff", "river"]), st.booleans())))
def test_a_set_of_hexsides_is_a_set(edits: list[tuple[Axial, str, bool]]) -> None:
    table, plain = SideSet(), set()
    for (x, y), kind, comes in edits:
        (table.add if comes else table.discard)((x, y, kind))
        (plain.add if comes else plain.discard)((x, y, kind))
    assert table == plain
    assert len(table) == len(plain)


def tables(folder: Path, rows: list[str], sides: list[str] = []) -> Path:  # noqa: B006
    """A map in CSV, zipped."""
    path = folder / "tables.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("map.yaml", "ruleset: css\nname: tables\n")
        archive.writestr("hexes.csv", "label,terrain,level\n" + "\n".join(rows))
        archive.writestr("hexsides.csv", "hexside,kind\n" + "\n".join(sides))
    return path


def test_a_large_table_is_read_row_by_row_into_little_memory(tmp_path: Path) -> None:
    rows = [
        f"{c:02}.{n:02},{'brush' if c % 7 else 'rocky'},{1 + n % 4}"
        for c in range(1, 181)
        for n in range(1, 121)
    ]
    sides = [f"{c:02}.{n:02}|{c:02}.{n + 1:02},ridge" for c in range(1, 181, 2) for n in range(1, 100, 3)]
    told: list[tuple[int, int]] = []
    draft = read_map_file(tables(tmp_path, rows, sides), lambda *one: told.append(one))
    assert isinstance(draft.hexes, HexTable)
    assert isinstance(draft.hexsides, SideSet)
    assert (len(draft.hexes), len(draft.hexsides)) == (len(rows), len(sides))
    assert draft.hexes[draft.scheme.hex("07.03")].terrain == "rocky"
    assert told
    assert all(done <= total for done, total in told)


def test_a_large_table_tells_its_mistakes_as_a_small_one_does(tmp_path: Path) -> None:
    rows = [f"{c:02}.{n:02},brush,1" for c in range(1, 181) for n in range(1, 121)]
    rows[21_000:21_003] = ["01.01,brush,1", "xx,brush,1", "190.01,brusk,9"]
    sides = [
        "01.01|01.02,ridge",
        "01.02|01.01,ridge",
        "03.03|03.04,cliff",
        "03.03|03.04,cliff",
        "01.01|05.05,ridge",
    ]
    with pytest.raises(Problems) as wrong:
        read_map_file(tables(tmp_path, rows, sides))
    lines = str(wrong.value).splitlines()
    assert [line.partition("hexes.csv:")[2].partition(": ")[2] for line in lines[:4]] == [
        "01.01: 01.01 is named twice, first on line 2",
        "xx: 'xx' is not a label of this map; labels look like 05.07",
        "190.01/terrain: unknown terrain 'brusk' (did you mean brush?)",
        "190.01/level: 9 is not between 1 and 4, the levels of css",
    ]
    assert [line.partition("hexsides.csv:")[2] for line in lines[4:]] == [
        "3: 01.02|01.01: 01.02|01.01 is the same hexside as 01.01|01.02, named on line 2",
        "5: 03.03|03.04: 03.03|03.04 has its cliff twice, first on line 4",
        "6: 01.01|05.05: 01.01|05.05: the two hexes are not adjacent; adjacent to 01.01 are 01.00, 02.01, 02.02, 01.02, 00.02, 00.01",
    ]


def test_a_table_that_is_wrong_throughout_is_counted(tmp_path: Path) -> None:
    with pytest.raises(Problems) as wrong:
        read_map_file(tables(tmp_path, [f"01.{n:02},brusk,1" for n in range(1, 9999)] * 2))
    assert len(wrong.value.found) == 10_000
    # of every row its terrain, of every second that the hex is there already
    assert str(wrong.value).endswith("… and 29794 more problems")


def test_the_web_takes_no_more_hexes_than_before(tmp_path: Path) -> None:
    path = tables(tmp_path, [f"{c:02}.{n:02},brush,1" for c in range(1, 21) for n in range(1, 11)])
    with within(Budget(60, {"hexes of a map": 199})), pytest.raises(TooMuchError, match="hexes of a map"):
        read_map_file(path)
    with within(Budget(60, {"hexes of a map": 200})):
        assert len(read_map_file(path).hexes) == 200


def test_a_large_map_comes_in_with_its_rows_in_several_goes(
    connection: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "ROWS", 70)
    rows = [f"{c:02}.{n:02},brush,{1 + n % 4}" for c in range(1, 21) for n in range(1, 21)]
    report = import_map(connection, tables(tmp_path, rows, ["01.01|01.02,ridge", "03.01|03.02,cliff"]))
    assert (report.hexes, report.hexsides) == (400, 2)
    kept, counted = kept_and_counted(connection)
    assert kept == counted
    asked = sa.text("select count(*) from css_ground where map_id = :map")
    assert connection.scalar(asked, {"map": report.map_id}) == 400
