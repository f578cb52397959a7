"""Control and communication in D-Day at Peleliu: what SQL rules is what a plain reading of the rules in Python finds."""

from __future__ import annotations

import itertools
import json
import os

import pytest
from sqlalchemy.engine import Connection

from app.referee.questions import forms, kinds_of
from app.referee.rulings import Ruling, rule_case
from importers.cases import read_case
from tests import oracle_ddp_ground as oracle
from tests.oracle_ddp_ground import World, label

WORLDS = int(os.environ.get("SIGHTLINE_WORLDS", "25"))


def ruled(connection: Connection, world: World, ask: list[dict[str, object]]) -> list[Ruling]:
    written = json.dumps(oracle.document(world, ask))
    case = read_case(written, "drawn.yaml", forms(), connection)
    return rule_case(connection, case, kinds_of("ddp"))


@pytest.mark.parametrize("seed", range(WORLDS))
def test_control_is_what_the_rule_says(connection: Connection, seed: int) -> None:
    world = oracle.drawn(seed)
    [found] = ruled(connection, world, [{"control": {"side": "us"}}])
    expected = {code: sorted(map(label, hexes)) for code, hexes in oracle.control(world).items()}
    assert {code: sorted(hexes) for code, hexes in found.answer["by"].items()} == expected
    assert sorted(found.answer["hexes"]) == sorted({hex for hexes in expected.values() for hex in hexes})


@pytest.mark.parametrize("seed", range(WORLDS))
def test_japanese_communication_is_what_the_rule_says(connection: Connection, seed: int) -> None:
    world = oracle.drawn(seed)
    oracle.document(world, [])
    spots = [(key, place) for key, position in world.positions.items() for place in sorted(position["hexes"])]
    asked: list[dict[str, object]] = [
        {"communication": {"hex": label(place), "side": "japan"}} for _, place in spots
    ]
    for (key, place), found in zip(spots, ruled(connection, world, asked), strict=True):
        reached = oracle.japanese_paths(world, place, key)
        assert (label(place), sorted(found.answer["reaches"])) == (label(place), sorted(reached))
        assert found.answer["in_communication"] == (len(reached) >= 2)
        for other, path in found.answer["paths"].items():
            assert path[0] == label(place)
            assert path[-1] in {label(hex) for hex in world.positions[other]["hexes"]}
            steps = [(int(hex[:2]), int(hex[2:])) for hex in path]
            assert all(two in world.beside(one) for one, two in itertools.pairwise(steps))


@pytest.mark.parametrize("seed", range(WORLDS))
def test_us_communication_is_what_the_rule_says(connection: Connection, seed: int) -> None:
    world = oracle.drawn(seed)
    places = sorted(
        {unit["at"] for unit in world.us} | {place for p in world.positions.values() for place in p["hexes"]}
    )
    asked: list[dict[str, object]] = [
        {"communication": {"hex": label(place), "side": "us"}} for place in places
    ]
    for place, found in zip(places, ruled(connection, world, asked), strict=True):
        assert (label(place), found.answer["in_communication"]) == (
            label(place),
            oracle.us_path(world, place),
        )


def test_the_worlds_are_of_every_kind(connection: Connection) -> None:
    worlds = [oracle.drawn(seed) for seed in range(WORLDS)]
    answers = [
        len(oracle.japanese_paths(world, place, key)) >= 2
        for world in worlds
        for key, position in world.positions.items()
        for place in position["hexes"]
    ]
    assert 0.1 < sum(answers) / len(answers) < 0.9, "both verdicts come up"
    ways = [oracle.us_path(world, unit["at"]) for world in worlds for unit in world.us]
    assert 0.05 < sum(ways) / len(ways) < 0.95, "both verdicts come up"
