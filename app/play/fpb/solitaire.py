"""How the solitaire Japanese move (16.1): to an empty beach, to the airstrip, or up to a US unit that bars both."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Generator
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from app.play.fpb.marches import Island, Leg, Price
from app.play.fpb.movement import moved
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    Undecided,
    Want,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.questions.movement import points
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import in_points, not_known
from importers.questions import Names

WITHOUT_AIRSTRIP = ("eniwetok", "parry")
"""Islands whose units go for landing beaches alone (16.1(2))."""
UNITS = (
    "select unit.code, unit.side, unit.label, unit.attributes"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral fpb._units(state) as unit where unit.q is not null order by unit.code"
)
STATE = "select conditions, readings from positions.state(:position, :conditions, :policy)"


class ForcedMove(Action):
    """Which unit."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the Japanese unit")


@dataclasses.dataclass
class March:
    """A unit that is to move, and all that its principles look at."""

    unit: str
    here: str
    halves: int | None
    mobility: str
    phase: str
    readings: dict[str, str]
    conditions: dict[str, Any]
    units: list[Any]
    island: Island

    @property
    def us(self) -> list[Any]:
        return [unit for unit in self.units if unit.side == "us"]

    def is_adjacent(self) -> bool:
        """Whether a US unit is beside it."""
        return any(self.island.apart(self.here, unit.label) == 1 for unit in self.us)

    def may_move(self, mobility: str) -> bool:
        """Whether units of a mobility move in this phase (16.1, fpb-13)."""
        if self.readings["fpb-13"] == "b":
            return self.phase == "movement"
        return (self.phase == "movement") == (mobility == "leg")


@dataclasses.dataclass(frozen=True)
class Order:
    """What a principle demands."""

    principle: int | None
    goals: tuple[str, ...] = ()
    """Hexes of which it goes to the one with the least price; none: it stays."""
    target: str | None = None
    why: str = ""
    blocked_by: tuple[str, ...] = ()


def forced_move(of: ForcedMove) -> Procedure:
    """16.1: the principles in their order."""
    march = yield from _march(of.unit)
    order = yield from _order(march)
    if not order.goals:
        yield from _stay(march, order)
        return
    if march.halves is None:
        raise Undecided(Need("counters", "5.1"), moves=None)
    yield Tell(principle=order.principle, target=order.target, why=order.why)
    path, cost = yield from _walk(march, order)
    if len(path) < 2:
        yield from _stay(march, dataclasses.replace(order, why="it has no free hex within its points"))
        return
    yield Tell(Step("16.1", path[-1], "moves", order.why), moves=True, path=path)
    yield from moved(of.unit, path[1:], march.phase)
    if order.principle == 4:
        yield Change({"unit": of.unit, "forced": True}, kept=True)
    yield Tell(cost=points(cost), ends_at=path[-1])


def _march(code: str) -> Generator[Want, Any, March]:
    """The unit, or why it is not its turn to move."""
    [now] = yield Ask(STATE, proves=False)
    units = yield Ask(UNITS, proves=False)
    unit = next((unit for unit in units if unit.code == code), None)
    if unit is None:
        raise Refused("16.1", "it is not on the map")
    if unit.side != "japan":
        raise Refused("16.1", "only Japanese units move by principle", unit.label)
    said = unit.attributes
    mobility = said.get("mobility", "leg")
    phase = now.conditions.get("phase") or ("movement" if mobility == "leg" else "mobile_movement")
    if now.conditions.get("active") == "us" or phase not in ("movement", "mobile_movement"):
        raise Refused(
            "16.1", "Japanese units move in the movement phases of their own player turn", unit.label
        )
    if now.conditions.get("mode") == "two_player":
        raise Refused("16.0", "two players move as they like", unit.label)
    if "moved" in said:
        raise Refused("5.2", "it has moved in this player turn", unit.label)
    island = yield from _island(code)
    halves = None if "movement" not in said else int(2 * Decimal(said["movement"]))
    return March(code, unit.label, halves, mobility, phase, now.readings, now.conditions, list(units), island)


