"""Losses in ccp and what they set off: breaking, elimination, points, tracks, melee markers, objectives, the end: 3.2, 11.2, 13.3, 14, 17.2, 19.1, A44."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ccp.cards import asked_to_play
from app.play.ccp.roll import ENDS
from app.play.ccp.table import (
    Doing,
    GameOver,
    adds_marker,
    conditions,
    counter,
    ending,
    gains,
    keep,
    now,
    other,
    removes_marker,
)
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses
from importers.questions import Names

FACE = ("fp", "range", "movement", "morale")
"""What is printed on both faces of a counter (3.1, 3.2.1)."""
POINTS = "select * from ccp.points(:position, :unit, null, null, false, :conditions, :policy)"
CASUALTY = "select * from ccp.casualty(:position, :unit, :conditions, :policy)"
SETTLED = "select * from ccp.settled(:position, :label, :conditions, :policy)"
SURVIVORS = "select * from ccp.survivors(:position)"
PLAYED = "select * from ccp.played(:name, :times)"
LIGHT_WOUNDS = "light_wounds"


class Wounds:
    """Light Wounds cards that a side still may play in an attack (A44), for the units named or as they come."""

    def __init__(self, copies: int, units: Sequence[str] = ()) -> None:
        self._copies, self._units = copies, list(units)

    def take(self, unit: Any) -> bool:
        """Whether one is played for a squad that breaks."""
        wanted = not self._units or unit.code in self._units
        if unit.kind != "squad" or not self._copies or not wanted:
            return False
        self._copies -= 1
        return True


def breaks(code: str, rule: str, why: str, wounds: Wounds | None = None) -> Doing:
    """A unit breaks; a broken one is eliminated; a squad may be saved by Light Wounds: `broken`, `eliminated`, `replaced`."""
    unit = yield from counter(code)
    saved = wounds is not None and wounds.take(unit)
    if not saved and unit.kind == "squad":
        saved = yield from asked_to_play(unit.side, LIGHT_WOUNDS, f"Light Wounds for {code}", "A44")
    if saved:
        yield from _replace(unit)
        return "replaced"
    if unit.attributes.get("broken"):
        yield from eliminates([code], "3.2.4", f"broken already: {why}")
        return "eliminated"
    yield Tell(Step(rule, unit.label, "breaks", f"{code}: {why}"))
    yield from turns(unit, broken=True)
    return "broken"


def rallies(code: str, rule: str, why: str) -> Doing:
    """A broken unit turns to its unbroken face; nothing happens to an unbroken one (3.2.5)."""
    unit = yield from counter(code)
    if unit.attributes.get("broken"):
        yield Tell(Step(rule, unit.label, "rallies", f"{code}: {why}"))
        yield from turns(unit, broken=False)


def turns(unit: Any, broken: bool, told: bool = True) -> Doing:
    """A counter turned over with all that lies on it (3.2.2): what its other face shows, as far as it is told, and this one for the way back."""
    shown = {key: unit.attributes[key] for key in FACE if unit.attributes.get(key) is not None}
    back = unit.attributes.get("reverse") or {}
    if "command" in back:
        shown["command"] = back["command"]
    faces = {"unit": unit.code, **{key: back.get(key) for key in FACE}, "reverse": shown or None}
    yield Change({"unit": unit.code, "broken": broken}, kept=not told)
    yield Change(faces, kept=True)


def _replace(squad: Any) -> Doing:
    """A44: the squad makes way for a team of its side's quality, as it was; a payment of 1 VP."""
    quality = (yield from conditions()).get("quality")
    of_side = quality.get(squad.side) if isinstance(quality, dict) else quality
    yield Tell(Step("A44", squad.label, "replaced", f"{squad.code}: a team takes the place of the squad"))
    [price] = yield Ask(PLAYED, proves=False, name=LIGHT_WOUNDS, times=1)
    yield from gains(squad.side, price.facts["value"], "A44", "Light Wounds are paid for")
    yield Change({"unit": squad.code, "replaced_by": ["team"]}, told=True)
    yield Change(
        {"unit": squad.code, "kind": "team", "quality": of_side}
        | (yield from team_faces(squad.side, of_side, bool(squad.attributes.get("broken")))),
        kept=True,
    )


def team_faces(side: str, quality: str | None, broken: bool) -> Doing:
    """What a team of a side's quality shows, broken or not, where its counter is filled in; null where it is not."""
    [row] = yield Ask(
        "select ccp.counter_faces(:position, :side, 'team', :quality, null) as faces",
        proves=False,
        side=side,
        quality=quality,
    )
    faces: dict[str, Any] = row.faces or {}
    front = {key: faces.get(key) for key in FACE}
    back = {key: (faces.get("reverse") or {}).get(key) for key in FACE}
    shown, other_face = (back, front) if broken else (front, back)
    known = {key: value for key, value in other_face.items() if value is not None}
    return {**shown, "boxed_fp": bool(faces.get("boxed_fp")) and not broken, "reverse": known or None}


