"""What Japanese positions, tanks and units in counterattack stance do by a fire card: 12.0, 13.2, 13.42, 18.35.

Which row of the Japanese Action Chart holds, who is struck and where units go is SQL (`ddp.checked`, `ddp.strike`,
`ddp.goals`); here is the order in which an action is carried out.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from app.play.ddp import cards, losses
from app.play.ddp.acting import forgiving
from app.play.ddp.deciding import Deciding, Names
from app.play.ddp.firing import Volley, lose_by_fire, volleyed
from app.play.ddp.placing import Hand, first_of, give_depth, place_reserve
from app.play.procedures import Action, Ask, Change, Draw, Procedure, Refused, Tell, procedure_kind, proof
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, series
from db.values import canonical
from importers.questions import Names as Named

CHECKED = "select * from ddp.checked(:position, :places, cast(:card as jsonb), :linked, :arrived, :conditions, :policy)"
VOLLEYS = "select * from ddp.volleys(:position, cast(:fields as jsonb), :acting, :conditions, :policy)"
GOALS = "select * from ddp.goals(:position, :unit, :manner, :linked, :conditions, :policy)"
HEXES = "select * from ddp.assault_hexes(:position, :unit, :conditions, :policy)"
STANCE = "select * from ddp.stance_goals(:position, :unit, :conditions, :policy)"
SPOT = (
    "select spot.place, spot.color from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._spots(state.map_id) as spot where spot.place = ddp._asked_place(:position, :name) limit 1"
)
UNIT = (
    "select holder.code, holder.label, case when not holder.provisional then holder.place end as place, holder.color, holder.tank,"
    " holder.stance, holder.disrupted, holder.cave, holder.attributes, state.readings from"
    " positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._occupants(state) as holder where holder.code = :unit"
)
AT = (
    "select unit.code, unit.attributes from unit"
    " join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and unit.side = :side and hex.label = :at order by unit.code"
)
POINTS = (
    "ddp-4", "ddp-6", "ddp-12", "ddp-14", "ddp-15", "ddp-19", "ddp-20", "ddp-21", "ddp-26", "ddp-34", "ddp-37", "ddp-47", "ddp-53", "ddp-54",
    "ddp-58",
    # of the close combat that may follow
    "ddp-2", "ddp-13", "ddp-16", "ddp-25", "ddp-41", "ddp-42", "ddp-43", "ddp-55", "ddp-56",
)  # fmt: skip
"""Contested points that an action may touch."""


class JapaneseAction(Action):
    """Which position, or which unit, acts by which card."""

    one_of = ("position", "unit")
    which = "name a position or a unit"
    position: str | None = Field(
        None, description="A position: its key, the ID or the label of one of its hexes"
    )
    unit: Annotated[str | None, Named(("unit",))] = Field(
        None, description="A tank outside a position, or a unit in counterattack stance"
    )


@dataclasses.dataclass
class Phase:
    """What is kept while the Japanese act: the card, communication as it was at the start, what is still to come."""

    card: cards.Card
    of: Action
    linked: Sequence[str] | None = None
    left: list[str] = dataclasses.field(default_factory=list)
    """Positions that the card has yet to check, some of which will fire after the one that acts (6.34)."""
    hand: Hand = dataclasses.field(default_factory=Hand)
    served: Callable[[str], bool] = lambda _: True
    """12.22: whether a position hex gets one of few reserve units."""
    arrived: set[str] = dataclasses.field(default_factory=set)
    """12.0: units that have acted, and are not checked again in another position."""
    alone: bool = False
    """Whether one action is asked about, which tells its answer as it goes on."""
    _known: dict[str, Check] = dataclasses.field(default_factory=dict)
    """What the next positions do, as long as nobody moves, comes or leaves."""
    _hurt: set[str] = dataclasses.field(default_factory=set)
    """Units that have lost steps since, so that others may be hit now."""

    @property
    def names(self) -> Names:
        return self.hand.names

    def check(self, place: str) -> Deciding:
        """What a position does as things stand; the others that the card has yet to check are found with it."""
        places = [place, *(other for other in self.left if other != place)]
        if place not in self._known:
            rows = yield Ask(
                CHECKED,
                proves=False,
                places=places,
                card=marks(self.card),
                linked=_listed(self.linked),
                arrived=sorted(self.arrived),
            )
            self.know(rows)
        elif self._known[place].is_outdated(self._hurt):
            yield from self._volleys([one for one in places if one == place or self._fires(one)])
        found = self._known[place]
        if self.linked is None:
            self.linked = found.facts["linked"]
        return found

    def know(self, rows: Sequence[Any]) -> None:
        """What `ddp.checked` told of positions."""
        self._known, self._hurt = {}, set()
        for row in rows:
            getattr(self._known.setdefault(row.place, Check()), row.part).append(row)

    def _volleys(self, places: Sequence[str]) -> Deciding:
        """Whom positions may hit now that units have lost steps: who stands before them has not changed."""
        known = [self._known[one] for one in places]
        fields = canonical([field.facts for one in known for field in one.field])
        first = next((one for one in places if self._fires(one)), None)
        for one in known:
            one.fire, one.strike, one.field = [], [], one.field if one.fire else []
        for row in (yield Ask(VOLLEYS, proves=False, fields=fields, acting=first)):
            getattr(self._known[row.place], row.part).append(row)
        self._hurt = set()

    def later(self) -> list[Mapping[str, Any]]:
        """What those who fire after this one may hit, as the last rows of their ledgers tell."""
        return [self._known[place].fire[-1].facts for place in self.left if self._fires(place)]

    def _fires(self, place: str) -> bool:
        return place in self._known and bool(self._known[place].fire)

    def carried_out(self, action: Deciding) -> Deciding:
        """What an action tells; what was found about others holds until somebody moves, comes or leaves."""
        given: Any = None
        while True:
            try:
                want = action.send(given)
            except StopIteration as end:
                return end.value
            if isinstance(want, Change):
                if all(self._hurts(effect) for effect in want.effects):
                    self._hurt |= {effect["unit"] for effect in want.effects if "unit" in effect}
                else:
                    self._known = {}
            given = yield want

    def _hurts(self, effect: Mapping[str, Any]) -> bool:
        """Whether all that happens is that a US unit before somebody who fires is weaker now, or counted as lost."""
        if effect.get("side") == "us":
            return effect.keys() <= {"side", "infantry_loss"}
        return effect.keys() <= HURT and any(
            unit["unit"] == effect["unit"]
            for check in self._known.values()
            for field in check.field
            for unit in field.facts["before"]
        )


def marks(card: cards.Card) -> str:
    """A card as `ddp.checked` reads it."""
    colors = {
        one.name: {"star": one.star, "armor": one.armor, **({"letter": one.letter} if one.letter else {})}
        for one in card.colors
    }
    order = [one.name for one in card.colors]
    return canonical({"symbol": card.symbol, "order": order, "colors": colors})


HURT = {"unit", "steps", "stepped", "disrupted"}
"""What fire changes of a unit that stays where it is."""


@dataclasses.dataclass
class Check:
    """A position that is checked: the ledgers of its situation, of its fire or of whom it strikes.

    Of the fire of one behind somebody who acts only the verdict is known.
    """

    situation: list[Any] = dataclasses.field(default_factory=list)
    fire: list[Any] = dataclasses.field(default_factory=list)
    strike: list[Any] = dataclasses.field(default_factory=list)
    field: list[Any] = dataclasses.field(default_factory=list)
    """If it fires: how, and at whom before it, as `ddp.volleys` reads it."""

    @property
    def facts(self) -> dict[str, Any]:
        return dict(self.situation[-1].facts)

    def is_outdated(self, hurt: set[str]) -> bool:
        """Whether it is to be found anew whom it hits: units have changed, or of its fire the verdict alone is known."""
        if self.strike:
            return any(row.by in hurt for row in self.strike)
        return self.facts["action"] != "none" and (bool(hurt) or len(self.fire) == 1)


Told = dict[str, Any]
ALL = 99
"""The limit of what has none."""


def japanese_action(of: JapaneseAction) -> Procedure:
    """12.0: one position or unit, checked by a fire card."""
    return forgiving(of, _japanese_action(of))


def _japanese_action(of: JapaneseAction) -> Procedure:
    if of.unit is not None:
        yield from _unit_acts(of, of.unit)
        return
    [spot] = yield Ask(SPOT, proves=False, name=of.position)
    card = yield from cards.fire(f"the action of {spot.place}")
    color = card.color(spot.color)
    if color is None:
        raise Refused(
            "12.0", f"{spot.color} is not on the card", spot.place, action="none", result="none", **_nothing()
        )
    phase = Phase(card, of, hand=Hand(of), alone=True)
    told = yield from act(spot.place, color, phase)
    yield Tell(**told, result=_word(told))


def _word(told: Told) -> str:
    return " ".join([told["action"], *told.get("hits", [])])


def _nothing() -> Told:
    return {"hits": [], "disrupted": [], "placed": []}


def _unit_acts(of: JapaneseAction, code: str) -> Deciding:
    """A unit by its id: in counterattack stance, in a cave, in a position, or a tank outside every position."""
    [unit] = yield Ask(UNIT, proves=False, unit=code)
    if unit.stance:
        told = yield from counterattacks(unit, Phase(cards.Card(), of, hand=Hand(of), alone=True))
        # 13.42: the fire card of the phase decides nothing here, so where it was told it is no mistake
        for _ in of.cards if "close_combat" not in told else ():
            yield Draw("fire", "the card of the phase", kind="card")
        yield Tell(**told, result=_word(told))
        return
    card = yield from cards.fire(f"the action of {code}")
    phase = Phase(card, of, hand=Hand(of), alone=True)
    if unit.cave:
        told = yield from cave_acts(unit.label, phase)
    elif unit.place is not None:
        color = card.color(unit.color)
        if color is None:
            raise Refused(
                "12.0",
                f"{unit.color} is not on the card",
                unit.place,
                action="none",
                result="none",
                **_nothing(),
            )
        told = yield from act(unit.place, color, phase)
    else:
        own = unit.attributes.get("color")
        color = card.color(own)
        if color is None:
            raise Refused(
                "13.2",
                f"{own or 'its color'} is not on the card",
                unit.label,
                action="none",
                result="none",
                **_nothing(),
            )
        told = yield from stray_tank(unit, color, phase)
    yield Tell(**told, result=_word(told))


# A position.


def act(place: str, color: cards.Color, phase: Phase) -> Deciding:
    """A position is checked: its row, its action, and all that comes of it."""
    check = yield from phase.check(place)
    facts = check.facts
    yield proof(check.situation)
    told = {"row": facts["row"], "letter": facts["letter"], "action": facts["action"], **_nothing()}
    doing = _Doing(place, color, facts, phase, check)
    if phase.alone:
        yield Tell(**told)
    return told | (yield from phase.carried_out(doing.carried_out()))


def _listed(linked: Sequence[str] | None) -> list[str] | None:
    return None if linked is None else list(linked)


class _Doing:
    """One action of a position."""

    def __init__(
        self,
        place: str,
        color: cards.Color,
        facts: Mapping[str, Any],
        phase: Phase,
        check: Check | None = None,
    ) -> None:
        self.place, self.color, self.facts, self.phase, self.check = place, color, facts, phase, check
        self._later = phase.later()
        self.holders = [
            holder
            for holder in facts["holders"]
            if not holder["disrupted"] and holder["unit"] not in phase.arrived
        ]

    def carried_out(self) -> Deciding:
        action = self.facts["action"]
        if action == "none" or (self.facts["held"] and not self.holders and action != "recover"):
            return {"action": "none"}
        method: Callable[[], Deciding] = getattr(self, f"_{action}")
        return (yield from method())

    def _so_far(self, told: Told) -> Deciding:
        """What was done is told even while something is waited for; a whole phase tells it by position."""
        if self.phase.alone:
            yield Tell(**told)

    # Fire.

    def _fire(self, *, anew: bool = False, **how: Any) -> Deciding:
        """As it was found with the check; anew where something has changed since."""
        volley = volley_of(self.place, self.color, self.phase.card.symbol, **how)
        rows = () if anew or self.check is None else self.check.fire
        return (yield from volleyed(volley, self._later, self.phase.names, self.phase.of, rows=rows))

    def _machine_guns(self) -> Deciding:
        return (yield from self._fire(machine_guns=True))

    def _resupply(self) -> Deciding:
        """12.3: depth for every unit in communication that has none, then fire; 18.35: fire with depth only."""
        bare = [holder for holder in self.holders if not holder["depth"]]
        if self.facts["ridge"]:
            return (yield from self._resupply_ridge(bare))
        given: list[str] = []
        for holder in bare:
            if not holder["in_communication"]:
                yield Tell(
                    Step("12.3", holder["label"], "no depth", f"{holder['unit']} is out of communication")
                )
            elif not holder["tank"] and (
                yield from give_depth(holder["unit"], holder["label"], "12.3", self.phase.hand)
            ):
                given.append(holder["label"])
        told: Told = {"placed": given, "with_depth": bool(given)}
        yield from self._so_far(told)
        # with the depth that there was to give
        return (yield from self._fire(anew=True)) | told

    def _resupply_ridge(self, bare: Sequence[Mapping[str, Any]]) -> Deciding:
        with_depth = any(holder["depth"] for holder in self.holders)
        if with_depth:
            return (yield from self._fire(anew=True)) if self.facts["targets"] else {"action": "none"}
        # of a unit and a fortification in one hex the unit has it
        at = next((one for one in bare if not one["fortification"]), bare[0])
        done = yield from give_depth(at["unit"], at["label"], "18.35", self.phase.hand)
        return {"placed": [at["label"]] if done else [], "with_depth": done}

    # Mortars, guns, patrols, ambush.

    def _mortar(self) -> Deciding:
        return (yield from self._strike("mortar"))

    def _artillery_fire(self) -> Deciding:
        return (yield from self._strike("artillery_fire"))

    def _ambush(self) -> Deciding:
        yield Tell(points=("ddp-37",))
        return (yield from self._strike("ambush"))

    def _patrol(self) -> Deciding:
        return (yield from self._strike("patrol"))

    def _strike(self, manner: str) -> Deciding:
        assert self.check is not None
        yield proof(self.check.strike)
        told = yield from struck_by(self.check.strike[-1], manner, self.phase)
        return told if told["hits"] or told["disrupted"] else told | {"action": "none"}

    # Reserves.

    def _muster(self) -> Deciding:
        return (yield from self._reserves(self.facts["free"][:1], depth=True))

    def _reinforce(self) -> Deciding:
        """12.5: as a muster, and then it fires."""
        told = yield from self._reserves(self.facts["free"][:1], depth=True)
        if told["placed"] and self.facts["targets"]:
            yield from self._so_far(told)
            return (yield from self._fire(anew=True)) | told
        return told

    def _infiltrate(self) -> Deciding:
        """12.10: without depth, without fire, in both hexes of a group."""
        return (yield from self._reserves(self.facts["cut_off"], depth=False))

    def _reserves(self, labels: Sequence[str], *, depth: bool) -> Deciding:
        rule = {"muster": "12.2", "reinforce": "12.5", "infiltrate": "12.10"}[self.facts["action"]]
        placed: list[str] = []
        for label in labels:
            if not self.phase.served(label):
                yield Tell(
                    Step("12.52", label, "no unit", "the few reserve units go to hexes closer to US units")
                )
                continue
            unit = yield from place_reserve(label, rule, self.phase.hand, depth=depth)
            if unit is not None:
                placed.append(label)
                self.phase.arrived.add(unit)
        told: Told = {"placed": placed, "with_depth": depth and bool(placed) and (yield from _deep(placed))}
        return told if placed else told | {"action": "none"}

    # Moves.

    def _redeploy(self) -> Deciding:
        """12.4: each unit to a position nearer to US units; then it fires, whatever its new color."""
        told: Told = {}
        for holder in self.holders:
            goal = yield from self._goal(holder["unit"], "redeploy")
            if goal is None:
                continue
            yield Change({"unit": holder["unit"], "at": goal["label"]})
            yield Tell(
                Step("12.4", goal["label"], "redeploys", f"{holder['unit']} comes from {holder['label']}")
            )
            self.phase.arrived.add(holder["unit"])
            yield from self._so_far({"to": goal["label"]})
            told = _joined(told, {"to": goal["label"]} | (yield from self._fire_from(goal["label"])))
        return told or {"action": "none", "to": None}

    def _fire_from(self, label: str) -> Deciding:
        """Fire out of a position just reached, if US units are in its field."""
        [spot] = yield Ask(SPOT, proves=False, name=label)
        if not (yield from has_targets(spot.place)):
            return {}
        volley = volley_of(spot.place, self.color, self.phase.card.symbol)
        return (yield from volleyed(volley, [], self.phase.names, self.phase.of))

    def _goal(self, unit: str, manner: str) -> Deciding:
        rows = yield Ask(GOALS, unit=unit, manner=manner, linked=_listed(self.phase.linked))
        goals = rows[-1].facts["goals"]
        return (yield from first_of(goals, self.phase.names, "to", f"where {unit} goes")) if goals else None

    def _assault(self) -> Deciding:
        """12.8, 12.81: each hex of a group by itself, into US units in the field or to a position nearer to them."""
        told: Told = {}
        for holder in [one for one in self.holders if not one["fortification"]] or self.holders:
            unit = holder["unit"]
            if holder["fortification"]:
                unit = yield from place_reserve(
                    holder["label"], "18.35", self.phase.hand, depth=False, revealed=True
                )
                if unit is None:
                    continue
            told = _joined(told, (yield from self._assault_by(unit, holder["label"])))
        return told or {"action": "none", "to": None}

    def _assault_by(self, unit: str, origin: str) -> Deciding:
        if self.facts["targets"]:
            rows = yield Ask(HEXES, unit=unit)
            goals = rows[-1].facts["goals"]
            goal = (
                (yield from first_of(goals, self.phase.names, "to", f"which hex {unit} assaults"))
                if goals
                else None
            )
        else:
            goal = yield from self._goal(unit, "assault")
        if goal is None:
            return {}
        self.phase.arrived.add(unit)
        combat = yield from enters(unit, origin, goal["label"], "12.8", self.phase, fight=bool(goal["taken"]))
        return {"to": goal["label"], **combat}

    # Tanks.

    def _recover(self) -> Deciding:
        """13.2: a disrupted tank loses its marker as its action (ddp-58)."""
        for holder in self.facts["holders"]:
            if holder["disrupted"]:
                yield Change({"unit": holder["unit"], "disrupted": False})
                yield Tell(
                    Step(
                        "13.2",
                        holder["label"],
                        "recovers",
                        f"{holder['unit']} loses its marker and does no more",
                    )
                )
        return {"recovered": [holder["unit"] for holder in self.facts["holders"]]}

    def _fire_or_advance(self) -> Deciding:
        if self.facts["targets"]:
            if not self.color.armor:
                yield Tell(points=("ddp-14",))
            return {"action": "fire"} | (yield from self._fire(tank=self.facts["ddp-14"] == "a"))
        to = yield from self._advance()
        return {"action": "advance", "to": to} if to else {"action": "none", "to": None}

    def _advance(self) -> Deciding:
        """13.2: to a position nearer to US units; a unit that is there changes places."""
        holder = self.holders[0]
        goal = yield from self._goal(holder["unit"], "advance")
        if goal is None:
            return None
        if goal["held"]:
            yield Change({"unit": goal["held"], "at": holder["label"]})
            yield Tell(Step("13.2", holder["label"], "swaps", f"{goal['held']} takes its place"))
        yield Change({"unit": holder["unit"], "at": goal["label"]})
        yield Tell(Step("13.2", goal["label"], "advances", f"{holder['unit']} comes from {holder['label']}"))
        self.holders = [{**holder, "label": goal["label"]}]
        self.phase.arrived.add(holder["unit"])
        return goal["label"]

    def _multiple_fire(self) -> Deciding:
        """13.2 M: it fires, and if US units are left in its field once more, all anew."""
        if not self.facts["targets"]:
            return {"action": "none"}
        told = yield from self._fire()
        if (yield from has_targets(self.place)):
            volley = volley_of(self.place, self.color, self.phase.card.symbol, again=True)
            told = _joined(told, (yield from volleyed(volley, [], self.phase.names, self.phase.of)))
        return told

    def _overrun(self) -> Deciding:
        """13.2 R: it fires, and enters the hex of the nearest unit that it hit."""
        if not self.facts["targets"]:
            return {"action": "none"}
        told = yield from self._fire()
        if not told["hits"]:
            return told | {"to": None}
        yield from self._so_far(told)
        holder = self.holders[0]
        goals = yield from _hit_hexes(holder["unit"], told["hits"])
        if not goals:
            return told | {"to": None}
        goal = yield from first_of(goals, self.phase.names, "to", f"which hex {holder['unit']} overruns")
        combat = yield from enters(
            holder["unit"], holder["label"], goal["label"], "13.2", self.phase, fight=True
        )
        return told | {"to": goal["label"], **combat}

    def _advance_and_fire(self) -> Deciding:
        """13.2 P: it advances if it can, and fires if it has targets then."""
        to = yield from self._advance()
        if to:
            yield from self._so_far({"to": to})
        place = (yield from _place_of(to)) if to else self.place
        if not (yield from has_targets(place)):
            return {"to": to} if to else {"action": "none", "to": None}
        volley = volley_of(place, self.color, self.phase.card.symbol)
        fired = yield from volleyed(volley, [], self.phase.names, self.phase.of)
        return {**fired, "to": to} if to else {**fired, "action": "fire", "to": None}

    def _double_advance(self) -> Deciding:
        """13.2 A: it advances, and advances again; if it cannot at all, it fires."""
        to = yield from self._advance()
        if to is not None:
            again = yield from self._advance()
            return {"to": again or to}
        if not self.facts["targets"]:
            return {"action": "none", "to": None}
        return {"action": "fire", "to": None} | (yield from self._fire(anew=True))


def volley_of(
    place: str, color: cards.Color, symbol: str | None, *, tank: bool = False, **how: Any
) -> Volley:
    """How a position fires by the marks of a colour."""
    return Volley(place, symbol, color.star, color.armor or tank, **how)


def _joined(told: Told, more: Told) -> Told:
    """Two parts of one action: lists one after the other."""
    joined = {**told, **more}
    for key in ("hits", "disrupted", "placed"):
        if key in told and key in more and told[key] is not None and more[key] is not None:
            joined[key] = [*told[key], *more[key]]
    return joined


def _deep(labels: Sequence[str]) -> Deciding:
    """Whether every unit just placed has a depth marker."""
    for label in labels:
        rows = yield Ask(AT, proves=False, side="japan", at=label)
        if not all("depth" in row.attributes for row in rows):
            return False
    return True


def _place_of(label: str) -> Deciding:
    [spot] = yield Ask(SPOT, proves=False, name=label)
    return spot.place


def has_targets(place: str) -> Deciding:
    """Whether a US unit is in the field of fire of a position now."""
    [row] = yield Ask(
        "select exists (select from positions.state(:position, :conditions, :policy) as state"
        " cross join lateral ddp._field_dots(state, 'fire') as dot"
        " join lateral ddp._us_units(state) as unit on unit.q = dot.q and unit.r = dot.r"
        " where dot.place = :place and unit.kind is distinct from 'garrison') as found",
        proves=False,
        place=place,
    )
    return row.found


def _hit_hexes(tank: str, hits: Sequence[str]) -> Deciding:
    """13.2 R: the hexes of units that were hit, the nearest first, then with the fewest steps."""
    rows = yield Ask(
        "select hex.label, dense_rank() over (order by min(lattice.distance(unit.q, unit.r, tank.q, tank.r)),"
        " (select coalesce(sum((other.attributes ->> 'steps')::integer), 0) from unit as other"
        "  where other.position_id = :position and other.side = 'us' and other.q = min(unit.q) and other.r = min(unit.r))) as rank"
        " from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " join unit as tank on tank.position_id = :position and tank.code = :tank"
        " where unit.position_id = :position and unit.code = any(:hits) group by hex.label order by rank, hex.label",
        proves=False,
        tank=tank,
        hits=list(hits),
    )
    return [{"label": row.label, "rank": row.rank} for row in rows]


# What strikes without dots.


def struck_by(verdict: Any, manner: str, phase: Phase) -> Deciding:
    """Those that the last row of a ledger names by rank lose a step, or are disrupted."""
    facts = verdict.facts
    hits: list[str] = []
    disrupted: list[str] = []
    for target in (yield from _chosen(facts, phase.names, manner)):
        code = target["unit"]
        if target["disrupts"]:
            if (
                yield from losses.disrupt(
                    code,
                    "12.9" if manner == "ambush" else "12.6",
                    manner,
                    unit=losses.Counter(code, target["label"], **target["counter"]),
                )
            ):
                disrupted.append(code)
            continue
        yield Tell(Step(verdict.rule, target["label"], "hit", f"{manner.replace('_', ' ')} hits {code}"))
        unit = losses.Counter(code, target["label"], **target["counter"])
        yield from lose_by_fire(code, phase.names, "6.32", unit=unit)
        hits.append(code)
    # a patrol in its field disrupts all
    limit = {} if facts["limit"] == ALL else {"limit": facts["limit"]}
    return {**limit, "hits": hits, "disrupted": disrupted}


def _chosen(facts: Mapping[str, Any], names: Names, manner: str) -> Deciding:
    """The first targets up to the limit; of several of one rank the player's choice."""
    chosen: list[Mapping[str, Any]] = []
    for _, group in itertools.groupby(facts["targets"], key=lambda target: target["rank"]):
        tied = {target["unit"]: target for target in group}
        room = min(facts["limit"] - len(chosen), len(tied))
        if room <= 0:
            break
        ways = list(itertools.combinations(tied, room))
        picked = yield from names.pick("hit", f"whom the {manner.replace('_', ' ')} strikes", ways)
        chosen += [tied[code] for code in picked]
    return chosen


