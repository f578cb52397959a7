"""The case desk, the pages of kept rulings, home and search: on the server and in a real browser."""

from __future__ import annotations

import collections
import csv
import datetime
import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from markupsafe import escape
from playwright.sync_api import Browser, Page, expect
from sqlalchemy.engine import URL, Engine

from app.referee.saved import Wanted, saved_rulings
from app.web.pages.cases import AROUND, LARGEST, SHORT, examples, shown_back
from app.web.site import create_app
from db import suite
from db.database import make_engine
from db.rulings import SavedRuling
from db.settings import Settings
from tests.browsing import PHONE, keep_picture, serious_findings, served
from tests.command_line import CommandLine
from tests.conftest import Databases, web_engine

PADDY = """\
case: paddy-line
title: Brush beyond a paddy
ruleset: css
map:
  extent: ["20.74", "24.81"]
  hexes:
    "22.78": rice_paddy
    "22.76": brush
ask:
  - los: {from: "22.80", to: "22.75"}
    expect: {visible: false}
"""
RANGE = "  - range: {from: 22.80, to: 22.75}\n    id: how far\n    expect: {range: 4}\n"
BROKEN = PADDY.replace("rice_paddy", "rice_padi")
EVIL = "<img src=x onerror=document.title='pwned'>"


@pytest.fixture(scope="module")
def desk_url(databases: Databases) -> URL:
    """A database without the demo, in which rulings may be kept."""
    return databases.make()


@pytest.fixture(scope="module")
def desk_engine(desk_url: URL) -> Iterator[Engine]:
    engine = make_engine(desk_url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def client(desk_engine: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(desk_engine)).test_client()


@pytest.fixture(scope="module")
def demo(demo_url: URL) -> Iterator[FlaskClient]:
    """The app on the demo; nothing is kept in it."""
    engine = make_engine(demo_url)
    yield create_app(Settings(log_level="error"), web_engine(engine)).test_client()
    engine.dispose()


@pytest.fixture(scope="module")
def desk_site(desk_url: URL) -> Iterator[str]:
    with served(desk_url) as address:
        yield address


def ruled(client: FlaskClient, text: str, **fields: Any) -> str:
    answer = client.post("/cases", data={"text": text, **fields})
    assert answer.status_code == 200, answer.text
    return answer.text


def kept(client: FlaskClient, text: str, **fields: Any) -> str:
    """The id under which a case of one question is kept."""
    answer = client.post("/cases", data={"text": text, "keep": "yes", **fields})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["Location"]).removeprefix("/rulings/")


# --- the desk ---


def test_a_pasted_case_is_ruled_on_with_map_verdict_and_every_rule(client: FlaskClient) -> None:
    page = ruled(client, PADDY)
    assert "22.80 does not see 22.75: blocked by 22.76; range 5" in page
    assert '<svg xmlns="http://www.w3.org/2000/svg"' in page
    assert 'href="/rules/css/7.1.1"' in page
    assert "seen through" in page
    assert "As expected: not visible." in page
    assert "1 of 1 as expected" in page


def test_an_expectation_that_does_not_hold_is_told(client: FlaskClient) -> None:
    page = ruled(client, PADDY + RANGE)
    assert "1 of 2 as expected" in page
    assert "Not as expected: range: expected 4, is 5." in page
    assert ">how far" in page


def test_nothing_is_kept_unless_one_says_so(client: FlaskClient, desk_engine: Engine) -> None:
    with desk_engine.connect() as connection:
        before = saved_rulings(connection, Wanted(), 1, 1)[0]
        ruled(client, PADDY.replace("paddy-line", "passing"))
        assert saved_rulings(connection, Wanted(), 1, 1)[0] == before


@pytest.mark.parametrize("name", sorted(set(examples()) - {"mistakes"}))
def test_an_example_is_ruled_on_as_it_expects(demo: FlaskClient, name: str) -> None:
    page = demo.get(f"/cases?example={name}")
    assert str(escape(examples()[name].text)) in page.text
    answer = ruled(demo, examples()[name].text)
    assert "Not as expected" not in answer


def test_a_case_begins_from_a_saved_position(demo: FlaskClient) -> None:
    assert 'href="/cases?position=lipata-landing"' in demo.get("/cases").text
    box = re.search(
        r'wrap="off">\n(.*)</textarea>', demo.get("/cases?position=lipata-landing").text, re.DOTALL
    )
    assert box is not None
    page = ruled(demo, unescape(box[1]))
    assert "is 5 hexes" in page
    assert "on the map pagasa-coast" in page
    assert demo.get("/cases?position=nowhere").status_code == 404


def test_what_stands_beside_a_question_is_told_with_it(client: FlaskClient) -> None:
    page = ruled(client, PADDY + RANGE + "    conditions: {time: night}\n    policy: {css-12: a}\n")
    assert page.count('<p class="quiet">with time night, css-12 a</p>') == 1


