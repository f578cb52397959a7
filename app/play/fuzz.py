"""Random play: legal actions, drawn at random to the end of the game, with every promise of the log checked on the way.

No crash, no dead end (an active side without any legal action), no endless loop; what is done and undone is
nothing; the whole log, applied again, gives the same digests. A game that breaks a promise is told as a record.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

import psycopg
from sqlalchemy.engine import Connection

from app.play.dice import read_seed
from app.play.effects import inverse
from app.play.games import act, new_game
from app.play.log import Deed, Entry
from app.play.procedures import apply
from app.play.records import write_record
from app.play.tables import Table, Tree, open_game, sha256
from app.play.verification import verify
from app.referee.questions import kinds_of
from db import SightlineError
from db.database import fetched, psycopg_connection, spared, undone
from db.games import REFEREE
from db.rulesets import read_ruleset

MOST_ACTIONS = 3_000
"""Of one game: beyond it the game does not end by itself."""
RENEWED = 10
"""After how many actions the rows of the position are written anew, since a game is one transaction here."""
PLANS = "select set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true)"
"""In one long transaction: no question is planned twice, and no table read through all versions of its rows."""
FEW = 2_000
"""Hexes: a database with no more knows little of how large maps are."""
STOCK = "analyze public.hex, public.hexside, public.css_ground, public.unit, public.marker"
"""Of the tables whose plans turn on how much lies in them; their owner alone may take it."""
PATIENCE = "2s"
"""How long a table is waited for: the server's own housekeeping gives way in one, another run of random play does not."""
LEGAL = "legal"
WEIGHED = 0.1
"""How often an action is also ruled on under every other reading that it touches."""
ASKED_FOR_ALL = 0.05
"""How often all legal actions are asked for."""


class BrokenPromiseError(SightlineError):
    """Something that must never happen in a game."""


@dataclasses.dataclass(frozen=True)
class Played:
    """One random game."""

    n: int
    events: int
    actions: Counter[str]
    problem: str | None = None
    record: str | None = None
    """Of a game that broke a promise: its record, as far as it came."""

    def as_dict(self) -> Tree:
        told: Tree = {"game": self.n, "events": self.events, "actions": dict(self.actions)}
        return told if self.problem is None else told | {"problem": self.problem}


Start = Callable[[Connection, str, bytes], Table]
"""Begins a game of that name with that seed."""
Sparing = Callable[[Connection], AbstractContextManager[None]]
"""Keeps what the server refuses from spoiling the transaction."""


def _unspared(_: Connection) -> AbstractContextManager[None]:
    return nullcontext()


def from_position(position_id: int) -> Start:
    """Games that begin from a saved position."""

    def start(connection: Connection, name: str, seed: bytes) -> Table:
        return new_game(connection, name, position_id, seed=seed)

    return start


def fuzz(
    connection: Connection, start: Start, games: int, seed: str, *, most: int = MOST_ACTIONS
) -> Iterator[Played]:
    """Play games to the end, one by one; each is undone, and told whether it kept all promises."""
    for n in range(1, games + 1):
        with undone(connection):
            fetched(connection, PLANS, {})
            game = play(connection, start, n, f"{seed}/{n}", most=most)
        if game.problem is not None and game.record is None:
            # what the server refused left no record behind: the same seed plays the same game, with savepoints
            with undone(connection):
                again = play(connection, start, n, f"{seed}/{n}", most=most, spared_by=spared)
            game = again if again.problem is not None else game
        yield game


def play(
    connection: Connection,
    start: Start,
    n: int,
    seed: str,
    *,
    most: int = MOST_ACTIONS,
    spared_by: Sparing = _unspared,
) -> Played:
    """One random game to its end; what goes wrong is told, with the record as far as it came.

    With `spared_by` what the server refuses leaves the game as it was before; a savepoint for every action makes a
    game slower the longer it lasts, as the game's row is then found among versions that many have locked.
    """
    # a name that no other run of random play waits for, of this seed either
    name = f"fuzz-{os.getpid()}-{sha256(seed)[:8]}-{n}"
    actions: Counter[str] = Counter()
    dice = random.Random(seed)
    try:
        start(connection, name, read_seed(seed))
        _take_stock(connection)
        while not (table := open_game(connection, name)).over:
            if (done := sum(actions.values())) >= most:
                raise BrokenPromiseError(f"the game has not ended after {most} actions")
            actions[turn(connection, table, dice, spared_by)] += 1
            if done % RENEWED == RENEWED - 1:
                fetched(connection, "select games.renewed(:id)", {"id": table.position_id})
        found = verify(connection, table)
        if not found.ok:
            raise BrokenPromiseError("; ".join(found.problems))
    except Exception as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Played(n, *_so_far(connection, name), actions, _words(error), _record(connection, name))
    return Played(n, table.events, actions)


