"""Games: started, acted in, taken back, branched off and looked at, at any moment; the log is the game.

    new_game(connection, "angaur-1", position_id, seed=new_seed())
    act(connection, "angaur-1", Deed("attack", {"by": ["1/22"], "at": "1404"}, actor="us"))

Whoever writes holds the game's row: one writer a game. An action is tried first, in a savepoint; only what the
rules allow, and what has all its answers, is applied, by `games.apply`, and written down, by `games.append`.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.engine import Connection

from app.play.actions import action_forms, actions_of
from app.play.dice import Dice, commitment
from app.play.effects import Change, Effect, changes_of, folded, inverse
from app.play.procedures import (
    ANSWERS,
    Action,
    Given,
    Outcome,
    ProcedureKind,
    tried,
)
from app.play.sequence import Moment, refusal
from app.referee.boards import Board
from app.referee.questions import kinds_of
from app.referee.rulings import Asked, RulingError, contested_points
from app.referee.version import ruleset_version
from db import SightlineError
from db.counters import CONDITIONS
from db.database import fetched, spared
from db.games import OBSERVER, REFEREE, Game, Seat
from db.labels import Scheme, nearest
from db.rulesets import read_ruleset
from db.rulings import SavedRuling
from db.values import canonical, exact
from importers.documents import Problems, read_values
from importers.map_reading import NAME, is_name
from importers.positions import stored_tree
from importers.questions import read_question
from importers.rosters import StoredRoster, words_of

Tree = dict[str, Any]
BY_HAND = ("set",)
"""What a referee does that no rule knows."""
MOST_BETWEEN = 5
"""Events that a word on a stale number lists."""


EVENT = "to_jsonb(event) - array['game_id', 'changes']"
"""Of an event: what is told of it."""


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

    @property
    def scheme(self) -> Scheme:
        """How its map numbers hexes."""
        return Scheme.model_validate(self.numbering)

    @property
    def moment(self) -> Moment:
        """Turn, phase and whose it is."""
        return Moment.of(self.conditions)

    @property
    def version(self) -> str:
        """What changes with every event, and with every answer that an action still waits for."""
        waits = f"-{_sha256(canonical(self.pending))[:8]}" if self.pending is not None else ""
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


@dataclasses.dataclass(frozen=True)
class Deed:
    """What somebody does: an action with its arguments, as a case file has them."""

    action: str
    arguments: Tree
    actor: str
    note: str | None = None
    expected: int | None = None
    """The number of the last event that the writer has seen."""
    key: str | None = None
    """Made up by the client: a repeated request has the same."""
    stands: str | None = None
    """Why what the rules do not allow stands nevertheless, or who overruled them: `illegal_stood`, `overruled`."""
    seen: str | None = None
    """The version of the game that the writer has seen."""

    named: bool = True
    """Whether the request named its actor; else it was whoever was on turn, which may be another by now."""

    @property
    def asked(self) -> str:
        """A digest of what is asked: a key belongs to it alone."""
        return _sha256(canonical([self.action, exact(self.arguments), self.actor if self.named else None]))


@dataclasses.dataclass(frozen=True)
class Entry:
    """What became of a deed: an event, or a prompt that waits for an answer."""

    game: str
    number: int
    """Of the event that was written, or that will be."""
    event: Tree | None = None
    pending: Tree | None = None
    repeated: bool = False
    """Whether the request was answered before."""

    def as_dict(self) -> Tree:
        told: Tree = {"game": self.game, "number": self.number}
        if self.event is not None:
            told["event"] = self.event
        if self.pending is not None:
            told["pending"] = self.pending
        if self.repeated:
            told["repeated"] = True
        return told


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# Opening.

GAMES = """
select
  game.id, game.name, game.title, game.ruleset, game.position_id, game.scenario, game.house, game.dice, game.seed,
  game.opened, game.over, game.events, game.digest, game.pending, game.parent_id, game.parent_event, game.created_at,
  map.id as map_id, map.name as map, map.scheme as numbering, position.conditions, position.policy
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


# Beginning.


