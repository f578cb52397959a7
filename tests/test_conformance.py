"""The conformance suite: its index, its figures, and the page made from them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
import yaml
from sqlalchemy.engine import Connection

from app.referee.cases import rule_file
from app.referee.conformance import MADE, SUITE, Conformance, conformance, page, read_entries, rule_index
from app.referee.questions import kinds_of
from db import SightlineError, citations
from db.rulesets import CODES
from tests.conftest import ROOT
from tests.ruled import Ruled

RENEW = "run `./sightline conformance --write docs/conformance.md --index db/rulesets/cases.json`"


@pytest.fixture(scope="module")
def found(ruled: Ruled) -> dict[str, Conformance]:
    return conformance(ruled)


@pytest.mark.parametrize("ruleset", CODES)
def test_the_index_has_every_entry_of_the_catalogue(ruleset: str, catalogue: Path) -> None:
    listed = json.loads((catalogue / f"{ruleset}.json").read_text(encoding="utf-8"))
    wanted = {entry["id"]: (entry["rule"], entry["kind"]) for entry in listed}
    assert {entry.id: (entry.rule, entry.kind) for entry in read_entries(ruleset)} == wanted


@pytest.mark.parametrize("ruleset", CODES)
def test_an_entry_is_a_case_exactly_where_there_is_one(ruleset: str, found: dict[str, Conformance]) -> None:
    cases = {case.case.case for case in found[ruleset].cases if case.case}
    entries = found[ruleset].entries
    lost = {name for entry in entries for name in entry.cases} - cases
    assert lost == set(), "entries.yaml names cases that are not there"
    hidden = [entry.id for entry in entries if entry.status != "case" and entry.id in cases]
    assert hidden == [], "these have a case: make their status `case` in entries.yaml"


@pytest.mark.parametrize("ruleset", CODES)
def test_what_waits_for_a_question_waits_for_one_that_is_not_there(ruleset: str) -> None:
    known = kinds_of(ruleset)
    askable = [
        (entry.id, entry.question)
        for entry in read_entries(ruleset)
        if entry.status == "later" and entry.question in known
    ]
    assert askable == [], "these can be asked now: write the case"


def test_the_figures_add_up(found: dict[str, Conformance]) -> None:
    assert list(found) == list(CODES)
    for ruleset, one in found.items():
        told = one.as_dict()
        for key in ("entries", "cases", "passing", "contested", "blocked", "later", "not_a_question"):
            assert told[key] == sum(kind[key] for kind in told["by_kind"].values()), (ruleset, key)
        assert told["passing"] == told["cases"]
        became = sum(entry.status == "case" for entry in one.entries)
        assert told["entries"] == became + told["blocked"] + told["later"] + told["not_a_question"]


def test_the_index_of_cases_by_rule_is_fresh(found: dict[str, Conformance]) -> None:
    written = (ROOT / "db" / "rulesets" / "cases.json").read_text(encoding="utf-8")
    assert written == rule_index(found), f"db/rulesets/cases.json is not up to date: {RENEW}"


@pytest.mark.parametrize("ruleset", CODES)
def test_every_rule_that_a_ruling_tells_is_in_the_rule_index(
    ruleset: str, found: dict[str, Conformance]
) -> None:
    told = {step.rule for case in found[ruleset].cases for ruling in case.rulings for step in ruling.steps}
    assert told
    assert told - citations.rule_index(ruleset).cited() == set()


def test_the_page_is_fresh(found: dict[str, Conformance]) -> None:
    written = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    assert written.startswith(MADE)
    assert written == page(found), f"docs/conformance.md is not up to date: {RENEW}"


def test_without_the_project_it_says_where_the_suite_is(connection: Connection, tmp_path: Path) -> None:
    with pytest.raises(SightlineError, match="project's folder"):
        conformance(partial(rule_file, connection), tmp_path / "nowhere")


def test_a_case_that_does_not_hold_is_counted_as_not_passing(connection: Connection, tmp_path: Path) -> None:
    for code in CODES:
        (tmp_path / code).mkdir()
        (tmp_path / code / "entries.yaml").write_text(f"ruleset: {code}\nentries: []\n")
    text = (SUITE / "css" / "css-7.1-sameB.yaml").read_text(encoding="utf-8")
    (tmp_path / "css" / "right.yaml").write_text(text)
    (tmp_path / "css" / "wrong.yaml").write_text(text.replace("visible: true", "visible: false"))
    (tmp_path / "css" / "broken.yaml").write_text(text.replace("brush", "brusk"))
    found = conformance(partial(rule_file, connection), tmp_path)["css"]
    assert (found.total.cases, found.total.passing) == (3, 1)
    assert "`broken`, `wrong`" in page({"css": found})


def test_every_trap_of_the_procedures_has_a_case() -> None:
    traps = yaml.safe_load((Path(__file__).parent / "data" / "traps.yaml").read_text(encoding="utf-8"))
    assert {code: sorted(listed) for code, listed in traps.items()} == {
        code: list(range(1, 21)) for code in ("bob", "css", "ddp")
    }
    lost = [
        (code, number, case)
        for code, listed in traps.items()
        for number, entry in listed.items()
        for case in entry["cases"] or ["none"]
        if not (SUITE / code / f"{case}.yaml").is_file()
    ]
    assert lost == []
