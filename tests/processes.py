"""Real processes for the tests: the command line, and people who run it."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).resolve().parent.parent
IS_ROOT = os.geteuid() == 0
SOMEBODY = "nobody" if IS_ROOT else None
"""An unprivileged user: another one than root, or whoever runs the tests."""
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")


@functools.cache
def _bytecode(user: str | None) -> dict[str, str]:
    """Where packages came without bytecode, keep it for this run: else each start takes seconds."""
    if os.path.exists(importlib.util.cache_from_source(click.__file__)):
        return {"PYTHONDONTWRITEBYTECODE": "1"}
    folder = Path(tempfile.mkdtemp(prefix="sightline-bytecode-"))
    if user is not None:
        shutil.chown(folder, user)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {"PYTHONPYCACHEPREFIX": str(folder), "PYTHONDONTWRITEBYTECODE": ""}


@functools.cache
def _python_for(user: str | None) -> tuple[str, str]:
    """A Python that the user may run, and the PYTHONPATH that gives it the project.

    The one that runs the tests may live in root's home; then the system's, if it is as new.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    site_packages = next(path for path in sys.path if path.endswith("site-packages"))
    for python, modules in (
        (sys.executable, str(ROOT)),
        (f"/usr/bin/python{version}", f"{ROOT}:{site_packages}"),
    ):
        try:
            tried = subprocess.run(
                [python, "-P", "-c", "import app, click, psycopg"],
                env={"PYTHONPATH": modules, **_bytecode(user)},
                cwd="/",
                capture_output=True,
                check=False,
                **_as(user),
            )
        except OSError:
            continue
        if tried.returncode == 0:
            return python, modules
    pytest.skip(f"{user} cannot run this project's Python")


def _as(user: str | None) -> dict[str, object]:
    if user is None:
        return {}
    entry = pwd.getpwnam(user)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def python(
    *arguments: str, environment: Mapping[str, str] | None = None, user: str | None = None, **options: object
) -> subprocess.Popen[str]:
    """Start Python with the project at hand, as the user, with no setting but those given."""
    program, modules = _python_for(user)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SIGHTLINE_")}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": "/"}
    return subprocess.Popen(
        [program, "-P", *arguments],
        env={**inherited, "PYTHONPATH": modules, **_bytecode(user), **(environment or {})},
        text=True,
        **{**streams, **_as(user), **options},  # type: ignore[arg-type]
    )


def sightline(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    user: str | None = None,
    typed: str | None = None,
    timeout: float = 60,
    **options: object,
) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    if typed is not None:
        options["stdin"] = subprocess.PIPE
    process = python("-m", "app", *arguments, environment=environment, user=user, **options)
    out, err = process.communicate(typed, timeout=timeout)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def get(url: str, timeout: float = 10) -> tuple[int, str]:
    """Status and text of an answer, whatever the status."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)


class Serving:
    """A `sightline serve` that runs; what it says is gathered in `lines`."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.address, self.lines = process, f"http://127.0.0.1:{port}", list[str]()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(self.process.stderr)

    def answers(self) -> bool:
        assert self.process.poll() is None, self.told()
        try:
            return get(f"{self.address}/healthz")[0] == 200
        except OSError:
            return False

    def told(self) -> str:
        self._reader.join(2 if self.process.poll() is not None else 0)
        return "".join(self.lines)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(40)


def porter_of(web: int) -> int:
    """The porter of a web process: its child."""
    found: list[str] = []

    def there() -> bool:
        found[:] = Path(f"/proc/{web}/task/{web}/children").read_text().split()
        return len(found) == 1

    wait_until(there)
    return int(found[0])


@contextlib.contextmanager
def serving(
    *arguments: str, environment: Mapping[str, str], user: str | None = None, **options: object
) -> Iterator[Serving]:
    """`sightline serve --no-demo` on a free port, once it answers."""
    port = free_port()
    command = ("-u", "-m", "app", "serve", "--no-demo", "--port", str(port), *arguments)
    options = {"stdout": subprocess.DEVNULL, **options}
    server = Serving(python(*command, environment=environment, user=user, **options), port)
    try:
        wait_until(server.answers, 40)
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()


@contextlib.contextmanager
def folder_of(user: str | None = None, mode: int = 0o755) -> Iterator[Path]:
    """A folder with a short path that belongs to the user."""
    folder = Path(tempfile.mkdtemp(prefix="sightline-test-"))
    if user is not None:
        shutil.chown(folder, user)
    folder.chmod(mode)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
