"""`legal`: every action that a side or a unit may take now, with arguments that can be entered as they are.

What is compulsory comes first, and while some of it is left the phase is not offered to end. What only a
procedure can judge is tried in it, up to its first roll.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.fpb.duties import duties_left
from app.play.procedures import Given, Procedure, ProcedureKind, Tell, tried
from app.play.sequence import END_PHASE, state_of, walk_of
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, Step
from app.referee.words import counted
from importers.questions import Names

Offer = dict[str, Any]
"""`action` and its `arguments`."""
JUDGED = ("move", "landing", "assault_boats")
"""Actions whose offers come from the queries that judge them."""
UNITS = (
    "select unit.code, unit.side, unit.label, unit.attributes"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral fpb._units(state) as unit order by unit.code"
)


class Legal(Arguments):
    """For whom; without both, for whoever acts now."""

    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="The id of a unit")
    side: Literal["us", "japan"] | None = Field(None, description="A side")


def _legal(asked: Asked, of: Legal) -> Finding:
    walk, state = walk_of("fpb"), state_of(asked)
    moment, leaf = walk.moment(state), walk.leaf(state)
    now = leaf.phase if leaf is not None else None
    table = _Table(asked, of.unit)
    left = table.duties()
    whose = of.side or (table.side_of(of.unit) if of.unit else None) or moment.active
    acting = now is None or now.who in (None, "both") or moment.active == whose
    steps = [
        Step(now.rule if now else "18.0", None, "phase", now.title if now else "Set-up"),
        *(step for _, step in left),
    ]
    if not acting:
        steps.append(Step("5.2", None, "waits", "it is the other side's player turn"))
        return Finding({"actions": []}, steps)
    names = walk.actions(state)
    offers = [duty for duty, _ in left if "action" in duty and (of.unit is None or table.concerns(duty))]
    bound = any("action" in duty for duty, _ in left)
    if not bound:
        offers += [offer for name in names for offer in table.offers(name)]
    if of.unit is None and not left:
        offers.append({"action": END_PHASE.name, "arguments": {}})
    return Finding({"actions": _distinct(offers)}, steps)


def drawn(asked: Asked, dice: random.Random) -> Offer | None:
    """One of the actions that may be taken now, each kind as likely as any other; None where there is none.

    What only a procedure can judge is judged for the one that is drawn, so that random play need not wait for all.
    """
    table = _Table(asked, None)
    left = table.duties()
    bound = [duty for duty, _ in left if "action" in duty]
    if bound:
        return dice.choice(bound)
    names = [name for name in walk_of("fpb").actions(state_of(asked)) if name != END_PHASE.name or not left]
    dice.shuffle(names)
    for name in names:
        if name == END_PHASE.name:
            return {"action": name, "arguments": {}}
        offer = next(table.offers(name, dice), None)
        if offer is not None:
            return offer
    return None


def _distinct(offers: list[Offer]) -> list[Offer]:
    seen: list[Offer] = []
    for offer in offers:
        if offer not in seen:
            seen.append(offer)
    return seen


def _shuffled(made: Iterator[dict[str, Any]], dice: random.Random) -> list[dict[str, Any]]:
    listed = list(made)
    dice.shuffle(listed)
    return listed


class _Table:
    """A position, and what may be done on it."""

    def __init__(self, asked: Asked, unit: str | None) -> None:
        self.asked = asked
        self.unit = unit
        self.active = asked.conditions.get("active")
        self.phase = asked.conditions.get("phase")
        self.units = asked.rows(UNITS)

    def side_of(self, code: str) -> str | None:
        return next((unit.side for unit in self.units if unit.code == code), None)

    def concerns(self, offer: Offer) -> bool:
        """Whether an offer is one for the unit that was asked about."""
        arguments = offer["arguments"]
        return self.unit in (arguments.get("unit"), *arguments.get("by", ()), *(arguments.get("units") or ()))

    def duties(self) -> list[tuple[dict[str, Any], Step]]:
        def procedure() -> Procedure:
            yield Tell(left=(yield from duties_left()))

        found: list[tuple[dict[str, Any], Step]] = tried(
            self.asked, procedure, Given(), functools.partial(kinds_of, "fpb")
        ).answer["left"]
        return found

    def offers(self, name: str, dice: random.Random | None = None) -> Iterator[Offer]:
        """The offers of an action by its name, with dice in no order."""
        from app.play.actions import actions_of

        kind = actions_of("fpb").get(name)
        make = getattr(self, f"_{name}", None)
        if kind is None or make is None:
            return
        candidates = make() if dice is None else _shuffled(make(), dice)
        for arguments in candidates:
            offer = {"action": name, "arguments": arguments}
            if self.unit is not None and not self.concerns(offer):
                continue
            if name in JUDGED or self._stands(kind, arguments):
                yield offer

    def _stands(self, kind: ProcedureKind, arguments: dict[str, Any]) -> bool:
        """Whether the procedure itself allows it."""
        of = kind.arguments.model_validate(arguments)
        outcome = tried(self.asked, lambda: kind.begin(of), Given(), functools.partial(kinds_of, "fpb"))  # type: ignore[arg-type]
        return outcome.allowed is True

    def _of(self, side: str, *, on_map: bool) -> list[Any]:
        return [
            unit
            for unit in self.units
            if unit.side == side
            and (unit.label is not None) == on_map
            and unit.attributes.get("status") != "eliminated"
            and self.unit in (None, unit.code)
        ]

    def _assault_boats(self) -> Iterator[dict[str, Any]]:
        query = "select label from fpb.landing_sites(:position, :conditions, :policy)"
        yield from ({"at": [row.label]} for row in self.asked.rows(query))

    def _withhold(self) -> Iterator[dict[str, Any]]:
        """18.1 step 3: each naval marker for each hex that a Japanese unit may be placed in."""
        [row] = self.asked.rows("select tracks from position where id = :position")
        cup = (row.tracks.get("cup") or {}).get("us") or []
        values = sorted({marker["value"] for marker in cup if marker.get("type") == "naval"})
        query = (
            "select distinct cell.value from charts.cells('fpb', 'random_placement') as cell"
            " join position on position.id = :position"
            " join hex on hex.map_id = position.map_id and hex.label = cell.value"
            " where split_part(cell.row_key, '/', 1) = :island order by cell.value"
        )
        rows = self.asked.rows(query, island=self.asked.conditions.get("island"))
        for value, found in itertools.product(values, rows):
            yield {"markers": [{"value": value, "target": found.value}]}
        if values and not row.tracks.get("withheld"):
            yield {"markers": []}

    def _placement(self) -> Iterator[dict[str, Any]]:
        island = self.asked.conditions.get("island")
        if island is None or self.asked.conditions.get("free_deployment"):
            return
        query = "select * from fpb.placement_rows(:position, :island)"
        for row in self.asked.rows(query, island=island):
            yield {"island": island, "row": row.number, "unit": row.code}

    def _landing(self) -> Iterator[dict[str, Any]]:
        from app.play.actions import actions_of

        markers = self.asked.rows(
            "select hex.label, marker.kind from marker"
            " join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
            " where marker.position_id = :position and marker.kind in ('assault_boat', 'landing_beach')"
            " order by hex.label"
        )
        query = "select * from fpb.landing(:position, :unit, :at, null, false, :conditions, :policy)"
        for unit, marker in itertools.product(self._of("us", on_map=False), markers):
            facts = self.asked.rows(query, unit=unit.code, at=marker.label)[-1].facts
            at = {"unit": unit.code, "at": marker.label}
            if facts["allowed"] and facts["way"] == "assault":
                yield from (at | {"from": berth} for berth in facts["berths"])
            elif facts["allowed"]:
                yield at
            elif facts["way"] == "mobile":
                # 11.2: from a beach that is taken it goes on
                ways = (at | {"path": [label]} for label in self._beside(marker.label))
                yield from (way for way in ways if self._stands(actions_of("fpb")["landing"], way))

    def _beside(self, label: str) -> list[str]:
        rows = self.asked.rows(
            "select beside.label from position"
            " join hex on hex.map_id = position.map_id and hex.label = :label"
            " cross join lateral lattice.neighbours(hex.q, hex.r) as step"
            " join hex as beside on beside.map_id = hex.map_id and beside.q = step.nq and beside.r = step.nr"
            " where position.id = :position order by beside.label",
            label=label,
        )
        return [row.label for row in rows]

    def _move(self) -> Iterator[dict[str, Any]]:
        closed = "select * from fpb.movement_closed(:position, :unit, :conditions, :policy)"
        reach = "select * from fpb.reach_paths(:position, :unit, :conditions, :policy)"
        for unit in self._of(self.active or "us", on_map=True):
            if not self.asked.rows(closed, unit=unit.code):
                for row in self.asked.rows(reach, unit=unit.code):
                    yield {"unit": unit.code, "path": list(row.path)}

    def _rebuild(self) -> Iterator[dict[str, Any]]:
        facts = self.asked.rows("select * from fpb.rebuild(:position, :conditions, :policy)")[-1].facts
        if not facts["limit"] or facts["number"] is not None:
            return
        for number in range(1, min(facts["limit"], len(facts["eligible"])) + 1):
            for units in itertools.combinations(facts["eligible"], number):
                yield {"units": list(units)}

    def _enemies(self) -> list[str]:
        return sorted({unit.label for unit in self.units if unit.side != self.active and unit.label})

    def _bombardment(self) -> Iterator[dict[str, Any]]:
        cup = self.asked.rows(
            "select tracks from position where id = :position",
        )[0].tracks
        withheld = [marker.get("target") for marker in cup.get("withheld", [])]
        if cup.get("cup", {}).get(self.active or "", []) or withheld:
            yield from ({"at": label} for label in sorted({*self._enemies(), *filter(None, withheld)}))

    def _attack(self) -> Iterator[dict[str, Any]]:
        side = self.active or "us"
        if side == "japan" and self.asked.conditions.get("mode") == "solitaire":
            # 16.2: the attacks that must be made are all that there are
            return
        pairs = self.asked.rows(
            "select unit.code, target.label from positions.state(:position, :conditions, :policy) as state"
            " cross join lateral fpb._units(state) as unit"
            " join lateral (select distinct other.q, other.r, other.label from fpb._units(state) as other"
            "   where other.side <> unit.side and other.q is not null"
            "   union select hex.q, hex.r, hex.label from hex where hex.map_id = state.map_id"
            "   and hex.label = unit.attributes ->> 'assaulting') as target"
            " on lattice.distance(unit.q, unit.r, target.q, target.r) = 1"
            " where unit.side = :side and unit.q is not null order by target.label, unit.code",
            side=side,
        )
        for label, found in itertools.groupby(pairs, key=lambda pair: pair.label):
            able = [pair.code for pair in found]
            alone = [code for code in able if self._may_attack([code], label, banzai=False)]
            groups = [[code] for code in alone] + ([alone] if len(alone) > 1 else [])
            for by in groups:
                yield {"by": by, "at": label, "banzai": False}
                if side == "japan":
                    yield {"by": by, "at": label, "banzai": True}

    def _may_attack(self, by: list[str], at: str, *, banzai: bool) -> bool:
        from app.play.actions import actions_of

        return self._stands(actions_of("fpb")["attack"], {"by": by, "at": at, "banzai": banzai})


def _verdict(ruling: Ruling) -> str:
    of, actions = ruling.question["legal"], ruling.answer["actions"]
    whose = of.get("unit") or of.get("side")
    told = counted(len(actions), "action") if actions else "no action"
    return (
        f"{whose} has {told} now"
        if whose
        else f"There is {told} now"
        if len(actions) < 2
        else f"There are {told} now"
    )


KIND = QuestionKind(
    name="legal",
    title="What may be done now",
    arguments=Legal,
    rulesets=("fpb",),
    rule=_legal,
    answers={
        "actions": "every action that may be entered now: `action` and `arguments`; the compulsory first"
    },
    verdict=_verdict,
    points=(),
    example="legal: {side: us}",
)
