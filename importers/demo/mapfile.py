"""From a painted sheet to a map document, and from the document to compact YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from db.labels import Axial
from importers.demo.sheet import Document, Point, Sheet, scheme_of

HEAD = "# Painted by importers/demo; written again by `python -m importers.demo FOLDER`."
FLAGS = ("cave", "landing_beach")
"""Features that a map file writes as a key of their own."""


def document(sheet: Sheet) -> Document:
    """The map as the tree that a map file holds."""
    tree: Document = {
        "name": sheet.name,
        "title": sheet.title,
        "ruleset": sheet.ruleset,
        **({"source": sheet.source} if sheet.source else {}),
        "note": sheet.note,
        **_own_scheme(sheet),
        "scale": sheet.meters_per_hex,
        "extent": _extent(sheet),
        "fill": {"terrain": sheet.fill, "level": sheet.fill_level},
        "hexes": dict(_hexes(sheet)),
    }
    sections = {
        "hexsides": {
            sheet.scheme.side_label(*side): sorted(kinds)
            for side, kinds in sorted(sheet.sides.items())
            if kinds
        },
        "paths": [_path(sheet, kind, name, chain) for kind, name, chain in sheet.paths],
        "areas": [
            {"terrain": terrain, "polygon": _points(outline)}
            | ({"holes": [_points(hole) for hole in holes]} if holes else {})
            for terrain, outline, holes in sheet.areas
        ],
        "crests": [{"level": level, "line": _points(line)} for level, line in sheet.crests],
    } | sheet.extra
    return tree | {key: section for key, section in sections.items() if section}


def _own_scheme(sheet: Sheet) -> Document:
    """What of its numbering is not as its game has it."""
    usual = scheme_of(sheet.ruleset).model_dump()
    own = {key: value for key, value in sheet.scheme.model_dump().items() if value != usual[key]}
    return {"scheme": own} if own else {}


def _extent(sheet: Sheet) -> list[str] | list[list[str]]:
    """The whole paper, or the strips of columns that are on the map."""
    if len(sheet.terrain) == len(sheet.hexes):
        return list(sheet.extent)
    strips: list[list[Axial]] = []
    for place in sheet.hexes:
        if place not in sheet.terrain:
            continue
        if strips and strips[-1][-1].beside(4) == place:
            strips[-1].append(place)
        else:
            strips.append([place])
    return [[sheet.label(strip[0]), sheet.label(strip[-1])] for strip in strips]


def _hexes(sheet: Sheet) -> Iterator[tuple[str, Document | str]]:
    """The hexes that are not as the fill, a bare word where only the terrain differs."""
    for place in sheet.hexes:
        if place not in sheet.terrain:
            continue
        terrain, level = sheet.terrain[place], sheet.level.get(place, sheet.fill_level)
        features = sheet.features.get(place, [])
        entry: Document = {} if terrain == sheet.fill else {"terrain": terrain}
        if level != sheet.fill_level:
            entry["level"] = level
        entry |= {feature: True for feature in features if feature in FLAGS}
        marks = sorted(feature for feature in features if feature not in FLAGS)
        if marks:
            entry["features"] = marks
        if place in sheet.names:
            entry["name"] = sheet.names[place]
        if entry:
            yield sheet.label(place), terrain if entry == {"terrain": terrain} else entry


def _path(sheet: Sheet, kind: str, name: str | None, chain: list[Axial]) -> Document:
    about = {"kind": kind} if name is None else {"kind": kind, "name": name}
    return about | {"hexes": [sheet.label(place) for place in chain]}


def _points(points: Iterable[Point]) -> list[list[float]]:
    return [[x, y] for x, y in points]


def dumped(tree: Document, head: str = HEAD) -> str:
    """The document as YAML, one line for each hex, hexside, path and piece of artwork."""
    lines = [head]
    for key, value in tree.items():
        if key in ("scheme", "extent", "fill") or not isinstance(value, dict | list):
            lines.append(f"{key}: {_flow(value)}")
        elif isinstance(value, dict):
            lines.append(f"{key}:")
            lines += [f"  {_quoted(name)}: {_flow(entry)}" for name, entry in value.items()]
        else:
            lines.append(f"{key}:")
            lines += [f"  - {_flow(entry)}" for entry in value]
    return "\n".join(lines) + "\n"


def _flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, str) and not value.replace("_", "").isalpha():
        return _quoted(value)
    return str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