def test_the_example_of_mistakes_cannot_be_ruled_on(client: FlaskClient) -> None:
    answer = client.post("/cases", data={"text": examples()["mistakes"].text})
    assert answer.status_code == 422
    assert answer.text.count('<tr id="line-') == examples()["mistakes"].text.count("\n") + 1
    assert answer.text.count('class="wrong"') == 6


def test_an_unknown_example_is_not_found(client: FlaskClient) -> None:
    assert client.get("/cases?example=nothing").status_code == 404
    assert client.get("/cases?ruling=nothing").status_code == 404


def test_a_mistake_points_at_its_line_and_the_text_stays(client: FlaskClient) -> None:
    answer = client.post("/cases", data={"text": BROKEN.replace("\n", "\r\n")})
    assert answer.status_code == 422
    assert '<a href="#line-7" data-line="7">Line 7</a>' in answer.text
    assert '<tr id="line-7" class="wrong">' in answer.text
    assert "<code>rice_paddy</code>" in answer.text, "the nearest word"
    assert f'wrap="off">\n{escape(BROKEN)}</textarea>' in answer.text


def test_a_question_that_cannot_be_answered_points_at_its_line(client: FlaskClient) -> None:
    text = PADDY + "units: [{id: A/1/9, side: us}]\n"
    answer = client.post("/cases", data={"text": text.replace('from: "22.80"', "from: A/1/9")})
    assert answer.status_code == 422
    assert '<tr id="line-10" class="wrong">' in answer.text


def test_an_empty_desk_says_so(client: FlaskClient) -> None:
    answer = client.post("/cases", data={"text": "  "})
    assert answer.status_code == 422
    assert "the file is empty" in answer.text


def test_of_a_long_text_the_lines_around_the_mistakes_are_shown() -> None:
    text = "\n".join(str(number) for number in range(1, SHORT + 102))
    shown = shown_back(text, {10, 12, 150})
    assert [line.number for line in shown if line.wrong] == [10, 12, 150]
    numbers = [line.number for line in shown]
    assert numbers == [*range(10 - AROUND, 13 + AROUND), None, *range(150 - AROUND, 151 + AROUND)]
    assert all(line.text == str(line.number) for line in shown if line.number)
    assert len(shown_back("a\nb", set())) == 2


def test_a_file_is_ruled_on_in_place_of_the_box(client: FlaskClient) -> None:
    file = (io.BytesIO(PADDY.encode()), "dispute.yaml")
    page = ruled(client, "not a case", file=file)
    assert "blocked by 22.76" in page
    assert "title: Brush beyond a paddy" in page, "its text is in the box now"


def test_a_file_that_is_no_text_is_refused_by_its_line(client: FlaskClient) -> None:
    file = (io.BytesIO(PADDY.encode() + b"note: \xff\n"), "dispute.yaml")
    answer = client.post("/cases", data={"text": "", "file": file})
    assert answer.status_code == 422
    assert "not UTF-8" in answer.text
    assert '<tr id="line-12" class="wrong">' in answer.text


@pytest.mark.parametrize("field", ["text", "file"])
def test_a_case_that_is_too_large_is_refused_with_a_remedy(client: FlaskClient, field: str) -> None:
    large = "#" * (LARGEST + 1)
    content: Any = (io.BytesIO(large.encode()), "large.yaml") if field == "file" else large
    answer = client.post("/cases", data={field: content}, content_type="multipart/form-data")
    assert answer.status_code == 413
    assert "larger than 2 MiB" in answer.text
    assert "sightline rule" in answer.text


def test_a_case_of_more_than_half_a_megabyte_is_read(client: FlaskClient) -> None:
    assert "blocked by 22.76" in ruled(client, PADDY + "# far\n" * 100_000)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost"},
    ],
)
@pytest.mark.parametrize("address", ["/cases", f"/rulings/{'0' * 20}/again"])
def test_a_form_of_another_site_is_refused(
    client: FlaskClient, headers: dict[str, str], address: str
) -> None:
    answer = client.post(address, data={"text": PADDY, "keep": "yes"}, headers=headers)
    assert answer.status_code == 403
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/cases", data={"text": PADDY}, headers=own).status_code == 200


def test_another_reading_rules_anew_until_one_goes_back(client: FlaskClient) -> None:
    page = ruled(client, PADDY)
    assert 'form="desk" name="policy" value="css-12:a"' in page
    assert "another reading would change the answer" in page
    other = ruled(client, PADDY, policy="css-12:a")
    assert "22.80 sees 22.75; range 5" in other
    assert '<input type="hidden" name="policy" value="css-12:a">' in other
    last = ruled(client, PADDY, policy=["css-12:a", "css-12:b"])
    assert "blocked by 22.76" in last, "the last word counts"
    assert "blocked by 22.76" in ruled(client, PADDY, policy="css-12:a", fresh="yes")


