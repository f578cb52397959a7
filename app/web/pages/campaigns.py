"""The pages of campaigns: a map under a time slider, the chronicle, entries to cite, accounts side by side, forms to record.

A page is drawn on the server as its address says, so that it can be read and sent without a script;
the script moves the slider and fetches the same page's part (`part=moment`).
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, redirect, render_template, request, url_for
from markupsafe import Markup, escape
from sqlalchemy.dialects.postgresql import Range
from werkzeug.wrappers import Response as AnyResponse

from app.drawing.campaign import Mark, campaign_svg, shape_of, side_look
from app.play.history import beside
from app.play.tables import games
from app.referee.moments import moment_position, save_moment
from app.web.site import database, engine
from db import SightlineError, chronicle
from db.archive import CERTAINTIES, ENTRY_KINDS
from db.chronicle import Wanted
from db.coasts import CREDIT, coasts
from db.values import to_json
from importers.archive.campaigns import delete_entry, store_record
from importers.archive.chronicle import LINK
from importers.archive.citations import bibtex, csl, plain
from importers.archive.times import read_zone, write_when
from importers.archive.writing import entry_tree
from importers.documents import Problems, read_values

pages = Blueprint("campaigns", __name__, url_prefix="/campaigns")
NAVIGATION = [(12, "Campaigns", "campaigns.campaign_list")]
MOST = 200
"""Entries and forces that a moment lists; of more it tells how many."""
COUNTED = 5_000
"""Entries up to which a page counts them by days."""
WINDOWS = (1, 6, 24, 72)
LONGEST = 24 * 366 * 5
"""Hours of the slider."""
LASTING = 4
"""Windows that something must last to be told as going on."""
FIELDS = ("key", "when", "kind", "title", "text", "event", "certainty", "at", "uncertainty", "place", "forces", "account", "page", "why")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class View:
    """A campaign as somebody looks at it."""

    campaign: Any
    zone: datetime.timezone
    begin: datetime.datetime
    hours: int
    """Of the whole campaign."""
    hour: int
    window: int
    force: str
    account: str
    kind: str
    known: str

    @property
    def moment(self) -> datetime.datetime:
        return self.begin + datetime.timedelta(hours=self.hour)

    @property
    def end(self) -> datetime.datetime:
        return self.moment + datetime.timedelta(hours=self.window)

    @property
    def as_known(self) -> datetime.datetime | None:
        return moment_of(self.known)

    def wanted(self, *, whole: bool = False) -> Wanted:
        """What is looked for: in this time, or in all."""
        during = None if whole else Range(self.moment, self.end, bounds="[)")
        return Wanted(
            during=during,
            known=self.as_known,
            force=self.force or None,
            account=self.account or None,
            kind=self.kind or None,
        )

    def address(self, endpoint: str = ".campaign", **otherwise: Any) -> str:
        """The address of a page with what is looked for."""
        said: dict[str, Any] = {
            "hour": self.hour or None,
            "window": self.window if self.window != 24 else None,
        }
        said |= {
            word: getattr(self, word) or None for word in ("force", "account", "kind", "known")
        } | otherwise
        return url_for(
            endpoint,
            name=self.campaign.name,
            **{key: value for key, value in said.items() if value is not None},
        )


def moment_of(text: str) -> datetime.datetime | None:
    """A moment of knowing, UTC where it does not say."""
    if not text:
        return None
    try:
        moment = datetime.datetime.fromisoformat(text.replace(" ", "+"))
    except ValueError:
        raise SightlineError(f"{text[:40]!r} is no moment.", "Write it as 2026-11-17T12:00 (UTC).") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def _whole(name: str, usual: int, most: int) -> int:
    text = request.args.get(name, "")
    return min(int(text), most) if re.fullmatch(r"\d{1,6}", text) else usual


def _view(name: str) -> View:
    found = chronicle.find_campaign(database(), name)
    zone = read_zone(found.zone)
    begin = (found.span.lower or datetime.datetime(1, 1, 2, tzinfo=zone)).astimezone(zone)
    end = found.span.upper or begin + datetime.timedelta(days=30)
    hours = max(1, min(LONGEST, int((end - begin).total_seconds() // 3600)))
    window = _whole("window", 24, 24 * 31)
    return View(
        campaign=found,
        zone=zone,
        begin=begin,
        hours=hours,
        hour=_whole("hour", 0, hours),
        window=window or 24,
        **{word: request.args.get(word, "").strip() for word in ("force", "account", "kind", "known")},
    )


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
    view = _view(name)
    context = _moment(view)
    if request.args.get("part") == "moment":
        return render_template("campaigns/moment.html", **context)
    many = chronicle.more_entries_than(database(), view.campaign.id, COUNTED)
    days = [] if many else chronicle.calendar(database(), view.campaign.id, view.as_known)
    return render_template("campaigns/campaign.html", **context, **_choices(view), days=days, windows=WINDOWS)


def _moment(view: View) -> dict[str, Any]:
    """What is shown of a moment: entries that begin, entries that go on, forces, the drawing."""
    connection = database()
    forces = chronicle.forces(connection, view.campaign.id, view.as_known)
    rows = chronicle.entries(connection, view.campaign.id, view.wanted(), MOST)
    now = dataclasses.replace(view.wanted(), during=Range(view.moment, view.moment, bounds="[]"))
    standing = chronicle.stances(connection, view.campaign.id, now, MOST)
    entries = [_told(row, view, forces) for row in rows]
    marks = [_stance_mark(row, view, forces) for row in standing if row["shape"]]
    marks += [_entry_mark(one) for one in entries if one["shape"]]
    tracks = [
        Mark(shape_of(row["shape"]), f"Way of {forces[row['force']]['name']} ({row['account']})",
             view.address(force=row["force"]), side_look(forces[row["force"]]["side"]))
        for row in chronicle.tracks(connection, view.campaign.id, view.end, view.as_known)
        if row["force"] in forces
        and (not view.force or row["force"] == view.force)
        and (not view.account or row["account"] == view.account)
    ]  # fmt: skip
    coast = coasts().get(view.campaign.coast) if view.campaign.coast else None
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
        "stances": [_stance(row, view, forces) for row in standing],
        "drawn": campaign_svg(coast, tracks, marks, f"{view.campaign.title}, {told}"),
        "credit": CREDIT if coast else "",
    }


def _told(row: Mapping[str, Any], view: View, forces: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as a list has it."""
    during = row["during"]
    return dict(row) | {
        "when": write_when(during, row["precision"], row["about"], view.zone),
        "lasts": None if during.lower is None or during.upper is None else during.upper - during.lower,
        "address": url_for(".entry", name=view.campaign.name, key=row["key"], known=view.known or None),
        "html": linked(row["text"], view.campaign.name, forces),
        "names": [(key, forces[key]["name"] if key in forces else key) for key in row["forces"]],
    }


