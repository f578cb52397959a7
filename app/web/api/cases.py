"""`/api/v1/cases`: the cases of the conformance suite, and what stands beside a kept ruling."""

from __future__ import annotations

from typing import Literal

import flask
from flask import Response, abort
from flask_openapi3 import APIBlueprint
from pydantic import BaseModel, Field

from app.referee.precedents import precedents
from app.referee.saved import as_ruled, saved_ruling
from app.web.api import PREFIX, problems
from app.web.api.rulings import RULINGS, RulingPath, Word, Words
from app.web.site import database
from db import suite

api = APIBlueprint("cases_api", __name__, url_prefix=PREFIX)


class CaseEntry(BaseModel):
    """A case of the suite in a list."""

    case: str = Field(description="Its id")
    ruleset: str
    title: str
    kinds: list[str] = Field(description="Kinds of question that it asks")
    rules: list[str] = Field(description="Rules that it cites, or that its rulings apply")
    points: list[str] = Field(description="Contested points that its rulings touch")
    terrain: list[str] = Field(description="Terrain, hexsides and markers at the places of its rulings")


class CaseDocument(CaseEntry):
    """A case of the suite, whole."""

    text: str = Field(description="The case file, to be sent to POST /api/v1/rulings")


class CaseEntries(BaseModel):
    """Cases of the suite, by id."""

    cases: list[CaseEntry]
    total: int


class CasesQuery(BaseModel):
    """Which cases; all where nothing is said."""

    q: Words | None = Field(None, description="Words in the id, the title or the kinds of question")
    ruleset: Word | None = Field(None, description="css, ccp, fpb, bob or ddp")
    rule: Word | None = Field(None, description="A rule that was cited or applied")
    page: int = Field(1, ge=1, le=1_000_000)
    per_page: int = Field(50, ge=1, le=100)


class CasePath(BaseModel):
    """Which case."""

    id: str = Field(description="Its id, such as css-7.1-sameB")


class PrecedentEntry(BaseModel):
    """An earlier ruling or a case, and what it shares with the ruling at hand."""

    what: Literal["ruling", "case"]
    id: str
    title: str
    kind: str
    rules: list[str] = Field(description="Rules that both apply")
    points: list[str] = Field(description="Contested points that both touch")
    terrain: list[str] = Field(description="Ground that both are on")


class Precedents(BaseModel):
    """The most alike first."""

    precedents: list[PrecedentEntry]


@api.get("/cases", tags=[RULINGS], responses={"200": CaseEntries, **problems(422)})
def cases(query: CasesQuery) -> Response:
    """The cases of the conformance suite, by words, game or rule."""
    found = [
        case
        for case in suite.answering(query.q or "", query.ruleset)
        if query.rule is None or query.rule in case.features.rules
    ]
    first = (query.page - 1) * query.per_page
    some = [_entry(case).model_dump() for case in found[first : first + query.per_page]]
    return flask.jsonify({"cases": some, "total": len(found)})


@api.get("/cases/<id>", tags=[RULINGS], responses={"200": CaseDocument, **problems(404)})
def case(path: CasePath) -> Response:
    """A case of the conformance suite with its text."""
    found = suite.cases().get(path.id)
    if found is None:
        abort(404, f"There is no case {path.id[:60]!r}.")
    return flask.jsonify(_entry(found).model_dump() | {"text": found.text()})


@api.get("/rulings/<id>/precedents", tags=[RULINGS], responses={"200": Precedents, **problems(404)})
def alike(path: RulingPath) -> Response:
    """Earlier rulings and cases that share rules, contested points and ground with a kept ruling."""
    row = saved_ruling(database(), path.id)
    if row is None:
        abort(404, f"There is no ruling {path.id[:40]!r}.")
    found = precedents(database(), as_ruled(row), row["terrain"])
    return flask.jsonify({"precedents": [one.as_dict() for one in found]})


def _entry(case: suite.SuiteCase) -> CaseEntry:
    features = case.features
    return CaseEntry(
        case=case.id,
        ruleset=case.ruleset,
        title=case.title,
        kinds=sorted(features.kinds),
        rules=sorted(features.rules),
        points=sorted(features.points),
        terrain=sorted(features.terrain),
    )
