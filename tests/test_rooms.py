"""The rooms of the house: who may import whom, and what a version of the rules is told from."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.referee import version
from app.referee.questions import kinds
from app.referee.version import VersionError, ruling_modules, version_of
from tests.conftest import FOR_TESTS, ROOT

ROOMS = ("db", "importers", "app.referee", "app.play", "app.drawing", "app.web", "app.terminal")
"""From the bottom to the top: a room imports those before it, never one behind it."""
DOORS = {"flask", "flask_openapi3", "werkzeug", "jinja2", "markupsafe", "click", "rich", "waitress"}
"""Libraries that only doors know."""


def room(module: str) -> str | None:
    return next((name for name in ROOMS if module == name or module.startswith(f"{name}.")), None)


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Every module that a source names in an import, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def trespasses(module: str, source: str) -> list[str]:
    """What a module imports that it should not know."""
    own = room(module)
    assert own is not None
    found = []
    for line, name in imports(source):
        other = room(name)
        if other is not None and ROOMS.index(other) > ROOMS.index(own):
            found.append(f"{module}:{line} imports {name}")
        if ROOMS.index(own) <= ROOMS.index("app.play") and name.partition(".")[0] in DOORS:
            found.append(f"{module}:{line} imports {name}, which only doors know")
    return found


def modules() -> list[tuple[str, Path]]:
    found = [
        (".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path)
        for folder in ("db", "importers", "app")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    return [(name, path) for name, path in found if name not in ("app", "app.__main__")]


def test_every_module_is_in_a_room() -> None:
    assert [name for name, _ in modules() if room(name) is None] == []


def test_nobody_imports_upward() -> None:
    found = [line for name, path in modules() for line in trespasses(name, path.read_text(encoding="utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("db.maps", "from importers.cases import read_case"),
        ("importers.cases", "import app.referee.rulings"),
        ("app.referee.boards", "def f():\n    from app.web.site import engine"),
        ("app.web.site", "from app.terminal.output import say"),
        ("app.referee.words", "from rich.text import Text"),
    ],
)
def test_the_look_for_trespasses_finds_them(module: str, source: str) -> None:
    assert trespasses(module, source)


def test_a_version_is_told_from_every_module_that_rules() -> None:
    listed = set(ruling_modules())
    assert {Path(inspect.getfile(kind.rule)) for kind in kinds()} <= listed
    assert Path(version.rulings.__file__) in listed


def test_another_word_in_a_module_is_another_version(tmp_path: Path) -> None:
    copies = [tmp_path / path.relative_to(ROOT) for path in ruling_modules()]
    for path, copied in zip(ruling_modules(), copies, strict=True):
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copied)
    before = version_of("css", copies)
    assert before == version_of("css", ruling_modules())
    copies[-1].write_text(copies[-1].read_text(encoding="utf-8") + "# another word\n", encoding="utf-8")
    assert version_of("css", copies) != before


def test_without_modules_of_questions_there_is_no_version() -> None:
    with pytest.raises(VersionError, match="No module of questions"):
        version_of("css", [Path(version.rulings.__file__)])


def test_every_variable_that_a_test_reads_reaches_it() -> None:
    """Others are taken out of the environment, since they would be settings of whoever runs the tests."""
    read = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r'environ(?:\.get\(|\[)"(SIGHTLINE_\w+)"', path.read_text(encoding="utf-8"))
    }
    assert {"SIGHTLINE_FUZZ", "SIGHTLINE_FAULTS"} <= read
    assert read <= set(FOR_TESTS)
