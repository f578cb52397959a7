"""`sightline demo load`: maps, positions and campaigns to try things on."""

from __future__ import annotations

import dataclasses

import click

from app.terminal.database import writing
from app.terminal.output import print_json, progress, say
from importers.demo.load import add_demo


@click.group("demo")
def demo_group() -> None:
    """Maps and positions of our own making, one or more for each game.

    \b
    Example:
      sightline demo load
    """


@demo_group.command("load")
@click.option("--replace", is_flag=True, help="Load them anew where they are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def load(replace: bool, as_json: bool) -> None:
    """Load the demo's maps, positions and campaigns, beside whatever maps there are; all or nothing.

    `sightline serve` does this by itself in a database without maps.

    \b
    Examples:
      sightline demo load
      sightline demo load --replace
    """
    with writing() as connection, progress("loading the demo") as tick:
        report = add_demo(connection, say, replace=replace, progress=tick)
    if as_json:
        print_json(dataclasses.asdict(report))
    elif report.maps or report.positions or report.campaigns:
        say(
            f"loaded {len(report.maps)} maps ({report.hexes:,} hexes), {len(report.positions)} positions"
            f" and {len(report.campaigns)} campaigns"
            f" in {report.seconds:.1f} s"
        )
    else:
        say("the demo is there already; --replace loads it anew")


COMMANDS = [demo_group]
