"""Sight in Band of Brothers: what must hold of it on any drawn ground, and at the last unit of the grid."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import pytest
import shapely
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from db.counters import BobUnit
from db.labels import STEPS, Axial
from db.map_draft import GRID, AreaDraft, CrestDraft, HexDraft, Line, MapDraft, PathDraft
from db.position_draft import MarkerDraft, PositionDraft
from tests.oracle_css import Cell, distance, halves, trace
from tests.small_map import scheme_of
from tests.test_sight import Stored, bounded, demo, fan

SCHEME = scheme_of("bob")
CORNER = SCHEME.hex("AD30")
"""Where random boards begin, far from the end of the labels."""
BLOCKING = {"woods", "stone_building", "wooden_building", "hut", "jungle", "swamp"}
TERRAIN = ("open_ground",) * 9 + (
    "woods", "woods", "stone_building", "wheat_field", "wheat_field", "kunai_grass", "orchard", "palm_trees", "stream",
)  # fmt: skip
SIDES = ("hedgerow", "wall", "roadblock", "cliff")
MARKERS = ("smoke", "dispersed_smoke", "illumination", "upper_level")
ANALYZE = sa.text("analyze hex, hexside, path, terrain_area, crest, marker, position")
TINY = Fraction(1, 10**40)


class Seen(NamedTuple):
    """An answer of `los`."""

    visible: bool
    range: int
    hindrance: int
    blocked_by: frozenset[str]


def look(connection: Connection, position_id: int, viewer: str, targets: Iterable[str]) -> dict[str, Seen]:
    """What `los` says of each target."""
    query = sa.text(
        """
        select target.name,
          (array_agg(los.effect order by los.n desc))[1] = 'visible' as visible,
          (array_agg(los.range order by los.n desc))[1] as range,
          (array_agg(los.hindrance order by los.n desc))[1] as hindrance,
          coalesce(array_agg(distinct los.at) filter (where los.effect = 'blocks'), '{}') as at
        from unnest(cast(:targets as text[])) as target (name),
          lateral bob.los(:position, :viewer, target.name) with ordinality
            as los (rule, clause, at, effect, note, point, range, hindrance, n)
        group by target.name
        """
    )
    rows = connection.execute(query, {"targets": list(targets), "position": position_id, "viewer": viewer})
    return {row.name: Seen(row.visible, row.range, row.hindrance, frozenset(row.at)) for row in rows}


def rules_of(connection: Connection, position_id: int, start: str, target: str) -> list[tuple[str, str]]:
    """The rule and effect of every row, the verdict last."""
    query = sa.text("select rule, effect from bob.los(:position, :start, :target)")
    rows = connection.execute(query, {"position": position_id, "start": start, "target": target})
    return [(row.rule, row.effect) for row in rows]


# Random drawn maps


def centre(cell: Cell) -> tuple[int, int]:
    """The centre of a hex, in grid units."""
    return 3 * GRID * cell[0], GRID * (2 * cell[1] + cell[0])


def triangle(dice: random.Random, cells: list[Cell]) -> Line:
    """A triangle over some hexes; on a coarse grid its corners and edges often lie on threads and sides."""
    step = dice.choice((GRID, GRID // 2, 2))
    while True:
        x, y = centre(dice.choice(cells))
        points = tuple(
            (
                x + step * dice.randint(-3 * GRID // step, 3 * GRID // step),
                y + step * dice.randint(-2, 2) * (GRID // step),
            )
            for _ in range(3)
        )
        if shapely.Polygon(points).area > 0:
            return points


def paint(seed: int, size: tuple[int, int], *, crests: bool = True) -> PositionDraft:
    """A position with all that bears on sight, from a seed."""
    dice = random.Random(seed)
    flat = dice.random() < 0.5
    cells = [(CORNER.q + q, CORNER.r + r - q // 2) for q in range(size[0]) for r in range(size[1])]
    board = MapDraft("bob", SCHEME)
    for cell in cells:
        terrain = dice.choice(TERRAIN) if dice.random() < 0.7 else "open_ground"
        level = 0 if flat and dice.random() < 0.9 else dice.choice((-1, 0, 0, 1, 1, 2, 3))
        board.hexes[Axial(*cell)] = HexDraft("gully" if level < 0 else terrain, level)
    share = dice.choice((0.0, 0.05, 0.1))
    for q, r in cells:
        for dq, dr in STEPS:
            if dice.random() < share:
                board.hexsides.add((2 * q + dq, 2 * r + dr, dice.choice(SIDES)))
    for _ in range(dice.choice((0, 2, 5))):
        terrain = dice.choice(("woods", "woods", "stone_building", "wheat_field", "kunai_grass", "orchard"))
        board.areas.append(AreaDraft(terrain, (triangle(dice, cells),)))
    for _ in range(dice.choice((0, 1, 2)) if crests else 0):
        line = triangle(dice, cells)
        board.crests.append(
            CrestDraft(dice.choice((0, 1, 2)), (*line, line[0]) if dice.random() < 0.7 else line)
        )
    if dice.random() < 0.3:
        board.paths.append(PathDraft("dike_road", tuple(Axial(*cell) for cell in cells[: size[1]])))
    position = PositionDraft("bob", board)
    position.markers = [
        MarkerDraft(dice.choice(MARKERS), Axial(*cell))
        for cell in dice.sample(cells, k=dice.choice((0, 2, 4)))
    ]
    position.policy = {"bob-3": dice.choice("abc"), "bob-33": dice.choice("ab")}
    return position


seeds = st.integers(0, 2**32)
sizes = st.tuples(st.integers(3, 7), st.integers(3, 7))
positions = st.builds(paint, seeds, sizes)


def labels(position: PositionDraft, count: int = 1000) -> list[str]:
    """So many hexes, in any order."""
    found = [SCHEME.label(hex) for hex in position.board.hexes]
    return random.Random(count).sample(found, k=min(count, len(found)))


# Fan and line


@bounded(12)
@given(position=positions, radius=st.one_of(st.none(), st.integers(1, 5)))
def test_fan_sees_what_los_sees(connection: Connection, position: PositionDraft, radius: int | None) -> None:
    with Stored(connection, position) as position_id:
        (viewer,) = labels(position, 1)
        found = look(connection, position_id, viewer, labels(position))
        assert fan(connection, position_id, viewer, radius, "bob") == {
            label: seen.range
            for label, seen in found.items()
            if seen.visible and label != viewer and seen.range <= (radius or 24)
        }


def plain(
    connection: Connection, position_id: int, viewers: list[str], targets: list[str]
) -> dict[tuple[str, str], bool]:
    """What many lines asked at once tell: those of which nothing else has to be asked."""
    query = sa.text(
        """
        with place as (
          select array_agg(hex.q) filter (where label = any(:viewers)) as qs,
            array_agg(hex.r) filter (where label = any(:viewers)) as rs,
            array_agg(hex.label) filter (where label = any(:viewers)) as viewers,
            array_agg(hex.q) filter (where label = any(:targets)) as to_qs,
            array_agg(hex.r) filter (where label = any(:targets)) as to_rs,
            array_agg(hex.label) filter (where label = any(:targets)) as targets
          from hex inner join position on position.map_id = hex.map_id and position.id = :position
        ),
        sights as materialized (
          select viewers, targets, bob._sights(state, qs, rs, to_qs, to_rs) as told
          from place cross join positions.state(:position, null, null) as state
        )
        select viewer.label as viewer, target.label as target,
          told[(viewer.n - 1) * cardinality(targets) + target.n] as seen
        from sights
          cross join unnest(viewers) with ordinality as viewer (label, n)
          cross join unnest(targets) with ordinality as target (label, n)
        """
    )
    rows = connection.execute(query, {"position": position_id, "viewers": viewers, "targets": targets})
    return {(row.viewer, row.target): row.seen for row in rows if row.seen is not None}


@bounded(25)
@given(
    position=positions, night=st.sampled_from(({}, {}, {"night": {"visibility": 2}}, {"weather": "monsoon"}))
)
def test_many_lines_at_once_are_those_of_los(
    connection: Connection, position: PositionDraft, night: dict[str, object]
) -> None:
    position = dataclasses.replace(position, conditions=night)
    with Stored(connection, position) as position_id:
        viewers, targets = labels(position, 2), labels(position, 12)
        found = plain(connection, position_id, viewers, targets)
        for viewer in viewers:
            seen = look(connection, position_id, viewer, targets)
            for target in targets:
                assert found.get((viewer, target), seen[target].visible) == seen[target].visible


def test_most_lines_of_hill_312_are_plain(connection: Connection) -> None:
    ground = demo("hill-312")
    with Stored(connection, PositionDraft("bob", ground)) as position_id:
        connection.execute(ANALYZE)
        viewers, targets = ["D9", "H5", "L3"], [ground.scheme.label(hex) for hex in ground.hexes]
        found = plain(connection, position_id, viewers, targets)
        assert len(found) > 0.6 * len(viewers) * len(targets)
        for viewer in viewers:
            seen = look(connection, position_id, viewer, targets)
            assert all(told == seen[to].visible for (whence, to), told in found.items() if whence == viewer)


@pytest.mark.parametrize("conditions", [{}, {"night": {"visibility": 3}}, {"weather": "monsoon"}])
def test_fan_sees_what_los_sees_on_hill_312(connection: Connection, conditions: dict[str, object]) -> None:
    ground = demo("hill-312")
    position = PositionDraft("bob", ground, conditions=conditions)
    position.markers = [
        MarkerDraft(kind, ground.scheme.hex(at)) for kind, at in (("illumination", "J3"), ("smoke", "E9"))
    ]
    with Stored(connection, position) as position_id:
        connection.execute(ANALYZE)
        for viewer in ("D9", "H5", "L3"):
            found = look(connection, position_id, viewer, (ground.scheme.label(hex) for hex in ground.hexes))
            assert fan(connection, position_id, viewer, ruleset="bob") == {
                label: seen.range for label, seen in found.items() if seen.visible and label != viewer
            }


def test_hill_312_lies_as_high_as_its_crests_say(connection: Connection) -> None:
    """Over each centre dot the level reckoned along a thread is the level of the hex."""
    ground = demo("hill-312")
    with Stored(connection, PositionDraft("bob", ground)) as position_id:
        query = sa.text(
            """
            select hex.label, strip.ground, hex.level
            from position
            join hex as viewer on viewer.map_id = position.map_id
            join hex on hex.map_id = viewer.map_id and hex.q = viewer.q + 2
            join hex as beyond on beyond.map_id = viewer.map_id and beyond.q = viewer.q + 4,
              positions.state(:position) as state,
              lateral bob._end(position.id, 'hex:' || viewer.label) as start,
              lateral bob._end(position.id, 'hex:' || beyond.label) as target,
              lateral bob._thread(start, target) as thread,
              lateral (select array_agg(met) as hexes from bob._bordering_hexes(state, thread) as met) as way,
              lateral bob._strips(state, thread, way.hexes, true) as strip
            where position.id = :position and viewer.q % 2 = 0
              and hex.r = viewer.r and beyond.r = viewer.r
              and strip.q = hex.q and strip.r = hex.r and strip.enter <= 5e59 and strip.leave >= 5e59
            """
        )
        rows = connection.execute(query, {"position": position_id}).all()
    assert len(rows) > 80
    assert [row for row in rows if row.ground != row.level] == []


# The oracle: points just beside the thread, in fractions


def inside(point: tuple[Fraction, Fraction], ring: Line) -> bool:
    """Whether a point that lies on no edge is inside an outline."""
    found = False
    for (x1, y1), (x2, y2) in zip(ring, ring[1:] + ring[:1], strict=True):
        if (y1 > point[1]) != (y2 > point[1]) and point[0] < x1 + (x2 - x1) * (point[1] - y1) / (y2 - y1):
            found = not found
    return found


def corners(cell: Cell) -> Line:
    x, y = centre(cell)
    around = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
    return tuple((x + GRID * dx, y + GRID * dy) for dx, dy in around)


def cuts(start: tuple[int, int], end: tuple[int, int], ring: Line) -> Iterator[Fraction]:
    """Where the edges of an outline meet the line through two points, in shares of the way."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    for (x1, y1), (x2, y2) in zip(ring, ring[1:] + ring[:1], strict=True):
        off1 = dx * (y1 - start[1]) - dy * (x1 - start[0])
        off2 = dx * (y2 - start[1]) - dy * (x2 - start[0])
        if off1 != off2 and min(off1, off2) <= 0 <= max(off1, off2):
            share = Fraction(off1, off1 - off2)
            x, y = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
            yield (dx * (x - start[0]) + dy * (y - start[1])) / Fraction(dx * dx + dy * dy)


