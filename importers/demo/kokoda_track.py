"""Kokoda Track, for ccp: a jungle track over a creek and up a spur, drawn as artwork."""

from __future__ import annotations

import itertools

from db.labels import Axial
from importers.demo.artwork import Brush
from importers.demo.noise import Noise, ellipse
from importers.demo.sheet import SOURCE, Sheet, centre
from importers.demo.ways import Surveyor

SEED = 1942
CREEK = ("J1", "J2", "I2", "I3", "H3", "H4", "G5", "G6", "F6", "F7", "E8", "E9", "D9", "D10")
SWAMP = ("D8", "C9", "C10", "E10", "F8", "F9")
HUTS = ("L7", "M6", "M8", "K8")
MISSION = ("I8", "J7")
PALMS = ("K7", "L6", "L8", "M7", "N7", "N8", "K6", "J8", "L9")
GULLY = ("C2", "C3", "D3")
TRACK = ("O9", "L7", "H4", "D4", "A2")
"""The main track, by the places it joins."""
SIDE_TRACK = ("L7", "J10")
OBJECTIVES = {"1": "L7", "2": "I8", "3": "H4", "4": "D5", "5": "L3"}
ROUGHNESS = {
    "jungle": 2.2,
    "swamp": 6.0,
    "stream": 6.0,
    "bush": 1.6,
    "grass": 1.2,
    "gully": 3.0,
    "building": 6.0,
}
_spurs = Noise(SEED, 5, 2)
_wetness = Noise(SEED + 1, 2.9, 2)


def height(x: float, y: float) -> float:
    """A long spur in the west and a shorter one in the north-east, the creek between them."""
    west = 1 - ellipse(x, y, (4.2, 4.6), (3.4, 3.6))
    east = 0.75 - ellipse(x, y, (12.2, 2.6), (3.2, 2.2))
    return max(west, east) + 0.5 * (_spurs.at(x, y) - 0.5)


def paint() -> Sheet:
    sheet = Sheet(
        name="kokoda-track",
        title="Kokoda Track",
        ruleset="ccp",
        extent=("A1", "O10"),
        meters_per_hex=30,
        source=SOURCE,
        note="An invented stretch of track with invented villages, painted by importers/demo.",
        fill="open_ground",
    )
    _raise_spurs(sheet)
    _grow_cover(sheet)
    _build(sheet)
    _lay_track(sheet)
    _draw(sheet)
    _name(sheet)
    return sheet


def _raise_spurs(sheet: Sheet) -> None:
    creek = {sheet.at(label) for label in CREEK + SWAMP}
    near_creek = sheet.distances(creek)
    for place in sheet.hexes:
        tall = height(*centre(place))
        level = 2 if tall > 0.62 else 1 if tall > 0.08 else 0
        sheet.level[place] = min(level, near_creek[place])
    for patch in sheet.patches(lambda place: sheet.level[place]):
        if len(patch) < 3 and sheet.level[patch[0]] > 0:
            sheet.level.update(dict.fromkeys(patch, sheet.level[patch[0]] - 1))


def _grow_cover(sheet: Sheet) -> None:
    for place in sheet.hexes:
        wet = _wetness.at(*centre(place)) + 0.03 * sheet.level[place]
        sheet.terrain[place] = (
            "jungle" if wet > 0.55 else "bush" if wet > 0.48 else "grass" if wet < 0.36 else "open_ground"
        )
    sheet.merge_small_patches(2, ("jungle", "bush", "grass", "open_ground"))


def _build(sheet: Sheet) -> None:
    for terrain, labels in (
        ("palm", PALMS),
        ("gully", GULLY),
        ("swamp", SWAMP),
        ("stream", CREEK),
        ("hut", HUTS),
        ("building", MISSION),
    ):
        sheet.terrain.update({sheet.at(label): terrain for label in labels})


def _lay_track(sheet: Sheet) -> None:
    """The track takes the easy ground and crosses the creek on a log bridge."""

    def toll(one: Axial, other: Axial) -> float | None:
        climb = 1.5 * abs(sheet.level[one] - sheet.level[other])
        return ROUGHNESS.get(sheet.terrain[other], 1.0) + climb

    surveyor = Surveyor(sheet, toll)
    for kind, stops in (("trail", TRACK), ("trail", SIDE_TRACK)):
        for one, other in itertools.pairwise(stops):
            surveyor.connect(kind, sheet.at(one), sheet.at(other))
    for _, _, chain in sheet.paths:
        for place in chain:
            if sheet.terrain[place] == "stream":
                sheet.terrain[place] = "bridge"


def _draw(sheet: Sheet) -> None:
    brush = Brush(sheet, SEED + 5)
    creek = [sheet.at(label) for label in CREEK]
    for terrain in ("grass", "bush", "palm", "swamp", "jungle", "gully"):
        for patch in sheet.connected(sheet.of_terrain(terrain)):
            brush.area(terrain, set(patch))
    brush.course("stream", creek, 0.34)
    for place in creek:
        if sheet.terrain[place] == "bridge":
            brush.house("bridge", centre(place), (0.8, 0.24), 2)
    for n, label in enumerate(HUTS):
        x, y = centre(sheet.at(label))
        brush.house("hut", (x - 0.17, y - 0.14), (0.26, 0.2), n)
        brush.house("hut", (x + 0.19, y + 0.15), (0.22, 0.26), n + 3)
    first, second = (centre(sheet.at(label)) for label in MISSION)
    brush.house("building", ((first[0] + second[0]) / 2, (first[1] + second[1]) / 2), (1.15, 0.42), 6)
    for level in (1, 2):
        upper = {place for place in sheet.hexes if sheet.level[place] >= level}
        for patch in sheet.connected(upper):
            brush.crest(level, set(patch))


def _name(sheet: Sheet) -> None:
    sheet.names |= {sheet.at("L7"): "Sorovi", sheet.at("I8"): "Mission", sheet.at("H4"): "Log Bridge"}
    sheet.extra["places"] = {
        code: {"kind": "objective", "hexes": [label]} for code, label in OBJECTIVES.items()
    }
