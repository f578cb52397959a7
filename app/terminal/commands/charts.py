"""`sightline charts …`: the tables of the games, cell by cell, and what an owner fills in."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click
from rich.text import Text
from sqlalchemy.engine import Connection

from app.terminal.caution import confirm, refuse_overwriting
from app.terminal.database import asking, writing
from app.terminal.output import out, print_json, print_table, say
from db.charts import (
    SOURCES,
    ChartAnswer,
    ChartState,
    chart_answer,
    chart_form,
    chart_states,
    contradictions,
    known_ruleset,
    strays,
    template_command,
)
from db.rulesets import CODES
from importers.charts import ChartReport, Source, import_chart, remove_cells, write_template


@click.group("charts")
def charts_group() -> None:
    """The charts of the games: what the rulebook prints, and what you fill in from your player aid.

    A cell that the book does not print is blank until an owner fills it; a ruling that needs it says so.
    What you fill in stays through upgrades and is part of a backup.

    \b
    Examples:
      sightline charts list css
      sightline charts show fpb combat_results_table
      sightline charts template css weather_table -o weather.csv
      sightline charts import weather.csv
    """


@charts_group.command("list")
@click.argument("ruleset", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_charts(ruleset: str | None, as_json: bool) -> None:
    """Every chart of RULESET, or of all games: is it printed, is it filled, how many cells are missing.

    State `words only`: the rulebook tells it in words and it has no cells; `empty`: a table of rows
    that you add, such as counters, without a row so far.

    \b
    Examples:
      sightline charts list
      sightline charts list css --json
    """
    with asking() as connection:
        found = chart_states(connection, ruleset)
    if as_json:
        print_json([dataclasses.asdict(entry) | {"state": entry.state} for entry in found])
        return
    print_table(
        ("ruleset", "chart", "title", "rule", "printed", "state", "cells", "missing", "owner", "house"),
        [
            (
                entry.ruleset, entry.chart, entry.title, entry.rule, "printed" if entry.printed else "not printed",
                entry.state, entry.cells, entry.missing, entry.owner, entry.house,
            )
            for entry in found
        ],
    )  # fmt: skip


@charts_group.command("show")
@click.argument("ruleset")
@click.argument("chart")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the rule of every cell.")
def show_chart(ruleset: str, chart: str, as_json: bool) -> None:
    """The cells of CHART as a table, with where it stands and whose word each cell is.

    `?` is not printed and not filled in, a blank is no cell at all. What is inferred from a worked example of
    the rule says so, and so does what an owner or a house has filled in.

    \b
    Examples:
      sightline charts show fpb combat_results_table
      sightline charts show css combat_results_table --json
    """
    with asking() as connection:
        answer = chart_answer(connection, ruleset, chart)
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    where = f"{answer.rule}, {answer.place}" if answer.place else answer.rule
    title = f"{answer.title} ({where})"
    if answer.row is None:
        out.print(Text(title, style="bold"))
        out.print(answer.note, markup=False)
        return
    print_table((answer.row, *answer.columns), chart_table(answer), title=title)
    say(answer.note)
    if answer.fill:
        say(f"{answer.counts['missing'] or 'all'} cells are not printed: {answer.fill}")


def chart_table(answer: ChartAnswer) -> list[list[str]]:
    """The rows of a chart as the terminal shows them: `?` missing, (example), (owner), (house)."""
    marks = {"printed": "", "example": " (example)", "owner": " (owner)", "house": " (house)", "missing": "?"}
    return [
        [
            row,
            *(
                f"{found.value or ''}{marks[found.says]}" if (found := cells.get(column)) else ""
                for column in answer.columns
            ),
        ]
        for row, cells in answer.rows.items()
    ]


@charts_group.command("template")
@click.argument("ruleset")
@click.argument("chart")
@click.option(
    "--format", "form", type=click.Choice(["csv", "yaml"]), default="csv", show_default=True, help="Its form."
)
@click.option(
    "-o", "--output", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write it to FILE."
)
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def template(ruleset: str, chart: str, form: str, file: Path | None, force: bool) -> None:
    """A form of CHART to fill in: what the book prints and you have told is there, the rest is blank.

    \b
    Examples:
      sightline charts template css weather_table -o weather.csv
      sightline charts template fpb terrain_key --format yaml
    """
    if file is not None:
        refuse_overwriting(file, force)
    with asking() as connection:
        text = write_template(connection, ruleset, chart, form)
    if file is None:
        print(text, end="")
        return
    file.write_text(text, encoding="utf-8")
    say(f"wrote {file}: fill it in, then `sightline charts import {file}`")


@charts_group.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--source",
    type=click.Choice(SOURCES),
    default="owner",
    show_default=True,
    help="owner: read off the player aid; house: a rule of your own, which may differ from the book.",
)
@click.option("--replace", is_flag=True, help="Replace cells that are filled in otherwise already.")
@click.option("--dry-run", is_flag=True, help="Check the file against the chart and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def import_command(file: Path, source: Source, replace: bool, dry_run: bool, as_json: bool) -> None:
    """Fill cells of a chart from FILE (CSV, YAML or JSON, as `template` writes it), all or none.

    Every mistake is told at once, with its line. A cell that the book prints cannot be told otherwise,
    unless the file is marked as a house chart; then every such cell is named. Blank cells say nothing.

    \b
    Examples:
      sightline charts import weather.csv --dry-run
      sightline charts import weather.csv
      sightline charts import our-results.yaml --source house --replace
    """
    with writing() as connection:
        report = import_chart(connection, file, source=source, replace=replace, dry_run=dry_run)
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    _tell(report)


def _tell(report: ChartReport) -> None:
    print_table(
        ("what", "is"),
        [
            ("chart", f"{report.ruleset} {report.chart}"),
            ("source", report.source),
            ("filled in", report.filled),
            ("replaced", report.replaced),
            ("the same already", report.unchanged),
            ("still missing", report.missing),
        ],
        title=report.title,
    )
    if report.against_book:
        print_table(
            ("row", "column", "printed", "house"),
            [tuple(cell.values()) for cell in report.against_book],
            title="not as the book prints it",
        )
        say(f"{len(report.against_book)} cells hold as house rules against what the book prints")
    if report.dry_run:
        say("a dry run: nothing was changed")


@charts_group.command("check")
@click.argument("ruleset", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def check(ruleset: str | None, as_json: bool) -> None:
    """Which charts of RULESET, or of all games, want cells, and where yours and the book's differ.

    Exit status 0: every cell is told, and none contradicts the book; 1: not so. A house chart that
    differs from the book is told, and is no fault.

    \b
    Examples:
      sightline charts check css
      sightline charts check --json
    """
    codes = CODES if ruleset is None else (known_ruleset(ruleset),)
    with asking() as connection:
        wanting = [entry for code in codes for entry in chart_states(connection, code) if _wants(entry)]
        otherwise = [found for code in codes for found in _otherwise(connection, code)]
    if as_json:
        print_json({"missing": [_missing(entry) for entry in wanting], "otherwise": otherwise})
    else:
        print_table(
            ("ruleset", "chart", "missing", "fill it with"),
            [
                (entry.ruleset, entry.chart, "all rows" if entry.empty else entry.missing,
                 template_command(entry.ruleset, entry.chart))
                for entry in wanting
            ],
            title="not told",
        )  # fmt: skip
        if otherwise:
            print_table(
                ("ruleset", "chart", "row", "column", "printed", "source", "value"),
                [tuple(found.values()) for found in otherwise],
                title="not as the book has it",
            )
    faults = [found for found in otherwise if found["source"] != "house" or found["printed"] is None]
    raise click.exceptions.Exit(1 if wanting or faults else 0)


def _wants(entry: ChartState) -> bool:
    return bool(entry.missing) or entry.empty


def _missing(entry: ChartState) -> dict[str, Any]:
    return {
        "ruleset": entry.ruleset,
        "chart": entry.chart,
        "missing": None if entry.empty else entry.missing,
        "fill": template_command(entry.ruleset, entry.chart),
    }


def _otherwise(connection: Connection, ruleset: str) -> list[dict[str, Any]]:
    """Cells that are not as the book has them: told otherwise, or where it has no such cell any more."""
    found = [
        (entry.chart, entry.row, entry.column, entry.printed, entry.source, entry.value)
        for entry in contradictions(connection, ruleset)
    ]
    found += [
        (stray.chart, stray.row, stray.column, None, stray.source, stray.value)  # type: ignore[misc]
        for stray in strays(connection, ruleset)
    ]
    keys = ("ruleset", "chart", "row", "column", "printed", "source", "value")
    return [dict(zip(keys, (ruleset, *entry), strict=True)) for entry in found]


@charts_group.command("remove")
@click.argument("ruleset")
@click.argument("chart")
@click.option("--row", help="Of this row only.")
@click.option("--column", help="Of this column only.")
@click.option("--source", type=click.Choice(SOURCES), help="What an owner filled in only, or a house.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def remove(
    ruleset: str, chart: str, row: str | None, column: str | None, source: Source | None, yes: bool
) -> None:
    """Take back what was filled into CHART, whole or in part; what the book prints stays.

    \b
    Examples:
      sightline charts remove css weather_table
      sightline charts remove css weather_table --row 4 --yes
      sightline charts remove fpb combat_results_table --source house --yes
    """
    chart_form(ruleset, chart)
    which = " ".join(
        word
        for word in (f"row {row}" if row else "", f"column {column}" if column else "", source or "")
        if word
    )
    with writing() as connection:
        confirm(f"Take back what was filled into {ruleset} {chart}{f' ({which})' if which else ''}?", yes)
        count = remove_cells(connection, ruleset, chart, row=row, column=column, source=source)
    say(f"took back {count} cells of {ruleset} {chart}")


COMMANDS = [charts_group]
