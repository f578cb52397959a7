"""The registry of question kinds: one module a kind, found by itself.

A module holds one `KIND` (a `QuestionKind`), or several in `KINDS`. Adding a file here adds
the question to case files, command line, API, map tools and documentation.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping

from app.referee.rulings import Arguments, QuestionKind
from db.rulesets import CODES


@functools.cache
def kinds() -> tuple[QuestionKind, ...]:
    """Every kind of question."""
    found: list[QuestionKind] = []
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        found += getattr(loaded, "KINDS", None) or [loaded.KIND]
    return tuple(sorted(found, key=lambda kind: kind.name))


def kinds_of(ruleset: str) -> dict[str, QuestionKind]:
    """The questions that a ruleset answers, by name."""
    return {kind.name: kind for kind in kinds() if ruleset in kind.rulesets}


def forms() -> dict[str, Mapping[str, type[Arguments]]]:
    """What the questions of each ruleset take: for reading case files."""
    return {code: {name: kind.arguments for name, kind in kinds_of(code).items()} for code in CODES}


def implemented_points() -> frozenset[str]:
    """Contested points that some question takes into account."""
    return frozenset(point for kind in kinds() for point in kind.points)
