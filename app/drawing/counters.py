"""Counters and markers as SVG, 50 by 50: the side's colour, a NATO-style symbol, the printed values.

Nothing is drawn that the counter does not say. A counter is a card and looks the same by
day and night.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from app.drawing.palette import ANYONE, FIRE, SIDES, Paint
from db.counters import Unit

SIZE = 50
"""Side of a counter in its own units."""
FRAME = (13, 14, 24, 15)
"""The symbol's box: x, y, width, height."""

_CROSS = "M13 14L37 29M37 14L13 29"
_OVAL = "M19 17.5h12a4 4 0 0 1 0 8H19a4 4 0 0 1 0-8z"
_WAVE = "M14.5 27q2.6-2.6 5.2 0t5.2 0 5.2 0 5.2 0"
_FLAG = "M13 14V35"
_GUN = "M25 27.5V16M22.2 19L25 16l2.8 3M20.5 27.5h9"


class Symbol(NamedTuple):
    """What stands in the box: lines, filled shapes and letters."""

    lines: str = ""
    solid: str = ""
    letters: str = ""
    framed: bool = True
    echelon: str = ""


_STAR = "M25 13.6l2.5 5.3 5.8.7-4.3 4 1.1 5.8-5.1-2.9-5.1 2.9 1.1-5.8-4.3-4 5.8-.7z"
_SIGHTS = "M25 15.5a6 6 0 1 1 0 12a6 6 0 1 1 0-12M25 13.2v5M25 24.8v5M16.6 21.5h5M28.4 21.5h5"
_ANCHOR = "M25 16.2v9.6M22.4 18.6h5.2M20.4 22.8q.6 4 4.6 4t4.6-4"

SYMBOLS: dict[str, Symbol] = {
    "aircraft": Symbol(solid="M14 17.5l11 4-11 4zM36 17.5l-11 4 11 4z"),
    "ambush": Symbol(letters="?"),
    "amphibious_infantry": Symbol(_CROSS + _WAVE),
    "amphibious_tank": Symbol(_OVAL + _WAVE),
    "artillery": Symbol(solid="M25 18.3a3.2 3.2 0 1 1 0 6.4a3.2 3.2 0 1 1 0-6.4"),
    "carrier": Symbol(_OVAL + _CROSS),
    "command_post": Symbol(_FLAG, letters="CP"),
    "concealed": Symbol(letters="?"),
    "decoy": Symbol(letters="?"),
    "engineer": Symbol("M17.5 26v-7h15v7M25 19v7"),
    "garrison": Symbol("M18.5 27v-9h3v2.4h2.2V18h2.6v2.4h2.2V18h3v9z"),
    "gun": Symbol("M25 28V15.5M20.8 18.5V28M29.2 18.5V28"),
    "heavy_infantry": Symbol(_CROSS + "M25 14V29"),
    "heavy_weapons": Symbol(_GUN),
    "hero": Symbol(solid=_STAR, framed=False),
    "hq": Symbol(_FLAG, letters="HQ"),
    "infantry": Symbol(_CROSS),
    "infantry_hq": Symbol(_CROSS + _FLAG),
    "japanese_marine": Symbol(_CROSS + _ANCHOR),
    "leader": Symbol(_STAR, framed=False),
    "regimental_hq": Symbol(_FLAG, letters="HQ", echelon="III"),
    "scout": Symbol("M13 29L37 14"),
    "sniper": Symbol(_SIGHTS, framed=False),
    "sogeki_hei": Symbol(_SIGHTS, framed=False),
    "squad": Symbol(_CROSS, echelon="•"),
    "support_weapon": Symbol(_GUN),
    "tank": Symbol(_OVAL),
    "team": Symbol(_CROSS, echelon="Ø"),
    "truck": Symbol("M16 24.5v-6.5h10v6.5M26 20h5.5l2.5 2.6v1.9H16", "M19 23.4a1.9 1.9 0 1 1 0 3.8a1.9 1.9 0 1 1 0-3.8M30.5 23.4a1.9 1.9 0 1 1 0 3.8a1.9 1.9 0 1 1 0-3.8"),
    "vehicle": Symbol(_OVAL),
    "weapon": Symbol(_GUN),
    "wt": Symbol(_GUN),
    "satt": Symbol(_CROSS, letters="AT"),
    "illumination": Symbol("M25 13v4M25 24v4M16 20.5h5M29 20.5h5M19 15l3 3M28 23l3 3M31 15l-3 3M22 23l-3 3"),
}  # fmt: skip
"""By kind of unit, of all games."""

