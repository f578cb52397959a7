"""The Rout Phase (11.0): who must check, checks, flees by a legal way, and takes casualties for a bad failure (11.1)."""

from __future__ import annotations

import functools
from typing import Annotated, Any

from pydantic import Field

from app.play.bob.asking import Asking, checked, counter, game, pieces
from app.play.bob.checks import OneOfSeveral, check, rolls_again
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Roll,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.questions.bob.movement import needs_of, rout_answer
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, series
from importers.questions import Names


class Rout(Action):
    """Which unit, or all of a side."""

    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The id of a unit")
    side: str | None = Field(None, description="A side: all its units that must check")


def rout(of: Rout, *, played: bool = False) -> Procedure:
    """11.0: a side's part of the phase, or one unit of it; who must check is settled before any of them moves."""
    if of.unit is None and of.side is None:
        now = yield from game()
        side = now.conditions.get("active") or now.conditions.get("first")
        if side is None:
            raise Refused("11.0", "no side is told")
        of = of.model_copy(update={"side": side})
    if isinstance(of.choices.get("to"), dict):
        yield Choose("to", "referee", "where each routs to")
    if of.unit is not None:
        yield from _one(of, of.unit, played=played)
        return
    yield from _all(of, str(of.side), played=played)


def _checks(unit: str, *, proves: bool = True) -> Asking:
    rows = yield Ask(
        "select * from bob.rout_check(:position, :unit, :conditions, :policy)", proves=proves, unit=unit
    )
    return rows[-1].facts


def _one(of: Rout, unit: str, *, played: bool) -> Procedure:
    facts = yield from _checks(unit)
    told = {"checks": facts["checks"], "because": facts["because"]}
    yield Tell(**told)
    if not facts["checks"]:
        # who is not seen in the open by one reading may be by the other
        yield Tell(points=("bob-12",))
        yield Tell(result="unaffected", morale=None, mc=None, margin=None, casualty=None, reduced=False)
        return
    # 11.1: both of a Melee check before either moves
    mates = yield from _mates(unit) if facts["melee"] else _nobody()
    found = yield from _rolled(of, unit, facts, played=played)
    failed = found["mc"] == "failed"
    mates_fail = False
    if failed and mates:
        mates_fail = yield from _mates_fail(of, unit, mates)
    yield from _after(of, unit, facts, found, alone=facts["alone"] or mates_fail, single=True)


def _nobody() -> Asking:
    return []
    yield  # a generator, like its sister


def _mates(unit: str) -> Asking:
    """Friends in the same Melee."""
    found = yield from pieces()
    own = next(one for one in found if one.code == unit)
    return [
        one.code
        for one in found
        if one.side == own.side
        and one.code != unit
        and one.melee
        and (one.q, one.r, one.location) == (own.q, own.r, own.location)
    ]


def _mates_fail(of: Rout, unit: str, mates: list[str]) -> Asking:
    """Whether every friend in the Melee is to rout as well, where their dice were told, or `choices: {mates: failed}`."""
    if of.choices.get("mates") is None:
        own = 2 if rolls_again(of.choices.get("cp"), unit) else 1
        if len(of.rolls) < own + len(mates):
            return False
        checks = []
        for mate in mates:
            checks.append((yield from check(mate, "rout")))
        return not any(one.passed for one in checks)
    chosen = yield Choose(
        "mates", "referee", "the checks of its friends in the Melee", options=["failed", "passed"]
    )
    return chosen == "failed"


def _rolled(of: Rout, unit: str, facts: dict[str, Any], *, played: bool, dice: type[Roll] = Roll) -> Asking:
    yield Tell(casualty=facts["casualty"])
    found = yield from checked(unit, "rout", of, played=played, dice=dice)
    yield Tell(morale=found["morale"], mc=found["mc"], margin=found["margin"], casualty=facts["casualty"])
    return found


