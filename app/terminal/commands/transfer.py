"""`sightline import …` and `sightline export …`: what comes in from files, and goes out to them."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import click
from sqlalchemy.engine import Connection

from app.terminal.caution import confirm, refuse_overwriting
from app.terminal.database import asking, owning, writing
from app.terminal.output import out, print_json, print_table, progress, say
from db import SightlineError
from importers.maps import FORMATS, export_map, import_map
from importers.positions import import_position
from importers.rulebook_import import STANDARD, ImportReport, import_rulebook

FORMS = {"gpkg" if form == "geopackage" else form: form for form in FORMATS}
"""The forms of a map by the words of the command line."""


@click.group("import")
def import_group() -> None:
    """Bring files into the database; a bad file changes nothing and says where it is bad.

    \b
    Examples:
      sightline import map island.yaml
      sightline import position landing.yaml
      sightline import rulebook css guam.txt
    """


@click.group("export")
def export_group() -> None:
    """Write what the database holds to files.

    \b
    Example:
      sightline export map pagasa-coast coast.gpkg
    """


FEWEST = 0.5
"""The share of a game's rules that a rulebook has without being asked about."""


@import_group.command("rulebook")
@click.argument("ruleset")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--edition", default=STANDARD, show_default=True, metavar="NAME", help="Name of this edition.")
@click.option("--yes", is_flag=True, help="Import a file that has few of the rules without asking.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def rulebook(ruleset: str, file: Path, edition: str, yes: bool, as_json: bool) -> None:
    """Import your own rulebook of RULESET from a plain-text FILE, to read beside the digests.

    The text goes into your database and nowhere else. Importing an edition again replaces
    it; another edition lives beside the first (`sightline rules editions`). A file that lacks most of
    the rules is imported only if you say so.

    \b
    Examples:
      sightline import rulebook css guam.txt
      sightline import rulebook ccp pacific-2nd.txt --edition 2nd
    """
    with writing() as connection:
        report = import_rulebook(connection, ruleset, file, edition)
        has, of = report.digested - len(report.absent), report.digested
        if has < of * FEWEST:
            # asked inside the transaction: a no ends it, and nothing was imported
            confirm(f"{file} has {has} of the {of} rules of {ruleset}. Import it all the same?", yes)
    if as_json:
        print_json(dataclasses.asdict(report))
    else:
        _tell(report)


def _tell(report: ImportReport) -> None:
    say(f"{'replaced' if report.replaced else 'imported'} {report.ruleset}, edition {report.edition}")
    print_table(
        ("what", "count"),
        [
            ("rules", report.rules),
            ("references", report.references),
            ("dangling references", len(report.dangling)),
            ("terms", report.terms),
            ("lines not understood", len(report.lines_not_understood)),
            ("seconds", report.seconds),
        ],
    )
    details = (
        ("headings the file lost, taken from its contents", report.recovered),
        ("rules that the digests do not have", report.added),
        ("rules of the digests that it does not have", report.absent),
        ("renumbered", [f"{theirs} is {ours}" for theirs, ours in report.renumbered.items()]),
        (
            "dangling",
            [
                f"line {item.line}: {item.printed} in {item.rule or 'the glossary'}"
                for item in report.dangling
            ],
        ),
        ("lines not understood", [str(line) for line in report.lines_not_understood]),
    )
    for what, lines in details:
        if lines:
            out.print(f"{what}: {', '.join(lines)}", markup=False)


@import_group.command("map")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--name", metavar="NAME", help="Its name here.  [default: as the file says]")
@click.option("--replace", is_flag=True, help="Replace the map of that name.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def import_map_command(file: Path, name: str | None, replace: bool, as_json: bool) -> None:
    """Import a map from FILE: YAML, JSON, GeoJSON, GeoPackage, or a folder or zip of CSV.

    The whole file or nothing of it; every problem in it is told at once, with its line.

    \b
    Examples:
      sightline import map island.yaml
      sightline import map sheets/ --name island
      sightline import map island.gpkg --replace
    """
    with owning() as connection, progress(f"importing {file.name}") as tick:
        report = import_map(connection, file, name=name, replace=replace, progress=tick)
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    say(f"{'replaced' if report.replaced else 'imported'} the {report.ruleset} map {report.name}")
    counted = ("hexes", "hexsides", "paths", "areas", "crests", "features")
    print_table(("what", "count"), [(what, getattr(report, what)) for what in counted])
    for notice in report.notices:
        say(notice)


@import_group.command("position")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Replace the position of that name.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def import_position_command(file: Path, replace: bool, as_json: bool) -> None:
    """Import a position from FILE: a case file without questions, with a name of its own.

    It stands on a map of the database (`map: pagasa-coast`), or brings its own.

    \b
    Examples:
      sightline import position landing.yaml
      sightline import position landing.yaml --replace
    """
    with owning() as connection:
        report = import_position(connection, file, replace=replace)
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    say(
        f"{'replaced' if report.replaced else 'imported'} the {report.ruleset} position {report.name}"
        f" on {report.map}: {report.units} units, {report.markers} markers"
    )
    for notice in report.notices:
        say(notice)


@export_group.command("map")
@click.argument("name")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--format", "form", type=click.Choice(tuple(FORMS)), help="[default: as FILE ends, else yaml]")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def export_map_command(name: str, file: Path | None, form: str | None, force: bool) -> None:
    """Write map NAME to FILE; without FILE, to standard output where the form is text.

    CSV is a folder of tables, or a zip of it. `import map` reads every form again.

    \b
    Examples:
      sightline export map pagasa-coast
      sightline export map pagasa-coast coast.gpkg
      sightline export map pagasa-coast coast --format csv
    """
    with asking() as connection:
        if file is None:
            print(_as_text(connection, name, form or "yaml"), end="")
            return
        refuse_overwriting(file, force)
        export_map(connection, name, file, FORMS[form] if form else None)
    say(f"wrote {file}")


def _as_text(connection: Connection, name: str, form: str) -> str:
    if form in ("csv", "gpkg"):
        raise SightlineError(f"{form} is not one text.", f"Name a file: `sightline export map {name} FILE`.")
    with tempfile.TemporaryDirectory(prefix="sightline-") as folder:
        return export_map(connection, name, Path(folder) / "map", FORMS[form]).read_text(encoding="utf-8")


COMMANDS = [import_group, export_group]
