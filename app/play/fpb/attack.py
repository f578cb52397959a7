"""Attacks in fpb: declared, supported, rolled and applied: 8.2, with Banzai attacks (15.0) and assaults from the sea (12.1).

The sums and the table are SQL (`fpb.attack`, `fpb.combat_result`); here is the order of play.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from pydantic import Field, field_validator

from app.play.fpb.decisions import CombatChoices, Decisions
from app.play.fpb.losses import Doing, counter, eliminate, lose_step, open_beach
from app.play.fpb.retreats import Pursuit, Rout, Withdrawal, advance, reading, rout
from app.play.fpb.support import Cup, Support, other, placed, told, written
from app.play.procedures import Action, Ask, Change, Procedure, Roll, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, needs_in_words, series
from importers.questions import Names

LEDGER = (
    "select * from fpb.attack(:position, :by, :at, cast(:attacker as jsonb), cast(:defender as jsonb), :banzai,"
    " :conditions, :policy)"
)
RESULT = (
    "select * from fpb.combat_result("
    ":position, :line, :differential, :roll, :manner, :friend, :conditions, :policy)"
)
SCENE = """
select
  cast(:conditions as jsonb) as conditions,
  position.tracks,
  array(
    select unit.code
    from positions.place(position.id, :at) as place
    join unit on unit.position_id = position.id and unit.q = place.q and unit.r = place.r
    order by unit.code
  ) as present,
  exists (select from unit where unit.position_id = position.id and unit.code = positions.spoken(:at)) as named
