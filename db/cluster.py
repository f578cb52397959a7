"""The private cluster: a PostgreSQL with PostGIS that belongs to this project alone.

It listens on no network, only on a socket in a 0700 folder with a short path under
`/tmp` (socket paths end at 107 bytes). Started as root it runs as `postgres` (else
`nobody`), otherwise as the user. Alive means "answers on its socket", never "has a pid
file": after a SIGKILL the pid file stays, and the postmaster may linger as a zombie.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import hashlib
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import psycopg.conninfo

from db import SightlineError

PORT = 5432
SUPERUSER = "sightline"
DATABASE = "sightline"
OLDEST_SERVER = 14
START_SECONDS = 60
INSTALL = "apt-get install postgresql-postgis (./sightline does it when run as root or with sudo)"


class ClusterError(SightlineError):
    """The private cluster cannot do what was asked."""


@dataclasses.dataclass(frozen=True)
class Server:
    """An installed PostgreSQL that has PostGIS."""

    version: int
    bin: Path


def installed_servers() -> list[Server]:
    """Every installed PostgreSQL with PostGIS, newest first."""
    folders = [*Path("/usr/lib/postgresql").glob("*/bin"), *Path("/usr").glob("pgsql-*/bin")]
    pg_config = shutil.which("pg_config")
    if pg_config:
        folders.append(Path(_output(pg_config, "--bindir")))
    servers: dict[Path, Server] = {}
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            version = int(re.findall(r"\d+", _output(folder / "postgres", "--version"))[0])
            if version >= OLDEST_SERVER and _has_postgis(folder, version):
                servers[folder.resolve()] = Server(version, folder)
    return sorted(servers.values(), key=lambda server: -server.version)


def _has_postgis(folder: Path, version: int) -> bool:
    shares = [Path(f"/usr/share/postgresql/{version}"), folder.parent / "share"]
    return any((share / "extension" / "postgis.control").exists() for share in shares)


def _output(program: str | Path, *arguments: str) -> str:
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False).stdout.strip()


@dataclasses.dataclass(frozen=True)
class Account:
    """The system user that the server runs as."""

    name: str
    uid: int
    gid: int

    @classmethod
    def for_server(cls) -> Account:
        """The user itself; for root, who must not run PostgreSQL, an account without rights."""
        if os.geteuid() != 0:
            entry = pwd.getpwuid(os.geteuid())
            return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                entry = pwd.getpwnam(name)
                return cls(name, entry.pw_uid, entry.pw_gid)
        raise ClusterError("No account to run the server as.", "Create a system user `postgres`.")

    def run(self, *command: str | Path, check: bool = True, timeout: float = 120) -> str:
        """Run a command as this account, from `/`, and return what it printed.

        Its output goes to a file: a server that it leaves behind must hold no pipe of ours.
        """
        switch = os.geteuid() == 0
        with tempfile.TemporaryFile("w+") as printed:
            result = subprocess.run(
                [str(part) for part in command],
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=timeout,
                env={**os.environ, "LC_MESSAGES": "C"},
                user=self.uid if switch else None,
                group=self.gid if switch else None,
                extra_groups=[] if switch else None,
            )
            printed.seek(0)
            output = printed.read().strip()
        if check and result.returncode:
            raise ClusterError(f"{Path(command[0]).name} failed: {output or result.returncode}")
        return output if result.returncode == 0 else ""

    def can_enter(self, folder: Path) -> bool:
        """Whether the account can reach the folder (or the nearest parent that exists)."""
        while not folder.exists():
            folder = folder.parent
        return self.run("/bin/sh", "-c", 'test -x "$1" && echo yes', "sh", folder, check=False) == "yes"


@dataclasses.dataclass(frozen=True)
class Cluster:
    """A cluster in a folder; `durable=False` gives up safety for speed (throwaway tests)."""

    home: Path
    durable: bool = True

    @functools.cached_property
    def folder(self) -> Path:
        """Where the data really is: `home`, or under `/var/tmp` if the server cannot enter that."""
        account = Account.for_server()
        if account.can_enter(self.home):
            return self.home
        return Path("/var/tmp") / f"sightline-{os.geteuid()}-{self._digest}"

    @property
    def _digest(self) -> str:
        return hashlib.sha256(str(self.home.absolute()).encode()).hexdigest()[:10]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    @property
    def socket_folder(self) -> Path:
        return Path("/tmp") / f"sightline-{os.geteuid()}-{self._digest}"

    def url(self, database: str = DATABASE) -> str:
        """The address of a database of this cluster, for libpq and SQLAlchemy alike."""
        return f"postgresql://{SUPERUSER}@/{database}?host={self.socket_folder}&port={PORT}"

    def alive(self) -> bool:
        """Whether the server answers on its socket."""
        try:
            with psycopg.connect(self.url("postgres"), connect_timeout=3, autocommit=True) as connection:
                return connection.execute("select 1").fetchone() == (1,)
        except psycopg.Error:
            return False

    def start(self) -> bool:
        """Make sure that the server answers. True if this call started it."""
        if self.alive():
            return False
        with self._locked():
            if self.alive():
                return False
            server = self._server()
            if not (self.data / "PG_VERSION").exists():
                self._initialise(server)
            self._make_socket_folder()
            self._clear_leftovers()
            self._launch(server)
            self._create_database()
            return True

    def stop(self) -> bool:
        """Stop the server. True if there was one."""
        if not (self.data / "postmaster.pid").exists():
            return False
        with self._locked():
            was_alive = self.alive()
            if was_alive:
                Account.for_server().run(
                    self._server().bin / "pg_ctl", "stop", "-D", self.data, "-m", "fast", "-w"
                )
            else:
                self._clear_leftovers()
            return was_alive

    def destroy(self) -> None:
        """Stop the server and delete everything it holds."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.socket_folder, ignore_errors=True)

    def status(self) -> dict[str, object]:
        """What there is: for `sightline db status`."""
        version = self.data / "PG_VERSION"
        return {
            "running": self.alive(),
            "initialised": version.exists(),
            "server": version.read_text().strip() if version.exists() else None,
            "data": str(self.data),
            "socket": str(self.socket_folder),
            "log": str(self.log),
        }

    def _server(self) -> Server:
        servers = installed_servers()
        if not servers:
            raise ClusterError(f"No PostgreSQL {OLDEST_SERVER}+ with PostGIS is installed.", INSTALL)
        version = self.data / "PG_VERSION"
        if not version.exists():
            return servers[0]
        wanted = int(version.read_text())
        for server in servers:
            if server.version == wanted:
                return server
        raise ClusterError(
            f"The data in {self.data} is of PostgreSQL {wanted}, and only "
            f"{', '.join(str(server.version) for server in servers)} is installed.",
            f"Install PostgreSQL {wanted} with PostGIS, back up, then restore into a new SIGHTLINE_HOME.",
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One start or stop at a time; the others wait and then find the work done."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = open(self.folder / "lock", "w")  # noqa: SIM115
        except OSError as error:
            raise ClusterError(
                f"Cannot write to {self.folder}: {error.strerror}.",
                "Set SIGHTLINE_HOME to a folder that you can write to.",
            ) from error
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _initialise(self, server: Server) -> None:
        account = Account.for_server()
        unfinished = self.folder / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(unfinished, account.uid, account.gid)
        account.run(
            server.bin / "initdb", "-D", unfinished, "-U", SUPERUSER, "--auth=trust", "-E", "UTF8",
            "--locale=C.UTF-8", "--no-sync", "--no-instructions",
        )  # fmt: skip
        unfinished.rename(self.data)

    def _make_socket_folder(self) -> None:
        account = Account.for_server()
        folder = self.socket_folder
        folder.mkdir(mode=0o700, exist_ok=True)
        owner = folder.stat(follow_symlinks=False)
        if folder.is_symlink() or owner.st_uid not in (account.uid, os.geteuid()):
            raise ClusterError(
                f"{folder} belongs to somebody else.", "Remove it, or set another SIGHTLINE_HOME."
            )
        if os.geteuid() == 0:
            os.chown(folder, account.uid, account.gid)
        folder.chmod(0o700)

    def _clear_leftovers(self) -> None:
        """Remove what a killed server left behind, once its process is really gone."""
        pid_file = self.data / "postmaster.pid"
        if not pid_file.exists():
            return
        deadline = time.monotonic() + START_SECONDS
        while _is_running(int(pid_file.read_text().split("\n")[0] or 0), self.data):
            if self.alive():
                return
            if time.monotonic() > deadline:
                raise ClusterError(f"A server on {self.data} runs but does not answer.", f"See {self.log}.")
            time.sleep(0.05)
            if not pid_file.exists():
                return
        pid_file.unlink(missing_ok=True)
        for leftover in self.socket_folder.glob(".s.PGSQL.*"):
            leftover.unlink(missing_ok=True)

    def _launch(self, server: Server) -> None:
        """Start, and start again while backends of a killed server still hold its memory."""
        account = Account.for_server()
        self.log.touch()
        if os.geteuid() == 0:
            os.chown(self.log, account.uid, account.gid)
        settings = " ".join(f"-c {name}={value}" for name, value in self._server_settings().items())
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                account.run(
                    server.bin / "pg_ctl", "start", "-D", self.data, "-l", self.log, "-w",
                    "-t", str(START_SECONDS), "-o", settings,
                )  # fmt: skip
                return
            except ClusterError as error:
                tail = self.log.read_text(errors="replace")[-2000:]
                if "shared memory" not in tail or time.monotonic() > deadline:
                    raise ClusterError(
                        f"The server did not start: {tail.strip().splitlines()[-1] if tail.strip() else error}",
                        f"See {self.log}.",
                    ) from error
                time.sleep(0.2)

    def _server_settings(self) -> dict[str, str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.socket_folder),
            "unix_socket_permissions": "0700",
            "port": str(PORT),
            "max_connections": "64",
            "shared_buffers": "256MB",
            "jit": "off",
            "random_page_cost": "1.1",
            "max_locks_per_transaction": "256",
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        return {name: value or "''" for name, value in settings.items()}

    def _create_database(self) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            found = connection.execute("select from pg_database where datname = %s", [DATABASE]).fetchone()
            if found is None:
                connection.execute(f"create database {DATABASE}")


def _is_running(pid: int, data: Path) -> bool:
    """Whether the process is a live server on this data folder (not a zombie, not a reused pid)."""
    if pid <= 0:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, IndexError):
        return False
    return state not in "ZX" and str(data).encode() in command