def _take_stock(connection: Connection) -> None:
    """Plans that suit the map: of one that nobody else sees yet the server knows nothing by itself."""
    [known] = fetched(
        connection, "select reltuples as hexes from pg_class where oid = 'public.hex'::regclass", {}
    )
    if known.hexes >= FEW:
        return
    server = psycopg_connection(connection)
    [patience] = fetched(connection, "select current_setting('lock_timeout') as usual", {})
    with suppress(psycopg.errors.LockNotAvailable), server.transaction():
        server.execute(f"set local lock_timeout = '{PATIENCE}'")
        server.execute(STOCK)
    server.execute(f"set local lock_timeout = '{patience.usual}'")


def _so_far(connection: Connection, name: str) -> tuple[int]:
    try:
        return (open_game(connection, name).events,)
    except Exception:
        return (0,)


def _record(connection: Connection, name: str) -> str | None:
    try:
        return write_record(connection, name)
    except Exception:
        return None


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {getattr(error, 'message', None) or error}"


def turn(
    connection: Connection,
    table: Table,
    dice: random.Random,
    spared_by: Sparing = _unspared,
) -> str:
    """One action, or one answer; afterwards it must be possible to take it back."""
    weighed = dice.random() < WEIGHED
    if table.pending is not None:
        deed = Deed("answer", {"choices": _chosen(table.pending["prompt"], dice)}, REFEREE, weighed=weighed)
        action = str(table.pending["action"])
    else:
        action, arguments = _drawn(connection, table, dice)
        deed = Deed(action, arguments, _actor(table), weighed=weighed)
    with spared_by(connection):
        entry = act(connection, table.name, deed)
    _taken_back(connection, table, entry)
    return action


def _actor(table: Table) -> str:
    return table.moment.active or read_ruleset(table.ruleset).facts.sides[0]


def _drawn(connection: Connection, table: Table, dice: random.Random) -> tuple[str, Tree]:
    """A legal action, each kind as likely as any other, so that a hundred moves do not hide one attack.

    Mostly as the game draws one; now and then out of all that `legal` offers, which must agree.
    """
    asked = table.asked(connection)
    if dice.random() < ASKED_FOR_ALL:
        kind = kinds_of(table.ruleset)[LEGAL]
        offered = kind.rule(asked, kind.arguments.model_validate({"side": _actor(table)})).answer["actions"]
        chosen = dice.choice(offered) if offered else None
    else:
        chosen = importlib.import_module(f"app.play.{table.ruleset}.{LEGAL}").drawn(asked, dice)
    if chosen is None:
        raise BrokenPromiseError(f"{_actor(table)} has no legal action in {table.moment.as_dict()}")
    return chosen["action"], chosen.get("arguments", {})


def _chosen(prompt: Tree, dice: random.Random) -> Tree:
    """An answer to a prompt: one of what is offered."""
    if "choice" not in prompt:
        raise BrokenPromiseError(f"the game waits for {prompt}, which the server should have rolled or drawn")
    options = prompt.get("options")
    if prompt.get("many") and prompt.get("default"):
        # so many of them are wanted, and not any number
        value: Any = prompt["default"]
    elif options:
        value = (
            dice.sample(options, dice.randint(0, len(options)))
            if prompt.get("many")
            else dice.choice(options)
        )
    elif options is not None and prompt.get("many"):
        value = []
    elif "default" in prompt:
        value = prompt["default"]
    else:
        raise BrokenPromiseError(f"nothing is offered for {prompt['choice']}")
    return {prompt["choice"]: value}


def _taken_back(connection: Connection, table: Table, entry: Entry) -> None:
    """What was done, taken back, leaves the position that the event before it tells; what waits has changed nothing."""
    last, *written = fetched(
        connection,
        "select changes, position_digest from event where game_id = :game and number >= :number - 1 order by number",
        {"game": table.id, "number": entry.number},
    )
    if entry.event is None:
        if _digest(connection, table) != last.position_digest:
            raise BrokenPromiseError("an action that waits for an answer has changed the position")
        return
    changes = [change for row in written for change in row.changes]
    with undone(connection):
        apply(table.asked(connection), inverse(changes))
        if _digest(connection, table) != last.position_digest:
            raise BrokenPromiseError(f"{entry.event['action']}, taken back, leaves something behind")


def _digest(connection: Connection, table: Table) -> str:
    [row] = fetched(connection, "select games.digest(:id) as digest", {"id": table.position_id})
    digest: str = row.digest
    return digest
