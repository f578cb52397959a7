"""Measuring at the doors: questions over loopback HTTP, beside a page of the same server that asks nobody.

The ratio to that constant page is what asking costs; the ratio to the SQL function alone is what
the door costs. Clients are threads with a socket each, which send the same bytes again and again.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import secrets
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Engine

from db.database import fetched
from db.map_draft import MapDraft
from db.settings import CHECKOUT, LOOPBACK
from importers.maps import store_map
from tests.bench import RADIUS, BenchError, Measure
from tests.bench.server import CONSTANT
from tests.dense_board import Shape, dense_board

POSITION = "lipata-landing"
CLIENTS = (1, 8)
SECONDS = 180
"""How long the server may take to start."""
QUESTIONS = {
    "los": ({"from": "13.15", "to": "14.12"}, "positions.line({}, '13.15', '14.12')"),
    "fan": ({"from": "13.15", "range": 8}, "positions.viewshed({}, '13.15', 8)"),
    "fire_zone": ({"unit": "C/1/31"}, "css.fire_zone({}, 'C/1/31')"),
    "reach": ({"unit": "C/1/31"}, "css.reach({}, 'C/1/31')"),
}
"""A question of each kind on a position of the demo, and the function that answers it."""
DENSE = ("bob", "ccp")
"""Games with drawn terrain: lines and fans are asked on a board as dense as printed ones."""


@dataclasses.dataclass(frozen=True)
class Door:
    """A question that is asked at the doors: in which words, and by which function it is answered."""

    name: str
    board: str
    question: dict[str, Any]
    function: str
    target: float | None = None
    """The share of the constant page's throughput that is wanted."""


def measure_doors(engine: Engine, times: int, say: Callable[[str], None]) -> list[Measure]:
    """Requests a second of the API, as shares of those of a constant page, and medians beside the function's."""
    with dense_boards(engine) as boards:
        doors = [*_demo_doors(engine), *(door for board in boards for door in _dense_doors(engine, *board))]
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            alone = {
                door.name: _median(
                    times, functools.partial(fetched, connection, f"select * from {door.function}", {})
                )
                for door in doors
            }
        requests = {
            door.name: _request("/api/v1/ask", {"on": door.board, "question": door.question})
            for door in doors
        }
        requests[CONSTANT] = _request(CONSTANT, {"on": POSITION, "question": doors[0].question})
        with server(engine) as running:
            for request in requests.values():
                _run(running.port, request, clients=1, times=8)
            return [
                measure
                for clients in CLIENTS
                for measure in _at_doors(running.port, requests, doors, alone, clients, times, say)
            ]


def _at_doors(
    port: int,
    requests: dict[str, bytes],
    doors: list[Door],
    alone: dict[str, float],
    clients: int,
    times: int,
    say: Callable[[str], None],
) -> Iterator[Measure]:
    told = f"API, {clients} client{'s' * (clients > 1)}"
    say(f"doors: {told}")
    found = rates(port, requests, clients, times)
    constant = found[CONSTANT]
    yield Measure(f"{told}: constant page", 1000 * clients / constant)
    for door in doors:
        rate = found[door.name]
        share = rate / constant
        target, met = (f"≥ {door.target}", share >= door.target) if door.target else ("", None)
        against = "constant page, throughput"
        yield Measure(f"{told}: {door.name}", 1000 * clients / rate, against, share, target, met)
        if clients == 1:
            function = alone[door.name]
            name = f"{door.name}: the SQL function alone"
            yield Measure(name, function, f"{told}: {door.name}", 1000 / rate / function)


def _demo_doors(engine: Engine) -> Iterator[Door]:
    with engine.connect() as connection:
        position = connection.scalar(
            sa.text("select id from position where name = :name"), {"name": POSITION}
        )
    if position is None:
        raise BenchError(f"There is no position {POSITION!r}.", "Load the demo: ./sightline demo load.")
    for kind, (told, function) in QUESTIONS.items():
        target = 0.5 if kind == "los" else None
        yield Door(kind, POSITION, {kind: told}, function.format(position), target)


@contextmanager
def dense_boards(engine: Engine) -> Iterator[list[tuple[str, MapDraft]]]:
    """Boards of hills as dense as printed ones, which are really there for a while; each with its name."""
    boards = [
        (f"bench-{ruleset}-{secrets.token_hex(4)}", dense_board(Shape(ruleset, 346, True)))
        for ruleset in DENSE
    ]
    try:
        for name, board in boards:
            with engine.begin() as connection:
                store_map(connection, dataclasses.replace(board, name=name, title=name))
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("analyze hex, terrain_area, crest, drawn_hex, drawn_edge"))
        yield boards
    finally:
        with engine.begin() as connection:
            names = [name for name, _ in boards]
            connection.execute(sa.text("delete from map where name = any(:names)"), {"names": names})


