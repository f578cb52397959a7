"""What the command line prints: colours and progress on a terminal, plain text and JSON elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text

from db.values import to_json

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

Tick = Callable[[int, int], None]


def say(message: str) -> None:
    """Tell what is being done, apart from the answer itself."""
    err.print(f"sightline: {message}", style="dim", markup=False)


def complain(message: str, remedy: str = "") -> None:
    """Tell what is wrong, and what to do about it."""
    err.print(Text.assemble(("error:", "bold red"), " ", message))
    if remedy:
        err.print(remedy, markup=False)


def print_json(value: Any) -> None:
    """JSON for programs, never wrapped or coloured."""
    print(to_json(value))


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]], title: str | None = None) -> None:
    """A table: boxed on a terminal, tab-separated for programs that read it."""
    if not out.is_terminal:
        for row in rows:
            print("\t".join("" if cell is None else str(cell) for cell in row))
        return
    import rich.box
    from rich.table import Table

    table = Table(*columns, title=title, box=rich.box.SIMPLE_HEAD, title_justify="left")
    for row in rows:
        # as text, in which brackets are not markup
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    out.print(table)


@contextmanager
def progress(what: str) -> Iterator[Tick]:
    """A bar on a terminal; elsewhere nothing."""
    if not err.is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
