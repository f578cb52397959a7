"""`sightline serve`: pages and API on a loopback address."""

from __future__ import annotations

import errno
import signal
import socket
from types import FrameType

import click
import sqlalchemy as sa
from sqlalchemy.engine import Engine
from waitress.server import create_server

from app.output import say
from app.web import create_app
from db import SightlineError
from db.database import open_database, private_cluster
from db.settings import LOOPBACK, Settings, load_settings
from importers.demo_data import load_demo


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
    _refuse_taken_port(settings)
    cluster = private_cluster(settings)
    was_running = cluster is not None and cluster.alive()
    engine = open_database(settings, say=say, step=lambda step: say(f"… {step}"))
    try:
        if demo:
            load_demo(engine, say)
        _serve(settings, engine)
    finally:
        if cluster is not None and not was_running and not _others_connected(engine):
            engine.dispose()
            cluster.stop()
            say("stopped the private server")


def _refuse_taken_port(settings: Settings) -> None:
    """Say so before anything is set up, rather than after."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            reason = "is taken" if error.errno == errno.EADDRINUSE else "needs more rights"
            raise SightlineError(
                f"Port {settings.port} on {settings.host} {reason}.",
                "Choose another with --port (or SIGHTLINE_PORT), or stop the program that has it.",
            ) from error


def _serve(settings: Settings, engine: Engine) -> None:
    app = create_app(settings, engine)
    server = create_server(
        app, host=settings.host, port=settings.port, threads=settings.threads, ident=None
    )
    signal.signal(signal.SIGTERM, _stop)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    say(f"serving http://{host}:{settings.port} (stop with Ctrl-C)")
    server.run()
    server.close()
    say("stopped; requests in progress were finished")


def _stop(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def _others_connected(engine: Engine) -> bool:
    """Whether somebody else uses the private server right now."""
    try:
        with engine.connect() as connection:
            return bool(
                connection.scalar(
                    sa.text(
                        "select count(*) from pg_stat_activity where backend_type = 'client backend'"
                        " and (application_name <> 'sightline' or datname <> current_database())"
                    )
                )
            )
    except sa.exc.DBAPIError:
        return True


COMMANDS = [serve]
