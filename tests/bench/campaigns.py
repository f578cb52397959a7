"""Measuring the archive: a campaign of 100,000 entries, asked by SQL, through OGC API – Features and as a page."""

from __future__ import annotations

import datetime
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import Range
from sqlalchemy.engine import Connection, Engine

from app.web.site import create_app
from db.chronicle import Wanted, entries
from db.settings import Settings
from tests.bench import Measure

NAME = "bench-campaign"
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
        dice = random.Random(7)
        nothing = _median(times, lambda: connection.execute(sa.text("select 1")).all())
        call = sa.text(
            "select * from archive.entries(:campaign, tstzrange(cast(:begins as timestamptz), cast(:begins as timestamptz)"
            " + interval '1 hour'), st_makeenvelope(:west, :south, :east, :north, 4326))"
        )
        function = _median(times, lambda: connection.execute(call, _window(dice, campaign)).all())
        listed = _median(times, lambda: entries(connection, campaign, _wanted(dice), 1000))
        whole = f"a campaign of {count:,} entries"
        found = [
            Measure(f"{whole}: SELECT 1", nothing),
            Measure(f"{whole}: an hour in a box, archive.entries", function, "SELECT 1", function / nothing, "≤ 10", function <= 10 * nothing),
            Measure(f"{whole}: an hour in a box, as pages ask it", listed, "SELECT 1", listed / nothing, "≤ 10", listed <= 10 * nothing),
        ]  # fmt: skip
        return found + _doors(engine, times, dice, nothing, whole)


def _doors(engine: Engine, times: int, dice: random.Random, nothing: float, whole: str) -> list[Measure]:
    client = create_app(Settings(log_level="error"), engine).test_client()

    def ask(address: str) -> None:
        answer = client.get(address)
        assert answer.status_code == 200, answer.get_data(as_text=True)

    def items() -> None:
        where = _window(dice, 0)
        box = f"{where['west']},{where['south']},{where['east']},{where['north']}"
        ask(
            f"/ogc/collections/campaign.{NAME}.entry/items?bbox={box}&datetime={str(where['begins'])[:16]}:00Z&limit=1000"
        )

    few = max(3, times // 10)
    doors = {
        "an hour in a box, OGC API": items,
        "a page of 100, OGC API": lambda: ask(f"/ogc/collections/campaign.{NAME}.entry/items?limit=100&offset=5000"),
        "the page at an hour": lambda: ask(f"/campaigns/{NAME}?hour={dice.randrange(24 * DAYS)}&window=1"),
        "the part that the slider fetches": lambda: ask(f"/campaigns/{NAME}?hour={dice.randrange(24 * DAYS)}&window=1&part=moment"),
        "its collection, OGC API": lambda: ask(f"/ogc/collections/campaign.{NAME}.entry"),
    }  # fmt: skip
    measured = {name: _median(few, door) for name, door in doors.items()}
    return [
        Measure(f"{whole}: {name}", spent, "SELECT 1", spent / nothing) for name, spent in measured.items()
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
    box = tuple(float(str(where[side])) for side in ("west", "south", "east", "north"))
    return Wanted(during=Range(begins, begins + datetime.timedelta(hours=1)), box=box)  # type: ignore[arg-type]


def _median(times: int, ask: Callable[[], object]) -> float:
    spent = []
    for _ in range(times + 3):
        started = time.perf_counter()
        ask()
        spent.append(1000 * (time.perf_counter() - started))
    return statistics.median(spent[3:])
