"""Laying a hex grid on real ground where all that is known is which hexes are land.

A grid is regular hexes turned, scaled and moved: z ↦ a·z + b in complex numbers. Sought are the a
and b by which the sum of squares is least, of how far the centres of the hexes that must be land
lie at sea, and of how far control points are off. From a grid of turns and shifts, fixed to the
land's own axes so that nothing depends on which way is north, the best are improved by damped
Gauss-Newton steps.

Where every centre can be ashore there is no least: many turns and shifts have none at sea. Of these
the one is taken by which the outermost centre lies farthest inland. For one turn the shifts that keep
all centres so far from the shore are a polygon: the common part of the land, shrunk by that much and
moved back by each hex.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import shapely
import shapely.affinity
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
DEEP = 720
"""Turns, a circle's worth, at which it is looked whether every centre can be ashore."""
NEAR = 1e-4
"""Hexes to which the farthest inland is found."""
FINE = math.radians(0.01)
"""To which its turn is found."""
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
    depth: float
    """Hexes that the outermost centre lies inland; below nothing, at sea."""
    turns: tuple[float, float] | None
    """Between which turns, in degrees, every centre can be ashore, to half a degree; None where that is not so or not asked."""

    @property
    def meters_per_hex(self) -> float:
        return abs(self.a)

    @property
    def turn(self) -> float:
        """Degrees by which the map's upper edge is turned from the plane's north, clockwise."""
        return degrees(self.a)

    def at(self, place: Axial) -> tuple[float, float]:
        """Where the centre of a hex comes to lie."""
        world = self.a * plane(place) + self.b
        return world.real, world.imag


