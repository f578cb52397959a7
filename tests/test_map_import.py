"""Importing maps: every mistake is told with its place, and a bad file leaves nothing behind."""

from __future__ import annotations

import json
import os
import re
import threading
import time
import zipfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.referee.questions import forms
from db.database import make_engine
from db.inventory import NotThereError
from db.labels import Axial
from db.map_draft import FeatureDraft, HexDraft, MapDraft
from importers import csv_tables
from importers.cases import read_case, read_position
from importers.documents import MAX_DEPTH, Node, Problem, Problems, read_document
from importers.georeference import GeoreferenceError
from importers.maps import (
    MapError,
    delete_map,
    export_map,
    import_map,
    load_draft,
    read_hex,
    read_map,
    read_map_file,
    store_map,
)
from tests.conftest import Databases

TABLES = ("map", "hex", "hexside", "path", "terrain_area", "crest", "map_feature", "map_feature_hex")
CSS = """\
ruleset: css
name: ridge
extent: ["20.76", "26.84"]
fill: {terrain: clear}
"""
COLLECTION = '{"type": "FeatureCollection", "sightline": {"ruleset": "css"}, "features": [\n'
HEX = '{"type": "Feature", "geometry": null, "properties": {"layer": "hex", "label": "22.79", "terrain": "clear"}}'


def contents(connection: Connection) -> list[int]:
    return [connection.scalar(sa.text(f"select count(*) from {table}")) or 0 for table in TABLES]


def read(text: str, ruleset: str = "css") -> MapDraft:
    """The map that a text describes."""
    problems = Problems()
    draft = read_map(read_document(text, "map.yaml"), ruleset, problems)
    problems.raise_if_any()
    assert draft is not None
    return draft


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, so that messages name files without their folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


