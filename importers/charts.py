"""Charts in and out: what an owner reads off the player aid into the database, and a form to write it in.

    report = import_chart(connection, "weather.csv")
    text = write_template(connection, "css", "weather_table", "csv")

A CSV file begins with a line `chart,css,weather_table`, then has a header (what a row is, then the
columns) and a line a row; a YAML or JSON file has the keys `ruleset`, `chart` and `cells`. A blank
cell says nothing; `-` says that the player aid leaves it blank.
"""

from __future__ import annotations

import csv
import dataclasses
import functools
import io
from collections import Counter
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Connection

from db import SightlineError
from db.charts import SOURCES, ChartCell, chart_cells, chart_form
from db.database import take_turns
from db.labels import nearest
from db.rulesets import CODES, NOWHERE, Chart, read_ruleset
from db.rulesets import tables as t
from db.rulesets.load import load_effects
from importers.documents import Node, Problem, Problems, read_document
from importers.map_writing import flow

MAX_BYTES = 4 * 1024 * 1024
MAX_ROWS = 20_000
LONGEST = 1000
"""Characters of a row's name or of a cell."""

Source = Literal["owner", "house"]
Place = tuple[str, str]
"""A row and a column."""


class ChartFileError(SightlineError):
    """A chart file that cannot be read or written."""


class ChartDraft(NamedTuple):
    """A chart as a file tells it: the cells that it fills, each with its place in the file."""

    ruleset: str
    chart: str
    form: Chart
    cells: dict[Place, tuple[str, Node]]


@dataclasses.dataclass(frozen=True)
class ChartReport:
    """What an import filled in."""

    ruleset: str
    chart: str
    title: str
    source: str
    filled: int
    """Cells that were blank."""
    replaced: int
    unchanged: int
    """Cells that said the same already."""
    against_book: list[dict[str, str]]
    """House cells that are not as the book prints them."""
    missing: int
    """Cells that are still blank."""
    dry_run: bool


