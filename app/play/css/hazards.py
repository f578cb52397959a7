"""What waits for who moves: mines (28.0), booby traps (23.0), Ambush Units (24.0), Snipers (25.0)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from app.play.charts import cell
from app.play.css.dice import d10
from app.play.css.events import drawn_from, put_down
from app.play.css.fire import POINTS as FIRE_POINTS
from app.play.css.fire import RESULT, Hit, Shot, aimed, results, shoot
from app.play.css.frame import Asking, css_kind, game, ledger
from app.play.css.points import paid
from app.play.css.status import (
    RESULTS,
    Orders,
    Struck,
    disorganize,
    eliminate,
    lose_leader,
    pin,
    settle,
    suppress,
)
from app.play.procedures import (
    Action,
    Ask,
    Call,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    Undecided,
)
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, counted, series
from db.values import canonical
from importers.questions import Names

Ids = Annotated[list[str], Names(("unit",))]
Hex = Annotated[str, Names(("hex",))]
EXTREMES = (0, 9)
PLACES = (
    "select unit.code, unit.side, unit.kind, unit.attributes, hex.label from unit"
    " join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and unit.code = any(:codes) order by unit.code"
)
HERE = (
    "select unit.code, unit.side, unit.kind, unit.attributes from unit"
    " join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
    " where unit.position_id = :position and hex.label = :label"
    " and not coalesce((unit.attributes ->> 'in_cave')::boolean, false) order by unit.code"
)
MARKED = (
    "select marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
    " where marker.position_id = :position and marker.kind = :kind and hex.label = :label"
)
FOLLOWERS = ("leader", "hero", "support_weapon")


def units_of(rows: Sequence[Any], side: str | None = None) -> list[Any]:
    """The Units among counters of a hex."""
    return [row for row in rows if row.kind not in (*FOLLOWERS, "truck") and side in (None, row.side)]


# Mines.


class Mines(Action):
    """Who leaves a mined beach, and whereto."""

    units: Ids = Field(description="Ids of those who move", min_length=1)
    to: Hex = Field(description="The hex that they enter")
    op_fire_dg: int = Field(
        0, ge=0, le=9, description="DG of Opportunity Fire that do not lie on the hex yet"
    )


def mines(of: Mines) -> Procedure:
    """28.1."""
    rows = yield Ask(PLACES, proves=False, codes=of.units)
    labels = {row.label for row in rows}
    if len(labels) != 1:
        raise Refused("28.1", "all who leave together are in one hex")
    if rows[0].side != "us":
        raise Refused("28.1", "mines are for American Units")
    orders = Orders(of.choices)
    stays = yield from mined(of.units, labels.pop(), of.to, of.op_fire_dg, orders, told_apart=True)
    yield Tell(result="stays" if stays else "moves")


def mined(
    codes: Sequence[str],
    source: str,
    to: str,
    op_fire_dg: int,
    orders: Orders,
    *,
    told_apart: bool = False,
    purpose: str = "mines",
    ahead: Callable[[], Asking] | None = None,
) -> Asking:
    """The die of the mines, whether the Americans stay, and their entry; gives whether they stay.

    `ahead` is what may still throw them back, an Ambush: it gives whether it does (css-86).
    """
    die = yield from d10(purpose)
    dg = (yield from ledger("mines", tells=True, label=source, die=die))["dg"]
    yield Tell(roll=die, dg=dg)
    crossing = {
        "codes": list(codes),
        "to": to,
        "mine_dg": dg,
        "op_fire_dg": op_fire_dg,
        "told_apart": told_apart,
    }
    facts = yield from ledger("crossing", **crossing, inside=False)
    yield Tell(total=facts["carried"], eliminated=facts["eliminated"])
    stays = yield from orders.flag("stay", "us", "whether they stay on the beach, for one DG")
    if not stays:
        if ahead is not None and (yield from _thrown_back(codes, source, facts, orders, ahead)):
            return True
        yield from crossed(codes, to, facts, orders)
        return False
    yield Tell(Step("28.1", source, "stays", "one DG on the beach instead of those of the mines"))
    yield Change({"hex": source, "dg": facts["stays_at"]})
    if facts["lost_by_staying"]:
        yield from _lost(codes, source, facts["lost_by_staying"], orders)
    return True


def _thrown_back(
    codes: Sequence[str], source: str, facts: dict[str, Any], orders: Orders, ahead: Callable[[], Asking]
) -> Asking:
    """24.1: who meets an Ambush is in the hex that he was leaving, with the DG of its mines."""
    yield Change({"hex": source, "dg": facts["carried"]})
    if not (yield from ahead()):
        yield Change({"hex": source, "dg": facts["here"]})
        return False
    if facts["eliminated"]:
        yield from _lost(codes, source, facts["eliminated"], orders)
    return True


def crossed(codes: Sequence[str], to: str, facts: dict[str, Any], orders: Orders) -> Procedure:
    """6.1.1: movers enter a hex with their DG; what they left behind keeps its own, or nothing."""
    going = list(codes)
    if facts["eliminated"]:
        lost = yield from _lost(codes, facts["from"], facts["eliminated"], orders)
        going = [code for code in going if code not in lost]
    rows = yield Ask(PLACES, proves=False, codes=going)
    if not units_of(rows):
        return
    if facts["here"] and not facts["stay"]:
        cave = {"in_cave": True} if facts["from_inside"] else {}
        yield Change({"hex": facts["from"], **cave, "dg": 0})
    yield Change(*({"unit": code, "at": to} for code in going))
    if facts["dg"] != facts["there"]:
        yield Change({"hex": to, "dg": facts["dg"]})


def _lost(codes: Sequence[str], label: str, number: int, orders: Orders) -> Asking:
    rows = units_of((yield Ask(PLACES, proves=False, codes=list(codes))))
    lost = yield from orders.some(
        "eliminated", "us", "which units are eliminated", [row.code for row in rows], min(number, len(rows))
    )
    for code in lost:
        yield from eliminate(code, "10.2.3")
    yield from settle(label, False, orders)
    return lost


class Demolition(Action):
    """Only the die."""


def demolition(_: Demolition) -> Procedure:
    """28.3: half a die for every mined beach, before the game."""
    die = yield from d10("demolition teams")
    [row] = yield Ask("select css._mine_dg(:die, 0) as dg", proves=False, die=die)
    yield Tell(
        Step("28.3", None, f"{row.dg} DG", "half the die, rounded down, under every Mine marker"),
        dg=row.dg,
        roll=die,
    )
    lying = yield Ask(
        "select hex.label, marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q"
        " and hex.r = marker.r where marker.position_id = :position and marker.kind = 'mines' order by hex.label",
        proves=False,
    )
    for field in lying:
        yield Change({"marker": "mines", "at": field.label, "removed": True})
        yield Change({"marker": "mines", "at": field.label, "demolition": row.dg})


# Snipers and booby traps.


class AtUnit(Action):
    """Where it lies, and who sets it off."""

    at: Hex = Field(description="The hex of the counter")
    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that sets it off")


def sniper(of: AtUnit) -> Procedure:
    """25.0."""
    [target] = yield Ask(PLACES, proves=False, codes=[of.unit])
    if target.side != "us":
        raise Refused("25.0", "only Americans set a Sniper off", target.label)
    orders = Orders(of.choices)
    yield from sniped(of.at, target.label, of.unit, of, orders)


def sniped(at: str, label: str, unit: str, of: Action, orders: Orders) -> Procedure:
    """A Sniper fires at a hex that was entered, and leaves if nobody is Pinned for it."""
    found = yield Ask("select * from css.snipers_at(:position, :label)", proves=False, label=label)
    lair = next((row for row in found if at in (row.at, label)), None)
    if lair is None:
        raise Refused("25.0", "no Sniper lies beside the hex of the unit", at)
    values = yield from _values("sniper", lair.attributes, of, lair.at)
    die = yield from d10(f"the Sniper in {lair.at} at {label}", dogs=(yield from _dogs(label)))
    doomed = yield from _doomed(values, die, label, orders)
    result = yield from _sniper_effect(values, die, label, orders)
    yield Tell(roll=die, result=result)
    yield from _leader_lost(doomed, "25.0")
    facts = yield from ledger("sniper_gone", at=lair.at, unit=unit, struck=result == "pinned")
    yield Tell(removed=facts["removed"])
    if facts["removed"]:
        yield Change({"marker": "sniper", "at": lair.at, "removed": True})
        yield from _to_pool("sniper", lair.attributes.get("id"))


def _sniper_effect(values: dict[str, Any], die: int, label: str, orders: Orders) -> Asking:
    struck = Struck(
        "us", label, tuple(row.code for row in units_of((yield Ask(HERE, proves=False, label=label))))
    )
    if values.get("dg") is not None and die <= values["dg"]:
        yield from disorganize(struck, 1, orders)
        return "dg"
    if values.get("suppress") is not None and die <= values["suppress"]:
        yield from suppress(struck, "25.0")
        return "suppressed"
    if values.get("pin") is not None and die <= values["pin"]:
        yield from pin(struck, "25.0")
        return "pinned"
    yield Tell(Step("25.0", label, "no effect", f"the Sniper rolls {die}"))
    return "no_effect"


def _dogs(label: str) -> Asking:
    """12.5: the number of an alert weapon in the hex."""
    rows = yield Ask(HERE, proves=False, label=label)
    numbers = [int(row.attributes["alert"]) for row in rows if row.side == "us" and "alert" in row.attributes]
    return max(numbers, default=None)


def _values(kind: str, marker: dict[str, Any], of: Action, at: str) -> Asking:
    """The numbers of a counter: told with the marker, filled into the chart, or read off it."""
    values = dict(marker.get("values") or {})
    told = of.read.get("hidden_markers")
    if not values and isinstance(told, dict):
        values = {key: value for key, value in told.items() if isinstance(value, int)}
    if not values and marker.get("id"):
        for key in ("pin", "dg", "suppress", "fire", "leader_loss"):
            [row] = (
                yield Ask(
                    "select cell.value from charts.cell('css', 'hidden_markers', :row, :key) as cell union all"
                    " select null limit 1",
                    proves=False, row=marker["id"], key=key,
                )
            )  # fmt: skip
            if row.value is not None and row.value.lstrip("-").isdigit():
                values[key] = int(row.value)
    if not values:
        raise Undecided(Need("hidden_markers", "25.0" if kind == "sniper" else "23.0"), result=None)
    yield Tell(
        Step(
            "25.0" if kind == "sniper" else "23.0",
            at,
            "flipped",
            series(f"{k.replace('_', ' ')} {v}" for k, v in values.items()),
        ),
        values=values,
    )
    return values


def _doomed(values: dict[str, Any], die: int, label: str, orders: Orders) -> Asking:
    """One die serves for both: a Hero of those who are there, else a Leader of the Japanese player's choice."""
    if values.get("leader_loss") is None or die > values["leader_loss"]:
        return None
    rows = [row for row in (yield Ask(HERE, proves=False, label=label)) if row.kind in ("leader", "hero")]
    if heroes := [row for row in rows if row.kind == "hero"]:
        rows = heroes
    if not rows:
        return None
    code = yield from orders.one(
        "lost", "japan", f"which {rows[0].kind.title()} is lost", [row.code for row in rows]
    )
    return next(row for row in rows if row.code == code)