def new_game(
    connection: Connection,
    name: str,
    position_id: int,
    *,
    title: str = "",
    dice: str = "server",
    seed: bytes | None = None,
    scenario: str | None = None,
    house: bool = False,
    seats: Mapping[str, str] | None = None,
    opening: Tree | None = None,
    parent: tuple[int, int] | None = None,
) -> Table:
    """Begin a game from a position, which is copied; its first event publishes the digest of the seed."""
    if (dice == "server") != (seed is not None):
        raise GameError("Server dice need a seed, and typed ones have none.")
    check_name(name)
    if connection.scalar(sa.select(Game.id).where(Game.name == name)) is not None:
        raise GameError(f"There is a game {name!r} already.", "Give this one another name.")
    copied = connection.scalar(sa.select(sa.func.positions.copy(position_id)))
    ruleset = connection.scalar(sa.text("select ruleset from position where id = :id"), {"id": copied})
    game_id = connection.scalar(
        sa.insert(Game)
        .values(
            name=name, title=title or name, ruleset=ruleset, position_id=copied, dice=dice, seed=seed,
            scenario=scenario, house=house, parent_id=parent and parent[0], parent_event=parent and parent[1],
        )
        .returning(Game.id)
    )  # fmt: skip
    sides = read_ruleset(ruleset or "").facts.sides
    connection.execute(
        sa.insert(Seat),
        [
            {"game_id": game_id, "role": role, "name": (seats or {}).get(role, "")}
            for role in (REFEREE, *sides, OBSERVER)
        ],
    )
    table = open_game(connection, name, writing=True)
    first = {
        "game": name, "map": table.map, "scenario": scenario, "dice": dice,
        "seed_sha256": None if seed is None else commitment(seed), **(opening or {}),
    }  # fmt: skip
    told = {key: value for key, value in first.items() if value is not None}
    tree = fetched(connection, "select games.tree(:position) as tree", {"position": copied})[0].tree
    _append(connection, table, REFEREE, "begin", {"arguments": told})
    fetched(
        connection,
        "insert into snapshot (game_id, number, tree) values (:game, 1, cast(:tree as jsonb)) returning 1",
        {"game": game_id, "tree": canonical(tree)},
    )
    return open_game(connection, name)


def check_name(name: str) -> None:
    """A name that can be part of an address, or an error."""
    if not is_name(name):
        raise GameError(f"{name!r} cannot be the name of a game: {NAME}.")


# Acting.


def act(connection: Connection, name: str, deed: Deed) -> Entry:
    """Do something in a game: tried, and if the rules allow it applied and written down.

    In the caller's transaction, which is to be committed before the answer is given.
    """
    table = open_game(connection, name, writing=True)
    if (again := _repeated(connection, table, deed)) is not None:
        return again
    refuse_stale(connection, table, deed.expected, deed.seen)
    _seated(table, deed.actor)
    if deed.action in BY_HAND:
        return _written(connection, table, deed, _by_hand(table, deed))
    kind, of, waiting = _action(connection, table, deed)
    outcome, supply = _tried(connection, table, deed, kind, of, waiting)
    if outcome.pending is not None:
        return _wait(connection, table, deed, outcome, waiting, of)
    contested = _contested(connection, table, kind, of, outcome)
    said = _event(outcome, supply, deed, of) | {"contested": contested}
    if deed.stands is None and any(point["decides"] for point in contested):
        said["legality"] = "contested"
    if outcome.answer.get("over"):
        _end(connection, table)
    return _written(connection, table, deed, said)


def _repeated(connection: Connection, table: Table, deed: Deed) -> Entry | None:
    """A request that was answered before is answered again, and not done again."""
    if deed.key is None:
        return None
    query = "select asked, number from request where game_id = :game and key = :key"
    rows = fetched(connection, query, {"game": table.id, "key": deed.key})
    if not rows:
        return None
    [row] = rows
    if row.asked != deed.asked:
        raise GameError(
            f"The key {deed.key!r} came with another request already.", "Make up a new key for a new request."
        )
    if row.number <= table.events:
        return Entry(table.name, row.number, event=event_tree(connection, table, row.number), repeated=True)
    return Entry(
        table.name, row.number, pending=table.pending and shown_pending(table.pending), repeated=True
    )


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


