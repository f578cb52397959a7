"""Asks two versions of `sql/` the same lines and fans over drawn terrain, and shows every answer that differs.

.venv/bin/python -m tests.compare_sight REVISION --lines 20000 --fans 1000
.venv/bin/python -m tests.compare_sight REVISION --pace 24

Boards are drawn at random with all that bears on sight in ccp and bob (as the tests of these games draw them), or as
densely as printed ones (`tests/dense_board.py`) with counters, markers, conditions and readings strewn over them. A
line is compared row by row in order, a fan as a set, its reasons row by row.

With --pace it tells how many times faster the working tree is: fans on whole dense boards, both versions in turn, by
the processor time of their two servers' own processes (Linux), the least of six for each of so many viewers.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.cluster import Cluster
from db.position_draft import PositionDraft
from importers.cases import store_position
from tests.compare_sql import Version, revision_sql, two_versions
from tests.dense_board import SIZES, Shape, dense_board
from tests.drawn_positions import conditions, drawn, policy, strew

GAMES = ("bob", "ccp")


def dense(ruleset: str, dice: random.Random) -> PositionDraft:
    """A piece of a dense board, or a whole one now and then, with counters and markers."""
    shape = Shape(ruleset, 346, dice.random() < 0.6, dice.choice((1500, 5000)), dice.randint(1, 3))
    board = dense_board(shape)
    if dice.random() < 0.7:
        middle = dice.choice(sorted(board.hexes))
        board = board.part(hex for hex in board.hexes if hex.distance(middle) <= 5)
    board = dataclasses.replace(board, hexes=dict(board.hexes), features={})
    position = strew(PositionDraft(ruleset, board), dice)
    if dice.random() < 0.5:
        position.conditions = conditions(ruleset, dice)
    if dice.random() < 0.5:
        position.policy = policy(ruleset, dice)
    return position


@dataclasses.dataclass
class Tally:
    """How many were asked, and how many differ."""

    wanted: dict[str, int]
    asked: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    differ: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)

    def wants(self, what: str) -> bool:
        return self.asked[what] < self.wanted[what]

    def note(self, what: str, where: str, given: dict[str, Any], old: Any, new: Any) -> None:
        self.asked[what] += 1
        if old == new:
            return
        self.differ[what] += 1
        if self.differ[what] <= 5:
            print(f"\n{what} differs on {where}: {given}")
            before, after = _rows(old), _rows(new)
            print(*(f"  old: {row}" for row in before if row not in after), sep="\n")
            print(*(f"  new: {row}" for row in after if row not in before), sep="\n")


def _rows(answer: Any) -> list[Any]:
    return list(answer) if isinstance(answer, list | set) else [answer]


def answer(connection: Connection, query: str, given: dict[str, Any]) -> list[tuple[Any, ...]] | str:
    """The rows of a question, or its error."""
    savepoint = connection.begin_nested()
    try:
        return [tuple(row) for row in connection.execute(sa.text(query), given)]
    except sa.exc.DBAPIError as error:
        return str(error.orig).partition("\n")[0]
    finally:
        savepoint.rollback()


def questions(
    connection: Connection, position: int, dice: random.Random, lines: int, fans: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is asked on a position: from hexes and counters to hexes and counters, some with other readings."""
    [ruleset] = connection.scalars(sa.text("select ruleset from position where id = :id"), {"id": position})
    viewers = list(
        connection.scalars(sa.text("select name from positions.viewers(:id) order by name"), {"id": position})
    )
    for n in range(lines + fans):
        readings = policy(ruleset, dice) if dice.random() < 0.2 else None
        given = {"position": position, "from": dice.choice(viewers), "policy": readings}
        if n < lines:
            yield "los", given | {"to": dice.choice(viewers)}
        else:
            radius = dice.choice((None, 1, 3, 8, 8, 12))
            yield "fan", given | {"radius": radius}


QUERIES = {
    "los": "select * from {game}.los(:position, :from, :to, null, cast(:policy as jsonb))",
    "fan": "select * from {game}.fan(:position, :from, :radius, null, cast(:policy as jsonb)) order by q, r",
    "fan_reasons": "select * from {game}.fan_reasons(:position, :from, :radius, null, cast(:policy as jsonb))",
}


def compare_on(
    tally: Tally, old: Connection, new: Connection, position: PositionDraft, where: str, dice: random.Random
) -> None:
    """Some lines and fans on one position, which is stored in both and taken away again."""
    savepoints = [connection.begin_nested() for connection in (old, new)]
    ids = [store_position(connection, position) for connection in (old, new)]
    for what, given in questions(new, ids[1], dice, 40, 2):
        given["policy"] = given["policy"] and json.dumps(given["policy"])
        kinds = [what] if what == "los" or dice.random() < 0.9 else [what, "fan_reasons"]
        for kind in kinds:
            if tally.wants(kind):
                query = QUERIES[kind].format(game=position.ruleset)
                found = [
                    answer(connection, query, given | {"position": id})
                    for connection, id in zip((old, new), ids, strict=True)
                ]
                tally.note(f"{kind}", where, given, *found)
    for savepoint in savepoints:
        savepoint.rollback()