def test_a_reading_chosen_at_the_desk_overrides_the_questions_own(client: FlaskClient) -> None:
    own = PADDY + "    policy: {css-12: b}\n"
    assert "22.80 sees 22.75; range 5" in ruled(client, own, policy="css-12:a")
    assert "22.80 sees 22.75; range 5" in ruled(client, own + "policy: {css-12: b}\n", policy="css-12:a")


def test_a_reading_of_another_game_does_not_matter_and_an_unknown_one_is_refused(client: FlaskClient) -> None:
    assert "blocked by 22.76" in ruled(client, PADDY, policy="ccp-34:b")
    answer = client.post("/cases", data={"text": PADDY, "policy": "css-12:z"})
    assert answer.status_code == 422
    assert "There is no reading" in answer.text


def test_a_kept_reading_is_part_of_the_case_that_is_kept(client: FlaskClient) -> None:
    id = kept(client, PADDY, policy="css-12:a")
    told = client.get(f"/api/v1/rulings/{id}").json
    assert told["answer"]["visible"] is True
    assert told["policy"]["css-12"] == "a"
    assert told["document"]["policy"] == {"css-12": "a"}
    assert id != kept(client, PADDY)


def test_several_rulings_are_kept_each_under_its_address(client: FlaskClient) -> None:
    page = client.post("/cases", data={"text": PADDY + RANGE, "keep": "yes"}).text
    ids = re.findall(r'kept as <a href="/rulings/([0-9a-f]{20})"', page)
    assert len(ids) == 2
    answers = client.post("/api/v1/rulings", data=PADDY + RANGE, content_type="application/yaml").json
    assert ids == [answer["ruling"] for answer in answers], "the desk and the API keep the same"


# --- a kept ruling ---


def test_the_page_of_a_ruling_carries_all_that_was_kept(client: FlaskClient) -> None:
    id = kept(client, PADDY + "    conditions: {weather: hot}\nconditions: {weather: rain, time: day}\n")
    told = client.get(f"/api/v1/rulings/{id}").json
    page = client.get(f"/rulings/{id}").text
    assert "time day, weather hot" in page
    assert "Brush beyond a paddy" in page
    assert "from 22.80 to 22.75" in page, "in the order of the question's arguments"
    assert "22.80 does not see 22.75: blocked by 22.76; range 5" in page
    assert "<svg" in page
    for step in told["steps"]:
        assert str(escape(step["note"])) in page
    for fact in (told["ruleset_version"], told["position_digest"], told["created_at"][:10]):
        assert fact in page
    assert f"http://localhost/rulings/{id}" in page
    assert f'href="/api/v1/rulings/{id}"' in page
    assert f'href="/rulings/{id}/again?policy=css-12:a"' in page
    assert "<details" not in page, "what is printed is not folded"


def test_a_ruling_that_is_not_there_is_not_found(client: FlaskClient) -> None:
    for address in ("0" * 20, "x", "%00", "0" * 20 + "/again"):
        assert client.get(f"/rulings/{address}").status_code == 404


def test_asked_again_the_answer_is_the_same(client: FlaskClient) -> None:
    id = kept(client, PADDY)
    page = client.get(f"/rulings/{id}/again").text
    assert "The answer is the same as in the kept ruling." in page
    assert "Keep this answer" not in page, "there is nothing new to keep"
    assert "those that ruled then" in page


def test_asked_again_in_another_reading_the_answer_is_another_and_can_be_kept(client: FlaskClient) -> None:
    id = kept(client, PADDY)
    page = client.get(f"/rulings/{id}/again?policy=css-12:a").text
    assert "which says: 22.80 does not see 22.75: blocked by 22.76; range 5." in page
    assert "22.80 sees 22.75; range 5" in page
    answer = client.post(f"/rulings/{id}/again", data={"policy": "css-12:a"})
    assert answer.status_code == 303
    other = client.get(answer.headers["Location"]).text
    assert "<code>css-12</code> as a" in other
    assert client.post(f"/rulings/{id}/again").headers["Location"] == f"/rulings/{id}", "kept once"


def test_asked_again_under_other_rules_the_difference_is_told(
    client: FlaskClient, desk_engine: Engine
) -> None:
    id = kept(client, PADDY)
    with desk_engine.begin() as connection:
        row = dict(connection.execute(sa.select(SavedRuling.__table__).filter_by(id=id)).mappings().one())
        row |= {"id": "e" * 20, "ruleset_version": "before", "answer": row["answer"] | {"visible": True}}
        connection.execute(sa.insert(SavedRuling).values(**row))
    page = client.get(f"/rulings/{'e' * 20}/again").text
    assert "which says: 22.80 sees 22.75; range 5." in page
    assert "have changed since" in page
    assert "(today’s is" in client.get(f"/rulings/{'e' * 20}").text


