"""`sightline bench`: that it measures what it says, and leaves nothing behind; never how fast."""

from __future__ import annotations

import dataclasses

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from db.database import make_engine
from importers.maps import store_map
from tests.bench import (
    BenchError,
    games,
    ledgers,
    measure_apart,
    measure_map,
    measure_position_reach,
    measure_rout,
)
from tests.bench.campaigns import measure_campaigns
from tests.bench.doors import DENSE, QUESTIONS, measure_doors
from tests.bench.drawn import exponent, measure_board, measure_road_reach
from tests.bench.large import DOORS, measure_large
from tests.bench.survey import SIGHT, measure_survey
from tests.dense_board import Shape
from tests.small_map import make_map
from tests.test_sight import crop, demo


def quiet(_: str) -> None:
    """Say nothing."""


def test_sight_is_measured_near_and_far(connection: Connection) -> None:
    make_map(connection, "strip", ("01.01", "24.03"))
    found = {measure.name: measure for measure in measure_map(connection, "strip", 4, quiet)}
    line = found["strip, in turn: one line of sight"]
    nothing = found["strip, in turn: SELECT 1"]
    assert line.ratio == pytest.approx(line.milliseconds / nothing.milliseconds)
    assert (line.against, line.target, line.met) == (
        "SELECT 1",
        "≤ 3",
        line.milliseconds <= 3 * nothing.milliseconds,
    )
    assert "strip: one line of 9 to 20 hexes" in found
    assert "strip: fan asked to 20 hexes, live" in found


def test_a_small_map_has_no_far_lines(connection: Connection) -> None:
    make_map(connection, "small", ("01.01", "05.05"))
    names = [measure.name for measure in measure_map(connection, "small", 4, quiet)]
    assert "small, in a row: fan of range 8, shapely" in names
    assert not [name for name in names if "20 hexes" in name]


def test_a_map_of_two_hexes_is_refused(connection: Connection) -> None:
    make_map(connection, "pair", ("01.01", "01.02"))
    with pytest.raises(BenchError, match="'pair' is too small"):
        measure_map(connection, "pair", 4, quiet)


def test_what_is_measured_apart_is_gone_afterwards(own_engine: Engine) -> None:
    with own_engine.begin() as connection:
        make_map(connection, "small", ("01.01", "05.05"))
    with own_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        names = [measure.name for measure in measure_apart(connection, "small", 4, quiet)]
        assert {
            "small, apart, in turn: one line of sight",
            "small, apart, in a row: a line that is kept",
        } <= set(names)
        assert connection.scalar(sa.text("select count(*) from position where not bare")) == 0
        assert connection.scalar(sa.text("select count(*) from viewshed")) == 0


def test_a_survey_is_measured_beside_numpy_and_gone_afterwards(own_engine: Engine) -> None:
    piece = crop(demo("pagasa-coast"), "20.12", 5)
    with own_engine.begin() as connection:
        store_map(connection, dataclasses.replace(piece, name="piece"))
    with own_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        by_numpy, surveyed = measure_survey(connection, "piece", quiet)
        assert by_numpy.name == f"piece: all that {len(piece.hexes)} hexes see, numpy"
        assert surveyed.ratio == pytest.approx(surveyed.milliseconds / by_numpy.milliseconds)
        assert connection.scalar(sa.text("select count(*) from position where not bare")) == 0
        assert connection.scalar(sa.text("select count(*) from viewshed")) == 0


