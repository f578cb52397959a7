"""Fire of Japanese positions (6.3): who is hit in which order, what a hit does, and the hits of a whole card (6.34).

Eligibility and order are SQL (`ddp.fire`); the hits of several positions are assigned by `matching`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from app.play import charts
from app.play.ddp import cards, losses
from app.play.ddp.acting import forgiving
from app.play.ddp.deciding import Deciding, Names
from app.play.ddp.matching import Assignment, Shooter
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind, proof
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, series

FIRE = "select * from ddp.fire(:position, :place, :symbol, :star, :armor, :machine_guns, :again, :conditions, :policy)"
PLACE = (
    "select site.place, site.color, bool_or(holder.tank and not holder.stance) as tank,"
    " bool_or(not holder.disrupted and not holder.stance) as awake,"
    " positions.readings(:position, :policy) as readings, cast(:conditions as jsonb) as conditions"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._spots(state.map_id) as site"
    " left join lateral ddp._occupants(state) as holder on holder.label = site.label"
    " where site.place = ddp._asked_place(:position, :name) group by site.place, site.color"
)
ARRIVES_AFTER = 2
"""10.4: turns that a regimental HQ that was hit is away."""


class Fire(Action):
    """Which position fires, by which card."""

    position: str = Field(description="A Japanese position: its key, the ID or the label of one of its hexes")
    manner: Literal["machine_guns"] | None = Field(
        None, alias="with", description="Whether it fires with machine guns"
    )


@dataclasses.dataclass(frozen=True)
class Volley:
    """How a position fires: where, with which marks of its colour, and in what manner."""

    place: str
    symbol: str | None
    star: bool = False
    armor: bool = False
    machine_guns: bool = False
    again: bool = False
    """13.2 M: a second fire of a tank, apart from the first."""

    def marks(self) -> dict[str, bool]:
        return {"star": self.star, "armor": self.armor, "machine_guns": self.machine_guns}


def fire(of: Fire) -> Procedure:
    """6.3: one position fires by a fire card, as if no other did."""
    return forgiving(of, _fire(of))


def _fire(of: Fire) -> Procedure:
    [place] = yield Ask(PLACE, proves=False, name=of.position)
    card = yield from cards.fire(f"the fire of {place.place}")
    color = card.color(place.color)
    nothing: dict[str, Any] = {
        "limit": 0, "eligible": {}, "hits": [], "disrupted": [], "result": "no_hit",
    }  # fmt: skip
    if color is None:
        raise Refused("6.1", f"{place.color} is not on the card", place.place, **nothing)
    if not place.awake:
        raise Refused("6.4", "no undisrupted Japanese unit is there to fire", place.place, **nothing)
    armor = yield from armor_bonus(color, place)
    volley = Volley(place.place, card.symbol, color.star, armor, of.manner == "machine_guns")
    told = yield from volleyed(volley, (), Names(), of, tells=True)
    yield Tell(**told, result=" ".join(told["hits"]) or "no_hit")


def armor_bonus(color: cards.Color, place: Any) -> Deciding:
    """6.36: by the card; a tank's default fire has it always (ddp-14)."""
    if color.armor or not place.tank:
        return color.armor
    always = place.readings["ddp-14"] == "a"
    note = "a tank fires with the armor bonus" if always else "a tank has the armor bonus by the card alone"
    yield Tell(Step("13.2", place.place, "armor bonus" if always else "no bonus", note), points=("ddp-14",))
    return always


def volleyed(
    volley: Volley,
    later: Sequence[Mapping[str, Any]],
    names: Names,
    of: Action,
    *,
    rows: Sequence[Any] = (),
    tells: bool = False,
) -> Deciding:
    """Fire of one position with those that will fire after it: limit, column, eligible, hits, disrupted.

    `rows` is the ledger of its fire where it has been asked for; `later` the last rows of the others' ledgers.
    """
    if rows:
        yield proof(rows)
    else:
        rows = yield Ask(FIRE, place=volley.place, symbol=volley.symbol, again=volley.again, **volley.marks())
    facts = rows[-1].facts
    if not facts["allowed"]:
        return {"limit": 0, "column": None, "eligible": {}, "hits": [], "disrupted": []}
    told = {key: facts[key] for key in ("limit", "column")} | {"eligible": _eligible(facts["targets"])}
    if tells:
        yield Tell(**told)
    others = yield from _others(volley, later, facts)
    hits = yield from assigned(facts, others, names)
    if tells:
        yield Tell(hits=[target["unit"] for target in hits])
    for garrison in facts["garrisons"]:
        yield Change({"unit": garrison["unit"], "eliminated": True})
        yield Tell(
            Step(
                "14.41",
                garrison["label"],
                "removed",
                f"the garrison {garrison['unit']} stands alone under fire",
            )
        )
    disrupted = yield from _apply(volley, facts, hits, names, of)
    shaken = yield from _shaken(facts, hits, names)
    disrupted = None if disrupted is None else [*disrupted, *shaken]
    return told | {"hits": [target["unit"] for target in hits], "disrupted": disrupted}


