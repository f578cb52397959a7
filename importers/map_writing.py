"""Writing a draft as the tree that `map_reading` reads, and that tree as readable YAML."""

from __future__ import annotations

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from db.labels import Axial, Scheme
from db.map_draft import GRID, HexDraft, Line, MapDraft, vocabulary
from importers.documents import WORDS

Tree = dict[str, Any]
DIGITS = 6
"""Of a coordinate: 1/1024 lattice unit is more than 300 times as coarse, so nothing moves on the way back."""
PLAIN = re.compile(r"[a-z][a-z0-9_]*")
LONG = ("hexes", "hexsides", "paths", "areas", "crests", "positions", "places")
"""Sections that are written one entry to a line."""


def write_yaml(draft: MapDraft) -> str:
    """A draft as a map file."""
    return yaml_text(about(draft) | ground(draft) | features(draft) | artwork(draft))


def write_json(draft: MapDraft) -> str:
    """The same tree in JSON."""
    tree = about(draft) | ground(draft) | features(draft) | artwork(draft)
    return (
        "{\n"
        + ",\n".join(f"{json.dumps(key)}: {flow(value, json.dumps)}" for key, value in tree.items())
        + "\n}\n"
    )


def yaml_text(tree: Tree) -> str:
    """A tree as YAML: long sections one entry to a line, the rest one key to a line."""
    lines: list[str] = []
    for key, value in tree.items():
        if key not in LONG:
            lines.append(f"{key}: {flow(value)}")
        elif isinstance(value, dict):
            lines += [f"{key}:", *(f"  {_quoted(name)}: {flow(entry)}" for name, entry in value.items())]
        else:
            lines += [f"{key}:", *(f"  - {flow(entry)}" for entry in value)]
    return "\n".join(lines) + "\n"


def about(draft: MapDraft) -> Tree:
    """Everything but what lies on the map."""
    tree: Tree = {"ruleset": draft.ruleset}
    if draft.name:
        tree["name"] = draft.name
    if draft.title:
        tree["title"] = draft.title
    if draft.meters_per_hex is not None:
        tree["scale"] = draft.meters_per_hex
    if draft.source:
        tree["source"] = draft.source
    if draft.note:
        tree["note"] = draft.note
    usual = vocabulary(draft.ruleset).scheme.model_dump(mode="json")
    own = {key: value for key, value in draft.scheme.model_dump(mode="json").items() if value != usual[key]}
    if own:
        tree["scheme"] = own
    if draft.georeference is not None:
        tree["georeference"] = {
            "crs": f"EPSG:{draft.georeference.srid}",
            "points": [
                {"hex": draft.scheme.label(point.hex), "x": point.x, "y": point.y}
                for point in draft.georeference.points
            ],
        }
    return tree


def ground(draft: MapDraft) -> Tree:
    """Hexes, hexsides and paths: an extent filled with what is most common, then what differs."""
    tree: Tree = {}
    if not draft.hexes:
        return tree
    extent = _extent(draft)
    if extent:
        tree["extent"] = extent
    common = _most_common(draft.hexes.values())
    tree["fill"] = _hex(common, None, draft.ruleset)
    label = draft.scheme.label
    hexes = {
        label(place): _hex(hex, common, draft.ruleset)
        for place, hex in sorted(draft.hexes.items())
        if not extent or hex != common
    }
    if hexes:
        tree["hexes"] = hexes
    if draft.hexsides:
        tree["hexsides"] = {
            draft.scheme.side_label(x, y): kinds for (x, y), kinds in side_kinds(draft).items()
        }
    if draft.paths:
        tree["paths"] = [
            {"kind": path.kind}
            | ({"name": path.name} if path.name else {})
            | {"hexes": [label(place) for place in path.hexes]}
            for path in draft.paths
        ]
    return tree


def features(draft: MapDraft) -> Tree:
    """Printed positions and other marked places."""
    positions: Tree = {}
    places: Tree = {}

    def labels(hexes: Iterable[Axial]) -> list[str]:
        return [draft.scheme.label(place) for place in sorted(hexes)]

    for code, feature in draft.features.items():
        dots = {"intense": labels(feature.intense), "steady": labels(feature.steady)}
        if feature.kind == "position":
            positions[code] = (
                {"hexes": labels(feature.at)}
                | feature.attributes
                | {key: row for key, row in dots.items() if row}
            )
        else:
            places[code] = {"kind": feature.kind} | ({"hexes": labels(feature.at)} if feature.at else {})
            if feature.attributes:
                places[code]["attributes"] = feature.attributes
    return {key: value for key, value in (("positions", positions), ("places", places)) if value}


