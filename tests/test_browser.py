"""The pages in a real browser: Debian's Chromium, headless, on a real server."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from db import errata
from db.database import make_engine
from tests.browsing import PHONE, serious_findings, served

PAGES = [
    "/",
    "/rules",
    "/rules/css",
    "/rules/css/7.1.2",
    "/rules/ccp/T89.4.1",
    "/rules/css/contested",
    "/rules/css/errata",
    "/rules/css/editions",
    "/rules/bob/terms",
    "/rules/compare/line_of_sight",
    "/rules/search?q=line+of+sight",
    "/search?q=lipata",
    "/cases?example=spine",
    "/rulings",
    "/games",
]


@pytest.mark.parametrize("address", PAGES)
def test_a_page_keeps_nobody_out_and_fits_a_phone(page: Page, address: str) -> None:
    """It loads without an error and asks nobody else, too: the fixture sees to that."""
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200
    assert serious_findings(page) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_question_from_the_start_page_lands_on_its_rule(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Find rules").fill("can I fire out of a barrage")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("main").get_by_role("link", name="8.7.2").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("8.7.2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Barrages")


def test_a_line_of_sight_is_dragged_on_the_home_page(page: Page) -> None:
    page.goto("/")
    assert "does not see 14.12" in page.locator(".living-proof .verdict").inner_text()

    def middle(label: str) -> tuple[float, float]:
        box = page.locator(f'.living .field[data-hex="{label}"]').bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.locator(".living-map").scroll_into_view_if_needed()
    page.mouse.move(*middle("15.15"))
    page.mouse.down()
    page.mouse.move(*middle("17.12"), steps=5)
    page.mouse.up()
    expect(page.locator(".living-proof .verdict")).to_have_text("15.15 sees 17.12; range 4")
    assert page.locator(".living .ray").count() == 0, "what the server drew is gone"
    page.locator(".living [data-open]").click()
    expect(page.locator(".verdict").first).to_have_text("15.15 sees 17.12; range 4")


def test_three_doors_lead_in_from_the_home_page(page: Page) -> None:
    page.goto("/")
    doors = page.locator(".entrances section")
    assert doors.locator("h3").all_inner_texts() == ["You referee", "You play", "You record"]
    for door in doors.all():
        addresses = [link.get_attribute("href") or "" for link in door.get_by_role("link").all()]
        assert len(addresses) >= 3
        assert all(page.request.get(address).ok for address in addresses)


def test_pages_are_set_in_a_face_of_our_own(page: Page) -> None:
    page.goto("/")
    page.evaluate("document.fonts.ready")
    assert page.evaluate(
        "document.fonts.check('16px \"Source Sans 3\"') && [...document.fonts].some((face) => face.status === 'loaded')"
    )
    words = page.locator(".living svg .map-name").first
    assert "Source Sans 3" in words.evaluate("it => getComputedStyle(it).fontFamily"), "on the map too"


def test_a_small_drawing_shows_no_numbers_but_names_that_can_be_read(page: Page) -> None:
    page.goto("/")
    drawing = page.locator(".living svg.board")
    hex = page.locator('.living .field[data-hex="13.15"]')
    for width in (PHONE["width"], 1280):
        page.set_viewport_size({"width": width, "height": 900})
        box = hex.bounding_box()
        assert box is not None
        assert box["width"] < 40
        expect(drawing.locator(".map-label")).to_be_hidden()
        name = drawing.locator(".from-afar text", has_text="Lipata Field")
        expect(name).to_be_visible()
        size = name.evaluate("it => it.getBoundingClientRect().height")
        assert size > (7 if width < 800 else 11), "pixels"
    hint, board = page.locator(".living-hint").bounding_box(), drawing.bounding_box()
    assert hint is not None
    assert board is not None
    assert hint["y"] + hint["height"] < board["y"] + board["height"], "on the map, not across its edge"


def test_hits_come_while_one_types(page: Page) -> None:
    page.goto("/rules")
    page.get_by_role("main").get_by_role("searchbox").press_sequentially("mangrov swamp", delay=20)
    expect(page.get_by_role("main")).to_contain_text("6.2.1")
    assert page.url.endswith("/rules"), "no page was loaded for it"


def test_a_term_is_explained_to_whoever_tabs_to_it(page: Page) -> None:
    page.goto("/rules/css/7.2")
    page.get_by_text("Terms used here").click()
    expect(page.get_by_role("main")).to_contain_text("Fire Zone")


def test_a_printed_rule_names_its_game_and_explains_its_terms(page: Page) -> None:
    page.goto("/rules/css/8.6")
    page.emulate_media(media="print")
    expect(page.locator(".onlyprint")).to_contain_text("Guam: Return to Glory › 8.0 Fire Actions")
    expect(page.locator(".terms dd").first).to_be_visible()
    for form in page.locator("form").all():
        expect(form).to_be_hidden()


@pytest.mark.parametrize("rule", ["css/6.2.1", "ddp/12.0", "bob/17.0"])
def test_a_printed_rule_has_its_charts_whole(page: Page, rule: str) -> None:
    page.set_viewport_size({"width": 720, "height": 1000})  # a sheet of A4 between its margins
    page.goto(f"/rules/{rule}")
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720
    for told in page.locator(".elsewhere ul").all():
        expect(told).to_be_visible()


def test_the_keyboard_skips_to_the_content(page: Page) -> None:
    page.goto("/rules/css/7.1.2")
    page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    assert page.url.endswith("#main")


def test_the_api_is_described_from_bundled_files(page: Page) -> None:
    page.goto("/api/docs/swagger")
    expect(page.get_by_text("/api/v1/rulings", exact=True).first).to_be_visible()


def test_errata_stand_under_their_headings(databases: Any, browser: Browser) -> None:
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        errata.add_erratum(
            connection,
            "css",
            "7.1.2b",
            effect="Seven hexes, not eight.",
            source="a sheet",
            since=datetime.date(2020, 5, 1),
        )
    engine.dispose()
    with served(url) as address:
        page = browser.new_page(viewport={"width": 1200, "height": 800})
        page.goto(f"{address}/rules/css/errata")
        left = [
            [cell.bounding_box()["x"] for cell in page.locator(f"{part} tr > *").all()]  # type: ignore[index]
            for part in ("thead", "tbody")
        ]
        page.close()
    assert left[0] == left[1]
