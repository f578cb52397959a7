"""Effects: what a procedure changes, in the words of case files, and the same as changes of rows.

An effect is what people read: `{unit: 1/22, depleted: true}`, `{marker: captured, at: "1404"}`. A change is
what `games.apply` makes of it, with what was there before, so that it can be taken back:

    {unit: 1/22, set: {depleted: true}, was: {depleted: null}}
    {marker: {kind: captured, at: "1404"}, by: 1}
    {track: [us, vp], set: 3, was: 2}
    {condition: turn, set: 2, was: 1}
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from db.counters import CONDITIONS, MARKERS, UNITS, MarkerKind
from db.rulesets.css.counters import STATUS
from db.values import canonical

Effect = dict[str, Any]
Change = dict[str, Any]
Tree = dict[str, Any]
OFF_THE_MAP = {"at": None, "status": "eliminated"}
"""What `eliminated: true` means for a counter."""
HOLDERS = ("side", "hex", "division", "company", "island", "objective")
"""Whose tracks an effect may change: `{side: us, vp: 3}`. A side's own stand at the top, all others by what they are."""
SUBJECTS = ("unit", "marker", "conditions", "track", "cup", *HOLDERS)
"""What an effect begins with."""


def changes_of(effect: Effect, ruleset: str) -> list[Change]:
    """An effect as changes of rows, which do not know yet what was there."""
    subject = _subject(effect)
    said = {key: value for key, value in effect.items() if key != subject}
    match subject:
        case "unit":
            return [{"unit": effect["unit"], "set": _counter(said, ruleset)}]
        case "marker":
            removed = said.pop("removed", False)
            said.pop("added", None)
            own = MARKERS[ruleset].get(effect["marker"], MarkerKind()).says
            if "to" in said and (own is None or "to" not in own.model_fields):
                moved = {key: value for key, value in said.items() if key not in ("at", "to")}
                gone, come = ({"marker": effect["marker"], "at": said[end], **moved} for end in ("at", "to"))
                return [*changes_of(gone | {"removed": True}, ruleset), *changes_of(come, ruleset)]
            if MARKERS[ruleset].get(effect["marker"], MarkerKind()).facing and "side" in said:
                # one thing by two words, as in a case file
                said["facing"] = said.pop("side")
            said = {key: value for key, value in _placed(said).items() if value is not None}
            return [{"marker": {"kind": effect["marker"], **said}, "by": -1 if removed else 1}]
        case "conditions":
            return [
                {"condition": key, "set": _unless_default(CONDITIONS[ruleset], key, value)}
                for key, value in effect["conditions"].items()
            ]
        case "track":
            return [{"track": effect["track"].split("."), "set": said["value"]}]
        case "cup":
            # a chit in or out: whoever moves it writes the cup's track, of which the order is nobody's to see
            return []
        case "hex" if ruleset == "css" and (changes := _hex_status(effect)):
            return changes
        case "side":
            return [{"track": [effect["side"], key], "set": value} for key, value in said.items()]
        case _:
            return [
                {"track": [_several(subject), effect[subject], key], "set": value}
                for key, value in said.items()
            ]


def _hex_status(effect: Effect) -> list[Change]:
    """DG, Pinned and Suppressed of a css hex, or of the cave in it, which are markers there (css 10.0).

    What lies there is known to the rows alone: `games.apply` makes markers of it.
    """
    place = {"at": str(effect["hex"]), "in_cave": effect.get("in_cave", False)}
    return [{"status": key, **place, "set": effect[key] or 0} for key in STATUS if key in effect]


def _subject(effect: Effect) -> str:
    """What an effect is about."""
    subject = next((word for word in SUBJECTS if word in effect), None)
    if subject is None:
        raise ValueError(f"an effect is about one of {', '.join(SUBJECTS)}: {canonical(effect)}")
    return subject


def _counter(said: Tree, ruleset: str) -> Tree | None:
    """What a counter is to say: without what it says anyway, so that a position has one form."""
    said = _placed(said)
    if said.get("removed"):
        return None
    form = UNITS[ruleset]
    if "eliminated" in _fields(form):
        # a game in which it says so itself
        said |= {"at": None} if said.get("eliminated") else {}
    elif said.pop("eliminated", False):
        said |= OFF_THE_MAP
    if "at" in said and said["at"] is not None and "status" in _fields(form):
        said.setdefault("status", None)
    return {key: _unless_default(form, key, value) for key, value in said.items()}


@functools.cache
def _fields(form: type[BaseModel]) -> dict[str, FieldInfo]:
    """What a counter may say: asked for with every change, and its form takes a while to tell."""
    return form.model_fields


def _placed(said: Tree) -> Tree:
    """The same; a label that somebody wrote as a number is text."""
    return said | {"at": str(said["at"])} if said.get("at") is not None else said


def _unless_default(form: type[BaseModel], key: str, value: Any) -> Any:
    field = _fields(form).get(key)
    if field is None:
        raise ValueError(f"{form.__name__} has no {key!r}")
    if field.is_required() or value is None:
        return value
    default = field.default
    same = (
        list(default) == value if isinstance(default, tuple) and isinstance(value, list) else default == value
    )
    return None if same else _stored(value)


