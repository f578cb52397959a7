"""Orders: what somebody means to do, one a line, looked at before it is done and then done one after the other.

    us attack {by: [1/161], at: "1014"}
    move: {unit: 1/27M, path: ["0913", "0912"]}

An order is looked at without dice: whether the rules allow it, what it costs, who may interrupt, which dice and
choices are wanted, and the exact odds of what follows. Nothing is changed by looking.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from sqlalchemy.engine import Connection

from app.play.effects import after
from app.play.games import act, acting, contested, read_action, recorded
from app.play.log import Deed, Entry
from app.play.procedures import Action, Given, Outcome, ProcedureKind, apply, asked_of, tried
from app.play.tables import GameError, NotAllowedError, Table, Tree, open_game
from app.play.words import effect_in_words
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, RulingError
from db import SightlineError
from db.database import undone
from db.games import REFEREE
from db.rulesets import read_ruleset
from importers.documents import read_document

FEW_EFFECTS = 4
"""Effects that are told of a choice; of more, how many."""
MOST_ORDERS = 100
"""Lines that are looked at together."""
Standing = Literal["legal", "waits", "contested", "illegal", "unknown", "unread"]
"""`waits`: legal, and dice or choices are wanted; `unknown`: something not printed would decide; `unread`: no order."""
FORM = re.compile(r"\s*(?:(?P<actor>[a-z_]+)\s+)?(?P<action>[a-z_]+)\s*:?\s*(?P<arguments>\{.*\})?\s*")


@dataclasses.dataclass(frozen=True)
class Order:
    """A line: who does what; or why it is none."""

    line: int
    text: str
    actor: str | None = None
    action: str = ""
    arguments: Tree = dataclasses.field(default_factory=dict)
    problem: str | None = None

    def deed(self, table: Table, **said: Any) -> Deed:
        """What is to be done; by whoever is on turn where nobody is named."""
        return Deed(self.action, self.arguments, self.actor or acting(table, self.action), **said)


@dataclasses.dataclass(frozen=True)
class Prospect:
    """What would come of an order, as far as no die is thrown."""

    order: Order
    standing: Standing
    why: str = ""
    """Where it cannot be done: why, with its rule."""
    remedy: str = ""
    ruling: Ruling | None = None

    @property
    def answer(self) -> Tree:
        return self.ruling.answer if self.ruling is not None else {}

    def as_dict(self) -> Tree:
        told: Tree = {"line": self.order.line, "order": self.order.text, "standing": self.standing}
        if self.why:
            told["why"] = self.why
        if self.ruling is not None:
            told |= {
                "answer": self.ruling.full_answer,
                "steps": [step.as_dict() for step in self.ruling.steps],
                "contested": self.ruling.contested,
            }
        return told


def read_orders(text: str, ruleset: str) -> list[Order]:
    """The orders of a text, one a line; what stands behind # is a remark."""
    lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1)]
    kept = [(n, line) for n, line in lines if line and not line.startswith("#")]
    if len(kept) > MOST_ORDERS:
        raise GameError(f"{len(kept)} orders are more than {MOST_ORDERS}.", "Enter them in parts.")
    return [_order(n, line, ruleset) for n, line in kept]


def _order(n: int, line: str, ruleset: str) -> Order:
    found = FORM.fullmatch(line)
    if found is None:
        return Order(
            n, line, problem="An order is ACTION {arguments}, such as end_phase or move {unit: …, path: […]}."
        )
    actor, action = found["actor"], found["action"]
    actors = (REFEREE, *read_ruleset(ruleset).facts.sides)
    if actor is not None and actor not in actors:
        return Order(n, line, problem=f"{actor} does not act here; those who do are {', '.join(actors)}.")
    try:
        arguments = read_document(found["arguments"] or "{}", f"line {n}").plain()
    except SightlineError as error:
        return Order(n, line, problem=str(error))
    return Order(n, line, actor, action, arguments)


def prospect(connection: Connection, table: Table, order: Order) -> Prospect:
    """What would come of an order now."""
    return _looked_at(connection, table, order)[0]


