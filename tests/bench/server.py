"""The web app as `sightline serve` serves it, with one page more that asks nobody: `python -m tests.bench.server`."""

from __future__ import annotations

import logging
import sys

import flask
import waitress
from flask import Response
from sqlalchemy.engine import make_url

from app.drawing.ground import GROUNDS
from app.web.site import ANSWERS, create_app
from db.database import make_engine
from db.settings import LOOPBACK, Settings

CONSTANT = "/api/bench/constant"
"""What it answers costs the server and nothing else."""
FORGET = "X-Bench-Forget: 1"
"""A header with which a request is answered anew, whatever is kept."""


def serve(url: str, port: int, threads: int) -> None:
    """Serve on loopback until the process is ended."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    settings = Settings(log_level="error", port=port, threads=threads)
    web = create_app(settings, make_engine(make_url(url), pool_size=threads))

    def constant() -> Response:
        return flask.jsonify({"answer": {"visible": False}, "steps": []})

    def forget() -> None:
        if flask.request.headers.get(FORGET.partition(":")[0]):
            ANSWERS.clear()
            GROUNDS.clear()

    web.before_request(forget)
    web.add_url_rule(CONSTANT, "constant", constant, methods=["POST"])
    waitress.serve(web, host=LOOPBACK[0], port=port, threads=threads, ident=None, _quiet=True)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
