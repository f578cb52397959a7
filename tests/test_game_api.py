"""Games by the API: done once, refused with their rules, told what came between, followed as they are played."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from command_line import CommandLine
from flask.testing import FlaskClient
from processes import Serving, serving, wait_until
from sqlalchemy.engine import URL, Engine
from werkzeug.test import TestResponse

from app.play.dice import commitment, read_seed
from app.play.views import View
from app.web.guard import RECORD
from app.web.site import create_app
from app.web.streams import Streams
from db.database import make_engine
from db.settings import Settings
from importers.demo.load import add_demo
from tests.conftest import Databases, web_engine

GAMES = "/api/v1/games"
TANARO = f"{GAMES}/tanaro"


@pytest.fixture(scope="module")
def demo(databases: Databases) -> URL:
    """A database with the demo, to be cloned."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        add_demo(connection, lambda told: None)
    engine.dispose()
    return url


@pytest.fixture
def engine(demo: URL, databases: Databases) -> Iterator[Engine]:
    found = make_engine(databases.make(template=demo.database))
    yield found
    found.dispose()


@pytest.fixture
def client(engine: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(engine)).test_client()


@pytest.fixture
def game(client: FlaskClient) -> FlaskClient:
    body = {"from": "tanaro-assault", "name": "tanaro", "seed": "a game for tests", "seats": {"us": "Anna"}}
    assert client.post(GAMES, json=body).status_code == 201
    return client


def do(client: FlaskClient, headers: dict[str, str] | None = None, **body: Any) -> TestResponse:
    return client.post(f"{TANARO}/actions", json={"action": "end_phase", **body}, headers=headers)


