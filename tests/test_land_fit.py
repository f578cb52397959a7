"""Hex grids laid on land: what was put there is found again, whichever way the world is turned; and the islands of fpb."""

from __future__ import annotations

import cmath
import functools
import math
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
import shapely
import sqlalchemy as sa
from hypothesis import given, settings
from sqlalchemy.engine import Connection

from db import SightlineError
from db.coasts import FILE, coasts
from db.labels import Axial
from importers.islands import PLANS
from importers.land_fit import LandFit, _problem, fit_land, plane
from importers.land_reference import georeference_by_land, printed_hexes, read_coast
from importers.maps import import_map
from tests.conftest import ROOT
from tests.rounds import rounds
from tests.test_islands import NAMED

ISLAND = shapely.Polygon(
    [
        (0, 0),
        (9000, 1500),
        (16000, 500),
        (19000, 4000),
        (13000, 6500),
        (7000, 6000),
        (5000, 9500),
        (1500, 8000),
        (-1500, 3500),
    ]
)
METERS = 1000.0


def covered(a: complex, b: complex) -> list[Axial]:
    """The hexes of a grid whose centres lie on the island, all of them."""
    there = []
    for q in range(-40, 41):
        for r in range(-40, 41):
            world = a * plane(Axial(q, r)) + b
            if ISLAND.contains(shapely.Point(world.real, world.imag)):
                there.append(Axial(q, r))
    return there


def turned(angle: float, shift: complex) -> shapely.Polygon:
    def move(points: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
        world = (points[:, 0] + 1j * points[:, 1]) * cmath.exp(1j * angle) + shift
        return np.column_stack([world.real, world.imag])

    found: shapely.Polygon = shapely.transform(ISLAND, move)
    return found


A = METERS * cmath.exp(1j * math.radians(25))
B = complex(6000, 4000)
HEXES = covered(A, B)


def apart(fit_a: complex, fit_b: complex, a: complex, b: complex) -> float:
    """How far the two grids lie from one another at most, in hexes."""
    return max(abs((fit_a - a) * plane(place) + fit_b - b) for place in HEXES) / METERS


def test_a_grid_that_covers_an_island_is_found_again() -> None:
    assert len(HEXES) > 80
    fit = straight_fit()
    assert fit.ashore == fit.of == len(HEXES)
    assert fit.misfits == ()
    assert apart(fit.a, fit.b, A, B) < 0.5, "no hex is taken for its neighbour"
    assert fit.turns is not None
    first, last = fit.turns
    assert first < 360 - 25 < last < first + 5, "the turn by which it was laid is one of few that serve"
    problem, _ = _problem(HEXES, ISLAND, (METERS, METERS), (), False)
    assert fit.depth > problem.depth(A, B) > 0, "and it lies farther inland than it was laid"


@functools.cache
def straight_fit() -> LandFit:
    return fit_land(HEXES, ISLAND, (METERS, METERS))


@settings(max_examples=rounds(3, 50), deadline=None)
@given(angle=st.floats(0, 2 * math.pi), east=st.integers(-(10**6), 10**6), north=st.integers(-(10**6), 10**6))
def test_the_fit_turns_with_the_world(angle: float, east: int, north: int) -> None:
    """Invariance: turn and move the land, and the grid turns and moves along."""
    shift = complex(east, north)
    straight = straight_fit()
    fit = fit_land(HEXES, turned(angle, shift), (METERS, METERS))
    turn = cmath.exp(1j * angle)
    assert fit.ashore == straight.ashore
    assert fit.depth == pytest.approx(straight.depth, abs=1e-6)
    assert apart(fit.a, fit.b, straight.a * turn, straight.b * turn + shift) < 1e-4


FAR_OFF = [*HEXES, Axial(40, -30)]
"""The island's hexes, and one that lies far off."""
CONTROL = [
    (HEXES[0], A * plane(HEXES[0]) + B + 150),
    (HEXES[-1], A * plane(HEXES[-1]) + B - 100j),
    (HEXES[40], A * plane(HEXES[40]) + B),
]


@functools.cache
def fit_with_misfits() -> LandFit:
    return fit_land(FAR_OFF, ISLAND, (METERS, METERS), CONTROL)


@settings(max_examples=rounds(2, 20), deadline=None)
@given(angle=st.floats(0, 2 * math.pi))
def test_the_fit_with_misfits_and_control_points_turns_with_the_world(angle: float) -> None:
    turn = cmath.exp(1j * angle)
    straight = fit_with_misfits()
    fit = fit_land(
        FAR_OFF, turned(angle, 0), (METERS, METERS), [(place, world * turn) for place, world in CONTROL]
    )
    assert apart(fit.a, fit.b, straight.a * turn, straight.b * turn) < 0.02
    assert [misfit.hex for misfit in fit.misfits] == [misfit.hex for misfit in straight.misfits]
    assert fit.misfits[0].hex == Axial(40, -30), "what lies far off is named"
    assert fit.control_rms == pytest.approx(straight.control_rms, rel=1e-3)


def test_control_points_settle_the_size() -> None:
    control = [(place, A * plane(place) + B) for place in (HEXES[0], HEXES[-1], HEXES[40])]
    fit = fit_land(HEXES, ISLAND, (0.85 * METERS, 1.15 * METERS), control)
    assert fit.meters_per_hex == pytest.approx(METERS, rel=0.01)
    assert fit.control_rms is not None
    assert fit.control_rms < 20


def test_three_hexes_are_the_fewest() -> None:
    with pytest.raises(SightlineError, match="At least three"):
        fit_land(HEXES[:2], ISLAND, (METERS, METERS))


# The islands


@pytest.fixture
def guam(connection: Connection) -> Connection:
    import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / "guam.yaml")
    return connection


