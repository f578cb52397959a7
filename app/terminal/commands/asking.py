"""`sightline ask`: any question, as a case file has it; `sightline questions`: what can be asked, and done, in a game."""

from __future__ import annotations

from typing import Any

import click
from rich.table import Table

from app.play.procedures import ProcedureKind
from app.referee.arguments import arguments
from app.referee.questions import kinds_of
from app.referee.rulings import QuestionKind
from app.terminal.commands.ask import COMMON, put
from app.terminal.output import out, print_json
from app.terminal.written import Written
from db import SightlineError
from db.labels import nearest
from db.rulesets import CODES

WIDTH = 22
"""Columns of a word before what it means."""


@click.command()
@click.argument("board", metavar="POSITION")
@click.argument("question", type=Written())
def ask(
    board: str,
    question: Any,
    policy: tuple[tuple[str, str], ...],
    condition: tuple[tuple[str, str], ...],
    draw: bool,
    as_json: bool,
) -> None:
    """Ask anything of a saved map or position, also what happens when something is done.

    QUESTION is written as in a case file, in one piece; `sightline questions GAME` lists all that can be
    asked, `sightline questions GAME KIND` tells what one takes and answers. Nothing is changed: what is done
    for good is an action of a game (`sightline game act`). Exit status 0: it was ruled on, whatever the
    verdict; 2: it could not be.

    \b
    Examples:
      sightline ask tanaro-assault 'attack: {by: [1/161], at: "1014"}'
      sightline ask tanaro-assault 'attack: {by: [1/161], at: "1014", rolls: [5]}' --json
      sightline ask tanaro-assault 'sequence: {}'
    """
    if not isinstance(question, dict):
        raise SightlineError(
            f"{question!r} is no question.",
            "Write one as a case file has it, such as 'los: {from: A, to: B}'.",
        )
    put(board, question, policy, condition, draw, as_json)


ask.params += COMMON


@click.command()
@click.argument("ruleset", type=click.Choice(CODES), metavar="GAME")
@click.argument("name", required=False, metavar="KIND")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def questions(ruleset: str, name: str | None, as_json: bool) -> None:
    """List what can be asked of a game, or tell what one kind of question takes and answers.

    \b
    Examples:
      sightline questions fpb
      sightline questions fpb attack
    """
    known = kinds_of(ruleset)
    if name is None:
        _list(known, as_json)
        return
    kind = known.get(name.replace("-", "_"))
    if kind is None:
        alike = nearest(name, known)
        raise SightlineError(
            f"{ruleset} has no question {name!r}.",
            f"Is it {' or '.join(alike)}?" if alike else f"`sightline questions {ruleset}` lists them.",
        )
    if as_json:
        print_json(_told(kind) | {"arguments": kind.arguments.model_json_schema(by_alias=True)})
    else:
        _describe(kind)


def _list(known: dict[str, QuestionKind], as_json: bool) -> None:
    kinds = sorted(known.values(), key=lambda kind: (isinstance(kind, ProcedureKind), kind.name))
    if as_json:
        print_json([_told(kind) for kind in kinds])
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "is", "what it tells"):
        table.add_column(heading, overflow="fold")
    for kind in kinds:
        table.add_row(kind.name, _sort(kind), kind.title)
    out.print(table)


def _sort(kind: QuestionKind) -> str:
    return "procedure" if isinstance(kind, ProcedureKind) else "question"


def _told(kind: QuestionKind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "is": _sort(kind),
        "title": kind.title,
        "rulesets": list(kind.rulesets),
        "answers": kind.answers,
        "points": list(kind.points),
        "example": kind.example,
    }


def _describe(kind: QuestionKind) -> None:
    lines = [f"{kind.name}: {kind.title}", "", "takes"]
    for argument in arguments(kind):
        need = "" if argument.required else " (if wanted)"
        lines.append(f"  {argument.word:<{WIDTH}}{argument.description}{need}")
    lines += ["", "answers", *(f"  {key:<{WIDTH}}{meaning}" for key, meaning in kind.answers.items())]
    if kind.points:
        lines += ["", f"contested points: {', '.join(kind.points)}"]
    if kind.example:
        lines += ["", f"example: {kind.example}"]
    out.print("\n".join(lines), markup=False, highlight=False)


COMMANDS = [ask, questions]