def problem(answer: TestResponse, status: int, *words: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/problem+json"
    for word in words:
        assert word in answer.text
    told: dict[str, Any] = json.loads(answer.text)
    assert told["status"] == status
    return told


# Beginning and looking


def test_a_game_begins_and_tells_where_it_is(client: FlaskClient) -> None:
    body = {"from": "tanaro-assault", "seed": "a game for tests", "seats": {"us": "Anna"}}
    answer = client.post(GAMES, json=body)
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"{GAMES}/tanaro-assault-1"
    assert answer.json["seed_sha256"] == commitment(read_seed("a game for tests"))
    assert "seed" not in answer.json
    told = client.get(answer.headers["Location"])
    assert told.json["seats"] == {"us": "Anna"}
    assert "end_phase" in told.json["actions"]
    assert told.headers["ETag"] == answer.headers["ETag"]
    assert [one["game"] for one in client.get(GAMES).json["games"]] == ["tanaro-assault-1"]
    assert client.get(f"{GAMES}?ruleset=css").json == {"games": [], "total": 0, "page": 1, "per_page": 50}
    client.post(GAMES, json={"from": "tanaro-assault"})
    second = client.get(f"{GAMES}?page=2&per_page=1").json
    assert ([one["game"] for one in second["games"]], second["total"]) == (["tanaro-assault-1"], 2)
    assert client.get("/api/v1/positions/tanaro-assault-1").status_code == 404


def test_a_game_that_cannot_begin_says_why(game: FlaskClient) -> None:
    problem(game.post(GAMES, json={"from": "tanaro-asault"}), 404, "Is it tanaro-assault?")
    problem(game.post(GAMES, json={"from": "tanaro-assault", "name": "tanaro"}), 422, "already")
    problem(game.post(GAMES, json={"from": "tanaro-assault", "name": "../x"}), 422, "cannot be the name")
    problem(game.post(GAMES, json={"from": "tanaro-assault", "seats": {"x": "y"}}), 422, "no seat 'x'")
    problem(game.post(GAMES, json={"from": "tanaro-assault", "sead": "x"}), 422, "sead")
    problem(game.post(GAMES, json={"from": "/etc/passwd.yaml"}), 404, "no position and no scenario")
    problem(game.get(f"{GAMES}/tanarro"), 404, "Is it tanaro?")


def test_events_are_told_page_by_page(game: FlaskClient) -> None:
    for _ in range(2):
        assert do(game).status_code == 200
    game.post(f"{TANARO}/undo", json={})
    page = game.get(f"{TANARO}/events?limit=3").json
    assert [event["number"] for event in page["events"]] == [1, 2, 3]
    assert (page["total"], page["next"]) == (4, 4)
    assert game.get(f"{TANARO}/events?first=4").json["next"] is None
    assert game.get(f"{TANARO}/events?first=9").json["events"] == []
    assert [e["number"] for e in game.get(f"{TANARO}/events?first=2&last=3").json["events"]] == [2, 3]
    event = game.get(f"{TANARO}/events/3").json
    assert event["verdict"] == "The movement phase begins"
    assert event["steps"] == [{"rule": "5.1", "effect": "begins", "note": "Movement Phase"}]
    problem(game.get(f"{TANARO}/events/5"), 404, "its events are 1 to 4")
    problem(game.get(f"{TANARO}/events?limit=0"), 422, "limit")


def test_a_moment_is_told_as_positions_are_and_can_be_asked(game: FlaskClient) -> None:
    effects = [{"unit": "1/161", "at": "0914"}]
    assert do(game, action="set", arguments={"effects": effects}, note="a march").status_code == 200
    saved = game.get("/api/v1/positions/tanaro-assault").json
    then = game.get(f"{TANARO}/events/1/position").json
    assert then["units"] == sorted(saved["units"], key=lambda unit: (unit["side"], unit["id"]))
    assert {key: then[key] for key in ("ruleset", "map", "markers")} == {
        key: saved[key] for key in ("ruleset", "map", "markers")
    }
    now = {unit["id"]: unit for unit in game.get(f"{TANARO}/events/2/position").json["units"]}
    assert now["1/161"]["at"] == "0914"
    question = {"question": {"range": {"from": "1/161", "to": "I/41"}}}
    ranges = [game.post(f"{TANARO}/events/{n}/ask", json=question).json["answer"]["range"] for n in (1, 2)]
    assert ranges == [2, 1]
    problem(game.post(f"{TANARO}/events/1/ask", json={"question": {"rang": {}}}), 422, "rang")
    problem(game.post(f"{TANARO}/events/7/ask", json=question), 404, "no event 7")
    assert "end_phase" in game.get(f"{TANARO}/legal").json["names"]


# Doing


def test_what_happened_is_told_and_committed(game: FlaskClient, engine: Engine) -> None:
    answer = do(game, note="all is set up")
    assert answer.json["event"]["verdict"] == "The support fire phase begins"
    assert answer.json["now"] == {"turn": 1, "phase": "support_fire"}
    with engine.connect() as other:
        assert other.scalar(sa.text("select events from game")) == 2
    assert game.get(TANARO).headers["ETag"] == answer.headers["ETag"]


def test_what_the_rules_do_not_allow_comes_with_the_rules(game: FlaskClient) -> None:
    do(game), do(game)
    told = problem(do(game, **{"as": "japan"}), 409, "japan does not act now")
    assert told["answer"] == {"allowed": False, "why": "the Movement Phase is us's"}
    assert told["steps"] == [{"rule": "5.1", "effect": "refused", "note": "the Movement Phase is us's"}]
    stood = do(game, stands="illegal_stood", **{"as": "japan"})
    assert stood.json["event"]["legality"] == "illegal_stood"


def test_what_cannot_be_done_is_told_by_its_status(game: FlaskClient) -> None:
    problem(do(game, action="end_fase"), 422, "Is it end_phase?")
    problem(do(game, action="answer"), 422, "Nothing in tanaro waits")
    problem(do(game, arguments={"by": ["x"]}), 422, "unknown")
    problem(do(game, arguments={"a\0": 1}), 422, "cannot be stored")
    problem(do(game, action="set", arguments={"effects": [{"unit": "1/161", "at": "x\0"}]}, note="x"), 422)
    problem(do(game, action="set", arguments={"effects": [{"unit": "1/161", "attack": "x"}]}, note="x"), 422)
    problem(do(game, **{"as": "nobody"}), 422, "does not act")
    problem(do(game, stands="maybe"), 422, "stands")
    problem(game.post(f"{GAMES}/nowhere/actions", json={"action": "end_phase"}), 404, "no game 'nowhere'")
    problem(game.post(f"{TANARO}/actions", data="{", content_type="application/json"), 422)
    problem(game.post(f"{TANARO}/abandon", json={"note": "x"}), 422, "Nothing in tanaro waits")
    problem(game.post(f"{TANARO}/undo", json={}), 422, "Nothing in tanaro can be taken back")
    problem(game.post(f"{TANARO}/redo", json={}), 422, "is no undo")
    assert game.get(TANARO).json["events"] == 1


def test_who_has_not_seen_the_last_event_is_told_what_came_between(game: FlaskClient) -> None:
    seen = {"If-Match": game.get(TANARO).headers["ETag"]}
    assert do(game, seen).status_code == 200
    told = problem(do(game, seen), 412, "has gone on since event 1: 2 referee end_phase")
    assert told["between"] == [{"number": 2, "actor": "referee", "action": "end_phase"}]
    for operation, body in (("undo", {}), ("redo", {}), ("abandon", {"note": "x"})):
        problem(game.post(f"{TANARO}/{operation}", json=body, headers=seen), 412)
    problem(game.delete(TANARO, headers=seen), 412)
    problem(do(game, {"If-Match": '"2-0000000000000000"'}), 412, "not what it was at event 2")
    problem(do(game, {"If-Match": '"nonsense"'}), 412)
    problem(do(game, {"If-Match": '"99999-abc"'}), 412, "no event 99999 yet")
    assert do(game, {"If-Match": "*"}).status_code == 200
    both = {"If-Match": f'"1-x", {game.get(TANARO).headers["ETag"]}'}
    assert game.post(f"{TANARO}/undo", json={}, headers=both).status_code == 200


def test_what_is_awaited_is_part_of_the_version(client: FlaskClient) -> None:
    client.post(GAMES, json={"from": "tanaro-assault", "name": "tanaro", "dice": "typed"})
    effects = [
        {"unit": "1/161", "at": "0914"},
        {"conditions": {"turn": 1, "phase": "combat", "active": "us"}},
    ]
    do(client, action="set", arguments={"effects": effects}, note="here we begin")
    before = {"If-Match": client.get(TANARO).headers["ETag"], "Idempotency-Key": "k1"}
    attack = {"action": "attack", "arguments": {"by": ["1/161"], "at": "1014"}}
    waits, again = do(client, before, **attack), do(client, before, **attack)
    assert waits.json["pending"]["prompt"] == {"roll": "1d6", "for": "the attack"}
    assert again.json == {**waits.json, "repeated": True}
    assert client.get(TANARO, headers={"If-None-Match": before["If-Match"]}).status_code == 200
    answer = {"action": "answer", "arguments": {"rolls": [5]}}
    problem(do(client, {"If-Match": before["If-Match"]}, **answer), 412, "not what it was at event 2")
    done = do(client, {"If-Match": waits.headers["ETag"]}, **answer)
    assert (done.json["number"], done.json["event"]["rolls"][0]["from"]) == (3, "typed")


def test_a_reader_who_has_the_version_gets_it_not_again(game: FlaskClient) -> None:
    tag = game.get(TANARO).headers["ETag"]
    assert game.get(TANARO, headers={"If-None-Match": tag}).status_code == 304
    do(game)
    assert game.get(TANARO, headers={"If-None-Match": tag}).status_code == 200


def test_a_repeated_request_is_done_once_even_with_an_old_version(game: FlaskClient) -> None:
    do(game)
    headers = {"Idempotency-Key": "k 1", "If-Match": game.get(TANARO).headers["ETag"]}
    # the phase that it begins is somebody's, so that another is on turn when it is repeated
    first, again = do(game, headers), do(game, headers)
    assert again.json == {**first.json, "repeated": True}
    problem(do(game, headers, **{"as": "us"}), 422, "came with another request")
    undone = [
        game.post(f"{TANARO}/undo", json={}, headers={"Idempotency-Key": "k2"}).json["number"]
        for _ in range(2)
    ]
    assert undone == [4, 4]
    assert game.get(TANARO).json["events"] == 4


def test_what_is_undone_is_done_again(game: FlaskClient) -> None:
    do(game), do(game)
    undone = game.post(f"{TANARO}/undo", json={"events": 2, "note": "too early"})
    assert undone.json["event"]["undoes"] == [3, 2]
    assert undone.json["now"] == {"phase": "set_up"}
    assert game.get(f"{TANARO}/events/2").json["struck_out_by"] == 4
    assert game.post(f"{TANARO}/redo", json={}).json["now"]["phase"] == "movement"


def test_a_word_on_an_event_and_a_branch(game: FlaskClient) -> None:
    said = game.post(f"{TANARO}/notes", json={"event": 1, "text": "here it began", "author": "Anna"})
    assert said.status_code == 201
    assert said.json["annotations"][0]["text"] == "here it began"
    problem(game.post(f"{TANARO}/notes", json={"event": 9, "text": "x"}), 422, "no event 9")
    problem(game.post(f"{TANARO}/notes", json={"event": 1, "text": "x", "ruling": "no"}), 422, "no ruling")
    branch = game.post(f"{TANARO}/fork", json={"after": 1, "name": "tanaro-b"})
    assert (branch.status_code, branch.headers["Location"]) == (201, f"{GAMES}/tanaro-b")
    problem(game.post(f"{TANARO}/fork", json={"after": 1, "name": "tanaro-b"}), 422, "already")
    problem(game.post(f"{TANARO}/fork", json={"after": 7, "name": "tanaro-c"}), 422, "no event 7")
    assert game.delete(f"{GAMES}/tanaro-b").status_code == 204
    problem(game.delete(f"{GAMES}/tanaro-b"), 404)


def test_a_record_is_read_elsewhere_and_verified(game: FlaskClient) -> None:
    do(game)
    text = game.get(f"{TANARO}/record")
    assert text.content_type == "text/plain; charset=utf-8"
    copy = game.post(f"{GAMES}/import?name=copy", data=text.data, content_type=RECORD)
    assert copy.status_code == 201
    assert copy.json["digest"] == game.get(TANARO).json["digest"]
    assert game.post(f"{GAMES}/copy/verify").json["ok"] is True
    bent = text.text.replace("2. referee", "2. us")
    problem(
        game.post(f"{GAMES}/import?name=bent", data=bent, content_type=RECORD), 422, "event 2 was changed"
    )
    problem(game.post(f"{GAMES}/import?name=bent", data=b"\xff", content_type=RECORD), 422, "not UTF-8")
    problem(game.post(f"{GAMES}/import", data=text.data, content_type=RECORD), 422, "already")
    assert len(game.get(GAMES).json["games"]) == 2


def test_a_game_is_ruled_again(game: FlaskClient) -> None:
    do(game)
    assert game.post(f"{TANARO}/readjudicate", json={}).json["differences"] == []
    problem(game.post(f"{TANARO}/readjudicate", json={"policy": {"fpb-999": "a"}}), 422, "fpb-999")


@pytest.mark.parametrize("operation", ["actions", "undo", "fork", "notes", "verify"])
def test_a_page_of_another_site_writes_nothing(game: FlaskClient, operation: str) -> None:
    body = {
        "actions": {"action": "end_phase"},
        "fork": {"after": 1, "name": "b"},
        "notes": {"event": 1, "text": "x"},
    }
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"}
    answer = game.post(f"{TANARO}/{operation}", json=body.get(operation, {}), headers=elsewhere)
    problem(answer, 403, "another site")
    assert game.get(TANARO).json["events"] == 1


def test_two_who_act_at_once_take_turns(game: FlaskClient) -> None:
    seen = {"If-Match": game.get(TANARO).headers["ETag"]}
    statuses: list[int] = []

    def act() -> None:
        statuses.append(do(game.application.test_client(), seen).status_code)

    threads = [threading.Thread(target=act) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 412, 412, 412]
    assert game.get(TANARO).json["events"] == 2


# Following


class Reader:
    """Reads a stream over a real connection, message by message."""

    def __init__(self, address: str, path: str, headers: dict[str, str] | None = None) -> None:
        parts = urlsplit(address)
        self.connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
        self.connection.request("GET", path, headers=headers or {})
        self.answer = self.connection.getresponse()

    def lines(self) -> Iterator[str]:
        while line := self.answer.readline():
            yield line.decode().rstrip("\n")

    def message(self) -> dict[str, Any]:
        """The next message; comments and what is no event are passed over."""
        told: dict[str, Any] = {}
        for line in self.lines():
            if not line and "data" in told:
                return told
            key, _, value = line.partition(": ")
            if key in ("id", "event"):
                told[key] = value
            elif key == "data":
                told[key] = json.loads(value)
        raise AssertionError("the stream ended")

    def close(self) -> None:
        self.connection.close()
        self.answer.close()


@contextmanager
def followed(demo: URL, databases: Databases, heartbeat: int) -> Iterator[tuple[Serving, CommandLine]]:
    """A real server that has room for two who follow."""
    sightline = CommandLine(databases.make(template=demo.database))
    assert sightline("game", "new", "tanaro-assault", "--name", "tanaro").status == 0
    environment = {
        "SIGHTLINE_DATABASE_URL": sightline.address,
        "SIGHTLINE_STREAMS": "2",
        "SIGHTLINE_STREAM_HEARTBEAT": str(heartbeat),
    }
    with serving(environment=environment) as running:
        yield running, sightline


def test_a_game_is_followed_as_it_is_played_and_again_from_where_one_left(
    demo: URL, databases: Databases
) -> None:
    # a sign of life comes too late to bring the news
    with followed(demo, databases, heartbeat=300) as (running, sightline):
        reader = Reader(running.address, f"{TANARO}/stream")
        assert reader.answer.status == 200
        assert reader.answer.headers["Content-Type"].startswith("text/event-stream")
        now = reader.message()
        assert (now["event"], now["id"], now["data"]["events"]) == ("now", "1", 1)
        # another process writes, and the stream tells it
        sightline("game", "act", "tanaro", "end_phase")
        first = reader.message()
        assert (first["event"], first["id"]) == ("event", "2")
        assert first["data"]["verdict"] == "The support fire phase begins"
        sightline("game", "act", "tanaro", "end_phase")
        assert reader.message()["id"] == "3"
        reader.close()
        again = Reader(running.address, f"{TANARO}/stream", {"Last-Event-ID": "1"})
        assert [again.message()["id"] for _ in range(2)] == ["2", "3"]
        sightline("game", "delete", "tanaro", "--yes")
        assert again.message()["event"] == "gone"
        again.close()


def test_too_many_who_follow_are_sent_away_and_others_are_answered(demo: URL, databases: Databases) -> None:
    with followed(demo, databases, heartbeat=1) as (running, _):
        readers = [Reader(running.address, f"{TANARO}/stream") for _ in range(2)]
        for reader in readers:
            assert reader.message()["event"] == "now"
        third = Reader(running.address, f"{TANARO}/stream")
        assert third.answer.status == 503
        assert int(third.answer.headers["Retry-After"]) > 0
        assert running.answers()
        assert Reader(running.address, f"{GAMES}/nowhere/stream").answer.status == 404
        assert Reader(running.address, f"{TANARO}/stream?after=9").answer.status == 422
        # signs of life come without news, and who goes away makes room
        assert any(line.startswith(":") for line in readers[0].lines())
        readers[0].close()

        def has_room() -> bool:
            late = Reader(running.address, f"{TANARO}/stream")
            late.close()
            return late.answer.status == 200

        wait_until(has_room, 20)
        began = time.monotonic()
        assert running.stop() == 0
        assert time.monotonic() - began < 10
        assert "requests in progress were finished" in running.told()


def test_a_stream_ends_after_its_time_and_news_comes_where_nobody_is_told(
    game: FlaskClient, engine: Engine
) -> None:
    streams = Streams(Settings(stream_seconds=2, stream_heartbeat=1), engine)
    messages = streams.messages("tanaro", 0, View("fpb"))
    assert next(messages).startswith("retry: ")
    assert next(messages).startswith("id: 1\nevent: event\ndata: {")
    # as behind a pooler that keeps no sessions: no word of it reaches the listener
    with engine.begin() as connection:
        connection.execute(sa.text("alter table event disable trigger immutable"))
        connection.execute(
            sa.text(
                "insert into event select (jsonb_populate_record(event, '{\"number\": 2}')).* from event;"
                "update game set events = 2"
            )
        )
    told = list(messages)
    assert sum(message.startswith("id: 2\n") for message in told) == 1
    assert ": still here\n\n" in told


def test_streams_leave_a_thread_for_others_and_none_begins_after_the_end(engine: Engine) -> None:
    alone = Streams(Settings(threads=1), engine)
    assert not alone.take()
    streams = Streams(Settings(threads=2, streams=5), engine)
    assert streams.take()
    assert not streams.take()
    streams.give_back()
    streams.close()
    assert not streams.take()
