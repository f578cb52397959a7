"""Scenarios: the six islands begin as the book prints them, a file is checked whole, and installing is done once."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import yaml
from sqlalchemy.engine import Connection

from app.play.games import new_game
from db import SightlineError
from db.charts import chart_cells
from db.rulesets import CODES, FOLDER, read_ruleset
from importers.cases import store_position
from importers.charts import import_chart
from importers.documents import Problems
from importers.maps import load_draft, store_map
from importers.scenarios import ScenarioError, install, read_scenario, scenarios
from tests.command_line import CommandLine
from tests.conftest import Databases

ISLANDS = ("angaur", "engebi", "eniwetok", "guam", "parry", "tinian")
PAGE = Path(__file__).resolve().parent.parent / "docs" / "scenarios.md"
islands = pytest.mark.parametrize("island", ISLANDS)


def cells(chart: str) -> dict[tuple[str, str], str]:
    return {
        (row, column): str(cell.value) for row, column, cell in read_ruleset("fpb").charts[chart].each_cell()
    }


def documented() -> str:
    [example] = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return str(example)


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """Writes a scenario file: the documented one, with some lines replaced."""

    def write(*changes: tuple[str, str]) -> Path:
        text = documented()
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "beachhead.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_the_six_islands_are_there() -> None:
    assert scenarios("fpb") == list(ISLANDS)


@pytest.mark.parametrize("code", CODES)
def test_every_game_has_a_scenario_and_says_whose_it_is(code: str) -> None:
    assert scenarios(code)
    for name in scenarios(code):
        scenario = read_scenario(name)
        assert scenario.house == ("house" in scenario.title.lower()), f"{name}: a house scenario says so"


def test_no_two_scenarios_have_one_name() -> None:
    files = [path for code in CODES for path in (FOLDER / code / "scenarios").glob("*.yaml")]
    assert len({path.stem for path in files}) == len(files)
    assert [read_scenario(path).name for path in files] == [path.stem for path in files]


@islands
def test_the_japanese_are_those_that_the_book_prints(island: str) -> None:
    scenario = read_scenario(island)
    printed = cells("random_placement")
    rows = [row for row, column in printed if row.startswith(f"{island}/") and column == "attack"]
    units = {code: unit for code, (unit, _) in scenario.position.units.items()}
    assert [code for code, unit in units.items() if unit.side == "japan"] == rows
    for row in rows:
        unit = units[row]
        assert [str(unit.attack), str(unit.defense), str(unit.movement)] == [
            printed[row, column] for column in ("attack", "defense", "movement")
        ]
        assert unit.identifier == printed.get((row, "identifier"))
        assert unit.status == "available"
        assert unit.one_step == (unit.back is None)


@islands
def test_length_boats_and_rows_are_as_printed(island: str) -> None:
    scenario = read_scenario(island)
    assert str(scenario.length) == cells("scenario_lengths")[island, "game_turns"]
    boats, naval, *placements = scenario.setup
    assert (boats.side, boats.procedure, boats.by) == ("us", "assault_boats", "choice")
    assert (naval.side, naval.procedure, naval.by) == ("us", "withhold", "choice")
    japanese = [code for code, (unit, _) in scenario.position.units.items() if unit.side == "japan"]
    assert [step.arguments for step in placements] == [
        {"island": island, "row": n + 1, "unit": code} for n, code in enumerate(japanese)
    ]
    assert {step.by for step in placements} == {"die"}


@islands
def test_both_sides_of_every_us_counter_are_told(island: str) -> None:
    units = [unit for unit, place in read_scenario(island).position.units.values() if unit.side == "us"]
    assert len(units) >= 6
    for unit in units:
        assert unit.island == island
        assert min(unit.attack, unit.defense, unit.movement) > 0
        assert unit.one_step or (unit.back.attack < unit.attack and unit.back.defense < unit.defense)
    assert any(unit.mobility == "mobile" for unit in units)
    assert any(unit.kind == "engineer" for unit in units)


@islands
def test_a_house_scenario_says_so(island: str) -> None:
    scenario = read_scenario(island)
    assert scenario.house
    assert "house" in scenario.title
    assert "house" in scenario.note
    cup = scenario.position.tracks["cup"]
    assert len(cup["us"]) == len(cup["japan"]) == 6


def test_an_island_is_played_by_two_or_by_one() -> None:
    scenario = read_scenario("angaur")
    assert scenario.position.conditions["mode"] == "two_player"
    alone = scenario.chosen({"mode": "solitaire"})
    assert alone.position.conditions == scenario.position.conditions | {"mode": "solitaire"}
    assert scenario.position.conditions["mode"] == "two_player"
    with pytest.raises(ScenarioError, match="'three' is no mode"):
        scenario.chosen({"mode": "three"})
    with pytest.raises(ScenarioError, match="no option 'weather'"):
        scenario.chosen({"weather": "rain"})


@islands
def test_an_installed_island_can_be_stored_and_no_ground_of_it_is_untold(
    connection: Connection, island: str
) -> None:
    scenario = read_scenario(island)
    install(connection, scenario)
    position = store_position(connection, scenario.position)
    mover = next(code for code, (unit, _) in scenario.position.units.items() if unit.mobility == "leg")
    shore = next(iter(scenario.position.board.hexes))
    connection.execute(
        sa.text("update unit set q = :q, r = :r where position_id = :position and code = :code"),
        {"q": shore.q, "r": shore.r, "position": position, "code": mover},
    )
    query = """
        select ground.label, ground.untold, ground.halves, ground.shut
        from positions.state(:position, null, null) as state
        cross join lateral fpb._mover(state, :code) as known
        cross join lateral (select jsonb_populate_record(known, jsonb_build_object('mobility', cast(:mobility as text))) as mover) as made
        cross join lateral (
          select array_agg(q order by q, r) as qs, array_agg(r order by q, r) as rs
          from hex where map_id = (state).map_id
        ) as place
        cross join lateral fpb._ground(state, made.mover, place.qs, place.rs) as ground
    """
    for mobility in ("leg", "mobile"):
        rows = connection.execute(
            sa.text(query), {"position": position, "code": mover, "mobility": mobility}
        ).all()
        assert len(rows) == len(scenario.position.board.hexes)
        assert [row.label for row in rows if row.untold is not None] == []
        land = [row for row in rows if not row.shut]
        assert len(land) == sum(hex.terrain != "sea" for hex in scenario.position.board.hexes.values())
        assert all(row.halves >= 2 for row in land)


@islands
def test_a_game_begins_from_an_island_with_its_set_up(connection: Connection, island: str) -> None:
    scenario = read_scenario(island).chosen({"mode": "solitaire"})
    install(connection, scenario)
    position = store_position(connection, scenario.position)
    table = new_game(
        connection, f"{island}-1", position, seed=bytes(32), scenario=scenario.name, house=scenario.house
    )
    assert (table.map, table.house, table.moment.phase) == (scenario.map, True, None)
    assert {step.procedure for step in scenario.setup} <= set(table.walk.actions(table.state))


def test_installing_again_does_nothing(connection: Connection) -> None:
    scenario = read_scenario("parry")
    tables = "select (select count(*) from map), (select count(*) from chart_cell)"
    install(connection, scenario)
    first = connection.execute(sa.text(tables)).one()
    board = load_draft(connection, scenario.map)
    install(connection, read_scenario("parry"))
    assert connection.execute(sa.text(tables)).one() == first
    assert load_draft(connection, scenario.map) == board == scenario.position.board


def test_what_an_owner_has_told_is_not_replaced_by_the_house(connection: Connection, tmp_path: Path) -> None:
    owned = tmp_path / "key.yaml"
    owned.write_text("ruleset: fpb\nchart: terrain_key\ncells: {hill: {leg: 3, mobile: 4}}\n")
    import_chart(connection, owned)
    install(connection, read_scenario("parry"))
    told = {
        (cell.row, cell.column): (cell.value, cell.source)
        for cell in chart_cells(connection, "fpb", "terrain_key")
    }
    assert told["hill", "leg"] == ("3", "owner")
    assert told["mountain", "leg"] == ("4", "house")
    assert told["clear", "leg"] == ("1", "printed")


def test_another_map_under_the_same_name_is_not_overwritten(connection: Connection) -> None:
    scenario = read_scenario("parry")
    other = dataclasses.replace(scenario.position.board, title="Mine")
    store_map(connection, other)
    with pytest.raises(ScenarioError, match="already, and it is not that of the scenario"):
        install(connection, scenario)
    assert load_draft(connection, scenario.map).title == "Mine"


def test_the_documented_scenario_can_be_read(written: Any) -> None:
    scenario = read_scenario(written())
    assert scenario.position.conditions["mode"] == "solitaire"
    assert len(scenario.position.units) == 10
    assert scenario.position.policy == {"fpb-23": "a"}
    assert [step.by for step in scenario.setup] == ["choice", "die"]


def test_a_scenario_may_bring_its_map(written: Any) -> None:
    board = '{name: strip, extent: ["1401", "1605"], hexes: {"1504": {features: [airstrip]}}}'
    assert read_scenario(written(("map: angaur ", f"map: {board} "))).map == "strip"
    with pytest.raises(Problems, match="the map has no name"):
        read_scenario(written(("map: angaur ", f"map: {board.replace('name: strip, ', '')} ")))


def test_every_mistake_is_told_at_once_with_its_place(written: Any) -> None:
    path = written(
        ("length: 2", "length: 0"),
        ("charts: [terrain_key]", "charts: [terain_key]"),
        ("group: angaur", "group: angour"),
        ("mode: [solitaire, two_player]", "mode: [solitary]"),
        ('at: "1504"', 'at: "9904"'),
        ("choice: assault_boats", "choice: assault_boat"),
        ("die: placement", "die: placement, fixed: placement"),
        ('units: all, rule: "11.2"', 'units: [B], rule: "11.22"'),
        ("capture: [airstrip]", "capture: [airfield]"),
        ('sources: ["18.3"]', 'sources: ["81.3"]'),
        ("policy: {fpb-23: a}", "policy: {fpb-23: z}"),
    )
    with pytest.raises(Problems) as raised:
        read_scenario(path)
    told = str(raised.value)
    for word in (
        "length: 0 is not between 1 and 200",
        "no chart file 'terain_key'",
        "unknown group of us_counters.yaml 'angour'",
        "options/mode/1",
        "9904 is not a hex of this map",
        "a step names one procedure, under choice, die or fixed",
        "there is no unit 'B'",
        "unknown rule of fpb '11.22'",
        "'airfield'",
        "'81.3'",
        "unknown procedure of the set-up 'assault_boat'",
        "reading of fpb-23",
    ):
        assert word in told
    assert "did you mean terrain_key" in told
    assert all(problem.line for problem in raised.value.found)


def broken(tree: Any) -> Iterator[Any]:
    """The tree with each of its values in turn left out, or something else in its place."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in list(items):
        for other in (None, 7, "no such thing", [], {}, [[1]], {"a": {"b": 2}}, "9" * 50):
            copied = dict(tree) if isinstance(tree, dict) else list(tree)
            copied[key] = other
            yield copied
        if isinstance(tree, dict):
            yield {name: kept for name, kept in tree.items() if name != key}
        if isinstance(value, dict | list):
            for inner in broken(value):
                copied = dict(tree) if isinstance(tree, dict) else list(tree)
                copied[key] = inner
                yield copied


