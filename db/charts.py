"""What charts the database holds, which of their cells are filled and by whom, and where sources disagree."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.labels import nearest
from db.rulesets import CODES, Chart, read_ruleset

SOURCES = ("owner", "house")
"""Who fills cells: an owner reads them off the player aid, a house makes rules of its own."""


class ChartError(SightlineError):
    """A chart that is not there, or has no cells."""

    status = 404


@dataclasses.dataclass(frozen=True)
class ChartState:
    """A chart as the list has it."""

    ruleset: str
    chart: str
    title: str
    rule: str
    printed: bool
    open: bool
    cells: int
    missing: int
    owner: int
    house: int

    @property
    def empty(self) -> bool:
        """Whether it is a chart of rows that its owner adds, and has none yet."""
        return self.open and not self.cells

    @property
    def state(self) -> str:
        """How far it is filled, in a word."""
        if not self.cells:
            return "empty" if self.open else "words only"
        return "partly" if self.missing else "complete"


@dataclasses.dataclass(frozen=True)
class ChartCell:
    """What is in force in a cell."""

    row: str
    column: str
    value: str | None
    source: str | None
    rule: str


@dataclasses.dataclass(frozen=True)
class Contradiction:
    """A cell of an owner or a house that is not as the book prints it."""

    chart: str
    row: str
    column: str
    printed: str
    source: str
    value: str
    rule: str


@dataclasses.dataclass(frozen=True)
class Stray:
    """A cell of an owner or a house where the chart has none any more."""

    chart: str
    row: str
    column: str
    source: str
    value: str


def known_ruleset(ruleset: str) -> str:
    """The ruleset, or what may have been meant."""
    if ruleset in CODES:
        return ruleset
    raise ChartError(f"There is no ruleset {ruleset!r}.", f"Rulesets: {', '.join(CODES)}.")


def chart_form(ruleset: str, chart: str) -> Chart:
    """What a chart of a ruleset looks like; only one with cells can be shown or filled."""
    charts = read_ruleset(known_ruleset(ruleset)).charts
    found = charts.get(chart)
    if found is None:
        near = nearest(chart, charts)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        raise ChartError(
            f"{ruleset} has no chart {chart!r}.", f"{meant}All of them: sightline charts list {ruleset}"
        )
    if found.row is None:
        raise ChartError(
            f"The chart {chart} of {ruleset} is told in words and has no cells: {found.note}",
            f"Those with cells: sightline charts list {ruleset}",
        )
    return found


def chart_states(connection: Connection, ruleset: str | None = None) -> list[ChartState]:
    """Every chart of a game, or of all, with how far it is filled."""
    if ruleset is not None:
        known_ruleset(ruleset)
    columns = ", ".join(field.name for field in dataclasses.fields(ChartState))
    query = f"""
        select {columns} from charts.state
        where cast(:ruleset as text) is null or ruleset = :ruleset
        order by ruleset, chart
    """
    return [ChartState(*row) for row in connection.execute(sa.text(query), {"ruleset": ruleset})]


def chart_cells(connection: Connection, ruleset: str, chart: str) -> list[ChartCell]:
    """The cells of a chart in their order, with what is in force."""
    chart_form(ruleset, chart)
    query = "select row_key, column_key, value, source, rule from charts.cells(:ruleset, :chart)"
    rows = connection.execute(sa.text(query), {"ruleset": ruleset, "chart": chart})
    return [ChartCell(*row) for row in rows]


def contradictions(connection: Connection, ruleset: str) -> list[Contradiction]:
    """Where an owner or a house says otherwise than the book."""
    query = """
        select chart, row_key, column_key, printed, source, value, rule
        from charts.contradictions(:ruleset)
    """
    return [Contradiction(*row) for row in connection.execute(sa.text(query), {"ruleset": ruleset})]


def strays(connection: Connection, ruleset: str) -> list[Stray]:
    """What was filled in where the chart, since an upgrade, has no such cell."""
    query = "select chart, row_key, column_key, source, value from charts.strays(:ruleset)"
    return [Stray(*row) for row in connection.execute(sa.text(query), {"ruleset": ruleset})]


def filled_digest(connection: Connection, ruleset: str) -> str | None:
    """One digest of all that an owner or a house has filled in; None where that is nothing."""
    found = connection.scalar(sa.text("select charts.filled_digest(:ruleset)"), {"ruleset": ruleset})
    return None if found is None else str(found)


@functools.cache
def chart_needed(ruleset: str, what: str) -> str | None:
    """The chart that would tell what a ruling needs: by its own name, or by what it says it is needed for."""
    charts = read_ruleset(ruleset).charts
    if what in charts:
        return what if charts[what].row else None
    for code, chart in charts.items():
        if any(fnmatch.fnmatchcase(what, words) for words in chart.needed_for):
            return code
    return None


def template_command(ruleset: str, chart: str) -> str:
    """The command that writes what an owner fills in."""
    return f"sightline charts template {ruleset} {chart}"
