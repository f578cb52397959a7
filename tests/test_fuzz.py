"""Random play in small: games of all rulesets to their end, with every promise of the log checked; more with `SIGHTLINE_FUZZ=500`."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play import fuzz as playing
from app.play.fuzz import Played, _chosen, fuzz
from app.play.games import act
from app.play.openings import begin
from app.play.records import import_record
from app.play.tables import Table
from app.play.verification import verify
from db.database import fetched

SOME_ACTIONS = 20
"""Of the one ccp game that every run of the tests begins."""
GAMES = int(os.environ.get("SIGHTLINE_FUZZ", "1"))
TURNS = 3 if GAMES <= 2 else 6
"""Of a night of bob: its first minutes, or all of it."""


def played(connection: Connection, scenario: str, mode: str, games: int, seed: str = "tests") -> list[Played]:
    def start(within: Connection, name: str, dice: bytes) -> Table:
        return begin(within, f"scenario:{scenario}", name=name, seed=dice.hex(), options={"mode": mode})

    return list(fuzz(connection, start, games, seed))


@pytest.mark.parametrize("mode", ["solitaire", "two_player"])
@pytest.mark.parametrize("scenario", ["angaur", "engebi"])
def test_random_games_keep_every_promise_and_end(connection: Connection, scenario: str, mode: str) -> None:
    games = played(connection, scenario, mode, GAMES)
    assert [(game.n, game.problem) for game in games if game.problem] == []
    assert all(game.actions["end_phase"] >= 12 for game in games), "a game turn has twelve phases"
    assert connection.scalar(sa.text("select count(*) from game")) == 0, "nothing is kept"


def test_random_nights_on_the_jungle_trail_keep_every_promise_and_end(connection: Connection) -> None:
    def start(within: Connection, name: str, dice: bytes) -> Table:
        return begin(within, "scenario:jungle_trail", name=name, seed=dice.hex(), options={"turns": TURNS})

    games = list(fuzz(connection, start, max(1, GAMES // 2), "tests"))
    assert [(game.n, game.problem) for game in games if game.problem] == []
    assert all(game.actions["pass"] >= TURNS and game.actions["rout"] >= 2 * TURNS for game in games)


@pytest.mark.parametrize("scenario", ["eniwetok", "parry", "guam", "tinian"])
def test_the_other_islands_begin(connection: Connection, scenario: str) -> None:
    table = begin(connection, f"scenario:{scenario}", name="x", seed="tests")
    assert table.house
    assert verify(connection, table).ok


@pytest.mark.parametrize("scenario", ["hanua_patrol", "hanua_ridge"])
def test_random_games_of_ccp_with_hidden_hands_keep_every_promise(
    connection: Connection, scenario: str
) -> None:
    """To their end with `SIGHTLINE_FUZZ`; else the beginning of one, since a game takes a minute or two."""

    def start(within: Connection, name: str, dice: bytes) -> Table:
        # every fifth asks for re-rolls, too: that is a prompt for every roll
        options = {"rerolls": "unasked" if int(name.rpartition("-")[2]) % 5 else "asked"}
        return begin(within, f"scenario:{scenario}", name=name, seed=dice.hex(), options=options)

    whole = "SIGHTLINE_FUZZ" in os.environ
    most = 3_000 if whole else SOME_ACTIONS
    games = list(fuzz(connection, start, GAMES if whole else 1, "p", most=most))
    stopped = None if whole else f"BrokenPromiseError: the game has not ended after {SOME_ACTIONS} actions"
    assert [(game.n, game.problem) for game in games if game.problem not in (None, stopped)] == []
    assert all(game.actions["end_phase"] >= 2 for game in games)
    assert connection.scalar(sa.text("select count(*) from game")) == 0, "nothing is kept"


DDP_ACTIONS = 30
"""Of the one ddp game that every run of the tests begins."""


def test_random_games_of_white_beach_keep_every_promise_and_end(connection: Connection) -> None:
    """A game takes a minute; whole ones with `SIGHTLINE_FUZZ`."""

    def start(within: Connection, name: str, dice: bytes) -> Table:
        return begin(within, "scenario:house-white-beach", name=name, seed=dice.hex())

    whole = "SIGHTLINE_FUZZ" in os.environ
    most = 3_000 if whole else DDP_ACTIONS
    games = list(fuzz(connection, start, GAMES if whole else 1, "tests", most=most))
    broken = [(game.n, game.problem) for game in games if game.problem]
    if whole:
        assert broken == []
        assert all(game.actions["fire_phase"] >= 5 for game in games), "no game ends before turn 5"
    else:
        [game] = games
        assert game.problem is None or f"has not ended after {most} actions" in game.problem
        assert game.actions["fire_phase"] >= 2


CSS_ACTIONS = 40
"""Of the css games that every run of the tests begins."""


@pytest.mark.parametrize("scenario", ["orote", "red-1"])
def test_random_games_of_guam_keep_every_promise_and_end(connection: Connection, scenario: str) -> None:
    """A game takes a minute or two; whole ones with `SIGHTLINE_FUZZ`."""

    def start(within: Connection, name: str, dice: bytes) -> Table:
        return begin(within, f"scenario:{scenario}", name=name, seed=dice.hex())

    whole = "SIGHTLINE_FUZZ" in os.environ
    most = 3_000 if whole else CSS_ACTIONS
    games = list(fuzz(connection, start, GAMES if whole else 1, "tests", most=most))
    broken = [(game.n, game.problem) for game in games if game.problem]
    if whole:
        assert broken == []
    else:
        assert [problem for _, problem in broken] == [
            f"BrokenPromiseError: the game has not ended after {most} actions"
        ]
    assert all(game.actions["end_phase"] >= 5 for game in games)


def test_the_same_seed_plays_the_same_games(connection: Connection) -> None:
    one, two = (played(connection, "engebi", "solitaire", 1, "same") for _ in range(2))
    assert one == two


def test_a_broken_promise_is_told_with_its_record(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(playing, "inverse", lambda changes: changes[:0])
    [game] = played(connection, "engebi", "solitaire", 1)
    assert game.problem is not None
    assert "taken back, leaves something behind" in game.problem
    assert game.record is not None
    assert verify(connection, import_record(connection, game.record, name="broken")).ok


def test_what_the_server_refuses_is_told_with_the_record_so_far(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, acts = act, 0

    def refused(within: Connection, name: str, deed: Any) -> Any:
        nonlocal acts
        entry = done(within, name, deed)
        acts += 1
        # the eighth action of either run
        if acts % 8 == 0:
            fetched(within, "select 1 / (:none - cast(:none as integer))", {"none": 1})
        return entry

    monkeypatch.setattr(playing, "act", refused)
    [game] = played(connection, "engebi", "solitaire", 1)
    assert game.problem is not None
    assert "division by zero" in game.problem
    assert acts == 16, "played again, to write its record"
    assert game.record is not None
    assert verify(connection, import_record(connection, game.record, name="refused")).ok


def test_a_game_that_does_not_end_is_told(connection: Connection) -> None:
    def start(within: Connection, name: str, dice: bytes) -> Table:
        return begin(within, "scenario:engebi", name=name, seed=dice.hex())

    [game] = list(fuzz(connection, start, 1, "x", most=5))
    assert game.problem is not None
    assert "has not ended after 5 actions" in game.problem


@pytest.mark.parametrize("scenario", ["orote", "angaur"])
def test_random_games_of_an_installed_scenario_keep_nobody_waiting(own_engine: Engine, scenario: str) -> None:
    def start(within: Connection, name: str, dice: bytes) -> Table:
        return begin(within, f"scenario:{scenario}", name=name, seed=dice.hex())

    with own_engine.connect() as connection:
        begin(connection, f"scenario:{scenario}", name="installs-it", seed="tests")
        connection.commit()
    with own_engine.connect() as one, own_engine.connect() as other:
        for connection in (one, other):
            connection.execute(sa.text("set lock_timeout = '3s'"))
            connection.commit()
        first = fuzz(one, start, 1, "one", most=12)
        # in the midst of it, its transaction open
        played = playing.play
        begun: list[Played] = []

        def meanwhile(*given: Any, **more: Any) -> Played:
            game = played(*given, **more)
            if not begun:
                begun.append(game)
                begun.extend(fuzz(other, start, 1, "other", most=12))
            return game

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(playing, "play", meanwhile)
            assert len(list(first)) == 1
    assert [game.problem for game in begun] == 2 * [
        "BrokenPromiseError: the game has not ended after 12 actions"
    ]


def test_a_random_player_chooses_as_many_as_are_wanted() -> None:
    prompt = {"choice": "units", "options": ["a", "b", "c"], "many": True, "default": ["a", "b"]}
    assert all(_chosen(prompt, random.Random(n)) == {"units": ["a", "b"]} for n in range(9))
