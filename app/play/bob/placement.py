"""Placement (15.0, 16.2, 18.0, 43.0, 65.3) and what is drawn from a cup (16.2, 59.4, 66.0)."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from app.play.bob.asking import Asking, game
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Draw,
    Procedure,
    Refused,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, RulingError, Step
from db.rulesets.bob.counters import MARKERS
from importers.questions import Names

Manner = Literal[
    "setup", "reinforcement", "fow", "fow_reaction", "regroup", "hub", "fortification", "decoy", "satt"
]
FOUND = "select code, side, kind, attributes from unit where position_id = :position and code = :unit"
EXTRA_SATT = (1, 2, 3, 4)
"""59.4: the four counters of which one is drawn."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Placement(Action):
    """What is placed, where, and by which rule."""

    unit: str = Field(
        min_length=1, max_length=80, description="The id of the unit; of a fortification, its kind"
    )
    at: Annotated[str, Names(("hex",))] = Field(description="The hex")
    manner: Manner = Field(
        "setup", alias="as",
        description="setup, reinforcement, fow, fow_reaction, regroup, hub, fortification, decoy or satt",
    )  # fmt: skip
    side: str | None = Field(
        None, description="Whose it is, where the unit is no counter of the position yet"
    )
    used: Annotated[list[str] | None, Names(("hex",)), BeforeValidator(_listed)] = Field(
        None,
        max_length=200,
        description="regroup: hexes with Used markers; else those of its own units (65.3)",
    )
    facing: Annotated[int | None, Field(ge=1, le=6)] = Field(None, description="The corner that it faces")
    conceal: bool | None = Field(None, description="Whether it is covered with a Conceal counter")
    path: Annotated[list[str], Names(("hex",)), BeforeValidator(_listed), Field(max_length=60)] = Field(
        default_factory=list,
        description="fow: where it goes on to when it comes in from its Rout Edge (16.2)",
    )


class DrawFrom(Action):
    """Which cup."""

    source: Literal["fow", "satt", "solo"] = Field(alias="from", description="fow, satt or solo")
    side: str | None = Field(None, description="Whose cup; without it, whose Operations Range it is")


def judged_place(of: Placement) -> Asking:
    """Whether something may be placed there, Concealed where that holds: the unit, its side and what was found."""
    rows = yield Ask(FOUND, proves=False, unit=of.unit)
    own = rows[0] if rows else None
    if own is None and of.manner != "fortification" and of.side is None:
        raise RulingError(
            f"There is no unit {of.unit!r} in this position.", "Name a unit, or tell its `side`."
        )
    side = of.side or (own.side if own is not None else "")
    kind = (
        of.unit if of.manner == "fortification" else (own.kind if own is not None and own.kind else "squad")
    )
    if of.manner == "fortification" and kind not in MARKERS:
        raise RulingError(
            f"{kind!r} is no fortification.", "Name one: foxhole, trench, bunker, pillbox, cave …"
        )
    used = of.used if of.used is not None else (yield from _stands(side))
    told = yield Ask(
        "select * from bob.placement(:position, :unit, :side, :kind, :nation, :at, :manner, :used, :facing,"
        " :conditions, :policy)",
        unit=of.unit, side=side, kind=kind, at=of.at, manner=of.manner, used=used, facing=of.facing,
        nation=(own.attributes.get("nation") or side) if own is not None else side,
    )  # fmt: skip
    facts = told[-1].facts
    yield Tell(concealed=facts["concealed"])
    bars = [row for row in told if row.effect == "forbids"]
    if bars:
        raise Refused(bars[0].rule, told[-1].note, of.at, concealed=facts["concealed"])
    if of.conceal and not facts["concealed"]:
        raise Refused("15.0", "it would lose its Concealment at once", of.at, concealed=0)
    return own, side, facts


def placement(of: Placement) -> Procedure:
    """What may be placed is."""
    own, side, facts = yield from judged_place(of)
    yield from settled(of, own, side, facts)


def settled(of: Placement, own: Any, side: str, facts: dict[str, Any]) -> Procedure:
    """It is put there; 16.2: who is placed from the cup has to be Used in the same Range."""
    yield from put(of, own, facts)
    if of.manner == "fow" and own is not None:
        due = "it must be Used, or marked Op Fire, in this Operations Range"
        yield Tell(Step("16.2", of.at, "due", due))
        yield Change({"side": side, "fow_due": of.unit}, kept=True)


def _stands(side: str) -> Asking:
    """65.3: the hexes that the units of a side occupied."""
    rows = yield Ask(
        "select distinct hex.label from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " where unit.position_id = :position and unit.side = :side order by hex.label",
        proves=False,
        side=side,
    )
    return [row.label for row in rows]


