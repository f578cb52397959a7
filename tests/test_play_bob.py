"""Band of Brothers at the table: whatever `legal` offers may be entered as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy.engine import Connection

from app.play.actions import actions_of
from app.play.bob.legal import Legal
from app.play.procedures import Action, Choose, Given, Outcome, tried
from app.play.sequence import state_of, walk_of
from app.referee.questions import forms, kinds_of
from app.referee.rulings import Asked, ask
from importers.cases import case_of, store_position

CASES = Path(__file__).parent / "cases" / "bob"


def table(connection: Connection, name: str, **conditions: Any) -> Asked:
    """The position of a case, under some other conditions."""
    document = yaml.safe_load((CASES / f"{name}.yaml").read_text())
    told = {**document.get("conditions", {}), **conditions}
    told = {key: value for key, value in told.items() if value is not None}
    case = case_of({**document, "conditions": told}, "play", forms(), connection)
    return Asked(connection, store_position(connection, case.position), "bob", told, {})


def offers(asked: Asked, side: str) -> list[dict[str, Any]]:
    """What `legal` offers a side."""
    found: list[dict[str, Any]] = ask(asked, kinds_of("bob")["legal"], Legal(side=side)).answer["actions"]
    return found


def entered(asked: Asked, action: str, given: Given | None = None, **arguments: Any) -> Outcome:
    """What an action does, up to the first thing that nobody has answered."""
    kind = actions_of("bob")[action]
    of = kind.arguments.model_validate(arguments)
    assert isinstance(of, Action)
    return tried(asked, lambda: kind.begin(of), given or Given(), lambda: kinds_of("bob"))


@pytest.mark.parametrize(
    ("name", "conditions", "wants"),
    [
        ("bob-4.0-manners", {}, {"retreat", "seishin"}),
        ("bob-4.0-smoke", {}, {"smoke"}),
        ("bob-4.0-reserves", {"fow": {"japan": ["X"]}}, {"satt", "draw"}),
    ],
)
def test_whatever_is_offered_may_be_done(
    connection: Connection, name: str, conditions: dict[str, Any], wants: set[str]
) -> None:
    asked = table(connection, name, **conditions)
    found = offers(asked, "japan")
    assert wants <= {offer["action"] for offer in found} | {offer["arguments"].get("as") for offer in found}
    named = walk_of("bob").actions(state_of(asked))
    for offer in found:
        assert offer["action"] in named
        outcome = entered(asked, offer["action"], **offer["arguments"])
        assert outcome.allowed, (offer, outcome.answer)


def test_a_discharger_is_used_for_smoke_and_counts(connection: Connection) -> None:
    asked = table(connection, "bob-4.0-smoke")
    outcome = entered(asked, "smoke", by="GD", at="A2", **{"as": "discharger"})
    assert {"marker": "dispersed_smoke", "at": "A2"} in outcome.effects
    assert {"unit": "GD", "used": True} in outcome.effects
    assert {"side": "japan", "spent": 1} in outcome.effects


def test_a_smoke_grenade_is_a_choice_within_a_move(connection: Connection) -> None:
    asked = table(connection, "bob-4.0-smoke", smoke_grenades=["japan"])
    assert entered(asked, "smoke", by="Squad", at="D2", **{"as": "grenade"}).allowed is False
    asking = entered(asked, "move", unit="Squad", path=["D2", "D3"])
    assert isinstance(asking.pending, Choose)
    assert asking.pending.name == "smoke:D1"
    thrown = entered(asked, "move", Given(choices={"smoke:D1": "D2"}), unit="Squad", path=["D2", "D3"])
    assert thrown.pending is None, "one in an activation"
    assert {"marker": "dispersed_smoke", "at": "D2"} in thrown.effects
    assert (thrown.answer["cost"], thrown.answer["left"]) == (3, 2)


def test_the_other_side_chooses_who_fires_at_a_suicide_team(connection: Connection) -> None:
    """59.4: it may be Op Fired on from outside the hex once its Prof Check has passed."""
    asked = table(connection, "bob-59.4-lives", active="japan", phase="operations")
    asking = entered(asked, "satt", Given(rolls=[7]), target="Sherman")
    assert isinstance(asking.pending, Choose)
    assert (asking.pending.name, asking.pending.by) == ("fires", "us")
    assert asking.pending.options == ["Escort", "Tired"]
    shot = entered(asked, "satt", Given(rolls=[7, 7], choices={"fires": ["Tired"]}), target="Sherman")
    assert shot.pending is None
    assert shot.answer["result"] == "no_effect"


def test_who_comes_in_from_the_rout_edge_may_be_fired_at_there(connection: Connection) -> None:
    """5.0, 16.2: it is a move, of which its edge hex is the first."""
    asked = table(connection, "bob-16.2-enters", night={"visibility": 3})
    comes = {"unit": "Fresh", "at": "F1", "as": "fow", "path": ["F2"]}
    asking = entered(asked, "placement", **comes)
    assert isinstance(asking.pending, Choose)
    assert (asking.pending.name, asking.pending.by) == ("interrupt:F1:1", "us")
    fire = {"fire": "op_fire", "by": "Watch"}
    shot = entered(asked, "placement", Given(rolls=[10], choices={"interrupt:F1": fire}), **comes)
    assert {"unit": "Watch", "used": True} in shot.effects
    assert {"unit": "Fresh", "at": "F2"} in shot.effects


def test_a_suicide_team_waits_for_its_own_range(connection: Connection) -> None:
    asked = table(connection, "bob-4.0-reserves", active="us")
    assert entered(asked, "satt", target="Tank").allowed is False


@pytest.mark.parametrize(
    ("name", "n", "rule"),
    [
        ("bob-5.0-a", 0, "4.2"),
        ("bob-23.0-a", 2, "23.0"),
        ("bob-43.0-shelled", 0, "43.0"),
        ("bob-43.0-shelled", 1, "61.2"),
        ("bob-43.0-shelled", 2, "59.0"),
        ("bob-47.1-a", 1, "47.1"),
    ],
)
def test_a_proof_names_the_rule_that_decides(connection: Connection, name: str, n: int, rule: str) -> None:
    question = yaml.safe_load((CASES / f"{name}.yaml").read_text())["ask"][n]
    asked = table(connection, name, **question.get("conditions", {}))
    [kind] = [kind for key, kind in kinds_of("bob").items() if key in question]
    steps = ask(asked, kind, kind.arguments.model_validate(question[kind.name])).steps
    assert rule in {step.rule for step in steps}


@pytest.mark.parametrize(("n", "flank"), [(0, True), (1, False), (3, False), (4, False)])
def test_a_flank_counter_is_earned_only_through_the_flank_of_all(
    connection: Connection, n: int, flank: bool
) -> None:
    question = yaml.safe_load((CASES / "bob-12.2-a.yaml").read_text())["ask"][n]
    kind = kinds_of("bob")["move"]
    asked = table(connection, "bob-12.2-a", **question.get("conditions", {}))
    answer = ask(asked, kind, kind.arguments.model_validate(question["move"])).answer
    assert ("flank" in answer) is flank
    assert any(effect.get("flank") for effect in answer["effects"]) is flank
