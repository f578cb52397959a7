"""The forms of a map: whatever is written is read again as the same map."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import json
import re
import sqlite3
import tempfile
import zipfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyogrio
import pytest
import shapely
import sqlalchemy as sa
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from db.labels import Axial, Board, Scheme
from db.map_draft import (
    GRID,
    AreaDraft,
    ControlPoint,
    CrestDraft,
    FeatureDraft,
    Georeference,
    HexDraft,
    MapDraft,
    PathDraft,
    vocabulary,
)
from db.rulesets import CODES
from importers.documents import Problems, read_document
from importers.map_formats import read_root, write_tables
from importers.map_gis import LAYERS, write_geojson, write_geopackage
from importers.map_reading import KEYS, PLACES
from importers.map_writing import write_json, write_yaml
from importers.maps import FORMATS, export_map, import_map, load_draft, read_map_file, store_map

FILES = {
    "yaml": "map.yaml",
    "json": "map.json",
    "geojson": "map.geojson",
    "geopackage": "map.gpkg",
    "csv": "map.zip",
    "csv folder": "map",
}
# the files are read again at once: that the disk has them is not asked here, and costs most of the time
pyogrio.set_gdal_config_options({"OGR_SQLITE_SYNCHRONOUS": "OFF"})
some = settings(max_examples=40, deadline=None)
few = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
names = st.none() | texts.filter(bool)
points = st.tuples(st.integers(-20 * GRID, 60 * GRID), st.integers(-20 * GRID, 60 * GRID))
JOINED = Scheme(
    columns="letters",
    row_digits=1,
    boards=(
        Board(board="20", columns=8, rows=6),
        Board(board="21", columns=8, rows=6, at=(7, 1), rotated=True),
    ),
)


@st.composite
def schemes(draw: st.DrawFn, ruleset: str) -> Scheme:
    usual = vocabulary(ruleset).scheme
    if draw(st.booleans()):
        return usual
    changes = {
        "orientation": draw(st.sampled_from(["flat", "pointed"])),
        "shifted": draw(st.sampled_from(["odd", "even"])),
        "shift": draw(st.sampled_from(["up", "down"])),
        "row_direction": draw(st.sampled_from(["up", "down"])),
    }
    own = Scheme.model_validate(usual.model_dump() | changes)
    return draw(st.sampled_from([own, own, JOINED]))


@st.composite
def ground(draw: st.DrawFn, scheme: Scheme) -> list[Axial]:
    """The hexes of a map: a whole rectangle, or one with holes."""
    if scheme.boards:
        hexes = scheme.rectangle("20-A1", draw(st.sampled_from(["20-H6", "20-D4", "21-A1"])))
    else:
        first = scheme.label(
            scheme.hex("01.01" if scheme.separator else "0101" if scheme.columns == "digits" else "A1")
        )
        second = {".": "06.07", "": "0607"}[scheme.separator] if scheme.columns == "digits" else "F7"
        hexes = scheme.rectangle(first, second)
    holes = draw(st.sets(st.sampled_from(hexes), max_size=draw(st.sampled_from([0, 0, 3, 30]))))
    return [place for place in hexes if place not in holes] or hexes


@st.composite
def chains(draw: st.DrawFn, hexes: list[Axial]) -> tuple[Axial, ...]:
    walk = [draw(st.sampled_from(hexes))]
    for direction in draw(st.lists(st.integers(1, 6), min_size=1, max_size=8)):
        if walk[-1].beside(direction) in hexes:
            walk.append(walk[-1].beside(direction))
    assume(len(walk) > 1)
    return tuple(walk)


@st.composite
def areas(draw: st.DrawFn, terrain: tuple[str, ...]) -> AreaDraft:
    """A triangle, or a square with a hole."""
    kind = draw(st.sampled_from(terrain))
    if draw(st.booleans()):
        corners = draw(st.lists(points, min_size=3, max_size=3, unique=True))
        assume(shapely.Polygon(corners).is_valid and shapely.Polygon(corners).area > 0)
        return AreaDraft(kind, (tuple(corners),))
    (x, y), size = draw(points), draw(st.integers(10, 5000))
    outside = ((x, y), (x + size, y), (x + size, y + size), (x, y + size))
    inside = ((x + 1, y + 1), (x + 1, y + 4), (x + 3, y + 4))
    return AreaDraft(kind, (outside, inside))


@st.composite
def crests(draw: st.DrawFn, levels: tuple[int, int]) -> CrestDraft:
    line = draw(st.lists(points, min_size=2, max_size=5, unique=True))
    return CrestDraft(draw(st.integers(*levels)), tuple(line))


@st.composite
def features(draw: st.DrawFn, ruleset: str, hexes: list[Axial]) -> FeatureDraft:
    places = st.frozensets(st.sampled_from(hexes), max_size=4)
    if ruleset == "ddp" and draw(st.booleans()):
        at = draw(st.frozensets(st.sampled_from(hexes), min_size=1, max_size=2))
        printed = st.fixed_dictionaries(
            {}, optional={"color": st.just("blue"), "artillery": st.just(True), "mountaintop": st.just(True)}
        )
        return FeatureDraft("position", at, draw(places), draw(places), draw(printed))
    value = texts | st.integers(-(2**40), 2**40) | st.booleans()
    attributes = st.dictionaries(texts, value | st.lists(value, max_size=2), max_size=2)
    return FeatureDraft(draw(st.sampled_from(PLACES)), draw(places), attributes=draw(attributes))


@st.composite
def georeferences(draw: st.DrawFn, hexes: list[Axial]) -> Georeference | None:
    """Three points of regular hexes, north up, somewhere in the Marianas."""
    corner = next((place for place in hexes if {place.beside(3), place.beside(4)} <= set(hexes)), None)
    if corner is None or draw(st.booleans()):
        return None
    east, north = draw(st.integers(200_000, 300_000)), draw(st.integers(1_400_000, 1_500_000))
    return Georeference(
        32655,
        tuple(
            ControlPoint(
                place,
                Decimal(east) + Decimal("346.41") * place.q,
                Decimal(north) - 200 * (2 * place.r + place.q),
            )
            for place in (corner, corner.beside(3), corner.beside(4))
        ),
    )


@st.composite
def drafts(draw: st.DrawFn, ruleset: str) -> MapDraft:
    words = vocabulary(ruleset)
    scheme = draw(schemes(ruleset))
    hexes = draw(ground(scheme))
    filled = st.builds(
        HexDraft,
        st.sampled_from(words.terrain[:3]),
        st.integers(words.base_level, min(words.base_level + 2, words.levels[1])),
        st.sets(st.sampled_from(words.features)).map(
            lambda found: tuple(w for w in words.features if w in found)
        )
        if words.features
        else st.just(()),
        names,
    )
    usual = draw(filled)
    own = draw(st.dictionaries(st.sampled_from(hexes), filled, max_size=8))
    sides = st.tuples(st.sampled_from(hexes), st.integers(1, 6), st.sampled_from(words.hexsides or ("none",)))
    return MapDraft(
        ruleset,
        scheme,
        name="a-map",
        title=draw(texts.filter(bool)),
        meters_per_hex=draw(st.none() | st.integers(1, 5000)),
        source=draw(texts),
        note=draw(texts),
        hexes={
            place: own.get(place, HexDraft(usual.terrain, usual.level, usual.features)) for place in hexes
        },
        hexsides={
            (place.q + place.beside(direction).q, place.r + place.beside(direction).r, kind)
            for place, direction, kind in draw(st.lists(sides, max_size=8))
        }
        if words.hexsides
        else set(),
        paths=draw(
            st.lists(st.builds(PathDraft, st.sampled_from(words.paths), chains(hexes), names), max_size=3)
        ),
        areas=draw(st.lists(areas(words.terrain), max_size=3)),
        crests=draw(st.lists(crests(words.levels), max_size=3)),
        features=draw(st.dictionaries(texts.filter(str.strip), features(ruleset, hexes), max_size=3)),
        georeference=draw(georeferences(hexes)),
    )


def write(draft: MapDraft, form: str, path: Path) -> None:
    if form == "geopackage":
        write_geopackage(draft, path)
    elif form == "csv":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in write_tables(draft).items():
                archive.writestr(name, text)
    elif form == "csv folder":
        path.mkdir()
        for name, text in write_tables(draft).items():
            (path / name).write_text(text, encoding="utf-8", newline="")
    else:
        text = {"yaml": write_yaml, "json": write_json, "geojson": write_geojson}[form](draft)
        path.write_text(text, encoding="utf-8", newline="")


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("ruleset", CODES)
@settings(parent=some, max_examples=12)
@given(data=st.data())
def test_a_map_that_is_written_is_read_as_the_same(form: str, ruleset: str, data: st.DataObject) -> None:
    draft = data.draw(drafts(ruleset))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILES[form]
        write(draft, form, path)
        found = read_map_file(path)
    assert found == draft
    assert found.moved < Fraction(1, 100 * GRID), "written digits lose next to nothing"


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("ruleset", CODES)
@few
@given(data=st.data())
def test_a_map_that_is_exported_is_imported_as_the_same(
    connection: Connection, form: str, ruleset: str, data: st.DataObject
) -> None:
    draft = data.draw(drafts(ruleset))
    with tempfile.TemporaryDirectory() as folder, connection.begin_nested() as savepoint:
        path = Path(folder) / FILES[form]
        store_map(connection, draft)
        assert load_draft(connection, "a-map") == draft
        export_map(connection, "a-map", path)
        report = import_map(connection, path, replace=True)
        assert report.replaced
        assert report.hexes == len(draft.hexes)
        assert load_draft(connection, report.map_id) == draft
        savepoint.rollback()


# What the forms look like


VILLAGE = """\
ruleset: bob
name: village
title: A village
scale: 80
extent: [A1, C2]
fill: open_ground
hexes: {B1: {terrain: hut, name: Mill}, C2: {terrain: woods, level: 1}}
hexsides: {A1|A2: [wall], A1|6: [cliff]}
paths: [{kind: road, hexes: [A1, B1, C1], name: High Road}]
areas: [{terrain: woods, polygon: [[2.5, 1.75], [3.5, 1.75], [3.5, 2.5]]}]
crests: [{level: 1, line: [[1, 1], [2, 1]]}]
places: {Mill: {kind: objective, hexes: [B1], attributes: {value: 2}}}
"""


@pytest.fixture
def village() -> MapDraft:
    problems = Problems()
    draft = read_root(read_document(VILLAGE, "village.yaml"), problems)
    problems.raise_if_any()
    assert draft is not None
    return draft


def test_yaml_is_written_to_be_read_by_people(village: MapDraft) -> None:
    assert (
        write_yaml(village)
        == """\
