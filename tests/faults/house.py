"""A house to do harm in: a private server, the web process before it, and commands that are killed on their way.

`SIGHTLINE_FAULTS=300` makes it as many rounds of everything, fewer of what takes long; without it there are a few, to be
part of every run.
"""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg

from db.cluster import Cluster
from db.roles import WEB
from tests.processes import (
    IS_ROOT,
    Serving,
    folder_of,
    free_port,
    get,
    porter_of,
    python,
    sightline,
    wait_until,
)

PATIENCE = 120
"""Seconds until what should come back must have."""
COMMANDS = multiprocessing.get_context("forkserver")
COMMANDS.set_forkserver_preload(
    ["app.terminal.cli", "app.terminal.commands.database", "app.terminal.commands.transfer", "alembic.command",
     "db.rulesets.load", "importers.maps"]
)  # fmt: skip
"""Starts commands in no time: the moment of a kill is then a moment of the work, not of the start."""


def rounds(few: int, costs: int = 1) -> int:
    """How often: a few times in every run, and as often as somebody wants; what costs as much as several, less often."""
    wanted = os.environ.get("SIGHTLINE_FAULTS")
    return few if wanted is None else -(-int(wanted) // costs)


LONG = rounds(0) > 0


class House:
    """A private server and the web process before it; both can be killed and started again."""

    def __init__(self, home: Path, **settings: str) -> None:
        # a long run is another one each time
        seed = random.randrange(10**6) if LONG else 7
        print(f"a house with the seed {seed}")
        self.home, self.dice = home, random.Random(seed)
        self.port = free_port()
        self.cluster = Cluster(home)
        self.environment = {"SIGHTLINE_HOME": str(home), "SIGHTLINE_THREADS": "8", **settings}
        self.harm: Counter[str] = Counter()
        self.server: Serving | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def load(self, *arguments: str) -> None:
        """Run a command that must succeed, be it the proof of ten thousand events on a busy machine."""
        told = sightline(*arguments, environment=self.environment, timeout=1200)
        assert told.returncode == 0, told.stderr

    def serve(self) -> None:
        """Start the web process, and wait until it answers."""
        command = ("-u", "-m", "app", "serve", "--no-demo", "--port", str(self.port))
        self.server = Serving(python(*command, environment=self.environment, stdout=-3), self.port)
        wait_until(self.server.answers, PATIENCE)

    def healthy(self) -> bool:
        with suppress(OSError):
            return get(f"{self.address}/healthz", timeout=5)[0] == 200
        return False

    def recover(self) -> None:
        """Wait until all is well again."""
        try:
            wait_until(self.healthy, PATIENCE)
        except AssertionError as error:
            said = self.server.told() if self.server else ""
            log = self.cluster.log.read_text(errors="replace")
            raise AssertionError(f"it did not recover:\n{said[-3000:]}\n{log[-3000:]}") from error

    @property
    def web(self) -> int:
        assert self.server is not None
        return self.server.process.pid

    def porter(self) -> int:
        """The process that tells health: a child of the web process, which another one follows when it ends."""
        return porter_of(self.web)

    def postmaster(self) -> int:
        return int(self.cluster.data.joinpath("postmaster.pid").read_text().split()[0])

    def backends(self, of: str = WEB) -> list[int]:
        """Those that somebody talks to; none while the server recovers."""
        try:
            with psycopg.connect(self.cluster.url(), autocommit=True, connect_timeout=3) as connection:
                rows = connection.execute(
                    "select pid from pg_stat_activity where backend_type = 'client backend' and usename = %s"
                    " and pid <> pg_backend_pid()",
                    [of],
                ).fetchall()
        except psycopg.Error:
            return []
        return [pid for (pid,) in rows]

    def kill_web(self) -> None:
        assert self.server is not None
        self.server.process.kill()
        self.server.process.wait(10)
        self.serve()

    def kill_porter(self) -> None:
        os.kill(self.porter(), signal.SIGKILL)

    def kill_backend(self, of: str = WEB) -> None:
        found = self.backends(of)
        if found:
            with suppress(ProcessLookupError):
                os.kill(self.dice.choice(found), signal.SIGKILL)

    def kill_postmaster(self) -> None:
        with suppress(ProcessLookupError, FileNotFoundError):
            os.kill(self.postmaster(), signal.SIGKILL)

    @contextmanager
    def stopped(self, pid: int) -> Iterator[None]:
        """A process that neither works nor ends for a while."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        if self.server is not None and self.server.process.poll() is None:
            self.server.stop()
        sightline("db", "stop", environment=self.environment)


@contextmanager
def house(**settings: str) -> Iterator[House]:
    """A house for a while, with the demo in it."""
    with folder_of() as home:
        built = House(home, **settings)
        try:
            built.load("demo", "load")
            yield built
        finally:
            built.end()


def post(house: House, path: str, body: Any, key: str | None = None, timeout: float = 40) -> Any:
    """What the API answers to a document."""
    headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": key} if key else {})
    request = urllib.request.Request(
        f"{house.address}/api/v1/{path}", json.dumps(body).encode(), headers, method="POST"
    )
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


# Commands that are killed on their way


@dataclasses.dataclass
class Ended:
    """How a command ended: its status (below 0: by a signal), and what it said."""

    status: int
    told: str


class Running:
    """A command of `sightline` on its way."""

    def __init__(self, house: House, *arguments: str) -> None:
        handle, name = tempfile.mkstemp(prefix="sightline-fault-")
        os.close(handle)
        self._told = Path(name)
        self._process = COMMANDS.Process(target=_run, args=(arguments, house.environment, name))
        self._process.start()

    def ends_within(self, seconds: float) -> bool:
        """Wait so long, or until it has ended."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def kill(self) -> None:
        self._process.kill()

    def ended(self) -> Ended:
        self._process.join(240)
        status, told = self._process.exitcode, self._told.read_text(errors="replace")
        self._told.unlink()
        assert status is not None, f"it never ended; it said: {told}"
        assert "Traceback" not in told, told
        return Ended(status, told)


def _run(arguments: tuple[str, ...], environment: dict[str, str], told: str) -> None:
    from app.terminal.cli import main

    os.environ.update(environment)
    with open(told, "w") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    sys.argv = ["sightline", *arguments]
    main()


VICTIMS = ("command", "backend", "postmaster")


class Work:
    """Something that a command does; it is done or it is not, whatever is killed meanwhile."""

    name = ""
    few, costs = 3, 1
    """Rounds in every run, and as how many rounds of others one counts in a long run."""

    def __init__(self, house: House, folder: Path) -> None:
        self.house, self.folder = house, folder

    def command(self, n: int) -> tuple[str, ...]:
        """Make ready, and give the command of a round."""
        raise NotImplementedError

    def state(self) -> Any:
        """Which round's work is there: whole, or this fails."""
        raise NotImplementedError

    def wanted(self, n: int) -> Any:
        return n


def harm(work: Work, number: int) -> Counter[str]:
    """Kill the command, its backend or the postmaster at any moment; what was reported must be what is there."""
    house, outcomes = work.house, Counter[str]()
    began = time.monotonic()
    first = Running(house, *work.command(0)).ended()
    assert first.status == 0, first.told
    duration = time.monotonic() - began
    for n in range(1, number + 1):
        arguments, before = work.command(n), work.state()
        victim = VICTIMS[n % len(VICTIMS)]
        began, running = time.monotonic(), Running(house, *arguments)
        if running.ends_within(house.dice.uniform(0, 1.05 * duration)):
            # nothing was there to be hit: the next are hit earlier
            duration = time.monotonic() - began
        if victim == "command":
            running.kill()
        elif victim == "backend":
            house.kill_backend("sightline")
        else:
            house.kill_postmaster()
        ended = running.ended()
        house.cluster.start()
        _check(work, n, before, ended)
        done = "done" if ended.status == 0 else "killed" if ended.status < 0 else "refused"
        outcomes[f"{victim} {done}"] += 1
    print(f"{work.name}: {number} rounds, {dict(sorted(outcomes.items()))}, {duration:.1f} s each")
    return outcomes


def _check(work: Work, n: int, before: Any, ended: Ended) -> None:
    after, wanted = work.state(), work.wanted(n)
    said = f"{work.name}, round {n}: {before} → {after}, status {ended.status}, said: {ended.told}"
    if ended.status == 0:
        assert after == wanted, f"acknowledged and not there: {said}"
    assert after in (before, wanted), f"neither as it was nor as it should be: {said}"
    if "as it was" in ended.told:
        assert after == before, f"an untrue report: {said}"


__all__ = [
    "IS_ROOT", "Ended", "House", "Running", "Work", "folder_of", "get", "harm", "house", "post", "rounds",
    "wait_until",
]  # fmt: skip
