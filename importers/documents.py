"""Documents: YAML (a safe subset) or JSON as a tree that remembers its lines, and what is wrong with it.

Every file a person writes enters here: maps, cases, counters. A reader asks the tree for
what it expects; whatever is not so becomes a `Problem` with file, line and place, and
reading goes on, so that one look at the report shows all that must be mended.

The safe subset: one document, no anchors, aliases or tags, keys that are plain words.
Numbers are exact: whole, or decimal fractions read from their digits. A scalar keeps its
text as well, so that the label 22.80 stays one even where nobody quoted it.
"""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any, NoReturn, TypeAlias

import yaml

from db import SightlineError
from db.budget import spend
from db.labels import nearest

MAX_BYTES = 64 * 1024 * 1024
MAX_NODES = 3_000_000
VALUES = 1_000
"""After so many, the reader of a document asks its budget for more."""
MAX_DEPTH = 40
MAX_DIGITS = 40
SHOWN = 200
"""Problems that are told; the rest are counted."""
KEPT = 10_000
"""Problems that are kept at all: a table of a million rows may be wrong in every one."""
SUGGESTED = 50
"""Problems that get a nearest word: comparing words takes its time."""
LISTED = 25
"""Known words that are listed where none is near."""

Scalar: TypeAlias = bool | int | Decimal | Fraction | str | None

WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]*)")
DECIMAL = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,2})?")
WORDS: dict[str, bool | None] = {
    spelled: value
    for words, value in (
        (("true", "yes", "on"), True),
        (("false", "no", "off"), False),
        (("null",), None),
    )
    for word in words
    for spelled in (word, word.capitalize(), word.upper())
} | {"": None, "~": None}


