"""Moves that are played (6.0): hex by hex, stopping wherever somebody decides.

For each hex: points are spent; Opportunity Fire; mines; an Ambush; then the entry with DG, booby trap, a strike from
the air, Snipers, the offer of a ridge, airfield, beaches and Victory Hexes. What a step costs and who may fire is
judged by `css.step`, as `css.move` judges a whole way.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.css.fire import CHOICES, Gunners, Trigger, aimed, alert, as_told, react
from app.play.css.fire import POINTS as FIRE_POINTS
from app.play.css.frame import OTHER, Asking, css_kind, game, ledger, waits_for
from app.play.css.hazards import PLACES, ambushed, crossed, mined, sniped, trapped, units_of
from app.play.css.indirect import strike
from app.play.css.points import paid
from app.play.css.status import (
    CHOSEN,
    RESULTS,
    Orders,
    billed,
    forsaken,
    note_action,
    reading,
    settle,
    state,
    take_along,
)
from app.play.css.victory import entered_by
from app.play.effects import after
from app.play.procedures import (
    ANSWERS,
    COMMON_ANSWERS,
    NOTHING,
    Action,
    AnswerError,
    Ask,
    Call,
    Change,
    Choose,
    Procedure,
    ProcedureKind,
    Put,
    Refused,
    Tell,
    Undecided,
    tried,
)
from app.play.procedures import given as answers_given
from app.referee.questions import kinds_of
from app.referee.questions.movement import CSS_POINTS, MOVE_ANSWERS, MoveAlong, judged, move_verdict, step_of
from app.referee.rulings import Asked, Finding, QuestionKind, Ruling, RulingError, Step
from app.referee.words import in_points, not_known
from db.values import canonical
from importers.questions import Names

DECIDED = ("op_fire", "stay", "ambush", "air_strike", "ridge_marker", "repair", *CHOICES)
"""What may be decided on a way; an answer that nothing called for is let be."""
MOST_HEXES = 60
"""Hexes that one way has."""
STEP = "select * from css.step(:position, :unit, :to, cast(:options as jsonb), :conditions, :policy)"
HELD = (
    "select held.rule, held.note from unit cross join lateral css._holds(:position, unit.q, unit.r,"
    " coalesce((unit.attributes ->> 'in_cave')::boolean, false)) as held"
    " where unit.position_id = :position and unit.code = :unit"
)
LOADED = (
    "select code from unit where position_id = :position and attributes ->> 'loaded_in' = :unit order by code"
)


class Move(Action):
    """Who moves, and along which way."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that moves")
    path: Annotated[list[str], Names(("hex",)), Field(min_length=1, max_length=MOST_HEXES)] = Field(
        description="Labels of the hexes entered, in order; the one it stands in may come first"
    )
    together: Annotated[list[str], Names(("unit",))] = Field(
        default_factory=list, alias="with", description="Ids of those that go along"
    )
    posture: Literal["column"] | None = Field(None, description="It changes to Column first (6.0)")
    off_road: bool = Field(False, description="It declines every road and trail (6.2.1)")
    night_shift: bool = Field(False, description="Japanese artillery shifts by night (27.0)")


def move(of: Move) -> Procedure:
    """6.0: a Movement Action."""
    if of.night_shift:
        yield from _shifted(of)
        return
    orders = Orders(of.choices)
    party = yield from _party(of)
    movers = yield from _units(party)
    yield from _may_act(of, orders)
    going = _Going(of, party, orders)
    yield from going.along()
    yield from note_action({}, movers)
    yield from orders.finish(*DECIDED)


def _shifted(of: Move) -> Procedure:
    """27.0: two hexes in the second night turn."""
    finding = yield Put("move", unit=of.unit, path=of.path, night_shift=True)
    answer = finding.answer
    if answer["legal"] is False:
        bar = next((step for step in finding.steps if step.effect == "forbids"), finding.steps[-1])
        raise Refused(bar.rule, bar.note, answer["ends_at"], cost=0, ends_at=answer["ends_at"])
    if answer["legal"] is None:
        raise Undecided(cost=0, ends_at=answer["ends_at"])
    yield Tell(cost=0, ends_at=answer["ends_at"])
    yield Change({"unit": of.unit, "at": answer["ends_at"]})
    for place, dg in answer.get("dg", {}).items():
        yield Change({"hex": place.removesuffix(" cave"), "dg": int(dg)})


