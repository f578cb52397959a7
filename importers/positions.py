"""Saved positions in and out: a file into the database, and what is there as a file again.

report = import_position(connection, "landing.yaml")
text = write_position(connection, "landing")
"""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.counters import UNITS
from db.inventory import no_position
from db.maps import Hex, Map
from db.positions import Marker, Position, Unit
from importers.cases import read_position, store_position
from importers.documents import Node, read_document
from importers.map_writing import flow, yaml_text
from importers.maps import delete_map

Tree = dict[str, Any]
ROWS = ("units", "markers", "ask")
"""Sections that are written one entry to a line."""


class PositionError(SightlineError):
    """A position that cannot be read or stored as asked."""


@dataclasses.dataclass(frozen=True)
class PositionReport:
    """What an import brought in."""

    name: str
    title: str
    ruleset: str
    map: str
    replaced: bool
    units: int
    markers: int


def import_position(connection: Connection, path: Path | str, *, replace: bool = False) -> PositionReport:
    """Bring a position file into the database, whole or not at all.

    Raises `Problems` with everything that is wrong with the file, or a `PositionError`.
    Commits where the caller has not begun a transaction of their own.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PositionError(f"Cannot read {path}: {error.strerror}.") from error
    with connection.begin_nested() if connection.in_transaction() else connection.begin():
        replaced = replace and _make_room(connection, read_document(content, str(path)))
        position = read_position(content, str(path), connection)
        if connection.scalar(sa.select(Position.id).where(Position.name == position.name)) is not None:
            raise PositionError(
                f"There is a position {position.name!r} already.",
                "Replace it, or give the one in the file another name.",
            )
        store_position(connection, position)
    return PositionReport(
        name=position.name or "",
        title=position.title,
        ruleset=position.ruleset,
        map=position.saved_map or position.board.name or "",
        replaced=replaced,
        units=len(position.units),
        markers=len(position.markers),
    )


def _make_room(connection: Connection, document: Node) -> bool:
    """Take away the position that a document replaces, and the map that it brings anew. True if it was there."""
    name, board = document.get("name"), document.get("map")
    if name is None or name.text is None:
        return False
    there = connection.execute(
        sa.select(Map.name).join(Position, Position.map_id == Map.id).where(Position.name == name.text)
    ).one_or_none()
    if there is None:
        return False
    delete_position(connection, name.text)
    if board is not None and isinstance(board.value, dict):
        own = board.get("name")
        if there.name == (name.text if own is None else own.text):
            delete_map(connection, there.name)
    return True


def delete_position(connection: Connection, name: str) -> None:
    """Remove a saved position; its map stays."""
    found = _find(connection, name)
    connection.execute(sa.delete(Position).where(Position.id == found.id))


def position_tree(connection: Connection, name: str) -> Tree:
    """A saved position as its file would have it."""
    found = _find(connection, name)
    tree: Tree = {"name": name}
    if found.title:
        tree["title"] = found.title
    tree |= {"ruleset": found.ruleset, "map": found.map}
    tree |= {key: value for key in ("conditions", "policy") if (value := getattr(found, key))}
    units = _standing(connection, Unit, found.id)
    markers = _standing(connection, Marker, found.id)
    tree["units"] = [_unit(row, found.ruleset) for row in units]
    tree["markers"] = [_marker(row) for row in markers]
    return tree


def write_position(connection: Connection, name: str) -> str:
    """A saved position as YAML that `import_position` reads."""
    return written(position_tree(connection, name))


def written(tree: Tree) -> str:
    """A position or a case as YAML: units, markers, questions and what is on the map one entry to a line."""
    lines: list[str] = []
    for key, value in tree.items():
        if key in ROWS and value:
            lines += [f"{key}:", *(f"  - {flow(entry)}" for entry in value)]
        elif key == "map" and isinstance(value, dict):
            lines += ["map:", *(f"  {line}" for line in yaml_text(value).rstrip("\n").split("\n"))]
        else:
            lines.append(f"{key}: {flow(value)}")
    return "\n".join(lines) + "\n"


def _find(connection: Connection, name: str) -> sa.Row[Any]:
    found = connection.execute(
        sa.select(
            Position.id, Position.title, Position.ruleset, Position.conditions, Position.policy,
            Map.name.label("map"),
        ).join(Map, Map.id == Position.map_id).where(Position.name == name)
    ).one_or_none()  # fmt: skip
    if found is None:
        raise no_position(connection, name)
    return found


def _standing(
    connection: Connection, table: type[Unit] | type[Marker], position_id: int
) -> list[sa.Row[Any]]:
    """Units or markers with the label of their hex, in the order in which they were stored."""
    query = (
        sa.select(*table.__table__.columns, Hex.label)
        .outerjoin(Hex, (Hex.map_id == table.map_id) & (Hex.q == table.q) & (Hex.r == table.r))
        .where(table.position_id == position_id)
        .order_by(table.id)
    )
    return list(connection.execute(query))


def _unit(row: sa.Row[Any], ruleset: str) -> Tree:
    said: Tree = {"id": row.code, "side": row.side, "kind": row.kind, "at": row.label}
    said = {key: value for key, value in said.items() if value is not None}
    # through the counter's form, so that numbers kept as text are numbers again
    unit = UNITS[ruleset].model_validate(said | row.attributes)
    said |= _plain(unit.model_dump(include=set(row.attributes), exclude_defaults=True))
    return said


def _marker(row: sa.Row[Any]) -> Tree:
    said: Tree = {"kind": row.kind, "at": row.label, "value": row.value, "facing": row.facing}
    said |= row.attributes
    return {key: value for key, value in said.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value
