"""`sightline scenarios …`: what games can begin from."""

from __future__ import annotations

from typing import Any

import click

from app.terminal.database import writing
from app.terminal.output import out, print_json, print_table, say
from db.charts import known_ruleset
from importers.scenarios import Scenario, install, read_scenario, scenarios


@click.group("scenarios")
def scenarios_group() -> None:
    """Scenarios: a map, units, set-up, length and victory, for a game to begin from.

    Those that are of the house in part, or on a house map, say so in their title. One of your own is a YAML
    file; give its path wherever a name is wanted.

    \b
    Examples:
      sightline scenarios list
      sightline scenarios show angaur
      sightline scenarios show my-landing.yaml
    """


@scenarios_group.command("list")
@click.argument("ruleset", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_scenarios(ruleset: str | None, as_json: bool) -> None:
    """Every scenario of RULESET, or of all games, with its length, its map and where it comes from.

    \b
    Examples:
      sightline scenarios list
      sightline scenarios list fpb --json
    """
    if ruleset is not None:
        known_ruleset(ruleset)
    found = [read_scenario(name) for name in scenarios(ruleset)]
    if as_json:
        keys = ("name", "title", "ruleset", "source", "length", "map")
        print_json([{key: getattr(scenario, key) for key in keys} for scenario in found])
        return
    print_table(
        ("name", "title", "ruleset", "turns", "map", "source"),
        [(each.name, each.title, each.ruleset, each.length, each.map, each.source) for each in found],
    )
    if not found:
        say(f"no scenario comes with {ruleset or 'Sightline'}; one of your own: docs/scenarios.md")


@scenarios_group.command("show")
@click.argument("scenario", metavar="NAME|FILE")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with every unit.")
def show_scenario(scenario: str, as_json: bool) -> None:
    """What a scenario is: what is printed in it and what is not, who begins with what, how it is won.

    A FILE is checked whole, and everything that is wrong with it is told, with its line.

    \b
    Examples:
      sightline scenarios show angaur
      sightline scenarios show my-landing.yaml --json
    """
    found = read_scenario(scenario)
    if as_json:
        print_json(found.as_dict())
        return
    print_table(("what", "is"), _about(found))
    if found.setup:
        out.print("set-up, in order:", markup=False)
        print_table(
            ("side", "procedure", "by", "with", "rule"),
            [(step.side, step.procedure, step.by, _told(step.arguments), step.rule) for step in found.setup],
        )


@scenarios_group.command("install")
@click.argument("scenario", metavar="NAME|FILE")
def install_scenario(scenario: str) -> None:
    """Put the map and the house charts of a scenario into the database, if they are not there.

    A cell of a chart that the book, you or a house rule has filled stays as it is.

    \b
    Examples:
      sightline scenarios install angaur
      sightline scenarios install my-landing.yaml
    """
    found = read_scenario(scenario)
    with writing() as connection:
        install(connection, found)
    charts = "".join(f", the chart {draft.chart}" for draft in found.charts)
    say(f"in the database: the map {found.map}{charts}")


def _about(scenario: Scenario) -> list[tuple[str, object]]:
    units = [unit for unit, _ in scenario.position.units.values()]
    sides = {side: sum(getattr(unit, "side", None) == side for unit in units) for side in _sides(scenario)}
    victory = scenario.victory
    told = [
        ("name", scenario.name),
        ("title", scenario.title),
        ("ruleset", scenario.ruleset),
        ("source", scenario.source),
        ("note", scenario.note),
        ("map", scenario.map),
        ("charts", ", ".join(draft.chart for draft in scenario.charts)),
        ("turns", scenario.length),
        ("conditions", _told(scenario.position.conditions)),
        ("options", "; ".join(f"{option}: {_listed(values)}" for option, values in scenario.options.items())),
        ("units", _told(sides)),
        ("victory", f"{victory.side}: {victory.note} ({victory.rule})" if victory else ""),
        ("rules", ", ".join(scenario.sources)),
    ]
    return [(what, value) for what, value in told if value not in ("", 0)]


def _sides(scenario: Scenario) -> list[str]:
    units = [unit for unit, _ in scenario.position.units.values()]
    return sorted({str(getattr(unit, "side", "")) for unit in units})


def _listed(values: tuple[Any, ...]) -> str:
    return " or ".join(map(str, values))


def _told(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


COMMANDS = [scenarios_group]
