"""The gis layers: what an archivist's GIS opens is complete, regular and in the right place."""

from __future__ import annotations

import itertools
import math
import re
import shutil
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyogrio
import pytest
import shapely
import sqlalchemy as sa
from conftest import Databases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_map import make_map, scheme_of
from sqlalchemy.engine import URL, Connection

from db.database import make_engine
from db.labels import Scheme
from db.map_draft import ControlPoint
from db.maps import Crest, Hexside, MapFeature, MapFeatureHex, TerrainArea
from db.maps import Path as Way
from db.positions import Marker, Position, Unit
from importers.georeference import georeference, import_control_points

LAYERS = {
    "hex": "Polygon",
    "hexside": "LineString",
    "path": "LineString",
    "terrain_area": "Polygon",
    "crest": "LineString",
    "map_feature": "MultiPolygon",
    "field_of_fire": "MultiPoint",
    "unit": "Point",
    "marker": "Point",
}
VIEWS = [*LAYERS, *(f"{layer}_world" for layer in LAYERS)]
POINTED = Scheme(orientation="pointed")
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def fill(connection: Connection) -> None:
    """Four maps, one of them pointed, one georeferenced, with something in every layer."""
    guam = make_map(connection, "guam", ("20.76", "26.84"))
    css = scheme_of("css")
    for side, kind in (("22.79|23.79", "ridge"), ("22.79|23.79", "slope"), ("20.76|6", "cliff")):
        x, y = css.side(side)
        add(connection, Hexside, map_id=guam, x=x, y=y, kind=kind, ruleset="css")
    road = [css.hex(label) for label in ("21.80", "22.80", "23.79")]
    add(
        connection,
        Way,
        map_id=guam,
        ruleset="css",
        kind="trail",
        qs=[h.q for h in road],
        rs=[h.r for h in road],
    )
    corners = (("20.76", 240000, 1480000), ("26.76", 242078, 1480000), ("20.84", 240000, 1476800))
    points = [ControlPoint(css.hex(label), Decimal(x), Decimal(y)) for label, x, y in corners]
    georeference(connection, "guam", points, 32655)

    peleliu = make_map(connection, "peleliu", ("0101", "0608"), ruleset="ddp")
    ddp = scheme_of("ddp")
    feature = add(connection, MapFeature, map_id=peleliu, ruleset="ddp", kind="position", code="B5",
                  attributes={"color": "blue"})  # fmt: skip
    add(connection, MapFeature, map_id=peleliu, ruleset="ddp", kind="box", code="Reserve")
    dots = (("at", "0304"), ("intense", "0204"), ("intense", "0203"), ("steady", "0104"))
    for role, label in dots:
        q, r = ddp.hex(label)
        add(connection, MapFeatureHex, feature=feature, role=role, map_id=peleliu, q=q, r=r)

    ridge = make_map(connection, "ridge", ("A1", "F6"), ruleset="ccp")
    outline = [
        scheme_of("ccp").lattice_point(Fraction(x), Fraction(y)) for x, y in ((1, 1), (3, 1), (3, 4), (1, 1))
    ]
    add(connection, TerrainArea, map_id=ridge, n=1, ruleset="ccp", terrain="jungle",
        geom=shapely.Polygon([(float(x), float(y)) for x, y in outline]).wkt)  # fmt: skip
    line = [scheme_of("ccp").lattice_point(Fraction(x), Fraction(y)) for x, y in ((1, 5), (5, 5))]
    add(connection, Crest, map_id=ridge, n=1, ruleset="ccp", level=1,
        geom=shapely.LineString([(float(x), float(y)) for x, y in line]).wkt)  # fmt: skip

    make_map(connection, "pointed", ("0101", "0606"), ruleset="fpb", scheme=POINTED)

    position = add(connection, Position, name="first-day", map_id=guam, ruleset="css")
    for code, label in (("C/1/9", "22.80"), ("B/1/9", "22.80"), ("HQ", None)):
        q, r = css.hex(label) if label else (None, None)
        add(connection, Unit, position_id=position, map_id=guam, q=q, r=r, code=code, side="us")
    q, r = css.hex("22.80")
    add(connection, Marker, position_id=position, map_id=guam, q=q, r=r, kind="dg", value=2)


