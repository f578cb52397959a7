"""One search over everything: rules, cases, rulings, maps, positions, hexes, places, units, games, notes and campaigns."""

from __future__ import annotations

from flask import Blueprint, render_template, request

from app.referee.saved import Wanted, saved_rulings
from app.web.pages.rulings import summary
from app.web.site import database
from db import finding, inventory, reference, suite
from db.inventory import MapEntry, PositionEntry

pages = Blueprint("search", __name__)

LONGEST = 400
RULES = 8
CASES = 8
RULINGS = 5
"""Found things of a kind that are shown here; their own pages have all."""


@pages.get("/search")
def search() -> str:
    """What answers to some words, by kind, with how many there are of each."""
    words = request.args.get("q", "").replace("\0", " ").strip()[:LONGEST]
    if not words:
        return render_template("search.html", words="")
    connection = database()
    total, rulings = saved_rulings(connection, Wanted(text=words), 1, RULINGS)
    cases = suite.answering(words)
    return render_template(
        "search.html",
        words=words,
        answer=reference.search(connection, words, limit=RULES),
        maps=[entry for entry in inventory.maps(connection) if _answers(entry, words)],
        positions=[entry for entry in inventory.positions(connection) if _answers(entry, words)],
        hexes=finding.hexes(connection, words),
        places=finding.places(connection, words),
        units=finding.units(connection, words),
        games=finding.games(connection, words),
        notes=finding.notes(connection, words),
        campaigns=finding.campaigns(connection, words),
        entries=finding.entries(connection, words),
        forces=finding.forces(connection, words),
        cases=cases[:CASES],
        cases_total=len(cases),
        rulings=[summary(row) for row in rulings],
        total=total,
    )


def _answers(entry: MapEntry | PositionEntry, words: str) -> bool:
    """Whether every word stands in what an entry is called."""
    called = f"{entry.name} {entry.title} {entry.ruleset} {getattr(entry, 'map', '')}".casefold()
    return all(word in called for word in words.casefold().split())
