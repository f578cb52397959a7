"""The rules reference on pages, in the API and on the command line: one answer in three forms."""

from __future__ import annotations

import datetime
import html
import json
import re
import sys
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy.engine import URL, Engine

from app.terminal.cli import main
from app.web.site import create_app
from db import errata, reference
from db.database import make_engine
from db.rulesets import CODES
from db.rulesets import read_ruleset as rules_of
from db.settings import Settings
from importers.rulebook_import import import_rulebook
from tests.conftest import Databases, web_engine

SMALL = Path(__file__).parent / "data" / "rulebooks"
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "wbr"}
INLINE = {"a", "code", "dfn", "mark", "span", "strong", "time"}
Run = Callable[..., str]


@pytest.fixture(scope="module")
def client(engine: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(engine)).test_client()


@pytest.fixture(scope="module")
def owned_url(databases: Databases) -> URL:
    """A database whose owner has imported two editions and entered an erratum."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        import_rulebook(connection, "css", SMALL / "css.txt", "1st")
        import_rulebook(connection, "css", SMALL / "css.txt", "2nd")
        errata.add_erratum(
            connection,
            "css",
            "3.1",
            effect="Dots <count> twice.",
            source="a sheet",
            since=datetime.date(2020, 5, 1),
        )
    engine.dispose()
    return url


@pytest.fixture(scope="module")
def owner(owned_url: URL) -> Iterator[FlaskClient]:
    """The pages of that database."""
    engine = make_engine(owned_url)
    yield create_app(Settings(log_level="error"), web_engine(engine)).test_client()
    engine.dispose()


class Page(HTMLParser):
    """A page taken apart; it complains where the markup is not whole."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.labels: set[str] = set()
        self.inputs: list[dict[str, str | None]] = []
        self.inline: list[str] = []
        self.headings: list[int] = []
        self.title = ""
        self.words: list[str] = []
        self.tip = 0
        self.feed(text)
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        if tag not in INLINE:
            self.words.append(" ")
        if given.get("class") == "tip":
            self.tip = len(self.open)
        self.ids += [given["id"]] if given.get("id") else []  # type: ignore[list-item]
        if tag == "a":
            self.links.append(given["href"] or "")
        if tag == "label":
            self.labels.add(given.get("for") or "")
        if tag in ("input", "select"):
            self.inputs.append(given | {"within": "label" if "label" in self.open else None})
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "style" in given or any(name.startswith("on") for name in given):
            self.inline.append(tag)
        if tag == "style" or (tag == "script" and "src" not in given):
            self.inline.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        if len(self.open) == self.tip:
            self.tip = 0
        assert self.open.pop() == tag, f"</{tag}> is out of order"
        if tag not in INLINE:
            self.words.append(" ")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "title":
            self.title += data
        if not self.tip:
            self.words.append(data)

    @property
    def text(self) -> str:
        """The words of the page, without the definitions that only pointing shows."""
        return " ".join("".join(self.words).split())


def page(client: FlaskClient, address: str, status: int = 200) -> Page:
    answer = client.get(address)
    assert answer.status_code == status, address
    return Page(answer.get_data(as_text=True))


@pytest.mark.parametrize("code", CODES)
def test_every_rule_has_its_page_with_its_number_in_the_title(client: FlaskClient, code: str) -> None:
    for rule in rules_of(code).rules:
        found = page(client, f"/rules/{code}/{rule.number}")
        assert f"{code} {rule.number} {rule.title}" in found.title
        assert len(found.ids) == len(set(found.ids)), f"{code} {rule.number}: an id twice"
        assert " ".join(rule.digest.split())[-40:] in found.text


