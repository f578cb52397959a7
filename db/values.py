"""Values as JSON has them: plain numbers for programs, and one text for equal values."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any


def plain(value: Any) -> Any:
    """Numbers as JSON has them: a Decimal that is whole becomes an integer."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def to_json(value: Any, *, indent: int | None = 2) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, default=plain)


def exact(value: Any) -> Any:
    """Plain JSON values: whole Decimals as integers, others as numbers."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [exact(item) for item in value]
    return plain(value) if isinstance(value, Decimal) else value


def canonical(value: Any) -> str:
    """One JSON text for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_canonical)


def _canonical(value: Any) -> Any:
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
