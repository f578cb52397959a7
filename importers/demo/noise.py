"""Seeded chance: the same numbers on every machine.

Only integer mixing, the four basic operations, square roots and exact sums are used, which
every processor and every Python rounds alike (powers and plain sums are not); the painter's
files are therefore the same to the byte wherever they are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

_MASK = (1 << 64) - 1

Item = TypeVar("Item")


def mixed(*numbers: int) -> int:
    """64 well-mixed bits made of the numbers (the finalizer of SplitMix64, once per number)."""
    state = 0x9E3779B97F4A7C15
    for number in numbers:
        state = (state + (number & _MASK) * 0xBF58476D1CE4E5B9 + 0x9E3779B97F4A7C15) & _MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
        state ^= state >> 31
    return state


def chance(*numbers: int) -> float:
    """A number from 0 up to 1 that belongs to these numbers."""
    return mixed(*numbers) / (1 << 64)


def shuffled(items: Sequence[Item], *numbers: int) -> list[Item]:
    return [items[n] for n in sorted(range(len(items)), key=lambda n: mixed(*numbers, n))]


class Noise:
    """Smooth noise over the plane, from 0 to 1: octaves of interpolated lattice values."""

    def __init__(self, seed: int, scale: float, octaves: int = 4) -> None:
        self.seed = seed
        self.scale = scale
        self.octaves = octaves

    def at(self, x: float, y: float) -> float:
        total, weight, amplitude, scale = 0.0, 0.0, 1.0, self.scale
        for octave in range(self.octaves):
            total += amplitude * self._octave(octave, x / scale, y / scale)
            weight += amplitude
            amplitude, scale = amplitude / 2, scale / 2
        return total / weight

    def ridged(self, x: float, y: float, sharpness: int = 1) -> float:
        """The same noise folded at its middle, so that its middle line becomes a crest."""
        fold = 1 - abs(2 * self.at(x, y) - 1)
        crest = fold
        for _ in range(sharpness - 1):
            crest *= fold
        return crest

    def _octave(self, octave: int, x: float, y: float) -> float:
        left, top = int(x // 1), int(y // 1)
        across, down = _smooth(x - left), _smooth(y - top)
        upper = self._between(octave, left, top, across)
        lower = self._between(octave, left, top + 1, across)
        return upper + (lower - upper) * down

    def _between(self, octave: int, column: int, row: int, across: float) -> float:
        left = chance(self.seed, octave, column, row)
        right = chance(self.seed, octave, column + 1, row)
        return left + (right - left) * across


def _smooth(t: float) -> float:
    return t * t * t * (t * (t * 6 - 15) + 10)


def ellipse(x: float, y: float, middle: tuple[float, float], radii: tuple[float, float]) -> float:
    """0 in the middle, 1 on the ellipse, more outside."""
    across, down = (x - middle[0]) / radii[0], (y - middle[1]) / radii[1]
    return across * across + down * down
