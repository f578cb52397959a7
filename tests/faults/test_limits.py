"""What one client may cost the others: how long health waits, and how much memory a request takes, for every route.

`SIGHTLINE_FAULTS=1 ./sightline test tests/faults/test_limits.py -s` prints the figures; without it the requests that
take longest are fewer and stopped earlier.
"""

from __future__ import annotations

import http.client
import json
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
import sqlalchemy as sa
from sqlalchemy.engine import URL, Engine

from app.web import site
from app.web.site import create_app
from app.web.uploads import ENDINGS
from db.database import make_engine
from db.settings import Settings
from tests.bench.large import MILLION, draw_map
from tests.conftest import Databases
from tests.faults.house import LONG
from tests.processes import Serving, get, serving

MOST_MEMORY = 256.0
"""MB that a request may take, in its backend or in the web process."""
MOST_WAIT = 1.0
"""Seconds that anybody may wait for health because of what others ask."""
NAMES = {
    "name": "campaign-island", "ruleset": "css", "number": "7.1", "layer": "hex", "z": "0", "x": "0", "y": "0",
    "chart": "range", "concept": "sight", "id": "hex", "filename": "sightline.css", "ending": "yaml",
}  # fmt: skip
"""What stands in an address; under games, positions and campaigns another name."""
BY_FOLDER = {"positions": "lipata-landing", "games": "limits", "campaigns": "guam-1944"}


def fans(number: int) -> dict[str, Any]:
    """A case of some kilobytes that asks for many fans."""
    asks = [{"fan": {"from": f"{10 + n % 60}.{10 + n // 60}"}} for n in range(number)]
    land = {"extent": ["10.10", "99.99"], "fill": {"terrain": "clear", "level": 1}}
    return {"case": "fans", "ruleset": "css", "map": land, "ask": asks}


EMPTY = b"[" + b",".join([b"[]"] * 2_700_000) + b"]"
"""Eight megabytes, of which a careless reader would make a gigabyte."""
MANY_HEXES = fans(1) | {"map": {"extent": ["10.10", "509.509"], "fill": {"terrain": "clear", "level": 1}}}
MANY_MISTAKES = fans(1) | {"units": [{"id": f"u{n}", "side": "nobody", "at": "00.00"} for n in range(40_000)]}


def far_reach(movement: int) -> dict[str, Any]:
    changes = {"units": {"C/1/31": {"movement": movement}}}
    return {"on": "lipata-landing", "question": {"reach": {"unit": "C/1/31"}}, "changes": changes}


class Meter:
    """Watches a server while it is asked: the longest wait for health, the most memory of any of its processes."""

    def __init__(self, server: Serving, url: URL) -> None:
        self.server, self.url = server, url
        self.address = url.set(drivername="postgresql").render_as_string()
        self.worst_wait = self.before = self.in_web = self.in_backend = 0.0
        self.wrong: list[str] = []

    def _memory(self, pid: int) -> float:
        """MB that a process has to itself: what it shares with others is there once."""
        with suppress(OSError):
            found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
            return int(found[1]) / 1024 if found else 0.0
        return 0.0

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
            f"{what}: {told}; health waited {self.worst_wait:.2f} s at most;"
            f" {self.in_web:.0f} MB more in the web process, {self.in_backend:.0f} MB in a backend"
        )
        assert self.wrong == [], what
        assert self.worst_wait < MOST_WAIT, what
        assert self.in_web < MOST_MEMORY, what
        assert self.in_backend < MOST_MEMORY, what


