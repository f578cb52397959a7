"""Boards: a saved map or position, changed for a moment, asked, and exported as a case."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlalchemy.engine import URL, Connection, Engine

from app.referee.arguments import arguments, form_fields, needs_units
from app.referee.boards import Kind, case_file, open_board
from app.referee.cases import rule_text
from app.referee.questions import kinds, kinds_of
from app.referee.rulings import contested_points
from app.referee.whatif import NOTHING, Changes, read_changes
from app.web.address import OWN, view
from app.web.site import create_app
from db import SightlineError
from db.counters import CONDITIONS
from db.database import make_engine
from db.inventory import NotThereError, hex_facts
from db.rulesets import CODES
from db.settings import Settings
from db.values import canonical
from importers.documents import Problems, read_document
from importers.maps import load_draft, open_map
from importers.positions import import_position
from tests.conftest import web_engine

POSITION, MAP, LARGE = "lipata-landing", "pagasa-coast", "campaign-island"
SEEN = {"los": {"from": "A/1/31", "to": "14.12"}}
ASK = "/api/v1/ask"


@pytest.fixture(scope="module")
def engine(demo_url: URL) -> Iterator[Engine]:
    """The demo, of which nothing is changed: all that is done here is undone."""
    engine = make_engine(demo_url)
    yield engine
    engine.dispose()


@pytest.fixture
def client(engine: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(engine)).test_client()


def changed(**told: Any) -> Changes:
    return read_changes(json.dumps(told))


# Asking


def test_a_board_answers_as_the_case_would(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    answer = board.ask(connection, SEEN)
    _, [ruling] = rule_text(connection, case_file(connection, board, SEEN), "case.yaml")
    assert board.kind == "position"
    assert (ruling.answer, ruling.steps) == (answer.ruling.answer, answer.ruling.steps)
    assert ruling.ok is True
    assert answer.ruling.answer["blocked_by"] == ["14.14", "13.13"]


def test_a_name_of_both_is_the_position_unless_it_is_said(connection: Connection) -> None:
    assert open_board(connection, MAP).kind == "map"
    with pytest.raises(NotThereError, match="no position 'pagasa-coast'"):
        open_board(connection, MAP, "position")
    with pytest.raises(NotThereError, match="no map or position") as raised:
        open_board(connection, "lipata-landin")
    assert raised.value.remedy.startswith("Did you mean lipata-landing")


def test_a_map_without_units_is_not_asked_about_one(connection: Connection) -> None:
    board = open_board(connection, MAP)
    with pytest.raises(SightlineError, match="is a map, and units stand in positions only") as raised:
        board.ask(connection, {"command": {"unit": "A/1/31"}})
    assert "lipata-landing" in raised.value.remedy
    placed = changed(units={"HQ": {"side": "us", "kind": "hq", "at": "13.16"}})
    assert board.ask(connection, {"range": {"from": "HQ", "to": "13.15"}}, placed).ruling.answer == {
        "range": 1
    }


def test_a_mistake_is_told_by_its_argument(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    with pytest.raises(Problems) as raised:
        board.ask(connection, {"los": {"from": "A/1/13", "to": "99.99"}, "policy": {"css-12": "z"}})
    found = {problem.place: problem for problem in raised.value.found}
    assert set(found) == {"from", "to", "policy css-12"}
    assert found["from"].nearest == ("A/1/31",)
    assert found["to"].file == "los on lipata-landing"


@pytest.mark.parametrize("kind", ["los", "threats", "fire_zone"])
def test_a_question_that_a_game_lacks_is_refused_with_the_reason(client: FlaskClient, kind: str) -> None:
    answer = client.post(ASK, json={"on": "tanaro-assault", "question": {kind: {}}})
    assert answer.status_code == 422
    [told] = answer.json["problems"]
    assert told["message"].startswith(f"fpb has no question '{kind}': ")
    assert "(fpb " in told["message"], "the rule that says so"


@pytest.mark.parametrize("asked", [{"loss": {}}, {}])
def test_a_question_of_no_kind_is_told_by_the_board(connection: Connection, asked: dict[str, Any]) -> None:
    with pytest.raises(Problems) as raised:
        open_board(connection, POSITION).ask(connection, asked)
    assert str(raised.value).startswith("lipata-landing: ")


def test_what_cannot_be_ruled_on_is_told_without_a_line(connection: Connection) -> None:
    off = changed(units={"A/1/31": {"at": None}})
    with pytest.raises(Problems) as raised:
        open_board(connection, POSITION).ask(connection, {"reach": {"unit": "A/1/31"}}, off)
    assert str(raised.value).startswith("reach on lipata-landing: ")


STATEMENTS = {
    "los": ({"from": "A/1/31", "to": "14.12"}, 4),
    "range": ({"from": "13.15", "to": "14.12"}, 4),
    "fan": ({"from": "13.15", "range": 4}, 4),
    "fire_zone": ({"unit": "C/1/31"}, 4),
    "reach": ({"unit": "C/1/31"}, 4),
}
"""Of a question on a saved position that no contested point touches: board, names, the answer, its reasons."""


@pytest.mark.parametrize("kind", STATEMENTS)
def test_a_saved_position_is_asked_where_it_lies(engine: Engine, kind: str) -> None:
    """One statement finds the board, one the names, and the rest rule; each reading tried is one more at most."""
    arguments, most = STATEMENTS[kind]
    said: list[str] = []
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        sa.event.listen(connection, "before_cursor_execute", lambda *told: said.append(told[2]), named=False)
        answer = open_board(connection, POSITION).ask(connection, {kind: arguments})
    again = sum(
        len(contested_points("css")[point["point"]].readings) - 1 for point in answer.ruling.contested
    )
    assert len(said) <= most + again, said
    assert not [text for text in said if text.lstrip().startswith(("insert", "INSERT"))]


def test_a_map_is_asked_where_it_lies(engine: Engine) -> None:
    said: list[str] = []
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        sa.event.listen(connection, "before_cursor_execute", lambda *told: said.append(told[2]), named=False)
        open_board(connection, LARGE).ask(connection, {"range": {"from": "30.30", "to": "33.34"}})
    assert len(said) == 3


def test_a_stored_map_is_the_same_looked_at_or_loaded(connection: Connection) -> None:
    stored, loaded = open_map(connection, "hill-312"), load_draft(connection, "hill-312")
    place = next(iter(loaded.hexes))
    assert stored.hexes[place] == loaded.hexes[place]
    assert place in stored.hexes
    assert (99, 99) not in stored.hexes
    with pytest.raises(KeyError):
        stored.hexes[place._replace(q=999)]
    for part in ("hexes", "hexsides", "paths", "areas", "crests", "features", "georeference"):
        assert getattr(stored, part) == getattr(loaded, part), part
    with pytest.raises(AttributeError):
        _ = stored.rivers


def test_asking_leaves_nothing_behind(connection: Connection, rows: Any) -> None:
    count = "select (select count(*) from position), (select count(*) from unit), (select count(*) from map)"
    before = rows(count)
    open_board(connection, POSITION).ask(connection, SEEN, changed(units={"HQ/31": None}))
    assert rows(count) == before


# A place is a hex or a unit, never a guess


@pytest.fixture
def namesakes(connection: Connection, tmp_path: Path) -> tuple[str, tuple[str, ...]]:
    """A position in which a squad that stands in C3 is called A3, as a hex is; and what its import said."""
    file = tmp_path / "namesakes.yaml"
    file.write_text(
        "name: namesakes\nruleset: bob\n"
        "map: {extent: [A1, E5]}\n"
        "units:\n  - {id: A3, side: us, kind: squad, at: C3}\n  - {id: Baker, side: us, kind: squad, at: E4}\n"
    )
    report = import_position(connection, file)
    return report.name, report.notices


def test_a_word_that_is_a_unit_and_a_hex_is_not_guessed(
    connection: Connection, namesakes: tuple[str, tuple[str, ...]]
) -> None:
    board = open_board(connection, namesakes[0])
    with pytest.raises(Problems) as raised:
        board.ask(connection, {"range": {"from": "A3", "to": "E4"}})
    [problem] = raised.value.found
    assert (problem.place, problem.message) == (
        "from",
        "'A3' is a unit and a hex here; write unit:A3 or hex:A3",
    )


@pytest.mark.parametrize(
    ("start", "ends", "hexes"),
    [("hex:A3", ["A3", "E4"], 4), ("unit:A3", ["C3", "E4"], 2), ("hex:B3", ["B3", "E4"], 3), ("unit:Baker", ["E4"], 0)],
)  # fmt: skip
def test_a_prefix_says_which_is_meant(
    connection: Connection,
    namesakes: tuple[str, tuple[str, ...]],
    start: str,
    ends: list[str],
    hexes: int,
) -> None:
    answer = open_board(connection, namesakes[0]).ask(connection, {"range": {"from": start, "to": "E4"}})
    assert answer.ruling.answer == {"range": hexes}
    assert answer.draws()["ends"] == ends
    # told with its prefix only where it needs one
    told = start if start.endswith("A3") else start.partition(":")[2]
    assert answer.ruling.question == {"range": {"from": told, "to": "E4"}}


@pytest.mark.parametrize("function", ["los", "fan"])
def test_sql_tells_them_apart_too(
    connection: Connection, namesakes: tuple[str, tuple[str, ...]], function: str, rows: Any
) -> None:
    call = {"los": "bob.los({}, '{}', 'E4')", "fan": "positions.viewshed({}, '{}')"}[function]
    position = open_board(connection, namesakes[0]).position_id
    seen = {name: rows(f"select * from {call.format(position, name)}") for name in ("hex:A3", "unit:A3")}
    assert seen["hex:A3"] != seen["unit:A3"]
    with pytest.raises(sa.exc.ProgrammingError, match="A3 is a unit and a hex here; write unit:A3 or hex:A3"):
        rows(f"select * from {call.format(position, 'A3')}")


def test_a_prefix_that_does_not_fit_is_refused(
    connection: Connection, namesakes: tuple[str, tuple[str, ...]]
) -> None:
    with pytest.raises(Problems, match="'hex:A3': expected unit"):
        open_board(connection, namesakes[0]).ask(connection, {"command": {"unit": "hex:A3"}})
    with pytest.raises(Problems, match="there is no unit 'Bakr'"):
        open_board(connection, namesakes[0]).ask(connection, {"range": {"from": "unit:Bakr", "to": "E4"}})


@pytest.fixture
def movers(connection: Connection, tmp_path: Path) -> str:
    """A position in which a squad that stands in D4 is called B3, as a hex is, and one off the map C5."""
    file = tmp_path / "movers.yaml"
    squad = "side: allied, kind: squad, movement: 6, fp: 5, range: 5, morale: 8"
    file.write_text(
        "name: movers\nruleset: ccp\nmap: {extent: [A1, F6]}\n"
        f"units:\n  - {{id: B3, at: D4, {squad}}}\n  - {{id: Baker, at: D4, {squad}}}\n  - {{id: C5, {squad}}}\n"
    )
    return import_position(connection, file).name


WAY = ["D3", "C3", "B3"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ({"command": {"unit": "B3"}}, {"command": {"unit": "unit:B3"}}),
        ({"fire_zone": {"unit": "B3"}}, {"fire_zone": {"unit": "unit:B3"}}),
        ({"move": {"unit": "Baker", "path": WAY}}, {"move": {"unit": "unit:Baker", "path": ["D3", "C3", "hex:B3"]}}),
        ({"move": {"unit": "Baker", "with": ["B3"], "path": ["D3"]}},
         {"move": {"unit": "Baker", "with": ["unit:B3"], "path": ["hex:D3"]}}),
        ({"move": {"unit": "B3", "path": WAY, "hidden_wire": ["B3"]}},
         {"move": {"unit": "unit:B3", "path": WAY, "hidden_wire": ["hex:B3"]}}),
        ({"reach": {"unit": "B3", "to": "B3"}}, {"reach": {"unit": "unit:B3", "to": "hex:B3"}}),
    ],
)  # fmt: skip
def test_what_can_only_be_a_unit_or_a_hex_may_say_so_too(
    connection: Connection, movers: str, question: dict[str, Any], said: dict[str, Any]
) -> None:
    """A word that is both is no riddle where only one of them can stand; a prefix changes nothing there."""
    board = open_board(connection, movers)
    plain, prefixed = board.ask(connection, question), board.ask(connection, said)
    assert prefixed.as_dict() == plain.as_dict()
    assert plain.ruling.question == question


def test_a_way_is_drawn_through_the_hex_and_not_to_the_unit_of_its_name(
    connection: Connection, movers: str
) -> None:
    board = open_board(connection, movers)
    move = board.ask(connection, {"move": {"unit": "B3", "path": WAY}}).draws()
    assert (move["ends"], move["path"]) == (["D4"], ["D4", "D3", "C3", "B3"])
    reach = board.ask(connection, {"reach": {"unit": "B3", "to": "B3"}}).draws()
    assert reach["ends"] == ["D4", "B3"]


def test_an_import_warns_of_units_called_like_a_hex(namesakes: tuple[str, tuple[str, ...]]) -> None:
    [notice] = namesakes[1]
    assert notice == (
        "A3: a unit is called like a hex of the map; questions say which they mean, unit:A3 or hex:A3"
    )


# What a map shows


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (SEEN, {"kind": "line", "ends": ["13.15", "14.12"], "blocked": ["14.14", "13.13"], "path": []}),
        ({"fan": {"from": "HQ/31", "range": 1}}, {"kind": "hexes", "ends": ["14.18"], "line": [], "blocked": []}),
        ({"range": {"from": "13.15", "to": "13.17"}}, {"kind": "places", "ends": ["13.15", "13.17"], "hexes": {}}),
        ({"command": {"unit": "A/1/31"}}, {"kind": "places", "ends": ["13.15"], "units": ["HQ/31"]}),
    ],
)  # fmt: skip
def test_what_a_map_shows_of_an_answer(
    connection: Connection, question: dict[str, Any], expected: dict[str, Any]
) -> None:
    draws = open_board(connection, POSITION).ask(connection, question).draws()
    assert expected.items() <= draws.items()


def test_a_move_that_fails_is_stopped_where_it_fails(connection: Connection) -> None:
    """Its answer lists no obstacle as a line's does: the proof says where."""
    answer = open_board(connection, POSITION).ask(
        connection, {"move": {"unit": "C/1/31", "path": ["13.16", "13.14"]}}
    )
    assert answer.ruling.answer["legal"] is False
    assert "blocked_by" not in answer.ruling.answer
    assert answer.draws()["blocked"] == ["13.14"]


