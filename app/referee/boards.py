"""Boards: a saved map or position by its name, changed for a moment if wanted, and asked a question.

    board = open_board(connection, "lipata-landing")
    answer = board.ask(connection, {"los": {"from": "A/1/31", "to": "14.12"}})

Command line, API and map page all ask here. What is asked becomes a case on the saved map, so
that mistakes are found and told as in a case file; it is ruled on in a savepoint and undone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.referee.arguments import arguments, needs_units
from app.referee.cases import rule_text
from app.referee.picture import marked, place_of, step_costs
from app.referee.questions import forms, kinds_of
from app.referee.rulings import QuestionKind, Ruling, rule_case
from app.referee.whatif import NOTHING, Changes
from db import SightlineError
from db.inventory import map_facts, no_board, no_map, no_position
from db.labels import Axial
from db.map_draft import MapDraft
from db.maps import Map
from db.position_draft import PositionDraft
from db.positions import Position
from db.values import canonical, to_json
from importers.cases import CaseDraft, read_case, read_position
from importers.documents import Problem, Problems
from importers.map_writing import about, artwork, features, ground
from importers.maps import load_draft
from importers.positions import position_tree, written

Tree = dict[str, Any]
Kind = Literal["map", "position"]
BESIDE = {"policy": "policy ", "conditions": "condition "}
"""Where a mistake is that stands beside the question."""
WHOLE = 1000
"""Hexes of a map that a case file writes out whole; of a larger one, the part that matters, if it is enough."""
AROUND = 4
"""Hexes around what a ruling speaks of that are part of what matters."""


@dataclasses.dataclass(frozen=True)
class Board:
    """What questions are put to."""

    kind: Kind
    name: str
    title: str
    ruleset: str
    map: str
    tree: Tree
    """The case that it makes, without its question."""

    def ask(
        self,
        connection: Connection,
        question: Tree,
        changes: Changes = NOTHING,
        words: Mapping[str, str] = BESIDE,
    ) -> Answer:
        """Rule on one question, an item of a case's `ask`.

        A mistake is told by the argument it is in; `words` say what stands beside the question.
        """
        case = self.case(connection, question, changes, words)
        with _in_words(self, self.tree, changes, case.questions[0].kind, words):
            [ruling] = rule_case(connection, case, kinds_of(self.ruleset))
        ruling.case = None
        return Answer(ruling, case)

    def case(
        self,
        connection: Connection,
        question: Tree,
        changes: Changes = NOTHING,
        words: Mapping[str, str] = BESIDE,
    ) -> CaseDraft:
        """The question on this board, read and checked."""
        tree = changes.applied(self.tree)
        kind = next((kind for name, kind in kinds_of(self.ruleset).items() if name in question), None)
        if kind is not None and not tree.get("units") and needs_units(kind):
            raise self._no_units(connection)
        with _in_words(self, tree, changes, kind.name if kind else "", words):
            text = to_json(tree | {"case": self.name, "ask": [question]}, indent=None)
            return read_case(text, f"{self.name}.json", forms(), connection)

    def position(self, connection: Connection, changes: Changes = NOTHING) -> PositionDraft:
        """What stands where, with the changes made."""
        tree = changes.applied(self.tree)
        with _in_words(self, tree, changes, "", {}):
            return read_position(
                to_json(tree | {"name": self.name}, indent=None), f"{self.name}.json", connection
            )

    def _no_units(self, connection: Connection) -> SightlineError:
        """A map is asked about a unit: the positions on it are meant."""
        if self.kind == "position":
            return SightlineError(f"There are no units in {self.name}.")
        standing = map_facts(connection, self.name).positions
        return SightlineError(
            f"{self.name} is a map, and units stand in positions only.",
            f"Positions on it: {', '.join(standing)}." if standing else "There is no position on it yet.",
        )


@dataclasses.dataclass(frozen=True)
class Answer:
    """A ruling, and the case that it was made on."""

    ruling: Ruling
    case: CaseDraft

    def as_dict(self, connection: Connection) -> Tree:
        """The ruling with what a map shows of it."""
        return self.ruling.as_dict() | {"draws": self.draws(connection)}

    def draws(self, connection: Connection) -> Tree:
        """What a map shows: hexes by their labels, with a cost or none; a line in the display plane."""
        ruling, position = self.ruling, self.case.position
        kind = kinds_of(ruling.ruleset)[ruling.kind]
        asked = ruling.question[ruling.kind]
        told = _Told(kind, ruling)
        ends = list(dict.fromkeys(_labels(_named(kind, asked, many=False), position)))
        path = told.path or list(_labels(_named(kind, asked, many=True, what="hex"), position))
        if kind.draws == "path" and path and ends and ends[0] != path[0] and not told.path:
            path = [ends[0], *path]
        return {
            "kind": kind.draws or "places",
            "line": _centers(connection, position, ends) if kind.draws == "line" and len(ends) == 2 else [],
            "hexes": told.hexes,
            "blocked": told.blocked,
            "path": path if kind.draws != "line" else [],
            "ends": ends,
            "units": sorted(set(_strings(ruling.answer)) & position.units.keys()),
        }


class _Told:
    """What of an answer and its proof lies on the map."""

    def __init__(self, kind: QuestionKind, ruling: Ruling) -> None:
        answer = ruling.answer
        stops = [step.at for step in ruling.steps if step.effect in ("blocks", "illegal") and step.at]
        self.blocked: list[str] = list(dict.fromkeys([*answer.get("blocked_by", ()), *stops]))
        self.path: list[str] = list(answer.get("path") or ())
        self.hexes: dict[str, Any] = {}
        for key, found in answer.items() if kind.draws in ("hexes", "line") else ():
            if isinstance(found, dict) and not any(isinstance(item, list) for item in found.values()):
                self.hexes |= found
            elif isinstance(found, list) and key not in ("blocked_by", "path"):
                self.hexes |= {name: None for name in found if isinstance(name, str)}
        if kind.draws == "path":
            self.hexes |= step_costs(ruling)


def open_board(connection: Connection, name: str, kind: Kind | None = None) -> Board:
    """The position or map of a name; of two with one name, the position, unless `kind` says."""
    name = name.replace("\0", "\ufffd")  # which no text in the database can have
    if kind != "map" and connection.scalar(sa.select(sa.exists().where(Position.name == name))):
        tree = position_tree(connection, name)
        del tree["name"]
        return Board("position", name, tree.get("title") or name, tree["ruleset"], tree["map"], tree)
    found = None
    if kind != "position":
        found = connection.execute(sa.select(Map.ruleset, Map.title).where(Map.name == name)).one_or_none()
    if found is None:
        missing = {"map": no_map, "position": no_position, None: no_board}[kind]
        raise missing(connection, name)
    return Board("map", name, found.title, found.ruleset, name, {"ruleset": found.ruleset, "map": name})


def case_file(
    connection: Connection, board: Board, question: Tree, changes: Changes = NOTHING, *, by_name: bool = False
) -> str:
    """The question on this board as a case file that rules to the same answer, which it expects.

    Its map is written out, so that the file can be sent to somebody without it: whole, or of a
    large map the part that matters where that is proved to be enough; else `by_name`.
    """
    answer = board.ask(connection, question, changes)
    tree = changes.applied(board.tree)
    head = {"case": f"{board.name}-{answer.ruling.kind.replace('_', '-')}", "title": board.title}
    asked = {**answer.ruling.question, **{key: question[key] for key in BESIDE if question.get(key)}}
    asked["expect"] = answer.ruling.answer
    tree = {**head, **{key: value for key, value in tree.items() if value and key != "title"}}
    if by_name:
        return written(tree | {"ask": [asked]})
    draft = load_draft(connection, board.map)
    spoken = marked(answer.ruling, answer.case.position, connection)
    if spoken and len(draft.hexes) > WHOLE:
        part = _part(draft, spoken)
        text = written(_standing_on(part, tree) | {"ask": [asked]})
        if _rules_alike(connection, text, answer.ruling):
            return text
    return written(_standing_on(draft, tree) | {"ask": [asked]})


def _standing_on(draft: MapDraft, tree: Tree) -> Tree:
    """A case with its map written out; who stands elsewhere is left out."""
    labels = {draft.scheme.label(place) for place in draft.hexes}
    board = {
        key: value
        for key, value in {**about(draft), **ground(draft), **features(draft), **artwork(draft)}.items()
        if key not in ("ruleset", "name", "georeference")
    }
    here: Tree = {
        key: [entry for entry in tree[key] if entry.get("at") is None or entry["at"] in labels]
        for key in ("units", "markers")
        if key in tree
    }
    return {**tree, "map": board, **here}


def _part(draft: MapDraft, spoken: Collection[Axial]) -> MapDraft:
    """The rectangle around what a ruling speaks of."""
    columns = [place.center[0] for place in spoken]
    rows = [place.center[1] for place in spoken]
    # in lattice units: columns are 3 apart, rows 2
    left, right = min(columns) - 3 * AROUND, max(columns) + 3 * AROUND
    top, bottom = min(rows) - 2 * AROUND, max(rows) + 2 * AROUND
    return draft.part(
        place
        for place in draft.hexes
        if left <= place.center[0] <= right and top <= place.center[1] <= bottom
    )


def _rules_alike(connection: Connection, text: str, ruling: Ruling) -> bool:
    try:
        _, [again] = rule_text(connection, text, "case.yaml")
    except SightlineError:
        return False

    def proof(of: Ruling) -> str:
        return canonical([of.answer, [(step.rule, step.clause, step.effect) for step in of.steps]])

    return proof(again) == proof(ruling)


@contextmanager
def _in_words(
    board: Board, tree: Tree, changes: Changes, kind: str, words: Mapping[str, str]
) -> Iterator[None]:
    """A mistake is told by the argument or change it is in, not by its line in a file that nobody wrote."""
    try:
        yield
    except Problems as problems:
        told = Problems()
        told.found += (_told(problem, board, tree, changes, kind, words) for problem in problems.found)
        told.raise_if_any()


def _told(
    problem: Problem, board: Board, tree: Tree, changes: Changes, kind: str, words: Mapping[str, str]
) -> Problem:
    asked, _, place = problem.place.partition("ask/1")
    if asked:
        return changes.told(problem, tree) or dataclasses.replace(problem, file=board.name, line=None)
    first, _, rest = place.strip("/").partition("/")
    where = rest if first == kind else f"{words.get(first, '')}{rest}"
    return dataclasses.replace(problem, file=f"{kind} on {board.name}", line=None, place=where.strip())


def _named(kind: QuestionKind, asked: Tree, *, many: bool, what: str | None = None) -> Iterator[str]:
    """The places that a question names, in the order of its arguments."""
    for argument in arguments(kind):
        if argument.picked and argument.many == many and (what is None or what in argument.names):
            value = asked.get(argument.word)
            yield from (value or ()) if many else () if value is None else (value,)


def _labels(names: Iterable[str], position: PositionDraft) -> Iterator[str]:
    """The labels of the hexes that are meant; a unit off the map has none."""
    for name in names:
        place = place_of(name, position)
        if place is not None:
            yield position.board.scheme.label(place)


def _centers(connection: Connection, position: PositionDraft, labels: Iterable[str]) -> list[list[float]]:
    """The centres of hexes in the display plane."""
    scheme = position.board.scheme
    query = sa.text(
        "select st_x(place), st_y(place)"
        " from gis._place(lattice.center(:q, :r), cast(:scheme as jsonb)) as place"
    )
    places: Iterable[Axial] = (scheme.hex(label) for label in labels)
    return [
        list(connection.execute(query, {**place._asdict(), "scheme": scheme.model_dump_json()}).one())
        for place in places
    ]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)
