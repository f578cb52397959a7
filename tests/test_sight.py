"""Sight: what must hold of it on any ground, drawn at random and on the demo maps."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import random
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection

from db.counters import CssUnit
from db.labels import STEPS, Axial
from db.map_draft import HexDraft, MapDraft
from db.position_draft import MarkerDraft, PositionDraft
from importers.cases import store_position
from importers.documents import Problems
from importers.map_formats import read_written
from tests.oracle_css import (
    BARRAGES,
    DEFAULTS,
    Board,
    Cell,
    Ground,
    distance,
    doubled,
    halves,
    judge,
    trace,
)
from tests.small_map import scheme_of

MAPS = Path(__file__).resolve().parent.parent / "db" / "demo" / "maps"
SCHEME = scheme_of("css")
CORNER = Axial(*SCHEME.hex("30.30"))
"""Where random boards begin, far from the end of the labels."""

TERRAIN = ("clear",) * 8 + (
    "beach", "rocky", "rocky", "brush", "brush", "brush", "rice_paddy", "rice_paddy", "town", "swamp",
    "tropical_forest", "sugar_cane",
)  # fmt: skip
SIDES = ("slope", "steep_slope", "steep_slope", "ridge", "cliff", "cliff", "stream", "river", "ravine")
MARKERS = (
    "smoke_barrage", "heavy_barrage", "bombardment", "on_fire", "fire_cleared", "illumination", "dg",
)  # fmt: skip
ANALYZE = sa.text("analyze hex, hexside, marker, position, css_ground")
READINGS = {"css-11": "abc", "css-12": "ab", "css-43": "ab", "css-44": "abc", "css-54": "ab", "css-62": "ab"}


def bounded(examples: int) -> settings:
    """So many examples; a failure is shown as it was found, since a position is read easily enough."""
    return settings(
        max_examples=examples,
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=[
            HealthCheck.function_scoped_fixture,
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
        ],
    )


# Random positions


def around(cell: Cell) -> Iterable[tuple[Cell, Cell]]:
    """Its neighbours with the sides toward them."""
    for dq, dr in STEPS:
        yield (cell[0] + dq, cell[1] + dr), (2 * cell[0] + dq, 2 * cell[1] + dr)


def paint(seed: int, size: tuple[int, int]) -> Board:
    """A board with all that bears on sight, from a seed."""
    dice = random.Random(seed)
    flat = dice.random() < 0.4
    cells = [(CORNER.q + q, CORNER.r + r - q // 2) for q in range(size[0]) for r in range(size[1])]
    if dice.random() < 0.2:
        cells.remove(dice.choice(cells))
    hexes = {}
    for cell in cells:
        terrain = dice.choice(TERRAIN) if dice.random() < 0.7 else "clear"
        level = 2 if flat and dice.random() < 0.85 else dice.choice((1, 1, 2, 2, 3, 4))
        hexes[cell] = Ground(terrain, level, dice.random() < 0.05)
    sides: dict[Cell, frozenset[str]] = {}
    share = dice.choice((0.0, 0.04, 0.12))
    for cell in cells:
        for _, side in around(cell):
            if dice.random() < share:
                sides[side] = sides.get(side, frozenset()) | {dice.choice(SIDES)}
    markers: dict[Cell, frozenset[str]] = {}
    for cell in dice.sample(cells, k=dice.choice((0, 2, 6))):
        markers[cell] = markers.get(cell, frozenset()) | {dice.choice(MARKERS)}
    return Board(
        hexes,
        sides,
        markers,
        {
            "weather": dice.choice(("clear", "clear", "rain", "hot")),
            "time": dice.choice(("day", "day", "night")),
        },
        {point: dice.choice(letters) for point, letters in READINGS.items() if dice.random() < 0.3},
    )


def row(*grounds: Ground, sides: dict[Cell, str] | None = None, smoke: Collection[Cell] = ()) -> Board:
    """A small board along the line that runs over spines: a hex, the two of a spine, a hex, and so on."""
    steps = [(0, 0), (1, -1), (1, 0), (2, -1), (3, -2), (3, -1), (4, -2)]
    corner = 2 * CORNER.q, 2 * CORNER.r
    return Board(
        {(CORNER.q + q, CORNER.r + r): ground for (q, r), ground in zip(steps, grounds, strict=False)},
        {(corner[0] + x, corner[1] + y): frozenset({kind}) for (x, y), kind in (sides or {}).items()},
        {(CORNER.q + q, CORNER.r + r): frozenset({"smoke_barrage"}) for q, r in smoke},
    )


OPEN, CANE, BRUSH = Ground(), Ground("sugar_cane"), Ground("brush")
CANE_BY_BRUSH = row(OPEN, CANE, BRUSH, OPEN)
CANE_BY_PADDY = row(OPEN, CANE, Ground("rice_paddy"), BRUSH, OPEN, OPEN, OPEN)
CANE_THAT_IS_BRUSH_BY_PADDY = dataclasses.replace(CANE_BY_PADDY, policy={"css-54": "b"})
SMOKE_BY_BRUSH = row(OPEN, CANE, BRUSH, OPEN, smoke=[(1, -1)])
CLIFF_BY_A_CORNER = row(*[OPEN] * 7, sides={(3, -1): "cliff"})
BRUSH_ON_A_HEIGHT = Board(
    {
        (CORNER.q, CORNER.r + n): ground
        for n, ground in enumerate((Ground(level=4), OPEN, Ground("brush", 4), OPEN))
    },
    {(2 * CORNER.q, 2 * CORNER.r + 1): frozenset({"steep_slope"})},
)
CANE_FROM_ABOVE = dataclasses.replace(
    row(
        Ground(level=2), Ground(level=1), Ground(level=2), Ground("sugar_cane", 2), Ground(level=2),
        sides={(1, -1): "steep_slope"},
    ),
    policy={"css-44": "b"},
)  # fmt: skip
UNDER_SMOKE = Board(
    {(CORNER.q, CORNER.r + n): OPEN for n in range(4)},
    {},
    {(CORNER.q, CORNER.r + 1): frozenset({"smoke_barrage"})},
    {},
    {"css-11": "c"},
)
"""Positions that were ruled or told wrongly once."""

boards = st.builds(paint, st.integers(0, 2**32), st.tuples(st.integers(3, 9), st.integers(3, 9)))


def cave_unit(cell: Cell) -> str:
    return f"in {SCHEME.label(cell)}"


def draft(board: Board) -> PositionDraft:
    ground = MapDraft(
        "css",
        SCHEME,
        hexes={
            Axial(*cell): HexDraft(hex.terrain, hex.level, ("cave",) if hex.cave else ())
            for cell, hex in board.hexes.items()
        },
        hexsides={(*side, kind) for side, kinds in board.sides.items() for kind in kinds},
    )
    position = PositionDraft("css", ground, conditions=dict(board.conditions), policy=dict(board.policy))
    for cell, hex in board.hexes.items():
        if hex.cave:
            unit = CssUnit(id=cave_unit(cell), at=SCHEME.label(cell), side="japan", in_cave=True)
            position.units[unit.id] = unit, Axial(*cell)
    position.markers = [
        MarkerDraft(kind, Axial(*cell), value=1 if kind == "dg" else None)
        for cell, kinds in board.markers.items()
        for kind in kinds
    ]
    return position


class Place(NamedTuple):
    """A hex, or a unit inside the cave in it."""

    name: str
    cell: Cell
    inside: bool


class Seen(NamedTuple):
    """An answer of `los`."""

    visible: bool | None
    range: int
    blocked_by: frozenset[str]


def look(
    connection: Connection, position_id: int, viewer: str, targets: Iterable[Place], ruleset: str = "css"
) -> dict[str, Seen]:
    """What `los` says of each target."""
    query = sa.text(
        f"""
        select target.name,
          (array_agg(los.effect order by los.n desc))[1] as verdict,
          (array_agg(los.range order by los.n desc))[1] as range,
          coalesce(array_agg(distinct los.at) filter (where los.effect = 'blocks' and los.at is not null), '{{}}') as at
        from unnest(cast(:targets as text[])) as target (name),
          lateral {ruleset}.los(:position, :viewer, target.name) with ordinality
            as los (rule, clause, at, effect, note, point, range, hindrance, n)
        group by target.name
        """
    )
    words = {"visible": True, "blocked": False, "unknown": None}
    rows = connection.execute(
        query, {"targets": [target.name for target in targets], "position": position_id, "viewer": viewer}
    )
    return {row.name: Seen(words[row.verdict], row.range, frozenset(row.at)) for row in rows}


def fan(
    connection: Connection, position_id: int, viewer: str, radius: int | None = None, ruleset: str = "css"
) -> dict[str, int]:
    """Labels and ranges of all that `fan` sees."""
    query = sa.text(f"select label, range from {ruleset}.fan(:position, :viewer, :radius)")
    rows = connection.execute(query, {"position": position_id, "viewer": viewer, "radius": radius}).all()
    assert len({row.label for row in rows}) == len(rows)
    return {row.label: row.range for row in rows}


class Stored:
    """A position in the database for the length of a `with`."""

    def __init__(self, connection: Connection, position: PositionDraft) -> None:
        self.connection = connection
        self.position = position

    def __enter__(self) -> int:
        self.savepoint = self.connection.begin_nested()
        return store_position(self.connection, self.position)

    def __exit__(self, *_: object) -> None:
        self.savepoint.rollback()


def place_label(board: Board, place: Cell) -> str:
    """How a ruling names a doubled cell: by the hexes of it that are on the map."""
    cells = [(place[0] // 2, place[1] // 2)] if place[0] % 2 == place[1] % 2 == 0 else halves(place)
    return "|".join(sorted(SCHEME.label(cell) for cell in cells if cell in board.hexes))


def foretell(board: Board, start: Place, target: Place) -> Seen:
    """The answer of the oracle, in the words of `los`."""
    verdict = judge(board, start.cell, target.cell, start.inside, target.inside)
    far = distance(start.cell, target.cell)
    ends = {doubled(end.cell): end.name for end in (start, target)}
    names = {ends.get(place) or place_label(board, place) for place in verdict.blocked_by}
    return Seen(
        verdict.visible,
        1 if far == 0 and start.inside != target.inside else far,
        frozenset(names - {""}),
    )


def places(board: Board, count: int = 1000) -> list[Place]:
    """So many hexes to look from or at, in any order, and two of the units inside caves."""
    hexes = [Place(SCHEME.label(cell), cell, False) for cell in board.hexes]
    caves = [Place(cave_unit(cell), cell, True) for cell, hex in board.hexes.items() if hex.cave]
    return random.Random(count).sample(hexes, k=min(count, len(hexes))) + caves[:2]


def starts(board: Board, count: int) -> list[Place]:
    """From so many hexes of a large board, and from all of a small one."""
    return places(board, count if len(board.hexes) > 8 else 8)


# The oracle


@bounded(120)
@given(board=boards)
@example(board=CANE_BY_BRUSH)
@example(board=SMOKE_BY_BRUSH)
@example(board=CLIFF_BY_A_CORNER)
@example(board=BRUSH_ON_A_HEIGHT)
def test_los_rules_as_the_oracle_does(connection: Connection, board: Board) -> None:
    targets = places(board)
    with Stored(connection, draft(board)) as position_id:
        for start in starts(board, 2):
            found = look(connection, position_id, start.name, targets)
            for target in targets:
                assert found[target.name] == foretell(board, start, target), (start.name, target.name)


def test_a_side_with_two_features_is_met_at_its_end_once(connection: Connection) -> None:
    """Each feature speaks for itself, but that the line grazes the side is told a single time."""
    board = row(*[OPEN] * 7)
    side = 2 * CORNER.q + 3, 2 * CORNER.r - 1
    board = dataclasses.replace(board, sides={side: frozenset({"cliff", "steep_slope"})})
    with Stored(connection, draft(board)) as position_id:
        ends = [SCHEME.label((CORNER.q + q, CORNER.r + r)) for q, r in ((0, 0), (4, -2))]
        told = connection.execute(
            sa.text("select at, effect, note from css.los(:position, :viewer, :target)"),
            {"position": position_id, "viewer": ends[0], "target": ends[1]},
        ).all()
    name = place_label(board, side)
    assert [(told_of.effect, told_of.note) for told_of in told if told_of.at == name] == [
        ("graze", "the line meets this side at its end"),
        ("passes", "a cliff that does not hide what lies beyond"),
        ("passes", "a steep slope that does not hide what lies beyond"),
    ]


# Fan and line


@bounded(50)
@given(board=boards, radius=st.one_of(st.none(), st.integers(0, 9)))
@example(board=UNDER_SMOKE, radius=None)
def test_fan_sees_what_los_sees(connection: Connection, board: Board, radius: int | None) -> None:
    targets = [place for place in places(board) if not place.inside]
    with Stored(connection, draft(board)) as position_id:
        for start in places(board, 1):
            found = look(connection, position_id, start.name, targets)
            assert fan(connection, position_id, start.name, radius) == {
                target.name: found[target.name].range
                for target in targets
                if found[target.name].visible
                and target.cell != start.cell
                and found[target.name].range <= (8 if radius is None else radius)
            }


@functools.cache
def demo(name: str) -> MapDraft:
    problems = Problems()
    found = read_written(MAPS / f"{name}.yaml", problems)
    problems.raise_if_any()
    assert found is not None
    return dataclasses.replace(found, name=None)


def crop(ground: MapDraft, middle: str, reach: int) -> MapDraft:
    """What lies around a hex."""
    centre = ground.scheme.hex(middle)
    hexes = {place: hex for place, hex in ground.hexes.items() if place.distance(centre) <= reach}
    sides = {side for side in ground.hexsides if any(Axial(*hex) in hexes for hex in halves(side[:2]))}
    return MapDraft(ground.ruleset, ground.scheme, hexes=hexes, hexsides=sides)


def strewn(ground: MapDraft, **facts: dict[str, str]) -> PositionDraft:
    """A position on a demo map, with barrages, fires and lights strewn over it."""
    position = PositionDraft(ground.ruleset, ground)
    position.conditions = facts.get("conditions", {})
    position.policy = facts.get("policy", {})
    dice = random.Random(17)
    if ground.ruleset == "css":
        for kind in ("smoke_barrage", "heavy_barrage", "bombardment", "on_fire", "illumination"):
            for place in dice.sample(sorted(ground.hexes), k=len(ground.hexes) // 60):
                position.markers.append(MarkerDraft(kind, place))
    return position


def place_of(ground: MapDraft, hex: Axial) -> Place:
    return Place(ground.scheme.label(hex), hex, False)


def near(ground: MapDraft, hex: Axial, reach: int) -> list[Place]:
    return [place_of(ground, other) for other in ground.hexes if 0 < hex.distance(other) <= reach]


@pytest.mark.parametrize(
    ("name", "count", "facts"),
    [
        ("pagasa-coast", 20, {}),
        ("pagasa-coast", 10, {"conditions": {"time": "night"}, "policy": {"css-11": "a", "css-62": "b"}}),
        ("campaign-island", 12, {"policy": {"css-44": "b", "css-43": "a"}}),
    ],
)
def test_fan_sees_what_los_sees_on_the_demo_maps(
    connection: Connection, name: str, count: int, facts: dict[str, dict[str, str]]
) -> None:
    ground = demo(name)
    with Stored(connection, strewn(ground, **facts)) as position_id:
        connection.execute(ANALYZE)
        for hex in random.Random(3).sample(sorted(ground.hexes), k=count):
            viewer = ground.scheme.label(hex)
            found = look(connection, position_id, viewer, near(ground, hex, 9))
            assert fan(connection, position_id, viewer) == {
                label: seen.range for label, seen in found.items() if seen.visible
            }


@pytest.mark.parametrize("reading", ["a", "b"])
def test_ranged_fire_goes_over_what_is_open_on_orange_beach(connection: Connection, reading: str) -> None:
    """The fan is what the lines say, and the lines are what the terrain between says."""
    ground = demo("orange-beach")
    with Stored(connection, strewn(ground, policy={"ddp-38": reading})) as position_id:
        connection.execute(ANALYZE)
        for hex in random.Random(5).sample(sorted(ground.hexes), k=50):
            viewer = ground.scheme.label(hex)
            found = look(connection, position_id, viewer, near(ground, hex, 3), "ddp")
            fired = fan(connection, position_id, viewer, ruleset="ddp")
            assert fired == {label: seen.range for label, seen in found.items() if seen.visible}
            for target in near(ground, hex, 2):
                closed = [
                    ground.hexes[other].terrain in ("jungle", "mountain")
                    for other in ground.hexes
                    if hex.distance(other) == distance(other, target.cell) == 1
                ]
                adjacent = distance(hex, target.cell) == 1
                open_ = adjacent or not (all(closed) if reading == "a" else any(closed))
                assert (target.name in fired) is open_, (viewer, target.name)


# Both ways


def one_way(connection: Connection, position_id: int) -> set[tuple[str, str]]:
    """Pairs of hexes of which the first sees the second, but not the second the first."""
    query = """
        with seen as materialized (
          select hex.label as viewer, fan.label as target
          from position join hex on hex.map_id = position.map_id, lateral {}.fan(position.id, hex.label) as fan
          where position.id = :position
        )
        select *, (select count(*) from seen) as pairs
        from (select viewer, target from seen except select target, viewer from seen) as one_way
        right join (values (1)) as always on true
    """
    ruleset = connection.scalar(sa.text("select ruleset from position where id = :id"), {"id": position_id})
    connection.execute(ANALYZE)
    rows = connection.execute(sa.text(query.format(ruleset)), {"position": position_id}).all()
    assert rows[0].pairs > 500
    return {(row.viewer, row.target) for row in rows if row.viewer is not None}


def marked(position: PositionDraft, kinds: Collection[str]) -> set[str]:
    return {position.board.scheme.label(marker.at) for marker in position.markers if marker.kind in kinds}


@pytest.mark.parametrize("name", ["pagasa-coast", "campaign-island", "orange-beach"])
def test_whoever_is_seen_sees(connection: Connection, name: str) -> None:
    """Over all pairs of hexes of a demo map."""
    with Stored(connection, strewn(demo(name))) as position_id:
        assert one_way(connection, position_id) == set()


def test_only_out_of_a_barrage_is_less_seen_than_into_it(connection: Connection) -> None:
    """The first exception: css-11 a limits who is under the marker, not those who look at it."""
    position = strewn(crop(demo("pagasa-coast"), "12.15", 6), policy={"css-11": "a"})
    under = marked(position, BARRAGES)
    with Stored(connection, position) as position_id:
        found = one_way(connection, position_id)
        assert found
        assert all(target in under and viewer not in under for viewer, target in found)


def test_only_a_light_is_seen_from_the_dark_and_not_back(connection: Connection) -> None:
    """The second exception: at night a lit hex is seen as by day, but not the dark from it."""
    position = strewn(crop(demo("pagasa-coast"), "12.15", 6), conditions={"time": "night"})
    lit = marked(position, {"illumination"})
    with Stored(connection, position) as position_id:
        found = one_way(connection, position_id)
        assert found
        assert all(target in lit and viewer not in lit for viewer, target in found)


@bounded(40)
@given(board=boards)
def test_whoever_is_seen_sees_on_any_ground(connection: Connection, board: Board) -> None:
    """Inside caves too; the same line is stopped both ways, or neither."""
    board = dataclasses.replace(board, policy=board.policy | {"css-11": "b"}, conditions={})
    ends = places(board, 8)
    with Stored(connection, draft(board)) as position_id:
        answers = {end.name: look(connection, position_id, end.name, ends) for end in ends}
    for one, other in itertools.combinations(answers, 2):
        forth, back = answers[one][other], answers[other][one]
        assert (forth.visible, forth.range) == (back.visible, back.range), (one, other)
        assert bool(forth.blocked_by) == bool(back.blocked_by), (one, other)


# What the map's shape and place do not change


class Moved(NamedTuple):
    """A board turned, mirrored and shifted: one of the lattice's twelve symmetries and a step."""

    turns: int
    mirrored: bool
    by: Cell

    def turn(self, cell: Cell) -> Cell:
        q, r = cell
        for _ in range(self.turns):
            q, r = -r, q + r
        return (r, q) if self.mirrored else (q, r)

    def hex(self, cell: Cell) -> Cell:
        # turned about the first hex, so that it stays among the labels
        q, r = self.turn((cell[0] - CORNER.q, cell[1] - CORNER.r))
        return q + CORNER.q + self.by[0], r + CORNER.r + self.by[1]

    def side(self, side: Cell) -> Cell:
        one, other = (self.hex(cell) for cell in halves(side))
        return one[0] + other[0], one[1] + other[1]

    def board(self, board: Board) -> Board:
        return dataclasses.replace(
            board,
            hexes={self.hex(cell): ground for cell, ground in board.hexes.items()},
            sides={self.side(side): kinds for side, kinds in board.sides.items()},
            markers={self.hex(cell): kinds for cell, kinds in board.markers.items()},
        )

    def place(self, place: Place) -> Place:
        return place._replace(name=self.label(place.name), cell=self.hex(place.cell))

    def label(self, label: str) -> str:
        return "|".join(sorted(SCHEME.label(self.hex(SCHEME.hex(part))) for part in label.split("|")))


