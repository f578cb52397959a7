"""Actions outside an attack: Demolitions, Hidden Mines, Wire, Panji Trap and Unit, Smoke Screen, No Quarter (A38, A43,
A46, A47)."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ccp.arrivals import comes_in, support_piece
from app.play.ccp.attack import Asker
from app.play.ccp.cards import asked_to_play, could_play, plays
from app.play.ccp.fire import DEFENSE_POINTS
from app.play.ccp.giving import refused_by
from app.play.ccp.mines import mined
from app.play.ccp.picks import picked_hex, smoke_drawn, smoke_placed
from app.play.ccp.roll import ENDS, rolled
from app.play.ccp.table import (
    SIDES,
    Doing,
    adds_marker,
    counter,
    ending,
    gains,
    now,
    removes_marker,
)
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, series
from importers.questions import Names

DEED = (
    "select * from ccp.deed(:position, :name, :side, :at, :units, :discarded, :melee, :conditions, :policy)"
)
AMBUSH = "select * from ccp.ambush_hexes(:position, :side, :conditions)"
TABLE = """
select exists (select from charts.cells('ccp', 'support_tables') where value is not null) as filled
"""
RULES = {
    "demolitions": "A38",
    "hidden_mines": "A43.2",
    "hidden_wire": "A43.7",
    "hidden_panji_trap": "A43.3",
    "hidden_unit": "A43.6",
    "smoke_screen": "A47",
    "no_quarter": "A46",
}


class Deed(Action):
    """Which action, whose, where and for whom."""

    name: Literal[
        "demolitions", "hidden_mines", "hidden_wire", "hidden_panji_trap", "hidden_unit", "smoke_screen", "no_quarter",
    ] = Field(description="The action")  # fmt: skip
    side: Literal["japan", "allied"] = Field(description="The side that plays it")
    at: Annotated[str | None, Names(("hex",))] = Field(None, description="The hex that it is played for")
    units: Annotated[list[str] | None, Names(("unit",)), Field(max_length=60)] = Field(
        None, description="Hidden actions: those who entered; Smoke Screen: the squads that place smoke"
    )
    discarded: int | None = Field(
        None,
        ge=0,
        le=7,
        description="Demolitions, Hidden Unit: cards that the opponent discarded in his pass",
    )
    place: Literal["mines", "wire"] | None = Field(None, description="Hidden Panji Trap: what is placed")
    manner: Literal["move", "advance"] | None = Field(
        None, alias="as", description="Hidden actions: how the units entered; else as they are activated"
    )
    melee: Literal["japan", "allied", "tie", "none"] | None = Field(
        None, description="No Quarter: the result of the melee; none: it ended before its rolls"
    )
    card: str | None = Field(None, description="The card that is played for it, where hands are told")


@ending
def action(of: Deed) -> Procedure:
    """An action, if its condition holds."""
    units = of.units
    discarded = of.discarded
    if discarded is None:
        discarded = (yield from now()).tracks.get("passed")
    rows = yield Ask(
        DEED, name=of.name, side=of.side, at=of.at, units=units, discarded=discarded, melee=of.melee
    )
    if (bar := refused_by(rows)) is not None:
        raise bar
    if any(row.effect == "unknown" for row in rows):
        raise Undecided()
    yield from plays(of.side, "action", of.name, of.card, RULES[of.name])
    match of.name:
        case "demolitions":
            yield from _demolished(of)
        case "hidden_unit":
            yield from _hidden_unit(of)
        case "smoke_screen":
            yield from _smoke_screen(of)
        case "no_quarter":
            yield from gains(of.side, 2, "A46", "No Quarter")
            yield Tell(result="played")
        case _:
            yield from _hidden(of)


# Demolitions.


def _demolished(of: Deed) -> Doing:
    """A38: a fortification in a hex with an own unit goes."""
    rows = yield Ask(
        "select * from ccp.demolition_hexes(:position, :side, :conditions)", proves=False, side=of.side
    )
    hexes = {row.label: row.fortification for row in rows}
    if not hexes:
        raise Refused("A38", "no fortification is in a hex with an own unit")
    if of.at is not None and of.at not in hexes:
        raise Refused("A38", f"no fortification is with an own unit in {of.at}", of.at)
    at = of.at or (yield from picked_hex(of.side, "which fortification goes", hexes))
    yield Tell(Step("A38", at, "eliminated", hexes[at]), result="played")
    yield from removes_marker(hexes[at], at)


def answered_discard(side: str, discarded: int) -> Doing:
    """In a game that keeps hands: what a side may play after its opponent's discard, if there is a use for it."""
    if (yield from could_play(side, "demolitions")):
        yield from _demolitions_asked(side)
    if (yield from could_play(side, "hidden_unit")):
        yield from _hidden_unit_asked(side, discarded)


def _demolitions_asked(side: str) -> Doing:
    rows = yield Ask(
        "select * from ccp.demolition_hexes(:position, :side, :conditions)", proves=False, side=side
    )
    at = yield from picked_hex(
        side, "Demolitions, after the discard", [row.label for row in rows], may=True, name="demolitions"
    )
    if at is not None:
        yield from plays(side, "action", "demolitions", None, "A38")
        gone = next(row.fortification for row in rows if row.label == at)
        yield Tell(Step("A38", at, "eliminated", gone))
        yield from removes_marker(gone, at)


def _hidden_unit_asked(side: str, discarded: int) -> Doing:
    """A43.6: only who could place a unit is asked: a Defender with a Support Table and an empty hex for it."""
    rows = yield Ask(
        DEED,
        proves=False,
        name="hidden_unit",
        side=side,
        at=None,
        units=None,
        discarded=discarded,
        melee=None,
    )
    hexes = yield Ask(AMBUSH, proves=False, side=side)
    [table] = yield Ask(TABLE, proves=False)
    if refused_by(rows) is not None or not hexes or not table.filled:
        return
    if (yield from asked_to_play(side, "hidden_unit", "a Hidden Unit, after the discard", "A43.6")):
        yield from _hidden_unit(Deed(name="hidden_unit", side=side))


