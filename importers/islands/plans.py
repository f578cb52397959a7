"""What is laid down for each of the six islands: where its numbers lie in the world, named places, ways, ground.

Four corners of the map, in longitude and latitude, lay it on the real coast: where `sightline georeference
MAP --printed` puts them by the hexes of the placement tables (19.0), Guam's with three named places beside
(a test holds that). Hexes at least nearly half of land are land, and so is every hex of the tables (`coast`).
The small islands have their ground drawn row by row, a letter a hex: `.` the sea, any other letter its ground
(see `GROUND`); a test holds that their shore is the real one. Where the numbers begin, one row of sea is all
there can be beyond a hex.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

GROUND = {
    "c": "clear",
    "l": "light_jungle",
    "j": "jungle",
    "h": "hill",
    "H": "hill_jungle",
    "M": "mountain",
    "m": "marsh",
}
ControlPoint = tuple[str, float, float]
"""A hex and where its centre lies: longitude, latitude."""


@dataclass(frozen=True)
class Plan:
    """An island as it is laid down before it is painted."""

    island: str
    meters_per_hex: int
    corner: str
    """The first hex of the map."""
    control: tuple[ControlPoint, ...]
    outline: tuple[str, ...] = ()
    """The ground of a small island, drawn."""
    size: tuple[int, int] = (0, 0)
    """Columns and rows of a large one, whose ground is painted on the real coast."""
    shift: Literal["up", "down"] = "up"
    """Which way even columns are shifted: up by a diagram of the system rules (6.1), unless real ground says otherwise."""
    airstrips: dict[str, tuple[str, ...]] = field(default_factory=dict)
    villages: dict[str, str] = field(default_factory=dict)
    """Names by hex; a village of several hexes has its name in each."""
    beaches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Open coast where a landing may go ashore (12.0)."""
    reefs: tuple[str, ...] = ()
    """Coastal hexes behind a reef (12.3)."""
    ground: dict[str, str] = field(default_factory=dict)
    features: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    objectives: dict[str, tuple[str, ...]] = field(default_factory=dict)
    peaks: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Height and breadth, where ground is painted."""
    shares: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Parts of the painted land below the slopes, the hills and the mountains."""
    dryness: tuple[float, float] = (0.4, 0.5)
    """Wetness from which there is light jungle, and jungle."""
    river: int = 0
    """Least water of a river; 0 where there are none."""
    roads: tuple[tuple[str, ...], ...] = ()
    trails: tuple[tuple[str, ...], ...] = ()
    seed: int = 0

    @property
    def far_corner(self) -> str:
        """The last hex of the map."""
        across, down = (len(self.outline[0]), len(self.outline)) if self.outline else self.size
        return f"{int(self.corner[:2]) + across - 1:02}{int(self.corner[2:]) + down - 1:02}"

    @property
    def name(self) -> str:
        """What its map is called in a database, where other maps of the same island may be."""
        return f"{self.island}-house"

    @property
    def title(self) -> str:
        return f"{self.island.capitalize()} (house map)"


ENGEBI = Plan(
    island="engebi",
    meters_per_hex=500,
    corner="0901",
    outline=(
        ".........",
        ".........",
        "....lc...",
        "....lc...",
        "..lljcc..",
        "...l.c...",
        ".........",
        ".........",
    ),
    control=(
        ("0901", 162.23916, 11.64790),
        ("1701", 162.23765, 11.67918),
        ("0908", 162.27123, 11.64940),
        ("1708", 162.26972, 11.68069),
    ),
    airstrips={"Engebi Airstrip": ("1403", "1404", "1405", "1406", "1505")},
    reefs=("1206",),
    trails=(("1403", "1405", "1305", "1105"), ("1405", "1406")),
)

ENIWETOK = Plan(
    island="eniwetok",
    meters_per_hex=500,
    corner="1000",
    outline=(
        "..........",
        "..lc......",
        "..clj.....",
        "..clj.....",
        "...cl.....",
        "....c.....",
        "....lc....",
        "......cl..",
        "..........",
        "..........",
    ),
    control=(
        ("1000", 162.32775, 11.32878),
        ("1900", 162.32575, 11.36404),
        ("1009", 162.36868, 11.33366),
        ("1909", 162.36668, 11.36891),
    ),
    villages={"1303": "Eniwetok Village"},
    reefs=("1201", "1203", "1406"),
    trails=(("1202", "1303", "1404", "1405", "1506", "1607"),),
)

PARRY = Plan(
    island="parry",
    meters_per_hex=500,
    corner="1000",
    outline=(
        "..........",
        "..........",
        "..llc.....",
        "...clcl...",
        "......cc..",
        "..........",
        "..........",
    ),
    control=(
        ("1000", 162.39524, 11.42115),
        ("1900", 162.39851, 11.38599),
        ("1006", 162.36808, 11.41694),
        ("1906", 162.37135, 11.38178),
    ),
    reefs=("1402", "1603"),
    trails=(("1302", "1403", "1503", "1604"),),
)

