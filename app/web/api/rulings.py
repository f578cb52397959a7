"""`/api/v1/rulings`: cases ruled on, rulings kept; and what can be asked, and what is contested."""

from __future__ import annotations

import datetime
import functools
from typing import Annotated, Any, Literal

import flask
from flask import Response, abort, request
from flask_openapi3 import APIBlueprint, Tag
from pydantic import BaseModel, ConfigDict, Field, RootModel

from app.referee.cases import rule_text
from app.referee.questions import implemented_points, kinds
from app.referee.rulings import QuestionKind, contested_points
from app.referee.saved import Wanted, kept, kept_ruling, kept_summary, save, saved_rulings
from app.web.api import PREFIX, problems
from app.web.site import Day, database, engine
from db.rulesets import CODES
from importers.cases import CASE_KEYS
from importers.questions import ASK_KEYS

api = APIBlueprint("rulings_api", __name__, url_prefix=PREFIX)
RULINGS = Tag(name="Rulings", description="Questions about positions, answered with every rule applied")
REFERENCE = Tag(name="Reference", description="What can be asked, and where rulebooks contradict themselves")

JSON_TYPES = ("application/json", "text/json")
EXAMPLE = {
    "case": "example",
    "title": "Two clear hexes",
    "ruleset": "css",
    "map": {"extent": ["20.76", "26.84"], "fill": {"terrain": "clear", "level": 1}},
    "ask": [{"los": {"from": "22.80", "to": "24.77"}}],
}
Word = Annotated[str, Field(max_length=40, pattern=r"^[0-9A-Za-z_.-]*$")]
Words = Annotated[str, Field(max_length=200, pattern=r"^[^\x00]*$")]


@functools.cache
def case_schema() -> dict[str, Any]:
    """The outer form of a case file; `docs/cases.md` tells the words of each ruleset."""
    words, anything = {"type": "string"}, {"type": "object"}
    listed = {"type": "array", "items": anything}
    known: dict[str, dict[str, Any]] = {
        "case": words | {"description": "Id of the case"},
        "title": words,
        "ruleset": {"enum": list(CODES)},
        "cites": {"type": "array", "items": words, "description": "Rule numbers"},
        "policy": anything | {"description": "Readings of contested points"},
        "conditions": anything | {"description": "Weather, time of day, turn"},
        "map": {"anyOf": [anything, words], "description": "The map itself, or the name of a saved one"},
        "units": listed,
        "markers": listed,
        "tracks": anything | {"description": "Points, cups and pools beside the map"},
        "ask": {"type": "array", "minItems": 1, "items": _ask_schema(), "description": "The questions"},
    }
    return {
        "type": "object",
        "properties": {key: known[key] for key in CASE_KEYS},
        "required": ["case", "ruleset", "map", "ask"],
        "additionalProperties": False,
    }


def _ask_schema() -> dict[str, Any]:
    """One question of any kind, with what may stand beside it."""
    beside = {"id": {"type": "string"}} | {key: {"type": "object"} for key in ASK_KEYS if key != "id"}
    asked: dict[str, list[dict[str, Any]]] = {}
    for kind in kinds():
        asked.setdefault(kind.name, []).append(kind.arguments.model_json_schema(by_alias=True))
    forms = {name: some[0] if len(some) == 1 else {"anyOf": some} for name, some in asked.items()}
    return {
        "type": "object",
        "properties": forms | beside,
        "additionalProperties": False,
        "oneOf": [{"required": [name]} for name in asked],
    }


class AppliedRule(BaseModel):
    """A rule that was applied: where, and to what effect."""

    rule: str = Field(description="Rule number in that ruleset")
    clause: str | None = Field(None, description="The lettered item within the rule")
    at: str | None = Field(None, description="Hex or hexside")
    effect: str | int | float = Field(description="A verdict, or a signed number")
    note: str = Field(description="Why, in words")


class TouchedPoint(BaseModel):
    """A contested point that a ruling touches."""

    point: str
    reading: str = Field(description="The reading used")
    decides: bool = Field(description="Whether another reading would change the answer")


