"""A case on its way: its text with one more change, as a click or a form of the drawing page asks for it.

The text is the case. A change rewrites the section that it is about (`map`, `units`, `markers`,
`conditions`, `ask`), and leaves every other line as somebody wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from app.referee.arguments import Argument, form_fields
from app.web.change_form import new_ground, new_marker
from db import SightlineError
from db.counters import CONDITIONS, UNITS
from db.map_draft import vocabulary
from db.rulesets import CODES
from importers.documents import Node, read_document
from importers.positions import written

Tree = dict[str, Any]
COLUMNS, ROWS = 10, 8
"""Of an empty board."""
LABELS = re.compile(r"[\s,;]+")
LAST = "ask"
"""The section that other new ones are written before."""


def blank(ruleset: str) -> str:
    """A case of a game with an empty board."""
    words = vocabulary(ruleset)
    extent = [words.scheme.printed(1, 1), words.scheme.printed(COLUMNS, ROWS)]
    fill: Tree = {"terrain": words.plain}
    if words.levels[0] < words.levels[1]:
        fill["level"] = words.base_level
    board = {"extent": extent, "fill": fill}
    return written({"case": "drawn", "title": "", "ruleset": ruleset, "map": board, "units": [], "ask": []})


def with_one_more(text: str, tool: str, form: Mapping[str, str]) -> str:
    """The text with the change that a tool's form asks for; whether it can be is seen when the case is read."""
    if not tool:
        return text
    tree = _case(text)
    if tree.get("ruleset") not in CODES:
        raise SightlineError(
            "The case does not say which game it is of.", "Write `ruleset: css`, or another."
        )
    match tool:
        case "paint":
            return with_section(text, "map", _painted(_board(tree), form, tree["ruleset"]))
        case "side":
            return with_section(text, "map", _sided(_board(tree), form))
        case "path":
            return with_section(text, "map", _laid(_board(tree), form))
        case "unit":
            return with_section(text, "units", _with_unit(tree, form))
        case "mark":
            marker = new_marker(tree["ruleset"], form, form.get("at") or None)
            return with_section(text, "markers", [*_rows(tree, "markers"), marker])
        case "erase":
            return _erased(text, tree, form.get("at", ""))
        case "conditions":
            return with_section(text, "conditions", _conditions(tree["ruleset"], form))
    raise SightlineError(f"There is no tool {tool[:40]!r} here.", "Use one of the forms of the page.")


def with_question(text: str, question: Tree, *, beside: bool) -> str:
    """The text with a question, in the place of those that it has or beside them."""
    others = _rows(_case(text), LAST)
    return with_section(text, LAST, [*(others if beside else ()), question])


def with_readings(text: str, readings: Mapping[str, str]) -> str:
    """The text with contested points read so."""
    return with_section(text, "policy", {**_mapping(_case(text), "policy"), **readings})


def _case(text: str) -> Tree:
    tree = tree_of(read_document(text, "case"))
    if not isinstance(tree, dict):
        raise SightlineError("The text is no case.", "Begin anew, or from an example.")
    return tree


def _rows(tree: Tree, key: str) -> list[Any]:
    """A list of the text; one that is something else cannot be added to."""
    return list(_shaped(tree, key, list))


def _mapping(tree: Tree, key: str) -> Tree:
    return dict(_shaped(tree, key, dict))


def _shaped(tree: Tree, key: str, shape: type) -> Any:
    value = tree.get(key) or shape()
    if not isinstance(value, shape):
        raise SightlineError(f"{key} is not written as it should be.", "Mend it in the text first.")
    return value


# The ground


def _board(tree: Tree) -> Tree:
    board = tree.get("map")
    if not isinstance(board, dict):
        raise SightlineError(
            f"The case stands on the saved map {board!r}, which is not painted here.",
            "Change its ground by what-if on its own page, or write a map into the case.",
        )
    return dict(board)


def _labels(form: Mapping[str, str]) -> list[str]:
    found = [label for label in LABELS.split(form.get("at", "")) if label]
    if not found:
        raise SightlineError("It is not said where.", "Click a hex, or write its label.")
    return found


def _painted(board: Tree, form: Mapping[str, str], ruleset: str) -> Tree:
    """A board with some hexes otherwise; those that are as all others are not named any more."""
    hexes, fill = _mapping(board, "hexes"), _whole(board.get("fill"))
    feature = form.get("feature", "")
    ground = new_ground(form) if form.get("terrain") or form.get("level") or not feature else {}
    for label in _labels(form):
        now = _whole(hexes.get(label)) | ground
        if feature and feature in vocabulary(ruleset).flags:
            now[feature] = True
        elif feature:
            told = now.get("features") or []
            now["features"] = sorted({*(told if isinstance(told, list) else [told]), feature})
        if all(fill.get(key) == value for key, value in now.items()):
            hexes.pop(label, None)
        else:
            hexes[label] = now["terrain"] if now.keys() == {"terrain"} else now
    return _with(board, "hexes", hexes)


