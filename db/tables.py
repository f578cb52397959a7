"""Every table of Sightline, gathered so that migrations and tests see them all."""

from db import archive, drawn, games, maps, positions, rules, rulings, viewsheds
from db.base import Base
from db.rulesets import tables as rulesets

__all__ = [
    "Base",
    "archive",
    "drawn",
    "games",
    "maps",
    "positions",
    "rules",
    "rulesets",
    "rulings",
    "viewsheds",
]
