"""The JSON API by subject; a module's `api` is an APIBlueprint."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

PREFIX = "/api/v1"


def problems(*statuses: int) -> dict[str | int, type[BaseModel] | dict[Any, Any] | None]:
    """The errors that an operation is known to answer, for its description; `app.web.site` adds their form."""
    return {str(status): {"description": HTTPStatus(status).phrase} for status in statuses}