def test_a_broken_scenario_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    words = []
    sound = yaml.safe_load(documented())
    sound["map"] = {
        "name": "strip",
        "extent": ["1403", "1605"],
        "hexes": {"1504": {"features": ["airstrip"]}},
    }
    for tree in broken(sound):
        path.write_text(json.dumps(tree), encoding="utf-8")
        try:
            read_scenario(path)
        except SightlineError as error:
            words.append(error.message)
    assert len(words) > 500
    assert all(words)


def test_a_scenario_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(ScenarioError, match="no scenario 'anguar'") as raised:
        read_scenario("anguar")
    assert "angaur" in raised.value.remedy
    with pytest.raises(ScenarioError, match="Cannot read"):
        read_scenario("nowhere/angaur.yaml")


def test_the_command_lists_shows_and_installs(databases: Databases, written: Any) -> None:
    sightline = CommandLine(databases.make())
    assert [entry["name"] for entry in sightline("scenarios", "list", "fpb", "--json").json] == list(ISLANDS)
    assert "angaur-house" in sightline("scenarios", "list").out
    shown = sightline("scenarios", "show", "angaur")
    assert shown.status == 0
    assert "18.3" in shown.out
    assert "placement" in shown.out
    assert sightline("scenarios", "show", written(), "--json").json["length"] == 2
    assert sightline("scenarios", "show", "anguar").status == 2
    assert sightline("scenarios", "install", "angaur").status == 0
    assert sightline("scenarios", "install", "angaur").status == 0
    assert [entry["name"] for entry in sightline("maps", "list", "--json").json] == ["angaur-house"]
