"""One more change to a board, as a form of the map page asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.engine import Connection

from app.referee.arguments import form_fields
from app.referee.boards import Board, Tree
from app.referee.whatif import Changes
from db import SightlineError
from db.counters import CONDITIONS, MARKERS, MarkerKind
from importers.documents import read_document

UNIT_FIELDS = ("id", "at", "side", "kind")
"""What the form for a new unit asks for by name; the rest is written as a case file has it."""


def with_one_more(changes: Changes, board: Board, form: Mapping[str, str], connection: Connection) -> Changes:
    """The changes with the one that a form asks for; whether it can be is seen when it is made."""
    with board.changed(connection, changes) as changed:
        now = {unit["id"]: unit for unit in changed.tree(connection).get("units", ())}
    saved = {unit["id"]: unit for unit in board.tree(connection).get("units", ())}
    match form.get("do"):
        case "move":
            return changes.moved(_unit(form.get("who", ""), now), _label(board, form))
        case "remove":
            code = _unit(form.get("who", ""), now)["id"]
            return changes.without_unit(code, saved=code in saved)
        case "add":
            unit = _new_unit(form, now, _label(board, form))
            # of a saved unit that was taken away, the new one of its name has nothing
            return changes.with_unit({**dict.fromkeys(saved.get(unit["id"], ())), **unit})
        case "mark":
            return changes.with_marker(new_marker(board.ruleset, form, _label(board, form)))
        case "unmark":
            return changes.without_marker(read_document(form.get("marker", ""), "marker.json").plain())
        case "paint":
            return changes.painted(_label(board, form) or "", new_ground(form))
        case "side":
            return changes.sided(_side(board, form), form.get("hexside") or None)
        case "conditions":
            return changes.under(_new_conditions(board, form))
    raise SightlineError("It is not said what is to be changed.", "Use one of the forms of the page.")


def _unit(code: str, now: dict[str, Tree]) -> Tree:
    if code not in now:
        raise SightlineError(f"There is no unit {code[:80]!r} here.")
    return now[code]


def _label(board: Board, form: Mapping[str, str]) -> str | None:
    """Where something comes to stand, by the label that the map prints; nowhere: off the map."""
    text = form.get("at", "")
    if not text:
        return None
    return board.scheme.label(board.scheme.hex(text))


def _new_unit(form: Mapping[str, str], now: dict[str, Tree], at: str | None) -> Tree:
    """A unit by the fields of its form; a counter like another's where one is named."""
    like = form.get("like", "")
    unit = dict(_unit(like, now)) if like else {}
    more = form.get("more", "")
    written_out = (
        read_document("{" + more.removeprefix("{").removesuffix("}") + "}", "more").plain() if more else {}
    )
    given = {key: form.get(key, "") for key in UNIT_FIELDS}
    unit |= {key: value for key, value in given.items() if value} | written_out
    if not unit.get("id") or (like and unit["id"] == like):
        unit["id"] = next(name for n in range(1, 1000) if (name := f"{like or 'new'} {n}") not in now)
    elif unit["id"] in now:
        raise SightlineError(f"There is a unit {unit['id']!r} already.", "Give the new one another id.")
    return {key: value for key, value in unit.items() if key != "at"} | {"at": at}


def new_marker(ruleset: str, form: Mapping[str, str], at: str | None) -> Tree:
    """A marker by the fields of its form, as far as its kind has them."""
    kind = form.get("kind", "")
    marker: Tree = {"kind": kind, "at": at}
    says = MARKERS[ruleset].get(kind, MarkerKind())
    for key, wanted in (("value", says.value), ("side", says.facing), ("company", says.company)):
        if wanted and (text := form.get(key, "")):
            marker[key] = int(text) if text.isdigit() and key != "company" else text
    return marker


def _side(board: Board, form: Mapping[str, str]) -> str:
    """The hexside between two hexes, by their labels in the order of the map."""
    side = board.scheme.side(f"{form.get('at', '')}|{form.get('to', '')}")
    return board.scheme.side_label(*side)


def new_ground(form: Mapping[str, str]) -> Tree:
    """Terrain and level of a hex, as far as the form says them."""
    level = form.get("level", "")
    ground: Tree = {"terrain": form["terrain"]} if form.get("terrain") else {}
    if level:
        ground["level"] = int(level) if level.lstrip("-").isdigit() else level
    if not ground:
        raise SightlineError("It is not said what the hex is to be.", "Choose a terrain, a level, or both.")
    return ground


def _new_conditions(board: Board, form: Mapping[str, str]) -> Tree:
    """Conditions that are otherwise than in the saved position; one that is left empty no longer holds."""
    kinds = CONDITIONS[board.ruleset]
    saved = kinds.model_validate(board.conditions).model_dump(mode="json")
    told: Tree = {}
    for field in form_fields(kinds):
        text = form.get(field.word, "")
        value: Any = None
        if field.form == "flag":
            value = bool(text)
        elif text:
            value = text if field.form == "choice" else read_document(text, field.word).plain()
        if (value or None) != (saved[field.name] or None):
            told[field.word] = value
    return told