RIM = "#fbf8ee"
COMPANIES = ("css", "ddp")
"""Games whose units are companies; their echelon is one bar."""


def counter(unit: Unit, ruleset: str, turn: int = 0) -> Markup:
    """A unit's counter; `turn` is the quarter circle by which a pointed map lies against the lattice."""
    said = _says(unit)
    paint = paint_of(said)
    parts = [
        # a light line about the card: it stands out from any ground, by day and by night
        f'<rect x=".4" y=".4" width="49.2" height="49.2" rx="4.6" fill="{RIM}"/>'
        f'<rect x="1.5" y="1.5" width="47" height="47" rx="3.6" fill="{paint.card}" stroke="{paint.edge}"'
        ' stroke-width="1.4"/>',
        _text(25, 9.6 if getattr(unit, "facing", None) == 1 else 8.2, unit.id, 6.6, paint.ink, width=40),
        *_symbol(unit, ruleset, paint, turn),
        *VALUES[ruleset](said, paint),
        *_state(said, paint),
    ]
    return _svg(f"{unit.id}: {describe(unit)}", parts)


def describe(unit: Unit) -> str:
    """A counter in words, for those who hear the page."""
    said = _says(unit)
    words = [str(said.get("side") or ""), (_kind(unit) or "unit").replace("_", " ")]
    for name in ("posture", *STATES, "suppression"):
        value = said.get(name)
        if value is True:
            words.append(name.replace("_", " "))
        elif name in ("posture", "suppression") and value not in (None, "none"):
            words.append("fully suppressed" if value == "full" else str(value))
    return " ".join(word for word in words if word)


def _says(unit: Unit) -> dict[str, Any]:
    return unit.model_dump()


def _kind(unit: Unit) -> str | None:
    """The kind of a unit; of those that have none printed (ddp's Japanese), tanks are told apart."""
    kind: str | None = getattr(unit, "kind", None)
    return kind or ("tank" if getattr(unit, "tank", False) else None)


def paint_of(said: Mapping[str, Any]) -> Paint:
    """The colours of a counter, from what it says."""
    words = (said.get(name) for name in ("nation", "service", "side"))
    if said.get("side") == "japan":
        return SIDES["japan"]
    return next((SIDES[word] for word in words if word in SIDES), ANYONE)


def _symbol(unit: Unit, ruleset: str, paint: Paint, turn: int) -> Iterator[str]:
    symbol = SYMBOLS[_kind(unit) or "infantry"]
    # what a Japanese counter says is not known before it is revealed, where the game has it so
    if getattr(unit, "side", None) == "japan" and not getattr(unit, "revealed", True):
        symbol = Symbol(letters="?")
    x, y, width, height = FRAME
    ink = paint.ink
    if symbol.framed:
        yield (
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{ink}" fill-opacity=".14"'
            f' stroke="{ink}" stroke-width="1.3"/>'
        )
    if symbol.lines:
        yield f'<path d="{symbol.lines}" fill="none" stroke="{ink}" stroke-width="1.3" stroke-linejoin="round"/>'
    if symbol.solid:
        yield f'<path d="{symbol.solid}" fill="{ink}"/>'
    if symbol.letters:
        yield _text(25, 25.2, symbol.letters, 10, ink)
    echelon = symbol.echelon or ("I" if ruleset in COMPANIES and symbol.framed else "")
    if echelon:
        yield _text(25, 12.9, echelon, 5, ink)
    if getattr(unit, "posture", None) == "column":
        # a unit in column is on the way
        yield f'<path d="M40 21.5h6.5M43.6 18.5l3 3-3 3" fill="none" stroke="{ink}" stroke-width="1.6"/>'
    if getattr(unit, "mobility", None) in ("wheeled", "mobile"):
        yield f'<path d="M16.5 31.4a1.4 1.4 0 1 0 .01 0M33.5 31.4a1.4 1.4 0 1 0 .01 0" fill="{ink}"/>'
    facing = getattr(unit, "facing", None)
    if facing is not None:
        yield arrow(facing, ink, turn)


