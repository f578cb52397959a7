"""The GIS forms of a map: GeoJSON and GeoPackage, with the same six layers.

A georeferenced map lies in its place in the world, in its own CRS. Any other has lattice units
turned upright: x to the right, y up, columns 3 units apart, a hex 2 units high, every number
exact. Labels are the truth: the shapes of hexes, hexsides and paths are written for the eye
and not read; those of areas and crests are read, and fall on their lattice points again.
"""

from __future__ import annotations

import json
import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyogrio  # type: ignore[import-untyped]
import pyogrio.errors  # type: ignore[import-untyped]
import pyogrio.raw  # type: ignore[import-untyped]
import shapely
from shapely.geometry.base import BaseGeometry

from db import SightlineError
from db.labels import Axial, side_corners
from db.map_draft import GRID, Line, MapDraft, vocabulary
from importers.documents import Node, Problem, Problems, read_document, resolved
from importers.georeference import GeoreferenceError, fit
from importers.map_formats import hexes_node, hexsides_node, paths_node, read_ruleset, split
from importers.map_reading import Plane, ToLattice, read_map
from importers.map_writing import about, flow, side_kinds

LAYERS = {
    "hex": ("label", "terrain", "level", "features", "name"),
    "hexside": ("hexside", "kind"),
    "path": ("kind", "name", "hexes"),
    "terrain_area": ("n", "terrain"),
    "crest": ("n", "level"),
    "map_feature": ("code", "kind", "hexes", "intense", "steady", "attributes"),
}
NEEDED = {
    "hex": ("label",),
    "hexside": ("hexside", "kind"),
    "path": ("kind", "hexes"),
    "terrain_area": ("terrain",),
    "crest": ("level",),
    "map_feature": ("code", "kind"),
}
SHAPES = {
    "hex": "Polygon",
    "hexside": "LineString",
    "path": "LineString",
    "terrain_area": "Polygon",
    "crest": "LineString",
    "map_feature": "MultiPoint",
}
READ = ("terrain_area", "crest")
"""Layers whose shapes are read."""
ABOUT = ("name", "title", "ruleset", "scale", "source", "note", "scheme", "georeference")
"""Columns of the GeoPackage's table `map`; members of the GeoJSON's `sightline`."""
IGNORED = ("fid", "id")
"""Columns that GIS programs add of themselves."""
LATTICE = 'LOCAL_CS["Lattice of hexes, y up",UNIT["lattice unit",1]]'
WGS84 = 4326
CRS84 = "urn:ogc:def:crs:OGC:1.3:CRS84"
"""How GeoJSON calls longitude and latitude, in this order."""
MAX_FEATURES = 1_000_000

Ring = list[tuple[Fraction, Fraction]]


class Drawn(NamedTuple):
    """A feature to be written."""

    properties: dict[str, Any]
    shape: BaseGeometry | None


class Feature(NamedTuple):
    """A feature that was read: its layer, its properties, and its shape as parts of rings."""

    layer: str
    row: Node
    parts: list[list[Ring]] | None


def plane(draft: MapDraft) -> Callable[[float, float], tuple[float, float]]:
    """From the lattice of a map to where its shapes are written: in the world, or upright on paper."""
    if draft.georeference is not None:
        a, b, d, e, xoff, yoff = map(float, fit(draft.georeference.points))
        return lambda x, y: (a * x + b * y + xoff, d * x + e * y + yoff)
    if draft.scheme.orientation == "pointed":
        return lambda x, y: (-y, -x)
    return lambda x, y: (x, -y)


def from_upright(draft: MapDraft) -> ToLattice:
    """The way back from paper."""
    if draft.scheme.orientation == "pointed":
        return lambda x, y: (-y, -x)
    return lambda x, y: (x, -y)