def test_a_line_runs_between_the_centres_of_the_display_plane(connection: Connection, rows: Any) -> None:
    draws = open_board(connection, POSITION).ask(connection, SEEN).draws()
    centres = rows(
        "select st_x(c), st_y(c) from hex join map on map.id = hex.map_id, gis.place(map.id, hex.center) as c"
        " where map.name = 'pagasa-coast' and label in ('13.15', '14.12') order by label"
    )
    assert [tuple(point) for point in draws["line"]] == centres


def test_found_hexes_are_told_with_or_without_a_number(connection: Connection) -> None:
    fan = open_board(connection, POSITION).ask(connection, {"fan": {"from": "13.15", "range": 1}})
    assert set(fan.draws()["hexes"].values()) == {None}
    assert "13.14" in fan.draws()["hexes"]


def test_costs_are_told_in_their_hexes(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    reach = board.ask(connection, {"reach": {"unit": "C/1/31", "to": "13.16"}})
    draws = reach.draws()
    assert draws["hexes"] == reach.ruling.answer["hexes"]
    assert draws["path"] == reach.ruling.answer["path"]
    way = board.ask(connection, {"move": {"unit": "C/1/31", "path": ["13.16", "14.16"]}}).draws()
    assert (way["kind"], way["path"]) == ("path", ["13.17", "13.16", "14.16"])
    assert way["hexes"]["13.16"] > 0


def test_script_and_drawings_show_the_same(connection: Connection) -> None:
    """Where a move fails is told once, and marked alike in the script's picture and in a drawing."""
    board = open_board(connection, POSITION)
    answer = board.ask(connection, {"move": {"unit": "C/1/31", "path": ["13.16", "14.16", "14.12"]}})
    draws, ground = answer.draws(), board.position(connection).board
    marks = {
        ground.scheme.label(place): mark for place, mark in answer.picture.marks(ground, connection).items()
    }
    assert draws["blocked"] == ["14.12"]
    assert {label for label, mark in marks.items() if mark == "blocks"} == set(draws["blocked"])
    assert {label for label, mark in marks.items() if mark == "end"} == set(draws["ends"])
    assert {label for label, mark in marks.items() if mark == "answer"} == {"13.16", "14.16"}
    assert draws["path"] == ["13.17", "13.16", "14.16", "14.12"]


# What if


def test_changes_are_made_for_one_question_only(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    smoke = {"kind": "smoke_barrage", "at": "14.14"}
    light = {"kind": "light_barrage", "at": "13.13"}
    clear = board.ask(connection, SEEN, changed(markers={"remove": [smoke, light]}))
    assert clear.ruling.answer["visible"] is True
    moved = board.ask(connection, {"range": SEEN["los"]}, changed(units={"A/1/31": {"at": "14.13"}}))
    assert moved.ruling.answer == {"range": 1}
    assert board.ask(connection, SEEN).ruling.answer["visible"] is False


def test_a_what_if_keeps_nobody_waiting(engine: Engine) -> None:
    """While one is being thought through, others think of the same map otherwise, and look around on it anew."""
    changes = changed(
        units={"A/1/31": {"at": "13.16"}, "HQ/31": None, "X": {"side": "us"}},
        markers={
            "add": [{"kind": "mines", "at": "13.16"}],
            "remove": [{"kind": "smoke_barrage", "at": "14.14"}],
        },
        conditions={"weather": "rain"},
    )
    with engine.connect() as one, engine.connect() as other:
        board = open_board(one, POSITION)
        with board.changed(one, changes) as thought:
            other.execute(sa.text("set local lock_timeout = '1s'"))
            board.check(other, changes)
            other.execute(sa.text("delete from viewshed"))
            assert board.ask(other, {"fan": {"from": "13.15", "range": 1}}).ruling.answer["visible"]
            assert thought.ask(one, {"fire_zone": {"side": "us"}}).ruling.answer["hexes"]
        other.rollback()
        # what others see is still edited one at a time, whatever was thought of before
        one.execute(sa.text("update unit set kind = kind where position_id = :id"), {"id": board.position_id})
        other.execute(sa.text("set local lock_timeout = '100ms'"))
        with pytest.raises(sa.exc.OperationalError, match="lock timeout"):
            other.execute(sa.text("update hex set name = name where map_id = :id"), {"id": board.map_id})


def test_a_unit_comes_goes_and_is_otherwise(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    changes = changed(
        units={
            "HQ/31": None,
            "A/1/31": {"posture": "column", "defense": None},
            "X/9": {"side": "japan", "kind": "hero", "at": "13.16"},
        },
        conditions={"weather": "rain"},
    )
    with board.changed(connection, changes) as now:
        position = now.position(connection)
    assert "HQ/31" not in position.units
    assert position.units["A/1/31"][0].posture == "column"  # type: ignore[attr-defined]
    assert position.units["A/1/31"][0].defense is None  # type: ignore[attr-defined]
    assert position.units["X/9"][0].kind == "hero"  # type: ignore[attr-defined]
    assert position.conditions == {"weather": "rain", "time": "day"}
    assert len(changes) == 4


@pytest.mark.parametrize(
    ("told", "place", "message"),
    [
        ({"unit": {}}, "unit", "unknown key 'unit'"),
        ({"units": {"A/1/31": 5}}, "units/A/1/31", "expected the fields of a unit"),
        ({"units": {"A/1/13": {"at": "13.15"}}}, "units/A/1/13", "there is no unit 'A/1/13'"),
        ({"units": {"A/1/31": {"at": "99.99"}}}, "units/A/1/31/at", "99.99 is not a hex of this map"),
        ({"units": {"A/1/31": {"sied": "us"}}}, "units/A/1/31/sied", "unknown key 'sied'"),
        ({"units": {"X": {"side": "russia"}}}, "units/X/side", "'russia' is not one of"),
        ({"units": {"A/1/31": {"id": "HQ/31"}}}, "units/A/1/31/id", "'A/1/31' keeps its id"),
        ({"units": {"A/1/31": {"id": "new"}}}, "units/A/1/31/id", "'A/1/31' keeps its id"),
        ({"markers": {"add": [{"kind": "dg", "at": "13.15"}]}}, "markers/add/1", "needs its value"),
        ({"markers": {"add": [{"at": "13.15"}]}}, "markers/add/1", "kind is missing"),
        ({"markers": {"remove": [{"kind": "dg", "at": "13.16"}]}}, "markers/remove/1", "no dg marker in 13.16"),
        ({"conditions": {"weather": "rainy"}}, "conditions/weather", "'rainy' is not one of"),
    ],
)  # fmt: skip
def test_a_wrong_change_is_told_by_its_place(
    connection: Connection, told: dict[str, Any], place: str, message: str
) -> None:
    with pytest.raises(Problems) as raised:
        open_board(connection, POSITION).check(connection, read_changes(json.dumps(told)))
    [problem] = raised.value.found
    assert (problem.place, problem.line) == (place, None)
    assert message in problem.message


def test_changes_survive_the_address() -> None:
    changes = (
        NOTHING.moved({"id": "A/1/31", "in_cave": True}, "13.16")
        .with_marker({"kind": "dg", "at": "13.16", "value": 3})
        .without_marker({"kind": "mines", "at": "11.15"})
        .without_unit("HQ/31", saved=True)
        .under({"weather": "rain"})
    )
    assert read_changes(changes.as_text()) == changes
    assert changes.units["A/1/31"] == {"at": "13.16", "in_cave": None}
    assert NOTHING.as_text() == ""
    assert read_changes("") == NOTHING


def test_a_label_with_a_zero_at_its_end_survives_the_address() -> None:
    """Where nobody quoted it, it looks like a number."""
    zone = {"beach": "13.10", "run": "approach"}
    changes = read_changes(
        '{"units": {"A": {"at": 13.10}, "B": {"zone": {"beach": 13.10, "run": "approach"}}}}'
    )
    again = read_changes(read_changes(changes.as_text()).as_text())
    assert str(again.units["A"]["at"]) == "13.10"  # type: ignore[index]
    assert {key: str(value) for key, value in again.units["B"]["zone"].items()} == zone  # type: ignore[index]


def test_of_two_markers_of_a_kind_the_one_that_is_named_goes(
    client: FlaskClient, connection: Connection
) -> None:
    """On a cave and inside it are two places (css 6.3), and a ridge has a side."""
    board = open_board(connection, POSITION)
    cave = connection.scalar(
        sa.text("select label from hex where map_id = :map and 'cave' = any(features) order by q limit 1"),
        {"map": board.map_id},
    )
    both = [{"kind": "pinned", "at": cave}, {"kind": "pinned", "at": cave, "in_cave": True}]
    sides = [{"kind": "ridge", "at": "13.16", "side": side} for side in (1, 4)]
    saved = changed(markers={"add": [*both, *sides]})
    page = client.get(f"/positions/{POSITION}", query_string={"whatif": saved.as_text(), "edit": "1"})
    offered = re.findall(r'<option value="(\{&#34;kind[^"]*)">([^<]*)', page.text)
    told = [html.unescape(value) for value, _ in offered]
    assert len(set(told)) == len(told)
    assert len({words for _, words in offered}) == len(offered)
    for gone in (*both, *sides):
        wanted = {"facing" if key == "side" else key: said for key, said in gone.items()}
        [value] = [text for text in told if json.loads(text) == wanted]
        answer = client.get(
            f"/positions/{POSITION}/what-if",
            query_string={"whatif": saved.as_text(), "if.do": "unmark", "if.marker": value},
        )
        with client.application.test_request_context(answer.location) as context:
            left = read_changes(context.request.args["whatif"])
        assert [it for it in saved.added if it not in left.added] == [gone]
    named = changed(markers={"remove": [{"kind": "ridge", "at": "13.16", "side": 4}]})
    with (
        board.changed(connection, changed(markers={"add": sides})) as now,
        now.changed(connection, named) as left,
    ):
        assert [marker.facing for marker in left.position(connection).markers if marker.kind == "ridge"] == [
            1
        ]


def test_a_new_unit_has_nothing_of_one_that_was_taken_away(
    client: FlaskClient, connection: Connection
) -> None:
    gone = changed(units={"A/1/31": None}).as_text()
    form = {"do": "add", "id": "A/1/31", "side": "us", "kind": "hero", "at": "13.16"}
    answer = client.get(
        f"/positions/{POSITION}/what-if",
        query_string={"whatif": gone, **{f"if.{key}": value for key, value in form.items()}},
    )
    with client.application.test_request_context(answer.location) as context:
        changes = read_changes(context.request.args["whatif"])
    with open_board(connection, POSITION).changed(connection, changes) as now:
        [unit] = [unit for unit in now.tree(connection)["units"] if unit["id"] == "A/1/31"]
    assert unit == {key: value for key, value in form.items() if key != "do"}


def test_what_was_added_is_forgotten_when_it_is_removed() -> None:
    marker = {"kind": "mines", "at": "11.15"}
    assert not NOTHING.with_marker(marker).without_marker(marker)
    assert not NOTHING.with_unit({"id": "X", "side": "us"}).without_unit("X", saved=False)


# The case file


def test_a_large_map_is_written_around_what_matters(connection: Connection) -> None:
    board = open_board(connection, LARGE)
    question = {"fan": {"from": "30.30", "range": 4}}
    text = case_file(connection, board, question)
    case, [ruling] = rule_text(connection, text, "case.yaml")
    assert ruling.ok is True
    assert 50 < len(case.position.board.hexes) < 1000
    assert canonical(ruling.answer) == canonical(board.ask(connection, question).ruling.answer)


def test_a_part_that_does_not_rule_alike_is_not_taken(connection: Connection) -> None:
    """From a height much is seen far away: what lies between belongs to it, though no answer names it."""
    board = open_board(connection, LARGE)
    highest = "select label from hex join map on map.id = map_id where map.name = :map order by level desc, q limit 1"
    peak = connection.scalar(sa.text(highest), {"map": LARGE})
    text = case_file(connection, board, {"fan": {"from": peak, "range": 12}})
    _, [ruling] = rule_text(connection, text, "case.yaml")
    assert ruling.ok is True


def test_a_case_file_carries_the_changes_and_the_readings(connection: Connection) -> None:
    board = open_board(connection, POSITION)
    changes = changed(units={"A/1/31": {"at": "13.16"}}, conditions={"time": "night"})
    question = SEEN | {"policy": {"css-12": "a"}}
    by_name = case_file(connection, board, question, changes, by_name=True)
    tree = read_document(by_name, "case.yaml").plain()
    assert tree["map"] == MAP
    assert tree["conditions"]["time"] == "night"
    assert tree["ask"][0]["policy"] == {"css-12": "a"}
    for text in (by_name, case_file(connection, board, question, changes)):
        case, [ruling] = rule_text(connection, text, "case.yaml")
        assert ruling.ok is True
        assert case.position.units["A/1/31"][0].at == "13.16"


@pytest.mark.parametrize("name", ["orange-dawn", "sorovi-crossing", "tanaro-assault", "vesny-morning"])
def test_every_game_can_be_exported(connection: Connection, name: str) -> None:
    board = open_board(connection, name)
    first, second, *_ = [unit["id"] for unit in board.tree(connection)["units"] if "at" in unit]
    kind = "los" if "los" in kinds_of(board.ruleset) else "range"
    text = case_file(connection, board, {kind: {"from": first, "to": second}})
    _, [ruling] = rule_text(connection, text, "case.yaml")
    assert ruling.ok is True


# The API


def test_the_api_answers_with_what_a_map_shows(client: FlaskClient) -> None:
    answer = client.post(ASK, json={"on": POSITION, "question": SEEN})
    assert answer.status_code == 200
    assert answer.json["answer"]["visible"] is False
    assert answer.json["draws"]["kind"] == "line"
    changes = {"markers": {"remove": [{"kind": "smoke_barrage", "at": "14.14"}]}}
    changed = client.post(ASK, json={"on": POSITION, "question": SEEN, "changes": changes})
    assert changed.json["answer"]["blocked_by"] == ["13.13"]


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        ({"on": "nowhere", "question": SEEN}, 404, None),
        ({"on": POSITION, "question": {"los": {"from": "13.15"}}}, 422, ""),
        ({"on": POSITION, "question": {"loss": {}}}, 422, ""),
        ({"on": POSITION, "question": SEEN, "changes": {"units": {"A/1/31": {"at": "1"}}}}, 422, "units/A/1/31/at"),
        ({"on": POSITION, "question": SEEN, "changes": {"unit": {}}}, 422, "changes.unit"),
        ({"on": MAP, "question": {"command": {"unit": "A"}}}, 400, None),
    ],
)  # fmt: skip
def test_a_wrong_request_is_told(
    client: FlaskClient, body: dict[str, Any], status: int, place: str | None
) -> None:
    answer = client.post(ASK, json=body)
    assert answer.status_code == status
    assert answer.mimetype == "application/problem+json"
    if place is not None:
        assert answer.json["problems"][0]["place"] == place


@pytest.mark.parametrize("levels", [41, 950, 5000, 100_000])
@pytest.mark.parametrize(
    "body", ['"question": {"los": {"from": %s}}', '"question": {}, "changes": {"conditions": {"a": %s}}']
)
def test_what_is_nested_too_deeply_is_refused(client: FlaskClient, body: str, levels: int) -> None:
    text = '{"on": "lipata-landing", ' + body % ("[" * levels + "]" * levels) + "}"
    answer = client.post(ASK, data=text, content_type="application/json")
    assert answer.status_code in (400, 422)
    assert answer.mimetype == "application/problem+json"


@pytest.mark.parametrize(
    ("argument", "many"),
    [("path", ["13.16"] * 201), ("with", [f"W{n}" for n in range(201)]), ("hits", {f"W{n}": 1 for n in range(201)})],
)  # fmt: skip
def test_a_question_names_no_more_than_it_can_need(client: FlaskClient, argument: str, many: Any) -> None:
    """Told before any of it is looked for."""
    question = {"move": {"unit": "C/1/31", "path": ["13.16"], argument: many}}
    answer = client.post(ASK, json={"on": POSITION, "question": question})
    assert answer.status_code == 422
    assert [problem["place"] for problem in answer.json["problems"]] == [argument]
    assert "at most 200" in answer.json["detail"]


def test_a_what_if_has_an_end(client: FlaskClient) -> None:
    units = {f"W{n}": {"side": "us"} for n in range(1001)}
    answer = client.post(ASK, json={"on": POSITION, "question": SEEN, "changes": {"units": units}})
    assert answer.status_code == 422
    assert "1001 changes are more than 1000" in answer.json["detail"]


# The registry and the address


def test_no_argument_has_a_word_of_the_address() -> None:
    for kind in kinds():
        assert not {argument.word for argument in arguments(kind)} & set(OWN), kind.name


def test_every_argument_of_every_question_can_be_filled_in() -> None:
    for code in CODES:
        for kind in kinds_of(code).values():
            assert all(argument.description for argument in arguments(kind, code)), kind.name
        assert all(field.word for field in form_fields(CONDITIONS[code]))
    assert needs_units(kinds_of("css")["command"])
    assert not needs_units(kinds_of("css")["los"])


def test_the_address_tells_the_view_and_the_view_the_address(client: FlaskClient, engine: Engine) -> None:
    address = "/positions/lipata-landing?tool=los&from=A/1/31&to=14.12&policy=css-12:a&look=13.15&edit=1"
    with client.application.test_request_context(address) as context, engine.connect() as connection:
        board = open_board(connection, POSITION)
        shown, position = view(board, context.request.args), board.position(connection)
        assert shown.question == SEEN | {"policy": {"css-12": "a"}}
        assert shown.address() == address
        assert "policy=css-12:b" in shown.with_reading("css-12", "b")
        assert "to=14.12" in shown.with_tool("trace", position)
        assert "to=" not in shown.with_tool("fan", position)


def test_a_comma_in_a_name_does_not_part_it(client: FlaskClient, engine: Engine) -> None:
    address = f"/positions/{POSITION}?tool=reach&with=A\\,1,B"
    with client.application.test_request_context(address) as context, engine.connect() as connection:
        shown = view(open_board(connection, POSITION), context.request.args)
        assert shown.given == {"with": ["A,1", "B"]}
        assert unquote(shown.address()) == address


def test_a_picture_is_drawn_anew_only_when_something_changed(client: FlaskClient) -> None:
    told = set()
    for address in (f"/maps/{MAP}/picture.svg", f"/positions/{POSITION}/picture.svg"):
        first = client.get(address)
        assert first.mimetype == "image/svg+xml"
        again = client.get(address, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")
        told.add(first.headers["ETag"])
        assert f'src="{address}"' in client.get(f"/{address.split('/')[1]}").text
    assert len(told) == 2
    assert client.get("/maps/nowhere/picture.svg").status_code == 404


def test_a_question_waits_for_what_it_needs(client: FlaskClient, engine: Engine) -> None:
    address = "/positions/lipata-landing?tool=los&from=A/1/31"
    with client.application.test_request_context(address) as context, engine.connect() as connection:
        assert view(open_board(connection, POSITION), context.request.args).question is None


# Pages without script


def test_the_page_has_drawing_form_and_ruling(client: FlaskClient) -> None:
    page = client.get("/positions/lipata-landing?tool=los&from=A/1/31&to=14.12")
    assert page.status_code == 200
    assert 'role="img"' in page.text
    assert "A/1/31 does not see 14.12" in page.text
    assert 'href="/rules/css/8.7.2"' in page.text
    assert 'name="from" value="A/1/31"' in page.text


@pytest.mark.parametrize(
    "name", ["campaign-island", "hill-312", "kokoda-track", "orange-beach", "tanaro-island"]
)
def test_every_map_has_its_page(client: FlaskClient, name: str) -> None:
    assert name in client.get("/maps").text
    page = client.get(f"/maps/{name}")
    assert page.status_code == 200
    assert "<svg" in page.text
    assert "Legend" in page.text


def test_a_part_is_a_part(client: FlaskClient) -> None:
    panel = client.get("/positions/lipata-landing?tool=fan&from=A/1/31&range=2&part=panel").text
    assert "<html" not in panel
    assert "data-unit" not in panel
    assert "data-draws" in panel
    parts = client.get("/positions/lipata-landing?part=all").text
    assert 'data-unit="A/1/31"' in parts
    assert 'data-marker="mines"' in parts


def test_a_hex_is_told_with_its_rules(client: FlaskClient, connection: Connection) -> None:
    page = client.get("/positions/lipata-landing?look=13.15&part=panel").text
    assert "13.15" in page
    assert 'href="/rules/css/6.2.1"' in page
    assert "A/1/31" in page
    assert "dg 2" in page
    facts = hex_facts(connection, LARGE, *open_map(connection, LARGE).scheme.hex("30.30"))
    assert facts is not None
    assert {side.title for side in facts.hexsides} == {"Stream"}


@pytest.mark.parametrize(
    ("address", "status", "told"),
    [
        ("/positions/nowhere", 404, "There is no position &#39;nowhere&#39;."),
        ("/maps/lipata-landing", 404, "There is no map"),
        ("/maps/pagasa-coast?tool=loss", 400, "Did you mean los?"),
        ("/maps/pagasa-coast?tool=los&from=13.15&to=99.99", 422, "99.99 is not a hex of this map"),
        ("/maps/pagasa-coast?look=x", 422, "not a label of this map"),
        ("/maps/pagasa-coast?whatif={", 422, '<div class="refused" role="alert"><p>'),
        ("/maps/pagasa-coast?policy=css-12:z", 400, "There is no reading"),
        ("/maps/pagasa-coast?look=%3Cscript%3E", 422, "&lt;script&gt;"),
    ],
)
def test_what_cannot_be_shown_is_told(client: FlaskClient, address: str, status: int, told: str) -> None:
    page = client.get(address)
    assert page.status_code == status
    assert told in page.text
    assert "<script>" not in page.text


@pytest.mark.parametrize(
    ("form", "changes"),
    [
        ({"do": "move", "who": "A/1/31", "at": "13.16"}, {"units": {"A/1/31": {"at": "13.16"}}}),
        ({"do": "move", "who": "3/88 Art", "at": "28.13"}, {"units": {"3/88 Art": {"at": "28.13", "in_cave": None}}}),
        ({"do": "remove", "who": "A/1/31"}, {"units": {"A/1/31": None}}),
        ({"do": "mark", "kind": "dg", "at": "13.16", "value": "3"},
         {"markers": {"add": [{"kind": "dg", "at": "13.16", "value": 3}]}}),
        ({"do": "unmark", "marker": '{"kind": "mines", "at": "11.15"}'},
         {"markers": {"remove": [{"kind": "mines", "at": "11.15"}]}}),
        ({"do": "add", "id": "X/9", "side": "us", "kind": "hero", "at": "13.16", "more": "movement: 5"},
         {"units": {"X/9": {"side": "us", "kind": "hero", "movement": 5, "at": "13.16"}}}),
        ({"do": "conditions", "weather": "rain", "time": "night"},
         {"conditions": {"weather": "rain", "time": "night"}}),
    ],
)  # fmt: skip
def test_a_form_makes_one_change(client: FlaskClient, form: dict[str, str], changes: dict[str, Any]) -> None:
    answer = client.get(
        "/positions/lipata-landing/what-if", query_string={f"if.{key}": value for key, value in form.items()}
    )
    assert answer.status_code == 303
    page = client.get(answer.location)
    assert page.status_code == 200
    assert "Undo all" in page.text
    told = read_changes(answer.request.args.get("whatif", "")) if answer.request.args else NOTHING
    assert told == NOTHING
    with client.application.test_request_context(answer.location) as context:
        got = read_changes(context.request.args["whatif"]).as_dict()
    for section, wanted in changes.items():
        assert wanted.items() <= got[section].items()


REFUSED = "tool=move&unit=C/1/31&path=13.16&hits={14.16: 1}"
"""A question that only the SQL function can refuse."""


@pytest.mark.parametrize(
    "address",
    [
        f"/positions/{POSITION}?{REFUSED}",
        f"/positions/{POSITION}?{REFUSED}&whatif={{}}",
        f'/positions/{POSITION}?{REFUSED}&whatif={{"conditions":{{"weather":"rain"}}}}',
        f"/positions/{POSITION}/what-if?{REFUSED}&if.do=dance",
    ],
)
def test_a_question_that_sql_refuses_leaves_the_page_whole(client: FlaskClient, address: str) -> None:
    """In a what-if too, which is a transaction: what is refused in it must not spoil the rest."""
    page = client.get(address)
    assert page.status_code == 422
    assert "Legend" in page.text
    assert "not on the way" in page.text or "not said what is to be changed" in page.text


def test_a_new_unit_may_have_the_counter_of_another(client: FlaskClient, connection: Connection) -> None:
    answer = client.get(
        "/positions/lipata-landing/what-if?if.do=add&if.like=A/7 Tank&if.id=B/7 Tank&if.at=14.15"
    )
    with client.application.test_request_context(answer.location) as context:
        changes = read_changes(context.request.args["whatif"])
    with open_board(connection, POSITION).changed(connection, changes) as now:
        units = now.position(connection).units
    new, old = units["B/7 Tank"][0], units["A/7 Tank"][0]
    assert new.model_dump(exclude={"id", "at"}) == old.model_dump(exclude={"id", "at"})


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("if.do=move&if.who=A/1/31&if.at=99.99", "99.99 is not a hex of this map"),
        ("if.do=move&if.who=nobody&if.at=13.15", "There is no unit"),
        ("if.do=add&if.id=A/1/31&if.side=us", "There is a unit"),
        ("if.do=add&if.id=X&if.at=13.15", "there is no unit"),
        ("if.do=mark&if.kind=dg&if.at=13.16&if.value=9", "9 is not between 1 and 4"),
        ("if.do=dance", "not said what is to be changed"),
    ],
)
def test_a_change_that_cannot_be_is_told_and_not_made(client: FlaskClient, form: str, told: str) -> None:
    page = client.get(f"/positions/lipata-landing/what-if?edit=1&{form}")
    assert page.status_code == 422
    assert told in page.text
    assert "Undo all" not in page.text


