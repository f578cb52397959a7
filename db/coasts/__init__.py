"""The coastlines that come with Sightline, by the name of the island (GSHHG 2.3.7, LGPL-3.0-or-later)."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "coasts.geojson"
CREDIT = "Coast: GSHHG 2.3.7 (Wessel and Smith, 1996), LGPL-3.0-or-later"


@functools.cache
def coasts() -> dict[str, dict[str, Any]]:
    """Every coastline as a GeoJSON geometry in longitude and latitude."""
    features = json.loads(FILE.read_text(encoding="utf-8"))["features"]
    return {feature["properties"]["name"]: feature["geometry"] for feature in features}
