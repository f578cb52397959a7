"""The ruling engine: what comes back, what is left behind (nothing), and what is kept."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
import yaml
from sqlalchemy.engine import Connection

from app.referee import saved, version
from app.referee.cases import rule_text
from app.referee.questions import forms, implemented_points, kinds_of
from app.referee.rulings import Need, Ruling, agrees
from app.referee.saved import Wanted, save, saved_ruling, saved_rulings
from db import SightlineError
from db.base import Base
from db.rulesets import read_ruleset
from importers.cases import read_case, read_position, store_position
from importers.documents import Problems
from importers.maps import store_map

SPINE = """\
case: spine
title: One clear side is enough
ruleset: css
map:
  extent: ["20.76", "26.84"]
  fill: {terrain: clear, level: 1}
  hexes:
    "22.79": {terrain: tropical_forest}
    "23.78": {terrain: rice_paddy}
  hexsides:
    "22.82|23.82": [ridge]
  paths:
    - {kind: trail, hexes: ["21.80", "22.80", "23.80"]}
units:
  - {id: C/1/9, side: us, at: "22.80", movement: 5}
  - {id: 3/18, side: japan, at: "24.77"}
markers:
  - {kind: dg, value: 2, at: "22.80"}
ask:
  - los: {from: C/1/9, to: 3/18}
    expect: {visible: true}
"""
PADDIES = """\
case: paddies
ruleset: css
map:
  extent: ["20.10", "26.20"]
  hexes: {"22.13": rice_paddy, "22.14": rice_paddy}
"""


def rule(connection: Connection, text: str) -> list[Ruling]:
    return rule_text(connection, text, "case.yaml")[1]


def kept(connection: Connection, text: str) -> list[str]:
    case, rulings = rule_text(connection, text, "case.yaml")
    save(connection, case, rulings)
    return [str(ruling.id) for ruling in rulings]


def rows_in_all_tables(connection: Connection) -> dict[str, int]:
    return {
        name: connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
        for name, table in Base.metadata.tables.items()
    }


def problems_of(connection: Connection, text: str) -> list[dict[str, Any]]:
    with pytest.raises(Problems) as caught:
        rule(connection, text)
    return caught.value.as_dicts()


# What comes back


def test_an_answer_has_case_question_steps_and_verdict(connection: Connection) -> None:
    [ruling] = rule(connection, SPINE)
    told = ruling.as_dict()
    assert told["case"] == "spine"
    assert told["question"] == {"los": {"from": "C/1/9", "to": "3/18"}}
    assert told["ruleset"] == "css"
    assert told["answer"] == {"visible": True, "range": 4, "blocked_by": []}
    assert told["expected"] == {"visible": True}
    assert told["ok"] is True
    assert {"rule", "at", "effect", "note"} <= told["steps"][0].keys()
    assert "ruling" not in told
    json.dumps(told)


def test_a_question_without_expectation_is_neither_right_nor_wrong(connection: Connection) -> None:
    [ruling] = rule(connection, PADDIES + "ask: [{range: {from: 22.12, to: 22.15}}]")
    assert ruling.ok is None
    assert not {"expected", "ok", "differences"} & ruling.as_dict().keys()


def test_a_wrong_expectation_tells_the_difference(connection: Connection) -> None:
    [ruling] = rule(connection, SPINE.replace("visible: true", "visible: false, range: 4, hindrance: 1"))
    assert ruling.ok is False
    assert ruling.differences() == ["visible: expected false, is true", "hindrance: expected 1, is null"]


def test_a_contested_point_decides_where_another_reading_answers_otherwise(connection: Connection) -> None:
    ask = "ask: [{los: {from: 22.12, to: 22.16}}, {los: {from: 22.12, to: 22.14}}]"
    hidden, seen = rule(connection, PADDIES + ask)
    assert hidden.answer["visible"] is False
    assert hidden.contested == [{"point": "css-12", "reading": "b", "decides": True}]
    assert seen.answer["visible"] is True
    assert seen.contested == [{"point": "css-12", "reading": "b", "decides": False}]


def test_policy_of_a_question_overrides_that_of_the_case(connection: Connection) -> None:
    ask = """\
