"""Dice that can be proved: every roll and draw of a game is derived from its seed.

The seed is 32 random bytes. Its SHA-256 is published in the game's first event; a roll is derived by HMAC of
seed, event number and place; the seed is opened at the end, and anybody can derive every roll again.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from typing import Any

from app.play.procedures import Choose, Draw, Given, Roll
from db import SightlineError

SEED_BYTES = 32
TYPED, SERVER = "typed", "server"
"""Where a roll came from; the server's are told with the event that they were derived for."""


class SeedError(SightlineError):
    """A seed that cannot be one."""


def new_seed() -> bytes:
    return secrets.token_bytes(SEED_BYTES)


def read_seed(text: str) -> bytes:
    """A seed as 64 hexadecimal digits; any other text is made one by its SHA-256, so that a game can be repeated."""
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(seed) == SEED_BYTES:
        return seed
    if not text.strip():
        raise SeedError("A seed is some text, or 64 hexadecimal digits.", "Leave it out to have one made.")
    return hashlib.sha256(text.encode()).digest()


def commitment(seed: bytes) -> str:
    """What is published of a seed before the game: nobody can find another with the same."""
    return hashlib.sha256(seed).hexdigest()


def number_below(limit: int, seed: bytes, event: int, place: str) -> int:
    """A whole number from 0 up to a limit, each as likely as any other."""
    greatest = (1 << 256) // limit * limit
    trial = 0
    while True:
        message = f"{event}/{place}/{trial}".encode()
        found = int.from_bytes(hmac.digest(seed, message, "sha256"))
        # what is left over beyond the last whole multiple would favour the low numbers
        if found < greatest:
            return found % limit
        trial += 1


def rolled(want: Roll, seed: bytes, event: int, place: int) -> Any:
    """What dice show: a number for one, a list for several."""
    number, faces = want.faces
    shown = [faces[number_below(len(faces), seed, event, f"roll/{place}/{die}")] for die in range(number)]
    return shown if number > 1 else shown[0]


def drawn(number: int, seed: bytes, event: int, place: int) -> int:
    """Which of so many that lie in a pool comes up, from 0."""
    return number_below(number, seed, event, f"draw/{place}")


class Dice:
    """Answers as they were given, and where none is, dice and draws from the seed; choices are never made up.

    Without a seed the table rolls and types. What an earlier try of the same action has rolled is kept.
    """

    def __init__(
        self,
        given: Given,
        seed: bytes | None,
        event: int,
        kept: Sequence[dict[str, Any]] = (),
        kept_draws: Sequence[dict[str, Any]] = (),
    ) -> None:
        self._given = given
        self._seed = seed
        self._event = event
        self._kept, self._kept_draws = list(kept), list(kept_draws)
        self.sources: list[str] = []
        """Where each roll came from, in order."""
        self.draw_sources: list[dict[str, Any]] = []
        """Where each draw came from, and of the server's how many lay there and which of them it was."""

    def roll(self, want: Roll) -> Any:
        value, source, place = self._given.roll(want), TYPED, len(self.sources)
        if value is None and place < len(self._kept) and self._kept[place]["roll"] == want.dice:
            value, source = self._kept[place]["value"], self._kept[place]["from"]
        elif value is None and self._seed is not None:
            self._kept = []
            value, source = rolled(want, self._seed, self._event, place), f"{SERVER} {self._event}"
        if value is not None:
            self.sources.append(source)
        return value

    def draw(self, want: Draw) -> Any:
        value, place = self._given.draw(want), len(self.draw_sources)
        source: dict[str, Any] = {"from": TYPED}
        kept = self._kept_draws[place] if place < len(self._kept_draws) else None
        if value is None and kept is not None and want.mistake(kept["value"]) is None:
            value = kept["value"]
            source = {key: kept[key] for key in ("from", "of", "nth") if key in kept}
        elif value is None and self._seed is not None and want.pool:
            self._kept_draws = []
            nth = drawn(len(want.pool), self._seed, self._event, place)
            value = want.pool[nth]
            source = {"from": f"{SERVER} {self._event}", "of": len(want.pool), "nth": nth + 1}
        if value is not None:
            self.draw_sources.append(source)
        return value

    def choice(self, want: Choose) -> Any:
        return self._given.choice(want)

    def left(self) -> str | None:
        """What was given and never called for."""
        return self._given.left()
