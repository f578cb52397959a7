"""`sightline campaign …`: campaigns as they were, recorded from accounts, looked at, compared, handed on."""

from __future__ import annotations

import dataclasses
import datetime
import getpass
from pathlib import Path
from typing import Any

import click

from app.terminal.caution import confirm, refuse_overwriting
from app.terminal.database import asking, writing
from app.terminal.output import out, print_json, print_table, say
from db import SightlineError, chronicle
from db.archive import Entry
from db.chronicle import Wanted
from importers.archive.campaigns import CampaignReport, delete_campaign, import_campaign, record, take_away
from importers.archive.exchange import FORMATS, PRINTED, campaign_text, export_campaign, form_of
from importers.archive.times import read_when, read_zone, write_when
from importers.archive.writing import entry_tree

ALL = 1_000_000
WHO = click.option("--who", metavar="NAME", help="Who writes.  [default: the user]")
KNOWN = click.option("--known", metavar="TIME", help="As it was known then, such as 2026-11-17T12:00 (UTC).")


@click.group("campaign")
def campaign_group() -> None:
    """Campaigns as they were: by accounts that may differ, on real ground, with every correction kept.

    \b
    Examples:
      sightline campaign list
      sightline campaign import guam.yaml
      sightline campaign chronicle guam-1944
    """


@campaign_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_campaigns(as_json: bool) -> None:
    """Every campaign with its time, its map and how much it tells.

    \b
    Example:
      sightline campaign list
    """
    with asking() as connection:
        found = chronicle.campaigns(connection)
    rows = [
        {
            "name": row["name"],
            "title": row["title"],
            "span": write_when(row["span"], "day", False, read_zone(row["zone"])),
            "map": row["map"],
            **{what: row[what] for what in ("entries", "forces", "accounts")},
        }
        for row in found
    ]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("name", "title", "span", "map", "entries", "forces", "accounts"), [row.values() for row in rows]
    )
    if not rows:
        say("there is no campaign yet: `sightline campaign import FILE`, or `sightline demo load`")


@campaign_group.command("import")
@click.argument("file", type=click.Path(exists=True, path_type=Path))
@click.option("--replace", is_flag=True, help="Bring the campaign of that name in line; old versions stay.")
@WHO
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def import_command(file: Path, replace: bool, who: str | None, as_json: bool) -> None:
    """Import a campaign from FILE: YAML, JSON, or a folder or zip of CSV tables.

    The whole file or nothing of it; every problem in it is told at once, with its line.

    \b
    Examples:
      sightline campaign import guam.yaml
      sightline campaign import guam/ --replace --who "B. Archivist"
    """
    with writing() as connection:
        report = import_campaign(connection, file, replace=replace, who=_who(who))
    _tell(report, as_json)


@campaign_group.command("record")
@click.argument("name")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@WHO
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def record_command(name: str, file: Path, who: str | None, as_json: bool) -> None:
    """Add to campaign NAME what FILE tells: YAML, JSON, one CSV table, or a chronicle as text (.txt, .md).

    What has a key that is there becomes its new version; nothing is taken away.

    \b
    Examples:
      sightline campaign record guam-1944 diary.txt
      sightline campaign record guam-1944 entries.csv --who "B. Archivist"
    """
    with writing() as connection:
        report = record(connection, name, file, who=_who(who))
    _tell(report, as_json)


@campaign_group.command("export")
@click.argument("name")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(tuple(FORMATS)), help="[default: as FILE ends, else yaml]"
)
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@KNOWN
def export_command(name: str, file: Path | None, form: str | None, force: bool, known: str | None) -> None:
    """Write campaign NAME to FILE; without FILE, to standard output where the form is text.

    YAML, JSON and CSV are read again by `campaign import`; GeoJSON and GeoPackage are for GIS
    programs, with the times of every feature; a .qgs is a QGIS project with its GeoPackage beside it.

    \b
    Examples:
      sightline campaign export guam-1944
      sightline campaign export guam-1944 guam.gpkg
      sightline campaign export guam-1944 guam.qgs
    """
    with asking() as connection:
        if file is None:
            form = form or "yaml"
            if form not in PRINTED:
                raise SightlineError(
                    f"{form} is not one text.", f"Name a file: `sightline campaign export {name} FILE`."
                )
            print(campaign_text(connection, name, form, _moment(known)), end="")
            return
        form = form or form_of(file)
        for one in (file, file.with_suffix(".gpkg")) if form == "qgis" else (file,):
            refuse_overwriting(one, force)
        written = export_campaign(connection, name, file, form, _moment(known))
    say(f"wrote {', '.join(str(path) for path in written)}")


