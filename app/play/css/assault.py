"""Assaults, Banzai charges and Gyokusai in css: 9.0 to 9.6, 12.5, 13.3.

Both totals, results and losses are SQL (`css.assault`, `css.assault_result`, `css.charge_losses`); here are the steps
A to L of 9.1.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pydantic import Field, field_validator

from app.play.css.dice import d10, pair
from app.play.css.fire import Ids, Shot, Trigger, Unit, alert, react
from app.play.css.frame import css_kind
from app.play.css.status import (
    MARKS,
    RESULTS,
    Doing,
    Orders,
    Struck,
    counter,
    disorganize,
    eliminate,
    lift,
    lose_leader,
    note_action,
    place_marker,
    reading,
    settle,
    shed,
    shelve,
    state,
    suppress,
    take_along,
    used_up,
)
from app.play.css.status import charge as bill
from app.play.procedures import Action, AnswerError, Ask, Change, NotOfferedError, Procedure, Refused, Tell
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, counted, series
from db.values import canonical

LEDGER = "select * from css.assault(:position, cast(:assault as jsonb), :conditions, :policy)"
RESULT = "select * from css.assault_result(:position, :attacker, :defender, :attacker_die, :defender_die)"
CHANCES = "select css.assault_chances(:position, :attacker, :defender) as chances"
LOSSES = "select * from css.charge_losses(:position, :dg, :leader, :drunk)"
RETREAT = "select * from css.retreat(:position, :hex, :to, :conditions, :policy)"
PLACE = "select * from css.place_assault(:position, :at, :by, :massed, :conditions, :policy)"
HERE = (
    "select piece.code, piece.kind, piece.is_unit, piece.side from position join hex on hex.map_id = position.map_id"
    " cross join lateral css._pieces(position.id, hex.q, hex.r, :inside) as piece"
    " where position.id = :position and hex.label = :hex order by piece.code"
)
CHOICES = ("defense_unit", "distribute", "advance", "eliminated", "weapons_lost", "retreat", "op_fire")


class Assault(Action):
    """Who assaults which hex, with whose help."""

    at: Place = Field(description="The hex that is assaulted")
    by: Ids = Field(
        default_factory=list,
        max_length=30,
        description="The units that assault; all that can, where left out",
    )
    with_: Ids | None = Field(
        None, alias="with", max_length=6, description="Leaders and heroes who help; the best, where left out"
    )
    support: Ids | None = Field(
        None,
        max_length=10,
        description="Indirect units that have fired in support (9.1 B); those that have in this Activation, where left out",
    )
    alerted: bool | None = Field(None, description="Whether War Dogs have alerted the defender (12.5)")
    incurred: int | None = Field(None, ge=0, le=40, description="DGs of the Opportunity Fire at a charge")
    call_off: bool = Field(False, description="Whether it is called off (9.1 A)")
    retreat: Place | None = Field(
        None, description="The hex to which the defender retreats before it (9.1 D)"
    )

    @field_validator("by", "support", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    def said(self, **more: Any) -> str:
        """The assault as its ledger takes it."""
        told: dict[str, Any] = {
            "at": self.at,
            "by": self.by,
            "support": self.support,
            "alerted": self.alerted,
            "read": self.read,
        }
        if self.with_ is not None:
            told["with"] = self.with_
        return canonical({key: value for key, value in (told | more).items() if value is not None})


@dataclasses.dataclass
class Charge:
    """An assault that goes in: its facts and what it has taken."""

    facts: dict[str, Any]
    orders: Orders
    incurred: int = 0

    @property
    def charges(self) -> bool:
        return bool(self.facts["charge"] != "prepared_assault")

    @property
    def drunk(self) -> bool:
        return bool(self.facts["charge"] == "drunk_banzai_charge")


def assault(of: Assault) -> Procedure:
    """9.1: the assault from calling it off to the removal of its marker."""
    orders = Orders(of.choices)
    yield from conduct(of, orders)
    yield from orders.finish(*CHOICES)


def conduct(of: Assault, orders: Orders) -> Doing:
    """The same, within another procedure."""
    facts = yield from _facts(of, proves=False)
    if of.call_off:
        yield from _call_off(facts)
        return
    if not facts["allowed"]:
        yield from _facts(of, proves=True)
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    charge = Charge(facts, orders, of.incurred or 0)
    yield from bill(facts["cost"], orders, facts["units"])
    yield from _drinks_now(charge)
    yield from note_action({}, facts["units"])
    yield from _prepare(charge)
    if not facts["defenders"]:
        yield Tell(Step("9.1", facts["hex"], "vacant", "nobody is there"), result="vacant")
        yield from _advance(charge)
        yield from _unmark(charge)
        return
    if (yield from _retreats(of, charge)):
        yield Tell(result="retreated")
        yield from _advance(charge)
        yield from _unmark(charge)
        return
    alerted = yield from _windows(of, charge)
    yield from _resolve(of, charge, alerted)


def _drinks_now(charge: Charge) -> Doing:
    """9.6.1, css-22 b: a charge is rolled for as it goes in, and its marker turned over."""
    facts = charge.facts
    if facts["marker"] != "banzai_charge" or (yield from reading("css-22")) == "a":
        return
    if (kind := (yield from _drinks(facts["hex"]))) != facts["marker"]:
        yield from lift(facts["marker"], facts["hex"])
        yield Change({"marker": kind, "at": facts["hex"], "side": facts["side"]})
        charge.facts = facts | {"marker": kind, "charge": kind}


def _facts(of: Assault, *, proves: bool, **more: Any) -> Doing:
    rows = yield Ask(LEDGER, proves=proves, assault=of.said(**more))
    verdict = rows[-1]
    return verdict.facts | {"rule": verdict.rule, "why": verdict.note}


def _call_off(facts: dict[str, Any]) -> Doing:
    """9.1 A, css-51: nothing happens but that the marker goes; markers of a charge stay (9.6)."""
    if facts["desperate"]:
        raise Refused("9.6.3", "a Gyokusai charge is not called off", facts["hex"])
    if facts["marker"] is None:
        raise Refused("9.0", "there is no assault or charge marker", facts["hex"])
    yield Tell(Step("9.1", facts["hex"], "called off", "the assault is called off"), result="called_off")
    if (yield from reading("css-51")) == "a":
        yield from lift(facts["marker"], facts["hex"])


def _prepare(charge: Charge) -> Doing:
    """9.1 C, 9.6: all assaulters to Column; a charge sheds Suppressed, Pinned and DG (css-37)."""
    facts = charge.facts
    for code in facts["deployed"]:
        row = yield from counter(code)
        if row.attributes.get("column") == "none":
            yield from eliminate(code, "8.7.5", f"{code} has no Column side")
            continue
        yield Change({"unit": code, "posture": "column"})
    if not charge.charges or (yield from _shed_reading(charge)) == "b":
        return
    for hex in facts["hexes"]:
        yield from shed(hex, facts["caves"], "9.6", "the charge sheds its markers")


def _shed_reading(charge: Charge) -> Doing:
    for hex in charge.facts["hexes"]:
        marks = yield Ask(MARKS, proves=False, hex=hex, inside=charge.facts["caves"])
        if any(mark.kind in ("dg", "pinned", "suppressed") for mark in marks):
            return (yield from reading("css-37"))
    return "a"


def _retreats(of: Assault, charge: Charge) -> Doing:
    """9.1 D: the defender may leave, all in Column, to one hex out of Fire Zones; then Suppressed."""
    facts = charge.facts
    to = of.retreat
    if to is None and facts["all_in_column"]:
        to = yield from charge.orders.free(
            "retreat", facts["enemy"], "the hex to which the defenders retreat, or none", "a hex, or none",
            unsaid="none", default="none",
        )  # fmt: skip
    if to in (None, "none"):
        return False
    rows = yield Ask(RETREAT, hex=facts["hex"], to=to)
    verdict = rows[-1]
    if not verdict.facts["allowed"]:
        raise Refused(verdict.rule, verdict.note, verdict.at, clause="D" if verdict.rule == "9.1" else None)
    for code in verdict.facts["codes"]:
        yield Change({"unit": code, "at": verdict.facts["to"]})
    yield from settle(facts["hex"], False, charge.orders)
    if verdict.facts["dg"]:
        yield Change({"hex": verdict.facts["to"], "dg": verdict.facts["dg"]})
    yield from suppress(Struck(facts["enemy"], verdict.facts["to"], tuple(verdict.facts["codes"])), "9.1")
    return True


def _windows(of: Assault, charge: Charge) -> Doing:
    """9.1 E in a game: the defender's Opportunity Fire, with the roll of his dogs; gives whether they are alert."""
    facts = charge.facts
    if of.alerted is not None or of.incurred is not None or of.rolls:
        return of.alerted
    shots = yield from charge.orders.free(
        "op_fire", facts["enemy"], "Opportunity Fire of the assaulted hex", '[{by: [units], with: [weapons], at: hex}]',
        unsaid=[], default=[],
    )  # fmt: skip
    alerted: bool | None = None
    for n, shot in enumerate(shots, 1):
        if not isinstance(shot, dict) or not shot.get("by") or shot.get("at") not in facts["hexes"]:
            raise AnswerError(
                f"An opportunity fire is {{by: [units], at: hex}}, with a hex of {series(facts['hexes'])}."
            )
        by = [shot["by"]] if isinstance(shot["by"], str) else shot["by"]
        if n == 1:
            alerted = yield from alert(by[0])
        hit = yield from react(
            Shot(by=by, with_=tuple(shot.get("with", ())), at=shot["at"], read=of.read),
            Trigger(assault=facts["hex"]), charge.orders, f"opportunity fire at {shot['at']}", alerted,
        )  # fmt: skip
        if charge.charges and hit.result == "hit":
            charge.incurred += hit.parts["dg"]
    return alerted


