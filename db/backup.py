"""Backup, restore and reset of a whole database, with PostgreSQL's own tools."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

import psycopg
from psycopg import sql
from sqlalchemy.engine import URL

from db import SightlineError
from db.cluster import installed_servers


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
    """The address as PostgreSQL's own tools take it."""
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def psql_command(url: URL) -> list[str]:
    return [tool("psql"), libpq(url)]


def backup_database(url: URL, file: Path) -> None:
    """Write the whole database to a file; an old file stays until the new one is whole."""
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        unfinished.touch(mode=0o600)
        with open(unfinished, "wb") as handle:
            _run([tool("pg_dump"), "--format=custom", "--no-owner", libpq(url)], stdout=handle)
        os.replace(unfinished, file)
    except OSError as error:
        raise BackupError(
            f"Cannot write {file}: {error.strerror}.", "Choose a folder you can write to."
        ) from error
    finally:
        unfinished.unlink(missing_ok=True)


def restore_database(url: URL, file: Path) -> None:
    """Restore beside the present database, then let the restored one take its name."""
    name = str(url.database)
    beside = f"{name}_restored_{secrets.token_hex(4)}"
    _administer(url, sql.SQL("create database {}").format(sql.Identifier(beside)))
    try:
        with open(file, "rb") as handle:
            _run(
                [tool("pg_restore"), "--exit-on-error", "--no-owner", "-d", libpq(url.set(database=beside))],
                stdin=handle,
            )
    except BackupError as error:
        _administer(url, sql.SQL("drop database {} with (force)").format(sql.Identifier(beside)))
        raise BackupError(
            f"{file} was not restored: {error.message}", "The database is as it was."
        ) from error
    _administer(
        url,
        sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)),
        sql.SQL("alter database {} rename to {}").format(sql.Identifier(beside), sql.Identifier(name)),
    )


def reset_database(url: URL) -> None:
    """Make the database empty."""
    name = sql.Identifier(str(url.database))
    _administer(
        url,
        sql.SQL("drop database if exists {} with (force)").format(name),
        sql.SQL("create database {}").format(name),
    )


def _administer(url: URL, *statements: sql.Composed) -> None:
    """Run statements on the server's own database, since ours may come and go."""
    try:
        with psycopg.connect(libpq(url.set(database="postgres")), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)
    except psycopg.Error as error:
        raise BackupError(
            f"The server refused: {str(error).strip().splitlines()[0]}",
            "The user in SIGHTLINE_DATABASE_URL must be allowed to create databases.",
        ) from error


def _run(command: list[str], **streams: object) -> None:
    result = subprocess.run(command, stderr=subprocess.PIPE, text=False, check=False, **streams)  # type: ignore[call-overload]
    if result.returncode:
        message = result.stderr.decode(errors="replace").strip().splitlines()
        raise BackupError(message[0] if message else f"{Path(command[0]).name} failed")
