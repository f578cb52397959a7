"""A survey: what every hex and unit of a map or position sees, found out ahead of need.

Viewsheds are kept by the database until something near them is edited; whoever asks first waits
for them. A survey asks for all of them. What it has found so far stays when it is stopped.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

from sqlalchemy.engine import Connection

from app.referee.boards import Board
from app.referee.questions import kinds_of
from db import SightlineError
from db.database import fetched
from db.rulesets import read_ruleset


class SurveyError(SightlineError):
    """A board that has nothing to survey."""


@dataclasses.dataclass(frozen=True)
class Survey:
    """What a survey found."""

    board: str
    viewers: int
    """Hexes and units that look."""
    found: int
    """Of them, those whose viewshed was not kept yet."""
    seen: int
    """Hexes seen, all viewers together."""
    seconds: float


def survey(
    connection: Connection,
    board: Board,
    *,
    units_only: bool = False,
    reasons: bool = False,
    tick: Callable[[int, int], None] = lambda done, total: None,
) -> Survey:
    """Find out what everybody on a board sees, each in a transaction of its own; `tick` tells how far it is."""
    if "fan" not in kinds_of(board.ruleset):
        raise SurveyError(
            f"{board.ruleset} has no line of sight, so there is nothing to survey on {board.name}.",
            "Survey a map or position of css, ccp, bob or ddp.",
        )
    started = time.perf_counter()
    viewers = _viewers(connection, board, units_only)
    before = _kept(connection, board)
    seen = 0
    for done, viewer in enumerate(viewers):
        tick(done, len(viewers))
        seen += _look(connection, board, viewer, reasons)
    tick(len(viewers), len(viewers))
    if "fire_zone" in kinds_of(board.ruleset) and board.kind == "position":
        # zones keep what each unit sees as far as it fires
        for side in read_ruleset(board.ruleset).facts.sides:
            fetched(
                connection,
                f"select count(*) from {board.ruleset}.side_zone(:position, :side)",
                {"position": board.position_id, "side": side},
            )
    found = _kept(connection, board) - before
    return Survey(board.name, len(viewers), found, seen, time.perf_counter() - started)


def _viewers(connection: Connection, board: Board, units_only: bool) -> list[str]:
    """The names by which hexes and units are asked about."""
    rows = fetched(
        connection,
        "select name from positions.viewers(:position) where is_unit or not :units_only",
        {"position": board.position_id, "units_only": units_only},
    )
    return [row.name for row in rows]


def _look(connection: Connection, board: Board, viewer: str, reasons: bool) -> int:
    values = {"position": board.position_id, "viewer": viewer}
    [row] = fetched(connection, "select count(*) as seen from positions.viewshed(:position, :viewer)", values)
    if reasons:
        fetched(connection, "select count(*) from positions.viewshed_reasons(:position, :viewer)", values)
    return int(row.seen)


def _kept(connection: Connection, board: Board) -> int:
    query = "select count(*) as kept from viewshed where position_id = :position"
    [row] = fetched(connection, query, {"position": board.position_id})
    return int(row.kept)
