"""What a start loads: help needs no library but click, and a line of sight no more than it asks."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from command_line import CommandLine
from processes import python
from sqlalchemy.engine import URL

from app.terminal import catalogue
from app.terminal.catalogue import UnreadableError, entries, kinds_in, read
from app.terminal.cli import cli, gather

LOADED = """
import json, sys
from app.terminal.cli import main
try:
    main()
except SystemExit as stop:
    status = stop.code
print(json.dumps([status, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
HEAVY = {"sqlalchemy", "psycopg", "pydantic", "yaml", "rich"}
"""What a question needs, and help does not."""
SELDOM = {
    "alembic", "mako", "flask", "flask_openapi3", "werkzeug", "jinja2", "waitress",
    "geoalchemy2", "shapely", "numpy", "pyogrio",
}  # fmt: skip
"""What neither needs."""


def loaded(*arguments: str, url: URL | None = None) -> set[str]:
    """The libraries that a command loads, in a process of its own."""
    address = {} if url is None else {"SIGHTLINE_DATABASE_URL": CommandLine(url).address}
    process = python("-c", LOADED, *arguments, environment=address)
    out, err = process.communicate(timeout=120)
    status, found = json.loads(out.splitlines()[-1])
    assert status == 0, err
    return set(found)


@pytest.mark.parametrize("argument", ["--help", "-h", "--version"])
def test_help_loads_no_library_but_its_own(argument: str) -> None:
    found = loaded(argument)
    assert "click" in found
    assert found & (HEAVY | SELDOM) == set()


def test_a_line_of_sight_loads_nothing_that_draws_serves_or_migrates(demo_url: URL) -> None:
    found = loaded("los", "lipata-landing", "A/1/31", "14.12", url=demo_url)
    assert found >= HEAVY
    assert found & SELDOM == set()


def test_names_and_first_sentences_read_off_the_sources_are_those_of_the_commands() -> None:
    commands = gather().commands
    assert list(entries()) == sorted(commands)
    for name, entry in entries().items():
        assert entry.short_help(60) == commands[name].get_short_help_str(60), name
        assert commands[name] in catalogue.load(entry.module)


def test_a_command_is_imported_from_the_module_that_has_it() -> None:
    with click.Context(cli) as context:
        for name in entries():
            found = cli.get_command(context, name)
            assert found is not None
            assert found.name == name
        assert cli.get_command(context, "nonsense") is None


@pytest.mark.parametrize(
    "text",
    [
        "COMMANDS = [make(word) for word in words()]",
        "COMMANDS = [*others]",
        "COMMANDS = [somewhere.else_]",
        "def plain() -> None: ...\nCOMMANDS = [plain]",
        "@click.command(NAME)\ndef named() -> None: ...\nCOMMANDS = [named]",
        "ORDERS = []",
    ],
)
def test_a_source_that_does_not_say_its_commands_plainly_is_not_guessed_at(tmp_path: Path, text: str) -> None:
    source = tmp_path / "odd.py"
    source.write_text(text)
    with pytest.raises(UnreadableError):
        list(read("odd", source))


def test_a_kind_whose_name_is_worked_out_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text('KIND = QuestionKind(name=f"{x}", title="Odd")')
    with pytest.raises(UnreadableError):
        list(kinds_in(tmp_path))


def test_a_module_that_cannot_be_read_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreadable(module: str, path: Path) -> list[catalogue.Entry]:
        raise UnreadableError

    before = entries()
    monkeypatch.setattr(catalogue, "read", unreadable)
    entries.cache_clear()
    try:
        found = entries()
        assert list(found) == list(before)
        assert {name: one.module for name, one in found.items()} == {
            name: one.module for name, one in before.items()
        }
    finally:
        entries.cache_clear()