def from_world(draft: MapDraft) -> ToLattice:
    """The way back from the world, by the control points of the map."""
    if draft.georeference is None:
        return from_upright(draft)
    a, b, d, e, xoff, yoff = affine = fit(draft.georeference.points)
    size = affine.determinant

    def to_lattice(x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        east, north = x - xoff, y - yoff
        return (e * east - b * north) / size, (a * north - d * east) / size

    return to_lattice


# Writing


def write_geojson(draft: MapDraft) -> str:
    """A draft as a FeatureCollection, one feature to a line."""
    features = [
        flow(
            {
                "type": "Feature",
                "properties": {"layer": layer} | drawn.properties,
                "geometry": None if drawn.shape is None else shapely.geometry.mapping(drawn.shape),
            },
            json.dumps,
        )
        for layer, rows in layers(draft).items()
        for drawn in rows
    ]
    head = f'"sightline": {flow(about(draft), json.dumps)}'
    if draft.georeference is not None:
        name = {"name": _urn(draft.georeference.srid)}
        head = f'"crs": {json.dumps({"type": "name", "properties": name})},\n{head}'
    listed = ",\n".join(features)
    return f'{{"type": "FeatureCollection",\n{head},\n"features": [\n{listed}\n]}}\n'


def _urn(srid: int) -> str:
    return CRS84 if srid == WGS84 else f"urn:ogc:def:crs:EPSG::{srid}"


def write_geopackage(draft: MapDraft, path: Path) -> None:
    """A draft as a GeoPackage with a layer of each kind, empty ones included."""
    try:
        _write_layers(draft, path)
    except pyogrio.errors.CRSError as error:
        raise SightlineError(
            f"The programs that write a GeoPackage do not know {_crs(draft)}.",
            "Export the map in another form, or georeference it in another CRS.",
        ) from error
    head = about(draft)
    cells = [value if isinstance(value := head.get(name), str | None) else flow(value) for name in ABOUT]
    pyogrio.raw.write(
        path, None, [np.array([cell], object) for cell in cells], list(ABOUT), layer="map", driver="GPKG"
    )


def _crs(draft: MapDraft) -> str:
    return LATTICE if draft.georeference is None else f"EPSG:{draft.georeference.srid}"


def _write_layers(draft: MapDraft, path: Path) -> None:
    for layer, rows in layers(draft).items():
        columns = [[_cell(drawn.properties.get(name)) for drawn in rows] for name in LAYERS[layer]]
        pyogrio.raw.write(
            path,
            np.array(
                [None if drawn.shape is None else shapely.to_wkb(drawn.shape) for drawn in rows], object
            ),
            [
                np.array(column, np.int32 if name in ("n", "level") else object)
                for name, column in zip(LAYERS[layer], columns, strict=True)
            ],
            list(LAYERS[layer]),
            layer=layer,
            driver="GPKG",
            geometry_type=SHAPES[layer],
            crs=_crs(draft),
        )


def layers(draft: MapDraft) -> dict[str, list[Drawn]]:
    """Everything on a map as features of its layers."""
    scheme, shown = draft.scheme, plane(draft)

    def points(line: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        return [shown(x, y) for x, y in line]

    def artwork(line: Line) -> list[tuple[float, float]]:
        return points((x / GRID, y / GRID) for x, y in line)

    def labels(hexes: Iterable[Axial]) -> list[str]:
        return [scheme.label(place) for place in hexes]

    return {
        "hex": [
            Drawn(
                {
                    "label": scheme.label(place),
                    "terrain": hex.terrain,
                    "level": hex.level,
                    "features": list(hex.features),
                    "name": hex.name,
                },
                shapely.Polygon(points(place.corners)),
            )
            for place, hex in sorted(draft.hexes.items())
        ],
        "hexside": [
            Drawn(
                {"hexside": scheme.side_label(x, y), "kind": kind},
                shapely.LineString(points(side_corners(x, y))),
            )
            for (x, y), kinds in side_kinds(draft).items()
            for kind in kinds
        ],
        "path": [
            Drawn(
                {"kind": path.kind, "name": path.name, "hexes": labels(path.hexes)},
                shapely.LineString(points(place.center for place in path.hexes)),
            )
            for path in draft.paths
        ],
        "terrain_area": [
            Drawn(
                {"n": n, "terrain": area.terrain},
                shapely.Polygon(artwork(area.rings[0]), [artwork(ring) for ring in area.rings[1:]]),
            )
            for n, area in enumerate(draft.areas, 1)
        ],
        "crest": [
            Drawn({"n": n, "level": crest.level}, shapely.LineString(artwork(crest.line)))
            for n, crest in enumerate(draft.crests, 1)
        ],
        "map_feature": [
            Drawn(
                {
                    "code": code,
                    "kind": feature.kind,
                    "hexes": labels(sorted(feature.at)),
                    "intense": labels(sorted(feature.intense)),
                    "steady": labels(sorted(feature.steady)),
                    "attributes": feature.attributes,
                },
                shapely.MultiPoint(points(place.center for place in sorted(feature.at)))
                if feature.at
                else None,
            )
            for code, feature in draft.features.items()
        ],
    }


def _cell(value: Any) -> Any:
    """A value as a table has it: lists of words in one text, a mapping as JSON."""
    if isinstance(value, list):
        return " ".join(value) or None
    return (json.dumps(value, ensure_ascii=False) if value else None) if isinstance(value, dict) else value


# Reading


def read_geojson(path: Path, problems: Problems) -> MapDraft | None:
    """A map from a FeatureCollection."""
    root = read_document(path.read_bytes(), str(path), problems)
    return read_collection(root, problems)


def is_collection(root: Node) -> bool:
    """Whether a JSON document is GeoJSON."""
    kind = root.get("type")
    return kind is not None and kind.text == "FeatureCollection"


def read_collection(root: Node, problems: Problems) -> MapDraft | None:
    """A map from the root of a GeoJSON document; members that others add to it are passed over."""
    features = root.get("features")
    if not is_collection(root) or features is None:
        problems.add(root, "expected a GeoJSON FeatureCollection")
        return None
    head = root.get("sightline")
    if head is None:
        problems.add(root, "sightline is missing: the member that says which ruleset and map this is")
        return None
    found = [_geojson_feature(item, problems) for item in features.items(problems)]
    drawn = (feature for feature in found if feature is not None)
    return _read_features(head, drawn, {_named_crs(root)}, problems)


def _named_crs(root: Node) -> str | None:
    """The CRS that a collection says its shapes are in; none where they are on paper."""
    name = root.at(("crs", "properties", "name")).text
    if name is None:
        return None
    authority, _, code = name.upper().rpartition(":")
    return f"EPSG:{WGS84}" if code == "CRS84" else f"EPSG:{code}" if "EPSG" in authority else name


def _geojson_feature(node: Node, problems: Problems) -> Feature | None:
    row = node.get("properties")
    layer = None if row is None else row.get("layer")
    if row is None or layer is None:
        problems.add(node, f"the property layer is missing: one of {', '.join(LAYERS)}")
        return None
    name = layer.word(problems, "layer", tuple(LAYERS))
    if name is None or not isinstance(row.value, dict):
        return None
    row.value = {key: value for key, value in row.value.items() if key != "layer"}
    shape = node.get("geometry")
    if name not in READ or shape is None or shape.value is None:
        return Feature(name, row, None)
    return Feature(name, row, _geojson_parts(shape, problems))


def _geojson_parts(shape: Node, problems: Problems) -> list[list[Ring]]:
    kind, coordinates = shape.get("type"), shape.get("coordinates")
    if kind is None or coordinates is None:
        problems.add(shape, "a geometry has a type and coordinates")
        return []
    known = ("Polygon", "MultiPolygon", "LineString", "MultiLineString")
    name = kind.word(problems, "geometry", known)
    if name == "MultiPolygon":
        return [
            [_ring(ring, problems) for ring in part.items(problems)] for part in coordinates.items(problems)
        ]
    if name == "Polygon":
        return [[_ring(ring, problems) for ring in coordinates.items(problems)]]
    if name == "MultiLineString":
        return [[_ring(line, problems)] for line in coordinates.items(problems)]
    return [[_ring(coordinates, problems)]] if name else []


def _ring(node: Node, problems: Problems) -> Ring:
    points: Ring = []
    for item in node.items(problems):
        numbers = [part.number(problems) for part in item.items(problems)]
        if len(numbers) < 2:
            problems.add(item, f"a point has two numbers, not {len(numbers)}")
        elif numbers[0] is not None and numbers[1] is not None:
            points.append((numbers[0], numbers[1]))
    return points


def read_geopackage(path: Path, problems: Problems) -> MapDraft | None:
    """A map from a GeoPackage."""
    with path.open("rb") as stream:
        magic = stream.read(16)
    if magic != b"SQLite format 3\0":
        problems.found.append(Problem(str(path), None, "", "not a GeoPackage"))
        return None
    try:
        with warnings.catch_warnings():
            # what GDAL only doubts is checked below, as in every form
            warnings.simplefilter("ignore")
            names = [str(name) for name in pyogrio.list_layers(path)[:, 0]]
            root = Node(file=str(path))
            head = _head(root, path, names, problems)
            features = [
                feature
                for layer in LAYERS
                if layer in names
                for feature in _geopackage_features(root, path, layer)
            ]
            drawn_in = {_layer_crs(path, layer) for layer in READ if layer in names}
    except (
        pyogrio.errors.DataSourceError,
        pyogrio.errors.DataLayerError,
        pyogrio.errors.FeatureError,
        shapely.errors.ShapelyError,
        UnicodeDecodeError,
    ):
        problems.found.append(Problem(str(path), None, "", "not a GeoPackage that can be read"))
        return None
    return None if head is None else _read_features(head, features, drawn_in, problems)


def _layer_crs(path: Path, layer: str) -> str | None:
    """The CRS of a layer; none of one that is empty, or lies on paper."""
    told = pyogrio.read_info(path, layer=layer)
    crs = told["crs"] if told["features"] else None
    return None if crs is None or crs.startswith(("LOCAL_CS", "ENGCRS", "EngineeringCRS")) else str(crs)


def _head(root: Node, path: Path, names: list[str], problems: Problems) -> Node | None:
    """The one row of the table `map`."""
    if "map" not in names:
        problems.add(root, "the table map is missing: it says which ruleset and map this is")
        return None
    rows = list(_table_rows(root, path, "map"))
    if len(rows) != 1:
        problems.add(root.child("map"), f"the table map has one row, not {len(rows)}")
        return None
    head = rows[0][0]
    assert isinstance(head.value, dict)
    for key in ("scheme", "georeference"):
        if key in head.value:
            head.value[key] = _parsed(head.value[key], problems)
    scale = head.value.get("scale")
    if scale is not None and scale.text is not None:
        scale.value = resolved(scale.text)
    return head


def _geopackage_features(root: Node, path: Path, layer: str) -> Iterator[Feature]:
    for row, wkb in _table_rows(root, path, layer):
        if layer not in READ or wkb is None:
            yield Feature(layer, row, None)
            continue
        shape = shapely.force_2d(shapely.from_wkb(wkb))
        parts = [part for part in shapely.get_parts(shape) if not part.is_empty]
        yield Feature(layer, row, [_shape_rings(part) for part in parts])


def _shape_rings(shape: Any) -> list[Ring]:
    lines = [shape.exterior, *shape.interiors] if shape.geom_type == "Polygon" else [shape]
    return [
        [(Fraction(x), Fraction(y)) for x, y in line.coords if math.isfinite(x) and math.isfinite(y)]
        for line in lines
        if hasattr(line, "coords")
    ]


def _table_rows(root: Node, path: Path, layer: str) -> Iterator[tuple[Node, bytes | None]]:
    """The rows of a layer: the cells that are filled, and the shape."""
    meta, fids, shapes, columns = pyogrio.raw.read(
        path, layer=layer, return_fids=True, max_features=MAX_FEATURES, encoding="utf-8"
    )
    table = root.child(layer)
    for n, fid in enumerate(fids):
        row = table.child(f"feature {fid}")
        row.value = {}
        for name, column in zip(meta["fields"], columns, strict=True):
            value = column[n].item() if isinstance(column[n], np.generic) else column[n]
            if value is None or value == "" or value != value:
                continue
            if isinstance(value, float):
                value = int(value) if value.is_integer() else Decimal(repr(value))
            elif not isinstance(value, bool | int):
                value = str(value)
            row.value[str(name)] = row.child(str(name), value, str(value))
        yield row, None if shapes is None else shapes[n]


def _parsed(node: Node, problems: Problems) -> Node:
    """A mapping that stands in a cell as text."""
    if node.text is None:
        return node
    try:
        inner = read_document(node.text, node.file)
    except Problems as error:
        problems.add(node, "; ".join(problem.message for problem in error.found))
        return node.child("", {})
    _rebase(inner, node)
    return inner


def _rebase(inner: Node, outer: Node) -> None:
    """Let a tree that was read from a cell say the place of the cell."""
    inner.parent, inner.key, inner.line = outer.parent, outer.key, outer.line
    children = inner.value.values() if isinstance(inner.value, dict) else inner.value
    for child in children if isinstance(children, Iterable) and not isinstance(children, str) else ():
        _rebase(child, Node(parent=inner, key=child.key, line=outer.line))


def _read_features(
    head: Node, features: Iterable[Feature], drawn_in: set[str | None], problems: Problems
) -> MapDraft | None:
    """The map of a head and features, through the one tree; `drawn_in` has the CRSs of shapes that are read."""
    ruleset = read_ruleset(head, problems)
    rows: dict[str, list[Feature]] = defaultdict(list)
    for feature in features:
        row = feature.row
        keys = row.mapping(problems, (*LAYERS[feature.layer], *IGNORED))
        row.value = {key: node for key, node in keys.items() if key not in IGNORED and node.value is not None}
        if row.mapping(problems, None, NEEDED[feature.layer]).keys() >= set(NEEDED[feature.layer]):
            rows[feature.layer].append(feature)
    tree = Node(file=head.file, line=head.line, parent=head.parent, key=head.key)
    tree.value = {key: node for key, node in head.mapping(problems, ABOUT).items() if key != "ruleset"}
    sections = {
        "hexes": hexes_node([feature.row for feature in rows["hex"]]),
        "hexsides": hexsides_node([feature.row for feature in rows["hexside"]]),
        "paths": paths_node([feature.row for feature in rows["path"]]),
        "areas": Node(
            [
                area
                for feature in _in_order(rows["terrain_area"])
                for area in _areas(feature, problems, ruleset)
            ]
        ),
        "crests": Node(
            [crest for feature in _in_order(rows["crest"]) for crest in _crests(feature, problems)]
        ),
    }
    tree.value |= sections | _marked(rows["map_feature"], problems)
    return (
        None if ruleset is None else read_map(tree, ruleset, problems, _drawn_plane(head, drawn_in, problems))
    )


def _drawn_plane(head: Node, drawn_in: set[str | None], problems: Problems) -> Plane:
    """The way back to the lattice for shapes in some CRSs: from the map's own, or from paper."""
    own = head.at(("georeference", "crs"))
    others = sorted(crs for crs in drawn_in if crs is not None)
    if own.text is None or not others:
        # a map that lies nowhere in the world is on paper, whatever a GIS takes it for
        return from_upright
    placed = f"EPSG:{own.text.upper().removeprefix('EPSG:')}"
    for crs in others:
        if crs != placed:
            problems.add(own, f"the shapes are in {crs[:60]}, the map in {placed}; save them in {placed}")

    def from_own(draft: MapDraft) -> ToLattice:
        try:
            return from_world(draft)
        except GeoreferenceError as error:
            problems.add(own, f"{error.message.rstrip('.')}; {error.remedy}")
            return from_upright(draft)

    return from_own


def _in_order(features: list[Feature]) -> list[Feature]:
    """By their number on the map, those without one last."""

    def number(feature: Feature) -> float:
        n = feature.row.get("n")
        return n.value if n is not None and isinstance(n.value, int) else math.inf

    return sorted(features, key=number)


def _areas(feature: Feature, problems: Problems, ruleset: str | None) -> Iterator[Node]:
    parts = _parts(feature, problems)
    terrain = feature.row.get("terrain")
    if not parts and ruleset is not None and terrain is not None:
        # its word is looked at all the same
        terrain.word(problems, "terrain", vocabulary(ruleset).terrain)
    for part in parts:
        node = _without_n(feature.row)
        assert isinstance(node.value, dict)
        rings = [_ring_node(node.child("geometry"), ring) for ring in part]
        node.value["polygon"] = rings[0]
        if rings[1:]:
            node.value["holes"] = node.child("geometry", list(rings[1:]))
        yield node


def _crests(feature: Feature, problems: Problems) -> Iterator[Node]:
    for part in _parts(feature, problems):
        node = _without_n(feature.row)
        assert isinstance(node.value, dict)
        node.value["line"] = _ring_node(node.child("geometry"), part[0])
        yield node


def _parts(feature: Feature, problems: Problems) -> list[list[Ring]]:
    parts = [part for part in feature.parts or () if part]
    if not parts:
        problems.add(feature.row, "the feature has no shape")
    return parts


def _without_n(row: Node) -> Node:
    keys = row.value if isinstance(row.value, dict) else {}
    kept = {key: node for key, node in keys.items() if key != "n"}
    return Node(kept, file=row.file, line=row.line, parent=row.parent, key=row.key)


def _ring_node(node: Node, ring: Ring) -> Node:
    points: list[Node] = []
    for n, (x, y) in enumerate(ring, 1):
        point = node.child(str(n))
        point.value = [point.child("x", x), point.child("y", y)]
        points.append(point)
    node.value = points
    return node


def _marked(features: list[Feature], problems: Problems) -> dict[str, Node]:
    """The sections `positions` and `places`."""
    found: dict[str, dict[str, Node]] = {"positions": {}, "places": {}}
    for feature in features:
        keys = dict(feature.row.value) if isinstance(feature.row.value, dict) else {}
        code, kind = keys.pop("code"), keys["kind"].text
        for key in ("hexes", "intense", "steady"):
            if key in keys:
                keys[key] = split(keys[key])
                if keys[key].value == []:
                    del keys[key]
        if "attributes" in keys:
            keys["attributes"] = _parsed(keys["attributes"], problems)
        if kind == "position":
            del keys["kind"]
            attributes = keys.pop("attributes", None)
            keys |= {} if attributes is None else attributes.mapping(problems)
        row = feature.row
        node = Node(keys, file=row.file, line=row.line, parent=row.parent, key=row.key)
        section = found["positions" if kind == "position" else "places"]
        first = section.setdefault(code.text or "", node)
        if first is not node:
            problems.add(node, f"{code.text} is named twice, first {first.where}")
    return {key: Node(section) for key, section in found.items() if section}
