"""Forgotten Pacific Battles at the table: random games on house islands keep every promise of the log."""

from __future__ import annotations

import pytest
from sqlalchemy.engine import Connection

from app.play.fuzz import from_position, fuzz
from app.referee.questions import kinds_of
from importers.cases import store_position
from importers.scenarios import install, read_scenario


@pytest.mark.skipif("attack" not in kinds_of("fpb"), reason="nobody can attack yet")
@pytest.mark.parametrize(("island", "mode"), [("engebi", "solitaire"), ("angaur", "solitaire")])
def test_a_random_game_comes_to_its_end(connection: Connection, island: str, mode: str) -> None:
    scenario = read_scenario(island).chosen({"mode": mode})
    install(connection, scenario)
    position_id = store_position(connection, scenario.position)
    for played in fuzz(connection, from_position(position_id), 1, f"{island} {mode} 2"):
        assert played.problem is None, played.problem
        assert played.actions["landing"]
        assert played.actions["end_phase"]
