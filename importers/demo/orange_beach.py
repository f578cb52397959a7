"""Orange Beach, for ddp: landing beaches under fire from a coral ridge, with twelve positions.

The name follows the habit of naming landing beaches by colours; the ground and the
positions with their fields of fire are invented.
"""

from __future__ import annotations

from collections.abc import Iterable

from db.labels import Axial
from importers.demo import relief
from importers.demo.noise import Noise, ellipse, mixed
from importers.demo.sheet import SOURCE, Document, Sheet, centre, side_between
from importers.demo.ways import Surveyor

SEED = 915
COLORS = ("blue", "brown", "green", "orange", "purple", "red")
ROUGHNESS = {"mountain": 6.0, "coral": 3.0, "swamp": 3.0, "jungle": 2.0, "beach": 1.5, "airstrip": 1.2}
LANDING_ROWS = range(5, 15)
"""Rows whose beach hexes are the landing beach."""
_shore = Noise(SEED, 6, 3)
_crests = Noise(SEED + 1, 6, 2)
_wetness = Noise(SEED + 2, 4, 2)


def height(x: float, y: float) -> float:
    """Sea in the west and round the south, a broken ridge in the north-east, flats behind the beach."""
    west = (x - 4.0) / 6
    south = (19.2 - y) / 5
    east = (18.6 - x) / 3.5
    rim = min(west, south, east) + 0.7 * (_shore.at(x, y) - 0.5)
    ridge = max(0.0, 1 - ellipse(x, y, (11.5, 4.5), (5.0, 6.0)))
    return min(rim, 0.8) + ridge * (0.45 + 1.3 * _crests.ridged(x, y, sharpness=2))


def paint() -> Sheet:
    return _Painter().paint()


