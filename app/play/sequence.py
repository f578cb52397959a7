"""The sequence of play, walked: which phase it is, who acts, what may be done, what comes next.

The phases are data (`db/rulesets/<code>/sequence.yaml`); one function walks them for every game. A position
without a phase is being set up.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from app.play.procedures import (
    Action,
    Ask,
    Call,
    Change,
    Procedure,
    ProcedureKind,
    Refused,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, Step
from db.games import REFEREE
from db.rulesets import Phase, read_ruleset

SET_UP = "set_up"
"""The phase before the first."""
EVERYBODY = "both"


@dataclasses.dataclass(frozen=True)
class Moment:
    """Turn, phase and whose it is."""

    turn: Any = None
    phase: str | None = None
    active: str | None = None
    alone: bool = False
    """Whether one player plays, so that whoever is there enters what any side does."""

    @classmethod
    def of(cls, conditions: dict[str, Any]) -> Moment:
        return cls(
            conditions.get("turn"),
            conditions.get("phase"),
            conditions.get("active"),
            conditions.get("mode") == "solitaire",
        )

    def as_dict(self) -> dict[str, Any]:
        told = {"turn": self.turn, "phase": self.phase or SET_UP, "active": self.active}
        return {key: value for key, value in told.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why an action is out of its phase."""

    message: str
    remedy: str
    why: str
    step: dict[str, Any]


@functools.cache
def leaves(ruleset: str) -> tuple[Phase, ...]:
    """The phases that are played one after the other, without those that only hold others."""

    def below(phases: tuple[Phase, ...]) -> list[Phase]:
        return [leaf for phase in phases for leaf in (below(phase.steps) if phase.steps else [phase])]

    return tuple(below(read_ruleset(ruleset).sequence.phases))


def phase_of(ruleset: str, moment: Moment) -> Phase | None:
    """The phase of a moment; None while the game is set up, or where the sequence does not know it."""
    return next(
        (
            leaf
            for leaf in leaves(ruleset)
            if leaf.code == moment.phase and _side(leaf) in (moment.active, None)
        ),
        None,
    )


def _side(phase: Phase) -> str | None:
    """Whose phase it is; None where it is everybody's or nobody's."""
    return None if phase.who in (None, EVERYBODY) else phase.who


def following(ruleset: str, moment: Moment) -> Moment:
    """The phase after this one; after the last the first of the next turn."""
    order, now = leaves(ruleset), phase_of(ruleset, moment)
    if now is None:
        first = order[0]
        return Moment(1 if moment.turn is None else moment.turn, first.code, _side(first), moment.alone)
    n = order.index(now) + 1
    later = order[n % len(order)]
    turn = moment.turn + 1 if n == len(order) and isinstance(moment.turn, int) else moment.turn
    return Moment(turn, later.code, _side(later), moment.alone)


def actions_in(ruleset: str, moment: Moment) -> tuple[str, ...]:
    """What may be done now, by name."""
    now = phase_of(ruleset, moment)
    listed = read_ruleset(ruleset).sequence.set_up if now is None else now.actions
    return (*listed, END_PHASE.name)


def refusal(ruleset: str, moment: Moment, action: str, actor: str) -> Refusal | None:
    """Why somebody may not do this now; None where they may."""
    now = phase_of(ruleset, moment)
    rule = now.rule if now is not None else leaves(ruleset)[0].rule
    title = now.title if now is not None else "set-up"
    allowed = actions_in(ruleset, moment)
    if action not in allowed:
        why = f"{action} is not done in the {title}"
        return Refusal(
            f"{why} ({rule}).",
            f"Now there may be done: {', '.join(allowed)}.",
            why,
            {"rule": rule, "effect": "refused", "note": why},
        )
    side = _side(now) if now is not None else None
    if side is not None and actor not in (side, REFEREE) and not moment.alone:
        why = f"the {title} is {side}'s"
        return Refusal(
            f"{actor} does not act now: {why} ({rule}).",
            f"{side} or the referee enters it.",
            why,
            {"rule": rule, "effect": "refused", "note": why},
        )
    return None


# Asked and done.


