"""Sight in ccp: drawn terrain judged exactly, and what must hold of it on any ground."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from db.counters import CcpUnit
from db.labels import STEPS, Axial
from db.map_draft import GRID, AreaDraft, CrestDraft, HexDraft, Line, MapDraft, Point
from db.position_draft import MarkerDraft, PositionDraft
from tests.small_map import scheme_of
from tests.test_sight import Stored, bounded, demo

SCHEME = scheme_of("ccp")
OBSTACLES = ("jungle", "swamp", "building")
HINDRANCES = {"palm": 1, "bush": 2, "grass": 3, "hut": 4}
CORNERS = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
READINGS = {"ccp-7": "ab", "ccp-33": "ab", "ccp-34": "ab"}


class Sight(NamedTuple):
    """An answer of `los`."""

    visible: bool
    hindrance: int
    range: int
    blocked_by: frozenset[str]


def look(connection: Connection, position_id: int, viewer: str, targets: Iterable[str]) -> dict[str, Sight]:
    """What `los` says of each target."""
    query = sa.text(
        """
        select target.name,
          (array_agg(los.effect order by los.n desc))[1] as verdict,
          (array_agg(los.hindrance order by los.n desc))[1] as hindrance,
          (array_agg(los.range order by los.n desc))[1] as range,
          coalesce(array_agg(distinct los.at) filter (where los.effect = 'blocks' and los.at is not null), '{}') as at
        from unnest(cast(:targets as text[])) as target (name),
          lateral ccp.los(:position, :viewer, target.name) with ordinality
            as los (rule, clause, at, effect, note, point, range, hindrance, n)
        group by target.name
        """
    )
    rows = connection.execute(query, {"targets": list(targets), "position": position_id, "viewer": viewer})
    return {
        row.name: Sight(row.verdict == "visible", row.hindrance, row.range, frozenset(row.at)) for row in rows
    }


def steps(
    connection: Connection, position_id: int, viewer: str, target: str
) -> list[sa.Row[tuple[str, ...]]]:
    query = sa.text("select * from ccp.los(:position, :viewer, :target)")
    return list(connection.execute(query, {"position": position_id, "viewer": viewer, "target": target}))


def fan(connection: Connection, position_id: int, viewer: str, radius: int | None = None) -> dict[str, int]:
    query = sa.text("select label, range from ccp.fan(:position, :viewer, :radius)")
    rows = connection.execute(query, {"position": position_id, "viewer": viewer, "radius": radius}).all()
    assert len({row.label for row in rows}) == len(rows)
    return {row.label: row.range for row in rows}


# Exact plane geometry, in 1/1024 lattice unit; polygons are convex and turn one way


def centre(hex: Axial) -> Point:
    return 3 * GRID * hex.q, GRID * (2 * hex.r + hex.q)


def outline(hex: Axial) -> Line:
    x, y = centre(hex)
    return tuple((x + GRID * dx, y + GRID * dy) for dx, dy in CORNERS)


def turn(a: Point, b: Point, c: Point) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def edges(polygon: Line) -> Iterable[tuple[Point, Point]]:
    return zip(polygon, polygon[1:] + polygon[:1], strict=True)


def span(start: Point, end: Point, polygon: Line) -> tuple[Fraction, Fraction] | None:
    """Where along a segment a convex polygon is met, edges included: from 0 at its start to 1 at its end."""
    enter, leave = Fraction(0), Fraction(1)
    for a, b in edges(polygon):
        at_start, at_end = turn(a, b, start), turn(a, b, end)
        if at_start == at_end:
            if at_start < 0:
                return None
            continue
        crossing = Fraction(at_start, at_start - at_end)
        if at_end > at_start:
            enter = max(enter, crossing)
        else:
            leave = min(leave, crossing)
    return (enter, leave) if enter <= leave else None


def goes_inside(start: Point, end: Point, polygon: Line, first: Fraction, last: Fraction) -> bool:
    met = span(start, end, polygon)
    if met is None:
        return False
    enter, leave = max(met[0], first), min(met[1], last)
    if enter >= leave:
        return False
    middle = (enter + leave) / 2
    x, y = (s + (e - s) * middle for s, e in zip(start, end, strict=True))
    return all((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0 for a, b in edges(polygon))


def touches(start: Point, end: Point, polygon: Line, first: Fraction, last: Fraction) -> bool:
    met = span(start, end, polygon)
    return first < last and met is not None and met[0] < last and met[1] > first


def contains(polygon: Line, point: Point) -> bool:
    return all(turn(a, b, point) >= 0 for a, b in edges(polygon))


def between(viewer: Axial, target: Axial) -> tuple[Fraction, Fraction]:
    """Where the line leaves the hex of the one and enters that of the other."""
    leaves, enters = (span(centre(viewer), centre(target), outline(hex)) for hex in (viewer, target))
    assert leaves is not None
    assert enters is not None
    return leaves[1], enters[0]


# Random ground


def rectangle(columns: int, rows: int, start: str = "C3") -> list[Axial]:
    corner = SCHEME.hex(start)
    return [Axial(corner.q + q, corner.r + r - q // 2) for q in range(columns) for r in range(rows)]


def padded(hexes: list[Axial]) -> list[Axial]:
    """With a rim, so that no line between the hexes themselves leaves the map."""
    return list(dict.fromkeys(Axial(hex.q + dq, hex.r + dr) for hex in hexes for dq, dr in ((0, 0), *STEPS)))


def triangle(dice: random.Random, hexes: list[Axial], size: int) -> Line:
    """Three points near some hex, now and then on one of its corners or the middle of the map."""
    while True:
        hex = dice.choice(hexes)
        x, y = centre(hex)
        points = [
            dice.choice(outline(hex))
            if dice.random() < 0.2
            else (x + dice.randint(-size, size), y + dice.randint(-size, size))
            for _ in range(3)
        ]
        if dice.random() < 0.5:
            # on a straight line between two centres
            other = centre(dice.choice(hexes))
            part = Fraction(dice.randint(1, 7), 8)
            on_line = tuple(round(a + (b - a) * part) for a, b in zip((x, y), other, strict=True))
            points[0] = (on_line[0] + dice.randint(-1, 1), on_line[1] + dice.randint(-1, 1))
        a, b, c = points
        if turn(a, b, c) > 0:
            return a, b, c


def ground(
    hexes: Iterable[Axial] | dict[Axial, HexDraft],
    areas: Iterable[AreaDraft] = (),
    crests: Iterable[CrestDraft] = (),
) -> PositionDraft:
    """A position on hexes with their terrain and level, or on flat open ground."""
    facts = hexes if isinstance(hexes, dict) else {hex: HexDraft("open_ground", 0) for hex in hexes}
    return PositionDraft("ccp", MapDraft("ccp", SCHEME, hexes=facts, areas=list(areas), crests=list(crests)))


def label(hex: Axial) -> str:
    return SCHEME.label(hex)


def paint(seed: int) -> PositionDraft:
    """All that bears on sight, at random: terrain drawn and not, levels, crests, smoke, blazes, lights."""
    dice = random.Random(seed)
    hexes = rectangle(dice.randint(3, 7), dice.randint(3, 6))
    position = ground(hexes)
    board = position.board
    hilly = dice.random() < 0.6
    for hex in hexes:
        terrain = (
            dice.choice((*OBSTACLES, *HINDRANCES, "gully", "beach", "blaze"))
            if dice.random() < 0.3
            else "open_ground"
        )
        board.hexes[hex] = HexDraft(terrain, dice.choice((0, 0, 1, 1, 2, 3)) if hilly else 0)
    for _ in range(dice.randint(0, 6)):
        terrain = dice.choice((*OBSTACLES, *HINDRANCES))
        board.areas.append(AreaDraft(terrain, (triangle(dice, hexes, 2500),)))
    if hilly:
        for _ in range(dice.randint(0, 4)):
            ring = triangle(dice, hexes, 3000)
            board.crests.append(CrestDraft(dice.randint(1, 3), (*ring, ring[0])))
    for hex in dice.sample(hexes, k=dice.choice((0, 2, 5))):
        kind = dice.choice(("smoke", "smoke", "blaze", "starshell"))
        position.markers.append(MarkerDraft(kind, hex, value=dice.randint(1, 8) if kind == "smoke" else None))
    position.conditions = {"night": dice.random() < 0.3}
    position.policy = {
        point: dice.choice(letters) for point, letters in READINGS.items() if dice.random() < 0.4
    }
    return position


positions = st.builds(paint, st.integers(0, 2**32))


# Oracles


def foretell_flat(position: PositionDraft, viewer: Axial, target: Axial) -> tuple[bool, int]:
    """What is seen on flat ground, from the drawing alone; nothing fills a hex but smoke and blaze."""
    start, end = centre(viewer), centre(target)
    first, last = between(viewer, target)
    within = position.policy.get("ccp-34") == "b"
    meets: Callable[[Line], bool] = lambda polygon: (goes_inside if within else touches)(  # noqa: E731
        start, end, polygon, first, last
    )
    hindrance = [0]
    blocked = False
    for area in position.board.areas:
        if meets(area.rings[0]):
            blocked |= area.terrain in OBSTACLES
            hindrance.append(HINDRANCES.get(area.terrain, 0))
    for marker in position.markers:
        met = span(start, end, outline(marker.at))
        is_end = marker.at in (viewer, target)
        if met is None or (within and met[0] == met[1] and not is_end):
            continue
        if marker.kind == "smoke":
            hindrance.append(marker.value or 0)
        blocked |= marker.kind == "blaze" and not is_end
    return not blocked, max(hindrance)


def flat(seed: int) -> tuple[PositionDraft, list[Axial]]:
    """Flat ground with woods drawn at random, and the hexes to look from and at."""
    dice = random.Random(seed)
    hexes = rectangle(dice.randint(3, 7), dice.randint(3, 6))
    position = ground(padded(hexes))
    for _ in range(dice.randint(1, 9)):
        terrain = dice.choice((*OBSTACLES, *HINDRANCES))
        position.board.areas.append(AreaDraft(terrain, (triangle(dice, hexes, 1500),)))
    for hex in dice.sample(hexes, k=2):
        kind = dice.choice(("smoke", "blaze"))
        position.markers.append(MarkerDraft(kind, hex, value=dice.randint(1, 8) if kind == "smoke" else None))
    position.policy = {"ccp-34": dice.choice("ab")}
    return position, hexes


@bounded(25)
@given(seed=st.integers(0, 2**32))
def test_drawn_terrain_is_judged_as_exact_fractions_judge_it(connection: Connection, seed: int) -> None:
    position, hexes = flat(seed)
    with Stored(connection, position) as position_id:
        for viewer in random.Random(seed).sample(hexes, k=2):
            found = look(connection, position_id, label(viewer), map(label, hexes))
            for target in hexes:
                if target != viewer:
                    seen = found[label(target)]
                    wanted = foretell_flat(position, viewer, target)
                    assert (seen.visible, seen.hindrance) == wanted, (label(viewer), label(target))


def foretell_hills(levels: dict[Axial, int], hills: list[Line], viewer: Axial, target: Axial) -> bool:
    """What is seen over bare hills of level 1, each drawn with a crest line around it."""
    if levels[viewer] == levels[target] == 1:
        return True
    start, end = centre(viewer), centre(target)
    first, last = between(viewer, target)
    if any(touches(start, end, hill, first, last) for hill in hills):
        return False
    if levels[viewer] == levels[target]:
        return True
    # the ground where the line leaves the hex of the higher end; on a crest line it has left the hill
    leaves = first if levels[viewer] else last
    x, y = (s + (e - s) * leaves for s, e in zip(start, end, strict=True))
    return not any(
        all((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0 for a, b in edges(hill))
        for hill in hills
    )


@bounded(25)
@given(seed=st.integers(0, 2**32))
def test_crest_lines_are_judged_as_exact_fractions_judge_them(connection: Connection, seed: int) -> None:
    dice = random.Random(seed)
    hexes = rectangle(dice.randint(3, 7), dice.randint(3, 6))
    hills: list[Line] = []
    for _ in range(dice.randint(1, 5)):
        hill = triangle(dice, hexes, 5000)
        apart = all(
            not contains(other, point) and span(a, b, other) is None
            for other in hills
            for point in hill
            for a, b in edges(hill)
        ) and not any(contains(hill, point) for other in hills for point in other)
        dots = [centre(hex) for hex in padded(hexes)]
        if apart and all(turn(a, b, dot) != 0 for a, b in edges(hill) for dot in dots):
            hills.append(hill)
    levels = {hex: int(any(contains(hill, centre(hex)) for hill in hills)) for hex in padded(hexes)}
    position = ground(
        {hex: HexDraft("open_ground", level) for hex, level in levels.items()},
        crests=[CrestDraft(1, (*hill, hill[0])) for hill in hills],
    )
    with Stored(connection, position) as position_id:
        for viewer in dice.sample(hexes, k=2):
            found = look(connection, position_id, label(viewer), map(label, hexes))
            for target in hexes:
                if target != viewer:
                    wanted = foretell_hills(levels, hills, viewer, target)
                    assert found[label(target)].visible is wanted, (label(viewer), label(target))


# The last unit


@pytest.mark.parametrize("target", ["C6", "G5", "H9", "E8", "M4"])
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("reading", ["a", "b"])
def test_one_unit_decides_between_touching_and_crossing(
    connection: Connection, target: str, side: int, reading: str
) -> None:
    """A small wood beside the string: a unit away, on it, and a unit across it."""
    viewer, seen = SCHEME.hex("C2"), SCHEME.hex(target)
    hexes = rectangle(12, 9, "C1")
    start, end = centre(viewer), centre(seen)
    # the string passes this point of the grid, or comes as near as the grid allows
    middle = ((start[0] + end[0]) // 2, (start[1] + end[1]) // 2)
    for shift in (-1, 0, 1):
        tip = (middle[0], middle[1] + shift * side)
        wood: Line = (tip, (tip[0] - 90, tip[1] + 200 * side), (tip[0] + 90, tip[1] + 200 * side))
        if side < 0:
            wood = wood[::-1]
        wood = wood if turn(*wood) > 0 else wood[::-1]
        position = ground(hexes, areas=[AreaDraft("jungle", (wood,))])
        position.policy = {"ccp-34": reading}
        with Stored(connection, position) as position_id:
            found = look(connection, position_id, "C2", [target])[target]
        assert found.visible is foretell_flat(position, viewer, seen)[0], shift


def test_a_wood_up_to_the_side_of_an_end_hex_is_in_that_hex(connection: Connection) -> None:
    hexes = rectangle(3, 6, "C1")
    for grown, visible in ((0, True), (1, False)):
        x, y = centre(SCHEME.hex("C3"))
        wood = ((x - 300, y), (x + 300, y), (x + 300, y + GRID + grown), (x - 300, y + GRID + grown))
        position = ground(hexes, areas=[AreaDraft("jungle", (wood,))])
        with Stored(connection, position) as position_id:
            assert look(connection, position_id, "C3", ["C6"])["C6"].visible is visible


@bounded(10)
@given(seed=st.integers(0, 2**32))
def test_a_hex_drawn_to_its_edges_is_a_hex_taken_as_filled(connection: Connection, seed: int) -> None:
    dice = random.Random(seed)
    hexes = rectangle(6, 6)
    kinds = {hex: dice.choice(("jungle", "grass", *["open_ground"] * 4)) for hex in hexes}
    levels = {hex: dice.choice((0, 0, 1)) for hex in hexes}
    undrawn = ground({hex: HexDraft(kinds[hex], levels[hex]) for hex in hexes})
    drawn = ground(
        undrawn.board.hexes,
        areas=[AreaDraft(kind, (outline(hex),)) for hex, kind in kinds.items() if kind != "open_ground"],
    )
    viewer = label(dice.choice(hexes))
    answers = []
    for position in (undrawn, drawn):
        with Stored(connection, position) as position_id:
            answers.append(look(connection, position_id, viewer, map(label, hexes)))
    assert answers[0] == answers[1]


# Fan and line


@bounded(10)
@given(position=positions, radius=st.one_of(st.none(), st.integers(1, 9)))
def test_fan_sees_what_los_sees(connection: Connection, position: PositionDraft, radius: int | None) -> None:
    hexes = list(position.board.hexes)
    viewer = label(random.Random(len(hexes)).choice(hexes))
    with Stored(connection, position) as position_id:
        found = look(connection, position_id, viewer, map(label, hexes))
        assert fan(connection, position_id, viewer, radius) == {
            name: seen.range
            for name, seen in found.items()
            if seen.visible and 0 < seen.range <= (radius or 99)
        }


@pytest.mark.parametrize("seed", range(40))
def test_who_looks_around_sees_what_it_sees_of_the_whole_map(connection: Connection, seed: int) -> None:
    """Within 8 hexes a fan is found as sets of hexes, beyond line by line."""
    dice = random.Random(seed)
    position = paint(seed)
    board = position.board
    position.policy = {"ccp-7": dice.choice("ab")}
    viewer = dice.choice(sorted(board.hexes))
    # lines leave the map: through a hex that is not there, along a side between two
    for hex in dice.sample(sorted(board.hexes), k=len(board.hexes) // 5):
        if hex != viewer and not any(marker.at == hex for marker in position.markers):
            del board.hexes[hex]
    board.hexes[viewer] = HexDraft(dice.choice(("gully", "open_ground", "jungle")), dice.randint(0, 2))
    board.areas.append(AreaDraft("blaze", (triangle(dice, list(board.hexes), 1500),)))
    # woods as wide as some hexes: lines begin inside of them, or come into them over ground that is lower
    for _ in range(2):
        board.areas.append(AreaDraft(dice.choice(OBSTACLES), (triangle(dice, [viewer], 5000),)))
        gully = dice.choice(sorted(board.hexes))
        board.hexes[gully] = HexDraft("gully", board.hexes[gully].level)
    flier = CcpUnit(id="Corsair", at=label(viewer), side="allied", kind="aircraft")
    position.units["Corsair"] = flier, viewer
    with Stored(connection, position) as position_id:
        for name in (label(viewer), "Corsair"):
            whole = fan(connection, position_id, name)
            seen = look(connection, position_id, name, map(label, board.hexes))
            assert set(whole) == {other for other, one in seen.items() if one.visible and one.range > 0}
            for radius in range(10):
                near = {name: away for name, away in whole.items() if away <= radius}
                assert fan(connection, position_id, name, radius) == near, (name, radius)


@pytest.mark.parametrize("policy", [{}, {"ccp-7": "b", "ccp-33": "b", "ccp-34": "b"}])
def test_fan_sees_what_los_sees_on_the_kokoda_track(connection: Connection, policy: dict[str, str]) -> None:
    position = PositionDraft("ccp", demo("kokoda-track"), policy=policy)
    labels = [label(hex) for hex in position.board.hexes]
    dice = random.Random(5)
    with Stored(connection, position) as position_id:
        connection.execute(sa.text("analyze hex, terrain_area, crest, marker, position"))
        for viewer in dice.sample(labels, k=4):
            targets = dice.sample(labels, k=30)
            found = look(connection, position_id, viewer, targets)
            seen = {name: one.range for name, one in found.items() if one.visible and one.range > 0}
            fanned = fan(connection, position_id, viewer)
            assert {name: away for name, away in fanned.items() if name in targets} == seen


# Both ways


@bounded(10)
@given(position=positions)
def test_whoever_is_seen_sees(connection: Connection, position: PositionDraft) -> None:
    """16.1; only the hindrance of the night is another into the light (7.2)."""
    hexes = list(position.board.hexes)
    dark = position.conditions["night"]
    viewer = random.Random(len(hexes)).choice(hexes)
    unit = CcpUnit(id="Inside", at=label(viewer), side="japan", in_cave=True)
    position.units["Inside"] = unit, viewer
    with Stored(connection, position) as position_id:
        for name in (label(viewer), "Inside"):
            there = look(connection, position_id, name, map(label, hexes))
            for hex in hexes:
                back = look(connection, position_id, label(hex), [name])[name]
                there_one = there[label(hex)]
                assert there_one.visible is back.visible, (name, label(hex))
                assert there_one.blocked_by == back.blocked_by, (name, label(hex))
                assert dark or there_one.hindrance == back.hindrance, (name, label(hex))


# Moved and turned


class Motion(NamedTuple):
    """A motion of the lattice onto itself."""

    hex: Callable[[Axial], Axial]
    point: Callable[[Point], Point]
    mirrors: bool = False


MOTIONS = {
    "shifted": Motion(lambda h: Axial(h.q + 2, h.r + 1), lambda p: (p[0] + 6 * GRID, p[1] + 4 * GRID)),
    "shifted by a column": Motion(lambda h: Axial(h.q + 1, h.r), lambda p: (p[0] + 3 * GRID, p[1] + GRID)),
    "mirrored": Motion(
        lambda h: Axial(12 - h.q, h.r + h.q - 6), lambda p: (36 * GRID - p[0], p[1]), mirrors=True
    ),
    "turned half round": Motion(
        lambda h: Axial(12 - h.q, 4 - h.r), lambda p: (36 * GRID - p[0], 20 * GRID - p[1])
    ),
}


def moved(position: PositionDraft, motion: Motion) -> PositionDraft:
    board = position.board
    hexes = {motion.hex(hex): facts for hex, facts in board.hexes.items()}
    areas = [
        AreaDraft(area.terrain, tuple(tuple(map(motion.point, ring)) for ring in area.rings))
        for area in board.areas
    ]
    crests = [CrestDraft(crest.level, tuple(map(motion.point, crest.line))) for crest in board.crests]
    markers = [dataclasses.replace(marker, at=motion.hex(marker.at)) for marker in position.markers]
    return dataclasses.replace(
        position, board=dataclasses.replace(board, hexes=hexes, areas=areas, crests=crests), markers=markers
    )


@bounded(10)
@given(position=positions, name=st.sampled_from(sorted(MOTIONS)))
def test_moving_or_mirroring_the_whole_map_changes_nothing(
    connection: Connection, position: PositionDraft, name: str
) -> None:
    motion = MOTIONS[name]
    hexes = list(position.board.hexes)
    viewer = random.Random(len(hexes)).choice(hexes)
    with Stored(connection, position) as position_id:
        before = look(connection, position_id, label(viewer), map(label, hexes))
    with Stored(connection, moved(position, motion)) as position_id:
        after = look(
            connection, position_id, label(motion.hex(viewer)), [label(motion.hex(hex)) for hex in hexes]
        )
    for hex in hexes:
        old, new = before[label(hex)], after[label(motion.hex(hex))]
        assert (old.visible, old.hindrance, old.range) == (new.visible, new.hindrance, new.range), label(hex)


@bounded(10)
@given(position=positions)
def test_only_what_the_line_meets_matters(connection: Connection, position: PositionDraft) -> None:
    hexes = list(position.board.hexes)
    dice = random.Random(len(hexes))
    pairs = [(dice.choice(hexes), dice.choice(hexes)) for _ in range(6)]
    for viewer, target in pairs:
        start, end = centre(viewer), centre(target)
        met = {hex: facts for hex, facts in position.board.hexes.items() if span(start, end, outline(hex))}
        bare = dataclasses.replace(
            position,
            board=dataclasses.replace(position.board, hexes=met),
            markers=[marker for marker in position.markers if marker.at in met or marker.kind == "starshell"],
        )
        lights = {marker.at for marker in bare.markers}
        bare.board.hexes |= {hex: position.board.hexes[hex] for hex in lights}
        answers = []
        for one in (position, bare):
            with Stored(connection, one) as position_id:
                answers.append(look(connection, position_id, label(viewer), [label(target)]))
        assert answers[0] == answers[1], (label(viewer), label(target))


# What is told


def test_reasons_name_the_artwork_and_where_it_lies(connection: Connection) -> None:
    x, y = centre(SCHEME.hex("C4"))
    wood = ((x - 200, y - 200), (x + 200, y - 200), (x + 200, y + 200), (x - 200, y + 200))
    position = ground(
        rectangle(2, 6, "C1"),
        areas=[AreaDraft("palm", (((0, 0), (9, 0), (0, 9)),)), AreaDraft("jungle", (wood,))],
    )
    with Stored(connection, position) as position_id:
        rows = steps(connection, position_id, "C2", "C6")
    assert [(row.rule, row.at, row.effect, row.note) for row in rows[:-1]] == [
        ("16.2.1", "C4", "blocks", "jungle area 2 in C4, from 3/8 to 5/8 of the way")
    ]
    assert rows[-1].effect == "blocked"


def test_what_is_not_drawn_is_told_once_as_assumed(connection: Connection) -> None:
    hexes = rectangle(2, 6, "C1")
    position = ground(hexes)
    position.board.hexes[SCHEME.hex("C4")] = HexDraft("grass", 0)
    with Stored(connection, position) as position_id:
        rows = steps(connection, position_id, "C2", "C6")
    assert [(row.at, row.effect) for row in rows] == [("C4", "3"), ("C4", "assumed"), ("C6", "visible")]
    assert rows[-1].hindrance == 3


def test_an_aircraft_looks_from_level_five(connection: Connection) -> None:
    """O24.4, O24.5: over every hill and wood, but not into a blind hex, nor through fire and smoke."""
    position = ground(rectangle(5, 9, "C1"))
    terrain = {"C3": ("jungle", 4), "C5": ("building", 0), "C8": ("grass", 0), "C9": ("gully", 0)}
    for name, (kind, level) in terrain.items():
        position.board.hexes[SCHEME.hex(name)] = HexDraft(kind, level)
    for name, at in {"Corsair": "C1", "Zero": "E1", "Val": "G1"}.items():
        position.units[name] = CcpUnit(id=name, at=at, side="allied"), SCHEME.hex(at)
    position.markers = [
        MarkerDraft("blaze", SCHEME.hex("E3")), MarkerDraft("smoke", SCHEME.hex("G3"), value=7),
    ]  # fmt: skip
    with Stored(connection, position) as position_id:
        grounded = look(connection, position_id, "Corsair", ["C7"])
        connection.execute(
            sa.text("update unit set kind = 'aircraft' where position_id = :id"), {"id": position_id}
        )
        over = look(connection, position_id, "Corsair", ["C2", "C3", "C4", "C5", "C6", "C7", "C9"])
        assert not look(connection, position_id, "Zero", ["E5"])["E5"].visible
        assert look(connection, position_id, "Val", ["G5"])["G5"][:2] == (True, 7)
    assert not grounded["C7"].visible
    assert {name for name, seen in over.items() if not seen.visible} == {"C4", "C6"}
    assert {seen.hindrance for seen in over.values()} == {0}


def test_somebody_who_is_not_there_is_not_seen(connection: Connection) -> None:
    with (
        Stored(connection, ground(rectangle(2, 2))) as position_id,
        pytest.raises(sa.exc.DBAPIError, match="not on"),
    ):
        steps(connection, position_id, "C3", "Nobody")
