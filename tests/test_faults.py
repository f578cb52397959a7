"""Killed at any moment: web process, backend and postmaster; nothing acknowledged is lost, done twice or half done.

Real processes over loopback. A few rounds are part of every run; `SIGHTLINE_FAULTS=300` makes it as many.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg

from db.cluster import Cluster
from db.games import REFEREE
from tests.processes import Serving, folder_of, free_port, python, sightline, wait_until

ROUNDS = int(os.environ.get("SIGHTLINE_FAULTS", "4"))
CLIENTS = 4
GAME = "faults"
VICTIMS = ("web", "backend", "postmaster")
PATIENCE = 60
"""Seconds until a client that is never answered gives up."""


class House:
    """A private server and the web process before it, which can be killed and started again."""

    def __init__(self, home: Path, dice: random.Random) -> None:
        self.dice = dice
        self.port = free_port()
        self.cluster = Cluster(home)
        self.environment = {"SIGHTLINE_HOME": str(home), "SIGHTLINE_THREADS": "8"}
        self.killed: Counter[str] = Counter()
        told = sightline("demo", "load", environment=self.environment, timeout=120)
        assert told.returncode == 0, told.stderr
        self.server = self.start()

    def start(self) -> Serving:
        command = ("-u", "-m", "app", "serve", "--no-demo", "--port", str(self.port))
        process = python(*command, environment=self.environment, stdout=-3)
        server = Serving(process, self.port)
        wait_until(server.answers, PATIENCE)
        return server

    def kill(self, victim: str) -> None:
        if victim == "backend":
            victim = victim if self._kill_backend() else "web"
        if victim == "postmaster":
            pid = int(self.cluster.data.joinpath("postmaster.pid").read_text().split()[0])
            os.kill(pid, signal.SIGKILL)
        if victim in ("web", "postmaster"):
            # who starts next heals what was left
            self.server.process.kill()
            self.server.process.wait(10)
            self.server = self.start()
        self.killed[victim] += 1

    def _kill_backend(self) -> bool:
        """One of those that the web process talks to; none may be left from a kill just before."""
        try:
            with psycopg.connect(self.cluster.url(), autocommit=True) as connection:
                pids = connection.execute(
                    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
                ).fetchall()
        except psycopg.Error:
            # still recovering from the last one
            return False
        if not pids:
            return False
        os.kill(self.dice.choice(pids)[0], signal.SIGKILL)
        return True

    def end(self) -> None:
        if self.server.process.poll() is None:
            self.server.stop()
        sightline("db", "stop", environment=self.environment)


def post(port: int, path: str, body: dict[str, Any], key: str | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1/{path}", json.dumps(body).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        told: dict[str, Any] = json.load(answer)
        return told


class Client(threading.Thread):
    """Enters actions one by one; each is sent again with the same key until it is acknowledged."""

    def __init__(self, house: House, n: int, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self.house, self.n, self.stop = house, n, stop
        self.acknowledged: dict[str, int] = {}
        self.again = 0
        self.wrong: BaseException | None = None

    def run(self) -> None:
        try:
            dice = random.Random(self.n)
            for k in range(1_000_000):
                if self.stop.is_set():
                    return
                self._enter(f"{self.n}/{k}", dice.choice(["0815", "0716", "0614", "0916"]))
        except BaseException as error:
            self.wrong = error

    def _enter(self, key: str, at: str) -> None:
        effects = [{"unit": "1/161", "at": at}, {"marker": "captured", "at": at}]
        body = {"action": "set", "arguments": {"effects": effects}, "as": REFEREE, "note": key}
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.acknowledged[key] = post(self.house.port, f"games/{GAME}/actions", body, key)["number"]
            except urllib.error.HTTPError as error:
                # the database has gone for the moment: anything else is a fault
                if error.code not in (500, 502, 503):
                    raise
            except (OSError, ValueError, http.client.HTTPException):
                pass
            else:
                return
            assert time.monotonic() < deadline, f"{key} was never answered"
            self.again += 1
            time.sleep(0.02)


def test_nothing_acknowledged_is_lost_or_done_twice() -> None:
    dice = random.Random(7)
    with folder_of() as home:
        house = House(home, dice)
        try:
            post(house.port, "games", {"from": "tanaro-assault", "name": GAME, "seed": "faults"})
            stop = threading.Event()
            clients = [Client(house, n, stop) for n in range(CLIENTS)]
            for client in clients:
                client.start()
            for n in range(ROUNDS):
                time.sleep(dice.uniform(0.05, 0.9))
                house.kill(VICTIMS[n % len(VICTIMS)])
            wait_until(house.server.answers, PATIENCE)
            stop.set()
            for client in clients:
                client.join(PATIENCE + 5)
                assert client.wrong is None, client.wrong
            check(house, clients)
        finally:
            house.end()


def check(house: House, clients: list[Client]) -> None:
    acknowledged = {key: number for client in clients for key, number in client.acknowledged.items()}
    with psycopg.connect(house.cluster.url()) as connection:
        rows = connection.execute("select number, note from event order by number").fetchall()
    assert [number for number, _ in rows] == list(range(1, len(rows) + 1)), "numbers without gaps"
    written = Counter(note for _, note in rows[1:])
    assert set(written.values()) <= {1}, "an action was done twice"
    assert written.keys() == acknowledged.keys(), "an acknowledged action was lost"
    assert all(rows[number - 1][1] == key for key, number in acknowledged.items())
    told = post(house.port, f"games/{GAME}/verify", {})
    assert told["ok"], told
    print(
        f"{ROUNDS} rounds, killed {dict(house.killed)}: {len(acknowledged)} actions acknowledged,"
        f" {sum(client.again for client in clients)} sent again"
    )
