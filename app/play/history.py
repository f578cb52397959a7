"""A game beside the campaign that it plays: its turns beside the chronicle's days, its counters beside where the forces stood."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.engine import Connection

from app.play.log import event_tree, moment
from app.play.story import turns
from app.play.tables import Table, open_game
from app.play.views import View
from db import SightlineError
from db.chronicle import Told, Wanted, entries, find_campaign
from db.games import OBSERVER
from db.labels import Axial, Scheme
from db.maps import Map
from db.positions import Position

MOST = 200


@dataclasses.dataclass(frozen=True)
class Gap:
    """A force that the game has elsewhere than history, or no more."""

    force: str
    name: str
    history: str
    game: str | None
    """Its hex in the game; None where it is not on the map."""
    hexes: int | None


@dataclasses.dataclass(frozen=True)
class Side:
    """A turn of the game and what happened in its time."""

    turn: str
    first: int
    last: int
    begins: datetime.datetime
    ends: datetime.datetime
    told: list[Told]
    gaps: tuple[Gap, ...]
    left: bool
    """Whether the game has left history in this turn or before: a force is farther off than it may be."""


def beside(
    connection: Connection, campaign: str, game: str, *, hours: int = 24, hexes: int = 2
) -> list[Side]:
    """The turns of a game, each of so many hours, from the beginning of a campaign.

    A game has left history from the first turn on at whose end a force that has a counter in it stands
    more than so many hexes from where an account has it. What nobody may see in the game is not compared.
    """
    found = find_campaign(connection, campaign)
    table = open_game(connection, game)
    board = connection.execute(
        sa.select(Map.id, Map.scheme)
        .join(Position, Position.map_id == Map.id)
        .where(Position.id == table.position_id)
    ).one()
    if found.span.lower is None:
        raise SightlineError(f"The campaign {campaign} has no beginning.", "Give its span one.")
    scheme = Scheme.model_validate(board.scheme)
    sides: list[Side] = []
    left, at = False, found.span.lower
    for turn in turns(connection, table):
        ends = at + datetime.timedelta(hours=hours if turn.title.isdigit() else 0)
        units = _units(connection, table, scheme, turn.last)
        begun = ends > at and not _setting_up(connection, table, turn.last)
        gaps = tuple(_gaps(connection, found.id, board.id, scheme, ends, units)) if begun else ()
        left = left or any(gap.hexes is None or gap.hexes > hexes for gap in gaps)
        during = Wanted(during=Range(at, ends, bounds="[)"))
        told = entries(connection, found.id, during, MOST) if ends > at else []
        sides.append(Side(turn.title, turn.first, turn.last, at, ends, told, gaps, left))
        at = ends
    return sides


def _setting_up(connection: Connection, table: Table, number: int) -> bool:
    """Whether the counters were still being placed at an event: nobody has left anything yet."""
    return bool(event_tree(connection, table, number).get("phase", {}).get("phase") == "set_up")


def _units(connection: Connection, table: Table, scheme: Scheme, number: int) -> dict[str, Axial | None]:
    """Where every counter that an observer sees stands after an event."""
    tree = View(table.ruleset, OBSERVER).position(moment(connection, table, number))
    units = tree["units"]
    rows = units.items() if isinstance(units, Mapping) else ((unit["id"], unit) for unit in units)
    return {code: scheme.hex(unit["at"]) if unit.get("at") else None for code, unit in rows}


def _gaps(
    connection: Connection,
    campaign_id: int,
    map_id: int,
    scheme: Scheme,
    ends: datetime.datetime,
    units: Mapping[str, Axial | None],
) -> list[Gap]:
    rows = connection.execute(
        sa.text("select * from archive.standing(:campaign, :moment, :map)"),
        # the last moment that still belongs to the turn
        {"campaign": campaign_id, "moment": ends - datetime.timedelta(seconds=1), "map": map_id},
    ).all()
    found: list[Gap] = []
    for row in rows:
        code: Any = (row.counter or {}).get("id")
        if row.label is None or code not in units:
            continue
        place = units[code]
        away = None if place is None else place.distance(scheme.hex(row.label))
        if away != 0:
            found.append(
                Gap(row.force, row.name, row.label, None if place is None else scheme.label(place), away)
            )
    return found