moves = st.builds(Moved, st.integers(0, 5), st.booleans(), st.tuples(st.integers(-7, 7), st.integers(-5, 5)))


@bounded(40)
@given(board=boards, moved=moves)
def test_turning_mirroring_and_shifting_a_map_change_no_answer(
    connection: Connection, board: Board, moved: Moved
) -> None:
    start, *_ = places(board, 1)
    ends = [place for place in places(board) if not place.inside]
    with Stored(connection, draft(board)) as position_id:
        here = look(connection, position_id, start.name, ends)
    with Stored(connection, draft(moved.board(board))) as position_id:
        there = look(connection, position_id, moved.place(start).name, map(moved.place, ends))
    assert there == {
        moved.label(target): seen._replace(blocked_by=frozenset(map(moved.label, seen.blocked_by)))
        for target, seen in here.items()
    }


def cut(board: Board, start: Cell, target: Cell) -> Board:
    """All of the board that a line meets."""
    line = trace(start, target)
    met = {start, target, *line.hexes, *line.touched}
    met.update(*map(halves, line.spines + line.sides + line.side_ends))
    met &= board.hexes.keys()
    return dataclasses.replace(
        board,
        hexes={cell: board.hexes[cell] for cell in met},
        sides={side: kinds for side, kinds in board.sides.items() if met & set(halves(side))},
        markers={cell: kinds for cell, kinds in board.markers.items() if cell in met},
    )