def import_chart(
    connection: Connection,
    path: Path | str,
    *,
    source: Source = "owner",
    replace: bool = False,
    dry_run: bool = False,
) -> ChartReport:
    """Fill cells of a chart from a file, all or none.

    Raises `Problems` with everything that is wrong with the file. Commits where the caller has
    not begun a transaction of their own; a dry run changes nothing.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ChartFileError(f"Cannot read {path}: {error.strerror}.") from error
    with connection.begin_nested() if connection.in_transaction() else connection.begin() as work:
        draft = read_chart(content, str(path))
        report = _store(connection, draft, source, replace=replace)
        if dry_run:
            work.rollback()
    return dataclasses.replace(report, dry_run=dry_run)


def fill_blanks(connection: Connection, draft: ChartDraft, source: Source) -> int:
    """Fill those cells of a draft that nobody has told yet, and no other; how many that was.

    In the caller's transaction. Done again it does nothing.
    """
    blanks = blanks_of(connection, draft)
    return _store(connection, draft._replace(cells=blanks), source, replace=False).filled if blanks else 0


def blanks_of(connection: Connection, draft: ChartDraft) -> dict[Place, tuple[str, Node]]:
    """Those cells of a draft that nobody has told yet."""
    told = {
        (cell.row, cell.column)
        for cell in chart_cells(connection, draft.ruleset, draft.chart)
        if cell.value is not None
    }
    return {place: cell for place, cell in draft.cells.items() if place not in told}


def read_chart(content: bytes, name: str) -> ChartDraft:
    """A chart file as a draft: every word checked against the chart, nothing yet against the database."""
    problems = Problems()
    if name.lower().endswith(".csv"):
        root = _csv_document(content, name, problems)
    else:
        root = read_document(content, name, problems, max_bytes=MAX_BYTES)
    draft = _read(root, problems)
    problems.raise_if_any()
    assert draft is not None
    return draft


def _read(root: Node, problems: Problems) -> ChartDraft | None:
    keys = root.mapping(problems, ("ruleset", "chart", "cells"), ("ruleset", "chart", "cells"))
    if not {"ruleset", "chart", "cells"} <= keys.keys():
        return None
    ruleset = keys["ruleset"].word(problems, "ruleset", CODES)
    if ruleset is None:
        return None
    charts = read_ruleset(ruleset).charts
    code = keys["chart"].word(problems, f"chart of {ruleset}", list(charts))
    if code is None:
        return None
    form = charts[code]
    if form.row is None:
        problems.add(keys["chart"], f"the chart {code} of {ruleset} is told in words and has no cells")
        return None
    return ChartDraft(ruleset, code, form, _read_cells(keys["cells"], form, problems))


def _read_cells(node: Node, form: Chart, problems: Problems) -> dict[Place, tuple[str, Node]]:
    rows = node.mapping(problems)
    if len(rows) > MAX_ROWS:
        problems.add(node, f"more than {MAX_ROWS} rows")
        return {}
    found: dict[Place, tuple[str, Node]] = {}
    there = {(row, column) for row, column, _ in form.each_cell()}
    for row, written in rows.items():
        if not form.open and row not in form.cells:
            problems.unknown(written, str(form.row), row, list(form.cells))
            continue
        if not 0 < len(row) <= LONGEST:
            problems.add(written, f"a {form.row} has 1 to {LONGEST} characters")
            continue
        for column, cell in _row(written, form, problems):
            value = _value(cell, column, form, problems)
            if value is None:
                continue
            if row in form.cells and (row, column) not in there:
                if value != NOWHERE:
                    problems.add(cell, f"the chart has no cell at {row}, {column}: leave it blank")
                continue
            found[row, column] = value, cell
    return found


def _row(written: Node, form: Chart, problems: Problems) -> list[tuple[str, Node]]:
    """A row by column: a mapping, a list in the order of the columns, or the value of the one column."""
    if isinstance(written.value, list):
        if len(written.value) != len(form.columns):
            problems.add(written, f"{len(written.value)} cells, but {len(form.columns)} columns")
            return []
        return list(zip(form.columns, written.value, strict=True))
    if isinstance(written.value, dict) or written.value is None:
        known = written.mapping(problems, list(form.columns))
        return list(known.items())
    if len(form.columns) > 1:
        problems.add(written, f"one cell, but {len(form.columns)} columns: {', '.join(form.columns)}")
        return []
    return [(next(iter(form.columns)), written)]


def _value(cell: Node, column: str, form: Chart, problems: Problems) -> str | None:
    """What a cell says, as the chart writes it; None where it says nothing."""
    if cell.value is None:
        return None
    if cell.text is None:
        problems.add(cell, f"expected one value, found {cell.kind}")
        return None
    written = cell.text.strip()
    if not written:
        return None
    if len(written) > LONGEST:
        problems.add(cell, f"a cell has at most {LONGEST} characters")
        return None
    value = written if written == NOWHERE else _spelled(written, form, column)
    mistake = None if value == NOWHERE else form.mistake(column, value)
    if mistake is None:
        return value
    words = form.holds(column)
    known = words if isinstance(words, tuple) else ()
    problems.add(cell, mistake, functools.partial(nearest, value, known))
    return None


def _spelled(written: str, form: Chart, column: str) -> str:
    """+1, 01 and 1.0 are 1, ½ is 0.5, yes is true: as the chart's own cells are written."""
    wanted = form.holds(column)
    if wanted == "flag":
        return {"yes": "true", "no": "false"}.get(written.lower(), written.lower())
    if wanted not in ("whole", "points"):
        return written
    try:
        number = Decimal(written.replace("½", ".5").replace("−", "-"))
    except InvalidOperation:
        return written
    if not number.is_finite() or abs(number) > 10_000:
        return written
    return str(int(number)) if number == int(number) else str(number.normalize())


