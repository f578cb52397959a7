"""The sentences that a game's rules can say, read off the sources, and which of them a set of rulings tells.

A sentence is a literal of `sql/<code>` or `app/play/<code>` that becomes the note of a step (or an effect of
several words), with the numbers of the rules under which it stands where they are written beside it. What a
query fills in (`%s`, `{unit}`) is anything.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from app.referee.rulings import Ruling

FIELD = re.compile(r"%(?:\d+\$)?[sI]")
RULE = re.compile(r"[A-Z]?\d{1,3}(?:\.\d{1,3})+")


@dataclasses.dataclass(frozen=True)
class Sentence:
    """What a rule can say, and where it is written."""

    file: str
    line: int
    parts: tuple[str, ...]
    """What is said between the fields that are filled in."""
    rules: frozenset[str] = frozenset()
    """The numbers under which it is said; none: they are not written beside it."""
    fragment: bool = False
    """Whether it is said as a part of something longer."""

    @property
    def words(self) -> str:
        return "…".join(self.parts)

    def is_in(self, told: set[str]) -> bool:
        """Whether one of these says it, in any case of its first letter."""
        if _plain(self.words) in told:
            return True
        inner = ".*".join(re.escape(part) for part in self.parts).removesuffix(r"\.")
        if inner[:1].isalpha():
            inner = f"[{inner[0].lower()}{inner[0].upper()}]{inner[1:]}"
        # a note may begin with who it is about, and end with how often: `C/1/9: fires one hex`, `a fire: 2 hexes shut`
        whole = f"(?:.*: )?{inner}(?:: .*)?"
        pattern = re.compile(f".*{inner}.*" if self.fragment else whole, re.DOTALL)
        return any(pattern.fullmatch(text) for text in told)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {' or '.join(sorted(self.rules)) or 'some rule'}: {self.words}"


def _plain(words: str) -> str:
    """A sentence as it is compared: a refusal of a choice begins with a capital and ends in a full stop."""
    return words[:1].lower() + words[1:].removesuffix(".")


class Told:
    """The notes and effects of rulings, by rule."""

    def __init__(self, rulings: Iterable[Ruling]) -> None:
        self.by_rule: dict[str, set[str]] = {}
        for ruling in rulings:
            for step in ruling.steps:
                self.by_rule.setdefault(step.rule, set()).update(
                    (_plain(step.note), _plain(str(step.effect)))
                )
            for need in ruling.needs:
                self.by_rule.setdefault(need.rule, set()).add(_plain(need.what))
        self.all = set().union(*self.by_rule.values())

    def tells(self, sentence: Sentence) -> bool:
        if not sentence.rules:
            return sentence.is_in(self.all)
        return sentence.is_in(set().union(*(self.by_rule.get(rule, set()) for rule in sentence.rules)))


def sentences(root: Path, ruleset: str) -> list[Sentence]:
    """Every sentence of a game, in the order of files and lines."""

    def sources(pattern: str) -> list[tuple[str, str]]:
        paths = sorted(root.glob(pattern))
        return [(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()) for path in paths]

    compared: set[str] = set()
    found: list[Sentence] = []
    for source, file in sources(f"sql/{ruleset}/*.sql"):
        found += sql_sentences(source, file, compared)
    codes = re.compile("|".join(re.escape(word).replace("%", ".*") for word in sorted(compared)) or "$^")
    found = [one for one in found if not codes.fullmatch(one.words)]
    found += python_sentences(sources(f"app/play/{ruleset}/*.py"))
    worded = {one for one in found if re.search("[A-Za-z]{2}", one.words)}
    return sorted(worded, key=lambda one: (one.file, one.line, one.words))


def _says(words: str) -> bool:
    """Whether a literal is more than a word, a name, a query or a document."""
    return bool(re.search(r"[a-z]{2,} |[ ][a-z]{2,}", FIELD.sub("", words))) and not re.match(
        r"\s*(?:[{\[(^]|select |lateral )", words
    )


# --- SQL -----------------------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""
    (?P<comment>--[^\n]*)
    | '(?P<literal>(?:[^']|'')*)'
    | "[^"]*"
    | (?P<call>[\w.]+)?(?P<open>[(\[])
    | (?P<close>[)\]])
    | (?P<comma>,)
    | (?P<end>;)
    | (?P<word>[\w.$]+)
    | (?P<operator>\|\||[^\s\w'"(\[)\],;]+)
    """,
    re.VERBOSE,
)
COMPARES = {"=", "<>", "~", "!~", "->>", "->", "?", "@>", "like", "when", "in", "distinct", "?|"}
"""What stands before a literal that is looked for or compared, and not said."""
BEGINS = {"select", "union", "from", "values", "return", "begin", "loop"}
"""Words after which another row begins."""
SILENT = ("comment", "raise")
"""Statements whose texts no step tells: comments, and mistakes of whoever asks."""
JOINED = re.compile(r"\s*\|\|")
NOTE_AT = {"_entry": 3, "_sum": 2, "_barred": 3}
"""Functions that make a step, and which of their arguments is its note."""


@dataclasses.dataclass
class _Level:
    """What is open: a call, a row or a list."""

    call: str = ""
    argument: int = 0
    rules: set[str] = dataclasses.field(default_factory=set)
    compares: bool = False


