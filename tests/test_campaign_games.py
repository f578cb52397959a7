"""A game beside the campaign that it plays: it keeps to history until a counter goes elsewhere."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play.dice import read_seed
from app.play.games import act, new_game
from app.play.history import beside
from app.play.log import Deed
from app.referee.moments import moment_position, save_moment
from app.web.site import create_app
from db.database import make_engine
from db.settings import Settings
from importers.archive.campaigns import import_campaign
from importers.maps import import_map
from tests.command_line import CommandLine
from tests.conftest import ROOT, Databases, web_engine

NOON = datetime.datetime.fromisoformat("1944-07-21T12:00+10:00")


@pytest.fixture
def game(connection: Connection) -> Connection:
    """A game that begins where history stood on the day of the landing."""
    begin(connection)
    return connection


def begin(connection: Connection) -> None:
    import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / "guam.yaml")
    import_campaign(connection, ROOT / "db" / "demo" / "campaigns" / "guam-1944.yaml")
    tree = moment_position(connection, "guam-1944", NOON)
    name = save_moment(connection, tree)
    connection.execute(
        sa.text(
            'update position set conditions = \'{"turn": 1, "phase": "movement", "side": "us"}\' where name = :name'
        ),
        {"name": name},
    )
    position = connection.scalar(sa.text("select id from position where name = :name"), {"name": name})
    assert isinstance(position, int)
    new_game(connection, "landing", position, seed=read_seed("1944"))


def move(connection: Connection, at: str) -> None:
    effects = [{"unit": "22", "at": at}]
    act(connection, "landing", Deed("set", {"effects": effects}, "referee", note="as played"))


def test_a_game_that_stands_where_history_stood_has_not_left_it(game: Connection) -> None:
    [turn] = beside(game, "guam-1944", "landing")
    assert (turn.turn, turn.left, turn.gaps) == ("1", False, ())
    assert "w-day-north" in {row["key"] for row in turn.told}
    assert "banzai" not in {row["key"] for row in turn.told}


def test_it_leaves_history_when_a_force_is_elsewhere(game: Connection) -> None:
    move(game, "1006")
    [turn] = beside(game, "guam-1944", "landing")
    assert [(gap.force, gap.history, gap.game, gap.hexes) for gap in turn.gaps] == [
        ("22mar", "1005", "1006", 1)
    ]
    assert not turn.left, "a hex is near enough"
    move(game, "0613")
    [turn] = beside(game, "guam-1944", "landing")
    assert turn.left
    assert turn.gaps[0].hexes is not None
    assert turn.gaps[0].hexes > 2
    [lenient] = beside(game, "guam-1944", "landing", hexes=50)
    assert not lenient.left


@pytest.fixture(scope="module")
def played(databases: Databases) -> Iterator[Engine]:
    """The same game for whoever comes by a door."""
    engine = make_engine(databases.make())
    with engine.begin() as connection:
        begin(connection)
    yield engine
    engine.dispose()


def test_the_page_and_the_command_tell_where_a_game_left_history(played: Engine) -> None:
    client = create_app(Settings(log_level="error"), web_engine(played)).test_client()
    address = "/campaigns/guam-1944/game?game=landing"
    page = client.get(address).text
    assert "the game keeps within two hexes of history" in page
    assert "W-Day: the landing on the northern beaches" in page
    with played.begin() as connection:
        move(connection, "0613")
    page = client.get(address).text
    assert "The game left history in turn 1" in page
    assert "history <code>1005</code>, game <code>0613</code>" in page
    told = CommandLine(played.url)("campaign", "game", "guam-1944", "landing", "--json").json
    assert [turn["left"] for turn in told] == [True]


def test_positions_and_games_on_real_ground_are_collections(played: Engine) -> None:
    client = create_app(Settings(log_level="error"), web_engine(played)).test_client()
    ids = {found["id"] for found in client.get("/ogc/collections?f=json").json["collections"]}
    position = next(id for id in ids if id.startswith("position.") and id.endswith(".unit"))
    for id in (position, "game.landing.unit"):
        features = client.get(f"/ogc/collections/{id}/items?limit=100").json["features"]
        assert len(features) > 3
        for feature in features:
            longitude, latitude = feature["geometry"]["coordinates"]
            assert 144.5 < longitude < 145.1
            assert 13.1 < latitude < 13.8
