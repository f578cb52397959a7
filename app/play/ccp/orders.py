"""Orders by which units are activated, rallied or brought in: activate (O20), Asset Request (O24), Charge (O25),
Infiltrate (O28), Revive (O31)."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ccp.arrivals import comes_in, support_piece
from app.play.ccp.caves import comes_out, goes_inside
from app.play.ccp.giving import announces, gives_order, is_played, may_activate, refused_by
from app.play.ccp.losses import fixes_weapon, rallies
from app.play.ccp.roll import ENDS, rolled
from app.play.ccp.table import (
    SIDES,
    Doing,
    conditions,
    counter,
    ending,
    gains,
    keep,
    keep_of,
    now,
    reading,
    removes_marker,
    tell_points,
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
from app.referee.words import clauses, counted, not_known, series
from importers.questions import Names

Order = Literal[
    "fire", "op_fire", "move", "advance", "asset_request", "asset_denied", "reconnoiter", "revive", "infiltrate",
    "charge", "command_confusion",
]  # fmt: skip
MOST_UNITS = 60
UnitId = Annotated[str, Names(("unit",))]
UnitIds = Annotated[list[str], Names(("unit",)), Field(max_length=MOST_UNITS)]
CARD = "The card that is played for it, where hands are told"


# Activation.


class Activate(Action):
    """Which order, who first, and whom he takes along."""

    order: Order = Field(description="The order, or op_fire")
    unit: UnitId = Field(description="The id of the unit that is activated first")
    together: UnitIds = Field(
        default_factory=list,
        alias="with",
        description="Ids of units that the first one, a leader, takes along",
    )
    card: str | None = Field(None, description=CARD)


def activate(of: Activate) -> Procedure:
    """O20.1, A41.2: an order is given, or Op Fire announced, and units are activated for it."""
    side, units = yield from may_activate(of.order, of.unit, of.together)
    yield from announces(side, of.order, of.card)
    yield Tell(activated=units, result="activated")
    yield Change(*({"unit": code, "activated": of.order} for code in units))
    if of.order != "op_fire":
        yield from _beginning(of, units)
    yield from tell_points()


def _beginning(of: Activate, units: list[str]) -> Doing:
    """F102.1.1: as an order begins who is activated may go into a cave or come out; asked only where somebody says so."""
    if "into_cave" in of.choices:
        yield from goes_inside(units)
    if "out_of_cave" in of.choices:
        yield from comes_out(units)


# Asset Request.


class AssetRequest(Action):
    """Which of the options without fire, and who asks."""

    option: Literal["communication_established", "communication_restored", "weapon_repair"] = Field(
        description="What is asked for; Fire For Effect, Runs and Illumination are procedures of their own"
    )
    unit: UnitId = Field(description="The leader who asks; of a repair, the unit with the broken weapon")
    card: str | None = Field(None, description=CARD)


@ending
def asset_request(of: AssetRequest) -> Procedure:
    """O24.1, O24.2, O24.6: a radio is gained or restored, or a weapon repaired."""
    side = (yield from counter(of.unit)).side
    rows = yield Ask(
        "select * from ccp.asset_request(:position, :option, :unit, :conditions, :policy)",
        option=of.option,
        unit=of.unit,
    )
    if (bar := refused_by(rows)) is not None:
        raise bar
    if of.option == "weapon_repair":
        yield from announces(side, "asset_request", of.card)
        yield Change({"unit": of.unit, "activated": "asset_request"}, kept=True)
        yield Tell(result="fixed")
        yield from fixes_weapon(of.unit, "O24.6", "repaired")
        return
    yield from gives_order("asset_request", of.unit, (), of.card)
    if of.option == "communication_restored":
        radio = (yield from conditions())["radio"][side]
        yield from keep_of("radio", side, {**radio, "broken": False})
        yield Change({"side": side, "radio": "fixed"}, told=True)
        yield Tell(Step("O24.2", None, "fixed", f"the radio of {SIDES[side]}"), result="fixed")
        return
    yield from _established(of, side)


def _established(of: AssetRequest, side: str) -> Doing:
    """O24.1: a roll on the Radio Table; something must be taken, if only the denied marker."""
    dice = yield from rolled(side, "the Radio Table")
    yield Tell(roll=dice.sum)
    entries = yield Ask(
        "select * from ccp.table_entries(:position, 'radio_table', :side, :roll, :conditions)",
        proves=False,
        side=side,
        roll=dice.sum,
    )
    found = [dict(row.entry) for row in entries]
    told = of.read.get("radio_table", of.choices.get("radio"))
    if told is not None:
        found = [_as_entry(told)]
    if not found:
        raise Undecided(Need("radio_table", "O24.1"), result=None)
    options = [_radio_word(entry) for entry in found]
    word = yield Choose("radio", side, "what the Radio Table offers", options=options, obvious=True)
    entry = found[options.index(word)]
    if entry.get("denied"):
        denied = (yield from conditions()).get("artillery_denied") or []
        yield from keep(artillery_denied=[*denied, side])
        yield Change({"side": side, "radio": "denied"}, told=True)
        yield Tell(Step("O24.1", None, "denied", "the artillery denied marker is taken"), result="denied")
        return
    yield from keep_of("radio", side, {"fp": int(entry["fp"])})
    yield Change({"side": side, "radio": int(entry["fp"])}, told=True)
    yield from gains(side, -int(entry.get("vp") or 0), "O24.1", "paid for the radio")
    yield Tell(Step("O24.1", None, "radio", f"a radio of {entry['fp']} FP"), result="radio")


def _as_entry(told: Any) -> dict[str, Any]:
    """What somebody reads off the Radio Table: `denied`, or {fp, vp}."""
    return {"denied": True} if told == "denied" else dict(told)


def _radio_word(entry: dict[str, Any]) -> Any:
    return (
        "denied"
        if entry.get("denied") in (True, "true")
        else {"fp": int(entry["fp"]), "vp": int(entry.get("vp") or 0)}
    )


# Charge.


class Charge(Action):
    """The Japanese charge; who of the Allies answers."""

    side: Literal["japan"] = Field("japan", description="Only the Japanese charge")
    op_fire: Annotated[list[str] | None, Names(("unit",))] = Field(
        None, description="Ids of Allied units that are activated for Op Fire without a card"
    )
    card: str | None = Field(None, description=CARD)


@ending
def charge(of: Charge) -> Procedure:
    """O25: suppression off, rallied, activated to Move, all who were not activated yet; then Allied Op Fire."""
    rows = yield Ask("select * from ccp.charge(:position, :conditions, :policy)")
    if (bar := refused_by(rows)) is not None:
        raise bar
    facts = rows[-1].facts
    yield from announces("japan", "charge", of.card)
    if any(unit["suppressed"] for unit in facts["units"]) and (yield from reading("ccp-8")) == "a":
        for unit in facts["units"]:
            yield from unsuppresses(unit["unit"], "O25.1")
    for unit in facts["units"]:
        yield from rallies(unit["unit"], "O25.1", "a Charge rallies it")
    movers = [unit["unit"] for unit in facts["units"]]
    if (yield from reading("ccp-13")) == "b":
        movers = yield from _who_can_move(movers)
    yield Change(*({"unit": code, "activated": "move"} for code in movers))
    yield from _allied_answer(of, facts["allied"])
    yield Tell(activated=movers, result="charge")
    if is_played((yield from now())):
        yield Change({"track": "order", "value": {"kind": "move", "acted": True}}, kept=True)


def _who_can_move(units: list[str]) -> Doing:
    found = []
    for code in units:
        [row] = yield Ask(
            "select ccp.can_move(:position, :unit, :conditions, :policy) as moves", proves=False, unit=code
        )
        if row.moves is not False:
            found.append(code)
    return found


def _allied_answer(of: Charge, able: list[str]) -> Doing:
    """O25.2: any or all of the Allied units that are not activated, at the Allied player's discretion (ccp-14)."""
    chosen = of.op_fire
    if able and (yield from reading("ccp-14")) == "b":
        chosen = able
    if chosen is None:
        if not able:
            return
        chosen = yield Choose(
            "op_fire", "allied", "who is activated for Op Fire", options=able, many=True, default=[]
        )
    if lost := [code for code in chosen if code not in able]:
        raise Refused("O25.2", f"{series(lost)} may not be activated for Op Fire now")
    yield Change(*({"unit": code, "activated": "op_fire"} for code in chosen))
    if chosen:
        yield Tell(Step("O25.2", None, "op fire", f"activated without a card: {series(chosen)}"))


