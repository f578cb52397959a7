"""A case drawn by clicks: what each tool does to the text, and the page in a real browser, with and without script."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Page, expect
from sqlalchemy.engine import Connection, Engine

from app.referee.arguments import form_fields
from app.web.site import create_app
from app.web.sketch import blank, with_one_more, with_question, with_readings
from db import SightlineError
from db.counters import UNITS
from db.rulesets import CODES
from db.settings import Settings
from importers.cases import read_sketch
from importers.documents import read_document
from tests.browsing import PHONE, keep_picture, serious_findings
from tests.conftest import web_engine

HAND = """\
# written by hand
case: mine
ruleset: css

# the ground
map:
  extent: ["01.01", "05.05"]
  fill: clear   # as it lies
  hexes: {"02.02": {terrain: brush, level: 2}}
units:
  - {id: A, side: us, at: 01.01}
# what is asked
ask:
  - los: {from: A, to: "03.03"}
"""


def tree(text: str) -> dict[str, object]:
    found = read_document(text, "case").plain()
    assert isinstance(found, dict)
    return found


# The text


@pytest.mark.parametrize("ruleset", CODES)
def test_an_empty_board_of_every_game_can_be_read(connection: Connection, ruleset: str) -> None:
    position, problems = read_sketch(blank(ruleset), "case", connection)
    assert problems.found == []
    assert position is not None
    assert len(position.board.hexes) == 80
    assert position.board.notices == [], "nothing is assumed"


CHANGES: dict[str, tuple[str, dict[str, str], str, object]] = {
    "a hex is painted": (
        "paint", {"terrain": "swamp", "at": "01.02"}, "map",
        {"02.02": {"terrain": "brush", "level": 2}, "01.02": "swamp"},
    ),
    "several are, and keep what is not said": (
        "paint", {"level": "3", "at": "02.02, 02.03"}, "map",
        {"02.02": {"terrain": "brush", "level": 3}, "02.03": {"level": 3}},
    ),
    "a cave is put into one": (
        "paint", {"feature": "cave", "at": "02.02"}, "map", {"02.02": {"terrain": "brush", "level": 2, "cave": True}},
    ),
    "one that is as all others is not named": (
        "paint", {"terrain": "clear", "at": "01.02 02.03"}, "map", {"02.02": {"terrain": "brush", "level": 2}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_paint_changes_the_hexes_of_the_map(name: str) -> None:
    tool, form, section, hexes = CHANGES[name]
    changed = tree(with_one_more(HAND, tool, form))
    assert changed.pop(section) == {"extent": ["01.01", "05.05"], "fill": "clear", "hexes": hexes}
    before = tree(HAND)
    before.pop(section)
    assert changed == before


def test_lines_that_a_change_is_not_about_stay_as_they_were_written() -> None:
    changed = with_one_more(HAND, "unit", {"id": "B", "side": "japan", "at": "04.04"})
    assert changed == HAND.replace(
        "  - {id: A, side: us, at: 01.01}\n",
        '  - {id: "A", side: us, at: "01.01"}\n  - {id: "B", at: "04.04", side: japan}\n',
    )


def test_a_counter_that_is_there_is_moved_and_one_without_a_name_gets_one() -> None:
    moved = with_one_more(HAND, "unit", {"id": "A", "at": "02.01", "in_cave": "1", "movement": "4.5"})
    assert [str(value) for value in tree(moved)["units"][0].values()] == ["A", "us", "02.01", "4.5", "True"]  # type: ignore[index]
    named = with_one_more(with_one_more(HAND, "unit", {"side": "us"}), "unit", {"side": "us"})
    assert [unit["id"] for unit in tree(named)["units"]] == ["A", "unit 1", "unit 2"]  # type: ignore[attr-defined]


def test_sides_ways_markers_conditions_and_readings_are_written() -> None:
    text = with_one_more(HAND, "side", {"hexside": "cliff", "at": "01.01 01.02"})
    text = with_one_more(text, "path", {"path": "trail", "at": "01.01 01.02"})
    text = with_one_more(text, "mark", {"kind": "smoke_barrage", "at": "03.02"})
    text = with_one_more(text, "conditions", {"time": "night", "weather": ""})
    text = with_readings(text, {"css-12": "a"})
    found = tree(text)
    assert found["map"]["hexsides"] == {"01.01|01.02": "cliff"}  # type: ignore[index]
    assert found["map"]["paths"] == [{"kind": "trail", "hexes": ["01.01", "01.02"]}]  # type: ignore[index]
    assert found["markers"] == [{"kind": "smoke_barrage", "at": "03.02"}]
    assert found["conditions"] == {"time": "night"}
    assert found["policy"] == {"css-12": "a"}
    assert list(found)[-1] == "ask", "new sections come before the questions"
    bare = tree(with_one_more(text, "side", {"hexside": "", "at": "01.02 01.01"}))
    assert "hexsides" not in bare["map"]  # type: ignore[operator]


def test_the_rubber_takes_counters_first_and_paint_then() -> None:
    once = with_one_more(HAND, "erase", {"at": "01.01"})
    assert tree(once)["units"] == []
    twice = with_one_more(once, "erase", {"at": "02.02"})
    assert tree(twice)["map"] == {"extent": ["01.01", "05.05"], "fill": "clear"}


def test_a_question_takes_the_place_of_others_or_stands_beside_them() -> None:
    question = {"range": {"from": "A", "to": "05.05"}}
    assert tree(with_question(HAND, question, beside=False))["ask"] == [question]
    assert tree(with_question(HAND, question, beside=True))["ask"] == [*tree(HAND)["ask"], question]  # type: ignore[misc]


def test_a_case_in_json_is_written_anew() -> None:
    text = '{"case": "x", "ruleset": "css", "map": {"extent": ["01.01", "02.02"]}, "ask": []}'
    changed = with_one_more(text, "paint", {"terrain": "brush", "at": "01.01"})
    assert tree(changed)["map"] == {"extent": ["01.01", "02.02"], "hexes": {"01.01": "brush"}}


@pytest.mark.parametrize(
    ("text", "tool", "form", "told"),
    [
        (HAND, "paint", {"terrain": "brush"}, "It is not said where"),
        (HAND, "paint", {"at": "01.01"}, "It is not said what the hex is to be"),
        (HAND, "side", {"at": "01.01"}, "A hexside lies between two hexes"),
        (HAND, "fly", {"at": "01.01"}, "There is no tool 'fly' here"),
        ("case: x\nruleset: css\nmap: pagasa-coast\n", "paint", {"terrain": "brush", "at": "13.15"}, "the saved map 'pagasa-coast'"),
        ("hello", "paint", {"terrain": "brush", "at": "01.01"}, "The text is no case"),
        ("case: x\nruleset: css\nmap: {hexes: [1]}\n", "paint", {"terrain": "brush", "at": "01.01"}, "hexes is not written as it should be"),
        ("case: x\nruleset: css\nunits: 5\n", "unit", {"side": "us"}, "units is not written as it should be"),
        ("case: x\n", "paint", {"terrain": "brush", "at": "13.15"}, "which game it is of"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_told(text: str, tool: str, form: dict[str, str], told: str) -> None:
    with pytest.raises(SightlineError, match=told):
        with_one_more(text, tool, form)


# The page


@pytest.fixture
def client(engine: Engine) -> FlaskClient:
    return create_app(Settings(log_level="error"), web_engine(engine)).test_client()


@pytest.mark.parametrize("ruleset", CODES)
def test_every_game_has_its_board_and_all_words_of_its_counters(client: FlaskClient, ruleset: str) -> None:
    page = client.get(f"/cases/draw?game={ruleset}").text
    assert page.count('class="field"') == 80
    wanted = [field.word for field in form_fields(UNITS[ruleset])]
    assert [word for word in wanted if f'name="unit.{word}"' not in page] == []


def test_a_game_that_is_none_is_not_found(client: FlaskClient) -> None:
    answer = client.get("/cases/draw?game=ccs")
    assert answer.status_code == 404
    assert "Did you mean ccp?" in answer.text or "Did you mean css?" in answer.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "- a\n- b\n",
        "ruleset: [css]\nask: 5\n",
        "a: [",
        "case: x\nruleset: css\nmap: 5\nask: [1]\n",
    ],
)
@pytest.mark.parametrize("do", ["", "paint", "unit", "ask", "ask beside", "erase"])
def test_no_text_breaks_the_page(client: FlaskClient, text: str, do: str) -> None:
    form = {
        "text": text,
        "case.game": "css",
        "case.do": do,
        "case.ask": "los",
        "from": "01.01",
        "to": "02.02",
        "paint.at": "01.01",
    }
    answer = client.post("/cases/draw", data=form)
    assert answer.status_code in (200, 422)
    assert '<section class="refused"' in answer.text


@pytest.fixture
def board(page: Page) -> Callable[[str], None]:
    """Opens the empty board of a game."""

    def opened(game: str) -> None:
        page.goto("/cases/draw")
        page.get_by_role("link", name=game).click()
        page.wait_for_selector("#sketch[data-ready]")

    return opened


def hold(page: Page, tool: str) -> None:
    page.locator(".sketch-choose label").filter(has_text=tool).click()


def click(page: Page, label: str) -> None:
    page.locator(f'.field[data-hex="{label}"]').click()


def draw_duel(page: Page) -> None:
    """Forest between two companies, and a line of sight from one to the other."""
    page.locator("#paint-terrain").select_option("tropical_forest")
    click(page, "05.04")
    expect(page.locator("#text")).not_to_have_value(blank("css"))
    hold(page, "Counter")
    for code, side, label in (("A/1/9", "us", "03.04"), ("1/38", "japan", "07.04")):
        page.locator("#sketch-id").fill(code)
        page.locator("#sketch-side").select_option(side)
        click(page, label)
        expect(page.locator(f'.field[data-hex="{label}"][data-units]')).to_have_count(1)
    hold(page, "Ask")
    click(page, "03.04")
    expect(page.locator("#said")).to_have_text("Now to.")
    click(page, "07.04")


def test_a_case_is_asked_by_clicks_from_an_empty_page(page: Page, board: Callable[[str], None]) -> None:
    board("Guam")
    draw_duel(page)
    verdict = page.locator(".verdict")
    expect(verdict).to_have_text("A/1/9 does not see 1/38: blocked by 05.04; range 4")
    text = tree(page.locator("#text").input_value())
    assert text["ask"] == [{"los": {"from": "A/1/9", "to": "1/38"}}]
    keep_picture(page, "draw")
    hold(page, "Rubber")
    click(page, "05.04")
    expect(verdict).to_have_text("A/1/9 sees 1/38; range 4")


def test_tool_and_board_are_seen_together(page: Page, board: Callable[[str], None]) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    board("Guam")
    for tool in ("Paint", "Counter"):
        hold(page, tool)
        for seen in ("fieldset[data-tool]:visible", ".board > svg"):
            box = page.locator(seen).first.bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 800, (tool, seen)


def test_what_is_typed_is_drawn_and_mistakes_stand_in_the_gutter(
    page: Page, board: Callable[[str], None]
) -> None:
    board("Guam")
    draw_duel(page)
    expect(page.locator(".verdict")).to_have_count(1)
    box = page.locator("#text")
    text = box.input_value()
    box.fill(text.replace("tropical_forest", "tropical_forrest"))
    expect(page.locator(".gutter .wrong")).to_have_text("8")
    expect(page.locator(".problems")).to_contain_text("Did you mean tropical_forest")
    # the board stays, pale
    expect(page.locator(".board.stale > svg")).to_have_count(1)
    box.fill(text.replace('"05.04": tropical_forest', '"05.04": clear'))
    expect(page.locator(".verdict")).to_have_text("A/1/9 sees 1/38; range 4")
    expect(page.locator(".gutter .wrong")).to_have_count(0)


def test_a_stroke_paints_every_hex_that_it_goes_over(page: Page, board: Callable[[str], None]) -> None:
    board("Guam")
    page.locator("#paint-terrain").select_option("brush")
    ends = [page.locator(f'.field[data-hex="{label}"]').bounding_box() for label in ("03.05", "03.07")]
    (x, y), (_, end) = [(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in ends if box]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, end, steps=12)
    page.mouse.up()
    expect(page.locator("#text")).not_to_have_value(blank("css"))
    assert tree(page.locator("#text").input_value())["map"]["hexes"] == dict.fromkeys(  # type: ignore[index]
        ["03.05", "03.06", "03.07"], "brush"
    )


def test_words_of_the_game_are_completed(page: Page, board: Callable[[str], None]) -> None:
    board("Guam")
    box = page.locator("#text")
    box.press("Control+End")
    box.type("# tropical_f")
    expect(page.locator("#completed")).to_contain_text("tropical_forest")
    box.press("Tab")
    assert box.input_value().endswith("# tropical_forest")


def test_another_reading_goes_into_the_text(page: Page) -> None:
    page.goto("/cases/draw?example=paddy")
    page.wait_for_selector("#sketch[data-ready]")
    before = page.locator(".verdict").first.text_content() or ""
    page.locator("button.switch").first.click()
    expect(page.locator(".verdict").first).not_to_have_text(before)
    assert "policy" in tree(page.locator("#text").input_value())


def test_without_script_every_tool_is_a_form(browser: Browser, site: str) -> None:
    context = browser.new_context(base_url=site, java_script_enabled=False)
    page = context.new_page()
    page.goto("/cases/draw?game=bob")
    page.get_by_label("Terrain").select_option("woods")
    page.locator("#paint-at").fill("C3")
    page.get_by_role("button", name="Paint", exact=True).click()
    assert tree(page.locator("#text").input_value())["map"]["hexes"] == {"C3": "woods"}  # type: ignore[index]
    page.locator("#ask-from").fill("A3")
    page.locator("#ask-to").fill("E3")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".verdict")).to_have_count(1)
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_board_keeps_nobody_out_and_fits_a_phone(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto("/cases/draw?example=jungle")
    page.wait_for_selector("#sketch[data-ready]")
    assert serious_findings(page) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