class Needed(BaseModel):
    """Something that the rulebook does not print, without which there is no answer."""

    chart: str = Field(description="What is needed, in words")
    rule: str
    note: str
    table: str | None = Field(None, description="The chart of the game that would tell it")
    fill: str | None = Field(None, description="The command that writes that chart's form to fill in")


class RulingAnswer(BaseModel):
    """An answer with its proof."""

    case: str | None = Field(None, description="Id of the case")
    id: str | None = Field(None, description="Id of the question within the case, where it has one")
    question: dict[str, Any] = Field(description="Kind and arguments")
    ruleset: str
    verdict: str = Field(description="The answer as a sentence; what it only counts is in `answer`")
    answer: dict[str, Any] = Field(description="Its keys depend on the kind of question")
    steps: list[AppliedRule] = Field(description="Every rule that was applied, in order")
    contested: list[TouchedPoint]
    needs: list[Needed] | None = None
    expected: dict[str, Any] | None = None
    ok: bool | None = Field(None, description="Whether the answer is as expected")
    differences: list[str] | None = None
    ruling: str | None = Field(None, description="Permanent id, for GET /api/v1/rulings/{id}")


class RulingAnswers(RootModel[list[RulingAnswer]]):
    """An answer a question, in the order of the document."""


class KeptRuling(RulingAnswer):
    """A ruling that was kept."""

    kind: str = Field(description="Kind of question")
    title: str = Field(description="Title of the case")
    policy: dict[str, str] = Field(description="Readings in force for contested points")
    ruleset_version: str = Field(description="Digest of the rules data and functions that ruled")
    position_digest: str = Field(description="SHA-256 of map, units, markers and conditions")
    created_at: datetime.datetime = Field(description="First asked when")
    document: dict[str, Any] = Field(description="The case with this question, to be asked again")


class KeptRulingSummary(BaseModel):
    """A kept ruling in a list."""

    ruling: str
    ruleset: str
    kind: str
    case: str
    title: str
    question: dict[str, Any]
    verdict: str = Field(description="The answer as a sentence")
    answer: dict[str, Any]
    rules: list[str] = Field(description="Numbers of the rules applied")
    question_id: str | None = Field(description="Id of the question within the case, where it has one")
    conditions: dict[str, Any] = Field(description="Weather, time of day and the like")
    created_at: datetime.datetime


class KeptRulings(BaseModel):
    """A page of kept rulings, the latest first."""

    rulings: list[KeptRulingSummary]
    total: int
    page: int
    per_page: int


class RulingPath(BaseModel):
    """Which ruling."""

    id: str = Field(description="Permanent id")


class RulingsQuery(BaseModel):
    """Which kept rulings; all where nothing is said."""

    ruleset: Word | None = Field(None, description="css, ccp, fpb, bob or ddp")
    kind: Word | None = Field(None, description="Kind of question, such as los")
    rule: Word | None = Field(None, description="A rule number that was applied, such as 7.1.1")
    text: Words | None = Field(None, description="In the title or id of the case, or in a note of the proof")
    since: Day | None = Field(None, description="First asked on this day (UTC) or later")
    until: Day | None = Field(None, description="First asked on this day or earlier")
    point: Word | None = Field(None, description="A contested point that was touched, such as css-12")
    verdict: Literal["yes", "no", "open", "plain"] | None = Field(
        None, description="`open`: something is not known; `plain`: neither yes nor no, such as a list"
    )
    page: int = Field(1, ge=1, le=1_000_000)
    per_page: int = Field(20, ge=1, le=100)


class Question(BaseModel):
    """A kind of question."""

    model_config = ConfigDict(title="QuestionKind")

    name: str
    title: str
    rulesets: list[str] = Field(description="Who answers it")
    arguments: dict[str, Any] = Field(description="JSON schema of what it takes")
    answers: dict[str, str] = Field(description="The keys of its answer, and what they mean")
    points: list[str] = Field(description="Contested points it takes into account")
    example: str = Field(description="As a case file has it")


class Questions(BaseModel):
    """What can be asked."""

    questions: list[Question]


