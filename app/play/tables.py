"""A game as it stands: opened by its name, told to people and programs, and what may go wrong with it."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.dice import commitment
from app.play.sequence import Moment, State, Walk, walk_of
from app.referee.boards import Board
from app.referee.rulings import Asked
from db import SightlineError
from db.database import fetched
from db.games import REFEREE, Game, Seat
from db.labels import Scheme, nearest
from db.rulesets import read_ruleset
from db.values import canonical
from importers.map_reading import NAME, is_name

Tree = dict[str, Any]


MOST_BETWEEN = 5
"""Events that a word on a stale number lists."""


class GameError(SightlineError):
    """Something that cannot be done in a game; nothing is changed."""

    status = 422


class NoGameError(GameError):
    """There is no game of that name."""

    status = 404


class StaleError(GameError):
    """Somebody was quicker: the number that was expected is not the last one."""

    status = 412

    def __init__(self, message: str, remedy: str = "", between: Sequence[Tree] = ()) -> None:
        super().__init__(message, remedy)
        self.between = list(between)
        """The first events that came meanwhile: number, actor, action."""


class NotAllowedError(GameError):
    """The rules do not allow it."""

    status = 409

    def __init__(self, message: str, remedy: str, answer: Tree, steps: Sequence[Tree]) -> None:
        super().__init__(message, remedy)
        self.answer = answer
        self.steps = list(steps)


@dataclasses.dataclass(frozen=True)
class Table:
    """A game as it stands."""

    id: int
    name: str
    title: str
    ruleset: str
    position_id: int
    scenario: str | None
    house: bool
    dice: str
    seed: bytes | None
    opened: bool
    over: bool
    events: int
    digest: str
    pending: Tree | None
    parent_id: int | None
    parent_event: int | None
    created_at: Any
    map_id: int
    map: str
    numbering: Tree
    conditions: Tree
    policy: Tree
    tracks: Tree
    lying: list[str]
    """Kinds of marker on the map."""

    @property
    def scheme(self) -> Scheme:
        """How its map numbers hexes."""
        return Scheme.model_validate(self.numbering)

    @property
    def moment(self) -> Moment:
        """Turn, phase and whose it is."""
        return self.walk.moment(self.state)

    @property
    def walk(self) -> Walk:
        """How the game walks its phases."""
        return walk_of(self.ruleset)

    @property
    def state(self) -> State:
        """What the sequence of play depends on."""
        return State(self.conditions, self.tracks, frozenset(self.lying))

    @property
    def version(self) -> str:
        """What changes with every event, and with every answer that an action still waits for."""
        waits = f"-{sha256(canonical(self.pending))[:8]}" if self.pending is not None else ""
        return f"{self.events}-{self.digest[:16]}{waits}"

    @property
    def on_turn(self) -> str:
        """Who acts now: whoever is awaited, else the active side, else the referee."""
        if self.pending is not None:
            awaited: str = self.pending["prompt"].get("by", self.pending["actor"])
            return awaited
        return self.moment.active or REFEREE

    def asked(self, connection: Connection) -> Asked:
        """The position now, to be asked."""
        return Asked(connection, self.position_id, self.ruleset, dict(self.conditions), dict(self.policy))

    def board(self) -> Board:
        """The position now, as any saved position."""
        return Board(
            "position", self.name, self.title, self.ruleset, self.map, self.map_id, self.position_id,
            self.scheme, dict(self.conditions), self.policy,
        )  # fmt: skip

    def as_dict(self) -> Tree:
        """The game for people and programs; its seed only when it is opened."""
        told = {
            "game": self.name, "title": self.title, "ruleset": self.ruleset, "map": self.map,
            "scenario": self.scenario, "house": self.house, "dice": self.dice, "events": self.events,
            "digest": self.digest, "over": self.over, "now": self.moment.as_dict(),
            "pending": self.pending and shown_pending(self.pending),
        }  # fmt: skip
        if self.seed is not None:
            told["seed_sha256"] = commitment(self.seed)
            if self.opened:
                told["seed"] = self.seed.hex()
        return {key: value for key, value in told.items() if value not in (None, "")}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


GAMES = """
select
  game.id, game.name, game.title, game.ruleset, game.position_id, game.scenario, game.house, game.dice, game.seed,
  game.opened, game.over, game.events, game.digest, game.pending, game.parent_id, game.parent_event, game.created_at,
  map.id as map_id, map.name as map, map.scheme as numbering, position.conditions, position.policy,
  position.tracks,
  array(select distinct marker.kind from marker where marker.position_id = position.id) as lying
