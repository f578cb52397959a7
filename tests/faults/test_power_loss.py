"""The power fails: whatever was not written through to the disk is gone, and what was acknowledged is there.

A file system of its own is shut down beneath the running server without anything being flushed, as when the current
is cut, and mounted again. `SIGHTLINE_FAULTS=100` does it half as often; without it this is left out.
"""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from tests.faults.clients import GAME, Asker, Client, Player, check_games, check_rulings
from tests.faults.house import IS_ROOT, House, Running, folder_of, post, rounds, wait_until
from tests.faults.test_killed_commands import Import

ROUNDS = rounds(0, costs=2)
SHUTDOWN = 2 << 30 | 4 << 16 | ord("X") << 8 | 125
"""The request by which ext4 is shut down."""
FLUSH_NOTHING = 2
SIZE = 3 * 1024**3

pytestmark = [
    pytest.mark.skipif(ROUNDS == 0, reason="takes minutes: set SIGHTLINE_FAULTS"),
    pytest.mark.skipif(not IS_ROOT, reason="only root can mount a file system"),
]


class Disk:
    """A file system in a file, whose power can fail."""

    def __init__(self, folder: Path) -> None:
        self.image, self.place = folder / "image", folder / "disk"
        self.place.mkdir()
        with open(self.image, "wb") as file:
            file.truncate(SIZE)
        made = subprocess.run(["mkfs.ext4", "-q", str(self.image)], capture_output=True, check=False)
        if made.returncode or not self.mount():
            pytest.skip("no file system can be made and mounted here")

    def mount(self) -> bool:
        # nothing is written through because time has passed, only because somebody asks for it
        options = "loop,commit=600"
        return not subprocess.run(
            ["mount", "-o", options, str(self.image), str(self.place)], capture_output=True, check=False
        ).returncode

    def unmount(self) -> None:
        wait_until(
            lambda: (
                not subprocess.run(["umount", str(self.place)], capture_output=True, check=False).returncode
            ),
            30,
        )

    def lose_power(self) -> None:
        """From now on nothing reaches the disk, and what has not reached it never will."""
        handle = os.open(self.place, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, SHUTDOWN, struct.pack("I", FLUSH_NOTHING))
        finally:
            os.close(handle)


class Importer(Client):
    """Replaces a map again and again, each time by another."""

    def __init__(self, house: House, n: int, work: Import, first: int) -> None:
        super().__init__(house, n)
        self.work, self.number, self.acknowledged = work, first, first

    def one(self, key: str) -> None:
        self.number += 1
        if Running(self.house, *self.work.command(self.number)).ended().status == 0:
            self.acknowledged = self.number


class PoweredHouse(House):
    """A house whose data lies on a disk of its own."""

    def __init__(self, disk: Disk, folder: Path) -> None:
        super().__init__(disk.place / "home", SIGHTLINE_LOG_LEVEL="error")
        self.disk, self.work = disk, Import(self, folder)
        self.players: list[Player] = []
        self.askers: list[Asker] = []
        self.imports = 0

    def cut(self) -> None:
        """Let somebody work for a while, then lose power; everything starts again and is asked what is there."""
        n = len(self.players) + len(self.askers)
        player, asker = Player(self, n), Asker(self, n + 1)
        importer = Importer(self, n + 2, self.work, self.imports)
        self.players.append(player)
        self.askers.append(asker)
        for client in (player, asker, importer):
            client.start()
        if len(self.askers) % 2:
            # every other time just after an import, else anywhere in the middle of one
            wait_until(lambda: importer.acknowledged > self.imports, 60)
        time.sleep(self.dice.uniform(0.2, 4))
        self.disk.lose_power()
        self._kill_everything()
        importer.end()
        self._kill_everything()
        self.disk.unmount()
        assert self.disk.mount()
        self.cluster.start()
        self.imports = self.work.state()
        assert self.imports in (importer.acknowledged, importer.number), "an acknowledged import was lost"
        self.serve()
        player.end()
        asker.end()

    def _kill_everything(self) -> None:
        assert self.server is not None
        if self.server.process.poll() is None:
            self.server.process.kill()
            self.server.process.wait(10)
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if (process / "cwd").readlink().is_relative_to(self.disk.place):
                    os.kill(int(process.name), signal.SIGKILL)


@pytest.fixture
def powered() -> Iterator[PoweredHouse]:
    with folder_of() as folder:
        disk = Disk(folder)
        built = PoweredHouse(disk, folder)
        try:
            built.load("demo", "load")
            built.load(*built.work.command(0))
            built.serve()
            post(built, "games", {"from": "tanaro-assault", "name": GAME, "seed": "faults"})
            os.sync()
            yield built
        finally:
            built.end()
            disk.unmount()


def test_what_was_acknowledged_is_there_after_the_power_has_failed(powered: PoweredHouse) -> None:
    for n in range(1, ROUNDS + 1):
        powered.cut()
        actions = check_games(powered, powered.players, verified=n == ROUNDS)
        rulings = check_rulings(powered, powered.askers)
        if n == ROUNDS:
            print(
                f"power lost {n} times: {actions} actions, {rulings} rulings and {powered.imports} imports acknowledged"
            )


def test_a_server_that_writes_nothing_through_loses_something(powered: PoweredHouse) -> None:
    """So that the test above is known to notice."""
    with psycopg.connect(powered.cluster.url(), autocommit=True) as connection:
        connection.execute("alter system set fsync = off")
        connection.execute("select pg_reload_conf()")
    player = Player(powered, 0)
    player.start()
    wait_until(lambda: len(player.acknowledged) > 5)
    acknowledged = dict(player.acknowledged)
    powered.disk.lose_power()
    powered._kill_everything()
    powered.disk.unmount()
    assert powered.disk.mount()
    kept = 0
    with suppress(Exception):
        powered.cluster.start()
        with psycopg.connect(powered.cluster.url()) as connection:
            [kept] = connection.execute("select count(*) from event where note is not null").fetchone() or [0]
    assert kept < len(acknowledged), "everything was written through though nobody asked for it"
    player.leave()
