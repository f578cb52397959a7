"""The pages in a real browser: Debian's Chromium, headless, on a real server."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from sqlalchemy.engine import URL
from waitress.server import create_server

from app.web import create_app
from db.database import make_engine
from db.settings import Settings

CHROMIUM = os.environ.get("SIGHTLINE_CHROMIUM") or shutil.which("chromium") or ""
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGES = [
    "/",
    "/rules",
    "/rules/css",
    "/rules/css/7.1.2",
    "/rules/ccp/T89.4.1",
    "/rules/css/contested",
    "/rules/bob/terms",
    "/rules/compare/line_of_sight",
    "/rules/search?q=line+of+sight",
    "/api/docs/swagger",
]
PHONE = {"width": 390, "height": 844}

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium; ./sightline test installs it")


@pytest.fixture(scope="module")
def site(worker_url: URL) -> Iterator[str]:
    engine = make_engine(worker_url)
    server = create_server(
        create_app(Settings(log_level="error"), engine), host="127.0.0.1", port=0, threads=4
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    server.close()
    thread.join(timeout=5)
    engine.dispose()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser, site: str) -> Iterator[Page]:
    """A page that fails the test if anything on it goes wrong."""
    context = browser.new_context(base_url=site)
    context.set_default_timeout(15_000)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda asked: wrong.append(asked.url) if not asked.url.startswith((site, "data:")) else None,
    )
    yield page
    context.close()
    assert wrong == [], "errors of scripts or of the content security policy, or requests to elsewhere"


@pytest.mark.parametrize("address", PAGES)
def test_a_page_loads_without_an_error_and_asks_nobody_else(page: Page, address: str) -> None:
    answer = page.goto(address)
    assert answer is not None
    assert answer.status == 200
    page.wait_for_load_state("networkidle")


def test_a_question_from_the_start_page_lands_on_its_rule(page: Page) -> None:
    page.goto("/")
    page.get_by_label("Find a rule").fill("can I fire out of a barrage")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("main").get_by_role("link", name="8.7.2").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("8.7.2")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Barrages")


def test_hits_come_while_one_types(page: Page) -> None:
    page.goto("/rules")
    page.get_by_role("searchbox").press_sequentially("mangrov swamp", delay=20)
    expect(page.get_by_role("main")).to_contain_text("6.2.1")
    assert page.url.endswith("/rules"), "no page was loaded for it"


def test_a_term_is_explained_to_whoever_tabs_to_it(page: Page) -> None:
    page.goto("/rules/css/7.2")
    page.get_by_text("Terms used here").click()
    expect(page.get_by_role("main")).to_contain_text("Fire Zone")


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


@pytest.mark.parametrize("address", PAGES[:-1])
def test_a_phone_needs_no_sideways_scrolling(page: Page, address: str) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
