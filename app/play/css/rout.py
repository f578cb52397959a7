"""Rout checks, and routed units that come back: 8.5.1, 8.5.2, 8.5.3."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.css.dice import d10
from app.play.css.frame import css_kind
from app.play.css.status import (
    PAYS,
    RESULTS,
    Doing,
    Orders,
    Struck,
    charge,
    counter,
    disorganize,
    eliminate,
    note_action,
    off,
    pin,
    reading,
    settle,
)
from app.play.procedures import Action, Ask, Change, Procedure, Refused, Tell
from app.referee.questions.geometry import Place
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses
from db.values import canonical
from importers.questions import Names

LEDGER = "select * from css.rout(:position, cast(:check as jsonb), :conditions, :policy)"
CHECK = "select * from css.quality_check(:position, :die, :modifier, :quality, true, '8.5.1')"
WAY = "select * from css.rout_way(:position, :unit, :conditions, :policy)"
LINE = (
    "select coalesce(max((attributes ->> 'order')::integer), 0) + 1 as last from unit"
    " where position_id = :position and attributes #>> '{zone,beach}' = :beach"
    " and attributes #>> '{zone,run}' = 'transport'"
)
UNITS = (
    "select piece.code from unit join css._pieces(:position, unit.q, unit.r, :inside) as piece on piece.is_unit"
    " and piece.side = unit.side where unit.position_id = :position and unit.code = :unit order by piece.code"
)


@dataclasses.dataclass(frozen=True)
class Checked:
    """A rout check that is called for."""

    unit: str
    stars: int = 0
    struck: Struck | None = None
    """What was fired at; without it the unit's own hex."""
    landing: bool = False
    posture: str | None = None
    defense_of: str | None = None
    """css-85 b: the unit whose Defense was used for the fire."""
    flame: bool = False
    burns: bool = False
    read: dict[str, Any] = dataclasses.field(default_factory=dict)


def check(of: Checked, orders: Orders) -> Doing:
    """8.5.1: the check and what comes of it; gives `{unit, total, tq, result}`."""
    asked = {
        "unit": of.unit, "stars": of.stars, "landing": of.landing, "posture": of.posture, "read": of.read,
        "flame": of.flame,
    } | ({"defense_of": of.defense_of} if of.defense_of else {})  # fmt: skip
    [*_, verdict] = yield Ask(
        LEDGER, check=canonical({key: value for key, value in asked.items() if value is not None})
    )
    facts = verdict.facts
    struck = of.struck or (yield from _own_place(of, facts))
    told = {"unit": of.unit, "tq": facts["tq"], "modifiers": facts["modifiers"], "total": None}
    if facts["desperate"] and facts["side"] == "japan":
        yield Tell(Step("9.6.3", facts["hex"], "ignores", "who is under a Gyokusai marker does not rout"))
        return told | {"result": "passes"}
    if facts["inside"] and (yield from reading("css-71")) == "b":
        yield from _in_cave(struck, orders)
        return told | {"result": "cave"}
    if facts["tenacious"] and (yield from _tenacity(of, facts, struck, orders)):
        return told | {"result": "tenacity"}
    if not facts["tenacious"] and orders.said("tenacity"):
        yield Tell(Step("8.5.3", facts["hex"], "passes", "Tenacity is of Japanese Army units"))
    die = yield from d10(f"the rout check of {of.unit}")
    [outcome] = yield Ask(CHECK, die=die, modifier=facts["modifier"], quality=facts["tq"])
    told["total"] = outcome.facts["total"]
    passes = outcome.facts["passes"]
    if passes is None:
        return told | {"result": None}
    return told | {"result": "passes" if passes else (yield from _fails(of, facts, struck, orders))}


def _own_place(of: Checked, facts: dict[str, Any]) -> Doing:
    """The hex of the unit, or the unit itself at sea."""
    units = tuple(row.code for row in (yield Ask(UNITS, proves=False, unit=of.unit, inside=facts["inside"])))
    carriers = (of.unit,) if facts["at_sea"] or of.landing else ()
    return Struck(
        facts["side"], facts["hex"], units or (of.unit,), facts["inside"], carriers, facts["at_sea"]
    )


def _tenacity(of: Checked, facts: dict[str, Any], struck: Struck, orders: Orders) -> Doing:
    """8.5.3: Army units may take 1 DG and not check; not against a Flamethrower (8.8, css-73)."""
    if of.flame and ((yield from reading("css-73")) == "a" or of.burns):
        yield Tell(Step("8.8", facts["hex"], "forbids", "no Tenacity against a Flamethrower"))
        return False
    taken = yield from orders.flag(
        "tenacity", facts["side"], f"whether {of.unit} takes 1 DG and does not check"
    )
    if taken:
        yield Tell(Step("8.5.3", facts["hex"], "+1 DG", "Tenacity: 1 DG and no check"))
        yield from disorganize(struck, 1, orders)
    return taken


def _in_cave(struck: Struck, orders: Orders) -> Doing:
    yield Tell(Step("6.3", struck.hex, "+1 DG", "in a cave a rout is 1 DG"))
    yield from disorganize(struck, 1, orders)


