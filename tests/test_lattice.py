"""The lattice: three independent definitions of what a line passes must agree."""

from __future__ import annotations

import itertools
import math

import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from db.labels import STEPS, Axial, side_hexes

Row = tuple[str, int, int]
Lines = dict[tuple[int, int], dict[tuple[int, int], tuple[object, ...]]]
quick = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
coordinate = st.integers(-60, 60)


def closed_form(dq: int, dr: int) -> set[Row]:
    """What the line from (0, 0) to (dq, dr) crosses, by integer arithmetic alone."""
    widths = abs(2 * dq + dr), abs(dq + 2 * dr), abs(dq - dr)
    den = 4 * (dq * dq + dr * dr + dq * dr)
    cells: set[Row] = set()
    # a cell that the line meets between its ends is at most a hex, 2 on the doubled lattice, off their box
    for x in range(min(0, 2 * dq) - 2, max(0, 2 * dq) + 3):
        for y in range(min(0, 2 * dr) - 2, max(0, 2 * dr) + 3):
            num = 2 * x * dq + 2 * y * dr + x * dr + y * dq
            if not 0 < num < den:
                continue
            odd = x % 2, y % 2
            width = sum(widths) if odd == (0, 0) else widths[{(1, 0): 0, (0, 1): 1, (1, 1): 2}[odd]]
            off = 3 * abs(dq * y - dr * x)
            if width == 0 and off == 0:
                cells.add(("spine", x, y))
            elif off < width:
                cells.add(("hex" if odd == (0, 0) else "side", x, y))
    return cells


def line(connection: Connection, dq: int, dr: int) -> list[sa.Row[tuple[object, ...]]]:
    return list(
        connection.execute(sa.text("select * from lattice.line(0, 0, :dq, :dr)"), {"dq": dq, "dr": dr})
    )


def crossed(cells: list[sa.Row[tuple[object, ...]]]) -> set[Row]:
    return {(cell.kind, cell.x, cell.y) for cell in cells if cell.kind in ("hex", "spine", "side")}


def test_trace_equals_closed_form_for_every_displacement_to_24(connection: Connection) -> None:
    stored: dict[tuple[int, int], set[Row]] = {}
    query = "select dq, dr, kind, x, y from lattice.trace where kind in ('hex', 'spine', 'side')"
    for dq, dr, kind, x, y in connection.execute(sa.text(query)):
        stored.setdefault((dq, dr), set()).add((kind, x, y))
    disc = [
        (dq, dr)
        for dq in range(-24, 25)
        for dr in range(-24, 25)
        if 0 < max(abs(dq), abs(dr), abs(dq + dr)) <= 24
    ]
    assert len(disc) == 1800
    assert set(stored) == set(disc)
    # the closed form is slow in Python: one sextant in full, the others where it is cheap
    for dq, dr in disc:
        if (dq > 0 and dr >= 0) or max(abs(dq), abs(dr), abs(dq + dr)) <= 8:
            assert stored[dq, dr] == closed_form(dq, dr), (dq, dr)


def test_trace_equals_the_literal_query_for_every_displacement_to_24(connection: Connection) -> None:
    differences = connection.execute(
        sa.text(
            """
            with literal as (
              select step.dq, step.dr, cell.*
              from lattice.disc(0, 0, 24) as step, lateral lattice._literal(step.dq, step.dr) as cell
              where (step.dq, step.dr) <> (0, 0)
            ),
            stored as (select dq, dr, kind, x, y, q1, r1, q2, r2, crossed, of_start, of_target, enter, leave, den from lattice.trace)
            (select * from literal except select * from stored)
            union all
            (select * from stored except select * from literal)
            """
        )
    ).all()
    assert differences == []


@quick
@given(coordinate, coordinate)
def test_lines_beyond_24_equal_the_closed_form(connection: Connection, dq: int, dr: int) -> None:
    assert crossed(line(connection, dq, dr)) == closed_form(dq, dr)


def test_the_longest_line_of_a_map_is_still_divided_exactly(connection: Connection) -> None:
    # 9999 columns and rows, and boards as many farther on: twice that is as far as labels reach
    dq, dr = 19_999, 19_998
    span = connection.execute(sa.text(f"select * from lattice._span({dq}, {dr}, 2, 2)")).one()
    assert span.den == 2 * math.lcm(2 * dq + dr, dq + 2 * dr, dq - dr)
    assert 0 < span.enter < span.leave < span.den


