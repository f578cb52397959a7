"""Bombardments in fpb: support markers alone against a hex: 8.1, with withheld naval fire (18.1)."""

from __future__ import annotations

import functools
import itertools
from typing import Any

from pydantic import Field

from app.play.fpb.attack import (
    COMBAT_ANSWERS,
    RESULT,
    RETREATS,
    SCENE,
    SUMS,
    Battle,
    combat_verdict,
    note_hits,
    spend,
    target,
)
from app.play.fpb.decisions import CombatChoices, Decision, Decisions
from app.play.fpb.losses import Doing, eliminate, lose_step
from app.play.fpb.retreats import Rout, reading, rout
from app.play.fpb.support import ENTITLEMENT, MOST, Cup, Markers, Side, other, told, written
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Roll, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.questions.geometry import Place
from app.referee.rulings import Step

LEDGER = (
    "select * from fpb.bombardment(:position, :at, cast(:markers as jsonb), cast(:defender as jsonb), :side,"
    " :conditions, :policy)"
)
NOBODY = "there is no enemy"
NO_MARKER = "no marker serves to bombard"
FRIENDS = """
select unit.code
from unit
join hex on hex.map_id = unit.map_id and hex.label = :label
where unit.position_id = :position and unit.side = :side
  and lattice.distance(unit.q, unit.r, hex.q, hex.r) = 1
order by unit.code
"""


class Bombardment(Action):
    """Which hex is bombarded, with what."""

    at: Place = Field(description="The hex that is bombarded, or a unit in it")
    support: Markers | None = Field(
        None, description="The markers turned over; without it they are drawn from the cup"
    )
    defender: Markers = Field(
        default_factory=list,
        description="Markers of the defender, where fpb-35 is read so that there are any",
    )
    side: Side | None = Field(
        None, description="Who bombards, where neither the conditions nor the units in the hex tell"
    )
    choices: CombatChoices = Field(  # type: ignore[assignment]
        default_factory=lambda: CombatChoices(), description="What players decide, by name"
    )


def bombardment(of: Bombardment) -> Procedure:
    """A bombardment from the choice of markers to the last retreat."""
    [scene] = yield Ask(SCENE, proves=False, at=of.at)
    alone = scene.conditions.get("mode") == "solitaire"
    decisions = Decisions(dict(of.choices), alone)
    side = of.side or scene.conditions.get("active")
    if side is None:
        [place] = yield Ask(
            "select min(unit.side) as side from unit where position_id = :position and code = any(:present)",
            proves=False, present=list(scene.present),
        )  # fmt: skip
        side = other(place.side) if place.side else "us"
    at = yield from target(of.at, scene, side, decisions, functools.partial(_declared, side))
    label = yield from _label(at)
    withheld = yield from _aimed(side, label, scene)
    if of.support is None:
        fire, cover = yield from _chosen(at, side, withheld, decisions)
    else:
        fire, cover = _withheld(told(of.support), withheld), told(of.defender)
    if of.support is None and (yield from _wasted(at, side, scene, fire)):
        return
    yield from _resolve(at, side, scene, decisions, fire, cover)


def _tried(side: str, at: str) -> Doing:
    """The ledger as it is before any marker is drawn."""
    [*_, row] = yield Ask(LEDGER, proves=False, at=at, side=side, markers='[{"value": 0}]', defender="[]")
    return row


def _declared(side: str, at: str) -> Doing:
    return (yield from _tried(side, at)).facts["allowed"] is not False


def _wasted(at: str, side: str, scene: Any, fire: list[dict[str, Any]]) -> Doing:
    """17.1, 18.1: whatever was drawn goes back; the hex has had its bombardment all the same."""
    [*_, row] = yield Ask(LEDGER, proves=False, at=at, side=side, markers=written(fire), defender="[]")
    if row.note != NO_MARKER or any(marker.get("withheld") for marker in fire):
        return False
    yield from spend(side, "bombardment", fire)
    yield Tell(
        Step("8.1", row.at, "comes to nothing", "no marker that was drawn may bombard"),
        attack=0, result="NE", applied="NE",
    )  # fmt: skip
    yield from note_hits(row.facts["defenders"], scene.conditions.get("phase"))
    return True


def _label(at: str) -> Doing:
    rows = yield Ask(
        "select hex.label from position, positions.place(position.id, :at) as place"
        " join hex on hex.q = place.q and hex.r = place.r"
        " where position.id = :position and hex.map_id = position.map_id",
        proves=False, at=at,
    )  # fmt: skip
    return rows[0].label if rows else at