def _resolve(of: Assault, charge: Charge, alerted: bool | None) -> Doing:
    """9.1 F to L."""
    more: dict[str, Any] = {"alerted": bool(alerted), "paid": True}
    if charge.charges and charge.incurred and (yield from reading("css-72")) == "b":
        yield from _lose(charge, charge.incurred)
        charge.incurred = 0
    # who had no Column side, or was lost or routed by Opportunity Fire, assaults no more (8.7.5, 9.1 C, E)
    more["by"] = [row.code for row in (yield Ask(LEFT, proves=False, codes=charge.facts["units"]))]
    if not more["by"]:
        yield Tell(result="defender")
        yield from _unmark(charge)
        return
    more["defense_unit"] = yield from _defense_unit(charge)
    if charge.facts["marker"] is None:
        more["charge"] = charge.facts["charge"]
    facts = yield from _facts(of, proves=True, **more)
    if not facts["allowed"]:
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    charge.facts = facts | {"units": more["by"]}
    yield Tell(ratio=facts["ratio"], attacker=facts["attacker"], defender=facts["defender"])
    totals = {"attacker": facts["attacker"]["modifier"], "defender": facts["defender"]["modifier"]}
    [row] = yield Ask(CHANCES, proves=False, **totals)
    yield from used_up(facts["serves_once"])
    dice = yield from pair("assault", (facts["side"], facts["enemy"]), row.chances, facts["mason"])
    [verdict] = yield Ask(
        RESULT, attacker=facts["attacker"]["modifier"], defender=facts["defender"]["modifier"],
        attacker_die=dice[0], defender_die=dice[1],
    )  # fmt: skip
    found = verdict.facts
    yield Tell(
        attacker=facts["attacker"] | {"roll": dice[0], "total": found["attacker"]},
        defender=facts["defender"] | {"roll": dice[1], "total": found["defender"]},
        difference=found["difference"], result=found["result"],
    )  # fmt: skip
    yield from _nines(charge, dice)
    if found["result"] is None:
        return
    yield from _results(charge, found)
    yield from _advance(charge)
    yield from _unmark(charge)


