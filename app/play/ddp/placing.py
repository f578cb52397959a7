"""Depth markers and reserve units of the Japanese (9.2-9.4): drawn blind out of pools that never refill, placed by priorities."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from app.play.ddp.deciding import Deciding, Names
from app.play.procedures import Action, Ask, Change, Draw, Procedure, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import series
from importers.questions import Names as Named

PLACEMENT = "select * from ddp.placement(:position, :manner, :origin, :linked, :conditions, :policy)"
POOL = (
    "select position.tracks -> 'japan' as japan,"
    " (select count(*) from unit where unit.position_id = position.id and unit.side = 'japan') as units,"
    " array(select unit.code from unit where unit.position_id = position.id and unit.q is null) as waiting,"
    " cast(:conditions as jsonb) as conditions from position where position.id = :position"
)
Manner = Literal["depth", "reinforcement", "tactical", "infiltration_event", "fortification"]


@dataclasses.dataclass(frozen=True)
class Blind(Draw):
    """A counter out of a pool; what is told of it may be less than it says."""

    def mistake(self, value: Any) -> str | None:
        if self.pool is None:
            return (
                None if isinstance(value, Mapping | str) else f"a {self.source} counter is told as a mapping"
            )
        return None if self.found(value) is not None else super().mistake(value)

    def found(self, value: Any) -> int | None:
        """Where in the pool the counter lies that is meant."""
        said = value if isinstance(value, Mapping) else {"id": value}
        for n, one in enumerate(self.pool or ()):
            lying = one if isinstance(one, Mapping) else {"id": one}
            if all(lying.get(key) == told for key, told in said.items()):
                return n
        return None


class Hand:
    """The counters that were typed for one procedure, and the pools that they come from."""

    def __init__(self, of: Action | None = None) -> None:
        self._typed = len(of.draws) if of is not None else 0
        self.names = Names()

    def counter(self, source: str, pool: Any, purpose: str) -> Deciding:
        """A counter drawn from a pool, and the pool without it; face down nothing is asked that nobody must know."""
        if isinstance(pool, list):
            want = Blind(source, purpose, tuple(pool))
            value = pool[0] if len(pool) == 1 and not self._typed else (yield from self.draw(want))
            nth = want.found(value)
            assert nth is not None
            return pool[nth], [one for n, one in enumerate(pool) if n != nth]
        value = (yield from self.draw(Blind(source, purpose))) if self._typed else {}
        return value, None if pool is None else pool - 1

    def shown(self, source: str, pool: Any, purpose: str) -> Deciding:
        """A counter that is turned up at once: what it says must be told."""
        if isinstance(pool, list):
            return (yield from self.counter(source, pool, purpose))
        value = yield from self.draw(Blind(source, purpose))
        return value, None if pool is None else pool - 1

    def draw(self, want: Draw) -> Deciding:
        """A counter that must be told."""
        value = yield want
        self._typed -= 1
        return value


def pool(name: str) -> Deciding:
    """What lies in a pool of the Japanese: a number, a list, or None where nobody told."""
    [row] = yield Ask(POOL, proves=False)
    return (row.japan or {}).get(name)


def waiting() -> Deciding:
    """Ids of the units off the map; a pool may name others, of whom nothing is told."""
    [row] = yield Ask(POOL, proves=False)
    return row.waiting


def is_empty(held: Any) -> bool:
    return bool(held == 0 or held == [])


def left(name: str, now: Any) -> Deciding:
    """What a pool holds now, where that is told."""
    if now is not None:
        yield Change({"side": "japan", name: now})


def draw_depth(hand: Hand, purpose: str) -> Deciding:
    """9.21, 9.23: a depth marker, face down; None where the pool is empty."""
    held = yield from pool("depth")
    if is_empty(held):
        yield Tell(Step("9.23", None, "none", "no depth marker is left"))
        return None
    value, now = yield from hand.counter("depth", held, purpose)
    yield from left("depth", now)
    return {**{key: told for key, told in value.items() if told not in (None, [], False)}, "revealed": False}


def give_depth(unit: str, at: str | None, rule: str, hand: Hand) -> Deciding:
    """A depth marker beneath a unit; whether there was one."""
    depth = yield from draw_depth(hand, f"depth beneath {unit}")
    if depth is None:
        return False
    if unit == "fortification":
        yield from _beneath_fortification(at, depth)
    else:
        yield Change({"unit": unit, "depth": depth})
    yield Tell(Step(rule, at, "depth", f"a depth marker beneath {unit}"))
    return True


def _beneath_fortification(at: str | None, depth: dict[str, Any]) -> Deciding:
    """18.31: a fortification alone holds depth."""
    rows = yield Ask(
        "select marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
        " where marker.position_id = :position and marker.kind = 'fortification' and hex.label = :at",
        proves=False,
        at=at,
    )
    said = rows[0].attributes if rows else {}
    yield Change(
        {"marker": "fortification", "at": at, **said, "removed": True},
        {"marker": "fortification", "at": at, **said, "depth": depth},
    )


def place_reserve(at: str, rule: str, hand: Hand, *, depth: bool, revealed: bool = False) -> Deciding:
    """9.3: a reserve unit in a position hex, with a depth marker or without; its id, None where there is none."""
    [row] = yield Ask(POOL, proves=False)
    held = (row.japan or {}).get("reserve")
    if is_empty(held):
        yield Tell(Step("9.33", at, "none", "no reserve unit is left"))
        return None
    drawing = hand.shown if revealed else hand.counter
    value, now = yield from drawing("reserve", held, f"a reserve unit for {at}")
    unit, said = _reserve_counter(value, row)
    face = {"revealed": True} if revealed else {}
    yield Change({"unit": unit, **said, "at": at, **face})
    yield from left("reserve", now)
    yield Tell(Step(rule, at, "placed", f"a reserve unit, {'face up' if revealed else 'face down'}"))
    if depth:
        yield from give_depth(unit, at, rule, hand)
    return unit


def _reserve_counter(value: Any, row: Any) -> tuple[str, dict[str, Any]]:
    """The id of a unit out of the reserve, and what it says beyond what is known of it; one nobody has described is new."""
    if isinstance(value, str):
        return value, {} if value in row.waiting else {"side": "japan"}
    said = dict(value)
    given = said.pop("id", None)
    known = {key: told for key, told in said.items() if told not in (None, [], False)}
    return given or f"reserve {row.units + 1}", {"side": "japan", **known}


class Placement(Action):
    """What is placed, how often, and from where."""

    of: Manner = Field(description="depth, reinforcement, tactical, infiltration_event or fortification")
    origin: Annotated[str | None, Named(("hex", "unit"))] = Field(
        None, alias="from", description="tactical: the hex whose depth marker was revealed"
    )
    count: int = Field(1, ge=1, le=10, description="How many are placed, one after the other")

    @model_validator(mode="after")
    def near_what(self) -> Self:
        if self.of == "tactical" and self.origin is None:
            raise ValueError("a tactical reinforcement needs from: the hex of its depth marker (9.4)")
        return self


def placement(of: Placement) -> Procedure:
    """9.2-9.4: each where the priorities say, the next with what the one before it has changed."""
    hand = Hand(of)
    placed: list[str] = []
    depths: list[bool] = []
    first: dict[str, Any] | None = None
    for _ in range(of.count):
        found = yield from place_one(of.of, of.origin, hand, tells=first is None)
        first = first or found
        if found["hex"] is None:
            break
        placed.append(found["hex"])
        depths.append(found["with_depth"])
    assert first is not None
    yield Tell(
        hex=first["hex"],
        position=first["position"],
        candidates=first["candidates"],
        placed=placed,
        with_depth=bool(depths) and all(depths),
    )


def place_one(
    manner: Manner,
    origin: str | None,
    hand: Hand,
    *,
    revealed: bool = False,
    linked: Sequence[str] | None = None,
    tells: bool = False,
) -> Deciding:
    """One placement by its priorities: hex, position, candidates in order, with_depth; told ahead if it is all there is."""
    rows = yield Ask(PLACEMENT, manner=manner, origin=origin, linked=None if linked is None else list(linked))
    candidates = rows[-1].facts["candidates"]
    told: dict[str, Any] = {"hex": None, "position": None, "with_depth": False, "unit": None}
    told["candidates"] = [one["label"] for one in candidates]
    if not candidates:
        return told
    chosen = yield from first_of(candidates, hand.names, "to", "where it is placed")
    at = chosen["label"]
    if tells:
        yield Tell(hex=at, position=chosen["place"], candidates=told["candidates"])
    match manner:
        case "depth":
            done = yield from give_depth(chosen["unit"], at, "9.2", hand)
            told |= {"with_depth": done, "unit": chosen["unit"]} if done else {}
        case "fortification":
            yield Change({"marker": "fortification", "at": at})
            done = True
        case _:
            rule = {"reinforcement": "9.3", "tactical": "9.4"}.get(manner, "4.0")
            unit = yield from place_reserve(
                at, rule, hand, depth=manner == "reinforcement", revealed=revealed
            )
            told["unit"], done = unit, unit is not None
            told["with_depth"] = done and manner == "reinforcement" and (yield from _has_depth(unit))
    return told | ({"hex": at, "position": chosen["place"]} if done else {})


def _has_depth(unit: str | None) -> Deciding:
    [row] = yield Ask(
        "select attributes ? 'depth' as depth from unit where position_id = :position and code = :unit",
        proves=False,
        unit=unit,
    )
    return row.depth


def first_of(ranked: Sequence[Mapping[str, Any]], names: Names, choice: str, purpose: str) -> Deciding:
    """The first of what is ranked; of several of the first rank the player's choice."""
    _, group = next(itertools.groupby(ranked, key=lambda one: one["rank"]))
    tied = {str(one.get("label") or one.get("unit")): one for one in group}
    return tied[(yield from names.one(choice, purpose, list(tied)))]


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["placement"], ruling.answer
    what = {
        "depth": "A depth marker", "reinforcement": "A reinforcement", "tactical": "A tactical reinforcement",
        "infiltration_event": "An infiltrating unit", "fortification": "A fortification",
    }[of["of"]]  # fmt: skip
    if "placed" not in answer:
        return f"{what} waits for a draw or a choice"
    if not answer["placed"]:
        return f"{what} is not placed: no position qualifies, or none is left"
    return f"{what} is placed in {series(answer['placed'])}"


KINDS = [
    procedure_kind(
        placement,
        kinds=functools.partial(kinds_of, "ddp"),
        name="placement",
        title="Placing Japanese depth, reserves and fortifications",
        arguments=Placement,
        rulesets=("ddp",),
        answers={
            "hex": "the hex of the first one placed; null where there is none",
            "position": "its position",
            "placed": "the hexes of all that are placed",
            "candidates": "the hexes that come into question for the first, in order",
            "with_depth": "whether depth markers were placed",
        },
        verdict=_verdict,
        points=("ddp-16",),
        acts=False,
        example="placement: {of: depth, count: 2}",
    )
]
