"""A campaign as the tree that its file has, and that tree as YAML, JSON or CSV tables."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from typing import Any

import shapely
from sqlalchemy.engine import Connection

from db.chronicle import find_campaign
from importers.archive.campaigns import stored_rows
from importers.archive.places import write_place
from importers.archive.tables import write_tables
from importers.archive.times import read_zone, write_when
from importers.map_writing import flow

Tree = dict[str, Any]
ACCOUNT = ("author", "title", "year", "publisher", "kind", "reliability", "url", "note")
SECTIONS = ("accounts", "forces", "entries", "stances")


def campaign_tree(connection: Connection, name: str, known: datetime.datetime | None = None) -> Tree:
    """A campaign as its file would have it, today or as it was known on a day."""
    found = find_campaign(connection, name)
    zone = read_zone(found.zone)
    rows = stored_rows(connection, found.id, known)
    tree: Tree = {
        "name": name,
        "title": found.title,
        "note": found.note,
        "span": write_when(found.span, "minute", False, zone),
        "zone": found.zone,
        "map": found.map,
        "coast": found.coast,
    }
    forces: dict[str, Tree] = {
        key: _told(row, ("name", "side", "kind", "note", "counters", "why"))
        for key, row in rows["force"].items()
    }
    for row in rows["subordination"].values():
        under = _told(row, ("account", "page")) | {"when": _when(row, zone)}
        forces[row["force"]].setdefault("under", []).append({"force": row["superior"]} | under)
    tree |= {
        "accounts": {key: _told(row, (*ACCOUNT, "why")) for key, row in rows["account"].items()},
        "forces": forces,
        "entries": [entry_tree(key, row, zone) for key, row in rows["entry"].items()],
        "stances": [stance_tree(key, row, zone) for key, row in rows["stance"].items()],
    }
    return {key: value for key, value in tree.items() if value not in (None, "", {}, [])}


def entry_tree(key: str, row: Mapping[str, Any], zone: datetime.timezone) -> Tree:
    """An entry as a file would have it."""
    tree = {"key": key, "when": _when(row, zone)} | _told(
        row, ("kind", "title", "text", "event", "certainty")
    )
    tree |= _place(row) | {"forces": [_involved(one) for one in row["involved"]]}
    tree |= _told(row, ("account", "page", "why"))
    return {word: value for word, value in tree.items() if value not in (None, "", [])}


def write_campaign(
    connection: Connection, name: str, form: str = "yaml", known: datetime.datetime | None = None
) -> str:
    """A campaign as YAML or JSON that `import_campaign` reads."""
    tree = campaign_tree(connection, name, known)
    if form == "json":
        return (
            "{\n"
            + ",\n".join(f"{json.dumps(key)}: {flow(value, json.dumps)}" for key, value in tree.items())
            + "\n}\n"
        )
    return yaml_text(tree)


def yaml_text(tree: Tree) -> str:
    """A tree as YAML, in each section one thing to a line."""
    lines: list[str] = []
    for key, value in tree.items():
        if key not in SECTIONS or not value:
            lines.append(f"{key}: {flow(value)}")
        elif isinstance(value, dict):
            lines += [f"{key}:", *(f"  {flow(name)}: {flow(entry)}" for name, entry in value.items())]
        else:
            lines += [f"{key}:", *(f"  - {flow(entry)}" for entry in value)]
    return "\n".join(lines) + "\n"


def campaign_tables(
    connection: Connection, name: str, known: datetime.datetime | None = None
) -> dict[str, str]:
    """A campaign as CSV tables, with columns for GIS: when it begins and ends, where it lies."""
    found = find_campaign(connection, name)
    rows = stored_rows(connection, found.id, known)
    shapes = {
        section: [for_gis(row) for row in rows[table].values()]
        for section, table in (("entries", "entry"), ("stances", "stance"))
    }
    return write_tables(campaign_tree(connection, name, known), shapes)


def for_gis(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Begin and end in UTC, a point to label it, and the shape as well-known text."""
    during, shape = row["during"], shape_of(row)
    times = [None if end is None else utc(end) for end in (during.lower, during.upper)]
    if shape is None:
        return (*times, None, None, None)
    point = shape.representative_point()
    return (*times, round(point.x, 6), round(point.y, 6), shape.wkt)


def utc(moment: datetime.datetime) -> str:
    """A moment as every program reads it."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shape_of(row: Mapping[str, Any]) -> shapely.geometry.base.BaseGeometry | None:
    """Where a row lies, in longitude and latitude."""
    return None if row["geom"] is None else shapely.from_wkb(bytes.fromhex(row["geom"]))


def _told(row: Mapping[str, Any], columns: tuple[str, ...]) -> Tree:
    return {column: row[column] for column in columns if row[column] not in (None, "", {})}


def _when(row: Mapping[str, Any], zone: datetime.timezone) -> str:
    return write_when(row["during"], row["precision"], row["about"], zone)


def _place(row: Mapping[str, Any]) -> Tree:
    tree = {
        "at": write_place(row["hex"], shape_of(row)),
        "uncertainty": row["uncertainty"],
        "place": row["place"],
    }
    return {key: value for key, value in tree.items() if value not in (None, "")}


def stance_tree(key: str, row: Mapping[str, Any], zone: datetime.timezone) -> Tree:
    """A stance as a file would have it."""
    strength = row["strength"]
    tree = (
        {"key": key, "force": row["force"], "when": _when(row, zone)} | _told(row, ("state",)) | _place(row)
    )
    if strength is not None:
        tree["strength"] = _range([strength.lower, strength.upper - 1])
    return tree | _told(row, ("account", "page", "note", "why"))


def _involved(told: Mapping[str, Any]) -> Any:
    tree = {key: _range(value) if isinstance(value, list) else value for key, value in told.items()}
    return tree["force"] if tree.keys() == {"force"} else tree


def _range(numbers: list[int]) -> int | list[int]:
    return numbers[0] if numbers[0] == numbers[1] else numbers
