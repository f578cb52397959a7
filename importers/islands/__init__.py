"""The six islands of fpb as house maps: their printed hex numbers on the real coast, the ground our own.

    python -m importers.islands db/rulesets/fpb/maps

writes them all again, the same to the byte. The maps of the game are not copied: of them only
the hexes of the placement tables (19.0) and a few named places are known from its text. `plans`
has what is laid down for each island, `painting` what is painted from that.
"""

from __future__ import annotations

from pathlib import Path

from importers.demo.mapfile import document, dumped
from importers.islands.painting import paint
from importers.islands.plans import PLANS

__all__ = ["PLANS", "island_text", "write_islands"]

HEAD = "# Painted by importers/islands; written again by `python -m importers.islands FOLDER`."


def island_text(island: str) -> str:
    """The map file of an island."""
    return dumped(document(paint(PLANS[island])), HEAD)


def write_islands(folder: Path) -> list[Path]:
    """Paint every island and write it to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{plan.island}.yaml" for plan in PLANS.values()]
    for island, file in zip(PLANS, files, strict=True):
        file.write_bytes(island_text(island).encode())
    return files
