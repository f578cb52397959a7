"""Every case file of the suite is ruled on, and its expectations hold."""

from __future__ import annotations

import collections
import copy
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Connection

from app.play.procedures import Runner
from app.referee import words
from app.referee.arguments import arguments
from app.referee.cases import case_files, rule_file, rule_text
from app.referee.conformance import SUITE
from app.referee.questions import implemented_points, kinds
from app.referee.rulings import QuestionKind, contested_points
from db.rulesets import CODES, read_ruleset
from importers.documents import Problems, read_document
from tests.ruled import Ruled

FILES = list(case_files([str(SUITE)]))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(Path(file).relative_to(SUITE)))
def test_a_case_holds(file: str, ruled: Ruled) -> None:
    case = ruled(file)
    assert case.error is None, str(case.error)
    assert [difference for ruling in case.rulings for difference in ruling.differences()] == []
    assert any(ruling.expected for ruling in case.rulings), "a case that expects nothing proves nothing"
    assert case.case is not None
    assert case.case.position.ruleset == Path(file).parent.name
    assert case.case.case == Path(file).stem
    rules = {rule.number for rule in read_ruleset(case.case.position.ruleset).rules}
    assert set(case.case.cites) <= rules, "it cites a rule that is not in rules.yaml"
    assert case.case.title, "a case has a title"


CONTEXT = {
    "bob-40.3-a": "40.3: railway cars block as the buildings that they are",
    "bob-47.0-a": "47.0, 47.2: what stands on a hill, where the line is clear",
    "bob-65.4-a": "65.4: a Foxhole after regrouping is placed as any other",
}
"""Cases of bob that are about a rule which no proof names, and why none does."""


def test_what_a_case_of_band_of_brothers_cites_its_proofs_name(ruled: Ruled) -> None:
    unnamed = {}
    for file in FILES:
        if Path(file).parent.name == "bob" and (case := ruled(file).case) is not None:
            named = {step.rule for ruling in ruled(file).rulings for step in ruling.steps}
            if lost := [rule for rule in case.cites if rule not in named]:
                unnamed[case.case] = lost
    assert unnamed.keys() == CONTEXT.keys(), unnamed


def test_every_step_cites_a_rule_that_there_is(ruled: Ruled) -> None:
    numbers = {code: {rule.number for rule in read_ruleset(code).rules} for code in CODES}
    lost = {
        (ruling.ruleset, step.rule, Path(file).stem)
        for file in FILES
        for ruling in ruled(file).rulings
        for step in ruling.steps
        if step.rule not in numbers[ruling.ruleset]
    }
    assert lost == set()


@pytest.mark.parametrize(
    "case", ["bob/bob-65.1-end", "fpb/fpb-18.2-h", "ddp/ddp-6.34-a", "css/css-8.0-a", "ccp/ccp-O20.2-a"]
)
def test_a_run_leaves_alone_what_it_found(
    case: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[Any, Any]] = []
    look_up = Runner._looked_up

    def noted(*given: Any) -> Any:
        rows = look_up(*given)
        found.append((rows, copy.deepcopy(rows)))
        return rows

    monkeypatch.setattr(Runner, "_looked_up", noted)
    rule_file(connection, str(SUITE / f"{case}.yaml"))
    assert found
    assert [rows for rows, before in found if rows != before] == []


def test_case_ids_are_unique() -> None:
    """A case is called as its file is, in whichever folder (`test_a_case_holds`)."""
    ids = collections.Counter(Path(file).stem for file in FILES)
    assert [name for name, count in ids.items() if count > 1] == []


def test_every_point_of_a_question_exists() -> None:
    known = {point for code in CODES for point in contested_points(code)}
    assert {point for kind in kinds() for point in kind.points} <= known
    for kind in kinds():
        assert {point.partition("-")[0] for point in kind.points} <= set(kind.rulesets)


def test_in_a_game_a_kind_of_question_has_one_name() -> None:
    told = collections.Counter((code, kind.name) for kind in kinds() for code in kind.rulesets)
    assert [name for name, count in told.items() if count > 1] == []


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: f"{kind.name} of {', '.join(kind.rulesets)}")
def test_the_example_of_a_kind_can_be_asked(kind: QuestionKind) -> None:
    """It stands in the documentation, and takes only what the form knows."""
    assert kind.example, "a kind has an example"
    asked = read_document(kind.example, kind.name).plain()
    assert list(asked) == [kind.name]
    assert kind.arguments.model_validate(asked[kind.name])
    assert all(argument.description for argument in arguments(kind)), "every argument is described"