def eliminates(codes: Sequence[str], rule: str, why: str) -> Doing:
    """Units leave the game together: where they go, points, what it means for their hexes, and whether it is over."""
    surrendered = False
    labels: list[str] = []
    for code in codes:
        unit = yield from counter(code)
        yield Tell(Step(rule, unit.label, "eliminated", f"{code}: {why}"))
        surrendered |= yield from _buried(unit)
        if unit.label is not None and unit.label not in labels:
            labels.append(unit.label)
    for label in labels:
        yield from settles(label)
    yield from _ends(surrendered)


def _buried(unit: Any) -> Doing:
    """One unit: Casualty Track, Time Track or countermix, and its points; gives whether its side surrenders."""
    [*_, grave] = yield Ask(CASUALTY, unit=unit.code)
    [*_, worth] = yield Ask(POINTS, unit=unit.code)
    yield Change({"unit": unit.code, "eliminated": True})
    bare: dict[str, Any] = {"suppressed": False, "veteran": False, "activated": None, "in_cave": False}
    weapon = unit.attributes.get("weapon")
    match grave.facts["goes"]:
        case "countermix":
            yield Change({"unit": unit.code, "countermix": True})
            bare |= {"eliminated": False}
            if weapon:
                yield Change({"unit": unit.code, "weapon": "eliminated"}, told=True)
                bare |= {"weapon": {**weapon, "box": True}}
        case "time_track":
            yield Change({"unit": unit.code, "space": grave.facts["space"]})
            bare |= {"eliminated": False}
            yield from _whole(unit)
        case _:
            bare |= {"space": grave.facts["space"]}
            if weapon:
                bare |= {"weapon": {**weapon, "box": True}}
    yield Change({"unit": unit.code, **bare}, kept=True)
    if worth.facts["value"] is None:
        yield Tell(needs=[Need(f"what {unit.code} is worth", "14.1")])
    else:
        yield from gains(other(unit.side), worth.facts["value"], "14.1", f"for {unit.code}")
    return grave.facts["surrender"]


def _whole(unit: Any) -> Doing:
    """ccp-35: Banzai losses wait unbroken, with their weapon."""
    # decides only what comes later, so it is not touched here
    if (yield from now()).readings["ccp-35"] == "b":
        return
    if unit.attributes.get("broken"):
        yield from turns(unit, broken=False, told=False)
    weapon = unit.attributes.get("weapon")
    if weapon and weapon.get("broken"):
        yield Change({"unit": unit.code, "weapon": {**weapon, "broken": False}}, kept=True)


def breaks_weapon(code: str, rule: str, why: str) -> Doing:
    """5.4: a weapon breaks; a broken one is eliminated, to the Weapons Box: `broken` or `eliminated`."""
    unit = yield from counter(code)
    weapon = unit.attributes["weapon"]
    gone = bool(weapon.get("broken"))
    result = "eliminated" if gone else "broken"
    yield Tell(Step("5.4" if gone else rule, unit.label, result, f"{weapon['name']} of {code}: {why}"))
    yield Change({"unit": code, "weapon": result}, told=True)
    if gone:
        yield from loses_weapon(unit)
    else:
        yield Change({"unit": code, "weapon": {**weapon, "broken": True}}, kept=True)
    return result


def loses_weapon(unit: Any) -> Doing:
    """The weapon lies in the Weapons Box, by a name of its own; its unit has none (5.3)."""
    weapon = unit.attributes["weapon"]
    boxed = {"side": unit.side, "kind": "weapon", "weapon": {**weapon, "broken": True, "box": True}}
    yield Change(
        {"unit": unit.code, "weapon": None}, {"unit": f"{unit.code}'s {weapon['name']}", **boxed}, kept=True
    )


def fixes_weapon(code: str, rule: str, why: str) -> Doing:
    """A broken weapon is turned back."""
    unit = yield from counter(code)
    yield Tell(Step(rule, unit.label, "fixed", f"{unit.attributes['weapon']['name']} of {code}: {why}"))
    yield Change({"unit": code, "weapon": "fixed"}, told=True)
    yield Change({"unit": code, "weapon": {**unit.attributes["weapon"], "broken": False}}, kept=True)


def settles(label: str) -> Doing:
    """After somebody entered or left a hex: melee marker, who has a bunker alone, objectives and their points."""
    for row in (yield Ask(SETTLED, label=label)):
        facts = row.facts
        if facts.get("melee") == "added":
            yield from adds_marker("melee", label)
        elif facts.get("melee") == "removed":
            yield from removes_marker("melee", label)
        elif "fort" in facts:
            was = {"held": facts["was"]} if facts["was"] else {}
            yield Change(
                {"marker": facts["fort"], "at": label, **was, "removed": True},
                {"marker": facts["fort"], "at": label, "held": facts["held"]},
                kept=True,
            )
        else:
            yield from _taken(facts)