# Units that enter a hex.


def enters(unit: str, origin: str, at: str, rule: str, phase: Phase, *, fight: bool) -> Deciding:
    """A Japanese unit moves into a hex: garrisons go (14.41), and against US units there is close combat at once."""
    yield Change({"unit": unit, "at": at})
    if fight:
        yield Change({"unit": unit, "from": origin}, kept=True)
    yield Tell(
        Step(rule, at, "enters", f"{unit} comes from {origin}"), facts={"to": at} if phase.alone else {}
    )
    there = yield Ask(
        "select unit.code, unit.kind from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " where unit.position_id = :position and unit.side = 'us' and hex.label = :at order by unit.code",
        proves=False,
        at=at,
    )
    for post in there:
        if post.kind == "garrison":
            yield Change({"unit": post.code, "eliminated": True})
            yield Tell(
                Step("14.41", at, "removed", f"a Japanese unit enters the hex of the garrison {post.code}")
            )
    if not any(post.kind != "garrison" for post in there):
        return {}
    from app.play.ddp.close_combat import close_combat_in

    suffix = phase.names.name("combat").removeprefix("combat")
    answer = yield from close_combat_in(at, origin, phase.of, suffix=suffix, hand=phase.hand)
    return {"close_combat": answer}


# Caves, stray tanks, counterattack.


