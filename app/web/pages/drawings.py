"""`/drawing.css`: the stylesheet that turns drawn maps dark, written from the palette."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.drawing.palette import stylesheet

pages = Blueprint("drawings", __name__)


@pages.get("/drawing.css")
def drawing_css() -> Response:
    response = Response(stylesheet(), mimetype="text/css")
    response.cache_control.no_cache = True
    response.add_etag()
    response.make_conditional(request)
    return response