def _eligible(targets: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Each unit with how it may be hit; a hero as a leader where his unit is no target itself."""
    told: dict[str, str] = {}
    for target in targets:
        told.setdefault(target["unit"], target["category"])
    return told


def _others(volley: Volley, later: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]) -> Deciding:
    """6.34: what those who fire after this one may hit; ddp-46 b: everybody looks at themselves alone."""
    found = [_shooter(one) for one in later]
    shared = any(one.targets & _shooter(facts).targets for one in found)
    if not shared:
        return []
    yield Tell(points=("ddp-46",))
    if facts["spread"] == "b":
        yield Tell(Step("6.34", volley.place, "by itself", "each position follows its own priorities"))
        return []
    yield Tell(
        Step(
            "6.34",
            volley.place,
            "most units",
            "hits are spread so that the card hits as many units as it can",
        )
    )
    return found


def _shooter(facts: Mapping[str, Any]) -> Shooter:
    """10.41: leaders take what is left over, and are not counted among the units that must be hit."""
    ordinary = [target["unit"] for target in facts["targets"] if target["category"] != "leader"]
    return Shooter(facts["limit"], frozenset(ordinary))


def assigned(facts: Mapping[str, Any], others: Sequence[Shooter], names: Names) -> Deciding:
    """The targets that are hit, in order: ordinary units by rank, then leaders."""
    assignment = Assignment(_shooter(facts), others)
    hits: list[Mapping[str, Any]] = []
    spared = 0
    for _, group in itertools.groupby(facts["targets"], key=lambda target: target["rank"]):
        tied = {_key(target): target for target in group}
        if next(iter(tied.values()))["category"] == "leader":
            left = facts["limit"] - len(hits) - spared
            ways = list(itertools.combinations(tied, max(0, min(left, len(tied)))))
        else:
            ways = assignment.ways(list(tied))
        chosen = yield from names.pick("hit", f"which units {facts['place']} hits", ways)
        if next(iter(tied.values()))["category"] != "leader":
            assignment.take(chosen)
            spared += _spared(len(tied) - len(chosen), facts["limit"] - len(hits) - spared - len(chosen))
        hits += [tied[key] for key in chosen]
        for key, target in tied.items():
            if key not in chosen:
                yield Tell(_passed_over(facts, target))
    return hits


def _spared(passed: int, left: int) -> int:
    """10.41: units left to other positions use up the limit before any leader."""
    return max(0, min(passed, left))


def _key(target: Mapping[str, Any]) -> str:
    return f"{target['unit']} (hero)" if target["hero"] else str(target["unit"])


def _passed_over(facts: Mapping[str, Any], target: Mapping[str, Any]) -> Step:
    leader = target["category"] == "leader"
    why = "the limit is used up by others" if leader else "others come first, or another position hits it"
    return Step("10.41" if leader else "6.34", target["label"], "passed over", f"{_key(target)}: {why}")


def _apply(
    volley: Volley, facts: Mapping[str, Any], hits: Sequence[Mapping[str, Any]], names: Names, of: Action
) -> Deciding:
    """What hits do; the units disrupted, or None where the chart does not tell."""
    disrupted: list[str] = []
    untold = False
    for target in hits:
        code = target["unit"]
        yield Tell(
            Step("6.31", target["label"], "hit", f"{volley.place} hits {_key(target)}: {target['dot']}")
        )
        if target["hero"]:
            yield from fall_of_hero(code)
            continue
        unit = losses.Counter(code, target["label"], **target["counter"])
        left = yield from lose_by_fire(code, names, "6.32", unit=unit)
        if left in ("eliminated", "gone"):
            continue
        disrupts = target["disrupts"]
        if disrupts is None:
            row = f"{target['dot']}/{facts['column']}"
            told = yield from charts.cell(of, "japanese_fire_chart", row, "disrupted", rule="6.3")
            disrupts = None if told is None else _is_true(told)
        untold = untold or disrupts is None
        if disrupts and (yield from losses.disrupt(code, "6.33", "hit by fire", unit=unit)):
            disrupted.append(code)
    return None if untold else disrupted


def _shaken(facts: Mapping[str, Any], hits: Sequence[Mapping[str, Any]], names: Names) -> Deciding:
    """6.33, 6.34: hits that are left over take no second step of a unit, but disrupt it."""
    disrupted: list[str] = []
    for _, group in itertools.groupby(facts["shaken"], key=lambda one: one["rank"]):
        tied = [one["unit"] for one in group]
        room = max(0, min(facts["limit"] - len(hits) - len(disrupted), len(tied)))
        ways = list(itertools.combinations(tied, room))
        for code in (yield from names.pick("disrupted", f"whom {facts['place']} disrupts", ways)):
            if (yield from losses.disrupt(code, "6.33", "hit again, without a second step lost")):
                disrupted.append(code)
    return disrupted


def _is_true(told: Any) -> bool:
    return told is True or "disrupted" in str(told) or str(told).lower() in ("true", "yes")


def lose_by_fire(code: str, names: Names, rule: str, *, unit: Any = None) -> Deciding:
    """A step by Japanese fire, kept for the limit of the phase; leaders have their own fate (10.4, 14.33)."""
    if unit is None:
        [unit] = yield Ask(losses.UNIT, proves=False, code=code)
    if unit.kind == "regimental_hq":
        yield from _hq_hit(unit)
        return "gone"
    if unit.kind == "command_post":
        yield Change({"unit": code, "kind": "regimental_hq", "command_range": None, "range_box": None})
        yield Tell(
            Step(
                "14.33",
                unit.label,
                "reverts",
                f"{code} is a regimental HQ again, its range marker off the track",
            )
        )
        return "reverted"
    if unit.kind == "hero":
        yield Change({"unit": code, "eliminated": True})
        yield Tell(Step("10.4", unit.label, "killed", f"{code} falls"))
        return "gone"
    left = yield from losses.lose_step(code, rule, "hit by fire", choice=names, unit=unit)
    if left != "eliminated":
        yield Change({"unit": code, "stepped": True}, kept=True)
    return left


def _hq_hit(unit: Any) -> Deciding:
    """10.4: off the map, two turns ahead on the Turn Track."""
    turn = (yield from losses.conditions()).get("turn")
    back = {} if turn is None else {"arrives": turn + ARRIVES_AFTER}
    yield Change({"unit": unit.code, "at": None, **back})
    needs = [] if back else [Need("the turn", "10.4")]
    when = f"until turn {turn + ARRIVES_AFTER}" if back else "for two turns"
    yield Tell(Step("10.4", unit.label, "removed", f"{unit.code} leaves the map {when}"), needs=needs)


def fall_of_hero(code: str) -> Deciding:
    """10.16: a hero that is killed leaves his unit inspired."""
    yield Change({"unit": code, "hero": False, "inspired": True})
    yield Tell(Step("10.16", None, "inspired", f"the hero of {code} falls, and it is inspired"))


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["fire"], ruling.answer
    what = f"Position {of['position']}"
    if answer["allowed"] is False:
        return f"{what} does not fire: {answer['why']}"
    if "disrupted" not in answer:
        return f"{what} fires when it is told {'which card' if 'limit' not in answer else 'what the player chooses'}"
    if not answer["hits"]:
        return f"{what} fires and hits nobody, of {answer['limit']} that it might"
    return clauses(
        f"{what} hits {series(answer['hits'])}",
        "whether they are disrupted the chart does not tell" if answer["disrupted"] is None else None,
        f"disrupted: {series(answer['disrupted'])}" if answer["disrupted"] else None,
    )


KINDS = [
    procedure_kind(
        fire,
        kinds=functools.partial(kinds_of, "ddp"),
        name="fire",
        title="Fire of a Japanese position",
        arguments=Fire,
        rulesets=("ddp",),
        answers={
            "limit": "how many US units it may hit",
            "column": "any_unrevealed or all_revealed: the column of the Japanese Fire Chart",
            "eligible": "the units that it may hit, each as intense, steady, machine_guns or leader",
            "hits": "the units that it hits",
            "disrupted": "those that are disrupted; null where the chart does not tell",
            "result": "the units hit, as one word for the odds",
        },
        verdict=_verdict,
        points=("ddp-4", "ddp-14", "ddp-26", "ddp-54"),
        acts=False,
        example="fire: {position: B5, cards: [{colors: [blue, red star, brown], symbol: diamond}]}",
    )
]