def acting(table: Table, action: str) -> str:
    """Who does something where nobody is named: whoever is on turn; by hand the referee."""
    return REFEREE if action in BY_HAND else table.on_turn


def _seated(table: Table, actor: str) -> None:
    sides = read_ruleset(table.ruleset).facts.sides
    if actor not in (REFEREE, *sides):
        raise GameError(
            f"{actor!r} does not act in {table.name}.", f"Those who act are {', '.join((REFEREE, *sides))}."
        )


def _action(connection: Connection, table: Table, deed: Deed) -> tuple[ProcedureKind, Action, Tree | None]:
    """What is done, read and checked; and the action that waits for this, if one does."""
    waiting = table.pending
    if waiting is not None:
        if deed.action not in ("answer", waiting["action"]):
            raise GameError(
                f"{table.name} waits for {awaited(waiting)}, so {deed.action} cannot be done now.",
                "Answer it first; the referee may abandon it (`abandon`).",
            )
        _whose(deed, waiting)
    elif deed.action == "answer":
        raise GameError(f"Nothing in {table.name} waits for an answer.")
    if table.over:
        raise GameError(f"{table.name} is over.", "Branch off from an earlier moment to play on (`fork`).")
    action = waiting["action"] if waiting else deed.action
    known = actions_of(table.ruleset)
    if action not in known:
        alike = nearest(action, known)
        listed = ", ".join(sorted(known))
        raise GameError(
            f"{table.ruleset} has no action {action!r}.",
            f"Is it {alike[0]}?" if alike else f"It has {listed}.",
        )
    kind = known[action]
    if waiting is None and deed.stands is None:
        wrong = refusal(table.ruleset, table.moment, kind.name, deed.actor)
        if wrong is not None:
            raise NotAllowedError(
                wrong.message, wrong.remedy, {"allowed": False, "why": wrong.why}, [wrong.step]
            )
    return kind, _read(connection, table, kind, _with_answers(deed, waiting)), waiting


def _with_answers(deed: Deed, waiting: Tree | None) -> Tree:
    """The arguments, with the answers that were given before."""
    if waiting is None:
        return deed.arguments
    told = {**waiting["arguments"]}
    for key in ("rolls", "draws", "cards"):
        told[key] = [*waiting["answers"].get(key, []), *deed.arguments.get(key, [])]
    told["choices"] = {**waiting["answers"].get("choices", {}), **deed.arguments.get("choices", {})}
    others = set(deed.arguments) - {"rolls", "draws", "cards", "choices"}
    if others and deed.action == "answer":
        raise GameError(
            f"An answer has rolls, draws, cards or choices, not {', '.join(sorted(others))}.",
            f"{awaited(waiting)} is awaited.",
        )
    return {key: value for key, value in told.items() if value not in ([], {})}


def _whose(deed: Deed, waiting: Tree) -> None:
    by = waiting["prompt"].get("by", waiting["actor"])
    if deed.actor not in (by, REFEREE):
        raise GameError(
            f"It is for {by} to answer: {awaited(waiting)}.",
            f"{deed.actor} waits, or the referee answers for {by}.",
        )


def awaited(waiting: Tree) -> str:
    """What an action waits for, in words."""
    prompt = waiting["prompt"]
    what = next(
        (f"{word} {prompt[word]}" for word in ("roll", "draw", "card", "choice") if word in prompt), ""
    )
    by = f" of {prompt['by']}" if "by" in prompt else ""
    return f"the {what}{by} ({prompt.get('for', '')}) in {waiting['action']}"


def _read(connection: Connection, table: Table, kind: ProcedureKind, told: Tree) -> Action:
    """The arguments of an action, checked as a case file's are."""
    problems = Problems()
    node = read_values({kind.name: told}, table.name, problems)
    roster = StoredRoster(connection, table.map_id, table.position_id, table.ruleset, table.scheme, ())
    roster.look_up(words_of(told))
    question = read_question(node, roster, action_forms(table.ruleset), problems)
    problems.raise_if_any()
    assert question is not None
    assert isinstance(question.arguments, Action)
    return question.arguments


