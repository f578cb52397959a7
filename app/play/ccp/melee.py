"""Melee in ccp: Ambushes, Melee FP, the two rolls, and who is eliminated: 19.2, A33, A34, A46, F101, F105."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from app.play.ccp.attack import Asker
from app.play.ccp.cards import asked_to_play, plays
from app.play.ccp.fire import DEFENSE_POINTS
from app.play.ccp.giving import is_played
from app.play.ccp.losses import Wounds, breaks, eliminates
from app.play.ccp.roll import ENDS, Chances, Rolled, rolled
from app.play.ccp.table import Doing, conditions, ending, gains, now, other, reading
from app.play.procedures import Action, Ask, Choose, Procedure, Refused, Tell, Undecided, procedure_kind
from app.referee.questions import kinds_of
from app.referee.questions.geometry import Place
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, members, needs_in_words

LEDGER = "select * from ccp.melee(:position, :hex, :conditions, :policy)"
ODDS = "select * from ccp.melee_odds(:position, :japan, :allied, :total)"
NOT_THEN = ("orders", "pass", "refill", "time_advance")
"""Phases of a turn in which no melee is fought (19.2)."""
PLAYED = "select * from ccp.played(:name, :times, :label)"
MeleeAction = Literal["ambush", "bayonets", "light_wounds", "no_quarter"]
NAMES = {"japan": "Japan", "allied": "the Allies"}


class MeleeActions(TypedDict, total=False):
    """What each side plays."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    japan: list[MeleeAction]
    allied: list[MeleeAction]


class Melee(Action):
    """In which hex, and what is played."""

    hex: Place = Field(description="The melee hex, or a unit in it")
    actions: MeleeActions = Field(
        default_factory=lambda: MeleeActions(),
        description="Actions of each side: ambush, bayonets, light_wounds, no_quarter; each as often as it is played",
    )


@ending
def melee(of: Melee) -> Procedure:
    """One melee from its Ambushes to its end."""
    facts = yield from _standing(of.hex, proves=False)
    yield from _is_time(facts)
    hex_ = facts["label"]
    yield from _cards(of)
    picked = yield from Asker(of).optional("ambushed", "referee", "the units that are ambushed", {})
    for ambusher in ("japan", "allied"):
        yield from _ambushes(of, ambusher, hex_, picked)
    facts = yield from _standing(of.hex, proves=True)
    if not all(facts["units"].values()):
        yield from _no_result(of, hex_, "the Ambushes have left one side alone")
        return
    yield Tell(fp=facts["fp"] if facts["known"] else None, modifiers=facts["modifiers"])
    if not facts["known"]:
        raise Undecided()
    totals = yield from _rolls(of, facts)
    if totals is None:
        yield from _no_result(of, hex_, "a trigger has left one side alone")
        return
    yield from _resolved(facts, totals)
    yield from _no_quarter(of, hex_)


def _cards(of: Melee) -> Doing:
    """In a game with decks the cards of the actions leave the hands of both sides (1.6)."""
    if not is_played((yield from now())):
        return
    for side, played in dict(of.actions).items():
        for word in played:  # type: ignore[attr-defined]
            yield from plays(side, "action", word, None, "1.6")


def _standing(hex_: str, proves: bool) -> Doing:
    [*_, row] = yield Ask(LEDGER, proves=proves, hex=hex_)
    return row.facts


def _is_time(facts: dict[str, Any]) -> Doing:
    """19.2: at the start of an Allied turn, where both sides are."""
    told = yield from conditions()
    if not all(facts["units"].values()):
        raise Refused("19.1", "units of both sides are not there", facts["label"])
    if told.get("active") == "japan":
        raise Refused("19.2", "melees are fought in Allied turns alone", facts["label"])
    if told.get("phase") in NOT_THEN and not (told["phase"] == "orders" and not told.get("orders_given")):
        raise Refused("19.2", "melees are fought at the start of the turn", facts["label"])


def _ambushes(of: Melee, side: str, hex_: str, picked: Mapping[str, Any]) -> Doing:
    """A33: all of the inactive side, which is Japan here, then all of the other; the victims' owner picks."""
    victims = other(side)
    wounds = Wounds(_copies(of, victims, "light_wounds"))
    told = _copies(of, side, "ambush")
    for nth in itertools.count():
        able = (yield from _standing(of.hex, proves=False))["units"][victims]
        if not able:
            return
        if nth >= told and not (yield from asked_to_play(side, "ambush", f"an Ambush in {hex_}", "A33")):
            return
        code = yield from _victim(picked, victims, able, nth)
        yield Tell(Step("A33", hex_, "ambush", f"{NAMES[side]} ambush {code}"))
        yield from breaks(code, "A33", "it is ambushed", wounds)


def _victim(picked: Mapping[str, Any], side: str, able: list[str], nth: int) -> Doing:
    """The unit that its owner picks: told as `ambushed: {side: [units]}`, or asked for one by one."""
    named = picked.get(side) or []
    named = named if isinstance(named, list) else [named]
    if nth < len(named):
        if named[nth] not in able:
            raise Refused("A33", f"{named[nth]} is not in the melee for {NAMES[side]}")
        return named[nth]
    if len(able) == 1:
        return able[0]
    return (yield Choose(f"ambushed_{side}", side, "the unit that is ambushed", able))


def _copies(of: Melee, side: str, name: str) -> int:
    """How often a side plays an action."""
    played: list[str] = dict(of.actions).get(side, [])  # type: ignore[assignment]
    return played.count(name)


