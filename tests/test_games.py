"""Games: begun, acted in, taken back, looked at; what is written down stays, and nothing else writes."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.branches import board_at, fork
from app.play.dice import commitment, number_below, read_seed, rolled
from app.play.games import act, delete_game, new_game
from app.play.log import Deed, log, moment, note
from app.play.openings import begin
from app.play.procedures import Roll
from app.play.readjudication import readjudicate
from app.play.records import import_record, write_record
from app.play.tables import GameError, NotAllowedError, StaleError, Table, open_game
from app.play.undo import redo, undo
from app.play.verification import verify
from app.referee.questions import forms, kinds_of
from importers.cases import case_of, store_position
from tests.test_play import BOARD, digest, tree

SEED = read_seed("a game for tests")


@pytest.fixture
def game(connection: Connection) -> Table:
    start = {**BOARD, "conditions": {"turn": 1, "phase": "support_fire"}}
    position = store_position(connection, case_of(start, "play", forms(), connection).position)
    return new_game(connection, "raid", position, seed=SEED)


def do(connection: Connection, action: str, actor: str = "us", **arguments: Any) -> dict[str, Any]:
    entry = act(connection, "raid", Deed(action, arguments, actor))
    assert entry.event is not None
    return entry.event


def test_a_game_begins_with_the_digest_of_its_seed(connection: Connection, game: Table) -> None:
    [begin] = log(connection, game)
    assert begin["action"] == "begin"
    assert begin["arguments"]["seed_sha256"] == commitment(SEED)
    assert "seed" not in game.as_dict()
    assert game.as_dict()["now"] == {"turn": 1, "phase": "support_fire"}


def test_phases_follow_one_another_and_are_written_down(connection: Connection, game: Table) -> None:
    event = do(connection, "end_phase")
    assert event["number"] == 2
    assert event["phase"] == {"turn": 1, "phase": "support_fire"}
    assert event["steps"] == [{"rule": "5.1", "effect": "begins", "note": "Movement Phase"}]
    now = open_game(connection, "raid")
    assert now.moment.as_dict() == {"turn": 1, "phase": "movement", "active": "us"}
    assert (now.events, now.digest) == (2, event["digest"])
    assert event["previous"] == log(connection, game)[0]["digest"]


def test_only_whose_phase_it_is_acts_or_the_referee(connection: Connection, game: Table) -> None:
    do(connection, "end_phase")
    with pytest.raises(NotAllowedError, match="japan does not act now: the Movement Phase is us's"):
        do(connection, "end_phase", "japan")
    with pytest.raises(GameError, match="'nobody' does not act in raid"):
        do(connection, "end_phase", "nobody")
    assert do(connection, "end_phase", "referee")["actor"] == "referee"


def test_an_action_that_there_is_not_is_told(connection: Connection, game: Table) -> None:
    with pytest.raises(GameError, match="fpb has no action 'end_fase'") as error:
        do(connection, "end_fase")
    assert error.value.remedy == "Is it end_phase?"


def test_who_writes_with_a_stale_number_is_told_what_came_between(
    connection: Connection, game: Table
) -> None:
    do(connection, "end_phase")
    with pytest.raises(StaleError, match="has gone on since event 1: 2 us end_phase"):
        act(connection, "raid", Deed("end_phase", {}, "us", expected=1))
    with pytest.raises(StaleError, match="no event 9 yet; its last is 2"):
        act(connection, "raid", Deed("end_phase", {}, "us", expected=9))
    assert act(connection, "raid", Deed("end_phase", {}, "us", expected=2)).number == 3


def test_a_repeated_request_is_answered_and_not_done_again(connection: Connection, game: Table) -> None:
    deed = Deed("end_phase", {}, "us", key="k1")
    first, again = act(connection, "raid", deed), act(connection, "raid", deed)
    assert again.repeated
    assert again.event == first.event
    assert open_game(connection, "raid").events == 2
    with pytest.raises(GameError, match="came with another request"):
        act(connection, "raid", Deed("end_phase", {}, "referee", key="k1"))


def test_what_was_written_is_never_changed(connection: Connection, game: Table) -> None:
    for statement in (
        "update event set actor = 'japan' where game_id = :game",
        "delete from event where game_id = :game",
        "truncate event cascade",
    ):
        with pytest.raises(sa.exc.DBAPIError, match="never"), connection.begin_nested():
            connection.execute(sa.text(statement), {"game": game.id})
    delete_game(connection, "raid")
    assert not connection.scalar(
        sa.text("select count(*) from event where game_id = :game"), {"game": game.id}
    )


@pytest.mark.parametrize(
    "statement",
    [
        "update unit set attributes = '{}' where position_id = :position",
        "delete from unit where position_id = :position",
        "insert into unit (position_id, map_id, code, side) select :position, map_id, 'x', 'us' from position where id = :position",
        "delete from marker where position_id = :position",
        "update position set conditions = '{}' where id = :position",
        "delete from position where id = :position",
    ],
)
def test_nothing_else_writes_a_games_position(connection: Connection, game: Table, statement: str) -> None:
    with pytest.raises(sa.exc.DBAPIError, match="only its log writes it"), connection.begin_nested():
        connection.execute(sa.text(statement), {"position": game.position_id})


def test_what_is_undone_stays_in_the_log_struck_out(connection: Connection, game: Table) -> None:
    was = digest(connection, game.position_id)
    do(connection, "end_phase")
    do(connection, "end_phase")
    entry = undo(connection, "raid", events=2)
    assert entry.event is not None
    assert entry.event["undoes"] == [3, 2]
    assert digest(connection, game.position_id) == was
    table = open_game(connection, "raid")
    assert [event.get("struck_out_by") for event in log(connection, table)] == [None, 4, 4, None]
    with pytest.raises(GameError, match="Nothing in raid can be taken back"):
        undo(connection, "raid")
    redo(connection, "raid")
    assert open_game(connection, "raid").moment.phase == "bombardment"
    assert [event.get("struck_out_by") for event in log(connection, open_game(connection, "raid"))] == [
        None
    ] * 5
    undo(connection, "raid")
    assert open_game(connection, "raid").moment.phase == "movement"


def test_any_moment_can_be_looked_at(connection: Connection, game: Table) -> None:
    seen = [tree(connection, game.position_id)]
    for _ in range(3):
        do(connection, "end_phase", "referee")
        seen.append(tree(connection, game.position_id))
    table = open_game(connection, "raid")
    for number, then in enumerate(seen, 1):
        found = moment(connection, table, number)
        found["markers"].sort(key=str)
        assert found == then
    with pytest.raises(GameError, match="no event 5"):
        moment(connection, table, 5)


def test_the_referee_sets_anything_by_hand_with_a_reason(connection: Connection, game: Table) -> None:
    effects = [{"unit": "1/22", "at": "0404"}, {"marker": "captured", "at": "0404"}]
    with pytest.raises(GameError, match="Only the referee"):
        act(connection, "raid", Deed("set", {"effects": effects}, "us", note="mine"))
    with pytest.raises(GameError, match="has a reason"):
        act(connection, "raid", Deed("set", {"effects": effects}, "referee"))
    for wrong, word in (
        ([{"unit": "9/9", "at": "0404"}], "there is no unit 9/9"),
        ([{"unit": "1/22", "at": "9909"}], "there is no hex 9909"),
        ([{"unit": "1/22", "speed": 3}], "FpbUnit has no 'speed'"),
        ([{"nothing": 1}], "an effect is about one of"),
        (["x"], "is not a mapping"),
        ([], "takes a list of effects"),
    ):
        with pytest.raises(GameError, match=word):
            act(connection, "raid", Deed("set", {"effects": wrong}, "referee", note="try"))
    entry = act(connection, "raid", Deed("set", {"effects": effects}, "referee", note="the table agreed"))
    assert entry.event is not None
    assert (entry.event["legality"], entry.event["note"]) == ("overruled", "the table agreed")
    assert tree(connection, game.position_id)["units"]["1/22"]["at"] == "0404"


def test_an_annotation_is_kept_with_its_event(connection: Connection, game: Table) -> None:
    note(connection, "raid", 1, "a good beginning", author="referee")
    with pytest.raises(GameError, match="no event 7"):
        note(connection, "raid", 7, "what?", author="referee")
    with pytest.raises(GameError, match="says something"):
        note(connection, "raid", 1, "  ", author="referee")


# Dice


def test_dice_are_derived_and_every_face_is_as_likely() -> None:
    shown = [rolled(Roll("1d6", "x"), SEED, event, 0) for event in range(6000)]
    assert set(shown) == {1, 2, 3, 4, 5, 6}
    assert all(900 < shown.count(face) < 1100 for face in set(shown))
    assert shown == [rolled(Roll("1d6", "x"), SEED, event, 0) for event in range(6000)]
    assert shown != [rolled(Roll("1d6", "x"), read_seed("another"), event, 0) for event in range(6000)]
    assert rolled(Roll("2d10", "x", lowest=0), SEED, 1, 0) != rolled(Roll("2d10", "x", lowest=0), SEED, 1, 1)


def test_a_number_is_below_its_limit() -> None:
    assert {number_below(3, SEED, 1, str(n)) for n in range(50)} == {0, 1, 2}
    assert number_below(1, SEED, 1, "x") == 0


# Proof, branches, records


def test_a_game_is_verified_and_what_was_bent_is_found(connection: Connection, game: Table) -> None:
    for _ in range(3):
        do(connection, "end_phase", "referee")
    undo(connection, "raid")
    table = open_game(connection, "raid")
    found = verify(connection, table)
    assert (found.ok, found.events, found.seed) == (True, 5, "sealed")
    # somebody with the keys of the house
    connection.execute(sa.text("alter table event disable trigger immutable"))
    connection.execute(
        sa.text("update event set actor = 'japan' where game_id = :game and number = 2"), {"game": game.id}
    )
    assert verify(connection, table).problems == (
        "event 2 was changed: its digest is not that of what it says",
    )


def test_a_position_that_was_bent_is_found(connection: Connection, game: Table) -> None:
    connection.execute(sa.text("alter table unit disable trigger guard"))
    connection.execute(
        sa.text("update unit set side = 'japan' where position_id = :position"),
        {"position": game.position_id},
    )
    assert verify(connection, open_game(connection, "raid")).problems == (
        "the position on the table is not the one that the log leads to",
    )


def test_a_game_is_branched_off_at_a_moment(connection: Connection, game: Table) -> None:
    do(connection, "end_phase")
    was = digest(connection, game.position_id)
    do(connection, "end_phase")
    branch = fork(connection, "raid", 2, "raid-2")
    assert digest(connection, branch.position_id) == was
    assert branch.moment.phase == "movement"
    [begin] = log(connection, branch)
    assert (begin["arguments"]["forked_from"], begin["arguments"]["after"]) == ("raid", 2)
    assert begin["arguments"]["seed_sha256"] != commitment(SEED)
    assert open_game(connection, "raid").events == 3


def test_an_earlier_moment_can_be_asked(connection: Connection, game: Table) -> None:
    effects = [{"unit": "1/22", "at": "0505"}]
    act(connection, "raid", Deed("set", {"effects": effects}, "referee", note="a long march"))
    table = open_game(connection, "raid")
    ranges = []
    for number in (1, 2):
        with board_at(connection, table, number) as board:
            ranges.append(
                board.ask(connection, {"range": {"from": "1/22", "to": "0101"}}).ruling.answer["range"]
            )
    assert ranges[0] < ranges[1]


def test_a_record_is_read_elsewhere_with_the_same_digests(connection: Connection, game: Table) -> None:
    for _ in range(2):
        do(connection, "end_phase", "referee")
    undo(connection, "raid", note="too early")
    text = write_record(connection, "raid")
    assert "2. referee end_phase  [turn 1, phase support_fire]" in text
    assert SEED.hex() not in text
    copy = import_record(connection, text, name="raid-copy")
    table = open_game(connection, "raid")
    assert (copy.digest, copy.events) == (table.digest, table.events)
    assert digest(connection, copy.position_id) == digest(connection, table.position_id)
    assert write_record(connection, "raid-copy").replace("raid-copy", "raid") == text


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("2. referee end_phase", "2. us end_phase", "event 2 was changed"),
        ('"phase": "movement"', '"phase": "combat"', "event 2"),
        ("Sightline game record", "A game record", "does not begin with its first line"),
        ("3. referee", "4. referee", "event 4 comes where 3 should"),
        ("Dice ", "Dyce ", "is no part of a record"),
        ("Game      raid", "Game      raid!", "cannot be the name of a game"),
    ],
)
def test_a_record_that_was_bent_is_refused_whole(
    connection: Connection, game: Table, old: str, new: str, word: str
) -> None:
    for _ in range(2):
        do(connection, "end_phase", "referee")
    text = write_record(connection, "raid")
    assert old in text
    with pytest.raises(GameError, match=word), connection.begin_nested():
        import_record(connection, text.replace(old, new), name=None if "Game" in old else "bent")
    assert connection.scalar(sa.text("select count(*) from game")) == 1


def test_a_game_is_ruled_again_and_nothing_is_rewritten(connection: Connection, game: Table) -> None:
    for _ in range(3):
        do(connection, "end_phase", "referee")
    table = open_game(connection, "raid")
    before = log(connection, table)
    assert readjudicate(connection, table) == []
    assert log(connection, table) == before
    # a record of other rules: the answer of an event is another
    connection.execute(sa.text("alter table event disable trigger immutable"))
    connection.execute(
        sa.text(
            'update event set answer = answer || \'{"next": {"phase": "combat"}}\' where game_id = :game and number = 2'
        ),
        {"game": game.id},
    )
    [difference] = readjudicate(connection, table)
    assert (difference.number, difference.what) == (2, "answer")
    assert difference.now["next"]["phase"] == "movement"


# Set-up


def test_what_nobody_decides_is_set_up_by_itself(connection: Connection) -> None:
    table = begin(connection, "scenario:engebi", name="engebi-1", seed="x")
    assert table.events == 1, "the boats are a choice"
    offered = actions(connection, "engebi-1")
    boats = next(one for one in offered if one["action"] == "assault_boats")
    assert act(connection, "engebi-1", Deed("assault_boats", boats["arguments"], "us")).followed == ()
    entry = act(connection, "engebi-1", Deed("withhold", {"markers": []}, "us"))
    assert [event["action"] for event in entry.followed] == ["placement"] * 3
    assert all(event["rolls"][0]["from"].startswith("server") for event in entry.followed)
    placed = tree(connection, table.position_id)["units"]
    assert all("at" in unit for unit in placed.values() if unit["side"] == "japan")
    undo(connection, "engebi-1", events=2)
    again = act(connection, "engebi-1", Deed("placement", entry.followed[1]["arguments"], "referee"))
    assert len(again.followed) == 1


def test_a_table_that_rolls_for_itself_sets_up_by_hand(connection: Connection) -> None:
    begin(connection, "scenario:engebi", name="engebi-1", dice="typed")
    boats = next(one for one in actions(connection, "engebi-1") if one["action"] == "assault_boats")
    assert act(connection, "engebi-1", Deed("assault_boats", boats["arguments"], "us")).followed == ()
    deed = Deed("placement", {"island": "engebi", "row": 1}, "referee")
    entry = act(connection, "engebi-1", deed)
    assert entry.pending is not None
    assert entry.pending["prompt"]["roll"] == "1d6"
    with pytest.raises(GameError, match="waits for the roll 1d6"):
        undo(connection, "engebi-1")
    with pytest.raises(GameError, match="shows 1 to 6, never 7"):
        act(connection, "engebi-1", Deed("answer", {"rolls": [7]}, "referee"))
    entry = act(connection, "engebi-1", Deed("answer", {"rolls": [3]}, "referee"))
    assert entry.event is not None
    assert entry.event["rolls"][0]["from"] == "typed"


def actions(connection: Connection, name: str) -> list[dict[str, Any]]:
    kind = kinds_of("fpb")["legal"]
    asked = open_game(connection, name).asked(connection)
    found: list[dict[str, Any]] = kind.rule(asked, kind.arguments.model_validate({"side": "us"})).answer[
        "actions"
    ]
    return found