def cave_acts(label: str, phase: Phase) -> Deciding:
    """A cave fires at who acted under fire beside it, whatever the colors of the card."""
    under_fire = yield Ask(
        "select unit.code from positions.state(:position, :conditions, :policy) as state"
        " cross join lateral ddp._field_dots(state, 'fire') as dot"
        " join lateral ddp._us_units(state) as unit on unit.q = dot.q and unit.r = dot.r"
        " where dot.place = :place and ddp._flag(unit.attributes, 'action_under_fire')",
        proves=False,
        place=label,
    )
    told: Told = {"row": "us_in_field" if under_fire else "no_us_in_field", "letter": None, **_nothing()}
    if not under_fire:
        yield Tell(Step("4.0", label, "none", "nobody who acted under fire is beside the cave"))
        return told | {"action": "none"}
    fired = yield from volleyed(Volley(label, phase.card.symbol), [], phase.names, phase.of)
    return told | fired | {"action": "fire"}


def stray_tank(unit: Any, color: cards.Color, phase: Phase) -> Deciding:
    """13.2: a tank outside every position acts by its own color; it has no field, so it can only advance."""
    told: Told = {"row": "tank", "letter": color.letter, "action": "none", **_nothing(), "to": None}
    if unit.disrupted:
        yield Change({"unit": unit.code, "disrupted": False})
        yield Tell(Step("13.2", unit.label, "recovers", f"{unit.code} loses its marker and does no more"))
        return told | {"action": "recover"}
    holder = {
        "unit": unit.code,
        "label": unit.label,
        "disrupted": False,
        "depth": False,
        "fortification": False,
    }
    doing = _Doing(
        unit.label, color, {"holders": [holder], "held": True, "targets": False, "action": "advance"}, phase
    )
    to = yield from doing._advance()
    return told | ({"action": "advance", "to": to} if to else {})


