"""The map page in a real browser: clicks, keys, drags, addresses, a phone, and no script at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from db.database import make_engine
from db.labels import Scheme
from db.rulesets import read_ruleset
from importers.demo.load import add_demo
from tests.browsing import PHONE, ROOT, keep_picture, serious_findings, served
from tests.conftest import Databases
from tests.test_doors import RECORD_WORDS, WORDS_THAT_MEET

POSITION = "/positions/lipata-landing"
BLOCKED = f"{POSITION}?tool=los&from=A/1/31&to=14.12"
CONTESTED = f"{POSITION}?tool=los&from=02.10&to=08.08"
"""Under another reading of css-12 nothing stops this line."""
SCHEME: Scheme = read_ruleset("css").facts.scheme
Point = tuple[float, float]


@pytest.fixture
def open_map(page: Page) -> Callable[[str], None]:
    """Opens an address and waits until its map can be used."""

    def opened(address: str) -> None:
        page.goto(address)
        page.wait_for_selector("#map[data-ready]")

    return opened


@pytest.fixture(scope="module")
def own_site(databases: Databases) -> Iterator[str]:
    """A server on a demo of its own, in which things may be kept and changed."""
    url = databases.make()
    engine = make_engine(url)
    with engine.begin() as connection:
        add_demo(connection, lambda told: None)
    engine.dispose()
    with served(url) as address:
        yield address


@pytest.fixture
def own_page(browser: Browser, own_site: str) -> Iterator[Page]:
    page = browser.new_page(base_url=own_site)
    page.set_default_timeout(15_000)
    yield page
    page.close()


def plane(label: str) -> Point:
    """The centre of a hex in the display plane, y down."""
    x, y = SCHEME.hex(label).center
    return x / 2, y * 3**0.5 / 2


def counter_at(page: Page, unit: str) -> Point:
    box = page.locator(f'.on-map[title^="{unit},"]').bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def on_screen(page: Page, label: str) -> Point:
    """Where a hex is on the screen, told from two counters whose hexes are known."""
    (left, low), (_, high) = counter_at(page, "A/1/31"), counter_at(page, "5/I/88")
    (px, py), (_, qy) = plane("13.15"), plane("14.12")
    scale = (high - low) / (qy - py)
    x, y = plane(label)
    return left + (x - px) * scale, low + (y - py) * scale


def see(page: Page, selector: str, text: str | re.Pattern[str]) -> None:
    """Wait until something says so; unlike `expect`, this looks every few milliseconds."""
    page.locator(selector, has_text=text).first.wait_for()


def choose(page: Page, label: str) -> None:
    page.mouse.click(*on_screen(page, label))


def tool(page: Page, title: str) -> None:
    page.get_by_role("navigation", name="Tools").get_by_role("link", name=title).click()
    see(page, ".tools [aria-current]", title)


def verdict(page: Page) -> str:
    return page.locator(".verdict").inner_text()


def test_a_click_tells_what_a_hex_is_and_two_give_a_verdict(
    page: Page, open_map: Callable[[str], None]
) -> None:
    open_map(POSITION)
    tool(page, "Line of sight")
    see(page, "[data-hint]", "Choose on the map: from")
    choose(page, "13.16")
    see(page, "[data-hint]", "Choose on the map: to")
    page.locator('.on-map[title^="5/I/88,"]').click()
    see(page, ".verdict", "does not see")
    see(page, "#said", "does not see")
    assert "tool=los&from=13.16&to=5/I/88" in page.url
    rule = page.locator(".proof-steps a").first
    rule.focus()
    expect(page.locator(".proof-steps .tip").first).to_be_visible()
    assert rule.get_attribute("href", timeout=1000)
    keep_picture(page, "map-blocked-line")
    choose(page, "13.14")
    see(page, "[data-hint]", "Choose on the map: to")
    expect(page.locator(".verdict")).to_have_count(0)
    tool(page, "Look")
    choose(page, "13.15")
    see(page, ".looked-at h2", "13.15")
    see(page, ".looked-at", "A/1/31")
    expect(page.locator(".looked-at a").first).to_have_attribute("href", "/rules/css/6.2.1")


def test_another_reading_rules_at_once(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(CONTESTED)
    assert "does not see" in verdict(page)
    page.locator("a.switch").first.click()
    see(page, ".verdict", re.compile("^[^:]* sees "))
    assert "policy=css-12:a" in page.url
    page.go_back()
    see(page, ".verdict", "does not see")


def test_the_address_shows_the_same_to_others(
    page: Page, open_map: Callable[[str], None], reader: BrowserContext
) -> None:
    open_map(f"{POSITION}?edit=1")
    tool(page, "All that is seen")
    page.locator('.on-map[title^="A/1/31,"]').click()
    expect(page.locator(".verdict")).to_be_visible()
    page.get_by_label("Range").fill("3")
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url(re.compile("range=3"), wait_until="commit")
    told, drawn = verdict(page), page.locator("#ruling").get_attribute("data-draws")
    other = reader.new_page()
    other.goto(page.url, wait_until="domcontentloaded")
    assert other.locator(".verdict").inner_text() == told
    assert other.locator("#ruling").get_attribute("data-draws") == drawn
    other.close()
    keep_picture(page, "map-fan")


def test_a_way_grows_with_every_click(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{POSITION}?tool=reach&unit=C/1/31")
    assert json.loads(page.locator("#ruling").get_attribute("data-draws") or "")["hexes"]["13.16"] > 0
    choose(page, "13.14")
    page.wait_for_url(re.compile("to=13.14"), wait_until="commit")
    keep_picture(page, "map-reach")
    tool(page, "A move, step by step")
    expect(page.get_by_label("Unit", exact=True)).to_have_value("C/1/31")
    for label in ("13.16", "14.16", "14.15"):
        choose(page, label)
        page.wait_for_url(re.compile(f"path=.*{label}$"), wait_until="commit")
    see(page, ".verdict", "may move to 14.15")
    page.locator("#map").focus()
    page.keyboard.press("Backspace")
    see(page, ".verdict", "may move to 14.16")


def test_a_question_out_of_sight_is_brought_into_sight(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{POSITION}?tool=range&from=13.15&to=13.16")
    away = counter_at(page, "A/1/31")
    page.get_by_label("From").fill("30.30")
    page.get_by_label("To", exact=True).fill("30.28")
    page.get_by_role("button", name="Ask").click()
    see(page, ".verdict", "is 2 hexes")
    assert counter_at(page, "A/1/31") != away
    page.get_by_label("From").fill("30.29")
    page.get_by_role("button", name="Ask").click()
    still = counter_at(page, "A/1/31")
    see(page, ".verdict", "is 1 hex")
    assert counter_at(page, "A/1/31") == still


def test_a_hex_chosen_at_once_goes_to_the_new_tool(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{POSITION}?tool=range&from=13.15&to=13.16")
    page.evaluate(
        """() => {
          document.querySelector(".tools a[href*=fire_zone]").click();
          document.querySelector('.on-map[title^="A/1/31,"]').click();
        }"""
    )
    page.wait_for_url(re.compile("tool=fire_zone&unit=A/1/31$"), wait_until="commit")


def test_a_unit_takes_the_place_of_its_side(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{POSITION}?tool=fire_zone&side=japan")
    page.locator('.on-map[title^="5/I/88,"]').click()
    page.wait_for_url(re.compile("tool=fire_zone&unit=5/I/88$"), wait_until="commit")
    see(page, ".asked", "unit 5/I/88")


def test_one_of_two_takes_the_place_of_the_other(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{POSITION}?tool=fire_zone&unit=A/1/31")
    expect(page.locator("label[for=ask-unit]")).to_contain_text("(or side)")
    page.locator("#ask-side").select_option("japan")
    expect(page.locator("#ask-unit")).to_have_value("")
    page.get_by_role("button", name="Ask").click()
    page.wait_for_url(re.compile("tool=fire_zone&side=japan$"), wait_until="commit")
    see(page, ".asked", "side japan")


def test_a_tool_takes_along_what_fits_it(page: Page, open_map: Callable[[str], None]) -> None:
    """The first counter of a line is who can go somewhere; the other is no hex to go to."""
    open_map(f"{POSITION}?tool=los&from=C/1/31&to=5/I/88")
    tool(page, "Where a unit can go")
    see(page, ".verdict", "C/1/31")
    expect(page.locator(".refused")).to_have_count(0)
    assert page.url.endswith("tool=reach&unit=C/1/31")
    tool(page, "Line of sight")
    expect(page.get_by_label("From")).to_have_value("C/1/31")
    see(page, "[data-hint]", "Choose on the map: to")


def test_a_stack_offers_all_its_counters(page: Page, open_map: Callable[[str], None]) -> None:
    stacked = json.dumps({"units": {"B/1/31": {"at": "13.15"}}})
    open_map(f"{POSITION}?tool=reach&whatif={stacked}")
    page.locator('.on-map[title^="B/1/31,"]').click()
    offer = page.get_by_role("group", name="Counters in 13.15")
    expect(offer.get_by_role("button")).to_have_count(2)
    keep_picture(page, "map-stack-offer")
    offer.get_by_role("button", name="A/1/31").click()
    page.wait_for_url(re.compile("unit=A/1/31"), wait_until="commit")
    expect(offer).to_have_count(0)
    page.locator("#map").focus()
    page.locator('.on-map[title^="B/1/31,"]').click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(offer).to_have_count(0)
    assert "unit=A/1/31" in page.url


def test_a_click_says_whether_it_means_the_unit_or_the_hex(
    page: Page, open_map: Callable[[str], None]
) -> None:
    """A unit called 13.16, as a hex is, stands in 14.16 with a tank."""
    namesake = json.dumps({"units": {"13.16": {"side": "us", "kind": "infantry", "at": "14.16"}}})
    open_map(f"{POSITION}?tool=range&whatif={namesake}")
    page.mouse.click(*counter_at(page, "13.16"))
    page.get_by_role("group", name="Counters in 14.16").get_by_role("button", name="13.16").click()
    see(page, "[data-hint]", "Choose on the map: to")
    choose(page, "13.16")
    see(page, ".verdict", re.compile("1"))
    assert "from=unit:13.16&to=hex:13.16" in page.url


def test_back_and_forth_goes_through_what_was_asked(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(POSITION)
    tool(page, "Range")
    page.locator('.on-map[title^="A/1/31,"]').click()
    page.locator('.on-map[title^="5/I/88,"]').click()
    see(page, ".verdict", "is 4 hexes")
    page.go_back()
    expect(page.locator(".verdict")).to_have_count(0)
    see(page, ".tools [aria-current]", "Range")
    page.go_back()
    see(page, ".tools [aria-current]", "Look")
    page.go_forward()
    page.go_forward()
    see(page, ".verdict", "is 4 hexes")


def test_a_dragged_unit_is_asked_where_it_was_put(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(BLOCKED)
    page.get_by_role("link", name="What if …").click()
    expect(page.get_by_role("heading", name="What if")).to_be_in_viewport()
    expect(page.locator("#map")).to_be_in_viewport(ratio=0.9)
    target = on_screen(page, "14.13")
    page.mouse.move(*counter_at(page, "A/1/31"))
    page.mouse.down()
    page.mouse.move(*on_screen(page, "13.14"), steps=6)
    page.mouse.move(*target, steps=6)
    page.mouse.up()
    see(page, ".whatif-banner", "1 change")
    see(page, ".verdict", "range 1")
    x, y = counter_at(page, "A/1/31")
    assert abs(x - target[0]) < 6
    assert abs(y - target[1]) < 6
    keep_picture(page, "map-what-if")
    page.get_by_role("link", name="Undo all").click()
    expect(page.locator(".whatif-banner")).to_have_count(0)
    see(page, ".verdict", "range 4")


def test_forms_change_units_markers_and_weather(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{BLOCKED}&edit=1")
    for kind in ("smoke barrage in 14.14", "light barrage in 13.13"):
        page.locator("#if-marker").select_option(label=kind)
        page.get_by_role("button", name="Remove").click()
        expect(page.locator("#if-marker")).not_to_contain_text(kind)
    see(page, ".verdict", re.compile("^[^:]* sees "))
    page.locator("#if-kind").select_option("mines")
    page.locator("#if-mark-at").fill("13.14")
    page.get_by_role("button", name="Place").click()
    expect(page.locator('.on-map.marker[title="mines"]')).to_have_count(2)
    page.get_by_label("Weather").select_option("rain")
    page.get_by_role("button", name="Change").click()
    see(page, ".holds", "rain")
    page.locator("#if-move-at").fill("99.99")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("99.99 is not a hex of this map")
    see(page, ".whatif-banner", "4 changes")


def test_a_question_is_exported_and_taken_to_the_desk(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(BLOCKED)
    page.get_by_role("link", name="Export as case file").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "lipata-landing-los.yaml"
    page.get_by_role("button", name="Take it to the desk").click()
    see(page, ".expectation", "As expected")


def test_a_counter_that_is_pointed_at_explains_itself(page: Page, open_map: Callable[[str], None]) -> None:
    """Large, every number by its name and rule, its markers, and what it can be asked."""
    open_map(POSITION)
    page.mouse.move(*counter_at(page, "A/1/31"))
    card = page.locator(".explain-card")
    card.wait_for()
    told = card.inner_text()
    for words in ("A/1/31", "Fire Strength", "Movement Allowance", "Defense", "Where a unit can go"):
        assert words in told
    assert card.get_by_role("link", name="8.1", exact=True).get_attribute("href") == "/rules/css/8.1"
    page.keyboard.press("Escape")
    page.mouse.move(5, 5)
    card.wait_for(state="detached")


def test_the_hex_under_the_cursor_explains_its_counters_at_a_key(
    page: Page, open_map: Callable[[str], None]
) -> None:
    open_map(f"{POSITION}?look=13.16")
    page.get_by_label("Find a hex").fill("13.15")
    page.keyboard.press("Enter")
    see(page, ".looked-at h2", "13.15")
    page.locator("#map").focus()
    page.keyboard.press("i")
    see(page, ".explain-card", "Movement Allowance")
    page.keyboard.press("Escape")
    page.locator(".explain-card").wait_for(state="detached")


def test_counters_are_hidden_and_the_map_is_fitted_by_buttons(
    page: Page, open_map: Callable[[str], None]
) -> None:
    open_map(POSITION)
    before = counter_at(page, "A/1/31")
    page.get_by_role("button", name="Hide the counters").click()
    expect(page.locator('.on-map[title^="A/1/31,"]')).to_be_hidden()
    page.get_by_role("button", name="Hide the counters").click()
    expect(page.locator('.on-map[title^="A/1/31,"]')).to_be_visible()
    page.get_by_role("button", name="The whole map").click()
    page.wait_for_timeout(400)
    assert counter_at(page, "A/1/31") != before


def test_a_ruling_is_kept_in_one_click(own_page: Page) -> None:
    own_page.goto(BLOCKED)
    own_page.wait_for_selector("#map[data-ready]")
    own_page.get_by_role("button", name="Keep this ruling").click()
    own_page.wait_for_url(re.compile("/rulings/[0-9a-f]{20}$"))
    see(own_page, ".verdict", "A/1/31 does not see 14.12")
    expect(own_page.locator("figure.board svg").first).to_be_visible()


def test_a_deployed_unit_is_told_so_and_offered_a_column(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{POSITION}?tool=reach&unit=A/1/31")
    see(page, ".verdict", "A/1/31 cannot move: A/1/31 is deployed; only a column moves; it may in column")
    page.get_by_role("link", name="Ask with posture column").click()
    see(page, ".verdict", "A/1/31 may end its move in")
    assert "posture=column" in page.url


def test_by_night_the_range_is_told_and_not_the_target_blamed(
    page: Page, open_map: Callable[[str], None]
) -> None:
    open_map(
        f"{POSITION}?tool=los&from=16.13&to=16.16&whatif={json.dumps({'conditions': {'time': 'night'}})}"
    )
    assert verdict(page) == "16.13 does not see 16.16: sight is one hex, the range is 3; range 3"


def test_a_slow_answer_shows_that_it_is_worked_on_and_can_be_stopped(
    page: Page, open_map: Callable[[str], None]
) -> None:
    open_map(f"{POSITION}?tool=range&from=13.15&to=13.16")
    page.route(re.compile("part="), lambda route: None)  # an answer that does not come
    page.get_by_label("From").fill("13.14")
    page.get_by_role("button", name="Ask").click()
    see(page, "#said", "Working")
    page.get_by_role("button", name="Stop").click()
    see(page, "#said", "Stopped.")
    expect(page.locator("#panel")).not_to_have_attribute("aria-busy", "true")
    page.unroute_all(behavior="ignoreErrors")
    page.get_by_role("button", name="Ask").click()
    see(page, ".verdict", "is 2 hexes")


def test_what_a_game_lacks_is_shown_with_the_reason(page: Page, open_map: Callable[[str], None]) -> None:
    open_map("/positions/tanaro-assault")
    page.get_by_text("Not here").click()
    see(page, ".lacking", re.compile("Line of sight.*support fire needs no line of sight"))


SMALL_MAP = """\
ruleset: css
name: upload
extent: ["20.76", "24.80"]
hexes:
  "20.77": brush
  "22.77": {terrain: town, features: [cave]}
