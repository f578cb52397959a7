"""A game played, adjudicated, walked and followed in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from sqlalchemy.engine import URL

from app.play.games import act
from app.play.log import Deed
from app.play.openings import begin
from app.play.tables import open_game
from db.database import make_engine
from importers.demo.load import add_demo
from tests.browsing import PHONE, keep_picture, serious_findings, served
from tests.conftest import Databases

MOST_CLICKS = 160
"""Orders after which a game of one turn must be over."""
PER_PHASE = 1
"""Orders that are given in a phase before it is ended."""


@pytest.fixture(scope="module")
def url(databases: Databases) -> URL:
    """A database with the demo, to be played in."""
    made = databases.make()
    engine = make_engine(made)
    with engine.begin() as connection:
        add_demo(connection, lambda told: None)
        for name, phase in (("tanaro", "combat"), ("marches", "mobile_movement"), ("odds", "combat")):
            begin(connection, "position:tanaro-assault", name=name, seed=name)
            effects = [
                {"unit": "1/161", "at": "0914"},
                {"conditions": {"turn": 2, "phase": phase, "active": "us"}},
            ]
            act(connection, name, Deed("set", {"effects": effects}, "referee", note="to the second turn"))
    engine.dispose()
    return made


@pytest.fixture(scope="module")
def table(url: URL) -> Iterator[str]:
    with served(url) as address:
        yield address


@pytest.fixture(scope="module")
def players(browser: Browser, table: str) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=table, viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(20_000)
    yield context
    context.close()


@pytest.fixture
def page(players: BrowserContext) -> Iterator[Page]:
    page = players.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        # a refusal is a page of its own, and where too many follow games the page asks again: no errors of ours
        lambda said: (
            wrong.append(said.text)
            if said.type == "error" and not re.search("status of (4|503)", said.text)
            else None
        ),
    )
    yield page
    page.close()
    assert wrong == []


def do_it(page: Page, order: str, seat: str = "") -> None:
    """An order through the order line: looked at, then done."""
    page.locator("#order").fill(order)
    page.locator("#order").press("Enter")
    page.get_by_role("button", name="Do it").click()


def number(page: Page) -> int:
    return int(page.locator(".game").get_attribute("data-events") or 0)


def test_a_whole_game_is_played_by_clicks(page: Page) -> None:
    """Engebi by two, begun in the browser: what is offered is clicked, choices are answered where they fall due."""
    page.goto("/games")
    page.get_by_text("Begin a game").click()
    page.get_by_label("From").select_option("scenario:engebi")
    page.get_by_label("Name").fill("engebi-clicks")
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page).to_have_url(re.compile("/games/engebi-clicks"))
    given, phase = 0, ""
    for _ in range(MOST_CLICKS):
        if "over" in page.locator(".game-now").inner_text():
            break
        now = page.locator(".game-now").inner_text()
        given, phase = (given, phase) if now == phase else (0, now)
        if page.locator(".prompt").count():
            answer(page)
            continue
        page.get_by_role("link", name="all that is legal").click()
        page.locator(".offers").wait_for()
        offers = page.locator(".offers a[data-hexes]")
        names = offers.locator("b").all_inner_texts()
        wanted = [n for n, name in enumerate(names) if name != "end phase"]
        ends = [n for n, name in enumerate(names) if name == "end phase"]
        pick = wanted[0] if wanted and (given < PER_PHASE or not ends) else ends[0]
        given += 1
        offers.nth(pick).click()
        page.locator(".coming").wait_for()
        done(page, page.get_by_role("button", name="Do it"))
    expect(page.locator(".game-now")).to_contain_text("over")
    assert number(page) > 20
    keep_picture(page, "game-over")


def done(page: Page, button: Locator) -> None:
    """A button pressed, and what it does waited for: the game has another version then."""
    version = page.locator(".game").get_attribute("data-version") or ""
    button.click()
    expect(page.locator(".game")).not_to_have_attribute("data-version", version)


def answer(page: Page) -> None:
    """The first answer that is offered."""
    prompt = page.locator(".prompt form").first
    offered = prompt.locator("button[name=answer]")
    done(page, offered.first if offered.count() else prompt.get_by_role("button", name="Answer"))


def test_a_counter_is_clicked_and_then_its_goal(page: Page) -> None:
    page.goto("/games/marches")
    before = number(page)
    page.locator('.field[data-units*="754 Tank"]').click()
    expect(page.locator(".offers h3")).to_contain_text("754 Tank")
    goal = page.locator(".offers a[data-hexes]").first
    label = (goal.get_attribute("data-hexes") or "").split()[-1]
    page.locator(f'.field.offered[data-hex="{label}"]').click()
    if not page.locator(".coming").count():
        page.locator(".offers li:visible a").first.click()
    expect(page.locator(".coming .standing")).to_contain_text(re.compile("legal|contested"))
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".game")).to_have_attribute("data-events", str(before + 1))
    expect(page.locator(".ghost")).to_have_count(1)


def test_before_anything_is_done_its_odds_are_shown(page: Page) -> None:
    page.goto("/games/odds")
    page.locator("#order").fill('attack {by: [1/161], at: "1014", support: {attacker: [], defender: []}}')
    page.locator("#order").press("Enter")
    expect(page.locator(".odds meter").first).to_be_visible()
    chances = page.locator(".odds .number").all_inner_texts()
    assert sum(int(one.split("/")[0]) * (6 // int(one.split("/")[1])) for one in chances) == 6
    expect(page.locator(".coming")).to_contain_text("8.2.1")
    keep_picture(page, "game-odds")


def test_a_pasted_turn_is_adjudicated(page: Page, players: BrowserContext) -> None:
    page.goto("/games/tanaro")
    before = number(page)
    page.get_by_text("Adjudicate a list of orders").click()
    orders = 'japan move {unit: 1/161, path: ["0101"]}\nfly {to: moon}\nend_phase\n'
    page.locator("#orders").fill(orders)
    page.get_by_role("button", name="Look at them").click()
    told = page.locator(".prospects > li")
    expect(told).to_have_count(3)
    expect(told.nth(0)).to_contain_text("not allowed")
    expect(told.nth(1)).to_contain_text("no order")
    expect(told.nth(2)).to_contain_text("legal")
    assert number(page) == before
    page.get_by_role("button", name="Do all that is legal").click()
    expect(page.locator(".game")).to_have_attribute("data-events", str(before + 1))
    expect(page.locator("#orders")).to_have_value(re.compile("fly"))
    expect(page.locator("#orders")).not_to_have_value(re.compile("end_phase"))
    # what others do meanwhile is told, and the list stays
    other = players.new_page()
    other.goto("/games/tanaro")
    do_it(other, "end_phase")
    expect(page.get_by_role("status")).to_contain_text("The game has gone on.")
    expect(page.locator("#orders")).to_have_value(re.compile("fly"))
    other.close()


def test_what_the_rules_forbid_may_stand_with_a_reason(page: Page) -> None:
    page.goto("/games/tanaro")
    before = number(page)
    page.locator("#order").fill("japan end_phase")
    page.locator("#order").press("Enter")
    expect(page.locator(".coming")).to_contain_text("not allowed")
    page.get_by_label("It stands all the same, because").fill("both agreed")
    page.get_by_role("button", name="Overrule").click()
    expect(page.locator(".game")).to_have_attribute("data-events", str(before + 1))
    expect(page.locator(".log .current")).to_contain_text("overruled")


def test_a_game_is_walked_taken_back_and_branched_off(page: Page) -> None:
    page.goto("/games/engebi-clicks")
    last = number(page)
    page.locator("body").press("ArrowLeft")
    expect(page.locator(".game")).to_have_attribute("data-at", str(last - 1))
    assert f"at={last - 1}" in page.url
    page.locator("body").press("Home")
    expect(page.locator(".game")).to_have_attribute("data-at", "1")
    page.get_by_role("button", name="play").click()
    page.get_by_label("speed").select_option("quick")
    expect(page.locator(".game")).to_have_attribute("data-at", re.compile("[2-9]"))
    page.get_by_role("button", name="stop").click()
    page.go_back()
    page.goto(f"/games/engebi-clicks?at={last}&since=5")
    expect(page.locator(".event-told table")).to_contain_text("conditions")
    page.goto("/games/tanaro")
    before = number(page)
    page.locator(".event-told summary").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".game")).to_have_attribute("data-events", str(before + 1))
    expect(page.locator(".log s").first).to_be_visible()
    page.goto("/games/tanaro?at=2")
    page.get_by_label("branch off as").fill("tanaro-other")
    page.get_by_role("button", name="Branch off").click()
    expect(page).to_have_url(re.compile("/games/tanaro-other$"))


def test_notes_are_shown_and_never_obeyed(page: Page) -> None:
    page.goto("/games/tanaro?at=2")
    page.get_by_label("note").fill("**look** at [[1]] <img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Write").click()
    noted = page.locator(".annotation").first
    expect(noted.locator("strong")).to_have_text("look")
    expect(noted.locator("a")).to_have_attribute("href", "/games/tanaro?at=1")
    expect(noted).to_contain_text("<img src=x")
    page.get_by_role("button", name="Bookmark").click()
    expect(page.locator('.log [title="bookmark"]')).to_be_visible()
    page.locator(".game-log .filters summary").click()
    page.get_by_label("action").fill("end_phase")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".log li").first).to_contain_text("begins")


def test_two_at_the_table_see_each_other(page: Page, players: BrowserContext) -> None:
    page.goto("/games/tanaro")
    before = number(page)
    other = players.new_page()
    other.goto("/games/tanaro?as=japan")
    other.wait_for_timeout(500)
    do_it(page, "end_phase")
    expect(page.locator(".game")).to_have_attribute("data-events", str(before + 1))
    expect(other.locator(".game")).to_have_attribute("data-events", str(before + 1), timeout=3000)
    other.close()


def test_whoever_acts_on_an_old_state_is_told_what_came_between(page: Page, url: URL) -> None:
    page.goto("/games/tanaro")
    page.evaluate("for (const one of performance.getEntriesByType('resource')) one;")
    page.locator("#order").fill("end_phase")
    page.locator("#order").press("Enter")
    page.get_by_role("button", name="Do it").wait_for()
    page.locator("#order").focus()
    engine = make_engine(url)
    with engine.begin() as connection:
        act(connection, "tanaro", Deed("end_phase", {}, "referee"))
        events = open_game(connection, "tanaro").events
    engine.dispose()
    page.get_by_role("button", name="Do it").click()
    expect(page.get_by_role("alert")).to_contain_text("has gone on since")
    assert number(page) == events


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_table_keeps_nobody_out(browser: Browser, table: str, scheme: str) -> None:
    context = browser.new_context(base_url=table, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    for address in ("/games", "/games/tanaro", "/games/engebi-clicks?at=9&since=2", "/games/engebi-clicks/report",
                    "/games/engebi-clicks/readings"):  # fmt: skip
        page.goto(address)
        page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        keep_picture(page, f"table-{scheme}-{address.rsplit('/', 1)[-1].partition('?')[0]}")
        assert serious_findings(page) == [], address
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address
        page.set_viewport_size({"width": 1280, "height": 900})
    context.close()


def test_without_a_script_it_is_read_and_played_by_forms(browser: Browser, table: str) -> None:
    context = browser.new_context(base_url=table, java_script_enabled=False)
    page = context.new_page()
    page.goto("/games/tanaro")
    before = number(page)
    expect(page.locator("svg.board")).to_be_visible()
    do_it(page, "end_phase")
    assert number(page) == before + 1
    page.goto(f"/games/tanaro?at={before + 1}")
    expect(page.locator(".event-told")).to_contain_text("begins")
    expect(page.locator(".event-told .proof")).to_contain_text("Proof")
    context.close()
