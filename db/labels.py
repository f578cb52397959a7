"""Labels: how a map numbers its hexes, as data, and the way from a label to a hex and back.

A scheme says in which order, with which digits or letters a map prints columns and
rows, which columns are shifted by half a hex and which way, and how boards are joined.
The five games' schemes stand in `db/rulesets/<code>/ruleset.yaml`; a map may bring its own.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from db import SightlineError


class LabelError(SightlineError):
    """A label that names no hex."""


class Axial(NamedTuple):
    """A hex of the lattice."""

    q: int
    r: int

    def beside(self, direction: int) -> Axial:
        """The neighbour in a direction, 1 (up) to 6 clockwise."""
        dq, dr = STEPS[direction - 1]
        return Axial(self.q + dq, self.r + dr)

    def distance(self, other: Axial) -> int:
        dq, dr = self.q - other.q, self.r - other.r
        return max(abs(dq), abs(dr), abs(dq + dr))


STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
"""The neighbours in directions 1 to 6, as `lattice.neighbours` has them."""


class Board(BaseModel):
    """One of several boards joined into a map: where its first hex comes to lie."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    board: str = Field(pattern=r"^[0-9A-Za-z]+$")
    columns: int = Field(gt=0)
    rows: int = Field(gt=0)
    at: tuple[int, int] = (0, 0)
    """Columns to the right and rows down of the place it has when alone."""
    rotated: bool = False
    """Turned by half a circle, within its own rectangle."""