def _taken(facts: dict[str, Any]) -> Doing:
    """14.3.1, 14.3.4: an objective changes hands; what it is worth is taken from the one before it is given to the other."""
    number, side, was = facts["objective"], facts["control"], facts["was"]
    yield Change({"objective": number, "control": side}, told=True)
    control = (yield from conditions()).get("control") or {}
    yield from keep(control={**control, str(number): side})
    if was is not None:
        yield from gains(was, -facts["value"], "14.3.4", f"loses objective {number}")
    yield from gains(side, facts["value"], "14.3.4", f"takes objective {number}")


def _ends(surrendered: bool) -> Doing:
    """13.3 a and b: surrender, or nobody left on the map and in no Infiltration Box; whatever the points."""
    rows = yield Ask(SURVIVORS, proves=False)
    beaten = {row.side for row in rows if row.on_map == 0}
    saved = {row.side for row in rows if row.on_map == 0 and row.in_box > 0}
    for side in sorted(saved):
        yield Tell(Step("13.3", None, "goes on", f"{side} has a unit in an Infiltration Box"))
    lost = (beaten - saved) | ({"allied"} if surrendered else set())
    if not lost:
        return
    end = "surrender" if surrendered else "elimination"
    for side in sorted(lost):
        note = "its last unit on the map is gone" if side in beaten else "the surrender space is filled"
        yield Tell(Step("13.3.1", None, "loses", f"{side}: {note}, whatever the points"))
    if len(lost) > 1:
        winner = (yield from conditions()).get("initiative")
        yield Tell(Step("13.3.1", None, str(winner), "both have lost: who holds the Initiative wins"))
    else:
        winner = other(next(iter(lost)))
    raise GameOver(winner, end)


# Breaking and elimination as procedures.


class Break(Action):
    """Which unit breaks."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The unit's id")
    actions: list[Literal["light_wounds"]] = Field(
        default_factory=list, description="Actions played: light_wounds, for a squad that breaks (A44)"
    )


class Eliminate(Action):
    """Which unit is eliminated."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The unit's id")
    actions: list[Literal["light_wounds"]] = Field(default_factory=list, description="None helps here (A44)")


@ending
def break_(of: Break) -> Procedure:
    """A unit breaks, by whatever."""
    unit = yield from counter(of.unit)
    yield from _in_play(unit)
    if of.actions and unit.kind != "squad":
        raise Refused("A44", f"{of.unit} is no squad: Light Wounds are not played for it", unit.label)
    wounds = Wounds(len(of.actions))
    result = "eliminated" if unit.attributes.get("broken") and not of.actions else "broken"
    yield Tell(result="replaced" if of.actions else result)
    yield from breaks(of.unit, "3.2.1", "it breaks", wounds)


@ending
def eliminate(of: Eliminate) -> Procedure:
    """A unit is eliminated outright."""
    unit = yield from counter(of.unit)
    yield from _in_play(unit)
    if of.actions:
        raise Refused(
            "A44", "Light Wounds are played when a squad breaks, not when it is eliminated", unit.label
        )
    yield Tell(result="eliminated")
    yield from eliminates([of.unit], "14.1", "it is eliminated")


def _in_play(unit: Any) -> Doing:
    if unit.label is None:
        raise Refused("3.2", f"{unit.code} is not on the map")
    return
    yield


def _loss_verdict(ruling: Ruling) -> str:
    answer, unit = ruling.answer, ruling.question[ruling.kind]["unit"]
    if answer["allowed"] is False:
        return f"It does not happen: {answer['why']}"
    said = {"broken": "breaks", "eliminated": "is eliminated", "replaced": "is replaced by a team"}
    return clauses(
        f"{unit} {said[answer['result']]}",
        f"the game is over: {answer['winner'] or 'nobody'} wins" if answer.get("over") else None,
    )


LOSS_ANSWERS = {"result": "broken, eliminated or replaced", **ENDS}
KINDS = [
    procedure_kind(
        play,
        kinds=functools.partial(kinds_of, "ccp"),
        name=name,
        title=title,
        arguments=form,
        rulesets=("ccp",),
        answers=LOSS_ANSWERS,
        verdict=_loss_verdict,
        points=("ccp-22", "ccp-39"),
        example=f"{name}: {{unit: 1 Squad}}",
        acts=False,
    )
    for name, title, form, play in (
        ("break", "A unit breaks", Break, break_),
        ("eliminate", "A unit is eliminated", Eliminate, eliminate),
    )
]
