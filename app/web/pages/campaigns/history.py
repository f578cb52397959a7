"""What a campaign is made of, each with its versions: forces, accounts, stances; and every change, by whom and when."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from typing import Any

from flask import render_template, request, url_for
from sqlalchemy.dialects.postgresql import Range

from app.web.pages.campaigns.view import (
    MOST,
    View,
    choices,
    moment_of,
    pages,
    read_view,
    stage,
    stance_mark,
    told_stance,
)
from app.web.site import database
from db import chronicle
from db.archive import Account, Entry, Force, Stance
from db.chronicle import Wanted
from db.values import to_json
from importers.archive.times import write_when

THINGS: dict[str, Any] = {"entry": Entry, "stance": Stance, "force": Force, "account": Account}
"""What has a page and a form of its own, by the word in addresses."""
UNTOLD = ("precision", "about", "forces", "key")
"""Columns that another one tells along."""
WORDS = {"during": "when", "geom": "where", "involved": "forces"}
SHORT = 160
INSTANT = datetime.timedelta(microseconds=1)


@pages.get("/<name>/forces")
def force_list(name: str) -> str:
    """The order of battle, at the moment that is looked at."""
    view = read_view(name)
    moment = view.moment if "hour" in request.args else None
    tree = chronicle.order_of_battle(
        database(), view.campaign.id, moment, view.account or None, view.as_known
    )
    return render_template(
        "campaigns/forces.html", view=view, campaign=view.campaign, tree=tree, moment=moment, **choices(view)
    )


@pages.get("/<name>/forces/<path:key>")
def force(name: str, key: str) -> str:
    """A force: under whom it stood, where, and what was ever recorded of it."""
    view = read_view(name)
    row = chronicle.find(database(), view.campaign, Force, key, view.as_known)
    offered = choices(view)
    wanted = Wanted(known=view.as_known, force=key)
    stood = chronicle.stances(database(), view.campaign.id, wanted, MOST)
    marks = [stance_mark(one, view, offered["forces"]) for one in stood if one["shape"]]
    under = [
        one | {"when": write_when(one["during"], one["precision"], one["about"], view.zone)}
        for one in chronicle.subordinations(database(), view.campaign.id, key, view.as_known)
    ]
    return render_template(
        "campaigns/force.html", view=view, campaign=view.campaign, row=row, under=under,
        stances=[told_stance(one, view, offered["forces"]) for one in stood],
        entries=chronicle.count_entries(database(), view.campaign.id, wanted),
        versions=told_versions(view, "force", key), **(stage(view, marks, row["name"]) if marks else {"drawn": None}), **offered,
    )  # fmt: skip


@pages.get("/<name>/accounts")
def account_list(name: str) -> str:
    """The sources."""
    view = read_view(name)
    return render_template("campaigns/accounts.html", view=view, campaign=view.campaign, **choices(view))


@pages.get("/<name>/accounts/<path:key>")
def account(name: str, key: str) -> str:
    """A source, and what was ever thought of it."""
    view = read_view(name)
    row = chronicle.find(database(), view.campaign, Account, key, view.as_known)
    told = chronicle.count_entries(database(), view.campaign.id, Wanted(known=view.as_known, account=key))
    return render_template(
        "campaigns/account.html", view=view, campaign=view.campaign, row=row, entries=told,
        versions=told_versions(view, "account", key),
    )  # fmt: skip


@pages.get("/<name>/stances/<path:key>")
def stance(name: str, key: str) -> str:
    """Where a force stood for a time, by one account."""
    view = read_view(name)
    row = chronicle.find(database(), view.campaign, Stance, key, view.as_known)
    forces = chronicle.forces(database(), view.campaign.id, view.as_known)
    marks = [stance_mark(row, view, forces)] if row["shape"] else []
    return render_template(
        "campaigns/stance.html", view=view, campaign=view.campaign, row=told_stance(row, view, forces),
        account=chronicle.accounts(database(), view.campaign.id, view.as_known).get(row["account"]),
        versions=told_versions(view, "stance", key), **(stage(view, marks, row["force"]) if marks else {"drawn": None}),
    )  # fmt: skip


@pages.get("/<name>/history")
def changes(name: str) -> str:
    """Every change, the newest first: who, when, what and why."""
    view = read_view(name)
    before = moment_of(request.args.get("before", "").strip())
    rows = chronicle.changes(database(), view.campaign.id, MOST + 1, before)
    told = [
        {
            "moment": row.moment, "who": row.who, "what": row.what, "kind": row.kind, "key": row.key, "title": row.title,
            "why": row.why, "columns": [WORDS.get(one, one) for one in row.columns if one not in UNTOLD],
            "address": _address_of_change(view, row),
        }
        for row in rows[:MOST]
    ]  # fmt: skip
    earlier = rows[MOST - 1].moment.isoformat() if len(rows) > MOST else None
    return render_template(
        "campaigns/history.html", view=view, campaign=view.campaign, rows=told, earlier=earlier
    )


def thing_address(view: View, kind: str, key: str, known: str | None = None) -> str:
    """The page of an entry, stance, force or account."""
    return url_for(f".{kind}", name=view.campaign.name, key=key, known=known)


def _address_of_change(view: View, row: Any) -> str | None:
    """Where something can be seen as it was after a change, or before it was taken away."""
    if row.kind == "subordination":
        return thing_address(view, "force", row.key.partition("@")[0])
    moment = row.moment - INSTANT if row.what == "taken away" else row.moment
    return thing_address(view, row.kind, row.key, moment.isoformat())


def told_versions(view: View, kind: str, key: str) -> list[dict[str, Any]]:
    """Every version of a thing, with what it changed."""
    rows = chronicle.versions(database(), view.campaign.id, key, kind)
    told = []
    for n, row in enumerate(rows):
        # a version that follows a gap was recorded again, and changed nothing
        before = rows[n - 1].what if n and rows[n - 1].known_until == row.known_from else None
        told.append(
            row._asdict()
            | {
                "changes": _changes(view, before, row.what) if before else [],
                "gone": row.known_until is not None and (n + 1 == len(rows) or rows[n + 1].known_from != row.known_until),
                "address": thing_address(view, kind, key, row.known_from.isoformat()),
                "again": url_for(".record_form", name=view.campaign.name, kind=kind, key=key, known=row.known_from.isoformat()),
            }
        )  # fmt: skip
    return told


def _changes(view: View, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What a version says otherwise than the one before: the word, before, after."""
    timed = ("during", "precision", "about")
    found = []
    for column in after:
        columns = timed if column == "during" else (column,)
        if column in UNTOLD or all(before.get(one) == after.get(one) for one in columns):
            continue
        if column == "geom" and after.get("hex"):
            continue
        found.append((WORDS.get(column, column), _said(view, column, before), _said(view, column, after)))
    return found


def _said(view: View, column: str, what: Mapping[str, Any]) -> str:
    """What a version says in one column, as people write it."""
    value = what.get(column)
    if value in (None, "", [], {}):
        return "nothing"
    if column == "during":
        return write_when(_range(value), what.get("precision", "minute"), what.get("about", False), view.zone)
    if column == "geom" and value["type"] == "Point":
        return "{:.5f}, {:.5f}".format(*value["coordinates"])
    if column == "geom":
        return str(value["type"])
    if column == "strength":
        least, most = re.findall(r"\d+", value)
        return least if int(most) == int(least) + 1 else f"{least}-{int(most) - 1}"
    if column == "involved":
        return ", ".join(" ".join(str(part) for part in one.values()) for one in value)
    said = to_json(value) if isinstance(value, dict | list) else str(value)
    return said if len(said) <= SHORT else f"{said[:SHORT]}…"


def _range(text: str) -> Range[datetime.datetime]:
    """A range of moments as JSON has it."""
    begin, end = (
        datetime.datetime.fromisoformat(part) if part else None
        for part in (part.strip('"') for part in text[1:-1].split(","))
    )
    return Range(begin, end, bounds="[)")