BROKEN = {
    "an empty file": ("broken.yaml", b"", "broken.yaml:1: the file is empty"),
    "another alphabet": (
        "broken.yaml",
        b"ruleset: css\nname: caf\xe9\n",
        "broken.yaml:2: not UTF-8: byte 0xe9; save the file as UTF-8",
    ),
    "a tab for indentation": (
        "broken.yaml",
        "ruleset: css\n\textent: x\n",
        "broken.yaml:2: not YAML: a tab stands where spaces must: indent with spaces",
    ),
    "a bracket that is not closed": (
        "broken.yaml",
        'ruleset: css\nextent: ["20.76", "26.84"\nfill: clear\n',
        "broken.yaml:3: not YAML: did not find expected ',' or ']'",
    ),
    "a list": ("broken.yaml", "- a\n- b\n", "broken.yaml:1: expected a map, found a list"),
    "a key twice": (
        "broken.yaml",
        CSS + "name: other\n",
        "broken.yaml:5: name: name is named twice, first on line 2",
    ),
    "an alias": (
        "broken.yaml",
        CSS + 'hexes: {"22.79": &x brush, "22.80": *x}\n',
        "broken.yaml:5: hexes/22.79: anchor &x: anchors and aliases are not allowed\nbroken.yaml:5: hexes/22.80: alias *x: anchors and aliases are not allowed; write it out",
    ),
    "a tag": (
        "broken.yaml",
        CSS + "note: !!python/object:os.system ls\n",
        "broken.yaml:5: note: tag tag:yaml.org,2002:python/object:os.system: tags are not allowed",
    ),
    "two documents": (
        "broken.yaml",
        CSS + "---\nruleset: bob\n",
        "broken.yaml:5: a second document begins here; a file holds one",
    ),
    "a list for a key": (
        "broken.yaml",
        CSS + "? [a, b]\n: c\n",
        "broken.yaml:5: a key must be a word, not a list, mapping or alias",
    ),
    "brackets without end": (
        "broken.yaml",
        CSS + "note: " + "[" * 60 + "]" * 60,
        "broken.yaml:5: more than 40 levels deep",
    ),
    "a character no database holds": (
        "broken.yaml",
        CSS + 'note: "a\\0b"\n',
        "broken.yaml:5: note: the text has a character that cannot be stored (NUL or half a pair)",
    ),
    "no ruleset": (
        "broken.yaml",
        'name: ridge\nextent: ["20.76", "26.84"]\n',
        "broken.yaml:1: ruleset is missing: which of css, ccp, fpb, bob, ddp is the map for?",
    ),
    "an unknown ruleset": (
        "broken.yaml",
        'ruleset: csss\nextent: ["20.76", "26.84"]\n',
        "broken.yaml:1: ruleset: unknown ruleset 'csss' (did you mean css?)",
    ),
    "an unknown key": (
        "broken.yaml",
        CSS + "hexxes: {}\n",
        "broken.yaml:5: hexxes: unknown key 'hexxes' (did you mean hexes, hexsides or scheme?)",
    ),
    "a name with capitals": (
        "broken.yaml",
        CSS.replace("ridge", "Ridge Line"),
        "broken.yaml:2: name: 'Ridge Line': a name has lower-case letters, digits, - and _ only, and starts with a letter or digit",
    ),
    "a scale in words": (
        "broken.yaml",
        CSS + "scale: big\n",
        "broken.yaml:5: scale: expected a whole number, found 'big'",
    ),
    "a scale of nothing": (
        "broken.yaml",
        CSS + "scale: 0\n",
        "broken.yaml:5: scale: 0 is not between 1 and 1000000",
    ),
    "a scheme of no such kind": (
        "broken.yaml",
        CSS + "scheme: {shifted: sometimes}\n",
        "broken.yaml:5: scheme/shifted: input should be 'odd' or 'even'",
    ),
    "an unknown key of a scheme": (
        "broken.yaml",
        CSS + "scheme: {colums: letters}\n",
        "broken.yaml:5: scheme/colums: unknown key 'colums' (did you mean columns, column_digits or first_column?)",
    ),
    "no hexes at all": (
        "broken.yaml",
        "ruleset: css\nname: ridge\n",
        "broken.yaml:1: extent is missing: which hexes has the map?",
    ),
    "an extent of one corner": (
        "broken.yaml",
        'ruleset: css\nextent: ["20.76"]\n',
        "broken.yaml:2: extent: an extent has two corner labels, not 1",
    ),
    "a corner that is no label": (
        "broken.yaml",
        'ruleset: css\nextent: ["20.76", "2684"]\n',
        "broken.yaml:2: extent/2: '2684' is not a label of this map; did you mean 26.84?",
    ),
    "an extent without end": (
        "broken.yaml",
        'ruleset: css\nextent: ["20.76", "9999.9999"]\n',
        "broken.yaml:2: extent: too large: from 20.76 to 9999.9999 are 99,041,520 hexes; a map has at most 4,000,000",
    ),
    "an extent of another form": (
        "broken.yaml",
        'ruleset: css\nextent: {from: "20.76", to: "22.78"}\n',
        "broken.yaml:2: extent: expected two corner labels, or a list of such pairs, found a mapping",
    ),
    "an unknown fill": (
        "broken.yaml",
        CSS.replace("clear", "cleer"),
        "broken.yaml:4: fill/terrain: unknown terrain 'cleer' (did you mean clear?)",
    ),
    "an unknown terrain": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": {terrain: tropical forest}\n',
        "broken.yaml:6: hexes/22.79/terrain: unknown terrain 'tropical forest' (did you mean tropical_forest or palm_forest?)",
    ),
    "an unknown key of a hex": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": {terain: brush}\n',
        "broken.yaml:6: hexes/22.79/terain: unknown key 'terain' (did you mean terrain?)",
    ),
    "a level in words": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": {level: high}\n',
        "broken.yaml:6: hexes/22.79/level: expected a whole number, found 'high'",
    ),
    "a level too high": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": {level: 9}\n',
        "broken.yaml:6: hexes/22.79/level: 9 is not between 1 and 4, the levels of css",
    ),
    "a level too low": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": {level: 0}\n',
        "broken.yaml:6: hexes/22.79/level: 0 is not between 1 and 4, the levels of css",
    ),
    "a level in a game without elevation": (
        "broken.yaml",
        'ruleset: fpb\nextent: ["0101", "0303"]\nfill: {terrain: clear, level: 1}\n',
        "broken.yaml:3: fill/level: 1 is not 0, since fpb has no levels: leave it out",
    ),
    "a cave that is a number": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": {cave: 1}\n',
        "broken.yaml:6: hexes/22.79/cave: expected true or false, found '1'",
    ),
    "an unknown hex feature": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": {features: [caves]}\n',
        "broken.yaml:6: hexes/22.79/features/1: unknown hex feature 'caves' (did you mean cave?)",
    ),
    "a hex that is a list": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": [brush]\n',
        "broken.yaml:6: hexes/22.79: expected a mapping, found a list",
    ),
    "a hex off the map": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.99": brush\n',
        "broken.yaml:6: hexes/22.99: 22.99 is not a hex of this map (did you mean 22.79, 22.84 or 22.83?)",
    ),
    "a label with another separator": (
        "broken.yaml",
        CSS + 'hexes:\n  "22-79": brush\n',
        "broken.yaml:6: hexes/22-79: '22-79' is not a label of this map (did you mean 22.79, 21.79 or 22.78?)",
    ),
    "a label without its separator": (
        "broken.yaml",
        CSS + 'hexes:\n  "2279": brush\n',
        "broken.yaml:6: hexes/2279: '2279' is not a label of this map (did you mean 22.79, 21.79 or 22.78?)",
    ),
    "a hex twice": (
        "broken.yaml",
        CSS + 'hexes:\n  "22.79": brush\n  "22.79": rocky\n',
        "broken.yaml:7: hexes/22.79: 22.79 is named twice, first on line 6",
    ),
    "a hexside of hexes apart": (
        "broken.yaml",
        CSS + 'hexsides:\n  "22.79|22.81": [ridge]\n',
        "broken.yaml:6: hexsides/22.79|22.81: 22.79|22.81: the two hexes are not adjacent; adjacent to 22.79 are 22.78, 23.78, 23.79, 22.80, 21.79, 21.78",
    ),
    "a hexside of one hex": (
        "broken.yaml",
        CSS + 'hexsides:\n  "22.79": [ridge]\n',
        "broken.yaml:6: hexsides/22.79: 22.79: a hexside is two adjacent hexes joined by |; such as 05.07|05.08",
    ),
    "an unknown hexside": (
        "broken.yaml",
        CSS + 'hexsides:\n  "22.79|23.79": [rigde]\n',
        "broken.yaml:6: hexsides/22.79|23.79/1: unknown hexside 'rigde' (did you mean ridge, river or ravine?)",
    ),
    "a hexside both ways": (
        "broken.yaml",
        CSS + 'hexsides:\n  "22.79|23.79": ridge\n  "23.79|22.79": cliff\n',
        "broken.yaml:7: hexsides/23.79|22.79: 23.79|22.79 is the same hexside as 22.79|23.79, named on line 6",
    ),
    "a hexside off the map": (
        "broken.yaml",
        CSS + 'hexsides:\n  "30.79|31.79": ridge\n',
        "broken.yaml:6: hexsides/30.79|31.79: neither hex of 30.79|31.79 is on this map",
    ),
    "a path that jumps": (
        "broken.yaml",
        CSS + 'paths:\n  - {kind: paved_road, hexes: ["21.80", "23.80"]}\n',
        "broken.yaml:6: paths/1/hexes/2: the path jumps: 23.80 is not adjacent to 21.80 (did you mean 22.80 or 22.81?)",
    ),
    "a path of one hex": (
        "broken.yaml",
        CSS + 'paths:\n  - {kind: paved_road, hexes: ["21.80"]}\n',
        "broken.yaml:6: paths/1/hexes: a path has at least two hexes",
    ),
    "an unknown path": (
        "broken.yaml",
        CSS + 'paths:\n  - {kind: motorway, hexes: ["21.80", "22.80"]}\n',
        "broken.yaml:6: paths/1/kind: unknown path 'motorway'; known: trail, unpaved_road, paved_road, causeway",
    ),
    "a path without a kind that leaves the map": (
        "broken.yaml",
        CSS + 'paths:\n  - {hexes: ["26.80", "27.80"]}\n',
        "broken.yaml:6: paths/1: kind is missing\nbroken.yaml:6: paths/1/hexes/2: 27.80 is not a hex of this map (did you mean 26.80, 25.80 or 24.80?)",
    ),
    "an outline that crosses itself": (
        "broken.yaml",
        CSS + "areas:\n  - {terrain: brush, polygon: [[1, 1], [2, 2], [1, 2], [2, 1]]}\n",
        "broken.yaml:6: areas/1: the outline is no simple polygon: self-intersection near (1.5, 1.5)",
    ),
    "an outline of two points": (
        "broken.yaml",
        CSS + "areas:\n  - {terrain: brush, polygon: [[1, 1], [2, 2]]}\n",
        "broken.yaml:6: areas/1/polygon: an outline has at least three points, not 2",
    ),
    "a coordinate in words": (
        "broken.yaml",
        CSS + "areas:\n  - {terrain: brush, polygon: [[1, 1], [2, one], [3, 3]]}\n",
        "broken.yaml:6: areas/1/polygon/2/2: expected a number, found 'one'",
    ),
    "a point of one number": (
        "broken.yaml",
        CSS + "areas:\n  - {terrain: brush, polygon: [[1, 1], [2], [3, 3]]}\n",
        "broken.yaml:6: areas/1/polygon/2: a point is [x, y], not 1 numbers",
    ),
    "a crest without a level": (
        "broken.yaml",
        CSS + "crests:\n  - {line: [[1, 1], [2, 1]]}\n",
        "broken.yaml:6: crests/1: level is missing",
    ),
    "a crest of one point": (
        "broken.yaml",
        CSS + "crests:\n  - {level: 1, line: [[1, 1], [1, 1]]}\n",
        "broken.yaml:6: crests/1/line: a crest has at least two points, not 1",
    ),
    "positions of another game": (
        "broken.yaml",
        CSS + 'positions: {B5: {hexes: ["22.79"]}}\n',
        "broken.yaml:5: positions: no positions are printed on maps of css",
    ),
    "a position with dots off the map": (
        "broken.yaml",
        'ruleset: ddp\nextent: ["0301", "0505"]\nfill: clear\npositions:\n  B5: {hexes: ["0304"], intense: ["0406"], colour: blue}\n',
        "broken.yaml:5: positions/B5/colour: unknown key 'colour' (did you mean color?)\nbroken.yaml:5: positions/B5/intense/1: 0406 is not a hex of this map (did you mean 0405, 0404 or 0403?)",
    ),
    "an unknown kind of place": (
        "broken.yaml",
        CSS + 'places:\n  A: {kind: objektive, hexes: ["22.79"]}\n',
        "broken.yaml:6: places/A/kind: unknown kind of place 'objektive' (did you mean objective?)",
    ),
    "a georeference of one point": (
        "broken.yaml",
        CSS + 'georeference: {crs: WGS84, points: [{hex: "22.79", lon: 144.7, lat: 13.4}]}\n',
        "broken.yaml:5: georeference/crs: 'WGS84' is no EPSG code; write it as EPSG:4326\nbroken.yaml:5: georeference/points: a georeference needs at least three control points",
    ),
    "a level and a label of another game": (
        "broken.yaml",
        'ruleset: bob\nextent: ["A1", "F5"]\nfill: {terrain: woods, level: 4}\nhexes: {"e4": hut}\n',
        "broken.yaml:3: fill/level: 4 is not between -1 and 3, the levels of bob\nbroken.yaml:4: hexes/e4: 'e4' is not a label of this map (did you mean E4, D4 or E3?)",
    ),
    "a comma too many": (
        "broken.json",
        '{"ruleset": "css",\n "extent": ["20.76", "26.84"],\n}',
        "broken.json:3: not JSON: expected a key in double quotes",
    ),
    "a comma too few": (
        "broken.json",
        '{"ruleset": "css",\n "extent": ["20.76", "26.84"]\n "fill": "clear"}',
        "broken.json:3: not JSON: expected a comma or }",
    ),
    "a feature alone": (
        "broken.geojson",
        '{"type": "Feature"}',
        "broken.geojson:1: expected a GeoJSON FeatureCollection",
    ),
    "a collection without its head": (
        "broken.geojson",
        '{"type": "FeatureCollection", "features": []}',
        "broken.geojson:1: sightline is missing: the member that says which ruleset and map this is",
    ),
    "features with a mistake each": (
        "broken.geojson",
        '{"type": "FeatureCollection", "sightline": {"ruleset": "css"},\n"features": [\n{"type": "Feature", "properties": {"layer": "hexx"}, "geometry": null},\n{"type": "Feature", "properties": {"layer": "hex", "terrain": "clear"}, "geometry": null},\n{"type": "Feature", "properties": {"layer": "hex", "label": "22.79", "terrain": "cler"}, "geometry": null},\n{"type": "Feature", "properties": {"layer": "crest", "level": 1}, "geometry": null}\n]}',
        "broken.geojson:3: features/1/properties/layer: unknown layer 'hexx' (did you mean hex or hexside?)\nbroken.geojson:4: features/2/properties: label is missing\nbroken.geojson:5: features/3/properties/terrain: unknown terrain 'cler' (did you mean clear?)\nbroken.geojson:6: features/4/properties: the feature has no shape",
    ),
    "a GeoPackage that is none": ("broken.gpkg", "hello", "broken.gpkg: not a GeoPackage"),
    "a GeoPackage that is damaged": (
        "broken.gpkg",
        b"SQLite format 3\x00xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "broken.gpkg: not a GeoPackage that can be read",
    ),
    "a zip that is none": ("broken.zip", "hello", "broken.zip: not a zip archive that can be read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_told_whole_and_leaves_nothing(
    connection: Connection, here: Path, name: str
) -> None:
    file, content, message = BROKEN[name]
    (here / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = contents(connection)
    with pytest.raises(Problems) as caught:
        import_map(connection, file)
    assert str(caught.value) == message
    assert caught.value.message == message
    assert contents(connection) == before


SEVERAL = {
    "map.yaml": (
        'ruleset: css\nscheme: {shfted: odd}\nextent: ["20.76", "22.78"]\nfill: {terrain: claer, level: 9}\n'
        'hexes:\n  "20.76": {terrain: forrest, levl: 2}\n  "99.99": swampp\n'
        'hexsides: {"20.76|22.78": clif}\npaths: [{kind: rode, hexes: ["20.76"], nam: y}]\n',
        ("shfted", "claer", "9 is not between", "forrest", "levl", "swampp", "clif", "rode", "nam"),
    ),
    "map.geojson": (
        '{"type": "FeatureCollection", "sightline": {"ruleset": "css", "nam": "x"}, "features": [\n'
        '{"type": "Feature", "properties": {"layer": "hex", "label": "20.76", "terrain": "forrest", "colour": 1, "level": 9}},\n'
        '{"type": "Feature", "properties": {"layer": "hexside", "hexside": "20.76|20.77", "kind": "clif", "wide": 1}},\n'
        '{"type": "Feature", "properties": {"layer": "terrain_area", "terrain": "swampp"}, "geometry": {"type": "Polygn", "coordinates": []}}]}',
        ("nam", "forrest", "colour", "9 is not between", "clif", "wide", "swampp", "Polygn"),
    ),
}  # fmt: skip
"""Files in which unknown words stand behind unknown words, and all of them."""


@pytest.mark.parametrize("file", SEVERAL)
def test_no_mistake_hides_behind_another(here: Path, file: str) -> None:
    text, words = SEVERAL[file]
    (here / file).write_text(text)
    with pytest.raises(Problems) as caught:
        read_map_file(here / file)
    told = str(caught.value)
    assert [word for word in words if word not in told] == []


def test_no_mistake_of_a_table_hides_behind_its_columns(here: Path) -> None:
    (here / "m").mkdir()
    (here / "m" / "map.yaml").write_text('ruleset: css\nextent: ["20.76", "22.78"]\nnte: y\n')
    (here / "m" / "hexes.csv").write_text("label,terrain,colour\n20.76,forrest,red\n20.99,swampp,\n")
    (here / "m" / "paths.csv").write_text("kind,hexes,wide\nrode,20.76 20.78,1\n")
    with pytest.raises(Problems) as caught:
        read_map_file(here / "m")
    words = ("nte", "colour", "forrest", "20.99 is not a hex", "swampp", "wide", "rode", "the path jumps")
    assert [word for word in words if word not in str(caught.value)] == []


def test_a_value_of_another_kind_is_told_in_words(connection: Connection) -> None:
    text = (
        'case: x\nruleset: css\nmap: {extent: ["20.76", "22.78"]}\n'
        'units: [{id: A, side: us, at: "20.77", fire: 4}, {id: B, side: us, at: "20.77", fire: [4]}]\n'
        "ask: [{los: {from: [A], to: {}}}]\n"
    )
    with pytest.raises(Problems) as caught:
        read_case(text, "case", forms(), connection)
    told = str(caught.value)
    assert "units/1/fire: expected a mapping, found '4'" in told
    assert "units/2/fire: expected a mapping, found a list" in told
    assert re.search(r"instance|valid|input|pydantic|str\b|dict", told) is None


@pytest.mark.parametrize("fill", ["clear", "claer"])
def test_no_mistake_of_a_case_hides_behind_its_map(connection: Connection, fill: str) -> None:
    text = (
        f'case: x\nruleset: css\nmap: {{extent: ["20.76", "22.78"], fill: {fill}}}\n'
        'units: [{id: A, side: usa, at: "99.99", postur: column}]\nmarkers: [{kind: smok, at: "20.77"}]\n'
        "tracks: {hexs: {}}\nconditions: {wether: rain}\n"
        'ask: [{lso: {}}, {los: {frm: A, to: "77.77"}}, {los: {from: A, to: "20.76"}}]\n'
    )
    with pytest.raises(Problems) as caught:
        read_case(text, "case", forms(), connection)
    words = [
        "usa",
        "postur",
        "smok",
        "hexs",
        "wether",
        "lso",
        "frm",
        *(["99.99 is", "77.77 is"] if fill == "clear" else ["claer"]),
    ]
    told = str(caught.value)
    assert [word for word in words if word not in told] == []
    assert "ask/3" not in told, "who names a unit with a mistake makes none"


def test_a_file_of_the_other_kind_is_told_what_it_is(connection: Connection, here: Path) -> None:
    (here / "p.yaml").write_text('name: p\nruleset: css\nmap: {extent: ["20.76", "22.78"]}\nunits: []\n')
    with pytest.raises(
        Problems, match="this is a position or a case, since it has units: bring it in as a position"
    ):
        read_map_file(here / "p.yaml")
    with pytest.raises(Problems, match="this is a map, and nobody stands on it: bring it in as a map"):
        read_position(CSS, "m.yaml", connection)
    with pytest.raises(Problems, match="this is no case"):
        read_case("Can my tank see the hill?", "case", forms(), connection)


BROKEN_TABLES = {
    "no map.yaml": (
        {"hexes.csv": "label,terrain\n22.79,clear\n"},
        "m: map.yaml: the file is missing: it says what the map is",
    ),
    "a misnamed table": (
        {"map.yaml": CSS, "hexside.csv": "hexside,kind\n22.79|22.80,ridge\n"},
        "m: unknown table 'hexside.csv' (did you mean hexsides.csv, hexes.csv or paths.csv?)",
    ),
    "a column of another name": (
        {"map.yaml": CSS, "hexes.csv": "label,terain\n22.79,clear\n"},
        "m/hexes.csv:1: unknown column 'terain' (did you mean terrain?)",
    ),
    "a column too few": (
        {"map.yaml": CSS, "hexsides.csv": "hexside\n22.79|22.80\n"},
        "m/hexsides.csv:1: the column kind is missing",
    ),
    "a cell too many": (
        {"map.yaml": CSS, "hexes.csv": "label,terrain\n22.79,clear\n22.80,brush,2\n"},
        "m/hexes.csv:3: 22.80: 3 cells in a table of 2 columns",
    ),
    "a row without its label": (
        {"map.yaml": CSS, "hexes.csv": "label,terrain\n22.79,clear\n,brush\n"},
        "m/hexes.csv:3: label is missing",
    ),
    "a label that a spreadsheet shortened": (
        {"map.yaml": CSS, "hexes.csv": "label,terrain\n22.8,clear\n"},
        "m/hexes.csv:2: 22.8: '22.8' is not a label of this map (did you mean 22.78, 22.76 or 22.77?)",
    ),
    "a hex twice": (
        {"map.yaml": CSS, "hexes.csv": "label,terrain\n22.79,clear\n\n22.79,brush\n"},
        "m/hexes.csv:4: 22.79: 22.79 is named twice, first on line 2",
    ),
    "an unknown terrain after a name of two lines": (
        {"map.yaml": CSS, "hexes.csv": 'label,terrain,name\n22.79,clear,"Two\nlines"\n22.80,bush,\n'},
        "m/hexes.csv:4: 22.80/terrain: unknown terrain 'bush' (did you mean brush?)",
    ),
    "hexes in both files": (
        {"map.yaml": CSS + "hexes: {}\n", "hexes.csv": "label\n22.79\n"},
        "m/map.yaml:5: hexes: hexes are in hexes.csv as well; write them in one place",
    ),
    "a path that jumps": (
        {"map.yaml": CSS, "paths.csv": "kind,name,hexes\ntrail,,22.79 22.81\n"},
        "m/paths.csv:2: trail/hexes/2: the path jumps: 22.81 is not adjacent to 22.79 (did you mean 22.80 or 23.79?)",
    ),
    "another alphabet": (
        {"map.yaml": CSS, "hexes.csv": b"label,terrain,name\n22.79,clear,caf\xe9\n"},
        "m/hexes.csv:2: not UTF-8: byte 0xe9; save the file as UTF-8",
    ),
}


@pytest.mark.parametrize("zipped", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("name", BROKEN_TABLES)
def test_broken_tables_are_told_whole_and_leave_nothing(
    connection: Connection, here: Path, name: str, zipped: bool
) -> None:
    files, message = BROKEN_TABLES[name]
    if zipped:
        with zipfile.ZipFile("m", "w") as archive:
            for file, text in files.items():
                archive.writestr(f"folder/{file}", text)
        Path("m").rename("m.zip")
        message = message.replace("m/", "m.zip/", 1) if message.startswith("m/") else f"m.zip{message[1:]}"
    else:
        Path("m").mkdir()
        for file, text in files.items():
            (Path("m") / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    before = contents(connection)
    with pytest.raises(Problems) as caught:
        import_map(connection, "m.zip" if zipped else "m")
    assert str(caught.value) == message
    assert contents(connection) == before


def test_all_problems_are_told_in_the_order_of_lines() -> None:
    text = CSS.partition("\n")[2] + (
        'paths:\n  - {kind: rode, hexes: ["22.79", "22.80"]}\n'
        'hexsides: {"22.79|22.80": [rigde]}\n'
        'hexes: {"22.79": {terrain: bruhs, levl: 2}}\n'
    )
    with pytest.raises(Problems) as caught:
        read(text)
    lines = str(caught.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == [f"map.yaml:{n}" for n in (5, 6, 7, 7)]
    assert [problem.nearest[0] for problem in caught.value.sorted() if problem.nearest] == [
        "ridge", "level", "brush",
    ]  # fmt: skip


def test_a_flood_of_problems_is_counted_not_printed() -> None:
    text = CSS.partition("\n")[2] + "hexes:\n" + "".join(f"  x{n}: brush\n" for n in range(900))
    with pytest.raises(Problems) as caught:
        read(text)
    assert len(caught.value.found) == 900
    assert str(caught.value).splitlines()[-1] == "… and 700 more problems"


# Documents


def test_a_document_remembers_lines_and_what_was_written() -> None:
    root = read_document("a:\n  - 22.80\n  - 0314\nb: {c: 1.50}\n", "x.yaml")
    first, second = root.at(["a"]).value  # type: ignore[misc]
    assert isinstance(first, Node)
    assert (first.text, first.value, first.line, first.place) == ("22.80", Decimal("22.80"), 2, "a/1")
    assert (second.text, second.value) == ("0314", "0314")
    assert root.plain() == {"a": [Decimal("22.8"), "0314"], "b": {"c": Decimal("1.5")}}
    assert root.at(["b", "c"]).line == 4


@pytest.mark.parametrize("name", ["x.json", "x.yaml"])
def test_json_is_read_with_its_lines_and_escapes(name: str) -> None:
    root = read_document('{"a": [1, -2.5e1,\n "\\ud83d\\ude00\\/"],\n\t"b": null, "c": true}', name)
    assert root.plain() == {"a": [1, Decimal(-25), "😀/"], "b": None, "c": True}
    assert root.at(["a", 2]).line == 2
    assert root.at(["b"]).line == 3


def test_deep_documents_are_read_up_to_a_limit() -> None:
    for name in ("x.json", "x.yaml"):
        deep = MAX_DEPTH - 1
        read_document("[" * deep + "]" * deep, name)
        with pytest.raises(Problems, match="levels deep"):
            read_document("[" * 100_000, name)


def test_aliases_that_would_grow_without_end_are_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)]
    start = time.process_time()
    with pytest.raises(Problems, match="anchors and aliases are not allowed"):
        read_document("\n".join(lines), "bomb.yaml")
    assert time.process_time() - start < 2


def test_a_document_that_is_too_large_is_refused() -> None:
    with pytest.raises(Problems, match=r"x\.yaml: the file is larger than 1 MiB"):
        read_document("a" * 2_000_000, "x.yaml", max_bytes=1024 * 1024)


def test_problems_of_a_document_can_be_gathered_with_later_ones() -> None:
    problems = Problems()
    read_document("a: 1\na: 2\n", "x.yaml", problems)
    assert [str(problem) for problem in problems.found] == ["x.yaml:2: a: a is named twice, first on line 1"]


def test_a_number_of_a_thousand_digits_is_no_number() -> None:
    assert read_document("a: " + "9" * 1000, "x.yaml").plain() == {"a": "9" * 1000}
    with pytest.raises(Problems, match="too long or too large"):
        read_document('{"a": ' + "9" * 1000 + "}", "x.json")


# What a map tree means


def test_a_named_hex_is_completed_by_the_fill() -> None:
    draft = read(
        "extent: [A1, B2]\nfill: {terrain: woods, level: 2}\nhexes: {A1: hut, B2: {level: 1}}", "bob"
    )
    label = draft.scheme.hex
    assert draft.hexes[label("A1")] == HexDraft("hut", 2)
    assert draft.hexes[label("B2")] == HexDraft("woods", 1)
    assert draft.hexes[label("A2")] == HexDraft("woods", 2)


def test_the_level_is_the_rulesets_where_nothing_is_said() -> None:
    assert {hex.level for hex in read('extent: ["20.76", "21.77"]\nfill: brush').hexes.values()} == {1}
    assert {hex.level for hex in read("extent: [A1, B2]\nfill: woods", "bob").hexes.values()} == {0}


def test_terrain_that_is_not_said_is_assumed_aloud() -> None:
    assert read("extent: [A1, B2]", "bob").notices == [
        "the file names no terrain for 4 hexes: taken as open_ground"
    ]
    assert read("extent: [A1, B2]\nfill: woods", "bob").notices == []


def test_an_extent_may_be_several_rectangles_or_none() -> None:
    draft = read('extent: [["01.01", "02.02"], ["02.02", "02.04"]]\nfill: clear')
    assert sorted(map(draft.scheme.label, draft.hexes)) == [
        "01.01", "01.02", "02.01", "02.02", "02.03", "02.04",
    ]  # fmt: skip
    listed = read('hexes: {"01.01": clear, "02.02": brush}')
    assert sorted(map(listed.scheme.label, listed.hexes)) == ["01.01", "02.02"]


def test_labels_may_stand_without_quotes() -> None:
    draft = read("extent: [22.79, 22.80]\nfill: clear\nhexes: {22.80: brush}")
    assert draft.hexes[draft.scheme.hex("22.80")].terrain == "brush"
    printed = read("extent: [0101, 0314]\nfill: clear\nhexes: {0314: beach}", "ddp")
    assert printed.hexes[printed.scheme.hex("0314")].terrain == "beach"


def test_a_hexside_of_the_rim_names_a_hex_beyond_or_a_direction() -> None:
    beyond = read("extent: [A1, B2]\nfill: woods\nhexsides: {A1|A0: wall}", "bob")
    direction = read("extent: [A1, B2]\nfill: woods\nhexsides: {A1|1: [wall]}", "bob")
    assert beyond.hexsides == direction.hexsides
    assert len(beyond.hexsides) == 1


def test_features_of_a_hex_are_written_as_their_game_has_them() -> None:
    css = read('extent: ["01.01", "01.02"]\nfill: clear\nhexes: {"01.01": {cave: true}}')
    fpb = read(
        "extent: [0101, 0102]\nfill: sea\nhexes: {0101: {terrain: clear, features: [coast, village]}}", "fpb"
    )
    ddp = read("extent: [0101, 0102]\nfill: sea\nhexes: {0101: {terrain: beach, landing_beach: true}}", "ddp")
    assert [draft.hexes[draft.scheme.hex(label)].features for draft, label in (
        (css, "01.01"), (fpb, "0101"), (ddp, "0101"),
    )] == [("cave",), ("village", "coast"), ("landing_beach",)]  # fmt: skip


def test_positions_of_ddp_have_their_fields_of_fire() -> None:
    draft = read(
        "extent: [0301, 0505]\nfill: clear\npositions:\n"
        "  B5: {hexes: [0303], color: blue, artillery: true, mountaintop: false,"
        " intense: [0302, 0304], steady: [0402]}",
        "ddp",
    )
    hex = draft.scheme.hex
    assert draft.features == {
        "B5": FeatureDraft(
            "position",
            frozenset({hex("0303")}),
            frozenset({hex("0302"), hex("0304")}),
            frozenset({hex("0402")}),
            {"color": "blue", "artillery": True},
        )
    }


def test_artwork_is_snapped_to_the_grid_and_the_greatest_move_is_known() -> None:
    draft = read(
        "extent: [A1, C3]\nfill: open_ground\n"
        "areas: [{terrain: woods, polygon: [[1, 1], [2, 1], [1.5, 2.2001]]}]\n"
        "crests: [{level: 1, line: [[1, 1], [1, 1.00001], [2, 2]]}]",
        "bob",
    )
    # B is the first shifted column: q is the column's number and one more, x three times that
    assert draft.areas[0].rings == (((6144, 2048), (9216, 2048), (7680, 4506)),)
    assert draft.crests[0].line == ((6144, 2048), (9216, 4096))
    assert draft.moved == abs(Fraction("4.4002") - Fraction(4506, 1024))


def test_a_map_may_bring_its_own_scheme() -> None:
    draft = read("scheme: {columns: letters, separator: '-', row_digits: 1}\nextent: [A-1, B-2]\nfill: clear")
    assert sorted(map(draft.scheme.label, draft.hexes)) == ["A-1", "A-2", "B-1", "B-2"]
    assert draft.scheme.shifted == "odd", "what it does not say is as its game has it"


def test_joined_boards_share_their_hexes() -> None:
    draft = read(
        "scheme: {boards: [{board: '20', columns: 3, rows: 3}, {board: '21', columns: 3, rows: 3, at: [2, 0]}]}\n"
        "extent: ['20-A1', '21-C3']\nfill: open_ground\nhexes: {'21-A1': hut}\nhexsides: {'20-A1|1': wall}",
        "bob",
    )
    assert len(draft.hexes) == 15
    assert draft.hexes[draft.scheme.hex("20-C1")].terrain == "hut"


def test_a_board_lies_no_farther_off_than_the_database_can_count() -> None:
    with pytest.raises(Problems, match=r"scheme/boards/1/at.*less than or equal to 9999"):
        read(
            "scheme: {boards: [{board: '20', columns: 3, rows: 3, at: [3000000000, 0]}]}\n"
            "extent: ['20-A1', '20-C3']\nfill: open_ground",
            "bob",
        )


def test_a_label_is_found_on_a_draft_or_told_with_the_nearest() -> None:
    draft = read("extent: [A1, C3]\nfill: open_ground", "bob")
    problems = Problems()
    assert read_hex(Node("B2", text="B2"), draft, problems) == draft.scheme.hex("B2")
    assert read_hex(Node("D2", text="D2", file="f", line=3, key="at"), draft, problems) is None
    assert problems.found == [Problem("f", 3, "at", "D2 is not a hex of this map", ("C2", "B2", "A2"))]


# Into the database


def test_a_report_says_what_came_in(connection: Connection, here: Path) -> None:
    Path("Hill-7.yaml").write_text(
        "ruleset: bob\nextent: [A1, C3]\nhexsides: {A1|A2: [wall, cliff]}\n"
        "paths: [{kind: road, hexes: [A1, A2]}]\n"
        "areas: [{terrain: woods, polygon: [[1.0001, 1], [2, 1], [2, 2]]}]\n"
        "places: {Mill: {kind: objective, hexes: [B2], attributes: {value: 3}}}\n"
    )
    report = import_map(connection, "Hill-7.yaml")
    assert (report.name, report.ruleset, report.format, report.replaced) == ("hill-7", "bob", "yaml", False)
    assert (report.hexes, report.hexsides, report.paths, report.areas, report.crests, report.features) == (
        9, 2, 1, 1, 0, 1,
    )  # fmt: skip
    assert report.notices == (
        "the file names no terrain for 9 hexes: taken as open_ground",
        "drawn artwork was moved by at most 0.0003 lattice units (a hex is 2 high)",
    )
    assert load_draft(connection, "hill-7").features["Mill"].attributes == {"value": 3}


def test_a_name_that_is_taken_is_refused_unless_it_is_replaced(connection: Connection, here: Path) -> None:
    Path("map.yaml").write_text(CSS)
    first = import_map(connection, "map.yaml")
    with pytest.raises(MapError) as caught:
        import_map(connection, "map.yaml")
    assert str(caught.value) == (
        "There is a map 'ridge' already.\n"
        "Replace it (--replace; on the page, its box), or bring this one in under another name (--name)."
    )
    second = import_map(connection, "map.yaml", name="other")
    third = import_map(connection, "map.yaml", replace=True)
    assert third.replaced
    assert len({first.map_id, second.map_id, third.map_id}) == 3
    names = connection.scalars(sa.text("select name from map order by name")).all()
    assert names == ["other", "ridge"]


def test_a_replacement_that_fails_keeps_the_old_map(connection: Connection, here: Path) -> None:
    Path("map.yaml").write_text(CSS)
    first = import_map(connection, "map.yaml")
    mirrored = "[{hex: '20.76', x: 0, y: 0}, {hex: '20.77', x: 0, y: 1}, {hex: '21.76', x: 1, y: 0}]"
    Path("map.yaml").write_text(CSS + f"georeference: {{crs: EPSG:32655, points: {mirrored}}}\n")
    before = contents(connection)
    with pytest.raises(GeoreferenceError):
        import_map(connection, "map.yaml", replace=True)
    assert contents(connection) == before
    assert connection.scalar(sa.text("select id from map where name = 'ridge'")) == first.map_id


def test_a_map_with_positions_is_neither_replaced_nor_deleted(connection: Connection, here: Path) -> None:
    Path("map.yaml").write_text(CSS)
    report = import_map(connection, "map.yaml")
    connection.execute(
        sa.text("insert into position (map_id, ruleset, name) values (:map, 'css', 'dawn')"),
        {"map": report.map_id},
    )
    for attempt, remedy in (
        (
            lambda: import_map(connection, "map.yaml", replace=True),
            "Delete it first, or import the map under another name.",
        ),
        (lambda: delete_map(connection, "ridge"), "Delete it first."),
    ):
        with pytest.raises(MapError, match="1 position on the map ridge would be lost: dawn") as refused:
            attempt()
        assert refused.value.remedy == remedy
    delete_map(connection, "ridge", with_positions=True)
    assert contents(connection)[0] == 0


def test_an_import_of_its_own_is_committed_and_a_failed_one_is_not(engine: Engine, here: Path) -> None:
    Path("good.yaml").write_text(CSS)
    Path("bad.yaml").write_text(CSS + "hexes: {x: brush}\n")
    try:
        with engine.connect() as connection:
            import_map(connection, "good.yaml")
            with pytest.raises(Problems):
                import_map(connection, "bad.yaml", name="bad")
        with engine.connect() as connection:
            assert connection.scalars(sa.text("select name from map")).all() == ["ridge"]
    finally:
        with engine.begin() as connection:
            connection.execute(sa.text("delete from map"))


def test_maps_that_are_not_there_are_told_with_the_nearest_name(connection: Connection, here: Path) -> None:
    Path("map.yaml").write_text(CSS)
    import_map(connection, "map.yaml")
    asked: tuple[Callable[[], object], ...] = (
        lambda: load_draft(connection, "rigde"),
        lambda: delete_map(connection, "rigde"),
        lambda: export_map(connection, "rigde", "x.yaml"),
    )
    for question in asked:
        with pytest.raises(NotThereError) as caught:
            question()
        assert str(caught.value) == "There is no map 'rigde'.\nDid you mean ridge?"
    assert not Path("x.yaml").exists()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("README", "README: a map is not in a file that ends so.\n"
         "Known: .yaml, .yml, .json, .zip, .geojson, .gpkg, or a folder."),
        ("lost.yaml", "There is no file lost.yaml."),
        ("map.txt", "map.txt: a map is not in a file that ends so.\n"
         "Known: .yaml, .yml, .json, .zip, .geojson, .gpkg, or a folder."),
        ("hexes.csv", "hexes.csv: a map is not in a file that ends so.\nName the folder it is in."),
        ("My Map.yaml", "'my map' cannot be the name of a map: a name has lower-case letters, digits, - and _"
         " only, and starts with a letter or digit.\nWrite a name into the file, or give one."),
    ],
)  # fmt: skip
def test_files_that_are_no_maps_are_refused(
    connection: Connection, here: Path, file: str, message: str
) -> None:
    if file in ("README", "My Map.yaml"):
        Path(file).write_text(CSS.replace("name: ridge\n", ""))
    with pytest.raises(MapError) as caught:
        import_map(connection, file)
    assert str(caught.value) == message


