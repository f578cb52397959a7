"""Fire in bob: declared, checked, rolled and applied: 5.2, 6.0 to 6.2, 9.0, 10.0, 20.4 to 20.7, 31.1, 34.0, 37.0, 50.2, 58.3, 61.1.

One engine for all of it. Sums and results are SQL (`bob.fire`, `bob.fire_results`); here is the order of play.
For others that fire within their own procedure there are `shoot` and `check_movers`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.bob import events
from app.play.bob.checks import (
    Checked,
    Doing,
    check,
    counter,
    in_force,
    kinds,
    reading,
    rolls_again,
    spend,
    taken,
)
from app.play.bob.losses import gravest, reveal, shake_off, show_works, suffer, uncovered
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Roll, Tell, procedure_kind
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, needs_in_words, series
from importers.questions import Names

LEDGER = (
    "select * from bob.fire(:position, :by, :at, :manner, :weapon, :facing, :cp, cast(:told as jsonb), cast(:read as jsonb),"
    " :conditions, :policy)"
)
RESULTS = "select * from bob.fire_results(:position, cast(:targets as jsonb), :roll, :conditions, :policy)"
SUSTAINS = "select * from bob.sustains(:position, :by, :at, :beside, :facing, :conditions, :policy)"
REACTS = ("op_fire", "final_op_fire")
OPTIONS = ("cp", "sustained", "against", "fireteam")
POINTS = (
    "bob-2", "bob-3", "bob-6", "bob-9", "bob-10", "bob-11", "bob-15", "bob-16", "bob-20", "bob-22", "bob-23", "bob-26", "bob-27",
    "bob-30", "bob-33", "bob-34", "bob-35", "bob-36", "bob-37", "bob-38", "bob-42", "bob-46", "bob-47", "bob-49", "bob-51",
)  # fmt: skip


class Fire(Action):
    """Who fires, at what, and how."""

    by: Annotated[list[str] | str, Names(("unit",))] = Field(
        description="The unit that fires: one an attack", min_length=1
    )
    at: Annotated[str | None, Names(("hex", "unit"))] = Field(
        None, description="The hex fired at, or a unit in it"
    )
    target: Annotated[str | None, Names(("unit",))] = Field(None, description="Or the unit fired at")
    weapon: Literal["normal", "mortar", "directed", "flame", "canister", "gun", "as_mortar"] | None = Field(
        None, alias="with", description="With which of its weapons"
    )
    facing: int | None = Field(None, ge=1, le=6, description="The corner it turns to as it fires")

    @property
    def firer(self) -> str:
        return self.by if isinstance(self.by, str) else self.by[0]

    @property
    def place(self) -> str:
        if self.target is not None:
            return f"unit:{self.target}"
        assert self.at is not None
        return self.at


SHOOTERS = (
    "select shooter.*, enemy.side from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral (select array(select piece from bob._pieces(:position) as piece) as all_of_them) as told"
    " cross join lateral unnest(told.all_of_them) as mover"
    " join hex on hex.map_id = state.map_id and hex.label = :at"
    " cross join lateral bob._shooters(state, told.all_of_them, mover, hex.q, hex.r, hex.label) as shooter"
    " join unit as enemy on enemy.position_id = :position and enemy.code = shooter.who"
    " where mover.code = :unit order by enemy.code"
)


def stands(by: str, target: str, manner: str) -> Doing:
    """Whether a shot is allowed, its ledger asked."""
    rows = yield Ask(
        LEDGER, proves=False, by=by, at=target, manner=manner, weapon=None, facing=None, cp=None, told="{}", read="{}"
    )  # fmt: skip
    return rows[-1].facts["allowed"] is True


def shooters_at(unit: str, label: str, done: Sequence[str] = ()) -> Doing:
    """9.0, 10.0: who may fire at a unit that moves in a hex, each with the kind of its fire; not who has done so."""
    rows = yield Ask(SHOOTERS, proves=False, unit=unit, at=label)
    able = []
    for row in rows:
        if row.who not in done and (yield from stands(row.who, f"unit:{unit}", row.kind)):
            able.append(row)
    return able


def shoot(of: Fire, manner: str, said: Mapping[str, Any], asks: bool = False) -> Doing:
    """An attack from its declaration to the last check; gives what became of each target."""
    if not isinstance(of.by, str) and len(of.by) > 1:
        raise Refused("6.1", "each unit fires for itself: no attack is combined")
    if of.at is None and of.target is None:
        raise Refused("6.1", "nothing is fired at: give a hex (at) or a unit (target)")
    cp = _spent_on(said.get("cp"), of.firer)
    facts = yield from declare(of, manner, said, cp)
    unsure = facts["allowed"] is None
    if facts["allowed"] is False or (unsure and not of.rolls):
        return {}
    unit = yield from counter(of.firer)
    if cp in ("fp", "range"):
        yield from spend(of.firer, cp)
    if not (yield from _steady(of, manner, unit, cp, asks)) or not (
        yield from _aims(of, manner, unit, facts)
    ):
        # 6.1, 20.4: who fails is Used, whatever the FP would have been
        results = {one["unit"]: "no_effect" for one in facts["targets"]}
        yield Tell(allowed=True, result="no_effect", results=results)
        return {}
    if unsure:
        return {}
    yield from _fires(of, manner, unit, facts, said)
    results = yield from _rolled(of, manner, unit, facts, said, asks)
    return results


def declare(of: Fire, manner: str, said: Mapping[str, Any], cp: str | None) -> Doing:
    """The ledger of an attack; what forbids it does so before anything is rolled."""
    told = {key: said[key] for key in ("against", "fireteam") if key in said}
    weapon = None if of.weapon in ("normal", "mortar", "gun") else of.weapon
    rows = yield Ask(
        LEDGER, by=of.firer, at=of.place, manner=manner, weapon=weapon, facing=of.facing,
        cp=cp if cp in ("fp", "range") else None, told=json.dumps(told), read=json.dumps(of.read),
    )  # fmt: skip
    facts = rows[-1].facts
    targets = facts["targets"]
    values = {one["unit"]: one["value"] for one in targets}
    yield Tell(
        fp=facts["fp"], values=values, modifiers=_modifiers(rows, [one["unit"] for one in targets], of.firer),
        prof=facts.get("prof"), **_the_value(of, values),
    )  # fmt: skip
    if facts["allowed"] is None:
        yield Tell(allowed=None)
    elif not facts["allowed"]:
        yield from _refuse(of, facts)
    return facts


def _the_value(of: Fire, values: Mapping[str, Any]) -> dict[str, Any]:
    """The value against the only target, or against the one that was named."""
    if len(values) == 1:
        return {"value": next(iter(values.values()))}
    return {"value": values[of.target]} if of.target is not None and of.target in values else {}


def _refuse(of: Fire, facts: dict[str, Any]) -> Doing:
    """14.0: a shot that turns out to be blocked costs the Use; any other does not happen."""
    if not facts["blocked"]:
        raise Refused(facts["rule"], facts["why"], facts["hex"])
    yield Tell(allowed=False, why=facts["why"])
    unit = yield from counter(of.firer)
    yield from _use(unit)


def _modifiers(rows: Sequence[Any], targets: Sequence[str], firer: str) -> list[dict[str, Any]]:
    """The signed entries; of several targets each with whose it is."""
    told = []
    for row in rows[:-1]:
        if row.halves is None or not row.halves or row.effect.removeprefix("prof ")[:1] not in ("+", "-"):
            continue
        whose = {"unit": row.by} if len(targets) > 1 and row.by != firer else {}
        of = {"of": "prof"} if row.effect.startswith("prof") else {}
        told.append({"rule": row.rule, "value": row.halves // 2, "note": row.note, **whose, **of})
    return told


def _spent_on(cp: Any, unit: str) -> str | None:
    """For what a CP was told to be spent on a unit: one word for the firer, or words by unit."""
    return cp.get(unit) if isinstance(cp, dict) else cp


def _use(unit: Any, **more: Any) -> Doing:
    """The firer is Used, its Op Fire counter flipped; only what changes is told."""
    said = unit.attributes
    changed = ({} if said.get("used") else {"used": True}) | (
        {"op_fire": False} if said.get("op_fire") else {}
    )
    changed |= {key: value for key, value in more.items() if said.get(key) != value}
    if changed:
        yield Change({"unit": unit.code, **changed})


def _steady(of: Fire, manner: str, unit: Any, cp: str | None, asks: bool) -> Doing:
    """6.0, 20.2: the Morale Check to fire; Assault Fire has it only Suppressed on entry (5.2)."""
    done = Checked("automatic", None)
    moving = unit.attributes.get("moving") or {}
    shaken = unit.attributes.get("suppression", "none") != "none" and moving.get("suppressed") is not False
    if unit.kind in ("squad", "wt", "gun") and (manner != "assault_fire" or shaken):
        purpose = "op_fire" if manner in REACTS else "mid_move" if manner == "assault_fire" else "fire"
        done = yield from check(of.firer, purpose, reroll=rolls_again(cp, of.firer), asks=asks or cp == "ask")
    yield Tell(**done.told())
    if not done.passed:
        yield from _use((yield from counter(of.firer)))
        yield from _note_fire(of)
    return done.passed


def _aims(of: Fire, manner: str, unit: Any, facts: dict[str, Any]) -> Doing:
    """20.4: the Prof Check where one is called for; failed, it is Used, and turned only where it does not react."""
    if not facts.get("checks") or facts.get("prof") is None:
        return True
    die = yield Roll("1d10", f"the Prof Check of {of.firer}")
    passed = die <= facts["prof"]
    yield Tell(prof_passed=passed)
    if not passed:
        turns = {"facing": of.facing} if facts["turned"] and manner not in REACTS else {}
        yield from _use((yield from counter(of.firer)), **turns)
        if facts["at_vehicle"] and (yield from reading("bob-46")) == "b":
            yield from shake_off(facts["targets"][0]["unit"])
    return passed


def _fires(of: Fire, manner: str, unit: Any, facts: dict[str, Any], said: Mapping[str, Any]) -> Doing:
    """The firer shows itself and is Used; who in the target hex was no longer Concealed loses the counter."""
    unit = yield from counter(of.firer)
    turns = (
        {"facing": of.facing} if of.facing is not None and unit.attributes.get("facing") is not None else {}
    )
    if unit.attributes.get("concealed"):
        yield from show_works(of.firer)
    if said.get("fireteam"):
        yield Tell(cost=2)
        if uncovered(unit):
            yield Change({"unit": of.firer, **uncovered(unit)})
        yield Change({"unit": of.firer, "fired": True}, kept=True)
    else:
        yield from _use(unit, **turns, **uncovered(unit))
        yield Change({"unit": of.firer, "fired": True}, kept=True)
    yield from _note_fire(of)
    for one in facts["targets"]:
        if one.get("exposed"):
            yield from reveal(one["unit"])
    if said.get("sustained"):
        yield from _sustain(of, unit, facts, said["sustained"])
    if facts["flare"]:
        yield from _light_flare(facts["hex"])


def _note_fire(of: Fire) -> Doing:
    """10.0: nobody fires twice at one mover in one hex."""
    rows = yield Ask(
        "select mover.code, mover.attributes -> 'moving' as moving from unit as mover"
        " join positions.place(:position, :at) as place on mover.q = place.q and mover.r = place.r"
        " where mover.position_id = :position and mover.attributes ? 'moving'",
        proves=False, at=of.place,
    )  # fmt: skip
    for row in rows:
        fired = [*row.moving.get("fired_by", []), of.firer]
        yield Change({"unit": row.code, "moving": {**row.moving, "fired_by": fired}}, kept=True)


def _light_flare(label: str) -> Doing:
    """43.6: the Trip Flare of Wire goes up once."""
    rows = yield Ask(
        "select marker.id from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
        " where marker.position_id = :position and marker.kind = 'wire' and hex.label = :label",
        proves=False, label=label,
    )  # fmt: skip
    if rows:
        yield Change(
            {"marker": "wire", "at": label, "removed": True},
            {"marker": "wire", "at": label, "flare_used": True},
        )


def _sustain(of: Fire, unit: Any, facts: dict[str, Any], beside: Any) -> Doing:
    """61.1: an MG keeps two hexes under fire."""
    if not (yield from in_force("sustained_fire")):
        raise Refused("61.1", "Sustained Fire is an optional rule that is not played")
    if unit.kind != "wt" or unit.attributes.get("type", "mg") != "mg":
        raise Refused("61.1", "only an MG WT sustains its fire")
    hexes = [str(label) for label in (beside if isinstance(beside, list) else [beside]) if beside is not True]
    hexes = [facts["hex"], *(label for label in hexes if label != facts["hex"])]
    for label in hexes[1:]:
        bars = yield Ask(
            SUSTAINS, proves=False, by=of.firer, at=of.place, beside=f"hex:{label}", facing=of.facing
        )
        if bars:
            raise Refused("61.1", bars[0].note, label)
    yield Tell(Step("61.1", facts["hex"], "sustained", f"{of.firer} keeps {series(hexes)} under fire"))
    yield Change({"unit": of.firer, "sustained": hexes})
    marker = {"marker": "sustained_fire", "at": facts["hex"], "by": of.firer}
    yield Change({**marker, "toward": hexes[1]} if len(hexes) > 1 else marker)


def _rolled(
    of: Fire, manner: str, unit: Any, facts: dict[str, Any], said: Mapping[str, Any], asks: bool
) -> Doing:
    """The attack roll, what it does to each target, and what comes of that."""
    die = yield Roll("1d10", f"the attack of {of.firer}")
    rows = yield Ask(RESULTS, targets=json.dumps(facts["targets"]), roll=die)
    found = {row.by: row.facts for row in rows}
    if any(one["result"] is None for one in found.values()):
        yield Tell(allowed=None)
        return {}
    results = {code: one["result"] for code, one in found.items()}
    values = {code: one["value"] for code, one in found.items()}
    results |= yield from _critical(facts["targets"], results, die)
    yield Tell(
        results=results, result=gravest(list(results.values())), values=values, **_the_value(of, values)
    )
    for one in rows:
        if one.facts["reveals"]:
            yield from show_works(one.by)
    if facts["at_vehicle"]:
        yield from shake_off(facts["targets"][0]["unit"])
    for code, word in results.items():
        yield from suffer(code, word)
    if facts["arm"] == "flame" and unit.kind in ("squad", "wt") and die <= 3:
        yield Change({"unit": of.firer, "flame": None})
        yield Tell(Step("34.0", None, "out of fuel", "the flamethrower is spent"))
    movers = yield from check_movers(facts["targets"], results, said.get("cp"), asks)
    if movers:
        yield Tell(movers=movers)
    yield from _maybe_event(of, unit, list(results), die)
    return results


def _critical(targets: Sequence[Mapping[str, Any]], results: Mapping[str, str], die: int) -> Doing:
    """61.3: a 1 that does nothing to a Vehicle rolls again, 6 better, for an Unconfirmed Kill."""
    hit = next((one for one in targets if one.get("vehicle") and one.get("number") is None), None)
    if hit is None or die != 1 or hit["arm"] not in ("v_gun", "satw") or results[hit["unit"]] != "no_effect":
        return {}
    if not (yield from in_force("critical_hits")):
        return {}
    again = yield Roll("1d10", "the critical hit")
    yield Tell(Step("61.3", None, hit["value"] + 6, f"a critical hit is rolled for: {again}"))
    return {hit["unit"]: "unconfirmed_kill"} if again <= hit["value"] + 6 and again < 10 else {}


def check_movers(
    targets: Sequence[Mapping[str, Any]], results: Mapping[str, str], cp: Any = None, asks: bool = False
) -> Doing:
    """9.0: every Suppression result on a mover calls for a Morale Check at once; failed, its move is over."""
    told: dict[str, Any] = {}
    for one in targets:
        code = one["unit"]
        if not one.get("moving") or one.get("vehicle") or results.get(code) not in ("suppressed", "reduced"):
            continue
        unit = yield from counter(code)
        if unit.kind not in ("squad", "wt"):
            continue
        yield Tell(Step("9.0", None, "checks", f"{code} moves and is Suppressed: it checks at once"))
        if (
            one.get("suppression") == "full"
            and results[code] == "suppressed"
            and (yield from reading("bob-49")) == "b"
        ):
            continue
        if unit.attributes.get("moving"):
            moving = {**unit.attributes["moving"], "suppressed": True}
            yield Change({"unit": code, "moving": moving}, kept=True)
        if unit.attributes.get("reluctant"):
            yield Tell(
                Step("58.1", None, "stops", f"{code} is Reluctant: Suppressed on the way, its move is over")
            )
            told[code] = {"morale": None, "mc": "none"}
        else:
            word = cp.get(code) if isinstance(cp, dict) else None
            done = yield from check(
                code, "mid_move", reroll=rolls_again(word, code), asks=asks or word == "ask"
            )
            told[code] = done.told()
            if done.passed:
                continue
        yield Change({"unit": code, "used": True})
        if unit.attributes.get("in"):
            yield Change({"unit": unit.attributes["in"], "used": True})
    return told


def _maybe_event(of: Fire, unit: Any, targets: Sequence[str], die: int) -> Doing:
    """17.0: a 1 of a Squad or WT may bring a Combat Event."""
    if die != 1 or unit.kind not in ("squad", "wt") or not (yield from in_force("combat_events")):
        yield Tell(event="none")
        return
    yield from events.triggered(unit.side, [of.firer, *targets], of.choices)


# The procedures


def _family(manner: str) -> Any:
    def play(of: Fire) -> Procedure:
        unit = yield from counter(of.firer)
        said = yield from taken(of, unit.side, *OPTIONS)
        yield from shoot(of, manner, said)

    play.__name__, play.__doc__ = manner, f"An attack by {manner.replace('_', ' ')}."
    return play


def sustained_fire(of: Fire) -> Procedure:
    """61.1: an MG fires and keeps the hex and one beside it under fire."""
    unit = yield from counter(of.firer)
    said = yield from taken(of, unit.side, *OPTIONS)
    yield from shoot(of, "fire", {"sustained": True, **said})


def fireteam(of: Fire) -> Procedure:
    """58.3: a Squad in Fireteams Assault Fires and moves on, for 2 MP and 2 less Prof FP."""
    unit = yield from counter(of.firer)
    if not unit.attributes.get("fireteam"):
        raise Refused("58.3", f"{of.firer} is not organized in Fireteams")
    if unit.attributes.get("fired"):
        raise Refused("58.3", f"{of.firer} has Assault Fired in this move")
    said = yield from taken(of, unit.side, *OPTIONS)
    yield from shoot(of, "assault_fire", {"fireteam": True, **said})


def flame(of: Fire) -> Procedure:
    """34.0: fire with a flamethrower."""
    yield from _family("fire")(of.model_copy(update={"weapon": "flame"}))


def canister(of: Fire) -> Procedure:
    """37.0: fire with canister."""
    yield from _family("fire")(of.model_copy(update={"weapon": "canister"}))


def fire_verdict(ruling: Ruling) -> str:
    """An attack in a sentence: refused, waiting, or what came of it."""
    of, answer = ruling.question[ruling.kind], ruling.answer
    by = of.get("by") or of.get("unit") or of.get("asset")
    what = f"The {ruling.kind.replace('_', ' ')} of {by if isinstance(by, str) else series(by)}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    if answer["allowed"] is None:
        return clauses(f"{what} cannot be summed up", needs_in_words(ruling.needs) if ruling.needs else None)
    values = answer.get("values") or {}
    sums = series(f"{value} against {code}" for code, value in values.items() if value is not None)
    said = f"{what} has {sums}" if sums else what
    if "results" in answer:
        results = series(f"{code} {word.replace('_', ' ')}" for code, word in answer["results"].items())
        failed = answer.get("mc") == "failed" or (
            answer.get("prof_passed") is False and "decision" not in answer
        )
        return f"{what} fails its check" if failed else f"{said}: {results}"
    chances = series(
        f"{word.replace('_', ' ')} {chance}" for word, chance in (answer.get("odds") or {}).items()
    )
    waits = _waits(answer)
    return clauses(f"{said}: {chances}" if chances else said, waits)


def _waits(answer: Mapping[str, Any]) -> str | None:
    pending = answer.get("pending")
    return None if pending is None else f"it waits for {pending['for']}"


ATTACK_ANSWERS = {
    "morale": "what the Morale Check is rolled against; null where none is needed",
    "mc": "passed, failed or automatic",
    "prof": "Prof Rating after modifiers; null where no check is called for",
    "prof_passed": "whether the Prof Check was passed",
    "fp": "FP before terrain and situation",
    "value": "adjusted FP, or the attack number, where there is one target or one is named",
    "values": "the same by target",
    "modifiers": "what was added or taken, each with rule, value and note",
    "result": "no_effect, suppressed, reduced, eliminated, destroyed or unconfirmed_kill; of several targets the gravest",
    "results": "the same by target",
    "movers": "the checks of movers that were Suppressed: morale and mc by unit",
    "cost": "MPs that the attack takes",
    "event": "none, combat or japanese",
    "event_by": "whose event it is",
}


def _kind(name: str, title: str, play: Any, example: str) -> Any:
    return procedure_kind(
        play, kinds=kinds, name=name, title=title, arguments=Fire, rulesets=("bob",), answers=ATTACK_ANSWERS,
        verdict=fire_verdict, points=POINTS, example=example, draws="hexes",
    )  # fmt: skip


KINDS = [
    _kind("fire", "Fire", _family("fire"), "fire: {by: [A], at: E4, rolls: [3]}"),
    _kind("assault_fire", "Assault Fire", _family("assault_fire"), "assault_fire: {by: [A], at: E4, rolls: [3]}"),
    _kind("op_fire", "Op Fire", _family("op_fire"), "op_fire: {by: [A], target: B, rolls: [3]}"),
    _kind("final_op_fire", "Final Op Fire", _family("final_op_fire"), "final_op_fire: {by: [A], target: B, rolls: [3]}"),
    _kind("muzzle_flash", "Muzzle flash", _family("muzzle_flash"), "muzzle_flash: {by: [A], target: B, rolls: [3]}"),
    _kind("sustained_fire", "Sustained Fire", sustained_fire, "sustained_fire: {by: [MG], at: E4, choices: {sustained: E5}}"),
    _kind("fireteam", "Fireteam", fireteam, "fireteam: {by: [A], at: E4, rolls: [3]}"),
    _kind("flame", "Flamethrower", flame, "flame: {by: [A], at: E4, rolls: [3]}"),
    _kind("canister", "Canister", canister, "canister: {by: [Gun], at: E4, rolls: [3]}"),
]  # fmt: skip
