"""`/api/v1/games`: games begun, acted in, taken back, looked at, proved, followed, and sent elsewhere.

The version of a game is its ETag: number and digest of its last event, and what it waits for. Who writes may
send it as `If-Match`, and is told what came between where the game has gone on. What is written is committed
before the answer goes out; a request that is repeated with its `Idempotency-Key` is done once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import flask
from flask import Response, request
from flask_openapi3 import APIBlueprint, Tag
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.engine import Connection
from werkzeug.exceptions import ServiceUnavailable

from app.play import games, log, orders, tables
from app.play import undo as taking_back
from app.play.branches import board_at, fork
from app.play.branches import position_at as moment_of
from app.play.log import Deed, Entry
from app.play.openings import LONGEST_NAME, begin
from app.play.prospects import actions_now, legal
from app.play.readjudication import checked_policy, readjudicate
from app.play.records import import_record, write_record
from app.play.tables import GameError, Table, open_game
from app.play.verification import verify
from app.play.views import View, check_seat, without
from app.play.words import sentence
from app.web.api import PREFIX, problems
from app.web.guard import RECORD
from app.web.site import database, engine, known_version
from app.web.streams import RETRY_SECONDS, Streams
from db.games import REFEREE
from importers.documents import read_values

api = APIBlueprint("games_api", __name__, url_prefix=PREFIX)
GAMES = Tag(name="Games", description="Games that are played: their log, their dice, their proof")

TEXT = "text/plain; charset=utf-8"
MOST_EVENTS = 200
LAST_NUMBER = 2_000_000_000
Name = Annotated[str, Field(max_length=80, pattern=r"^[^\x00]*$")]
Words = Annotated[str, Field(max_length=2000, pattern=r"^[^\x00]*$")]
Number = Annotated[int, Field(ge=1, le=LAST_NUMBER)]


# What is asked.


class SeatQuery(BaseModel):
    """Who looks: what is hidden from a seat is left out for it."""

    model_config = ConfigDict(populate_by_name=True)

    seat: Annotated[str, Field(max_length=80, pattern=r"^[^\x00]*$")] = Field(
        REFEREE, alias="as", description="referee, a side, or observer; the referee where nothing is said"
    )


class GameName(BaseModel):
    """Which game."""

    name: str = Field(description="Its short name")


class EventNumber(GameName):
    """Which event of a game."""

    number: int = Field(description="Its number, from 1")


class GamesQuery(BaseModel):
    """Which games; all where nothing is said."""

    ruleset: Name | None = Field(None, description="css, ccp, fpb, bob or ddp")
    page: int = Field(1, ge=1, le=1_000_000)
    per_page: int = Field(50, ge=1, le=200)


class EventsQuery(SeatQuery):
    """Which events; from the first where nothing is said."""

    first: Number = Field(1, description="From this event")
    last: Number | None = Field(None, description="To this event")
    limit: int = Field(100, ge=1, le=MOST_EVENTS, description="How many at most")


class LegalQuery(SeatQuery):
    """Whose actions; of whoever is on turn where nothing is said."""

    unit: Name | None = Field(None, description="Of this unit")
    side: Name | None = Field(None, description="Of this side")


class ImportQuery(BaseModel):
    """How a game is to be called."""

    name: Name | None = Field(None, description="Its name here; else that in the record")


class StreamQuery(SeatQuery):
    """From where a game is followed; from now on where nothing is said."""

    after: int | None = Field(None, ge=0, le=LAST_NUMBER, description="Tell what came after this event, too")


class StreamHeader(BaseModel):
    """Where a reader goes on."""

    model_config = ConfigDict(populate_by_name=True)

    last_event_id: Annotated[str, Field(pattern="^[0-9]{0,9}$")] = Field(
        "", alias="Last-Event-ID", description="The last event that was read; a browser sends it by itself"
    )


class WriteHeader(BaseModel):
    """Under which conditions something is done."""

    model_config = ConfigDict(populate_by_name=True)

    if_match: Annotated[str, Field(max_length=400)] | None = Field(
        None, alias="If-Match", description="The ETag of the game as it was seen: done only if it is still so"
    )


class KeyHeader(WriteHeader):
    """Under which conditions something is done, and once only."""

    idempotency_key: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\x20-\x7e]*$")] | None = (
        Field(
            None,
            alias="Idempotency-Key",
            description="Made up by the client: repeated, the request is answered again and not done again",
        )
    )


class Body(BaseModel):
    """Something to be done; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class NewGame(Body):
    """A game to begin."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"from": "tanaro-assault", "name": "tanaro", "seats": {"us": "Anna"}}}
    )

    source: Name = Field(alias="from", description="Name of a scenario or a saved position")
    name: Name | None = Field(
        None, description="Its short name; else that of what it begins from, with a number"
    )
    title: Name = Field("", description="Its name for people")
    dice: Literal["server", "typed"] = Field("server", description="Who rolls")
    seed: Name | None = Field(None, description="Derive the dice from this, so that the game can be repeated")
    seats: dict[str, Annotated[str, Field(max_length=LONGEST_NAME)]] = Field(
        {}, description="Who sits where: referee, a side or observer"
    )
    options: dict[str, str | int | bool] = Field(
        {}, description="What players choose before a scenario begins"
    )


class DoneBy(Body):
    """Who does it, and why."""

    actor: Name | None = Field(
        None, alias="as", description="A side, or referee; else whoever is on turn, and by hand the referee"
    )
    note: Words | None = Field(None, description="Why, for the log")


class ActionBody(DoneBy):
    """Something that is done in a game, or an answer that it waits for."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"action": "attack", "arguments": {"by": ["1/161"], "at": "1014"}, "as": "us"}
        }
    )

    action: Name = Field(description="What is done; `answer` where an action waits, `set` by the referee")
    arguments: dict[str, Any] = Field(
        {}, description="As a case file has them; rolls, draws, cards and choices among them"
    )
    stands: Literal["illegal_stood", "overruled"] | None = Field(
        None, description="Record what the rules do not allow: it stood, or was overruled"
    )


