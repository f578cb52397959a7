"""Moves (5.0, 20.3): asked as a whole; in a game hex by hex, and after each hex the other side may interrupt."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from app.play.bob.asking import Asking, checked, counter, game, piece, pieces
from app.play.bob.checks import spend
from app.play.bob.entering import entered
from app.play.bob.interruption import fires_on, interrupted, smokes, struck
from app.play.bob.losses import reveal
from app.play.bob.operations import activated
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
    proof,
)
from app.referee.questions import kinds_of
from app.referee.questions.bob.movement import Manner, needs_of
from app.referee.questions.movement import VERDICTS, points
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, in_points, not_known
from importers.questions import Names

MOST_HEXES = 60
WINDOWS = ("interrupt", "assault", "flash", "smoke")
"""Choices that make a question of a move go hex by hex."""
PURPOSES = {"withdraw": "withdraw", "retreat": "retreat"}
"""Manners of moving whose first Morale Check has modifiers of its own (5.1, 5.3)."""


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Move(Action):
    """Who moves, along which way, and how."""

    unit: Annotated[str, Names(("unit",))] = Field(description="The id of the unit that moves")
    path: Annotated[
        list[str], Names(("hex",)), BeforeValidator(_listed), Field(min_length=1, max_length=MOST_HEXES)
    ] = Field(description="Labels of the hexes entered, in order; the one it stands in may come first")
    manner: Manner | None = Field(
        None,
        alias="as",
        description="withdraw, retreat, seishin, banzai, reverse or trail; else a plain move",
    )
    cp: bool = Field(False, description="Whether a Command Point is spent on it: +1 MP (5.4)")
    facing: Annotated[int | None, Field(ge=1, le=6)] = Field(
        None, description="The corner that it faces when its move ends, 1 to 6"
    )
    off_path: bool = Field(False, description="Whether it keeps off Paths and pays for the terrain (53.0)")
    exit: bool = Field(False, description="Whether it leaves the map from the last hex (18.0)")
    into: Literal["cave", "upper", "ground"] | None = Field(
        None,
        description="The location in which it ends: into a Cave (43.4), up or down in a building (40.2); its own hex"
        " alone as `path` to change level and no more",
    )
    turns: dict[Annotated[str, Names(("hex",))], Annotated[int, Field(ge=1, le=6)]] = Field(
        default_factory=dict,
        description="Where a Vehicle turns within its hex, and to which corner, by hex (20.3)",
    )
    op_fire: bool = Field(
        False,
        description="Of a Vehicle that uses a third of its points or less: it ends marked Op Fire (20.3)",
    )


def judged(of: Move) -> Asking:
    """The whole way: what it costs, where it ends, who may fire at it and what is checked first."""
    said = {
        "as": of.manner, "cp": of.cp, "off_path": of.off_path, "exit": of.exit, "into": of.into,
        "turns": of.turns, "read": costs_read(of),
    }  # fmt: skip
    rows = yield Ask(
        "select * from bob.move(:position, :unit, :path, :options, :conditions, :policy)",
        proves=False,
        unit=of.unit,
        path=of.path,
        options={key: value for key, value in said.items() if value},
    )
    yield proof(rows)
    verdict = rows[-1]
    legal = VERDICTS[verdict.effect]
    told = {
        "legal": legal,
        "cost": points(verdict.halves),
        "left": points(verdict.remaining),
        "ends_at": verdict.at,
        "why": verdict.note,
        "opportunity_fire": [],
        "checks": [],
    }
    if legal is False:
        bar = next(row for row in rows if row.effect == "forbids")
        raise Refused(bar.rule, verdict.note, verdict.at, **{key: told[key] for key in told if key != "why"})
    needs = needs_of("bob", rows[:-1])
    if legal is None:
        raise Undecided(*needs, **told)
    fire = yield Ask(
        "select * from bob.opportunities(:position, :unit, :path, :conditions, :policy)",
        unit=of.unit,
        path=of.path,
    )
    told["opportunity_fire"] = [{"by": row.by, "at": row.at} for row in fire]
    yield Tell(needs=needs, **told)
    return told


def costs_read(of: Action) -> dict[str, Any]:
    """Movement costs that are read off the Player Aid Card: one number for what is not told, or by terrain."""
    return {chart: of.read[chart] for chart in ("pac_terrain", "pac_hexside") if chart in of.read}


def _manner(of: Move, here: Any) -> Asking:
    """How it moves: out of an enemy's hex infantry withdraws (5.1)."""
    if of.manner is not None:
        return of.manner
    foes = yield from pieces()
    engaged = any(
        foe.side != here.side
        and (foe.q, foe.r, foe.location) == (here.q, here.r, here.location)
        and not foe.mounted
        for foe in foes
    )
    return "withdraw" if engaged and not here.vehicle else "move"


