"""A real browser (Debian's Chromium, headless) on a real server with the demo loaded: fixtures for page tests."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright
from sqlalchemy.engine import URL
from waitress.server import create_server

from app.web.site import create_app
from db.database import make_engine
from db.roles import as_web
from db.settings import Settings
from importers.demo.load import add_demo

CHROMIUM = os.environ.get("SIGHTLINE_CHROMIUM") or shutil.which("chromium") or ""
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE: ViewportSize = {"width": 390, "height": 844}
ROOT = Path(__file__).resolve().parent.parent
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = ROOT / "artifacts"
"""Screenshots of a run are kept here."""


@pytest.fixture(scope="session")
def demo_url(databases: Any) -> URL:
    """The address of a database with the demo loaded, one a worker; do not change what is in it."""
    url: URL = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        add_demo(connection, lambda told: None)
    engine.dispose()
    return url


@contextmanager
def served(url: URL) -> Iterator[str]:
    """The address of a server on a database, as the role that it connects as."""
    engine = make_engine(as_web(url))
    settings = Settings(log_level="error", stream_heartbeat=1)
    server: Any = create_server(
        create_app(settings, engine), host="127.0.0.1", port=0, threads=settings.threads
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.effective_port}"
    server.close()
    thread.join(timeout=5)
    engine.dispose()


@pytest.fixture(scope="session")
def site(demo_url: URL) -> Iterator[str]:
    """The address of a server on it."""
    with served(demo_url) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if not CHROMIUM:
        pytest.skip("no Chromium; ./sightline test installs it")
    with sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def reader(browser: Browser, site: str) -> Iterator[BrowserContext]:
    """Somebody with a browser that keeps what it has loaded once: all tests are this one."""
    context = browser.new_context(base_url=site)
    context.set_default_timeout(15_000)
    yield context
    context.close()


@pytest.fixture
def page(reader: BrowserContext, site: str) -> Iterator[Page]:
    """A page that fails the test if anything on it goes wrong."""
    page = reader.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda asked: wrong.append(asked.url) if not asked.url.startswith((site, "data:")) else None,
    )
    yield page
    page.close()
    assert wrong == [], "errors of scripts or of the content security policy, or requests to elsewhere"


def serious_findings(page: Page) -> list[str]:
    """What an accessibility check (axe) finds on a page that keeps people out: serious and critical."""
    # evaluated, not added as a script: the page's own policy allows none but ours
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{finding['id']}: {node['html']}"
        for finding in found["violations"]
        if finding["impact"] in ("serious", "critical")
        for node in finding["nodes"]
    ]


def keep_picture(page: Page, name: str) -> None:
    """A screenshot among the artefacts of the run."""
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")
