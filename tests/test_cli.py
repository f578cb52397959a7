"""The command line: help, exit status, settings, and the commands on the database."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
import psycopg
import pytest
from processes import folder_of, needs_root, python, sightline
from sqlalchemy.engine import URL

from app.terminal.cli import gather, main
from app.terminal.commands import checks
from db import SightlineError, __version__
from db.cluster import Cluster
from db.settings import Settings, load_settings
from tests.conftest import Databases

COLOUR = "\x1b["
Sightline = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Sightline:
    """The command line in this process: as `sightline` of `processes`, and quicker."""

    def run(
        *arguments: str, environment: Mapping[str, str] | None = None, typed: str = ""
    ) -> subprocess.CompletedProcess[str]:
        with monkeypatch.context() as patch:
            for name, value in (environment or {}).items():
                patch.setenv(name, value)
            patch.setattr("sys.argv", ["sightline", *arguments])
            patch.setattr("sys.stdin", io.StringIO(typed))
            capfd.readouterr()
            with pytest.raises(SystemExit) as stop:
                main()
            printed = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, int(stop.value.code or 0), printed.out, printed.err)

    return run


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its full name."""

    def below(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            for word, child in sorted(command.commands.items()):
                yield from below(f"{name} {word}", child)

    yield from below("sightline", gather())


def address(url: URL) -> dict[str, str]:
    return {"SIGHTLINE_DATABASE_URL": url.set(drivername="postgresql").render_as_string()}


@pytest.fixture(scope="module")
def somewhere(databases: Databases) -> dict[str, str]:
    """The setting for a database that is current; tests leave it so."""
    return address(databases.make())


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_has_help_with_an_example(name: str) -> None:
    command = dict(commands())[name]
    with click.Context(command, info_name=name, help_option_names=["-h", "--help"]) as context:
        text = command.get_help(context)
    assert command.help, f"{name} has no help"
    assert re.search(r"Examples?:\n(.*\n)*?.*sightline ", text), f"the help of `{name}` shows no example"
    for option in command.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name}: {option.opts[0]} has no help"


@pytest.mark.parametrize(
    "arguments", [("--help",), ("-h",), ("db", "--help"), ("db", "backup", "-h"), ("test", "--help")]
)
def test_help_is_status_0(command: Sightline, arguments: tuple[str, ...]) -> None:
    told = command(*arguments)
    assert told.returncode == 0
    assert told.stdout.startswith("Usage: sightline")
    assert COLOUR not in told.stdout


def test_version() -> None:
    told = sightline("--version")
    assert (told.returncode, told.stdout) == (0, f"sightline, version {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bakup",), "No such command 'bakup'"),
        (("db", "stat"), "No such command 'stat'"),
        (("db", "status", "--jsn"), "No such option"),
        (("db", "backup"), "Missing argument 'FILE'"),
        (("db", "restore", "/nowhere/x.dump"), "does not exist"),
        (("serve", "--port", "0"), "not in the range"),
        (("serve", "--host", "0.0.0.0"), "is not one of"),
    ],
)
def test_bad_input_is_status_2_and_one_word_on_it(
    command: Sightline, arguments: tuple[str, ...], said: str
) -> None:
    told = command(*arguments)
    assert told.returncode == 2
    assert said in told.stderr
    assert told.stdout == ""
    assert "Traceback" not in told.stderr


def test_status_is_0_where_all_is_well_and_1_where_it_is_not(
    command: Sightline, somewhere: dict[str, str], databases: Databases
) -> None:
    assert command("db", "status", environment=somewhere).returncode == 0
    assert command("db", "status", environment=address(databases.make(template=None))).returncode == 1


def test_status_as_json_tells_server_postgis_and_revision(
    command: Sightline, somewhere: dict[str, str]
) -> None:
    facts = json.loads(command("db", "status", "--json", environment=somewhere).stdout)
    assert facts["running"] is True
    assert facts["current"] is True
    assert facts["revision"] == facts["newest_revision"]
    assert re.match(r"\d+\.\d+", facts["server"])
    assert re.match(r"3\.\d+", facts["postgis"])


