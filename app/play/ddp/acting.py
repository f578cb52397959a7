"""US actions (7.0): what each costs, what it leaves behind, and the moment to which it belongs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from app.play.procedures import Action, Ask, Change, Choose, Draw, Procedure, Refused, Tell, Want

Doing = Generator[Want, Any, Any]
"""A part of a procedure that gives something back."""
ACTING = "select * from ddp.acting(:position, :units, :preserves, :conditions, :policy)"
UNDER_FIRE = "select * from ddp.acted_under_fire(:position, :units, :passed, :conditions, :policy)"
SPARE = (
    "attrition", "complete", "drift", "flamethrower", "hero", "hit", "reveal", "sacrifice", "step", "target", "to", "unit",
    "withdraw",
)  # fmt: skip
"""Choices that may be told ahead, and come to nothing where nobody has to make them."""
SCENE = """
select
  cast(:conditions as jsonb) as conditions,
  coalesce(position.tracks, '{}') as tracks
from position
where position.id = :position
"""
COUNTER = "select * from positions.counter(:position, :unit)"


def scene() -> Doing:
    """The conditions and tracks as they are now."""
    [row] = yield Ask(SCENE, proves=False)
    return row


def counter(code: str) -> Doing:
    """A unit as it is now."""
    [unit] = yield Ask(COUNTER, proves=False, unit=code)
    return unit


def is_ridge(conditions: dict[str, Any]) -> bool:
    """Whether Bloody Nose Ridge is played (18.0)."""
    return conditions.get("scenario") == "bloody_nose_ridge"


def declare(units: Sequence[str], *, preserves: bool = False, **told: Any) -> Doing:
    """7.0, 7.2: whether these units may act together; gives what that costs."""
    rows = yield Ask(ACTING, units=list(units), preserves=preserves)
    facts = rows[-1].facts
    if not facts["may"]:
        bar = next((row for row in rows if row.effect == "forbids"), rows[-1])
        raise Refused(bar.rule, rows[-1].note, bar.at, actions=facts["actions"], free=facts["free"], **told)
    yield Tell(actions=facts["actions"], free=facts["free"])
    return facts


def finish(units: Sequence[str], cost: int, passed: Sequence[str] = ()) -> Doing:
    """The action is spent; on Bloody Nose Ridge who acted under fire is marked (18.34)."""
    now = yield from scene()
    for code in units:
        unit = yield from counter(code)
        if unit is not None and unit.q is not None:
            yield Change({"unit": code, "acted": True}, kept=True)
    if cost:
        spent = now.conditions.get("actions", 0)
        yield Change({"conditions": {"actions": min(spent + cost, 2)}}, kept=True)
    rows = yield Ask(UNDER_FIRE, units=list(units), passed=list(passed))
    for row in rows:
        if row.effect == "action under fire":
            yield Change({"unit": row.by, "action_under_fire": True})


def forgiving(of: Action, procedure: Procedure, *, cards: bool = False) -> Procedure:
    """The procedure; a choice, or a card, that was told ahead for what did not come up is no mistake."""
    asked: set[str] = set()
    drawn = 0
    given: Any = None
    while True:
        try:
            want = procedure.send(given)
        except StopIteration:
            break
        if isinstance(want, Choose):
            asked.add(want.name)
        drawn += isinstance(want, Draw) and want.kind == "card"
        given = yield want
    for name in of.choices:
        if name in SPARE and name not in asked:
            yield Choose(name, "us", "what did not come up")
    for _ in of.cards[drawn:] if cards else ():
        yield Draw("fire", "what did not come up", kind="card")
