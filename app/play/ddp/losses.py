"""What US units lose: steps, disruption, heroes, and what the Infantry Loss Box makes of it (6.32, 10.15, 15.1, 18.41)."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Mapping
from typing import Any

from app.play.ddp.deciding import Names
from app.play.procedures import AnswerError, Ask, Change, Choose, Tell, Undecided, Want
from app.referee.rulings import Need, Step

Doing = Generator[Want, Any, Any]
COMPANIES = ("infantry", "heavy_infantry")
"""Whose counters go to the Infantry Loss Box (15.1)."""
UNIT = "select * from positions.counter(:position, :code)"
BOX = "select position.tracks -> 'us' as us, cast(:conditions as jsonb) as conditions from position where position.id = :position"
LEVEL = "select cell.value from charts.cell('ddp', 'turn_track', :turn, 'loss_level') as cell"


@dataclasses.dataclass(frozen=True)
class Counter:
    """A US unit as a ledger told it."""

    code: str
    label: str | None
    kind: str | None
    attributes: Mapping[str, Any]
    side: str = "us"


def conditions() -> Doing:
    """The conditions of the moment."""
    [row] = yield Ask("select cast(:conditions as jsonb) as conditions", proves=False)
    return row.conditions


def lose_step(
    code: str, rule: str, why: str, *, choice: str | Names | None = "sacrifice", unit: Any = None
) -> Doing:
    """One step less; of the last one the hero may be given instead. Tells `lost`, `eliminated` or `sacrificed`.

    `choice` names the decision about the hero: another name for every time that one procedure may ask, or the names
    of that procedure, which count themselves; None where he saves nobody, as in neither close combat nor Japanese fire
    (10.15). `unit` is the unit's row where it has been asked for.
    """
    if unit is None:
        [unit] = yield Ask(UNIT, proves=False, code=code)
    said = unit.attributes
    steps = said.get("steps")
    if steps is None:
        if unit.kind not in ("regimental_hq", "command_post", "garrison", "hero"):
            raise Undecided(Need(f"the steps of {code}", "2.21"))
        steps = 1
    if steps > 1:
        yield Change({"unit": code, "steps": steps - 1})
        yield Tell(Step(rule, unit.label, "step", f"{code} has {steps - 1} left: {why}"))
        yield from _counted(unit, steps)
        return "lost"
    if said.get("hero") and choice is not None and (yield from _given(code, choice)):
        yield Change({"unit": code, "hero": False, "inspired": True})
        yield Tell(Step("10.15", unit.label, "sacrificed", f"the hero of {code} falls, and it is inspired"))
        return "sacrificed"
    yield from eliminate(code, rule, why, unit=unit)
    return "eliminated"


@dataclasses.dataclass(frozen=True)
class SacrificeChoice(Choose):
    """Whether a hero is given: true or false, or the ids of the units whose heroes are."""

    def mistake(self, value: Any) -> str | None:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return None
        return None if isinstance(value, str) else super().mistake(value)


def _given(code: str, choice: str | Names) -> Doing:
    """10.15: whether the hero of a unit is given for its last step; ids told once hold for all of one procedure."""
    listed = choice.listed("sacrifice") if isinstance(choice, Names) else None
    if listed is None:
        value = yield SacrificeChoice(
            choice.name("sacrifice") if isinstance(choice, Names) else choice,
            "us",
            f"whether the hero of {code} is given for its last step",
            [True, False],
            default=False,
        )
        if isinstance(value, bool):
            return value
        listed = [value] if isinstance(value, str) else value
        yield from _known(listed)
        if isinstance(choice, Names):
            choice.keep("sacrifice", listed)
    return code in listed


def _known(codes: list[str]) -> Doing:
    """Ids that were told must be those of units."""
    rows = yield Ask(
        "select unit.code from unit where unit.position_id = :position and unit.code = any(:codes)",
        proves=False,
        codes=codes,
    )
    if strange := sorted({*codes} - {row.code for row in rows}):
        raise AnswerError(f"There is no unit {strange[0]} whose hero could be given.")


def eliminate(code: str, rule: str, why: str, *, unit: Any = None) -> Doing:
    """A unit leaves play, with its hero; a company's last counter goes to the loss box."""
    if unit is None:
        [unit] = yield Ask(UNIT, proves=False, code=code)
    yield Change({"unit": code, "eliminated": True})
    yield Tell(Step(rule, unit.label, "eliminated", f"{code}: {why}"))
    if unit.side == "us":
        yield from _counted(unit, unit.attributes.get("steps") or 1, gone=True)