def _fails(of: Checked, facts: dict[str, Any], struck: Struck, orders: Orders) -> Doing:
    """Column routs, Deployed pins; a cave and the sea have ways of their own (6.3, 8.5.1, 22.3.1)."""
    if facts["at_sea"]:
        yield from _to_transport(of.unit)
        return "routs"
    if not facts["column"]:
        yield from pin(struck)
        return "pinned"
    if facts["inside"]:
        yield from _in_cave(struck, orders)
        return "cave"
    [way] = yield Ask(WAY, unit=of.unit)
    if way.facts["open"]:
        yield from rout_off(of.unit)
    else:
        yield from eliminate(of.unit, "8.5.1", f"{of.unit} has no way to an HQ")
    if not of.landing:
        others = tuple(code for code in struck.units if code != of.unit)
        if others:
            yield from pin(dataclasses.replace(struck, units=others))
        yield from settle(struck.hex, struck.inside, orders)
    return "routs" if way.facts["open"] else "eliminated"


def rout_off(code: str) -> Doing:
    """A unit goes to the Routed Units box, without markers; a Japanese gun comes back in Column for good (8.5.1, 8.7.5)."""
    row = yield from counter(code)
    yield Tell(Step("8.5.1", row.label, "routed", f"{code} goes to the Routed Units box"))
    own = {
        key: value
        for key, value in (("dg", 0), ("pinned", False), ("suppressed", False))
        if row.attributes.get(key)
    }
    if own and (yield from reading("css-34")) == "b":
        own = {}
    flips = (
        {"posture": "column"}
        if row.attributes.get("gun") and row.attributes.get("posture") != "column"
        else {}
    )
    yield Change({"unit": code, **off(row), "box": "routed", **own, **flips})
    if truck := row.attributes.get("loaded_in"):
        yield Tell(Step("15.0", row.label, "routed", f"{truck} flees with what it carries"))
        yield Change({"unit": truck, **off((yield from counter(truck))), "box": "routed"})


def _to_transport(code: str) -> Doing:
    """22.3.1: a unit that routs at sea waits behind all others in Transport, and Pins nobody."""
    row = yield from counter(code)
    zone = row.attributes["zone"]
    [line] = yield Ask(LINE, proves=False, beach=zone["beach"])
    yield Tell(Step("22.3.1", zone["beach"], "routed", f"{code} is last among those in Transport"))
    yield Change({"unit": code, "zone": zone | {"run": "transport"}, "order": line.last, "dg": 0})


# The kinds.


class Rout(Action):
    """Which unit checks, and how."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The unit that checks")
    stars: Literal[0, 1, 2] = Field(0, description="Stars of the result, each 1 off the die")
    landing: bool = Field(
        False, description="Whether it is on its way from the Final Run-In Zone to the beach"
    )
    posture: Literal["deployed", "column"] | None = Field(
        None, description="Its posture where it is otherwise than on the map, as of a unit that lands"
    )


def rout(of: Rout) -> Procedure:
    """A rout check by itself."""
    row = yield from counter(of.unit)
    if row.label is None and "zone" not in row.attributes:
        raise Refused("8.5.1", f"{of.unit} is not on the map")
    orders = Orders(of.choices)
    told = yield from check(
        Checked(of.unit, of.stars, landing=of.landing, posture=of.posture, read=of.read), orders
    )
    yield Tell(**{key: told[key] for key in ("total", "tq", "result", "modifiers")})
    yield from orders.finish("tenacity", "eliminated", "weapons_lost")


class Return(Action):
    """Which routed unit comes back, and where."""

    unit: Annotated[str, Names(("unit",))] = Field(description="A unit in the Routed Units box")
    to: Place = Field(description="The hex where it is placed")
    pays: str | None = PAYS


RETURN = "select * from css.return(:position, :unit, :to, :conditions, :policy)"


def come_back(of: Return) -> Procedure:
    """8.5.2: on or beside the Division HQ, an HQ on or beside the Division Leader, out of Fire Zones."""
    rows = yield Ask(RETURN, unit=of.unit, to=of.to)
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, rows[-1].at)
    yield Tell(result="returns")
    orders = Orders(of.choices)
    yield from charge(facts["cost"], orders, [of.unit], of.pays)
    yield Change({"unit": of.unit, "at": facts["hex"], "box": None})
    if truck := (yield from counter(of.unit)).attributes.get("loaded_in"):
        yield Tell(Step("15.0", facts["hex"], "returns", f"{of.unit} comes back in {truck}"))
        yield Change({"unit": truck, "at": facts["hex"], "box": None})
    yield from note_action({}, [of.unit])
    yield from orders.finish("pays")


def _rout_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    words = {
        "passes": "passes its rout check", "routs": "routs", "pinned": "fails, and the hex is Pinned",
        "eliminated": "routs without a way and is eliminated", "tenacity": "holds and takes 1 DG",
        "cave": "stays in the cave, which takes 1 DG", None: "checks, and what comes of it is not told",
    }  # fmt: skip
    of = ruling.question["rout"]["unit"]
    total = None if answer.get("total") is None else f"{answer['total']} against {answer['tq']}"
    return clauses(f"{of} {words[answer.get('result')]}", total)


KINDS = [
    css_kind(
        rout,
        what="rout check",
        done=_rout_verdict,
        name="rout",
        title="Rout check",
        arguments=Rout,
        answers={
            "total": "the modified die",
            "tq": "the Troop Quality against which it is compared",
            "result": "passes, routs, pinned, eliminated, tenacity, cave",
        },
        points=RESULTS,
        example="rout: {unit: 2/II/18, stars: 1, rolls: [4]}",
    ),
    css_kind(
        come_back,
        what="return",
        done=lambda ruling: f"{ruling.question['return']['unit']} comes back",
        name="return",
        title="A routed unit comes back",
        arguments=Return,
        answers={"result": "returns", "cost": "Direct Commands, by Division"},
        example='return: {unit: B/1/3, to: "22.80"}',
    ),
]