def test_an_export_that_cannot_be_written_says_so(connection: Connection, here: Path) -> None:
    Path("map.yaml").write_text(CSS)
    import_map(connection, "map.yaml")
    with pytest.raises(MapError, match=r"Cannot write nowhere/x\.yaml: No such file or directory"):
        export_map(connection, "ridge", "nowhere/x.yaml")
    with pytest.raises(MapError, match="'tiff' is no form of a map"):
        export_map(connection, "ridge", "x.yaml", "tiff")
    assert sorted(os.listdir()) == ["map.yaml"]


def test_a_passing_map_needs_no_name(connection: Connection) -> None:
    first, second = (store_map(connection, read('extent: ["01.01", "02.02"]')) for _ in range(2))
    assert first != second
    assert (load_draft(connection, first).name or "").startswith("passing-")


def test_a_deleted_map_is_gone_whole(connection: Connection) -> None:
    draft = read(
        "name: gone\nextent: [0301, 0505]\nfill: clear\nhexsides: {0301|0302: cliff}\n"
        "paths: [{kind: road, hexes: [0301, 0302]}]\npositions: {B5: {hexes: [0303], steady: [0304]}}\n"
        "areas: [{terrain: jungle, polygon: [[1, 1], [2, 1], [2, 2]]}]\ncrests: [{level: 1, line: [[1, 1], [2, 2]]}]",
        "ddp",
    )
    store_map(connection, draft)
    assert all(contents(connection))
    delete_map(connection, "gone")
    assert contents(connection) == [0] * len(TABLES)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("insert into hexside (map_id, ruleset, x, y, kind) values (:map, 'css', 201, 300, 'ridge')",
         r"the ridge on the hexside \(201, 300\) touches no hex of its map"),
        ("update hexside set x = x + 100 where map_id = :map", "touches no hex of its map"),
        ("insert into path (map_id, ruleset, kind, qs, rs) values (:map, 'css', 'trail', '{1,1}', '{90,91}')",
         r"the trail leaves its map at the hex \(1, 90\)"),
        ("update path set qs = array[50, 51], rs = array[1, 1] where map_id = :map", "leaves its map"),
        ("delete from hex where map_id = :map and label = '01.01'", r"a path \(trail\) still lies on a hex"),
        ("delete from hex where map_id = :map and label = '01.03'", r"a hexside \(cliff\) still lies on a hex"),
        ("update hex set q = 77 where map_id = :map and label = '01.01'", "still lies on a hex"),
    ],
)  # fmt: skip
def test_the_database_keeps_features_on_their_map(
    connection: Connection, statement: str, message: str
) -> None:
    draft = read(
        'extent: ["01.01", "02.03"]\nfill: clear\nhexsides: {"01.03|4": cliff}\n'
        'paths: [{kind: trail, hexes: ["01.01", "01.02"]}]'
    )
    map_id = store_map(connection, draft)
    with pytest.raises(sa.exc.IntegrityError, match=message), connection.begin_nested():
        connection.execute(sa.text(statement), {"map": map_id})


