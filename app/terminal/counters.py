"""The units and markers of a position, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.terminal.output import print_table
from importers.map_writing import flow


def print_counters(tree: Mapping[str, Any]) -> None:
    """Units, then markers, of a position as its file has it."""
    for rows, said in (
        ("units", ("id", "side", "kind", "at")),
        ("markers", ("kind", "at", "value", "facing")),
    ):
        if tree[rows]:
            print_table(
                (*said, "counter" if rows == "units" else "besides"),
                [(*(entry.get(key) for key in said), _rest(entry, said)) for entry in tree[rows]],
                title=rows,
            )


def _rest(entry: Mapping[str, Any], said: tuple[str, ...]) -> str:
    """What a counter says besides its columns, in a line."""
    rest = {key: value for key, value in entry.items() if key not in said}
    return flow(rest)[1:-1].replace('"', "") if rest else ""
