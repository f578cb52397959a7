"""The ruling engine: a question put to a position, answered with every rule that made the answer.

Every door (command line, API, pages) comes through `ask` or `rule_case`. What can be
asked is the registry `app.referee.questions`: one module a kind. When a ruling touches contested
points, it is ruled again under their other readings, to tell whether one would change it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar, Self

import psycopg
import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, model_validator
from sqlalchemy.engine import Connection

from app.referee import words
from db import SightlineError
from db.charts import chart_needed, template_command
from db.database import fetched
from db.errata import Amendment, in_force
from db.rulesets import ContestedPoint, read_ruleset
from db.values import canonical, exact
from importers.cases import CaseDraft, store_position
from importers.documents import Problems
from importers.questions import Question, arguments_told


class RulingError(SightlineError):
    """A question that cannot be ruled on."""


@dataclasses.dataclass(frozen=True)
class Step:
    """A rule that was applied: where, and to what effect."""

    rule: str
    at: str | None
    effect: str | int | Decimal
    note: str
    clause: str | None = None
    """The lettered item within the rule, where it has them."""

    def as_dict(self) -> dict[str, Any]:
        told = {
            "rule": self.rule,
            "clause": self.clause,
            "at": self.at,
            "effect": self.effect,
            "note": self.note,
        }
        return {key: value for key, value in told.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Need:
    """Something that the rulebook does not print, without which there is no answer."""

    what: str
    rule: str

    @property
    def cited(self) -> str:
        """What is needed, with the rule that speaks of it."""
        return f"{self.what} (rule {self.rule})"

    def __str__(self) -> str:
        return f"needs {self.cited}"

    def as_dict(self) -> dict[str, str]:
        return {"chart": self.what, "rule": self.rule, "note": str(self)}


@dataclasses.dataclass
class Finding:
    """What a question kind finds: the answer and how it came about."""

    answer: dict[str, Any]
    steps: list[Step]
    points: list[str] = dataclasses.field(default_factory=list)
    """Contested points that were touched."""
    needs: list[Need] = dataclasses.field(default_factory=list)


JSON_ARGUMENTS = ("conditions", "policy", "options")
"""Arguments that the functions take as jsonb."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """A position in the database, as one question sees it."""

    connection: Connection
    position_id: int
    ruleset: str
    conditions: dict[str, Any]
    policy: dict[str, str]
    as_it_stands: bool = False
    """Whether a saved position is asked under its own conditions and readings, so that what is kept of it serves."""
    proved: bool = True
    """Whether the steps are wanted, too; without them a question may save itself the reasons."""
    errata: tuple[Amendment, ...] = ()
    """Errata and house rules that hold today."""

    def settled(self) -> dict[str, Amendment]:
        """The house rules by whose readings it is asked: those of points that nothing nearer reads."""
        return {
            rule.point: rule for rule in self.errata if rule.point and self.policy.get(rule.point) is None
        }

    def rows(self, query: str, **values: Any) -> list[sa.Row[Any]]:
        """Ask SQL; `:position`, `:conditions` and `:policy` are there for every query."""
        common = {"position": self.position_id, "conditions": self.conditions, "policy": self.policy}
        used = {name: value for name, value in common.items() if f":{name}" in query}
        try:
            return fetched(self.connection, query, used | values)
        except sa.exc.DBAPIError as error:
            if isinstance(error.orig, psycopg.errors.NoDataFound | psycopg.errors.AmbiguousParameter):
                # how a function says that it was asked about something that is not there, or about two
                message = error.orig.diag.message_primary or "there is no answer"
                raise RulingError(f"{message[0].upper()}{message[1:].rstrip('.')}.") from error
            raise

    def reasons(self, query: str, **values: Any) -> list[sa.Row[Any]]:
        """Rows that tell why, and decide nothing."""
        return self.rows(query, **values) if self.proved else []

    def reading(self, point: str) -> str:
        """The reading in force for a contested point."""
        return self.policy.get(point) or contested_points(self.ruleset)[point].default

    def by_house_rules(self) -> Asked:
        """The same question with contested points read as house rules have it."""
        settled = {point: str(rule.reading) for point, rule in self.settled().items()}
        if not settled:
            return self
        return dataclasses.replace(self, policy={**settled, **self.policy}, as_it_stands=False)


class Arguments(BaseModel):
    """The arguments of a question; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True, populate_by_name=True)
    one_of: ClassVar[tuple[str, ...]] = ()
    """Fields of which a question has exactly one."""
    which: ClassVar[str] = ""
    """What is said to somebody who gives none of them, or several."""

    @model_validator(mode="after")
    def one_of_them(self) -> Self:
        if self.one_of and sum(getattr(self, name) is not None for name in self.one_of) != 1:
            raise ValueError(self.which)
        return self


