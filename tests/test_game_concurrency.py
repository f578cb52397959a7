"""Several writers at once: one game takes them one by one, many games do not wait for one another."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from app.play.dice import read_seed
from app.play.games import act, new_game
from app.play.log import Deed, log
from app.play.tables import StaleError, Table, open_game
from app.play.undo import undo
from app.play.verification import verify
from app.referee.questions import forms
from importers.cases import case_of, store_position
from tests.test_play import BOARD

CLIENTS = 8
ACTIONS = 15


def begin(engine: Engine, *names: str) -> list[Table]:
    with engine.begin() as connection:
        position = store_position(connection, case_of(BOARD, "play", forms(), connection).position)
        return [new_game(connection, name, position, seed=read_seed(name)) for name in names]


def march(dice: random.Random, **about: object) -> Deed:
    hexes = [f"{column:02}{row:02}" for column in range(1, 7) for row in range(1, 7)]
    effects = [{"unit": "1/22", "at": dice.choice(hexes)}]
    return Deed("set", {"effects": effects}, "referee", note="a march", **about)  # type: ignore[arg-type]


def together(work: Callable[[int], None]) -> None:
    """Every client at once; what goes wrong in one of them is told here."""
    wrong: list[BaseException] = []

    def run(client: int) -> None:
        try:
            work(client)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(client,)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong, wrong


def test_many_writers_of_one_game_leave_no_gap(own_engine: Engine) -> None:
    begin(own_engine, "crowd")

    def client(n: int) -> None:
        dice = random.Random(n)
        for k in range(ACTIONS):
            with own_engine.begin() as connection:
                act(connection, "crowd", march(dice, key=f"{n}/{k}"))

    together(client)
    with own_engine.connect() as connection:
        table = open_game(connection, "crowd")
        assert [event["number"] for event in log(connection, table)] == list(range(1, CLIENTS * ACTIONS + 2))
        assert verify(connection, table).ok


def test_who_expects_a_number_is_done_or_refused_in_words(own_engine: Engine) -> None:
    begin(own_engine, "race")
    done, refused = [], []

    def client(n: int) -> None:
        dice = random.Random(n)
        for _ in range(ACTIONS):
            with own_engine.connect() as connection:
                seen = open_game(connection, "race").events
            try:
                with own_engine.begin() as connection:
                    done.append(act(connection, "race", march(dice, expected=seen)).number)
            except StaleError as error:
                refused.append(error.message)

    together(client)
    assert sorted(done) == list(range(2, len(done) + 2))
    assert len(done) + len(refused) == CLIENTS * ACTIONS
    assert all("has gone on since event" in message for message in refused)
    with own_engine.connect() as connection:
        assert verify(connection, open_game(connection, "race")).ok


def test_a_repeated_request_is_done_once_however_many_send_it(own_engine: Engine) -> None:
    begin(own_engine, "echo")
    numbers = []

    def client(_: int) -> None:
        for k in range(ACTIONS):
            with own_engine.begin() as connection:
                numbers.append(act(connection, "echo", march(random.Random(k), key=str(k))).number)

    together(client)
    assert sorted(set(numbers)) == list(range(2, ACTIONS + 2))
    assert len(numbers) == CLIENTS * ACTIONS


def test_eight_games_are_played_at_once(own_engine: Engine) -> None:
    names = [f"game-{n}" for n in range(CLIENTS)]
    begin(own_engine, *names)

    def client(n: int) -> None:
        dice = random.Random(n)
        for k in range(ACTIONS):
            with own_engine.begin() as connection:
                act(connection, names[n], march(dice))
                if k % 5 == 4:
                    undo(connection, names[n])

    together(client)
    with own_engine.connect() as connection:
        for name in names:
            table = open_game(connection, name)
            assert table.events == 1 + ACTIONS + ACTIONS // 5
            assert verify(connection, table).ok


def test_a_writer_that_fails_leaves_nothing_half_done(own_engine: Engine) -> None:
    begin(own_engine, "half")

    def interrupted() -> None:
        with own_engine.begin() as connection:
            act(connection, "half", march(random.Random(1)))
            raise RuntimeError("the lights go out")

    with pytest.raises(RuntimeError):
        interrupted()
    with own_engine.connect() as connection:
        table = open_game(connection, "half")
        assert table.events == 1
        assert verify(connection, table).ok


def test_who_listens_is_told_of_every_event(own_engine: Engine) -> None:
    begin(own_engine, "news")
    with own_engine.connect() as connection:
        driver = connection.connection.driver_connection
        driver.autocommit = True  # type: ignore[union-attr]
        driver.execute("listen sightline_game")  # type: ignore[union-attr]
        with own_engine.begin() as writer:
            act(writer, "news", march(random.Random(1)))
        told = next(driver.notifies(timeout=5))  # type: ignore[union-attr]
        assert '"event" : 2' in told.payload
        connection.execute(sa.text("unlisten *"))
