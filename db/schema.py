"""Bringing a database up to date: tables by migrations, verbs by `sql/`, data by rulesets.

One transaction does it all, so that an upgrade that fails leaves the old state:

1. extensions and namespaces,
2. `sql/lattice`: the immutable geometry that generated columns are made of,
3. the migrations (Alembic), which make the tables,
4. the rest of `sql/`, made anew as a whole,
5. the rulesets' data, where it changed.

Each folder of `sql/` is a PostgreSQL schema. A file names the files it builds on in a
line `-- needs: schema/file.sql, …`; that gives the order.
"""

from __future__ import annotations

import functools
import graphlib
import hashlib
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import alembic.command
import alembic.config
import alembic.script
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.rulesets.load import load_rulesets, rulesets_digest

SQL = Path(__file__).resolve().parent.parent / "sql"
MIGRATIONS = Path(__file__).parent / "migrations"
EXTENSIONS = ("postgis", "btree_gist", "pg_trgm", "unaccent")
GROUND = "lattice"
"""The schema whose functions the tables themselves are made of; never dropped."""
LOCK = 0x51647411
"""Advisory lock: two upgrades at once take turns."""

Step = Callable[[str], None]
NEEDS = re.compile(r"^-- needs: (.+)$", re.MULTILINE)


class UpgradeError(SightlineError):
    """The schema cannot be brought up to date; nothing was changed."""


def verbs() -> list[Path]:
    """Every file of `sql/`, each after the files it needs."""
    return _in_order(str(SQL))


@functools.cache
def _in_order(folder: str) -> list[Path]:
    root = Path(folder)
    files = sorted(root.glob("*/*.sql"))
    known = {str(path.relative_to(root)): path for path in files}
    needs: dict[str, Iterable[str]] = {}
    for name, path in known.items():
        declared = [
            word.strip()
            for line in NEEDS.findall(path.read_text(encoding="utf-8"))
            for word in line.split(",")
        ]
        lost = [word for word in declared if word not in known]
        if lost:
            raise UpgradeError(f"sql/{name} needs {', '.join(lost)}, which is not there.")
        needs[name] = declared
    try:
        order = list(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as error:
        raise UpgradeError(
            f"Files of sql/ need one another in a circle: {' → '.join(error.args[1])}"
        ) from error
    return [known[name] for name in order]


def schemas() -> list[str]:
    """The PostgreSQL schemas that hold our verbs."""
    return sorted({path.parent.name for path in SQL.glob("*/*.sql")})


@functools.cache
def verbs_digest() -> str:
    digest = hashlib.sha256()
    for path in verbs():
        digest.update(path.relative_to(SQL).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def head_revision() -> str:
    head = alembic.script.ScriptDirectory.from_config(_alembic()).get_current_head()
    assert head is not None
    return head


def is_current(connection: Connection) -> bool:
    """Whether the database has just this version's tables, verbs and ruleset data."""
    if connection.scalar(sa.text("select to_regclass('public.schema_state')")) is None:
        return False
    row = connection.execute(
        sa.text(
            "select verbs, rulesets, (select max(version_num) from alembic_version) as revision"
            " from schema_state"
        )
    ).one_or_none()
    return row is not None and tuple(row) == (verbs_digest(), rulesets_digest(), head_revision())


def upgrade(connection: Connection, step: Step, revision: str = "head") -> None:
    """Bring the schema to `revision`, verbs and data included, in the caller's transaction."""
    connection.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": LOCK})
    if is_current(connection) and revision == "head":
        return
    _refuse_newer_schema(connection)
    for extension in EXTENSIONS:
        _create_extension(connection, extension)
    for name in schemas():
        connection.execute(sa.text(f"create schema if not exists {name}"))
    step("lattice")
    _apply(connection, [path for path in verbs() if path.parent.name == GROUND])
    step("tables")
    config = _alembic()
    config.attributes["connection"] = connection
    alembic.command.upgrade(config, revision)
    if revision != "head":
        return
    step("functions and views")
    _forget_verbs(connection)
    _apply(connection, verbs())
    step("rulesets")
    load_rulesets(connection)
    connection.execute(
        sa.text(
            "insert into schema_state (single, verbs, rulesets) values (true, :verbs, :rulesets)"
            " on conflict (single) do update set verbs = :verbs, rulesets = :rulesets, upgraded_at = now()"
        ),
        {"verbs": verbs_digest(), "rulesets": rulesets_digest()},
    )


def _alembic() -> alembic.config.Config:
    config = alembic.config.Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


def _refuse_newer_schema(connection: Connection) -> None:
    if connection.scalar(sa.text("select to_regclass('public.alembic_version')")) is None:
        return
    script = alembic.script.ScriptDirectory.from_config(_alembic())
    known = {revision.revision for revision in script.walk_revisions()}
    found = connection.scalar(sa.text("select max(version_num) from alembic_version"))
    if found is not None and found not in known:
        raise UpgradeError(
            f"The database has schema revision {found}, which this version of Sightline does not know.",
            "It was upgraded by a newer Sightline; use that version.",
        )


def _create_extension(connection: Connection, extension: str) -> None:
    try:
        with connection.begin_nested():
            connection.execute(sa.text(f"create extension if not exists {extension} schema public"))
    except sa.exc.DBAPIError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise UpgradeError(
            f"Cannot create the extension {extension}: {reason}",
            f"Have an administrator run `create extension {extension}` in this database.",
        ) from error


def _forget_verbs(connection: Connection) -> None:
    """Drop every function and view of ours before all are made anew, so that none lingers.

    The ground schema stays: generated columns stand on it. Views that others built on
    ours would go too, so they are named and nothing is touched.
    """
    foreign = connection.scalars(
        sa.text(
            "select distinct view.oid::regclass::text"
            " from pg_depend link join pg_rewrite rule on rule.oid = link.objid"
            " join pg_class view on view.oid = rule.ev_class"
            " left join pg_class source on link.refclassid = 'pg_class'::regclass and source.oid = link.refobjid"
            " left join pg_proc routine on link.refclassid = 'pg_proc'::regclass and routine.oid = link.refobjid"
            " join pg_namespace ours on ours.oid = coalesce(source.relnamespace, routine.pronamespace)"
            " join pg_namespace theirs on theirs.oid = view.relnamespace"
            " where ours.nspname = any(:ours) and not theirs.nspname = any(:all)"
        ),
        {"ours": _droppable(), "all": schemas()},
    ).all()
    if foreign:
        raise UpgradeError(
            f"Views of yours are built on Sightline's: {', '.join(foreign)}.",
            "Drop them, upgrade, and create them again.",
        )
    for name in _droppable():
        connection.execute(sa.text(f"drop schema {name} cascade"))
        connection.execute(sa.text(f"create schema {name}"))


def _droppable() -> list[str]:
    return [name for name in schemas() if name != GROUND]


def _apply(connection: Connection, files: list[Path]) -> None:
    cursor = connection.connection.cursor()
    # a function may name a table that a migration has yet to make
    cursor.execute("set local check_function_bodies = off")
    for path in files:
        try:
            cursor.execute(path.read_text(encoding="utf-8"))
        except Exception as error:
            raise UpgradeError(f"sql/{path.relative_to(SQL)}: {error}") from error