@quick
@given(coordinate, coordinate, st.integers(-500, 500), st.integers(-500, 500))
def test_a_line_does_not_change_when_it_is_moved(
    connection: Connection, dq: int, dr: int, q: int, r: int
) -> None:
    here = line(connection, dq, dr)
    query = sa.text("select * from lattice.line(:q, :r, :q2, :r2)")
    there = connection.execute(query, {"q": q, "r": r, "q2": q + dq, "r2": r + dr}).all()
    moved = [
        (c.n, c.kind, c.x - 2 * q, c.y - 2 * r, c.q1 - q, c.r1 - r, c.q2 - q, c.r2 - r, *c[8:]) for c in there
    ]
    assert moved == [tuple(cell) for cell in here]


@quick
@given(coordinate, coordinate)
def test_a_line_walked_back_passes_the_same_in_reverse(connection: Connection, dq: int, dr: int) -> None:
    forth = {(c.kind, c.x, c.y, c.enter, c.leave) for c in line(connection, dq, dr)}
    back = {
        (c.kind, c.x + 2 * dq, c.y + 2 * dr, c.den - c.leave, c.den - c.enter)
        for c in line(connection, -dq, -dr)
    }
    assert forth == back


@quick
@given(coordinate, coordinate, st.integers(0, 5), st.booleans())
def test_a_line_keeps_under_the_twelve_symmetries(
    connection: Connection, dq: int, dr: int, turns: int, mirrored: bool
) -> None:
    def image(q: int, r: int) -> tuple[int, int]:
        for _ in range(turns):
            q, r = -r, q + r
        return (r, q) if mirrored else (q, r)

    here = {(c.kind, *image(c.x, c.y), c.enter, c.leave, c.den) for c in line(connection, dq, dr)}
    there = {(c.kind, c.x, c.y, c.enter, c.leave, c.den) for c in line(connection, *image(dq, dr))}
    assert here == there


@quick
@given(coordinate, coordinate)
def test_a_line_is_told_in_order_and_without_gaps(connection: Connection, dq: int, dr: int) -> None:
    cells = line(connection, dq, dr)
    assert [cell.n for cell in cells] == list(range(1, len(cells) + 1))
    assert [cell.enter for cell in cells] == sorted(cell.enter for cell in cells)
    at = None
    for cell in cells:
        if cell.kind in ("hex", "spine"):
            assert at is None or cell.enter == at, "a stretch of the line belongs to no cell"
            at = cell.leave
        if cell.kind in ("side", "touch", "end"):
            assert cell.enter == cell.leave
    for cell in cells:
        assert math.gcd(cell.den, 2) == 2
        assert 0 < cell.enter <= cell.leave < cell.den


@quick
@given(coordinate, coordinate, st.integers(0, 6))
def test_disc_and_ring_hold_what_their_distance_says(
    connection: Connection, q: int, r: int, radius: int
) -> None:
    disc = connection.execute(
        sa.text("select hq, hr from lattice.disc(:q, :r, :radius)"), {"q": q, "r": r, "radius": radius}
    ).all()
    ring = connection.execute(
        sa.text("select hq, hr from lattice.ring(:q, :r, :radius)"), {"q": q, "r": r, "radius": radius}
    ).all()
    assert len(set(disc)) == len(disc) == 3 * radius * (radius + 1) + 1
    assert {Axial(*hex).distance(Axial(q, r)) for hex in ring} == {radius}
    assert len(ring) == max(1, 6 * radius)
    assert set(ring) <= set(disc)


def test_neighbours_go_clockwise_from_the_top(connection: Connection) -> None:
    found = connection.execute(sa.text("select * from lattice.neighbours(4, -2) order by direction")).all()
    assert [(q - 4, r + 2) for _, q, r in found] == list(STEPS)
    angles = connection.execute(
        sa.text(
            "select st_x(lattice.center(nq, nr)), st_y(lattice.center(nq, nr))"
            " from lattice.neighbours(0, 0) order by direction"
        )
    ).all()
    assert angles == [(0, -2), (3, -1), (3, 1), (0, 2), (-3, 1), (-3, -1)]


@quick
@given(coordinate, coordinate, st.integers(1, 6))
def test_a_hexside_is_the_common_boundary_of_its_two_hexes(
    connection: Connection, q: int, r: int, direction: int
) -> None:
    here, there = Axial(q, r), Axial(q, r).beside(direction)
    x, y = here.q + there.q, here.r + there.r
    assert set(side_hexes(x, y)) == {here, there}
    found = connection.execute(
        sa.text(
            "select side.q1, side.r1, side.q2, side.r2, st_equals(lattice.hexside(:x, :y),"
            " st_intersection(lattice.hex(side.q1, side.r1), lattice.hex(side.q2, side.r2))) as same,"
            " st_length(lattice.hexside(:x, :y)) > 1 as long"
            " from lattice.side_hexes(:x, :y) as side"
        ),
        {"x": x, "y": y},
    ).one()
    assert {(found.q1, found.r1), (found.q2, found.r2)} == {here, there}
    assert found.same
    assert found.long


