"""What once stood in the way at the doors, walked through in a real browser: precedents, files, threats, counters, search."""

from __future__ import annotations

import re
from pathlib import Path

import pyogrio
import pytest
from playwright.sync_api import Page, expect

from tests.browsing import PHONE

POSITION = "/positions/lipata-landing"


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#map[data-ready]")


def test_a_rule_leads_to_its_cases_and_a_case_to_the_desk(page: Page) -> None:
    page.goto("/rules/css/7.1.1")
    links = page.locator('a[href^="/cases/"]')
    assert links.count() > 10
    names = [link.get_attribute("href") for link in links.all()[:3]]
    assert all(page.request.get(str(name)).ok for name in names)
    # some are folded away
    page.goto(str(names[0]))
    expect(page.locator(".verdict").first).to_be_visible()
    page.get_by_role("link", name="Open at the desk").click()
    expect(page.locator("#text")).to_have_value(re.compile(r"^case: ", re.M))
    page.get_by_role("button", name="Rule on it").click()
    expect(page.locator(".expectation.held").first).to_be_visible()


def test_beside_a_ruling_stand_its_precedents(page: Page) -> None:
    opened(page, f"{POSITION}?tool=los&from=A/1/31&to=14.12")
    page.locator(".precedents summary").click()
    first = page.locator(".precedents li a").first
    expect(first).to_have_attribute("href", re.compile(r"^/(cases|rulings)/"))
    first.click()
    expect(page.locator("h1")).to_be_visible()


def test_a_map_tells_its_source_its_crs_and_how_far_its_points_are_off(page: Page, tmp_path: Path) -> None:
    opened(page, "/maps/guam-house")
    page.get_by_text("About, files").click()
    about = page.locator(".map-about")
    expect(about).to_contain_text("Source")
    expect(about).to_contain_text("EPSG:4326")
    expect(about).to_contain_text(re.compile(r"off by [\d.]+ m"))
    with page.expect_download() as download:
        about.get_by_role("link", name="gpkg").click()
    file = tmp_path / "guam.gpkg"
    download.value.save_as(file)
    assert pyogrio.read_info(file, layer="hex")["crs"] == "EPSG:4326"
    west, south, east, north = pyogrio.read_info(file, layer="hex")["total_bounds"]
    assert 144.5 < west < east < 145.1, "on Guam"
    assert 13.1 < south < north < 13.8


def test_who_can_hurt_me_is_asked_of_a_hex_and_of_a_way(page: Page) -> None:
    opened(page, f"{POSITION}?tool=threats&hex=11.15&side=us")
    expect(page.locator(".verdict")).to_have_text("1 enemy unit can fire at 11.15: MG/I/88 with small arms 5")
    expect(page.locator(".proof-steps")).to_contain_text("7.2")
    opened(page, f"{POSITION}?tool=threats&path=12.16,12.15,12.14&side=us")
    expect(page.locator(".verdict")).to_contain_text("The worst hex of the way is 12.14")


def where_counters_are(page: Page) -> list[list[float]]:
    """On the screen, in whole pixels."""
    found: list[list[float]] = page.evaluate(
        """() => [...document.querySelectorAll("#map .on-map")].map((one) => {
          const { left, top, width } = one.getBoundingClientRect();
          return [left, top, width].map(Math.round);
        })"""
    )
    return found


@pytest.mark.parametrize("name", ["vesny-morning", "sorovi-crossing"])
def test_a_small_map_is_seen_whole(page: Page, name: str) -> None:
    opened(page, f"/positions/{name}")
    page.wait_for_timeout(300)
    first = where_counters_are(page)
    page.get_by_role("button", name="The whole map").click()
    page.wait_for_timeout(600)
    assert where_counters_are(page) == first
    assert all(width >= 10 for *_, width in first)


RECORD_WORDS = """
  const fill = CanvasRenderingContext2D.prototype.fillText;
  window.written = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    const { a, e, f } = this.getTransform();
    const size = { width: a * this.measureText(text).width, height: 0.9 * a * parseFloat(this.font.match(/([\\d.]+)px/)[1]) };
    window.written.push({ text, x: e + a * x, y: f + a * y, canvas: this.canvas, ...size });
    return fill.call(this, text, x, y);
  };
"""
WORDS_THAT_MEET = """() => {
  const seen = new Map(); // what crosses the edge of a tile is written in both
  for (const { text, x, y, width, height, canvas } of window.written) {
    if (!canvas.isConnected) continue;
    const { left, top } = canvas.getBoundingClientRect();
    const [across, down] = [left + x / devicePixelRatio, top + y / devicePixelRatio];
    const [wide, high] = [width / 2 / devicePixelRatio - 1, height / 2 / devicePixelRatio - 1];
    seen.set(`${text} ${Math.round(across / 3)} ${Math.round(down / 3)}`, [text, across - wide, down - high, across + wide, down + high]);
  }
  const words = [...seen.values()];
  const meet = (one, other) => one[0] !== other[0] && one[1] < other[3] && other[1] < one[3] && one[2] < other[4] && other[2] < one[4];
  return { words: words.map(([text]) => text), meeting: words.flatMap((one, n) => words.slice(n + 1).filter((other) => meet(one, other)).map((other) => `${one[0]} / ${other[0]}`)) };
}"""


