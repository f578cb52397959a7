"""Tanaro Island, for fpb: a mountainous island behind a reef, with villages and one airstrip."""

from __future__ import annotations

from db.labels import Axial
from importers.demo import relief
from importers.demo.noise import Noise, chance, mixed
from importers.demo.sheet import SOURCE, Sheet, centre, corners, side_between
from importers.demo.ways import Surveyor

SEED = 2640
VILLAGES = ("Oremai", "Tefala", "Wakura", "Simbo Point", "Lanu", "Huri")
ROUGHNESS = {
    "mountain": 6.0,
    "hill_jungle": 2.6,
    "hill": 2.5,
    "jungle": 2.2,
    "marsh": 3.0,
    "light_jungle": 1.4,
}
"""What ground costs a road builder; clear ground costs 1."""
_shore = Noise(SEED, 8, 3)
_crests = Noise(SEED + 1, 10, 3)
_wetness = Noise(SEED + 7, 4, 3)
_knolls = Noise(SEED + 4, 4, 2)
_shelf = Noise(SEED + 3, 5, 2)


def height(x: float, y: float) -> float:
    """A long island, bent like a bow, with its back to the north-east."""
    across, down = (x - 10.8) / 11.5, (y - 10.4) / 8.6
    bow = across * across + down * down + 0.9 * across * down + 0.35 * (down - across * across)
    rim = 0.8 - bow + 1.3 * (_shore.at(x, y) - 0.5)
    rim -= 0.8 * max(0.0, 2.5 - min(x - 1.2, 21.3 - x, y, 21.5 - y))
    spine = _crests.ridged(x, y, sharpness=3)
    return rim + max(0.0, min(1.0, rim + 0.2)) * 1.5 * spine + 0.25 * _knolls.at(x, y)


def paint() -> Sheet:
    return _Painter().paint()