def add(connection: Connection, table: Any, **values: Any) -> Any:
    key = next(iter(table.__table__.primary_key))
    return connection.execute(sa.insert(table).values(**values).returning(key)).scalar_one()


@pytest.fixture
def filled(connection: Connection) -> Connection:
    fill(connection)
    return connection


def ask(connection: Connection, query: str, **values: Any) -> list[sa.Row[Any]]:
    return list(connection.execute(sa.text(query), values))


# As a catalogue


def test_every_layer_has_a_number_first_and_one_geometry_of_one_type_last(filled: Connection) -> None:
    declared = {
        row.f_table_name: (row.f_geometry_column, row.type.lower(), row.srid)
        for row in ask(filled, "select * from geometry_columns where f_table_schema = 'gis'")
    }
    assert declared == {
        **{layer: ("geom", kind.lower(), 0) for layer, kind in LAYERS.items()},
        **{f"{layer}_world": ("geom", kind.lower(), 4326) for layer, kind in LAYERS.items()},
    }
    for view in VIEWS:
        columns = ask(
            filled,
            "select column_name, data_type from information_schema.columns"
            " where table_schema = 'gis' and table_name = :view order by ordinal_position",
            view=view,
        )
        assert tuple(columns[0]) == ("id", "bigint"), view
        assert columns[-1].column_name == "geom", view


def test_the_layers_function_lists_them_all(filled: Connection) -> None:
    assert [row.layer for row in ask(filled, "select layer from gis.layers()")] == list(LAYERS)


def test_everything_in_the_gis_schema_is_explained(filled: Connection) -> None:
    mute = ask(
        filled,
        """
        select format('%s.%s', c.relname, a.attname) as thing
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
        where c.relnamespace = 'gis'::regnamespace and col_description(c.oid, a.attnum) is null
        union all
        select relname from pg_class
        where relnamespace = 'gis'::regnamespace and relkind = 'v' and obj_description(oid, 'pg_class') is null
        union all
        select proname from pg_proc
        where pronamespace = 'gis'::regnamespace and obj_description(oid, 'pg_proc') is null
        """,
    )
    assert mute == []


def test_a_layer_on_real_ground_does_not_speak_of_the_display_plane(filled: Connection) -> None:
    words = ask(
        filled,
        """
        select c.relname, obj_description(c.oid, 'pg_class') || coalesce(col_description(c.oid, a.attnum), '')
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'geom'
        where c.relnamespace = 'gis'::regnamespace and c.relname like '%\\_world'
        """,
    )
    assert len(words) == len(LAYERS)
    for view, text in words:
        assert "display" not in text, view
        assert "y up" not in text, view
        assert "EPSG:4326" in text, view


@pytest.mark.parametrize(
    ("layer", "count"),
    [
        ("hex", 63 + 48 + 36 + 36),
        ("hexside", 3),
        ("path", 1),
        ("terrain_area", 1),
        ("crest", 1),
        ("map_feature", 2),
        ("field_of_fire", 2),
        ("unit", 3),
        ("marker", 1),
    ],
)
def test_a_layer_has_every_feature_once(filled: Connection, layer: str, count: int) -> None:
    [row] = ask(filled, f"select count(*) as n, count(distinct id) as ids, min(id) as least from gis.{layer}")
    assert (row.n, row.ids) == (count, count)
    assert row.least > 0


