"""The turn (1.0, 4.0): sides alternate Operations Ranges; then each routs, Melees are fought, and units recover."""

from __future__ import annotations

import functools
from typing import Any

from app.play import sequence
from app.play.bob.asking import Asking, game
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, procedure_kind
from app.play.sequence import END_PHASE, Moment, State, begin_phase, walk_of
from app.referee.questions import kinds_of
from app.referee.rulings import Asked, Ruling, Step
from db.rulesets import Phase, read_ruleset

NEXT = {"start": "operations", "operations": "rout", "melee": "recovery"}
TOLD = "operations_range", "cps", "rout_edge", "spent"
"""Conditions whose keys are the sides that play."""


def sides_of(state: State) -> list[str]:
    """The sides that play, as the conditions name them, the first player's first."""
    found = [side for name in TOLD for side in (state.conditions.get(name) or {}) if isinstance(side, str)]
    first = state.conditions.get("first")
    known = list(dict.fromkeys([*([first] if first else []), *found]))
    return [side for side in known if side in read_ruleset("bob").facts.sides] or known


def other(state: State, side: str | None) -> str | None:
    """The side that is not this one."""
    return next((one for one in sides_of(state) if one != side), None)


class Walk(sequence.Walk):
    """1.0: the four phases; in two of them sides take turns."""

    def side(self, phase: Phase, state: State) -> str | None:
        """Whose phase it is: the one who acts, or the first player (11.0, 12.0)."""
        first = state.conditions.get("first")
        if phase.code in ("operations", "rout"):
            return state.conditions.get("active") or first
        return first if phase.code == "melee" else None

    def following(self, state: State) -> Moment:
        """4.0, 11.0: the first player's part, the other's, then the next phase."""
        turn, phase = state.conditions.get("turn"), state.conditions.get("phase")
        first, active = state.conditions.get("first"), state.conditions.get("active")
        if phase == "rout" and active == first and other(state, first) is not None:
            return Moment(turn, "rout", other(state, first))
        if phase == "rout":
            return Moment(turn, "melee", first)
        if phase == "recovery":
            return Moment(self.next_turn(state), "start", None)
        if phase is None:
            return Moment(self.first_turn(state), "start", None)
        after = NEXT[phase]
        return Moment(turn, after, first if after != "recovery" else None)

    def actions(self, state: State) -> tuple[str, ...]:
        """What may be done now; an Operations Phase ends when all is Used, not by a word (4.1)."""
        named = super().actions(state)
        if state.conditions.get("phase") == "operations":
            return tuple(name for name in named if name != END_PHASE.name)
        return named

    def told(self, state: State, later: Moment | None) -> dict[str, Any]:
        """What comes next, and whose it is."""
        if later is None:
            return {"next": None, "next_active": None}
        return {"next": later.phase, "next_active": later.active}

    def asked(self, asked: Asked, state: State) -> dict[str, Any]:
        """4.1: in an Operations Range, whether the side may or must pass, and to whom it goes."""
        if state.conditions.get("phase") != "operations":
            return {}
        side = state.conditions.get("active") or state.conditions.get("first")
        if side is None:
            return {}
        mine, rival = _range_of(asked, side), other(state, side)
        theirs = _range_of(asked, rival) if rival is not None else None
        open_to = next(
            (one for one, told in ((rival, theirs), (side, mine)) if told is not None and told.units > 0),
            None,
        )
        return {
            "may_pass": mine.due is None
            and (mine.fitting == 0 or mine.fewest is None or mine.spent >= mine.fewest),
            "must_pass": mine.fitting == 0 and not mine.asset_fits,
            "spent": mine.spent,
        } | ({"next": "operations", "next_active": open_to} if open_to is not None else {})


def _range_of(asked: Asked, side: str) -> Any:
    [row] = asked.rows(
        "select * from bob.range_state(:position, :side, null, cast(:conditions as jsonb))", side=side
    )
    return row


class NothingMore(Action):
    """What is asked is only the position."""


def handed_over(side: str) -> Asking:
    """4.1: after a Range the other side's, while it has units; with none left on both sides the Rout Phase begins."""
    now = yield from game()
    state = State(now.conditions, now.tracks)
    rival = other(state, side) or (yield from _rival(side))
    for one in (rival, side):
        if one is None:
            continue
        [told] = yield Ask(
            "select * from bob.range_state(:position, :side, null, cast(:conditions as jsonb))",
            proves=False,
            side=one,
        )
        if told.units > 0:
            yield Tell(next_active=one)
            yield Change({"conditions": {"active": one}})
            return
    yield Tell(next_active=now.conditions.get("first"))
    yield from _missions_off()
    if now.conditions.get("first") is not None and now.conditions.get("turn") is not None:
        yield from begin_phase(
            walk_of("bob"), Moment(now.conditions["turn"], "rout", now.conditions["first"])
        )


def _rival(side: str) -> Asking:
    rows = yield Ask(
        "select distinct side from unit where position_id = :position and side <> :side order by side",
        proves=False,
        side=side,
    )
    return rows[0].side if rows else None


def _missions_off() -> Procedure:
    """32.0: Fire Mission counters go as the Operations Phase ends."""
    rows = yield Ask(
        "select hex.label, marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q"
        " and hex.r = marker.r where marker.position_id = :position and marker.kind = 'fire_mission' order by hex.label",
        proves=False,
    )
    for row in rows:
        yield Tell(Step("32.0", row.label, "removed", "the Fire Mission is over"))
        yield Change({"marker": "fire_mission", "at": row.label, **row.attributes, "removed": True})


def left_to_do(_: NothingMore) -> Procedure:
    """11.0, 12.0: a part of the Rout Phase or a Melee that is still to come keeps its phase open."""
    now = yield from game()
    phase = now.conditions.get("phase")
    if phase == "rout":
        side = now.conditions.get("active")
        if (
            side is not None
            and side not in (now.tracks.get("routed") or ())
            and (yield from _must_check(side))
        ):
            raise Refused("11.0", f"units of {side} must check for Rout")
        if side is not None and side != now.conditions.get("first") and now.tracks.get("routed"):
            yield Change({"track": "routed", "value": None}, kept=True)
    if phase == "melee":
        rows = yield Ask("select label from bob.melees(:position)", proves=False)
        fought = now.tracks.get("fought") or ()
        waiting = [row.label for row in rows if row.label not in fought]
        if waiting:
            raise Refused("12.0", f"a Melee is to be fought in {', '.join(waiting)}", waiting[0])
        if fought:
            yield Change({"track": "fought", "value": None}, kept=True)


def _must_check(side: str) -> Asking:
    rows = yield Ask(
        "select piece.code from bob._pieces(:position) as piece"
        " cross join lateral bob.rout_check(:position, piece.code, :conditions, :policy) as step"
        " where piece.side = :side and (piece.infantry or piece.gun) and step.effect = 'checks' limit 1",
        proves=False,
        side=side,
    )
    return bool(rows)


def _verdict(ruling: Ruling) -> str:
    if ruling.answer["allowed"] is False:
        return f"The phase cannot end: {ruling.answer['why']}"
    return "Nothing is left to be done in the phase"


KINDS = [
    procedure_kind(
        left_to_do,
        kinds=functools.partial(kinds_of, "bob"),
        name="left_to_do",
        title="What must be done before a phase ends",
        arguments=NothingMore,
        rulesets=("bob",),
        verdict=_verdict,
        acts=False,
        example="left_to_do: {}",
    ),
]