def test_numpy_that_sees_otherwise_is_told(own_engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    with own_engine.begin() as connection:
        store_map(connection, dataclasses.replace(crop(demo("pagasa-coast"), "20.12", 3), name="piece"))
    monkeypatch.setitem(SIGHT, "blocks", SIGHT["open"])
    with (
        own_engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection,
        pytest.raises(BenchError, match="numpy sees otherwise than the survey on piece"),
    ):
        measure_survey(connection, "piece", quiet)


def test_the_doors_are_measured_beside_a_page_that_asks_nobody(demo_url: sa.URL) -> None:
    engine = make_engine(demo_url)
    maps = sa.text("select count(*) from map")
    with engine.connect() as connection:
        before = connection.scalar(maps)
    found = {measure.name: measure for measure in measure_doors(engine, 4, quiet)}
    with engine.connect() as connection:
        assert connection.scalar(maps) == before, "the dense boards are gone afterwards"
    engine.dispose()
    constant, line = found["API, 8 clients: constant page"], found["API, 8 clients: los"]
    assert line.ratio == pytest.approx(constant.milliseconds / line.milliseconds)
    assert (line.target, line.met) == ("≥ 0.5", line.ratio >= 0.5)
    kinds = {*QUESTIONS, *(f"dense board of {game}, {kind}" for game in DENSE for kind in ("los", "fan"))}
    assert {
        f"API, {clients}: {kind}" for clients in ("1 client", "8 clients") for kind in kinds
    } <= found.keys()
    assert found["fan: the SQL function alone"].ratio is not None


def test_games_that_are_measured_are_gone_afterwards(
    demo_url: sa.URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EVENTS", "GAMES", "REPLAYED"):
        monkeypatch.setattr(games, name, 60)
    engine = make_engine(demo_url)
    counted = sa.text("select (select count(*) from game), (select count(*) from position)")
    with engine.connect() as connection:
        before = connection.execute(counted).one()
    found = {measure.name: measure for measure in games.measure_games(engine, 4, quiet)}
    assert found["a game of 10,000 events: an action written down"].target == "≤ 5"
    assert found["replay, an event"].milliseconds > 0
    with engine.connect() as connection:
        assert connection.execute(counted).one() == before
    engine.dispose()


def test_the_reach_of_a_position_is_measured(demo_url: sa.URL) -> None:
    engine = make_engine(demo_url)
    with engine.connect() as connection:
        [measure] = measure_position_reach(connection, "tanaro-assault", 4, quiet)
    engine.dispose()
    assert (measure.name, measure.target) == ("tanaro-assault: reach of its units", "≤ 10 ms")


def test_where_units_go_and_rout_to_is_measured(demo_url: sa.URL) -> None:
    engine = make_engine(demo_url)
    with engine.connect() as connection:
        [reach] = measure_position_reach(connection, "vesny-morning", 4, quiet)
        [rout] = measure_rout(connection, "vesny-morning", 4, quiet)
    engine.dispose()
    assert (reach.name, reach.target) == ("vesny-morning: reach of its units", "≤ 10 ms")
    assert (rout.name, rout.target) == ("vesny-morning: ways of a rout", "≤ 50 ms")
    assert rout.met == (rout.milliseconds <= 50)


def test_ledgers_are_measured_on_what_is_allowed_and_nothing_is_kept(
    demo_url: sa.URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(demo_url)
    found = {measure.name: measure for measure in ledgers.measure_ledgers(engine, 4, quiet)}
    shot = found["a css shot, every modifier told"]
    assert (shot.against, shot.target, shot.met) == (
        "SELECT 1",
        "≤ 5",
        shot.ratio is not None and shot.ratio <= 5,
    )
    assert found["a css assault, both sides told"].milliseconds > 0
    monkeypatch.setitem(ledgers.SHOT, "at", "21.79")
    with pytest.raises(BenchError, match="not allowed"):
        ledgers.measure_ledgers(engine, 4, quiet)
    with engine.connect() as connection:
        assert connection.scalar(sa.text("select count(*) from game")) == 0
    engine.dispose()


def test_a_campaign_is_measured_at_every_door_and_taken_away_again(own_engine: Engine) -> None:
    found = {measure.name: measure for measure in measure_campaigns(own_engine, 3, quiet, count=500)}
    for way in ("archive.entries", "as pages ask it", "as the OGC API asks it"):
        for manner in ("in turn", "in a row"):
            hour = found[f"a campaign of 500 entries: an hour in a box, {way}, {manner}"]
            assert (hour.against, hour.target) == ("SELECT 1", "≤ 10")
    doors = {
        "the page at an hour",
        "the page of an entry",
        "the newest changes",
        "an hour in a box, OGC API",
        "an item, OGC API",
    }
    assert {f"a campaign of 500 entries: {door}" for door in doors} <= found.keys()
    with own_engine.connect() as connection:
        assert connection.scalar(sa.text("select count(*) from entry")) == 0


def test_large_maps_are_looked_at_and_taken_away_again(own_engine: Engine) -> None:
    found = {measure.name: measure for measure in measure_large(own_engine, 4, quiet, (120, 110))}
    for door in DOORS:
        large = found[f"13,200 hexes: {door}, made anew"]
        small = found[f"10⁴ hexes: {door}, made anew"]
        assert large.ratio == pytest.approx(large.milliseconds / small.milliseconds)
        assert (large.target, large.met) == ("≤ 3", large.ratio <= 3)
    page = found["map page of 10⁴ hexes, kept"]
    assert page.ratio == pytest.approx(found["static file"].milliseconds / page.milliseconds)
    for who in ("the web process", "a backend"):
        assert 1 < found[f"most memory of {who}, MB"].milliseconds < 256
    with own_engine.connect() as connection:
        assert connection.scalar(sa.text("select count(*) from map")) == 0


def test_the_reach_along_a_road_that_enemies_may_see_is_measured(connection: Connection) -> None:
    [found] = measure_road_reach(connection, Shape("ccp", 346, False, 1000), 4, quiet)
    assert "a road of 33 hexes and 8 enemies" in found.name
    assert found.ratio is not None
    assert found.ratio > 1
    assert (found.target, found.met) == ("≤ 50 ms", found.milliseconds <= 50)


def test_sight_over_drawn_terrain_is_measured_beside_shapely(connection: Connection) -> None:
    found = measure_board(connection, Shape("ccp", 346, True, 1000), 4, quiet)
    assert len(found) == 7
    assert {measure.against for measure in found} == {"SELECT 1", "the fan", "the fan of the board"}
    assert all(measure.milliseconds > 0 for measure in found)


def test_growth_is_the_exponent_of_a_power() -> None:
    assert exponent([1, 10, 100], [3, 30, 300]) == pytest.approx(1)
    assert exponent([1, 10, 100], [3, 3, 3]) == pytest.approx(0)
