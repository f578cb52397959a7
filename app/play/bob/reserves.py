"""What is placed, and who comes in from its Rout Edge instead, which is a move (5.0, 16.2)."""

from __future__ import annotations

from typing import Any

from app.play.bob.asking import Asking, checked
from app.play.bob.movement import Move, came_in
from app.play.bob.operations import activated
from app.play.bob.placement import COMMON, Placement, judged_place, put, settled
from app.play.procedures import Change, Procedure, Refused, Tell, procedure_kind
from app.referee.rulings import Ruling, Step


def placed(of: Placement) -> Procedure:
    """It is placed; a FOW unit that cannot be on its Rout Edge comes in there."""
    yield from _placed(of, played=False)


def play_placed(of: Placement) -> Procedure:
    """The same in a game, where whoever comes in is fired at."""
    yield from _placed(of, played=True)


def _placed(of: Placement, *, played: bool) -> Procedure:
    own, side, facts = yield from judged_place(of)
    on_edge = of.manner == "fow" and own is not None and facts["at_edge"]
    if of.path and not on_edge:
        raise Refused("16.2", "only who comes in from its Rout Edge goes on at once", of.at)
    if own is None or not (facts["enters"] or of.path):
        yield from settled(of, own, side, facts)
        return
    if (yield from _starts(of, played=played)):
        yield from put(of, own, facts)
        way = {"unit": of.unit, "path": [of.at, *of.path], "choices": of.choices, "facing": of.facing}
        yield from came_in(Move.model_validate(way), played=played)


def _starts(of: Placement, *, played: bool) -> Asking:
    """5.0: a Morale Check before it moves, also from off the board; who fails is Used and stays there."""
    if (yield from activated(of.unit, "move")) is None:
        return False
    found = yield from checked(of.unit, "move", of, played=played)
    yield Tell(morale=found["morale"], mc=found["mc"])
    if found["mc"] != "failed":
        return True
    yield Tell(
        Step("5.0", of.at, "stays off", "it fails its Morale Check before it comes in"), result="failed"
    )
    yield Change({"unit": of.unit, "used": True})
    return False


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["placement"], ruling.answer
    if answer["allowed"] is False:
        return f"{of['unit']} may not be placed in {of['at']}: {answer['why']}"
    if answer.get("result") == "failed":
        return f"{of['unit']} fails its Morale Check and is Used"
    return f"{of['unit']} may be placed in {of['at']}{', Concealed' if answer['concealed'] else ''}"


FACTS: dict[str, Any] = {
    "name": "placement",
    "title": "Where something is placed",
    "arguments": Placement,
    "answers": {
        "concealed": "the Conceal counter that it may have: 0, 1 or 2",
        "morale": "the Morale that who comes in from the Rout Edge rolls against",
        "mc": "passed, failed or automatic",
        "cost": "points that it spends as it comes in",
        "left": "points that it has left",
        "ends_at": "the hex in which it ends",
    },
    "verdict": _verdict,
    "points": ("bob-44", "bob-52"),
    "example": 'placement: {unit: "1/A", at: "E4", as: setup}',
    **COMMON,
}
KINDS = [procedure_kind(placed, **FACTS)]
ACTIONS = [procedure_kind(play_placed, **FACTS)]
"""Asked, nobody interrupts who comes in; in a game it is fired at."""
