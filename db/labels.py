"""Labels: how a map numbers its hexes, as data, and the way from a label to a hex and back.

A scheme says in which order, with which digits or letters a map prints columns and
rows, which columns are shifted by half a hex and which way, and how boards are joined.
The five games' schemes stand in `db/rulesets/<code>/ruleset.yaml`; a map may bring its own.

The lattice is the picture of a map with vertical columns. A `pointed` map, whose hexes
stand in horizontal rows, is that picture turned by a quarter circle clockwise: turned and
not mirrored, so that left stays left (crests) and clockwise stays clockwise (facings).
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import zip_longest
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from db import SightlineError
from db.budget import spend

Numerals = Literal["digits", "letters", "doubled_letters"]
"""`letters`: A to Z, AA, AB, … as spreadsheets count; `doubled_letters`: A to Z, AA, BB, …"""

LARGEST_NUMBER = 9999
"""Of a column or row: labels have at most four digits, and joined boards reach no farther."""
LARGEST_RECTANGLE = 4_000_000
"""Hexes; beyond it an extent is a mistake, not a map."""


class LabelError(SightlineError):
    """A label that names no hex."""


Corner = tuple[int, int]
"""A centre or corner of hexes, in lattice units."""


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

    @property
    def row(self) -> int:
        """Its row on the sheet, of columns that stand upright; every second one lies half a row lower."""
        return (2 * self.r + self.q) // 2

    @property
    def center(self) -> Corner:
        """Its centre on the integer lattice, as `lattice.center` has it."""
        return 3 * self.q, 2 * self.r + self.q

    @property
    def corners(self) -> list[Corner]:
        """Its six corners, as `lattice.hex` has them: clockwise on a map with y down."""
        x, y = self.center
        return [(x + dx, y + dy) for dx, dy in CORNERS]


CORNERS = ((2, 0), (1, 1), (-1, 1), (-2, 0), (-1, -1), (1, -1))
"""From a centre to its corners, in lattice units."""
Offset = Annotated[int, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]
STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))
"""The neighbours in directions 1 to 6, as `lattice.neighbours` has them."""


class Board(BaseModel):
    """One of several boards joined into a map: its size, and where it comes to lie.

    Boards that share a line of hexes overlap by it: a board of nine columns and its
    neighbour to the right at `[8, 0]` have the ninth and the first column in common,
    and both labels name the same hex.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    board: str = Field(pattern=r"^[0-9A-Za-z]+$")
    columns: int = Field(gt=0, le=LARGEST_NUMBER)
    rows: int = Field(gt=0, le=LARGEST_NUMBER)
    at: tuple[Offset, Offset] = (0, 0)
    """Columns and rows, counted as the labels grow, from the place it has when alone."""
    rotated: bool = False
    """Turned by half a circle, so that its first and its last hex change places."""
    half_hexes: bool = False
    """The edge cuts the first and last hexes of unshifted columns in half: shifted ones have one less."""