from game
join position on position.id = game.position_id
join map on map.id = position.map_id
"""


def open_game(connection: Connection, name: str, *, writing: bool = False) -> Table:
    """The game of a name; a writer holds it until the transaction ends."""
    name = name.replace("\0", "\ufffd")  # which no text in the database can have
    query = f"{GAMES} where game.name = :name" + (" for update of game" if writing else "")
    rows = fetched(connection, query, {"name": name})
    if not rows:
        raise no_game(connection, name)
    return _table(rows[0])


def _table(row: sa.Row[Any]) -> Table:
    said = dict(row._mapping)
    said["seed"] = None if said["seed"] is None else bytes(said["seed"])
    return Table(**said)


def no_game(connection: Connection, name: str) -> NoGameError:
    names = list(connection.scalars(sa.select(Game.name)))
    alike = nearest(name, names)
    remedy = f"Is it {' or '.join(alike)}?" if alike else "`sightline game list` lists the games."
    return NoGameError(f"There is no game {name!r}.", remedy)


def games(
    connection: Connection, ruleset: str | None = None, *, page: int = 1, per_page: int | None = None
) -> list[Table]:
    """The games, the latest first: all of them, or a page."""
    where = "where game.ruleset = :ruleset" if ruleset else ""
    given: Tree = {"ruleset": ruleset} if ruleset else {}
    part = ""
    if per_page is not None:
        part = " limit :most offset :before"
        given |= {"most": per_page, "before": (page - 1) * per_page}
    query = f"{GAMES} {where} order by game.id desc{part}"
    return [_table(row) for row in fetched(connection, query, given)]


def count_games(connection: Connection, ruleset: str | None = None) -> int:
    """How many games there are."""
    query = sa.select(sa.func.count()).select_from(Game)
    return connection.scalar(query.where(Game.ruleset == ruleset) if ruleset else query) or 0


def check_name(name: str) -> None:
    """A name that can be part of an address, or an error."""
    if not is_name(name):
        raise GameError(f"{name!r} cannot be the name of a game: {NAME}.")


def refuse_stale(connection: Connection, table: Table, expected: int | None, seen: str | None = None) -> None:
    """An error for who has not seen the last event, or not what is awaited; it tells what came between."""
    if expected in (None, table.events) and seen in (None, table.version):
        return
    known = str(seen).partition("-")[0]
    if expected in (None, table.events):
        expected = int(known) if known.isascii() and known.isdigit() and len(known) < 9 else 0
    if expected > table.events:
        raise StaleError(f"{table.name} has no event {expected} yet; its last is {table.events}.")
    remedy = f"Look at it, and send event number {table.events} if it still holds."
    if expected == table.events:
        raise StaleError(f"{table.name} is not what it was at event {expected}.", remedy)
    between = fetched(
        connection,
        "select number, actor, action from event where game_id = :game and number > :number"
        " order by number limit :most",
        {"game": table.id, "number": expected, "most": MOST_BETWEEN},
    )
    more = table.events - expected - len(between)
    came = ", ".join(f"{event.number} {event.actor} {event.action}" for event in between)
    raise StaleError(
        f"{table.name} has gone on since event {expected}: {came}{f' and {more} more' if more else ''}.",
        remedy,
        [dict(event._mapping) for event in between],
    )


def awaited(waiting: Tree) -> str:
    """What an action waits for, in words."""
    prompt = waiting["prompt"]
    what = next(
        (f"{word} {prompt[word]}" for word in ("roll", "draw", "card", "choice") if word in prompt), ""
    )
    by = f" of {prompt['by']}" if "by" in prompt else ""
    return f"the {what}{by} ({prompt.get('for', '')}) in {waiting['action']}"


def shown_pending(pending: Tree) -> Tree:
    """An action that waits, as it is told: by whom, for what, and what is known of it so far."""
    return {key: pending[key] for key in ("action", "arguments", "actor", "prompt", "rolled", "answer")}


def seats(connection: Connection, table: Table) -> dict[str, str]:
    """Who sits where; seats that nobody has taken are left out."""
    rows = connection.execute(
        sa.select(Seat.role, Seat.name).where(Seat.game_id == table.id, Seat.name != "").order_by(Seat.role)
    )
    return {row.role: row.name for row in rows}


def check_free(table: Table, action: str) -> None:
    """Nothing else is done while an action waits: what was rolled for it would be forgotten."""
    if table.pending is not None:
        raise GameError(
            f"{table.name} waits for {awaited(table.pending)}, so {action} cannot be done now.",
            "Answer it first; the referee may abandon it (`abandon`).",
        )


def check_seated(table: Table, actor: str) -> None:
    """Only those who sit at the table and are no mere observers act."""
    sides = read_ruleset(table.ruleset).facts.sides
    if actor not in (REFEREE, *sides):
        raise GameError(
            f"{actor!r} does not act in {table.name}.", f"Those who act are {', '.join((REFEREE, *sides))}."
        )
