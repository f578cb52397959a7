"""What a trigger does: event, sniper, disperse, time (1.9.2 to 1.9.5)."""

from __future__ import annotations

from app.play.procedures import Procedure, Undecided
from app.referee.rulings import Need


def triggered(name: str, side: str) -> Procedure:
    """A trigger of a side's roll, in its entirety."""
    raise Undecided(Need(f"what the {name} trigger brings", "1.9.1"))
    yield
