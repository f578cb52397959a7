"""Procedures asked in ways that nobody meant: answers left out, other units, other hexes, odd values.

Every question of the suite's cases is bent at random. What comes back is a ruling or a clear error, never another
exception; and a ruling tells what every procedure tells. `SIGHTLINE_BENT=5000` bends that many.
"""

from __future__ import annotations

import copy
import os
import random
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.play.procedures import ProcedureKind
from app.referee.cases import case_files, rule_text
from app.referee.conformance import SUITE
from app.referee.questions import kinds_of
from db import SightlineError
from db.rulesets import CODES
from db.values import to_json
from importers.documents import read_document

BENT = int(os.environ.get("SIGHTLINE_BENT", "40"))
"""Questions of each game."""
ODD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    7,
    99,
    2.5,
    "",
    "nobody",
    "x" * 200,
    [],
    {},
    [[]],
    {"a": 1},
    "hex:1",
    "unit:1",
)
BESIDE = ("id", "expect", "policy", "conditions")


def cases(code: str) -> list[dict[str, Any]]:
    """The suite's cases of a game that ask procedures, each with its questions."""
    found = []
    for file in case_files([str(SUITE / code)]):
        tree = read_document(Path(file).read_bytes(), str(file)).plain()
        asked = [item for item in tree["ask"] if isinstance(kinds_of(code).get(kind_of(item)), ProcedureKind)]
        if asked:
            found.append(tree | {"ask": asked})
    return found


def kind_of(item: dict[str, Any]) -> str:
    return next(key for key in item if key not in BESIDE)


def bent(tree: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """One question of a case, with something otherwise."""
    item = copy.deepcopy(dice.choice(tree["ask"]))
    item.pop("expect", None)
    arguments = item[kind_of(item)] or {}
    item[kind_of(item)] = arguments
    for _ in range(dice.randint(1, 3)):
        _bend(arguments, tree, dice)
    return tree | {"ask": [item]}


def _bend(arguments: dict[str, Any], tree: dict[str, Any], dice: random.Random) -> None:
    units = [unit["id"] for unit in tree.get("units", [])] or ["nobody"]
    labels = [unit["at"] for unit in tree.get("units", []) if "at" in unit] or ["22.80"]
    answers = [key for key in ("rolls", "cards", "draws") if arguments.get(key)]
    keys = [key for key in arguments if key not in ("rolls", "cards", "draws")]
    way = dice.randrange(7)
    if way == 0 and answers:
        key = dice.choice(answers)
        arguments[key] = arguments[key][: dice.randrange(len(arguments[key]))]
    elif way == 1 and answers:
        key = dice.choice(answers)
        arguments[key] = [*arguments[key], dice.choice([0, 5, 9, [1, 6], {"dice": [2, 2]}])]
    elif way == 2:
        arguments.pop("choices", None)
    elif way == 3 and keys:
        arguments[dice.choice(keys)] = dice.choice(
            [dice.choice(units), [dice.choice(units)], dice.choice(labels)]
        )
    elif way == 4 and keys:
        arguments.pop(dice.choice(keys))
    elif way == 5 and keys:
        arguments[dice.choice(keys)] = copy.deepcopy(dice.choice(ODD))
    elif isinstance(arguments.get("choices"), dict) and arguments["choices"]:
        name = dice.choice(list(arguments["choices"]))
        arguments["choices"][name] = dice.choice(
            [dice.choice(units), [dice.choice(units)], dice.choice(labels), *ODD]
        )


@pytest.mark.parametrize("code", CODES)
def test_bent_questions_are_ruled_on_or_refused_in_words(connection: Connection, code: str) -> None:
    suite = cases(code)
    if not suite:
        pytest.skip("this game has no procedures")
    dice = random.Random(f"{code} {os.environ.get('SIGHTLINE_SEED', '')}")
    ruled = 0
    for _ in range(BENT):
        text = to_json(bent(dice.choice(suite), dice))
        with connection.begin_nested() as savepoint:
            try:
                _, rulings = rule_text(connection, text, "bent")
            except SightlineError:
                continue
            except Exception as error:
                raise AssertionError(f"{type(error).__name__}: {error}\n{text[-1500:]}") from error
            finally:
                savepoint.rollback()
        ruled += 1
        answer = rulings[0].answer
        assert "allowed" in answer, text
        assert answer["allowed"] is not False or answer.get("why"), text
        assert {"effects", "after"} <= answer.keys(), text
    assert ruled > BENT // 20, "most questions were no questions any more"
    assert connection.scalar(sa.text("select count(*) from game")) == 0
