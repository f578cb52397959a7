"""`legal`: every action that a side or a unit may take now, with arguments that can be entered as they are.

What only a procedure can judge is tried in it, up to its first roll. Of a move every hex is listed in which it may end,
with a cheapest way there and what that costs.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.css.frame import OTHER
from app.play.procedures import Given, ProcedureKind, tried
from app.play.sequence import END_PHASE, state_of, walk_of
from app.referee.questions import kinds_of
from app.referee.questions.movement import points
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, RulingError, Step
from app.referee.words import counted
from db import SightlineError
from importers.questions import Names

Offer = dict[str, Any]
"""`action` and its `arguments`."""
Arguments_ = Iterator[dict[str, Any]]
FOLLOWERS = ("leader", "hero", "support_weapon", "truck")
ENDS = 0.45
"""How often random play goes on to the next step, though something else might be done."""
MOST_TRIED = 5
"""Candidates of one action that random play looks at before it tries another."""
TRACED = ("attach", "detach", "leader_move", "load")
"""Actions for which a way is traced, which takes its time: random play tries one of each."""
UNITS = (
    "select unit.code, unit.side, unit.kind, unit.attributes, hex.label, css._is_active(state, counter) as active"
    " from positions.state(:position, :conditions, :policy) as state"
    " join unit on unit.position_id = state.position_id"
    " cross join lateral positions.counter(state.position_id, unit.code) as counter"
    " left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.attributes ->> 'status' is distinct from 'eliminated' order by unit.code"
)
BESIDE = (
    "select beside.label from position join hex on hex.map_id = position.map_id and hex.label = :label"
    " cross join lateral lattice.neighbours(hex.q, hex.r) as step"
    " join hex as beside on beside.map_id = hex.map_id and beside.q = step.nq and beside.r = step.nr"
    " where position.id = :position order by beside.label"
)
MARKED = (
    "select distinct hex.label, marker.kind from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q"
    " and hex.r = marker.r where marker.position_id = :position order by hex.label, marker.kind"
)
LOOK_AROUND = "select count(*) from css.side_zone_reasons(:position, :side, :conditions, :policy)"
REACH = "select * from css.reach(:position, :unit, null, :conditions, :policy)"
WAYS = "select * from css.reach_paths(:position, :unit, :options, :conditions, :policy)"
WAY = "select * from css.reach_path(:position, :unit, :to, null, :conditions, :policy)"
ZONE = (
    "select distinct hex.label from css.fire_zone(:position, :unit, :conditions, :policy) as zone"
    " join position on position.id = :position join hex on hex.map_id = position.map_id and hex.q = zone.q and hex.r = zone.r"
    " where zone.arm = 'unit' order by hex.label"
)


class Legal(Arguments):
    """For whom; without both, for whoever acts now."""

    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The id of a unit")
    side: Literal["us", "japan"] | None = Field(None, description="A side")


def _legal(asked: Asked, of: Legal) -> Finding:
    walk, state = walk_of("css"), state_of(asked)
    leaf = walk.leaf(state)
    table = _Table(asked, state.tracks, of.unit)
    now = leaf.phase if leaf is not None else None
    owner = walk.side(now, state) if now is not None else None
    whose = of.side or (table.side_of(of.unit) if of.unit else None) or owner
    steps = [Step(now.rule if now else "4.0", None, "step", now.title if now else "Set-up")]
    if owner is not None and whose != owner:
        steps.append(Step("5.1", None, "waits", "the chit is the other side's"))
        return Finding({"actions": []}, steps)
    names = walk.actions(state) if now is not None or asked.conditions.get("phase") else table.everything
    offers = [offer for name in names if name != END_PHASE.name for offer in table.offers(name, whose)]
    if of.unit is None:
        offers.append({"action": END_PHASE.name, "arguments": {}})
    return Finding({"actions": _distinct(offers)}, steps)


def drawn(asked: Asked, dice: random.Random) -> Offer | None:
    """One of the actions that may be taken now, each kind as likely as any other; the step may always end."""
    walk, state = walk_of("css"), state_of(asked)
    leaf = walk.leaf(state)
    owner = walk.side(leaf.phase, state) if leaf is not None else None
    names = [name for name in walk.actions(state) if name != END_PHASE.name]
    must = names == ["draw"]
    active = asked.conditions.get("active")
    if "activate" in names and not (isinstance(active, dict) and active.get("units")):
        # on the Direct Command chit nobody acts before he is activated
        names = ["activate"]
    if names and (must or dice.random() > ENDS):
        table = _Table(asked, state.tracks, None)
        dice.shuffle(names)
        for name in names[:3]:
            offer = next(table.offers(name, owner, dice), None)
            if offer is not None:
                return offer
    return {"action": END_PHASE.name, "arguments": {}}


def _distinct(offers: list[Offer]) -> list[Offer]:
    seen: list[Offer] = []
    for offer in offers:
        if offer not in seen:
            seen.append(offer)
    return seen


class _Table:
    """A position, and what may be done on it."""

    everything = ("move", "fire", "indirect_fire", "rally", "engineer", "posture", "place_assault")
    """What Active units may do, of a position that tells no phase."""

    def __init__(self, asked: Asked, tracks: Mapping[str, Any], unit: str | None) -> None:
        self.asked = asked
        self.tracks = tracks
        self.unit = unit
        self.units = asked.rows(UNITS)
        self.acted = asked.conditions.get("acted") or {}
        [row] = asked.rows("select css._chit(:conditions) as chit")
        self.chit = row.chit
        self.looked = False
        self.costs: dict[tuple[str, str], Any] = {}
        """Movement points to the hexes that units reach."""

    def side_of(self, code: str) -> str | None:
        return next((unit.side for unit in self.units if unit.code == code), None)

    def offers(self, name: str, side: str | None, dice: random.Random | None = None) -> Iterator[Offer]:
        """The offers of an action by its name, with dice in no order and only some of them tried."""
        from app.play.actions import actions_of

        kind = actions_of("css").get(name)
        make = getattr(self, f"_{name}", None)
        if kind is None or make is None:
            return
        candidates = list(make(side, dice))
        if dice is not None:
            dice.shuffle(candidates)
            candidates = candidates[: 1 if name in TRACED else MOST_TRIED]
        if candidates and name in TRACED:
            self._look_around(side)
        for arguments in candidates:
            offer = {"action": name, "arguments": arguments}
            if self.unit is not None and not self._concerns(arguments):
                continue
            if (
                name == "move"
                and (cost := self.costs.get((arguments["unit"], arguments["path"][-1]))) is not None
            ):
                # tried with the unit's other ways
                yield offer | {"cost": cost}
            elif self._stands(kind, arguments):
                yield offer

    def _look_around(self, side: str | None) -> None:
        """Have what enemies see found and kept: what is found out in a trial is undone with it."""
        if side in OTHER and not self.looked:
            self.asked.rows(LOOK_AROUND, side=OTHER[side])
            self.looked = True

    def _concerns(self, arguments: dict[str, Any]) -> bool:
        named: list[Any] = []
        for value in arguments.values():
            named += value if isinstance(value, list) else [value]
        return self.unit in named

    def _stands(self, kind: ProcedureKind, arguments: dict[str, Any]) -> bool:
        """Whether the procedure itself allows it."""
        try:
            of = kind.arguments.model_validate(arguments)
            outcome = tried(
                self.asked, lambda: kind.begin(of), Given(), functools.partial(kinds_of, "css"), writes=False  # type: ignore[arg-type]
            )  # fmt: skip
        except (RulingError, SightlineError, ValueError):
            return False
        return outcome.allowed is True

    # Who and where.

    def _active(self, side: str | None, *, fresh: bool = True) -> list[Any]:
        """Units on the map that are Active and have an Action left."""
        return [
            unit
            for unit in self.units
            if unit.label is not None
            and unit.kind not in FOLLOWERS
            and side in (None, unit.side)
            and unit.active
            and (not fresh or self._has_action(unit))
            and self.unit in (None, unit.code)
        ]

    def _has_action(self, unit: Any) -> bool:
        """5.1, 5.2: a first Action, or a second on a Division's or Formation's chit."""
        first = self.chit == "direct_command" or self.asked.conditions.get("step") == "actions"
        return bool(self.acted.get(unit.code, 0) < (1 if first else 2))

    def _enemies(self, side: str | None) -> list[str]:
        return sorted(
            {
                unit.label
                for unit in self.units
                if unit.label is not None and unit.kind not in FOLLOWERS and unit.side != (side or "us")
            }
        )

    def _marks(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for row in self.asked.rows(MARKED):
            found.setdefault(row.label, set()).add(row.kind)
        return found

    def _beside(self, label: str) -> list[str]:
        return [row.label for row in self.asked.rows(BESIDE, label=label)]

    def _of_kind(self, kind: str, side: str | None) -> list[Any]:
        return [
            unit for unit in self.units if unit.kind == kind and side in (None, unit.side) and unit.active
        ]

    # Points and chits.

    def _buy(self, side: str | None, _dice: Any) -> Arguments_:
        formations: dict[str, set[str]] = {}
        for unit in self.units:
            if unit.attributes.get("formation") and unit.attributes.get("division"):
                formations.setdefault(unit.attributes["division"], set()).add(unit.attributes["formation"])
        for division, display in (self.tracks.get("divisions") or {}).items():
            if side not in (None, display.get("side")):
                continue
            yield {"division": division}
            yield from (
                {"division": division, "formation": name} for name in sorted(formations.get(division, ()))
            )

    def _draw(self, _side: str | None, _dice: Any) -> Arguments_:
        yield {}

    def _demolition(self, _side: str | None, _dice: Any) -> Arguments_:
        fields = list(
            self.asked.rows("select attributes from marker where position_id = :position and kind = 'mines'")
        )
        if fields and not any("demolition" in row.attributes for row in fields):
            yield {}

    def _activate(self, side: str | None, _dice: Any) -> Arguments_:
        side = (self.asked.conditions.get("active") or {}).get("side") or side
        for unit in self.units:
            carries = unit.kind == "truck" or unit.kind not in FOLLOWERS
            if unit.side == side and unit.label is not None and carries and self.unit in (None, unit.code):
                yield {"unit": unit.code}

    def _reinforce(self, _side: str | None, _dice: Any) -> Arguments_:
        beaches = self.asked.rows(
            "select feature.code from map_feature as feature join position on position.map_id = feature.map_id"
            " where position.id = :position and feature.kind = 'beach' order by feature.code"
        )
        for unit in self.units:
            if (
                unit.attributes.get("box") == "off_board"
                and not unit.attributes.get("due")
                and unit.side == "us"
            ):
                if unit.kind == "truck":
                    yield {"units": [unit.code]}
                elif unit.kind not in FOLLOWERS:
                    yield from ({"units": [unit.code], "zone": {"beach": row.code}} for row in beaches)

    def _tank_arrival(self, _side: str | None, _dice: Any) -> Arguments_:
        for unit in self._of_kind("support_weapon", "us"):
            boxed = unit.attributes.get("box") == "off_board" and unit.attributes.get("target") == "tank"
            if boxed and not unit.attributes.get("due"):
                yield {"unit": unit.code}

    def _landing(self, _side: str | None, _dice: Any) -> Arguments_:
        runs: dict[str, dict[str, list[str]]] = {}
        for unit in self.units:
            zone = unit.attributes.get("zone")
            if zone and unit.kind not in FOLLOWERS:
                runs.setdefault(zone["beach"], {}).setdefault(zone["run"], []).append(unit.code)
        errands = (("land", "final_run_in"), ("run_in", "approach"), ("approach", "transport"))
        for beach, there in sorted(runs.items()):
            everybody: dict[str, Any] = {"beach": beach}
            for errand, run in errands:
                for code in there.get(run, [])[:3]:
                    yield {"beach": beach, errand: [code]}
                if there.get(run):
                    everybody[errand] = there[run][:3]
            yield everybody

    # Counters that go with units.

    def _given_to(self, kind: str, side: str | None) -> Iterator[tuple[Any, str]]:
        """Leaders or weapons, or the one that is asked for, and the hexes of Active Units."""
        hexes = {
            unit.label
            for unit in self.units
            if unit.label and unit.kind not in FOLLOWERS and unit.active and side in (None, unit.side)
        }
        for one in self._of_kind(kind, side):
            if self.unit in (None, one.code):
                yield from ((one, label) for label in sorted(hexes))

    def _leader_move(self, side: str | None, dice: Any) -> Arguments_:
        for leader, label in self._given_to("leader", side):
            if leader.label not in (None, label):
                yield {"leader": leader.code, "to": label}

    def _attach(self, side: str | None, _dice: Any) -> Arguments_:
        for weapon, label in self._given_to("support_weapon", side):
            if weapon.attributes.get("box") == "available":
                yield {"weapon": weapon.code, "to": label}

    def _detach(self, side: str | None, _dice: Any) -> Arguments_:
        for weapon in self._of_kind("support_weapon", side):
            if weapon.label is not None and self.unit in (None, weapon.code):
                yield {"weapon": weapon.code}

    def _ridge_marker(self, side: str | None, _dice: Any) -> Arguments_:
        marks = self._marks()
        for unit in self._active(side, fresh=False):
            if "ridge" in marks.get(unit.label, ()):
                yield {"unit": unit.code, "do": "remove"}

    def _load(self, side: str | None, _dice: Any) -> Arguments_:
        trucks = [unit for unit in self._of_kind("truck", side) if unit.attributes.get("box") == "truck_pool"]
        for truck, unit in itertools.product(trucks, self._active(side)):
            yield {"truck": truck.code, "unit": unit.code}

    def _unload(self, side: str | None, _dice: Any) -> Arguments_:
        for truck in self._loaded_trucks(side):
            yield {"truck": truck.code}

    def _disband(self, _side: str | None, _dice: Any) -> Arguments_:
        for unit in self.units:
            if unit.kind == "ambush" and unit.label is not None and self.unit in (None, unit.code):
                yield {"unit": unit.code}

    # Actions of units.

    def _posture(self, side: str | None, _dice: Any) -> Arguments_:
        changed = self.asked.conditions.get("changed") or []
        for unit in self._active(side):
            if unit.code not in changed and unit.attributes.get("posture") in ("deployed", "column"):
                to = "column" if unit.attributes["posture"] == "deployed" else "deployed"
                yield {"unit": unit.code, "to": to}

    def _move(self, side: str | None, dice: random.Random | None) -> Arguments_:
        movers = [
            unit
            for unit in (*self._active(side), *self._loaded_trucks(side))
            # 15.0: what is in a truck goes where the truck goes
            if unit.attributes.get("posture") != "deployed" and not unit.attributes.get("loaded_in")
        ]
        if self.asked.conditions.get("step") == "move_artillery":
            return
        if dice is None:
            for unit in movers:
                yield from self._ways(unit)
            return
        dice.shuffle(movers)
        for unit in movers[:3]:
            reached = [row.label for row in self.asked.rows(REACH, unit=unit.code) if row.label != unit.label]
            if reached:
                way = [row.label for row in self.asked.rows(WAY, unit=unit.code, to=dice.choice(reached))]
                if len(way) > 1:
                    yield {"unit": unit.code, "path": way, **self._followers(unit)}

    def _loaded_trucks(self, side: str | None) -> list[Any]:
        """Trucks on the map that carry somebody and have an Action left."""
        loaded = {unit.attributes.get("loaded_in") for unit in self.units}
        return [
            truck
            for truck in self._of_kind("truck", side)
            if truck.label is not None
            and truck.code in loaded
            and self._has_action(truck)
            and self.unit in (None, truck.code)
        ]

    def _ways(self, unit: Any) -> Arguments_:
        """All ways of a unit, where it may move at all: what holds for one of them holds for all."""
        from app.play.actions import actions_of

        follow = self._followers(unit)
        ways = self.asked.rows(WAYS, unit=unit.code, options=follow)
        moves = [{"unit": unit.code, "path": list(row.path), **follow} for row in ways]
        if moves and self._stands(actions_of("css")["move"], moves[0]):
            self.costs |= {(unit.code, row.label): points(row.halves) for row in ways}
            yield from moves

    def _followers(self, unit: Any) -> dict[str, Any]:
        """Leaders, heroes and weapons of a hex that only one Unit holds go along with it."""
        here = [other for other in self.units if other.label == unit.label and other.code != unit.code]
        if any(other.kind not in FOLLOWERS for other in here):
            return {}
        going = [other.code for other in here if other.kind != "truck"]
        weapons = [other.code for other in here if other.kind == "support_weapon"]
        going = [code for code in going if code not in weapons[1:]]
        return {"with": going} if going else {}

    def _fire(self, side: str | None, _dice: Any) -> Arguments_:
        enemies = set(self._enemies(side))
        for unit in self._active(side):
            kind = (unit.attributes.get("fire") or {}).get("type")
            if kind not in (None, "indirect"):
                zone = {row.label for row in self.asked.rows(ZONE, unit=unit.code)}
                yield from ({"by": [unit.code], "at": label} for label in sorted(zone & enemies))

    def _indirect_fire(self, side: str | None, _dice: Any) -> Arguments_:
        spotters = [
            unit.code
            for unit in self.units
            if unit.side == side and unit.label and unit.kind not in FOLLOWERS
        ]
        for unit in self._active(side):
            if (unit.attributes.get("fire") or {}).get("type") == "indirect":
                for label in self._enemies(side):
                    yield {"by": [unit.code], "at": label, "spotter": "self"}
                    yield from ({"by": [unit.code], "at": label, "spotter": code} for code in spotters[:6])

    def _smoke(self, side: str | None, _dice: Any) -> Arguments_:
        for unit in self._active(side):
            if (unit.attributes.get("fire") or {}).get("type") not in (None, "indirect"):
                yield {"by": [unit.code], "at": unit.label}

    def _rally(self, side: str | None, _dice: Any) -> Arguments_:
        marks = self._marks()
        for unit in self._active(side):
            if {"dg", "pinned", "suppressed"} & marks.get(unit.label, set()):
                yield {"hex": unit.label, "by": unit.code}

    def _engineer(self, side: str | None, _dice: Any) -> Arguments_:
        marks = self._marks()
        for unit in self._active(side):
            here = marks.get(unit.label, set())
            if not {"foxhole", "trench", "pillbox", "bunker"} & here:
                yield {"unit": unit.code, "work": "foxhole"}
            elif "foxhole" in here:
                yield {"unit": unit.code, "work": "trench"}
            if unit.kind == "engineer" and "mines" in here:
                yield {"unit": unit.code, "work": "clear_mines"}
            if unit.kind == "engineer" and unit.side == "us":
                yield {"unit": unit.code, "work": "seal_cave"}

    def _return(self, side: str | None, _dice: Any) -> Arguments_:
        heads: dict[str, set[str]] = {"hq": set(), "leader": set()}
        for unit in self.units:
            if unit.kind in heads and unit.label and unit.side == side:
                heads[unit.kind] |= {unit.label, *self._beside(unit.label)}
        for unit in self.units:
            routed = unit.attributes.get("box") == "routed" and unit.kind not in FOLLOWERS
            if routed and unit.side == side and unit.active and self.unit in (None, unit.code):
                # 8.5.2: Units come back to the Division HQ, an HQ to the Division Leader
                hexes = heads["leader" if unit.kind == "hq" else "hq"]
                yield from ({"unit": unit.code, "to": label} for label in sorted(hexes))

    def _place_assault(self, side: str | None, _dice: Any) -> Arguments_:
        enemies = set(self._enemies(side))
        for unit in self._active(side, fresh=False):
            # 6.3: out of a cave its own hex, and no other
            near = [unit.label] if unit.attributes.get("in_cave") else self._beside(unit.label)
            yield from ({"at": label, "by": unit.code} for label in near if label in enemies)

    def _assault(self, side: str | None, _dice: Any) -> Arguments_:
        charges = {"prepared_assault", "banzai_charge", "drunk_banzai_charge"}
        ready = self._active(side, fresh=False)
        for label, kinds in self._marks().items():
            if kinds & charges:
                near = set(self._beside(label))
                by = [
                    unit.code
                    for unit in ready
                    if (unit.label == label if unit.attributes.get("in_cave") else unit.label in near)
                ]
                if by:
                    yield {"at": label, "by": by}

    def _naval_fire(self, side: str | None, _dice: Any) -> Arguments_:
        spotters = [
            unit.code
            for unit in self.units
            if unit.side == "us" and unit.label and unit.kind not in FOLLOWERS
        ]
        for label in self._enemies("us"):
            yield {"at": label, "spotter": "aircraft"}
            yield from ({"at": label, "spotter": code} for code in spotters[:4])

    def _air_strike(self, _side: str | None, _dice: Any) -> Arguments_:
        yield from ({"at": label} for label in self._enemies("us"))

    def _interdict(self, _side: str | None, _dice: Any) -> Arguments_:
        yield {"n": 1}


def _verdict(ruling: Ruling) -> str:
    of, actions = ruling.question["legal"], ruling.answer["actions"]
    whose = of.get("unit") or of.get("side")
    told = counted(len(actions), "action") if actions else "no action"
    if whose:
        return f"{whose} has {told} now"
    return f"There is {told} now" if len(actions) < 2 else f"There are {told} now"


KIND = QuestionKind(
    name="legal",
    title="What may be done now",
    arguments=Legal,
    rulesets=("css",),
    rule=_legal,
    answers={"actions": "every action that may be entered now: `action` and `arguments`"},
    verdict=_verdict,
    points=(),
    example="legal: {side: us}",
)