def height(board: MapDraft, cell: Cell, point: tuple[Fraction, Fraction]) -> int:
    """How high ground and what stands on it are at a point of a hex."""
    hex = board.hexes[Axial(*cell)]
    shape = shapely.Polygon(corners(cell))
    drawn = [area for area in board.areas if area.terrain in BLOCKING]
    filled = hex.terrain in BLOCKING and not any(
        area.terrain == hex.terrain
        and shapely.relate_pattern(shapely.Polygon(area.rings[0]), shape, "T********")
        for area in drawn
    )
    return hex.level + int(filled or any(inside(point, area.rings[0]) for area in drawn))


def hidden(board: MapDraft, top: int, cell: Cell, start: Cell, target: Cell) -> bool:
    """47.2, written out level by level."""
    levels = {end: board.hexes[Axial(*end)].level for end in (start, target)}
    upper, lower = sorted((start, target), key=lambda end: -levels[end])
    if top > levels[upper]:
        return True
    if top == levels[upper]:
        return levels[lower] < top
    blind = distance(upper, cell) - {1: 1, 2: 2, 3: 3, 4: 4}[levels[upper] - top]
    return top > levels[lower] and distance(cell, target if upper == start else start) <= blind


def blocking_hexes(board: MapDraft, start: Cell, target: Cell) -> bool:
    """Whether ground or terrain that shows on both sides of the thread blocks it."""
    line = trace(start, target)
    met = {*line.hexes, *itertools.chain.from_iterable(map(halves, line.spines))}
    a, b = centre(start), centre(target)
    rings = [corners(cell) for cell in (*met, start, target)] + [area.rings[0] for area in board.areas]
    marks = sorted(
        {mark for ring in rings for mark in cuts(a, b, ring) if 0 <= mark <= 1} | {Fraction(0), Fraction(1)}
    )
    dx, dy = b[0] - a[0], b[1] - a[1]
    for one, two in itertools.pairwise(marks):
        middle = (one + two) / 2
        tops = []
        for side in (TINY, -TINY):
            point = a[0] + middle * dx - side * dy, a[1] + middle * dy + side * dx
            cell = next((cell for cell in met if inside(point, corners(cell))), None)
            if cell is not None and Axial(*cell) in board.hexes:
                tops.append((height(board, cell, point), cell))
        if len(tops) == 2 and all(hidden(board, min(tops)[0], cell, start, target) for _, cell in tops):
            return True
    return False