def _tried(
    connection: Connection, table: Table, deed: Deed, kind: ProcedureKind, of: Action, waiting: Tree | None
) -> tuple[Outcome, Dice]:
    """The action run to its end, or to what nobody has answered; undone, and refused where it is not allowed."""
    if table.dice == "server" and deed.actor != REFEREE and (of.rolls or of.draws or of.cards):
        raise GameError(
            f"The server rolls and draws in {table.name}; {deed.actor} types nothing.",
            "Leave rolls, draws and cards out, or let the referee enter them.",
        )
    given = Given(of.rolls, of.draws, of.cards, of.choices)
    kept = _kept_dice(connection, table, kind.name, of)
    supply = Dice(given, table.seed, table.events + 1, kept.get("rolls", ()), kept.get("draws", ()))
    try:
        outcome = tried(
            table.asked(connection), lambda: kind.begin(of), supply, lambda: kinds_of(table.ruleset)
        )
    except RulingError as error:
        raise GameError(error.message, error.remedy or "Nothing was changed.") from error
    if outcome.pending is None and (left := given.left()) is not None:
        raise GameError(f"{kind.name}: {left}.", "Leave out what is not called for.")
    if outcome.allowed is False and deed.stands is None:
        why = outcome.answer.get("why", "the rules do not allow it")
        step = outcome.steps[-1]
        raise NotAllowedError(
            f"{kind.name} is not allowed: {why} ({step.rule}).",
            "Nothing was changed; what was done at the table all the same can be recorded as standing.",
            outcome.told(),
            [step.as_dict() for step in outcome.steps],
        )
    if outcome.allowed is None:
        needs = ", ".join(need.cited for need in outcome.needs)
        raise NotAllowedError(
            f"{kind.name} cannot be ruled on: it needs {needs}.",
            "Fill the chart (`sightline charts`), or let the referee set what happens.",
            outcome.told(),
            [step.as_dict() for step in outcome.steps],
        )
    return outcome, supply


def _kept_dice(connection: Connection, table: Table, action: str, of: Action) -> Tree:
    """What was rolled when the same action was done, taken back, and not freed: it is not rolled again."""
    rows = fetched(
        connection,
        "select done.rolls, done.draws from event as undo"
        " join event as done on done.game_id = undo.game_id and done.number = any(undo.undoes)"
        " join event as before on before.game_id = done.game_id and before.number = done.number - 1"
        " join event as last on last.game_id = done.game_id and last.number = :last"
        " where undo.game_id = :game and undo.undoes <> '{}' and undo.arguments ->> 'free_dice' is null"
        " and done.action = :action and done.arguments = cast(:arguments as jsonb)"
        " and before.position_digest = last.position_digest"
        " order by done.number desc limit 1",
        {
            "game": table.id,
            "action": action,
            "arguments": canonical(exact(asked_arguments(of))),
            "last": table.events,
        },
    )
    return {"rolls": rows[0].rolls, "draws": rows[0].draws} if rows else {}


def asked_arguments(of: Action) -> Tree:
    """What is asked, without the answers."""
    said = of.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {key: value for key, value in said.items() if key not in ANSWERS}


def _wait(
    connection: Connection, table: Table, deed: Deed, outcome: Outcome, waiting: Tree | None, of: Action
) -> Entry:
    """The action waits: what it was answered so far is kept, and nothing else may be done."""
    assert outcome.pending is not None
    prompt = outcome.pending.prompt()
    pending = {
        "action": waiting["action"] if waiting else deed.action,
        "arguments": asked_arguments(of),
        "actor": waiting["actor"] if waiting else deed.actor,
        "answers": {key: value for key in ANSWERS if (value := getattr(of, key))},
        "rolled": outcome.rolls,
        "drawn": outcome.draws,
        "prompt": prompt,
        "answer": outcome.told() | {"pending": prompt},
        "note": deed.note or (waiting or {}).get("note"),
    }
    fetched(
        connection,
        "update game set pending = cast(:pending as jsonb) where id = :game returning 1",
        {"game": table.id, "pending": canonical(exact(pending))},
    )
    _announce(connection, table, "waits")
    _remember(connection, table, deed, table.events + 1)
    return Entry(table.name, table.events + 1, pending=shown_pending(exact(pending)))


