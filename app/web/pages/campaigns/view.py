"""What all pages of a campaign share: how it is looked at, and how entries, forces and the map are told."""

from __future__ import annotations

import dataclasses
import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flask import Blueprint, request, url_for
from markupsafe import Markup, escape
from sqlalchemy.dialects.postgresql import Range

from app.drawing.campaign import Mark, campaign_svg, shape_of, side_look
from app.web.site import database
from db import SightlineError, chronicle
from db.archive import ACCOUNT_KINDS, CERTAINTIES, ENTRY_KINDS, RELIABILITIES
from db.chronicle import Wanted
from db.coasts import CREDIT, coasts
from importers.archive.chronicle import LINK
from importers.archive.times import read_zone, write_when

pages = Blueprint("campaigns", __name__, url_prefix="/campaigns")
MOST = 200
"""Entries and forces that a page lists; of more it tells how many, or leads on."""
LONGEST = 24 * 366 * 5
"""Hours of the slider."""


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


def whole_number(name: str, usual: int, most: int, least: int = 1) -> int:
    """A number of the address or of a form; what is none, or out of its range, is refused."""
    text = request.values.get(name, "").strip()
    if not text:
        return usual
    if not re.fullmatch(r"\d{1,6}", text, re.ASCII) or not least <= int(text) <= most:
        raise SightlineError(
            f"{name} = {text[:20]!r} is not here.", f"Write a whole number, {least} to {most}."
        )
    return int(text)


def read_view(name: str) -> View:
    found = chronicle.find_campaign(database(), name)
    zone = read_zone(found.zone)
    begin = (found.span.lower or datetime.datetime(1, 1, 2, tzinfo=zone)).astimezone(zone)
    end = found.span.upper or begin + datetime.timedelta(days=30)
    hours = max(1, min(LONGEST, int((end - begin).total_seconds() // 3600)))
    return View(
        campaign=found,
        zone=zone,
        begin=begin,
        hours=hours,
        hour=whole_number("hour", 0, hours, least=0),
        window=whole_number("window", 24, 24 * 31),
        **{word: request.args.get(word, "").strip() for word in ("force", "account", "kind", "known")},
    )


def _placed(row: Mapping[str, Any], view: View) -> dict[str, Any]:
    """An entry or a stance, with its coordinates in words, and whether it lies outside the campaign's time."""
    shape = shape_of(row["shape"])
    point = shape is not None and shape["type"] == "Point" and row["hex"] is None
    return dict(row) | {
        "coordinates": "{:.4f}, {:.4f}".format(*shape["coordinates"]) if point else "",
        "outside": not row["during"].overlaps(view.campaign.span),
    }


def told_entry(row: Mapping[str, Any], view: View, forces: Mapping[str, Any]) -> dict[str, Any]:
    """An entry as a list has it."""
    during = row["during"]
    return _placed(row, view) | {
        "when": write_when(during, row["precision"], row["about"], view.zone),
        "lasts": None if during.lower is None or during.upper is None else during.upper - during.lower,
        "address": url_for(".entry", name=view.campaign.name, key=row["key"], known=view.known or None),
        "html": linked(row["text"], view.campaign.name, forces),
        "names": [(key, forces[key]["name"] if key in forces else key) for key in row["forces"]],
    }


def told_stance(row: Mapping[str, Any], view: View, forces: Mapping[str, Any]) -> dict[str, Any]:
    force = forces.get(row["force"])
    return _placed(row, view) | {
        "when": write_when(row["during"], row["precision"], row["about"], view.zone),
        "name": force["name"] if force else row["force"],
        "look": side_look(force["side"] if force else ""),
    }


def entry_mark(told: Mapping[str, Any]) -> Mark:
    """An entry, as `_told` has it, on the map."""
    return Mark(
        shape_of(told["shape"]),
        f"{told['title']} ({told['account']})",
        told["address"],
        f"entry {told['kind']}",
        "",
        told["uncertainty"],
    )


def stance_mark(row: Mapping[str, Any], view: View, forces: Mapping[str, Any]) -> Mark:
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


def choices(view: View) -> dict[str, Any]:
    """What can be chosen in the forms."""
    connection = database()
    return {
        "forces": chronicle.forces(connection, view.campaign.id, view.as_known),
        "accounts": chronicle.accounts(connection, view.campaign.id, view.as_known),
        "kinds": ENTRY_KINDS,
        "certainties": CERTAINTIES,
        "account_kinds": ACCOUNT_KINDS,
        "reliabilities": RELIABILITIES,
    }


def stage(view: View, marks: Sequence[Mark], title: str, tracks: Iterable[Mark] = ()) -> dict[str, Any]:
    """The campaign's map as templates show it."""
    coast = coasts().get(view.campaign.coast) if view.campaign.coast else None
    return {"drawn": campaign_svg(coast, tracks, marks, title), "credit": CREDIT if coast else ""}