# Hidden actions.


def _hidden(of: Deed) -> Doing:
    """A43.2, A43.3, A43.7: wire or mines in the hex just entered; mines attack at once those who entered."""
    word = {"hidden_mines": "mines", "hidden_wire": "wire"}.get(of.name) or of.place
    if word is None:
        word = yield Choose("place", of.side, "what the trap is", options=["mines", "wire"])
    assert of.at is not None
    yield Tell(Step(RULES[of.name], of.at, word, f"{word} placed as the hex is entered"), result=word)
    yield from adds_marker(word, of.at)
    if word == "wire":
        return
    units = of.units if of.units is not None else (yield from _entered(of))
    manner = of.manner or ((yield from counter(units[0])).attributes.get("activated") or "move")
    yield from mined(units, of.at, manner, Asker(of), (), None, hidden=True)


def _entered(of: Deed) -> Doing:
    """Who has just entered: the enemy's units there that are activated to Move or Advance, else all of them."""
    rows = yield Ask(
        "select unit.code, unit.attributes ->> 'activated' as done from unit"
        " join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " where unit.position_id = :position and hex.label = :at and unit.side <> :side"
        " and unit.kind <> 'aircraft' order by unit.code",
        proves=False,
        at=of.at,
        side=of.side,
    )
    moving = [row.code for row in rows if row.done in ("move", "advance")]
    return moving or [row.code for row in rows]


def _hidden_unit(of: Deed) -> Doing:
    """A43.6: a unit of the Support Table, free, in an empty hex of the own set-up area with Cover."""
    dice = yield from rolled(of.side, "the Support Table")
    yield Tell(roll=dice.sum)
    piece = yield from support_piece(of, of.side, dice.sum, "A43.6")
    if piece is None or piece.is_sighting:
        yield Tell(Step("A43.6", None, "nothing", "no unit on the table can be chosen"), result="nothing")
        return
    rows = yield Ask(AMBUSH, proves=False, side=of.side)
    hexes = [row.label for row in rows]
    if of.at is not None and of.at not in hexes:
        raise Refused(
            "A43.6", f"{of.at} is no empty hex of the own set-up area with Cover of 1 or more", of.at
        )
    at = of.at or (yield from picked_hex(of.side, "where the unit appears", hexes))
    if at is None:
        raise Undecided(Need(f"the set-up area of {SIDES[of.side]}", "A43.6"))
    yield Change(piece.unit, kept=True)
    yield from comes_in(piece.unit["unit"], at, "A43.6")
    yield Tell(result="placed")


# Smoke Screen.


def _smoke_screen(of: Deed) -> Doing:
    """A47: a smoke marker for each squad, in its hex or beside it; he may stop whenever he likes."""
    units = of.units or []
    if of.at is not None and len(units) == 1:
        places: Any = {units[0]: of.at}
    else:
        options = {}
        for code in units:
            options[code] = yield from _smoke_hexes(code)
        places = yield Choose(
            "smoke",
            of.side,
            "where each squad places smoke",
            check=functools.partial(_is_smoke, options),
            form="{squad: hex}",
            default={},
            also=("at", "to", "place"),
        )
    yield from screened(of.side, places)
    yield Tell(result="played")


def _smoke_hexes(code: str) -> Doing:
    unit = yield from counter(code)
    rows = yield Ask(
        "select * from ccp.hexes_near(:position, :hex, 0, 1, :conditions)", proves=False, hex=unit.label
    )
    return [row.label for row in rows if not row.water and not row.blaze]


def _is_smoke(options: Mapping[str, Sequence[str]], value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return "smoke is told as {squad: hex}"
    for code, label in value.items():
        if code not in options:
            return f"{code} is not one of the squads"
        if not isinstance(label, str):
            return f"the hex of {code} is a label"
    return None


def screened(side: str, places: Mapping[str, str]) -> Doing:
    """Smoke by the squads that place some, each with or beside its own squad."""
    for code, label in places.items():
        able = yield from _smoke_hexes(code)
        if label not in able:
            raise Refused("A47", f"{code} places smoke in {series(able)}, not in {label}", label)
        [ground] = yield Ask(
            "select * from ccp.hex_now(:position, :hex, :conditions)", proves=False, hex=label
        )
        value = yield from smoke_drawn(f"the smoke of {code}")
        yield from smoke_placed(ground, value, "A47")


def _verdict(ruling: Ruling) -> str:
    answer, name = ruling.answer, ruling.question["action"]["name"].replace("_", " ")
    if answer["allowed"] is None:
        return f"Whether {name} may be played, or what it brings, is not known"
    if not answer["allowed"]:
        return f"{name.capitalize()} may not be played: {answer['why']}"
    return clauses(
        f"{name.capitalize()} is played",
        "something is still to be told" if "pending" in answer else None,
        "the game is over" if answer.get("over") else None,
    )


KINDS = [
    procedure_kind(
        action,
        kinds=functools.partial(kinds_of, "ccp"),
        name="action",
        title="An action outside an attack",
        arguments=Deed,
        rulesets=("ccp",),
        answers={
            "roll": "Hidden Unit: the roll on the Support Table",
            "result": "played, mines, wire, placed or nothing",
            **ENDS,
        },
        verdict=_verdict,
        points=("ccp-11", "ccp-48", *DEFENSE_POINTS),
        example="action: {name: demolitions, side: allied, at: C3, discarded: 1}",
    ),
]
