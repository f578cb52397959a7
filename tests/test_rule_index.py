"""The rule index: every citation is true, none is missing, and rules that are cited nowhere are named."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from command_line import CommandLine
from flask.testing import FlaskClient
from sqlalchemy.engine import Connection, Engine

from app.web.site import create_app
from db import reference
from db.citations import RuleIndex, index_of, numbers_in, rule_index, uncited_reasons
from db.reference import CitedPlace
from db.rulesets import CODES, read_ruleset
from db.settings import Settings
from tests.conftest import ROOT, Databases, web_engine

LITERAL_RULE = re.compile(r"'([A-Z]?\d+(?:\.\d+)+|[A-Z]\d{2,3})'")
"""A literal that can be nothing but a rule's number."""


def known(code: str) -> set[str]:
    return {rule.number for rule in read_ruleset(code).rules}


# --- true -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_every_citation_has_its_number_in_its_line(code: str) -> None:
    index = rule_index(code)
    assert index.citations
    for citation in index.citations:
        line = (ROOT / citation.file).read_text(encoding="utf-8").splitlines()[citation.line - 1]
        # the chapters of a list are written without their .0
        written = {citation.rule, citation.rule.removesuffix(".0")}
        assert any(re.search(rf"(?<![\w.]){re.escape(word)}(?!\d|\.\d)", line) for word in written), citation
        assert citation.clause is None or re.search(rf"\b{citation.clause}\b|\d{citation.clause}\b", line), (
            citation
        )


def test_every_cited_function_is_in_the_database(connection: Connection) -> None:
    queries = {
        "function": "select pronamespace::regnamespace::text || '.' || proname from pg_proc",
        "view": "select relnamespace::regnamespace::text || '.' || relname from pg_class where relkind = 'v'",
        "type": "select typnamespace::regnamespace::text || '.' || typname from pg_type",
        "trigger": "select tgname from pg_trigger",
    }
    there = {kind: set(connection.scalars(sa.text(query))) for kind, query in queries.items()}
    cited = [citation for code in CODES for citation in rule_index(code).citations]
    for citation in cited:
        if citation.file.endswith(".sql") and citation.kind != "file":
            assert citation.name in there[citation.kind], citation
    assert len({citation.name for citation in cited if citation.file.startswith("sql/")}) > 100


def test_every_cited_class_and_function_of_python_can_be_imported() -> None:
    for code in CODES:
        for citation in rule_index(code).citations:
            if citation.file.endswith(".py") and citation.name:
                thing = importlib.import_module(citation.file.removesuffix(".py").replace("/", "."))
                for part in citation.name.split("."):
                    thing = getattr(thing, part)


@pytest.mark.parametrize("code", CODES)
def test_a_cited_datum_is_one_that_the_ruleset_has(code: str) -> None:
    data = read_ruleset(code)
    there = {
        *(f"terrain {name}" for name in data.terrain.terrain),
        *(f"hexside {name}" for name in data.terrain.hexsides),
        *(f"path {name}" for name in data.terrain.paths),
        *(f"overlay {name}" for name in data.terrain.overlays),
        *(f"chart {name}" for name in data.charts),
    }
    cited = {
        " ".join(str(each.name).split()[:2])
        for each in rule_index(code).citations
        if each.file.endswith(("/terrain.yaml", "/charts.yaml", "/ruleset.yaml"))
    }
    # and none is without its rule
    assert cited == there


# --- complete ---------------------------------------------------------------------------------------


def told_by_the_server(connection: Connection, code: str) -> Iterator[tuple[str, str]]:
    """Functions of a game and the numbers in their bodies and comments, as PostgreSQL has them."""
    rows = connection.execute(
        sa.text(
            "select pronamespace::regnamespace::text || '.' || proname, prosrc,"
            " coalesce(obj_description(oid, 'pg_proc'), '')"
            " from pg_proc where pronamespace::regnamespace::text = :code"
        ),
        {"code": code},
    )
    for name, body, comment in rows:
        lines = [line.partition("--")[2] for line in body.splitlines()]
        for words in (comment, *lines):
            for number in re.findall(r"(?<![\w.-])[A-Z]?\d+(?:\.\d+)+(?![\d%])|\b[A-Z]\d{2,3}\b", words):
                yield name, number
        for number in LITERAL_RULE.findall(body):
            yield name, number


