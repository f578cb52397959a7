"""What commands there are, read off the sources, so that help needs none of the modules behind them.

Each module of `app.terminal.commands` ends in a list `COMMANDS` of functions that click makes
commands of; the module of the questions makes its own from the registry of kinds. Names and first
sentences stand in those sources as they are written, so nothing is said twice and nothing can go
stale. A module that cannot be read so is imported instead.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

import app
from app.terminal import commands

QUESTIONS = Path(app.__file__).parent / "referee" / "questions"
SUFFIXES = ("_command", "_group")
"""What click leaves out at the end of a function's name."""


class UnreadableError(Exception):
    """A source that does not say its commands in plain words."""


@dataclasses.dataclass(frozen=True)
class Entry:
    """A command: where it is, and what it says of itself."""

    name: str
    module: str
    help: str

    def short_help(self, limit: int) -> str:
        """The first sentence, as click cuts it."""
        return click.Command(self.name, help=self.help).get_short_help_str(limit)


def question_name(kind: str) -> str:
    """The command that asks a kind of question."""
    return kind.replace("_", "-")


def question_help(title: str) -> str:
    """What a list of commands says of a kind of question."""
    return f"{title}, asked of a saved map or position."


@functools.cache
def entries() -> dict[str, Entry]:
    """Every command by its name."""
    found = (entry for module in modules() for entry in _entries(module))
    return {entry.name: entry for entry in sorted(found, key=lambda entry: entry.name)}


def modules() -> list[str]:
    """The names of the modules that have commands."""
    return [found.name for found in pkgutil.iter_modules(commands.__path__)]


def load(module: str) -> list[click.Command]:
    """The commands of a module."""
    found: list[click.Command] = importlib.import_module(f"{commands.__name__}.{module}").COMMANDS
    return found


def _entries(module: str) -> Iterable[Entry]:
    [folder] = commands.__path__
    try:
        return list(read(module, Path(folder) / f"{module}.py"))
    except (UnreadableError, OSError):
        return [Entry(command.name or "", module, command.help or "") for command in load(module)]


def read(module: str, path: Path) -> Iterator[Entry]:
    """The commands that a source says it has."""
    tree = ast.parse(path.read_bytes())
    listed = _commands(tree)
    if isinstance(listed, ast.ListComp):
        for name, title in kinds_in(QUESTIONS):
            yield Entry(question_name(name), module, question_help(title))
        return
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for item in listed.elts:
        if not isinstance(item, ast.Name) or item.id not in functions:
            raise UnreadableError
        function = functions[item.id]
        yield Entry(_name(function), module, ast.get_docstring(function) or "")


def _commands(tree: ast.Module) -> ast.List | ast.ListComp:
    """What `COMMANDS` is: a list of functions, or one made from every kind of question that many games answer."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMANDS":
            if isinstance(node.value, ast.List):
                return node.value
            if (
                isinstance(node.value, ast.ListComp)
                and ast.unparse(node.value.generators[0].iter) == "common_kinds()"
            ):
                return node.value
    raise UnreadableError


def _name(function: ast.FunctionDef) -> str:
    """The name that click gives a command: the one in its decorator, else its function's."""
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) in (
            "click.command",
            "click.group",
        ):
            if decorator.args:
                return _text(decorator.args[0])
            name = function.name
            for suffix in SUFFIXES:
                name = name.removesuffix(suffix)
            return name.replace("_", "-")
    raise UnreadableError


def kinds_in(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and title of every kind of question that the sources of a folder list."""
    for path in sorted(folder.glob("*.py")):
        for listed in ast.parse(path.read_bytes()).body:
            if isinstance(listed, ast.Assign) and ast.unparse(listed.targets[0]) in ("KIND", "KINDS"):
                yield from _named(listed.value)


def _named(listed: ast.expr) -> Iterator[tuple[str, str]]:
    for node in ast.walk(listed):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "QuestionKind":
            said = {keyword.arg: keyword.value for keyword in node.keywords}
            if not {"name", "title"} <= said.keys():
                raise UnreadableError
            yield _text(said["name"]), _text(said["title"])


def _text(node: ast.expr) -> str:
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        raise UnreadableError
    return node.value