def _leader_lost(doomed: Any, rule: str) -> Asking:
    """The Hero is lost for good, a Leader has his replacement (13.3)."""
    if doomed is None:
        return
    yield from (eliminate if doomed.kind == "hero" else lose_leader)(doomed.code, rule)
    yield Tell(lost=doomed.code)


def _to_pool(name: str, code: str | None) -> Procedure:
    _, tracks = yield from game()
    pools = tracks.get("pools")
    if code is not None and pools is not None and code not in pools.get(name, []):
        yield Change({"track": f"pools.{name}", "value": [*pools.get(name, []), code]}, kept=True)


def booby_trap(of: AtUnit) -> Procedure:
    """23.0."""
    [target] = yield Ask(PLACES, proves=False, codes=[of.unit])
    if target.label != of.at:
        raise Refused("23.0", "a booby trap goes off when its hex is entered", of.at)
    state, _ = yield from game()
    if target.side == "japan":
        yield Tell(points=("css-77",))
        if state.readings["css-77"] == "a":
            raise Refused("23.0", "a booby trap is there for Americans", of.at)
    yield from trapped(of.at, of, Orders(of.choices))


def trapped(label: str, of: Action, orders: Orders) -> Procedure:
    """A High Explosive attack without modifiers on the hex; the trap is gone."""
    found = yield Ask(MARKED, proves=False, kind="booby_trap", label=label)
    if not found:
        raise Refused("23.0", "no booby trap lies in the hex", label)
    values = yield from _values("booby_trap", found[0].attributes, of, label)
    strength = values.get("fire")
    die = yield from d10(f"the booby trap in {label}", dogs=(yield from _dogs(label)))
    rows = yield Ask(RESULT, row="high_explosive", value=strength, die=die, read=canonical(of.read))
    parts = rows[-1].facts
    yield Tell(roll=die, type="high_explosive", value=strength, result=parts["result"], crt=parts["crt"])
    doomed = yield from _doomed(values, die, label, orders)
    units = units_of((yield Ask(HERE, proves=False, label=label)))
    if units:
        side = units[0].side
        facts = {
            "enemy": side, "side": "japan" if side == "us" else "us", "hex": label, "units": [row.code for row in units],
            "inside": False, "at_sea": False, "named": None, "target_unit": None, "flame": False,
            "column": [row.code for row in units if row.attributes.get("posture") == "column"],
        }  # fmt: skip
        yield from results(
            Shot(by=(), at=label, read=of.read), Hit(facts, die, parts["result"], parts["crt"], parts), orders
        )
    yield from _leader_lost(doomed, "23.0")
    yield Tell(Step("23.0", label, "removed", "a booby trap is used once"), removed=True)
    yield Change({"marker": "booby_trap", "at": label, "removed": True})


