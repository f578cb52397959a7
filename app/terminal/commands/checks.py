"""`sightline test`: every check of the project, for its developers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

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
    linters = _linters() if (lint if lint is not None else not selected) else []
    workers = [] if selected else ["-n", "auto", "--dist", "worksteal", "--durations", "15"]
    chosen = ["-k", expression] if expression else []
    with ThreadPoolExecutor(max_workers=1) as beside:
        # one after the other beside the tests, which leave the processors idle now and then
        linting = [(name, beside.submit(_lint, name, command)) for name, command in linters]
        try:
            tested = _test([*workers, *chosen, *pytest_arguments])
        except KeyboardInterrupt:
            beside.shutdown(cancel_futures=True)
            raise
    failed = []
    for name, found in linting:
        if found.result() is not None:
            out.print(f"[bold red]{name}:[/bold red]")
            print(found.result(), flush=True)
            failed.append(name)
    if not tested:
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


def _lint(name: str, command: list[str]) -> str | None:
    """Run a linter and tell how it went; what it found, if it found anything, is told after the tests."""
    started = time.perf_counter()
    result = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    _tell(name, result.returncode, started)
    return None if result.returncode == 0 else result.stdout


def _test(arguments: list[str]) -> bool:
    started = time.perf_counter()
    say("pytest …")
    # bytecode is kept: without it every worker and every command that a test starts compiles the project anew
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], cwd=CHECKOUT, env=environment, check=False
    )
    _tell("pytest", result.returncode, started)
    return result.returncode == 0


def _tell(name: str, status: int, started: float) -> None:
    say(f"{name} {'FAILED' if status else 'ok'} ({time.perf_counter() - started:.1f} s)")


COMMANDS = [test]
