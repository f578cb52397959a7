"""Case files: a position with questions about it, read, checked and put into the database.

`read_case` finds every mistake before anything is stored. `store_position` puts the
position into the caller's transaction, which a case rolls back and a saved position commits.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.engine import Connection

from db.counters import CONDITIONS, MARKERS, UNITS, MarkerKind, unit_columns
from db.labels import Axial, nearest
from db.map_draft import MapDraft
from db.maps import Map
from db.position_draft import MarkerDraft, PositionDraft
from db.positions import Marker, Position
from db.positions import Unit as UnitRow
from db.rulesets import CODES, read_ruleset
from importers.documents import Node, Problems, read_document
from importers.forms import fill
from importers.map_reading import NAME, is_name, read_hex, read_map
from importers.maps import open_map, store_map

CASE_KEYS = (
    "case", "title", "ruleset", "cites", "policy", "conditions", "map", "units", "markers", "ask",
)  # fmt: skip
POSITION_KEYS = ("name", "title", "ruleset", "policy", "conditions", "map", "units", "markers", "note")
ASK_KEYS = ("id", "expect", "policy", "conditions")
MARKER_KEYS = ("kind", "at", "value", "side", "facing", "company", "displaced", "in_cave")


@dataclasses.dataclass
class Question:
    """One item of `ask`."""

    kind: str
    arguments: BaseModel
    asked: dict[str, Any]
    """Kind and arguments, each place by the label or id it has."""
    at: Node
    """Where it stands in the file."""
    id: str | None = None
    expect: dict[str, Any] | None = None
    policy: dict[str, str] = dataclasses.field(default_factory=dict)
    conditions: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class CaseDraft:
    """A case file, read and checked."""

    case: str
    position: PositionDraft
    questions: list[Question]
    title: str = ""
    cites: tuple[str, ...] = ()
    document: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Names:
    """A field of a question's arguments that names something of the position: what kinds of thing."""

    what: tuple[str, ...]
    """Of: hex, unit, side, map_feature."""


Kinds = Mapping[str, type[BaseModel]]


def read_case(text: str | bytes, name: str, kinds: Mapping[str, Kinds], connection: Connection) -> CaseDraft:
    """The case in a text; `kinds` are the questions that each ruleset answers.

    The connection is asked for a saved map, where the case stands on one by its name.
    """
    problems = Problems()
    root = read_document(text, name, problems)
    keys = root.mapping(problems, CASE_KEYS, required=("case", "ruleset", "map", "ask"))
    if "case" not in keys and "ruleset" not in keys:
        problems.raise_if_any()
    case = keys["case"].string(problems) if "case" in keys else None
    position = _read_position(root, keys, problems, connection)
    if position is None:
        problems.raise_if_any()
        raise AssertionError("a position that cannot be read has a problem")
    # a case's map is passing: it takes nobody's name, and lies nowhere in the world
    position.board.name = position.board.georeference = None
    questions = _read_questions(keys.get("ask"), position, kinds[position.ruleset], problems)
    cites = tuple(
        cited
        for node in (keys["cites"].items(problems) if "cites" in keys else ())
        if (cited := node.string(problems))
    )
    problems.raise_if_any()
    return CaseDraft(case or "", position, questions, position.title, cites, root.plain())


def read_position(text: str | bytes, name: str, connection: Connection) -> PositionDraft:
    """A position to be saved: as a case, with a name and without questions."""
    problems = Problems()
    root = read_document(text, name, problems)
    keys = root.mapping(problems, POSITION_KEYS, required=("name", "ruleset", "map"))
    position = _read_position(root, keys, problems, connection)
    if "name" in keys and (text_name := keys["name"].string(problems)) is not None:
        if not is_name(text_name):
            problems.add(keys["name"], f"{text_name!r}: {NAME}")
        elif position is not None:
            position.name = text_name
    problems.raise_if_any()
    assert position is not None
    if position.saved_map is None:
        _name_board(position, keys["map"], problems, connection)
    return position


