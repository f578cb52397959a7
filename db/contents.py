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
    ) -> sa.ScalarSelect[int]:
        return (
            sa.select(sa.func.count())
            .select_from(table)
            .where(table.ruleset == Ruleset.code)
            .correlate(Ruleset)
            .scalar_subquery()
        )

    tables = (Rule, Terrain, ContestedPoint, Map, Hex, Position, SavedRuling)
    query = sa.select(Ruleset.code, Ruleset.title, *(count(table) for table in tables)).order_by(
        Ruleset.title
    )
    return [RulesetContents(*tuple(row)) for row in connection.execute(query)]
