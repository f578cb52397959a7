"""Who and what can be named in a stored position: looked up for a question, all names at once."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.database import fetched
from db.labels import Axial, LabelError, Scheme, unprefixed
from db.map_draft import MapDraft
from importers.documents import MAX_DEPTH
from importers.maps import StoredMap

LONGEST = 100
"""Letters of a name, its prefix counted."""
MOST = 1000
"""Words of a question that are looked up ahead; none that can be answered has more."""
Names = Iterable[tuple[str, bool, int | None, int | None, bool]]
"""Words as `positions.named` tells them: whether a unit, at which q and r, whether a hex."""


class StoredRoster:
    """The units of a stored position and the hexes of its map."""

    def __init__(
        self,
        connection: Connection,
        map_id: int,
        position_id: int,
        ruleset: str,
        scheme: Scheme,
        known: Names = (),
    ) -> None:
        self._connection, self._position_id = connection, position_id
        self.ruleset = ruleset
        self.board: MapDraft = StoredMap(connection, map_id, ruleset, scheme)
        self._units: dict[str, Axial | None] = {}
        self._looked_up: set[str] = set()
        self._learn(known)

    def look_up(self, words: Iterable[str]) -> None:
        """Look up some words, whether each is a unit's id or a label."""
        unknown = {unprefixed(word)[1] for word in words} - self._looked_up
        if unknown:
            self._find(unknown)

    def is_unit(self, code: str) -> bool:
        if code not in self._looked_up:
            self._find({code})
        return code in self._units

    def standing(self, code: str) -> Axial | None:
        """The hex of a unit, or its beach on the way ashore; None off the map."""
        return self._units[code]

    def codes(self) -> Collection[str]:
        query = sa.text("select code from unit where position_id = :position order by id")
        return self._connection.scalars(query, {"position": self._position_id}).all()

    def _find(self, words: Collection[str]) -> None:
        scheme = self.board.scheme
        places = {word: _place(word, scheme) for word in sorted(words)}
        labels = [None if place is None else scheme.label(place) for place in places.values()]
        query = "select * from positions.named(:position, :words, :labels)"
        values = {"position": self._position_id, "words": list(places), "labels": labels}
        self._learn(tuple(row) for row in fetched(self._connection, query, values))

    def _learn(self, names: Names) -> None:
        for word, is_unit, q, r, is_hex in names:
            place = _place(word, self.board.scheme)
            if is_unit:
                self._units[word] = None if q is None or r is None else Axial(q, r)
            if place is not None and (is_hex or self.board.scheme.label(place) == word):
                self.board.hexes.note(place, is_hex)  # type: ignore[attr-defined]
            elif place is not None and not is_unit:
                # a label in another spelling was not looked for yet
                continue
            self._looked_up.add(word)


def _place(word: str, scheme: Scheme) -> Axial | None:
    try:
        return scheme.hex(word)
    except LabelError:
        return None


def words_of(value: Any) -> Iterator[str]:
    """Every word of a question that may be a name; keys may be labels too, as of what fire scored in a hex."""
    return itertools.islice(_words(value, 0), MOST)


def _words(value: Any, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return  # it is refused when it is read
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _words(key, depth)
            yield from _words(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words(item, depth + 1)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        word = str(value)
        # what is longer than any name, or cannot be stored, names nothing
        if len(word) <= LONGEST and word.isprintable():
            yield word
