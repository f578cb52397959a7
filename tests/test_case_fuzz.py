"""Broken case files of every sort: a clear error or a ruling, never another exception, never a row left behind."""

from __future__ import annotations

import copy
import datetime
import json
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
import yaml
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import Connection, Engine

from app.referee.cases import RuledCase, rule_text
from app.referee.questions import kinds_of
from db import SightlineError
from db.base import Base
from db.map_draft import vocabulary
from db.values import to_json
from tests.rounds import rounds

BASES: list[dict[str, Any]] = [
    {
        "case": "css",
        "title": "Everything that css has",
        "ruleset": "css",
        "cites": ["7.1.1"],
        "policy": {"css-12": "b", "css-62": "a"},
        "conditions": {"weather": "rain", "time": "day"},
        "map": {
            "extent": ["20.76", "24.80"],
            "fill": {"terrain": "clear", "level": 1},
            "hexes": {"22.79": {"terrain": "rocky", "level": 2, "cave": True}, "23.78": {"terrain": "sugar_cane"}},
            "hexsides": {"22.79|23.79": ["ridge"], "20.76|1": ["steep_slope"]},
            "paths": [{"kind": "trail", "hexes": ["21.78", "22.78", "23.77"]}],
            "places": {"O": {"kind": "objective", "hexes": ["22.78"], "attributes": {"points": 3}}},
        },
        "units": [
            {"id": "A", "side": "us", "at": "22.80", "movement": 5, "division": "3", "formation": "9",
             "fire": {"value": 5, "type": "small_arms", "range": 2}},
            {"id": "B", "side": "us", "zone": {"beach": "20.80", "run": "approach"}},
            {"id": "J", "side": "japan", "at": "22.79", "in_cave": True, "posture": "column"},
            {"id": "Q", "side": "us", "at": "23.79", "kind": "hq", "division": "3", "command_range": 2},
        ],
        "markers": [
            {"kind": "dg", "value": 2, "at": "22.80"},
            {"kind": "ridge", "side": 2, "at": "22.78"},
            {"kind": "illumination", "at": "22.76"},
        ],
        "ask": [
            {"los": {"from": "A", "to": "J"}, "expect": {"visible": True}, "conditions": {"time": "night"}},
            {"fan": {"from": "J", "range": 3}},
            {"trace": {"from": "A", "to": "24.77"}, "id": "t", "expect": {"trace": ["22.79|23.79"]}},
            {"range": {"from": "B", "to": "J"}, "policy": {"css-11": "a"}},
            {"command": {"unit": "A"}},
        ],
    },
    {
        "case": "ccp",
        "ruleset": "ccp",
        "conditions": {"night": True},
        "map": {
            "extent": ["A1", "E5"],
            "areas": [{"terrain": "jungle", "polygon": [[1, 1], [2, 1], [2, 2.5]], "holes": []}],
            "crests": [{"level": 1, "line": [[1, 1], [3, 2]]}],
        },
        "units": [
            {"id": "S", "side": "allied", "at": "B2", "weapon": {"name": "mortar", "range": [2, 16], "mortar": True}},
            {"id": "L", "side": "allied", "kind": "leader", "command": 2, "at": "B3"},
        ],
        "markers": [{"kind": "smoke", "value": 3, "at": "C3"}],
        "ask": [{"range": {"from": "S", "to": "E5"}}, {"trace": {"from": "A1", "to": "L"}}, {"command": {"unit": "S"}}],
    },
    {
        "case": "fpb",
        "ruleset": "fpb",
        "map": {"extent": ["0101", "0505"], "hexes": {"0303": {"terrain": "hill", "features": ["coast"]}},
                "hexsides": {"0303|0304": "river"}},
        "units": [{"id": "T", "side": "us", "at": "0303", "attack": 4, "zoc": False}],
        "ask": [{"range": {"from": "T", "to": "0101"}, "expect": {"range": 3}}],
    },
    {
        "case": "bob",
        "ruleset": "bob",
        "conditions": {"night": {"visibility": 3}, "jungle_cost": 2.5},
        "map": {"extent": ["A1", "E5"], "hexes": {"C3": {"terrain": "jungle", "level": -1}}},
        "units": [{"id": "1", "side": "us", "at": "B2", "fp": [4, 2], "company": "A", "facing": 3}],
        "markers": [{"kind": "company_hub", "value": 3, "at": "C3", "company": "A"},
                    {"kind": "cave", "facing": 2, "at": "D4"}],
        "ask": [{"range": {"from": "1", "to": "E5"}}, {"command": {"unit": "1"}}],
    },
    {
        "case": "ddp",
        "ruleset": "ddp",
        "conditions": {"turn": 9},
        "map": {
            "extent": ["0101", "0606"],
            "hexes": {"0303": {"terrain": "jungle"}, "0101": {"terrain": "beach", "landing_beach": True}},
            "positions": {"B5": {"hexes": ["0505"], "color": "blue", "intense": ["0404"], "steady": ["0303"]}},
        },
        "units": [
            {"id": "I", "side": "us", "at": "0202", "kind": "infantry", "steps": 4},
            {"id": "P", "side": "us", "at": "0203", "kind": "command_post", "command_range": 3},
            {"id": "J", "side": "japan", "at": "0505", "strength": 3, "requires": ["BR"], "depth": {"strength": 2}},
        ],
        "ask": [{"los": {"from": "I", "to": "0204"}}, {"fan": {"from": "0303"}}, {"command": {"unit": "I"}}],
    },
]  # fmt: skip
WORDS = st.sampled_from(
    ["", "22.80", "22.79", "99.99", "C3", "0303", "clear", "jungle", "A", "J", "us", "css", "css-12", "a", "map",
     "hexes", "id", "at", "kind", "value", "🂡", "\x00", "\ud800", "22.79|23.79", "1|2", "-1", "null", "~", "<<", "*x"]
)  # fmt: skip
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([10**6, 2**31, 2**63, -(2**63), 10**30, 0.5, -0.25, 1e300, float("nan"), float("inf")]),
    WORDS,
    st.text(max_size=8),
    st.just([]),
    st.just({}),
    st.lists(WORDS, max_size=3),
    st.dictionaries(WORDS, WORDS, max_size=3),
    st.just(datetime.date(1944, 7, 21)),
)


