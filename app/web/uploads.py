"""Maps and positions in and out at the web doors: what is sent, by the same gates as files on the command line."""

from __future__ import annotations

import dataclasses
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from sqlalchemy.engine import Connection

from app.web.site import engine
from db import SightlineError
from db.values import to_json
from importers.documents import Problems
from importers.maps import FORMATS, ImportReport, export_map, import_map
from importers.positions import PositionReport, import_position, position_tree, write_position

ENDINGS = {ending.removeprefix("."): form for form, (ending, *_) in FORMATS.items()}
"""The forms of a map by how its file ends, each once: yaml, json, zip, geojson, gpkg."""
TYPES = {
    "yaml": "application/yaml",
    "json": "application/json",
    "zip": "application/zip",
    "geojson": "application/geo+json",
    "gpkg": "application/geopackage+sqlite3",
}
"""What each of them is sent as."""
LONGEST_NAME = 80
Report = TypeVar("Report", ImportReport, PositionReport)


def map_in(content: bytes, file: str, name: str | None = None, *, replace: bool = False) -> ImportReport:
    """Bring a map that was sent into the database, whole or not at all."""
    return _in(
        content, file, lambda connection, path: import_map(connection, path, name=name, replace=replace)
    )


def position_in(content: bytes, file: str, *, replace: bool = False) -> PositionReport:
    """Bring a position that was sent into the database, whole or not at all."""
    return _in(content, file, lambda connection, path: import_position(connection, path, replace=replace))


def _in(content: bytes, file: str, gate: Callable[[Connection, Path], Report]) -> Report:
    with tempfile.TemporaryDirectory(prefix="sightline-") as folder:
        path = Path(folder) / _plain(file)
        path.write_bytes(content)
        with _as_sent(folder), engine().begin() as connection:
            return gate(connection, path)


def _plain(file: str) -> str:
    """The name of a file without what could lead elsewhere; its ending says what form it is in."""
    name = re.sub(r"[^\w.-]", "_", Path(file.replace("\\", "/")).name)[-LONGEST_NAME:].lstrip(".")
    return name or "file.yaml"


@contextmanager
def _as_sent(folder: str) -> Iterator[None]:
    """A mistake is told by the name that the file was sent under, not by where it lay meanwhile."""
    try:
        yield
    except Problems as problems:
        raise Problems(
            dataclasses.replace(problem, file=problem.file.removeprefix(f"{folder}/"))
            for problem in problems.found
        ) from None


def map_out(connection: Connection, name: str, ending: str) -> bytes:
    """A map as a file of one of `ENDINGS`."""
    if ending not in ENDINGS:
        raise SightlineError(f"A map is not written as {ending[:20]!r}.", f"Forms: {', '.join(ENDINGS)}.")
    with tempfile.TemporaryDirectory(prefix="sightline-") as folder:
        return export_map(connection, name, Path(folder) / f"map.{ending}", ENDINGS[ending]).read_bytes()


def position_out(connection: Connection, name: str, ending: str) -> bytes:
    """A position as YAML or JSON."""
    if ending not in ("yaml", "json"):
        raise SightlineError(f"A position is not written as {ending[:20]!r}.", "Forms: yaml, json.")
    if ending == "json":
        return to_json(position_tree(connection, name), indent=1).encode()
    return write_position(connection, name).encode()
