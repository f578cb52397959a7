"""Charts at the table: a cell that the book prints or somebody filled in, else what the players read off their aid.

`read: {chart: value}` is entered like a die: the value of the cell that is asked for. Where several cells of a
chart are wanted, it is a mapping by row, or by row and column: `{barrage_marker_effects: {medium_barrage: {fire: -2}}}`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from app.play.procedures import Action, AnswerError, Ask, Tell, Want
from app.referee.rulings import Need
from db.values import canonical

CELL = "select cell.* from position, charts.cell(position.ruleset, :chart, :row, :column) as cell where position.id = :position"


def cell(
    of: Action, chart: str, row: str, column: str, *, rule: str = "", what: str | None = None
) -> Generator[Want, Any, Any]:
    """The value of a cell as text, or as it was read; None where nobody tells it, and then the need is told.

    A reading that says otherwise than the book prints is a mistake. `what` is the need in words, else the chart's name.
    """
    told = _read(of.read, chart, row, column)
    found = yield Ask(CELL, proves=False, chart=chart, row=row, column=column)
    known = found[0] if found else None
    if known is not None and known.value is not None:
        if (
            told is not None
            and known.source == "printed"
            and canonical(told) != canonical(_same(known.value, told))
        ):
            raise AnswerError(
                f"The book prints {known.value} in {chart}, {row}, {column}, not {canonical(told)}.",
                f"Leave {chart} out of what is read.",
            )
        return known.value if told is None or known.source == "printed" else told
    if told is None:
        yield Tell(needs=[Need(what or chart, rule or (known.rule if known is not None else ""))])
    return told


def _read(read: Mapping[str, Any], chart: str, row: str, column: str) -> Any:
    told = read.get(chart)
    for key in (row, column):
        if not isinstance(told, Mapping):
            break
        told = told.get(key)
    return told


def _same(printed: str, told: Any) -> Any:
    """The printed text as a value of the kind that was read."""
    if isinstance(told, int) and not isinstance(told, bool) and printed.lstrip("-+").isdigit():
        return int(printed)
    return printed