ANGAUR = Plan(
    island="angaur",
    meters_per_hex=500,
    corner="0900",
    outline=(
        "..............",
        "..............",
        "........HHj...",
        "..l.c.cchHj...",
        "..lcccclhjj...",
        "..lclmjcclcl..",
        ".....jmjlcc...",
        ".....ljjcl....",
        ".......j.c....",
        "..............",
        "..............",
    ),
    control=(
        ("0900", 134.11711, 6.88507),
        ("2200", 134.13083, 6.93414),
        ("0910", 134.16010, 6.87098),
        ("2210", 134.17383, 6.92005),
    ),
    airstrips={"Angaur Airstrip": ("1404", "1504", "1605", "1705", "1806")},
    villages={"1503": "Saipan Village"},
    beaches={"Red Beach": ("1905", "1906"), "Blue Beach": ("1707",)},
    reefs=("1103", "1507", "2005"),
    features={"1603": "phosphate_plant"},
    names={"1603": "Phosphate Plant"},
    objectives={
        "Saipan Village": ("1503",),
        "Phosphate Plant": ("1603",),
    },
    roads=(("1603", "1503", "1404", "1504", "1605", "1705", "1806", "1906"),),
    trails=(("1404", "1304", "1205"), ("1806", "1707"), ("1604", "1704", "1803"), ("1503", "1604", "1705")),
)

GUAM = Plan(
    island="guam",
    meters_per_hex=1609,
    corner="0000",
    size=(41, 19),
    shift="down",
    control=(
        ("0000", 144.53892, 13.30171),
        ("4000", 144.78549, 13.74393),
        ("0017", 144.76044, 13.18328),
        ("4017", 145.00737, 13.62533),
    ),
    airstrips={"Orote Airstrip": ("1302", "1303")},
    villages={
        "2007": "Agana",
        "1805": "Asan",
        "1704": "Piti",
        "1005": "Agat",
        "0408": "Umatac",
        "0209": "Merizo",
        "0613": "Inarajan",
        "1211": "Talofofo",
        "1711": "Yona",
        "2110": "Barrigada",
        "2611": "Dededo",
        "3013": "Yigo",
    },
    beaches={
        "Asan Beaches": ("1804", "1805"),
        "Agat Beaches": ("1004", "1105"),
        "Tumon Bay": ("2409", "2509"),
    },
    reefs=("1602", "1603", "1402", "2006", "0211", "0605"),
    ground={"1606": "mountain", "1506": "mountain", "2008": "marsh", "1011": "marsh"},
    names={"1606": "Mount Chachao", "1506": "Mount Tenjo"},
    peaks={
        "0707": (4.0, 2.2),
        "0608": (3.2, 2.0),
        "1006": (2.4, 1.6),
        "1506": (3.2, 1.6),
        "1606": (3.2, 1.6),
        "1408": (2.2, 2.0),
        "1107": (2.2, 2.5),
        "0610": (1.8, 2.5),
        "1806": (1.6, 1.2),
        "2311": (1.8, 1.2),
        "3014": (2.2, 1.6),
        "3112": (1.0, 2.0),
    },
    shares=(0.52, 0.74, 0.955),
    dryness=(0.36, 0.46),
    river=10,
    roads=(
        ("1302", "1303", "1304", "1305", "1005"),
        ("1305", "1704", "1805", "2007", "2110", "2611", "3013"),
        ("2007", "1711", "1211", "0613", "0209", "0408"),
    ),
    trails=(("0408", "1005"), ("1704", "1606", "1509", "1211"), ("2611", "2910", "3508"), ("3013", "3511")),
    seed=4407,
)

TINIAN = Plan(
    island="tinian",
    meters_per_hex=500,
    corner="0000",
    size=(34, 34),
    control=(
        ("0000", 145.54237, 15.02788),
        ("3300", 145.64747, 15.10694),
        ("0033", 145.63837, 14.91158),
        ("3333", 145.74346, 14.99060),
    ),
    airstrips={"Ushi Airfield": ("2504", "2605", "2705"), "Gurguan Airfield": ("0914", "1015")},
    villages={
        "0621": "Tinian Town",
        "0622": "Tinian Town",
        "1223": "Marpo",
        "1807": "Faibus San Hilo",
        "2410": "Asiga",
    },
    beaches={
        "White Beaches": ("1703", "1603"),
        "Yellow Beach": ("2211",),
        "Sunharon Harbor": ("0520", "0624"),
    },
    reefs=("0519", "2212", "0228"),
    ground={"1911": "mountain", "2203": "marsh", "2104": "marsh"},
    names={"1911": "Mount Lasso", "2203": "Lake Hagoi"},
    peaks={
        "1911": (2.6, 2.2),
        "1613": (2.0, 2.2),
        "2118": (1.6, 2.0),
        "0929": (2.6, 2.2),
        "0728": (2.2, 2.2),
        "1027": (2.0, 2.0),
        "1524": (1.2, 1.5),
    },
    shares=(0.72, 0.88, 0.985),
    dryness=(0.5, 0.6),
    roads=(("0622", "0621", "1015", "1807", "2605", "2705"), ("0621", "1223", "2115", "2410", "2605")),
    trails=(("0622", "0426", "0330"), ("1703", "1807"), ("1911", "1807"), ("1223", "1129"), ("1015", "1911")),
    seed=4409,
)

PLANS = {plan.island: plan for plan in (ENGEBI, ENIWETOK, PARRY, GUAM, TINIAN, ANGAUR)}
