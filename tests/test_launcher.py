"""The launcher `./sightline`: what it sets up, what it leaves alone, what it says when it cannot."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import IS_ROOT, ROOT, folder_of, needs_root

from db import __version__

Launch = Callable[..., subprocess.CompletedProcess[str]]
TOOLS = (
    "sh",
    "cat",
    "cksum",
    "cp",
    "dirname",
    "flock",
    "grep",
    "id",
    "mkdir",
    "mktemp",
    "readlink",
    "rm",
    "sed",
    "tail",
)
NPM = """#!/bin/sh
mkdir -p node_modules/leaflet/dist && echo "// a library" >node_modules/leaflet/dist/leaflet.js
face=node_modules/@fontsource-variable/source-sans-3
mkdir -p $face/files && echo "a licence" >$face/LICENSE
for style in normal italic; do echo "a face" >$face/files/source-sans-3-latin-wght-$style.woff2; done
"""
LEFT_OUT = shutil.ignore_patterns(".*", "node_modules", "tests", "docs", "vendor", "__pycache__")


def _tools(folder: Path, *more: str) -> Path:
    """A folder for PATH with no programs but these."""
    folder.mkdir()
    for name in (*TOOLS, *more):
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    return folder


def _give_python(folder: Path) -> None:
    """The Python of this run, as `python3`; only where a user can run it."""
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "python3").symlink_to(base)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as somebody downloads it, but that its lock asks for no package.

    The packages of this run are lent by PYTHONPATH, and npm is a stand-in: nothing is fetched.
    """
    folder = tmp_path_factory.mktemp("launcher") / "the project"
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    for lock in ("requirements.lock", "requirements-dev.lock"):
        (folder / lock).write_text("")
    tools = _tools(folder.parent / "tools")
    _give_python(tools)
    (tools / "npm").write_text(NPM)
    (tools / "npm").chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def launch(tree: Path) -> Launch:
    site_packages = next(path for path in sys.path if path.endswith("site-packages"))

    def run(
        *arguments: str, launcher: Path = tree / "sightline", path: Path | None = None, **options: object
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(path or tree.parent / "tools"),
            "PYTHONPATH": site_packages,
            "PIP_NO_INDEX": "1",
            "HOME": str(tree.parent),
        }
        given = options.pop("environment", {})
        assert isinstance(given, dict)
        return subprocess.run(
            [launcher, *arguments],
            env={**environment, **given},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            **{"cwd": tree.parent, **options},  # type: ignore[call-overload]
        )

    return run


@pytest.fixture(scope="module")
def set_up(launch: Launch, tree: Path) -> subprocess.CompletedProcess[str]:
    """The first start."""
    assert not (tree / ".venv").exists()
    return launch("--version")


def test_the_first_start_says_line_by_line_what_it_does(
    set_up: subprocess.CompletedProcess[str], tree: Path
) -> None:
    assert set_up.returncode == 0, set_up.stderr
    assert set_up.stdout == f"sightline, version {__version__}\n"
    said = [line for line in set_up.stderr.splitlines() if line.startswith("sightline: ")]
    assert said == [
        "sightline: making .venv (some seconds)",
        "sightline: installing Python packages from requirements.lock (up to a minute, once)",
        "sightline: fetching browser libraries (some seconds, once)",
    ]
    assert (tree / "app/web/static/vendor/leaflet/leaflet.js").exists()
    assert len(list((tree / "app/web/static/vendor/source-sans").glob("*.woff2"))) == 2


def test_a_second_start_does_nothing_but_check_the_stamps(
    set_up: subprocess.CompletedProcess[str], launch: Launch, tree: Path
) -> None:
    def state() -> dict[str, int]:
        return {
            str(path): path.stat().st_mtime_ns
            for path in (tree, tree / ".venv", tree / "app/web/static/vendor/stamp")
        }

    before = state()
    nothing = _tools(tree.parent / "no npm")
    _give_python(nothing)
    again = launch("--version", path=nothing)
    assert again.returncode == 0, again.stderr
    assert again.stderr == ""
    assert state() == before


