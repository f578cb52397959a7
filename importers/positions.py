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
from db.counters import Unit as Counter
from db.database import take_turns
from db.inventory import no_position
from db.labels import HEX, UNIT, Axial
from db.maps import Hex, Map
from db.position_draft import MarkerDraft, PositionDraft
from db.positions import Marker, Position, Unit
from importers.cases import read_position, store_position
from importers.documents import Node, read_document
from importers.map_writing import flow, yaml_text
from importers.maps import delete_map, open_map

Tree = dict[str, Any]
ROWS = ("units", "markers", "ask")
"""Sections that are written one entry to a line."""


NAMESAKES = 5
"""Units called like a hex that are listed by name."""


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
    notices: tuple[str, ...] = ()


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
        document = read_document(content, str(path))
        name = document.get("name") or document.get("case")
        take_turns(connection, f"position {name.text if name else ''}")
        replaced = replace and _make_room(connection, document)
        position = read_position(content, str(path), connection)
        if connection.scalar(sa.select(Position.id).where(Position.name == position.name)) is not None:
            raise PositionError(
                f"There is a position {position.name!r} already.",
                "Replace it (--replace; on the page, its box), or give the one in the file another name.",
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
        notices=_namesakes(position),
    )


def _namesakes(position: PositionDraft) -> tuple[str, ...]:
    """A word on units that are called like a hex of their map."""
    both = [code for code in position.units if position.is_hex(code)]
    if not both:
        return ()
    listed = ", ".join(both[:NAMESAKES]) + (" …" if len(both) > NAMESAKES else "")
    return (
        f"{listed}: {'a unit is' if len(both) == 1 else 'units are'} called like a hex of the map;"
        f" questions say which they mean, {UNIT}{both[0]} or {HEX}{both[0]}",
    )


def _make_room(connection: Connection, document: Node) -> bool:
    """Take away the position that a document replaces, and the map that it brings anew. True if it was there."""
    name, board = document.get("name") or document.get("case"), document.get("map")
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
    found = _find_named(connection, name)
    connection.execute(sa.delete(Position).where(Position.id == found.id))


def position_tree(connection: Connection, name: str) -> Tree:
    """A saved position as its file would have it."""
    return {"name": name, **stored_tree(connection, _find_named(connection, name).id)}


def stored_tree(connection: Connection, position_id: int) -> Tree:
    """A stored position as a file would have it, without a name."""
    found = _find(connection, Position.id == position_id)
    tree: Tree = {"title": found.title} if found.title else {}
    tree |= {"ruleset": found.ruleset, "map": found.map}
    tree |= {key: value for key in ("conditions", "policy", "tracks") if (value := getattr(found, key))}
    units = standing(connection, Unit, position_id)
    markers = standing(connection, Marker, position_id)
    tree["units"] = [unit_tree(row, found.ruleset) for row in units]
    tree["markers"] = [marker_tree(row, row.label) for row in markers]
    return tree


def open_position(connection: Connection, position_id: int) -> PositionDraft:
    """A stored position as a draft; of its map nothing is loaded before it is wanted."""
    found = _find(connection, Position.id == position_id)
    units = {
        row.code: (_counter(row, found.ruleset), _place(row))
        for row in standing(connection, Unit, position_id)
    }
    markers = [
        MarkerDraft(row.kind, Axial(row.q, row.r), row.value, row.facing, row.attributes)
        for row in standing(connection, Marker, position_id)
    ]
    return PositionDraft(
        found.ruleset,
        open_map(connection, found.map),
        saved_map=found.map,
        name=found.name,
        title=found.title,
        conditions=found.conditions,
        policy=found.policy,
        units=units,
        markers=markers,
        tracks=found.tracks,
    )


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


def _find(connection: Connection, which: sa.ColumnElement[bool]) -> Any:
    """A position that is there, with the name of its map."""
    columns = (
        Position.id,
        Position.name,
        Position.title,
        Position.ruleset,
        Position.conditions,
        Position.policy,
        Position.tracks,
    )
    query = sa.select(*columns, Map.name.label("map")).join(Map, Map.id == Position.map_id).where(which)
    return connection.execute(query).one_or_none()


def _find_named(connection: Connection, name: str) -> sa.Row[Any]:
    found: sa.Row[Any] | None = _find(connection, Position.name == name)
    if found is None:
        raise no_position(connection, name)
    return found


def standing(
    connection: Connection, table: type[Unit] | type[Marker], position_id: int, *which: sa.ColumnElement[bool]
) -> list[sa.Row[Any]]:
    """Units or markers with the label of their hex, in the order in which they were stored."""
    query = (
        sa.select(*table.__table__.columns, Hex.label)
        .outerjoin(Hex, (Hex.map_id == table.map_id) & (Hex.q == table.q) & (Hex.r == table.r))
        .where(table.position_id == position_id, *which)
        .order_by(table.id)
    )
    return list(connection.execute(query))


def _place(row: sa.Row[Any]) -> Axial | None:
    return None if row.q is None else Axial(row.q, row.r)


def _counter(row: sa.Row[Any], ruleset: str) -> Counter:
    """A unit by its counter's form, so that numbers kept as text are numbers again."""
    said = {"id": row.code, "side": row.side, "kind": row.kind, "at": row.label}
    said = {key: value for key, value in said.items() if value is not None}
    return UNITS[ruleset].model_validate(said | row.attributes)


def unit_tree(row: sa.Row[Any], ruleset: str) -> Tree:
    """A unit as a file would have it."""
    said: Tree = {"id": row.code, "side": row.side, "kind": row.kind, "at": row.label}
    unit = _counter(row, ruleset)
    said |= _plain(unit.model_dump(include=set(row.attributes), exclude_defaults=True))
    return {key: value for key, value in said.items() if value is not None}


def marker_tree(marker: sa.Row[Any] | MarkerDraft, at: str) -> Tree:
    """A marker as a file would have it."""
    said: Tree = {"kind": marker.kind, "at": at, "value": marker.value, "facing": marker.facing}
    said |= marker.attributes
    return {key: value for key, value in said.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else value
