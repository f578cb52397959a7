"""Operations (4.0): units and assets are Used one by one within an Operations Range; a side marks, and passes."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.bob.asking import Asking, counter, game, piece
from app.play.bob.checks import spend
from app.play.bob.turn import handed_over
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Procedure,
    Refused,
    Roll,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from importers.questions import Names

TOLD = ("counts", "spent", "left", "must_pass", "may_pass")
MARKED = {
    "used": ("4.2", "marked Used, without an action"),
    "op_fire": ("4.3", "marked Op Fire, to fire at a mover later"),
}
"""How a unit is marked: the rule, and what it means."""
BUILDINGS = ("stone_building", "wooden_building")


class Activate(Action):
    """Who is Used, and for what."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit or asset")
    manner: Literal["move", "fire", "op_fire", "used", "asset"] | None = Field(
        None, alias="as", description="What it is Used for: move, fire, op_fire, used or asset"
    )


class Mark(Action):
    """Who is marked, and how."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit or asset")
    manner: Literal["used", "op_fire"] = Field(alias="as", description="used or op_fire")
    facing: Annotated[int | None, Field(ge=1, le=6)] = Field(
        None, description="The corner that it turns to, 1 to 6"
    )
    conceal: bool = Field(False, description="Whether it gains a Conceal counter (15.0)")


class Pass(Action):
    """Who passes."""

    side: str | None = Field(None, description="The side; without it, whose Operations Range it is")


def activated(unit: str, manner: str | None) -> Asking:
    """4.1: a unit is Used: it counts, a Vehicle's UK is rolled for and its Move counter comes off."""
    rows = yield Ask(
        "select * from bob.activate(:position, :unit, :manner, :conditions, :policy)",
        unit=unit,
        manner=manner,
    )
    facts = rows[-1].facts
    yield Tell(**{key: facts[key] for key in TOLD})
    bars = [row for row in rows if row.effect == "forbids"]
    if bars:
        why = "; ".join(row.note for row in bars)
        raise Refused(bars[0].rule, why, **{key: facts[key] for key in TOLD})
    if not (yield from _survives(unit)):
        # 61.2: it does not count
        spent = facts["spent"] - facts["counts"]
        yield Tell(counts=0, spent=spent)
        return None
    yield Change({"side": facts["side"], "spent": facts["spent"]})
    if facts["ahead"]:
        # 3.0 (2): a Command Point lies on it
        yield from spend(unit, "first")
    now = yield from counter(unit)
    if now.attributes.get("move_counter"):
        yield Change({"unit": unit, "move_counter": False})
        yield Tell(Step("20.3", None, "removed", "its Move counter comes off as it is chosen"))
    return facts


def _survives(unit: str) -> Asking:
    """61.2: a die for each UK counter before a Vehicle is Used: on 6 or more it was destroyed."""
    row = yield from counter(unit)
    counters = row.attributes.get("uk") or 0
    if not counters:
        return True
    for _ in range(counters):
        die = yield Roll("1d10", f"the Unconfirmed Kill of {unit}")
        if die >= 6:
            yield Tell(Step("61.2", None, "destroyed", f"{die}: {unit} was destroyed"), result="destroyed")
            riders = yield Ask(
                "select code from unit where position_id = :position and attributes ->> 'in' = :unit order by id",
                proves=False,
                unit=unit,
            )
            yield Change({"unit": unit, "eliminated": True, "uk": 0})
            for rider in riders:
                yield Change({"unit": rider.code, "eliminated": True})
            return False
        yield Tell(Step("61.2", None, "undamaged", f"{die}: {unit} is undamaged"))
    yield Change({"unit": unit, "uk": 0})
    return True


def activate(of: Activate) -> Procedure:
    """4.1: whether a unit or asset may be Used, and what it counts."""
    yield from activated(of.unit, of.manner)


def mark(of: Mark) -> Procedure:
    """4.2, 4.3: no Morale Check; it may turn, and out of all enemy sight it may gain Concealment."""
    row = yield from counter(of.unit)
    if of.facing is not None:
        yield from _may_turn(of.unit, row.kind)
    if of.conceal:
        yield from _may_conceal(of.unit, row)
    if of.manner == "op_fire" and row.kind in ("aircraft", "illumination"):
        raise Refused(
            "35.0" if row.kind == "aircraft" else "50.1", "only Artillery is marked Op Fire of all assets"
        )
    if (yield from activated(of.unit, of.manner)) is None:
        return
    said: dict[str, Any] = {"unit": of.unit, of.manner: True}
    rule, note = MARKED[of.manner]
    yield Tell(Step(rule, None, "marked", note))
    if of.facing is not None:
        said["facing"] = of.facing
        yield Tell(Step("20.2" if row.kind == "gun" else rule, None, "turns", f"to corner {of.facing}"))
    if of.conceal:
        said["concealed"] = 1
        gains = "20.1" if row.kind == "gun" else "15.0"
        yield Tell(Step(gains, None, "concealed", "outside the sight of all enemies"))
    yield Change(said)
    yield Tell(result=of.manner)


