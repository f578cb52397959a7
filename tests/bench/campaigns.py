"""Measuring the archive: a campaign of 100,000 entries, asked by SQL, through OGC API – Features and as a page."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.engine import Connection, Engine

from app.web.site import create_app
from db.chronicle import Wanted, entries
from db.features import Query, find_collection, items
from db.settings import Settings
from tests.bench import WAYS, Measure, medians

NAME = "bench-campaign"
LAYER = f"campaign.{NAME}.entry"
SIDES = ("west", "south", "east", "north")
ENTRIES = 100_000
DAYS = 21
MAKE = """
insert into entry (campaign_id, key, title, account, kind, during, geom, involved)
select :campaign, 'entry-' || n, 'Entry ' || n, 'log',
  (array['attack', 'defence', 'movement', 'note'])[1 + n % 4], tstzrange(begins, begins + interval '1 hour'),
  st_setsrid(st_point(144.62 + 0.34 * random(), 13.24 + 0.41 * random()), 4326),
  case when n % 3 = 0 then '[{"force": "somebody"}]'::jsonb else '[]'::jsonb end
from generate_series(1, :entries) as n,
  lateral (select timestamptz '1944-07-21 00:00+10' + n * (interval '1 day' * :days / :entries) as begins) as at
"""


def measure_campaigns(
    engine: Engine, times: int, say: Callable[[str], None], count: int = ENTRIES
) -> list[Measure]:
    """An hour's entries in a box, and the pages of a campaign of so many entries; it is deleted afterwards."""
    say(f"campaigns: {count:,} entries")
    with engine.connect() as connection, _campaign(connection, count) as campaign:
        connection.execution_options(isolation_level="AUTOCOMMIT")
        whole = f"a campaign of {count:,} entries"
        return [
            *_questions(connection, campaign, times, whole),
            *_doors(engine, times, whole),
        ]


def _questions(connection: Connection, campaign: int, times: int, whole: str) -> list[Measure]:
    """What is asked of the database, against SELECT 1."""
    nothing = sa.text("select 1")
    call = sa.text(
        "select * from archive.entries(:campaign, tstzrange(cast(:begins as timestamptz), cast(:begins as timestamptz)"
        " + interval '1 hour'), st_makeenvelope(:west, :south, :east, :north, 4326))"
    )
    layer = find_collection(connection, LAYER)
    dice = random.Random(1944)
    asked: dict[str, Callable[[], object]] = {
        "SELECT 1": lambda: connection.execute(nothing).all(),
        "archive.entries": lambda: connection.execute(call, _window(dice, campaign)).all(),
        "as pages ask it": lambda: entries(connection, campaign, _wanted(dice), 1000),
        "as the OGC API asks it": lambda: items(connection, layer, _query(dice)),
    }
    found = []
    for in_a_row, manner in WAYS.items():
        taken = medians(times, in_a_row, **asked)
        idle = taken.pop("SELECT 1")
        found.append(Measure(f"{whole}: SELECT 1, {manner}", idle))
        found += [
            Measure(f"{whole}: an hour in a box, {name}, {manner}", spent, "SELECT 1", spent / idle, "≤ 10", spent <= 10 * idle)
            for name, spent in taken.items()
        ]  # fmt: skip
    return found


