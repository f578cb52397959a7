"""Games: begun, acted in, abandoned, deleted; the log is the game.

    new_game(connection, "angaur-1", position_id, seed=new_seed())
    act(connection, "angaur-1", Deed("attack", {"by": ["1/22"], "at": "1404"}, actor="us"))

Whoever writes holds the game's row: one writer a game. An action is tried first, in a savepoint; only what the
rules allow, and what has all its answers, is applied and written down, in one statement (`games.append`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import psycopg
import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Connection

from app.play.actions import action_forms, actions_of
from app.play.dice import Dice, commitment
from app.play.effects import Change, Effect, changes_of
from app.play.log import Deed, Entry, append, remember, repeated
from app.play.procedures import (
    ANSWERS,
    Action,
    Given,
    Outcome,
    ProcedureKind,
    tried,
)
from app.play.sequence import SET_UP
from app.play.setup import is_decided, procedure_of, steps_left
from app.play.tables import (
    GameError,
    NotAllowedError,
    Table,
    Tree,
    awaited,
    check_free,
    check_name,
    check_seated,
    open_game,
    refuse_stale,
    shown_pending,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Asked, RulingError, contested_points
from db.counters import CONDITIONS
from db.database import fetched, spared
from db.games import OBSERVER, REFEREE, Game, Seat
from db.labels import nearest
from db.positions import Unit
from db.rulesets import read_ruleset
from db.values import canonical, exact
from importers.documents import Problems, read_values
from importers.positions import standing, unit_tree
from importers.questions import read_question
from importers.rosters import StoredRoster, words_of

BY_HAND = ("set",)
"""What a referee does that no rule knows."""


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
        insert(Game)
        .values(
            name=name, title=title or name, ruleset=ruleset, position_id=copied, dice=dice, seed=seed,
            scenario=scenario, house=house, parent_id=parent and parent[0], parent_event=parent and parent[1],
        )
        # without a savepoint: what one has locked is in the way of every later look at the row
        .on_conflict_do_nothing(index_elements=[Game.name])
        .returning(Game.id)
    )  # fmt: skip
    if game_id is None:
        # somebody else took the name between the look and the writing
        raise GameError(f"There is a game {name!r} already.", "Give this one another name.")
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
    append(connection, table, REFEREE, "begin", {"arguments": told})
    fetched(
        connection,
        "insert into snapshot (game_id, number, tree) values (:game, 1, cast(:tree as jsonb)) returning 1",
        {"game": game_id, "tree": canonical(tree)},
    )
    return open_game(connection, name)


def act(connection: Connection, name: str, deed: Deed) -> Entry:
    """Do something in a game: tried, and if the rules allow it applied and written down.

    In the caller's transaction, which is to be committed before the answer is given. During the set-up of a
    scenario the steps that follow and that nobody decides are done at once.
    """
    entry = _act(connection, name, deed)
    if entry.event is None or entry.repeated or entry.event.get("phase", {}).get("phase") != SET_UP:
        return entry
    return dataclasses.replace(entry, followed=set_up_further(connection, name))


def set_up_further(connection: Connection, name: str) -> tuple[Tree, ...]:
    """The steps of a set-up up to the next choice, with the server's dice; the events that they made."""
    made: list[Tree] = []
    while (table := open_game(connection, name)).dice == "server" and table.pending is None:
        left = steps_left(connection, table)
        if not left or not is_decided(left[0]):
            break
        entry = _act(connection, name, Deed(procedure_of(left[0]), left[0].get("arguments", {}), REFEREE))
        if entry.event is None:
            break
        made.append(entry.event)
    return tuple(made)


def _act(connection: Connection, name: str, deed: Deed) -> Entry:
    table = open_game(connection, name, writing=True)
    if (again := repeated(connection, table, deed)) is not None:
        return again
    refuse_stale(connection, table, deed.expected, deed.seen)
    check_seated(table, deed.actor)
    if deed.action in BY_HAND:
        check_free(table, deed.action)
        return _written(connection, table, deed, _by_hand(table, deed))
    kind, of, waiting = read_action(connection, table, deed)
    outcome, supply = _tried(connection, table, deed, kind, of, waiting)
    if outcome.pending is not None:
        return _wait(connection, table, deed, outcome, supply, waiting, of)
    points = contested(connection, table, kind, of, outcome) if deed.weighed else []
    said = _event(outcome, supply, deed, of) | {"contested": points}
    if deed.stands is None and any(point["decides"] for point in points):
        said["legality"] = "contested"
    if outcome.answer.get("over"):
        _end(connection, table)
    return _written(connection, table, deed, said)


