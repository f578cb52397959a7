"""Case files: a position with questions about it, read, checked and put into the database.

`read_case` finds every mistake before anything is stored. `store_position` puts the
position into the caller's transaction, which a case rolls back and a saved position commits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from db.counters import MARKERS, TRACKS, UNITS, MarkerKind, Unit, unit_columns
from db.labels import HEX, UNIT, Axial, unprefixed
from db.map_draft import MapDraft, vocabulary
from db.maps import Map
from db.position_draft import MarkerDraft, PositionDraft
from db.positions import Marker, Position
from db.positions import Unit as UnitRow
from db.rulesets import CODES
from importers.documents import Node, Problems, read_document, read_values
from importers.forms import fill
from importers.map_reading import NAME, is_name, read_hex, read_map
from importers.maps import open_map, store_map
from importers.questions import Kinds, Nowhere, Question, read_conditions, read_policy, read_questions

CASE_KEYS = (
    "case", "title", "ruleset", "cites", "policy", "conditions", "map", "units", "markers", "tracks", "ask",
)  # fmt: skip
POSITION_KEYS = (
    "name",
    "title",
    "ruleset",
    "policy",
    "conditions",
    "map",
    "units",
    "markers",
    "tracks",
    "note",
)
MARKER_KEYS = ("kind", "at", "value", "side", "facing", "company", "displaced", "in_cave")


@dataclasses.dataclass
class CaseDraft:
    """A case file, read and checked."""

    case: str
    position: PositionDraft
    questions: list[Question]
    title: str = ""
    cites: tuple[str, ...] = ()
    document: dict[str, Any] = dataclasses.field(default_factory=dict)


def read_case(text: str | bytes, name: str, kinds: Mapping[str, Kinds], connection: Connection) -> CaseDraft:
    """The case in a text; `kinds` are the questions that each ruleset answers.

    The connection is asked for a saved map, where the case stands on one by its name.
    """
    problems = Problems()
    return _case(read_document(text, name, problems), problems, kinds, connection)


def case_of(document: Any, name: str, kinds: Mapping[str, Kinds], connection: Connection) -> CaseDraft:
    """The case that a document of values tells, such as a kept ruling's."""
    problems = Problems()
    return _case(read_values(document, name, problems), problems, kinds, connection)


def _case(root: Node, problems: Problems, kinds: Mapping[str, Kinds], connection: Connection) -> CaseDraft:
    if not isinstance(root.value, dict):
        problems.add(
            root, "this is no case: one has `case:`, `ruleset:`, `map:` and `ask:`; begin from an example"
        )
        problems.raise_if_any()
    keys = root.mapping(problems, CASE_KEYS, required=("case", "ruleset", "map", "ask"))
    if "case" not in keys and "ruleset" not in keys:
        problems.raise_if_any()
    case = keys["case"].string(problems) if "case" in keys else None
    position = _read_position(root, keys, problems, connection)
    if position is None:
        ruleset = (keys["ruleset"].text or "") if "ruleset" in keys else ""
        if ruleset in kinds:
            read_questions(keys.get("ask"), Nowhere(ruleset), kinds[ruleset], problems)
        problems.raise_if_any()
        raise AssertionError("a position that cannot be read has a problem")
    # a case's map is passing: it takes nobody's name, and lies nowhere in the world
    position.board.name = position.board.georeference = None
    questions = [
        dataclasses.replace(question, expect=_on_beaches(question.expect, position.board))
        for question in read_questions(keys.get("ask"), position, kinds[position.ruleset], problems)
    ]
    cites = tuple(
        cited
        for node in (keys["cites"].items(problems) if "cites" in keys else ())
        if (cited := node.string(problems))
    )
    problems.raise_if_any()
    return CaseDraft(case or "", position, questions, position.title, cites, root.plain())


def read_sketch(
    text: str | bytes, name: str, connection: Connection
) -> tuple[PositionDraft | None, Problems]:
    """The position of a case that is being written, as far as there is one, and what is wrong with it so far."""
    problems = Problems()
    root = read_document(text, name, problems)
    keys = root.mapping(problems, CASE_KEYS, required=("ruleset", "map"))
    position = _read_position(root, keys, problems, connection)
    if position is not None:
        position.board.name = position.board.georeference = None
    return position, problems


def read_position(text: str | bytes, name: str, connection: Connection) -> PositionDraft:
    """A position to be saved: as a case, with a name and without questions."""
    problems = Problems()
    root = read_document(text, name, problems)
    if root.get("map") is None and any(root.get(key) is not None for key in ("extent", "hexes", "features")):
        problems.add(root, "this is a map, and nobody stands on it: bring it in as a map")
        problems.raise_if_any()
    # a case that is to be saved may keep its own word for what it is called
    known = (
        tuple("case" if key == "name" else key for key in POSITION_KEYS)
        if root.get("case")
        else POSITION_KEYS
    )
    keys = root.mapping(problems, known, required=(known[0], "ruleset", "map"))
    position = _read_position(root, keys, problems, connection)
    if known[0] in keys and (text_name := keys[known[0]].string(problems)) is not None:
        if not is_name(text_name):
            problems.add(keys[known[0]], f"{text_name!r}: {NAME}")
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
    if ruleset is None:
        return None
    saved_map, board = None, None
    if "map" not in keys:
        pass
    elif isinstance(keys["map"].value, dict):
        board = read_map(keys["map"], ruleset, problems)
    elif (saved_map := keys["map"].string(problems)) is not None:
        board = _saved_board(keys["map"], saved_map, ruleset, problems, connection)
    return position_on(keys, ruleset, board, saved_map, problems)


