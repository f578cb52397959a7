"""Make the pictures of the README and of these pages, from a running server with the demo loaded.

./sightline serve &
./sightline game import tests/games/fpb/angaur-solitaire.txt --name angaur
.venv/bin/python docs/screenshots.py http://127.0.0.1:8765
"""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
LINE = "tool=los&from=A%2F1%2F31&to=14.12"
PAINTED = """() => !document.querySelector("#map") || document.querySelector("#map[data-ready]")
  && [...document.querySelectorAll("#map .leaflet-tile")].every((tile) => tile.classList.contains("leaflet-tile-loaded"))"""


@dataclasses.dataclass(frozen=True)
class Picture:
    """A page to take, and how it is looked at."""

    name: str
    address: str
    scheme: Literal["light", "dark"] = "light"
    width: int = 1280
    height: int = 800


PICTURES = (
    Picture("home", "/"),
    Picture("line", f"/positions/lipata-landing?{LINE}"),
    Picture("fan", "/positions/lipata-landing?tool=fan&from=A%2F7+Tank&range=5"),
    Picture("reach", "/positions/lipata-landing?tool=reach&unit=C%2F1%2F31"),
    Picture("zone", "/positions/lipata-landing?tool=fire_zone&side=japan"),
    Picture("desk", "/cases"),
    Picture("dark", f"/positions/lipata-landing?{LINE}", scheme="dark"),
    Picture("game", "/games/angaur?at=41", width=1400, height=900),
    Picture("phone", f"/positions/lipata-landing?{LINE}", width=390, height=844),
)


def take(browser: Browser, site: str, picture: Picture) -> None:
    """Open a page and keep what it looks like."""
    page = browser.new_page(
        base_url=site,
        color_scheme=picture.scheme,
        viewport={"width": picture.width, "height": picture.height},
    )
    page.goto(picture.address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    page.wait_for_function(PAINTED)
    page.screenshot(path=IMAGES / f"{picture.name}.png")
    page.close()


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    IMAGES.mkdir(exist_ok=True)
    with sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        for picture in PICTURES:
            take(browser, sys.argv[1], picture)
            print(IMAGES / f"{picture.name}.png")
        browser.close()


if __name__ == "__main__":
    main()