@dataclasses.dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a file, and where."""

    file: str
    line: int | None
    place: str
    message: str
    nearest: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        place = f" {self.place}:" if self.place else ""
        return f"{where}:{place} {self.message}{_did_you_mean(self.nearest)}"

    def as_dict(self) -> dict[str, Any]:
        """The problem for programs."""
        return {
            "line": self.line,
            "place": self.place,
            "message": self.message,
            "nearest": list(self.nearest),
        }


class Problems(SightlineError):  # noqa: N818
    """Everything that is wrong with a file: gathered while reading, raised at the end."""

    status = 422
    """Over HTTP: the document was received, and cannot be used."""

    def __init__(self, problems: Iterable[Problem] = ()) -> None:
        super().__init__("")
        self.found = list(problems)
        self.beyond = 0
        """Problems that were only counted."""

    def add(self, at: Node, message: str, near: Callable[[], Iterable[str]] | None = None) -> None:
        """Note a problem; `near` gives the words that may have been meant."""
        if len(self.found) >= KEPT:
            self.beyond += 1
            return
        words = near() if near is not None and len(self.found) < SUGGESTED else ()
        self.found.append(Problem(at.file, at.line, at.place, message, tuple(words)))

    def unknown(self, at: Node, what: str, word: str, known: Collection[str]) -> None:
        """Note an unknown word with the nearest known ones, or all where none is near."""
        near = nearest(word, known) if len(self.found) < SUGGESTED else []
        message = f"unknown {what} {word!r}"
        if not near and len(known) <= LISTED:
            message += f"; known: {', '.join(known)}" if known else "; there is none here"
        self.add(at, message, lambda: near)

    def sorted(self) -> list[Problem]:
        return sorted(self.found, key=lambda problem: (problem.file, problem.line or 0))

    def as_dicts(self) -> list[dict[str, Any]]:
        """The problems for programs, in the order of the file; beyond so many the last item counts the rest."""
        found = self.sorted()
        told = [problem.as_dict() for problem in found[:SHOWN]]
        if len(found) > SHOWN:
            more = f"… and {len(found) + self.beyond - SHOWN} more problems"
            told.append(Problem(found[-1].file, None, "", more).as_dict())
        return told

    def told(self) -> Problems:
        """Itself, with every problem in its message: to be raised."""
        self.message = str(self)
        return self

    def raise_if_any(self) -> None:
        if self.found:
            raise self.told()

    def __bool__(self) -> bool:
        return bool(self.found)

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.sorted()]
        if len(lines) > SHOWN:
            lines[SHOWN:] = [f"… and {len(lines) + self.beyond - SHOWN} more problems"]
        return "\n".join(lines)


class Node:
    """A value of a document with its place: a scalar, a list or a mapping by words."""

    __slots__ = ("column", "file", "key", "line", "parent", "text", "value")

    def __init__(
        self,
        value: Scalar | list[Node] | dict[str, Node] = None,
        *,
        file: str = "",
        line: int | None = None,
        column: int | None = None,
        parent: Node | None = None,
        key: str = "",
        text: str | None = None,
    ) -> None:
        self.value = value
        self.file = file
        self.line = line
        """Of a mapping's value: the line of its key."""
        self.column = column
        self.parent = parent
        self.key = key
        self.text = text
        """A scalar as it is written; None for a list or mapping."""

    @property
    def place(self) -> str:
        """The way from the root, such as map/hexes/22.79/terrain; lists count from 1."""
        keys: list[str] = []
        node: Node | None = self
        while node is not None:
            keys.append(node.key)
            node = node.parent
        return "/".join(key for key in reversed(keys) if key)

    @property
    def where(self) -> str:
        """Its line, or its place in a file without lines, for a message about another node."""
        return f"at {self.place}" if self.line is None else f"on line {self.line}"

    @property
    def kind(self) -> str:
        """What it is, for a message."""
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        return "nothing" if self.value is None else repr(self.text or str(self.value))

    def child(
        self, key: str, value: Scalar | list[Node] | dict[str, Node] = None, text: str | None = None
    ) -> Node:
        """A node within this one, made by hand: of the same file and line."""
        return Node(value, text=text, file=self.file, line=self.line, parent=self, key=key)

    def spelled(self, text: str) -> Node:
        """This scalar, at its place, spelled otherwise."""
        return Node(text, file=self.file, line=self.line, parent=self.parent, key=self.key, text=text)

    def get(self, key: str) -> Node | None:
        """The value at a key, if it is a mapping that has it."""
        return self.value.get(key) if isinstance(self.value, dict) else None

    def at(self, path: Iterable[str | int]) -> Node:
        """The node at a path of keys and indexes from 0; the last one that is there."""
        node = self
        for key in path:
            if isinstance(node.value, dict) and key in node.value:
                node = node.value[str(key)]
            elif isinstance(node.value, list) and isinstance(key, int) and key < len(node.value):
                node = node.value[key]
            else:
                break
        return node

    def plain(self) -> Any:
        """The tree as ordinary Python values."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    # What a reader expects. Each notes a problem and gives nothing where it is not so.

    def mapping(
        self, problems: Problems, known: Collection[str] | None = None, required: Iterable[str] = ()
    ) -> dict[str, Node]:
        """Its known keys; any other key is a problem, and so is a required one that is missing."""
        if self.value is None:
            value: dict[str, Node] = {}
        elif isinstance(self.value, dict):
            value = self.value
        else:
            problems.add(self, f"expected a mapping, found {self.kind}")
            return {}
        if known is not None and not value.keys() <= set(known):
            for key, node in value.items():
                if key not in known:
                    problems.unknown(node, "key", key, known)
            value = {key: node for key, node in value.items() if key in known}
        for key in required:
            if key not in value:
                problems.add(self, f"{key} is missing")
        return value

    def items(self, problems: Problems) -> list[Node]:
        """Its elements, if it is a list."""
        if isinstance(self.value, list):
            return self.value
        if self.value is not None:
            problems.add(self, f"expected a list, found {self.kind}")
        return []

    def one_or_more(self, problems: Problems) -> list[Node]:
        """Its elements, or itself alone, so that `ridge` may stand for `[ridge]`."""
        if isinstance(self.value, list):
            return self.value
        if isinstance(self.value, dict) or self.value is None:
            problems.add(self, f"expected a word or a list of words, found {self.kind}")
            return []
        return [self]

    def string(self, problems: Problems) -> str | None:
        """A scalar as it is written; from then on it is text: `plain` gives 22.80, not a number."""
        if self.text is not None and self.value is not None:
            self.value = self.text
            return self.text
        problems.add(self, f"expected text, found {self.kind}")
        return None

    def word(self, problems: Problems, what: str, known: Collection[str]) -> str | None:
        """One of the known words; `what` says of what, for the message."""
        text = self.string(problems)
        if text is None or text in known:
            return text
        problems.unknown(self, what, text, known)
        return None

    def whole(self, problems: Problems, low: int, high: int, which: str = "") -> int | None:
        """A whole number between two bounds; `which` says what they are, for the message."""
        value = self.value
        if isinstance(value, Decimal | Fraction) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            problems.add(self, f"expected a whole number, found {self.kind}")
        elif not low <= value <= high:
            bounds = f"between {low} and {high}" if low < high else str(low)
            problems.add(self, f"{value} is not {bounds}{which and ', '}{which}")
        else:
            return value
        return None

    def number(self, problems: Problems) -> Fraction | None:
        """A number, exact."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | Decimal | Fraction):
            problems.add(self, f"expected a number, found {self.kind}")
            return None
        return Fraction(self.value)

    def flag(self, problems: Problems) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            problems.add(self, f"expected true or false, found {self.kind}")
            return False
        return self.value