@bounded(25)
@given(seed=seeds, size=sizes)
def test_what_is_drawn_blocks_as_the_oracle_says(
    connection: Connection, seed: int, size: tuple[int, int]
) -> None:
    position = paint(seed, size, crests=False)
    position.markers = []
    board = position.board
    board.hexsides = set()
    with Stored(connection, position) as position_id:
        (viewer,) = labels(position, 1)
        query = sa.text(
            """
            select hex.label, bool_or(coalesce(los.effect = 'blocks' and los.rule in ('14.0', '47.2'), false)) as blocked
            from position join hex on hex.map_id = position.map_id, lateral bob.los(position.id, :viewer, hex.label) as los
            where position.id = :position and hex.label <> :viewer
            group by hex.label
            """
        )
        for row in connection.execute(query, {"position": position_id, "viewer": viewer}):
            seen_from, seen = SCHEME.hex(viewer), SCHEME.hex(row.label)
            assert row.blocked == blocking_hexes(board, seen_from, seen), (viewer, row.label)


# Both ways


@bounded(20)
@given(position=positions)
def test_whoever_is_seen_sees(connection: Connection, position: PositionDraft) -> None:
    """By day the same line is stopped, and hindered, both ways or neither."""
    ends = labels(position, 7)
    with Stored(connection, position) as position_id:
        answers = {end: look(connection, position_id, end, ends) for end in ends}
    for one, other in itertools.combinations(ends, 2):
        forth, back = answers[one][other], answers[other][one]
        # which of two palm trees is the second depends on where one starts
        assert forth[:3] == back[:3], (one, other)
        assert bool(forth.blocked_by) == bool(back.blocked_by), (one, other)