def _name_board(position: PositionDraft, node: Node, problems: Problems, connection: Connection) -> None:
    """A saved position's own map is kept under its own name, or the position's."""
    position.board.name = position.board.name or position.name
    taken = connection.scalar(sa.select(Map.id).where(Map.name == position.board.name))
    if taken is not None:
        problems.add(
            node,
            f"there is a map {position.board.name!r} already; give this one another name,"
            f" or write `map: {position.board.name}` to stand on that",
        )
        problems.raise_if_any()


def _read_position(
    root: Node, keys: dict[str, Node], problems: Problems, connection: Connection
) -> PositionDraft | None:
    ruleset = keys["ruleset"].word(problems, "ruleset", CODES) if "ruleset" in keys else None
    if ruleset is None or "map" not in keys:
        return None
    saved_map, board = None, None
    if isinstance(keys["map"].value, dict):
        board = read_map(keys["map"], ruleset, problems)
    elif (saved_map := keys["map"].string(problems)) is not None:
        board = _saved_board(keys["map"], saved_map, ruleset, problems, connection)
    title = (keys["title"].string(problems) or "") if "title" in keys else ""
    conditions = _read_conditions(keys["conditions"], ruleset, problems) if "conditions" in keys else {}
    policy = _read_policy(keys["policy"], ruleset, problems) if "policy" in keys else {}
    units = keys["units"].items(problems) if "units" in keys else []
    if board is None:
        # where a unit stands cannot be told, but what is wrong with its counter can
        for node in units:
            fill(UNITS[ruleset], node, problems)
        return None
    position = PositionDraft(ruleset, board, saved_map, None, title, conditions, policy)
    for node in units:
        _read_unit(node, position, problems)
    for node in keys["markers"].items(problems) if "markers" in keys else ():
        _read_marker(node, position, problems)
    return position


def _saved_board(
    node: Node, name: str, ruleset: str, problems: Problems, connection: Connection
) -> MapDraft | None:
    names = list(connection.scalars(sa.select(Map.name).where(Map.ruleset == ruleset)))
    if node.word(problems, f"{ruleset} map", names) is None:
        return None
    return open_map(connection, name)


def _read_conditions(node: Node, ruleset: str, problems: Problems) -> dict[str, Any]:
    form = fill(CONDITIONS[ruleset], node, problems)
    return form.model_dump(mode="json", exclude_unset=True) if form is not None else {}


def _read_policy(node: Node, ruleset: str, problems: Problems) -> dict[str, str]:
    points = {point.id: point for point in read_ruleset(ruleset).contested}
    policy: dict[str, str] = {}
    for point, chosen in node.mapping(problems).items():
        if point not in points:
            problems.add(
                chosen, f"unknown contested point {point!r}", functools.partial(nearest, point, points)
            )
            continue
        letter = chosen.word(problems, f"reading of {point}", list(points[point].readings))
        if letter is not None:
            policy[point] = letter
    return policy


def _read_unit(node: Node, position: PositionDraft, problems: Problems) -> None:
    unit = fill(UNITS[position.ruleset], node, problems)
    if unit is None:
        return
    if unit.id in position.units:
        problems.add(node.at(["id"]), f"there are two units {unit.id!r}")
        return
    place = read_hex(node.at(["at"]), position.board, problems) if unit.at is not None else None
    if unit.at is not None and place is None:
        return
    zone = getattr(unit, "zone", None)
    if zone is not None:
        beach = read_hex(node.at(["zone", "beach"]), position.board, problems)
        if beach is None:
            return
        zone = zone.model_copy(update={"beach": position.board.scheme.label(beach)})
        unit = unit.model_copy(update={"zone": zone})
    in_cave = getattr(unit, "in_cave", False)
    if in_cave and place is not None and not _has_cave(position, place):
        problems.add(node.at(["in_cave"]), f"there is no cave in {unit.at}")
    position.units[unit.id] = (unit, place)


def _has_cave(position: PositionDraft, place: Axial) -> bool:
    return position.ruleset != "css" or "cave" in position.board.hexes[place].features