ADDRESSES = [
    "/rules",
    "/rules/search",
    "/rules/search?q=opportunity+fire",
    "/rules/search?q=xqzy&ruleset=css",
    "/rules/compare/line_of_sight",
    "/rules/css/7.1.2",
    "/rules/css/3.1?as_of=2024-01-01",
    *(f"/rules/{code}" for code in CODES),
    *(f"/rules/{code}/contested" for code in CODES),
    *(f"/rules/{code}/terms" for code in CODES),
    *(f"/rules/{code}/charts" for code in CODES),
    "/rules/css/6.2.1",
    "/rules/ddp/12.0",
    "/rules/css/charts/scatter_chart",
    "/rules/css/charts/assault_sequence",
    "/rules/ccp/charts/fate_cards",
    "/rules/css/errata",
    "/rules/css/7.1.1/errata/new",
    "/rules/errata/1",
    "/rules/css/editions",
    "/rules/bob/editions",
    "/rules/search?q=opportunity+fire&ruleset=fpb",
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_page_is_whole_and_accessible(owner: FlaskClient, address: str) -> None:
    found = page(owner, address)
    assert found.title.endswith("Sightline")
    assert len(found.ids) == len(set(found.ids))
    assert found.inline == [], "inline script or style, which the content security policy forbids"
    assert found.headings[0] == 1
    assert found.headings.count(1) == 1
    assert all(after <= before + 1 for before, after in zip(found.headings, found.headings[1:], strict=False))
    for control in found.inputs:
        named = control.get("id") in found.labels or control.get("aria-label") or control["within"]
        assert named, f"{control} has no label"


def test_every_link_on_the_main_pages_leads_somewhere(owner: FlaskClient) -> None:
    links = {
        link.partition("#")[0]
        for address in ("/rules", "/rules/search?q=smoke", "/rules/compare/smoke", "/rules/css/7.1.2")
        for link in page(owner, address).links
        if link.startswith("/")
    }
    assert len(links) > 60
    assert [link for link in links if owner.get(link).status_code != 200] == []


def test_anchors_of_terms_and_points_are_on_their_pages(client: FlaskClient) -> None:
    for address in ("/rules/css/7.1.2", "/rules/bob/9.0", "/rules/ddp/8.3"):
        code = address.split("/")[2]
        there = {name: set(page(client, f"/rules/{code}/{name}").ids) for name in ("terms", "contested")}
        for link in page(client, address).links:
            where, _, anchor = link.partition("#")
            if anchor and where:
                assert anchor in there[where.rpartition("/")[2]], link


def test_another_spelling_leads_to_the_permanent_address(client: FlaskClient) -> None:
    for written, address in (("css/7.1.2b", "css/7.1.2"), ("ccp/o27.3", "ccp/O27.3"), ("fpb/6", "fpb/6.0")):
        answer = client.get(f"/rules/{written}?as_of=2024-01-01")
        assert answer.status_code == 301
        assert answer.location == f"/rules/{address}?as_of=2024-01-01"


def test_what_is_not_there_is_a_404_that_tells_what_is_near(client: FlaskClient) -> None:
    assert "Near it" in page(client, "/rules/css/7.1.9", 404).text
    assert "Rulesets:" in page(client, "/rules/xyz", 404).text
    assert "Did you mean" in page(client, "/rules/compare/staking", 404).text
    assert "No edition" in page(client, "/rules/css/7.1?edition=9th", 404).text
    assert "Rulesets:" in page(client, "/rules/%00", 404).text
    assert "no rule" in page(client, "/rules/css/x%00", 404).text
    assert "not a day" in page(client, "/rules/css/7.1?as_of=soon", 400).text


def test_search_works_without_script_and_in_parts(client: FlaskClient) -> None:
    found = page(client, "/rules/search?q=can+I+fire+out+of+a+barrage&ruleset=css")
    assert "/rules/css/8.7.2" in found.links
    assert found.text.index("8.7.2") < found.text.index("8.7.1")
    part = client.get("/rules/search?q=oportun&part=hits").get_data(as_text=True)
    assert "<html" not in part
    assert "Opportunity" in part
    assert len(part) < 12_000, "a request while typing must stay small"
    assert client.get("/rules/search?q=%20&part=hits").get_data(as_text=True).strip() == ""


def test_what_is_typed_is_shown_as_text(client: FlaskClient) -> None:
    text = client.get("/rules/search?q=<script>alert(1)</script>").get_data(as_text=True)
    assert "<script>alert" not in text
    assert html.escape("<script>alert(1)</script>") in text


def test_a_definition_is_there_without_script(client: FlaskClient) -> None:
    text = client.get("/rules/css/8.6").get_data(as_text=True)
    match = re.search(
        r'aria-describedby="(term-fire-zone)">Fire Zone</a><span class="tip"[^>]* id="\1">', text
    )
    assert match


def test_pages_are_not_sent_twice(client: FlaskClient) -> None:
    tag = client.get("/rules/css").headers["ETag"]
    assert client.get("/rules/css", headers={"If-None-Match": tag}).status_code == 304


def test_the_owners_text_stands_beside_the_digest(owner: FlaskClient, client: FlaskClient) -> None:
    assert "In your rulebook" in page(owner, "/rules/css/1.0").text
    assert "Nobody has ever won it." in page(owner, "/rules/css/1.0?edition=1st").text
    assert "In your rulebook" not in page(client, "/rules/css/1.0").text


def test_errata_are_shown_as_of_a_day(owner: FlaskClient) -> None:
    text = owner.get("/rules/css/3.1?as_of=2020-05-01").get_data(as_text=True)
    assert "Dots &lt;count&gt; twice." in text
    assert "twice." not in page(owner, "/rules/css/3.1?as_of=2020-04-30").text


# --- the API ----------------------------------------------------------------------------------------


def answer(client: FlaskClient, address: str, status: int = 200) -> dict[str, object]:
    found = client.get(address)
    assert found.status_code == status, found.get_data(as_text=True)
    told: dict[str, object] = found.get_json(force=True)
    return told


@pytest.mark.parametrize(
    "address", [a for a in ADDRESSES if a not in ("/rules/search", "/rules/css/7.1.1/errata/new")]
)
def test_json_beside_a_page_tells_the_same(owner: FlaskClient, address: str) -> None:
    text = owner.get(address).get_data(as_text=True)
    match = re.search(r'<link rel="alternate" type="application/json" href="([^"]+)">', text)
    assert match, address
    told = answer(owner, html.unescape(match[1]))
    shown = Page(text).text

    def strings(value: object, key: str = "") -> Iterator[tuple[str, str]]:
        if isinstance(value, dict):
            for name, inner in value.items():
                yield from strings(inner, name)
        elif isinstance(value, list):
            for inner in value:
                yield from strings(inner, key)
        elif isinstance(value, str):
            yield key, value

    quoted = {"title", "definition", "effect", "why", "source", "number", "term"}
    for key, value in strings(told):
        # whose word a chart's cell is, is told by its look
        if key in quoted and not (key == "source" and value in ("printed", "owner", "house")):
            assert " ".join(value.split()) in shown, (key, value)


def test_the_api_answers_as_the_reference_does(client: FlaskClient, engine: Engine) -> None:
    with engine.connect() as connection:
        pairs = {
            "/api/v1/rules": reference.overview(connection),
            "/api/v1/rules/css": reference.tree(connection, "css"),
            "/api/v1/rules/css/7.1.2b": reference.rule(connection, "css", "7.1.2"),
            "/api/v1/rules/ddp/8.3/references": reference.references(connection, "ddp", "8.3"),
            "/api/v1/rules/bob/contested": reference.contested(connection, "bob"),
            "/api/v1/rules/fpb/terms": reference.glossary(connection, "fpb"),
            "/api/v1/rules/compare/LOS": reference.compare(connection, "line_of_sight"),
            "/api/v1/rules/search?q=smoke&ruleset=bob&limit=3": reference.search(
                connection, "smoke", "bob", 3
            ),
        }
    for address, wanted in pairs.items():
        assert answer(client, address) == wanted.model_dump(mode="json"), address


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/v1/rules/xyz", 422),
        ("/api/v1/rules/css/99.9", 404),
        ("/api/v1/rules/css/7.1?as_of=soon", 422),
        ("/api/v1/rules/css/7.1?as_of=0", 422),
        ("/api/v1/rules/css/7.1?as_of=86400", 422),
        ("/api/v1/rules/css/7.1?edition=9th", 404),
        ("/api/v1/rules/search", 422),
        ("/api/v1/rules/search?q=a&limit=0", 422),
        ("/api/v1/rules/compare/nonsense", 404),
    ],
)
def test_the_api_refuses_in_one_shape(client: FlaskClient, address: str, status: int) -> None:
    told = answer(client, address, status)
    assert told["status"] == status
    assert told["detail"]


