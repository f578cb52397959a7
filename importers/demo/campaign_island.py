"""Campaign Island, for css: about 7,700 hexes of one invented island, for load and benchmarks."""

from __future__ import annotations

from importers.demo.css_ground import CssPainter, Plan
from importers.demo.noise import Noise
from importers.demo.sheet import SOURCE, Sheet

SEED = 4410
_hills = Noise(SEED, 20, 4)
_crests = Noise(SEED + 1, 34, 4)
_shore = Noise(SEED + 2, 26, 4)
_knolls = Noise(SEED + 3, 8, 3)
_MIDDLE = (43.5, 50.0)


def height(x: float, y: float) -> float:
    """An island with a bent spine of mountains, wider in the south, with bays and capes."""
    across, down = (x - _MIDDLE[0]) / 43, (y - _MIDDLE[1]) / 49
    rim = 0.95 - (across * across + down * down) + 1.9 * (_shore.at(x, y) - 0.5)
    rim -= 0.8 * max(0.0, 1 - min(x, 87 - x, y, 100 - y) / 4)
    rise = max(0.0, min(1.0, rim * 1.1 - 0.2))
    folds = 0.8 * _crests.ridged(x, y, sharpness=2) + 0.3 * _hills.at(x, y)
    return 0.5 * rim + 0.25 * _knolls.at(x, y) + rise * folds


def paint() -> Sheet:
    sheet = Sheet(
        name="campaign-island",
        title="Campaign Island",
        ruleset="css",
        extent=("01.01", "99.99"),
        meters_per_hex=275,
        source=SOURCE,
        note="An invented island of campaign size, painted by importers/demo. The sea is off the map.",
        fill="clear",
        fill_level=1,
    )
    plan = Plan(
        seed=SEED,
        height=height,
        sea=0.215,
        level_shares=(0.5, 0.75, 0.91),
        stream=36,
        river=240,
        towns=("Port Alder", "Sanlucas", "Aguaya", "Tamonga", "Kestrel Bay"),
        hamlets=tuple(f"{first}{last}" for last in _ENDINGS for first in _BEGINNINGS),
        airfields=(
            ("Alder Field", "Port Alder"),
            ("Tamonga Field", "Tamonga"),
            ("Kestrel Strip", "Kestrel Bay"),
        ),
        peaks=tuple(
            f"Hill {number}" for number in (803, 781, 766, 742, 715, 698, 671, 655, 640, 618, 604, 590)
        ),
        town_size=9,
        spacing=7,
    )
    return CssPainter(sheet, plan).paint()


_BEGINNINGS = ("Ma", "Ta", "Ili", "Sa", "Lu", "Ano", "Ba", "Oro", "Pi", "Cala")
_ENDINGS = ("lug", "raya", "nitan", "bong")
