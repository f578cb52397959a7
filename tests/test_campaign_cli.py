"""`sightline campaign …`: every command of the archive, on a campaign of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from db.database import make_engine
from importers.maps import import_map
from tests.command_line import CommandLine
from tests.conftest import ROOT, Databases
from tests.test_campaign_files import GUAM, SMALL

FORMS = ("yaml", "json", "csv", "geojson", "gpkg", "qgs")


@pytest.fixture(scope="module")
def sightline(databases: Databases) -> CommandLine:
    """A database with Guam and what happened there; tests only look at it."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / "guam.yaml")
    engine.dispose()
    told = CommandLine(url)
    assert told("campaign", "import", GUAM, "--who", "demo").status == 0
    return told


@pytest.fixture
def own(sightline: CommandLine, tmp_path: Path) -> CommandLine:
    """The same with a small campaign, as its file has it."""
    (tmp_path / "small.yaml").write_text(SMALL)
    assert sightline("campaign", "import", tmp_path / "small.yaml", "--replace", "--who", "Ann").status == 0
    return sightline


def test_campaigns_are_listed_with_what_they_have(sightline: CommandLine) -> None:
    found = {row["name"]: row for row in sightline("campaign", "list", "--json").json}
    assert found["guam-1944"]["entries"] >= 40
    assert found["guam-1944"]["forces"] >= 20
    assert "guam-1944" in sightline("campaign", "list").out


def test_a_campaign_is_brought_in_once_unless_it_is_to_be_brought_in_line(
    own: CommandLine, tmp_path: Path
) -> None:
    refused = own("campaign", "import", tmp_path / "small.yaml")
    assert refused.status == 2
    assert "--replace" in refused.err
    (tmp_path / "bad.yaml").write_text(
        SMALL.replace("account: log, page", "account: lag, page").replace("1944-07-22", "soon")
    )
    wrong = own("campaign", "import", tmp_path / "bad.yaml", "--replace")
    assert wrong.status == 2
    assert "unknown account 'lag' (did you mean log?)" in wrong.err
    assert "'soon' is no time" in wrong.err


def test_a_diary_is_recorded_and_its_entries_are_looked_at_and_taken_away(
    own: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "more.csv").write_text("when,title,account,key\n1944-07-23,Another day,log,another\n")
    told = own("campaign", "record", "small", tmp_path / "more.csv", "--who", "Ben", "--json").json
    assert told["added"]["entry"] == 1
    [entry] = own("campaign", "entry", "small", "another", "--json").json
    assert (entry["what"]["title"], entry["by"]) == ("Another day", "Ben")
    assert "Another day" in own("campaign", "chronicle", "small", "--when", "1944-07-23").out
    assert own("campaign", "entry", "small", "another", "--delete", "--yes", "--who", "Eve").status == 0
    assert "Another day" not in own("campaign", "chronicle", "small").out
    newest = own("campaign", "history", "small", "--most", 2, "--json").json
    assert (newest[0]["who"], newest[0]["key"]) == ("Eve", "another")
    assert own("campaign", "entry", "small", "nothing").status == 2


def test_a_chronicle_is_filtered(sightline: CommandLine) -> None:
    asked = ("campaign", "chronicle", "guam-1944", "--json")
    everything = sightline(*asked).json
    losses = sightline(*asked, "--kind", "loss").json
    assert {row["kind"] for row in losses} == {"loss"}
    assert len(losses) < len(everything)
    of_force = sightline(*asked, "--force", "witek").json
    assert {row["key"] for row in of_force} < {row["key"] for row in everything}


@pytest.mark.parametrize("form", FORMS)
def test_a_campaign_is_handed_over_in_every_form(sightline: CommandLine, form: str, tmp_path: Path) -> None:
    file = tmp_path / f"guam.{'zip' if form == 'csv' else form}"
    assert sightline("campaign", "export", "guam-1944", file).status == 0
    assert file.stat().st_size > 1000
    again = sightline("campaign", "export", "guam-1944", file)
    assert again.status == 2
    assert "--force" in again.err
    assert sightline("campaign", "export", "guam-1944", file, "--force").status == 0


def test_an_export_to_standard_output_is_a_file_that_comes_in(own: CommandLine, tmp_path: Path) -> None:
    out = own("campaign", "export", "small").out
    assert yaml.safe_load(out)["name"] == "small"
    (tmp_path / "out.yaml").write_text(out)
    told = own("campaign", "import", tmp_path / "out.yaml", "--replace", "--json").json
    assert not any(told["added"].values())
    assert not any(told["changed"].values())


def test_forces_differences_and_moments_are_told(sightline: CommandLine) -> None:
    assert "3mar" in sightline("campaign", "forces", "guam-1944", "--when", "1944-07-21").out
    assert sightline("campaign", "differences", "guam-1944", "css", "fpb", "--json").json
    saved = sightline(
        "campaign", "position", "guam-1944", "--when", "1944-07-21T12:00", "--save", "w-day", "--replace"
    )
    assert saved.status == 0, saved.err
    assert sightline("ask", "w-day", "range: {from: '3', to: guam/18}", "--json").json["answer"]
