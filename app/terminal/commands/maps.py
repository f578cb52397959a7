"""`sightline maps …` and `sightline positions …`: what ground and what states of play there are."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from app.terminal.caution import confirm, refuse_overwriting
from app.terminal.counters import print_counters
from app.terminal.database import asking, writing
from app.terminal.output import out, print_json, print_table, say
from db import SightlineError
from db.inventory import MapFacts, map_facts, maps, positions
from importers.georeference import Report, forget, import_control_points
from importers.map_writing import flow
from importers.maps import delete_map
from importers.positions import delete_position, position_tree, write_position


@click.group("maps")
def maps_group() -> None:
    """The maps in the database: list, show, delete, place in the world.

    They come and go with `sightline import map` and `sightline export map`.

    \b
    Examples:
      sightline maps list
      sightline maps show pagasa-coast
    """


@maps_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_maps(as_json: bool) -> None:
    """Every map with its game, its size and the positions on it.

    \b
    Examples:
      sightline maps list
      sightline maps list --json
    """
    with asking() as connection:
        entries = maps(connection)
    if as_json:
        print_json([dataclasses.asdict(entry) for entry in entries])
        return
    print_table(
        ("name", "title", "ruleset", "hexes", "positions", "crs"),
        [
            (entry.name, entry.title, entry.ruleset, entry.hexes, entry.positions, _epsg(entry.srid))
            for entry in entries
        ],
    )
    if not entries:
        say("there is no map yet: `sightline import map FILE`, or `sightline demo load`")


@maps_group.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_map(name: str, as_json: bool) -> None:
    """What map NAME is and what is on it: terrain, hexsides, paths, artwork, georeference.

    \b
    Examples:
      sightline maps show pagasa-coast
      sightline maps show pagasa-coast --json
    """
    with asking() as connection:
        facts = map_facts(connection, name)
    if as_json:
        print_json(dataclasses.asdict(facts) | {"created_at": facts.created_at.isoformat()})
        return
    print_table(("what", "is"), _about(facts))
    if facts.control_points:
        _tell_points(facts.control_points)


@maps_group.command("delete")
@click.argument("name")
@click.option("--with-positions", is_flag=True, help="Delete the positions on it too.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def delete_map_command(name: str, with_positions: bool, yes: bool) -> None:
    """Delete map NAME. One on which positions stand stays, unless they are to go with it.

    \b
    Examples:
      sightline maps delete old-coast
      sightline maps delete old-coast --with-positions --yes
    """
    with writing() as connection:
        facts = map_facts(connection, name)
        lost = f", with the positions {', '.join(facts.positions)}" if facts.positions else ""
        if facts.positions and not with_positions:
            raise SightlineError(
                f"On the map {name} stand positions that would be lost: {', '.join(facts.positions)}.",
                "Delete them first, or with it: --with-positions.",
            )
        confirm(f"Delete the map {name} ({facts.hexes:,} hexes){lost}?", yes)
        delete_map(connection, name, with_positions=with_positions)
    say(f"deleted the map {name}{lost}")


@maps_group.command("georeference")
@click.argument("name")
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--crs", default="EPSG:4326", show_default=True, help="What the coordinates are in.")
@click.option("--forget", "forgetting", is_flag=True, help="Take the map out of the world again.")
@click.option("--json", "as_json", is_flag=True, help="Print the fit as JSON.")
def georeference_map(name: str, file: Path | None, crs: str, forgetting: bool, as_json: bool) -> None:
    """Place map NAME in the world by the control points in FILE, and tell how well they fit.

    FILE is CSV with the header `label,x,y` or `label,lon,lat`: hexes, and where their centres
    lie. Three points place a map; more show how good the fit is.

    \b
    Examples:
      sightline maps georeference orote points.csv
      sightline maps georeference orote utm.csv --crs EPSG:32655
      sightline maps georeference orote --forget
    """
    if forgetting == (file is not None):
        raise SightlineError("Give a FILE of control points, or --forget: one of the two.")
    if file is None:
        with writing() as connection:
            was_there = forget(connection, name)
        say(f"{name} has no place in the world{' any more' if was_there else ', and had none before'}")
        return
    with writing() as connection:
        report = import_control_points(connection, name, _text(file), str(file), _srid(crs))
    if as_json:
        print_json(dataclasses.asdict(report))
    else:
        _tell_fit(report)


@click.group("positions")
def positions_group() -> None:
    """The saved positions: list, show, delete, write to a file.

    They come in with `sightline import position`.

    \b
    Examples:
      sightline positions list
      sightline positions show lipata-landing
    """


@positions_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_positions(as_json: bool) -> None:
    """Every saved position with its map and how much stands on it.

    \b
    Examples:
      sightline positions list
      sightline positions list --json
    """
    with asking() as connection:
        entries = positions(connection)
    if as_json:
        print_json([dataclasses.asdict(entry) for entry in entries])
        return
    print_table(
        ("name", "title", "ruleset", "map", "units", "markers"),
        [dataclasses.astuple(entry) for entry in entries],
    )
    if not entries:
        say("there is no position yet: `sightline import position FILE`, or `sightline demo load`")


@positions_group.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show_position(name: str, as_json: bool) -> None:
    """Units, markers, conditions and readings of position NAME.

    \b
    Examples:
      sightline positions show lipata-landing
      sightline positions show lipata-landing --json
    """
    with asking() as connection:
        tree = position_tree(connection, name)
    if as_json:
        print_json(tree)
        return
    about: list[tuple[str, Any]] = [
        (key, tree[key]) for key in ("name", "title", "ruleset", "map") if key in tree
    ]
    about += [(key, _settings(tree[key])) for key in ("conditions", "policy") if key in tree]
    print_table(("what", "is"), about)
    print_counters(tree)


@positions_group.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def delete_position_command(name: str, yes: bool) -> None:
    """Delete position NAME; its map stays.

    \b
    Examples:
      sightline positions delete lipata-landing
      sightline positions delete lipata-landing --yes
    """
    with writing() as connection:
        tree = position_tree(connection, name)
        confirm(f"Delete the position {name} ({len(tree['units'])} units)?", yes)
        delete_position(connection, name)
    say(f"deleted the position {name}")


@positions_group.command("export")
@click.argument("name")
@click.argument("file", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def export_position(name: str, file: Path | None, force: bool) -> None:
    """Write position NAME as YAML to FILE, or to standard output.

    `sightline import position` reads it again; with questions under `ask` it is a case file.

    \b
    Examples:
      sightline positions export lipata-landing
      sightline positions export lipata-landing landing.yaml
    """
    with asking() as connection:
        text = write_position(connection, name)
    if file is None:
        print(text, end="")
        return
    refuse_overwriting(file, force)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SightlineError(f"Cannot write {file}: {error.strerror}.") from error
    say(f"wrote {file}")


def _about(facts: MapFacts) -> list[tuple[str, object]]:
    rows = [
        ("name", facts.name),
        ("title", facts.title),
        ("ruleset", facts.ruleset),
        ("numbering", _numbering(facts)),
        ("scale", f"{facts.meters_per_hex:,} m a hex" if facts.meters_per_hex else None),
        ("source", facts.source),
        ("note", facts.note),
        ("hexes", f"{facts.hexes:,}"),
        ("terrain", _counts(facts.terrain)),
        ("levels", _counts(facts.levels)),
        ("hexsides", _counts(facts.hexsides)),
        ("paths", _counts(facts.paths)),
        ("drawn areas", _counts(facts.areas)),
        ("crest lines", _counts({f"level {level}": count for level, count in facts.crests.items()})),
        ("marked places", _counts(facts.places)),
        ("positions", ", ".join(facts.positions)),
        ("georeference", f"{_epsg(facts.srid)}, {facts.crs}" if facts.srid else "none"),
        ("imported", f"{facts.created_at:%Y-%m-%d %H:%M}"),
    ]
    return [(what, value) for what, value in rows if value]


def _numbering(facts: MapFacts) -> str:
    scheme = facts.scheme
    standing = "columns" if scheme["orientation"] == "flat" else "rows"
    told = (
        f"{facts.first} to {facts.last}; hexes stand in {standing},"
        f" {scheme['shifted']} {standing} half a hex {_shift(scheme)}"
    )
    boards = [board["board"] for board in scheme["boards"]]
    return f"{told}; boards {', '.join(boards)}" if boards else told


def _shift(scheme: Mapping[str, Any]) -> str:
    if scheme["orientation"] == "flat":
        return "lower" if scheme["shift"] == "down" else "higher"
    return "to the right" if scheme["shift"] == "down" else "to the left"


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{str(kind).replace('_', ' ')} {count:,}" for kind, count in counts.items())


def _epsg(srid: int | None) -> str | None:
    return None if srid is None else f"EPSG:{srid}"


def _srid(crs: str) -> int:
    code = crs.upper().removeprefix("EPSG:")
    if not (code.isascii() and code.isdigit() and len(code) <= 6):
        raise SightlineError(f"{crs} is not a CRS by its EPSG code.", "Write it as EPSG:4326.")
    return int(code)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise SightlineError(f"{file} is not UTF-8.", "Save it as UTF-8.") from error
    except OSError as error:
        raise SightlineError(f"Cannot read {file}: {error.strerror}.") from error


def _tell_fit(report: Report) -> None:
    least, most = report.meters_per_hex
    say(f"{report.map} lies in EPSG:{report.srid}, {report.crs}")
    _tell_points([dataclasses.asdict(point) for point in report.points])
    out.print(f"root mean square {report.rms_meters:,.1f} m; a hex is {least:,.0f} to {most:,.0f} m across")
    for notice in report.notices:
        say(notice)


def _tell_points(points: list[dict[str, Any]]) -> None:
    print_table(
        ("label", "x", "y", "off by (CRS)", "off by (m)"),
        [
            (point["label"], point["x"], point["y"], f"{point['residual']:.6g}", f"{point['meters']:,.1f}")
            for point in points
        ],
        title="control points",
    )


def _settings(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {flow(value)}" for key, value in settings.items())


COMMANDS = [maps_group, positions_group]
