"""`sightline rule` and `sightline conformance`: exit status, JSON and the report for people."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner, Result
from processes import sightline
from sqlalchemy.engine import URL

from app.referee.conformance import SUITE
from app.terminal.cli import gather
from app.terminal.report import abbreviations
from db.database import make_engine
from db.rulesets import CODES
from tests.conftest import Databases
from tests.ruled import Ruled

Run = Callable[..., Result]
GOOD = SUITE / "css" / "css-7.1-sameB.yaml"


@pytest.fixture(scope="module")
def database(databases: Databases) -> URL:
    return databases.make()


@pytest.fixture
def run(database: URL, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("SIGHTLINE_DATABASE_URL", database.render_as_string(hide_password=False))

    def run(*arguments: object, **options: Any) -> Result:
        return CliRunner().invoke(gather(), [str(argument) for argument in arguments], **options)

    return run


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """A case that holds, one that does not, one that cannot be loaded."""
    text = GOOD.read_text(encoding="utf-8")
    texts = {
        "good": text,
        "wrong": text.replace("visible: true", "visible: false"),
        "broken": text.replace("brush", "brusk").replace("range: 2", "range: two"),
    }
    for name, content in texts.items():
        (tmp_path / f"{name}.yaml").write_text(content, encoding="utf-8")
    return {name: tmp_path / f"{name}.yaml" for name in texts}


def rows_kept(database: URL) -> int:
    engine = make_engine(database)
    with engine.connect() as connection:
        count = connection.scalar(sa.text("select count(*) from ruling"))
    engine.dispose()
    return int(count or 0)


@pytest.mark.parametrize(
    ("names", "status"),
    [
        (["good"], 0),
        (["wrong"], 1),
        (["broken"], 2),
        (["good", "wrong"], 1),
        (["broken", "wrong", "good"], 2),
    ],
)
def test_the_exit_status_tells_whether_expectations_hold(
    run: Run, files: dict[str, Path], names: list[str], status: int
) -> None:
    paths = [files[name] for name in names]
    assert run("rule", *paths).exit_code == status
    assert run("rule", "--json", *paths).exit_code == status


def test_json_is_an_array_over_all_questions_of_all_files_in_order(run: Run, files: dict[str, Path]) -> None:
    told = json.loads(run("rule", "--json", files["wrong"], files["good"]).stdout)
    assert [next(iter(one["question"])) for one in told] == ["los", "trace", "range", "fan"] * 2
    assert [one.get("ok") for one in told] == [False, True, True, None, True, True, True, None]
    assert told[0]["differences"] == ["visible: expected false, is true"]
    assert list(told[4]) == [
        "case", "question", "ruleset", "verdict", "answer", "steps", "contested", "expected", "ok",
    ]  # fmt: skip


def test_json_of_a_broken_file_is_its_error_and_the_others_are_ruled(
    run: Run, files: dict[str, Path]
) -> None:
    told = json.loads(run("rule", "--json", files["good"], files["broken"], files["good"]).stdout)
    assert len(told) == 9
    assert list(told[4]) == ["file", "error"]
    assert told[4]["file"] == str(files["broken"])
    ground, question = told[4]["error"]["problems"]
    assert ground == {
        "line": 10,
        "place": "map/hexes/23.78/terrain",
        "message": "unknown terrain 'brusk'",
        "nearest": ["brush"],
    }
    # a bad map does not hide what is wrong with a question
    assert question["place"].startswith("ask/")
    assert question["place"].endswith("range")
    assert "brusk" in told[4]["error"]["message"]


def test_a_file_that_is_not_there_is_bad_input_and_the_others_are_ruled(
    run: Run, files: dict[str, Path], tmp_path: Path
) -> None:
    result = run("rule", "--json", tmp_path / "lost.yaml", files["good"])
    assert result.exit_code == 2
    told = json.loads(result.stdout)
    assert told[0]["error"]["problems"] == []
    assert "No such file" in told[0]["error"]["message"]
    assert len(told) == 5


def test_a_folder_stands_for_its_case_files_and_a_dash_for_what_is_piped_in(
    run: Run, files: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "entries.yaml").write_text("not: a case")
    (tmp_path / "notes.txt").write_text("not a case")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "one.json").write_text(json.dumps({"case": 1}))
    told = json.loads(run("rule", "--json", tmp_path).stdout)
    assert [one["file"] for one in told if "error" in one] == [
        str(tmp_path / "below" / "one.json"),
        str(files["broken"]),
    ]
    piped = run("rule", "--json", "-", input=files["good"].read_bytes())
    assert piped.exit_code == 0
    assert len(json.loads(piped.stdout)) == 4


def test_nothing_is_kept_unless_it_is_asked_for(run: Run, files: dict[str, Path], database: URL) -> None:
    before = rows_kept(database)
    told = json.loads(run("rule", "--json", files["good"]).stdout)
    assert "ruling" not in told[0]
    assert rows_kept(database) == before
    first, second = (json.loads(run("rule", "--json", "--save", files["good"]).stdout) for _ in range(2))
    assert re.fullmatch("[0-9a-f]{20}", first[0]["ruling"])
    assert [one["ruling"] for one in first] == [one["ruling"] for one in second]
    assert rows_kept(database) == before + 4


def test_the_report_shows_map_verdict_steps_and_expectation(run: Run, files: dict[str, Path]) -> None:
    shown = run("rule", files["good"], files["wrong"]).stdout
    assert "css-7.1-sameB  A line along two spines and through one brush hex" in shown
    assert "@22.80" in shown
    assert "+23.78" in shown
    assert "tf tropical forest" in shown
    assert "22.80 sees 24.77; range 4  los from 22.80, to 24.77\n" in shown
    assert "7.1.1 c at 23.78: passes: " in shown
    assert "as expected" in shown
    assert "not as expected visible: expected false, is true" in shown
    assert shown.rstrip().endswith("2 files, 8 rulings, 5 of 6 as expected")
    assert "\x1b" not in shown, "colours are for terminals"


def test_shifted_columns_are_drawn_half_a_hex_lower(run: Run, tmp_path: Path) -> None:
    text = "case: x\nruleset: ccp\nmap: {extent: [A1, C2]}\nask: [{range: {from: A1, to: C2}}]"
    (tmp_path / "x.yaml").write_text(text)
    lines = run("rule", tmp_path / "x.yaml").stdout.splitlines()
    assert lines[1:6] == ["@A1      C1", " og  B1  og", " A2  og @C2", " og  B2  og", "     og"]


def test_the_report_tells_contested_points_needs_units_and_markers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        """\
case: x
ruleset: css
map:
  extent: ["20.10", "26.20"]
  hexes: {"22.13": rice_paddy, "22.14": rice_paddy, "24.13": sugar_cane}
  hexsides: {"20.10|20.11": [ridge, stream]}