def started(of: Move, here: Any, manner: str, *, played: bool) -> Asking:
    """5.0: the Morale Check before a move; whoever fails is Used where it stands."""
    purpose = PURPOSES.get(manner, "move")
    rows = yield Ask(
        "select * from bob.morale(:position, :unit, :purpose, :conditions, :policy)",
        proves=False,
        unit=of.unit,
        purpose=purpose,
    )
    if not rows[-1].facts["automatic"] and not _presumed(here, rows[-1].facts, purpose):
        yield Tell(checks=[{"at": here.label, "for": purpose}])
    found = yield from checked(of.unit, purpose, of, played=played)
    yield Tell(morale=found["morale"], mc=found["mc"])
    if found["mc"] != "failed":
        return True
    yield Change({"unit": of.unit, "used": True})
    yield Tell(ends_at=here.label, result="failed")
    return False


def _presumed(here: Any, facts: dict[str, Any], purpose: str) -> bool:
    return facts["automatic"] is None and purpose != "withdraw" and "suppression" not in here.attributes


def move(of: Move) -> Procedure:
    """A move as it goes where nobody interrupts it."""
    here = yield from piece(of.unit)
    if here is None:
        raise Refused("5.0", f"{of.unit} is not on the map")
    told = yield from judged(of)
    manner = yield from _manner(of, here)
    yield from _declared(of, here, manner)
    if not (yield from started(of, here, manner, played=False)):
        return
    yield Tell(result="moved")
    way = [label for n, label in enumerate(of.path) if n or label != here.label]
    if any(name.partition(":")[0] in WINDOWS for name in of.choices) or (yield from _shelled(way)):
        yield from _hex_by_hex(of, here, way, told, manner, played=False)
        return
    yield from _gone(of, here, way, told)


def _shelled(way: list[str]) -> Asking:
    """Whether a Fire Mission lies on its way, so that dice decide how far it gets (32.0)."""
    rows = yield Ask(
        "select from marker join hex on hex.map_id = marker.map_id and hex.label = any(:way)"
        " and lattice.distance(hex.q, hex.r, marker.q, marker.r) <= 1"
        " where marker.position_id = :position and marker.kind = 'fire_mission'"
        " and not coalesce((marker.attributes ->> 'smoke')::boolean, false) limit 1",
        proves=False,
        way=way,
    )
    return bool(rows)


class Retreat(Move):
    """Who retreats, and along which way: a move `as: retreat` (5.3)."""


def retreat(of: Retreat) -> Procedure:
    """5.3: +4 to its Morale, the restrictions of a Rout, no Assault Fire."""
    yield from move(of.model_copy(update={"manner": "retreat"}))