def _stance(row: Mapping[str, Any], view: View, forces: Mapping[str, Any]) -> dict[str, Any]:
    force = forces.get(row["force"])
    return dict(row) | {
        "when": write_when(row["during"], row["precision"], row["about"], view.zone),
        "name": force["name"] if force else row["force"],
        "look": side_look(force["side"] if force else ""),
    }


def _entry_mark(told: Mapping[str, Any]) -> Mark:
    """An entry, as `_told` has it, on the map."""
    return Mark(
        shape_of(told["shape"]),
        f"{told['title']} ({told['account']})",
        told["address"],
        f"entry {told['kind']}",
        "",
        told["uncertainty"],
    )


def _stance_mark(row: Mapping[str, Any], view: View, forces: Mapping[str, Any]) -> Mark:
    force = forces.get(row["force"]) or {"name": row["force"], "side": ""}
    title = f"{force['name']}: {row['state']}, by {row['account']}"
    return Mark(
        shape_of(row["shape"]),
        title,
        view.address(force=row["force"]),
        f"stance {side_look(force['side'])}",
        row["force"],
        row["uncertainty"],
    )


def linked(text: str, name: str, forces: Mapping[str, Any]) -> Markup:
    """A text with its `[[…]]` as links to what forces did; a hex is told as it is."""
    parts: list[Markup] = []
    last = 0
    for link in LINK.finditer(text):
        key = link[1].removeprefix("hex:")
        parts.append(escape(text[last : link.start()]))
        if key in forces:
            address = url_for("campaigns.chronicle_page", name=name, force=key)
            parts.append(Markup('<a href="{}">{}</a>').format(address, forces[key]["name"]))
        else:
            parts.append(escape(key))
        last = link.end()
    return Markup("").join([*parts, escape(text[last:])])


def _choices(view: View) -> dict[str, Any]:
    """What can be chosen in the forms."""
    connection = database()
    return {
        "forces": chronicle.forces(connection, view.campaign.id, view.as_known),
        "accounts": chronicle.accounts(connection, view.campaign.id, view.as_known),
        "kinds": ENTRY_KINDS,
        "certainties": CERTAINTIES,
    }


