"""The rules reference: tree, references, terms, concepts, imported texts, editions, errata."""

from __future__ import annotations

import datetime
import re
import subprocess
from pathlib import Path

import pytest
import sqlalchemy as sa
import yaml
from sqlalchemy.engine import Connection

from db import errata, reference, suite
from db.reference import NotInReference
from db.rules import rule_ids
from db.rulesets import CODES, FOLDER, ConceptsFile, read_form, read_ruleset
from db.rulesets.load import load_rulesets
from db.terms import TermFinder
from importers.rulebook import parse
from importers.rulebook_import import (
    KnownRule,
    RulebookImportError,
    import_rulebook,
    same_rules,
    titles_agree,
)
from tests.conftest import ROOT, SHARED

DATA = Path(__file__).parent / "data"
SMALL = DATA / "rulebooks"
COUNTS = {"css": 135, "ccp": 336, "fpb": 73, "bob": 176, "ddp": 210}
EXCEPTIONS = yaml.safe_load((DATA / "rulebook_exceptions.yaml").read_text(encoding="utf-8"))
CONCEPTS = read_form(FOLDER / "concepts.yaml", ConceptsFile).concepts
DAY = datetime.date.fromisoformat


def real_text(rulebooks: Path, code: str) -> str:
    return next(rulebooks.glob(f"{code}-*.txt")).read_text(encoding="utf-8")


def small(code: str, folder: Path, *changes: tuple[str, str]) -> Path:
    """The small rulebook of a game, with words replaced."""
    text = (SMALL / f"{code}.txt").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{code}.txt"
    path.write_text(text, encoding="utf-8")
    return path


# --- the tree ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_every_rule_of_the_files_is_there_in_natural_order(connection: Connection, code: str) -> None:
    tree = reference.tree(connection, code)
    assert len(tree.rules) == COUNTS[code]
    assert [(r.number, r.title, r.parent) for r in tree.rules] == [
        (r.number, r.title, r.parent) for r in read_ruleset(code).rules
    ]


def test_the_tenth_stands_after_the_ninth(connection: Connection) -> None:
    numbers = [rule.number for rule in reference.tree(connection, "ddp").rules]
    assert numbers.index("12.9") < numbers.index("12.10") < numbers.index("12.101") < numbers.index("13.0")


@pytest.mark.parametrize("code", CODES)
def test_a_path_begins_with_its_parents(connection: Connection, code: str) -> None:
    wrong = connection.execute(
        sa.text(
            "select rule.number from rule left join rule as parent on parent.id = rule.parent_id"
            " where rule.ruleset = :code"
            " and trim_array(rule.path, 1) <> coalesce(parent.path, '{}')"
        ),
        {"code": code},
    ).all()
    assert wrong == []


@pytest.mark.parametrize(
    ("ruleset", "written", "number", "part"),
    [
        ("css", "7.1.2", "7.1.2", None),
        ("css", "7.1.2b", "7.1.2", "b"),
        ("css", " 7.1.2 (B) ", "7.1.2", "b"),
        ("css", "rule 7", "7.0", None),
        ("css", "§ 7.1", "7.1", None),
        ("ccp", "o27.3", "O27.3", None),
        ("ccp", "27.3", "O27.3", None),
        ("ccp", "T 89.4.1.", "T89.4.1", None),
        ("ccp", "021", "O21", None),
        ("ccp", "1.0", "1.0", None),
        ("ccp", "1", "1", None),
        ("fpb", "6", "6.0", None),
        ("ddp", "2.2.5", "2.25", None),
        ("ddp", "12.10", "12.10", None),
    ],
)
def test_a_number_is_found_however_it_is_written(
    connection: Connection, ruleset: str, written: str, number: str, part: str | None
) -> None:
    query = sa.text("select rule, part from rules.find(:ruleset, :written)")
    assert connection.execute(query, {"ruleset": ruleset, "written": written}).all() == [(number, part)]


@pytest.mark.parametrize("written", ["", "x", "7.1.2.9", "E27.3", "24.77", "7..1", "-1", "9" * 60, "'"])
def test_what_is_no_rule_is_not_found(connection: Connection, written: str) -> None:
    with pytest.raises(NotInReference):
        reference.find_rule(connection, "css" if written != "E27.3" else "ccp", written)


