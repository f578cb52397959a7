"""Frame times of the map page: panning and zooming in a real browser, of several servers in turn.

    python -m tests.bench.frames http://127.0.0.1:8765 http://127.0.0.1:8766

A frame is what passes between two calls of requestAnimationFrame; on a screen of 60 Hz it is 16.7 ms or a multiple.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browsing import CHROMIUM, QUIET

MAP = "/maps/campaign-island"
ROUNDS = 3
SLOW = 50
"""Milliseconds of a frame that is seen to be slow."""
RECORD = """() => {
  window.frames_told = []; window.recording = true;
  let last = null;
  const tick = (now) => {
    if (last !== null) window.frames_told.push(now - last);
    last = now;
    if (window.recording) requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""
Frames = dict[str, list[float]]


def walk(page: Page) -> Frames:
    """Pan far, zoom in and out, pan nearer, pan near: the frames of each."""
    board = page.locator("#map")
    box = board.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    found: Frames = {}

    def recorded(what: str, act: Callable[[], None]) -> None:
        page.wait_for_timeout(700)
        page.evaluate(RECORD)
        act()
        page.wait_for_timeout(250)
        found[what] = page.evaluate("() => { window.recording = false; return window.frames_told; }")

    def pan() -> None:
        for right, down in ((-260, 0), (0, -200), (260, 0), (0, 200)):
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + right, y + down, steps=30)
            page.mouse.up()
            page.wait_for_timeout(120)

    def zoom() -> None:
        for key in "++--++--":
            board.press(key)
            page.wait_for_timeout(350)

    board.press("0")
    recorded("pan, the whole map", pan)
    recorded("zoom in and out", zoom)
    for what in ("pan, nearer", "pan, near"):
        board.press("+")
        board.press("+")
        recorded(what, pan)
    return found


def measured(browser: Browser, address: str) -> Frames:
    """The frames of a new visitor to one server."""
    context = browser.new_context(base_url=address, viewport={"width": 1300, "height": 860})
    page = context.new_page()
    page.goto(MAP)
    page.wait_for_selector("#map[data-ready]")
    page.wait_for_timeout(1200)
    found = walk(page)
    context.close()
    return found


def main(addresses: list[str]) -> None:
    """Every server in turn, some rounds, and a line for each."""
    frames: dict[str, Frames] = {address: {} for address in addresses}
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        for turn in range(ROUNDS):
            for address in addresses if turn % 2 == 0 else reversed(addresses):
                for what, found in measured(browser, address).items():
                    frames[address].setdefault(what, []).extend(found)
        browser.close()
    for what in frames[addresses[0]]:
        for address in addresses:
            found = sorted(frames[address][what])
            least = [found[int(part * (len(found) - 1))] for part in (0.9, 0.95, 0.99)]
            slow = 100 * sum(frame > SLOW for frame in found) / len(found)
            told = ", ".join(f"{frame:.1f}" for frame in (median(found), *least))
            print(f"{what:20} {address}: median, p90, p95, p99 {told} ms; {slow:.1f} % above {SLOW} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
