"""A game beside the campaign that it plays: it keeps to history until a counter goes elsewhere."""

from __future__ import annotations

import datetime

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.dice import read_seed
from app.play.games import act, new_game
from app.play.history import beside
from app.play.log import Deed
from app.referee.moments import moment_position, save_moment
from importers.archive.campaigns import import_campaign
from importers.maps import import_map
from tests.conftest import ROOT

NOON = datetime.datetime.fromisoformat("1944-07-21T12:00+10:00")


@pytest.fixture
def game(connection: Connection) -> Connection:
    """A game that begins where history stood on the day of the landing."""
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
    return connection


def test_a_game_that_stands_where_history_stood_has_not_left_it(game: Connection) -> None:
    [turn] = beside(game, "guam-1944", "landing")
    assert (turn.turn, turn.left, turn.gaps) == ("1", False, ())
    assert "w-day-north" in {row["key"] for row in turn.told}
    assert "banzai" not in {row["key"] for row in turn.told}


def test_it_leaves_history_when_a_force_is_elsewhere(game: Connection) -> None:
    def move(at: str) -> None:
        act(
            game, "landing", Deed("set", {"effects": [{"unit": "22", "at": at}]}, "referee", note="as played")
        )

    move("1006")
    [turn] = beside(game, "guam-1944", "landing")
    assert [(gap.force, gap.history, gap.game, gap.hexes) for gap in turn.gaps] == [
        ("22mar", "1005", "1006", 1)
    ]
    assert not turn.left, "a hex is near enough"
    move("0613")
    [turn] = beside(game, "guam-1944", "landing")
    assert turn.left
    assert turn.gaps[0].hexes is not None
    assert turn.gaps[0].hexes > 2
    [lenient] = beside(game, "guam-1944", "landing", hexes=50)
    assert not lenient.left
