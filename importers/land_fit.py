"""Laying a hex grid on real ground where all that is known is which hexes are land.

A grid is regular hexes turned, scaled and moved: z ↦ a·z + b in complex numbers. Sought are the a
and b by which the sum of squares is least, of how far the centres of the hexes that must be land
lie at sea, and of how far control points are off. From a grid of turns and shifts, fixed to the
land's own axes so that nothing depends on which way is north, the best are improved by damped
Gauss-Newton steps; where hexes can be moved without any going to sea, the middle is taken.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from db import SightlineError
from db.labels import Axial

Place = tuple[complex, complex]
"""A grid: z ↦ a·z + b."""
Complex = NDArray[np.complex128]
TURNS = 72
"""Turns that are tried, a circle's worth."""
REACH = 6
"""Hexes by which the middle of the hexes may lie off the middle of the land, each way."""
LIKELY = 600
"""Starts with most hexes ashore, which are looked at closely."""
BEST = 40
"""Of those, the starts that are improved."""
TOUCH = 0.5
"""Hexes: a hex whose centre is no farther from shore has land within its inscribed circle."""
SHORE = 1e-3
"""Hexes: what is nearer to the shore counts as ashore; least squares come to it, and no nearer."""
ALIKE = 0.05
"""Hexes by which the root mean square of a fit that is as good may be worse."""
STEPS = 60
WEIGHT = 1.0
"""What a control point counts beside a hex."""


@dataclasses.dataclass(frozen=True)
class Misfit:
    """A hex that should be land, and whose centre lies at sea."""

    hex: Axial
    hexes: float
    """How far from the shore, in hexes."""


@dataclasses.dataclass(frozen=True)
class LandFit:
    """Where a grid lies best."""

    a: complex
    b: complex
    ashore: int
    """Hexes whose centre is land."""
    touching: int
    """Hexes that have land within their inscribed circle."""
    of: int
    misfits: tuple[Misfit, ...]
    rms_hexes: float
    """Root mean square of the distances from shore over all hexes, in hexes."""
    control_rms: float | None
    """Of the control points, in metres."""
    freedom: float
    """Metres by which the grid can be moved along the land or across it with every centre ashore; 0 where one is not."""

    @property
    def meters_per_hex(self) -> float:
        return abs(self.a)

    @property
    def turn(self) -> float:
        """Degrees by which the map's upper edge is turned from grid north, clockwise."""
        return -math.degrees(math.atan2(self.a.imag, self.a.real)) % 360

    def at(self, place: Axial) -> tuple[float, float]:
        """Where the centre of a hex comes to lie."""
        world = self.a * plane(place) + self.b
        return world.real, world.imag


def plane(place: Axial) -> complex:
    """The centre of a hex on a plane of regular hexes, neighbours one apart, y up."""
    x, y = place.center
    return complex(x * math.sqrt(3) / 6, -y / 2)


def fit_land(
    hexes: Sequence[Axial],
    land: BaseGeometry,
    meters: tuple[float, float],
    control: Sequence[tuple[Axial, complex]] = (),
    *,
    pointed: bool = False,
) -> LandFit:
    """The best grid whose hexes measure between two lengths, on land in a plane of metres."""
    problem, turned = _problem(hexes, land, meters, control, pointed)
    found = min((problem.improved(start) for start in problem.starts()), key=problem.rank)
    a, b, freedom = problem.centred(*found)
    return _told(problem, a, b, freedom, hexes, turned)


def equal_turns(
    hexes: Sequence[Axial],
    land: BaseGeometry,
    meters: tuple[float, float],
    control: Sequence[tuple[Axial, complex]] = (),
    *,
    pointed: bool = False,
) -> list[LandFit]:
    """Every way of turning the grid that fits about as well as the best, the best first.

    As well means: as many hexes have land, and they lie no farther from shore, by the root mean
    square, than a twentieth of a hex more. Few hexes on a round island may be turned in many ways.
    """
    problem, turned = _problem(hexes, land, meters, control, pointed)
    ranked = sorted(problem.every_turn(), key=problem.rank)
    told = [_told(problem, *problem.centred(*place), hexes, turned) for place in ranked]
    kept: list[LandFit] = []
    for fit in told:
        apart = (abs((fit.turn - other.turn + 180) % 360 - 180) for other in kept)
        as_good = fit.touching == told[0].touching and fit.rms_hexes <= told[0].rms_hexes + ALIKE
        if as_good and all(angle > 2 * 360 / TURNS for angle in apart):
            kept.append(fit)
    return kept


