"""The demo maps: what the painter writes is what is kept, and it is sound as ground and as a file."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import shapely
import sqlalchemy as sa
import yaml
from sqlalchemy.engine import Connection

from db.labels import Axial, side_hexes
from db.map_draft import MapDraft, vocabulary
from importers.cases import read_position, store_position
from importers.demo import MAPS, campaign_map, write_demo_maps
from importers.demo.mapfile import document, dumped
from importers.demo.relief import side_chains
from importers.demo.sheet import Corner, Sheet, centre, corners, side_between, side_corners
from importers.documents import Problems
from importers.map_formats import read_written
from importers.maps import load_draft, store_map

DEMO = Path(__file__).resolve().parent.parent / "db" / "demo"
POSITIONS = sorted((DEMO / "positions").glob("*.yaml"))
SIZES = {
    "pagasa-coast": (900, 1200),
    "kokoda-track": (150, 150),
    "tanaro-island": (480, 480),
    "hill-312": (168, 168),
    "orange-beach": (400, 400),
    "campaign-island": (7500, 7900),
}
CSS = ("pagasa-coast", "campaign-island")
DRAWN = ("kokoda-track", "hill-312")
SLOPES = {"slope", "steep_slope", "cliff"}
WATER = ("sea", "reef", "shallow")

every_map = pytest.mark.parametrize("name", MAPS)
every_css_map = pytest.mark.parametrize("name", CSS)
every_drawn_map = pytest.mark.parametrize("name", DRAWN)


PAINTERS = dict(MAPS)


class Painted(dict[str, Sheet]):
    """The maps, each painted when a test first asks for it: a worker seldom sees them all."""

    def __missing__(self, name: str) -> Sheet:
        self[name] = PAINTERS[name]()
        return self[name]


@pytest.fixture(scope="module")
def sheets() -> dict[str, Sheet]:
    return Painted()


@pytest.fixture
def sheet(sheets: dict[str, Sheet], name: str) -> Sheet:
    return sheets[name]


def read(name: str) -> MapDraft:
    problems = Problems()
    draft = read_written(DEMO / "maps" / f"{name}.yaml", problems)
    assert [str(problem) for problem in problems.found] == []
    assert draft is not None
    return draft


def is_land(sheet: Sheet, place: Axial) -> bool:
    return sheet.terrain.get(place, "sea") not in WATER


def steps(sheet: Sheet) -> list[frozenset[Axial]]:
    return [frozenset(step) for _, _, chain in sheet.paths for step in pairwise(chain)]


# What is kept is what is painted


def test_painting_again_gives_the_kept_files_to_the_byte(tmp_path: Path) -> None:
    written = write_demo_maps(tmp_path)
    assert sorted(file.name for file in written) == sorted(file.name for file in (DEMO / "maps").iterdir())
    for file in written:
        assert file.read_bytes() == (DEMO / "maps" / file.name).read_bytes(), file.name


@every_map
def test_file_reads_back_as_the_document(sheet: Sheet) -> None:
    tree = document(sheet)
    exact = yaml.load(dumped(tree), Loader=yaml.CSafeLoader)
    assert {key: exact[key] for key in tree if key != "areas"} == {
        key: value for key, value in tree.items() if key != "areas"
    }
    assert len(exact.get("areas", [])) == len(tree.get("areas", []))


def test_campaign_map_is_the_document_of_its_file(
    sheets: dict[str, Sheet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MAPS, "campaign-island", lambda: sheets["campaign-island"])
    kept = yaml.load((DEMO / "maps" / "campaign-island.yaml").read_text(), Loader=yaml.CSafeLoader)
    assert campaign_map() == kept


@every_map
def test_map_is_within_its_size(sheet: Sheet, name: str) -> None:
    least, most = SIZES[name]
    assert least <= len(sheet.terrain) <= most


def test_there_is_a_map_and_a_position_for_every_ruleset(sheets: dict[str, Sheet]) -> None:
    rulesets = {"css", "ccp", "fpb", "bob", "ddp"}
    assert {sheets[name].ruleset for name in MAPS} == rulesets
    assert {yaml.safe_load(file.read_text())["ruleset"] for file in POSITIONS} == rulesets


# The ground


@every_css_map
def test_css_map_shows_every_terrain_hexside_and_a_cave(sheet: Sheet) -> None:
    words = vocabulary("css")
    assert set(sheet.terrain.values()) == set(words.terrain)
    assert {kind for kinds in sheet.sides.values() for kind in kinds} == set(words.hexsides)
    assert {level for place, level in sheet.level.items() if place in sheet.terrain} == {1, 2, 3, 4}
    caves = [place for place, features in sheet.features.items() if "cave" in features]
    assert caves
    assert {sheet.terrain[place] for place in caves} == {"rocky"}


def test_css_maps_show_every_path(sheets: dict[str, Sheet]) -> None:
    kinds = {kind for name in CSS for kind, _, _ in sheets[name].paths}
    assert kinds == set(vocabulary("css").paths)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("kokoda-track", "jungle bush palm hut building grass swamp stream bridge gully open_ground"),
        ("tanaro-island", "clear jungle light_jungle hill hill_jungle marsh mountain village reef sea"),
        ("hill-312", "open_ground stone_building wooden_building woods wheat_field orchard stream"),
        ("orange-beach", "clear airstrip buildings coral jungle mountain swamp beach shallow sea"),
    ],
)
def test_map_shows_the_terrain_of_its_game(sheet: Sheet, kinds: str) -> None:
    assert set(sheet.terrain.values()) == set(kinds.split())


@every_css_map
def test_slopes_lie_exactly_where_the_level_changes(sheet: Sheet) -> None:
    sloping = {side for side, kinds in sheet.sides.items() if SLOPES & set(kinds)}
    changing = {
        side_between(place, other)
        for place in sheet.terrain
        for other in sheet.beside(place)
        if other in sheet.terrain and sheet.level[place] != sheet.level[other]
    }
    assert sloping == changing
    assert all(len(SLOPES & set(sheet.sides[side])) == 1 for side in sloping)


@every_css_map
def test_ridges_crown_level_ground(sheet: Sheet) -> None:
    ridges = [side_hexes(*side) for side, kinds in sheet.sides.items() if "ridge" in kinds]
    assert ridges
    assert all(sheet.level[one] == sheet.level[other] >= 2 for one, other in ridges)


@pytest.mark.parametrize("name", [*CSS, "tanaro-island"])
def test_every_water_course_is_one_chain_to_the_sea(sheet: Sheet) -> None:
    running = {side for side, kinds in sheet.sides.items() if {"river", "stream"} & set(kinds)}
    water = Sheet("water", "", sheet.ruleset, sheet.extent, 1, "", "")
    water.sides = {side: ["water"] for side in running}
    shore = {corner for place in sheet.hexes if not is_land(sheet, place) for corner in corners(place)}
    chains = side_chains(water, "water")
    assert chains
    for chain in chains:
        ends = {corner for side in chain for corner in side_corners(side)}
        assert len(ends & shore) == 1
        assert len(ends) == len(chain) + 1, "a course that parts and meets again"


@every_css_map
def test_a_river_does_not_turn_back_into_a_stream(sheet: Sheet) -> None:
    """Following a river down, every further side is a river: each piece of river reaches the sea."""
    shore = {corner for place in sheet.hexes if not is_land(sheet, place) for corner in corners(place)}
    for chain in side_chains(sheet, "river"):
        assert shore & {corner for side in chain for corner in side_corners(side)}


@every_map
def test_hexsides_lie_between_two_hexes_of_the_map(sheet: Sheet) -> None:
    for side in (side for side, kinds in sheet.sides.items() if kinds):
        assert all(place in sheet.terrain for place in side_hexes(*side))


@every_map
def test_ways_are_chains_on_land_and_no_step_is_built_twice(sheet: Sheet) -> None:
    assert sheet.paths
    for _, _, chain in sheet.paths:
        assert len(chain) >= 2
        assert all(one.distance(other) == 1 for one, other in pairwise(chain))
        assert all(is_land(sheet, place) for place in chain)
    assert [step for step, count in Counter(steps(sheet)).items() if count > 1] == []


@every_css_map
def test_every_settlement_lies_on_the_road_net(sheet: Sheet) -> None:
    settled = [place for place in sheet.names if sheet.terrain[place] in ("town", "buildings")]
    joined = {place: place for step in steps(sheet) for place in step}

    def root(place: Axial) -> Axial:
        while joined[place] != place:
            place = joined[place]
        return place

    for one, other in map(tuple, steps(sheet)):
        joined[root(one)] = root(other)
    assert len({root(place) for place in settled}) == 1


@every_map
def test_no_road_crosses_a_cliff(sheet: Sheet) -> None:
    crossed = {side_between(one, other) for _, _, chain in sheet.paths for one, other in pairwise(chain)}
    assert [side for side in crossed if "cliff" in sheet.sides.get(side, [])] == []


@every_css_map
def test_ground_lies_in_patches(sheet: Sheet) -> None:
    kinds = ("clear", "brush", "tropical_forest", "rocky", "palm_forest", "swamp")
    lone = [
        patch
        for patch in sheet.patches(lambda place: sheet.terrain.get(place))
        if len(patch) == 1 and sheet.terrain[patch[0]] in kinds
    ]
    assert len(lone) <= len(sheet.terrain) // 100


def test_coast_of_tanaro_is_its_land_beside_the_sea(sheets: dict[str, Sheet]) -> None:
    sheet = sheets["tanaro-island"]
    for place in filter(lambda place: is_land(sheet, place), sheet.hexes):
        wet = any(not is_land(sheet, other) for other in sheet.beside(place))
        assert ("coast" in sheet.features.get(place, [])) == wet


# Printed positions of ddp


def test_positions_and_their_dots_lie_on_land(sheets: dict[str, Sheet]) -> None:
    sheet = sheets["orange-beach"]
    positions: dict[str, dict[str, Any]] = sheet.extra["positions"]
    assert 10 <= len(positions) <= 14
    for position in positions.values():
        dots = position["intense"] + position["steady"]
        assert all(is_land(sheet, sheet.at(label)) for label in position["hexes"] + dots)
        assert position["intense"]
        assert len(set(dots) | set(position["hexes"])) == len(dots) + len(position["hexes"])
    assert any("artillery" in position for position in positions.values())
    assert any("mountaintop" in position for position in positions.values())
    assert any(len(position["hexes"]) == 2 for position in positions.values())


def test_fields_of_one_colour_do_not_overlap(sheets: dict[str, Sheet]) -> None:
    positions = sheets["orange-beach"].extra["positions"].values()
    dotted = Counter(
        (position["color"], label)
        for position in positions
        for label in position["intense"] + position["steady"]
    )
    assert len({position["color"] for position in positions}) == 6
    assert max(dotted.values()) == 1


def test_landing_beaches_are_under_fire(sheets: dict[str, Sheet]) -> None:
    sheet = sheets["orange-beach"]
    landing = {sheet.label(place) for place, marks in sheet.features.items() if "landing_beach" in marks}
    dots = {dot for position in sheet.extra["positions"].values() for dot in position["intense"]}
    assert landing
    assert landing & dots


# Drawn artwork


@every_drawn_map
def test_every_drawn_hex_is_met_by_artwork_of_its_terrain(sheet: Sheet) -> None:
    art = [(terrain, shapely.Polygon(outline, holes)) for terrain, outline, holes in sheet.areas]
    assert all(polygon.is_valid for _, polygon in art)
    for place in sheet.hexes:
        terrain = sheet.terrain[place]
        if terrain != "open_ground":
            hexagon = shapely.Polygon([drawn(sheet, corner) for corner in corners(place)])
            assert any(
                kind == terrain and polygon.intersection(hexagon).area > 0.05 * hexagon.area
                for kind, polygon in art
            ), sheet.label(place)


@every_drawn_map
def test_blocking_artwork_does_not_cover_the_centre_of_another_hex(sheet: Sheet) -> None:
    for terrain, outline, holes in sheet.areas:
        if terrain in ("jungle", "woods", "swamp", "building"):
            polygon = shapely.Polygon(outline, holes)
            for place in sheet.hexes:
                x, y = centre(place)
                inside = polygon.contains(shapely.Point(drawn_point(sheet, x, y)))
                assert not inside or sheet.terrain[place] == terrain, sheet.label(place)


@every_drawn_map
def test_higher_ground_lies_on_the_left_of_every_crest(sheet: Sheet) -> None:
    assert {level for level, _ in sheet.crests} == {1, 2}
    middle = {place: drawn_point(sheet, *centre(place)) for place in sheet.hexes}
    for level, line in sheet.crests:
        higher = 0
        for (x, y), (to_x, to_y) in pairwise(line):
            length = shapely.LineString([(x, y), (to_x, to_y)]).length
            # on the left of a step, where y goes down
            left = (x + to_x) / 2 + 0.4 * (to_y - y) / length, (y + to_y) / 2 - 0.4 * (to_x - x) / length
            nearest = min(
                middle, key=lambda place: shapely.Point(left).distance(shapely.Point(middle[place]))
            )
            higher += sheet.level[nearest] >= level
        assert higher > 0.85 * (len(line) - 1)


def drawn(sheet: Sheet, corner: Corner) -> tuple[float, float]:
    x, y = sheet.scheme.drawn_point(Fraction(corner[0]), Fraction(corner[1]))
    return float(x), float(y)


def drawn_point(sheet: Sheet, x: float, y: float) -> tuple[float, float]:
    column, row = sheet.scheme.drawn_point(Fraction(x / 0.8660254037844386 * 3), Fraction(2 * y))
    return float(column), float(row)


# Into the database


@every_map
def test_map_is_read_without_a_problem_and_says_all_it_means(sheet: Sheet, name: str) -> None:
    draft = read(name)
    assert draft.notices == []
    assert {place: hex.terrain for place, hex in draft.hexes.items()} == sheet.terrain
    assert all(hex.level == sheet.level[place] for place, hex in draft.hexes.items())
    assert {place: hex.name for place, hex in draft.hexes.items() if hex.name} == sheet.names
    assert draft.hexsides == {(*side, kind) for side, kinds in sheet.sides.items() for kind in kinds}
    assert draft.meters_per_hex == sheet.meters_per_hex


@every_map
def test_map_goes_into_the_database_and_comes_back(connection: Connection, name: str) -> None:
    draft = read(name)
    assert load_draft(connection, store_map(connection, draft)) == draft


@pytest.mark.parametrize("file", POSITIONS, ids=lambda file: file.stem)
def test_position_is_read_and_stored(connection: Connection, file: Path) -> None:
    tree = yaml.safe_load(file.read_text())
    assert tree["name"] == file.stem
    assert 10 <= len(tree["units"]) <= 30
    assert len({unit["side"] for unit in tree["units"]}) == 2
    store_map(connection, read(tree["map"]))
    stored = store_position(connection, read_position(file.read_bytes(), file.name, connection))
    count = sa.text("select count(*) from unit where position_id = :position and q is not null")
    assert connection.scalar(count, {"position": stored}) == len(tree["units"])


@pytest.mark.parametrize("file", POSITIONS, ids=lambda file: file.stem)
def test_no_two_sides_share_a_hex_and_none_stands_in_the_sea(file: Path, sheets: dict[str, Sheet]) -> None:
    tree = yaml.safe_load(file.read_text())
    sheet = sheets[tree["map"]]
    sides: dict[str, set[str]] = {}
    for unit in tree["units"]:
        sides.setdefault(unit["at"], set()).add(unit["side"])
        assert is_land(sheet, sheet.at(unit["at"])), unit["id"]
    assert [label for label, both in sides.items() if len(both) > 1] == []
