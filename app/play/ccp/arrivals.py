"""Pieces that come onto the map other than by Move or Advance: placed, revealed, brought in (13.1.2, 17.4, A43.6, E70)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from app.play.ccp.caves import goes_inside
from app.play.ccp.table import SIDES, Doing, conditions, now
from app.play.procedures import Action, AnswerError, Ask, Change, Choose, Tell, Undecided
from app.referee.rulings import Need, Step

PLACED = {"box": None, "space": None, "eliminated": False, "countermix": False}
"""What a piece was before it stood on the map."""
UNIT_KEYS = (
    "nation", "kind", "fp", "range", "movement", "morale", "command", "boxed_fp", "weapon", "reverse", "quality",
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Piece:
    """What a Support Table gave: a unit as a change, or a Sighting marker."""

    unit: dict[str, Any]
    vp: int = 0

    @property
    def is_sighting(self) -> bool:
        return not self.unit


def comes_in(code: str, at: str, rule: str, **says: Any) -> Doing:
    """A unit stands in a hex from now on; no mines and no Op Fire, but perhaps a melee (19.1) and control (14.3.1)."""
    from app.play.ccp.losses import settles

    yield Tell(Step(rule, at, "placed", code))
    yield Change({"unit": code, "at": at, **says})
    yield Change({"unit": code, **PLACED, "in_cave": False}, kept=True)
    yield from settles(at)
    yield from goes_inside([code])


def support_piece(of: Action | None, side: str, roll: int, rule: str, *, priced: bool = False) -> Doing:
    """One piece of the Support Table: off the chart where it is filled in, else as somebody reads it off.

    None where nothing can be chosen. `choices: {piece, vp}`; a piece is a unit as in a case file, or `sighting`.
    """
    rows = yield Ask(
        "select * from ccp.table_entries(:position, 'support_tables', :side, :roll, :conditions)",
        proves=False,
        side=side,
        roll=roll,
    )
    found = [dict(row.entry) for row in rows]
    filled = yield Ask(
        "select count(*) as number from charts.cells('ccp', 'support_tables') where value is not null",
        proves=False,
    )
    if filled[0].number and not found:
        return None
    if found:
        options = [entry.get("name") or entry["kind"] for entry in found]
        word = yield Choose("piece", side, "what the Support Table offers", options=options, obvious=True)
        entry = found[options.index(word)]
        return (yield from _named(entry, side))
    if of is not None and of.read.get("support_tables", of.choices.get("piece")) is None:
        raise Undecided(Need("support_tables", rule))
    piece = yield Choose("piece", side, "what is read off the Support Table", form="a unit, or sighting")
    price = 0
    # a price that is told where nothing is paid is read off the same table, and counts for nothing
    if priced or (of is not None and "vp" in of.choices):
        price = yield Choose("vp", side, "what it costs", check=_is_price)
    if piece == "none":
        return None
    return (yield from _typed(piece, side, price))


def _is_price(value: Any) -> str | None:
    return (
        None
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 20
        else "vp is 0 to 20"
    )


def _typed(piece: Any, side: str, price: int) -> Doing:
    if piece == "sighting":
        return Piece({}, price)
    told = {"id": piece} if isinstance(piece, str) else dict(piece) if isinstance(piece, Mapping) else None
    if told is None or unknown_keys(told):
        raise AnswerError("A piece is the id of a unit, a unit as in a case file, or sighting.")
    code = str(told.get("id") or told.get("name") or told.get("kind"))
    known = yield Ask(
        "select 1 from unit where position_id = :position and code = :unit", proves=False, unit=code
    )
    said = {key: told[key] for key in UNIT_KEYS if key in told}
    return Piece({"unit": code} if known else {"unit": code, "side": side, "kind": "squad", **said}, price)


def unknown_keys(told: Mapping[str, Any]) -> list[str]:
    return [key for key in told if key not in (*UNIT_KEYS, "id", "name", "side")]


def _named(entry: Mapping[str, Any], side: str) -> Doing:
    """A row of the Support Table as a unit; its numbers are on its counter, where that is filled in."""
    if entry["kind"] == "sighting":
        return Piece({}, int(entry.get("vp") or 0))
    name = str(entry.get("name") or entry["kind"])
    tracks = (yield from now()).tracks
    number = len(tracks.get("came", ())) + 1
    yield Change({"track": "came", "value": [*tracks.get("came", ()), name]}, kept=True)
    unit = {"unit": f"{name} {number}", "side": side, "kind": entry["kind"]}
    if entry.get("weapon"):
        unit["weapon"] = {"name": entry["weapon"]}
    return Piece(unit, int(entry.get("vp") or 0))


def edge_hexes(side: str) -> Doing:
    """The hexes of a side's friendly map edge, those without a blaze and all; none where the map marks none (13.1.2, E70)."""
    rows = yield Ask(
        "select * from ccp.zone_hexes(:position, 'edge', :side, :conditions)", proves=False, side=side
    )
    return [row.label for row in rows if not row.blaze], [row.label for row in rows]


def defender() -> Doing:
    """The scenario Defender, where a Posture tells it (17.3)."""
    posture = (yield from conditions()).get("posture") or {}
    return next((side for side in SIDES if posture.get(side) == "defender"), None)
