"""The numbers of css laid on Guam: the real shore on a grid of 500 m, the ground hardly known.

    python -m importers.islands.css_grid db/rulesets/css/maps/guam-grid.yaml

writes the map again. Its rulebook names 45 hexes where units stand, move and are seen, all of them
land, among them Orote airfield (11.3.1) and the beach of Red 1 (22.1). They were laid on the coast by
`sightline georeference`, with those two where they are; docs/archive.md has the figures.
"""

from __future__ import annotations

import sys
from pathlib import Path

from db.labels import Axial
from importers.demo.mapfile import document, dumped
from importers.demo.sheet import Sheet
from importers.islands.coast import NEARLY_HALF, affine_of, shares_of_land

PRINTED = (
    "20.81", "21.81", "22.79", "22.80", "23.59", "23.61", "23.62", "23.77", "23.78", "23.79", "23.80", "24.64",
    "24.77", "24.78", "24.79", "24.80", "24.81", "25.80", "26.04", "26.37", "27.37", "28.48", "29.47", "29.48",
    "31.64", "31.75", "32.28", "32.65", "32.66", "32.67", "34.80", "34.81", "35.80", "37.38", "39.50", "55.83",
    "55.84", "57.67", "64.89", "65.87", "66.88", "70.79", "71.78", "72.78", "72.79",
)  # fmt: skip
"""Hexes that the rulebook names as ground; the causeway 21.67 may be none."""
NAMED = (("23.79", 144.640, 13.437), ("23.59", 144.722, 13.4765))
"""Orote airfield and Red 1, where they are: the control points of the fit."""
CONTROL = (
    ("01.01", 144.91461, 13.68087),
    ("75.01", 145.05848, 13.42778),
    ("01.95", 144.53534, 13.47432),
    ("75.95", 144.67921, 13.22123),
)
"""Where the fit puts four corners."""
EXTENT = ("01.01", "75.95")
METERS = 500
TERRAIN = {"22.80": "runway", "23.79": "runway", "24.79": "runway", "24.78": "buildings", "23.59": "beach", "31.64": "rocky"}  # fmt: skip
NAMES = {"23.79": "Orote Airfield", "24.78": "Marine Barracks", "23.59": "Red 1"}
SOURCE = "Coast: GSHHG 2.3.7 (Wessel and Smith, 1996). Numbers: hexes that the rulebook names."
NOTE = (
    "A house map, not the publisher's: the numbers that the rulebook names lie on the real coast, give or"
    " take a hex or two. The ground is not known: all but six hexes is drawn as clear and level, so ask of it where and"
    " how far, not what is seen."
)
HEAD = (
    "# Made by importers/islands/css_grid.py; written again by `python -m importers.islands.css_grid FILE`."
)


def grid() -> Sheet:
    """Every hex that is nearly half of land or more, and every one that the book names."""
    sheet = Sheet(
        name="guam-grid",
        title="Guam, the numbers of css (house map)",
        ruleset="css",
        extent=EXTENT,
        meters_per_hex=METERS,
        source=SOURCE,
        note=NOTE,
        fill="clear",
        fill_level=1,
    )
    shares = shares_of_land("guam", CONTROL, sheet.scheme, sheet.hexes)
    named = {sheet.at(label) for label in PRINTED}
    for place in sheet.hexes:
        if shares[place] >= NEARLY_HALF or place in named:
            sheet.terrain[place] = TERRAIN.get(sheet.label(place), "clear")
    sheet.names = {sheet.at(label): name for label, name in NAMES.items()}
    points = [{"hex": label, "lon": lon, "lat": lat} for label, lon, lat in _ends(sheet)]
    sheet.extra = {"georeference": {"crs": "EPSG:4326", "points": points}}
    return sheet


def _ends(sheet: Sheet) -> list[tuple[str, float, float]]:
    """Hexes of the map near its corners, where the corners put them: a map is held by hexes that it has."""
    way = affine_of(CONTROL, sheet.scheme)
    ends: list[Axial] = []
    for sign in (1, -1):
        ends.append(min(sheet.terrain, key=lambda place: (sign * place.center[0], place.center[1])))
        ends.append(min(sheet.terrain, key=lambda place: (sign * place.center[1], place.center[0])))
    told = []
    for place in ends:
        lon, lat = way.at(place)
        told.append((sheet.label(place), round(float(lon), 6), round(float(lat), 6)))
    return told


def grid_text() -> str:
    """The map file."""
    return dumped(document(grid()), HEAD)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Usage: python -m importers.islands.css_grid FILE")
    Path(sys.argv[1]).write_text(grid_text(), encoding="utf-8")