def _may_act(of: Move, orders: Orders) -> Procedure:
    """5.1, 5.2: who is Active, and for which of its Actions; a second one is paid for, Unit by Unit."""
    owed: Counter[str] = Counter()
    others = (yield from _units(of.together)) if of.together else []
    for unit in dict.fromkeys([of.unit, *others]):
        facts = yield from ledger("may_act", unit=unit)
        if facts["paid"] and facts["division"] is not None:
            owed[facts["division"]] += 1
    for whose in CHOSEN:
        if commands := owed.pop(whose, 0):
            for payer in (yield from billed({whose: commands * (yield from _each())}, orders, of.unit)):
                owed[payer] += commands
    for division, commands in owed.items():
        yield from paid(division, commands)
    if of.posture is not None:
        [row] = yield Ask(PLACES, proves=False, codes=[of.unit])
        if row.attributes.get("posture") == "deployed":
            kind = kinds_of("css")["posture"]
            assert isinstance(kind, ProcedureKind)
            yield Call(kind.begin(kind.arguments(unit=of.unit, to="column")))  # type: ignore[arg-type,call-arg]


def _each() -> Asking:
    """4.0: what a Direct Command costs today."""
    [row] = yield Ask("select css._command_cost(:conditions) as each", proves=False)
    return row.each


def _party(of: Move) -> Asking:
    """The unit, those that go along, and what a truck carries."""
    rows = yield Ask(LOADED, proves=False, unit=of.unit)
    return list(dict.fromkeys([of.unit, *of.together, *(row.code for row in rows)]))


def _units(codes: list[str]) -> Asking:
    rows = units_of((yield Ask(PLACES, proves=False, codes=codes)))
    return [row.code for row in rows]


