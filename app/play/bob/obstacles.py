"""Obstacles: Wire and Roadblocks cleared (43.6, 43.7), Guns crushed (20.12), mines (49.0) and Trails (54.4)."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from app.play.bob.asking import Asking, checked, counter, game, modifiers, piece
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Procedure,
    Refused,
    Roll,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import series
from importers.questions import Names


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Clear(Action):
    """Who clears, and what."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit")
    what: Literal["wire", "roadblock"] = Field(description="wire or roadblock")
    hexside: str | None = Field(None, max_length=40, description="Which side, where several are blocked")


class Crush(Action):
    """Which Vehicle, and which Gun."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The Vehicle")
    target: Annotated[str, Names(("unit",))] = Field(description="The Gun")


class Mines(Action):
    """Who moves, along which way."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit")
    path: Annotated[
        list[str], Names(("hex",)), BeforeValidator(_listed), Field(min_length=1, max_length=60)
    ] = Field(description="Labels of the hexes entered, in order")
    manner: Literal["trail", "off_trail"] | None = Field(
        None, alias="as", description="off_trail: it does not keep to the Trails that its side knows"
    )


class Trail(Action):
    """Who lays it, from where to where."""

    side: str | None = Field(None, description="The side that owns it")
    unit: Annotated[str | None, Names(("unit",))] = Field(
        None, description="The tracked Vehicle that leaves it behind"
    )
    source: Annotated[str, Names(("hex",))] = Field(alias="from", description="One end")
    to: Annotated[str, Names(("hex",))] = Field(description="The other end")


def clear(of: Clear) -> Procedure:
    """43.6, 43.7: its whole allowance, as if it moved into the hex; its checks must be passed."""
    rows = yield Ask(
        "select * from bob.clear(:position, :unit, :what, :conditions, :policy)", unit=of.unit, what=of.what
    )
    facts = rows[-1].facts
    yield Tell(cost=facts["cost"])
    bars = [row for row in rows if row.effect == "forbids"]
    if bars:
        raise Refused(bars[0].rule, "; ".join(row.note for row in bars), facts["at"])
    found = yield from checked(of.unit, "move", of)
    yield Tell(morale=found["morale"], mc=found["mc"])
    if found["mc"] == "failed":
        yield Change({"unit": of.unit, "used": True})
        yield Tell(result="failed")
        return
    if of.what == "wire":
        yield Change({"marker": "wire", "at": facts["at"], **(facts["wire"] or {}), "removed": True})
    else:
        side = of.hexside or facts["sides"][0]
        if side not in facts["sides"]:
            raise Refused("43.7", f"{side} is not blocked", facts["at"])
        yield Change({"hex": side, "roadblock": "cleared"})
    yield Change({"unit": of.unit, "used": True})
    yield Tell(result="cleared")


def crush(of: Crush) -> Procedure:
    """20.12: the Gun is eliminated; then a die, on a modified 10 the Vehicle is lost (bob-25)."""
    rows = yield Ask(
        "select * from bob.crush(:position, :unit, :target, :conditions, :policy)",
        unit=of.unit,
        target=of.target,
    )
    facts = rows[-1].facts
    yield Tell(cost=facts["cost"], modifiers=modifiers(rows))
    bars = [row for row in rows if row.effect == "forbids"]
    if bars:
        raise Refused("20.12", "; ".join(row.note for row in bars), facts["at"])
    before = yield from piece(of.unit)
    yield Change({"unit": of.target, "eliminated": True})
    die = yield Roll("1d10", f"{of.unit} as it crushes")
    total = die + facts["added"]
    lost = total == 10 if facts["exactly"] else total >= 10
    yield Tell(Step("20.12", facts["at"], str(total), f"{die} and {facts['added']}"), total=total)
    if lost:
        yield Change({"unit": of.unit, "eliminated": True})
        yield Tell(result="eliminated")
        return
    # 20.12: it need not leave the hex unless another enemy is there
    yield Change({"unit": of.unit, "at": before.label if facts["leaves"] else facts["at"], "used": True})
    yield Tell(result="destroyed", ends_at=before.label if facts["leaves"] else facts["at"])


def mines(of: Mines) -> Procedure:
    """49.0: the first mine hex of a Vehicle's move and every fifth after it."""
    rows = yield Ask(
        "select * from bob.mines(:position, :unit, :path, :manner, :conditions, :policy)",
        unit=of.unit,
        path=of.path,
        manner=of.manner,
    )
    facts = rows[-1].facts
    yield Tell(checks=[one["at"] for one in facts["checks"]], struck_at=None)
    for one in facts["checks"]:
        if (yield from struck(of.unit, one["at"], one["strikes"])):
            yield Tell(struck_at=one["at"], result="unconfirmed_kill")
            return
    yield Tell(result="no_effect")


