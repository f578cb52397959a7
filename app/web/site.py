"""The Flask app: pages, API, health, errors in one shape, logs with request ids.

Modules of `app.web.pages` and `app.web.api` hold one subject each and are found by themselves: a
page module has a Blueprint `pages` and, for the bar on every page, may have a list
`NAVIGATION` of (order, text, endpoint); an API module has an APIBlueprint `api`.
"""

from __future__ import annotations

import datetime
import gzip
import hashlib
import importlib
import pkgutil
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Annotated, Any

import flask
import psycopg
import sqlalchemy as sa
from flask import Flask, Response, g, request
from flask_openapi3 import Info, OpenAPI
from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from sqlalchemy.engine import Connection, Engine
from werkzeug.exceptions import HTTPException, InternalServerError

import app.web.api
import app.web.pages
from app.web.guard import HEADERS, FullError, protect, too_large
from app.web.logs import configure, log, log_request
from app.web.porter import health
from app.web.streams import Streams
from db import SightlineError, __version__
from db.budget import allow, current
from db.database import server_facts
from db.keeping import Kept
from db.refusals import cause, refusal
from db.settings import Settings
from db.values import exact, to_json

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "style-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
COMPRESSED = (
    "application/geo+json",
    "application/json",
    "application/problem+json",
    "application/schema+json",
    "application/vnd.mapbox-vector-tile",
    "application/yaml",
    "image/svg+xml",
)
"""What is compressed beside text of any kind."""
MOST_SENT = 8 * 1024 * 1024
"""Bytes of a request."""
SMALL = 1000
"""Bytes; below, compression gains nothing."""
API_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><title>Sightline API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="{{ url_for('static', filename='icon.svg') }}" type="image/svg+xml">
<link rel="stylesheet" href="{{ url_for('swagger.static', filename='css/swagger-ui.css') }}">
</head>
<body>
<main id="api" data-document="{{ url_for('openapi.doc_url') }}"></main>
<script src="{{ url_for('swagger.static', filename='js/swagger-ui-bundle.js') }}"></script>
<script src="{{ url_for('static', filename='api.js') }}"></script>
</body>
</html>"""


class Problem(BaseModel):
    """An error, as RFC 9457 describes it."""

    type: str = Field("about:blank", description="What kind of problem")
    title: str = Field(description="Short and constant for this kind of problem")
    status: int = Field(description="HTTP status")
    detail: str | None = Field(None, description="What is wrong here")
    remedy: str | None = Field(None, description="What to do about it")
    instance: str | None = Field(None, description="Id of the request, as in the logs")
    problems: list[dict[str, Any]] | None = Field(None, description="Each mistake with its place")
    answer: dict[str, Any] | None = Field(
        None, description="Of an action that is not allowed: what was ruled"
    )
    steps: list[dict[str, Any]] | None = Field(None, description="Every rule that forbids it, in order")
    between: list[dict[str, Any]] | None = Field(
        None, description="Of a game that has gone on: the first events that came meanwhile"
    )


AWAY = Problem(
    title="The database does not answer",
    status=503,
    detail="The server is there, but its database is not.",
    remedy="See `sightline db status`.",
)
DEAF = Problem(
    title="The web server does not answer",
    status=503,
    detail="The database is there, but the process that serves pages and API gives no sign of life.",
    remedy="See its log, or start `sightline serve` again.",
)


class JsonNumbers(flask.json.provider.DefaultJSONProvider):
    """Exact numbers: a Decimal that is whole is an integer; keys keep their order."""

    sort_keys = False
    ensure_ascii = False

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return to_json(obj, indent=None)

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        # before it is read: eight megabytes of empty lists are hundreds once they are
        text = s.decode(errors="replace") if isinstance(s, bytes) else s
        allow("values of a document", sum(map(text.count, "[{,")))
        try:
            return super().loads(s, **kwargs)
        except RecursionError as error:
            # to be told as what it is: a document that cannot be read
            raise ValueError("it is nested too deeply") from error


class DescribedApi(OpenAPI):
    """The app with its description: every operation answers an error as a problem (RFC 9457)."""

    def generate_spec_json(self) -> None:
        super().generate_spec_json()  # type: ignore[no-untyped-call]
        problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
        for path in self.spec_json["paths"].values():
            for operation in path.values():
                answers = operation["responses"]
                answers["default"] = {"description": "Something is wrong"}
                for status, answer in answers.items():
                    if status == "default" or status >= "400":
                        answer["content"] = problem


def create_app(settings: Settings, engine: Engine) -> Flask:
    """The whole web app on one database."""
    web = DescribedApi(
        app.web.__name__,
        info=Info(
            title="Sightline",
            version=__version__,
            description="Rulings on hex-and-counter wargames: every answer with every rule that made it.",
        ),
        doc_prefix="/api/docs",
        security_schemes={},
        validation_error_status=422,
        validation_error_model=Problem,
        validation_error_callback=_invalid_request,
    )
    web.json = JsonNumbers(web)
    web.url_map.strict_slashes = False
    web.config.update(
        MAX_CONTENT_LENGTH=MOST_SENT,
        SWAGGER_HTML_STRING=API_PAGE,
        OPENAPI_HTML_STRING=API_PAGE,
        SETTINGS=settings,
        ENGINE=engine,
        STREAMS=Streams(settings, engine),
    )
    configure(settings.log_format, settings.log_level)
    web.before_request(_begin)
    protect(web, settings)
    web.after_request(_finish)
    web.teardown_appcontext(_close_connection)
    web.register_error_handler(AnsweredError, lambda found: found.response)
    web.register_error_handler(HTTPException, _http_error)
    web.register_error_handler(SightlineError, _sightline_error)
    web.register_error_handler(sa.exc.DBAPIError, _database_error)
    web.register_error_handler(psycopg.Error, _database_error)
    web.register_error_handler(Exception, _unexpected)
    web.jinja_env.globals["version"] = __version__
    web.jinja_env.trim_blocks = web.jinja_env.lstrip_blocks = True
    web.add_url_rule("/healthz", "healthz", _healthz)
    navigation: list[tuple[int, str, str]] = []
    for module in _modules(app.web.pages):
        web.register_blueprint(module.pages)
        navigation += getattr(module, "NAVIGATION", ())
    web.jinja_env.globals["navigation"] = lambda: [entry[1:] for entry in sorted(navigation)]
    for module in _modules(app.web.api):
        web.register_api(module.api)
    return web


def _modules(package: ModuleType) -> list[ModuleType]:
    return [
        importlib.import_module(f"{package.__name__}.{found.name}")
        for found in pkgutil.iter_modules(package.__path__)
    ]


def database() -> Connection:
    """This request's connection, in autocommit: reads need no transaction."""
    if "connection" not in g:
        engine: Engine = flask.current_app.config["ENGINE"]
        g.connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    connection: Connection = g.connection
    return connection


