"""A ruling in words, the same at every door: the question, the verdict, each step, what is contested, what is needed.

Each kind of question has a sentence of its own for its verdict (`QuestionKind.verdict`, beside the
keys of its answer), made of the turns of phrase that are here. What a sentence only counts, since
it would be a long list, is told below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from db.rulesets import ContestedPoint, read_ruleset

if TYPE_CHECKING:
    from app.referee.rulings import Need, Ruling, Step

LISTED = 12
"""Members of an answer that stand in the verdict itself; longer lists are counted there and told below it."""
NEEDED = 3
"""Needs that the verdict names where there is no answer for them; the rest are counted, and all are told below it."""
DECIDES = {True: "another reading would change the answer", False: "the answer stands either way"}
"""What a contested point does to a ruling."""


def asked(ruling: Ruling) -> str:
    """The question in a line."""
    told = ", ".join(arguments_in_words(ruling.question[ruling.kind]))
    return f"{ruling.kind} {told}".strip()


def verdict(ruling: Ruling) -> str:
    """The answer as a sentence: that of its kind.

    A kept ruling whose kind is gone, or had another answer or proof when it was kept, is told key by key.
    """
    kind = ruling.question_kind
    if kind is not None:
        try:
            return kind.verdict(ruling)
        except LookupError:
            pass
    return answer_in_words(ruling.answer, LISTED)


def lists(ruling: Ruling) -> dict[str, str]:
    """What the verdict only counts: each list by its name."""
    return {
        key.replace("_", " "): in_words(value)
        for key, value in ruling.answer.items()
        if is_long(value, LISTED)
    }


class StepWords(NamedTuple):
    """A step of a proof in words, in the order in which they are read."""

    cites: str
    """The rule, with its lettered clause."""
    place: str
    effect: str
    note: str

    def __str__(self) -> str:
        where = f" at {self.place}" if self.place else ""
        return f"{self.cites}{where}: {self.effect}: {self.note}"


def step_in_words(step: Step) -> StepWords:
    """A step of a proof: the rule with its clause, at which place, to what effect, and why."""
    cites = f"{step.rule} {step.clause}" if step.clause else step.rule
    return StepWords(cites, step.at or "", str(step.effect), step.note)


class PointWords(NamedTuple):
    """A contested point that a ruling touches, in words."""

    id: str
    title: str
    """Empty of a point that this version no longer has."""
    reading: str
    """How it was read: the letter, and what that reading is called."""
    effect: str
    """Whether another reading would change the answer."""
    house_rule: int | None = None
    """The house rule that chose the reading."""

    def __str__(self) -> str:
        title = f" ({self.title})" if self.title else ""
        by = f" by house rule {self.house_rule}" if self.house_rule else ""
        return f"contested {self.id}{title}, read as {self.reading}{by}: {self.effect}"


def point_in_words(ruleset: str, touched: Mapping[str, Any]) -> PointWords:
    """A contested point that a ruling touches, given as the ruling has it."""
    point = contested_point(ruleset, touched["point"])
    letter = touched["reading"]
    reading = point.readings.get(letter) if point else None
    return PointWords(
        touched["point"],
        point.title if point else "",
        f"{letter} ({reading.title})" if reading else letter,
        DECIDES[touched["decides"]],
        touched.get("house_rule"),
    )


def contested_point(ruleset: str, id: str) -> ContestedPoint | None:
    """A contested point by its id; a later version may no longer have it."""
    return next((point for point in read_ruleset(ruleset).contested if point.id == id), None)


class ErratumWords(NamedTuple):
    """An erratum or a house rule on a rule that a ruling applies, in words."""

    id: int
    kind: str
    rule: str
    cites: str
    """The rule, with its lettered clause."""
    effect: str
    source: str
    since: str
    chooses: str
    """The reading that a house rule chose: css-12 as a; empty where it chooses none."""

    def __str__(self) -> str:
        chooses = f"; reads {self.chooses}" if self.chooses else ""
        return f"{self.kind} {self.id} to {self.cites}: {self.effect} ({self.source}, since {self.since}{chooses})"


def erratum_in_words(entry: Mapping[str, Any]) -> ErratumWords:
    """An erratum or a house rule, given as a ruling has it."""
    clause, point = entry.get("clause"), entry.get("point")
    return ErratumWords(
        entry["id"],
        entry["kind"].replace("_", " "),
        entry["rule"],
        f"{entry['rule']} {clause}" if clause else entry["rule"],
        entry["effect"],
        entry["source"],
        entry["since"],
        f"{point} as {entry['reading']}" if point else "",
    )


UNPRINTED = "the rulebook does not print"
UNSAID = "the file does not say"


class NeedWords(NamedTuple):
    """What an answer waits for, in words."""

    what: str
    rule: str
    chart: str = ""
    """The chart that it stands in, where an owner can fill one."""
    fill: str = ""
    """The command that begins to fill it."""
    why: str = ""
    """Who does not tell it: the rulebook, or the file."""

    def __str__(self) -> str:
        where = f"; it stands in the chart {self.chart}: {self.fill}" if self.chart else ""
        return f"needs {self.what} (rule {self.rule}), which {self.why}{where}"


def need_in_words(ruling: Ruling, need: Need) -> NeedWords:
    """What an answer waits for, and where it would stand."""
    chart = ruling.fills(need)
    # a chart without rows can be filled by nobody; it is unprinted all the same
    unprinted = chart or need.what in read_ruleset(ruling.ruleset).charts or "printed" in need.what
    why = UNPRINTED if unprinted else UNSAID
    return NeedWords(need.what, need.rule, chart.get("table", ""), chart.get("fill", ""), why)


def needs_in_words(needs: Sequence[Need], most: int = NEEDED) -> str:
    """What is needed, as a verdict ends: the first of it by name."""
    named = [need.cited for need in needs[:most]]
    more = len(needs) - len(named)
    return f"needs {series([*named, f'{more} more'] if more else named)}"


def arguments_in_words(arguments: Mapping[str, Any]) -> list[str]:
    """What a question was asked of, an argument each; what holds or not is told as such."""
    told = {
        name: ("yes" if value else "no") if isinstance(value, bool) else value
        for name, value in arguments.items()
    }
    return [f"{name} {in_words(value)}" for name, value in told.items()]


# Turns of phrase that sentences are made of.


def clauses(*said: str | None) -> str:
    """Parts of a sentence; what has nothing to say is left out."""
    return "; ".join(part for part in said if part)


def not_known(what: str, ruling: Ruling, *said: str | None) -> str:
    """That something cannot be told, and what it would take."""
    return clauses(
        f"It is not known whether {what}", *said, needs_in_words(ruling.needs) if ruling.needs else None
    )


def rest_unknown(ruling: Ruling) -> str | None:
    """What remains untold beside an answer that stands, where something does."""
    return f"not all is known: {needs_in_words(ruling.needs, 1)}" if ruling.needs else None


def series(items: Iterable[Any]) -> str:
    """Several things in a row: a, b and c."""
    told = [in_words(item) for item in items]
    if len(told) < 2:
        return "".join(told)
    return f"{', '.join(told[:-1])} and {told[-1]}"


def counted(count: int | Decimal, noun: str) -> str:
    """A number of things: 1 hex, 2 hexes, no hex."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun}{'es' if noun.endswith('x') else 's'}" if count else f"no {noun}"