def _island(code: str) -> Generator[Want, Any, Island]:
    hexes = yield Ask(
        "select * from fpb.march_hexes(:position, :unit, :conditions, :policy)", proves=False, unit=code
    )
    legs = yield Ask(
        "select * from fpb.march_legs(:position, :unit, :conditions, :policy)", proves=False, unit=code
    )
    return Island(hexes, legs)


def _order(march: March) -> Generator[Want, Any, Order]:
    """Which principle speaks, and what it demands."""
    if march.mobility == "mobile":
        yield Tell(points=("fpb-13",))
    if not march.may_move(march.mobility):
        rule = "mobile units move" if march.mobility == "mobile" else "units on foot do not move"
        return Order(
            None, why=f"{rule} in the Mobile Movement Phase" if march.mobility == "mobile" else f"{rule} now"
        )
    island, here = march.island, march.here
    open_hexes = island.reachable(here)
    beaches = [
        place.label
        for place in island.places.values()
        if place.beach and not place.enemy and place.label != here
    ]
    drawn = yield from _drawn(march, [beach for beach in beaches if beach in open_hexes])
    if drawn is not None:
        return drawn
    without = march.conditions.get("island") in WITHOUT_AIRSTRIP
    if without:
        yield Tell(points=("fpb-46",))
    strips = [] if without else [place for place in island.places.values() if place.airstrip]
    if any(strip.label == here for strip in strips):
        return Order(2, why="it holds an airstrip hex")
    wanted = [strip.label for strip in strips if not strip.friend]
    yield from _measured(march, beaches + wanted)
    if without and march.readings["fpb-46"] == "a":
        return Order(None, why="no beach draws it, and this island has no other principle")
    free = [label for label in wanted if label in open_hexes and not island.places[label].enemy]
    if free:
        return (yield from _to_airstrip(march, free))
    return (yield from _barred(march, beaches + wanted, open_hexes))


def _measured(march: March, goals: list[str]) -> Procedure:
    if goals:
        yield Tell(points=("fpb-50",))


def _drawn(march: March, beaches: list[str]) -> Generator[Want, Any, Order | None]:
    """16.1(1): an empty landing beach draws the nearest."""
    drawing = []
    for beach in beaches:
        yield Tell(points=("fpb-50",))
        nearest = yield from _nearest_units(march, beach)
        if march.unit in nearest:
            drawing.append(beach)
    if not drawing:
        return None
    prices = {beach: march.island.prices_to([beach])[march.here] for beach in drawing}
    target = min(
        drawing, key=lambda beach: (*_distance(march, beach, prices[beach]), prices[beach], -_number(beach))
    )
    yield Tell(Step("16.1", target, "draws", "a landing beach without a US unit"))
    return Order(1, (target,), target, "it goes for the empty landing beach")


def _distance(march: March, goal: str, price: Price) -> tuple[int]:
    """How far a hex is: in hexes, or in points (fpb-50)."""
    return (price[1],) if march.readings["fpb-50"] == "c" else (march.island.apart(march.here, goal),)


def _number(label: str) -> int:
    """The number of a hex; labels of several boards carry letters before it."""
    return int("".join(filter(str.isdigit, label)) or 0)


def _nearest_units(march: March, beach: str) -> Generator[Want, Any, list[str]]:
    """The Japanese units that are nearest to a beach and have a way there (16.1(1), fpb-12, fpb-50)."""
    islands = {march.mobility: march.island}
    best: list[str] = []
    least: int | None = None
    for unit in march.units:
        mobility = unit.attributes.get("mobility", "leg")
        if unit.side != "japan" or (march.readings["fpb-50"] != "b" and not march.may_move(mobility)):
            continue
        if march.island.places[unit.label].airstrip:
            yield Tell(points=("fpb-12",))
            if march.readings["fpb-12"] == "b":
                continue
        in_points_ = march.readings["fpb-50"] == "c"
        if in_points_ and unit.code != march.unit:
            island = yield from _island(unit.code)
        elif mobility not in islands:
            island = islands[mobility] = yield from _island(unit.code)
        else:
            island = islands[mobility]
        price = island.prices_to([beach]).get(unit.label)
        if price is None:
            continue
        far = price[1] if in_points_ else island.apart(unit.label, beach)
        if least is None or far < least:
            best, least = [unit.code], far
        elif far == least:
            best.append(unit.code)
    return best


