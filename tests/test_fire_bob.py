"""Infantry fire in bob: the ledger in SQL against one written from the rulebook, on random shots; more with `SIGHTLINE_FIRE=5000`."""

from __future__ import annotations

import dataclasses
import json
import os
import random
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.referee.questions import forms
from importers.cases import read_case, store_position
from tests.oracle_bob_fire import GROUND, WORKS, Man, Scene, judge, result

SHOTS = int(os.environ.get("SIGHTLINE_FIRE", "240"))
MIDDLE = (4, 5)
"""E8 of the map that the shots are on, as columns and rows from A1."""
POLICY = {"bob-2": "ab", "bob-15": "ab", "bob-34": "ab", "bob-36": "ab", "bob-37": "ab"}
LEDGER = sa.text(
    "select * from bob.fire(:position, 'firer', :at, :manner, null, :facing, :cp, '{}', '{}', null, cast(:policy as jsonb))"
)
RESULTS = sa.text("select * from bob.fire_results(:position, cast(:targets as jsonb), :roll, null, null)")


def drawn(dice: random.Random) -> Scene:
    """A shot along a column or anywhere near, over open ground."""
    manner = dice.choice(("fire", "assault_fire", "op_fire", "op_fire", "final_op_fire"))
    near = manner == "final_op_fire" and dice.random() < 0.8
    column = dice.random() < 0.4
    away = 1 if near else dice.randint(1, 5)
    step = dice.choice(((0, -1), (0, 1)))
    to = MIDDLE
    offsets = [
        (q, r)
        for q in range(-6, 7)
        for r in range(-6, 7)
        if 0 < max(abs(q), abs(r), abs(q + r)) <= (1 if near else 5)
    ]
    offset = (step[0] * away, step[1] * away) if column else dice.choice(offsets)
    at = (to[0] + offset[0], to[1] + offset[1])
    night = dice.choice((None, None, None, None, 2, 5))
    ground = dice.choice((*GROUND, "open_ground", "open_ground"))
    works = dice.choice((None, None, *WORKS)) if ground in ("open_ground", "jungle") else None
    own_ground = dice.choice(("open_ground", "open_ground", "stone_building", "jungle", "hut", "swamp"))
    pacific = dice.random() < 0.4
    firer = Man(
        "firer", dice.choice(("squad", "squad", "wt")), dice.random() < 0.3,
        (dice.randint(4, 8), dice.randint(2, 4)), dice.randint(2, 5), facing=dice.choice((None, None, None, None, 1, 2, 3, 4, 5, 6)),
        op_fire=manner == "op_fire" and dice.random() < 0.4, moving=manner == "assault_fire",
    )  # fmt: skip
    targets = tuple(target(dice, n, manner) for n in range(dice.choice((1, 1, 2))))
    if manner in ("op_fire", "final_op_fire"):
        targets = (dataclasses.replace(targets[0], moving=True), *targets[1:])
    return Scene(
        firer, at, targets, to, manner, ground, works, own_ground,
        dice.choice((None, None, *WORKS)) if own_ground == "open_ground" and manner != "assault_fire" else None,
        dice.choice((0, 0, 1)), dice.choice((0, 0, 1)),
        dice.choice((None, "hedgerow", "wall")) if column else None,
        dice.choice((None, None, None, "smoke", "dispersed_smoke")) if night is None else None,
        dice.random() < 0.1, night, night is None and dice.random() < 0.1, pacific,
        dice.choice((None, None, 1, 2, 3, 4, 5, 6)) if firer.facing else None,
        dice.choice((None, None, "fp", "range")) if manner == "final_op_fire" else dice.choice((None, None, None, None, None, "fp")),
        {point: dice.choice(letters) for point, letters in POLICY.items() if dice.random() < 0.3},
    )  # fmt: skip


def target(dice: random.Random, n: int, manner: str) -> Man:
    reduced = dice.random() < 0.2
    return Man(
        f"target {n}", dice.choice(("squad", "squad", "wt")), dice.random() < 0.5,
        casualty=(5,) if reduced else (dice.randint(3, 5), dice.randint(6, 8)), reduced=reduced,
        suppressed=dice.random() < 0.1, facing=dice.choice((None, 1, 2, 3, 4, 5, 6)), on_path=dice.random() < 0.3,
        concealed=dice.choice((0, 0, 0, 1, 2)),
    )  # fmt: skip


