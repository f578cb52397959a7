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
import random
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.roles import grant_rights, grants
from db.rulesets import rulesets_digest

if TYPE_CHECKING:
    # whoever finds the schema current needs neither Alembic nor what loads the rulesets
    import alembic.config

SQL = Path(__file__).resolve().parent.parent / "sql"
MIGRATIONS = Path(__file__).parent / "migrations"
EXTENSIONS = ("postgis", "btree_gist", "pg_trgm", "unaccent")
GROUND = "lattice"
"""The schema whose functions the tables themselves are made of; never dropped."""
LOCK = 0x51647411
"""Advisory lock: two upgrades at once take turns."""

NAMESPACE = "Functions and views of Sightline, made anew at every upgrade; keep nothing of yours here"
"""Comment on each schema of ours: how one whose folder is gone is known again."""
FOREIGN_OBJECTS = """
with ours as (
  select 'pg_class'::regclass as class, oid from pg_class where relnamespace::regnamespace::text = any(:ours)
  union all
  select 'pg_proc'::regclass, oid from pg_proc where pronamespace::regnamespace::text = any(:ours)
  union all
  select 'pg_type'::regclass, oid from pg_type where typnamespace::regnamespace::text = any(:ours)
),
built_on as (
  select
    case when link.classid = 'pg_rewrite'::regclass then 'pg_class'::regclass else link.classid end as class,
    coalesce(rule.ev_class, link.objid) as object,
    case when rule.oid is null then link.objsubid else 0 end as part
  from pg_depend as link
  join ours on ours.class = link.refclassid and ours.oid = link.refobjid
  left join pg_rewrite as rule on link.classid = 'pg_rewrite'::regclass and rule.oid = link.objid
  where link.deptype in ('n', 'a') and link.classid <> 'pg_trigger'::regclass
),
found as (
  select (pg_identify_object(class, object, part)).*
  from built_on
  union all
  select (pg_identify_object('pg_class'::regclass, oid, 0)).*
  from pg_class
  where relnamespace::regnamespace::text = any(:ours) and relkind in ('r', 'p', 'f', 'm', 'S')
)
select distinct identity from found
where schema is null or not schema = any(:all) or type in ('table', 'foreign table', 'materialized view', 'sequence')
order by identity
"""

OUR_TABLES = """
select format('%I.%I', relnamespace::regnamespace, relname)
from pg_class
where relkind in ('r', 'p')
  and relnamespace = 'public'::regnamespace
  and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
order by oid
"""
TRY_MILLISECONDS = 300
"""How long a try to hold all tables waits for one of them: less than the server's deadlock_timeout."""
PATIENCE_SECONDS = 60.0
PASSING = ("40P01", "55P03")
"""SQLSTATE of a deadlock, and of a lock that cannot be had in time."""

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


def _applied_digest() -> str:
    """Of all that an upgrade makes anew beside the tables: the verbs, and who may do what."""
    return hashlib.sha256("\n".join([verbs_digest(), *grants(schemas())]).encode()).hexdigest()