policy: {css-12: a}
ask:
  - los: {from: 22.12, to: 22.16}
    expect: {visible: true}
  - los: {from: 22.12, to: 22.16}
    policy: {css-12: b}
    expect: {visible: false}
"""
    first, second = rule(connection, PADDIES + ask)
    assert first.ok
    assert second.ok
    assert [ruling.contested[0]["reading"] for ruling in (first, second)] == ["a", "b"]


def test_conditions_of_a_question_override_those_of_the_case(connection: Connection) -> None:
    ask = """\
conditions: {weather: rain}
ask:
  - los: {from: 24.12, to: 24.16}
    expect: {visible: false}
  - los: {from: 24.12, to: 24.16}
    conditions: {weather: clear}
    expect: {visible: true}
  - los: {from: 24.12, to: 24.14}
    conditions: {time: night}
    expect: {visible: false}
"""
    assert [ruling.ok for ruling in rule(connection, PADDIES + ask)] == [True, True, True]


def test_an_unquoted_label_is_the_label_that_it_looks_like(connection: Connection) -> None:
    text = """\
case: bare
ruleset: css
map: {extent: [20.70, 22.80]}
units: [{id: 7.10, side: us, at: 22.80}]
ask:
  - fan: {from: 7.10, range: 1}
    expect: {visible: [21.79, 21.80, 22.79]}
"""
    [ruling] = rule(connection, text)
    assert ruling.question == {"fan": {"from": "7.10", "range": 1}}
    assert ruling.ok, ruling.differences()


def test_a_question_in_other_words_for_the_same_hex_names_it_by_its_label(connection: Connection) -> None:
    [ruling] = rule(connection, PADDIES + 'ask: [{range: {from: " 22.12", to: "22.15 "}}]')
    assert ruling.question == {"range": {"from": "22.12", "to": "22.15"}}


def test_a_zone_out_of_all_range_is_an_answer(connection: Connection) -> None:
    text = (
        PADDIES
        + """\
units:
  - {id: A, side: us, zone: {beach: 22.10, run: transport}}
