"""The palette: how every terrain, hexside, path, side and mark of the five games looks.

One look a word: jungle is jungle in every game. A terrain has a colour, the ink of its
pattern, and the pattern, so that two kinds differ in shape where their colours are alike to
a colour-blind reader. Colours are written for paper; those of the dark are computed from
them. `stylesheet()` turns the drawings dark: an attribute has the colour of paper, a rule
for its class takes its place on a dark screen.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

DARK = "@media screen and (prefers-color-scheme: dark)"


class Look(NamedTuple):
    """How a terrain is drawn."""

    fill: str
    ink: str
    pattern: str | None = None
    """A word of `PATTERNS`; None: plain."""


class Stroke(NamedTuple):
    """How a hexside or a path is drawn; widths and dashes in hundredths of a hex's corner radius."""

    ink: str
    width: float
    dash: str = ""
    casing: str | None = None
    """The colour of a wider line beneath it."""
    teeth: str | None = None
    """Marks on the side of the lower ground: `ticks`, `long_ticks` or `triangles`; `cross`: over the line."""


class Pattern(NamedTuple):
    """A tile that is laid over a terrain, in hundredths of a hex's corner radius."""

    width: int
    height: int
    shapes: str
    """SVG whose ink is `currentColor`; what crosses an edge goes on at the one across, or it would be cut off."""


