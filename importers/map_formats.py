"""The written forms of a map: YAML or JSON, a set of CSV tables; the GIS forms are in `map_gis`.

Reading brings each form to the one tree of `map_reading`, with the lines of the file it
came from; writing starts from the tree of `map_writing`.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from db.map_draft import MapDraft
from db.rulesets import CODES
from importers.documents import MAX_BYTES, Node, Problem, Problems, read_document, resolved
from importers.map_reading import read_map
from importers.map_writing import about, artwork, features, side_kinds, yaml_text

ABOUT = "map.yaml"
MOST_BYTES = 2 * MAX_BYTES
"""Of all tables of a map together, unpacked."""
TOO_LARGE = f"the tables together have more than {MOST_BYTES // 1024 // 1024} MiB"
TABLES = {
    "hexes.csv": ("label", "terrain", "level", "features", "name"),
    "hexsides.csv": ("hexside", "kind"),
    "paths.csv": ("kind", "name", "hexes"),
}
NEEDED = {"hexes.csv": ("label",), "hexsides.csv": ("hexside", "kind"), "paths.csv": ("kind", "hexes")}
LABELS = re.compile(r"[\s,;]+")
"""What stands between the labels, or features, of one cell."""


def read_written(path: Path, problems: Problems) -> MapDraft | None:
    """A map file in YAML or JSON: the `map:` of a case with its ruleset, alone or under `map`."""
    return read_root(read_document(path.read_bytes(), str(path), problems), problems)


def read_root(root: Node, problems: Problems) -> MapDraft | None:
    """The map of a document's root."""
    inner = root.get("map")
    if inner is not None:
        root.mapping(problems, ("ruleset", "map"))
    ruleset = read_ruleset(root, problems)
    tree = root if inner is None else inner
    if isinstance(tree.value, dict):
        tree.value = {key: node for key, node in tree.value.items() if key != "ruleset" or inner is not None}
    return None if ruleset is None else read_map(tree, ruleset, problems)


def read_ruleset(root: Node, problems: Problems) -> str | None:
    """The game that a document says its map is for."""
    node = root.get("ruleset")
    if node is not None:
        return node.word(problems, "ruleset", CODES)
    if isinstance(root.value, dict):
        problems.add(root, f"ruleset is missing: which of {', '.join(CODES)} is the map for?")
    else:
        problems.add(root, f"expected a map, found {root.kind}")
    return None


def read_tables(path: Path, problems: Problems) -> MapDraft | None:
    """A folder, or a zip, of `map.yaml` and the CSV tables."""
    files = _files(path, problems)
    if ABOUT not in files:
        problems.found.append(Problem(str(path), None, ABOUT, "the file is missing: it says what the map is"))
        return None
    root = read_document(files[ABOUT], str(path / ABOUT), problems)
    if not isinstance(root.value, dict):
        problems.add(root, f"expected a map, found {root.kind}")
        return None
    readers: dict[str, Callable[[list[Node], Problems], Node]] = {
        "hexes.csv": hexes_node,
        "hexsides.csv": hexsides_node,
        "paths.csv": paths_node,
    }
    for name, reader in readers.items():
        if name not in files:
            continue
        key = name.removesuffix(".csv")
        if key in root.value:
            problems.add(root.value[key], f"{key} are in {name} as well; write them in one place")
        table = Node(file=str(path / name))
        node = reader(list(_rows(files[name], name, table, problems)), problems)
        node.file = table.file
        root.value[key] = node
    return read_root(root, problems)


def write_tables(draft: MapDraft) -> dict[str, str]:
    """The files of the CSV form, by name."""
    label = draft.scheme.label
    extras = about(draft) | features(draft) | artwork(draft)
    return {
        ABOUT: yaml_text(extras),
        "hexes.csv": _table(
            "hexes.csv",
            (
                (label(place), hex.terrain, hex.level, " ".join(hex.features), hex.name or "")
                for place, hex in sorted(draft.hexes.items())
            ),
        ),
        "hexsides.csv": _table(
            "hexsides.csv",
            (
                (draft.scheme.side_label(x, y), kind)
                for (x, y), kinds in side_kinds(draft).items()
                for kind in kinds
            ),
        ),
        "paths.csv": _table(
            "paths.csv",
            ((path.kind, path.name or "", " ".join(map(label, path.hexes))) for path in draft.paths),
        ),
    }


def hexes_node(rows: Iterable[Node], problems: Problems) -> Node:
    """Rows with a label, as the section `hexes`."""
    hexes: dict[str, Node] = {}
    for row in rows:
        keys = dict(row.value) if isinstance(row.value, dict) else {}
        label = keys.pop("label").text or ""
        if "features" in keys:
            keys["features"] = split(keys["features"])
        node = Node(keys, file=row.file, line=row.line, parent=row.parent, key=row.key)
        first = hexes.setdefault(label, node)
        if first is not node:
            problems.add(node, f"{label} is named twice, first {first.where}")
    return Node(hexes)