class NothingMore(Arguments):
    """What is asked is only the position."""


def _sequence(asked: Asked, _: NothingMore) -> Finding:
    moment = Moment.of(asked.conditions)
    now, later = phase_of(asked.ruleset, moment), following(asked.ruleset, moment)
    rule = now.rule if now is not None else leaves(asked.ruleset)[0].rule
    title = now.title if now is not None else "Set-up"
    answer = {
        "phase": moment.phase or SET_UP,
        "rule": rule,
        "active": moment.active,
        "next": {"turn": later.turn, "phase": later.phase, "active": later.active},
        "actions": list(actions_in(asked.ruleset, moment)),
        "game_over": False,
    }
    if now is leaves(asked.ruleset)[-1] and _is_over(asked, moment):
        answer |= {"next": None, "game_over": True}
    return Finding(answer, [Step(rule, None, "phase", title)])


def _is_over(asked: Asked, moment: Moment) -> bool:
    """Whether the last turn of the scenario ends here."""
    kind = kinds_of(asked.ruleset).get("end_turn")
    if kind is None or moment.turn is None:
        return False
    return bool(kind.rule(asked, kind.arguments()).answer.get("over"))


def _sequence_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    whose = f" of {answer['active']}" if answer["active"] else ""
    now = f"It is the {answer['phase'].replace('_', ' ')} phase{whose}"
    if answer["game_over"]:
        return f"{now}, the last of the game"
    later = answer["next"]
    return f"{now}; next comes {later['phase'].replace('_', ' ')}{' of ' + later['active'] if later['active'] else ''}"


class EndPhase(Action):
    """The phase ends; nothing more is said."""


def end_phase(_: EndPhase) -> Procedure:
    """What happens by itself when a phase ends and the next begins."""
    [row] = yield Ask(
        "select position.ruleset, cast(:conditions as jsonb) as conditions from position where id = :position",
        proves=False,
    )
    ruleset, moment = row.ruleset, Moment.of(row.conditions)
    now = phase_of(ruleset, moment)
    for name in now.leave if now is not None else ():
        answer = yield Call(_procedure(ruleset, name))
        if answer.get("allowed") is False:
            raise Refused(now.rule if now is not None else "", answer.get("why", "the phase cannot end"))
        yield Tell(**{key: value for key, value in answer.items() if key in ("over", "winner")})
        if answer.get("over"):
            return
    later = following(ruleset, moment)
    entered = phase_of(ruleset, later)
    assert entered is not None
    yield Tell(Step(entered.rule, None, "begins", entered.title), next=later.as_dict())
    yield Change({"conditions": {"turn": later.turn, "phase": later.phase, "active": later.active}})
    for name in entered.enter:
        yield Call(_procedure(ruleset, name))


def _procedure(ruleset: str, name: str) -> Procedure:
    kind = kinds_of(ruleset)[name]
    assert isinstance(kind, ProcedureKind)
    of = kind.arguments()
    assert isinstance(of, Action)
    return kind.begin(of)


def _end_phase_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer.get("over"):
        return f"The game is over{'; ' + answer['winner'] + ' wins' if answer.get('winner') else ''}"
    return f"The {answer['next']['phase'].replace('_', ' ')} phase begins"


END_PHASE = procedure_kind(
    end_phase,
    lambda: {},
    name="end_phase",
    title="The end of a phase",
    arguments=EndPhase,
    rulesets=(),
    answers={"next": "the phase that begins: turn, phase, active", "over": "whether the game is over"},
    verdict=_end_phase_verdict,
)
"""The action that every game has."""

KIND = QuestionKind(
    name="sequence",
    title="Sequence of play",
    arguments=NothingMore,
    rulesets=("fpb",),
    rule=_sequence,
    answers={
        "phase": "the phase that it is",
        "rule": "the rule that orders it",
        "active": "whose phase it is; null where it is everybody's",
        "next": "turn, phase and active side of the phase that follows; null where the game is over",
        "actions": "what may be done now, by name",
        "game_over": "whether the game ends with this phase",
    },
    verdict=_sequence_verdict,
    example="sequence: {}",
)
