"""Games in the browser: the list, a game's table with map, log and order line, its report, and ruled again.

All that a page shows is in its address: `?at=17` is that moment, `as` the seat that looks, `since` an earlier
moment to compare with, `unit` whose actions are offered, `order` what is about to be done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, abort, redirect, render_template, request, url_for
from sqlalchemy.engine import Connection
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app.drawing import miniature
from app.drawing.miniature import units_in
from app.play import undo as taking_back
from app.play.branches import case_text, fork, keep_position
from app.play.games import abandon, act
from app.play.log import Deed, Entry, note
from app.play.openings import begin
from app.play.orders import Order, carry_out, prospects, read_orders
from app.play.readjudication import checked_policy, readjudicate
from app.play.records import import_record
from app.play.tables import GameError, Table, count_games, games, open_game
from app.play.views import View, check_seat
from app.play.words import moment_in_words
from app.referee.rulings import contested_points
from app.web.gameview import Shown, answer_of, page_of, readings_of, report_of, shown_of
from app.web.proof import chosen_readings
from app.web.site import database, engine
from db import SightlineError
from db.games import OBSERVER, REFEREE
from db.inventory import positions
from db.rulesets import CODES
from importers.documents import read_document
from importers.scenarios import scenarios

Form = MultiDict[str, str]
pages = Blueprint("games", __name__, url_prefix="/games")
NAVIGATION = [(30, "Games", "games.all_games")]

PER_PAGE = 24
LONGEST_RECORD = 16 * 1024 * 1024


# The list, and games begun.


@pages.get("")
def all_games() -> str:
    """Every game with where it stands, the latest first; and what a new one may begin from."""
    return _list()


def _list(wrong: SightlineError | None = None) -> str:
    ruleset = request.args.get("ruleset") if request.args.get("ruleset") in CODES else None
    page = max(request.args.get("page", 1, type=int), 1)
    connection = database()
    total = count_games(connection, ruleset)
    found = games(connection, ruleset, page=page, per_page=PER_PAGE)
    return render_template(
        "games/list.html",
        games=found,
        now={table.name: _now(table) for table in found},
        last={table.name: _last(connection, table) for table in found},
        total=total,
        page=page,
        pages=max(1, -(-total // PER_PAGE)),
        ruleset=ruleset,
        codes=CODES,
        sources=_sources(connection),
        given=request.form,
        wrong=wrong,
    )


def _now(table: Table) -> str:
    return "over" if table.over else moment_in_words(table.moment.as_dict())


def _last(connection: Connection, table: Table) -> dict[str, Any]:
    """The last event and what is awaited, as an observer may read it."""
    return Shown.of(connection, table, View(table.ruleset, OBSERVER)).last()


def _sources(connection: Connection) -> list[dict[str, Any]]:
    """What a game may begin from."""
    found = [(code, f"scenario:{name}", name) for code in CODES for name in scenarios(code)]
    found += [(one.ruleset, f"position:{one.name}", one.title or one.name) for one in positions(connection)]
    return [{"ruleset": code, "name": name, "title": title} for code, name, title in sorted(found)]


@pages.post("")
def new_game() -> AnyResponse | tuple[str, int]:
    """Begin a game from a scenario or a saved position, or bring in a record."""
    said = request.form
    try:
        with engine().begin() as connection:
            upload = request.files.get("record")
            if upload is not None and upload.filename:
                text = upload.stream.read(LONGEST_RECORD + 1)
                if len(text) > LONGEST_RECORD:
                    raise GameError("The record is too long.", "16 MiB at most.")
                table = import_record(
                    connection, text.decode("utf-8", "replace"), name=said.get("name") or None
                )
            else:
                table = begin(
                    connection,
                    said.get("from", ""),
                    name=said.get("name") or None,
                    title=said.get("title", ""),
                    dice=said.get("dice", "server"),
                    options=_written(said.get("options", ""), "options"),
                    policy=_written(said.get("policy", ""), "readings"),
                    seats={
                        key.removeprefix("seat-"): who
                        for key, who in said.items()
                        if key.startswith("seat-") and who.strip()
                    },
                )
    except SightlineError as wrong:
        return _list(wrong), 422
    return redirect(url_for(".game", name=table.name), 303)


def _written(text: str, what: str) -> dict[str, Any]:
    """Words as they are typed: `mode: solitaire`, `fpb-9: b`."""
    if not text.strip():
        return {}
    told = read_document("{" + text.strip().strip("{}") + "}", what).plain()
    if not isinstance(told, dict) or None in told.values():
        raise GameError(
            f"{text!r} does not say any {what}.", "Write them as NAME: VALUE, with commas between."
        )
    return told


@pages.get("/<name>/picture.svg")
def picture(name: str) -> Response:
    """A game in miniature, as an observer sees it."""
    connection = database()
    table = open_game(connection, name)
    view = View(table.ruleset, OBSERVER)
    standing = [
        unit for unit in units_in(connection, table.position_id) if view.unit(unit.attributes) is not None
    ]
    return Response(miniature(connection, table.map, standing), content_type="image/svg+xml")


# The table.


@pages.get("/<name>")
def game(name: str) -> str | tuple[str, int]:
    """A game: the map of a moment, the log, the turns, and the order line."""
    with engine().connect() as connection:
        return page_of(connection, shown_of(connection, name))


@pages.get("/<name>/<int:number>")
def event(name: str, number: int) -> AnyResponse | str:
    """A moment of a game under an address of its own, with its picture for whoever it is sent to."""
    with engine().connect() as connection:
        table = open_game(connection, name)
        if not 1 <= number <= table.events:
            abort(404, f"{name} has no event {number}; its events are 1 to {table.events}.")
        return page_of(connection, shown_of(connection, name, at=number))


@pages.get("/<name>/<int:number>/picture.svg")
def moment_picture(name: str, number: int) -> Response:
    """The map after an event, with what it changed."""
    with engine().connect() as connection:
        drawn = shown_of(connection, name, at=number).drawing()
    return Response(str(drawn), content_type="image/svg+xml")


@pages.post("/<name>/act")
def do(name: str) -> AnyResponse | tuple[str, int]:
    """Do what the order line says, or answer what is awaited."""
    said = request.form
    seat = said.get("as", REFEREE)
    try:
        with engine().begin() as connection:
            table = open_game(connection, name)
            check_seat(table.ruleset, seat)
            deed = _deed(connection, table, seat)
            act(connection, name, deed)
    except SightlineError as wrong:
        with engine().connect() as connection:
            shown = shown_of(connection, name, order=said.get("order", ""), seat=seat)
            return page_of(connection, shown, wrong), getattr(wrong, "status", 422)
    return redirect(url_for(".game", name=name, **_carried(seat)), 303)


def _deed(connection: Connection, table: Table, seat: str) -> Deed:
    said = request.form
    expected = said.get("expected", type=int)
    key = said.get("key") or None
    if "answer" in said or any(word in said for word in ("roll", "card", "draw")):
        arguments = answer_of(said, table)
        return Deed("answer", arguments, seat, expected=expected, key=key)
    orders = read_orders(said.get("order", ""), table.ruleset)
    if len(orders) != 1 or orders[0].problem is not None:
        problem = orders[0].problem if orders else None
        raise GameError(
            problem or "One order is done at a time here.", "Several are entered as a list of orders."
        )
    order = orders[0]
    stands = said.get("stands") or None
    deed = order.deed(table, expected=expected, key=key, note=said.get("note") or None, stands=stands)
    # a side acts for itself alone
    return deed if seat == REFEREE else dataclasses.replace(deed, actor=seat)


def _carried(seat: str) -> dict[str, Any]:
    """What goes on with whoever is sent on: the seat, and whether a script asks for the part of a page."""
    told: dict[str, Any] = {} if seat == REFEREE else {"as": seat}
    return told | ({"part": 1} if "part" in request.form else {})


@pages.post("/<name>/orders")
def orders(name: str) -> AnyResponse | str | tuple[str, int]:
    """A list of orders: looked at, or done as far as they are legal; what is left stays to be overruled, changed or dropped."""
    said = request.form
    text, seat = said.get("orders", ""), said.get("as", REFEREE)
    done: list[Order] = []
    try:
        if said.get("do") == "all":
            with engine().begin() as connection:
                wanted = read_orders(text, open_game(connection, name).ruleset)
                came = list(carry_out(connection, name, wanted))
            done = [order for order, entry in came if isinstance(entry, Entry)]
            text = _left(text, {order.line for order in done})
        with engine().connect() as connection:
            shown = shown_of(connection, name, seat=seat, orders=text)
            waits = shown.table.pending is not None
            found = [] if waits else prospects(connection, name, read_orders(text, shown.table.ruleset))
            return page_of(connection, shown, prospects=found, done=[order.text for order in done])
    except SightlineError as wrong:
        with engine().connect() as connection:
            shown = shown_of(connection, name, seat=seat, orders=text)
            return page_of(connection, shown, wrong), getattr(wrong, "status", 422)


def _left(text: str, lines: set[int]) -> str:
    return "\n".join(line for n, line in enumerate(text.splitlines(), 1) if n not in lines)


@pages.post("/<name>/undo")
def undo(name: str) -> AnyResponse | tuple[str, int]:
    """Take back the last event, or do again what was taken back."""

    def do(connection: Connection, said: Form) -> None:
        told: dict[str, Any] = {"note": said.get("note") or None, "expected": said.get("expected", type=int)}
        if said.get("redo"):
            taking_back.redo(connection, name, **told)
        else:
            taking_back.undo(connection, name, events=said.get("events", 1, type=int), **told)

    return _done(name, do)


@pages.post("/<name>/abandon")
def give_up(name: str) -> AnyResponse | tuple[str, int]:
    """Give up an action that waits; the referee says why."""
    return _done(
        name, lambda connection, said: abandon(connection, name, actor=REFEREE, note=said.get("note", ""))
    )


@pages.post("/<name>/note")
def annotate(name: str) -> AnyResponse | tuple[str, int]:
    """Say something of an event."""
    return _done(
        name,
        lambda connection, said: note(
            connection,
            name,
            said.get("event", 0, type=int),
            said.get("text", ""),
            author=said.get("author") or REFEREE,
        ),
        at=True,
    )


@pages.post("/<name>/keep")
def keep(name: str) -> AnyResponse | tuple[str, int]:
    """Keep a moment as a saved position, to be asked, shared and changed as any other."""
    said = request.form
    try:
        with engine().begin() as connection:
            kept = keep_position(connection, name, said.get("at", 0, type=int), said.get("to", ""))
    except SightlineError as wrong:
        return _wrong(name, wrong)
    edit: dict[str, Any] = {"edit": 1} if said.get("edit") else {}
    return redirect(url_for("maps.position_board", name=kept, **edit), 303)


@pages.get("/<name>/<int:number>/case")
def case(name: str, number: int) -> Response:
    """A moment as a case file, to be asked at the desk."""
    with engine().connect() as connection:
        text = case_text(connection, open_game(connection, name), number)
    return Response(text, content_type="text/plain; charset=utf-8")


@pages.post("/<name>/fork")
def branch(name: str) -> AnyResponse | tuple[str, int]:
    """Branch off another game from a moment."""
    said = request.form
    try:
        with engine().begin() as connection:
            table = fork(connection, name, said.get("after", 0, type=int), said.get("to", ""))
    except SightlineError as wrong:
        return _wrong(name, wrong)
    return redirect(url_for(".game", name=table.name), 303)


def _done(
    name: str, do: Callable[[Connection, Form], Any], at: bool = False
) -> AnyResponse | tuple[str, int]:
    said = request.form
    try:
        with engine().begin() as connection:
            do(connection, said)
    except SightlineError as wrong:
        return _wrong(name, wrong)
    where: dict[str, Any] = {"at": said["event"]} if at and said.get("event") else {}
    return redirect(url_for(".game", name=name, **where, **_carried(said.get("as", REFEREE))), 303)


def _wrong(name: str, wrong: SightlineError) -> tuple[str, int]:
    with engine().connect() as connection:
        return page_of(connection, shown_of(connection, name), wrong), getattr(wrong, "status", 422)


# The whole of it.


@pages.get("/<name>/report")
def report(name: str) -> str:
    """The game told as a report, with maps of chosen moments, to be printed."""
    with engine().connect() as connection:
        return render_template("games/report.html", **report_of(connection, shown_of(connection, name)))


@pages.get("/<name>/readings")
def readings(name: str) -> str:
    """The contested points that the game touched, with the events that each touched and decided."""
    with engine().connect() as connection:
        return render_template("games/readings.html", **readings_of(connection, shown_of(connection, name)))


@pages.get("/<name>/again")
def again(name: str) -> str:
    """The whole game ruled again, by the rules of today or under other readings; nothing is rewritten."""
    chosen = chosen_readings(request.args.getlist("policy"))
    with engine().connect() as connection:
        table = open_game(connection, name)
        differences = readjudicate(connection, table, checked_policy(table.ruleset, chosen))
    touched = sorted(
        contested_points(table.ruleset).values(), key=lambda point: int(point.id.rpartition("-")[2])
    )
    return render_template(
        "games/again.html", table=table, differences=differences, readings=chosen, points=touched
    )
