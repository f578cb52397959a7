"""Keeping what was worked out for a version of something, as long as there is room.

The version is part of the key. So nothing here is ever out of date, several processes agree without a word to each
other, and what is of an older version is not asked for any more and makes room. Read the version before what is worked
out from it: then an edit in between can only bring newer content under the older version, which nobody reads again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Values by key, the ones used last; together no larger than `most` bytes, by the sizes that are told."""

    def __init__(self, most: int) -> None:
        self._most, self._size = most, 0
        self._values: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        """What is kept under a key."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Value, size: int) -> None:
        """Keep a value, unless it would take more than a quarter of the room."""
        if size > self._most // 4:
            return
        with self._lock:
            _, before = self._values.pop(key, (None, 0))
            self._values[key] = value, size
            self._size += size - before
            while self._size > self._most:
                _, (_, gone) = self._values.popitem(last=False)
                self._size -= gone

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._size = 0

    @property
    def size(self) -> int:
        """Bytes that are kept, by the sizes that were told."""
        return self._size