def test_only_georeferenced_maps_are_on_real_ground(filled: Connection) -> None:
    found = {
        view: ask(filled, f"select distinct map from gis.{view}") for view in VIEWS if view.endswith("world")
    }
    with_rows = {view for view, maps in found.items() if maps}
    assert with_rows == {"hex_world", "hexside_world", "path_world", "unit_world", "marker_world"}
    assert {row.map for maps in found.values() for row in maps} == {"guam"}


def test_ids_stay_when_maps_come_and_go(filled: Connection) -> None:
    query = "select id from gis.hex where map = 'peleliu' order by label"
    before = ask(filled, query)
    filled.execute(sa.text("delete from map where name = 'guam'"))
    make_map(filled, "another", ("01.01", "09.09"))
    assert ask(filled, query) == before


@few
@given(
    st.sets(
        st.tuples(
            st.integers(1, 2**20), st.integers(-40000, 40000), st.integers(-40000, 40000), st.integers(0, 63)
        ),
        min_size=2,
        max_size=50,
    )
)
def test_packed_numbers_are_different_for_each(connection: Connection, places: set[tuple[int, ...]]) -> None:
    numbers = {
        ask(connection, "select gis._packed(:m, :x, :y, :n) as id", m=m, x=x, y=y, n=n)[0].id
        for m, x, y, n in places
    }
    assert len(numbers) == len(places)
    assert all(number > 0 for number in numbers)


# In the display plane


def hexes(connection: Connection, map_name: str) -> dict[str, shapely.Polygon]:
    rows = ask(connection, "select label, st_asbinary(geom) as shape from gis.hex where map = :m", m=map_name)
    return {row.label: shapely.from_wkb(row.shape) for row in rows}


@pytest.mark.parametrize("map_name", ["guam", "peleliu", "ridge", "pointed"])
def test_hexes_are_regular_with_a_corner_radius_of_one(filled: Connection, map_name: str) -> None:
    first_corner = 30 if map_name == "pointed" else 0
    for polygon in hexes(filled, map_name).values():
        corners = polygon.exterior.coords[:-1]
        x, y = polygon.centroid.coords[0]
        angles = sorted(round(math.degrees(math.atan2(cy - y, cx - x)), 9) % 60 for cx, cy in corners)
        assert len(corners) == 6
        assert [math.dist((x, y), corner) for corner in corners] == pytest.approx([1] * 6)
        assert all(min(abs(angle - first_corner), abs(angle - first_corner - 60)) < 1e-6 for angle in angles)


def test_columns_go_right_and_rows_go_down(filled: Connection) -> None:
    for map_name, here, right, below in (
        ("guam", "22.80", "24.80", "22.81"),
        ("peleliu", "0304", "0504", "0305"),
        ("ridge", "C3", "E3", "C4"),
        ("pointed", "0303", "0403", "0305"),
    ):
        shown = hexes(filled, map_name)
        x, y = shown[here].centroid.coords[0]
        assert shown[right].centroid.x > x + 1
        assert shown[right].centroid.y == pytest.approx(y)
        assert shown[below].centroid.y < y - 1
        assert shown[below].centroid.x == pytest.approx(x)


def test_neighbours_share_their_corners_to_the_last_bit(filled: Connection) -> None:
    for plane, map_name in (("hex", "guam"), ("hex", "pointed"), ("hex_world", "guam")):
        [row] = ask(
            filled,
            f"""
            select count(distinct st_asbinary(shown.geom)) as shown,
              (select count(distinct st_asbinary(corner.geom))
               from hex join map on map.id = hex.map_id, st_dumppoints(hex.geom) as corner
               where map.name = :map_name) as lattice
            from gis.{plane} as layer, st_dumppoints(layer.geom) as shown
            where layer.map = :map_name
            """,
            map_name=map_name,
        )
        assert row.shown == row.lattice > 0


