"""Triggers of a roll: Disperse, Event, Sniper, Time (1.9.2 to 1.9.5)."""

from __future__ import annotations

import functools
from typing import Any, Literal

from pydantic import Field

from app.play.ccp.cards import revealed
from app.play.ccp.losses import breaks
from app.play.ccp.picks import Sightings, picked
from app.play.ccp.roll import ENDS
from app.play.ccp.table import SIDES, Doing, ending
from app.play.procedures import Action, AnswerError, Ask, Change, Procedure, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses
from db.values import canonical

CLEARED = """
select marker.kind, hex.label, marker.value
from marker
join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
where marker.position_id = :position and marker.kind in ('smoke', 'starshell')
order by marker.kind, hex.label, marker.value
"""


def triggered(name: str, side: str) -> Procedure:
    """A trigger of a side's roll, in its entirety."""
    from app.play.ccp.clock import advances
    from app.play.ccp.events import happens

    match name:
        case "time":
            yield from advances(side)
        case "sniper":
            yield from snipes(side)
        case "disperse":
            yield from disperses(side)
        case _:
            card = yield from revealed(side, "the event")
            if card.get("event") is None:
                raise AnswerError("The card of an Event trigger tells its event: {event: kia}.")
            yield from happens(str(card["event"]), side, card)


class OfSide(Action):
    """Whose roll triggers it."""

    side: Literal["japan", "allied"] = Field(description="The side whose roll has the trigger")


@ending
def sniper(of: OfSide) -> Procedure:
    """1.9.4: the roller may break one unit in or beside a random hex."""
    yield from snipes(of.side)


def snipes(side: str) -> Doing:
    """The hex, the unit that breaks, then the Sighting marker."""
    sightings = Sightings()
    ground = yield from sightings.reveal(side, "the Sniper")
    yield Tell(hex=ground.label)
    near = yield Ask("select * from ccp.units_near(:position, :hex, 1)", proves=False, hex=ground.label)
    unit = yield from picked(
        "unit", side, f"who breaks in or beside {ground.label}", [row.code for row in near], may=True
    )
    result = "nobody"
    if unit is not None:
        result = yield from breaks(unit, "1.9.4", "hit by a Sniper")
    else:
        yield Tell(Step("1.9.4", ground.label, "nobody", "nobody is there, or the roller lets it be"))
    yield Tell(result=result)
    yield from sightings.conclude()


@ending
def disperse(of: OfSide) -> Procedure:
    """1.9.2: the roller must take off one smoke or starshell marker."""
    yield from disperses(of.side)


def disperses(side: str) -> Doing:
    lying = yield Ask(CLEARED, proves=False)
    labels = [row.label for row in lying]
    # a label is enough where only one lies there
    options = [row.label if labels.count(row.label) == 1 else f"{row.kind} in {row.label}" for row in lying]
    chosen = yield from picked(
        "marker",
        side,
        "which smoke or starshell goes",
        list(dict.fromkeys(options)),
        also=("at", "hex"),
        words=_words(lying, options),
    )
    if chosen is None:
        yield Tell(
            Step("1.9.2", None, "nothing", "no smoke and no starshell is on the map"), result="nothing"
        )
        return
    gone = next(row for row, option in zip(lying, options, strict=True) if option == chosen)
    yield Tell(
        Step("1.9.2", gone.label, "removed", f"{gone.kind}, by {SIDES[side]}"),
        result="removed",
    )
    value = {} if gone.value is None else {"value": gone.value}
    yield Change({"marker": gone.kind, "at": gone.label, **value, "removed": True})


def _words(lying: list[Any], options: list[str]) -> dict[str, str]:
    """Other words for a marker: its kind where it is the only one, or {kind, at}."""
    kinds = [row.kind for row in lying]
    words: dict[str, str] = {}
    for row, option in zip(lying, options, strict=True):
        told = (
            {"kind": row.kind, "at": row.label},
            {"marker": row.kind, "at": row.label},
            f"{row.kind} in {row.label}",
        )
        words |= {canonical(one): option for one in told}
        if kinds.count(row.kind) == 1:
            words[canonical(row.kind)] = option
    return words


def _sniper_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if "result" not in answer:
        return "A Sniper: something is still to be told"
    words = {"nobody": "nobody is hit", "broken": "a unit breaks", "eliminated": "a unit is eliminated"}
    return clauses(
        f"The Sniper is in {answer['hex']}",
        words.get(answer["result"], "a squad is replaced"),
        "the game is over" if answer.get("over") else None,
    )


def _disperse_verdict(ruling: Ruling) -> str:
    result = ruling.answer.get("result")
    return {"removed": "One marker is dispersed", "nothing": "There is nothing to disperse"}.get(
        str(result), "One smoke or starshell marker is to be taken off"
    )


KINDS = [
    procedure_kind(
        sniper,
        kinds=functools.partial(kinds_of, "ccp"),
        name="sniper",
        title="Sniper",
        arguments=OfSide,
        rulesets=("ccp",),
        answers={"hex": "the random hex", "result": "nobody, broken or eliminated", **ENDS},
        verdict=_sniper_verdict,
        points=("ccp-10", "ccp-31", "ccp-39"),
        example="sniper: {side: japan, cards: [{hex: C2}], choices: {unit: Squad}}",
        acts=False,
    ),
    procedure_kind(
        disperse,
        kinds=functools.partial(kinds_of, "ccp"),
        name="disperse",
        title="Disperse",
        arguments=OfSide,
        rulesets=("ccp",),
        answers={"result": "removed or nothing", **ENDS},
        verdict=_disperse_verdict,
        example="disperse: {side: japan, choices: {marker: C4}}",
        acts=False,
    ),
]
