"""What a campaign tells: its entries in a time and a place, where forces stood, where accounts differ.

Everything is told as it is known today, or as it was known at a moment (`known`).
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSTZRANGE, Range
from sqlalchemy.engine import Connection

from db.archive import WORLD, Account, Campaign, Entry, Force, Stance, Subordination
from db.inventory import NotThereError
from db.labels import nearest
from db.maps import Map

Moment = datetime.datetime
Told = dict[str, Any]
"""A row by its columns."""
Box = tuple[float, float, float, float]
"""West, south, east, north."""
FILTERS = ("force", "account", "kind", "event")
"""By what entries and stances can be asked for, beside time and place."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which entries or stances are asked for; nothing said means all."""

    during: Range[Moment] | None = None
    box: Box | None = None
    known: Moment | None = None
    force: str | None = None
    account: str | None = None
    kind: str | None = None
    event: str | None = None


def campaigns(connection: Connection) -> list[Told]:
    """Every campaign as it is today, with how much it tells."""

    def count(model: Any) -> sa.ScalarSelect[int]:
        return (
            sa.select(sa.func.count())
            .where(model.campaign_id == Campaign.id, sa.func.upper_inf(model.known))
            .scalar_subquery()
        )

    query = (
        sa.select(
            *_about(),
            count(Entry).label("entries"),
            count(Force).label("forces"),
            count(Account).label("accounts"),
        )
        .outerjoin(Map, Map.id == Campaign.map_id)
        .where(sa.func.upper_inf(Campaign.known))
        .order_by(Campaign.name)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def find_campaign(connection: Connection, name: str) -> sa.Row[Any]:
    """A campaign as it is today."""
    found: sa.Row[Any] | None = current_campaign(connection, name)
    if found is None:
        raise no_campaign(connection, name)
    return found


def current_campaign(connection: Connection, name: str) -> sa.Row[Any] | None:
    """A campaign as it is today, if there is one."""
    query = sa.select(*_about()).outerjoin(Map, Map.id == Campaign.map_id)
    return connection.execute(
        query.where(Campaign.name == name, sa.func.upper_inf(Campaign.known))
    ).one_or_none()


def no_campaign(connection: Connection, name: str) -> NotThereError:
    """The error for a name that no campaign has."""
    names = list(connection.scalars(sa.select(Campaign.name).where(sa.func.upper_inf(Campaign.known))))
    alike = nearest(name, names)
    return NotThereError(
        f"There is no campaign {name[:80]!r}.",
        f"Did you mean {alike[0]}?" if alike else "`sightline campaign list` names all.",
    )


def not_there(connection: Connection, campaign: sa.Row[Any], model: Any, key: str) -> NotThereError:
    """The error for a key that no entry, stance, force or account has."""
    alike = nearest(key, keys(connection, model, campaign.id))
    return NotThereError(
        f"The campaign {campaign.name} has no {model.__tablename__} {key[:80]!r}.",
        f"Did you mean {alike[0]}?" if alike else "",
    )


def keys(connection: Connection, model: Any, campaign_id: int) -> list[str]:
    """Keys of what stands today."""
    query = sa.select(model.key).where(model.campaign_id == campaign_id, sa.func.upper_inf(model.known))
    return list(connection.scalars(query.order_by(model.key)))


def entries(
    connection: Connection, campaign_id: int, wanted: Wanted, limit: int, offset: int = 0
) -> list[Told]:
    """Entries in the order of their beginnings, at most so many."""
    return _told(connection, Entry, campaign_id, wanted, limit, offset)


def stances(
    connection: Connection, campaign_id: int, wanted: Wanted, limit: int, offset: int = 0
) -> list[Told]:
    """Where forces were and how they stood, at most so many."""
    return _told(connection, Stance, campaign_id, wanted, limit, offset)


def count_entries(connection: Connection, campaign_id: int, wanted: Wanted) -> int:
    """How many entries are asked for."""
    query = sa.select(sa.func.count()).select_from(Entry).where(*conditions(Entry, campaign_id, wanted))
    return connection.execute(query).scalar_one()


def more_entries_than(connection: Connection, campaign_id: int, few: int) -> bool:
    """Whether a campaign has more entries than a few, without counting all."""
    some = (
        sa.select(Entry.id)
        .where(Entry.campaign_id == campaign_id, sa.func.upper_inf(Entry.known))
        .limit(few + 1)
    )
    return connection.execute(sa.select(sa.func.count()).select_from(some.subquery())).scalar_one() > few


def versions(connection: Connection, campaign_id: int, key: str, kind: str = "entry") -> list[sa.Row[Any]]:
    """Every version of something, the oldest first."""
    query = sa.text("select * from archive.versions(:campaign, :key, :kind)")
    return list(connection.execute(query, {"campaign": campaign_id, "key": key, "kind": kind}))


def changes(connection: Connection, campaign_id: int, most: int, before: Moment | None) -> list[sa.Row[Any]]:
    """What was recorded, corrected and taken away, the newest first."""
    query = sa.text("select * from archive.changes(:campaign, :most, cast(:before as timestamptz))")
    return list(connection.execute(query, {"campaign": campaign_id, "most": most, "before": before}))


def find_entry(connection: Connection, campaign: sa.Row[Any], key: str, known: Moment | None) -> Told:
    """An entry as it stands, or stood at a moment."""
    return find(connection, campaign, Entry, key, known)


def find(
    connection: Connection, campaign: sa.Row[Any], model: Any, key: str, known: Moment | None = None
) -> Told:
    """An entry, stance, force or account as it stands, or stood at a moment."""
    query = sa.select(*columns(model)).where(
        *conditions(model, campaign.id, Wanted(known=known)), model.key == key
    )
    found = connection.execute(query).mappings().one_or_none()
    if found is None:
        raise not_there(connection, campaign, model, key)
    return dict(found)


def subordinations(
    connection: Connection, campaign_id: int, force: str, known: Moment | None = None
) -> list[Told]:
    """Under whom a force stood, in the order of time."""
    query = sa.select(*columns(Subordination)).where(
        *conditions(Subordination, campaign_id, Wanted(known=known, force=force))
    )
    order = (sa.func.lower(Subordination.during).nulls_first(), Subordination.account)
    return [dict(row) for row in connection.execute(query.order_by(*order)).mappings()]


def forces(connection: Connection, campaign_id: int, known: Moment | None = None) -> dict[str, Told]:
    """Every force by its key."""
    return _by_key(connection, Force, campaign_id, known)


def accounts(connection: Connection, campaign_id: int, known: Moment | None = None) -> dict[str, Told]:
    """Every account by its key."""
    return _by_key(connection, Account, campaign_id, known)


def order_of_battle(
    connection: Connection, campaign_id: int, moment: Moment | None, account: str | None, known: Moment | None
) -> list[sa.Row[Any]]:
    """The tree of forces at a moment, from the top."""
    query = sa.text(
        "select * from archive.order_of_battle(:campaign, cast(:moment as timestamptz), :account,"
        " cast(:known as timestamptz))"
    )
    values = {"campaign": campaign_id, "moment": moment, "account": account, "known": known}
    return list(connection.execute(query, values))


def differences(
    connection: Connection, campaign_id: int, one: str, other: str, known: Moment | None = None
) -> list[Told]:
    """Where two accounts differ, in the order of time."""
    query = sa.text(
        "select what, subject, first_key, second_key, first_during, second_during, minutes_apart, meters_apart,"
        " first_says, second_says, st_asgeojson(first_geom, 6) as first_shape, st_asgeojson(second_geom, 6) as second_shape"
        " from archive.differences(:campaign, :one, :other, cast(:known as timestamptz))"
    )
    values = {"campaign": campaign_id, "one": one, "other": other, "known": known}
    return [dict(row) for row in connection.execute(query, values).mappings()]


def disputes(
    connection: Connection, campaign_id: int, known: Moment | None = None, most: int = 12
) -> list[tuple[str, str, int]]:
    """Pairs of accounts that tell of the same and differ, with in how much; who has most in common first."""
    query = sa.text(
        "with told as ("
        "  select account, event as about from entry where campaign_id = :campaign and event is not null"
        "  and archive._stood(known, cast(:known as timestamptz))"
        "  union select account, force from archive.stances(:campaign, null, null, cast(:known as timestamptz)))"
        " select mine.account, theirs.account from told as mine join told as theirs"
        " on mine.about = theirs.about and mine.account < theirs.account"
        " group by 1, 2 order by count(*) desc, 1, 2 limit :most"
    )
    pairs = connection.execute(query, {"campaign": campaign_id, "known": known, "most": most}).all()
    found = [
        (one, other, len(differences(connection, campaign_id, one, other, known))) for one, other in pairs
    ]
    return [pair for pair in found if pair[2]]


def tracks(
    connection: Connection, campaign_id: int, until: Moment | None, known: Moment | None
) -> list[Told]:
    """The way of every force up to a moment, by each account."""
    query = sa.text(
        "select force, account, stations, during, st_asgeojson(geom, 6) as shape"
        " from archive.tracks(:campaign, cast(:until as timestamptz), cast(:known as timestamptz))"
    )
    values = {"campaign": campaign_id, "until": until, "known": known}
    return [dict(row) for row in connection.execute(query, values).mappings()]


def calendar(connection: Connection, campaign_id: int, known: Moment | None = None) -> list[sa.Row[Any]]:
    """How many entries begin on each day."""
    query = sa.text("select day, entries from archive.calendar(:campaign, cast(:known as timestamptz))")
    return list(connection.execute(query, {"campaign": campaign_id, "known": known}))


def columns(model: Any) -> list[Any]:
    """The columns of a table, its place as GeoJSON (`shape`)."""
    plain = [column for column in model.__table__.columns if column.name not in ("geom", "campaign_id")]
    return [*plain, sa.func.st_asgeojson(model.geom, 6).label("shape")] if hasattr(model, "geom") else plain


def conditions(model: Any, campaign_id: int, wanted: Wanted) -> list[sa.ColumnElement[bool]]:
    """What rows of a table must be; only what is asked for, so that the index on time and place serves."""
    found: list[sa.ColumnElement[bool]] = [model.campaign_id == sa.cast(campaign_id, sa.BigInteger)]
    if wanted.known is None:
        found.append(sa.func.upper_inf(model.known))
    else:
        found.append(model.known.contains(sa.cast(wanted.known, sa.DateTime(timezone=True))))
    if wanted.during is not None:
        found.append(model.during.overlaps(sa.cast(wanted.during, TSTZRANGE)))
    if wanted.box is not None:
        box = sa.func.st_makeenvelope(*wanted.box, WORLD)
        found += [
            sa.type_coerce(model.geom, sa.Text).op("&&", is_comparison=True)(box),
            sa.func.st_intersects(model.geom, box),
        ]
    if wanted.force is not None:
        found.append(
            model.forces.contains([wanted.force]) if hasattr(model, "forces") else model.force == wanted.force
        )
    for column in ("account", "kind", "event"):
        value = getattr(wanted, column)
        if value is not None and hasattr(model, column):
            found.append(getattr(model, column) == value)
    return found


def _told(
    connection: Connection, model: Any, campaign_id: int, wanted: Wanted, limit: int, offset: int
) -> list[Told]:
    if wanted.during is not None:
        return _told_of_a_time(connection, model, campaign_id, wanted, limit, offset)
    query = (
        sa.select(*columns(model))
        .where(*conditions(model, campaign_id, wanted))
        .order_by(sa.func.lower(model.during).nulls_first(), model.key)
        .limit(limit)
        .offset(offset)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


def _told_of_a_time(
    connection: Connection, model: Any, campaign_id: int, wanted: Wanted, limit: int, offset: int
) -> list[Told]:
    """What falls into a time, by the function that keeps its plan: a page asks at every move of its slider."""
    told = {name: getattr(wanted, name) for name in FILTERS if name == "force" or hasattr(model, name)}
    filters = {name: value for name, value in told.items() if value is not None}
    values: dict[str, Any] = {"campaign": campaign_id, "during": wanted.during, "known": wanted.known}
    if wanted.box is not None:
        values |= dict(zip(("west", "south", "east", "north"), wanted.box, strict=True))
    query = _of_a_time(model, wanted.box is not None, tuple(filters))
    rows = connection.execute(query, values | filters | {"limit": limit, "offset": offset})
    return [dict(row) for row in rows.mappings()]


@functools.cache
def _of_a_time(model: Any, boxed: bool, filters: tuple[str, ...]) -> sa.TextualSelect:
    """The statement for one way of asking; written once, since writing it takes as long as its answer."""
    function = "entries" if model is Entry else "stances"
    kept = [column for column in model.__table__.columns if column.name not in ("geom", "campaign_id")]
    plain = ", ".join(f'"{column.name}"' for column in kept)
    box = "st_makeenvelope(:west, :south, :east, :north, 4326)" if boxed else "null"
    conditions = [
        ":force = any(forces)" if name == "force" and model is Entry else f"{name} = :{name}"
        for name in filters
    ]
    where = f"where {' and '.join(conditions)}" if conditions else ""
    query = sa.text(
        f"select {plain}, st_asgeojson(geom, 6) as shape"
        f" from archive.{function}(:campaign, :during, {box}, cast(:known as timestamptz)) {where}"
        " limit :limit offset :offset"
    ).bindparams(sa.bindparam("during", type_=TSTZRANGE))
    return query.columns(*kept, sa.column("shape", sa.Text))


def _by_key(connection: Connection, model: Any, campaign_id: int, known: Moment | None) -> dict[str, Told]:
    query = sa.select(*columns(model)).where(*conditions(model, campaign_id, Wanted(known=known)))
    return {row["key"]: dict(row) for row in connection.execute(query.order_by(model.key)).mappings()}


def _about() -> Sequence[Any]:
    return (*Campaign.__table__.columns, Map.name.label("map"), Map.title.label("map_title"))