class _Going:
    """A party on its way: what it has left to spend, and where it stands."""

    def __init__(self, of: Move, party: list[str], orders: Orders) -> None:
        self.of, self.orders = of, orders
        self.party = party
        self.purse: int | None = None
        self.spent = 0
        self.side = ""
        self.here = ""

    def along(self) -> Procedure:
        [row] = yield Ask(PLACES, proves=False, codes=[self.of.unit])
        self.side, self.here = row.side, row.label
        path = self.of.path[1:] if self.of.path[0] == self.here and len(self.of.path) > 1 else self.of.path
        for n, to in enumerate(path, 1):
            if not (yield from self._step(n, to)):
                break
        yield Tell(cost=_points(self.spent), left=_points(self.purse or 0), ends_at=self.here)

    def _step(self, n: int, to: str) -> Asking:
        """One hex; gives whether the way goes on."""
        options: dict[str, Any] = {"with": [code for code in self.party if code != self.of.unit], "n": n}
        if self.of.off_road:
            options["off_road"] = True
        if self.purse is not None:
            options["purse"] = self.purse
        rows = yield Ask(STEP, unit=self.of.unit, to=to, options=canonical(options))
        verdict = rows[-1]
        if verdict.effect == "refused":
            if n > 1:
                # what happened on the way has changed what it can do: it stops where it is
                yield Tell(Step(verdict.rule, self.here, "stops", verdict.note))
                return False
            raise Refused(verdict.rule, verdict.note, verdict.at, cost=0, ends_at=to)
        if verdict.effect == "unknown":
            raise Undecided(cost=_points(self.spent), ends_at=to)
        facts = verdict.facts
        self.purse = facts["purse"]
        self.spent += facts["cost"]
        before = yield from self._dg()
        yield from self._op_fire(to)
        if not (yield from self._goes_on()):
            return False
        after = yield from self._dg()
        yield from self._slowed(before, after)
        if (yield from self._mined()):
            if not (yield from self._through_mines(to, max(after - before, 0))):
                return False
        else:
            if (yield from self._ambushed(to)):
                return False
            yield from self._enters(to, facts)
        yield from self._after_entry(to, facts)
        return (yield from self._goes_on())

    def _dg(self) -> Asking:
        [row] = yield Ask(
            "select css._dg_at(:position, unit.q, unit.r, coalesce((unit.attributes ->> 'in_cave')::boolean, false)) as dg"
            " from unit where unit.position_id = :position and unit.code = any(:codes) and unit.q is not null"
            " union all select 0 limit 1",
            proves=False,
            codes=self.party,
        )
        return row.dg

    def _slowed(self, before: int, after: int) -> Procedure:
        """10.2.3, css-58: DG gained on the way lowers what is left."""
        if after <= before:
            return
        [row] = yield Ask(
            "select css.purse_left(:position, :purse, :before, :after, :policy) as left",
            proves=False, purse=self.purse, before=before, after=after,
        )  # fmt: skip
        yield Tell(points=("css-58",))
        self.purse = row.left

    def _goes_on(self) -> Asking:
        """Who is lost, routed, Pinned or Suppressed goes no further."""
        rows = yield Ask(PLACES, proves=False, codes=self.party)
        left = [row.code for row in rows]
        self.party = [code for code in self.party if code in left]
        if self.of.unit not in left:
            return False
        held = yield Ask(HELD, proves=False, unit=self.of.unit)
        for row in held:
            yield Tell(Step(row.rule, self.here, "stops", row.note))
        return not held

    # Opportunity Fire.

    def _op_fire(self, to: str) -> Procedure:
        """8.6: enemies fire one after the other, each hex once, until their owner declines."""
        enemy = OTHER[self.side]
        done: set[str] = set()
        while True:
            alerts, places = yield from self._gunners(to)
            guns = {code: label for code, label in places.items() if label not in done}
            options = sorted(set(guns.values()))
            if not options or not (yield from self._still_here()):
                return
            gunners = Gunners(
                self.orders.named("op_fire"), enemy, f"who fires at {self.of.unit} as it leaves {self.here}", options=[*options, NOTHING],
                unsaid=NOTHING, rule="8.6", guns=guns,
            )  # fmt: skip
            chosen = yield gunners
            if chosen == NOTHING:
                return
            shot = dataclasses.replace(gunners.shot(chosen), at=self.here, read=self.of.read)
            by = shot.by[0]
            done.add(guns[by])
            if chosen not in options:
                shot = yield from as_told(shot, self.orders)
            alerted = yield from alert(by)
            if alerts[by] and not alerted:
                yield Tell(Step("12.5", guns[by], "silent", "the dogs do not give the alarm"))
                continue
            purpose = f"Opportunity Fire of {by} as {self.here} is left for {to}"
            if chosen in options:
                shot = yield from aimed(shot, self.orders)
            fired = yield Call(
                react(
                    shot,
                    Trigger(),
                    self.orders,
                    purpose,
                    alerted=bool(alerted),
                )
            )
            yield Tell(op_fire=fired.get("crt") or fired.get("result"))

    def _still_here(self) -> Asking:
        rows = yield Ask(PLACES, proves=False, codes=[self.of.unit])
        return bool(rows)

    def _gunners(self, to: str) -> Asking:
        """Enemies who may fire, whether it takes an alert roll, and their hexes."""
        options = {"with": [code for code in self.party if code != self.of.unit], "purse": 198}
        rows = yield Ask(STEP, proves=False, unit=self.of.unit, to=to, options=canonical(options))
        if rows[-1].effect != "legal":
            return {}, {}
        fires = {one["by"]: one["alert"] for one in rows[-1].facts["fires"]}
        places = yield Ask(PLACES, proves=False, codes=list(fires))
        return fires, {row.code: row.label for row in places}

    # Mines and ambushes.

    def _through_mines(self, to: str, op_fire_dg: int) -> Asking:
        """28.1: gives whether they have left the beach; css-86: an Ambush ahead is tried after the mines, or before."""
        ambush = self.side == "us" and (yield from _ambush_possible(to)) and (yield from reading("css-86"))
        if ambush == "b" and (yield from self._ambushed(to)):
            return False
        stays = yield from mined(
            self.party, self.here, to, op_fire_dg, self.orders, purpose=f"mines in {self.here}",
            ahead=functools.partial(self._ambushed, to) if ambush == "a" else None,
        )  # fmt: skip
        return not stays and (yield from self._entered(to))

    def _mined(self) -> Asking:
        if self.side != "us":
            return False
        rows = yield Ask(
            "select 1 from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
            " where marker.position_id = :position and marker.kind = 'mines' and hex.label = :label",
            proves=False,
            label=self.here,
        )
        return bool(rows)

    def _ambushed(self, to: str) -> Asking:
        """24.1: offered where it can be tried at all."""
        if self.side != "us" or not (yield from _ambush_possible(to)):
            return False
        tries = yield Choose(
            self.orders.named("ambush"),
            "japan",
            f"whether an Ambush is tried in {to}",
            options=[False, True],
            unsaid=False,
            default=False,
        )
        if not tries:
            return False
        return (yield from ambushed(self.of, to, None, None, self.of.unit, self.orders)) == "placed"

    # The entry.

    def _enters(self, to: str, facts: dict[str, Any]) -> Procedure:
        inside = facts["inside"]
        crossing = yield from ledger(
            "crossing",
            codes=self.party,
            to=to,
            mine_dg=None,
            op_fire_dg=None,
            told_apart=False,
            inside=inside,
        )
        source = self.here
        if inside != crossing["from_inside"] or inside:
            yield from self._through_mouth(to, crossing, inside)
        else:
            yield from crossed(self.party, to, crossing, self.orders)
        yield from self._slowed(crossing["carried"], crossing["there"])
        self.here = to
        if source != to:
            yield from self._left_behind(source, crossing)

    def _through_mouth(self, to: str, crossing: dict[str, Any], inside: bool) -> Procedure:
        """6.3: the inside of a cave is a place of its own."""
        here, there = (
            {"in_cave": True} if crossing["from_inside"] else {},
            {"in_cave": True} if inside else {},
        )
        if crossing["here"] and not crossing["stay"]:
            yield Change({"hex": crossing["from"], **here, "dg": 0})
        yield Change(*({"unit": code, "at": to, "in_cave": inside} for code in self.party))
        if crossing["dg"] != crossing["there"]:
            yield Change({"hex": to, **there, "dg": crossing["dg"]})

    def _left_behind(self, source: str, crossing: dict[str, Any]) -> Procedure:
        """11.1, 12.1, 13.1, 29.1: what is left without a unit."""
        if self.side == "us":
            yield from take_along(source, self.here)
        yield from settle(source, crossing["from_inside"], self.orders)
        yield from forsaken()

    def _entered(self, to: str) -> Asking:
        """Whether those who went through mines have come into the hex."""
        rows = yield Ask(PLACES, proves=False, codes=[self.of.unit])
        if not rows or rows[0].label != to:
            return False
        source, self.here = self.here, to
        if self.side == "us":
            yield from take_along(source, to)
        yield from settle(source, False, self.orders)
        yield from forsaken()
        return True

    def _after_entry(self, to: str, facts: dict[str, Any]) -> Procedure:
        """Booby trap, a strike from the air, Snipers, a ridge, victory."""
        inside = facts["inside"]
        yield from self._trap(to, inside)
        yield from self._struck(to, facts["way"])
        if self.side == "us":
            for row in (yield Ask("select * from css.snipers_at(:position, :label)", proves=False, label=to)):
                if (yield from self._still_here()):
                    yield from sniped(row.at, to, self.of.unit, self.of, self.orders)
        if (yield from self._still_here()) and not inside:
            yield from self._ridge()
            yield from entered_by(self.side, to)
            yield from self._repairs(to)
            yield from self._fortifications(to)

    def _trap(self, to: str, inside: bool) -> Procedure:
        rows = yield Ask(
            "select 1 from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
            " where marker.position_id = :position and marker.kind = 'booby_trap' and hex.label = :label",
            proves=False,
            label=to,
        )
        now = yield from state()
        if rows and not inside and (self.side == "us" or now.readings["css-77"] == "b"):
            yield from trapped(to, self.of, self.orders)

    def _struck(self, to: str, way: str | None) -> Procedure:
        """16.0: a Japanese column on a road, by a marker of the Interdiction box."""
        _, tracks = yield from game()
        if self.side != "japan" or way not in ("paved_road", "unpaved_road") or not tracks.get("air_box"):
            return
        strikes = yield Choose(
            self.orders.named("air_strike"), "us", f"whether the column in {to} is struck from the air", options=[False, True],
            unsaid=False, default=False,
        )  # fmt: skip
        if not strikes:
            return
        yield Change({"track": "air_box", "value": tracks["air_box"] - 1})
        yield Call(
            strike(
                to, None, self.orders, read=self.of.read, interdicts=True, purpose=f"the air strike on {to}"
            )
        )

    def _ridge(self) -> Procedure:
        """6.2.2: the defender may claim the ridge, then the mover."""
        query = (
            "select side.direction, side.enemies, side.in_caves from positions.state(:position, :conditions, :policy) as state"
            " cross join lateral positions.counter(:position, :unit) as unit"
            " cross join lateral css._ridges(state, unit) as side order by side.direction"
        )
        for row in (yield Ask(query, proves=False, unit=self.of.unit)):
            for side, unit in ((OTHER[self.side], row.enemies[0]), (self.side, self.of.unit)):
                if side != self.side and row.in_caves:
                    continue
                bars = yield Ask(
                    "select * from css.ridge_marker(:position, :unit, 'claim', :conditions, :policy)",
                    proves=False,
                    unit=unit,
                )
                if bars[-1].effect == "refused":
                    break
                claims = yield Choose(
                    self.orders.named("ridge_marker"), side, f"whether {unit} claims the ridge", options=["decline", "claim"],
                    unsaid="decline", default="decline",
                )  # fmt: skip
                if claims == "claim":
                    facts = bars[-1].facts
                    yield Tell(Step("6.2.2", facts["at"], "claimed", "a Ridge marker"))
                    yield Change({"marker": "ridge", "at": facts["at"], "side": facts["side"]})
                    break

    def _repairs(self, to: str) -> Procedure:
        """11.3.2: an Engineer who enters the hex of the Cleared marker may go to repair the airfield, for good."""
        query = (
            "select unit.code from unit join marker on marker.position_id = unit.position_id and marker.q = unit.q"
            " and marker.r = unit.r and marker.kind = 'orote_cleared'"
            " where unit.position_id = :position and unit.code = any(:codes) and unit.kind = 'engineer'"
            " and unit.side = 'us' order by unit.code"
        )
        for row in (yield Ask(query, proves=False, codes=self.party)):
            if (
                yield from self.orders.flag("repair", "us", f"whether {row.code} goes to repair the airfield")
            ):
                yield Tell(Step("11.3.2", to, "repairing", f"{row.code} goes to the Repairing box"))
                yield Change({"unit": row.code, "at": None, "box": "repairing"})
                yield from settle(to, False, self.orders)

    def _fortifications(self, to: str) -> Procedure:
        """11.1, css-33: an enemy's pillbox does not outlast who enters its hex."""
        rows = yield Ask(
            "select 1 from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
            " where marker.position_id = :position and marker.kind = 'pillbox' and hex.label = :label",
            proves=False,
            label=to,
        )
        if rows and self.side == "us":
            yield Tell(Step("11.1", to, "removed", "a pillbox goes when an enemy enters"))
            yield Change({"marker": "pillbox", "at": to, "removed": True})