class OrdersBody(Body):
    """Orders that somebody means to give."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"orders": "us attack {by: [1/161], at: '1014'}"}}
    )

    orders: Annotated[str, Field(max_length=100_000, pattern=r"^[^\x00]*$")] = Field(
        description="One a line: who (if not whoever is on turn), action, arguments as a case file has them"
    )


class UndoBody(DoneBy):
    """How much is taken back."""

    events: int = Field(1, ge=1, le=LAST_NUMBER, description="How many of the last events that stand")
    free_dice: bool = Field(False, description="Let the same action be rolled for anew; the referee only")


class ForkBody(Body):
    """A game to branch off."""

    after: Number = Field(description="It begins where the other was after this event")
    name: Name = Field(description="Its short name")
    title: Name = Field("", description="Its name for people")


class NoteBody(Body):
    """A word on an event."""

    event: Number = Field(description="Its number")
    text: Words = Field(description="What is said")
    author: Name = Field(REFEREE, description="Who says it")
    ruling: Name | None = Field(None, description="A kept ruling that it refers to")


class AbandonBody(Body):
    """Why an action that waits is given up."""

    note: Words = Field(description="Why, for the log")


class ReadingsBody(Body):
    """Readings under which a game is ruled again."""

    policy: dict[str, str] = Field({}, description="Readings of contested points, by point")


class QuestionBody(Body):
    """A question put to a moment of a game."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"question": {"range": {"from": "1/161", "to": "I/41"}}}}
    )

    question: dict[str, Any] = Field(description="Kind and arguments, as in a case file")
    policy: dict[str, Any] = Field({}, description="Readings chosen for contested points, by point")
    conditions: dict[str, Any] = Field({}, description="Weather, time of day, … for this question")


# What is answered.


class Moment(BaseModel):
    """Turn, phase and whose it is."""

    turn: Any = None
    phase: str
    step: str | None = Field(None, description="The step of the phase, in games that name them")
    active: str | None = None


class GameAnswer(BaseModel):
    """A game as it stands."""

    model_config = ConfigDict(extra="allow")

    game: str = Field(description="Its short name")
    title: str = ""
    ruleset: str
    map: str
    scenario: str | None = None
    house: bool = Field(description="Whether part of its set-up is not the publisher's")
    dice: str = Field(description="server or typed")
    seed_sha256: str | None = Field(None, description="SHA-256 of the seed, published before the first roll")
    seed: str | None = Field(None, description="The seed, once the game is over")
    events: int = Field(description="Number of its last event")
    digest: str = Field(description="Digest of its last event")
    over: bool
    now: Moment
    pending: dict[str, Any] | None = Field(
        None, description="The action that waits for an answer, and for what"
    )


class GameDetails(GameAnswer):
    """A game as it stands, with who plays and what may be done."""

    seats: dict[str, str] = Field(description="Who sits where")
    actions: list[str] = Field(description="What may be done now, by name")


