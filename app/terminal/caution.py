"""What a command asks or refuses before anything is lost."""

from __future__ import annotations

from pathlib import Path

import click

from db import SightlineError


def confirm(question: str, yes: bool) -> None:
    """Ask, unless `yes` was said beforehand; any other answer ends the command."""
    if not yes:
        click.confirm(question, abort=True)


def refuse_overwriting(file: Path, force: bool) -> None:
    """Nothing that is there is lost unasked."""
    if file.exists() and not force:
        raise SightlineError(f"{file} exists already.", "Choose another name, or add --force.")