def counterattacks(unit: Any, phase: Phase) -> Deciding:
    """13.42: a unit in stance goes to a hex within three hexes, and fights or leaves the stance there."""
    told: Told = {"row": "counterattack", "letter": None, "action": "counterattack", **_nothing(), "to": None}
    if unit.disrupted:
        acts = unit.readings["ddp-12"] == "b"
        effect = "acts" if acts else "none"
        yield Tell(Step("13.42", unit.label, effect, f"{unit.code} is disrupted"), points=("ddp-12",))
        if not acts:
            return told | {"action": "none"}
    rows = yield Ask(STANCE, unit=unit.code)
    goals = rows[-1].facts["goals"]
    if not goals:
        return told | {"action": "none"}
    goal = yield from first_of(goals, phase.names, "to", f"where {unit.code} goes")
    if phase.alone:
        yield Tell(**told)
    combat = yield from enters(unit.code, unit.label, goal["label"], "13.42", phase, fight=goal["taken"])
    left = yield from leaves_stance(unit.code, phase.hand)
    return told | {"to": goal["label"], **combat, **({"left_stance": True} if left else {})}


def leaves_stance(code: str, hand: Hand) -> Deciding:
    """13.47: in a position that fires onto a landing beach the stance ends; depth of others becomes normal depth."""
    rows = yield Ask(
        "select holder.tank, holder.label, holder.depth, site.covers and not site.provisional as covers"
        " from ddp._scene(:position, :conditions, :policy) as scene"
        " cross join lateral unnest(scene.holders) as holder"
        " join lateral unnest(scene.sites) as site on site.label = holder.label"
        " where holder.code = :unit and holder.stance",
        proves=False,
        unit=code,
    )
    if not rows or not rows[0].covers:
        return False
    [held] = rows
    yield Change({"unit": code, "counterattack": None})
    yield Tell(
        Step("13.47", held.label, "leaves stance", f"{code} is in a position that fires onto a landing beach")
    )
    if held.depth and not held.tank:
        yield from give_depth(code, held.label, "13.47", hand)
    return True


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["japanese_action"], ruling.answer
    who = of.get("position") or of.get("unit")
    if answer["allowed"] is False:
        return f"{who} does not act: {answer['why']}"
    if "action" not in answer:
        return f"{who} waits for a card, a draw or a choice"
    if answer["action"] == "none":
        return f"{who} does nothing"
    return clauses(
        f"{who}: {answer['action'].replace('_', ' ')}",
        f"to {answer['to']}" if answer.get("to") else None,
        f"placed in {series(answer['placed'])}" if answer.get("placed") else None,
        f"hits {series(answer['hits'])}" if answer.get("hits") else None,
        f"disrupts {series(answer['disrupted'])}" if answer.get("disrupted") else None,
    )


