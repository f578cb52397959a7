"""What combat does to hexes and counters in css: DG, Pinned and Suppressed, losses, weapons that break, prices paid.

How much of each is SQL (`css.disorganize`, `css.vacated`, `css.left_over`); here is the order in which it happens.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field

from app.play.procedures import Ask, Change, Choose, Refused, Tell, Want
from app.referee.rulings import Step
from app.referee.words import counted
from db.values import canonical

Doing = Generator[Want, Any, Any]
OTHER = {"us": "japan", "japan": "us"}
STATE = (
    "select cast(:conditions as jsonb) as conditions, positions.readings(:position, :policy) as readings, tracks"
    " from position where id = :position"
)
UNIT = (
    "select unit.code, unit.side, unit.kind, unit.attributes, hex.label from unit"
    " left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and unit.code = :code"
)
MARKS = (
    "select marker.kind, marker.value, marker.attributes from marker"
    " join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
    " where marker.position_id = :position and hex.label = :hex"
    " and coalesce((marker.attributes ->> 'in_cave')::boolean, false) = :inside order by marker.kind"
)
LEFT_OVER = "select * from css.left_over(:position, :hex, :inside)"
VACATED = "select * from css.vacated(:position, :hex, :conditions, :policy)"
DISORGANIZE = "select * from css.disorganize(:position, cast(:hit as jsonb), :conditions, :policy)"
RESULTS = ("css-33", "css-34", "css-35", "css-36", "css-48", "css-70", "css-71")
"""Points that results of combat, losses and routs turn on."""
BARRAGES = ("smoke_barrage", "light_barrage", "medium_barrage", "heavy_barrage")


def state() -> Doing:
    """Conditions, readings and tracks as they are now."""
    [row] = yield Ask(STATE, proves=False)
    return row


def reading(point: str) -> Doing:
    """The letter by which a contested point is read; the ruling touches it."""
    row = yield from state()
    yield Tell(points=[point])
    return row.readings[point]


def counter(code: str) -> Doing:
    """A counter with its hex."""
    [row] = yield Ask(UNIT, proves=False, code=code)
    return row


def off(row: Any) -> dict[str, None]:
    """Neither in a hex nor in a naval zone any more."""
    return {"at": None} | ({"zone": None} if "zone" in row.attributes else {})


@dataclasses.dataclass(frozen=True)
class Struck:
    """What the results of a fire fall on: a hex or the cave in it, or units that carry markers of their own."""

    side: str
    hex: str
    units: tuple[str, ...]
    inside: bool = False
    carriers: tuple[str, ...] = ()
    """css-78, 22.3.1: a named Hard Target, units at sea or on their way ashore."""
    at_sea: bool = False
    indirect: bool = False

    @property
    def place(self) -> dict[str, Any]:
        """Its hex, as an effect tells it."""
        return {"hex": self.hex, "in_cave": True} if self.inside else {"hex": self.hex}


class Orders:
    """What players decide in one action: which was told beforehand, and what is asked."""

    def __init__(self, given: Mapping[str, Any] | None = None) -> None:
        self._given = dict(given or {})
        self._asked: dict[str, int] = {}
        self._rest: dict[str, list[Any]] = {}

    def said(self, name: str) -> bool:
        """Whether it was told beforehand, and not yet used."""
        return name in self._given and name not in self._asked

    def named(self, name: str) -> str:
        """The same decision asked again has another name."""
        self._asked[name] = self._asked.get(name, 0) + 1
        return name if self._asked[name] == 1 else f"{name}_{self._asked[name]}"

    def one(
        self,
        name: str,
        side: str,
        purpose: str,
        options: Sequence[Any],
        unsaid: Any = None,
        alike: bool = False,
        rule: str | None = None,
    ) -> Doing:
        """One of some, as a rule offers them; one alone, or options of which none matters more, are not asked for."""
        if (len(options) == 1 or alike) and not self.said(name):
            # it counts all the same: what answers a later one is not taken for an answer to this
            self.named(name)
            return options[0]
        return (
            yield Choose(
                self.named(name), side, purpose, options, default=options[0], unsaid=unsaid, rule=rule
            )
        )

    def flag(self, name: str, side: str, purpose: str) -> Doing:
        """An offer that may be taken up."""
        return (yield Choose(self.named(name), side, purpose, (False, True), default=False, unsaid=False))

    def free(
        self,
        name: str,
        side: str,
        purpose: str,
        form: str,
        unsaid: Any = None,
        default: Any = None,
        options: Any = None,
    ) -> Doing:
        """Something that the procedure judges itself."""
        return (
            yield Choose(self.named(name), side, purpose, options, form=form, default=default, unsaid=unsaid)
        )

    def some(
        self, name: str, side: str, purpose: str, options: Sequence[str], number: int, rule: str = "8.5"
    ) -> Doing:
        """So many of some; all of them, or one of one, are not asked for. What was told for more is kept for later."""
        if number <= 0:
            return []
        rest = [one for one in self._rest.get(name, []) if one in options]
        if len(rest) < number and (self.said(name) or number < len(options)):

            def wrong(value: Any) -> str | None:
                told = value if isinstance(value, list) else [value]
                if others := [one for one in told if one not in options and name not in self._given]:
                    return f"{canonical(others[0])} is not offered for {name}; there is {', '.join(options)}"
                enough = len(told) >= number or number == len(options)
                return None if enough else f"{name}: {number} are to be named"

            told = yield Choose(
                self.named(name), side, purpose, None, check=wrong, form=f"a list of {number} of {', '.join(options)}",
                default=list(options[:number]), rule=rule,
            )  # fmt: skip
            rest = [*rest, *([told] if isinstance(told, str) else told)]
        chosen = [one for one in rest if one in options][:number] or list(options[:number])
        chosen += [one for one in options if one not in chosen][: number - len(chosen)]
        self._rest[name] = [one for one in rest if one not in chosen]
        return chosen

    def finish(self, *names: str) -> Doing:
        """Take note of what was told and nothing asked for, as far as it is one of these."""
        for name in names:
            if self.said(name):
                yield Choose(self.named(name), "referee", "nothing", None)


def struck_by(facts: Mapping[str, Any]) -> Struck:
    """Whom the facts of a ledger say a shot falls on."""
    return Struck(
        facts["enemy"], facts["hex"], tuple(facts["units"]), facts["inside"], tuple(facts.get("carriers", ())),
        bool(facts.get("at_sea")),
    )  # fmt: skip


def disorganize(struck: Struck, dg: int, orders: Orders) -> Doing:
    """DGs are added; each over 4 eliminates a unit of the owner's choice (8.5)."""
    if dg <= 0:
        return
    hit = {
        "hex": struck.hex, "inside": struck.inside, "side": struck.side, "dg": dg,
        "carriers": list(struck.carriers), "indirect": struck.indirect,
    }  # fmt: skip
    [*_, verdict] = yield Ask(DISORGANIZE, hit=canonical(hit))
    facts = verdict.facts
    for place in _places(struck) if facts["dg"] is not None else ():
        yield Change({**place, "dg": facts["dg"]})
        yield from _alone_of(struck, place, "dg")
    if facts["leader"]:
        yield from lose_leader(facts["leader"], "9.6.3")
    lost = yield from orders.some(
        "eliminated", struck.side, "which units are eliminated", facts["units"], facts["lost"]
    )
    for code in lost:
        yield from eliminate(code, "8.5")
    if lost:
        yield from settle(struck.hex, struck.inside, orders)