# Infiltrate.


class Infiltrate(Action):
    """Which box, and where its pieces appear."""

    box: Literal["A", "B", "C"] = Field(description="The letter of the order, or one of its letters")
    at: Annotated[str | None, Names(("hex",))] = Field(
        None, description="Reveal: the hex with a Sighting marker"
    )
    card: str | None = Field(None, description=CARD)


@ending
def infiltrate(of: Infiltrate) -> Procedure:
    """O28: an empty box hides a new unit; an occupied one reveals its pieces at a Sighting marker."""
    rows = yield Ask("select * from ccp.infiltration(:position, :box, :conditions, :policy)", box=of.box)
    if (bar := refused_by(rows)) is not None:
        raise bar
    facts = rows[-1].facts
    said = yield from announces("japan", "infiltrate", of.card)
    letters = said.get("order_value")
    if letters and of.box not in letters:
        raise Refused("O28", f"the card shows {letters}, not {of.box}")
    yield Tell(result=facts["does"])
    if facts["does"] == "hide":
        yield from _hides(of)
    else:
        yield from _reveals(of, facts)


def _hides(of: Infiltrate) -> Doing:
    """O28.1: one unit of the Support Table goes into the box, for its price."""
    dice = yield from rolled("japan", "the Support Table")
    yield Tell(roll=dice.sum)
    piece = yield from support_piece(of, "japan", dice.sum, "O28.1", priced=True)
    if piece is None:
        yield Tell(Step("O28.1", None, "ends", "nothing can be chosen: the order ends"))
        return
    yield from gains("japan", -int(piece.vp), "O28.1", "paid for what hides")
    yield Change({"unit": piece.unit["unit"], "box": of.box}, told=True)
    yield Change({**piece.unit, "box": of.box}, kept=True)


