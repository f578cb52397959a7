"""Rulings that were kept: read back as they were given, told to programs, and asked again."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, JSONPATH, insert
from sqlalchemy.engine import Connection

from app.referee.cases import rule_document
from app.referee.precedents import terrain_of
from app.referee.questions import forms, kinds_of
from app.referee.rulings import Need, Ruling, Step, contested_points
from app.referee.version import version_in
from app.referee.words import mood, verdict
from db import SightlineError
from db.rulings import DeletedRuling, SavedRuling
from db.values import canonical, exact
from importers.cases import CaseDraft, case_of
from importers.questions import Question

ID = re.compile("[0-9a-f]{20}")


class NoRulingError(SightlineError):
    """No ruling was ever kept under an id."""

    status = 404
    title = "There is no such ruling"


class DeletedRulingError(SightlineError):
    """A ruling was kept under an id, and the operator has deleted it."""

    status = 410
    title = "This ruling was deleted"


def as_ruled(row: sa.RowMapping) -> Ruling:
    """A kept ruling as it was given."""
    [(name, arguments)] = row["question"].items()
    kind = kinds_of(row["ruleset"]).get(name)
    if kind is not None:
        fields = kind.arguments.model_fields
        arguments = _in_order(arguments, (field.alias or word for word, field in fields.items()))
    answer = _in_order(row["answer"], kind.answers if kind else ())
    return Ruling(
        ruleset=row["ruleset"],
        kind=row["kind"],
        question={name: arguments},
        needs=[Need(need["chart"], need["rule"]) for need in answer.pop("needs", ())],
        answer=answer,
        steps=[
            Step(step["rule"], step.get("at"), step["effect"], step["note"], step.get("clause"))
            for step in row["steps"]
        ],
        contested=row["contested"],
        errata=row["errata"],
        policy=row["policy"],
        case=row["case_id"],
        id=row["id"],
        question_kind=kind,
    )


def _in_order(told: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """PostgreSQL keeps the keys of a document in an order of its own; people read ours."""
    order = {name: at for at, name in enumerate(names)}
    return dict(sorted(told.items(), key=lambda item: order.get(item[0], len(order))))


def kept(row: sa.RowMapping) -> dict[str, Any]:
    """A kept ruling with all that was kept of it, for programs."""
    beside = {name: row[name] for name in ("title", "kind", "policy", "ruleset_version", "position_digest")}
    when = {"created_at": row["created_at"].isoformat(), "document": row["document"]}
    return as_ruled(row).as_dict() | beside | when


def kept_summary(row: sa.RowMapping) -> dict[str, Any]:
    """A kept ruling in a list, for programs."""
    ruling = as_ruled(row)
    return {
        "ruling": ruling.id,
        "ruleset": ruling.ruleset,
        "kind": ruling.kind,
        "case": ruling.case,
        "title": row["title"],
        "question": ruling.question,
        "verdict": verdict(ruling),
        "answer": ruling.full_answer,
        "rules": list(dict.fromkeys(step.rule for step in ruling.steps)),
        "question_id": asked_as(row),
        "conditions": conditions_of(row),
        "created_at": row["created_at"].isoformat(),
    }


def asked_as(row: sa.RowMapping) -> str | None:
    """The id of the question within its case, where it has one."""
    [asked] = row["document"]["ask"]
    name: str | None = asked.get("id")
    return name


def conditions_of(row: sa.RowMapping) -> dict[str, Any]:
    """Weather, time of day and the like: the case's, and over them the question's own."""
    [asked] = row["document"]["ask"]
    told = {**(row["document"].get("conditions") or {}), **(asked.get("conditions") or {})}
    return dict(sorted(told.items()))


def read_again(connection: Connection, row: sa.RowMapping) -> CaseDraft:
    """The case of a kept ruling, with its one question."""
    return case_of(row["document"], _name(row), forms(), connection)


def rule_again(
    connection: Connection, row: sa.RowMapping, policy: Mapping[str, str] | None = None
) -> tuple[CaseDraft, Ruling]:
    """Ask what a kept ruling answered once more, of the same document, by the rules of today."""
    case, [ruling] = rule_document(connection, row["document"], _name(row), policy)
    return case, ruling


def _name(row: sa.RowMapping) -> str:
    return f"ruling {row['id']}"


def same_answer(row: sa.RowMapping, ruling: Ruling) -> bool:
    """Whether a ruling answers as a kept one did."""
    return canonical(exact(ruling.full_answer)) == canonical(row["answer"])


def same_proof(row: sa.RowMapping, ruling: Ruling) -> bool:
    """Whether a ruling applies the rules that a kept one did, each at the same place to the same effect."""
    return canonical(exact([step.as_dict() for step in ruling.steps])) == canonical(row["steps"])


def save(connection: Connection, case: CaseDraft, rulings: Iterable[Ruling]) -> None:
    """Keep rulings for good; one that was kept before keeps its id and its text."""
    for number, (ruling, question) in enumerate(zip(rulings, case.questions, strict=True)):
        record = _record(case, number, ruling, question, version_in(connection, ruling.ruleset))
        ruling.id = record["id"]
        record["terrain"] = sorted(terrain_of(ruling, case.position, connection))
        connection.execute(insert(SavedRuling).values(**record).on_conflict_do_nothing(index_elements=["id"]))


def _record(case: CaseDraft, number: int, ruling: Ruling, question: Question, version: str) -> dict[str, Any]:
    """A ruling as it is kept. Its id tells what was asked of which position, read how, and who ruled."""
    conditions = case.position.conditions | question.conditions
    digest = case.position.digest(conditions)
    policy = ruling.house | case.position.policy | question.policy
    points = contested_points(ruling.ruleset)
    chosen = {point: letter for point, letter in policy.items() if letter != points[point].default}
    identity = canonical(
        [digest, ruling.question, chosen, version, *([exact(ruling.errata)] if ruling.errata else [])]
    )
    return {
        "id": hashlib.sha256(identity.encode()).hexdigest()[:20],
        "ruleset": ruling.ruleset,
        "ruleset_version": version,
        "kind": ruling.kind,
        "case_id": case.case,
        "title": case.title,
        # with this question alone, so that it can be asked again as it was
        "document": exact(case.document | {"ask": [case.document["ask"][number]]}),
        "position_digest": digest,
        "question": exact(ruling.question),
        "answer": exact(ruling.full_answer),
        "steps": exact([step.as_dict() for step in ruling.steps]),
        "contested": exact(ruling.contested),
        "errata": exact(ruling.errata),
        "policy": policy | ruling.policy,
        "mood": mood(exact(ruling.answer), ruling.needs),
    }


MOODS = ("yes", "no", "open", "plain")
"""Verdicts to look for: yes, no, open for want of something, or neither (a list, a number)."""
FACETS = ("ruleset", "kind", "rule", "point", "verdict")
"""By what kept rulings are counted and narrowed down."""
COUNTED = 12
"""Values of a facet that are told, those with most rulings first."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which kept rulings are looked for; what is None does not matter."""

    ruleset: str | None = None
    kind: str | None = None
    rule: str | None = None
    """A rule number that was applied."""
    text: str | None = None
    """Words in the title or the id of the case, or in a note of its proof."""
    since: datetime.date | None = None
    """First asked on this day (UTC) or later."""
    until: datetime.date | None = None
    """First asked on this day or earlier."""
    point: str | None = None
    """A contested point that was touched."""
    verdict: str | None = None
    """One of `MOODS`."""

    def conditions(self) -> list[sa.ColumnElement[bool]]:
        found: list[sa.ColumnElement[bool]] = []
        if self.ruleset is not None:
            found.append(SavedRuling.ruleset == self.ruleset)
        if self.kind is not None:
            found.append(SavedRuling.kind == self.kind)
        if self.rule is not None:
            found.append(SavedRuling.steps.contains([{"rule": self.rule}]))
        if self.text:
            notes = sa.func.jsonb_path_query_array(SavedRuling.steps, sa.cast("$[*].note", JSONPATH)).cast(
                sa.Text
            )
            words = sa.func.concat_ws(" ", SavedRuling.title, SavedRuling.case_id, notes)
            found.append(words.icontains(self.text, autoescape=True))
        if self.point is not None:
            found.append(SavedRuling.contested.contains([{"point": self.point}]))
        if self.verdict is not None:
            found.append(SavedRuling.mood == self.verdict)
        day = sa.func.timezone("UTC", SavedRuling.created_at).cast(sa.Date)
        if self.since is not None:
            found.append(day >= self.since)
        if self.until is not None:
            found.append(day <= self.until)
        return found