def test_the_api_is_described(client: FlaskClient) -> None:
    paths = answer(client, "/api/docs/openapi.json")["paths"]
    assert isinstance(paths, dict)
    for path in ("", "/search", "/compare/{concept}", "/{ruleset}", "/{ruleset}/{number}"):
        responses = paths[f"/api/v1/rules{path}"]["get"]["responses"]
        assert "$ref" in responses["200"]["content"]["application/json"]["schema"]


# --- the command line -------------------------------------------------------------------------------


@pytest.fixture
def run(owned_url: URL, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line on the owner's database; what it prints, if the status is as expected."""
    address = owned_url.set(drivername="postgresql").render_as_string(hide_password=False)
    monkeypatch.setenv("SIGHTLINE_DATABASE_URL", address)

    def ask(*arguments: str, status: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["sightline", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        told = capsys.readouterr()
        assert end.value.code == status, told.err
        return told.out if status == 0 else told.out + told.err

    return ask


def test_the_command_line_tells_what_the_pages_tell(run: Run, owner: FlaskClient) -> None:
    for arguments, address in (
        (("show", "css", "3.1b", "--edition", "1st", "--as-of", "2024-01-01"),
         "/api/v1/rules/css/3.1?edition=1st&as_of=2024-01-01"),
        (("search", "op", "fire", "--limit", "20"), "/api/v1/rules/search?q=op+fire"),
        (("xrefs", "css", "8.6"), "/api/v1/rules/css/8.6/references"),
        (("compare", "opportunity fire"), "/api/v1/rules/compare/opportunity_fire"),
        (("contested", "fpb"), "/api/v1/rules/fpb/contested"),
        (("terms", "css"), "/api/v1/rules/css/terms"),
    ):  # fmt: skip
        assert json.loads(run("rules", *arguments, "--json")) == answer(owner, address)


def test_list_gives_number_title_and_parent(run: Run) -> None:
    listed = json.loads(run("rules", "list", "ccp", "--json"))
    assert [(rule["number"], rule["title"], rule["parent"]) for rule in listed] == [
        (rule.number, rule.title, rule.parent) for rule in rules_of("ccp").rules
    ]
    assert "7.1.2\tLine of Sight and Different Elevations\t7.1" in run("rules", "list", "css")


def test_a_person_reads_the_same(run: Run) -> None:
    shown = run("rules", "show", "css", "3.1", "--edition", "1st")
    for words in ("css 3.1  The Game Map", "One hex is 500 meters", "Compared", "Text (1st)"):
        assert words in shown
    assert " since 2020-05-01, a sheet: Dots <count> twice." in shown
    assert run("rules", "search", "css", "op", "fire").startswith("css 8.6")
    assert "*a" in run("rules", "contested", "css")
    assert "line_of_sight" in run("rules", "compare")


def test_nothing_found_is_1_and_bad_input_is_2(run: Run) -> None:
    assert "Near it" in run("rules", "show", "css", "99.9", status=1)
    assert "Rulesets" in run("rules", "list", "xyz", status=1)
    run("rules", "search", "…", status=1)
    run("rules", "compare", "nonsense", status=1)
    run("rules", "show", "css", status=2)
    run("rules", "show", "css", "7.1", "--as-of", "soon", status=2)
    run("import", "rulebook", "css", "/nowhere.txt", status=2)
    run("import", "rulebook", "bob", str(SMALL / "css.txt"), status=2)


def test_errata_are_added_listed_and_removed(run: Run) -> None:
    run("rules", "errata", "list", "bob", status=1)
    added = json.loads(
        run(
            "rules", "errata", "add", "bob", "47.2", "--house-rule", "--source", "our club",
            "--effect", "Round up.", "--since", "2021-01-01", "--until", "2022-01-01", "--json",
        )
    )  # fmt: skip
    assert (added["number"], added["kind"]) == ("47.2", "house_rule")
    listed = run("rules", "errata", "list", "bob", "47.2", "--as-of", "2021-07-01", "--json")
    assert json.loads(listed) == [added]
    run("rules", "errata", "list", "bob", "--as-of", "2022-01-01", status=1)
    run("rules", "errata", "remove", str(added["id"]))
    run("rules", "errata", "remove", str(added["id"]), status=1)
    run("rules", "errata", "remove", str(2**63), status=2)
    run("rules", "errata", "add", "bob", "47.2", "--effect", "x", status=2)


def test_import_reports_what_it_found(run: Run) -> None:
    told = run("import", "rulebook", "fpb", str(SMALL / "fpb.txt"), "--yes")
    for what in ("rules", "references", "dangling references", "terms", "lines not understood", "seconds"):
        assert re.search(rf"^{what}\t[\d.]+$", told, re.MULTILINE)
    again = run("import", "rulebook", "fpb", str(SMALL / "fpb.txt"), "--yes", "--json")
    assert json.loads(again)["replaced"]


# --- charts and the page of a rule ------------------------------------------------------------------


@pytest.mark.parametrize("code", CODES)
def test_every_chart_has_its_page_and_its_json_and_is_linked_from_its_rule(
    client: FlaskClient, code: str
) -> None:
    for name, chart in rules_of(code).charts.items():
        found = page(client, f"/rules/{code}/charts/{name}")
        assert chart.title in found.text
        told = answer(client, f"/api/v1/rules/{code}/charts/{name}")
        assert told["chart"] == name
        assert len(told["cells"]) == sum(1 for _ in chart.each_cell())  # type: ignore[arg-type]
        assert f"/rules/{code}/charts/{name}" in page(client, f"/rules/{code}/{chart.rule}").links


def test_a_cell_says_whose_word_it_is(client: FlaskClient) -> None:
    text = page(client, "/rules/css/charts/scatter_chart").text
    assert "on target by example 8.7" in text
    assert "5 not printed, for their owner to fill in" in text
    assert "5 inferred from worked examples" in text
    assert "on the back cover" in page(client, "/rules/ccp/charts/order_action_manifest").text
    assert client.get("/rules/css/charts/nothing").status_code == 404


def test_a_chart_reads_as_the_book_prints_it(client: FlaskClient) -> None:
    events = page(client, "/rules/bob/charts/japanese_event_table").text
    for rows in ("1 to 3 sniper", "4 to 6 babe ruth", "7 to 8 ambush", "9 to 10 banzai"):
        assert rows in events, rows
    assert "3 to 8 2" in page(client, "/rules/css/charts/air_strikes_table").text
    assert "0 to 3 on target" in page(client, "/rules/css/charts/scatter_chart").text
    assert "6 ? 7 ? 8 ?" in page(client, "/rules/css/charts/weather_table").text, (
        "each is for its owner to fill in"
    )
    assert "dg4 -3 half -2 no" in page(client, "/rules/css/charts/status_marker_summary").text
    assert "order, advance 10 6 5" in page(client, "/rules/ccp/charts/order_action_manifest").text
    assert "/rules/bob/43.4" in page(client, "/rules/bob/charts/movement_costs").links, (
        "a rule that its note names"
    )


def test_a_long_digest_is_a_table(client: FlaskClient) -> None:
    found = page(client, "/rules/css/6.2.1")
    assert "mangrove swamp" in found.text
    told = answer(client, "/api/v1/rules/css/6.2.1")
    [chart] = told["charts"]  # type: ignore[misc]
    assert (chart["chart"], len(chart["columns"])) == ("terrain_types", 7)


def test_the_page_of_a_rule_has_what_a_referee_prints(owner: FlaskClient) -> None:
    found = page(owner, "/rules/css/8.6")
    for heading in ("In our words", "In the other games", "Cases", "Where it is decided", "Contested"):
        assert heading in found.text, heading
    told = answer(owner, "/api/v1/rules/css/8.6")
    elsewhere = {(item["ruleset"], item["number"]) for item in told["elsewhere"]}  # type: ignore[attr-defined]
    assert {("bob", "9.0"), ("ccp", "A41")} <= elsewhere
