"""The documentation names everything there is, and what it tells works."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
import sqlalchemy as sa
from processes import ROOT, sightline
from sqlalchemy.engine import Connection, Engine

from app.terminal.cli import gather
from app.web.site import create_app
from db import __version__
from db.schema import schemas
from db.settings import PREFIX, Settings
from tests.conftest import Databases

README = (ROOT / "README.md").read_text(encoding="utf-8")
RENEW = "run `.venv/bin/python docs/reference.py`"
TOLD_ELSEWHERE = ("serve", "test")
"""Commands of the README that other tests run: test_web and, well, this run."""


def documented() -> str:
    pages = sorted((ROOT / "docs").glob("*.md"))
    return "\n".join([README, *(page.read_text(encoding="utf-8") for page in pages)])


def reference() -> object:
    specification = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["reference"] = module
    specification.loader.exec_module(module)
    return module


REFERENCE = reference()


@pytest.mark.parametrize("name", ["commands.md", "settings.md", "api.md", "procedures.md", "sql.md"])
def test_a_reference_page_is_what_the_code_says(name: str) -> None:
    wanted = REFERENCE.PAGES[name]()  # type: ignore[attr-defined]
    found = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert found == wanted, f"docs/{name} is not up to date: {RENEW}"


def test_every_command_and_option_is_documented() -> None:
    text = documented()
    missing = []
    for name, command in REFERENCE.commands():  # type: ignore[attr-defined]
        if name not in text:
            missing.append(name)
        missing += [
            f"{name} {option.opts[-1]}"
            for option in command.params
            if isinstance(option, click.Option) and option.opts[-1] not in text
        ]
    assert not missing, f"in no page of docs/: {', '.join(missing)}; {RENEW}"


def test_every_setting_is_documented() -> None:
    text = documented()
    missing = [PREFIX + name.upper() for name in Settings.model_fields if PREFIX + name.upper() not in text]
    assert not missing, f"in no page of docs/: {', '.join(missing)}; {RENEW}"


def test_every_variable_that_the_code_reads_is_documented() -> None:
    text = documented()
    files = [
        ROOT / "sightline",
        *(path for room in ("app", "db", "importers") for path in (ROOT / room).rglob("*.py")),
    ]
    read = {word for path in files for word in re.findall(r"\bSIGHTLINE_[A-Z_]+[A-Z]\b", path.read_text())}
    missing = sorted(word for word in read if word not in text)
    assert not missing, f"in no page of docs/: {', '.join(missing)}"


def test_every_api_route_is_documented(engine: Engine) -> None:
    text = documented()
    rules = {
        re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for rule in create_app(Settings(), engine).url_map.iter_rules()
    }
    missing = sorted(
        rule
        for rule in rules
        if rule.startswith("/api/") and not rule.startswith("/api/docs/") and rule not in text
    )
    assert not missing, f"in no page of docs/: {', '.join(missing)}; {RENEW}"


def test_every_public_sql_function_view_and_type_is_documented(connection: Connection) -> None:
    text = documented()
    names = connection.scalars(
        sa.text(
            "select distinct pronamespace::regnamespace::text || '.' || proname from pg_proc"
            " where pronamespace::regnamespace::text = any(:ours) and proname not like '\\_%'"
            " union select relnamespace::regnamespace::text || '.' || relname from pg_class"
            " where relnamespace::regnamespace::text = any(:ours) and relkind in ('v', 'm', 'c')"
            " and relname not like '\\_%' order by 1"
        ),
        {"ours": schemas()},
    ).all()
    # gis.hex_world is gis.hex in another CRS, and so on: docs/gis.md tells of all in one
    missing = [
        name for name in names if not re.search(rf"\b{re.escape(name.removesuffix('_world'))}\b", text)
    ]
    assert not missing, f"in no page of docs/: {', '.join(missing)}; give each a comment and {RENEW}"


def test_the_readme_shows_the_two_commands() -> None:
    assert "./sightline serve " in README
    assert "./sightline test " in README


def test_the_newest_version_of_the_changelog_is_the_projects() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.+)$", text, re.MULTILINE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert versions[0] == project["version"] == __version__
    numbers = [tuple(map(int, version.split("."))) for version in versions]
    assert numbers == sorted(set(numbers), reverse=True)


def glossary() -> list[tuple[str, list[str]]]:
    """The house words, each with where it lives."""
    page = (ROOT / "docs" / "developing.md").read_text(encoding="utf-8")
    table = page.partition("## House words")[2].partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    return [(row[0].strip(), re.findall("`([^`]+)`", row[-1])) for row in rows]


def test_a_house_word_lives_where_the_glossary_says() -> None:
    words = glossary()
    assert len(words) > 30
    assert [word for word, _ in words] == sorted(word for word, _ in words)
    lost = [(word, place) for word, places in words for place in places if not (ROOT / place).exists()]
    assert lost == []
    assert [word for word, places in words if not places] == []


def test_links_between_pages_lead_somewhere() -> None:
    lost = []
    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if not target.startswith(("http:", "https:", "mailto:")) and not (page.parent / target).exists():
                lost.append(f"{page.relative_to(ROOT)}: {target}")
    assert not lost, f"lead nowhere: {', '.join(lost)}"


def test_the_readme_leads_to_every_page() -> None:
    pages = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")}
    unlinked = sorted(pages - set(re.findall(r"\]\(([^)#\s]+)", README)))
    assert not unlinked, f"not linked from the README: {', '.join(unlinked)}"


def shell_commands(text: str) -> list[str]:
    """The `./sightline …` lines of shell blocks, without their remarks."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [re.sub(r"\s+# .*", "", line) for line in lines if line.startswith("./sightline ")]