def test_only_a_light_is_seen_from_the_dark_and_not_back(connection: Connection) -> None:
    """The exceptions: at night a lit hex is seen from afar; and no grass hinders fire at a vehicle."""
    position = paint(3, (6, 6), crests=False)
    position.conditions = {"night": {"visibility": 2}}
    light = sorted(position.board.hexes)[20]
    position.markers = [MarkerDraft("illumination", light)]
    lit = {SCHEME.label(hex) for hex in position.board.hexes if hex.distance(light) <= 1}
    with Stored(connection, position) as position_id:
        ends = labels(position)
        answers = {end: look(connection, position_id, end, ends) for end in ends}
    one_way = {
        (one, other)
        for one, other in itertools.permutations(ends, 2)
        if answers[one][other].visible and not answers[other][one].visible
    }
    assert one_way
    assert all(other in lit and one not in lit for one, other in one_way)


# What the map's shape and place do not change


class Moved(NamedTuple):
    """A board turned, mirrored and shifted."""

    turns: int
    mirrored: bool
    by: Cell

    def turn(self, q: Fraction | int, r: Fraction | int) -> tuple[Fraction | int, Fraction | int]:
        for _ in range(self.turns):
            q, r = -r, q + r
        return (r, q) if self.mirrored else (q, r)

    def hex(self, cell: Cell) -> Axial:
        q, r = self.turn(cell[0] - CORNER.q, cell[1] - CORNER.r)
        return Axial(int(q) + CORNER.q + self.by[0], int(r) + CORNER.r + self.by[1])

    def point(self, point: tuple[int, int]) -> tuple[int, int]:
        # a point of the plane as a hex with fractions
        q = Fraction(point[0], 3 * GRID)
        r = (Fraction(point[1], GRID) - q) / 2
        q, r = self.turn(q - CORNER.q, r - CORNER.r)  # type: ignore[assignment]
        q, r = q + CORNER.q + self.by[0], r + CORNER.r + self.by[1]
        x, y = 3 * q * GRID, (2 * r + q) * GRID
        assert x.denominator == y.denominator == 1
        return int(x), int(y)

    def line(self, line: Line) -> Line:
        return tuple(map(self.point, line))

    def side(self, side: tuple[int, int, str]) -> tuple[int, int, str]:
        one, two = (self.hex(cell) for cell in halves(side[:2]))
        return one.q + two.q, one.r + two.r, side[2]

    def position(self, position: PositionDraft) -> PositionDraft:
        board = position.board
        moved = dataclasses.replace(
            board,
            hexes={self.hex(cell): hex for cell, hex in board.hexes.items()},
            hexsides=set(map(self.side, board.hexsides)),
            paths=[PathDraft(path.kind, tuple(map(self.hex, path.hexes))) for path in board.paths],
            areas=[AreaDraft(area.terrain, tuple(map(self.line, area.rings))) for area in board.areas],
            # in a mirror left is right
            crests=[
                CrestDraft(crest.level, self.line(crest.line)[:: -1 if self.mirrored else 1])
                for crest in board.crests
            ],
        )
        markers = [dataclasses.replace(marker, at=self.hex(marker.at)) for marker in position.markers]
        return dataclasses.replace(position, board=moved, markers=markers)

    def label(self, label: str) -> str:
        return "|".join(sorted(SCHEME.label(self.hex(SCHEME.hex(part))) for part in label.split("|")))