def disrupt(code: str, rule: str, why: str, at: str | None = None, *, unit: Any = None) -> Doing:
    """6.33: a marker; a second one does nothing, and regimental HQs and posts never get one (10.42)."""
    if unit is None:
        [unit] = yield Ask(UNIT, proves=False, code=code)
    if unit.kind in ("regimental_hq", "command_post", "garrison", "hero"):
        yield Tell(Step("10.42", at or unit.label, "not disrupted", f"{code} is never disrupted"))
        return False
    if unit.attributes.get("disrupted"):
        yield Tell(Step("6.33", at or unit.label, "no more", f"{code} is disrupted already"))
        return False
    yield Change({"unit": code, "disrupted": True})
    yield Tell(Step(rule, at or unit.label, "disrupted", f"{code}: {why}"))
    return True


def add_step(code: str, rule: str, why: str) -> Doing:
    """An event gives a step; a full counter comes back out of the loss box (ddp-50)."""
    [unit] = yield Ask(UNIT, proves=False, code=code)
    steps = unit.attributes.get("steps")
    if steps is None:
        raise Undecided(Need(f"the steps of {code}", "2.21"))
    yield Change({"unit": code, "steps": steps + 1})
    yield Tell(Step(rule, unit.label, "step", f"{code} has {steps + 1} now: {why}"))
    if steps != 2 or unit.kind not in COMPANIES:
        return
    [box] = yield Ask(BOX, proves=False)
    if _is_ridge(box):
        return
    [row] = yield Ask("select positions.readings(:position, :policy) as readings", proves=False)
    counted = (box.us or {}).get("infantry_loss")
    yield Tell(points=("ddp-50",))
    if row.readings["ddp-50"] == "a" and counted:
        yield Change({"side": "us", "infantry_loss": counted - 1})
        yield Tell(Step("15.1", None, -1, "its full counter is in play again, out of the loss box"))


def _counted(unit: Any, steps: int, *, gone: bool = False) -> Doing:
    """15.1: a full counter at 3 to 2 steps, a reduced one at the last; 18.41: there only the last."""
    if unit.kind not in COMPANIES or not (gone or steps == 3):
        return
    [box] = yield Ask(BOX, proves=False)
    ridge = _is_ridge(box)
    counters = int(gone) if ridge else int(gone) + int(gone and steps > 2) + int(not gone and steps == 3)
    if not counters:
        return
    loss = ((box.us or {}).get("infantry_loss") or 0) + counters
    rule = "18.41" if ridge else "15.1"
    yield Change({"side": "us", "infantry_loss": loss})
    yield Tell(Step(rule, None, counters, f"a counter of {unit.code} lies in the loss box: {loss} there"))
    level = 10 if ridge else (yield from _level(box))
    turn = box.conditions.get("turn")
    if level is not None and loss >= level and (ridge or (turn is not None and turn >= 5)):
        yield Tell(
            Step(rule, None, "over", f"catastrophic loss: {loss} of {level} counters"),
            over=True,
            winner="japan",
        )


def _level(box: Any) -> Doing:
    """15.1: the level of this turn, as it is told or stands on the Turn Track."""
    level = (box.us or {}).get("loss_level")
    turn = box.conditions.get("turn")
    if level is None and turn is not None:
        rows = yield Ask(LEVEL, proves=False, turn=str(turn))
        printed = rows[0].value if rows else None
        level = int(printed) if printed and printed.isdigit() else None
    return level


def _is_ridge(box: Any) -> bool:
    return bool(box.conditions.get("scenario") == "bloody_nose_ridge")