def test_hexsides_lie_on_both_their_hexes(filled: Connection) -> None:
    shown = hexes(filled, "guam")
    rows = ask(filled, "select hexes, kind, st_asbinary(geom) as shape from gis.hexside")
    assert {(row.hexes, row.kind) for row in rows} == {
        ("22.79|23.79", "ridge"),
        ("22.79|23.79", "slope"),
        ("20.76", "cliff"),
    }
    for row in rows:
        side = shapely.from_wkb(row.shape)
        assert side.length == pytest.approx(1)
        for label in row.hexes.split("|"):
            ring = set(itertools.pairwise(shown[label].exterior.coords))
            assert tuple(side.coords) in ring or tuple(side.coords[::-1]) in ring


def test_a_path_runs_through_the_centres(filled: Connection) -> None:
    [row] = ask(filled, "select steps, title, st_asbinary(geom) as shape from gis.path")
    shown = hexes(filled, "guam")
    expected = [shown[label].centroid.coords[0] for label in ("21.80", "22.80", "23.79")]
    for found, centre in zip(shapely.from_wkb(row.shape).coords, expected, strict=True):
        assert found == pytest.approx(centre)
    assert (row.steps, row.title) == (2, "Trail")


def test_the_higher_ground_is_left_of_a_crest(filled: Connection) -> None:
    [row] = ask(filled, "select level, st_asbinary(geom) as shape from gis.crest")
    start, end = shapely.from_wkb(row.shape).coords
    upper = hexes(filled, "ridge")["C3"].centroid.coords[0]
    turn = (end[0] - start[0]) * (upper[1] - start[1]) - (end[1] - start[1]) * (upper[0] - start[0])
    assert turn > 0, "drawn from left to right, its left is up the map"


@pytest.mark.parametrize("orientation", ["flat", "pointed"])
@few
@given(points=st.lists(st.tuples(st.integers(-99, 99), st.integers(-99, 99)), min_size=2, max_size=2))
def test_artwork_is_shown_as_it_was_drawn(
    connection: Connection, orientation: Any, points: list[tuple[int, int]]
) -> None:
    """Never mirrored or turned: x stays to the right and y down the map, in pitches of 3/2 and √3."""
    scheme = Scheme(orientation=orientation)
    shown = []
    for x, y in points:
        px, py = scheme.lattice_point(Fraction(x, 4), Fraction(y, 4))
        [row] = ask(
            connection,
            "select st_x(p) as x, st_y(p) as y"
            " from gis._place(st_makepoint(:x, :y), cast(:scheme as jsonb)) as p",
            x=float(px), y=float(py), scheme=scheme.model_dump_json(),
        )  # fmt: skip
        shown.append((row.x, row.y))
    pitch = (1.5, math.sqrt(3)) if orientation == "flat" else (math.sqrt(3), 1.5)
    right, down = (points[1][i] - points[0][i] for i in (0, 1))
    moved = [b - a for a, b in zip(*shown, strict=True)]
    assert moved == pytest.approx([right / 4 * pitch[0], -down / 4 * pitch[1]])


def test_a_marked_place_is_made_of_its_hexes(filled: Connection) -> None:
    rows = ask(filled, "select code, hexes, st_asbinary(geom) as shape from gis.map_feature order by code")
    assert [(row.code, row.hexes) for row in rows] == [("B5", ["0304"]), ("Reserve", None)]
    assert shapely.from_wkb(rows[0].shape).equals(hexes(filled, "peleliu")["0304"])
    assert rows[1].shape is None


def test_fire_dots_are_told_apart_by_their_role(filled: Connection) -> None:
    rows = ask(
        filled, "select code, role, hexes, st_numgeometries(geom) as n from gis.field_of_fire order by role"
    )
    assert [tuple(row) for row in rows] == [
        ("B5", "intense", ["0203", "0204"], 2),
        ("B5", "steady", ["0104"], 1),
    ]


