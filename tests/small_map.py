"""Small maps for tests, put straight into the tables."""

from __future__ import annotations

import functools
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.labels import Scheme
from db.maps import Hex, Map
from db.rulesets import FOLDER, RulesetFile, TerrainFile, read_form


@functools.cache
def scheme_of(ruleset: str) -> Scheme:
    return read_form(FOLDER / ruleset / "ruleset.yaml", RulesetFile).scheme


@functools.cache
def first_terrain(ruleset: str) -> str:
    return next(iter(read_form(FOLDER / ruleset / "terrain.yaml", TerrainFile).terrain))


def make_map(
    connection: Connection,
    name: str,
    extent: tuple[str, str],
    *,
    ruleset: str = "css",
    scheme: Scheme | None = None,
    **facts: Any,
) -> int:
    """A map of one terrain between two corner labels; its id."""
    scheme = scheme or scheme_of(ruleset)
    map_id = connection.execute(
        sa.insert(Map)
        .values(name=name, title=name, ruleset=ruleset, scheme=scheme.model_dump(mode="json"), **facts)
        .returning(Map.id)
    ).scalar_one()
    connection.execute(
        sa.insert(Hex),
        [
            {
                "map_id": map_id,
                "q": place.q,
                "r": place.r,
                "ruleset": ruleset,
                "label": scheme.label(place),
                "terrain": first_terrain(ruleset),
                "level": 0,
            }
            for place in scheme.rectangle(*extent)
        ],
    )
    return map_id