def put(of: Placement, own: Any, facts: dict[str, Any]) -> Procedure:
    """It is put there, with its Conceal counter and facing."""
    hidden = facts["concealed"] if of.conceal in (None, True) else 0
    if of.manner == "fortification":
        says = MARKERS[of.unit]
        more = (
            {"concealed": True}
            if hidden and says.says is not None and "concealed" in says.says.model_fields
            else {}
        )
        turned = {"facing": of.facing} if says.facing and of.facing is not None else {}
        yield Change({"marker": of.unit, "at": of.at, **turned, **more})
        return
    if own is None or of.manner in ("hub", "satt"):
        return
    said: dict[str, Any] = {"unit": of.unit, "at": of.at}
    if of.manner != "regroup":
        said["concealed"] = hidden
    if of.facing is not None:
        said["facing"] = of.facing
    yield Change(said)


def draw(of: DrawFrom) -> Procedure:
    """16.2: one unit of the FOW cup a turn; 59.4: how many SATTs more; 66.0: who a Possible unit is."""
    now = yield from game()
    if of.source == "satt":
        extra = yield from _drawn(of, "the SATT counters", "how many SATTs more", EXTRA_SATT)
        side = of.side or "japan"
        had = (now.tracks.get(side) or {}).get("satt")
        had = (now.conditions.get("satt") or {}).get(side, 0) if had is None else had
        yield Tell(
            Step("59.4", None, "drawn", f"{extra} more, known to the Japanese player only"),
            drawn=extra,
            result=extra,
        )
        yield Change({"side": side, "satt": had + extra})
        return
    side, cup, spent = _cup(of, now)
    if of.source == "fow":
        yield from _may_draw(side, now, spent=spent)
    if not cup:
        raise Refused("16.2" if of.source == "fow" else "66.0", "the cup is empty")
    unit = yield from _drawn(of, f"the {of.source} cup of {side}", "the unit", tuple(cup))
    left = [one for one in cup if one != unit]
    yield Tell(
        Step("16.2" if of.source == "fow" else "66.0", None, "drawn", f"{unit} is drawn"),
        drawn=unit,
        result=unit,
    )
    yield Change({"side": side, of.source: left})
    if of.source == "fow":
        yield Change({"side": side, "fow_drawn": now.conditions.get("turn") or 1}, kept=True)
        yield Tell(placements=["fow" if now.conditions.get("active") in (None, side) else "fow_reaction"])


def _may_draw(side: str, now: Any, *, spent: bool) -> Procedure:
    """16.2: once a turn, in either side's Range; in its own there must be room for who is drawn."""
    if spent:
        raise Refused("16.2", "one unit a turn is drawn, and it has been")
    if now.conditions.get("phase") not in (None, "operations"):
        raise Refused("16.2", "it is drawn in an Operations Range, and not ahead of it for a Command Point")
    if now.conditions.get("active") != side:
        return
    [told] = yield Ask(
        "select * from bob.range_state(:position, :side, null, cast(:conditions as jsonb))",
        proves=False,
        side=side,
    )
    if told.most is not None and told.spent >= told.most:
        why = f"{told.spent} of {told.most} are spent, and who is drawn has to be Used in this Range"
        raise Refused("16.2", why)


def _cup(of: DrawFrom, now: Any) -> tuple[str, list[str], bool]:
    """Whose cup, what is in it, and whether it was drawn from this turn."""
    told = now.conditions.get("fow") or {}
    sides = [side for side in told if side != "drawn"]
    side = of.side or (now.conditions.get("active") if now.conditions.get("active") in sides else None)
    side = (
        side
        or (sides[0] if len(sides) == 1 else "")
        or next(
            (name for name, kept in now.tracks.items() if isinstance(kept, dict) and of.source in kept), ""
        )
    )
    kept = now.tracks.get(side) or {}
    cup = kept.get(of.source)
    if cup is None:
        cup = told.get(side) or []
    drawn = told.get("drawn")
    spent = kept.get("fow_drawn") == (now.conditions.get("turn") or 1) if "fow_drawn" in kept else False
    spent = spent or drawn is True or drawn == side or (isinstance(drawn, (list, tuple)) and side in drawn)
    spent = spent or (isinstance(drawn, dict) and bool(drawn.get(side)))
    return side, list(cup), bool(spent)


def _drawn(of: DrawFrom, source: str, purpose: str, pool: tuple[Any, ...]) -> Asking:
    return (yield Draw(source, purpose, pool, kind="card" if of.cards else "draw"))


def _draw_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is False:
        return f"Nothing is drawn: {answer['why']}"
    return f"{answer['drawn']} is drawn" if "drawn" in answer else "A counter is to be drawn"


COMMON: dict[str, Any] = {"kinds": functools.partial(kinds_of, "bob"), "rulesets": ("bob",)}
KINDS = [
    procedure_kind(
        draw,
        name="draw",
        title="What is drawn from a cup",
        arguments=DrawFrom,
        answers={
            "drawn": "the unit, or how many SATTs more",
            "result": "the same",
            "placements": "how a FOW unit may be placed now",
        },
        verdict=_draw_verdict,
        example="draw: {from: fow, side: japan}",
        **COMMON,
    ),
]