def _reveals(of: Infiltrate, facts: dict[str, Any]) -> Doing:
    """O28.2: all pieces of the box into the hex of a Sighting marker, which goes."""
    points = ("ccp-25",) if facts["blazing"] else ()
    yield Tell(points=points)
    if of.at is not None and of.at not in facts["hexes"]:
        why = "a blaze is there" if of.at in facts["blazing"] else "no Sighting marker is there"
        raise Refused("O28.2", f"not in {of.at}: {why}", of.at, points=points)
    at = of.at or (
        yield Choose(
            "at", "japan", "where the box is revealed", options=facts["hexes"], obvious=True, also=("hex",)
        )
    )
    for code in facts["units"]:
        yield Change({"unit": code, "box": None}, kept=True)
        yield from comes_in(code, at, "O28.2")
    yield from removes_marker("sighting", at)
    yield Tell(Step("O28.2", at, "revealed", f"{series(facts['units'])}; one Sighting marker goes"))


# Revive.


class Revive(Action):
    """Whose, and how many Revive Points."""

    side: Literal["japan", "allied"] = Field(description="The side that gives the order")
    points: int | None = Field(None, ge=1, le=5, description="Revive Points; else as the card says")
    card: str | None = Field(None, description=CARD)


@ending
def revive(of: Revive) -> Procedure:
    """O31: a point takes off a suppressed marker or rallies a broken unit."""
    rows = yield Ask("select * from ccp.revival(:position, :side, :conditions, :policy)", side=of.side)
    if (bar := refused_by(rows)) is not None:
        raise bar
    jobs: list[dict[str, str]] = rows[-1].facts["jobs"]
    said = yield from announces(of.side, "revive", of.card)
    points = of.points or int(said.get("order_value") or 0)
    if not points:
        raise Undecided(Need("the number of the Revive order", "O31"))
    if of.points and said.get("order_value") and int(said["order_value"]) != of.points:
        raise Refused("O31", f"the card brings {said['order_value']} points")
    spend = yield Choose(
        "spend",
        of.side,
        f"what {counted(points, 'Revive Point')} are spent on",
        check=functools.partial(_is_spent, jobs),
        form="[{unit, do: suppressed|rally}]",
        default=jobs[:points],
    )
    if len(spend) > points:
        raise Refused("O31", f"{counted(len(spend), 'thing')} for {counted(points, 'point')}")
    for job in spend:
        if job["do"] == "rally":
            yield from rallies(job["unit"], "O31", "by a Revive Point")
        else:
            yield from unsuppresses(job["unit"], "O31")
    yield Tell(spent=len(spend), forfeit=points - len(spend), result="revived" if spend else "nothing")


