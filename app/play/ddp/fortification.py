"""Fortifications of Bloody Nose Ridge (19.0): revealed, reduced, and who is placed in them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ddp.acting import Doing, is_ridge, scene
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Draw,
    Procedure,
    Refused,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from db.values import canonical
from importers.questions import Names

MARKER = """
select marker.attributes, hex.label
from positions.place(:position, :at) as place
join position on position.id = :position
join hex on hex.map_id = position.map_id and hex.q = place.q and hex.r = place.r
left join marker on marker.position_id = position.id and marker.kind = 'fortification' and marker.q = hex.q and marker.r = hex.r
"""
BESIDE = """
select hex.label
from positions.place(:position, :at) as place
join position on position.id = :position
cross join lateral lattice.neighbours(place.q, place.r) as beside
join hex on hex.map_id = position.map_id and hex.q = beside.nq and hex.r = beside.nr
join marker on marker.position_id = position.id and marker.kind = 'fortification' and marker.q = hex.q and marker.r = hex.r
where not ddp._flag(marker.attributes, 'revealed')
order by hex.label
"""
TURNS = "select * from ddp.fortification_turns(:old, :new)"


class FortificationDraw(Draw):
    """A fortification marker out of the cup: `{blocked: [1, 2], requires: [AR]}`."""

    def mistake(self, value: Any) -> str | None:
        if not isinstance(value, Mapping) or not isinstance(value.get("blocked"), list):
            return f"a fortification marker tells its blocked sides, such as {{blocked: [1, 2]}}, not {canonical(value)}"
        if any(side not in range(1, 7) for side in value["blocked"]):
            return "the sides of a fortification marker are 1 to 6"
        return None


class Fortification(Action):
    """Which fortification, and what is done."""

    at: Annotated[str, Names(("hex", "unit"))] = Field(description="The hex of the fortification marker")
    do: Literal["reveal", "reduce"] = Field("reveal", description="Reveal it, or reduce it by a barrage")


def fortification(of: Fortification) -> Procedure:
    """19.1, 19.4: a marker is turned up, or a smaller one takes its place."""
    now = yield from scene()
    if not is_ridge(now.conditions):
        raise Refused("2.25", "fortification markers are not turned up in the invasion scenarios")
    marker = yield from marker_at(of.at)
    if marker.attributes is None:
        raise Refused("19.1", f"there is no fortification in {marker.label}", marker.label)
    if of.do == "reveal":
        if marker.attributes.get("revealed"):
            raise Refused("19.1", "the fortification is revealed already", marker.label)
        yield from reveal(marker)
    else:
        yield from reduce(marker.label)


def marker_at(at: str) -> Doing:
    """The fortification marker of a hex, with the label of that hex; its attributes are null where there is none."""
    [row] = yield Ask(MARKER, proves=False, at=at)
    return row


def reveal_beside(label: str) -> Doing:
    """19.1: a unit that moves adjacent to a fortification reveals it."""
    now = yield from scene()
    if not is_ridge(now.conditions):
        return
    for row in (yield Ask(BESIDE, proves=False, at=label)):
        yield from reveal((yield from marker_at(row.label)))


def reveal(marker: Any) -> Doing:
    """19.1: the marker lies face up, its arrow toward the west edge."""
    said = marker.attributes
    if said.get("blocked") is None:
        drawn = yield FortificationDraw("fortification", f"the marker turned up in {marker.label}")
        said = said | {key: drawn[key] for key in ("blocked", "requires") if drawn.get(key)}
    yield from replace(marker.label, said | {"revealed": True})
    yield Tell(
        Step("19.1", marker.label, "reveals", f"it blocks sides {', '.join(map(str, said['blocked']))}"),
        blocked=said["blocked"],
    )


def replace(label: str, said: Mapping[str, Any]) -> Doing:
    """A marker that flips, turns or is exchanged is one removed and one placed."""
    yield Change({"marker": "fortification", "at": label, "removed": True})
    yield Change({"marker": "fortification", "at": label, **said})


def remove(label: str) -> Doing:
    """19.2: the marker goes back to the cup."""
    yield Change({"marker": "fortification", "at": label, "removed": True})
    yield from returned(1)


def returned(number: int) -> Doing:
    """Markers into the cup, where that is counted (18.1)."""
    now = yield from scene()
    cup = now.tracks.get("japan", {}).get("fortifications")
    if isinstance(cup, int):
        yield Change({"side": "japan", "fortifications": cup + number})


def reduce(label: str) -> Doing:
    """19.4: a drawn marker with fewer blocked sides takes the place of the old one, turned to lie within them."""
    marker = yield from marker_at(label)
    if not marker.attributes.get("revealed"):
        raise Refused("19.4", "only a revealed fortification is reduced", label)
    drawn = yield FortificationDraw("fortification", f"the reduction of the fortification in {label}")
    old, new = marker.attributes["blocked"], drawn["blocked"]
    rows = yield Ask(TURNS, old=old, new=new)
    turns = rows[-1].facts["turns"]
    if not turns:
        yield Tell(replaced=False, blocked=old, turned=0)
        return
    best = min(abs(turn) for turn in turns)
    nearest = [turn for turn in turns if abs(turn) == best]
    turn = nearest[0]
    if len(nearest) > 1:
        turn = yield Choose("turn", "us", "which way the new marker is turned", nearest)
    lies = sorted((side - 1 + turn) % 6 + 1 for side in new)
    said = {key: marker.attributes[key] for key in ("depth", "disrupted") if key in marker.attributes}
    requires = {"requires": drawn["requires"]} if drawn.get("requires") else {}
    yield from replace(label, said | {"revealed": True, "blocked": lies} | requires)
    yield Tell(replaced=True, blocked=lies, turned=turn)


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["fortification"], ruling.answer
    if not answer["allowed"]:
        return f"The fortification in {of['at']} stays as it is: {answer['why']}"
    if "pending" in answer:
        return f"The fortification in {of['at']} waits for a marker out of the cup"
    sides = ", ".join(map(str, answer["blocked"])) or "none"
    if of.get("do", "reveal") == "reveal":
        return f"The fortification in {of['at']} is revealed; blocked sides: {sides}"
    done = "is reduced" if answer["replaced"] else "is not reduced"
    return f"The fortification in {of['at']} {done}; blocked sides: {sides}"


KINDS = [
    procedure_kind(
        fortification,
        kinds=functools.partial(kinds_of, "ddp"),
        name="fortification",
        title="A fortification revealed or reduced",
        arguments=Fortification,
        rulesets=("ddp",),
        answers={
            "blocked": "the sides that it blocks now",
            "replaced": "whether a smaller marker took its place",
            "turned": "sixths of a turn clockwise that the new marker was turned, negative for the other way",
        },
        verdict=_verdict,
        example='fortification: {at: "0505", do: reduce}',
    )
]
