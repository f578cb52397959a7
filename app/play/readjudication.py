"""Ruling again: every event of a game under today's rules, or another reading; differences are listed, nothing rewritten."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy.engine import Connection

from app.play.actions import actions_of
from app.play.branches import stored
from app.play.games import recorded
from app.play.procedures import Action, ProcedureKind, apply, tried
from app.play.tables import GameError, Table, Tree
from app.referee.questions import kinds_of
from app.referee.rulings import Asked, RulingError, contested_points
from db import SightlineError
from db.database import fetched, undone
from db.labels import nearest
from db.values import canonical, exact


@dataclasses.dataclass(frozen=True)
class Difference:
    """An event that would be ruled otherwise."""

    number: int
    action: str
    what: str
    """`answer`, `effects`, `refused`, `wants` (another die, card or choice) or `unread` (arguments unknown today)."""
    was: Any
    now: Any

    def as_dict(self) -> Tree:
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        return f"event {self.number}, {self.action}: {self.what}: was {canonical(exact(self.was))}, now {canonical(exact(self.now))}"


def _quiet(_: int) -> None:
    return


def checked_policy(ruleset: str, policy: Mapping[str, str]) -> dict[str, str]:
    """Readings that the game has, or an error."""
    known = contested_points(ruleset)
    for point, letter in policy.items():
        if point not in known:
            alike = nearest(point, list(known))
            raise GameError(
                f"{ruleset} has no contested point {point!r}.", f"Is it {alike[0]}?" if alike else ""
            )
        if letter not in known[point].readings:
            offered = ", ".join(known[point].readings)
            raise GameError(f"{point} has no reading {letter!r}.", f"It has {offered}.")
    return dict(policy)


def readjudicate(
    connection: Connection,
    table: Table,
    policy: Mapping[str, str] | None = None,
    progress: Callable[[int], None] = _quiet,
) -> list[Difference]:
    """Rule on every event again from the position it was done in, with the answers that it was given."""
    [first] = fetched(
        connection, "select tree from snapshot where game_id = :game and number = 1", {"game": table.id}
    )
    events = fetched(
        connection,
        "select number, actor, action, arguments, rolls, draws, choices, answer, effects, changes, legality from event"
        " where game_id = :game order by number",
        {"game": table.id},
    )
    known = actions_of(table.ruleset)
    found: list[Difference] = []
    with undone(connection):
        position = stored(connection, table, first.tree)
        for event in events:
            progress(event.number)
            [row] = fetched(connection, "select conditions from position where id = :id", {"id": position})
            asked = Asked(
                connection, position, table.ruleset, row.conditions, {**table.policy, **(policy or {})}
            )
            if event.action in known and event.legality in ("legal", "contested"):
                found += _ruled_again(asked, known[event.action], event)
            if event.changes:
                apply(asked, event.changes)
    return found


def _ruled_again(asked: Asked, kind: ProcedureKind, event: Any) -> list[Difference]:
    def differs(what: str, was: Any, now: Any) -> list[Difference]:
        return [Difference(event.number, event.action, what, was, now)]

    try:
        of = kind.arguments.model_validate(event.arguments)
    except ValueError as error:
        return differs("unread", event.arguments, str(error))
    assert isinstance(of, Action)
    given = recorded(event.rolls, event.draws, event.choices)
    try:
        outcome = tried(asked, lambda: kind.begin(of), given, lambda: kinds_of(asked.ruleset))
    except (RulingError, SightlineError) as error:
        return differs("wants", "the answers that were given", error.message)
    if outcome.allowed is not True:
        return differs("refused", True, outcome.answer.get("why") or [str(need) for need in outcome.needs])
    if outcome.pending is not None:
        return differs("wants", "all was answered", outcome.pending.prompt())
    if (left := given.left()) is not None:
        return differs("wants", "the answers that were given", left)
    told = {key: value for key, value in outcome.told().items() if key not in ("effects", "after")}
    was = {key: value for key, value in event.answer.items() if key != "after"}
    if canonical(exact(told)) != canonical(was):
        changed = {
            key
            for key in told.keys() | was.keys()
            if canonical(exact(told.get(key))) != canonical(was.get(key))
        }
        return differs(
            "answer",
            {key: was.get(key) for key in sorted(changed)},
            {key: exact(told.get(key)) for key in sorted(changed)},
        )
    if canonical(exact(outcome.effects)) != canonical(event.effects):
        return differs("effects", event.effects, exact(outcome.effects))
    return []
