"""`sightline los …`, `range …`, `fan …`: every question of the registry, put to a saved map or position.

The commands are made from `app.questions`: a new kind of question is a command by itself. What
its arguments need is given in their order, what they may have as options.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import click
import sqlalchemy as sa
from pydantic.fields import FieldInfo
from rich.text import Text
from sqlalchemy.engine import Connection

from app.database import asking
from app.output import out, print_json, print_table, to_json
from app.questions import forms, kinds, kinds_of
from app.report import asked, draw, marked, verdict
from app.rulings import QuestionKind, Ruling, contested_points, rule_case
from db import SightlineError
from db.inventory import map_facts, no_board
from db.maps import Map
from db.positions import Position
from importers.cases import CaseDraft, Names, read_case
from importers.documents import Problem, Problems, read_document, resolved
from importers.positions import position_tree

WIDTH = 22
"""Columns of the keys of an answer in a help text."""

DEMO = {
    "MAP": "pagasa-coast",
    "POSITION": "lipata-landing",
    "22.80": "13.15",
    "24.77": "14.12",
    "C/1/9": "A/1/31",
}
"""What the demo has for the words of the questions' own examples: a line of the help can be tried."""


class Written(click.ParamType[Any]):
    """A value as a case file would have it: a number, true, or {name: MG, fp: 3}."""

    name = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return read_document(value, param.human_readable_name if param else "value").plain()
        except Problems as problems:
            self.fail(str(problems), param, ctx)


class Setting(click.ParamType[tuple[str, str]]):
    """NAME=VALUE, for --policy and --condition; a dot goes into a nested one."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, sign, setting = value.partition("=")
        if not name or not sign or not setting:
            self.fail(f"{value!r} is not of the form NAME=VALUE.", param, ctx)
        return name, setting


COMMON: tuple[click.Parameter, ...] = (
    click.Option(
        ["--policy"], type=Setting(), multiple=True, metavar="POINT=READING",
        help="Read a contested point so, such as css-12=a; may be repeated.",
    ),
    click.Option(
        ["--condition"], type=Setting(), multiple=True, metavar="NAME=VALUE",
        help="What holds now, such as weather=rain or time=night; may be repeated.",
    ),
    click.Option(["--draw"], is_flag=True, help="Draw the map around it, too."),
    click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
)  # fmt: skip

_WHERE = {"MAP": "on a saved map or position", "POSITION": "in a saved position"}


def command_of(kind: QuestionKind) -> click.Command:
    """The command that asks a question of one kind."""
    board = click.Argument(["board"], metavar=_board_word(kind))
    return click.Command(
        kind.name.replace("_", "-"),
        params=[board, *_parameters(kind), *COMMON],
        callback=functools.partial(_answer, kind),
        help=_help(kind),
        short_help=f"{kind.title}, {_WHERE[_board_word(kind)]}.",
    )


def _parameters(kind: QuestionKind) -> Iterator[click.Parameter]:
    fields = kind.arguments.model_fields
    listed = [name for name, field in fields.items() if field.is_required() and _form(field.annotation)[1]]
    for name, field in fields.items():
        form, many = _form(field.annotation)
        if field.is_required() and name not in listed[1:]:
            word = _word(name, field).upper() + ("…" if many else "")
            yield click.Argument([name], metavar=word, type=form, nargs=-1 if many else 1)
        else:
            yield _option(name, field, form, many)


def _option(name: str, field: FieldInfo, form: click.ParamType[Any], many: bool) -> click.Option:
    word = _word(name, field).replace("_", "-")
    text = field.description or f"The {word} of the question."
    if form is click.BOOL:
        switch = f"--{word}/--no-{word}" if field.default is True else f"--{word}"
        return click.Option([switch, name], is_flag=True, default=None, help=text)
    return click.Option(
        [f"--{word}", name], type=form, multiple=many, required=field.is_required(), help=text
    )


def _form(annotation: Any) -> tuple[click.ParamType[Any], bool]:
    """How the command line takes a field, and whether it takes several values."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _form(inner[0])
    if origin in (Union, types.UnionType):
        some = [one for one in inner if one is not type(None)]
        return _form(some[0]) if len(some) == 1 else (Written(), False)
    if origin is Literal and all(isinstance(word, str) for word in inner):
        return click.Choice(inner), False
    if origin in (list, tuple, set, frozenset):
        return _form(inner[0])[0], True
    plain: dict[Any, click.ParamType[Any]] = {str: click.STRING, int: click.INT, bool: click.BOOL}
    return plain.get(annotation, Written()), False


def _word(name: str, field: FieldInfo) -> str:
    return field.alias or name


def _board_word(kind: QuestionKind) -> str:
    """A question about a unit needs a position; any other is content with a map."""
    for field in kind.arguments.model_fields.values():
        names = next((extra for extra in field.metadata if isinstance(extra, Names)), None)
        if field.is_required() and names is not None and "unit" in names.what and "hex" not in names.what:
            return "POSITION"
    return "MAP"


def _help(kind: QuestionKind) -> str:
    board = _board_word(kind)
    where = (
        "POSITION is a saved position."
        if board == "POSITION"
        else "MAP is a saved map, or a position on one; of two with one name, the position."
    )
    answers = "\n".join(f"  {key:<{WIDTH}}{meaning}" for key, meaning in kind.answers.items())
    examples = "\n".join(f"  {line}" for line in _examples(kind, DEMO[board]))
    return (
        f"{kind.title} ({', '.join(kind.rulesets)}): the verdict, then every rule that made it.\n\n"
        f"{where} Exit status 0: it was ruled on, whatever the verdict; 2: it could not be.\n\n"
        f"\b\nAnswers:\n{answers}\n\n\b\nExamples:\n{examples}\n"
    )


