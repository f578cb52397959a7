"""Hill 312, for bob: a village between hedged fields under a wooded hill, drawn as artwork."""

from __future__ import annotations

import itertools

from db.labels import Axial
from importers.demo.artwork import Brush
from importers.demo.noise import Noise, ellipse
from importers.demo.sheet import SOURCE, Sheet, centre, side_between
from importers.demo.ways import Surveyor

SEED = 312
STONE = ("D8", "E8", "E10", "G9")
WOODEN = ("C9", "D10", "F8", "F10", "I4", "B4")
FIELDS = (
    ("H9", "H10", "I10", "I11", "J9", "J10"),
    ("A7", "B6", "B7", "C7"),
    ("L9", "L10", "M10", "N9", "N10"),
)
ORCHARDS = (("B8", "A8", "A9", "B9"), ("G11", "G12", "H12"), ("H4", "I5"))
CHURCHYARD = ("E8", "E9")
BROOK = ("N8", "M9", "L8", "K9", "J8", "I9", "H8", "G8", "F7", "E7", "D6", "C6", "B5", "A5")
ROADS = (
    ("road", ("A10", "D9", "F9", "G10", "J12")),
    ("road", ("D9", "D12")),
    ("road", ("F9", "H7", "I4", "G1")),
)
PATHS = (("path", ("I4", "L4", "N5")), ("path", ("B4", "D5", "D9")))
ROUGHNESS = {"woods": 2.5, "wheat_field": 2.0, "orchard": 1.6, "stream": 3.0}
_slopes = Noise(SEED, 5, 2)
_trees = Noise(SEED + 1, 3, 2)


def height(x: float, y: float) -> float:
    """One hill in the north-east with a shoulder to the north-west."""
    top = 1 - ellipse(x, y, (11.0, 3.7), (4.6, 4.0))
    shoulder = 0.5 - ellipse(x, y, (5.6, 1.4), (3.0, 2.4))
    return max(top, shoulder) + 0.5 * (_slopes.at(x, y) - 0.5)


def paint() -> Sheet:
    sheet = Sheet(
        name="hill-312",
        title="Hill 312",
        ruleset="bob",
        extent=("A1", "N12"),
        meters_per_hex=80,
        source=SOURCE,
        note="An invented village and hill, painted by importers/demo.",
        fill="open_ground",
    )
    _raise_hill(sheet)
    _plant(sheet)
    _lay_roads(sheet)
    _enclose(sheet)
    _draw(sheet)
    sheet.names |= {
        sheet.at("E8"): "Church of Vesny",
        sheet.at("L4"): "Hill 312",
        sheet.at("I4"): "Upper Farm",
    }
    sheet.extra["places"] = {
        "Vesny": {"kind": "objective", "hexes": ["D8", "E8", "F8"]},
        "Hill 312": {"kind": "objective", "hexes": ["L3", "L4"]},
    }
    return sheet


def _places(sheet: Sheet, labels: tuple[str, ...]) -> list[Axial]:
    return [sheet.at(label) for label in labels]


def _raise_hill(sheet: Sheet) -> None:
    low = set(_places(sheet, (*BROOK, *STONE, *WOODEN[:4])))
    for place in sheet.hexes:
        tall = height(*centre(place))
        sheet.level[place] = 0 if place in low else 2 if tall > 0.58 else 1 if tall > 0.12 else 0
    for patch in sheet.patches(lambda place: sheet.level[place]):
        if len(patch) < 3 and sheet.level[patch[0]] > 0:
            sheet.level.update(dict.fromkeys(patch, sheet.level[patch[0]] - 1))


def _plant(sheet: Sheet) -> None:
    """Woods on the slopes and in copses, then what people planted and built."""
    for place in sheet.hexes:
        wooded = _trees.at(*centre(place)) + 0.06 * (sheet.level[place] == 1)
        sheet.terrain[place] = "woods" if wooded > 0.6 else "open_ground"
    sheet.merge_small_patches(2, ("woods", "open_ground"))
    for terrain, groups in (("wheat_field", FIELDS), ("orchard", ORCHARDS)):
        for group in groups:
            sheet.terrain.update(dict.fromkeys(_places(sheet, group), terrain))
    for terrain, labels in (
        ("open_ground", CHURCHYARD),
        ("stream", BROOK),
        ("stone_building", STONE),
        ("wooden_building", WOODEN),
    ):
        sheet.terrain.update(dict.fromkeys(_places(sheet, labels), terrain))


def _lay_roads(sheet: Sheet) -> None:
    def toll(one: Axial, other: Axial) -> float | None:
        if "building" in sheet.terrain[other]:
            return 4.0
        return ROUGHNESS.get(sheet.terrain[other], 1.0) + 1.5 * abs(sheet.level[one] - sheet.level[other])

    surveyor = Surveyor(sheet, toll)
    for kind, stops in ROADS + PATHS:
        for one, other in itertools.pairwise(stops):
            surveyor.connect(kind, sheet.at(one), sheet.at(other))
    for kind, _, chain in sheet.paths:
        for place in chain:
            if kind == "road" and sheet.terrain[place] in ("woods", "wheat_field"):
                sheet.terrain[place] = "open_ground"


def _enclose(sheet: Sheet) -> None:
    """Hedgerows round the fields and walls round the churchyard, with gates where a way passes."""
    gates = {
        side_between(one, other) for _, _, chain in sheet.paths for one, other in itertools.pairwise(chain)
    }
    fields = [
        [place for place in _places(sheet, group) if sheet.terrain[place] == "wheat_field"]
        for group in FIELDS
    ]
    for kind, groups in (("hedgerow", fields), ("wall", [_places(sheet, CHURCHYARD)])):
        for group in groups:
            for place in group:
                for other in sheet.beside(place):
                    side = side_between(place, other)
                    if other not in group and side not in gates and not sheet.sides.get(side):
                        sheet.add_side(side, kind)


def _draw(sheet: Sheet) -> None:
    brush = Brush(sheet, SEED + 5)
    for terrain, inset, rounds in (("wheat_field", 0.12, 1), ("woods", 0.14, 2)):
        for patch in sheet.connected(sheet.of_terrain(terrain)):
            brush.area(terrain, set(patch), inset, rounds)
    for patch in sheet.connected(sheet.of_terrain("orchard")):
        brush.exact_area("orchard", set(patch))
    brush.course("stream", _places(sheet, BROOK), 0.26)
    for terrain, labels in (("stone_building", STONE), ("wooden_building", WOODEN)):
        for n, label in enumerate(labels):
            x, y = centre(sheet.at(label))
            brush.house(terrain, (x, y - 0.05), (0.5, 0.34), n)
            brush.house(terrain, (x + 0.12, y + 0.22), (0.3, 0.24), n)
    for level in (1, 2):
        upper = {place for place in sheet.hexes if sheet.level[place] >= level}
        for patch in sheet.connected(upper):
            brush.crest(level, set(patch))
