"""What the counters of all games have in common: base forms, numbers and words, kinds of marker.

Each game's own counters are in `db/rulesets/<code>/counters.py`.
"""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

Whole = Annotated[int, Field(ge=0, le=99, strict=True)]
Signed = Annotated[int, Field(ge=-20, le=20, strict=True)]
Direction = Annotated[int, Field(ge=1, le=6, strict=True)]
Points = Annotated[Decimal, Field(ge=0, le=30, multiple_of=Decimal("0.5"))]
"""Of movement: no counter of the five games prints more than some twenty, and what a reach takes grows with its cube."""
Label = Annotated[str, Field(min_length=1, max_length=20)]
Name = Annotated[str, Field(min_length=1, max_length=80)]


class Form(BaseModel):
    """A form in which an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)


class Unit(Form):
    """What every unit has."""

    id: Name
    at: Label | None = None
    """The hex it stands in; absent: off the map."""


class Tracks(BaseModel):
    """What is kept beside the map, of a game whose own tracks have no form yet: anything."""

    model_config = ConfigDict(extra="allow", frozen=True)


@dataclasses.dataclass(frozen=True)
class Hidden:
    """A track that not everybody may look at: `owner` is its side's alone, `all` nobody's, as the order in a cup."""

    from_: Literal["owner", "all"]


class MarkerKind(NamedTuple):
    """What a kind of marker says beside where it lies."""

    value: tuple[int, int] | None = None
    """The numbers it may show; None: it has none."""
    untold: bool = False
    """Whether its number, or its direction, may be left out."""
    facing: bool = False
    """Whether it looks in a direction."""
    company: bool = False
    """Whether it belongs to a company; such a marker may be displaced (bob 63.2)."""
    in_cave: bool = False
    """Whether it may lie inside a cave, which is a place of its own (css 6.3)."""
    says: type[Form] | None = None
    """What else it says, as a form; None: nothing."""


def plain_markers(words: str) -> dict[str, MarkerKind]:
    """Kinds of marker, named in one line, that say nothing but where they lie."""
    return dict.fromkeys(words.split(), MarkerKind())
