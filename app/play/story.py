"""A game as a story: its turns with what marks them, what changed between two moments, and which events are meant."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy.engine import Connection

from app.play.log import log
from app.play.tables import Table, Tree
from db.database import fetched
from db.values import canonical

TURNS = """
select
  event.number,
  event.phase ->> 'turn' as turn,
  event.phase ->> 'phase' as phase,
  jsonb_array_length(event.rolls) as dice,
  jsonb_array_length(event.contested) as points,
  event.legality,
  event.undoes <> '{}' as undo,
  count(annotation.id) as notes,
  count(annotation.ruling) as rulings
from event
left join annotation on annotation.game_id = event.game_id and annotation.number = event.number
where event.game_id = :game
group by event.game_id, event.number
order by event.number
"""
MARKS = {"rulings": "◆", "points": "◇", "dice": "⚂", "notes": "✎"}
"""What marks a turn: kept rulings, contested points, dice, notes."""


@dataclasses.dataclass
class Turn:
    """A turn of the game as its log has it."""

    title: str
    first: int
    last: int
    marks: dict[str, int] = dataclasses.field(default_factory=lambda: dict.fromkeys(MARKS, 0))


def turns(connection: Connection, table: Table) -> list[Turn]:
    """The turns that were played, each with its events and what marks them."""
    found: list[Turn] = []
    for row in fetched(connection, TURNS, {"game": table.id}):
        title = row.turn or ("set-up" if row.phase in (None, "set_up") else str(row.phase))
        if not found or found[-1].title != title:
            found.append(Turn(title, row.number, row.number))
        turn = found[-1]
        turn.last = row.number
        for mark in MARKS:
            turn.marks[mark] += getattr(row, mark)
    return found


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which events of the log: those that are of a side, do something, and speak of a unit, a rule or a point."""

    side: str = ""
    action: str = ""
    about: str = ""
    """A unit, or any other word of what was done."""
    rule: str = ""
    point: str = ""

    def __bool__(self) -> bool:
        return any(dataclasses.astuple(self))

    def holds(self, event: Tree) -> bool:
        """Whether an event is meant."""
        return (
            (not self.side or event["actor"] == self.side)
            and (not self.action or event["action"] == self.action)
            and (not self.rule or any(_within(step["rule"], self.rule) for step in event.get("steps", ())))
            and (not self.point or any(one["point"] == self.point for one in event.get("contested", ())))
            and (not self.about or self.about in _spoken(event))
        )


def _within(rule: str, wanted: str) -> bool:
    return rule == wanted or rule.startswith(f"{wanted}.")


def _spoken(event: Tree) -> set[str]:
    """Every word of an event's arguments and effects."""

    def words(tree: Any) -> Iterator[str]:
        if isinstance(tree, Mapping):
            for key, value in tree.items():
                yield str(key)
                yield from words(value)
        elif isinstance(tree, list):
            for one in tree:
                yield from words(one)
        else:
            yield str(tree)

    return set(words([event.get("arguments", {}), event.get("effects", [])]))


def events(connection: Connection, table: Table, wanted: Wanted) -> list[Tree]:
    """The events that are meant, in order."""
    return [event for event in log(connection, table) if wanted.holds(event)]


# What changed between two moments.


@dataclasses.dataclass(frozen=True)
class Changed:
    """Something that is otherwise than it was: a unit, a condition, a track; or a marker placed or taken off."""

    what: str
    key: str
    was: Any
    now: Any


def changed(before: Tree, after: Tree) -> list[Changed]:
    """What is otherwise in one position than in another, in the order of names."""
    found: list[Changed] = []
    for code in sorted(before["units"].keys() | after["units"].keys()):
        old, new = before["units"].get(code), after["units"].get(code)
        if old is None or new is None:
            found.append(
                Changed(code, "", None if old is None else "there", None if new is None else "there")
            )
            continue
        found += _keys(code, old, new)
    found += _keys("conditions", before["conditions"], after["conditions"])
    found += _keys("tracks", _leaves(before["tracks"]), _leaves(after["tracks"]))
    lay, lie = (sorted(map(canonical, tree["markers"])) for tree in (before, after))
    found += [Changed(one, "marker", one, None) for one in _more(lay, lie)]
    found += [Changed(one, "marker", None, one) for one in _more(lie, lay)]
    return found


def _keys(what: str, old: Tree, new: Tree) -> list[Changed]:
    keys = sorted(old.keys() | new.keys())
    return [Changed(what, key, old.get(key), new.get(key)) for key in keys if old.get(key) != new.get(key)]


def _leaves(tree: Tree, path: str = "") -> Tree:
    flat: Tree = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat |= _leaves(value, f"{path}{key}.")
        else:
            flat[f"{path}{key}"] = value
    return flat


def _more(some: list[str], others: Iterable[str]) -> list[str]:
    left = list(some)
    for one in others:
        if one in left:
            left.remove(one)
    return left
