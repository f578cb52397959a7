"""A campaign file, read whole: every time, place, force and account that it names is there, or told with its line."""

from __future__ import annotations

import dataclasses
import datetime
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

import shapely
from sqlalchemy.dialects.postgresql import Range

from db.archive import WORLD
from db.coasts import coasts
from importers.archive.forms import CampaignForm, EntryForm, ForceForm, RecordForm, StanceForm
from importers.archive.places import Place, read_place
from importers.archive.times import When, read_when, read_zone
from importers.documents import Node, Problems
from importers.forms import fill

Row = dict[str, Any]
Rows = dict[str, dict[str, Row]]
"""By table, by key: the columns of a row."""
SLUG = 60


@dataclasses.dataclass(frozen=True)
class Known:
    """What a file may name beside what it brings itself."""

    zone: datetime.timezone
    span: Range[datetime.datetime] | None = None
    accounts: Collection[str] = ()
    forces: Collection[str] = ()
    entries: Collection[str] = ()
    hexes: Collection[str] | None = None
    """Labels of the campaign's map; None where it has no map."""


def read_about(form: CampaignForm, node: Node, problems: Problems, maps: Collection[str]) -> Row:
    """The campaign itself."""
    zone = read_zone(form.zone)
    if form.map is not None and form.map not in maps:
        problems.unknown(node.at(["map"]), "map", form.map, maps)
    if form.coast is not None and form.coast not in coasts():
        problems.unknown(node.at(["coast"]), "coast", form.coast, coasts().keys())
    return {
        "name": form.name,
        "title": form.title or form.name,
        "note": form.note,
        "span": read_when(form.span, zone).during,
        "zone": form.zone,
        "coast": form.coast,
    }


def read_rows(form: CampaignForm | RecordForm, node: Node, known: Known, problems: Problems) -> Rows:
    """All rows that a form has, by table and key."""
    return _Reader(form, node, known, problems).rows()


def fill_campaign(node: Node, problems: Problems) -> CampaignForm | None:
    """The form of a campaign file."""
    return fill(CampaignForm, node, problems)


def fill_record(node: Node, problems: Problems) -> RecordForm | None:
    """The form of what is added to a campaign."""
    return fill(RecordForm, node, problems)


def slug(text: str) -> str:
    """A text as part of a key."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:SLUG].strip("-")


class _Reader:
    """Reads one form."""

    def __init__(self, form: CampaignForm | RecordForm, node: Node, known: Known, problems: Problems) -> None:
        self.form = form
        self.node = node
        self.known = known
        self.problems = problems
        self.accounts = dict.fromkeys([*known.accounts, *form.accounts])
        self.forces = dict.fromkeys([*known.forces, *form.forces])

    def rows(self) -> Rows:
        form = self.form
        rows: Rows = {
            "account": {key: account.model_dump() for key, account in form.accounts.items()},
            "force": {key: self._force(force) for key, force in form.forces.items()},
            "subordination": {},
            "entry": {},
            "stance": {},
        }
        for key, force in form.forces.items():
            self._subordinations(key, force, rows["subordination"])
        for number, entry in enumerate(form.entries):
            self._add(
                rows["entry"],
                self._entry_key(entry, rows["entry"]),
                self._entry(entry, number),
                ["entries", number],
            )
        for number, stance in enumerate(form.stances):
            row = self._stance(stance, number)
            key = stance.key or f"{stance.force}@{stance.account}@{_start(row)}"
            self._add(rows["stance"], key, row, ["stances", number])
        return rows

    def _add(self, rows: dict[str, Row], key: str, row: Row, path: list[str | int]) -> None:
        if key in rows:
            self.problems.add(self.node.at(path), f"{key} is there twice")
        rows[key] = row

    def _force(self, force: ForceForm) -> Row:
        return force.model_dump(exclude={"under"})

    def _subordinations(self, key: str, force: ForceForm, rows: dict[str, Row]) -> None:
        for number, under in enumerate(force.under):
            path: list[str | int] = ["forces", key, "under"]
            if isinstance(self.node.at(path).value, list):
                path.append(number)
            self._known([*path, "force"], "force", under.force, self.forces)
            self._known([*path, "account"], "account", under.account, self.accounts)
            when = self._when([*path, "when"], under.when) if under.when else None
            during = when.during if when else self.known.span or Range(None, None)
            row = {
                "force": key,
                "superior": under.force,
                "account": under.account,
                "page": under.page,
                "during": during,
                "precision": when.precision if when else "day",
                "about": bool(when and when.about),
            }
            self._add(rows, f"{key}@{under.account}@{_start(row)}", row, path)

    def _entry_key(self, entry: EntryForm, rows: Mapping[str, Row]) -> str:
        if entry.key:
            return entry.key
        stem = f"{entry.when.removeprefix('about ')[:10].strip('/')}-{slug(entry.title) or 'entry'}"
        stem = slug(stem)
        taken = {*rows, *self.known.entries}
        return next(
            key for n in range(1, len(taken) + 3) if (key := stem if n == 1 else f"{stem}-{n}") not in taken
        )

    def _entry(self, entry: EntryForm, number: int) -> Row:
        path: list[str | int] = ["entries", number]
        for n, involved in enumerate(entry.forces):
            self._known([*path, "forces", n, "force"], "force", involved.force, self.forces)
        row = entry.model_dump(include={"kind", "title", "text", "event", "certainty"})
        return row | self._placed(entry, path) | {"involved": [one.as_kept() for one in entry.forces]}

    def _stance(self, stance: StanceForm, number: int) -> Row:
        path: list[str | int] = ["stances", number]
        self._known([*path, "force"], "force", stance.force, self.forces)
        strength = stance.strength
        return {
            "force": stance.force,
            "state": stance.state,
            "note": stance.note,
            "strength": Range(strength[0], strength[1] + 1) if strength else None,
        } | self._placed(stance, path)

    def _placed(self, form: EntryForm | StanceForm, path: list[str | int]) -> Row:
        """When, where and by whom."""
        self._known([*path, "account"], "account", form.account, self.accounts)
        when = self._when([*path, "when"], form.when)
        place = self._place([*path, "at"], form.at)
        return {
            "during": when.during if when else None,
            "precision": when.precision if when else "day",
            "about": bool(when and when.about),
            "hex": place.hex,
            "geom": None
            if place.shape is None
            else shapely.to_wkb(shapely.set_srid(place.shape, WORLD), hex=True, include_srid=True),
            "uncertainty": form.uncertainty,
            "place": form.place,
            "account": form.account,
            "page": form.page,
            "why": form.why,
        }

    def _known(self, path: list[str | int], what: str, key: str, known: Collection[str]) -> None:
        if key not in known:
            self.problems.unknown(self.node.at(path), what, key, known)

    def _when(self, path: list[str | int], text: str) -> When | None:
        try:
            return read_when(text, self.known.zone)
        except ValueError as error:
            self.problems.add(self.node.at(path), str(error))
            return None

    def _place(self, path: list[str | int], at: Any) -> Place:
        node = self.node.at(path)
        try:
            place = read_place(at)
        except ValueError as error:
            self.problems.add(node, str(error))
            return Place()
        if place.hex is not None:
            if self.known.hexes is None:
                self.problems.add(node, f"{place.hex} is a hex, and the campaign has no map")
            elif place.hex not in self.known.hexes:
                self.problems.unknown(node, "hex", place.hex, self.known.hexes)
        return place


def _start(row: Row) -> str:
    lower = row["during"].lower if row["during"] is not None else None
    return "before" if lower is None else lower.isoformat()[:16]