class Scheme(BaseModel):
    """A numbering scheme."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    orientation: Literal["flat", "pointed"] = "flat"
    """`flat`: hexes stand in vertical columns; `pointed`: in horizontal rows."""
    columns: Literal["digits", "letters"] = "digits"
    column_digits: int = Field(2, ge=1, le=4)
    rows: Literal["digits", "letters"] = "digits"
    row_digits: int = Field(2, ge=1, le=4)
    """Least number of digits; shorter numbers are filled with zeros."""
    order: Literal["column_row", "row_column"] = "column_row"
    separator: Literal["", ".", "-", "/", ":"] = ""
    shifted: Literal["odd", "even"] = "even"
    """Which columns (rows, if `pointed`) lie half a hex off, by their printed number (A is 1)."""
    shift: Literal["down", "up"] = "down"
    """Which way; on a `pointed` map down stands for right and up for left."""
    row_direction: Literal["down", "up"] = "down"
    """Where row numbers grow to."""
    boards: tuple[Board, ...] = ()

    @model_validator(mode="after")
    def digits_can_be_told_apart(self) -> Self:
        both_digits = self.columns == self.rows == "digits"
        if both_digits and not self.separator and self.column_digits != self.row_digits:
            raise ValueError("columns and rows of different width need a separator")
        if self.columns == self.rows == "letters" and not self.separator:
            raise ValueError("columns and rows in letters need a separator")
        names = [board.board for board in self.boards]
        if len(names) != len(set(names)):
            raise ValueError("two boards have the same name")
        return self

    def hex(self, label: str) -> Axial:
        """The hex that a label names, or an error that shows how labels look here."""
        board, text = self._split_board(label.strip())
        column, row = self._numbers(text, label)
        if board is not None and not (1 <= column <= board.columns and 1 <= row <= board.rows):
            raise LabelError(
                f"{label}: board {board.board} has {board.columns} columns and {board.rows} rows.",
                f"Its last hex is {board.board}-{self._text(board.columns, board.rows)}.",
            )
        return self._axial(column, row, board)

    def label(self, place: tuple[int, int]) -> str:
        """The label of a hex; of joined boards, the first that has it."""
        if not self.boards:
            return self._text(*self._column_row(place, None))
        for board in self.boards:
            column, row = self._column_row(place, board)
            if 1 <= column <= board.columns and 1 <= row <= board.rows:
                return f"{board.board}-{self._text(column, row)}"
        raise LabelError(f"No board has a hex at {place}.")

    def side(self, label: str) -> tuple[int, int]:
        """The doubled cell of a hexside written as two labels joined by `|`."""
        names = label.split("|")
        if len(names) != 2:
            raise LabelError(
                f"{label}: a hexside is two adjacent hexes joined by |.", f"Such as {self._sample_side()}."
            )
        first, second = (self.hex(name) for name in names)
        if first.distance(second) != 1:
            raise LabelError(
                f"{label}: the two hexes are not adjacent.", self._neighbours_of(names[0], first)
            )
        return first.q + second.q, first.r + second.r

    def side_label(self, x: int, y: int, known: Iterable[tuple[int, int]] | None = None) -> str:
        """A hexside as its two labels, lower first; on the rim, beyond which no hex is, of the one."""
        return "|".join(sorted(self.label(place) for place in side_hexes(x, y)))

    def lattice_point(self, x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        """A point of drawn artwork (column, row as printed numbers) on the lattice."""
        if self.orientation == "pointed":
            x, y = y, x
        y = y if self.row_direction == "down" else -y
        return 3 * (x + self._parity), 2 * y

    def drawn_point(self, x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        """The way back from the lattice to column and row."""
        column, row = x / 3 - self._parity, y / 2 if self.row_direction == "down" else -y / 2
        return (row, column) if self.orientation == "pointed" else (column, row)

    def rectangle(self, first: str, last: str) -> list[Axial]:
        """Every hex between two corner labels, by column and row, inclusive."""
        if self.boards:
            first_place, last_place = (self._column_row(self.hex(label), None) for label in (first, last))
        else:
            first_place, last_place = (self._numbers(label, label) for label in (first, last))
        columns = sorted((first_place[0], last_place[0]))
        rows = sorted((first_place[1], last_place[1]))
        return [
            self._axial(column, row, None)
            for column in range(columns[0], columns[1] + 1)
            for row in range(rows[0], rows[1] + 1)
        ]

    @property
    def _parity(self) -> int:
        """What is added to a line's number so that shifted lines have an odd q."""
        return 0 if self.shifted == "odd" else 1

    def _axial(self, column: int, row: int, board: Board | None) -> Axial:
        if board is not None:
            return self._placed(column, row, board)
        line, place = (row, column) if self.orientation == "pointed" else (column, row)
        q = line + self._parity
        down = place if self.row_direction == "down" else -place
        y = 2 * down + self._shift(q)
        return Axial(q, (y - q) // 2)

    def _column_row(self, place: tuple[int, int], board: Board | None) -> tuple[int, int]:
        if board is not None:
            place = self._unplaced(place, board)
        q, r = place
        down = (2 * r + q - self._shift(q)) // 2
        line, along = q - self._parity, down if self.row_direction == "down" else -down
        return (along, line) if self.orientation == "pointed" else (line, along)

    def _shift(self, q: int) -> int:
        return 0 if q % 2 == 0 else (1 if self.shift == "down" else -1)

    def _placed(self, column: int, row: int, board: Board) -> Axial:
        alone = self._axial(column, row, None)
        if board.rotated:
            alone = self._turned(alone, board)
        return self._moved(alone, board, 1)

    def _unplaced(self, place: tuple[int, int], board: Board) -> Axial:
        alone = self._moved(Axial(*place), board, -1)
        return self._turned(alone, board) if board.rotated else alone

    def _turned(self, place: Axial, board: Board) -> Axial:
        first = self._axial(1, 1, None)
        last = self._axial(board.columns, board.rows, None)
        return Axial(first.q + last.q - place.q, first.r + last.r - place.r)

    def _moved(self, place: Axial, board: Board, sign: int) -> Axial:
        """Shift by the board's offset; an odd number of columns keeps half hexes half."""
        columns, rows = board.at
        origin = self._axial(1, 1, None)
        target = self._axial(1 + columns, 1 + rows, None)
        return Axial(place.q + sign * (target.q - origin.q), place.r + sign * (target.r - origin.r))

    def _split_board(self, label: str) -> tuple[Board | None, str]:
        if not self.boards:
            return None, label
        name, dash, text = label.partition("-")
        for board in self.boards:
            if dash and board.board == name:
                return board, text
        known = ", ".join(board.board for board in self.boards)
        raise LabelError(
            f"{label}: no board {name!r} here.", f"Boards: {known}; write 20-E4 for E4 of board 20."
        )

    def _numbers(self, text: str, label: str) -> tuple[int, int]:
        match = self._pattern().fullmatch(text)
        if match is None:
            raise LabelError(
                f"{label!r} is not a label of this map.", f"Labels look like {self._text(5, 7)}."
            )
        return _number(match["column"]), _number(match["row"])

    def _pattern(self) -> re.Pattern[str]:
        def part(name: str, kind: str, digits: int) -> str:
            return f"(?P<{name}>[A-Z]{{1,2}})" if kind == "letters" else f"(?P<{name}>[0-9]{{{digits},4}})"

        parts = [
            part("column", self.columns, self.column_digits),
            part("row", self.rows, self.row_digits),
        ]
        if self.order == "row_column":
            parts.reverse()
        if self.columns == self.rows == "digits" and not self.separator:
            parts = [re.sub(r"\{(\d),4\}", r"{\1}", part) for part in parts]
        return re.compile(re.escape(self.separator).join(parts))

    def _text(self, column: int, row: int) -> str:
        parts = [
            _letters(column) if self.columns == "letters" else _digits(column, self.column_digits),
            _letters(row) if self.rows == "letters" else _digits(row, self.row_digits),
        ]
        if self.order == "row_column":
            parts.reverse()
        return self.separator.join(parts)

    def _sample_side(self) -> str:
        first = self._axial(5, 7, None)
        return f"{self._text(5, 7)}|{self._text(*self._column_row(first.beside(4), None))}"

    def _neighbours_of(self, name: str, place: Axial) -> str:
        beside: list[str] = []
        for direction in range(1, 7):
            try:
                beside.append(self.label(place.beside(direction)))
            except LabelError:
                continue
        return f"Adjacent to {name} are {', '.join(beside)}."


def side_hexes(x: int, y: int) -> tuple[Axial, Axial]:
    """The two hexes of the hexside (x, y), as `lattice.side_hexes` has them."""
    dx = x % 2
    dy = y % 2 if dx == 0 else -(y % 2)
    return Axial((x - dx) // 2, (y - dy) // 2), Axial((x + dx) // 2, (y + dy) // 2)


def nearest(word: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known words most like this one, for an error message."""
    return difflib.get_close_matches(word, list(known), n=count, cutoff=0.5)


def _digits(number: int, digits: int) -> str:
    return f"{number:0{digits}d}"


def _letters(number: int) -> str:
    """1 is A, 26 is Z, 27 is AA."""
    text = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("A") + letter) + text
    return text or "?"


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    number = 0
    for letter in text:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
