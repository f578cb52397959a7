"""Events of the cards (4.0 II and IV, and the event descriptions): each by its name, or as a drawn card tells it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from app.play.ddp import cards, losses
from app.play.ddp.acting import counter, forgiving
from app.play.ddp.deciding import Deciding
from app.play.ddp.japanese import POINTS, Phase, act, stray_tank
from app.play.ddp.phase import once_a_phase
from app.play.ddp.placing import Blind, Hand, Manner, place_one, place_reserve
from app.play.ddp.stance import enter_stance
from app.play.procedures import Action, Ask, Change, Choose, Procedure, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, series

TARGETS = "select * from ddp.event_targets(:position, :event, :symbol, :colors, :conditions, :policy)"
GAME = (
    "select cast(:conditions as jsonb) as conditions, positions.readings(:position, :policy) as readings,"
    " position.tracks -> 'us' as us, position.tracks -> 'japan' as japan from position where position.id = :position"
)
UNIT = (
    "select unit.code, unit.attributes, hex.label from unit"
    " left join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and unit.code = :code"
)
BESIDE = (
    "select marine.label, marine.code, marine.symbol, sum(coalesce(marine.steps, 0)) over (partition by marine.label) as stack,"
    " coalesce(marine.steps, 0) as steps"
    " from ddp._scene(:position, :conditions, :policy) as scene"
    " cross join lateral ddp._marines(scene) as marine"
    " join unit on unit.position_id = :position and unit.code = :code"
    " where lattice.distance(marine.q, marine.r, unit.q, unit.r) = 1 order by marine.label, marine.code"
)
IN_POSITION = (
    "select unit.code, unit.side, unit.kind, unit.attributes, spot.label"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._spots(state.map_id) as spot"
    " join unit on unit.position_id = state.position_id and unit.q = spot.q and unit.r = spot.r"
    " where :name in (spot.place, spot.id, spot.label) order by unit.side, unit.code"
)
TANKS = (
    "select holder.code, holder.place, holder.color, holder.attributes, holder.label, holder.disrupted"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._occupants(state) as holder where holder.tank and not holder.stance"
    " order by holder.q, holder.label"
)
HEROES, HEROES_ON_THE_RIDGE = 8, 4
LEADERS = ("hero", "regimental_hq", "command_post", "infantry_hq", "garrison")
CHOICES = ("unit", "hero", "step", "to", "hit", "target", "reveal")
"""Names under which a single choice of an event may be told."""


class Event(Action):
    """Which event; without a name a card is drawn for it."""

    name: Annotated[str | None, Field(description="The event by its name")] = None
    symbol: str | None = Field(None, description="The target symbol on the event card")
    count: int | None = Field(None, ge=1, le=5, description="depth, reinforcement: how many")
    depth: bool | None = Field(None, description="hero: whether a depth marker comes with it")
    colors: list[str] | None = Field(None, description="smoke: the colors whose dots are disregarded")
    positions: dict[str, str] | None = Field(
        None, description="unexpected_naval_fire: a position for each symbol"
    )


def event(of: Event) -> Procedure:
    """One event, from its card to its end."""
    return forgiving(of, _event(of))


def _event(of: Event) -> Procedure:
    [game] = yield Ask(GAME, proves=False)
    phase = game.conditions.get("phase")
    if phase in ("first_event", "second_event"):
        yield from once_a_phase(game.conditions, phase)
    if of.name is not None:
        said = {key: getattr(of, key) for key in ("symbol", "count", "depth", "colors", "positions")}
        try:
            card = cards.read_card({"event": of.name, **said}, "event")
        except ValueError as error:
            raise cards.CardError(f"{str(error)[0].upper()}{str(error)[1:]}.") from error
    elif game.conditions.get("turn") == 13:
        # 16.0: no card is drawn; the counterattack comes if it has not been
        come = bool((game.japan or {}).get("counterattack"))
        card = cards.Card(event="none" if come else "counterattack")
        yield Tell(Step("16.0", None, card.event or "none", "at night no event card is drawn"))
    else:
        card = yield from cards.event("the event")
    yield Tell(event=card.event, happens=True, placed=[])
    told = yield from _Happening(card, of, game).happen()
    yield Tell(**(told or {}))


class _Happening:
    """One event, as it goes on."""

    def __init__(self, card: cards.Card, of: Event, game: Any) -> None:
        self.card, self.of, self.game = card, of, game
        self.hand = Hand(of)
        self.names = self.hand.names

    def happen(self) -> Deciding:
        method: Callable[[], Deciding] = getattr(self, f"_{self.card.event}")
        return (yield from method())

    @property
    def _ridge(self) -> bool:
        return bool(self.game.conditions.get("scenario") == "bloody_nose_ridge")

    def _nothing(self, why: str) -> Deciding:
        yield Tell(Step("4.0", None, "no event", why))
        return {"happens": False}

    def _none(self) -> Deciding:
        return (yield from self._nothing("the card has no event"))

    def _targets(self, event: str | None = None) -> Deciding:
        rows = yield Ask(
            TARGETS,
            event=event or self.card.event,
            symbol=self.card.symbol,
            colors=_colors(self.card.details),
        )
        return rows[-1].facts["targets"]

    def _first(self, targets: Sequence[Mapping[str, Any]], purpose: str) -> Deciding:
        """The first target, or of several of the first rank the player's choice, under any of its names."""
        _, group = next(itertools.groupby(targets, key=lambda one: one["rank"]))
        tied = {str(one["label"] if one["unit"] == "fortification" else one["unit"]): one for one in group}
        return tied[(yield from self.names.one(self._named("unit"), purpose, list(tied)))]

    def _named(self, name: str) -> str:
        """The name under which a choice was told; else its own."""
        return next((told for told in (name, *CHOICES) if told in self.of.choices), name)

    # Disruption.

    def _disrupt_one(self) -> Deciding:
        targets = yield from self._targets()
        if not targets:
            return {"happens": False}
        one = yield from self._first(targets, "which unit is disrupted")
        yield from losses.disrupt(one["unit"], "4.0", str(self.card.event).replace("_", " "))
        return {"unit": one["unit"]}

    _heat_exhaustion = _lost = _minefield = _disrupt_one

    def _remove_disruption(self) -> Deciding:
        """6.42: of all Japanese units, or of those in positions of the colors that the card names."""
        colors = _colors(self.card.details)
        rows = yield Ask(
            "select holder.code, holder.label, holder.color from positions.state(:position, :conditions, :policy) as state"
            " cross join lateral ddp._occupants(state) as holder where holder.disrupted and not holder.fortification"
            " order by holder.code",
            proves=False,
        )
        freed = [row for row in rows if colors is None or row.color in colors]
        for row in freed:
            yield Change({"unit": row.code, "disrupted": False})
            yield Tell(Step("6.42", row.label, "recovers", row.code))
        return {"happens": bool(freed), "recovered": [row.code for row in freed]}

    # Steps and heroes.

    def _black_angels(self) -> Deciding:
        return (yield from self._step_to("the company that the volunteers join"))

    def _scattered_platoon(self) -> Deciding:
        return (yield from self._step_to("the company that its platoon finds"))

    def _step_to(self, purpose: str) -> Deciding:
        targets = yield from self._targets()
        if not targets:
            return {"happens": False}
        one = yield from self._first(targets, purpose)
        yield from losses.add_step(one["unit"], "4.0", str(self.card.event).replace("_", " "))
        return {"unit": one["unit"]}

    def _hero(self) -> Deciding:
        """10.11, 10.17: on any unit; once all have appeared, one Japanese unit beside US units may be revealed."""
        placed = (self.game.us or {}).get("heroes") or 0
        told = (
            (yield from self._hero_placed(placed))
            if placed < self._heroes()
            else (yield from self._hero_reveals())
        )
        if self.card.details.get("depth"):
            found = yield from place_one("depth", None, self.hand)
            told |= {"placed": [found["hex"]] if found["hex"] else [], "with_depth": found["with_depth"]}
        return told

    def _heroes(self) -> int:
        return HEROES_ON_THE_RIDGE if self._ridge else HEROES

    def _hero_placed(self, placed: int) -> Deciding:
        targets = yield from self._targets()
        if not targets:
            return {"happens": False}
        one = yield from self._first(targets, "the unit that the hero joins")
        yield Change({"unit": one["unit"], "hero": True}, {"side": "us", "heroes": placed + 1})
        yield Tell(Step("10.11", one["label"], "hero", f"a hero joins {one['unit']}"))
        return {"unit": one["unit"]}

    def _hero_reveals(self) -> Deciding:
        yield Tell(Step("10.17", None, "no hero", f"all {self._heroes()} heroes have appeared"))
        targets = yield from self._targets("hero_reveals")
        options = [one["unit"] for one in targets]
        if not options:
            return {"happens": False}
        chosen = yield Choose(
            self._named("reveal"),
            "us",
            "which Japanese unit is revealed, if any",
            [*options, "none"],
            default="none",
        )
        if chosen == "none":
            return {"happens": False}
        yield from reveal(chosen, self.hand, depth=False)
        return {"unit": chosen}

    # Revealing.

    def _war_dogs(self) -> Deciding:
        targets = yield from self._targets()
        if not targets:
            return {"happens": False}
        one = yield from self._first(targets, "what is revealed")
        if one["unit"] == "fortification":
            yield from _reveal_fortification(one["label"], self.hand)
            return {"unit": None, "hex": one["label"]}
        yield Tell(unit=one["unit"])
        placed = yield from reveal(one["unit"], self.hand, face_up=self.card.event == "patrol_report")
        return {"unit": one["unit"], "placed": placed}

    _observation_plane = _patrol_report = _war_dogs

    # Japanese placements.

    def _depth(self) -> Deciding:
        return (yield from self._placed("depth"))

    def _reinforcement(self) -> Deciding:
        return (yield from self._placed("reinforcement"))

    def _japanese_infiltration(self) -> Deciding:
        return (yield from self._placed("infiltration_event"))

    def _fortification(self) -> Deciding:
        return (yield from self._placed("fortification"))

    def _placed(self, manner: Manner, count: int | None = None) -> Deciding:
        placed: list[str] = []
        depths: list[bool] = []
        for _ in range(count or self.card.details.get("count") or 1):
            found = yield from place_one(manner, None, self.hand)
            if found["hex"] is None:
                break
            placed.append(found["hex"])
            depths.append(found["with_depth"])
        return {"happens": bool(placed), "placed": placed, "with_depth": bool(depths) and all(depths)}

    def _counterattack(self) -> Deciding:
        """13.4; 13.48: the second time one reinforcement."""
        if (self.game.japan or {}).get("counterattack"):
            yield Tell(Step("13.48", None, "reinforcement", "the counterattack has happened"))
            return (yield from self._placed("reinforcement", 1))
        units = yield from enter_stance(self.hand)
        return {"happens": True, "units": units}

    def _tank_action(self) -> Deciding:
        """13.2: every tank that is not in counterattack stance acts, by the letter of the card if it has one."""
        letter = self.card.details.get("letter")
        done: dict[str, str] = {}
        for tank in (yield Ask(TANKS, proves=False)):
            phase = Phase(self.card, self.of, hand=self.hand)
            own = cards.Color(tank.color or tank.attributes.get("color") or "red", letter=letter)
            acting = act(tank.place, own, phase) if tank.place else stray_tank(tank, own, phase)
            told = yield from acting
            done[tank.code] = told["action"]
        return {"happens": bool(done), "actions": done}

    def _hidden_caves(self) -> Deciding:
        """A unit out of the reserve in a mountain hex that is no position; two caves at most."""
        [row] = yield Ask(
            "select count(*) as caves from marker where position_id = :position and kind = 'cave'",
            proves=False,
        )
        if not self._ridge or row.caves >= 2:
            return (yield from self._nothing("caves open on Bloody Nose Ridge, and two at most"))
        targets = yield from self._targets()
        if not targets:
            return {"happens": False}
        one = yield from self._first(targets, "where the cave opens")
        unit = yield from place_reserve(one["label"], "4.0", self.hand, depth=False)
        if unit is None:
            return {"happens": False}
        # the text speaks of its fire in a Japanese Action Phase
        yield Tell(points=("ddp-18",))
        yield Change({"unit": unit, "cave": True}, {"marker": "cave", "at": one["label"]})
        return {"placed": [one["label"]], "with_depth": False}

    # Orders and markers.

    def _mandatory_attacks(self) -> Deciding:
        """18.32: under General Rupertus, and not after turn 11."""
        conditions = self.game.conditions
        turn = conditions.get("turn")
        if not self._ridge or conditions.get("rupertus") is False or (turn is not None and turn > 11):
            return (yield from self._nothing("General Rupertus is not in command"))
        targets = yield from self._targets()
        for one in targets:
            yield Change({"marker": "attack_orders", "at": one["label"]})
        return {"happens": bool(targets), "placed": [one["label"] for one in targets]}

    def _rupertus_relieved(self) -> Deciding:
        if not self._ridge or self.game.conditions.get("rupertus") is False:
            return (yield from self._nothing("General Rupertus is not in command"))
        yield Change({"conditions": {"rupertus": False}})
        yield Tell(Step("18.32", None, "relieved", "the US command changes"))
        return {}

    def _smoke(self) -> Deciding:
        targets = yield from self._targets()
        for one in targets:
            yield Change({"marker": "smoke", "at": one["label"]})
        return {"happens": bool(targets), "placed": [one["label"] for one in targets]}

    def _cp_under_fire(self) -> Deciding:
        targets = yield from self._targets()
        if not targets:
            return {"happens": False}
        one = yield from self._first(targets, "which command post is under fire")
        post = yield from counter(one["unit"])
        before = post.attributes.get("command_range")
        kept = {} if before in (None, 1) else {"command_range": 1, "range_before": before}
        yield Change({"unit": one["unit"], "under_fire": True, **kept})
        yield Tell(
            Step("14.3", one["label"], "range 1", f"{one['unit']} commands one hex around it this turn")
        )
        return {"unit": one["unit"]}

    def _flamethrower(self) -> Deciding:
        if (self.game.us or {}).get("flamethrower"):
            return (yield from self._nothing("the flamethrower marker is held already"))
        yield Change({"side": "us", "flamethrower": 1})
        return {}

    def _naval_fire(self) -> Deciding:
        """8.54: one marker more, unless all are held."""
        name = str(self.card.event)
        held = (self.game.us or {}).get(name) or 0
        [row] = yield Ask(
            "select max(cell.value) as value from charts.cell('ddp', 'counters', :name, 'count') as cell",
            proves=False,
            name=name,
        )
        read = self.of.read.get("counters", {})
        told = read.get(name, {}).get("count") if isinstance(read, Mapping) else None
        most = told if told is not None else int(row.value) if row.value else None
        if most is not None and held >= most:
            yield Tell(Step("8.54", None, "no event", f"all {most} markers are held"))
            return {"happens": False}
        yield Change({"side": "us", name: held + 1})
        return {}

    _dauntless = _naval_fire

    # Sudden fire.

    def _suicide_attack(self) -> Deciding:
        """A Japanese unit gives its depth: the US unit is disrupted, and loses a step by the symbol of a fire card."""
        targets = yield from self._targets()
        if not targets:
            return {"happens": False}
        one = yield from self._first(targets, "which Japanese unit attacks")
        yield Tell(by=one["unit"])
        yield from _lose_depth(one["unit"], one["label"])
        struck = yield from self._struck(one["unit"])
        card = yield from cards.symbol(f"the suicide attack on {struck.code}")
        if card.symbol == struck.symbol:
            yield from losses.lose_step(struck.code, "4.0", "a suicide attack", choice=self.names)
        [now] = yield Ask(UNIT, proves=False, code=struck.code)
        if now.label is not None:
            yield from losses.disrupt(struck.code, "4.0", "a suicide attack")
        return {"by": one["unit"], "unit": struck.code}

    def _struck(self, code: str) -> Deciding:
        """The stack with the most steps beside it, and of it one unit (ddp-57)."""
        rows = yield Ask(BESIDE, proves=False, code=code)
        most = max(row.stack for row in rows)
        labels = sorted({row.label for row in rows if row.stack == most})
        label = yield from self.names.one("to", "which stack is struck", labels)
        stack = [row for row in rows if row.label == label]
        if len(stack) > 1:
            yield Tell(points=("ddp-57",))
            if self.game.readings["ddp-57"] == "b":
                stack = [row for row in stack if row.steps == max(other.steps for other in stack)]
        chosen = yield from self.names.one(
            self._named("hit"), "which unit of the stack is struck", [row.code for row in stack]
        )
        return next(row for row in stack if row.code == chosen)

    def _unexpected_naval_fire(self) -> Deciding:
        """A fire card tells which of three positions is hit."""
        card = yield from cards.symbol("where the naval fire falls")
        where = (self.card.details.get("positions") or {}).get(card.symbol)
        if where is None:
            return (yield from self._nothing("the card names no position for that symbol"))
        there = yield Ask(IN_POSITION, proves=False, name=where)
        japanese = [unit for unit in there if unit.side == "japan"]
        for unit in japanese:
            yield Change({"unit": unit.code, "disrupted": True})
            yield Tell(Step("4.0", unit.label, "disrupted", f"naval fire falls on {unit.code}"))
            if "depth" in unit.attributes or unit.attributes.get("counterattack", {}).get("depth", False):
                yield from _lose_depth(unit.code, unit.label)
        if japanese:
            return {"position": where}
        marines = [unit for unit in there if unit.kind not in LEADERS]
        if not marines:
            return {"happens": False, "position": where}
        second = yield from cards.symbol("whom the naval fire hits")
        able = [unit.code for unit in marines if unit.attributes.get("symbol") == second.symbol]
        if not able:
            return {"happens": False, "position": where}
        hit = yield from self.names.one(self._named("hit"), "which unit loses a step", able)
        # 10.15: neither close combat nor Japanese fire
        yield from losses.lose_step(hit, "4.0", "naval fire falls short", choice=None)
        return {"position": where, "unit": hit}