@pages.get("/<name>/chronicle")
def chronicle_page(name: str) -> str:
    """All that happened, to read and to print."""
    view = _view(name)
    page = _whole("page", 1, 100_000) or 1
    forces = chronicle.forces(database(), view.campaign.id, view.as_known)
    wanted = view.wanted(whole=True)
    rows = chronicle.entries(database(), view.campaign.id, wanted, MOST + 1, (page - 1) * MOST)
    days: dict[str, list[dict[str, Any]]] = {}
    for row in rows[:MOST]:
        told = _told(row, view, forces)
        begun = row["during"].lower
        days.setdefault("before" if begun is None else f"{begun.astimezone(view.zone):%Y-%m-%d}", []).append(
            told
        )
    tree = chronicle.order_of_battle(database(), view.campaign.id, None, view.account or None, view.as_known)
    return render_template(
        "campaigns/chronicle.html", view=view, campaign=view.campaign, days=days, tree=tree, page=page,
        more=len(rows) > MOST, **_choices(view),
    )  # fmt: skip


@pages.get("/<name>/entries/<key>")
def entry(name: str, key: str) -> str:
    """One entry, whole: versions, citation, what other accounts say of the same event."""
    view = _view(name)
    row = chronicle.find_entry(database(), view.campaign, key, view.as_known)
    choices = _choices(view)
    forces, accounts = choices["forces"], choices["accounts"]
    others = []
    if row["event"]:
        wanted = Wanted(event=row["event"], known=view.as_known)
        others = [
            _told(other, view, forces)
            for other in chronicle.entries(database(), view.campaign.id, wanted, MOST)
            if other["key"] != key
        ]
    address = url_for(".entry", name=name, key=key, known=view.known or None, _external=True)
    told = _told(row, view, forces)
    marks = [_entry_mark(one) for one in (told, *others) if one["shape"]]
    coast = coasts().get(view.campaign.coast) if view.campaign.coast else None
    return render_template(
        "campaigns/entry.html", view=view, campaign=view.campaign, entry=told,
        involved=[dict(one) | {"name": forces[one["force"]]["name"] if one["force"] in forces else one["force"]} for one in row["involved"]],
        account=accounts[row["account"]], others=others, versions=chronicle.entry_versions(database(), view.campaign.id, key),
        cited=plain(row, accounts[row["account"]], address, datetime.datetime.now(datetime.UTC).date()),
        drawn=campaign_svg(coast, [], marks, row["title"]) if marks else None, credit=CREDIT if coast else "",
    )  # fmt: skip


@pages.get("/<name>/entries/<key>/cite.<form>")
def cite(name: str, key: str, form: str) -> Response:
    """The citation of an entry for other programs."""
    view = _view(name)
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
    view = _view(name)
    choices = _choices(view)
    known = list(choices["accounts"])
    one = request.args.get("one") or next(iter(known), "")
    other = request.args.get("other") or next((key for key in known if key != one), "")
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
    coast = coasts().get(view.campaign.coast) if view.campaign.coast else None
    drawn = campaign_svg(coast, [], marks, f"Where {one} and {other} differ")
    return render_template(
        "campaigns/differences.html", view=view, campaign=view.campaign, rows=told, one=one, other=other, drawn=drawn,
        credit=CREDIT if coast else "", **choices,
    )  # fmt: skip


def _when(during: Range[datetime.datetime], zone: datetime.timezone) -> str:
    """A time as days where it is whole days."""
    ends = [end.astimezone(zone) for end in (during.lower, during.upper) if end is not None]
    midnight = all(end.time() == datetime.time() for end in ends)
    return write_when(during, "day" if midnight else "minute", False, zone)


def _differs(row: Mapping[str, Any]) -> str:
    """In what two accounts differ, in words."""
    found = [] if row["first_during"] == row["second_during"] else ["time"]
    found += ["place"] if row["first_shape"] != row["second_shape"] else []
    if row["what"] == "stance":
        found = ["state"] * (row["first_says"] != row["second_says"]) + ["place"] * bool(row["meters_apart"])
    return ", ".join(found) or "forces"


# Recording


@pages.get("/<name>/record")
def record_form(name: str) -> str:
    """A form for an entry: a new one, or a correction of one that is there."""
    view = _view(name)
    key = request.args.get("key", "")
    filled: dict[str, Any] = {"when": f"{view.moment:%Y-%m-%d}"} if not key else _filled(view, key)
    filled |= {field: request.args[field] for field in FIELDS if request.args.get(field)}
    return _form_page(view, filled, key, [])


def _filled(view: View, key: str) -> dict[str, Any]:
    """An entry as the fields of the form have it."""
    row = chronicle.find_entry(database(), view.campaign, key, None)
    shape = shape_of(row["shape"])
    told = entry_tree(key, dict(row) | {"geom": None, "why": ""}, view.zone)
    told["forces"] = " ".join(row["forces"])
    if row["hex"] is None and shape is not None:
        told["at"] = _written_shape(shape)
    return told


