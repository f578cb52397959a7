"""How often a random test tries: often enough to tell in every run, many times as often with `SIGHTLINE_FUZZ`.

What is drawn differs from run to run, so that runs add up; a long one is for whoever has changed the rules under test.
"""

from __future__ import annotations

import os

LONG = "SIGHTLINE_FUZZ" in os.environ


def rounds(some: int, many: int) -> int:
    """Some rounds in every run, many in a long one."""
    return many if LONG else some