def _csv_document(content: bytes, name: str, problems: Problems) -> Node:
    """A CSV file as the tree that a YAML file would give."""
    root = Node({}, file=name, line=1)
    lines = _csv_lines(content, name)
    head = lines[0] if lines else None
    if head is None or head[1][0].lower() != "chart" or len(head[1]) < 3:
        _refuse(name, 1, "the first line names the game and the chart, such as: chart,css,weather_table")
    line, words = head
    cells = Node({}, file=name, line=line, parent=root, key="cells")
    root.value = {
        "ruleset": Node(words[1], text=words[1], file=name, line=line, parent=root, key="ruleset"),
        "chart": Node(words[2], text=words[2], file=name, line=line, parent=root, key="chart"),
        "cells": cells,
    }
    if len(lines) < 2:
        _refuse(name, line, "the second line names the columns")
    line, columns = lines[1]
    while columns and not columns[-1]:
        columns.pop()
    for column in columns[1:]:
        if columns[1:].count(column) > 1:
            _refuse(name, line, f"the column {column!r} is there twice")
    assert isinstance(cells.value, dict)
    for line, words in lines[2:]:
        row = Node({}, file=name, line=line, parent=cells, key=words[0])
        if not words[0]:
            problems.add(row, f"the row has no name: write the {columns[0]} in its first cell")
            continue
        if any(words[len(columns) :]):
            problems.add(row, f"{len(words)} cells in a table of {len(columns)} columns")
        if words[0] in cells.value:
            problems.add(row, f"{words[0]} is named twice, first {cells.value[words[0]].where}")
            continue
        row.value = {
            column: row.child(column, word or None, word)
            for column, word in zip(columns[1:], words[1:], strict=False)
        }
        cells.value[words[0]] = row
    return root


def _csv_lines(content: bytes, name: str) -> list[tuple[int, list[str]]]:
    """The lines that say something, each with its number."""
    if len(content) > MAX_BYTES:
        _refuse(name, None, f"the file is larger than {MAX_BYTES / 1024 / 1024:g} MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        _refuse(name, line, f"not UTF-8: byte 0x{error.object[error.start]:02x}; save the file as UTF-8")
    if "\0" in text:
        _refuse(name, text[: text.index("\0")].count("\n") + 1, "a NUL character cannot be stored")
    first = text.partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=";" if ";" in first and "," not in first else ","
    )
    lines: list[tuple[int, list[str]]] = []
    while True:
        line = reader.line_num + 1
        try:
            words = next(reader, None)
        except csv.Error as error:
            _refuse(name, line, f"not CSV: {error}")
        if words is None:
            return lines
        if any(word.strip() for word in words):
            lines.append((line, [word.strip() for word in words]))


def _refuse(name: str, line: int | None, message: str) -> NoReturn:
    """Raise what makes reading on pointless."""
    Problems([Problem(name, line, "", message)]).raise_if_any()
    raise AssertionError