def _to_airstrip(march: March, free: list[str]) -> Generator[Want, Any, Order]:
    """16.1(2): to the nearest airstrip hex without a Japanese unit; of equals the highest number."""
    if march.is_adjacent():
        yield Tell(points=("fpb-39",))
        if march.readings["fpb-39"] == "a":
            return Order(2, why="a US unit is beside it")
    prices = {label: march.island.prices_to([label])[march.here] for label in free}
    target = min(free, key=lambda label: (*_distance(march, label, prices[label]), -_number(label)))
    yield Tell(Step("16.1", target, "nearest", "an airstrip hex without a Japanese unit"))
    return Order(2, (target,), target, "it marches for the nearest airstrip hex")


def _barred(march: March, goals: list[str], open_hexes: set[str]) -> Generator[Want, Any, Order]:
    """16.1(4): where US units bar every way, it stays beside one, or goes up to the nearest."""
    ground = march.island.reachable(march.here, through_enemies=True)
    if not [goal for goal in goals if goal in ground]:
        return Order(None, why="there is nothing that it could go for")
    # a beach that is open draws somebody else
    if any(goal in open_hexes and not march.island.places[goal].enemy for goal in goals):
        return Order(None, why="another unit is nearer to the beach")
    if march.is_adjacent():
        yield Tell(Step("16.1", march.here, "stays", "US units bar every way, and one is beside it"))
        yield Tell(points=("fpb-50",))
        return Order(
            4, why="every way is barred, and a US unit is beside it", blocked_by=_blockers(march, goals)
        )
    return (yield from _up_to(march, open_hexes))


def _blockers(march: March, goals: list[str]) -> tuple[str, ...]:
    """The US units beside it that keep it from coming closer (16.2(4)); all beside it where none is on its way."""
    island = march.island
    goal = min(goals, key=lambda label: (island.apart(march.here, label), -_number(label)))
    beside = [unit for unit in march.us if island.apart(march.here, unit.label) == 1]
    closer = [unit for unit in beside if island.apart(unit.label, goal) < island.apart(march.here, goal)]
    return tuple(unit.code for unit in closer or beside)


def _up_to(march: March, open_hexes: set[str]) -> Generator[Want, Any, Order]:
    """The nearest US unit, of equals the weakest, and the free hexes beside it."""
    island = march.island
    found: list[tuple[tuple[int, ...], Any, list[str]]] = []
    for unit in march.us:
        ends = [
            label
            for label in island.beside(unit.label)
            if label in open_hexes and not island.places[label].friend
        ]
        if not ends:
            continue
        price = island.prices_to(ends)[march.here]
        strength = unit.attributes.get("defense", 0), unit.attributes.get("attack", 0)
        found.append(((*_distance(march, unit.label, price), *strength), unit, ends))
    if not found:
        return Order(4, why="every way is barred, and no US unit can be come up to")
    least = min(rank for rank, *_ in found)
    nearest = {unit.label: ends for rank, unit, ends in found if rank == least}
    target = next(iter(nearest))
    if len(nearest) > 1:
        target = yield Choose("target", "us", "which US unit it goes up to", options=sorted(nearest))
    yield Tell(Step("16.1", target, "nearest", "a US unit, where US units bar every way"))
    return Order(4, tuple(nearest[target]), target, "every way is barred: it goes up to the nearest US unit")


