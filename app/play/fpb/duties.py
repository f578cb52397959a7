"""Duties: what must still be done before a phase can end (11.1, 12.0, 12.1, 16.0, 18.1)."""

from __future__ import annotations

import functools
from collections.abc import Generator
from typing import Any

from app.play.fpb.solitaire import STATE, UNITS
from app.play.procedures import Action, Ask, Procedure, Put, Refused, Tell, Want, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step

Duties = list[tuple[dict[str, Any], Step]]
"""What is left: as an action where it is one, and the step that tells it."""
MOVES = ("movement", "mobile_movement")
COMBATS = ("combat", "mobile_combat")


class NothingMore(Action):
    """What is asked is only the position."""


def duties(_: NothingMore) -> Procedure:
    """A phase does not end while something compulsory is left."""
    left = yield from duties_left()
    yield Tell(left=[duty for duty, _step in left])
    if left:
        step = left[0][1]
        raise Refused(step.rule, step.note, step.at, left=[duty for duty, _step in left])


def duties_left() -> Generator[Want, Any, Duties]:
    """Every duty: as an action with its arguments where it is one, and the step that tells it."""
    rows = yield Ask("select * from fpb.duties(:position, :conditions, :policy)", proves=False)
    left = [(_us_duty(row), Step(row.rule, row.at, row.effect, row.note)) for row in rows]
    [now] = yield Ask(STATE, proves=False)
    conditions = now.conditions
    left += yield from _naval_fire_left(conditions)
    if conditions.get("mode") != "solitaire" or conditions.get("active") != "japan":
        return left
    if conditions.get("phase") in MOVES:
        left += yield from _moves_left()
    elif conditions.get("phase") in COMBATS:
        left += yield from _attacks_left()
    # 11.1: after all movement
    if conditions.get("phase") == "movement" and not left:
        left += yield from _rebuilds_left()
    return left


def _naval_fire_left(conditions: dict[str, Any]) -> Generator[Want, Any, Duties]:
    """18.1 step 3: what was withheld for a hex is fired at it in the first game turn (fpb-34 a)."""
    if (conditions.get("phase"), conditions.get("active"), conditions.get("turn")) != (
        "bombardment",
        "us",
        1,
    ):
        return []
    [row] = yield Ask("select tracks from position where id = :position", proves=False)
    tracks = row.tracks
    if "islands" in tracks:
        tracks = tracks["islands"].get(conditions.get("island")) or {}
    targets = sorted({marker["target"] for marker in tracks.get("withheld", []) if marker.get("target")})
    return [
        (
            {"action": "bombardment", "arguments": {"at": target}},
            Step("18.1", target, "must fire", "withheld naval fire hits its hex in the first game turn", "3"),
        )
        for target in targets
    ]


def _us_duty(row: Any) -> dict[str, Any]:
    return {"what": row.effect, "at": row.at, "unit": row.by}


def _moves_left() -> Generator[Want, Any, Duties]:
    """16.1: who moves by principle, or is found blocked, and has not been asked yet."""
    left: Duties = []
    units = yield Ask(UNITS, proves=False)
    for unit in units:
        if unit.side != "japan" or "moved" in unit.attributes or "blocked_by" in unit.attributes:
            continue
        found = yield Put("forced_move", proves=False, unit=unit.code)
        answer = found.answer
        if answer["allowed"] is False or (answer.get("moves") is False and not answer.get("blocked_by")):
            continue
        if answer["allowed"] is None:
            # a cost that nobody has told: the principle binds, and cannot be followed
            continue
        left.append(
            (
                {"action": "forced_move", "arguments": {"unit": unit.code}},
                Step("16.1", unit.label, "must move", f"{unit.code} moves by principle"),
            )
        )
    return left


def _attacks_left() -> Generator[Want, Any, Duties]:
    """16.2: attacks that must be made as things stand now."""
    found = yield Put("forced_attacks", proves=False)
    return [
        (
            {"action": "attack", "arguments": {"by": one["by"], "at": one["at"], "banzai": one["banzai"]}},
            Step("16.2", one["at"], "must attack", "an attack by principle is left"),
        )
        for one in found.answer.get("attacks") or ()
    ]


def _rebuilds_left() -> Generator[Want, Any, Duties]:
    rows = yield Ask("select * from fpb.rebuild(:position, :conditions, :policy)", proves=False)
    if not rows[-1].facts["number"]:
        return []
    return [
        (
            {"action": "rebuild", "arguments": {}},
            Step("11.1", None, "must rebuild", "depleted units are rebuilt"),
        )
    ]


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    return (
        "Nothing is left that must be done" if answer["allowed"] else f"The phase cannot end: {answer['why']}"
    )


KINDS = [
    procedure_kind(
        duties,
        kinds=functools.partial(kinds_of, "fpb"),
        name="duties",
        title="What must be done before a phase ends",
        arguments=NothingMore,
        rulesets=("fpb",),
        answers={
            "left": "what is left to be done; as `action` and `arguments` where one is compulsory as it is"
        },
        verdict=_verdict,
        acts=False,
        example="duties: {}",
    ),
]
