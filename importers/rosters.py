"""Who and what can be named in a stored position: looked up for a question, all names at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.labels import Axial, LabelError, Scheme, unprefixed
from db.map_draft import MapDraft
from importers.documents import Node
from importers.maps import StoredMap


class StoredRoster:
    """The units of a stored position and the hexes of its map."""

    def __init__(
        self, connection: Connection, map_id: int, position_id: int, ruleset: str, scheme: Scheme
    ) -> None:
        self._connection, self._position_id = connection, position_id
        self.ruleset = ruleset
        self.board: MapDraft = StoredMap(connection, map_id, ruleset, scheme)
        self._units: dict[str, Axial | None] = {}
        self._looked_up: set[str] = set()

    def look_up(self, node: Node) -> None:
        """Look up every word below a node, whether it is a unit's id or a label."""
        self._find({unprefixed(word)[1] for word in _words(node)})

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

    def _find(self, words: set[str]) -> None:
        places = {word: place for word in words if (place := self._place(word)) is not None}
        asked = sorted(words)
        labels = [self.board.scheme.label(places[word]) if word in places else None for word in asked]
        rows = self._connection.execute(
            sa.text("select * from positions.named(:position, :words, :labels)"),
            {"position": self._position_id, "words": asked, "labels": labels},
        )
        self._looked_up |= words
        for word, is_unit, q, r, is_hex in rows:
            if is_unit:
                self._units[word] = None if q is None else Axial(q, r)
            if word in places:
                self.board.hexes.note(places[word], is_hex)  # type: ignore[attr-defined]

    def _place(self, word: str) -> Axial | None:
        try:
            return self.board.scheme.hex(word)
        except LabelError:
            return None


def _words(node: Node) -> Iterator[str]:
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            # keys may be labels too: what opportunity fire scored, by hex
            yield key
            yield from _words(child)
    elif isinstance(node.value, list):
        for child in node.value:
            yield from _words(child)
    elif node.text is not None:
        yield node.text