@campaign_group.command("chronicle")
@click.argument("name")
@click.option("--when", metavar="TIME", help="Only what falls into this time, such as 1944-07-25/1944-07-26.")
@click.option("--force", metavar="KEY", help="Only what this force took part in.")
@click.option("--account", metavar="KEY", help="Only what this account tells.")
@click.option("--kind", metavar="KIND", help="Only entries of this kind.")
@KNOWN
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def chronicle_command(
    name: str, when: str | None, force: str | None, account: str | None, kind: str | None, known: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """What happened in campaign NAME, in the order of time.

    \b
    Examples:
      sightline campaign chronicle guam-1944
      sightline campaign chronicle guam-1944 --when 1944-07-25/1944-07-26 --force F/2/9
    """
    with asking() as connection:
        found = chronicle.find_campaign(connection, name)
        zone = read_zone(found.zone)
        during = _when(when, zone)
        wanted = Wanted(during=during, known=_moment(known), force=force, account=account, kind=kind)
        rows = chronicle.entries(connection, found.id, wanted, ALL)
    if as_json:
        print_json([_entry(row, zone) for row in rows])
        return
    print_table(
        ("when", "kind", "title", "place", "source", "key"),
        [
            (
                write_when(row["during"], row["precision"], row["about"], zone),
                row["kind"],
                row["title"],
                row["place"] or row["hex"] or "",
                f"{row['account']} {row['page']}".strip(),
                row["key"],
            )
            for row in rows
        ],
    )


@campaign_group.command("entry")
@click.argument("name")
@click.argument("key")
@click.option("--delete", is_flag=True, help="Take the entry away; its versions stay.")
@click.option("--yes", is_flag=True, help="Do it without asking.")
@WHO
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def entry_command(name: str, key: str, delete: bool, yes: bool, who: str | None, as_json: bool) -> None:
    """The entry KEY of campaign NAME with all its versions; or take it away.

    \b
    Examples:
      sightline campaign entry guam-1944 banzai
      sightline campaign entry guam-1944 rumour --delete --yes
    """
    if delete:
        confirm(f"Take the entry {key} of {name} away? Its versions stay.", yes)
        with writing() as connection:
            take_away(connection, name, "entry", key, who=_who(who))
        say(f"took {key} away")
        return
    with asking() as connection:
        found = chronicle.find_campaign(connection, name)
        versions = chronicle.versions(connection, found.id, key)
        if not versions:
            raise chronicle.not_there(connection, found, Entry, key)
    rows = [
        {
            "version": row.version,
            "from": row.known_from.isoformat(timespec="seconds"),
            "until": row.known_until and row.known_until.isoformat(timespec="seconds"),
            "by": row.writer,
            "why": row.why,
            **({"what": row.what} if as_json else {"title": row.what["title"], "text": row.what["text"]}),
        }
        for row in versions
    ]
    if as_json:
        print_json(rows)
    else:
        print_table(
            ("version", "from", "until", "by", "why", "title", "text"), [row.values() for row in rows]
        )


@campaign_group.command("history")
@click.argument("name")
@click.option(
    "--most", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How many changes."
)
@click.option("--before", metavar="MOMENT", help="Changes before this moment of knowing, UTC.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def history_command(name: str, most: int, before: str | None, as_json: bool) -> None:
    """Every change of campaign NAME, the newest first: who, when, what and why.

    \b
    Examples:
      sightline campaign history guam-1944 --most 20
      sightline campaign history guam-1944 --before 2026-11-17T12:00
    """
    with asking() as connection:
        found = chronicle.find_campaign(connection, name)
        changes = chronicle.changes(connection, found.id, most, _moment(before))
    rows = [
        {"when": row.moment.isoformat(timespec="seconds"), "who": row.who, "what": f"{row.what} {row.kind}", "key": row.key,
         "title": row.title, "columns": ", ".join(row.columns), "why": row.why}
        for row in changes
    ]  # fmt: skip
    if as_json:
        print_json(rows)
    else:
        print_table(("when", "who", "what", "key", "title", "columns", "why"), [row.values() for row in rows])


@campaign_group.command("forces")
@click.argument("name")
@click.option("--when", metavar="TIME", help="The order of battle at this time.")
@click.option("--account", metavar="KEY", help="By this account alone.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def forces_command(name: str, when: str | None, account: str | None, as_json: bool) -> None:
    """The order of battle of campaign NAME as a tree.

    \b
    Example:
      sightline campaign forces guam-1944 --when 1944-07-21
    """
    with asking() as connection:
        found = chronicle.find_campaign(connection, name)
        during = _when(when, read_zone(found.zone))
        tree = chronicle.order_of_battle(connection, found.id, during and during.lower, account, None)
    if as_json:
        print_json([dict(row._mapping) for row in tree])
        return
    for row in tree:
        out.print(
            f"{'  ' * row.depth}{row.key}: {row.name}" + (f" ({row.told_by})" if row.told_by else ""),
            markup=False,
        )


@campaign_group.command("differences")
@click.argument("name")
@click.argument("one")
@click.argument("other")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def differences_command(name: str, one: str, other: str, as_json: bool) -> None:
    """Where the accounts ONE and OTHER of campaign NAME differ.

    \b
    Example:
      sightline campaign differences guam-1944 css fpb
    """
    with asking() as connection:
        found = chronicle.find_campaign(connection, name)
        zone = read_zone(found.zone)
        for account in (one, other):
            if account not in chronicle.accounts(connection, found.id):
                raise SightlineError(
                    f"The campaign {name} has no account {account!r}.",
                    f"There are {', '.join(chronicle.accounts(connection, found.id))}.",
                )
        rows = chronicle.differences(connection, found.id, one, other)
    told = [
        {
            "what": row["what"],
            "subject": row["subject"],
            one: f"{write_when(row['first_during'], 'minute', False, zone)} {row['first_says']}",
            other: f"{write_when(row['second_during'], 'minute', False, zone)} {row['second_says']}",
            "minutes apart": row["minutes_apart"],
            "metres apart": row["meters_apart"],
        }
        for row in rows
    ]
    if as_json:
        print_json(told)
    else:
        print_table(
            ("what", "subject", one, other, "minutes apart", "metres apart"), [row.values() for row in told]
        )


@campaign_group.command("position")
@click.argument("name")
@click.option("--when", required=True, metavar="TIME", help="The moment, such as 1944-07-21T12:00.")
@click.option(
    "--map", "map_name", metavar="MAP", help="On this georeferenced map.  [default: the campaign's]"
)
@click.option("--account", metavar="KEY", help="By this account alone.")
@click.option("--save", "saved", metavar="POSITION", help="Save it under this name, to be asked.")
@click.option("--replace", is_flag=True, help="Replace the position of that name.")
def position_command(
    name: str, when: str, map_name: str | None, account: str | None, saved: str | None, replace: bool
) -> None:
    """A moment of campaign NAME as a position of a game, so that sight, reach and range can be asked of it.

    Forces that have counters of the map's game stand in the hexes where they stood.

    \b
    Examples:
      sightline campaign position guam-1944 --when 1944-07-22T12:00
      sightline campaign position guam-1944 --when 1944-07-22T12:00 --save w-day
    """
    from app.referee.moments import moment_position, save_moment

    with writing() as connection:
        zone = read_zone(chronicle.find_campaign(connection, name).zone)
        moment = _when(when, zone).lower
        found = moment_position(connection, name, moment, map=map_name, account=account)
        for notice in found.notices:
            say(notice)
        if saved is None:
            print(found.text, end="")
        else:
            say(f"saved the position {save_moment(connection, found, saved, replace=replace)}")


@campaign_group.command("game")
@click.argument("name")
@click.argument("game")
@click.option("--hours", default=24, show_default=True, help="How long a turn of the game is.")
@click.option("--hexes", default=2, show_default=True, help="How far a force may be off.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def game_command(name: str, game: str, hours: int, hexes: int, as_json: bool) -> None:
    """GAME beside campaign NAME, turn by turn: where did it leave history?

    \b
    Example:
      sightline campaign game guam-1944 my-guam
    """
    from app.play.history import beside

    with asking() as connection:
        sides = beside(connection, name, game, hours=hours, hexes=hexes)
    if as_json:
        print_json(
            [
                {
                    "turn": side.turn,
                    "begins": side.begins.isoformat(),
                    "history": [row["key"] for row in side.told],
                    "gaps": [dataclasses.asdict(gap) for gap in side.gaps],
                    "left": side.left,
                }
                for side in sides
            ]
        )
        return
    print_table(
        ("turn", "begins", "history", "elsewhere", "left history"),
        [
            (
                side.turn,
                f"{side.begins:%Y-%m-%d}",
                len(side.told),
                ", ".join(
                    f"{gap.force} {gap.hexes if gap.hexes is not None else 'gone'}" for gap in side.gaps
                ),
                "yes" if side.left else "",
            )
            for side in sides
        ],
    )


@campaign_group.command("delete")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do it without asking.")
def delete_command(name: str, yes: bool) -> None:
    """Delete campaign NAME and all that was ever known of it.

    \b
    Example:
      sightline campaign delete draft --yes
    """
    with writing() as connection:
        found = chronicle.find_campaign(connection, name)
        count = chronicle.count_entries(connection, found.id, Wanted())
        confirm(f"Delete the campaign {name} ({count:,} entries) with every version?", yes)
        delete_campaign(connection, name)
    say(f"deleted the campaign {name}")


def _entry(row: Any, zone: datetime.timezone) -> dict[str, Any]:
    return entry_tree(row["key"], dict(row) | {"geom": None}, zone) | {"shape": row["shape"]}


def _tell(report: CampaignReport, as_json: bool) -> None:
    if as_json:
        print_json(dataclasses.asdict(report))
        return
    say(f"recorded the campaign {report.name}")
    print_table(
        ("what", "added", "changed", "removed"),
        [
            (what, report.added[what], report.changed[what], report.removed.get(what, 0))
            for what in report.added
        ],
    )


def _who(told: str | None) -> str:
    return told or getpass.getuser()


def _when(text: str | None, zone: datetime.timezone) -> Any:
    if text is None:
        return None
    try:
        return read_when(text, zone).during
    except ValueError as error:
        raise SightlineError(str(error)) from None


def _moment(text: str | None) -> datetime.datetime | None:
    """A moment of system time, in UTC where it does not say."""
    if text is None:
        return None
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise SightlineError(f"{text!r} is no moment.", "Write it as 2026-11-17T12:00 (UTC).") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


COMMANDS = [campaign_group]
