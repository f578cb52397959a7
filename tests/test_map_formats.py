"""The forms of a map: whatever is written is read again as the same map."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import zipfile
from decimal import Decimal
from pathlib import Path

import pyogrio
import pytest
import shapely
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection

from db.labels import Axial, Board, Scheme, side_hexes
from db.rulesets import CODES
from importers.documents import Problems, read_document
from importers.map_draft import (
    GRID,
    AreaDraft,
    ControlPoint,
    CrestDraft,
    FeatureDraft,
    Georeference,
    HexDraft,
    MapDraft,
    PathDraft,
    vocabulary,
)
from importers.map_formats import read_root, write_tables
from importers.map_gis import write_geojson, write_geopackage
from importers.map_reading import PLACES
from importers.map_writing import write_json, write_yaml
from importers.maps import export_map, import_map, load_draft, read_map_file, store_map

FILES = {
    "yaml": "map.yaml",
    "json": "map.json",
    "geojson": "map.geojson",
    "geopackage": "map.gpkg",
    "csv": "map.zip",
    "csv folder": "map",
}
some = settings(max_examples=40, deadline=None)
few = settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
names = st.none() | texts.filter(bool)
points = st.tuples(st.integers(-20 * GRID, 60 * GRID), st.integers(-20 * GRID, 60 * GRID))
JOINED = Scheme(
    columns="letters",
    row_digits=1,
    boards=(
        Board(board="20", columns=8, rows=6),
        Board(board="21", columns=8, rows=6, at=(7, 1), rotated=True),
    ),
)


@st.composite
def schemes(draw: st.DrawFn, ruleset: str) -> Scheme:
    usual = vocabulary(ruleset).scheme
    if draw(st.booleans()):
        return usual
    changes = {
        "orientation": draw(st.sampled_from(["flat", "pointed"])),
        "shifted": draw(st.sampled_from(["odd", "even"])),
        "shift": draw(st.sampled_from(["up", "down"])),
        "row_direction": draw(st.sampled_from(["up", "down"])),
    }
    own = Scheme.model_validate(usual.model_dump() | changes)
    return draw(st.sampled_from([own, own, JOINED]))


@st.composite
def ground(draw: st.DrawFn, scheme: Scheme) -> list[Axial]:
    """The hexes of a map: a whole rectangle, or one with holes."""
    if scheme.boards:
        hexes = scheme.rectangle("20-A1", draw(st.sampled_from(["20-H6", "20-D4", "21-A1"])))
    else:
        first = scheme.label(
            scheme.hex("01.01" if scheme.separator else "0101" if scheme.columns == "digits" else "A1")
        )
        second = {".": "06.07", "": "0607"}[scheme.separator] if scheme.columns == "digits" else "F7"
        hexes = scheme.rectangle(first, second)
    holes = draw(st.sets(st.sampled_from(hexes), max_size=draw(st.sampled_from([0, 0, 3, 30]))))
    return [place for place in hexes if place not in holes] or hexes


@st.composite
def chains(draw: st.DrawFn, hexes: list[Axial]) -> tuple[Axial, ...]:
    walk = [draw(st.sampled_from(hexes))]
    for direction in draw(st.lists(st.integers(1, 6), min_size=1, max_size=8)):
        if walk[-1].beside(direction) in hexes:
            walk.append(walk[-1].beside(direction))
    assume(len(walk) > 1)
    return tuple(walk)


@st.composite
def areas(draw: st.DrawFn, terrain: tuple[str, ...]) -> AreaDraft:
    """A triangle, or a square with a hole."""
    kind = draw(st.sampled_from(terrain))
    if draw(st.booleans()):
        corners = draw(st.lists(points, min_size=3, max_size=3, unique=True))
        assume(shapely.Polygon(corners).is_valid and shapely.Polygon(corners).area > 0)
        return AreaDraft(kind, (tuple(corners),))
    (x, y), size = draw(points), draw(st.integers(10, 5000))
    outside = ((x, y), (x + size, y), (x + size, y + size), (x, y + size))
    inside = ((x + 1, y + 1), (x + 1, y + 4), (x + 3, y + 4))
    return AreaDraft(kind, (outside, inside))


@st.composite
def crests(draw: st.DrawFn, levels: tuple[int, int]) -> CrestDraft:
    line = draw(st.lists(points, min_size=2, max_size=5, unique=True))
    return CrestDraft(draw(st.integers(*levels)), tuple(line))


@st.composite
def features(draw: st.DrawFn, ruleset: str, hexes: list[Axial]) -> FeatureDraft:
    places = st.frozensets(st.sampled_from(hexes), max_size=4)
    if ruleset == "ddp" and draw(st.booleans()):
        at = draw(st.frozensets(st.sampled_from(hexes), min_size=1, max_size=2))
        printed = st.fixed_dictionaries(
            {}, optional={"color": st.just("blue"), "artillery": st.just(True), "mountaintop": st.just(True)}
        )
        return FeatureDraft("position", at, draw(places), draw(places), draw(printed))
    value = texts | st.integers(-(2**40), 2**40) | st.booleans()
    attributes = st.dictionaries(texts, value | st.lists(value, max_size=2), max_size=2)
    return FeatureDraft(draw(st.sampled_from(PLACES)), draw(places), attributes=draw(attributes))


@st.composite
def georeferences(draw: st.DrawFn, hexes: list[Axial]) -> Georeference | None:
    """Three points of regular hexes, north up, somewhere in the Marianas."""
    corner = next((place for place in hexes if {place.beside(3), place.beside(4)} <= set(hexes)), None)
    if corner is None or draw(st.booleans()):
        return None
    east, north = draw(st.integers(200_000, 300_000)), draw(st.integers(1_400_000, 1_500_000))
    return Georeference(
        32655,
        tuple(
            ControlPoint(
                place,
                Decimal(east) + Decimal("346.41") * place.q,
                Decimal(north) - 200 * (2 * place.r + place.q),
            )
            for place in (corner, corner.beside(3), corner.beside(4))
        ),
    )


@st.composite
def drafts(draw: st.DrawFn, ruleset: str) -> MapDraft:
    words = vocabulary(ruleset)
    scheme = draw(schemes(ruleset))
    hexes = draw(ground(scheme))
    filled = st.builds(
        HexDraft,
        st.sampled_from(words.terrain[:3]),
        st.integers(words.base_level, words.base_level + 2),
        st.sets(st.sampled_from(words.features)).map(
            lambda found: tuple(w for w in words.features if w in found)
        )
        if words.features
        else st.just(()),
        names,
    )
    usual = draw(filled)
    own = draw(st.dictionaries(st.sampled_from(hexes), filled, max_size=8))
    sides = st.tuples(st.sampled_from(hexes), st.integers(1, 6), st.sampled_from(words.hexsides or ("none",)))
    return MapDraft(
        ruleset,
        scheme,
        name="a-map",
        title=draw(texts.filter(bool)),
        meters_per_hex=draw(st.none() | st.integers(1, 5000)),
        note=draw(texts),
        hexes={
            place: own.get(place, HexDraft(usual.terrain, usual.level, usual.features)) for place in hexes
        },
        hexsides={
            (place.q + place.beside(direction).q, place.r + place.beside(direction).r, kind)
            for place, direction, kind in draw(st.lists(sides, max_size=8))
        }
        if words.hexsides
        else set(),
        paths=draw(
            st.lists(st.builds(PathDraft, st.sampled_from(words.paths), chains(hexes), names), max_size=3)
        ),
        areas=draw(st.lists(areas(words.terrain), max_size=3)),
        crests=draw(st.lists(crests(words.levels), max_size=3)),
        features=draw(st.dictionaries(texts.filter(str.strip), features(ruleset, hexes), max_size=3)),
        georeference=draw(georeferences(hexes)),
    )


def write(draft: MapDraft, form: str, path: Path) -> None:
    if form == "geopackage":
        write_geopackage(draft, path)
    elif form == "csv":
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in write_tables(draft).items():
                archive.writestr(name, text)
    elif form == "csv folder":
        path.mkdir()
        for name, text in write_tables(draft).items():
            (path / name).write_text(text, encoding="utf-8", newline="")
    else:
        text = {"yaml": write_yaml, "json": write_json, "geojson": write_geojson}[form](draft)
        path.write_text(text, encoding="utf-8", newline="")


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("ruleset", CODES)
@settings(parent=some, max_examples=15)
@given(data=st.data())
def test_a_map_that_is_written_is_read_as_the_same(form: str, ruleset: str, data: st.DataObject) -> None:
    draft = data.draw(drafts(ruleset))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / FILES[form]
        write(draft, form, path)
        found = read_map_file(path)
    assert found == draft
    assert found.moved < Fraction_of_a_grid_step


Fraction_of_a_grid_step = 1 / (100 * GRID)


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("ruleset", CODES)
@few
@given(data=st.data())
def test_a_map_that_is_exported_is_imported_as_the_same(
    connection: Connection, form: str, ruleset: str, data: st.DataObject
) -> None:
    draft = data.draw(drafts(ruleset))
    with tempfile.TemporaryDirectory() as folder, connection.begin_nested() as savepoint:
        path = Path(folder) / FILES[form]
        store_map(connection, draft)
        assert load_draft(connection, "a-map") == draft
        export_map(connection, "a-map", path)
        report = import_map(connection, path, replace=True)
        assert report.replaced
        assert report.hexes == len(draft.hexes)
        assert load_draft(connection, report.map_id) == draft
        savepoint.rollback()
