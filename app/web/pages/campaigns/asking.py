"""Asking a campaign: a moment becomes a position, and a game is laid beside what happened."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.play.history import beside
from app.play.tables import games
from app.referee.moments import moment_position, save_moment
from app.web.pages.campaigns.view import pages, read_view, told_entry, whole_number
from app.web.site import database, engine
from db import SightlineError, chronicle


@pages.post("/<name>/position")
def ask_moment(name: str) -> AnyResponse:
    """Make a moment a position that every question can be put to, and go there."""
    view = read_view(name)
    with engine().begin() as connection:
        found = moment_position(connection, name, view.moment, map=request.form.get("map") or None)
        if not found.tree["units"]:
            raise SightlineError(
                "No force that stands there then has a counter of this map's game.",
                "Tell counters with the forces, or choose another moment.",
            )
        saved = save_moment(connection, found, replace=True)
    return redirect(url_for("maps.position_board", name=saved), code=303)


@pages.get("/<name>/game")
def game_beside(name: str) -> str:
    """A game's turns beside what happened: where it left history."""
    view = read_view(name)
    game = request.args.get("game", "")
    sides = beside(database(), name, game, hours=whole_number("hours", 24, 24 * 31)) if game else []
    forces = chronicle.forces(database(), view.campaign.id)
    told = [{"side": side, "entries": [told_entry(row, view, forces) for row in side.told]} for side in sides]
    first = next((side for side in sides if side.left), None)
    return render_template(
        "campaigns/game.html", view=view, campaign=view.campaign, game=game, sides=told, first=first,
        games=[entry.name for entry in games(database())],
    )  # fmt: skip