ruleset: bob
name: village
title: "A village"
scale: 80
extent: ["A1", "C2"]
fill: {terrain: open_ground, level: 0}
hexes:
  "B1": {terrain: hut, name: "Mill"}
  "C2": {terrain: woods, level: 1}
hexsides:
  "A1|6": [cliff]
  "A1|A2": [wall]
paths:
  - {kind: road, name: "High Road", hexes: ["A1", "B1", "C1"]}
places:
  "Mill": {kind: objective, hexes: ["B1"], attributes: {value: 2}}
areas:
  - {terrain: woods, polygon: [[2.5, 1.75], [3.5, 1.75], [3.5, 2.5]]}
crests:
  - {level: 1, line: [[1, 1], [2, 1]]}
"""
    )


def test_a_map_with_a_bay_is_written_as_a_few_rectangles(village: MapDraft) -> None:
    whole = Scheme.rectangle(village.scheme, "A1", "F6")
    bay = set(Scheme.rectangle(village.scheme, "C1", "D2"))
    draft = MapDraft(
        "bob", village.scheme, hexes={place: HexDraft("woods", 0) for place in whole if place not in bay}
    )
    lines = write_yaml(draft).splitlines()
    assert 'extent: [["A1", "B6"], ["C3", "D6"], ["E1", "F6"]]' in lines
    assert "hexes:" not in lines


def test_tables_have_a_row_for_every_hex_and_feature(village: MapDraft) -> None:
    files = write_tables(village)
    assert sorted(files) == ["hexes.csv", "hexsides.csv", "map.yaml", "paths.csv"]
    assert list(csv.reader(io.StringIO(files["hexes.csv"]))) == [
        ["label", "terrain", "level", "features", "name"],
        ["A1", "open_ground", "0", "", ""],
        ["A2", "open_ground", "0", "", ""],
        ["B1", "hut", "0", "", "Mill"],
        ["B2", "open_ground", "0", "", ""],
        ["C1", "open_ground", "0", "", ""],
        ["C2", "woods", "1", "", ""],
    ]
    assert list(csv.reader(io.StringIO(files["hexsides.csv"])))[1:] == [["A1|6", "cliff"], ["A1|A2", "wall"]]
    assert list(csv.reader(io.StringIO(files["paths.csv"])))[1:] == [["road", "High Road", "A1 B1 C1"]]
    assert "hexes:\n" not in files["map.yaml"]


def test_tables_may_be_saved_by_a_spreadsheet(tmp_path: Path) -> None:
    (tmp_path / "map.yaml").write_text("ruleset: bob\nextent: [A1, B2]\nfill: woods\n")
    (tmp_path / "hexes.csv").write_bytes("\ufeffLabel;Terrain;Name\r\nA2;hut;Café\r\n".encode())
    draft = read_map_file(tmp_path)
    assert draft.hexes[draft.scheme.hex("A2")] == HexDraft("hut", 0, (), "Café")
    assert len(draft.hexes) == 4


def test_geojson_shows_upright_shapes_and_says_what_they_are(village: MapDraft) -> None:
    document = json.loads(write_geojson(village))
    assert document["sightline"] == {"ruleset": "bob", "name": "village", "title": "A village", "scale": 80}
    by_layer: dict[str, list[dict[str, Any]]] = {}
    for feature in document["features"]:
        by_layer.setdefault(feature["properties"]["layer"], []).append(feature)
    assert {layer: len(features) for layer, features in by_layer.items()} == {
        "hex": 6, "hexside": 2, "path": 1, "terrain_area": 1, "crest": 1, "map_feature": 1,
    }  # fmt: skip
    shapes = {
        feature["properties"]["label"]: shapely.geometry.shape(feature["geometry"])
        for feature in by_layer["hex"]
    }
    assert shapes["A2"].centroid.y < shapes["A1"].centroid.y, "y goes up"
    assert shapes["A1"].intersection(shapes["A2"]).length == 2
    [area] = by_layer["terrain_area"]
    assert area["geometry"]["coordinates"] == [[[10.5, -3.5], [13.5, -3.5], [13.5, -5.0], [10.5, -3.5]]]


def test_artwork_that_was_redrawn_is_read_and_hexes_that_were_pushed_are_not(
    village: MapDraft, tmp_path: Path
) -> None:
    document = json.loads(write_geojson(village))
    for feature in document["features"]:
        if feature["properties"]["layer"] == "terrain_area":
            ring = feature["geometry"]["coordinates"][0]
            feature["geometry"] = {
                "type": "MultiPolygon",
                "coordinates": [[ring], [[[0, 0], [1, 0], [1, -1], [0, 0]]]],
            }
        elif feature["properties"]["layer"] == "hex":
            feature["geometry"] = None
    path = tmp_path / "edited.geojson"
    path.write_text(json.dumps(document))
    draft = read_map_file(path)
    assert draft.hexes == village.hexes
    assert [area.rings[0] for area in draft.areas] == [
        village.areas[0].rings[0],
        ((0, 0), (GRID, 0), (GRID, GRID)),
    ]


def test_geojson_may_be_called_json(village: MapDraft, tmp_path: Path) -> None:
    path = tmp_path / "village.json"
    path.write_text(write_geojson(village))
    assert read_map_file(path) == village


def test_a_geopackage_opens_in_a_gis_with_all_layers(village: MapDraft, tmp_path: Path) -> None:
    path = tmp_path / "village.gpkg"
    write_geopackage(village, path)
    assert {str(name): kind for name, kind in pyogrio.list_layers(path)} == {
        "hex": "Polygon",
        "hexside": "LineString",
        "path": "LineString",
        "terrain_area": "Polygon",
        "crest": "LineString",
        "map_feature": "MultiPoint",
        "map": None,
    }
    assert pyogrio.read_info(path, layer="hex")["features"] == 6


def test_a_geopackage_tells_mistakes_by_layer_and_feature(village: MapDraft, tmp_path: Path) -> None:
    village.hexes[village.scheme.hex("A2")] = HexDraft("hutt", 9)
    village.paths.append(PathDraft("rode", village.paths[0].hexes))
    path = tmp_path / "village.gpkg"
    write_geopackage(village, path)
    with pytest.raises(Problems) as caught:
        read_map_file(path)
    assert str(caught.value) == (
        f"{path}: hex/feature 2/terrain: unknown terrain 'hutt' (did you mean hut?)\n"
        f"{path}: hex/feature 2/level: 9 is not between -1 and 3, the levels of bob\n"
        f"{path}: path/feature 2/kind: unknown path 'rode' (did you mean road?)"
    )


# In the world

PLACED = """\
georeference:
  crs: EPSG:32655
  points:
    - {hex: A1, x: 240000, y: 1480000}
    - {hex: C1, x: 240693, y: 1480012}
    - {hex: A2, x: 239990, y: 1479800}
    - {hex: C2, x: 240683, y: 1479812}