@bounded(80)
@given(board=boards)
def test_a_map_cut_down_to_what_the_line_meets_gives_the_same_answer(
    connection: Connection, board: Board
) -> None:
    start, target = places(board, 2)[:2]
    answers = []
    for ground in (board, cut(board, start.cell, target.cell)):
        with Stored(connection, draft(ground)) as position_id:
            answers.append(look(connection, position_id, start.name, [target]))
    assert answers[0] == answers[1]


# What an answer says


@bounded(25)
@given(board=boards)
def test_a_line_along_a_side_or_through_a_corner_says_so(connection: Connection, board: Board) -> None:
    start, *_ = places(board, 1)
    query = sa.text(
        "select hex.label, coalesce(array_agg(los.at) filter (where los.effect = 'graze'), '{}') as grazed"
        " from position join hex on hex.map_id = position.map_id,"
        " lateral css.los(position.id, :viewer, hex.label) as los"
        " where position.id = :position group by hex.label"
    )
    with Stored(connection, draft(board)) as position_id:
        rows = connection.execute(query, {"position": position_id, "viewer": start.name})
        grazed = {row.label: set(row.grazed) for row in rows}
    for target in places(board):
        if distance(start.cell, target.cell) > 1 and not target.inside:
            line = trace(start.cell, target.cell)
            met = {place_label(board, place) for place in [*line.spines, *map(doubled, line.touched)]}
            assert met - {""} <= grazed[target.name], target.name