def _read_marker(node: Node, position: PositionDraft, problems: Problems) -> None:
    keys = node.mapping(problems, MARKER_KEYS, required=("kind", "at"))
    if "kind" not in keys or "at" not in keys:
        return
    known = MARKERS[position.ruleset]
    kind = keys["kind"].word(problems, "marker", list(known))
    place = read_hex(keys["at"], position.board, problems)
    if kind is None or place is None:
        return
    says = known[kind]
    value = _marker_value(node, keys, kind, says, problems)
    facing = None
    turned = keys.get("side") or keys.get("facing")
    if "side" in keys and "facing" in keys:
        problems.add(keys["facing"], "side and facing are one thing; write one of them")
    if turned is not None and not says.facing:
        problems.add(turned, f"a {kind} marker has no side")
    elif turned is not None:
        facing = turned.whole(problems, 1, 6)
    elif says.facing:
        problems.add(node, f"a {kind} marker needs its side, 1 to 6")
    attributes = _marker_attributes(node, keys, kind, says, problems)
    if "in_cave" in keys and not says.in_cave:
        problems.add(keys["in_cave"], f"a {kind} marker has no in_cave")
    elif "in_cave" in keys and keys["in_cave"].flag(problems):
        attributes["in_cave"] = True
        if not _has_cave(position, place):
            problems.add(keys["in_cave"], f"there is no cave in {keys['at'].text}")
    position.markers.append(MarkerDraft(kind, place, value, facing, attributes))


def _marker_value(
    node: Node, keys: dict[str, Node], kind: str, says: MarkerKind, problems: Problems
) -> int | None:
    if "value" not in keys:
        if says.value is not None:
            problems.add(node, f"a {kind} marker needs its value, {says.value[0]} to {says.value[1]}")
        return None
    if says.value is None:
        problems.add(keys["value"], f"a {kind} marker has no value")
        return None
    return keys["value"].whole(problems, *says.value)


def _marker_attributes(
    node: Node, keys: dict[str, Node], kind: str, says: MarkerKind, problems: Problems
) -> dict[str, Any]:
    if not says.company:
        for key in ("company", "displaced"):
            if key in keys:
                problems.add(keys[key], f"a {kind} marker has no {key}")
        return {}
    if "company" not in keys:
        problems.add(node, f"a {kind} marker needs its company")
        return {}
    attributes: dict[str, Any] = {"company": keys["company"].string(problems)}
    if "displaced" in keys and keys["displaced"].flag(problems):
        attributes["displaced"] = True
    return attributes


def _read_questions(
    node: Node | None, position: PositionDraft, kinds: Kinds, problems: Problems
) -> list[Question]:
    if node is None:
        return []
    items = node.items(problems)
    if not items:
        problems.add(node, "there is no question")
    return [
        question
        for item in items
        if (question := _read_question(item, position, kinds, problems)) is not None
    ]


def _read_question(item: Node, position: PositionDraft, kinds: Kinds, problems: Problems) -> Question | None:
    if not isinstance(item.value, dict):
        problems.add(item, f"expected a question, found {item.kind}")
        return None
    named_kinds = [key for key in item.value if key not in ASK_KEYS]
    if len(named_kinds) != 1:
        problems.add(item, f"an item of ask holds exactly one question, not {len(named_kinds)}")
        return None
    kind = named_kinds[0]
    node = item.value[kind]
    if kind not in kinds:
        problems.add(
            node,
            f"{position.ruleset} has no question {kind!r}; it answers {', '.join(sorted(kinds))}",
            functools.partial(nearest, kind, kinds),
        )
        return None
    arguments = fill(kinds[kind], node, problems)
    if arguments is not None:
        named = _read_names(kinds[kind], node, position, problems)
        arguments = None if None in named.values() else arguments.model_copy(update=named)
    extras = {key: item.value[key] for key in ASK_KEYS if key in item.value}
    id = extras["id"].string(problems) if "id" in extras else None
    expect = extras["expect"].mapping(problems) if "expect" in extras else None
    policy = _read_policy(extras["policy"], position.ruleset, problems) if "policy" in extras else {}
    conditions = {}
    if "conditions" in extras:
        conditions = _read_conditions(extras["conditions"], position.ruleset, problems)
    if arguments is None:
        return None
    return Question(
        kind,
        arguments,
        {kind: arguments.model_dump(mode="json", by_alias=True, exclude_none=True)},
        item,
        id,
        None if expect is None else {key: _expected(value) for key, value in expect.items()},
        policy,
        conditions,
    )


