"""`sightline conformance`: how many of the rulebooks' worked examples are cases, and pass."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path

import click

from app.referee.cases import rule_file
from app.referee.conformance import Conformance, Count, conformance, page, passes, rule_index
from app.terminal.database import asking
from app.terminal.output import complain, print_json, print_table, say
from db import SightlineError
from db.rulesets import CODES


@click.command("conformance")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.option(
    "--write", "target", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write them, with every entry that is no case and why, as Markdown.",
)  # fmt: skip
@click.option(
    "--index", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Write which cases each rule takes part in, as JSON, for the pages of the rules.",
)  # fmt: skip
@click.argument("rulesets", metavar="[RULESET]...", nargs=-1, type=click.Choice(CODES))
def conformance_command(
    rulesets: tuple[str, ...], as_json: bool, target: Path | None, index: Path | None
) -> None:
    """Rule on the rulebooks' worked examples and print, per ruleset and kind, how they fare.

    All games, or those that are named. Exit status 0: every case passes; 1: one does not.

    \b
    Examples:
      sightline conformance
      sightline conformance fpb --json
      sightline conformance --write docs/conformance.md --index db/rulesets/cases.json
    """
    if rulesets and (target or index):
        raise click.UsageError("What is written is of all games: leave out their names.")
    with asking() as connection:
        found = conformance(partial(rule_file, connection), rulesets=dict.fromkeys(rulesets or CODES))
    if target is not None:
        _write(target, page(found))
    if index is not None:
        _write(index, rule_index(found))
    if as_json:
        print_json({code: one.as_dict() for code, one in found.items()})
    elif target is None and index is None:
        _print(found)
    failing = [case for one in found.values() for case in one.cases if not passes(case)]
    for case in failing:
        differences = [difference for ruling in case.rulings for difference in ruling.differences()]
        complain(f"{case.file}: {case.error.message if case.error else '; '.join(differences)}")
    raise click.exceptions.Exit(1 if failing else 0)


def _print(found: dict[str, Conformance]) -> None:
    names = [field.name for field in dataclasses.fields(Count)]
    rows = [
        (code, kind, *(getattr(count, name) for name in names))
        for code, one in found.items()
        for kind, count in [("all", one.total), *one.by_kind.items()]
    ]
    print_table(("ruleset", "kind", *(name.replace("_", " ") for name in names)), rows)


def _write(target: Path, text: str) -> None:
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SightlineError(f"Cannot write {target}: {error.strerror}.") from error
    say(f"wrote {target}")


COMMANDS = [conformance_command]