def _declared(of: Move, here: Any, manner: str) -> Procedure:
    """What is paid and said before the first step."""
    if of.cp:
        yield from spend(of.unit, "mp")
    if manner == "banzai":
        # 15.0: whoever charges is seen
        shown = {"concealed": 0} if here.concealed else {}
        yield Change({"unit": of.unit, "declared": "banzai", **shown})
    elif manner == "retreat":
        yield Change({"unit": of.unit, "declared": "retreat"}, kept=True)
    elif manner == "seishin":
        yield Change({"unit": of.unit, "declared": "seishin"})


def _gone(of: Move, here: Any, way: list[str], told: dict[str, Any]) -> Procedure:
    """The unit goes along its way and is Used at its end (5.0, 20.3)."""
    if of.exit:
        yield Change({"unit": of.unit, "at": None, "used": True, "status": "removed"})
        return
    last = here.label
    for label in way:
        yield from _stepped(of, here, last, label)
        last = label
    ends = told["ends_at"]
    if ends != last:
        # 20.9: after a Close Assault it is back whence it came
        yield Change({"unit": of.unit, "at": ends})
    yield from _over(of, here, told)


def _stepped(of: Move, here: Any, left: str, label: str) -> Procedure:
    """One hex is entered: passengers go along, -2 Concealment becomes -1 (59.2), Wire goes down before a Vehicle (43.6)."""
    said: dict[str, Any] = {"unit": of.unit, "at": label}
    now = yield from counter(of.unit)
    if now.attributes.get("concealed") == 2:
        said["concealed"] = 1
    if now.attributes.get("in_cave"):
        # 43.4: it is out in the open
        said["in_cave"] = False
    if of.into == "cave" and label == of.path[-1]:
        said["in_cave"] = True
    if (under := (yield from _goes_under(now, left, label))) != bool(now.attributes.get("under_bridge")):
        said["under_bridge"] = under
    if of.into == "ground" and now.attributes.get("upper_level"):
        said["upper_level"] = False
    if here.vehicle and now.attributes.get("concealed"):
        # 20.1: a Vehicle that moves is seen
        said["concealed"] = 0
    yield Change(said)
    if here.vehicle:
        riders = yield Ask(
            "select code from unit where position_id = :position and attributes ->> 'in' = :unit order by id",
            proves=False,
            unit=of.unit,
        )
        for rider in riders:
            yield Change({"unit": rider.code, "at": label})
        yield from _wire_down(label)
    yield from entered(of.unit, left, label)


def _goes_under(now: Any, left: str, label: str) -> Asking:
    """45.4: whoever comes through the Gully is under its Bridge."""
    rows = yield Ask(
        "select hex.label, hex.terrain, bob._bridged(hex.terrain, hex.features) as bridged from position"
        " join hex on hex.map_id = position.map_id and hex.label in (:left, :at) where position.id = :position",
        proves=False,
        left=left,
        at=label,
    )
    grounds = {row.label: row for row in rows}
    if left not in grounds or not grounds[label].bridged or grounds[left].terrain != "gully":
        return False
    return not grounds[left].bridged or bool(now.attributes.get("under_bridge"))


def _wire_down(label: str) -> Procedure:
    rows = yield Ask(
        "select marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q"
        " and hex.r = marker.r where marker.position_id = :position and marker.kind = 'wire' and hex.label = :at",
        proves=False,
        at=label,
    )
    for row in rows:
        yield Tell(Step("43.6", label, "removed", "a Vehicle goes over the Wire"))
        yield Change({"marker": "wire", "at": label, **row.attributes, "removed": True})


