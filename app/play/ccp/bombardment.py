"""Artillery, starshells and aircraft of ccp: O24.3, O24.4, O24.5, O24.7, with drift and fortifications destroyed."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from app.play.ccp.attack import Asker, Attack, attacked, other_roll, prospects, refuse, targets_hit
from app.play.ccp.fire import ATTACK_ANSWERS, DEFENSE_POINTS, SIGHT_POINTS, AttackAction, outcome_words
from app.play.ccp.giving import orders_asset
from app.play.ccp.picks import picked_hex
from app.play.ccp.roll import ENDS, revealed
from app.play.ccp.table import Doing, adds_marker, conditions, counter, ending
from app.play.charts import cell
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell, Undecided, procedure_kind
from app.referee.questions import kinds_of
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, members, needs_in_words
from importers.questions import Names

SPOTTING = "select * from ccp.spotting(:position, :by, :at, :illuminates, :conditions, :policy)"
DRIFT = "select * from ccp.drift(:position, :at, :hit, :white, :coloured)"
BLAST = "select * from ccp.blast(:position, :sr)"
IMPACT = "select * from ccp.impact(:position, :at, :source, :fp, :viewer, :conditions, :policy)"
BOMBING = "select * from ccp.bombing(:position, :plane, :at, :conditions, :policy)"
STRAFED = "select * from ccp.strafed(:position, :plane, :direction, :conditions, :policy)"
AIRCRAFT = """
select unit.code, unit.side, hex.label,
  cell.points as fp
from unit
join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
cross join (
  select max(found.value)::integer as points from charts.cells('ccp', 'counters') as found
  where found.row_key = :counter and found.column_key = 'fp'
) as cell
where unit.position_id = :position and unit.kind = 'aircraft'
order by unit.id
"""
ENEMIES = """
select distinct hex.label from unit
join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r
where unit.position_id = :position and unit.side <> :side and unit.kind <> 'aircraft' order by hex.label
"""
VULNERABILITY = "fortification_vulnerability"


class Spotted(Action):
    """Who spots, and for which hex."""

    by: Annotated[str, Names(("unit",))] = Field(description="The leader that spots")
    at: Place = Field(description="The hex in which the spotting round is placed")


class Barrage(Spotted):
    """Who spots for which hex, and what is played."""

    actions: list[AttackAction] = Field(
        default_factory=list,
        description="Actions of a Fire Attack roll, as far as they may be played for the first Impact roll (ccp-49)",
    )


class BombingRun(Action):
    """Which hex the dive bomber attacks."""

    at: Place | None = Field(None, description="The hex; may be left out where the dive bomber sees no enemy")


class StrafingRun(Action):
    """Where the fighter looks."""

    direction: Annotated[int, Field(ge=1, le=6)] = Field(description="1 (up) to 6, clockwise")


@ending
def indirect_fire(of: Barrage) -> Procedure:
    """Fire For Effect: spotting, accuracy, impact (O24.3)."""
    asker = Asker(of)
    yield from orders_asset("asset_request", of.by)
    facts, landed = yield from _round(of, asker, illuminates=False)
    if landed is None:
        return
    yield Tell(result="impact")
    rows = yield Ask(BLAST, proves=False, sr=landed)
    hexes = [row.label for row in rows]
    yield Tell(hexes=hexes, impacts={})
    order = yield from asker.order("order", facts["side"], "the order of the Impact rolls", hexes)
    yield Tell(hexes=order)
    impacts: dict[str, Any] = {}
    actions = list(of.actions)
    for label in order:
        impacts[label] = yield from _struck(
            of, facts["side"], label, "artillery", facts["fp"], None, asker, actions=actions
        )
        actions = []
        yield Tell(impacts=dict(impacts))


@ending
def illumination(of: Spotted) -> Procedure:
    """A starshell where the spotting round ends (O24.7, 7.1)."""
    asker = Asker(of)
    yield from orders_asset("asset_request", of.by)
    _, landed = yield from _round(of, asker, illuminates=True)
    if landed is None:
        return
    yield Tell(
        Step("O24.7", landed, "starshell", "a starshell lights this hex and those within 2"),
        result="starshell",
    )
    yield from adds_marker("starshell", landed)


def _round(of: Spotted, asker: Asker, illuminates: bool) -> Doing:
    """O24.3.1, O24.3.2: the spotting round is placed, and drifts; gives the ledger's facts and where it lands."""
    rows = yield Ask(SPOTTING, by=of.by, at=of.at, illuminates=illuminates)
    facts = rows[-1].facts
    yield Tell(range=facts["range"], hindrance=facts["hindrance"])
    if not facts["allowed"]:
        refuse(facts, rows)
    hit = yield from targets_hit(
        facts["side"], facts["at_least"], asker, "minor", "major", "the Accuracy roll"
    )
    yield Tell(drift="minor" if hit else "major")
    card = yield from revealed(facts["side"], "the drift of the spotting round")
    white, coloured = card["dice"]
    [*_, way] = yield Ask(DRIFT, at=f"hex:{facts['hex']}", hit=hit, white=white, coloured=coloured)
    yield Tell(sr=way.facts["sr"])
    if way.facts["sr"] is None:
        yield Tell(result="off_map")
        if not illuminates:
            yield Tell(hexes=[], impacts={})
    return facts, way.facts["sr"]