def _ambush_possible(to: str) -> Asking:
    """Whether the Japanese have somebody beside the hex, a point, a counter and a known number."""
    rows = yield Ask(
        "select * from css.ambush(:position, :to, null, :conditions, :policy)", proves=False, to=to
    )
    verdict = rows[-1]
    if verdict.effect == "refused" or verdict.facts["number"] is None:
        return False
    _, tracks = yield from game()
    if not (tracks.get("pools") or {}).get("ambush"):
        return False
    price = yield from _each()
    divisions = tracks.get("divisions", {})
    return any(divisions.get(name, {}).get("direct_commands", 0) >= price for name in verdict.facts["payers"])


def _points(halves: int) -> Any:
    return halves // 2 if halves % 2 == 0 else halves / 2


def _verdict(ruling: Ruling) -> str:
    return f"{ruling.question['move']['unit']} moves to {ruling.answer['ends_at']} for {in_points(ruling.answer['cost'])}"


def _asked_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if "opportunity_fire" in answer:
        plain = {key: value for key, value in answer.items() if key != "effects"}
        return move_verdict(dataclasses.replace(ruling, answer=plain))
    if answer["allowed"]:
        return f"Move: {waits_for(answer['pending'])}" if "pending" in answer else _verdict(ruling)
    return not_known("the move may be", ruling) if answer["allowed"] is None else f"No move: {answer['why']}"


