"""How a printed page is understood: lines, paragraphs, headings, tables of contents, indexes.

Nothing here knows a game; a `Profile` tells how its numbers and headings look.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from importers.rulebook.model import Span
from importers.rulebook.profiles import Profile

LONGEST_HEADING = 110
MOST_TITLE_WORDS = 16
FEWEST_CONTENTS_ENTRIES = 5
FEWEST_INDEX_ENTRIES = 20

_LOOKALIKES = str.maketrans("lI|O,", "1110.")
_DIGIT = r"[\dlI|O]{1,3}"
_MISREAD = re.compile(rf"(?P<number>[A-Z]?{_DIGIT}(?:[.,]{_DIGIT})+)\.?(?:\s+(?P<title>[\"“(]?[A-Z].*))?")


@dataclass(frozen=True)
class Heading:
    """A numbered heading; a heading for unused sections bears several numbers."""

    line: int
    numbers: tuple[str, ...]
    title: str
    remainder: str = ""
    """What follows the title on the same line."""


@dataclass(frozen=True)
class Block:
    """A paragraph, a list or the rows of a table: lines that stand together."""

    first: int
    lines: tuple[str, ...]

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.lines)

    @property
    def is_table(self) -> bool:
        return is_row(self.lines[0])


def undecorated(line: str) -> str:
    """The line without hashes, asterisks and a closing colon."""
    return re.sub(r"^[#*_\s]+|[*_:\s]+$", "", line)


def is_row(line: str) -> bool:
    """Whether a line is a row of a table: two cells or more."""
    return "\t" in line.strip()


def blocks(numbered: Iterable[tuple[int, str]]) -> list[Block]:
    """Paragraphs: cut at blank lines, at lines left out, and where a table begins or ends."""
    found: list[Block] = []
    run: list[str] = []
    first = 0
    for number, line in numbered:
        goes_on = run and number == first + len(run) and is_row(line) == is_row(run[-1])
        if run and not (goes_on and line.strip()):
            found.append(Block(first, tuple(run)))
            run = []
        if line.strip():
            if not run:
                first = number
            run.append(line)
    if run:
        found.append(Block(first, tuple(run)))
    return found


def spans(placed: Collection[int], what: str, lines: Sequence[str]) -> Iterator[Span]:
    """Line numbers as runs; blank lines between two do not part them."""
    run: list[int] = []
    for number in sorted(placed):
        if run and any(line.strip() for line in lines[run[-1] : number - 1]):
            yield Span(run[0], run[-1], what)
            run = []
        run.append(number)
    if run:
        yield Span(run[0], run[-1], what)


def path_of(number: str, numbering: str) -> tuple[int, ...]:
    """The place of a number in the tree: `7.1.2` is (7, 1, 2), `7.0` where it is a chapter is (7,)."""
    parts = [int(part) for part in re.findall(r"\d+", number)]
    if numbering == "plain" or len(parts) == 1:
        return tuple(parts)
    if parts[1:] == [0]:
        return (parts[0],)
    if numbering == "compact":
        return (parts[0], *_compact_digits(number.split(".")[1]))
    return tuple(parts)


def _compact_digits(fraction: str) -> tuple[int, ...]:
    """`21` is 2, 1; but a rule's parts count from 1, so `10` is the tenth and `101` its first part."""
    head = fraction[:2] if fraction[1:2] == "0" else fraction[:1]
    return (int(head), *(int(digit) for digit in fraction[len(head) :]))