def test_units_stand_in_their_hex_and_stack(filled: Connection) -> None:
    rows = ask(
        filled, "select code, label, stack, position, st_asbinary(geom) as shape from gis.unit order by id"
    )
    assert [(row.code, row.label, row.stack, row.position) for row in rows] == [
        ("C/1/9", "22.80", 1, "first-day"),
        ("B/1/9", "22.80", 2, "first-day"),
        ("HQ", None, 1, "first-day"),
    ]
    assert shapely.from_wkb(rows[0].shape).within(hexes(filled, "guam")["22.80"])
    assert rows[2].shape is None


# In the world


def test_the_world_layers_agree_with_the_world_function(filled: Connection) -> None:
    [row] = ask(
        filled,
        """
        select count(*) as n, max(st_hausdorffdistance(layer.geom, st_transform(gis.world(hex.map_id, hex.geom), 4326))) as off
        from gis.hex_world as layer
        join hex on hex.map_id = layer.map_id and hex.q = layer.q and hex.r = layer.r
        """,
    )
    assert row.n == 63
    assert row.off < 1e-12


def test_a_control_point_is_where_it_was_given(filled: Connection) -> None:
    [row] = ask(
        filled,
        """
        select st_x(centre) as x, st_y(centre) as y
        from hex join map on map.id = hex.map_id, gis.world(map.id, hex.center) as centre
        where map.name = 'guam' and hex.label = '26.76'
        """,
    )
    assert tuple(row) == pytest.approx((242078, 1480000), abs=1e-6)


def test_a_map_out_of_the_world_has_no_place_in_it(filled: Connection) -> None:
    [row] = ask(
        filled,
        "select gis.world(id, lattice.center(0, 0)) as world,"
        " st_astext(gis.place(id, lattice.center(2, 0)), 6) as place from map where name = 'peleliu'",
    )
    assert row.world is None
    assert row.place == "POINT(3 -1.732051)"


def test_a_layer_comes_in_the_maps_own_crs(filled: Connection) -> None:
    rows = ask(filled, "select id, properties, st_srid(geom) as srid from gis.layer_in_crs('guam', 'unit')")
    assert len(rows) == 3
    assert rows[0].srid == 32655
    assert rows[0].properties["code"] == "C/1/9"
    assert "geom" not in rows[0].properties
    for layer in LAYERS:
        own = ask(filled, f"select count(*) from gis.layer_in_crs('guam', '{layer}')")
        assert own == ask(filled, f"select count(*) from gis.{layer} where map = 'guam'")


@pytest.mark.parametrize(
    ("map_name", "layer", "message"),
    [
        ("guan", "hex", "no map guan"),
        ("peleliu", "hex", "the map peleliu is not georeferenced"),
        ("guam", "hexes; drop table map", "no layer hexes; drop table map"),
    ],
)
def test_a_layer_that_is_not_there_is_refused(
    filled: Connection, map_name: str, layer: str, message: str
) -> None:
    with pytest.raises(sa.exc.DBAPIError, match=message), filled.begin_nested():
        ask(filled, "select * from gis.layer_in_crs(:map_name, :layer)", map_name=map_name, layer=layer)


@pytest.mark.parametrize("plane", ["hex", "hex_world"])
def test_a_point_in_a_hex_finds_it(filled: Connection, plane: str) -> None:
    rows = ask(
        filled,
        f"""
        select layer.label, found.label as found
        from gis.{plane} as layer
        left join lateral gis.hex_at(layer.map_id, st_centroid(layer.geom)) as found on true
        """,
    )
    assert len(rows) == (63 if plane == "hex_world" else 183)
    assert all(row.label == row.found for row in rows)


def test_a_point_beyond_the_map_finds_no_hex(filled: Connection) -> None:
    query = "select h.* from map, gis.hex_at(map.id, st_makepoint(-500, 0)) as h where map.name = 'guam'"
    assert ask(filled, query) == []


# As a GIS user opens them


