"""`/api/v1/ask`: one question put to a saved map or position, with what-if changes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import flask
from flask import Response
from flask_openapi3 import APIBlueprint, Tag
from pydantic import BaseModel, ConfigDict, Field

from app.referee.boards import open_board
from app.referee.whatif import changes_of
from app.web.api import PREFIX, problems
from app.web.site import asking
from importers.documents import read_values

api = APIBlueprint("asks", __name__, url_prefix=PREFIX)
ASKING = Tag(name="Asking", description="Questions put to maps and positions that are saved")
Name = Annotated[str, Field(max_length=80, pattern=r"^[^\x00]*$")]


class ChangedMarkers(BaseModel):
    """Markers that are otherwise."""

    model_config = ConfigDict(extra="forbid")

    add: list[dict[str, Any]] = Field([], description="Markers as in a case file: kind, at, value, …")
    remove: list[dict[str, Any]] = Field([], description="By kind and at")


class ChangesBody(BaseModel):
    """What is otherwise than in the position that is saved."""

    model_config = ConfigDict(extra="forbid")

    units: dict[str, dict[str, Any] | None] = Field(
        {}, description="By id: fields that are otherwise, a whole new unit, or null to take it away"
    )
    markers: ChangedMarkers = Field(ChangedMarkers(), description="Markers that come or go")
    conditions: dict[str, Any] = Field({}, description="Conditions that are otherwise")


class AskBody(BaseModel):
    """A question, and what it is put to."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {"on": "lipata-landing", "question": {"los": {"from": "A/1/31", "to": "14.12"}}}
        },
    )

    on: Name = Field(description="Name of a saved position or map")
    question: dict[str, Any] = Field(
        description='Kind and arguments, as in a case file: {"los": {"from": "13.15", "to": "14.12"}}'
    )
    policy: dict[str, Any] = Field({}, description="Readings chosen for contested points, by point")
    conditions: dict[str, Any] = Field({}, description="Weather, time of day, … for this question")
    changes: ChangesBody = Field(ChangesBody(), description="What is otherwise, for this question only")


class Draws(BaseModel):
    """What a map shows of an answer."""

    kind: Literal["line", "hexes", "path", "places"] = Field(description="How the question's answer is shown")
    line: list[list[float]] = Field(description="The two ends of a straight line, in the display plane")
    hexes: dict[str, Any] = Field(description="Hexes (or hexsides) by label, each with its cost, or null")
    blocked: list[str] = Field(description="Hexes and hexsides that stop it")
    path: list[str] = Field(description="A way, hex by hex")
    ends: list[str] = Field(description="The hexes that the question names")
    units: list[str] = Field(description="Units that the answer names")


class AskedAnswer(BaseModel):
    """A ruling that is not kept, and what a map shows of it."""

    model_config = ConfigDict(extra="allow")

    question: dict[str, Any] = Field(description="Kind and arguments")
    ruleset: str
    verdict: str = Field(description="The answer as a sentence; what it only counts is in `answer`")
    answer: dict[str, Any] = Field(description="Its keys depend on the kind of question")
    steps: list[dict[str, Any]] = Field(description="Every rule that was applied, in order")
    contested: list[dict[str, Any]] = Field(description="Contested points that it touches")
    draws: Draws


@api.post("/ask", tags=[ASKING], responses={"200": AskedAnswer, **problems(400, 404, 413, 422)})
def ask(body: AskBody) -> Response:
    """Put one question to a saved map or position, changed for the moment where `changes` say so.

    Nothing is kept: neither the changes nor the ruling. To keep a ruling, post the case to
    `/api/v1/rulings`; the map page exports it.
    """
    question = dict(body.question)
    question |= {key: told for key in ("policy", "conditions") if (told := getattr(body, key))}
    changes = changes_of(read_values(body.changes.model_dump(), "changes"))
    with asking(what_if=bool(changes)) as connection:
        board = open_board(connection, body.on, question=body.question)
        answer = board.ask(connection, question, changes)
        return flask.jsonify(answer.as_dict())