class Headings:
    """Finds the numbered headings of one rulebook."""

    def __init__(self, profile: Profile, lines: Sequence[str]) -> None:
        self.profile = profile
        self.lines = lines
        self._patterns = [re.compile(pattern) for pattern in profile.headings]
        number = profile.number
        self._range = re.compile(rf"(?P<first>{number})\s*[–—-]\s*(?P<last>{number})\s+(?P<title>[A-Z].*)")
        self._entry = re.compile(rf"[#*\s]*(?P<number>{number})\.?\s+\S")
        self._any_number = re.compile(rf"(?<![\w.])(?:{number})\.?\s+[A-Z]")

    def mended(self, number: str) -> str:
        for slip, right in self.profile.mends:
            number = re.sub(slip, right, number)
        return number

    def path(self, number: str) -> tuple[int, ...]:
        return path_of(number, self.profile.numbering)

    @cached_property
    def candidates(self) -> dict[int, Heading]:
        """Every line that has the form of a heading, in the contents too."""
        found = (self._read(number) for number in range(1, len(self.lines) + 1))
        return {heading.line: heading for heading in found if heading}

    def _read(self, number: int) -> Heading | None:
        line = re.sub(r"(?<=\d)\t+(?=\S)", " ", self.lines[number - 1], count=1)
        bare = undecorated(line)
        if not bare or len(bare) > LONGEST_HEADING or "\t" in line or self._is_mid_sentence(number):
            return None
        if run := self._range.fullmatch(bare):
            return self._unused(number, run)
        for pattern in self._patterns:
            if (match := pattern.fullmatch(bare)) and (title := readable_title(match["title"])):
                return Heading(number, (self.mended(match["number"]),), *title)
        return None

    def _is_mid_sentence(self, number: int) -> bool:
        """A wrapped line may begin with the number of a rule it refers to."""
        above = self.lines[number - 2].strip() if number > 1 else ""
        return bool(re.search(r"(?:\b(?:[Ss]ee|[Rr]ules?|[Ss]ections?|and|or|per|in|of|to)|[,(–])$", above))

    def _unused(self, number: int, run: re.Match[str]) -> Heading | None:
        first, last = self.path(run["first"]), self.path(run["last"])
        if len(first) != 1 or len(last) != 1 or not first < last <= (first[0] + 20,):
            return None
        numbers = (run["first"].replace(str(first[0]), str(n), 1) for n in range(first[0], last[0] + 1))
        return Heading(number, tuple(numbers), run["title"])

    def contents(self) -> set[int]:
        """Lines of tables of contents: entries close together, whose numbers come up elsewhere too."""
        found: set[int] = set()
        for run in dense_runs(self.lines, self._is_contents_line, gap=2, longest_gap_line=60):
            run = self._without_first_chapter(run)
            numbers = {number for line in run if (number := self._entry_number(line))}
            elsewhere = self._numbers_outside(found.union(run))
            dense = sum(map(self._is_contents_line, run)) * 3 >= len(run) * 2
            if dense and FEWEST_CONTENTS_ENTRIES <= len(numbers) <= 2 * len(numbers & elsewhere):
                found.update(run)
        return found

    def _entry_number(self, number: int) -> str | None:
        match = self._entry.match(self.lines[number - 1])
        return self.mended(match["number"]) if match else None

    def _is_contents_line(self, number: int) -> bool:
        line = self.lines[number - 1]
        if re.fullmatch(r"(?i)(?:table of )?contents", undecorated(line)):
            return True
        if re.search(r"\t[^\t]{0,12}$|\.{3,}\s*\d*$", line) or len(self._any_number.findall(line)) > 2:
            return True
        return self._entry_number(number) is not None and len(line) <= LONGEST_HEADING

    def _numbers_outside(self, run: Collection[int]) -> set[str]:
        within = set(run)
        return {n for line, head in self.candidates.items() if line not in within for n in head.numbers}

    def _without_first_chapter(self, run: list[int]) -> list[int]:
        """The heading that opens the first chapter follows its contents; it stands twice, or nowhere else."""
        outside = self._numbers_outside(run)
        listed = Counter(map(self._entry_number, run))
        end = len(run)
        while end and (number := self._entry_number(run[end - 1])):
            if listed[number] == 1 and number in outside:
                break
            listed[number] -= 1
            outside.add(number)
            end -= 1
        return run[:end]

    def contents_titles(self, contents: Collection[int]) -> dict[str, str]:
        """What the contents list; a crowded line holds many entries."""
        number = self.profile.number
        entry = re.compile(
            rf"(?<![\w.])({number})\.?\s+([^\t]+?)(?=[\s.]*(?:\t|\.{{2,}}|$|\s{number}\.?\s+[A-Z]))"
        )
        titles: dict[str, str] = {}
        for line in sorted(contents):
            for printed, title in entry.findall(self.lines[line - 1]):
                titles.setdefault(self.mended(printed), title.strip(" .*"))
        return titles

    def index(self, taken: Collection[int]) -> set[int]:
        """Lines of an index: short, most of them closing with rule numbers."""
        number = self.profile.number
        closing = re.compile(rf"\S\W+(?:(?:{number})[a-z]?|pp?\.\s?\d[\d–-]*)\**(?: box)?$")

        def is_entry(line: int) -> bool:
            text = self.lines[line - 1].strip()
            return line not in taken and len(text) <= 70 and bool(closing.search(text))

        found: set[int] = set()
        for run in dense_runs(self.lines, is_entry, gap=3, longest_gap_line=60, walls=self.candidates):
            if sum(map(is_entry, run)) >= FEWEST_INDEX_ENTRIES:
                found.update(run)
        return found - set(taken)

    def misread(
        self, taken: Collection[int], known: dict[int, Heading], titles: dict[str, str]
    ) -> Iterator[Heading]:
        """Headings with a slip in the number or without a title, where only they can fill the gap."""
        paths = {self.path(number) for head in known.values() for number in head.numbers}
        order = sorted(known)
        before: Heading | None = None
        for line, text in enumerate(self.lines, 1):
            before = known.get(line, before)
            bare = undecorated(text)
            if line in taken or line in known or len(bare) > LONGEST_HEADING or self._is_mid_sentence(line):
                continue
            if match := _MISREAD.fullmatch(bare):
                number = self.mended(match["number"].translate(_LOOKALIKES))
                title = match["title"] or titles.get(number, "")
                after = known[order[at]] if (at := bisect(order, line)) < len(order) else None
                if re.fullmatch(self.profile.number, number) and self._fills_gap(
                    number, before, after, paths
                ):
                    paths.add(self.path(number))
                    before = Heading(line, (number,), *(readable_title(title) or ("", "")))
                    yield before

    def _fills_gap(
        self, number: str, before: Heading | None, after: Heading | None, paths: Collection[tuple[int, ...]]
    ) -> bool:
        """Whether the number is missing, and would stand in order between its neighbours on the page."""
        path = self.path(number)
        elder = (*path[:-1], path[-1] - 1)
        return (
            path not in paths
            and (path[-1] == 1 or elder in paths)
            and before is not None
            and self.path(before.numbers[-1]) < path
            and (after is None or path < self.path(after.numbers[0]))
        )


def readable_title(title: str) -> tuple[str, str] | None:
    """Title and what follows it on the line; None where the words are no title."""
    title = title.replace("**", "").strip()
    if run_in := re.fullmatch(r"(.*[a-z]{3,})\.\s+([A-Z].*)", title):
        title, remainder = run_in[1], run_in[2]
    else:
        remainder = ""
    if title.endswith((",", ";", "(", "–")) or len(title.split()) > MOST_TITLE_WORDS:
        return None
    return title.rstrip(".: "), remainder


def dense_runs(
    lines: Sequence[str],
    belongs: Callable[[int], bool],
    *,
    gap: int,
    longest_gap_line: int,
    walls: Collection[int] = (),
) -> Iterator[list[int]]:
    """Runs of lines that belong together, blank lines aside, with a few short strangers among them."""
    run: list[int] = []
    strangers: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if number not in walls and belongs(number):
            run += [*strangers, number] if run else [number]
            strangers = []
        elif run:
            strangers.append(number)
            if number in walls or len(strangers) > gap or len(line.strip()) > longest_gap_line:
                yield run
                run, strangers = [], []
    if run:
        yield run