@pytest.fixture(scope="module")
def shared(databases: Databases) -> Iterator[URL]:
    """A database of its own with the maps committed, for programs that connect themselves."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        fill(connection)
    yield url
    engine.dispose()


def source(url: URL) -> str:
    query = dict(url.query)
    return f"PG:host={query['host']} port={query['port']} user={url.username} dbname={url.database}"


def gdal(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        pytest.skip(f"{program} (Debian: gdal-bin) is not here")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_gdal_finds_the_layers(shared: URL) -> None:
    listed = gdal("ogrinfo", "-ro", source(shared))
    for layer, kind in LAYERS.items():
        words = re.sub(r"(Multi|Line)", r"\1 ", kind)
        assert re.search(rf": gis\.{layer} \({words}\)", listed), (layer, listed)
        assert re.search(rf": gis\.{layer}_world \({words}\)", listed), (layer, listed)


@pytest.mark.parametrize("view", VIEWS)
def test_gdal_opens_a_layer_with_its_type_crs_and_features(shared: URL, view: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gpkg"
    gdal("ogr2ogr", "-f", "GPKG", "-nln", "copy", str(copy), source(shared), f"gis.{view}")
    info = pyogrio.read_info(copy, layer="copy")
    engine = make_engine(shared)
    with engine.connect() as connection:
        count = connection.scalar(sa.text(f"select count(*) from gis.{view}"))
    engine.dispose()
    assert info["features"] == count
    assert info["geometry_type"] == LAYERS[view.removesuffix("_world")]
    if view.endswith("_world"):
        assert info["crs"] == "EPSG:4326"
    else:
        assert info["crs"] is None or "Undefined" in info["crs"]


def test_what_gdal_reads_are_regular_hexes_with_their_labels(shared: URL, tmp_path: Path) -> None:
    copy = tmp_path / "copy.gpkg"
    gdal("ogr2ogr", "-f", "GPKG", str(copy), source(shared), "gis.hex", "-where", "map = 'guam'")
    meta, _, shapes, fields = pyogrio.raw.read(copy)
    labels = fields[list(meta["fields"]).index("label")]
    assert sorted(labels)[0] == "20.76"
    assert len(labels) == 63
    areas = [shapely.from_wkb(shape).area for shape in shapes]
    assert areas == pytest.approx([1.5 * math.sqrt(3)] * 63)


def test_gdal_transforms_a_world_layer_onto_the_island(shared: URL) -> None:
    text = gdal("ogrinfo", "-ro", "-so", source(shared), "gis.hex_world")
    west, south, east, north = map(float, re.findall(r"Extent: \((.+), (.+)\) - \((.+), (.+)\)", text)[0])
    assert 144 < west < east < 145
    assert 13 < south < north < 14


# As the documentation tells it

DOCS = Path(__file__).resolve().parent.parent / "docs" / "gis.md"


def told() -> tuple[str, list[tuple[str, str]]]:
    """The control points of the documentation, and its queries with their results."""
    text = DOCS.read_text(encoding="utf-8")
    [points] = re.findall(r"```csv\n(.*?)```", text, re.DOTALL)
    return points, re.findall(r"```sql\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)


def test_the_documented_queries_give_the_documented_results(connection: Connection) -> None:
    points, queries = told()
    make_map(connection, "orote", ("20.76", "26.84"))
    import_control_points(connection, "orote", points, "orote.csv", 32655)
    assert len(queries) == 12
    for query, expected in queries:
        answer = connection.execute(sa.text(query))
        lines = [" | ".join(answer.keys()), *(" | ".join(map(str, row)) for row in answer)]
        assert lines == expected.splitlines(), query


def test_every_layer_and_public_function_is_documented(connection: Connection) -> None:
    text = DOCS.read_text(encoding="utf-8")
    functions = ask(
        connection,
        "select distinct proname as name from pg_proc"
        " where pronamespace = 'gis'::regnamespace and proname not like '\\_%'",
    )
    for name in (*LAYERS, *(row.name for row in functions)):
        assert f"`gis.{name}" in text, name
