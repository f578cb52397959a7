"""Rulings that were kept: read back as they were given, told to programs, and asked again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.cases import rule_text
from app.output import to_json
from app.questions import forms, kinds_of
from app.rulings import Need, Ruling, Step, exact
from importers.cases import CaseDraft, canonical, read_case


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
        policy=row["policy"],
        case=row["case_id"],
        id=row["id"],
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
        "answer": ruling.full_answer,
        "rules": list(dict.fromkeys(step.rule for step in ruling.steps)),
        "created_at": row["created_at"].isoformat(),
    }


def read_again(connection: Connection, row: sa.RowMapping) -> CaseDraft:
    """The case of a kept ruling, with its one question."""
    return read_case(to_json(row["document"]), _name(row), forms(), connection)


def rule_again(
    connection: Connection, row: sa.RowMapping, policy: Mapping[str, str] | None = None
) -> tuple[CaseDraft, Ruling]:
    """Ask what a kept ruling answered once more, of the same document, by the rules of today."""
    case, [ruling] = rule_text(connection, to_json(row["document"]), _name(row), policy)
    return case, ruling


def _name(row: sa.RowMapping) -> str:
    return f"ruling {row['id']}.json"


def same_answer(row: sa.RowMapping, ruling: Ruling) -> bool:
    """Whether a ruling answers as a kept one did."""
    return canonical(exact(ruling.full_answer)) == canonical(row["answer"])


def same_proof(row: sa.RowMapping, ruling: Ruling) -> bool:
    """Whether a ruling applies the rules that a kept one did, each at the same place to the same effect."""
    return canonical(exact([step.as_dict() for step in ruling.steps])) == canonical(row["steps"])