def _expected(node: Node) -> Any:
    """An expected value; a number with a zero at its end may be a label, and stays as written."""
    if isinstance(node.value, dict):
        return {key: _expected(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [_expected(child) for child in node.value]
    if isinstance(node.value, Decimal) and str(node.value.normalize()) != node.text:
        node.value = node.text
    return node.value


def _read_names(
    form: type[BaseModel], node: Node, position: PositionDraft, problems: Problems
) -> dict[str, Any]:
    """Every hex, unit and side that a question names must be there: each by the name it has."""
    read: dict[str, Any] = {}
    for name, field in form.model_fields.items():
        names = next((extra for extra in field.metadata if isinstance(extra, Names)), None)
        given = node.get(field.alias or name)
        if names is None or given is None or given.value is None:
            continue
        if isinstance(given.value, list):
            read[name] = [_read_name(item, names, position, problems) for item in given.value]
        else:
            read[name] = _read_name(given, names, position, problems)
    return read


def _read_name(node: Node, names: Names, position: PositionDraft, problems: Problems) -> str | None:
    text = node.string(problems)
    if text is None:
        return None
    if "unit" in names.what and text in position.units:
        unit, place = position.units[text]
        if "hex" in names.what and place is None and getattr(unit, "zone", None) is None:
            problems.add(node, f"the unit {text!r} is not on the map")
        return text
    if "map_feature" in names.what and text in position.board.features:
        return text
    if "side" in names.what and text in read_ruleset(position.ruleset).facts.sides:
        return text
    if "hex" in names.what:
        return _read_place(node, text, names, position, problems)
    known = {
        "unit": list(position.units),
        "map_feature": list(position.board.features),
        "side": list(read_ruleset(position.ruleset).facts.sides),
    }
    words = [word for what in names.what for word in known[what]]
    problems.add(
        node,
        f"there is no {' or '.join(what.replace('_', ' ') for what in names.what)} {text!r}",
        functools.partial(nearest, text, words),
    )
    return None


def _read_place(
    node: Node, text: str, names: Names, position: PositionDraft, problems: Problems
) -> str | None:
    """The label of a hex; where there is none, a unit with a name like it may have been meant."""
    wrong = Problems()
    place = read_hex(node, position.board, wrong)
    if place is not None:
        return position.board.scheme.label(place)
    alike = nearest(text, position.units, 1) if "unit" in names.what else []
    if alike:
        problems.add(node, f"there is no hex or unit {text!r}", lambda: alike)
    else:
        problems.found += wrong.found
    return None


def store_position(connection: Connection, position: PositionDraft) -> int:
    """Put the position, and its map if it is not there, into the caller's transaction."""
    if position.saved_map is not None:
        map_id = connection.scalar(sa.select(Map.id).where(Map.name == position.saved_map))
    else:
        map_id = store_map(connection, position.board)
    position_id: int | None = connection.scalar(
        sa.insert(Position)
        .values(
            name=position.name,
            title=position.title,
            map_id=map_id,
            ruleset=position.ruleset,
            conditions=position.conditions,
            policy=position.policy,
        )
        .returning(Position.id)
    )
    assert position_id is not None
    common = {"position_id": position_id, "map_id": map_id}
    if position.units:
        connection.execute(
            sa.insert(UnitRow),
            [
                {
                    **common,
                    **dict(zip(("q", "r"), place or (None, None), strict=True)),
                    "code": code,
                    **dict(zip(("side", "kind", "attributes"), unit_columns(unit), strict=True)),
                }
                for code, (unit, place) in position.units.items()
            ],
        )
    if position.markers:
        connection.execute(
            sa.insert(Marker),
            [
                {
                    **common,
                    "q": marker.at.q,
                    "r": marker.at.r,
                    "kind": marker.kind,
                    "value": marker.value,
                    "facing": marker.facing,
                    "attributes": marker.attributes,
                }
                for marker in position.markers
            ],
        )
    return position_id