def _dense_doors(engine: Engine, name: str, board: MapDraft) -> Iterator[Door]:
    """A line and a fan from the middle of a dense board; asked again and again, both are kept."""
    with engine.connect() as connection:
        position = connection.scalar(
            sa.text(
                "select position.id from position join map on map.id = map_id where map.name = :name and bare"
            ),
            {"name": name},
        )
    hexes = sorted(board.hexes)
    middle = hexes[len(hexes) // 2]
    start, target = (
        board.scheme.label(hex)
        for hex in (middle, next(hex for hex in hexes if middle.distance(hex) == RADIUS))
    )
    game = f"dense board of {board.ruleset}"
    line = {"from": start, "to": target}
    yield Door(f"{game}, los", name, {"los": line}, f"positions.line({position}, '{start}', '{target}')")
    fan = {"from": start, "range": RADIUS}
    yield Door(f"{game}, fan", name, {"fan": fan}, f"positions.viewshed({position}, '{start}', {RADIUS})")


def _median(times: int, ask: Callable[[], object]) -> float:
    taken = []
    for _ in range(times + 5):
        started = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - started)
    return 1000 * sorted(taken[5:])[times // 2]


def rates(port: int, requests: dict[str, bytes], clients: int, times: int) -> dict[str, float]:
    """Requests a second of each kind: the middle of some rounds, in which all have their turn."""
    rounds: dict[str, list[float]] = {kind: [] for kind in requests}
    for _ in range(5):
        for kind, request in requests.items():
            rounds[kind].append(_run(port, request, clients, max(2, times // clients)))
    return {kind: sorted(found)[2] for kind, found in rounds.items()}


def _run(port: int, request: bytes, clients: int, times: int) -> float:
    """Requests a second, each client sending the next when the last is answered."""
    failed: list[BaseException] = []
    ready = threading.Barrier(clients + 1)

    def send() -> None:
        try:
            with socket.create_connection((LOOPBACK[0], port)) as connection:
                ready.wait()
                for _ in range(times):
                    connection.sendall(request)
                    _read(connection)
        except BaseException as error:
            failed.append(error)
            ready.abort()

    threads = [threading.Thread(target=send) for _ in range(clients)]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
    except threading.BrokenBarrierError:
        raise BenchError(f"The server does not answer: {failed[0]}") from None
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    if failed:
        raise BenchError(f"A request failed: {failed[0]}")
    return clients * times / (time.perf_counter() - started)


def _request(path: str, body: object) -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def _read(connection: socket.socket) -> None:
    """One answer, whole; any but 200 is an error."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _received(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise BenchError(f"The server answered {head.splitlines()[0].decode()!r}: {body[:300].decode()}")
    length = next(
        int(line.split(b":")[1]) for line in head.lower().splitlines() if line.startswith(b"content-length")
    )
    left = length - len(body)
    while left > 0:
        left -= len(_received(connection))


def _received(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 16)
    if not data:
        raise BenchError("The server closed the connection.")
    return data


class Server:
    """A web app in a process of its own, to be asked."""

    def __init__(self, port: int, pid: int) -> None:
        self.port, self.pid = port, pid

    def get(self, path: str, *headers: str) -> bytes:
        """A request for a page as a browser makes it."""
        lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", "Accept-Encoding: gzip", *headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def run(self, request: bytes, clients: int, times: int) -> float:
        """Requests a second."""
        return _run(self.port, request, clients, times)

    def answer(self, path: str) -> Any:
        """What a page of the API says."""
        with self._opened(path) as answer:
            return json.load(answer)

    def has(self, path: str) -> bool:
        try:
            self._opened(path).close()
        except urllib.error.HTTPError:
            return False
        return True

    def drain(self, path: str) -> int:
        """Read an answer to its end, however long it is, and forget it; its bytes."""
        read = 0
        with self._opened(path) as answer:
            while piece := answer.read(1 << 16):
                read += len(piece)
        return read

    def _opened(self, path: str) -> Any:
        return urllib.request.urlopen(f"http://{LOOPBACK[0]}:{self.port}{path}")


@contextmanager
def server(engine: Engine) -> Iterator[Server]:
    """The web app in a process of its own, on a free port of loopback."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK[0], 0))
        port = int(probe.getsockname()[1])
    url = engine.url.render_as_string(hide_password=False)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "tests.bench.server", url, str(port), "8"],
        env={"PYTHONPATH": str(CHECKOUT), "PATH": "/usr/bin:/bin"},
        cwd=CHECKOUT,
    )
    try:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                socket.create_connection((LOOPBACK[0], port), timeout=1).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise BenchError("The web app does not start.") from None
                time.sleep(0.1)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait(10)
