"""What-if: changes to a position that are kept nowhere, as a document of a few words.

`{"units": {"A/1/31": {"at": "13.16"}, "9 Tank": null, "X": {a whole unit}},
"markers": {"add": [{"kind": "mines", "at": "13.16"}], "remove": [{"kind": "dg", "at": "13.15"}]},
"conditions": {"weather": "rain"}, "hexes": {"13.16": {"terrain": "brush", "level": 2}},
"hexsides": {"13.16|13.17": "cliff", "13.17|14.16": null}}`: what a page carries in its address and the API takes.
The words within are those of case files, and are checked as those are.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.counters import Unit as Counter
from db.labels import Axial, LabelError, nearest, side_hexes
from db.map_draft import MapDraft, vocabulary
from db.maps import Hex, Hexside
from db.positions import Marker, Position, Unit
from importers.cases import marker_row, read_marker, read_unit, unit_row
from importers.documents import Node, Problems, read_document, read_values
from importers.map_reading import read_hex
from importers.map_writing import flow
from importers.maps import open_map
from importers.positions import marker_tree, standing, unit_tree
from importers.questions import read_conditions

Tree = dict[str, Any]
Lying = TypeVar("Lying")
"""A marker, in whichever form it is at hand."""
NAME = "changes"
KEYS = ("units", "markers", "conditions", "hexes", "hexsides")
HEX_KEYS = ("terrain", "level")
MARKER_KEYS = ("add", "remove")
LONGEST = 32_000
"""Characters: an address cannot be much longer."""
MOST = 1000
"""Units, markers and conditions that one what-if changes: each is a row to be written."""
LEFT_BEHIND = ("zone", "in_cave")
"""What a counter says of the place it is in, and so no longer says when it is moved."""


@dataclasses.dataclass(frozen=True)
class Changes:
    """What is otherwise than in the position that is saved."""

    units: Mapping[str, Tree | None] = dataclasses.field(default_factory=dict)
    """By id: fields that are otherwise, a whole new unit, or None for one that is taken away."""
    added: tuple[Tree, ...] = ()
    removed: tuple[Tree, ...] = ()
    """Markers."""
    conditions: Tree = dataclasses.field(default_factory=dict)
    hexes: Mapping[str, Tree] = dataclasses.field(default_factory=dict)
    """By label: terrain and level that are otherwise."""
    hexsides: Mapping[str, str | None] = dataclasses.field(default_factory=dict)
    """By their two labels: what lies there and nothing else, or None for nothing at all."""

    def __bool__(self) -> bool:
        return bool(self.units or self.added or self.removed or self.conditions or self.on_ground)

    def __len__(self) -> int:
        otherwise = (self.units, self.added, self.removed, self.conditions, self.hexes, self.hexsides)
        return sum(map(len, otherwise))

    @property
    def on_ground(self) -> bool:
        """Whether the map is otherwise, too."""
        return bool(self.hexes or self.hexsides)

    def as_dict(self) -> Tree:
        markers = {"add": list(self.added), "remove": list(self.removed)}
        told = {
            "units": dict(self.units),
            "markers": {key: listed for key, listed in markers.items() if listed},
            "conditions": self.conditions,
            "hexes": dict(self.hexes),
            "hexsides": dict(self.hexsides),
        }
        return {key: value for key, value in told.items() if value}

    def as_text(self) -> str:
        """The document in as few letters as it takes; none where nothing is changed."""
        if not self:
            return ""
        # a number by its own digits: 13.10 is a label
        return flow(self.as_dict(), functools.partial(json.dumps, ensure_ascii=False), tight=True)

    def make(self, connection: Connection, map_id: int, position_id: int, conditions: Tree) -> Tree:
        """Change the rows of a position that is ours to change; the conditions that hold then.

        Every mistake is told at its place in this document, and then nothing is changed.
        """
        problems = Problems()
        board = open_map(connection, map_id)
        standing = self._standing(connection, position_id, board.ruleset)
        codes = functools.partial(_codes, connection, position_id)
        units = list(self._units(standing, board, codes, problems))
        lying = _markers(connection, position_id) if self.removed else []
        gone = list(self._gone(lying, problems))
        added = [
            marker
            for n, told in enumerate(self.added, 1)
            if (marker := read_marker(_node(told, f"markers/add/{n}"), board, problems)) is not None
        ]
        now = self._conditions(conditions, board.ruleset, problems)
        ground = list(self._ground(board, problems))
        sides = list(self._sides(board, problems))
        problems.raise_if_any()
        _change_ground(connection, map_id, board.ruleset, ground, sides)
        where = {"position_id": position_id, "map_id": map_id}
        if taken := [code for code, change in self.units.items() if change is None]:
            connection.execute(sa.delete(Unit).where(Unit.position_id == position_id, Unit.code.in_(taken)))
        for unit, place in units:
            row = unit_row(unit, place)
            if unit.id in standing:
                there = (Unit.position_id == position_id) & (Unit.code == unit.id)
                connection.execute(sa.update(Unit).where(there).values(**row))
            else:
                connection.execute(sa.insert(Unit).values(**where, **row))
        if gone:
            connection.execute(sa.delete(Marker).where(Marker.id.in_(gone)))
        if added:
            connection.execute(sa.insert(Marker), [{**where, **marker_row(marker)} for marker in added])
        if self.conditions:
            connection.execute(sa.update(Position).where(Position.id == position_id).values(conditions=now))
        return now

    def _standing(self, connection: Connection, position_id: int, ruleset: str) -> dict[str, Tree]:
        """The units that are changed, as they are."""
        rows = standing(connection, Unit, position_id, Unit.code.in_(self.units)) if self.units else ()
        return {row.code: unit_tree(row, ruleset) for row in rows}

    def _units(
        self,
        standing: Mapping[str, Tree],
        board: MapDraft,
        codes: Callable[[], Collection[str]],
        problems: Problems,
    ) -> Iterable[tuple[Counter, Axial | None]]:
        """The units that come, and those whose counter says otherwise."""
        for code, change in self.units.items():
            place = f"units/{code}"
            if code not in standing and (change is None or "side" not in change):
                at, alike = Node(file=NAME, key=place), functools.partial(_alike, code, codes)
                problems.add(at, f"there is no unit {code!r}", alike)
            elif change is not None:
                told = {"id": code, **standing.get(code, {}), **change}
                said = {key: value for key, value in told.items() if value is not None}
                node = _node(said, place)
                if str(said.get("id")) != code:
                    problems.add(node.at(["id"]), f"{code!r} keeps its id; take it away and add another")
                elif (unit := read_unit(node, board, problems)) is not None:
                    yield unit

    def _gone(self, lying: list[tuple[int, Tree]], problems: Problems) -> Iterable[int]:
        """The rows of the markers that are taken away."""
        left = list(lying)
        for n, gone in enumerate(self.removed, 1):
            found = _meant(gone, left, lambda marker: marker[1])
            if found is None:
                at = Node(file=NAME, key=f"markers/remove/{n}")
                problems.add(at, f"there is no {gone.get('kind')} marker in {gone.get('at')}")
            else:
                left.remove(found)
                yield found[0]

    def _conditions(self, conditions: Tree, ruleset: str, problems: Problems) -> Tree:
        if not self.conditions:
            return conditions
        told = {key: value for key, value in {**conditions, **self.conditions}.items() if value is not None}
        return read_conditions(_node(told, "conditions"), ruleset, problems)

    def _ground(self, board: MapDraft, problems: Problems) -> Iterable[tuple[Axial, Tree]]:
        """The hexes that are otherwise."""
        words = vocabulary(board.ruleset)
        for label, told in self.hexes.items():
            node = _node(told, f"hexes/{label}")
            keys = node.mapping(problems, HEX_KEYS)
            named = read_values(label, NAME)
            named.key = f"hexes/{label}"
            place = read_hex(named, board, problems)
            terrain = keys["terrain"].word(problems, "terrain", words.terrain) if "terrain" in keys else None
            level = keys["level"].whole(problems, *words.levels) if "level" in keys else None
            said = {"terrain": terrain, "level": level}
            if place is not None:
                yield place, {key: value for key, value in said.items() if value is not None}

    def _sides(self, board: MapDraft, problems: Problems) -> Iterable[tuple[tuple[int, int], str | None]]:
        """The hexsides that are otherwise."""
        words = vocabulary(board.ruleset)
        for label, kind in self.hexsides.items():
            at = Node(file=NAME, key=f"hexsides/{label}")
            if kind is not None and kind not in words.hexsides:
                problems.unknown(at, "hexside", str(kind), words.hexsides)
                continue
            try:
                side = board.scheme.side(label)
            except LabelError as error:
                problems.add(at, error.message)
                continue
            if not any(place in board.hexes for place in side_hexes(*side)):
                problems.add(at, f"{label} is not on this map")
            else:
                yield side, kind

    # Each gives the changes with one more.

    def moved(self, unit: Tree, at: str | None) -> Changes:
        """A unit, as it is now, in another hex, or off the map."""
        left = {key: None for key in LEFT_BEHIND if unit.get(key)}
        return self._with_unit(unit["id"], {**(self.units.get(unit["id"]) or {}), "at": at, **left})

    def without_unit(self, code: str, *, saved: bool) -> Changes:
        """A unit taken away; one that was only added is forgotten."""
        if saved:
            return self._with_unit(code, None)
        return dataclasses.replace(self, units={key: it for key, it in self.units.items() if key != code})

    def with_unit(self, unit: Tree) -> Changes:
        """A new unit, or one whose counter says otherwise."""
        return self._with_unit(unit["id"], {key: value for key, value in unit.items() if key != "id"})

    def with_marker(self, marker: Tree) -> Changes:
        return dataclasses.replace(self, added=(*self.added, marker))

    def without_marker(self, marker: Tree) -> Changes:
        added = _meant(marker, reversed(self.added), lambda mine: mine)
        if added is not None:
            return dataclasses.replace(self, added=tuple(mine for mine in self.added if mine is not added))
        return dataclasses.replace(self, removed=(*self.removed, marker))

    def under(self, conditions: Tree) -> Changes:
        """Just these conditions otherwise than they are saved."""
        return dataclasses.replace(self, conditions=conditions)

    def painted(self, label: str, ground: Tree) -> Changes:
        """A hex with other terrain, another level, or both."""
        return dataclasses.replace(self, hexes={**self.hexes, label: {**self.hexes.get(label, {}), **ground}})

    def sided(self, label: str, kind: str | None) -> Changes:
        """A hexside with this on it, or with nothing."""
        return dataclasses.replace(self, hexsides={**self.hexsides, label: kind})

    def _with_unit(self, code: str, change: Tree | None) -> Changes:
        return dataclasses.replace(self, units={**self.units, code: change})


NOTHING = Changes()


def read_changes(text: str) -> Changes:
    """The changes in a text, or `Problems`; what the counters say is checked when they are applied."""
    if not text.strip():
        return NOTHING
    try:
        return changes_of(read_document(text, f"{NAME}.json", max_bytes=LONGEST))
    except Problems as problems:
        # nobody wrote a file: the place within the document is what tells
        found = (dataclasses.replace(problem, file=NAME, line=None) for problem in problems.found)
        raise Problems(found).told() from None


def changes_of(root: Node) -> Changes:
    """The changes that a tree tells."""
    problems = Problems()
    keys = root.mapping(problems, KEYS)
    units: dict[str, Tree | None] = {}
    for code, node in keys["units"].mapping(problems).items() if "units" in keys else ():
        if node.value is not None and not isinstance(node.value, dict):
            problems.add(node, f"expected the fields of a unit, or null to take it away; found {node.kind}")
        units[code] = node.plain()
    markers = keys["markers"].mapping(problems, MARKER_KEYS) if "markers" in keys else {}
    listed: dict[str, list[Tree]] = {key: [] for key in MARKER_KEYS}
    for key, node in markers.items():
        for marker in node.items(problems):
            marker.mapping(problems, required=("kind", "at"))
            listed[key].append(marker.plain())
    conditions = keys["conditions"].mapping(problems) if "conditions" in keys else {}
    changes = Changes(
        units,
        tuple(listed["add"]),
        tuple(listed["remove"]),
        {key: node.plain() for key, node in conditions.items()},
        {label: node.plain() for label, node in _hexes(keys, problems)},
        {label: node.plain() for label, node in _mapping(keys, "hexsides", problems)},
    )
    if len(changes) > MOST:
        problems.add(
            root, f"{len(changes)} changes are more than {MOST}; import the position as it is thought of"
        )
    problems.raise_if_any()
    return changes


def _mapping(keys: Mapping[str, Node], key: str, problems: Problems) -> Iterable[tuple[str, Node]]:
    return keys[key].mapping(problems).items() if key in keys else ()


def _hexes(keys: Mapping[str, Node], problems: Problems) -> Iterable[tuple[str, Node]]:
    for label, node in _mapping(keys, "hexes", problems):
        if isinstance(node.value, dict):
            yield label, node
        else:
            problems.add(node, f"expected terrain, level or both; found {node.kind}")


def _change_ground(
    connection: Connection,
    map_id: int,
    ruleset: str,
    hexes: Iterable[tuple[Axial, Tree]],
    sides: Iterable[tuple[tuple[int, int], str | None]],
) -> None:
    """Change rows of the map itself, to be undone with the savepoint of the what-if."""
    for place, ground in hexes:
        if ground:
            there = (Hex.map_id == map_id) & (Hex.q == place.q) & (Hex.r == place.r)
            connection.execute(sa.update(Hex).where(there).values(**ground))
    for (x, y), kind in sides:
        there = (Hexside.map_id == map_id) & (Hexside.x == x) & (Hexside.y == y)
        connection.execute(sa.delete(Hexside).where(there))
        if kind is not None:
            row = {"map_id": map_id, "x": x, "y": y, "kind": kind, "ruleset": ruleset}
            connection.execute(sa.insert(Hexside).values(**row))


def _node(value: Tree, place: str) -> Node:
    """A part of the document, told by its place in it."""
    node = read_values(value, NAME)
    node.key = place
    return node


def _codes(connection: Connection, position_id: int) -> Collection[str]:
    return connection.scalars(sa.select(Unit.code).where(Unit.position_id == position_id)).all()


def _alike(code: str, codes: Callable[[], Collection[str]]) -> list[str]:
    return nearest(code, codes())


def _markers(connection: Connection, position_id: int) -> list[tuple[int, Tree]]:
    return [(row.id, marker_tree(row, row.label)) for row in standing(connection, Marker, position_id)]


def _meant(named: Tree, lying: Iterable[Lying], says: Callable[[Lying], Tree]) -> Lying | None:
    """The marker that is named; of several, the one of which the least is left unsaid."""
    return min(
        (marker for marker in lying if _same(says(marker), named)), key=lambda it: len(says(it)), default=None
    )


def _same(marker: Tree, named: Tree) -> bool:
    """Whether a marker is the one that is named: by kind and hex, and whatever else is told of it."""
    known = {_facing(key): value for key, value in marker.items()}
    return all(str(known.get(_facing(key))) == str(value) for key, value in named.items())


def _facing(key: str) -> str:
    """`side` and `facing` are one thing."""
    return "facing" if key == "side" else key
