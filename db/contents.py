"""What a database holds, counted: for the home page."""

from __future__ import annotations

import dataclasses

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.maps import Hex, Map
from db.positions import Position
from db.rules import Rule
from db.rulesets.tables import ContestedPoint, Ruleset, Terrain
from db.rulings import SavedRuling


@dataclasses.dataclass(frozen=True)
class RulesetContents:
    """One game and how much is loaded for it."""

    code: str
    title: str
    rules: int
    terrain: int
    contested: int
    maps: int
    hexes: int
    positions: int
    rulings: int


def ruleset_contents(connection: Connection) -> list[RulesetContents]:
    """Every ruleset with its counts."""

    def count(
        table: type[Rule | Terrain | ContestedPoint | Map | Hex | Position | SavedRuling],
        *asked: sa.ColumnElement[bool],
    ) -> sa.ScalarSelect[int]:
        return (
            sa.select(sa.func.count())
            .select_from(table)
            .where(table.ruleset == Ruleset.code, *asked)
            .correlate(Ruleset)
            .scalar_subquery()
        )

    counts = [
        *(count(table) for table in (Rule, Terrain, ContestedPoint, Map, Hex)),
        # every map has one without a name, on which it is asked bare
        count(Position, Position.name.is_not(None)),
        count(SavedRuling),
    ]
    query = sa.select(Ruleset.code, Ruleset.title, *counts).order_by(Ruleset.title)
    return [RulesetContents(*tuple(row)) for row in connection.execute(query)]
