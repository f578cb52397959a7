"""`sightline serve`: pages and API on a loopback address."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click
import psycopg
from sqlalchemy.engine import Engine
from waitress import wasyncore
from waitress.channel import HTTPChannel

from app.terminal.output import say
from app.web.lanes import HandedServer, bound
from app.web.site import create_app
from db import SightlineError
from db.cluster import Cluster
from db.database import open_database, open_doors, private_cluster
from db.settings import LOOPBACK, Settings, load_settings
from importers.demo.load import load_demo

LISTEN_SECONDS = 0.5
"""How long a stop signal may go unnoticed."""
LOOK_SECONDS = 1.0
"""How often somebody looks whether the private server lives."""
LONGEST_PAUSE = 60.0
"""Between two tries to start it."""
SWITCH_SECONDS = 0.0005
"""After so long a thread that computes lets another one have a turn: whoever is answered quickly has many small ones."""
FINISH_SECONDS = 30
"""How long a request in progress may take after a stop signal."""


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on.  [default: 8765]")
@click.option("--host", type=click.Choice(LOOPBACK), help="Loopback address.  [default: 127.0.0.1]")
@click.option("--demo/--no-demo", default=True, help="Load the demo maps into an empty database.")
def serve(port: int | None, host: str | None, demo: bool) -> None:
    """Serve the pages and the API until interrupted.

    Starts the private server if need be, brings the schema up to date and, in a database
    without maps, loads the demo.

    \b
    Examples:
      sightline serve
      sightline serve --port 9000 --no-demo
      SIGHTLINE_DATABASE_URL=postgresql://me@db/sightline sightline serve
    """
    settings = load_settings().model_copy(
        update={name: value for name, value in (("port", port), ("host", host)) if value is not None}
    )
    listeners = bound(settings)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    cluster = private_cluster(settings)
    was_running = cluster is not None and cluster.alive()
    try:
        engine = _opened(settings, demo)
        try:
            with _kept_alive(cluster):
                _serve(settings, engine, listeners)
        finally:
            engine.dispose()
    finally:
        if cluster is not None and not was_running and not _in_use(cluster) and cluster.stop():
            say("stopped the private server")


def _opened(settings: Settings, demo: bool) -> Engine:
    """The database, current and not without maps, as the role of the web server."""
    owner = open_database(settings, say=say, step=lambda step: say(f"… {step}"), serving=True)
    try:
        if demo:
            load_demo(owner, say)
    finally:
        owner.dispose()
    return open_doors(settings, say=say, serving=True)


@contextmanager
def _kept_alive(cluster: Cluster | None) -> Iterator[None]:
    """Start the private server again when it has died; one that somebody stopped stays stopped."""
    ended = threading.Event()

    def look() -> None:
        assert cluster is not None
        pause, dead = LOOK_SECONDS, False
        while not ended.wait(pause):
            # one that failed to start may have left no sign that it had died
            dead = dead or cluster.died()
            if not dead:
                continue
            try:
                cluster.start()
                pause, dead = LOOK_SECONDS, False
                say("the private server had died; started it again")
            except (SightlineError, psycopg.Error, OSError) as error:
                pause = min(2 * pause, LONGEST_PAUSE)
                why = " ".join(str(error).split())
                say(f"the private server has died and does not start: {why} Trying again in {pause:g} s")

    keeper = threading.Thread(target=look, name="keeper", daemon=True)
    if cluster is not None:
        keeper.start()
    try:
        yield
    finally:
        ended.set()
        if cluster is not None:
            keeper.join(timeout=FINISH_SECONDS)


def _serve(settings: Settings, engine: Engine, listeners: list[socket.socket]) -> None:
    """Serve until a signal comes, then finish the requests in progress."""
    sys.setswitchinterval(SWITCH_SECONDS)
    sockets: dict[int, Any] = {}
    web = create_app(settings, engine)
    server = HandedServer(web, settings, sockets, listeners)
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: stopping.set())
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    say(f"serving http://{host}:{settings.port} (stop with Ctrl-C)")
    while not stopping.is_set():
        wasyncore.loop(timeout=LISTEN_SECONDS, use_poll=True, map=sockets, count=1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    web.config["STREAMS"].close()
    server.stop_listening()
    cut = _finish_requests(sockets)
    server.task_dispatcher.shutdown(timeout=1)
    say(f"stopped; {cut} requests were cut off" if cut else "stopped; requests in progress were finished")


def _finish_requests(sockets: dict[int, Any]) -> int:
    """Answer what was asked; how many requests were still open when time was up."""
    deadline = time.monotonic() + FINISH_SECONDS
    open_requests = 1
    while open_requests and time.monotonic() < deadline:
        wasyncore.loop(timeout=0.1, use_poll=True, map=sockets, count=1)
        channels = [found for found in sockets.values() if isinstance(found, HTTPChannel)]
        open_requests = sum(1 for one in channels if one.requests or one.request or one.total_outbufs_len)
    return open_requests


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _in_use(cluster: Cluster) -> bool:
    """Whether somebody else uses the private server right now."""
    try:
        with psycopg.connect(cluster.url(), connect_timeout=3) as connection:
            others = connection.execute(
                "select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
            ).fetchone()
            return others is not None
    except psycopg.Error:
        return False


COMMANDS = [serve]
