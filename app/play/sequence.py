"""The sequence of play, walked: which phase it is, who acts, what may be done, what comes next.

The phases are data (`db/rulesets/<code>/sequence.yaml`); one class walks them for every game. Where more than
their order decides (turns without some of the phases, a cup, ranges that alternate), the game says so in a
class `Walk` of its own in `app/play/<code>/turn.py`, made of this one. A position without a phase is being set up.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
from collections.abc import Iterator
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
from app.referee.questions import kinds_of, played
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind, Ruling, Step
from db.games import REFEREE
from db.rulesets import Phase, read_ruleset

SET_UP = "set_up"
"""The phase before the first."""
EVERYBODY = "both"
DECK = "deck"
"""Whose a phase is in which no side acts and a card is drawn."""
LYING = "array(select distinct kind from marker where position_id = position.id) as markers"
STATE = f"select tracks, {LYING} from position where id = :position"
MOST_PASSED = 100
"""Phases that end by themselves one after the other; more is a sequence that never stops."""


@dataclasses.dataclass(frozen=True)
class State:
    """What a sequence of play depends on."""

    conditions: dict[str, Any]
    tracks: dict[str, Any] = dataclasses.field(default_factory=dict)
    markers: frozenset[str] = frozenset()
    """Kinds of marker that lie on the map."""

    def at(self, turn: Any) -> State:
        """The same in another turn."""
        return dataclasses.replace(self, conditions=self.conditions | {"turn": turn})


@dataclasses.dataclass(frozen=True)
class Moment:
    """Turn, phase and whose it is; in games that name them, the step within the phase."""

    turn: Any = None
    phase: str | None = None
    active: str | None = None
    """The side that acts; none where both do, or nobody."""
    step: str | None = None
    alone: bool = False
    """Whether one player plays, so that whoever is there enters what any side does."""

    def as_dict(self) -> dict[str, Any]:
        told = {"turn": self.turn, "phase": self.phase or SET_UP, "step": self.step, "active": self.active}
        return {key: value for key, value in told.items() if value is not None}


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A phase that is played: it holds no others."""

    phase: Phase
    within: str | None = None
    """The code of the phase that it is a step of, where a moment names both."""


@dataclasses.dataclass(frozen=True)
class Refusal:
    """Why an action is out of its phase."""

    message: str
    remedy: str
    why: str
    step: dict[str, Any]