def ask(
    server: Serving,
    path: str,
    body: Any = None,
    kind: str = "application/json",
    patience: float = 120,
    method: str | None = None,
) -> tuple[int, int]:
    """Status and bytes of an answer."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.address + path, data, {"Content-Type": kind}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=patience) as answer:
            return answer.status, sum(map(len, iter(lambda: answer.read(1 << 16), b"")))
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
        yield Meter(server, url)


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


@pytest.mark.parametrize("path", ["rulings", "ask", "maps", "games/limits/actions"])
@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_eight_megabytes_of_nothing_cost_little(meter: Meter, path: str, kind: str) -> None:
    with meter.watching():
        told, _ = ask(meter.server, f"/api/v1/{path}", EMPTY, f"application/{kind}")
    meter.check(f"8 MB of empty lists to {path} as {kind}", str(told))
    assert told in (415, 422)


def routes(engine: Engine, *methods: str, **named: str) -> list[tuple[str, str]]:
    """Every route that takes one of these methods, with something of the demo, or what is named, in the place of each name."""
    found = set()
    by_folder = BY_FOLDER | named
    for rule in create_app(Settings(log_level="error"), engine).url_map.iter_rules():
        if rule.rule.endswith("/stream"):
            continue
        parts = rule.rule.strip("/").split("/")
        folder = parts[2] if parts[0] == "api" and len(parts) > 2 else parts[0]
        here = NAMES | ({"name": by_folder[folder]} if folder in by_folder else {})
        path = re.sub(r"<int:\w+>", "1", rule.rule)
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda name: here.get(name[1], "x"), path)  # noqa: B023
        found |= {(method, path) for method in methods if method in (rule.methods or ())}
    return sorted(found)


def addresses(engine: Engine, **named: str) -> list[str]:
    """Every route that is read."""
    return [path for _, path in routes(engine, "GET", **named)]


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
    assert max(waits) < MOST_WAIT
    assert answered > 60


FIELDS = sorted(
    {
        name
        for template in Path(site.__file__).with_name("templates").rglob("*.html")
        for name in re.findall(r'name="([\w.]+)"', template.read_text(encoding="utf-8"))
    }
)
"""Every field that any form of the pages has."""


def heavy_bodies(path: str) -> Iterator[tuple[str, str, bytes]]:
    """As much as a route takes, in the forms in which it reads: what is sent, its kind, and the bytes."""
    if path.startswith("/api/"):
        yield "empty lists", "application/json", EMPTY
        yield "one long text", "application/json", b'{"name": "' + b"x" * 7_000_000 + b'"}'
        yield "lines", "application/yaml", b"- a\n" * 1_900_000
        return
    each = b"x" * (400_000 // len(FIELDS))
    yield (
        "every field",
        "application/x-www-form-urlencoded",
        b"&".join(b"%s=%s" % (name.encode(), each) for name in FIELDS),
    )
    yield "many fields", "application/x-www-form-urlencoded", b"a=&" * 2_500_000
    parts = b"".join(
        b'--line\r\nContent-Disposition: form-data; name="%s"; filename="a.yaml"\r\n\r\n%s\r\n'
        % (name, content)
        for name, content in ((b"file", b"- a\n" * 1_500_000), (b"other", b"x" * 1_000_000))
    )
    yield "files", "multipart/form-data; boundary=line", parts + b"--line--\r\n"


@pytest.mark.skipif(not LONG, reason="takes minutes: set SIGHTLINE_FAULTS")
def test_no_route_that_writes_takes_more_memory_than_a_request_may(meter: Meter, engine: Engine) -> None:
    writing = routes(engine, "POST", "PUT", "PATCH", "DELETE")
    assert len(writing) >= 20
    worst = []
    for method, path in writing:
        for what, kind, body in heavy_bodies(path):
            with meter.watching():
                status, _ = ask(meter.server, path, body, kind, method=method)
            worst.append(
                (max(meter.in_web, meter.in_backend), meter.worst_wait, f"{method} {path}: {what}: {status}")
            )
            assert status < 500 or status == 503, worst[-1]
            assert meter.wrong == [], worst[-1]
            assert worst[-1][0] < MOST_MEMORY, worst[-1]
            assert worst[-1][1] < MOST_WAIT, worst[-1]
    print(
        f"{len(writing)} routes that write, {len(worst)} requests; the most:", *sorted(worst)[-3:], sep="\n  "
    )


MILLION_DOORS = (
    "/maps/{}?tool=los&from=500.500&to=503.502",
    "/maps/{}?tool=fan&from=500.500",
    "/maps/{}/picture.svg?box=400.400,600.600",
    "/api/v1/maps/{}/layers/hexes",
    "/api/v1/maps/{}/layers/hexsides",
    "/api/v1/maps/{}/layers/hexes?bbox=60,-100,90,-70",
    "/api/v1/maps/{}/tiles/6/10/10.mvt",
    "/api/v1/maps/{}/ground/1/1/-2",
    "/api/v1/maps/{}/ground/8/0/0",
)
"""Beside the routes as they are: the ways in which a map is looked at."""


def look_at(meter: Meter, paths: list[str]) -> None:
    """Ask for one address after the other, and tell of each what it cost."""
    for path in dict.fromkeys(paths):
        began = time.monotonic()
        with meter.watching():
            status, size = ask(meter.server, path, patience=600)
        meter.check(path, f"{status}, {size:,} bytes after {time.monotonic() - began:.1f} s")
        assert status in (200, 404, 422), path


def million_addresses(engine: Engine, name: str) -> list[str]:
    """Every route that has to do with a map, and every form in which it is asked for."""
    routes = [path for path in addresses(engine, maps=name) if name in path]
    return [
        *routes,
        *(path.format(name) for path in MILLION_DOORS),
        *(f"/maps/{name}/files/{ending}" for ending in ENDINGS),
    ]


@pytest.mark.skipif(not LONG, reason="takes minutes: set SIGHTLINE_FAULTS")
def test_nobody_notices_who_looks_at_a_million_hexes(meter: Meter, engine: Engine) -> None:
    owner = make_engine(meter.url)
    with owner.begin() as connection:
        draw_map(connection, "million", *MILLION)
    look_at(meter, million_addresses(engine, "million"))
    began = time.monotonic()
    with owner.begin() as connection:
        connection.execute(sa.text("delete from map where name = 'million'"))
    print(f"a million hexes deleted after {time.monotonic() - began:.1f} s")
    owner.dispose()