def test_terrain_may_change_under_a_path(connection: Connection) -> None:
    draft = read('extent: ["01.01", "02.03"]\nfill: clear\npaths: [{kind: trail, hexes: ["01.01", "01.02"]}]')
    map_id = store_map(connection, draft)
    connection.execute(sa.text("update hex set terrain = 'brush' where map_id = :map"), {"map": map_id})
    connection.execute(sa.text("delete from hex where map_id = :map and label = '02.03'"), {"map": map_id})


# Large and small


def big_map() -> str:
    hexes = [f"{column:02d}.{row:02d}" for column in range(1, 101) for row in range(1, 101)]
    return (
        'ruleset: css\nname: big\nscheme: {column_digits: 3, row_digits: 3}\nextent: ["001.001", "100.100"]\nfill: clear\nhexes:\n'
        + "".join(f'  "{int(c):03d}.{int(r):03d}": {{terrain: brush, level: {1 + n % 4}}}\n'
                  for n, (c, r) in enumerate(label.split(".") for label in hexes))
        + "hexsides:\n"
        + "".join(f'  "{int(c):03d}.{int(r):03d}|4": [slope]\n'
                  for c, r in (label.split(".") for label in hexes) if int(r) % 2)
    )  # fmt: skip


def busy(connection: Connection) -> float:
    """Seconds of work so far, ours and the server's; the clock would count what others do as well."""
    server = connection.scalar(sa.text("select pg_backend_pid()"))
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("before", [0, 8])
def test_ten_thousand_hexes_come_in_within_seconds_and_tell_of_it(
    connection: Connection, here: Path, before: int
) -> None:
    """Even where small maps came in before, whose plans the session remembers."""
    Path("map.yaml").write_text(CSS)
    for _ in range(before):
        with connection.begin_nested() as savepoint:
            import_map(connection, "map.yaml")
            connection.execute(sa.text("analyze hex, hexside, css_ground"))
            savepoint.rollback()
    Path("big.yaml").write_text(big_map())
    told: list[tuple[int, int]] = []
    start = busy(connection)
    report = import_map(connection, "big.yaml", progress=lambda done, total: told.append((done, total)))
    taken = busy(connection) - start
    assert (report.hexes, report.hexsides) == (10_000, 5_000)
    assert told[-1] == (15_000, 15_000)
    assert told == sorted(told)
    assert len(told) == 30
    assert taken < 10, "about two seconds of work"