def suppress(struck: Struck, rule: str = "8.5") -> Doing:
    """All in the hex are Suppressed; a Pinned marker gives way (8.5, 8.5.3)."""
    for place in _places(struck):
        lying = yield from _lying(struck, place)
        if "suppressed" in lying:
            yield Tell(Step("10.1", struck.hex, "stays", "a second Suppressed result changes nothing"))
            continue
        yield Tell(Step(rule, struck.hex, "suppressed", "a Suppressed marker"))
        gives_way = {"pinned": False} if "pinned" in lying else {}
        yield Change({**place, **gives_way, "suppressed": True})
        yield from _alone_of(struck, place, "suppressed")


def _lying(struck: Struck, place: Mapping[str, Any]) -> Doing:
    """Which of DG, Pinned and Suppressed lie on a unit, or on a hex."""
    if "unit" in place:
        row = yield from counter(place["unit"])
        return {one for one in STATUS if row.attributes.get(one)}
    marks = yield Ask(MARKS, proves=False, hex=struck.hex, inside=struck.inside)
    return {mark.kind for mark in marks} & set(STATUS)


def _alone_of(struck: Struck, place: Mapping[str, Any], kind: str) -> Doing:
    """10.0, css-36: DG beside Pinned or Suppressed, or the one that came last in place of the other."""
    lying = yield from _lying(struck, place)
    if (others := sorted(lying - {kind})) and (yield from reading("css-36")) == "b":
        yield Tell(Step("10.0", struck.hex, "replaced", "one marker of these is ever on a hex"))
        yield Change({**place, **{other: 0 if other == "dg" else False for other in others}})


