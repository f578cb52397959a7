"""A chronicle written as text: a heading for each day, a paragraph for each entry.

    ## 1944-07-21
    08:30 landing: The first wave comes ashore. [[3mar]] lands on [[1804]] under mortar fire. {css 79-81}

A paragraph begins with its time, if that is told, and may name its kind. Its first sentence is the
title. `[[…]]` names a force, or a hex (`[[hex:1804]]` where both are called so), or a point; braces
name the account and where in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from db.archive import ENTRY_KINDS
from importers.documents import Node, Problems

HEADING = re.compile(r"#{1,6}\s+(?P<when>[^#]+?)\s*#*")
TIME = re.compile(
    r"(?P<about>about |ca\.? |c\. |~)?(?P<time>\d{2}:\d{2}(?:/(?:\d{2}:\d{2})?)?|\d{4}-\d{2}[^\s,]*)\s+"
)
KIND = re.compile(r"(?P<kind>[a-z]+):\s+")
LINK = re.compile(r"\[\[\s*([^\[\]|]+?)\s*(?:\|[^\[\]]*)?\]\]")
SOURCE = re.compile(r"\s*\{\s*([^\s{},]+)[\s,]*([^{}]*?)\s*\}")
LABEL = re.compile(r"hex:(.+)|(\d[\d.]*|-?\d+\.\d+\s*,\s*-?\d+\.\d+)")
SENTENCE = re.compile(r"(?s)(.+?[.!?])(?:\s+(.*)|$)")
LONGEST_TITLE = 120


def read_chronicle(content: bytes, file: str, problems: Problems) -> Node:
    """The tree of a chronicle, as a campaign file would have its entries."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.add(
            Node(file=file, line=content.count(b"\n", 0, error.start) + 1),
            "not UTF-8; save the file as UTF-8",
        )
        raise problems.told() from None
    root = Node({}, file=file)
    entries = Node([], file=file, parent=root, key="entries")
    assert isinstance(root.value, dict)
    assert isinstance(entries.value, list)
    root.value["entries"] = entries
    day = ""
    for line, paragraph in _paragraphs(text):
        heading = HEADING.fullmatch(paragraph)
        if heading:
            day = heading["when"]
            continue
        node = Node(None, file=file, line=line, parent=entries, key=str(len(entries.value) + 1))
        if _read_entry(node, paragraph, day, problems):
            entries.value.append(node)
    return root


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs with the line each begins on; a heading is one of its own."""
    begun, lines = 0, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        alone = HEADING.fullmatch(line.strip()) is not None
        if lines and (alone or not line.strip()):
            yield begun, " ".join(lines)
            lines = []
        if alone:
            yield number, line.strip()
        elif line.strip():
            begun = begun if lines else number
            lines.append(line.strip())


def _read_entry(node: Node, paragraph: str, day: str, problems: Problems) -> bool:
    """Fill a node with the entry of a paragraph. False if it cannot be one."""
    rest, when = _taken_time(paragraph, day)
    kind = KIND.match(rest)
    told: dict[str, str] = {"when": when}
    if kind and kind["kind"] in ENTRY_KINDS:
        told["kind"] = kind["kind"]
        rest = rest[kind.end() :]
    source = SOURCE.search(rest)
    if source is None:
        problems.add(node, "no account is named: write its key and where in it in braces, {key page}")
    else:
        told |= {"account": source[1], "page": source[2]}
        rest = (rest[: source.start()] + rest[source.end() :]).strip()
    if not when:
        problems.add(node, "there is no day: begin with a heading such as ## 1944-07-21, or with a date")
    told |= _titled(rest)
    forces: list[str] = []
    places: list[str] = []
    for name in LINK.findall(rest):
        label = LABEL.fullmatch(name)
        place = (label[1] or label[2]) if label else None
        if place is None:
            forces += [] if name in forces else [name]
        elif place not in places:
            places.append(place)
    if places:
        told["at"] = places[0]
    node.value = {key: node.child(key, value, value) for key, value in told.items() if value}
    if forces:
        listed = node.child("forces", [])
        listed.value = [listed.child(str(n), force, force) for n, force in enumerate(forces, 1)]
        node.value["forces"] = listed
    return bool(when) and source is not None


def _taken_time(paragraph: str, day: str) -> tuple[str, str]:
    """What is left of a paragraph, and its time."""
    found = TIME.match(paragraph)
    if found is None:
        return paragraph, day
    about = "about " if found["about"] else ""
    time = found["time"]
    if time[4:5] == "-":
        return paragraph[found.end() :], about + time
    return paragraph[found.end() :], f"{about}{day}T{time}" if day else ""


def _titled(text: str) -> dict[str, str]:
    """The first sentence as the title, plain; the whole as the text, with its links."""
    sentence = SENTENCE.match(text)
    first = sentence[1] if sentence else text
    title = LINK.sub(lambda link: link[1].removeprefix("hex:"), first).rstrip(".")
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1].rsplit(" ", 1)[0] + " …"
    return {"title": title, "text": text}
