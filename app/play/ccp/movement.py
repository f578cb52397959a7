"""Move, Advance and exit, done: hex by hex with what is met there (O22, O29, 14.2, 19.1, A41, A43, F104)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ccp.attack import Asker
from app.play.ccp.caves import goes_inside
from app.play.ccp.deeds import screened
from app.play.ccp.fire import DEFENSE_POINTS
from app.play.ccp.giving import carries_out
from app.play.ccp.interrupts import Interrupts
from app.play.ccp.losses import fixes_weapon, settles, turns
from app.play.ccp.mines import mined
from app.play.ccp.picks import Offer
from app.play.ccp.roll import ENDS
from app.play.ccp.table import (
    SIDES,
    Doing,
    GameOver,
    adds_marker,
    counter,
    ending,
    gains,
    now,
    other,
    reading,
)
from app.play.ccp.victory import decided_by_points
from app.play.procedures import (
    Action,
    AnswerError,
    Ask,
    Change,
    Choose,
    Procedure,
    ProcedureKind,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
    tried,
)
from app.play.procedures import given as answers_given
from app.referee.questions import kinds_of
from app.referee.questions.movement import CCP_POINTS as WALKING_POINTS
from app.referee.questions.movement import move_verdict, points, step_of
from app.referee.rulings import Arguments, Asked, Finding, Need, Ruling, Step
from app.referee.words import clauses, series
from importers.questions import Names

MOST_HEXES = 200
MOVE = "select * from ccp.move(:position, :unit, :path, :options, :conditions, :policy)"
UnitId = Annotated[str, Names(("unit",))]
UnitIds = Annotated[list[str], Names(("unit",)), Field(max_length=60)]
Hexes = Annotated[list[str] | None, Names(("hex",)), Field(max_length=MOST_HEXES)]
VERDICTS = {"legal": True, "illegal": False, "unknown": None}
DEEP = """
select hex.label from position join hex on hex.map_id = position.map_id
where position.id = :position and hex.label = any(:labels) and hex.terrain = 'water_barrier'
"""
ALIVE = "select code from unit where position_id = :position and code = any(:units) and q is not null order by code"


class Shot(Arguments):
    """Op Fire at a unit that has just entered a hex (A41.2)."""

    by: Annotated[list[str], Field(min_length=1, max_length=30)] = Field(
        description='The pieces that fire: a unit by its id, its weapon as "Squad:weapon"'
    )
    at: Annotated[str, Names(("hex",))] = Field(description="The hex that was entered")
    actions: list[str] = Field(default_factory=list, description="Actions that are played in the attack")


class Move(Action):
    """Who moves, along which way, and what is met on it."""

    unit: UnitId = Field(description="The id of the unit that moves")
    path: Annotated[list[str], Names(("hex",)), Field(min_length=1, max_length=MOST_HEXES)] = Field(
        description="Labels of the hexes entered, in order; the one it stands in may come first"
    )
    manner: Literal["move", "advance"] | None = Field(
        None, alias="as", description="move (the default) or advance"
    )
    together: Annotated[list[str] | None, Names(("unit",))] = Field(
        None, max_length=MOST_HEXES, alias="with", description="Ids of units that move along"
    )
    points: Annotated[Decimal | None, Field(ge=0, le=99, multiple_of=Decimal("0.5"))] = Field(
        None, description="Movement points it has, where not those of its counter"
    )
    exit: bool | None = Field(None, description="From the last hex it leaves the map (14.2)")
    space: int | None = Field(None, ge=0, le=99, description="With exit: the space of the Time Track")
    hidden_wire: Hexes = Field(
        None, description="Hexes where wire is revealed as it enters them (A43.3, A43.7)"
    )
    hidden_mines: Hexes = Field(
        None, description="Hexes where mines are revealed as it enters them (A43.2, A43.3)"
    )

    op_fire: list[Shot] | None = Field(
        None,
        max_length=60,
        description="Op Fire at it on the way: who fires, and at which hex as it is entered",
    )

    def options(self) -> dict[str, Any]:
        """What the ledger is asked beside unit and way."""
        told = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        words = ("as", "with", "points", "exit", "hidden_wire", "hidden_mines")
        return {word: told[word] for word in words if word in told}


def judged(unit: str, path: Sequence[str], options: Mapping[str, Any]) -> Doing:
    """The ledger of a Move or Advance, as steps; its rows."""
    rows = yield Ask(MOVE, proves=False, unit=unit, path=list(path), options=dict(options))
    return rows


def told_of(rows: Sequence[Any]) -> Tell:
    """What the ledger says of a way: legal or not, cost, where it ends, who may fire, which dice are rolled."""
    verdict = rows[-1]
    legal = VERDICTS[verdict.effect]
    untold = [row for row in rows[:-1] if row.effect == "unknown" and (legal is None or row.by is not None)]
    return Tell(
        *map(step_of, rows),
        points=[row.point for row in rows if row.point],
        needs=[Need(row.note, row.rule) for row in untold],
        facts={
            "legal": legal,
            "cost": points(verdict.halves),
            "left": points(verdict.remaining),
            "ends_at": verdict.at,
            "why": verdict.note,
            "opportunity_fire": [
                {"by": row.by, "at": row.at} for row in rows if row.effect == "opportunity fire"
            ],
            "rolls": [{"at": row.at, "rule": row.rule} for row in rows if row.effect == "roll"],
        },
    )


@ending
def move(of: Move) -> Procedure:
    """O29, O22: a way is judged whole; where it is legal it is gone hex by hex."""
    rows = yield from judged(of.unit, of.path, of.options())
    yield told_of(rows)
    legal = VERDICTS[rows[-1].effect]
    if legal is not True:
        yield Tell(allowed=legal)
        return
    order = of.manner or "move"
    movers = [of.unit, *(of.together or ())]
    yield from carries_out(order, movers)
    start = (yield from counter(of.unit)).label
    route = [label for n, label in enumerate(of.path) if n or label != start]
    way = _Way(order, movers, Asker(of), of)
    yield from way.goes(start, route, rows)
    if of.exit and (yield from way.may_exit((route or [start])[-1])):
        for code in list(way.movers):
            yield from exits(code, order, of.space)
    else:
        yield from way.arrives()


class _Way:
    """Those who go together, hex by hex: who is left of them, and where."""

    def __init__(self, order: str, movers: Sequence[str], asker: Asker, of: Move | None = None) -> None:
        self.order, self.movers, self.asker = order, list(movers), asker
        self.wire = set((of.hidden_wire if of else None) or ())
        self.mines = set((of.hidden_mines if of else None) or ())
        self.shots = [shot.model_dump() for shot in (of.op_fire if of else None) or ()]
        self.interrupts = Interrupts(asker)
        self.label: str | None = None
        self.spent = 0
        self.harmed = False
        """Whether its movement may be less than it was when it set out."""
        self.met = False
        """Whether it was fired at, mined or wired in the last hex."""
        self.wired = False

    def goes(self, start: str, route: Sequence[str], rows: Sequence[Any]) -> Doing:
        """From hex to hex, as long as somebody can and wants to."""
        self.label = start
        side = (yield from counter(self.movers[0])).side
        rest, costs = list(route), _costs(route, rows)
        while rest:
            if self.harmed and self.label != start:
                rest, costs = yield from self._goes_on(side, rest, costs)
                if not rest:
                    return
            self.spent += costs.pop(0)
            wired = self.wired
            yield from self.enters(rest.pop(0), side)
            if not self.movers:
                return
            if wired and rest:
                yield Tell(Step("F107.2", self.label, "stops", "out of wire it stops in the first hex"))
                return

    def _goes_on(self, side: str, rest: list[str], costs: list[int]) -> Doing:
        """After fire, mines or wire: whoever is left goes on as he wanted, by another way, or stops (O29, O29.5)."""
        if self.wired and (yield from reading("ccp-5")) == "a":
            yield Tell(Step("A43.7", self.label, "stops", "wire is placed here: the move is over"))
            return [], []
        left = yield from self._left()
        rows = yield from self._judged(rest[:1], left)
        able = rows[-1].effect != "illegal"
        if not able:
            yield Tell(Step("O29", self.label, "stops", "the points left do not suffice for the next hex"))
        if left == 0 or (able and not self.met):
            return (rest, costs) if able else ([], [])
        told = rest if able else []
        chosen = yield Offer(
            "way",
            side,
            f"how {series(self.movers)} {'go' if len(self.movers) > 1 else 'goes'} on from {self.label}",
            options=[told, []] if told else [[]],
            check=_is_way,
            form="labels of the hexes still to be entered; [] to stop",
            default=told,
            unsaid=told,
        )
        if chosen == told:
            return told, costs[: len(told)]
        return chosen, (yield from self._another(chosen, left))

    def _another(self, way: list[str], left: Decimal | None) -> Doing:
        """What another way costs, hex by hex; one that the rules forbid is no answer."""
        if not way:
            return []
        rows = yield from self._judged(way, left)
        deep = yield Ask(DEEP, proves=False, labels=way)
        if rows[-1].effect == "illegal" or deep:
            why = "a move into a water barrier begins beside it" if deep else rows[-1].note
            raise AnswerError(f"No way from {self.label} by {', '.join(way)}: {why}.")
        return _costs(way, rows)

    def enters(self, label: str, side: str) -> Doing:
        """One hex: out of mines, in, what is hidden there, mines, Op Fire."""
        assert self.label is not None
        was = self.label
        yield from self.mined(was, to=label)
        for code in self.movers:
            yield Change({"unit": code, "at": label, "in_cave": False}, kept=True)
        self.label, self.met = label, False
        if not self.movers:
            return
        yield from settles(was)
        yield from settles(label)
        fresh = yield from self._hidden(label, side)
        if self.order == "move" and (yield from self._fire_first(label)):
            yield from self._fired_at(label, was, side)
            yield from self.mined(label, hidden=fresh)
            return
        yield from self.mined(label, hidden=fresh)
        if self.movers and self.order == "move":
            yield from self._fired_at(label, was, side)

    def _fire_first(self, label: str) -> Doing:
        """ccp-30: where there are mines, whether Op Fire comes before them."""
        if not any(shot["at"] == label for shot in self.shots) or not (yield from self._has_mines(label)):
            return False
        match (yield from reading("ccp-30")):
            case "a":
                return False
            case "b":
                return True
        side = other((yield from counter(self.movers[0])).side)
        first = yield Choose("first", side, "which comes first", options=["mines", "op_fire"])
        return first == "op_fire"

    def _fired_at(self, label: str, was: str, side: str) -> Doing:
        """A41: one attack for each hex entered, as it is told or as the other player decides."""
        before = list(self.movers)
        told = next((shot for shot in self.shots if shot["at"] == label), None)
        if told is not None:
            self.shots.remove(told)
            yield from self.interrupts.fires(told["by"], label, was, self.movers, told["actions"])
        else:
            yield from self.interrupts.fire_at(label, was, self.movers, side)
        yield from self._count()
        if before != self.movers or self.interrupts.fired:
            self.harmed = self.met = True

    def _has_mines(self, label: str) -> Doing:
        there = yield Ask("select * from ccp.hex_now(:position, :hex, :conditions)", proves=False, hex=label)
        return bool(there) and there[0].fortification == "mines"

    def _hidden(self, label: str, side: str) -> Doing:
        """A43: wire or mines that are revealed; gives whether mines are."""
        self.wired = label in self.wire and (yield from self._placed("wire", label))
        fresh = label in self.mines and (yield from self._placed("mines", label))
        word = yield from self.interrupts.hidden_in(label, side)
        if word is not None:
            yield from adds_marker(word, label)
            self.harmed = self.met = True
            self.wired = self.wired or word == "wire"
            fresh = fresh or word == "mines"
        return fresh

    def _placed(self, kind: str, label: str) -> Doing:
        [ground] = yield Ask(
            "select * from ccp.hex_now(:position, :hex, :conditions)", proves=False, hex=label
        )
        if ground.water or ground.fortification is not None:
            return False
        yield from adds_marker(kind, label)
        return True

    def mined(self, label: str, *, to: str | None = None, hidden: bool = False) -> Doing:
        """F104: mines attack those who leave for `to`, or enter, together."""
        if not self.movers or not (yield from self._has_mines(label)):
            return
        yield from mined(self.movers, label, self.order, self.asker, (), to, hidden)
        self.harmed = self.met = True
        yield from self._count()

    def _count(self) -> Doing:
        rows = yield Ask(ALIVE, proves=False, units=self.movers)
        alive = {row.code for row in rows}
        self.movers = [code for code in self.movers if code in alive]

    def may_exit(self, end: str) -> Doing:
        """14.2.2: whether somebody has come to the Exit Point, and with a point to spend."""
        if not self.movers or self.label != end:
            return False
        if not self.harmed:
            return True
        left = yield from self._left()
        return left is None or left >= 1

    def _left(self) -> Doing:
        """O29: current movement less what was spent; None where it is not told."""
        [has] = yield Ask(
            "select ccp.allowance(:position, :unit, :together, :conditions, :policy) as halves",
            proves=False,
            unit=self.movers[0],
            together=self.movers[1:],
        )
        return None if has.halves is None else Decimal(max(0, has.halves - self.spent)) / 2

    def _judged(self, way: Sequence[str], left: Decimal | None) -> Doing:
        points_ = {} if left is None else {"points": str(left)}
        return (yield from judged(self.movers[0], way, {"with": self.movers[1:], **points_}))

    def arrives(self) -> Doing:
        """Where those who are left stand in the end."""
        for code in self.movers:
            yield Change({"unit": code, "at": self.label}, told=True)
        yield Tell(ends_at=self.label)
        yield from goes_inside(self.movers)


def _costs(route: Sequence[str], rows: Sequence[Any]) -> list[int]:
    """What each hex of a way costs, in halves, by the ledger of the whole."""
    costs = [0] * len(route)
    leg = 0
    for row in rows:
        if row.effect == "cost" and row.at in route[leg:]:
            leg = route.index(row.at, leg)
            costs[leg] += row.halves
    return costs


def _is_way(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(label, str) for label in value):
        return None
    return "a way is a list of hexes, [] to stop"


# Leaving the map.


class Exit(Action):
    """Who leaves, by which order, and to which space of the Time Track."""

    unit: UnitId = Field(description="The id of the unit that leaves the map")
    manner: Literal["move", "advance"] = Field(
        "move", alias="as", description="move (the default) or advance"
    )
    space: int | None = Field(
        None, ge=0, le=99, description="The space of the Time Track that its owner wishes"
    )


@ending
def exit_(of: Exit) -> Procedure:
    """14.2.2: a unit leaves by an Exit Point."""
    at = (yield from counter(of.unit)).label
    if at is None:
        raise Refused("14.2.2", f"{of.unit} is not on the map")
    rows = yield from judged(of.unit, [at], {"as": of.manner, "exit": True})
    yield Tell(*map(step_of, rows), points=[row.point for row in rows if row.point])
    if rows[-1].effect == "illegal":
        bars = [row for row in rows if row.effect == "forbids"]
        raise Refused("14.2.1", "; ".join(row.note for row in bars) or rows[-1].note, at)
    if rows[-1].effect == "unknown":
        raise Undecided(*(Need(row.note, row.rule) for row in rows[:-1] if row.effect == "unknown"))
    yield from carries_out(of.manner, [of.unit])
    way = _Way(of.manner, [of.unit], Asker(of))
    yield from way.mined(at)
    if way.movers:
        yield from exits(of.unit, of.manner, of.space)


def exits(code: str, order: str, space: int | None) -> Doing:
    """Points of the Exit Point, not of the unit; it waits whole on the Time Track, a Hero in the countermix."""
    unit = yield from counter(code)
    at = unit.label
    [worth] = yield Ask("select * from ccp.exit_points(:position, :unit, :conditions, :policy)", unit=code)
    value = worth.facts["value"]
    if value is None:
        yield Tell(needs=[Need("the value of the Exit Point", "2.4")])
    yield Tell(gains=value)
    yield from gains(unit.side, value or 0, "14.2.2", f"{code} leaves by the Exit Point in {at}")
    if unit.kind == "hero":
        yield from _to_countermix(unit)
    else:
        yield from _to_time_track(unit, space)
    yield from settles(at)
    yield from _last_one(unit.side)


def _to_countermix(unit: Any) -> Doing:
    """3.3.2: a Hero goes to the countermix; his weapon with him, or to the Weapons Box (ccp-23)."""
    yield Change({"unit": unit.code, "countermix": True})
    kept: dict[str, Any] = {"at": None, "activated": None, "suppressed": False, "veteran": False}
    weapon = unit.attributes.get("weapon")
    if weapon and (yield from reading("ccp-23")) == "b":
        yield Change({"unit": unit.code, "weapon": "eliminated"}, told=True)
        kept["weapon"] = {**weapon, "box": True}
    elif weapon:
        kept["weapon"] = None
    yield Change({"unit": unit.code, **kept}, kept=True)


def _to_time_track(unit: Any, space: int | None) -> Doing:
    """14.2.2: unbroken, weapon too, without veteran and suppressed markers, on any space."""
    said = unit.attributes
    if said.get("broken"):
        yield from turns(unit, broken=False)
    for marker in ("suppressed", "veteran"):
        if said.get(marker):
            yield Change({"unit": unit.code, marker: False})
    if (said.get("weapon") or {}).get("broken"):
        yield from fixes_weapon(unit.code, "14.2.2", "it comes back whole")
    yield Change({"unit": unit.code, "at": None, "activated": None, "in_cave": False}, kept=True)
    if space is None:
        time = (yield from now()).conditions.get("time")
        space = yield Choose(
            "space",
            unit.side,
            f"the space of the Time Track for {unit.code}",
            check=lambda value: (
                None if isinstance(value, int) and 0 <= value <= 99 else "a space is a number"
            ),
            form="a number",
            default=1 if time is None else time + 1,
        )
    yield Tell(Step("14.2.2", None, "time track", f"{unit.code} waits on space {space}"))
    yield Change({"unit": unit.code, "space": space})


def _last_one(side: str) -> Doing:
    """13.3 c: the last unit on the map has left it, and none waits in an Infiltration Box."""
    rows = yield Ask("select * from ccp.survivors(:position)", proves=False)
    gone = [row for row in rows if row.side == side and row.on_map == 0]
    if gone and not gone[0].in_box:
        yield Tell(Step("13.3", None, "ends", f"the last unit of {SIDES[side]} has left the map", "c"))
        winner = yield from decided_by_points()
        raise GameOver(winner, "exit")


# Advance.


class Advance(Action):
    """Who advances whereto, and whose weapon changes hands."""

    units: Annotated[list[str] | None, Names(("unit",))] = Field(
        None, description="Ids of the units that advance; else those of `to`"
    )
    to: Annotated[dict[str, str], Field(max_length=60)] = Field(
        default_factory=dict, description="The hex of each unit: {Squad: C3}; `exit` leaves the map"
    )
    transfer: dict[str, str] | list[dict[str, str]] | None = Field(
        None, description="A weapon given to a unit in the same hex, before or after: {from: Squad, to: Team}"
    )
    smoke_screen: dict[str, str] | bool | None = Field(
        None, description="Smoke Screen first: the hex for each squad that places smoke"
    )
    space: int | None = Field(None, ge=0, le=99, description="With exit: the space of the Time Track")


@ending
def advance(of: Advance) -> Procedure:
    """O22: one hex each, at no cost and under no Op Fire."""
    units = of.units if of.units is not None else list(of.to)
    if not units:
        raise Refused("O20.3", "nobody advances")
    if lost := [code for code in of.to if code not in units]:
        raise Refused("O22.1", f"{series(lost)} is not among those who advance")
    yield from carries_out("advance", units)
    if isinstance(of.smoke_screen, dict):
        yield from screened((yield from counter(units[0])).side, of.smoke_screen)
    handed = [of.transfer] if isinstance(of.transfer, dict) else list(of.transfer or ())
    later = []
    for gift in handed:
        if not (yield from _hands_over(gift, units, last=False)):
            later.append(gift)
    yield from _groups_go(of, units)
    for gift in later:
        yield from _hands_over(gift, units, last=True)
    yield Tell(result="advanced")


def _groups_go(of: Advance, units: Sequence[str]) -> Doing:
    """Those who go from one hex to another go together (F104.1)."""
    groups: dict[tuple[str | None, str], list[str]] = {}
    for code in units:
        if code not in of.to:
            continue
        start = (yield from counter(code)).label
        groups.setdefault((start, of.to[code]), []).append(code)
    for (start, goal), codes in groups.items():
        leaves = goal == "exit"
        options: dict[str, Any] = {"as": "advance", "with": codes[1:]} | ({"exit": True} if leaves else {})
        rows = yield from judged(codes[0], [start or ""] if leaves else [goal], options)
        yield Tell(*map(step_of, rows), points=[row.point for row in rows if row.point])
        if rows[-1].effect != "legal":
            bars = [row for row in rows if row.effect == "forbids"]
            raise Refused(
                bars[0].rule if bars else "O22.1", "; ".join(row.note for row in bars) or rows[-1].note, goal
            )
    asker = Asker(of)
    for (start, goal), codes in groups.items():
        way = _Way("advance", codes, asker)
        way.label = start
        if goal == "exit":
            yield from way.mined(start or "")
            for code in list(way.movers):
                yield from exits(code, "advance", of.space)
            continue
        yield from way.enters(goal, (yield from counter(codes[0])).side)
        yield from way.arrives()


def _hands_over(gift: dict[str, str], units: Sequence[str], *, last: bool) -> Doing:
    """O22.2: an advancing unit gives its weapon to a friend in its hex; whether it could by now."""
    giver, taker = gift.get("from", ""), gift.get("to", "")
    if giver not in units:
        raise Refused("O22.2", f"{giver} does not advance, and so hands over nothing")
    one, two = (yield from counter(giver)), (yield from counter(taker))
    weapon = one.attributes.get("weapon")
    why = None
    if not weapon:
        why = f"{giver} has no weapon"
    elif one.side != two.side:
        why = f"{taker} is no friend of {giver}"
    elif two.attributes.get("weapon"):
        why = f"{taker} has a weapon already"
    elif two.kind not in ("squad", "team") and (weapon.get("movement") or 0) < 0:
        why = f"{taker} is a leader, and the weapon slows movement"
    elif one.label != two.label:
        if not last:
            return False
        why = f"{giver} and {taker} are not in one hex, before or after"
    if why is not None:
        raise Refused("O22.2", why, one.label)
    yield Tell(Step("O22.2", one.label, "transfers", f"{weapon['name']} from {giver} to {taker}"))
    yield Change({"unit": giver, "weapon": None}, {"unit": taker, "weapon": weapon})
    return True


# Kinds.


def _asked_move(asked: Asked, of: Move) -> Finding:
    """What would happen; no odds, since a way may hold any number of rolls."""
    outcome = tried(asked, lambda: move(of), answers_given(of), functools.partial(kinds_of, "ccp"))
    return Finding(outcome.told(), outcome.steps, outcome.points, outcome.needs)


def _move_words(ruling: Ruling) -> str:
    """The verdict of a way; what else it changes is told below it."""
    plain = {key: value for key, value in ruling.answer.items() if key != "effects"}
    if plain.get("allowed") is False and plain["legal"]:
        return f"{ruling.question['move']['unit']} may not move: {plain['why']}"
    return move_verdict(dataclasses.replace(ruling, answer=plain))


def _exit_verdict(ruling: Ruling) -> str:
    answer, unit = ruling.answer, ruling.question["exit"]["unit"]
    if answer["allowed"] is None:
        return f"Whether {unit} may leave the map is not known"
    if not answer["allowed"]:
        return f"{unit} may not leave the map: {answer['why']}"
    return clauses(
        f"{unit} leaves the map for {answer.get('gains') or 0} points",
        "the game is over" if answer.get("over") else None,
    )


def _advance_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "Whether they may advance is not known"
    if not answer["allowed"]:
        return f"No Advance: {answer['why']}"
    moved = [
        f"{effect['unit']} to {effect['at']}"
        for effect in answer["effects"]
        if "unit" in effect and "at" in effect
    ]
    return clauses(
        f"Advance: {series(moved)}" if moved else "An Advance",
        "dice are to be rolled" if "pending" in answer else None,
        "the game is over" if answer.get("over") else None,
    )


MINE_POINTS = ("ccp-11", "ccp-37", *DEFENSE_POINTS)
CCP_POINTS = tuple(dict.fromkeys((*WALKING_POINTS, *MINE_POINTS, "ccp-22", "ccp-30")))
MOVE_ANSWERS = {
    "legal": "true, false, or null where the rulebook or a counter does not tell what would decide it",
    "cost": "movement points spent; of an illegal move, up to where it fails",
    "left": "movement points left",
    "ends_at": "where it ends; of an illegal move, the first hex that cannot be entered",
    "why": "what decides it, in a few words",
    "opportunity_fire": "who may fire at it, and where it stands then",
    "rolls": "dice to be rolled on the way, each where and by which rule",
    "gains": "with exit: points for the last unit that left",
    **ENDS,
}


def _move_kind() -> ProcedureKind:
    made = procedure_kind(
        move,
        kinds=functools.partial(kinds_of, "ccp"),
        name="move",
        title="A move, step by step",
        arguments=Move,
        rulesets=("ccp",),
        answers=MOVE_ANSWERS,
        verdict=_move_words,
        points=CCP_POINTS,
        example="move: {unit: Squad, path: [C3, C4]}",
        draws="path",
        names_units=("opportunity_fire",),
    )
    return dataclasses.replace(made, rule=_asked_move)


KINDS = [
    _move_kind(),
    procedure_kind(
        advance,
        kinds=functools.partial(kinds_of, "ccp"),
        name="advance",
        title="Advance",
        arguments=Advance,
        rulesets=("ccp",),
        answers={"result": "advanced", "gains": "points for the last unit that left the map", **ENDS},
        verdict=_advance_verdict,
        points=MINE_POINTS,
        example="advance: {to: {Squad: C3}}",
    ),
    procedure_kind(
        exit_,
        kinds=functools.partial(kinds_of, "ccp"),
        name="exit",
        title="A unit leaves the map",
        arguments=Exit,
        rulesets=("ccp",),
        answers={"gains": "points: those of the Exit Point, and 1 with the chit for exits", **ENDS},
        verdict=_exit_verdict,
        points=tuple(dict.fromkeys(("ccp-19", "ccp-23", *MINE_POINTS))),
        example="exit: {unit: Squad, space: 3}",
    ),
]
