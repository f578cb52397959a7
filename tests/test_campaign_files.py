"""Campaigns in and out of files: times, places, chronicles, tables, what GIS programs read; every mistake with its line."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import re
import sqlite3
import subprocess
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import hypothesis.strategies as st
import numpy as np
import pyogrio
import pyogrio.raw
import pytest
import shapely
import sqlalchemy as sa
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from sqlalchemy.engine import Connection

from app.terminal.cli import gather
from db import SightlineError
from db.archive import PRECISIONS
from db.chronicle import Wanted, entries, find_campaign
from importers.archive.campaigns import import_campaign, record, take_away
from importers.archive.exchange import export_campaign
from importers.archive.gis import COLUMNS, SHAPES
from importers.archive.times import read_when, read_zone, write_when
from importers.archive.writing import campaign_tree, write_campaign, yaml_text
from importers.documents import Problems
from importers.maps import import_map

ROOT = Path(__file__).resolve().parent.parent
GUAM = ROOT / "db" / "demo" / "campaigns" / "guam-1944.yaml"
ZONE = read_zone("+10:00")
SMALL = """\
name: small
span: 1944-07-21/1944-08-10
zone: "+10:00"
map: guam-house
accounts:
  log: {title: A log, kind: report}
  memoir: {title: A memoir, year: 1950}
forces:
  3mar: {name: 3rd Marines, side: us}
  1/9: {name: "1st Battalion, 9th Marines", side: us, under: {force: 3mar, account: log}}
entries:
  - {key: landing, when: 1944-07-21T08:30, kind: landing, title: Ashore, at: 1804, forces: [3mar], account: log, page: 7}
  - {when: 1944-07-22, title: A rumour, account: memoir, certainty: doubtful}
stances:
  - {force: 3mar, when: 1944-07-21/, at: [144.65, 13.4], account: log, strength: 900-1000}
