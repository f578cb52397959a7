"""Map data over HTTP: GeoJSON by layer, vector tiles, validators, compression, the legend."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import shapely
import sqlalchemy as sa
from flask.testing import FlaskClient
from shapely.geometry import shape
from sqlalchemy.engine import URL, Engine

from app.web.api.maps import DEEPEST, GEOJSON, LAYERS, MVT
from app.web.site import create_app
from db.database import make_engine
from db.inventory import map_facts, maps
from db.labels import Scheme
from db.map_draft import ControlPoint
from db.rulesets import CODES, read_ruleset
from db.settings import Settings
from importers.georeference import georeference
from tests.conftest import Databases, web_engine
from tests.small_map import make_map
from tests.test_gis import fill

KINDS = {
    "hexes": "Polygon",
    "hexsides": "LineString",
    "paths": "LineString",
    "areas": "Polygon",
    "crests": "LineString",
    "features": "MultiPolygon",
}
MAPS = "/api/v1/maps"


@pytest.fixture(scope="module")
def demo(demo_url: URL) -> Iterator[FlaskClient]:
    """The app on the demo."""
    engine = make_engine(demo_url)
    yield create_app(Settings(log_level="error"), web_engine(engine)).test_client()
    engine.dispose()


@pytest.fixture(scope="module")
def engine_of_small(databases: Databases) -> Iterator[Engine]:
    """Four small georeferenced maps with something in every layer, and one that is nowhere."""
    engine = make_engine(databases.make())
    with engine.begin() as connection:
        fill(connection)
        make_map(connection, "nowhere", ("01.01", "03.03"))
        make_map(connection, "empty", ("01.01", "01.01"))
        connection.execute(
            sa.text("delete from hex where map_id = (select id from map where name = 'empty')")
        )
        for name in ("peleliu", "ridge", "pointed"):
            scheme = Scheme.model_validate(map_facts(connection, name).scheme)
            labels = ("A1", "F1", "A6") if name == "ridge" else ("0101", "0601", "0106")
            corners = zip(labels, ((134.2, 7.0), (134.25, 7.0), (134.2, 6.95)), strict=True)
            points = [
                ControlPoint(scheme.hex(label), Decimal(str(lon)), Decimal(str(lat)))
                for label, (lon, lat) in corners
            ]
            georeference(connection, name, points, 4326)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def small(engine_of_small: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(engine_of_small)).test_client()


def collection(client: FlaskClient, address: str, **query: str) -> Any:
    answer = client.get(address, query_string=query)
    assert answer.status_code == 200, answer.text
    assert answer.mimetype == GEOJSON
    found = json.loads(answer.data)
    assert found["type"] == "FeatureCollection"
    assert len({feature["id"] for feature in found["features"]}) == len(found["features"])
    return found


# GeoJSON


def test_the_list_is_that_of_the_command_line(demo: FlaskClient, demo_url: URL) -> None:
    told = demo.get(MAPS).json["maps"]
    engine = make_engine(demo_url)
    with engine.connect() as connection:
        assert [one["name"] for one in told] == [entry.name for entry in maps(connection)]
    engine.dispose()
    assert {one["ruleset"] for one in told} == set(CODES)


@pytest.mark.parametrize(
    "name", ["campaign-island", "hill-312", "kokoda-track", "orange-beach", "tanaro-island"]
)
def test_every_layer_has_as_many_features_as_the_map_says(demo: FlaskClient, name: str) -> None:
    facts = demo.get(f"{MAPS}/{name}").json
    left, low, right, high = facts["bounds"]
    for layer in LAYERS if name != "campaign-island" else ("paths", "areas"):
        found = collection(demo, f"{MAPS}/{name}/layers/{layer}")
        assert len(found["features"]) == facts["layers"][layer], layer
        assert found["bounds"] == facts["bounds"]
        for feature in found["features"]:
            assert feature["type"] == "Feature"
            assert feature["geometry"] is None
            placed = shape(feature["place"])
            assert feature["place"]["type"] == KINDS[layer]
            assert placed.is_valid
            assert placed.within(
                shapely.box(left, low, right, high).buffer(1.5 if layer == "areas" else 1e-5)
            ), feature


def test_hexes_are_regular_in_the_plane_and_tell_what_they_are(demo: FlaskClient) -> None:
    for feature in collection(demo, f"{MAPS}/tanaro-island/layers/hexes")["features"]:
        said = feature["properties"]
        assert set(said) == {"label", "q", "r", "terrain", "level", "features", "name", "cx", "cy"}
        placed = shape(feature["place"])
        assert placed.exterior.is_ccw
        corners = shapely.get_coordinates(placed)
        assert [round(((x - said["cx"]) ** 2 + (y - said["cy"]) ** 2) ** 0.5, 5) for x, y in corners] == [
            1.0
        ] * 7
    named = collection(demo, f"{MAPS}/tanaro-island/layers/hexes")["features"]
    assert {one["properties"]["name"] for one in named} >= {"Tanaro Airstrip", "Huri"}


@pytest.mark.parametrize(
    ("name", "layer"),
    [("guam", "hexes"), ("guam", "hexsides"), ("guam", "paths"), ("ridge", "areas"), ("ridge", "crests"),
     ("peleliu", "features"), ("pointed", "hexes")],
)  # fmt: skip
def test_a_georeferenced_map_is_geojson_by_the_standard(small: FlaskClient, name: str, layer: str) -> None:
    features = collection(small, f"{MAPS}/{name}/layers/{layer}")["features"]
    shaped = [feature for feature in features if feature["geometry"] is not None]
    assert shaped
    for feature in shaped:
        assert feature["geometry"]["type"] == KINDS[layer] == feature["place"]["type"]
        world = shape(feature["geometry"])
        assert world.is_valid
        for lon, lat in shapely.get_coordinates(world):
            assert 134 < lon < 145
            assert 6 < lat < 14
        for part in getattr(world, "geoms", [world]):
            if part.geom_type == "Polygon":
                assert part.exterior.is_ccw, "RFC 7946: outer rings are counterclockwise"
    digits = [len(str(number).partition(".")[2]) for feature in shaped
              for number in shapely.get_coordinates(shape(feature["geometry"])).flat]  # fmt: skip
    assert max(digits) <= 7
    if layer == "features":
        off_map = [feature for feature in features if feature["geometry"] is None]
        assert [feature["properties"]["code"] for feature in off_map] == ["Reserve"]
        assert off_map[0]["place"] is None


def test_a_map_without_georeference_has_places_only(small: FlaskClient) -> None:
    features = collection(small, f"{MAPS}/nowhere/layers/hexes")["features"]
    assert len(features) == 9
    assert {feature["geometry"] for feature in features} == {None}
    assert small.get(f"{MAPS}/nowhere").json["georeferenced"] is False
    assert small.get(f"{MAPS}/guam").json["georeferenced"] is True


def test_a_map_without_hexes_has_no_bounds_and_empty_layers(small: FlaskClient) -> None:
    assert small.get(f"{MAPS}/empty").json["bounds"] is None
    assert collection(small, f"{MAPS}/empty/layers/hexes")["features"] == []
    assert small.get(f"{MAPS}/empty/tiles/0/0/0.mvt").data == b""


@pytest.mark.parametrize("name", ["guam", "pointed"])
def test_a_box_gives_what_meets_it(small: FlaskClient, name: str) -> None:
    every = collection(small, f"{MAPS}/{name}/layers/hexes")["features"]
    left, low, right, high = small.get(f"{MAPS}/{name}").json["bounds"]
    box = left + 2.1, low + 3.3, (left + right) / 2 + 0.1, (low + high) / 2 + 0.1
    found = collection(small, f"{MAPS}/{name}/layers/hexes", bbox=",".join(f"{edge:.6f}" for edge in box))
    wanted = {one["id"] for one in every if shape(one["place"]).envelope.intersects(shapely.box(*box))}
    assert {one["id"] for one in found["features"]} == wanted
    assert 0 < len(wanted) < len(every)
    assert collection(small, f"{MAPS}/{name}/layers/hexes", bbox="5000,5000,5001,5001")["features"] == []


@pytest.mark.parametrize("box", ["", "1,2,3", "a,b,c,d", "1,2,3,4,5", "nan,0,1,1", "1e9,0,1,1"])
def test_what_is_no_box_is_a_problem(small: FlaskClient, box: str) -> None:
    answer = small.get(f"{MAPS}/guam/layers/hexes", query_string={"bbox": box})
    assert answer.status_code == 422
    assert answer.json["problems"][0]["place"] == "bbox"
    assert "four numbers" in answer.json["problems"][0]["message"]


def test_marked_places_tell_their_fire_dots(small: FlaskClient) -> None:
    features = collection(small, f"{MAPS}/peleliu/layers/features")["features"]
    said = {one["properties"]["code"]: one["properties"] for one in features}
    assert said["B5"]["hexes"] == ["0304"]
    assert said["B5"]["intense"] == ["0203", "0204"]
    assert said["B5"]["steady"] == ["0104"]
    assert said["B5"]["attributes"] == {"color": "blue"}
    assert said["Reserve"]["hexes"] is None


# What is not there


@pytest.mark.parametrize(
    ("address", "detail", "remedy"),
    [
        (f"{MAPS}/gaum", "There is no map 'gaum'.", "Did you mean guam?"),
        (f"{MAPS}/gaum/layers/hexes", "There is no map 'gaum'.", "Did you mean guam?"),
        (f"{MAPS}/guam/layers/hexs", "There is no layer of a map 'hexs'.", "Did you mean hexes or hexsides?"),
        (f"{MAPS}/guam/tiles/1/2/0.mvt", "There is no tile 1/2/0.", f"Zooms are 0 to {DEEPEST}; at zoom z"),
        (f"{MAPS}/guam/tiles/99/0/0.mvt", "There is no tile 99/0/0.", f"Zooms are 0 to {DEEPEST}"),
        ("/api/v1/positions/first", "There is no position 'first'.", "Did you mean first-day?"),
        ("/api/v1/positions/first-day/layers/unit", "There is no layer of a position 'unit'.", "Did you mean units?"),
        ("/api/v1/legend/cs", "There is no ruleset 'cs'.", "Did you mean css?"),
        (f"{MAPS}/%00", "There is no map '\\x00'.", ""),
    ],
)  # fmt: skip
def test_what_is_not_there_is_told_with_what_is(
    small: FlaskClient, address: str, detail: str, remedy: str
) -> None:
    answer = small.get(address)
    assert answer.status_code == 404
    assert answer.mimetype == "application/problem+json"
    assert answer.json["detail"] == detail
    assert answer.json["remedy"].startswith(remedy)


# Tiles


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protocol buffer message: number, and a whole number or bytes."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            length = varint()
            yield key >> 3, data[at : at + length]
            at += length
        else:
            size = {1: 8, 5: 4}[key & 7]
            yield key >> 3, data[at : at + size]
            at += size


def packed(data: bytes) -> list[int]:
    found, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


def points(commands: list[int]) -> list[tuple[int, int]]:
    """The points of a tile's geometry, by the Mapbox Vector Tile specification, section 4.3."""
    found, at, x, y = [], 0, 0, 0
    while at < len(commands):
        command, count = commands[at] & 7, commands[at] >> 3
        at += 1
        for _ in range(0 if command == 7 else count):
            dx, dy = ((value >> 1) ^ -(value & 1) for value in commands[at : at + 2])
            x, y, at = x + dx, y + dy, at + 2
            found.append((x, y))
    return found