def test_a_ruling_on_a_map_that_changed_or_went_is_told_so(
    client: FlaskClient, desk_url: URL, tmp_path: Path
) -> None:
    sightline = CommandLine(desk_url)
    ground = "ruleset: css\nname: meadow\nextent: ['20.74', '24.81']\nhexes: {'22.78': %s}\n"
    (tmp_path / "meadow.yaml").write_text(ground % "brush", encoding="utf-8")
    assert sightline("import", "map", tmp_path / "meadow.yaml").status == 0
    id = kept(client, "case: meadow\nruleset: css\nmap: meadow\nask: [{los: {from: 22.80, to: 22.76}}]\n")
    assert "<svg" in client.get(f"/rulings/{id}").text
    (tmp_path / "meadow.yaml").write_text(ground % "tropical_forest", encoding="utf-8")
    assert sightline("import", "map", tmp_path / "meadow.yaml", "--replace").status == 0
    page = client.get(f"/rulings/{id}").text
    assert "The map meadow has changed since" in page
    assert "<svg" not in page
    again = client.get(f"/rulings/{id}/again").text
    assert "The map meadow has changed since." in again
    assert "The answer is another than in the kept ruling" in again
    assert sightline("maps", "delete", "meadow", "--yes").status == 0
    assert "cannot be drawn any more" in client.get(f"/rulings/{id}").text
    assert "Today the question cannot be ruled on" in client.get(f"/rulings/{id}/again").text


def test_a_ruling_opens_in_the_desk_and_is_kept_again_as_itself(client: FlaskClient) -> None:
    text = PADDY + "conditions: {time: day}\nmarkers: [{kind: dg, value: 2, at: 22.80}]\n"
    id = kept(client, text)
    box = re.search(r'wrap="off">\n(.*)</textarea>', client.get(f"/cases?ruling={id}").text, re.DOTALL)
    assert box is not None
    assert kept(client, unescape(box[1])) == id


def test_what_a_case_says_is_shown_as_text_only(client: FlaskClient) -> None:
    text = f"""\
case: "{EVIL}"
title: "{EVIL}</title><script>document.title='pwned'</script>"
ruleset: css
map: {{extent: ["20.74", "24.81"], hexes: {{"22.78": {{terrain: brush, name: "{EVIL}"}}}}}}
units: [{{id: "{EVIL}", side: us, kind: infantry, at: 22.80, formation: "{EVIL}"}}]
ask:
  - id: "{EVIL}"
    los: {{from: "{EVIL}", to: 22.76}}
"""
    id = kept(client, text)
    pages = [
        ruled(client, text),
        client.post("/cases", data={"text": text.replace("brush", EVIL.replace("'", ""))}).text,
        client.post("/cases", data={"text": "</textarea><script>1</script>"}).text,
        *(client.get(f"/rulings{rest}").text for rest in ("", f"/{id}", f"/{id}/again")),
        client.get(f"/cases?ruling={id}").text,
        client.get("/search", query_string={"q": EVIL}).text,
        client.get("/rulings", query_string={"text": EVIL, "rule": EVIL}).text,
    ]
    for page in pages:
        assert "<img src=x" not in page
        assert not re.search(r"<script(?! src=)", page)


# --- precedents ---


def test_every_case_of_the_suite_has_its_page() -> None:
    """The index and the files tell of the same cases."""
    files = {path.stem for path in suite.FOLDER.rglob("*.yaml") if path.name != "entries.yaml"}
    assert set(suite.cases()) == files
    assert all(case.path.is_file() for case in suite.cases().values())


def test_a_case_shows_what_it_asks_expects_and_is_ruled(client: FlaskClient) -> None:
    page = client.get("/cases/css-7.1-sameB").text
    assert "As expected" in page
    assert "<svg" in page
    assert 'href="/rules/css/7.1.1"' in page
    assert 'href="/cases?case=css-7.1-sameB"' in page
    assert "case: css-7.1-sameB" in client.get("/cases?case=css-7.1-sameB").text
    text = client.get("/cases/css-7.1-sameB.yaml")
    assert text.mimetype == "application/yaml"
    assert text.text.startswith("case: css-7.1-sameB")
    told = client.get("/api/v1/cases/css-7.1-sameB").json
    assert told["text"] == text.text
    assert "los" in told["kinds"]
    listed = client.get("/api/v1/cases?rule=8.7.2&ruleset=css&q=barrage").json
    assert "css-8.7.2-d" in [entry["case"] for entry in listed["cases"]]
    assert client.get("/api/v1/cases/x").status_code == 404
    missing = client.get("/cases/css-7.1-sameZZ")
    assert missing.status_code == 404
    assert "Did you mean" in missing.text