def _written_shape(shape: Mapping[str, Any]) -> str:
    if shape["type"] == "Point":
        return "{:.6f}, {:.6f}".format(*shape["coordinates"])
    lines = shape["coordinates"] if shape["type"] == "Polygon" else [shape["coordinates"]]
    written = [", ".join(f"{lon:.6f} {lat:.6f}" for lon, lat in line) for line in lines]
    return f"POLYGON(({written[0]}))" if shape["type"] == "Polygon" else f"LINESTRING({written[0]})"


def _form_page(view: View, filled: Mapping[str, Any], key: str, wrong: list[str]) -> str:
    coast = coasts().get(view.campaign.coast) if view.campaign.coast else None
    drawn = campaign_svg(coast, [], [], f"Map of {view.campaign.title}: click where it happened")
    return render_template(
        "campaigns/record.html", view=view, campaign=view.campaign, filled=filled, key=key, wrong=wrong, drawn=drawn,
        credit=CREDIT if coast else "", **_choices(view),
    )  # fmt: skip


@pages.post("/<name>/record")
def record(name: str) -> str | AnyResponse | tuple[str, int]:
    """Record an entry, or a new version of one; what is wrong is told beside the form."""
    view = _view(name)
    told = {
        field: text for field in FIELDS if (text := request.form.get(field, "").replace("\r\n", "\n").strip())
    }
    key = request.form.get("key", "").strip()
    entry: dict[str, Any] = dict(told)
    if key:
        entry["forces"] = _kept_forces(view, key, told.get("forces", ""))
    elif "forces" in told:
        entry["forces"] = told["forces"].replace(",", " ").split()
    if re.fullmatch(r"\d+", told.get("uncertainty", "")):
        entry["uncertainty"] = int(told["uncertainty"])
    problems = Problems()
    try:
        node = read_values({"entries": [entry]}, "form", problems)
        with engine().begin() as connection:
            report = store_record(
                connection,
                name,
                node,
                problems,
                who=request.form.get("who", "").strip() or "somebody on the web",
            )
    except Problems as found:
        wrong = [
            f"{problem.place.removeprefix('entries/1/')}: {problem.message}" + _nearest(problem.nearest)
            for problem in found.sorted()
        ]
        return _form_page(view, told, key, wrong), 422
    except SightlineError as error:
        return _form_page(view, told, key, [f"{error.message} {error.remedy}".strip()]), 422
    written = report.keys[0] if report.keys else key
    return redirect(url_for(".entry", name=name, key=written), code=303)


def _nearest(words: tuple[str, ...]) -> str:
    return f" (did you mean {' or '.join(words)}?)" if words else ""


def _kept_forces(view: View, key: str, text: str) -> list[Any]:
    """The forces of the form; strengths and losses that the form does not show stay as they are."""
    row = chronicle.find_entry(database(), view.campaign, key, None)
    there = {one["force"]: one for one in row["involved"]}
    return [there.get(force, force) for force in text.replace(",", " ").split()]


@pages.post("/<name>/entries/<key>/delete")
def remove(name: str, key: str) -> AnyResponse:
    """Take an entry away; its versions stay."""
    with engine().begin() as connection:
        delete_entry(connection, name, key, who=request.form.get("who", "").strip() or "somebody on the web")
    return redirect(url_for(".campaign", name=name), code=303)


# Asking, and a game beside it


@pages.post("/<name>/position")
def ask_moment(name: str) -> AnyResponse:
    """Make a moment a position that every question can be put to, and go there."""
    view = _view(name)
    hour = request.form.get("hour", "")
    moment = view.begin + datetime.timedelta(hours=int(hour) if re.fullmatch(r"\d{1,6}", hour) else 0)
    with engine().begin() as connection:
        found = moment_position(connection, name, moment, map=request.form.get("map") or None)
        if not found.tree["units"]:
            raise SightlineError(
                "No force that stands there then has a counter of this map's game.",
                "Tell counters with the forces, or choose another moment.",
            )
        saved = save_moment(connection, found, replace=True)
    return redirect(url_for("maps.position_board", name=saved), code=303)


@pages.get("/<name>/game")
def game_beside(name: str) -> str:
    """A game's turns beside what happened: where it left history."""
    view = _view(name)
    game = request.args.get("game", "")
    sides = beside(database(), name, game, hours=_whole("hours", 24, 24 * 31) or 24) if game else []
    forces = chronicle.forces(database(), view.campaign.id)
    told = [{"side": side, "entries": [_told(row, view, forces) for row in side.told]} for side in sides]
    first = next((side for side in sides if side.left), None)
    return render_template(
        "campaigns/game.html", view=view, campaign=view.campaign, game=game, sides=told, first=first,
        games=[entry.name for entry in games(database())],
    )  # fmt: skip