moves = st.builds(Moved, st.integers(0, 5), st.booleans(), st.tuples(st.integers(-5, 5), st.integers(-5, 5)))


def unordered(seen: Seen) -> Seen:
    return seen._replace(blocked_by=frozenset("|".join(sorted(at.split("|"))) for at in seen.blocked_by))


@bounded(15)
@given(position=positions, moved=moves)
def test_turning_mirroring_and_shifting_a_map_change_no_answer(
    connection: Connection, position: PositionDraft, moved: Moved
) -> None:
    (viewer,) = labels(position, 1)
    targets = labels(position, 15)
    with Stored(connection, position) as position_id:
        here = look(connection, position_id, viewer, targets)
    with Stored(connection, moved.position(position)) as position_id:
        there = look(connection, position_id, moved.label(viewer), map(moved.label, targets))
    assert {label: unordered(seen) for label, seen in there.items()} == {
        moved.label(target): seen._replace(blocked_by=frozenset(map(moved.label, seen.blocked_by)))
        for target, seen in here.items()
    }


@bounded(15)
@given(position=positions)
def test_what_the_thread_does_not_meet_changes_no_answer(
    connection: Connection, position: PositionDraft
) -> None:
    start, target = labels(position, 2)
    start_hex, target_hex = SCHEME.hex(start), SCHEME.hex(target)
    line = trace(start_hex, target_hex)
    met: set[Cell] = {start_hex, target_hex, *line.hexes, *line.touched}
    met.update(*map(halves, line.spines + line.sides + line.side_ends))
    hexes = {hex: ground for hex, ground in position.board.hexes.items() if tuple(hex) in met}
    sides = {
        side for side in position.board.hexsides if any(Axial(*hex) in hexes for hex in halves(side[:2]))
    }
    cropped = dataclasses.replace(position.board, hexes=hexes, hexsides=sides, paths=[])
    position.board.paths = []
    less = dataclasses.replace(
        position, board=cropped, markers=[marker for marker in position.markers if marker.at in cropped.hexes]
    )
    with Stored(connection, position) as position_id:
        whole = look(connection, position_id, start, [target])
    with Stored(connection, less) as position_id:
        assert look(connection, position_id, start, [target]) == whole