LEFT = "select code from unit where position_id = :position and code = any(:codes) and q is not null order by code"


def _defense_unit(charge: Charge) -> Doing:
    """9.5 b: the attacker picks where all are in Column, else the defender."""
    facts = charge.facts
    side = facts["side"] if facts["all_in_column"] else facts["enemy"]
    return (
        yield from charge.orders.one(
            "defense_unit",
            side,
            "whose Defense is used",
            facts["defenders"],
            alike=facts["alike"],
            rule="9.5",
        )
    )


def _nines(charge: Charge, dice: Sequence[int]) -> Doing:
    """9.1 H, 13.3, 14.1, css-69: a 9 costs a leader who is there, and an American hero."""
    facts = charge.facts
    ours = (facts["side"], dice[0], facts["leaders"], facts["used"], facts["heroes"])
    theirs = (
        facts["enemy"],
        dice[1],
        facts["defending_leaders"],
        facts["defending_leaders"],
        facts["defending_heroes"],
    )
    for side, die, present, used, heroes in (ours, theirs):
        if die != 9:
            continue
        if present or used:
            lost = used if present and (yield from reading("css-69")) == "b" else present
            if lost:
                yield from lose_leader(lost[0])
        if side == "us":
            for hero in heroes:
                yield from eliminate(hero, "14.1", f"{hero} falls")


