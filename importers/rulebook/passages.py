"""What stands inside a rule: its passages by kind, the terms it defines, the rules it refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from importers.rulebook.layout import Block, undecorated
from importers.rulebook.model import GlossaryTerm, Kind, Passage
from importers.rulebook.profiles import Profile

LONGEST_DIGRESSION = 2
"""Paragraphs of a boxed example that may go by without naming its units, hexes or rolls."""

_EXAMPLE_TITLE = re.compile(r"(?i)(?:[\w&,'’() -]*\bexamples?(?: \d+)?(?: \(.*\))?|examples? of [^.]*)\.?")
_EXAMPLE = re.compile(r"(?i)[-*#\s]*(?:[\w&,' ]{0,40}\bexamples?(?: \w)?\**[:.—]|for example\b)")
_NOTE = re.compile(
    r"[-*^{}\s]*(?:(?i:(?:design(?:er[’']?s)? |historical )?note|play hint|strategy tip)\**\s?[:—]"
    r"|Note (?:also )?that\b|See also the\b)"
)
_QUOTE = re.compile(r"\s*\*?[\"“]")
_ATTRIBUTION = re.compile(r"\s*\*?[—–]\s?\w")
_QUOTE_WITH_ATTRIBUTION = re.compile(r"\s*\*?[\"“].*\n\s*\*?[—–]\s?\w.*", re.S)
_ITALIC = re.compile(r"\*(?!\*).*[^*]\*", re.S)


def passages(body: Sequence[Block], lines: Sequence[str], profile: Profile) -> Iterator[Passage]:
    """The paragraphs of a section, those of one kind together unless something was left out between."""
    run: list[Block] = []
    kind: Kind = "text"
    for block, its_kind in zip(body, _kinds(body, profile), strict=True):
        if run and (its_kind != kind or any(line.strip() for line in lines[run[-1].last : block.first - 1])):
            yield _passage(kind, run)
            run = []
        kind = its_kind
        run.append(block)
    if run:
        yield _passage(kind, run)


def _passage(kind: Kind, run: Sequence[Block]) -> Passage:
    text = run[0].text
    for above, block in pairwise(run):
        text += ("\n" if block.first == above.last + 1 else "\n\n") + block.text
    return Passage(kind, text, run[0].first, run[-1].last)


def _kinds(body: Sequence[Block], profile: Profile) -> list[Kind]:
    kinds: list[Kind] = []
    example_ends = 0
    for at, block in enumerate(body):
        kind = _plain_kind(body, at)
        if _is_example_title(block):
            example_ends = _end_of_box(body, at, profile)
        elif kind == "example":
            example_ends = max(example_ends, _end_of_example(body, at, profile))
        kinds.append("example" if at < example_ends and kind != "table" else kind)
    return kinds


def _plain_kind(body: Sequence[Block], at: int) -> Kind:
    """What a paragraph is by itself, boxes aside."""
    text = body[at].text
    if body[at].is_table:
        return "table"
    if _EXAMPLE.match(text):
        return "example"
    if _NOTE.match(text) or _ITALIC.fullmatch(text.strip()) or _is_epigraph(body, at):
        return "note"
    return "text"


def _is_epigraph(body: Sequence[Block], at: int) -> bool:
    """A quotation with the name of who said it, in one paragraph or in two."""
    text = body[at].text
    if _QUOTE_WITH_ATTRIBUTION.fullmatch(text):
        return True
    pairs = [body[at : at + 2], body[at - 1 : at + 1] if at else ()]
    return any(
        _QUOTE.match(pair[0].text) and _ATTRIBUTION.match(pair[1].text) for pair in pairs if len(pair) == 2
    )


def _is_example_title(block: Block) -> bool:
    bare = undecorated(block.lines[0])
    return len(block.lines) == 1 and len(bare.split()) <= 14 and bool(_EXAMPLE_TITLE.fullmatch(bare))


def _end_of_box(body: Sequence[Block], title: int, profile: Profile) -> int:
    """A box has a title and no visible end: it runs while its units, hexes and rolls come up again."""
    end = title + 2
    for at in range(end, len(body)):
        if _is_example_title(body[at]) or at - end > LONGEST_DIGRESSION:
            break
        if re.search(profile.box_goes_on, body[at].text, re.M):
            end = at + 1
    return end


def _end_of_example(body: Sequence[Block], at: int, profile: Profile) -> int:
    while at + 1 < len(body) and re.match(profile.example_goes_on, body[at + 1].text):
        at += 1
    return at + 1


def terms_in(lines: Iterable[tuple[int, str]], profile: Profile, rule: str | None) -> Iterator[GlossaryTerm]:
    """The entries of a glossary; a line that is no entry goes on with the one above, where it can."""
    current: GlossaryTerm | None = None
    last = 0
    for number, line in lines:
        text = line.strip().replace("**", "")
        if not text:
            continue
        entries = [GlossaryTerm(term, meaning, number, rule) for term, meaning in _entries(text, profile)]
        goes_on = number == last + 1 or text[0].islower()
        last = number
        if current and not entries and goes_on:
            current = replace(current, text=f"{current.text} {text}")
            continue
        if current:
            yield current
        yield from entries[:-1]
        current = entries[-1] if entries else None
    if current:
        yield current


def _entries(text: str, profile: Profile) -> list[tuple[str, str]]:
    for pattern in profile.terms:
        if found := list(re.finditer(pattern, text)):
            return [(entry["term"].strip(' *"“”'), entry["text"].strip()) for entry in found]
    return []


class ReferenceTokens:
    """Finds rule numbers in running text: those with a point anywhere, whole ones where words say so."""

    def __init__(self, profile: Profile) -> None:
        self._dotted = re.compile(
            rf"(?<![\w.$/])(?P<number>{profile.reference})(?:[A-Za-z]\b| [a-z]\)|\(\d\))?"
            r"(?!\w|\.\d|\s?(?:MPs?|(?i:movement\s)?points?|hex(?:es)?|mm|inch\w*|miles|yards|km|x)\b|[\"”]\s?x)"
        )
        whole = r"\d{1,2}\b(?!\.\d)"
        listed = rf"\b(?:rules?(?:\s+sections?)?|sections?)\s+{whole}(?:(?:,| ?&|,? and|,? or)\s+{whole})*"
        # A book whose chapters are plain numbers sets them in brackets.
        bracketed = r"|\[[^\]\n]*\]" if profile.numbering == "plain" else ""
        self._places = re.compile(rf"(?i:{listed}){bracketed}")
        self._whole = re.compile(r"(?<![\w.–-])\d{1,2}(?![\w–-]|\.\d)")

    def __call__(self, text: str) -> list[tuple[int, str, str]]:
        """(place, as printed, number), in the order of the text."""
        found = {(match.start(), match[0], match["number"]) for match in self._dotted.finditer(text)}
        for place in self._places.finditer(text):
            for match in self._whole.finditer(text, place.start(), place.end()):
                found.add((match.start(), match[0], match[0]))
        return sorted(found)