def struck(unit: str, label: str, strikes: int) -> Asking:
    """49.0, bob-38: a die; a mine is an Unconfirmed Kill, whether or not 61.2 is played."""
    die = yield Roll("1d10", f"a mine in {label}")
    if die > strikes:
        yield Tell(Step("49.0", label, "missed", f"{die} is more than {strikes}"))
        return False
    yield Tell(Step("49.0", label, "struck", f"{die} is {strikes} or less"), points=("bob-38",))
    now = yield from game()
    rules = now.conditions.get("rules") or ()
    if now.readings["bob-38"] == "b" and "unconfirmed_kills" not in rules:
        return False
    own = yield from counter(unit)
    yield Change({"unit": unit, "uk": (own.attributes.get("uk") or 0) + 1, "used": True})
    return True


def trail(of: Trail) -> Procedure:
    """54.4: a pair of markers, in a straight row or along a spine (bob-32)."""
    now = yield from game()
    side = of.side
    if of.unit is not None:
        own = yield from counter(of.unit)
        side = own.side
        if own.kind not in ("vehicle", "carrier") or not own.attributes.get("tracked"):
            raise Refused("54.4", "only a tracked or half-tracked Vehicle leaves a Trail", of.to)
    if side is None:
        raise Refused("54.4", "nobody is named whose Trail it is")
    rows = yield Ask(
        "select coalesce(bool_or(line.kind = 'spine'), false) as spine,"
        " lattice.distance(a.q, a.r, b.q, b.r) as away,"
        " a.q = b.q or a.r = b.r or a.q + a.r = b.q + b.r as straight"
        " from position join hex as a on a.map_id = position.map_id and a.label = :a"
        " join hex as b on b.map_id = position.map_id and b.label = :b"
        " left join lateral lattice.line(a.q, a.r, b.q, b.r) as line on true"
        " where position.id = :position group by a.q, a.r, b.q, b.r",
        proves=False,
        a=of.source,
        b=of.to,
    )
    [form] = rows
    yield Tell(points=("bob-32",))
    if not form.straight and (not form.spine or now.readings["bob-32"] == "b"):
        why = "a Trail is a straight row of hexes" + ("" if form.spine else ", or runs along a spine")
        raise Refused("54.4", why, of.to)
    yield Tell(Step("54.4", of.to, "laid", "a row" if form.straight else "along a spine"), result="laid")
    yield Change({"marker": "trail", "at": of.source, "owner": side, "to": of.to})


def _verdict(done: dict[str, str]) -> Any:
    def told(ruling: Ruling) -> str:
        [(name, of)] = ruling.question.items()
        answer = ruling.answer
        who = of.get("unit") or of.get("side")
        if answer["allowed"] is False:
            return f"{who} may not do that: {answer['why']}"
        if name == "mines" and "result" not in answer:
            return f"{who} is attacked by mines in {series(answer['checks']) or 'no hex'}"
        return f"{who} {done.get(answer.get('result', ''), 'must roll')}"

    return told


COMMON: dict[str, Any] = {"kinds": functools.partial(kinds_of, "bob"), "rulesets": ("bob",)}
KINDS = [
    procedure_kind(
        clear, name="clear", title="Wire or a Roadblock is cleared", arguments=Clear,
        answers={
            "cost": "its whole movement allowance", "morale": "the Morale that it rolls against",
            "mc": "passed, failed or automatic", "result": "cleared or failed",
        },
        verdict=_verdict({"cleared": "clears it", "failed": "fails its Morale Check and is Used"}),
        points=("bob-41",), example='clear: {unit: "1/A", what: wire}', **COMMON,
    ),
    procedure_kind(
        crush, name="crush", title="A Vehicle crushes a Gun", arguments=Crush,
        answers={
            "cost": "movement points", "modifiers": "what is added to the die", "total": "the modified roll",
            "result": "destroyed (the Gun alone) or eliminated (the Vehicle as well)", "ends_at": "where the Vehicle ends",
        },
        verdict=_verdict({"destroyed": "crushes the Gun", "eliminated": "crushes the Gun and is lost"}),
        points=("bob-25",), example="crush: {unit: Tank, target: Gun, rolls: [4]}", **COMMON,
    ),
    procedure_kind(
        mines, name="mines", title="A way through a minefield", arguments=Mines,
        answers={
            "checks": "hexes in which it is rolled for, in order", "struck_at": "where a mine was struck; null where none was",
            "result": "no_effect or unconfirmed_kill",
        },
        verdict=_verdict({"no_effect": "strikes no mine", "unconfirmed_kill": "strikes a mine"}),
        points=("bob-32", "bob-38"), acts=False, example='mines: {unit: Tank, path: ["C4"], rolls: [2]}', **COMMON,
    ),
    procedure_kind(
        trail, name="trail", title="Trail markers are placed", arguments=Trail,
        answers={"result": "laid"}, verdict=_verdict({"laid": "lays a Trail"}), points=("bob-32",),
        example='trail: {side: commonwealth, from: "A4", to: "I4"}', **COMMON,
    ),
]  # fmt: skip
