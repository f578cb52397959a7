"""The lanes of the web server: what is quick never waits behind what is slow, and who comes when all is full is told so.

Health has a process of its own, the porter (`app.web.porter`), which takes every connection and hands on what is not for
it. waitress gives every request to a dispatcher of threads. Here there are two: one for rulings, games and pages, and one
for what takes no time (files, the word that there is no room, health that the porter did not take for plain).
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import waitress.adjustments
from flask import Flask
from sqlalchemy.engine import Engine
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from app.web.guard import FULL, HEADERS
from app.web.logs import log
from app.web.porter import CONNECTIONS, PROBE_SECONDS, SILENT_SECONDS, Duty
from app.web.site import AWAY, CONTENT_SECURITY_POLICY, DEAF, MOST_SENT
from db import SightlineError
from db.database import CONNECTING, SERVER_FACTS
from db.settings import LOOPBACK, Settings

QUICK = ("/healthz", "/static/", "/drawing.css", "/api/docs/static/", "/api/docs/swagger/")
QUICK_THREADS = 2
LIFE_SECONDS = 0.25
"""How often the web process gives the porter a sign of life."""
PORTER_SECONDS = 1.0
"""Between two starts of a porter, should it end."""
LEAVE_SECONDS = 5
"""How long the porter may take to leave."""


class Admitted:
    """A connection in the lane of what takes time, as a dispatcher takes it; tells when it leaves."""

    def __init__(self, task: Any, left: Callable[[], None]) -> None:
        self._task, self._left = task, left

    def service(self) -> None:
        try:
            self._task.service()
        finally:
            self._left()

    def cancel(self) -> None:
        self._left()
        self._task.cancel()


class Lanes(ThreadedTaskDispatcher):
    """A dispatcher for waitress: itself the lane of what takes time, with another one for what takes none."""

    def __init__(self, threads: int, waiting: int) -> None:
        super().__init__()
        self._room = threads + waiting
        self._inside = 0
        self._counting = threading.Lock()
        self._quick = ThreadedTaskDispatcher()
        self._quick.set_thread_count(QUICK_THREADS)
        self.set_thread_count(threads)

    def add_task(self, task: Any) -> None:
        """Take a connection that has a request to be answered."""
        request = task.requests[0]
        if request.error or request.path.startswith(QUICK):
            self._quick.add_task(task)
        elif not self._let_in():
            request.headers[FULL.removeprefix("HTTP_")] = "1"
            self._quick.add_task(task)
        else:
            super().add_task(cast(Any, Admitted(task, self.let_out)))

    def _let_in(self) -> bool:
        """Whether there is room: who is worked on counts with who waits, since a thread may not have taken them yet."""
        with self._counting:
            if self._inside >= self._room:
                return False
            self._inside += 1
            return True

    def let_out(self) -> None:
        """Somebody was answered, or sent away."""
        with self._counting:
            self._inside -= 1

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        self._quick.shutdown(cancel_pending, timeout)
        return super().shutdown(cancel_pending, timeout)


def bound(settings: Settings) -> list[socket.socket]:
    """Sockets on the loopback address and port; nobody gets in yet. A port that is taken is told."""
    found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets = []
    try:
        for family, kind, protocol, _, address in found:
            sockets.append(one := socket.socket(family, kind, protocol))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            one.bind(address)
    except OSError as error:
        for one in sockets:
            one.close()
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        reason = "is taken" if error.errno == errno.EADDRINUSE else "needs more rights"
        raise SightlineError(
            f"Port {settings.port} on {settings.host} {reason}.",
            "Choose another with --port (or SIGHTLINE_PORT), or stop the program that has it.",
        ) from error
    return sockets


class HandedServer(TcpWSGIServer):
    """A server of waitress whose connections come from the porter; looks after the porter as well."""

    def __init__(
        self, web: Flask, settings: Settings, sockets: dict[int, Any], listeners: list[socket.socket]
    ) -> None:
        self._listeners, self._settings, self._engine = list(listeners), settings, web.config["ENGINE"]
        for listener in listeners:
            listener.setblocking(False)
            listener.listen(CONNECTIONS)
        self._began = self._lived = 0.0
        self._porter, self._channel = self._started()
        super().__init__(
            web,
            sockets,
            _sock=self._channel,
            dispatcher=Lanes(settings.threads, settings.waiting),
            adj=_adjustments(settings),
            sockinfo=(self._channel.family, self._channel.type, 0, None),
            bind_socket=False,
        )

    def getsockname(self) -> tuple[str, str]:
        host, port = self._listeners[0].getsockname()[:2]
        return host, str(port)

    def accept_connections(self) -> None:
        # the porter listens
        self.accepting = True

    def accept(self) -> tuple[socket.socket, Any] | None:
        """A connection that the porter hands on."""
        try:
            told, handed, _, _ = socket.recv_fds(self._channel, 1, 1)
        except BlockingIOError:
            return None
        except OSError:
            told, handed = b"", []
        if not handed:
            if not told:
                self._restart()
            return None
        os.set_inheritable(handed[0], False)
        connection = socket.socket(fileno=handed[0])
        try:
            return connection, connection.getpeername()
        except OSError:
            # its client has gone already
            connection.close()
            return None

    def readable(self) -> bool:
        now = time.monotonic()
        if now - self._lived > LIFE_SECONDS:
            self._lived = now
            with contextlib.suppress(OSError):
                self._channel.send(b".")
        return super().readable()

    def stop_listening(self) -> None:
        """Let nobody in any more; whoever is in is answered."""
        if not self._listeners:
            return
        self.del_channel()
        self._channel.close()
        for listener in self._listeners:
            listener.close()
        self._listeners = []
        try:
            self._porter.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self._porter.kill()

    def close(self) -> None:
        self.stop_listening()
        super().close()

    def handle_close(self) -> None:
        # the porter has gone, which `accept` sees as well
        pass

    def _restart(self) -> None:
        """The porter has ended, which it should not: have another one."""
        self._porter.kill()
        log.error("the porter has ended (%s); another one is started", self._porter.wait())
        time.sleep(max(0.0, self._began + PORTER_SECONDS - time.monotonic()))
        self.del_channel()
        self._channel.close()
        self._porter, self._channel = self._started()
        self.set_socket(self._channel)

    def _started(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """A porter, and the socket that is shared with it."""
        ours, its = socket.socketpair()
        ours.setblocking(False)
        self._began = self._lived = time.monotonic()
        duty = _duty(self._settings, self._engine, self._listeners, its)
        with its:
            porter = subprocess.Popen(
                [sys.executable, "-P", "-m", "app.web.porter"],
                stdin=subprocess.PIPE,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
                pass_fds=[*duty.listeners, duty.web],
            )
        assert porter.stdin is not None
        with contextlib.suppress(BrokenPipeError), porter.stdin as stdin:
            stdin.write(json.dumps(dataclasses.asdict(duty)).encode())
        return porter, ours


def _duty(settings: Settings, engine: Engine, listeners: list[socket.socket], its: socket.socket) -> Duty:
    waited = int(1000 * PROBE_SECONDS)
    return Duty(
        listeners=[listener.fileno() for listener in listeners],
        web=its.fileno(),
        database=engine.url.set(drivername="postgresql").render_as_string(hide_password=False),
        options=f"{CONNECTING['options']} -c statement_timeout={waited} -c lock_timeout={waited}",
        query=SERVER_FACTS,
        away=AWAY.model_dump(exclude_none=True),
        deaf=DEAF.model_dump(exclude_none=True),
        headers=HEADERS | {"Content-Security-Policy": CONTENT_SECURITY_POLICY},
        names=[*LOOPBACK, *settings.host_names],
        log_format=settings.log_format,
        log_level=settings.log_level,
    )


def _adjustments(settings: Settings) -> waitress.adjustments.Adjustments:
    return waitress.adjustments.Adjustments(
        host=settings.host,
        port=settings.port,
        threads=settings.threads,
        ident=None,
        connection_limit=CONNECTIONS,
        channel_timeout=SILENT_SECONDS,
        cleanup_interval=SILENT_SECONDS // 3,
        # to notice that a client has gone while its question is worked on
        channel_request_lookahead=1,
        # a body that is too large is refused by what it says of itself, or cut off: it never fills a disk
        max_request_body_size=MOST_SENT,
    )
