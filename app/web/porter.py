"""The porter: a process of its own at the door, which tells health itself and hands everybody else on.

Whatever keeps the web process busy, the porter is idle. It takes every connection and looks, without reading it, at how
the first request begins. A plain `GET /healthz` it answers: by asking the database, and by whether the web process has
lately given a sign of life. Any other connection it hands on as it is (its file descriptor, over a socket that both
share). It ends when the web process does; should it end itself, the web process starts another (`app.web.lanes`).
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import queue
import re
import resource
import secrets
import selectors
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import psycopg

from app.web.logs import configure, log_request
from db import __version__
from db.budget import cut

CONNECTIONS = 1000
"""That have not yet said what they want; beyond it a new one waits to be accepted."""
SILENT_SECONDS = 30
"""A connection that says nothing for so long is closed."""
PROBE_SECONDS = 2.0
"""How long the database may take to connect, and how long to answer."""
DEAF_SECONDS = 10.0
"""A web process that gives no sign of life for so long does not answer."""
MOST_HEAD = 8192
"""Bytes; a longer head is the web process's to read."""
PLAIN = re.compile(r"GET /healthz(?:\?([\x21-\x7e]*))? HTTP/1\.([01])")
NOT_PLAIN = ("content-length", "transfer-encoding", "expect", "upgrade", "origin", "sec-fetch-site")
"""Headers of a request that wants more thought: the web process has it."""
REASONS = {200: "OK", 503: "Service Unavailable"}


def health(server: str, postgis: str, revision: str | None) -> dict[str, Any]:
    """What is told of a server that answers."""
    return {
        "status": "ok",
        "version": __version__,
        "server": server,
        "postgis": postgis,
        "revision": revision,
    }


@dataclasses.dataclass(frozen=True)
class Duty:
    """What the web process tells the porter when it begins."""

    listeners: list[int]
    """File descriptors of the sockets that listen."""
    web: int
    """File descriptor of the socket that is shared with the web process."""
    database: str
    options: str
    query: str
    """Asks for what is told of a healthy server, in one row."""
    away: dict[str, Any]
    """The problem that is told where the database does not answer."""
    deaf: dict[str, Any]
    """The problem that is told where the web process does not."""
    headers: dict[str, str]
    names: list[str]
    log_format: str
    log_level: str


@dataclasses.dataclass(frozen=True)
class Request:
    """A plain request for health."""

    length: int
    """Bytes of its head."""
    query: str
    request_id: str
    keep: bool
    """Whether its connection stays open."""
    began: float


def plain_request(data: bytes, names: list[str]) -> Request | None:
    """The request for health that some bytes begin with, if they do and all about it is plain."""
    head, end, _ = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    asked = PLAIN.fullmatch(first)
    if not end or asked is None:
        return None
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name) or name.lower() in headers:
            return None
        headers[name.lower()] = value.strip()
    host = headers.get("host", "").lower()
    bare = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if bare not in names or any(name in headers for name in NOT_PLAIN):
        return None
    given = headers.get("x-request-id", "")
    return Request(
        len(head) + len(end),
        asked[1] or "",
        given if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else secrets.token_hex(8),
        asked[2] == "1" and headers.get("connection", "").lower() != "close",
        time.perf_counter(),
    )


class Pulse:
    """Asks the database, in a thread of its own: nobody waits but those who want to know."""

    def __init__(self, duty: Duty, told: Callable[[], object]) -> None:
        self._duty, self._told = duty, told
        self._questions: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._connection: psycopg.Connection | None = None
        self._since: float | None = None
        self.facts: dict[str, Any] | None = None
        threading.Thread(target=self._answer, name="pulse", daemon=True).start()

    def ask(self) -> None:
        """Find out anew; `told` is called when `facts` are there, None where the database is away."""
        self._since = time.monotonic()
        self._questions.put(self._since)

    def hurry(self) -> None:
        """Cut off a database that takes too long."""
        connection = self._connection
        if (
            self._since is not None
            and connection is not None
            and time.monotonic() - self._since > PROBE_SECONDS
        ):
            cut(connection)

    def end(self) -> None:
        if self._since is None and self._connection is not None:
            self._connection.close()

    def _answer(self) -> None:
        while True:
            self._questions.get()
            self.facts = self._found()
            self._since = None
            self._told()

    def _found(self) -> dict[str, Any] | None:
        # what lay unused may have gone meanwhile, which says nothing of the server: then once more
        for kept in (True, False):
            if kept and self._connection is None:
                continue
            try:
                if self._connection is None:
                    self._connection = psycopg.connect(
                        self._duty.database, autocommit=True, options=self._duty.options,
                        connect_timeout=int(PROBE_SECONDS), application_name="sightline",
                    )  # fmt: skip
                row = self._connection.execute(self._duty.query).fetchone()
                return None if row is None else health(*row)
            except psycopg.Error:
                if self._connection is not None:
                    self._connection.close()
                self._connection = None
        return None


