"""A survey: what every hex and unit of a map or position sees, found out ahead of need.

Viewsheds are kept by the database until something near them is edited; whoever asks first waits
for them. A survey has all of them found out, many at once, a transaction for each batch. What it has found so far
stays when it is stopped: at most a batch is lost.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator

from sqlalchemy.engine import Connection

from app.referee.boards import Board
from app.referee.questions import kinds_of
from db import SightlineError
from db.database import fetched
from db.rulesets import read_ruleset

FEWEST = {"css": 1000, "ccp": 8, "bob": 8, "ddp": 8}
"""Viewers of a batch, at least. css looks for all of them at once, which takes about as long for few as for many."""
MOST = 2000
"""What is found in a batch is held in memory until it is written."""
SECONDS = 0.5
"""About how long a batch takes: who edits the map waits as long, and as much is lost where a survey is stopped."""


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
    """Find out what everybody on a board sees, in batches; `tick` tells how far it is.

    The connection is in autocommit, so that a batch is a transaction.
    """
    if "fan" not in kinds_of(board.ruleset):
        raise SurveyError(
            f"{board.ruleset} has no line of sight, so there is nothing to survey on {board.name}.",
            "Survey a map or position of css, ccp, bob or ddp.",
        )
    started = time.perf_counter()
    viewers = _viewers(connection, board, units_only)
    before = _kept(connection, board)
    seen = done = 0
    tick(done, len(viewers))
    for batch in _batches(viewers, FEWEST[board.ruleset]):
        seen += _look(connection, board, batch)
        if not reasons:
            done += len(batch)
            tick(done, len(viewers))
            continue
        for viewer in batch:
            _tell(connection, board, viewer)
            done += 1
            tick(done, len(viewers))
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


def _batches(viewers: list[str], fewest: int) -> Iterator[list[str]]:
    """The viewers in batches, each as large as the time that the one before took tells it to be."""
    done, size = 0, fewest
    while done < len(viewers):
        batch = viewers[done : done + size]
        started = time.perf_counter()
        yield batch
        taken = time.perf_counter() - started
        done += len(batch)
        size = max(fewest, min(MOST, round(len(batch) * SECONDS / taken)))


def _viewers(connection: Connection, board: Board, units_only: bool) -> list[str]:
    """The names by which hexes and units are asked about, those near one another in a row."""
    rows = fetched(
        connection,
        "select name from positions.viewers(:position) where is_unit or not :units_only",
        {"position": board.position_id, "units_only": units_only},
    )
    return [row.name for row in rows]


def _look(connection: Connection, board: Board, viewers: list[str]) -> int:
    """Keep what these see, and tell how many hexes that is."""
    [row] = fetched(
        connection,
        "select seen from positions.survey(:position, :viewers)",
        {"position": board.position_id, "viewers": viewers},
    )
    return int(row.seen)


def _tell(connection: Connection, board: Board, viewer: str) -> None:
    """Keep why one sees no more."""
    values = {"position": board.position_id, "viewer": viewer}
    fetched(connection, "select count(*) from positions.viewshed_reasons(:position, :viewer)", values)


def _kept(connection: Connection, board: Board) -> int:
    query = "select count(*) as kept from viewshed where position_id = :position"
    [row] = fetched(connection, query, {"position": board.position_id})
    return int(row.kept)
