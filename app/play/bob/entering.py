"""A hex is entered (12.2, 18.0, 51.1, 63.2): Melee, Flank and Ambush, control, Hubs that give way."""

from __future__ import annotations

from typing import Any

from app.play.bob.asking import piece, pieces
from app.play.procedures import Ask, Change, Procedure, Tell
from app.referee.rulings import Step

HEX = (
    "select hex.label, hex.terrain, hex.q, hex.r from position"
    " join hex on hex.map_id = position.map_id and hex.label = :at where position.id = :position"
)


def entered(unit: str, left: str, label: str) -> Procedure:
    """What happens as a unit comes into a hex."""
    own = yield from piece(unit)
    if own is None:
        return
    others = [one for one in (yield from pieces()) if one.label == label and one.side != own.side]
    foes = [one for one in others if (one.infantry or one.gun or one.decoy) and not one.mounted]
    if foes and (own.infantry or own.gun):
        yield from _into_melee(own, foes, left, label)
    if not others:
        yield from _controlled(own.side, label)
    yield from _hub_gives_way(own, label)


def _into_melee(own: Any, foes: list[Any], left: str, label: str) -> Procedure:
    """12.2, 51.1: the Flank counter of who comes in, the Ambush of who lay there Concealed."""
    [ground] = yield Ask(HEX, proves=False, at=label)
    hidden = [foe for foe in foes if foe.concealed]
    jungle = ground.terrain == "jungle"
    for foe in hidden:
        yield Tell(Step("51.1" if jungle else "15.0", label, "revealed", f"{foe.code} loses its Concealment"))
        if foe.decoy:
            yield Change({"unit": foe.code, "eliminated": True})
        else:
            yield Change({"unit": foe.code, "concealed": 0, **({"ambush": True} if jungle else {})})
    if own.concealed:
        yield Change({"unit": own.code, "concealed": 0})
    real = [foe for foe in foes if not foe.decoy]
    if jungle and any(not foe.decoy for foe in hidden):
        yield Tell(Step("51.1", label, "ambush", "a Concealed unit was in the Jungle"))
        yield Change({"marker": "ambush", "at": label})
    elif real:
        flanked = yield from _through_flank(real, left)
        note = (
            "it comes through the flank of all who are there"
            if flanked
            else "it is not the flank of all who are there"
        )
        yield Tell(Step("12.2", left, "flank" if flanked else "no flank", note))
        if flanked:
            yield Tell(flank=True)
            yield Change({"unit": own.code, "flank": True})


def _through_flank(foes: list[Any], left: str) -> Any:
    """12.2: the hex it left is flank to every enemy there."""
    for foe in foes:
        rows = yield Ask(
            "select * from bob.arc(:position, :unit, :conditions, :policy)", proves=False, unit=foe.code
        )
        if any(row.point == "bob-34" and row.at == left for row in rows):
            yield Tell(points=("bob-34",))
        told = rows[-1].facts
        behind = (
            told.get("flank") if "flank" in told else [*(told.get("side") or ()), *(told.get("rear") or ())]
        )
        if left not in (behind or ()):
            return False
    return True


def _controlled(side: str, label: str) -> Procedure:
    """18.0: who passes through a hex without enemies controls it; told where it changes hands."""
    [row] = yield Ask(
        "select held.side, exists (select from marker where marker.position_id = :position and marker.kind = 'victory'"
        " and marker.q = hex.q and marker.r = hex.r) as victory,"
        " position.tracks -> 'hexes' -> hex.label ->> 'controlled_by' as kept"
        " from position join hex on hex.map_id = position.map_id and hex.label = :at"
        " left join lateral bob._controller(:position, '{}', hex.q, hex.r, hex.label) as held on true"
        " where position.id = :position",
        proves=False,
        at=label,
    )
    if row.kept == side:
        return
    changes = row.side != side and (row.victory or row.side is not None)
    if changes:
        yield Tell(Step("18.0", label, "controls", f"{side} controls {label}"))
    yield Change({"hex": label, "controlled_by": side}, kept=not changes)


def _hub_gives_way(own: Any, label: str) -> Procedure:
    """63.2: an enemy in the hex of a Company Hub displaces it; where to is for its owner (`hub`)."""
    rows = yield Ask(
        "select marker.attributes ->> 'company' as company from marker join hex on hex.map_id = marker.map_id"
        " and hex.q = marker.q and hex.r = marker.r where marker.position_id = :position"
        " and marker.kind = 'company_hub' and hex.label = :at and not exists ("
        " select from unit where unit.position_id = :position and unit.side = :side"
        " and unit.attributes ->> 'company' = marker.attributes ->> 'company')",
        proves=False,
        at=label,
        side=own.side,
    )
    for row in rows:
        yield Tell(Step("63.2", label, "displaced", f"the Hub of company {row.company} must be displaced"))