def _results(charge: Charge, found: dict[str, Any]) -> Doing:
    """9.4: the lower total takes the difference; a tie is 1 DG for every hex of both."""
    facts, result = charge.facts, found["result"]
    tied = result == "tie"
    if tied or result == "attacker":
        yield from disorganize(
            Struck(facts["enemy"], facts["hex"], tuple(facts["defenders"])),
            1 if tied else found["difference"],
            charge.orders,
        )
    taken = dict.fromkeys(facts["hexes"], 1) if tied else {}
    if result == "defender":
        taken = {facts["hexes"][0]: found["difference"]}
        if not charge.charges:
            taken = yield from _distributed(charge, found["difference"])
    if charge.charges:
        yield from _lose(charge, charge.incurred + sum(taken.values()))
        return
    for hex, dg in taken.items():
        units = tuple(code for code in facts["units"] if facts["from"].get(code) == hex)
        yield from disorganize(Struck(facts["side"], hex, units), dg, charge.orders)


def _distributed(charge: Charge, dg: int) -> Doing:
    """9.4: the attacker spreads his DGs over his hexes."""
    hexes = charge.facts["hexes"]
    if len(hexes) == 1:
        return {hexes[0]: dg}
    told = yield from charge.orders.free(
        "distribute", charge.facts["side"], f"how {dg} DG are spread over the assaulting hexes", "{hex: DG}",
        default={hexes[0]: dg},
    )  # fmt: skip
    told = {str(hex): given for hex, given in told.items()}
    if others := [hex for hex in told if hex not in hexes]:
        raise NotOfferedError("9.4", f"{others[0]} is no assaulting hex; there is {series(hexes)}.")
    if sum(told.values()) != dg:
        raise NotOfferedError("9.4", f"{dg} DG are to be spread, not {sum(told.values())}.")
    return {hex: given for hex, given in told.items() if given}