@pytest.mark.parametrize(
    "page", ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
)
def test_commands_in_a_page_exist_and_take_what_they_are_given(page: str) -> None:
    for line in shell_commands((ROOT / page).read_text(encoding="utf-8")):
        command: click.Command = gather()
        words = shlex.split(line)[1:]
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            child = command.commands.get(words.pop(0))
            assert child is not None, f"{page}: there is no such command: {line}"
            command = child
        known = {
            option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        if not command.ignore_unknown_options:
            for word in words:
                assert not word.startswith("--") or word.partition("=")[0] in known | {
                    "--help",
                    "--",
                    "--version",
                }, f"{page}: {word} is no option of `{line}`"


README_COMMANDS = [line for line in shell_commands(README) if shlex.split(line)[1] not in TOLD_ELSEWHERE]


@pytest.fixture(scope="module")
def reader(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A folder that looks like the project's, and a database with the demo, as `serve` leaves it."""
    folder = tmp_path_factory.mktemp("reader")
    for path in ROOT.iterdir():
        (folder / path.name).symlink_to(path)
    url = databases.make().set(drivername="postgresql").render_as_string()
    environment = {"SIGHTLINE_DATABASE_URL": url}
    loaded = sightline("demo", "load", environment=environment, cwd=str(folder))
    assert loaded.returncode == 0, loaded.stderr
    return folder, environment


def test_the_readme_has_commands_to_try() -> None:
    assert len(README_COMMANDS) >= 3


@pytest.mark.parametrize("line", README_COMMANDS)
def test_a_command_of_the_readme_works(reader: tuple[Path, dict[str, str]], line: str) -> None:
    folder, environment = reader
    told = sightline(*shlex.split(line)[1:], environment=environment, cwd=str(folder))
    assert told.returncode == 0, told.stderr
    assert told.stdout or told.stderr


def test_the_comparison_of_two_versions_of_sql_starts() -> None:
    """What it draws positions from is imported by nothing else, so that nothing else would miss it."""
    [told] = re.findall(r"\.venv/bin/python (-m tests\.\w+) HEAD", documented())
    done = subprocess.run([sys.executable, *told.split(), "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