# Ambush Units.


class Ambush(Action):
    """Where an Ambush is tried, and by whom."""

    to: Hex = Field(description="The hex that Americans try to enter")
    by: Annotated[str | list[str] | None, Names(("unit",))] = Field(
        None, description="The Deployed Japanese unit beside it"
    )
    pays: str | None = Field(None, description="The Division that pays the Direct Command")
    unit: Annotated[str | None, Names(("unit",))] = Field(None, description="Who tries to enter")


def ambush(of: Ambush) -> Procedure:
    """24.1."""
    by = of.by[0] if isinstance(of.by, list) else of.by
    orders = Orders(of.choices)
    yield from _not_held(of.unit)
    result = yield from ambushed(of, of.to, by, of.pays, of.unit, orders)
    yield Tell(result=result)


def _not_held(unit: str | None) -> Procedure:
    """24.1: who could not have entered is not ambushed."""
    if unit is None:
        return
    query = (
        "select held.rule, held.note, hex.label from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q"
        " and hex.r = unit.r cross join lateral css._holds(:position, unit.q, unit.r, false) as held"
        " where unit.position_id = :position and unit.code = :unit"
    )
    for row in (yield Ask(query, proves=False, unit=unit)):
        raise Refused("24.1", f"{row.note}, so that no hex is entered", row.label)


