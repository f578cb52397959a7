"""Procedures and games: what is tried, applied, written down and taken back."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.effects import after, changes_of, folded, inverse
from app.play.procedures import (
    Action,
    AnswerError,
    Ask,
    Call,
    Change,
    Choose,
    Draw,
    Given,
    Outcome,
    Procedure,
    Refused,
    Roll,
    Tell,
    asked_of,
    tried,
)
from app.referee.rulings import Asked, Step, agrees
from importers.cases import case_of, store_position

BOARD = {
    "case": "play",
    "ruleset": "fpb",
    "map": {"extent": ["0101", "0606"], "fill": {"terrain": "clear"}},
    "units": [
        {"id": "1/22", "side": "us", "at": "0202", "attack": 4, "defense": 4, "movement": 4},
        {"id": "1/38", "side": "japan", "at": "0303", "attack": 3, "defense": 3, "movement": 8, "zoc": False},
    ],
    "markers": [{"kind": "landing_beach", "at": "0202"}, {"kind": "captured", "at": "0202", "value": 1}],
    "tracks": {"vp": 2, "cup": {"us": [{"value": 3}, {"value": 5}]}},
    "conditions": {"turn": 1, "phase": "movement", "active": "us"},
    "ask": [{"range": {"from": "0202", "to": "0303"}}],
}


@pytest.fixture
def position(connection: Connection) -> int:
    from app.referee.questions import forms

    return store_position(connection, case_of(BOARD, "play", forms(), connection).position)


@pytest.fixture
def asked(connection: Connection, position: int) -> Asked:
    return Asked(connection, position, "fpb", dict(BOARD["conditions"]), {})  # type: ignore[call-overload]


def tree(connection: Connection, position: int) -> dict[str, Any]:
    found = connection.scalar(sa.text("select games.tree(:position)"), {"position": position})
    assert isinstance(found, dict)
    found["markers"].sort(key=str)
    return found


def digest(connection: Connection, position: int) -> str:
    found = connection.scalar(sa.text("select games.digest(:position)"), {"position": position})
    assert isinstance(found, str)
    return found


def apply(connection: Connection, position: int, changes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    from app.play.procedures import apply

    return apply(Asked(connection, position, "fpb", {}, {}), changes)


EFFECTS: list[dict[str, Any]] = [
    {"unit": "1/22", "at": "0303", "depleted": True, "hit": ["combat"]},
    {"unit": "1/38", "eliminated": True},
    {"unit": "2/22", "side": "us", "at": "0404", "attack": 2},
    {"marker": "captured", "at": "0303"},
    {"marker": "captured", "at": "0202", "removed": True},
    {"side": "us", "vp": 7},
    {"hex": "0303", "owner": "us"},
    {"track": "cup.us", "value": [{"value": 5}]},
    {"conditions": {"turn": 2, "phase": "combat"}},
    {"unit": "1/22", "depleted": False},
]


@pytest.mark.parametrize("n", range(len(EFFECTS)))
def test_what_is_done_and_taken_back_is_nothing(connection: Connection, position: int, n: int) -> None:
    before, was = tree(connection, position), digest(connection, position)
    changes = [change for effect in EFFECTS[: n + 1] for change in changes_of(dict(effect), "fpb")]
    made = apply(connection, position, changes)
    assert digest(connection, position) != was or n == 0 or EFFECTS[n]["unit"]
    now = tree(connection, position)
    told = folded(before, made)
    told["markers"].sort(key=str)
    assert told == now
    apply(connection, position, inverse(made))
    assert tree(connection, position) == before
    assert digest(connection, position) == was


def test_a_counter_says_nothing_that_it_says_anyway(connection: Connection, position: int) -> None:
    was = digest(connection, position)
    apply(connection, position, changes_of({"unit": "1/22", "depleted": True}, "fpb"))
    assert digest(connection, position) != was
    apply(connection, position, changes_of({"unit": "1/22", "depleted": False}, "fpb"))
    assert digest(connection, position) == was
    # of one that has no zone by its counter, that stays told
    assert tree(connection, position)["units"]["1/38"]["zoc"] is False


@pytest.mark.parametrize(
    ("effect", "word"),
    [
        ({"unit": "9/9", "depleted": True}, "no unit 9/9"),
        ({"unit": "1/22", "at": "9999"}, "no hex 9999"),
        ({"marker": "captured", "at": "0505", "removed": True}, "no captured marker in 0505"),
    ],
)
def test_what_is_not_there_cannot_be_changed(
    connection: Connection, position: int, effect: dict[str, Any], word: str
) -> None:
    with pytest.raises(sa.exc.DBAPIError, match=word), connection.begin_nested():
        apply(connection, position, changes_of(effect, "fpb"))


def test_after_tells_effects_by_whom_they_are_about() -> None:
    assert after(EFFECTS)["1/22"] == {"at": "0303", "depleted": False, "hit": ["combat"]}
    assert after(EFFECTS)["us"] == {"vp": 7}


def test_the_side_of_a_marker_is_where_it_looks() -> None:
    [change] = changes_of({"marker": "ridge", "at": "25.80", "side": 5}, "css")
    assert change == {"marker": {"kind": "ridge", "at": "25.80", "facing": 5}, "by": 1}


# A procedure that has everything.


class Raid(Action):
    """Who raids."""

    unit: str


def raid(of: Raid) -> Procedure:
    if of.unit == "9/9":
        yield Change({"unit": "1/22", "depleted": True})
        raise Refused("8.0", "nobody is there", "0202")
    rows = yield Ask("select code from unit where position_id = :position order by code", proves=False)
    yield Tell(Step("8.0", None, "begins", "a raid"), units=len(rows))
    dice = yield Roll("2d6", "the raid")
    yield Tell(result="won" if sum(dice) > 7 else "lost")
    if sum(dice) > 7:
        yield Change({"unit": "1/38", "eliminated": True}, {"marker": "captured", "at": "0303"})
        [enemy] = yield Ask(
            "select q from unit where position_id = :position and code = '1/38'", proves=False
        )
        assert enemy.q is None, "a query sees what was changed"
        where = yield Choose("advance", "us", "who goes on", ["0303", "0202"])
        answer = yield Call(_march(of.unit, where))
        yield Tell(marched=answer["to"])
        yield Change({"unit": of.unit, "advanced": True}, kept=True)
    else:
        found = yield Draw("cup.us", "help", [{"value": 3}, {"value": 5}])
        yield Tell(help=found["value"])


def _march(unit: str, to: str) -> Procedure:
    yield Change({"unit": unit, "at": to})
    yield Tell(to=to)


def run(asked: Asked, of: Raid) -> Outcome:
    given = Given(of.rolls, of.draws, of.cards, of.choices)
    return tried(asked, lambda: raid(of), given, dict)


def test_a_run_stops_where_nobody_has_answered(asked: Asked) -> None:
    outcome = run(asked, Raid(unit="1/22"))
    assert outcome.told()["pending"] == {"roll": "2d6", "for": "the raid"}
    assert outcome.answer["units"] == 2
    outcome = run(asked, Raid(unit="1/22", rolls=[[6, 5]]))
    assert outcome.told()["pending"] == {
        "choice": "advance", "by": "us", "for": "who goes on", "options": ["0303", "0202"],
    }  # fmt: skip
    outcome = run(asked, Raid(unit="1/22", rolls=[[1, 2]]))
    assert outcome.told()["pending"] == {"draw": "cup.us", "for": "help"}


def test_a_whole_run_tells_effects_and_changes_nothing(asked: Asked) -> None:
    before = tree(asked.connection, asked.position_id)
    outcome = run(asked, Raid(unit="1/22", rolls=[[6, 5]], choices={"advance": "0303"}))
    assert outcome.pending is None
    assert outcome.told()["result"] == "won"
    assert outcome.effects == [
        {"unit": "1/38", "eliminated": True},
        {"marker": "captured", "at": "0303"},
        {"unit": "1/22", "at": "0303"},
    ]
    assert outcome.answer["marched"] == "0303"
    assert len(outcome.changes) == 4, "bookkeeping is changed and not told"
    assert tree(asked.connection, asked.position_id) == before
    apply(asked.connection, asked.position_id, outcome.changes)
    now = tree(asked.connection, asked.position_id)
    assert now["units"]["1/22"]["advanced"] is True
    assert now["units"]["1/38"]["status"] == "eliminated"


def test_a_refusal_changes_nothing_and_says_why(asked: Asked) -> None:
    outcome = run(asked, Raid(unit="9/9"))
    assert (outcome.allowed, outcome.answer["why"], outcome.effects, outcome.changes) == (
        False, "nobody is there", [], [],
    )  # fmt: skip
    assert outcome.steps[-1] == Step("8.0", "0202", "refused", "nobody is there")


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({"rolls": [7]}, "2d6 is rolled for the raid: a list of 2 numbers, not 7"),
        ({"rolls": [[0, 3]]}, "shows 1 to 6, never 0"),
        ({"rolls": [[True, 3]]}, "never true"),
        (
            {"rolls": [[6, 6]], "choices": {"advance": "0404"}},
            '"0404" is not offered for advance; there is "0303"',
        ),
        ({"rolls": [[1, 1]], "draws": [{"value": 9}]}, 'is not in cup.us, where there is {"value":3}'),
        ({"rolls": [[6, 6], 3], "choices": {"advance": "0303"}}, "1 roll too many: 3"),
        ({"rolls": [[6, 6]], "choices": {"advance": "0303", "flee": 1}}, "asks for the choice flee"),
    ],
)
def test_an_answer_that_cannot_be_is_refused_in_words(asked: Asked, told: dict[str, Any], word: str) -> None:
    of = Raid(unit="1/22", **told)
    with pytest.raises(AnswerError) as error:
        asked_of(asked, of, lambda: raid(of), dict)
    assert word in error.value.message


def test_odds_are_exact_fractions_over_all_dice(asked: Asked) -> None:
    of = Raid(unit="1/22")
    finding = asked_of(asked, of, lambda: raid(of), dict)
    won = sum(one + two > 7 for one in range(1, 7) for two in range(1, 7))
    assert finding.answer["odds"] == {"won": f"{won // 3}/12", "lost": f"{(36 - won) // 3}/12"}


def test_odds_over_too_many_ways_are_not_guessed(asked: Asked) -> None:
    def endless(_: Raid) -> Procedure:
        for _n in range(9):
            yield Roll("2d6", "more")
        yield Tell(result="over")

    of = Raid(unit="1/22")
    answer = asked_of(asked, of, lambda: endless(of), dict).answer
    assert answer["odds"] is None
    assert "more than 2000 ways" in answer["basis"]


def test_what_has_no_result_has_no_odds(asked: Asked) -> None:
    def rolled(_: Raid) -> Procedure:
        yield Roll("1d6", "nothing")

    of = Raid(unit="1/22")
    assert "odds" not in asked_of(asked, of, lambda: rolled(of), dict).answer


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ([], [], True),
        ([], [{"unit": "a", "x": 1}], False),
        ([{"unit": "a"}], [{"unit": "b"}, {"unit": "a", "x": 1}], True),
        ([{"unit": "a", "x": 2}], [{"unit": "a", "x": 1}], False),
    ],
)
def test_an_expectation_names_some_effects_or_none(expected: list[Any], found: list[Any], same: bool) -> None:
    assert agrees("effects", expected, found) is same


@pytest.mark.parametrize("key", ["order", "checks"])
def test_the_order_of_some_lists_is_expected(key: str) -> None:
    assert agrees(key, ["a", "b"], ["a", "b"])
    assert not agrees(key, ["a", "b"], ["b", "a"])