@dataclasses.dataclass(frozen=True)
class QuestionKind:
    """A kind of question: what it takes, who answers it, and how."""

    name: str
    title: str
    arguments: type[Arguments]
    rulesets: tuple[str, ...]
    rule: Callable[[Asked, Any], Finding]
    answers: dict[str, str]
    """The keys of its answer, each with what it means."""
    verdict: Callable[[Ruling], str]
    """Its answer as a sentence; what a ruling of an earlier version lacks is a LookupError."""
    points: tuple[str, ...] = ()
    """Contested points it takes into account."""
    example: str = ""
    """The question as a case file has it."""
    draws: str | None = None
    """How a map shows its answer: `hexes`, `path` or `line`."""
    names_units: tuple[str, ...] = ()
    """The keys of its answer that tell units."""
    offer: Callable[[Ruling], dict[str, str]] = lambda ruling: {}
    """What else could be said for another answer, such as the posture in which a unit may move."""
    lacking: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Of games that do not have it, why."""


@dataclasses.dataclass
class Ruling:
    """An answer with its proof."""

    ruleset: str
    kind: str
    question: dict[str, Any]
    answer: dict[str, Any]
    steps: list[Step]
    contested: list[dict[str, Any]]
    needs: list[Need]
    policy: dict[str, str]
    errata: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    """Errata and house rules on the rules that were applied, and those whose reading decided a point."""
    house: dict[str, str] = dataclasses.field(default_factory=dict)
    """The readings that house rules chose, touched or not."""
    case: str | None = None
    asked_as: str | None = None
    expected: dict[str, Any] | None = None
    id: str | None = None
    question_kind: QuestionKind | None = dataclasses.field(default=None, repr=False)
    """None of a kept ruling whose kind this version does not know."""

    @property
    def ok(self) -> bool | None:
        """Whether the answer is as expected; None where nothing was."""
        return None if self.expected is None else not self.differences()

    @property
    def full_answer(self) -> dict[str, Any]:
        """The answer, with what it needs where the rulebook does not print what would decide it."""
        return self.answer | ({"needs": [need.as_dict() for need in self.needs]} if self.needs else {})

    def fills(self, need: Need) -> dict[str, str]:
        """The chart that would tell what is needed, and the command that begins to fill it, where there is one."""
        chart = chart_needed(self.ruleset, need.what)
        return {} if chart is None else {"table": chart, "fill": template_command(self.ruleset, chart)}

    def differences(self) -> list[str]:
        """Each expected key that the answer does not have so."""
        answer = self.full_answer
        return [
            f"{key}: expected {canonical(value)}, is {canonical(_told(key, answer.get(key)))}"
            for key, value in (self.expected or {}).items()
            if key not in answer or not agrees(key, value, answer[key])
        ]

    def as_dict(self) -> dict[str, Any]:
        """The ruling as `--json` and the API give it."""
        told: dict[str, Any] = {}
        if self.case is not None:
            told["case"] = self.case
        if self.asked_as is not None:
            told["id"] = self.asked_as
        told |= {
            "question": self.question,
            "ruleset": self.ruleset,
            "verdict": words.verdict(self),
            "answer": self.full_answer,
            "steps": [step.as_dict() for step in self.steps],
            "contested": self.contested,
        }
        if self.errata:
            told["errata"] = self.errata
        if self.needs:
            told["needs"] = [need.as_dict() | self.fills(need) for need in self.needs]
        if self.expected is not None:
            told |= {"expected": self.expected, "ok": self.ok}
            if not self.ok:
                told["differences"] = self.differences()
        if self.id is not None:
            told["ruling"] = self.id
        return told


ORDERED = ("trace", "path", "order", "checks")
"""Lists whose order is part of the answer."""


def agrees(key: str, expected: Any, found: Any) -> bool:
    """Whether an answer's value is the expected one: lists as sets, but in order for those of `ORDERED`.

    Of `effects` an expectation may name some, each by some of its keys; none at all says that there are none.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        return all(name in found and agrees(name, value, found[name]) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(found, list):
        if key == "effects" and expected:
            return all(any(agrees("", item, other) for other in found) for item in expected)
        if key in ORDERED:
            return len(expected) == len(found) and all(
                agrees("", item, other) for item, other in zip(expected, found, strict=True)
            )
        found = _told(key, found) if any(isinstance(item, str) for item in expected) else found
        return all(any(agrees("", item, other) for other in found) for item in expected) and all(
            any(agrees("", item, other) for item in expected) for other in found
        )
    return _same(expected, found)


def _told(key: str, found: Any) -> Any:
    """What is needed, by the names of the charts alone, as an expectation may tell it."""
    return [need["chart"] for need in found] if key == "needs" and isinstance(found, list) else found


def _same(one: Any, other: Any) -> bool:
    """Equality of scalars: numbers by value (½ is 0.5), and a label that was written as a number by its text."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    numbers = [isinstance(value, int | float | Decimal) for value in (one, other)]
    if all(numbers):
        return Decimal(str(one)) == Decimal(str(other))
    if any(numbers) and isinstance(one, str | int | Decimal) and isinstance(other, str | int | Decimal):
        return str(one) == str(other) or _as_number(one) == _as_number(other)
    return bool(one == other)


def _as_number(value: str | int | Decimal) -> Decimal | None:
    try:
        return Decimal(value)
    except InvalidOperation:
        return None


@functools.cache
def contested_points(ruleset: str) -> dict[str, ContestedPoint]:
    """A ruleset's contested points by id."""
    return {point.id: point for point in read_ruleset(ruleset).contested}


def ask(asked: Asked, kind: QuestionKind, arguments: Arguments) -> Ruling:
    """Rule on one question, and tell whether another reading would rule otherwise."""
    settled, asked = asked.settled(), asked.by_house_rules()
    finding = kind.rule(asked, arguments)
    contested: list[dict[str, Any]] = []
    for point in sorted(set(finding.points), key=lambda name: int(name.rpartition("-")[2])):
        used = asked.reading(point)
        decides = False
        for letter in contested_points(asked.ruleset)[point].readings:
            if letter != used and not decides:
                other = dataclasses.replace(
                    asked, policy=asked.policy | {point: letter}, proved=False, as_it_stands=False
                )
                decides = _answer_under(other, kind, arguments) != canonical(exact(finding.answer))
        by = {"house_rule": settled[point].id} if point in settled else {}
        contested.append({"point": point, "reading": used, "decides": decides, **by})
    return Ruling(
        ruleset=asked.ruleset,
        kind=kind.name,
        question={kind.name: arguments_told(arguments)},
        answer=finding.answer,
        steps=finding.steps,
        contested=contested,
        needs=finding.needs,
        policy={entry["point"]: entry["reading"] for entry in contested},
        errata=_errata(asked.errata, finding),
        house={point: str(rule.reading) for point, rule in settled.items()},
        question_kind=kind,
    )


def _errata(errata: Iterable[Amendment], finding: Finding) -> list[dict[str, Any]]:
    """What changes a rule that a finding cites, or chose the reading of a point that it touches."""
    cited = {(step.rule, step.clause) for step in finding.steps} | {
        (need.rule, None) for need in finding.needs
    }
    return [
        entry.as_dict()
        for entry in errata
        if entry.point in finding.points or any(entry.bears_on(*place) for place in cited)
    ]


def _answer_under(asked: Asked, kind: QuestionKind, arguments: Arguments) -> str | None:
    """The answer under another reading; None where that reading wants other dice, draws or choices than were given."""
    try:
        return canonical(exact(kind.rule(asked, arguments).answer))
    except RulingError:
        return None


def rule_case(connection: Connection, case: CaseDraft, kinds: dict[str, QuestionKind]) -> list[Ruling]:
    """Rule on every question of a case; what is stored for it is undone."""
    position = case.position
    with connection.begin_nested() as savepoint:
        position_id = store_position(connection, position)
        errata = in_force(connection, position.ruleset)
        rulings = [
            rule(
                connection,
                position_id,
                position.ruleset,
                question,
                kinds[question.kind],
                conditions=position.conditions,
                policy=position.policy,
                errata=errata,
            )
            for question in case.questions
        ]
        savepoint.rollback()
    for ruling in rulings:
        ruling.case = case.case
    return rulings


def rule(
    connection: Connection,
    position_id: int,
    ruleset: str,
    question: Question,
    kind: QuestionKind,
    *,
    conditions: Mapping[str, Any],
    policy: Mapping[str, str],
    errata: tuple[Amendment, ...] = (),
    saved: bool = False,
) -> Ruling:
    """Rule on a question that was read, under the position's conditions and readings and its own.

    House rules among the errata read contested points that neither of the two does.
    """
    asked = Asked(
        connection,
        position_id,
        ruleset,
        {**conditions, **question.conditions},
        {**policy, **question.policy},
        as_it_stands=saved and not question.conditions and not question.policy,
        errata=errata,
    )
    try:
        ruling = ask(asked, kind, question.arguments)  # type: ignore[arg-type]
    except RulingError as error:
        problems = Problems()
        problems.add(question.at, error.message)
        problems.raise_if_any()
    ruling.asked_as = question.id
    ruling.question = question.asked
    ruling.expected = question.expect
    return ruling