def _walk(march: March, order: Order) -> Generator[Want, Any, tuple[list[str], int]]:
    """The least costly way, as far as the points go; equal hexes by 16.1(3). It ends where no friend is (5.3)."""
    island, here, left = march.island, march.here, march.halves or 0
    prices = island.prices_to(order.goals, told=True)
    if prices.get(here) != island.prices_to(order.goals)[here]:
        raise _untold(order)
    path, spent = [here], [0]
    choices = 0
    while here not in order.goals:
        legs = [leg for leg in island.next_legs(here, prices) if leg.halves <= left]
        if any(not leg.told for leg in legs):
            raise _untold(order)
        if not legs:
            break
        options = _equal_hexes(march, here, legs, order)
        chosen = options[0]
        if len(options) > 1:
            choices += 1
            name = "hex" if choices == 1 else f"hex_{choices}"
            yield Tell(Step("16.1", here, "equal", "hexes that are equally eligible"))
            chosen = yield Choose(name, "us", "the hex that it enters", options=options)
        leg = next(leg for leg in legs if leg.goal == chosen)
        left -= leg.halves
        here = chosen
        path.append(here)
        spent.append(spent[-1] + leg.halves)
    while len(path) > 1 and island.places[path[-1]].friend:
        path.pop()
        spent.pop()
    return path, spent[-1]


def _untold(order: Order) -> Undecided:
    """The way, or how far it is gone, hangs on a cost that nobody has told."""
    return Undecided(Need("terrain_key", "5.4"), moves=None, principle=order.principle, target=order.target)


def _equal_hexes(march: March, here: str, legs: list[Leg], order: Order) -> list[str]:
    """16.1(3): of those that lead closer, those farther from more US units."""
    labels = sorted(leg.goal for leg in legs)
    if len(labels) == 1:
        return labels
    island, target = march.island, order.target or order.goals[0]
    closer = [label for label in labels if island.apart(label, target) < island.apart(here, target)]
    return island.farther(closer or labels, [unit.label for unit in march.us])


def _stay(march: March, order: Order) -> Procedure:
    yield Tell(
        Step("16.1", march.here, "stays", order.why),
        moves=False, principle=order.principle, target=order.target, path=[march.here], cost=0,
        ends_at=march.here, why=order.why,
    )  # fmt: skip
    if order.blocked_by:
        yield Tell(blocked_by=list(order.blocked_by))
        yield Change({"unit": march.unit, "blocked_by": list(order.blocked_by)}, kept=True)


def _verdict(ruling: Ruling) -> str:
    unit, answer = ruling.question["forced_move"]["unit"], ruling.answer
    if answer["allowed"] is None:
        return not_known(f"{unit} moves", ruling)
    if not answer["allowed"]:
        return f"{unit} does not move by principle: {answer['why']}"
    if "pending" in answer and "moves" not in answer:
        return f"{unit} moves, and the US player chooses how"
    if not answer["moves"]:
        return f"{unit} stays: {answer['why']}"
    return f"{unit} moves to {answer['ends_at']} for {in_points(answer['cost'])}: {answer['why']}"


KINDS = [
    procedure_kind(
        forced_move,
        kinds=functools.partial(kinds_of, "fpb"),
        name="forced_move",
        title="A solitaire Japanese move",
        arguments=ForcedMove,
        rulesets=("fpb",),
        answers={
            "moves": "whether it moves; null where a cost that nobody has told decides",
            "principle": "the principle of 16.1 that speaks: 1, 2 or 4; null where none does",
            "target": "the hex that it goes for, or of the US unit that it goes up to",
            "path": "the way, from the hex where it stands",
            "cost": "points that it spends",
            "left": "points that it has left",
            "ends_at": "the hex in which it ends",
            "blocked_by": "where it stays because US units bar every way: those that do",
        },
        verdict=_verdict,
        points=("fpb-3", "fpb-4", "fpb-12", "fpb-13", "fpb-28", "fpb-37", "fpb-39", "fpb-46", "fpb-50"),
        example="forced_move: {unit: 1/38}",
        draws="path",
        names_units=("blocked_by",),
    ),
]
