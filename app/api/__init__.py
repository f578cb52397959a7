"""The JSON API by subject; a module's `api` is an APIBlueprint."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

PREFIX = "/api/v1"


def problems(*statuses: int) -> dict[str | int, type[BaseModel] | dict[Any, Any] | None]:
    """What an operation answers when something is wrong, for its description: RFC 9457."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        str(status): {"description": HTTPStatus(status).phrase, "content": content}
        for status in (*statuses, 500, 503)
    }
