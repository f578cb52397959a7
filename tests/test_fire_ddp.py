"""Japanese fire of ddp against brute force: the hits of whole cards on small positions drawn at random."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from app.play.ddp.matching import Assignment, Shooter, most_hit
from app.referee.cases import rule_text
from tests import oracle_ddp_fire as oracle
from tests.oracle_ddp_fire import Tree

COLORS = ("blue", "brown", "green")
SYMBOLS = ("circle", "diamond", "triangle")
GROUND = [f"{column:02d}{row:02d}" for column in range(1, 8) for row in range(1, 8)]


def drawn(seed: int) -> tuple[Tree, Tree]:
    """A small position, and a plain card for it."""
    dice = random.Random(seed)
    spots = dice.sample(GROUND, 4)
    groups = [[spots[0], spots[1]], [spots[2]], [spots[3]]]
    positions = {}
    for n, hexes in enumerate(groups):
        near = [
            label
            for label in GROUND
            if label not in spots and min(oracle.distance(label, hex) for hex in hexes) <= 2
        ]
        dots = dice.sample(near, min(len(near), dice.randint(2, 9)))
        cut = dice.randint(0, len(dots))
        # columns differ, so that nobody has to choose an order
        positions[f"B{n + 1}"] = {
            "hexes": hexes, "color": dice.choice(COLORS), "intense": sorted(dots[:cut]), "steady": sorted(dots[cut:]),
        }  # fmt: skip
    japanese = [
        {"id": f"J{n}", "side": "japan", "at": label, **({"disrupted": True} if dice.random() < 0.2 else {}),
         **({"depth": {}} if dice.random() < 0.4 else {})}
        for n, label in enumerate(spots)
        if dice.random() < 0.85
    ]  # fmt: skip
    fields = sorted(
        {label for place in positions.values() for label in (*place["intense"], *place["steady"])}
    )
    marines = [
        {
            "id": f"M{n}",
            "side": "us",
            "at": dice.choice(fields),
            "symbol": dice.choice(SYMBOLS),
            **_kind(dice),
        }
        for n in range(dice.randint(1, 6))
    ]
    for unit in marines:
        if unit["kind"] == "infantry_hq":
            unit["symbol"] = "star"
    case = {
        "case": f"fire-{seed}", "title": "drawn at random", "ruleset": "ddp", "conditions": {"turn": 1},
        "policy": {"ddp-44": "b"},
        "map": {"extent": ["0101", "0707"], "fill": {"terrain": "clear"}, "positions": positions},
        "units": [*japanese, *marines],
    }  # fmt: skip
    colors = [
        color + dice.choice(("", "", " star", " armor", " star armor")) for color in dice.sample(COLORS, 3)
    ]
    return case, {"colors": colors, "symbol": dice.choice(SYMBOLS)}


def _kind(dice: random.Random) -> Tree:
    kind = dice.choice(("infantry", "infantry", "infantry", "tank", "infantry_hq"))
    return {"kind": kind, "steps": dice.randint(1, 4) if kind == "infantry" else dice.randint(1, 2)}


def ruled(connection: Connection, case: Tree, card: Tree) -> dict[str, Any]:
    """The Fire Phase of a case; where the player chooses, the first that is offered."""
    choices: Tree = {}
    while True:
        ask = [{"fire_phase": {"cards": [card], "choices": choices}}]
        _, [ruling] = rule_text(connection, json.dumps(case | {"ask": ask}), "drawn.json")
        pending = ruling.answer.get("pending")
        if pending is None:
            return ruling.answer
        choices = choices | {pending["choice"]: pending["options"][0]}


@pytest.mark.parametrize("seed", range(120))
def test_the_hits_of_a_card_are_as_many_as_can_be_and_by_priority(connection: Connection, seed: int) -> None:
    """Position by position: what one did to stacks and steps changes what the next one sees."""
    case, card = drawn(seed)
    answer = ruled(connection, case, card)
    start, done = case, []
    while left := oracle.firing(case, card, done):
        position = left[0]
        hits = list(answer["hits"].get(position.place, []))
        assert len(set(hits)) == len(hits) <= position.limit
        leaders = {target.unit for target in position.targets if target.leader}
        ordinary = [unit for unit in hits if unit not in leaders]
        _, ranks = oracle.best(left, frozenset())
        assert position.ranks(ordinary) == ranks, position.place
        assert len(hits) - len(ordinary) == oracle.leaders_hit(position)
        case, done = oracle.struck(case, hits), [*done, position.place]
    assert not {*answer["hits"]} - {*done}
    assert _steps(answer["after"]) == _changed(start, case)


def _steps(after: dict[str, Any]) -> dict[str, int | None]:
    """The steps that an answer leaves to units; None where they are gone."""
    return {
        unit: None if told.get("eliminated") else told["steps"]
        for unit, told in after.items()
        if "steps" in told or told.get("eliminated")
    }


def _changed(start: Tree, end: Tree) -> dict[str, int | None]:
    """The steps of US units that have others now than at the start."""
    before, now = ({unit["id"]: unit.get("steps") for unit in case["units"]} for case in (start, end))
    return {unit: now.get(unit) for unit, steps in before.items() if now.get(unit) != steps}


@pytest.mark.parametrize("seed", range(300))
def test_the_matching_is_a_maximum(seed: int) -> None:
    dice = random.Random(seed)
    units = [f"M{n}" for n in range(dice.randint(1, 7))]
    positions = [
        oracle.Firing(f"B{n}", dice.randint(1, 3), tuple(
            oracle.Target(unit, (dice.randint(0, 2), 0, 0), False) for unit in dice.sample(units, dice.randint(0, len(units)))
        ))
        for n in range(dice.randint(1, 4))
    ]  # fmt: skip
    shooters = [Shooter(one.limit, frozenset(target.unit for target in one.targets)) for one in positions]
    gone: frozenset[str] = frozenset()
    for n, position in enumerate(positions):
        most, ranks = oracle.best(positions[n:], gone)
        later = [Shooter(one.limit, one.targets - gone) for one in shooters[n:]]
        assert most_hit(later) == most
        assignment = Assignment(later[0], later[1:])
        for rank in sorted({target.rank for target in position.targets}):
            tied = [
                target.unit for target in position.targets if target.rank == rank and target.unit not in gone
            ]
            ways = assignment.ways(tied)
            assert len({len(way) for way in ways}) == 1
            assignment.take(dice.choice(ways))
        assert position.ranks(assignment.hits) == ranks
        gone |= {*assignment.hits}
