"""Sight: what must hold of it on any ground, drawn at random and on the demo maps."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection

from db.counters import CssUnit
from db.labels import STEPS, Axial
from importers.cases import MarkerDraft, PositionDraft, store_position
from importers.documents import Problems
from importers.map_draft import HexDraft, MapDraft
from importers.map_formats import read_written
from tests.oracle_css import BARRAGES, BLOCKING_SIDES, Board, Cell, Ground, distance, halves, judge, trace
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


class Seen(NamedTuple):
    """An answer of `los`."""

    visible: bool | None
    range: int
    blocked_by: frozenset[str]


def look(
    connection: Connection, position_id: int, viewer: str, targets: Iterable[str], ruleset: str = "css"
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
            as los (rule, clause, at, effect, note, point, range, n)
        group by target.name
        """
    )
    words = {"visible": True, "blocked": False, "unknown": None}
    rows = connection.execute(query, {"targets": list(targets), "position": position_id, "viewer": viewer})
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


def foretell(board: Board, start: Cell, target: Cell, in_cave: bool, into_cave: bool) -> Seen:
    """The answer of the oracle, in the words of `los`."""
    verdict = judge(board, start, target, in_cave, into_cave)
    far = distance(start, target)
    return Seen(
        verdict.visible,
        1 if far == 0 and in_cave != into_cave else far,
        frozenset(label for place in verdict.blocked_by if (label := place_label(board, place))),
    )


def viewers(board: Board, count: int, seed: int = 0) -> list[tuple[str, Cell, bool]]:
    """Some hexes, and what stands inside caves, to look from: name, hex, whether inside."""
    hexes = [(SCHEME.label(cell), cell, False) for cell in board.hexes]
    caves = [(cave_unit(cell), cell, True) for cell, hex in board.hexes.items() if hex.cave]
    return random.Random(seed).sample(hexes, k=min(count, len(hexes))) + caves[:2]


# The oracle


@bounded(60)
@given(board=boards)
def test_los_rules_as_the_oracle_does(connection: Connection, board: Board) -> None:
    with Stored(connection, draft(board)) as position_id:
        targets = viewers(board, 100)
        for name, start, inside in viewers(board, 3):
            found = look(connection, position_id, name, [target for target, _, _ in targets])
            for target, cell, into in targets:
                assert found[target] == foretell(board, start, cell, inside, into), (name, target)


# Fan and line


@bounded(30)
@given(board=boards, radius=st.one_of(st.none(), st.integers(1, 9)))
def test_fan_sees_what_los_sees(connection: Connection, board: Board, radius: int | None) -> None:
    labels = [SCHEME.label(cell) for cell in board.hexes]
    with Stored(connection, draft(board)) as position_id:
        for name, start, _ in viewers(board, 2):
            found = look(connection, position_id, name, labels)
            own = SCHEME.label(start)
            assert fan(connection, position_id, name, radius) == {
                label: seen.range
                for label, seen in found.items()
                if seen.visible and label != own and seen.range <= (radius or 8)
            }


def demo(name: str) -> MapDraft:
    problems = Problems()
    found = read_written(MAPS / f"{name}.yaml", problems)
    problems.raise_if_any()
    assert found is not None
    return found


