"""Caves: who goes inside, and who comes out (F102.1.1)."""

from __future__ import annotations

from collections.abc import Sequence

from app.play.ccp.table import Doing
from app.play.procedures import Ask, Change, Choose, Tell
from app.referee.rulings import Step

BY_A_CAVE = """
select unit.code, hex.label, coalesce((unit.attributes ->> 'in_cave')::boolean, false) as inside
from unit
join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
join marker on marker.position_id = unit.position_id and marker.kind = 'cave' and marker.q = unit.q and marker.r = unit.r
where unit.position_id = :position and unit.side = 'japan' and unit.code = any(:units)
order by unit.code
"""


def goes_inside(units: Sequence[str]) -> Doing:
    """Japanese units that stand outside a cave of their hex may go in now: those who do."""
    return (yield from _changes(units, "into_cave", "who goes into the cave", inside=True))


def comes_out(units: Sequence[str]) -> Doing:
    """Those inside a cave may come out now: those who do."""
    return (yield from _changes(units, "out_of_cave", "who comes out of the cave", inside=False))


def _changes(units: Sequence[str], name: str, purpose: str, *, inside: bool) -> Doing:
    rows = yield Ask(BY_A_CAVE, proves=False, units=list(units))
    able = {row.code: row.label for row in rows if row.inside != inside}
    if not able:
        return []
    # somebody who only asks and says nothing of it leaves them where they are
    chosen = yield Choose(name, "japan", purpose, options=list(able), many=True, default=[], unsaid=[])
    for code in chosen:
        yield Tell(Step("F102.1.1", able[code], "inside" if inside else "outside", code))
        yield Change({"unit": code, "in_cave": inside})
    return chosen