def _lose(charge: Charge, dg: int) -> Doing:
    """9.6, 9.6.1: DGs of a charge are whole units; a leader is lost first (css-81)."""
    facts = charge.facts
    leaders = facts["leaders"]
    [verdict] = yield Ask(LOSSES, dg=dg, leader=bool(leaders), drunk=charge.drunk)
    falls = verdict.facts["leader"]
    if leaders and charge.drunk and not falls:
        falls = (yield from reading("css-81")) == "b"
    if falls:
        yield from lose_leader(leaders[0], "9.6")
    left = [row.code for row in (yield Ask(LEFT, proves=False, codes=facts["units"]))]
    lost = yield from charge.orders.some(
        "eliminated",
        facts["side"],
        "which units are lost",
        left,
        min(verdict.facts["lost"], len(left)),
        rule="9.6",
    )
    yield Tell(lost=lost)
    for code in lost:
        yield from eliminate(code, verdict.rule)
    if lost:
        for hex in facts["hexes"]:
            yield from settle(hex, facts["caves"], charge.orders)


def _advance(charge: Charge) -> Doing:
    """9.1 J: at least one assaulter enters a hex that is vacant."""
    facts = charge.facts
    there = yield Ask(HERE, proves=False, hex=facts["hex"], inside=False)
    able = [row.code for row in (yield Ask(LEFT, proves=False, codes=facts["units"]))]
    if any(row.is_unit and row.side == facts["enemy"] for row in there) or not able:
        return

    def wrong(value: Any) -> str | None:
        told = [value] if isinstance(value, str) else value
        if not told:
            return "at least one unit advances"
        return next(
            (f"{one} cannot advance; there is {', '.join(able)}" for one in told if one not in able), None
        )

    chosen: Any = able
    if len(able) > 1 or charge.orders.said("advance"):
        chosen = yield from charge.orders.free(
            "advance", facts["side"], "which units advance, at least one", f"a list of {', '.join(able)}",
            default=able[:1], unsaid=None,
        )  # fmt: skip
    if (mistake := wrong(chosen)) is not None:
        raise NotOfferedError("9.1", f"{mistake[0].upper()}{mistake[1:]}.")
    chosen = [chosen] if isinstance(chosen, str) else chosen
    yield Tell(Step("9.1", facts["hex"], "advances", f"{series(chosen)} advance"))
    yield from enter(chosen, facts["hex"], charge.orders)


def enter(codes: Sequence[str], hex: str, orders: Orders) -> Doing:
    """Units go into a hex that was assaulted, with their DG and those who stay with them (9.4, 10.2.3)."""
    rows: dict[str, Any] = {}
    for code in codes:
        rows[code] = yield from counter(code)
    for mark in (yield Ask(MARKS, proves=False, hex=hex, inside=False)):
        if mark.kind == "pillbox":
            yield Tell(Step("11.1", hex, "removed", "an enemy enters the pillbox"))
            yield from lift("pillbox", hex)
    level = 0
    for origin in sorted({row.label for row in rows.values()}):
        inside = any(row.attributes.get("in_cave") for row in rows.values() if row.label == origin)
        marks = yield Ask(MARKS, proves=False, hex=origin, inside=inside)
        level = max([level, *(mark.value for mark in marks if mark.kind == "dg")])
        movers = [code for code, row in rows.items() if row.label == origin]
        for code in movers:
            yield Change({"unit": code, "at": hex, **({"in_cave": False} if inside else {})})
        yield from _followers(origin, hex, inside, movers, orders)
    if level:
        yield Change({"hex": hex, "dg": level})


CROSSED = (
    "select css._side_features(position.map_id, one.q, one.r, two.q, two.r) as kinds from position"
    " join hex as one on one.map_id = position.map_id and one.label = :origin"
    " join hex as two on two.map_id = position.map_id and two.label = :hex where position.id = :position"
)


STAY_OUT = (
    "select weapon.code from positions.state(:position, :conditions, :policy) as state"
    " join hex as one on one.map_id = state.map_id and one.label = :origin"
    " join hex as two on two.map_id = state.map_id and two.label = :hex"
    " cross join lateral css._pieces(state.position_id, one.q, one.r, :inside) as weapon"
    " where css._stays_out(state, weapon, css._footing(state.position_id, state.map_id, two.q, two.r, false))"
)