"""


@pytest.fixture
def guam(connection: Connection) -> Connection:
    """The map of Guam, to record on."""
    import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / "guam.yaml")
    return connection


@pytest.fixture
def small(guam: Connection, tmp_path: Path) -> Connection:
    (tmp_path / "small.yaml").write_text(SMALL)
    import_campaign(guam, tmp_path / "small.yaml", who="Ann")
    return guam


def problems_of(connection: Connection, folder: Path, text: str) -> list[str]:
    (folder / "bad.yaml").write_text(text)
    with pytest.raises(Problems) as caught:
        import_campaign(connection, folder / "bad.yaml")
    return [str(problem).removeprefix(f"{folder}/bad.yaml:") for problem in caught.value.sorted()]


# Times


@pytest.mark.parametrize(
    ("text", "begin", "end", "precision"),
    [
        ("1944-07-21", "1944-07-21T00:00", "1944-07-22T00:00", "day"),
        ("1944-07-21T08", "1944-07-21T08:00", "1944-07-21T09:00", "hour"),
        ("1944-07-21 0830", "1944-07-21T08:30", "1944-07-21T08:31", "minute"),
        ("about 1944-07", "1944-07-01T00:00", "1944-08-01T00:00", "month"),
        ("1944", "1944-01-01T00:00", "1945-01-01T00:00", "year"),
        ("1944-07-25/1944-07-26", "1944-07-25T00:00", "1944-07-27T00:00", "day"),
        ("1944-07-21T08:30/12:15", "1944-07-21T08:30", "1944-07-21T12:15", "minute"),
        ("1944-07-21T08:30/1944-07-22", "1944-07-21T08:30", "1944-07-23T00:00", "minute"),
        ("1944-08-10/", "1944-08-10T00:00", None, "day"),
        ("/1944-08-10", None, "1944-08-11T00:00", "day"),
    ],
)
def test_a_time_is_as_fine_as_it_is_told(
    text: str, begin: str | None, end: str | None, precision: str
) -> None:
    when = read_when(text, ZONE)
    ends = [None if one is None else datetime.datetime.fromisoformat(f"{one}+10:00") for one in (begin, end)]
    assert ([when.during.lower, when.during.upper], when.precision) == (ends, precision)
    assert when.about == text.startswith("about")
    assert read_when(write_when(*when, ZONE), ZONE) == when


@pytest.mark.parametrize(
    "text", ["", "/", "yesterday", "1944-13-01", "1944-07-22/1944-07-21", "1944-07-21T25:00", "21.7.1944"]
)
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|begin"):
        read_when(text, ZONE)


@given(
    start=st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)),
    length=st.integers(0, 400_000),
    precision=st.sampled_from(PRECISIONS),
    about=st.booleans(),
    open_end=st.booleans(),
)
def test_a_time_that_is_written_is_read_again(
    start: datetime.datetime, length: int, precision: str, about: bool, open_end: bool
) -> None:
    cut = {"minute": 16, "hour": 13, "day": 10, "month": 7, "year": 4}[precision]
    last = (start + datetime.timedelta(minutes=length)).isoformat()[:cut]
    text = f"{'about ' if about else ''}{start.isoformat()[:cut]}"
    text += "/" if open_end else "" if last == start.isoformat()[:cut] else f"/{last}"
    when = read_when(text, ZONE)
    assert read_when(write_when(*when, ZONE), ZONE) == when


# Files that are wrong


def test_every_mistake_is_told_at_once_with_its_line_and_the_nearest_word(
    guam: Connection, tmp_path: Path
) -> None:
    text = (
        SMALL.replace("account: log, page: 7", "account: lag, page: 7")
        .replace("forces: [3mar]", "forces: [3mra]")
        .replace("at: 1804", "at: 1894x")
        .replace("when: 1944-07-22", "when: 22 July")
        .replace("at: [144.65, 13.4]", "at: [13.4, 144.65]")
    )
    told = problems_of(guam, tmp_path, text)
    assert [line.split(":")[0] for line in told] == ["12", "12", "12", "13", "15"]
    everything = "\n".join(told)
    assert "unknown account 'lag' (did you mean log?)" in everything
    assert "unknown force '3mra' (did you mean 3mar?)" in everything
    assert "unknown hex '1894x'" in everything
    assert "'22 July' is no time" in everything
    assert "are they swapped?" in everything
    assert guam.scalar(sa.text("select count(*) from campaign")) == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind: landing", "kind: landin", "no kind of entry"),
        ("title: Ashore", "titel: Ashore", "unknown key 'titel'"),
        ('zone: "+10:00"', "zone: Guam", "no offset from UTC"),
        ("map: guam-house", "map: guam-hous", "did you mean guam-house"),
        ("strength: 900-1000", "strength: 1000-900", "the least comes first"),
        ("year: 1950", "year: yes", "valid integer"),
        ("forces: [3mar]", "forces: [3mar, 3mar]", "there twice"),
        ("coast: x\n", "", ""),
    ],
)
def test_a_mistake_is_told(guam: Connection, tmp_path: Path, old: str, new: str, said: str) -> None:
    if not said:
        assert "unknown coast" in problems_of(guam, tmp_path, SMALL + "coast: guan\n")[0]
        return
    assert said in "\n".join(problems_of(guam, tmp_path, SMALL.replace(old, new)))


def test_a_force_in_two_places_is_refused_with_a_remedy(guam: Connection, tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text(
        SMALL + "  - {force: 3mar, when: 1944-07-25, at: [144.7, 13.4], account: log}\n"
    )
    with pytest.raises(SightlineError, match="in two places at one time") as caught:
        import_campaign(guam, tmp_path / "two.yaml")
    assert "two accounts" in caught.value.remedy
    assert guam.scalar(sa.text("select count(*) from entry")) == 0


# Out and in again


def test_the_demo_tells_enough_to_be_worth_a_look(guam: Connection) -> None:
    import_campaign(guam, GUAM)
    tree = campaign_tree(guam, "guam-1944")
    assert len(tree["entries"]) >= 40
    assert len(tree["forces"]) >= 20
    assert all(entry["account"] in tree["accounts"] and entry["page"] for entry in tree["entries"])
    books = {entry["account"] for entry in tree["entries"]}
    assert books >= {"css", "fpb", "ddp", "bob", "ccp"}, "each of the five books tells something"
    assert "house" not in books, "what we conclude is no entry"


DATED = {
    "1941-invasion": "1941-12-08", "1941-surrender": "1941-12-10", "crowe": "1943-01-13",
    "engebi": "1944-02-18", "eniwetok": "1944-02-19/1944-02-21", "parry": "1944-02-22",
    "w-day-north": "1944-07-21", "w-day-south": "1944-07-21", "w-day-fpb": "1944-07-21", "mason-clears": "1944-07-22",
    "tinian": "1944-07-24/1944-08-01", "orote-clear": "1944-07-30", "witek-killed": "1944-08-03",
    "end-fpb": "1944-08-08", "secure": "1944-08-10", "peleliu": "1944-09-15T08:30",
    "angaur": "1944-09-17/1944-09-20", "wilson-commandant": "1975-07-01",
}  # fmt: skip
"""What the five books date, as they date it."""


def test_the_demo_dates_and_counts_as_the_books_do(guam: Connection) -> None:
    import_campaign(guam, GUAM)
    entries = {entry["key"]: entry for entry in campaign_tree(guam, "guam-1944")["entries"]}
    assert {key: entries[key]["when"] for key in DATED} == DATED
    for key in ("skaggs-night", "wilson-attack", "wilson-rescue", "banzai"):
        assert entries[key]["when"].startswith("about "), "no book tells the hour"
    [us], [japan] = (entries[key]["forces"] for key in ("us-losses", "japanese-losses"))
    assert (us["killed"], us["wounded"], us["missing"]) == (1214, 5704, 329)
    assert 10971 in japan.values()


@pytest.mark.parametrize("form", ["yaml", "json", "csv", "zip"])
def test_what_goes_out_comes_in_the_same(guam: Connection, tmp_path: Path, form: str) -> None:
    import_campaign(guam, GUAM, who="Ann")
    before = campaign_tree(guam, "guam-1944")
    file = tmp_path / ("tables" if form == "csv" else f"guam.{form}")
    export_campaign(guam, "guam-1944", file, "csv" if form == "zip" else form)
    report = import_campaign(guam, file, replace=True)
    assert not any([*report.added.values(), *report.changed.values(), *report.removed.values()])
    guam.execute(sa.text("delete from campaign where upper_inf(known)"))
    import_campaign(guam, file)
    assert campaign_tree(guam, "guam-1944") == before


NAMES = st.text("abcdefgh", min_size=1, max_size=6)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=20)
POINT = st.tuples(
    st.decimals(-179, 179, places=6, allow_nan=False), st.decimals(-89, 89, places=6, allow_nan=False)
).map(list)
WHENS = st.sampled_from(
    ["1944-07-21", "about 1944-07-22T08", "1944-07/", "1944-07-25T20:00/1944-07-26T04:00", "1944"]
)
PLACES = st.one_of(
    st.none(), POINT, st.just("1804"), st.just({"line": [[Decimal("144.1"), Decimal("13.2")], [Decimal("144.5"), Decimal("13.7")]]}),
    st.just({"area": [[Decimal("144.1"), Decimal("13.2")], [Decimal("144.5"), Decimal("13.7")], [Decimal("144.6"), Decimal("13.1")]]}),
)  # fmt: skip


@st.composite
def campaigns(draw: st.DrawFn) -> dict[str, Any]:
    """A campaign as a file might have it."""
    accounts = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    forces = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    numbers = st.tuples(st.integers(0, 99), st.integers(100, 9999)).map(list)

    def entry(n: int) -> dict[str, Any]:
        involved = draw(st.lists(st.sampled_from(forces), unique=True, max_size=2))
        told = {
            "key": f"entry-{n}", "when": draw(WHENS), "title": draw(WORDS.filter(str.strip)), "text": draw(WORDS),
            "at": draw(PLACES), "account": draw(st.sampled_from(accounts)), "page": draw(WORDS),
            "forces": [{"force": one, "losses": draw(numbers)} for one in involved],
        }  # fmt: skip
        return {key: value for key, value in told.items() if value not in (None, "", [])}

    stances = [
        {
            "force": force,
            "when": draw(WHENS),
            "account": account,
            "at": draw(POINT),
            "strength": draw(numbers),
        }
        for force in forces
        for account in accounts
        if draw(st.booleans())
    ]
    return {
        "name": "drawn", "span": "1944", "zone": draw(st.sampled_from(["+10:00", "-03:30"])), "map": "guam-house",
        "accounts": {key: {"title": draw(WORDS.filter(str.strip)), "note": draw(WORDS)} for key in accounts},
        "forces": {key: {"name": draw(WORDS.filter(str.strip)), "side": "us"} for key in forces},
        "entries": [entry(n) for n in range(draw(st.integers(0, 4)))],
        "stances": stances,
    }  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(campaign=campaigns(), form=st.sampled_from(["yaml", "json", "csv"]))
def test_any_campaign_that_goes_out_comes_in_the_same(
    guam: Connection, tmp_path: Path, campaign: dict[str, Any], form: str
) -> None:
    file = tmp_path / "drawn.yaml"
    file.write_text(yaml_text(campaign))
    with guam.begin_nested() as savepoint:
        import_campaign(guam, file)
        before = campaign_tree(guam, "drawn")
        again = tmp_path / ("drawn-tables" if form == "csv" else f"again.{form}")
        export_campaign(guam, "drawn", again, form)
        guam.execute(sa.text("delete from campaign where upper_inf(known)"))
        import_campaign(guam, again)
        assert campaign_tree(guam, "drawn") == before
        savepoint.rollback()


def test_a_file_that_is_brought_in_again_corrects_and_loses_nothing(
    small: Connection, tmp_path: Path
) -> None:
    then = small.scalar(sa.text("select clock_timestamp()"))
    (tmp_path / "small.yaml").write_text(
        SMALL.replace("title: Ashore", "title: Ashore at last").replace(
            "  - {when: 1944-07-22, title: A rumour, account: memoir, certainty: doubtful}\n", ""
        )
    )
    report = import_campaign(small, tmp_path / "small.yaml", replace=True, who="Ben")
    assert (report.changed["entry"], report.removed["entry"], report.added["entry"]) == (1, 1, 0)
    assert [entry["title"] for entry in campaign_tree(small, "small")["entries"]] == ["Ashore at last"]
    assert [entry["title"] for entry in campaign_tree(small, "small", then)["entries"]] == [
        "Ashore",
        "A rumour",
    ]


def test_a_hex_goes_along_with_its_map(small: Connection) -> None:
    before = small.scalar(sa.text("select st_astext(geom, 4) from entry where key = 'landing'"))
    small.execute(sa.text("update map set affine[5] = affine[5] + 0.5 where name = 'guam-house'"))
    after = small.scalar(
        sa.text("select st_astext(geom, 4) from entry where key = 'landing' and upper_inf(known)")
    )
    assert before is not None
    assert before != after
    assert small.scalar(sa.text("select count(*) from entry where key = 'landing'")) == 1, "no new version"


# Recording


CHRONICLE = """\
# Notes of a day

