"""Questions on the command line: every kind of the registry, on saved maps and positions."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import click
import pytest
import sqlalchemy as sa
from command_line import CommandLine
from pydantic import BaseModel, Field
from sqlalchemy.engine import Connection

from app.referee.questions import common_kinds
from app.referee.rulings import Arguments, Asked, Finding, QuestionKind
from app.terminal.cli import gather
from app.terminal.commands.ask import command_of
from db.maps import Map
from db.positions import Position
from importers.demo.load import load_demo
from importers.maps import load_draft
from importers.questions import Names
from tests.conftest import Databases

PADDIES = """
name: paddies
title: Two rice paddies in a row
ruleset: css
map:
  extent: ["20.76", "26.84"]
  fill: {terrain: clear, level: 1}
  hexes:
    "23.78": rice_paddy
    "23.79": rice_paddy
units:
  - {id: North, side: us, at: "23.77"}
  - {id: South, side: japan, at: "23.81", kind: hq, formation: "88", division: "88"}
  - {id: Afloat, side: us}
"""


@pytest.fixture(scope="module")
def sightline(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """The demo, and a position of our own; questions leave all of it as it is."""
    sightline = CommandLine(databases.make())
    with sightline.engine() as engine:
        assert load_demo(engine, str) is not None
    file = tmp_path_factory.mktemp("positions") / "paddies.yaml"
    file.write_text(PADDIES)
    assert sightline("import", "position", file).status == 0
    before = rows(sightline)
    yield sightline
    assert rows(sightline) == before


def rows(sightline: CommandLine) -> list[tuple[Any, ...]]:
    with sightline.engine() as engine, engine.connect() as connection:
        names = [connection.scalars(sa.select(column)).all() for column in (Map.name, Position.name)]
        tables = ("hex", "unit", "marker", "ruling")
        counts = [connection.scalar(sa.text(f"select count(*) from {table}")) for table in tables]
        return [*names, *counts]


@pytest.fixture
def inside(sightline: CommandLine) -> Iterator[Connection]:
    with sightline.engine() as engine, engine.connect() as connection:
        yield connection


# What can be asked


def test_every_kind_of_question_is_a_command_and_none_hides_another() -> None:
    names = [kind.name.replace("_", "-") for kind in common_kinds()]
    commands = gather().commands
    for name, kind in zip(names, common_kinds(), strict=True):
        command = commands[name]
        assert command.help is not None
        assert command.help.startswith(kind.title), f"another command took the name {name}"
        assert all(key in command.help for key in kind.answers)


class Weapon(BaseModel):
    name: str
    fp: Decimal


class Barrage(Arguments):
    unit: Annotated[str, Names(("unit",))]
    path: list[str]
    range: Annotated[int, Field(ge=1)] | None = Field(None, description="No farther")
    posture: Literal["column", "deployed"] | None = None
    hidden: bool = False
    smoke: tuple[str, ...] = ()
    weapon: Weapon | None = None
    points: Decimal | None = None


def test_a_new_kind_is_a_command_by_itself() -> None:
    """Needed arguments in their order, the rest as options, each of its own kind."""

    def rule(asked: Asked, arguments: Barrage) -> Finding:
        raise NotImplementedError

    kind = QuestionKind("fire_zone", "Barrage", Barrage, ("css",), rule, {"hexes": "where"}, str)
    command = command_of(kind)
    assert command.name == "fire-zone"
    with click.Context(command, info_name="fire-zone") as context:
        assert command.get_usage(context) == "Usage: fire-zone [OPTIONS] POSITION UNIT PATH…"
        command.parse_args(
            context,
            ["landing", "C/1/9", "22.80", "22.81", "--range", "3", "--posture", "column", "--hidden",
             "--smoke", "a", "--smoke", "b", "--weapon", "{name: MG, fp: 2.5}", "--points", "0.5"],
        )  # fmt: skip
    given = {name: context.params[name] for name in Barrage.model_fields}
    assert given == {
        "unit": "C/1/9",
        "path": ("22.80", "22.81"),
        "range": 3,
        "posture": "column",
        "hidden": True,
        "smoke": ("a", "b"),
        "weapon": {"name": "MG", "fp": Decimal("2.5")},
        "points": Decimal("0.5"),
    }


# What comes back


def test_range_on_every_demo_map(sightline: CommandLine, inside: Connection) -> None:
    for name in inside.scalars(sa.select(Map.name)).all():
        draft = load_draft(inside, name)
        first, last = min(draft.hexes), max(draft.hexes)
        told = sightline("range", name, draft.scheme.label(first), draft.scheme.label(last), "--json").json
        assert told["map" if name != "paddies" else "position"] == name
        assert told["answer"] == {"range": first.distance(last)}


def test_trace_names_the_lower_hex_first(sightline: CommandLine) -> None:
    answer = sightline("trace", "hill-312", "E10", "F8", "--json").json["answer"]
    assert answer == {"trace": ["E9|F9"], "touches": []}
    answer = sightline("trace", "hill-312", "D11", "F11", "--json").json["answer"]
    assert answer == {"trace": ["E11|E12"], "touches": []}
    answer = sightline("trace", "hill-312", "D9", "F9", "--json").json["answer"]
    assert answer == {"trace": ["E9|E10"], "touches": []}


def test_the_verdict_comes_first_then_the_proof(sightline: CommandLine) -> None:
    told = sightline("los", "paddies", "23.77", "23.81")
    assert told.status == 0, told.err
    assert told.lines[0].startswith("23.77 does not see 23.81: blocked by 23.79; range 4")
    assert "  7.1.1 c at 23.78: passes: " in told.out
    assert "  7.1.1 c at 23.79: blocks: " in told.out
    assert told.lines[-1].startswith("  contested css-12 (Rice Paddy and sight), read as b")
    assert told.lines[-1].endswith("another reading would change the answer")


def test_blocked_is_an_answer_like_any_other(sightline: CommandLine) -> None:
    told = sightline("los", "paddies", "North", "South", "--json")
    assert told.json["answer"]["visible"] is False
    assert told.status == 0


def test_another_reading_is_chosen_for_one_question(sightline: CommandLine) -> None:
    told = sightline("los", "paddies", "23.77", "23.81", "--policy", "css-12=a", "--json").json
    assert told["answer"]["visible"] is True
    assert {"point": "css-12", "reading": "a", "decides": True} in told["contested"]


def test_conditions_are_those_of_the_question(sightline: CommandLine) -> None:
    def sees(*conditions: str) -> bool:
        options = [word for condition in conditions for word in ("--condition", condition)]
        answer = sightline("los", "paddies", "20.76", "20.80", *options, "--json").json["answer"]
        return bool(answer["visible"])

    assert sees()
    assert sees("weather=clear", "time=day")
    assert not sees("weather=rain")
    assert not sees("weather=clear", "time=night")


def test_nested_conditions_have_a_dot(sightline: CommandLine) -> None:
    asked = ("range", "hill-312", "A1", "B1")
    assert sightline(*asked, "--condition", "night.visibility=2").status == 0
    wrong = sightline(*asked, "--condition", "night.visibilty=2")
    assert wrong.status == 2
    assert "--condition night/visibilty: unknown key 'visibilty'" in wrong.err


def test_a_fan_holds_what_lines_of_sight_say(sightline: CommandLine) -> None:
    seen = sightline("fan", "paddies", "North", "--range", "4", "--json").json["answer"]["visible"]
    assert "23.79" in seen
    assert "23.81" not in seen
    short = sightline("fan", "paddies", "North", "--range", "1", "--json").json["answer"]["visible"]
    assert set(short) < set(seen)
    assert len(short) == 6


def test_a_saved_map_answers_as_a_case_file_does(sightline: CommandLine, tmp_path: Path) -> None:
    """One engine behind both doors."""
    question = {"los": {"from": "05.05", "to": "10.09"}}
    file = tmp_path / "case.json"
    file.write_text(json.dumps({"case": "same", "ruleset": "css", "map": "pagasa-coast", "ask": [question]}))
    [ruled] = sightline("rule", "--json", file).json
    asked = sightline("los", "pagasa-coast", "05.05", "10.09", "--json").json
    assert asked.pop("map") == "pagasa-coast"
    assert ruled.pop("case") == "same"
    assert asked == ruled


def test_a_position_brings_its_markers(sightline: CommandLine) -> None:
    bare = sightline("los", "pagasa-coast", "13.15", "14.13", "--json").json
    smoked = sightline("los", "lipata-landing", "13.15", "14.13", "--json").json
    assert bare["answer"] != smoked["answer"]
    assert any(step["rule"] == "8.7.2" for step in smoked["steps"])


def test_command_is_asked_of_a_unit(sightline: CommandLine) -> None:
    told = sightline("command", "lipata-landing", "A/1/31")
    assert told.status == 0
    assert told.lines[0].startswith("A/1/31 is in command, by HQ/31")


def test_the_map_can_be_drawn(sightline: CommandLine) -> None:
    plain = sightline("los", "paddies", "23.77", "23.81")
    drawn = sightline("los", "paddies", "23.77", "23.81", "--draw")
    assert drawn.out.startswith(plain.out)
    assert "@23.77" in drawn.out
    assert "#23.79" in drawn.out


# What is wrong


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("los", "pagasa-cost", "05.05", "06.06"), "Did you mean pagasa-coast?"),
        (("los", "orange-down", "0101", "0102"), "Did you mean orange-dawn or orange-beach?"),
        (
            ("los", "pagasa-coast", "05.05", "99.99"),
            "los on pagasa-coast: to: 99.99 is not a hex of this map",
        ),
        (("range", "hill-312", "E4", "E04"), "did you mean E4"),
        (("los", "tanaro-island", "0101", "0102"), "fpb has no question 'los': units fight who is adjacent"),
        (("los", "paddies", "Nroth", "South"), "there is no hex or unit 'Nroth' (did you mean North?)"),
        (("los", "paddies", "Afloat", "South"), "the unit 'Afloat' is not on the map"),
        (("command", "lipata-landing", "A/1/3"), "did you mean A/1/31"),
        (("command", "pagasa-coast", "A/1/31"), "Positions on it: lipata-landing."),
        (("command", "campaign-island", "A/1/31"), "There is no position on it yet."),
        (("fan", "paddies", "23.77", "--range", "far"), "'far' is not a valid integer"),
        (("fan", "paddies", "23.77", "--range", "0"), "range: input should be greater than or equal to 1"),
        (("los", "paddies", "23.77"), "Missing argument 'TO'"),
        (("los", "paddies", "23.77", "23.78", "23.79"), "Got unexpected extra argument (23.79)"),
        (("los", "paddies", "23.77", "23.81", "--policy", "css-12"), "not of the form NAME=VALUE"),
        (("los", "paddies", "23.77", "23.81", "--policy", "css-12=q"), "--policy css-12: unknown reading"),
        (("los", "paddies", "23.77", "23.81", "--policy", "css-120=a"), "unknown contested point 'css-120'"),
        (
            ("los", "paddies", "23.77", "23.81", "--condition", "weather=ran"),
            "--condition weather: 'ran' is not one of clear, rain, hot, tropical_storm (did you mean rain",
        ),
        (("los", "paddies", "23.77", "23.81", "--condition", "wether=rain"), "unknown key 'wether'"),
    ],
)
def test_a_mistake_is_told_by_its_argument(
    sightline: CommandLine, arguments: tuple[str, ...], said: str
) -> None:
    told = sightline(*arguments)
    assert told.status == 2
    assert said in told.err
    assert told.out == ""


def test_all_mistakes_are_told_at_once(sightline: CommandLine) -> None:
    told = sightline("los", "paddies", "99.99", "88.88", "--policy", "css-12=q", "--condition", "time=noon")
    assert told.status == 2
    for said in ("from: 99.99", "to: 88.88", "--policy css-12", "--condition time"):
        assert said in told.err


def test_an_empty_database_says_where_maps_come_from(databases: Databases) -> None:
    told = CommandLine(databases.make())("los", "island", "22.80", "24.77")
    assert told.status == 2
    assert "sightline demo load" in told.err


# What the documentation shows


PAGE = (Path(__file__).resolve().parent.parent / "docs" / "asking.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("line", re.findall(r"^    \./sightline (.+)$", PAGE, re.MULTILINE))
def test_a_documented_question_is_answered(sightline: CommandLine, line: str) -> None:
    told = sightline(*shlex.split(line))
    assert told.status == 0, told.err
    # a survey has nothing to answer, and says what it did
    assert told.err if line.startswith("survey ") else told.out


def test_the_documented_answer_is_the_answer(sightline: CommandLine) -> None:
    told = sightline("los", "lipata-landing", "A/1/31", "14.12")
    shown = PAGE.split("```text\n")[1].split("```")[0]
    assert told.lines == shown.splitlines()


def test_every_kind_of_question_is_in_the_page() -> None:
    missing = [
        kind.name for kind in common_kinds() if f"`sightline {kind.name.replace('_', '-')} " not in PAGE
    ]
    assert not missing, f"docs/asking.md does not name: {', '.join(missing)}"


@pytest.mark.parametrize("kind", common_kinds(), ids=lambda kind: kind.name)
def test_the_examples_in_the_help_work_on_the_demo(sightline: CommandLine, kind: QuestionKind) -> None:
    examples = re.findall(r"^ +sightline (.+)$", command_of(kind).help or "", re.MULTILINE)
    assert examples
    for line in examples:
        told = sightline(*shlex.split(line))
        assert told.status == 0, told.err