@pytest.mark.parametrize("code", CODES)
def test_every_number_in_a_function_of_the_database_is_in_the_index(
    connection: Connection, code: str
) -> None:
    found = set(told_by_the_server(connection, code))
    assert found or code == "fpb", "no function of fpb is there yet; all others have some"
    indexed = {(citation.name, citation.rule) for citation in rule_index(code).citations}
    assert {(name, number) for name, number in found if number in known(code)} - indexed == set()


@pytest.mark.parametrize("code", CODES)
def test_a_number_that_a_function_tells_is_a_rule_of_its_rulebook(code: str) -> None:
    for path in sorted((ROOT / "sql" / code).glob("*.sql")):
        told = set(LITERAL_RULE.findall(path.read_text(encoding="utf-8")))
        assert told <= known(code), f"{path.name} tells rules that {code} does not have"


@pytest.mark.parametrize("code", CODES)
def test_rules_that_are_cited_nowhere_are_listed_and_no_others(code: str) -> None:
    reasons = uncited_reasons(code)
    listed = [*reasons.definition, *reasons.open]
    uncited = [rule.number for rule in reference.index(code).uncited if rule.reason != "heading"]
    assert len(listed) == len(set(listed)), "listed twice"
    lost = [number for number in uncited if number not in listed]
    assert lost == [], f"cited nowhere (any more): cite them, or list them in db/uncited.yaml under {code}"
    found = [number for number in listed if number not in uncited]
    assert found == [], f"cited by now: take them out of db/uncited.yaml under {code}"


# --- how numbers are read ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("-- 7.1.2: higher", ["7.1.2"]),
        ("-- 7.1.1 a and 7.1.1 c; on lower ground 7.1.2e", ["7.1.1 a", "7.1.1 c", "7.1.2 e"]),
        ("6.1 a unit more is no clause", ["6.1"]),
        ("(6.1, 6.3)", ["6.1", "6.3"]),
        ("6.2.2.", ["6.2.2"]),
        ("in css: 7, 6.1 and 8 to 10", ["7.0", "6.1", "8.0", "10.0"]),
        ("7 units of 3, (8) more", []),
        ("version 6.1.9, 3.14159, 99.9, css-62, -6.1, 6.1%, DG6.1, 6.1-7.1, 22.80", []),
        ("half: 0.5", []),
    ],
)
def test_a_number_in_a_text_is_a_rule_if_the_rulebook_has_it(words: str, found: list[str]) -> None:
    numbers = numbers_in(words, frozenset(known("css")))
    assert [f"{each.number} {each.clause or ''}".strip() for each in numbers] == found


def test_chapters_without_a_point_are_read_in_rows_and_brackets() -> None:
    rules = frozenset(known("ccp"))
    assert [each.number for each in numbers_in("O29, 4 and 5.1; 6 more; (8)", rules)] == [
        "O29",
        "4",
        "5.1",
        "8",
    ]
    assert [each.number for each in numbers_in("T89 and T89.4.1, not T100 or O2", rules)] == [
        "T89",
        "T89.4.1",
    ]


