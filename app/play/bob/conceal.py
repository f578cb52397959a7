"""Concealment and Decoys in bob: 15.0, 20.1, 43.0, 50.3, 51.1, 59.2."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.bob.checks import Doing, conditions, counter, kinds
from app.play.bob.losses import reveal, show_works
from app.play.procedures import Action, Ask, Change, Choose, Procedure, Refused, Tell, procedure_kind
from app.referee.questions.bob.ground import Unit
from app.referee.rulings import Ruling, Step
from importers.questions import Names

LEDGER = "select * from bob.conceal(:position, :unit, :since, :by, :conditions, :policy)"
After = Literal[
    "move", "fire", "close_assault", "op_fire", "used", "mark", "rout", "air_attack", "aircraft", "canister", "artillery",
    "indirect_fire", "banzai", "suppressed", "voluntary", "event", "mark_used", "mark_op_fire", "adjacent", "fired", "moved",
    "assault_fire", "final_op_fire", "muzzle_flash", "satw", "suppression", "reduced", "routed",
]  # fmt: skip
SAME = {
    "mark_used": "used", "mark_op_fire": "op_fire", "moved": "move", "adjacent": None, "routed": "rout",
    **dict.fromkeys(("fired", "assault_fire", "final_op_fire", "muzzle_flash", "satw"), "fire"),
    **dict.fromkeys(("suppression", "reduced"), "suppressed"),
}  # fmt: skip
"""Other words for what a unit did; an enemy that is adjacent is seen as things stand."""
DECOYS = """
select decoy.code from unit as decoy
where decoy.position_id = :position and decoy.kind = 'decoy' and decoy.side = :side and decoy.q is null
  and decoy.attributes ->> 'in' is null
order by decoy.code collate "C"
"""
STACKED = """
select count(*) as units from unit
where unit.position_id = :position and unit.side = :side and unit.kind in ('squad', 'wt', 'gun', 'decoy')
  and (unit.q, unit.r) = (select there.q, there.r from unit as there where there.position_id = :position and there.code = :unit)
"""


class ConcealOf(Action):
    """Whose Conceal counter, after what."""

    unit: Unit = Field(description="A unit's id")
    after: After | None = Field(None, description="What it did, or had done to it; nothing: as things stand")
    by: Annotated[str | None, Names(("unit",))] = Field(
        None, description="An enemy that moved adjacent and has survived all fire in that hex"
    )


def conceal(of: ConcealOf) -> Procedure:
    """15.0: whether a unit keeps, loses or gains its Conceal counter."""
    after = SAME.get(of.after, of.after) if of.after else None
    facts = yield from judged(of.unit, after, of.by)
    yield Tell(**{key: facts[key] for key in ("concealed", "lost", "gained", "because")})
    yield from settle(of.unit, facts)


def judged(unit: str, after: str | None = None, by: str | None = None) -> Doing:
    """What becomes of a Conceal counter: the facts of its ledger."""
    [*_, verdict] = yield Ask(LEDGER, unit=unit, since=after, by=by)
    return verdict.facts


def settle(unit: str, facts: dict[str, Any]) -> Doing:
    """The counter taken off, put on, or turned to its -1."""
    if facts["lost"]:
        yield from reveal(unit)
    elif facts["concealed"] != facts["was"]:
        yield Change({"unit": unit, "concealed": facts["concealed"]})


def lose_concealment(mover: str, units: list[str]) -> Doing:
    """15.0, 411: once a mover has survived all fire in a hex: it loses its counter first, then those it found."""
    for code, by in ((mover, None), *((unit, mover) for unit in units)):
        unit = yield from counter(code)
        if unit.attributes.get("concealed"):
            yield from settle(code, (yield from judged(code, "move" if code == mover else None, by)))


class DecoyOf(Action):
    """Which Concealed unit brings a Decoy back."""

    unit: Unit = Field(description="An unused Concealed unit")
    decoy: Annotated[str | None, Names(("unit",))] = Field(None, description="The Decoy that comes back")


def decoy(of: DecoyOf) -> Procedure:
    """50.3: at night an unused Concealed unit is Used to bring a removed Decoy back to its hex."""
    now = yield from conditions()
    unit = yield from counter(of.unit)
    gone = [row.code for row in (yield Ask(DECOYS, proves=False, side=unit.side))]
    [stack] = yield Ask(STACKED, proves=False, side=unit.side, unit=of.unit)
    refusals = (
        (not now.get("night"), "Decoys come back at night"),
        (not unit.attributes.get("concealed"), f"{of.unit} is not Concealed"),
        (unit.attributes.get("used") or unit.attributes.get("op_fire"), f"{of.unit} has been Used"),
        (unit.label is None, f"{of.unit} is not on the map"),
        (not gone or (of.decoy is not None and of.decoy not in gone), "there is no removed Decoy"),
        (stack.units >= 2, "the hex is fully stacked"),
    )
    for refused, why in refusals:
        if refused:
            raise Refused("50.3", why, unit.label)
    name = of.decoy or gone[0]
    if of.decoy is None and len(gone) > 1 and "decoy" in of.choices:
        name = yield Choose("decoy", unit.side, "the Decoy that comes back", gone, default=gone[0])
    yield Tell(
        Step("50.3", unit.label, "regenerated", f"{name} comes back, Used, as {of.unit} is Used for it")
    )
    yield Change(
        {"unit": of.unit, "used": True},
        {"unit": name, "at": unit.label, "used": True, "concealed": 1, "cause": None},
    )


def _conceal_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["conceal"], ruling.answer
    if answer["lost"]:
        return f"{of['unit']} loses its Conceal counter: {answer['because'][0]}"
    if answer["gained"]:
        return f"{of['unit']} may have a Conceal counter"
    if answer["concealed"]:
        return f"{of['unit']} stays Concealed, at -{answer['concealed']}"
    why = f": {answer['because'][0]}" if answer["because"] else ""
    return f"{of['unit']} is not Concealed{why}"


def _decoy_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["decoy"], ruling.answer
    if answer["allowed"] is False:
        return f"{of['unit']} brings no Decoy back: {answer['why']}"
    return f"{of['unit']} brings a Decoy back, both Used"


__all__ = ["KINDS", "judged", "lose_concealment", "reveal", "settle", "show_works"]
CONCEAL_POINTS = ("bob-2", "bob-3", "bob-15", "bob-19", "bob-26", "bob-27", "bob-33")
KINDS = [
    procedure_kind(
        conceal, kinds=kinds, name="conceal", title="Concealment", arguments=ConcealOf, rulesets=("bob",),
        answers={
            "concealed": "0, 1 or 2 afterwards", "lost": "whether the counter comes off", "gained": "whether one may be put on",
            "because": "each reason, in words",
        },
        verdict=_conceal_verdict, points=CONCEAL_POINTS, example="conceal: {unit: A, after: fire}", acts=False,
    ),
    procedure_kind(
        decoy, kinds=kinds, name="decoy", title="Decoy brought back", arguments=DecoyOf, rulesets=("bob",), answers={},
        verdict=_decoy_verdict, example="decoy: {unit: A}",
    ),
]  # fmt: skip
