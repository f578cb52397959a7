"""Editions of an owner's text: listed, chosen, removed; one at a time; remarks where one differs from the digest."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.engine import Connection

from app.web.site import create_app
from db import editions, reference
from db.database import make_engine
from db.editions import figures
from db.reference import NotInReference
from db.rulesets import CODES
from db.settings import Settings
from importers.rulebook import parse
from importers.rulebook_import import import_rulebook
from tests.command_line import CommandLine
from tests.conftest import Databases, web_engine

SMALL = Path(__file__).parent / "data" / "rulebooks" / "css.txt"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The small rulebook with another number in it and one rule less."""
    text = SMALL.read_text(encoding="utf-8")
    path = tmp_path / "other.txt"
    path.write_text(
        text.replace("Nobody has ever won it.", "Nobody has won it in 17 years."), encoding="utf-8"
    )
    return path


def shown(connection: Connection, number: str = "1.0") -> str | None:
    printed = reference.rule(connection, "css", number).printed
    return printed.edition if printed else None


def test_the_newest_is_shown_until_one_is_chosen(connection: Connection, other: Path) -> None:
    import_rulebook(connection, "css", SMALL, "1st")
    import_rulebook(connection, "css", other, "2nd")
    assert shown(connection) == "2nd"
    editions.choose(connection, "css", "1st")
    assert shown(connection) == "1st"
    assert [
        (entry.edition, entry.shown, entry.chosen) for entry in editions.editions(connection, "css").editions
    ] == [
        ("1st", True, True),
        ("2nd", False, False),
    ]
    import_rulebook(connection, "css", SMALL, "1st")
    assert shown(connection) == "1st", "importing it again leaves it chosen"
    editions.choose(connection, "css", None)
    assert editions.in_use(connection, "css") in ("1st", "2nd")
    with pytest.raises(NotInReference, match=r"No edition '3rd' of css is imported.\nImported: "):
        editions.choose(connection, "css", "3rd")


def test_editions_are_not_mixed_rule_by_rule(connection: Connection, rulebooks: Path) -> None:
    import_rulebook(connection, "css", next(rulebooks.glob("css-*.txt")), "whole")
    import_rulebook(connection, "css", SMALL, "part")
    answer = reference.rule(connection, "css", "31.0")
    assert answer.printed is None, "the edition that is shown lacks it"
    assert answer.remarks == ["Your edition part has no such rule."]
    assert reference.rule(connection, "css", "31.0", "whole").printed is not None
    found = reference.search(connection, "whiskey", "css").hits[0]
    assert found.number == "31.0", "by the digest"


def test_an_edition_is_removed_with_what_it_alone_has(connection: Connection, other: Path) -> None:
    import_rulebook(connection, "css", SMALL, "1st")
    import_rulebook(connection, "css", other, "2nd")
    editions.remove(connection, "css", "2nd")
    assert [entry.edition for entry in editions.editions(connection, "css").editions] == ["1st"]
    assert shown(connection) == "1st"


@pytest.mark.parametrize("code", CODES)
def test_the_edition_that_was_digested_brings_no_remark(
    connection: Connection, rulebooks: Path, code: str
) -> None:
    import_rulebook(connection, code, next(rulebooks.glob(f"{code}-*.txt")))
    [entry] = editions.editions(connection, code).editions
    assert entry.differing == []
    assert (entry.rules, entry.added) == (entry.of, 0)


def test_another_number_is_remarked(connection: Connection, rulebooks: Path, tmp_path: Path) -> None:
    text = next(rulebooks.glob("css-*.txt")).read_text(encoding="utf-8")
    [rule] = [rule for rule in parse(text, "css").rules if rule.number == "31.0"]
    was = figures([passage.text for passage in rule.passages if passage.kind in ("text", "note")])
    lines = text.split("\n")
    lines[rule.passages[0].first_line - 1] += " 77"
    path = tmp_path / "second.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    import_rulebook(connection, "css", path, "2nd")
    [remark] = reference.rule(connection, "css", "31.0").remarks
    assert "77" not in was
    assert remark == "Your edition 2nd differs from what the digest was written from: it prints 77."
    assert editions.editions(connection, "css").editions[0].differing == ["31.0"]


@pytest.mark.parametrize(
    "words", ["3.5 MPs", "7.1 movement points", "it costs 6.1 points", "within 7.2 hexes", "8.6 MP"]
)
def test_an_amount_is_no_reference(words: str) -> None:
    text = SMALL.read_text(encoding="utf-8").replace("Nobody has ever won it.", f"See rule 7.1. {words}.")
    printed = [link.printed for link in parse(text, "css").references if link.rule == "1.0"]
    assert printed == ["7.1"]


def test_headlines_have_no_raw_markup(connection: Connection, rulebooks: Path) -> None:
    for code in CODES:
        import_rulebook(connection, code, next(rulebooks.glob(f"{code}-*.txt")))
    for words in ("purple dots", "Guam 1944", "exhausted", "lone survivors", "designer", "historical note"):
        for hit in reference.search(connection, words).hits:
            assert "**" not in hit.headline
            assert "##" not in hit.headline
            assert "<sup>" not in hit.headline


def test_a_file_with_few_of_the_rules_is_asked_about(databases: Databases) -> None:
    sightline = CommandLine(databases.make())
    refused = sightline("import", "rulebook", "css", str(SMALL))
    assert refused.status != 0
    assert "of the 135 rules of css. Import it all the same?" in refused.out + refused.err
    assert sightline("import", "rulebook", "css", str(SMALL), typed="n\n").status != 0
    assert sightline("rules", "editions", "list", "css", "--json").status == 1, "nothing was imported"
    assert sightline("import", "rulebook", "css", str(SMALL), "--edition", "asked", typed="y\n").status == 0
    sightline("rules", "editions", "remove", "css", "asked", "--yes")
    sightline("import", "rulebook", "css", str(SMALL), "--yes")
    [entry] = sightline("rules", "editions", "list", "css", "--json").json
    assert (entry["edition"], entry["of"]) == ("standard", 135)
    sightline("rules", "editions", "choose", "css", "standard")
    sightline("rules", "editions", "remove", "css", "standard", "--yes")


def test_editions_are_chosen_and_removed_on_a_page(databases: Databases) -> None:
    engine = make_engine(databases.make())
    with engine.begin() as connection:
        import_rulebook(connection, "css", SMALL, "1st")
        import_rulebook(connection, "css", SMALL, "2nd")
    site = create_app(Settings(log_level="error"), web_engine(engine)).test_client()
    assert "shown, as the newest" in site.get("/rules/css/editions").text
    assert "Your edition 2nd has no such rule." in site.get("/rules/css/31.0").text
    assert site.get("/api/v1/rules/css/31.0").get_json()["remarks"] == ["Your edition 2nd has no such rule."]
    assert site.post("/rules/css/editions", data={"choose": "1st"}).status_code == 303
    told = site.get("/api/v1/rules/css/editions").get_json()["editions"]
    assert (told[0]["edition"], told[0]["shown"]) == ("1st", True)
    assert site.post("/rules/css/editions", data={"remove": "1st"}).status_code == 303
    assert "1st" not in site.get("/rules/css/editions").text
    assert site.post("/rules/css/editions", data={"choose": "3rd"}).status_code == 404
    engine.dispose()