def _announce(connection: Connection, table: Table, what: str) -> None:
    """Tell who listens of what is no event."""
    fetched(
        connection,
        "select pg_notify('sightline_game', json_build_object('game', cast(:name as text), cast(:what as text), true)::text)",
        {"name": table.name, "what": what},
    )


def shown_pending(pending: Tree) -> Tree:
    """An action that waits, as it is told: by whom, for what, and what is known of it so far."""
    return {key: pending[key] for key in ("action", "arguments", "actor", "prompt", "rolled", "answer")}


def _contested(
    connection: Connection, table: Table, kind: ProcedureKind, of: Action, outcome: Outcome
) -> list[Tree]:
    """The contested points that an action touched, and whether another reading would change what happens."""
    told = canonical(exact(outcome.told()))
    found = []
    for point in sorted(set(outcome.points), key=lambda name: int(name.rpartition("-")[2])):
        asked = table.asked(connection)
        used = asked.reading(point)
        decides = False
        for letter in contested_points(table.ruleset)[point].readings:
            if letter != used and not decides:
                other = dataclasses.replace(asked, policy=asked.policy | {point: letter}, proved=False)
                decides = told != _told_under(
                    other, kind, of, recorded(outcome.rolls, outcome.draws, outcome.choices)
                )
        found.append({"point": point, "reading": used, "decides": decides})
    return found


def recorded(rolls: Sequence[Tree], draws: Sequence[Tree], choices: Sequence[Tree]) -> Given:
    """The answers that an action was given, to give them again."""
    return Given(
        [roll["value"] for roll in rolls],
        [draw["value"] for draw in draws if "draw" in draw],
        [draw["value"] for draw in draws if "card" in draw],
        {choice["choice"]: choice["value"] for choice in choices},
    )


def _told_under(asked: Asked, kind: ProcedureKind, of: Action, given: Given) -> str | None:
    try:
        outcome = tried(asked, lambda: kind.begin(of), given, lambda: kinds_of(asked.ruleset))
    except RulingError:
        # an answer that this reading does not ask for
        return None
    return canonical(exact(outcome.told()))


def _event(outcome: Outcome, supply: Dice, deed: Deed, of: Action) -> Tree:
    """An action as the log has it."""
    answer = {
        key: value for key, value in outcome.told().items() if key not in ("effects", "after", "pending")
    }
    return {
        "arguments": asked_arguments(of),
        "rolls": [
            {**roll, "from": source} for roll, source in zip(outcome.rolls, supply.sources, strict=True)
        ],
        "draws": [
            {**draw, "from": source} for draw, source in zip(outcome.draws, supply.draw_sources, strict=True)
        ],
        "choices": outcome.choices,
        "answer": answer,
        "steps": [step.as_dict() for step in outcome.steps],
        "effects": outcome.effects,
        "changes": outcome.changes,
        "legality": deed.stands or "legal",
    }


def _by_hand(table: Table, deed: Deed) -> Tree:
    """The referee sets something, for a reason."""
    if deed.actor != REFEREE:
        raise GameError("Only the referee sets anything by hand.", f"{deed.actor} enters actions.")
    if not deed.note:
        raise GameError("What is set by hand has a reason.", "Say it in the note.")
    effects = deed.arguments.get("effects")
    if not isinstance(effects, list) or not effects:
        raise GameError('`set` takes a list of effects, such as [{unit: 1/22, at: "1404"}].')
    return {
        "arguments": {"effects": effects}, "effects": effects, "changes": set_changes(table.ruleset, effects),
        "legality": deed.stands or "overruled",
    }  # fmt: skip


def _check_position(connection: Connection, table: Table) -> None:
    """Whether all counters and conditions are still such as the game has them."""
    [row] = fetched(connection, "select conditions from position where id = :id", {"id": table.position_id})
    try:
        stored_tree(connection, table.position_id)
        CONDITIONS[table.ruleset].model_validate(row.conditions)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, wrong["loc"]))
        raise GameError(
            f"It cannot be set: {place}: {wrong['msg']}.", "The words and values are those of case files."
        ) from error