def engine() -> Engine:
    """The engine, for work that wants a transaction of its own."""
    found: Engine = flask.current_app.config["ENGINE"]
    return found


@contextmanager
def asking(*, what_if: bool = False) -> Iterator[Connection]:
    """A connection to ask on: this request's own, so that what is found out is kept for the next who asks.

    A what-if has a transaction of its own, which is undone.
    """
    if not what_if:
        yield database()
        return
    with engine().connect() as connection:
        yield connection


def day(text: str | None) -> datetime.date | None:
    """A day as an address or a form gives it."""
    if not text:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError as error:
        raise SightlineError(f"{text[:40]!r} is not a day.", "Write it as 2024-12-31.") from error


def _written_day(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        raise ValueError("a day is written as 2024-12-31")
    return value


Day = Annotated[datetime.date, BeforeValidator(_written_day)]
"""A day in the address of an API operation: never a number of seconds."""
ANSWERS: Kept[tuple[bytes, str]] = Kept(32 * 1024 * 1024)
"""Answers that are the same as long as a version is: what was sent, and its type, by address, version and coding."""


def known_version(version: str, *, keep: bool = False) -> None:
    """Answer 304 at once where the asker has this version already; else the answer will carry it.

    For what costs more to make than to tell its version: call it before the work. With `keep` the answer hangs on
    its address and this version alone, and is given again to the next who asks.
    """
    g.version = version
    if request.method in ("GET", "HEAD") and request.if_none_match.contains_weak(version):
        unchanged = Response(status=304)
        unchanged.cache_control.no_cache = True
        unchanged.set_etag(version, weak=True)
        flask.abort(unchanged)
    if keep:
        g.kept_as = (request.url, version)
        for coding in dict.fromkeys((_coding(), "")):
            found = ANSWERS.get((*g.kept_as, coding))
            if found is not None:
                body, kind = found
                again = Response(body, content_type=kind)
                if coding:
                    again.content_encoding = coding
                raise AnsweredError(again)


class AnsweredError(Exception):
    """The answer is there already: nothing else is to be done."""

    def __init__(self, response: Response) -> None:
        super().__init__()
        self.response = response


def _coding() -> str:
    """How the asker wants text to be packed."""
    return "gzip" if request.accept_encodings["gzip"] > 0 else ""


def _close_connection(_: BaseException | None) -> None:
    connection = g.pop("connection", None)
    if connection is not None:
        connection.close()


def _healthz() -> Response:
    """Whether the server answers: for people, monitors and load balancers."""
    facts = server_facts(database())
    return flask.jsonify(health(facts.postgresql, facts.postgis, facts.revision))


def _begin() -> None:
    given = request.headers.get("X-Request-ID", "")
    g.request_id = given if re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given) else secrets.token_hex(8)
    g.started = time.perf_counter()