def test_the_case_can_be_read_downloaded_and_taken_to_the_desk(client: FlaskClient) -> None:
    address = "/positions/lipata-landing/case?tool=los&from=A/1/31&to=14.12"
    page = client.get(address)
    assert "Take it to the desk" in page.text
    file = client.get(f"{address}&download=1")
    assert file.headers["Content-Disposition"] == 'attachment; filename="lipata-landing-los.yaml"'
    desk = client.post("/cases", data={"text": file.text})
    assert desk.status_code == 200
    assert "As expected" in desk.text
    position = client.get(
        '/positions/lipata-landing/case?whatif={"conditions":{"weather":"rain"}}&download=1'
    )
    assert "weather: rain" in position.text


# Whose server it is


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "[::2]:80", "[bad"]
)
def test_a_name_that_is_not_ours_is_refused(client: FlaskClient, host: str) -> None:
    answer = client.get("/healthz", headers={"Host": host})
    assert answer.status_code in (400, 421)
    assert "status" in answer.json
    assert answer.json["status"] != "ok"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST:80"])
def test_loopback_by_any_of_its_names_is_answered(client: FlaskClient, host: str) -> None:
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


def test_a_proxy_may_pass_on_names_that_are_set(engine: Engine) -> None:
    settings = Settings(log_level="error", names="referee.example, www.referee.example")
    client = create_app(settings, web_engine(engine)).test_client()
    assert client.get("/healthz", headers={"Host": "www.referee.example"}).status_code == 200
    refused = client.get("/healthz", headers={"Host": "other.example"})
    assert refused.status_code == 421
    assert "names" in refused.json["remedy"]


@pytest.mark.parametrize(
    ("kind", "name", "other"), [("map", POSITION, "position"), ("position", LARGE, "map")]
)
def test_a_map_taken_for_a_position_is_told_what_it_is(
    connection: Connection, kind: Kind, name: str, other: str
) -> None:
    with pytest.raises(SightlineError) as raised:
        open_board(connection, name, kind)
    assert raised.value.remedy == f"There is a {other} of that name."