def pin(struck: Struck, rule: str = "8.5.1") -> Doing:
    """The hex is Pinned, unless it is Suppressed; Pinned a second time it is Suppressed (8.5.3, css-35)."""
    for place in _places(Struck(struck.side, struck.hex, struck.units, struck.inside)):
        marks = yield Ask(MARKS, proves=False, hex=struck.hex, inside=struck.inside)
        kinds = {mark.kind for mark in marks}
        if "suppressed" in kinds:
            yield Tell(Step("10.1", struck.hex, "stays", "a Suppressed hex is not Pinned"))
        elif "pinned" in kinds and (yield from reading("css-35")) == "a":
            yield Tell(Step("8.5.3", struck.hex, "suppressed", "Pinned again is Suppressed"))
            yield Change({**place, "pinned": False, "suppressed": True})
        else:
            yield Tell(Step(rule, struck.hex, "pinned", "the hex is Pinned"))
            yield Change({**place, "pinned": True})
            yield from _alone_of(struck, place, "pinned")


def _places(struck: Struck) -> Iterable[dict[str, Any]]:
    return ({"unit": code} for code in struck.carriers) if struck.carriers else (struck.place,)


def eliminate(code: str, rule: str, note: str | None = None) -> Doing:
    """A counter leaves the game; an HQ goes to the Routed Units box, but for Gyokusai (8.5, 9.6.3)."""
    row = yield from counter(code)
    marks = (yield Ask(MARKS, proves=False, hex=row.label, inside=False)) if row.label else []
    if row.kind == "hq" and not any(mark.kind == "gyokusai" for mark in marks):
        yield Tell(Step("8.5", row.label, "routed", f"{code} goes to the Routed Units box"))
        yield Change({"unit": code, **off(row), "box": "routed"})
        yield from _without_hq(row, for_good=False)
        return
    yield Tell(Step(rule, row.label, "eliminated", note or f"{code} is eliminated"))
    if "zone" in row.attributes:
        yield Change({"unit": code, "zone": None}, kept=True)
    yield Change({"unit": code, "eliminated": True})
    if truck := row.attributes.get("loaded_in"):
        yield Tell(Step("15.0", row.label, "eliminated", f"{truck} with what it carries"))
        yield Change({"unit": truck, "eliminated": True})
    if row.kind == "hq":
        yield from _without_hq(row, for_good=True)


BOXED = (
    "select code from unit where position_id = :position and side = :side and kind = 'support_weapon'"
    " and attributes ->> 'division' = :division and attributes ->> 'box' in ('available', 'reallocating') order by code"
)


def _without_hq(head: Any, *, for_good: bool) -> Doing:
    """12.2: with the Division HQ the weapons in its boxes are lost (css-48)."""
    division = head.attributes.get("division")
    if division is None or head.attributes.get("formation") is not None:
        return
    boxed = yield Ask(BOXED, proves=False, side=head.side, division=division)
    if not boxed or (not for_good and (yield from reading("css-48")) == "b"):
        return
    for row in boxed:
        yield Tell(Step("12.2", None, "eliminated", f"the HQ of {division} is lost, and {row.code} with it"))
        yield Change({"unit": row.code, "eliminated": True})