def _store(connection: Connection, draft: ChartDraft, source: Source, *, replace: bool) -> ChartReport:
    """Write the cells of a draft, unless one contradicts the book or what was filled in before."""
    # two imports of one chart
    take_turns(connection, f"chart {draft.ruleset} {draft.chart}")
    before = _filled(connection, draft, source)
    book = {(row, column): cell for row, column, cell in draft.form.each_cell()}
    problems = Problems()
    against: list[dict[str, str]] = []
    rows: dict[Place, str] = {}
    counts = {"filled": 0, "replaced": 0, "unchanged": 0}
    for (row, column), (value, node) in draft.cells.items():
        printed = book[row, column].value if (row, column) in book else None
        old = before.get((row, column))
        if printed is not None and printed != value:
            if source == "owner":
                problems.add(
                    node,
                    f"the book prints {printed!r} here (rule {book[row, column].rule or draft.form.rule}), "
                    f"not {value!r}: mend it, or import it as a house chart: --source house",
                )
                continue
            against.append({"row": row, "column": column, "printed": printed, "house": value})
        if value in (printed, old) and (old is None or old == value):
            counts["unchanged"] += 1
        elif old is not None and old != value and not replace:
            problems.add(node, f"is filled in as {old!r} already, not {value!r}: replace it with --replace")
        else:
            counts["replaced" if old is not None else "filled"] += 1
            rows[row, column] = value
    _check_tally(connection, draft, problems)
    problems.raise_if_any()
    _write(connection, draft, source, rows, {place for place, cell in book.items() if cell.value is not None})
    load_effects(connection, read_ruleset(draft.ruleset))
    cells = chart_cells(connection, draft.ruleset, draft.chart)
    return ChartReport(
        ruleset=draft.ruleset,
        chart=draft.chart,
        title=draft.form.title,
        source=source,
        **counts,
        against_book=against,
        missing=sum(cell.value is None for cell in cells),
        dry_run=False,
    )


def _check_tally(connection: Connection, draft: ChartDraft, problems: Problems) -> None:
    """A list of rows that a printed chart counts has no more of any kind than are printed."""
    tally = draft.form.tally
    if tally is None:
        return
    told = {
        (cell.row, cell.column): cell.value
        for cell in chart_cells(connection, draft.ruleset, draft.chart)
        if cell.value is not None
    } | {place: value for place, (value, _) in draft.cells.items()}
    printed = {
        (row, column): int(cell.value or 0)
        for row, column, cell in read_ruleset(draft.ruleset).charts[tally.chart].each_cell()
    }
    counts: Counter[tuple[str, str]] = Counter()
    for (row, column), (value, node) in draft.cells.items():
        if column in tally.of and not any(kind == f"{column}/{value}" for kind, _ in printed):
            problems.add(node, f"{row}: there is no {column} {value!r} (see the chart {tally.chart})")
    for (row, column), value in told.items():
        if column in tally.of and (whose := told.get((row, tally.by))) is not None:
            counts[f"{column}/{value}", whose] += 1
    for (kind, whose), number in counts.items():
        if number > (most := printed.get((kind, whose), number)):
            node = next(node for (_, column), (_, node) in draft.cells.items() if column in tally.of)
            problems.add(node, f"{number} rows of {whose} with {kind}, where {tally.chart} prints {most}")


def _filled(connection: Connection, draft: ChartDraft, source: Source) -> dict[Place, str]:
    query = sa.select(t.ChartCell.row_key, t.ChartCell.column_key, t.ChartCell.value).where(
        t.ChartCell.ruleset == draft.ruleset,
        t.ChartCell.chart == draft.chart,
        t.ChartCell.source == source,
    )
    return {(row.row_key, row.column_key): str(row.value) for row in connection.execute(query)}


def _write(
    connection: Connection, draft: ChartDraft, source: Source, rows: dict[Place, str], printed: set[Place]
) -> None:
    book = {(row, column): cell for row, column, cell in draft.form.each_cell()}
    places = _row_places(connection, draft)
    taken_back = [place for place in rows if place in printed and book[place].value == rows[place]]
    for row, column in taken_back:
        # as the book has it again: nothing is left to say
        connection.execute(
            sa.delete(t.ChartCell).where(
                t.ChartCell.ruleset == draft.ruleset,
                t.ChartCell.chart == draft.chart,
                t.ChartCell.row_key == row,
                t.ChartCell.column_key == column,
                t.ChartCell.source == source,
            )
        )
    values = [
        {
            "ruleset": draft.ruleset,
            "chart": draft.chart,
            "row_key": row,
            "column_key": column,
            "source": source,
            "row_n": places[row],
            "value": value,
            "rule": (book[row, column].rule if (row, column) in book else None) or draft.form.rule,
        }
        for (row, column), value in rows.items()
        if (row, column) not in taken_back
    ]
    if values:
        statement = insert(t.ChartCell)
        keys = [column.name for column in t.ChartCell.__table__.primary_key]
        changed = {name: statement.excluded[name] for name in ("value", "rule", "row_n")}
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed), values)


