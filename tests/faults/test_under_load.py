"""Actions are entered and cases ruled while processes are killed and stopped, the disk fills up, connections run out
and the clock jumps: nothing acknowledged is lost, done twice or half done, and nobody is told what is not so.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from db.roles import WEB
from tests.faults.clients import GAME, Asker, Client, Player, Watcher, check_games, check_rulings
from tests.faults.house import IS_ROOT, PATIENCE, House, folder_of, post, rounds, wait_until

CLOCK = Path(__file__).with_name("clock.c")
DISK = "900m"
JUMPS = [sign * days * 86_400 for days in (1 / 24, 1, 400, 3_650) for sign in (1, -1)] + [0]
HURRY = {
    "SIGHTLINE_REQUEST_SECONDS": "10",
    "SIGHTLINE_STATEMENT_SECONDS": "8",
    "SIGHTLINE_LOCK_SECONDS": "3",
    "SIGHTLINE_LOG_LEVEL": "error",
}


class BusyHouse(House):
    """A house on a disk that can be filled up and with a clock that can be set, as far as this machine lets one."""

    def __init__(self, folder: Path, disk: Path | None, clock: Path | None) -> None:
        settings = dict(HURRY)
        if clock is not None:
            settings |= {"LD_PRELOAD": str(clock.with_suffix(".so")), "FAULT_CLOCK": str(clock)}
        super().__init__(disk or folder, **settings)
        self.disk, self.clock = disk, clock
        self.players: list[Player] = []
        self.askers: list[Asker] = []

    def answered(self) -> int:
        """How much was acknowledged so far."""
        return sum(len(client.acknowledged) for client in (*self.players, *self.askers))

    @contextmanager
    def used(self) -> Iterator[Watcher]:
        """Somebody enters actions, somebody has cases ruled, somebody looks whether all is well."""
        n = len(self.players) + len(self.askers)
        players = [Player(self, n), Player(self, n + 1)]
        askers = [Asker(self, n + 2), Asker(self, n + 3)]
        watcher = Watcher(self)
        clients: list[Client] = [*players, *askers, watcher]
        self.players += players
        self.askers += askers
        for client in clients:
            client.start()
        try:
            yield watcher
        except BaseException:
            for client in clients:
                client.leave()
            raise
        for client in clients:
            client.end()
        again = sum((client.again for client in clients), Counter())
        print(f"  sent again: {dict(again)}; health: {dict(watcher.statuses)}", end="")


def kill_web(house: BusyHouse) -> None:
    house.kill_web()


def kill_porter(house: BusyHouse) -> None:
    house.kill_porter()


def kill_backend(house: BusyHouse) -> None:
    house.kill_backend()


def kill_postmaster(house: BusyHouse) -> None:
    house.kill_postmaster()


def stop_web(house: BusyHouse) -> None:
    with house.stopped(house.web):
        time.sleep(house.dice.uniform(0.2, 2))


def stop_porter(house: BusyHouse) -> None:
    with house.stopped(house.porter()):
        time.sleep(house.dice.uniform(0.2, 2))


def stop_backend(house: BusyHouse) -> None:
    found = house.backends()
    with house.stopped(house.dice.choice(found)) if found else ExitStack():
        time.sleep(house.dice.uniform(0.2, 4))


def stop_postmaster(house: BusyHouse) -> None:
    with house.stopped(house.postmaster()):
        time.sleep(house.dice.uniform(0.2, 3))


def use_up_connections(house: BusyHouse) -> None:
    url = house.cluster.url().replace("sightline@", f"{WEB}@")
    full = None
    with ExitStack() as stack:
        while full is None:
            try:
                stack.enter_context(psycopg.connect(url, connect_timeout=5))
            except psycopg.OperationalError as error:
                full = str(error)
        assert "slots" in full or "too many clients" in full, full
        # who looks after the server still gets in
        psycopg.connect(house.cluster.url(), connect_timeout=5).close()
        time.sleep(house.dice.uniform(0.2, 2))


def set_clock(house: BusyHouse) -> None:
    if house.clock is None:
        pytest.skip("no C compiler: the clock cannot be set for one process")
    # in place: whoever has the file before their eyes would be killed by one that is empty for a moment
    with open(house.clock, "r+b") as file:
        file.write(struct.pack("l", int(house.dice.choice(JUMPS))))
    time.sleep(house.dice.uniform(0.2, 1.5))


def fill_disk(house: BusyHouse) -> None:
    if house.disk is None:
        pytest.skip("not root: no disk to fill up")
    ballast = house.disk / "ballast"
    try:
        with open(ballast, "wb") as file, suppress(OSError):
            free = shutil.disk_usage(house.disk).free
            os.posix_fallocate(file.fileno(), 0, free - house.dice.choice([0, 100_000, 4_000_000]))
        time.sleep(house.dice.uniform(0.5, 4))
    finally:
        ballast.unlink()


FAULTS: list[Callable[[BusyHouse], None]] = [
    kill_web, kill_porter, kill_backend, kill_postmaster, stop_web, stop_porter, stop_backend, stop_postmaster,
    use_up_connections, set_clock, fill_disk,
]  # fmt: skip


@contextmanager
def disk(folder: Path) -> Iterator[Path | None]:
    """A small disk of its own, where one may be mounted."""
    place = folder / "disk"
    place.mkdir()
    mounted = IS_ROOT and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=755", "none", str(place)], capture_output=True, check=False
    ).returncode  # fmt: skip
    try:
        yield place if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(place)], check=True)


def clock(folder: Path) -> Path | None:
    """A file that says how far the clock is off, and beside it what makes a process heed it."""
    file = folder / "clock"
    file.write_bytes(struct.pack("l", 0))
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    library = file.with_suffix(".so")
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, CLOCK, "-ldl"], check=True)
    return file


@pytest.fixture(scope="module")
def busy() -> Iterator[BusyHouse]:
    with folder_of() as folder, disk(folder) as place:
        house = BusyHouse(folder, place, clock(folder))
        try:
            house.load("demo", "load")
            with psycopg.connect(house.cluster.url(), autocommit=True) as connection:
                connection.execute("alter system set max_wal_size = '96MB'")
                connection.execute("select pg_reload_conf()")
            house.serve()
            post(house, "games", {"from": "tanaro-assault", "name": GAME, "seed": "faults"})
            yield house
        finally:
            house.end()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_nothing_acknowledged_is_lost_done_twice_or_half_done(
    busy: BusyHouse, fault: Callable[[BusyHouse], None]
) -> None:
    number = rounds(1)
    with busy.used() as watcher:
        for _ in range(number):
            # whoever is hit again and again before anything was answered is not harmed but kept from working
            before = busy.answered()
            wait_until(lambda: busy.answered() > before, PATIENCE)  # noqa: B023
            time.sleep(busy.dice.uniform(0.05, 0.9))
            fault(busy)
            busy.recover()
    assert set(watcher.statuses) <= {0, 200, 503}, watcher.statuses
    actions, rulings = check_games(busy, busy.players), check_rulings(busy, busy.askers)
    print(f"\n{fault.__name__}: {number} rounds; {actions} actions and {rulings} rulings acknowledged so far")
