"""The way to the database: which server, as whom, is it good enough, is its schema current.

`open_database()` is for who writes what only the owner may: it starts the private cluster if that is the server in
use, refuses a server that is too old or lacks PostGIS, and brings the schema up to date before it hands out an
engine. `open_doors()` is for pages, API and questions: the same, and then an engine of the web role (`db.roles`).
"""

from __future__ import annotations

import dataclasses
import functools
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import sqlalchemy as sa
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.json import Jsonb
from sqlalchemy.engine import URL, Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from db import SightlineError
from db.budget import CANCELLED, check, current
from db.cluster import OLDEST_SERVER, Cluster
from db.roles import WEB, as_web, might
from db.schema import Step, grant_web_rights, is_current, others_connected, upgrade
from db.settings import Settings, load_settings

OLDEST_POSTGIS = (3, 2)
IDLE_SECONDS = 1.0
"""After so long unused, a connection is tried before it is used again."""
CONNECTING: dict[str, Any] = {
    "connect_timeout": 10,
    "application_name": "sightline",
    # maps are edited under READ COMMITTED only, whatever a server's own default is
    "options": "-c jit=off -c default_transaction_isolation=read\\ committed",
}
SERVER_FACTS = (
    "select current_setting('server_version') as postgresql, postgis_lib_version() as postgis,"
    " (select max(version_num) from alembic_version) as revision"
)
TURNS = 0x51647413
"""Advisory lock, with a name: those who replace the same thing take turns."""
FORM = "Write it as postgresql://user:password@host:port/database."
Say = Callable[[str], None]


class DatabaseError(SightlineError):
    """The database cannot be used; the message says why and what to do."""


def silent(_: str) -> None:
    """Say nothing."""


@dataclasses.dataclass(frozen=True)
class ServerFacts:
    """What `/healthz` and `db status` tell of the server."""

    postgresql: str
    postgis: str
    revision: str | None


def private_cluster(settings: Settings | None = None) -> Cluster | None:
    """The private cluster, unless `SIGHTLINE_DATABASE_URL` points elsewhere."""
    settings = settings or load_settings()
    return None if settings.database_url else Cluster(settings.data_home)


def database_url(settings: Settings | None = None) -> URL:
    """The address of the database in use, as its owner; as SQLAlchemy wants it."""
    settings = settings or load_settings()
    if settings.database_url:
        return _read_url(settings.database_url, "SIGHTLINE_DATABASE_URL")
    return _read_url(Cluster(settings.data_home).url(), "")


def web_url(settings: Settings | None = None) -> URL:
    """The address of the same database as the role that pages, API and questions connect as."""
    settings = settings or load_settings()
    if settings.web_database_url is None:
        return as_web(database_url(settings))
    if settings.database_url is None:
        raise DatabaseError(
            "SIGHTLINE_WEB_DATABASE_URL is set, and SIGHTLINE_DATABASE_URL is not.",
            "Set both, or neither to use the private cluster.",
        )
    return _read_url(settings.web_database_url, "SIGHTLINE_WEB_DATABASE_URL")


def _read_url(text: str, variable: str) -> URL:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise DatabaseError(f"{variable} is not a database address.", FORM) from error
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise DatabaseError(
            f"{variable} names a {url.get_backend_name()} database; Sightline needs PostgreSQL.", FORM
        )
    if not url.database:
        raise DatabaseError(f"{variable} names no database.", FORM)
    return url.set(drivername="postgresql+psycopg")


def shown(url: URL) -> str:
    """The address for people: without the password, and without the name of our driver."""
    return url.set(drivername="postgresql").render_as_string()


def make_engine(url: URL, *, pool_size: int = 8, limits: Mapping[str, str] | None = None) -> Engine:
    """An engine for reads in autocommit and writes in explicit transactions; `limits` are settings of the server."""
    options = " ".join(
        [CONNECTING["options"], *(f"-c {name}={value}" for name, value in (limits or {}).items())]
    )
    engine = sa.create_engine(
        url,
        pool_size=pool_size,
        connect_args=CONNECTING | {"options": options},
    )
    sa.event.listen(engine, "checkin", _note_use)
    sa.event.listen(engine, "checkout", _belong_to_budget)
    sa.event.listen(engine, "checkout", _refuse_dead)
    sa.event.listen(engine, "before_cursor_execute", lambda *_: check())
    return engine


def server_limits(settings: Settings) -> dict[str, str]:
    """How long a statement of the web server may take, wait and do nothing, as PostgreSQL wants it told."""
    return {
        "statement_timeout": f"{1000 * settings.statement_seconds:.0f}",
        "lock_timeout": f"{1000 * settings.lock_seconds:.0f}",
        "idle_in_transaction_session_timeout": f"{1000 * settings.idle_seconds:.0f}",
    }