def used_up(hero: str | None) -> Doing:
    """14.1: a hero who serves in one combat leaves the game."""
    if hero is not None:
        yield Tell(Step("14.1", None, "used", f"{hero} serves in this combat and no other"))
        yield Change({"unit": hero, "eliminated": True})


def lose_leader(code: str, rule: str = "13.3") -> Doing:
    """A leader flips to his replacement, or leaves the game (13.3)."""
    row = yield from counter(code)
    if row.kind != "leader":
        raise Refused(rule, f"{code} is no Leader", row.label)
    if not row.attributes.get("replacement"):
        yield Tell(Step(rule, row.label, "replaced", f"{code} is replaced"))
        yield Change({"unit": code, "replacement": True})
        return
    yield Tell(Step(rule, row.label, "eliminated", f"{code} is lost"))
    yield Change({"unit": code, "eliminated": True})


def settle(hex: str, inside: bool, orders: Orders) -> Doing:
    """After losses: weapons that are too many, leaders left alone, markers of a hex that is vacant (8.5.1, 12.1, 13.1)."""
    rows = yield Ask(LEFT_OVER, proves=False, hex=hex, inside=inside)
    for row in rows:
        weapons = yield from orders.some(
            "weapons_lost", row.side, "which weapons are too many", row.weapons or [], row.spare
        )
        for code in weapons:
            yield from shelve(code, "8.5.1", f"more weapons than units: {code} is put aside")
        if row.units == 0:
            for code in row.heads or []:
                yield from _alone(code, row.side, orders)
    if not any(row.units for row in rows):
        yield from vacate(hex)


DRINK = (
    "select marker.kind, exists (select 1 from marker as there join hex as goal on goal.map_id = there.map_id"
    " and goal.q = there.q and goal.r = there.r where there.position_id = marker.position_id"
    " and there.kind = marker.kind and goal.label = :to) as doubled"
    " from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
    " where marker.position_id = :position and hex.label = :hex and marker.kind in ('drunk', 'hungover')"
    " and not exists (select 1 from unit where unit.position_id = marker.position_id and unit.q = marker.q"
    " and unit.r = marker.r and unit.side = 'us' and css._is_unit(unit.kind)) order by marker.kind"
)


def take_along(hex: str, to: str) -> Doing:
    """29.1: a Drunk marker goes with the last Marine who leaves its hex."""
    for row in (yield Ask(DRINK, proves=False, hex=hex, to=to)):
        yield Tell(Step("29.1", to, "goes along", f"{row.kind}: the last of them takes it with him"))
        yield from lift(row.kind, hex)
        if not row.doubled:
            yield Change({"marker": row.kind, "at": to})


STRANDED = (
    "select charge.kind, charge.label from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral css._stranded_charges(state) as charge"
)


def forsaken_charges() -> Doing:
    """9.2: an assault or charge marker beside which no friend is left comes off."""
    for row in (yield Ask(STRANDED, proves=False)):
        yield Tell(Step("9.2", row.label, "removes", "no friend stands beside the marker any more"))
        yield Change({"marker": row.kind, "at": row.label, "removed": True})


IDLE_RIDGES = (
    "select label from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral css._idle_ridges(state) as label"
)


def idle_ridges() -> Doing:
    """6.2.2: a Ridge marker beside which no enemy is left comes off."""
    for row in (yield Ask(IDLE_RIDGES, proves=False)):
        yield Tell(Step("6.2.2", row.label, "removes", "no enemy stands beside the Ridge marker any more"))
        yield Change({"marker": "ridge", "at": row.label, "removed": True})


def forsaken() -> Doing:
    """Markers that stay only as long as somebody stands beside them."""
    yield from forsaken_charges()
    yield from idle_ridges()


def vacate(hex: str) -> Doing:
    """Markers that go with the last unit (css-33, css-34, css-70)."""
    for row in (yield Ask(VACATED, hex=hex)):
        yield Tell(points=row.facts["points"])
        if row.effect == "removed":
            yield from lift(row.facts["kind"], hex, row.facts["inside"])