def _whose(conditions: dict[str, Any]) -> dict[str, Any]:
    """Whose Activation it is, and which Action: what an Ambush Unit that fires at once is free of."""
    told = {key: conditions[key] for key in ("active", "action") if conditions.get(key) is not None}
    return {"active": None} | told if told or conditions.get("activation") else {}


def ambushed(
    of: Action, to: str, by: str | None, pays: str | None, unit: str | None, orders: Orders
) -> Asking:
    """The price, the die, the Ambush Unit and its fire; gives `placed` or `failed`."""
    facts = yield from ledger("ambush", to=to, by=by)
    division = yield from _payer(facts["payers"], pays, orders)
    if division is not None:
        yield Tell(cost={division: (yield from _price(division))})
    number = facts["number"]
    if number is None:
        told = yield from cell(of, "terrain_effects_chart", facts["terrain"], "ambush", rule="24.1")
        if told is None:
            raise Undecided(result=None)
        number = int(told)
    yield Tell(number=number)
    state, _ = yield from game()
    tried = [*state.conditions.get("ambush_tried", []), to]
    yield Change({"conditions": {"ambush_tried": tried}}, kept=True)
    die = yield from d10(f"the Ambush in {to}")
    placed = die <= number
    if die in EXTREMES:
        yield Tell(points=("css-59",))
        placed = die == EXTREMES[0] if facts["natural"] else placed
    yield Tell(Step("24.1", to, "placed" if placed else "failed", f"{die} against {number}"), roll=die)
    yield Tell(result="placed" if placed else "failed")
    if not placed:
        return "failed"
    code = yield from _ambush_unit()
    yield from put_down(code, to)
    target = yield from _ambushed_hex(to, unit, orders)
    if target is not None:
        # 24.1: it fires at once, in the Activation of those whom it throws back
        whose = _whose(state.conditions)
        if whose:
            yield Change({"conditions": dict.fromkeys(whose) | {"active": {"units": [code]}}}, kept=True)
        shot = yield from aimed(Shot(by=(code,), at=target, read=of.read), orders)
        fired = yield Call(shoot(shot, orders, purpose=f"the Ambush fire from {to}"))
        if whose:
            yield Change({"conditions": whose}, kept=True)
        yield Tell(
            fire={key: fired[key] for key in ("type", "value", "result", "crt", "rout") if key in fired}
        )
    return "placed"