def test_a_rule_leads_to_its_cases(client: FlaskClient) -> None:
    page = client.get("/rules/css/7.1.1").text
    named = re.findall(r'<a href="/cases/([^"]+)"><code>', page)
    assert len(named) > 20
    assert {*named} <= {case.id for case in suite.citing("css", "7.1.1")}


def test_beside_a_ruling_stand_the_most_alike(client: FlaskClient) -> None:
    """A line over brush by another's; the paddy's own case is nearer than any of the suite."""
    earlier = kept(client, PADDY.replace("case: paddy-line", "case: paddy-earlier"))
    beside = client.get(f"/api/v1/rulings/{earlier}/precedents").json["precedents"]
    assert beside[0]["rules"] == ["7.1.1"]
    assert earlier not in [one["id"] for one in beside]
    later = PADDY.replace("22.75", "22.76").replace("case: paddy-line", "case: paddy-later")
    page = ruled(client, later.replace("{visible: false}", "{visible: true}"))
    [listed] = re.findall(r'<details class="precedents">(.*?)</details>', page, re.DOTALL)
    links = re.findall(r'href="([^"]+)"', listed)
    assert f"/rulings/{earlier}" in links
    assert any(link.startswith("/cases/css-") for link in links)
    assert "rice paddy" in listed
    assert "7.1.1" in listed


def test_likeness_knows_what_is_rare() -> None:
    """Who shares a rule that few cases have is more alike than who shares one that all have."""
    counts = collections.Counter(rule for case in suite.cases().values() for rule in case.features.rules)
    rules = [rule for rule in counts if suite.citing("css", rule)]
    common, rare = max(rules, key=lambda rule: len(suite.citing("css", rule))), "8.7.2"
    one = suite.Features(frozenset({common, rare}))
    assert suite.likeness("css", one, suite.Features(frozenset({rare}))) > suite.likeness(
        "css", one, suite.Features(frozenset({common}))
    )
    assert suite.likeness("css", one, suite.Features(frozenset({"1.0"}), terrain=frozenset({"clear"}))) == 0


# --- the list ---


@pytest.fixture(scope="module")
def archive(databases: Databases) -> URL:
    """A database with rulings of three days."""
    url = databases.make()
    engine = make_engine(url)
    client = create_app(Settings(log_level="error"), web_engine(engine)).test_client()
    [one] = client.post("/api/v1/rulings", data=PADDY, content_type="application/yaml").json
    with engine.begin() as connection:
        row = dict(connection.execute(sa.select(SavedRuling.__table__)).mappings().one())
        connection.execute(sa.text("set local sightline.rulings_may_change = 'yes'"))
        connection.execute(sa.delete(SavedRuling))
        for day, title in ((1, "first day"), (2, "second day"), (3, "third day")):
            noon = datetime.datetime(2024, 5, day, 23, 59, 59, tzinfo=datetime.UTC)
            connection.execute(
                sa.insert(SavedRuling).values(
                    **row | {"id": f"{day:020x}", "title": title, "created_at": noon}
                )
            )
        for number in range(22):
            connection.execute(
                sa.insert(SavedRuling).values(
                    **row
                    | {
                        "id": f"{number + 100:020x}",
                        "title": f"old {number}",
                        "kind": "range",
                        "steps": [],
                        "mood": "plain",
                    }
                    | {
                        "question": {"range": {"from": "22.80", "to": "22.75"}},
                        "answer": {"range": 5},
                        "contested": [],
                    }
                    | {"created_at": datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)}
                )
            )
    assert one["ruling"] == row["id"]
    engine.dispose()
    return url


FILTERS: list[tuple[dict[str, str], list[str]]] = [
    ({"since": "2024-05-02"}, ["third day", "second day"]),
    ({"since": "2024-05-02", "until": "2024-05-02"}, ["second day"]),
    ({"until": "2024-05-01", "kind": "los"}, ["first day"]),
    ({"rule": "7.1.1"}, ["third day", "second day", "first day"]),
    ({"ruleset": "css", "text": "Second day"}, ["second day"]),
    ({"ruleset": "ccp"}, []),
    ({"until": "9999-12-31", "since": "2024-05-03"}, ["third day"]),
    ({"until": "0001-01-01"}, []),
    ({"verdict": "no", "since": "2024-05-03"}, ["third day"]),
    ({"verdict": "open"}, []),
    ({"point": "css-12"}, ["third day", "second day", "first day"]),
]


