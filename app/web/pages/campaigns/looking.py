"""Looking at a campaign: a map under a time slider, the chronicle, entries to cite, accounts side by side.

A page is drawn on the server as its address says, so that it can be read and sent without a script;
the script moves the slider and fetches the same page's part (`part=moment`).
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import mimetypes
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flask import Response, render_template, request, url_for
from sqlalchemy.dialects.postgresql import Range

from app.drawing.campaign import Mark, shape_of, side_look
from app.web.pages.campaigns.history import told_versions
from app.web.pages.campaigns.view import (
    MOST,
    View,
    choices,
    entry_mark,
    pages,
    read_view,
    stage,
    stance_mark,
    told_entry,
    told_stance,
    whole_number,
)
from app.web.site import database
from db import SightlineError, chronicle
from db.chronicle import Wanted
from db.inventory import NotThereError
from db.values import to_json
from importers.archive.citations import bibtex, csl, plain
from importers.archive.exchange import export_campaign
from importers.archive.times import read_zone, write_when

COUNTED = 5_000
"""Entries up to which a page counts them by days, and hands them over as a file."""
DOWNLOADS = {
    "gpkg": ".gpkg",
    "qgis": ".qgs",
    "geojson": ".geojson",
    "csv": ".zip",
    "yaml": ".yaml",
    "json": ".json",
}
WINDOWS = (1, 6, 24, 72)
LASTING = 4
"""Windows that something must last to be told as going on."""


@pages.get("")
def campaign_list() -> str:
    """Every campaign."""
    found = [
        dict(row) | {"when": write_when(row["span"], "day", False, read_zone(row["zone"]))}
        for row in chronicle.campaigns(database())
    ]
    return render_template("campaigns/list.html", campaigns=found)


@pages.get("/<name>")
def campaign(name: str) -> str:
    """A moment of a campaign on its ground."""
    view = read_view(name)
    context = _moment(view)
    if request.args.get("part") == "moment":
        return render_template("campaigns/moment.html", **context)
    many = chronicle.more_entries_than(database(), view.campaign.id, COUNTED)
    days = [] if many else chronicle.calendar(database(), view.campaign.id, view.as_known)
    return render_template("campaigns/campaign.html", **context, **choices(view), days=days, windows=WINDOWS)


def _moment(view: View) -> dict[str, Any]:
    """What is shown of a moment: entries that begin, entries that go on, forces, the drawing."""
    connection = database()
    forces = chronicle.forces(connection, view.campaign.id, view.as_known)
    rows = chronicle.entries(connection, view.campaign.id, view.wanted(), MOST)
    now = dataclasses.replace(view.wanted(), during=Range(view.moment, view.moment, bounds="[]"))
    standing = chronicle.stances(connection, view.campaign.id, now, MOST)
    entries = [told_entry(row, view, forces) for row in rows]
    marks = [stance_mark(row, view, forces) for row in standing if row["shape"]]
    marks += [entry_mark(one) for one in entries if one["shape"]]
    tracks = [
        Mark(shape_of(row["shape"]), f"Way of {forces[row['force']]['name']} ({row['account']})",
             view.address(force=row["force"]), side_look(forces[row["force"]]["side"]))
        for row in chronicle.tracks(connection, view.campaign.id, view.end, view.as_known)
        if row["force"] in forces
        and (not view.force or row["force"] == view.force)
        and (not view.account or row["account"] == view.account)
    ]  # fmt: skip
    told = f"{view.moment:%Y-%m-%d %H:%M} to {view.end:%Y-%m-%d %H:%M}"
    count = (
        len(rows)
        if len(rows) < MOST
        else chronicle.count_entries(connection, view.campaign.id, view.wanted())
    )
    lasting = datetime.timedelta(hours=view.window * LASTING)
    begins: list[dict[str, Any]] = []
    goes_on: list[dict[str, Any]] = []
    for one in entries:
        (goes_on if one["lasts"] is None or one["lasts"] > lasting else begins).append(one)
    return {
        "view": view,
        "campaign": view.campaign,
        "time": told,
        "begins": begins,
        "goes_on": goes_on,
        "left_off": count - len(rows),
        "stances": [told_stance(row, view, forces) for row in standing],
    } | stage(view, marks, f"{view.campaign.title}, {told}", tracks)


@pages.get("/<name>/chronicle")
def chronicle_page(name: str) -> str:
    """All that happened, to read and to print."""
    view = read_view(name)
    page = whole_number("page", 1, 100_000)
    forces = chronicle.forces(database(), view.campaign.id, view.as_known)
    wanted = view.wanted(whole=True)
    rows = chronicle.entries(database(), view.campaign.id, wanted, MOST + 1, (page - 1) * MOST)
    days: dict[str, list[dict[str, Any]]] = {}
    for row in rows[:MOST]:
        told = told_entry(row, view, forces)
        begun = row["during"].lower
        days.setdefault("before" if begun is None else f"{begun.astimezone(view.zone):%Y-%m-%d}", []).append(
            told
        )
    tree = chronicle.order_of_battle(database(), view.campaign.id, None, view.account or None, view.as_known)
    return render_template(
        "campaigns/chronicle.html", view=view, campaign=view.campaign, days=days, tree=tree, page=page,
        more=len(rows) > MOST, **choices(view),
    )  # fmt: skip


@pages.get("/<name>/entries/<key>")
def entry(name: str, key: str) -> str:
    """One entry, whole: versions, citation, what other accounts say of the same event."""
    view = read_view(name)
    row = chronicle.find_entry(database(), view.campaign, key, view.as_known)
    offered = choices(view)
    forces, accounts = offered["forces"], offered["accounts"]
    others = []
    if row["event"]:
        wanted = Wanted(event=row["event"], known=view.as_known)
        others = [
            told_entry(other, view, forces)
            for other in chronicle.entries(database(), view.campaign.id, wanted, MOST)
            if other["key"] != key
        ]
    address = url_for(".entry", name=name, key=key, known=view.known or None, _external=True)
    told = told_entry(row, view, forces)
    marks = [entry_mark(one) for one in (told, *others) if one["shape"]]
    return render_template(
        "campaigns/entry.html", view=view, campaign=view.campaign, entry=told,
        involved=[dict(one) | {"name": forces[one["force"]]["name"] if one["force"] in forces else one["force"]} for one in row["involved"]],
        account=accounts[row["account"]], others=others, versions=told_versions(view, "entry", key),
        cited=plain(row, accounts[row["account"]], address, datetime.datetime.now(datetime.UTC).date()),
        **(stage(view, marks, row["title"]) if marks else {"drawn": None}),
    )  # fmt: skip


@pages.get("/<name>/entries/<key>/cite.<form>")
def cite(name: str, key: str, form: str) -> Response:
    """The citation of an entry for other programs."""
    view = read_view(name)
    row = chronicle.find_entry(database(), view.campaign, key, view.as_known)
    account = chronicle.accounts(database(), view.campaign.id, view.as_known)[row["account"]]
    address = url_for(".entry", name=name, key=key, known=view.known or None, _external=True)
    today = datetime.datetime.now(datetime.UTC).date()
    if form == "bib":
        return Response(
            bibtex(name, row, account, address), content_type="application/x-bibtex; charset=utf-8"
        )
    if form == "json":
        told = to_json(csl(name, row, account, address, today))
        return Response(told, content_type="application/vnd.citationstyles.csl+json; charset=utf-8")
    if form == "txt":
        return Response(plain(row, account, address, today) + "\n", content_type="text/plain; charset=utf-8")
    raise SightlineError(f"There is no citation of the form {form[:20]!r}.", "There are bib, json and txt.")


@pages.get("/<name>/differences")
def differences(name: str) -> str:
    """Where two accounts differ, in a table and on the map."""
    view = read_view(name)
    offered = choices(view)
    known = list(offered["accounts"])
    disputed = chronicle.disputes(database(), view.campaign.id, view.as_known)
    first = disputed[0][:2] if disputed else [*known, "", ""][:2]
    one, other = (
        request.args.get(word) or usual for word, usual in zip(("one", "other"), first, strict=True)
    )
    for account in (one, other):
        if account and account not in known:
            raise SightlineError(
                f"The campaign has no account {account[:40]!r}.", f"There are {', '.join(known)}."
            )
    rows = (
        chronicle.differences(database(), view.campaign.id, one, other, view.as_known)
        if one and other
        else []
    )
    told = [
        dict(row)
        | {
            "first_when": _when(row["first_during"], view.zone),
            "second_when": _when(row["second_during"], view.zone),
            "differs": _differs(row),
        }
        for row in rows
    ]
    marks = [
        Mark(shape_of(row[shape]), f"{row['subject']}: {row[says]} ({account})", view.address(".differences", one=one, other=other), f"entry {look}", row["subject"])
        for row in rows
        for shape, says, account, look in (("first_shape", "first_says", one, "first"), ("second_shape", "second_says", other, "second"))
        if row[shape]
    ]  # fmt: skip
    return render_template(
        "campaigns/differences.html", view=view, campaign=view.campaign, rows=told, one=one, other=other,
        disputed=disputed, **stage(view, marks, f"Where {one} and {other} differ"), **offered,
    )  # fmt: skip


def _when(during: Range[datetime.datetime], zone: datetime.timezone) -> str:
    """A time as days where it is whole days, as hours where it is whole hours."""
    ends = [end.astimezone(zone) for end in (during.lower, during.upper) if end is not None]
    whole = {
        "day": all(end.time() == datetime.time() for end in ends),
        "hour": all(end.minute == 0 for end in ends),
    }
    return write_when(during, next((unit for unit, is_so in whole.items() if is_so), "minute"), False, zone)


def _differs(row: Mapping[str, Any]) -> str:
    """In what two accounts differ, in words."""
    found = [] if row["first_during"] == row["second_during"] else ["time"]
    found += ["place"] if row["first_shape"] != row["second_shape"] else []
    if row["what"] == "stance":
        found = ["state"] * (row["first_says"] != row["second_says"]) + ["place"] * bool(row["meters_apart"])
    return ", ".join(found) or "forces"


@pages.get("/<name>/download/<form>")
def download(name: str, form: str) -> Response:
    """The campaign as a file, to hand over; QGIS's project and its GeoPackage in one zip."""
    view = read_view(name)
    if form not in DOWNLOADS:
        raise NotThereError(
            f"There is no file of the form {form[:20]!r}.", f"There are {', '.join(DOWNLOADS)}."
        )
    if chronicle.more_entries_than(database(), view.campaign.id, COUNTED):
        raise SightlineError(
            f"The campaign has more than {COUNTED:,} entries, too many to write while somebody waits.",
            f"`sightline campaign export {name} FILE` writes it.",
        )
    ending = DOWNLOADS[form]
    with tempfile.TemporaryDirectory() as folder:
        files = export_campaign(database(), name, Path(folder) / f"{name}{ending}", form, view.as_known)
        content = files[0].read_bytes() if len(files) == 1 else _zipped(files)
    file = f"{name}.zip" if len(files) > 1 else f"{name}{ending}"
    response = Response(content, content_type=mimetypes.guess_type(file)[0] or "application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{file}"'
    return response


def _zipped(files: Sequence[Path]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.name)
    return content.getvalue()
