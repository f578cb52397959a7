"""Both verdicts of Guam's clauses: every sentence that a rule can say is told by a case, every verdict is given by one."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from app.referee.cases import case_files
from app.referee.conformance import SUITE
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling
from tests.clauses import Sentence, Told, python_sentences, sentences, sql_sentences
from tests.conftest import ROOT
from tests.ruled import Ruled

CODE = "css"
FILES = list(case_files([str(SUITE / CODE)]))

UNTOLD = {
    "sql/css/air.sql: who may pay": "who could pay is looked up; what is told is who does, or why nobody can",
    "sql/css/costs.sql: …, by the …'s chart": "an owner's chart is imported, and a case file brings none",
}
"""Sentences that no case can tell, and why."""

VERDICTS = ("allowed", "legal", "visible", "in_command", "open")
"""The keys of an answer that are its verdict."""

NEVER_REFUSED = {
    "airfield": "it only tells how things stand",
    "bombardment": "it is prepared before the game, on any hex",
    "casualties": "it only counts",
    "clear_markers": "what lies there comes off",
    "control": "it only tells how things stand",
    "demolition": "a die of the set-up",
    "direct_command": "every Division rolls",
    "dispatch_of_all": "every Division rolls",
    "end_activation": "an Activation can always end",
    "end_turn": "a turn can always end",
    "fatigue": "it only counts",
    "fatigue_of_all": "it only counts",
    "fill_cup": "the cup is always filled",
    "forced_move": "it only tells what is forced",
    "gain_commands": "every Division rolls",
    "illumination_off": "what lies there comes off",
    "restock": "what waits becomes available",
    "score": "it only counts",
    "storm_passes": "any other day goes on",
    "victory": "it only tells how things stand",
    "wind": "it always blows",
}
"""Kinds whose verdict is never no, and why."""

ALONE = {
    ("naval_fire", "21.1"): "with no Task Force left none fires at all",
}
"""Refusals that no permission in the same position can stand beside: kind, rule and why."""


@pytest.fixture(scope="module")
def rulings(ruled: Ruled) -> list[tuple[str, Ruling]]:
    return [(Path(file).stem, ruling) for file in FILES for ruling in ruled(file).rulings]


@pytest.fixture(scope="module")
def told(rulings: list[tuple[str, Ruling]]) -> Told:
    return Told(ruling for _, ruling in rulings)


def named(sentence: Sentence) -> str:
    return f"{sentence.file}: {sentence.words}"


def verdict(answer: dict[str, Any]) -> Any:
    """True, False, None for what is not told; of a kind that has none, a word."""
    given = next((answer[key] for key in VERDICTS if key in answer), "none")
    return "many" if isinstance(given, list) else given


def test_every_sentence_that_a_rule_can_say_is_told_by_a_case(told: Told) -> None:
    found = sentences(ROOT, CODE)
    assert len(found) > 900, "most sentences are not found any more"
    untold = [str(one) for one in found if named(one) not in UNTOLD and not told.tells(one)]
    assert not untold, (
        "\n".join(["", *untold, ""])
        + "write a case in tests/cases/css that tells them, or remove what nothing reaches"
    )


def test_what_no_case_can_tell_is_told_by_none(told: Told) -> None:
    found = {named(one): one for one in sentences(ROOT, CODE)}
    assert UNTOLD.keys() - found.keys() == set(), "these are said no more: take them out of UNTOLD"
    assert [name for name in UNTOLD if told.tells(found[name])] == [], (
        "these are told: take them out of UNTOLD"
    )


def test_every_kind_gives_both_verdicts(rulings: list[tuple[str, Ruling]]) -> None:
    given: dict[str, set[Any]] = defaultdict(set)
    for _, ruling in rulings:
        given[ruling.kind].add(verdict(ruling.answer))
    kinds = kinds_of(CODE)
    assert kinds.keys() - given.keys() == set(), "no case asks these"
    deciding = {name for name in kinds if given[name] & {True, False, None}}
    assert len(deciding) > 60
    assert [name for name in deciding if True not in given[name]] == [], "no case allows these"
    refused = {name for name in deciding if False in given[name]}
    assert deciding - refused == NEVER_REFUSED.keys(), "no case refuses these, or one does after all"
    assert [
        name for name in ("los", "command", "move", "trace_path", "stack") if None not in given[name]
    ] == []


def test_every_refusal_stands_beside_a_permission(rulings: list[tuple[str, Ruling]]) -> None:
    """In a case that refuses something under a rule the same kind allows something, in the same position."""
    allowing: dict[str, set[str]] = defaultdict(set)
    refusing: dict[tuple[str, str], set[str]] = defaultdict(set)
    for case, ruling in rulings:
        if verdict(ruling.answer) is True:
            allowing[ruling.kind].add(case)
        elif verdict(ruling.answer) is False:
            for step in ruling.steps:
                if step.effect in ("refused", "forbids", "blocks", "illegal"):
                    refusing[ruling.kind, step.rule].add(case)
    alone = {pair for pair, cases in refusing.items() if not cases & allowing[pair[0]]}
    assert len(refusing) > 200
    assert alone == ALONE.keys()


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
