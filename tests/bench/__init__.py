"""`sightline bench`: how fast the questions are, as ratios within one run.

Everything is measured against `SELECT 1` on the same connection, and sight also against
two rivals that know the same map: plain Python with cached traces, and shapely with an
STRtree. The rivals rule by the same rules (css on bare ground, without markers), and the
run fails if one of them sees another hex than the database does. They give a verdict
only; the database tells every rule that made it.
"""

from __future__ import annotations

import dataclasses
import heapq
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import shapely
import sqlalchemy as sa
from shapely import LineString, Polygon, STRtree
from sqlalchemy.engine import Connection

from db import SightlineError
from db.labels import Axial, side_hexes

RADIUS = 8
FAR = 20
"""Beyond what is seen in css (7.1.2): every rule of a line is told all the same."""
WAYS = {1: "in turn", 8: "in a row"}
"""How often a question is asked before the next has its turn; sight is measured both ways, since ratios differ."""
BLOCKING = ("slope", "steep_slope", "ridge", "cliff")
LOW_COVER = ("brush", "rocky", "sugar_cane")
Cell = tuple[str, int, int, bool]


class BenchError(SightlineError):
    """The rivals do not agree, or there is nothing to measure."""


@dataclasses.dataclass(frozen=True)
class Measure:
    """A median in milliseconds, and how it compares."""

    name: str
    milliseconds: float
    against: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


