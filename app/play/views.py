"""What a seat sees: the one place where views of a game are made.

The referee sees all. A side does not see what is hidden from it, observers nothing that is hidden from anybody:
tracks that a game's form marks as hidden (`db.counter_forms.Hidden`), and of counters what the game says in
`hidden` of `app/play/<code>/views.py`. What is left out of a position is left out of the log, too: a word that
only a hidden place holds (a card of a hand) is told as hidden wherever it stands.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from sqlalchemy.engine import Connection

from app.play.log import moment, moments
from app.play.tables import GameError, Table, Tree, open_game
from db.counter_forms import Hidden
from db.counters import TRACKS
from db.games import OBSERVER, REFEREE
from db.rulesets import read_ruleset

UNSEEN = "hidden"
"""What stands where something is not told."""
ANY = "*"
Path = tuple[str, ...]
Unseen = Callable[[Tree, str], Tree | None]
"""A counter as a seat sees it: the same, with less, or None where it is not seen at all."""


def seats_of(ruleset: str) -> tuple[str, ...]:
    """Everybody who may look at a game."""
    return (REFEREE, *read_ruleset(ruleset).facts.sides, OBSERVER)


def check_seat(ruleset: str, seat: str) -> str:
    """A seat that there is, or an error."""
    known = seats_of(ruleset)
    if seat not in known:
        raise GameError(f"There is no seat {seat[:40]!r}.", f"There are {', '.join(known)}.")
    return seat


@functools.cache
def hidden_tracks(ruleset: str) -> tuple[tuple[Path, str], ...]:
    """Where hidden things lie beside the map, each with from whom: `owner` or `all`."""
    form = TRACKS.get(ruleset)
    return tuple(_hidden(form, ())) if form is not None else ()


def _hidden(form: Any, path: Path, above: tuple[type, ...] = ()) -> Iterator[tuple[Path, str]]:
    if form in above:
        # a form within itself, such as tracks by island: told once
        return
    for name, field in form.model_fields.items():
        here = (*path, field.alias or name)
        mark = next((extra for extra in _extras(field) if isinstance(extra, Hidden)), None)
        if mark is not None:
            yield here, mark.from_
        else:
            for further, inner in _forms(field.annotation):
                yield from _hidden(inner, (*here, *further), (*above, form))


def _extras(field: Any) -> Iterator[Any]:
    """What is said of a field, also within `… | None`."""
    yield from field.metadata
    waiting = [field.annotation]
    while waiting:
        one = waiting.pop()
        yield from getattr(one, "__metadata__", ())
        waiting += [part for part in get_args(one) if not isinstance(part, str)]


def _forms(annotation: Any) -> Iterator[tuple[Path, type[BaseModel]]]:
    """The forms that a field may hold, and how deep: those of a mapping lie under any key."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield (), annotation
    deeper: Path = (ANY,) if get_origin(annotation) is dict else ()
    for part in get_args(annotation):
        for further, form in _forms(part):
            yield (*deeper, *further), form


def _lies_in(path: Path, hidden: Path) -> bool:
    return len(path) >= len(hidden) and all(
        want in (ANY, have) for want, have in zip(hidden, path, strict=False)
    )


