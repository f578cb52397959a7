"""Those who use a house while it is harmed: each sends again what was not answered, and remembers what was."""

from __future__ import annotations

import http.client
import random
import threading
import time
import urllib.error
from collections import Counter
from typing import Any

import psycopg

from db.games import REFEREE
from tests.faults.house import PATIENCE, House, get, post

GAME = "faults"
PASSING = (429, 503, 507)
"""Told as what passes; anything else is a fault of ours."""


class Client(threading.Thread):
    """Does one thing after the other until it is told to stop."""

    def __init__(self, house: House, n: int) -> None:
        super().__init__(daemon=True)
        self.house, self.n = house, n
        self.dice = random.Random(n)
        self.again: Counter[str] = Counter()
        self.wrong: BaseException | None = None
        self._ending = threading.Event()

    def run(self) -> None:
        try:
            k = 0
            while not self._ending.is_set():
                self.one(f"{self.n}/{k}")
                k += 1
                time.sleep(0.05)
        except BaseException as error:
            self.wrong = error

    def leave(self) -> None:
        """Go after what is being done, whatever becomes of it."""
        self._ending.set()

    def end(self) -> None:
        self.leave()
        self.join(6 * PATIENCE)
        assert not self.is_alive(), "it was never answered"
        assert self.wrong is None, self.wrong

    def one(self, key: str) -> None:
        raise NotImplementedError

    def insist(self, path: str, body: Any, key: str | None = None) -> Any:
        """Send it until it is answered."""
        deadline = time.monotonic() + 5 * PATIENCE
        while True:
            try:
                return post(self.house, path, body, key)
            except urllib.error.HTTPError as error:
                if error.code not in PASSING:
                    raise AssertionError(f"{error.code}: {error.read().decode(errors='replace')}") from error
                self.again[str(error.code)] += 1
            except (OSError, ValueError, http.client.HTTPException):
                self.again["cut off"] += 1
            assert time.monotonic() < deadline, f"{key} was never answered"
            time.sleep(0.05)


class Player(Client):
    """Enters actions into one game; each is sent again with the same key until it is acknowledged."""

    def __init__(self, house: House, n: int) -> None:
        super().__init__(house, n)
        self.acknowledged: dict[str, int] = {}

    def one(self, key: str) -> None:
        at = self.dice.choice(["0815", "0716", "0614", "0916"])
        effects = [{"unit": "1/161", "at": at}, {"marker": "captured", "at": at}]
        body = {"action": "set", "arguments": {"effects": effects}, "as": REFEREE, "note": key}
        self.acknowledged[key] = self.insist(f"games/{GAME}/actions", body, key)["number"]


class Asker(Client):
    """Has cases ruled, three questions each, no two alike."""

    QUESTIONS = (
        {"los": {"from": "22.80", "to": "24.77"}},
        {"range": {"from": "22.80", "to": "24.77"}},
        {"trace": {"from": "22.80", "to": "24.77"}},
    )

    def __init__(self, house: House, n: int) -> None:
        super().__init__(house, n)
        self.acknowledged: dict[str, list[Any]] = {}

    def one(self, key: str) -> None:
        case = f"faults-{key.replace('/', '-')}"
        body = {
            "case": case,
            "ruleset": "css",
            "map": {"extent": ["20.76", "26.84"], "fill": {"terrain": "clear", "level": 1}},
            "units": [{"id": case, "side": "us", "at": "22.80"}],
            "ask": list(self.QUESTIONS),
        }
        self.acknowledged[case] = self.insist("rulings", body)


class Watcher(Client):
    """Asks for health: how long it waits, and what it is told."""

    def __init__(self, house: House, n: int = 0) -> None:
        super().__init__(house, n)
        self.waits: list[float] = []
        self.statuses: Counter[int] = Counter()

    def one(self, key: str) -> None:
        began = time.monotonic()
        try:
            self.statuses[get(f"{self.house.address}/healthz", timeout=PATIENCE)[0]] += 1
        except (OSError, http.client.HTTPException):
            self.statuses[0] += 1
        self.waits.append(time.monotonic() - began)


def check_games(house: House, players: list[Player], *, verified: bool = True) -> int:
    """Every acknowledged action is in the log once, in its place, and the log holds; how many there are.

    A log that does not hold never will again: who checks often verifies it as a whole at the end.
    """
    acknowledged = {key: number for player in players for key, number in player.acknowledged.items()}
    with psycopg.connect(house.cluster.url()) as connection:
        rows = connection.execute("select number, note from event order by number").fetchall()
    assert [number for number, _ in rows] == list(range(1, len(rows) + 1)), "numbers without gaps"
    written = Counter(note for _, note in rows[1:])
    assert set(written.values()) <= {1}, "an action was done twice"
    assert written.keys() == acknowledged.keys(), "an acknowledged action was lost"
    assert all(rows[number - 1][1] == key for key, number in acknowledged.items())
    if verified:
        # on the command line, where a long log has the time it takes
        house.load("game", "verify", GAME)
    return len(acknowledged)


def check_rulings(house: House, askers: list[Asker]) -> int:
    """Every acknowledged ruling is kept as it was told, and no case is kept in part; how many there are."""
    with psycopg.connect(house.cluster.url()) as connection:
        rows = connection.execute(
            "select id, case_id, answer from ruling where case_id like 'faults-%'"
        ).fetchall()
    kept = {id: answer for id, _, answer in rows}
    parts = Counter(case for _, case, _ in rows)
    assert set(parts.values()) <= {len(Asker.QUESTIONS)}, "a case was kept in part"
    acknowledged = [ruling for asker in askers for told in asker.acknowledged.values() for ruling in told]
    for ruling in acknowledged:
        assert kept[ruling["ruling"]] == ruling["answer"], "an acknowledged ruling was lost"
    return len(acknowledged)
