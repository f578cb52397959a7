"""The lie of the land: rounded edges, shores, depths, slopes; on the server and in the browser alike."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page
from sqlalchemy.engine import URL

from app.drawing.outlines import SHADES, WATER, Land, around, chained, rim, rounded
from db.database import make_engine
from db.labels import Axial
from db.map_draft import HexDraft
from importers.cases import read_position
from importers.positions import write_position

HERE = Axial(0, 0)
DISC = [Axial(q, r) for q in range(-4, 5) for r in range(-4, 5) if abs(q + r) <= 4]


def land(
    terrain: dict[Axial, str] | None = None, level: dict[Axial, int] | None = None, plain: str = "clear"
) -> Land:
    """A disc of one terrain with some other hexes in it."""
    return Land(
        {place: HexDraft((terrain or {}).get(place, plain), (level or {}).get(place, 1)) for place in DISC}
    )


def test_a_lone_hex_of_another_terrain_is_round() -> None:
    ground = land({HERE: "jungle"})
    cuts = list(ground.cuts(HERE))
    assert [cut.terrain for cut in cuts] == [("clear", "clear")] * 6
    assert {cut.corner for cut in cuts} == set(HERE.corners)
    assert all(list(ground.cuts(other)) == [] for other in around(HERE)), "it is cut, its neighbours are not"


def test_where_three_terrains_meet_the_corner_stays() -> None:
    above, right = around(HERE)[0], around(HERE)[1]
    ground = land({above: "jungle", right: "swamp"})
    shared = ({*HERE.corners} & {*above.corners} & {*right.corners}).pop()
    assert all(shared != cut.corner for place in (HERE, above, right) for cut in ground.cuts(place))


def test_a_shore_is_round_even_between_two_kinds_of_land() -> None:
    """Sea in one hex, beach and jungle in the others that meet it: each takes its half of the corner."""
    above, right = around(HERE)[0], around(HERE)[1]
    ground = land({HERE: "sea", above: "beach", right: "jungle"})
    assert ("beach", "jungle") in [cut.terrain for cut in ground.cuts(HERE)]
    coast = [curve for place in DISC for curve in ground.shore(place)]
    assert len(coast) == 6, "once around the one hex of sea"
    assert {corner for _, corner, _ in coast} == set(HERE.corners)


def test_the_sea_is_deeper_away_from_land() -> None:
    ground = land({HERE: "beach"}, plain="sea")
    assert [ground.depth(Axial(0, r)) for r in range(4)] == [0, 1, 2, 3]


def test_there_is_sea_beyond_a_map_that_a_shore_ends_and_only_there() -> None:
    edge = Axial(0, -4)
    assert land().beyond == {}
    beyond = land({edge: "beach"}).beyond
    assert beyond[Axial(0, -5)] == 1
    assert max(beyond.values()) == 3
    assert land({edge: "beach", HERE: "sea"}).beyond == {}, "a map with a sea of its own says where it is"


def test_slopes_toward_the_light_are_lit_and_others_lie_in_shade() -> None:
    ground = land(level={HERE: 3})
    faces = dict(ground.slopes(HERE))
    assert min(faces) < 0 < max(faces)
    assert all(abs(light) <= SHADES for light in faces)
    middle = HERE.center

    def upper_left(face: Any) -> float:
        return sum((middle[0] - x) + (middle[1] - y) for x, y in face)

    assert upper_left(faces[max(faces)]) > upper_left(faces[min(faces)]), "light comes from the upper left"
    assert list(land().slopes(HERE)) == [], "level ground has neither"


def test_a_level_is_written_once_on_a_small_plateau() -> None:
    plateau = {HERE, *around(HERE)}
    ground = land(level=dict.fromkeys(plateau, 2))
    assert [place for place in DISC if place in plateau and ground.crowns(place)] == [Axial(0, -1)]


def test_a_way_crosses_every_side_in_its_middle() -> None:
    centers = [Axial(0, 0).center, Axial(0, 1).center, Axial(1, 1).center]
    pieces = list(rounded(centers))
    assert pieces[0][0] == centers[0]
    assert pieces[-1][-1] == centers[-1]
    assert pieces[1] == ((0, 1), (0, 2), (1.5, 2.5)), "from middle to middle around the centre"


def test_a_river_flows_around_corners_and_meets_others_there() -> None:
    one, two, three = (0, 0), (1, 1), (3, 1)
    assert list(chained([(one, two), (two, three)])) == [
        ((0.5, 0.5), one), ((0.5, 0.5), two, (2.0, 1.0)), ((2.0, 1.0), three),
    ]  # fmt: skip
    forked = list(chained([(one, two), (two, three), (two, (0, 2))]))
    assert all(len(piece) == 2 for piece in forked), "where three meet, all run into the corner"


def test_the_rim_of_hexes_goes_around_them_together() -> None:
    assert len(list(rim([HERE]))) == 6
    assert len(list(rim([HERE, around(HERE)[0]]))) == 10


# --- the browser finds the same ---

SHAPES = """async ({address, labels}) => {
  const [{Ground}, {Lattice}] = await Promise.all([import("/static/map/ground.js"), import("/static/map/lattice.js")]);
  const ground = new Ground(address, new Lattice(false), [-1e4, -1e4, 1e4, 1e4], []);
  const told = {};
  for (const [label, [q, r]] of Object.entries(labels)) {
    const hex = await ground.find(q, r);
    const {cuts, shore, slopes, depth, crowns} = hex.shape;
    told[label] = {cuts: cuts.map((cut) => cut.terrain.join()), shore: shore.length, slopes: slopes.map(({light}) => light), depth, crowns};
  }
  return told;
}"""


@pytest.mark.parametrize("position", ["lipata-landing", "orange-dawn", "vesny-morning"])
def test_the_browser_finds_the_same_shapes(page: Page, demo_url: URL, position: str) -> None:
    engine = make_engine(demo_url)
    with engine.connect() as connection:
        board = read_position(
            write_position(connection, position).replace(position, "read-again", 1), position, connection
        ).board
        ground = Land({place: board.hexes[place] for place in board.hexes})
    engine.dispose()
    wanted = {
        board.scheme.label(place): {
            "cuts": [",".join(cut.terrain) for cut in ground.cuts(place)],
            "shore": sum(1 for _ in ground.shore(place)),
            "slopes": [light for light, _ in ground.slopes(place)],
            "depth": ground.depth(place),
            "crowns": ground.crowns(place),
        }
        for place in ground.hexes
    }
    labels = {board.scheme.label(place): list(place) for place in ground.hexes}
    page.goto("/")
    found = page.evaluate(SHAPES, {"address": f"/api/v1/maps/{board.name}", "labels": labels})
    differing = {label: (found[label], told) for label, told in wanted.items() if found[label] != told}
    assert differing == {}
    assert any(told["cuts"] for told in wanted.values())
    assert {word for told in wanted.values() for cut in told["cuts"] for word in cut.split(",")} - WATER
