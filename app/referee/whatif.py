"""What-if: changes to a position that are kept nowhere, as a document of a few words.

`{"units": {"A/1/31": {"at": "13.16"}, "9 Tank": null, "X": {a whole unit}},
"markers": {"add": [{"kind": "mines", "at": "13.16"}], "remove": [{"kind": "dg", "at": "13.15"}]},
"conditions": {"weather": "rain"}}`: what a page carries in its address and the API takes.
The words within are those of case files, and are checked as those are.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from db.labels import nearest
from db.values import plain
from importers.documents import Node, Problem, Problems, read_document

Tree = dict[str, Any]
NAME = "changes"
KEYS = ("units", "markers", "conditions")
MARKER_KEYS = ("add", "remove")
LONGEST = 32_000
"""Characters: an address cannot be much longer."""
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

    def __bool__(self) -> bool:
        return bool(self.units or self.added or self.removed or self.conditions)

    def __len__(self) -> int:
        return len(self.units) + len(self.added) + len(self.removed) + len(self.conditions)

    def as_dict(self) -> Tree:
        markers = {"add": list(self.added), "remove": list(self.removed)}
        told = {
            "units": dict(self.units),
            "markers": {key: listed for key, listed in markers.items() if listed},
            "conditions": self.conditions,
        }
        return {key: value for key, value in told.items() if value}

    def as_text(self) -> str:
        """The document in as few letters as it takes; none where nothing is changed."""
        if not self:
            return ""
        return json.dumps(self.as_dict(), ensure_ascii=False, separators=(",", ":"), default=plain)

    def applied(self, tree: Tree) -> Tree:
        """A position's tree with the changes made; the position itself stays as it is."""
        problems = Problems()
        changed = {
            **tree,
            "units": list(self._units(tree.get("units", []), problems)),
            "markers": [*self._markers(tree.get("markers", []), problems), *self.added],
        }
        if self.conditions:
            changed["conditions"] = {
                key: value
                for key, value in {**tree.get("conditions", {}), **self.conditions}.items()
                if value is not None
            }
        problems.raise_if_any()
        return changed

    def _units(self, units: list[Tree], problems: Problems) -> Iterable[Tree]:
        there = {unit["id"] for unit in units}
        for unit in units:
            change = self.units.get(unit["id"], {})
            if change is not None:
                yield {key: value for key, value in {**unit, **change}.items() if value is not None}
        for code, change in self.units.items():
            if code in there:
                continue
            if change is None or "side" not in change:
                at = Node(file=NAME, key=f"units/{code}")
                problems.add(at, f"there is no unit {code!r}", functools.partial(nearest, code, there))
            else:
                yield {"id": code} | {key: value for key, value in change.items() if value is not None}

    def _markers(self, markers: list[Tree], problems: Problems) -> list[Tree]:
        left = list(markers)
        for n, gone in enumerate(self.removed, 1):
            found = next((marker for marker in left if _same(marker, gone)), None)
            if found is None:
                at = Node(file=NAME, key=f"markers/remove/{n}")
                problems.add(at, f"there is no {gone.get('kind')} marker in {gone.get('at')}")
            else:
                left.remove(found)
        return left

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
        added = next((mine for mine in reversed(self.added) if _same(mine, marker)), None)
        if added is not None:
            return dataclasses.replace(self, added=tuple(mine for mine in self.added if mine is not added))
        return dataclasses.replace(self, removed=(*self.removed, marker))

    def under(self, conditions: Tree) -> Changes:
        """Just these conditions otherwise than they are saved."""
        return dataclasses.replace(self, conditions=conditions)

    def _with_unit(self, code: str, change: Tree | None) -> Changes:
        return dataclasses.replace(self, units={**self.units, code: change})

    def told(self, problem: Problem, tree: Tree) -> Problem | None:
        """A problem of the changed tree by its place in this document; None where it is not of our making."""
        section, _, rest = problem.place.partition("/")
        number, _, field = rest.partition("/")
        if section == "units" and number.isdigit():
            code = tree["units"][int(number) - 1].get("id")
            return _at(problem, "units", code, field) if code in self.units else None
        if section == "markers" and number.isdigit():
            added = int(number) - (len(tree["markers"]) - len(self.added))
            return _at(problem, "markers/add", str(added), field) if added > 0 else None
        if section == "conditions" and self.conditions:
            return _at(problem, "conditions", rest)
        return None


NOTHING = Changes()


def read_changes(text: str) -> Changes:
    """The changes in a text, or `Problems`; what the counters say is checked when they are applied."""
    if not text.strip():
        return NOTHING
    problems = Problems()
    root = read_document(text, f"{NAME}.json", problems, max_bytes=LONGEST)
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
    for problem in problems.found:
        problems.found[problems.found.index(problem)] = _at(problem, problem.place)
    problems.raise_if_any()
    return Changes(
        units,
        tuple(listed["add"]),
        tuple(listed["remove"]),
        {key: node.plain() for key, node in conditions.items()},
    )


def _at(problem: Problem, *place: str) -> Problem:
    where = "/".join(part for part in place if part)
    return dataclasses.replace(problem, file=NAME, line=None, place=where)


def _same(marker: Tree, named: Tree) -> bool:
    """Whether a marker is the one that is named: by kind and hex, and whatever else is told of it."""
    return all(str(marker.get(key)) == str(value) for key, value in named.items())