STATUS = ("dg", "pinned", "suppressed")


def shed(hex: str, inside: bool, rule: str, note: str) -> Doing:
    """DG, Pinned and Suppressed come off otherwise than by a Rally (css-34)."""
    lying = [
        mark.kind for mark in (yield Ask(MARKS, proves=False, hex=hex, inside=inside)) if mark.kind in STATUS
    ]
    if not lying or (yield from reading("css-34")) == "b":
        return
    for kind in lying:
        yield Tell(Step(rule, hex, "removed", f"{note}: {kind}"))
        yield from lift(kind, hex, inside)


def lift(kind: str, hex: str, inside: bool = False) -> Doing:
    """A marker is taken off."""
    place = {"hex": hex, "in_cave": True} if inside else {"hex": hex}
    if kind in ("dg", "pinned", "suppressed"):
        yield Change({**place, kind: 0 if kind == "dg" else False})
    else:
        yield Change({"marker": kind, "at": hex, "removed": True})


REFUGES = "select label from css.refuges(:position, :code, :traced, :conditions, :policy)"
COMMAND = "select code from css._command_of(:position, :code)"


def _alone(code: str, side: str, orders: Orders) -> Doing:
    """13.1, 14.0: who is alone goes to other units of his command, off the map until one takes him, or is lost."""
    row = yield from counter(code)
    american = side == "us" and row.kind == "leader"
    rule = "14.0" if row.kind == "hero" else "13.1"
    lost = side == "japan" and (row.kind == "hero" or row.attributes.get("replacement"))
    # 14.1 c: Wilson stays with his companies or not at all
    lost = lost or (row.kind == "hero" and "wilson" in code.lower())
    if lost or (american and not (yield Ask(COMMAND, proves=False, code=code))):
        yield from eliminate(code, rule, f"{code} is alone")
        return
    flipped = {"replacement": True} if side == "japan" else {}
    hexes = [one.label for one in (yield Ask(REFUGES, proves=False, code=code, traced=american))]
    yield Tell(Step(rule, row.label, "leaves", f"{code} is alone"))
    if not hexes:
        yield Change({"unit": code, "at": None, "box": "off_board", **flipped})
        return
    to = yield from orders.one("refuge", side, f"to whom {code} goes", hexes, unsaid=hexes[0], rule=rule)
    yield Change({"unit": code, "at": to, **flipped})


WAY = (
    "select way.effect from unit as weapon"
    " join unit as head on head.position_id = weapon.position_id and head.kind = 'hq' and head.side = weapon.side"
    " and head.q is not null and coalesce(head.attributes ->> 'division' = weapon.attributes ->> 'division', true)"
    " and (head.attributes ->> 'formation' is null or weapon.attributes ->> 'formation' is null"
    " or head.attributes ->> 'formation' = weapon.attributes ->> 'formation')"
    " cross join lateral css.trace_path(:position, weapon.code, head.code, :kind, null, :conditions, :policy) as way"
    " where weapon.position_id = :position and weapon.code = :code and way.effect in ('open', 'unknown')"
    " and way.path is not null limit 1"
)


def shelve(code: str, rule: str, note: str) -> Doing:
    """A weapon goes to the Reallocating box; an American one without a way to its HQ leaves the game (12.2)."""
    row = yield from counter(code)
    if row.side == "us":
        kind = "tank_support_weapon" if row.attributes.get("target") == "tank" else "support_weapon"
        if not (yield Ask(WAY, proves=False, code=code, kind=kind)):
            yield Tell(Step("12.2", row.label, "eliminated", f"no way to an HQ: {code} leaves the game"))
            yield Change({"unit": code, "eliminated": True})
            return
    yield Tell(Step(rule, row.label, "reallocating", note))
    yield Change({"unit": code, "at": None, "box": "reallocating"})


def breaks(code: str, rule: str) -> Doing:
    """A weapon breaks: an American one is reallocated, a Japanese one leaves the game (8.4, 8.6.1, 12.2)."""
    row = yield from counter(code)
    if row.side == "us":
        yield from shelve(code, rule, f"{code} breaks")
        return
    yield Tell(Step(rule, row.label, "eliminated", f"{code} breaks and leaves the game"))
    yield Change({"unit": code, "eliminated": True})