def decoded(tile: bytes) -> dict[str, list[tuple[dict[str, Any], list[tuple[int, int]]]]]:
    """Layers of a tile: properties and points of each feature."""
    layers = {}
    for number, layer in fields(tile):
        assert number == 3
        parts = list(fields(layer))
        [name] = [value.decode() for n, value in parts if n == 1]
        [extent] = [value for n, value in parts if n == 5]
        assert extent == 4096
        keys = [value.decode() for n, value in parts if n == 3]
        values = [next(_value(number, raw) for number, raw in fields(value)) for n, value in parts if n == 4]
        features = []
        for n, value in parts:
            if n == 2:
                feature = dict(fields(value))
                tags = packed(feature.get(2, b""))
                said = {keys[tags[i]]: values[tags[i + 1]] for i in range(0, len(tags), 2)}
                features.append((said, points(packed(feature[4]))))
        layers[name] = features
    return layers


def _value(number: int, raw: Any) -> Any:
    if number == 1:
        return raw.decode()
    if number == 3:
        return struct.unpack("<d", raw)[0]
    return (raw >> 1) ^ -(raw & 1) if number == 6 else raw


def test_the_first_tile_holds_the_whole_map_in_its_square(demo: FlaskClient) -> None:
    facts = demo.get(f"{MAPS}/hill-312").json
    answer = demo.get(f"{MAPS}/hill-312/tiles/0/0/0.mvt")
    assert answer.mimetype == MVT
    layers = decoded(answer.data)
    assert {name: len(features) for name, features in layers.items()} == {
        layer: facts["layers"][layer] for layer in ("hexes", "areas", "crests", "hexsides", "paths")
    }
    left, low, right, high = facts["bounds"]
    side = max(right - left, high - low)
    assert facts["tile_square"] == pytest.approx([left, high - side, left + side, high], abs=1e-5)
    hexes = collection(demo, f"{MAPS}/hill-312/layers/hexes")["features"]
    places = {one["properties"]["label"]: shape(one["place"]) for one in hexes}
    for said, corners in layers["hexes"]:
        assert said["terrain"]
        in_plane = [(left + x / 4096 * side, high - y / 4096 * side) for x, y in corners]
        drawn = shapely.Polygon(in_plane)
        assert drawn.symmetric_difference(places[said["label"]]).area < 0.05, said["label"]


