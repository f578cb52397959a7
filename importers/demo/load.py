"""Loading the demo: the maps, positions and campaigns that are kept in `db/demo`."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

import db
from db.chronicle import current_campaign
from db.maps import Map
from db.positions import Position
from importers.archive.campaigns import import_campaign
from importers.map_formats import Progress
from importers.maps import delete_map, import_map
from importers.positions import delete_position, import_position

FOLDER = Path(db.__file__).parent / "demo"
GROUNDS = {"guam-house": Path(db.__file__).parent / "rulesets" / "fpb" / "maps" / "guam.yaml"}
"""Maps that come with a game, and that campaigns of the demo stand on."""
LOCK = 0x51647412
"""Advisory lock: two who load the demo at once take turns."""
Say = Callable[[str], None]


@dataclasses.dataclass(frozen=True)
class DemoReport:
    """What was loaded, and what was there already."""

    maps: tuple[str, ...]
    positions: tuple[str, ...]
    kept: tuple[str, ...]
    hexes: int
    seconds: float
    campaigns: tuple[str, ...] = ()


def load_demo(engine: Engine, say: Say) -> DemoReport | None:
    """Load the demo into a database without any map; where there is one, do nothing."""
    with engine.begin() as connection:
        _take_turns(connection)
        if connection.scalar(sa.select(sa.exists(sa.select(Map.id)))):
            return None
        report = add_demo(connection, say)
    say(f"loaded the demo in {report.seconds:.1f} s")
    return report


def add_demo(
    connection: Connection, say: Say, *, replace: bool = False, progress: Progress | None = None
) -> DemoReport:
    """Load what is missing of the demo, or all of it anew, in the caller's transaction."""
    _take_turns(connection)
    started = time.perf_counter()
    maps, positions = files("maps") | GROUNDS, files("positions")
    if replace:
        _remove(connection, maps, positions)
    new_maps = sorted(maps.keys() - set(_there(connection, Map.name, maps)))
    new_positions = sorted(positions.keys() - set(_there(connection, Position.name, positions)))
    hexes = 0
    for name in new_maps:
        say(f"loading the map {name} …")
        hexes += import_map(connection, maps[name], progress=progress).hexes
    for name in new_positions:
        say(f"loading the position {name} …")
        import_position(connection, positions[name])
    new_campaigns = _add_campaigns(connection, say, replace=replace)
    return DemoReport(
        maps=tuple(new_maps),
        positions=tuple(new_positions),
        kept=tuple(sorted({*maps, *positions} - {*new_maps, *new_positions})),
        hexes=hexes,
        seconds=time.perf_counter() - started,
        campaigns=new_campaigns,
    )


def _add_campaigns(connection: Connection, say: Say, *, replace: bool) -> tuple[str, ...]:
    """What is missing of the campaigns; with `replace` they are brought in line, and old versions stay."""
    found = files("campaigns")
    there = [name for name in found if current_campaign(connection, name) is not None]
    new = [name for name in found if replace or name not in there]
    for name in new:
        say(f"loading the campaign {name} …")
        import_campaign(connection, found[name], replace=replace, who="demo")
    return tuple(new)


def files(kind: str) -> dict[str, Path]:
    """The demo's files of a kind, `maps`, `positions` or `campaigns`; each is called after what is in it."""
    return {path.stem: path for path in sorted((FOLDER / kind).glob("*.yaml"))}


def _take_turns(connection: Connection) -> None:
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))


def _remove(connection: Connection, maps: Collection[str], positions: Collection[str]) -> None:
    """The demo as it is now; a map on which somebody else's position stands is not removed but named."""
    for name in _there(connection, Position.name, positions):
        delete_position(connection, name)
    for name in _there(connection, Map.name, maps):
        delete_map(connection, name)


def _there(connection: Connection, column: Any, names: Collection[str]) -> list[str]:
    return list(connection.scalars(sa.select(column).where(column.in_(names)).order_by(column)))
