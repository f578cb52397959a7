"""What a unit or asset is Used for in a game (4.0): first it counts against the Operations Range, then it acts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from app.play.bob import anti_tank, carriers, conceal, obstacles, support
from app.play.bob.asking import game
from app.play.bob.fire import KINDS as FIRE
from app.play.bob.interruption import answered
from app.play.bob.operations import activated
from app.play.procedures import Procedure, ProcedureKind, Refused

NAMES = {
    "fire": "fire",
    "sustained_fire": "fire",
    "flame": "fire",
    "canister": "fire",
    "satw": "fire",
    "decoy": "used",
    "indirect_fire": "asset",
    "air_attack": "asset",
    "illumination": "asset",
    "smoke": "used",
    "mount": "move",
    "dismount": "move",
    "clear": "move",
    "crush": "move",
    "swim": "move",
}
"""Actions that are a unit's Use, and as what each counts."""


def _check_smoke(of: Any) -> None:
    """48.1: a grenade is thrown by who moves."""
    if isinstance(of, support.Smoke) and of.manner == "grenade":
        raise Refused("48.1", "a Smoke Grenade is placed in the course of a move: choose it there")


def _selected(kind: ProcedureKind, manner: str) -> Callable[[Any], Procedure]:
    def play(of: Any) -> Procedure:
        unit = getattr(of, "unit", None) or getattr(of, "firer", None)
        assert isinstance(unit, str)
        _check_smoke(of)
        asset = isinstance(of, support.Smoke) and of.manner == "artillery"
        if (yield from activated(unit, "asset" if asset else manner)) is None:
            return
        yield from kind.begin(of)

    return play


def _kinds() -> Iterator[ProcedureKind]:
    for kind in (*FIRE, *anti_tank.KINDS, *support.KINDS, *conceal.KINDS, *carriers.KINDS, *obstacles.KINDS):
        if isinstance(kind, ProcedureKind) and kind.name in NAMES:
            yield kind


FLASHES = ("fire", "sustained_fire", "flame", "canister", "satw")
"""Actions whose flash is seen at night (50.2)."""


def _played(kind: ProcedureKind) -> Callable[[Any], Procedure]:
    play = _selected(kind, NAMES[kind.name])
    return answered(play) if kind.name in FLASHES else play


def _team(of: anti_tank.Satt) -> Procedure:
    """59.4: a suicide team is selected in its own side's Operations Range, and counts nothing."""
    now = yield from game()
    owner = yield from anti_tank.owner_of(of.target)
    if now.conditions.get("active") not in (None, owner):
        raise Refused("59.4", "it is the other side's Operations Range: a team may interrupt a move in it")
    yield from anti_tank.satt(of)


TEAM = next(kind for kind in anti_tank.KINDS if kind.name == "satt")
ACTIONS = [
    *(dataclasses.replace(kind, play=_played(kind)) for kind in _kinds()),
    dataclasses.replace(TEAM, play=_team),
]
"""Asked, they are judged by themselves; in a game their Use is counted."""
