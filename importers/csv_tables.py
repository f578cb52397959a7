"""Sets of CSV tables, as a folder or a zip, beside a YAML file that says what they are of."""

from __future__ import annotations

import codecs
import csv
import dataclasses
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from importers.documents import MAX_BYTES, Node, Problem, Problems, resolved

MOST_BYTES = 2 * MAX_BYTES
"""Of all tables of a set together, unpacked."""
PIECE = 1 << 20
"""Bytes of a table that are looked at together."""
TOO_LARGE = f"the tables together have more than {MOST_BYTES // 1024 // 1024} MiB"


@dataclasses.dataclass(frozen=True)
class TableSet:
    """Which tables there are, and which columns each has and must have."""

    about: str
    """The YAML file beside them."""
    columns: Mapping[str, tuple[str, ...]]
    needed: Mapping[str, tuple[str, ...]]
    values: tuple[str, ...] = ()
    """Columns whose cells are numbers or the like; all others are text."""
    verbatim: tuple[str, ...] = ()
    """Columns whose blanks are kept."""
    for_others: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """Columns that are written for other programs, and passed over."""

    def files(self, path: Path, problems: Problems) -> dict[str, bytes]:
        """What a folder or zip holds of the set; another CSV file in it is most likely misnamed."""
        found = self._in_folder(path, problems) if path.is_dir() else self._unzipped(path, problems)
        for name in sorted(found.keys() - self.columns.keys() - {self.about}):
            problems.unknown(Node(file=str(path)), "table", name, tuple(self.columns))
        return found

    def _in_folder(self, path: Path, problems: Problems) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        left = MOST_BYTES
        for entry in sorted(entry for entry in path.iterdir() if self._counts(entry.name)):
            if entry.is_symlink():
                refused = "a link is not followed; copy the file here"
                problems.found.append(Problem(str(path), None, entry.name, refused))
            elif entry.is_file():
                with entry.open("rb") as stream:
                    found[entry.name] = stream.read(left + 1)
                left -= len(found[entry.name])
                if left < 0:
                    problems.found.append(Problem(str(path), None, entry.name, TOO_LARGE))
                    break
        return found

    def _counts(self, name: str) -> bool:
        return name == self.about or name.endswith(".csv")

    def _unzipped(self, path: Path, problems: Problems) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        left = MOST_BYTES
        try:
            with zipfile.ZipFile(path) as archive:
                for entry in archive.infolist():
                    # a folder that was zipped as a whole has its name before every file
                    name = entry.filename.rsplit("/", 1)[-1]
                    if entry.is_dir() or "__MACOSX" in entry.filename or not self._counts(name):
                        continue
                    if name in found:
                        problems.found.append(Problem(str(path), None, name, "the archive holds it twice"))
                        continue
                    # what an archive says of its sizes may be untrue
                    with archive.open(entry) as stream:
                        found[name] = stream.read(left + 1)
                    left -= len(found[name])
                    if left < 0:
                        problems.found.append(Problem(str(path), None, name, TOO_LARGE))
                        break
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, zlib.error):
            # also an archive that asks for a password
            problems.found.append(Problem(str(path), None, "", "not a zip archive that can be read"))
            problems.raise_if_any()
        return found

    def rows(self, content: bytes, name: str, table: Node, problems: Problems) -> Iterator[Node]:
        """The rows of a CSV table as mappings by column; empty cells are left out."""
        if not self._is_text(content, table, problems):
            return
        head = content.partition(b"\n")[0]
        # unpacked to characters line by line, and not as a whole
        text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
        reader = csv.reader(text, delimiter=";" if b";" in head and b"," not in head else ",")
        columns: list[str] = []
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as error:
                problems.add(Node(file=table.file, line=line), f"not CSV: {error}")
                return
            if cells is None:
                return
            if not any(cells):
                continue
            if not columns:
                columns = self._columns(cells, name, Node(file=table.file, line=line), problems)
                if not columns:
                    return
                continue
            row = self._row(name, columns, cells, Node(file=table.file, line=line, key=cells[0]), problems)
            lacking = [column for column in self.needed[name] if row.get(column) is None]
            for column in lacking:
                problems.add(row, f"{column} is missing")
            if not lacking:
                yield row

    def _columns(self, cells: list[str], name: str, head: Node, problems: Problems) -> list[str]:
        """The columns of a table; none where its rows cannot be read, for want of one or because of two."""
        columns = [cell.strip().lower() for cell in cells]
        for column in columns:
            if column not in self._all_columns(name):
                problems.unknown(head, "column", column, self.columns[name])
        twice = [column for column in self._all_columns(name) if columns.count(column) > 1]
        missing = [column for column in self.needed[name] if column not in columns]
        for column in twice:
            problems.add(head, f"the column {column} is there twice")
        for column in missing:
            problems.add(head, f"the column {column} is missing")
        return [] if twice or missing else columns

    def _row(self, name: str, columns: list[str], cells: list[str], row: Node, problems: Problems) -> Node:
        if len(cells) > len(columns):
            problems.add(row, f"{len(cells)} cells in a table of {len(columns)} columns")
        row.value = {}
        for column, cell in zip(columns, cells, strict=False):
            text = cell if column in self.verbatim else cell.strip()
            if text and column in self.columns[name]:
                row.value[column] = row.child(column, resolved(text) if column in self.values else text, text)
        return row

    def _is_text(self, content: bytes, table: Node, problems: Problems) -> bool:
        """Whether a table can be read as text at all."""
        if len(content) > MAX_BYTES:
            problems.add(table, "the file is too large")
            problems.raise_if_any()
        decoder = codecs.getincrementaldecoder("utf-8")()
        for start in range(0, len(content), PIECE):
            piece = content[start : start + PIECE]
            # bytes of a character that the piece before has begun
            before = len(decoder.getstate()[0])
            try:
                decoder.decode(piece, final=start + PIECE >= len(content))
            except UnicodeDecodeError as error:
                at = start - before + error.start
                line = content.count(b"\n", 0, at) + 1
                problems.add(
                    Node(file=table.file, line=line),
                    f"not UTF-8: byte 0x{content[at]:02x}; save the file as UTF-8",
                )
                return False
        if b"\0" in content:
            problems.add(table, "the file has NUL characters; save it as UTF-8")
            return False
        return True

    def _all_columns(self, name: str) -> tuple[str, ...]:
        return (*self.columns[name], *self.for_others.get(name, ()))

    def written(self, name: str, rows: Iterable[Iterable[object]]) -> str:
        """A table as a file has it."""
        stream = io.StringIO(newline="")
        writer = csv.writer(stream)
        writer.writerow(self._all_columns(name))
        writer.writerows(rows)
        return stream.getvalue()