class Rows(Node):
    """A section that comes entry by entry, each seen once: a table that is never in memory as a whole."""

    __slots__ = ("entries",)

    def __init__(self, entries: Iterator[tuple[str, Node]]) -> None:
        super().__init__({})
        self.entries = entries


def read_document(
    text: str | bytes, name: str, problems: Problems | None = None, *, max_bytes: int = MAX_BYTES
) -> Node:
    """The tree of a YAML or JSON text.

    What makes reading on pointless is raised at once. The rest (a key named twice, an
    alias) is raised at the end, or added to `problems` where they are given.
    """
    content = _decoded(text, name, max_bytes)
    gathered = Problems()
    root = _read_json_first(content, name, gathered)
    if problems is None:
        gathered.raise_if_any()
    else:
        problems.found += gathered.found
    return root


def read_values(value: Any, name: str, problems: Problems | None = None) -> Node:
    """The tree of plain values that are at hand, under the limits of a document; it has no lines."""
    gathered = Problems()
    root = _ValueReader("", name, gathered).read(value)
    if problems is None:
        gathered.raise_if_any()
    else:
        problems.found += gathered.found
    return root


def _read_json_first(content: str, name: str, problems: Problems) -> Node:
    if name.lower().endswith((".json", ".geojson")):
        return _JsonReader(content, name, problems).read()
    if content.lstrip().startswith(("{", "[")):
        # most likely JSON, which YAML reads but for a few escapes; yet YAML may begin so too
        try:
            return _JsonReader(content, name, problems).read()
        except Problems:
            problems.found.clear()
    return _YamlReader(content, name, problems).read()


def resolved(text: str) -> Scalar:
    """What a bare word stands for: nothing, true, false, a number, or itself.

    A number that starts with a superfluous zero (0314) is a label, not an octal number.
    """
    if text in WORDS:
        return WORDS[text]
    if text[0] in "+-.0123456789" and len(text) <= MAX_DIGITS:
        if WHOLE.fullmatch(text):
            return int(text)
        if DECIMAL.fullmatch(text):
            return Decimal(text)
    return text


def _did_you_mean(words: tuple[str, ...]) -> str:
    if not words:
        return ""
    listed = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    return f" (did you mean {listed}?)"


def _fatal(file: str, line: int | None, message: str, place: str = "") -> NoReturn:
    problems = Problems([Problem(file, line, place, message)])
    problems.raise_if_any()
    raise AssertionError


def _decoded(text: str | bytes, name: str, max_bytes: int) -> str:
    if len(text) > max_bytes:
        _fatal(name, None, f"the file is larger than {max_bytes / 1024 / 1024:g} MiB")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            _fatal(name, line, f"not UTF-8: byte 0x{error.object[error.start]:02x}; save the file as UTF-8")
    text = text.removeprefix("\ufeff")
    if not text.strip():
        _fatal(name, 1, "the file is empty")
    return text