class GamesAnswer(BaseModel):
    """A page of games, the latest first."""

    games: list[GameAnswer]
    total: int
    page: int
    per_page: int


class EventAnswer(BaseModel):
    """An event: who did what, with what dice, by which rules, and what it changed."""

    model_config = ConfigDict(extra="allow")

    number: int
    at: str = Field(description="When it was written down")
    actor: str
    action: str
    verdict: str = Field(description="What happened, as a sentence")
    legality: str = Field(description="legal, illegal_stood, overruled or contested")
    position_digest: str = Field(description="SHA-256 of the position after it")
    digest: str = Field(description="SHA-256 of all this and of the event before it")


class EventsAnswer(BaseModel):
    """A page of events."""

    events: list[EventAnswer]
    total: int = Field(description="How many the game has")
    next: int | None = Field(description="The first that is not on this page; null where there is none")


class EntryAnswer(BaseModel):
    """What became of a deed: an event, or a prompt that waits for an answer."""

    game: str
    number: int = Field(description="Of the event that was written, or that will be")
    event: EventAnswer | None = None
    pending: dict[str, Any] | None = Field(
        None, description="What is awaited, of whom, and what is known so far"
    )
    repeated: bool = Field(False, description="Whether the request was answered before")
    now: Moment
    over: bool


class MomentAnswer(BaseModel):
    """The position after an event, as its file would have it."""

    model_config = ConfigDict(extra="allow")

    game: str
    after: int = Field(description="Number of the event")
    ruleset: str
    map: str
    units: list[dict[str, Any]]
    markers: list[dict[str, Any]]


class LegalAnswer(BaseModel):
    """What may be done now."""

    model_config = ConfigDict(extra="allow")

    game: str
    now: Moment
    names: list[str] = Field(description="The actions of this phase by name")
    actions: list[dict[str, Any]] | None = Field(
        None, description="Where the game can tell: each with arguments, to be entered as it stands"
    )
    pending: dict[str, Any] | None = Field(None, description="What is awaited first")


class VerificationAnswer(BaseModel):
    """What was found when everything was derived again."""

    game: str
    ok: bool
    events: int
    rolls: int = Field(description="Rolls of the server that were derived again")
    seed: str = Field(description="opened, sealed or none")
    problems: list[str]


class DifferenceAnswer(BaseModel):
    """An event that would be ruled otherwise."""

    number: int
    action: str
    what: str = Field(description="answer, effects, refused, wants or unread")
    was: Any = None
    now: Any = None


class ReadjudicationAnswer(BaseModel):
    """Every event that would be ruled otherwise; nothing is rewritten."""

    game: str
    events: int
    differences: list[DifferenceAnswer]


class ProspectsAnswer(BaseModel):
    """What would come of orders, one each."""

    game: str
    prospects: list[dict[str, Any]] = Field(
        description="`line`, `order`, `standing` (legal, waits, contested, illegal, unknown, unread), `why`, and"
        " `answer`, `steps`, `contested` as a ruling has them"
    )


class RulingOfMoment(BaseModel):
    """A ruling on a moment of a game, which is not kept."""

    model_config = ConfigDict(extra="allow")

    game: str
    after: int
    verdict: str
    answer: dict[str, Any]
    steps: list[dict[str, Any]]
    contested: list[dict[str, Any]]


# Looking.


@api.get("/games", tags=[GAMES], responses={"200": GamesAnswer, **problems(422)})
def list_games(query: GamesQuery) -> Response:
    """Games with where they stand, the latest first."""
    connection = database()
    found = tables.games(connection, query.ruleset, page=query.page, per_page=query.per_page)
    return flask.jsonify(
        {
            "games": [table.as_dict() for table in found],
            "total": tables.count_games(connection, query.ruleset),
            "page": query.page,
            "per_page": query.per_page,
        }
    )


@api.get("/games/<name>", tags=[GAMES], responses={"200": GameDetails, **problems(404)})
def one_game(path: GameName, query: SeatQuery) -> Response:
    """How a game stands. Its ETag is the number and digest of its last event, and what it waits for."""
    connection = database()
    table = open_game(connection, path.name)
    known_version(table.version)
    table = _view(table, query).game(connection, table)
    told = {"seats": tables.seats(connection, table), "actions": actions_now(table)}
    return flask.jsonify(table.as_dict() | told)


