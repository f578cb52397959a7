"""Campaigns in and out of the database: a file in, corrections kept, and what is there as a file again.

report = import_campaign(connection, "guam.yaml", who="B. Archivist")
text = write_campaign(connection, "guam-1944")
"""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db import SightlineError
from db.archive import RECORDED, Account, Campaign, Entry, Force
from db.chronicle import current_campaign, find_campaign, keys, not_there
from db.maps import Hex, Map
from importers.archive.chronicle import read_chronicle
from importers.archive.reading import Known, Row, Rows, fill_campaign, fill_record, read_about, read_rows
from importers.archive.tables import read_csv, read_tables
from importers.archive.times import read_zone
from importers.documents import Node, Problems, read_document

TABLES: dict[str, Any] = {table.__tablename__: table for table in RECORDED}
KEPT = ("id", "campaign_id", "key", "known", "writer", "ended_by", "forces", "why")
"""Columns that a file does not say."""


class CampaignError(SightlineError):
    """A campaign that cannot be read or stored as asked."""


@dataclasses.dataclass(frozen=True)
class CampaignReport:
    """What an import brought in, changed and took away, by table."""

    name: str
    added: dict[str, int]
    changed: dict[str, int]
    removed: dict[str, int]
    keys: dict[str, tuple[str, ...]]
    """What was added or changed, by table."""


def import_campaign(
    connection: Connection, path: Path | str, *, replace: bool = False, who: str = ""
) -> CampaignReport:
    """Bring a campaign in, whole or not at all; a file of YAML or JSON, or a folder or zip of CSV tables.

    With `replace` a campaign of the same name is brought in line with the file: what differs becomes
    a new version, what the file has no more is taken away, and the old versions stay.
    """
    path = Path(path)
    problems = Problems()
    node = read_tables(path, problems) if _is_tables(path) else _document(path, problems)
    return store_campaign(connection, node, problems, replace=replace, who=who)


def store_campaign(
    connection: Connection, node: Node, problems: Problems, *, replace: bool = False, who: str = ""
) -> CampaignReport:
    """Bring in a campaign that was read as a tree."""
    form = fill_campaign(node, problems)
    if form is None:
        raise problems.told()
    about = read_about(form, node, problems, list(connection.scalars(sa.select(Map.name))))
    known = Known(
        zone=read_zone(form.zone),
        span=about["span"],
        hexes=_labels(connection, _map_id(connection, form.map)),
    )
    rows = read_rows(form, node, known, problems)
    problems.raise_if_any()
    about["map_id"] = _map_id(connection, form.map)
    with _written(connection, who):
        there = current_campaign(connection, form.name)
        if there is not None and not replace:
            raise CampaignError(
                f"There is a campaign {form.name!r} already.",
                "Replace it (--replace), or give the one in the file another name.",
            )
        campaign_id = _store_about(connection, there, about)
        stored = stored_rows(connection, campaign_id)
        gone = {table: stored[table].keys() - rows[table].keys() for table in TABLES}
        return _store(connection, campaign_id, form.name, rows, stored, gone)


def record(connection: Connection, name: str, path: Path | str, *, who: str = "") -> CampaignReport:
    """Add to a campaign what a file has: YAML or JSON, one CSV table, or a chronicle written as text."""
    path = Path(path)
    content = _bytes(path)
    problems = Problems()
    if path.suffix == ".csv":
        node = read_csv(content, str(path), problems)
    elif path.suffix in (".txt", ".md"):
        node = read_chronicle(content, str(path), problems)
    else:
        node = read_document(content, str(path), problems)
    return store_record(connection, name, node, problems, who=who)


def store_record(
    connection: Connection,
    name: str,
    node: Node,
    problems: Problems,
    *,
    who: str = "",
    new: bool = False,
    whole_forces: bool = False,
) -> CampaignReport:
    """Add to a campaign what was read as a tree; what has a key that is there becomes its new version.

    With `new` such a key is refused; with `whole_forces` a force stands under nobody but whom the tree tells.
    """
    found = find_campaign(connection, name)
    form = fill_record(node, problems)
    if form is None:
        raise problems.told()
    known = Known(
        zone=read_zone(found.zone),
        span=found.span,
        accounts=keys(connection, Account, found.id),
        forces=keys(connection, Force, found.id),
        entries=keys(connection, Entry, found.id),
        hexes=_labels(connection, found.map_id),
    )
    rows = read_rows(form, node, known, problems)
    problems.raise_if_any()
    there = stored_rows(connection, found.id)
    for table, told in rows.items() if new else ():
        for key in told.keys() & there[table].keys():
            problems.add(
                node, f"there is a {table} {key!r} already: correct that one, or give another key or time"
            )
    problems.raise_if_any()
    gone = {}
    if whole_forces:
        under = there["subordination"].items()
        gone = {
            "subordination": {key for key, row in under if row["force"] in rows["force"]}
            - rows["subordination"].keys()
        }
    with _written(connection, who):
        return _store(connection, found.id, name, rows, there, gone)


def delete_campaign(connection: Connection, name: str) -> None:
    """Remove a campaign and all that was ever known of it."""
    found = find_campaign(connection, name)
    connection.execute(sa.delete(Campaign).where(Campaign.id == found.id))


