"""`sightline survey`: what a map or position sees, found out ahead of need."""

from __future__ import annotations

import dataclasses

import click

from app.referee.boards import open_board
from app.referee.survey import survey as survey_board
from app.terminal.database import reading
from app.terminal.output import print_json, progress, say


@click.command()
@click.argument("board", metavar="MAP|POSITION")
@click.option("--units", "units_only", is_flag=True, help="Only what the units see, not every hex.")
@click.option(
    "--reasons", is_flag=True, help="Find out why no more is seen, too; takes several times as long."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def survey(board: str, units_only: bool, reasons: bool, as_json: bool) -> None:
    """Find out what every hex and unit of a MAP or POSITION sees, so that who asks later need not wait.

    It is kept in the database until something near is edited: a fan or a fire zone is then answered
    in a fraction of the time, at every door. Many are found at once, a batch in half a second or so;
    if the survey is stopped, what was found stays but for the last batch, and a second survey finds
    out only what is missing.

    \b
    Examples:
      sightline survey pagasa-coast
      sightline survey lipata-landing --units --reasons
    """
    with reading() as connection, progress("surveying") as tick:
        found = survey_board(
            connection, open_board(connection, board), units_only=units_only, reasons=reasons, tick=tick
        )
    if as_json:
        print_json(dataclasses.asdict(found))
        return
    say(
        f"surveyed {found.board}: {found.viewers} viewers see {found.seen} hexes;"
        f" {found.found} of what is kept is new, in {found.seconds:.1f} s"
    )


COMMANDS = [survey]
