"""Filling a pydantic form from a document, each mistake told at its line with the nearest word."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from db.labels import nearest
from importers.documents import Node, Problems

Form = TypeVar("Form", bound=BaseModel)
EXPECTED = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "string_type": "a word",
}
"""Mistakes about what a value is, in the words of a document."""


def fill(form: type[Form], node: Node, problems: Problems) -> Form | None:
    """The form as the document fills it, or nothing and a problem for every mistake."""
    if not isinstance(node.value, dict):
        problems.add(node, f"expected a mapping, found {node.kind}")
        return None
    try:
        return form.model_validate(_written(node))
    except ValidationError as error:
        for mistake in error.errors():
            _tell(form, node, mistake, problems)
        return None


def _written(node: Node) -> Any:
    """The tree as Python values, a decimal number as it is written: 22.80 may be a label."""
    if isinstance(node.value, dict):
        return {key: _written(child) for key, child in node.value.items()}
    if isinstance(node.value, list):
        return [_written(child) for child in node.value]
    return node.text if isinstance(node.value, Decimal) else node.value


def _tell(form: type[BaseModel], node: Node, mistake: Any, problems: Problems) -> None:
    path = [part for part in mistake["loc"] if not isinstance(part, str) or not part.startswith("function-")]
    at = node.at(path)
    if mistake["type"] == "extra_forbidden":
        known = _keys(form, path[:-1])
        problems.add(at, f"unknown key {path[-1]!r}", functools.partial(nearest, str(path[-1]), known))
    elif mistake["type"] == "literal_error":
        known = [word.strip("' ") for word in mistake["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        problems.add(
            at,
            f"{at.text!r} is not one of {', '.join(known)}",
            functools.partial(nearest, str(at.text), known),
        )
    elif mistake["type"] == "missing":
        problems.add(at, f"{path[-1]} is missing")
    elif mistake["type"] in EXPECTED:
        problems.add(at, f"expected {EXPECTED[mistake['type']]}, found {at.kind}")
    else:
        message = str(mistake["msg"]).removeprefix("Value error, ")
        problems.add(at, f"{message[0].lower()}{message[1:]}")


def _keys(form: Any, path: Iterable[Any]) -> list[str]:
    """The keys a form, or the form nested in it at a path, knows."""
    for part in path:
        fields = getattr(form, "model_fields", {})
        if part not in fields:
            continue
        annotation = fields[part].annotation
        nested = [kind for kind in (annotation, *get_args(annotation)) if hasattr(kind, "model_fields")]
        form = nested[0] if nested else form
    return [field.alias or name for name, field in getattr(form, "model_fields", {}).items()]
