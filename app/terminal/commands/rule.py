"""`sightline rule`: case files ruled on."""

from __future__ import annotations

import click
from sqlalchemy.engine import Connection

from app.referee.cases import RuledCase, case_files, rule_file
from app.referee.saved import save
from app.terminal.database import asking
from app.terminal.output import complain, out, print_json
from app.terminal.report import report_case


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array, an object a question.")
@click.option("--save", "keep", is_flag=True, help="Keep each ruling for good, under an id.")
def rule(files: tuple[str, ...], as_json: bool, keep: bool) -> None:
    """Rule on the questions of case files: FILE is a file, a folder of them, or - for what is piped in.

    Exit status 0: every expectation holds; 1: one does not; 2: a file cannot be loaded (the
    others are ruled on all the same).

    \b
    Examples:
      sightline rule tests/cases/css/css-7.1-sameB.yaml
      sightline rule --json dispute.yaml tests/cases
      sightline rule --save - < dispute.yaml
    """
    cases: list[RuledCase] = []
    with asking() as connection:
        for name in case_files(files):
            ruled = rule_file(connection, name)
            if keep and ruled.case is not None:
                save(connection, ruled.case, ruled.rulings)
            if not as_json:
                _report(ruled, connection)
            # what was kept stays, whatever becomes of the files after this one
            connection.commit() if keep else connection.rollback()
            cases.append(ruled)
    if as_json:
        print_json([told for ruled in cases for told in ruled.as_dicts()])
    else:
        _summary(cases)
    raise click.exceptions.Exit(_status(cases))


def _report(ruled: RuledCase, connection: Connection) -> None:
    if ruled.case is not None:
        report_case(ruled.case, ruled.rulings, connection, out)
    elif ruled.error is not None:
        complain(ruled.error.message, ruled.error.remedy)


def _status(cases: list[RuledCase]) -> int:
    if any(ruled.error is not None for ruled in cases):
        return 2
    return 1 if any(ruling.ok is False for ruled in cases for ruling in ruled.rulings) else 0


def _summary(cases: list[RuledCase]) -> None:
    rulings = [ruling for ruled in cases for ruling in ruled.rulings]
    expected = [ruling for ruling in rulings if ruling.ok is not None]
    failed = sum(ruling.ok is False for ruling in expected)
    broken = sum(ruled.error is not None for ruled in cases)
    told = f"{len(cases)} file{'s' * (len(cases) != 1)}, {len(rulings)} ruling{'s' * (len(rulings) != 1)}"
    if expected:
        told += f", {len(expected) - failed} of {len(expected)} as expected"
    if broken:
        told += f", {broken} could not be loaded"
    out.print(told, style="bold red" if failed or broken else "bold green", markup=False)


COMMANDS = [rule]
