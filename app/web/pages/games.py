"""Games to look at: the list, the log, any moment with its map and its proof, and the whole game ruled again."""

from __future__ import annotations

from flask import Blueprint, abort, render_template, request, url_for

from app.drawing import svg
from app.play.branches import board_at
from app.play.log import event_tree, log
from app.play.readjudication import checked_policy, readjudicate
from app.play.tables import Table, count_games, games, open_game, seats
from app.play.words import happenings, moment_in_words, ruling_of, sentence, waiting_in_words
from app.referee.rulings import contested_points
from app.web.proof import chosen_readings, proof
from app.web.site import database, engine
from db.rulesets import CODES

pages = Blueprint("games", __name__, url_prefix="/games")
NAVIGATION = [(30, "Games", "games.all_games")]

PER_PAGE = 50
EVENTS_PER_PAGE = 200


@pages.get("")
def all_games() -> str:
    """Every game with where it stands, the latest first."""
    ruleset = request.args.get("ruleset") if request.args.get("ruleset") in CODES else None
    page = max(request.args.get("page", 1, type=int), 1)
    connection = database()
    total = count_games(connection, ruleset)
    found = games(connection, ruleset, page=page, per_page=PER_PAGE)
    return render_template(
        "games/list.html",
        games=found,
        now={table.name: _now(table) for table in found},
        total=total,
        page=page,
        pages=max(1, -(-total // PER_PAGE)),
        ruleset=ruleset,
        codes=CODES,
    )


def _now(table: Table) -> str:
    return "over" if table.over else moment_in_words(table.moment.as_dict())


@pages.get("/<name>")
def game(name: str) -> str:
    """How a game stands, and its log; what was taken back is struck out."""
    connection = database()
    table = open_game(connection, name)
    last_page = max(1, -(-table.events // EVENTS_PER_PAGE))
    page = min(max(request.args.get("page", last_page, type=int), 1), last_page)
    first = (page - 1) * EVENTS_PER_PAGE + 1
    events = log(connection, table, first=first, last=first + EVENTS_PER_PAGE - 1)
    return render_template(
        "games/game.html",
        table=table,
        told=table.as_dict(),
        now=_now(table),
        waits=waiting_in_words(table.pending) if table.pending else None,
        seats={role: who for role, who in seats(connection, table).items() if who},
        events=[{**event, "sentence": sentence(table.ruleset, event)} for event in events],
        page=page,
        pages=last_page,
        address=url_for(".game", name=name, _external=True),
    )


@pages.get("/<name>/<int:number>")
def event(name: str, number: int) -> str:
    """A moment of a game: what was done, by which rules, with which dice, and how the map stood after it."""
    with engine().connect() as connection:
        table = open_game(connection, name)
        if not 1 <= number <= table.events:
            abort(404, f"{name} has no event {number}; its events are 1 to {table.events}.")
        told = event_tree(connection, table, number)
        with board_at(connection, table, number) as board:
            drawing = svg(board.position(connection), {})
        ruled = ruling_of(table.ruleset, told)
        return render_template(
            "games/event.html",
            table=table,
            event=told,
            sentence=sentence(table.ruleset, told),
            proof=proof(ruled, connection, steps=None) if ruled.steps else None,
            lines=happenings(told),
            when=moment_in_words(told["phase"]),
            drawing=drawing,
            address=url_for(".event", name=name, number=number, _external=True),
        )


@pages.get("/<name>/again")
def again(name: str) -> str:
    """The whole game ruled again, by the rules of today or under other readings; nothing is rewritten."""
    readings = chosen_readings(request.args.getlist("policy"))
    with engine().connect() as connection:
        table = open_game(connection, name)
        differences = readjudicate(connection, table, checked_policy(table.ruleset, readings))
    touched = sorted(
        contested_points(table.ruleset).values(), key=lambda point: int(point.id.rpartition("-")[2])
    )
    return render_template(
        "games/again.html", table=table, differences=differences, readings=readings, points=touched
    )