def arrow(facing: int, ink: str, turn: int = 0) -> str:
    """A direction 1 to 6 as a wedge at the rim of a counter: 1 is up, and so on clockwise."""
    angle = math.radians(60 * (facing - 1) + turn)
    # where the ray leaves the square, a little inside
    x, y = math.sin(angle), -math.cos(angle)
    reach = 23.5 / max(abs(x), abs(y))
    return (
        f'<path d="M0-.8L3 3.4L0 2.4L-3 3.4z" fill="{ink}" transform="translate({25 + reach * x:.1f}'
        f' {25 + reach * y:.1f}) rotate({60 * (facing - 1) + turn})"/>'
    )


# The printed values, game by game


def _css_values(said: dict[str, Any], paint: Paint) -> Iterator[str]:
    fire = said.get("fire")
    if fire:
        box = FIRE[fire["type"]]
        yield (
            f'<rect x="4" y="33.5" width="12" height="12" rx="1.5" fill="{box.card}" stroke="{box.edge}"'
            ' stroke-width=".8"/>'
        )
        yield _text(10, 43, str(fire["value"]), 9.5, box.ink)
        yield _text(18.8, 38.6, str(fire["range"]), 6.2, paint.ink)
    elif said.get("command_range") is not None:
        yield _text(10, 43.5, f"({said['command_range']})", 9, paint.ink)
    if said.get("defense") is not None:
        yield _text(29.5, 44, _number(said["defense"]), 9.5, paint.ink)
    if said.get("movement") is not None:
        yield _text(42, 44, _number(said["movement"]), 9.5, paint.ink)


def _fpb_values(said: dict[str, Any], paint: Paint) -> Iterator[str]:
    values = [_number(said.get(name)) for name in ("attack", "defense", "movement")]
    if any(values):
        yield _text(25, 44.5, "-".join(value or "–" for value in values), 11.5, paint.ink, width=44)


def _ccp_values(said: dict[str, Any], paint: Paint) -> Iterator[str]:
    yield from _row(
        paint,
        (9, _number(said.get("fp"))),
        (20, _number(said.get("range"))),
        (31, _number(said.get("movement"))),
    )
    if said.get("fp") is not None and said.get("boxed_fp"):
        yield f'<rect x="3.5" y="34" width="11" height="11.5" fill="none" stroke="{paint.ink}" stroke-width="1"/>'
    if said.get("morale") is not None:
        yield f'<circle cx="43" cy="40" r="5.6" fill="{paint.ink}"/>'
        yield _text(43, 43.1, str(said["morale"]), 8.6, paint.card)
    if said.get("command") is not None:
        yield _text(42.5, 25.4, str(said["command"]), 11, paint.ink)
    weapon = said.get("weapon")
    if weapon:
        told = [weapon["name"]] + (
            [] if weapon["fp"] is None else [f"{weapon['fp']}/{_reach(weapon['range'])}"]
        )
        yield _text(25, 34, " ".join(told), 4.8, paint.ink, width=44)


def _bob_values(said: dict[str, Any], paint: Paint) -> Iterator[str]:
    pairs = [_pair(said.get("fp")), _span(said.get("range")), _pair(said.get("casualty"))]
    yield from _row(paint, (10.5, pairs[0]), (26, pairs[1]), (40, pairs[2]), size=7.8)
    if said.get("melee_fp") is not None:
        yield _text(43, 24.5, str(said["melee_fp"]), 7.5, paint.ink)