class Walk:
    """How the phases of a game follow each other: in the order of its data, unless a game says more."""

    def __init__(self, ruleset: str) -> None:
        self.ruleset = ruleset
        file = read_ruleset(ruleset).sequence
        self._set_up = file.set_up
        self.leaves = tuple(_leaves(file.phases, file.stepped))
        """The phases that are played one after the other, without those that only hold others."""

    # What a game may say otherwise.

    def holds(self, leaf: Leaf, state: State) -> bool:
        """Whether a phase is played in the turn of `state`; else it is passed over."""
        return True

    def side(self, phase: Phase, state: State) -> str | None:
        """Whose phase it is; None where it is everybody's or nobody's.

        `who` is a side, or a word of the conditions that tells one; `second` is who is not `first`.
        """
        sides = read_ruleset(self.ruleset).facts.sides
        if phase.who in (None, EVERYBODY) or phase.who in sides:
            return None if phase.who == EVERYBODY else phase.who
        if phase.who == "second":
            first = state.conditions.get("first")
            return next((side for side in sides if side != first), None) if first in sides else None
        told = state.conditions.get(phase.who or "")
        return told if told in sides else None

    @staticmethod
    def whose(leaf: Leaf | None, side: str | None) -> str | None:
        """Who is said to act in a phase: its side, or the deck where a card is drawn and no side acts."""
        return DECK if leaf is not None and leaf.phase.who == DECK else side

    def alone(self, state: State) -> bool:
        """Whether one player plays both sides."""
        return state.conditions.get("mode") == "solitaire"

    def next_turn(self, state: State) -> Any:
        """The turn after the one of `state`."""
        turn = state.conditions.get("turn")
        return turn + 1 if isinstance(turn, int) else turn

    def first_turn(self, state: State) -> Any:
        """The turn with which the game begins."""
        turn = state.conditions.get("turn")
        return 1 if turn is None else turn

    def moment(self, state: State) -> Moment:
        """The moment that the conditions tell."""
        told = state.conditions
        active = told.get("active")
        return Moment(
            told.get("turn"), told.get("phase"), active if isinstance(active, str) else None, told.get("step"),
            self.alone(state),
        )  # fmt: skip

    def following(self, state: State) -> Moment:
        """The moment after this one: the next phase that is played; after the last the first of the next turn."""
        now = self.leaf(state)
        if now is None:
            return self._first_of(self.leaves, state.at(self.first_turn(state)))
        n = self.leaves.index(now) + 1
        for leaf in self.leaves[n:]:
            if self.holds(leaf, state):
                return self._moment_of(leaf, state)
        return self._first_of(self.leaves, state.at(self.next_turn(state)))

    def conditions(self, moment: Moment) -> dict[str, Any]:
        """What becomes of the conditions when a moment begins."""
        told = {"turn": moment.turn, "phase": moment.phase, "active": moment.active}
        return told | ({"step": moment.step} if self._stepped else {})

    def actions(self, state: State) -> tuple[str, ...]:
        """What may be done now, by name."""
        now = self.leaf(state)
        return (*(self._set_up if now is None else now.phase.actions), END_PHASE.name)

    def rule(self, state: State) -> str:
        """The rule of the phase of a state; before the first, that of setting up, where a game has told it."""
        now = self.leaf(state)
        return now.phase.rule if now is not None else self.leaves[0].phase.rule

    def told(self, state: State, later: Moment | None) -> dict[str, Any]:
        """What the question `sequence` answers beyond phase, rule, active and actions."""
        if later is None:
            return {"next": None}
        active = self.whose(self._leaf_at(later), later.active)
        following = {"turn": later.turn, "phase": later.phase, "step": later.step, "active": active}
        return {
            "next": {key: value for key, value in following.items() if key != "step" or value is not None}
        }

    def asked(self, asked: Asked, state: State) -> dict[str, Any]:
        """What that question answers besides and only the position tells, such as whether a side may pass."""
        return {}

    # What is the same for all.

    @property
    def _stepped(self) -> bool:
        return any(leaf.within is not None for leaf in self.leaves)

    def leaf(self, state: State) -> Leaf | None:
        """The phase of a state; None while the game is set up, or where the sequence does not know it."""
        return self._leaf_at(self.moment(state))

    def _leaf_at(self, moment: Moment) -> Leaf | None:
        return next((leaf for leaf in self.leaves if self._is_at(leaf, moment)), None)

    def _is_at(self, leaf: Leaf, moment: Moment) -> bool:
        if leaf.within is not None:
            return (leaf.within, leaf.phase.code) == (moment.phase, moment.step)
        if leaf.phase.code != moment.phase:
            return False
        fixed = leaf.phase.who if leaf.phase.who in read_ruleset(self.ruleset).facts.sides else None
        alike = sum(other.phase.code == leaf.phase.code for other in self.leaves)
        # whose it is need not be told where there is one such phase only
        return fixed in (moment.active, None) or (moment.active is None and alike == 1)

    def _first_of(self, leaves: tuple[Leaf, ...], state: State) -> Moment:
        return next(self._moment_of(leaf, state) for leaf in leaves if self.holds(leaf, state))

    def _moment_of(self, leaf: Leaf, state: State) -> Moment:
        phase, step = (leaf.within, leaf.phase.code) if leaf.within is not None else (leaf.phase.code, None)
        turn = state.conditions.get("turn")
        return Moment(turn, phase, self.side(leaf.phase, state), step, self.alone(state))

    def refusal(self, state: State, action: str, actor: str) -> Refusal | None:
        """Why somebody may not do this now; None where they may."""
        now = self.leaf(state)
        rule = self.rule(state)
        title = now.phase.title if now is not None else "set-up"
        allowed = self.actions(state)
        if action not in allowed:
            why = f"{action} is not done in the {title}"
            remedy = f"Now there may be done: {', '.join(allowed)}."
        else:
            side = self.side(now.phase, state) if now is not None else None
            if side is None or actor in (side, REFEREE) or self.alone(state):
                return None
            why = f"the {title} is {side}'s"
            remedy = f"{side} or the referee enters it."
        message = (
            f"{why} ({rule})." if action not in allowed else f"{actor} does not act now: {why} ({rule})."
        )
        return Refusal(message, remedy, why, {"rule": rule, "effect": "refused", "note": why})


def _leaves(phases: tuple[Phase, ...], stepped: bool, within: str | None = None) -> Iterator[Leaf]:
    for phase in phases:
        if phase.steps:
            yield from _leaves(phase.steps, stepped, (within or phase.code) if stepped else None)
        else:
            yield Leaf(phase, within)


@functools.cache
def walk_of(ruleset: str) -> Walk:
    """How a game walks its phases."""
    module = f"app.play.{ruleset}.turn"
    if importlib.util.find_spec(f"app.play.{ruleset}") is None or importlib.util.find_spec(module) is None:
        return Walk(ruleset)
    made: type[Walk] = getattr(importlib.import_module(module), "Walk", Walk)
    return made(ruleset)