def test_a_wrong_number_tells_what_is_near(connection: Connection) -> None:
    with pytest.raises(NotInReference, match=r"css has no rule 7\.1\.9\.\nNear it: .*7\.1\.2"):
        reference.rule(connection, "css", "7.1.9")


def test_subtree_is_the_rule_and_all_below(connection: Connection) -> None:
    rows = connection.execute(sa.text("select rule, depth from rules.subtree('ccp', 't89.3')")).all()
    assert rows == [("T89.3", 0), ("T89.3.1", 1), ("T89.3.2", 1), ("T89.3.3", 1)]


def test_a_rule_knows_its_place(connection: Connection) -> None:
    answer = reference.rule(connection, "css", "7.1.2")
    assert [rule.number for rule in answer.above] == ["7.0", "7.1"]
    assert answer.before is not None
    assert answer.after is not None
    assert (answer.before.number, answer.after.number) == ("7.1.1", "7.2")
    chapter = reference.rule(connection, "css", "7.0")
    assert [rule.number for rule in chapter.below] == ["7.1", "7.2"]
    assert reference.rule(connection, "css", "1.0").before is None


# --- references, terms, concepts --------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_references_go_both_ways(connection: Connection, code: str) -> None:
    for rule in read_ruleset(code).rules:
        told = reference.references(connection, code, rule.number)
        others = {number for number in rule.see if number != rule.number}
        assert {link.number for link in told.refers_to} == others
        for number in list(others)[:3]:
            back = reference.references(connection, code, number).referred_from
            assert rule.number in {link.number for link in back}


def test_a_term_is_found_in_a_digest_whatever_its_form() -> None:
    finder = TermFinder([("Fire Zone", ["FZ"]), ("Fire", []), ("Prepared Assault", ["PA"])])
    assert finder.used_in("Two fire zones and a FIRE; no pa, but a PA. Firepower is none.") == [
        "Fire Zone",
        "Fire",
        "Prepared Assault",
    ]
    text = "In its Fire Zone a hex may fire."
    assert "".join(use.text for use in finder.uses(text)) == text


@pytest.mark.parametrize("code", CODES)
def test_every_term_has_its_rule_and_is_used(connection: Connection, code: str) -> None:
    glossary = reference.glossary(connection, code)
    assert len(glossary.terms) == len(read_ruleset(code).terms)
    assert {term.term: term.rule for term in glossary.terms} == {
        term.term: term.rule for term in read_ruleset(code).terms
    }
    linked = connection.scalar(
        sa.text(
            "select count(distinct rule_term.rule_id) from rule_term"
            " join rule on rule.id = rule_term.rule_id where rule.ruleset = :code"
        ),
        {"code": code},
    )
    assert linked is not None
    assert linked > COUNTS[code] / 2


def test_about_forty_concepts_or_more_name_rules_that_exist(connection: Connection) -> None:
    assert len(CONCEPTS) >= 40
    numbers = {code: set(rule_ids(connection, code)) for code in CODES}
    cited = re.compile(rf"\b({'|'.join(CODES)}) ([A-Z]?\d+(?:\.\d+)*)")
    for name, concept in CONCEPTS.items():
        assert len(concept.rules) >= 2, f"{name} is treated by one game only"
        answer = reference.compare(connection, name)
        assert {game.ruleset: tuple(r.number for r in game.rules) for game in answer.games} == concept.rules
        for code, number in cited.findall(concept.comparison):
            assert number in numbers[code], f"{name} cites {code} {number}"


@pytest.mark.parametrize("asked", ["line_of_sight", "Line of sight", "LOS", "line of sight"])
def test_a_concept_is_found_by_any_of_its_names(connection: Connection, asked: str) -> None:
    assert reference.compare(connection, asked).concept == "line_of_sight"


def test_an_unknown_concept_tells_what_is_near(connection: Connection) -> None:
    with pytest.raises(NotInReference, match=r"Did you mean .*stacking"):
        reference.compare(connection, "staking")