def _struck(
    of: Action,
    side: str,
    label: str,
    source: str,
    fp: int,
    plane: str | None,
    asker: Asker,
    tell: bool = False,
    actions: Sequence[str] = (),
) -> Doing:
    """One hex under artillery or aircraft: everybody in it rolls, whoever he is."""
    [*_, row] = yield Ask(IMPACT, at=label, source=source, fp=fp, viewer=plane)
    facts = row.facts
    more = yield from other_roll(label, facts["targets"], False, actions)
    attack = Attack(
        side=side, hex=label, value=facts["value"] + more, source=source, targets=facts["targets"],
        to_total=facts["to_total"], purpose=f"the attack on {label}", rule=row.rule, fort=facts["fort"],
        order=f"order:{label}" if not tell else "order",
    )  # fmt: skip
    if attack.fort is not None and source != "fighter":
        attack.destroyed_by = yield from _vulnerability(of, fp, attack)
    if tell:
        yield Tell(value=facts["value"], modifiers=facts["modifiers"])
    told = yield from attacked(attack, asker, tell)
    return {
        "roll": told["roll"],
        "total": told["total"],
        "destroyed": told.get("destroyed", False),
        "defense": told["defense"],
    }


def _vulnerability(of: Action, fp: int, attack: Attack) -> Doing:
    """O24.3.4: the number that destroys a fortification; without it both ways are told, and nobody knows which holds."""
    what = f"the Vulnerability number of {fp} FP"
    number = yield from cell(of, VULNERABILITY, str(fp), "number", rule="O24.3.4", what=what)
    if number is not None:
        return int(number)
    yield Tell(
        Step(
            "O24.3.4", attack.hex, "open", "exactly that roll takes the fortification before anybody defends"
        )
    )
    branches = {"stands": (yield from prospects(attack))}
    assert attack.fort is not None
    yield Change({"marker": attack.fort, "at": attack.hex, "removed": True}, kept=True)
    branches["destroyed"] = yield from prospects(attack)
    yield Tell(branches={attack.hex: branches})
    raise Undecided()


# Aircraft.


def _plane(counter_name: str) -> Doing:
    """O24: the aircraft of the side whose turn it is."""
    active = (yield from conditions()).get("active")
    planes = yield Ask(AIRCRAFT, proves=False, counter=counter_name)
    own = [plane for plane in planes if active in (None, plane.side)]
    if not own:
        raise Refused("O24", "the side has no aircraft in play")
    return own[0]


def _flies_off(code: str, label: str) -> Doing:
    """The aircraft leaves whatever happens; one that an event has moved is gone from here already."""
    if (yield from counter(code)).label != label:
        return
    yield Tell(Step("8.3", label, "removed", "the aircraft is gone after its run"))
    yield Change({"unit": code, "countermix": True})
    yield Change({"unit": code, "at": None}, kept=True)


@ending
def bombing_run(of: BombingRun) -> Procedure:
    """A dive bomber on one hex (O24.4)."""
    asker = Asker(of)
    yield from orders_asset("asset_request")
    plane = yield from _plane("dive bomber")
    at = of.at or (yield from _bombed(plane))
    if at is None:
        yield Tell(
            Step("O24.4", plane.label, "none", "the dive bomber sees no enemy unit", "a"), result="none"
        )
        yield from _flies_off(plane.code, plane.label)
        return
    rows = yield Ask(BOMBING, plane=plane.code, at=at)
    facts = rows[-1].facts
    yield Tell(range=facts["range"], hindrance=facts["hindrance"])
    if not facts["allowed"]:
        refuse(facts, rows)
    hit = yield from targets_hit(plane.side, facts["at_least"], asker, "attack")
    yield Tell(result="attack" if hit else "miss")
    if hit and (yield from _is_here(plane)):
        yield from _struck(
            of, plane.side, facts["hex"], "dive_bomber", plane.fp, plane.code, asker, tell=True
        )
    yield from _flies_off(plane.code, plane.label)


def _bombed(plane: Any) -> Doing:
    """O24.4 a: a hex in which it sees an enemy, as its player chooses; None where there is none."""
    hexes = []
    for row in (yield Ask(ENEMIES, proves=False, side=plane.side)):
        found = yield Ask(BOMBING, proves=False, plane=plane.code, at=row.label)
        if found[-1].facts["allowed"]:
            hexes.append(row.label)
    return (yield from picked_hex(plane.side, "the hex that the dive bomber attacks", hexes))