def hexsides_node(rows: Iterable[Node], problems: Problems) -> Node:
    """Rows with a hexside and one kind each, as the section `hexsides`."""
    sides: dict[str, Node] = {}
    for row in rows:
        side, kind = row.get("hexside"), row.get("kind")
        if side is None or kind is None:
            continue
        text = side.text or ""
        node = sides.setdefault(text, Node([], file=row.file, line=row.line, parent=row.parent, key=row.key))
        assert isinstance(node.value, list)
        if kind.text in [other.text for other in node.value]:
            problems.add(row, f"{text} has its {kind.text} twice, first {node.where}")
        node.value.append(kind)
    return Node(sides)


def paths_node(rows: list[Node], problems: Problems) -> Node:
    """Rows with the hexes of a path, as the section `paths`."""
    for row in rows:
        if isinstance(row.value, dict) and "hexes" in row.value:
            row.value["hexes"] = split(row.value["hexes"])
    return Node(rows)


def split(node: Node) -> Node:
    """A list; one that stands in a single cell is taken apart."""
    if node.text is None:
        return node
    words = [word for word in LABELS.split(node.text) if word]
    whole = Node(file=node.file, line=node.line, parent=node.parent, key=node.key)
    whole.value = [whole.child(str(n), word, word) for n, word in enumerate(words, 1)]
    return whole


def _files(path: Path, problems: Problems) -> dict[str, bytes]:
    """What a folder or zip holds of a map; another CSV file in it is most likely misnamed."""
    found = _in_folder(path, problems) if path.is_dir() else _unzipped(path, problems)
    for name in sorted(found.keys() - TABLES.keys() - {ABOUT}):
        problems.unknown(Node(file=str(path)), "table", name, tuple(TABLES))
    return found


def _in_folder(path: Path, problems: Problems) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    for entry in sorted(entry for entry in path.iterdir() if _counts(entry.name)):
        if entry.is_symlink():
            problems.found.append(
                Problem(str(path), None, entry.name, "a link is not followed; copy the file here")
            )
        elif entry.is_file():
            with entry.open("rb") as stream:
                found[entry.name] = stream.read(left + 1)
            left -= len(found[entry.name])
            if left < 0:
                problems.found.append(Problem(str(path), None, entry.name, TOO_LARGE))
                break
    return found


def _counts(name: str) -> bool:
    return name == ABOUT or name.endswith(".csv")


def _unzipped(path: Path, problems: Problems) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                # a folder that was zipped as a whole has its name before every file
                name = entry.filename.rsplit("/", 1)[-1]
                if entry.is_dir() or "__MACOSX" in entry.filename or not _counts(name):
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


def _rows(content: bytes, name: str, table: Node, problems: Problems) -> Iterator[Node]:
    """The rows of a CSV table as mappings by column; empty cells are left out."""
    text = _text(content, table, problems)
    head = text.partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=";" if ";" in head and "," not in head else ","
    )
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
            columns = _columns(cells, name, Node(file=table.file, line=line), problems)
            if not columns:
                return
            continue
        row = _row(columns, cells, Node(file=table.file, line=line, key=cells[0]), problems)
        lacking = [column for column in NEEDED[name] if row.get(column) is None]
        for column in lacking:
            problems.add(row, f"{column} is missing")
        if not lacking:
            yield row


def _columns(cells: list[str], name: str, head: Node, problems: Problems) -> list[str]:
    columns = [cell.strip().lower() for cell in cells]
    before = len(problems.found)
    for column in columns:
        if column not in TABLES[name]:
            problems.unknown(head, "column", column, TABLES[name])
        elif columns.count(column) > 1:
            problems.add(head, f"the column {column} is there twice")
    for column in NEEDED[name]:
        if column not in columns:
            problems.add(head, f"the column {column} is missing")
    return columns if len(problems.found) == before else []


def _row(columns: list[str], cells: list[str], row: Node, problems: Problems) -> Node:
    if len(cells) > len(columns):
        problems.add(row, f"{len(cells)} cells in a table of {len(columns)} columns")
    row.value = {}
    for column, cell in zip(columns, cells, strict=False):
        text = cell if column == "name" else cell.strip()
        if text:
            row.value[column] = row.child(column, resolved(text) if column == "level" else text, text)
    return row


def _text(content: bytes, table: Node, problems: Problems) -> str:
    if len(content) > MAX_BYTES:
        problems.add(table, "the file is too large")
        problems.raise_if_any()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problems.add(
            Node(file=table.file, line=line),
            f"not UTF-8: byte 0x{content[error.start]:02x}; save the file as UTF-8",
        )
        return ""
    if "\0" in text:
        problems.add(table, "the file has NUL characters; save it as UTF-8")
        return ""
    return text


def _table(name: str, rows: Iterable[Iterable[object]]) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(TABLES[name])
    writer.writerows(rows)
    return stream.getvalue()