@pytest.mark.parametrize(
    ("address", "name"), [("/maps/guam-house", "Barrigada"), ("/positions/vesny-morning", "Church of Vesny")]
)
def test_no_word_of_a_map_lies_on_another(page: Page, address: str, name: str) -> None:
    page.add_init_script(RECORD_WORDS)
    opened(page, address)
    page.locator("#map").focus()
    for key in "0++":
        page.keyboard.press(key)
        page.wait_for_timeout(1200)
        found = page.evaluate(WORDS_THAT_MEET)
        assert found["meeting"] == []
    assert name in found["words"]
    assert len(found["words"]) > 100, "hex numbers"


def test_hex_numbers_are_written_from_forty_pixels_a_hex_on(page: Page) -> None:
    page.add_init_script(RECORD_WORDS)
    opened(page, "/maps/pagasa-coast")
    page.locator("#map").focus()
    seen = set()
    for key in "0++++":
        page.evaluate("window.written = []")
        page.keyboard.press(key)
        page.wait_for_timeout(900)
        across = 2 * page.evaluate(
            "parseFloat(document.querySelector('#map').style.getPropertyValue('--hex'))"
        )
        numbers = [
            text for text in page.evaluate(WORDS_THAT_MEET)["words"] if re.fullmatch(r"\d\d\.\d\d", text)
        ]
        assert bool(numbers) == (across >= 40), f"{across} pixels a hex"
        seen.add(bool(numbers))
    assert seen == {True, False}


def test_words_lie_upon_counters_and_rims(page: Page) -> None:
    opened(page, f"{POSITION}?tool=los&from=A/1/31&to=14.12")
    heights = page.evaluate(
        """() => ["marker", "cursor", "lines", "words", "numbers"].map((pane) =>
          Number(getComputedStyle(document.querySelector(`.leaflet-${pane}-pane`)).zIndex))"""
    )
    assert heights == sorted(heights)


SEA = """() => {
  // light blue, as the palette has the sea by day
  let found = 0;
  for (const tile of document.querySelectorAll("#map .leaflet-tile-pane canvas")) {
    const { data } = tile.getContext("2d").getImageData(0, 0, tile.width, tile.height);
    for (let n = 0; n < data.length; n += 4) found += data[n + 3] > 250 && data[n + 2] > 215 && data[n + 2] - data[n] > 40;
  }
  return found;
}"""


def test_an_island_has_its_sea_from_afar(page: Page) -> None:
    opened(page, "/maps/campaign-island")
    page.wait_for_timeout(800)
    assert page.evaluate(SEA) > 5000, "pixels"


def test_a_large_position_opens_with_counters_that_can_be_read(page: Page) -> None:
    opened(page, POSITION)
    page.wait_for_timeout(300)
    box = page.locator(".on-map").first.bounding_box()
    assert box is not None
    assert box["width"] >= 24, "pixels across a counter"


def test_what_the_file_does_not_say_is_told_apart_from_what_the_book_does_not_print(page: Page) -> None:
    text = (
        'case: x\nruleset: css\nmap: {extent: ["20.76", "26.84"], fill: clear}\n'
        'units: [{id: A, side: us, kind: infantry, at: "22.80"}]\nask:\n  - reach: {unit: A}\n'
    )
    page.goto("/cases")
    page.locator("#text").fill(text)
    page.get_by_role("button", name="Rule on it").click()
    expect(page.locator(".needs")).to_contain_text("the file does not say")


def test_one_search_says_how_many_there_are_and_leads_to_the_hex(page: Page) -> None:
    page.goto("/search?q=13.15")
    found = page.locator("main")
    expect(found).to_contain_text(re.compile(r"\d+ hex"))
    page.locator('main a[href*="look=13.15"]').first.click()
    page.wait_for_selector("#map[data-ready]")
    expect(page.locator("#looked-at")).to_contain_text("13.15")


def test_a_day_that_is_none_is_refused(page: Page) -> None:
    answer = page.request.get("/rulings?since=yesterday", headers={"Accept": "text/html"})
    assert answer.status == 400
    assert "is not a day" in answer.text()


def test_what_can_be_compared_is_listed(page: Page) -> None:
    page.goto("/rules/compare")
    page.locator('main a[href*="/rules/compare/"]').first.click()
    expect(page.locator("h1")).to_be_visible()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
