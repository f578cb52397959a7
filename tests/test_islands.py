"""The six house islands of fpb: every printed hex number is land, on sound ground, at its place in the world."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.labels import Axial
from db.map_draft import MapDraft
from db.rulesets import read_ruleset
from importers.demo.sheet import scheme_of
from importers.islands import PLANS, css_grid, island_text, write_islands
from importers.islands.coast import land_shares, real_land, shares_of_land
from importers.maps import import_map, read_map_file

FOLDER = Path(__file__).resolve().parent.parent / "db" / "rulesets" / "fpb" / "maps"
PRINTED = {"engebi": 10, "eniwetok": 12, "parry": 9, "guam": 124, "tinian": 74, "angaur": 18}
BOATS = {"engebi": 3, "eniwetok": 2, "parry": 3, "guam": 3, "tinian": 3, "angaur": 2}
LANDING_GROUND = {"clear", "light_jungle", "marsh"}
WHERE = {
    "engebi": (162.2538, 11.6648),
    "eniwetok": (162.3364, 11.3411),
    "parry": (162.3850, 11.4074),
    "guam": (144.8806, 13.5605),
    "tinian": (145.6204, 15.0198),
    "angaur": (134.1475, 6.9053),
}
"""Longitude and latitude of the point of each island that is farthest from any shore."""
NAMED = [("1302", 144.6400, 13.4370), ("1506", 144.6990, 13.4215), ("1606", 144.7125, 13.4370)]
"""Orote airfield, Mount Tenjo and Mount Chachao: where fpb has them, and where they are."""
islands = pytest.mark.parametrize("island", PLANS)


@functools.cache
def island_map(island: str) -> MapDraft:
    return read_map_file(FOLDER / f"{island}.yaml")


def printed_hexes(island: str) -> set[str]:
    cells = read_ruleset("fpb").charts["random_placement"].each_cell()
    return {
        str(cell.value) for row, column, cell in cells if row.startswith(f"{island}/") and column.isdigit()
    }


def neighbours(place: Axial) -> list[Axial]:
    return [place.beside(direction) for direction in range(1, 7)]


def land_of(board: MapDraft) -> set[Axial]:
    return {place for place, ground in board.hexes.items() if ground.terrain != "sea"}


def with_feature(board: MapDraft, feature: str) -> set[str]:
    return {board.scheme.label(place) for place, ground in board.hexes.items() if feature in ground.features}


def in_one_piece(places: set[Axial]) -> bool:
    reached = [min(places)]
    for place in reached:
        reached += [other for other in neighbours(place) if other in places and other not in reached]
    return len(reached) == len(places)


def test_the_kept_maps_are_what_the_painter_paints(tmp_path: Path) -> None:
    painted = {file.name: file.read_bytes() for file in write_islands(tmp_path)}
    assert painted == {file.name: file.read_bytes() for file in FOLDER.glob("*.yaml")}


@islands
def test_an_island_is_painted_the_same_again(island: str) -> None:
    assert island_text(island) == island_text(island)


@islands
def test_every_hex_of_the_placement_table_is_land(island: str) -> None:
    board = island_map(island)
    printed = printed_hexes(island)
    assert len(printed) == PRINTED[island]
    assert {board.scheme.hex(label) for label in printed} <= land_of(board)


@islands
def test_the_shore_is_the_real_one(island: str) -> None:
    board = island_map(island)
    land = real_land(PLANS[island], board.scheme)
    assert {board.scheme.label(place) for place in land ^ land_of(board)} == set()


@islands
def test_every_printed_hex_has_real_land(island: str) -> None:
    board = island_map(island)
    shares = land_shares(PLANS[island], board.scheme)
    assert all(shares[board.scheme.hex(label)] > 0 for label in printed_hexes(island))


def test_real_ground_lays_even_columns_of_guam_lower_and_the_map_says_so() -> None:
    guam = island_map("guam")
    assert guam.scheme.shift == "down"
    assert "Even columns lie lower" in guam.note
    assert {island_map(island).scheme.shift for island in PLANS if island != "guam"} == {"up"}


def test_the_places_of_guam_that_the_book_names_lie_within_a_hex_of_where_they_are(
    connection: Connection,
) -> None:
    import_map(connection, FOLDER / "guam.yaml")
    query = sa.text(
        "select st_distance(st_transform(gis.world(map.id, hex.center), 4326)::geography,"
        " st_setsrid(st_point(:lon, :lat), 4326)::geography)"
        " from hex join map on map.id = hex.map_id where map.name = 'guam-house' and hex.label = :label"
    )
    for label, lon, lat in NAMED:
        away = connection.execute(query, {"label": label, "lon": lon, "lat": lat}).scalar_one()
        assert away < 1000, label


@islands
def test_an_island_is_one_piece_and_so_is_the_sea(island: str) -> None:
    board = island_map(island)
    land = land_of(board)
    assert in_one_piece(land)
    assert in_one_piece(board.hexes.keys() - land)


@islands
def test_the_coast_is_the_land_beside_the_sea(island: str) -> None:
    board = island_map(island)
    land = land_of(board)
    coast = {place for place in land if any(other not in land for other in neighbours(place))}
    assert {board.scheme.hex(label) for label in with_feature(board, "coast")} == coast
    assert {board.scheme.hex(label) for label in with_feature(board, "reef")} <= coast


@islands
def test_two_hexes_of_sea_lie_around_an_island_as_far_as_its_numbers_go(island: str) -> None:
    board = island_map(island)
    lacking = {
        board.scheme.label(place)
        for place in land_of(board)
        if any(other not in board.hexes for one in neighbours(place) for other in neighbours(one))
    }
    # row 00 is the first there can be, and the tables print hexes of row 01 (Guam, Eniwetok)
    assert all(label.endswith("01") for label in lacking)


@islands
def test_there_are_more_open_shores_than_boats(island: str) -> None:
    board = island_map(island)
    open_shores = [
        place
        for place, ground in board.hexes.items()
        if "coast" in ground.features
        and ground.terrain in LANDING_GROUND
        and not {"village", "reef"} & set(ground.features)
    ]
    assert len(open_shores) >= 2 * BOATS[island]
    clear = [place for place in open_shores if board.hexes[place].terrain == "clear"]
    assert len(clear) >= BOATS[island]


@islands
def test_a_beach_is_open_coast(island: str) -> None:
    board = island_map(island)
    beaches = {
        place for feature in board.features.values() if feature.kind == "landmark" for place in feature.at
    }
    for place in beaches:
        assert "coast" in board.hexes[place].features, board.scheme.label(place)
        assert board.hexes[place].terrain == "clear"


@islands
def test_a_way_stays_ashore(island: str) -> None:
    board = island_map(island)
    assert {place for path in board.paths for place in path.hexes} <= land_of(board)


@islands
def test_a_map_says_that_it_is_of_the_house(island: str) -> None:
    board = island_map(island)
    assert "house" in board.title
    assert "house" in board.note
    assert board.name == f"{island}-house"


def test_the_named_places_are_where_the_book_has_them() -> None:
    guam, engebi, angaur = (island_map(island) for island in ("guam", "engebi", "angaur"))
    names = {ground.name: guam.scheme.label(place) for place, ground in guam.hexes.items() if ground.name}
    assert (names["Mount Chachao"], names["Mount Tenjo"]) == ("1606", "1506")
    assert with_feature(guam, "airstrip") == {"1302", "1303"}
    assert len(with_feature(engebi, "airstrip")) == len(with_feature(angaur, "airstrip")) == 5
    assert {"Saipan Village", "Phosphate Plant"} <= angaur.features.keys()
    assert len(with_feature(angaur, "phosphate_plant")) == 1
    assert with_feature(guam, "village")
    assert with_feature(island_map("tinian"), "village")
    for board in (engebi, angaur, guam):
        assert in_one_piece({board.scheme.hex(label) for label in with_feature(board, "airstrip")})


def test_the_large_islands_have_ground_of_every_kind() -> None:
    ground = Counter(hex.terrain for hex in island_map("guam").hexes.values())
    assert ground.keys() == {
        "sea",
        "clear",
        "light_jungle",
        "jungle",
        "hill",
        "hill_jungle",
        "mountain",
        "marsh",
    }
    assert {"road", "trail"} == {path.kind for path in island_map("guam").paths}
    assert any(kind == "river" for _, _, kind in island_map("guam").hexsides)


@islands
def test_an_island_lies_where_it_is_in_the_world(connection: Connection, island: str) -> None:
    report = import_map(connection, FOLDER / f"{island}.yaml")
    lon, lat = WHERE[island]
    query = """
        select count(*) from gis.hex_world where map = :map and terrain <> 'sea'
          and st_contains(st_transform(geom, 4326), st_setsrid(st_point(:lon, :lat), 4326))
    """
    assert connection.scalar(sa.text(query), {"map": report.name, "lon": lon, "lat": lat}) == 1


# Guam with the numbers of css

GRID = FOLDER.parent.parent / "css" / "maps" / "guam-grid.yaml"


def test_the_kept_grid_of_css_is_what_its_maker_makes_and_has_every_printed_hex() -> None:
    assert GRID.read_text() == css_grid.grid_text()
    board = read_map_file(GRID)
    assert {board.scheme.hex(label) for label in css_grid.PRINTED} <= board.hexes.keys()
    assert "not the publisher's" in board.note
    assert "ground is not known" in board.note


def test_the_grid_of_css_lies_on_guam(connection: Connection) -> None:
    import_map(connection, GRID)
    place = sa.text(
        "select st_x(p) as lon, st_y(p) as lat, st_distance(p::geography, st_setsrid(st_point(:lon, :lat), 4326)::geography)"
        " as away from hex join map on map.id = hex.map_id,"
        " lateral (select st_transform(gis.world(map.id, hex.center), 4326) as p) as at"
        " where map.name = 'guam-grid' and hex.label = :label"
    )
    for label, lon, lat in css_grid.NAMED:
        assert connection.execute(place, {"label": label, "lon": lon, "lat": lat}).one().away < 500, label
    # the barracks were at Sumay, and the beach with mines (35.80) is one of Agat's: neither was fitted to
    for label, lon, lat in (("24.78", 144.6505, 13.4345), ("35.80", 144.661, 13.390)):
        assert connection.execute(place, {"label": label, "lon": lon, "lat": lat}).one().away < 1000, label


def test_all_but_one_of_the_hexes_that_css_prints_have_land_there() -> None:
    scheme = scheme_of("css")
    shares = shares_of_land(
        "guam", css_grid.CONTROL, scheme, [scheme.hex(label) for label in css_grid.PRINTED]
    )
    assert {scheme.label(place) for place, share in shares.items() if share < 0.1} <= {"34.81"}
    assert sum(share > 0.45 for share in shares.values()) >= 38