@pytest.mark.parametrize(("wanted", "titles"), FILTERS)
def test_pages_api_and_command_line_filter_alike(
    archive: URL, wanted: dict[str, str], titles: list[str]
) -> None:
    engine = make_engine(archive)
    client = create_app(Settings(log_level="error"), web_engine(engine)).test_client()
    page = client.get("/rulings", query_string=wanted).text
    assert re.findall(r'class="title"[^>]*>([^<]*)<', page) == titles
    told = client.get("/api/v1/rulings", query_string=wanted).json
    assert [ruling["title"] for ruling in told["rulings"]] == titles
    options = [word for name, value in wanted.items() for word in (f"--{name}", value)]
    printed = CommandLine(archive)("rulings", "list", *options, "--json")
    assert printed.json == told
    engine.dispose()


def test_the_list_has_pages_that_keep_its_filter(archive: URL) -> None:
    engine = make_engine(archive)
    client = create_app(Settings(log_level="error"), web_engine(engine)).test_client()
    page = client.get("/rulings?kind=range").text
    assert "22 rulings found, page 1 of 2" in page
    [json] = re.findall(r'<link rel="alternate" type="application/json" href="([^"]*)"', page)
    assert client.get(unescape(json)).json["total"] == 22
    assert 'href="/rulings?kind=range&amp;page=2"' in page
    second = client.get("/rulings?kind=range&page=2").text
    assert second.count('class="title"') == 2
    for odd in ("0", "-1", "x", "99999999999999999999"):
        assert client.get(f"/rulings?page={odd}").status_code == 200
    assert client.get("/rulings?since=yesterday").status_code == 400
    facets = unescape(re.sub(r"\s+", " ", client.get("/rulings?verdict=no").text))
    assert '<a href="/rulings?kind=los&verdict=no">los <span class="quiet">3</span></a>' in facets.replace(
        "verdict=no&kind=los", "kind=los&verdict=no"
    )
    assert '<a href="/rulings" aria-current="true">no <span class="quiet">3</span></a>' in facets
    table = list(csv.DictReader(io.StringIO(client.get("/rulings/rulings.csv?kind=los").text)))
    assert [row["title"] for row in table] == ["third day", "second day", "first day"]
    assert {row["verdict"] for row in table} == {"22.80 does not see 22.75: blocked by 22.76; range 5"}
    assert table[0]["rules"].split()[0] == "7.1.1"
    assert client.get("/rulings", query_string={"text": "\0", "rule": "\0"}).status_code == 200
    engine.dispose()


def test_two_rulings_that_differ_look_different(client: FlaskClient) -> None:
    """By the question's id, and by what held when it was asked."""
    text = PADDY.replace("Brush beyond a paddy", "Two of a kind").replace("rice_paddy", "brush")
    asked = ("id: by day", "id: by night\n    conditions: {time: night}")
    for told in asked:
        kept(client, text.replace("    expect: {visible: false}", f"    {told}"))
    page = client.get("/rulings", query_string={"text": "Two of a kind"}).text
    night, day = (" ".join(line.split()) for line in re.findall(r"<li>(.*?)</li>", page, re.DOTALL))
    assert "by day: Line of sight" in day
    assert "by night: Line of sight" in night
    assert "(time night)" in night
    assert "time" not in day.split("<time")[0]


def test_the_command_line_shows_a_ruling_and_asks_it_again(archive: URL) -> None:
    sightline = CommandLine(archive)
    listed = sightline("rulings", "list", "--kind", "los", "--per-page", "1")
    assert listed.lines[0].split("\t")[3:] == [
        "third day", "los from 22.80, to 22.75", "22.80 does not see 22.75: blocked by 22.76; range 5",
    ]  # fmt: skip
    shown = sightline("rulings", "show", f"{3:020x}", "--again")
    assert shown.status == 0
    assert shown.out.count("22.80 does not see 22.75: blocked by 22.76; range 5") == 2
    assert sightline("rulings", "show", f"{3:020x}", "--json").json["title"] == "third day"
    missing = sightline("rulings", "show", "nothing")
    assert (missing.status, "sightline rulings list" in missing.err) == (2, True)
    wrong = sightline("rulings", "show", f"{100:020x}", "--again")
    assert wrong.status == 1, "what is asked now is another question than what the list says was answered"


# --- home and search ---


def test_home_shows_three_live_examples_that_open_on_the_map(demo: FlaskClient) -> None:
    page = demo.get("/").text
    assert "A/1/31 does not see 14.12: blocked by 14.14 and 13.13; range 4" in page
    assert len(re.findall(r'class="board [^"]*" role="img"', page)) == 3
    assert "8.7.2" in page
    links = re.findall(r'href="(/positions/[^"]*)"', page)
    assert len(set(links)) == 3
    for link in set(links):
        opened = demo.get(link.replace("&amp;", "&"))
        assert opened.status_code == 200
        assert "verdict" in opened.text


def test_without_the_demo_home_says_how_to_get_it(client: FlaskClient) -> None:
    page = client.get("/").text
    assert "sightline demo load" in page
    assert "What do the rules say?" in page