def _over(of: Move, here: Any, told: dict[str, Any]) -> Procedure:
    """The end of a move: Used, or a Vehicle marked Op Fire; a Vehicle in a new hex has a Move counter (20.3)."""
    now = yield from piece(of.unit)
    if now is None:
        return
    said: dict[str, Any] = {"unit": of.unit, "used": True}
    if of.op_fire:
        yield from _may_stand_ready(of, here, told)
        said = {"unit": of.unit, "op_fire": True}
    if of.into in ("upper", "ground") and bool(now.attributes.get("upper_level")) != (of.into == "upper"):
        said["upper_level"] = of.into == "upper"
    turned = [of.turns[label] for label in of.path if label in of.turns] or list(of.turns.values())
    if of.facing is not None or turned:
        said["facing"] = of.facing if of.facing is not None else turned[-1]
    if here.vehicle and now.label != here.label and not of.op_fire:
        said["move_counter"] = True
    if "used" in said:
        yield Tell(Step("4.2", now.label, "used", "its move is over"))
    yield Change(said)
    if "moving" in now.attributes:
        yield Change({"unit": of.unit, "moving": None}, kept=True)


def _may_stand_ready(of: Move, here: Any, told: dict[str, Any]) -> Procedure:
    """20.3: a third of its points or less, rounded down, and no Carrier."""
    yield Tell(Step("20.3", None, "marked", "it may end marked Op Fire"))
    if here.kind != "vehicle":
        raise Refused(
            "20.3" if not here.vehicle else "21.1", "only a Vehicle that is no Carrier may end marked Op Fire"
        )
    allowance = int(here.attributes.get("movement", 0))
    if told["cost"] is None or told["cost"] > allowance // 3:
        raise Refused("20.3", f"it used more than a third of {allowance} points")


# In a game.


def play_move(of: Move) -> Procedure:
    """5.0, 9.0: selected, checked, then hex by hex; each hex is the other side's chance to interrupt."""
    here = yield from piece(of.unit)
    if here is None:
        raise Refused("5.0", f"{of.unit} is not on the map")
    told = yield from judged(of)
    if (yield from activated(of.unit, "move")) is None:
        return
    manner = yield from _manner(of, here)
    yield from _declared(of, here, manner)
    if not (yield from started(of, here, manner, played=True)):
        return
    yield Tell(result="moved")
    way = [label for n, label in enumerate(of.path) if n or label != here.label]
    yield from _hex_by_hex(of, here, way, told, manner, played=True)


def came_in(of: Move, *, played: bool) -> Procedure:
    """5.0, 16.2: who has come in from off the board stands in the first hex of its way, is fired at there and goes on."""
    here = yield from piece(of.unit)
    [entry] = yield Ask(
        "select * from bob.comes_in(:position, :unit, :conditions, :policy)", proves=False, unit=of.unit
    )
    if entry.halves is None and len(of.path) > 1:
        raise Undecided(Need("pac_terrain", "5.0"))
    price = points(entry.halves)
    state = {"hexes": 1, "start": here.label, **({} if price is None else {"spent": price})}
    yield Change({"unit": of.unit, "moving": state}, kept=True)
    if price is not None:
        yield proof([entry])
    told = yield from judged(of)
    if price is not None and told["cost"] is not None:
        yield Tell(cost=points(entry.halves + int(2 * told["cost"])))
    yield from entered(of.unit, "", here.label)
    yield from struck(of.unit)
    if not (yield from interrupted(of, of.unit, here.label, played=played)) or (yield from _is_over(of.unit)):
        yield from _backed_up(of, here, here.label)
        return
    yield from _seen_now(of.unit)
    yield from fires_on(of, of.unit, here.label, told["left"], last=len(of.path) == 1, played=played)
    yield from _hex_by_hex(of, here, of.path[1:], told, "move", played=played, before=1)