@functools.cache
def head_revision() -> str:
    """The newest revision: the migrations are numbered in order."""
    newest = max(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*_*.py"))
    return newest.partition("_")[0]


def has_schema(connection: Connection) -> bool:
    """Whether this is a database of Sightline at all, of whatever version."""
    return connection.scalar(sa.text("select to_regclass('public.schema_state')")) is not None


def is_current(connection: Connection) -> bool:
    """Whether the database has just this version's tables, verbs and ruleset data."""
    if not has_schema(connection):
        return False
    row = connection.execute(
        sa.text(
            "select verbs, rulesets, (select max(version_num) from alembic_version) as revision"
            " from schema_state"
        )
    ).one_or_none()
    return row is not None and tuple(row) == (_applied_digest(), rulesets_digest(), head_revision())


def upgrade(connection: Connection, step: Step, revision: str = "head") -> None:
    """Bring the schema to `revision`, verbs and data included, in the caller's transaction."""
    connection.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": LOCK})
    if is_current(connection) and revision == "head":
        return
    _refuse_newer_schema(connection)
    _refuse_others(connection)
    _hold_all_tables(connection, step)
    for extension in EXTENSIONS:
        _create_extension(connection, extension)
    _make_namespaces(connection)
    inherited = _uncomment_the_ground(connection)
    step("lattice")
    _apply(connection, [path for path in verbs() if path.parent.name == GROUND])
    step("tables")
    _migrate(connection, revision)
    if revision != "head":
        return
    step("functions and views")
    _forget_verbs(connection)
    _apply(connection, verbs())
    _drop_what_the_ground_lost(connection, inherited)
    step("rulesets")
    _load_rulesets(connection)
    connection.execute(
        sa.text(
            "insert into schema_state (single, verbs, rulesets) values (true, :verbs, :rulesets)"
            " on conflict (single) do update set verbs = :verbs, rulesets = :rulesets, upgraded_at = now()"
        ),
        {"verbs": _applied_digest(), "rulesets": rulesets_digest()},
    )
    step("roles")
    grant_web_rights(connection)


def grant_web_rights(connection: Connection) -> bool:
    """Let the web role do what it may, in the caller's transaction; False where there is none and none may be made.

    Part of every upgrade; by itself for a database that is current but knows nothing of the role: a restored one.
    """
    connection.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": LOCK})
    return grant_rights(connection, schemas())


def _hold_all_tables(connection: Connection, step: Step) -> None:
    """Have every table of ours to ourselves, or none: whoever asks meanwhile waits, and nobody waits in a circle.

    A try that meets somebody lets go of all that it has, before the server would take it for a deadlock.
    """
    tables = connection.scalars(sa.text(OUR_TABLES)).all()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while tables:
        try:
            with connection.begin_nested():
                connection.execute(sa.text(f"set local lock_timeout = {TRY_MILLISECONDS}"))
                connection.execute(sa.text(f"lock table {', '.join(tables)} in access exclusive mode"))
                connection.execute(sa.text("set local lock_timeout = 0"))
            return
        except sa.exc.OperationalError as error:
            if getattr(error.orig, "sqlstate", None) not in PASSING:
                raise
            if time.monotonic() > deadline:
                raise UpgradeError(
                    f"Somebody has kept the database busy for {PATIENCE_SECONDS:.0f} s.",
                    "Stop whoever uses it (sightline serve, a long import, psql), then try again.",
                ) from error
            step("waiting for somebody who uses the database")
            time.sleep(random.uniform(0.1, 0.4))


def others_connected(connection: Connection) -> int:
    """How many connections of Sightline's own there are beside this one."""
    return int(
        connection.scalar(
            sa.text(
                "select count(*) from pg_stat_activity where datname = current_database()"
                " and application_name = 'sightline' and pid <> pg_backend_pid()"
            )
        )
        or 0
    )


def _load_rulesets(connection: Connection) -> None:
    from db.rulesets.load import load_rulesets

    load_rulesets(connection)


def _migrate(connection: Connection, revision: str) -> None:
    import alembic.command

    config = _alembic()
    config.attributes["connection"] = connection
    alembic.command.upgrade(config, revision)


def _alembic() -> alembic.config.Config:
    import alembic.config

    config = alembic.config.Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


def _refuse_newer_schema(connection: Connection) -> None:
    if connection.scalar(sa.text("select to_regclass('public.alembic_version')")) is None:
        return
    import alembic.script

    script = alembic.script.ScriptDirectory.from_config(_alembic())
    known = {revision.revision for revision in script.walk_revisions()}
    found = connection.scalar(sa.text("select max(version_num) from alembic_version"))
    if found is not None and found not in known:
        raise UpgradeError(
            f"The database has schema revision {found}, which this version of Sightline does not know.",
            "It was upgraded by a newer Sightline; use that version.",
        )


def _refuse_others(connection: Connection) -> None:
    """Only the owner of the tables upgrades them."""
    owner = connection.scalar(
        sa.text(
            "select pg_get_userbyid(relowner) from pg_class where oid = to_regclass('public.schema_state')"
            " and not pg_has_role(current_user, relowner, 'usage')"
        )
    )
    if owner is not None:
        raise UpgradeError(
            f"The database is not current, and only its owner {owner} can upgrade it.",
            "Run `sightline db upgrade` with SIGHTLINE_DATABASE_URL as the owner.",
        )


def _make_namespaces(connection: Connection) -> None:
    """A schema for each folder of `sql/`; one whose folder is gone goes too, unless others use it."""
    known = connection.scalars(
        sa.text("select nspname from pg_namespace where obj_description(oid, 'pg_namespace') = :mark"),
        {"mark": NAMESPACE},
    ).all()
    gone = [name for name in known if name not in schemas()]
    _refuse_foreign_objects(connection, [*gone, *_droppable()])
    for name in gone:
        connection.execute(sa.text(f'drop schema "{name}" cascade'))
    for name in schemas():
        connection.execute(sa.text(f"create schema if not exists {name}"))
        connection.execute(sa.text(f"comment on schema {name} is '{NAMESPACE}'"))


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

    The ground schema stays: generated columns stand on it. What others built on the rest
    was refused before anything was done.
    """
    for name in _droppable():
        connection.execute(sa.text(f"drop schema {name} cascade"))
        connection.execute(sa.text(f"create schema {name}"))
        connection.execute(sa.text(f"comment on schema {name} is '{NAMESPACE}'"))


def _refuse_foreign_objects(connection: Connection, names: list[str]) -> None:
    """Name what others keep in our schemas or built on them: it would go with ours.

    Triggers on tables of ours are not foreign: `sql/` makes them, and makes them again.
    """
    foreign = connection.scalars(sa.text(FOREIGN_OBJECTS), {"ours": names, "all": [*schemas(), *names]}).all()
    if foreign:
        raise UpgradeError(
            f"Views or tables of yours are built on Sightline's functions and views: {', '.join(foreign)}.",
            "Drop them (sightline db psql), upgrade, and create them again.",
        )


def _ground_functions(connection: Connection, *, commented: bool) -> list[str]:
    return list(
        connection.scalars(
            sa.text(
                "select oid::regprocedure::text from pg_proc"
                " where pronamespace = cast(:ground as regnamespace) and prokind = 'f'"
                " and (obj_description(oid, 'pg_proc') is not null) = :commented order by 1"
            ),
            {"ground": GROUND, "commented": commented},
        )
    )


def _uncomment_the_ground(connection: Connection) -> list[str]:
    """The ground's functions so far, their comments removed: the files make those of theirs anew."""
    found = _ground_functions(connection, commented=True)
    for signature in found:
        connection.execute(sa.text(f"comment on function {signature} is null"))
    return found


def _drop_what_the_ground_lost(connection: Connection, inherited: list[str]) -> None:
    """Drop functions of the ground that its files no longer have: nothing commented on them again."""
    for signature in _ground_functions(connection, commented=False):
        if signature not in inherited:
            raise UpgradeError(f"sql/{GROUND}: {signature} has no comment.", "Add `comment on function`.")
        try:
            with connection.begin_nested():
                connection.execute(sa.text(f"drop function {signature}"))
        except sa.exc.DBAPIError as error:
            reason = " ".join(str(error.orig).split())
            raise UpgradeError(
                f"sql/{GROUND} no longer has {signature}, but it is in use: {reason}"
            ) from error


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
