"""`sightline test`: every check of the project, for its developers."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time

import click

from app.terminal.output import out, say
from db import SightlineError
from db.settings import CHECKOUT

PACKAGES = ("app", "db", "importers", "tests.bench")


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("-k", "expression", metavar="NAME", help="Only tests whose name matches; no linters.")
@click.option("--lint/--no-lint", default=None, help="Run the linters.  [default: if all tests are run]")
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def test(expression: str | None, lint: bool | None, pytest_arguments: tuple[str, ...]) -> None:
    """Run the linters and the tests on a throwaway cluster.

    \b
    Examples:
      ./sightline test                          everything, as CI does
      ./sightline test -k spine                 the tests with "spine" in their name
      ./sightline test tests/test_lattice.py -x
    """
    if importlib.util.find_spec("pytest") is None or not (CHECKOUT / "tests").is_dir():
        raise SightlineError(
            "The tests are part of the project's folder, not of an installed Sightline.",
            "Run ./sightline test there.",
        )
    selected = expression is not None or bool(pytest_arguments)
    failed = []
    for name, command in _linters() if (lint if lint is not None else not selected) else ():
        if not _run(name, command):
            failed.append(name)
    workers = [] if selected else ["-n", "auto", "--dist", "worksteal", "--durations", "15"]
    chosen = ["-k", expression] if expression else []
    if not _run("pytest", ["pytest", *workers, *chosen, *pytest_arguments]):
        failed.append("pytest")
    if failed:
        out.print(f"[bold red]failed:[/bold red] {', '.join(failed)}")
        raise click.exceptions.Exit(1)
    say("every check passed")


def _linters() -> list[tuple[str, list[str]]]:
    return [
        ("ruff check", ["ruff", "check", "--quiet", "."]),
        ("ruff format", ["ruff", "format", "--quiet", "--check", "."]),
        ("mypy", ["mypy", "--no-error-summary", *(f"-p{package}" for package in PACKAGES)]),
        ("sqlfluff", ["sqlfluff", "lint", "--disable-progress-bar", "-q", "sql"]),
    ]


def _run(name: str, command: list[str]) -> bool:
    say(f"{name} …")
    started = time.perf_counter()
    result = subprocess.run([sys.executable, "-m", *command], cwd=CHECKOUT, check=False)
    verdict = "ok" if result.returncode == 0 else "FAILED"
    say(f"{name} {verdict} ({time.perf_counter() - started:.1f} s)")
    return result.returncode == 0


COMMANDS = [test]