def _payer(payers: list[str], pays: str | None, orders: Orders) -> Asking:
    if pays is not None:
        if payers and pays not in payers:
            raise Refused("24.1", f"{pays} has no regular Deployed unit beside the hex")
        return pays
    if not payers:
        return None
    return (yield from orders.one("pays", "japan", "which Division pays", payers, rule="24.1"))


def _price(division: str) -> Asking:
    _, tracks = yield from game()
    if division in tracks.get("divisions", {}):
        return (yield from paid(division))
    return 1


def _ambush_unit() -> Asking:
    """One of the pool, drawn blind; without a pool, of the counters that wait in its box."""
    _, tracks = yield from game()
    pool = (tracks.get("pools") or {}).get("ambush")
    if pool is None:
        rows = yield Ask(
            "select code from unit where position_id = :position and kind = 'ambush' and q is null"
            " and attributes ->> 'status' is null order by code",
            proves=False,
        )
        pool = [row.code for row in rows]
    if not pool:
        raise Refused("24.0", "no Ambush Unit is left")
    return (yield from drawn_from("ambush", list(pool), "the Ambush Unit"))


def _ambushed_hex(to: str, unit: str | None, orders: Orders) -> Asking:
    """Where the Americans are that stay: of several hexes the Japanese player chooses."""
    if unit is not None:
        [row] = yield Ask(PLACES, proves=False, codes=[unit])
        return row.label
    rows = yield Ask(
        "select distinct hex.label from hex as goal join hex on hex.map_id = goal.map_id"
        " and lattice.distance(hex.q, hex.r, goal.q, goal.r) = 1 join position on position.map_id = hex.map_id"
        " where position.id = :position and goal.label = :to and css._held_by(:position, 'us', hex.q, hex.r)"
        " order by hex.label",
        proves=False, to=to,
    )  # fmt: skip
    labels = [row.label for row in rows]
    if not labels:
        return None
    return (yield from orders.one("at", "japan", "at whom the Ambush Unit fires", labels))


