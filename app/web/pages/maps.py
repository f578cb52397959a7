"""The map pages: maps and positions to look at, to ask and to change for a moment.

A page is drawn on the server as its address says (`app.web.address`), so that it can be read
without a script. The script fetches the same page's parts: `part=panel` is the panel beside
the map, `part=all` the panel and the counters.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from typing import Any

import sqlalchemy as sa
from flask import Blueprint, Response, redirect, render_template, request, url_for
from sqlalchemy.engine import Connection
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app.drawing import counter, describe, marker, miniature, svg
from app.drawing.ground import stroke_sample, swatch
from app.drawing.miniature import units_of
from app.play.procedures import ProcedureKind
from app.referee.arguments import form_fields, needs_units
from app.referee.boards import Answer, Board, Kind, case_file, open_board, position_file
from app.referee.cases import rule_text
from app.referee.precedents import precedents, terrain_of
from app.referee.questions import common_kinds, kinds_of
from app.referee.saved import save
from app.referee.whatif import NOTHING
from app.web.address import OWN, View, view
from app.web.ask_form import field_groups, tool_order
from app.web.change_form import with_one_more
from app.web.counters import lying, marker_words, standing
from app.web.proof import drawing, proof
from app.web.site import asking, database, engine, known_version
from db import SightlineError, __version__
from db.counters import CONDITIONS, MARKERS, UNITS
from db.inventory import HexFacts, MapFacts, hex_facts, map_facts, maps, positions
from db.labels import Axial, LabelError, side_hexes, unprefixed
from db.map_draft import vocabulary
from db.maps import Hex, Map
from db.position_draft import PositionDraft
from db.rulesets import read_ruleset
from db.values import to_json
from importers.documents import Problem, Problems, read_values
from importers.map_reading import read_hex
from importers.map_writing import flow
from importers.positions import marker_tree

pages = Blueprint("maps", __name__)
NAVIGATION = [(10, "Maps", "maps.map_list"), (11, "Positions", "maps.position_list")]
PARTS = {"panel": "maps/panel.html", "all": "maps/parts.html"}
WRITTEN_OUT = 20_000
"""Hexes of a map that may be written out with a ruling that is kept; a larger one is named."""
FORM = "if."
"""How the fields of what-if begin, so that they are no argument of a question."""


@pages.get("/maps")
def map_list() -> str:
    """Every map, with the positions on it."""
    return render_template(
        "maps/list.html", maps=maps(database()), positions=positions(database()), what="maps"
    )


@pages.get("/positions")
def position_list() -> str:
    """Every saved position."""
    return render_template("maps/list.html", positions=positions(database()), what="positions")


@pages.get("/maps/<name>")
def map_board(name: str) -> str | AnyResponse:
    """A map to look at and to ask."""
    return _show("map", name)


@pages.get("/positions/<name>")
def position_board(name: str) -> str | AnyResponse:
    """A position to look at, to ask and to change for a moment."""
    return _show("position", name)


@pages.get("/maps/<name>/what-if")
def map_change(name: str) -> AnyResponse:
    """One more change to what stands on a map."""
    return _change("map", name)


@pages.get("/positions/<name>/what-if")
def position_change(name: str) -> AnyResponse:
    """One more change to a position."""
    return _change("position", name)


@pages.get("/maps/<name>/case")
def map_case(name: str) -> str | AnyResponse:
    """What is asked on a map as a case file."""
    return _case("map", name)


@pages.get("/positions/<name>/case")
def position_case(name: str) -> str | AnyResponse:
    """What is asked of a position as a case file."""
    return _case("position", name)


@pages.post("/maps/<name>/keep")
def map_keep(name: str) -> AnyResponse:
    """Keep the ruling on a map for good."""
    return _keep("map", name)


@pages.post("/positions/<name>/keep")
def position_keep(name: str) -> AnyResponse:
    """Keep the ruling on a position for good."""
    return _keep("position", name)


@pages.get("/maps/<name>/picture.svg")
def map_picture(name: str) -> AnyResponse:
    """A map in miniature."""
    return _picture("map", name)


@pages.get("/positions/<name>/picture.svg")
def position_picture(name: str) -> AnyResponse:
    """A position in miniature."""
    return _picture("position", name)


def _picture(kind: Kind, name: str) -> AnyResponse:
    """Drawn only for whoever has not got it yet as it is now."""
    connection = database()
    board = open_board(connection, name, kind)
    version = connection.scalar(sa.select(sa.func.gis.map_version(Map.id)).where(Map.name == board.map))
    units = [] if kind == "map" else units_of(connection, name)
    known_version(hashlib.sha256(repr((__version__, version, units)).encode()).hexdigest()[:32], keep=True)
    return Response(miniature(connection, board.map, units), content_type="image/svg+xml")


def _show(kind: Kind, name: str) -> str | AnyResponse:
    with asking(what_if=bool(request.args.get("whatif"))) as connection:
        board = open_board(connection, name, kind)
        try:
            shown = view(board, request.args)
        except Problems as wrong:
            # a what-if that cannot be read: everything else of the address can
            others = ((key, told) for key, told in request.args.items(True) if key != "whatif")
            return _page(connection, view(board, MultiDict(others)), wrong)
        return _page(connection, shown)


def _page(connection: Connection, shown: View, error: SightlineError | None = None) -> str | AnyResponse:
    """The page or a part of it; what cannot be done is told in the panel, beside the map as it is saved."""
    try:
        with shown.board.changed(connection, shown.changes) as board:
            return _rendered(connection, shown, board, error)
    except Problems as wrong:
        if not shown.changes:
            raise
        return _page(connection, dataclasses.replace(shown, changes=NOTHING), error or wrong)


def _rendered(
    connection: Connection, shown: View, board: Board, error: SightlineError | None
) -> str | AnyResponse:
    """The page of a board as it is now."""
    answer = None
    try:
        question = shown.question
        answer = board.ask(connection, question) if question else None
    except SightlineError as wrong:
        error = error or wrong
    position = board.position(connection)
    part = request.args.get("part", "")
    facts = None if part in PARTS else map_facts(connection, board.map)
    if facts is not None and not (answer or error or shown.changes):
        # the version of the map comes before all that is read of its ground: see db.keeping
        told = repr((position.board.version, board, facts, position.units, position.markers))
        known_version(hashlib.sha256(told.encode()).hexdigest()[:32], keep=True)
    looked_at = None
    try:
        looked_at = _looked_at(connection, shown, position)
    except SightlineError as wrong:
        error = error or wrong
    context = _panel(connection, shown, position, answer) | {"looked_at": looked_at, "wrong": _told(error)}
    if facts is None:
        return render_template(
            PARTS[part], **context, **(_counters(position, shown) if part == "all" else {})
        )
    page = render_template(
        "maps/board.html",
        **context,
        **_counters(position, shown),
        facts=facts,
        legend=_legend(facts),
        bounds=_bounds(position),
        drawn=drawing(answer.ruling, position, connection) if answer else svg(position, {}),
    )
    return Response(page, status=422 if error else 200, content_type="text/html; charset=utf-8")


def _panel(
    connection: Connection, shown: View, position: PositionDraft, answer: Answer | None
) -> dict[str, Any]:
    """What the panel tells: tools, the question as far as it is put, and its answer."""
    board = shown.board
    tools = [
        {
            "name": name,
            "title": kind.title,
            "address": shown.with_tool(name, position),
            "draws": kind.draws or "",
            "done": isinstance(kind, ProcedureKind),
        }
        for name, kind in sorted(kinds_of(board.ruleset).items(), key=tool_order)
        if position.units or not needs_units(kind)
    ]
    return {
        "view": shown,
        "board": board,
        "address": shown.address(),
        "looking": shown.with_tool(None, position),
        "home": shown.address(**dict.fromkeys((*shown.given, *OWN))),
        "tools": tools,
        "fields": field_groups(shown.arguments, shown.given, board.ruleset, position),
        "places": to_json(_places(shown), indent=None),
        "carried": shown.parameters(**dict.fromkeys(shown.given), tool=None),
        "offers": _offers(shown, answer),
        "lacking": _lacking(board.ruleset, position),
        "proof": proof(answer.ruling, connection, switch=shown.with_reading) if answer else None,
        "precedents": precedents(connection, answer.ruling, terrain_of(answer.ruling, position, connection))
        if answer
        else [],
        "draws": to_json(answer.draws(), indent=None) if answer else "",
        "conditions": _conditions(shown, position),
        "undo": shown.address(whatif=None),
        "otherwise": to_json(_otherwise(shown, position), indent=None) if shown.changes.on_ground else "",
        "keep_address": shown.address("keep", edit=None, look=None) if answer else None,
        "case_address": shown.address("case") if answer or shown.changes else None,
        "edit_forms": _edit_forms(shown, position) if shown.edit else None,
    }


def _offers(shown: View, answer: Answer | None) -> list[tuple[str, str]]:
    """Another way to put the question, where the answer is no: words and address."""
    said = shown.tool.offer(answer.ruling) if shown.tool and answer else {}
    return [(f"{word} {value}", shown.address(**{word: value})) for word, value in said.items()]


def _lacking(ruleset: str, position: PositionDraft) -> list[tuple[str, str]]:
    """Tools that other games have, or a map with units, each with why it is not here."""
    absent = [(kind.title, kind.lacking[ruleset]) for kind in common_kinds() if ruleset in kind.lacking]
    idle = [kind.title for kind in kinds_of(ruleset).values() if not position.units and needs_units(kind)]
    return [*absent, *((title, "no unit stands on this map") for title in sorted(idle))]


def _otherwise(shown: View, position: PositionDraft) -> dict[str, Any]:
    """The ground of a what-if, for the script: hexes and hexsides as they are now, each with its places."""
    board = position.board
    hexes = {label: board.scheme.hex(label) for label in shown.changes.hexes}
    sides = {label: side_hexes(*board.scheme.side(label)) for label in shown.changes.hexsides}
    return {
        "hexes": [
            [*place, label, board.hexes[place].terrain, board.hexes[place].level]
            for label, place in hexes.items()
        ],
        "sides": [[*one, *other, shown.changes.hexsides[label]] for label, (one, other) in sides.items()],
    }


def _places(shown: View) -> dict[str, Axial]:
    """Where the hexes lie that the address names, for the script."""
    found = {}
    for word in (value for values in shown.given.values() for value in values):
        _, label = unprefixed(word)
        with contextlib.suppress(LabelError):
            found[label] = shown.board.scheme.hex(label)
    return found


def _bounds(position: PositionDraft) -> list[float]:
    """How far the map reaches in the display plane: left, low, right, high."""
    columns, rows = position.board.span()
    corners = [(3 * columns.start - 2, 2 * rows.start - 1), (3 * columns.stop - 1, 2 * rows.stop)]
    xs, ys = zip(*(position.board.scheme.display(x, y) for x, y in corners), strict=True)
    return [round(edge, 3) for edge in (min(xs), min(ys), max(xs), max(ys))]


def _conditions(shown: View, position: PositionDraft) -> dict[str, str]:
    """What holds: every condition of the game that has a value."""
    form = CONDITIONS[shown.board.ruleset].model_validate(position.conditions)
    return {name: _words(value) for name, value in form.model_dump().items() if value}


def _words(value: Any) -> str:
    if value is True:
        return "yes"
    if isinstance(value, dict):
        return ", ".join(f"{name} {told}" for name, told in value.items())
    return str(value).replace("_", " ")


def _counters(position: PositionDraft, shown: View) -> dict[str, Any]:
    """Every unit and marker with its picture: listed for readers, and laid on the map by the script."""
    label, ruleset = position.board.scheme.label, position.ruleset
    turn = 90 if position.board.scheme.orientation == "pointed" else 0
    units = [
        {
            "id": code,
            "at": label(place) if place else "",
            "place": place,
            "both": position.is_hex(code),
            "words": describe(unit),
            "picture": counter(unit, ruleset, turn),
            "changed": code in shown.changes.units,
        }
        for code, (unit, place) in position.units.items()
    ]
    markers = [
        {
            "kind": draft.kind,
            "at": label(draft.at),
            "place": draft.at,
            "words": marker_words(draft),
            "picture": marker(draft.kind, draft.value, draft.facing, turn),
        }
        for draft in position.markers
    ]
    return {"units": units, "markers": markers}


def _looked_at(connection: Connection, shown: View, position: PositionDraft) -> dict[str, Any] | None:
    """The hex that is looked at, with who stands in it."""
    if not shown.look:
        return None
    problems = Problems()
    place = read_hex(read_values(_spelled(shown), "look"), position.board, problems)
    if place is None:
        problems.found[:] = [
            dataclasses.replace(problem, file=shown.board.name, line=None, place="")
            for problem in problems.found
        ]
        problems.raise_if_any()
        return None
    facts: HexFacts | None = hex_facts(connection, shown.board.map, place.q, place.r)
    return {
        "facts": facts,
        "places": to_json({facts.label: place} if facts else {}, indent=None),
        "units": standing(position, place, shown),
        "markers": lying(position, place),
    }


def _spelled(shown: View) -> str:
    """The label that is looked for, in capitals where it was written without."""
    for label in (shown.look, shown.look.upper()):
        with contextlib.suppress(LabelError):
            shown.board.scheme.hex(label)
            return label
    return shown.look


def _legend(facts: MapFacts) -> list[dict[str, Any]]:
    """What is on this map, with samples and rules."""
    kinds = read_ruleset(facts.ruleset).terrain
    terrain = [*facts.terrain, *(word for word in facts.areas if word not in facts.terrain)]
    sections = (
        ("Terrain", terrain, kinds.terrain, swatch),
        ("Hexsides", facts.hexsides, kinds.hexsides, lambda word: stroke_sample("hexside", word)),
        ("Paths", facts.paths, kinds.paths, lambda word: stroke_sample("path", word)),
    )
    return [
        {
            "title": title,
            "kinds": [
                {"title": known[word].title, "rule": known[word].rule, "sight": known[word].sight,
                 "sample": sample(word)}
                for word in found
            ],
        }
        for title, found, known, sample in sections
        if found
    ]  # fmt: skip


def _told(error: SightlineError | None) -> list[str]:
    """What is wrong, a line each."""
    if error is None:
        return []
    if isinstance(error, Problems):
        return [_said(problem) for problem in error.sorted()]
    return [f"{error.message} {error.remedy}".strip()]


def _said(problem: Problem) -> str:
    """A problem without the name of a file that nobody wrote."""
    return str(dataclasses.replace(problem, file="", line=None)).removeprefix(":").strip()


# What-if


def _edit_forms(shown: View, position: PositionDraft) -> dict[str, Any]:
    """What the forms of what-if offer."""
    ruleset, label = shown.board.ruleset, position.board.scheme.label
    conditions = CONDITIONS[ruleset].model_validate(position.conditions).model_dump()
    fields = {field.word: field for field in form_fields(UNITS[ruleset])}
    kinds, words = read_ruleset(ruleset).terrain, vocabulary(ruleset)
    return {
        "action": shown.address("change").partition("?")[0],
        "carried": shown.parameters(),
        "units": list(position.units),
        "markers": [
            (
                to_json(marker_tree(draft, label(draft.at)), indent=None),
                f"{marker_words(draft)} in {label(draft.at)}",
            )
            for draft in position.markers
        ],
        "marker_kinds": MARKERS[ruleset],
        "terrain": {word: kind.title for word, kind in kinds.terrain.items() if word in words.terrain},
        "hexsides": {word: kind.title for word, kind in kinds.hexsides.items()},
        "sides": list(read_ruleset(ruleset).facts.sides),
        "kinds": list(fields["kind"].choices),
        "conditions": [
            (field, _written(conditions[field.name])) for field in form_fields(CONDITIONS[ruleset])
        ],
    }


def _written(value: Any) -> Any:
    """A condition as its field has it: what has parts as a case file would."""
    return flow(value) if isinstance(value, dict | list | tuple) and value else value or ""


def _change(kind: Kind, name: str) -> AnyResponse:
    """Make one more change and go to the page with it; one that cannot be is told there."""
    with asking(what_if=True) as connection:
        shown = view(open_board(connection, name, kind), request.args)
        try:
            form = {
                key.removeprefix(FORM): told.strip()
                for key, told in request.args.items()
                if key.startswith(FORM)
            }
            changed = with_one_more(shown.changes, shown.board, form, connection)
            shown.board.check(connection, changed)
        except SightlineError as error:
            page = _page(connection, shown, error)
            return page if isinstance(page, AnyResponse) else Response(page)
        part = request.args.get("part")
        return redirect(shown.address(whatif=changed.as_text(), part=part), code=303)


# The case file


def _case(kind: Kind, name: str) -> str | AnyResponse:
    """What is asked as a case file: to read, to download (`download=1`), to take to the desk."""
    with asking(what_if=True) as connection:
        shown = view(open_board(connection, name, kind), request.args)
        question = shown.question
        if question is not None:
            text = case_file(connection, shown.board, question, shown.changes)
            file = f"{name}-{shown.tool.name if shown.tool else 'case'}.yaml"
        else:
            text = position_file(connection, shown.board, shown.changes, f"{name}-what-if")
            file = f"{name}-what-if.yaml"
    if request.args.get("download"):
        response = Response(text, content_type="application/yaml; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
        return response
    return render_template(
        "maps/case.html",
        view=shown,
        text=text,
        file=file,
        is_case=question is not None,
        address=shown.address(),
    )


def _keep(kind: Kind, name: str) -> AnyResponse:
    """Keep what is asked, with all that it stands on, and go to its page."""
    with asking(what_if=True) as connection:
        shown = view(open_board(connection, name, kind), request.args)
        question = shown.question
        if question is None:
            raise SightlineError("Nothing is asked here that could be kept.", "Choose a tool and ask.")
        some = sa.select(Hex.q).where(Hex.map_id == shown.board.map_id).limit(WRITTEN_OUT + 1).subquery()
        large = (connection.scalar(sa.select(sa.func.count()).select_from(some)) or 0) > WRITTEN_OUT
        text = case_file(connection, shown.board, question, shown.changes, by_name=large)
    with engine().begin() as connection:
        case, rulings = rule_text(connection, text, f"{name}.yaml")
        save(connection, case, rulings)
    return redirect(url_for("rulings.ruling", id=rulings[0].id), code=303)
