"""Random Events (20.0): ten events by a die, and what a player decides in each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from app.play.css.dice import d10
from app.play.css.frame import Asking, css_kind, game, ledger
from app.play.css.status import RESULTS, Struck, pin
from app.play.procedures import (
    NOTHING,
    Action,
    Ask,
    Change,
    Choose,
    Draw,
    Procedure,
    ProcedureKind,
    Refused,
    Tell,
    Undecided,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, counted

DRUNK_MARKERS = 5
SNIPERS = 2
CHOOSERS = {
    "officer_initiative": "us",
    "stirring_speech": "japan",
    "commander_suicide": "japan",
    "us_supply_troubles": "japan",
    "nco_initiative": "japan",
    "jungle_experience": "us",
    "jungle_trouble": "us",
}
"""Who chooses the Division that an event changes."""
KEYS = {
    "officer_initiative": "dispatch_points",
    "nco_initiative": "dispatch_points",
    "us_supply_troubles": "direct_commands",
}
"""The number that it changes; in all others it is the Troop Quality."""
US_CHIT = "direct_command_us"


class RandomEvent(Action):
    """Only the die, and what players decide."""


def event(of: RandomEvent) -> Procedure:
    """20.0."""
    die = yield from d10("the Random Event")
    facts = yield from ledger("event", die=die)
    name = facts["event"]
    yield Tell(roll=die, event=name, result=name)
    handlers: dict[str, Callable[[], Procedure]] = {
        "japanese_martyrs": martyrs,
        "marines_drunk": functools.partial(drunk, of),
        "lost": lost,
        "us_supply_troubles": supply_troubles,
        "ambush": ambush,
        "snipers": functools.partial(snipers, of),
    }
    if name in handlers:
        yield from handlers[name]()
    else:
        yield from division_changes(name)


def division_changes(name: str) -> Procedure:
    """Events 0, 3, 4, 8 and 9, and what 5, 6 and 7 may become."""
    query = "select * from css.event_divisions(:position, :event, :conditions, :policy)"
    rows = yield Ask(query, proves=False, event=name)
    if not rows:
        raise Undecided(Need("the Divisions in play", "20.0"))
    whose = CHOOSERS[name]
    division = yield Choose(
        "division", whose, "the Division", options=[row.name for row in rows], obvious=True, rule="20.0"
    )
    row = next(row for row in rows if row.name == division)
    key = KEYS.get(name, "troop_quality")
    if row.told is None:
        raise Undecided(Need(f"the {key.replace('_', ' ')} of {division}", "20.0"))
    rule = "19.2" if key == "troop_quality" and row.after == row.told else "20.0"
    yield Tell(
        Step(rule, None, f"{row.after - row.told:+d}", f"{key.replace('_', ' ')} of {division}"),
        division=division,
    )
    yield Change({"division": division, key: row.after})


def martyrs() -> Procedure:
    """20.0 event 1: a hex goes Gyokusai, if the Japanese player wants it (14.2, css-24)."""
    rows = yield Ask("select * from css.martyr_hexes(:position, :conditions, :policy)", proves=False)
    yield Tell(points=("css-24",))
    if not rows:
        yield Tell(Step("20.0", None, "nothing", "no Japanese Units are near enough"))
        return
    label = yield from _placed("hex", "where martyrs rise", [row.label for row in rows], "14.2")
    if label == NOTHING:
        return
    kind = kinds_of("css").get("gyokusai")
    if isinstance(kind, ProcedureKind):
        of = kind.arguments.model_validate({"hex": label})
        yield from kind.begin(of)  # type: ignore[arg-type]
        return
    yield Change({"marker": "gyokusai", "at": label})


def _placed(name: str, purpose: str, options: Sequence[str], rule: str) -> Asking:
    """A hex that the Japanese player chooses, or none."""
    label = yield Choose(name, "japan", purpose, options=[*options, NOTHING], check=_offered(options, rule))
    return label


def _offered(options: Sequence[str], rule: str) -> Any:
    def check(value: Any) -> str | None:
        if value not in (*options, NOTHING):
            raise Refused(rule, f"{value} is none of the hexes in which it may be placed", str(value))
        return None

    return check


def drunk(of: RandomEvent) -> Procedure:
    """29.1: five Drunk markers on Marine hexes."""
    rows = yield Ask("select * from css.marine_hexes(:position)", proves=False)
    options = [row.label for row in rows]
    number = min(DRUNK_MARKERS, len(options))
    if not number:
        return
    if number == len(options) and "hexes" not in of.choices:
        chosen = options
    else:
        chosen = yield Choose(
            "hexes", "japan", "hexes of drunk Marines", options=options, many=True, default=options[:number], rule="29.1"
        )  # fmt: skip
    if len(set(chosen)) != number:
        raise Refused("29.1", f"{counted(number, 'Drunk marker')} are placed")
    yield Change(*({"marker": "drunk", "at": label} for label in chosen))


def lost() -> Procedure:
    """20.0 event 2: who is lost pins all who hang together with him in the forest."""
    rows = yield Ask("select * from css.lost_hexes(:position)", proves=False)
    options = [row.label for row in rows]
    label = yield Choose("hex", "japan", "who is lost", options=options, obvious=True, rule="20.0")
    for row in (yield Ask("select * from css.lost_hexes(:position, :start)", proves=False, start=label)):
        yield Tell(Step("20.0", row.label, "pins", "lost in the Tropical Forest"))
        yield from pin(Struck("us", row.label, ()), "20.0")


def supply_troubles() -> Procedure:
    """20.0 event 5: the American Direct Command chit is gone, or five Direct Commands are."""
    _, tracks = yield from game()
    cup = tracks.get("cup")
    if cup is None and US_CHIT not in (tracks.get("played") or ()):
        raise Undecided(Need("what is in the cup", "20.0"))
    if US_CHIT not in (cup or ()):
        yield from division_changes("us_supply_troubles")
        return
    yield Tell(Step("20.0", None, "removes", "the American Direct Command chit is not drawn this turn"))
    yield Change({"cup": US_CHIT, "removed": True})
    yield Change({"track": "cup", "value": [chit for chit in cup if chit != US_CHIT]}, kept=True)


def _pool(name: str) -> Asking:
    _, tracks = yield from game()
    pools = tracks.get("pools")
    if pools is None:
        raise Undecided(Need(f"the {name} counters that are left", "20.0"))
    return list(pools.get(name, []))


def drawn_from(name: str, pool: list[str], purpose: str) -> Asking:
    """One of a pool, drawn blind."""
    code = yield Draw(f"the {name} counters", purpose, pool=pool, obvious=True)
    left = [other for other in pool if other != code]
    yield Change({"track": f"pools.{name}", "value": left}, kept=True)
    return code


def ambush() -> Procedure:
    """20.0 event 6: an Ambush Unit in an unoccupied hex within three of an American Unit."""
    pool = yield from _pool("ambush")
    if not pool:
        yield Tell(
            Step("20.0", None, "becomes", "all Ambush Units are in play: an NCO shows initiative"),
            event="ambush",
        )
        yield from division_changes("nco_initiative")
        return
    rows = yield Ask("select * from css.ambush_hexes(:position, :conditions, :policy)", proves=False)
    if not rows:
        yield Tell(Step("20.0", None, "nothing", "no American Unit is on the map"))
        return
    label = yield from _placed("hex", "where the Ambush Unit is placed", [row.label for row in rows], "20.0")
    if label == NOTHING:
        return
    code = yield from drawn_from("ambush", pool, "the Ambush Unit")
    yield from put_down(code, label)


def put_down(code: str, label: str) -> Procedure:
    """An Ambush Unit out of the pool comes to a hex, always Deployed (24.2)."""
    rows = yield Ask(
        "select attributes from unit where position_id = :position and code = :code", proves=False, code=code
    )
    fresh = {} if rows else {"side": "japan", "kind": "ambush", "troop_quality": 4}
    posture = {} if rows and rows[0].attributes.get("posture") == "deployed" else {"posture": "deployed"}
    boxed = {"box": None} if rows and "box" in rows[0].attributes else {}
    yield Tell(ambush=code)
    yield Change({"unit": code, **fresh, "at": label})
    yield Change({"unit": code, **posture, **boxed}, kept=True)


def snipers(of: RandomEvent) -> Procedure:
    """20.0 event 7, 25.0: two Snipers, each in a hex of its own or both in `hexes`; with none left css-26."""
    pool = yield from _pool("sniper")
    if not pool:
        yield from _no_snipers()
        return
    told: list[str] = []
    if "hexes" in of.choices:
        told = yield Choose("hexes", "japan", "where the Snipers lie", form="a list of hexes")
    for n in range(1, min(SNIPERS, len(pool)) + 1):
        rows = yield Ask("select * from css.sniper_hexes(:position, :conditions, :policy)", proves=False)
        if not rows:
            yield Tell(Step("25.0", None, "nothing", "no terrain hides a Sniper"))
            return
        options = [row.label for row in rows]
        if told:
            label = told[n - 1] if n <= len(told) else NOTHING
            _offered(options, "25.0")(label)
        else:
            name = "hex" if n == 1 else f"hex_{n}"
            label = yield from _placed(name, "where the Sniper lies", options, "25.0")
        if label == NOTHING:
            continue
        code = yield from drawn_from("sniper", pool, "the Sniper")
        pool = [other for other in pool if other != code]
        yield Change({"marker": "sniper", "at": label, "id": code})


def _no_snipers() -> Procedure:
    state, _ = yield from game()
    reading = state.readings["css-26"]
    yield Tell(Step("20.0", None, "becomes", "all Snipers are in play"), points=("css-26",))
    moves = reading == "b"
    if reading == "c":
        moves = (
            yield Choose("instead", "japan", "points or a Sniper moved", options=["points", "move"])
        ) == "move"
    if not moves:
        yield from division_changes("nco_initiative")
        return
    lying = yield Ask(
        "select hex.label, marker.attributes from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q"
        " and hex.r = marker.r where marker.position_id = :position and marker.kind = 'sniper' order by hex.label",
        proves=False,
    )
    source = yield Choose(
        "from", "japan", "the Sniper that is lifted", options=[*(row.label for row in lying), NOTHING], rule="25.0"
    )  # fmt: skip
    if source == NOTHING:
        return
    said = next(row.attributes for row in lying if row.label == source)
    rows = yield Ask("select * from css.sniper_hexes(:position, :conditions, :policy)", proves=False)
    label = yield from _placed("hex", "where the Sniper lies", [row.label for row in rows], "25.0")
    if label != NOTHING:
        yield Change(
            {"marker": "sniper", "at": source, "removed": True}, {"marker": "sniper", "at": label, **said}
        )


def _verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    return clauses(
        f"Event {answer['roll']}: {answer['event'].replace('_', ' ')}",
        f"{counted(len(answer['effects']), 'change')}" if answer["effects"] else "nothing changes",
    )


KINDS = [
    css_kind(
        event,
        name="event",
        title="A Random Event",
        what="event",
        done=_verdict,
        arguments=RandomEvent,
        answers={
            "roll": "the die",
            "event": "its name",
            "result": "the same",
            "division": "the Division that it changes",
            "ambush": "the Ambush Unit that is placed",
        },
        points=("css-14", "css-24", "css-25", "css-26", *RESULTS),
        acts=False,
        example="event: {rolls: [0], choices: {division: 3 MarDiv}}",
    ),
]
