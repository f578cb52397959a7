"""`legal`: what a side or a unit may do now, from its hand, or without one by what the map allows.

Every offer can be entered as it stands. Whether it may be done is judged by its own procedure, up to the first roll.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ccp.cards import named
from app.play.procedures import Given, Procedure, ProcedureKind, Tell, tried
from app.play.sequence import END_PHASE, state_of, walk_of
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, RulingError, Step
from app.referee.words import counted
from importers.questions import Names

Offer = dict[str, Any]
"""`action` and its `arguments`."""
UNITS = """
select unit.code, unit.side, unit.kind, unit.attributes, hex.label
from unit
join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
where unit.position_id = :position order by unit.code
"""
REACH = "select label from ccp.reach(:position, :unit, :options, :conditions, :policy) order by label"
WAY = "select label from ccp.reach_path(:position, :unit, :to, :options, :conditions, :policy)"
TARGETS = "select * from ccp.fire_offers(:position, :side, :conditions, :policy)"
LED = "select * from ccp.led_by(:position, :unit, :conditions, :policy)"
FILLED = """
select
  exists (select from charts.cells('ccp', 'support_tables') where value is not null) as filled,
  array(select distinct attributes ->> 'box' from unit where position_id = :position and attributes ? 'box') as boxes
"""
MELEES = """
select hex.label from marker
join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
where marker.position_id = :position and marker.kind = 'melee' order by hex.label
"""
ORDERS = (
    "fire",
    "move",
    "advance",
    "asset_request",
    "asset_denied",
    "reconnoiter",
    "revive",
    "charge",
    "infiltrate",
)
IN_ATTACK = ("crossfire", "hand_grenades", "marksmanship", "bore_sighting", "sustained_fire", "enfilade")
MOST_WAYS = 12
"""Goals of a unit's move that are offered, those farthest first; any other way may be entered."""


class Legal(Arguments):
    """For whom; without both, for whoever acts now."""

    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The id of a unit")
    side: Literal["japan", "allied"] | None = Field(None, description="A side")


def _legal(asked: Asked, of: Legal) -> Finding:
    table = _Table(asked, of.unit, of.side)
    now = table.walk.leaf(table.state)
    steps = [Step(now.phase.rule if now else "12", None, "phase", now.phase.title if now else "Set-up")]
    if table.active is not None and table.side != table.active:
        steps.append(Step("12", None, "waits", "it is the other side's turn"))
        return Finding({"actions": [], "orders": []}, steps)
    offers = list(table.offers())
    orders = sorted({order for order in table.orders() if any(True for _ in table.of_order(order))})
    if of.unit is None and table.may_end():
        offers.append({"action": END_PHASE.name, "arguments": {}})
    return Finding({"actions": offers, "orders": orders}, steps)


def drawn(asked: Asked, dice: random.Random) -> Offer | None:
    """One of the actions that may be taken now, each kind as likely as any other; None where there is none."""
    return _Table(asked, None, None, dice).drawn()