class Disband(Action):
    """Which Ambush Unit."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The Ambush Unit")
    pays: str | None = Field(None, description="The Japanese Division that pays")


def disband(of: Disband) -> Procedure:
    """24.3, css-27."""
    facts = yield from ledger("disband", unit=of.unit)
    if not facts["free"]:
        division = of.pays
        if division is None and facts["payers"]:
            division = yield Choose(
                "pays", "japan", "which Division pays", options=facts["payers"], obvious=True, rule="24.3"
            )
        if division is not None and facts["payers"] and division not in facts["payers"]:
            raise Refused("24.3", f"{division} is no Japanese Division")
        if division is not None:
            yield Tell(cost={division: (yield from _price(division))})
    yield Tell(result="disbanded")
    yield Change({"unit": of.unit, "at": None, "box": "pool"})
    yield from _to_pool("ambush", of.unit)


def _mines_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    return clauses(
        f"Mines: {answer['dg']} DG",
        "they stay on the beach" if answer["result"] == "stays" else f"DG {answer['total']} in all",
        f"{counted(answer['eliminated'], 'unit')} eliminated"
        if answer["eliminated"] and answer["result"] == "moves"
        else None,
    )


def _sniper_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    return clauses(
        f"The Sniper: {answer['result'].replace('_', ' ')}",
        f"{answer['lost']} is lost" if answer.get("lost") else None,
        "he leaves" if answer["removed"] else "he stays",
    )


def _trap_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    told = answer["crt"] or answer["result"] or "a result that is not told"
    return clauses(f"The booby trap: {told}", f"{answer['lost']} is lost" if answer.get("lost") else None)


def _ambush_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["result"] == "failed":
        return "The Ambush fails"
    return f"{answer.get('ambush', 'An Ambush Unit')} is placed in {ruling.question['ambush']['to']}"


COST = {"cost": "Direct Commands, by the Division that pays"}
FIRE = {
    "type": "the type of its fire",
    "value": "its fire value",
    "crt": "the code of the results table",
    "broken": "weapons that broke",
    "rout": "the rout check",
}
KINDS = [
    css_kind(
        mines,
        name="mines",
        title="Mines on a beach that is left",
        what="mines",
        done=_mines_verdict,
        arguments=Mines,
        answers={
            "roll": "the die",
            "dg": "DG of the mines",
            "total": "DG of those who move on, in all",
            "eliminated": "units lost, as DG4 is exceeded",
            "result": "moves or stays",
        },
        points=("css-2", "css-84"),
        acts=False,
        example='mines: {units: [A/1/3], to: "24.59", rolls: [8]}',
    ),
    css_kind(
        demolition,
        name="demolition",
        title="Underwater demolition teams",
        what="demolition",
        done=lambda ruling: f"Demolition teams place {ruling.answer['dg']} DG under the mines",
        arguments=Demolition,
        answers={"roll": "the die", "dg": "what is taken off every mine roll"},
        example="demolition: {rolls: [5]}",
    ),
    css_kind(
        sniper,
        name="sniper",
        title="A Sniper fires",
        what="Sniper",
        done=_sniper_verdict,
        arguments=AtUnit,
        answers={
            "roll": "the die",
            "result": "pinned, dg, suppressed or no_effect",
            "lost": "the Hero or Leader who is lost",
            "removed": "whether the Sniper leaves",
            "values": "the numbers of the counter",
        },
        points=("css-6", *RESULTS),
        acts=False,
        example='sniper: {at: "20.81", unit: A/1/9, rolls: [4]}',
    ),
    css_kind(
        booby_trap,
        name="booby_trap",
        title="A booby trap goes off",
        what="booby trap",
        done=_trap_verdict,
        arguments=AtUnit,
        answers={
            **FIRE,
            "roll": "the die",
            "result": "hit or miss",
            "lost": "the Hero or Leader who is lost",
            "removed": "always true",
            "values": "the numbers of the counter",
        },
        points=("css-77", "css-5", "css-55", "css-78", "css-85", *RESULTS),
        acts=False,
        example='booby_trap: {at: "22.80", unit: A/1/9, rolls: [4]}',
    ),
    css_kind(
        ambush,
        name="ambush",
        title="An Ambush is tried",
        what="Ambush",
        done=_ambush_verdict,
        arguments=Ambush,
        answers={
            **COST,
            "fire": "the fire of the Ambush Unit: type, value, result, crt",
            "number": "the number that must not be exceeded",
            "roll": "the die",
            "result": "placed or failed",
            "ambush": "the Ambush Unit",
        },
        points=("css-59", *FIRE_POINTS, *RESULTS),
        acts=False,
        example='ambush: {to: "34.80", by: 1/18, pays: 29 InfDiv, rolls: [5]}',
    ),
    css_kind(
        disband,
        name="disband",
        title="An Ambush Unit is disbanded",
        what="disbanding",
        done=lambda ruling: f"{ruling.question['disband']['unit']} goes back to the pool",
        arguments=Disband,
        answers={**COST, "result": "disbanded"},
        points=("css-27",),
        example="disband: {unit: Ambush 1, pays: 29 InfDiv}",
    ),
]