def test_four_tiles_make_the_tile_above(demo: FlaskClient) -> None:
    whole = decoded(demo.get(f"{MAPS}/orange-beach/tiles/0/0/0.mvt").data)["hexes"]
    quarters = [
        decoded(demo.get(f"{MAPS}/orange-beach/tiles/1/{x}/{y}.mvt").data)["hexes"]
        for x in (0, 1)
        for y in (0, 1)
    ]
    labels = [{said["label"] for said, _ in quarter} for quarter in quarters]
    assert set.union(*labels) == {said["label"] for said, _ in whole}
    assert all(len(some) < len(whole) for some in labels)
    assert "0101" in labels[0]
    assert "2020" in labels[3]


def test_a_tile_beside_the_map_is_empty(demo: FlaskClient) -> None:
    # the map is higher than it is wide: the square's right side has nothing on it
    answer = demo.get(f"{MAPS}/campaign-island/tiles/5/31/0.mvt")
    assert answer.status_code == 200
    assert answer.data == b""


# Positions


def test_a_position_is_told_as_its_file_has_it(demo: FlaskClient) -> None:
    entry = next(
        one for one in demo.get("/api/v1/positions").json["positions"] if one["name"] == "lipata-landing"
    )
    told = demo.get("/api/v1/positions/lipata-landing").json
    assert told["map"] == entry["map"] == "pagasa-coast"
    assert len(told["units"]) == entry["units"]
    assert len(told["markers"]) == entry["markers"]
    assert told["units"][0]["id"] == "A/1/31"