def test_a_server_that_is_away_is_status_1_of_status_and_2_of_the_rest(command: Sightline) -> None:
    environment = {"SIGHTLINE_DATABASE_URL": "postgresql://me:secret@127.0.0.1:1/none"}
    told = command("db", "status", "--json", environment=environment)
    assert told.returncode == 1
    facts = json.loads(told.stdout)
    assert facts["running"] is False
    assert "refused" in facts["error"]
    upgraded = command("db", "upgrade", environment=environment)
    assert upgraded.returncode == 2
    assert "Cannot connect to postgresql://me:***@127.0.0.1:1/none" in upgraded.stderr
    assert "secret" not in told.stdout + upgraded.stderr


REFUSING = """
create function public.refuse() returns trigger language plpgsql
as $$ begin raise exception 'as wanted' using errcode = '{state}'; end $$;
create trigger refuse before insert on hex execute function public.refuse()
"""


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("53100", "The database has no room left on its disk. (as wanted"),
        ("58030", "The database cannot read or write its disk. (as wanted"),
        ("57P01", "The database does not answer: as wanted"),
    ],
)
def test_what_the_database_refuses_within_a_copy_is_told_in_words(
    command: Sightline, databases: Databases, state: str, told: str
) -> None:
    url = databases.make()
    with psycopg.connect(url.set(drivername="postgresql").render_as_string()) as connection:
        connection.execute(REFUSING.format(state=state))
    refused = command("demo", "load", environment=address(url))
    assert refused.returncode == 2
    assert told in refused.stderr


def test_colours_are_for_terminals_only(somewhere: dict[str, str]) -> None:
    plain = sightline("db", "status", environment=somewhere)
    assert COLOUR not in plain.stdout + plain.stderr
    refused = sightline("db", "upgrade", environment={"SIGHTLINE_DATABASE_URL": "nonsense"})
    assert COLOUR not in refused.stderr
    ours, theirs = pty.openpty()
    environment = {"SIGHTLINE_DATABASE_URL": "nonsense", "TERM": "xterm"}
    process = python("-m", "app", "db", "upgrade", environment=environment, stderr=theirs)
    process.wait(30)
    os.close(theirs)
    assert COLOUR.encode() in os.read(ours, 1000)
    os.close(ours)


def test_a_reader_that_has_seen_enough_is_no_error(somewhere: dict[str, str]) -> None:
    process = python("-m", "app", "settings", environment={**somewhere, "PYTHONUNBUFFERED": ""})
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(30) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""


@pytest.mark.parametrize("arguments", [("db", "reset"), ("db", "restore", "FILE")])
def test_nothing_is_destroyed_without_a_yes(
    command: Sightline, databases: Databases, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    url = databases.make()
    file = tmp_path / "some.dump"
    assert command("db", "backup", str(file), environment=address(url)).returncode == 0
    words = [str(file) if word == "FILE" else word for word in arguments]
    marked = url.set(drivername="postgresql").render_as_string()
    with psycopg.connect(marked, autocommit=True) as connection:
        connection.execute("create table mark ()")
    for typed in ("n\n", "\n", ""):
        refused = command(*words, environment=address(url), typed=typed)
        assert refused.returncode == 2
        assert "nothing was changed" in refused.stderr
        with psycopg.connect(marked) as connection:
            assert connection.execute("select count(*) from mark").fetchone() == (0,)
    agreed = command(*words, environment=address(url), typed="y\n")
    assert agreed.returncode == 0, agreed.stderr
    with psycopg.connect(marked) as connection:
        assert connection.execute("select to_regclass('mark')").fetchone() == (None,)


def rows_of_every_table(url: str) -> dict[str, list[tuple[object, ...]]]:
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "select format('%I.%I', schemaname, tablename) from pg_tables"
            " where schemaname not in ('pg_catalog', 'information_schema') and tablename <> 'spatial_ref_sys'"
            " order by 1"
        ).fetchall()
        return {
            table: connection.execute(f"select t::text from {table} as t order by 1").fetchall()  # type: ignore[call-overload]
            for (table,) in tables
        }