ask: [{range: {from: 22.12, to: A}, expect: {range: null}}]
"""
    )
    [ruling] = rule(connection, text)
    assert ruling.ok
    assert [step.effect for step in ruling.steps] == [2, "out of range"]


def test_a_question_can_have_an_id(connection: Connection) -> None:
    [ruling] = rule(connection, PADDIES + "ask: [{id: q1, range: {from: 22.12, to: 22.15}}]")
    assert ruling.as_dict()["id"] == "q1"


# Expectations


@pytest.mark.parametrize(
    ("key", "expected", "found", "is_so"),
    [
        ("range", 4, 4, True),
        ("range", 4, 5, False),
        ("cost", Decimal("0.5"), 0.5, True),
        ("cost", Decimal("1.50"), Decimal("1.5"), True),
        ("cost", Decimal("0.1"), Decimal("0.10000000000000000001"), False),
        ("cost", 2, Decimal("2.0"), True),
        ("visible", True, 1, False),
        ("visible", 1, True, False),
        ("visible", None, None, True),
        ("visible", None, False, False),
        ("visible", "true", True, False),
        ("hexes", ["A1", "B2"], ["B2", "A1"], True),
        ("hexes", ["A1"], ["B2", "A1"], False),
        ("hexes", ["A1", "B2"], ["A1"], False),
        ("hexes", [], [], True),
        ("hexes", ["22.80"], ["22.80"], True),
        ("hexes", [Decimal("22.85")], ["22.85"], True),
        ("hexes", [2311], ["2311"], True),
        ("hexes", [Decimal("22.8")], ["22.85"], False),
        ("trace", ["A1", "B2"], ["A1", "B2"], True),
        ("trace", ["A1", "B2"], ["B2", "A1"], False),
        ("path", ["A1", "B2"], ["B2", "A1"], False),
        ("hexes", {"A1": 2}, {"A1": Decimal("2"), "B2": 3}, True),
        ("hexes", {"A1": 2}, {"A1": 3}, False),
        ("hexes", {"A1": 2}, {}, False),
        ("opportunity_fire", [{"by": "x"}], [{"by": "x", "at": "A1"}], True),
        ("opportunity_fire", [{"by": "x"}], [{"by": "x"}, {"by": "y"}], False),
        ("opportunity_fire", [{"by": "x"}, {"by": "x"}], [{"by": "x"}, {"by": "y"}], False),
        ("hexes", "A1", ["A1"], False),
        ("ends_at", "1e1", "10", False),
    ],
)
def test_an_expectation_agrees(key: str, expected: Any, found: Any, is_so: bool) -> None:
    assert agrees(key, expected, found) is is_so


def test_what_is_needed_is_part_of_the_answer() -> None:
    need = Need("the weather table", "4.0")
    ruling = Ruling("css", "los", {}, {"visible": None}, [], [], [need], {}, expected={"visible": None})
    assert ruling.full_answer["needs"] == [
        {"chart": "the weather table", "rule": "4.0", "note": "needs the weather table (rule 4.0)"}
    ]
    for expected in (["the weather table"], [{"chart": "the weather table", "rule": "4.0"}]):
        ruling.expected = {"needs": expected}
        assert ruling.ok, ruling.differences()
    ruling.expected = {"needs": ["the scatter diagram"]}
    assert ruling.differences() == ['needs: expected ["the scatter diagram"], is ["the weather table"]']


# Bad input


def test_an_unknown_question_lists_what_the_ruleset_answers(connection: Connection) -> None:
    [problem] = problems_of(connection, PADDIES + "ask: [{loss: {from: 22.12, to: 22.15}}]")
    assert problem["line"] == 6
    assert problem["place"] == "ask/1/loss"
    assert "css has no question 'loss'" in problem["message"]
    for kind in kinds_of("css"):
        assert kind in problem["message"]
    assert problem["nearest"][0] == "los"


@pytest.mark.parametrize(
    ("wrong", "right", "place", "word", "near"),
    [
        ("conditons: {}", "conditions: {}", "conditons", "conditons", "conditions"),
        ("conditions: {wether: rain}", "", "conditions/wether", "wether", "weather"),
        ("conditions: {weather: rainy}", "", "conditions/weather", "rainy", "rain"),
        ("policy: {css-120: a}", "", "policy/css-120", "css-120", "css-12"),
        ("policy: {css-12: z}", "", "policy/css-12", "z", None),
        ("units: [{id: A, side: us, at: 22.12, postur: column}]", "", "units/1/postur", "postur", "posture"),
        ("units: [{id: A, side: usa, at: 22.12}]", "", "units/1/side", "usa", "us"),
        ("units: [{id: A, side: us, at: 22.99}]", "", "units/1/at", "22.99", "22.19"),
        ("units: [{id: A, side: us}, {id: A, side: us}]", "", "units/2/id", "'A'", None),
        ("units: [{id: A, side: us, at: 22.12, in_cave: true}]", "", "units/1", "only Japanese", None),
        ("markers: [{kind: smok, at: 22.12}]", "", "markers/1/kind", "smok", None),
        (
            "markers: [{kind: ridge, at: 22.12, side: 1, facing: 2}]",
            "",
            "markers/1/facing",
            "one thing",
            None,
        ),
        ("markers: [{kind: dg, at: 22.12}]", "", "markers/1", "needs its value", None),
        ("markers: [{kind: dg, value: 5, at: 22.12}]", "", "markers/1/value", "5 is not between", None),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_nearest_word(
    connection: Connection, wrong: str, right: str, place: str, word: str, near: str | None
) -> None:
    ask = "\nask: [{range: {from: 22.12, to: 22.15}}]"
    [problem] = problems_of(connection, f"{PADDIES}{wrong}{ask}")
    assert problem["place"] == place
    assert problem["line"] == 6
    assert word in problem["message"]
    assert near is None or near in problem["nearest"]
    assert rule(connection, f"{PADDIES}{right}{ask}")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        ("[]", "there is no question"),
        ("[{}]", "exactly one question, not 0"),
        ("[{range: {from: 22.12, to: 22.15}, los: {from: 22.12, to: 22.15}}]", "exactly one question, not 2"),
        ("[{range: {from: 22.12}}]", "to is missing"),
        ("[{range: {from: 22.12, to: 22.15, via: 22.13}}]", "unknown key 'via'"),
        ("[{range: {from: 22.12, to: [22.15]}}]", "expected a word, found a list"),
        ("[{range: 22.12}]", "expected a mapping"),
        ("[range]", "expected a question"),
        ("[{fan: {from: 22.12, range: 0}}]", "greater than or equal to 1"),
        ("[{range: {from: 22.12, to: 22.99}}]", "22.99 is not a hex of this map"),
        ("[{range: {from: 22.12, to: away}}]", "the unit 'away' is not on the map"),
        ("[{range: {from: 22.12, to: awai}}]", "there is no hex or unit 'awai'"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(connection: Connection, ask: str, message: str) -> None:
    text = f"{PADDIES}units: [{{id: away, side: us}}]\nask: {ask}"
    assert message in "\n".join(problem["message"] for problem in problems_of(connection, text))


def test_every_mistake_is_told_at_once(connection: Connection) -> None:
    text = SPINE.replace("side: us", "side: usa").replace("kind: dg", "kind: gd").replace("los:", "loss:")
    assert [problem["place"] for problem in problems_of(connection, text)] == [
        "units/1/side",
        "markers/1/kind",
        "ask/1/loss",
    ]


def test_mistakes_beside_a_wrong_map_are_told_with_it(connection: Connection) -> None:
    text = (
        SPINE.replace("[ridge]", "[rigde]")
        .replace("side: us", "side: usa")
        .replace("spine", "spine\npolicy: {x: a}", 1)
    )
    assert [problem["place"] for problem in problems_of(connection, text)] == [
        "policy/x",
        "map/hexsides/22.82|23.82/1",
        "units/1/side",
    ]


# Nothing is left behind


def test_a_ruling_leaves_nothing_behind(connection: Connection) -> None:
    before = rows_in_all_tables(connection)
    rule(connection, SPINE)
    assert rows_in_all_tables(connection) == before


def test_an_error_leaves_nothing_behind(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows_in_all_tables(connection)
    with pytest.raises(Problems):
        rule(connection, SPINE.replace("24.77", "99.99"))
    case = read_case(SPINE, "case.yaml", forms(), connection)
    case.position.markers[0] = case.position.markers[0].__class__("dg", case.position.markers[0].at, 2, 99**9)
    with pytest.raises(sa.exc.DBAPIError), connection.begin_nested():
        store_position(connection, case.position)
    assert rows_in_all_tables(connection) == before


def test_a_case_stands_on_a_map_that_was_saved(connection: Connection) -> None:
    board = read_case(SPINE, "case.yaml", forms(), connection).position.board
    board.name = "saved-spine"
    store_map(connection, board)
    document = yaml.safe_load(SPINE)
    before = rows_in_all_tables(connection)
    [written], [saved] = (
        rule(connection, SPINE),
        rule(connection, yaml.dump(document | {"map": "saved-spine"})),
    )
    assert saved.answer == written.answer
    assert rows_in_all_tables(connection) == before
    [problem] = problems_of(connection, yaml.dump(document | {"map": "saved-spin"}))
    assert problem["nearest"] == ["saved-spine"]


def test_the_name_of_a_cases_map_is_nobody_elses(connection: Connection) -> None:
    named = SPINE.replace("map:\n", "map:\n  name: spine-map\n", 1)
    board = read_case(named, "case.yaml", forms(), connection).position.board
    board.name = "spine-map"
    store_map(connection, board)
    [ruling] = rule(connection, named)
    assert ruling.ok


def test_a_saved_position_does_not_take_the_name_of_a_map_that_is_there(connection: Connection) -> None:
    text = SPINE.replace("case: spine", "name: spine-morning").partition("ask:")[0]
    position = read_position(text, "position.yaml", connection)
    store_position(connection, position)
    with pytest.raises(Problems, match="there is a map 'spine-morning' already"):
        read_position(text, "position.yaml", connection)


# Kept rulings


def test_asking_again_gives_the_same_id(connection: Connection) -> None:
    [first], [second] = kept(connection, SPINE), kept(connection, SPINE)
    assert first == second
    assert saved_rulings(connection, Wanted(), 1, 10)[0] == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("case: spine", "case: another-name"),
        ("title: One clear side is enough", "title: Other words"),
        ("    expect: {visible: true}\n", ""),
        ('"22.82|23.82": [ridge]', '"23.82|22.82": ridge'),
        ('"22.79": {terrain: tropical_forest}', '"22.79": {terrain: tropical_forest, level: 1, name: Wood}'),
        ('"22.79": {terrain: tropical_forest}', '"22.79": tropical_forest\n    "21.79": clear'),
        ('["21.80", "22.80", "23.80"]', '["23.80", "22.80", "21.80"]'),
        ("fill: {terrain: clear, level: 1}", "fill: {level: 1}"),
        ('extent: ["20.76", "26.84"]', 'extent: ["26.84", "20.76"]'),
        ('extent: ["20.76", "26.84"]', 'extent: [["20.76", "23.84"], ["23.76", "26.84"]]'),
        ("movement: 5}", "movement: 5.0, kind: infantry}"),
        ('at: "22.80"', "at: 22.80"),
        ("  - los: {from: C/1/9, to: 3/18}", "  - los: {to: 3/18, from: C/1/9}"),
        ("units:\n", "conditions: {weather: clear, time: day}\nunits:\n"),
        ("units:\n", "policy: {css-12: b}\nunits:\n"),
        ("    expect", "    conditions: {time: day}\n    policy: {css-12: b}\n    expect"),
    ],
)
def test_the_same_position_written_in_another_way_gives_the_same_id(
    connection: Connection, old: str, new: str
) -> None:
    assert old in SPINE
    assert kept(connection, SPINE.replace(old, new, 1)) == kept(connection, SPINE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tropical_forest", "palm_forest"),
        ("movement: 5", "movement: 4"),
        ("value: 2", "value: 3"),
        ("[ridge]", "[slope]"),
        ("kind: trail", "kind: paved_road"),
        ("units:\n", "conditions: {weather: rain}\nunits:\n"),
        ("units:\n", "policy: {css-12: a}\nunits:\n"),
        ("    expect", "    conditions: {weather: rain}\n    expect"),
        ("    expect", "    policy: {css-12: a}\n    expect"),
        ("to: 3/18", "to: 24.77"),
        ("from: C/1/9, to: 3/18", "from: 3/18, to: C/1/9"),
    ],
)
def test_another_position_or_question_gives_another_id(connection: Connection, old: str, new: str) -> None:
    assert old in SPINE
    assert kept(connection, SPINE.replace(old, new, 1)) != kept(connection, SPINE)


def test_conditions_and_policy_of_case_and_question_are_one(connection: Connection) -> None:
    of_case = SPINE.replace("units:\n", "conditions: {time: night}\npolicy: {css-12: a}\nunits:\n", 1)
    of_question = SPINE.replace(
        "    expect", "    conditions: {time: night}\n    policy: {css-12: a}\n    expect", 1
    )
    assert kept(connection, of_case) == kept(connection, of_question)


def test_drawn_outlines_may_start_anywhere_and_go_either_way(connection: Connection) -> None:
    text = """\