def places(tree: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a document."""
    if way:
        yield way
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from places(tree[key], (*way, key))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A sound case with one to three values dropped, doubled, exchanged or replaced."""
    document = copy.deepcopy(draw(st.sampled_from(BASES)))
    for _ in range(draw(st.integers(1, 3))):
        ways = list(places(document))
        if not ways:
            break
        *path, last = draw(st.sampled_from(ways))
        parent = document
        for key in path:
            parent = parent[key]
        how = draw(st.sampled_from(["replace", "replace", "drop", "rename", "copy"]))
        if how == "replace":
            parent[last] = draw(JUNK)
        elif how == "drop":
            del parent[last]
        elif how == "rename" and isinstance(parent, dict):
            parent[draw(WORDS)] = parent.pop(last)
        elif how == "copy" and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        else:
            other = draw(st.sampled_from(ways))
            value: Any = document
            for key in other:
                value = value[key] if isinstance(value, dict | list) and _has(value, key) else None
            parent[last] = copy.deepcopy(value)
    if draw(st.booleans()):
        return json.dumps(document, default=str)
    return yaml.dump(document, allow_unicode=True, sort_keys=False)


def _has(value: Any, key: Any) -> bool:
    return key in value if isinstance(value, dict) else isinstance(key, int) and key < len(value)


@st.composite
def scratched(draw: st.DrawFn) -> bytes:
    """The text of a sound case with some bytes lost, changed or put in."""
    text = bytearray(yaml.dump(draw(st.sampled_from(BASES)), sort_keys=False, allow_unicode=True).encode())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text) - 1))
        to = min(len(text), at + draw(st.integers(0, 6)))
        text[at:to] = draw(
            st.one_of(
                st.binary(max_size=3), st.sampled_from([b": ", b"- ", b"\n", b"{", b"&a ", b"*a", b"!!x "])
            )
        )
        if not text:
            break
    return bytes(text)