def test_real_ground_answers_which_way_the_columns_of_guam_are_shifted(guam: Connection) -> None:
    coast = shapely.geometry.shape(coasts()["guam"])
    labels = printed_hexes("guam")
    assert len(labels) == 124
    report = georeference_by_land(
        guam, "guam-house", coast, labels, meters=1600, control=NAMED, compare_shift=True, keep=False
    )
    other = report.other_shift
    assert other is not None
    assert (other["shift"], other["of"]) == ("up", 124)
    assert report.touching == 124 > other["touching"]
    assert report.control_rms is not None
    assert report.control_rms < 800 < other["control_rms"]
    assert 295 < report.turn < 306, "turned by 60 degrees to the left"
    assert report.placed is None
    assert guam.scalar(sa.text("select srid from map where name = 'guam-house'")) == 4326, "only tried"


@pytest.mark.parametrize("island", PLANS)
def test_the_six_maps_lie_where_the_command_lays_them(connection: Connection, island: str) -> None:
    """Corners stand in the files as numbers; here they are found again, to a hundredth of a hex."""
    plan, board = PLANS[island], f"{island}-house"
    import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / f"{island}.yaml")
    coast = shapely.geometry.shape(coasts()[island])
    named = NAMED if island == "guam" else []
    report = georeference_by_land(connection, board, coast, printed_hexes(island), control=named)
    assert report.touching == report.of
    assert report.placed is not None
    assert report.placed.meters_per_hex[0] == pytest.approx(plan.meters_per_hex, rel=1e-3)
    moved = sa.text(
        "select st_distance(st_transform(gis.world(map.id, hex.center), 4326)::geography,"
        " st_setsrid(st_point(:lon, :lat), 4326)::geography)"
        " from hex join map on map.id = hex.map_id where map.name = :board and hex.label = :label"
    )
    for label, lon, lat in plan.control:
        asked = {"board": board, "label": label, "lon": lon, "lat": lat}
        assert connection.execute(moved, asked).scalar_one() < plan.meters_per_hex / 100, label


def test_of_the_ways_that_bring_all_ashore_the_one_farthest_inland_is_taken(connection: Connection) -> None:
    """Eighteen hexes on round Angaur: every turn of a tenth of the circle serves, one is the deepest."""
    import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / "angaur.yaml")
    coast = shapely.geometry.shape(coasts()["angaur"])
    report = georeference_by_land(
        connection, "angaur-house", coast, printed_hexes("angaur"), compare_turns=True, keep=False
    )
    assert report.ashore == 18
    assert report.turns == pytest.approx((259.3, 296.8), abs=1)
    assert report.turn == pytest.approx(288.2, abs=0.2)
    assert report.equal is not None
    assert report.depth > 0.27 > max(depth for _, _, _, depth in report.equal)


def test_land_shrunk_and_moved_back_tells_how_far_inland_a_grid_can_lie() -> None:
    """Against trial: no shift of many drawn at random brings the outermost centre farther inland."""
    problem, _ = _problem(HEXES[10:30], ISLAND, (METERS, METERS), (), False)
    found = problem.deepest(A)
    assert found is not None
    depth, shift = found
    assert problem.depth(A, shift) == pytest.approx(depth, abs=0.005)
    dice = np.random.default_rng(1944)
    for east, north in dice.uniform(-METERS, METERS, (2000, 2)):
        assert problem.depth(A, shift + complex(east, north)) <= depth + 0.005


def test_narrow_land_allows_one_turn(connection: Connection) -> None:
    import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / "eniwetok.yaml")
    coast = shapely.geometry.shape(coasts()["eniwetok"])
    report = georeference_by_land(
        connection, "eniwetok-house", coast, printed_hexes("eniwetok"), compare_turns=True, keep=False
    )
    assert report.turns is None, "not every centre can be ashore"
    assert report.equal is not None
    [(turn, ashore, _, depth)] = report.equal
    assert (turn, ashore) == (pytest.approx(report.turn, abs=1), 4)
    assert depth < 0


def test_a_coast_is_known_by_the_name_of_the_map() -> None:
    assert read_coast(FILE, None, "eniwetok-house")[0] == "eniwetok"
    with pytest.raises(SightlineError, match="no coast 'gaum'"):
        read_coast(FILE, "gaum", "guam-house")
    with pytest.raises(SightlineError, match="no GeoJSON file of coastlines"):
        read_coast(Path(__file__), None, "guam-house")


def test_a_free_size_wants_control_points(guam: Connection) -> None:
    coast = shapely.geometry.shape(coasts()["guam"])
    with pytest.raises(SightlineError, match="only make the hexes smaller"):
        georeference_by_land(guam, "guam-house", coast, free_scale=True)
