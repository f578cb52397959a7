"""Procedures: generators that ask, roll, draw, let a player choose, and change the position.

    def attack(of: Attack) -> Procedure:
        [*_, sum] = yield Ask("select * from fpb.attack(:position, :by, :at)", by=of.by, at=of.at)
        yield Tell(differential=sum.facts["differential"])
        die = yield Roll("1d6", "the attack")
        yield Change({"unit": "1/22", "depleted": True})

A procedure decides order, not numbers. It is never stored: its state is the list of answers it was given, and
it is run again from them. `run` stops at the first thing that nobody has answered, and that is the prompt. The
same run serves a case file (answers given), a game (answers come in), odds (all branches of the dice),
legality (up to the first roll) and replay (recorded answers).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from pydantic import Field

from app.play.effects import NETTED, Effect, after, changes_of, net
from app.play.effects import Change as Changed
from app.referee.rulings import Arguments, Asked, Finding, Need, QuestionKind, RulingError, Step
from db.budget import check
from db.database import fetched, undone
from db.values import canonical, exact

MOST_BRANCHES = 2_000
"""Ways in which dice may fall that odds are counted over."""
DICE = re.compile(r"(\d+)d(\d+)")
UNDECIDED = "unknown"
"""The effect of a row that tells what is not printed."""
NOTHING = "none"
"""The option of a choice in which nothing may be chosen."""


# What a procedure wants.


@dataclasses.dataclass(frozen=True)
class Ask:
    """Rows of a query; those in which a rule speaks (`rulings.step` and its kin) are part of the proof.

    Whoever asks the same again gets the same rows: what is in them is not to be changed.
    """

    query: str
    values: dict[str, Any]
    proves: bool = True

    def __init__(self, query: str, *, proves: bool = True, **values: Any) -> None:
        for name, value in (("query", query), ("values", values), ("proves", proves)):
            object.__setattr__(self, name, value)


@dataclasses.dataclass(frozen=True)
class Put:
    """A question of the registry, put to the position as it is now: gives its `Finding`."""

    kind: str
    arguments: dict[str, Any]
    proves: bool = True

    def __init__(self, kind: str, *, proves: bool = True, **arguments: Any) -> None:
        for name, value in (("kind", kind), ("arguments", arguments), ("proves", proves)):
            object.__setattr__(self, name, value)


@dataclasses.dataclass(frozen=True)
class Roll:
    """Dice thrown together: a number for one die, a list for several. `2d6`; `1d10` counts 1 to 10, or from `lowest`."""

    dice: str
    purpose: str
    lowest: int = 1
    basis: ClassVar[str | None] = None
    """Over what odds are counted, where that is not plain dice."""
    odds_query: ClassVar[Ask | None] = None
    """A query for the odds, where the procedure knows one; put only where nobody rolls."""

    @property
    def faces(self) -> tuple[int, range]:
        """How many dice, and what each shows."""
        found = DICE.fullmatch(self.dice)
        assert found, self.dice
        number, sides = map(int, found.groups())
        return number, range(self.lowest, self.lowest + sides)

    def falls(self) -> Iterable[Any]:
        """Every way in which they fall."""
        number, faces = self.faces
        return faces if number == 1 else (list(fall) for fall in itertools.product(faces, repeat=number))

    def mistake(self, value: Any) -> str | None:
        """What is wrong with a roll that was told; None where nothing is."""
        number, faces = self.faces
        shown = value if number > 1 else [value]
        if not isinstance(shown, list) or len(shown) != number:
            return f"{self.dice} is rolled for {self.purpose}: {_dice_form(number)}, not {canonical(value)}"
        for die in shown:
            if isinstance(die, bool) or not isinstance(die, int) or die not in faces:
                return f"a die for {self.purpose} shows {faces[0]} to {faces[-1]}, never {canonical(die)}"
        return None

    def odds(self) -> dict[str, Any] | None:
        """`odds` and `basis` where the procedure knows them; None: every fall is to be tried."""
        return None

    def found_odds(self, rows: Sequence[Any]) -> dict[str, Any]:
        """`odds` and `basis` by the rows of the query for them."""
        raise NotImplementedError

    def prompt(self) -> dict[str, Any]:
        told: dict[str, Any] = {"roll": self.dice, "for": self.purpose}
        return told if self.lowest == 1 else told | {"lowest": self.lowest}


def _dice_form(number: int) -> str:
    return "one number" if number == 1 else f"a list of {number} numbers"


@dataclasses.dataclass(frozen=True)
class Draw:
    """Something drawn blind from a pool, such as a cup or a deck; `pool` is what lies in it, None where nobody knows."""

    source: str
    purpose: str
    pool: Sequence[Any] | None = None
    kind: str = "draw"
    """`draw` (a counter) or `card`."""
    counted: bool = False
    """Whether odds are counted over what lies in the pool."""
    lacks: Need | None = None
    """What would have to be told for odds."""
    obvious: bool = False
    """Whether the last of a pool need not be named."""
    odds_query: ClassVar[Ask | None] = None
    """As of a roll."""

    def found_odds(self, rows: Sequence[Any]) -> dict[str, Any]:
        """`odds` and `basis` by the rows of the query for them."""
        raise NotImplementedError

    def falls(self) -> Iterable[Any]:
        """Everything that may come up, where odds are counted over it."""
        return (self.pool or ()) if self.counted else ()

    def mistake(self, value: Any) -> str | None:
        if self.pool is not None and not any(canonical(value) == canonical(one) for one in self.pool):
            lying = ", ".join(canonical(one) for one in self.pool[:8]) or "nothing"
            return f"{canonical(value)} is not in {self.source}, where there is {lying}"
        return None

    def prompt(self) -> dict[str, Any]:
        return {self.kind: self.source, "for": self.purpose}


@dataclasses.dataclass(frozen=True)
class Choose:
    """What a player decides; the prompt is theirs. `options` are all that may be chosen, or `check` judges a free form."""

    name: str
    by: str
    """The side that chooses; `referee` where no side does."""
    purpose: str
    options: Sequence[Any] | None = None
    check: Callable[[Any], str | None] | None = None
    form: str | None = None
    """What an answer looks like where it is not one of the options, such as `{unit: [hexes]}`."""
    many: bool = False
    """Whether any number of the options may be chosen: the answer is a list."""
    default: Any = None
    """What a random player, or one who leaves it to the referee, may always answer."""
    obvious: bool = False
    """Whether the one option that there is needs no answer."""
    also: tuple[str, ...] = ()
    """Other names under which the answer may stand."""
    unsaid: Any = None
    """What it is taken to be where somebody only asks and says nothing of it, such as that an offer is not taken up."""

    def meant(self, value: Any) -> Any:
        """The option that is meant: it may stand alone in a list, and an empty answer is nothing where that is offered."""
        options = self.options or ()
        if self.many or value in options:
            return value
        if isinstance(value, list) and len(value) == 1 and value[0] in options:
            return value[0]
        return NOTHING if not value and NOTHING in options else value

    def mistake(self, value: Any) -> str | None:
        if self.check is not None and (wrong := self.check(value)) is not None:
            return wrong
        if self.options is None:
            return None
        chosen = value if self.many and isinstance(value, list) else [value]
        if self.many and not isinstance(value, list):
            return f"{self.name} is a list"
        allowed = {canonical(option) for option in self.options}
        if others := [one for one in chosen if canonical(one) not in allowed]:
            offered = ", ".join(canonical(option) for option in self.options) or "nothing"
            return f"{canonical(others[0])} is not offered for {self.name}; there is {offered}"
        return None

    def prompt(self) -> dict[str, Any]:
        told: dict[str, Any] = {"choice": self.name, "by": self.by, "for": self.purpose}
        if self.options is not None:
            told["options"] = list(self.options)
        if self.many:
            told["many"] = True
        if self.form:
            told["form"] = self.form
        if self.default is not None:
            told["default"] = self.default
        return told


@dataclasses.dataclass(frozen=True)
class Change:
    """Effects, at once; with `kept`, bookkeeping of the turn, which the log keeps and an answer does not tell.

    With `told` it is the other way round: words of the game for what the rows are changed to by bookkeeping.
    """

    effects: tuple[Effect, ...]
    kept: bool = False
    told: bool = False

    def __init__(self, *effects: Effect, kept: bool = False, told: bool = False) -> None:
        for name, value in (("effects", effects), ("kept", kept), ("told", told)):
            object.__setattr__(self, name, value)


@dataclasses.dataclass(frozen=True)
class Tell:
    """Part of the answer, and reasons that no query tells."""

    answer: dict[str, Any]
    steps: tuple[Step, ...] = ()
    points: tuple[str, ...] = ()
    needs: tuple[Need, ...] = ()

    def __init__(
        self,
        *steps: Step,
        points: Sequence[str] = (),
        needs: Sequence[Need] = (),
        facts: Mapping[str, Any] | None = None,
        **answer: Any,
    ) -> None:
        """`facts` are parts of the answer whose names are taken here, such as points of victory."""
        for name, value in (
            ("answer", {**(facts or {}), **answer}), ("steps", steps), ("points", tuple(points)), ("needs", tuple(needs)),
        ):  # fmt: skip
            object.__setattr__(self, name, value)


def proof(rows: Sequence[Any]) -> Tell:
    """What rows of a ledger tell that was asked for without being proof by itself."""
    return Tell(
        *(Step(row.rule, row.at, row.effect, row.note, row.clause) for row in rows),
        points=[row.point for row in rows if row.point],
    )


@dataclasses.dataclass(frozen=True)
class Call:
    """Another procedure within this one: gives its answer; what it changes and proves is this one's, too.

    With answers of its own (`given`), such as those that a roll brings for its trigger, they are taken first.
    """

    procedure: Procedure
    given: Given | None = None


Want = Ask | Put | Roll | Draw | Choose | Change | Tell | Call
Procedure = Generator[Want, Any, None]


class Refused(Exception):  # noqa: N818 - an answer, not a mistake of ours
    """The rules do not allow it: nothing is changed."""

    def __init__(
        self,
        rule: str,
        why: str,
        at: str | None = None,
        *,
        clause: str | None = None,
        points: Sequence[str] = (),
        **answer: Any,
    ) -> None:
        super().__init__(why)
        self.why = why
        self.step = Step(rule, at, "refused", why, clause)
        self.points = tuple(points)
        self.answer = answer


class Undecided(Exception):  # noqa: N818 - an answer, not a mistake of ours
    """Something that the rulebook does not print would decide."""

    def __init__(self, *needs: Need, **answer: Any) -> None:
        super().__init__("; ".join(str(need) for need in needs))
        self.needs = needs
        self.answer = answer


# Who answers.


class Supply(Protocol):
    """Where dice, draws and choices come from; None: nobody has answered yet."""

    def roll(self, want: Roll) -> Any: ...

    def draw(self, want: Draw) -> Any: ...

    def choice(self, want: Choose) -> Any: ...


class AnswerError(RulingError):
    """An answer that cannot be: a die with no such face, a choice that is not offered."""


class Given:
    """Answers that were written down: dice and draws in order, choices by name."""

    def __init__(
        self,
        rolls: Sequence[Any] = (),
        draws: Sequence[Any] = (),
        cards: Sequence[Any] = (),
        choices: dict[str, Any] | None = None,
    ) -> None:
        self._rolls, self._draws, self._cards = list(rolls), list(draws), list(cards)
        self._choices = dict(choices or {})

    def roll(self, want: Roll) -> Any:
        return self._rolls.pop(0) if self._rolls else None

    def draw(self, want: Draw) -> Any:
        pile = self._cards if want.kind == "card" else self._draws
        return pile.pop(0) if pile else None

    def choice(self, want: Choose) -> Any:
        for name in (want.name, *want.also):
            if name in self._choices:
                value = self._choices.pop(name)
                return want.meant(value)
        return None

    def with_choices(self, choices: dict[str, Any]) -> Given:
        """The same dice and draws with these choices."""
        return Given(self._rolls, self._draws, self._cards, choices)

    def left(self) -> str | None:
        """What was given and never called for."""
        for many, what in ((self._rolls, "roll"), (self._draws, "draw"), (self._cards, "card")):
            if many:
                listed = ", ".join(map(canonical, many))
                return f"{len(many)} {what}{'s' if len(many) > 1 else ''} too many: {listed}"
        if self._choices:
            return f"nothing asks for the {'choices' if len(self._choices) > 1 else 'choice'} {', '.join(self._choices)}"
        return None


class Asking(Given):
    """The answers of somebody who only asks: an offer of which nothing is said is not taken up."""

    def draw(self, want: Draw) -> Any:
        value = super().draw(want)
        if value is None and want.obvious and want.pool is not None and len(want.pool) == 1:
            return want.pool[0]
        return value

    def choice(self, want: Choose) -> Any:
        value = super().choice(want)
        return want.unsaid if value is None else value


class Inner:
    """Answers that belong to a part of a procedure; where they end, whoever answers outside is asked."""

    def __init__(self, given: Given, outside: Supply) -> None:
        self._given, self._outside = given, outside

    def roll(self, want: Roll) -> Any:
        value = self._given.roll(want)
        return self._outside.roll(want) if value is None else value

    def draw(self, want: Draw) -> Any:
        value = self._given.draw(want)
        return self._outside.draw(want) if value is None else value

    def own(self, want: Choose) -> Any:
        """The choice that is given for this part; None where none is."""
        return self._given.choice(want)

    def choice(self, want: Choose) -> Any:
        return self._outside.choice(want)


@dataclasses.dataclass
class Outcome:
    """How far a procedure came, and all that it did."""

    answer: dict[str, Any] = dataclasses.field(default_factory=dict)
    steps: list[Step] = dataclasses.field(default_factory=list)
    points: list[str] = dataclasses.field(default_factory=list)
    needs: list[Need] = dataclasses.field(default_factory=list)
    effects: list[Effect] = dataclasses.field(default_factory=list)
    changes: list[Changed] = dataclasses.field(default_factory=list)
    """Effects and bookkeeping as changes of rows, with what was there."""
    pending: Roll | Draw | Choose | None = None
    odds: dict[str, Any] | None = None
    """Of what is pending, where the procedure knows them."""
    rolls: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    """What was rolled, in order: dice, purpose, value."""
    draws: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    choices: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    """Who chose what, in order."""

    @property
    def allowed(self) -> bool | None:
        """True, false, or null where something not printed would decide."""
        allowed: bool | None = self.answer.get("allowed", True)
        return allowed

    def told(self) -> dict[str, Any]:
        """The answer with its effects, and what is still to come."""
        answer = {"allowed": True, **self.answer}
        answer["effects"] = list(self.effects)
        answer["after"] = after(self.effects)
        if self.pending is not None:
            answer["pending"] = self.pending.prompt()
        return answer


# Running.


Seen = dict[tuple[str, ...], Any]
"""What queries found, by what was asked and all that had changed before."""


class Runner:
    """One run of a procedure on a position that is ours to change."""

    def __init__(
        self,
        asked: Asked,
        supply: Supply,
        kinds: Callable[[], dict[str, QuestionKind]],
        seen: Seen | None = None,
    ) -> None:
        self._asked = asked
        self._supply = supply
        self._kinds = kinds
        self._seen = seen
        self._found: Seen = {} if seen is None else seen
        """What was looked up; in a single run, since the last change."""
        self._past = ""
        """All changes so far: what a query answers hangs on them."""
        self._unwritten: list[Changed] = []
        self._names: Counter[str] = Counter()
        self.outcome = Outcome()

    def run(self, procedure: Procedure) -> Outcome:
        """Run to the end, or to the first thing that nobody has answered."""
        outcome = self.outcome
        try:
            self._drive(procedure, outcome.answer)
        except Refused as refused:
            if not outcome.steps or _speaks(outcome.steps[-1]) != _speaks(refused.step):
                # a ledger that ends in the refusal has told it already
                outcome.steps.append(refused.step)
            outcome.points += refused.points
            outcome.answer |= refused.answer | {"allowed": False, "why": refused.why}
            outcome.effects, outcome.changes, self._unwritten = [], [], []
        except Undecided as undecided:
            outcome.needs += undecided.needs
            outcome.answer |= undecided.answer | {"allowed": None}
        except _Unanswered as stop:
            outcome.pending = stop.want
            outcome.odds = self._odds_of(stop.want)
        else:
            if self._seen is None:
                self._write()
        outcome.needs = list(dict.fromkeys(outcome.needs))
        if self._asked.ruleset in NETTED:
            outcome.effects = net(outcome.effects, outcome.changes)
        return outcome

    def _odds_of(self, want: Roll | Draw | Choose) -> dict[str, Any] | None:
        if isinstance(want, Choose):
            return None
        if want.odds_query is None:
            return want.odds() if isinstance(want, Roll) else None
        self._write()
        return want.found_odds(self._asked.rows(want.odds_query.query, **want.odds_query.values))

    def _drive(self, procedure: Procedure, answer: dict[str, Any]) -> None:
        try:
            given: Any = None
            while True:
                want = procedure.send(given)
                given = self._satisfy(want, answer)
        except StopIteration:
            return
        finally:
            procedure.close()

    def _satisfy(self, want: Want, answer: dict[str, Any]) -> Any:
        match want:
            case Ask():
                return self._ask(want)
            case Put():
                return self._put(want)
            case Roll():
                return self._answered(want, self._supply.roll(want), self.outcome.rolls)
            case Draw():
                return self._answered(want, self._supply.draw(want), self.outcome.draws)
            case Choose():
                return self._chosen(want)
            case Change():
                self._change(want)
                return None
            case Tell():
                answer |= want.answer
                self.outcome.steps += want.steps
                self.outcome.points += want.points
                self.outcome.needs += want.needs
                return None
            case Call():
                inner: dict[str, Any] = {}
                with self._within(want.given):
                    self._drive(want.procedure, inner)
                return inner

    @contextlib.contextmanager
    def _within(self, given: Given | None) -> Iterator[None]:
        """Take what is given for a part of the procedure before anything else; all of it is to be called for."""
        outside = self._supply
        if given is None:
            yield
            return
        self._supply = Inner(given, outside)
        try:
            yield
        finally:
            self._supply = outside
        if (left := given.left()) is not None:
            raise AnswerError(f"{left[0].upper()}{left[1:]}.")

    def _chosen(self, want: Choose) -> Any:
        """What a player decides; a choice of a name that there was before is numbered: `unit`, `unit_2`."""
        if isinstance(self._supply, Inner) and (value := self._supply.own(want)) is not None:
            return self._answered(want, value, self.outcome.choices)
        self._names[want.name] += 1
        if (again := self._names[want.name]) > 1:
            want = dataclasses.replace(want, name=f"{want.name}_{again}")
        value = self._supply.choice(want)
        if value is None and want.obvious and want.options is not None and len(want.options) == 1:
            return want.options[0]
        return self._answered(want, value, self.outcome.choices)

    def _answered(self, want: Roll | Draw | Choose, value: Any, log: list[dict[str, Any]]) -> Any:
        if value is None:
            raise _Unanswered(want)
        if (wrong := want.mistake(value)) is not None:
            raise AnswerError(f"{wrong[0].upper()}{wrong[1:]}.")
        log.append({**want.prompt(), "value": value})
        return value

    def _ask(self, want: Ask) -> list[Any]:
        rows: list[Any] = self._looked_up(
            want.query, want.values, lambda: self._asked.rows(want.query, **want.values)
        )
        if want.proves:
            for row in rows:
                if row.effect == UNDECIDED:
                    self.outcome.needs.append(Need(row.note, row.rule))
                self.outcome.steps.append(Step(row.rule, row.at, row.effect, row.note, row.clause))
                if row.point:
                    self.outcome.points.append(row.point)
        return rows

    def _looked_up(self, what: str, given: dict[str, Any], find: Callable[[], Any]) -> Any:
        """What a query finds now; where several runs are made of one position, what one of them found serves all."""
        key = (what, canonical(exact(given)), self._past)
        if key not in self._found:
            self._write()
            self._found[key] = find()
        # one run leaves alone what it found; of many that share it none is to rely on the others
        return self._found[key] if self._seen is None else copy.deepcopy(self._found[key])

    def _put(self, want: Put) -> Finding:
        kind = self._kinds()[want.kind]
        finding: Finding = self._looked_up(
            want.kind,
            want.arguments,
            lambda: kind.rule(self._asked, kind.arguments(**want.arguments)),
        )
        if want.proves:
            self.outcome.steps += finding.steps
            self.outcome.points += finding.points
            self.outcome.needs += finding.needs
        return finding

    def _change(self, want: Change) -> None:
        for effect in want.effects:
            if not want.kept:
                self.outcome.effects.append(effect)
            if want.told:
                continue
            changes = changes_of(effect, self._asked.ruleset)
            self._unwritten += changes
            if self._seen is None:
                self._found.clear()
            else:
                self._past += canonical(exact(changes))
            if "conditions" in effect:
                now = {**self._asked.conditions, **effect["conditions"]}
                self._asked = dataclasses.replace(
                    self._asked, conditions={key: value for key, value in now.items() if value is not None}
                )

    def _write(self) -> None:
        """Changes reach the rows before the next query sees them."""
        if self._unwritten:
            self.outcome.changes += apply(self._asked, self._unwritten)
            self._unwritten = []


def _speaks(step: Step) -> tuple[Any, ...]:
    return step.rule, step.clause, step.at, step.effect, step.note


class _Unanswered(Exception):  # noqa: N818 - how a run stops
    """Nobody has answered this yet."""

    def __init__(self, want: Roll | Draw | Choose) -> None:
        super().__init__()
        self.want = want


def apply(asked: Asked, changes: Sequence[Changed]) -> list[Changed]:
    """Make changes to the rows of a position; each comes back with what was there."""
    query = "select games.apply(:position, cast(:changes as jsonb)) as changes"
    [row] = fetched(
        asked.connection, query, {"position": asked.position_id, "changes": canonical(exact(list(changes)))}
    )
    made: list[Changed] = row.changes
    return made


# Procedures as kinds of question.


class Action(Arguments):
    """What every procedure takes beside its own: what dice, draws and players said."""

    rolls: list[Any] = Field(default_factory=list, description="What the dice show, in the order called for")
    draws: list[Any] = Field(default_factory=list, description="Counters drawn, in the order called for")
    cards: list[Any] = Field(default_factory=list, description="Cards drawn, in the order called for")
    choices: dict[str, Any] = Field(default_factory=dict, description="What players decide, by name")
    read: dict[str, Any] = Field(
        default_factory=dict, description="What is read off a chart that is not printed"
    )


ANSWERS = ("rolls", "draws", "cards", "choices")
"""Fields of an action that are answers, not what is asked."""


def given(of: Action) -> Given:
    return Asking(of.rolls, of.draws, of.cards, of.choices)


@dataclasses.dataclass(frozen=True)
class ProcedureKind(QuestionKind):
    """A kind of procedure: asked like a question, and in a game an action."""

    play: Callable[[Any], Procedure] | None = None
    """The generator, by its arguments."""
    acts: bool = True
    """Whether it can be entered in a game; else it is only asked, or happens by itself."""

    def begin(self, of: Action) -> Procedure:
        """The procedure, ready to run."""
        assert self.play is not None
        return self.play(of)


def procedure_kind(
    play: Callable[[Any], Procedure], kinds: Callable[[], dict[str, QuestionKind]], **facts: Any
) -> ProcedureKind:
    """A kind of procedure; `kinds` are the questions that it may put."""

    def rule(asked: Asked, of: Action) -> Finding:
        return asked_of(asked, of, lambda: play(of), kinds)

    facts["answers"] = COMMON_ANSWERS | facts.get("answers", {})
    return ProcedureKind(rule=rule, play=play, **facts)


COMMON_ANSWERS = {
    "allowed": "true, false, or null where something not printed would decide",
    "why": "when it is not allowed: why",
    "effects": "what changes, in the order in which it happens",
    "after": "the same facts by unit, hex or side",
    "pending": "what is wanted next: a roll, a draw, or a player's choice",
    "odds": "where dice alone are missing: each result with its chance",
    "basis": "over what the odds were counted, where that is not plain dice",
}


def asked_of(
    asked: Asked, of: Action, procedure: Callable[[], Procedure], kinds: Callable[[], dict[str, QuestionKind]]
) -> Finding:
    """What would happen: the position is as before afterwards."""
    supply = given(of)
    outcome = tried(asked, procedure, supply, kinds)
    # a game that ends in the midst of it wants no more dice, and what is not printed may hide that it does
    over = outcome.answer.get("over", False) or outcome.needs
    if outcome.pending is None and (left := supply.left()) is not None and outcome.allowed and not over:
        raise AnswerError(f"{left[0].upper()}{left[1:]}.")
    answer = outcome.told()
    # a procedure that rolls until something comes up tells its odds itself
    if "odds" not in answer and outcome.odds is not None:
        answer |= outcome.odds
    elif "odds" not in answer and _chances_of(outcome):
        answer |= _odds(asked, of, procedure, kinds)
    elif isinstance(outcome.pending, Draw) and outcome.pending.lacks is not None:
        answer |= {"odds": None}
        outcome.needs.append(outcome.pending.lacks)
    return Finding(answer, outcome.steps, outcome.points, outcome.needs)


def tried(
    asked: Asked,
    procedure: Callable[[], Procedure],
    supply: Supply,
    kinds: Callable[[], dict[str, QuestionKind]],
    seen: Seen | None = None,
) -> Outcome:
    """A run that is undone: in a savepoint, or where nothing was begun in a transaction of its own.

    With `seen`, one of many runs on the same position, of which the answers alone are wanted: what one has looked
    up the others need not.
    """
    with undone(asked.connection):
        return Runner(asked, supply, kinds, seen).run(procedure())


def _chances_of(outcome: Outcome) -> list[Any]:
    """In how many ways it may go on, where chance alone decides that."""
    return list(outcome.pending.falls()) if isinstance(outcome.pending, Roll | Draw) else []


def _odds(
    asked: Asked, of: Action, procedure: Callable[[], Procedure], kinds: Callable[[], dict[str, QuestionKind]]
) -> dict[str, Any]:
    """Exact chances of each result, by running every way in which dice can fall and cards can come up."""
    chances: Counter[str] = Counter()
    weights: dict[str, Fraction] = {}
    waiting = [(_Chances(of), Fraction(1))]
    pooled: dict[str, int] = {}
    basis: str | None = None
    seen: Seen = {}
    while waiting:
        check()
        so_far, weight = waiting.pop()
        if sum(chances.values()) + len(waiting) > MOST_BRANCHES:
            return {
                "odds": None,
                "basis": f"the dice fall in more than {MOST_BRANCHES} ways; give some of them",
            }
        outcome = tried(asked, procedure, so_far.supply(), kinds, seen)
        if falls := _chances_of(outcome):
            assert isinstance(outcome.pending, Roll | Draw)
            if isinstance(outcome.pending, Draw):
                pooled[outcome.pending.kind] = len(falls)
            else:
                basis = outcome.pending.basis
            waiting += [(so_far.then(outcome.pending, fall), weight / len(falls)) for fall in falls]
        else:
            if (word := outcome.answer.get("result")) is None:
                # it has no result, or one that hangs on what is not printed: dice alone do not decide
                return {"odds": None} if "result" in outcome.answer else {}
            result = str(word)
            chances[result] += 1
            weights[result] = weights.get(result, Fraction(0)) + weight
    odds = {result: f"{chance.numerator}/{chance.denominator}" for result, chance in weights.items()}
    if pooled:
        basis = f"over {', '.join(f'{count} {kind}s' for kind, count in pooled.items())} not yet drawn"
    return {"odds": odds} | ({} if basis is None else {"basis": basis})


@dataclasses.dataclass(frozen=True)
class _Chances:
    """Answers that were given, and how chance went on from there."""

    of: Action
    rolls: tuple[Any, ...] = ()
    draws: tuple[Any, ...] = ()
    cards: tuple[Any, ...] = ()

    def supply(self) -> Given:
        of = self.of
        rolls, draws, cards = [*of.rolls, *self.rolls], [*of.draws, *self.draws], [*of.cards, *self.cards]
        return Asking(rolls, draws, cards, of.choices)

    def then(self, want: Roll | Draw, fall: Any) -> _Chances:
        name = "rolls" if isinstance(want, Roll) else f"{want.kind}s"
        changed: dict[str, Any] = {name: (*getattr(self, name), fall)}
        return dataclasses.replace(self, **changed)
