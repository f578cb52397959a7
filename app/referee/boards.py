"""Boards: a saved map or position by its name, asked where it lies, and changed for a moment if wanted.

    board = open_board(connection, "lipata-landing")
    answer = board.ask(connection, {"los": {"from": "A/1/31", "to": "14.12"}})

Command line, API and map page all ask here. A question is put to the rows of the position itself.
Only a what-if makes a copy, in a savepoint, with its changes made as rows; both are undone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from app.referee.arguments import needs_units
from app.referee.cases import rule_text
from app.referee.picture import Picture, picture
from app.referee.questions import forms, kinds_of
from app.referee.rulings import QuestionKind, Ruling, rule
from app.referee.whatif import NOTHING, Changes
from db import SightlineError
from db.budget import spend
from db.database import fetched, spared
from db.errata import Amendment, amendments
from db.inventory import map_facts, no_board, no_map, no_position
from db.labels import Axial, Scheme, unprefixed
from db.map_draft import MapDraft, columns_of, rows_of
from db.position_draft import PositionDraft
from db.values import canonical
from importers.documents import Problem, Problems, read_values
from importers.map_writing import about, artwork, features, ground
from importers.maps import load_draft
from importers.positions import open_position, stored_tree, written
from importers.questions import Question, read_question
from importers.rosters import Names, StoredRoster, words_of

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
    map_id: int
    position_id: int
    """Of a map: its bare position."""
    scheme: Scheme
    conditions: Tree
    policy: Mapping[str, str]
    errata: tuple[Amendment, ...] = ()
    """Errata and house rules that hold today."""
    names: Names = ()
    """What is known already of words that a question may name."""
    passing: bool = False
    """Whether it is the copy that a what-if has made."""

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
        with self.changed(connection, changes) as board:
            return board._answer(connection, question, words)

    def _answer(self, connection: Connection, asked: Tree, words: Mapping[str, str]) -> Answer:
        kind = next((kind for name, kind in kinds_of(self.ruleset).items() if name in asked), None)
        if kind is not None and needs_units(kind) and self._is_empty(connection):
            raise self._no_units(connection)
        roster = StoredRoster(
            connection, self.map_id, self.position_id, self.ruleset, self.scheme, self.names
        )
        with self._in_words(kind.name if kind else "", words), spared(connection):
            question = self._question(asked, kind, roster)
            ruling = rule(
                connection,
                self.position_id,
                self.ruleset,
                question,
                kinds_of(self.ruleset)[question.kind],
                conditions=self.conditions,
                policy=self.policy,
                errata=self.errata,
                saved=not self.passing,
            )
        return Answer(ruling, picture(ruling, roster), self.scheme)

    def _question(self, asked: Tree, kind: QuestionKind | None, roster: StoredRoster) -> Question:
        """The question, read and checked; all that it names is looked up at once."""
        problems = Problems()
        node = read_values(asked, self.name, problems)
        if kind is not None:
            roster.look_up(words_of(asked[kind.name]))
        question = read_question(node, roster, forms()[self.ruleset], problems)
        problems.raise_if_any()
        assert question is not None
        return question

    @contextmanager
    def changed(self, connection: Connection, changes: Changes) -> Iterator[Board]:
        """The board as a what-if has it, until the end of the block; without changes, the board itself."""
        if not changes:
            yield self
            return
        with connection.begin_nested() as savepoint:
            copy = connection.scalar(sa.select(sa.func.positions.copy(self.position_id)))
            assert copy is not None
            conditions = changes.make(connection, self.map_id, copy, self.conditions)
            yield dataclasses.replace(self, position_id=copy, conditions=conditions, names=(), passing=True)
            savepoint.rollback()

    def check(self, connection: Connection, changes: Changes) -> None:
        """Whether the changes can be made; `Problems` where not."""
        with self.changed(connection, changes):
            return

    def position(self, connection: Connection) -> PositionDraft:
        """What stands where."""
        draft = open_position(connection, self.position_id)
        draft.name = self.name
        return draft

    def tree(self, connection: Connection) -> Tree:
        """The case that it makes, without its question."""
        tree = stored_tree(connection, self.position_id)
        return {key: value for key, value in tree.items() if value or key in ("ruleset", "map")}

    def _is_empty(self, connection: Connection) -> bool:
        if self.kind == "position" and not self.passing:
            # who is asked about is looked for among its units, and told if it is not there
            return False
        return not connection.scalar(
            sa.text("select exists (select from unit where position_id = :position)"),
            {"position": self.position_id},
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

    @contextmanager
    def _in_words(self, kind: str, words: Mapping[str, str]) -> Iterator[None]:
        """A mistake is told by the argument it is in, not by its place in a document that nobody wrote."""
        try:
            yield
        except Problems as problems:
            told = Problems(self._placed(problem, kind, words) for problem in problems.found)
            told.raise_if_any()

    def _placed(self, problem: Problem, kind: str, words: Mapping[str, str]) -> Problem:
        first, _, rest = problem.place.partition("/")
        where = rest if first == kind else f"{words.get(first, '')}{rest}"
        on = f"{kind} on {self.name}" if kind else self.name
        return dataclasses.replace(problem, file=on, place=where.strip())


@dataclasses.dataclass(frozen=True)
class Answer:
    """A ruling, and what of it lies on the map."""

    ruling: Ruling
    picture: Picture
    scheme: Scheme

    def as_dict(self) -> Tree:
        """The ruling with what a map shows of it."""
        return self.ruling.as_dict() | {"draws": self.draws()}

    def draws(self) -> Tree:
        """What a map shows: hexes by their labels, with a cost or none; a line in the display plane."""
        return self.picture.as_dict(self.scheme)


def open_board(
    connection: Connection, name: str, kind: Kind | None = None, question: Tree | None = None
) -> Board:
    """The position or map of a name; of two with one name, the position, unless `kind` says.

    Who has a question already gives it, so that what it names is looked up along the way.
    """
    name = name.replace("\0", "\ufffd")  # which no text in the database can have
    asked = sorted({unprefixed(word)[1] for word in words_of(question)})
    rows = fetched(
        connection,
        "select * from positions.board(:name, :kind, :words)",
        {"name": name, "kind": kind, "words": asked},
    )
    if not rows:
        missing = {"map": no_map, "position": no_position, None: no_board}[kind]
        raise missing(connection, name)
    [found] = rows
    return Board(
        found.kind,
        name,
        found.title,
        found.ruleset,
        found.map,
        found.map_id,
        found.position_id,
        Scheme.model_validate(found.scheme),
        found.conditions,
        found.policy,
        amendments(found.errata),
        tuple(map(tuple, found.names or ())),
    )


def case_file(
    connection: Connection, board: Board, question: Tree, changes: Changes = NOTHING, *, by_name: bool = False
) -> str:
    """The question on this board as a case file that rules to the same answer, which it expects.

    Its map is written out, so that the file can be sent to somebody without it: whole, or of a
    large map the part that matters where that is proved to be enough; else `by_name`.
    """
    with board.changed(connection, changes) as now:
        # ground that is otherwise is so within this block alone
        answer = now.ask(connection, question)
        head = {"case": f"{board.name}-{answer.ruling.kind.replace('_', '-')}", "title": board.title}
        asked = {**answer.ruling.question, **{key: question[key] for key in BESIDE if question.get(key)}}
        asked["expect"] = answer.ruling.answer
        tree = {key: value for key, value in now.tree(connection).items() if key != "title"}
        case = {**head, **tree, "ask": [asked]}
        if by_name and not changes.on_ground:
            return written(case)
        return _written_out(connection, now.position(connection).board, answer, case)


def _written_out(connection: Connection, board: MapDraft, answer: Answer, case: Tree) -> str:
    """A case with its map: the part that matters, where the map is large and that is enough, else all of it."""
    spoken = answer.picture.marks(board, connection)
    if spoken and board.size > WHOLE:
        text = written(_standing_on(_part(board, spoken), case))
        if _rules_alike(connection, text, answer.ruling):
            return text
    spend("hexes of a map", board.size)
    return written(_standing_on(load_draft(connection, board.name or ""), case))


def position_file(connection: Connection, board: Board, changes: Changes, name: str) -> str:
    """The position as it stands now as a file of that name; with ground that is otherwise, its map is written out."""
    with board.changed(connection, changes) as now:
        tree = now.tree(connection)
        if changes.on_ground:
            draft = load_draft(connection, board.map)
            spend("hexes of a map", len(draft.hexes))
            tree = _standing_on(draft, tree)
    return written({"name": name, **tree})


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
    columns, rows = (
        range(lines.start - AROUND, lines.stop + AROUND) for lines in (columns_of(spoken), rows_of(spoken))
    )
    near = draft.cut(columns, rows)
    return near.part(place for place in near.hexes if place.q in columns and place.row in rows)


def _rules_alike(connection: Connection, text: str, ruling: Ruling) -> bool:
    try:
        _, [again] = rule_text(connection, text, "case.yaml")
    except SightlineError:
        return False

    def proof(of: Ruling) -> str:
        return canonical([of.answer, [(step.rule, step.clause, step.effect) for step in of.steps]])

    return proof(again) == proof(ruling)