def _ddp_values(said: dict[str, Any], paint: Paint) -> Iterator[str]:
    if said.get("strength") is not None:
        yield _text(8.5, 44, str(said["strength"]), 11.5, paint.ink)
    if said.get("range") is not None:
        yield _text(17, 39.5, str(said["range"]), 6.4, paint.ink)
    listed = said.get("weapons") or said.get("requires")
    if listed:
        yield _text(31, 43.5, " ".join(listed), 7, paint.ink, width=26)
    shape = SHAPES.get(said.get("symbol") or "")
    if shape:
        yield f'<path d="{shape}" fill="{paint.ink}"/>'
    steps = said.get("steps")
    if steps:
        yield "".join(
            f'<rect x="41" y="{27 - 3.4 * n:.1f}" width="5" height="2" fill="{paint.ink}"/>'
            for n in range(min(steps, 5))
        )
    if said.get("depth"):
        yield f'<path d="M3 47.6H47" stroke="{paint.edge}" stroke-width="2.4"/>'


SHAPES = {
    "circle": "M7 17.5a3.4 3.4 0 1 1 0 6.8a3.4 3.4 0 1 1 0-6.8",
    "diamond": "M7 16.5l4 4.5-4 4.5-4-4.5z",
    "triangle": "M7 17l4 7H3z",
    "star": "M7 16l1.3 3.1 3.3.3-2.5 2.2.8 3.3L7 23.1l-2.9 1.8.8-3.3-2.5-2.2 3.3-.3z",
}
VALUES: dict[str, Callable[[dict[str, Any], Paint], Iterator[str]]] = {
    "css": _css_values, "ccp": _ccp_values, "fpb": _fpb_values, "bob": _bob_values, "ddp": _ddp_values,
}  # fmt: skip


def _row(paint: Paint, *cells: tuple[float, str], size: float = 10) -> Iterator[str]:
    for x, text in cells:
        if text:
            yield _text(x, 43.7, text, size, paint.ink)


def _number(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Decimal):
        whole, half = divmod(value, 1)
        return f"{int(whole) or ''}½" if half else str(int(whole))
    return str(value).replace("-", "−")


def _pair(value: Any) -> str:
    return "" if value is None else "/".join(str(one) for one in value)


def _span(value: Any) -> str:
    """A range; with a least one as from and to, open where it has no end."""
    return (
        "–".join("" if one is None else str(one) for one in value)
        if isinstance(value, tuple)
        else _number(value)
    )


def _reach(value: Any) -> str:
    return (
        "–"
        if value is None
        else "–".join(str(one) for one in value)
        if isinstance(value, tuple | list)
        else str(value)
    )


# What has become of a unit

STATES: dict[str, str] = {
    "broken": "BROKEN", "suppressed": "SUPP", "disrupted": "DISR", "depleted": "DEPL", "reduced": "RED",
    "in_cave": "CAVE", "used": "USED", "op_fire": "OP", "upper_level": "UP", "veteran": "VET", "elite": "ELITE",
    "hero": "HERO",
}  # fmt: skip
"""Yes or no on a counter, and the word on its band."""
GRAVE = ("broken", "suppressed", "disrupted", "depleted", "reduced", "suppression")


def _state(said: dict[str, Any], paint: Paint) -> Iterator[str]:
    """Bands across the counter: what is grave in red, what else is good to know in black."""
    words = [(name, word) for name, word in STATES.items() if said.get(name) is True]
    if said.get("suppression") not in (None, "none"):
        words.append(("suppression", "FULL SUPP" if said["suppression"] == "full" else "SUPP"))
    grave = [word for name, word in words if name in GRAVE]
    other = [word for name, word in words if name not in GRAVE]
    if said.get("zoc") is False:
        other.append("NO ZOC")
    if grave:
        yield _band(29.3, "#b3261e", " ".join(grave))
    if other:
        yield _band(9.4 if not grave else 22.8, "#26231d", " ".join(other))
    if said.get("one_step"):
        yield f'<path d="M40 19h7" stroke="{paint.ink}" stroke-width="2"/>'
    for n in range(int(said.get("concealed") or 0)):
        yield _text(6 + 5 * n, 22, "?", 8, paint.ink)


def _band(y: float, colour: str, text: str) -> str:
    band = f'<rect x="1.5" y="{y}" width="47" height="6" fill="{colour}"/>'
    return band + _text(25, y + 4.8, text, 5.2, "#ffffff", width=44)


# Markers

