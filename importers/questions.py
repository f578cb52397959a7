"""Questions as documents have them: kind and arguments, every name checked against who and what is there."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Collection, Mapping
from decimal import Decimal
from types import UnionType
from typing import Any, Protocol, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from db.counters import CONDITIONS
from db.labels import HEX, UNIT, Axial, LabelError, nearest, unprefixed
from db.map_draft import MapDraft
from db.rulesets import read_ruleset
from importers.documents import Node, Problems
from importers.forms import fill
from importers.map_reading import read_hex

ASK_KEYS = ("id", "expect", "policy", "conditions")


@dataclasses.dataclass
class Question:
    """One item of `ask`."""

    kind: str
    arguments: BaseModel
    asked: dict[str, Any]
    """Kind and arguments, each place by the label or id it has."""
    at: Node
    """Where it stands in the file."""
    id: str | None = None
    expect: dict[str, Any] | None = None
    policy: dict[str, str] = dataclasses.field(default_factory=dict)
    conditions: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Names:
    """A field of a question's arguments that names something of the position: what kinds of thing."""

    what: tuple[str, ...]
    """Of: hex, unit, side, map_feature."""


class Roster(Protocol):
    """Who and what a question can name: a draft's units and hexes, or a saved position's."""

    ruleset: str
    board: MapDraft

    def is_unit(self, code: str) -> bool: ...

    def standing(self, code: str) -> Axial | None:
        """The hex of a unit, or its beach on the way ashore; None off the map."""

    def codes(self) -> Collection[str]:
        """All units, for a good word on one that is not there."""


@dataclasses.dataclass(frozen=True)
class Nowhere:
    """In the place of a roster where the position cannot be read: names are then not looked up."""

    ruleset: str


class Kinds(dict[str, type[BaseModel]]):
    """What the questions of a game take, by name; and of those that only other games have, why."""

    def __init__(
        self, forms: Mapping[str, type[BaseModel]], lacking: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(forms)
        self.lacking = dict(lacking or {})


def read_questions(
    node: Node | None, roster: Roster | Nowhere, kinds: Kinds, problems: Problems
) -> list[Question]:
    if node is None:
        return []
    items = node.items(problems)
    if not items:
        problems.add(node, "there is no question")
    return [
        question for item in items if (question := read_question(item, roster, kinds, problems)) is not None
    ]


def read_question(item: Node, roster: Roster | Nowhere, kinds: Kinds, problems: Problems) -> Question | None:
    if not isinstance(item.value, dict):
        problems.add(item, f"expected a question, found {item.kind}")
        return None
    named_kinds = [key for key in item.value if key not in ASK_KEYS]
    if len(named_kinds) != 1:
        problems.add(item, f"an item of ask holds exactly one question, not {len(named_kinds)}")
        return None
    kind = named_kinds[0]
    node = item.value[kind]
    if kind in kinds.lacking:
        problems.add(node, f"{roster.ruleset} has no question {kind!r}: {kinds.lacking[kind]}")
        return None
    if kind not in kinds:
        problems.add(
            node,
            f"{roster.ruleset} has no question {kind!r}; it answers {', '.join(sorted(kinds))}",
            functools.partial(nearest, kind, kinds),
        )
        return None
    arguments = fill(kinds[kind], node, problems)
    named = {} if isinstance(roster, Nowhere) else _read_names(kinds[kind], node, roster, problems)
    if arguments is not None:
        for name, value in named.items():
            # a form may take one name where it wants a list
            if isinstance(getattr(arguments, name), list) and isinstance(value, str):
                named[name] = [value]
        arguments = None if None in named.values() else arguments.model_copy(update=named)
    extras = {key: item.value[key] for key in ASK_KEYS if key in item.value}
    id = extras["id"].string(problems) if "id" in extras else None
    expect = extras["expect"].mapping(problems) if "expect" in extras else None
    policy = read_policy(extras["policy"], roster.ruleset, problems) if "policy" in extras else {}
    conditions = {}
    if "conditions" in extras:
        conditions = read_conditions(extras["conditions"], roster.ruleset, problems)
    if arguments is None:
        return None
    return Question(
        kind,
        arguments,
        {kind: arguments_told(arguments)},
        item,
        id,
        None if expect is None else {key: _expected(value) for key, value in expect.items()},
        policy,
        conditions,
    )


def arguments_told(arguments: BaseModel) -> dict[str, Any]:
    """What a question says; dice, draws and choices that nobody has told are not said."""
    untold = {
        name
        for name in type(arguments).model_fields
        if name not in arguments.model_fields_set
        and (isinstance(value := getattr(arguments, name), BaseModel) or value in ([], {}))
    }
    return arguments.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=untold)


def read_conditions(node: Node, ruleset: str, problems: Problems) -> dict[str, Any]:
    form = fill(CONDITIONS[ruleset], node, problems)
    return form.model_dump(mode="json", exclude_unset=True) if form is not None else {}


def read_policy(node: Node, ruleset: str, problems: Problems) -> dict[str, str]:
    points = {point.id: point for point in read_ruleset(ruleset).contested}
    policy: dict[str, str] = {}
    for point, chosen in node.mapping(problems).items():
        if point not in points:
            problems.add(
                chosen, f"unknown contested point {point!r}", functools.partial(nearest, point, points)
            )
            continue
        letter = chosen.word(problems, f"reading of {point}", list(points[point].readings))
        if letter is not None:
            policy[point] = letter
    return policy