def _examples(kind: QuestionKind, board: str) -> Iterable[str]:
    """The kind's own example as a command line."""
    shown = read_document(kind.example, kind.name).plain()[kind.name] if kind.example else {}
    words = ["sightline", kind.name.replace("_", "-"), board]
    options: list[str] = []
    for name, field in kind.arguments.model_fields.items():
        word = _word(name, field)
        value = shown.get(word, word.upper() if field.is_required() else None)
        listed = value if isinstance(value, list) else [value]
        values = [DEMO.get(str(one), str(one)) for one in listed if one is not None]
        if field.is_required():
            words += [f"'{one}'" if " " in one else one for one in values]
        else:
            options += [f"--{word.replace('_', '-')} {one}" for one in values]
    yield " ".join([*words, *options])
    yield " ".join([*words, "--json"])


def _answer(
    kind: QuestionKind,
    board: str,
    policy: tuple[tuple[str, str], ...],
    condition: tuple[tuple[str, str], ...],
    draw: bool,
    as_json: bool,
    **given: Any,
) -> None:
    with asking() as connection:
        place, tree = _board(connection, board)
        if place == "map" and _board_word(kind) == "POSITION":
            raise _no_units(connection, board)
        question: dict[str, Any] = {kind.name: _arguments(kind, given)}
        if policy:
            question["policy"] = dict(policy)
        if condition:
            question["conditions"] = _nested(condition)
        case = _read(connection, tree | {"case": board, "ask": [question]}, kind, board)
        [ruling] = rule_case(connection, case, kinds_of(case.position.ruleset))
        ruling.case = None
        if as_json:
            print_json({place: board} | ruling.as_dict())
        else:
            _tell(ruling)
            if draw:
                _draw(ruling, case, connection)


def _board(connection: Connection, name: str) -> tuple[str, dict[str, Any]]:
    """What a name stands for, a position or a map, and the case it makes, without its question."""
    if connection.scalar(sa.select(sa.exists().where(Position.name == name))):
        tree = position_tree(connection, name)
        del tree["name"]
        return "position", tree
    ruleset = connection.scalar(sa.select(Map.ruleset).where(Map.name == name))
    if ruleset is None:
        raise no_board(connection, name)
    return "map", {"ruleset": ruleset, "map": name}


def _no_units(connection: Connection, board: str) -> SightlineError:
    """A map is asked about a unit: the positions on it are meant."""
    standing = map_facts(connection, board).positions
    return SightlineError(
        f"{board} is a map, and units stand in positions only.",
        f"Positions on it: {', '.join(standing)}." if standing else "There is no position on it yet.",
    )


def _arguments(kind: QuestionKind, given: dict[str, Any]) -> dict[str, Any]:
    """What was given, by the names that case files use."""
    fields = kind.arguments.model_fields
    return {
        _word(name, fields[name]): list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value is not None and value != ()
    }


def _nested(settings: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """night.visibility=2 as {night: {visibility: 2}}."""
    tree: dict[str, Any] = {}
    for name, value in settings:
        *path, last = name.split(".")
        inner = tree
        for key in path:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise click.UsageError(f"--condition {name}: {key} has a value of its own already.")
        inner[last] = resolved(value)
    return tree


def _read(connection: Connection, tree: dict[str, Any], kind: QuestionKind, board: str) -> CaseDraft:
    with _in_words_of_the_command(kind, board):
        return read_case(to_json(tree), f"{board}.json", forms(), connection)


@contextmanager
def _in_words_of_the_command(kind: QuestionKind, board: str) -> Iterator[None]:
    """A mistake is told by the argument it is in, not by its line in a file that nobody wrote."""
    try:
        yield
    except Problems as problems:
        told = Problems()
        for problem in problems.found:
            told.found.append(_by_argument(problem, kind, board))
        told.raise_if_any()


def _by_argument(problem: Problem, kind: QuestionKind, board: str) -> Problem:
    asked, _, place = problem.place.partition("ask/1")
    if asked:
        return dataclasses.replace(problem, file=board, line=None)
    first, _, rest = place.strip("/").partition("/")
    option = {"policy": "--policy ", "conditions": "--condition "}.get(first, "")
    where = rest if first == kind.name else f"{option}{rest}"
    return dataclasses.replace(problem, file=f"{kind.name} on {board}", line=None, place=where.strip())


def _tell(ruling: Ruling) -> None:
    """The verdict first, then the proof."""
    out.print(Text.assemble((verdict(ruling), "bold"), ("  " + asked(ruling), "dim")))
    print_table(
        ("rule", "place", "effect", "note"),
        [
            (f"{step.rule} {step.clause}" if step.clause else step.rule, step.at, step.effect, step.note)
            for step in ruling.steps
        ],
    )
    points = contested_points(ruling.ruleset)
    for entry in ruling.contested:
        point, reading = points[entry["point"]], entry["reading"]
        effect = "another reading would change this" if entry["decides"] else "it stands either way"
        out.print(
            Text.assemble(
                ("contested ", "yellow"),
                (entry["point"], "bold"),
                f" {point.title}: read as {reading} ({point.readings[reading].title}); {effect}",
            )
        )
    for need in ruling.needs:
        out.print(Text.assemble(("needs ", "yellow"), f"{need.what} (rule {need.rule})"))


def _draw(ruling: Ruling, case: CaseDraft, connection: Connection) -> None:
    out.print(draw(case.position, marked(ruling, case.position, connection)), no_wrap=True)


COMMANDS = [command_of(kind) for kind in kinds()]
