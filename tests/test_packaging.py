"""The wheel: it holds everything it needs, and serves from a clean virtual environment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

from processes import ROOT, Serving, free_port, get, wait_until

from db.schema import head_revision
from tests.conftest import Databases

ROOMS = ("app", "db", "importers", "sql")


def run(*command: str | Path) -> None:
    """Run a step of the installation; what it printed is shown if it fails."""
    done = subprocess.run(
        command, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"


def shipped() -> set[str]:
    """Every file of the four rooms, as the wheel should have it, and the cases of the suite beside the rulesets."""
    cases = ROOT / "tests" / "cases"
    return {
        path.relative_to(ROOT).as_posix()
        for room in ROOMS
        for path in (ROOT / room).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    } | {
        f"db/rulesets/cases/{path.relative_to(cases).as_posix()}"
        for path in cases.rglob("*")
        if path.is_file()
    }


def test_a_wheel_in_a_clean_environment_serves(databases: Databases, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
    run(base, "-m", "venv", environment)
    pip = (environment / "bin" / "python", "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "--quiet", "--no-deps", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("sightline-*.whl")

    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == shipped()
    for needed in ("sql/lattice/trace.sql", "db/rulesets/css/terrain.yaml", "app/web/templates/home.html"):
        assert needed in held
    for folder in ("db/demo/", "db/migrations/versions/", "app/web/static/"):
        assert any(name.startswith(folder) for name in held), folder

    lock = ROOT / "requirements.lock"
    run(*pip, "install", "--quiet", "--no-compile", "--require-hashes", "-r", lock)
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel)
    run(*pip, "check")

    url = databases.make(template=None).set(drivername="postgresql").render_as_string()
    port = free_port()
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SIGHTLINE_", "PYTHONPATH", "VIRTUAL_ENV"))
    }
    process = subprocess.Popen(
        [environment / "bin" / "sightline", "serve", "--port", str(port)],
        cwd=tmp_path,
        env={**inherited, "SIGHTLINE_DATABASE_URL": url, "HOME": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    server = Serving(process, port)
    try:
        wait_until(server.answers, 90)
        facts = json.loads(get(server.address + "/healthz")[1])
        assert facts["revision"] == head_revision()
        assert get(server.address + "/")[0] == 200
        assert get(server.address + "/static/sightline.css")[0] == 200
        assert get(server.address + "/api/docs/")[0] == 200
        index = json.loads(get(server.address + "/api/v1/rules/css/index")[1])
        cited = {place["file"].partition("/")[0] for rule in index["cited"] for place in rule["places"]}
        assert cited == {"sql", "app", "db"}, "the index is made of the installed sources"
        assert server.stop(signal.SIGTERM) == 0, server.told()
    finally:
        if process.poll() is None:
            server.stop(signal.SIGKILL)
    assert not (tmp_path / ".local").exists(), "a server of its own was begun"