MAP = """
insert into map (name, title, ruleset, scheme) values ('here', 'Here', 'css', '{}');
insert into hex (map_id, ruleset, q, r, label, terrain, level)
select map.id, 'css', q, r, format('%s.%s', q, r), 'clear', 1 from map, generate_series(0, 3) as q, generate_series(0, 3) as r
"""


def test_backup_then_restore_into_an_empty_cluster_gives_the_same_content(
    command: Sightline, databases: Databases, tmp_path: Path
) -> None:
    url = databases.make()
    source = url.set(drivername="postgresql").render_as_string()
    with psycopg.connect(source, autocommit=True) as connection:
        connection.execute(MAP)
    file = tmp_path / "all [of it].dump"
    written = command("db", "backup", str(file), environment=address(url))
    assert written.returncode == 0, written.stderr
    assert "[of it].dump" in written.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    with folder_of() as folder:
        environment = {"SIGHTLINE_HOME": str(folder / "home")}
        cluster = Cluster(folder / "home")
        try:
            restored = command("db", "restore", "--yes", str(file), environment=environment)
            assert restored.returncode == 0, restored.stderr
            assert command("db", "status", environment=environment).returncode == 0
            there, here = rows_of_every_table(cluster.url()), rows_of_every_table(source)
            assert here["public.hex"]
            assert list(there) == list(here)
            for table, rows in here.items():
                assert there[table] == rows, table
            with psycopg.connect(cluster.url()) as connection:
                names = connection.execute("select datname from pg_database order by 1").fetchall()
            assert names == [("postgres",), ("sightline",), ("template0",), ("template1",)]
        finally:
            cluster.destroy()