def _hex_by_hex(
    of: Move, here: Any, way: list[str], told: dict[str, Any], manner: str, *, played: bool, before: int = 0
) -> Procedure:
    """5.0, 9.0: one hex after the other, each with the fire that it draws; `before`: hexes entered already."""
    last = here.label
    told, thrown = yield from _smoked(of, last, told, thrown=False, played=played)
    for n, label in enumerate(way, before + 1):
        state = _moving(here, last, n, manner) | ({"grenade": True} if thrown else {})
        melee = yield from _is_held(here.side, label)
        if melee and n == 1:
            # 9.0: the fire at who goes into Melee at once falls where it stands
            yield Change({"unit": of.unit, "moving": state | {"hexes": 0}}, kept=True)
            if not (yield from interrupted(of, of.unit, last, played=played)):
                if (yield from piece(of.unit)) is not None:
                    yield Change({"unit": of.unit, "moving": None}, kept=True)
                yield Tell(ends_at=last, result="failed")
                return
            if (yield from _stays(of, here, manner)):
                yield Tell(ends_at=last, result="stays")
                break
        yield from _stepped(of, here, last, label)
        yield Change({"unit": of.unit, "moving": state}, kept=True)
        yield from struck(of.unit)
        if not melee and not (yield from interrupted(of, of.unit, label, played=played)):
            yield from _backed_up(of, here, last)
            return
        if (yield from _is_over(of.unit)):
            yield from _backed_up(of, here, last)
            return
        yield from _seen_now(of.unit)
        last = label
        if (yield from piece(of.unit)) is None:
            return
        told, thrown = yield from _smoked(of, label, told, thrown=thrown, played=played)
        if not melee:
            yield from fires_on(of, of.unit, label, told["left"], last=n == len(way) + before, played=played)
    if way and told["ends_at"] not in (None, last) and last == way[-1]:
        yield Change({"unit": of.unit, "at": told["ends_at"]})
    yield from _over(of, here, told)


def _smoked(of: Move, label: str, told: dict[str, Any], *, thrown: bool, played: bool) -> Asking:
    """48.1: one Smoke Grenade in a move; gives what the way costs then, and whether it has been placed."""
    paid = None if thrown else (yield from smokes(of, of.unit, label, told["left"], played=played))
    if paid is None:
        return told, thrown
    cost, left = (points(int(2 * value)) for value in (told["cost"] + paid, told["left"] - paid))
    told = told | {"cost": cost, "left": left}
    yield Tell(cost=cost, left=left)
    return told, True


def _moving(here: Any, last: str, hexes: int, manner: str) -> dict[str, Any]:
    """The state of a move that is paused."""
    state: dict[str, Any] = {"from": last, "hexes": hexes, "start": here.label}
    if manner in ("retreat", "banzai", "seishin"):
        state[manner] = True
    if here.attributes.get("suppression"):
        state["suppressed"] = False
    return state


def _is_held(side: str, label: str) -> Asking:
    """Whether an enemy Squad, WT or Gun is there."""
    found = yield from pieces()
    return any(one.side != side and one.label == label and (one.infantry or one.gun) for one in found)


def _is_over(unit: str) -> Asking:
    """Whether it was lost on the way, or its move was stopped."""
    now = yield from piece(unit)
    return now is None or bool(now.attributes.get("used"))


def _stays(of: Move, here: Any, manner: str) -> Asking:
    """5.0, bob-18: Suppressed before it entered, it may stay where it is."""
    now = yield from counter(of.unit)
    grew = now.attributes.get("suppression", "none") != here.attributes.get("suppression", "none")
    if not grew or manner in ("banzai", "seishin"):
        return False
    readings = (yield from game()).readings
    yield Tell(points=("bob-18",))
    if readings["bob-18"] != "a":
        return False
    chosen = yield Choose(
        "enter",
        here.side,
        f"whether {of.unit} goes on into Melee",
        options=["enters", "stays"],
        default="stays",
    )
    return chosen == "stays"


def _seen_now(unit: str) -> Procedure:
    """15.0: who survives the fire of a hex loses its Concealment first, then who lies beside it."""
    own = yield from piece(unit)
    others = [
        one for one in (yield from pieces()) if own is not None and one.side != own.side and one.concealed
    ]
    for code in (unit, *(one.code for one in others)):
        now = yield from piece(code)
        if now is None or not now.concealed:
            continue
        rows = yield Ask(
            "select * from bob.conceal(:position, :unit, null, null, :conditions, :policy)",
            proves=False,
            unit=code,
        )
        if rows[-1].facts["lost"]:
            yield Tell(Step("15.0", now.label, "revealed", f"{code} loses its Concealment"))
            yield from reveal(code)