def _whole(ground: Any) -> Tree:
    """A hex, or the fill, with its words: a terrain alone is written short."""
    return dict(ground) if isinstance(ground, dict) else {"terrain": ground} if ground else {}


def _sided(board: Tree, form: Mapping[str, str]) -> Tree:
    """A board with something on a hexside, or nothing."""
    ends = _labels({"at": f"{form.get('at', '')} {form.get('to', '')}"})
    if len(ends) != 2:
        raise SightlineError("A hexside lies between two hexes.", "Click the two, one after the other.")
    names = {"|".join(ends), "|".join(reversed(ends))}
    sides = {name: kinds for name, kinds in _mapping(board, "hexsides").items() if name not in names}
    if form.get("hexside"):
        sides["|".join(ends)] = form["hexside"]
    return _with(board, "hexsides", sides)


def _laid(board: Tree, form: Mapping[str, str]) -> Tree:
    """A board with one more way."""
    return _with(
        board, "paths", [*_rows(board, "paths"), {"kind": form.get("path", ""), "hexes": _labels(form)}]
    )


def _with(board: Tree, key: str, value: Any) -> Tree:
    rest = {name: told for name, told in board.items() if name != key}
    return rest | {key: value} if value else rest


# What stands on it


def _with_unit(tree: Tree, form: Mapping[str, str]) -> list[Tree]:
    """The units with a new one, or one of them as the form has it now."""
    units = [unit for unit in _rows(tree, "units") if isinstance(unit, dict)]
    told = {
        field.word: _value(field, text)
        for field in form_fields(UNITS[tree["ruleset"]])
        if (text := form.get(field.word, ""))
    }
    taken = {str(unit.get("id")) for unit in units}
    code = told.get("id") or next(name for n in range(1, 1000) if (name := f"unit {n}") not in taken)
    if code in taken:
        return [unit | told if str(unit.get("id")) == code else unit for unit in units]
    return [*units, {"id": code} | told]


def _value(field: Argument, text: str) -> Any:
    """What a field of a counter or condition was given, as a case file has it."""
    if field.form == "flag":
        return True
    if field.form in ("text", "choice") and not field.many:
        return text
    value = tree_of(read_document(text, field.word))
    return [value] if field.many and not isinstance(value, list) else value


def _erased(text: str, tree: Tree, at: str) -> str:
    """The text without what stands in a hex; where nothing does, without what is painted there."""
    for key in ("units", "markers"):
        rows = _rows(tree, key)
        left = [row for row in rows if not isinstance(row, dict) or str(row.get("at")) != at]
        if len(left) < len(rows):
            text = with_section(text, key, left)
    if tree_of(read_document(text, "case")) != tree:
        return text
    board = _board(tree)
    hexes = {label: ground for label, ground in _mapping(board, "hexes").items() if label != at}
    return with_section(text, "map", _with(board, "hexes", hexes))


def _conditions(ruleset: str, form: Mapping[str, str]) -> Tree:
    return {
        field.word: _value(field, text)
        for field in form_fields(CONDITIONS[ruleset])
        if (text := form.get(field.word, ""))
    }


# The text


def tree_of(node: Node) -> Any:
    """A tree as values; a number that is not written as it counts (01.01) may be a label, and stays as written."""
    if isinstance(node.value, dict):
        return {key: tree_of(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [tree_of(child) for child in node.value]
    return node.text if isinstance(node.value, Decimal) and str(node.value) != node.text else node.value


def with_section(text: str, key: str, value: Any) -> str:
    """The text with another value at one of its keys, and every other line as it is."""
    root = read_document(text, "case")
    assert isinstance(root.value, dict)
    lines, starts = text.splitlines(), _starts(text, root)
    if starts is None:
        # one that is not written a key to a line, such as JSON
        return written({**tree_of(root), key: value})
    chunk = written({key: value}).splitlines()
    if key in starts:
        begin = starts[key]
        end = min((start for start in starts.values() if start > begin), default=len(lines))
        while end > begin + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
            end -= 1
    else:
        begin = end = starts.get(LAST, len(lines)) if key != LAST else len(lines)
    return "\n".join([*lines[:begin], *chunk, *lines[end:]]) + "\n"


def _starts(text: str, root: Node) -> dict[str, int] | None:
    """The line, from 0, on which each key begins; None where one does not begin its line."""
    assert isinstance(root.value, dict)
    lines = text.splitlines()
    starts = {key: (node.line or 1) - 1 for key, node in root.value.items()}
    begun = all(lines[line].startswith((key, f'"{key}"')) for key, line in starts.items())
    return starts if begun and len({*starts.values()}) == len(starts) else None
