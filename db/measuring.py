"""How good the search is: things that players type, each with the rules that answer it, and where these come.

A third of the queries, chosen by a digest of their words, is held out: it is measured and never tuned on. Of a file
that says so (`aside`) every query is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field
from sqlalchemy.engine import Connection

from db.reference import Answer, SearchAnswer, search
from db.rulesets import Number, Strict, Word, read_form

DEPTH = 20
"""Hits that are looked at."""
Part = Literal["tuned", "held_out"]


class Query(Strict):
    """What somebody types, and the rules that answer it."""

    game: Literal["css", "ccp", "fpb", "bob", "ddp"] = Field(alias="in")
    words: str = Field(alias="q", min_length=1)
    want: Annotated[tuple[Number, ...], Field(min_length=1)]
    """Rules of the game that answer, any of them."""
    also: tuple[Annotated[str, Field(pattern=r"^[a-z]{3} [A-Z]?[0-9][0-9.]*$")], ...] = ()
    """Rules of other games that answer as well, where no game is named."""
    absent: Word | None = None
    """The concept that the game does not have: the search should say so."""
    aside: bool = Field(default=False, init=False)
    """Whether its file is kept wholly aside."""

    @property
    def part(self) -> Part:
        """Whether it is for tuning or held out."""
        if self.aside:
            return "held_out"
        return "tuned" if int(hashlib.sha256(self.words.encode()).hexdigest(), 16) % 3 else "held_out"


class QueriesFile(Strict):
    """A file of queries."""

    aside: bool = False
    """Whether all of it is held out."""
    queries: tuple[Query, ...]


class Figures(Answer):
    """How often the right rule came first, among the first three, and the mean of one over its place."""

    queries: int
    first: float
    first_three: float
    reciprocal_rank: float


class Miss(Answer):
    """A query whose first hit is not an answer."""

    ruleset: str | None
    words: str
    wanted: list[str]
    found: list[str]


class Measured(Answer):
    """The figures within a game and over all games, for tuning and held out; and the misses of the tuned part."""

    within: dict[Part, Figures | None]
    over_all: dict[Part, Figures | None]
    absent: dict[Part, Figures | None] = Field(
        description="Of what a game does not have: how often the search says so (first), among other things (first_three)"
    )
    misses: list[Miss]


def read_queries(path: Path) -> tuple[Query, ...]:
    """The queries of a file, or where it is wrong."""
    file = read_form(path, QueriesFile)
    return tuple(query.model_copy(update={"aside": file.aside}) for query in file.queries)


def measure(connection: Connection, queries: Iterable[Query]) -> Measured:
    """Search for every query, within its game and over all."""
    places: dict[tuple[str, Part], list[int | None]] = {}
    misses: list[Miss] = []
    for query in queries:
        wanted = {f"{query.game} {number}" for number in query.want}
        for scope, ruleset in (("within", query.game), ("over_all", None)):
            answer = search(connection, query.words, ruleset, DEPTH)
            answers = wanted | (set(query.also) if ruleset is None else set())
            found = [f"{hit.ruleset} {hit.number}" for hit in answer.hits]
            place = next((at for at, hit in enumerate(found, 1) if hit in answers), None)
            places.setdefault((scope, query.part), []).append(place)
            if place != 1 and query.part == "tuned":
                misses.append(
                    Miss(ruleset=ruleset, words=query.words, wanted=sorted(answers), found=found[:5])
                )
            if query.absent and ruleset:
                said = 1 if _says_absent(answer, query.absent) else None
                places.setdefault(("absent", query.part), []).append(said)
    parts: tuple[Part, ...] = ("tuned", "held_out")
    within, over_all, absent = (
        {part: _figures(places.get((scope, part), [])) for part in parts}
        for scope in ("within", "over_all", "absent")
    )
    return Measured(within=within, over_all=over_all, absent=absent, misses=misses)


def _says_absent(answer: SearchAnswer, concept: str) -> bool:
    return answer.absent is not None and answer.absent.concept == concept


def _figures(places: list[int | None]) -> Figures | None:
    if not places:
        return None
    count = len(places)
    return Figures(
        queries=count,
        first=round(sum(place == 1 for place in places) / count, 3),
        first_three=round(sum(place is not None and place <= 3 for place in places) / count, 3),
        reciprocal_rank=round(sum(1 / place for place in places if place) / count, 3),
    )
