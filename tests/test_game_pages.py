"""Games on pages: the list, the log, any moment with map and proof, and the whole game ruled again."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient
from sqlalchemy.engine import Engine

from app.play.games import act
from app.play.log import Deed, note
from app.play.records import import_record, read_record
from app.play.undo import undo
from app.web.site import create_app
from db.settings import Settings
from importers.scenarios import install, read_scenario
from tests.conftest import Databases, web_engine
from tests.test_game_records import ANGAUR

EVENTS = len(read_record(ANGAUR.read_text()).events)
ATTACK = next(
    n for n, event in enumerate(read_record(ANGAUR.read_text()).events, 1) if event["action"] == '"attack"'
)
"""The number of the first attack in it."""


@pytest.fixture(scope="module")
def played(databases: Databases) -> Engine:
    """A database with one game that is over, and one that goes on."""
    from db.database import make_engine

    engine = make_engine(databases.make())
    with engine.begin() as connection:
        install(connection, read_scenario("angaur"))
        import_record(connection, ANGAUR.read_text())
        note(connection, "angaur-solitaire", ATTACK, "a bold one", author="Anna")
        import_record(connection, ANGAUR.read_text(), name="second")
        effects = [{"unit": "1/321", "depleted": True}]
        connection.exec_driver_sql("update game set over = false where name = 'second'")
        act(connection, "second", Deed("set", {"effects": effects}, "referee", note="a slip"))
        undo(connection, "second")
    return engine


@pytest.fixture
def client(played: Engine) -> FlaskClient:
    return create_app(Settings(), web_engine(played)).test_client()


def text(client: FlaskClient, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return re.sub(r"\s+", " ", answer.text)


@pytest.mark.parametrize(
    ("words", "heading", "link"),
    [
        ("angaur solitaire", "Games", "/games/angaur-solitaire"),
        ("a bold one", "Notes", f"/games/angaur-solitaire?at={ATTACK}"),
    ],
)
def test_one_search_finds_games_and_notes(client: FlaskClient, words: str, heading: str, link: str) -> None:
    page = text(client, f"/search?q={words.replace(' ', '+')}")
    assert re.search(rf">{heading} <span class=\"quiet\">[1-9]", page)
    assert f'href="{link}"' in page


def test_the_list_tells_where_every_game_stands(client: FlaskClient) -> None:
    page = text(client, "/games")
    assert "2 games" in page
    assert "house scenario" in page
    assert page.index("/games/second") < page.index("/games/angaur-solitaire")
    assert "0 games" in text(client, "/games?ruleset=css")


def test_a_game_shows_its_log_with_what_was_taken_back_struck_out(client: FlaskClient) -> None:
    page = text(client, "/games/second")
    assert "<s>The referee sets unit 1/321, depleted</s>" in page
    assert f"taken back by {EVENTS + 2}" in page
    assert "house scenario" in page
    assert "the seed, now opened" in page


def test_a_moment_has_its_map_its_dice_and_every_rule_by_a_link(client: FlaskClient) -> None:
    page = text(client, f"/games/angaur-solitaire/{ATTACK}")
    assert "<svg" in page
    assert "rolled 1d6 for the attack" in page
    assert f"derived for event {ATTACK}" in page
    assert 'href="/rules/fpb/8.2.1"' in page
    assert "a bold one" in page
    assert f'href="/games/angaur-solitaire?at={ATTACK - 1}"' in page
    assert f'href="/games/angaur-solitaire?at={ATTACK + 1}"' in page
    assert (
        f'<meta property="og:image" content="http://localhost/games/angaur-solitaire/{ATTACK}/picture.svg">'
        in page
    )


def test_every_moment_can_be_looked_at(client: FlaskClient) -> None:
    for number in range(1, EVENTS + 1, 7):
        text(client, f"/games/angaur-solitaire/{number}")


def test_what_is_not_there_is_told(client: FlaskClient) -> None:
    assert "There is no game" in text(client, "/games/nope", 404)
    assert "has no event 999" in text(client, "/games/angaur-solitaire/999", 404)
    assert "There is no reading" in text(client, "/games/angaur-solitaire/again?policy=fpb-23:z", 400)
    assert "has no contested point" in text(client, "/games/angaur-solitaire/again?policy=css-12:a", 422)


def test_a_game_is_ruled_again_on_a_page(client: FlaskClient) -> None:
    assert f"No event of {EVENTS} would be ruled otherwise" in text(client, "/games/angaur-solitaire/again")
    page = text(client, "/games/angaur-solitaire/again?policy=fpb-23:b")
    assert f"of {EVENTS} events would be ruled otherwise" in page
    assert 'href="/games/angaur-solitaire/2"' in page