def _note_use(driver: Any, record: Any) -> None:
    record.info["used"] = time.monotonic()
    budget = current()
    if budget is not None:
        budget.gave_back(driver)
    if record.info.pop(CANCELLED, False):
        record.invalidate()


def _belong_to_budget(driver: Any, record: Any, _: Any) -> None:
    budget = current()
    if budget is not None:
        budget.took(driver, record.info)


def _refuse_dead(driver: Any, record: Any, _: Any) -> None:
    """A connection that lay unused is tried before it is used: the server may have gone meanwhile.

    One that was in use a moment ago is not: the trial would cost a question a third of its time. The trial belongs to
    the budget as well: a server that hangs answers nothing.
    """
    if time.monotonic() - record.info.get("used", 0) < IDLE_SECONDS:
        return
    try:
        driver.execute("select 1")
        driver.rollback()
    except psycopg.Error as error:
        if (budget := current()) is not None:
            budget.gave_back(driver)
        raise sa.exc.DisconnectionError from error


def open_database(
    settings: Settings | None = None, say: Say = silent, step: Step = silent, *, serving: bool = False
) -> Engine:
    """Start, check and upgrade what is needed; then an engine of the owner.

    A web server that begins (`serving`) first puts in order what an interrupted restore left.
    """
    settings = settings or load_settings()
    _start(settings, say)
    engine = make_engine(database_url(settings), pool_size=settings.threads)
    if serving or not _answers(engine):
        for done in _mended(engine.url):
            say(done)
    with reached(engine) as connection:
        check_server(connection)
        if not is_current(connection):
            say("bringing the schema up to date (a few seconds)")
            if others_connected(connection):
                say(
                    "others use this database: a `sightline serve` of another version is to be started again after this"
                )
            upgrade(connection, step)
            connection.commit()
    return engine


def open_doors(
    settings: Settings | None = None, say: Say = silent, step: Step = silent, *, serving: bool = False
) -> Engine:
    """An engine of the web role on a database that is current; for the web server (`serving`) one with limits.

    The owner is asked only where something is to be done. A command whose user has the owner's address, and whose
    server has no web role, goes on as the owner; the web server does not.
    """
    settings = settings or load_settings()
    _start(settings, say)
    engine = make_engine(
        web_url(settings),
        pool_size=settings.threads,
        limits=server_limits(settings) if serving else None,
    )
    if not _ready(engine):
        owner = open_database(settings, say, step)
        _let_in(owner)
        if not _ready(engine):
            if not serving and settings.web_database_url is None:
                engine.dispose()
                return owner
            owner.dispose()
            raise _shut_out(engine)
        owner.dispose()
    if serving:
        _tell_might(engine, say)
    return engine


def _start(settings: Settings, say: Say) -> None:
    cluster = private_cluster(settings)
    if cluster is not None and cluster.start():
        say(f"started the private server ({cluster.data})")


def _ready(engine: Engine) -> bool:
    """Whether one gets in here, may look, and finds the schema current."""
    try:
        with engine.connect() as connection:
            return is_current(connection)
    except DBAPIError:
        return False


def _let_in(owner: Engine) -> None:
    """Make the web role and let it do what it may, as far as this owner can."""
    with suppress(DBAPIError), owner.begin() as connection:
        grant_web_rights(connection)


def _shut_out(engine: Engine) -> DatabaseError:
    """Why the web role does not get in."""
    reason = "it finds no current schema there, or may not read it"
    try:
        engine.connect().close()
    except DBAPIError as error:
        reason = " ".join(str(error.orig).split())
    return DatabaseError(
        f"Pages and API connect to {shown(engine.url)}, and cannot: {reason}",
        f"Have an administrator run `create role {WEB} login password '…'` (or `grant {WEB} to` a role of yours), set"
        " SIGHTLINE_WEB_DATABASE_URL to the database's address as that role, then run `sightline db upgrade`."
        " See docs/operating.md.",
    )


def _tell_might(engine: Engine, say: Say) -> None:
    with engine.connect() as connection:
        found = might(connection)
    if found:
        say(
            f"pages and API connect as {engine.url.username}, who {', '.join(found)};"
            " SIGHTLINE_WEB_DATABASE_URL names a role that may do less"
        )


def _answers(engine: Engine) -> bool:
    """Whether the database takes connections: one that a killed restore left behind does not."""
    try:
        engine.connect().close()
    except DBAPIError:
        return False
    return True


def _mended(url: URL) -> list[str]:
    """What an interrupted restore or reset left, put in order; where that cannot be, whoever connects is told why."""
    from db.backup import mend

    try:
        return mend(url)
    except SightlineError:
        return []


