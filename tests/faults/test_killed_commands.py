"""Imports, upgrades, backups and restores, killed at any moment: done or not done, and told as it is."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from db.backup import tool
from tests.faults.house import House, Work, harm, house, rounds

MAP = """
name: island
title: "{n}"
ruleset: css
scale: 275
extent: ["10.10", "29.29"]
fill: {{terrain: clear, level: {level}}}
paths: [{{kind: paved_road, hexes: [{road}]}}]
"""
HEXES = 20 * 20


def ask(house: House, query: str, *values: Any) -> Any:
    with psycopg.connect(house.cluster.url(), autocommit=True) as connection:
        row = connection.execute(query, values).fetchone()  # type: ignore[call-overload]
        return None if row is None else row[0] if len(row) == 1 else row


class Import(Work):
    """A map replaced by one with other terrain and another road."""

    name = "import"

    def command(self, n: int) -> tuple[str, ...]:
        road = ", ".join(f'"{column}.{10 + n % 20}"' for column in range(10, 12))
        file = self.folder / "island.yaml"
        file.write_text(MAP.format(n=n, level=1 + n % 4, road=road))
        return ("import", "map", str(file), "--replace")

    def state(self) -> Any:
        title, hexes, levels, level = ask(
            self.house,
            "select map.title, count(*), count(distinct hex.level), min(hex.level)"
            " from map join hex on hex.map_id = map.id where map.name = 'island' group by map.id",
        )
        road = ask(
            self.house, "select count(*) from path join map on map.id = path.map_id where map.name = 'island'"
        )
        assert (hexes, levels, level) == (HEXES, 1, 1 + int(title) % 4), "a map of two imports"
        assert road == 1
        assert ask(self.house, "select count(*) from map where name = 'island'") == 1
        return int(title)


class Backup(Work):
    """A file that is the old backup or the new one."""

    name = "backup"
    few = 2

    def command(self, n: int) -> tuple[str, ...]:
        with psycopg.connect(self.house.cluster.url(), autocommit=True) as connection:
            connection.execute("create table if not exists public.mark (n integer)")
            connection.execute("truncate public.mark")
            connection.execute("insert into public.mark values (%s)", [n])
        return ("db", "backup", "--force", str(self.folder / "x.dump"))

    def state(self) -> Any:
        read = [tool("pg_restore"), "-f", "-", "--data-only", "--table=mark", str(self.folder / "x.dump")]
        whole = subprocess.run([*read[:3], read[-1]], capture_output=True, check=True, text=True).stdout
        assert "PostgreSQL database dump complete" in whole, "half a backup"
        rows = subprocess.run(read, capture_output=True, check=True, text=True).stdout
        left = [path.name for path in self.folder.glob(".x.dump*")]
        assert len(left) <= 1, "what a killed backup left is swept by the next"
        return int(rows.partition("stdin;\n")[2].split()[0])


class Upgrade(Work):
    """Functions, rulesets and rights made anew: all of them or none."""

    name = "upgrade"
    few, costs = 1, 2

    def __init__(self, house: House, folder: Path) -> None:
        super().__init__(house, folder)
        self.whole = self._parts()

    def command(self, n: int) -> tuple[str, ...]:
        with psycopg.connect(self.house.cluster.url(), autocommit=True) as connection:
            connection.execute("update schema_state set verbs = 'old'")
        return ("db", "upgrade")

    def state(self) -> Any:
        assert self._parts() == self.whole, "half an upgrade"
        return "old" if ask(self.house, "select verbs from schema_state") == "old" else "new"

    def wanted(self, n: int) -> Any:
        return "new"

    def _parts(self) -> Any:
        return ask(
            self.house,
            "select (select count(*) from pg_proc), (select count(*) from pg_class), (select count(*) from rule),"
            " (select count(*) from chart_cell), (select count(*) from pg_trigger),"
            " (select count(*) from information_schema.role_table_grants where grantee = 'sightline_web')",
        )


class Restore(Work):
    """The database replaced by one of two backups."""

    name = "restore"
    few, costs = 1, 4

    def __init__(self, house: House, folder: Path) -> None:
        super().__init__(house, folder)
        backup = Backup(house, folder)
        for n in (0, 1):
            self.house.load(*backup.command(n))
            (folder / "x.dump").rename(folder / f"{n}.dump")

    def command(self, n: int) -> tuple[str, ...]:
        return ("db", "restore", "--yes", str(self.folder / f"{n % 2}.dump"))

    def state(self) -> Any:
        # the first command that comes puts in order what was left
        self.house.load("maps", "list")
        self.house.load("db", "status")
        assert (
            ask(self.house, "select count(*) from pg_database where starts_with(datname, 'sightline_')") <= 1
        )
        assert ask(self.house, "select count(*) from ruleset") == 5
        return int(ask(self.house, "select n from mark"))

    def wanted(self, n: int) -> Any:
        return n % 2


@pytest.fixture(scope="module")
def quiet() -> Iterator[House]:
    """A house where nothing is served."""
    with house() as built:
        yield built


@pytest.mark.parametrize("work", [Import, Backup, Upgrade, Restore], ids=lambda work: work.name)
def test_a_command_that_is_killed_has_done_all_or_nothing(
    quiet: House, tmp_path: Path, work: type[Work]
) -> None:
    tmp_path.chmod(0o755)
    outcomes = harm(work(quiet, tmp_path), number := rounds(work.few, work.costs))
    assert sum(outcomes.values()) == number
