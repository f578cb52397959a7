"""What is left to the player in D-Day at Peleliu where priorities end in a tie, and how often the same is asked."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

from app.play.procedures import Choose, Want
from db.values import canonical

Deciding = Generator[Want, Any, Any]


@dataclasses.dataclass(frozen=True)
class Picks(Choose):
    """A choice between sets of equal size; of a longer list those count that are offered."""

    ways: tuple[tuple[str, ...], ...] = ()

    def picked(self, value: Any) -> tuple[str, ...] | None:
        """The set that an answer means; None where it is none of those offered."""
        named = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return next((way for way in self.ways if {*way} == {*map(str, named)} & self._offered), None)

    @property
    def _offered(self) -> set[str]:
        return {unit for way in self.ways for unit in way}

    def mistake(self, value: Any) -> str | None:
        if self.picked(value) is not None:
            return None
        offered = ", ".join(canonical(option) for option in self.options or ())
        return f"{canonical(value)} does not settle {self.name}; there is {offered}"


class Names:
    """Names of choices in one procedure, each once: `hit`, then `hit_2`; and lists that settle several at once."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._lists: dict[str, Any] = {}

    def name(self, base: str) -> str:
        """The name under which something is asked this time."""
        self._asked[base] += 1
        return base if self._asked[base] == 1 else f"{base}_{self._asked[base]}"

    def listed(self, base: str) -> Any:
        """The list that was told for all decisions of a kind; None where there is none."""
        return self._lists.get(base)

    def keep(self, base: str, told: Any) -> None:
        """A list holds for all further decisions of its kind."""
        self._lists[base] = told

    def pick(self, base: str, purpose: str, ways: Sequence[tuple[str, ...]]) -> Deciding:
        """One of several sets, by the player; not asked where there is but one."""
        if len(ways) == 1:
            return ways[0]
        single = len(ways[0]) == 1
        options = [way[0] if single else list(way) for way in ways]
        want = Picks(base, "us", purpose, options, ways=tuple(ways), default=options[0])
        if (told := want.picked(self.listed(base))) is not None:
            return told
        want = dataclasses.replace(want, name=self.name(base))
        answer = yield want
        if want.name == base and isinstance(answer, list):
            self.keep(base, answer)
        return want.picked(answer)

    def one(self, base: str, purpose: str, options: Sequence[str]) -> Deciding:
        """One of several, by the player."""
        [chosen] = yield from self.pick(base, purpose, [(option,) for option in options])
        return chosen
