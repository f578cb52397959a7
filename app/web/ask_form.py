"""The form of a question, the same on the map page and where a case is drawn: its fields, and what they were given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from werkzeug.datastructures import MultiDict

from app.referee.arguments import Argument
from app.referee.boards import Tree
from app.referee.rulings import QuestionKind
from db.position_draft import PositionDraft
from db.rulesets import read_ruleset
from importers.documents import read_document

SEPARATOR = ","
"""Between the values of one argument, such as the hexes of a way; one that is part of a value is written `\\,`."""
DRAWN = ("line", "hexes", "path")
"""The order of the tools, by what they draw."""
FEW = 2
"""Fields that a question need not have, and that are shown all the same."""

Given = Mapping[str, Sequence[str]]
"""By argument: what was chosen so far."""


def tool_order(tool: tuple[str, QuestionKind]) -> tuple[int, str]:
    """What draws a line first, then hexes, then ways."""
    _, kind = tool
    return (DRAWN.index(kind.draws) if kind.draws in DRAWN else len(DRAWN)), kind.title


def given_to(arguments: Sequence[Argument], query: MultiDict[str, str]) -> dict[str, list[str]]:
    """What the fields of a question were given, without those that were left empty."""
    return {
        argument.word: values
        for argument in arguments
        if (values := _values(argument, query.getlist(argument.word)))
    }


def _values(argument: Argument, told: Sequence[str]) -> list[str]:
    if not argument.many:
        return [value for text in told if (value := text.strip())]
    split = (part for text in told for part in re.split(rf"(?<!\\){SEPARATOR}", text))
    return [value for text in split if (value := text.strip().replace(f"\\{SEPARATOR}", SEPARATOR))]


def asked_of(arguments: Sequence[Argument], given: Given) -> Tree | None:
    """The arguments of a question as a case file has them; None while something that it needs is not chosen."""
    asked: Tree = {}
    for argument in arguments:
        values = given.get(argument.word, ())
        if values:
            asked[argument.word] = _filled(argument, values)
        elif argument.required:
            return None
    return asked or None


def _filled(argument: Argument, values: Sequence[str]) -> Any:
    """What an argument was given; a value of several parts is written as in a case file."""
    if argument.form == "written":
        return read_document(values[0], argument.word).plain()
    return list(values) if argument.many else values[0]


def listed(argument: Argument, values: Sequence[str], between: str = SEPARATOR) -> str:
    """What an argument was given, as the address and its field have it."""
    if not argument.many:
        return "".join(values[:1])
    return between.join(value.replace(SEPARATOR, f"\\{SEPARATOR}") for value in values)


def field_groups(
    arguments: Sequence[Argument], given: Given, ruleset: str, position: PositionDraft | None
) -> list[dict[str, Any]]:
    """The fields of a question's form; what is seldom wanted is folded away where it is much."""
    folded = [
        argument for argument in arguments if not argument.required and (argument.many or not argument.picked)
    ]
    folded = folded if len(folded) > FEW else []
    groups = ([argument for argument in arguments if argument not in folded], folded)
    return [
        {
            "folded": group is folded,
            "filled": any(argument.word in given for argument in group),
            "fields": [_field(argument, given, ruleset, position) for argument in group],
        }
        for group in groups
        if group
    ]


def _field(argument: Argument, given: Given, ruleset: str, position: PositionDraft | None) -> dict[str, Any]:
    """An argument of a tool as a field of its form."""
    choices = list(argument.choices)
    if argument.names == ("side",):
        choices = list(read_ruleset(ruleset).facts.sides)
    elif argument.names == ("unit",) and not argument.many and position is not None:
        choices = list(position.units)
    value = listed(argument, given.get(argument.word, ()), f"{SEPARATOR} ")
    return {"argument": argument, "value": value, "choices": choices}