def _problem(
    hexes: Sequence[Axial],
    land: BaseGeometry,
    meters: tuple[float, float],
    control: Sequence[tuple[Axial, complex]],
    pointed: bool,
) -> tuple[_Problem, complex]:
    """What is to be fitted, and by how much a plane of pointed hexes is turned beforehand."""
    if len(set(hexes)) < 3:
        raise SightlineError("At least three hexes must be known to be land.", "Name more of them.")
    turned = complex(0, -1) if pointed else complex(1)
    points = np.array([plane(place) * turned for place in hexes])
    known = np.array([plane(place) * turned for place, _ in control])
    there = np.array([world for _, world in control])
    shapely.prepare(land)
    return _Problem(points, land, known, there, meters), turned


class _Problem:
    """What is to be fitted."""

    def __init__(
        self, points: Complex, land: BaseGeometry, known: Complex, there: Complex, meters: tuple[float, float]
    ) -> None:
        self.points, self.land, self.known, self.there = points, land, known, there
        self.least, self.most = meters
        self.shore = land.buffer(SHORE * self.least)
        shapely.prepare(self.shore)
        self.middle = complex(points.mean())
        center = land.centroid
        self.heart = complex(center.x, center.y)
        self.axis = _axis(land)

    def starts(self) -> list[Place]:
        """The best of many turns and shifts, and what the control points say by themselves."""
        tried = sorted((one for n in range(TURNS) for one in self._tried(n)), key=lambda one: one[0])
        likely = sorted((place for _, place in tried[:LIKELY]), key=lambda place: self.cost(*place))
        best = likely[:BEST]
        if len(self.known) >= 2:
            best.append(self._similarity())
        return best

    def _tried(self, n: int) -> list[tuple[tuple[int, float], Place]]:
        """Every shift of one turn, each with its rank: hexes ashore, then how near middles and control points are."""
        size = math.sqrt(self.least * self.most)
        a = complex(size * self.axis * np.exp(2j * math.pi * n / TURNS))
        around = a * (self.points - self.middle)
        found = []
        for shift in (complex(x, y) for x in range(-REACH, REACH + 1) for y in range(-REACH, REACH + 1)):
            b = self.heart + shift * size * self.axis
            inside = int(shapely.contains_xy(self.land, (around + b).real, (around + b).imag).sum())
            off = self._control_off(a, b - a * self.middle)
            found.append(((-inside, off + abs(shift)), (a, b - a * self.middle)))
        return found

    def every_turn(self) -> list[Place]:
        """The best place of every turn that is tried, improved."""
        found = []
        for n in range(TURNS):
            likely = sorted(self._tried(n), key=lambda one: one[0])[: LIKELY // TURNS]
            found.append(
                self.improved(min((place for _, place in likely), key=lambda place: self.cost(*place)))
            )
        return found

    def _similarity(self) -> Place:
        """The grid that the control points alone give: least squares in one line of complex numbers."""
        z, w = self.known - self.known.mean(), self.there - self.there.mean()
        a = complex((np.conj(z) * w).sum() / (abs(z) ** 2).sum())
        a *= min(max(abs(a), self.least), self.most) / abs(a)
        return a, complex(self.there.mean() - a * self.known.mean())

    def _control_off(self, a: complex, b: complex) -> float:
        return float(abs(a * self.known + b - self.there).sum() / abs(a)) if len(self.known) else 0.0

    def residuals(self, a: complex, b: complex) -> tuple[Complex, Complex]:
        """From each hex to the shore, nothing where it is ashore; and from control points to where they are, in hexes."""
        world = a * self.points + b
        where: Any = shapely.points(world.real, world.imag)
        off = np.zeros(len(world), np.complex128)
        at_sea = ~shapely.contains_xy(self.land, world.real, world.imag)
        if at_sea.any():
            ends = shapely.get_coordinates(shapely.shortest_line(where[at_sea], self.land)).reshape(-1, 2, 2)
            off[at_sea] = (ends[:, 0, 0] - ends[:, 1, 0]) + 1j * (ends[:, 0, 1] - ends[:, 1, 1])
        return off / abs(a), (a * self.known + b - self.there) / abs(a) if len(self.known) else np.zeros(
            0, np.complex128
        )

    def cost(self, a: complex, b: complex) -> float:
        off, control = self.residuals(a, b)
        return float((abs(off) ** 2).sum() + WEIGHT * (abs(control) ** 2).sum())

    def rank(self, found: Place) -> tuple[int, float, float]:
        """The better, the smaller: hexes without land, then squares; of equals, the middles near each other."""
        a, b = found
        off, _ = self.residuals(a, b)
        return int((abs(off) > TOUCH).sum()), round(self.cost(a, b), 6), abs(a * self.middle + b - self.heart)

    def improved(self, start: Place) -> Place:
        """Down to the nearest least sum of squares, by damped Gauss-Newton steps in turn, size and shift."""
        # about the middle of the hexes turn and shift do not pull on one another
        a, b = start[0], start[1] + start[0] * self.middle
        z, k = self.points - self.middle, self.known - self.middle
        damping, cost = 1e-2, self.cost(a, b - a * self.middle)
        for _ in range(STEPS):
            off, control = self.residuals(a, b - a * self.middle)
            residual = np.concatenate([off, control])
            weights = np.concatenate([(abs(off) > 0).astype(float), np.full(len(control), WEIGHT)])
            unit = a / abs(a)
            # per unit of turn, of relative size, and of shift east and north, in hexes
            columns = np.stack([1j * unit * np.concatenate([z, k]), unit * np.concatenate([z, k]), np.ones(len(residual)), 1j * np.ones(len(residual))], 1)  # fmt: skip
            if self.least == self.most:
                columns[:, 1] = 0
            jacobian = (
                np.concatenate([columns.real, columns.imag])
                * np.sqrt(np.concatenate([weights, weights]))[:, None]
            )
            told = np.concatenate([residual.real, residual.imag]) * np.sqrt(
                np.concatenate([weights, weights])
            )
            normal = jacobian.T @ jacobian
            damped = normal + damping * (np.diag(np.diag(normal)) + 1e-9 * np.eye(4))
            # a direction that nothing pulls in has no step: the least of all that serve
            step = np.linalg.lstsq(damped, -jacobian.T @ told, rcond=None)[0]
            size = min(max(abs(a) * (1 + step[1]), self.least), self.most)
            new_a = size * unit * np.exp(1j * step[0])
            new_b = b + complex(step[2], step[3]) * abs(a)
            new_cost = self.cost(new_a, new_b - new_a * self.middle)
            if new_cost < cost:
                gained = cost - new_cost
                a, b, cost, damping = complex(new_a), complex(new_b), new_cost, damping / 4
                if gained < 1e-12:
                    break
            else:
                damping *= 8
                if damping > 1e9:
                    break
        return a, b - a * self.middle

    def centred(self, a: complex, b: complex) -> tuple[complex, complex, float]:
        """The middle of where the grid may lie just as well, and how far it may be moved; control points hold it fast."""
        ashore = self._ashore(a, b)
        free = 0.0
        if ashore < len(self.points):
            # least squares hold it where it is
            return a, b, free
        for _ in range(2 if not len(self.known) else 1):
            for way in (self.axis, self.axis * 1j):
                ends = [self._slide(a, b, way * sign, ashore) for sign in (1, -1)]
                free = max(free, ends[0] + ends[1])
                if not len(self.known):
                    b += way * (ends[0] - ends[1]) / 2
        return a, b, free

    def _ashore(self, a: complex, b: complex) -> int:
        world = a * self.points + b
        return int(shapely.contains_xy(self.shore, world.real, world.imag).sum())

    def _slide(self, a: complex, b: complex, way: complex, ashore: int) -> float:
        """How far the grid goes before another hex is at sea, to a hundredth of a hex."""
        near, far = 0.0, 0.0
        while far < 4 and self._ashore(a, b + way * (far + 0.05) * abs(a)) >= ashore:
            far += 0.05
        near, beyond = far, far + 0.05
        while beyond - near > 0.005:
            middle = (near + beyond) / 2
            near, beyond = (
                (middle, beyond) if self._ashore(a, b + way * middle * abs(a)) >= ashore else (near, middle)
            )
        return near * abs(a)


def _axis(land: BaseGeometry) -> complex:
    """The direction in which the land is longest; it turns when the land does."""
    points = shapely.get_coordinates(shapely.segmentize(land, math.sqrt(land.area) / 200))
    x, y = (points - points.mean(axis=0)).T
    angle = 0.5 * math.atan2(2 * float((x * y).sum()), float((x * x - y * y).sum()))
    # toward the end with more shore, so that half a turn of the land is seen
    skew = float(((x * math.cos(angle) + y * math.sin(angle)) ** 3).sum())
    return complex(math.cos(angle), math.sin(angle)) * (1 if skew >= 0 else -1)


def _told(
    problem: _Problem, a: complex, b: complex, freedom: float, hexes: Sequence[Axial], turned: complex
) -> LandFit:
    off, control = problem.residuals(a, b)
    lengths: Any = abs(off)
    misfits = [Misfit(place, float(away)) for place, away in zip(hexes, lengths, strict=True) if away > SHORE]
    rms = None if not len(control) else float(np.sqrt((abs(control) ** 2).mean())) * abs(a)
    return LandFit(
        a * turned, b, len(hexes) - len(misfits), int((lengths <= TOUCH).sum()), len(hexes), tuple(sorted(misfits, key=lambda one: -one.hexes)),
        float(np.sqrt((lengths**2).mean())), rms, freedom,
    )  # fmt: skip
