"""The command line `sightline`.

Each module of `app.terminal.commands` holds the commands of one subject, and is found by itself;
it is imported when one of them is asked for. Exit status: 0 it is so, 1 it is not (an
expectation fails, a check fails), 2 it could not be done (bad input, no server).
"""

from __future__ import annotations

import functools
import gc
import os
import sys

import click

from app.terminal import catalogue
from db import SightlineError, __version__


class Commands(click.Group):
    """The commands of the catalogue, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(catalogue.entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = catalogue.entries().get(cmd_name)
        if entry is None:
            return None
        return next(command for command in _loaded(entry.module) if command.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        found = catalogue.entries().values()
        limit = formatter.width - 6 - max(len(entry.name) for entry in found)
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.short_help(limit)) for entry in found])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="sightline")
def cli() -> None:
    """The referee's database for hex-and-counter wargames.

    A ruling is a query, and its answer is a proof: every answer lists every rule that made it.

    \b
    Examples:
      sightline serve                       pages and API on http://127.0.0.1:8765
      sightline db status                   is the database there, and current?
      sightline COMMAND --help              what a command takes, with examples
    """


@functools.cache
def _loaded(module: str) -> list[click.Command]:
    """A module's commands. What is loaded for them stays: nobody need look for garbage in it, now or later."""
    gc.disable()
    try:
        return catalogue.load(module)
    finally:
        gc.enable()
        gc.freeze()


def gather() -> click.Group:
    """The command group with every module's commands in it."""
    for module in catalogue.modules():
        for command in catalogue.load(module):
            cli.add_command(command)
    return cli


def main() -> None:
    """Run the command line; a mistake is told in words, not in a traceback."""
    try:
        status = cli(prog_name="sightline", standalone_mode=False)
        sys.stdout.flush()
        # click hands back the status of click.exceptions.Exit, else what the command returned
        sys.exit(status if isinstance(status, int) else 0)
    except SightlineError as error:
        _complain(error.message, error.remedy)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        print("stopped; nothing was changed by the interrupted step", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:
        # whoever read our output has seen enough; nothing may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        told = _refused(error)
        if told is None:
            raise
        _complain(*told)


def _complain(message: str, remedy: str) -> None:
    """Tell what is wrong, and end."""
    from app.terminal.output import complain

    complain(message, remedy)
    sys.exit(2)


def _refused(error: Exception) -> tuple[str, str] | None:
    """What the database refuses, or that it does not answer; before anybody asked it, nothing knows its errors."""
    if "psycopg" not in sys.modules:
        return None
    import psycopg

    from db.refusals import cause, refusal

    known, said = refusal(error), cause(error)
    if known is not None:
        return f"{known.message} ({' '.join(str(said).split())})", known.remedy
    if isinstance(said, psycopg.OperationalError):
        return f"The database does not answer: {' '.join(str(said).split())}", "See `sightline db status`."
    return None


if __name__ == "__main__":
    main()