def position_on(
    keys: dict[str, Node], ruleset: str, board: MapDraft | None, saved_map: str | None, problems: Problems
) -> PositionDraft | None:
    """The position that a document's keys tell, on a map; None, and every mistake told, where the map is not known."""
    title = (keys["title"].string(problems) or "") if "title" in keys else ""
    conditions = read_conditions(keys["conditions"], ruleset, problems) if "conditions" in keys else {}
    policy = read_policy(keys["policy"], ruleset, problems) if "policy" in keys else {}
    if board is None:
        _check_counters(keys, ruleset, problems)
        return None
    position = PositionDraft(ruleset, board, saved_map, None, title, conditions, policy)
    for node in keys["units"].items(problems) if "units" in keys else ():
        if (unit := read_unit(node, board, problems)) is not None:
            if unit[0].id in position.units:
                problems.add(node.at(["id"]), f"there are two units {unit[0].id!r}")
            else:
                position.units[unit[0].id] = unit
        elif (code := node.get("id")) is not None and code.text is not None:
            position.unread.add(code.text)
    for node in keys["markers"].items(problems) if "markers" in keys else ():
        if (marker := read_marker(node, board, problems)) is not None:
            position.markers.append(marker)
    if "tracks" in keys:
        position.tracks = read_tracks(keys["tracks"], ruleset, problems)
    if saved_map is None and board.kept:
        hexes = position.tracks.get("hexes") or {}
        states = {label: {**hexes.get(label, {}), **state} for label, state in board.kept.items()}
        position.tracks = {**position.tracks, "hexes": {**hexes, **states}}
    return position


def _check_counters(keys: dict[str, Node], ruleset: str, problems: Problems) -> None:
    """Where counters stand cannot be told without a map, but what is wrong with each can."""
    for node in keys["units"].items(problems) if "units" in keys else ():
        fill(UNITS[ruleset], node, problems)
    for node in keys["markers"].items(problems) if "markers" in keys else ():
        if (kind := node.get("kind")) is not None:
            kind.word(problems, "marker", list(MARKERS[ruleset]))
    if "tracks" in keys:
        read_tracks(keys["tracks"], ruleset, problems)


def read_tracks(node: Node, ruleset: str, problems: Problems) -> dict[str, Any]:
    """Points, cups and pools; nothing, and every mistake told, where they cannot be."""
    form = fill(TRACKS[ruleset], node, problems)
    return _grown(form.model_dump(mode="json", exclude_unset=True)) if form is not None else {}