@pytest.mark.parametrize(
    ("ruleset", "question"),
    [
        ("css", 'fire: {by: [A], at: "nowhere"}'),
        ("css", "fire: {by: [A], target: nobody}"),
        ("css", "detach: {weapon: A, from: nowhere}"),
        ("css", 'assault: {at: "22.77", by: [A], with: [nobody]}'),
        ("ccp", "cover: {unit: nobody}"),
        ("ccp", "points: {unit: nobody}"),
    ],
)
def test_a_name_that_may_be_left_out_is_checked_all_the_same(
    connection: Connection, ruleset: str, question: str
) -> None:
    extent, side = ('["22.76", "23.78"]', "us") if ruleset == "css" else ("[C3, D5]", "allied")
    document = f"""
case: lost
ruleset: {ruleset}
map: {{extent: {extent}}}
units:
  - {{id: A, side: {side}, at: {extent.strip("[]").partition(",")[0]}}}
ask:
  - {question}
"""
    with pytest.raises(Problems, match=r"nowhere|nobody"):
        rule_text(connection, document, "lost.yaml")


def test_the_verdict_of_every_ruling_is_a_sentence(ruled: Ruled) -> None:
    """No keys, no braces, no null: what a person reads."""
    odd = {
        (Path(file).stem, said)
        for file in FILES
        for ruling in ruled(file).rulings
        if not (said := words.verdict(ruling))
        or re.search(r"[{}\[\]]|\bNone\b|\bnull\b|\bTrue\b|\bFalse\b", said)
    }
    assert odd == set()


def test_a_ruling_touches_only_points_that_its_question_declares(ruled: Ruled) -> None:
    declared = {(code, kind.name): kind.points for kind in kinds() for code in kind.rulesets}
    undeclared = {
        (ruling.kind, entry["point"])
        for file in FILES
        for ruling in ruled(file).rulings
        for entry in ruling.contested
        if entry["point"] not in declared[ruling.ruleset, ruling.kind]
    }
    assert undeclared == set(), "add them to `points` of the question kind"


NAMED_ONLY = {
    "bob-22": "a shot in a monsoon reaches three hexes, so that a cap of four is idle",
    "ddp-26": "the other reading follows one broken example and gives no rule",
    "ddp-52": "no rule counts the hexes of a group",
}
"""Points with two readings on which no answer turns, and why: a ruling that touches one names it."""


def test_every_implemented_point_has_a_case_that_it_decides_and_that_switches_it(ruled: Ruled) -> None:
    decided: dict[str, set[str]] = collections.defaultdict(set)
    named: set[str] = set()
    for file in FILES:
        for ruling in ruled(file).rulings:
            for entry in ruling.contested:
                named.add(entry["point"])
                if entry["decides"]:
                    decided[entry["point"]].add(entry["reading"])
    implemented = {
        point: len(contested_points(point.partition("-")[0])[point].readings)
        for point in implemented_points()
    }
    turning = {point for point, readings in implemented.items() if readings > 1} - NAMED_ONLY.keys()
    unproved = {point: sorted(decided[point]) for point in sorted(turning) if len(decided[point]) < 2}
    assert unproved == {}, "no case rules both ways on these (readings seen to decide)"
    assert implemented.keys() - named == set(), "no case touches these"


OWN_RULES = {
    "fire": {"6.0", "20.5", "20.6"},
    "op_fire": {"9.0"},
    "final_op_fire": {"10.0", "20.7"},
    "assault_fire": {"5.2"},
    "muzzle_flash": {"50.2"},
    "sustained_fire": {"61.1"},
    "fireteam": {"58.3"},
    "satw": {"33.0"},
    "satchel_charge": {"36.0"},
    "close_assault": {"20.9"},
    "satt": {"59.4"},
    "uk": {"61.2"},
    "indirect_fire": {"32.0"},
    "fire_mission": {"32.0"},
    "air_attack": {"35.0"},
    "illumination": {"50.1"},
    "smoke": {"48.0", "48.1", "48.2"},
    "event": {"17.0"},
    "sniper": {"17.0"},
    "rout": {"11.0"},
    "melee": {"12.0", "12.1"},
    "recover": {"13.0"},
    "weather": {"55.2"},
    "decoy": {"50.3"},
    "mark": {"4.2", "4.3"},
    "pass": {"4.1"},
    "mount": {"21.3"},
    "dismount": {"21.3", "22.0"},
    "coxswain_panic": {"21.7"},
    "swim": {"45.5"},
    "clear": {"43.6", "43.7"},
    "crush": {"20.12"},
    "mines": {"49.0"},
    "trail": {"54.4"},
    "banzai": {"59.6"},
    "seishin": {"59.5"},
    "hub": {"63.2", "63.3"},
    "fatigue": {"64.1"},
    "regroup": {"65.2"},
    "command_point": {"3.0", "3.1"},
}
"""Of each procedure of bob, the rules by which it is done at all: one of them is in every proof."""


def test_what_is_done_in_bob_names_the_rule_by_which_it_is_done(ruled: Ruled) -> None:
    silent = {
        (Path(file).stem, ruling.kind)
        for file in FILES
        if Path(file).parent.name == "bob"
        for ruling in ruled(file).rulings
        if ruling.answer.get("allowed") is True
        and not {step.rule for step in ruling.steps}
        & OWN_RULES.get(ruling.kind, {step.rule for step in ruling.steps})
    }
    assert silent == set()