def set_changes(ruleset: str, effects: Sequence[Effect]) -> list[Change]:
    """Effects that somebody wrote, as changes."""
    changes: list[Change] = []
    for n, effect in enumerate(effects, 1):
        if not isinstance(effect, dict):
            raise GameError(f"Effect {n} is not a mapping such as {{unit: 1/22, depleted: true}}.")
        try:
            changes += changes_of(effect, ruleset)
        except (ValueError, KeyError, AttributeError) as error:
            raise GameError(f"Effect {n}: {error}.", "The words are those of case files.") from error
    return changes


def _written(connection: Connection, table: Table, deed: Deed, said: Tree) -> Entry:
    waiting = table.pending or {}
    note = deed.note or waiting.get("note")
    actor = waiting.get("actor", deed.actor) if deed.action == "answer" else deed.actor
    action = waiting.get("action", deed.action) if deed.action == "answer" else deed.action
    said |= {"note": note} if note else {}
    if deed.action not in BY_HAND:
        event = _append(connection, table, actor, action, said, deed)
        return Entry(table.name, event["number"], event=event)
    try:
        with spared(connection):
            event = _append(connection, table, actor, action, said, deed)
            _check_position(connection, table)
    except sa.exc.DBAPIError as error:
        if not isinstance(error.orig, psycopg.errors.NoDataFound | psycopg.DataError | psycopg.IntegrityError):
            # the server has gone, not the referee's words wrong
            raise
        raise GameError(f"It cannot be set: {error.orig.diag.message_primary}.") from error
    return Entry(table.name, event["number"], event=event)


def _append(
    connection: Connection, table: Table, actor: str, action: str, said: Tree, deed: Deed | None = None
) -> Tree:
    """An event written down, its changes made; as it is told."""
    told = {
        "actor": actor,
        "action": action,
        "phase": table.moment.as_dict(),
        "ruleset_version": ruleset_version(table.ruleset),
        **said,
    }
    key = deed.key if deed is not None else None
    [row] = fetched(
        connection,
        f"select {EVENT} as told from games.append(:game, cast(:told as jsonb), :key, :asked) as event",
        {
            "game": table.id,
            "told": canonical(exact(told)),
            "key": key,
            "asked": deed.asked if deed is not None and key is not None else None,
        },
    )
    return _told(row)


def _remember(connection: Connection, table: Table, deed: Deed, number: int) -> None:
    if deed.key is not None:
        fetched(
            connection,
            "insert into request (game_id, key, asked, number) values (:game, :key, :asked, :number) returning 1",
            {"game": table.id, "key": deed.key, "asked": deed.asked, "number": number},
        )


def _end(connection: Connection, table: Table) -> None:
    """The game is over, and its seed is opened."""
    fetched(
        connection,
        "update game set over = true, opened = true where id = :game returning 1",
        {"game": table.id},
    )


def abandon(
    connection: Connection,
    name: str,
    *,
    actor: str,
    note: str,
    key: str | None = None,
    seen: str | None = None,
) -> Entry:
    """The referee gives up an action that waits for an answer; what was rolled for it is written down."""
    table = open_game(connection, name, writing=True)
    deed = Deed("abandon", {}, actor, note, key=key, seen=seen)
    if (again := _repeated(connection, table, deed)) is not None:
        return again
    refuse_stale(connection, table, deed.expected, deed.seen)
    if table.pending is None:
        raise GameError(f"Nothing in {name} waits for an answer.")
    if actor != REFEREE:
        raise GameError("Only the referee abandons an action.", "Answer what it waits for.")
    if not note.strip():
        raise GameError("What is abandoned has a reason.", "Say it in the note.")
    said = {
        "arguments": {"abandoned": table.pending["action"]},
        "rolls": table.pending["rolled"],
        "note": note,
    }
    event = _append(connection, table, actor, "abandon", said, deed)
    return Entry(name, event["number"], event)


# Taking back.