def _grown(tree: dict[str, Any]) -> dict[str, Any]:
    """A tree without branches on which nothing grows: of equal tracks there is one form."""
    inner = {key: _grown(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in inner.items() if value not in (None, {})}


def _saved_board(
    node: Node, name: str, ruleset: str, problems: Problems, connection: Connection
) -> MapDraft | None:
    names = list(connection.scalars(sa.select(Map.name).where(Map.ruleset == ruleset)))
    if node.word(problems, f"{ruleset} map", names) is None:
        return None
    return open_map(connection, name)


def read_unit(node: Node, board: MapDraft, problems: Problems) -> tuple[Unit, Axial | None] | None:
    """A unit and its hex; nothing, and every mistake told, where it cannot be."""
    unit = fill(UNITS[board.ruleset], node, problems)
    if unit is None:
        at = node.get("at")
        if at is not None and at.text is not None and at.value is not None:
            # where it stands is looked at all the same
            read_hex(at, board, problems)
        return None
    if unprefixed(unit.id)[0] is not None:
        problems.add(node.at(["id"]), f"{unit.id!r}: an id does not begin with {HEX} or {UNIT}")
    place = read_hex(node.at(["at"]), board, problems) if unit.at is not None else None
    if unit.at is not None and place is None:
        return None
    zone = getattr(unit, "zone", None)
    if zone is not None:
        beach = _beach(zone.beach, board) or read_hex(node.at(["zone", "beach"]), board, problems)
        if beach is None:
            return None
        zone = zone.model_copy(update={"beach": board.scheme.label(beach)})
        unit = unit.model_copy(update={"zone": zone})
    in_cave = getattr(unit, "in_cave", False)
    if in_cave and place is not None and not _has_cave(board, place):
        problems.add(node.at(["in_cave"]), f"there is no cave in {unit.at}")
    return unit, place


def _beach(name: str, board: MapDraft) -> Axial | None:
    """The hex of a landing beach by its name (css 22.0)."""
    found = board.features.get(name)
    return next(iter(found.at), None) if found is not None and found.kind == "beach" else None


def _on_beaches(expected: Any, board: MapDraft) -> Any:
    """What is expected, with the hex of each landing beach that is called by its name: answers tell it so."""
    if isinstance(expected, list):
        return [_on_beaches(one, board) for one in expected]
    if not isinstance(expected, dict):
        return expected
    told = {key: _on_beaches(value, board) for key, value in expected.items()}
    if isinstance(name := told.get("beach"), str) and (place := _beach(name, board)) is not None:
        told["beach"] = board.scheme.label(place)
    return told


def _has_cave(board: MapDraft, place: Axial) -> bool:
    """Whether somebody may be in a cave there; not every game prints them on its maps."""
    return "cave" not in vocabulary(board.ruleset).features or "cave" in board.hexes[place].features


def read_marker(node: Node, board: MapDraft, problems: Problems) -> MarkerDraft | None:
    """A marker; nothing, and every mistake told, where it cannot be."""
    known = MARKERS[board.ruleset]
    own = sorted({key for one in known.values() if one.says for key in one.says.model_fields})
    known_keys = (*MARKER_KEYS, *(key for key in own if key not in MARKER_KEYS))
    keys = node.mapping(problems, known_keys, required=("kind", "at"))
    if "kind" not in keys or "at" not in keys:
        return None
    kind = keys["kind"].word(problems, "marker", list(known))
    place = read_hex(keys["at"], board, problems)
    if kind is None or place is None:
        return None
    says = known[kind]
    # a word that all markers have may be one of a kind's own: the side that holds a victory marker (bob 18.0)
    theirs = says.says.model_fields if says.says else {}
    told = [key for key in own if key in keys and (key in theirs or key not in MARKER_KEYS)]
    # css 6.2.2: a Ridge marker may say the hexside it was claimed for, or whose it is
    if says.facing and "side" in told and isinstance(keys["side"].value, int):
        told.remove("side")
    keys = {key: value for key, value in keys.items() if key not in told}
    value = _marker_value(node, keys, kind, says, problems)
    facing = None
    turned = keys.get("side") or keys.get("facing")
    if "side" in keys and "facing" in keys:
        problems.add(keys["facing"], "side and facing are one thing; write one of them")
    if turned is not None and not says.facing:
        problems.add(turned, f"a {kind} marker has no side")
    elif turned is not None:
        facing = turned.whole(problems, 1, 6)
    elif says.facing and not says.untold:
        problems.add(node, f"a {kind} marker needs its side, 1 to 6")
    attributes = _marker_attributes(node, keys, kind, says, problems)
    attributes |= _marker_says(node, told, kind, says, problems)
    if "in_cave" in keys and not says.in_cave:
        problems.add(keys["in_cave"], f"a {kind} marker has no in_cave")
    elif "in_cave" in keys and keys["in_cave"].flag(problems):
        attributes["in_cave"] = True
        if not _has_cave(board, place):
            problems.add(keys["in_cave"], f"there is no cave in {keys['at'].text}")
    return MarkerDraft(kind, place, value, facing, attributes)


def _marker_value(
    node: Node, keys: dict[str, Node], kind: str, says: MarkerKind, problems: Problems
) -> int | None:
    if "value" not in keys:
        if says.value is not None and not says.untold:
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


def _marker_says(
    node: Node, own: list[str], kind: str, says: MarkerKind, problems: Problems
) -> dict[str, Any]:
    """What a marker of a kind with a form of its own says beside the rest."""
    if says.says is None:
        for key in own:
            problems.add(node.at([key]), f"a {kind} marker has no {key}")
        return {}
    told = Node(
        {key: node.at([key]) for key in own}, file=node.file, line=node.line, parent=node.parent, key=node.key
    )
    form = fill(says.says, told, problems)
    return {} if form is None else form.model_dump(mode="json", exclude_defaults=True)


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
            tracks=position.tracks,
        )
        .returning(Position.id)
    )
    assert position_id is not None
    connection.execute(sa.select(sa.func.positions._note_own(position_id)))
    common = {"position_id": position_id, "map_id": map_id}
    if position.units:
        rows = [{**common, **unit_row(*unit)} for unit in position.units.values()]
        connection.execute(sa.insert(UnitRow), rows)
    if position.markers:
        rows = [{**common, **marker_row(marker)} for marker in position.markers]
        connection.execute(sa.insert(Marker), rows)
    return position_id


def unit_row(unit: Unit, place: Axial | None) -> dict[str, Any]:
    """A unit as its row has it, apart from the position it stands in."""
    q, r = place or (None, None)
    side, kind, attributes = unit_columns(unit)
    return {"code": unit.id, "q": q, "r": r, "side": side, "kind": kind, "attributes": attributes}


def marker_row(marker: MarkerDraft) -> dict[str, Any]:
    """A marker as its row has it, apart from the position it lies in."""
    return {
        "q": marker.at.q,
        "r": marker.at.r,
        "kind": marker.kind,
        "value": marker.value,
        "facing": marker.facing,
        "attributes": marker.attributes,
    }
