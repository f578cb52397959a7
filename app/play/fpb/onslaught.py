"""Which attacks the solitaire Japanese must make (16.2, 16.2.1): a search over who attacks whom.

A set of attacks is legal where each is at double strength and not into barred ground, or a Banzai attack, or made by
a unit that US units have blocked. Of the legal sets the best has, in this order: the most blocked units, the most
Banzai attacks (fpb-51), the most airstrip hexes, the most attacks, the most attackers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

MOST_EQUALS = 6
"""Equally good sets of attacks that are told apart."""


@dataclasses.dataclass(frozen=True)
class Target:
    """A US hex."""

    at: str
    defense: int
    open: bool
    """Clear, or an airstrip: where Banzai attacks are made (16.2.1)."""
    airstrip: bool


@dataclasses.dataclass(frozen=True)
class Attacker:
    """A Japanese unit."""

    code: str
    attack: int
    charges: bool
    """Whether it may take part in a Banzai attack (15.0)."""
    fronts: tuple[str, ...]
    """The hexes that it may attack."""
    barred: frozenset[str]
    """Those of them into which it makes no ordinary attack (16.2(1))."""
    compelled: frozenset[str]
    """Those of which it must attack one, whatever the strengths (16.2(4), 16.2.1)."""


@dataclasses.dataclass(frozen=True)
class Group:
    """Who attacks a hex together, as far as that decides what attack it is."""

    total: int = 0
    charging: int = 0
    mixed: bool = False
    """Whether somebody may not take part in a Banzai attack."""
    barred: bool = False
    compelled: bool = False
    plodding: bool = False
    """Whether somebody who is compelled may not."""

    def with_(self, attacker: Attacker, target: Target) -> Group:
        must = target.at in attacker.compelled
        return Group(
            min(self.total + attacker.attack, 2 * target.defense),
            min(self.charging + (attacker.attack if attacker.charges else 0), target.defense),
            self.mixed or not attacker.charges,
            self.barred or target.at in attacker.barred,
            self.compelled or must,
            self.plodding or (must and not attacker.charges),
        )

    def kind(self, target: Target, readings: dict[str, str]) -> str | None:
        """What attack it is: `banzai`, `ordinary`, or none that is made."""
        if self.compelled:
            return "ordinary" if self.plodding else None if self.mixed else "banzai"
        doubled = self.total >= 2 * target.defense and not self.barred
        charge = target.open and not self.mixed and self.total >= target.defense
        if readings["fpb-11"] == "b":
            return "ordinary" if doubled else "banzai" if charge else None
        if charge:
            return "banzai"
        # who could charge by themselves must, and nobody else joins them
        could_charge = target.open and self.charging >= target.defense and self.charging > 0
        return "ordinary" if doubled and not could_charge else None


State = tuple[Group | None, ...]
Value = tuple[int, int, int]
"""Compelled units that attack, attackers of airstrip hexes, attackers."""
Assignment = tuple[tuple[str, str], ...]


def onslaughts(
    attackers: list[Attacker], targets: dict[str, Target], readings: dict[str, str]
) -> list[list[dict[str, Any]]]:
    """The best sets of attacks; several where they are equally good and not the same."""
    best: list[list[dict[str, Any]]] = [[]]
    for fight in _fights(attackers):
        found = _best(fight, targets, readings)
        best = [made + more for made in best for more in found][:MOST_EQUALS]
    return [sorted(made, key=lambda attack: attack["at"]) for made in best]


def _fights(attackers: list[Attacker]) -> Iterable[list[Attacker]]:
    """Attackers who share targets, directly or through others."""
    left = list(attackers)
    while left:
        fight, hexes = [left.pop(0)], set[str]()
        hexes |= set(fight[0].fronts)
        while joining := [other for other in left if hexes & set(other.fronts)]:
            for other in joining:
                left.remove(other)
                hexes |= set(other.fronts)
            fight += joining
        yield sorted(fight, key=lambda attacker: attacker.code)


def _best(
    fight: list[Attacker], targets: dict[str, Target], readings: dict[str, str]
) -> list[list[dict[str, Any]]]:
    hexes = sorted({at for attacker in fight for at in attacker.fronts})
    states: dict[State, tuple[Value, list[Assignment]]] = {(None,) * len(hexes): ((0, 0, 0), [()])}
    for attacker in fight:
        grown: dict[State, tuple[Value, list[Assignment]]] = {}
        for state, (value, ways) in states.items():
            for at in (*attacker.fronts, None):
                _grow(grown, state, value, ways, attacker, at, hexes, targets)
        states = grown
    ranked: dict[tuple[Any, ...], list[Assignment]] = {}
    for state, (value, ways) in states.items():
        rank = _rank(state, value, [targets[at] for at in hexes], readings)
        if rank is not None:
            ranked.setdefault(rank, []).extend(ways)
    return _distinct(ranked[max(ranked)], fight, targets, readings)


def _grow(
    grown: dict[State, tuple[Value, list[Assignment]]],
    state: State,
    value: Value,
    ways: list[Assignment],
    attacker: Attacker,
    at: str | None,
    hexes: list[str],
    targets: dict[str, Target],
) -> None:
    """One more attacker against one hex, or against none."""
    if at is not None:
        target, n = targets[at], hexes.index(at)
        state = (*state[:n], (state[n] or Group()).with_(attacker, target), *state[n + 1 :])
        value = value[0] + (at in attacker.compelled), value[1] + target.airstrip, value[2] + 1
        ways = [(*way, (attacker.code, at)) for way in ways]
    known = grown.get(state)
    if known is None or value > known[0]:
        grown[state] = value, ways[:MOST_EQUALS]
    elif value == known[0]:
        grown[state] = value, (known[1] + ways)[:MOST_EQUALS]


def _rank(
    state: State, value: Value, targets: list[Target], readings: dict[str, str]
) -> tuple[int, ...] | None:
    """How good a set of attacks is; None where one of them is not made."""
    made = [(group, target) for group, target in zip(state, targets, strict=True) if group is not None]
    kinds = [group.kind(target, readings) for group, target in made]
    if None in kinds:
        return None
    banzai = kinds.count("banzai")
    doubles = [target for group, target in made if group.total >= 2 * target.defense]
    airstrips = sum(target.airstrip for _, target in made)
    first: tuple[int, ...] = (banzai,)
    if readings["fpb-51"] == "b":
        first = (sum(target.airstrip for target in doubles), len(doubles), banzai)
    return (value[0], *first, airstrips, len(made), value[1], value[2])


def _distinct(
    ways: list[Assignment], fight: list[Attacker], targets: dict[str, Target], readings: dict[str, str]
) -> list[list[dict[str, Any]]]:
    """Sets of attacks that differ in more than which of two equals attacks where."""
    units = {attacker.code: attacker for attacker in fight}
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for way in ways:
        by: dict[str, list[str]] = {}
        for code, at in way:
            by.setdefault(at, []).append(code)
        attacks: list[dict[str, Any]] = []
        for at in sorted(by):
            group = Group()
            for code in by[at]:
                group = group.with_(units[code], targets[at])
            attacks.append({"by": by[at], "at": at, "banzai": group.kind(targets[at], readings) == "banzai"})
        key = tuple(
            (one["at"], one["banzai"], sum(units[code].attack for code in one["by"])) for one in attacks
        )
        found.setdefault(key, attacks)
    return list(found.values())[:MOST_EQUALS]
