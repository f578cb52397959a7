"""The written forms of a map: YAML or JSON, a set of CSV tables; the GIS forms are in `map_gis`.

Reading brings each form to the one tree of `map_reading`, with the lines of the file it
came from; writing starts from the tree of `map_writing`.
"""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from db.map_draft import MapDraft
from db.rulesets import CODES
from importers.csv_tables import TableSet
from importers.documents import Node, Problem, Problems, Rows, read_document
from importers.map_reading import KEYS, read_map
from importers.map_writing import about, artwork, features, side_kinds, yaml_text

ABOUT = "map.yaml"
TABLES = TableSet(
    about=ABOUT,
    columns={
        "hexes.csv": ("label", "terrain", "level", "features", "name"),
        "hexsides.csv": ("hexside", "kind"),
        "paths.csv": ("kind", "name", "hexes"),
    },
    needed={"hexes.csv": ("label",), "hexsides.csv": ("hexside", "kind"), "paths.csv": ("kind", "hexes")},
    values=("level",),
    verbatim=("name",),
)
OF_POSITIONS = ("units", "markers", "ask", "case")
"""Keys that a map never has, beside a map."""
Progress = Callable[[int, int], None]
"""Is told how many of how many rows are done."""
TOLD = 5000
LABELS = re.compile(r"[\s,;]+")
"""What stands between the labels, or features, of one cell."""


def read_written(path: Path, problems: Problems) -> MapDraft | None:
    """A map file in YAML or JSON: the `map:` of a case with its ruleset, alone or under `map`."""
    return read_root(read_document(path.read_bytes(), str(path), problems), problems)


def read_root(root: Node, problems: Problems) -> MapDraft | None:
    """The map of a document's root."""
    inner = root.get("map")
    stands = next((key for key in OF_POSITIONS if root.get(key) is not None), None)
    if inner is not None and stands is not None:
        problems.add(root, f"this is a position or a case, since it has {stands}: bring it in as a position")
        return None
    if inner is not None:
        root.mapping(problems, ("ruleset", "map"))
    ruleset = read_ruleset(root, problems)
    tree = root if inner is None else inner
    if isinstance(tree.value, dict):
        tree.value = {key: node for key, node in tree.value.items() if key != "ruleset" or inner is not None}
    if ruleset is None:
        if isinstance(tree.value, dict):
            # its words are another game's each; what a map can say is the same in all
            tree.mapping(problems, (*KEYS, "ruleset"))
        return None
    return read_map(tree, ruleset, problems)


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


def read_tables(path: Path, problems: Problems, progress: Progress | None = None) -> MapDraft | None:
    """A folder, or a zip, of `map.yaml` and the CSV tables, read row by row."""
    files = TABLES.files(path, problems)
    if ABOUT not in files:
        problems.found.append(Problem(str(path), None, ABOUT, "the file is missing: it says what the map is"))
        return None
    root = read_document(files[ABOUT], str(path / ABOUT), problems)
    if not isinstance(root.value, dict):
        problems.add(root, f"expected a map, found {root.kind}")
        return None
    readers: dict[str, Callable[[Iterable[Node]], Node]] = {
        "hexes.csv": hexes_node,
        "hexsides.csv": hexsides_node,
        "paths.csv": paths_node,
    }
    tables: dict[str, Node] = {}
    counted = _counting(progress, sum(content.count(b"\n") for content in files.values()))
    for name, reader in readers.items():
        if name not in files:
            continue
        key = name.removesuffix(".csv")
        if key in root.value:
            problems.add(root.value[key], f"{key} are in {name} as well; write them in one place")
        table = Node(file=str(path / name))
        node = reader(counted(TABLES.rows(files[name], name, table, problems)))
        node.file = table.file
        root.value[key] = tables[key] = node
    draft = read_root(root, problems)
    # what nobody has looked at may be wrong as well
    for node in tables.values():
        collections.deque(node.entries if isinstance(node, Rows) else (), maxlen=0)
    return draft if not problems else None


def _counting(progress: Progress | None, total: int) -> Callable[[Iterable[Node]], Iterator[Node]]:
    """Rows as they come, and word of every so many of them."""
    done = itertools.count(1)

    def counted(rows: Iterable[Node]) -> Iterator[Node]:
        for row in rows:
            n = next(done)
            if progress is not None and n % TOLD == 0:
                progress(min(n, total), total)
            yield row

    return counted


def write_tables(draft: MapDraft) -> dict[str, str]:
    """The files of the CSV form, by name."""
    label = draft.scheme.label
    extras = about(draft) | features(draft) | artwork(draft)
    return {
        ABOUT: yaml_text(extras),
        "hexes.csv": TABLES.written(
            "hexes.csv",
            (
                (label(place), hex.terrain, hex.level, " ".join(hex.features), hex.name or "")
                for place, hex in sorted(draft.hexes.items())
            ),
        ),
        "hexsides.csv": TABLES.written(
            "hexsides.csv",
            (
                (draft.scheme.side_label(x, y), kind)
                for (x, y), kinds in side_kinds(draft).items()
                for kind in kinds
            ),
        ),
        "paths.csv": TABLES.written(
            "paths.csv",
            ((path.kind, path.name or "", " ".join(map(label, path.hexes))) for path in draft.paths),
        ),
    }


def hexes_node(rows: Iterable[Node]) -> Node:
    """Rows with a label, as the section `hexes`."""

    def entries() -> Iterator[tuple[str, Node]]:
        for row in rows:
            keys = dict(row.value) if isinstance(row.value, dict) else {}
            label = keys.pop("label").text or ""
            if "features" in keys:
                keys["features"] = split(keys["features"])
            yield label, Node(keys, file=row.file, line=row.line, parent=row.parent, key=row.key)

    return Rows(entries())


def hexsides_node(rows: Iterable[Node]) -> Node:
    """Rows with a hexside and one kind each, as the section `hexsides`."""

    def entries() -> Iterator[tuple[str, Node]]:
        for row in rows:
            side, kind = row.get("hexside"), row.get("kind")
            if side is not None and kind is not None:
                yield (
                    side.text or "",
                    Node([kind], file=row.file, line=row.line, parent=row.parent, key=row.key),
                )

    return Rows(entries())


def paths_node(rows: Iterable[Node]) -> Node:
    """Rows with the hexes of a path, as the section `paths`."""

    def entries() -> Iterator[tuple[str, Node]]:
        for row in rows:
            if isinstance(row.value, dict) and "hexes" in row.value:
                row.value["hexes"] = split(row.value["hexes"])
            yield "", row

    return Rows(entries())


def split(node: Node) -> Node:
    """A list; one that stands in a single cell is taken apart."""
    if node.text is None:
        return node
    words = [word for word in LABELS.split(node.text) if word]
    whole = Node(file=node.file, line=node.line, parent=node.parent, key=node.key)
    whole.value = [whole.child(str(n), word, word) for n, word in enumerate(words, 1)]
    return whole
