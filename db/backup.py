"""Backup, restore and reset of a whole database, with PostgreSQL's own tools.

A restored or emptied database is made beside the present one, brought up to date there, and takes its name in one
transaction when all went well. The names are the journal: as long as a database `…_new_…` is there, the present one
was not replaced; once one `…_old_…` is, it was. Whoever does this holds a lock of the server meanwhile; what a
killed process left behind is known by that nobody holds it, and `mend` puts it in order.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import psycopg
import sqlalchemy as sa
from psycopg import sql
from sqlalchemy.engine import URL

from db import SightlineError
from db.cluster import installed_servers
from db.database import make_engine
from db.schema import Step, grant_web_rights, has_schema, upgrade

UNFINISHED = ".unfinished"
NEW, OLD = "_new_", "_old_"
LOCK = 0x51647412
"""Advisory lock, with the name of a database: one restore or reset of it at a time."""
ALLOW = sql.SQL("alter database {} allow_connections {}")


class BackupError(SightlineError):
    """A backup or restore did not work; the database is as it was."""


def tool(name: str) -> str:
    """The newest PostgreSQL client tool of that name."""
    for server in installed_servers():
        if (server.bin / name).exists():
            return str(server.bin / name)
    found = shutil.which(name)
    if found is None:
        raise BackupError(
            f"{name} is not installed.", "Install PostgreSQL's client tools (postgresql-client)."
        )
    return found


def libpq(url: URL) -> str:
    """The address as PostgreSQL's own tools take it, but for the password, which others could see."""
    return url.set(drivername="postgresql", password=None).render_as_string()


def libpq_environment(url: URL) -> dict[str, str]:
    """The environment of PostgreSQL's own tools, with the password."""
    return {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}