def test_contested_points_stand_at_the_rules_they_cite(connection: Connection) -> None:
    for code in CODES:
        points = reference.contested(connection, code).points
        assert [point.id for point in points] == [point.id for point in read_ruleset(code).contested]
        for point in points[:5]:
            for number in point.cites:
                if number in rule_ids(connection, code):
                    at_rule = reference.rule(connection, code, number).contested
                    assert point in at_rule


# --- the digests against the real rulebooks ---------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_digests_and_rulebook_have_the_same_numbers(rulebooks: Path, code: str) -> None:
    book = parse(real_text(rulebooks, code), code)
    digested = {rule.number for rule in read_ruleset(code).rules}
    printed = {rule.number for rule in book.rules}
    assert digested ^ printed == set(EXCEPTIONS["numbers"].get(code, {}))
    assert {rule.number for rule in book.recovered()} == set(EXCEPTIONS["recovered"].get(code, {}))
    assert {rule.number: rule.parent for rule in book.rules if rule.number in digested} == {
        rule.number: rule.parent for rule in read_ruleset(code).rules if rule.number in printed
    }


@pytest.mark.parametrize("code", CODES)
def test_digests_and_rulebook_have_the_same_titles(rulebooks: Path, code: str) -> None:
    def plain(title: str) -> str:
        return " ".join(re.findall(r"\w+", title.lower()))

    book = parse(real_text(rulebooks, code), code)
    digested = {rule.number: rule.title for rule in read_ruleset(code).rules}
    other = {rule.number for rule in book.rules if plain(rule.title) != plain(digested[rule.number])}
    assert other == set(EXCEPTIONS["titles"].get(code, {}))