def undo(
    connection: Connection,
    name: str,
    *,
    actor: str = REFEREE,
    events: int = 1,
    free_dice: bool = False,
    note: str | None = None,
    expected: int | None = None,
    key: str | None = None,
    seen: str | None = None,
) -> Entry:
    """Take back the last events that still stand, by their inverse: they stay in the log, struck out.

    Dice that were rolled for them are kept for the same action, unless the referee frees them. An undo can be
    undone: that is a redo.
    """
    table = open_game(connection, name, writing=True)
    deed = Deed("undo", {"events": events, "free_dice": free_dice}, actor, note, expected, key, seen=seen)
    if (again := _repeated(connection, table, deed)) is not None:
        return again
    refuse_stale(connection, table, deed.expected, deed.seen)
    _seated(table, actor)
    if free_dice and actor != REFEREE:
        raise GameError("Only the referee frees dice.", "Undo keeps them for the same action.")
    standing = standing_events(connection, table)
    if events < 1 or events > len(standing):
        raise GameError(
            f"{name} has {len(standing)} events that can be taken back, not {events}." if standing
            else f"Nothing in {name} can be taken back."
        )  # fmt: skip
    taken = fetched(
        connection,
        "select number, changes, answer from event where game_id = :game and number = any(:numbers) order by number desc",
        {"game": table.id, "numbers": standing[:events]},
    )
    changes = [change for event in taken for change in inverse(event.changes)]
    return _take(connection, table, deed, "undo", taken, changes)


def redo(
    connection: Connection,
    name: str,
    *,
    actor: str = REFEREE,
    note: str | None = None,
    expected: int | None = None,
    key: str | None = None,
    seen: str | None = None,
) -> Entry:
    """Do again what the last undo took back, where nothing has been done since."""
    table = open_game(connection, name, writing=True)
    deed = Deed("redo", {}, actor, note, expected, key, seen=seen)
    if (again := _repeated(connection, table, deed)) is not None:
        return again
    refuse_stale(connection, table, deed.expected, deed.seen)
    _seated(table, actor)
    rows = fetched(
        connection,
        "select number, action, changes, undoes from event where game_id = :game and number = :number",
        {"game": table.id, "number": table.events},
    )
    if not rows or rows[0].action != "undo":
        raise GameError(f"The last event of {name} is no undo, so there is nothing to do again.")
    return _take(connection, table, deed, "redo", rows, inverse(rows[0].changes))


def _take(
    connection: Connection, table: Table, deed: Deed, action: str, taken: Sequence[Any], changes: list[Change]
) -> Entry:
    reopened = [event.number for event in taken if (getattr(event, "answer", None) or {}).get("over")]
    if reopened:
        fetched(connection, "update game set over = false where id = :game returning 1", {"game": table.id})
    arguments = {"free_dice": True} if deed.arguments.get("free_dice") else {}
    said: Tree = {
        "arguments": arguments, "undoes": [event.number for event in taken], "changes": changes,
        "effects": [], **({"note": deed.note} if deed.note else {}),
    }  # fmt: skip
    event = _append(connection, table, deed.actor, action, said, deed)
    return Entry(table.name, event["number"], event=event)


def standing_events(connection: Connection, table: Table) -> list[int]:
    """Numbers of the events that stand, the last first; the first of a game always does."""
    rows = fetched(
        connection,
        "select number, action, undoes from event where game_id = :game and number > 1 order by number desc",
        {"game": table.id},
    )
    return [row.number for row in _standing(rows)]


def _standing(rows: Sequence[Any]) -> list[Any]:
    """From the last event on: an undo strikes out what it took back, a redo strikes out the undo."""
    struck: set[int] = set()
    found = []
    for row in rows:
        if row.number in struck:
            continue
        if row.action in ("undo", "redo"):
            struck.update(row.undoes)
            if row.action == "redo":
                continue
        else:
            found.append(row)
    return found


# Looking.