def _followers(origin: str, hex: str, inside: bool, movers: Sequence[str], orders: Orders) -> Doing:
    """Weapons and leaders of a hex that all units have left go along; over a steep slope or ridge weapons do not (css-40)."""
    left = yield Ask(HERE, proves=False, hex=origin, inside=inside)
    if not any(row.is_unit for row in left):
        [side] = yield Ask(CROSSED, proves=False, origin=origin, hex=hex)
        behind = {
            row.code for row in (yield Ask(STAY_OUT, proves=False, origin=origin, hex=hex, inside=inside))
        }
        for row in left:
            if row.code in behind:
                yield from shelve(row.code, "9.3", f"{row.code} cannot enter {hex} and is alone")
                continue
            barred = row.kind == "support_weapon" and ("steep_slope" in side.kinds or "ridge" in side.kinds)
            if not barred:
                yield Change({"unit": row.code, "at": hex})
            elif (
                "steep_slope" in side.kinds and row.side == "japan" and (yield from reading("css-40")) == "a"
            ):
                yield from eliminate(row.code, "6.2.2", f"{row.code} is not carried over the steep slope")
            else:
                yield from reading("css-40")
                yield Tell(Step("6.2.2", hex, "reallocating", f"{row.code} is not carried over"))
                yield Change({"unit": row.code, "at": None, "box": "reallocating"})
    yield from take_along(origin, hex)
    yield from settle(origin, inside, orders)


def _unmark(charge: Charge) -> Doing:
    """9.1 K: the marker goes; a Gyokusai marker stays."""
    if charge.facts["marker"] is not None:
        marks = yield Ask(MARKS, proves=False, hex=charge.facts["hex"], inside=False)
        if any(mark.kind == charge.facts["marker"] for mark in marks):
            yield from lift(charge.facts["marker"], charge.facts["hex"])


# Markers, Gyokusai.


class PlaceAssault(Action):
    """An assault or charge marker."""

    at: Place = Field(description="The hex that is to be assaulted")
    by: Ids = Field(min_length=1, max_length=1, description="An Active unit beside it")
    massed: bool = Field(
        False, description="Whether it belongs to the massed Banzai charge, free and at once (9.6.2)"
    )

    @field_validator("by", mode="before")
    @classmethod
    def one_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value


def place_assault(of: PlaceAssault) -> Procedure:
    """9.2: one Dispatch Point and a marker; the Japanese roll for drink (css-22)."""
    rows = yield Ask(PLACE, at=of.at, by=of.by[0], massed=of.massed)
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, rows[-1].at)
    yield Tell(cost=facts["cost"])
    if facts["cost"] and facts["left"] is not None:
        yield Change({"division": facts["division"], "dispatch_points": facts["left"]})
    kind = facts["kind"]
    if facts["side"] == "japan":
        kind = yield from _spirits(facts["hex"])
    yield Tell(Step("9.2", facts["hex"], "placed", f"a {kind.replace('_', ' ')}"), result=kind)
    yield Change({"marker": kind, "at": facts["hex"], "side": facts["side"]})
    if of.massed:
        if "massed_banzai" not in facts["once"]:
            yield Change({"track": "once", "value": [*facts["once"], "massed_banzai"]})
        yield Change({"track": "schedule.massed_banzai", "value": facts["moment"]}, kept=True)


def _spirits(hex: str) -> Doing:
    """9.6.1: what charge it is: by an event that a scenario adds (css-23), by a die now, or only later (css-22)."""
    now = yield from state()
    if (now.tracks or {}).get("japan", {}).get("drunk_banzai") and (yield from reading("css-23")) == "b":
        yield Tell(Step("9.6.1", hex, "drunk", "an event has made it a drunk one"))
        yield Change({"side": "japan", "drunk_banzai": False})
        return "drunk_banzai_charge"
    return (yield from _drinks(hex)) if (yield from reading("css-22")) == "a" else "banzai_charge"