@api.get("/games/<name>/events", tags=[GAMES], responses={"200": EventsAnswer, **problems(404, 422)})
def events(path: GameName, query: EventsQuery) -> Response:
    """The log: events in order, those that were taken back with what took them back."""
    connection = database()
    table = open_game(connection, path.name)
    last = min(query.first + query.limit - 1, query.last or LAST_NUMBER, table.events)
    view = _view(table, query)
    found = log.log(connection, table, first=query.first, last=last)
    told = [_told(table, event) for event in view.events(connection, table, found)]
    following = last + 1 if query.first <= last < table.events else None
    return flask.jsonify({"events": told, "total": table.events, "next": following})


@api.get("/games/<name>/events/<int:number>", tags=[GAMES], responses={"200": EventAnswer, **problems(404)})
def one_event(path: EventNumber, query: SeatQuery) -> Response:
    """One event, with every rule that made it, its dice and what it changed."""
    connection = database()
    table = open_game(connection, path.name)
    event = log.event_tree(connection, table, _number(table, path.number))
    return flask.jsonify(_told(table, _view(table, query).event(connection, table, event)))


@api.get(
    "/games/<name>/events/<int:number>/position",
    tags=[GAMES],
    responses={"200": MomentAnswer, **problems(404)},
)
def position_at(path: EventNumber, query: SeatQuery) -> Response:
    """The position after an event, as `/api/v1/positions` tells one."""
    connection = database()
    table = open_game(connection, path.name)
    told = moment_of(connection, table, _number(table, path.number))
    return flask.jsonify(_view(table, query).position(told))


@api.post(
    "/games/<name>/events/<int:number>/ask",
    tags=[GAMES],
    responses={"200": RulingOfMoment, **problems(400, 404, 413, 422)},
)
def ask_at(path: EventNumber, query: SeatQuery, body: QuestionBody) -> Response:
    """Put one question to a game as it was after an event; nothing is kept."""
    connection = database()
    table = open_game(connection, path.name)
    unseen = _view(table, query).words_now(connection, table, _number(table, path.number))
    question = dict(body.question)
    question |= {key: told for key in ("policy", "conditions") if (told := getattr(body, key))}
    with board_at(connection, table, _number(table, path.number)) as board:
        ruling = board.ask(connection, question).ruling
    told = {"game": table.name, "after": path.number, **ruling.as_dict()}
    return flask.jsonify(without(told, unseen) if unseen else told)


@api.get("/games/<name>/legal", tags=[GAMES], responses={"200": LegalAnswer, **problems(404, 422)})
def legal_now(path: GameName, query: LegalQuery) -> Response:
    """What may be done now; where the game can tell, with arguments to be entered as they stand."""
    connection = database()
    table = open_game(connection, path.name)
    view = _view(table, query)
    told = legal(connection, view.game(connection, table), unit=query.unit, side=query.side)
    unseen = set() if view.seat in (REFEREE, table.on_turn) else view.words_now(connection, table)
    return flask.jsonify(without(told, unseen) if unseen else told)


