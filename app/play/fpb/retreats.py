"""Retreats in fpb, who stands instead, who is displaced, and who advances: 8.1.5, 8.3, 8.3.1, 8.4, 8.5, 12.1, 16.2.

Units retreat in the order in which they were named. Where a retreat can end, and what it costs, is the question
`retreat`; here its ways are walked, one hex after the other.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.play.fpb.decisions import MOST_OPTIONS, Decisions
from app.play.fpb.losses import Doing, counter, eliminate, enter, leave, lose_step, on_last_step
from app.play.procedures import Ask, Change, Put, Refused, Tell
from app.referee.rulings import Step

GROUND = "select * from fpb.retreat_ground(:position, :unit, :hexes, :conditions, :policy)"
BESIDE = "select * from fpb.retreat_ground(:position, :unit, 1, :conditions, :policy) where away = 1"
READING = "select positions.readings(:position, :policy) ->> :point as reading"
STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
Way = list[str]


def reading(point: str) -> Doing:
    """The reading in force for a contested point."""
    [row] = yield Ask(READING, proves=False, point=point)
    return row.reading


@dataclasses.dataclass(frozen=True)
class Rout:
    """Who must retreat, how far, after what, and who decides for them."""

    units: Sequence[str]
    side: str
    hexes: int
    after: str
    alone: bool

    @property
    def automatic(self) -> bool:
        """16.2(5): Japanese units in solitaire play stand or retreat without a choice."""
        return self.alone and self.side == "japan"

    def refusal(self, code: str) -> Refused:
        """Why a unit cannot stand instead of retreating."""
        if code in self.units:
            return Refused("8.3", f"{code} has no retreat, so it cannot stand instead", points=("fpb-16",))
        return Refused("8.4", f"{code} need not retreat, so it does not stand instead")


@dataclasses.dataclass(frozen=True)
class Withdrawal:
    """What became of a unit that had to retreat."""

    unit: str
    start: str
    way: Way
    """The hexes that it entered."""
    stood: bool = False
    short: bool = False
    """Whether it could not go as far as it had to."""
    lives: bool = True


def rout(of: Rout, decisions: Decisions) -> Doing:
    """Each unit stands for a step or retreats; gives what became of each."""
    facts: dict[str, dict[str, Any]] = {}
    for code in of.units:
        finding = yield Put("retreat", unit=code, hexes=of.hexes, after=of.after)
        facts[code] = finding.answer
    standing = yield from _standing(of, facts, decisions)
    done: list[Withdrawal] = []
    for code in standing:
        unit = yield from counter(code)
        lives = yield from lose_step(code, "8.4", "it stands instead of retreating")
        done.append(Withdrawal(code, unit.label, [], stood=True, lives=lives))
    going = [code for code in of.units if code not in standing]
    if going:
        done += yield from _retreat(of, going, facts, decisions)
    return done


def _standing(of: Rout, facts: Mapping[str, dict[str, Any]], decisions: Decisions) -> Doing:
    """Who offers stiff resistance (8.4), by choice or by 16.2(5)."""
    if of.automatic:
        standing = []
        for code in of.units:
            stands = yield from _must_stand(code, facts[code])
            if stands:
                standing.append(code)
        return standing
    able = [code for code in of.units if facts[code]["stiff"] is not None]

    chosen = yield from decisions.some_of(
        "stiff", of.side, "units that stand for a step instead of retreating", able, of.refusal
    )
    return [code for code in of.units if code in chosen]


def _must_stand(code: str, facts: dict[str, Any]) -> Doing:
    """16.2(5): where the retreat would cost a step, or on an airstrip."""
    unit = yield from counter(code)
    costly = facts["depletes"] or facts["eliminated"]
    if facts["stiff"] is None:
        return False
    if costly:
        yield Tell(Step("16.2", unit.label, "stands", f"{code} would lose a step by retreating", "5"))
        return True
    if "airstrip" not in unit.features:
        yield Tell(Step("16.2", unit.label, "retreats", f"{code} can retreat whole", "5"))
        return False
    if on_last_step(unit):
        stands = (yield from reading("fpb-40")) == "a"
        note = f"{code} is on an airstrip with its last step"
        effect = "stands" if stands else "retreats"
        yield Tell(Step("16.2", unit.label, effect, note, "5"), points=("fpb-40",))
        return stands
    yield Tell(Step("16.2", unit.label, "stands", f"{code} is on an airstrip", "5"))
    return True


# Ways.


@dataclasses.dataclass(frozen=True)
class Ground:
    """The hexes that a retreat can get to, by where they are from its start."""

    hexes: Mapping[tuple[int, int], Any]
    facts: Mapping[str, Any]

    @property
    def through(self) -> bool:
        return bool(self.facts["through"])

    def goals(self) -> list[str]:
        """Where it may end: free hexes, or those of friends who give way."""
        return list(self.facts["ends"] or self.facts["displace"])

    def nearer(self) -> list[str]:
        """Free hexes nearer by, for one that displaces nobody (8.3.1)."""
        if not self.facts["displace"]:
            return []
        free = [hex for hex in self.hexes.values() if not hex.friends and hex.away < self.facts["distance"]]
        farthest = max((hex.away for hex in free), default=0)
        return [hex.label for hex in free if hex.away == farthest]

    def ways(self, goals: Sequence[str], through: bool) -> list[Way]:
        """Every way to these hexes, each step one hex farther off; of winding ones the shortest to each."""
        found: list[Way] = []
        met: set[str] = set()
        waiting: list[tuple[tuple[int, int], Way]] = [((0, 0), [])]
        while waiting:
            (q, r), way = waiting.pop(0)
            here = self.hexes.get((q, r))
            if here is not None and here.label in goals:
                found.append(way)
                continue
            if here is not None and here.friends and not through:
                continue
            for dq, dr in STEPS:
                goal = self.hexes.get((q + dq, r + dr))
                if goal is None or goal.label in way:
                    continue
                if goal.roundabout:
                    if goal.label in met:
                        continue
                    met.add(goal.label)
                elif goal.away != (here.away if here is not None else 0) + 1:
                    continue
                waiting.append(((q + dq, r + dr), [*way, goal.label]))
        return sorted(found)

    def is_way(self, way: Way, goals: Sequence[str], through: bool) -> bool:
        """Whether a way that somebody names can be walked."""
        by_label = {hex.label: (place, hex) for place, hex in self.hexes.items()}
        place, away = (0, 0), 0
        for n, label in enumerate(way):
            if label not in by_label or label in way[:n]:
                return False
            (q, r), hex = by_label[label]
            if (q - place[0], r - place[1]) not in STEPS or (not hex.roundabout and hex.away != away + 1):
                return False
            if hex.friends and not through and n < len(way) - 1:
                return False
            place, away = (q, r), hex.away
        return bool(way) and way[-1] in goals


def _ground(code: str, hexes: int, facts: Mapping[str, Any]) -> Doing:
    rows = yield Ask(GROUND, proves=False, unit=code, hexes=hexes)
    return Ground({(row.q, row.r): row for row in rows}, facts)


def _retreat(
    of: Rout, going: Sequence[str], facts: Mapping[str, dict[str, Any]], decisions: Decisions
) -> Doing:
    """The retreats of those who do not stand, one after the other."""
    options: list[list[Way]] = []
    for code in going:
        ground = yield from _ground(code, of.hexes, facts[code])
        ways = ground.ways(ground.goals(), ground.through)
        if facts[code]["displace"]:
            ways += ground.ways(ground.nearer(), True) or [[]]
        options.append(ways)
    alone = [{going[0]: way} for way in options[0]] if len(going) == 1 else None
    needed = any(len(ways) > 1 for ways in options)
    plan = yield from decisions.plan(
        "retreat", of.side, "the hexes that each unit enters", "{unit: [hexes]}", alone, needed
    )
    if strangers := [code for code in plan if code not in going]:
        raise Refused("8.3", f"{strangers[0]} does not retreat")
    done = []
    for n, code in enumerate(going):
        now = facts[code]
        if n:
            finding = yield Put("retreat", unit=code, hexes=of.hexes, after=of.after)
            now = finding.answer
        done.append((yield from _withdraw(of, code, now, plan.get(code), decisions)))
    return done


def _withdraw(of: Rout, code: str, facts: dict[str, Any], wanted: Way | None, decisions: Decisions) -> Doing:
    """One unit goes: off the map from the sea, along its way, or nowhere."""
    unit = yield from counter(code)
    if facts["distance"] is None:
        return (yield from _repulse(unit, facts))
    ground = yield from _ground(code, of.hexes, facts)
    way = _way(unit, ground, facts, wanted)
    depletes, dies = facts["depletes"], facts["eliminated"] and not facts["depletes"]
    if facts["displace"] and (not way or way[-1] not in facts["displace"]):
        yield Tell(Step("8.3.1", unit.label, "displaces nobody", f"{code} lets its friends stay"))
        depletes = facts["unless_displaced"] == "depletes" or on_last_step(unit)
        dies = not depletes
    elif facts["displace"]:
        yield from _displace(of, unit, way[-1], decisions)
    if way:
        yield Tell(Step("8.3", way[-1], "retreats", f"{code} retreats over {', '.join(way)}"))
        yield Change({"unit": code, "at": way[-1]})
        yield from enter(of.side, way)
        yield from leave(unit)
    lives = True
    if depletes:
        lives = yield from lose_step(code, "8.3", "it could not retreat as far as it had to")
    elif dies:
        yield from eliminate(code, "8.3", "it could not retreat")
        lives = False
    return Withdrawal(code, unit.label, way, short=len(way) == 0 or depletes, lives=lives)


def _way(unit: Any, ground: Ground, facts: dict[str, Any], wanted: Way | None) -> Way:
    """The way that was told, if it is one; else the first there is."""
    ways = ground.ways(ground.goals(), ground.through)
    if wanted is None:
        return ways[0] if ways else []
    told = wanted[1:] if wanted[:1] == [unit.label] else wanted
    if ground.is_way(told, ground.goals(), ground.through):
        return told
    if len(told) == 1 and (ending := [way for way in ways if way[-1] == told[0]]):
        # told by its last hex alone
        return ending[0]
    if not told and not ways:
        return []
    if facts["displace"]:
        nearer = ground.nearer()
        if (not told and not nearer) or ground.is_way(told, nearer, True):
            return told
    listed = ", ".join(sorted({way[-1] for way in ways})) or "nowhere"
    raise Refused("8.3", f"{unit.code} cannot retreat so; it may end in {listed}", unit.label)


def _repulse(unit: Any, facts: dict[str, Any]) -> Doing:
    """12.1: an assault that must retreat goes off the map."""
    lives = True
    if facts["depletes"]:
        lives = yield from lose_step(unit.code, "8.3", "it retreats to the sea")
    if lives:
        yield Tell(Step("12.1", unit.label, "repulsed", f"{unit.code} goes off the map"))
        yield Change({"unit": unit.code, "at": None, "status": "repulsed", "assaulting": None})
    return Withdrawal(unit.code, unit.label, [], lives=lives)


# Displacement.


def _displace(of: Rout, unit: Any, label: str, decisions: Decisions) -> Doing:
    """8.3.1: who is in the only hex gives way to a hex beside it, and may displace others in turn."""
    [first, *others] = yield from _held(of.side, label)
    places = yield from _beside(first)
    free = [row.label for row in places if not row.friends and row.label != unit.label]
    options = [{first: place} for place in free] if free and not others else None
    several = bool(others) or len(free) != 1
    plan = yield from decisions.plan(
        "displace", of.side, "the hex that each displaced unit goes to", "{unit: hex}", options, several
    )
    moved: set[str] = set()
    for code in (first, *others):
        yield from _give_way(of, code, dict(plan), moved, {unit.label, label})
    if strangers := [code for code in plan if code not in moved]:
        raise Refused("8.3.1", f"{strangers[0]} is not displaced")


def _held(side: str, label: str) -> Doing:
    rows = yield Ask(
        "select unit.code from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " where unit.position_id = :position and unit.side = :side and hex.label = :label order by unit.code",
        proves=False, side=side, label=label,
    )  # fmt: skip
    return [row.code for row in rows]


def _beside(code: str) -> Doing:
    return (yield Ask(BESIDE, proves=False, unit=code))


def _give_way(of: Rout, code: str, plan: dict[str, str], moved: set[str], barred: set[str]) -> Doing:
    """One unit steps aside; whoever is where it goes, steps aside first."""
    unit = yield from counter(code)
    moved.add(code)
    if code not in plan:
        plan |= yield from _chain(code, moved, barred)
    goal = plan.get(code, "")
    places = {row.label: row for row in (yield from _beside(code)) if row.label not in barred}
    if goal not in places:
        raise Refused("8.3.1", f"{code} cannot be displaced to {goal or 'any hex'}", unit.label)
    for friend in places[goal].friends:
        if friend in moved:
            raise Refused("8.3.1", f"{code} would stack with {friend}", goal)
        yield from _give_way(of, friend, plan, moved, barred | {unit.label})
    yield Tell(Step("8.3.1", goal, "displaced", f"{code} gives way"))
    yield Change({"unit": code, "at": goal})
    yield Change({"unit": code, "displaced": True}, kept=True)
    yield from enter(of.side, [goal])
    yield from leave(unit)


def _chain(code: str, moved: set[str], barred: set[str]) -> Doing:
    """The shortest chain of displacements that ends in a free hex: who goes where; empty where there is none."""
    waiting: list[tuple[str, dict[str, str]]] = [(code, {})]
    met = {code} | moved
    while waiting:
        last, chain = waiting.pop(0)
        for row in (yield from _beside(last)):
            if row.label in barred or row.label in chain.values():
                continue
            if not row.friends:
                return {**chain, last: row.label}
            if len(row.friends) == 1 and row.friends[0] not in met:
                met.add(row.friends[0])
                waiting.append((row.friends[0], {**chain, last: row.label}))
    return {}


# Advance.


@dataclasses.dataclass(frozen=True)
class Pursuit:
    """Who may advance after a retreat, and along which hexes."""

    units: Sequence[str]
    side: str
    hex: str
    withdrawals: Sequence[Withdrawal]


def advance(of: Pursuit, decisions: Decisions) -> Doing:
    """8.5: attackers go along the path of retreat, one to a hex."""
    if any(one.stood for one in of.withdrawals):
        yield Tell(Step("8.4", of.hex, "no advance", "stiff resistance keeps the hex"))
        return
    paths = []
    for one in of.withdrawals:
        paths.append((yield from _path(one)))
    open_paths = []
    for path in paths:
        open_paths.append((yield from _vacant(path, of.side)))
    goals = sorted({label for path, held in open_paths for label in path if label not in held})
    able = []
    for code in of.units:
        unit = yield from counter(code)
        if unit.label is not None and unit.label != of.hex:
            able.append(code)
    if not goals or not able:
        return
    options = list(itertools.islice(_advances(able, goals), MOST_OPTIONS + 1))
    plan: dict[str, str] = yield from decisions.plan(
        "advance",
        of.side,
        "attackers that advance, each to a hex of the path of retreat",
        "{unit: hex}",
        options,
        True,
    )
    for code, goal in plan.items():
        if code not in able:
            raise Refused("8.5", f"{code} may not advance", of.hex)
        if goal not in goals:
            raise Refused("8.5", f"{goal} is not on the path of retreat, which is {', '.join(goals)}", of.hex)
    if len(set(plan.values())) < len(plan):
        raise Refused("8.5", "no more than one unit ends its advance in a hex", of.hex)
    for code in (code for code in of.units if code in plan):
        path = next(path for path, _ in open_paths if plan[code] in path)
        entered = path[: path.index(plan[code]) + 1]
        unit = yield from counter(code)
        yield Tell(Step("8.5", plan[code], "advances", f"{code} advances"))
        yield Change({"unit": code, "at": plan[code]})
        yield Change({"unit": code, "advanced": True}, kept=True)
        yield from enter(of.side, entered)
        yield from leave(unit)


def _advances(units: Sequence[str], goals: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every way in which units can advance, one to a hex; nobody first."""
    for number in range(min(len(units), len(goals)) + 1):
        for going in itertools.combinations(units, number):
            for places in itertools.permutations(goals, number):
                yield dict(zip(going, places, strict=True))


