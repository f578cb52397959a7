"""Measuring games: an action written down, a moment of a long game found, a whole log applied again."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play.dice import read_seed
from app.play.games import act, new_game
from app.play.log import Deed, moment
from app.play.tables import Table, open_game
from db.database import fetched
from tests.bench import BenchError, Measure

POSITION = "tanaro-assault"
EVENTS = 10_000
GAMES = 10_000
REPLAYED = 2_000
MANY = """
with started as (
  insert into position (map_id, ruleset, conditions)
  select position.map_id, position.ruleset, position.conditions
  from position cross join generate_series(1, :games)
  where position.id = :position
  returning id
)
insert into game (name, ruleset, position_id, dice)
select 'bench-' || started.id, 'fpb', started.id, 'typed' from started
"""


def measure_games(engine: Engine, times: int, say: Callable[[str], None]) -> list[Measure]:
    """Every action in a transaction of its own; what the commit costs is the disk's, and told apart. All is undone."""
    with engine.connect() as connection, _cleared(connection):
        connection.execute(sa.text("set synchronous_commit = off"))
        position = connection.scalar(
            sa.text("select id from position where name = :name"), {"name": POSITION}
        )
        if position is None:
            raise BenchError(f"There is no position {POSITION!r}.", "Load the demo: ./sightline demo load.")
        table = new_game(connection, "bench-long", position, seed=read_seed("bench"))
        short = new_game(connection, "bench-short", position, seed=read_seed("bench"))
        query = sa.text("select label from hex where map_id = :map")
        labels = list(connection.scalars(query, {"map": table.map_id}))
        connection.commit()
        dice = random.Random(1)
        say(f"games: {EVENTS:,} events")
        _play(connection, table, dice, labels, EVENTS)
        _play(connection, short, dice, labels, REPLAYED)
        connection.execute(sa.text("set synchronous_commit = on"))
        connection.commit()
        measures = _measured(connection, "a game of 10,000 events", dice, labels, times)
        say(f"games: replay of {REPLAYED:,} events")
        started = time.perf_counter()
        fetched(connection, "select count(*) from games.replay(:game)", {"game": short.id})
        rate = REPLAYED / (time.perf_counter() - started)
        connection.rollback()
        measures.append(
            Measure("replay, an event", 1000 / rate, "events a second", rate, "≥ 300", rate >= 300)
        )
        say(f"games: {GAMES:,} games more")
        connection.execute(sa.text(MANY), {"games": GAMES, "position": position})
        # as the server does by itself within a minute
        connection.execute(sa.text("analyze game, position"))
        connection.commit()
        return measures + _measured(connection, "beside 10,000 games", dice, labels, times)


@contextmanager
def _cleared(connection: Connection) -> Iterator[None]:
    """Games of an interrupted run are taken away before, those of this run after it."""
    _clear(connection)
    try:
        yield
    finally:
        connection.rollback()
        _clear(connection)


def _clear(connection: Connection) -> None:
    gone = sa.text("delete from game where name like 'bench-%' returning position_id")
    positions = list(connection.scalars(gone))
    connection.execute(sa.text("delete from position where id = any(:gone)"), {"gone": positions})
    connection.commit()


def _measured(
    connection: Connection, where: str, dice: random.Random, labels: list[str], times: int
) -> list[Measure]:
    """In turn, so that a noisy moment of the machine falls on all of them."""
    table = open_game(connection, "bench-long")
    asked: dict[str, Callable[[], object]] = {
        "SELECT 1": lambda: fetched(connection, "select 1", {}),
        "an action written down": lambda: _write(connection, table, dice, labels),
        "an action entered by hand, all in all": lambda: act(connection, "bench-long", _march(dice, labels)),
        "the position at any event": lambda: moment(connection, table, dice.randint(1, table.events)),
    }
    taken: dict[str, list[float]] = {name: [] for name in (*asked, "the commit of it")}
    for n in range(times + 5):
        for name, ask in asked.items():
            started = time.perf_counter()
            ask()
            asked_for = time.perf_counter()
            connection.commit()
            if n >= 5:
                taken[name].append(asked_for - started)
                if name == "an action written down":
                    taken["the commit of it"].append(time.perf_counter() - asked_for)
    medians = {name: 1000 * statistics.median(found) for name, found in taken.items()}
    one = medians.pop("SELECT 1")
    targets = {"an action written down": 5, "the position at any event": 50}
    return [
        Measure(f"{where}: SELECT 1", one),
        *(
            Measure(
                f"{where}: {name}",
                found,
                "SELECT 1",
                found / one,
                f"≤ {targets[name]}" if name in targets else "",
                found / one <= targets[name] if name in targets else None,
            )
            for name, found in medians.items()
        ),
    ]


def _march(dice: random.Random, labels: list[str]) -> Deed:
    effects = [{"unit": "1/161", "at": dice.choice(labels)}]
    return Deed("set", {"effects": effects}, "referee", note="a march")


APPEND = "select number from games.append(:game, :told)"


def _write(connection: Connection, table: Table, dice: random.Random, labels: list[str]) -> None:
    """Just what an action costs beyond its rulings: its changes, its event, its digests."""
    change = {"unit": "1/161", "set": {"at": dice.choice(labels)}}
    told = {"actor": "us", "action": "move", "ruleset_version": "bench", "changes": [change]}
    fetched(connection, APPEND, {"game": table.id, "told": told})


def _play(connection: Connection, table: Table, dice: random.Random, labels: list[str], events: int) -> None:
    for _ in range(events):
        _write(connection, table, dice, labels)
        connection.commit()
