"""Whether a game is what its log says: every digest, every roll, every position, derived again."""

from __future__ import annotations

import dataclasses
from typing import Any

from sqlalchemy.engine import Connection

from app.play.dice import SERVER, commitment, drawn, rolled
from app.play.procedures import Roll
from app.play.tables import Table, Tree
from db.database import fetched, undone


@dataclasses.dataclass(frozen=True)
class Verification:
    """What was found."""

    game: str
    events: int
    rolls: int
    """Rolls and draws of the server, derived again."""
    seed: str
    """`opened`, `sealed` or `none`."""
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        return not self.problems

    def as_dict(self) -> Tree:
        return dataclasses.asdict(self) | {"ok": self.ok, "problems": list(self.problems)}


def verify(connection: Connection, table: Table) -> Verification:
    """Derive everything again: numbers, the chain of digests, positions, and where the seed is open the dice."""
    events = fetched(
        connection,
        "select number, action, arguments, rolls, draws, previous, digest, position_digest from event"
        " where game_id = :game order by number",
        {"game": table.id},
    )
    problems = list(_chain(events, table)) + list(_replayed(connection, table, events))
    seed = table.seed if table.opened else None
    rolls = 0
    if seed is not None:
        published = events[0].arguments.get("seed_sha256") if events else None
        if commitment(seed) != published:
            problems.append("the seed is not the one whose digest was published in event 1")
        for event in events:
            chances = (*event.rolls, *event.draws)
            rolls += sum(chance["from"].startswith(SERVER) for chance in chances if "from" in chance)
            problems += _dice(event, seed)
    return Verification(
        table.name,
        len(events),
        rolls,
        "opened" if seed else "sealed" if table.seed else "none",
        tuple(problems),
    )


def _chain(events: list[Any], table: Table) -> list[str]:
    problems = []
    before = ""
    for n, event in enumerate(events, 1):
        if event.number != n:
            problems.append(f"event {n} is missing")
            break
        if event.previous != before:
            problems.append(f"event {n} does not follow event {n - 1}: it names another digest")
        before = event.digest
    if table.events != len(events) or table.digest != before:
        problems.append(
            f"the game's last event is told as {table.events}, and its log ends with {len(events)}"
        )
    return problems


def _replayed(connection: Connection, table: Table, events: list[Any]) -> list[str]:
    """Every event applied again to the first position."""
    with undone(connection):
        rows = fetched(connection, "select * from games.replay(:game)", {"game": table.id})
    problems = []
    for event, row in zip(events, rows, strict=True):
        if event.digest != row.digest:
            problems.append(f"event {event.number} was changed: its digest is not that of what it says")
        if event.position_digest != row.position_digest:
            problems.append(f"event {event.number} does not lead to the position that it tells")
    [now] = fetched(connection, "select games.digest(:id) as digest", {"id": table.position_id})
    if rows and now.digest != rows[-1].position_digest:
        problems.append("the position on the table is not the one that the log leads to")
    return problems


def _dice(event: Any, seed: bytes) -> list[str]:
    problems = []
    for place, roll in enumerate(event.rolls):
        source, _, number = roll.get("from", "").partition(" ")
        if source != SERVER:
            continue
        want = Roll(roll["roll"], roll["for"], roll.get("lowest", 1))
        if rolled(want, seed, int(number), place) != roll["value"]:
            problems.append(f"roll {place + 1} of event {event.number} is not what the seed gives")
    for place, draw in enumerate(event.draws):
        source, _, number = draw.get("from", "").partition(" ")
        if source == SERVER and drawn(draw["of"], seed, int(number), place) + 1 != draw["nth"]:
            problems.append(f"draw {place + 1} of event {event.number} is not what the seed gives")
    return problems