@pytest.mark.parametrize(
    ("words", "link"),
    [
        ("lipata", "/positions/lipata-landing"),
        ("pagasa coast", "/maps/pagasa-coast"),
        ("css 7.1.2", "/rules/css/7.1.2"),
        ("can I fire out of a barrage", "/rules/css/8.7.2"),
    ],
)
def test_one_search_finds_rules_maps_and_positions(demo: FlaskClient, words: str, link: str) -> None:
    assert f'href="{link}"' in demo.get("/search", query_string={"q": words}).text


@pytest.mark.parametrize(
    ("words", "heading", "link"),
    [
        ("13.15", "Hexes", "/maps/pagasa-coast?look=13.15"),
        ("A/1/31", "Units", "/positions/lipata-landing?look=13.15"),
        ("lipata field", "Places", "/maps/pagasa-coast?look=14.13"),
        ("css-7.1-sameB", "Cases", "/cases/css-7.1-sameB"),
        ("rally", "Cases", "/cases/css-10.1-a"),
        ("guam 1944", "Campaigns", "/campaigns/guam-1944"),
        ("skaggs wounded", "Entries of campaigns", "/campaigns/guam-1944/entries/skaggs-wounded"),
        ("48imb", "Forces", "/campaigns/guam-1944/forces/48imb"),
    ],
)
def test_one_search_finds_things_by_their_names(
    demo: FlaskClient, words: str, heading: str, link: str
) -> None:
    page = demo.get("/search", query_string={"q": words}).text
    assert re.search(rf">{heading} <span class=\"quiet\">[1-9]", page)
    assert f'href="{link}"' in page


def test_one_search_says_how_many_rules_there_are(demo: FlaskClient) -> None:
    page = demo.get("/search?q=tank").text
    told = re.search(r"The best 8 of (\d+) rules for “tank”", page)
    assert told is not None
    assert int(told[1]) > 50
    assert "1 rule for “css 7.1.2”" in demo.get("/search?q=css+7.1.2").text


def test_a_hex_comes_first_on_the_map_that_is_named_with_it(demo: FlaskClient) -> None:
    page = demo.get("/search?q=13.15+pagasa").text
    assert page.index("/maps/pagasa-coast?look=13.15") < page.index("/maps/campaign-island?look=13.15")


def test_home_counts_what_is_listed(demo: FlaskClient) -> None:
    page = demo.get("/").text
    row = re.search(r"<tr>(?:(?!</tr>).)*<code>bob</code>.*?</tr>", page, re.DOTALL)
    assert row is not None
    numbers = re.findall(r'class="number">([\d,]+)<', row[0])
    assert numbers[-3:-1] == ["168", "1"], "hexes, and the one position that has a name"


def test_one_search_finds_kept_rulings(client: FlaskClient) -> None:
    id = kept(client, PADDY.replace("Brush beyond a paddy", "The Quarrel of Rota").replace("22.76", "22.77"))
    assert f'href="/rulings/{id}"' in client.get("/search?q=quarrel+of").text
    nothing = client.get("/search", query_string={"q": "zzzz\0zzzz"})
    assert nothing.status_code == 200
    assert "Nothing answers to" in nothing.text
    assert client.get("/search").status_code == 200


# --- in a browser ---


@pytest.fixture
def desk(browser: Browser, desk_site: str) -> Iterator[Page]:
    """The desk; a page that fails the test if a script goes wrong or the policy is broken."""
    context = browser.new_context(base_url=desk_site)
    context.set_default_timeout(15_000)
    page = context.new_page()
    wrong: list[str] = []
    # a case that is refused is answered with 422, which the browser notes as an error, too
    page.on(
        "console",
        lambda message: (
            wrong.append(message.text) if message.type == "error" and "422" not in message.text else None
        ),
    )
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto("/cases")
    yield page
    context.close()
    assert wrong == []


def test_a_broken_case_shows_its_line_and_is_mended_in_the_box(desk: Page) -> None:
    box = desk.get_by_label("The case, in YAML or JSON")
    box.fill(BROKEN)
    desk.get_by_role("button", name="Rule on it").click()
    expect(desk.get_by_role("alert")).to_contain_text("rice_padi")
    desk.get_by_role("link", name="Line 7").click()
    expect(desk.locator("#line-7")).to_be_in_viewport()
    expect(desk.locator("#line-7")).to_contain_text('"22.78": rice_padi')
    selected = box.evaluate("box => box.value.slice(box.selectionStart, box.selectionEnd)")
    assert selected.strip() == '"22.78": rice_padi'
    assert serious_findings(desk) == []
    keep_picture(desk, "desk-mistakes")
    mark = desk.locator(".gutter .wrong")
    expect(mark).to_have_text("7")
    assert "rice_padi" in (mark.get_attribute("title") or "")
    expect(desk.locator(".words details[data-game=css]")).to_have_attribute("open", "")
    box.fill(BROKEN.replace("rice_padi", ""))
    expect(mark).to_have_count(0)
    place = BROKEN.index("rice_padi")
    box.evaluate("(box, at) => box.setSelectionRange(at, at)", place)
    desk.locator("[data-game=css] [data-word=rice_paddy]").click()
    expect(box).to_have_value(PADDY)
    box.fill(PADDY)
    box.press("Control+Enter")
    expect(desk.locator(".verdict")).to_have_text("22.80 does not see 22.75: blocked by 22.76; range 5")
    assert serious_findings(desk) == []