@contextmanager
def connection_apart(engine: Engine) -> Iterator[Connection]:
    """A connection beside the engine's pool, in autocommit: for who listens long, and must not keep others waiting."""
    alone = sa.create_engine(engine.url, poolclass=sa.NullPool, connect_args=CONNECTING)
    with alone.connect() as connection:
        yield connection.execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def reached(engine: Engine) -> Iterator[Connection]:
    """A connection, or a clear word on why there is none."""
    try:
        connection = engine.connect()
    except DBAPIError as error:
        where = shown(engine.url)
        reason = " ".join(str(error.orig).split())
        raise DatabaseError(
            f"Cannot connect to {where}: {reason}",
            "Check SIGHTLINE_DATABASE_URL and that the server runs; unset it to use the private cluster.",
        ) from error
    with connection:
        yield connection


def check_server(connection: Connection) -> None:
    """Refuse a server that is too old, or without a recent PostGIS."""
    info = psycopg_connection(connection).info
    if info.server_version < OLDEST_SERVER * 10000:
        raise DatabaseError(
            f"The server is PostgreSQL {info.server_version // 10000}; Sightline needs {OLDEST_SERVER} or newer.",
            "Point SIGHTLINE_DATABASE_URL to a newer server.",
        )
    available = connection.scalar(
        sa.text(
            "select coalesce(installed_version, default_version)"
            " from pg_available_extensions where name = 'postgis'"
        )
    )
    if available is None:
        raise DatabaseError(
            "The server has no PostGIS.",
            "Install the PostGIS package for it (Debian: postgresql-postgis) and try again.",
        )
    version = tuple(int(part) for part in available.split(".")[:2])
    if version < OLDEST_POSTGIS:
        raise DatabaseError(
            f"The server has PostGIS {available}; Sightline needs {OLDEST_POSTGIS[0]}.{OLDEST_POSTGIS[1]} or newer.",
            "Upgrade PostGIS, then `alter extension postgis update`.",
        )


def psycopg_connection(connection: Connection) -> psycopg.Connection:
    """The psycopg connection beneath, for COPY and multi-statement files."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def take_turns(connection: Connection, what: str) -> None:
    """Wait until nobody else does this to the same thing; the turn lasts as long as the transaction."""
    connection.execute(
        sa.text("select pg_advisory_xact_lock(:key, hashtext(:what))"), {"key": TURNS, "what": what}
    )


@contextmanager
def spared(connection: Connection) -> Iterator[None]:
    """What the server refuses in this block does not spoil the caller's transaction; in autocommit there is none."""
    if psycopg_connection(connection).autocommit:
        yield
        return
    with connection.begin_nested():
        yield


@contextmanager
def undone(connection: Connection) -> Iterator[None]:
    """What is done in this block is undone: in a savepoint, or where nothing was begun in a transaction of its own.

    Beneath psycopg, which forgets all that it has prepared when anything is rolled back, since a table might be gone
    with it. Nothing here makes tables, and to plan a question anew may cost more than to answer it.
    """
    server = psycopg_connection(connection).pgconn
    alone = server.transaction_status == TransactionStatus.IDLE
    back = b"rollback" if alone else b"rollback to savepoint undone; release savepoint undone"
    _command(server, b"begin" if alone else b"savepoint undone")
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):
            # a server that has gone has undone it
            _command(server, back)
        raise
    _command(server, back)


def _command(server: psycopg.pq.abc.PGconn, command: bytes) -> None:
    result = server.exec_(command)
    if result.status != ExecStatus.COMMAND_OK:
        raise psycopg.OperationalError(result.error_message.decode(errors="replace"))


def fetched(connection: Connection, query: str, values: Mapping[str, Any]) -> list[sa.Row[Any]]:
    """The rows of a query with `:names`; a mapping among its values is jsonb.

    For questions, which are asked often: without the work that SQLAlchemy has with a text of its own.
    """
    given = {name: Jsonb(value) if isinstance(value, Mapping) else value for name, value in values.items()}
    # one fetch of all rows, not one for each
    return list(connection.exec_driver_sql(_driver_query(query), given).all())


@functools.lru_cache(maxsize=512)
def _driver_query(query: str) -> str:
    """`:name` as psycopg writes it."""
    return re.sub(r"(?<!:):([a-z_]+)", r"%(\1)s", query.replace("%", "%%"))


def server_facts(connection: Connection) -> ServerFacts:
    """Version of server, PostGIS and schema."""
    row = connection.execute(sa.text(SERVER_FACTS)).one()
    return ServerFacts(row.postgresql, row.postgis, row.revision)