class QuestionsQuery(BaseModel):
    """Of which game."""

    ruleset: Word | None = Field(None, description="Only what this ruleset answers")


class PointReading(BaseModel):
    """A way to read a contested point."""

    title: str
    effect: str


class ContestedPointEntry(BaseModel):
    """A point where a rulebook disagrees with itself or is silent."""

    id: str
    title: str
    severity: str
    cites: list[str]
    readings: dict[str, PointReading]
    default: str
    why: str
    affects: list[str] = Field(description="Question kinds whose answer may turn on it")
    implemented: bool = Field(description="Whether a question takes it into account yet")


class PointsOfRuleset(BaseModel):
    """The contested points of a ruleset."""

    ruleset: str
    points: list[ContestedPointEntry]


class RulesetPath(BaseModel):
    """Which game."""

    ruleset: str = Field(description="css, ccp, fpb, bob or ddp")


@api.post(
    "/rulings",
    tags=[RULINGS],
    responses={"200": RulingAnswers, **problems(400, 413, 422)},
    openapi_extensions={
        "requestBody": {
            "description": "A case file: a position and questions about it, in YAML or JSON",
            "required": True,
            "content": {
                "application/json": {"schema": case_schema(), "example": EXAMPLE},
                "application/yaml": {"schema": case_schema(), "example": EXAMPLE},
            },
        }
    },
)
def rule() -> Response:
    """Rule on a case: every question answered, and every ruling kept under a permanent id.

    The document is that of `sightline rule`, and so is the answer. The position itself is
    not kept beyond the document. Asking again gives the same id.
    """
    name = "case.json" if request.mimetype in JSON_TYPES else "case"
    text = request.get_data(cache=False)
    with engine().begin() as connection:
        case, rulings = rule_text(connection, text, name)
        save(connection, case, rulings)
    return flask.jsonify([ruling.as_dict() for ruling in rulings])


@api.get("/rulings/<id>", tags=[RULINGS], responses={"200": KeptRuling, **problems(404, 410)})
def ruling(path: RulingPath) -> Response:
    """A kept ruling, as it was ruled; of one that was deleted, when, by whom and why (410)."""
    return flask.jsonify(kept(kept_ruling(database(), path.id)))


@api.get("/rulings", tags=[RULINGS], responses={"200": KeptRulings, **problems(422)})
def rulings(query: RulingsQuery) -> Response:
    """Kept rulings by ruleset, kind, rule applied, text or day, the latest first."""
    wanted = Wanted(**query.model_dump(exclude={"page", "per_page"}))
    total, rows = saved_rulings(database(), wanted, query.page, query.per_page)
    found = [kept_summary(row) for row in rows]
    return flask.jsonify({"rulings": found, "total": total, "page": query.page, "per_page": query.per_page})


@api.get("/questions", tags=[REFERENCE], responses={"200": Questions, **problems(422)})
def questions(query: QuestionsQuery) -> Response:
    """Every kind of question: who answers it, what it takes, what it answers."""
    wanted = [kind for kind in kinds() if query.ruleset in (None, *kind.rulesets)]
    return flask.jsonify({"questions": [_question(kind).model_dump() for kind in wanted]})


def _question(kind: QuestionKind) -> Question:
    return Question(
        name=kind.name,
        title=kind.title,
        rulesets=list(kind.rulesets),
        arguments=kind.arguments.model_json_schema(by_alias=True),
        answers=kind.answers,
        points=list(kind.points),
        example=kind.example,
    )


@api.get("/contested/<ruleset>", tags=[REFERENCE], responses={"200": PointsOfRuleset, **problems(404)})
def contested(path: RulesetPath) -> Response:
    """The contested points of a ruleset: citations, readings, the default and why."""
    if path.ruleset not in CODES:
        abort(404, f"There is no ruleset {path.ruleset[:40]!r}; there are {', '.join(CODES)}.")
    implemented = implemented_points()
    points = [
        {**point.model_dump(mode="json"), "implemented": point.id in implemented}
        for point in contested_points(path.ruleset).values()
    ]
    return flask.jsonify({"ruleset": path.ruleset, "points": points})
