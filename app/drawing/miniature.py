"""A map in miniature, for lists: its ground, its ways, and where the units stand.

Of a large map a run of hexes is one stroke along their column, so that thousands of them are a
few kilobytes and some milliseconds; at that size the steps of its rim are as good as hexes.
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
from db.maps import Hex, Map, Path
from db.positions import Position, Unit

Spot = tuple[float, float]
COLUMN, HALF = 15, 8.66
"""Between two columns, and half of what is between two rows, where a hex's corner radius is 10."""
OUTLINE = {False: (-10, 0, "l5-8.7h10l5 8.7-5 8.7h-10z"), True: (0, -10, "l8.7 5v10l-8.7 5-8.7-5v-10z")}
"""By whether hexes are pointed: where to begin, from the centre, and the way around."""
FEW = 1000
"""Hexes that are drawn one by one."""
COUNTER = 18
LONGER_SIDE = 320
"""Pixels, where nothing else is said."""


def miniature(connection: Connection, map_name: str, standing: Iterable[Any] = ()) -> Markup:
    """A map as a small SVG, with the units of `units_of` if wanted."""
    board = connection.execute(sa.select(Map.id, Map.scheme).where(Map.name == map_name)).one()
    pointed = board.scheme.get("orientation") == "pointed"
    ground = sa.select(Hex.q, Hex.r, Hex.terrain).where(Hex.map_id == board.id).order_by(Hex.q, Hex.r)
    hexes = connection.execute(ground).all()
    ways = connection.execute(
        sa.select(Path.kind, Path.qs, Path.rs).where(Path.map_id == board.id).order_by(Path.id)
    )
    spots = [_spot(q, r, pointed) for q, r, _ in hexes] or [(0.0, 0.0)]
    left, top = (min(axis) - 12 for axis in zip(*spots, strict=True))
    width, height = (
        max(axis) + 12 - low for axis, low in zip(zip(*spots, strict=True), (left, top), strict=True)
    )
    scale = LONGER_SIDE / max(width, height)
    parts = (
        *(_each if len(hexes) <= FEW else _runs)(hexes, pointed),
        *_ways(ways, pointed),
        *_units(standing, pointed),
    )
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}"'
        f' width="{width * scale:.0f}" height="{height * scale:.0f}" fill="none">{"".join(parts)}</svg>'
    )


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


def _runs(hexes: Iterable[Any], pointed: bool) -> Iterator[str]:
    runs: dict[str, list[str]] = collections.defaultdict(list)
    # hexes of one run have the same difference of row and rank
    ranked = itertools.groupby(
        enumerate(hexes), lambda item: (item[1].q, item[1].terrain, item[1].r - item[0])
    )
    for (q, terrain, _), group in ranked:
        rows = [row.r for _, row in group]
        (x1, y1), (x2, y2) = _spot(q, rows[0], pointed), _spot(q, rows[-1], pointed)
        end = f"M{x1 + HALF:g} {y1:g}H{x2 - HALF:g}" if pointed else f"M{x1:g} {y1 - HALF:g}V{y2 + HALF:g}"
        runs[terrain].append(end)
    for terrain, drawn in sorted(runs.items()):
        yield f'<path stroke="{TERRAIN[terrain].fill}" stroke-width="{COLUMN + 0.6:g}" d="{"".join(drawn)}"/>'


def _ways(ways: Iterable[Any], pointed: bool) -> Iterator[str]:
    for kind, qs, rs in ways:
        spots = (_spot(q, r, pointed) for q, r in zip(qs, rs, strict=True))
        d = "L".join(f"{x:g} {y:g}" for x, y in spots)
        stroke = PATHS[kind]
        yield f'<path stroke="{stroke.casing or stroke.ink}" stroke-width="3" d="M{d}"/>'


def _units(standing: Iterable[Any], pointed: bool) -> Iterator[str]:
    for place, group in itertools.groupby(standing, lambda unit: Axial(unit.q, unit.r)):
        look = paint_of({"side": (first := next(group)).side, **first.attributes})
        x, y = _spot(*place, pointed)
        yield (
            f'<rect x="{x - COUNTER / 2:g}" y="{y - COUNTER / 2:g}" width="{COUNTER}" height="{COUNTER}" rx="2"'
            f' fill="{look.card}" stroke="{look.edge}" stroke-width="2"/>'
        )