@st.composite
def varied(draw: st.DrawFn) -> str:
    """A sound case with other ground, other conditions, and its questions asked of other places."""
    document = copy.deepcopy(draw(st.sampled_from(BASES)))
    ruleset, board = document["ruleset"], document["map"]
    words = vocabulary(ruleset)
    low, high = max(words.levels[0], -1), min(words.levels[1], 4)
    labels = [words.scheme.label(place) for place in words.scheme.rectangle(*board["extent"])]
    for label in draw(st.lists(st.sampled_from(labels), max_size=8)):
        ground = board.setdefault("hexes", {}).setdefault(label, {})
        ground |= {"terrain": draw(st.sampled_from(words.terrain)), "level": draw(st.integers(low, high))}
    board.pop("hexsides", None)  # one of them names its side in another way
    for label in draw(st.lists(st.sampled_from(labels), max_size=6)) if words.hexsides else ():
        side = words.scheme.hex(label), words.scheme.hex(label).beside(draw(st.integers(1, 6)))
        name = words.scheme.side_label(side[0].q + side[1].q, side[0].r + side[1].r)
        board.setdefault("hexsides", {})[name] = [draw(st.sampled_from(words.hexsides))]
    named = [unit["id"] for unit in document["units"]]
    there = st.sampled_from(labels + 4 * [unit["id"] for unit in document["units"] if "at" in unit])
    far = st.sampled_from(labels + 4 * named)
    document["ask"] = [
        {"range": {"from": draw(far), "to": draw(far)}},
        {"trace": {"from": draw(there), "to": draw(there)}},
    ]
    if "los" in kinds_of(ruleset):
        document["ask"] += [{"los": {"from": draw(there), "to": draw(far)}}, {"fan": {"from": draw(there)}}]
    if "command" in kinds_of(ruleset):
        document["ask"].append({"command": {"unit": draw(st.sampled_from(named))}})
    if ruleset == "css":
        document["conditions"] = {
            "weather": draw(st.sampled_from(["clear", "rain", "hot", "tropical_storm"])),
            "time": draw(st.sampled_from(["day", "night"])),
        }
    return json.dumps(document)


@pytest.fixture(scope="module")
def connection(engine: Engine) -> Iterator[Connection]:  # type: ignore[misc]
    with engine.connect() as connection:
        yield connection
        connection.rollback()


def left(connection: Connection) -> tuple[int, ...]:
    counts = ", ".join(f"(select count(*) from {name})" for name in sorted(GROWING))
    return tuple(connection.execute(sa.text(f"select {counts}")).one())


GROWING = {
    name
    for name, table in Base.metadata.tables.items()
    if {"map_id", "position_id"} & set(table.columns.keys())
} | {"map", "position", "ruling", "map_feature"}


def check(connection: Connection, text: str | bytes) -> RuledCase:
    before = left(connection)
    ruled = rule_lines(connection, text)
    if ruled.error is None:
        event("ruling")
        assert ruled.case is not None
        assert len(ruled.rulings) == len(ruled.case.questions)
    else:
        event("error")
        assert ruled.error.message.strip()
    to_json(ruled.as_dicts())
    assert left(connection) == before
    connection.rollback()
    return ruled


def rule_lines(connection: Connection, text: str | bytes) -> RuledCase:
    try:
        return RuledCase("case.yaml", *rule_text(connection, text, "case.yaml"))
    except SightlineError as error:
        return RuledCase("case.yaml", error=error)


def bounded(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@pytest.mark.parametrize("base", BASES, ids=lambda base: base["ruleset"])
def test_the_sound_cases_are_sound(connection: Connection, base: dict[str, Any]) -> None:
    for text in (json.dumps(base), yaml.dump(base)):
        assert len(rule_text(connection, text, "case.yaml")[1]) == len(base["ask"])


@bounded(rounds(200, 4_000))
@given(text=mutated())
def test_a_mutated_case_is_ruled_on_or_refused(connection: Connection, text: str) -> None:
    check(connection, text)


@bounded(rounds(120, 2_500))
@given(text=scratched())
def test_a_scratched_file_is_ruled_on_or_refused(connection: Connection, text: bytes) -> None:
    check(connection, text)


@bounded(rounds(50, 800))
@given(text=varied())
def test_a_sound_case_is_ruled_on(connection: Connection, text: str) -> None:
    error = check(connection, text).error
    assert error is None, str(error)


@bounded(rounds(80, 1_500))
@given(text=st.one_of(st.binary(max_size=60), st.text(max_size=60)))
def test_anything_else_is_refused(connection: Connection, text: str | bytes) -> None:
    check(connection, text)