# The last unit of the grid


@bounded(30)
@given(
    step=st.tuples(st.integers(-4, 4), st.integers(-4, 4)).filter(lambda step: distance((0, 0), step) >= 3),
    side=st.sampled_from((1, -1)),
    terrain=st.sampled_from(("woods", "wheat_field")),
)
def test_artwork_along_the_thread_counts_from_its_first_unit_across(
    connection: Connection, step: Cell, side: int, terrain: str
) -> None:
    """An edge from 7/16 to 9/16 of the way: on the thread, one grid unit short of it, and one beyond."""
    start, target = CORNER, Axial(CORNER.q + step[0], CORNER.r + step[1])
    a, b = centre(start), centre(target)
    dx, dy = b[0] - a[0], b[1] - a[1]
    # the unit goes along the axis on which it leaves the thread the most
    over = (0, side if dx > 0 else -side) if abs(dx) >= abs(dy) else (-side if dy > 0 else side, 0)
    edge = [(a[0] + dx * share // 16, a[1] + dy * share // 16) for share in (7, 9)]
    tip = a[0] + dx // 2 + over[0] * 400, a[1] + dy // 2 + over[1] * 400
    line = trace(start, target)
    ground = {*line.hexes, *itertools.chain.from_iterable(map(halves, line.spines)), start, target}
    hexes = {
        Axial(*cell): HexDraft("wheat_field" if terrain == "wheat_field" else "open_ground", 0)
        for cell in ground
    }
    answers = []
    for by in (1, 0, -1):
        ring = (*((x + by * over[0], y + by * over[1]) for x, y in edge), tip)
        board = MapDraft("bob", SCHEME, hexes=hexes, areas=[AreaDraft(terrain, (ring,))])
        # every other hex of wheat is drawn too, off the thread, so that none is taken to be filled
        if terrain == "wheat_field":
            board.areas += [AreaDraft(terrain, (speck(cell, a, b),)) for cell in ground]
        with Stored(connection, PositionDraft("bob", board)) as position_id:
            answers.append(
                look(connection, position_id, SCHEME.label(start), [SCHEME.label(target)]).popitem()[1]
            )
    short, on, across = answers
    along_a_side = any(span for span in line.spines) and terrain == "wheat_field"
    if terrain == "woods":
        assert (short.visible, on.visible, across.visible) == (True, True, False)
    elif not along_a_side:
        assert (short.hindrance, on.hindrance) == (0, 0)
        assert across.hindrance >= 1


def speck(cell: Cell, a: tuple[int, int], b: tuple[int, int]) -> Line:
    """A small triangle in a hex, beside the thread."""
    x, y = centre(cell)
    for dx, dy in ((0, 800), (0, -800), (900, 0), (-900, 0), (700, 500), (-700, -500)):
        ring = ((x + dx, y + dy), (x + dx + 16, y + dy), (x + dx, y + dy + 16))
        if not shapely.LineString([a, b]).intersects(shapely.Polygon(ring)):
            return ring
    raise AssertionError("no room beside the thread")


# Caves


def test_a_cave_is_seen_through_its_two_front_hexes(connection: Connection) -> None:
    """43.4: a cave in J3 that looks down between I4 and J4, and the ground above it."""
    middle = SCHEME.hex("J3")
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("E1", "N9")}
    )
    board.hexes[middle] = HexDraft("open_ground", 2)
    position = PositionDraft("bob", board)
    # sides 4 and 5 of J3 are those of J4 and I4
    position.markers = [MarkerDraft("cave", middle, facing=4)]
    unit = BobUnit(id="Inside", at="J3", side="japan", nation="japan", kind="wt")
    position.units[unit.id] = unit, middle
    with Stored(connection, position) as position_id:
        connection.execute(
            sa.text(
                "update unit set attributes = attributes || cast(:said as jsonb) where position_id = :position"
            ),
            {"said": json.dumps({"in_cave": True}), "position": position_id},
        )
        found = {
            end: look(connection, position_id, "Inside", [end])[end].visible
            for end in ("I4", "J4", "I5", "J6", "G5")
        }
        assert found == dict.fromkeys(found, True)
        found = {
            end: look(connection, position_id, "Inside", [end])[end].visible
            for end in ("J2", "K4", "I3", "J1", "M6")
        }
        assert found == dict.fromkeys(found, False)
        for end in ("I4", "J6", "J2", "M6"):
            back = look(connection, position_id, end, ["Inside"])["Inside"]
            assert back.visible == look(connection, position_id, "Inside", [end])[end].visible
        # the two locations of the hex
        assert not look(connection, position_id, "J3", ["Inside"])["Inside"].visible
        assert look(connection, position_id, "J3", ["J1"])["J1"].visible
        # level with the ground before it: woods there hide it, though not the ground above it
        connection.execute(sa.text("update hex set terrain = 'woods' where label = 'J4'"))
        assert not look(connection, position_id, "J6", ["Inside"])["Inside"].visible
        assert look(connection, position_id, "J6", ["J3"])["J3"].visible
        assert ("43.4", "passes") in rules_of(connection, position_id, "J6", "Inside")


