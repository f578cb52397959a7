"""The command line `sightline`.

Each module of `app.terminal.commands` holds the commands of one subject, and is found by itself.
Exit status: 0 it is so, 1 it is not (an expectation fails, a check fails), 2 it could not
be done (bad input, no server).
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys

import click
from sqlalchemy.exc import OperationalError

from app.terminal import commands
from app.terminal.output import complain, err
from db import SightlineError, __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
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


def gather() -> click.Group:
    """The command group with every module's commands in it."""
    for found in pkgutil.iter_modules(commands.__path__):
        module = importlib.import_module(f"{commands.__name__}.{found.name}")
        for command in module.COMMANDS:
            cli.add_command(command)
    return cli


def main() -> None:
    """Run the command line; a mistake is told in words, not in a traceback."""
    try:
        status = gather()(prog_name="sightline", standalone_mode=False)
        sys.stdout.flush()
        # click hands back the status of click.exceptions.Exit, else what the command returned
        sys.exit(status if isinstance(status, int) else 0)
    except SightlineError as error:
        complain(error.message, error.remedy)
        sys.exit(2)
    except OperationalError as error:
        complain(
            f"The database does not answer: {' '.join(str(error.orig).split())}", "See `sightline db status`."
        )
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        err.print("stopped; nothing was changed by the interrupted step")
        sys.exit(2)
    except BrokenPipeError:
        # whoever read our output has seen enough; nothing may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


if __name__ == "__main__":
    main()
