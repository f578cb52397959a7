"""The lanes of the web server: what is quick never waits behind what is slow, and who comes when all is full is told so.

waitress gives every request to a dispatcher of threads. Here there are two: one for rulings, games and pages, and one
for what takes no time (health, files, the word that there is no room).
"""

from __future__ import annotations

from typing import Any

from waitress.server import BaseWSGIServer, MultiSocketServer, create_server
from waitress.task import ThreadedTaskDispatcher

from app.web.guard import FULL
from app.web.site import MOST_SENT
from db.settings import Settings

QUICK = ("/healthz", "/static/", "/drawing.css", "/api/docs/static/", "/api/docs/swagger/")
QUICK_THREADS = 2
CONNECTIONS = 1000
"""At once; beyond it a new one waits to be accepted."""
SILENT_SECONDS = 30
"""A connection that sends nothing for so long, and waits for nothing, is closed: half a request shuts nobody out."""


class Lanes(ThreadedTaskDispatcher):
    """A dispatcher for waitress: itself the lane of what takes time, with another one for what takes none."""

    def __init__(self, threads: int, waiting: int) -> None:
        super().__init__()
        self._waiting = waiting
        self._quick = ThreadedTaskDispatcher()
        self._quick.set_thread_count(QUICK_THREADS)
        self.set_thread_count(threads)

    def add_task(self, task: Any) -> None:
        """Take a connection that has a request to be answered."""
        request = task.requests[0]
        if request.error or request.path.startswith(QUICK):
            self._quick.add_task(task)
        elif len(self.queue) >= self._waiting:
            request.headers[FULL.removeprefix("HTTP_")] = "1"
            self._quick.add_task(task)
        else:
            super().add_task(task)

    def shutdown(self, cancel_pending: bool = True, timeout: int = 5) -> bool:
        self._quick.shutdown(cancel_pending, timeout)
        return super().shutdown(cancel_pending, timeout)


def listening(web: Any, settings: Settings, sockets: dict[int, Any]) -> BaseWSGIServer | MultiSocketServer:
    """A server that listens on loopback, with its lanes and its limits."""
    return create_server(
        web,
        map=sockets,
        _dispatcher=Lanes(settings.threads, settings.waiting),
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
