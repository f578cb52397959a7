"""The pages of campaigns: slider, chronicle, entries with citations and versions, accounts compared, forms, in a browser too."""

from __future__ import annotations

import datetime
import html
import io
import itertools
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect
from sqlalchemy.engine import URL, Engine

from app.referee.moments import moment_position, save_moment
from app.web.site import create_app
from db.database import make_engine
from db.settings import Settings
from importers.archive.campaigns import import_campaign
from importers.maps import import_map
from tests.browsing import PHONE, keep_picture, serious_findings, served
from tests.conftest import ROOT, Databases, web_engine

GUAM = "/campaigns/guam-1944"
PAGES = [
    "/campaigns",
    GUAM,
    f"{GUAM}?hour=110&window=6&force=japan",
    f"{GUAM}/chronicle",
    f"{GUAM}/entries/banzai",
    f"{GUAM}/differences?one=css&other=fpb",
    f"{GUAM}/record",
    f"{GUAM}/record?key=banzai",
    f"{GUAM}/record/stance?force=3mar",
    f"{GUAM}/record/force?key=22mar",
    f"{GUAM}/record/account",
    f"{GUAM}/forces",
    f"{GUAM}/forces/F/2/9",
    f"{GUAM}/accounts",
    f"{GUAM}/accounts/css",
    f"{GUAM}/stances/22mar@house@1944-07-21T00:00",
    f"{GUAM}/history",
    f"{GUAM}/game",
]


