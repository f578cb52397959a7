"""Reads a plain-text rulebook into its rules.

The steps: is it a book of this game at all; which lines are contents, index and debris; cut the rest into
sections at the headings; mend what the page layout tore apart; then passages, terms and references.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from importers.rulebook.layout import Block, Heading, Headings, blocks, spans, undecorated
from importers.rulebook.model import (
    GlossaryTerm,
    ParsedRule,
    ParsedRulebook,
    Passage,
    Reference,
    RulebookError,
    SetAside,
    Span,
)
from importers.rulebook.passages import ReferenceTokens, passages, terms_in
from importers.rulebook.profiles import PROFILES, Opening, Profile

FEWEST_HEADINGS = 5
SAME_TEXT = 0.7
"""Share of a section's five-word runs that must stand in an earlier printing to call it a repeat."""
_SMALL_WORDS = frozenset({"a", "an", "and", "in", "of", "on", "the", "to"})

What = Literal["rule", "front matter", "annex", "divider", "glossary"]


@dataclass(frozen=True)
class _Section:
    """What stands between two headings."""

    what: What
    line: int
    title: str = ""
    numbers: tuple[str, ...] = ()
    body: tuple[Block, ...] = ()
    recovered: bool = False

    @property
    def set_aside_as(self) -> SetAside:
        return "annex" if self.what == "rule" else self.what

    def heading_alone(self) -> set[int]:
        """The line of its heading, unless text stands there too; a recovered rule has none."""
        has_heading = self.what != "front matter" and not self.recovered
        return {self.line} - self.body_lines() if has_heading else set()

    def body_lines(self) -> set[int]:
        return {line for block in self.body for line in range(block.first, block.last + 1)}

    def lines(self) -> set[int]:
        return self.heading_alone() | self.body_lines()


def parse(text: str, ruleset: str) -> ParsedRulebook:
    """The rulebook of `ruleset` in `text`; RulebookError where the text is not such a rulebook."""
    lines = re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff").replace("\f", " "))
    profile = _profile(ruleset)
    _check_readable(lines)
    _check_game(lines, profile)
    return _Reading(profile, lines).rulebook()


def _profile(ruleset: str) -> Profile:
    if ruleset not in PROFILES:
        raise RulebookError(0, f"no ruleset is called {ruleset!r}", f"choose one of {', '.join(PROFILES)}")
    return PROFILES[ruleset]


def _check_readable(lines: Sequence[str]) -> None:
    if not any(line.strip() for line in lines):
        raise RulebookError(1, "the file is empty", "give the plain text of the rulebook")
    unreadable = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]")
    total = sum(map(len, lines))
    spoilt = [number for number, line in enumerate(lines, 1) for _ in unreadable.findall(line)]
    if len(spoilt) > total // 200 or any("\0" in line for line in lines):
        raise RulebookError(
            spoilt[0],
            "this is not plain text",
            "export the rulebook as text in UTF-8, not as PDF or an office file",
        )


def _check_game(lines: Sequence[str], profile: Profile) -> None:
    text = "\n".join(lines)
    named = {code: len(re.findall(other.signature, text, re.I)) for code, other in PROFILES.items()}
    likeliest = max(named, key=lambda code: (named[code], code == profile.ruleset))
    if named[likeliest] > named[profile.ruleset]:
        raise RulebookError(
            1,
            f"this is the rulebook of {PROFILES[likeliest].game}",
            f"import it as {likeliest}, not as {profile.ruleset}",
        )
    if not named[profile.ruleset]:
        raise RulebookError(
            1,
            f"the text never names {profile.game}",
            f"give the whole rulebook of {profile.game}, title page included",
        )