def _colors(details: Mapping[str, Any]) -> list[str] | None:
    told = details.get("colors")
    return [told] if isinstance(told, str) else list(told) if told else None


def _lose_depth(code: str, at: str | None) -> Deciding:
    """9.23, 13.46: depth is eliminated; a counterattack marker is turned to its other side."""
    [unit] = yield Ask(UNIT, proves=False, code=code)
    stance = unit.attributes.get("counterattack")
    if stance is not None:
        yield Change({"unit": code, "counterattack": {**stance, "depth": False}})
    else:
        yield Change({"unit": code, "depth": None})
    yield Tell(Step("13.46" if stance is not None else "9.23", at, "depth gone", f"{code} loses its depth"))


def reveal(code: str, hand: Hand, *, depth: bool = True, face_up: bool = False) -> Deciding:
    """9.1: a unit is turned up, with its depth; a tactical reinforcement comes in at once. The hexes it is placed in."""
    [unit] = yield Ask(UNIT, proves=False, code=code)
    said = dict(unit.attributes)
    if not said.get("revealed"):
        shown: Mapping[str, Any] = {}
        if "strength" not in said:
            shown = yield from hand.draw(Blind("reserve", f"what {code} shows"))
        yield Change(
            {"unit": code, "revealed": True, **{key: told for key, told in shown.items() if key != "id"}}
        )
        yield Tell(Step("9.1", unit.label, "revealed", code))
    under = said.get("depth")
    if not depth or under is None or under.get("revealed"):
        return []
    if "strength" not in under and not under.get("tactical"):
        under = {**under, **(yield from hand.draw(Blind("depth", f"the depth marker of {code}")))}
    if not under.get("tactical"):
        yield Change({"unit": code, "depth": {**under, "revealed": True}})
        yield Tell(Step("9.1", unit.label, "revealed", f"the depth marker of {code}"))
        return []
    yield Change({"unit": code, "depth": None})
    yield Tell(Step("9.4", unit.label, "tactical reinforcement", f"the depth marker of {code} is removed"))
    found = yield from place_one("tactical", unit.label, hand, revealed=face_up)
    return [found["hex"]] if found["hex"] else []


