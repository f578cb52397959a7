"""Pagasa Coast, for css: a bay with beaches under a range of wooded ridges."""

from __future__ import annotations

from importers.demo.css_ground import CssPainter, Plan
from importers.demo.noise import Noise, ellipse
from importers.demo.sheet import SOURCE, Sheet

SEED = 7120
_hills = Noise(SEED, 11, 4)
_crests = Noise(SEED + 1, 13, 3)
_shore = Noise(SEED + 2, 9, 3)


def height(x: float, y: float) -> float:
    """Land rises from a bay in the south-west to a folded range in the north and east."""
    inland = (0.62 * x + 0.85 * (30 - y)) / 30 + 0.75 * (_shore.at(x, y) - 0.5)
    bay = 0.2 * max(0.0, 1 - ellipse(x, y, (12, 24), (8.94, 8.94)))
    cape = 0.3 * max(0.0, 1 - ellipse(x, y, (21, 29), (5.48, 5.48)))
    eastern_divide = 0.12 * max(0.0, x - 28) / 7
    rise = max(0.0, min(1.0, (inland - 0.42) * 1.3))
    folds = 0.8 * _crests.ridged(x, y, sharpness=2) + 0.3 * _hills.at(x, y)
    return 0.55 * inland - bay + cape + eastern_divide + rise * folds


def paint() -> Sheet:
    sheet = Sheet(
        name="pagasa-coast",
        title="Pagasa Coast",
        ruleset="css",
        extent=("01.01", "40.30"),
        meters_per_hex=275,
        source=SOURCE,
        note="An invented coast, painted by importers/demo. The sea is off the map.",
        fill="clear",
        fill_level=1,
    )
    plan = Plan(
        seed=SEED,
        height=height,
        sea=0.2,
        level_shares=(0.52, 0.74, 0.9),
        stream=34,
        river=150,
        towns=("Lipata",),
        hamlets=("Banog", "Tigbawan", "San Elias", "Marayag", "Cabuya", "Dalipe", "Hinapo"),
        airfields=(("Lipata Field", "Lipata"),),
        peaks=("Mount Hulaw", "The Anvil", "Mount Sirang", "Long Spur"),
        town_size=6,
        spacing=6,
        exits=("01.10", "40.24"),
    )
    return CssPainter(sheet, plan).paint()
