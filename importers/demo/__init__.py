"""Demo maps of our own making, painted from seeds: no publisher's map is copied.

    python -m importers.demo db/demo/maps

writes them all again, the same to the byte. Each map has a module with its seed, its plan
and its names (`pagasa_coast`, `kokoda_track`, …); what they share stands in

- `noise`       seeded chance and smooth noise, the same on every machine
- `sheet`       hex paper: what is drawn where
- `relief`      heights into coasts, levels, slopes and rivers along hexsides
- `ways`        roads and trails by the cheapest line
- `artwork`     rounded outlines, houses, streams and crest lines (ccp, bob)
- `css_ground`  the whole painting of a css map
- `mapfile`     the document and its YAML
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from importers.demo import (
    campaign_island,
    hill_312,
    kokoda_track,
    orange_beach,
    pagasa_coast,
    tanaro_island,
)
from importers.demo.mapfile import document, dumped
from importers.demo.sheet import Document, Sheet

__all__ = ["MAPS", "campaign_map", "demo_map", "write_demo_maps"]

MAPS: dict[str, Callable[[], Sheet]] = {
    "pagasa-coast": pagasa_coast.paint,
    "kokoda-track": kokoda_track.paint,
    "tanaro-island": tanaro_island.paint,
    "hill-312": hill_312.paint,
    "orange-beach": orange_beach.paint,
    "campaign-island": campaign_island.paint,
}


def demo_map(name: str) -> Document:
    """A demo map as the tree that its file holds."""
    return document(MAPS[name]())


def campaign_map() -> Document:
    """The map of about 7,700 hexes for load and benchmarks."""
    return demo_map("campaign-island")


def write_demo_maps(folder: Path) -> list[Path]:
    """Paint every demo map and write it to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.yaml" for name in MAPS]
    for name, file in zip(MAPS, files, strict=True):
        file.write_bytes(dumped(demo_map(name)).encode())
    return files