@dataclasses.dataclass(frozen=True)
class View:
    """What one seat sees of games of a ruleset."""

    ruleset: str
    seat: str = REFEREE

    @property
    def whole(self) -> bool:
        """Whether nothing is hidden."""
        return self.seat == REFEREE

    def sees(self, path: Path, hidden_from: str) -> bool:
        """Whether a hidden track may be looked at: its owner is the side that stands in its path."""
        return self.whole or (hidden_from == "owner" and self.seat in path)

    def tracks(self, tracks: Tree) -> Tree:
        """Tracks as the seat sees them: of what is hidden, how much it is."""
        if self.whole:
            return tracks
        return {key: self._track((key,), value) for key, value in tracks.items()}

    def _track(self, path: Path, value: Any) -> Any:
        for hidden, from_ in hidden_tracks(self.ruleset):
            if _lies_in(path, hidden):
                return self._unseen(path, value, from_)
        if isinstance(value, Mapping):
            return {key: self._track((*path, key), one) for key, one in value.items()}
        return value

    def _unseen(self, path: Path, value: Any, from_: str) -> Any:
        if self.sees(path, from_):
            return value
        if isinstance(value, Mapping):
            return {key: self._unseen((*path, key), one, from_) for key, one in value.items()}
        return len(value) if isinstance(value, list) else UNSEEN

    def unit(self, unit: Tree) -> Tree | None:
        """A counter as the seat sees it; None where it does not."""
        return unit if self.whole else _unit_view(self.ruleset)(unit, self.seat)

    def position(self, tree: Tree) -> Tree:
        """A position, as one tree, as the seat sees it."""
        if self.whole:
            return tree
        units = tree["units"]
        if isinstance(units, Mapping):
            seen: Any = {code: one for code, unit in units.items() if (one := self.unit(unit)) is not None}
        else:
            seen = [one for unit in units if (one := self.unit(unit)) is not None]
        return tree | {"units": seen, "tracks": self.tracks(tree.get("tracks", {}))}

    def words(self, tree: Tree) -> set[str]:
        """Names that only hidden places hold: cards of a hand, counters in a cup, units that are not seen."""
        if self.whole:
            return set()
        seen = self.position(tree)
        known = {*_names(seen["tracks"]), *_units(seen)}
        return {name for name in (*_names(tree.get("tracks", {})), *_units(tree)) if name not in known}

    def event(self, connection: Connection, table: Table, event: Tree) -> Tree:
        """An event as the seat sees it."""
        return self.events(connection, table, [event])[0]

    def events(self, connection: Connection, table: Table, events: Sequence[Tree]) -> list[Tree]:
        """Events as the seat sees them: in none is told what is hidden before or after it."""
        if self.whole:
            return list(events)
        told = {event["number"]: event for event in events}
        seen: dict[int, Tree] = {}
        for first, last in _runs(told):
            before: set[str] = set()
            for number, tree in moments(connection, table, max(first - 1, 1), last):
                words = self.words(tree)
                if number in told:
                    seen[number] = self._event(told[number], before | words)
                before = words
        return [seen[event["number"]] for event in events]

    def _event(self, event: Tree, words: set[str]) -> Tree:
        told = {key: value for key, value in event.items() if key != "changes"}
        told["effects"] = [self._effect(effect) for effect in event.get("effects", [])]
        seen: Tree = without(told, words)
        return seen

    def words_now(self, connection: Connection, table: Table, number: int | None = None) -> set[str]:
        """Words that only hidden places hold, now or after an event."""
        return set() if self.whole else self.words(moment(connection, table, number or table.events))

    def pending(self, connection: Connection, table: Table) -> Tree | None:
        """What is awaited, as the seat sees it: what may be chosen is for whoever chooses."""
        if table.pending is None or self.whole:
            return table.pending
        prompt = table.pending["prompt"]
        told: Tree = without(table.pending, self.words_now(connection, table))
        if prompt.get("by", table.pending["actor"]) != self.seat:
            shown = {key: value for key, value in prompt.items() if key not in ("options", "default")}
            told |= {
                "prompt": without(shown, self.words_now(connection, table)),
                "answer": {},
                "answers": {},
                "arguments": {},
            }
        else:
            told["prompt"] = prompt
        return told

    def game(self, connection: Connection, table: Table) -> Table:
        """A game as the seat sees it."""
        if self.whole:
            return table
        return dataclasses.replace(
            table, pending=self.pending(connection, table), tracks=self.tracks(table.tracks)
        )

    def _effect(self, effect: Tree) -> Tree:
        if "track" in effect and "value" in effect:
            path = tuple(str(effect["track"]).split("."))
            return effect | {"value": self._track(path, effect["value"])}
        if "side" in effect:
            side = effect["side"]
            return {
                key: value if key == "side" else self._track((side, key), value)
                for key, value in effect.items()
            }
        return effect


def observed_units(connection: Connection, name: str) -> list[str]:
    """Ids of the counters of a game that anybody may see."""
    table = open_game(connection, name)
    tree = moment(connection, table, table.events)
    return sorted(_units(View(table.ruleset, OBSERVER).position(tree)))


def _names(tree: Any) -> Iterator[str]:
    """The names of what lies in lists: texts, and the ids of what has one."""
    if isinstance(tree, Mapping):
        for value in tree.values():
            yield from _names(value)
    elif isinstance(tree, list | tuple):
        for one in tree:
            if isinstance(one, str):
                yield one
            elif isinstance(one, Mapping):
                yield from (str(one[key]) for key in ("id", "card", "unit") if key in one)


def _units(tree: Tree) -> set[str]:
    units = tree["units"]
    return set(units) if isinstance(units, Mapping) else {unit["id"] for unit in units if "id" in unit}


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """The first and last of numbers that follow each other."""
    runs: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


def without(tree: Any, words: set[str]) -> Any:
    """A tree in which those names are not told."""
    return _without(tree, words, _naming(frozenset(words))) if words else tree


def _without(tree: Any, words: set[str], naming: re.Pattern[str]) -> Any:
    if isinstance(tree, Mapping):
        return {key: _without(value, words, naming) for key, value in tree.items() if key not in words}
    if isinstance(tree, list):
        return [_without(one, words, naming) for one in tree]
    if isinstance(tree, str):
        return naming.sub(UNSEEN, tree)
    return tree


@functools.lru_cache(maxsize=64)
def _naming(words: frozenset[str]) -> re.Pattern[str]:
    """What finds those names where they stand alone."""
    named = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"(?<![\w-])(?:{named})(?![\w-])")


@functools.cache
def _unit_view(ruleset: str) -> Unseen:
    name = f"app.play.{ruleset}.views"
    if importlib.util.find_spec(f"app.play.{ruleset}") is None or importlib.util.find_spec(name) is None:
        return lambda unit, seat: unit
    made: Unseen = importlib.import_module(name).seen
    return made