@pytest.fixture(scope="module")
def guam_url(databases: Databases) -> URL:
    """A database with the campaign of Guam, which these tests may write to."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        import_map(connection, ROOT / "db" / "rulesets" / "fpb" / "maps" / "guam.yaml")
        import_campaign(connection, ROOT / "db" / "demo" / "campaigns" / "guam-1944.yaml", who="demo")
    engine.dispose()
    return url


@pytest.fixture(scope="module")
def own(guam_url: URL) -> Iterator[Engine]:
    engine = make_engine(guam_url)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def client(own: Engine) -> Iterator[FlaskClient]:
    with create_app(Settings(log_level="error"), web_engine(own)).test_client() as client:
        yield client


def text(client: FlaskClient, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.get_data(as_text=True)
    return answer.get_data(as_text=True)


FORM = {"title": "A patrol goes out", "when": "1944-07-23T05:00", "at": "144.70, 13.45", "account": "css", "forces": "3mar", "text": "By night."}  # fmt: skip


# Looking


def test_a_moment_shows_what_falls_into_it_and_nothing_else(client: FlaskClient) -> None:
    charge = text(client, f"{GUAM}?hour=110")
    assert "Company F goes up Fonte Hill" in charge
    assert "Skaggs takes over" not in charge
    assert "Witek" not in charge
    assert "As it was known" not in charge


def test_a_filter_holds(client: FlaskClient) -> None:
    found = text(client, f"{GUAM}?hour=110&kind=loss")
    assert "The charge has failed" in found
    assert "Company F goes up" not in found
    by_force = text(client, f"{GUAM}/chronicle?force=witek")
    assert by_force.count('<li><span class="when">') == 4


@pytest.mark.parametrize("asked", ["hour=soon", "hour=-1", "hour=9999", "hour=1.5", "window=0", "window=day"])
def test_an_hour_that_the_campaign_does_not_have_is_refused(client: FlaskClient, asked: str) -> None:
    name, _, value = asked.partition("=")
    for address in (GUAM, f"{GUAM}/chronicle", f"{GUAM}/forces"):
        assert f"{name} = &#39;{value}&#39; is not here." in text(client, f"{address}?{asked}", 400)
    assert "0 to 504" in text(client, f"{GUAM}?hour=505", 400)
    assert "1944-08-11 00:00 to 1944-08-12 00:00" in text(client, f"{GUAM}?hour=504&window=")


def test_a_part_is_the_moment_alone(client: FlaskClient) -> None:
    part = text(client, f"{GUAM}?hour=110&part=moment")
    assert part.startswith('<p class="time"')
    assert "<html" not in part
    assert part.replace("\n", "") in text(client, f"{GUAM}?hour=110").replace("\n", "")


def test_an_entry_shows_the_other_account_of_its_event(client: FlaskClient) -> None:
    page = text(client, f"{GUAM}/entries/secure")
    assert "Other accounts of the same event" in page
    assert "The campaign of Guam ends" in page


def test_what_lies_outside_the_time_of_the_campaign_says_so(client: FlaskClient) -> None:
    assert "outside the time of the campaign" in text(client, f"{GUAM}/entries/wilson-commandant")
    assert "outside the time of the campaign" not in text(client, f"{GUAM}/entries/banzai")


def test_differences_are_told_in_hours_and_kilometres(client: FlaskClient) -> None:
    page = text(client, f"{GUAM}/differences?one=css&other=fpb")
    row = re.search(r"end-of-the-campaign.*?</tr>", page, re.DOTALL)
    assert row is not None
    assert ">24.0<" in row[0], "a day lies between the 8th and the 10th"
    assert "event: time" in row[0]
    assert ">1944-08-10<" in row[0], "a day is told as a day"
    assert page.count('class="entry first"') >= 1, "and on the map, each in its colour"
    assert page.count('class="entry second"') >= 1
    assert "no account" in text(client, f"{GUAM}/differences?one=css&other=nobody", 400)


def test_the_page_of_differences_opens_with_two_accounts_that_differ(client: FlaskClient) -> None:
    page = text(client, f"{GUAM}/differences")
    assert "Hours apart" in page
    offered = re.findall(r'href="[^"]*differences\?one=([\w-]+)&amp;other=([\w-]+)', page)
    assert ("css", "fpb") in offered, "every pair that differs is named"
    assert ("bob", "ccp") not in offered
    assert "Choose two" in text(client, f"{GUAM}/differences?one=css&other=css")
    known = text(client, f"{GUAM}/differences?one=css&other=fpb&known=2099-01-01")
    assert 'name="known" value="2099-01-01"' in known, "what is known goes along"


def test_without_a_game_there_is_nothing_to_choose(client: FlaskClient) -> None:
    page = text(client, f"{GUAM}/game")
    assert "No game is played here yet" in page
    assert 'name="game"' not in page


def test_citations_are_sound(client: FlaskClient) -> None:
    bib = text(client, f"{GUAM}/entries/wilson-patrol/cite.bib")
    assert bib.startswith("@misc{guam-1944-wilson-patrol,")
    assert bib.count("{") == bib.count("}")
    [item] = json.loads(text(client, f"{GUAM}/entries/wilson-patrol/cite.json"))
    assert item["locator"] == "14.1 c, line 2081"
    assert item["type"] == "report"
    assert item["URL"].endswith(f"{GUAM}/entries/wilson-patrol")
    assert "14.1 c, line 2081" in text(client, f"{GUAM}/entries/wilson-patrol/cite.txt")
    assert client.get(f"{GUAM}/entries/wilson-patrol/cite.doc").status_code == 400


@pytest.mark.parametrize(
    "address", [f"{GUAM}/entries/nothing", "/campaigns/nowhere", "/campaigns/nowhere/chronicle"]
)
def test_what_is_not_there_is_a_404(client: FlaskClient, address: str) -> None:
    text(client, address, 404)


# Recording


def test_a_form_records_and_corrects_and_keeps_what_was(client: FlaskClient) -> None:
    made = client.post(f"{GUAM}/record", data=FORM | {"who": "Ann"})
    assert made.status_code == 303, made.get_data(as_text=True)
    address = made.headers["Location"]
    assert "By night." in text(client, address)
    key = address.rpartition("/")[2]
    before = datetime.datetime.now(datetime.UTC).isoformat()
    again = client.post(
        f"{GUAM}/record", data=FORM | {"key": key, "text": "By day.", "who": "Ben", "why": "a second log"}
    )
    assert again.status_code == 303
    page = text(client, address)
    assert "By day." in page
    assert "a second log" in page
    assert "by Ann" in page
    assert "By night." in text(client, f"{address}?known={before.replace('+', '%2B')}")
    gone = client.post(f"{GUAM}/remove", data={"kind": "entry", "key": key, "who": "Cal"})
    assert gone.status_code == 303
    text(client, address, 404)
    assert "By day." not in text(client, f"{GUAM}?hour=53")


def test_a_form_with_mistakes_tells_them_beside_the_fields(client: FlaskClient) -> None:
    answer = client.post(f"{GUAM}/record", data=FORM | {"when": "soon", "forces": "3mra", "at": "9999"})
    page = answer.get_data(as_text=True)
    assert answer.status_code == 422
    assert "is no time" in page
    assert "did you mean 3mar" in page
    assert "unknown hex" in page
    assert "<li>forces/1: unknown force" in page
    assert re.search(r'name="when"[^>]*aria-invalid="true"', page)
    assert 'value="A patrol goes out"' in page, "what was filled in stays"


def test_numbers_that_the_form_does_not_show_stay(client: FlaskClient, own: Engine) -> None:
    form = {
        "key": "wilson-patrol",
        "title": "A patrol of seventeen",
        "when": "about 1944-07-26T08",
        "account": "moh",
        "forces": "F/2/9 wilson",
    }
    assert client.post(f"{GUAM}/record", data=form).status_code == 303
    with own.connect() as connection:
        involved = connection.scalar(
            sa.text("select involved from entry where key = 'wilson-patrol' and upper_inf(known)")
        )
    assert involved[0]["losses"] == [13, 13]


def test_strength_and_losses_are_recorded_and_corrected_by_the_form(client: FlaskClient, own: Engine) -> None:
    address = client.post(
        f"{GUAM}/record",
        data=FORM
        | {
            "forces": "3mar 22mar",
            "involved_force": ["3mar", "21mar", ""],
            "involved_role": ["attacks", "", ""],
            "involved_strength": ["2800-3200", "", ""],
            "involved_losses": ["40", "12", ""],
        },
    ).location
    key = address.rsplit("/", 1)[-1]
    query = sa.text("select involved from entry where key = :key and upper_inf(known)")
    with own.connect() as connection:
        involved = connection.scalar(query, {"key": key})
    assert [one["force"] for one in involved] == ["3mar", "22mar", "21mar"]
    assert involved[0]["strength"] == [2800, 3200]
    assert involved[0]["role"] == "attacks"
    assert [one.get("losses") for one in involved] == [[40, 40], None, [12, 12]]
    page = text(client, f"{GUAM}/record?key={key}")
    assert re.search(r'name="involved_strength" value="2800-3200"', page), "what is there is shown"
    seen = re.search(r'name="seen" value="([^"]*)"', page)
    assert seen is not None
    corrected = FORM | {
        "key": key,
        "seen": seen[1],
        "forces": "3mar",
        "involved_force": ["3mar"],
        "involved_role": ["attacks"],
        "involved_strength": [""],
        "involved_losses": ["41"],
    }
    assert client.post(f"{GUAM}/record", data=corrected).status_code == 303
    with own.connect() as connection:
        [one] = connection.scalar(query, {"key": key})
    assert one["losses"] == [41, 41]
    assert one.get("strength") is None, "what was taken out of the form is gone"
    wrong = client.post(
        f"{GUAM}/record", data=FORM | {"involved_force": ["3mar"], "involved_losses": ["many"]}
    )
    assert wrong.status_code == 422
    assert "losses" in wrong.text
    assert 'value="many"' in wrong.text, "what was filled in stays"


def test_a_form_of_another_site_is_refused(client: FlaskClient) -> None:
    answer = client.post(f"{GUAM}/record", data=FORM, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert (
        client.post(
            f"{GUAM}/remove", data={"kind": "entry", "key": "banzai"}, headers={"Origin": "https://elsewhere"}
        ).status_code
        == 403
    )


def posted(client: FlaskClient, kind: str, /, **fields: str) -> str:
    """The page that a form leads to."""
    answer = client.post(f"{GUAM}/record/{kind}", data=fields)
    assert answer.status_code == 303, answer.get_data(as_text=True)
    return str(answer.headers["Location"])


def seen(client: FlaskClient, kind: str, key: str) -> dict[str, str]:
    """What a form for a correction sends along unseen."""
    page = text(client, f"{GUAM}/record/{kind}?key={key}")
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    return {name: html.unescape(value) for name, value in hidden}


def test_a_source_a_force_and_where_it_stood_are_recorded_by_forms(client: FlaskClient) -> None:
    source = posted(
        client,
        "account",
        title="A diary, found later",
        author="A. Nakamura",
        year="1951",
        kind="diary",
        reliability="fair",
        who="Ann",
    )
    assert source == f"{GUAM}/accounts/a-diary-found-later", "its key is made of its title"
    assert "diary" in text(client, source)
    force = {"key": "9/x", "name": "9th Company", "side": "japan", "kind": "company"}
    under = {
        "under_force": "18inf",
        "under_account": "a-diary-found-later",
        "under_page": "3",
        "under_when": "1944-07-21/1944-07-23",
    }
    assert posted(client, "force", **force, **under, who="Ann") == f"{GUAM}/forces/9/x"
    page = text(client, f"{GUAM}/forces/9/x")
    assert "18th Infantry Regiment" in page
    assert "1944-07-21/1944-07-23" in page
    stance = {
        "force": "9/x",
        "when": "1944-07-22",
        "at": "1806",
        "uncertainty": "1600",
        "state": "in line",
        "strength": "80-120",
        "account": "a-diary-found-later",
    }
    stood = posted(client, "stance", **stance, who="Ben")
    page = text(client, stood)
    assert "80–120" in page
    assert "within 1,600 m" in page
    assert "9th Company" in text(client, f"{GUAM}?hour=30"), "and on the map of its day"
    again = client.post(f"{GUAM}/record/stance", data=stance | {"at": "1907"})
    assert again.status_code == 422, "the same force, source and beginning once more is no correction"
    assert "already" in again.get_data(as_text=True)
    twice = client.post(
        f"{GUAM}/record/stance", data=stance | {"when": "1944-07-22T06:00/1944-07-23", "at": "1907"}
    )
    assert "in two places at one time" in twice.get_data(as_text=True)


def test_a_correction_of_a_force_keeps_its_versions_and_brings_its_superiors_in_line(
    client: FlaskClient,
) -> None:
    posted(
        client,
        "force",
        key="cor",
        name="Corrected",
        side="us",
        under_force="us",
        under_account="css",
        under_page="",
        under_when="",
        who="Ann",
    )
    hidden = seen(client, "force", "cor")
    fields = {
        "name": "Corrected at last",
        "side": "us",
        "under_force": "1pmb",
        "under_account": "css",
        "under_page": "",
        "under_when": "1944-07-25/",
    }
    posted(client, "force", **hidden, **fields, who="Ben", why="the roster has it so")
    page = text(client, f"{GUAM}/forces/cor")
    assert "<del>Corrected</del> <ins>Corrected at last</ins>" in page
    assert "by Ben: the roster has it so" in page
    under = page.partition("Under whom it stood</h2>")[2].partition("Where it stood</h2>")[0]
    assert "1st Provisional Marine Brigade" in under
    assert "American landing force" not in under, "what the form has no more is taken away"
    stale = client.post(f"{GUAM}/record/force", data=hidden | fields | {"name": "Too late"})
    assert stale.status_code == 422
    assert "Somebody has changed it" in stale.get_data(as_text=True)
    told = text(client, f"{GUAM}/history")
    rows = re.findall(r"<tr><td><time.*?</tr>", told, re.DOTALL)
    mine = [re.sub(r"<[^>]+>", " ", row) for row in rows if "Corrected at last" in row or "cor under" in row]
    assert any(
        "corrected force" in row and "name" in row and "Ben" in row and "roster" in row for row in mine
    )
    assert any("taken away subordination" in row for row in mine)


def test_what_was_taken_away_is_seen_and_brought_back(client: FlaskClient) -> None:
    address = posted(client, "account", key="rumours", title="Rumours", who="Ann")
    gone = client.post(f"{GUAM}/remove", data={"kind": "account", "key": "rumours", "who": "Ben"})
    assert gone.headers["Location"] == f"{GUAM}/history"
    text(client, address, 404)
    row = re.search(r'taken away account <a href="([^"]+)">Rumours', text(client, f"{GUAM}/history"))
    assert row is not None
    was = text(client, html.unescape(row[1]))
    assert "Ben took it away" in was
    again = re.search(r'href="([^"]+)">bring it back', was)
    assert again is not None
    form = text(client, html.unescape(again[1]))
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form))
    assert posted(client, "account", **hidden, title="Rumours, after all", who="Ann") == address
    assert "Rumours, after all" in text(client, address)
    assert "still named by" in client.post(f"{GUAM}/remove", data={"kind": "account", "key": "css"}).get_data(
        as_text=True
    )


def test_mistakes_of_a_force_are_told_by_their_fields(client: FlaskClient) -> None:
    fields = {
        "key": "F/9/9",
        "name": "Somebody",
        "side": "US!",
        "counters": "{fpb: {id: ",
        "under_force": "3mra",
        "under_account": "",
        "under_page": "",
        "under_when": "soon",
    }
    page = client.post(f"{GUAM}/record/force", data=fields | {"counters": ""}).get_data(as_text=True)
    assert "<li>side: " in page
    assert re.search(r'name="side"[^>]*aria-invalid="true"', page)
    assert "under" in page
    assert client.post(f"{GUAM}/record/force", data=fields).status_code == 422
    assert "There is no form" in text(client, f"{GUAM}/record/rumour", 404)


def test_who_writes_is_remembered_for_the_next_form(client: FlaskClient) -> None:
    posted(client, "account", key="diary-2", title="Another diary", who="Ann Archivist")
    assert 'name="who" value="Ann Archivist"' in text(client, f"{GUAM}/record/stance")


# Handing over


@pytest.mark.parametrize(
    ("form", "file", "begins"),
    [
        ("gpkg", "guam-1944.gpkg", b"SQLite format 3"),
        ("qgis", "guam-1944.zip", b"PK"),
        ("csv", "guam-1944.zip", b"PK"),
        ("geojson", "guam-1944.geojson", b"{"),
        ("json", "guam-1944.json", b"{"),
        ("yaml", "guam-1944.yaml", b'name: "guam-1944"'),
    ],
)
def test_a_campaign_is_handed_over_from_its_page(
    client: FlaskClient, form: str, file: str, begins: bytes
) -> None:
    assert f'href="{GUAM}/download/{form}"' in text(client, GUAM)
    answer = client.get(f"{GUAM}/download/{form}")
    assert answer.status_code == 200, answer.get_data(as_text=True)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{file}"'
    assert answer.get_data().startswith(begins)


def test_the_project_for_qgis_comes_with_its_data(client: FlaskClient) -> None:
    with zipfile.ZipFile(io.BytesIO(client.get(f"{GUAM}/download/qgis").get_data())) as archive:
        assert set(archive.namelist()) == {"guam-1944.qgs", "guam-1944.gpkg"}
        assert b"guam-1944.gpkg" in archive.read("guam-1944.qgs")
    assert "There is no file of the form" in text(client, f"{GUAM}/download/doc", 404)


# Asking


def test_any_moment_becomes_a_position_that_can_be_asked(client: FlaskClient) -> None:
    made = client.post(f"{GUAM}/position", data={"hour": "12"})
    assert made.status_code == 303, made.get_data(as_text=True)
    assert made.headers["Location"] == "/positions/guam-1944-19440721-1200"
    page = text(client, "/positions/guam-1944-19440721-1200?tool=range&from=3&to=guam%2F18")
    assert "amphibious" in page


def test_the_beach_is_asked_of_a_map_of_another_game(own: Engine) -> None:
    """Sight from where the regiment stood, on ground of css that was placed on the island."""
    with own.connect() as connection:
        outer = connection.begin()
        import_map(connection, ROOT / "db" / "rulesets" / "css" / "maps" / "red-1.yaml")
        connection.execute(
            sa.text(
                "update map set srid = 32655, affine = array[170.0, 0, 0, -296, 247500, 1496000] where name = 'red-1-house'"
            )
        )
        stood = connection.execute(
            sa.text(
                "select label, st_x(p), st_y(p) from hex, st_transform(gis.world(map_id, center), 4326) as p"
                " where map_id = (select id from map where name = 'red-1-house') and label = '23.62'"
            )
        ).one()
        connection.execute(
            sa.text(
                "update stance set hex = null, geom = st_setsrid(st_point(:x, :y), 4326) where force = '3mar' and upper_inf(known)"
            ),
            {"x": stood[1], "y": stood[2]},
        )
        found = moment_position(
            connection,
            "guam-1944",
            datetime.datetime.fromisoformat("1944-07-21T12:00+10:00"),
            map="red-1-house",
        )
        assert [(unit["id"], unit["at"]) for unit in found.tree["units"]] == [("3RCT", "23.62")]
        name = save_moment(connection, found, "red-beach")
        verdict = connection.execute(
            sa.text(
                "select * from css.los((select id from position where name = :name), 'unit:3RCT', 'hex:23.59')"
            ),
            {"name": name},
        ).all()
        assert verdict, "sight is told with its rules"
        outer.rollback()


# In a browser


@pytest.fixture(scope="module")
def guam_site(guam_url: URL) -> Iterator[str]:
    with served(guam_url) as address:
        yield address


@pytest.fixture
def visitor(browser: Browser, guam_site: str) -> Iterator[Page]:
    context = browser.new_context(base_url=guam_site)
    context.set_default_timeout(15_000)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    yield page
    context.close()
    assert wrong == []


@pytest.mark.parametrize("address", PAGES)
def test_a_page_keeps_nobody_out_and_fits_a_phone(visitor: Page, address: str) -> None:
    answer = visitor.goto(address)
    assert answer is not None
    assert answer.status == 200
    assert serious_findings(visitor) == []
    visitor.set_viewport_size(PHONE)
    assert visitor.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_the_slider_moves_through_the_campaign(visitor: Page) -> None:
    visitor.goto(GUAM)
    slider = visitor.get_by_label("Time")
    slider.focus()
    visitor.keyboard.press("End")
    expect(visitor.locator("#moment")).to_contain_text("1944-08-11")
    visitor.keyboard.press("Home")
    expect(visitor.locator("#moment")).to_contain_text("W-Day: the landing on the northern beaches")
    visitor.get_by_role("link", name="Later").click()
    expect(visitor.locator("#moment .time")).to_contain_text("1944-07-22 00:00 to 1944-07-23 00:00")
    assert "hour=24" in visitor.url, "the address can be sent"
    keep_picture(visitor, "campaign")


def test_a_form_is_filled_in_and_sent_by_keys_alone(visitor: Page) -> None:
    visitor.goto(f"{GUAM}/record")
    visitor.get_by_label("What happened, in a few words").focus()
    told = ("A flare over the ridge", "1944-07-24T02:15", "1806", "the ridge", "300")
    for words in told:
        visitor.keyboard.press("Control+A")
        visitor.keyboard.type(words)
        visitor.keyboard.press("Tab")
    visitor.get_by_label("Source").focus()
    visitor.keyboard.type("moh")
    visitor.get_by_label("What happened, in a few words").press("Enter")
    expect(visitor.get_by_role("heading", level=1)).to_have_text("A flare over the ridge")
    expect(visitor.locator("main")).to_contain_text("1944-07-24T02:15")


def test_the_chronicle_prints_without_its_forms(visitor: Page) -> None:
    visitor.goto(f"{GUAM}/chronicle")
    visitor.emulate_media(media="print")
    expect(visitor.get_by_role("heading", level=1)).to_be_visible()
    expect(visitor.locator("form")).to_have_count(2)
    for form in visitor.locator("form").all():
        expect(form).to_be_hidden()
    expect(visitor.locator("section.day").first).to_be_visible()


def test_forces_leave_a_track_that_grows_and_is_filtered(client: FlaskClient) -> None:
    early, late, own = (
        text(client, f"{GUAM}?{asked}") for asked in ("hour=1", "hour=400", "hour=400&force=japan")
    )
    tracks = [page.count('class="track ') for page in (early, late, own)]
    assert tracks[0] < tracks[1] > tracks[2] > 0
    assert 'class="track us"' not in own


def test_play_goes_on_by_itself_until_it_is_stopped(visitor: Page) -> None:
    visitor.goto(GUAM)
    visitor.get_by_role("button", name="Play").click()
    expect(visitor.locator("#moment .time")).to_contain_text("1944-07-23 00:00 to")
    visitor.get_by_role("button", name="Pause").click()
    stopped = visitor.get_by_label("Time").input_value()
    visitor.wait_for_timeout(1500)
    assert visitor.get_by_label("Time").input_value() == stopped


def test_a_click_on_the_map_fills_in_the_place_and_the_form_records_it(visitor: Page) -> None:
    visitor.goto(f"{GUAM}/record")
    drawing = visitor.locator("[data-picker] svg")
    box = drawing.bounding_box()
    assert box is not None
    drawing.click(position={"x": box["width"] / 2, "y": box["height"] / 2})
    lon, lat = (float(part) for part in visitor.locator("[data-at]").input_value().split(","))
    assert 144.6 < lon < 145.0
    assert 13.2 < lat < 13.7
    visitor.get_by_label("What happened, in a few words").fill("Seen from the air")
    visitor.get_by_label("When", exact=True).fill("1944-07-24")
    expect(visitor.get_by_label("Source")).to_have_value("", timeout=1000)  # nobody's word is taken unasked
    visitor.get_by_label("Source").select_option("css")
    visitor.get_by_label("Who writes").fill("Ann")
    keep_picture(visitor, "campaign-record")
    visitor.get_by_role("button", name="Record").press("Enter")
    expect(visitor.get_by_role("heading", level=1)).to_have_text("Seen from the air")
    expect(visitor.locator("main")).to_contain_text("by Ann")


def test_where_a_force_stood_is_recorded_by_keys_alone(visitor: Page) -> None:
    visitor.goto(f"{GUAM}/forces/38inf")
    visitor.get_by_role("link", name="Record where it stood").press("Enter")
    expect(visitor.get_by_label("Force, by its key")).to_have_value("38inf")
    visitor.get_by_label("When", exact=True).fill("1944-08-01")
    drawing = visitor.locator("[data-picker] svg")
    expect(drawing).to_have_attribute("tabindex", "0")  # the script is there
    drawing.focus()
    for key in ("+", "ArrowRight", "Enter"):
        visitor.keyboard.press(key)
    lon, lat = (float(part) for part in visitor.locator("[data-at]").input_value().split(","))
    assert 144.7 < lon < 145.0
    assert 13.2 < lat < 13.7
    visitor.get_by_label("Source").select_option("house")
    visitor.get_by_label("State").fill("gone")
    visitor.get_by_label("State").press("Enter")
    expect(visitor.get_by_role("heading", level=1)).to_have_text("38th Infantry Regiment: gone")
    keep_picture(visitor, "campaign-stance")
    visitor.get_by_role("link", name="Correct it").click()
    visitor.get_by_label("State").fill("withdrawn")
    visitor.get_by_role("button", name="Keep the correction").press("Enter")
    expect(visitor.locator(".changes")).to_contain_text("state: gone withdrawn")
    visitor.get_by_role("link", name="History").click()
    expect(visitor.locator("tbody tr").first).to_contain_text("corrected stance 38inf: withdrawn state")


def test_no_label_lies_on_another_or_on_a_mark_of_the_day_of_the_landing(visitor: Page) -> None:
    visitor.goto(GUAM)
    # a line is higher than its letters, above and below
    boxes = visitor.locator("#moment .force-label").evaluate_all(
        "found => found.map(one => { const box = one.getBBox(); return [box.x, box.y + 8, box.x + box.width, box.y + box.height - 6]; })"
    )
    marks = visitor.locator("#moment rect.stance").evaluate_all(
        "found => found.map(one => { const box = one.getBBox(); return [box.x, box.y, box.x + box.width, box.y + box.height]; })"
    )
    assert len(boxes) > 12

    def meet(one: list[float], other: list[float]) -> bool:
        return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]

    assert [pair for pair in itertools.combinations(boxes, 2) if meet(*pair)] == []
    assert [(box, mark) for box in boxes for mark in marks if meet(box, mark)] == []


def test_a_phone_shows_the_part_of_the_map_that_has_marks(visitor: Page) -> None:
    visitor.set_viewport_size(PHONE)
    visitor.goto(GUAM)
    drawing = visitor.locator("#moment svg.campaign-map")
    expect(drawing).not_to_have_attribute("viewBox", re.compile("^0 0 "))
    height = visitor.locator("#moment .force-label").first.evaluate(
        "one => one.getBoundingClientRect().height"
    )
    assert height > 10, "letters that can be read"
    keep_picture(visitor, "campaign-phone")


def test_without_a_script_a_campaign_can_be_read_and_gone_through(browser: Browser, guam_site: str) -> None:
    context = browser.new_context(base_url=guam_site, java_script_enabled=False)
    page: Any = context.new_page()
    page.goto(GUAM)
    page.get_by_role("link", name="Later").click()
    expect(page.locator("#moment .time")).to_contain_text("1944-07-22 00:00")
    expect(page.locator("svg.campaign-map .coast")).to_be_visible()
    context.close()