MET = {
    "op_fire": "what the last Opportunity Fire came to",
    "roll": "the last die of mines, traps or Snipers",
    "total": "DG of those who leave mines, in all",
    "eliminated": "units lost to mines",
    "removed": "whether a trap or Sniper is gone",
    "result": "of a trap, Sniper or Ambush",
    "number": "the number of an Ambush",
    "ambush": "the Ambush Unit",
    "lost": "a Leader or Hero who is lost",
}
"""What is told of who and what is met on the way."""
ON_THE_WAY = ("css-2", "css-32", "css-56", "css-59", "css-84", "css-86", *FIRE_POINTS, *RESULTS)
"""Points that fire, mines, traps and the airfield on the way turn on, beside those of the way itself."""
ACTIONS = [
    css_kind(
        move,
        name="move",
        title="A move",
        what="move",
        done=_verdict,
        arguments=Move,
        answers={
            "cost": "points that it spends",
            "left": "points that it has left",
            "ends_at": "the hex in which it ends",
            "dg": "DG of mines",
            **MET,
        },
    ),
]
"""A move is done by this; the question of that name judges it whole, or does it with the answers that it is given."""


class Way(MoveAlong, Action):
    """A way, hex by hex, and what dice and players said on it."""


STILL = ("hits", "points", "manner")
"""What is said of a move that is judged whole."""
DONE = (
    "unit",
    "path",
    "together",
    "posture",
    "off_road",
    "night_shift",
    "rolls",
    "draws",
    "cards",
    "choices",
    "read",
)
TURNED = "select * from css.posture(:position, :unit, :posture, :conditions, :policy)"
COMMAND_PRICE = "select * from css.command_price(:position, :division, :commands, :conditions, :policy)"
MAY_ACT = "select * from css.may_act(:position, :unit, :conditions, :policy)"
ENEMIES = (
    "select distinct hex.label, unit.side from unit"
    " join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and unit.code = any(:codes) order by hex.label"
)


