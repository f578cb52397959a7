"""`legal`: what may be done now in D-Day at Peleliu, by whom, at what and for how much.

Of one unit its actions are told with their targets; of a side every offer can be entered as it is. What only a
procedure can judge is tried in it, up to its first card.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ddp.acting import ACTING
from app.play.procedures import Given, Outcome, ProcedureKind, tried
from app.play.sequence import END_PHASE, state_of, walk_of
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, Step
from app.referee.words import counted
from importers.questions import Names

Offer = dict[str, Any]
COMPULSORY = ("landing", "land", "arrivals", "event", "fire_phase", "setup", "reorganize")
"""What must be done before its phase ends."""
FOOT = ("infantry", "heavy_infantry", "infantry_hq", "engineer")
IDLE = ("garrison", "command_post", "hero")
UNITS = (
    "select unit.* from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._us_units(state) as unit order by unit.code"
)
ENEMIES = (
    "select distinct on (held.label) held.label, held.q, held.r, held.revealed"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._occupants(state) as held order by held.label, held.revealed desc"
)
BOXES = "select box.* from position cross join lateral ddp._boxes(position.map_id) as box where position.id = :position"
SPOTS = (
    "select spot.label from position cross join lateral ddp._spots(position.map_id) as spot"
    " where position.id = :position and not spot.provisional order by spot.label"
)
DUE = (
    "select code from unit where position_id = :position and side = 'us' and q is null and not attributes ? 'box'"
    " and (attributes ->> 'arrives')::integer = :turn"
)
FREE = "select facts from ddp.free_action(:position, :unit, :conditions, :policy)"
MARKERS = ("naval_fire", "dauntless")
BATTALION = re.compile(r"\d+/\d+$")
"""18.37: the last two numbers of a designation."""


class Legal(Arguments):
    """For whom; without both, for whoever acts now."""

    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The id of a US unit")
    side: Literal["us", "japan"] | None = Field(None, description="A side")


def _legal(asked: Asked, of: Legal) -> Finding:
    walk, state = walk_of("ddp"), state_of(asked)
    leaf = walk.leaf(state)
    now = leaf.phase if leaf is not None else None
    table = _Table(asked)
    steps = [Step(now.rule if now else "3.0", None, "phase", now.title if now else "Set-up")]
    if of.unit is not None:
        names = walk.actions(state) if now is not None else ("move", "enter", "attack", "barrage", "recover")
        return Finding({"actions": table.of_unit(of.unit, names)}, steps)
    if of.side == "japan" and now is not None and now.who == "us":
        return Finding({"actions": []}, [*steps, Step("4.0", None, "waits", "it is the US side's phase")])
    offers = [offer for name in walk.actions(state) for offer in table.offers(name)]
    if not any(offer["action"] in COMPULSORY for offer in offers) and not table.bound():
        offers.append({"action": END_PHASE.name, "arguments": {}})
    return Finding({"actions": offers}, steps)


def drawn(asked: Asked, dice: random.Random) -> Offer | None:
    """One of the actions that may be taken now, each kind as likely as any other; None where there is none."""
    table = _Table(asked, dice)
    names = list(walk_of("ddp").actions(state_of(asked)))
    dice.shuffle(names)
    # what must be done comes before the end of the phase
    names.sort(key=lambda name: name == END_PHASE.name)
    wanted = [name for name in names if name in COMPULSORY]
    for name in wanted or names:
        if name != END_PHASE.name and (offer := next(table.offers(name), None)) is not None:
            # a phase ends at some time, though much could still be done in it
            if name not in COMPULSORY and not table.bound() and dice.random() < table.haste:
                break
            return offer
    if table.bound():
        return next(table.offers("close_combat"), None)
    return {"action": END_PHASE.name, "arguments": {}}


class _Table:
    """A position, and what may be done on it."""

    haste = 0.12
    """How often random play ends a phase before it must."""

    def __init__(self, asked: Asked, dice: random.Random | None = None) -> None:
        self.asked, self.dice = asked, dice
        self.units = asked.rows(UNITS)
        self.enemies = asked.rows(ENEMIES)
        self.conditions = asked.conditions
        self._costs: dict[str, int | None] = {}

    def mixed(self) -> list[str]:
        """Hexes in which both sides stand."""
        ours = {unit.label for unit in self.units if unit.kind != "garrison"}
        return sorted(ours & {enemy.label for enemy in self.enemies})

    def bound(self) -> bool:
        """8.6: whether the Action Phase cannot end yet."""
        return self.conditions.get("phase") == "us_action" and bool(self.mixed())

    def any_order(self, things: Iterable[Any]) -> list[Any]:
        listed = list(things)
        if self.dice is not None:
            self.dice.shuffle(listed)
        return listed

    def offers(self, name: str, *, untold: bool = False) -> Iterator[Offer]:
        """The offers of an action, each with what it costs; `untold`: also what only a chart would settle."""
        from app.play.actions import actions_of

        kind, make = actions_of("ddp").get(name), getattr(self, f"_{name}", None)
        if kind is None or make is None:
            return
        for arguments in make():
            outcome = self._tried(kind, arguments)
            if outcome.allowed or (untold and outcome.allowed is None):
                yield {"action": name, "arguments": arguments, **_price(outcome)}

    def _tried(self, kind: ProcedureKind, arguments: dict[str, Any]) -> Outcome:
        of = kind.arguments.model_validate(arguments)
        return tried(self.asked, lambda: kind.begin(of), Given(), functools.partial(kinds_of, "ddp"))  # type: ignore[arg-type]

    def of_unit(self, code: str, names: Iterable[str]) -> list[Offer]:
        """The actions of one unit, each with all its targets and its cost."""
        self.units = [unit for unit in self.units if unit.code == code]
        found: dict[tuple[str, ...], Offer] = {}
        for name in names:
            for offer in self.offers(name, untold=True) if self.units else ():
                target = _target(offer)
                manner = {key: value for key, value in offer["arguments"].items() if key == "as"}
                told = found.setdefault(
                    (name, *manner.values()),
                    {"action": name, **manner, "targets": [], "cost": offer.get("cost", "free")},
                )
                told["targets"] += [target] if target is not None and target not in told["targets"] else []
                if offer.get("under_fire") and target is not None:
                    told.setdefault("under_fire", []).append(target)
        return list(found.values())

    # Candidates.

    def _setup(self) -> Iterator[dict[str, Any]]:
        """3.0: once, before any Japanese unit is on the map."""
        if not self.enemies:
            yield {}

    def _landing(self) -> Iterator[dict[str, Any]]:
        """5.0: from north to south, the first box that has not been checked."""
        for box in self.asked.rows(BOXES):
            waiting = self._waiting(box.code)
            if any(not (unit.checked or unit.drifted or unit.acted) for unit in waiting):
                yield {"box": box.code}
                return

    def _land(self) -> Iterator[dict[str, Any]]:
        if next(self._landing(), None) is not None:
            return
        for box in self.asked.rows(BOXES):
            if any(not unit.acted for unit in self._waiting(box.code)):
                yield {"box": box.code}

    def _arrivals(self) -> Iterator[dict[str, Any]]:
        turn = self.conditions.get("turn") or 1
        first = turn > 1 and (next(self._landing(), None) or next(self._land(), None)) is not None
        if not first and self.asked.rows(DUE, turn=turn + 1):
            yield {}

    def _waiting(self, box: str) -> list[Any]:
        return self.asked.rows("select * from ddp._in_box(:position, :box)", box=box)

    def _event(self) -> Iterator[dict[str, Any]]:
        if (self.conditions.get("drawn") or 0) < 1:
            yield {}

    def _fire_phase(self) -> Iterator[dict[str, Any]]:
        night = self.conditions.get("turn") == 13 and self.conditions.get("scenario") != "bloody_nose_ridge"
        if (self.conditions.get("drawn") or 0) < (2 if night else 1):
            yield {}

    def _reorganize(self) -> Iterator[dict[str, Any]]:
        if (self.conditions.get("drawn") or 0) < 1:
            yield {}

    def _relief(self) -> Iterator[dict[str, Any]]:
        """18.37: any battalion on the map, or none."""
        found = {m.group() for unit in self.units if (m := BATTALION.search(unit.code))}
        yield from ({"withdraw": battalion} for battalion in self.any_order(sorted(found)))
        yield {}

    def _garrison(self) -> Iterator[dict[str, Any]]:
        if self._of("command_post") or self.conditions.get("scenario") == "bloody_nose_ridge":
            yield from ({"at": row.label} for row in self.any_order(self.asked.rows(SPOTS)))

    def _command_post(self) -> Iterator[dict[str, Any]]:
        yield from ({"unit": unit.code, "do": "establish"} for unit in self._of("regimental_hq"))
        yield from ({"unit": unit.code, "do": "advance"} for unit in self._of("command_post"))

    def _of(self, *kinds: str) -> list[Any]:
        return self.any_order(unit for unit in self.units if unit.kind in kinds)

    def _able(self) -> list[Any]:
        """Who may still act: not idle by kind, not disrupted, not done."""
        return self.any_order(
            unit
            for unit in self.units
            if unit.kind not in IDLE
            and not unit.attributes.get("disrupted")
            and not unit.attributes.get("acted")
        )

    def _move(self) -> Iterator[dict[str, Any]]:
        reach = "select * from ddp.reach_paths(:position, :unit, :conditions, :policy)"
        for unit in self._able():
            cost = self._cost(unit.code)
            for row in self.any_order(self.asked.rows(reach, unit=unit.code)):
                if cost is not None:
                    yield {"unit": unit.code, "path": list(row.path)}
                if cost != 0 and len(row.path) == 1 and unit.kind in FOOT:
                    # 7.35: what is not free otherwise
                    yield {"unit": unit.code, "path": list(row.path), "as": "preservation"}

    def _cost(self, code: str) -> int | None:
        """7.0: how many of the two actions an action of this unit alone takes; None where it has none."""
        if code not in self._costs:
            rows = self.asked.rows(ACTING, units=[code], preserves=False)
            facts = rows[-1].facts
            self._costs[code] = facts["actions"] if facts["may"] else None
        return self._costs[code]

    def _near(self, unit: Any, away: int) -> list[Any]:
        return [enemy for enemy in self.enemies if _distance(unit, enemy) == away]

    def _enter(self) -> Iterator[dict[str, Any]]:
        for unit in self._able():
            if unit.kind in FOOT and self._near(unit, 1) and self._cost(unit.code) is not None:
                yield from (
                    {"unit": unit.code, "to": enemy.label} for enemy in self._near(unit, 1) if enemy.revealed
                )

    def _attack(self) -> Iterator[dict[str, Any]]:
        """Each able unit alone, and all that stand beside the hex together."""
        able = self._able()
        for enemy in self.any_order(self.enemies):
            beside = [
                unit.code for unit in able if _distance(unit, enemy) == 1 and unit.kind != "regimental_hq"
            ]
            if len(beside) > 1:
                yield {"by": sorted(beside), "at": enemy.label}
            yield from ({"by": [code], "at": enemy.label} for code in beside if self._cost(code) is not None)

    def _barrage(self) -> Iterator[dict[str, Any]]:
        # 18.22: in the morning nothing need be revealed, and a barrage of each marker is a gift
        morning = self.conditions.get("phase") == "morning"
        seen = [enemy.label for enemy in self.any_order(self.enemies) if enemy.revealed or morning]
        guns = [
            unit.code
            for unit in self._able()
            if unit.kind in ("tank", "amphibious_tank", "artillery") and self._cost(unit.code) is not None
        ]
        yield from ({"by": gun, "at": label} for gun, label in itertools.product(guns, seen))
        held = self.asked.rows("select tracks -> 'us' as us from position where id = :position")[0].us or {}
        yield from (
            {"marker": marker, "at": label}
            for marker in MARKERS
            if held.get(marker) or morning
            for label in seen
        )

    def _recover(self) -> Iterator[dict[str, Any]]:
        yield from (
            {"unit": unit.code} for unit in self.any_order(self.units) if unit.attributes.get("disrupted")
        )

    def _close_combat(self) -> Iterator[dict[str, Any]]:
        yield from ({"at": label, "attacker": "us"} for label in self.any_order(self.mixed()))


def _distance(one: Any, other: Any) -> int:
    dq, dr = one.q - other.q, one.r - other.r
    return int(max(abs(dq), abs(dr), abs(dq + dr)))


def _price(outcome: Outcome) -> dict[str, Any]:
    """free, or how many of the two actions of the turn (7.0); whether it ends under fire (18.34)."""
    under_fire = any(effect.get("action_under_fire") for effect in outcome.effects)
    return {"cost": outcome.answer.get("actions") or "free", **({"under_fire": True} if under_fire else {})}


def _target(offer: Offer) -> str | None:
    """What an action is aimed at: a hex."""
    arguments = offer["arguments"]
    target: str | None = (
        arguments["path"][-1] if "path" in arguments else arguments.get("at") or arguments.get("to")
    )
    return target


def _verdict(ruling: Ruling) -> str:
    of, actions = ruling.question["legal"], ruling.answer["actions"]
    whose = of.get("unit") or of.get("side") or "Whoever acts"
    return f"{whose} has {counted(len(actions), 'action')} now" if actions else f"{whose} has no action now"


KIND = QuestionKind(
    name="legal",
    title="What may be done now",
    arguments=Legal,
    rulesets=("ddp",),
    rule=_legal,
    answers={
        "actions": "of a unit: each action with its targets and its cost, free or 1; of a side: every action that may be"
        " entered now, with `arguments`; under_fire where it brings an Action Under Fire marker (18.34)",
    },
    verdict=_verdict,
    points=(),
    example="legal: {side: us}",
)
