"""The home page: what Sightline can do, shown on the demo, and what is loaded."""

from __future__ import annotations

import dataclasses
from typing import Any

from flask import Blueprint, render_template, url_for
from sqlalchemy.engine import Connection

from app.referee.boards import open_board
from app.web.proof import drawing, proof
from app.web.site import database
from db import inventory, reference
from db.contents import ruleset_contents

pages = Blueprint("home", __name__)
NAVIGATION = [(90, "API", "swagger.swagger")]

ASKED_IN_WORDS = "can I fire out of a barrage"
HITS = 3
STEPS = 4
"""Of a proof that are shown at once here."""


@dataclasses.dataclass(frozen=True)
class Live:
    """A question that the home page puts to a position of the demo."""

    heading: str
    board: str
    kind: str
    arguments: dict[str, Any]


SIGHT = Live("Who sees whom?", "lipata-landing", "los", {"from": "A/1/31", "to": "14.12"})
REACH = Live("Where can it go?", "lipata-landing", "reach", {"unit": "C/1/31"})
FAN = Live("What can be seen from here?", "lipata-landing", "fan", {"from": "A/7 Tank", "range": 5})


@pages.get("/")
def home() -> str:
    """A living map to ask, three doors, three questions answered, and what this database holds."""
    there = {entry.name for entry in inventory.positions(database())}
    return render_template(
        "home.html",
        living=_answered(database(), SIGHT, living=True) if SIGHT.board in there else None,
        examples=[_answered(database(), live) for live in (REACH, FAN) if live.board in there],
        asked=ASKED_IN_WORDS,
        hits=reference.search(database(), ASKED_IN_WORDS, limit=HITS).hits,
        rulesets=ruleset_contents(database()),
    )


def _answered(connection: Connection, live: Live, *, living: bool = False) -> dict[str, Any]:
    board = open_board(connection, live.board, "position")
    answer = board.ask(connection, {live.kind: live.arguments})
    return {
        "heading": live.heading,
        "proof": proof(answer.ruling, connection, anchor=live.kind, steps=STEPS),
        "drawing": drawing(answer.ruling, board.position(connection), connection, living=living),
        "page": url_for("maps.position_board", name=live.board),
        "address": url_for("maps.position_board", name=live.board, tool=live.kind, **live.arguments),
    }
