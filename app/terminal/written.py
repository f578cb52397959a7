"""Values on a command line as a case file would have them: numbers, words, mappings, NAME=VALUE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from importers.documents import Problems, read_document, resolved


class Written(click.ParamType[Any]):
    """A value as a case file would have it: a number, true, or {name: MG, fp: 3}."""

    name = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return read_document(value, param.human_readable_name if param else "value").plain()
        except Problems as problems:
            self.fail(str(problems), param, ctx)


class Setting(click.ParamType[tuple[str, str]]):
    """NAME=VALUE, for --policy and --condition; a dot goes into a nested one."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, sign, setting = value.partition("=")
        if not name or not sign or not setting:
            self.fail(f"{value!r} is not of the form NAME=VALUE.", param, ctx)
        return name, setting


def nested(settings: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """night.visibility=2 as {night: {visibility: 2}}."""
    tree: dict[str, Any] = {}
    for name, value in settings:
        *path, last = name.split(".")
        inner = tree
        for key in path:
            inner = inner.setdefault(key, {})
            if not isinstance(inner, dict):
                raise click.UsageError(f"--condition {name}: {key} has a value of its own already.")
        inner[last] = resolved(value)
    return tree
