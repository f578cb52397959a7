"""The registry of question kinds, found by itself.

A module holds one `KIND` (a `QuestionKind`), or several in `KINDS`. Adding a file here adds
the question to case files, command line, API, map tools and documentation. What only one game
asks is in a package of its own here; what happens when something is done is asked in the same
way: the procedures of a game are in `app/play/<code>/`. Games may have kinds of one name, each
its own: in a game a name is unique.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import pkgutil
from collections.abc import Iterable, Iterator, Mapping

from app.referee.rulings import QuestionKind
from db.rulesets import CODES
from importers.questions import Kinds

SEQUENCE = "app.play.sequence"
"""What every game that can be played answers."""


@functools.cache
def kinds() -> tuple[QuestionKind, ...]:
    """Every kind of question; those of one name are of different games."""
    return _listed(_all_modules())


@functools.cache
def common_kinds() -> tuple[QuestionKind, ...]:
    """The questions about a still position that are asked of many games: each has a command of its own."""
    return _listed(name for name in _modules(__name__) if name.rpartition(".")[0] == __name__)


@functools.cache
def _all_modules() -> tuple[str, ...]:
    return (*_modules(__name__), SEQUENCE, *itertools.chain(*map(_modules, procedure_packages())))


def _listed(modules: Iterable[str]) -> tuple[QuestionKind, ...]:
    found: list[QuestionKind] = []
    for name in modules:
        loaded = importlib.import_module(name)
        found += getattr(loaded, "KINDS", None) or filter(None, [getattr(loaded, "KIND", None)])
    return tuple(sorted(found, key=lambda kind: (kind.name, kind.rulesets)))


def _modules(package: str) -> list[str]:
    """The modules of a package, with those of the packages in it (a game each); none is loaded."""
    specification = importlib.util.find_spec(package)
    folders = specification.submodule_search_locations if specification is not None else None
    found: list[str] = []
    for module in pkgutil.iter_modules(folders, f"{package}."):
        found += _modules(module.name) if module.ispkg else [module.name]
    return found


def procedure_packages() -> list[str]:
    """The packages of the games that can be played; named, not imported, since play is built on the referee."""
    names = (f"app.play.{code}" for code in CODES)
    return [name for name in names if importlib.util.find_spec(name) is not None]


def played() -> tuple[str, ...]:
    """The games that can be played."""
    return tuple(package.rpartition(".")[2] for package in procedure_packages())


def kinds_of(ruleset: str) -> dict[str, QuestionKind]:
    """The questions that a ruleset answers, by name."""
    return dict(_known(ruleset))


@functools.cache
def _known(ruleset: str) -> dict[str, QuestionKind]:
    """The same; of the other games nothing is loaded."""
    own = (f"{__name__}.{ruleset}.", f"app.play.{ruleset}.")
    found = [
        *common_kinds(),
        *_listed(name for name in _all_modules() if name.startswith(own) or name == SEQUENCE),
    ]
    return {kind.name: kind for kind in sorted(found, key=lambda kind: kind.name) if ruleset in kind.rulesets}


class _Forms(Mapping[str, Kinds]):
    """What the questions of each ruleset take; a game's are loaded when it is asked for."""

    def __getitem__(self, ruleset: str) -> Kinds:
        if ruleset not in CODES:
            raise KeyError(ruleset)
        return Kinds(
            {name: kind.arguments for name, kind in kinds_of(ruleset).items()},
            {kind.name: kind.lacking[ruleset] for kind in common_kinds() if ruleset in kind.lacking},
        )

    def __iter__(self) -> Iterator[str]:
        return iter(CODES)

    def __len__(self) -> int:
        return len(CODES)


def forms() -> Mapping[str, Kinds]:
    """What the questions of each ruleset take: for reading case files."""
    return _Forms()


def implemented_points() -> frozenset[str]:
    """Contested points that some question takes into account."""
    return frozenset(point for kind in kinds() for point in kind.points)