def compare(
    old: Connection, new: Connection, tally: Tally, seed: int, games: tuple[str, ...] = GAMES
) -> None:
    """Until enough was asked: positions of both games in turn, painted and dense ones."""
    n = 0
    while any(tally.wants(what) for what in ("los", "fan")):
        for ruleset in games:
            dice = random.Random(f"{seed} {n} {ruleset}")
            paint = dense if n % 4 == 3 else lambda game, dice: drawn(game, dice, new)
            position = paint(ruleset, dice)
            compare_on(tally, old, new, position, f"position {n} of {ruleset} (seed {seed})", dice)
        n += 1
    print(
        f"{n} positions of each game: "
        + ", ".join(f"{what} {tally.asked[what]}, {tally.differ[what]} differ" for what in QUERIES)
    )


PACE_TIMES = 6


def processor_ms(connection: Connection) -> float:
    """What the process that serves a connection has run so far."""
    raw = connection.connection.driver_connection
    assert isinstance(raw, psycopg.Connection)
    told = Path(f"/proc/{raw.info.backend_pid}/schedstat").read_text(encoding="ascii")
    return int(told.split()[0]) / 1e6


def pace(old: Connection, new: Connection, viewers: int, games: tuple[str, ...] = GAMES) -> None:
    """Print what a fan takes in both versions: the mean over some viewers, and the ratio of the means."""
    print(f"{'ms of processor time':44}{'old':>9}{'new':>9}{'times faster':>15}{'of the medians':>16}")
    shapes = [Shape(game, hexes, hills) for game in games for hexes in SIZES for hills in (False, True)]
    for shape in shapes:
        savepoints = [connection.begin_nested() for connection in (old, new)]
        ids = [
            store_position(connection, PositionDraft(shape.ruleset, dense_board(shape)))
            for connection in (old, new)
        ]
        for connection in (old, new):
            connection.execute(sa.text("analyze hex, terrain_area, crest, drawn_hex, drawn_edge, position"))
        board = dense_board(shape)
        places = random.Random(7).sample(sorted(map(board.scheme.label, board.hexes)), viewers)
        for radius in (8, None):
            taken: tuple[list[float], list[float]] = ([], [])
            for place in places:
                best, found = [float("inf")] * 2, [set[Any]()] * 2
                for _ in range(PACE_TIMES):
                    for n, connection in enumerate((old, new)):
                        given = {"position": ids[n], "from": f"hex:{place}", "radius": radius, "policy": None}
                        query = sa.text(QUERIES["fan"].format(game=shape.ruleset))
                        start = processor_ms(connection)
                        rows = connection.execute(query, given).all()
                        best[n] = min(best[n], processor_ms(connection) - start)
                        found[n] = {tuple(row) for row in rows}
                assert found[0] == found[1], f"{shape}: {place} sees something else"
                for n in (0, 1):
                    taken[n].append(best[n])
            before, after = (statistics.mean(times) for times in taken)
            middle = statistics.median(taken[0]) / statistics.median(taken[1])
            what = f"{shape.ruleset}.fan, {shape.hexes} hexes, {'hills' if shape.hills else 'flat'}, "
            what += f"range {radius}" if radius else "the board"
            print(f"{what:44}{before:>9.2f}{after:>9.2f}{before / after:>15.2f}{middle:>16.2f}", flush=True)
        for savepoint in savepoints:
            savepoint.rollback()


def main() -> None:
    """Compare, and exit with 1 where an answer differs."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("revision", help="the commit whose sql/ is compared with the working tree's")
    words.add_argument("--lines", type=int, default=2000)
    words.add_argument("--fans", type=int, default=100)
    words.add_argument("--seed", type=int, default=1, help="another number draws other positions")
    words.add_argument("--ruleset", choices=GAMES, action="append", help="only this game")
    words.add_argument(
        "--pace", type=int, metavar="VIEWERS", help="tell how much faster fans are, and no more"
    )
    given = words.parse_args()
    tally = Tally({"los": given.lines, "fan": given.fans, "fan_reasons": given.fans})
    with tempfile.TemporaryDirectory(prefix="sightline-compare-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        older = revision_sql(given.revision, home / "older")
        cluster = Cluster(home / "cluster", durable=False)
        cluster.start()
        try:
            versions: list[Version] = list(two_versions(cluster, older))
            old, new = (version.connection for version in versions)
            games = tuple(given.ruleset or GAMES)
            if given.pace:
                pace(old, new, given.pace, games)
            else:
                compare(old, new, tally, given.seed, games)
            for version in versions:
                version.connection.close()
                version.engine.dispose()
        finally:
            cluster.destroy()
    sys.exit(bool(tally.differ.total()))


if __name__ == "__main__":
    main()