def state_of(asked: Asked) -> State:
    """What the sequence of play depends on, of a position that is asked."""
    [row] = asked.rows(STATE)
    return State(asked.conditions, row.tracks or {}, frozenset(row.markers))


# Asked and done.


class NothingMore(Arguments):
    """What is asked is only the position."""


def _sequence(asked: Asked, _: NothingMore) -> Finding:
    walk, state = walk_of(asked.ruleset), state_of(asked)
    moment, now = walk.moment(state), walk.leaf(state)
    rule = walk.rule(state)
    title = now.phase.title if now is not None else "Set-up"
    over = now is walk.leaves[-1] and _is_over(asked, moment)
    answer = {
        "phase": moment.phase or SET_UP,
        "rule": rule,
        "active": walk.whose(now, walk.side(now.phase, state) if now is not None else moment.active),
        "actions": list(walk.actions(state)),
        "game_over": over,
        **({"step": moment.step} if moment.step is not None else {}),
        **walk.told(state, None if over else walk.following(state)),
        **walk.asked(asked, state),
    }
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
    step = f", step {answer['step'].replace('_', ' ')}" if answer.get("step") else ""
    now = f"It is the {answer['phase'].replace('_', ' ')} phase{step}{whose}"
    if answer["game_over"]:
        return f"{now}, the last of the game"
    return f"{now}; next comes {_next_in_words(answer)}"


def _next_in_words(answer: dict[str, Any]) -> str:
    later = answer["next"]
    if not isinstance(later, dict):
        return f"{later}".replace("_", " ")
    step = f", {later['step'].replace('_', ' ')}" if later.get("step") else ""
    whose = f" of {later['active']}" if later.get("active") else ""
    return f"{later['phase'].replace('_', ' ')}{step}{whose}"


class EndPhase(Action):
    """The phase ends; nothing more is said."""


def end_phase(_: EndPhase) -> Procedure:
    """What happens by itself when a phase ends and the next begins; phases that nobody plays pass."""
    for _n in range(MOST_PASSED):
        ruleset, state = yield from _where()
        walk = walk_of(ruleset)
        now = walk.leaf(state)
        for name in now.phase.leave if now is not None else ():
            answer = yield Call(_procedure(ruleset, name))
            if answer.get("allowed") is False:
                raise Refused(
                    now.phase.rule if now is not None else "", answer.get("why", "the phase cannot end")
                )
            yield Tell(**{key: value for key, value in answer.items() if key in ("over", "winner")})
            if answer.get("over"):
                return
        if now is not None and now.phase.leave:
            # what a phase does as it ends may decide what comes next, or have gone on there by itself
            _, state = yield from _where()
        later = walk.following(state) if walk.leaf(state) is now else walk.moment(state)
        if not (yield from begin_phase(walk, later, state)):
            return
    raise AssertionError(f"the phases of {ruleset} pass without end")


def begin_phase(walk: Walk, later: Moment, state: State | None = None) -> Any:
    """A phase begins: what happens by itself then. Gives whether it also ends by itself.

    For procedures that end their own phase, such as a draw after which the chit is played. Whoever knows the state
    already tells it.
    """
    if state is None:
        _, state = yield from _where()
    conditions = walk.conditions(later)
    entered = walk.leaf(dataclasses.replace(state, conditions=state.conditions | conditions))
    assert entered is not None, later
    yield Tell(Step(entered.phase.rule, None, "begins", entered.phase.title), next=later.as_dict())
    yield Change({"conditions": conditions})
    for name in entered.phase.enter:
        answer = yield Call(_procedure(walk.ruleset, name))
        if answer.get("over"):
            yield Tell(**{key: value for key, value in answer.items() if key in ("over", "winner")})
            return False
    return entered.phase.passes


def _where() -> Any:
    [row] = yield Ask(
        f"select position.ruleset, cast(:conditions as jsonb) as conditions, position.tracks, {LYING}"
        " from position where id = :position",
        proves=False,
    )
    return row.ruleset, State(row.conditions, row.tracks or {}, frozenset(row.markers))


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
    step = answer["next"].get("step")
    within = f", step {step.replace('_', ' ')}," if step else ""
    return f"The {answer['next']['phase'].replace('_', ' ')} phase{within} begins"


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
    rulesets=played(),
    rule=_sequence,
    answers={
        "phase": "the phase that it is",
        "rule": "the rule that orders it",
        "active": "whose phase it is; deck where a card is drawn and no side acts; null where it is everybody's",
        "step": "the step of the phase, in games that name them",
        "next": "turn, phase and active side of the phase that follows; null where the game is over",
        "actions": "what may be done now, by name",
        "game_over": "whether the game ends with this phase",
    },
    verdict=_sequence_verdict,
    example="sequence: {}",
)
