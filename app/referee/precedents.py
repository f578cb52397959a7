"""Precedents: earlier rulings and cases of the suite that share rules, contested points and ground with a ruling."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONPATH
from sqlalchemy.engine import Connection

from app.referee.rulings import Ruling
from db import suite
from db.labels import Axial, LabelError, side_hexes
from db.map_draft import MapDraft
from db.maps import Hexside, Map
from db.position_draft import PositionDraft
from db.rulings import SavedRuling
from db.suite import Features

MOST = 6
"""Precedents that are shown."""
LOOKED_THROUGH = 200
"""Kept rulings that share a telling rule, the latest, of which the best are taken."""
PLACES = 60
"""Places of a ruling whose ground is looked at."""
TELLING = 6
"""Rules by which kept rulings are looked for: the rarest of a ruling."""


@dataclasses.dataclass(frozen=True)
class Precedent:
    """An earlier ruling or a case, and what it shares with the ruling at hand."""

    what: Literal["ruling", "case"]
    id: str
    title: str
    kind: str
    """Of its question; of a case with several, all of them."""
    rules: tuple[str, ...]
    points: tuple[str, ...]
    terrain: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def features(ruling: Ruling, terrain: Iterable[str]) -> Features:
    """What a ruling applies and touches."""
    return Features(
        rules=frozenset(step.rule for step in ruling.steps),
        points=frozenset(touched["point"] for touched in ruling.contested),
        terrain=frozenset(terrain),
        kinds=frozenset([ruling.kind]),
    )


def terrain_of(ruling: Ruling, position: PositionDraft, connection: Connection | None = None) -> set[str]:
    """The terrain, hexsides and markers at the places that the steps of a ruling name."""
    board = position.board
    named = list(dict.fromkeys(step.at for step in ruling.steps if step.at))[:PLACES]
    sides = [side for label in named if "|" in label and (side := _side(label, board))]
    hexes = {place for side in sides for place in side_hexes(*side)}
    hexes |= {place for label in named if "|" not in label and (place := _hex(label, board))}
    found = {board.hexes[place].terrain for place in hexes if place in board.hexes}
    found |= {marker.kind for marker in position.markers if marker.at in hexes}
    return found | _hexside_kinds(position, sides, connection)


def _hex(label: str, board: MapDraft) -> Axial | None:
    with contextlib.suppress(LabelError):
        return board.scheme.hex(label)
    return None


def _side(label: str, board: MapDraft) -> tuple[int, int] | None:
    with contextlib.suppress(LabelError):
        return board.scheme.side(label)
    return None


def _hexside_kinds(
    position: PositionDraft, sides: list[tuple[int, int]], connection: Connection | None
) -> set[str]:
    """What lies on some hexsides; of a saved map no others are loaded."""
    if not sides:
        return set()
    if connection is None or position.saved_map is None:
        return {kind for x, y, kind in position.board.hexsides if (x, y) in sides}
    query = (
        sa.select(Hexside.kind)
        .distinct()
        .join(Map, Map.id == Hexside.map_id)
        .where(Map.name == position.saved_map, sa.tuple_(Hexside.x, Hexside.y).in_(sides))
    )
    return {*connection.scalars(query)}


def precedents(
    connection: Connection,
    ruling: Ruling,
    terrain: Iterable[str],
    most: int = MOST,
    but: Collection[str] = (),
) -> list[Precedent]:
    """Earlier rulings and cases that are like a ruling, the most alike first; without itself and those named."""
    wanted = features(ruling, terrain)
    left_out = {*but, ruling.id or "", ruling.case or ""}
    found: list[tuple[float, Literal["ruling", "case"], str, str, Features]] = [
        (score, "case", case.id, case.title, case.features)
        for score, case in suite.alike(ruling.ruleset, wanted, left_out)
    ]
    found += [
        (score, "ruling", row.id, row.title or row.case_id, theirs)
        for row, theirs in _kept(connection, ruling.ruleset, wanted)
        if row.id not in left_out and (score := suite.likeness(ruling.ruleset, wanted, theirs))
    ]
    found.sort(key=lambda entry: (-entry[0], entry[1], entry[2]))
    return [
        Precedent(
            what,
            id,
            title,
            ", ".join(sorted(theirs.kinds)),
            tuple(sorted(wanted.rules & theirs.rules)),
            tuple(sorted(wanted.points & theirs.points)),
            tuple(sorted(wanted.terrain & theirs.terrain)),
        )
        for _, what, id, title, theirs in found[:most]
    ]


def _kept(connection: Connection, ruleset: str, wanted: Features) -> Iterator[tuple[sa.Row[Any], Features]]:
    """Kept rulings that apply one of the rarest rules of a ruling, the latest first, and what each is about."""
    telling = sorted(wanted.rules, key=lambda rule: (-suite.weight(ruleset, ("rule", rule)), rule))[:TELLING]
    if not telling:
        return
    rows = connection.execute(
        sa.select(
            SavedRuling.id,
            SavedRuling.title,
            SavedRuling.case_id,
            SavedRuling.kind,
            SavedRuling.terrain,
            _each(SavedRuling.steps, "rule").label("rules"),
            _each(SavedRuling.contested, "point").label("points"),
        )
        .where(
            SavedRuling.ruleset == ruleset,
            sa.or_(*(SavedRuling.steps.contains([{"rule": rule}]) for rule in telling)),
        )
        .order_by(SavedRuling.created_at.desc(), SavedRuling.id)
        .limit(LOOKED_THROUGH)
    )
    for row in rows:
        yield (
            row,
            Features(
                frozenset(row.rules), frozenset(row.points), frozenset(row.terrain), frozenset([row.kind])
            ),
        )


def _each(column: Any, key: str) -> sa.ColumnElement[Any]:
    return sa.func.jsonb_path_query_array(column, sa.cast(f"$[*].{key}", JSONPATH))