def test_it_starts_from_anywhere_and_by_a_link(
    set_up: subprocess.CompletedProcess[str], launch: Launch, tree: Path, tmp_path: Path
) -> None:
    """Also where folders happen to be called as ours are."""
    for name in ("app", "db"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong one')")
    link = tmp_path / "link"
    link.symlink_to(tree / "sightline")
    told = launch("--version", launcher=link, cwd=tmp_path)
    assert (told.returncode, told.stdout) == (0, f"sightline, version {__version__}\n"), told.stderr


def test_the_exit_status_is_the_commands(set_up: subprocess.CompletedProcess[str], launch: Launch) -> None:
    assert launch("nonsense").returncode == 2


def test_a_changed_lock_is_installed_and_a_package_that_cannot_be_had_is_told(
    set_up: subprocess.CompletedProcess[str], launch: Launch, tree: Path
) -> None:
    (tree / "requirements.lock").write_text("# changed\n")
    told = launch("--version")
    assert told.returncode == 0, told.stderr
    assert "installing Python packages" in told.stderr
    assert "making .venv" not in told.stderr
    good = (tree / "requirements.lock").read_text()
    (tree / "requirements.lock").write_text(f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n")
    told = launch("--version")
    (tree / "requirements.lock").write_text(good)
    assert told.returncode == 2
    assert "error: pip could not install requirements.lock." in told.stderr
    assert "no-such-package" in told.stderr
    assert launch("--version").stderr == "", "the last good state is still good"


def test_two_at_once_take_turns(set_up: subprocess.CompletedProcess[str], launch: Launch, tree: Path) -> None:
    shutil.rmtree(tree / "app/web/static/vendor")
    holder = subprocess.Popen(["flock", str(tree), "sleep", "1.5"])
    time.sleep(0.3)
    told = launch("--version")
    holder.wait()
    assert told.returncode == 0, told.stderr
    assert "waiting for another ./sightline that sets up" in told.stderr


def test_a_missing_python_is_told(launch: Launch, tree: Path) -> None:
    told = launch("--version", path=_tools(tree.parent / "no python"))
    assert told.returncode == 2
    assert "error: Sightline needs Python 3.11 or newer." in told.stderr
    assert "apt-get install python3" in told.stderr


def test_an_old_python_is_told(launch: Launch, tree: Path) -> None:
    tools = _tools(tree.parent / "old python")
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tools / "python3").chmod(0o755)
    told = launch("--version", path=tools)
    assert told.returncode == 2
    assert "needs Python 3.11 or newer" in told.stderr


@pytest.fixture
def public(tree: Path) -> Iterator[Path]:
    """A copy of the project that is not yet set up, where everybody may enter; and tools for everybody."""
    system = Path(f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}")
    if not system.exists():
        pytest.skip("the system has no Python that everybody may run")
    with folder_of() as folder:
        shutil.copytree(
            tree, folder / "project", ignore=shutil.ignore_patterns(".venv", "node_modules", "vendor")
        )
        tools = _tools(folder / "tools", "apt-get")
        (tools / "python3").symlink_to(system)
        (tools / "npm").write_text(NPM)
        (tools / "npm").chmod(0o755)
        yield folder


@needs_root
def test_a_folder_that_cannot_be_written_is_told(launch: Launch, public: Path) -> None:
    told = launch(
        "--version", launcher=public / "project/sightline", path=public / "tools", cwd="/", user="nobody", group=65534,
        extra_groups=[],
    )  # fmt: skip
    assert told.returncode == 2
    assert f"error: Cannot write to {public}/project." in told.stderr
    assert not (public / "project/.venv").exists()


@needs_root
def test_who_may_not_install_packages_gets_one_command_to_run(launch: Launch, public: Path) -> None:
    """On a system without PostGIS; the launcher is told to look for it where there is none."""
    launcher = public / "project/sightline"
    launcher.write_text(re.sub(r"/usr/(lib/postgresql|pgsql)", "/nowhere", launcher.read_text()))
    shutil.chown(public / "project", "nobody")
    user = {"cwd": "/", "user": "nobody", "group": 65534, "extra_groups": []}
    told = launch("--version", launcher=launcher, path=public / "tools", **user)
    assert told.returncode == 2
    assert (
        "error: Installing packages needs more rights than you have.\nRun once:\n  sudo sh -c '"
        in told.stderr
    )
    (command,) = re.findall(r"sudo sh -c '(.*)'\n", told.stderr)
    assert "apt-get install -y -qq --no-install-recommends postgresql-postgis" in command
    assert command.index("create_main_cluster = false") < command.index("apt-get install")
    assert subprocess.run(["sh", "-n", "-c", command], check=False).returncode == 0
    # with a server of one's own there is nothing to install: it goes on to the Python packages
    shutil.chown(public / "project", "root")
    environment = {"SIGHTLINE_DATABASE_URL": "postgresql://me@elsewhere/games"}
    other = launch("--version", launcher=launcher, path=public / "tools", environment=environment, **user)
    assert f"Cannot write to {public}/project" in other.stderr
    assert "Installing packages" not in other.stderr


# In a bare Debian, from nothing: opt-in, since it takes minutes, the network and root.

BARE = os.environ.get("SIGHTLINE_BARE")
INSIDE = """
set -eu
mount -t proc proc /proc
mount -t tmpfs shm /dev/shm 2>/dev/null || true
cd /srv/sightline
export LC_ALL=C.UTF-8 HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
exec python3 /srv/measure.py
"""
MEASURE = """
import json, os, signal, subprocess, sys, time, urllib.request

def serve():
    started = time.time()
    process = subprocess.Popen(["./sightline", "serve"])
    while True:
        try:
            facts = json.load(urllib.request.urlopen("http://127.0.0.1:8765/healthz"))
            break
        except OSError:
            assert process.poll() is None, "it ended"
            time.sleep(0.02)
    seconds = time.time() - started
    page = urllib.request.urlopen("http://127.0.0.1:8765/static/vendor/leaflet/leaflet.js").status
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 0 and page == 200 and facts["status"] == "ok"
    return seconds

first, second = serve(), serve()
left = [name for name in os.listdir("/proc") if name.isdigit() and b"postgres" in open(f"/proc/{name}/cmdline", "rb").read()]
clusters = os.listdir("/etc/postgresql") if os.path.isdir("/etc/postgresql") else []
print(json.dumps({"first": first, "second": second, "running": left, "system clusters": clusters}))
"""


@pytest.mark.skipif(not BARE, reason="SIGHTLINE_BARE=1 runs it")
@pytest.mark.skipif(not IS_ROOT, reason="debootstrap wants root")
def test_from_nothing_on_a_bare_debian() -> None:
    if shutil.which("debootstrap") is None:
        pytest.fail("debootstrap is not installed: apt-get install debootstrap")
    with folder_of() as folder:
        root = folder / "root"
        packages = "python3,git,ca-certificates"
        run = subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={packages}", "bookworm", root], check=False
        )
        assert run.returncode == 0
        shutil.copytree(ROOT, root / "srv/sightline", ignore=LEFT_OUT, symlinks=True)
        (root / "srv/measure.py").write_text(MEASURE)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        # networks with a certificate authority of their own
        authorities = Path("/etc/ssl/certs/ca-certificates.crt")
        trusted = {}
        if authorities.exists():
            shutil.copy(authorities, root / "etc/ssl/certs/ca-certificates.crt")
            trusted = dict.fromkeys(("PIP_CERT", "NODE_EXTRA_CA_CERTS"), str(authorities))
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "chroot", root, "sh", "-c", INSIDE],
            stdout=subprocess.PIPE,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **trusted},
            text=True,
            check=False,
        )
        assert done.returncode == 0
        measured = json.loads(done.stdout.splitlines()[-1])
        print(measured)
        assert measured["running"] == []
        assert measured["system clusters"] == []
        assert measured["second"] < 3