class Porter:
    """One loop over all sockets; it never waits for anybody."""

    def __init__(self, duty: Duty) -> None:
        self._duty = duty
        self._select = selectors.DefaultSelector()
        self._listeners = [socket.socket(fileno=number) for number in duty.listeners]
        self._web = socket.socket(fileno=duty.web)
        self._heard = time.monotonic()
        self._silent: dict[socket.socket, float] = {}
        self._leaving: deque[socket.socket] = deque()
        self._waiting: list[tuple[socket.socket, Request]] = []
        self._probed: list[tuple[socket.socket, Request]] = []
        bell, self._bell = socket.socketpair()
        self._pulse = Pulse(duty, lambda: bell.send(b"."))
        self._accepting = False
        for one in (self._web, self._bell):
            one.setblocking(False)
        self._select.register(self._web, selectors.EVENT_READ, self._hear)
        self._select.register(self._bell, selectors.EVENT_READ, self._tell)

    def serve(self) -> None:
        """Until the web process ends."""
        try:
            while True:
                self._take_more()
                for key, _ in self._select.select(0.5):
                    # what was handed on meanwhile is no longer here
                    if key.fileobj in self._select.get_map():
                        key.data(key.fileobj)
                self._hand_on()
                self._close_silent()
                self._pulse.hurry()
        finally:
            self._pulse.end()

    def _take_more(self) -> None:
        room = len(self._silent) + len(self._leaving) + len(self._waiting) + len(self._probed) < CONNECTIONS
        if room != self._accepting:
            for listener in self._listeners:
                if room:
                    self._select.register(listener, selectors.EVENT_READ, self._accept)
                else:
                    self._select.unregister(listener)
            self._accepting = room

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            connection.setblocking(False)
            self._listen_to(connection)

    def _listen_to(self, connection: socket.socket) -> None:
        self._silent[connection] = time.monotonic()
        self._select.register(connection, selectors.EVENT_READ, self._look)

    def _look(self, connection: socket.socket) -> None:
        """See what a connection wants, and leave it where it is."""
        try:
            seen = connection.recv(MOST_HEAD, socket.MSG_PEEK)
        except BlockingIOError:
            return
        except OSError:
            seen = b""
        self._select.unregister(connection)
        del self._silent[connection]
        if not seen:
            connection.close()
            return
        request = plain_request(seen, self._duty.names)
        if request is None:
            self._leaving.append(connection)
            return
        connection.recv(request.length)
        self._waiting.append((connection, request))
        self._ask()

    def _ask(self) -> None:
        """Ask the database for all who wait; whoever comes while it is asked waits for the next answer."""
        if self._waiting and not self._probed:
            self._probed, self._waiting = self._waiting, []
            self._pulse.ask()

    def _tell(self, bell: socket.socket) -> None:
        bell.recv(1)
        facts, told = self._pulse.facts, self._probed
        self._probed = []
        if facts is None:
            answer = 503, self._duty.away
        elif time.monotonic() - self._heard > DEAF_SECONDS:
            answer = 503, self._duty.deaf
        else:
            answer = 200, facts
        for connection, request in told:
            self._answer(connection, request, *answer)
        self._ask()

    def _answer(self, connection: socket.socket, request: Request, status: int, told: dict[str, Any]) -> None:
        kind = "application/json" if status == 200 else "application/problem+json"
        told = told if status == 200 else told | {"instance": request.request_id}
        body = json.dumps(told, ensure_ascii=False).encode()
        headers = self._duty.headers | {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "X-Request-ID": request.request_id,
            "Connection": "keep-alive" if request.keep else "close",
        }
        if status != 200:
            headers["Retry-After"] = "1"
        lines = [
            f"HTTP/1.1 {status} {REASONS[status]}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        try:
            connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        except OSError:
            request = dataclasses.replace(request, keep=False)
        log_request(
            "GET", "/healthz", request.query, status, request.request_id, time.perf_counter() - request.began
        )
        if request.keep:
            self._listen_to(connection)
        else:
            connection.close()

    def _hand_on(self) -> None:
        """Give connections to the web process, as many as it takes."""
        if not self._leaving:
            return
        while self._leaving:
            try:
                socket.send_fds(self._web, [b"."], [self._leaving[0].fileno()])
            except OSError:
                # it has its hands full: when it takes more
                self._select.modify(self._web, selectors.EVENT_READ | selectors.EVENT_WRITE, self._hear)
                return
            self._leaving.popleft().close()
        self._select.modify(self._web, selectors.EVENT_READ, self._hear)

    def _close_silent(self) -> None:
        now = time.monotonic()
        for connection, since in list(self._silent.items()):
            if now - since <= SILENT_SECONDS:
                break
            self._select.unregister(connection)
            del self._silent[connection]
            connection.close()

    def _hear(self, web: socket.socket) -> None:
        """A sign of life of the web process, or its end."""
        try:
            heard = web.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            heard = b""
        if not heard:
            raise SystemExit(0)
        self._heard = time.monotonic()


def main() -> None:
    """Read the duty from standard input, and do it."""
    # a signal to all is the web process's to obey: the porter leaves with it
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4 * CONNECTIONS) if most > 0 else most, most))
    duty = Duty(**json.load(sys.stdin))
    configure(duty.log_format, duty.log_level)
    Porter(duty).serve()


if __name__ == "__main__":
    main()
