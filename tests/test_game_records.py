"""Games that were played to their end and kept: read back, proved, ruled again, and played again through the API."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from app.play.log import log
from app.play.readjudication import readjudicate
from app.play.records import RecordError, import_record, read_record
from app.play.tables import Table, open_game
from app.play.verification import verify
from app.web.site import create_app
from db.settings import Settings
from importers.georeference import forget
from importers.scenarios import install, read_scenario
from tests.conftest import ROOT, web_engine
from tests.games.player import played

RECORDS = sorted((ROOT / "tests" / "games").glob("*/*.txt"))
ANGAUR = ROOT / "tests" / "games" / "fpb" / "angaur-solitaire.txt"


@pytest.fixture
def angaur(connection: Connection) -> Table:
    install(connection, read_scenario("angaur"))
    return import_record(connection, ANGAUR.read_text())


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_kept_game_is_proved_and_stands_under_todays_rules(connection: Connection, path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    install(connection, read_scenario(read_record(text).header["Scenario"]))
    table = import_record(connection, text)
    found = verify(connection, table)
    assert found.ok, found.problems
    assert (found.seed, found.events) == ("opened", table.events)
    assert found.rolls > 10
    assert [str(difference) for difference in readjudicate(connection, table)] == []


def test_a_game_tells_how_it_ended(connection: Connection, angaur: Table) -> None:
    assert angaur.over
    [last] = log(connection, angaur, first=angaur.events)
    assert last["answer"]["over"] is True
    assert last["answer"]["winner"] in ("us", "japan")


def test_a_record_is_read_wherever_in_the_world_its_map_lies(connection: Connection) -> None:
    install(connection, read_scenario("angaur"))
    forget(connection, "angaur-house")
    assert import_record(connection, ANGAUR.read_text()).over
    connection.execute(sa.text("update hex set terrain = 'clear' where label = '1903'"))
    with pytest.raises(RecordError, match="another one here"):
        import_record(connection, ANGAUR.read_text(), name="again")


def test_another_reading_is_reported_and_rewrites_nothing(connection: Connection, angaur: Table) -> None:
    found = readjudicate(connection, angaur, {"fpb-23": "b"})
    assert found
    assert {difference.action for difference in found} <= {"assault_boats", "landing", "end_phase", "move"}
    assert verify(connection, open_game(connection, angaur.name)).ok


def test_the_same_seed_plays_the_same_game_through_the_api(own_engine: Engine) -> None:
    client = create_app(Settings(), web_engine(own_engine)).test_client()
    player = played(client, "angaur", "angaur-solitaire", {"mode": "solitaire"})
    assert {"landing", "attack", "bombardment", "forced_move", "move"} <= set(player.done)
    told = client.get("/api/v1/games/angaur-solitaire/events?last=1000").get_json()["events"]
    with own_engine.connect() as connection:
        here = {event["number"]: event["position_digest"] for event in told}
        kept = import_record(connection, ANGAUR.read_text(), name="kept")
        there = {event["number"]: event["position_digest"] for event in log(connection, kept)}
        assert here == {number: there[number] for number in here}
        assert open_game(connection, "angaur-solitaire").events == kept.events


@pytest.mark.parametrize(("column", "key", "word"), [("rolls", "value", "roll"), ("draws", "nth", "draw")])
def test_a_die_or_a_draw_that_the_seed_does_not_give_is_found(
    connection: Connection, angaur: Table, column: str, key: str, word: str
) -> None:
    connection.execute(sa.text("alter table event disable trigger immutable"))
    bent = connection.scalar(
        sa.text(
            f"update event set {column} = jsonb_set({column}, '{{0,{key}}}',"
            f" to_jsonb(({column} #>> '{{0,{key}}}')::integer % 6 + 1))"
            f" where game_id = :game and number = (select min(number) from event"
            f" where game_id = :game and {column} #>> '{{0,from}}' like 'server%') returning number"
        ),
        {"game": angaur.id},
    )
    assert f"{word} 1 of event {bent} is not what the seed gives" in verify(connection, angaur).problems
