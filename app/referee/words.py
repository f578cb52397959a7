"""Questions and answers in words, the same at every door."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.referee.rulings import Ruling


def asked(ruling: Ruling) -> str:
    """The question in a line."""
    told = ", ".join(arguments_in_words(ruling.question[ruling.kind]))
    return f"{ruling.kind} {told}".strip()


def verdict(ruling: Ruling) -> str:
    """The answer in a line."""
    return answer_in_words(ruling.answer)


def arguments_in_words(arguments: Mapping[str, Any]) -> list[str]:
    """What a question was asked of, an argument each."""
    return [f"{name} {in_words(value)}" for name, value in arguments.items()]


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
