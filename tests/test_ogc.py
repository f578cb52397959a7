"""OGC API – Features: each class that is claimed, and GDAL's own client (OAPIF) reading it over HTTP."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from flask.testing import FlaskClient
from sqlalchemy.engine import URL

from app.web.pages.ogc import CONFORMS, CRS84, EPSG, QUERYABLES
from app.web.site import create_app
from db.database import make_engine
from db.settings import Settings
from importers.archive.writing import campaign_tree
from tests.conftest import web_engine

ENTRIES = "campaign.guam-1944.entry"
HEXES = "map.guam-house.hex"
BOX = "144.6,13.2,145.0,13.7"


@pytest.fixture(scope="module")
def client(demo_url: URL) -> Any:
    engine = make_engine(demo_url)
    with create_app(Settings(log_level="error"), web_engine(engine)).test_client() as client:
        yield client
    engine.dispose()


def get(client: FlaskClient, path: str, status: int = 200, **parameters: str) -> Any:
    answer = client.get(f"/ogc{path}", query_string=parameters)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.get_json(force=True)


def items(client: FlaskClient, id: str = ENTRIES, **parameters: str) -> Any:
    return get(client, f"/collections/{id}/items", **{"limit": "1000"} | parameters)


def keys(found: Any) -> set[str]:
    return {feature["properties"]["key"] for feature in found["features"]}


# Core


def test_the_landing_page_leads_everywhere(client: FlaskClient) -> None:
    links = {link["rel"]: link for link in get(client, "")["links"]}
    assert {"self", "service-desc", "conformance", "data"} <= links.keys()
    for rel in ("service-desc", "conformance", "data"):
        answer = client.get(links[rel]["href"].removeprefix("http://localhost"))
        assert answer.status_code == 200
        assert answer.content_type.replace(" ", "").startswith(links[rel]["type"].split(";")[0])


def test_every_class_that_is_claimed_is_tested_here(client: FlaskClient) -> None:
    assert get(client, "/conformance")["conformsTo"] == list(CONFORMS)
    text = Path(__file__).read_text()
    assert all(f"# {title}\n" in text for title in ("Core", "OpenAPI 3.0", "GeoJSON", "CRS", "Queryables"))


def test_collections_have_what_the_standard_wants(client: FlaskClient) -> None:
    told = get(client, "/collections")
    assert {link["rel"] for link in told["links"]} >= {"self"}
    by_id = {collection["id"]: collection for collection in told["collections"]}
    assert {ENTRIES, "campaign.guam-1944.stance", HEXES} <= by_id.keys()
    for id in (ENTRIES, HEXES):
        alone = get(client, f"/collections/{id}")
        assert alone == by_id[id]
        assert {link["rel"] for link in alone["links"]} >= {"self", "items", QUERYABLES}
        [[west, south, east, north]] = alone["extent"]["spatial"]["bbox"]
        assert west < east
        assert south < north
    assert by_id[ENTRIES]["extent"]["temporal"]["interval"][0][0] == "1941-12-07T14:00:00Z"


def test_what_is_not_there_is_told(client: FlaskClient) -> None:
    told = get(client, "/collections/campaign.guam-1944.entri", 404)
    assert "campaign.guam-1944.entry" in told["remedy"]
    get(client, f"/collections/{ENTRIES}/items/no-such-entry", 404)


def test_a_box_gives_what_lies_in_it_and_nothing_else(client: FlaskClient) -> None:
    inside = items(client, bbox=BOX)
    everything = items(client)
    box = shapely.box(144.6, 13.2, 145.0, 13.7)
    expected = {
        feature["id"]
        for feature in everything["features"]
        if feature["geometry"] is not None and shapely.geometry.shape(feature["geometry"]).intersects(box)
    }
    assert {feature["id"] for feature in inside["features"]} == expected
    assert 0 < len(expected) < everything["numberMatched"]
    assert items(client, bbox="144.6,13.2,0,145.0,13.7,100")["numberMatched"] == len(expected)


@pytest.mark.parametrize(
    ("moment", "there", "absent"),
    [
        ("1944-07-26T01:00:00Z", {"banzai-losses"}, {"orote-clear", "1941-invasion"}),
        ("1944-07-29T20:00:00Z", {"orote-clear", "orote-fpb"}, {"banzai"}),
        ("../1942-01-01T00:00:00Z", {"1941-invasion", "1941-surrender"}, {"banzai", "crowe"}),
        ("1975-01-01T00:00:00Z/..", {"wilson-commandant", "liberation-day"}, {"secure"}),
        ("1944-08-03/1944-08-04", {"witek-killed"}, {"banzai"}),
    ],
)
def test_a_time_gives_what_overlaps_it(
    client: FlaskClient, moment: str, there: set[str], absent: set[str]
) -> None:
    found = keys(items(client, datetime=moment))
    assert there <= found
    assert not absent & found


def test_a_collection_without_time_is_whole_at_any_time(client: FlaskClient) -> None:
    assert (
        items(client, HEXES, datetime="1900-01-01T00:00:00Z")["numberMatched"]
        == items(client, HEXES)["numberMatched"]
    )


@pytest.mark.parametrize("id", [ENTRIES, HEXES])
def test_pages_together_are_the_whole(client: FlaskClient, id: str) -> None:
    whole = [feature["id"] for feature in get(client, f"/collections/{id}/items", limit="10000")["features"]]
    found: list[Any] = []
    address: str | None = f"/ogc/collections/{id}/items?limit={len(whole) // 3 + 1}"
    while address:
        page = client.get(address.removeprefix("http://localhost")).get_json(force=True)
        assert page["numberMatched"] == len(whole)
        assert page["numberReturned"] == len(page["features"])
        found += [feature["id"] for feature in page["features"]]
        address = next((link["href"] for link in page["links"] if link["rel"] == "next"), None)
    assert found == whole


def test_ten_features_come_unasked_and_never_too_many(client: FlaskClient) -> None:
    assert get(client, f"/collections/{ENTRIES}/items")["numberReturned"] == 10
    assert items(client, limit="999999")["numberReturned"] == items(client)["numberMatched"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"bbox": "1,2,3"}, {"bbox": "a,b,c,d"}, {"bbox": "0,9,1,2"}, {"datetime": "yesterday"},
        {"datetime": "1945-01-01T00:00:00Z/1944-01-01T00:00:00Z"}, {"limit": "0"}, {"limit": "ten"}, {"nonsense": "1"},
        {"crs": f"{EPSG}2000"}, {"bbox": BOX, "bbox-crs": "urn:x"}, {"offset": "-1"}, {"known": "soon"},
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_be_is_a_400(client: FlaskClient, parameters: dict[str, str]) -> None:
    told = get(client, f"/collections/{ENTRIES}/items", 400, **parameters)
    assert told["status"] == 400
    assert told["detail"]


def test_one_feature_is_what_the_collection_has(client: FlaskClient) -> None:
    [feature] = [one for one in items(client)["features"] if one["id"] == "banzai"]
    alone = get(client, f"/collections/{ENTRIES}/items/banzai")
    assert {link["rel"] for link in alone.pop("links")} >= {"self", "collection"}
    assert alone == feature
    stance = items(client, "campaign.guam-1944.stance")["features"][0]
    again = get(client, f"/collections/campaign.guam-1944.stance/items/{stance['id']}")
    assert again["properties"] == stance["properties"]


# OpenAPI 3.0


def test_the_description_names_every_path_and_parameter(client: FlaskClient) -> None:
    answer = client.get("/ogc/api")
    assert answer.content_type == "application/vnd.oai.openapi+json;version=3.0"
    document = answer.get_json(force=True)
    assert re.fullmatch(r"3\.0\.\d", document["openapi"])
    rules = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule).removeprefix("/ogc") or "/"
        for rule in client.application.url_map.iter_rules()
        if rule.rule.startswith("/ogc")
    }
    assert rules == document["paths"].keys()
    for path, methods in document["paths"].items():
        operation = methods["get"]
        named = [reference["$ref"].rpartition("/")[2] for reference in operation["parameters"]]
        assert set(named) <= document["components"]["parameters"].keys()
        assert {name for name in named if f"{{{name}}}" in path} == set(re.findall(r"{(\w+)}", path))
        assert "200" in operation["responses"]
    ids = [methods["get"]["operationId"] for methods in document["paths"].values()]
    assert len(set(ids)) == len(ids)


# GeoJSON


@pytest.mark.parametrize("id", [ENTRIES, "campaign.guam-1944.stance", HEXES, "map.guam-house.path"])
def test_features_are_sound_geojson(client: FlaskClient, id: str) -> None:
    answer = client.get(f"/ogc/collections/{id}/items?limit=500")
    assert answer.content_type == "application/geo+json"
    told = answer.get_json(force=True)
    assert told["type"] == "FeatureCollection"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told["timeStamp"])
    assert told["features"]
    for feature in told["features"]:
        assert feature["type"] == "Feature"
        assert feature["id"] is not None
        if feature["geometry"] is not None:
            shape = shapely.geometry.shape(feature["geometry"])
            assert shape.is_valid
            west, south, east, north = shape.bounds
            assert -180 <= west <= east <= 180
            assert -90 <= south <= north <= 90


# CRS


def test_the_answer_comes_in_the_crs_that_is_asked_for(client: FlaskClient) -> None:
    described = get(client, f"/collections/{HEXES}")
    assert described["storageCrs"] == CRS84
    assert described["crs"] == [CRS84, f"{EPSG}4326", f"{EPSG}3857", f"{EPSG}32655"]
    path = f"/ogc/collections/{HEXES}/items"
    shapes = {}
    for crs in described["crs"]:
        answer = client.get(path, query_string={"limit": "1", "crs": crs})
        assert answer.headers["Content-Crs"] == f"<{crs}>"
        feature = answer.get_json(force=True)["features"][0]
        shapes[crs] = shapely.geometry.shape(feature["geometry"])
    assert client.get(path).headers["Content-Crs"] == f"<{CRS84}>"
    plain, utm = shapes[CRS84], shapes[f"{EPSG}32655"]
    assert shapely.transform(shapes[f"{EPSG}4326"], lambda points: points[:, ::-1]).equals_exact(plain, 1e-9)
    radius = 6378137.0
    mercator = shapely.transform(
        plain,
        lambda points: np.column_stack(
            [
                np.radians(points[:, 0]) * radius,
                np.log(np.tan(np.pi / 4 + np.radians(points[:, 1]) / 2)) * radius,
            ]
        ),
    )
    assert mercator.hausdorff_distance(shapes[f"{EPSG}3857"]) < 0.1
    assert 1400 < utm.area**0.5 * (2 / 3**0.5) ** 0.5 < 1700, "a hex of about a mile, from side to side"


def test_a_box_may_be_in_another_crs(client: FlaskClient) -> None:
    expected = {feature["id"] for feature in items(client, bbox=BOX)["features"]}
    swapped = items(client, bbox="13.2,144.6,13.7,145.0", **{"bbox-crs": f"{EPSG}4326"})
    assert {feature["id"] for feature in swapped["features"]} == expected
    mercator = items(client, bbox="16096798.4,1483000,16141326.2,1540000", **{"bbox-crs": f"{EPSG}3857"})
    assert mercator["numberMatched"] > 0
    assert {feature["id"] for feature in mercator["features"]} <= expected


# Queryables


def test_a_collection_may_be_asked_by_every_property_it_lists(client: FlaskClient) -> None:
    answer = client.get(f"/ogc/collections/{ENTRIES}/queryables")
    assert answer.content_type == "application/schema+json"
    schema = answer.get_json(force=True)
    assert schema["type"] == "object"
    assert schema["$schema"].startswith("https://json-schema.org/draft/")
    features = items(client)["features"]
    sample = next(feature for feature in features if feature["id"] == "wilson-patrol")["properties"]
    for name, told in schema["properties"].items():
        if name == "geometry" or sample[name] is None or told.get("format") == "date-time":
            continue
        value = sample[name][0] if isinstance(sample[name], list) else sample[name]
        text = str(value).lower() if isinstance(value, bool) else str(value)
        expected = {
            feature["id"]
            for feature in features
            if feature["properties"][name] == sample[name]
            or (isinstance(sample[name], list) and value in feature["properties"][name])
        }
        assert {feature["id"] for feature in items(client, **{name: text})["features"]} == expected, name
    assert keys(items(client, kind="landing", account="fpb")) == {
        "engebi", "eniwetok", "parry", "w-day-fpb", "tinian", "angaur",
    }  # fmt: skip


# GDAL's client


def gdal(script: str, *arguments: str) -> Any:
    """What GDAL reads, in a process of its own: while it waits for an answer it lets nothing else in ours run."""
    head = "import sys, json, pyogrio, pyogrio.raw, shapely\n"
    done = subprocess.run(
        [sys.executable, "-c", head + script, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_gdal_finds_the_collections(site: str) -> None:
    layers = gdal(
        "print(json.dumps([name for name, _ in pyogrio.list_layers(sys.argv[1])]))", f"OAPIF:{site}/ogc"
    )
    assert {ENTRIES, "campaign.guam-1944.stance", HEXES} <= set(layers)


READ = """
meta, _, shapes, columns = pyogrio.raw.read(sys.argv[1], layer=sys.argv[2], PAGE_SIZE=sys.argv[3])
table = dict(zip(meta["fields"], columns))
print(json.dumps({
  "keys": list(table["key"]), "nowhere": sum(shape is None for shape in shapes), "crs": meta["crs"],
  "kind": table["begins"].dtype.kind, "begins": str(table["begins"][list(table["key"]).index("orote-clear")]),
}))
"""


def test_gdal_reads_a_campaign_page_by_page(site: str, demo_url: URL) -> None:
    engine = make_engine(demo_url)
    with engine.connect() as connection:
        tree = campaign_tree(connection, "guam-1944")
    engine.dispose()
    told = gdal(READ, f"OAPIF:{site}/ogc", ENTRIES, "7")
    assert sorted(told["keys"]) == sorted(entry["key"] for entry in tree["entries"])
    assert told["nowhere"] == sum("at" not in entry for entry in tree["entries"])
    assert told["kind"] == "M", "moments, for a time slider"
    assert told["begins"].startswith("1944-07-29T14:00:00")


BOXED = """
box = (144.62, 13.40, 144.70, 13.48)
_, _, shapes, _ = pyogrio.raw.read(sys.argv[1], layer=sys.argv[2], bbox=box)
print(json.dumps([shapely.from_wkb(shape).intersects(shapely.box(*box)) for shape in shapes]))
"""


def test_gdal_reads_a_map_in_a_box(site: str) -> None:
    found = gdal(BOXED, f"OAPIF:{site}/ogc", HEXES)
    assert 5 < len(found) < 60
    assert all(found)
