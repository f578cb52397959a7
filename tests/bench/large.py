"""Large maps: ground drawn by arithmetic, of any number of hexes, and what looking at it costs at the doors.

The same questions are put to a map of 10⁴ hexes and to a large one in one run. What a screen shows is as much on
either, so that the ratio tells what the rest of the map costs those who do not look at it.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from db.rulesets import read_ruleset
from tests.bench import Measure
from tests.bench.doors import POSITION, Server, rates, server
from tests.bench.server import FORGET

SMALL, MIDDLE, MILLION = (100, 100), (200, 200), (1000, 1000)
"""Columns and rows: ten thousand hexes, forty thousand, a million."""
DOORS = {
    "map page": "/maps/{}",
    "map page with a line of sight": "/maps/{}?tool=los&from=50.50&to=53.52",
    "GeoJSON box": "/api/v1/maps/{}/layers/hexes?bbox=60,-100,90,-70",
    "tile of one screen": "/api/v1/maps/{}/tiles/{}/0/0.mvt",
    "tile of the whole map": "/api/v1/maps/{}/tiles/0/0/0.mvt",
    "square of ground": "/api/v1/maps/{}/ground/1/1/-2",
    "picture": "/maps/{}/picture.svg",
}
SMALLER, LARGER = "bench-small", "bench-large"
EDITS = {
    "an edit of a hex": "update hex set level = 5 - level where map_id = :map and label = '50.50'",
    "an edit of a hexside": "insert into hexside (map_id, ruleset, x, y, kind)"
    " select map_id, ruleset, 2 * q, 2 * r + 1, 'cliff' from hex where map_id = :map and label = '50.50'",
}
MOST_TIMES, MOST_BYTES = 3, 256 * 1024 * 1024
TICK_SECONDS = 0.01

HEXES = """
insert into hex (map_id, ruleset, q, r, label, terrain, level)
select
  :map, 'css', c, (2 * n + c % 2 - c) / 2,
  lpad(c::text, greatest(2, length(c::text)), '0') || '.' || lpad(n::text, greatest(2, length(n::text)), '0'),
  (array['clear', 'clear', 'brush', 'palm_forest', 'tropical_forest', 'rice_paddy', 'rocky'])[
    1 + (abs(hashint4((c / 7) * 1009 + n / 9)) % 7)
  ],
  (2.5 + 0.95 * sin(c / 31.0) + 0.95 * cos(n / 23.0))::integer
