"""Counters that explain themselves: every number by its name and rule, every marker by its rule, and what it can be asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from app.drawing import counter, describe, marker
from app.referee.arguments import arguments
from app.referee.questions import kinds_of
from app.referee.rulings import QuestionKind
from app.web.address import View
from db.counters import Unit
from db.labels import Axial
from db.position_draft import MarkerDraft, PositionDraft
from db.rulesets import printed

TOOLS = 6
"""Offered with a counter; the others are beside the map."""


def standing(position: PositionDraft, place: Axial, shown: View) -> list[dict[str, Any]]:
    """The counters in a hex, the top one first, each explained."""
    here = [(code, unit) for code, (unit, at) in position.units.items() if at == place]
    return [
        {
            "id": code,
            "words": describe(unit),
            "picture": counter(unit, position.ruleset),
            "values": list(values(unit, position.ruleset)),
            "tools": list(_tools(code, shown)),
        }
        for code, unit in reversed(here)
    ]


def lying(position: PositionDraft, place: Axial) -> list[dict[str, Any]]:
    """The markers in a hex, each with its rule."""
    rules = printed(position.ruleset).markers
    return [
        {
            "words": marker_words(draft),
            "rule": rules[draft.kind],
            "picture": marker(draft.kind, draft.value, draft.facing),
        }
        for draft in position.markers
        if draft.at == place
    ]


def values(unit: Unit, ruleset: str) -> Iterator[dict[str, str]]:
    """What a counter says: the name of each number or word in the game, what it is, and the rule that speaks of it."""
    said = unit.model_dump(exclude_defaults=True)
    # what the side does not know is not told: a Japanese counter of ddp before it is revealed
    if getattr(unit, "side", None) == "japan" and getattr(unit, "revealed", True) is False:
        said = {name: value for name, value in said.items() if name in ("revealed",)}
    for name, value in printed(ruleset).values.items():
        if name in said and said[name] is not None:
            yield {"name": value.name, "value": in_words(said[name]), "rule": value.rule}


def in_words(value: Any) -> str:
    """A value of a counter as people say it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        told = (
            f"{name.replace('_', ' ')} {in_words(part)}" for name, part in value.items() if part is not None
        )
        return ", ".join(told)
    if isinstance(value, tuple | list):
        return " / ".join(in_words(one) for one in value)
    if isinstance(value, Decimal):
        whole, half = divmod(value, 1)
        return f"{int(whole) or ''}½" if half else str(int(whole))
    return (
        str(value).replace("_", " ").replace("-", "−")
        if isinstance(value, int)
        else str(value).replace("_", " ")
    )


def marker_words(draft: MarkerDraft) -> str:
    """A marker in words: its kind, its number, the way it looks, what else it says."""
    told = [draft.kind.replace("_", " ")]
    told += [] if draft.value is None else [str(draft.value)]
    told += [] if draft.facing is None else [f"side {draft.facing}"]
    told += [
        key.replace("_", " ") if value is True else f"{key} {value}"
        for key, value in draft.attributes.items()
    ]
    return " ".join(told)


def _tools(code: str, shown: View) -> Iterator[dict[str, str]]:
    """Questions that this counter alone answers: those that want one unit and nothing else."""
    kinds = kinds_of(shown.board.ruleset)
    fitting = [(name, word) for name, kind in kinds.items() if (word := _one_unit(kind, shown.board.ruleset))]
    for name, word in fitting[:TOOLS]:
        given = dict.fromkeys(shown.given) | {word: code}
        yield {"title": kinds[name].title, "address": shown.address(**given, tool=name, look=None)}


def _one_unit(kind: QuestionKind, ruleset: str) -> str | None:
    """The argument that takes a unit, of a question about a still position that wants nothing else."""
    takes = arguments(kind, ruleset)
    wanted = [argument for argument in takes if argument.required] or [
        argument for argument in takes if argument.instead_of
    ][:1]
    fits = kind.draws is not None and len(wanted) == 1 and "unit" in wanted[0].names and not wanted[0].many
    return wanted[0].word if fits else None
