"""Sight over drawn terrain: ccp and bob on boards as dense as printed ones, and shapely on the same artwork as a rival.

The rival knows the areas that block sight, in an STRtree, and tells only which of them a line of sight touches; it
knows neither hexes, levels nor readings, so its verdicts are not compared.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable

import sqlalchemy as sa
from shapely import LineString, STRtree
from sqlalchemy.engine import Connection

from db.counters import UNITS
from db.labels import Axial
from db.map_draft import MapDraft
from db.position_draft import PositionDraft
from importers.cases import store_position
from importers.maps import store_map
from tests.bench import RADIUS, Measure, _ratio, medians
from tests.dense_board import Shape, centre, dense_board, filled

STOPS = ("woods", "stone_building", "wooden_building", "jungle", "building")
GROWTH = (1250, 2500, 5000, 10000)
"""Vertices of boards of one size, to see how a fan grows with them."""
ENEMIES, MOST_REACH = 8, 50
"""Who may see a road, and the milliseconds that a reach along it may take."""
SIZES = (346, 1332)
"""Hexes of boards drawn as densely, to see how a fan of range 8 and one of the whole board grow with them."""


class Rival:
    """shapely with an STRtree over the outlines of a board."""

    def __init__(self, board: MapDraft) -> None:
        self.hexes = sorted(board.hexes)
        self.tree = STRtree([filled(area.rings[0]) for area in board.areas if area.terrain in STOPS])

    def fan(self, viewer: Axial, radius: int) -> int:
        """How many of the lines touch an area."""
        lines = [
            LineString([centre(viewer), centre(target)])
            for target in self.hexes
            if 0 < viewer.distance(target) <= radius
        ]
        return len(set(self.tree.query(lines, predicate="intersects")[0].tolist()))


class DrawnQuestions:
    """Lines and fans on one dense board, which is there until the caller undoes it."""

    def __init__(self, connection: Connection, shape: Shape) -> None:
        self.connection, self.shape = connection, shape
        self.board = dense_board(shape)
        map_id = store_map(connection, dataclasses.replace(self.board, title="bench"))
        connection.execute(sa.text("analyze hex, terrain_area, crest, drawn_hex, drawn_edge"))
        self.position = connection.scalar(
            sa.text("select id from position where map_id = :id and bare"), {"id": map_id}
        )
        self.chance = random.Random(41)
        self.hexes = sorted(self.board.hexes)
        self.viewers = self.chance.sample(self.hexes, 12)
        # found beforehand: to look for a target among all hexes would be measured with the question
        self.pairs = [(viewer, self._target(viewer)) for viewer in self.viewers]

    def label(self, hex: Axial) -> str:
        return self.board.scheme.label(hex)

    def nothing(self) -> object:
        return self.connection.execute(sa.text("select 1")).all()

    def _ask(self, function: str, **values: object) -> object:
        words = ", ".join(f":{name}" for name in values)
        query = sa.text(f"select * from {function}(:position, {words})")
        return self.connection.execute(query, {"position": self.position, **values}).all()

    def _target(self, viewer: Axial) -> Axial:
        near = [hex for hex in self.hexes if 2 <= viewer.distance(hex) <= RADIUS]
        return near[len(near) // 3]

    def line(self, function: str) -> object:
        viewer, target = self.chance.choice(self.pairs)
        return self._ask(function, start=self.label(viewer), target=self.label(target))

    def fan(self, function: str, radius: int | None) -> object:
        return self._ask(function, start=self.label(self.chance.choice(self.viewers)), radius=radius)

    def survey(self) -> object:
        """What all viewers see, found in one batch."""
        mine = {"position": self.position}
        self.connection.execute(sa.text("delete from viewshed where position_id = :position"), mine)
        return self._ask("positions.survey", viewers=[self.label(hex) for hex in self.viewers])


def measure_board(
    connection: Connection, shape: Shape, times: int, say: Callable[[str], None]
) -> list[Measure]:
    """A line and fans on one board: found out, and kept; and the rival's fan."""
    asked = DrawnQuestions(connection, shape)
    game, rival = shape.ruleset, Rival(asked.board)
    name = f"dense board of {game}, {shape.hexes} hexes, {'hills' if shape.hills else 'flat'}"
    say(name)
    quick = medians(
        times,
        nothing=asked.nothing,
        line=lambda: asked.line(f"{game}.los"),
        kept_line=lambda: asked.line("positions.line"),
        kept_fan=lambda: asked.fan("positions.viewshed", RADIUS),
    )
    slow = medians(
        max(4, times // 12),
        fan=lambda: asked.fan(f"{game}.fan", RADIUS),
        board=lambda: asked.fan(f"{game}.fan", None),
        rival=lambda: rival.fan(asked.chance.choice(asked.viewers), RADIUS),
    )
    # a survey takes as many fans of the whole board
    surveyed = medians(4, survey=asked.survey)["survey"] / len(asked.viewers)
    nothing = quick["nothing"]
    cold = 20 if shape.hills else 10

    def row(what: str, taken: float, limit: int | None = None) -> Measure:
        target, met = (f"≤ {limit}", taken / nothing <= limit) if limit else ("", None)
        return _ratio(f"{name}: {what}", taken, "SELECT 1", taken / nothing, target, met)

    return [
        row(f"one line of 2 to {RADIUS} hexes", quick["line"], cold),
        row("the same line, kept", quick["kept_line"], 3),
        row(f"fan of range {RADIUS}", slow["fan"]),
        row(f"fan of range {RADIUS}, kept", quick["kept_fan"], 3),
        row("fan of the whole board", slow["board"]),
        _ratio(f"{name}: a survey, for each hex", surveyed, "the fan of the board", surveyed / slow["board"]),
        _ratio(
            f"{name}: which areas the lines of a fan of range {RADIUS} touch, shapely",
            slow["rival"],
            "the fan",
            slow["rival"] / slow["fan"],
        ),
    ]


def measure_road_reach(
    connection: Connection, shape: Shape, times: int, say: Callable[[str], None]
) -> list[Measure]:
    """What a ccp reach costs at worst: a road through the whole board, and eight enemies who may see it (T94)."""
    board = dense_board(shape)
    position = PositionDraft("ccp", board)
    road = board.paths[-1].hexes
    start = road[len(road) // 2]
    near = [hex for hex in sorted(board.hexes) if 3 <= start.distance(hex) <= 10 and hex not in road]
    places = [("mover", "allied", start)]
    places += [(f"enemy {n}", "japan", hex) for n, hex in enumerate(random.Random(43).sample(near, ENEMIES))]
    for code, side, hex in places:
        unit = UNITS["ccp"].model_validate(
            {"id": code, "side": side, "kind": "squad", "at": board.scheme.label(hex), "movement": 5}
        )
        position.units[code] = unit, hex
    made = store_position(connection, position)
    connection.execute(
        sa.text("analyze hex, path, terrain_area, crest, drawn_hex, drawn_edge, unit, position")
    )
    reach = sa.text("select * from ccp.reach(:position, 'mover', '{\"points\": 10}')")
    name = f"dense board of ccp, {shape.hexes} hexes, {'hills' if shape.hills else 'flat'}"
    what = f"reach with 10 points, a road of {len(road)} hexes and {ENEMIES} enemies"
    say(f"{name}: {what}")
    taken = medians(
        max(4, times // 12),
        nothing=lambda: connection.execute(sa.text("select 1")).all(),
        reach=lambda: connection.execute(reach, {"position": made}).all(),
    )
    spent = taken["reach"]
    target, met = f"≤ {MOST_REACH} ms", spent <= MOST_REACH
    return [_ratio(f"{name}: {what}", spent, "SELECT 1", spent / taken["nothing"], target, met)]


def exponent(sizes: list[int], taken: list[float]) -> float:
    """How a time grows with a size: the slope of the fitted line through their logarithms."""
    xs, ys = [math.log(size) for size in sizes], [math.log(span) for span in taken]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def measure_growth(
    connection: Connection, ruleset: str, times: int, say: Callable[[str], None]
) -> list[Measure]:
    """How fans grow with the vertices of what is drawn, and with the hexes of a board."""

    def fan(hexes: int, vertices: int, radius: int | None) -> float:
        asked = DrawnQuestions(connection, Shape(ruleset, hexes, True, vertices))
        return medians(max(4, times // 12), fan=lambda: asked.fan(f"{ruleset}.fan", radius))["fan"]

    def grown(what: str, sizes: tuple[int, ...], taken: list[float]) -> Measure:
        name = f"{ruleset}.fan of {what}: grows with their power"
        return _ratio(name, taken[-1], "exponent", exponent(list(sizes), taken))

    say(f"fans of {ruleset} on {GROWTH[0]:,} to {GROWTH[-1]:,} vertices, {SIZES[0]:,} to {SIZES[-1]:,} hexes")
    near = f"range {RADIUS}"
    return [
        grown(
            f"{near}, {GROWTH[0]:,} to {GROWTH[-1]:,} vertices", GROWTH, [fan(346, n, RADIUS) for n in GROWTH]
        ),
        grown(f"{near}, {SIZES[0]} to {SIZES[-1]:,} hexes", SIZES, [fan(n, 5000, RADIUS) for n in SIZES]),
        grown(
            f"the whole board, {SIZES[0]} to {SIZES[-1]:,} hexes", SIZES, [fan(n, 5000, None) for n in SIZES]
        ),
    ]


def measure_drawn(connection: Connection, times: int, say: Callable[[str], None]) -> list[Measure]:
    """All that is measured over drawn terrain; the caller undoes it."""
    found: list[Measure] = []
    for ruleset in ("bob", "ccp"):
        for hexes in SIZES:
            for hills in (False, True):
                found += measure_board(connection, Shape(ruleset, hexes, hills), times, say)
        found += measure_growth(connection, ruleset, times, say)
    for hills in (False, True):
        found += measure_road_reach(connection, Shape("ccp", SIZES[-1], hills), times, say)
    return found