from generate_series(1, :columns) as c, generate_series(1, :rows) as n
"""
"""Patches of terrain on rolling ground; columns and rows as the scheme of css counts them."""
HEXSIDES = """
insert into hexside (map_id, ruleset, x, y, kind)
select distinct hex.map_id, 'css', 2 * hex.q, 2 * hex.r + 1, 'slope'
from hex
join hex as below on below.map_id = hex.map_id and below.q = hex.q and below.r = hex.r + 1
where hex.map_id = :map and hex.level <> below.level
"""
PATHS = """
insert into path (map_id, ruleset, kind, qs, rs)
select :map, 'css', case c % 40 when 20 then 'paved_road' else 'trail' end, array_agg(c), array_agg((2 * n + c % 2 - c) / 2)
from generate_series(20, :columns, 20) as c, generate_series(1, :rows) as n, lateral (select n / 50 as run) as part
group by c, run
having count(*) > 1
"""
"""A road or trail down every twentieth column, in stretches of fifty hexes."""


def draw_map(connection: Connection, name: str, columns: int, rows: int) -> int:
    """Put a css map of so many columns and rows into the tables; its id."""
    scheme = read_ruleset("css").facts.scheme.model_dump_json()
    made = connection.scalar(
        sa.text(
            "insert into map (name, title, ruleset, scheme) values (:name, :name, 'css', cast(:scheme as jsonb)) returning id"
        ),
        {"name": name, "scheme": scheme},
    )
    assert made is not None
    # else the hexes just made would be joined as if there were none
    for query in (HEXES, "analyze hex", HEXSIDES, PATHS):
        connection.execute(sa.text(query), {"map": made, "columns": columns, "rows": rows})
    return int(made)


def measure_large(
    engine: Engine, times: int, say: Callable[[str], None], larger: tuple[int, int] = MIDDLE
) -> list[Measure]:
    """What looking at a map costs, of ten thousand hexes and of more, made anew at every look; and the memory it takes."""
    sizes = {SMALLER: SMALL, LARGER: larger}
    measures: list[Measure] = []
    try:
        for name, (columns, rows) in sizes.items():
            say(f"large maps: drawing {columns * rows:,} hexes")
            with _timed(measures, f"{columns * rows:,} hexes drawn"), engine.begin() as connection:
                draw_map(connection, name, columns, rows)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("analyze hex, hexside, path, css_ground"))
        measures += looked_at(engine, times, say)
    finally:
        for name, (columns, rows) in sizes.items():
            say(f"large maps: deleting {columns * rows:,} hexes")
            with _timed(measures, f"{columns * rows:,} hexes deleted"), engine.begin() as connection:
                connection.execute(sa.text("delete from map where name = :name"), {"name": name})
    return measures


def looked_at(engine: Engine, times: int, say: Callable[[str], None]) -> Iterator[Measure]:
    """What it costs to look at the two maps, and to edit them, once they are there."""
    yield from _edited(engine, max(8, times // 4))
    with server(engine) as running:
        yield from _at_doors(running, times, say)
        yield from _beside_a_file(running, times)
        yield from _whole(running, engine, say)


@contextmanager
def _timed(measures: list[Measure], what: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    measures.append(Measure(what, 1000 * (time.perf_counter() - started)))


def _edited(engine: Engine, times: int) -> Iterator[Measure]:
    """An edit of one hex, and of one hexside, with all that is kept of a map beside it; each is taken back."""
    for what, query in EDITS.items():
        taken = {SMALLER: math.inf, LARGER: math.inf}
        for name in [SMALLER, LARGER] * times:
            with engine.connect() as connection:
                map_id = connection.scalar(sa.text("select id from map where name = :name"), {"name": name})
                started = time.perf_counter()
                connection.execute(sa.text(query), {"map": map_id})
                taken[name] = min(taken[name], 1000 * (time.perf_counter() - started))
                connection.rollback()
        ratio = taken[LARGER] / taken[SMALLER]
        yield Measure(f"10⁴ hexes: {what}", taken[SMALLER])
        yield Measure(
            f"the larger map: {what}",
            taken[LARGER],
            "10⁴ hexes",
            ratio,
            f"≤ {MOST_TIMES}",
            ratio <= MOST_TIMES,
        )


def _at_doors(running: Server, times: int, say: Callable[[str], None]) -> Iterator[Measure]:
    for door, address in DOORS.items():
        say(f"large maps: {door}")
        requests = {
            name: running.get(address.format(name, zoom), FORGET)
            for name, zoom in ((SMALLER, 1), (LARGER, _zoom(running)))
        }
        for request in requests.values():
            running.run(request, 1, 3)
        # in turn, and the least of each: what else the machine does is no matter of the map
        spans = [
            {name: 1000 / running.run(request, 1, 1) for name, request in requests.items()}
            for _ in range(max(8, times // 4))
        ]
        taken = {name: min(span[name] for span in spans) for name in requests}
        ratio = taken[LARGER] / taken[SMALLER]
        yield Measure(f"10⁴ hexes: {door}, made anew", taken[SMALLER])
        yield Measure(
            f"{_hexes(running)} hexes: {door}, made anew", taken[LARGER], "10⁴ hexes", ratio,
            f"≤ {MOST_TIMES}", ratio <= MOST_TIMES,
        )  # fmt: skip


def _hexes(running: Server) -> str:
    return f"{int(running.answer(f'/api/v1/maps/{LARGER}')['hexes']):,}"


def _zoom(running: Server) -> int:
    """At which a tile of the larger map covers as much as one of zoom 1 of the smaller."""
    sides = [running.answer(f"/api/v1/maps/{name}")["tile_square"] for name in (SMALLER, LARGER)]
    zoom, small, large = 1, *(right - left for left, _, right, _ in sides)
    while large / 2**zoom > 1.5 * small / 2:
        zoom += 1
    return zoom


def _beside_a_file(running: Server, times: int) -> Iterator[Measure]:
    """Pages a second, as shares of a static file's: made anew every time, and as they are kept."""
    pages = {"of 10⁴ hexes": f"/maps/{SMALLER}", "of the larger map": f"/maps/{LARGER}"}
    if running.has(f"/positions/{POSITION}"):
        pages[f"of {POSITION}"] = f"/positions/{POSITION}"
    requests = {"static file": running.get("/static/sightline.css")}
    for told, address in pages.items():
        requests[f"map page {told}, made anew"] = running.get(address, FORGET)
        requests[f"map page {told}, kept"] = running.get(address)
    found = rates(running.port, requests, 1, max(8, times // 4))
    static = found.pop("static file")
    yield Measure("static file", 1000 / static)
    for told, rate in found.items():
        yield Measure(told, 1000 / rate, "static file, throughput", rate / static)


def _whole(running: Server, engine: Engine, say: Callable[[str], None]) -> Iterator[Measure]:
    """The whole map as GeoJSON, and the most memory that any of all these requests took."""
    say("large maps: the whole map as GeoJSON")
    with _watching(running.pid, engine) as most:
        started = time.perf_counter()
        sent = running.drain(f"/api/v1/maps/{LARGER}/layers/hexes")
        taken = 1000 * (time.perf_counter() - started)
        for address in DOORS.values():
            running.run(running.get(address.format(LARGER, 0), FORGET), 1, 2)
    yield Measure(f"{_hexes(running)} hexes: the whole GeoJSON, {sent / 1e6:.0f} MB", taken)
    for who, amount in most.items():
        megabytes = amount / 1024 / 1024
        yield Measure(
            f"most memory of {who}, MB", megabytes, "256 MB", amount / MOST_BYTES, "≤ 1", amount <= MOST_BYTES
        )


@contextmanager
def _watching(pid: int, engine: Engine) -> Iterator[dict[str, int]]:
    """The most memory of their own that the web process and any backend have had in this block."""
    most = {"the web process": 0, "a backend": 0}
    over = threading.Event()

    def look() -> None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            backends = "select pid from pg_stat_activity where application_name = 'sightline' and pid <> pg_backend_pid()"
            while not over.is_set():
                seen = connection.scalars(sa.text(backends)).all()
                most["the web process"] = max(most["the web process"], _own_memory(pid))
                most["a backend"] = max(most["a backend"], *map(_own_memory, seen), 0)
                time.sleep(TICK_SECONDS)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()


def _own_memory(pid: int) -> int:
    """Bytes that a process shares with no other; 0 of one that is gone or not ours to look at."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return 1024 * int(line.split()[1])
    return 0
