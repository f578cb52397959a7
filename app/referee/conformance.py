"""The conformance suite: the rulebooks' worked examples, and what Sightline rules on them.

`tests/cases/<ruleset>/` holds the cases, and `entries.yaml` there lists every worked
example and ruling of the rulebook with what became of it: a case, or why there is none.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from app.referee.cases import INDEX, RuledCase, case_files
from app.referee.precedents import terrain_of
from app.referee.rulings import Ruling
from db import SightlineError, suite
from db.rulesets import CODES, read_form, read_ruleset
from db.values import to_json
from importers.cases import CaseDraft

SUITE = suite.FOLDER
MADE = "<!-- Written by `sightline conformance --write docs/conformance.md`; do not edit here. -->\n\n"

Status = Literal["case", "later", "blocked", "not_a_question"]


class Strict(BaseModel):
    """A form in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Entry(Strict):
    """A worked example or ruling of a rulebook."""

    id: str
    rule: str
    kind: str
    status: Status
    case_ids: tuple[str, ...] = ()
    """The cases it became, where they are not one with its own id."""
    question: str | None = None
    """`later`: the kind of question that will answer it."""
    missing: str | None = None
    """`blocked`: which chart or picture."""
    why: str | None = None
    """`not_a_question`: the reason."""

    @model_validator(mode="after")
    def says_what_its_status_needs(self) -> Self:
        told = {
            "later": self.question is not None,
            "blocked": self.missing is not None,
            "not_a_question": self.why is not None,
        }
        wrong = [name for name, given in told.items() if given != (name == self.status)]
        if wrong or (self.case_ids and self.status != "case"):
            raise ValueError(f"{self.id}: what it says does not fit the status {self.status}")
        return self

    @property
    def cases(self) -> tuple[str, ...]:
        """The ids of its cases."""
        if self.status != "case":
            return ()
        return self.case_ids or (self.id,)


class Entries(Strict):
    """`entries.yaml`."""

    ruleset: str
    entries: tuple[Entry, ...]


@dataclasses.dataclass
class Count:
    """The figures of a ruleset, or of one kind of entry in it."""

    entries: int = 0
    cases: int = 0
    passing: int = 0
    contested: int = 0
    blocked: int = 0
    later: int = 0
    not_a_question: int = 0

    def add_entry(self, entry: Entry) -> None:
        self.entries += 1
        self.blocked += entry.status == "blocked"
        self.later += entry.status == "later"
        self.not_a_question += entry.status == "not_a_question"

    def add_case(self, case: RuledCase) -> None:
        self.cases += 1
        self.passing += passes(case)
        self.contested += decided_by_reading(case)


@dataclasses.dataclass
class Conformance:
    """A ruleset's entries and cases, ruled on."""

    ruleset: str
    entries: tuple[Entry, ...]
    cases: list[RuledCase]
    total: Count = dataclasses.field(default_factory=Count)
    by_kind: dict[str, Count] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        kind_of = {case: entry.kind for entry in reversed(self.entries) for case in entry.cases}
        by_kind: dict[str, Count] = collections.defaultdict(Count)
        for entry in self.entries:
            for count in (self.total, by_kind[entry.kind]):
                count.add_entry(entry)
        for case in self.cases:
            # a case that is no example of the rulebook counts with what it asks first
            first = case.case.questions[0].kind if case.case else "unreadable"
            kind = kind_of.get(case.case.case, first) if case.case else first
            for count in (self.total, by_kind[kind]):
                count.add_case(case)
        self.by_kind = dict(sorted(by_kind.items()))

    def as_dict(self) -> dict[str, Any]:
        told = dataclasses.asdict(self.total)
        return told | {"by_kind": {kind: dataclasses.asdict(count) for kind, count in self.by_kind.items()}}


def passes(case: RuledCase) -> bool:
    """Whether a case can be ruled on, and every expectation holds."""
    return case.error is None and all(ruling.ok is not False for ruling in case.rulings)


def decided_by_reading(case: RuledCase) -> bool:
    """Whether another reading of a contested point would change an answer."""
    return any(entry["decides"] for ruling in case.rulings for entry in ruling.contested)


def read_entries(ruleset: str, suite: Path = SUITE) -> tuple[Entry, ...]:
    """The index of a rulebook's worked examples."""
    return read_form(suite / ruleset / INDEX, Entries).entries


