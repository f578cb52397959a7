"""What can be done in a game: its procedures, and what every game has."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from app.play.procedures import ProcedureKind
from app.play.sequence import END_PHASE
from app.referee.questions import kinds_of, procedure_packages
from importers.questions import Kinds


@functools.cache
def actions_of(ruleset: str) -> dict[str, ProcedureKind]:
    """The actions of a game by name: its procedures that a player enters, and what its modules list in `ACTIONS`.

    An action of the same name as a question (a move) is done by the action and asked by the question.
    """
    asked = [kind for kind in kinds_of(ruleset).values() if isinstance(kind, ProcedureKind)]
    return {kind.name: kind for kind in (*asked, *_own(ruleset), END_PHASE) if kind.acts}


def _own(ruleset: str) -> list[ProcedureKind]:
    package = f"app.play.{ruleset}"
    if package not in procedure_packages():
        return []
    modules = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [
        action
        for module in modules
        for action in getattr(importlib.import_module(f"{package}.{module.name}"), "ACTIONS", ())
    ]


def action_forms(ruleset: str) -> Kinds:
    """What the actions of a game take."""
    return Kinds({name: kind.arguments for name, kind in actions_of(ruleset).items()})


def playable() -> list[str]:
    """The games that have actions of their own."""
    return [package.rpartition(".")[2] for package in procedure_packages()]