def test_a_small_map_tells_no_progress(connection: Connection, here: Path) -> None:
    Path("map.yaml").write_text(CSS)
    import_map(connection, "map.yaml", progress=lambda done, total: pytest.fail("told of progress"))


def test_one_map_in_two_forms_gives_equal_drafts(here: Path) -> None:
    Path("map.yaml").write_text(CSS + 'hexes: {"22.79": brush}\n')
    written = {
        "ruleset": "css",
        "name": "ridge",
        "extent": ["20.76", "26.84"],
        "fill": {"terrain": "clear"},
        "hexes": {"22.79": {"terrain": "brush"}},
    }
    Path("map.json").write_text(json.dumps(written))
    Path("other.json").write_text(json.dumps(written | {"hexes": {"22.79": {"terrain": "rocky"}}}))
    draft = read_map_file(Path("map.yaml"))
    assert (draft.name, draft.ruleset, len(draft.hexes)) == ("ridge", "css", 7 * 9)
    assert draft.hexes[draft.scheme.hex("22.79")] == HexDraft("brush", 1)
    assert Axial(0, 0) not in draft.hexes
    assert draft == read_map_file(Path("map.json"))
    assert draft != read_map_file(Path("other.json"))


# Several at once, and files that would fill memory


def test_replacements_of_one_map_take_turns_and_all_succeed(databases: Databases, here: Path) -> None:
    engine = make_engine(databases.make())
    (here / "ridge.yaml").write_text(CSS)
    with engine.connect() as connection:
        import_map(connection, "ridge.yaml")
    wrong: list[BaseException] = []

    def replace() -> None:
        try:
            with engine.connect() as connection:
                import_map(connection, here / "ridge.yaml", replace=True)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=replace) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    with engine.connect() as connection:
        assert contents(connection)[0] == 1
    engine.dispose()


def test_an_archive_is_measured_as_a_whole(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_tables, "MOST_BYTES", 10_000)
    with zipfile.ZipFile("big.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("map.yaml", CSS)
        archive.writestr("hexes.csv", "label\n" + "22.79\n" * 900)
        archive.writestr("paths.csv", "kind,hexes\n" + "\n" * 9_000)
    with pytest.raises(Problems, match="the tables together have more than"):
        read_map_file(Path("big.zip"))


def test_a_link_in_a_folder_is_not_followed(here: Path) -> None:
    (here / "secret").write_text("label\n22.79\n")
    folder = here / "folder"
    folder.mkdir()
    (folder / "map.yaml").write_text(CSS)
    (folder / "hexes.csv").symlink_to(here / "secret")
    with pytest.raises(Problems, match=r"hexes\.csv: a link is not followed"):
        read_map_file(folder)