def test_nothing_is_borrowed_from_the_rulebooks(rulebooks: Path) -> None:
    program = SHARED / "bin" / "borrowed"
    if not program.is_file():
        pytest.skip("the check for borrowed words is not here")
    told = subprocess.run([str(program), str(ROOT)], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout


# --- importing --------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_a_real_rulebook_goes_beside_the_digests(connection: Connection, rulebooks: Path, code: str) -> None:
    path = next(rulebooks.glob(f"{code}-*.txt"))
    report = import_rulebook(connection, code, path)
    book = parse(path.read_text(encoding="utf-8"), code)
    assert (report.rules, report.added, report.absent, report.renumbered) == (COUNTS[code], [], [], {})
    assert (report.references, len(report.dangling)) == (len(book.references), len(book.dangling()))
    assert report.terms == len(book.terms)
    assert not report.replaced
    stored = connection.execute(
        sa.text(
            "select rule.number, string_agg(rule_text.text, E'\\n\\n' order by rule_text.n) as text"
            " from rule join rule_text on rule_text.rule_id = rule.id where rule.ruleset = :code group by 1"
        ),
        {"code": code},
    )
    assert {row.number: row.text for row in stored} == {
        rule.number: rule.text for rule in book.rules if rule.passages
    }
    for rule in book.rules[::9]:
        answer = reference.rule(connection, code, rule.number)
        assert answer.printed is not None
        assert len(answer.printed.passages) == len(rule.passages)
        printed = {link.target for link in book.references_from(rule.number)} - {rule.number, None}
        assert printed <= {link.number for link in answer.refers_to}


def rows_of(connection: Connection, table: str) -> list[tuple[object, ...]]:
    columns = {
        "edition_rule": "rule_id, number, title, line, recovered",
        "rule_text": "rule_id, n, kind, text, first_line, last_line",
        "rule_reference": "rule_id, printed, target_id, line",
        "glossary_entry": "n, name, text, rule_id, line",
        "rule": "id, ruleset, number, path, parent_id, title, digest",
        "word": "word, stem, rules",
        "synonym": "phrase, stems, term_id, concept, word_group",
    }[table]
    query = sa.text(f"select {columns} from {table} order by {columns}")
    return [tuple(row) for row in connection.execute(query)]


TABLES = ("edition_rule", "rule_text", "rule_reference", "glossary_entry", "rule", "word", "synonym")


def test_importing_again_replaces_and_changes_nothing(connection: Connection) -> None:
    path = SMALL / "css.txt"
    import_rulebook(connection, "css", path)
    before = {table: rows_of(connection, table) for table in TABLES}
    assert import_rulebook(connection, "css", path).replaced
    assert {table: rows_of(connection, table) for table in TABLES} == before
    assert connection.scalar(sa.text("select count(*) from rulebook")) == 1


def test_rules_that_only_the_owners_book_has_are_added_and_go_with_it(
    connection: Connection, tmp_path: Path
) -> None:
    before = rows_of(connection, "rule")
    report = import_rulebook(connection, "ddp", SMALL / "ddp.txt")
    assert report.added
    added = reference.rule(connection, "ddp", report.added[0], "standard")
    assert added.digest == ""
    assert added.printed is not None
    ids = rule_ids(connection, "ddp")
    import_rulebook(connection, "ddp", SMALL / "ddp.txt")
    assert rule_ids(connection, "ddp") == ids
    connection.execute(sa.text("delete from rulebook"))
    load_rulesets(connection)
    assert rows_of(connection, "rule") == before


def test_two_editions_live_side_by_side(connection: Connection, tmp_path: Path) -> None:
    import_rulebook(connection, "css", SMALL / "css.txt", "1st")
    other = small("css", tmp_path, ("Nobody has ever won it.", "Somebody won it once."))
    import_rulebook(connection, "css", other, "2nd")
    assert set(reference.editions(connection, "css")) == {"1st", "2nd"}

    def text(edition: str) -> str:
        answer = reference.rule(connection, "css", "1.0", edition)
        assert answer.printed is not None
        assert answer.printed.edition == edition
        return answer.printed.passages[0].text

    assert "Nobody" in text("1st")
    assert "Somebody" in text("2nd")
    with pytest.raises(NotInReference, match="No edition '3rd' of css"):
        reference.rule(connection, "css", "1.0", "3rd")


def test_a_rule_keeps_its_identity_under_another_number(connection: Connection, tmp_path: Path) -> None:
    stacking = reference.find_rule(connection, "css", "6.1")
    moved = small("css", tmp_path, ("6.1 Wicks", "6.2 Stacking"))
    report = import_rulebook(connection, "css", moved, "2nd")
    assert report.renumbered == {"6.2": "6.1"}
    assert reference.find_rule(connection, "css", "6.2", "2nd") == stacking
    assert reference.find_rule(connection, "css", "6.2") != stacking
    answer = reference.rule(connection, "css", "6.2", "2nd")
    assert answer.printed is not None
    assert (answer.number, answer.printed.number) == ("6.1", "6.2")


def test_same_rules_by_number_and_title_then_title_then_number() -> None:
    book = parse((SMALL / "css.txt").read_text(encoding="utf-8"), "css")
    titles = {rule.number: rule.title for rule in book.rules}
    known = [
        KnownRule(1, "3.1", titles["3.1"], True),  # as it was
        KnownRule(2, "9.9", titles["3.2"], True),  # renumbered
        KnownRule(3, "7.0", "Wholly Other Words Here", True),  # retitled
        KnownRule(4, "3.2", "Nothing Like It At All", True),  # its number is another's now
    ]
    ids = same_rules(book.rules, known, {})
    assert {number: ids.get(number) for number in ("3.1", "3.2", "7.0")} == {"3.1": 1, "3.2": 2, "7.0": 3}
    assert 4 not in ids.values()


def test_titles_agree_in_spite_of_slips() -> None:
    assert titles_agree("STARHELLS AT NIGHT", "Starshells at Night")
    assert titles_agree("", "Anything")
    assert not titles_agree("Wicks", "Movement")


@pytest.mark.parametrize(
    ("content", "edition", "message"),
    [
        (b"", "standard", "css.txt"),
        (b"\xff\xfe\x00bad", "standard", "not UTF-8"),
        (b"A letter to my aunt.\n" * 40, "standard", "never names"),
        (None, "standard", "No such file"),
        (b"x", "Second Edition", "cannot name an edition"),
    ],
)
def test_a_bad_file_changes_nothing_and_says_why(
    connection: Connection, tmp_path: Path, content: bytes | None, edition: str, message: str
) -> None:
    path = tmp_path / "css.txt"
    if content is not None:
        path.write_bytes(content)
    before = {table: rows_of(connection, table) for table in TABLES}
    with pytest.raises(RulebookImportError, match=re.escape(message)) as refusal:
        import_rulebook(connection, "css", path, edition)
    assert refusal.value.remedy
    assert {table: rows_of(connection, table) for table in TABLES} == before


def test_an_unknown_game_is_refused(connection: Connection) -> None:
    with pytest.raises(RulebookImportError, match="No ruleset 'xyz'"):
        import_rulebook(connection, "xyz", SMALL / "css.txt")


def test_loading_the_digests_again_keeps_rules_texts_and_errata(connection: Connection) -> None:
    import_rulebook(connection, "css", SMALL / "css.txt")
    added = errata.add_erratum(
        connection, "css", "7.1.2", effect="It ends at 7 hexes.", source="a test", since=DAY("2020-01-01")
    )
    ids = rule_ids(connection, "css")
    texts = rows_of(connection, "rule_text")
    load_rulesets(connection)
    assert rule_ids(connection, "css") == ids
    assert rows_of(connection, "rule_text") == texts
    assert reference.rule(connection, "css", "7.1.2").errata == [added]


# --- errata -----------------------------------------------------------------------------------------


def test_a_rule_is_shown_as_of_a_day(connection: Connection) -> None:
    common = {"source": "a test", "effect": "Sight ends at 7 hexes."}
    first = errata.add_erratum(
        connection, "css", "7.1.2b", **common, since=DAY("2020-01-01"), ends=DAY("2022-01-01")
    )
    second = errata.add_erratum(
        connection, "css", "7.1.2", **common, kind="house_rule", since=DAY("2021-06-01")
    )

    def holding(day: str) -> list[int]:
        answer = reference.rule(connection, "css", "7.1.2", as_of=DAY(day))
        assert answer.as_of == DAY(day)
        return [entry.id for entry in answer.errata]

    assert holding("2019-12-31") == []
    assert holding("2020-01-01") == [first.id]
    assert holding("2021-12-31") == [first.id, second.id]
    assert holding("2022-01-01") == [second.id]
    assert reference.rule(connection, "css", "7.1.1", as_of=DAY("2021-12-31")).errata == []
    errata.remove_erratum(connection, first.id)
    assert holding("2020-01-01") == []
    with pytest.raises(NotInReference):
        errata.remove_erratum(connection, first.id)


def test_an_erratum_that_ends_before_it_begins_is_refused(connection: Connection) -> None:
    with pytest.raises(Exception, match="before it begins"):
        errata.add_erratum(
            connection,
            "css",
            "7.1",
            effect="x",
            source="y",
            since=DAY("2022-01-01"),
            ends=DAY("2021-01-01"),
        )
    with pytest.raises(Exception, match="needs an effect"):
        errata.add_erratum(connection, "css", "7.1", effect=" ", source="y", since=DAY("2022-01-01"))


def test_the_index_of_cases_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "cases.json"
    told = '"title": "A spine", "kinds": ["los"], "rules": ["7.1.1"], "points": [], "terrain": []'
    index.write_text(f'{{"css": {{"css-7.1.1-spine": {{{told}}}}}}}')
    monkeypatch.setattr(suite, "INDEX", index)
    for known in (suite.cases, suite._citing, suite._commonness):
        known.cache_clear()
    assert [case.case for case in reference.cases_citing("css", "7.1.1")] == ["css-7.1.1-spine"]
    assert reference.cases_citing("bob", "1.0") == []
    for known in (suite.cases, suite._citing, suite._commonness):
        known.cache_clear()


def test_the_documented_queries_give_the_documented_results(connection: Connection) -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    queries = re.findall(r"```sql\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(queries) == 4
    for query, expected in queries:
        answer = connection.execute(sa.text(query))
        lines = [" | ".join(answer.keys()), *(" | ".join(map(str, row)) for row in answer)]
        assert lines == expected.splitlines(), query