def _rolls(of: Melee, facts: dict[str, Any]) -> Doing:
    """19.2.2: the Japanese roll, then the Allied, each with its Bayonets; None where a trigger ends it."""
    totals: dict[str, int] = {}
    fp = dict(facts["fp"])
    for side in ("japan", "allied"):
        fp[side] += yield from _bayonets(facts["label"], _copies(of, side, "bayonets"))
    for side in ("japan", "allied"):
        purpose = f"Bayonets in {facts['label']}"
        while (yield from asked_to_play(side, "bayonets", purpose, "A34")):
            fp[side] += yield from _bayonets(facts["label"], 1)
        chances = Chances(
            Ask(ODDS, proves=False, japan=fp["japan"], allied=fp["allied"], total=totals.get("japan"))
        )
        fallen: Rolled = yield from rolled(side, f"the Melee roll of {NAMES[side]}", chances=chances)
        totals[side] = fp[side] + fallen.sum
        yield Tell(
            Step("19.2.2", facts["label"], str(totals[side]), f"the Melee Total of {NAMES[side]}"),
            totals=dict(totals),
        )
        left = yield from _standing(of.hex, proves=False)
        if not all(left["units"].values()):
            return None
    return totals


def _bayonets(label: str, times: int) -> Doing:
    """A34: what so many Bayonets add to a Melee roll."""
    rows = yield Ask(PLAYED, name="bayonets", times=times, label=label)
    return sum(row.facts["value"] for row in rows)


def _resolved(facts: dict[str, Any], totals: dict[str, int]) -> Doing:
    """19.2.3: the lower total is eliminated; on a tie both, but for who held a bunker or pillbox."""
    result = "tie"
    if totals["japan"] != totals["allied"]:
        result = max(totals, key=lambda side: totals[side])
    losers = ["japan", "allied"] if result == "tie" else [other(result)]
    if result == "tie" and facts["fort"]:
        saved = yield from _holder(facts)
        losers = [other(saved)]
    left = yield from _standing(f"hex:{facts['label']}", proves=False)
    lost = [code for side in losers for code in left["units"][side]]
    yield Tell(result=result, eliminated=lost)
    yield from eliminates(lost, "19.2.3", "its side has lost the melee")


def _holder(facts: dict[str, Any]) -> Doing:
    """Who outlasts a tie in a bunker or pillbox: who last had it alone, or who was in it as the melee began (ccp-6)."""
    rule = "F101" if facts["fort"] == "bunker" else "F105"
    if (yield from reading("ccp-6")) == "a":
        side = yield Choose(
            "began_inside",
            "referee",
            f"who was in the {facts['fort']} when the melee began",
            ["japan", "allied"],
        )
        yield Tell(Step("19.2.3", facts["label"], side, f"began the melee in the {facts['fort']}"))
        return side
    if facts["held"] is None:
        raise Undecided(Need(f"the side that last had the {facts['fort']} to itself", rule))
    yield Tell(
        Step(rule, facts["label"], facts["held"], f"last had the {facts['fort']} to itself and wins the tie")
    )
    return facts["held"]


def _no_result(of: Melee, hex_: str, why: str) -> Doing:
    """A melee without rolls; whether No Quarter may be played after it is contested (ccp-48)."""
    yield Tell(Step("19.2.1", hex_, "none", f"{why}: the melee is over"), result="none", eliminated=[])
    if any(_copies(of, side, "no_quarter") for side in NAMES):
        if (yield from reading("ccp-48")) == "a":
            yield from _no_quarter(of, hex_)
        else:
            yield Tell(Step("A46", hex_, "not played", "No Quarter wants a melee with a result"))


def _no_quarter(of: Melee, hex_: str) -> Doing:
    """A46: 2 points for each, to a side that has a unit left."""
    left = yield from _standing(f"hex:{hex_}", proves=False)
    for side in ("japan", "allied"):
        times = _copies(of, side, "no_quarter")
        if times and not left["units"][side]:
            raise Refused("A46", f"{NAMES[side]} have no unit that survived", hex_)
        while left["units"][side] and (
            yield from asked_to_play(side, "no_quarter", f"No Quarter after the melee in {hex_}", "A46")
        ):
            times += 1
        for row in (yield Ask(PLAYED, proves=False, name="no_quarter", times=times, label=hex_)):
            yield from gains(side, row.facts["value"], "A46", "No Quarter")


def _verdict(ruling: Ruling) -> str:
    answer, where = ruling.answer, ruling.question["melee"]["hex"]
    what = f"The melee in {where}"
    if answer["allowed"] is False:
        return f"{what} is not fought: {answer['why']}"
    if answer["allowed"] is None:
        return clauses(f"{what} cannot be decided", needs_in_words(ruling.needs) if ruling.needs else None)
    if "result" not in answer:
        waits = answer.get("pending", {}).get("for")
        fp = answer.get("fp")
        return clauses(
            f"{what} is {fp['japan']} against {fp['allied']}" if fp else what,
            f"it waits for {waits}" if waits else None,
        )
    if answer["result"] == "none":
        return f"{what} ends without a result"
    won = "is a tie" if answer["result"] == "tie" else f"is won by {NAMES[answer['result']]}"
    lost = answer.get("eliminated") or []
    return clauses(f"{what} {won}", f"it costs {members(lost, 'unit')}" if lost else None)


KINDS = [
    procedure_kind(
        melee,
        kinds=functools.partial(kinds_of, "ccp"),
        name="melee",
        title="Melee",
        arguments=Melee,
        rulesets=("ccp",),
        answers={
            "fp": "Melee FP of each side, locked before the first roll",
            "totals": "Melee Totals",
            "modifiers": "what makes the Melee FP, each with rule, value, note and side",
            "result": "japan, allied, tie, or none where it ends without rolls",
            "eliminated": "the units that the result eliminates",
            **ENDS,
        },
        verdict=_verdict,
        points=("ccp-6", "ccp-41", "ccp-48", *DEFENSE_POINTS),
        example="melee: {hex: D4}",
    )
]