class _Sql:
    """Where in an SQL file we are."""

    def __init__(self) -> None:
        self.levels = [_Level()]
        self.before = ""
        self.statement = ""
        self.makes_words = False
        """Whether the function gives words, of which whoever asks makes a sentence."""

    def follow(self, token: re.Match[str]) -> None:
        text, level = token.group(), self.levels[-1]
        if token["open"]:
            call = (token["call"] or "").rpartition(".")[2]
            self.levels.append(_Level(call, compares=call in COMPARES or self.before == "in"))
        elif token["close"] and len(self.levels) > 1:
            self.levels.pop()
        elif token["comma"]:
            level.argument += 1
        elif token["end"]:
            self.statement, level.rules = "", set()
        elif token["word"]:
            self.statement = text if text in SILENT else self.statement or text
            if self.before == "returns":
                self.makes_words = text == "text"
            if text in BEGINS:
                level.rules = set()
        self.before = text

    @property
    def compares(self) -> bool:
        return self.before in COMPARES or self.levels[-1].compares

    @property
    def rules(self) -> frozenset[str]:
        """The numbers that stand in the same row, or in the one around it."""
        return next((frozenset(level.rules) for level in reversed(self.levels) if level.rules), frozenset())

    def says(self, words: str) -> bool:
        """Several words anywhere, or one where a step has its note."""
        noted = any(NOTE_AT.get(level.call) == level.argument for level in self.levels)
        worded = _says(words) or (noted and bool(re.search("[a-z]{2,}", FIELD.sub("", words))))
        return worded and self.statement not in SILENT

    def in_part(self, words: str, joined: bool) -> bool:
        """Whether it is put into a longer sentence, or handed on as a fact of which one is made."""
        filled_in = any(
            level.argument > 0 and (level.call == "format" or level.call.startswith("jsonb_"))
            for level in self.levels
        )
        return joined or self.before == "||" or words != words.strip() or self.makes_words or filled_in


def sql_sentences(source: str, file: str, compared: set[str]) -> Iterator[Sentence]:
    """The sentences of an SQL file; adds what it only compares, which are codes."""
    here = _Sql()
    for token in TOKEN.finditer(source):
        if token["literal"] is None:
            if not token["comment"]:
                here.follow(token)
            continue
        words = token["literal"].replace("''", "'")
        if RULE.fullmatch(words):
            here.levels[-1].rules.add(words)
        elif here.compares:
            compared.add(words)
        elif here.says(words):
            line = source.count("\n", 0, token.start()) + 1
            joined = JOINED.match(source, token.end()) is not None
            yield Sentence(file, line, tuple(FIELD.split(words)), here.rules, here.in_part(words, joined))
        here.before = token.group()


# --- Python --------------------------------------------------------------------------------------------

MAKERS = {"Step": 3, "Refused": 1, "NotOfferedError": 1}
"""What makes a step of a text, and which of its arguments that is."""


def python_sentences(modules: Iterable[tuple[str, str]]) -> Iterator[Sentence]:
    """The sentences of a game's modules, each given as its source and its name."""
    trees = [(ast.parse(source), file) for source, file in modules]
    functions = [node for tree, _ in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    takers = dict(MAKERS)
    for function in functions:
        # the game's own functions that take a note and hand it on
        names = [argument.arg for argument in function.args.args]
        for name in {"note", "why"} & set(names):
            takers[function.name] = names.index(name)
    for tree, file in trees:
        yield from _Python(file, takers).read(tree)


class _Python:
    """The sentences of a module."""

    def __init__(self, file: str, takers: dict[str, int]) -> None:
        self.file = file
        self.takers = takers

    def read(self, tree: ast.Module) -> Iterator[Sentence]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in self.takers:
                yield from self._call(node, self.takers[name], name not in MAKERS)
            elif isinstance(node, ast.FunctionDef) and _checks(node):
                for inner in ast.walk(node):
                    if isinstance(inner, ast.Return) and inner.value is not None:
                        yield from self._literals(inner.value, frozenset(), False)

    def _call(self, call: ast.Call, place: int, fragment: bool) -> Iterator[Sentence]:
        named = {word.arg: word.value for word in call.keywords}
        note = call.args[place] if place < len(call.args) else named.get("note", named.get("why"))
        if note is not None:
            rules = {
                literal.value
                for argument in call.args[:place]
                for literal in ast.walk(argument)
                if isinstance(literal, ast.Constant)
                and isinstance(literal.value, str)
                and RULE.fullmatch(literal.value)
            }
            yield from self._literals(note, frozenset(rules), fragment)

    def _literals(self, node: ast.expr, rules: frozenset[str], fragment: bool) -> Iterator[Sentence]:
        """The texts of an expression: a literal, a formatted one, either side of a choice."""
        if isinstance(node, ast.IfExp | ast.BoolOp):
            for part in [node.body, node.orelse] if isinstance(node, ast.IfExp) else node.values:
                yield from self._literals(part, rules, fragment)
        elif isinstance(node, ast.JoinedStr):
            parts = [""]
            for value in node.values:
                if isinstance(value, ast.Constant):
                    parts[-1] += str(value.value)
                else:
                    parts.append("")
            yield Sentence(self.file, node.lineno, tuple(parts), rules, fragment)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield Sentence(self.file, node.lineno, (node.value,), rules, fragment)


def _checks(function: ast.FunctionDef) -> bool:
    """Whether it says what is wrong with a choice, which is then refused."""
    return function.name in ("wrong", "check")