def take_away(connection: Connection, name: str, kind: str, key: str, *, who: str = "") -> None:
    """Take an entry, stance, force, account or subordination away; its versions stay."""
    found = find_campaign(connection, name)
    with _written(connection, who):
        gone = _delete(connection, TABLES[kind], found.id, [key])
    if not gone:
        raise not_there(connection, found, TABLES[kind], key)


# Storing


@contextmanager
def _written(connection: Connection, who: str) -> Iterator[None]:
    """A transaction, or part of one, whose writer is told; what the database refuses is told as an error."""
    with connection.begin_nested() if connection.in_transaction() else connection.begin():
        connection.execute(sa.text("select set_config('sightline.who', :who, true)"), {"who": who})
        try:
            yield
        except sa.exc.IntegrityError as error:
            raise _refusal(error) from error


def _refusal(error: sa.exc.IntegrityError) -> CampaignError:
    told = getattr(error.orig, "diag", None)
    constraint = getattr(told, "constraint_name", "") or ""
    if constraint in ("stance_one_place_excl", "subordination_one_superior_excl"):
        what = "in two places" if constraint.startswith("stance") else "under two superiors"
        return CampaignError(
            f"One account has a force {what} at one time. {getattr(told, 'message_detail', '') or ''}".strip(),
            "End the one before the other begins, or tell them by two accounts.",
        )
    message = getattr(told, "message_primary", None) or str(error.orig)
    return CampaignError(f"{message[0].upper()}{message[1:]}.", getattr(told, "message_hint", None) or "")


def _store_about(connection: Connection, there: sa.Row[Any] | None, about: Row) -> int:
    if there is None:
        return connection.execute(sa.insert(Campaign).values(**about).returning(Campaign.id)).scalar_one()
    if any(getattr(there, column) != value for column, value in about.items()):
        connection.execute(sa.update(Campaign).where(Campaign.id == there.id).values(**about))
    found: int = there.id
    return found


def _store(
    connection: Connection,
    campaign_id: int,
    name: str,
    rows: Rows,
    there: Mapping[str, Mapping[str, Any]],
    gone: Mapping[str, Collection[str]],
) -> CampaignReport:
    """Bring the tables in line with rows: only what differs from what is there becomes a new version."""
    # what names others goes first
    removed = {
        table: _delete(connection, TABLES[table], campaign_id, gone.get(table, ()))
        for table in reversed(TABLES)
    }
    report = CampaignReport(name, {}, {}, removed, {})
    for table, model in TABLES.items():
        new = {key: row for key, row in rows[table].items() if key not in there[table]}
        other = {
            key: row
            for key, row in rows[table].items()
            if key in there[table] and _differs(row, there[table][key])
        }
        if new:
            connection.execute(
                sa.insert(model), [{"campaign_id": campaign_id, "key": key} | row for key, row in new.items()]
            )
        for key, row in other.items():
            connection.execute(
                sa.update(model)
                .where(model.campaign_id == campaign_id, model.key == key, sa.func.upper_inf(model.known))
                .values(**row)
            )
        report.added[table], report.changed[table] = len(new), len(other)
        report.keys[table] = (*new, *other)
    return report


def _delete(connection: Connection, model: Any, campaign_id: int, keys: Collection[str]) -> int:
    if not keys:
        return 0
    gone = sa.delete(model).where(
        model.campaign_id == campaign_id, model.key.in_(keys), sa.func.upper_inf(model.known)
    )
    return connection.execute(gone).rowcount


def _differs(row: Row, stored: Mapping[str, Any]) -> bool:
    """Whether a row says something else; the place of a hex is not said by the row, and why is not compared."""
    return any(
        not _same(value, stored[column])
        for column, value in row.items()
        if column != "why" and not (column == "geom" and row.get("hex") is not None)
    )


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict | list):
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    return bool(one == other)


def _stored(
    connection: Connection, model: Any, campaign_id: int, known: datetime.datetime | None
) -> dict[str, Mapping[str, Any]]:
    """What stands, or stood at a moment, by key, in the order of time or of keys."""
    columns = [
        sa.func.upper(sa.func.encode(sa.func.st_asewkb(column), "hex")).label("geom")
        if column.name == "geom"
        else column
        for column in model.__table__.columns
        if column.name not in ("id", "campaign_id", "known")
    ]
    order = [sa.func.lower(model.during).nulls_first()] if hasattr(model, "during") else []
    query = (
        sa.select(*columns)
        .where(model.campaign_id == campaign_id, sa.func.archive._stood(model.known, known))
        .order_by(*order, model.key)
    )
    return {row["key"]: dict(row) for row in connection.execute(query).mappings()}


def stored_rows(
    connection: Connection, campaign_id: int, known: datetime.datetime | None = None
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Everything of a campaign by table and key, as it stands or stood."""
    return {table: _stored(connection, model, campaign_id, known) for table, model in TABLES.items()}


# Looking up


def _map_id(connection: Connection, name: str | None) -> int | None:
    return connection.scalar(sa.select(Map.id).where(Map.name == name)) if name else None


def _labels(connection: Connection, map_id: int | None) -> list[str] | None:
    if map_id is None:
        return None
    return list(connection.scalars(sa.select(Hex.label).where(Hex.map_id == map_id).order_by(Hex.label)))


def _is_tables(path: Path) -> bool:
    return path.is_dir() or path.suffix == ".zip"


def _document(path: Path, problems: Problems) -> Node:
    return read_document(_bytes(path), str(path), problems)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise CampaignError(f"Cannot read {path}: {error.strerror}.") from error
