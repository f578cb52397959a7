"""`sightline bench`: how fast the questions are, as ratios within one run."""

from __future__ import annotations

import click

from app.terminal.output import print_json, print_table, say
from db import SightlineError
from db.database import open_database
from db.settings import CHECKOUT


@click.command()
@click.argument("maps", nargs=-1)
@click.option(
    "--times", type=click.IntRange(4, 5000), default=100, show_default=True, help="Runs of each question."
)
@click.option(
    "--large",
    "million",
    is_flag=True,
    help="Look at a map of a million hexes and at nothing else: some minutes.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bench(maps: tuple[str, ...], times: int, million: bool, as_json: bool) -> None:
    """Measure sight, zones and reach on css MAPS (default: the two demo maps) against SELECT 1, Python and shapely.

    Only the ratios of one run mean something: machines differ, and so does one machine from
    minute to minute. Sight is measured in turn, in a row, and apart: each question in a transaction
    of its own, for which a nameless position is kept for some seconds. All else that is measured is
    undone. Without MAPS the reach of ccp, fpb and bob positions and a rout are measured too, sight over drawn
    terrain on dense boards, a game of 10,000 events, and questions at the door: over loopback HTTP, beside a page of the
    same server that asks nobody. There a map of 10,000 hexes is looked at and edited, and one of 40,000 (with --large, of
    a million, and nothing else is measured), both made for it and taken away again.

    \b
    Examples:
      ./sightline bench
      ./sightline bench campaign-island --times 500 --json
      ./sightline bench --large
    """
    if not (CHECKOUT / "tests").is_dir():
        raise SightlineError(
            "What is measured against is part of the project's folder, not of an installed Sightline.",
            "Run ./sightline bench there.",
        )
    from tests.bench import (
        Measure,
        measure_apart,
        measure_map,
        measure_position_reach,
        measure_reach,
        measure_rout,
        measure_zones,
    )
    from tests.bench.campaigns import measure_campaigns
    from tests.bench.doors import measure_doors
    from tests.bench.drawn import measure_drawn
    from tests.bench.fire_phase import measure_fire_phase
    from tests.bench.games import measure_games
    from tests.bench.large import MIDDLE, MILLION, measure_large
    from tests.bench.ledgers import measure_ledgers
    from tests.bench.survey import measure_survey

    engine = open_database(say=say)
    measures: list[Measure] = []
    if million:
        measures += measure_large(engine, times, say, MILLION)
    for name in () if million else maps or ("pagasa-coast", "campaign-island"):
        with engine.connect() as connection:
            measures += measure_map(connection, name, times, say)
            measures += measure_zones(connection, name, times, say)
            measures += measure_reach(connection, name, times, say)
            connection.rollback()
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            measures += measure_apart(connection, name, times, say)
            measures += measure_survey(connection, name, say)
    if not maps and not million:
        with engine.connect() as connection:
            measures += measure_position_reach(connection, "sorovi-crossing", times, say)
            measures += measure_position_reach(connection, "tanaro-assault", times, say)
            measures += measure_position_reach(connection, "vesny-morning", times, say)
            measures += measure_rout(connection, "vesny-morning", times, say)
        with engine.connect() as connection:
            measures += measure_drawn(connection, times, say)
            connection.rollback()
        measures += measure_games(engine, times, say)
        measures += measure_fire_phase(engine, times, say)
        measures += measure_ledgers(engine, times, say)
        measures += measure_doors(engine, times, say)
        measures += measure_campaigns(engine, times, say)
        measures += measure_large(engine, times, say, MIDDLE)
    if as_json:
        print_json([measure.as_dict() for measure in measures])
        return
    print_table(
        ("what", "median ms", "ratio", "to", "target", "met"),
        [
            (
                measure.name,
                f"{measure.milliseconds:.3f}",
                "" if measure.ratio is None else f"{measure.ratio:.1f}",
                measure.against,
                measure.target,
                {None: "", True: "yes", False: "NO"}[measure.met],
            )
            for measure in measures
        ],
    )


COMMANDS = [bench]