def _is_here(plane: Any) -> Doing:
    """O24.4, O24.5: an Air Support event in the midst of a run cancels it."""
    if (yield from counter(plane.code)).label == plane.label:
        return True
    yield Tell(Step("O24.4", plane.label, "cancelled", "an Air Support event has ended the run"))
    return False


@ending
def strafing_run(of: StrafingRun) -> Procedure:
    """A fighter along a line of hexes (O24.5)."""
    asker = Asker(of)
    yield from orders_asset("asset_request")
    plane = yield from _plane("fighter")
    [*_, line] = yield Ask(STRAFED, plane=plane.code, direction=of.direction)
    hexes: Sequence[str] = line.facts["hexes"]
    yield Tell(result="impact" if hexes else "none", hexes=list(hexes), impacts={})
    impacts: dict[str, Any] = {}
    for label in hexes:
        if not (yield from _is_here(plane)):
            break
        if (yield from _is_too_weak(label, plane)):
            continue
        impacts[label] = yield from _struck(of, plane.side, label, "fighter", plane.fp, plane.code, asker)
        yield Tell(impacts=dict(impacts))
    yield from _flies_off(plane.code, plane.label)


def _is_too_weak(label: str, plane: Any) -> Doing:
    """16.3.2.2: no attack with less than 1 FP; nor on a hex that has nobody left in it."""
    [*_, row] = yield Ask(IMPACT, proves=False, at=label, source="fighter", fp=plane.fp, viewer=plane.code)
    return row.facts["value"] < 1 or not row.facts["targets"]


def _verdict(ruling: Ruling) -> str:
    answer, of = ruling.answer, ruling.question[ruling.kind]
    what = {
        "indirect_fire": "The artillery", "illumination": "The Illumination round", "bombing_run": "The Bombing Run",
        "strafing_run": "The Strafing Run",
    }[ruling.kind]  # fmt: skip
    if "at" in of:
        what += f" at {of['at']}"
    elif "direction" in of:
        what += f" in direction {of['direction']}"
    if answer["allowed"] is False:
        return f"{what} is not allowed: {answer['why']}"
    if answer["allowed"] is None:
        return clauses(f"{what} cannot be decided", needs_in_words(ruling.needs) if ruling.needs else None)
    words = {"off_map": "leaves the map", "none": "attacks nobody", "starshell": f"lights {answer.get('sr')}"}
    result = answer.get("result")
    done = words.get(str(result)) or ("is under way" if result is None else "takes place")
    hexes = answer.get("hexes")
    return clauses(
        f"{what} {done}", f"attacked are {members(hexes, 'hex')}" if hexes else None, *outcome_words(answer)
    )


ROUND_ANSWERS = {
    "range": "from the leader to the spotting round",
    "hindrance": "the Hindrance of its Accuracy roll",
    "targeting": "what the product must at least be, the roll, whether it hits",
    "drift": "minor after a hit, major after a miss",
    "sr": "where the spotting round lands; null: off the map",
}
IMPACT_ANSWERS = {
    "hexes": "the hexes attacked, in order",
    "impacts": "of each hex: roll, total, destroyed, defense",
    "branches": "where a Vulnerability number is wanted: Cover and morale of each unit if the fortification stands, and if not",
}
BLAST_POINTS = (*SIGHT_POINTS, *DEFENSE_POINTS)
KINDS = [
    procedure_kind(
        play,
        kinds=functools.partial(kinds_of, "ccp"),
        name=name,
        title=title,
        arguments=form,
        rulesets=("ccp",),
        answers=answers,
        verdict=_verdict,
        points=points,
        example=example,
    )
    for name, title, form, play, answers, points, example in (
        (
            "indirect_fire", "Artillery", Barrage, indirect_fire,
            {**ROUND_ANSWERS, **IMPACT_ANSWERS, "result": "impact or off_map", **ENDS}, (*BLAST_POINTS, "ccp-49"),
            "indirect_fire: {by: 1 Leader, at: D4}",
        ),
        (
            "illumination", "Illumination", Spotted, illumination,
            {**ROUND_ANSWERS, "result": "starshell or off_map", **ENDS}, (*BLAST_POINTS, "ccp-28"),
            "illumination: {by: 1 Leader, at: D4}",
        ),
        (
            "bombing_run", "Bombing Run", BombingRun, bombing_run,
            {**{key: ROUND_ANSWERS[key] for key in ("range", "hindrance")}, "branches": IMPACT_ANSWERS["branches"], **ATTACK_ANSWERS}, (*BLAST_POINTS, "ccp-12"),
            "bombing_run: {at: D4}",
        ),
        (
            "strafing_run", "Strafing Run", StrafingRun, strafing_run,
            {**IMPACT_ANSWERS, "result": "impact or none", **ENDS}, (*BLAST_POINTS, "ccp-12", "ccp-38"),
            "strafing_run: {direction: 3}",
        ),
    )
]  # fmt: skip
