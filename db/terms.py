"""Finding a game's terms in running text: for links under the words of a digest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Use(NamedTuple):
    """A stretch of text, and the term that it is; none between the terms."""

    text: str
    term: str | None


class TermFinder:
    """Knows the names of a game's terms; the longest name that fits counts.

    Abbreviations are matched as they are written, so that `PA` is not found in `pa`; of
    other words case does not matter, and a plural is the same term.
    """

    def __init__(self, terms: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._names: dict[str, str] = {}
        for term, aliases in terms:
            for name in (term, *aliases):
                self._names.setdefault(self._key(name), term)
        names = sorted(self._names, key=len, reverse=True)
        found = "|".join(self._pattern(name) for name in names)
        self._found = re.compile(rf"(?<![\w-])(?:{found})(?![\w-])") if names else None

    @staticmethod
    def _is_abbreviation(name: str) -> bool:
        return name.isupper() or len(name) < 3

    def _key(self, name: str) -> str:
        return name if self._is_abbreviation(name) else name.lower()

    def _pattern(self, name: str) -> str:
        escaped = re.escape(name)
        return escaped if self._is_abbreviation(name) else rf"(?i:{escaped}(?:s|es)?)"

    def _term(self, found: str) -> str:
        for form in (found, found.lower(), found.lower().removesuffix("s"), found.lower().removesuffix("es")):
            if form in self._names:
                return self._names[form]
        raise KeyError(found)

    def uses(self, text: str) -> Iterator[Use]:
        """The whole text in stretches, in order."""
        at = 0
        for match in self._found.finditer(text) if self._found else ():
            if match.start() > at:
                yield Use(text[at : match.start()], None)
            yield Use(match[0], self._term(match[0]))
            at = match.end()
        if at < len(text):
            yield Use(text[at:], None)

    def used_in(self, text: str) -> list[str]:
        """The terms a text uses, each once, in order."""
        return list(dict.fromkeys(use.term for use in self.uses(text) if use.term))