def moment(connection: Connection, table: Table, number: int) -> Tree:
    """The position after an event, as one tree."""
    if not 1 <= number <= table.events:
        raise GameError(f"{table.name} has no event {number}.", f"Its events are 1 to {table.events}.")
    [start] = fetched(
        connection,
        "select number, tree from snapshot where game_id = :game and number <= :number order by number desc limit 1",
        {"game": table.id, "number": number},
    )
    rows = fetched(
        connection,
        "select changes from event where game_id = :game and number > :start and number <= :number order by number",
        {"game": table.id, "start": start.number, "number": number},
    )
    tree: Tree = folded(start.tree, (change for row in rows for change in row.changes))
    return tree


def event_tree(connection: Connection, table: Table, number: int) -> Tree:
    """An event as it is told."""
    return log(connection, table, first=number, last=number)[0]


def log(connection: Connection, table: Table, *, first: int = 1, last: int | None = None) -> list[Tree]:
    """Events in order, each as it is told, with what was said of it later."""
    rows = fetched(
        connection,
        f"select {EVENT} as told from event where game_id = :game and number between :first and :last order by number",
        {"game": table.id, "first": first, "last": table.events + 1 if last is None else last},
    )
    told = [_told(row) for row in rows]
    struck = struck_out(connection, table)
    notes = _annotations(connection, table, first, last)
    for event in told:
        if event["number"] in struck:
            event["struck_out_by"] = struck[event["number"]]
        if event["number"] in notes:
            event["annotations"] = notes[event["number"]]
    return told


def _annotations(connection: Connection, table: Table, first: int, last: int | None) -> dict[int, list[Tree]]:
    """What was said of events afterwards, by their numbers."""
    rows = fetched(
        connection,
        "select number, author, text, ruling, at from annotation"
        " where game_id = :game and number between :first and :last order by id",
        {"game": table.id, "first": first, "last": table.events + 1 if last is None else last},
    )
    found: dict[int, list[Tree]] = {}
    for row in rows:
        said = {key: value for key, value in row._mapping.items() if key not in ("number", "at") and value}
        found.setdefault(row.number, []).append({**said, "at": row.at.isoformat()})
    return found


def _told(row: sa.Row[Any]) -> Tree:
    return {key: value for key, value in row.told.items() if value not in (None, [], {})}


def struck_out(connection: Connection, table: Table) -> dict[int, int]:
    """Events that were taken back, each with the undo that did it."""
    struck: dict[int, int] = {}
    rows = fetched(
        connection,
        "select number, action, undoes from event where game_id = :game and undoes <> '{}' order by number",
        {"game": table.id},
    )
    for row in rows:
        for taken in row.undoes:
            if row.action == "redo":
                struck = {number: by for number, by in struck.items() if by != taken}
            else:
                struck[taken] = row.number
    return struck


def note(
    connection: Connection, name: str, number: int, text: str, *, author: str, ruling: str | None = None
) -> None:
    """Say something of an event; a kept ruling may be referred to."""
    table = open_game(connection, name)
    if not 1 <= number <= table.events:
        raise GameError(f"{name} has no event {number}.", f"Its events are 1 to {table.events}.")
    if not text.strip():
        raise GameError("An annotation says something.")
    if (
        ruling is not None
        and connection.scalar(sa.select(SavedRuling.id).where(SavedRuling.id == ruling)) is None
    ):
        raise GameError(f"There is no ruling {ruling!r}.", "`sightline rulings list` lists the kept ones.")
    fetched(
        connection,
        "insert into annotation (game_id, number, author, text, ruling)"
        " values (:game, :number, :author, :text, :ruling) returning 1",
        {"game": table.id, "number": number, "author": author, "text": text, "ruling": ruling},
    )


def seats(connection: Connection, table: Table) -> dict[str, str]:
    """Who sits where; seats that nobody has taken are left out."""
    rows = connection.execute(
        sa.select(Seat.role, Seat.name).where(Seat.game_id == table.id, Seat.name != "").order_by(Seat.role)
    )
    return {row.role: row.name for row in rows}


def delete_game(connection: Connection, name: str) -> None:
    """Take a game away with its whole log."""
    table = open_game(connection, name, writing=True)
    connection.execute(sa.delete(Game).where(Game.id == table.id))
    fetched(connection, "delete from position where id = :id returning 1", {"id": table.position_id})
    _announce(connection, table, "gone")