def _reveal_fortification(label: str, hand: Hand) -> Deciding:
    """19.1: a fortification marker is turned up as it lies."""
    [row] = yield Ask(
        "select marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
        " where marker.position_id = :position and marker.kind = 'fortification' and hex.label = :at limit 1",
        proves=False,
        at=label,
    )
    said = dict(row.attributes)
    shown = (
        {}
        if "blocked" in said
        else (yield from hand.draw(Blind("fortification", f"the fortification in {label}")))
    )
    yield Change(
        {"marker": "fortification", "at": label, **said, "removed": True},
        {"marker": "fortification", "at": label, **said, **shown, "revealed": True},
    )
    yield Tell(Step("19.1", label, "revealed", "the fortification marker"))


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"There is no event: {answer['why']}"
    if "event" not in answer:
        return "The event waits for a card"
    name = str(answer["event"]).replace("_", " ")
    if answer.get("pending"):
        return f"The event {name} waits for a card, a draw or a choice"
    if not answer["happens"]:
        return f"The event {name} does not happen"
    return clauses(
        f"The event {name} happens",
        f"it concerns {answer['unit']}" if answer.get("unit") else None,
        f"placed in {series(answer['placed'])}" if answer.get("placed") else None,
    )


KINDS = [
    procedure_kind(
        event,
        kinds=functools.partial(kinds_of, "ddp"),
        name="event",
        title="Event",
        arguments=Event,
        rulesets=("ddp",),
        answers={
            "event": "its name",
            "happens": "whether it has any effect",
            "placed": "the hexes in which something is placed",
            "with_depth": "whether depth markers were placed",
            "unit": "the unit that it concerns",
            "units": "counterattack: the units that enter the stance",
            "by": "suicide_attack: the Japanese unit",
            "hex": "patrol_report: the hex of a fortification that is revealed",
            "position": "unexpected_naval_fire: the position that is hit",
            "recovered": "remove_disruption: the units that recover",
            "actions": "tank_action: what each tank does",
        },
        verdict=_verdict,
        points=(*POINTS, "ddp-18", "ddp-36", "ddp-40", "ddp-50", "ddp-57"),
        example="event: {name: heat_exhaustion, symbol: circle}",
    )
]
