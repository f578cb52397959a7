"""`sightline georeference MAP --land FILE`: a map laid on a coastline by the hexes that must be land."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path

import click
from sqlalchemy.engine import Connection

from app.terminal.database import writing
from app.terminal.output import print_json, print_table, say
from db import SightlineError
from db.coasts import FILE
from db.rulesets import read_ruleset
from importers.georeference import read_control_points
from importers.land_reference import LandReport, georeference_by_land, printed_hexes, read_coast

SHOWN = 8


@click.command("georeference")
@click.argument("map_name", metavar="MAP")
@click.option("--land", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="GeoJSON of coastlines.  [default: those that come with Sightline]")  # fmt: skip
@click.option("--island", metavar="NAME", help="Which coast of it.  [default: as the map is called]")
@click.option("--hexes", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Labels of hexes that are land, one to a line.")  # fmt: skip
@click.option(
    "--printed", is_flag=True, help="Take the hexes that fpb's placement tables print for the island (19.0)."
)
@click.option("--points", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Control points beside: CSV, label,lon,lat.")  # fmt: skip
@click.option("--scale", type=float, metavar="METRES", help="What a hex measures.  [default: what the map says]")  # fmt: skip
@click.option(
    "--free-scale", is_flag=True, help="Let a hex be up to 15 % larger or smaller; needs control points."
)
@click.option("--both-shifts", is_flag=True, help="Try the other way in which columns may be shifted, too.")
@click.option("--turns", is_flag=True, help="Tell every way of turning the map that fits as well.")
@click.option("--dry-run", is_flag=True, help="Tell how it fits, and leave the map where it is.")
@click.option("--json", "as_json", is_flag=True, help="Print the fit as JSON.")
def georeference_command(
    map_name: str, land: Path | None, island: str | None, hexes: Path | None, printed: bool, points: Path | None,
    scale: float | None, free_scale: bool, both_shifts: bool, turns: bool, dry_run: bool, as_json: bool,
) -> None:  # fmt: skip
    """Lay MAP on a real coast by the hexes that must be land, and tell which do not fit.

    Least squares over turn, size and shift; control points may be given beside. Without --hexes
    or --printed every hex of the map that is not sea must be land.

    \b
    Examples:
      sightline georeference guam-house --land coasts.geojson --printed --dry-run
      sightline georeference guam-house --printed --scale 1609 --both-shifts --dry-run
      sightline georeference angaur-house --printed --turns --dry-run
    """
    with writing() as connection:
        name, coast = read_coast(land or FILE, island, map_name)
        control = []
        if points is not None:
            control = _control(connection, map_name, points)
        report = georeference_by_land(
            connection, map_name, coast, _labels(hexes, printed, name), meters=scale, control=control,
            free_scale=free_scale,
            compare_shift=both_shifts, compare_turns=turns, keep=not dry_run,
        )  # fmt: skip
    if as_json:
        print_json(dataclasses.asdict(report))
    else:
        _tell(report)


def _control(connection: Connection, map_name: str, points: Path) -> list[tuple[str, float, float]]:
    text = points.read_text(encoding="utf-8")
    read_control_points(connection, map_name, text, str(points))
    rows = csv.DictReader(text.splitlines())
    return [(row["label"].strip(), float(row["lon"]), float(row["lat"])) for row in rows]


def _labels(hexes: Path | None, printed: bool, island: str) -> list[str] | None:
    if hexes is not None:
        return [
            line.strip()
            for line in hexes.read_text(encoding="utf-8").splitlines()
            if line.strip() not in ("", "label")
        ]
    if not printed:
        return None
    found = printed_hexes(island)
    if not found:
        islands = sorted(
            {
                row.partition("/")[0]
                for row, _, _ in read_ruleset("fpb").charts["random_placement"].each_cell()
            }
        )
        raise SightlineError(
            f"The tables of fpb print no hexes of {island}.", f"They have {', '.join(islands)}."
        )
    return found


def _tell(report: LandReport) -> None:
    rows: list[tuple[str, object]] = [
        ("hexes with land", f"{report.touching} of {report.of}"),
        ("centres ashore", f"{report.ashore} of {report.of}"),
        ("a hex", f"{report.meters_per_hex:,.0f} m"),
        ("turned", f"{report.turn:.1f}° clockwise"),
        ("root mean square from shore", f"{report.rms_hexes:.3f} hexes"),
        ("the outermost centre", _outermost(report.depth)),
        ("CRS", f"EPSG:{report.srid}"),
    ]
    if report.control_rms is not None:
        rows.append(("control points off", f"{report.control_rms:,.0f} m"))
    if report.turns is not None:
        rows.append(
            ("every centre can be ashore", f"turned by {report.turns[0]:.1f}° to {report.turns[1]:.1f}°")
        )
    rows += [(f"{label} at sea", f"{hexes:.2f} hexes") for label, hexes in report.misfits[:SHOWN]]
    if report.other_shift is not None:
        other = report.other_shift
        off = "" if other["control_rms"] is None else f", control points {other['control_rms']:,.0f} m off"
        rows.append(
            (
                f"columns shifted {other['shift']}",
                f"{other['touching']} of {other['of']} with land, {other['ashore']} centres ashore, {other['rms_hexes']:.3f} hexes, the outermost {_outermost(other['depth'])}{off}",
            )
        )
    for turn, ashore, away, depth in report.equal or ():
        told = f"{turn:.0f}°: {ashore} centres ashore, {away:.3f} hexes, the outermost {_outermost(depth)}"
        rows.append(("fits as well, turned", told))
    print_table(("what", "is"), rows)
    if len(report.misfits) > SHOWN:
        say(f"and {len(report.misfits) - SHOWN} more at sea")
    say("the map was placed" if report.placed else "tried only; nothing was changed")


def _outermost(depth: float) -> str:
    return f"{abs(depth):.3f} hexes {'inland' if depth >= 0 else 'at sea'}"


COMMANDS = [georeference_command]
