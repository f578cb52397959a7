"""`POST /api/v1/maps` and `/positions`: maps and positions sent by programs, with the checks of the command line."""

from __future__ import annotations

import dataclasses
from typing import Any

import flask
from flask import Response, request
from flask_openapi3 import APIBlueprint
from pydantic import BaseModel, Field

from app.web.api import PREFIX, problems
from app.web.api.maps import MAPS, MapPath, PositionPath
from app.web.api.rulings import Words
from app.web.site import engine
from app.web.uploads import map_in, position_in
from importers.maps import delete_map
from importers.positions import delete_position

api = APIBlueprint("uploads_api", __name__, url_prefix=PREFIX)
FORMS: dict[str, Any] = {
    "type": "object",
    "description": "As a file has it: see the documentation of maps and positions",
}
BODY = {
    "description": "The map or position as a file has it, in YAML or JSON; a map also in GeoJSON",
    "required": True,
    "content": {"application/json": {"schema": FORMS}, "application/yaml": {"schema": FORMS}},
}


class MapTaken(BaseModel):
    """A map that was brought in, and what was assumed."""

    name: str
    ruleset: str
    format: str
    replaced: bool
    hexes: int
    hexsides: int
    paths: int
    areas: int
    crests: int
    features: int
    notices: list[str] = Field(description="What the file does not say and was assumed")


class PositionTaken(BaseModel):
    """A position that was brought in."""

    name: str
    title: str
    ruleset: str
    map: str
    replaced: bool
    units: int
    markers: int
    notices: list[str]


class PositionQuery(BaseModel):
    """How a position is brought in."""

    replace: bool = Field(False, description="Whether the one of that name, if any, makes room")


class MapQuery(PositionQuery):
    """How a map is brought in."""

    name: Words | None = Field(None, description="Another name than the document's")


@api.post(
    "/maps",
    tags=[MAPS],
    responses={"201": MapTaken, **problems(400, 413, 415, 422)},
    openapi_extensions={"requestBody": BODY},
)
def add_map(query: MapQuery) -> tuple[Response, int]:
    """Bring a map in, whole or not at all; every mistake of the document is told."""
    report = map_in(request.get_data(cache=False), f"map.{_ending()}", query.name, replace=query.replace)
    told = {name: value for name, value in dataclasses.asdict(report).items() if name != "map_id"}
    return flask.jsonify(told), 201


@api.post(
    "/positions",
    tags=[MAPS],
    responses={"201": PositionTaken, **problems(400, 413, 415, 422)},
    openapi_extensions={"requestBody": BODY},
)
def add_position(query: PositionQuery) -> tuple[Response, int]:
    """Bring a position in, whole or not at all; every mistake of the document is told."""
    report = position_in(request.get_data(cache=False), f"position.{_ending()}", replace=query.replace)
    return flask.jsonify(dataclasses.asdict(report)), 201


@api.delete("/maps/<name>", tags=[MAPS], responses={"204": None, **problems(400, 404)})
def remove_map(path: MapPath) -> tuple[str, int]:
    """Delete a map on which no position stands and no game is played."""
    with engine().begin() as connection:
        delete_map(connection, path.name.replace("\0", "\ufffd"))
    return "", 204


@api.delete("/positions/<name>", tags=[MAPS], responses={"204": None, **problems(400, 404)})
def remove_position(path: PositionPath) -> tuple[str, int]:
    """Delete a saved position; its map stays."""
    with engine().begin() as connection:
        delete_position(connection, path.name.replace("\0", "\ufffd"))
    return "", 204


def _ending() -> str:
    """How a file of what was sent would end."""
    if request.mimetype == "application/geo+json":
        return "geojson"
    return "yaml" if request.mimetype.endswith("yaml") else "json"