def _validate(response: Response) -> None:
    """Let what the API reads, or what tells its version, be kept by whoever asks only whether it has changed."""
    if request.method not in ("GET", "HEAD"):
        return
    if not request.path.startswith("/api/") and "version" not in g:
        return
    if response.status_code != 200 or response.is_streamed or response.direct_passthrough:
        return
    response.cache_control.no_cache = True
    version = g.get("version") or hashlib.sha256(response.get_data()).hexdigest()[:32]
    # weak: the same answer may come compressed or not
    response.set_etag(version, weak=True)
    response.make_conditional(request)


def _compress(response: Response) -> None:
    """Compress text for whoever asks for it."""
    if response.status_code != 200 or response.is_streamed or response.direct_passthrough:
        return
    kind = response.mimetype or ""
    if not kind.startswith("text/") and kind not in COMPRESSED:
        return
    response.vary.add("Accept-Encoding")
    if response.content_encoding or not _coding():
        return
    body = response.get_data()
    if len(body) >= SMALL:
        response.set_data(gzip.compress(body, compresslevel=5, mtime=0))
        response.content_encoding = "gzip"


def piece_by_piece(pieces: Iterator[str], mimetype: str) -> Response:
    """An answer that is made while it is sent, packed on the way where the asker wants it.

    It holds a thread as long as its reader takes, so there are only as many at once as there are streams.
    """
    streams: Streams = flask.current_app.config["STREAMS"]
    if not streams.take():
        raise FullError(
            "As many long answers are being sent as there may be at once.",
            "Ask again in a moment, or for a part.",
        )
    coding = _coding()
    encoded = (piece.encode() for piece in pieces)
    response = Response(_packed(encoded) if coding else encoded, mimetype=mimetype)
    response.call_on_close(streams.give_back)
    response.vary.add("Accept-Encoding")
    if coding:
        response.content_encoding = coding
    if "version" in g:
        response.cache_control.no_cache = True
        response.set_etag(g.version, weak=True)
    return response


def _packed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(5, wbits=31)
    for piece in pieces:
        yield packer.compress(piece)
    yield packer.flush()