def saved_ruling(connection: Connection, id: str) -> sa.RowMapping | None:
    """A kept ruling by its id; None where there is none, or the text is no id at all."""
    if not ID.fullmatch(id):
        return None
    query = sa.select(*SavedRuling.__table__.columns).where(SavedRuling.id == id)
    return connection.execute(query).mappings().one_or_none()


def facets(connection: Connection, wanted: Wanted) -> dict[str, dict[str, int]]:
    """By facet: how many of the rulings that are wanted otherwise have each value."""
    found: dict[str, dict[str, int]] = {}
    for name in FACETS:
        told = sa.select(_values(name).label("value")).select_from(SavedRuling)
        told = told.where(*dataclasses.replace(wanted, **{name: None}).conditions())
        values = told.subquery()
        query = (
            sa.select(values.c.value, sa.func.count().label("rulings"))
            .where(values.c.value.is_not(None))
            .group_by(values.c.value)
            .order_by(sa.desc("rulings"), values.c.value)
            .limit(COUNTED)
        )
        found[name] = {row.value: row.rulings for row in connection.execute(query)}
    return found


def _values(facet: str) -> sa.ColumnElement[Any]:
    """What a ruling has of a facet; of rules and contested points each once."""
    if facet in ("rule", "point"):
        column = SavedRuling.steps if facet == "rule" else SavedRuling.contested
        item = sa.func.jsonb_array_elements(column).column_valued("item", joins_implicitly=True)
        once = sa.select(sa.func.array_agg(sa.distinct(sa.type_coerce(item, JSONB)[facet].astext)))
        return sa.func.unnest(once.correlate(SavedRuling).scalar_subquery())
    return {"ruleset": SavedRuling.ruleset, "kind": SavedRuling.kind, "verdict": SavedRuling.mood}[
        facet
    ].expression