class _Table:
    """A position, and what may be done on it."""

    def __init__(
        self, asked: Asked, unit: str | None, side: str | None, dice: random.Random | None = None
    ) -> None:
        self.asked, self.unit, self.dice = asked, unit, dice
        self.walk, self.state = walk_of("ccp"), state_of(asked)
        self.active = asked.conditions.get("active")
        self.units = [row for row in asked.rows(UNITS) if row.kind != "aircraft"]
        owner = next((row.side for row in self.units if row.code == unit), None)
        self.side = side or owner or self.active or "allied"
        self.cards = self._hand()

    def _hand(self) -> dict[str, dict[str, Any]] | None:
        """The cards of the side by name; None where no hand is told."""
        kept = (self.state.tracks.get("hand") or {}).get(self.side)
        hand = kept if kept is not None else (self.asked.conditions.get("hand") or {}).get(self.side)
        if not isinstance(hand, list):
            return None

        def procedure() -> Procedure:
            yield Tell(cards=(yield from named(hand)))

        found: dict[str, dict[str, Any]] = self._tried(procedure).answer["cards"]
        return found

    def _tried(self, procedure: Any) -> Any:
        return tried(self.asked, procedure, Given(), functools.partial(kinds_of, "ccp"))

    # What may be done at all.

    @property
    def phase(self) -> str | None:
        return self.walk.moment(self.state).phase

    @property
    def order(self) -> dict[str, Any] | None:
        """The order that is under way, in a game."""
        return self.state.tracks.get("order")

    def waits(self) -> bool:
        """Whether an order waits for somebody to carry it out (O20.3)."""
        return bool(self.order) and not (self.order or {}).get("acted")

    def orders(self) -> list[str]:
        """Orders that could be given: those in hand, or all where no hand is told."""
        if self.phase != "orders" or self.waits() or self.state.tracks.get("passed") is not None:
            return []
        if self.cards is None:
            return list(ORDERS)
        held = {card.get("order") for card in self.cards.values()}
        return [order for order in ORDERS if order in held]

    def may_end(self) -> bool:
        if self.phase is None:
            return True
        if self.phase == "melee":
            return not self.asked.rows(MELEES)
        return not self.waits() or not any(True for _ in self.deeds())

    def offers(self) -> Iterator[Offer]:
        """All that may be done, those of the order under way first."""
        if self.phase == "melee":
            yield from self._stand("melee", ({"hex": row.label} for row in self.asked.rows(MELEES)))
            return
        if self.phase != "orders":
            return
        yield from self.deeds()
        for order in self.orders():
            yield from self.of_order(order)
        if self._may_pass():
            yield from self._stand("discard", [{"side": self.side}])

    def _may_pass(self) -> bool:
        given = self.asked.conditions.get("orders_given") or 0
        return not given and not self.order and self.state.tracks.get("passed") is None

    def drawn(self) -> Offer | None:
        """At random: a deed of the order under way, else a new order, a pass or the end."""
        assert self.dice is not None
        ways: list[Any] = []
        if self.phase == "melee":
            return next(self.offers(), None) or self._end()
        if self.phase is None:
            return self._end()
        if self.order:
            ways.append(self.deeds)
        ways += [functools.partial(self.of_order, order) for order in self.orders()]
        if self._may_pass():
            ways.append(self._thrown)
        self.dice.shuffle(ways)
        if self.waits():
            ways = [self.deeds]
        elif self.dice.random() < 0.15:
            ways = []
        for way in ways:
            offer = next(way(), None)
            if offer is not None:
                return offer  # type: ignore[no-any-return]
        return self._end()

    def _end(self) -> Offer:
        return {"action": END_PHASE.name, "arguments": {}}

    def _thrown(self) -> Iterator[Offer]:
        """A pass in which some cards go."""
        assert self.dice is not None
        hand = list(self.cards or ())
        number = self.dice.randint(0, min(3, len(hand)))
        yield {
            "action": "discard",
            "arguments": {"side": self.side, "choices": {"cards": self.dice.sample(hand, number)}},
        }

    # Offers, judged by their own procedures.

    def _stand(self, name: str, made: Any) -> Iterator[Offer]:
        """Those that the procedure itself allows."""
        from app.play.actions import actions_of

        kind = actions_of("ccp").get(name)
        if kind is None:
            return
        listed = list(made)
        if self.dice is not None:
            self.dice.shuffle(listed)
        for arguments in listed:
            if self.unit is not None and not self._concerns(arguments):
                continue
            if self._may(kind, arguments):
                yield {"action": name, "arguments": arguments}

    def _concerns(self, arguments: dict[str, Any]) -> bool:
        named_ = [
            arguments.get("unit"),
            *arguments.get("by", ()),
            *arguments.get("with", ()),
            *arguments.get("to", {}),
        ]
        return self.unit in [str(one).removesuffix(":weapon") for one in named_ if one]

    def _may(self, kind: ProcedureKind, arguments: dict[str, Any]) -> bool:
        of = kind.arguments.model_validate(arguments)
        try:
            return self._tried(lambda: kind.begin(of)).allowed is True  # type: ignore[arg-type]
        except RulingError:
            return False

    def of_order(self, order: str) -> Iterator[Offer]:
        """How an order could be given."""
        make = getattr(self, f"_{order}", None)
        if make is not None:
            yield from make()
        else:
            yield from self._stand("activate", self._activations(order))

    def _own(self, **says: Any) -> list[Any]:
        return [
            row
            for row in self.units
            if row.side == self.side
            and all(bool(row.attributes.get(key)) == value for key, value in says.items())
        ]

    def _activations(self, order: str) -> Iterator[dict[str, Any]]:
        """One unit alone, or a leader with all whom he could take along."""
        for row in self._own():
            if row.attributes.get("activated") and row.kind != "hero":
                continue
            if row.kind in ("leader", "hero"):
                led = [one.code for one in self.asked.rows(LED, unit=row.code)]
                if led:
                    yield {"order": order, "unit": row.code, "with": led}
            yield {"order": order, "unit": row.code}

    # Orders that are carried out as they are given.

    def _asset_request(self) -> Iterator[Offer]:
        repairs = [
            {"option": "weapon_repair", "unit": row.code}
            for row in self._own()
            if (row.attributes.get("weapon") or {}).get("broken")
        ]
        yield from self._stand("asset_request", repairs)
        leaders = [row.code for row in self._own() if row.kind not in ("squad", "team")]
        yield from self._stand(
            "asset_request", ({"option": "communication_restored", "unit": code} for code in leaders)
        )
        planes = [row for row in self.asked.rows(UNITS) if row.kind == "aircraft" and row.side == self.side]
        if planes:
            enemies = sorted({row.label for row in self.units if row.side != self.side})
            yield from self._stand("strafing_run", ({"direction": one} for one in range(1, 7)))
            yield from self._stand("bombing_run", ({"at": label} for label in enemies))

    def _asset_denied(self) -> Iterator[Offer]:
        jams = [
            {"option": "weapon_jam", "unit": row.code}
            for row in self.units
            if row.side != self.side and row.attributes.get("weapon")
        ]
        options = [{"option": "communication_disrupted"}, {"option": "abort_run"}]
        yield from self._stand("asset_denied", [*jams, *options])

    def _reconnoiter(self) -> Iterator[Offer]:
        leaders = [row for row in self._own() if row.kind not in ("squad", "team")]
        yield from self._stand("reconnoiter", ({"unit": row.code} for row in leaders))

    def _revive(self) -> Iterator[Offer]:
        points = {} if self.cards is not None else {"points": 1}
        yield from self._stand("revive", [{"side": self.side, **points}])

    def _charge(self) -> Iterator[Offer]:
        if self.side == "japan":
            yield from self._stand("charge", [{"side": "japan"}])

    def _infiltrate(self) -> Iterator[Offer]:
        if self.side != "japan":
            return
        # O28.1: without a Support Table nobody knows who hides
        [table] = self.asked.rows(FILLED)
        boxes = [box for box in "ABC" if table.filled or box in table.boxes]
        yield from self._stand("infiltrate", ({"box": box} for box in boxes))

    # What carries out the order under way.

    def deeds(self) -> Iterator[Offer]:
        """What those who are activated may do."""
        kind = (self.order or {}).get("kind")
        done = (self.order or {}).get("done") or []
        ready = [row for row in self._own() if row.attributes.get("activated") == kind]
        fresh = [row for row in ready if row.code not in done]
        if kind == "fire":
            yield from self._shots()
        elif kind == "move":
            yield from self._exits(fresh, "move")
            yield from self._stand("move", self._ways(fresh))
        elif kind == "advance":
            yield from self._exits(fresh, "advance")
            yield from self._stand("advance", self._advances(fresh))

    def _shots(self) -> Iterator[Offer]:
        """Each piece alone at each hex in sight and range, and all of a hex together."""
        rows = self.asked.rows(TARGETS, side=self.side)
        alone = [{"by": [row.piece], "at": row.target} for row in rows]
        groups: dict[tuple[str, str], list[str]] = {}
        for row in rows:
            if not row.ordnance:
                groups.setdefault((row.label, row.target), []).append(row.piece)
        together = [{"by": by, "at": at} for (_, at), by in groups.items() if len(by) > 1]
        shots: Any = [*together, *alone]
        if self.dice is not None and self.cards:
            held = [card.get("action") for card in self.cards.values() if card.get("action") in IN_ATTACK]
            if held:
                shots = itertools.chain(
                    ({**shot, "actions": [self.dice.choice(held)]} for shot in shots), shots
                )
        yield from self._stand("fire", shots)

    def _exits(self, rows: list[Any], manner: str) -> Iterator[Offer]:
        yield from self._stand("exit", ({"unit": row.code, "as": manner} for row in rows))

    def _ways(self, rows: list[Any]) -> Iterator[dict[str, Any]]:
        for row in rows:
            goals = [
                one.label
                for one in self.asked.rows(REACH, unit=row.code, options={})
                if one.label != row.label
            ]
            if self.dice is not None:
                goals = self.dice.sample(goals, min(2, len(goals)))
            for goal in goals[:MOST_WAYS]:
                way = self.asked.rows(WAY, unit=row.code, to=goal, options={})
                yield {"unit": row.code, "path": [step.label for step in way]}

    def _advances(self, rows: list[Any]) -> Iterator[dict[str, Any]]:
        for row in rows:
            for one in self.asked.rows(REACH, unit=row.code, options={"as": "advance"}):
                if one.label != row.label:
                    yield {"to": {row.code: one.label}}


def _verdict(ruling: Ruling) -> str:
    of, actions = ruling.question["legal"], ruling.answer["actions"]
    whose = of.get("unit") or of.get("side")
    told = counted(len(actions), "action") if actions else "no action"
    if whose:
        return f"{whose} has {told} now"
    return f"There {'are' if len(actions) > 1 else 'is'} {told} now"


KIND = QuestionKind(
    name="legal",
    title="What may be done now",
    arguments=Legal,
    rulesets=("ccp",),
    rule=_legal,
    answers={
        "actions": "every action that may be entered now: `action` and `arguments`",
        "orders": "orders that may be given now, by name: from the hand, or by what the map allows",
    },
    verdict=_verdict,
    points=(),
    example="legal: {side: allied}",
)
