"""`docs/cases.md` and `docs/rulings.md`: complete, and their examples run."""

from __future__ import annotations

import re
import shlex
from typing import Any, get_args

import pytest
import yaml
from flask import Flask
from pydantic import BaseModel
from sqlalchemy.engine import Connection, Engine

from app.referee.cases import rule_text
from app.referee.questions import common_kinds
from app.referee.rulings import QuestionKind
from app.web.site import create_app
from db.counters import CONDITIONS, MARKERS, UNITS
from db.rulesets import CODES
from db.settings import Settings
from importers.cases import CASE_KEYS
from importers.questions import ASK_KEYS
from tests.conftest import ROOT, web_engine

CASES = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
RULINGS = (ROOT / "docs" / "rulings.md").read_text(encoding="utf-8")
EXAMPLES = [text for text in re.findall(r"```yaml\n(.*?)```", CASES, re.DOTALL) if text.startswith("case:")]


def section(title: str) -> str:
    """The text below a heading, up to the next of its rank."""
    found = re.search(rf"^(#+) {title}.*?\n(.*?)(?=^\1 |\Z)", CASES, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found.group(2)


def words_of(form: Any) -> set[str]:
    """Every key of a form, those of the forms within it, and the words it may be."""
    words: set[str] = set()
    if isinstance(form, type) and issubclass(form, BaseModel):
        for name, field in form.model_fields.items():
            words |= {name} | words_of(field.annotation)
    for part in get_args(form):
        words |= {part} if isinstance(part, str) else words_of(part)
    return words


def test_there_is_an_example_for_every_ruleset() -> None:
    assert [yaml.safe_load(example)["ruleset"] for example in EXAMPLES] == list(CODES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda text: text.split()[1])
def test_an_example_runs_and_holds(connection: Connection, example: str) -> None:
    for ruling in rule_text(connection, example, "docs/cases.md")[1]:
        assert ruling.ok, ruling.differences()


@pytest.mark.parametrize("kind", common_kinds(), ids=lambda kind: kind.name)
def test_every_question_is_documented_with_its_arguments_and_answers(kind: QuestionKind) -> None:
    row = next(
        (line for line in section("Questions").splitlines() if line.startswith(f"| `{kind.name}` ")), None
    )
    assert row is not None, f"docs/cases.md, Questions: {kind.name} is missing"
    takes, answers, rulesets = re.split(r"(?<!\\)\|", row)[2:5]
    arguments = [field.alias or name for name, field in kind.arguments.model_fields.items()]
    assert re.findall("`([^`]+)`", takes) == arguments
    assert set(kind.answers) <= set(re.findall("`([^`]+)`", answers))
    assert rulesets.strip() == ("all" if kind.rulesets == CODES else ", ".join(kind.rulesets))


@pytest.mark.parametrize("ruleset", CODES)
def test_every_word_of_a_game_is_documented(ruleset: str) -> None:
    text = re.sub(r"```.*?```", "", section(f"{ruleset}:") + section("The words"), flags=re.DOTALL)
    told = {word for quoted in re.findall("`([^`]+)`", text) for word in re.findall(r"\w+", quoted)}
    wanted = words_of(UNITS[ruleset]) | words_of(CONDITIONS[ruleset]) | set(MARKERS[ruleset])
    assert wanted - told == set(), f"docs/cases.md, {ruleset}"


def test_every_key_of_a_case_is_documented() -> None:
    told = set(re.findall(r"^\| `(\w+)` \|", section("The form"), re.MULTILINE))
    assert told == {*CASE_KEYS, *ASK_KEYS}


@pytest.fixture(scope="module")
def web(engine: Engine) -> Flask:
    return create_app(Settings(log_level="error"), web_engine(engine))


def test_the_curl_commands_ask_for_what_there_is(web: Flask) -> None:
    shell = " ".join(re.findall(r"```sh\n(.*?)```", RULINGS, re.DOTALL)).replace("\\\n", "")
    addresses = [word for word in shlex.split(shell) if word.startswith("http://127.0.0.1:8765/")]
    assert len(addresses) == 6
    for address in addresses:
        status = web.test_client().get(address.removeprefix("http://127.0.0.1:8765")).status_code
        assert status == (404 if "0123456789abcdef" in address else 200), address
    for file in re.findall(r"@(\S+)", shell):
        assert (ROOT / file).is_file()
