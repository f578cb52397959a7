"""A map in miniature, for lists: its ground, its ways, and where the units stand.

Of a large map a run of hexes is one stroke along their column, so that thousands of them are a
few kilobytes and some milliseconds; at that size the steps of its rim are as good as hexes. Of a
larger one a hex in four, in sixteen and so on stands for those around it (`sql/gis/sample.sql`).
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import sqlalchemy as sa
from markupsafe import Markup
from sqlalchemy.engine import Connection

from app.drawing.counters import paint_of
from app.drawing.palette import PATHS, TERRAIN
from db.labels import Axial
from db.maps import Hex, Map, MapCount, Path
from db.positions import Position, Unit

Spot = tuple[float, float]
COLUMN, HALF = 15, 8.66
"""Between two columns, and half of what is between two rows, where a hex's corner radius is 10."""
OUTLINE = {False: (-10, 0, "l5-8.7h10l5 8.7-5 8.7h-10z"), True: (0, -10, "l8.7 5v10l-8.7 5-8.7-5v-10z")}
"""By whether hexes are pointed: where to begin, from the centre, and the way around."""
FEW = 1000
"""Hexes that are drawn one by one."""
MOST = 12_000
"""Hexes that are drawn of the largest map."""
COUNTER = 18
LONGER_SIDE = 320
"""Pixels, where nothing else is said."""


def miniature(connection: Connection, map_name: str, standing: Iterable[Any] = ()) -> Markup:
    """A map as a small SVG, with the units of `units_of` if wanted."""
    board = connection.execute(sa.select(Map.id, Map.scheme).where(Map.name == map_name)).one()
    pointed = board.scheme.get("orientation") == "pointed"
    step = _step(connection, board.id)
    hexes = _hexes(connection, board.id, step)
    ways = connection.execute(
        sa.select(Path.kind, Path.qs, Path.rs)
        .where(Path.map_id == board.id, sa.func.cardinality(Path.qs) > 2 * (step - 1))
        .order_by(Path.id)
    )
    spots = [_spot(q, r, pointed) for q, r, _ in hexes] or [(0.0, 0.0)]
    rim = 12 * step
    left, top = (min(axis) - rim for axis in zip(*spots, strict=True))
    width, height = (
        max(axis) + rim - low for axis, low in zip(zip(*spots, strict=True), (left, top), strict=True)
    )
    scale = LONGER_SIDE / max(width, height)
    parts = (
        *(_each(hexes, pointed) if len(hexes) <= FEW and step == 1 else _runs(hexes, pointed, step)),
        *_ways(ways, pointed, step),
        *_units(standing, pointed, COUNTER * step),
    )
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}"'
        f' width="{width * scale:.0f}" height="{height * scale:.0f}" fill="none">{"".join(parts)}</svg>'
    )


def _step(connection: Connection, map_id: int) -> int:
    """By how much the hexes of a map are thinned out, so that no more than `MOST` are left."""
    counted = sa.select(sa.func.coalesce(sa.func.sum(MapCount.count), 0)).where(
        MapCount.map_id == map_id, MapCount.part == "terrain"
    )
    hexes = int(connection.execute(counted).scalar_one())
    step = 1
    while hexes > MOST * step * step:
        step *= 2
    return step


def _hexes(connection: Connection, map_id: int, step: int) -> list[Any]:
    if step == 1:
        ground = sa.select(Hex.q, Hex.r, Hex.terrain).where(Hex.map_id == map_id)
        return list(connection.execute(ground.order_by(Hex.q, Hex.r)))
    everywhere = sa.func.gis._everywhere()
    found = sa.func.gis._sampled(map_id, everywhere, step).table_valued("q", "r", "terrain")
    return list(connection.execute(sa.select(found.c.q, found.c.r, found.c.terrain).order_by("q", "r")))


def units_of(connection: Connection, position: str) -> list[Any]:
    """Where the units of a saved position stand, and whose they are."""
    return units_in(connection, connection.scalar(sa.select(Position.id).where(Position.name == position)))


def units_in(connection: Connection, position_id: int | None) -> list[Any]:
    """The same of a position by its row, which may have no name, as a game's has none."""
    query = (
        sa.select(Unit.q, Unit.r, Unit.side, Unit.attributes)
        .where(Unit.position_id == position_id, Unit.q.is_not(None))
        .order_by(Unit.q, Unit.r, Unit.id)
    )
    return list(connection.execute(query))


def _spot(q: int, r: int, pointed: bool) -> Spot:
    x, y = COLUMN * q, round(HALF * (2 * r + q), 1)
    return (-y, x) if pointed else (x, y)


def _each(hexes: Iterable[Any], pointed: bool) -> Iterator[str]:
    right, down, around = OUTLINE[pointed]
    drawn: dict[str, list[str]] = collections.defaultdict(list)
    for q, r, terrain in hexes:
        x, y = _spot(q, r, pointed)
        drawn[terrain].append(f"M{x + right:g} {y + down:g}{around}")
    for terrain, outlines in sorted(drawn.items()):
        fill = TERRAIN[terrain].fill
        yield f'<path fill="{fill}" stroke="{fill}" stroke-width=".6" d="{"".join(outlines)}"/>'


def _runs(hexes: Iterable[Any], pointed: bool, step: int) -> Iterator[str]:
    runs: dict[str, list[str]] = collections.defaultdict(list)
    # hexes of one run have the same difference of row and rank
    ranked = itertools.groupby(
        enumerate(hexes), lambda item: (item[1].q, item[1].terrain, item[1].r // step - item[0])
    )
    half = HALF * step
    for (q, terrain, _), group in ranked:
        rows = [row.r for _, row in group]
        (x1, y1), (x2, y2) = _spot(q, rows[0], pointed), _spot(q, rows[-1], pointed)
        end = f"M{x1 + half:g} {y1:g}H{x2 - half:g}" if pointed else f"M{x1:g} {y1 - half:g}V{y2 + half:g}"
        runs[terrain].append(end)
    for terrain, drawn in sorted(runs.items()):
        yield f'<path stroke="{TERRAIN[terrain].fill}" stroke-width="{step * (COLUMN + 0.6):g}" d="{"".join(drawn)}"/>'


def _ways(ways: Iterable[Any], pointed: bool, step: int) -> Iterator[str]:
    for kind, qs, rs in ways:
        hexes = list(zip(qs, rs, strict=True))
        # every so many of its hexes, and the last
        spots = (_spot(q, r, pointed) for q, r in [*hexes[:-1:step], hexes[-1]])
        d = "L".join(f"{x:g} {y:g}" for x, y in spots)
        stroke = PATHS[kind]
        yield f'<path stroke="{stroke.casing or stroke.ink}" stroke-width="{3 * step}" d="M{d}"/>'


def _units(standing: Iterable[Any], pointed: bool, size: int) -> Iterator[str]:
    for place, group in itertools.groupby(standing, lambda unit: Axial(unit.q, unit.r)):
        look = paint_of({"side": (first := next(group)).side, **first.attributes})
        x, y = _spot(*place, pointed)
        yield (
            f'<rect x="{x - size / 2:g}" y="{y - size / 2:g}" width="{size}" height="{size}" rx="{size // 9}"'
            f' fill="{look.card}" stroke="{look.edge}" stroke-width="{size // 9}"/>'
        )
