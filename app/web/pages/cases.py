"""The case desk: a case file pasted or sent in, ruled on, shown with its map, and kept if wanted.

Beside it the cases of the conformance suite, each with a page of its own: `/cases/<id>`.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from pathlib import Path
from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from sqlalchemy.engine import Connection
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response

import app.web
from app.referee.arguments import form_fields
from app.referee.boards import Board, open_board
from app.referee.cases import rule_text
from app.referee.precedents import precedents, terrain_of
from app.referee.questions import common_kinds
from app.referee.rulings import Ruling
from app.referee.saved import kept_ruling, save
from app.referee.words import arguments_in_words
from app.web.proof import choice, chosen_readings, drawing, proof
from app.web.site import database, engine
from db import SightlineError, inventory, reference, suite
from db.counters import CONDITIONS, MARKERS, UNITS
from db.labels import nearest
from db.map_draft import vocabulary
from db.rulesets import CODES, read_ruleset
from importers.cases import CaseDraft
from importers.documents import Problem, Problems, read_document
from importers.positions import written

pages = Blueprint("cases", __name__, url_prefix="/cases")
NAVIGATION = [(30, "Case desk", "cases.desk")]

EXAMPLES = Path(app.web.__file__).parent / "examples"
LARGEST = 2 * 1024 * 1024
"""Bytes of a case at the desk; larger ones go to the command line or the API."""
DRAWN = 24
"""Questions of one case that get a drawing each."""
AROUND = 4
"""Lines shown on both sides of one that is wrong, where the text is long."""
LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
"""Where YAML begins a new line."""
SHORT = 200
"""Lines of a text that is shown whole."""


@dataclasses.dataclass(frozen=True)
class Example:
    """A case to start from."""

    name: str
    title: str
    ruleset: str
    text: str


@dataclasses.dataclass(frozen=True)
class TextLine:
    """A line of a case that is shown back; None where lines are left out."""

    number: int | None
    text: str = ""
    wrong: bool = False


@functools.cache
def examples() -> dict[str, Example]:
    """The cases to start from, by name."""
    found = {}
    for path in sorted(EXAMPLES.glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        tree = read_document(text, path.name).plain()
        found[path.stem] = Example(path.stem, tree["title"], tree["ruleset"], text)
    return found


@pages.get("")
def desk() -> str:
    """An empty desk, or one with an example, a saved position or a kept ruling's case on it."""
    return render_template("cases/desk.html", text=text_to_start_from(), readings={}, **_starts())


def _starts() -> dict[str, Any]:
    """What a case can be begun from."""
    return {
        "examples": examples(),
        "positions": inventory.positions(database()),
        "words": games_words(),
    }


def games_words() -> list[dict[str, Any]]:
    """The words that case files of each game are written in, and the questions that it answers."""
    return [game_words(code) for code in CODES]


@functools.cache
def game_words(code: str) -> dict[str, Any]:
    """The words of one game."""
    ruleset, known = read_ruleset(code), vocabulary(code)
    groups = (
        ("Sides", ruleset.facts.sides),
        ("Terrain", known.terrain),
        ("In a hex", known.features),
        ("Hexsides", known.hexsides),
        ("Ways", known.paths),
        ("Markers", MARKERS[code]),
        ("A unit has", [field.word for field in form_fields(UNITS[code])]),
        ("Conditions", [field.word for field in form_fields(CONDITIONS[code])]),
    )
    return {
        "code": code,
        "title": ruleset.facts.title,
        "groups": [(title, list(words)) for title, words in groups if words],
        "questions": [
            {"name": kind.name, "title": kind.title, "example": f"- {kind.example}"}
            for kind in common_kinds()
            if code in kind.rulesets and kind.example
        ],
    }


def text_to_start_from() -> str:
    """The case that the address names: an example, one of the suite, a kept ruling's, a saved position."""
    if name := request.args.get("example"):
        if name not in examples():
            abort(404, f"There is no example {name[:40]!r}; there are {', '.join(examples())}.")
        return examples()[name].text
    if id := request.args.get("case"):
        return _of_suite(id).text()
    if id := request.args.get("ruling"):
        return written(kept_ruling(database(), id)["document"])
    if name := request.args.get("position"):
        return _about(open_board(database(), name, "position"), database())
    return ""


def _about(board: Board, connection: Connection) -> str:
    """A saved position as a case, with a question that every game answers to begin with."""
    tree = board.tree(connection)
    units = [unit["id"] for unit in tree.get("units", ()) if "at" in unit]
    ask = [{"range": {"from": units[0], "to": units[-1]}}] if units else []
    return written({"case": f"about-{board.name}", **tree, "ask": ask})


