"""The guard at the door: who may ask, in which form, and how much one request may cost.

Whatever is checked here is checked for every route, so that a new one cannot be forgotten.
"""

from __future__ import annotations

import contextlib
import io
import threading
import time
from collections.abc import Iterator
from typing import IO
from urllib.parse import urlsplit

from flask import Flask, Request, Response, g, request
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.formparser import FormDataParser

from db import SightlineError
from db.budget import Budget, TooMuchError, within
from db.settings import LOOPBACK, Settings

READS = ("GET", "HEAD", "OPTIONS")
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
"""What a page's own form sends; no program needs it at the API."""
DOCUMENTS = (
    "application/json",
    "application/yaml",
    "application/x-yaml",
    "text/json",
    "text/x-yaml",
    "text/yaml",
)
"""What the API reads. A page of another site cannot send one of these without asking first."""
RECORD = "application/vnd.sightline.record"
"""A record of a game, which is a text of its own form."""
HEALTH, HEALTH_SECONDS = "/healthz", 2.0
"""Whoever asks for health is told soon, also that nothing can be told."""
WATCH_SECONDS = 0.2
"""How often somebody looks whether a request has had its time."""
MOST = {
    "hexes of a map": 20_000,
    "questions": 300,
    # each takes some 300 bytes while a document is read
    "values of a document": 400_000,
}
"""What one request may have of each thing."""
MOST_FIELDS = 1_000
"""Of a form: as many parts as a form with files may have."""
MOST_BYTES = 64 * 1024 * 1024
"""Of an answer that is not sent piece by piece."""
HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Origin-Agent-Cluster": "?1",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class UnknownNameError(SightlineError):
    """A request for a host that this server is not."""

    status = 421


class OtherSiteError(SightlineError):
    """A request that a page of another site made."""

    status = 403


class UnknownFormError(SightlineError):
    """A document of a kind that is not read here."""

    status = 415


class TooManyFieldsError(SightlineError):
    """A form with more fields than any page has."""

    status = 413


class FullError(SightlineError):
    """More requests wait than the server takes on."""

    status = 429
    retry_after = 1


def protect(web: Flask, settings: Settings) -> None:
    """Have every request of an app pass the guard."""
    watch = Watch()

    def admit() -> None:
        refuse_when_full()
        refuse_other_names(settings)
        refuse_other_sites()
        refuse_other_forms()
        left = request.environ.get("waitress.client_disconnected", lambda: False)
        seconds = settings.request_seconds
        g.budget = Budget(min(seconds, HEALTH_SECONDS) if request.path == HEALTH else seconds, MOST, left)
        g.spending = contextlib.ExitStack()
        g.spending.enter_context(watch.over(g.budget))
        g.spending.enter_context(within(g.budget))

    def dismiss(_: BaseException | None) -> None:
        spending: contextlib.ExitStack | None = g.pop("spending", None)
        if spending is not None:
            spending.close()

    web.request_class = GuardedRequest
    web.before_request(admit)
    web.teardown_request(dismiss)


class FieldsParser(FormDataParser):
    """Reads a page's form, and counts its fields before it makes anything of them."""

    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> tuple[IO[bytes], MultiDict[str, str], MultiDict[str, FileStorage]]:
        if mimetype == FORMS[0]:
            sent = stream.read()
            if sent.count(b"&") >= MOST_FIELDS:
                raise TooManyFieldsError(f"A form has at most {MOST_FIELDS:,} fields.")
            stream = io.BytesIO(sent)
        return super().parse(stream, mimetype, content_length, options)


class GuardedRequest(Request):
    """A request whose forms are read with care."""

    form_data_parser_class = FieldsParser


def refuse_when_full() -> None:
    """The lane of this request is full: see `app.web.lanes`."""
    if request.environ.get(FULL):
        raise FullError("The server has more to do than it takes on.", "Ask again in a moment.")


FULL = "HTTP_X_SIGHTLINE_FULL"
"""How a lane tells that it is full; whoever sends this header is refused as well."""


def refuse_other_names(settings: Settings) -> None:
    """Answer only to names that are ours: else a page elsewhere, whose name was bent to loopback, could read us."""
    host = request.host.lower()
    asked = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if asked not in (*LOOPBACK, *settings.host_names):
        raise UnknownNameError(
            f"This server is not called {asked[:80]!r}.",
            "Ask for localhost or 127.0.0.1; a name that a reverse proxy passes on belongs into the setting `names`.",
        )


def refuse_other_sites() -> None:
    """Refuse what a page of another site sends or embeds; a link that somebody follows is welcome.

    A browser tells whose page it was (`Sec-Fetch-Site`; an old one `Origin`, when something is sent). A program that
    is no browser tells neither, and no web page can make it ask.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site in ("same-origin", "none"):
        return
    if site is None:
        origin = request.headers.get("Origin")
        if origin is None or urlsplit(origin).netloc.lower() == request.host.lower():
            return
    elif _followed_link():
        return
    raise OtherSiteError(
        "This was sent by a page of another site.",
        "Open Sightline's own page, or ask with a program of yours.",
    )


def _followed_link() -> bool:
    """Whether somebody follows a link: a page of its own, not a picture, a frame or a script in another's."""
    seen = request.headers.get("Sec-Fetch-Dest") in ("document", None)
    return request.method in ("GET", "HEAD") and request.headers.get("Sec-Fetch-Mode") == "navigate" and seen


def refuse_other_forms() -> None:
    """The API reads JSON and YAML, a page its own forms: nothing that a page elsewhere may send unasked."""
    if request.method in READS or not (request.content_length or request.headers.get("Transfer-Encoding")):
        return
    at_api = request.path.startswith("/api/")
    known = (*DOCUMENTS, RECORD) if at_api else FORMS
    if request.mimetype in known or (at_api and request.mimetype.endswith("+json")):
        return
    raise UnknownFormError(
        f"{request.mimetype[:80] or 'A document without a Content-Type'!r} is not read here.",
        f"Send it as {known[0]} or {known[1]}.",
    )


def too_large(response: Response) -> SightlineError | None:
    """What is wrong with an answer that is larger than anybody can use."""
    size = None if response.is_streamed else response.calculate_content_length()
    if size is None or size <= MOST_BYTES:
        return None
    return TooMuchError(
        f"The answer has {size:,} bytes; one may have {MOST_BYTES:,}.", "Ask for a part of it at a time."
    )


class Watch:
    """Looks after requests in progress: ends the statements of one that has had its time or that nobody waits for."""

    def __init__(self) -> None:
        self._budgets: set[Budget] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def over(self, budget: Budget) -> Iterator[None]:
        """Look after a request in this block."""
        with self._changed:
            self._budgets.add(budget)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="watch", daemon=True)
                self._thread.start()
            self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._budgets.discard(budget)

    def _look(self) -> None:
        while True:
            with self._changed:
                while not self._budgets:
                    self._changed.wait()
                budgets = list(self._budgets)
            for budget in budgets:
                if budget.ended() is not None:
                    budget.end_statements()
            time.sleep(WATCH_SECONDS)