"""
BAD_MAP = SMALL_MAP.replace("brush", "brushh").replace("[cave]", "[cavee]")


def test_a_map_comes_in_and_goes_out_in_the_browser(own_page: Page) -> None:
    """All mistakes at once; what is right is brought in, replaced only if wanted, deleted only if confirmed."""
    page = own_page

    def send(text: str, replace: bool = False) -> None:
        page.goto("/upload")
        form = page.locator("form", has_text="Bring the map in")
        form.locator("input[type=file]").set_input_files(
            {"name": "upload.yaml", "mimeType": "application/yaml", "buffer": text.encode()}
        )
        form.get_by_role("checkbox").set_checked(replace)
        form.get_by_role("button", name="Bring the map in").click()

    send(BAD_MAP)
    told = page.get_by_role("alert")
    expect(told).to_contain_text("unknown terrain 'brushh'")
    expect(told).to_contain_text("unknown hex feature 'cavee'")
    send(SMALL_MAP)
    see(page, ".taken", "25 hexes")
    send(SMALL_MAP)
    expect(page.get_by_role("alert")).to_contain_text("There is a map 'upload' already.")
    send(SMALL_MAP, replace=True)
    page.locator(".taken a").first.click()
    page.wait_for_selector("#map[data-ready]")
    page.get_by_text("About, files").click()
    see(page, ".map-about", "not georeferenced")
    with page.expect_download() as download:
        page.locator(".map-about").get_by_role("link", name="geojson").click()
    assert download.value.suggested_filename == "upload.geojson"
    page.get_by_label("Delete this map").fill("uploads")
    page.get_by_role("button", name="Delete for good").click()
    see(page, "main", "was not deleted")
    page.go_back()
    page.get_by_text("About, files").click()
    page.get_by_label("Delete this map").fill("upload")
    page.get_by_role("button", name="Delete for good").click()
    page.wait_for_url(re.compile("/maps$"))
    assert page.request.get("/maps/upload").status == 404


def test_a_place_of_many_hexes_is_named_once(own_page: Page) -> None:
    text = (ROOT / "db" / "rulesets" / "fpb" / "maps" / "engebi.yaml").read_text()
    sent = own_page.request.post("/api/v1/maps", headers={"Content-Type": "application/yaml"}, data=text)
    assert sent.status == 201
    own_page.add_init_script(RECORD_WORDS)
    own_page.goto("/maps/engebi-house")
    own_page.wait_for_selector("#map[data-ready]")
    own_page.wait_for_timeout(600)
    words = own_page.evaluate(WORDS_THAT_MEET)["words"]
    assert words.count("Engebi Airstrip") == 1
    assert own_page.request.delete("/api/v1/maps/engebi-house").status == 204


def test_a_position_comes_in_and_goes_out_in_the_browser(own_page: Page) -> None:
    page = own_page

    def send(text: str) -> None:
        page.goto("/upload")
        form = page.locator("form", has_text="Bring the position in")
        form.locator("input[type=file]").set_input_files(
            {"name": "watch.yaml", "mimeType": "application/yaml", "buffer": text.encode()}
        )
        form.get_by_role("button", name="Bring the position in").click()

    position = "name: watch\nruleset: css\nmap: pagasa-coast\nunits: [{id: A, side: us, at: '13.15'}]\n"
    send(position.replace("us", "usa").replace("13.15", "99.99"))
    for wrong in ("usa", "99.99"):
        expect(page.get_by_role("alert")).to_contain_text(wrong)
    send(position)
    page.locator(".taken a").first.click()
    page.wait_for_selector("#map[data-ready]")
    page.get_by_text("About, files").click()
    for ending in ("yaml", "json"):
        with page.expect_download() as download:
            page.locator(f'.map-about a[href="/positions/watch/files/{ending}"]').click()
        assert download.value.suggested_filename == f"watch.{ending}"
    page.get_by_label("Delete this position").fill("watch")
    page.get_by_role("button", name="Delete for good").click()
    page.wait_for_url(re.compile("/positions$"))
    assert page.request.get("/positions/watch").status == 404


def test_what_is_downloaded_comes_in_again(own_page: Page) -> None:
    """In every form that the page offers."""
    ask = own_page.request
    own_page.goto("/maps/hill-312")
    own_page.get_by_text("About, files").click()
    forms = own_page.locator(".map-about a[href*='/files/']").all()
    endings = [(link.get_attribute("href") or "").rpartition("/")[2] for link in forms]
    assert set(endings) == {"yaml", "json", "zip", "geojson", "gpkg"}
    for ending in endings:
        content = ask.get(f"/maps/hill-312/files/{ending}").body()
        own_page.goto("/upload")
        form = own_page.locator("form", has_text="Bring the map in")
        form.locator("input[type=file]").set_input_files(
            {"name": f"again.{ending}", "mimeType": "application/octet-stream", "buffer": content}
        )
        form.locator("input[name=name]").fill("again")
        form.get_by_role("checkbox").check()
        form.get_by_role("button", name="Bring the map in").click()
        see(own_page, ".taken", "168 hexes")
    assert ask.delete("/api/v1/maps/again").status == 204


def test_a_map_and_a_position_come_in_by_the_api(own_page: Page) -> None:
    ask, yaml = own_page.request, {"Content-Type": "application/yaml"}
    bad = ask.post("/api/v1/maps", headers=yaml, data=BAD_MAP)
    assert (bad.status, len(bad.json()["problems"])) == (422, 2)
    good = ask.post("/api/v1/maps?name=sent", headers=yaml, data=SMALL_MAP)
    assert (good.status, good.json()["hexes"]) == (201, 25)
    position = "case: stands\nruleset: css\nmap: sent\nunits: [{id: A, side: us, at: '22.78'}]\n"
    taken = ask.post("/api/v1/positions", headers=yaml, data=position)
    assert (taken.status, taken.json()["units"]) == (201, 1)
    assert ask.post("/api/v1/positions", headers=yaml, data=position).status == 400
    assert ask.post("/api/v1/positions?replace=true", headers=yaml, data=position).json()["replaced"] is True
    form = ask.post("/api/v1/maps", form={"ruleset": "css"})
    assert form.status == 415
    refused = ask.delete("/api/v1/maps/sent")
    assert (refused.status, refused.json()["detail"]) == (
        400,
        "1 position on the map sent would be lost: stands.",
    )
    assert refused.json()["remedy"] == "Delete it first."
    assert 'id: "A"' in ask.get("/positions/stands/files/yaml").text()
    assert ask.delete("/api/v1/positions/stands").status == 204
    assert ask.delete("/api/v1/maps/sent").status == 204


def test_ground_is_painted_by_clicks_and_ruled_on(page: Page, open_map: Callable[[str], None]) -> None:
    """Tropical forest between two that see each other; then a cliff, and a mistake that leaves the map there."""
    open_map(f"{POSITION}?tool=los&from=16.13&to=16.16&edit=1")
    see(page, ".verdict", "16.13 sees 16.16")
    page.locator("#if-terrain").select_option("tropical_forest")
    page.get_by_label("by clicks on the map").last.check()
    choose(page, "16.14")
    see(page, ".verdict", "16.13 does not see 16.16: blocked by 16.14")
    expect(page.locator(".otherwise-words")).to_have_text(re.compile("Tropical Forest"))
    expect(page.get_by_label("by clicks on the map").last).to_be_checked()
    expect(page.locator("#if-terrain")).to_have_value("tropical_forest")
    keep_picture(page, "map-painted")
    choose(page, "16.15")
    see(page, ".whatif-banner", "2 changes")
    page.get_by_label("by clicks on the two hexes").check()
    page.locator("#if-hexside").select_option("cliff")
    page.locator("#if-side-at").fill("")
    choose(page, "15.13")
    see(page, "#said", "15.13, and which hex beside it?")
    choose(page, "15.14")
    see(page, ".whatif-banner", "3 changes")
    assert '"15.13|15.14":"cliff"' in unquote(page.url)


def test_a_broken_what_if_stays_on_the_page_with_the_map(own_page: Page) -> None:
    for broken in (
        '{"units": {"Nobody": {"at": "13.16"}}}',
        '{"hexes": {"13.16": {"terrain": "brushh"}}}',
        "{",
    ):
        own_page.goto(f"{POSITION}?look=13.15&whatif={quote(broken)}")
        own_page.wait_for_selector("#map[data-ready]")
        expect(own_page.get_by_role("alert")).to_be_visible()
        see(own_page, ".looked-at h2", "13.15")


def test_keys_alone_are_enough(page: Page, open_map: Callable[[str], None]) -> None:
    open_map(f"{POSITION}?look=13.15")
    page.locator("#map").focus()
    page.keyboard.press("1")
    see(page, ".tools [aria-current]", "Line of sight")
    page.keyboard.press("/")
    expect(page.get_by_label("Find a hex")).to_be_focused()
    page.keyboard.type("13.16")
    page.keyboard.press("Enter")
    see(page, ".looked-at h2", "13.16")
    page.locator("#map").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    see(page, "#said", "13.16;")
    page.keyboard.press("Enter")
    expect(page.get_by_label("From")).to_have_value("13.16")
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    see(page, "#said", "14.14")
    see(page, "#said", "level 1")
    page.keyboard.press("Enter")
    expect(page.locator(".verdict")).to_be_visible()
    assert "from=13.16&to=14.14" in page.url
    page.keyboard.press("Escape")
    expect(page.locator(".verdict")).to_have_count(0)
    page.keyboard.press("Escape")
    see(page, ".tools [aria-current]", "Look")
    assert page.locator("#map").evaluate("it => it === document.activeElement")


@pytest.mark.parametrize(
    ("address", "scheme"),
    [
        (CONTESTED, "light"),
        (f"{BLOCKED}&edit=1&look=13.15", "dark"),
        ("/maps", "light"),
        ("/positions", "dark"),
    ],
)
def test_nothing_keeps_people_out_on_screens_and_phones(page: Page, address: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(address)
    if "tool" in address:
        page.wait_for_selector("#map[data-ready]")
        page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
        keep_picture(page, f"map-{scheme}")
    assert serious_findings(page) == []
    page.set_viewport_size(PHONE)
    if "tool" in address:
        keep_picture(page, f"map-phone-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_finger_chooses_hexes(browser: Browser, site: str) -> None:
    context = browser.new_context(base_url=site, viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{BLOCKED}&tool=range")
    page.wait_for_selector("#map[data-ready]")
    page.get_by_role("navigation", name="Tools").get_by_role("link", name="Range").tap()
    see(page, ".verdict", "is 4 hexes")
    page.locator('.on-map[title^="5/I/88,"]').tap()
    see(page, "[data-hint]", "Choose on the map: to")
    context.close()


def test_a_long_press_explains_a_counter_until_one_touches_elsewhere(browser: Browser, site: str) -> None:
    context = browser.new_context(base_url=site, viewport=PHONE, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(POSITION)
    page.wait_for_selector("#map[data-ready]")
    page.locator("#map").scroll_into_view_if_needed()
    x, y = counter_at(page, "A/1/31")
    finger = context.new_cdp_session(page)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    card = page.locator(".explain-card")
    card.wait_for()
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(1000)
    expect(card).to_contain_text("A/1/31")
    box, board = card.bounding_box(), page.locator("#map").bounding_box()
    assert box is not None
    assert board is not None
    assert board["x"] <= box["x"]
    assert box["x"] + box["width"] <= board["x"] + board["width"]
    assert board["y"] <= box["y"]
    assert box["y"] + box["height"] <= board["y"] + board["height"]
    keep_picture(page, "long-press")
    page.get_by_role("heading", level=1).tap()
    card.wait_for(state="detached")
    context.close()


def test_without_script_the_page_draws_asks_and_rules(browser: Browser, site: str) -> None:
    context = browser.new_context(base_url=site, java_script_enabled=False)
    page = context.new_page()
    page.goto(POSITION)
    assert page.locator(".drawn > svg").is_visible()
    assert not page.locator("#map").is_visible()
    page.get_by_role("navigation", name="Tools").get_by_role("link", name="Line of sight").click()
    page.get_by_label("From").fill("A/1/31")
    page.get_by_label("To", exact=True).fill("14.12")
    page.get_by_role("button", name="Ask").click()
    assert "A/1/31 does not see 14.12" in verdict(page)
    page.get_by_role("link", name="What if …").click()
    page.locator("#if-who").select_option("A/1/31")
    page.locator("#if-move-at").fill("14.13")
    page.get_by_role("button", name="Move", exact=True).click()
    assert "range 1" in verdict(page)
    assert page.locator(".whatif-banner").is_visible()
    keep_picture(page, "map-without-script")
    context.close()


def test_thousands_of_hexes_are_few_elements(page: Page, open_map: Callable[[str], None]) -> None:
    open_map("/maps/campaign-island")
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    page.get_by_label("Find a hex").fill("40.40")
    page.get_by_role("button", name="Show").click()
    see(page, ".looked-at h2", "40.40")
    painted = (
        "canvas => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"
    )
    assert page.locator(".drawn").count() == 0
    page.wait_for_function(f"() => [...document.querySelectorAll('#map canvas')].some({painted})")
    keep_picture(page, "map-campaign-island")


@pytest.mark.parametrize("name", ["orange-dawn", "sorovi-crossing"])
def test_other_games_have_their_maps_and_layers_can_be_switched_off(
    page: Page, open_map: Callable[[str], None], name: str
) -> None:
    open_map(f"/positions/{name}")
    expect(page.locator("#map .on-map.counter")).not_to_have_count(0)
    keep_picture(page, f"map-{name}")
    page.locator(".leaflet-control-layers").hover()
    page.get_by_label("Units").uncheck()
    expect(page.locator("#map .on-map.counter")).to_have_count(0)
    page.get_by_label("Labels").uncheck()
    page.get_by_label("Units").check()
    expect(page.locator("#map .on-map.counter")).not_to_have_count(0)