def artwork(draft: MapDraft) -> Tree:
    """Drawn areas and crests, in column and row pitches."""
    tree: Tree = {}
    if draft.areas:
        tree["areas"] = [
            {"terrain": area.terrain, "polygon": _drawn(draft.scheme, area.rings[0])}
            | ({"holes": [_drawn(draft.scheme, ring) for ring in area.rings[1:]]} if area.rings[1:] else {})
            for area in draft.areas
        ]
    if draft.crests:
        tree["crests"] = [
            {"level": crest.level, "line": _drawn(draft.scheme, crest.line)} for crest in draft.crests
        ]
    return tree


def side_kinds(draft: MapDraft) -> dict[tuple[int, int], list[str]]:
    """Hexsides with all features on them."""
    kinds: dict[tuple[int, int], list[str]] = defaultdict(list)
    for x, y, kind in sorted(draft.hexsides):
        kinds[x, y].append(kind)
    return kinds


def _most_common(hexes: Iterable[HexDraft]) -> HexDraft:
    count = Counter(HexDraft(hex.terrain, hex.level, hex.features) for hex in hexes)
    return max(count, key=lambda hex: (count[hex], hex.terrain, hex.level, hex.features))


def _hex(hex: HexDraft, common: HexDraft | None, ruleset: str) -> Tree:
    """A hex by what differs from the common one."""
    tree: Tree = {}
    words = vocabulary(ruleset)
    if common is None or hex.terrain != common.terrain:
        tree["terrain"] = hex.terrain
    if common is None or hex.level != common.level:
        tree["level"] = hex.level
    usual = () if common is None else common.features
    if words.flags:
        tree |= {
            flag: flag in hex.features for flag in words.flags if (flag in hex.features) != (flag in usual)
        }
    elif hex.features != usual:
        tree["features"] = list(hex.features)
    if hex.name:
        tree["name"] = hex.name
    return tree


def _extent(draft: MapDraft) -> list[Any]:
    """The rectangles that make up the map; none where they would be longer than the list of hexes."""
    runs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    at: dict[tuple[int, int], Axial] = {}
    for place in draft.hexes:
        at[_line_and_place(draft.scheme, place)] = place
    for line, along in sorted(at):
        row = runs[line]
        if row and row[-1][1] == along - 1:
            row[-1] = row[-1][0], along
        else:
            row.append((along, along))
    rectangles: list[tuple[int, int, int, int]] = []
    open_from: dict[tuple[int, int], int] = {}
    for line in range(min(runs), max(runs) + 2):
        here = set(runs.get(line, ()))
        for run in sorted(open_from.keys() - here):
            rectangles.append((open_from.pop(run), run[0], line - 1, run[1]))
        for run in here - open_from.keys():
            open_from[run] = line
    if len(rectangles) > max(1, len(draft.hexes) // 10):
        return []
    label = draft.scheme.label
    pairs = [[label(at[line, low]), label(at[end, high])] for line, low, end, high in sorted(rectangles)]
    return pairs[0] if len(pairs) == 1 else pairs


def _line_and_place(scheme: Scheme, place: Axial) -> tuple[int, int]:
    """Column and row of a hex on the sheet (row and column where hexes stand in rows)."""
    x, y = place.center
    right, down = scheme.drawn_point(Fraction(x), Fraction(y))
    line, along = (down, right) if scheme.orientation == "pointed" else (right, down)
    return int(line), math.floor(along) if scheme.shift == "down" else math.ceil(along)


def _drawn(scheme: Scheme, line: Line) -> list[list[Decimal]]:
    return [
        [_decimal(number) for number in scheme.drawn_point(Fraction(x, GRID), Fraction(y, GRID))]
        for x, y in line
    ]


def _decimal(number: Fraction) -> Decimal:
    return Decimal(round(number * 10**DIGITS)).scaleb(-DIGITS).normalize()


def flow(value: Any, quoted: Callable[[str], str] | None = None, *, tight: bool = False) -> str:
    """A value on one line: as YAML, or as JSON where all text is quoted by `json.dumps`; `tight`, without spaces."""
    quoted, space = quoted or _quoted, "" if tight else " "

    def within(entry: Any) -> str:
        return flow(entry, quoted, tight=tight)

    if isinstance(value, dict):
        return (
            "{"
            + f",{space}".join(f"{quoted(key)}:{space}{within(entry)}" for key, entry in value.items())
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + f",{space}".join(map(within, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return f"{value:f}"
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    """A text as YAML: bare where it is a word, else in double quotes."""
    if PLAIN.fullmatch(text) and text not in WORDS:
        return text
    printable = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in printable)
