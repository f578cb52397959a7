"""Painting for css: coasts, forested ridges in four levels, plains with towns and fields.

The order is that of nature and then of people: heights, sea, levels, water, cover, towns,
fields, roads. Each step reads what the earlier ones left on the sheet.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from db.labels import Axial, side_hexes
from importers.demo import relief
from importers.demo.noise import Noise, chance, mixed
from importers.demo.sheet import Sheet, centre, corners, side_between, side_corners
from importers.demo.ways import Surveyor

NATURAL = ("clear", "brush", "tropical_forest", "palm_forest", "swamp", "rocky", "mangrove_swamp", "beach")
WATER = ("stream", "river", "ravine")
STEEP = ("steep_slope", "cliff", "ridge")
ROUGHNESS = {
    "tropical_forest": 2.2,
    "rocky": 3.0,
    "swamp": 2.0,
    "mangrove_swamp": 6.0,
    "brush": 1.4,
    "palm_forest": 1.4,
    "rice_paddy": 1.6,
    "sugar_cane": 1.4,
    "beach": 1.8,
    "runway": 6.0,
}
"""What ground costs a road builder; other ground costs 1."""


@dataclass(frozen=True)
class Plan:
    """What a css map is to have."""

    seed: int
    height: Callable[[float, float], float]
    sea: float
    """Share of the paper that is sea."""
    level_shares: tuple[float, float, float]
    """Shares of the land below levels 2, 3 and 4."""
    stream: int
    river: int
    """Corners that must drain through a hexside to make it a stream, or a river."""
    towns: Sequence[str]
    hamlets: Sequence[str]
    airfields: Sequence[tuple[str, str]]
    """Airfields, each with the town it lies near."""
    peaks: Sequence[str]
    town_size: int
    spacing: int
    """Hexes between one settlement and the next."""
    exits: Sequence[str] = ()
    """Where the paved road leaves the map."""


class CssPainter:
    """Paints one css sheet after a plan."""

    def __init__(self, sheet: Sheet, plan: Plan) -> None:
        self.sheet = sheet
        self.plan = plan
        self.field = relief.heights(sheet, plan.height)
        sea = relief.flooded(sheet, self.field, plan.sea)
        self.land = [place for place in sheet.hexes if place not in sea]
        self.dry = set(self.land)
        self.from_sea = sheet.distances(sea)
        self.settled: list[Axial] = []
        self.runway_ends: list[Axial] = []

    def paint(self) -> Sheet:
        self.raise_levels()
        self.run_water()
        self.draw_ridges()
        self.grow_cover()
        self.found_towns()
        self.level_airfields()
        self.build_hamlets()
        self.till_fields()
        self.open_caves()
        self.name_peaks()
        self.lay_roads()
        return self.sheet

    def raise_levels(self) -> None:
        relief.levels(self.sheet, self.field, self.dry, self.plan.level_shares, base=1)
        for place in self.land:
            if self.from_sea[place] == 1 and self.sheet.level[place] == 2 and self._gentle(place):
                self.sheet.level[place] = 1
        relief.slopes(self.sheet, self.field, steep_share=0.4, cliff_share=0.12)

    def run_water(self) -> None:
        """Streams where water gathers, rivers lower down, ravines where a young stream falls steeply."""
        drainage = relief.Drainage(self.sheet, self.field, self.dry, self.plan.seed)
        for side, water in drainage.reaches(self.plan.stream):
            kinds = self.sheet.sides.get(side, [])
            if "cliff" in kinds:
                kinds[kinds.index("cliff")] = "steep_slope"
            self.sheet.add_side(side, "river" if water >= self.plan.river else "stream")
        cleft = Noise(mixed(self.plan.seed, 14), 5, 2)
        for side, water in drainage.reaches(self.plan.stream // 3):
            one, other = side_hexes(*side)
            high = min(self.sheet.level[one], self.sheet.level[other]) >= 2 and cleft.at(*centre(one)) > 0.5
            if water < self.plan.stream and high and not self.sheet.sides.get(side):
                self.sheet.add_side(side, "ravine")
        self._fill_in_short("ravine", least=3)
        self.watered = relief.wet_hexes(
            (side for side, kinds in self.sheet.sides.items() if "river" in kinds or "stream" in kinds),
            self.land,
        )
        self.mouths = {
            place
            for place in self.watered
            if self.from_sea[place] == 1 and self._at_mouth(place, "river") and self.sheet.level[place] == 1
        }

    def draw_ridges(self) -> None:
        """Ridge lines along hexsides of the high ground where it falls away on both sides."""
        crests = sorted(
            (
                (self.field[one] + self.field[other], side_between(one, other))
                for one in self.land
                for other in self.sheet.beside(one)
                if one < other and other in self.dry
                if self.sheet.level[one] == self.sheet.level[other] >= 2
                if not self.sheet.sides.get(side_between(one, other)) and self._crests(one, other)
            ),
            reverse=True,
        )
        used: dict[tuple[int, int], int] = {}
        for _, side in crests:
            ends = side_corners(side)
            if all(used.get(corner, 0) < 2 for corner in ends):
                self.sheet.add_side(side, "ridge")
                for corner in ends:
                    used[corner] = used.get(corner, 0) + 1
        self._fill_in_short("ridge", least=3)

    def _crests(self, one: Axial, other: Axial) -> bool:
        """True where the ground behind either hex, away from the side, is lower than at the side."""
        step = Axial(other.q - one.q, other.r - one.r)
        behind = Axial(one.q - step.q, one.r - step.r), Axial(other.q + step.q, other.r + step.r)
        top = (self.field[one] + self.field[other]) / 2
        return all(place in self.field and self.field[place] < top for place in behind)

    def _fill_in_short(self, kind: str, least: int) -> None:
        """Rub out lines of a kind that are shorter than `least` sides."""
        for chain in relief.side_chains(self.sheet, kind):
            if len(chain) < least:
                for side in chain:
                    self.sheet.sides[side].remove(kind)

    def grow_cover(self) -> None:
        """Cover by wetness, height and steepness, then lone hexes taken by what surrounds them."""
        plan = self.plan
        self.wetness = Noise(mixed(plan.seed, 1), 7, 3)
        self.stone = Noise(mixed(plan.seed, 2), 4, 2)
        self.tall = relief.quantile((self.field[place] for place in self.land), 0.5)
        for place in self.land:
            self.sheet.terrain[place] = self._cover(place)
        self.sheet.merge_small_patches(3, NATURAL[:-2])
        for place in self.mouths:
            for other in [place, *self.sheet.beside(place)]:
                low = other in self.dry and self.sheet.level[other] == 1 and self.from_sea[other] <= 2
                if low and other in self.watered:
                    self.sheet.terrain[other] = "mangrove_swamp"

    def _cover(self, place: Axial) -> str:
        x, y = centre(place)
        wet, stone = self.wetness.at(x, y), self.stone.at(x, y)
        level, inland = self.sheet.level[place], self.from_sea[place]
        if (level >= 3 and stone > 0.62) or (level == 4 and stone > 0.52):
            return "rocky"
        if inland == 1 and level == 1:
            return "beach"
        if inland == 1:
            return "rocky" if stone > 0.45 else "brush"
        if inland <= 3 and level == 1 and stone > 0.44:
            return "palm_forest"
        if level == 1 and wet > 0.56 and place in self.watered and self._gentle(place):
            return "swamp"
        if wet > (0.6, 0.6, 0.49, 0.44, 0.46)[level]:
            return "tropical_forest"
        if wet > (0.5, 0.5, 0.41, 0.36, 0.34)[level]:
            return "brush"
        return "clear"

    def _gentle(self, place: Axial) -> bool:
        around = [self.sheet.level[other] for other in self.sheet.beside(place) if other in self.dry]
        return max(around, default=1) - min(around, default=1) <= 1

    def _at_mouth(self, place: Axial, kind: str) -> bool:
        """True for a hex of the coast where a side of this kind ends in the sea."""
        sea = [other for other in self.sheet.beside(place) if other not in self.dry]
        wet = {corner for other in sea for corner in corners(other)}
        return any(
            kind in kinds
            for other in self.sheet.beside(place)
            for kinds in [self.sheet.sides.get(side_between(place, other), [])]
            if kinds and wet & set(side_corners(side_between(place, other)))
        )

    def _sites(self, score: Callable[[Axial], float | None]) -> list[Axial]:
        """Places by merit, best first, those without a score left out."""
        scored = [(score(place), place) for place in self.land]
        return [place for merit, place in sorted((-m, p) for m, p in scored if m is not None)]

    def _free(self, place: Axial, spacing: int) -> bool:
        on_paper = len(self.sheet.beside(place)) == 6
        return on_paper and all(place.distance(other) >= spacing for other in self.settled)

    def found_towns(self) -> None:
        """Towns in the plain behind the shore, near water."""
        sites = self._sites(self._town_merit)
        for name in self.plan.towns:
            site = next(place for place in sites if self._free(place, 2 * self.plan.spacing))
            self._settle(site, "town", self.plan.town_size, name)

    def _town_merit(self, place: Axial) -> float | None:
        around = self.sheet.within(place, 2)
        if self.sheet.level[place] != 1 or not 2 <= self.from_sea[place] <= 4:
            return None
        if self.sheet.terrain[place] in ("swamp", "mangrove_swamp", "beach"):
            return None
        flat = sum(self.sheet.level.get(other) == 1 for other in around)
        return flat + 3 * (place in self.watered) + chance(self.plan.seed, 3, *place)

    def _settle(self, site: Axial, kind: str, size: int, name: str) -> None:
        """A compact group of hexes around a site, on its level and its bank of the river."""
        group = [site]
        for place in group:
            for other in sorted(self.sheet.beside(place), key=lambda o: mixed(self.plan.seed, 4, *o)):
                river = "river" in self.sheet.sides.get(side_between(place, other), [])
                buildable = other in self.dry and self.sheet.terrain[other] not in ("beach", "runway")
                flat = self.sheet.level.get(other) == self.sheet.level[site]
                if len(group) < size and other not in group and buildable and flat and not river:
                    group.append(other)
        self.sheet.terrain.update(dict.fromkeys(group, kind))
        self.sheet.names[site] = name
        self.settled.append(site)

    def level_airfields(self) -> None:
        """A straight runway on flat ground, a little way from its town."""
        towns = {name: place for place, name in self.sheet.names.items()}
        for name, town in self.plan.airfields:
            sites = self._sites(functools.partial(self._airfield_merit, town=towns[town]))
            strip = next(
                strip
                for place in sites
                for direction in (2, 3, 1)
                if self._flat(strip := self._strip(place, direction, 6))
            )
            self.sheet.terrain.update(dict.fromkeys(strip, "runway"))
            self.sheet.names[strip[2]] = name
            self._fell_trees(strip)
            self.settled += [strip[0], strip[-1], strip[3]]
            self.runway_ends.append(strip[0])

    def _fell_trees(self, strip: list[Axial]) -> None:
        for place in strip:
            for other in self.sheet.beside(place):
                if self.sheet.terrain.get(other) in ("tropical_forest", "palm_forest", "swamp", "brush"):
                    self.sheet.terrain[other] = "clear"

    def _airfield_merit(self, place: Axial, town: Axial) -> float | None:
        away = place.distance(town)
        if self.sheet.level[place] != 1 or self.from_sea[place] < 2 or away < 4:
            return None
        return -away + chance(self.plan.seed, 5, *place)

    def _strip(self, place: Axial, direction: int, length: int) -> list[Axial]:
        strip = [place]
        while len(strip) < length:
            strip.append(strip[-1].beside(direction))
        return strip

    def _flat(self, strip: list[Axial]) -> bool:
        sides = [side_between(one, other) for one, other in itertools.pairwise(strip)]
        return (
            all(self.sheet.level.get(place) == 1 and self.from_sea[place] >= 2 for place in strip)
            and all(self._free(place, 3) for place in strip)
            and not any(self.sheet.sides.get(side) for side in sides)
        )

    def build_hamlets(self) -> None:
        sites = self._sites(self._hamlet_merit)
        for name in self.plan.hamlets:
            site = next((place for place in sites if self._free(place, self.plan.spacing)), None)
            if site is not None:
                self._settle(site, "buildings", 1 + mixed(self.plan.seed, 6, *site) % 2, name)

    def _hamlet_merit(self, place: Axial) -> float | None:
        level, terrain = self.sheet.level[place], self.sheet.terrain[place]
        if level > 2 or terrain in ("swamp", "mangrove_swamp", "rocky", "runway", "town", "beach"):
            return None
        kinds = [
            kind
            for other in self.sheet.beside(place)
            for kind in self.sheet.sides.get(side_between(place, other), [])
        ]
        if "cliff" in kinds or "ravine" in kinds:
            return None
        return (place in self.watered) + (terrain == "clear") + 1.5 * chance(self.plan.seed, 7, *place)

    def till_fields(self) -> None:
        """Paddies on watered flats near people, sugar cane on the dry ground behind a town or hamlet."""
        near = self.sheet.distances(
            place for place in self.land if self.sheet.terrain[place] in ("town", "buildings")
        )
        paddy, cane = Noise(mixed(self.plan.seed, 11), 3, 2), Noise(mixed(self.plan.seed, 12), 4, 2)
        for place in self.land:
            x, y = centre(place)
            open_ground = self.sheet.terrain[place] in ("clear", "brush", "swamp")
            if not open_ground or self.sheet.level[place] > 1 or near.get(place, 99) > 2:
                continue
            by_water = place in self.watered or any(o in self.watered for o in self.sheet.beside(place))
            if by_water and paddy.at(x, y) > 0.45:
                self.sheet.terrain[place] = "rice_paddy"
            elif not by_water and cane.at(x, y) > 0.5:
                self.sheet.terrain[place] = "sugar_cane"
        self.sheet.merge_small_patches(2, ("rice_paddy", "sugar_cane", "clear", "brush"))

    def open_caves(self) -> None:
        """Caves in rocky hexes of the heights, where the ground drops beside them."""
        for place in self.land:
            drops = any(
                self.sheet.level[other] < self.sheet.level[place]
                for other in self.sheet.beside(place)
                if other in self.dry
            )
            rocky_height = self.sheet.terrain[place] == "rocky" and self.sheet.level[place] >= 2
            if rocky_height and drops and chance(self.plan.seed, 13, *place) < 0.25:
                self.sheet.add_feature(place, "cave")

    def name_peaks(self) -> None:
        summits: list[Axial] = []
        for place in sorted(self.land, key=lambda place: -self.field[place]):
            inside = len(self.sheet.beside(place)) == 6
            if inside and all(place.distance(other) >= self.plan.spacing + 2 for other in summits):
                summits.append(place)
        for name, place in zip(self.plan.peaks, summits, strict=False):
            self.sheet.names[place] = name
        self.summits = summits[: len(self.plan.peaks)]

    def lay_roads(self) -> None:
        """Paved between towns and airfields and off the map, unpaved to hamlets, trails to the heights."""
        surveyor = Surveyor(self.sheet, self._toll)
        towns = [place for place in self.settled if self.sheet.terrain[place] == "town"]
        hamlets = [place for place in self.settled if self.sheet.terrain[place] == "buildings"]
        for one, other in itertools.pairwise(towns):
            surveyor.connect("paved_road", one, other)
        for label in self.plan.exits:
            rim = self.sheet.at(label)
            surveyor.connect("paved_road", rim, _nearest(rim, towns))
        for strip in self.runway_ends:
            surveyor.connect("paved_road", strip, _nearest(strip, towns))
        known = list(towns)
        for hamlet in sorted(hamlets, key=lambda place: place.distance(_nearest(place, towns))):
            surveyor.connect("unpaved_road", hamlet, _nearest(hamlet, known))
            known.append(hamlet)
        for summit in self.summits:
            surveyor.connect("trail", summit, _nearest(summit, known))
        for one, other in zip(hamlets, hamlets[2:], strict=False):
            if one.distance(other) <= 2 * self.plan.spacing:
                surveyor.connect("trail", one, other)
        self._raise_causeways()

    def _toll(self, one: Axial, other: Axial) -> float | None:
        if other not in self.dry:
            return None
        kinds = self.sheet.sides.get(side_between(one, other), [])
        if "cliff" in kinds:
            return None
        toll = ROUGHNESS.get(self.sheet.terrain[other], 1.0)
        toll += 2.0 * ("slope" in kinds) + 6.0 * ("steep_slope" in kinds) + 6.0 * ("ridge" in kinds)
        return toll + 1.5 * ("stream" in kinds) + 4.0 * ("river" in kinds) + 9.0 * ("ravine" in kinds)

    def _raise_causeways(self) -> None:
        """A road through swamp stands on a causeway."""
        wet = ("swamp", "mangrove_swamp")
        ways: list[tuple[str, str | None, list[Axial]]] = []
        for kind, name, chain in self.sheet.paths:
            if kind == "trail":
                ways.append((kind, name, chain))
                continue
            stretch, dry = [chain[0]], None
            for one, other in itertools.pairwise(chain):
                sodden = any(self.sheet.terrain[place] in wet for place in (one, other))
                if dry is not None and sodden == dry:
                    ways.append((kind if dry else "causeway", name, stretch))
                    stretch = [one]
                dry = not sodden
                stretch = [*stretch, other]
            ways.append((kind if dry else "causeway", name, stretch))
        self.sheet.paths = ways


def _nearest(place: Axial, others: Sequence[Axial]) -> Axial:
    return min(others, key=lambda other: (place.distance(other), other))