SQL = """\
-- needs: css/other.sql
-- What a test decides: 7.1 and what follows.

-- the file's own (7.2)

-- 8.1: above
-- its function
create or replace function css.first("6.3" text)
returns text
language sql
begin atomic
  -- 6.3 inside
  select '6.1.2' where 6.1 > 2;
  select 'as ''6.2.1'' has it';
end;

comment on function css.first(text) is
'Of two lines,
the second (8.4).';

create or replace view css.sight as
select * from (values ('7.1.2', 'b', 'blocks'), ('7.1.1', 'both', 'no clause')) as saying (rule, clause, effect);

comment on column css.sight.clause is 'Its item (7.1.1)';

create or replace function css.second()
returns text
language plpgsql
as $$
begin
  perform 1;
-- 9.1 at the margin of a body
select '8.2' into found;
  return 'ccp 16.1 is not ours; 9.2 is';
end
$$;

select css.second(), '9.3';
"""
SHARED_SQL = """\
create function positions.range()
returns text
language sql
as $$
  -- css 22.3.1: from the beach; ccp 16.1 is another game's
  select case when true then '22.3.1' else '6.3' end
$$;

create function positions.other()
returns text
language sql
as $$ select '22.3.1', 'in css a cave (6.3)' $$;
"""
PYTHON = '''\
"""How a fire attack runs (8.1)."""

LIMIT = 3  # 8.3.4


class Attack:
    """One of them (8.2)."""

    def resolve(self) -> str:
        """Roll.

        Then look it up (8.4).
        """
        column = 1
        return f"{column} by 8.5 and {column}"
'''
DATA = """\
ruleset: css
phases:
  - {code: fire, title: Fire, rules: ["8.1", "8.2"], note: Not 9.0}
  - code: rally
    rule: "10.1"
    steps: [{code: check, start_rule: "10.2"}]
charts:
  weather_table: {rule: "4.0", cells: {rain: {fire: {value: -1, rule: "8.3.7"}}}}
"""


