"""The conformance suite as precedents: every case by its id, with what it asks, applies and touches.

The index (`rulesets/cases.json`) is written by `sightline conformance --index`; the cases themselves are the files
of `tests/cases`, which an installed Sightline has beside its rulesets. No database is needed.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Collection, Iterable
from pathlib import Path

from db.rulesets import FOLDER as RULESETS
from db.settings import CHECKOUT

INDEX = RULESETS / "cases.json"
"""`{"css": {"css-7.1-sameB": {"title": …, "kinds": […], "rules": […], "points": […], "terrain": […]}}}`."""
PACKAGED = RULESETS / "cases"
FOLDER = PACKAGED if PACKAGED.is_dir() else CHECKOUT / "tests" / "cases"
WEIGHTS = {"rule": 4, "point": 8, "terrain": 2, "kind": 4}
"""How much it says that two rulings share a thing of this kind."""


@dataclasses.dataclass(frozen=True)
class Features:
    """What a ruling has in common with others, or has not."""

    rules: frozenset[str]
    points: frozenset[str] = frozenset()
    terrain: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()

    def named(self) -> set[tuple[str, str]]:
        """Each by what it is and its name."""
        return {
            (what, name)
            for what, names in (
                ("rule", self.rules),
                ("point", self.points),
                ("terrain", self.terrain),
                ("kind", self.kinds),
            )
            for name in names
        }


@dataclasses.dataclass(frozen=True)
class SuiteCase:
    """A case of the suite, as its index has it."""

    id: str
    ruleset: str
    title: str
    features: Features

    @property
    def path(self) -> Path:
        return FOLDER / self.ruleset / f"{self.id}.yaml"

    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


@functools.cache
def cases() -> dict[str, SuiteCase]:
    """Every case of the suite by its id; none where no index is there."""
    if not INDEX.is_file():
        return {}
    told = json.loads(INDEX.read_text(encoding="utf-8"))
    return {
        id: SuiteCase(
            id,
            ruleset,
            entry["title"],
            Features(*(frozenset(entry[key]) for key in ("rules", "points", "terrain", "kinds"))),
        )
        for ruleset, entries in told.items()
        for id, entry in entries.items()
    }


@functools.cache
def _citing() -> dict[tuple[str, str], list[SuiteCase]]:
    found: dict[tuple[str, str], list[SuiteCase]] = {}
    for case in cases().values():
        for rule in case.features.rules:
            found.setdefault((case.ruleset, rule), []).append(case)
    return found


def citing(ruleset: str, rule: str) -> list[SuiteCase]:
    """The cases that cite or apply a rule, in the order of their ids."""
    return sorted(_citing().get((ruleset, rule), ()), key=lambda case: case.id)


def answering(words: str, ruleset: str | None = None) -> list[SuiteCase]:
    """The cases in whose id, title or questions every word stands; an id told whole comes first."""
    wanted = words.casefold().split()
    found = [
        case
        for case in cases().values()
        if ruleset in (None, case.ruleset) and all(word in _called(case) for word in wanted)
    ]
    return sorted(found, key=lambda case: (case.id.casefold() != words.casefold().strip(), case.id))


def _called(case: SuiteCase) -> str:
    return f"{case.id} {case.title} {case.ruleset} {' '.join(case.features.kinds)}".casefold()


@functools.cache
def _commonness(ruleset: str) -> tuple[int, dict[tuple[str, str], int]]:
    """How many cases a game has, and in how many of them each thing is."""
    counts: dict[tuple[str, str], int] = {}
    own = [case for case in cases().values() if case.ruleset == ruleset]
    for case in own:
        for feature in case.features.named():
            counts[feature] = counts.get(feature, 0) + 1
    return len(own), counts


def weight(ruleset: str, feature: tuple[str, str]) -> float:
    """How much it says to share a thing: the rarer among the cases of the game, the more."""
    total, counts = _commonness(ruleset)
    return WEIGHTS[feature[0]] * math.log((total + 2) / (counts.get(feature, 0) + 1))


def likeness(ruleset: str, one: Features, other: Features) -> float:
    """How much two have in common, against how much the other is about; 0 where they share no rule and no point."""
    shared = one.named() & other.named()
    if not any(what in ("rule", "point") for what, _ in shared):
        return 0
    whole = sum(weight(ruleset, feature) for feature in other.named())
    return sum(weight(ruleset, feature) for feature in shared) / math.sqrt(max(whole, 1))


def alike(ruleset: str, features: Features, but: Collection[str] = ()) -> Iterable[tuple[float, SuiteCase]]:
    """Cases of a game that share something with a ruling, with how much."""
    for case in cases().values():
        if case.ruleset == ruleset and case.id not in but:
            score = likeness(ruleset, features, case.features)
            if score:
                yield score, case
