"""The rule index: which file, function or datum cites a rule, read off the sources themselves.

A number in a comment, in the text of a literal or as a whole literal is a citation if the game's
`rules.yaml` has that rule. In a folder of one game (`sql/css`, `app/play/css`) numbers are that game's;
in files that all games share a number is told with its game: `css 22.3.1`. Of the data, the fields that
hold a rule's number are citations, and prose is not.

The sources are packaged with the code that runs, so the index is made of them when it is first asked for
and cannot be older than they are.
"""

from __future__ import annotations

import ast
import bisect
import functools
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, cast

import yaml

from db.rulesets import CODES, FOLDER, Number, Strict, read_form, read_ruleset

ROOT = Path(__file__).resolve().parent.parent
"""Where the four rooms stand, in a checkout as in an installation."""

Kind = Literal["function", "view", "type", "trigger", "class", "data", "file"]
KINDS: tuple[Kind, ...] = ("function", "view", "type", "trigger", "class", "data", "file")
"""What may cite a rule, in the order in which it is shown; `file`: its opening, or between functions."""

UNCITED = Path(__file__).parent / "uncited.yaml"
"""Why a rule is cited nowhere, where its kind does not say."""

NOT_DECIDING = ("rules.yaml", "terms.yaml", "contested.yaml")
"""Data that tell what a rule says; a rule's page shows them in places of their own."""
RULE_FIELD = re.compile(r"(?:[a-z]+_)*rules?")
"""Fields of the data that hold numbers of rules."""
NAMES = ("code", "id", "name")
"""Fields that name an item of a list."""
NESTS = ("cells", "steps")
"""Fields that hold parts, each with a name of its own."""
SINGULAR = {
    "hexsides": "hexside", "paths": "path", "overlays": "overlay", "charts": "chart", "phases": "phase",
}  # fmt: skip


class Reasons(Strict):
    """The rules of one game that are cited nowhere."""

    definition: tuple[Number, ...] = ()
    """They tell of parts and words and leave nothing to rule on."""
    open: tuple[Number, ...] = ()
    """They leave something to rule on, and nothing decides it under their number yet."""


class UncitedFile(Strict):
    """`uncited.yaml`."""

    css: Reasons
    ccp: Reasons
    fpb: Reasons
    bob: Reasons
    ddp: Reasons


class Citation(NamedTuple):
    """One place where the number of a rule stands."""

    rule: str
    clause: str | None
    """The letter of the item within the rule."""
    file: str
    line: int
    kind: Kind
    name: str | None
    """The function, view, type or trigger, or what the datum is about; of a file none."""


class Text(NamedTuple):
    """A comment or a literal of a source file, and what it belongs to."""

    words: str
    line: int
    literal: bool
    kind: Kind
    name: str | None
    clause: str | None = None
    """The letter that stands beside the literal as an item of its own: `'7.1.2', 'a'`."""


class Place(NamedTuple):
    """A function, a datum or a file that cites a rule, once or more often."""

    file: str
    kind: Kind
    name: str | None
    lines: tuple[int, ...]
    clauses: tuple[str, ...]


class Found(NamedTuple):
    """A number in a text that may be a rule's."""

    number: str
    clause: str | None
    game: str | None
    """The game told before it, if one is."""
    offset: int


class RuleIndex:
    """Every citation of a game's rules."""

    def __init__(self, ruleset: str, citations: Iterable[Citation]) -> None:
        self.ruleset = ruleset
        self.citations = tuple(sorted(set(citations), key=_order))
        self._by_rule: dict[str, list[Citation]] = {}
        for citation in self.citations:
            self._by_rule.setdefault(citation.rule, []).append(citation)

    def of(self, rule: str) -> list[Citation]:
        """Where a rule is cited: functions first, then data, then what files say of themselves."""
        return self._by_rule.get(rule, [])

    def places(self, rule: str) -> list[Place]:
        """The same, each function, datum or file once."""
        places: dict[tuple[str, Kind, str | None], list[Citation]] = {}
        for citation in self.of(rule):
            places.setdefault((citation.file, citation.kind, citation.name), []).append(citation)
        return [
            Place(
                *place,
                tuple(sorted({each.line for each in cited})),
                tuple(sorted({each.clause for each in cited if each.clause})),
            )
            for place, cited in places.items()
        ]

    def cited(self) -> set[str]:
        """The rules that are cited anywhere."""
        return set(self._by_rule)


def _order(citation: Citation) -> tuple[int, str, int, str, str]:
    return (
        KINDS.index(citation.kind),
        citation.file,
        citation.line,
        citation.rule,
        citation.clause or "",
    )


@functools.cache
def rule_index(ruleset: str) -> RuleIndex:
    """The index of a game, from the sources of this installation."""
    return index_of(ruleset, ROOT)


