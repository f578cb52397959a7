"""Both verdicts of a game's clauses: every sentence that a rule can say is told by a case, every verdict is given by one.

What no case can show is listed with its reason in `tests/data/clauses/<code>.yaml`; a game without that file is not held to it yet.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pydantic
import pytest
import yaml

from app.referee.cases import case_files
from app.referee.conformance import SUITE
from app.referee.questions import kinds_of
from db.rulesets import CODES
from tests.clauses import Sentence, Told, python_sentences, sentences, sql_sentences
from tests.conftest import ROOT
from tests.ruled import Ruled

VERDICTS = ("allowed", "legal", "visible", "in_command", "open")
"""The keys of an answer that are its verdict."""


class Clauses(pydantic.BaseModel):
    """What is known beforehand of a game's clauses, and what no case can show of them."""

    model_config = pydantic.ConfigDict(extra="forbid")

    sentences: int
    deciding_kinds: int
    refusals: int
    unknown: list[str]
    untold: dict[str, str]
    never_refused: dict[str, str]
    alone: dict[str, str]


class Game:
    """A game whose cases are held to its clauses, with what they are ruled to be."""

    def __init__(self, code: str, ruled: Ruled) -> None:
        self.code = code
        self.clauses = Clauses.model_validate(yaml.safe_load(_file(code).read_text(encoding="utf-8")))
        self.rulings = [
            (Path(file).stem, ruling)
            for file in case_files([str(SUITE / code)])
            for ruling in ruled(file).rulings
        ]
        self.told = Told(ruling for _, ruling in self.rulings)
        self.sentences = {_named(one): one for one in sentences(ROOT, code)}


def _file(code: str) -> Path:
    return ROOT / "tests" / "data" / "clauses" / f"{code}.yaml"


def _named(sentence: Sentence) -> str:
    return f"{sentence.file}: {sentence.words}"


@pytest.fixture(scope="module", params=[code for code in CODES if _file(code).exists()])
def game(request: pytest.FixtureRequest, ruled: Ruled) -> Game:
    return Game(request.param, ruled)


def verdict(answer: dict[str, Any]) -> Any:
    """True, False, None for what is not told; of a kind that has none, a word."""
    given = next((answer[key] for key in VERDICTS if key in answer), "none")
    return "many" if isinstance(given, list) else given


def test_every_sentence_that_a_rule_can_say_is_told_by_a_case(game: Game) -> None:
    found = sentences(ROOT, game.code)
    assert len(found) > game.clauses.sentences, "most sentences are not found any more"
    untold = [
        str(one) for one in found if _named(one) not in game.clauses.untold and not game.told.tells(one)
    ]
    assert not untold, (
        "\n".join(["", *untold, ""])
        + f"write a case in tests/cases/{game.code} that tells them, or remove what nothing reaches"
    )


def test_what_no_case_can_tell_is_told_by_none(game: Game) -> None:
    untold = game.clauses.untold
    assert untold.keys() - game.sentences.keys() == set(), "these are said no more: take them out of untold"
    assert [name for name in untold if game.told.tells(game.sentences[name])] == [], (
        "these are told: take them out of untold"
    )


def test_every_kind_gives_both_verdicts(game: Game) -> None:
    given: dict[str, set[Any]] = defaultdict(set)
    for _, ruling in game.rulings:
        given[ruling.kind].add(verdict(ruling.answer))
    kinds = kinds_of(game.code)
    assert kinds.keys() - given.keys() == set(), "no case asks these"
    deciding = {name for name in kinds if given[name] & {True, False, None}}
    assert len(deciding) > game.clauses.deciding_kinds
    assert [name for name in deciding if True not in given[name]] == [], "no case allows these"
    refused = {name for name in deciding if False in given[name]}
    assert deciding - refused == game.clauses.never_refused.keys(), (
        "no case refuses these, or one does after all"
    )
    assert [name for name in game.clauses.unknown if None not in given[name]] == []


def test_every_refusal_stands_beside_a_permission(game: Game) -> None:
    """In a case that refuses something under a rule the same kind allows something, in the same position."""
    allowing: dict[str, set[str]] = defaultdict(set)
    refusing: dict[tuple[str, str], set[str]] = defaultdict(set)
    for case, ruling in game.rulings:
        if verdict(ruling.answer) is True:
            allowing[ruling.kind].add(case)
        elif verdict(ruling.answer) is False:
            for step in ruling.steps:
                if step.effect in ("refused", "forbids", "blocks", "illegal"):
                    refusing[ruling.kind, step.rule].add(case)
    alone = {f"{kind} {rule}" for (kind, rule), cases in refusing.items() if not cases & allowing[kind]}
    assert len(refusing) > game.clauses.refusals
    assert alone == game.clauses.alone.keys()


# --- how sentences are found ---------------------------------------------------------------------------

SQL = """
create function css.test() returns setof rulings.ledger_step language sql as $$
  select css._entry(bar.rule, null, 'forbids', bar.note)
  from (
    values
    ('8.1', unit.kind = 'a kind of unit', format('%s is not here', unit.code)),
    ('8.2', true, 'it''s gone ' || 'over there')
  ) as bar (rule, holds, note)
  union all
  select css._sum('8.3', 'smokes', 'smoke', '{"a": "b c"}')
$$;
comment on function css.test() is 'What is said here is no sentence.';
create function css.other() returns void language plpgsql as $$
begin
  raise exception 'there is no hex % on the map', label;
end
$$;
"""


def test_sentences_of_sql_are_found_with_their_rules() -> None:
    compared: set[str] = set()
    found = {(one.words, *sorted(one.rules)): one.fragment for one in sql_sentences(SQL, "x.sql", compared)}
    assert found == {
        ("… is not here", "8.1"): False,
        ("it's gone ", "8.2"): True,
        ("over there", "8.2"): True,
        ("smoke", "8.3"): False,
    }
    assert compared == {"a kind of unit"}


def test_sentences_of_python_are_found_with_their_rules() -> None:
    source = (
        "def shed(hex, rule, note): ...\n"
        "def act(unit):\n"
        '    """Not this one."""\n'
        '    raise Refused("8.1", f"{unit} may not" if unit else "nobody may", unit)\n'
        '    yield Tell(Step("8.2", None, "placed", "a marker"))\n'
        '    shed(unit, "8.3", "all is shed")\n'
        "    def wrong(value):\n"
        '        return "one too many"\n'
    )
    found = {
        (one.words, *one.rules): (one.line, one.fragment) for one in python_sentences([(source, "x.py")])
    }
    assert found == {
        ("… may not", "8.1"): (4, False),
        ("nobody may", "8.1"): (4, False),
        ("a marker", "8.2"): (5, False),
        ("all is shed", "8.3"): (6, True),
        ("one too many",): (8, False),
    }