_BURST = "M25 8l3.4 7.2 6.8-4.4-1.6 7.8 8 .6-6.2 5 5.6 5.6-8-.4.8 7.8-6.4-4.6L25 40l-2.4-7.4-6.4 4.6.8-7.8-8 .4 5.6-5.6-6.2-5 8-.6-1.6-7.8 6.8 4.4z"
_CLOUD = "M14 33a7 7 0 0 1-1-13.8 8.6 8.6 0 0 1 15.6-4.6 7.4 7.4 0 0 1 9.8 6.6A6 6 0 0 1 37 33z"
_FLAME = "M25 38c-9 0-12-9-7-16 .6 4 4 4 3.6 0-.4-6 2-9 5-12-1 6 8 9 7.4 19-.4 5-4 9-9 9z"
_RAYS = "M25 10v5M25 31v5M12 23h5M33 23h5M15.8 13.8l3.6 3.6M30.6 28.6l3.6 3.6M34.2 13.8l-3.6 3.6M19.4 28.6l-3.6 3.6"


class Icon(NamedTuple):
    """What a marker shows."""

    ink: str
    lines: str = ""
    solid: str = ""


_SMOKE, _FIRE = Icon("#6d7276", solid=_CLOUD), Icon("#c2410c", solid=_FLAME)
_SHELLS, _LIGHT = (
    Icon("#b3261e", solid=_BURST),
    Icon("#a07a00", _RAYS, "M25 18.6a4.4 4.4 0 1 1 0 8.8a4.4 4.4 0 1 1 0-8.8"),
)
_WORKS = "#5c4326"
_PILLBOX = Icon("#4a4741", "M11 34V20l8-6h12l8 6v14z", "M17 23h16v4H17z")
_FOXHOLE = Icon(_WORKS, "M11 21q0 13 14 13t14-13M8 21h6M36 21h6")
_CAVE = Icon(_WORKS, solid="M11 35V26a14 14 0 0 1 28 0v9H32v-7a7 7 0 0 0-14 0v7z")
_WIRE = Icon("#4a4741", "M8 24h34M12 18l8 12M20 18l-8 12M30 18l8 12M38 18l-8 12M21 18l8 12M29 18l-8 12")
_MINES = Icon(
    "#26231d",
    "M25 13v-4M14 24h-4M40 24h-4M17 16l-3-3M33 16l3-3M17 32l-3 3M33 32l3 3",
    "M25 15a9 9 0 1 1 0 18a9 9 0 1 1 0-18",
)
_CHARGE = Icon("#b3261e", "M12 35L36 11M36 11h-9M36 11v9M16 26l8 8")
_STATE = Icon("#7d150f", "M14 12l22 22M36 12L14 34")
_TARGET = Icon("#26231d", "M25 12a11 11 0 1 1 0 22a11 11 0 1 1 0-22M25 9v28M11 23h28")

_FORT = Icon(_WORKS, "M11 34V16h5v4h5v-4h8v4h5v-4h5v18z")
_FLAG = "M14 37V10"