def _lines(d: str, width: float = 3) -> str:
    return (
        f'<path d="{d}" fill="none" stroke="currentColor" stroke-width="{width}"'
        ' stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _solid(d: str) -> str:
    return f'<path d="{d}" fill="currentColor"/>'


def _dots(radius: float, *places: tuple[float, float]) -> str:
    return "".join(f'<circle cx="{x}" cy="{y}" r="{radius}" fill="currentColor"/>' for x, y in places)


PATTERNS: dict[str, Pattern] = {
    "sand": Pattern(48, 48, _dots(2.4, (6, 8), (30, 4), (18, 22), (42, 20), (8, 38), (32, 36))),
    "rocks": Pattern(66, 58, _lines("M6 22l8-13 9 4 6 9zM38 50l6-11 10-2 8 13zM44 12l5-6 6 6M10 46l5-6 6 6")),
    "tufts": Pattern(
        56, 48, _lines("M8 20q-1-8-4-11M9 20V6M10 20q1-8 4-11M36 44q-1-8-4-11M37 44V30M38 44q1-8 4-11")
    ),
    "bushes": Pattern(
        63, 52,
        _lines("M6 20a7 7 0 0 1 4-12 8 8 0 0 1 15 1 6 6 0 0 1 2 11zM36 46a7 7 0 0 1 4-12 8 8 0 0 1 15 1 6 6 0 0 1 2 11z"),
    ),
    "grass": Pattern(
        44, 40, _lines("M4 16l3-11M9 16l0-9M14 16l-2-11M26 36l3-11M31 36l0-9M36 36l-2-11", 2.6)
    ),
    "reeds": Pattern(
        64, 52, _lines("M4 20H28M16 20V7M10 20l-3-9M22 20l3-9M36 46H60M48 46V33M42 46l-3-9M54 46l3-9")
    ),
    "runway": Pattern(40, 40, _lines("M0 40L40 0M-4 4L4-4M36 44L44 36", 4)),
    "blocks": Pattern(
        62, 62, _solid("M6 6h18v14H6zM36 4h20v10H36zM40 24h16v18H40zM8 32h22v10H8zM6 50h14v8H6zM32 50h12v8H32z")
    ),
    "houses": Pattern(64, 58, _solid("M6 22V12l9-8 9 8v10zM38 50V40l9-8 9 8v10zM42 16v-6l5-5 5 5v6z")),
    "planks": Pattern(48, 24, _lines("M0 6H48M0 18H48M12 6V18M36 18V24M36 0V6", 2.6)),
    "huts": Pattern(60, 52, _lines("M4 14L15 4l11 10M8 14v8h14v-8M34 40l11-10 11 10M38 40v8h14v-8", 3.4)),
    "paddies": Pattern(52, 44, _lines("M0 4H52M0 26H52M14 4V26M40 26V44M40 0V4", 2.6)),
    "palms": Pattern(
        64, 60,
        _lines("M16 26q3-9 1-16M17 10q-7-5-12 1M17 10q7-5 12 1M17 10q-5 1-7 8M17 10q5 1 7 8"
               "M48 56q3-9 1-16M49 40q-7-5-12 1M49 40q7-5 12 1M49 40q-5 1-7 8M49 40q5 1 7 8"),
    ),
    "trees": Pattern(
        55, 49,
        _lines("M4 14a7 7 0 0 1 13-4 7 7 0 0 1 9 8 6 6 0 0 1-11 3 7 7 0 0 1-11-7zM30 37a7 7 0 0 1 13-4"
               " 7 7 0 0 1 9 8 6 6 0 0 1-11 3 7 7 0 0 1-11-7z", 3.4),
    ),
    "sparse_trees": Pattern(72, 64, _lines("M8 18a8 8 0 1 1 16 0a8 8 0 1 1-16 0M44 50a8 8 0 1 1 16 0a8 8 0 1 1-16 0")),
    "roots": Pattern(
        60, 56, _lines("M15 6V16L5 25M15 16L25 25M15 16V25M8 4h14M45 34V44L35 53M45 44L55 53M45 44V53M38 32h14")
    ),
    "crops": Pattern(24, 40, _lines("M6 0V40M18 0V40", 2.6) + _dots(3, (6, 10), (18, 30))),
    "wheat": Pattern(30, 36, _lines("M8 34V8M8 14l-5-5M8 14l5-5M8 22l-5-5M8 22l5-5M23 16V-6M23 36V28", 2.4)),
    "gully": Pattern(44, 44, _lines("M4 4l10 6-4 10 12 6-2 12", 3.4) + _lines("M30 2v9M38 8v9M28 28v9M36 33v9", 2.2)),
    "waves": Pattern(64, 44, _lines("M2 12q8-9 15 0t15 0M32 34q8-9 15 0t15 0", 2.8)),
    "swells": Pattern(72, 40, _lines("M0 10q18-14 36 0t36 0M0 30q18-14 36 0t36 0", 2.8)),
    "ripples": Pattern(44, 32, _lines("M2 8q5-5 10 0M24 24q5-5 10 0M24 8h10M2 24h10", 2.6)),
    "canal": Pattern(40, 24, _lines("M0 6H40M6 18H30", 2.6)),
    "foam": Pattern(56, 36, _lines("M2 12a6 6 0 0 1 12 0a6 6 0 0 1 12 0M30 30a6 6 0 0 1 12 0a6 6 0 0 1 12 0", 2.8)),
    "reef": Pattern(56, 52, _lines("M6 8l9 9M15 8l-9 9M34 34l9 9M43 34l-9 9", 3) + _dots(2.4, (38, 12), (12, 38))),
    "coral": Pattern(56, 56, _lines("M14 26V14M14 18l-7-9M14 16l7-9M42 54V42M42 46l-7-9M42 44l7-9M40 12h6M10 42h6", 3.2)),
    "firs": Pattern(56, 52, _lines("M14 24V19M6 19L14 3l8 16zM42 50V45M34 45l8-16 8 16z", 3.2)),
    "flames": Pattern(
        52, 52, _solid("M14 24c-8 0-10-8-5-13 0 4 3 4 3 1 0-5 1-7 4-9-1 5 6 7 5 14-1 4-4 7-7 7z"
                       "M40 50c-8 0-10-8-5-13 0 4 3 4 3 1 0-5 1-7 4-9-1 5 6 7 5 14-1 4-4 7-7 7z"),
    ),
    "hills": Pattern(72, 56, _lines("M4 24q14-22 28 0M14 24q4-8 9-9M40 50q14-22 28 0M50 50q4-8 9-9", 3)),
    "wooded_hills": Pattern(
        72, 60, _lines("M4 28q14-24 28 0", 3.4)
        + _lines("M42 18a7 7 0 1 1 14 0a7 7 0 1 1-14 0M8 50a7 7 0 1 1 14 0a7 7 0 1 1-14 0M56 18a6 6 0 1 1 12 0a6 6 0 1 1-12 0")
        + _lines("M38 56q14-24 28 0", 3.4),
    ),
    "peaks": Pattern(
        72, 64, _lines("M4 28L18 4l14 24") + _solid("M18 4l14 24H22zM54 36l14 24H58z") + _lines("M40 60l14-24 14 24")
    ),
    "orchard": Pattern(40, 40, _dots(7, (10, 10), (30, 30)) + _dots(2, (30, 10), (10, 30))),
    "coast": Pattern(60, 44, _dots(2.4, (8, 8), (30, 4), (46, 12)) + _lines("M2 30q8-9 15 0t15 0", 2.8)),
}  # fmt: skip

_SEA, _DEEP = Look("#a8cfe4", "#6d9fbe", "waves"), "#5b8db0"
_JUNGLE, _SWAMP = Look("#86ad6c", "#4c7a3f", "trees"), Look("#b5cdb5", "#557f68", "reeds")
_HOUSES, _RUNWAY = Look("#dfc0ae", "#7c4a3a", "blocks"), Look("#d8d5cd", "#b1aca1", "runway")
_PALMS, _GRASS = Look("#c8db9f", "#6a8b3f", "palms"), Look("#dfe2a0", "#98a046", "grass")
_SAND = Look("#f5e4b4", "#c4a35a", "sand")

TERRAIN: dict[str, Look] = {
    "airstrip": _RUNWAY,
    "beach": _SAND,
    "blaze": Look("#f3c08c", "#c2410c", "flames"),
    "bridge": Look("#d9c7a6", "#8a6b3e", "planks"),
    "brush": Look("#dde2ab", "#8c984a", "tufts"),
    "building": _HOUSES,
    "buildings": Look("#d6b49f", "#6d3f31", "houses"),
    "bush": Look("#d0dc9d", "#7f923e", "bushes"),
    "canal": Look("#9cc4de", _DEEP, "canal"),
    "clear": Look("#f0f1dd", "#c9ccab"),
    "coast": Look("#ecdfb6", "#8aa9b4", "coast"),
    "coral": Look("#e6cdb9", "#a5714f", "coral"),
    "grass": _GRASS,
    "gully": Look("#d3c09c", "#94784a", "gully"),
    "hill": Look("#dcc9a0", "#a08146", "hills"),
    "hill_jungle": Look("#a3b076", "#5d6d33", "wooded_hills"),
    "hut": Look("#dfc598", "#86592a", "huts"),
    "jungle": _JUNGLE,
    "kunai_grass": _GRASS,
    "light_jungle": Look("#bdd4a0", "#6f975a", "sparse_trees"),
    "mangrove_swamp": Look("#97b8a2", "#3f6b58", "roots"),
    "marsh": _SWAMP,
    "mountain": Look("#c3a883", "#7a5a35", "peaks"),
    "ocean": Look("#8fbfdc", _DEEP, "waves"),
    "open_ground": Look("#efedd6", "#cbc7a5"),
    "orchard": Look("#cfe0b0", "#7ea35a", "orchard"),
    "palm": _PALMS,
    "palm_forest": Look("#bdd493", "#5f8238", "palms"),
    "palm_trees": _PALMS,
    "phosphate_plant": Look("#d9d2dd", "#5b4a6e", "blocks"),
    "reef": Look("#b4dbd7", "#5a9a97", "reef"),
    "rice_paddy": Look("#d3e6d6", "#86ad94", "paddies"),
    "river": Look("#9ccae6", _DEEP, "swells"),
    "rocky": Look("#d2cabb", "#85796a", "rocks"),
    "runway": _RUNWAY,
    "sandbar": _SAND,
    "sea": _SEA,
    "shallow": Look("#cbe6ea", "#86b7c2", "ripples"),
    "stone_building": Look("#c9c5c0", "#5f5b57", "blocks"),
    "stream": Look("#c3dfec", "#6d9fbe", "ripples"),
    "sugar_cane": Look("#e5df98", "#9a9336", "crops"),
    "surf": Look("#d3ebf0", "#7fb3c6", "foam"),
    "swamp": _SWAMP,
    "town": _HOUSES,
    "tropical_forest": Look("#82aa68", "#46743a", "trees"),
    "village": Look("#e3c7a8", "#7c4a2a", "huts"),
    "water_barrier": Look("#92c0de", _DEEP, "waves"),
    "wheat_field": Look("#eddf9b", "#b39838", "wheat"),
    "wooden_building": Look("#d7b48f", "#7d5226", "houses"),
    "woods": Look("#a3c18a", "#4a7340", "firs"),
}

HEXSIDES: dict[str, Stroke] = {
    "cliff": Stroke("#3d2c1c", 7, teeth="triangles"),
    "escarpment": Stroke("#5a3a1c", 5, casing="#c9a877", teeth="triangles"),
    "hedgerow": Stroke("#3d6b2e", 11, dash="1 13"),
    "ravine": Stroke("#efe3cb", 4, dash="7 6", casing="#5a4632"),
    "ridge": Stroke("#8a4b14", 10, dash="14 5"),
    "river": Stroke("#4f97cb", 13, casing="#2f6ea0"),
    "roadblock": Stroke("#b3261e", 5, teeth="cross"),
    "slope": Stroke("#a0703c", 4, teeth="ticks"),
    "steep_slope": Stroke("#7d4a1c", 6, teeth="long_ticks"),
    "stream": Stroke("#4f97cb", 6),
    "wall": Stroke("#8b8780", 8, dash="9 3", casing="#4a4741"),
}
PATHS: dict[str, Stroke] = {
    "causeway": Stroke("#efe6d2", 6, casing="#6a5f4c", dash="16 5"),
    "dike_road": Stroke("#e2cf9c", 8, casing="#6b4d1f"),
    "paved_road": Stroke("#fdfbf3", 8, casing="#55514a"),
    "path": Stroke("#8b5a2b", 4, dash="9 7"),
    "road": Stroke("#f6e7c1", 8, casing="#6b5b3f"),
    "trail": Stroke("#7a5530", 4.5, dash="10 7"),
    "unpaved_road": Stroke("#e9cf98", 7, casing="#83673a", dash="18 4"),
}

CREST = Stroke("#8a5a2b", 7, teeth="ticks")
CONTOUR = Stroke("#a07b4f", 3.5)


class Paint(NamedTuple):
    """What a counter is printed in: the card, its edge, and its ink."""

    card: str
    edge: str
    ink: str


SIDES: dict[str, Paint] = {
    "us": Paint("#47632f", "#24361a", "#ffffff"),
    "marine": Paint("#2f5f47", "#173526", "#ffffff"),
    "army": Paint("#55602a", "#323a14", "#ffffff"),
    "navy": Paint("#35526f", "#1c3044", "#ffffff"),
    "japan": Paint("#e3a31a", "#85560c", "#2a1a05"),
    "commonwealth": Paint("#96592b", "#54300f", "#ffffff"),
    "allied": Paint("#47632f", "#24361a", "#ffffff"),
    "german": Paint("#6a7583", "#3a434d", "#ffffff"),
    "russian": Paint("#a2503f", "#5e2419", "#ffffff"),
    "italian": Paint("#2f7a66", "#174a3c", "#ffffff"),
}
"""By nation, service or side, whichever is told first."""
ANYONE = Paint("#d9d6ce", "#6b675e", "#1d1b17")

FIRE: dict[str, Paint] = {
    "small_arms": Paint("#1d1b17", "#1d1b17", "#ffffff"),
    "high_explosive": Paint("#b3261e", "#7d150f", "#ffffff"),
    "armor_piercing": Paint("#f2c230", "#8a6a00", "#1d1b17"),
    "white": Paint("#ffffff", "#5b5b5b", "#1d1b17"),
    "indirect": Paint("#2f5fa8", "#1c3c70", "#ffffff"),
}
"""The box of a fire value, by its type (css)."""

SIGNS: dict[str, tuple[str, str]] = {
    "airstrip": ("#55514a", "M-11 11L11-11M-3 11L11-3"),
    "cave": ("#3d2c1c", "M-10 9V1a10 10 0 0 1 20 0v8"),
    "coast": ("#2f6ea0", "M-12 0q6-7 12 0t12 0"),
    "landing_beach": ("#8a6a1c", "M0-11V8M-8 1l8 8 8-8"),
    "phosphate_plant": ("#5b4a6e", "M-11 9V-8h4v9l7-5v5l7-5V9z"),
    "reef": ("#5a9a97", "M-12 6q3-8 6 0t6 0 6 0 6 0"),
    "balka": ("#8a4b14", "M-11-8q4 16 11 16T11-8"),
    "bridge": ("#4a4741", "M-11-5h22M-11 5h22M-6-5v10M6-5v10"),
    "rail": ("#4a4741", "M-11-4h22M-11 4h22M-8-8v16M0-8v16M8-8v16"),
    "shallow": ("#2f6ea0", "M-11-3q5-5 11 0t11 0M-11 5q5-5 11 0t11 0"),
    "ridge": ("#8a4b14", "M-12 7l7-12 5 8 5-10 7 14"),
    "village": ("#7c4a2a", "M-10 9V-2L0-10 10-2V9z"),
    "airfield": ("#55514a", "M-12-3l24-6M-12 9l24-6M0-8V6"),
    "barracks": ("#5b4a3a", "M-11 9V-4h22V9zM-11-4l11-6 11 6M-3 9V2h6v7"),
    "ditch": ("#6b4a22", "M-12-5h6l6 12 6-12h6"),
    "victory": ("#8a6a1c", "M0-11l3 7h8l-6 5 2 8-7-5-7 5 2-8-6-5h8z"),
}
"""Features printed in a hex beside its terrain: a colour and lines about its centre."""

DOTS: dict[str, str] = {
    "blue": "#2f5fa8", "brown": "#7a4a1c", "green": "#2f7a3a", "orange": "#d9730d", "purple": "#7a3f98",
    "red": "#c01818", "": "#4a4741",
}  # fmt: skip
"""Colours of printed positions and their fire dots (ddp); the last where a map names none of them."""

MARKS: dict[str, str] = {"end": "#111111", "line": "#4a3f8f", "blocks": "#c01818", "answer": "#1358c4"}
"""What a ruling marks on a map, as `app.terminal.report.marked` names it."""

INKS: dict[str, str] = {
    "label": "#4c4a3d", "grid": "#8d8a78", "level": "#6b4a22", "name": "#1d1b17", "paper": "#fbfaf6",
    "height": "#6b3f10", "deep": "#2f6f9f", "coast": "#4d86a6", "foam": "#f2fafc", "veil": "#f4f2ea",
    "water": _SEA.fill,
}  # fmt: skip
"""Other colours of a drawn map."""


def dot_colour(word: object) -> str:
    """The colour of a printed position; ink where none of ours is named."""
    return DOTS.get(str(word), DOTS[""])


def tile(look: Look) -> Pattern:
    """The pattern of a look; an empty tile where it is plain."""
    return PATTERNS[look.pattern] if look.pattern else Pattern(40, 40, "")


# The same colours in the dark


def at_night(look: Look) -> Look:
    """A terrain on a dark screen: the fill dim, its ink a little lighter than it."""
    fill = night(look.fill)
    _, a, b = lab(look.ink)
    return Look(fill, from_lab(lab(fill)[0] + 21, 0.8 * a, 0.8 * b), look.pattern)


def by_night(stroke: Stroke) -> Stroke:
    """A line on a dark screen."""
    casing = None if stroke.casing is None else night(stroke.casing)
    return stroke._replace(ink=night_ink(stroke.ink), casing=casing)


@functools.cache
def dark_inks() -> dict[str, str]:
    """The inks, the marks and the lines of levels on a dark screen."""
    grounds = {
        "paper": "#161a18",
        "veil": "#0c0f0d",
        "grid": night(INKS["grid"]),
        "water": night(INKS["water"]),
        "deep": "#0a2233",
        "foam": night(INKS["foam"]),
    }
    inks = {word: _bright(colour, 86) for word, colour in INKS.items() if word not in grounds}
    lines = {"contour": by_night(CONTOUR).ink, "crest": by_night(CREST).ink}
    return inks | grounds | {word: _bright(colour) for word, colour in MARKS.items()} | lines


@functools.cache
def night(colour: str) -> str:
    """A ground colour in the dark: the same hue, with less than half the light."""
    light, a, b = lab(colour)
    return from_lab(0.62 * light - 18, 0.95 * a, 0.95 * b)


@functools.cache
def night_ink(colour: str) -> str:
    """A line's or letter's colour in the dark: what was darker than paper is lighter than the ground."""
    light, a, b = lab(colour)
    return from_lab(78 - 0.28 * light if light < 75 else 0.78 * light, 0.8 * a, 0.8 * b)


def lab(colour: str) -> tuple[float, float, float]:
    """A colour as CIE L*a*b* (D65)."""
    x, y, z = _xyz(*linear(colour))
    fx, fy, fz = (_f(value) for value in (x / 0.95047, y, z / 1.08883))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def from_lab(light: float, a: float, b: float) -> str:
    """The colour nearest to CIE L*a*b* that a screen shows."""
    fy = (light + 16) / 116
    x, y, z = 0.95047 * _g(fy + a / 500), _g(fy), 1.08883 * _g(fy - b / 200)
    return written(
        3.2404542 * x - 1.5371385 * y - 0.4985314 * z,
        -0.9692660 * x + 1.8760108 * y + 0.0415560 * z,
        0.0556434 * x - 0.2040259 * y + 1.0572252 * z,
    )


def linear(colour: str) -> tuple[float, float, float]:
    """Red, green and blue light of a colour `#rrggbb`, 0 to 1."""
    red, green, blue = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    return _light(red), _light(green), _light(blue)


def written(red: float, green: float, blue: float) -> str:
    """The way back, cut to what can be written."""
    return "#" + "".join(
        f"{round(255 * _coded(min(1.0, max(0.0, value)))):02x}" for value in (red, green, blue)
    )


def _light(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _coded(value: float) -> float:
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055


def _xyz(red: float, green: float, blue: float) -> tuple[float, float, float]:
    return (
        0.4124564 * red + 0.3575761 * green + 0.1804375 * blue,
        0.2126729 * red + 0.7151522 * green + 0.0721750 * blue,
        0.0193339 * red + 0.1191920 * green + 0.9503041 * blue,
    )


def _f(t: float) -> float:
    return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29


def _g(t: float) -> float:
    return t**3 if t > 6 / 29 else 3 * (6 / 29) ** 2 * (t - 4 / 29)


# The stylesheet of drawings


@functools.cache
def stylesheet() -> str:
    """Rules that turn a drawn map dark on a dark screen; on paper and in the light its attributes hold."""
    rules = "\n".join(f"  {rule}" for rule in _dark_rules())
    return f"{DARK} {{\n{rules}\n}}\n"


def _dark_rules() -> Iterator[str]:
    for word, look in TERRAIN.items():
        dark = at_night(look)
        yield f".fill-{word} {{ fill: {dark.fill}; }} .ink-{word} {{ color: {dark.ink}; }}"
    for kind, strokes in (("hexside", HEXSIDES), ("path", PATHS)):
        for word, stroke in strokes.items():
            dark_line = by_night(stroke)
            yield f".{kind}-{word} {{ color: {dark_line.ink}; }}"
            if dark_line.casing:
                yield f".{kind}-{word}-casing {{ color: {dark_line.casing}; }}"
    inks = dark_inks()
    yield from (f".map-{word} {{ color: {inks[word]}; }}" for word in INKS)
    yield from (f".mark-{word} {{ color: {inks[word]}; }}" for word in MARKS)
    yield from (f".{word} {{ color: {inks[word]}; }}" for word in ("contour", "crest"))
    yield f".halo {{ stroke: {inks['paper']}; }}"


def _bright(colour: str, light: float = 78) -> str:
    _, a, b = lab(colour)
    return from_lab(light, a, b)