def in_points(count: int | Decimal) -> str:
    """Movement points: 0 points, 0.5 points, 1 point."""
    return f"{count} point{'' if count == 1 else 's'}"


def members(found: Sequence[Any], noun: str, within: str = "") -> str:
    """How many there are, and which where they are few: 2 hexes within range 3: A2, A3."""
    how_many = f"{counted(len(found), noun)} {within}".strip()
    return how_many if not found or is_long(found, LISTED) else f"{how_many}: {in_words(found)}"


# Any answer, key by key.


VERDICTS = {"visible", "legal", "allowed", "open", "in_command", "fortified", "mixed"}
"""Keys that are the verdict, or a good part of it: null where something is wanting."""


def mood(answer: Mapping[str, Any], needs: Sequence[Any] | None = None) -> str:
    """Whether an answer is a yes, a no, open for want of something, or neither: for its colour, and to look for.

    Where it is known that nothing is wanting (`needs` is empty), nothing told is an answer, such as no worst hex of
    a way, but for a key that is the verdict itself.
    """
    unknown = {key for key, value in answer.items() if value is None}
    if unknown and (needs != [] or unknown & VERDICTS):
        return "open"
    told = next((value for value in answer.values() if isinstance(value, bool)), None)
    return "plain" if told is None else "yes" if told else "no"


def answer_in_words(answer: Mapping[str, Any], longest: int | None = None) -> str:
    """An answer in a line; what has more members than `longest` is counted, not listed.

    A list that is empty goes without saying where something else is said: visible, blocked by none.
    """
    telling = {key: value for key, value in answer.items() if not _is_empty(value)} or answer
    return "; ".join(_said(key, value, longest) for key, value in telling.items())


def _is_empty(value: Any) -> bool:
    """Whether a list has no members, or a table nothing but such lists."""
    return isinstance(value, dict | list) and all(
        map(_is_empty, value.values() if isinstance(value, dict) else value)
    )


def _said(key: str, value: Any, longest: int | None) -> str:
    words = "because" if key == "why" else key.replace("_", " ")
    if value is True:
        return words
    if value is False:
        return f"not {words}"
    if value is None:
        return f"{words}: not known"
    if longest is not None and is_long(value, longest):
        return f"{words}: {len(value)} in all"
    return f"{words} {in_words(value)}"


def is_long(value: Any, longest: int) -> bool:
    """Whether a value has more members than this, those of its lists counted."""

    def members(part: Any) -> int:
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list | tuple) else ()
        return max(1, sum(map(members, inner)))

    return members(value) > longest


def in_words(value: Any) -> str:
    """A value of a question or an answer, as text."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {in_words(item)}" for name, item in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(in_words(item) for item in value) or "none"
    return str(value)
