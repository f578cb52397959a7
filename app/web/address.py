"""What a map page shows, as its address carries it: tool, arguments, readings, a hex, what-if.

`/positions/lipata-landing?tool=los&from=A%2F1%2F31&to=14.12&policy=css-12:a` shows the same to
whoever opens it. The words of a question are its arguments' own; ours beside them are `OWN`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any

from flask import url_for
from werkzeug.datastructures import MultiDict

from app.referee.arguments import Argument, arguments
from app.referee.boards import Board, Tree
from app.referee.questions import kinds_of
from app.referee.rulings import QuestionKind
from app.referee.whatif import Changes, read_changes
from app.web.proof import choice, chosen_readings
from db import SightlineError
from db.labels import nearest
from importers.documents import read_document

OWN = ("tool", "policy", "look", "edit", "whatif", "part")
"""Words of the address that are no argument of a question."""
SEPARATOR = ","
"""Between the values of one argument, such as the hexes of a way; one that is part of a value is written `\\,`."""


@dataclasses.dataclass(frozen=True)
class View:
    """A map page as somebody looks at it."""

    board: Board
    tool: QuestionKind | None
    given: Mapping[str, Sequence[str]]
    """By argument: what was chosen so far."""
    policy: Mapping[str, str]
    changes: Changes
    look: str
    """The label of the hex that is looked at."""
    edit: bool
    """Whether units may be dragged and the forms of what-if are open."""

    @property
    def arguments(self) -> list[Argument]:
        return arguments(self.tool, self.board.ruleset) if self.tool else []

    @property
    def question(self) -> Tree | None:
        """What is asked, as a case file has it; None while something that it needs is not chosen."""
        if self.tool is None:
            return None
        asked: Tree = {}
        for argument in self.arguments:
            values = self.given.get(argument.word, ())
            if values:
                asked[argument.word] = _filled(argument, values)
            elif argument.required:
                return None
        if not asked:
            return None
        return {self.tool.name: asked} | ({"policy": dict(self.policy)} if self.policy else {})

    def parameters(self, **otherwise: Any) -> dict[str, Any]:
        """The words of the address; those that are None or empty are left out."""
        told: dict[str, Any] = {"tool": self.tool.name if self.tool else None}
        told |= {
            argument.word: listed(argument, self.given.get(argument.word, ())) for argument in self.arguments
        }
        told |= {
            "policy": [choice(*one) for one in self.policy.items()],
            "look": self.look,
            "edit": "1" if self.edit else None,
            "whatif": self.changes.as_text(),
        }
        told |= otherwise
        return {word: value for word, value in told.items() if value}

    def address(self, page: str = "board", /, **otherwise: Any) -> str:
        """The address of the page as it is, but for some of its words."""
        endpoint = f"maps.{self.board.kind}_{page}"
        return url_for(endpoint, name=self.board.name, **self.parameters(**otherwise))

    def with_tool(self, tool: str | None) -> str:
        """The address with another tool, its places taken along where both have them."""
        kept = {}
        if tool is not None:
            taken = {argument.word: argument for argument in arguments(kinds_of(self.board.ruleset)[tool])}
            kept = {word: listed(taken[word], values) for word, values in self.given.items() if word in taken}
        dropped = dict.fromkeys(self.given)
        return self.address(**dropped | kept, tool=tool)

    def with_reading(self, point: str, letter: str) -> str:
        """The address that rules anew with another reading."""
        policy = {**self.policy, point: letter}
        return self.address(policy=[choice(*one) for one in policy.items()])


def view(board: Board, query: MultiDict[str, str]) -> View:
    """The view that an address asks for."""
    tools = kinds_of(board.ruleset)
    tool = query.get("tool", "")
    if tool and tool not in tools:
        alike = nearest(tool, tools)
        raise SightlineError(
            f"{board.ruleset} has no tool {tool[:40]!r}.",
            f"Did you mean {alike[0]}?" if alike else f"There are {', '.join(tools)}.",
        )
    kind = tools.get(tool)
    given = {
        argument.word: values
        for argument in (arguments(kind, board.ruleset) if kind else ())
        if (values := _values(argument, query.getlist(argument.word)))
    }
    return View(
        board=board,
        tool=kind,
        given=given,
        policy=chosen_readings(query.getlist("policy")),
        changes=read_changes(query.get("whatif", "")),
        look=query.get("look", "").strip(),
        edit=bool(query.get("edit")),
    )


def listed(argument: Argument, values: Sequence[str], between: str = SEPARATOR) -> str:
    """What an argument was given, as the address and its field have it."""
    if not argument.many:
        return "".join(values[:1])
    return between.join(value.replace(SEPARATOR, f"\\{SEPARATOR}") for value in values)


def _filled(argument: Argument, values: Sequence[str]) -> Any:
    """What an argument was given; a value of several parts is written as in a case file."""
    if argument.form == "written":
        return read_document(values[0], argument.word).plain()
    return list(values) if argument.many else values[0]


def _values(argument: Argument, told: Sequence[str]) -> list[str]:
    if not argument.many:
        return [value for text in told if (value := text.strip())]
    split = (part for text in told for part in re.split(rf"(?<!\\){SEPARATOR}", text))
    return [value for text in split if (value := text.strip().replace(f"\\{SEPARATOR}", SEPARATOR))]