def prospects(connection: Connection, name: str, orders: Sequence[Order]) -> list[Prospect]:
    """What would come of orders, each where the legal ones before it have been done that want no dice."""
    found = []
    with undone(connection):
        for order in orders:
            table = open_game(connection, name)
            told, outcome = _looked_at(connection, table, order)
            found.append(told)
            if outcome is not None and told.standing in ("legal", "contested") and outcome.pending is None:
                apply(table.asked(connection), outcome.changes)
    return found


def _looked_at(connection: Connection, table: Table, order: Order) -> tuple[Prospect, Outcome | None]:
    if order.problem is not None:
        return Prospect(order, "unread", order.problem), None
    try:
        kind, of, _ = read_action(connection, table, order.deed(table))
        given = Given(of.rolls, of.draws, of.cards, of.choices)
        outcome = tried(
            table.asked(connection), lambda: kind.begin(of), given, lambda: kinds_of(table.ruleset)
        )
    except NotAllowedError as error:
        return Prospect(order, "illegal", error.message, error.remedy), None
    except (GameError, RulingError) as error:
        return Prospect(order, "unread", error.message, error.remedy), None
    ruling = _ruling(connection, table, kind, of, outcome)
    if outcome.allowed is None:
        return Prospect(order, "unknown", "; ".join(map(str, outcome.needs)), ruling=ruling), outcome
    if not outcome.allowed:
        why = f"{outcome.answer.get('why', 'the rules do not allow it')} ({outcome.steps[-1].rule})"
        return Prospect(order, "illegal", why, ruling=ruling), outcome
    if outcome.pending is not None:
        return Prospect(order, "waits", ruling=ruling), outcome
    decided = any(point["decides"] for point in ruling.contested)
    return Prospect(order, "contested" if decided else "legal", ruling=ruling), outcome


def _ruling(
    connection: Connection, table: Table, kind: ProcedureKind, of: Action, outcome: Outcome
) -> Ruling:
    """What is known without dice as a ruling, with the odds of what follows."""
    answer = outcome.told()
    if outcome.pending is not None and outcome.allowed:
        asked = table.asked(connection)
        found = asked_of(asked, of, lambda: kind.begin(of), lambda: kinds_of(table.ruleset))
        answer |= {key: found.answer[key] for key in ("odds", "basis") if key in found.answer}
    told = of.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return Ruling(
        ruleset=table.ruleset, kind=kind.name, question={kind.name: told},
        answer=answer | {"after": after(outcome.effects)}, steps=outcome.steps,
        contested=contested(connection, table, kind, of, outcome), needs=outcome.needs, policy=dict(table.policy),
        question_kind=kind,
    )  # fmt: skip


def after_choice(connection: Connection, table: Table, option: Any) -> str:
    """What a choice that is awaited would bring, in words, as far as no die is thrown."""
    assert table.pending is not None
    prompt = table.pending["prompt"]
    deed = Deed("answer", {"choices": {prompt["choice"]: option}}, REFEREE)
    try:
        kind, of, _ = read_action(connection, table, deed)
        known = recorded(table.pending.get("rolled", []), table.pending.get("drawn", []), [])
        given = known.with_choices(of.choices)
        outcome = tried(
            table.asked(connection), lambda: kind.begin(of), given, lambda: kinds_of(table.ruleset)
        )
    except SightlineError as error:
        return str(error)
    if outcome.allowed is False:
        return f"not allowed: {outcome.answer.get('why')}"
    told = [effect_in_words(effect) for effect in outcome.effects[:FEW_EFFECTS]]
    if len(outcome.effects) > FEW_EFFECTS:
        told.append(f"{len(outcome.effects) - FEW_EFFECTS} more")
    if outcome.pending is not None:
        asked = outcome.pending.prompt()
        word = next(word for word in ("roll", "card", "draw", "choice") if word in asked)
        told.append(f"then {word} {asked[word]}")
    return "; ".join(told)


def carry_out(
    connection: Connection, name: str, orders: Sequence[Order]
) -> Iterator[tuple[Order, Entry | Prospect]]:
    """Do what is legal, one after the other, up to the first that waits for an answer; the rest is told as it stands.

    In the caller's transaction.
    """
    for order in orders:
        table = open_game(connection, name)
        if table.pending is not None or table.over:
            return
        told, _ = _looked_at(connection, table, order)
        if told.standing not in ("legal", "waits", "contested"):
            yield order, told
            continue
        yield order, act(connection, name, order.deed(table))