def _asked_move(asked: Asked, of: Way) -> Finding:
    """A way judged whole (6.0); with answers of dice or players, what happens on it."""
    if not any(getattr(of, name) for name in (*ANSWERS, "read")):
        told = {name: value for name, value in of if value is not None and name not in (*ANSWERS, "read")}
        return _foreseen(asked, of, judged(asked, MoveAlong.model_validate(told)))
    if said := [name for name in STILL if getattr(of, name) is not None]:
        raise RulingError(
            f"A move with dice or choices takes no {'as' if said[0] == 'manner' else said[0]!r}: it is done hex by hex."
        )
    act = Move.model_validate({name: getattr(of, name) for name in DONE if getattr(of, name)})
    supply = answers_given(act)
    outcome = tried(asked, lambda: move(act), supply, functools.partial(kinds_of, "css"))
    if outcome.pending is None and outcome.allowed and (left := supply.left()) is not None:
        raise AnswerError(f"{left[0].upper()}{left[1:]}.")
    answer = outcome.told() | {"legal": outcome.allowed}
    return Finding(answer, outcome.steps, outcome.points, outcome.needs)


def _foreseen(asked: Asked, of: Way, finding: Finding) -> Finding:
    """What a way that was judged changes if nobody fires, and the first decision on it: who does (8.6)."""
    answer = finding.answer
    effects: list[dict[str, Any]] = []
    if answer["legal"]:
        goal = answer["ends_at"].removesuffix(" cave")
        carried = [row.code for row in asked.rows(LOADED, unit=of.unit)]
        for row in asked.rows(PLACES, codes=[of.unit, *(of.together or ()), *carried]):
            change = {"posture": of.posture} if of.posture and row.code == of.unit else {}
            if row.label != goal:
                change["at"] = goal
            effects += [{"unit": row.code, **change}] if change else []
        for place, dg in answer.get("dg", {}).items():
            cave = {"in_cave": True} if place.endswith(" cave") else {}
            effects.append({"hex": place.removesuffix(" cave"), **cave, "dg": int(dg)})
    answer["allowed"] = answer["legal"]
    if any("at" in effect for effect in effects) and of.manner != "advance" and not of.night_shift:
        effects += _second_action(asked, of, finding)
    if answer["allowed"] is False:
        effects = []
    answer |= {"effects": effects, "after": after(effects)}
    if answer["allowed"] and (shots := answer["opportunity_fire"]):
        first = [shot["by"] for shot in shots if shot["at"] == shots[0]["at"]]
        rows = asked.rows(ENEMIES, codes=first)
        answer["pending"] = {
            "choice": "op_fire",
            "by": rows[0].side,
            "for": f"who fires at {of.unit} as it leaves {shots[0]['at']}",
            "options": [row.label for row in rows],
        }
    return finding


