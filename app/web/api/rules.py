"""The rules reference as JSON: the same answers as the pages under /rules."""

from __future__ import annotations

from typing import Literal

from flask import Response, jsonify
from flask_openapi3 import APIBlueprint, Tag
from pydantic import BaseModel, Field

from app.web.site import Day, Problem, database
from db import editions as db_editions
from db import errata as db_errata
from db import reference
from db.charts import ChartAnswer, GameCharts, chart_answer
from db.charts import charts as chart_list
from db.editions import Editions
from db.errata import ErratumEntry, ErratumHistory
from db.reference import (
    Comparison,
    ContestedPoints,
    GameIndex,
    Glossary,
    Overview,
    References,
    RuleAnswer,
    SearchAnswer,
    Tree,
)

api = APIBlueprint(
    "rules_api",
    __name__,
    url_prefix="/api/v1/rules",
    abp_tags=[Tag(name="rules", description="Every rule of five games: found, cited, compared.")],
    abp_responses={"404": Problem, "422": Problem},
)
Code = Literal["css", "ccp", "fpb", "bob", "ddp"]


class InGame(BaseModel):
    """A game."""

    ruleset: Code = Field(description="Code of the game")


class OfRule(InGame):
    """A rule of a game."""

    number: str = Field(
        description="Its number in any spelling: 7.1.2, 7.1.2b, o27.3, 6 for 6.0",
        max_length=40,
        # `terms`, `contested` and `index` are pages beside the rules
        json_schema_extra={"pattern": "[0-9]"},
    )


class AsPrinted(BaseModel):
    """Which edition, and which day."""

    edition: str | None = Field(None, description="The imported edition whose text is wanted")
    as_of: Day | None = Field(None, description="Errata as of this day; today if absent")


class OfChart(InGame):
    """A chart of a game."""

    chart: str = Field(description="Its name, e.g. combat_results_table", max_length=80)


class OfErratum(InGame):
    """An erratum or a house rule."""

    id: int = Field(description="Its number", ge=1, le=2**63 - 1)


class GameErrata(BaseModel):
    """The errata and house rules of a game."""

    ruleset: str
    errata: list[ErratumEntry]


class OfConcept(BaseModel):
    """A concept."""

    concept: str = Field(description="Code, title or another name, e.g. line_of_sight or LOS", max_length=100)


class Words(BaseModel):
    """What is searched for."""

    q: str = Field(description="Words or a rule number", max_length=400)
    ruleset: Code | None = Field(None, description="Search one game only")
    limit: int = Field(20, ge=1, le=100, description="How many hits at most")


def _told(answer: BaseModel) -> Response:
    return jsonify(answer.model_dump(mode="json"))


@api.get("", responses={"200": Overview})
def overview() -> Response:
    """The games and the concepts."""
    return _told(reference.overview(database()))


@api.get("/search", responses={"200": SearchAnswer})
def search(query: Words) -> Response:
    """Rules that answer some words or a number, the best first."""
    return _told(reference.search(database(), query.q, query.ruleset, query.limit))


@api.get("/compare/<concept>", responses={"200": Comparison})
def compare(path: OfConcept) -> Response:
    """How the games treat one thing."""
    return _told(reference.compare(database(), path.concept))


@api.get("/<ruleset>", responses={"200": Tree})
def tree(path: InGame) -> Response:
    """Every rule of a game, in order."""
    return _told(reference.tree(database(), path.ruleset))


@api.get("/<ruleset>/contested", responses={"200": ContestedPoints})
def contested(path: InGame) -> Response:
    """Where a rulebook disagrees with itself, with all readings."""
    return _told(reference.contested(database(), path.ruleset))


@api.get("/<ruleset>/charts", responses={"200": GameCharts})
def charts(path: InGame) -> Response:
    """Every chart of a game, with all its cells and whose word each is."""
    title = reference.game_title(database(), path.ruleset)
    return _told(GameCharts(ruleset=path.ruleset, title=title, charts=chart_list(database(), path.ruleset)))


@api.get("/<ruleset>/charts/<chart>", responses={"200": ChartAnswer})
def chart(path: OfChart) -> Response:
    """One chart, cell by cell: printed, inferred from an example, filled in by an owner or a house, or missing."""
    return _told(chart_answer(database(), path.ruleset, path.chart))


@api.get("/<ruleset>/errata", responses={"200": GameErrata})
def errata(path: InGame) -> Response:
    """Every erratum and house rule of a game, those that were withdrawn too."""
    found = db_errata.errata(database(), path.ruleset, withdrawn=True)
    return _told(GameErrata(ruleset=path.ruleset, errata=found))


@api.get("/<ruleset>/errata/<int:id>", responses={"200": ErratumHistory})
def erratum(path: OfErratum) -> Response:
    """An erratum as it stands, and what it said before each edit."""
    return _told(db_errata.history(database(), path.id))


@api.get("/<ruleset>/editions", responses={"200": Editions})
def editions(path: InGame) -> Response:
    """The owner's imported editions: which is shown, what each lacks, and where it differs from the digests."""
    return _told(db_editions.editions(database(), path.ruleset))


@api.get("/<ruleset>/index", responses={"200": GameIndex})
def index(path: InGame) -> Response:
    """The rule index: where each rule is decided, by file, function and line, and which rules are cited nowhere."""
    return _told(reference.index(path.ruleset))


@api.get("/<ruleset>/terms", responses={"200": Glossary})
def terms(path: InGame) -> Response:
    """The words that a game uses in a sense of its own."""
    return _told(reference.glossary(database(), path.ruleset))


@api.get("/<ruleset>/<number>", responses={"200": RuleAnswer})
def rule(path: OfRule, query: AsPrinted) -> Response:
    """A rule with everything that touches it."""
    return _told(reference.rule(database(), path.ruleset, path.number, query.edition, query.as_of))


@api.get("/<ruleset>/<number>/references", responses={"200": References})
def references(path: OfRule) -> Response:
    """What a rule refers to, and what refers to it."""
    return _told(reference.references(database(), path.ruleset, path.number))