units: [{id: A/1, side: us, at: "22.12"}, {id: B/1, side: us, at: "22.12"}, {id: away, side: us}]
markers: [{kind: dg, value: 2, at: "22.12"}]
ask:
  - los: {from: A/1, to: "22.16"}
  - los: {from: "24.12", to: "24.15"}
"""
    )
    shown = run("rule", tmp_path / "x.yaml").stdout
    assert "A/1 does not see 22.16: blocked by 22.14; range 4" in shown
    assert (
        "  contested css-12 (Rice Paddy and sight), read as b (Counts with Brush):"
        " another reading would change the answer\n" in shown
    )
    assert "It is not known whether 24.12 sees 24.15; range 3; needs what sugar cane" in shown
    assert "\n  needs what sugar cane" in shown
    assert "#22.14" in shown
    assert "cl U2'" in shown
    assert "units: A/1 (us) in 22.12, B/1 (us) in 22.12, away (us) off the map" in shown
    assert "markers: dg 2 in 22.12" in shown
    assert "hexsides: 20.10|20.11 ridge and stream" in shown


def test_a_large_map_is_drawn_around_what_is_asked(run: Run, tmp_path: Path) -> None:
    text = 'case: x\nruleset: css\nmap: {extent: ["01.01", "60.60"]}\nask: [{range: {from: "30.30", to: "32.30"}}]'
    (tmp_path / "x.yaml").write_text(text)
    shown = run("rule", tmp_path / "x.yaml").stdout
    assert "@30.30" in shown
    assert "01.01" not in shown
    assert "of 3600 hexes are shown" in shown


@pytest.mark.parametrize("ruleset", CODES)
def test_every_terrain_has_two_letters_of_its_own(ruleset: str) -> None:
    short = abbreviations(ruleset)
    assert len(set(short.values())) == len(short)
    assert {len(two) for two in short.values()} == {2}


def test_a_broken_file_is_told_in_words_by_a_real_process(files: dict[str, Path], database: URL) -> None:
    environment = {"SIGHTLINE_DATABASE_URL": database.render_as_string(hide_password=False)}
    result = sightline("rule", str(files["broken"]), environment=environment)
    assert result.returncode == 2
    assert (
        f"{files['broken']}:10: map/hexes/23.78/terrain: unknown terrain 'brusk' (did you mean brush?)"
        in (result.stderr)
    )
    assert "Traceback" not in result.stderr


def test_without_a_file_it_is_a_usage_error(run: Run, tmp_path: Path) -> None:
    assert run("rule").exit_code == 2
    (tmp_path / "empty").mkdir()
    assert "no case file" in str(run("rule", tmp_path / "empty").exception)


def test_conformance_tells_of_the_games_that_are_named(
    run: Run, ruled: Ruled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written of all games is tested with the page (tests/test_conformance.py)."""
    # the suite is ruled on once a run, whoever asks
    monkeypatch.setattr("app.terminal.commands.conformance.rule_file", lambda connection, file: ruled(file))
    result = run("conformance", "fpb", "--json")
    told = json.loads(result.stdout)
    assert list(told) == ["fpb"]
    assert {"entries", "cases", "passing", "contested", "blocked", "by_kind"} <= told["fpb"].keys()
    assert told["fpb"]["cases"] > 100
    assert result.exit_code == (1 if told["fpb"]["passing"] < told["fpb"]["cases"] else 0)
    refused = run("conformance", "fpb", "--write", tmp_path / "conformance.md")
    assert refused.exit_code == 2
    assert not (tmp_path / "conformance.md").exists()


def test_one_that_is_told_as_a_list_is_drawn(run: Run) -> None:
    result = run("rule", SUITE / "bob" / "bob-10.0-a.yaml")
    assert result.exit_code == 0, result.output
    assert "@ asked" in result.output