class _Painter:
    """Paints Tanaro Island."""

    def __init__(self) -> None:
        self.sheet = Sheet(
            name="tanaro-island",
            title="Tanaro Island",
            ruleset="fpb",
            extent=("0101", "2420"),
            meters_per_hex=1600,
            source=SOURCE,
            note="An invented island, painted by importers/demo.",
            fill="sea",
        )
        self.field = relief.heights(self.sheet, height)
        self.sea = relief.flooded(self.sheet, self.field, 0.45, least_island=3)
        self.land = [place for place in self.sheet.hexes if place not in self.sea]
        self.dry = set(self.land)
        self.from_sea = self.sheet.distances(place for place in self.sheet.hexes if place in self.sea)

    def paint(self) -> Sheet:
        self.sheet.level = dict.fromkeys(self.sheet.hexes, 0)
        self.run_rivers()
        self.grow_cover()
        self.lay_reef()
        self.mark_coast()
        self.clear_airstrip()
        self.build_villages()
        self.lay_ways()
        return self.sheet

    def run_rivers(self) -> None:
        drainage = relief.Drainage(self.sheet, self.field, self.dry, SEED)
        for side, _ in drainage.reaches(12):
            self.sheet.add_side(side, "river")
        for chain in relief.side_chains(self.sheet, "river"):
            if len(chain) < 5:
                for side in chain:
                    del self.sheet.sides[side]
        self.watered = relief.wet_hexes(self.sheet.sides, self.land)

    def grow_cover(self) -> None:
        ranks = [
            relief.quantile((self.field[place] for place in self.land), share) for share in (0.5, 0.7, 0.87)
        ]
        for place in self.sheet.hexes:
            rank = sum(self.field[place] >= step for step in ranks)
            self.sheet.terrain[place] = self._cover(place, rank) if place in self.dry else "sea"
        kinds = ("clear", "jungle", "light_jungle", "hill", "hill_jungle", "mountain", "marsh")
        self.sheet.merge_small_patches(2, kinds)

    def _cover(self, place: Axial, rank: int) -> str:
        wet = _wetness.at(*centre(place))
        if rank == 3:
            return "mountain"
        if rank == 2:
            return "hill_jungle" if wet > 0.44 else "hill"
        if rank == 1:
            return "hill_jungle" if wet > 0.6 else "jungle" if wet > 0.42 else "hill"
        if place in self.watered and self.from_sea[place] <= 3 and wet > 0.36:
            return "marsh"
        return "jungle" if wet > 0.5 else "light_jungle" if wet > 0.39 else "clear"

    def lay_reef(self) -> None:
        """A reef along the windward side, one hex or two off the shore, with gaps at the river mouths."""
        mouths = {corner for place in self.watered if self.from_sea[place] == 1 for corner in corners(place)}
        from_land = self.sheet.distances(self.land)
        for place in self.sheet.hexes:
            x, y = centre(place)
            passage = from_land[place] == 1 and mouths & set(corners(place))
            windward = y - 0.35 * x > 5.5
            if (
                place in self.sea
                and from_land[place] <= 2
                and windward
                and not passage
                and _shelf.at(x, y) > 0.4 + 0.06 * from_land[place]
            ):
                self.sheet.terrain[place] = "reef"
        self.sheet.merge_small_patches(2, ("reef", "sea"))

    def mark_coast(self) -> None:
        for place in self.land:
            if self.from_sea[place] == 1:
                self.sheet.add_feature(place, "coast")

    def clear_airstrip(self) -> None:
        """Two hexes of flat ground near the middle of the coast plain."""

        def merit(place: Axial) -> float:
            around = [self.sheet.terrain[other] for other in self.sheet.within(place, 1)]
            return (
                around.count("clear") + 0.5 * around.count("light_jungle") - 2 * abs(self.from_sea[place] - 2)
            )

        site = max(self.land, key=lambda place: (merit(place), place))
        second = max(
            (
                other
                for other in self.sheet.beside(site)
                if not self.sheet.sides.get(side_between(site, other))
            ),
            key=merit,
        )
        self.strip = [site, second]
        for place in self.strip:
            self.sheet.terrain[place] = "clear"
            self.sheet.add_feature(place, "airstrip")
        self.sheet.names[site] = "Tanaro Airstrip"

    def build_villages(self) -> None:
        """Villages near the shore or a river, well apart; the biggest fills its hex."""
        self.villages: list[Axial] = []
        taken = list(self.strip)
        for name in VILLAGES:
            site = max(
                (place for place in self.land if all(place.distance(other) >= 5 for other in taken)),
                key=lambda place: (self._village_merit(place), place),
                default=None,
            )
            if site is None:
                break
            if not self.villages:
                self.sheet.terrain[site] = "village"
            self.sheet.add_feature(site, "village")
            self.sheet.names[site] = name
            self.villages.append(site)
            taken.append(site)

    def _village_merit(self, place: Axial) -> float:
        terrain = self.sheet.terrain[place]
        merit = {"clear": 2.0, "light_jungle": 1.5, "jungle": 0.5, "hill": 0.5}.get(terrain, -3.0)
        shore = 1.0 if self.from_sea[place] <= 2 else 0.0
        return merit + shore + (place in self.watered) + chance(mixed(SEED, 5), *place)

    def lay_ways(self) -> None:
        """A coast road from the airstrip to the nearer villages, trails to the rest and over the mountains."""
        surveyor = Surveyor(self.sheet, self._toll)
        nearer = sorted(self.villages, key=lambda place: place.distance(self.strip[0]))
        for village in nearer[:3]:
            surveyor.connect("road", village, self.strip[0])
        for n, village in enumerate(nearer[3:], start=3):
            known = nearer[:n]
            surveyor.connect("trail", village, min(known, key=lambda other: (village.distance(other), other)))
        Surveyor(self.sheet, self._toll, reuse=1).connect("trail", self.villages[3], self.strip[0])

    def _toll(self, one: Axial, other: Axial) -> float | None:
        if other not in self.dry:
            return None
        river = "river" in self.sheet.sides.get(side_between(one, other), [])
        return ROUGHNESS.get(self.sheet.terrain[other], 1.0) + (3.0 if river else 0.0)
