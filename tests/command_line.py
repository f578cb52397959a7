"""The command line in this process, on a database of its own: quicker than a real one."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
from typing import Any
from unittest import mock

from sqlalchemy.engine import URL, Engine

from app.terminal.cli import main
from db.database import make_engine


@dataclasses.dataclass(frozen=True)
class Told:
    """How a command ended and what it said."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        assert self.status == 0, self.err
        return json.loads(self.out)


class CommandLine:
    """`sightline` with one database."""

    def __init__(self, url: URL) -> None:
        self.url = url

    def __call__(self, *arguments: object, typed: str = "") -> Told:
        out, err = io.StringIO(), io.StringIO()
        status = -1
        with (
            mock.patch.dict(os.environ, SIGHTLINE_DATABASE_URL=self.address),
            mock.patch("sys.argv", ["sightline", *map(str, arguments)]),
            mock.patch("sys.stdin", io.StringIO(typed)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as stop:
                status = int(stop.code or 0)
        assert "Traceback" not in err.getvalue()
        return Told(status, out.getvalue(), err.getvalue())

    @property
    def address(self) -> str:
        return self.url.set(drivername="postgresql").render_as_string(hide_password=False)

    @contextlib.contextmanager
    def engine(self) -> Any:
        """The same database from inside."""
        engine: Engine = make_engine(self.url)
        try:
            yield engine
        finally:
            engine.dispose()