def _row_places(connection: Connection, draft: ChartDraft) -> dict[str, int]:
    """Where each row stands: as in the book, as it was filled in, or behind all others in the file's order."""
    query = sa.select(t.ChartCell.row_key, sa.func.min(t.ChartCell.row_n).label("n")).where(
        t.ChartCell.ruleset == draft.ruleset, t.ChartCell.chart == draft.chart
    )
    places = {row.row_key: int(row.n) for row in connection.execute(query.group_by(t.ChartCell.row_key))}
    for row, _ in draft.cells:
        places.setdefault(row, max(places.values(), default=0) + 1)
    return places


def remove_cells(
    connection: Connection,
    ruleset: str,
    chart: str,
    *,
    row: str | None = None,
    column: str | None = None,
    source: Source | None = None,
) -> int:
    """Take back what an owner or a house filled in, of a chart or a part of it; how many cells that was."""
    form = chart_form(ruleset, chart)
    if column is not None and column not in form.columns:
        raise ChartFileError(
            f"The chart {chart} of {ruleset} has no column {column!r}.",
            f"Its columns: {', '.join(form.columns)}.",
        )
    asked = sa.delete(t.ChartCell).where(
        t.ChartCell.ruleset == ruleset,
        t.ChartCell.chart == chart,
        t.ChartCell.source.in_(SOURCES if source is None else (source,)),
    )
    if row is not None:
        asked = asked.where(t.ChartCell.row_key == row)
    if column is not None:
        asked = asked.where(t.ChartCell.column_key == column)
    count = connection.execute(asked).rowcount
    load_effects(connection, read_ruleset(ruleset))
    return count


def write_template(connection: Connection, ruleset: str, chart: str, form: str = "csv") -> str:
    """A chart to be filled in: what the book prints and the owner has told is there, the rest is blank."""
    facts = chart_form(ruleset, chart)
    told = _told(connection, ruleset, chart)
    rows = list(dict.fromkeys([*facts.cells, *(row for row, _ in told)]))
    if form == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["chart", ruleset, chart])
        writer.writerow([facts.row, *facts.columns])
        writer.writerows([row, *(told.get((row, column), "") for column in facts.columns)] for row in rows)
        return text.getvalue()
    lines = [f"# {facts.title} (rule {facts.rule}). null stands for what is not told yet."]
    lines += [f"# {column}: {_wanted(facts, column)}" for column in facts.columns]
    lines += [f"ruleset: {ruleset}", f"chart: {chart}", "cells:" if rows else "cells: {}"]
    for row in rows:
        cells = {column: told[row, column] for column in facts.columns if (row, column) in told}
        lines.append(f"  {flow(row)}: {flow({column: value or None for column, value in cells.items()})}")
    return "\n".join(lines) + "\n"


def _told(connection: Connection, ruleset: str, chart: str) -> dict[Place, str]:
    """Every cell of a chart, blank where nobody has told it; what a house says otherwise is left out."""
    book = {(row, column): cell.value for row, column, cell in chart_form(ruleset, chart).each_cell()}

    def value(cell: ChartCell) -> str:
        return (book.get((cell.row, cell.column)) if cell.source == "house" else cell.value) or ""

    return {(cell.row, cell.column): value(cell) for cell in chart_cells(connection, ruleset, chart)}


def _wanted(form: Chart, column: str) -> str:
    wanted = form.holds(column)
    if isinstance(wanted, tuple):
        return "one of " + ", ".join(wanted)
    return {
        "whole": "a whole number",
        "points": "whole or half points, prohibited or all",
        "flag": "true or false",
    }.get(wanted, "text")
