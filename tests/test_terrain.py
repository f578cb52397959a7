"""Ruleset terrain: the numbers that the rulebooks print, and no others."""

from __future__ import annotations

from decimal import Decimal

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.rulesets import CODES, read_ruleset

NO = "prohibited"
WORDS = {
    "css": (
        "clear beach rocky brush swamp runway town buildings rice_paddy palm_forest tropical_forest"
        " mangrove_swamp sugar_cane",
        "stream river ravine slope steep_slope ridge cliff",
        "trail unpaved_road paved_road causeway",
    ),
    "ccp": (
        "beach blaze bridge building bush grass gully hut jungle open_ground palm stream swamp water_barrier",
        "",
        "road trail",
    ),
    "fpb": (
        "clear jungle light_jungle hill hill_jungle marsh mountain village reef sea airstrip coast phosphate_plant",
        "river",
        "road trail",
    ),
    "bob": (
        "open_ground stone_building wooden_building hut woods jungle swamp wheat_field kunai_grass orchard"
        " palm_trees river canal sandbar stream gully ocean surf",
        "hedgerow wall cliff escarpment roadblock",
        "road dike_road path",
    ),
    "ddp": (
        "clear airstrip buildings coral jungle mountain swamp beach shallow sea",
        "cliff",
        "road",
    ),
}
# css 6.2.1: points of leg, wheeled and tracked units, defence, sight
CSS_TERRAIN = [
    ("clear", 1, 3, 2, 0, "open"),
    ("beach", 1, 5, 3, 0, "open"),
    ("rocky", 2, 6, 4, -2, "blocks"),
    ("brush", 2, 4, 3, -1, "blocks_at_second"),
    ("swamp", 3, NO, NO, 2, "open"),
    ("runway", 1, 3, 2, 1, "open"),
    ("town", 1, 3, 2, -2, "blocks"),
    ("buildings", 1, 1, 1, -2, "blocks"),
    ("rice_paddy", 2, 5, 5, -1, "blocks_at_second"),
    ("palm_forest", 2, 5, 3, -1, "blocks"),
    ("tropical_forest", 3, NO, NO, -2, "blocks"),
    ("mangrove_swamp", 3, NO, NO, -3, "blocks"),
]
# ccp T82 to T99: points, cover, hindrance
CCP_TERRAIN = [
    ("beach", "1.5", 0, None),
    ("building", "2", 3, None),
    ("bush", "2", 2, 2),
    ("grass", "2", 0, 3),
    ("gully", "2", 1, None),
    ("hut", "2", 2, 4),
    ("jungle", "3", 2, None),
    ("open_ground", "1", 0, None),
    ("palm", "1", 1, 1),
    ("stream", "3", -1, None),
    ("swamp", "4", 2, None),
]
# fpb 5.4, by statement and example; a village's point is added to the other terrain of its hex
FPB_TERRAIN = [
    ("clear", [1]),
    ("jungle", [3]),
    ("village", [1]),
    ("sea", [NO]),
    ("coast", []),
    ("airstrip", []),
]


@pytest.mark.parametrize("code", CODES)
def test_a_ruleset_has_just_the_words_of_the_case_format(code: str) -> None:
    kinds = read_ruleset(code).terrain
    terrain, hexsides, paths = (set(words.split()) for words in WORDS[code])
    assert set(kinds.terrain) == terrain
    assert set(kinds.hexsides) == hexsides
    assert set(kinds.paths) == paths
    # what lies over the ground is no word of a map file
    assert not set(kinds.overlays) & (terrain | hexsides | paths)


@pytest.mark.parametrize(("terrain", "leg", "wheeled", "tracked", "defense", "sight"), CSS_TERRAIN)
def test_css_terrain_is_as_printed(
    terrain: str, leg: object, wheeled: object, tracked: object, defense: int, sight: str
) -> None:
    facts = read_ruleset("css").terrain.terrain[terrain]
    assert {mobility: [effect.value for effect in costs] for mobility, costs in facts.cost.items()} == {
        "leg": [leg],
        "wheeled": [wheeled],
        "tracked": [tracked],
    }
    assert [effect.value for effect in facts.defense] == [defense]
    assert facts.sight == sight


