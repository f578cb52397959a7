"""Maps of a million hexes in little memory: hexes and hexsides of a draft as numbers in arrays, not as objects."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any

from db.labels import Axial

BITS = 5
SIDE = 1 << BITS
EMPTY = bytes(4 * SIDE * SIDE)
Side = tuple[int, int, str]


class Grid:
    """A whole number up to 2³² at each place of the plane, 0 where none was set: four bytes each, where there are any."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[int, int], array[int]] = {}

    def get(self, x: int, y: int) -> int:
        block = self._blocks.get((x >> BITS, y >> BITS))
        return 0 if block is None else block[(x & SIDE - 1) << BITS | y & SIDE - 1]

    def set(self, x: int, y: int, value: int) -> None:
        key = x >> BITS, y >> BITS
        block = self._blocks.get(key)
        if block is None:
            block = self._blocks[key] = array("I", EMPTY)
        block[(x & SIDE - 1) << BITS | y & SIDE - 1] = value

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        """What was set, block by block: what is near comes soon."""
        for left, low in sorted(self._blocks):
            for n, value in enumerate(self._blocks[left, low]):
                if value:
                    yield (left << BITS) + (n >> BITS), (low << BITS) + (n & SIDE - 1), value


class HexTable(MutableMapping[Axial, Any]):
    """The hexes of a large map: each the number of what it is, since most are like many others."""

    def __init__(self, places: Iterable[Axial] = (), ground: Any = None) -> None:
        self._grid, self._count = Grid(), 0
        self._kinds: list[Any] = [None]
        self._numbers: dict[Any, int] = {}
        for place in places:
            self[place] = ground

    def __setitem__(self, place: Axial, ground: Any) -> None:
        number = self._numbers.get(ground)
        if number is None:
            number = self._numbers[ground] = len(self._kinds)
            self._kinds.append(ground)
        if not self._grid.get(*place):
            self._count += 1
        self._grid.set(*place, number)

    def __getitem__(self, place: Axial) -> Any:
        number = self._grid.get(*place)
        if not number:
            raise KeyError(place)
        return self._kinds[number]

    def __contains__(self, place: object) -> bool:
        return isinstance(place, Axial) and self._grid.get(*place) != 0

    def __delitem__(self, place: Axial) -> None:
        if not self._grid.get(*place):
            raise KeyError(place)
        self._grid.set(*place, 0)
        self._count -= 1

    def __iter__(self) -> Iterator[Axial]:
        return (Axial(q, r) for q, r, _ in self._grid)

    def __len__(self) -> int:
        return self._count


class SideSet(MutableSet[Side]):
    """What is on the hexsides of a large map: at each doubled cell a bit for each kind."""

    def __init__(self, sides: Iterable[Side] = ()) -> None:
        self._grid, self._count = Grid(), 0
        self._kinds: list[str] = []
        for side in sides:
            self.add(side)

    def _bit(self, kind: str) -> int:
        return 1 << self._kinds.index(kind) if kind in self._kinds else 0

    def add(self, side: Side) -> None:
        x, y, kind = side
        if kind not in self._kinds:
            self._kinds.append(kind)
        there, bit = self._grid.get(x, y), self._bit(kind)
        if not there & bit:
            self._grid.set(x, y, there | bit)
            self._count += 1

    def discard(self, side: Side) -> None:
        x, y, kind = side
        there, bit = self._grid.get(x, y), self._bit(kind)
        if there & bit:
            self._grid.set(x, y, there & ~bit)
            self._count -= 1

    def __contains__(self, side: object) -> bool:
        if not isinstance(side, tuple):
            return False
        x, y, kind = side
        return bool(self._grid.get(x, y) & self._bit(kind))

    def __iter__(self) -> Iterator[Side]:
        for x, y, bits in self._grid:
            for n, kind in enumerate(self._kinds):
                if bits >> n & 1:
                    yield x, y, kind

    def __len__(self) -> int:
        return self._count