@api.get(
    "/games/<name>/record",
    tags=[GAMES],
    responses={"200": {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(403, 404)},
)
def record(path: GameName, query: SeatQuery) -> Response:
    """The game as one text, log and map, to be read elsewhere with the same digests; all of it is told.

    So while a game goes on, it is the referee's alone.
    """
    with engine().begin() as connection:
        table = open_game(connection, path.name, writing=True)
        if not table.over and not _view(table, query).whole:
            flask.abort(403, "A record tells everything; until the game is over it is the referee's.")
        text = write_record(connection, table.name)
    return Response(text, content_type=TEXT)


@api.get(
    "/games/<name>/stream",
    tags=[GAMES],
    responses={
        "200": {"content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **problems(404, 422, 503),
    },
)
def stream(path: GameName, query: StreamQuery, header: StreamHeader) -> Response:
    """Follow a game: a message an event, its `id` the event's number.

    First comes `now`, the game as it stands, or with `after` or `Last-Event-ID` what came since. `waits` tells
    that an action waits for an answer, `gone` that the game was deleted. A stream ends after a while, and its
    reader asks again. Where too many follow games already, the answer is 503.
    """
    table = open_game(database(), path.name)
    after = int(header.last_event_id) if header.last_event_id else query.after
    if after is not None and after > table.events:
        raise GameError(f"{table.name} has no event {after} yet; its last is {table.events}.")
    streams: Streams = flask.current_app.config["STREAMS"]
    if request.method == "HEAD":
        return Response(mimetype="text/event-stream")
    if not streams.take():
        raise ServiceUnavailable("Too many follow games right now.", retry_after=5 * RETRY_SECONDS)
    view = _view(table, query)
    followed = Response(streams.messages(table.name, after, view), mimetype="text/event-stream")
    followed.call_on_close(streams.give_back)
    followed.headers["Cache-Control"] = "no-store"
    # a reverse proxy that gathers an answer before it passes it on would keep it for ever
    followed.headers["X-Accel-Buffering"] = "no"
    return followed


# Doing.


@api.post("/games", tags=[GAMES], responses={"201": GameAnswer, **problems(400, 404, 413, 422)})
def new_game(body: NewGame) -> Response:
    """Begin a game from a scenario or a saved position, which is copied and stays as it is."""
    with _writing() as connection:
        table = begin(
            connection,
            body.source,
            name=body.name,
            title=body.title,
            dice=body.dice,
            seed=body.seed,
            seats=body.seats,
            options=body.options,
        )
    return _made(table)


@api.post(
    "/games/import",
    tags=[GAMES],
    responses={"201": GameAnswer, **problems(400, 413, 422)},
    openapi_extensions={
        "requestBody": {
            "description": "A record, as GET /api/v1/games/{name}/record gives it",
            "required": True,
            "content": {RECORD: {"schema": {"type": "string"}}},
        }
    },
)
def import_game(query: ImportQuery) -> Response:
    """Bring in a game from its record; where a digest does not hold, nothing is brought in."""
    try:
        text = request.get_data(cache=False).decode("utf-8")
    except UnicodeDecodeError as error:
        raise GameError("The record is not UTF-8.", "Send it as it was written.") from error
    with _writing() as connection:
        table = import_record(connection, text, name=query.name)
    return _made(table)


@api.delete("/games/<name>", tags=[GAMES], responses={"204": None, **problems(403, 404, 412)})
def delete_game(path: GameName, header: WriteHeader) -> Response:
    """Delete a game with its whole log."""
    with _writing() as connection:
        table = open_game(connection, path.name, writing=True)
        tables.refuse_stale(connection, table, None, _seen(table))
        games.delete_game(connection, table.name)
    return Response(status=204)


DONE = {"200": EntryAnswer, **problems(400, 403, 404, 409, 412, 413, 422)}


@api.post("/games/<name>/actions", tags=[GAMES], responses=DONE)
def act(path: GameName, header: KeyHeader, body: ActionBody) -> Response:
    """Do something, or answer what is awaited.

    409 where the rules do not allow it, with the ruling in `answer` and `steps`; 412 where the game has gone
    on since `If-Match`; 422 where it cannot be done. Unless it is done, nothing changes.
    """
    told = read_values(body.arguments, "arguments").plain()
    with _writing() as connection:
        table = open_game(connection, path.name, writing=True)
        deed = Deed(
            body.action,
            told,
            body.actor or games.acting(table, body.action),
            body.note,
            key=header.idempotency_key,
            stands=body.stands,
            seen=_seen(table),
            named=body.actor is not None,
        )
        entry = games.act(connection, table.name, deed)
        table = open_game(connection, table.name)
    return _done(entry, table)


@api.post(
    "/games/<name>/prospects",
    tags=[GAMES],
    responses={"200": ProspectsAnswer, **problems(400, 404, 413, 422)},
)
def prospects(path: GameName, body: OrdersBody) -> Response:
    """What would come of orders, without dice: legal or not and by which rule, cost, who may fire, odds. Nothing is done.

    Each is looked at where the legal ones before it have been done that want no dice.
    """
    with engine().connect() as connection:
        table = open_game(connection, path.name)
        found = orders.prospects(connection, table.name, orders.read_orders(body.orders, table.ruleset))
    return flask.jsonify({"game": table.name, "prospects": [one.as_dict() for one in found]})


@api.post("/games/<name>/undo", tags=[GAMES], responses=DONE)
def undo(path: GameName, header: KeyHeader, body: UndoBody) -> Response:
    """Take back the last events that stand; they stay in the log, struck out."""
    with _writing() as connection:
        table = open_game(connection, path.name, writing=True)
        entry = taking_back.undo(
            connection,
            table.name,
            actor=body.actor or REFEREE,
            events=body.events,
            free_dice=body.free_dice,
            note=body.note,
            key=header.idempotency_key,
            seen=_seen(table),
        )
        table = open_game(connection, table.name)
    return _done(entry, table)


@api.post("/games/<name>/redo", tags=[GAMES], responses=DONE)
def redo(path: GameName, header: KeyHeader, body: DoneBy) -> Response:
    """Do again what the last undo took back, where nothing has been done since."""
    with _writing() as connection:
        table = open_game(connection, path.name, writing=True)
        entry = taking_back.redo(
            connection,
            table.name,
            actor=body.actor or REFEREE,
            note=body.note,
            key=header.idempotency_key,
            seen=_seen(table),
        )
        table = open_game(connection, table.name)
    return _done(entry, table)


@api.post("/games/<name>/abandon", tags=[GAMES], responses=DONE)
def abandon(path: GameName, header: KeyHeader, body: AbandonBody) -> Response:
    """As the referee, give up an action that waits for an answer; what was rolled for it is written down."""
    with _writing() as connection:
        table = open_game(connection, path.name, writing=True)
        entry = games.abandon(
            connection,
            table.name,
            actor=REFEREE,
            note=body.note,
            key=header.idempotency_key,
            seen=_seen(table),
        )
        table = open_game(connection, table.name)
    return _done(entry, table)


@api.post(
    "/games/<name>/fork", tags=[GAMES], responses={"201": GameAnswer, **problems(400, 403, 404, 413, 422)}
)
def branch_off(path: GameName, body: ForkBody) -> Response:
    """A new game that begins where this one was after an event, with dice of its own."""
    with _writing() as connection:
        table = fork(connection, path.name, body.after, body.name, title=body.title)
    return _made(table)


@api.post(
    "/games/<name>/notes", tags=[GAMES], responses={"201": EventAnswer, **problems(400, 403, 404, 413, 422)}
)
def note(path: GameName, body: NoteBody) -> Response:
    """Say something of an event, which itself stays as it is; the event comes back with all that was said of it."""
    with _writing() as connection:
        log.note(connection, path.name, body.event, body.text, author=body.author, ruling=body.ruling)
        table = open_game(connection, path.name)
        told = _told(table, log.event_tree(connection, table, body.event))
    answer = flask.jsonify(told)
    answer.status_code = 201
    return answer


@api.post("/games/<name>/verify", tags=[GAMES], responses={"200": VerificationAnswer, **problems(403, 404)})
def verify_game(path: GameName) -> Response:
    """Whether a game is what its log says: digests, positions and, once the seed is open, dice."""
    with _writing() as connection:
        found = verify(connection, open_game(connection, path.name, writing=True))
    return flask.jsonify(found.as_dict())


@api.post(
    "/games/<name>/readjudicate",
    tags=[GAMES],
    responses={"200": ReadjudicationAnswer, **problems(400, 403, 404, 413, 422)},
)
def rule_again(path: GameName, body: ReadingsBody) -> Response:
    """Rule on every event again, by today's rules or other readings; nothing is rewritten."""
    with _writing() as connection:
        table = open_game(connection, path.name)
        found = readjudicate(connection, table, checked_policy(table.ruleset, body.policy))
    told = [difference.as_dict() for difference in found]
    return flask.jsonify({"game": table.name, "events": table.events, "differences": told})


@contextmanager
def _writing() -> Iterator[Connection]:
    """A transaction, committed before the answer goes out."""
    with engine().begin() as connection:
        yield connection


def _seen(table: Table) -> str | None:
    """The version that the writer has seen, if they say: of several, the one that still holds."""
    tags = request.if_match
    if not tags or tags.star_tag:
        return None
    told = sorted(tags.as_set(include_weak=True))
    return table.version if table.version in told else told[0]


def _view(table: Table, query: SeatQuery) -> View:
    return View(table.ruleset, check_seat(table.ruleset, query.seat))


def _number(table: Table, number: int) -> int:
    if not 1 <= number <= table.events:
        flask.abort(404, f"{table.name} has no event {number}; its events are 1 to {table.events}.")
    return number


def _told(table: Table, event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "verdict": sentence(table.ruleset, event)}


def _done(entry: Entry, table: Table) -> Response:
    told = entry.as_dict() | {"now": table.moment.as_dict(), "over": table.over}
    if entry.event is not None:
        told["event"] = _told(table, entry.event)
    answer = flask.jsonify(told)
    answer.set_etag(table.version, weak=True)
    return answer


def _made(table: Table) -> Response:
    answer = flask.jsonify(table.as_dict())
    answer.status_code = 201
    answer.headers["Location"] = f"{PREFIX}/games/{table.name}"
    answer.set_etag(table.version, weak=True)
    return answer
