"""`sightline los …`, `range …`, `fan …`: the questions that many games answer, put to a saved map or position.

The commands are made from `app.referee.questions`: a new kind of question there is a command by itself.
What its arguments need is given in their order, what they may have as options. What one game alone asks, and
what happens when something is done, is asked by `sightline ask` (`asking.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import click
from sqlalchemy.engine import Connection

from app.referee.arguments import Argument, arguments, needs_units
from app.referee.boards import Answer, Board, open_board
from app.referee.questions import common_kinds
from app.referee.rulings import QuestionKind
from app.terminal.catalogue import question_help, question_name
from app.terminal.database import reading
from app.terminal.output import out, print_json
from app.terminal.report import draw, report_ruling
from app.terminal.written import Setting, Written, nested
from importers.documents import read_document
from importers.map_writing import flow

WIDTH = 22
"""Columns of the keys of an answer in a help text."""

DEMO = {
    "css": {
        "MAP": "pagasa-coast",
        "POSITION": "lipata-landing",
        "22.80": "13.15",
        "24.77": "14.12",
        "22.79": "13.16",
        "22.78": "13.17",
        "C/1/9": "A/1/31",
        "D/1/9": "HQ/31",
    },
    "fpb": {
        "MAP": "tanaro-island",
        "POSITION": "tanaro-assault",
        "1404": "1014",
        "1/22": "1/161",
        "2/22": "1/27M",
        "1/38": "I/41",
    },
}
"""What the demo of a game has for the words of the questions' own examples: a line of the help can be tried."""


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

OPTIONS = {"policy": "--policy ", "conditions": "--condition "}
"""Where a mistake is that stands beside the question."""


class QuestionCommand(click.Command):
    """A command whose line in a list is cut like any other's, though it is not the beginning of its help."""

    def get_short_help_str(self, limit: int = 45) -> str:
        return click.Command(self.name, help=self.short_help).get_short_help_str(limit)


def command_of(kind: QuestionKind) -> click.Command:
    """The command that asks a question of one kind."""
    board = click.Argument(["board"], metavar=_board_word(kind))
    return QuestionCommand(
        question_name(kind.name),
        params=[board, *_parameters(kind), *COMMON],
        callback=functools.partial(_answer, kind),
        help=_help(kind),
        short_help=question_help(kind.title),
    )


def _parameters(kind: QuestionKind) -> Iterator[click.Parameter]:
    taken = arguments(kind)
    listed = [argument for argument in taken if argument.required and argument.many]
    for argument in taken:
        if argument.required and argument not in listed[1:]:
            word = argument.word.upper() + ("…" if argument.many else "")
            nargs = -1 if argument.many else 1
            yield click.Argument([argument.name], metavar=word, type=_type(argument), nargs=nargs)
        else:
            yield _option(argument)


def _option(argument: Argument) -> click.Option:
    word = argument.word.replace("_", "-")
    text = argument.description or f"The {word} of the question."
    if argument.form == "flag":
        switch = f"--{word}/--no-{word}" if argument.default is True else f"--{word}"
        return click.Option([switch, argument.name], is_flag=True, default=None, help=text)
    return click.Option(
        [f"--{word}", argument.name],
        type=_type(argument),
        multiple=argument.many,
        required=argument.required,
        help=text,
    )


def _type(argument: Argument) -> click.ParamType[Any]:
    """How the command line takes a value."""
    if argument.form == "choice":
        return click.Choice(argument.choices)
    plain: dict[str, click.ParamType[Any]] = {"text": click.STRING, "whole": click.INT, "flag": click.BOOL}
    return plain.get(argument.form, Written())


def _board_word(kind: QuestionKind) -> str:
    """A question about a unit needs a position; any other is content with a map."""
    return "POSITION" if needs_units(kind) else "MAP"


def _help(kind: QuestionKind) -> str:
    board = _board_word(kind)
    where = (
        "POSITION is a saved position."
        if board == "POSITION"
        else "MAP is a saved map, or a position on one; of two with one name, the position."
    )
    answers = "\n".join(f"  {key:<{WIDTH}}{meaning}" for key, meaning in kind.answers.items())
    examples = "\n".join(f"  {line}" for line in _examples(kind))
    return (
        f"{kind.title} ({', '.join(kind.rulesets)}): the verdict, then every rule that made it.\n\n"
        f"{where} Exit status 0: it was ruled on, whatever the verdict; 2: it could not be.\n\n"
        f"\b\nAnswers:\n{answers}\n\n\b\nExamples:\n{examples}\n"
    )


def _examples(kind: QuestionKind) -> Iterable[str]:
    """The kind's own example as a command line; one that names a unit wants a position."""
    shown = read_document(kind.example, kind.name).plain()[kind.name] if kind.example else {}
    demo = next(words for ruleset, words in DEMO.items() if ruleset in kind.rulesets)
    named = {str(one) for value in shown.values() for one in (value if isinstance(value, list) else [value])}
    board = demo["POSITION" if needs_units(kind) or any("/" in name for name in named) else "MAP"]
    words = ["sightline", question_name(kind.name), board]
    options: list[str] = []
    for argument in arguments(kind):
        value = shown.get(argument.word, argument.word.upper() if argument.required else None)
        listed = value if isinstance(value, list) else [value]
        values = [_shown(one, demo) for one in listed if one is not None]
        if argument.required:
            words += [f"'{one}'" if " " in one else one for one in values]
        else:
            options += [f"--{argument.word.replace('_', '-')} {one}" for one in values]
    yield " ".join([*words, *options])
    yield " ".join([*words, *options, "--json"])


def _shown(value: Any, demo: Mapping[str, str]) -> str:
    """A value of an example as the command line takes it, with the words of the demo."""
    if isinstance(value, dict):
        return flow({key: demo.get(str(one), one) for key, one in value.items()})
    return demo.get(str(value), str(value))


def _answer(
    kind: QuestionKind,
    board: str,
    policy: tuple[tuple[str, str], ...],
    condition: tuple[tuple[str, str], ...],
    draw: bool,
    as_json: bool,
    **given: Any,
) -> None:
    put(board, {kind.name: _arguments(kind, given)}, policy, condition, draw, as_json)


def put(
    board: str,
    question: dict[str, Any],
    policy: Iterable[tuple[str, str]],
    condition: Iterable[tuple[str, str]],
    draw: bool,
    as_json: bool,
) -> None:
    """Put a question to a saved map or position, and print the ruling."""
    if policy:
        question["policy"] = question.get("policy", {}) | dict(policy)
    if condition:
        question["conditions"] = question.get("conditions", {}) | nested(condition)
    with reading() as connection:
        on = open_board(connection, board, question=question)
        answer = on.ask(connection, question, words=OPTIONS)
        if as_json:
            print_json({on.kind: board} | answer.ruling.as_dict())
        else:
            report_ruling(answer.ruling, out)
            if draw:
                _draw(on, answer, connection)


def _arguments(kind: QuestionKind, given: dict[str, Any]) -> dict[str, Any]:
    """What was given, by the names that case files use."""
    words = {argument.name: argument.word for argument in arguments(kind)}
    return {
        words[name]: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value is not None and value != ()
    }


def _draw(board: Board, answer: Answer, connection: Connection) -> None:
    position = board.position(connection)
    out.print(draw(position, answer.picture.marks(position.board, connection)), no_wrap=True)


COMMANDS = [command_of(kind) for kind in common_kinds()]