@pytest.mark.parametrize(("terrain", "points", "cover", "hindrance"), CCP_TERRAIN)
def test_ccp_terrain_is_as_printed(terrain: str, points: str, cover: int, hindrance: int | None) -> None:
    facts = read_ruleset("ccp").terrain.terrain[terrain]
    assert [effect.value for effect in facts.cost["all"]] == [Decimal(points)]
    assert [effect.value for effect in facts.cover] == [cover]
    assert [effect.value for effect in facts.hindrance] == ([] if hindrance is None else [hindrance])


@pytest.mark.parametrize(("terrain", "points"), FPB_TERRAIN)
def test_fpb_terrain_is_as_printed(terrain: str, points: list[object]) -> None:
    facts = read_ruleset("fpb").terrain.terrain[terrain]
    for mobility in ("leg", "mobile"):
        assert [effect.value for effect in facts.cost.get(mobility, ())] == points


def test_what_is_not_printed_is_absent_and_not_zero(connection: Connection) -> None:
    cane = read_ruleset("css").terrain.terrain["sugar_cane"]
    assert (cane.cost, cane.defense, cane.sight) == ({}, (), None)
    unpriced = connection.scalars(
        sa.text(
            "select code from terrain where ruleset = 'fpb'"
            " and not exists (select from maps.terrain_cost cost where cost.ruleset = 'fpb' and cost.terrain = code)"
        )
    ).all()
    # 5.4 leaves these to the map's terrain key
    assert set(unpriced) == {
        "light_jungle", "hill", "hill_jungle", "marsh", "mountain", "reef", "airstrip", "coast", "phosphate_plant",
    }  # fmt: skip


@pytest.mark.parametrize("code", CODES)
def test_every_number_names_a_rule_that_there_is(connection: Connection, code: str) -> None:
    rules = {rule.number for rule in read_ruleset(code).rules}
    named = connection.scalars(
        sa.text("select distinct rule from terrain_effect where ruleset = :code"), {"code": code}
    ).all()
    assert set(named) <= rules
    kinds = read_ruleset(code).terrain
    for facts in (*kinds.terrain.values(), *kinds.hexsides.values(), *kinds.paths.values()):
        assert facts.rule in rules
        assert facts.sight_rule is None or facts.sight_rule in rules


@pytest.mark.parametrize(
    ("view", "code", "kind", "mobility", "points", "word"),
    [
        ("terrain_cost", "css", "rocky", "wheeled", 6, None),
        ("terrain_cost", "css", "swamp", "tracked", None, "prohibited"),
        ("terrain_cost", "ccp", "beach", "all", Decimal("1.5"), None),
        ("terrain_cost", "ccp", "water_barrier", "all", None, "all"),
        ("terrain_cost", "fpb", "village", "mobile", 1, None),
        ("terrain_cost", "bob", "stream", "vehicle", 4, None),
        ("hexside_cost", "css", "stream", "wheeled", 3, None),
        ("hexside_cost", "css", "cliff", "leg", None, "prohibited"),
        ("path_cost", "css", "paved_road", "leg", Decimal("0.5"), None),
        ("path_cost", "css", "trail", "tracked", 2, None),
    ],
)
def test_costs_are_shown_in_points(
    connection: Connection, view: str, code: str, kind: str, mobility: str, points: object, word: str | None
) -> None:
    column = "terrain" if view == "terrain_cost" else "kind"
    found = connection.execute(
        sa.text(
            f"select points, word from maps.{view}"
            f" where ruleset = :code and {column} = :kind and mobility = :mobility"
        ),
        {"code": code, "kind": kind, "mobility": mobility},
    ).all()
    assert (points, word) in [tuple(row) for row in found]
