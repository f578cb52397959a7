"""Case files at the doors: which files are meant, and a text read and ruled on in one go."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.engine import Connection

from app.referee.questions import forms, kinds_of
from app.referee.rulings import Ruling, contested_points, rule_case
from db import SightlineError
from db.budget import spend
from importers.cases import CaseDraft, case_of, read_case
from importers.documents import MAX_BYTES, Problems

STDIN = "-"
ENDINGS = (".yaml", ".yml", ".json")
INDEX = "entries.yaml"
"""In a folder of cases, the list of a catalogue's entries: not a case itself."""


@dataclasses.dataclass
class RuledCase:
    """What became of a case file: its rulings, or the error that kept it from being loaded."""

    file: str
    case: CaseDraft | None = None
    rulings: list[Ruling] = dataclasses.field(default_factory=list)
    error: SightlineError | None = None

    def as_dicts(self) -> list[dict[str, Any]]:
        """An object a question, or one that tells what is wrong with the file."""
        if self.error is None:
            return [ruling.as_dict() for ruling in self.rulings]
        problems = self.error.as_dicts() if isinstance(self.error, Problems) else []
        return [{"file": self.file, "error": {"message": self.error.message, "problems": problems}}]


def case_files(names: Iterable[str]) -> Iterator[str]:
    """Files as named; of a folder, every case file in it and below, sorted by name."""
    for name in names:
        path = Path(name)
        if name == STDIN or not path.is_dir():
            yield name
            continue
        found = sorted(
            file
            for file in path.rglob("*")
            if file.suffix.lower() in ENDINGS and file.name != INDEX and file.is_file()
        )
        if not found:
            raise SightlineError(
                f"{name}: there is no case file in this folder.", "They end in .yaml or .json."
            )
        yield from map(str, found)


def rule_text(
    connection: Connection, text: str | bytes, name: str, policy: Mapping[str, str] | None = None
) -> tuple[CaseDraft, list[Ruling]]:
    """Read a case and rule on its questions; nothing stays in the database.

    `policy` chooses readings of contested points, whatever the case says of them itself;
    what it says of other games does not matter.
    """
    return _ruled(connection, read_case(text, name, forms(), connection), policy or {})


def rule_document(
    connection: Connection, document: Mapping[str, Any], name: str, policy: Mapping[str, str] | None = None
) -> tuple[CaseDraft, list[Ruling]]:
    """Rule on a case that is at hand as values, as `rule_text` does on a text."""
    return _ruled(connection, case_of(document, name, forms(), connection), policy or {})


def _ruled(
    connection: Connection, case: CaseDraft, policy: Mapping[str, str]
) -> tuple[CaseDraft, list[Ruling]]:
    spend("questions", len(case.questions))
    known = contested_points(case.position.ruleset)
    _read_so(case, {point: letter for point, letter in policy.items() if point in known})
    return case, rule_case(connection, case, kinds_of(case.position.ruleset))


def _read_so(case: CaseDraft, policy: Mapping[str, str]) -> None:
    """Have some contested points read so, by every question of a case."""
    if not policy:
        return
    case.position.policy = {**case.position.policy, **policy}
    for question, asked in zip(case.questions, case.document["ask"], strict=True):
        question.policy = {point: letter for point, letter in question.policy.items() if point not in policy}
        if asked.get("policy"):
            asked["policy"] = question.policy
    case.document["policy"] = {**(case.document.get("policy") or {}), **policy}


def rule_file(connection: Connection, name: str) -> RuledCase:
    """Rule on a case file; what is wrong with it is told, not raised."""
    try:
        case, rulings = rule_text(connection, _read(name), name)
    except SightlineError as error:
        return RuledCase(name, error=error)
    return RuledCase(name, case, rulings)


def _read(name: str) -> bytes:
    if name == STDIN:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        with Path(name).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SightlineError(f"{name}: cannot be read: {reason}") from error
