"""The forms of a campaign file: what an archivist may write, checked field by field."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from db.archive import ACCOUNT_KINDS, CERTAINTIES, ENTRY_KINDS, KEY, RELIABILITIES
from importers.archive.times import read_when, read_zone

NAME = r"^[a-z0-9][a-z0-9_-]*$"
LONGEST = 20_000
MOST = 2_000_000_000


def _text(value: Any) -> Any:
    """A number that stands where text is expected: page 79, force 38."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _numbers(value: Any) -> Any:
    """5000-6000, [5000, 6000] or 350 as least and most."""
    if isinstance(value, str) and (found := re.fullmatch(r"\s*(\d+)\s*(?:[-–]\s*(\d+)\s*)?", value)):
        value = [int(found[1]), int(found[2] or found[1])]
    elif isinstance(value, int) and not isinstance(value, bool):
        value = [value, value]
    if not (isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)):
        raise ValueError(f"{value!r} is no number; write 350, or 5000-6000 for between")
    if not 0 <= value[0] <= value[1] <= MOST:
        raise ValueError(f"{value[0]}-{value[1]}: the least comes first, and neither is below 0")
    return value


def _one_of(words: tuple[str, ...], what: str) -> BeforeValidator:
    def check(value: Any) -> Any:
        if value not in words:
            raise ValueError(f"{value!r} is no {what}; there are {', '.join(words)}")
        return value

    return BeforeValidator(check)


Text = Annotated[str, BeforeValidator(_text), Field(max_length=LONGEST)]
Key = Annotated[str, BeforeValidator(_text), Field(pattern=KEY, max_length=200)]
Numbers = Annotated[list[int], BeforeValidator(_numbers)]


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid")


class AccountForm(_Form):
    """A source."""

    author: Text = ""
    title: Text
    year: int | None = Field(None, ge=1, le=2200, strict=True)
    publisher: Text = ""
    kind: Annotated[str, _one_of(ACCOUNT_KINDS, "kind of account")] = "book"
    reliability: Annotated[str, _one_of(RELIABILITIES, "reliability")] = "unknown"
    url: Text = ""
    note: Text = ""
    why: Text = ""

    @field_validator("url")
    @classmethod
    def _is_web(cls, url: str) -> str:
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("an address begins with https:// or http://")
        return url


class UnderForm(_Form):
    """Under whom a force stood."""

    force: Key
    account: Key
    page: Text = ""
    when: Text | None = None


class ForceForm(_Form):
    """Somebody who takes part."""

    name: Text
    side: Annotated[str, Field(pattern=NAME)]
    kind: Text = ""
    note: Text = ""
    why: Text = ""
    counters: dict[str, dict[str, Any]] = {}
    under: list[UnderForm] = []

    @field_validator("under", mode="before")
    @classmethod
    def _one_or_more(cls, value: Any) -> Any:
        return [value] if isinstance(value, dict) else value


class InvolvedForm(_Form):
    """A force in an entry."""

    force: Key
    role: Text = ""
    strength: Numbers | None = None
    losses: Numbers | None = None
    killed: Numbers | None = None
    wounded: Numbers | None = None
    missing: Numbers | None = None

    def as_kept(self) -> dict[str, Any]:
        """As `entry.involved` has it: what is not told is not there."""
        return {key: value for key, value in self.model_dump().items() if value not in (None, "")}


class _PlacedForm(_Form):
    """When and where; the place as `importers.archive.places` reads it."""

    when: Text
    at: Any = None
    place: Text = ""
    uncertainty: int | None = Field(None, ge=0, le=20_000_000, strict=True)
    account: Key
    page: Text = ""
    why: Text = ""


class EntryForm(_PlacedForm):
    """Something that happened."""

    key: Annotated[str, BeforeValidator(_text), Field(pattern=NAME, max_length=120)] | None = None
    kind: Annotated[str, _one_of(ENTRY_KINDS, "kind of entry")] = "note"
    title: Text
    text: Text = ""
    event: Annotated[str, Field(pattern=NAME)] | None = None
    certainty: Annotated[str, _one_of(CERTAINTIES, "certainty")] = "certain"
    forces: list[InvolvedForm] = []

    @field_validator("forces", mode="before")
    @classmethod
    def _bare_keys(cls, value: Any) -> Any:
        if isinstance(value, str | int | dict):
            value = [value]
        if not isinstance(value, list):
            return value
        return [one if isinstance(one, dict) else {"force": one} for one in value]

    @model_validator(mode="after")
    def _each_once(self) -> EntryForm:
        keys = [one.force for one in self.forces]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))} is there twice")
        return self


class StanceForm(_PlacedForm):
    """Where a force was and how it stood."""

    key: Key | None = None
    force: Key
    state: Text = ""
    strength: Numbers | None = None
    note: Text = ""


class CampaignForm(_Form):
    """A campaign file."""

    name: Annotated[str, Field(pattern=NAME, max_length=80)]
    title: Text = ""
    note: Text = ""
    span: Text
    zone: Text = "+00:00"
    map: Text | None = None
    coast: Text | None = None
    accounts: dict[Key, AccountForm] = {}
    forces: dict[Key, ForceForm] = {}
    entries: list[EntryForm] = []
    stances: list[StanceForm] = []

    @field_validator("zone")
    @classmethod
    def _is_zone(cls, zone: str) -> str:
        read_zone(zone)
        return zone

    @field_validator("span")
    @classmethod
    def _is_span(cls, span: str) -> str:
        read_when(span, read_zone("+00:00"))
        return span


class RecordForm(_Form):
    """What is added to a campaign that there is already."""

    accounts: dict[Key, AccountForm] = {}
    forces: dict[Key, ForceForm] = {}
    entries: list[EntryForm] = []
    stances: list[StanceForm] = []