@dataclasses.dataclass
class Ground:
    """A css map in memory, for the rivals."""

    level: dict[Axial, int]
    terrain: dict[Axial, str]
    sight: dict[str, str]
    features: dict[tuple[int, int], list[str]]

    def sees(self, viewer: Axial, target: Axial, cells: list[Cell]) -> bool:
        """The css sight rules over the cells of one line (7.1.1, 7.1.2, 6.2.2)."""
        away = viewer.distance(target)
        if away <= 1:
            return True
        high = max(self.level[viewer], self.level[target])
        low = min(self.level[viewer], self.level[target])
        lower = target if self.level[target] < self.level[viewer] else viewer
        above = self._looks_down(viewer, target, cells)
        thin = 0
        for kind, x, y, crossed in cells:
            if kind in ("hex", "spine"):
                met = [Axial(x // 2, y // 2)] if kind == "hex" else side_hexes(x, y)
                hexes = [place for place in met if place in self.level]
                if not hexes:
                    # off the map: a hex ends the line, a side beyond the rim does not
                    if kind == "hex":
                        return False
                    continue
                verdicts = [self._met(place, high, low, lower, above) for place in hexes]
                if all(verdict == "stops" for verdict in verdicts):
                    return False
                thin += all(verdict != "open" for verdict in verdicts)
            if kind == "spine" and (x, y) in self.features:
                return False
            if crossed and not {viewer, target} & set(side_hexes(x, y)):
                found = self.features.get((x, y), ())
                if any(feature != "cliff" or not above for feature in found):
                    return False
        return thin < 2

    def _met(self, place: Axial, high: int, low: int, lower: Axial, above: bool) -> str:
        level = self.level[place]
        same = high == low
        excused = above and self.terrain[place] in LOW_COVER
        if level > high or (level == high and not same):
            return "stops"
        if not same and level > low and place.distance(lower) == 1:
            return "stops"
        sight = self.sight[self.terrain[place]]
        if level == high and not excused and sight == "blocks":
            return "stops"
        return "thins" if same and level == high and not excused and sight == "blocks_at_second" else "open"

    def _looks_down(self, viewer: Axial, target: Axial, cells: list[Cell]) -> bool:
        for _, x, y, crossed in cells:
            if crossed and "steep_slope" in self.features.get((x, y), ()):
                one, two = side_hexes(x, y)
                if one in self.level and two in self.level and self.level[one] != self.level[two]:
                    upper = one if self.level[one] > self.level[two] else two
                    if upper in (viewer, target):
                        return True
        return False


class PythonRival:
    """Plain Python with the traces in memory."""

    def __init__(self, ground: Ground, traces: dict[tuple[int, int], list[Cell]]) -> None:
        self.ground = ground
        self.traces = traces

    def los(self, viewer: Axial, target: Axial) -> bool:
        trace = self.traces.get((target.q - viewer.q, target.r - viewer.r), [])
        cells = [(kind, x + 2 * viewer.q, y + 2 * viewer.r, crossed) for kind, x, y, crossed in trace]
        return self.ground.sees(viewer, target, cells)

    def fan(self, viewer: Axial, radius: int) -> set[Axial]:
        return {
            target
            for dq in range(-radius, radius + 1)
            for dr in range(max(-radius, -radius - dq), min(radius, radius - dq) + 1)
            if (dq, dr) != (0, 0)
            and (target := Axial(viewer.q + dq, viewer.r + dr)) in self.ground.level
            and self.los(viewer, target)
        }


class ShapelyRival:
    """shapely with an STRtree: what each line meets is found by its geometry, every time."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        # the sea counts too: a line over a hex that is not there leaves the map
        beside = {place.beside(direction) for place in ground.level for direction in range(1, 7)}
        far = {place.beside(direction) for place in beside for direction in range(1, 7)}
        self.hexes = sorted(set(ground.level) | beside | far)
        shapes = [_polygon(place) for place in self.hexes]
        self.sides = sorted({(a.q + b.q, a.r + b.r) for a in self.hexes for b in map(a.beside, range(1, 7))})
        lines = [_side(x, y) for x, y in self.sides]
        self.shapes: list[shapely.Geometry] = [*shapes, *lines]
        self.tree = STRtree(self.shapes)

    def los(self, viewer: Axial, target: Axial) -> bool:
        return self.ground.sees(viewer, target, self._cells(viewer, target))

    def fan(self, viewer: Axial, radius: int) -> set[Axial]:
        return {
            target
            for target in self.ground.level
            if 0 < viewer.distance(target) <= radius and self.los(viewer, target)
        }

    def _cells(self, viewer: Axial, target: Axial) -> list[Cell]:
        line = LineString([_center(viewer), _center(target)])
        cells: list[Cell] = []
        for index in self.tree.query(line, predicate="intersects"):
            matrix = shapely.relate(line, self.shapes[index])
            if index < len(self.hexes):
                place = self.hexes[index]
                if place not in (viewer, target) and matrix.startswith("1"):
                    cells.append(("hex", 2 * place.q, 2 * place.r, False))
            else:
                x, y = self.sides[index - len(self.hexes)]
                if matrix.startswith("1"):
                    cells.append(("spine", x, y, False))
                elif matrix.startswith("0"):
                    cells.append(("side", x, y, True))
                else:
                    cells.append(("end", x, y, False))
        passed = {Axial(x // 2, y // 2) for kind, x, y, _ in cells if kind == "hex"} | {viewer, target}
        return [
            (kind, x, y, crossed or (kind == "end" and set(side_hexes(x, y)) <= passed))
            for kind, x, y, crossed in cells
        ]


def _center(place: Axial) -> tuple[int, int]:
    return 3 * place.q, 2 * place.r + place.q


def _polygon(place: Axial) -> Polygon:
    x, y = _center(place)
    return Polygon([(x + 2, y), (x + 1, y + 1), (x - 1, y + 1), (x - 2, y), (x - 1, y - 1), (x + 1, y - 1)])


def _side(x: int, y: int) -> LineString:
    one, two = side_hexes(x, y)
    shared = _polygon(one).intersection(_polygon(two))
    assert isinstance(shared, LineString)
    return shared


def read_ground(connection: Connection, map_id: int) -> Ground:
    rows = connection.execute(
        sa.text("select q, r, level, css._ground(terrain, features) from hex where map_id = :id"),
        {"id": map_id},
    ).all()
    sight = connection.execute(sa.text("select code, sight from terrain where ruleset = 'css'")).all()
    features: dict[tuple[int, int], list[str]] = {}
    for x, y, kind in connection.execute(
        sa.text("select x, y, kind from hexside where map_id = :id"), {"id": map_id}
    ):
        if kind in BLOCKING:
            features.setdefault((x, y), []).append(kind)
    return Ground(
        {Axial(q, r): level for q, r, level, _ in rows},
        {Axial(q, r): terrain for q, r, _, terrain in rows},
        {code: found or "open" for code, found in sight},
        features,
    )


def read_traces(connection: Connection, radius: int) -> dict[tuple[int, int], list[Cell]]:
    traces: dict[tuple[int, int], list[Cell]] = {}
    for dq, dr, kind, x, y, crossed in connection.execute(
        sa.text(
            "select dq, dr, kind, x, y, crossed from lattice.trace"
            " where lattice.distance(0, 0, dq, dr) <= :radius order by dq, dr, n"
        ),
        {"radius": radius},
    ):
        traces.setdefault((dq, dr), []).append((kind, x, y, crossed))
    return traces


def medians(times: int, in_a_row: int = 1, **questions: Callable[[], object]) -> dict[str, float]:
    """Milliseconds of each question, the median of some runs after a warm-up.

    They take turns: what slows the machine for a while slows them all, and leaves their ratios alone.
    In its turn a question is asked once, or some times in a row.
    """
    spans: dict[str, list[float]] = {name: [] for name in questions}
    for turn in range(-1, -(-times // in_a_row)):
        for name, question in questions.items():
            for _ in range(in_a_row if turn >= 0 else min(8, times)):
                started = time.perf_counter()
                question()
                if turn >= 0:
                    spans[name].append(time.perf_counter() - started)
    return {name: 1000 * statistics.median(taken) for name, taken in spans.items()}


def _map_id(connection: Connection, name: str) -> int:
    found: int | None = connection.scalar(
        sa.text("select id from map where name = :name and ruleset = 'css'"), {"name": name}
    )
    if found is None:
        raise BenchError(
            f"There is no css map {name!r}.", "Load the demo (`sightline demo load`) or name another."
        )
    return found


class SightQuestions:
    """Questions of sight on one css map, to the database and to the rivals: the same in every run."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.connection = connection
        map_id = _map_id(connection, name)
        ground = read_ground(connection, map_id)
        self.python = PythonRival(ground, read_traces(connection, FAR))
        self.shapes = ShapelyRival(ground)
        self.labels = {
            Axial(q, r): label
            for q, r, label in connection.execute(
                sa.text("select q, r, label from hex where map_id = :id"), {"id": map_id}
            )
        }
        # a fixed seed: every run asks the same questions
        self.chance = random.Random(41)
        self.viewers = self.chance.choices(sorted(self.labels), k=64)
        self.near = self._pairs(1, RADIUS)
        self.far = self._pairs(RADIUS, FAR)
        if not self.near:
            raise BenchError(f"The map {name!r} is too small: no two hexes have one between them.")
        self.position = connection.scalar(
            sa.text("insert into position (map_id, ruleset) values (:id, 'css') returning id"), {"id": map_id}
        )

    def _pairs(self, beyond: int, within: int) -> list[tuple[Axial, Axial]]:
        """A target at some distance for each viewer that has one."""
        found = []
        for viewer in self.viewers:
            targets = [hex for hex in self.labels if beyond < viewer.distance(hex) <= within]
            if targets:
                found.append((viewer, self.chance.choice(targets)))
        return found

    def viewer(self) -> Axial:
        return self.chance.choice(self.viewers)

    def nothing(self) -> object:
        return self.connection.execute(sa.text("select 1")).all()

    def line(self, pairs: list[tuple[Axial, Axial]], function: str = "css.los") -> object:
        viewer, target = self.chance.choice(pairs)
        values = {"position": self.position, "start": self.labels[viewer], "target": self.labels[target]}
        return self.connection.execute(
            sa.text(f"select * from {function}(:position, :start, :target)"), values
        ).all()

    def fan(self, viewer: Axial, radius: int = RADIUS) -> set[Axial]:
        return {Axial(row.q, row.r) for row in self._seen("css.fan", viewer, radius)}

    def cached(self, viewer: Axial) -> Sequence[sa.Row[Any]]:
        return self._seen("positions.viewshed", viewer, RADIUS)

    def _seen(self, function: str, viewer: Axial, radius: int) -> Sequence[sa.Row[Any]]:
        query = sa.text(f"select * from {function}(:position, :start, :radius)")
        values = {"position": self.position, "start": self.labels[viewer], "radius": radius}
        return self.connection.execute(query, values).all()

    def quick(self, times: int, in_a_row: int) -> dict[str, float]:
        """Medians of what a single look-up or line takes, each to the fetched rows."""
        return medians(
            times,
            in_a_row,
            nothing=self.nothing,
            line=lambda: self.line(self.near),
            kept=lambda: self.cached(self.viewer()),
        )

    def check(self) -> None:
        """Fill the cache; fail if anybody sees otherwise than `css.fan`."""
        for viewer in self.viewers[:6]:
            seen = self.fan(viewer)
            if self.fan(viewer, FAR) != seen:
                raise BenchError(
                    f"css.fan sees farther than {RADIUS} hexes at {self.labels[viewer]} (7.1.2)."
                )
            for rival in (self.python, self.shapes):
                if rival.fan(viewer, RADIUS) != seen:
                    raise BenchError(
                        f"{type(rival).__name__} disagrees with css.fan at {self.labels[viewer]}."
                    )
            if {Axial(row.q, row.r) for row in self.cached(viewer)} != seen:
                raise BenchError(f"the cache disagrees with css.fan at {self.labels[viewer]}.")
        for viewer in self.viewers:
            self.cached(viewer)


def measure_map(connection: Connection, name: str, times: int, say: Callable[[str], None]) -> list[Measure]:
    """Sight on one css map: a line, a fan, a cached fan, and the rivals' lines and fans."""
    asked = SightQuestions(connection, name)
    say(f"{name}: {len(asked.labels):,} hexes")
    asked.check()
    python, shapes, pick = asked.python, asked.shapes, asked.viewer
    found: list[Measure] = []
    for in_a_row, manner in WAYS.items():
        quick = asked.quick(times * 2, in_a_row)
        # the live fan, like its rivals, to a set of hexes
        slow = medians(
            max(8, times // 4),
            in_a_row,
            live=lambda: asked.fan(pick()),
            in_python=lambda: python.fan(pick(), RADIUS),
            in_shapely=lambda: shapes.fan(pick(), RADIUS),
        )
        found += _sight_measures(f"{name}, {manner}", quick | slow)
    return found + (_far_measures(asked, name, times) if asked.far else [])


def _sight_measures(where: str, taken: dict[str, float]) -> list[Measure]:
    live, in_python, in_shapely = taken["live"], taken["in_python"], taken["in_shapely"]
    fan = f"{where}: fan of range {RADIUS}"
    return [
        *_quick_measures(where, taken, "≤ 3"),
        _ratio(f"{fan}, live", live, "SELECT 1", live / taken["nothing"]),
        _ratio(f"{fan}, plain Python", in_python, "live fan", in_python / live),
        _ratio(f"{fan}, shapely", in_shapely, "live fan", in_shapely / live, "≥ 10", in_shapely / live >= 10),
    ]


def _quick_measures(where: str, taken: dict[str, float], target: str = "") -> list[Measure]:
    nothing, line, kept = (taken[name] for name in ("nothing", "line", "kept"))

    def met(ratio: float) -> bool | None:
        return ratio <= 3 if target else None

    return [
        Measure(f"{where}: SELECT 1", nothing),
        _ratio(f"{where}: one line of sight", line, "SELECT 1", line / nothing, target, met(line / nothing)),
        _ratio(
            f"{where}: fan of range {RADIUS}, cached",
            kept,
            "SELECT 1",
            kept / nothing,
            target,
            met(kept / nothing),
        ),
    ]


def _far_measures(asked: SightQuestions, name: str, times: int) -> list[Measure]:
    """Lines and fans to 20 hexes, and single lines of the rivals; all in turn."""
    taken = medians(
        times,
        nothing=asked.nothing,
        far=lambda: asked.line(asked.far),
        far_fan=lambda: asked.fan(asked.viewer(), FAR),
        near=lambda: asked.line(asked.near),
        near_python=lambda: asked.python.los(*asked.chance.choice(asked.near)),
        far_python=lambda: asked.python.los(*asked.chance.choice(asked.far)),
        near_shapely=lambda: asked.shapes.los(*asked.chance.choice(asked.near)),
        far_shapely=lambda: asked.shapes.los(*asked.chance.choice(asked.far)),
    )
    far, near, nothing = taken["far"], taken["near"], taken["nothing"]
    line = f"{name}: one line of {RADIUS + 1} to {FAR} hexes"
    return [
        _ratio(line, far, "SELECT 1", far / nothing),
        _ratio(f"{line}, plain Python", taken["far_python"], "the line", taken["far_python"] / far),
        _ratio(f"{line}, shapely", taken["far_shapely"], "the line", taken["far_shapely"] / far),
        _ratio(
            f"{name}: one line of 2 to {RADIUS} hexes, plain Python",
            taken["near_python"],
            "the line",
            taken["near_python"] / near,
        ),
        _ratio(
            f"{name}: one line of 2 to {RADIUS} hexes, shapely",
            taken["near_shapely"],
            "the line",
            taken["near_shapely"] / near,
        ),
        _ratio(
            f"{name}: fan asked to {FAR} hexes, live",
            taken["far_fan"],
            "SELECT 1",
            taken["far_fan"] / nothing,
        ),
    ]


def measure_apart(connection: Connection, name: str, times: int, say: Callable[[str], None]) -> list[Measure]:
    """Lines and cached fans, each in a transaction of its own, as pages and API ask them.

    The connection is in autocommit: the position that is asked about is really there for a while.
    """
    asked = SightQuestions(connection, name)
    try:
        asked.check()
        say(f"{name}: each question in a transaction of its own")
        found: list[Measure] = []
        for pair in asked.near:
            asked.line([pair], "positions.line")
        for in_a_row, manner in WAYS.items():
            where = f"{name}, apart, {manner}"
            found += _quick_measures(where, asked.quick(times * 2, in_a_row))
            taken = medians(
                times * 2,
                in_a_row,
                nothing=asked.nothing,
                line=lambda: asked.line(asked.near, "positions.line"),
            )
            ratio = taken["line"] / taken["nothing"]
            found.append(_ratio(f"{where}: a line that is kept", taken["line"], "SELECT 1", ratio))
        return found
    finally:
        connection.execute(sa.text("delete from position where id = :id"), {"id": asked.position})


def measure_reach(connection: Connection, name: str, times: int, say: Callable[[str], None]) -> list[Measure]:
    """The reach of a leg unit with 10 and with 20 points on one css map: in SQL, and by Dijkstra in plain Python."""
    map_id = _map_id(connection, name)
    steps = read_steps(connection, map_id)
    position = connection.scalar(
        sa.text("insert into position (map_id, ruleset) values (:id, 'css') returning id"), {"id": map_id}
    )
    # the rival does not know the bonus of a trail (6.2.1), so nobody starts on one
    trails = connection.execute(
        sa.text(
            "select link.q, link.r from path, unnest(qs, rs) as link (q, r) where map_id = :id and kind = 'trail'"
        ),
        {"id": map_id},
    )
    # a fixed seed: every run asks the same questions
    starts = random.Random(47).sample(sorted(steps.keys() - {Axial(q, r) for q, r in trails}), k=32)
    connection.execute(
        sa.text(
            "insert into unit (position_id, map_id, q, r, code, side, kind, attributes) values (:position, :map, :q, :r,"
            " :code, 'us', 'infantry', jsonb_build_object('posture', 'column', 'mobility', 'leg', 'movement', 5))"
        ),
        [
            {"position": position, "map": map_id, "q": q, "r": r, "code": f"unit {n}"}
            for n, (q, r) in enumerate(starts)
        ],
    )
    connection.execute(sa.text("analyze unit"))
    query = sa.text(
        "select q, r, halves from css.reach(:position, :unit, jsonb_build_object('points', cast(:points as integer)))"
    )
    chance = random.Random(53)

    def ask(n: int, points: int) -> dict[Axial, int]:
        values = {"position": position, "unit": f"unit {n}", "points": points}
        return {Axial(q, r): halves for q, r, halves in connection.execute(query, values)}

    measures = []
    for points in (10, 20):
        for n in range(6):
            if ask(n, points) != cheapest(steps, starts[n], 2 * points):
                raise BenchError(f"plain Python disagrees with css.reach for unit {n} on {name}.")

        def in_sql(points: int = points) -> object:
            return ask(chance.randrange(32), points)

        def in_python(points: int = points) -> object:
            return cheapest(steps, chance.choice(starts), 2 * points)

        taken = medians(
            times, nothing=lambda: connection.execute(sa.text("select 1")).all(), sql=in_sql, python=in_python
        )
        say(f"{name}: reach with {points} points")
        target, met = ("≤ 3 ms", taken["sql"] <= 3) if points == 10 else ("", None)
        measures += [
            _ratio(
                f"{name}: reach with {points} points",
                taken["sql"],
                "SELECT 1",
                taken["sql"] / taken["nothing"],
                target,
                met,
            ),
            _ratio(
                f"{name}: the same in plain Python",
                taken["python"],
                "SELECT 1",
                taken["python"] / taken["nothing"],
            ),
        ]
    return measures


REACHES = {
    "sorovi-crossing": ("ccp", "with 10 points", "jsonb_build_object('points', 10)", None),
    "tanaro-assault": ("fpb", "of its units", "'{}'", 10),
    "vesny-morning": ("bob", "of its units", "'{}'", 10),
}
"""Positions whose reaches are measured: the game, how far, the options, and the milliseconds that it may take."""
ROUT = 50
"""Milliseconds that the ways of a routing unit may take."""


def measure_position_reach(
    connection: Connection, name: str, times: int, say: Callable[[str], None]
) -> list[Measure]:
    """The reach of a position's units: ccp and bob on drawn terrain, fpb among zones of control."""
    ruleset, far, options, limit = REACHES[name]
    query = f"select * from {ruleset}.reach(:position, :unit, {options})"
    return _measure_units(connection, name, ruleset, f"reach {far}", query, limit, times, say)


def measure_rout(connection: Connection, name: str, times: int, say: Callable[[str], None]) -> list[Measure]:
    """Where the infantry of a bob position may rout to, every line of sight on its ways looked at."""
    query = "select * from bob.rout_path(:position, :unit)"
    return _measure_units(
        connection, name, "bob", "ways of a rout", query, ROUT, times, say, "('squad', 'wt')"
    )


def _measure_units(
    connection: Connection,
    name: str,
    ruleset: str,
    what: str,
    asked: str,
    limit: int | None,
    times: int,
    say: Callable[[str], None],
    kinds: str | None = None,
) -> list[Measure]:
    """A question about the units of a position, one at random each time."""
    moves = f" and kind in {kinds}" if kinds else ""
    units = connection.execute(
        sa.text(
            "select position.id as position, unit.code as unit from position join unit on position_id = position.id"
            f" where position.name = :name and position.ruleset = :ruleset and q is not null{moves} order by unit.code"
        ),
        {"name": name, "ruleset": ruleset},
    ).all()
    if not units:
        raise BenchError(
            f"There is no {ruleset} position {name!r}.", "Load the demo (`sightline demo load`)."
        )
    query = sa.text(asked)
    chance = random.Random(53)
    taken = medians(
        times,
        nothing=lambda: connection.execute(sa.text("select 1")).all(),
        sql=lambda: connection.execute(query, dict(chance.choice(units)._mapping)).all(),
    )
    say(f"{name}: {what}")
    ratio = _ratio(f"{name}: {what}", taken["sql"], "SELECT 1", taken["sql"] / taken["nothing"])
    if limit is None:
        return [ratio]
    return [dataclasses.replace(ratio, target=f"≤ {limit} ms", met=ratio.milliseconds <= limit)]


def read_steps(connection: Connection, map_id: int) -> dict[Axial, list[tuple[Axial, int]]]:
    """The halves that each step costs a leg unit, trails' bonus apart, all edges in memory (6.2.1, 6.2.2)."""
    costs = connection.execute(
        sa.text(
            "select feature, code, halves, condition from terrain_effect"
            " where ruleset = 'css' and aspect = 'cost' and mobility = 'leg'"
        )
    ).all()
    enter = {code: halves for feature, code, halves, _ in costs if feature == "terrain"}
    cross = {code: halves for feature, code, halves, _ in costs if feature == "hexside"}
    spared = {
        code for feature, code, _, when in costs if feature == "hexside" and "not along" in (when or "")
    }
    road = {code: halves for feature, code, halves, _ in costs if feature == "path"}
    terrain = {
        Axial(q, r): code
        for q, r, code in connection.execute(
            sa.text("select q, r, css._ground(terrain, features) from hex where map_id = :id"), {"id": map_id}
        )
    }
    sides: dict[tuple[int, int], list[str]] = {}
    for x, y, kind in connection.execute(
        sa.text("select x, y, kind from hexside where map_id = :id"), {"id": map_id}
    ):
        sides.setdefault((x, y), []).append(kind)
    links: dict[tuple[int, int], int] = {}
    for kind, qs, rs in connection.execute(
        sa.text("select kind, qs, rs from path where map_id = :id"), {"id": map_id}
    ):
        for n in range(len(qs) - 1):
            side = qs[n] + qs[n + 1], rs[n] + rs[n + 1]
            links[side] = min(road[kind], links.get(side, road[kind]))
    steps: dict[Axial, list[tuple[Axial, int]]] = {}
    for place in terrain:
        steps[place] = []
        for beside in map(place.beside, range(1, 7)):
            side = place.q + beside.q, place.r + beside.r
            kinds = sides.get(side, ())
            prices = []
            ground = enter.get(terrain.get(beside, ""))
            if ground is not None and all(cross[kind] is not None for kind in kinds):
                prices.append(ground + sum(cross[kind] for kind in kinds))
            along = [0 if kind in spared else cross[kind] for kind in kinds]
            if side in links and None not in along:
                prices.append(links[side] + sum(along))
            if prices:
                steps[place].append((beside, min(prices)))
    return steps


def cheapest(steps: dict[Axial, list[tuple[Axial, int]]], start: Axial, purse: int) -> dict[Axial, int]:
    """Dijkstra: the least cost of every hex within the purse."""
    found = {start: 0}
    heap = [(0, start)]
    while heap:
        spent, place = heapq.heappop(heap)
        if spent > found[place]:
            continue
        for beside, cost in steps[place]:
            if spent + cost <= purse and spent + cost < found.get(beside, purse + 1):
                found[beside] = spent + cost
                heapq.heappush(heap, (spent + cost, beside))
    return found


def measure_zones(connection: Connection, name: str, times: int, say: Callable[[str], None]) -> list[Measure]:
    """The fire zones of a side of 200 units, among 60 enemies, on one css map: cached, live and in plain Python."""
    map_id = _map_id(connection, name)
    python = PythonRival(read_ground(connection, map_id), read_traces(connection, RADIUS))
    # css-54 b: sugar cane is brush, so that nothing is left open
    python.ground.sight["sugar_cane"] = "blocks_at_second"
    position = connection.scalar(
        sa.text(
            "insert into position (map_id, ruleset, policy) values (:id, 'css', '{\"css-54\": \"b\"}') returning id"
        ),
        {"id": map_id},
    )
    places = random.Random(43).sample(sorted(python.ground.level), k=260)
    ours = {place: 1 + n % RADIUS for n, place in enumerate(places[:200])}
    enemies = set(places[200:])
    connection.execute(
        sa.text(
            "insert into unit (position_id, map_id, q, r, code, side, kind, attributes) values (:position, :map, :q, :r,"
            " :code, :side, 'infantry', jsonb_build_object('fire', jsonb_build_object("
            "'value', 4, 'type', 'small_arms', 'range', cast(:range as integer))))"
        ),
        [
            {
                "position": position,
                "map": map_id,
                "q": place.q,
                "r": place.r,
                "code": f"unit {n}",
                "side": "us" if place in ours else "japan",
                "range": ours.get(place, 1),
            }
            for n, place in enumerate(places)
        ],
    )
    connection.execute(sa.text("analyze unit"))

    def ask(policy: str | None) -> set[tuple[int, int]]:
        zone = sa.text(
            "select distinct q, r from css.side_zone(:position, 'us', null, cast(:policy as jsonb))"
        )
        rows = connection.execute(zone, {"position": position, "policy": policy})
        return {(q, r) for q, r in rows}

    def in_python() -> set[tuple[int, int]]:
        return {
            (target.q, target.r)
            for place, reach in ours.items()
            for target in python.fan(place, 1 if enemies & set(map(place.beside, range(1, 7))) else reach)
        }

    # a reading that is chosen in so many words is not the position's own: nothing comes from the cache
    chosen = '{"css-54": "b", "css-12": "b"}'
    if not ask(None) == ask(chosen) == in_python():
        raise BenchError(f"the zones on {name} differ: cached, live and in plain Python.")
    say(f"{name}: the zones of {len(ours)} units")
    spans = medians(max(3, times // 15), kept=lambda: ask(None), live=lambda: ask(chosen), plain=in_python)
    kept, live, plain = spans["kept"], spans["live"], spans["plain"]
    return [
        Measure(f"{name}: zones of 200 units, cached", kept),
        _ratio(f"{name}: the same, live", live, "cached zones", live / kept),
        _ratio(f"{name}: the same in plain Python", plain, "cached zones", plain / kept, "> 1", plain > kept),
    ]


def _ratio(
    name: str, milliseconds: float, against: str, ratio: float, target: str = "", met: bool | None = None
) -> Measure:
    return Measure(name, milliseconds, against, ratio, target, met)
