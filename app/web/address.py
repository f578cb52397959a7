"""What a map page shows, as its address carries it: tool, arguments, readings, a hex, what-if.

`/positions/lipata-landing?tool=los&from=A%2F1%2F31&to=14.12&policy=css-12:a` shows the same to
whoever opens it. The words of a question are its arguments' own; ours beside them are `OWN`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from flask import url_for
from werkzeug.datastructures import MultiDict

from app.referee.arguments import Argument, arguments
from app.referee.boards import Board, Tree
from app.referee.questions import kinds_of
from app.referee.rulings import QuestionKind
from app.referee.whatif import Changes, read_changes
from app.web.ask_form import asked_of, given_to, listed
from app.web.proof import choice, chosen_readings
from db import SightlineError
from db.labels import HEX, nearest, unprefixed
from db.position_draft import PositionDraft

OWN = ("tool", "policy", "look", "edit", "whatif", "part")
"""Words of the address that are no argument of a question."""


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
        asked = asked_of(self.arguments, self.given) if self.tool else None
        if self.tool is None or asked is None:
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

    def with_tool(self, tool: str | None, position: PositionDraft) -> str:
        """The address with another tool; what was chosen is taken along where it fits."""
        kept: dict[str, str] = {}
        if tool is not None:
            takes = arguments(kinds_of(self.board.ruleset)[tool], self.board.ruleset)
            fitting = carried(self.arguments, self.given, takes, position)
            kept = {
                argument.word: listed(argument, fitting[argument.word])
                for argument in takes
                if argument.word in fitting
            }
        dropped = dict.fromkeys(self.given)
        return self.address(**dropped | kept, tool=tool)

    def with_reading(self, point: str, letter: str) -> str:
        """The address that rules anew with another reading."""
        policy = {**self.policy, point: letter}
        return self.address(policy=[choice(*one) for one in policy.items()])


def carried(
    had: Sequence[Argument],
    given: Mapping[str, Sequence[str]],
    takes: Sequence[Argument],
    position: PositionDraft,
) -> dict[str, list[str]]:
    """What one tool was given, as far as another takes it: by its word, else by what it is.

    The first counter of a line of sight becomes the unit that is asked where it can go; a counter
    is never put where only a hex can be.
    """
    kept: dict[str, list[str]] = {}
    picked = [value for argument in had if argument.picked for value in given.get(argument.word, ())]
    for argument in takes:
        values = given.get(argument.word, ())
        taken = kept.keys() & {*argument.instead_of}
        if values and not taken and all(_fits(argument, value, position) for value in values):
            kept[argument.word] = list(values)
    for argument in takes:
        # a way is chosen hex by hex from its beginning
        wanted = argument.picked and not (argument.many and "hex" in argument.names)
        if argument.word in kept or not wanted or kept.keys() & {*argument.instead_of}:
            continue
        if not argument.required and not argument.instead_of:
            continue
        used = {value for values in kept.values() for value in values}
        free = [value for value in picked if value not in used and _fits(argument, value, position)]
        if free:
            kept[argument.word] = free[:1]
    # `unit:` and `hex:` are said only where both could be meant
    return {
        argument.word: [_bare(argument, value) for value in kept[argument.word]]
        for argument in takes
        if argument.word in kept
    }


def _fits(argument: Argument, value: str, position: PositionDraft) -> bool:
    """Whether an argument takes a value: one that names a place, as the hex or the unit that is meant."""
    if not argument.picked:
        return not argument.choices or value in argument.choices
    prefix, word = unprefixed(value)
    unit = prefix != HEX and position.is_unit(word)
    return ("unit" if unit else "hex") in argument.names and (unit or position.is_hex(word))


def _bare(argument: Argument, value: str) -> str:
    both = {"hex", "unit"} <= {*argument.names}
    return value if both or not argument.picked else unprefixed(value)[1]


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
    return View(
        board=board,
        tool=kind,
        given=given_to(arguments(kind, board.ruleset) if kind else (), query),
        policy=chosen_readings(query.getlist("policy")),
        changes=read_changes(query.get("whatif", "")),
        look=query.get("look", "").strip(),
        edit=bool(query.get("edit")),
    )
