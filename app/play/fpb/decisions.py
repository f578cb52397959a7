"""What the players of fpb decide in a combat: asked where there is something to decide, judged by the rules.

A decision that the rules do not allow is an answer, not a mistake: the combat is refused and nothing is changed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Literal

from pydantic import ConfigDict
from typing_extensions import TypedDict

from app.play.procedures import Choose, Refused, Want

MOST_OPTIONS = 60
"""Complete answers that a prompt lists; beyond them it tells their form."""
Placing = Literal["none", "marker"]


class CombatChoices(TypedDict, total=False):
    """What may be decided in a combat, by name."""

    __pydantic_config__ = ConfigDict(extra="forbid", coerce_numbers_to_str=True)  # type: ignore[misc]

    target: str
    attacker_marker_1: Placing
    defender_marker_1: Placing
    attacker_marker_2: Placing
    defender_marker_2: Placing
    attacker_markers: list[dict[str, Any]]
    defender_markers: list[dict[str, Any]]
    markers: int
    withheld: list[int]
    engineer: str
    deplete: str
    deplete_defender: str
    stiff: list[str]
    retreat: dict[str, list[str]]
    displace: dict[str, str]
    advance: dict[str, str]


UNASKED = {
    "deplete": ("8.2.4", "nobody on the attacking side loses a step that could be chosen"),
    "deplete_defender": ("8.2.4", "nobody on the defending side loses a step that could be chosen"),
    "engineer": ("14.0", "no engineer is lost that could be chosen"),
    "stiff": ("8.4", "nobody must retreat, so nobody stands"),
    "retreat": ("8.3", "nobody must retreat"),
    "displace": ("8.3.1", "nobody is displaced"),
    "advance": ("8.5", "nobody may advance"),
}
"""Why a decision that nothing asked for is refused."""


@dataclasses.dataclass(frozen=True)
class Decision(Choose):
    """A choice that the procedure judges itself: what is not legal is refused with its rule."""

    def mistake(self, value: Any) -> str | None:
        return None


Deciding = Generator[Want, Any, Any]


class Decisions:
    """The decisions of one combat: which were given beforehand, and which were asked for."""

    def __init__(self, given: Mapping[str, Any], alone: bool = False) -> None:
        self._given = given
        self._alone = alone
        self._asked: set[str] = set()

    def by(self, side: str) -> str:
        """Who decides for a side: in solitaire play the one player decides everything (16.0)."""
        return "us" if self._alone else side

    def one_of(self, name: str, side: str, purpose: str, options: Sequence[Any], rule: str) -> Deciding:
        """One of some; where there is one alone it is not asked for, unless it was told."""
        self._asked.add(name)
        if len(options) == 1 and name not in self._given:
            return options[0]
        chosen = yield Decision(name, self.by(side), purpose, options, default=options[0])
        if chosen not in options:
            raise Refused(rule, f"{chosen} is none of {', '.join(map(str, options))}")
        return chosen

    def some_of(
        self, name: str, side: str, purpose: str, options: Sequence[str], refusal: Callable[[str], Refused]
    ) -> Deciding:
        """Any number of some, each once."""
        self._asked.add(name)
        if not options and name not in self._given:
            return []
        chosen = yield Decision(name, self.by(side), purpose, options, many=True, default=[])
        for one in chosen:
            if one not in options:
                raise refusal(one)
        return chosen

    def plan(
        self,
        name: str,
        side: str,
        purpose: str,
        form: str,
        options: Sequence[dict[str, Any]] | None,
        needed: bool,
    ) -> Deciding:
        """A mapping by unit; who is not named does what the rules leave, or the first that they allow."""
        self._asked.add(name)
        if not needed and name not in self._given:
            return {}
        listed = options if options is not None and len(options) <= MOST_OPTIONS else None
        chosen = yield Decision(name, self.by(side), purpose, listed, form=form, default={})
        return chosen

    def finish(self) -> Deciding:
        """Refuse what was decided where there was nothing to decide; that nothing be done is always granted."""
        for name, value in self._given.items():
            if name in self._asked or name not in UNASKED:
                continue
            if value:
                raise Refused(*UNASKED[name])
            yield Decision(name, "referee", "nothing", default=value)