class _Painter:
    """Paints Orange Beach."""

    def __init__(self) -> None:
        self.sheet = Sheet(
            name="orange-beach",
            title="Orange Beach",
            ruleset="ddp",
            extent=("0101", "2020"),
            meters_per_hex=230,
            source=SOURCE,
            note="Invented ground and positions, painted by importers/demo.",
            fill="clear",
        )
        self.field = relief.heights(self.sheet, height)
        self.sea = relief.flooded(self.sheet, self.field, 0.3)
        self.land = [place for place in self.sheet.hexes if place not in self.sea]
        self.dry = set(self.land)
        self.from_sea = self.sheet.distances(place for place in self.sheet.hexes if place in self.sea)

    def paint(self) -> Sheet:
        self.sheet.level = dict.fromkeys(self.sheet.hexes, 0)
        self.lay_ground()
        self.lay_water()
        self.build()
        self.cut_cliffs()
        self.lay_roads()
        self.dig_positions()
        return self.sheet

    def lay_ground(self) -> None:
        values = [self.field[place] for place in self.land]
        high, coral = relief.quantile(values, 0.87), relief.quantile(values, 0.75)
        for place in self.land:
            x, y = centre(place)
            wet = _wetness.at(x, y)
            if self.field[place] >= high:
                terrain = "mountain"
            elif self.field[place] >= coral:
                terrain = "coral" if wet < 0.62 else "jungle"
            elif self.from_sea[place] == 1 and x < 10:
                terrain = "beach"
            elif x > 14 and self.from_sea[place] <= 3 and wet > 0.36:
                terrain = "swamp"
            elif wet > 0.5:
                terrain = "jungle"
            else:
                terrain = "clear"
            self.sheet.terrain[place] = terrain
        self.sheet.merge_small_patches(2, ("clear", "jungle", "coral", "swamp", "mountain"))
        for place in self.land:
            if self.sheet.terrain[place] == "beach" and _row(self.sheet, place) in LANDING_ROWS:
                self.sheet.add_feature(place, "landing_beach")

    def lay_water(self) -> None:
        """Shallows over the shelf, deep sea beyond."""
        from_land = self.sheet.distances(self.land)
        for place in self.sea:
            self.sheet.terrain[place] = "shallow" if from_land[place] <= 2 else "sea"
        self.sheet.merge_small_patches(2, ("shallow", "sea"))

    def build(self) -> None:
        """Two crossing strips of an airfield on the flats, barracks beside it, a village in the north."""
        cross = max(
            (place for place in self.land if self._flat_around(place, 2)),
            key=lambda place: (-abs(centre(place)[1] - 13.5) - abs(centre(place)[0] - 10), place),
        )
        self.strip = [cross]
        for direction in (2, 5, 3, 6):
            place = cross
            for _ in range(2 if direction in (2, 5) else 1):
                place = place.beside(direction)
                self.strip.append(place)
        self.sheet.terrain.update(dict.fromkeys(self.strip, "airstrip"))
        self.sheet.names[cross] = "Orange Field"
        self.barracks = self._settle(self.strip, 2, "Barracks")
        far = [max(self.land, key=lambda place: (place.distance(cross) - 3 * self._rough(place), place))]
        self.village = self._settle(far, 0, "Lomu")

    def _rough(self, place: Axial) -> float:
        return ROUGHNESS.get(self.sheet.terrain[place], 1.0)

    def _flat_around(self, place: Axial, distance: int) -> bool:
        around = self.sheet.within(place, distance)
        return len(around) == 3 * distance * (distance + 1) + 1 and all(
            self.sheet.terrain.get(other) in ("clear", "jungle") for other in around
        )

    def _settle(self, near: list[Axial], least: int, name: str) -> list[Axial]:
        away = self.sheet.distances(near)
        site = min(
            (
                place
                for place in self.land
                if self.sheet.terrain[place] in ("clear", "jungle") and away[place] >= least
            ),
            key=lambda place: (away[place], -centre(place)[1], place),
        )
        group = [site, *(o for o in self.sheet.beside(site) if self.sheet.terrain[o] in ("clear", "jungle"))][
            :2
        ]
        self.sheet.terrain.update(dict.fromkeys(group, "buildings"))
        self.sheet.names[site] = name
        return group

    def cut_cliffs(self) -> None:
        """Cliffs where the mountain drops most steeply to the ground beside it."""
        drops = {
            side_between(one, other): self.field[one] - self.field[other]
            for one in self.land
            for other in self.sheet.beside(one)
            if self.sheet.terrain[one] == "mountain"
            and self.sheet.terrain[other] in ("coral", "jungle", "clear")
        }
        sheer = relief.quantile(drops.values(), 0.5)
        for side, drop in drops.items():
            if drop >= sheer:
                self.sheet.add_side(side, "cliff")
        for chain in relief.side_chains(self.sheet, "cliff"):
            if len(chain) < 2:
                del self.sheet.sides[chain[0]]

    def lay_roads(self) -> None:
        """From the beach past the airfield to the village, and a branch along the eastern shore."""
        surveyor = Surveyor(self.sheet, self._toll)
        beaches = [place for place in self.land if "landing_beach" in self.sheet.features.get(place, [])]
        landing = min(beaches, key=lambda place: (place.distance(self.strip[0]), place))
        surveyor.connect("road", landing, self.barracks[0], "Beach Road")
        surveyor.connect("road", self.barracks[0], self.village[0], "East Road")
        surveyor.connect("road", self.strip[0], self.barracks[0])
        south = max(self.land, key=lambda place: (centre(place)[1] - 2 * self._rough(place), place))
        surveyor.connect("road", south, self.barracks[0])

    def _toll(self, one: Axial, other: Axial) -> float | None:
        if other not in self.dry or "cliff" in self.sheet.sides.get(side_between(one, other), []):
            return None
        return self._rough(other)

    def dig_positions(self) -> None:
        """Twelve positions: zone A behind the beach, B on the ridge, C inland, each with its fire dots."""
        beach = {place for place in self.land if "landing_beach" in self.sheet.features.get(place, [])}
        from_beach = self.sheet.distances(sorted(beach))
        taken: list[Axial] = []
        book: Document = {}
        for zone, terrains, near, far, count in (
            ("A", ("coral", "jungle", "clear"), 1, 2, 5),
            ("B", ("mountain",), 2, 9, 4),
            ("C", ("buildings", "coral", "jungle", "clear"), 4, 12, 4),
        ):
            for number in range(1, count + 1):
                site = self._best_site(terrains, range(near, far + 1), from_beach, taken)
                if site is None:
                    break
                taken.append(site)
                book[f"{zone}{number}"] = self._position(site, zone, book, from_beach)
        self.sheet.extra["positions"] = book

    def _best_site(
        self, terrains: Iterable[str], span: range, from_beach: dict[Axial, int], taken: list[Axial]
    ) -> Axial | None:
        fit = [
            place
            for place in self.land
            if self.sheet.terrain[place] in terrains and from_beach[place] in span
            if all(place.distance(other) >= 3 for other in taken) and len(self.sheet.beside(place)) == 6
        ]
        return min(fit, key=lambda place: (from_beach[place], mixed(SEED, 8, *place)), default=None)

    def _position(self, site: Axial, zone: str, book: Document, from_beach: dict[Axial, int]) -> Document:
        """Intense fire next to the position toward the beach, steady fire beyond.

        Fields of one colour do not overlap (6.22): a hex with dots of that colour is left to them.
        """
        number = len(book)
        color = COLORS[number % len(COLORS)]
        hexes = [site]
        if number % 5 == 1:
            hexes += [
                other
                for other in self.sheet.beside(site)
                if self.sheet.terrain[other] == self.sheet.terrain[site]
            ][:1]
        dotted = {
            label
            for other in book.values()
            if other["color"] == color
            for label in other["intense"] + other["steady"] + other["hexes"]
        }
        open_to_fire = [
            place
            for place in self.sheet.within(site, 3 if zone == "B" else 2)
            if place not in hexes and self.sheet.terrain[place] not in ("sea", "shallow")
            if self.sheet.label(place) not in dotted
        ]
        beachward = sorted(
            (place for place in open_to_fire if place.distance(site) == 1),
            key=lambda place: (from_beach[place], mixed(SEED, 9, *place)),
        )
        intense = beachward[: 3 if zone == "B" else 4]
        steady = [
            place
            for place in open_to_fire
            if place not in intense
            if self.sheet.terrain[place] != "mountain" or (zone == "B" and place.distance(site) == 2)
            if from_beach[place] < from_beach[site] or (zone == "C" and place.distance(site) == 1)
        ]
        position: Document = {"hexes": sorted(map(self.sheet.label, hexes)), "color": color}
        if number % 4 == 2:
            position["artillery"] = True
        if zone == "B" and self.field[site] >= relief.quantile(self.field.values(), 0.95):
            position["mountaintop"] = True
        position["intense"] = sorted(map(self.sheet.label, intense))
        position["steady"] = sorted(map(self.sheet.label, steady))
        return position


def _row(sheet: Sheet, place: Axial) -> int:
    return int(sheet.label(place)[2:])
