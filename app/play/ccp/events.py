"""The 31 events (E50 to E80): each a generator of its own, by the name on the card.

What is impossible is skipped (E49); whoever reads the card decides, unless the event says otherwise; random hexes
then draw a Sighting marker (1.8.2). Blazes and wind are in `weather.py`, pieces that come in `recruits.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from app.play.ccp import recruits, weather
from app.play.ccp.cards import discards_if_kept, hand_of, hand_size, holds
from app.play.ccp.losses import breaks, breaks_weapon, eliminates, rallies
from app.play.ccp.picks import (
    Sightings,
    fortified,
    inactive_first,
    picked,
    picked_hex,
    smoke_drawn,
    smoke_placed,
)
from app.play.ccp.roll import ENDS
from app.play.ccp.table import SIDES, Doing, conditions, ending, gains, keep, keep_of, other, removes_marker
from app.play.procedures import (
    Action,
    AnswerError,
    Ask,
    Change,
    Choose,
    Draw,
    Procedure,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses
from db.values import canonical

SMOKE = """
select hex.label, marker.value
from marker
join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r
where marker.position_id = :position and marker.kind = 'smoke'
order by hex.label
"""
UNITS = "select * from ccp.event_units(:position, :what, :side, :conditions, :policy)"
LOST = """
select side, count(*) as number from unit
where position_id = :position and (attributes ->> 'eliminated')::boolean and kind not in ('weapon', 'aircraft')
group by side
"""


class Card:
    """What an event is read with: its name and rule, the side, what the card adds, random hexes."""

    def __init__(self, name: str, rule: str, side: str, said: Mapping[str, Any]) -> None:
        self.name, self.rule, self.side, self.said = name, rule, side, said
        self.sightings = Sightings()

    def hex(self, purpose: str) -> Doing:
        """A random hex (1.8)."""
        return (yield from self.sightings.reveal(self.side, purpose))

    def units(self, what: str | None = None) -> Doing:
        """Ids of the units that the event may choose."""
        rows = yield Ask(UNITS, proves=False, what=what or self.name, side=self.side)
        return [row.code for row in rows]

    def unit(self, purpose: str, *, may: bool = False, by: str | None = None) -> Doing:
        """One of them, as somebody chooses."""
        options = yield from self.units()
        return (yield from picked("unit", by or self.side, purpose, options, may=may))

    def nothing(self, why: str, at: str | None = None) -> Tell:
        """A part of the event that does not happen."""
        return Tell(Step(self.rule, at, "nothing", why))

    def happens(self, effect: str, note: str, at: str | None = None) -> Tell:
        return Tell(Step(self.rule, at, effect, note))


# Markers and points.


def battle_harden(card: Card) -> Doing:
    unit = yield from card.unit("who becomes a veteran")
    yield from _veteran(card, unit)


def _veteran(card: Card, unit: str | None) -> Doing:
    if unit is None:
        yield card.nothing("nobody without a veteran marker")
        return
    yield card.happens("veteran", unit)
    yield Change({"unit": unit, "veteran": True})


def battlelust(card: Card) -> Doing:
    lost = {row.side: row.number for row in (yield Ask(LOST, proves=False))}
    own, enemy = lost.get(card.side, 0), lost.get(other(card.side), 0)
    yield card.happens("counts", f"on the Casualty Track: {enemy} enemy, {own} own")
    if enemy > own:
        yield from gains(card.side, 1, card.rule, "more enemy units on the Casualty Track")


def field_of_battle(card: Card) -> Doing:
    rows = yield Ask("select * from ccp.holders(:position, :conditions)", proves=False)
    own = sum(row.holder == card.side for row in rows)
    enemy = sum(row.holder == other(card.side) for row in rows)
    yield card.happens("counts", f"objectives: {own} own, {enemy} enemy")
    if own > enemy:
        yield from gains(card.side, 1, card.rule, "more objectives")


def bushido(card: Card) -> Doing:
    unit = yield from card.unit("which broken unit rallies", by="japan")
    if unit is None:
        yield card.nothing("no Japanese unit is broken")
        return
    yield from rallies(unit, card.rule, "by Bushido")
    [row] = yield Ask(
        "select coalesce((attributes ->> 'veteran')::boolean, false) as veteran from unit"
        " where position_id = :position and code = :unit",
        proves=False,
        unit=unit,
    )
    if not row.veteran:
        yield from _veteran(card, unit)


def interdiction(card: Card) -> Doing:
    unit = yield from card.unit("who is suppressed")
    yield from _suppressed(card, unit, "nobody unsuppressed in Cover below 1")


def suppressing_fire(card: Card) -> Doing:
    unit = yield from card.unit("who is suppressed", may=True)
    yield from _suppressed(
        card, unit, "nobody in sight and range of a functioning machine gun, or not wanted"
    )


def _suppressed(card: Card, unit: str | None, why: str) -> Doing:
    if unit is None:
        yield card.nothing(why)
        return
    yield card.happens("suppressed", unit)
    yield Change({"unit": unit, "suppressed": True})


# Losses and recoveries.


def kia(card: Card) -> Doing:
    unit = yield from card.unit("which broken unit is eliminated")
    if unit is None:
        yield card.nothing("nobody is broken")
        return
    yield from eliminates([unit], card.rule, "killed in action")


def medic(card: Card) -> Doing:
    unit = yield from card.unit("which broken unit rallies")
    if unit is None:
        yield card.nothing("nobody is broken")
        return
    yield from rallies(unit, card.rule, "by a medic")


def prisoners_of_war(card: Card) -> Doing:
    unit = yield from card.unit("which own broken unit is taken")
    if unit is None:
        yield card.nothing("no own broken unit is with or beside an enemy")
        return
    yield from eliminates([unit], card.rule, "taken prisoner")


def _nearest(card: Card, purpose: str) -> Doing:
    ground = yield from card.hex(purpose)
    rows = yield Ask(
        "select * from ccp.nearest_pieces(:position, :hex, :what)",
        proves=False,
        hex=ground.label,
        what=card.name,
    )
    return (
        yield from picked(
            "unit", card.side, f"of several nearest to {ground.label}", [row.code for row in rows]
        )
    )


def jam(card: Card) -> Doing:
    unit = yield from _nearest(card, "the weapon that jams")
    if unit is None:
        yield card.nothing("the Japanese have no weapon on the map")
        return
    yield from breaks_weapon(unit, card.rule, "nearest to the random hex")


def malfunction(card: Card) -> Doing:
    unit = yield from _nearest(card, "the weapon that fails")
    if unit is None:
        yield card.nothing("no unbroken weapon is on the map")
        return
    yield from breaks_weapon(unit, card.rule, "nearest to the random hex")


def shell_shock(card: Card) -> Doing:
    unit = yield from _nearest(card, "the unit that breaks")
    if unit is None:
        yield card.nothing("nobody is on the map")
        return
    yield from breaks(unit, card.rule, "nearest to the random hex")


# Smoke and fortifications.


def detritus_of_war(card: Card) -> Doing:
    ground = yield from card.hex("smoke")
    if ground.water or ground.blaze:
        yield card.nothing("no smoke in water or a blaze", ground.label)
    else:
        value = yield from smoke_drawn("smoke of the detritus")
        yield from smoke_placed(ground, value, card.rule)
    yield from fortified((yield from card.hex("wire")), "wire", card.rule)
    yield from fortified((yield from card.hex("mines")), "mines", card.rule)


def shellholes(card: Card) -> Doing:
    ground = yield from card.hex("foxholes")
    yield from fortified(ground, "foxholes", card.rule)


def gusts(card: Card) -> Doing:
    parity = card.said.get("parity") or card.said.get("event_value") or card.said.get("value")
    if parity not in ("odd", "even"):
        parity = yield Choose("parity", card.side, "which smoke the card names", options=["odd", "even"])
    for row in (yield Ask(SMOKE, proves=False)):
        if (row.value % 2 == 1) == (parity == "odd"):
            yield card.happens("removed", f"smoke of {row.value}", row.label)
            yield from removes_marker("smoke", row.label, row.value)


def white_phosphorus(card: Card) -> Doing:
    rows = yield Ask(
        "select * from ccp.phosphorus_hexes(:position, :side, :conditions)", proves=False, side=card.side
    )
    at = yield from picked_hex(card.side, "where the smoke goes", [row.label for row in rows], may=True)
    if at is None:
        yield card.nothing("no hex beside an own unbroken squad, or not wanted")
        return
    [ground] = yield Ask("select * from ccp.hex_now(:position, :hex, :conditions)", proves=False, hex=at)
    value = yield from smoke_drawn("white phosphorus")
    yield from smoke_placed(ground, value, card.rule)
    there = yield Ask("select * from ccp.units_near(:position, :hex, 0)", proves=False, hex=at)
    for side in (yield from inactive_first()):
        own = [row.code for row in there if row.side == side]
        unit = yield from picked(f"breaks_{side}", side, "which own unit breaks", own, also=("unit",))
        if unit is not None:
            yield from breaks(unit, card.rule, "white phosphorus")


# Objectives.


def _drawn_chit(card: Card, purpose: str) -> Doing:
    drawn = yield Draw("the objective chits", purpose, None)
    if not isinstance(drawn, Mapping) or "letter" not in drawn:
        raise AnswerError("A chit is told as {letter, objective, value}, {letter, each} or {letter, exit}.")
    chit = {key: value for key, value in drawn.items() if key != "secret"}
    return chit, drawn.get("secret", True)


def _opens_chit(card: Card, chit: dict[str, Any]) -> Doing:
    """14.3.4: an open chit pays at once whoever controls its objectives."""
    chits = (yield from conditions()).get("chits") or {}
    yield from keep(chits={**chits, "open": [*(chits.get("open") or ()), chit]})
    yield card.happens("opened", f"chit {chit['letter']}")
    yield Tell(chit=chit["letter"])
    rows = yield Ask(
        "select * from ccp.chit_points(:position, cast(:chits as jsonb), :conditions)",
        proves=False,
        chits=canonical([chit]),
    )
    for row in rows:
        yield from gains(row.holder, row.points, "14.3.4", f"objective {row.number}, by chit {row.letter}")


def strategic_objective(card: Card) -> Doing:
    chit, _ = yield from _drawn_chit(card, "an open chit")
    yield from _opens_chit(card, chit)


def mission_objective(card: Card) -> Doing:
    chit, secret = yield from _drawn_chit(card, f"a secret chit of {SIDES[card.side]}")
    if not secret:
        yield card.happens("open", f"chit {chit['letter']} has no secret side")
        yield from _opens_chit(card, chit)
        return
    chits = (yield from conditions()).get("chits") or {}
    hidden = chits.get("secret") or {}
    own = [*(hidden.get(card.side) or ()), chit]
    yield from keep(chits={**chits, "secret": {**hidden, card.side: own}})
    yield card.happens("secret", f"one more chit of {SIDES[card.side]}")


def reconnaissance(card: Card) -> Doing:
    whose = other(card.side)
    chits = (yield from conditions()).get("chits") or {}
    hidden = (chits.get("secret") or {}).get(whose) or []
    letter = yield from picked(
        "chit", whose, "which secret chit is opened", [chit["letter"] for chit in hidden], also=("letter",)
    )
    if letter is None:
        yield card.nothing(f"{SIDES[whose]} have no secret chit")
        return
    chit = next(one for one in hidden if one["letter"] == letter)
    left = [one for one in hidden if one is not chit]
    yield from keep(chits={**chits, "secret": {**chits["secret"], whose: left}})
    yield from _opens_chit(card, chit)


# Posture.


def tennoheika_banzai(card: Card) -> Doing:
    told = yield from conditions()
    posture = (told.get("posture") or {}).get("japan")
    if posture == "banzai":
        yield card.nothing("the Japanese Posture is Banzai already")
        return
    vp = told.get("vp")
    if vp is None:
        yield Tell(needs=[Need("the Victory Track", card.rule)])
    if vp is not None and vp > 0:
        yield card.happens("must", "the Allies lead")
        changes = yield Choose(
            "change", "japan", "the change to Banzai, which must be", options=[True], obvious=True
        )
    else:
        changes = yield Choose("change", "japan", "whether to change to Banzai", options=[True, False])
    if not changes:
        yield card.nothing("the Japanese keep their Posture")
        return
    yield card.happens("banzai", "the Japanese Posture is Banzai from now on")
    yield Change({"side": "japan", "posture": "banzai"}, told=True)
    yield from keep_of("posture", "japan", "banzai")
    yield from _down_to_three()


def _down_to_three() -> Doing:
    """E78: a hand of four or more is brought down to three."""
    hand = yield from hand_of("japan")
    size = hand_size(hand)
    if size is None or size < 4:
        return
    if not isinstance(hand, list):
        yield from holds("japan", 3)
        return
    kept = yield Choose(
        "keep",
        "japan",
        "which three cards are kept",
        check=functools.partial(_three_of, hand),
        default=hand[:3],
    )
    left = list(hand)
    for name in kept:
        left.remove(name)
    yield from discards_if_kept("japan", left)
    yield from holds("japan", list(kept))


def _three_of(hand: list[str], value: Any) -> str | None:
    if (
        not isinstance(value, list)
        or len(value) != 3
        or any(value.count(one) > hand.count(one) for one in value)
    ):
        return "three cards of the hand are kept"
    return None


EVENTS: dict[str, tuple[str, Callable[[Card], Doing]]] = {
    "air_support": ("E50", recruits.air_support),
    "battle_harden": ("E51", battle_harden),
    "battlelust": ("E52", battlelust),
    "blaze": ("E53", weather.blaze),
    "breezy": ("E54", weather.breezy),
    "bushido": ("E55", bushido),
    "deploy": ("E56", recruits.deploy),
    "detritus_of_war": ("E57", detritus_of_war),
    "field_of_battle": ("E58", field_of_battle),
    "field_promotion": ("E59", recruits.field_promotion),
    "gusts": ("E60", gusts),
    "hero": ("E61", recruits.hero),
    "interdiction": ("E62", interdiction),
    "jam": ("E63", jam),
    "kia": ("E64", kia),
    "malfunction": ("E65", malfunction),
    "medic": ("E66", medic),
    "mission_objective": ("E67", mission_objective),
    "prisoners_of_war": ("E68", prisoners_of_war),
    "reconnaissance": ("E69", reconnaissance),
    "reinforcements": ("E70", recruits.reinforcements),
    "scrounge": ("E71", recruits.scrounge),
    "shell_shock": ("E72", shell_shock),
    "shellholes": ("E73", shellholes),
    "spider_hole": ("E74", recruits.spider_hole),
    "stealth": ("E75", recruits.stealth),
    "strategic_objective": ("E76", strategic_objective),
    "suppressing_fire": ("E77", suppressing_fire),
    "tennoheika_banzai": ("E78", tennoheika_banzai),
    "walking_wounded": ("E79", recruits.walking_wounded),
    "white_phosphorus": ("E80", white_phosphorus),
}


def happens(name: str, side: str, said: Mapping[str, Any]) -> Doing:
    """An event in full, by its name; then the Sighting markers move."""
    if name not in EVENTS:
        raise AnswerError(f"There is no event {name!r}; there are {', '.join(EVENTS)}.")
    rule, play = EVENTS[name]
    card = Card(name, rule, side, said)
    yield Tell(
        Step(rule, None, "event", f"{name.replace('_', ' ')}, of {SIDES[side]}"), event=name, result="done"
    )
    yield from play(card)
    yield from card.sightings.conclude()


class Event(Action):
    """Which event, and whose."""

    name: Literal[
        "air_support", "battle_harden", "battlelust", "blaze", "breezy", "bushido", "deploy", "detritus_of_war",
        "field_of_battle", "field_promotion", "gusts", "hero", "interdiction", "jam", "kia", "malfunction", "medic",
        "mission_objective", "prisoners_of_war", "reconnaissance", "reinforcements", "scrounge", "shell_shock",
        "shellholes", "spider_hole", "stealth", "strategic_objective", "suppressing_fire", "tennoheika_banzai",
        "walking_wounded", "white_phosphorus",
    ] = Field(description="The event's name")  # fmt: skip
    side: Literal["japan", "allied"] = Field(description="The side that reveals it")
    direction: int | None = Field(None, ge=1, le=6, description="breezy: the downwind direction on the card")
    parity: Literal["odd", "even"] | None = Field(None, description="gusts: the smoke that goes")
    years: int | str | list[int] | None = Field(
        None, description="air_support: the year, or first and last year, on the card"
    )

    @model_validator(mode="before")
    @classmethod
    def words_of_choices(cls, told: Any) -> Any:
        """`direction`, `parity` and `years` may stand among the choices, too."""
        choices = told.get("choices") if isinstance(told, dict) else None
        if isinstance(choices, dict):
            moved = {key: choices[key] for key in ("direction", "parity", "years") if key in choices}
            rest = {key: value for key, value in choices.items() if key not in moved}
            told = {**told, **moved, "choices": rest}
        return told


@ending
def event(of: Event) -> Procedure:
    """An event, as a trigger brings it (1.9.3)."""
    said = {"direction": of.direction, "parity": of.parity, "years": of.years, "read": of.read, "of": of}
    yield from happens(of.name, of.side, said)


def _verdict(ruling: Ruling) -> str:
    answer, name = ruling.answer, ruling.question["event"]["name"].replace("_", " ")
    if answer["allowed"] is None:
        return f"What the event {name} brings is not known"
    if "pending" in answer:
        return f"The event {name} waits for an answer"
    changes = len(answer["effects"])
    return clauses(
        f"The event {name} changes nothing" if not changes else f"The event {name} happens",
        "the game is over" if answer.get("over") else None,
    )


KINDS = [
    procedure_kind(
        event,
        kinds=functools.partial(kinds_of, "ccp"),
        name="event",
        title="Event",
        arguments=Event,
        rulesets=("ccp",),
        answers={
            "event": "the event's name",
            "chit": "the letter of a chit that was opened",
            "hexes": "air_support: where the aircraft may be placed",
            "roll": "reinforcements: the roll on the Support Table",
            "result": "done",
            **ENDS,
        },
        verdict=_verdict,
        points=("ccp-7", "ccp-8", "ccp-9", "ccp-10", "ccp-31", "ccp-33", "ccp-34", "ccp-39"),
        example="event: {name: kia, side: japan, choices: {unit: Squad}}",
        acts=False,
    ),
]
