"""What a side sees of a counter of the other (15.0): under a Conceal counter nobody knows what lies."""

from __future__ import annotations

from typing import Any

COVER = ("at", "side", "upper_level", "under_bridge")
"""What a Conceal counter itself shows: whose it is and where."""


def seen(unit: dict[str, Any], seat: str) -> dict[str, Any] | None:
    """A counter as a seat sees it: its own in full; of the others a Concealed one as `kind: concealed`.

    What waits off the map in a cup, or as a Suicide Team, is not seen at all (16.2, 59.4).
    """
    if unit.get("side") == seat:
        return unit
    if unit.get("status") == "fow" or (unit.get("kind") == "satt" and unit.get("at") is None):
        return None
    if unit.get("concealed"):
        shown = {key: unit[key] for key in COVER if key in unit}
        return shown | {"kind": "concealed", "concealed": unit["concealed"], **_marks(unit)}
    return unit


def _marks(unit: dict[str, Any]) -> dict[str, Any]:
    """Used and Op Fire counters lie open (4.2, 4.3)."""
    return {key: unit[key] for key in ("used", "op_fire") if unit.get(key)}