def _keep(response: Response) -> None:
    """Keep an answer that its address and a version tell (`known_version`) for the next who asks."""
    if "kept_as" not in g or response.status_code != 200 or response.is_streamed:
        return
    body = response.get_data()
    key = (*g.kept_as, response.content_encoding or "")
    ANSWERS.put(key, (body, response.content_type), len(body) + 500)


def _finish(response: Response) -> Response:
    refused = too_large(response)
    if refused is not None:
        response = _sightline_error(refused)
    _validate(response)
    _compress(response)
    _keep(response)
    response.headers["X-Request-ID"] = g.get("request_id", "-")
    response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
    response.headers.update(HEADERS)
    query = request.query_string.decode(errors="replace")
    seconds = time.perf_counter() - g.get("started", time.perf_counter())
    log_request(request.method, request.path, query, response.status_code, g.get("request_id"), seconds)
    return response


def problem_response(problem: Problem) -> Response:
    """An error as JSON for programs, as a page for people."""
    problem = problem.model_copy(update={"instance": g.get("request_id")})
    if _wants_page():
        page = flask.render_template("problem.html", problem=problem)
        return Response(page, status=problem.status, content_type="text/html; charset=utf-8")
    return Response(
        problem.model_dump_json(exclude_none=True),
        status=problem.status,
        content_type="application/problem+json",
    )


def _wants_page() -> bool:
    if request.path.startswith(("/api/", "/healthz", "/ogc")):
        return False
    best = request.accept_mimetypes.best_match(["text/html", "application/json"], default="text/html")
    return best == "text/html"


def _http_error(error: HTTPException) -> Response:
    status = error.code or 500
    response = problem_response(Problem(title=error.name, status=status, detail=error.description))
    headers = dict(error.get_headers(request.environ))
    for name in ("Allow", "Retry-After", "Location"):
        if name in headers:
            response.headers[name] = headers[name]
    return response


def _sightline_error(error: SightlineError) -> Response:
    status = getattr(error, "status", 400)
    problems = getattr(error, "as_dicts", lambda: None)()
    response = problem_response(
        Problem(
            title=getattr(error, "title", "This cannot be done as asked"),
            status=status,
            detail=error.message,
            remedy=error.remedy or None,
            problems=problems,
            answer=exact(getattr(error, "answer", None)),
            steps=exact(getattr(error, "steps", None)),
            between=getattr(error, "between", None),
        )
    )
    if hasattr(error, "retry_after"):
        response.headers["Retry-After"] = str(error.retry_after)
    return response


PASSING = 503
"""Of what passes by itself; whoever is told so is told when to ask again."""


def _database_error(error: sa.exc.DBAPIError | psycopg.Error) -> Response:
    """What the database refused, told as what it is; what it should not have refused is our fault."""
    budget = current()
    ended = budget.ended() if budget else None
    if ended is not None:
        return _sightline_error(ended)
    said, refused = cause(error), refusal(error)
    if refused is None and not isinstance(said, psycopg.OperationalError):
        return _unexpected(error)
    log.error(
        "database: %s %s", (said and said.sqlstate) or "", said, extra={"request_id": g.get("request_id")}
    )
    told = AWAY
    if refused is not None:
        told = Problem(
            title="The database refuses this",
            status=refused.status,
            detail=refused.message,
            remedy=refused.remedy,
        )
    response = problem_response(told)
    if told.status == PASSING:
        response.headers["Retry-After"] = "1"
    return response


def _unexpected(error: Exception) -> Response:
    log.exception("unexpected error", extra={"request_id": g.get("request_id")})
    page = InternalServerError()
    return problem_response(
        Problem(
            title=page.name,
            status=500,
            detail="This is a fault of Sightline, not of your request; the log has the details.",
        )
    )


def _invalid_request(error: ValidationError) -> Response:
    problems = [
        {"place": ".".join(str(part) for part in item["loc"]), "message": item["msg"]}
        for item in error.errors()
    ]
    detail = "; ".join(f"{item['place']}: {item['message']}" for item in problems)
    return problem_response(
        Problem(
            title="The request does not have the right form", status=422, detail=detail, problems=problems
        )
    )
