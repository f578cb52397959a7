"""Maps and positions on the command line: in, out, shown, placed in the world, deleted."""

from __future__ import annotations

import os
import pty
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml
from command_line import CommandLine
from processes import python
from sqlalchemy.engine import Connection

from importers.demo.load import FOLDER
from importers.maps import load_draft
from importers.positions import position_tree
from tests.conftest import Databases

RIDGE = """
ruleset: css
name: ridge
title: A ridge above the road
scale: 275
extent: ["20.76", "26.84"]
fill: {terrain: clear, level: 1}
hexes:
  "22.79": tropical_forest
  "23.78": {terrain: brush, level: 2, cave: true}
hexsides:
  "22.79|23.79": [ridge]
paths:
  - {kind: paved_road, hexes: ["21.80", "22.80", "23.80"]}
"""
WATCH = """
name: watch
title: Watching the road
ruleset: css
map: ridge
conditions: {weather: rain}
policy: {css-12: a}
units:
  - {id: C/1/9, side: us, at: "22.80", posture: deployed, mobility: leg, movement: 4.5,
     fire: {value: 5, type: small_arms, range: 2}}
  - {id: Cave, side: japan, at: "23.78", in_cave: true, kind: hq}
  - {id: Afloat, side: us, zone: {beach: "20.80", run: approach}}
markers:
  - {kind: dg, value: 2, at: "22.80"}
  - {kind: ridge, side: 3, at: "22.81"}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "ridge.yaml").write_text(RIDGE)
    (tmp_path / "watch.yaml").write_text(WATCH)
    return tmp_path


@pytest.fixture(scope="module")
def database(databases: Databases) -> CommandLine:
    return CommandLine(databases.make())


@pytest.fixture
def sightline(database: CommandLine) -> Iterator[CommandLine]:
    """On a database without maps."""
    yield database
    with database.engine() as engine, engine.begin() as connection:
        connection.execute(sa.text("delete from map"))


@pytest.fixture
def there(sightline: CommandLine, files: Path) -> CommandLine:
    """With the ridge, and who watches the road from it."""
    assert sightline("import", "map", files / "ridge.yaml").status == 0
    assert sightline("import", "position", files / "watch.yaml").status == 0
    return sightline


@pytest.fixture
def inside(there: CommandLine) -> Iterator[Connection]:
    with there.engine() as engine, engine.connect() as connection:
        yield connection


# Maps


def test_an_imported_map_is_listed_and_shown(there: CommandLine) -> None:
    assert there("maps", "list").lines == ["ridge\tA ridge above the road\tcss\t63\t1\t"]
    [listed] = there("maps", "list", "--json").json
    assert listed == {
        "name": "ridge", "title": "A ridge above the road", "ruleset": "css", "hexes": 63, "positions": 1,
        "srid": None,
    }  # fmt: skip
    shown = dict(line.split("\t", 1) for line in there("maps", "show", "ridge").lines)
    assert shown["numbering"].startswith(
        "20.76 to 26.84; hexes stand in columns, odd columns half a hex lower"
    )
    assert shown["terrain"] == "clear 61, brush 1, tropical forest 1"
    assert shown["levels"] == "1 62, 2 1"
    assert shown["hexsides"] == "ridge 1"
    assert shown["paths"] == "paved road 1"
    assert shown["positions"] == "watch"
    assert shown["scale"] == "275 m a hex"
    assert shown["georeference"] == "none"
    assert there("maps", "show", "ridge", "--json").json["terrain"]["clear"] == 61


def test_artwork_and_places_are_counted(sightline: CommandLine) -> None:
    for name in ("hill-312", "orange-beach"):
        sightline("import", "map", FOLDER / "maps" / f"{name}.yaml")
    hill = sightline("maps", "show", "hill-312", "--json").json
    drawn = yaml.safe_load((FOLDER / "maps" / "hill-312.yaml").read_text())
    assert sum(hill["areas"].values()) == len(drawn["areas"])
    assert sum(hill["crests"].values()) == len(drawn["crests"])
    beach = yaml.safe_load((FOLDER / "maps" / "orange-beach.yaml").read_text())
    assert sightline("maps", "show", "orange-beach", "--json").json["places"] == {
        "position": len(beach["positions"])
    }


def test_the_import_tells_what_came_in(sightline: CommandLine, files: Path) -> None:
    report = sightline("import", "map", files / "ridge.yaml", "--json").json
    assert (report["name"], report["hexes"], report["hexsides"], report["replaced"]) == (
        "ridge",
        63,
        1,
        False,
    )
    told = sightline("import", "map", files / "ridge.yaml", "--replace")
    assert "replaced the css map ridge" in told.err
    assert "hexes\t63" in told.lines


def test_every_problem_of_a_bad_file_is_told_and_nothing_changes(sightline: CommandLine, files: Path) -> None:
    file = files / "ridge.yaml"
    file.write_text(RIDGE.replace("tropical_forest", "tropical forrest").replace("[ridge]", "[rigde]"))
    told = sightline("import", "map", file)
    assert told.status == 2
    assert (
        f"{file}:9: hexes/22.79: unknown terrain 'tropical forrest' (did you mean tropical_forest" in told.err
    )
    assert f"{file}:12:" in told.err
    assert sightline("maps", "list", "--json").json == []


def test_a_taken_name_is_refused_unless_replaced_or_renamed(sightline: CommandLine, files: Path) -> None:
    file = files / "ridge.yaml"
    sightline("import", "map", file)
    refused = sightline("import", "map", file)
    assert refused.status == 2
    assert "'ridge'" in refused.err
    assert sightline("import", "map", file, "--name", "second").status == 0
    assert sightline("import", "map", file, "--replace").status == 0
    assert [entry["name"] for entry in sightline("maps", "list", "--json").json] == ["ridge", "second"]


def test_a_map_with_positions_is_not_replaced(there: CommandLine, files: Path) -> None:
    refused = there("import", "map", files / "ridge.yaml", "--replace")
    assert refused.status == 2
    assert "1 position on the map ridge would be lost" in refused.err
    assert there("positions", "show", "watch").status == 0


@pytest.mark.parametrize(
    ("form", "file"),
    [("yaml", "m.yaml"), ("json", "m.json"), ("csv", "m"), ("csv", "m.zip"), ("geojson", "m.geojson"),
     ("gpkg", "m.gpkg"), (None, "m.gpkg"), (None, "m.yaml")],
)  # fmt: skip
def test_a_map_goes_out_and_comes_back_in_every_form(
    there: CommandLine, inside: Connection, tmp_path: Path, form: str | None, file: str
) -> None:
    options = ("--format", form) if form else ()
    written = there("export", "map", "ridge", tmp_path / file, *options)
    assert written.status == 0, written.err
    back = there("import", "map", tmp_path / file, "--name", "back")
    assert back.status == 0, back.err
    before, after = load_draft(inside, "ridge"), load_draft(inside, "back")
    after.name = before.name
    assert after == before


@pytest.mark.parametrize("form", ["yaml", "json", "geojson"])
def test_without_a_file_the_text_is_printed(there: CommandLine, tmp_path: Path, form: str) -> None:
    told = there("export", "map", "ridge", "--format", form)
    assert told.status == 0
    file = tmp_path / f"printed.{form}"
    file.write_text(told.out)
    assert there("import", "map", file, "--name", "again").status == 0


def test_no_file_is_overwritten_unasked(there: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine")
    for command in (("export", "map", "ridge"), ("positions", "export", "watch")):
        refused = there(*command, file)
        assert refused.status == 2
        assert "exists already" in refused.err
        assert file.read_text() == "mine"
    assert there("export", "map", "ridge", file, "--force").status == 0
    assert file.read_text() != "mine"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("export", "map", "ridge", "--format", "gpkg"), "Name a file"),
        (("export", "map", "rigde"), "ridge"),
        (("export", "map", "ridge", "/nowhere/at/all.yaml"), "Cannot write"),
        (("export", "map", "ridge", "ridge.txt"), ".yaml"),
        (("maps", "show", "rigde"), "Did you mean ridge?"),
        (("maps", "delete", "rigde", "--yes"), "Did you mean ridge?"),
        (("maps", "georeference", "ridge"), "one of the two"),
        (("maps", "georeference", "rigde", "--forget"), "ridge"),
        (("positions", "show", "wacht"), "Did you mean watch?"),
        (("positions", "delete", "wacht", "--yes"), "Did you mean watch?"),
        (("positions", "export", "wacht"), "Did you mean watch?"),
        (("import", "map", "/nowhere.yaml"), "does not exist"),
    ],
)
def test_a_mistake_is_status_2_and_told(there: CommandLine, arguments: tuple[str, ...], said: str) -> None:
    told = there(*arguments)
    assert told.status == 2
    assert said in told.err
    assert told.out == ""


def test_a_map_is_deleted_only_when_that_is_meant(there: CommandLine) -> None:
    kept = there("maps", "delete", "ridge", "--yes")
    assert kept.status == 2
    assert "would be lost" in kept.err
    unsure = there("maps", "delete", "ridge", "--with-positions", typed="n\n")
    assert unsure.status == 2
    assert "with the positions watch" in unsure.out + unsure.err
    assert there("maps", "show", "ridge").status == 0
    assert there("maps", "delete", "ridge", "--with-positions", typed="y\n").status == 0
    assert there("maps", "list", "--json").json == []
    assert there("positions", "list", "--json").json == []


def test_nobody_to_ask_deletes_nothing(there: CommandLine) -> None:
    assert there("positions", "delete", "watch").status == 2
    assert there("positions", "show", "watch").status == 0


def test_a_map_is_placed_in_the_world_and_taken_out_again(there: CommandLine, tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text(
        "label,lon,lat\n20.76,144.60,13.50\n26.76,144.70,13.50\n20.84,144.60,13.40\n26.84,144.70,13.41\n"
    )
    told = there("maps", "georeference", "ridge", points)
    assert told.status == 0, told.err
    assert [line.split("\t")[0] for line in told.lines[:4]] == ["20.76", "26.76", "20.84", "26.84"]
    assert "root mean square" in told.lines[4]
    shown = there("maps", "show", "ridge").out
    assert "georeference\tEPSG:4326, WGS 84" in shown
    residuals = [float(line.split("\t")[4].replace(",", "")) for line in shown.splitlines()[-4:]]
    assert all(residual > 100 for residual in residuals)
    assert there("maps", "list").lines[0].endswith("\tEPSG:4326")
    assert there("maps", "georeference", "ridge", "--forget").status == 0
    assert "georeference\tnone" in there("maps", "show", "ridge").out


def test_control_points_in_a_projected_crs(there: CommandLine, tmp_path: Path) -> None:
    points = tmp_path / "points.csv"
    points.write_text("label,x,y\n20.76,250000,1490000\n26.76,251429,1490000\n20.84,250000,1487800\n")
    report = there("maps", "georeference", "ridge", points, "--crs", "EPSG:32655", "--json").json
    assert (report["srid"], report["rms"]) == (32655, 0)
    assert any("Three points always fit" in notice for notice in report["notices"])


@pytest.mark.parametrize(
    ("text", "crs", "said"),
    [
        ("label,x,y\n20.76,1,1\n", "EPSG:4326", "at least three hexes"),
        (
            "label,x,y\n20.76,1,1\n99.99,2,1\n20.84,1,0\n",
            "EPSG:4326",
            "points.csv:3: label: 99.99 is not a hex",
        ),
        ("label,x,y\n20.76,1,1\n", "EPSG:999999", "EPSG:999999 is unknown"),
        ("label,x,y\n20.76,1,1\n", "WGS84", "Write it as EPSG:4326"),
        ("hex,x,y\n", "EPSG:4326", "points.csv:1: the first line must read label,x,y or label,lon,lat"),
    ],
)
def test_bad_control_points_change_nothing(
    there: CommandLine, tmp_path: Path, text: str, crs: str, said: str
) -> None:
    (tmp_path / "points.csv").write_text(text)
    told = there("maps", "georeference", "ridge", tmp_path / "points.csv", "--crs", crs)
    assert told.status == 2
    assert said in told.err
    assert there("maps", "list", "--json").json[0]["srid"] is None


def test_a_map_that_brings_control_points_is_placed_at_once(sightline: CommandLine, files: Path) -> None:
    file = files / "ridge.yaml"
    file.write_text(
        f"{RIDGE}georeference:\n  crs: EPSG:4326\n  points:\n"
        '    - {hex: "20.76", x: 144.60, y: 13.50}\n'
        '    - {hex: "26.76", x: 144.70, y: 13.50}\n'
        '    - {hex: "20.84", x: 144.60, y: 13.40}\n'
    )
    told = sightline("import", "map", file)
    assert told.status == 0, told.err
    assert "Three points always fit" in told.err
    assert sightline("maps", "show", "ridge", "--json").json["crs"] == "WGS 84"


def test_a_large_map_shows_a_bar_on_a_terminal(sightline: CommandLine) -> None:
    ours, theirs = pty.openpty()
    process = python(
        "-m", "app", "import", "map", str(FOLDER / "maps" / "campaign-island.yaml"),
        environment={"SIGHTLINE_DATABASE_URL": sightline.address, "TERM": "xterm", "COLUMNS": "100"},
        stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    with os.fdopen(ours, "rb", 0) as terminal:
        while True:
            try:
                some = terminal.read(4096)
            except OSError:  # the other end is closed
                break
            if not some:
                break
            shown += some
    assert process.wait(60) == 0
    assert b"importing campaign-island.yaml" in shown
    assert b"\xe2\x94\x81" in shown
    assert b"imported the css map campaign-island" in shown


# Positions


def test_an_imported_position_is_listed_and_shown(there: CommandLine) -> None:
    assert there("positions", "list").lines == ["watch\tWatching the road\tcss\tridge\t3\t2"]
    told = there("positions", "show", "watch").out
    assert "conditions\tweather rain" in told
    assert "policy\tcss-12 a" in told
    assert "C/1/9\tus\tinfantry\t22.80\tposture: deployed, mobility: leg, movement: 4.5" in told
    assert "Afloat\tus\tinfantry\t\tzone: {beach: 20.80, run: approach}" in told
    assert "dg\t22.80\t2\t" in told
    shown = there("positions", "show", "watch", "--json").json
    assert shown["units"][0]["movement"] == 4.5
    assert shown["units"][0]["fire"] == {"value": 5, "type": "small_arms", "range": 2}


def test_a_position_goes_out_and_comes_back(there: CommandLine, inside: Connection, tmp_path: Path) -> None:
    before = position_tree(inside, "watch")
    file = tmp_path / "out.yaml"
    assert there("positions", "export", "watch", file).status == 0
    assert there("positions", "export", "watch").out == file.read_text()
    assert there("positions", "delete", "watch", "--yes").status == 0
    assert there("maps", "show", "ridge").status == 0
    assert there("import", "position", file).status == 0
    inside.rollback()
    assert position_tree(inside, "watch") == before


@pytest.mark.parametrize("name", [path.stem for path in sorted((FOLDER / "positions").glob("*.yaml"))])
def test_the_demo_positions_go_out_and_come_back(sightline: CommandLine, tmp_path: Path, name: str) -> None:
    position = FOLDER / "positions" / f"{name}.yaml"
    board = yaml.safe_load(position.read_text())["map"]
    sightline("import", "map", FOLDER / "maps" / f"{board}.yaml")
    assert sightline("import", "position", position).status == 0
    before = sightline("positions", "show", name, "--json").json
    sightline("positions", "export", name, tmp_path / "out.yaml")
    told = sightline("import", "position", tmp_path / "out.yaml", "--replace")
    assert told.status == 0, told.err
    assert sightline("positions", "show", name, "--json").json == before


def test_a_taken_position_name_is_refused_unless_replaced(there: CommandLine, files: Path) -> None:
    refused = there("import", "position", files / "watch.yaml")
    assert refused.status == 2
    assert "There is a position 'watch' already." in refused.err
    assert "--replace" in refused.err
    (files / "watch.yaml").write_text(WATCH.replace("Watching the road", "Still watching"))
    told = there("import", "position", files / "watch.yaml", "--replace", "--json").json
    assert (told["replaced"], told["title"]) == (True, "Still watching")
    assert there("positions", "list").lines == ["watch\tStill watching\tcss\tridge\t3\t2"]
    (files / "watch.yaml").write_text(WATCH.replace("name: watch", "case: watch"))
    told = there("import", "position", files / "watch.yaml", "--replace", "--json").json
    assert (told["name"], told["replaced"]) == ("watch", True)


def test_a_bad_position_replaces_nothing(there: CommandLine, files: Path) -> None:
    (files / "watch.yaml").write_text(
        WATCH.replace('at: "23.78"', 'at: "99.78"').replace("kind: dg", "kind: gd")
    )
    told = there("import", "position", files / "watch.yaml", "--replace")
    assert told.status == 2
    assert "99.78 is not a hex of this map" in told.err
    assert "unknown marker 'gd'" in told.err
    assert there("positions", "list").lines == ["watch\tWatching the road\tcss\tridge\t3\t2"]


def test_a_position_can_bring_its_own_map(sightline: CommandLine, tmp_path: Path) -> None:
    """And bring it anew when it is replaced, unless others stand on it by then."""
    own = yaml.safe_load(WATCH) | {"map": yaml.safe_load(RIDGE)}
    del own["map"]["ruleset"]
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(own))
    assert sightline("import", "position", file, "--json").json["map"] == "ridge"
    own["map"]["hexes"] = {}
    file.write_text(yaml.safe_dump(own | {"units": [], "markers": []}))
    assert sightline("import", "position", file).status == 2
    assert sightline("import", "position", file, "--replace").status == 0
    assert sightline("maps", "show", "ridge", "--json").json["terrain"] == {"clear": 63}
    other = tmp_path / "other.yaml"
    other.write_text("name: other\nruleset: css\nmap: ridge\n")
    assert sightline("import", "position", other).status == 0
    refused = sightline("import", "position", file, "--replace")
    assert refused.status == 2
    assert "would be lost" in refused.err
    assert len(sightline("positions", "list", "--json").json) == 2


def test_a_saved_position_without_units_is_written_too(there: CommandLine, inside: Connection) -> None:
    inside.execute(sa.text("delete from unit"))
    inside.execute(sa.text("delete from marker"))
    inside.commit()
    text = there("positions", "export", "watch").out
    assert "units: []" in text
    assert "markers: []" in text