def test_units_and_markers_stand_in_their_hexes_with_a_picture(demo: FlaskClient) -> None:
    for entry in demo.get("/api/v1/positions").json["positions"]:
        hexes = collection(demo, f"{MAPS}/{entry['map']}/layers/hexes")["features"]
        centers = {
            one["properties"]["label"]: [one["properties"]["cx"], one["properties"]["cy"]] for one in hexes
        }
        for layer in ("units", "markers"):
            features = collection(demo, f"/api/v1/positions/{entry['name']}/layers/{layer}")["features"]
            assert len(features) == entry[layer]
            for feature in features:
                said = feature["properties"]
                assert said["svg"].startswith("<svg ")
                if said["at"] is None:
                    assert feature["place"] is None
                else:
                    assert feature["place"]["coordinates"] == pytest.approx(centers[said["at"]], abs=2e-6)


# Caching and compression


def test_an_asker_who_has_it_is_told_so(small: FlaskClient) -> None:
    for address in (
        MAPS, f"{MAPS}/guam", f"{MAPS}/guam/layers/hexes", f"{MAPS}/guam/tiles/0/0/0.mvt", "/api/v1/positions",
        "/api/v1/positions/first-day", "/api/v1/positions/first-day/layers/units", "/api/v1/legend/css", "/drawing.css",
    ):  # fmt: skip
        first = small.get(address)
        assert first.status_code == 200
        assert first.headers["Cache-Control"] == "no-cache"
        again = small.get(address, headers={"If-None-Match": first.headers["ETag"]})
        assert again.status_code == 304, address
        assert again.data == b""
        assert again.headers["ETag"] == first.headers["ETag"]
        assert small.get(address, headers={"If-None-Match": '"another"'}).status_code == 200