def _aimed(side: str, label: str, scene: Any) -> Doing:
    """The withheld markers that can be fired at a hex: those aimed at it, or by fpb-34 b all."""
    island = scene.conditions.get("island")
    tracks = scene.tracks or {}
    if "islands" in tracks:
        tracks = tracks["islands"].get(island) or {}
    held = tracks.get("withheld") or []
    if side != "us" or not held or scene.conditions.get("turn") not in (None, 1):
        return []
    free = (yield from reading("fpb-34")) == "b"
    note = "withheld markers are aimed now" if free else "withheld markers have their hexes"
    yield Tell(Step("18.1", label, "aimed", note, "3"), points=("fpb-34",))
    return [marker for marker in held if free or marker.get("target") == label]


def _withheld(fire: list[dict[str, Any]], held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The markers that were told, those among the withheld ones marked so."""
    left = list(held)
    marked = []
    for marker in fire:
        same = next(
            (
                one
                for one in left
                if one["value"] == marker["value"] and marker.get("type") in (None, one.get("type"), "naval")
            ),
            None,
        )
        if same is not None:
            left.remove(same)
            marker = {**marker, "type": "naval", "withheld": True}
        marked.append(marker)
    return marked


def _chosen(at: str, side: str, held: list[dict[str, Any]], decisions: Decisions) -> Doing:
    """Markers out of those withheld, or out of the cup; and by fpb-35 those of the defender."""
    row = yield from _tried(side, at)
    if row.facts["allowed"] is False and not (held and row.note == NOBODY):
        raise Refused(row.rule, row.note, row.at)
    if held:
        aimed = yield from _fired(held, side, decisions)
        if aimed:
            return aimed, []
    cup = Cup(side, "bombardment")
    yield from cup.look()
    if not cup.pool:
        raise Refused("17.0", "the cup is empty" if cup.known else "no marker is told")
    most = list(range(1, min(MOST, len(cup.pool)) + 1))
    number = yield from decisions.one_of("markers", side, "how many markers bombard", most, "8.1")
    fire: list[dict[str, Any]] = []
    while number:
        found = yield from cup.take(min(number, len(cup.pool)), decisions, "attacker")
        number = min((yield from cup.unfit(found)), len(cup.pool))
        fire += found
    cover = yield from _cover(other(side), decisions)
    return fire, cover


def _fired(held: list[dict[str, Any]], side: str, decisions: Decisions) -> Doing:
    """18.1: what was withheld for this hex; by fpb-34 b what the player takes of it."""
    marked = [{**marker, "type": "naval", "withheld": True} for marker in held]
    for marker in marked:
        marker.pop("target", None)
    if (yield from reading("fpb-34")) == "a":
        return marked[:MOST]
    values = [marker["value"] for marker in marked]
    options = sorted({tuple(sorted(some)) for n in (1, MOST) for some in itertools.combinations(values, n)})
    chosen = yield Decision(
        "withheld", decisions.by(side), "values of withheld markers that bombard, two at most",
        [list(some) for some in options], default=list(options[0]),
    )  # fmt: skip
    fire: list[dict[str, Any]] = []
    for value in chosen:
        found = next((marker for marker in marked if marker["value"] == value), None)
        if found is None or len(fire) == MOST:
            raise Refused("18.1", "two withheld markers at most bombard a hex")
        marked.remove(found)
        fire.append(found)
    return fire


def _cover(side: str, decisions: Decisions) -> Doing:
    """fpb-35: markers of the defender, where they are allowed."""
    [*_, row] = yield Ask(ENTITLEMENT, side=side, purpose="defense", number=None, banzai=False)
    if not row.facts["most"]:
        return []
    cup = Cup(side, "defense")
    yield from cup.look()
    number = min(row.facts["least"], len(cup.pool))
    for n in (1, MOST):
        if row.facts["least"] or len(cup.pool) <= number:
            continue
        choice = yield Decision(
            f"defender_marker_{n}", decisions.by(side), f"whether to place marker {n}", ["none", "marker"],
            default="none",
        )  # fmt: skip
        number += choice == "marker"
    return (yield from cup.take(number, decisions, "defender"))


def _resolve(
    at: str,
    side: str,
    scene: Any,
    decisions: Decisions,
    fire: list[dict[str, Any]],
    cover: list[dict[str, Any]],
) -> Doing:
    told_of = functools.partial(Ask, LEDGER, at=at, side=side, markers=written(fire), defender=written(cover))
    [*_, tried] = yield told_of(proves=False)
    empty = tried.note == NOBODY and fire and all(marker.get("withheld") for marker in fire)
    if empty and (yield from reading("fpb-34")) == "a":
        # aimed before anybody was there
        label = tried.facts["hex"]
        yield Tell(Step("18.1", label, "spent", "nobody is there", "3"), result="NE", applied="NE")
        yield from _spend_withheld(label, fire, scene)
        return
    [*_, declared] = yield told_of()
    facts = declared.facts
    if facts["allowed"] is False:
        yield Tell(allowed=False, why=declared.note)
        return
    yield Tell(**{key: facts.get(key) for key in SUMS})
    if facts["allowed"] is None:
        yield Tell(allowed=None)
        return
    friends = yield Ask(FRIENDS, proves=False, label=facts["hex"], side=side)
    die = yield Roll("1d6", "the bombardment")
    [*_, verdict] = yield Ask(
        RESULT, line=facts["line"], differential=facts["differential"], roll=die, manner="bombardment",
        friend=bool(friends),
    )  # fmt: skip
    yield Tell(result=verdict.facts["result"], applied=verdict.facts["applied"])
    battle = Battle(
        side, facts["hex"], [row.code for row in friends], facts["defenders"], [], [], False,
        scene.conditions.get("mode") == "solitaire", scene.conditions.get("phase"), decisions,
    )  # fmt: skip
    yield from _spend_withheld(facts["hex"], fire, scene)
    yield from spend(side, "bombardment", [marker for marker in fire if not marker.get("withheld")])
    yield from spend(other(side), "defense", cover)
    yield from note_hits(battle.defenders, battle.phase)
    yield from _apply(battle, verdict.facts["applied"])
    yield from decisions.finish()


def _spend_withheld(label: str, fire: list[dict[str, Any]], scene: Any) -> Doing:
    """Withheld markers are gone once they were fired (17.0, 18.1)."""
    root: list[str] = []
    tracks = scene.tracks or {}
    if "islands" in tracks:
        root = ["islands", scene.conditions.get("island")]
        tracks = tracks["islands"].get(root[1]) or {}
    left = list(tracks.get("withheld") or [])
    gone = []
    for marker in (one for one in fire if one.get("withheld")):
        same = [one for one in left if one["value"] == marker["value"]]
        aimed = next((one for one in same if one.get("target") == label), same[0] if same else None)
        if aimed is not None:
            left.remove(aimed)
            gone.append({key: value for key, value in aimed.items() if key != "target"})
    if not gone:
        return
    yield Tell(Step("17.0", label, "removed", "withheld naval fire serves once"))
    before = (tracks.get("removed") or {}).get("us", [])
    yield Change(
        {"track": ".".join([*root, "withheld"]), "value": left or None},
        {"track": ".".join([*root, "removed", "us"]), "value": [*before, *gone]},
    )


def _apply(of: Battle, result: str) -> Doing:
    """8.1.3: losses and retreats of the target; friendly fire; nobody advances."""
    match result:
        case "De":
            for code in of.defenders:
                yield from eliminate(code, "8.2.4", "the defenders are eliminated")
        case "D2" | "D3":
            yield from rout(
                Rout(of.defenders, other(of.side), RETREATS[result], "bombardment", of.alone), of.decisions
            )
        case "(A)":
            code = yield from of.decisions.one_of(
                "deplete", of.side, "the unit beside the hex that loses a step", list(of.attackers), "8.1.3"
            )
            yield from lose_step(code, "8.1.3", "its own side's fire hits it")


KINDS = [
    procedure_kind(
        bombardment,
        kinds=functools.partial(kinds_of, "fpb"),
        name="bombardment",
        title="Bombardment",
        arguments=Bombardment,
        rulesets=("fpb",),
        answers=COMBAT_ANSWERS,
        verdict=combat_verdict,
        points=(
            "fpb-3", "fpb-6", "fpb-7", "fpb-8", "fpb-9", "fpb-15", "fpb-16", "fpb-29", "fpb-31", "fpb-32", "fpb-34", "fpb-35",
            "fpb-36", "fpb-37", "fpb-40", "fpb-42", "fpb-44", "fpb-45", "fpb-49",
        ),
        example='bombardment: {at: "1404", support: [4, 3]}',
        draws="hexes",
    )
]  # fmt: skip