@functools.cache
def uncited_reasons(ruleset: str) -> Reasons:
    """What `uncited.yaml` says of a game."""
    reasons: Reasons = getattr(read_form(UNCITED, UncitedFile), ruleset)
    return reasons


def index_of(ruleset: str, root: Path) -> RuleIndex:
    """The index of a game, from the sources below a folder."""
    known = frozenset(rule.number for rule in read_ruleset(ruleset).rules)
    found: list[Citation] = []
    for path, texts in _sources(root):
        # a folder of one game, else what all games share
        own = next((part for part in path.relative_to(root).parts[:-1] if part in CODES), None)
        if own in (ruleset, None):
            found += _cited(texts(_read(path)), path.relative_to(root).as_posix(), own, ruleset, known)
    for path in sorted((root / FOLDER.relative_to(ROOT) / ruleset).rglob("*.yaml")):
        if path.name not in NOT_DECIDING:
            found += _data_cited(_read(path), path.relative_to(root).as_posix(), known)
    return RuleIndex(ruleset, found)


def _sources(root: Path) -> Iterator[tuple[Path, Callable[[str], Iterator[Text]]]]:
    """Every file in which rules are decided, and how its comments and literals are found."""
    for path in sorted(root.glob("sql/*/*.sql")):
        yield path, sql_texts
    for room in ("referee", "play"):
        for path in sorted(root.glob(f"app/{room}/**/*.py")):
            yield path, python_texts


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


GAME = "|".join(CODES)
TOLD_GAME = re.compile(rf"\b({GAME})\b")
NUMBER = re.compile(
    rf"""
    (?:\b(?P<game>{GAME})\ )?
    (?<![\w.$%+/\#-])
    (?P<number>[A-Z]?\d{{1,3}}(?:\.\d{{1,3}})*)
    # an article is no clause: after the letter comes a mark, or a word that joins items
    (?:\ ?(?P<clause>[a-z])(?=$|[:;,.)]|\ (?:and|or|to)\ ))?
    (?![\w%/]|\.\d|-\d)
    """,
    re.VERBOSE,
)
JOINED = re.compile(r", (?:and |or )?| (?:and|or|to) ")


def numbers_in(words: str, known: frozenset[str]) -> Iterator[Found]:
    """The numbers of rules in a text: `7.1.2`, `7.1.2 b`, `7.1.2b`, `T89`.

    A whole number alone is anything, so it is a chapter (`14`, or `14.0` where chapters are
    written so) only in a row with numbers that can be nothing else: `14, 40.2, 44 to 48`; and in
    brackets of its own, `(8)`, where chapters have such numbers.
    """
    rows: list[list[re.Match[str]]] = []
    for match in NUMBER.finditer(words):
        if rows and JOINED.fullmatch(words, rows[-1][-1].end(), match.start()):
            rows[-1].append(match)
        else:
            rows.append([match])
    for row in rows:
        told = [match for match in row if not match["number"].isdigit() and match["number"] in known]
        bracketed = words[: row[0].start()].endswith("(") and words[row[-1].end() :].startswith(")")
        for match in row if told or (bracketed and row[0]["number"] in known) else ():
            number = match["number"]
            chapter = number if number in known else f"{number}.0" if number.isdigit() else None
            if chapter in known:
                yield Found(chapter, match["clause"], match["game"], match.start("number"))


def _cited(
    texts: Iterable[Text], file: str, own: str | None, ruleset: str, known: frozenset[str]
) -> Iterator[Citation]:
    """The citations of a game's rules in the texts of a file, which is one game's own or shared by all."""
    alone: list[tuple[Text, Found]] = []
    told: set[tuple[str | None, str]] = set()
    for text in texts:
        for found in numbers_in(text.words, known):
            game = found.game or own
            if own is None and game is None:
                before = TOLD_GAME.findall(text.words, 0, found.offset)
                game = before[-1] if before else None
            if game is None and text.literal and text.words == found.number:
                alone.append((text, found))
            elif game == ruleset:
                told.add((text.name, found.number))
                yield _citation(text, found, file)
    # a bare literal in a shared function is of the game with which the function tells the same number
    for text, found in alone:
        if (text.name, found.number) in told:
            yield _citation(text, found, file)


def _citation(text: Text, found: Found, file: str) -> Citation:
    line = text.line + text.words.count("\n", 0, found.offset)
    return Citation(found.number, found.clause or text.clause, file, line, text.kind, text.name)


TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*)
    | '(?P<literal>(?:[^']|\'\')*)'
    | "[^"]*"
    | (?P<body>\$\w*\$)
    | (?P<end>;)
    | ^(?P<statement>
        create\s+(?:or\s+replace\s+)?(?P<kind>function|view|type|trigger)\s+(?P<made>[\w.]+)
        | comment\s+on\s+(?P<about>\w+)\s+(?P<named>[\w.]+)
        | (?:create|do|select|with|insert|update|delete|drop|alter)\b
      )
    """,
    re.VERBOSE | re.MULTILINE,
)
"""What of SQL matters here; a statement begins a line."""
BESIDE = re.compile(r"\s*,\s*'([a-zA-Z])'(?=\s*[,)])")
QUOTE = re.compile(r"""\w*(?:"{3}|'{3}|["'])""")
Owner = tuple[Kind, str | None]
FILE: Owner = ("file", None)


def sql_texts(source: str) -> Iterator[Text]:
    """The comments and literals of an SQL file, each with what it stands in.

    A comment directly above a statement is that statement's; any other between two is the file's.
    """
    newlines = [match.start() for match in re.finditer("\n", source)]
    known: dict[str, Owner] = {}
    owner = FILE
    bodies: list[str] = []
    between = True
    above: list[Text] = []
    for token in TOKEN.finditer(source):
        line = bisect.bisect_left(newlines, token.start()) + 1
        if token["comment"] is not None:
            if between and source[token.start() - 1 : token.start()] in ("", "\n"):
                above.append(Text(token["comment"], line, False, *FILE))
            else:
                yield Text(token["comment"], line, False, *owner)
        elif token["literal"] is not None:
            beside = BESIDE.match(source, token.end())
            yield Text(token["literal"], line, True, *owner, beside[1] if beside else None)
        elif token["body"]:
            if bodies[-1:] == [token["body"]]:
                bodies.pop()
            else:
                bodies.append(token["body"])
        elif token["end"]:
            between = between or not bodies
        elif token["statement"] and between:
            between = False
            owner = _owner(token, known)
            yield from _owned(above, line, owner)
            above = []
    yield from above


def _owner(statement: re.Match[str], known: dict[str, Owner]) -> Owner:
    """What a statement makes, or what known thing it comments on."""
    if statement["made"]:
        made = (cast(Kind, statement["kind"]), statement["made"])
        known[statement["made"]] = made
        return made
    named = statement["named"] or ""
    return known.get(named.rpartition(".")[0] if statement["about"] == "column" else named, FILE)


def _owned(above: list[Text], line: int, owner: Owner) -> Iterator[Text]:
    """The comments before a statement: those that reach down to its line without a gap are its own."""
    for text in reversed(above):
        if text.line == line - 1:
            line = text.line
            yield text._replace(kind=owner[0], name=owner[1])
        else:
            yield text


def python_texts(source: str) -> Iterator[Text]:
    """The comments and strings of a module, each with the function or class it stands in."""
    spans = list(_spans(ast.parse(source), ""))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        owner = next((owner for first, last, owner in reversed(spans) if first <= line <= last), FILE)
        if token.type == tokenize.COMMENT:
            yield Text(token.string, line, False, *owner)
        elif token.type == tokenize.STRING:
            yield Text(QUOTE.sub("", token.string, 1).rstrip("\"'"), line, True, *owner)
        # before Python 3.12 a formatted string is one string
        elif tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            yield Text(token.string, line, True, *owner)


def _spans(node: ast.AST, prefix: str) -> Iterator[tuple[int, int, Owner]]:
    """First line, last line and name of every function and class, the outer before the inner."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            kind: Kind = "class" if isinstance(child, ast.ClassDef) else "function"
            yield first, child.end_lineno or first, (kind, prefix + child.name)
            yield from _spans(child, f"{prefix}{child.name}.")
        else:
            yield from _spans(child, prefix)


def _data_cited(source: str, file: str, known: frozenset[str]) -> Iterator[Citation]:
    """The citations of a data file: fields that hold the number of a rule."""
    for place, node in _scalars(yaml.compose(source, Loader=yaml.CSafeLoader), ()):
        if node.value in known and RULE_FIELD.fullmatch(place[-1]):
            about = (*place[:-1], *place[-1].split("_")[:-1])
            words = [SINGULAR.get(about[0], about[0]), *about[1:]] if about else [file]
            name = " ".join(word for word in words if word not in NESTS)
            yield Citation(node.value, None, file, node.start_mark.line + 1, "data", name)


def _scalars(
    node: yaml.Node | None, place: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], yaml.ScalarNode]]:
    """Every value of a data file with the keys that lead to it."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _scalars(value, (*place, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _scalars(value, (*place, *_name_of(value)))
    elif isinstance(node, yaml.ScalarNode):
        yield place, node


def _name_of(item: yaml.Node) -> tuple[str, ...]:
    """What an item of a list is called, where it says so."""
    named = dict(
        ((key.value, value) for key, value in item.value) if isinstance(item, yaml.MappingNode) else ()
    )
    return next(((str(named[field].value),) for field in NAMES if field in named), ())