def degrees(a: complex) -> float:
    """The turn of a grid, clockwise."""
    return -math.degrees(math.atan2(a.imag, a.real)) % 360


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
    if not problem.is_free(found):
        return _told(problem, found, None, hexes, turned)
    return _told(problem, *problem.innermost(found), hexes, turned)


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
    told = [_told(problem, place, None, hexes, turned) for place in ranked]
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
        self.line = land.boundary
        shapely.prepare(self.line)
        self.middle = complex(points.mean())
        around = np.exp(2j * math.pi * np.arange(8) / 8)
        self.active = sorted({int(np.argmax((points * way).real)) for way in around})
        """Hexes that decide how far inland the grid can lie."""
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
        """The best place of every turn that is tried, improved, and moved inland where it is free."""
        found = []
        for n in range(TURNS):
            likely = sorted(self._tried(n), key=lambda one: one[0])[: LIKELY // TURNS]
            best = self.improved(min((place for _, place in likely), key=lambda place: self.cost(*place)))
            deep = self.deepest(best[0]) if self.is_free(best) else None
            found.append((best[0], deep[1]) if deep else best)
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
        """The better, the smaller: hexes without land, then squares; of equals, the outermost far inland."""
        a, b = found
        off, _ = self.residuals(a, b)
        return int((abs(off) > TOUCH).sum()), round(self.cost(a, b), 6), -self.depth(a, b)

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

    def depth(self, a: complex, b: complex) -> float:
        """How far inland the outermost centre lies, in hexes; below nothing, at sea."""
        return float(self.depths(a, b).min())

    def depths(self, a: complex, b: complex) -> NDArray[np.float64]:
        """How far inland each centre lies."""
        world = a * self.points + b
        from_shore: Any = shapely.distance(shapely.points(world.real, world.imag), self.line)
        ashore = shapely.contains_xy(self.land, world.real, world.imag)
        inland: NDArray[np.float64] = np.where(ashore, from_shore, -from_shore) / abs(a)
        return inland

    def is_free(self, found: Place) -> bool:
        """Whether every centre is ashore, and no control point holds the grid."""
        return not len(self.known) and self.cost(*found) < len(self.points) * SHORE**2

    def innermost(self, found: Place) -> tuple[Place, tuple[float, float] | None]:
        """The turn and shift by which the outermost centre lies farthest inland, and the turns beside it that serve."""
        size, step = abs(found[0]), 2 * math.pi / DEEP
        start = round(float(np.angle(found[0] / self.axis)) / step)
        around = range(start - DEEP // 2, start + DEEP // 2)
        serving = {n for n in around if self.deepest(self._turned(size, n * step), first=True)}
        if not serving:
            return found, None
        angle, deep = start * step, (0.0, found[1])
        for n in sorted(serving):
            better = self.deepest(self._turned(size, n * step), deep[0])
            angle, deep = (n * step, better) if better else (angle, deep)
        turns = self._run(size, step, round(angle / step), set(around) - serving)
        while step > FINE:
            step /= 2
            for way in (angle - step, angle + step):
                better = self.deepest(self._turned(size, way), deep[0])
                angle, deep = (way, better) if better else (angle, deep)
        return (self._turned(size, angle), deep[1]), turns

    def _turned(self, size: float, angle: float) -> complex:
        return complex(size * self.axis * np.exp(1j * angle))

    def _run(self, size: float, step: float, best: int, not_serving: set[int]) -> tuple[float, float]:
        """The first and the last turn around one that serve without a gap, clockwise."""
        first = last = best
        while first - 1 not in not_serving and best - first < DEEP // 2:
            first -= 1
        while last + 1 not in not_serving and last - best < DEEP // 2:
            last += 1
        # the angle of a complex number grows against the clock
        return degrees(self._turned(size, last * step)), degrees(self._turned(size, first * step))

    def deepest(self, a: complex, least: float = 0.0, *, first: bool = False) -> tuple[float, complex] | None:
        """Of one turn: how far inland the outermost centre can lie, and the shift that does it.

        None where it cannot lie farther than `least`; the first that does is enough where that is asked.
        Few hexes decide, so the others are added one by one, as they turn out to lie farther out.
        """
        while True:
            found = self._deepest(a, a * self.points[self.active], least * abs(a), first)
            if found is None:
                return None
            depths = self.depths(a, found[1])
            worst = int(depths.argmin())
            if worst in self.active or depths[worst] >= found[0] - NEAR:
                return found
            self.active.append(worst)

    def _deepest(
        self, a: complex, offsets: Complex, least: float, first: bool
    ) -> tuple[float, complex] | None:
        region = self._common(offsets, least)
        if region.is_empty:
            return None
        near, far = least, math.sqrt(self.land.area / math.pi)
        while far - near > NEAR * abs(a) and not first:
            middle = (near + far) / 2
            inner = self._common(offsets, middle)
            near, far, region = (near, middle, region) if inner.is_empty else (middle, far, inner)
        if near == least and least and not first:
            return None
        center = region.centroid
        if not region.intersects(center):
            center = shapely.shortest_line(region, center).interpolate(0)
        return near / abs(a), complex(center.x, center.y)

    def _common(self, offsets: Complex, depth: float) -> BaseGeometry:
        """The shifts by which every centre lies so far inland, in metres."""
        inner = self.land.buffer(-depth, quad_segs=32) if depth else self.land
        common = inner
        for n, offset in enumerate(offsets):
            moved = shapely.affinity.translate(inner, -offset.real, -offset.imag)
            common = moved if n == 0 else common.intersection(moved)
            if common.is_empty:
                break
        return common


def _axis(land: BaseGeometry) -> complex:
    """The direction in which the land is longest; it turns when the land does."""
    points = shapely.get_coordinates(shapely.segmentize(land, math.sqrt(land.area) / 200))
    x, y = (points - points.mean(axis=0)).T
    angle = 0.5 * math.atan2(2 * float((x * y).sum()), float((x * x - y * y).sum()))
    # toward the end with more shore, so that half a turn of the land is seen
    skew = float(((x * math.cos(angle) + y * math.sin(angle)) ** 3).sum())
    return complex(math.cos(angle), math.sin(angle)) * (1 if skew >= 0 else -1)


def _told(
    problem: _Problem,
    found: Place,
    turns: tuple[float, float] | None,
    hexes: Sequence[Axial],
    turned: complex,
) -> LandFit:
    a, b = found
    off, control = problem.residuals(a, b)
    lengths: Any = abs(off)
    misfits = [Misfit(place, float(away)) for place, away in zip(hexes, lengths, strict=True) if away > SHORE]
    if turns is not None:
        turns = ((turns[0] + degrees(turned)) % 360, (turns[1] + degrees(turned)) % 360)
    rms = None if not len(control) else float(np.sqrt((abs(control) ** 2).mean())) * abs(a)
    return LandFit(
        a * turned, b, len(hexes) - len(misfits), int((lengths <= TOUCH).sum()), len(hexes), tuple(sorted(misfits, key=lambda one: -one.hexes)),
        float(np.sqrt((lengths**2).mean())), rms, problem.depth(a, b), turns,
    )  # fmt: skip
