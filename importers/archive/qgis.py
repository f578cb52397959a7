"""A QGIS project that opens a campaign: its GeoPackage with styles, labels and the time of every layer."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import shapely
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.chronicle import find_campaign
from db.coasts import coasts
from db.features import extent_of, find_collection
from importers.archive.gis import SHAPES, write_geopackage
from importers.archive.writing import utc

VERSION = "3.22.16-Białowieża"
"""The oldest that is known to open it: a newer QGIS reads what an older one wrote, the other way round it warns."""
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
SIDES = {"us": "31,95,120,255", "japan": "163,34,31,255", "": "90,90,90,255"}
"""Colours of sides; all others share the last."""
SIDED = ("stance", "stance_line", "stance_area", "track")
"""Layers whose features belong to a side."""
MARGIN = 0.06
"""Of the view around what is shown first, as a part of it."""


def write_project(
    connection: Connection, name: str, path: Path, known: datetime.datetime | None = None
) -> list[Path]:
    """Write a project and its GeoPackage beside it; whoever opens the one finds the other by its name."""
    package = path.with_suffix(".gpkg")
    package.unlink(missing_ok=True)
    write_geopackage(connection, name, package, known)
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
            {"id": _id(layer), "name": TITLES[layer], "checked": "Qt::Checked", "providerKey": "ogr", "source": _source(package, layer)},
        )  # fmt: skip
    layers = Xml.SubElement(root, "projectlayers")
    for layer in drawn:
        layers.append(_layer(layer, package))
    order = Xml.SubElement(root, "layerorder")
    for layer in drawn:
        Xml.SubElement(order, "layer", {"id": _id(layer)})
    root.append(_properties())
    root.append(_view(connection, found))
    settings = Xml.SubElement(
        root, "ProjectTimeSettings", {"timeStep": "1", "timeStepUnit": "h", "frameRate": "4", "cumulativeTemporalRange": "0"}
    )  # fmt: skip
    _range(settings, "TemporalRange", span)
    Xml.indent(root)
    return (
        "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n"
        + Xml.tostring(root, encoding="unicode")
        + "\n"
    )


def _properties() -> Xml.Element:
    """What QGIS keeps by name: the CRS of the project counts, and files are named from where it lies."""
    properties = Xml.Element("properties")
    for group, name, kind, text in (
        ("SpatialRefSys", "ProjectionsEnabled", "int", "1"),
        ("Paths", "Absolute", "bool", "false"),
    ):
        Xml.SubElement(Xml.SubElement(properties, group), name, {"type": kind}).text = text
    return properties


def _view(connection: Connection, campaign: sa.Row[Any]) -> Xml.Element:
    """What is shown first: the coast, or else all that has a place."""
    coast = coasts().get(campaign.coast) if campaign.coast else None
    lies = (
        shapely.geometry.shape(coast).bounds
        if coast is not None
        else extent_of(connection, find_collection(connection, f"campaign.{campaign.name}.entry"))["box"]
    )
    settings = Xml.Element("ProjectViewSettings", {"UseProjectScales": "0"})
    if lies is not None:
        west, south, east, north = lies
        margin = MARGIN * max(east - west, north - south)
        ends = {"xmin": west - margin, "ymin": south - margin, "xmax": east + margin, "ymax": north + margin}
        extent = Xml.SubElement(settings, "DefaultViewExtent", {key: f"{end:.6f}" for key, end in ends.items()})  # fmt: skip
        extent.extend(_crs("crs", "EPSG:4326", "4326"))
    return settings


def _id(layer: str) -> str:
    """What the parts of a project call a layer: QGIS takes no name of ten letters or less."""
    return f"sightline_{layer}"


def _source(package: str, layer: str) -> str:
    return f"./{package}|layername={layer}"


def _layer(layer: str, package: str) -> Xml.Element:
    kind, _ = GEOMETRY[SHAPES[layer]]
    node = Xml.Element("maplayer", {"type": "vector", "geometry": kind, "wkbType": SHAPES[layer], "styleCategories": "AllStyleCategories", "labelsEnabled": "1" if layer in LABELS else "0"})  # fmt: skip
    Xml.SubElement(node, "id").text = _id(layer)
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
    """How a layer looks; what belongs to a side has its colour."""
    if layer not in SIDED:
        renderer = Xml.Element("renderer-v2", {"type": "singleSymbol", "enableorderby": "0"})
        Xml.SubElement(renderer, "symbols").append(_symbol(layer, "0", LOOKS[layer][2]))
        return renderer
    renderer = Xml.Element("renderer-v2", {"type": "categorizedSymbol", "attr": "side", "enableorderby": "0"})
    categories = Xml.SubElement(renderer, "categories")
    symbols = Xml.SubElement(renderer, "symbols")
    for n, (side, colour) in enumerate(SIDES.items()):
        title = side or "others"
        Xml.SubElement(categories, "category", {"value": side, "label": title, "symbol": str(n), "render": "true"})  # fmt: skip
        symbols.append(_symbol(layer, str(n), LOOKS[layer][2] | _coloured(layer, colour)))
    return renderer


def _coloured(layer: str, colour: str) -> dict[str, str]:
    kind = LOOKS[layer][0]
    if kind == "line":
        return {"line_color": colour}
    if kind == "fill":
        return {"color": colour.removesuffix("255") + "60", "outline_color": colour}
    return {"color": colour}


def _symbol(layer: str, name: str, looks: Mapping[str, str]) -> Xml.Element:
    kind, drawn_as, _ = LOOKS[layer]
    symbol = Xml.Element("symbol", {"type": kind, "name": name, "alpha": "1", "clip_to_extent": "1"})
    drawn = Xml.SubElement(symbol, "layer", {"class": drawn_as, "enabled": "1", "locked": "0", "pass": "0"})
    options = Xml.SubElement(drawn, "Option", {"type": "Map"})
    for key, value in looks.items():
        Xml.SubElement(options, "Option", {"type": "QString", "name": key, "value": value})
    return symbol


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
    # a positive number of QGIS's own has it look at the authority's code
    Xml.SubElement(spatial, "srsid").text = srid
    Xml.SubElement(spatial, "srid").text = srid
    Xml.SubElement(spatial, "authid").text = authority
    return node


def _range(parent: Xml.Element, tag: str, span: Sequence[str]) -> None:
    node = Xml.SubElement(parent, tag)
    for name, moment in zip(("start", "end"), span, strict=True):
        Xml.SubElement(node, name).text = moment