@quick
@given(coordinate, coordinate)
def test_a_line_crosses_a_side_wherever_it_goes_from_hex_to_hex(
    connection: Connection, dq: int, dr: int
) -> None:
    cells = line(connection, dq, dr)
    spines = [cell for cell in cells if cell.kind == "spine"]
    passed = [(0, 0), *((c.q1, c.r1) for c in cells if c.kind == "hex"), (dq, dr)]
    steps = {
        frozenset(pair)
        for pair in itertools.pairwise(passed)
        if Axial(*pair[0]).distance(Axial(*pair[1])) == 1
    }
    crossed = {frozenset([(c.q1, c.r1), (c.q2, c.r2)]) for c in cells if c.crossed}
    if (dq, dr) != (0, 0):
        assert crossed == steps
    for cell in cells:
        if cell.kind in ("hex", "touch"):
            assert (cell.q1, cell.r1) == (cell.q2, cell.r2) == (cell.x / 2, cell.y / 2)
            assert not cell.crossed
        else:
            assert set(side_hexes(cell.x, cell.y)) == {(cell.q1, cell.r1), (cell.q2, cell.r2)}
    assert not any(spine.crossed for spine in spines)


def test_hexes_tile_the_plane(connection: Connection) -> None:
    overlap, area = connection.execute(
        sa.text(
            "with hex as (select hq, hr, lattice.hex(hq, hr) as geom from lattice.disc(0, 0, 4))"
            " select (select count(*) from hex a join hex b on (a.hq, a.hr) < (b.hq, b.hr)"
            " and st_overlaps(a.geom, b.geom)), (select st_area(st_union(geom)) from hex)"
        )
    ).one()
    assert overlap == 0
    assert area == 61 * 6


def test_a_chain_jumps_nowhere(connection: Connection) -> None:
    query = sa.text("select lattice.is_chain(:qs, :rs)")
    assert connection.scalar(query, {"qs": [0, 1, 1], "rs": [0, 0, 1]})
    assert not connection.scalar(query, {"qs": [0, 2], "rs": [0, 0]})
    assert not connection.scalar(query, {"qs": [0], "rs": [0]})


def test_a_hex_knows_where_the_line_comes_from(connection: Connection) -> None:
    """The way of a line, hex by hex, is told twice: by its cells in order, and by their directions."""
    rows = connection.execute(
        sa.text(
            "select dq, dr, kind, q1, r1, q2, r2, direction, leads_in from lattice.trace order by dq, dr, n"
        )
    ).all()
    lines: dict[tuple[int, int], list[sa.Row[tuple[object, ...]]]] = {}
    for row in rows:
        lines.setdefault((row.dq, row.dr), []).append(row)
    for target, cells in lines.items():
        here = (0, 0)
        over: sa.Row[tuple[object, ...]] | None = None
        for cell in cells:
            if cell.kind == "hex":
                if over is None:
                    assert cell.direction is None, (target, cell)
                else:
                    dq, dr = STEPS[cell.direction - 1]
                    assert (cell.q1 + dq, cell.r1 + dr) == here, (target, cell)
                    assert over.leads_in
                here, over = (cell.q1, cell.r1), None
                continue
            if cell.kind == "touch":
                assert cell.direction is None
            else:
                dq, dr = STEPS[cell.direction - 1]
                assert (cell.q1 + dq, cell.r1 + dr) == (cell.q2, cell.r2)
            assert cell.kind == "side" or not cell.leads_in
            over = cell if cell.kind == "side" else None
        # the side that leads into the target is nobody's
        assert over is None or not over.leads_in


