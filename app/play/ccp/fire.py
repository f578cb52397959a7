"""Fire orders and Op Fire in ccp: O27, 3.3.4, 5, A41, with the actions that are played in an attack.

Who may fire and with how much is SQL (`ccp.fire`); the rolls are in `attack.py`; here is the order of play.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, field_validator

from app.play.ccp.attack import Asker, Attack, attacked, refuse, targets_hit
from app.play.ccp.giving import obeys, pieces_named
from app.play.ccp.picks import smoke_drawn, smoke_placed
from app.play.ccp.roll import ENDS
from app.play.ccp.table import Doing, counter, counters, ending
from app.play.procedures import Action, Ask, Change, Choose, Procedure, Refused, Tell, Want, procedure_kind
from app.referee.questions import kinds_of
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, needs_in_words, series
from db.values import canonical
from importers.questions import Names

LEDGER = "select * from ccp.fire(:position, :manner, :by, :at, cast(:said as jsonb), :conditions, :policy)"
AttackAction = Literal[
    "bore_sighting", "crossfire", "enfilade", "explosive_charge", "hand_grenades", "hidden_cave", "hidden_pillbox",
    "hidden_trenchline", "light_wounds", "marksmanship", "sustained_fire",
]  # fmt: skip
Pieces = Annotated[list[str], Field(min_length=1, max_length=30)]
F = TypeVar("F", bound="AnyFire")


class AnyFire(Action):
    """What every fire attack takes."""

    by: Pieces = Field(
        description='The pieces that fire: a unit by its id, its weapon as "Squad:weapon" or by its own name'
    )
    at: Place = Field(description="The hex that is fired at, or a unit in it")
    actions: list[AttackAction] = Field(
        default_factory=list, description="Actions played in the attack, each as often as it is played"
    )
    x: str | None = Field(None, description="The piece whose FP counts in full; the best if none is named")

    @field_validator("by", "actions", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


class Fire(AnyFire):
    """A shot or a Fire Group."""

    smoke: bool = Field(False, description="Whether it fires smoke (O27.2.1)")
    spotter: Annotated[str | None, Names(("unit",))] = Field(
        None, description="The Scout by whose sight a mortar fires (O27.2.5)"
    )
    target: Annotated[str | None, Names(("unit",))] = Field(
        None, description="The unit that a Sogeki Hei picks (3.3.4)"
    )


class OpFire(AnyFire):
    """Fire at a hex that somebody has just moved into."""

    movers: Annotated[list[str], Names(("unit",))] = Field(
        default_factory=list, description="The units that have just moved into the hex"
    )
    left: Place | None = Field(None, alias="from", description="The hex that they came from")


@ending
def fire(of: Fire) -> Procedure:
    """A Fire Attack from its declaration to the last Defense roll."""
    of = yield from _by_name(of)
    said = {"actions": of.actions, "smoke": of.smoke, "spotter": of.spotter, "target": of.target, "x": of.x}
    yield from obeys("fire", of.by, of.actions)
    yield from fired("fire", of, said, Asker(of))


@ending
def op_fire(of: OpFire) -> Procedure:
    """One attack of Op Fire at a hex that was just entered."""
    yield from op_fired(of, Asker(of))


def op_fired(of: OpFire, asker: Asker) -> Doing:
    """Op Fire as a part of a Move (A41)."""
    of = yield from _by_name(of)
    said = {"actions": of.actions, "movers": of.movers, "from": of.left, "x": of.x}
    yield from fired("op_fire", of, said, asker)


def _by_name(of: F) -> Generator[Want, Any, F]:
    """Its pieces by the names that they have everywhere; a weapon may be told by its own."""
    rows = yield from pieces_named([*of.by, *([of.x] if of.x else [])])
    names = [row.name for row in rows]
    return of.model_copy(update={"by": names[: len(of.by)], "x": names[-1] if of.x else None})


def fired(manner: str, of: AnyFire, said: dict[str, Any], asker: Asker) -> Doing:
    """A fire attack of either manner."""
    rows = yield Ask(LEDGER, manner=manner, by=of.by, at=of.at, said=canonical(said))
    facts = rows[-1].facts
    yield Tell(**{key: facts[key] for key in ("range", "hindrance", "value", "modifiers")})
    if facts["allowed"] is False:
        refuse(facts, rows)
    if manner == "op_fire":
        yield from _somebody_moved(of, facts)
    target = yield from _picked(facts, said)
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    yield from _have_fired(of.by)
    if facts["at_least"] is not None:
        result = "smoke" if said.get("smoke") else "attack"
        if not (yield from targets_hit(facts["side"], facts["at_least"], asker, result)):
            yield Tell(result="miss")
            return
    if said.get("smoke"):
        yield Tell(result="smoke")
        yield from _places_smoke(facts["hex"])
        return
    yield Tell(result="attack")
    yield from attacked(_attack_of(of, facts, said, target), asker)


def _attack_of(of: AnyFire, facts: dict[str, Any], said: dict[str, Any], target: str | None) -> Attack:
    return Attack(
        side=facts["side"],
        hex=facts["hex"],
        value=facts["value"],
        source=facts["source"],
        targets=[target] if target else facts["targets"],
        to_total=facts["to_total"],
        multiplied=facts["multiplied"],
        fort=facts["fort"],
        sustained=facts["sustained"],
        actions=Counter(of.actions),
        movers=said.get("movers") or (),
        viewers=[said["spotter"]]
        if said.get("spotter")
        else [piece.removesuffix(":weapon") for piece in of.by],
    )


def _somebody_moved(of: AnyFire, facts: dict[str, Any]) -> Doing:
    """A41.1: Op Fire answers a unit that has just entered the hex in a Move order."""
    movers = getattr(of, "movers", ())
    activated = [unit.attributes.get("activated") for unit in (yield from counters(facts["targets"]))]
    if not movers and "move" not in activated:
        raise Refused("A41.1", "nobody has just moved into the hex", facts["hex"])


def _picked(facts: dict[str, Any], said: dict[str, Any]) -> Doing:
    """3.3.4: the one unit that a Sogeki Hei hits, an unbroken one where there is one."""
    if not facts["multiplied"]:
        return None
    if said.get("target"):
        return said["target"]
    units = yield from counters(facts["targets"])
    unbroken = [unit.code for unit in units if not unit.attributes.get("broken")]
    able = unbroken or [unit.code for unit in units]
    if len(able) == 1:
        yield Tell(Step("3.3.4", facts["hex"], "target", f"{able[0]} alone can be chosen", "c"))
        return able[0]
    return (yield Choose("target", facts["side"], "the unit that the Sogeki Hei fires at", able))


def _have_fired(pieces: Sequence[str]) -> Doing:
    """O27.3: a piece that was activated to fire takes one shot."""
    for piece in (yield from pieces_named(pieces)):
        unit = yield from counter(piece.code)
        if unit.attributes.get("activated") == "fire":
            yield Change(
                {"unit": piece.code, "fired": [*unit.attributes.get("fired", []), piece.arm]}, kept=True
            )


def _places_smoke(at: str) -> Doing:
    """O27.2.1: a smoke marker drawn from the cup is placed."""
    value = yield from smoke_drawn(f"smoke in {at}")
    [ground] = yield Ask("select * from ccp.hex_now(:position, :hex, :conditions)", proves=False, hex=at)
    yield from smoke_placed(ground, value, "O27.2.1")


def fire_verdict(ruling: Ruling) -> str:
    """A fire attack in a sentence."""
    of, answer = ruling.question[ruling.kind], ruling.answer
    what = f"The fire at {of['at']}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    if answer["allowed"] is None:
        return clauses(f"{what} cannot be summed up", needs_in_words(ruling.needs) if ruling.needs else None)
    return clauses(
        f"{what} has {answer['value']} FP" if answer.get("value") is not None else what,
        *outcome_words(answer),
    )


def outcome_words(answer: dict[str, Any]) -> list[str | None]:
    """What came of an attack, what is waited for, whether the game is over."""
    fates = [f"{unit} {FATES[facts['result']]}" for unit, facts in answer.get("defense", {}).items()]
    pending = answer.get("pending")
    return [
        {"miss": "it misses", "smoke": "it places smoke"}.get(str(answer.get("result"))),
        f"the Attack Total is {answer['total']}" if "total" in answer else None,
        series(fates) if fates else None,
        f"it waits for {pending['for']}" if pending else None,
        "the game is over" if answer.get("over") else None,
    ]


FATES = {"eliminated": "is eliminated", "breaks": "breaks", "suppressed": "is suppressed", "none": "stands"}
ATTACK_ANSWERS = {
    "value": "the FP of the attack",
    "modifiers": "what makes it, each with rule, value and note; what terrain does to the total as well",
    "targeting": "of ordnance: what the product must at least be, the roll, whether it hits",
    "roll": "the Attack roll",
    "total": "the Attack Total",
    "defense": "of each unit: cover, morale, roll, total, result (eliminated, breaks, suppressed, none)",
    "result": "miss, smoke or attack",
    **ENDS,
}
FIRE_ANSWERS = {
    "range": "how far the hex is, for a group from the farthest piece",
    "hindrance": "the largest Hindrance of all lines",
    **ATTACK_ANSWERS,
}
SIGHT_POINTS = ("ccp-7", "ccp-33", "ccp-34")
DEFENSE_POINTS = ("ccp-15", "ccp-16", "ccp-18", "ccp-22", "ccp-29", "ccp-31", "ccp-39", "ccp-40", "ccp-42")
"""What a Defense roll and its losses may touch."""
KINDS = [
    procedure_kind(
        play,
        kinds=functools.partial(kinds_of, "ccp"),
        name=name,
        title=title,
        arguments=form,
        rulesets=("ccp",),
        answers=FIRE_ANSWERS,
        verdict=fire_verdict,
        points=(*SIGHT_POINTS, *DEFENSE_POINTS, "ccp-20", "ccp-36", "ccp-46", *more),
        example=example,
    )
    for name, title, form, play, more, example in (
        ("fire", "Fire", Fire, fire, ("ccp-47",), 'fire: {by: [1 Squad, "1 Squad:weapon"], at: D4}'),
        ("op_fire", "Opportunity fire", OpFire, op_fire, (), "op_fire: {by: [1 Squad], at: D4, movers: [2 Team]}"),
    )
]  # fmt: skip
