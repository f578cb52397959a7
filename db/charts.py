"""What charts the database holds, which of their cells are filled and by whom, and where sources disagree."""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import itertools
from collections.abc import Iterable
from typing import Literal

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, Field
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


Says = Literal["printed", "example", "owner", "house", "missing"]
"""Whose word a cell is: the book's, a worked example's, an owner's, a house's, or nobody's so far."""
SAYS: tuple[Says, ...] = ("printed", "example", "owner", "house", "missing")


class CellAnswer(BaseModel):
    """A cell as every door shows it."""

    model_config = ConfigDict(frozen=True)

    row: str
    column: str
    value: str | None = Field(description="What is in force; null where nobody has told it")
    source: str | None = Field(description="Whose word it is: printed, owner, house; null: nobody's")
    rule: str = Field(description="The rule that prints it, or that refers to the chart")
    example: bool = Field(description="Whether it is inferred from a worked example of that rule")

    @property
    def says(self) -> Says:
        """Whose word it is, an example's and nobody's told apart."""
        if self.value is None:
            return "missing"
        if self.source == "printed":
            return "example" if self.example else "printed"
        return "owner" if self.source == "owner" else "house"


class ChartName(BaseModel):
    """A chart by its name."""

    model_config = ConfigDict(frozen=True)

    ruleset: str
    chart: str
    title: str


class ChartAnswer(ChartName):
    """A chart with all its cells, and whose word each is."""

    rule: str = Field(description="The rule that it stands at or that refers to it")
    place: str = Field(description="Where it stands, if not among the numbered rules")
    printed: bool = Field(
        description="Whether the rulebook prints it; else an owner fills it from the player aid"
    )
    open: bool = Field(description="Whether an owner adds rows to it")
    note: str
    row: str | None = Field(
        description="What a row is; null: the rulebook tells it in words, and it has no cells"
    )
    columns: list[str]
    cells: list[CellAnswer]
    counts: dict[Says, int] = Field(
        description="How many cells are `printed`, inferred from an `example`, filled in by an `owner`, ruled by the"
        " `house`, or `missing`: for an owner to fill in"
    )
    fill: str | None = Field(description="The command that begins to fill it, where something is missing")

    @property
    def rules(self) -> list[str]:
        """Every rule that a cell or the chart itself stands at."""
        cited = [cell.rule for cell in self.cells if cell.value is not None]
        return list(dict.fromkeys([self.rule, *cited]))

    @property
    def rows(self) -> dict[str, dict[str, CellAnswer]]:
        """The cells by row and column; a column that is not there has no cell in that row."""
        table: dict[str, dict[str, CellAnswer]] = {}
        for cell in self.cells:
            table.setdefault(cell.row, {})[cell.column] = cell
        return table

    @property
    def runs(self) -> list[tuple[str, dict[str, CellAnswer]]]:
        """The rows as a book prints them: numbers in a row that say the same are one, 0 to 6."""
        runs: list[tuple[list[str], dict[str, CellAnswer]]] = []
        for row, cells in self.rows.items():
            before = runs[-1] if runs else None
            if before and _follows(before[0][-1], row) and _told(before[1]) == _told(cells) != {}:
                before[0].append(row)
            else:
                runs.append(([row], cells))
        return [(" to ".join(dict.fromkeys((rows[0], rows[-1]))), cells) for rows, cells in runs]


def _follows(row: str, other: str) -> bool:
    return row.isdecimal() and other.isdecimal() and int(other) == int(row) + 1


def _told(cells: dict[str, CellAnswer]) -> dict[str, tuple[str, str | None, str]]:
    """What a row says; nothing where a cell of it is still for its owner to fill in."""
    if any(cell.value is None for cell in cells.values()):
        return {}
    return {column: (cell.says, cell.value, cell.rule) for column, cell in cells.items()}


class GameCharts(BaseModel):
    """Every chart of a game, with how far it is filled."""

    model_config = ConfigDict(frozen=True)

    ruleset: str
    title: str
    charts: list[ChartAnswer]


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


def known_chart(ruleset: str, chart: str) -> Chart:
    """What a chart of a ruleset looks like, or which may have been meant."""
    charts = read_ruleset(known_ruleset(ruleset)).charts
    found = charts.get(chart)
    if found is None:
        near = nearest(chart, charts)
        meant = f"Did you mean {' or '.join(near)}? " if near else ""
        raise ChartError(
            f"{ruleset} has no chart {chart!r}.", f"{meant}All of them: sightline charts list {ruleset}"
        )
    return found


def chart_form(ruleset: str, chart: str) -> Chart:
    """What a chart with cells looks like; only such a one can be filled."""
    found = known_chart(ruleset, chart)
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


CHARTS = """
select chart.code as chart, chart.title, chart.rule, chart.place, chart.printed, chart.open, chart.note,
  chart.row_name, chart.column_keys, cell.row_key, cell.column_key, cell.value, cell.source, cell.example,
  cell.rule as cell_rule
from chart
left join charts.cell_in_force as cell on cell.ruleset = chart.ruleset and cell.chart = chart.code
where chart.ruleset = :ruleset
  and (cast(:chart as text) is null or chart.code = :chart)
  and (cast(:rule as text) is null or chart.rule = :rule)
order by chart.code, cell.row_n, cell.row_key, cell.column_n
"""


def charts(
    connection: Connection, ruleset: str, *, chart: str | None = None, rule: str | None = None
) -> list[ChartAnswer]:
    """The charts of a game, one of them, or those that stand at a rule; each with all its cells."""
    rows = connection.execute(sa.text(CHARTS), {"ruleset": ruleset, "chart": chart, "rule": rule}).all()
    return [
        _chart_answer(ruleset, list(cells)) for _, cells in itertools.groupby(rows, lambda row: row.chart)
    ]


def chart_answer(connection: Connection, ruleset: str, chart: str) -> ChartAnswer:
    """One chart, told in words or in cells; an unknown one is an error."""
    known_chart(ruleset, chart)
    return charts(connection, ruleset, chart=chart)[0]


def _chart_answer(ruleset: str, rows: list[sa.Row[tuple[object, ...]]]) -> ChartAnswer:
    head = rows[0]._mapping
    cells = [
        CellAnswer(
            row=row.row_key,
            column=row.column_key,
            value=row.value,
            source=row.source,
            rule=row.cell_rule,
            example=row.example,
        )
        for row in rows
        if row.row_key is not None
    ]
    counts: dict[Says, int] = dict.fromkeys(SAYS, 0)
    for cell in cells:
        counts[cell.says] += 1
    wanting = bool(counts["missing"]) or (head["open"] and not cells)
    return ChartAnswer(
        ruleset=ruleset,
        row=head["row_name"],
        columns=head["column_keys"],
        cells=cells,
        counts=counts,
        fill=template_command(ruleset, head["chart"]) if wanting else None,
        **{key: head[key] for key in ("chart", "title", "rule", "place", "printed", "open", "note")},
    )


def charts_citing(connection: Connection, ruleset: str, rules: Iterable[str]) -> list[ChartName]:
    """The charts that stand at one of these rules, or have a cell that does."""
    query = """
        select distinct chart.code as chart, chart.title
        from chart
        left join chart_cell as cell
          on cell.ruleset = chart.ruleset and cell.chart = chart.code and cell.value is not null
        where chart.ruleset = :ruleset and (chart.rule = any(:rules) or cell.rule = any(:rules))
        order by chart.title
    """
    rows = connection.execute(sa.text(query), {"ruleset": ruleset, "rules": sorted(set(rules))})
    return [ChartName(ruleset=ruleset, chart=row.chart, title=row.title) for row in rows]


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
