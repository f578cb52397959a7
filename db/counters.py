"""Counters by game: what units, markers and conditions of each may say, as checked forms.

The words are those of the case format. One unit form a game: an attribute that the game
does not have, or that cannot be, is an error. Numbers are kept as the counter prints them.
The forms themselves are in `db/rulesets/<code>/counters.py`; here they are gathered.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from db.counter_forms import Form, MarkerKind, Unit
from db.rulesets.bob import counters as bob
from db.rulesets.bob.counters import BobConditions, BobTracks, BobUnit
from db.rulesets.ccp import counters as ccp
from db.rulesets.ccp.counters import CcpConditions, CcpTracks, CcpUnit, CcpWeapon
from db.rulesets.css import counters as css
from db.rulesets.css.counters import CssConditions, CssTracks, CssUnit, Fire, NavalZone
from db.rulesets.ddp import counters as ddp
from db.rulesets.ddp.counters import DdpConditions, DdpDepth, DdpTracks, DdpUnit
from db.rulesets.fpb import counters as fpb
from db.rulesets.fpb.counters import FpbConditions, FpbTracks, FpbUnit

__all__ = [
    "CONDITIONS", "MARKERS", "TRACKS", "UNITS", "BobUnit", "CcpUnit", "CcpWeapon", "CssUnit", "DdpDepth", "DdpUnit",
    "Fire", "Form", "FpbUnit", "MarkerKind", "NavalZone", "Unit", "unit_columns",
]  # fmt: skip

UNITS: dict[str, type[Unit]] = {
    "css": CssUnit,
    "ccp": CcpUnit,
    "fpb": FpbUnit,
    "bob": BobUnit,
    "ddp": DdpUnit,
}
MARKERS: dict[str, dict[str, MarkerKind]] = {
    "css": css.MARKERS,
    "ccp": ccp.MARKERS,
    "fpb": fpb.MARKERS,
    "bob": bob.MARKERS,
    "ddp": ddp.MARKERS,
}
CONDITIONS: dict[str, type[Form]] = {
    "css": CssConditions,
    "ccp": CcpConditions,
    "fpb": FpbConditions,
    "bob": BobConditions,
    "ddp": DdpConditions,
}
TRACKS: dict[str, type[BaseModel]] = {
    "css": CssTracks,
    "ccp": CcpTracks,
    "fpb": FpbTracks,
    "bob": BobTracks,
    "ddp": DdpTracks,
}
"""What is kept beside the map: points, cups, hands, boxes."""


def unit_columns(unit: Unit) -> tuple[str, str | None, dict[str, Any]]:
    """How a unit is stored: side, kind, and what its counter says besides."""
    said = unit.model_dump(mode="json", exclude={"id", "at", "side", "kind"}, exclude_defaults=True)
    return unit.side, getattr(unit, "kind", None), said  # type: ignore[attr-defined]