def _path(one: Withdrawal) -> Doing:
    """The path of retreat: the combat hex and what was passed, not the hex where it ended (fpb-17, fpb-18)."""
    if not one.way and one.lives:
        return []
    if not one.way:
        allowed = (yield from reading("fpb-18")) == "b"
        effect = "advance" if allowed else "no advance"
        yield Tell(
            Step("8.5", one.start, effect, f"{one.unit} had no retreat and left no path"), points=("fpb-18",)
        )
        return [one.start] if allowed else []
    path = [one.start, *one.way[:-1]]
    if not one.short:
        return path
    whole = (yield from reading("fpb-17")) == "a"
    yield Tell(
        Step("8.5", one.start, "path" if whole else "last hex", f"the retreat of {one.unit} was cut short"),
        points=("fpb-17",),
    )
    return path if whole else [one.way[-1]]


def _vacant(path: Way, side: str) -> Doing:
    """A path up to the first enemy in it, and the hexes of it that friends hold."""
    rows = yield Ask(
        "select hex.label, unit.side from unit"
        " join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " where unit.position_id = :position and hex.label = any(:labels)",
        proves=False, labels=list(path),
    )  # fmt: skip
    enemies = {row.label for row in rows if row.side != side}
    held = {row.label for row in rows if row.side == side}
    free: Way = []
    for label in path:
        if label in enemies:
            break
        free.append(label)
    return free, held
