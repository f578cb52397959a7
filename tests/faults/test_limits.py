"""What one client may cost the others: how long health waits, and how much memory a request takes, for every route.

`SIGHTLINE_FAULTS=1 ./sightline test tests/faults/test_limits.py -s` prints the figures; without it the requests that
take longest are fewer and stopped earlier.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy.engine import URL, Engine

from app.web.site import create_app
from db.settings import Settings
from tests.conftest import Databases
from tests.faults.house import rounds
from tests.processes import Serving, get, serving

LONG = rounds(0) > 0
MOST_MEMORY = 256.0
"""MB that a request may take, in its backend or in the web process."""
MOST_WAIT = 1.0
"""Seconds that anybody may wait for health because of what others ask."""
NAMES = {
    "name": "campaign-island", "ruleset": "css", "number": "7.1", "layer": "hex", "z": "0", "x": "0", "y": "0",
    "chart": "range", "concept": "sight", "id": "hex", "filename": "sightline.css",
}  # fmt: skip
"""What stands in an address; under games, positions and campaigns another name."""
BY_FOLDER = {"positions": "lipata-landing", "games": "limits", "campaigns": "guam-1944"}


def fans(number: int) -> dict[str, Any]:
    """A case of some kilobytes that asks for many fans."""
    asks = [{"fan": {"from": f"{10 + n % 60}.{10 + n // 60}"}} for n in range(number)]
    land = {"extent": ["10.10", "99.99"], "fill": {"terrain": "clear", "level": 1}}
    return {"case": "fans", "ruleset": "css", "map": land, "ask": asks}


MANY_HEXES = fans(1) | {"map": {"extent": ["10.10", "509.509"], "fill": {"terrain": "clear", "level": 1}}}
MANY_MISTAKES = fans(1) | {"units": [{"id": f"u{n}", "side": "nobody", "at": "00.00"} for n in range(40_000)]}


def far_reach(movement: int) -> dict[str, Any]:
    changes = {"units": {"C/1/31": {"movement": movement}}}
    return {"on": "lipata-landing", "question": {"reach": {"unit": "C/1/31"}}, "changes": changes}


class Meter:
    """Watches a server while it is asked: the longest wait for health, the most memory of any of its processes."""

    def __init__(self, server: Serving, url: URL) -> None:
        self.server, self.address = server, url.set(drivername="postgresql").render_as_string()
        self.worst_wait = self.before = self.in_web = self.in_backend = self.idle = 0.0
        self.wrong: list[str] = []
        self.slower = 1.0

    def _memory(self, pid: int) -> float:
        """MB that a process has to itself: what it shares with others is there once."""
        with suppress(OSError):
            found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
            return int(found[1]) / 1024 if found else 0.0
        return 0.0

    def note_idle(self) -> None:
        """How long health takes while nobody asks; a machine that is busy with other things is as many times slower."""
        with self.watching():
            time.sleep(3)
        self.idle = self.worst_wait
        self.slower = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))

    @contextmanager
    def watching(self) -> Iterator[None]:
        self.worst_wait = self.in_web = self.in_backend = 0.0
        self.before = self._memory(self.server.process.pid)
        ended = threading.Event()
        threads = [
            threading.Thread(target=look, args=(ended,), daemon=True) for look in (self._wait, self._weigh)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            for thread in threads:
                thread.join(30)

    def _wait(self, ended: threading.Event) -> None:
        while not ended.wait(0.05):
            began = time.monotonic()
            try:
                status, text = get(f"{self.server.address}/healthz", timeout=60)
                if status != 200:
                    self.wrong.append(text)
            except OSError as error:
                self.wrong.append(str(error))
            self.worst_wait = max(self.worst_wait, time.monotonic() - began)

    def _weigh(self, ended: threading.Event) -> None:
        with psycopg.connect(self.address, autocommit=True) as connection:
            while not ended.wait(0.05):
                rows = connection.execute(
                    "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
                ).fetchall()
                self.in_backend = max([self.in_backend, *(self._memory(pid) for (pid,) in rows)])
                self.in_web = max(self.in_web, self._memory(self.server.process.pid) - self.before)

    def check(self, what: str, told: str) -> None:
        print(
            f"{what}: {told}; health waited {self.worst_wait:.2f} s at most (idle {self.idle:.2f},"
            f" load a core {self.slower:.1f});"
            f" {self.in_web:.0f} MB more in the web process, {self.in_backend:.0f} MB in a backend"
        )
        assert self.wrong == [], what
        assert self.worst_wait < MOST_WAIT * self.slower, what
        assert self.in_web < MOST_MEMORY, what
        assert self.in_backend < MOST_MEMORY, what


def ask(server: Serving, path: str, body: Any = None) -> tuple[int, int]:
    """Status and bytes of an answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.address + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, len(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, len(error.read())
    except (OSError, http.client.HTTPException):
        return 0, 0


@pytest.fixture(scope="module")
def meter(databases: Databases, demo_url: URL) -> Iterator[Meter]:
    url = databases.make(demo_url.database)
    environment = {
        "SIGHTLINE_DATABASE_URL": url.set(drivername="postgresql").render_as_string(),
        "SIGHTLINE_LOG_LEVEL": "error",
        "SIGHTLINE_REQUEST_SECONDS": "30" if LONG else "4",
    }
    with serving(environment=environment) as server:
        begun = {"from": "tanaro-assault", "name": "limits", "seed": "x"}
        assert ask(server, "/api/v1/games", begun)[0] == 201
        found = Meter(server, url)
        found.note_idle()
        yield found


def test_many_who_ask_much_at_once_keep_nobody_waiting_for_health(meter: Meter) -> None:
    answers: list[tuple[int, int]] = []
    body = fans(224)
    with meter.watching():
        began = time.monotonic()
        askers = [
            threading.Thread(target=lambda: answers.append(ask(meter.server, "/api/v1/rulings", body)))
            for _ in range(8 if LONG else 3)
        ]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        took = time.monotonic() - began
    size = len(json.dumps(body))
    meter.check(
        f"{len(askers)} cases of {size:,} bytes with 224 fans", f"{sorted(answers)} after {took:.1f} s"
    )
    assert {status for status, _ in answers} <= {200, 503}


@pytest.mark.parametrize(
    ("what", "path", "body", "status", "most"),
    [
        ("a few bytes that declare 250,000 hexes", "/api/v1/rulings", MANY_HEXES, 422, 10_000),
        ("40,000 mistakes", "/api/v1/rulings", MANY_MISTAKES, 422, 200_000),
        ("a reach of 80 points", "/api/v1/ask", far_reach(80), 422, 10_000),
        ("a reach of 30 points", "/api/v1/ask", far_reach(30), 200, 20_000_000),
    ],
)
def test_a_request_that_asks_too_much_costs_little(
    meter: Meter, what: str, path: str, body: Any, status: int, most: int
) -> None:
    with meter.watching():
        began = time.monotonic()
        told, size = ask(meter.server, path, body)
        took = time.monotonic() - began
    meter.check(what, f"{told}, {size:,} bytes after {took:.2f} s")
    assert told == status
    assert size < most


def addresses(engine: Engine) -> list[str]:
    """Every route that is read, with something of the demo in the place of each name."""
    found = []
    for rule in create_app(Settings(log_level="error"), engine).url_map.iter_rules():
        if "GET" not in (rule.methods or ()) or rule.rule.endswith("/stream"):
            continue
        parts = rule.rule.strip("/").split("/")
        folder = parts[2] if parts[0] == "api" and len(parts) > 2 else parts[0]
        named = NAMES | ({"name": BY_FOLDER[folder]} if folder in BY_FOLDER else {})
        path = re.sub(r"<int:\w+>", "1", rule.rule)
        found.append(re.sub(r"<(?:\w+:)?(\w+)>", lambda name: named.get(name[1], "x"), path))  # noqa: B023
    return sorted(found)


def test_no_address_takes_more_memory_than_a_request_may(meter: Meter, engine: Engine) -> None:
    worst: list[tuple[float, str]] = []
    paths = addresses(engine)
    assert len(paths) > 70
    answered = 0
    waits = []
    for path in paths:
        with meter.watching():
            status, _ = ask(meter.server, path)
            time.sleep(0.06)
        answered += status == 200
        assert status < 500 or status == 503, path
        worst.append((max(meter.in_web, meter.in_backend), path))
        waits.append(meter.worst_wait)
        assert worst[-1][0] < MOST_MEMORY, path
    told = ", ".join(f"{path} {memory:.0f} MB" for memory, path in sorted(worst)[-3:])
    print(
        f"{len(paths)} addresses, {answered} answered 200; the most: {told}; health waited {max(waits):.2f} s at most"
    )
    assert answered > 60