def _expected(node: Node) -> Any:
    """An expected value; a number with a zero at its end may be a label, and stays as written."""
    if isinstance(node.value, dict):
        return {key: _expected(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [_expected(child) for child in node.value]
    if isinstance(node.value, Decimal) and str(node.value.normalize()) != node.text:
        node.value = node.text
    return node.value


def _read_names(form: type[BaseModel], node: Node, roster: Roster, problems: Problems) -> dict[str, Any]:
    """Every hex, unit and side that a question names must be there: each by the name it has."""
    wrong = {problem.place for problem in problems.found if problem.file == node.file}
    read: dict[str, Any] = {}
    for name, field in form.model_fields.items():
        names = names_of(field)
        given = node.get(field.alias or name)
        if names is None or given is None or given.value is None or given.place in wrong:
            continue
        if isinstance(given.value, list):
            read[name] = [_read_name(item, names, roster, problems) for item in given.value]
        else:
            read[name] = _read_name(given, names, roster, problems)
    return read


def names_of(field: FieldInfo) -> Names | None:
    """What a field of a question's arguments names, if anything; also one that may be left out (`Place | None`)."""
    members = get_args(field.annotation) if get_origin(field.annotation) in (Union, UnionType) else ()
    extras = [
        *field.metadata,
        *(extra for member in members for extra in getattr(member, "__metadata__", ())),
    ]
    return next((extra for extra in extras if isinstance(extra, Names) and extra.what), None)


def _read_name(node: Node, names: Names, roster: Roster, problems: Problems) -> str | None:
    """A name as rulings have it; a word that is a unit and a hex is never guessed."""
    text = node.string(problems)
    if text is None:
        return None
    prefix, word = unprefixed(text)
    if prefix is not None and prefix.removesuffix(":") not in names.what:
        problems.add(node, f"{text!r}: expected {_listed(names.what)}")
        return None
    if word in getattr(roster, "unread", ()):
        return word
    # what can be only one of them is told without a prefix: nobody who is asked expects any
    either = "unit" in names.what and "hex" in names.what
    is_unit = "unit" in names.what and prefix != HEX and roster.is_unit(word)
    label = _label(word, roster) if "hex" in names.what and prefix != UNIT else None
    if is_unit and label is not None:
        problems.add(node, f"{word!r} is a unit and a hex here; write {UNIT}{word} or {HEX}{word}")
        return None
    if is_unit:
        if "hex" in names.what and roster.standing(word) is None:
            problems.add(node, f"the unit {word!r} is not on the map")
        return f"{UNIT}{word}" if either and _label(word, roster) is not None else word
    if label is not None:
        return f"{HEX}{label}" if either and roster.is_unit(label) else label
    if "map_feature" in names.what and _is_feature(word, roster):
        return word
    if "side" in names.what and word in read_ruleset(roster.ruleset).facts.sides:
        return word
    if "hex" in names.what and prefix is None and (label := _only_hex(word, roster)) is not None:
        return f"{HEX}{label}" if either and roster.is_unit(label) else label
    if "hex" in names.what and prefix != UNIT:
        _missing_place(node, word, names, roster, problems)
        return None
    _missing_name(node, word, names, roster, problems)
    return None


def _is_feature(word: str, roster: Roster) -> bool:
    """Whether a word names a marked place, or one of the hexes of a position group by its ID (ddp 2.1)."""
    places = roster.board.features
    return word in places or any(
        word in (place.attributes.get("ids") or {}).values() for place in places.values()
    )


def _only_hex(word: str, roster: Roster) -> str | None:
    """The hex of a marked place that has one alone, or of one hex of a position group by its ID (ddp 2.1)."""
    for code, place in roster.board.features.items():
        ids = place.attributes.get("ids") or {}
        if (label := next((at for at, id in ids.items() if id == word), None)) is not None:
            return str(label)
        if code == word and len(place.at) == 1:
            return roster.board.scheme.label(next(iter(place.at)))
    return None


def _label(word: str, roster: Roster) -> str | None:
    """The label of the hex that a word names, if it names one of this map."""
    scheme = roster.board.scheme
    try:
        place = scheme.hex(word)
    except LabelError:
        return None
    return scheme.label(place) if place in roster.board.hexes else None


def _missing_name(node: Node, word: str, names: Names, roster: Roster, problems: Problems) -> None:
    """Nothing has this name: tell what was looked for, and what is called almost so."""
    known: dict[str, Collection[str]] = {
        "unit": roster.codes(),
        "map_feature": list(roster.board.features),
        "side": list(read_ruleset(roster.ruleset).facts.sides),
    }
    words = [one for what in names.what for one in known.get(what, ())]
    what = _listed(tuple(what for what in names.what if what in known))
    problems.add(node, f"there is no {what} {word!r}", functools.partial(nearest, word, words))


def _missing_place(node: Node, word: str, names: Names, roster: Roster, problems: Problems) -> None:
    """No hex has this label; a unit with a name like it may have been meant."""
    alike = nearest(word, roster.codes(), 1) if "unit" in names.what else []
    if alike:
        problems.add(node, f"there is no hex or unit {word!r}", lambda: alike)
    else:
        read_hex(node.spelled(word), roster.board, problems)


def _listed(what: tuple[str, ...]) -> str:
    return " or ".join(one.replace("_", " ") for one in what)