PAYING = (
    "select payer.division, display.direct_commands as left"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral css._payers(state, positions._asked_counter(:position, :unit)) as payer (division)"
    " left join lateral css._displays(state) as display on display.name = payer.division order by 1"
)
CORPS, AMBUSH = "corps", "ambush"
"""In a cost: what either Marine Division pays (26.0), and what that of a regular unit beside an Ambush Unit does (24.2)."""
CHOSEN = {
    CORPS: ("26.0", "us", "is no Marine Division", "no Marine Division has"),
    AMBUSH: ("24.2", "japan", "has no regular Deployed unit beside it", "no Division beside it has"),
}
PAYS: Any = Field(
    None,
    description="The Division that pays for Corps units or an Ambush Unit, where several may (24.2, 26.0)",
)


def billed(cost: Mapping[str, int], orders: Orders, unit: str, pays: str | None = None) -> Doing:
    """5.3, 24.2, 26.0: who pays for Corps and Ambush Units is chosen, for others it is their own Division."""
    whose = next((key for key in CHOSEN if key in cost), None)
    if whose is None:
        if cost and pays not in (None, *cost):
            raise Refused("5.3", f"{pays} does not pay for {unit}")
        return cost
    (rule, side, not_it, too_few), owed = CHOSEN[whose], cost[whose]
    left = {row.division: row.left for row in (yield Ask(PAYING, proves=False, unit=unit))}
    able = [division for division, has in left.items() if has is None or has >= owed]
    if left and pays not in (None, *left):
        raise Refused(rule, f"{pays} {not_it}")
    if left and pays not in (None, *able):
        raise Refused(rule, f"{pays} has {counted(left[pays], 'Direct Command')}, and it costs {owed}")
    if not able and (left or whose == AMBUSH):
        raise Refused(rule, f"{too_few} {counted(owed, 'Direct Command')} left")
    if pays is None and able:
        pays = yield from orders.one("pays", side, "which Division pays", able, rule=rule)
    yield Tell(Step(rule, None, "pays", f"{pays or 'either Marine Division'} pays for {unit}"))
    others = Counter({key: value for key, value in cost.items() if key != whose})
    return dict(others + Counter({pays: owed} if pays else {}))


def charge(cost: Mapping[str, int], orders: Orders, by: Sequence[str], pays: str | None = None) -> Doing:
    """What an Action costs is told and paid, by the Divisions that owe it."""
    cost = (yield from billed(cost, orders, by[0], pays)) if by else {}
    yield Tell(cost=cost)
    yield from pay(cost)


def pay(cost: Mapping[str, int]) -> Doing:
    """Direct Commands leave the tracks of the Divisions that pay (5.2)."""
    if not cost:
        return
    row = yield from state()
    for division, commands in cost.items():
        known = (row.tracks or {}).get("divisions", {}).get(division, {}).get("direct_commands")
        yield Tell(Step("5.2", None, "pays", f"{division or 'the Division'} pays {commands}"))
        if known is not None:
            yield Change({"division": division, "direct_commands": known - commands})


def note_action(hexes: Mapping[str, str], units: Iterable[str]) -> Doing:
    """Bookkeeping of the Activation: which hex did what (fired, rallied …), and who has acted."""
    row = yield from state()
    conditions = row.conditions
    told: dict[str, Any] = {key: [*conditions.get(key, []), hex] for key, hex in hexes.items()}
    acted = dict(conditions.get("acted", {}))
    for code in units:
        acted[code] = acted.get(code, 0) + 1
    if acted:
        told["acted"] = acted
    yield Change({"conditions": told}, kept=True)


def place_marker(kind: str, hex: str, **more: Any) -> Doing:
    """A marker is put down, unless one of its kind is there."""
    marks = yield Ask(MARKS, proves=False, hex=hex, inside=False)
    if not any(mark.kind == kind for mark in marks):
        yield Change({"marker": kind, "at": hex, **more})