def _backed_up(of: Move, here: Any, last: str) -> Procedure:
    """5.0, 20.9: who fails in a hex that is full, or with a Vehicle, goes back a hex."""
    now = yield from piece(of.unit)
    if now is None:
        return
    bars = yield Ask(
        "select bar.* from positions.state(:position, :conditions, :policy) as state"
        " cross join lateral (select array(select piece from bob._pieces(:position) as piece) as told) as board"
        " cross join lateral unnest(board.told) as own"
        " cross join lateral bob._stack_bars(bob._standing(board.told, own.side, own.q, own.r, own.location, null),"
        " own.location, false, state.readings) as bar where own.code = :unit and bar.over > 0",
        proves=False,
        unit=of.unit,
    )
    if bars:
        yield Tell(Step("5.0", now.label, "back", "the hex is full: it goes back a hex"), ends_at=last)
        yield Change({"unit": of.unit, "at": last})
    else:
        yield Tell(ends_at=now.label)
    said = {"facing": of.facing} if of.facing is not None else {}
    yield Change({"unit": of.unit, "used": True, **said})
    yield Change({"unit": of.unit, "moving": None}, kept=True)
    yield Tell(result="failed")


def _verdict(ruling: Ruling) -> str:
    of, answer = next(iter(ruling.question.values())), ruling.answer
    goal = of["path"][-1] if isinstance(of["path"], list) else of["path"]
    if answer["allowed"] is False:
        return f"{of['unit']} may not move to {goal}: {answer['why']}"
    if answer["allowed"] is None:
        return not_known(f"{of['unit']} may move to {goal}", ruling)
    if answer.get("result") == "failed":
        return f"{of['unit']} fails its Morale Check and is Used in {answer['ends_at']}"
    paid = "" if answer.get("cost") is None else f" for {in_points(answer['cost'])}"
    return clauses(
        f"{of['unit']} may move to {goal}{paid}",
        None if answer.get("left") is None else f"{answer['left']} left",
        "it must pass a Morale Check first" if answer.get("checks") and "mc" not in answer else None,
    )


FACTS: dict[str, Any] = {
    "kinds": functools.partial(kinds_of, "bob"),
    "name": "move",
    "title": "A move",
    "arguments": Move,
    "rulesets": ("bob",),
    "answers": {
        "legal": "true, false, or null where the Player Aid Card alone tells",
        "cost": "points that it spends",
        "left": "points that it has left",
        "ends_at": "the hex in which it ends; of a way that cannot be gone, the first that it cannot enter",
        "opportunity_fire": "who may fire at it, and in which hex",
        "flank": "true of who enters a Melee through the flank of all who are there (12.2)",
        "checks": "Morale Checks that are rolled for, in order: where and for what",
        "morale": "the Morale that it rolls against",
        "mc": "passed, failed or automatic",
        "result": "moved or failed",
    },
    "verdict": _verdict,
    "points": ("bob-1", "bob-18", "bob-23", "bob-34", "bob-44", "bob-45", "bob-47"),
    "example": 'move: {unit: "1/A", path: ["D5", "E5"]}',
}
RETREAT: dict[str, Any] = FACTS | {
    "name": "retreat",
    "title": "A Declared Retreat",
    "arguments": Retreat,
    "points": (*FACTS["points"], "bob-23", "bob-50"),
    "example": 'retreat: {unit: "1/A", path: ["D5"]}',
}
KINDS = [procedure_kind(move, **FACTS), procedure_kind(retreat, **RETREAT, acts=False)]
ACTIONS = [procedure_kind(play_move, **FACTS)]
"""Asked, a move is not interrupted; in a game it is."""
