"""Backup, restore and reset of a whole database, with PostgreSQL's own tools.

A restored or emptied database is made beside the present one, brought up to date there,
and takes its name in one transaction when all went well.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import sqlalchemy as sa
from psycopg import sql
from sqlalchemy.engine import URL

from db import SightlineError
from db.cluster import installed_servers
from db.database import make_engine
from db.schema import Step, has_schema, upgrade


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
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        unfinished.touch(mode=0o600)
        with open(unfinished, "wb") as handle:
            _run(url, "pg_dump", "--format=custom", "--no-owner", "--no-privileges", stdout=handle)
            os.fsync(handle.fileno())
        os.replace(unfinished, file)
    except OSError as error:
        raise BackupError(
            f"Cannot write {file}: {error.strerror}.", "Choose a folder you can write to."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)


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
    new, old = f"{name}_new_{mark}", f"{name}_old_{mark}"
    with _administration(url) as connection:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(new)))
    try:
        yield url.set(database=new)
        with _administration(url) as connection:
            _swap(connection, name, new, old)
            _drop(connection, old)
    except BaseException:
        with _administration(url) as connection:
            _drop(connection, new)
        raise


def _swap(connection: psycopg.Connection, name: str, new: str, old: str) -> None:
    """Let the new database take the name: both renamings, or neither."""
    rename = sql.SQL("alter database {} rename to {}")
    allow = sql.SQL("alter database {} allow_connections {}")
    known = connection.execute("select from pg_database where datname = %s", [name]).fetchone()
    if known is None:
        connection.execute(rename.format(sql.Identifier(new), sql.Identifier(name)))
        return
    connection.execute(allow.format(sql.Identifier(name), sql.SQL("false")))
    try:
        connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = %s", [name]
        )
        with connection.transaction():
            connection.execute(rename.format(sql.Identifier(name), sql.Identifier(old)))
            connection.execute(rename.format(sql.Identifier(new), sql.Identifier(name)))
    except BaseException:  # an interrupt, too, must not leave the database closed to everybody
        connection.execute(allow.format(sql.Identifier(name), sql.SQL("true")))
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