def _stored(value: Any) -> Any:
    """A value as its row has it: numbers that are not whole by their digits."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else str(value)
    return value


def _several(subject: str) -> str:
    return {"hex": "hexes", "company": "companies"}.get(subject, f"{subject}s")


def inverse(changes: Iterable[Change]) -> list[Change]:
    """What takes changes back, the last first."""
    return [_inverse(change) for change in reversed(list(changes))]


def _inverse(change: Change) -> Change:
    if "marker" in change:
        return {"marker": change["marker"], "by": -change["by"]}
    return {**change, "set": change["was"], "was": change["set"]}


def after(effects: Iterable[Effect]) -> Tree:
    """The same facts by whom they are about: of several about one key, the last."""
    told: Tree = {}
    for effect in effects:
        subject = _subject(effect)
        if subject == "unit" or subject in HOLDERS:
            said = {key: value for key, value in effect.items() if key != subject}
            told.setdefault(str(effect[subject]), {}).update(said)
    return told


# Effects that are told net: of all that happens to a place and key the end, and nothing that stays as it was.

NETTED = ("css",)
"""The games that tell their effects so."""
Key = tuple[str, ...]


def net(effects: Iterable[Effect], changes: Iterable[Change]) -> list[Effect]:
    """One effect for each unit, hex, side or other holder, one for each marker; what was there is in the changes."""
    before = _before(changes)
    told: dict[Key, Effect] = {}
    for effect in effects:
        subject = _subject(effect)
        if subject == "marker":
            _net_marker(told, effect)
            continue
        inside = bool(effect.get("in_cave")) and subject == "hex"
        key = (subject, canonical(effect[subject]), str(inside))
        known = told.setdefault(key, {subject: effect[subject], **({"in_cave": True} if inside else {})})
        known |= effect
    ended = ((key, _changed(key, effect, before)) for key, effect in told.items())
    return [effect for _, effect in ended if effect]


def _net_marker(told: dict[Key, Effect], effect: Effect) -> None:
    """A marker that was placed and taken off again, or the other way about, has not been there."""
    said = {key: value for key, value in effect.items() if key != "removed"}
    here, gone = ("marker", canonical(said)), ("marker", canonical(said), "removed")
    mine, other = (gone, here) if effect.get("removed") else (here, gone)
    if told.pop(other, None) is None:
        told[mine] = effect


def _changed(key: Key, effect: Effect, before: dict[Key, Any]) -> Effect | None:
    """An effect without what it leaves as it was; None where that is all."""
    if key[0] in ("marker", "conditions", "track"):
        return effect
    if effect.get("eliminated") or effect.get("removed"):
        return {name: effect[name] for name in (key[0], "eliminated", "removed") if name in effect}
    fixed = {key[0], "in_cave"} if key[0] == "hex" else {key[0]}
    left = {
        name: value
        for name, value in effect.items()
        if name in fixed or not _as_before(value, before.get((*key, name), _UNTOUCHED))
    }
    return left if left.keys() - fixed else None


_UNTOUCHED = object()


def _as_before(value: Any, was: Any) -> bool:
    if was is _UNTOUCHED:
        return False
    return (not value and not was) or canonical(value) == canonical(was)


def _before(changes: Iterable[Change]) -> dict[Key, Any]:
    """What was there before the first change, by subject and key."""
    found: dict[Key, Any] = {}
    for change in changes:
        if "unit" in change:
            for name, was in (change.get("was") or {}).items():
                found.setdefault(("unit", canonical(change["unit"]), "False", name), was)
        elif "marker" in change and change["marker"]["kind"] in STATUS and "at" in change["marker"]:
            marker = change["marker"]
            key = ("hex", canonical(marker["at"]), str(bool(marker.get("in_cave"))), marker["kind"])
            found.setdefault(key, marker.get("value", True) if change["by"] < 0 else None)
        elif "track" in change:
            *holder, name = change["track"]
            if len(holder) == 1:
                found.setdefault(("side", canonical(holder[0]), "False", name), change.get("was"))
            elif len(holder) == 2:
                kind = {"hexes": "hex", "companies": "company"}.get(holder[0], holder[0][:-1])
                found.setdefault((kind, canonical(holder[1]), "False", name), change.get("was"))
    return found


# A position as a tree: what `games.tree` gives, what a snapshot holds, what changes are folded over.


def folded(tree: Tree, changes: Iterable[Change]) -> Tree:
    """The position that a tree becomes by changes; the tree itself stays as it was."""
    now = copy.deepcopy(tree)
    for change in changes:
        _fold(now, change)
    return now


def _fold(tree: Tree, change: Change) -> None:
    if "unit" in change:
        _fold_unit(tree["units"], change["unit"], change["set"])
    elif "marker" in change:
        if change["by"] > 0:
            tree["markers"].append(change["marker"])
        else:
            tree["markers"].remove(change["marker"])
    elif "condition" in change:
        _put(tree["conditions"], change["condition"], change["set"])
    else:
        _put_track(tree["tracks"], change["track"], change["set"])


def _fold_unit(units: Tree, code: str, said: Tree | None) -> None:
    if said is None:
        units.pop(code, None)
        return
    unit = units.setdefault(code, {})
    for key, value in said.items():
        _put(unit, key, value)


def _put_track(within: Tree, path: list[str], value: Any) -> None:
    """A value at a path, whose branches grow and fall as they are needed."""
    first, *rest = path
    if rest:
        branch = within.get(first, {})
        _put_track(branch, rest, value)
        value = branch or None
    _put(within, first, value)


def _put(within: Tree, key: str, value: Any) -> None:
    if value is None:
        within.pop(key, None)
    else:
        within[key] = value
