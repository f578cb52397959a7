"""Who ruled: one digest of a ruleset's data, of the SQL functions, of the referee's own modules, of filled charts."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from sqlalchemy.engine import Connection

from app.referee import questions, rulings
from db import SightlineError
from db.charts import filled_digest
from db.rulesets import files_digest, read_ruleset
from db.schema import verbs_digest


class VersionError(SightlineError):
    """There is nothing to tell a version from."""


def ruling_modules() -> list[Path]:
    """The Python that has a word in an answer: the engine, and every module of questions."""
    asked = [path for folder in questions.__path__ for path in Path(folder).rglob("*.py")]
    # play is built on the referee: its modules are digested, not imported
    played = (Path(rulings.__file__).parents[1] / "play").rglob("*.py")
    found = sorted([*asked, *played])
    return [Path(rulings.__file__), *found]


@functools.cache
def ruleset_version(ruleset: str) -> str:
    """What ruled, as one digest; rulings of different versions may differ."""
    return version_of(ruleset, ruling_modules())


def version_in(connection: Connection, ruleset: str) -> str:
    """What rules in this database: the ruleset's version, and what its owner or house filled into charts."""
    version, filled = ruleset_version(ruleset), filled_digest(connection, ruleset)
    return version if filled is None else hashlib.sha256(f"{version}{filled}".encode()).hexdigest()[:16]


def version_of(ruleset: str, modules: list[Path]) -> str:
    """The digest that a ruleset has with these modules."""
    if not any(path.parent.name == "questions" for path in modules):
        raise VersionError(
            "No module of questions was found, so no ruling can say who ruled.",
            "Sightline is not installed whole: install it again.",
        )
    parts = (read_ruleset(ruleset).version, verbs_digest(), files_digest(modules))
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16]
