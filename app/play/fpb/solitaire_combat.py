"""The attacks that the solitaire Japanese must make now (16.2, 16.2.1), as printed strengths have it."""

from __future__ import annotations

import functools
from typing import Any

from app.play.fpb.onslaught import Attacker, Target, onslaughts
from app.play.fpb.solitaire import STATE
from app.play.procedures import Action, Ask, Choose, Procedure, Refused, Tell, Undecided, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, series


class NothingMore(Action):
    """What is asked is only the position."""


def forced_attacks(_: NothingMore) -> Procedure:
    """16.2: every attack that is compulsory in this phase, the position being as it is."""
    [now] = yield Ask(STATE, proves=False)
    if now.conditions.get("active") == "us" or now.conditions.get("phase", "combat") not in (
        "combat",
        "mobile_combat",
    ):
        raise Refused(
            "16.2", "Japanese units attack in the combat phases of their own player turn", attacks=[]
        )
    if now.conditions.get("mode") == "two_player":
        raise Refused("16.0", "two players attack as they like", attacks=[])
    rows = yield Ask("select * from fpb.fronts(:position, :conditions, :policy)", proves=False)
    if any(row.attack is None or row.defense is None for row in rows):
        raise Undecided(Need("counters", "16.2"), attacks=None)
    yield Tell(points=_touched(rows))
    targets = {row.at: _target(row, now.readings) for row in rows}
    attackers = _attackers(rows, now.readings)
    best = onslaughts(attackers, targets, now.readings)
    attacks = best[0]
    if len(best) > 1:
        yield Tell(attacks=attacks)
        attacks = yield Choose("attacks", "us", "which of equally good attacks are made", options=best)
    yield Tell(*_steps(attacks, attackers, targets), attacks=attacks)


def _touched(rows: list[Any]) -> tuple[str, ...]:
    fields = {row.at for row in rows if row.open or row.airstrip}
    return tuple(
        point
        for point, touched in (
            ("fpb-11", bool(fields)),
            ("fpb-14", any(row.forced or row.blocked_by for row in rows)),
            ("fpb-36", any(len(row.defenders) > 1 for row in rows)),
            ("fpb-51", len({row.at for row in rows}) > 1 and bool(fields)),
        )
        if touched
    )


def _target(row: Any, readings: dict[str, str]) -> Target:
    # fpb-36 c: one of two is named, and defends alone
    defense = row.weakest if readings["fpb-36"] == "c" else row.defense
    return Target(row.at, defense, row.open or row.airstrip, row.airstrip)


def _attackers(rows: list[Any], readings: dict[str, str]) -> list[Attacker]:
    found: list[Attacker] = []
    for code in dict.fromkeys(row.code for row in rows):
        own = [row for row in rows if row.code == code]
        # fpb-14 a: who was made to move up attacks, too
        forced = own[0].forced and readings["fpb-14"] == "a" and own[0].charges
        compelled = {row.at for row in own if forced or set(row.blocked_by) & set(row.defenders)}
        if not own[0].attack and not compelled:
            continue
        fronts = tuple(sorted(compelled or {row.at for row in own}))
        barred = frozenset(row.at for row in own if row.barred)
        found.append(Attacker(code, own[0].attack, own[0].charges, fronts, barred, frozenset(compelled)))
    return found


def _steps(
    attacks: list[dict[str, Any]], attackers: list[Attacker], targets: dict[str, Target]
) -> list[Step]:
    units = {attacker.code: attacker for attacker in attackers}
    steps = []
    for attack in attacks:
        strength = sum(units[code].attack for code in attack["by"])
        compelled = any(attack["at"] in units[code].compelled for code in attack["by"])
        rule = "16.2.1" if attack["banzai"] else "16.2"
        what = "a Banzai attack" if attack["banzai"] else "an attack"
        why = ", whatever the strengths" if compelled else ""
        note = f"{what} by {series(attack['by'])}: {strength} against {targets[attack['at']].defense}{why}"
        steps.append(Step(rule, attack["at"], "must attack", note))
    made = {attack["at"] for attack in attacks}
    left = [at for at in sorted(targets) if at not in made]
    return steps + [
        Step("16.2", at, "no attack", "too little strength, or ground that bars it") for at in left
    ]


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "Which attacks must be made is not known"
    if not answer["allowed"]:
        return f"No attacks by principle: {answer['why']}"
    if not answer["attacks"]:
        return "No attack must be made"
    told = [
        f"{series(attack['by'])} on {attack['at']}{' (Banzai)' if attack['banzai'] else ''}"
        for attack in answer["attacks"]
    ]
    return clauses(f"Must attack: {series(told)}", "others are as good" if "pending" in answer else None)


KINDS = [
    procedure_kind(
        forced_attacks,
        kinds=functools.partial(kinds_of, "fpb"),
        name="forced_attacks",
        title="Solitaire Japanese attacks",
        arguments=NothingMore,
        rulesets=("fpb",),
        answers={"attacks": "the attacks that must be made: `by` whom, `at` which hex, `banzai` or not"},
        verdict=_verdict,
        points=("fpb-11", "fpb-14", "fpb-36", "fpb-51"),
        example="forced_attacks: {}",
        acts=False,
    ),
]