def _drinks(hex: str) -> Doing:
    """9.6.1: 0 to 2 makes the charge a drunk one."""
    die = yield from d10("drink")
    drunk = die <= 2
    yield Tell(Step("9.6.1", hex, "drunk" if drunk else "sober", f"{die} for drink"), roll=die)
    return "drunk_banzai_charge" if drunk else "banzai_charge"


class Gyokusai(Action):
    """The last charge, of all or of a hex."""

    hex: Place | None = Field(None, description="The one hex that it is of; without it all Japanese Units")


CONCERNED = "select * from css.gyokusai(:position, :hex)"
DISPLAYS = (
    "select display.name, display.base_troop_quality, display.troop_quality"
    " from positions.state(:position, :conditions, :policy) as state, css._displays(state) as display"
    " where display.side = 'japan' order by display.place"
)


def gyokusai(of: Gyokusai) -> Procedure:
    """9.6.3: weapons go, all to Column, markers on their hexes, status off, Troop Quality to its base; then light."""
    rows = yield Ask(CONCERNED, proves=False, hex=of.hex)
    if not any(row.label for row in rows):
        raise Refused("9.6.3", "no Japanese Unit is there", of.hex)
    for row in rows:
        if row.kind == "ambush" and row.label:
            yield Tell(Step("24.0", row.label, "passes", f"{row.code} is an Ambush Unit and does not go"))
    rows = [row for row in rows if row.kind != "ambush"]
    if not any(row.label for row in rows):
        raise Refused("24.0", "an Ambush Unit does not go Gyokusai", of.hex)
    for row in rows:
        if row.kind == "support_weapon":
            yield Tell(Step("9.6.3", row.label, "eliminated", f"{row.code} leaves the game"))
            yield Change({"unit": row.code, "eliminated": True})
        elif row.label and row.kind not in ("leader", "hero", "truck") and row.posture != "column":
            yield Tell(Step("9.6.3", row.label, "in Column", f"{row.code} goes to Column for good"))
            yield Change({"unit": row.code, "posture": "column"})
    hexes = sorted(
        {
            (row.label, row.inside)
            for row in rows
            if row.label and row.kind not in ("support_weapon", "leader", "hero")
        }
    )
    for hex, inside in hexes:
        yield Tell(Step("9.6.3", hex, "placed", "a Gyokusai marker"))
        yield from place_marker("gyokusai", hex)
        yield from shed(hex, inside, "9.6.3", "Gyokusai takes markers off")
    yield Tell(result="gyokusai", hexes=[hex for hex, _ in hexes])
    if of.hex is None:
        yield from _last_stand(Orders(of.choices))


def _last_stand(orders: Orders) -> Doing:
    """Troop Quality to its base, and free Illumination Rounds: half a die, rounded down (17.1, css-14)."""
    for row in (yield Ask(DISPLAYS, proves=False)):
        if row.base_troop_quality is not None:
            quality = f"{row.name} has its base Troop Quality of {row.base_troop_quality}"
            yield Tell(Step("9.6.3", None, "quality", quality))
            yield Change({"division": row.name, "troop_quality": row.base_troop_quality})
    die = yield from d10("free illumination")
    rounds = die // 2
    yield Tell(
        Step("9.6.3", None, "rounds", f"{counted(rounds, 'Illumination Round')} on {die}"), rounds=rounds
    )
    if rounds == 0:
        return
    told = yield from orders.free(
        "illumination", "us", f"where {rounds} free Illumination Rounds go", f"a list of up to {rounds} hexes",
        unsaid=[], default=[],
    )  # fmt: skip
    if len(told) > rounds:
        raise NotOfferedError("9.6.3", f"There are {rounds} Illumination Rounds, not {len(told)}.")
    for hex in told:
        [row] = yield Ask(LIT, proves=False, hex=hex)
        if not row.lit and (yield from reading("css-14")) == "a":
            raise Refused("9.6.3", f"{hex} could not be lit under the usual rules", hex, points=["css-14"])
        yield from place_marker("illumination", hex)