def _may_turn(unit: str, kind: str) -> Procedure:
    """4.3, 20.2, 43.3, 43.5, bob-10: a Gun in a building does not turn unless it is Fortified, nor in a Bunker."""
    if kind != "gun":
        return
    here = yield from piece(unit)
    rows = yield Ask(
        "select hex.terrain, array(select marker.kind from marker where marker.position_id = :position"
        " and marker.q = hex.q and marker.r = hex.r) as markers"
        " from position join hex on hex.map_id = position.map_id and hex.q = :q and hex.r = :r"
        " where position.id = :position",
        proves=False,
        q=here.q,
        r=here.r,
    )
    [ground] = rows
    if "bunker" in ground.markers:
        raise Refused("43.3", "a Gun in a Bunker does not turn", here.label, points=("bob-10",))
    if ground.terrain in BUILDINGS and "fortified" not in ground.markers:
        raise Refused("4.3", "a Gun in a building does not turn", here.label)


def _may_conceal(unit: str, row: Any) -> Procedure:
    """15.0, 20.1, bob-19: infantry, and Guns, out of all enemy sight, not after fire or Rout."""
    now = yield from game()
    if row.kind in ("vehicle", "carrier"):
        raise Refused("20.1", "a Vehicle gains no Concealment in play")
    if row.attributes.get("in"):
        raise Refused("21.2", "nobody gains Concealment in a Carrier")
    if row.kind == "gun":
        yield Tell(points=("bob-19",))
        if now.readings["bob-19"] == "b":
            raise Refused("15.0", "only Infantry gains Concealment in play", points=("bob-19",))
    if row.attributes.get("fired"):
        raise Refused("15.0", "it has fired")
    if row.attributes.get("concealed"):
        raise Refused("15.0", "it is Concealed already")
    seen = yield Ask("select * from bob.unseen(:position, :unit, :conditions, :policy)", unit=unit)
    if seen:
        raise Refused("15.0", seen[0].note, seen[0].at)


def pass_(of: Pass) -> Procedure:
    """4.1: the Range goes to the other side once the least number is Used, or nothing more fits."""
    now = yield from game()
    side = of.side or now.conditions.get("active")
    if side is None:
        raise Refused("4.0", "nobody's Operations Range is told")
    [told] = yield Ask(
        "select * from bob.range_state(:position, :side, null, cast(:conditions as jsonb))",
        proves=False,
        side=side,
    )
    if now.conditions.get("active") not in (None, side):
        raise Refused("4.0", "it is the other side's Operations Range")
    yield Tell(spent=told.spent, left=None if told.most is None else told.most - told.spent)
    if told.fewest is not None and told.spent < told.fewest and told.fitting > 0:
        why = f"{told.spent} Used, and {told.fewest} must be while a unit fits"
        raise Refused("4.1", why, may_pass=False)
    if told.due is not None:
        raise Refused(
            "16.2", f"{told.due}, placed from the cup, has to be Used in this Range", may_pass=False
        )
    note = "the least number is Used" if told.spent >= (told.fewest or 0) else "nothing more fits"
    yield Tell(Step("4.1", None, "passes", note), may_pass=True)
    yield Change({"side": side, "spent": 0})
    if (now.tracks.get(side) or {}).get("fow_due"):
        yield Change({"side": side, "fow_due": None}, kept=True)
    yield from handed_over(side)


def _activate_verdict(ruling: Ruling) -> str:
    of, answer = next(iter(ruling.question.values())), ruling.answer
    if answer["allowed"] is False:
        return f"{of['unit']} may not be Used: {answer['why']}"
    return f"{of['unit']} may be Used, which counts {answer['counts']}"


def _mark_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["mark"], ruling.answer
    if answer["allowed"] is False:
        return f"{of['unit']} may not be marked: {answer['why']}"
    return f"{of['unit']} is marked {'Op Fire' if of['as'] == 'op_fire' else 'Used'}"


def _pass_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"Nobody may pass: {answer['why']}"
    return f"The Operations Range goes to {answer.get('next_active', 'nobody')}"


RANGE = {
    "counts": "what it counts against the Operations Range",
    "spent": "what is spent of the Range now",
    "left": "what is left of it; null where no Range is told",
    "must_pass": "whether nothing more fits",
    "may_pass": "whether the side may pass now",
}
COMMON: dict[str, Any] = {"kinds": functools.partial(kinds_of, "bob"), "rulesets": ("bob",)}
KINDS = [
    procedure_kind(
        activate,
        name="activate",
        title="A unit or asset is Used",
        arguments=Activate,
        answers=RANGE | {"result": "destroyed, where an Unconfirmed Kill turns out to be one"},
        verdict=_activate_verdict,
        points=("bob-43",),
        acts=False,
        example='activate: {unit: "1/A", as: move}',
        **COMMON,
    ),
    procedure_kind(
        mark,
        name="mark",
        title="A unit is marked Used or Op Fire",
        arguments=Mark,
        answers=RANGE | {"result": "used or op_fire; destroyed by an Unconfirmed Kill"},
        verdict=_mark_verdict,
        points=("bob-10", "bob-19", "bob-43"),
        example='mark: {unit: "1/A", as: op_fire, facing: 2}',
        **COMMON,
    ),
    procedure_kind(
        pass_,
        name="pass",
        title="An Operations Range ends",
        arguments=Pass,
        answers={
            "spent": "what was spent of the Range",
            "left": "what was left of it",
            "may_pass": "whether the side may pass",
            "next_active": "whose Range comes next",
            "next": "the phase that begins, where nothing is left to be Used on both sides",
        },
        verdict=_pass_verdict,
        example="pass: {side: us}",
        **COMMON,
    ),
]