class _Reading:
    """One pass over one book."""

    def __init__(self, profile: Profile, lines: Sequence[str]) -> None:
        self.profile = profile
        self.lines = lines
        self.headings = Headings(profile, lines)
        self.set_aside: dict[SetAside, set[int]] = {}
        self.illegible: set[int] = set()

    def rulebook(self) -> ParsedRulebook:
        contents = self._lay_aside(self.headings.contents(), "contents")
        index = self._lay_aside(self.headings.index(contents), "index")
        titles = self.headings.contents_titles(contents)
        found = self._numbered(contents | index, titles)
        left_out = contents | index | self._debris(contents | index | found.keys())
        sections = self._sections(found, left_out)
        sections = self._with_lost_headings(sections, titles)
        sections = self._with_strays_returned(sections)
        sections = self._without_repeats(sections)
        rules = self._rules(sections)
        known = {rule.number for rule in rules}
        return ParsedRulebook(
            ruleset=self.profile.ruleset,
            rules=rules,
            references=tuple(sorted(self._references(sections, known), key=lambda found: found.line)),
            terms=tuple(self._terms(sections)),
            set_aside=self._all_set_aside(),
            not_understood=tuple(spans(self.illegible, "a picture, misread by the scan", self.lines)),
            missing=tuple(
                sorted(titles.keys() - known, key=lambda number: (self.headings.path(number), number))
            ),
        )

    def _lay_aside(self, lines: set[int], what: SetAside) -> set[int]:
        self.set_aside.setdefault(what, set()).update(lines)
        return lines

    def _all_set_aside(self) -> tuple[Span, ...]:
        found = (span for what, lines in self.set_aside.items() for span in spans(lines, what, self.lines))
        return tuple(sorted(found, key=lambda span: span.first_line))

    def _numbered(self, left_out: Collection[int], titles: dict[str, str]) -> dict[int, Heading]:
        found = {at: head for at, head in self.headings.candidates.items() if at not in left_out}
        if len({number for head in found.values() for number in head.numbers}) < FEWEST_HEADINGS:
            raise RulebookError(
                1,
                "hardly any numbered headings were found",
                f"each rule of {self.profile.game} must begin with its number at the start of a line",
            )
        found |= {head.line: head for head in self.headings.misread(left_out, found, titles)}
        return dict(sorted(found.items()))

    def _debris(self, taken: Collection[int]) -> set[int]:
        """Page numbers, running heads, ornaments; and, apart, what the scan made of pictures."""
        debris: set[int] = set()
        for number, line in enumerate(self.lines, 1):
            bare = undecorated(line)
            if number in taken or not line.strip():
                continue
            if any(re.fullmatch(pattern, bare) for pattern in self.profile.illegible):
                self.illegible.add(number)
            elif self._is_lone_mark(number) or any(re.fullmatch(p, bare) for p in self.profile.debris):
                debris.add(number)
        return self._lay_aside(debris, "debris") | self.illegible

    def _is_lone_mark(self, number: int) -> bool:
        """A line of a few signs without a letter, blank lines around it."""
        around = (*self.lines[max(number - 2, 0) : number - 1], *self.lines[number : number + 1])
        alone = not any(line.strip() for line in around)
        return alone and re.fullmatch(r"[\W\d_]{1,6}", self.lines[number - 1].strip()) is not None

    # --- sections ---------------------------------------------------------------------------------------

    def _sections(self, found: dict[int, Heading], left_out: Collection[int]) -> list[_Section]:
        sections: list[_Section] = []
        current = _Section("front matter", 1)
        body: list[tuple[int, str]] = []
        for number, line in enumerate(self.lines, 1):
            if number in left_out:
                continue
            if head := found.get(number):
                sections.append(replace(current, body=tuple(blocks(body))))
                current = _Section("rule", number, head.title, head.numbers)
                body = [(number, head.remainder)]
            elif opening := self._opening(line):
                sections.append(replace(current, body=tuple(blocks(body))))
                numbers = (opening.rule,) if opening.rule else ()
                current = _Section(opening.what, number, undecorated(line), numbers)
                body = [(number, line)]
            else:
                body.append((number, line))
        return [*sections, replace(current, body=tuple(blocks(body)))]

    def _opening(self, line: str) -> Opening | None:
        bare = undecorated(line)
        fits = (opening for opening in self.profile.openings if re.fullmatch(opening.pattern, bare))
        return next(fits, None) if bare else None

    def _with_lost_headings(self, sections: list[_Section], titles: dict[str, str]) -> list[_Section]:
        """A rule that the contents list but no heading opens begins where its title's words come up."""
        for number, title in titles.items():
            if not any(number in section.numbers for section in sections):
                sections = self._with_lost_heading(sections, number, title)
        return sections

    def _with_lost_heading(self, sections: list[_Section], number: str, title: str) -> list[_Section]:
        path = self.headings.path(number)
        wanted = set(_words(title)) - _SMALL_WORDS
        numbered = [at for at, section in enumerate(sections) if section.what == "rule"]
        for at, after in pairwise(numbered):
            before, next_path = sections[at], self.headings.path(sections[after].numbers[0])
            if not self.headings.path(before.numbers[-1]) < path < next_path or not wanted:
                continue
            for cut, block in enumerate(before.body[1:], 1):
                if wanted <= set(_words(re.split(r"(?<=[.!?])\s", block.text)[0])):
                    lost = _Section("rule", block.first, title, (number,), before.body[cut:], recovered=True)
                    kept = replace(before, body=before.body[:cut])
                    return [*sections[:at], kept, lost, *sections[at + 1 :]]
        return sections

    def _with_strays_returned(self, sections: list[_Section]) -> list[_Section]:
        """Text that stands under another rule's heading goes back, behind its rule's own text."""
        known = {number for section in sections for number in section.numbers}
        kept: list[_Section] = []
        returned: list[_Section] = []
        for section in sections:
            cut, rule = self._stray(section)
            if rule in known and rule not in section.numbers:
                body = section.body[cut:]
                returned.append(_Section("annex", body[0].first, "", (rule,), body))
                section = replace(section, body=section.body[:cut])
            kept.append(section)
        return kept + returned

    def _stray(self, section: _Section) -> tuple[int, str]:
        for cut, block in enumerate(section.body):
            for stray in self.profile.strays:
                if re.match(stray.opens, block.text):
                    return cut, stray.rule
        return 0, ""

    def _without_repeats(self, sections: list[_Section]) -> list[_Section]:
        """Some books print a section again for reference; what an owner has twice is kept once."""
        printed: dict[str, set[tuple[str, ...]]] = {}
        kept: list[_Section] = []
        for section in sections:
            runs = _word_runs(section.body)
            if section.what == "rule":
                earlier = printed.setdefault(section.numbers[0], set())
                if runs and len(runs & earlier) >= SAME_TEXT * len(runs):
                    self._lay_aside(section.lines(), "repeat")
                    continue
                earlier |= runs
            kept.append(section)
        return kept

    # --- rules ------------------------------------------------------------------------------------------

    def _rules(self, sections: Sequence[_Section]) -> tuple[ParsedRule, ...]:
        opened: dict[str, _Section] = {}
        texts: dict[str, list[Passage]] = {}
        for section in sections:
            if section.what == "rule":
                for number in section.numbers:
                    opened.setdefault(number, section)
                if section.line != opened[section.numbers[0]].line:
                    self._lay_aside(section.heading_alone(), "repeat")
        for section in sorted(sections, key=lambda section: section.what != "rule"):
            if section.numbers and section.numbers[0] in opened:
                own = texts.setdefault(section.numbers[0], [])
                own.extend(passages(section.body, self.lines, self.profile))
            else:
                self._lay_aside(section.lines(), section.set_aside_as)
        return self._tree(opened, texts)

    def _tree(self, opened: dict[str, _Section], texts: dict[str, list[Passage]]) -> tuple[ParsedRule, ...]:
        paths = {self.headings.path(number): number for number in opened}
        rules = []
        for number, section in opened.items():
            path = self.headings.path(number)
            above = (paths.get(path[:length]) for length in range(len(path) - 1, 0, -1))
            rules.append(
                ParsedRule(
                    number=number,
                    title=section.title,
                    parent=next((parent for parent in above if parent), None),
                    path=path,
                    line=section.line,
                    passages=tuple(texts.get(number, ())),
                    recovered=section.recovered,
                )
            )
        return tuple(sorted(rules, key=lambda rule: (rule.path, rule.number)))

    # --- terms and references ---------------------------------------------------------------------------

    def _terms(self, sections: Iterable[_Section]) -> Iterator[GlossaryTerm]:
        for section in sections:
            rule = section.numbers[0] if section.numbers else None
            if section.what == "glossary" or rule in self.profile.term_rules:
                lines = (
                    numbered for block in section.body for numbered in enumerate(block.lines, block.first)
                )
                yield from terms_in(lines, self.profile, rule)

    def _references(self, sections: Iterable[_Section], known: Collection[str]) -> Iterator[Reference]:
        """Those of rules and glossaries; what credits and contents print is nobody's reference."""
        tokens = ReferenceTokens(self.profile)
        for section in sections:
            rule = section.numbers[0] if section.numbers else None
            if rule not in known and section.what != "glossary":
                continue
            for block in section.body:
                for at, printed, number in tokens(block.text):
                    line = block.first + block.text.count("\n", 0, at)
                    yield Reference(rule, printed, self._resolved(number, known), line)

    def _resolved(self, number: str, known: Collection[str]) -> str | None:
        mended = self.headings.mended(number)
        return next((n for n in (mended, f"{mended}.0") if n in known), None)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _word_runs(body: Iterable[Block]) -> set[tuple[str, ...]]:
    words = [word for block in body for word in _words(block.text)]
    return {tuple(words[at : at + 5]) for at in range(len(words) - 4)}