def on_demo(ground: MapDraft, **facts: dict[str, str]) -> PositionDraft:
    """A position on a demo map, with barrages, fires and lights strewn over it."""
    dice = random.Random(17)
    position = PositionDraft(ground.ruleset, dataclasses.replace(ground, name=None), **facts)  # type: ignore[arg-type]
    if ground.ruleset == "css":
        for kind in ("smoke_barrage", "heavy_barrage", "bombardment", "on_fire", "illumination"):
            position.markers += [
                MarkerDraft(kind, place)
                for place in dice.sample(sorted(ground.hexes), k=len(ground.hexes) // 60)
            ]
    return position


def within(ground: MapDraft, place: Axial, reach: int) -> list[str]:
    return [ground.scheme.label(other) for other in ground.hexes if 0 < place.distance(other) <= reach]


@pytest.mark.parametrize(
    ("name", "count", "facts"),
    [
        ("pagasa-coast", 12, {}),
        ("pagasa-coast", 6, {"conditions": {"time": "night"}, "policy": {"css-11": "a", "css-62": "b"}}),
        ("campaign-island", 8, {}),
        ("campaign-island", 4, {"conditions": {"weather": "rain"}, "policy": {"css-44": "b", "css-43": "a"}}),
    ],
)
def test_fan_sees_what_los_sees_on_the_demo_maps(
    connection: Connection, name: str, count: int, facts: dict[str, dict[str, str]]
) -> None:
    ground = demo(name)
    with Stored(connection, on_demo(ground, **facts)) as position_id:
        for place in random.Random(3).sample(sorted(ground.hexes), k=count):
            viewer = ground.scheme.label(place)
            found = look(connection, position_id, viewer, within(ground, place, 9))
            assert fan(connection, position_id, viewer) == {
                label: seen.range for label, seen in found.items() if seen.visible
            }


@pytest.mark.parametrize("reading", ["a", "b"])
def test_ranged_fire_reaches_what_its_lines_reach_on_orange_beach(
    connection: Connection, reading: str
) -> None:
    ground = demo("orange-beach")
    barring = {"jungle", "mountain"}
    with Stored(connection, on_demo(ground, policy={"ddp-38": reading})) as position_id:
        for place in random.Random(5).sample(sorted(ground.hexes), k=60):
            viewer = ground.scheme.label(place)
            found = look(connection, position_id, viewer, within(ground, place, 3), "ddp")
            fired = fan(connection, position_id, viewer, ruleset="ddp")
            assert fired == {label: seen.range for label, seen in found.items() if seen.visible}
            for other in ground.hexes:
                if place.distance(other) == 2:
                    between = [
                        ground.hexes[hex].terrain in barring
                        for hex in ground.hexes
                        if place.distance(hex) == other.distance(hex) == 1
                    ]
                    stopped = all(between) if reading == "a" else any(between)
                    assert (ground.scheme.label(other) in fired) is not stopped, (viewer, other)


# Both ways


def mutual(connection: Connection, position_id: int, ground: MapDraft) -> tuple[set[tuple[str, str]], int]:
    """The pairs of which the first sees the second and not the other way round; and how many see at all."""
    query = sa.text(
        f"select hex.label as viewer, fan.label as target from hex, lateral {ground.ruleset}.fan(:position, hex.label) as fan"
        " where hex.map_id = (select map_id from position where id = :position)"
    )
    seen = {(row.viewer, row.target) for row in connection.execute(query, {"position": position_id})}
    return {(viewer, target) for viewer, target in seen if (target, viewer) not in seen}, len(seen)


def marked(position: PositionDraft, kinds: Iterable[str]) -> set[str]:
    return {position.board.scheme.label(marker.at) for marker in position.markers if marker.kind in kinds}


def crop(ground: MapDraft, keep: Callable[[Axial], bool]) -> MapDraft:
    hexes = {place: hex for place, hex in ground.hexes.items() if keep(place)}
    sides = {side for side in ground.hexsides if {Axial(*hex) for hex in halves(side[:2])} & hexes.keys()}
    return MapDraft(ground.ruleset, ground.scheme, hexes=hexes, hexsides=sides)


@pytest.mark.parametrize("name", ["pagasa-coast", "orange-beach"])
def test_whoever_is_seen_sees(connection: Connection, name: str) -> None:
    ground = demo(name)
    with Stored(connection, on_demo(ground)) as position_id:
        one_way, pairs = mutual(connection, position_id, ground)
        assert one_way == set()
        assert pairs > 2 * len(ground.hexes)


def inland(place: Axial) -> bool:
    """A crop of the campaign's hills."""
    return place.distance(Axial(45, 10)) <= 9


def test_whoever_is_seen_sees_in_the_hills_of_the_campaign(connection: Connection) -> None:
    ground = crop(demo("campaign-island"), inland)
    assert len({hex.level for hex in ground.hexes.values()}) > 2
    with Stored(connection, on_demo(ground)) as position_id:
        assert mutual(connection, position_id, ground)[0] == set()


def test_only_out_of_a_barrage_is_less_seen_than_into_it(connection: Connection) -> None:
    """Exception 1: css-11 a limits the unit under the marker, not those who look at it."""
    ground = crop(demo("pagasa-coast"), lambda place: place.distance(Axial(25, 2)) <= 9)
    position = on_demo(ground, policy={"css-11": "a"})
    under = marked(position, BARRAGES)
    with Stored(connection, position) as position_id:
        one_way, _ = mutual(connection, position_id, ground)
        assert one_way
        assert all(target in under and viewer not in under for viewer, target in one_way)


def test_only_a_light_is_seen_from_the_dark_and_not_back(connection: Connection) -> None:
    """Exception 2: at night an illuminated hex is seen as by day, and the dark is not seen from it."""
    ground = crop(demo("pagasa-coast"), lambda place: place.distance(Axial(25, 2)) <= 9)
    position = on_demo(ground, conditions={"time": "night"})
    lit = marked(position, {"illumination"})
    with Stored(connection, position) as position_id:
        one_way, _ = mutual(connection, position_id, ground)
        assert one_way
        assert all(target in lit and viewer not in lit for viewer, target in one_way)


@bounded(25)
@given(board=boards)
def test_whoever_is_seen_sees_on_any_ground(connection: Connection, board: Board) -> None:
    """With the same reasons both ways, but for which of the brush hexes is the second."""
    board = dataclasses.replace(board, policy=board.policy | {"css-11": "b"}, conditions={})
    places = viewers(board, 100)
    with Stored(connection, draft(board)) as position_id:
        for name, _, _ in viewers(board, 2):
            forth = look(connection, position_id, name, [target for target, _, _ in places])
            for target, seen in forth.items():
                back = look(connection, position_id, target, [name])[name]
                assert back.visible == seen.visible, (name, target)
                assert back.range == seen.range
                assert bool(back.blocked_by) == bool(seen.blocked_by)


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

    def label(self, label: str) -> str:
        return "|".join(sorted(SCHEME.label(self.hex(SCHEME.hex(part))) for part in label.split("|")))


moves = st.builds(Moved, st.integers(0, 5), st.booleans(), st.tuples(st.integers(-7, 7), st.integers(-5, 5)))


@bounded(25)
@given(board=boards, moved=moves)
def test_turning_mirroring_and_shifting_a_map_change_no_answer(
    connection: Connection, board: Board, moved: Moved
) -> None:
    labels = [SCHEME.label(cell) for cell in board.hexes]
    starts = [name for name, _, inside in viewers(board, 2) if not inside]
    with Stored(connection, draft(board)) as position_id:
        here = {
            (start, *item)
            for start in starts
            for item in look(connection, position_id, start, labels).items()
        }
    with Stored(connection, draft(moved.board(board))) as position_id:
        there = {
            (start, *item)
            for start in starts
            for item in look(
                connection, position_id, moved.label(start), [moved.label(end) for end in labels]
            ).items()
        }
    assert there == {
        (start, moved.label(target), seen._replace(blocked_by=frozenset(map(moved.label, seen.blocked_by))))
        for start, target, seen in here
    }


@bounded(40)
@given(board=boards, pick=st.integers(0, 2**16))
def test_a_map_cut_down_to_what_the_line_meets_gives_the_same_answer(
    connection: Connection, board: Board, pick: int
) -> None:
    dice = random.Random(pick)
    start, target = dice.choice(list(board.hexes)), dice.choice(list(board.hexes))
    met = {start, target}
    if start != target:
        line = trace(start, target)
        met |= {
            *line.hexes,
            *line.touched,
            *itertools.chain(*map(halves, line.spines + line.sides + line.side_ends)),
        }
    met &= board.hexes.keys()
    small = dataclasses.replace(
        board,
        hexes={cell: board.hexes[cell] for cell in met},
        sides={side: kinds for side, kinds in board.sides.items() if met & set(halves(side))},
        markers={cell: kinds for cell, kinds in board.markers.items() if cell in met},
    )
    answers = []
    for cut in (board, small):
        with Stored(connection, draft(cut)) as position_id:
            answers.append(look(connection, position_id, SCHEME.label(start), [SCHEME.label(target)]))
    assert answers[0] == answers[1]


# What a ruling says of a line


@bounded(20)
@given(board=boards)
def test_a_line_along_a_side_or_through_a_corner_says_so(connection: Connection, board: Board) -> None:
    name, start, _ = viewers(board, 1)[0]
    query = sa.text(
        "select hex.label, array_agg(los.at) filter (where los.effect = 'graze') as grazed"
        " from position join hex on hex.map_id = position.map_id, lateral css.los(position.id, :viewer, hex.label) as los"
        " where position.id = :position group by hex.label"
    )
    with Stored(connection, draft(board)) as position_id:
        for label, grazed in connection.execute(query, {"position": position_id, "viewer": name}):
            target = SCHEME.hex(label)
            if distance(start, target) < 2:
                continue
            line = trace(start, target)
            places = [*line.spines, *((2 * q, 2 * r) for q, r in line.touched)]
            assert {name for place in places if (name := place_label(board, place))} <= set(grazed or []), (
                label
            )


@bounded(10)
@given(board=boards)
def test_a_ruling_names_its_readings_where_another_would_rule_otherwise(
    connection: Connection, board: Board
) -> None:
    """Whatever point changes the verdict is reported by the answer, under either reading."""
    board = dataclasses.replace(board, policy={})
    name = viewers(board, 1)[0][0]
    query = sa.text(
        "select hex.label, array_agg(los.effect) filter (where los.effect in ('visible', 'blocked', 'unknown')),"
        " coalesce(array_agg(los.point) filter (where los.point is not null), '{}')"
        " from position join hex on hex.map_id = position.map_id,"
        " lateral css.los(position.id, :viewer, hex.label, null, :policy) as los"
        " where position.id = :position group by hex.label"
    ).bindparams(sa.bindparam("policy", type_=JSONB))

    def ask(policy: dict[str, str]) -> dict[str, tuple[str, set[str]]]:
        rows = connection.execute(query, {"position": position_id, "viewer": name, "policy": policy})
        return {label: (effects[-1], set(points)) for label, effects, points in rows}

    with Stored(connection, draft(board)) as position_id:
        usual = ask({})
        for point, letters in READINGS.items():
            for letter in letters:
                for label, (verdict, _) in ask({point: letter}).items():
                    if verdict != usual[label][0]:
                        assert point in usual[label][1], (label, point, letter)


def test_the_random_ground_has_all_that_bears_on_sight() -> None:
    """Else the tests above would prove less than they say."""
    drawn = [paint(seed, (8, 8)) for seed in range(60)]
    assert {hex.terrain for board in drawn for hex in board.hexes.values()} == set(TERRAIN)
    assert {kind for board in drawn for kinds in board.sides.values() for kind in kinds} >= BLOCKING_SIDES
    assert {kind for board in drawn for kinds in board.markers.values() for kind in kinds} == set(MARKERS)
    verdicts = [
        judge(board, start, target).visible
        for board in drawn[:20]
        for start in list(board.hexes)[:4]
        for target in board.hexes
        if distance(start, target) > 1
    ]
    assert min(verdicts.count(True), verdicts.count(False)) > len(verdicts) / 20
    assert None in verdicts