def conformance(
    rule: Callable[[str], RuledCase], suite: Path = SUITE, rulesets: Iterable[str] = CODES
) -> dict[str, Conformance]:
    """The suite of some games, each of its files ruled on by `rule`."""
    if not suite.is_dir():
        raise SightlineError(
            "The conformance suite is part of the project's folder, not of an installed Sightline.",
            "Run ./sightline conformance there; its table is in docs/conformance.md.",
        )
    found: dict[str, Conformance] = {}
    for ruleset in rulesets:
        files = case_files([str(suite / ruleset)]) if _has_cases(suite / ruleset) else ()
        cases = [rule(name) for name in files]
        found[ruleset] = Conformance(ruleset, read_entries(ruleset, suite), cases)
    return found


def _has_cases(folder: Path) -> bool:
    return any(path.name != INDEX for path in folder.glob("*.yaml"))


def rule_index(found: dict[str, Conformance]) -> str:
    """The index of the suite (`db.suite`) as JSON, a case a line: what each asks, which rules it applies, on what ground."""
    games = (
        f' "{code}": {{\n'
        + ",\n".join(
            f"  {to_json(ruled.case.case, indent=None)}: {to_json(_indexed(ruled.case, ruled.rulings), indent=None)}"
            for ruled in sorted(one.cases, key=lambda ruled: ruled.case.case if ruled.case else "")
            if ruled.case is not None
        )
        + "\n }"
        for code, one in found.items()
    )
    return "{\n" + ",\n".join(games) + "\n}\n"


def _indexed(case: CaseDraft, rulings: list[Ruling]) -> dict[str, Any]:
    """A case as the index tells it."""
    ground = {terrain for ruling in rulings for terrain in terrain_of(ruling, case.position)}
    return {
        "title": case.title,
        "kinds": sorted({ruling.kind for ruling in rulings}),
        "rules": sorted({*case.cites, *(step.rule for ruling in rulings for step in ruling.steps)}),
        "points": sorted({touched["point"] for ruling in rulings for touched in ruling.contested}),
        "terrain": sorted(ground),
    }


def page(found: dict[str, Conformance]) -> str:
    """`docs/conformance.md`."""
    parts = [
        MADE,
        "# Conformance\n\n",
        "Every worked example and every plain ruling of the five rulebooks is an entry here. An entry is a\n",
        "case where its question can be asked: a position that satisfies the facts, and the rulebook's answer\n",
        "as expectation (`tests/cases/`, run by `sightline conformance` and by the tests). Cases beyond the\n",
        "rulebooks' own examples are counted with the kind of question that they ask. *Contested*: cases in\n",
        "which another reading of a contested point would change the answer. *Blocked*: the rulebook's text\n",
        "lacks a chart or a picture. *Later*: the question does not exist yet.\n\n",
        _table("ruleset", ((read_ruleset(code).facts.title, one.total) for code, one in found.items())),
    ]
    for code, one in found.items():
        parts.append(f"\n## {read_ruleset(code).facts.title} (`{code}`)\n\n")
        parts.append(_table("kind", ((kind.replace("_", " "), count) for kind, count in one.by_kind.items())))
        parts += _lists(one)
    return "".join(parts)


def _table(first: str, rows: Iterable[tuple[str, Count]]) -> str:
    names = [field.name for field in dataclasses.fields(Count)]
    head = " | ".join([first, *(name.replace("_", " ") for name in names)])
    lines = [f"| {head} |", "|---|" + "--:|" * len(names)]
    lines += [f"| {name} | {' | '.join(str(getattr(count, key)) for key in names)} |" for name, count in rows]
    return "\n".join(lines) + "\n"


def _lists(one: Conformance) -> Iterable[str]:
    failing = [case for case in one.cases if not passes(case)]
    if failing:
        yield "\nNot passing: " + ", ".join(f"`{Path(case.file).stem}`" for case in failing) + ".\n"
    for status, title, reason in (
        ("blocked", "Blocked by a missing chart or picture", "missing"),
        ("not_a_question", "Not a question about a position", "why"),
        ("later", "Waiting for a question that does not exist yet", "question"),
    ):
        entries: dict[str, list[str]] = collections.defaultdict(list)
        for entry in one.entries:
            if entry.status == status:
                entries[getattr(entry, reason)].append(f"`{entry.id}`")
        if entries:
            yield f"\n### {title}\n\n"
            yield from (f"- {why}: {', '.join(ids)}\n" for why, ids in entries.items())