def test_a_backup_overwrites_nothing_unasked(
    command: Sightline, somewhere: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "kept"
    file.write_text("mine")
    refused = command("db", "backup", str(file), environment=somewhere)
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    assert file.read_text() == "mine"
    assert command("db", "backup", "--force", str(file), environment=somewhere).returncode == 0
    assert file.read_bytes().startswith(b"PGDMP")


def test_a_backup_to_nowhere_is_refused(
    command: Sightline, somewhere: dict[str, str], tmp_path: Path
) -> None:
    refused = command("db", "backup", str(tmp_path / "no" / "such" / "file"), environment=somewhere)
    assert refused.returncode == 2
    assert "Cannot write" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_empty_database_has_nothing_to_back_up(
    command: Sightline, databases: Databases, tmp_path: Path
) -> None:
    refused = command("db", "backup", str(tmp_path / "x"), environment=address(databases.make(template=None)))
    assert refused.returncode == 2
    assert "nothing to back up" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_backup_upgrades_nothing(command: Sightline, databases: Databases, tmp_path: Path) -> None:
    """It is what one makes before an upgrade."""
    url = databases.make()
    plain = url.set(drivername="postgresql").render_as_string()
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute("update schema_state set verbs = 'of an earlier version'")
    assert command("db", "backup", str(tmp_path / "x"), environment=address(url)).returncode == 0
    with psycopg.connect(plain) as connection:
        assert connection.execute("select verbs from schema_state").fetchone() == ("of an earlier version",)


def foreign_dump(databases: Databases, folder: Path, *statements: str) -> Path:
    """A well-formed dump of a database that is not quite ours."""
    url = databases.make(template=None if not statements else "template_sightline")
    plain = url.set(drivername="postgresql").render_as_string()
    with psycopg.connect(plain, autocommit=True) as connection:
        for statement in statements or ("create table stranger (n integer)",):
            connection.execute(statement)  # type: ignore[call-overload]
    file = folder / "foreign.dump"
    subprocess.run(["pg_dump", "--format=custom", "-f", file, plain], check=True)
    return file


def test_a_restore_that_fails_leaves_all_as_it_was(
    command: Sightline, databases: Databases, tmp_path: Path
) -> None:
    url = databases.make()
    plain = url.set(drivername="postgresql").render_as_string()
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(MAP)
    good = tmp_path / "good.dump"
    assert command("db", "backup", str(good), environment=address(url)).returncode == 0
    before = rows_of_every_table(plain)
    garbage, half = tmp_path / "garbage.dump", tmp_path / "half.dump"
    garbage.write_bytes(b"this is no backup\n" * 100)
    half.write_bytes(good.read_bytes()[: good.stat().st_size // 2])
    newer = foreign_dump(databases, tmp_path, "update alembic_version set version_num = '9999'")
    newer = newer.rename(tmp_path / "newer.dump")
    stranger = foreign_dump(databases, tmp_path)
    for file, said in (
        (garbage, "valid archive"),
        (half, "was not restored"),
        (newer, "9999"),
        (stranger, "not a backup of a Sightline database"),
    ):
        refused = command("db", "restore", "--yes", str(file), environment=address(url))
        assert refused.returncode == 2
        assert said in refused.stderr
        assert "as it was" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert rows_of_every_table(plain) == before
    with psycopg.connect(plain) as connection:
        left = connection.execute(
            "select count(*) from pg_database where datname like %s", [f"{url.database}\\_%"]
        ).fetchone()
    assert left == (0,)


def test_psql_takes_what_follows_the_dashes(somewhere: dict[str, str]) -> None:
    told = sightline(
        "db", "psql", "--", "-XAtc", "select lattice.distance(0, 0, 3, -1)", environment=somewhere
    )
    assert (told.returncode, told.stdout) == (0, "3\n"), told.stderr
    failed = sightline("db", "psql", "--", "-Xc", "select nonsense", environment=somewhere)
    assert failed.returncode == 1


def test_psql_opens_a_database_that_cannot_be_upgraded(databases: Databases) -> None:
    """How else would somebody drop the views that are in the way?"""
    url = databases.make()
    with psycopg.connect(url.set(drivername="postgresql").render_as_string(), autocommit=True) as connection:
        connection.execute("update alembic_version set version_num = '9999'")
    told = sightline("db", "psql", "--", "-XAtc", "select 1", environment=address(url))
    assert (told.returncode, told.stdout) == (0, "1\n"), told.stderr


def test_the_password_is_on_no_command_line_that_others_could_read(somewhere: dict[str, str]) -> None:
    url = somewhere["SIGHTLINE_DATABASE_URL"].replace("sightline@", "sightline:secret@")
    query = "select pg_sleep(0)"
    told = sightline(
        "db", "psql", "--", "-XAtc", query, "-c", "\\! tr '\\0' ' ' < /proc/$PPID/cmdline",
        environment={"SIGHTLINE_DATABASE_URL": url},
    )  # fmt: skip
    assert query in told.stdout
    assert "secret" not in told.stdout


def test_settings_come_from_the_environment_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "sightline.toml"
    file.write_text('port = 9001\nlog_level = "debug"\n')
    environment = {"SIGHTLINE_PORT": "9002"}
    told = sightline("settings", "--json", environment=environment, cwd=str(tmp_path))
    assert told.returncode == 0, told.stderr
    values = json.loads(told.stdout)
    assert values["SIGHTLINE_PORT"] == 9002
    assert values["SIGHTLINE_LOG_LEVEL"] == "debug"
    assert values["SIGHTLINE_THREADS"] == Settings().threads
    named = sightline("settings", "--json", environment={"SIGHTLINE_CONFIG": str(file)})
    assert json.loads(named.stdout)["SIGHTLINE_PORT"] == 9001


def test_settings_hide_the_password(command: Sightline) -> None:
    environment = {"SIGHTLINE_DATABASE_URL": "postgresql://me:secret@db/games"}
    for option in ((), ("--json",)):
        told = command("settings", *option, environment=environment)
        assert "postgresql://me:***@db/games" in told.stdout
        assert "secret" not in told.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port = 0", "setting port (from {file}): Input should be greater than or equal to 1"),
        ('host = "0.0.0.0"', "setting host (from {file}): 0.0.0.0 is not a loopback address"),
        ("prot = 8000", "setting prot (from {file}): there is no such setting"),
        ("port = ", "{file}: not TOML"),
        ('log_format = "xml"', "setting log_format (from {file}): Input should be 'text' or 'json'"),
    ],
)
def test_a_wrong_setting_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    monkeypatch.setenv("SIGHTLINE_CONFIG", str(file))
    with pytest.raises(SightlineError) as wrong:
        load_settings()
    assert said.format(file=file) in wrong.value.message


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_THREADS", "many")
    with pytest.raises(SightlineError, match=r"setting threads \(from the variable SIGHTLINE_THREADS\)"):
        load_settings()


def test_a_config_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_CONFIG", "/nowhere/sightline.toml")
    with pytest.raises(SightlineError, match=r"/nowhere/sightline\.toml, which is not there"):
        load_settings()


@needs_root
def test_a_config_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with folder_of() as folder:
        file = folder / "closed.toml"
        file.write_text("port = 9001")
        file.chmod(0o600)
        refused = sightline("settings", environment={"SIGHTLINE_CONFIG": str(file)}, user="nobody")
    assert refused.returncode == 2
    assert f"Cannot read {file}" in refused.stderr


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("nonsense", "is not a database address"),
        ("postgresql://host:port/db", "is not a database address"),
        ("mysql://me@host/db", "names a mysql database; Sightline needs PostgreSQL"),
        ("postgresql://me@host", "names no database"),
        ("postgresql://me@127.0.0.1:1/db?colour=red", 'invalid connection option "colour"'),
    ],
)
def test_a_wrong_address_is_told_apart(command: Sightline, url: str, said: str) -> None:
    refused = command("db", "upgrade", environment={"SIGHTLINE_DATABASE_URL": url})
    assert refused.returncode == 2
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_tests_of_an_installed_sightline_are_refused(tmp_path: Path) -> None:
    """They are in the project's folder only."""
    code = "import app.terminal.commands.checks as c, pathlib, app.terminal.cli, sys; c.CHECKOUT = pathlib.Path('/'); sys.argv[1:] = ['test']; app.terminal.cli.main()"
    process = python("-c", code)
    assert process.wait(30) == 2
    assert process.stderr is not None
    assert "Run ./sightline test there" in process.stderr.read()


def test_a_linter_beside_the_tests_fails_the_run_and_tells_what_it_found(
    command: Sightline, monkeypatch: pytest.MonkeyPatch
) -> None:
    linters = [("content", ["platform"]), ("picky", ["a_linter_that_is_not_there"])]
    monkeypatch.setattr(checks, "_linters", lambda: linters)
    monkeypatch.setattr(checks, "_test", lambda arguments: True)
    told = command("test")
    assert told.returncode == 1
    assert "content ok (" in told.stderr
    assert "picky FAILED (" in told.stderr
    assert "No module named a_linter_that_is_not_there" in told.stdout
    assert told.stdout.splitlines()[-1] == "failed: picky"
    monkeypatch.setattr(checks, "_linters", lambda: linters[:1])
    assert command("test").returncode == 0
    monkeypatch.setattr(checks, "_test", lambda arguments: False)
    assert command("test").stdout.splitlines() == ["failed: pytest"]
