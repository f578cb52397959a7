"""A case drawn by clicks: an empty board, its ground painted, counters put, a question asked, the text beside it.

The text is the case, and every click is a change of the text (`app.web.sketch`); whoever types
into it changes the drawing. Without a script every tool is a form that sends the text along.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from flask import Blueprint, abort, render_template, request
from sqlalchemy.engine import Connection

from app.drawing import svg
from app.play.procedures import ProcedureKind
from app.referee.arguments import arguments, form_fields
from app.referee.cases import rule_text
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling
from app.web.ask_form import asked_of, field_groups, given_to, tool_order
from app.web.pages.cases import LARGEST, examples, game_words, in_box, shown, text_to_start_from
from app.web.proof import chosen_readings, drawing
from app.web.site import asking
from app.web.sketch import blank, with_one_more, with_question, with_readings
from db import SightlineError
from db.counters import CONDITIONS, MARKERS, UNITS
from db.labels import nearest
from db.map_draft import vocabulary
from db.position_draft import PositionDraft
from db.rulesets import CODES, read_ruleset
from importers.cases import CaseDraft, read_sketch
from importers.documents import Problem, Problems, read_document

pages = Blueprint("draw", __name__, url_prefix="/cases/draw")
OWN = "case."
"""How our own fields begin, so that they are no argument of a question; those of a tool begin with its name."""
FIRST = "los"
"""The question that is offered first, where a game has it."""
ABOUT_COUNTER = ("id", "at", "side", "kind")
"""What every counter is asked for; the rest of its words is folded away."""


@dataclasses.dataclass
class Sketch:
    """A case as far as it is drawn."""

    text: str
    ruleset: str
    position: PositionDraft | None = None
    case: CaseDraft | None = None
    rulings: list[Ruling] = dataclasses.field(default_factory=list)
    problems: list[Problem] = dataclasses.field(default_factory=list)


@pages.get("")
def draw() -> str:
    """The board of a game, empty or with a case upon it; without a game, which there are."""
    game = request.args.get("game", "")
    if game and game not in CODES:
        alike = nearest(game, CODES)
        abort(404, f"There is no game {game[:40]!r}." + (f" Did you mean {alike[0]}?" if alike else ""))
    text = blank(game) if game else text_to_start_from()
    if not text:
        games = [(code, read_ruleset(code).facts.title) for code in CODES]
        return render_template("cases/draw.html", games=games, examples=examples())
    return _page(text)


@pages.post("")
def change() -> tuple[str, int]:
    """The case with one more change, or as its text is now."""
    request.max_content_length = request.max_form_memory_size = LARGEST
    text, do = in_box("text"), request.form.get(f"{OWN}do", "")
    try:
        if request.form.getlist("policy"):
            changed = with_readings(text, chosen_readings(request.form.getlist("policy")))
        elif do in ("ask", "ask beside"):
            changed = with_question(text, _question(), beside=do == "ask beside")
        else:
            changed = with_one_more(text, do, _fields_of(do))
    except SightlineError as error:
        return _page(text, error), 422
    return _page(changed), 200


def _fields_of(tool: str) -> dict[str, str]:
    """What the fields of a tool were given."""
    own = f"{tool}."
    return {key.removeprefix(own): told.strip() for key, told in request.form.items() if key.startswith(own)}


def _question() -> dict[str, Any]:
    """What is asked by the form of a question."""
    ruleset, name = (request.form.get(f"{OWN}{word}", "") for word in ("game", "ask"))
    kinds = kinds_of(ruleset) if ruleset in CODES else {}
    if name not in kinds:
        raise SightlineError(f"There is no question {name[:40]!r} here.", "Choose one from the list.")
    taken = arguments(kinds[name], ruleset)
    asked = asked_of(taken, given_to(taken, request.form))
    if asked is None:
        wanted = [argument.word for argument in taken if argument.required]
        raise SightlineError(
            f"{name} wants {', '.join(wanted)}.", "Click them on the board, or fill them in."
        )
    return {name: asked}


def _page(text: str, error: SightlineError | None = None) -> str:
    """The page, or those parts of it that a script puts in their places."""
    with asking(what_if=True) as connection:
        sketch = _read(connection, text)
        if error is not None:
            sketch.problems = _told(error) + (sketch.problems if not isinstance(error, Problems) else [])
        return render_template(
            "cases/drawn.html" if request.form.get(f"{OWN}part") else "cases/draw.html",
            sketch=sketch,
            drawn=_drawn(connection, sketch),
            rulings=shown(sketch.case, sketch.rulings, connection) if sketch.case else [],
            form=request.form,
            words=[game_words(sketch.ruleset)] if sketch.ruleset else [],
            tools=_tools(sketch.ruleset) if sketch.ruleset else None,
            ask=_ask_form(sketch) if sketch.ruleset else None,
        )


def _read(connection: Connection, text: str) -> Sketch:
    """The position of a text, and what is ruled on its questions, as far as it can be read."""
    sketch = Sketch(text, request.form.get(f"{OWN}game", ""))
    try:
        root = read_document(text, "case")
        told, asked = root.get("ruleset"), root.get("ask")
        sketch.ruleset = told.text if told is not None and told.text in CODES else sketch.ruleset
        sketch.position, problems = read_sketch(text, "case", connection)
        sketch.problems = problems.sorted()
        if asked is not None and asked.value:
            sketch.case, sketch.rulings = rule_text(connection, text, "case")
    except SightlineError as wrong:
        sketch.problems = _told(wrong)
    if sketch.ruleset not in CODES:
        sketch.ruleset = ""
    return sketch


def _told(error: SightlineError) -> list[Problem]:
    if isinstance(error, Problems):
        return error.sorted()
    return [Problem("case", None, "", f"{error.message} {error.remedy}".strip())]


def _drawn(connection: Connection, sketch: Sketch) -> str | None:
    """The board, with what the last question found; a field upon every hex takes clicks."""
    if sketch.position is None:
        return None
    if sketch.rulings:
        return drawing(sketch.rulings[-1], sketch.position, connection, living=True)
    return svg(sketch.position, {}, picked=True)


def _tools(ruleset: str) -> dict[str, Any]:
    """What the forms beside the board offer: the words of the game."""
    kinds, words = read_ruleset(ruleset).terrain, vocabulary(ruleset)
    counter = form_fields(UNITS[ruleset])
    return {
        "terrain": {word: kind.title for word, kind in kinds.terrain.items() if word in words.terrain},
        "levels": range(words.levels[0], words.levels[1] + 1) if words.levels[0] < words.levels[1] else (),
        "features": words.features,
        "hexsides": {word: kind.title for word, kind in kinds.hexsides.items()},
        "paths": {word: kind.title for word, kind in kinds.paths.items()},
        "markers": MARKERS[ruleset],
        "sides": read_ruleset(ruleset).facts.sides,
        "about": [field for word in ABOUT_COUNTER for field in counter if field.word == word],
        "counter": [field for field in counter if field.word not in ABOUT_COUNTER],
        "conditions": form_fields(CONDITIONS[ruleset]),
    }


def _ask_form(sketch: Sketch) -> dict[str, Any]:
    """The questions of the game, and the fields of the one that is chosen."""
    kinds = dict(sorted(kinds_of(sketch.ruleset).items(), key=tool_order))
    chosen = request.form.get(f"{OWN}ask", "")
    chosen = chosen if chosen in kinds else FIRST if FIRST in kinds else next(iter(kinds))
    taken = arguments(kinds[chosen], sketch.ruleset)
    return {
        "chosen": chosen,
        "kinds": [(name, kind.title) for name, kind in kinds.items() if not isinstance(kind, ProcedureKind)],
        "deeds": [(name, kind.title) for name, kind in kinds.items() if isinstance(kind, ProcedureKind)],
        "fields": field_groups(taken, given_to(taken, request.form), sketch.ruleset, sketch.position),
    }
