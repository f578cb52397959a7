"""Who may do what in the database: the web role reads, writes what its doors write, and is refused everything else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from command_line import CommandLine
from processes import serving
from sqlalchemy.engine import URL, Connection, Engine

from app.terminal.database import asking, writing
from db.backup import backup_database, restore_database
from db.database import DatabaseError, make_engine, open_database, open_doors
from db.roles import DEFINERS, WEB, WRITES, as_web, grants, might
from db.schema import grant_web_rights, schemas, upgrade
from db.settings import Settings
from db.tables import Base
from importers.scenarios import install, read_scenario, scenarios
from tests.conftest import Databases, web_engine

FORBIDDEN = "42501"
"""SQLSTATE of what somebody has no right to."""
REFUSED = """
create table mine (n integer)
create table lattice.mine (n integer)
create temporary table mine (n integer)
create schema mine
create view mine as select 1
create function mine() returns integer language sql return 1
create function games.mine() returns integer language sql return 1
create extension tablefunc
create database mine
create role mine
create publication mine
create trigger mine before insert on public.event for each row execute function games._immutable()
create rule mine as on insert to public.event do instead nothing
create policy mine on public.game
create index mine on public.event (actor)
alter table public.event disable trigger all
alter table public.event add column mine integer
alter table public.event owner to sightline_web
alter function games.append(bigint, jsonb, text, text) security invoker
alter database postgres set work_mem = '1MB'
alter system set fsync = off
alter role sightline_web superuser
alter role sightline_web createdb
drop table public.event
drop schema games cascade
drop function games.append(bigint, jsonb, text, text)
drop trigger immutable on public.event
truncate public.event
truncate public.viewshed
begin; lock table public.event in access exclusive mode
comment on table public.event is 'mine'
insert into public.event (game_id, number) values (1, 1)
update public.event set note = 'mine'
delete from public.event
update public.game set events = 0
update public.game set digest = ''
update public.game set seed = null
update public.ruling set title = 'mine'
delete from public.ruling
update public.hex set label = 'mine'
delete from public.hex
update public.map set title = 'mine'
update public.rule set title = 'mine'
insert into public.ruleset (code) values ('xxx')
update public.schema_state set verbs = 'mine'
delete from public.alembic_version
update public.rulebook set edition = 'mine'
delete from public.erratum
set role sightline
set session authorization sightline
set session_replication_role = replica
reset session_replication_role; set session_replication_role = replica
copy public.event to program 'cat'
copy (select 1) to '/tmp/sightline-mine'
copy public.marker from '/etc/passwd'
copy public.event from stdin
select pg_read_file('/etc/passwd')
select pg_read_binary_file('PG_VERSION')
select pg_ls_dir('.')
select pg_stat_file('PG_VERSION')
select lo_import('/etc/passwd')
select lo_create(0)
select lo_from_bytea(0, 'mine')
select lo_export(1, '/tmp/sightline-mine')
select rolpassword from pg_authid
select pg_reload_conf()
select pg_switch_wal()
select pg_create_restore_point('mine')
select pg_replication_origin_create('mine')
select * from pg_hba_file_rules
load 'auto_explain.so'
"""
"""One statement a line."""


@pytest.fixture(scope="module")
def own(databases: Databases) -> Iterator[Engine]:
    """A database whose rights were granted where it stands: a clone has those of its tables only."""
    engine = make_engine(databases.make())
    with engine.begin() as connection:
        assert grant_web_rights(connection)
    yield engine
    engine.dispose()


@pytest.fixture
def web(own: Engine) -> Iterator[Connection]:
    """In autocommit: some statements are never part of a transaction."""
    with web_engine(own).connect() as connection:
        yield connection.execution_options(isolation_level="AUTOCOMMIT")


def test_every_table_says_what_the_web_role_may_do_to_it() -> None:
    assert sorted(WRITES) == sorted(Base.metadata.tables)


def test_the_database_grants_just_that(own: Engine) -> None:
    with own.connect() as connection:
        tables = connection.execute(
            sa.text(
                "select case table_schema when 'public' then '' else table_schema || '.' end || table_name as name,"
                " array_agg(lower(privilege_type) order by privilege_type) as rights"
                " from information_schema.role_table_grants where grantee = :web group by 1"
            ),
            {"web": WEB},
        ).all()
        columns = connection.execute(
            sa.text(
                "select table_name as name, array_agg(column_name::text order by column_name) as columns"
                " from information_schema.role_column_grants"
                " where grantee = :web and privilege_type = 'UPDATE' and (table_schema, table_name) not in"
                " (select table_schema, table_name from information_schema.role_table_grants"
                "  where grantee = :web and privilege_type = 'UPDATE') group by 1"
            ),
            {"web": WEB},
        ).all()
        views = set(connection.scalars(sa.text("select schemaname || '.' || viewname from pg_views")))
    found = {row.name: set(row.rights) for row in tables}
    some = {row.name: row.columns for row in columns}
    assert found.keys() - views == WRITES.keys() | {"alembic_version"}
    for name, rights in found.items():
        written = WRITES.get(name, "")
        parts = re.findall(r"(\w+)(?: \(([^)]*)\))?", written)
        assert rights == {"select"} | {right for right, part in parts if not part}, name
        [wanted] = [sorted(part.split(", ")) for right, part in parts if part] or [[]]
        assert some.get(name, []) == wanted, name


def test_no_function_lends_its_owners_rights_but_those_that_are_named(own: Engine) -> None:
    with own.connect() as connection:
        rows = connection.execute(
            sa.text(
                "select pronamespace::regnamespace || '.' || proname as name, proconfig from pg_proc"
                " where prosecdef and pronamespace::regnamespace::text = any(:ours) order by 1"
            ),
            {"ours": [*schemas(), "public"]},
        ).all()
    # PostGIS has one of its own in public: it tells the extent that the planner expects
    lending = [row for row in rows if not row.name.startswith("public.")]
    assert [row.name for row in lending] == sorted(DEFINERS)
    for row in lending:
        assert row.proconfig == ["search_path=public, pg_temp"], row.name


def test_whoever_is_not_the_web_role_calls_no_function_of_ours(own: Engine) -> None:
    with own.connect() as connection:
        connection.execute(sa.text("create role passer_by login"))
        open_to_all = connection.scalars(
            sa.text(
                "select name from unnest(cast(:ours as text[])) as name where has_schema_privilege('passer_by', name, 'usage')"
            ),
            {"ours": schemas()},
        ).all()
        connection.rollback()
    assert open_to_all == []


@pytest.mark.parametrize("statement", REFUSED.strip().splitlines())
def test_the_web_role_is_refused(web: Connection, statement: str) -> None:
    with pytest.raises(sa.exc.DBAPIError) as refused:
        web.exec_driver_sql(statement)
    assert getattr(refused.value.orig, "sqlstate", "") == FORBIDDEN, refused.value.orig


def test_the_web_role_ends_nobody_elses_work(own: Engine, web: Connection) -> None:
    with own.connect() as other:
        pid = other.scalar(sa.text("select pg_backend_pid()"))
        with pytest.raises(sa.exc.DBAPIError) as refused:
            web.execute(sa.text("select pg_terminate_backend(:pid)"), {"pid": pid})
    assert refused.value.orig.sqlstate == FORBIDDEN  # type: ignore[union-attr]


def test_an_event_is_written_in_its_turn_or_not_at_all(demo_url: URL) -> None:
    owner = make_engine(demo_url)
    with web_engine(owner).connect() as connection:
        [position] = connection.scalars(sa.text("select id from position where name = 'tanaro-assault'"))
        game = connection.scalar(
            sa.text(
                "insert into game (name, ruleset, position_id, dice) values ('x', 'fpb', positions.copy(:it), 'typed')"
                " returning id"
            ),
            {"it": position},
        )
        told = '{"actor": "referee", "action": "begin", "ruleset_version": "x", "position_digest": "", "digest": "d"}'
        append = sa.text("select number from games.append(:game, cast(:told as jsonb))")
        assert connection.scalar(append, {"game": game, "told": told}) == 1
        with pytest.raises(sa.exc.DBAPIError, match="not the next"):
            connection.execute(
                sa.text("select games.restore(:game, 7, cast(:told as jsonb))"), {"game": game, "told": told}
            )
        connection.rollback()
    owner.dispose()


def test_the_web_role_owns_nothing_and_may_nothing_beyond(own: Engine, web: Connection) -> None:
    assert might(web) == []
    owned = web.scalars(
        sa.text(
            "select pg_describe_object(classid, objid, objsubid) from pg_shdepend"
            " where deptype = 'o' and refobjid = cast(:web as regrole)"
            " and dbid in (0, (select oid from pg_database where datname = current_database()))"
        ),
        {"web": WEB},
    ).all()
    assert owned == []
    with own.connect() as connection:
        assert might(connection) == ["is an administrator", "may create roles", "may create databases",
                                     "passes by row-level security", "owns the tables"]  # fmt: skip


def test_a_policy_on_rows_would_hold_for_it(own: Engine) -> None:
    """Room for seats: whoever will see only part of a table is not its owner."""
    with own.connect() as connection:
        connection.execute(sa.text("alter table ruling enable row level security"))
        connection.execute(sa.text(f"set local role {WEB}"))
        assert connection.scalar(sa.text("select row_security_active('ruling')"))
        connection.rollback()


def test_rights_of_an_earlier_version_are_taken_back(own: Engine, web: Connection) -> None:
    with own.begin() as connection:
        connection.execute(sa.text(f"grant delete on event to {WEB}"))
        grant_web_rights(connection)
    with pytest.raises(sa.exc.ProgrammingError):
        web.execute(sa.text("delete from event"))


def test_a_change_of_rights_is_an_upgrade(databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
    from db import schema

    engine = make_engine(databases.make())
    with engine.begin() as connection:
        assert schema.is_current(connection)
        monkeypatch.setattr(schema, "grants", lambda names: [*grants(names), "select 1"])
        assert not schema.is_current(connection)
        upgrade(connection, lambda step: None)
        assert schema.is_current(connection)
    engine.dispose()


def test_a_restored_database_lets_the_web_role_in(databases: Databases, tmp_path: Path) -> None:
    url = databases.make()
    backup_database(url, tmp_path / "x.dump")
    restore_database(url, tmp_path / "x.dump", lambda step: None)
    address = as_web(url).set(drivername="postgresql").render_as_string()
    with psycopg.connect(address) as connection:
        assert connection.execute("select count(*) from ruleset").fetchone() == (5,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("create temporary table mine (n integer)")


def test_every_scenario_is_set_up_by_the_web_role(own: Engine) -> None:
    """It brings its map, its georeference and what it fills into charts along."""
    for name in scenarios():
        with web_engine(own).connect() as connection:
            install(connection, read_scenario(name))
            connection.rollback()


# Who connects as whom


def address(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def test_who_asks_connects_as_the_web_role_and_who_writes_as_the_owner(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_DATABASE_URL", address(databases.make()))
    with asking() as connection:
        assert connection.scalar(sa.text("select current_user")) == WEB
    with writing() as connection:
        assert connection.scalar(sa.text("select current_user")) == "sightline"


def test_the_web_server_connects_as_the_web_role(databases: Databases) -> None:
    url = databases.make()
    with (
        serving(environment={"SIGHTLINE_DATABASE_URL": address(url)}),
        psycopg.connect(address(url)) as connection,
    ):
        users = connection.execute(
            "select distinct usename from pg_stat_activity where datname = current_database()"
            " and application_name = 'sightline'"
        ).fetchall()
    assert users == [(WEB,)]


def test_a_database_that_knows_nothing_of_the_role_yet_is_made_to(databases: Databases) -> None:
    url = databases.make()
    with psycopg.connect(address(url), autocommit=True) as connection:
        connection.execute(f"revoke all on all tables in schema public from {WEB}")
    engine = open_doors(Settings(database_url=address(url)), serving=True)
    with engine.connect() as connection:
        assert connection.scalar(sa.text("select current_user")) == WEB
    engine.dispose()


def test_a_role_that_is_missing_is_told_with_what_to_do(databases: Databases) -> None:
    url = databases.make()
    settings = Settings(database_url=address(url), web_database_url=address(url.set(username="somebody")))
    for serving_ in (True, False):
        with pytest.raises(DatabaseError, match='role "somebody" does not exist') as told:
            open_doors(settings, serving=serving_)
        assert "create role sightline_web login" in told.value.remedy
        assert "SIGHTLINE_WEB_DATABASE_URL" in told.value.remedy


def test_a_member_of_the_role_is_as_good(databases: Databases) -> None:
    url = databases.make()
    with psycopg.connect(address(url), autocommit=True) as connection:
        connection.execute(f"create role sightline_web_two login in role {WEB}")
    settings = Settings(
        database_url=address(url), web_database_url=address(url.set(username="sightline_web_two"))
    )
    said: list[str] = []
    engine = open_doors(settings, said.append, serving=True)
    assert said == []
    engine.dispose()


def test_a_web_server_that_connects_as_the_owner_says_so(databases: Databases) -> None:
    url = address(databases.make())
    said: list[str] = []
    open_doors(Settings(database_url=url, web_database_url=url), said.append, serving=True).dispose()
    [told] = said
    assert "connect as sightline, who is an administrator" in told


def test_one_address_without_the_other_is_refused() -> None:
    with pytest.raises(DatabaseError, match="SIGHTLINE_DATABASE_URL is not"):
        open_doors(Settings(web_database_url="postgresql://x@/y"))


def test_only_the_owner_upgrades(databases: Databases) -> None:
    url = databases.make()
    with psycopg.connect(address(url), autocommit=True) as connection:
        connection.execute("update schema_state set verbs = 'old'")
    told = CommandLine(as_web(url))("maps", "list")
    assert told.status == 2
    assert "only its owner sightline can upgrade it" in told.err
    open_database(Settings(database_url=address(url))).dispose()
    assert CommandLine(as_web(url))("maps", "list").status == 0
