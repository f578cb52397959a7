"""What a parsed rulebook is: its rules as a tree, their passages, references and terms.

Everything here is plain, frozen data; line numbers count from 1 in the file that was parsed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Kind = Literal["text", "example", "note", "table"]
SetAside = Literal["front matter", "contents", "divider", "glossary", "index", "annex", "repeat", "debris"]


class RulebookError(ValueError):
    """The file is not a rulebook that can be read: where, why, and what the owner can do."""

    def __init__(self, line: int, message: str, remedy: str) -> None:
        super().__init__(f"line {line}: {message}; {remedy}" if line else f"{message}; {remedy}")
        self.line = line
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True)
class Passage:
    """Consecutive lines of one rule that are of one kind."""

    kind: Kind
    text: str
    first_line: int
    last_line: int


@dataclass(frozen=True)
class ParsedRule:
    """A numbered rule; `path` sorts naturally and starts with the path of the parent."""

    number: str
    title: str
    parent: str | None
    path: tuple[int, ...]
    line: int
    passages: tuple[Passage, ...]
    recovered: bool = False
    """The file lost the heading; number and title come from its contents, `line` is where the text starts."""

    @property
    def text(self) -> str:
        """All passages, in reading order."""
        return "\n\n".join(passage.text for passage in self.passages)


@dataclass(frozen=True)
class Reference:
    """A rule number printed in a text; `target` is the rule it names, None where there is no such rule."""

    rule: str | None
    """The rule whose text prints it; None in a glossary that stands outside the numbered rules."""
    printed: str
    target: str | None
    line: int


@dataclass(frozen=True)
class GlossaryTerm:
    """A word the rulebook defines."""

    term: str
    text: str
    line: int
    rule: str | None = None
    """The numbered rule that defines it; None in a glossary that stands outside the numbered rules."""


@dataclass(frozen=True)
class Span:
    """Lines that are no rule's text, with the reason."""

    first_line: int
    last_line: int
    what: str

    @property
    def lines(self) -> range:
        return range(self.first_line, self.last_line + 1)


@dataclass(frozen=True)
class ParsedRulebook:
    """A whole rulebook; rules are in the order of their numbers, whatever the order in the file."""

    ruleset: str
    rules: tuple[ParsedRule, ...]
    references: tuple[Reference, ...]
    terms: tuple[GlossaryTerm, ...]
    set_aside: tuple[Span, ...]
    """Lines understood to be no rule's text; `what` is one of `SetAside`."""
    not_understood: tuple[Span, ...]
    missing: tuple[str, ...] = ()
    """Rules that the contents list and the file does not have."""

    @cached_property
    def _by_number(self) -> dict[str, ParsedRule]:
        return {rule.number: rule for rule in self.rules}

    def __contains__(self, number: object) -> bool:
        return number in self._by_number

    def rule(self, number: str) -> ParsedRule:
        """The rule of that number; KeyError where there is none."""
        return self._by_number[number]

    def chapters(self) -> tuple[ParsedRule, ...]:
        """The rules at the top of the tree."""
        return tuple(rule for rule in self.rules if rule.parent is None)

    def children(self, number: str) -> tuple[ParsedRule, ...]:
        return tuple(rule for rule in self.rules if rule.parent == number)

    def ancestors(self, number: str) -> tuple[ParsedRule, ...]:
        """From the chapter down to the parent."""
        above: list[ParsedRule] = []
        parent = self.rule(number).parent
        while parent is not None:
            above.append(self.rule(parent))
            parent = above[-1].parent
        return tuple(reversed(above))

    def subtree(self, number: str) -> tuple[ParsedRule, ...]:
        """The rule and all that stands below it."""
        path = self.rule(number).path
        return tuple(rule for rule in self.rules if rule.path[: len(path)] == path)

    def references_from(self, number: str) -> tuple[Reference, ...]:
        return tuple(reference for reference in self.references if reference.rule == number)

    def references_to(self, number: str) -> tuple[Reference, ...]:
        return tuple(reference for reference in self.references if reference.target == number)

    def dangling(self) -> tuple[Reference, ...]:
        """References to rules that this rulebook does not have."""
        return tuple(reference for reference in self.references if reference.target is None)

    def recovered(self) -> tuple[ParsedRule, ...]:
        """Rules whose headings the file lost."""
        return tuple(rule for rule in self.rules if rule.recovered)

    def account(self) -> Iterator[tuple[int, str]]:
        """Every line that was placed, with its place: `rule 7.1`, `contents`, `not understood` …"""
        for rule in self.rules:
            if not rule.recovered:
                yield rule.line, f"rule {rule.number}"
            for passage in rule.passages:
                for line in range(passage.first_line, passage.last_line + 1):
                    yield line, f"rule {rule.number}"
        for span in self.set_aside:
            for line in span.lines:
                yield line, span.what
        for span in self.not_understood:
            for line in span.lines:
                yield line, "not understood"

    def figures(self) -> dict[str, int]:
        """The counts that an import reports."""
        return {
            "rules": len(self.rules),
            "recovered headings": len(self.recovered()),
            "missing": len(self.missing),
            "references": len(self.references),
            "dangling": len(self.dangling()),
            "terms": len(self.terms),
            "lines not understood": sum(len(span.lines) for span in self.not_understood),
        }
