"""What a question takes, as a door shows it: the command line as options, the map page as a form."""

from __future__ import annotations

import dataclasses
import functools
import types
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.referee.rulings import QuestionKind
from importers.questions import names_of

Form = Literal["text", "whole", "number", "flag", "choice", "written"]
"""`choice`: one of some words; `written`: a value as a case file has it, such as {name: MG, fp: 3}."""
FORMS: dict[Any, Form] = {str: "text", int: "whole", bool: "flag", Decimal: "number"}


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a kind of question."""

    name: str
    """Of the field."""
    word: str
    """As case files have it."""
    form: Form
    required: bool
    many: bool = False
    """Whether it takes several values, in order."""
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """What of the position it names: hex, unit, side, map_feature."""
    description: str = ""
    default: Any = None
    rulesets: tuple[str, ...] = ()
    """The games that know it; none: all."""
    instead_of: tuple[str, ...] = ()
    """Words of the arguments of which it takes the place: exactly one of them all is given."""

    @property
    def picked(self) -> bool:
        """Whether it is chosen on the map, by a click on a hex or counter."""
        return "hex" in self.names or "unit" in self.names


def arguments(kind: QuestionKind, ruleset: str | None = None) -> list[Argument]:
    """What a kind of question takes, in order; of one game, without what only others know."""
    return [
        argument
        for argument in form_fields(kind.arguments)
        if ruleset is None or not argument.rulesets or ruleset in argument.rulesets
    ]


@functools.cache
def form_fields(form: type[BaseModel]) -> tuple[Argument, ...]:
    """The fields of any form, in order: of a question, a counter, the conditions of a game."""
    fields = form.model_fields
    one_of = {name: fields[name].alias or name for name in getattr(form, "one_of", ())}
    return tuple(
        dataclasses.replace(
            _argument(name, field),
            instead_of=tuple(word for other, word in one_of.items() if name in one_of and other != name),
        )
        for name, field in fields.items()
    )


def needs_units(kind: QuestionKind) -> bool:
    """Whether it is about a unit, so that a map without any cannot be asked."""
    return any(
        argument.required and "unit" in argument.names and "hex" not in argument.names
        for argument in arguments(kind)
    )


def _argument(name: str, field: FieldInfo) -> Argument:
    form, many, choices = _form(field.annotation)
    names = names_of(field)
    return Argument(
        name=name,
        word=field.alias or name,
        form=form,
        required=field.is_required(),
        many=many,
        choices=choices,
        names=names.what if names else (),
        description=field.description or "",
        default=None if field.is_required() else field.default,
        rulesets=next((extra.rulesets for extra in field.metadata if hasattr(extra, "rulesets")), ()),
    )


def _form(annotation: Any) -> tuple[Form, bool, tuple[str, ...]]:
    """How a field is filled, whether with several values, and the words where it is one of some."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _form(inner[0])
    if origin in (Union, types.UnionType):
        some = [one for one in inner if one is not type(None)]
        return _form(some[0]) if len(some) == 1 else ("written", False, ())
    if origin is Literal and all(isinstance(word, str) for word in inner):
        return "choice", False, inner
    if origin in (list, tuple, set, frozenset):
        form, _, choices = _form(inner[0])
        return form, True, choices
    return FORMS.get(annotation, "written"), False, ()
