"""Support markers in fpb: placed in four steps, drawn blind from the cup, set aside or gone: 7.2, 8.2.1, 16.2.2, 17.0, 17.1.

In a game the markers are drawn from the cups that the position holds; where a combat tells its markers, they are these.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.fpb.decisions import CombatChoices, Decision, Decisions
from app.play.fpb.losses import Doing
from app.play.procedures import Action, Ask, Change, Draw, Procedure, Refused, Tell, procedure_kind
from app.referee.questions import kinds_of
from app.referee.rulings import Arguments, Ruling, Step
from app.referee.words import clauses, counted
from db.rulesets.fpb.counters import Island
from db.values import canonical

Side = Literal["us", "japan"]
Purpose = Literal["attack", "defense", "bombardment"]
MOST = 2
"""8.1, 8.2.1: markers of a side in one combat."""
ENTITLEMENT = (
    "select * from fpb.entitlement(:position, :side, :purpose, :number, :banzai, :conditions, :policy)"
)
CUP = "select * from fpb.cup(:position, :side, :purpose, :island, :conditions, :policy)"
SPENT = (
    "select * from fpb.spent_markers("
    ":position, :side, :purpose, cast(:markers as jsonb), :conditions, :policy)"
)
TRACKS = "select coalesce(tracks, '{}') as tracks from position where id = :position"


class Marker(Arguments):
    """A support marker that was turned over."""

    value: Annotated[int, Field(ge=0, le=99)]
    type: Literal["artillery", "air", "naval", "banzai", "fortification"] | None = None
    single_use: bool | None = None
    withheld: bool | None = None


Markers = list[Annotated[int, Field(ge=0, le=99)] | Marker]


class Support(Arguments):
    """The markers of both sides, in the order in which they were placed."""

    attacker: Markers = Field(default_factory=list)
    defender: Markers = Field(default_factory=list)


def told(markers: Sequence[int | Marker]) -> list[dict[str, Any]]:
    """Markers as the functions take them."""
    return [
        {"value": marker} if isinstance(marker, int) else marker.model_dump(exclude_none=True)
        for marker in markers
    ]


def written(markers: Sequence[dict[str, Any]]) -> str:
    return json.dumps(list(markers))


def other(side: str) -> str:
    return "japan" if side == "us" else "us"


@dataclasses.dataclass(frozen=True)
class MarkerDraw(Draw):
    """A marker drawn from a cup; it may be told by its value alone."""

    def found(self, value: Any) -> dict[str, Any] | None:
        """The marker of the cup that is meant; any, where nobody knows what lies there."""
        marker = {"value": value} if isinstance(value, int) else value
        if self.pool is None:
            return marker
        return next((one for one in self.pool if all(one.get(key) == marker[key] for key in marker)), None)

    def mistake(self, value: Any) -> str | None:
        if (
            isinstance(value, bool)
            or not isinstance(value, int | dict)
            or (isinstance(value, dict) and "value" not in value)
        ):
            return f"a marker is its value or {{value, type}}, not {canonical(value)}"
        return super().mistake(value) if self.found(value) is None else None


class Cup:
    """The cup of a side, from which markers come up in a combat."""

    def __init__(self, side: str, purpose: str, island: str | None = None, kind: str = "draw") -> None:
        self.side = side
        self.purpose = purpose
        self.island = island
        self._kind = kind
        self.pool: list[dict[str, Any]] = []
        self.known = False
        self._way = "blind"
        self._again = False
        self.root: list[str] = []

    def look(self, proves: bool = True) -> Doing:
        """What lies in it."""
        [*_, row] = yield Ask(CUP, proves=proves, side=self.side, purpose=self.purpose, island=self.island)
        self.pool, self.known = list(row.facts["pool"]), row.facts["told"]
        self._way, self._again, self.root = row.facts["way"], row.facts["again"], list(row.facts["root"])

    @property
    def name(self) -> str:
        return ".".join([*self.root, "cup", self.side])

    def take(self, number: int, decisions: Decisions, role: str) -> Doing:
        """Markers that come up: blind, out of a hand, or the lowest (fpb-6); gives those that were turned over."""
        if not self.known:
            return (yield from self._drawn(number))
        number = min(number, len(self.pool))
        hand = min(MOST, len(self.pool))
        if self._way == "lowest":
            return [self.pool.pop(0) for _ in range(number)]
        if self._way == "hand" and 0 < number < hand:
            drawn = yield from self._drawn(hand)
            taken = yield from _selected(drawn, number, decisions.by(self.side), role)
            self.pool += [marker for marker in drawn if marker not in taken]
            return taken
        return (yield from self._drawn(number))

    def _drawn(self, number: int) -> Doing:
        drawn = []
        for _ in range(number):
            drawn.append((yield from self._one()))
        return drawn

    def _one(self) -> Doing:
        want = MarkerDraw(
            self.name, f"support of the {self.purpose}", list(self.pool) if self.known else None, self._kind
        )
        marker = want.found((yield want))
        assert marker is not None
        if marker in self.pool:
            self.pool.remove(marker)
        return marker

    def spend(self, markers: Sequence[dict[str, Any]], shown: bool = False) -> Doing:
        """What becomes of the markers that came up; gives those that serve and those that go back."""
        rows = yield Ask(SPENT, side=self.side, purpose=self.purpose, markers=written(markers))
        fates = [(row.effect, row.facts) for row in rows]
        yield from self._keep(fates, shown)
        serving = [marker for fate, marker in fates if fate in ("removed", "set aside")]
        return serving, [marker for fate, marker in fates if fate == "returned"]

    def unfit(self, markers: Sequence[dict[str, Any]]) -> Doing:
        """How many of the markers that came up are replaced: naval ones that may not bombard yet, by fpb-45 b."""
        if not self._again or self.purpose != "bombardment":
            return 0
        rows = yield Ask(SPENT, proves=False, side=self.side, purpose=self.purpose, markers=written(markers))
        return sum(row.effect == "returned" and row.rule == "18.1" for row in rows)

    def _keep(self, fates: Sequence[tuple[str, dict[str, Any]]], shown: bool) -> Doing:
        """The tracks after it: out of the cup, beside it, or gone for good."""
        [row] = yield Ask(TRACKS, proves=False)
        tracks = functools.reduce(lambda tree, key: tree.get(key) or {}, self.root, row.tracks)
        cup = list((tracks.get("cup") or {}).get(self.side, []))
        for fate, place in (("set aside", "used"), ("removed", "removed")):
            gone = []
            for marker in (one for how, one in fates if how == fate):
                there = _plain(marker)
                source = next((one for one in cup if _plain(one) == there), None)
                if source is not None:
                    cup.remove(source)
                    gone.append(source)
            if gone:
                before = list((tracks.get(place) or {}).get(self.side, []))
                yield Change(
                    {"track": ".".join([*self.root, place, self.side]), "value": before + gone},
                    kept=place == "used" and not shown,
                )
        if cup != list((tracks.get("cup") or {}).get(self.side, [])):
            yield Change({"track": self.name, "value": cup or None}, kept=not shown)


def _plain(marker: dict[str, Any]) -> tuple[Any, Any]:
    return marker["value"], marker.get("type")


def _selected(hand: list[dict[str, Any]], number: int, by: str, role: str) -> Doing:
    """fpb-6 b: of those drawn the player takes some by their value."""
    options = [list(some) for some in itertools.combinations(hand, number)]
    chosen = yield Decision(
        f"{role}_markers", by, f"{number} of the markers drawn", options, default=options[0]
    )
    if chosen not in options:
        raise Refused("8.1", f"{number} of the markers drawn are selected")
    return list(chosen)


# The four steps of an attack.


def placed(attacker: str, banzai: bool, alone: bool, decisions: Decisions) -> Doing:
    """8.2.1 b: attacker, defender, attacker, defender; then all are turned over. Gives the markers of both."""
    cups = {"attacker": Cup(attacker, "attack"), "defender": Cup(other(attacker), "defense")}
    limits = {}
    for role, cup in cups.items():
        yield from cup.look(proves=False)
        if cup.known:
            yield from cup.look()
        [*_, row] = yield Ask(ENTITLEMENT, side=cup.side, purpose=cup.purpose, number=None, banzai=banzai)
        limits[role] = row.facts
    numbers = {role: min(limits[role]["least"], len(cup.pool)) for role, cup in cups.items()}
    for n in (1, MOST):
        for role, cup in cups.items():
            if limits[role]["least"] or limits[role]["most"] < n or len(cup.pool) <= numbers[role]:
                continue
            choice = yield Decision(
                f"{role}_marker_{n}", decisions.by(cup.side), f"whether to place marker {n}",
                ["none", "marker"], default="none",
            )  # fmt: skip
            numbers[role] += choice == "marker"
    found = {}
    # 16.2.2: the US side first
    for role in sorted(cups, key=lambda role: alone and cups[role].side != "us"):
        found[role] = yield from cups[role].take(numbers[role], decisions, role)
    return found


# A draw by itself.


class DrawOf(Action):
    """Whose cup, for what, and how many."""

    side: Side = Field(description="Whose cup")
    island: Island | None = Field(None, description="Of which island, where several are in play")
    purpose: Purpose = Field(alias="for", description="What the markers are for")
    number: Annotated[int, Field(ge=0, le=9)] | None = Field(
        None, description="How many; in solitaire play two for the Japanese, else one"
    )
    banzai: bool = Field(False, description="Whether it is for a Banzai attack")
    choices: CombatChoices = Field(  # type: ignore[assignment]
        default_factory=lambda: CombatChoices(), description="What players decide, by name"
    )


def draw(of: DrawOf) -> Procedure:
    """Markers come up, and what may not serve goes back."""
    [*_, verdict] = yield Ask(
        ENTITLEMENT, side=of.side, purpose=of.purpose, number=of.number, banzai=of.banzai
    )
    if verdict.effect == "forbids":
        raise Refused(verdict.rule, verdict.note, kept=[], returned=[])
    number = verdict.facts["number"]
    if number == 0:
        yield Tell(Step(verdict.rule, None, "none", "no marker is drawn"), kept=[], returned=[])
        return
    cup = Cup(of.side, of.purpose, of.island, kind="card")
    yield from cup.look()
    if cup.known and not cup.pool:
        raise Refused("17.0", "the cup is empty", kept=[], returned=[])
    decisions = Decisions(dict(of.choices))
    kept: list[dict[str, Any]] = []
    returned: list[dict[str, Any]] = []
    while number:
        found = yield from cup.take(number, decisions, "attacker")
        number = yield from cup.unfit(found)
        serving, back = yield from cup.spend(found, shown=True)
        kept += serving
        returned += back
        if cup.known:
            number = min(number, len(cup.pool))
    yield Tell(kept=kept, returned=returned)


def _draw_verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["draw"], ruling.answer
    side = "The US side" if of["side"] == "us" else "Japan"
    if answer["allowed"] is False:
        return f"{side} draws nothing: {answer['why']}"
    if "kept" not in answer:
        return f"{side} draws from the cup"
    values = ", ".join(f"+{marker['value']}" for marker in answer["kept"]) or "nothing"
    return clauses(
        f"{side} has {values}",
        f"{counted(len(answer['returned']), 'marker')} back to the cup" if answer["returned"] else None,
    )


KINDS = [
    procedure_kind(
        draw,
        kinds=functools.partial(kinds_of, "fpb"),
        name="draw",
        title="Support markers drawn",
        arguments=DrawOf,
        rulesets=("fpb",),
        answers={
            "kept": "the markers that serve, each with its value and kind",
            "returned": "the markers that go back into the cup",
        },
        verdict=_draw_verdict,
        points=("fpb-6", "fpb-7", "fpb-9", "fpb-10", "fpb-35", "fpb-45"),
        example="draw: {side: us, for: attack, number: 1, cards: [3]}",
        acts=False,
    )
]