def _doors(engine: Engine, times: int, whole: str) -> list[Measure]:
    """Whole requests, against one that asks the database nothing."""
    client = create_app(Settings(log_level="error"), engine).test_client()
    dice = random.Random(1944)

    def ask(address: str) -> None:
        answer = client.get(address)
        assert answer.status_code == 200, answer.get_data(as_text=True)

    def hour() -> str:
        return f"/campaigns/{NAME}?hour={dice.randrange(24 * DAYS)}&window=1"

    def key() -> str:
        return f"entry-{dice.randrange(1, 100)}"

    items = f"/ogc/collections/{LAYER}/items"
    doors: dict[str, Callable[[], object]] = {
        "nothing": lambda: ask("/ogc/conformance"),
        "the page at an hour": lambda: ask(hour()),
        "the part that the slider fetches": lambda: ask(f"{hour()}&part=moment"),
        "the page of an entry": lambda: ask(f"/campaigns/{NAME}/entries/{key()}"),
        "a page of the chronicle": lambda: ask(f"/campaigns/{NAME}/chronicle?page={dice.randrange(1, 3)}"),
        "the newest changes": lambda: ask(f"/campaigns/{NAME}/history"),
        "an hour in a box, OGC API": lambda: ask(f"{items}?{_asked(dice)}&limit=1000"),
        "a page of 100, OGC API": lambda: ask(f"{items}?limit=100&offset={dice.randrange(1000)}"),
        "an item, OGC API": lambda: ask(f"{items}/{key()}"),
        "its collection, OGC API": lambda: ask(f"/ogc/collections/{LAYER}"),
    }
    taken = medians(max(5, times // 5), 1, **doors)
    idle = taken.pop("nothing")
    return [
        Measure(f"{whole}: a page that asks nothing", idle),
        *(Measure(f"{whole}: {name}", spent, "that page", spent / idle) for name, spent in taken.items()),
    ]


@contextmanager
def _campaign(connection: Connection, count: int) -> Iterator[int]:
    with connection.begin():
        connection.execute(
            sa.text("delete from campaign where name = :name and upper_inf(known)"), {"name": NAME}
        )
        campaign: int = connection.execute(
            sa.text(
                "insert into campaign (name, title, span, zone, coast) values (:name, 'Bench',"
                " '[1944-07-21 00:00+10,1944-08-11 00:00+10)', '+10:00', 'guam') returning id"
            ),
            {"name": NAME},
        ).scalar_one()
        values = {"campaign": campaign}
        connection.execute(
            sa.text("insert into account (campaign_id, key, title) values (:campaign, 'log', 'A log')"),
            values,
        )
        connection.execute(
            sa.text(
                "insert into force (campaign_id, key, name, side) values (:campaign, 'somebody', 'Somebody', 'us')"
            ),
            values,
        )
        connection.execute(sa.text(MAKE), values | {"entries": count, "days": DAYS})
    with connection.begin():
        connection.execute(sa.text("analyze entry"))
    try:
        yield campaign
    finally:
        connection.rollback()
        connection.execution_options(isolation_level="READ COMMITTED")
        with connection.begin():
            connection.execute(sa.text("delete from campaign where id = :campaign"), {"campaign": campaign})


def _window(dice: random.Random, campaign: int) -> dict[str, object]:
    """An hour of the campaign and a box of about five kilometres."""
    west, south = 144.62 + 0.28 * dice.random(), 13.24 + 0.35 * dice.random()
    day, hour = divmod(dice.randrange(24 * DAYS), 24)
    date = f"1944-07-{21 + day:02}" if day < 11 else f"1944-08-{day - 10:02}"
    return {
        "campaign": campaign, "begins": f"{date}T{hour:02}:00:00+10:00",
        "west": west, "south": south, "east": west + 0.05, "north": south + 0.05,
    }  # fmt: skip


def _wanted(dice: random.Random) -> Wanted:
    where = _window(dice, 0)
    begins = datetime.datetime.fromisoformat(str(where["begins"]))
    return Wanted(during=Range(begins, begins + datetime.timedelta(hours=1)), box=_box(where))


def _asked(dice: random.Random) -> str:
    """The same as the parameters of the API have it."""
    query = _query(dice)
    assert query.box is not None
    moments = "/".join(
        f"{moment.astimezone(datetime.UTC):%Y-%m-%dT%H:%M:%SZ}"
        for moment in (query.begins, query.ends)
        if moment
    )
    return f"bbox={','.join(map(str, query.box))}&datetime={moments}"


def _query(dice: random.Random) -> Query:
    where = _window(dice, 0)
    begins = datetime.datetime.fromisoformat(str(where["begins"]))
    return Query(1000, box=_box(where), begins=begins, ends=begins + datetime.timedelta(hours=1))


def _box(where: dict[str, object]) -> tuple[float, float, float, float]:
    west, south, east, north = (float(str(where[side])) for side in SIDES)
    return west, south, east, north
