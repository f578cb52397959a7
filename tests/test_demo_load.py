"""Loading the demo: into an empty database at once, never over anything, all or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml
from command_line import CommandLine
from sqlalchemy.engine import Engine

from db.database import make_engine
from db.inventory import maps, positions
from importers.demo import MAPS
from importers.demo.load import FOLDER, GROUNDS, files, load_demo
from importers.maps import load_draft, read_map_file
from tests.conftest import Databases


@pytest.fixture
def empty(databases: Databases) -> Iterator[Engine]:
    engine = make_engine(databases.make())
    yield engine
    engine.dispose()


@pytest.fixture
def sightline(empty: Engine) -> CommandLine:
    return CommandLine(empty.url)


@pytest.fixture(scope="module")
def demo(databases: Databases) -> str:
    """A database with the demo, to be cloned."""
    url = databases.make()
    engine = make_engine(url)
    assert load_demo(engine, str) is not None
    engine.dispose()
    assert url.database is not None
    return url.database


@pytest.fixture
def loaded(databases: Databases, demo: str) -> Iterator[Engine]:
    engine = make_engine(databases.make(demo))
    yield engine
    engine.dispose()


def names(engine: Engine) -> tuple[list[str], list[str]]:
    with engine.connect() as connection:
        return [entry.name for entry in maps(connection)], [entry.name for entry in positions(connection)]


def test_demo_files_are_called_after_what_is_in_them() -> None:
    for kind in ("maps", "positions"):
        for name, path in files(kind).items():
            with path.open(encoding="utf-8") as file:
                assert f"name: {name}" in file.read().replace('"', ""), path
    assert set(files("maps")) == set(MAPS)
    assert {yaml.safe_load(path.read_text())["map"] for path in files("positions").values()} <= set(MAPS)


def test_an_empty_database_gets_every_map_and_position_as_its_file_has_it(empty: Engine) -> None:
    said: list[str] = []
    report = load_demo(empty, said.append)
    assert report is not None
    assert names(empty) == (sorted({*files("maps"), *GROUNDS}), sorted(files("positions")))
    assert all(any(name in word for word in said) for name in (*files("maps"), *files("positions")))
    with empty.connect() as connection:
        for name in files("maps"):
            draft = load_draft(connection, name)
            assert draft == read_map_file(FOLDER / "maps" / f"{name}.yaml")
        hexes = connection.scalar(sa.text("select count(*) from hex"))
        assert hexes == report.hexes
        assert connection.scalar(sa.text("select count(*) from hex where map_id in"
                                         " (select id from map where name = 'campaign-island')")) > 7000  # fmt: skip


def test_loading_again_changes_nothing(loaded: Engine) -> None:
    with loaded.connect() as connection:
        before = connection.execute(sa.text("select id, name from map order by id")).all()
    assert load_demo(loaded, str) is None
    with loaded.connect() as connection:
        assert connection.execute(sa.text("select id, name from map order by id")).all() == before


def test_a_database_with_a_map_of_its_own_is_left_alone(empty: Engine, sightline: CommandLine) -> None:
    assert sightline("import", "map", FOLDER / "maps" / "hill-312.yaml", "--name", "mine").status == 0
    assert load_demo(empty, str) is None
    assert names(empty) == (["mine"], [])


def test_a_demo_that_breaks_half_way_leaves_nothing(
    empty: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for kind in ("maps", "positions"):
        (tmp_path / kind).mkdir()
    good = FOLDER / "maps" / "hill-312.yaml"
    (tmp_path / "maps" / good.name).write_bytes(good.read_bytes())
    (tmp_path / "positions" / "wrong.yaml").write_text("name: wrong\nruleset: bob\nmap: hill-313\n")
    monkeypatch.setattr("importers.demo.load.FOLDER", tmp_path)
    with pytest.raises(Exception, match="hill-312"):
        load_demo(empty, str)
    assert names(empty) == ([], [])


def test_by_hand_the_demo_comes_beside_other_maps(empty: Engine, sightline: CommandLine) -> None:
    sightline("import", "map", FOLDER / "maps" / "hill-312.yaml", "--name", "mine")
    told = sightline("demo", "load")
    assert told.status == 0
    assert f"loaded {len(MAPS) + len(GROUNDS)} maps" in told.err
    assert names(empty)[0] == sorted([*files("maps"), *GROUNDS, "mine"])
    again = sightline("demo", "load", "--json")
    assert again.json["maps"] == []
    assert set(again.json["kept"]) == {*files("maps"), *GROUNDS, *files("positions")}
    assert "there already" in sightline("demo", "load").err


def test_replacing_mends_what_was_changed(loaded: Engine) -> None:
    sightline = CommandLine(loaded.url)
    with loaded.begin() as connection:
        connection.execute(sa.text("update hex set terrain = 'woods' where ruleset = 'bob'"))
        connection.execute(sa.text("delete from unit"))
    assert sightline("demo", "load", "--replace").status == 0
    with loaded.connect() as connection:
        assert load_draft(connection, "hill-312") == read_map_file(FOLDER / "maps" / "hill-312.yaml")
        assert all(entry.units for entry in positions(connection))


def test_replacing_never_takes_somebodys_position_along(loaded: Engine, tmp_path: Path) -> None:
    sightline = CommandLine(loaded.url)
    mine = tmp_path / "mine.yaml"
    mine.write_text("name: mine\nruleset: bob\nmap: hill-312\n")
    assert sightline("import", "position", mine).status == 0
    before = names(loaded)
    refused = sightline("demo", "load", "--replace")
    assert refused.status == 2
    assert "position on the map hill-312 would be lost" in refused.err
    assert names(loaded) == before
