"""From the plan of an island to a painted sheet: coast, ground, rivers, places and ways."""

from __future__ import annotations

import itertools

from db.labels import Axial
from importers.demo import relief
from importers.demo.noise import Noise
from importers.demo.sheet import Document, Sheet, centre, scheme_of, side_between
from importers.demo.ways import Surveyor
from importers.islands.coast import real_land
from importers.islands.plans import GROUND, Plan

RULESET = "fpb"
SEA = "sea"
NOTE = (
    "A house map, not the publisher's: the hex numbers of the placement tables (19.0) lie on the real coast"
    " (after GSHHG), the ground on it is our own."
)
LOWER = "Even columns lie lower here: so all hexes of the tables have land, and not the other way round."
REMEMBERED = "Villages and beaches stand where we remember them to be, give or take a hex or two; no book numbers them."
TOLLS = {
    "mountain": 7.0,
    "hill_jungle": 3.5,
    "hill": 2.5,
    "jungle": 2.2,
    "marsh": 3.0,
    "light_jungle": 1.4,
}
"""What ground costs a road builder; clear ground costs 1."""
NATURAL = ("clear", "jungle", "light_jungle", "hill", "hill_jungle")


def paint(plan: Plan) -> Sheet:
    """The island as its map file has it."""
    return _Painter(plan).paint()


class _Painter:
    """Paints one island."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.sheet = Sheet(
            name=plan.name,
            title=plan.title,
            ruleset=RULESET,
            extent=(plan.corner, plan.far_corner),
            meters_per_hex=plan.meters_per_hex,
            note=" ".join(
                (NOTE, *[LOWER] * (plan.shift == "down"), *[REMEMBERED] * bool(plan.villages or plan.beaches))
            ),
            fill=SEA,
            numbering=scheme_of(RULESET).model_copy(update={"shift": plan.shift}),
        )
        self.drawn = self._drawn() if plan.outline else self._laid()
        self.land = [place for place in self.sheet.hexes if self.drawn[place] != "."]
        self.dry = set(self.land)

    def _drawn(self) -> dict[Axial, str]:
        """The letters of an outline by their hexes."""
        column, row = int(self.plan.corner[:2]), int(self.plan.corner[2:])
        return {
            self.sheet.at(f"{column + across:02}{row + down:02}"): letter
            for down, line in enumerate(self.plan.outline)
            for across, letter in enumerate(line)
        }

    def _laid(self) -> dict[Axial, str]:
        """Land to be painted where the real island is."""
        land = real_land(self.plan, self.sheet.scheme)
        return {place: "#" if place in land else "." for place in self.sheet.hexes}

    def paint(self) -> Sheet:
        self.sheet.level = dict.fromkeys(self.sheet.hexes, 0)
        self.lay_ground()
        self.run_rivers()
        self.mark_coast()
        self.mark_places()
        self.lay_ways()
        self.sheet.extra = self.about()
        return self.sheet

    def lay_ground(self) -> None:
        self.field = relief.heights(self.sheet, self._height)
        painted = [place for place in self.land if self.drawn[place] == "#"]
        steps = [
            relief.quantile((self.field[place] for place in painted), share)
            for share in self.plan.shares
            if painted
        ]
        wetness = Noise(self.plan.seed + 1, 5, 3)
        self.sheet.terrain = {place: GROUND.get(self.drawn[place], SEA) for place in self.sheet.hexes} | {
            place: self._ground(place, steps, wetness.at(*centre(place))) for place in painted
        }
        if painted:
            self.sheet.merge_small_patches(2, NATURAL)
        for label, terrain in self.plan.ground.items():
            self.sheet.terrain[self.sheet.at(label)] = terrain

    def _height(self, x: float, y: float) -> float:
        """Hills around the peaks, and a little of chance."""
        total = 0.4 * Noise(self.plan.seed, 6, 3).at(x, y)
        for label, (height, breadth) in self.plan.peaks.items():
            across, down = centre(self.sheet.at(label))
            away = ((x - across) * (x - across) + (y - down) * (y - down)) / (breadth * breadth)
            total += height / (1 + away)
        return total

    def _ground(self, place: Axial, steps: list[float], wet: float) -> str:
        rank = sum(self.field[place] >= step for step in steps)
        light, deep = self.plan.dryness
        if rank == 3:
            return "mountain"
        if rank == 2:
            return "hill_jungle" if wet > deep else "hill"
        if rank == 1 and wet > deep:
            return "jungle"
        return "jungle" if wet > deep + 0.06 else "light_jungle" if wet > light else "clear"

    def run_rivers(self) -> None:
        if not self.plan.river:
            return
        drainage = relief.Drainage(self.sheet, self.field, self.dry, self.plan.seed)
        for side, _ in drainage.reaches(self.plan.river):
            self.sheet.add_side(side, "river")
        for chain in relief.side_chains(self.sheet, "river"):
            if len(chain) < 3:
                for side in chain:
                    del self.sheet.sides[side]

    def mark_coast(self) -> None:
        """A coastal hex has land and sea (12.0): here, land with sea beside it."""
        for place in self.land:
            if any(other not in self.dry for other in self.sheet.beside(place)):
                self.sheet.add_feature(place, "coast")

    def mark_places(self) -> None:
        plan, sheet = self.plan, self.sheet
        flat = [
            label
            for places in (plan.airstrips, plan.beaches)
            for labels in places.values()
            for label in labels
        ]
        for label in (*flat, *plan.villages):
            sheet.terrain[sheet.at(label)] = "clear"
        for name, labels in plan.airstrips.items():
            for label in labels:
                sheet.add_feature(sheet.at(label), "airstrip")
            sheet.names[sheet.at(labels[0])] = name
        for label, name in plan.villages.items():
            sheet.add_feature(sheet.at(label), "village")
            sheet.names[sheet.at(label)] = name
        for label in plan.reefs:
            sheet.add_feature(sheet.at(label), "reef")
        for label, feature in plan.features.items():
            sheet.add_feature(sheet.at(label), feature)
        for label, name in plan.names.items():
            sheet.names[sheet.at(label)] = name

    def lay_ways(self) -> None:
        for kind, ways in (("road", self.plan.roads), ("trail", self.plan.trails)):
            for way in ways:
                surveyor = Surveyor(self.sheet, self._toll)
                for one, other in itertools.pairwise(way):
                    surveyor.connect(kind, self.sheet.at(one), self.sheet.at(other))

    def _toll(self, one: Axial, other: Axial) -> float | None:
        if other not in self.dry:
            return None
        river = "river" in self.sheet.sides.get(side_between(one, other), [])
        return TOLLS.get(self.sheet.terrain[other], 1.0) + (3.0 if river else 0.0)

    def about(self) -> Document:
        """Objectives and beaches by name, and where the island lies."""
        plan = self.plan
        marked = {"objective": plan.airstrips | plan.objectives, "landmark": plan.beaches}
        places = {
            name: {"kind": kind, "hexes": list(labels)}
            for kind, named in marked.items()
            for name, labels in named.items()
        }
        control = [{"hex": label, "lon": lon, "lat": lat} for label, lon, lat in plan.control]
        return {"places": places, "georeference": {"crs": "EPSG:4326", "points": control}}