def test_a_chosen_file_goes_into_the_box_and_a_switch_rules_anew(desk: Page, tmp_path: Path) -> None:
    file = tmp_path / "dispute.yaml"
    file.write_text(PADDY, encoding="utf-8")
    desk.get_by_label("or a file").set_input_files(file)
    expect(desk.get_by_label("The case, in YAML or JSON")).to_have_value(PADDY)
    desk.get_by_role("button", name="Rule on it").click()
    expect(desk.locator(".verdict")).to_contain_text("does not see")
    desk.get_by_role("button", name="Never blocks").click()
    expect(desk.locator(".verdict")).to_contain_text("22.80 sees 22.75")
    keep_picture(desk, "desk-ruled")
    desk.get_by_role("button", name="Back to the case’s own readings").click()
    expect(desk.locator(".verdict")).to_contain_text("does not see")


def test_a_ruling_is_kept_printed_and_asked_again(desk: Page) -> None:
    desk.get_by_label("The case, in YAML or JSON").fill(PADDY)
    desk.get_by_role("button", name="Rule and keep").click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Brush beyond a paddy")
    cited = desk.get_by_role("link", name="7.1.1 c").first
    cited.focus()
    expect(desk.get_by_role("tooltip").first).to_be_visible()
    assert serious_findings(desk) == []
    keep_picture(desk, "ruling")
    desk.emulate_media(media="print")
    for hidden in (".bar", ".foot", ".actions", ".crumbs"):
        expect(desk.locator(hidden)).to_be_hidden()
    for shown in (".board svg", ".verdict", ".record", ".cited-rules"):
        expect(desk.locator(shown).first).to_be_visible()
    keep_picture(desk, "ruling-print")
    printed = desk.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert printed.count(b"/Type /Page\n") == 1, "a short ruling fits on a leaf"
    desk.emulate_media(media="screen")
    desk.get_by_role("link", name="Ask again today").click()
    expect(desk.locator(".comparison")).to_contain_text("The answer is the same")
    desk.get_by_role("link", name="Never blocks").click()
    expect(desk.locator(".comparison")).to_contain_text("The answer is another")
    assert serious_findings(desk) == []


def test_the_desk_works_without_a_script(browser: Browser, desk_site: str) -> None:
    context = browser.new_context(base_url=desk_site, java_script_enabled=False)
    page = context.new_page()
    page.goto("/cases?example=paddy")
    page.get_by_role("button", name="Rule on it").click()
    expect(page.locator(".verdict")).to_contain_text("does not see")
    page.get_by_role("button", name="Never blocks").click()
    expect(page.locator(".verdict")).to_contain_text("22.80 sees 22.75")
    page.get_by_role("button", name="Rule and keep").click()
    expect(page.locator(".record")).to_contain_text("css-12 as a")
    page.goto("/cases?example=mistakes")
    page.get_by_role("button", name="Rule on it").click()
    page.get_by_role("link", name="Line 12").click()
    assert page.url.endswith("#line-12")
    context.close()


def test_a_phone_in_the_dark_reads_every_page_without_sideways_scrolling(
    browser: Browser, desk_site: str
) -> None:
    context = browser.new_context(base_url=desk_site, viewport=PHONE, color_scheme="dark")
    page = context.new_page()

    def fits() -> bool:
        page.wait_for_load_state("load")  # with its style
        return bool(page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"])

    for example, told in (("mistakes", ".problems"), ("jungle", ".verdict")):
        page.goto(f"/cases?example={example}")
        page.get_by_role("button", name="Rule on it").click()
        expect(page.locator(told).first).to_be_visible()
        assert fits(), example
    assert serious_findings(page) == []
    keep_picture(page, "desk-phone-dark")
    page.goto("/cases?example=paddy")
    page.get_by_role("button", name="Rule and keep").click()
    expect(page.locator(".record")).to_be_visible()
    assert fits()
    assert serious_findings(page) == []
    for address in ("/rulings", "/search?q=barrage", "/"):
        page.goto(address)
        assert fits(), address
    context.close()