def _is_spent(jobs: list[dict[str, str]], value: Any) -> str | None:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return "spend is a list of {unit, do: suppressed|rally}"
    for n, one in enumerate(value):
        if set(one) != {"unit", "do"} or one["do"] not in ("suppressed", "rally"):
            return "each point is spent so: {unit, do: suppressed|rally}"
        if one in value[:n]:
            return f"{one['unit']} has no second {one['do']}"
        if one not in jobs:
            return f"{one['unit']} is not {'broken' if one['do'] == 'rally' else 'suppressed'}, or not a friend on the map"
    return None


def unsuppresses(code: str, rule: str) -> Doing:
    """A suppressed marker comes off."""
    unit = yield from counter(code)
    if unit.attributes.get("suppressed"):
        yield Tell(Step(rule, unit.label, "suppressed off", code, "a"))
        yield Change({"unit": code, "suppressed": False})


# In words.


def _verdict_of(what: str, done: Any) -> Any:
    def verdict(ruling: Ruling) -> str:
        answer = ruling.answer
        if answer["allowed"] is None:
            return not_known(what, ruling)
        if not answer["allowed"]:
            return f"{what[0].upper()}{what[1:]}: not allowed, {answer['why']}"
        if "pending" in answer:
            return f"{what[0].upper()}{what[1:]}: allowed, and something is still to be told"
        told: str = done(answer)
        return clauses(told, "the game is over" if answer.get("over") else None)

    return verdict


def _revealed(answer: dict[str, Any]) -> str:
    return f"Infiltrate: {answer['result']}"


KINDS = [
    procedure_kind(
        activate,
        kinds=functools.partial(kinds_of, "ccp"),
        name="activate",
        title="Activation for an order or Op Fire",
        arguments=Activate,
        rulesets=("ccp",),
        answers={
            "activated": "ids of the units that are activated",
            "result": "activated",
            "vp": ENDS["vp"],
        },
        verdict=_verdict_of("an activation", lambda answer: f"Activated: {series(answer['activated'])}"),
        points=("ccp-5", "ccp-7", "ccp-17", "ccp-24", "ccp-29", "ccp-33", "ccp-34"),
        example="activate: {order: move, unit: Leader, with: [Squad]}",
        names_units=("activated",),
    ),
    procedure_kind(
        asset_request,
        kinds=functools.partial(kinds_of, "ccp"),
        name="asset_request",
        title="Asset Request for a radio or a repair",
        arguments=AssetRequest,
        rulesets=("ccp",),
        answers={
            "roll": "Communication Established: the roll on the Radio Table",
            "result": "fixed, radio or denied",
            **ENDS,
        },
        verdict=_verdict_of("an Asset Request", lambda answer: f"Asset Request: {answer['result']}"),
        example="asset_request: {option: weapon_repair, unit: Team}",
    ),
    procedure_kind(
        charge,
        kinds=functools.partial(kinds_of, "ccp"),
        name="charge",
        title="Charge",
        arguments=Charge,
        rulesets=("ccp",),
        answers={"activated": "ids of the units that are activated to Move", "result": "charge", **ENDS},
        verdict=_verdict_of("a Charge", lambda answer: f"Charge: {series(answer['activated']) or 'nobody'}"),
        points=("ccp-8", "ccp-13", "ccp-14"),
        example="charge: {side: japan}",
        names_units=("activated",),
    ),
    procedure_kind(
        infiltrate,
        kinds=functools.partial(kinds_of, "ccp"),
        name="infiltrate",
        title="Infiltrate",
        arguments=Infiltrate,
        rulesets=("ccp",),
        answers={"result": "hide or reveal", "roll": "hide: the roll on the Support Table", **ENDS},
        verdict=_verdict_of("Infiltrate", _revealed),
        points=("ccp-25",),
        example="infiltrate: {box: A}",
    ),
    procedure_kind(
        revive,
        kinds=functools.partial(kinds_of, "ccp"),
        name="revive",
        title="Revive",
        arguments=Revive,
        rulesets=("ccp",),
        answers={
            "spent": "points that were spent",
            "forfeit": "points that are lost",
            "result": "revived or nothing",
            **ENDS,
        },
        verdict=_verdict_of(
            "a Revive order", lambda answer: f"{counted(answer['spent'], 'Revive Point')} spent"
        ),
        points=(),
        example="revive: {side: allied, points: 2, choices: {spend: [{unit: Squad, do: rally}]}}",
    ),
]