case: drawn
ruleset: ccp
map:
  extent: [A1, E5]
  areas: [{terrain: jungle, polygon: %s}]
ask: [{range: {from: A1, to: C3}}]
"""
    ways = ([[1, 1], [3, 1], [3, 3]], [[3, 3], [1, 1], [3, 1]], [[3, 1], [1, 1], [3, 3], [3, 1]])
    assert len({tuple(kept(connection, text % way)) for way in ways}) == 1
    assert kept(connection, text % [[1, 1], [3, 1], [3, 4]]) != kept(connection, text % ways[0])


def test_a_kept_ruling_carries_version_digest_and_a_document_to_ask_again(connection: Connection) -> None:
    text = SPINE + "  - range: {from: 22.80, to: 24.80}\n    conditions: {time: night}\n"
    ids = kept(connection, text)
    row = saved_ruling(connection, ids[1])
    assert row is not None
    assert re.fullmatch("[0-9a-f]{16}", row["ruleset_version"])
    assert len(row["position_digest"]) == 64
    assert row["document"]["ask"] == [
        {"range": {"from": "22.80", "to": "24.80"}, "conditions": {"time": "night"}}
    ]
    assert [kept(connection, json.dumps(saved_ruling(connection, id)["document"])) for id in ids] == [
        [id] for id in ids
    ]


def test_a_version_changes_with_the_functions_and_with_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = version.ruling_modules()
    today = version.version_of("css", modules)
    assert today == version.ruleset_version("css")
    assert version.version_of("ccp", modules) != today
    with monkeypatch.context() as other:
        other.setattr(version, "verbs_digest", lambda: "other functions")
        assert version.version_of("css", modules) != today
    with monkeypatch.context() as other:
        data = read_ruleset("css")._replace(version="other data")
        other.setattr(version, "read_ruleset", lambda code: data)
        assert version.version_of("css", modules) != today


def test_a_ruling_of_another_version_has_an_id_of_its_own(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    [first] = kept(connection, SPINE)
    monkeypatch.setattr(saved, "version_in", lambda connection, ruleset: "f" * 16)
    [second] = kept(connection, SPINE)
    assert first != second
    versions = [saved_ruling(connection, id)["ruleset_version"] for id in (first, second)]
    assert versions[1] == "f" * 16
    assert versions[0] != versions[1]


def test_a_kept_ruling_is_found_by_ruleset_kind_rule_and_text(connection: Connection) -> None:
    kept(connection, SPINE)
    kept(connection, PADDIES + "title: 100% paddy\nask: [{range: {from: 22.12, to: 22.15}}]")

    def found(**wanted: str) -> list[str]:
        return [row["case_id"] for row in saved_rulings(connection, Wanted(**wanted), 1, 10)[1]]

    assert found(ruleset="css", kind="los") == ["spine"]
    assert found(kind="range") == ["paddies"]
    assert found(ruleset="ccp") == []
    assert found(rule="7.1.1") == ["spine"]
    assert found(text="CLEAR side") == ["spine"]
    assert found(text="0% pad") == ["paddies"]
    assert found(text="%") == ["paddies"]
    assert saved_rulings(connection, Wanted(), 2, 1)[0] == 2


@pytest.mark.parametrize(
    "change", ["update ruling set title = 'x'", "delete from ruling", "truncate ruling cascade"]
)
def test_a_kept_ruling_cannot_be_changed(connection: Connection, change: str) -> None:
    kept(connection, SPINE)
    with pytest.raises(sa.exc.IntegrityError, match="never changes"), connection.begin_nested():
        connection.execute(sa.text(change))
    connection.execute(sa.text("set local sightline.rulings_may_change = 'yes'"))
    connection.execute(sa.text(change))


def test_implemented_points_are_those_of_the_question_kinds() -> None:
    assert {"css-11", "css-12", "css-43", "css-44", "css-54", "css-62"} <= implemented_points()
    assert "css-53" not in implemented_points()


def test_an_error_has_no_traceback_but_a_place(connection: Connection) -> None:
    with pytest.raises(SightlineError, match=r"case\.yaml:6: units/1/side: 'usa' is not one of us, japan"):
        rule(
            connection,
            f"{PADDIES}units: [{{id: A, side: usa}}]\nask: [{{range: {{from: 22.12, to: 22.15}}}}]",
        )
