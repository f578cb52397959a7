"""`sightline db …` and `sightline settings`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from app.output import print_json, print_table, say
from db import SightlineError
from db.backup import backup_database, psql_command, reset_database, restore_database
from db.cluster import Cluster
from db.database import (
    check_server,
    database_url,
    make_engine,
    open_database,
    private_cluster,
    reached,
    server_facts,
)
from db.schema import head_revision, is_current, upgrade
from db.settings import PREFIX, Settings, load_settings


@click.group("db")
def db_group() -> None:
    """The database: start, stop, look at, upgrade, back up.

    \b
    Examples:
      sightline db status
      sightline db backup monday.dump
      sightline db psql -- -c "select * from css.los(1, '22.80', '24.77')"
    """


@db_group.command()
def start() -> None:
    """Start the private server, if it does not run already."""
    cluster = _private()
    say(f"{'started' if cluster.start() else 'already running:'} {cluster.data}")


@db_group.command()
def stop() -> None:
    """Stop the private server."""
    cluster = _private()
    say(f"{'stopped' if cluster.stop() else 'was not running:'} {cluster.data}")


@db_group.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool) -> None:
    """What server is in use, whether it answers, and whether its schema is current.

    Exit status 0: it answers and is current; 1: it does not.
    """
    settings = load_settings()
    cluster = private_cluster(settings)
    facts: dict[str, object] = dict(cluster.status()) if cluster else {"running": True}
    facts["url"] = database_url(settings).render_as_string(hide_password=True)
    current = False
    if facts["running"]:
        engine = make_engine(database_url(settings))
        with reached(engine) as connection:
            check_server(connection)
            current = is_current(connection)
            if current:
                known = server_facts(connection)
                facts |= {"server": known.postgresql, "postgis": known.postgis, "revision": known.revision}
    facts |= {"current": current, "newest_revision": head_revision()}
    if as_json:
        print_json(facts)
    else:
        print_table(("what", "is"), [(name.replace("_", " "), value) for name, value in facts.items()])
    raise click.exceptions.Exit(0 if current else 1)


@db_group.command("upgrade")
def upgrade_command() -> None:
    """Bring tables, functions and ruleset data up to date, in one transaction."""
    settings = load_settings()
    cluster = private_cluster(settings)
    if cluster is not None:
        cluster.start()
    engine = make_engine(database_url(settings))
    with reached(engine) as connection:
        check_server(connection)
        if is_current(connection):
            say("already current")
            return
        upgrade(connection, lambda step: say(f"… {step}"))
        connection.commit()
    say(f"upgraded to revision {head_revision()}")


@db_group.command()
@click.option("--yes", is_flag=True, help="Do it without asking.")
def reset(yes: bool) -> None:
    """Delete everything in the database and make it anew, empty but for the rulesets."""
    where = database_url().render_as_string(hide_password=True)
    if not yes:
        click.confirm(f"Delete ALL maps, positions and rulings in {where}?", abort=True)
    cluster = private_cluster()
    if cluster is not None:
        cluster.start()
    reset_database(database_url())
    open_database(say=say)
    say("the database is empty and current")


@db_group.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.pass_context
def psql(context: click.Context) -> None:
    """Open psql on the database; what follows `--` is passed on to it.

    \b
    Example:
      sightline db psql -- -c "select * from lattice.line(0, 0, 2, 1)"
    """
    open_database(say=say)
    command = [*psql_command(database_url()), *context.args]
    os.execv(command[0], command)


@db_group.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def backup(file: Path, force: bool) -> None:
    """Write everything in the database to FILE."""
    if file.exists() and not force:
        raise SightlineError(f"{file} exists already.", "Choose another name, or add --force.")
    open_database(say=say)
    backup_database(database_url(), file)
    say(f"wrote {file} ({file.stat().st_size:,} bytes)")


@db_group.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Replace what is there without asking.")
def restore(file: Path, yes: bool) -> None:
    """Replace everything in the database by what `backup` wrote to FILE.

    The file is restored beside the present database, which is replaced only when all went well.
    """
    where = database_url().render_as_string(hide_password=True)
    if not yes:
        click.confirm(f"Replace everything in {where} by {file}?", abort=True)
    cluster = private_cluster()
    if cluster is not None:
        cluster.start()
    restore_database(database_url(), file)
    open_database(say=say)
    say(f"restored {file}")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def settings(as_json: bool) -> None:
    """Show every setting: its value, its variable, what it is for."""
    values = load_settings()
    rows = [
        (PREFIX + name.upper(), getattr(values, name), field.description)
        for name, field in Settings.model_fields.items()
    ]
    if as_json:
        print_json({name: str(value) if value is not None else None for name, value, _ in rows})
    else:
        print_table(("variable", "value", "what for"), rows)


def _private() -> Cluster:
    cluster = private_cluster()
    if cluster is None:
        raise SightlineError(
            "SIGHTLINE_DATABASE_URL points to a server that is not ours to start or stop.",
            "Unset it to use the private cluster.",
        )
    return cluster


COMMANDS = [db_group, settings]