class Scheme(BaseModel):
    """A numbering scheme."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    orientation: Literal["flat", "pointed"] = "flat"
    """`flat`: hexes stand in vertical columns; `pointed`: in horizontal rows."""
    columns: Numerals = "digits"
    column_digits: int = Field(2, ge=1, le=4)
    rows: Numerals = "digits"
    row_digits: int = Field(2, ge=1, le=4)
    """Least number of digits; shorter numbers are filled with zeros."""
    first_column: int = Field(1, ge=0, le=LARGEST_NUMBER)
    first_row: int = Field(1, ge=0, le=LARGEST_NUMBER)
    """The numbers at which columns and rows begin (A is 1)."""
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
    def labels_can_be_told_apart(self) -> Self:
        if self.columns != "digits" and self.rows != "digits" and not self.separator:
            raise ValueError("columns and rows in letters need a separator")
        for name, kind, first in (
            ("columns", self.columns, self.first_column),
            ("rows", self.rows, self.first_row),
        ):
            if kind != "digits" and first < 1:
                raise ValueError(f"{name} in letters begin at 1, which is A")
        names = [board.board for board in self.boards]
        if len(names) != len(set(names)):
            raise ValueError("two boards have the same name")
        return self

    def hex(self, label: str) -> Axial:
        """The hex that a label names, or an error that shows how labels look here."""
        board, text = self._split_board(label.strip())
        column, row = self._numbers(text, board)
        if board is not None and not self._on_board(column, row, board):
            last = self._text(self.first_column + board.columns - 1, self.first_row + board.rows - 1)
            raise LabelError(
                f"{label}: board {board.board} has {board.columns} columns and {board.rows} rows.",
                f"It reaches from {board.board}-{self._text(self.first_column, self.first_row)}"
                f" to {board.board}-{last}.",
            )
        return self._axial(column, row, board)

    def label(self, place: tuple[int, int]) -> str:
        """The label of a hex; of joined boards, the first that has it."""
        board, column, row = self._printed(place)
        text = self._text(column, row)
        return text if board is None else f"{board.board}-{text}"

    def printed(self, column: int, row: int) -> str:
        """The label of a column and row, counted from the first that is printed."""
        return self._text(self.first_column + column - 1, self.first_row + row - 1)

    def side(self, label: str) -> tuple[int, int]:
        """The doubled cell of a hexside: two adjacent labels joined by `|`, or a label and a direction.

        The second form (`A1|6`) is for the rim of a map, where the hex beyond may have no label.
        """
        names = [name.strip() for name in label.split("|")]
        if len(names) != 2:
            raise LabelError(
                f"{label}: a hexside is two adjacent hexes joined by |.", f"Such as {self._sample_side()}."
            )
        first = self.hex(names[0])
        second = first.beside(int(names[1])) if re.fullmatch("[1-6]", names[1]) else self.hex(names[1])
        if first.distance(second) != 1:
            raise LabelError(
                f"{label}: the two hexes are not adjacent.", self._neighbours_of(names[0], first)
            )
        return first.q + second.q, first.r + second.r

    def side_label(self, x: int, y: int) -> str:
        """A hexside as its two labels, the lower first; a label and a direction where one has none."""
        labelled = sorted(
            (place for place in side_hexes(x, y) if self._has_label(place)), key=self._label_order
        )
        if len(labelled) == 2:
            return "|".join(self.label(place) for place in labelled)
        if not labelled:
            raise LabelError(f"No hex beside the hexside at ({x}, {y}) has a label.")
        [place] = labelled
        beyond = Axial(x - place.q, y - place.r)
        direction = STEPS.index((beyond.q - place.q, beyond.r - place.r)) + 1
        return f"{self.label(place)}|{direction}"

    def lattice_point(self, x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        """A point of drawn artwork on the lattice.

        Drawn in column and row pitches, x to the right and y down the map; the first
        column's first hex, where it is not shifted, has its centre at (1, 1).
        """
        right, down = x - 1 + self.first_column, y - 1 + self._down(self.first_row)
        if self.orientation == "pointed":
            return 3 * (down + self._parity), -2 * right
        return 3 * (right + self._parity), 2 * down

    def drawn_point(self, x: Fraction, y: Fraction) -> tuple[Fraction, Fraction]:
        """The way back, from the lattice to the units of drawn artwork."""
        if self.orientation == "pointed":
            right, down = -y / 2, x / 3 - self._parity
        else:
            right, down = x / 3 - self._parity, y / 2
        return right + 1 - self.first_column, down + 1 - self._down(self.first_row)

    def display_point(self, place: Axial) -> tuple[float, float]:
        """The centre of a hex in the display plane, as `gis.place` has it."""
        return self.display(*place.center)

    def display(self, x: float, y: float) -> tuple[float, float]:
        """A point of the lattice in the display plane."""
        root = 0.75**0.5
        return (-root * y, -0.5 * x) if self.orientation == "pointed" else (0.5 * x, -root * y)

    def rectangle(self, first: str, last: str) -> list[Axial]:
        """Every hex between two corner labels, by column and row, inclusive; of boards, those they have."""
        return list(self.within(first, last))

    def within(self, first: str, last: str) -> Iterator[Axial]:
        """The same, one by one; what is wrong with the labels is told at once."""
        corners = [self._column_row(self.hex(label), None) for label in (first, last)]
        (left, right), (top, bottom) = (sorted(numbers) for numbers in zip(*corners, strict=True))
        size = (right - left + 1) * (bottom - top + 1)
        if size > LARGEST_RECTANGLE:
            raise LabelError(
                f"From {first} to {last} are {size:,} hexes; a map has at most {LARGEST_RECTANGLE:,}.",
                "Check the two corner labels.",
            )
        spend("hexes of a map", size)
        places = (
            self._axial(column, row, None)
            for column in range(left, right + 1)
            for row in range(top, bottom + 1)
        )
        return (place for place in places if not self.boards or self._has_label(place))

    def nearest(self, label: str, known: Iterable[str], count: int = 3) -> list[str]:
        """The known labels that a wrong one may stand for: the most alike, of those the nearest."""
        meant = self._meant(label.strip()) or label.strip()
        try:
            place = self.hex(meant)
        except LabelError:
            return nearest(meant, known, count)

        def likeness(other: str) -> tuple[int, int]:
            return sum(a != b for a, b in zip_longest(meant, other)), place.distance(self.hex(other))

        return sorted(known, key=likeness)[:count]

    @property
    def _parity(self) -> int:
        """What is added to a line's number so that shifted lines have an odd q."""
        return 0 if self.shifted == "odd" else 1

    def _down(self, row: int) -> int:
        return row if self.row_direction == "down" else -row

    def _shift(self, q: int) -> int:
        return 0 if q % 2 == 0 else (1 if self.shift == "down" else -1)

    def _axial(self, column: int, row: int, board: Board | None) -> Axial:
        if board is not None:
            return self._placed(column, row, board)
        if self.orientation == "pointed":
            q = self._down(row) + self._parity
            y = -2 * column - self._shift(q)
        else:
            q = column + self._parity
            y = 2 * self._down(row) + self._shift(q)
        return Axial(q, (y - q) // 2)

    def _column_row(self, place: tuple[int, int], board: Board | None) -> tuple[int, int]:
        if board is not None:
            place = self._unplaced(place, board)
        q, r = place
        y = 2 * r + q
        if self.orientation == "pointed":
            return (-y - self._shift(q)) // 2, self._down(q - self._parity)
        return q - self._parity, self._down((y - self._shift(q)) // 2)

    def _placed(self, column: int, row: int, board: Board) -> Axial:
        alone = self._axial(column, row, None)
        if board.rotated:
            alone = self._turned(alone, board)
        return self._moved(alone, board, 1)

    def _unplaced(self, place: tuple[int, int], board: Board) -> Axial:
        alone = self._moved(Axial(*place), board, -1)
        return self._turned(alone, board) if board.rotated else alone

    def _turned(self, place: Axial, board: Board) -> Axial:
        first = self._axial(self.first_column, self.first_row, None)
        last = self._axial(self.first_column + board.columns - 1, self.first_row + board.rows - 1, None)
        return Axial(first.q + last.q - place.q, first.r + last.r - place.r)

    def _moved(self, place: Axial, board: Board, sign: int) -> Axial:
        """Shift by the board's offset, so that its first hex comes to lie on a hex."""
        columns, rows = board.at
        origin = self._axial(self.first_column, self.first_row, None)
        target = self._axial(self.first_column + columns, self.first_row + rows, None)
        return Axial(place.q + sign * (target.q - origin.q), place.r + sign * (target.r - origin.r))

    def _on_board(self, column: int, row: int, board: Board) -> bool:
        columns, rows = board.columns, board.rows
        line = row if self.orientation == "pointed" else column
        if board.half_hexes and line % 2 == (1 if self.shifted == "odd" else 0):
            columns, rows = (columns - 1, rows) if self.orientation == "pointed" else (columns, rows - 1)
        return 0 <= column - self.first_column < columns and 0 <= row - self.first_row < rows

    def _printed(self, place: tuple[int, int]) -> tuple[Board | None, int, int]:
        """Board, column and row of a hex."""
        if not self.boards:
            return None, *self._column_row(place, None)
        for board in self.boards:
            column, row = self._column_row(place, board)
            if self._on_board(column, row, board):
                return board, column, row
        raise LabelError(f"No board has a hex at {tuple(place)}.", f"Boards: {self._board_names()}.")

    def _has_label(self, place: tuple[int, int]) -> bool:
        try:
            self.label(place)
        except LabelError:
            return False
        return True

    def _label_order(self, place: tuple[int, int]) -> tuple[int, int, int]:
        board, column, row = self._printed(place)
        rank = 0 if board is None else self.boards.index(board)
        return (rank, column, row) if self.order == "column_row" else (rank, row, column)

    def _board_names(self) -> str:
        return ", ".join(board.board for board in self.boards)

    def _split_board(self, label: str) -> tuple[Board | None, str]:
        if not self.boards:
            return None, label
        name, dash, text = label.partition("-")
        for board in self.boards:
            if dash and board.board == name:
                return board, text
        sample = f"{self.boards[0].board}-{self._sample()}"
        raise LabelError(
            f"{label!r} does not begin with a board of this map.",
            f"Boards: {self._board_names()}; labels look like {sample}.",
        )

    def _numbers(self, text: str, board: Board | None) -> tuple[int, int]:
        found = self._read(text)
        if found is None:
            prefix = "" if board is None else f"{board.board}-"
            meant = self._meant(text)
            raise LabelError(
                f"{prefix + text!r} is not a label of this map.",
                f"Did you mean {prefix}{meant}?" if meant else f"Labels look like {prefix}{self._sample()}.",
            )
        return found

    def _read(self, text: str) -> tuple[int, int] | None:
        """Column and row of a label as it is printed, zeros and all; else none."""
        match = self._pattern.fullmatch(text)
        if match is None:
            return None
        column, row = _number(match["column"], self.columns), _number(match["row"], self.rows)
        return (column, row) if self._spelled(column, row) == text else None

    @functools.cached_property
    def _pattern(self) -> re.Pattern[str]:
        fixed = self.columns == self.rows == "digits" and not self.separator

        def part(name: str, kind: Numerals, digits: int) -> str:
            if kind != "digits":
                return f"(?P<{name}>[A-Z]{{1,2}})"
            return f"(?P<{name}>[0-9]{{{digits},{digits if fixed else 4}}})"

        parts = [
            part("column", self.columns, self.column_digits),
            part("row", self.rows, self.row_digits),
        ]
        if self.order == "row_column":
            parts.reverse()
        return re.compile(re.escape(self.separator).join(parts))

    def _meant(self, text: str) -> str | None:
        """The label that a carelessly written one stands for: `e4`, `E04`, `5.7`, `0507`."""
        kinds = [(self.columns, self.column_digits), (self.rows, self.row_digits)]
        if self.order == "row_column":
            kinds.reverse()
        first, second = ("[A-Z]{1,2}" if kind != "digits" else "[0-9]{1,9}" for kind, _ in kinds)
        match = re.fullmatch(f"({first})[^A-Z0-9]*({second})", text.upper())
        if self.columns == self.rows == "digits" and text.isdigit():
            widths = kinds[0][1], kinds[1][1]
            match = re.fullmatch(f"([0-9]{{{widths[0]}}})([0-9]{{{widths[1]}}})", text)
        if match is None:
            return None
        numbers = [_number(part, kind) for part, (kind, _) in zip(match.groups(), kinds, strict=True)]
        if self.order == "row_column":
            numbers.reverse()
        spelled = self._spelled(numbers[0], numbers[1])
        return spelled if spelled != text and self._pattern.fullmatch(spelled) else None

    def _text(self, column: int, row: int) -> str:
        """The label of a column and row, if they can be printed so that they can be read again."""
        text = self._spelled(column, row)
        if self._pattern.fullmatch(text) is None:
            raise LabelError(
                f"Column {column}, row {row} has no label here.", f"Labels look like {self._sample()}."
            )
        return text

    def _spelled(self, column: int, row: int) -> str:
        parts = [
            _numeral(column, self.columns, self.column_digits),
            _numeral(row, self.rows, self.row_digits),
        ]
        if self.order == "row_column":
            parts.reverse()
        return self.separator.join(parts)

    def _sample(self) -> str:
        return self._spelled(5, 7)

    def _sample_side(self) -> str:
        place = self._axial(5, 7, None)
        prefix = f"{self.boards[0].board}-" if self.boards else ""
        below = self._column_row(place.beside(4), None)
        return f"{prefix}{self._sample()}|{prefix}{self._spelled(*below)}"

    def _neighbours_of(self, name: str, place: Axial) -> str:
        around = (place.beside(direction) for direction in range(1, 7))
        beside = [self.label(neighbour) for neighbour in around if self._has_label(neighbour)]
        return f"Adjacent to {name} are {', '.join(beside)}."


def side_hexes(x: int, y: int) -> tuple[Axial, Axial]:
    """The two hexes of the hexside (x, y), as `lattice.side_hexes` has them."""
    dx = x % 2
    dy = y % 2 if dx == 0 else -(y % 2)
    return Axial((x - dx) // 2, (y - dy) // 2), Axial((x + dx) // 2, (y + dy) // 2)


def side_corners(x: int, y: int) -> tuple[Corner, Corner]:
    """The two ends of the hexside (x, y), as `lattice.hexside` has them, in order."""
    one, other = side_hexes(x, y)
    first, second = sorted(set(one.corners) & set(other.corners))
    return first, second


def nearest(word: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known words most like this one, for an error message."""
    spellings = {other.casefold(): other for other in known}
    alike = difflib.get_close_matches(word.casefold(), spellings, n=count, cutoff=0.5)
    return [spellings[spelling] for spelling in alike]


def _numeral(number: int, kind: Numerals, digits: int) -> str:
    """1 is A, 26 is Z, 27 is AA; then AB, or BB where letters are doubled. None is `?`."""
    if kind == "digits":
        return f"{number:0{digits}d}"
    if kind == "doubled_letters":
        return chr(ord("A") + (number - 1) % 26) * ((number + 25) // 26) if number > 0 else "?"
    text = ""
    while number > 0:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("A") + letter) + text
    return text or "?"


def _number(text: str, kind: Numerals) -> int:
    if kind == "digits":
        return int(text)
    if kind == "doubled_letters":
        return 26 * (len(text) - 1) + ord(text[0]) - ord("A") + 1
    number = 0
    for letter in text:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


HEX, UNIT = "hex:", "unit:"
"""What stands before a name to say which it is, where a word is both."""


def unprefixed(name: str) -> tuple[str | None, str]:
    """A name of a question without its prefix, and the prefix, if it has one."""
    for prefix in (HEX, UNIT):
        if name.startswith(prefix):
            return prefix, name.removeprefix(prefix)
    return None, name
