"""Any moment of a campaign as a position of a game, so that sight, reach and range can be asked of it.

found = moment_position(connection, "guam-1944", moment)
save_moment(connection, found, "guam-w-day")
"""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.chronicle import find_campaign
from db.inventory import no_map
from db.maps import Map
from db.positions import Position
from importers.archive.times import read_zone
from importers.cases import read_position, store_position
from importers.positions import PositionError, written

Tree = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class MomentPosition:
    """A moment as a position file would have it, and what could not be told in it."""

    tree: Tree
    notices: tuple[str, ...]

    @property
    def text(self) -> str:
        return written(self.tree)


def moment_position(
    connection: Connection,
    name: str,
    moment: datetime.datetime,
    *,
    map: str | None = None,
    account: str | None = None,
    known: datetime.datetime | None = None,
) -> MomentPosition:
    """The forces that have counters of the map's game, in the hexes where they stood."""
    campaign = find_campaign(connection, name)
    board = _board(connection, campaign, map)
    rows = connection.execute(
        sa.text(
            "select * from archive.standing(:campaign, :moment, :map, :account, cast(:known as timestamptz))"
        ),
        {"campaign": campaign.id, "moment": moment, "map": board.id, "account": account, "known": known},
    ).all()
    units: list[Tree] = []
    notices: list[str] = []
    for row in rows:
        if row.counter is None:
            notices.append(f"{row.force} has no counter of {board.ruleset}: it is left out")
        elif row.label is None:
            notices.append(f"{row.force} stands on no hex of {board.name}: it is left out")
        else:
            units.append(
                {"id": row.counter.get("id", row.force), "side": row.side, "at": row.label} | row.counter
            )
            if row.accounts > 1:
                notices.append(f"{row.force}: {row.accounts} accounts tell of it; {row.account} is taken")
    local = moment.astimezone(read_zone(campaign.zone))
    tree: Tree = {
        "name": f"{name}-{local:%Y%m%d-%H%M}",
        "title": f"{campaign.title}: {local:%Y-%m-%d %H:%M}",
        "ruleset": board.ruleset,
        "map": board.name,
        "units": units,
    }
    return MomentPosition(tree, tuple(notices))


def save_moment(
    connection: Connection, found: MomentPosition, name: str | None = None, *, replace: bool = False
) -> str:
    """Save a moment as a position that every question can be put to; gives back its name."""
    tree = found.tree | ({"name": name} if name else {})
    there = connection.scalar(sa.select(Position.id).where(Position.name == tree["name"]))
    if there is not None and not replace:
        raise PositionError(
            f"There is a position {tree['name']!r} already.",
            "Replace it (--replace), or give this one another name.",
        )
    with connection.begin_nested():
        if there is not None:
            connection.execute(sa.delete(Position).where(Position.id == there))
        store_position(connection, read_position(written(tree), tree["name"], connection))
    saved: str = tree["name"]
    return saved


def _board(connection: Connection, campaign: Any, name: str | None) -> Any:
    wanted = name or campaign.map
    if wanted is None:
        raise SightlineError(f"The campaign {campaign.name} has no map.", "Name one that is georeferenced.")
    found = connection.execute(
        sa.select(Map.id, Map.name, Map.ruleset, Map.srid).where(Map.name == wanted)
    ).one_or_none()
    if found is None:
        raise no_map(connection, wanted)
    if found.srid is None and found.id != campaign.map_id:
        raise SightlineError(
            f"The map {wanted} is not georeferenced: nobody knows where its hexes lie.",
            "Place it by control points: `sightline maps georeference`.",
        )
    return found
