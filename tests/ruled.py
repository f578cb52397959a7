"""The suite's case files, each ruled on once in a run, whichever worker asks first."""

from __future__ import annotations

import os
import pickle
import secrets
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from sqlalchemy.engine import Engine

from app.referee.cases import RuledCase, rule_file
from app.referee.questions import kinds
from app.referee.rulings import QuestionKind

KINDS = {(kind.rulesets, kind.name): kind for kind in kinds()}


class _Pickler(pickle.Pickler):
    """Writes a kind of question by its name: it holds functions, which have none."""

    def persistent_id(self, thing: Any) -> Any:
        return (thing.rulesets, thing.name) if isinstance(thing, QuestionKind) else None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: Any) -> QuestionKind:
        return KINDS[name]


class Ruled:
    """Rules on case files, and keeps what came of them for every worker of the run."""

    def __init__(self, folder: Path, engine: Engine) -> None:
        self.folder = folder
        self.engine = engine
        self.known: dict[str, RuledCase] = {}
        folder.mkdir(exist_ok=True)

    def __call__(self, file: str) -> RuledCase:
        if file not in self.known:
            path = self.folder / file.replace(os.sep, "_")
            self.known[file] = _read(path) if path.exists() else self._rule(file, path)
        return self.known[file]

    def _rule(self, file: str, path: Path) -> RuledCase:
        with self.engine.connect() as connection:
            case = rule_file(connection, file)
        unfinished = path.with_suffix(f".{secrets.token_hex(4)}")
        with unfinished.open("wb") as out:
            _write(case, out)
        unfinished.replace(path)  # another worker finds it whole or not at all
        return case


def _write(case: RuledCase, out: BinaryIO) -> None:
    _Pickler(out).dump(case)


def _read(path: Path) -> RuledCase:
    with path.open("rb") as file:
        case = _Unpickler(file).load()
    assert isinstance(case, RuledCase)
    return case


@pytest.fixture(scope="session")
def ruled(engine: Engine) -> Ruled:
    """What the suite's case files are ruled to be, by file."""
    return Ruled(Path(os.environ["SIGHTLINE_TEST_CLUSTER"]) / "ruled", engine)