def backup_database(url: URL, file: Path) -> None:
    """Write the whole database to a file; an old file stays until the new one is whole."""
    try:
        _sweep_backups(file)
        with _unfinished(file) as handle:
            _run(url, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", stdout=handle)
            os.fsync(handle.fileno())
            os.replace(handle.name, file)
    except OSError as error:
        raise BackupError(
            f"Cannot write {file}: {error.strerror}.", "Choose a folder you can write to."
        ) from error


@contextlib.contextmanager
def _unfinished(file: Path) -> Iterator[BinaryIO]:
    """A new file beside one, locked, so that no other backup sweeps it; it goes unless it is given a name."""
    path = file.with_name(f".{file.name}.{secrets.token_hex(4)}{UNFINISHED}")
    try:
        path.touch(mode=0o600)
        with open(path, "wb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle.fileno()).st_nlink:
                yield handle
                return
        # swept between the making and the lock
        with _unfinished(file) as handle:
            yield handle
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _sweep_backups(file: Path) -> None:
    """Remove what killed backups to this file left: nobody has it locked."""
    for left in file.parent.glob(f".{glob.escape(file.name)}.*{UNFINISHED}"):
        with contextlib.suppress(OSError), open(left, "rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def restore_database(url: URL, file: Path, step: Step) -> None:
    """Replace the database by what `backup_database` wrote to a file."""
    try:
        with _beside(url) as new:
            step("reading the file")
            with open(file, "rb") as handle:
                _run(new, "pg_restore", "--exit-on-error", "--no-owner", "--no-privileges", stdin=handle)
            _upgrade(new, step, must_be_ours=True)
    except SightlineError as error:
        remedy = f"{error.remedy} The database is as it was.".strip()
        raise BackupError(f"{file} was not restored: {error.message}", remedy) from error
    except OSError as error:
        raise BackupError(f"Cannot read {file}: {error.strerror}.") from error


def reset_database(url: URL, step: Step) -> None:
    """Replace the database by a new one, empty but for the rulesets."""
    with _beside(url) as new:
        _upgrade(new, step)


@contextlib.contextmanager
def _beside(url: URL) -> Iterator[URL]:
    """A new database; it takes the place of the present one if the block ends well, else it goes."""
    name = str(url.database)
    mark = secrets.token_hex(4)
    new, old = f"{name}{NEW}{mark}", f"{name}{OLD}{mark}"
    with _administration(url) as connection:
        if not _take_turn(connection, name):
            raise BackupError(
                f"Somebody else restores or resets {name} right now.", "Try again when that has ended."
            )
        _put_in_order(connection, name)
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(new)))
        replaced = False
        try:
            yield url.set(database=new)
            _swap(connection, name, new, old)
            replaced = True
        finally:
            # replaced is replaced: what cannot be removed now, the next start removes
            with contextlib.suppress(psycopg.Error) if replaced else contextlib.nullcontext():
                _drop(connection, old if replaced else new)


def mend(url: URL) -> list[str]:
    """Finish or undo what a killed restore or reset has begun; what was done, in words."""
    name = str(url.database)
    with _administration(url) as connection:
        return _put_in_order(connection, name) if _take_turn(connection, name) else []


def _take_turn(connection: psycopg.Connection, name: str) -> bool:
    """Whether nobody else replaces this database; the turn lasts as long as the connection."""
    row = connection.execute("select pg_try_advisory_lock(%s, hashtext(%s))", [LOCK, name]).fetchone()
    return row is not None and bool(row[0])


def _put_in_order(connection: psycopg.Connection, name: str) -> list[str]:
    """Open the present database if it was left closed, and drop what lies beside it."""
    done: list[str] = []
    closed = connection.execute(
        "select from pg_database where datname = %s and not datallowconn", [name]
    ).fetchone()
    if closed is not None:
        connection.execute(ALLOW.format(sql.Identifier(name), sql.SQL("true")))
        done.append(f"a restore of {name} was interrupted before it replaced anything: opened it again")
    beside = connection.execute(
        "select datname from pg_database where datname ~ ('^' || %s || '_(new|old)_[0-9a-f]{8}$')",
        [re.escape(name)],
    ).fetchall()
    for (left,) in beside:
        was_replaced = str(left).startswith(f"{name}{OLD}")
        _drop(connection, left)
        outcome = "had replaced the database" if was_replaced else "had not replaced anything"
        done.append(f"an interrupted restore {outcome}; dropped {left}")
    return done


def _swap(connection: psycopg.Connection, name: str, new: str, old: str) -> None:
    """Let the new database take the name: both renamings, or neither."""
    rename = sql.SQL("alter database {} rename to {}")
    known = connection.execute("select from pg_database where datname = %s", [name]).fetchone()
    if known is None:
        connection.execute(rename.format(sql.Identifier(new), sql.Identifier(name)))
        return
    connection.execute(ALLOW.format(sql.Identifier(name), sql.SQL("false")))
    try:
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s", [name]
        )
        with connection.transaction():
            connection.execute(rename.format(sql.Identifier(name), sql.Identifier(old)))
            connection.execute(rename.format(sql.Identifier(new), sql.Identifier(name)))
    except BaseException:  # an interrupt, too, must not leave the database closed to everybody
        connection.execute(ALLOW.format(sql.Identifier(name), sql.SQL("true")))
        raise


def _drop(connection: psycopg.Connection, name: str) -> None:
    connection.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


@contextlib.contextmanager
def _administration(url: URL) -> Iterator[psycopg.Connection]:
    """A connection to the server's own database, since ours come and go."""
    server = url.set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    try:
        with psycopg.connect(server, autocommit=True, connect_timeout=10) as connection:
            yield connection
    except psycopg.Error as error:
        raise BackupError(
            f"The server refused: {str(error).strip().splitlines()[0]}",
            "The user in SIGHTLINE_DATABASE_URL must be allowed to create databases.",
        ) from error


def _upgrade(url: URL, step: Step, *, must_be_ours: bool = False) -> None:
    engine = make_engine(url)
    try:
        with engine.begin() as connection:
            if must_be_ours and not has_schema(connection):
                raise BackupError("it is not a backup of a Sightline database.")
            upgrade(connection, step)
            # a backup says nothing of who may do what
            grant_web_rights(connection)
    except sa.exc.DBAPIError as error:
        raise BackupError(str(error.orig).strip().splitlines()[0]) from error
    finally:
        engine.dispose()


def _run(url: URL, name: str, *options: str, **streams: object) -> None:
    command = [tool(name), *options, "-d", libpq(url)]
    result = subprocess.run(  # type: ignore[call-overload]
        command, stderr=subprocess.PIPE, env=libpq_environment(url), check=False, **streams
    )
    if result.returncode:
        message = result.stderr.decode(errors="replace").strip().splitlines()
        raise BackupError(message[0] if message else f"{name} failed")