def test_a_cave_of_unknown_facing_is_asked_about(connection: Connection) -> None:
    middle = SCHEME.hex("C3")
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("A1", "E6")}
    )
    position = PositionDraft("bob", board)
    unit = BobUnit(id="Inside", at="C3", side="japan")
    position.units[unit.id] = unit, middle
    with Stored(connection, position) as position_id:
        connection.execute(
            sa.text("update unit set attributes = '{\"in_cave\": true}' where position_id = :position"),
            {"position": position_id},
        )
        assert rules_of(connection, position_id, "C5", "Inside")[-1] == ("14.0", "unknown")


# Ridges


def test_a_ridge_blocks_between_level_0_and_not_from_its_own_hexes(connection: Connection) -> None:
    """54.2: C4 and D4 are one ridge, C8 is another."""
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("A1", "E12")}
    )
    for label in ("C4", "D4", "C8"):
        board.hexes[SCHEME.hex(label)] = HexDraft("open_ground", 0, ("ridge",))
    board.hexes[SCHEME.hex("C1")] = HexDraft("open_ground", 1)
    with Stored(connection, PositionDraft("bob", board)) as position_id:

        def sees(start: str, target: str) -> bool:
            return look(connection, position_id, start, [target])[target].visible

        assert not sees("C2", "C6")
        assert not sees("C6", "C2")
        assert sees("C2", "C4")
        assert sees("C4", "C7")
        assert not sees("C4", "C10")
        assert sees("E5", "B3") is False
        assert sees("D4", "B3"), "over another hex of its own ridge"
        assert sees("C1", "C6"), "from a hill"
        assert ("54.2", "blocks") in rules_of(connection, position_id, "C2", "C6")


