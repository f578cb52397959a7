"""Maps and positions in and out in the browser: sent with the same report of mistakes, downloaded, deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.web.site import database, engine
from app.web.uploads import ENDINGS, TYPES, map_in, map_out, position_in, position_out
from db import SightlineError
from importers.documents import Problems
from importers.maps import ImportReport, delete_map
from importers.positions import PositionReport, delete_position

pages = Blueprint("files", __name__)


@pages.get("/upload")
def upload() -> str:
    """The forms to send a map or a position."""
    return _forms()


@pages.post("/upload/map")
def upload_map() -> AnyResponse | tuple[str, int]:
    """Bring a map in; what is wrong with the file is told, all of it."""
    name = request.form.get("name", "").strip() or None
    return _taken("map", lambda content, file, replace: map_in(content, file, name, replace=replace))


@pages.post("/upload/position")
def upload_position() -> AnyResponse | tuple[str, int]:
    """Bring a position in."""
    return _taken("position", lambda content, file, replace: position_in(content, file, replace=replace))


def _taken(
    kind: str, gate: Callable[[bytes, str, bool], ImportReport | PositionReport]
) -> AnyResponse | tuple[str, int]:
    """A page with what was brought in, or with every mistake."""
    file = request.files.get("file")
    try:
        if file is None or not file.filename:
            raise SightlineError("No file was chosen.", "Choose one and send it again.")
        report = gate(file.stream.read(), file.filename, "replace" in request.form)
    except SightlineError as error:
        status = 422 if isinstance(error, Problems) else getattr(error, "status", 400)
        return _forms(wrong=error, kind=kind, file=file.filename if file else ""), status
    return Response(_forms(report=report, kind=kind), content_type="text/html; charset=utf-8")


def _forms(**told: Any) -> str:
    wrong = told.get("wrong")
    problems = wrong.sorted() if isinstance(wrong, Problems) else None
    return render_template("maps/upload.html", endings=ENDINGS, **{"problems": problems, **told})


@pages.get("/maps/<name>/files/<ending>")
def map_file(name: str, ending: str) -> AnyResponse:
    """A map as a file."""
    return _file(map_out(database(), name, ending), name, ending)


@pages.get("/positions/<name>/files/<ending>")
def position_file(name: str, ending: str) -> AnyResponse:
    """A position as a file."""
    return _file(position_out(database(), name, ending), name, ending)


def _file(content: bytes, name: str, ending: str) -> AnyResponse:
    response = Response(content, content_type=TYPES[ending])
    response.headers["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    return response


@pages.post("/maps/<name>/delete")
def remove_map(name: str) -> AnyResponse:
    """Delete a map on which nothing stands; its name must be typed."""
    _confirmed(name)
    with engine().begin() as connection:
        delete_map(connection, name)
    return redirect(url_for("maps.map_list"), code=303)


@pages.post("/positions/<name>/delete")
def remove_position(name: str) -> AnyResponse:
    """Delete a position; its name must be typed."""
    _confirmed(name)
    with engine().begin() as connection:
        delete_position(connection, name)
    return redirect(url_for("maps.position_list"), code=303)


def _confirmed(name: str) -> None:
    if request.form.get("confirm", "").strip() != name:
        raise SightlineError(f"{name!r} was not deleted.", "Type its name into the field to confirm.")