@pages.get("/<id>")
def case(id: str) -> str:
    """A case of the suite: its position, what it asks and expects, what is ruled, and the rules of it."""
    found = _of_suite(id)
    text = found.text()
    with engine().connect() as connection:
        draft, rulings = rule_text(connection, text, found.path.name)
        return render_template(
            "cases/case.html",
            case=draft,
            rules=found.features.rules,
            points=sorted(found.features.points),
            cited=reference.digests(connection, found.ruleset, found.features.rules),
            rulings=shown(draft, rulings, connection),
            expected=[ruling.ok for ruling in rulings if ruling.ok is not None],
            text=text,
        )


@pages.get("/<id>.yaml")
def case_text(id: str) -> Response:
    """A case of the suite as a file."""
    return Response(_of_suite(id).text(), content_type="application/yaml; charset=utf-8")


def _of_suite(id: str) -> suite.SuiteCase:
    found = suite.cases().get(id)
    if found is None:
        alike = nearest(id, suite.cases())
        abort(404, f"There is no case {id[:60]!r}." + (f" Did you mean {alike[0]}?" if alike else ""))
    return found


@pages.post("")
def rule() -> tuple[str, int] | Response:
    """Rule on the case on the desk; `keep` keeps the rulings, too."""
    try:
        content, name = _sent()
    except RequestEntityTooLarge:
        size = f"the case is larger than {LARGEST // 1024 // 1024} MiB; rule on it with `sightline rule`"
        return _refused("", Problems([Problem("case", None, "", size)]), {}), 413
    text = content.decode("utf-8-sig", "replace")
    readings: dict[str, str] = {}
    try:
        if "fresh" not in request.form:
            readings = chosen_readings(request.form.getlist("policy"))
        with engine().begin() as connection:
            case, rulings = rule_text(connection, content, name, readings)
            if "keep" in request.form:
                save(connection, case, rulings)
            ruled = shown(case, rulings, connection)
    except Problems as problems:
        return _refused(text, problems, readings), 422
    except SightlineError as error:
        problem = Problem(name, None, "", f"{error.message} {error.remedy}".strip())
        return _refused(text, Problems([problem]), readings), 422
    kept = [ruling.id for ruling in rulings if ruling.id is not None]
    if len(kept) == 1:
        return redirect(url_for("rulings.ruling", id=kept[0]), code=303)
    page = render_template(
        "cases/desk.html",
        **_starts(),
        text=text,
        case=case,
        rulings=ruled,
        expected=[ruling.ok for ruling in rulings if ruling.ok is not None],
        readings=readings,
    )
    return page, 200


def _sent() -> tuple[bytes, str]:
    """The case that was sent in and its name: a file, where one was chosen, else what is in the box."""
    request.max_content_length = request.max_form_memory_size = LARGEST
    file = request.files.get("file")
    if file is not None and file.filename:
        return file.stream.read(), Path(file.filename).name
    return in_box("text").encode("utf-8", "replace"), "case"


def in_box(name: str) -> str:
    """The text of a box; a browser sends every line of it with two characters at its end."""
    return request.form.get(name, "").replace("\r\n", "\n")


def shown(case: CaseDraft, rulings: list[Ruling], connection: Connection) -> list[dict[str, Any]]:
    """Each ruling with its proof and the map drawn for it."""
    return [
        {
            "id": ruling.id,
            "name": ruling.asked_as,
            "beside": arguments_in_words(question.conditions | question.policy),
            "proof": proof(ruling, connection, anchor=f"q{number}", switch=choice),
            "drawing": drawing(ruling, case.position, connection) if number <= DRAWN else None,
            "precedents": precedents(connection, ruling, terrain_of(ruling, case.position, connection))
            if number <= DRAWN
            else [],
        }
        for number, (ruling, question) in enumerate(zip(rulings, case.questions, strict=True), 1)
    ]


def _refused(text: str, problems: Problems, readings: dict[str, str]) -> str:
    return render_template(
        "cases/desk.html",
        **_starts(),
        text=text,
        problems=problems.sorted(),
        lines=shown_back(text, {problem.line for problem in problems.found if problem.line}),
        readings=readings,
    )


def shown_back(text: str, wrong: set[int]) -> list[TextLine]:
    """A text with its lines numbered, the wrong ones marked; of a long one the lines around them."""
    lines = LINE_END.split(text)
    wanted = set(range(1, len(lines) + 1))
    if len(lines) > SHORT:
        wanted = {
            line for bad in wrong for line in range(bad - AROUND, bad + AROUND + 1) if 0 < line <= len(lines)
        }
    shown: list[TextLine] = []
    for number in sorted(wanted):
        if shown and shown[-1].number is not None and number > shown[-1].number + 1:
            shown.append(TextLine(None))
        shown.append(TextLine(number, lines[number - 1], number in wrong))
    return shown