# What is remembered


def test_what_a_hex_sees_is_found_anew_when_artwork_changes(connection: Connection) -> None:
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("A1", "E8")}
    )
    x, y = centre(SCHEME.hex("C4"))
    board.areas = [AreaDraft("woods", (((x - 600, y - 512), (x + 600, y - 512), (x, y + 512)),))]
    with Stored(connection, PositionDraft("bob", board)) as position_id:
        query = sa.text("select label from positions.viewshed(:position, 'C2')")

        def remembered() -> set[str]:
            return set(connection.scalars(query, {"position": position_id}))

        assert "C6" not in remembered()
        assert remembered() == fan(connection, position_id, "C2", ruleset="bob").keys()
        connection.execute(sa.text("update terrain_area set terrain = 'wheat_field'"))
        assert "C6" in remembered()
        connection.execute(sa.text("update hex set level = 1 where label = 'C4'"))
        assert "C6" not in remembered()


# Smoke


def test_smoke_is_met_even_at_a_vertex_and_counts_once(connection: Connection) -> None:
    """48.0: the thread from C2 to D6 meets D3 and C5 in a corner point only."""
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("A1", "E8")}
    )
    position = PositionDraft("bob", board)
    position.markers = [MarkerDraft("smoke", SCHEME.hex("D3")), MarkerDraft("smoke", SCHEME.hex("D6"))]
    with Stored(connection, position) as position_id:
        assert rules_of(connection, position_id, "C2", "D6") == [
            ("48.0", "-1"),
            ("48.0", "passes"),
            ("14.0", "visible"),
        ]
        assert rules_of(connection, position_id, "A2", "A6") == [("14.0", "visible")]


# Reasons


def test_reasons_name_the_artwork_its_hex_and_its_place(connection: Connection) -> None:
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("A1", "E8")}
    )
    x, y = centre(SCHEME.hex("C4"))
    board.areas = [
        AreaDraft(
            "woods", (((x - 600, y - 512), (x + 600, y - 512), (x + 600, y + 512), (x - 600, y + 512)),)
        )
    ]
    with Stored(connection, PositionDraft("bob", board)) as position_id:
        note = connection.scalar(
            sa.text("select note from bob.los(:position, 'C2', 'C6') where effect = 'blocks'"),
            {"position": position_id},
        )
    assert note == "woods area 1 in C4 is higher than both ends, from 0.438 to 0.563 of the way"


def test_what_is_not_drawn_is_said_to_be_assumed_once(connection: Connection) -> None:
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("A1", "E8")}
    )
    board.hexes[SCHEME.hex("C4")] = HexDraft("woods", 0)
    with Stored(connection, PositionDraft("bob", board)) as position_id:
        effects = [effect for _, effect in rules_of(connection, position_id, "C2", "C6")]
        assert effects.count("assumed") == 1
        assert "assumed" not in [effect for _, effect in rules_of(connection, position_id, "A2", "A6")]


def test_no_line_from_or_to_what_is_not_there(connection: Connection) -> None:
    board = MapDraft(
        "bob", SCHEME, hexes={hex: HexDraft("open_ground", 0) for hex in SCHEME.rectangle("A1", "C3")}
    )
    with (
        Stored(connection, PositionDraft("bob", board)) as position_id,
        pytest.raises(sa.exc.DBAPIError, match="not on the map"),
    ):
        look(connection, position_id, "A1", ["Z9"])
