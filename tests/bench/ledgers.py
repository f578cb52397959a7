"""Measuring the ledgers of css: a shot and an assault with leader and weapon, each as one question of SQL."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play.openings import begin
from db.database import fetched
from db.values import canonical
from tests.bench import BenchError, Measure

SCENARIO = "orote"
HELD = "25.79"
"""Where 1/54 and its machine gun lie in a foxhole."""
NEAR = {"A/1/4": "26.79", "Shapley": "26.79", "FT/4": "26.79", "B/1/4": "26.80", "A/1/22": "26.80"}
"""The assaulting companies, brought up beside them."""
CONDITIONS = {"turn": "0900", "phase": "action", "active": {"units": ["A/1/4", "B/1/4", "A/1/22"]}}
SHOT: dict[str, object] = {
    "by": ["A/1/4"], "with": ["Shapley", "FT/4"], "at": HELD, "target_unit": "1/54", "impose": ["MG/54"], "manner": "fire",
}  # fmt: skip
ASSAULT: dict[str, object] = {"at": HELD, "by": ["A/1/4", "B/1/4", "A/1/22"]}
MOST = 5
"""Times `SELECT 1`, of a shot."""
FIRE = "select * from css.fire(:position, cast(:told as jsonb), :conditions, null)"
CHARGE = "select * from css.assault(:position, cast(:told as jsonb), :conditions, null)"
IN_A_ROW = 8


def measure_ledgers(engine: Engine, times: int, say: Callable[[str], None]) -> list[Measure]:
    """On Orote, with companies brought up to the enemy; the game is undone at the end."""
    say("ledgers of a shot and of an assault on Orote")
    with engine.connect() as connection:
        position = begin(connection, f"scenario:{SCENARIO}", name="bench-ledgers", seed="bench").position_id
        _bring_up(connection, position)
        fire = _measured(connection, position, FIRE, SHOT, times)
        assault = _measured(connection, position, CHARGE, ASSAULT, times)
        connection.rollback()
    return [
        Measure(
            "a css shot, every modifier told", fire[0], "SELECT 1", fire[1], f"≤ {MOST}", fire[1] <= MOST
        ),
        Measure("a css assault, both sides told", assault[0], "SELECT 1", assault[1]),
    ]


def _bring_up(connection: Connection, position: int) -> None:
    connection.execute(sa.text("select set_config('sightline.applying', :id, true)"), {"id": str(position)})
    moved = sa.text(
        "update unit set q = hex.q, r = hex.r, attributes = attributes || case when unit.kind = 'infantry' then"
        " '{\"posture\": \"deployed\"}'::jsonb else '{}' end from hex where hex.map_id = unit.map_id"
        " and hex.label = :label and unit.position_id = :id and unit.code = :code"
    )
    for code, label in NEAR.items():
        connection.execute(moved, {"id": position, "code": code, "label": label})
    connection.execute(
        sa.text(
            "insert into marker (position_id, map_id, q, r, kind) select position.id, position.map_id, hex.q, hex.r,"
            " 'prepared_assault' from position join hex on hex.map_id = position.map_id where position.id = :id"
            " and hex.label = :label"
        ),
        {"id": position, "label": HELD},
    )
    connection.execute(sa.text("analyze unit, marker, hex, position"))


def _measured(
    connection: Connection, position: int, query: str, told: Mapping[str, object], times: int
) -> tuple[float, float]:
    """Milliseconds of a ledger, and how many times `SELECT 1` that is: each some times in a row, in turns."""
    given = {"position": position, "told": canonical(told), "conditions": CONDITIONS}
    verdict = fetched(connection, query, given)[-1]
    if not verdict.facts["allowed"]:
        raise BenchError(f"What is measured is not allowed: {verdict.note}.", f"See {__name__}.")
    taken: dict[str, list[float]] = {"select 1": [], query: []}
    for _ in range(max(times // IN_A_ROW, 1) + 2):
        for asked, values in (("select 1", {}), (query, given)):
            for _ in range(IN_A_ROW):
                started = time.perf_counter()
                fetched(connection, asked, values)
                taken[asked].append(time.perf_counter() - started)
    one, ledger = (1000 * statistics.median(found[2 * IN_A_ROW :]) for found in taken.values())
    return ledger, ledger / one