def acting(table: Table, action: str) -> str:
    """Who does something where nobody is named: whoever is on turn; by hand the referee."""
    return REFEREE if action in BY_HAND else table.on_turn


def read_action(
    connection: Connection, table: Table, deed: Deed
) -> tuple[ProcedureKind, Action, Tree | None]:
    """What is done, read and checked; and the action that waits for this, if one does."""
    waiting = table.pending
    if waiting is not None:
        if deed.action not in ("answer", waiting["action"]):
            check_free(table, deed.action)
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
        wrong = table.walk.refusal(table.state, kind.name, deed.actor)
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
    connection: Connection,
    table: Table,
    deed: Deed,
    outcome: Outcome,
    supply: Dice,
    waiting: Tree | None,
    of: Action,
) -> Entry:
    """The action waits: what it was answered so far is kept, and nothing else may be done."""
    assert outcome.pending is not None
    prompt = outcome.pending.prompt()
    pending = {
        "action": waiting["action"] if waiting else deed.action,
        "arguments": asked_arguments(of),
        "actor": waiting["actor"] if waiting else deed.actor,
        "answers": {key: value for key in ANSWERS if (value := getattr(of, key))},
        **_chances(outcome, supply, "rolled", "drawn"),
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
    remember(connection, table, deed, table.events + 1)
    return Entry(table.name, table.events + 1, pending=shown_pending(exact(pending)))


def _announce(connection: Connection, table: Table, what: str) -> None:
    """Tell who listens of what is no event."""
    fetched(
        connection,
        "select pg_notify('sightline_game', json_build_object('game', cast(:name as text), cast(:what as text), true)::text)",
        {"name": table.name, "what": what},
    )


def contested(
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


def _chances(outcome: Outcome, supply: Dice, rolls: str, draws: str) -> Tree:
    """What was rolled and drawn, each with where it came from."""
    return {
        rolls: [{**roll, "from": source} for roll, source in zip(outcome.rolls, supply.sources, strict=True)],
        draws: [{**draw, **source} for draw, source in zip(outcome.draws, supply.draw_sources, strict=True)],
    }


def _event(outcome: Outcome, supply: Dice, deed: Deed, of: Action) -> Tree:
    """An action as the log has it."""
    answer = {
        key: value for key, value in outcome.told().items() if key not in ("effects", "after", "pending")
    }
    return {
        "arguments": asked_arguments(of),
        **_chances(outcome, supply, "rolls", "draws"),
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


def _check_set(connection: Connection, table: Table, changes: Sequence[Change]) -> None:
    """Whether the counters and conditions that were set are still such as the game has them."""
    codes = {change["unit"] for change in changes if "unit" in change}
    try:
        if codes:
            for row in standing(connection, Unit, table.position_id, Unit.code.in_(codes)):
                unit_tree(row, table.ruleset)
        if any("condition" in change for change in changes):
            [now] = fetched(
                connection, "select conditions from position where id = :id", {"id": table.position_id}
            )
            CONDITIONS[table.ruleset].model_validate(now.conditions)
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
        event = append(connection, table, actor, action, said, deed)
        return Entry(table.name, event["number"], event=event)
    try:
        with spared(connection):
            event = append(connection, table, actor, action, said, deed)
            _check_set(connection, table, said["changes"])
    except sa.exc.DBAPIError as error:
        if not isinstance(
            error.orig, psycopg.errors.NoDataFound | psycopg.DataError | psycopg.IntegrityError
        ):
            # the server has gone, not the referee's words wrong
            raise
        raise GameError(f"It cannot be set: {error.orig.diag.message_primary}.") from error
    return Entry(table.name, event["number"], event=event)


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
    if (again := repeated(connection, table, deed)) is not None:
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
        "draws": table.pending["drawn"],
        "note": note,
    }
    event = append(connection, table, actor, "abandon", said, deed)
    return Entry(name, event["number"], event)


def delete_game(connection: Connection, name: str) -> None:
    """Take a game away with its whole log."""
    table = open_game(connection, name, writing=True)
    connection.execute(sa.delete(Game).where(Game.id == table.id))
    fetched(connection, "delete from position where id = :id returning 1", {"id": table.position_id})
    _announce(connection, table, "gone")