"""


@pytest.fixture
def placed() -> MapDraft:
    draft = read_root(read_document(VILLAGE + PLACED, "village.yaml"), Problems())
    assert draft is not None
    return draft


@pytest.mark.parametrize("file", ["village.gpkg", "village.geojson"])
def test_gdal_finds_a_georeferenced_map_where_the_database_has_it(
    connection: Connection, placed: MapDraft, file: str, tmp_path: Path
) -> None:
    store_map(connection, placed)
    path = export_map(connection, "village", tmp_path / file)
    layer = {"layer": "hex"} if file.endswith("gpkg") else {"where": "layer = 'hex'"}
    meta, _, shapes, columns = pyogrio.raw.read(path, **layer)
    assert meta["crs"] == "EPSG:32655"
    labels = columns[list(meta["fields"]).index("label")]
    found = {label: shapely.from_wkb(shape) for label, shape in zip(labels, shapes, strict=True)}
    here = connection.execute(
        sa.text(
            "select properties ->> 'label' as label, st_asbinary(geom) as shape"
            " from gis.layer_in_crs('village', 'hex')"
        )
    )
    stored = {row.label: shapely.from_wkb(bytes(row.shape)) for row in here}
    assert found.keys() == stored.keys()
    assert all(found[label].hausdorff_distance(stored[label]) < 1e-6 for label in stored)
    assert shapely.Point(240693, 1480012).within(found["C1"])


def test_a_map_in_longitude_and_latitude_says_so_in_geojson(placed: MapDraft, tmp_path: Path) -> None:
    assert placed.georeference is not None
    at = zip(
        placed.georeference.points,
        ((144.6, 13.4), (144.61, 13.4), (144.6, 13.39), (144.61, 13.39)),
        strict=True,
    )
    points = tuple(point._replace(x=Decimal(str(lon)), y=Decimal(str(lat))) for point, (lon, lat) in at)
    placed.georeference = Georeference(4326, points)
    path = tmp_path / "village.geojson"
    path.write_text(write_geojson(placed))
    assert json.loads(path.read_text())["crs"]["properties"]["name"] == "urn:ogc:def:crs:OGC:1.3:CRS84"
    assert pyogrio.read_info(path)["crs"] == "EPSG:4326"
    assert pyogrio.read_bounds(path)[1].min() > 13, "latitude is y"
    assert read_map_file(path) == placed


@pytest.mark.parametrize("file", ["village.gpkg", "village.geojson"])
def test_artwork_in_another_crs_than_the_map_is_refused(placed: MapDraft, file: str, tmp_path: Path) -> None:
    path = tmp_path / file
    assert placed.georeference is not None
    other = dataclasses.replace(placed, georeference=placed.georeference._replace(srid=32654))
    write(other, "geopackage" if file.endswith("gpkg") else "geojson", path)
    if file.endswith("gpkg"):
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("update map set georeference = replace(georeference, '32654', '32655')")
            database.commit()
    else:
        path.write_text(path.read_text().replace('"EPSG:32654"', '"EPSG:32655"'))
    with pytest.raises(Problems) as caught:
        read_map_file(path)
    assert "the shapes are in EPSG:32654, the map in EPSG:32655; save them in EPSG:32655" in str(caught.value)


def test_lattice_units_of_a_map_in_the_world_are_read_too(placed: MapDraft, tmp_path: Path) -> None:
    """As files were written before, and as a GIS keeps them that was told no CRS."""
    path = tmp_path / "village.geojson"
    document = json.loads(write_geojson(dataclasses.replace(placed, georeference=None)))
    document["sightline"]["georeference"] = {
        "crs": "EPSG:32655",
        "points": [
            {"hex": placed.scheme.label(point.hex), "x": int(point.x), "y": int(point.y)}
            for point in placed.georeference.points  # type: ignore[union-attr]
        ],
    }
    path.write_text(json.dumps(document))
    assert read_map_file(path) == placed


@pytest.mark.parametrize("layer", ["map", "hex"])
def test_a_geopackage_that_lacks_a_layer_says_so(village: MapDraft, tmp_path: Path, layer: str) -> None:
    path = tmp_path / "village.gpkg"
    write_geopackage(village, path)
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("delete from gpkg_contents where table_name = ?", (layer,))
        database.execute("delete from gpkg_geometry_columns where table_name = ?", (layer,))
        database.execute(f"drop table {layer}")
        database.commit()
    wanted = {"map": "the table map is missing", "hex": "extent is missing: which hexes has the map?"}
    with pytest.raises(Problems, match=wanted[layer]):
        read_map_file(path)


EXAMPLES = re.findall(
    r"```(yaml|json|geojson)\n((?:ruleset|name|\{).*?)```",
    (Path(__file__).parent.parent / "docs" / "maps.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


@pytest.mark.parametrize(("form", "text"), EXAMPLES)
def test_every_map_in_the_documentation_can_be_read(form: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / f"example.{form}"
    path.write_text(text)
    assert read_map_file(path).hexes


def test_the_documentation_names_every_key_and_layer() -> None:
    text = (Path(__file__).parent.parent / "docs" / "maps.md").read_text(encoding="utf-8")
    words = (*KEYS, *Scheme.model_fields, *Board.model_fields, *LAYERS, *FORMATS, *PLACES)
    assert [word for word in words if f"`{word}`" not in text] == []
    assert len(EXAMPLES) >= 4