def unit(man: Man, side: str, at: str, used: bool = False) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": man.id, "side": side, "nation": "japan" if man.japanese else "us", "kind": man.kind, "at": at,
        "fp": list(man.fp), "range": man.range, "casualty": list(man.casualty), "reduced": man.reduced,
        "suppression": "suppressed" if man.suppressed else "none", "facing": man.facing, "op_fire": man.op_fire,
        "concealed": man.concealed, "used": used,
    }  # fmt: skip
    if man.moving:
        told["moving"] = {"hexes": 1, "on_path": man.on_path}
    return {key: value for key, value in told.items() if value is not None}


def label(cell: tuple[int, int]) -> str:
    """The label of a hex: columns from A, even ones half a hex lower."""
    q, r = cell
    return f"{'ABCDEFGHIJKLMNOP'[q]}{r + q // 2 + 1}"


def written(scene: Scene) -> dict[str, Any]:
    """The shot as a case file."""
    here, there = label(scene.at), label(scene.to)
    hexes = {
        here: {"terrain": scene.own_ground, "level": scene.own_level},
        there: {"terrain": scene.ground, "level": scene.level},
    }
    markers = [
        {"kind": kind, "at": at}
        for kind, at in ((scene.works, there), (scene.own_works, here), (scene.smoke, there))
        if kind
    ]
    markers += [{"kind": "wire", "at": here}] if scene.wire else []
    conditions: dict[str, Any] = {"rules": ["facing"]} | ({"module": "pacific"} if scene.pacific else {})
    if scene.visibility is not None:
        conditions["night"] = {"visibility": scene.visibility}
    if scene.monsoon:
        conditions["weather"] = "monsoon"
    step = 1 if scene.at[1] > scene.to[1] else -1
    side = {f"{there}|{label((scene.to[0], scene.to[1] + step))}": [scene.side]} if scene.side else {}
    return {
        "case": "shot", "ruleset": "bob", "conditions": conditions,
        "map": {"extent": ["A1", "K15"], "fill": {"terrain": "open_ground", "level": 0}, "hexes": hexes, "hexsides": side},
        "units": [
            unit(scene.firer, "us", here, scene.manner == "final_op_fire"), *(unit(man, "japan", there) for man in scene.targets),
        ],
        "markers": markers, "ask": [{"range": {"from": here, "to": there}}],
    }  # fmt: skip


def inside(scene: Scene) -> bool:
    q, r = scene.at
    return 0 <= q <= 10 and 0 <= r + q // 2 <= 14


def fired(connection: Connection, scene: Scene) -> tuple[Any, int]:
    case = read_case(json.dumps(written(scene)), "shot", forms(), connection)
    position = store_position(connection, case.position)
    rows = connection.execute(
        LEDGER,
        {"position": position, "at": f"hex:{label(scene.to)}", "manner": scene.manner, "facing": scene.turned_to,
         "cp": scene.cp, "policy": json.dumps(scene.policy)},
    ).all()  # fmt: skip
    return rows[-1].facts, position


def random_shots() -> list[Scene]:
    dice = random.Random("bob fire")
    found: list[Scene] = []
    while len(found) < SHOTS:
        scene = drawn(dice)
        if inside(scene):
            found.append(scene)
    return found


@pytest.mark.parametrize("first", range(0, SHOTS, 40))
def test_the_ledger_of_infantry_fire_is_that_of_the_rulebook(first: int, connection: Connection) -> None:
    dice = random.Random(first)
    for scene in random_shots()[first : first + 40]:
        with connection.begin_nested() as savepoint:
            facts, position = fired(connection, scene)
            wanted = judge(scene)
            assert facts["allowed"] is wanted.allowed, (scene, facts["why"])
            if wanted.allowed is not False:
                assert facts["fp"] == wanted.fp, scene
                assert {one["unit"]: one["value"] for one in facts["targets"]} == wanted.values, scene
            if wanted.allowed:
                die = dice.randint(1, 10)
                rows = connection.execute(
                    RESULTS, {"position": position, "targets": json.dumps(facts["targets"]), "roll": die}
                ).all()
                within = scene.away <= scene.firer.range
                told = {
                    man.id: result(man, value, die, scene.away, within)
                    for man in scene.targets
                    if (value := wanted.values[man.id]) is not None
                }
                assert {row.by: row.effect for row in rows} == told, (scene, die)
            savepoint.rollback()


def test_the_random_shots_are_of_all_kinds() -> None:
    """Allowed, forbidden and not told; each manner; with cover, smoke, night."""
    scenes = random_shots()
    judged = [judge(scene) for scene in scenes]
    assert {found.allowed for found in judged} == {True, False, None}
    assert {scene.manner for scene, found in zip(scenes, judged, strict=True) if found.allowed} == {
        "fire", "assault_fire", "op_fire", "final_op_fire",
    }  # fmt: skip
