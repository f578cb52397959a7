"""Measuring the Japanese Fire Phase of White Beach (ddp): all that one fire card makes the rules do, with its proof."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play.openings import begin
from app.play.procedures import Choose, Given, tried
from app.play.tables import open_game
from app.referee.questions import kinds_of
from app.referee.rulings import Asked
from db.database import fetched
from tests.bench import Measure

SCENARIO = "house-white-beach"
ASHORE = {
    "A/1/1": "0304", "B/1/1": "0305", "I/3/1": "0307", "K/3/1": "0308", "C/1/1": "0405", "L/3/1": "0208",
    "E/2/1": "0205", "F/2/1": "0506", "HQ/1/1": "0304",
}  # fmt: skip
CARD = {"colors": ["blue", "red M", "green star"], "symbol": "circle", "artillery": 2}
CONDITIONS = {"turn": 6, "scenario": "15_september"}
MOST = 100
"""Times `SELECT 1`."""


class _First(Given):
    """A player who takes the first that is offered."""

    def choice(self, want: Choose) -> Any:
        return want.default


def measure_fire_phase(engine: Engine, times: int, say: Callable[[str], None]) -> list[Measure]:
    """A fire card on turn 6 with nine units ashore; the position is undone each time, and the game at the end."""
    say("the Japanese Fire Phase of White Beach")
    with engine.connect() as connection:
        begin(connection, f"scenario:{SCENARIO}", name="bench-fire", seed="bench")
        position = open_game(connection, "bench-fire").position_id
        _land(connection, position)
        found = _measured(connection, position, times)
        connection.rollback()
    return found


def _land(connection: Connection, position: int) -> None:
    """Put companies ashore, and let every Japanese unit fire."""
    connection.execute(sa.text("select set_config('sightline.applying', :id, true)"), {"id": str(position)})
    ashore = sa.text(
        "update unit set q = hex.q, r = hex.r from hex where hex.map_id = unit.map_id and hex.label = :label"
        " and unit.position_id = :id and unit.code = :code"
    )
    for code, label in ASHORE.items():
        connection.execute(ashore, {"id": position, "code": code, "label": label})
    connection.execute(
        sa.text("update unit set attributes = attributes - 'disrupted' where position_id = :id"),
        {"id": position},
    )
    connection.execute(sa.text("analyze unit, hex, map_feature, map_feature_hex"))


def _measured(connection: Connection, position: int, times: int) -> list[Measure]:
    kind = kinds_of("ddp")["fire_phase"]
    of = kind.arguments.model_validate({"cards": [CARD]})
    asked = Asked(connection, position, "ddp", CONDITIONS, {})
    taken: dict[str, list[float]] = {"one": [], "phase": []}
    for _ in range(times + 3):
        started = time.perf_counter()
        fetched(connection, "select 1", {})
        asked_for = time.perf_counter()
        outcome = tried(asked, lambda: kind.begin(of), _First([], [], [CARD]), lambda: kinds_of("ddp"))  # type: ignore[attr-defined]
        assert outcome.pending is None, outcome.pending
        taken["one"].append(asked_for - started)
        taken["phase"].append(time.perf_counter() - asked_for)
    one, phase = (1000 * statistics.median(found[3:]) for found in taken.values())
    return [
        Measure(
            "a Japanese Fire Phase of White Beach",
            phase,
            "SELECT 1",
            phase / one,
            f"≤ {MOST}",
            phase / one <= MOST,
        )
    ]