from position
where position.id = :position
"""
RETREATS = {"A1": 1, "A2": 2, "A3": 3, "D2": 2, "D3": 3}
"""8.2.4: how many hexes."""
SUMS = ("attack", "defense", "differential", "line", "column", "modifiers")
UNTOLD = "the attack needs {}"


class Attack(Action):
    """Who attacks which hex, and how."""

    by: Annotated[list[str], Names(("unit",)), Field(min_length=1, max_length=20)] = Field(
        description="Ids of the units that attack"
    )
    at: Place = Field(description="The hex that is attacked, or a unit in it")
    support: Support | None = Field(
        None,
        description="The markers turned over, of attacker and defender; without it they are drawn from the cups",
    )
    banzai: bool = Field(False, description="Whether it is declared a Banzai attack (15.0)")
    choices: CombatChoices = Field(  # type: ignore[assignment]
        default_factory=lambda: CombatChoices(), description="What players decide, by name"
    )

    @field_validator("by")
    @classmethod
    def each_once(cls, by: list[str]) -> list[str]:
        if len(set(by)) < len(by):
            raise ValueError("a unit is named twice; each attacks once")
        return by


@dataclasses.dataclass(frozen=True)
class Battle:
    """A combat that is being resolved: who is in it, and where."""

    side: str
    hex: str
    attackers: Sequence[str]
    defenders: Sequence[str]
    openers: Sequence[str]
    assaulting: Sequence[str]
    reef: bool
    alone: bool
    phase: str | None
    decisions: Decisions


def attack(of: Attack) -> Procedure:
    """An attack from its declaration to the last advance."""
    [scene] = yield Ask(SCENE, proves=False, at=of.at)
    alone = scene.conditions.get("mode") == "solitaire"
    decisions = Decisions(dict(of.choices), alone)
    first = yield from counter(of.by[0])
    at = yield from target(of.at, scene, first.side, decisions, functools.partial(_declared, of))
    # what forbids the attack does so before anybody places a marker
    support = Support() if of.support is None else of.support
    attacking, defending = told(support.attacker), told(support.defender)
    if of.support is None and (yield from ledger(of, at, [], [], False))[-1].facts["allowed"] is not False:
        markers = yield from placed(first.side, of.banzai, alone, decisions)
        attacking, defending = markers["attacker"], markers["defender"]
    [*_, declared] = yield from ledger(of, at, attacking, defending, True)
    facts = declared.facts
    if facts["allowed"] is False:
        yield Tell(allowed=False, why=declared.note)
        return
    yield Tell(**{key: facts.get(key) for key in SUMS})
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    die = yield Roll("1d6", "the attack")
    battle = Battle(
        facts["side"], facts["hex"], of.by, facts["defenders"], facts["openers"], facts["assaulting"],
        facts["reef"], alone, scene.conditions.get("phase"), decisions,
    )  # fmt: skip
    [*_, verdict] = yield Ask(
        RESULT, line=facts["line"], differential=facts["differential"], roll=die,
        manner="banzai" if of.banzai else "attack", friend=True,
    )  # fmt: skip
    yield Tell(result=verdict.facts["result"], applied=verdict.facts["applied"])
    yield from spend(battle.side, "attack", attacking)
    yield from spend(other(battle.side), "defense", defending)
    yield from note_attack(battle)
    yield from apply_result(battle, verdict.facts["applied"])
    yield from decisions.finish()


def ledger(
    of: Attack, at: str, attacking: list[dict[str, Any]], defending: list[dict[str, Any]], proves: bool
) -> Doing:
    return (
        yield Ask(
            LEDGER, proves=proves, by=of.by, at=at, attacker=written(attacking), defender=written(defending),
            banzai=of.banzai,
        )
    )  # fmt: skip


def _declared(of: Attack, at: str) -> Doing:
    """Whether an attack on this target can be declared."""
    return (yield from ledger(of, at, [], [], False))[-1].facts["allowed"] is not False


def target(at: str, scene: Any, side: str, decisions: Decisions, able: Callable[[str], Doing]) -> Doing:
    """The hex, or under fpb-36 c the one of two units there that is attacked."""
    if scene.named or len(scene.present) < 2 or (yield from reading("fpb-36")) != "c":
        return at
    options = []
    for code in scene.present:
        if (yield from able(f"unit:{code}")):
            options.append(code)
    one = yield from decisions.one_of(
        "target", side, "which of the units in the hex is attacked", options or scene.present, "10.6"
    )
    return f"unit:{one}"


def spend(side: str, purpose: str, markers: list[dict[str, Any]]) -> Doing:
    """Markers that served leave their cup (7.2, 17.0)."""
    if not markers:
        return
    cup = Cup(side, purpose)
    yield from cup.look(proves=False)
    _, returned = yield from cup.spend(markers)
    if returned:
        yield Tell(returned=returned)


def note_attack(of: Battle) -> Doing:
    """Who attacked and who was attacked in this phase; without a phase nobody counts that."""
    if of.phase is None:
        return
    for code in of.attackers:
        yield Change({"unit": code, "attacked": of.phase}, kept=True)
    yield from note_hits(of.defenders, of.phase)


def note_hits(defenders: Iterable[str], phase: str | None) -> Doing:
    """8.0: one attack in each of the phases; without a phase nobody counts that."""
    if phase is None:
        return
    for code in defenders:
        unit = yield from counter(code)
        yield Change({"unit": code, "hit": [*unit.attributes.get("hit", []), phase]}, kept=True)


def apply_result(of: Battle, result: str) -> Doing:
    """8.2.4: who is eliminated, depleted, or retreats; then who comes ashore and who advances."""
    withdrawals: list[Withdrawal] = []
    match result:
        case "De":
            for code in of.defenders:
                yield from eliminate(code, "8.2.4", "the defenders are eliminated")
        case "Ae":
            for code in of.attackers:
                yield from eliminate(code, "8.2.4", "the attackers are eliminated")
        case "Ex":
            yield from _attacker_loses(of)
            yield from defender_loses(of)
        case "(A)":
            yield from _attacker_loses(of)
        case "D2" | "D3":
            withdrawals = yield from _rout(of, of.defenders, other(of.side), RETREATS[result])
        case "A1" | "A2" | "A3":
            lost = yield from _opener_routed(of)
            left = [code for code in of.attackers if code not in lost]
            yield from _rout(of, left, of.side, RETREATS[result])
    yield from _pass_reef(of, result)
    if withdrawals and of.defenders:
        others = [code for code in of.attackers if code not in of.assaulting]
        yield from advance(Pursuit(others, of.side, of.hex, withdrawals), of.decisions)
    elif result in ("De", "Ex"):
        yield Tell(Step("8.5", of.hex, "no advance", f"nobody advances after {result}"))


def _rout(of: Battle, units: Sequence[str], side: str, hexes: int) -> Doing:
    if not units:
        return []
    return (yield from rout(Rout(units, side, hexes, "attack", of.alone), of.decisions))


def _pass_reef(of: Battle, result: str) -> Doing:
    """12.3: which results open an empty reef (fpb-21)."""
    if not of.reef:
        return
    exchanged = result == "Ex" and (yield from reading("fpb-21")) == "c"
    if result in ("De", "D2", "D3") or exchanged:
        yield from open_beach(of.hex, reef=True)


def _attacker_loses(of: Battle) -> Doing:
    """8.2.4: one attacker of its owner's choice; 14.0: an engineer that opened a cave (fpb-30)."""
    left = list(of.attackers)
    if of.openers:
        engineer = yield from of.decisions.one_of(
            "engineer", of.side, "the engineer that is lost", list(of.openers), "14.0"
        )
        besides = (yield from reading("fpb-30")) == "b"
        yield Tell(points=("fpb-30",))
        yield from eliminate(engineer, "14.0", "it opened the caves, and attackers are lost")
        left.remove(engineer)
        if not besides or not left:
            return
    code = yield from of.decisions.one_of("deplete", of.side, "the attacker that loses a step", left, "8.2.4")
    yield from lose_step(code, "8.2.4", "an attacker loses a step")


