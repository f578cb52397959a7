"""What the questions of D-Day at Peleliu have in common: names of positions, and a finding out of a ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import sqlalchemy as sa

from app.referee.questions.movement import step_of
from app.referee.rulings import Finding, Need
from importers.questions import Names

JapanesePosition = Annotated[str, Names(("map_feature", "hex", "unit"))]
"""A Japanese position by its key, the ID of one of its hexes, a hex, or a unit there."""


def found(rows: Sequence[sa.Row[Any]], **more: Any) -> Finding:
    """The facts of a ledger's last row, and its steps; what is not told is needed."""
    return Finding(
        {**(rows[-1].facts or {}), **more},
        [step_of(row) for row in rows],
        [row.point for row in rows if row.point],
        [Need(row.note, row.rule) for row in rows if row.effect == "unknown"],
    )
