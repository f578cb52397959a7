"""`sightline db …` and `sightline settings`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy.engine import Connection

from app.terminal.caution import confirm, refuse_overwriting
from app.terminal.output import print_json, print_table, say
from db import SightlineError
from db.backup import (
    backup_database,
    libpq,
    libpq_environment,
    reset_database,
    restore_database,
    tool,
)
from db.cluster import Cluster
from db.database import (
    DatabaseError,
    check_server,
    database_url,
    make_engine,
    private_cluster,
    reached,
    server_facts,
    shown,
    web_url,
)
from db.roles import WEB
from db.schema import grant_web_rights, has_schema, head_revision, is_current, upgrade
from db.settings import PREFIX, Settings, load_settings


@click.group("db")
def db_group() -> None:
    """The database: start, stop, look at, upgrade, back up.

    \b
    Examples:
      sightline db status
      sightline db backup monday.dump
      sightline db psql -- -c "select * from css.los(1, '13.15', '14.12')"
    """


@db_group.command()
def start() -> None:
    """Start the private server, if it does not run already.

    \b
    Example:
      sightline db start
    """
    cluster = _private()
    say(f"{'started' if cluster.start() else 'already running:'} {cluster.data}")


@db_group.command()
def stop() -> None:
    """Stop the private server, whoever uses it.

    A `sightline serve` that runs answers 503 until it is started again.

    \b
    Example:
      sightline db stop
    """
    cluster = _private()
    say(f"{'stopped' if cluster.stop() else 'was not running:'} {cluster.data}")


@db_group.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool) -> None:
    """What server is in use, whether it answers, and whether its schema is current.

    Exit status 0: it answers and is current; 1: it is not.

    \b
    Examples:
      sightline db status
      sightline db status --json
    """
    settings = load_settings()
    facts = _facts(settings)
    if as_json:
        print_json(facts)
    else:
        print_table(("what", "is"), [(name.replace("_", " "), value) for name, value in facts.items()])
    raise click.exceptions.Exit(0 if facts["current"] else 1)


def _facts(settings: Settings) -> dict[str, object]:
    cluster = private_cluster(settings)
    url = database_url(settings)
    facts: dict[str, object] = dict(cluster.status()) if cluster else {"running": True}
    facts |= {"url": shown(url), "current": False, "newest_revision": head_revision()}
    if not facts["running"]:
        return facts
    engine = make_engine(url)
    try:
        with reached(engine) as connection:
            check_server(connection)
            if has_schema(connection):
                known = server_facts(connection)
                facts |= {"server": known.postgresql, "postgis": known.postgis, "revision": known.revision}
            return facts | {"current": is_current(connection)}
    except DatabaseError as error:
        return facts | {"running": False, "error": error.message}
    finally:
        engine.dispose()


@db_group.command("upgrade")
def upgrade_command() -> None:
    """Bring tables, functions and ruleset data up to date, in one transaction.

    Every command that asks the database does this by itself; here it can be done beforehand,
    after a backup.

    \b
    Example:
      sightline db backup before.dump && sightline db upgrade
    """
    with _as_it_is() as connection:
        current = is_current(connection)
        if not current:
            upgrade(connection, _step)
        known = grant_web_rights(connection)
        connection.commit()
    if not known:
        say(f"there is no role {WEB}: pages and API cannot connect (docs/operating.md says how to make it)")
    say("already current" if current else f"upgraded to revision {head_revision()}")


@db_group.command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
def reset(yes: bool) -> None:
    """Delete everything in the database and make it anew, empty but for the rulesets.

    \b
    Examples:
      sightline db reset
      sightline db reset --yes
    """
    url = database_url()
    confirm(f"Delete ALL maps, positions, rulings and filled charts in {shown(url)}?", yes)
    _start_private()
    reset_database(url, _step)
    say("the database is empty and current")


@db_group.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.pass_context
def psql(context: click.Context) -> None:
    """Open psql on the database; what follows `--` is passed on to it.

    A schema that is not current is left as it is: `sightline db upgrade` is for that.

    \b
    Examples:
      sightline db psql
      sightline db psql -- -c "select * from lattice.line(0, 0, 2, 1)"
    """
    with _as_it_is() as connection:
        if not has_schema(connection):
            upgrade(connection, _step)
            connection.commit()
    url = database_url()
    os.execve(tool("psql"), ["psql", libpq(url), *context.args], libpq_environment(url))


@db_group.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def backup(file: Path, force: bool) -> None:
    """Write everything in the database to FILE, in PostgreSQL's own format (pg_restore reads it).

    The database may be in use meanwhile; the file shows it at one moment. Nothing is upgraded.

    \b
    Examples:
      sightline db backup monday.dump
      sightline db backup --force latest.dump
    """
    refuse_overwriting(file, force)
    with _as_it_is() as connection:
        if not has_schema(connection):
            raise SightlineError("The database is empty: there is nothing to back up.")
    backup_database(database_url(), file)
    say(f"wrote {file} ({file.stat().st_size:,} bytes)")


@db_group.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Replace what is there without asking.")
def restore(file: Path, yes: bool) -> None:
    """Replace everything in the database by what `backup` wrote to FILE.

    The file is restored beside the present database and brought up to date there; the
    present one is replaced only when all went well.

    \b
    Examples:
      sightline db restore monday.dump
      sightline db restore --yes monday.dump
    """
    url = database_url()
    confirm(f"Replace everything in {shown(url)} by {file}?", yes)
    _start_private()
    restore_database(url, file, _step)
    say(f"restored {file}")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def settings(as_json: bool) -> None:
    """Show every setting: its value, its variable, what it is for.

    \b
    Examples:
      sightline settings
      sightline settings --json
    """
    values = load_settings().model_dump(mode="json")
    if values["database_url"]:
        values["database_url"] = shown(database_url())
    if values["web_database_url"]:
        values["web_database_url"] = shown(web_url())
    if as_json:
        print_json({PREFIX + name.upper(): value for name, value in values.items()})
        return
    descriptions = {name: field.description for name, field in Settings.model_fields.items()}
    rows = [(PREFIX + name.upper(), value, descriptions[name]) for name, value in values.items()]
    print_table(("variable", "value", "what for"), rows)


def _step(name: str) -> None:
    say(f"… {name}")


def _start_private() -> None:
    cluster = private_cluster()
    if cluster is not None:
        cluster.start()


@contextmanager
def _as_it_is() -> Iterator[Connection]:
    """The database whatever its version, on a server that is good enough."""
    _start_private()
    engine = make_engine(database_url())
    try:
        with reached(engine) as connection:
            check_server(connection)
            yield connection
    finally:
        engine.dispose()


def _private() -> Cluster:
    cluster = private_cluster()
    if cluster is None:
        raise SightlineError(
            "SIGHTLINE_DATABASE_URL points to a server that is not ours to start or stop.",
            "Unset it to use the private cluster.",
        )
    return cluster


COMMANDS = [db_group, settings]