def _opener_routed(of: Battle) -> Doing:
    """fpb-30 c: an engineer that opened a cave is lost on a retreat, too."""
    if not of.openers:
        return []
    lost = (yield from reading("fpb-30")) == "c"
    effect = "eliminated" if lost else "no loss"
    yield Tell(
        Step("14.0", of.hex, effect, "a retreat of an engineer that opened the caves"), points=("fpb-30",)
    )
    if not lost:
        return []
    engineer = yield from of.decisions.one_of(
        "engineer", of.side, "the engineer that is lost", list(of.openers), "14.0"
    )
    yield from eliminate(engineer, "14.0", "it opened the caves, and the attackers retreat")
    return [engineer]


def defender_loses(of: Battle) -> Doing:
    """8.2.4: the defender loses a step; of two in a hex one or both (fpb-36)."""
    if not of.defenders:
        return
    losing = list(of.defenders)
    if len(losing) > 1 and (yield from reading("fpb-36")) == "a":
        losing = [
            (
                yield from of.decisions.one_of(
                    "deplete_defender", other(of.side), "the defender that loses a step", losing, "8.2.4"
                )
            )
        ]
    for code in losing:
        yield from lose_step(code, "8.2.4", "the defender loses a step")


def combat_verdict(ruling: Ruling) -> str:
    """A combat in a sentence: refused, waiting for a die, or what came of it."""
    of, answer = ruling.question[ruling.kind], ruling.answer
    what = f"The {ruling.kind} on {of['at']}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    if answer["allowed"] is None:
        return clauses(f"{what} cannot be summed up", needs_in_words(ruling.needs) if ruling.needs else None)
    if "differential" not in answer:
        return clauses(f"{what} comes to nothing" if "result" in answer else what, _waits(answer))
    sums = f"{what} is at {answer['differential']:+d} on line {answer['line']}, column {answer['column']}"
    if "result" not in answer:
        chances = series(f"{result} {chance}" for result, chance in sorted(answer.get("odds", {}).items()))
        return f"{sums}: {chances}" if chances else clauses(sums, _waits(answer))
    applied = f", applied as {answer['applied']}" if answer["applied"] != answer["result"] else ""
    return clauses(f"{sums}: {answer['result']}{applied}", _waits(answer))


def _waits(answer: dict[str, Any]) -> str | None:
    pending = answer.get("pending")
    if pending is None:
        return None
    word = next(word for word in ("roll", "draw", "card", "choice") if word in pending)
    return f"it waits for the {word} {pending[word]}"


COMBAT_ANSWERS = {
    "attack": "strength of the attack, with markers",
    "defense": "strength of the defense, with markers",
    "differential": "attack less defense",
    "line": "the terrain line of the Combat Results Table",
    "column": "its column",
    "modifiers": "markers, doubling and what does not count, each with rule and value, signed for the attacker",
    "result": "what the table says",
    "applied": "what of it holds",
    "returned": "markers that go back into the cup unused",
}

KINDS = [
    procedure_kind(
        attack,
        kinds=functools.partial(kinds_of, "fpb"),
        name="attack",
        title="Attack",
        arguments=Attack,
        rulesets=("fpb",),
        answers=COMBAT_ANSWERS,
        verdict=combat_verdict,
        points=(
            "fpb-1", "fpb-2", "fpb-3", "fpb-6", "fpb-7", "fpb-9", "fpb-10", "fpb-11", "fpb-14", "fpb-15", "fpb-16", "fpb-17", "fpb-18",
            "fpb-20", "fpb-21", "fpb-29", "fpb-30", "fpb-31", "fpb-32", "fpb-36", "fpb-37", "fpb-40", "fpb-41", "fpb-42",
        ),
        example='attack: {by: [1/22, 2/22], at: "1404"}',
        draws="hexes",
    )
]  # fmt: skip