@pytest.fixture
def small(tmp_path: Path) -> RuleIndex:
    """The index of a small tree of sources."""
    files = {
        "sql/css/test.sql": SQL,
        "sql/ccp/test.sql": "-- 7.1",
        "sql/positions/range.sql": SHARED_SQL,
        "app/play/css/fire.py": PYTHON,
        "app/play/ccp/fire.py": '"""6.1"""',
        "app/web/page.py": '"""css 6.1"""',
        "db/rulesets/css/sequence.yaml": DATA,
        "db/rulesets/css/rules.yaml": 'rules: [{number: "6.0", rule: "6.0"}]',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return index_of("css", tmp_path)


def cited_in(index: RuleIndex, file: str) -> set[tuple[str, str | None, int, str, str | None]]:
    return {(c.rule, c.clause, c.line, c.kind, c.name) for c in index.citations if c.file == file}


def test_a_citation_belongs_to_the_statement_around_or_directly_below_it(small: RuleIndex) -> None:
    assert cited_in(small, "sql/css/test.sql") == {
        ("7.1", None, 2, "file", None),
        ("7.2", None, 4, "file", None),
        ("8.1", None, 6, "function", "css.first"),
        ("6.3", None, 12, "function", "css.first"),
        ("6.1.2", None, 13, "function", "css.first"),
        ("6.2.1", None, 14, "function", "css.first"),
        ("8.4", None, 19, "function", "css.first"),
        ("7.1.2", "b", 22, "view", "css.sight"),
        ("7.1.1", None, 22, "view", "css.sight"),
        ("7.1.1", None, 24, "view", "css.sight"),
        ("9.1", None, 32, "function", "css.second"),
        ("8.2", None, 33, "function", "css.second"),
        ("9.2", None, 34, "function", "css.second"),
        ("9.3", None, 38, "file", None),
    }


def test_in_a_shared_file_a_number_is_told_with_its_game(small: RuleIndex) -> None:
    assert cited_in(small, "sql/positions/range.sql") == {
        ("22.3.1", None, 5, "function", "positions.range"),
        ("22.3.1", None, 6, "function", "positions.range"),
        ("6.3", None, 12, "function", "positions.other"),
    }


def test_a_procedure_is_cited_by_class_and_function(small: RuleIndex) -> None:
    assert cited_in(small, "app/play/css/fire.py") == {
        ("8.1", None, 1, "file", None),
        ("8.3.4", None, 3, "file", None),
        ("8.2", None, 7, "class", "Attack"),
        ("8.4", None, 12, "function", "Attack.resolve"),
        ("8.5", None, 15, "function", "Attack.resolve"),
    }


def test_a_datum_is_cited_by_its_fields_for_rules(small: RuleIndex) -> None:
    assert cited_in(small, "db/rulesets/css/sequence.yaml") == {
        ("8.1", None, 3, "data", "phase fire"),
        ("8.2", None, 3, "data", "phase fire"),
        ("10.1", None, 5, "data", "phase rally"),
        ("10.2", None, 6, "data", "phase rally check start"),
        ("4.0", None, 8, "data", "chart weather_table"),
        ("8.3.7", None, 8, "data", "chart weather_table rain fire"),
    }


def test_other_games_and_doors_cite_nothing_here(small: RuleIndex) -> None:
    files = {citation.file for citation in small.citations}
    assert files == {
        "sql/css/test.sql",
        "sql/positions/range.sql",
        "app/play/css/fire.py",
        "db/rulesets/css/sequence.yaml",
    }


def test_a_place_gathers_its_lines_and_items() -> None:
    (place,) = [place for place in rule_index("css").places("7.1.2") if place.name == "css.saying"]
    assert place.file == "sql/css/los.sql"
    assert len(place.lines) > 3
    assert place.clauses == ("a", "b", "e")


# --- shown ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client(engine: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(engine)).test_client()


@pytest.fixture(scope="module")
def run(databases: Databases) -> CommandLine:
    return CommandLine(databases.make())


def test_a_rule_is_told_with_the_places_that_decide_it(run: CommandLine, client: FlaskClient) -> None:
    told = run("rules", "show", "css", "22.3.1", "--json").json["decided_in"]
    places = [CitedPlace.model_validate(place) for place in told]
    assert any(place.name == "css.range" and place.kind == "function" for place in places)
    assert any(place.name == "chart naval_zone_values" and place.kind == "data" for place in places)
    assert client.get("/api/v1/rules/css/22.3.1").get_json()["decided_in"] == told
    text = run("rules", "show", "css", "22.3.1").out
    section = text[text.index("Where it is decided") :]
    assert "css.range  sql/css/range.sql:" in section
    assert "data: chart naval_zone_values  db/rulesets/css/charts.yaml" in section


def test_the_page_of_a_rule_tells_where_it_is_decided(client: FlaskClient) -> None:
    page = client.get("/rules/css/22.3.1").text
    section = page[page.index("Where it is decided") :].partition("</section>")[0]
    assert "<code>css.range</code>" in section
    assert "sql/css/range.sql, line" in section
    assert "chart naval zone values" in section
    assert "Where it is decided" not in client.get("/rules/css/3.4").text


def test_the_whole_index_is_told_by_command_and_api(run: CommandLine, client: FlaskClient) -> None:
    told = run("rules", "index", "css", "--json").json
    assert client.get("/api/v1/rules/css/index").get_json() == told
    assert len(told["cited"]) + len(told["uncited"]) == len(known("css"))
    assert {rule["number"] for rule in told["cited"]} == rule_index("css").cited()
    text = run("rules", "index", "css").out
    assert "\n22.3.1 " in text
    assert f"{len(told['cited'])} rules are cited, {len(told['uncited'])} are not" in text


def test_the_index_is_counted_by_game(run: CommandLine) -> None:
    counts = run("rules", "index", "--json").json
    assert [count["ruleset"] for count in counts] == list(CODES)
    for count in counts:
        parts = ("code", "data", "heading", "case", "definition", "not_asked")
        assert sum(count[part] for part in parts) == count["rules"] == len(known(count["ruleset"]))
    assert run("rules", "index").lines[0].split("\t")[:2] == ["css", str(counts[0]["rules"])]


def test_rules_that_are_cited_nowhere_are_shown_with_a_reason(run: CommandLine) -> None:
    told = {
        rule["number"]: rule["reason"] for rule in run("rules", "index", "css", "--uncited", "--json").json
    }
    assert told["3.4"] == "definition"
    assert set(told.values()) <= {"heading", "definition", "case", "not_asked"}
    assert not told.keys() & rule_index("css").cited()
    everywhere = run("rules", "index", "--uncited").lines
    assert "css\t3.4\tAbbreviations\tdefinition" in everywhere
    assert {line.split("\t")[0] for line in everywhere} == set(CODES)


def test_an_unknown_game_has_no_index(run: CommandLine, client: FlaskClient) -> None:
    told = run("rules", "index", "asl")
    assert told.status == 1
    assert "No ruleset 'asl'" in told.err
    assert "Rulesets: css" in told.err
    assert client.get("/api/v1/rules/asl/index").status_code == 422