def _second_action(asked: Asked, of: Way, finding: Finding) -> list[dict[str, Any]]:
    """5.2: a Second Action takes command and a Direct Command of each Unit; gives what is paid, as far as tracks tell."""
    movers = units_of(asked.rows(PLACES, codes=[of.unit, *(of.together or ())]))
    units = dict.fromkeys([of.unit, *(row.code for row in movers)])
    told = [asked.rows(MAY_ACT, unit=unit)[-1] for unit in units]
    paid: list[dict[str, Any]] = []
    acts = [act.facts for act in told if act.effect != "refused" and act.facts["paid"]]
    if acts:
        if of.posture is not None:
            told.append(asked.rows(TURNED, unit=of.unit, posture=of.posture)[-1])
        owed = Counter(act["division"] for act in acts if act["division"] not in (None, *CHOSEN))
        for division, commands in owed.items():
            told.append(price := asked.rows(COMMAND_PRICE, division=division, commands=commands)[-1])
            if price.effect == "pays":
                paid.append({"division": division, "direct_commands": price.facts["left"]})
    tells = [row for row in told if row.effect == "refused" or (acts and row.effect != "unknown")]
    finding.steps[:0] = [step_of(row) for row in tells]
    for bar in (row for row in told if row.effect == "refused"):
        finding.answer |= {"allowed": False, "why": bar.note}
        finding.points.extend([bar.point] if bar.point else [])
    return paid


KINDS = [
    QuestionKind(
        name="move",
        title="A move, step by step",
        arguments=Way,
        rulesets=("css",),
        rule=_asked_move,
        answers=COMMON_ANSWERS
        | MOVE_ANSWERS
        | MET
        | {
            "left_alone": "support weapons, leaders and heroes whom it leaves without a unit",
            "dg": "the Disorganization of every hex whose marker the move changes; of a move that is done, DG of mines",
            "effects": "what changes, where nobody fires at it or with what is told of that",
            "pending": "the first decision on the way, who fires at it, or what is wanted next of a move that is done",
        },
        verdict=_asked_verdict,
        points=(*CSS_POINTS, *ON_THE_WAY),
        example='move: {unit: C/1/9, path: ["22.79", "22.78"]}',
        draws="path",
        names_units=("opportunity_fire", "left_alone"),
    ),
]