def _after(
    of: Rout, unit: str, facts: dict[str, Any], found: dict[str, Any], *, alone: bool, single: bool
) -> Asking:
    """What a check brings: unaffected, routs, stays or eliminated; casualties come after the Rout (11.1)."""
    if found["mc"] != "failed":
        yield Tell(result="unaffected", reduced=False)
        return "unaffected"
    own = yield from counter(unit)
    if facts["carrier"]:
        return (yield from _driven_off(of, unit, facts["carrier"], own.side))
    if facts["gun"]:
        return (yield from _lost(unit, "20.2", "a Gun that fails is eliminated"))
    if facts["melee"] and alone:
        return (yield from _cornered(unit, own, found))
    rows = yield Ask("select * from bob.rout_path(:position, :unit, :conditions, :policy)", unit=unit)
    way = rout_answer(rows[-1].facts)
    if single:
        yield Tell(**{key: way[key] for key in ("destinations", "costs", "toward", "edge")})
    if way["eliminated"]:
        if not way["edge"] and (yield from _desperate(unit, own, found)):
            return "stays"
        return (yield from _lost(unit, "11.0", rows[-1].note))
    needs = needs_of("bob", rows[:-1])
    if needs and not way["destinations"]:
        raise Undecided(*needs)
    if facts["casualty"] is not None:
        # known before its owner chooses where to
        hurt = found["margin"] >= facts["casualty"]
        gone = hurt and own.attributes.get("reduced")
        yield Tell(result="eliminated" if gone else "routs", reduced=hurt)
    goal = yield from _goal(of, unit, own.side, way["destinations"])
    yield Change(
        {"unit": unit, "at": goal, **({"facing": of.choices["facing"]} if "facing" in of.choices else {})}
    )
    yield Tell(result="routs", to=goal)
    return (yield from _casualties(unit, own, facts, found))


def _driven_off(of: Rout, unit: str, carrier: str, side: str) -> Asking:
    """21.6: the Carrier routs with its passengers, by a Vehicle's costs, until it is three hexes from whom it sees."""
    yield Tell(
        Step("21.6", None, "routs", "the Carrier routs with its passengers"), result="routs", carrier=carrier
    )
    if "to" not in of.choices:
        # what a Vehicle pays in the open is on the card
        raise Undecided(Need("pac_terrain", "21.6"), result="routs", carrier=carrier)
    goal = yield Choose("to", side, f"where {carrier} routs to")
    found = yield from pieces()
    for one in found:
        if one.code == carrier or one.attributes.get("in") == carrier:
            yield Change({"unit": one.code, "at": goal})
    yield Tell(to=goal, reduced=False)
    return "routs"


def _goal(of: Rout, unit: str, side: str, destinations: list[str]) -> Asking:
    """11.0: of several hexes its owner chooses."""
    if "facing" in of.choices:
        yield Choose("facing", side, f"the facing of {unit}", options=[1, 2, 3, 4, 5, 6])
    if len(destinations) == 1 and "to" not in of.choices:
        return destinations[0]
    told = of.choices.get("to")
    if isinstance(told, dict) and unit in told:
        if told[unit] not in destinations:
            raise Refused("11.0", f"{unit} may not rout to {told[unit]}", told[unit])
        return told[unit]
    where = f"where {unit} routs to"
    if of.unit is not None:
        return (yield Choose("to", side, where, options=destinations))
    return (yield Choose(f"to:{unit}", side, where, options=destinations, also=("to",)))


def _casualties(unit: str, own: Any, facts: dict[str, Any], found: dict[str, Any]) -> Asking:
    """11.1: a margin of its casualty number or more costs a step."""
    if facts["casualty"] is None:
        raise Undecided(Need("counter", "11.1"), result="routs")
    if found["margin"] < facts["casualty"]:
        yield Tell(reduced=False)
        return "routs"
    yield Tell(
        Step("11.1", None, "reduced", f"{found['margin']} over is {facts['casualty']} or more"), reduced=True
    )
    if own.attributes.get("reduced"):
        yield Change({"unit": unit, "eliminated": True})
        yield Tell(result="eliminated")
        return "eliminated"
    yield Change({"unit": unit, "reduced": True, "suppression": "full"})
    return "routs"


def _lost(unit: str, rule: str, why: str) -> Asking:
    yield Tell(Step(rule, None, "eliminated", why), result="eliminated", reduced=False)
    yield Change({"unit": unit, "eliminated": True})
    return "eliminated"


def _cornered(unit: str, own: Any, found: dict[str, Any]) -> Asking:
    """11.1, 11.2: alone in Melee it cannot rout."""
    if (yield from _desperate(unit, own, found)):
        return "stays"
    return (yield from _lost(unit, "11.1", "no friend holds the Melee as it leaves"))