def hexes(bits: str | None) -> set[tuple[int, int]]:
    """The hexes of a set, by the place of each (lattice.hex_bit)."""
    return {(n // 17 - 8, n % 17 - 8) for n, bit in enumerate(bits or "") if bit == "1"}


def test_rays_hold_the_cells_of_their_traces(connection: Connection) -> None:
    def sides(bits: str | None) -> set[tuple[int, int]]:
        return {(n // 33 - 16, n % 33 - 16) for n, bit in enumerate(bits or "") if bit == "1"}

    rays = connection.execute(sa.text("select * from lattice.ray")).all()
    assert len(rays) == 216
    for ray in rays:
        cells = line(connection, ray.dq, ray.dr)
        end = Axial(ray.dq, ray.dr)
        assert ray.away == Axial(0, 0).distance(end)
        passed = {(c.q1, c.r1) for c in cells if c.kind == "hex"}
        touched = {(c.q1, c.r1) for c in cells if c.kind == "touch"}
        spines = [c for c in cells if c.kind == "spine"]
        grazed = [c for c in cells if c.kind == "end" and not c.crossed]
        assert hexes(ray.hexes) == passed
        assert hexes(ray.touched) == touched
        assert hexes(ray.beside_target) == {h for h in passed | touched if end.distance(Axial(*h)) == 1}
        assert sides(ray.along) == {(c.x, c.y) for c in spines}
        places = [17 * c.q1 + c.r1 + 144 for c in spines], [17 * c.q2 + c.r2 + 144 for c in spines]
        assert (ray.spine1 or [], ray.spine2 or []) == places
        assert sides(ray.across) == {
            (c.x, c.y) for c in cells if c.crossed and not c.of_start and not c.of_target
        }
        assert sides(ray.leaving) == {(c.x, c.y) for c in cells if c.crossed and c.of_start}
        assert sides(ray.arriving) == {(c.x, c.y) for c in cells if c.crossed and c.of_target}
        assert sides(ray.grazed) == {(c.x, c.y) for c in grazed if not c.of_start and not c.of_target}
        assert sides(ray.grazed_leaving) == {(c.x, c.y) for c in grazed if c.of_start}


def test_beams_and_passages_hold_the_hexes_of_the_traces(connection: Connection) -> None:
    around = {
        (q, r) for q, r in itertools.product(range(-8, 9), repeat=2) if Axial(0, 0).distance(Axial(q, r)) <= 8
    }
    traced: Lines = {place: {} for place in around}
    for dq, dr in around - {(0, 0)}:
        cells = [c for c in line(connection, dq, dr) if c.kind in ("hex", "spine", "touch")]
        first = min((c.enter for c in cells if c.kind != "touch"), default=None)
        last = max((c.leave for c in cells if c.kind != "touch"), default=None)
        for c in cells:
            passes = c.kind != "touch"
            found = c.kind == "spine", not passes, passes and c.enter == first, passes and c.leave == last
            for place in {(c.q1, c.r1), (c.q2, c.r2)}:
                traced[place][dq, dr] = *found, c.enter, c.leave, c.den
    kept: Lines = {place: {} for place in around}
    for row in connection.execute(sa.text("select * from lattice.passage")):
        assert row.place == 17 * row.dq + row.dr + 144
        kept[row.q, row.r][row.dq, row.dr] = tuple(row)[5:]
    assert kept == traced
    beams = connection.execute(sa.text("select * from lattice.beam")).all()
    assert {(beam.q, beam.r) for beam in beams} == around
    for beam in beams:
        place = Axial(0, 0).distance(Axial(beam.q, beam.r)), 17 * beam.q + beam.r + 144
        assert (beam.away, beam.place) == place
        lines = traced[beam.q, beam.r].items()
        assert hexes(beam.through) == {end for end, (spine, touch, *_) in lines if not spine and not touch}
        assert hexes(beam.met) == {end for end, _ in lines}
        assert hexes(beam.passed) == {end for end, (_, touch, *_) in lines if not touch}
        assert hexes(beam.near) == {end for end, (_, _, near, *_) in lines if near}
        assert hexes(beam.far) == {end for end, (_, _, _, far, *_) in lines if far}
        ends = {
            (dq, dr)
            for dq, dr in around
            if (beam.q * dr == beam.r * dq and dq * beam.q >= 0 and dr * beam.r >= 0 and (beam.q or beam.r))
            and Axial(0, 0).distance(Axial(dq, dr)) > beam.away
        }
        assert hexes(beam.dot) == ends


def test_places_of_a_set(rows) -> None:  # type: ignore[no-untyped-def]
    [(one, several, nothing)] = rows(
        "select lattice.place_set(lattice.hex_bit(2, -3)) = lattice.hex_set(2, -3),"
        " lattice.places_set(array[lattice.hex_bit(0, 0), lattice.hex_bit(-8, 8)])"
        " = lattice.hex_set(0, 0) | lattice.hex_set(-8, 8), lattice.places_set('{}')"
    )
    assert one
    assert several
    assert nothing == 289 * "0"


def test_a_step_and_a_step_back(rows) -> None:  # type: ignore[no-untyped-def]
    assert rows(
        "select direction, lattice.step_q(direction), lattice.step_r(direction), lattice.opposite(direction),"
        " lattice.direction(lattice.step_q(direction), lattice.step_r(direction))"
        " from generate_series(1, 6) as direction order by 1"
    ) == [(n, *STEPS[n - 1], (n + 2) % 6 + 1, n) for n in range(1, 7)]
    assert rows("select lattice.direction(0, 0), lattice.direction(1, 1), lattice.direction(2, 0)") == [
        (None, None, None)
    ]
