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
LONGEST_LOG = 10_000_000
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
            found = re.search(r"\d+", _output(folder / "postgres", "--version"))
            version = int(found[0]) if found else 0
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
            try:
                entry = pwd.getpwuid(os.geteuid())
            except KeyError:
                raise ClusterError(
                    f"The user {os.geteuid()} has no name on this system, and PostgreSQL wants one.",
                    "Run as a user with an account, or set SIGHTLINE_DATABASE_URL to a server of yours.",
                ) from None
            return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)
        for name in ("postgres", "nobody"):
            with contextlib.suppress(KeyError):
                entry = pwd.getpwnam(name)
                return cls(name, entry.pw_uid, entry.pw_gid)
        raise ClusterError("No account to run the server as.", "Create a system user `postgres`.")

    def run(
        self,
        *command: str | Path,
        check: bool = True,
        timeout: float = 300,
        folder: Path = Path("/"),
        data: Path | None = None,
    ) -> str:
        """Run a command as this account and return what it printed.

        Its output goes to a file: a server that it leaves behind must hold no pipe of ours.
        The data folder is handed over as PGDATA, since pg_ctl gives its options to a shell.
        """
        switch = os.geteuid() == 0
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        with tempfile.TemporaryFile("w+") as printed:
            try:
                result = subprocess.run(
                    [str(part) for part in command],
                    cwd=folder,
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    check=False,
                    timeout=timeout,
                    env=inherited | {"LC_ALL": "C"} | ({"PGDATA": str(data)} if data else {}),
                    user=self.uid if switch else None,
                    group=self.gid if switch else None,
                    extra_groups=[] if switch else None,
                )
            except subprocess.TimeoutExpired as error:
                raise ClusterError(f"{Path(command[0]).name} did not end in {timeout:.0f} s.") from error
            printed.seek(0)
            output = printed.read().strip()
        if check and result.returncode:
            raise ClusterError(f"{Path(command[0]).name} failed: {output or result.returncode}")
        return output if result.returncode == 0 else ""

    def can_enter(self, folder: Path) -> bool:
        """Whether the account can reach the folder (or the nearest parent that exists)."""
        while not os.path.exists(folder):
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
        aside = Path("/var/tmp") / f"sightline-{os.geteuid()}-{self._digest}"
        here = os.path.exists(self.home / "data")
        if account.can_enter(self.home):
            moved_in = not here and _owner(aside) == os.geteuid() and (aside / "data").exists()
            return aside if moved_in else self.home
        if here or os.geteuid() != 0:
            raise ClusterError(
                f"The user {account.name}, who runs the server, cannot enter {self.home}.",
                "Let that user enter it and every folder above it, or set SIGHTLINE_HOME to another folder.",
            )
        return aside

    @property
    def _digest(self) -> str:
        return hashlib.sha256(str(self.home.resolve()).encode()).hexdigest()[:10]

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
        address = f"{self.url('postgres')}&connect_timeout=3"
        return psycopg.pq.PGconn.ping(address.encode()) == psycopg.pq.Ping.OK

    def died(self) -> bool:
        """Whether the server has ended without being stopped: a stop takes its pid file along."""
        return (self.data / "postmaster.pid").exists() and not self._process_lives()

    def start(self) -> bool:
        """Make sure that the server answers. True if this call started it."""
        if self._ready():
            return False
        with self._locked():
            if self._ready():
                return False
            started = self._start_server()
            self._create_database()
            return started

    def _ready(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=3).close()
        except psycopg.OperationalError:
            return False
        return True

    def _start_server(self) -> bool:
        self._refuse_foreign_data()
        server = self._server()
        if not (self.data / "PG_VERSION").exists():
            self._initialise(server)
        self._make_socket_folder()
        self._clear_leftovers()
        if self.alive():
            return False
        self._launch(server)
        return True

    def stop(self) -> bool:
        """Stop the server, also one that no longer answers. True if there was one."""
        self._refuse_foreign_data()
        if not (self.data / "postmaster.pid").exists():
            return False
        with self._locked():
            lives = self._process_lives()
            if lives:
                pg_ctl = self._server().bin / "pg_ctl"
                Account.for_server().run(
                    pg_ctl, "stop", "-m", "fast", "-w", "-t", str(START_SECONDS), data=self.data
                )
            self._clear_leftovers()
            with contextlib.suppress(OSError):
                self.socket_folder.rmdir()
            return lives

    def destroy(self) -> None:
        """Stop the server and delete everything it holds."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.socket_folder, ignore_errors=True)

    def status(self) -> dict[str, object]:
        """What there is: for `sightline db status`."""
        self._refuse_foreign_data()
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

    def _refuse_foreign_data(self) -> None:
        """Say so if another user made the data: PostgreSQL would only mutter about permissions."""
        owner, account = _owner(self.data, follow=True), Account.for_server()
        if owner in (None, account.uid):
            return
        try:
            name = pwd.getpwuid(owner or 0).pw_name
        except KeyError:
            name = str(owner)
        raise ClusterError(
            f"The data in {self.data} belongs to the user {name}, and the server would run as {account.name}.",
            "Run Sightline as the user who ran it first, or set SIGHTLINE_HOME to another folder.",
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One start or stop at a time; the others wait and then find the work done."""
        try:
            self._make_folder()
            handle = open(self.folder / "lock", "w")  # noqa: SIM115
        except OSError as error:
            raise ClusterError(
                f"Cannot write to {self.folder}: {error.strerror}.",
                "Set SIGHTLINE_HOME to a folder that you can write to.",
            ) from error
        with handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def _make_folder(self) -> None:
        missing = [folder for folder in (self.folder, *self.folder.parents) if not os.path.exists(folder)]
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.folder != self.home and _owner(self.folder) != os.geteuid():
            raise ClusterError(
                f"{self.folder} belongs to somebody else.", "Remove it, or set SIGHTLINE_HOME."
            )
        if os.geteuid() == 0:  # whatever root's umask is, the server's account must get through
            for folder in missing:
                folder.chmod(0o755)

    def _initialise(self, server: Server) -> None:
        account = Account.for_server()
        unfinished = self.folder / "data.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(unfinished, account.uid, account.gid)
        account.run(
            server.bin / "initdb", "-U", SUPERUSER, "--auth=trust", "-E", "UTF8",
            "--locale=C.UTF-8", "--data-checksums", "--no-sync", "--no-instructions", data=unfinished,
        )  # fmt: skip
        unfinished.rename(self.data)

    def _make_socket_folder(self) -> None:
        account = Account.for_server()
        folder = self.socket_folder
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink() or _owner(folder) not in (account.uid, os.geteuid()):
            raise ClusterError(
                f"{folder} belongs to somebody else.", "Remove it, or set another SIGHTLINE_HOME."
            )
        if os.geteuid() == 0:
            os.chown(folder, account.uid, account.gid)
        folder.chmod(0o700)

    def _process_lives(self) -> bool:
        """Whether the process in the pid file is a server on this data, not a zombie or a reused pid."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().partition("\n")[0])
            # a server stands in its data folder; a zombie stands nowhere, a stranger elsewhere
            return os.path.samefile(f"/proc/{pid}/cwd", self.data)
        except (OSError, ValueError):
            return False

    def _clear_leftovers(self) -> None:
        """Remove what a killed server left behind; wait for one that is just coming up."""
        deadline = time.monotonic() + START_SECONDS
        while self._process_lives():
            if self.alive():
                return
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"A server on {self.data} runs but does not answer.",
                    f"Stop it with `sightline db stop` and start again; its log is {self.log}.",
                )
            time.sleep(0.05)
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for leftover in self.socket_folder.glob(".s.PGSQL.*"):
            leftover.unlink(missing_ok=True)

    def _launch(self, server: Server) -> None:
        """Start, and start again while backends of a killed server still hold its memory."""
        account = Account.for_server()
        self._make_log(account)
        settings = " ".join(f"-c {name}={value}" for name, value in self._server_settings().items())
        deadline = time.monotonic() + START_SECONDS
        while True:
            read = self.log.stat().st_size
            try:
                account.run(
                    server.bin / "pg_ctl", "start", "-l", self.log.name, "-w", "-t", str(START_SECONDS),
                    "-o", settings, folder=self.folder, data=self.data,
                )  # fmt: skip
                return
            except ClusterError as error:
                new = self.log.read_bytes()[read:].decode(errors="replace").strip()
                if "shared memory" not in new or time.monotonic() > deadline:
                    reason = next((line for line in new.splitlines() if "FATAL" in line), error.message)
                    raise ClusterError(f"The server did not start: {reason}", f"See {self.log}.") from error
                time.sleep(0.2)

    def _make_log(self, account: Account) -> None:
        if self.log.exists() and self.log.stat().st_size > LONGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.old"))
        self.log.touch(mode=0o600)
        if os.geteuid() == 0:
            os.chown(self.log, account.uid, account.gid)

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


def _owner(path: Path, *, follow: bool = False) -> int | None:
    """The owner of a file or folder (or of the link that it is); None if it is not there."""
    try:
        return path.stat(follow_symlinks=follow).st_uid
    except (FileNotFoundError, NotADirectoryError):
        return None