## 1944-07-21

08:30 landing: The first wave comes ashore. [[3mar]] lands on [[1804]]
under mortar fire, and [[1/9]] behind it. {log 12-13}

about 23:00 counterattack: Shots in the dark. {memoir}

## 1944-07-22

A quiet day at [[144.70, 13.45]]. {memoir 4}
"""


def test_a_chronicle_is_read_with_its_times_forces_hexes_and_sources(
    small: Connection, tmp_path: Path
) -> None:
    (tmp_path / "diary.txt").write_text(CHRONICLE.replace("# Notes of a day\n", ""))
    report = record(small, "small", tmp_path / "diary.txt", who="Ben")
    assert report.added["entry"] == 3
    tree = {entry["title"]: entry for entry in campaign_tree(small, "small")["entries"]}
    first = tree["The first wave comes ashore"]
    assert (first["when"], first["kind"], first["at"], first["account"], first["page"]) == (
        "1944-07-21T08:30", "landing", "1804", "log", "12-13",
    )  # fmt: skip
    assert first["forces"] == ["3mar", "1/9"]
    assert tree["Shots in the dark"]["when"] == "about 1944-07-21T23:00"
    assert tree["A quiet day at 144.70, 13.45"]["at"] == [Decimal("144.7"), Decimal("13.45")]
    assert small.scalar(sa.text("select writer from entry where title = 'Shots in the dark'")) == "Ben"


def test_a_chronicle_with_mistakes_tells_them_all(small: Connection, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text(
        "No day, no source.\n\n## 1944-07-21\n\n08:30 [[3mra]] lands. {lag 1}\n\nAnother. {log}\n\n## July\n\nMore. {log}\n"
    )
    with pytest.raises(Problems) as caught:
        record(small, "small", tmp_path / "diary.txt")
    told = [(problem.line, problem.message) for problem in caught.value.sorted()]
    assert [line for line, _ in told] == [1, 1, 5, 5, 11]
    assert small.scalar(sa.text("select count(*) from entry")) == 2


def test_a_table_is_known_by_its_columns(small: Connection, tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text(
        "when,title,account,forces,at\n1944-07-23,Another day,log,3mar 1/9,1804\n"
        '1944-07-24,"A line, drawn",log,,"LINESTRING(144.6 13.4, 144.7 13.5)"\n'
    )
    assert record(small, "small", tmp_path / "more.csv").added["entry"] == 2
    (tmp_path / "bad.csv").write_text("when,title,account\n1944-07-23,One,lag\nlater,Two,log\n")
    with pytest.raises(Problems) as caught:
        record(small, "small", tmp_path / "bad.csv")
    assert [problem.line for problem in caught.value.sorted()] == [2, 3]


def test_a_key_that_is_there_becomes_its_new_version(small: Connection, tmp_path: Path) -> None:
    (tmp_path / "more.yaml").write_text(
        "entries:\n  - {key: landing, when: 1944-07-21T09, title: Ashore later, account: log, why: a second log}\n"
    )
    assert record(small, "small", tmp_path / "more.yaml", who="Ben").changed["entry"] == 1
    campaign = find_campaign(small, "small")
    [landing, _] = entries(small, campaign.id, Wanted(), 10)
    assert (landing["title"], landing["writer"], landing["why"]) == ("Ashore later", "Ben", "a second log")
    take_away(small, "small", "entry", "landing")
    assert len(entries(small, campaign.id, Wanted(), 10)) == 1


# Handing over


@pytest.fixture
def recorded(guam: Connection) -> Connection:
    import_campaign(guam, GUAM)
    return guam


def test_gdal_reads_the_geopackage_with_its_times(recorded: Connection, tmp_path: Path) -> None:
    file = tmp_path / "guam.gpkg"
    export_campaign(recorded, "guam-1944", file, "gpkg")
    assert dict(pyogrio.list_layers(file)) == {name: SHAPES.get(name) for name in COLUMNS}
    meta, _, shapes, columns = pyogrio.raw.read(file, layer="entry")
    table = dict(zip(meta["fields"], columns, strict=True))
    assert "4326" in meta["crs"]
    row = list(table["key"]).index("orote-clear")
    assert table["begins"][row] == np.datetime64("1944-07-29T14:00:00"), (
        "midnight of the 30th in Guam, in UTC"
    )
    assert table["ends"][row] == np.datetime64("1944-07-30T14:00:00")
    point = shapely.from_wkb(shapes[row])
    assert 144.62 < point.x < 144.68
    assert 13.41 < point.y < 13.46
    stances = pyogrio.raw.read(file, layer="stance")
    assert len(stances[2]) == len(campaign_tree(recorded, "guam-1944")["stances"])
    open_end = list(table["ends"][[key == "mason-gully" for key in table["key"]]])
    assert not np.isnat(open_end[0])


def test_gdal_reads_the_geojson(recorded: Connection, tmp_path: Path) -> None:
    file = tmp_path / "guam.geojson"
    export_campaign(recorded, "guam-1944", file, "geojson")
    meta, _, _, columns = pyogrio.raw.read(file)
    assert {"layer", "begins", "ends", "title", "account"} <= set(meta["fields"])
    layer = list(columns[list(meta["fields"]).index("layer")])
    assert sum(name.startswith("entry") for name in layer) == len(
        campaign_tree(recorded, "guam-1944")["entries"]
    )
    begins = [
        feature["properties"]["begins"]
        for feature in json.loads(file.read_text())["features"]
        if "begins" in feature["properties"]
    ]
    assert "1944-07-29T14:00:00Z" in begins


def test_gdal_reads_the_table_with_its_shapes(recorded: Connection, tmp_path: Path) -> None:
    export_campaign(recorded, "guam-1944", tmp_path / "tables", "csv")
    _, _, shapes, _ = pyogrio.raw.read(
        tmp_path / "tables" / "entries.csv", layer="entries", GEOM_POSSIBLE_NAMES="wkt"
    )
    kinds = {shapely.from_wkb(shape).geom_type for shape in shapes if shape is not None}
    assert kinds == {"Point", "LineString", "Polygon"}


def test_the_qgis_project_names_layers_fields_and_time_that_are_there(
    recorded: Connection, tmp_path: Path
) -> None:
    written = export_campaign(recorded, "guam-1944", tmp_path / "guam.qgs", "qgis")
    assert [path.name for path in written] == ["guam.qgs", "guam.gpkg"]
    root = Xml.fromstring((tmp_path / "guam.qgs").read_text().partition("\n")[2])
    layers = root.findall("projectlayers/maplayer")
    assert {node.findtext("id") for node in layers} == {
        node.get("id") for node in root.iter("layer-tree-layer")
    }
    for node in layers:
        source, _, layer = (node.findtext("datasource") or "").partition("|layername=")
        info = pyogrio.read_info(tmp_path / source, layer=layer)
        fields = set(info["fields"])
        temporal = node.find("temporal")
        if temporal is not None:
            assert {temporal.get("startField"), temporal.get("endField")} <= fields
        style = node.find("labeling/settings/text-style")
        assert style is None or style.get("fieldName") in fields
    # QGIS makes up an id of its own for one of ten letters or less, and then finds no layer in its tree
    assert all(len(node.findtext("id") or "") > 10 for node in layers)
    assert root.findtext("ProjectTimeSettings/TemporalRange/start") == "1944-07-20T14:00:00Z"
    assert root.findtext("properties/SpatialRefSys/ProjectionsEnabled") == "1"
    assert root.findtext("projectCrs/spatialrefsys/srsid") == "3857"


def test_moments_of_a_geopackage_are_told_in_utc(recorded: Connection, tmp_path: Path) -> None:
    export_campaign(recorded, "guam-1944", tmp_path / "guam.gpkg", "gpkg")
    with contextlib.closing(sqlite3.connect(tmp_path / "guam.gpkg")) as package:
        moments = [
            row[0] for row in package.execute("select begins from entry union select begins from stance")
        ]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", moment) for moment in moments)


QGIS = os.environ.get("SIGHTLINE_QGIS")
HOURS = {
    "1944-07-20T22:30:00Z": ({"w-day-north", "w-day-south"}, {"banzai-losses"}),
    "1944-07-25T18:00:00Z": ({"banzai-losses"}, {"w-day-north"}),
}
"""Hours that QGIS is asked for: what it shows then, and what it does not."""


@pytest.mark.skipif(
    not QGIS, reason="SIGHTLINE_QGIS names no Python that has PyQGIS, such as /usr/bin/python3"
)
def test_qgis_itself_opens_the_project_and_shows_an_hour(recorded: Connection, tmp_path: Path) -> None:
    export_campaign(recorded, "guam-1944", tmp_path / "guam.qgs", "qgis")
    asked = [
        str(QGIS),
        str(ROOT / "tests" / "qgis_reader.py"),
        str(tmp_path / "guam.qgs"),
        str(tmp_path),
        *HOURS,
    ]
    quiet = {"QT_QPA_PLATFORM": "offscreen", "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(asked, capture_output=True, text=True, check=True, env=quiet)
    told = json.loads(done.stdout)
    assert told["opened"]
    assert told["crs"] == "EPSG:3857"
    assert told["span"] == ["1944-07-20T14:00:00Z", "1944-08-10T14:00:00Z"]
    assert told["view"] == pytest.approx([144.59, 13.21, 144.98, 13.68], abs=0.01)
    assert all(layer["valid"] for layer in told["layers"].values())
    assert told["layers"]["sightline_stance"]["renderer"] == "categorizedSymbol"
    for name, layer in told["layers"].items():
        assert layer["timed"] == (name != "sightline_coast")
    for hour, (there, absent) in HOURS.items():
        assert there <= set(told["shown"][hour])
        assert not absent & set(told["shown"][hour])
        assert told["colours"][hour] > 20, "land, sea, marks and labels are drawn"


# On the command line


def test_the_zip_is_a_zip(recorded: Connection, tmp_path: Path) -> None:
    export_campaign(recorded, "guam-1944", tmp_path / "guam.zip", "csv")
    assert "entries.csv" in zipfile.ZipFile(tmp_path / "guam.zip").namelist()


def test_the_command_line_refuses_what_is_no_moment() -> None:
    result = CliRunner().invoke(gather(), ["campaign", "export", "guam-1944", "--known", "yesterday"])
    assert isinstance(result.exception, SightlineError)
    assert "is no moment" in result.exception.message


def test_what_is_written_is_yaml_to_be_read_by_people(recorded: Connection) -> None:
    text = write_campaign(recorded, "guam-1944")
    assert text.count("\n  - {key: ") > 80


def test_both_ways_of_asking_for_a_time_find_the_same(recorded: Connection) -> None:
    """The function that pages ask, and plain conditions over the tables."""
    campaign = find_campaign(recorded, "guam-1944").id
    day = read_when("1944-07-25/1944-07-26", ZONE).during
    everything = [row for row in entries(recorded, campaign, Wanted(), 1000) if row["during"].overlaps(day)]
    assert entries(recorded, campaign, Wanted(during=day), 1000) == everything
    box = (144.70, 13.44, 144.75, 13.48)
    boxed = {row["key"] for row in entries(recorded, campaign, Wanted(box=box), 1000)}
    asked = {row["key"] for row in entries(recorded, campaign, Wanted(during=day, box=box), 1000)}
    assert asked == boxed & {row["key"] for row in everything}
    assert asked
    of_force = Wanted(during=day, force="wilson", kind="capture", account="moh")
    assert {row["key"] for row in entries(recorded, campaign, of_force, 1000)} == {
        "wilson-takes-hill",
        "wilson-patrol",
    }
