"""A QGIS project that opens a campaign: its GeoPackage with styles, labels and the time of every layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from sqlalchemy.engine import Connection

from db.chronicle import find_campaign
from importers.archive.gis import SHAPES, write_geopackage
from importers.archive.writing import utc

VERSION = "3.34.0-Prizren"
TITLES = {
    "entry": "What happened",
    "entry_line": "What happened along a line",
    "entry_area": "What happened in an area",
    "stance": "Where forces stood",
    "stance_line": "Where forces stood, lines",
    "stance_area": "Where forces stood, areas",
    "track": "Ways of forces",
    "coast": "Coast (GSHHG 2.3.7, LGPL-3.0-or-later)",
}
GEOMETRY = {
    "Point": ("Point", "0"),
    "LineString": ("Line", "1"),
    "Polygon": ("Polygon", "2"),
    "MultiPolygon": ("Polygon", "2"),
}
LOOKS = {
    "entry": ("marker", "SimpleMarker", {"name": "circle", "color": "163,34,31,255", "size": "3", "outline_color": "255,255,255,255"}),
    "entry_line": ("line", "SimpleLine", {"line_color": "163,34,31,255", "line_width": "0.8"}),
    "entry_area": ("fill", "SimpleFill", {"color": "163,34,31,60", "outline_color": "163,34,31,255"}),
    "stance": ("marker", "SimpleMarker", {"name": "square", "color": "31,95,78,255", "size": "3.4", "outline_color": "255,255,255,255"}),
    "stance_line": ("line", "SimpleLine", {"line_color": "31,95,78,255", "line_width": "1"}),
    "stance_area": ("fill", "SimpleFill", {"color": "31,95,78,60", "outline_color": "31,95,78,255"}),
    "track": ("line", "SimpleLine", {"line_color": "31,95,78,160", "line_width": "0.4", "line_style": "dash"}),
    "coast": ("fill", "SimpleFill", {"color": "236,223,182,255", "outline_color": "138,169,180,255"}),
}  # fmt: skip
LABELS = {"entry": "title", "entry_line": "title", "entry_area": "title", "stance": "name", "track": "name"}
"""What is written beside a feature."""
TIMELESS = ("coast",)


def write_project(connection: Connection, name: str, path: Path) -> list[Path]:
    """Write a project and its GeoPackage beside it; whoever opens the one finds the other by its name."""
    package = path.with_suffix(".gpkg")
    package.unlink(missing_ok=True)
    write_geopackage(connection, name, package)
    path.write_text(project_text(connection, name, package.name), encoding="utf-8")
    return [path, package]


def project_text(connection: Connection, name: str, package: str) -> str:
    """The project as QGIS reads it."""
    found = find_campaign(connection, name)
    span = (
        (utc(found.span.lower), utc(found.span.upper)) if found.span.lower and found.span.upper else ("", "")
    )
    # drawn in this order, the first on top
    drawn = [layer for layer in TITLES if layer in SHAPES]
    root = Xml.Element("qgis", {"projectname": found.title, "version": VERSION})
    Xml.SubElement(root, "title").text = found.title
    root.append(_crs("projectCrs", "EPSG:3857", "3857"))
    tree = Xml.SubElement(root, "layer-tree-group")
    for layer in drawn:
        Xml.SubElement(
            tree,
            "layer-tree-layer",
            {"id": layer, "name": TITLES[layer], "checked": "Qt::Checked", "providerKey": "ogr", "source": _source(package, layer)},
        )  # fmt: skip
    layers = Xml.SubElement(root, "projectlayers")
    for layer in drawn:
        layers.append(_layer(layer, package))
    order = Xml.SubElement(root, "layerorder")
    for layer in drawn:
        Xml.SubElement(order, "layer", {"id": layer})
    properties = Xml.SubElement(root, "properties")
    paths = Xml.SubElement(properties, "Paths")
    Xml.SubElement(paths, "Absolute", {"type": "bool"}).text = "false"
    settings = Xml.SubElement(
        root, "ProjectTimeSettings", {"timeStep": "1", "timeStepUnit": "h", "frameRate": "4", "cumulativeTemporalRange": "0"}
    )  # fmt: skip
    _range(settings, "TimeRange", span)
    Xml.indent(root)
    return (
        "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n"
        + Xml.tostring(root, encoding="unicode")
        + "\n"
    )


def _source(package: str, layer: str) -> str:
    return f"./{package}|layername={layer}"


def _layer(layer: str, package: str) -> Xml.Element:
    kind, _ = GEOMETRY[SHAPES[layer]]
    node = Xml.Element("maplayer", {"type": "vector", "geometry": kind, "wkbType": SHAPES[layer], "styleCategories": "AllStyleCategories", "labelsEnabled": "1" if layer in LABELS else "0"})  # fmt: skip
    Xml.SubElement(node, "id").text = layer
    Xml.SubElement(node, "datasource").text = _source(package, layer)
    Xml.SubElement(node, "layername").text = TITLES[layer]
    srs = Xml.SubElement(node, "srs")
    srs.extend(_crs("srs", "EPSG:4326", "4326"))
    Xml.SubElement(node, "provider", {"encoding": "UTF-8"}).text = "ogr"
    if layer not in TIMELESS:
        # mode 2: begin and end in fields of their own; an open end counts as going on
        temporal = Xml.SubElement(
            node, "temporal",
            {"enabled": "1", "mode": "2", "startField": "begins", "endField": "ends", "durationUnit": "min", "fixedDuration": "0", "limitMode": "0", "accumulate": "0", "startExpression": "", "endExpression": "", "durationField": ""},
        )  # fmt: skip
        _range(temporal, "fixedRange", ("", ""))
    node.append(_renderer(layer))
    if layer in LABELS:
        node.append(_labeling(LABELS[layer]))
    return node


def _renderer(layer: str) -> Xml.Element:
    kind, symbol_class, looks = LOOKS[layer]
    renderer = Xml.Element("renderer-v2", {"type": "singleSymbol", "symbollevels": "0", "enableorderby": "0"})
    symbols = Xml.SubElement(renderer, "symbols")
    symbol = Xml.SubElement(
        symbols, "symbol", {"type": kind, "name": "0", "alpha": "1", "clip_to_extent": "1"}
    )
    drawn = Xml.SubElement(
        symbol, "layer", {"class": symbol_class, "enabled": "1", "locked": "0", "pass": "0"}
    )
    options = Xml.SubElement(drawn, "Option", {"type": "Map"})
    for key, value in looks.items():
        Xml.SubElement(options, "Option", {"type": "QString", "name": key, "value": value})
    return renderer


def _labeling(field: str) -> Xml.Element:
    labeling = Xml.Element("labeling", {"type": "simple"})
    settings = Xml.SubElement(labeling, "settings", {"calloutType": "simple"})
    style = Xml.SubElement(
        settings, "text-style", {"fieldName": field, "isExpression": "0", "fontSize": "8", "fontSizeUnit": "Point", "textColor": "29,35,32,255"}
    )  # fmt: skip
    Xml.SubElement(
        style, "text-buffer", {"bufferDraw": "1", "bufferSize": "0.8", "bufferColor": "251,250,246,255"}
    )
    return labeling


def _crs(tag: str, authority: str, srid: str) -> Xml.Element:
    node = Xml.Element(tag)
    spatial = Xml.SubElement(node, "spatialrefsys", {"nativeFormat": "Wkt"})
    Xml.SubElement(spatial, "srid").text = srid
    Xml.SubElement(spatial, "authid").text = authority
    return node


def _range(parent: Xml.Element, tag: str, span: Sequence[str]) -> None:
    node = Xml.SubElement(parent, tag)
    for name, moment in zip(("start", "end"), span, strict=True):
        Xml.SubElement(node, name).text = moment