class _Reader:
    """What reading YAML and JSON have in common: limits, and text a database can hold."""

    def __init__(self, content: str, file: str, problems: Problems) -> None:
        self.content = content
        self.file = file
        self.problems = problems
        self.count = 0

    def node(self, parent: Node | None, key: str, line: int | None, column: int | None) -> Node:
        self.count += 1
        if self.count > MAX_NODES:
            _fatal(self.file, line, f"the file has more than {MAX_NODES} values")
        if self.count % VALUES == 0:
            spend("values of a document", VALUES)
        return Node(file=self.file, line=line, column=column, parent=parent, key=key)

    def fill(self, node: Node, text: str, value: Scalar) -> None:
        if "\0" in text or not (text.isascii() or _is_unicode(text)):
            self.problems.add(node, "the text has a character that cannot be stored (NUL or half a pair)")
            text = value = "?"
        node.text = text
        node.value = value

    def add(self, parent: Node, child: Node) -> None:
        """Give a child to its list or mapping; the first of two like keys counts."""
        if isinstance(parent.value, list):
            parent.value.append(child)
        elif isinstance(parent.value, dict):
            first = parent.value.setdefault(child.key, child)
            if first is not child:
                self.problems.add(child, f"{child.key} is named twice, first {first.where}")


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class _YamlReader(_Reader):
    """Builds the tree from the parser's events, so that nothing is resolved that we do not allow."""

    def read(self) -> Node:
        stack: list[Node] = []
        root: Node | None = None
        key: tuple[str, int, int] | None = None
        for event in self._events():
            line, column = event.start_mark.line + 1, event.start_mark.column + 1
            if isinstance(event, yaml.CollectionEndEvent):
                stack.pop()
                continue
            if isinstance(event, yaml.DocumentStartEvent) and root is not None:
                _fatal(self.file, line, "a second document begins here; a file holds one")
            if not isinstance(event, yaml.NodeEvent):
                continue
            parent = stack[-1] if stack else None
            if parent is not None and isinstance(parent.value, dict) and key is None:
                key = self._key(event, parent, line), line, column
                continue
            if key is not None:
                node = self.node(parent, *key)
            elif parent is not None and isinstance(parent.value, list):
                node = self.node(parent, str(len(parent.value) + 1), line, column)
            else:
                node = self.node(parent, "", line, column)
            key = None
            self._fill(node, event)
            if parent is None:
                root = node
            else:
                self.add(parent, node)
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(node)
                if len(stack) > MAX_DEPTH:
                    _fatal(self.file, line, f"more than {MAX_DEPTH} levels deep")
        if root is None:
            _fatal(self.file, 1, "the file is empty")
        return root

    def _events(self) -> Iterator[Any]:
        try:
            yield from yaml.parse(self.content, Loader=yaml.CSafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = self.content.split("\n")[mark.line :][:1] if mark else []
            tab = "a tab" in (error.problem or "") or any(text.lstrip(" ").startswith("\t") for text in line)
            told = "a tab stands where spaces must: indent with spaces" if tab else error.problem
            _fatal(self.file, mark.line + 1 if mark else None, f"not YAML: {told}")
        except (yaml.YAMLError, UnicodeEncodeError) as error:
            reason = str(error).splitlines()[0]
            _fatal(self.file, None, f"not YAML: {reason}")

    def _key(self, event: Any, parent: Node, line: int) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            _fatal(self.file, line, "a key must be a word, not a list, mapping or alias", parent.place)
        self._refuse_extras(event, Node(file=self.file, line=line, parent=parent, key=event.value))
        if "\0" in event.value:
            _fatal(self.file, line, "a key has a character that cannot be stored (NUL)", parent.place)
        return str(event.value)

    def _fill(self, node: Node, event: Any) -> None:
        self._refuse_extras(event, node)
        if isinstance(event, yaml.MappingStartEvent):
            node.value = {}
        elif isinstance(event, yaml.SequenceStartEvent):
            node.value = []
        elif isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            self.fill(node, event.value, resolved(event.value) if plain else event.value)

    def _refuse_extras(self, event: Any, node: Node) -> None:
        if isinstance(event, yaml.AliasEvent):
            self.problems.add(
                node, f"alias *{event.anchor}: anchors and aliases are not allowed; write it out"
            )
            return
        if event.anchor is not None:
            self.problems.add(node, f"anchor &{event.anchor}: anchors and aliases are not allowed")
        if event.tag is not None and event.tag not in ("!", "tag:yaml.org,2002:str"):
            self.problems.add(node, f"tag {event.tag}: tags are not allowed")


class _ValueReader(_Reader):
    """Values that a program or a form has given."""

    def read(self, value: Any, parent: Node | None = None, key: str = "", depth: int = 0) -> Node:
        node = self.node(parent, key, None, None)
        if depth > MAX_DEPTH:
            _fatal(self.file, None, f"more than {MAX_DEPTH} levels deep")
        if isinstance(value, Mapping):
            node.value = {}
            for name, item in value.items():
                if "\0" in name or not _is_unicode(name):
                    _fatal(self.file, None, "a key has a character that cannot be stored")
                node.value[name] = self.read(item, node, name, depth + 1)
        elif isinstance(value, list | tuple):
            node.value = [self.read(item, node, str(n), depth + 1) for n, item in enumerate(value, 1)]
        elif isinstance(value, str):
            self.fill(node, value, value)
        elif value is not None:
            node.text = str(value).lower() if isinstance(value, bool) else str(value)
            node.value = resolved(node.text)
            if isinstance(node.value, str):
                self.problems.add(node, f"the number {node.text[:20]}… is too long or too large")
        return node


class _JsonReader(_Reader):
    """JSON with lines: the standard library's scanner tells none."""

    SPACE = re.compile(r"[ \t\r\n]*")
    BARE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null")

    def read(self) -> Node:
        self.starts = [0, *(match.end() for match in re.finditer("\n", self.content))]
        root, end = self._value(self._skip(0), None, "", None, 0)
        if self._skip(end) != len(self.content):
            self._refuse(self._skip(end), "text after the end of the document")
        return root

    def _skip(self, at: int) -> int:
        match = self.SPACE.match(self.content, at)
        return match.end() if match else at

    def _line(self, at: int) -> int:
        return bisect.bisect_right(self.starts, at)

    def _refuse(self, at: int, message: str) -> NoReturn:
        _fatal(self.file, self._line(at), f"not JSON: {message}")

    def _value(
        self, at: int, parent: Node | None, key: str, key_at: int | None, depth: int
    ) -> tuple[Node, int]:
        begin = at if key_at is None else key_at
        line = self._line(begin)
        node = self.node(parent, key, line, begin - self.starts[line - 1] + 1)
        if depth > MAX_DEPTH:
            _fatal(self.file, line, f"more than {MAX_DEPTH} levels deep")
        first = self.content[at : at + 1]
        if first == "{":
            return node, self._mapping(at + 1, node, depth)
        if first == "[":
            return node, self._list(at + 1, node, depth)
        if first == '"':
            text, end = self._string(at)
            self.fill(node, text, text)
            return node, end
        match = self.BARE.match(self.content, at)
        if match is None:
            self._refuse(
                at, f"expected a value, found {self.content[at : at + 10]!r}" if first else "it ends too soon"
            )
        node.text = match.group()
        node.value = resolved(node.text)
        if isinstance(node.value, str):
            self.problems.add(node, f"the number {node.text[:20]}… is too long or too large")
        return node, match.end()

    def _mapping(self, at: int, node: Node, depth: int) -> int:
        node.value = {}
        at = self._skip(at)
        if self.content[at : at + 1] == "}":
            return at + 1
        while True:
            if self.content[at : at + 1] != '"':
                self._refuse(at, "expected a key in double quotes")
            key, end = self._string(at)
            end = self._skip(end)
            if self.content[end : end + 1] != ":":
                self._refuse(end, f"expected a colon after the key {key!r}")
            if "\0" in key or not _is_unicode(key):
                self._refuse(at, "a key has a character that cannot be stored")
            child, end = self._value(self._skip(end + 1), node, key, at, depth + 1)
            self.add(node, child)
            at, done = self._next(end, "}")
            if done:
                return at

    def _list(self, at: int, node: Node, depth: int) -> int:
        node.value = []
        at = self._skip(at)
        if self.content[at : at + 1] == "]":
            return at + 1
        while True:
            child, end = self._value(at, node, str(len(node.value) + 1), None, depth + 1)
            node.value.append(child)
            at, done = self._next(end, "]")
            if done:
                return at

    def _next(self, end: int, close: str) -> tuple[int, bool]:
        """Past a comma to the next item, or past the closing bracket."""
        end = self._skip(end)
        found = self.content[end : end + 1]
        if found == close:
            return end + 1, True
        if found != ",":
            self._refuse(end, f"expected a comma or {close}")
        return self._skip(end + 1), False

    def _string(self, at: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self.content, at + 1, True)
        except JSONDecodeError as error:
            self._refuse(error.pos, error.msg[0].lower() + error.msg[1:])
        return text, end
