"""Measuring the Japanese Fire Phase of White Beach (ddp): all that one fire card makes the rules do, with its proof."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play import procedures
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
WARM = 6
"""Phases before any is timed, so that every statement is prepared."""


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
    """In turn with `SELECT 1`, and in a row; what is written (`games.apply`: the changes of its event) is told apart."""
    kind = kinds_of("ddp")["fire_phase"]
    of = kind.arguments.model_validate({"cards": [CARD]})
    asked = Asked(connection, position, "ddp", CONDITIONS, {})

    def phase() -> None:
        outcome = tried(asked, lambda: kind.begin(of), _First([], [], [CARD]), lambda: kinds_of("ddp"))  # type: ignore[attr-defined]
        assert outcome.pending is None, outcome.pending

    def one() -> None:
        fetched(connection, "select 1", {})

    for _ in range(WARM):
        phase()
    with _writing() as written:
        in_turn = [(_taken(one), _taken(phase), written.pop_all()) for _ in range(times)]
        in_a_row = [(_taken(phase), written.pop_all()) for _ in range(times)]
    ones = [_taken(one) for _ in range(10 * times)]
    alternating, alone = statistics.median(row[0] for row in in_turn), statistics.median(ones)
    return [
        _row("beyond its event", [took - wrote for _, took, wrote in in_turn], alternating, target=True),
        _row("whole, its changes written", [took for _, took, _ in in_turn], alternating),
        _row("beyond its event, in a row", [took - wrote for took, wrote in in_a_row], alone, target=True),
    ]


def _row(what: str, taken: list[float], one: float, *, target: bool = False) -> Measure:
    took = statistics.median(taken)
    met = took / one <= MOST if target else None
    wanted = f"≤ {MOST}" if target else ""
    return Measure(
        f"a Japanese Fire Phase of White Beach, {what}", 1000 * took, "SELECT 1", took / one, wanted, met
    )


def _taken(what: Callable[[], None]) -> float:
    started = time.perf_counter()
    what()
    return time.perf_counter() - started


class _Clock:
    """Seconds that were spent on something."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def pop_all(self) -> float:
        spent, self.seconds = self.seconds, 0.0
        return spent


@contextmanager
def _writing() -> Iterator[_Clock]:
    """A clock that runs while changes are written to the position."""
    clock, apply = _Clock(), procedures.apply

    def timed(asked: Asked, changes: Any) -> Any:
        started = time.perf_counter()
        made = apply(asked, changes)
        clock.seconds += time.perf_counter() - started
        return made

    procedures.apply = timed
    try:
        yield clock
    finally:
        procedures.apply = apply
