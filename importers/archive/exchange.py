"""A campaign to a file, in whatever form its name asks for."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

from sqlalchemy.engine import Connection

from db import SightlineError
from importers.archive.gis import write_geojson, write_geopackage
from importers.archive.qgis import write_project
from importers.archive.writing import campaign_tables, write_campaign

FORMATS = {
    "yaml": (".yaml", ".yml"),
    "json": (".json",),
    "csv": (".zip", ""),
    "geojson": (".geojson",),
    "gpkg": (".gpkg",),
    "qgis": (".qgs",),
}
"""The forms of a campaign, and how files of each end; a folder is CSV."""
PRINTED = ("yaml", "json", "geojson")
"""Forms that are text in one piece."""


def form_of(path: Path) -> str:
    """The form that a file's name asks for."""
    for form, endings in FORMATS.items():
        if path.suffix.lower() in endings:
            return form
    known = ", ".join(ending for endings in FORMATS.values() for ending in endings if ending)
    raise SightlineError(f"{path.name} has an ending that no form of a campaign has.", f"There are {known}.")


def campaign_text(
    connection: Connection, name: str, form: str, known: datetime.datetime | None = None
) -> str:
    """A campaign as text."""
    if form == "geojson":
        return write_geojson(connection, name, known)
    return write_campaign(connection, name, form, known)


def export_campaign(
    connection: Connection, name: str, path: Path, form: str, known: datetime.datetime | None = None
) -> list[Path]:
    """Write a campaign to a file, or the files that belong together; gives back which."""
    if form in PRINTED:
        path.write_text(campaign_text(connection, name, form, known), encoding="utf-8")
    elif form == "gpkg":
        path.unlink(missing_ok=True)
        write_geopackage(connection, name, path, known)
    elif form == "qgis":
        return write_project(connection, name, path, known)
    else:
        return _write_tables(campaign_tables(connection, name, known), path)
    return [path]


def _write_tables(files: dict[str, str], path: Path) -> list[Path]:
    if path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file, text in files.items():
                archive.writestr(file, text)
        return [path]
    path.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        (path / file).write_text(text, encoding="utf-8", newline="")
    return [path / file for file in files]