def _desperate(unit: str, own: Any, found: dict[str, Any]) -> Asking:
    """11.2, 57.3: full-strength SS against Russians that fail by one stay, Reduced."""
    if not own.attributes.get("ss") or own.attributes.get("reduced") or found["margin"] != 1:
        return False
    foes = yield from pieces()
    if not any(foe.nation == "russian" and foe.side != own.side for foe in foes):
        return False
    yield Tell(
        Step("57.3", None, "stays", "it fails by one: Reduced, and where it is"), result="stays", reduced=True
    )
    yield Change({"unit": unit, "reduced": True, "suppression": "full"})
    return True


def _all(of: Rout, side: str, *, played: bool) -> Procedure:
    """All of a side: who checks is settled first, those of a Melee check together (11.0, 11.1)."""
    mine = [one for one in (yield from pieces()) if one.side == side and (one.infantry or one.gun)]
    due: list[tuple[Any, dict[str, Any]]] = []
    for one in mine:
        facts = yield from _checks(one.code)
        if facts["checks"]:
            due.append((one, facts))
    dice = OneOfSeveral if len(due) > 1 else Roll
    results: dict[str, str] = {}
    yield Tell(checks=[one.code for one, _ in due], results=results)
    while due:
        head = due[0][0]
        group = [
            (one, facts)
            for one, facts in due
            if one.code == head.code
            or (one.melee and head.melee and (one.q, one.r, one.location) == (head.q, head.r, head.location))
        ]
        due = [item for item in due if item not in group]
        found = {}
        for one, facts in group:
            found[one.code] = yield from _rolled(of, one.code, facts, played=played, dice=dice)
        holding = [
            one for one in mine
            if head.melee and one.melee and (one.q, one.r, one.location) == (head.q, head.r, head.location)
            and found.get(one.code, {}).get("mc") != "failed"
        ]  # fmt: skip
        for one, facts in group:
            results[one.code] = yield from _after(
                of, one.code, facts, found[one.code], alone=not holding, single=False
            )
    yield Tell(results=results)


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["rout"], ruling.answer
    if answer["allowed"] is False:
        return f"Nobody routs: {answer['why']}"
    if "results" in answer:
        fled = [unit for unit, result in answer["results"].items() if result != "unaffected"]
        return clauses(
            f"{series(answer['checks'])} must check" if answer["checks"] else "Nobody must check",
            f"{series(fled)} cannot stay as they were" if fled else None,
        )
    unit = of["unit"]
    if not answer["checks"]:
        return f"{unit} need not check for Rout"
    words = {
        "unaffected": "passes and is unaffected",
        "routs": f"routs to {answer['to']}" if answer.get("to") else "routs",
        "stays": "stays, Reduced",
        "eliminated": "is eliminated",
    }
    return f"{unit} {words.get(answer.get('result', ''), 'must check for Rout')}"


FACTS: dict[str, Any] = {
    "kinds": functools.partial(kinds_of, "bob"),
    "name": "rout",
    "title": "A Rout check, and the Rout",
    "arguments": Rout,
    "rulesets": ("bob",),
    "answers": {
        "checks": "whether it must check; of a side, the units that must",
        "because": "why: same_hex, adjacent, open",
        "morale": "the Morale that it rolls against",
        "mc": "passed, failed or automatic",
        "margin": "by how much it fails",
        "casualty": "the number that the margin is compared with",
        "reduced": "whether the failure costs it a step",
        "result": "unaffected, routs, stays or eliminated",
        "results": "of a side: the result of each unit that must check",
        "destinations": "the hexes to which it may rout",
        "costs": "movement points to each of them",
        "toward": "the hex that it heads for, where it cannot reach one that shelters it",
        "edge": "whether it makes for its Rout Edge",
        "to": "the hex to which it routs",
        "carrier": "the Carrier that routs with it",
    },
    "verdict": _verdict,
    "points": ("bob-12", "bob-23", "bob-28", "bob-40", "bob-50"),
    "example": 'rout: {unit: "1/A", rolls: [7]}',
    "names_units": ("results",),
}


def play_rout(of: Rout) -> Procedure:
    """11.0: in a game a side does its whole part at once, and only once."""
    now = yield from game()
    side = of.side or now.conditions.get("active")
    routed = list(now.tracks.get("routed") or ())
    if side in routed:
        raise Refused("11.0", f"the part of {side} is over")
    yield from rout(of.model_copy(update={"side": side, "unit": None}), played=True)
    yield Change({"track": "routed", "value": [*routed, side]}, kept=True)


KINDS = [procedure_kind(rout, **FACTS)]
ACTIONS = [procedure_kind(play_rout, **FACTS)]