def kept_ruling(connection: Connection, id: str) -> sa.RowMapping:
    """A kept ruling by its id, or a word on why there is none."""
    row = saved_ruling(connection, id)
    if row is not None:
        return row
    query = sa.select(*DeletedRuling.__table__.columns).where(DeletedRuling.id == id)
    gone = connection.execute(query).mappings().one_or_none() if ID.fullmatch(id) else None
    if gone is None:
        raise NoRulingError(
            f"There is no ruling {id[:40]!r}.",
            "`sightline rulings list` and the page /rulings list the kept ones.",
        )
    raise DeletedRulingError(
        f"Ruling {id} was deleted on {gone['deleted_at']:%Y-%m-%d} by {gone['who']}: {gone['why']}",
        f"It was a {gone['ruleset']} ruling of kind {gone['kind']}, first asked on {gone['created_at']:%Y-%m-%d};"
        f" the SHA-256 of what was kept is {gone['digest']}. Ask the question again to have it ruled anew.",
    )


def delete_rulings(connection: Connection, ids: Iterable[str], *, who: str, why: str) -> None:
    """Delete kept rulings for good, all or none; of each a trace is left."""
    if not why.strip():
        raise SightlineError("Whoever deletes a ruling says why.", "The reason stays at its address.")
    for id in dict.fromkeys(ids):
        row = kept_ruling(connection, id)
        trace = {
            "digest": hashlib.sha256(canonical(dict(row)).encode()).hexdigest(),
            **{name: row[name] for name in ("ruleset", "kind", "created_at")},
            "who": who,
            "why": why.strip(),
        }
        statement = insert(DeletedRuling).values(id=id, **trace)
        connection.execute(
            statement.on_conflict_do_update(index_elements=["id"], set_=trace | {"deleted_at": sa.func.now()})
        )
        connection.execute(sa.text("set local sightline.rulings_may_change = 'yes'"))
        connection.execute(sa.delete(SavedRuling).where(SavedRuling.id == id))
        connection.execute(sa.text("set local sightline.rulings_may_change = 'no'"))


def saved_rulings(
    connection: Connection, wanted: Wanted, page: int, per_page: int
) -> tuple[int, list[sa.RowMapping]]:
    """How many kept rulings are as wanted, and a page of them, the latest first."""
    conditions = wanted.conditions()
    total = connection.scalar(sa.select(sa.func.count()).select_from(SavedRuling).where(*conditions))
    query = (
        sa.select(*SavedRuling.__table__.columns)
        .where(*conditions)
        .order_by(SavedRuling.created_at.desc(), SavedRuling.id)
        .limit(per_page)
        .offset((page - 1) * per_page)
    )
    return total or 0, list(connection.execute(query).mappings())
