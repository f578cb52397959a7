"""What is hidden from a seat is in nothing that it can fetch: pages, pictures, log, JSON, stream, odds."""

from __future__ import annotations

import importlib.util
import random
import re
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient
from sqlalchemy.engine import Connection, Engine

from app.play.fuzz import _actor, _chosen, _drawn
from app.play.games import act
from app.play.log import Deed, moment
from app.play.openings import begin
from app.play.tables import Table, open_game
from app.play.views import UNSEEN, View, hidden_tracks, seats_of, without
from app.web.site import create_app
from db.database import make_engine
from db.games import OBSERVER, REFEREE
from db.rulesets import CODES
from db.settings import Settings
from importers.scenarios import scenarios
from tests.conftest import Databases, web_engine

PLAYED = 12
"""Events of random play after which everything is looked at."""
FIRST = {
    code: scenarios(code)[0]
    for code in CODES
    if scenarios(code) and importlib.util.find_spec(f"app.play.{code}.legal") is not None
}
"""A scenario of each game that has one."""


@pytest.fixture(scope="module")
def played(databases: Databases) -> Iterator[Engine]:
    """A database with a game of each ruleset, some way on."""
    engine = make_engine(databases.make())
    for code, scenario in FIRST.items():
        dice = random.Random(scenario)
        with engine.begin() as connection:
            begin(connection, f"scenario:{scenario}", name=code, seed="seen and unseen")
            while (table := open_game(connection, code)).events < PLAYED and not table.over:
                step(connection, table, dice)
    yield engine
    engine.dispose()


def step(connection: Connection, table: Table, dice: random.Random) -> None:
    if table.pending is not None:
        act(
            connection,
            table.name,
            Deed("answer", {"choices": _chosen(table.pending["prompt"], dice)}, REFEREE),
        )
    else:
        action, arguments = _drawn(connection, table, dice)
        act(connection, table.name, Deed(action, arguments, _actor(table)))


@pytest.fixture
def client(played: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(played)).test_client()


def addresses(name: str, seat: str, events: int) -> Iterator[str]:
    """Everything that a seat can fetch of a game."""
    yield f"/games/{name}?as={seat}"
    yield f"/games/{name}?as={seat}&part=1"
    yield f"/games/{name}?as={seat}&legal=1"
    yield f"/games/{name}/report?as={seat}"
    yield f"/games/{name}/readings?as={seat}"
    yield f"/games/{name}/picture.svg"
    yield f"/api/v1/games/{name}?as={seat}"
    yield f"/api/v1/games/{name}/events?as={seat}&limit=200"
    yield f"/api/v1/games/{name}/legal?as={seat}"
    for number in range(1, events + 1):
        yield f"/games/{name}?as={seat}&at={number}&since=1"
        yield f"/games/{name}/{number}/picture.svg?as={seat}"
        yield f"/api/v1/games/{name}/events/{number}?as={seat}"
        yield f"/api/v1/games/{name}/events/{number}/position?as={seat}"


@pytest.mark.parametrize("code", FIRST)
def test_nothing_hidden_reaches_a_seat(played: Engine, client: FlaskClient, code: str) -> None:
    with played.connect() as connection:
        table = open_game(connection, code)
        hidden = {
            seat: set.intersection(
                *(View(code, seat).words(moment(connection, table, n)) for n in range(1, table.events + 1))
            )
            for seat in seats_of(code)[1:]
            # who is on turn is offered what lies in their own hand
        }
    for seat, words in hidden.items():
        for address in addresses(code, seat, table.events):
            answer = client.get(address)
            assert answer.status_code == 200, (address, answer.text[:300])
            text = answer.text
            found = [
                word
                for word in words
                # most are nowhere, which is told much quicker than where
                if word in text and re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text)
            ]
            assert not found, f"{seat} reads {found[:3]} at {address}"


def test_a_record_is_the_referees_while_the_game_goes_on(client: FlaskClient) -> None:
    assert client.get("/api/v1/games/fpb/record").status_code == 200
    assert client.get("/api/v1/games/fpb/record?as=us").status_code == 403
    assert client.get("/api/v1/games/fpb?as=nobody").status_code == 422


def test_a_hand_is_its_owners() -> None:
    """ccp has hands: the owner sees the cards, the other how many."""
    assert (("hand",), "owner") in hidden_tracks("ccp")
    tracks = {"hand": {"japan": ["J-1", "J-2"], "allied": ["US-3"]}, "pile": {"japan": ["J-9"]}}
    assert View("ccp", "japan").tracks(tracks) == {
        "hand": {"japan": ["J-1", "J-2"], "allied": 1},
        "pile": {"japan": 1},
    }
    assert View("ccp", OBSERVER).tracks(tracks)["hand"] == {"japan": 2, "allied": 1}
    assert View("ccp").tracks(tracks) == tracks
    words = View("ccp", "allied").words({"units": {}, "tracks": tracks})
    assert words == {"J-1", "J-2", "J-9"}
    told = {"draws": [{"card": "pile", "value": "J-9"}], "note": "J-1 and US-3"}
    assert without(told, words) == {
        "draws": [{"card": "pile", "value": UNSEEN}],
        "note": f"{UNSEEN} and US-3",
    }


def test_orders_are_looked_at_by_the_api(client: FlaskClient) -> None:
    told = client.post("/api/v1/games/fpb/prospects", json={"orders": "fly {to: moon}\nend_phase"}).json
    assert told["prospects"][0]["standing"] == "unread"
    assert {"line", "order", "standing"} <= told["prospects"][1].keys()
