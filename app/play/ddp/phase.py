"""The Japanese Fire Phase (6.0, 12.0): counterattack units, positions by color and from west to east, artillery, recovery."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from app.play.ddp import cards
from app.play.ddp.acting import forgiving
from app.play.ddp.deciding import Deciding, Names
from app.play.ddp.japanese import (
    POINTS,
    UNIT,
    Phase,
    Told,
    act,
    cave_acts,
    counterattacks,
    marks,
    stray_tank,
    struck_by,
)
from app.play.ddp.placing import Hand, pool
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind, proof
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, counted, series
from importers.questions import Names as Named

OPENING = "select * from ddp.opening(:position, cast(:card as jsonb), :conditions, :policy)"
CHECKS = "select * from ddp.checks(:position, cast(:card as jsonb), :linked, :conditions, :policy)"
HEXES = "select * from ddp.reserve_hexes(:position, :color, :letter, :linked, :conditions, :policy)"
ARTILLERY = "select * from ddp.artillery(:position, :required, :symbol, :conditions, :policy)"
CLOSING = "select * from ddp.closing(:position, :required, :symbol, :colors, :conditions, :policy)"
RECOVERING = "select * from ddp.recovering(:position, :colors, :conditions, :policy)"
CAVES = (
    "select holder.code, holder.label from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._occupants(state) as holder"
    " where holder.cave and not holder.fortification and not holder.disrupted and holder.place is null order by holder.label"
)


class FirePhase(Action):
    """The whole phase: nothing but the fire card."""


def fire_phase(of: FirePhase) -> Procedure:
    """6.0: one fire card, and all that it makes the Japanese do."""
    return forgiving(of, _fire_phase(of))


def _fire_phase(of: FirePhase) -> Procedure:
    moment = yield from cards.moment()
    yield from once_a_phase(moment, "japanese_fire", 2 if moment.get("turn") == 13 else 1)
    card = yield from cards.fire("the Japanese Fire Phase")
    [game, *checked] = yield Ask(OPENING, proves=False, card=marks(card))
    run = _Run(card, of, game.facts)
    run.phase.know(checked)
    yield from run.counterattack()
    yield from run.positions()
    yield from run.caves()
    guns, recovered = yield from close(card, run.phase)
    yield Tell(
        order=run.order,
        checks=run.checks,
        hits=run.hits,
        artillery=guns,
        recovered=recovered,
        result=" ".join(f"{place}:{'+'.join(hits)}" for place, hits in run.hits.items() if hits) or "no_hit",
    )


def once_a_phase(conditions: Mapping[str, Any], phase: str, times: int = 1) -> Deciding:
    """In a game a card is drawn once in its phase; beside a game nobody counts."""
    if conditions.get("phase") != phase:
        return
    drawn = conditions.get("drawn") or 0
    if drawn >= times:
        raise Refused("4.0", "the card of this phase has been drawn")
    yield Change({"conditions": {"drawn": drawn + 1}}, kept=True)


def close(card: cards.Card, phase: Phase) -> Deciding:
    """6.5, 6.42, 6.34: artillery, recovery, and what was kept for the phase is forgotten."""
    colors = [color.name for color in card.colors]
    rows = yield Ask(CLOSING, proves=False, required=card.artillery, symbol=card.symbol, colors=colors)
    parts = {part: [row for row in rows if row.part == part] for part in ("artillery", "recovery", "flag")}
    yield proof(parts["artillery"])
    guns = yield from _guns(parts["artillery"], phase)
    yield proof(parts["recovery"])
    recovered = yield from _recovered(parts["recovery"])
    for code in sorted({*(row.by for row in parts["flag"]), *filter(None, [guns["hit"]])}):
        yield Change({"unit": code, "stepped": None, "checked": None}, kept=True)
    return guns, recovered


class _Check(NamedTuple):
    """A position that a card checks."""

    place: str
    color: str
    west: int
    held: bool


class _Run:
    """One Fire Phase, as it goes on; `game` is what it began with (`ddp.opening`)."""

    def __init__(self, card: cards.Card, of: Action, game: Mapping[str, Any]) -> None:
        self.card, self.game = card, game
        # 11.22: communication is fixed
        self.phase = Phase(card, of, linked=game["linked"], hand=Hand(of))
        self.order: list[str] = []
        self.checks: list[dict[str, str]] = []
        self.hits: dict[str, list[str]] = {}

    @property
    def names(self) -> Names:
        return self.phase.names

    def counterattack(self) -> Deciding:
        """13.42: all units in stance first, the nearest to a landing beach before the others; 11.22: communication is fixed."""
        yield Tell(
            Step(
                "11.22",
                None,
                "fixed",
                f"{len(self.game['linked'])} position hexes are in Japanese communication in this phase",
            )
        )
        for _, group in itertools.groupby(self.game["stance"] or (), key=lambda one: one["rank"]):
            tied = [one["unit"] for one in group]
            while tied:
                code = yield from self.names.one("order", "which unit in stance acts first", tied)
                tied.remove(code)
                [unit] = yield Ask(UNIT, proves=False, unit=code)
                yield from self._begins(code)
                yield from self._note(code, (yield from counterattacks(unit, self.phase)))
                self.phase.arrived.add(code)

    def positions(self) -> Deciding:
        """12.0: color by color, in each from west to east."""
        rows = yield from self._checks()
        self.phase.left = [row.place for row in rows]
        for color in self.card.colors:
            # who moved or came has changed what there is to check
            now = (yield from self._checks()) if self.phase.arrived else rows
            now = [row for row in now if row.color == color.name]
            yield from self._scarce(color, now)
            for _, group in itertools.groupby(now, key=lambda row: row.west):
                for place in (yield from self._column(list(group))):
                    self.phase.left = [one for one in self.phase.left if one != place]
                    yield from self._begins(place)
                    yield from self._note(place, (yield from act(place, color, self.phase)))
            yield from self._strays(color)

    def _checks(self) -> Deciding:
        """The positions to check, as they were when the phase began or, if units have come since, are now."""
        if not self.phase.arrived:
            return [_Check(**one) for one in self.game["checks"] or ()]
        rows = yield Ask(CHECKS, proves=False, card=marks(self.card), linked=self.phase.linked)
        return [_Check(*row) for row in rows]

    def _column(self, rows: Sequence[_Check]) -> Deciding:
        """ddp-44: positions of one color in one column: as the player likes, or from the north."""
        places = [row.place for row in rows]
        able = [row.place for row in rows if row.held]
        if len(able) < 2:
            return places
        yield Tell(points=("ddp-44",))
        if self.game["readings"]["ddp-44"] == "b":
            return places
        ordered: list[str] = []
        while len(able) > 1:
            first = yield from self.names.one("order", "which position of the column acts first", able)
            able.remove(first)
            ordered.append(first)
        return [*ordered, *able, *(place for place in places if place not in (*ordered, *able))]

    def _strays(self, color: cards.Color) -> Deciding:
        """13.2: tanks outside every position when the phase began act by their own color."""
        for stray in self.game["strays"] or ():
            if stray["color"] == color.name and stray["unit"] not in self.phase.arrived:
                [unit] = yield Ask(UNIT, proves=False, unit=stray["unit"])
                yield from self._begins(unit.code)
                yield from self._note(
                    unit.code, (yield from self.phase.carried_out(stray_tank(unit, color, self.phase)))
                )

    def caves(self) -> Deciding:
        if not self.game["caves"]:
            return
        for row in (yield Ask(CAVES, proves=False)):
            told = yield from cave_acts(row.label, self.phase)
            if told["action"] != "none":
                yield from self._begins(row.code)
                yield from self._note(row.code, told)

    def _begins(self, who: str) -> Deciding:
        """Who acts is told before it does."""
        self.order.append(who)
        yield Tell(order=list(self.order))

    def _note(self, who: str, told: Told) -> Deciding:
        """What was done so far is told even while something is waited for."""
        self.checks.append({"position": who, "action": told["action"]})
        if told["action"] != "none" and ("limit" in told or told["hits"]):
            self.hits[who] = [*self.hits.get(who, []), *told["hits"]]
        yield Tell(checks=list(self.checks), hits=dict(self.hits))

    def _scarce(self, color: cards.Color, rows: Sequence[_Check]) -> Deciding:
        """12.22, 12.52, 12.102: too few reserve units go to the hexes closest to US units (ddp-45)."""
        self.phase.served = lambda _: True
        if color.letter not in ("M", "R", "I") or all(row.held for row in rows):
            return
        held = yield from pool("reserve")
        most = len(held) if isinstance(held, list) else held
        wanted = yield Ask(
            HEXES, proves=False, color=color.name, letter=color.letter, linked=self.phase.linked
        )
        if most is None or most >= len(wanted) or most == 0:
            return
        yield Tell(points=("ddp-45",))
        if self.game["readings"]["ddp-45"] == "b":
            yield Tell(
                Step("12.0", None, "in turn", "each position takes a reserve unit while there are any")
            )
            return
        chosen: list[str] = []
        for _, group in itertools.groupby(wanted, key=lambda row: row.near):
            tied = [row.label for row in group]
            room = min(most - len(chosen), len(tied))
            chosen += yield from self.names.pick(
                "reserve", "which hexes get the last reserve units", list(itertools.combinations(tied, room))
            )
        yield Tell(Step("12.52", None, "closest first", f"{most} reserve units go to {', '.join(chosen)}"))
        self.phase.served = lambda label: label in chosen


# Artillery.


class Artillery(Action):
    """Artillery by the value of a fire card."""


def artillery(of: Artillery) -> Procedure:
    """6.5: whether the guns are enough, and whom they hit."""
    card = yield from cards.symbol("Japanese artillery")
    rows = yield Ask(ARTILLERY, required=card.artillery, symbol=card.symbol)
    told = yield from _guns(rows, Phase(card, of, hand=Hand(of)))
    hit = told["hit"]
    yield Tell(**told, result="no_hit" if hit is None else hit)


def _guns(rows: Sequence[Any], phase: Phase) -> Deciding:
    """required, have, fires, hit, by the ledger of `ddp.artillery`."""
    told: dict[str, Any] = {**next(row.facts for row in rows if row.facts), "hit": None}
    if told["fires"]:
        hits = (yield from struck_by(rows[-1], "artillery", phase))["hits"]
        told["hit"] = hits[0] if hits else None
    return told


# Recovery.


class Recover(Action):
    """Who recovers: the Japanese by a fire card, or one US unit."""

    one_of = ("side", "unit")
    which = "name the side japan or a US unit"
    side: Literal["japan"] | None = Field(None, description="japan: by the colors of a fire card")
    unit: Annotated[str | None, Named(("unit",))] = Field(None, description="A disrupted US unit")


def recover(of: Recover) -> Procedure:
    """6.42, 7.6: disruption is removed."""
    if of.unit is not None:
        from app.play.ddp.us import recover_us

        yield from recover_us(of.unit)
        return
    card = yield from cards.fire("the recovery of Japanese units")
    rows = yield Ask(RECOVERING, colors=[color.name for color in card.colors])
    yield Tell(recovered=(yield from _recovered(rows)))


def _recovered(rows: Sequence[Any]) -> Deciding:
    """6.42: all in positions of the three colors, after all fire; whoever was disrupted in this phase too (8.66)."""
    recovered: list[str] = []
    for row in rows:
        if row.facts is None:
            continue
        if row.facts["fortification"]:
            yield from _fortification_recovers(row.facts["label"])
        else:
            yield Change({"unit": row.facts["unit"], "disrupted": False})
            recovered.append(row.facts["unit"])
    return recovered


def _fortification_recovers(label: str) -> Deciding:
    [row] = yield Ask(
        "select marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
        " where marker.position_id = :position and marker.kind = 'fortification' and hex.label = :at limit 1",
        proves=False,
        at=label,
    )
    said = row.attributes
    yield Change(
        {"marker": "fortification", "at": label, **said, "removed": True},
        {"marker": "fortification", "at": label, **{key: said[key] for key in said if key != "disrupted"}},
    )


def _phase_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"There is no Japanese fire: {answer['why']}"
    if "recovered" not in answer:
        return "The Japanese Fire Phase waits for a card, a draw or a choice"
    hit = [unit for hits in answer["hits"].values() for unit in hits]
    guns = answer["artillery"]["hit"]
    return clauses(
        f"{counted(len(answer['order']), 'check')} made",
        f"hit: {series(hit)}" if hit else "nobody is hit by positions",
        f"artillery hits {guns}" if guns else None,
        f"recovered: {series(answer['recovered'])}" if answer["recovered"] else None,
    )


def _artillery_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if "have" not in answer:
        return "Artillery waits for a fire card"
    if not answer["fires"]:
        return f"Japanese artillery does not fire: {ruling.steps[-1].note}"
    return (
        f"Japanese artillery hits {answer['hit']}"
        if answer.get("hit")
        else "Japanese artillery fires and hits nobody"
    )


def _recover_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"It does not recover: {answer['why']}"
    if ruling.question["recover"].get("unit"):
        return f"{ruling.question['recover']['unit']} loses its disruption marker"
    if "recovered" not in answer:
        return "Recovery waits for a fire card"
    return f"{series(answer['recovered'])} recover" if answer["recovered"] else "Nobody recovers"


KINDS = [
    procedure_kind(
        fire_phase,
        kinds=functools.partial(kinds_of, "ddp"),
        name="fire_phase",
        title="The Japanese Fire Phase",
        arguments=FirePhase,
        rulesets=("ddp",),
        answers={
            "order": "who was checked, in order: units in counterattack stance, then positions",
            "checks": "the same, each with its action",
            "hits": "the units that each position hit",
            "artillery": "required, have, fires, hit: artillery by the card's value",
            "recovered": "Japanese units that lose their disruption markers",
            "result": "who was hit by whom, for the odds",
        },
        verdict=_phase_verdict,
        points=(*POINTS, "ddp-44", "ddp-45", "ddp-46", "ddp-51"),
        example="fire_phase: {cards: [{colors: [orange R, blue P, brown A], symbol: circle, artillery: 7}]}",
    ),
    procedure_kind(
        artillery,
        kinds=functools.partial(kinds_of, "ddp"),
        name="artillery",
        title="Japanese artillery fire",
        arguments=Artillery,
        rulesets=("ddp",),
        answers={
            "required": "artillery positions that the card asks for; null where it has no value",
            "have": "artillery positions with an undisrupted unit and guns",
            "fires": "whether they fire",
            "hit": "the unit that loses a step",
            "result": "the unit hit, for the odds",
        },
        verdict=_artillery_verdict,
        points=("ddp-6", "ddp-47", "ddp-51"),
        acts=False,
        example="artillery: {cards: [{colors: [red, blue, green], symbol: circle, artillery: 7}]}",
    ),
    procedure_kind(
        recover,
        kinds=functools.partial(kinds_of, "ddp"),
        name="recover",
        title="Removing disruption",
        arguments=Recover,
        rulesets=("ddp",),
        answers={"recovered": "the units that lose their disruption markers"},
        verdict=_recover_verdict,
        points=("ddp-12",),
        example="recover: {side: japan, cards: [{colors: [red, blue, green], symbol: circle}]}",
    ),
]  # fmt: skip