LIT = "select css.can_be_lit(:position, :hex, :conditions, :policy) as lit"
FORCED = "select * from css.forced_move(:position, :unit, :conditions, :policy)"


class ForcedMove(Action):
    """A unit under a Gyokusai marker."""

    unit: Unit = Field(description="The unit")


def forced_move(of: ForcedMove) -> Procedure:
    """9.6.3: what it must do now."""
    [row] = yield Ask(FORCED, unit=of.unit)
    yield Tell(**row.facts, result=row.facts["must"])


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    words = {
        "attacker": "The attacker wins", "defender": "The defender wins", "tie": "A tie",
        "called_off": "The assault is called off", "retreated": "The defender retreats", "vacant": "The hex is vacant",
    }  # fmt: skip
    told = words.get(str(answer.get("result")), "The assault is made, and its totals are not told")
    totals = None
    if answer.get("difference") is not None:
        totals = f"{answer['attacker']['total']} against {answer['defender']['total']} at {answer['ratio']}"
    return clauses(told, totals)


def _forced_verdict(ruling: Ruling) -> str:
    answer, unit = ruling.answer, ruling.question["forced_move"]["unit"]
    match answer["must"]:
        case "charge":
            return f"{unit} must charge {series(answer['targets'])}"
        case "move":
            return f"{unit} must move to {series(answer['hexes']) or 'no hex that there is'}"
    return f"Nothing forces {unit}"


KINDS = [
    css_kind(
        assault, what="assault", done=_verdict, name="assault", title="Assault or Banzai charge", arguments=Assault,
        answers={
            "ratio": "Units against Units as a printed column, such as 2-1",
            "attacker": "modifier, modifiers, roll, total", "defender": "modifier, modifiers, roll, total",
            "difference": "by how much the totals differ",
            "result": "attacker, defender, tie, called_off, retreated or vacant",
            "lost": "units that a charge has lost", "cost": "Direct Commands, by Division",
        },
        points=(
            "css-1", "css-4", "css-22", "css-37", "css-38", "css-39", "css-40", "css-41", "css-51", "css-61", "css-66", "css-68", "css-69",
            "css-72", "css-74", "css-81", *RESULTS,
        ),
        example='assault: {at: "28.48", by: [A/1/22, B/1/22], rolls: [[6, 4]]}',
    ),
    css_kind(
        place_assault, what="assault marker", done=lambda ruling: f"A {ruling.answer['result'].replace('_', ' ')} marker is placed",
        name="place_assault", title="An assault or charge marker is placed", arguments=PlaceAssault,
        answers={"cost": "Dispatch Points", "roll": "the die for drink", "result": "the marker"},
        points=("css-22", "css-23", "css-68"), example='place_assault: {at: "28.48", by: A/1/22}',
    ),
    css_kind(
        gyokusai, what="Gyokusai", done=lambda ruling: f"Gyokusai in {counted(len(ruling.answer['hexes']), 'hex')}",
        name="gyokusai", title="Gyokusai", arguments=Gyokusai,
        answers={"hexes": "where its markers lie", "rounds": "free Illumination Rounds", "result": "gyokusai"},
        points=("css-14", "css-34"), example="gyokusai: {rolls: [7]}",
    ),
    css_kind(
        forced_move, what="forced move", done=_forced_verdict, name="forced_move", title="What a Gyokusai unit must do",
        arguments=ForcedMove, acts=False,
        answers={
            "must": "charge, move or nothing", "targets": "hexes that it charges", "hexes": "adjacent hexes nearer to the enemy",
            "result": "the same as must",
        },
        example="forced_move: {unit: 1/54}",
    ),
]  # fmt: skip