KINDS = [
    procedure_kind(
        japanese_action,
        kinds=functools.partial(kinds_of, "ddp"),
        name="japanese_action",
        title="Action of a Japanese position or unit",
        arguments=JapaneseAction,
        rulesets=("ddp",),
        answers={
            "row": "us_in_field, no_us_in_field, unoccupied, tank or counterattack: the row of the Japanese Action Chart",
            "letter": "the letter of its color, where it is in force",
            "action": "what it does, in the words of the chart; none where it does nothing",
            "to": "the hex to which a unit goes",
            "placed": "the hexes in which units or depth markers are placed",
            "with_depth": "whether a depth marker comes with it",
            "limit": "how many US units it may hit",
            "column": "the column of the Japanese Fire Chart",
            "eligible": "the units that it may hit, and how",
            "hits": "the units that lose a step",
            "disrupted": "the units that are disrupted; null where the chart does not tell",
            "recovered": "a tank that loses its disruption marker",
            "close_combat": "the answer of the close combat that follows",
            "left_stance": "whether a unit leaves counterattack stance",
            "result": "the action and the units hit, for the odds",
        },
        verdict=_verdict,
        points=POINTS,
        acts=False,
        example="japanese_action: {position: C9, cards: [{colors: [orange R, blue P, brown A], symbol: circle}]}",
    )
]  # fmt: skip