ICONS: dict[str, Icon] = {
    "assault_boat": Icon("#1c3c70", "M25 11v13", "M9 26h32l-5 9H14z"), "captured": Icon("#2f4123", _FLAG, "M14 10h20v12H14z"),
    "landing_beach": Icon("#8a6a1c", "M25 9v16M18 19l7 7 7-7M10 34q5-5 10 0t10 0 10 0"), "fortification": _FORT,
    "air_strike": _SHELLS, "beach_closed": _STATE, "cave_sealed": _STATE, "drunk_banzai_charge": _CHARGE,
    "orote_cleared": _STATE, "orote_operational": _STATE, "sniper": _MINES, "task_force": _SHELLS,
    "artillery_destroyed": _STATE, "attack_orders": _CHARGE, "banzai_charge": _CHARGE, "blaze": _FIRE, "bombardment": _SHELLS, "booby_trap": _MINES, "bunker": _PILLBOX,
    "cave": _CAVE, "company_hub": Icon("#1c3c70", _FLAG, "M14 10h22l-6 7 6 7H14z"),
    "concentrated_fire": _TARGET, "dg": _SHELLS, "dispersed_smoke": Icon("#6d7276", _CLOUD), "drunk": _STATE,
    "fire_cleared": Icon("#5f5b57", _FLAME), "fortified": _FORT,
    "foxhole": _FOXHOLE, "foxholes": _FOXHOLE, "gyokusai": _CHARGE, "heavy_barrage": _SHELLS, "hungover": _STATE,
    "illumination": _LIGHT, "light_barrage": _SHELLS, "medium_barrage": _SHELLS, "melee": Icon("#7d150f", "M13 12l24 24M37 12L13 36M13 30l6 6M37 30l-6 6"),
    "mines": _MINES, "no_opportunity_fire": Icon("#7d150f", "M25 12a11 11 0 1 1 0 22a11 11 0 1 1 0-22M17 15l16 16"),
    "on_fire": _FIRE, "pillbox": _PILLBOX, "pinned": _STATE, "prepared_assault": _CHARGE,
    "ridge": Icon("#8a4b14", "M8 33l9-14 7 9 8-14 10 19z"), "sighting": _TARGET, "sr": _TARGET, "small_cave": _CAVE, "smoke": _SMOKE,
    "smoke_barrage": _SMOKE, "starshell": _LIGHT, "suppressed": _STATE, "sustained_fire": _TARGET,
    "trench": Icon(_WORKS, "M7 19h7v10h8V19h8v10h8V19h6"), "upper_level": Icon("#26231d", "M25 35V12M16 21l9-9 9 9"),
    "wire": _WIRE, "ambush": _CHARGE, "breach": Icon(_WORKS, "M7 19h11v12M43 19H32v12M20 31h10"),
    "concentrated_mines": _MINES, "fire_mission": _SHELLS, "sangar": _FOXHOLE,
    "small_feature": Icon("#8a4b14", "M9 32q8-12 16-4t16-6"), "trail": Icon("#8a6a1c", "M12 36l8-8M22 26l6-6M30 18l8-8"),
    "victory": Icon("#2f4123", _FLAG, "M14 10h20v12H14z"),
}  # fmt: skip
"""By kind of marker, of all games."""


def marker(kind: str, value: int | None = None, facing: int | None = None, turn: int = 0) -> Markup:
    """A marker: what it is by a picture and a word, its number, and the way it looks."""
    icon = ICONS[kind]
    words = kind.replace("_", " ")
    parts = [
        '<rect x=".75" y=".75" width="48.5" height="48.5" rx="9" fill="#fffdf4" stroke="#6b675e" stroke-width="1.5"/>'
    ]
    if icon.solid:
        parts.append(f'<path d="{icon.solid}" fill="{icon.ink}"/>')
    if icon.lines:
        parts.append(
            f'<path d="{icon.lines}" fill="none" stroke="{icon.ink}" stroke-width="2.6" stroke-linecap="round"'
            ' stroke-linejoin="round"/>'
        )
    if value is not None:
        parts.append('<circle cx="25" cy="24" r="9" fill="#fffdf4"/>')
        parts.append(_text(25, 29, str(value), 14, icon.ink))
    parts.append(_text(25, 46, words, 7.4, "#1d1b17", width=44))
    if facing is not None:
        parts.append(arrow(facing, "#1d1b17", turn))
    told = words + ("" if value is None else f" {value}") + ("" if facing is None else f", side {facing}")
    return _svg(told, parts)


def placed(picture: Markup, x: float, y: float, size: float) -> str:
    """A counter or marker as a part of a larger drawing."""
    return str(picture).replace("<svg ", f'<svg x="{x:g}" y="{y:g}" width="{size:g}" height="{size:g}" ', 1)


def _svg(title: str, parts: list[str]) -> Markup:
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" role="img" class="counter">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def _text(x: float, y: float, text: str, size: float, ink: str, *, width: float | None = None) -> str:
    """Bold text about a point; squeezed where it would be wider than its room."""
    # about 0.58 of its height is the width of a bold letter
    squeezed = width is not None and 0.6 * size * len(text) > width
    fit = f' textLength="{width}" lengthAdjust="spacingAndGlyphs"' if squeezed else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="middle" font-weight="700"'
        f' font-family="DejaVu Sans, Verdana, Arial, sans-serif" fill="{ink}"{fit}>{escape(text)}</text>'
    )
