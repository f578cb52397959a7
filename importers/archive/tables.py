"""A campaign as CSV tables: a folder or zip of `campaign.yaml` and four tables, or one table to be added."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from importers.csv_tables import TableSet
from importers.documents import Node, Problem, Problems, read_document
from importers.map_writing import flow, yaml_text

ABOUT = "campaign.yaml"
FOR_GIS = ("begins", "ends", "lon", "lat", "wkt")
TABLES = TableSet(
    about=ABOUT,
    columns={
        "accounts.csv": ("key", "author", "title", "year", "publisher", "kind", "reliability", "url", "note", "why"),
        "forces.csv": ("key", "name", "side", "kind", "note", "counters", "under", "why"),
        "entries.csv": (
            "key", "when", "kind", "title", "text", "event", "certainty", "at", "uncertainty", "place", "forces",
            "account", "page", "why",
        ),
        "stances.csv": (
            "key", "force", "when", "state", "at", "uncertainty", "place", "strength", "account", "page", "note",
            "why",
        ),
    },
    needed={
        "accounts.csv": ("key", "title"),
        "forces.csv": ("key", "name", "side"),
        "entries.csv": ("when", "title", "account"),
        "stances.csv": ("force", "when", "account"),
    },
    values=("year", "uncertainty"),
    verbatim=("title", "text", "name", "author", "publisher", "note", "place", "state", "page", "why"),
    for_others={"entries.csv": FOR_GIS, "stances.csv": FOR_GIS},
)  # fmt: skip
BY_KEY = ("accounts.csv", "forces.csv")
NESTED = ("forces", "under", "counters", "at", "strength")
"""Cells that may hold a list or mapping, written as in YAML."""


def read_tables(path: Path, problems: Problems) -> Node:
    """The tree of a folder or zip."""
    files = TABLES.files(path, problems)
    if ABOUT not in files:
        problems.found.append(
            Problem(str(path), None, ABOUT, "the file is missing: it says what the campaign is")
        )
        raise problems.told()
    root = read_document(files[ABOUT], str(path / ABOUT), problems)
    if not isinstance(root.value, dict):
        problems.add(root, f"expected a campaign, found {root.kind}")
        raise problems.told()
    for name in TABLES.columns:
        if name in files:
            section = name.removesuffix(".csv")
            if section in root.value:
                problems.add(root.value[section], f"{section} are in {name} as well; write them in one place")
            root.value[section] = _section(files[name], name, str(path / name), problems)
    return root


def read_csv(content: bytes, file: str, problems: Problems) -> Node:
    """The tree of one table; which one it is, its columns say."""
    head = content.decode("utf-8-sig", errors="replace").partition("\n")[0].lower()
    columns = {cell.strip(' "\r') for cell in head.replace(";", ",").split(",")}
    fitting = {
        name: len(columns & {*known, *TABLES.for_others.get(name, ())})
        for name, known in TABLES.columns.items()
        if columns.issuperset(TABLES.needed[name])
    }
    if not fitting:
        wanted = "; ".join(f"{name}: {', '.join(needed)}" for name, needed in TABLES.needed.items())
        problems.found.append(
            Problem(file, 1, "", f"the first line names the columns of no table of a campaign ({wanted})")
        )
        raise problems.told()
    name = max(fitting, key=lambda one: fitting[one])
    root = Node({}, file=file)
    assert isinstance(root.value, dict)
    root.value[name.removesuffix(".csv")] = _section(content, name, file, problems)
    return root


def _section(content: bytes, name: str, file: str, problems: Problems) -> Node:
    """A table as the section of a campaign file."""
    table = Node(file=file)
    rows = list(TABLES.rows(content, name, table, problems))
    for row in rows:
        for column in NESTED:
            _unfold(row, column, problems)
    if name not in BY_KEY:
        return Node(list(rows), file=file)
    section: dict[str, Node] = {}
    for row in rows:
        cells = dict(row.value) if isinstance(row.value, dict) else {}
        key = cells.pop("key").text or ""
        node = Node(cells, file=row.file, line=row.line, parent=row.parent, key=key)
        if section.setdefault(key, node) is not node:
            problems.add(node, f"{key} is there twice, first {section[key].where}")
    return Node(section, file=file)


def _unfold(row: Node, column: str, problems: Problems) -> None:
    """A cell that holds a list or mapping as that; forces in a cell may also be divided by blanks."""
    cell = row.get(column)
    if cell is None or cell.text is None or not isinstance(row.value, dict):
        return
    if cell.text.lstrip()[:1] in ("[", "{"):
        inner = read_document(cell.text, cell.file, problems)
        _lined(inner, cell)
        row.value[column] = inner
    elif column == "forces":
        words = cell.text.replace(";", " ").replace(",", " ").split()
        listed = Node(None, file=cell.file, line=cell.line, parent=row, key=column)
        listed.value = [listed.child(str(n), word, word) for n, word in enumerate(words, 1)]
        row.value[column] = listed


def _lined(node: Node, cell: Node) -> None:
    """What stands in a cell lies on the line of the cell."""
    node.line, node.file = cell.line, cell.file
    if node.parent is None:
        node.parent, node.key = cell.parent, cell.key
    children = (
        node.value
        if isinstance(node.value, list)
        else node.value.values()
        if isinstance(node.value, dict)
        else ()
    )
    for child in children:
        _lined(child, cell)


def write_tables(tree: Mapping[str, Any], shapes: Mapping[str, list[tuple[Any, ...]]]) -> dict[str, str]:
    """The files of the CSV form by name; `shapes` has the columns for GIS, a row for each entry and stance."""
    about = {
        key: value for key, value in tree.items() if key not in ("accounts", "forces", "entries", "stances")
    }
    files = {ABOUT: yaml_text(about)}
    for name, columns in TABLES.columns.items():
        section = name.removesuffix(".csv")
        told = tree.get(section, {})
        rows = [{"key": key} | row for key, row in told.items()] if isinstance(told, dict) else told
        extra = shapes.get(section) or [()] * len(rows)
        files[name] = TABLES.written(
            name,
            (
                [*(_cell(row.get(column)) for column in columns), *more]
                for row, more in zip(rows, extra, strict=True)
            ),
        )
    return files


def _cell(value: Any) -> Any:
    return flow(value) if isinstance(value, dict | list) else value