@pytest.mark.parametrize(
    "edit",
    [
        "update hex set level = 3 where map_id = (select id from map where name = 'guam') and label = '22.80'",
        "delete from hexside where map_id = (select id from map where name = 'guam') and kind = 'cliff'",
        "update map set title = 'Other' where name = 'guam'",
        "update path set kind = 'paved_road' where map_id = (select id from map where name = 'guam')",
    ],
)
def test_an_edit_of_the_map_makes_another_version(
    small: FlaskClient, engine_of_small: Engine, edit: str
) -> None:
    address, other = f"{MAPS}/guam/layers/hexes", f"{MAPS}/ridge/layers/hexes"
    before, untouched = small.get(address).headers["ETag"], small.get(other).headers["ETag"]
    with engine_of_small.begin() as connection:
        assert connection.execute(sa.text(edit)).rowcount == 1
    changed = small.get(address, headers={"If-None-Match": before})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != before
    assert small.get(other, headers={"If-None-Match": untouched}).status_code == 304


def test_text_is_compressed_for_whoever_asks(demo: FlaskClient) -> None:
    address = f"{MAPS}/tanaro-island/layers/hexes"
    plain, small = demo.get(address), demo.get(address, headers={"Accept-Encoding": "br, gzip;q=0.8"})
    assert "Content-Encoding" not in plain.headers
    assert small.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in plain.vary
    assert "Accept-Encoding" in small.vary
    assert gzip.decompress(small.data) == plain.data
    assert int(small.headers["Content-Length"]) == len(small.data) < len(plain.data) / 5
    refused = demo.get(address, headers={"Accept-Encoding": "gzip;q=0"})
    assert refused.data == plain.data
    assert "Content-Encoding" not in demo.get("/healthz", headers={"Accept-Encoding": "gzip"}).headers, (
        "too small"
    )


def test_pages_are_compressed_and_pictures_are_not_touched(demo: FlaskClient) -> None:
    asked = {"Accept-Encoding": "gzip", "Accept": "text/html"}
    page = demo.get("/", headers=asked)
    assert page.headers["Content-Encoding"] == "gzip"
    assert b"<!doctype html>" in gzip.decompress(page.data)
    assert demo.get("/static/sightline.css", headers=asked).status_code == 200


# The legend


@pytest.mark.parametrize("ruleset", CODES)
def test_the_legend_has_every_kind_with_its_rule_and_look(demo: FlaskClient, ruleset: str) -> None:
    told = demo.get(f"/api/v1/legend/{ruleset}").json
    kinds = read_ruleset(ruleset).terrain
    for section, known in (("terrain", kinds.terrain), ("hexsides", kinds.hexsides), ("paths", kinds.paths)):
        assert list(told[section]) == list(known)
        for word, kind in known.items():
            entry = told[section][word]
            assert (entry["title"], entry["rule"], entry["sight"]) == (kind.title, kind.rule, kind.sight)
            assert len(entry["effects"]) == len(list(kind.effects()))
            for mode in ("light", "dark"):
                assert entry[mode]["ink"].startswith("#")
    assert all(entry["tile"]["width"] > 0 for entry in told["terrain"].values())
    assert told["inks"]["light"].keys() == told["inks"]["dark"].keys()


def test_costs_are_numbers_or_words(demo: FlaskClient) -> None:
    paths = demo.get("/api/v1/legend/css").json["paths"]
    assert {effect["value"] for effect in paths["paved_road"]["effects"]} == {0.5}
    terrain = demo.get("/api/v1/legend/css").json["terrain"]
    costs = {
        effect["mobility"]: effect["value"]
        for effect in terrain["swamp"]["effects"]
        if effect["aspect"] == "cost"
    }
    assert costs == {"leg": 3, "wheeled": "prohibited", "tracked": "prohibited"}
