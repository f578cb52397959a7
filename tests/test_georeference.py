"""Georeference: control points place a map by the least squares there are, and say how well."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from small_map import make_map, scheme_of
from sqlalchemy.engine import Connection

from db.inventory import NotThereError
from db.labels import Axial
from db.map_draft import ControlPoint
from db.maps import Map
from importers.documents import Problems
from importers.georeference import (
    Affine,
    GeoreferenceError,
    fit,
    forget,
    georeference,
    import_control_points,
)

UTM = 32655
"""UTM zone 55 north, where Guam lies."""
NAME = "orote"
EXTENT = ("20.76", "26.84")
coordinates = st.integers(-40, 40)
decimals = st.decimals(-(10**7), 10**7, allow_nan=False, allow_infinity=False, places=3)
quick = settings(max_examples=150, deadline=None)


def points_of(*rows: tuple[str, Any, Any]) -> list[ControlPoint]:
    scheme = scheme_of("css")
    return [ControlPoint(scheme.hex(label), Decimal(str(x)), Decimal(str(y))) for label, x, y in rows]


def on_ground(*labels: str, pitch: float = 400.0) -> list[ControlPoint]:
    """Control points of regular hexes, north up, of this many metres, in UTM."""
    rows = []
    for label in labels:
        q, r = scheme_of("css").hex(label)
        x = 240_000 + pitch * math.sqrt(0.75) * q
        y = 1_480_000 - pitch * (2 * r + q) / 2
        rows.append((label, round(x, 6), round(y, 6)))
    return points_of(*rows)


@pytest.fixture
def orote(connection: Connection) -> int:
    return make_map(connection, NAME, EXTENT, meters_per_hex=400)


def stored(connection: Connection) -> sa.Row[Any]:
    return connection.execute(
        sa.select(Map.srid, Map.affine, Map.control_points).where(Map.name == NAME)
    ).one()


# The fit


@quick
@given(
    st.tuples(*[st.integers(-6400, 6400)] * 6),
    st.lists(st.tuples(coordinates, coordinates), min_size=3, max_size=12, unique=True),
)
def test_points_that_fit_give_their_affine_back_exactly(
    numbers: tuple[int, ...], places: list[tuple[int, int]]
) -> None:
    hexes = [Axial(*place) for place in places]
    assume(not on_one_line(hexes))
    # 64ths are decimals without rounding
    truth = Affine(*(Fraction(number, 64) for number in numbers))
    points = [
        ControlPoint(place, decimal(truth.at(place)[0]), decimal(truth.at(place)[1])) for place in hexes
    ]
    assert fit(points) == truth


@quick
@given(
    st.lists(
        st.tuples(st.tuples(coordinates, coordinates), decimals, decimals),
        min_size=4,
        max_size=10,
        unique_by=lambda row: row[0],
    ),
    st.integers(0, 5),
    st.fractions(-1, 1).filter(bool),
)
def test_no_other_affine_has_less_squares(
    rows: list[tuple[tuple[int, int], Decimal, Decimal]], which: int, change: Fraction
) -> None:
    points = [ControlPoint(Axial(*place), x, y) for place, x, y in rows]
    assume(not on_one_line([point.hex for point in points]))
    best = fit(points)
    changed = Affine(*(n + change if i == which else n for i, n in enumerate(best)))
    # strictly: the optimum is the only one
    assert squares(best, points) < squares(changed, points)


@quick
@given(
    st.lists(
        st.tuples(st.tuples(coordinates, coordinates), decimals, decimals),
        min_size=3,
        max_size=10,
        unique_by=lambda row: row[0],
    )
)
def test_residuals_lean_to_no_side(rows: list[tuple[tuple[int, int], Decimal, Decimal]]) -> None:
    """The normal equations themselves: residuals sum to nothing, alone and weighed by x and y."""
    points = [ControlPoint(Axial(*place), x, y) for place, x, y in rows]
    assume(not on_one_line([point.hex for point in points]))
    best = fit(points)
    for axis in (0, 1):
        off = [best.at(point.hex)[axis] - Fraction(point[axis + 1]) for point in points]
        assert sum(off) == 0
        assert sum(o * 3 * p.hex.q for o, p in zip(off, points, strict=True)) == 0
        assert sum(o * (2 * p.hex.r + p.hex.q) for o, p in zip(off, points, strict=True)) == 0


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def squares(affine: Affine, points: list[ControlPoint]) -> Fraction:
    total = Fraction(0)
    for point in points:
        x, y = affine.at(point.hex)
        total += (x - Fraction(point.x)) ** 2 + (y - Fraction(point.y)) ** 2
    return total


def on_one_line(hexes: list[Axial]) -> bool:
    q, r = hexes[0]
    return all((b.q - q) * (c.r - r) == (b.r - r) * (c.q - q) for b in hexes for c in hexes)


# The map


def test_exact_points_leave_no_residual(connection: Connection, orote: int) -> None:
    points = points_of(("20.76", 240000, 1480000), ("26.76", 242400, 1480000), ("20.84", 240000, 1476800),
                       ("26.84", 242400, 1476800))  # fmt: skip
    report = georeference(connection, NAME, points, UTM)
    assert report.rms == report.rms_meters == 0
    assert [point.residual for point in report.points] == [0, 0, 0, 0]
    assert report.crs == "WGS 84 / UTM zone 55N"
    assert report.unit == "metre"
    assert not any("always fit" in notice for notice in report.notices)


def test_what_is_stored_puts_each_hex_in_its_place(connection: Connection, orote: int) -> None:
    points = on_ground("20.76", "26.76", "20.84", "26.84", "23.80")
    georeference(connection, NAME, points, UTM)
    row = stored(connection)
    assert row.srid == UTM
    assert [point["label"] for point in row.control_points] == ["20.76", "26.76", "20.84", "26.84", "23.80"]
    assert [point["srid"] for point in row.control_points] == [UTM] * 5
    for point in points:
        x, y, srid = connection.execute(
            sa.text(
                "select st_x(p), st_y(p), st_srid(p) from gis.world(:map_id, lattice.center(:q, :r)) as p"
            ),
            {"map_id": orote, "q": point.hex.q, "r": point.hex.r},
        ).one()
        assert srid == UTM
        assert (x, y) == pytest.approx((float(point.x), float(point.y)), abs=1e-5)


def test_given_coordinates_are_kept_digit_for_digit(connection: Connection, orote: int) -> None:
    points = points_of(("20.76", "144.600000000000000000001", "13.46"), ("26.76", "144.62", "13.460"),
                       ("20.84", "1446E-1", "13.43"))  # fmt: skip
    georeference(connection, NAME, points, 4326)
    kept = connection.execute(
        sa.text(
            "select point ->> 'x', point ->> 'y'"
            " from map, jsonb_array_elements(control_points) as point where name = :name"
        ),
        {"name": NAME},
    ).all()
    assert [tuple(row) for row in kept] == [
        ("144.600000000000000000001", "13.46"),
        ("144.62", "13.460"),
        ("144.6", "13.43"),
    ]


def test_a_noisy_point_shows_in_the_residuals(connection: Connection, orote: int) -> None:
    points = on_ground("20.76", "26.76", "20.84", "26.84")
    wrong = points[0]._replace(x=points[0].x + 40)
    report = georeference(connection, NAME, [wrong, *points[1:]], UTM)
    # a parallelogram's corner that is off by 40 leaves a quarter of it at each corner
    assert [round(point.residual, 3) for point in report.points] == [10, 10, 10, 10]
    assert report.rms == pytest.approx(10, abs=1e-3)
    # on the ground: UTM is 0.04 % short at most at its meridian
    assert report.rms_meters == pytest.approx(10, rel=0.002)


def test_degrees_are_told_in_metres_too(connection: Connection, orote: int) -> None:
    points = points_of(("20.76", "144.60", "13.46"), ("26.76", "144.62", "13.46"), ("20.84", "144.60", "13.43"),
                       ("26.84", "144.621", "13.43"))  # fmt: skip
    report = georeference(connection, NAME, points, 4326)
    assert report.unit == "degree"
    assert report.rms == pytest.approx(0.00025)
    assert report.rms_meters == pytest.approx(0.00025 * 111_320 * math.cos(math.radians(13.445)), rel=0.01)


def test_the_report_measures_the_hex(connection: Connection, orote: int) -> None:
    report = georeference(connection, NAME, on_ground("20.76", "26.76", "20.84"), UTM)
    assert report.meters_per_hex == pytest.approx((400, 400), rel=0.002)
    assert report.notices == ("Three points always fit: add a fourth to see how well the map does.",)


def test_a_hex_of_another_size_than_the_map_says_is_noticed(connection: Connection, orote: int) -> None:
    points = on_ground("20.76", "26.76", "20.84", "26.84", pitch=900)
    report = georeference(connection, NAME, points, UTM)
    assert any("the map says 400 m" in notice for notice in report.notices)


def test_a_swapped_label_is_noticed(connection: Connection, orote: int) -> None:
    points = on_ground("20.76", "26.76", "20.84", "26.84", "23.80", "22.78")
    mistaken = points[4]._replace(hex=scheme_of("css").hex("25.80"))
    report = georeference(connection, NAME, [*points[:4], mistaken, points[5]], UTM)
    assert any(notice.startswith("25.80 is 1.") for notice in report.notices)


def test_a_map_can_be_placed_anew_and_taken_out(connection: Connection, orote: int) -> None:
    georeference(connection, NAME, on_ground("20.76", "26.76", "20.84"), UTM)
    georeference(connection, NAME, on_ground("20.76", "26.76", "20.84", "26.84", pitch=300), UTM)
    assert len(stored(connection).control_points) == 4
    assert forget(connection, NAME) is True
    assert tuple(stored(connection)) == (None, None, [])
    assert forget(connection, NAME) is False


# What cannot be


REFUSED = {
    "too few": (points_of(("20.76", 0, 0), ("26.76", 1, 0)), UTM, "at least three hexes; there are 2"),
    "none": ([], UTM, "there are 0"),
    "on one line": (
        points_of(("20.76", 0, 0), ("20.80", 0, -5), ("20.84", 1, -9)),
        UTM,
        "lie on one line",
    ),
    "one hex twice": (
        points_of(("20.76", 0, 0), ("20.76", 5, 0), ("20.84", 0, -9), ("26.84", 9, -9)),
        UTM,
        "20.76 has two control points",
    ),
    "unknown EPSG": (on_ground("20.76", "26.76", "20.84"), 99999, "EPSG:99999 is unknown"),
    "geocentric": (on_ground("20.76", "26.76", "20.84"), 4978, "EPSG:4978 is not a CRS of the plane"),
    "latitude first": (
        points_of(("20.76", "13.46", "144.60"), ("26.76", "13.46", "144.62"), ("20.84", "13.43", "144.60")),
        4326,
        "there is no longitude 13.46, latitude 144.60",
    ),
    "metres as degrees": (on_ground("20.76", "26.76", "20.84"), 4326, "there is no longitude"),
    "x and y swapped": (
        points_of(("20.76", "49.20", "6.10"), ("26.76", "49.20", "6.12"), ("20.84", "49.17", "6.10")),
        4326,
        "as in a mirror",
    ),
    "two labels swapped": (
        points_of(("26.76", 240000, 1480000), ("20.76", 242400, 1480000), ("20.84", 240000, 1476800)),
        UTM,
        "as in a mirror",
    ),
    "no area": (
        points_of(("20.76", 0, 0), ("26.76", 10, 0), ("20.84", 20, 0)),
        UTM,
        "coordinates lie on one line or in one place",
    ),
    "one place": (points_of(("20.76", 5, 5), ("26.76", 5, 5), ("20.84", 5, 5)), UTM, "in one place"),
    "no number": (
        points_of(("20.76", "NaN", 0), ("26.76", 10, 0), ("20.84", 0, -9)),
        UTM,
        "20.76: (NaN, 0) is no place",
    ),
    "beyond the pole": (
        points_of(("20.76", 0, 89), ("26.76", 10, 89), ("20.77", 0, 80)),
        4326,
        "outside the world of EPSG:4326",
    ),
    "beyond the projection": (
        points_of(("20.76", -4e7, 9e7), ("26.76", 4e7, 9e7), ("20.84", -4e7, 1e7)),
        UTM,
        "outside the world of EPSG:32655",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_points_that_place_no_map_change_nothing(connection: Connection, orote: int, what: str) -> None:
    points, srid, message = REFUSED[what]
    georeference(connection, NAME, on_ground("20.76", "26.76", "20.84"), UTM)
    before = stored(connection)
    with pytest.raises(GeoreferenceError) as caught:
        georeference(connection, NAME, points, srid)
    assert message in caught.value.message
    assert caught.value.remedy
    assert stored(connection) == before


def test_an_unknown_map_names_the_nearest(connection: Connection, orote: int) -> None:
    with pytest.raises(NotThereError, match=r"no map 'orota'\.\nDid you mean orote"):
        georeference(connection, "orota", [], UTM)


# The file


def test_a_csv_of_control_points_places_the_map(connection: Connection, orote: int) -> None:
    rows = "\n".join(
        f"{scheme_of('css').label(p.hex)},{p.x},{p.y}" for p in on_ground("20.76", "26.76", "20.84")
    )
    report = import_control_points(connection, NAME, f"\ufefflabel, x, y\r\n{rows}\n\n", "points.csv", UTM)
    assert [point.label for point in report.points] == ["20.76", "26.76", "20.84"]


def test_longitude_and_latitude_are_the_default(connection: Connection, orote: int) -> None:
    text = "Label,Lon,Lat\n20.76,144.60,13.46\n26.76,144.62,13.46\n20.84,144.60,13.43\n"
    assert import_control_points(connection, NAME, text, "points.csv").srid == 4326


def test_a_bad_file_shows_every_problem_and_changes_nothing(connection: Connection, orote: int) -> None:
    text = "label,x,y\n20.76,1,2\n27.80,3,4\n2280,5,6\n22.80,east,7\n22.81,8\n22.82,,9\n"
    with pytest.raises(Problems) as caught:
        import_control_points(connection, NAME, text, "points.csv", UTM)
    lines = str(caught.value).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("points.csv:3: label: 27.80 is not a hex of this map (did you mean 26.80")
    assert "points.csv:4: label: '2280' is not a label of this map (did you mean 22.80" in lines[1]
    assert lines[2] == "points.csv:5: x: expected a number, found 'east'"
    assert lines[3] == "points.csv:6: expected 3 values, found 2"
    assert lines[4].startswith("points.csv:7: x: expected a number")
    assert stored(connection).srid is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the first line must read label,x,y"),
        ("20.76,1,2\n", "the first line must read label,x,y"),
        ("x,y,label\n", "the first line must read label,x,y"),
        ('label,x,y\n"20.76,1,2\n', "not CSV"),
        ("label,x,y\n20.76,1e999999999,2\n", "expected a number"),
    ],
)
def test_a_file_that_is_no_control_point_table_is_refused(
    connection: Connection, orote: int, text: str, message: str
) -> None:
    with pytest.raises(Problems) as caught:
        import_control_points(connection, NAME, text, "points.csv", UTM)
    assert message in str(caught.value)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.sampled_from(["20.76", "26.76", "20.84", "26.84", "23.80", "22.78"]),
                  st.integers(-60, 60), st.integers(-60, 60)),
        min_size=4, max_size=6, unique_by=lambda row: row[0],
    )
)  # fmt: skip
def test_ground_metres_agree_with_the_projection(
    connection: Connection, noise: list[tuple[str, int, int]]
) -> None:
    savepoint = connection.begin_nested()
    make_map(connection, NAME, EXTENT)
    labels = [label for label, _, _ in noise]
    points = [
        point._replace(x=point.x + dx, y=point.y + dy)
        for point, (_, dx, dy) in zip(on_ground(*labels), noise, strict=True)
    ]
    try:
        report = georeference(connection, NAME, points, UTM)
        for point in report.points:
            assert point.meters == pytest.approx(point.residual, rel=0.005, abs=1e-4)
    except GeoreferenceError as error:
        assert "one line" in error.message  # noqa: PT017
    finally:
        savepoint.rollback()