@bounded(15)
@given(board=boards)
@example(board=CANE_BY_BRUSH)
@example(board=CANE_BY_PADDY)
@example(board=CANE_THAT_IS_BRUSH_BY_PADDY)
@example(board=CLIFF_BY_A_CORNER)
@example(board=BRUSH_ON_A_HEIGHT)
@example(board=CANE_FROM_ABOVE)
def test_an_answer_names_every_point_that_would_change_it(connection: Connection, board: Board) -> None:
    chosen = dict(board.policy)
    query = sa.text(
        "select viewer, hex.label as target, array_agg(los.effect) as effects, array_agg(los.point) as points"
        " from position join hex on hex.map_id = position.map_id,"
        " unnest(cast(:viewers as text[])) as viewer,"
        " lateral css.los(position.id, viewer, hex.label, null, :policy) as los"
        " where position.id = :position group by viewer, hex.label"
    ).bindparams(sa.bindparam("policy", type_=JSONB))
    viewers = [start.name for start in starts(board, 1)]

    def ask(policy: dict[str, str]) -> dict[tuple[str, str], tuple[str, set[str]]]:
        rows = connection.execute(query, {"position": position_id, "viewers": viewers, "policy": policy})
        verdicts = ("visible", "blocked", "unknown")
        return {
            (row.viewer, row.target): (
                next(word for word in verdicts if word in row.effects),
                set(row.points),
            )
            for row in rows
        }

    with Stored(connection, draft(board)) as position_id:
        usual = ask(chosen)
        for point, letters in READINGS.items():
            for letter in set(letters) - {(DEFAULTS | chosen)[point]}:
                for line, (verdict, _) in ask(chosen | {point: letter}).items():
                    if verdict != usual[line][0]:
                        assert point in usual[line][1], (line, point, letter)


def test_the_random_ground_has_all_that_bears_on_sight() -> None:
    """Else the tests above would prove less than they say."""
    drawn = [paint(seed, (8, 8)) for seed in range(40)]
    assert {hex.terrain for board in drawn for hex in board.hexes.values()} == set(TERRAIN)
    assert {kind for board in drawn for kinds in board.sides.values() for kind in kinds} == set(SIDES)
    assert {kind for board in drawn for kinds in board.markers.values() for kind in kinds} == set(MARKERS)
    verdicts = [
        judge(board, start, target).visible
        for board in drawn
        for start, target in itertools.islice(itertools.combinations(board.hexes, 2), 0, None, 40)
        if distance(start, target) > 1
    ]
    assert min(verdicts.count(True), verdicts.count(False)) > len(verdicts) / 10
    assert None in verdicts
