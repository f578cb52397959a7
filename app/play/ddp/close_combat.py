"""Close combat (8.6, 8.7): two piles of cards turned up in turn, their events and hits, and how it ends.

Only the sizes of the piles are kept: a card is known when it is turned up. The piles, the colour and who begins
are SQL (`ddp.close_combat`); here is the order of play.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any, Literal

from pydantic import Field

from app.play.ddp import cards
from app.play.ddp.acting import Doing, counter, forgiving, is_ridge, scene
from app.play.ddp.fortification import remove as remove_fortification
from app.play.ddp.losses import lose_step
from app.play.ddp.placing import Blind, Hand, place_one, place_reserve
from app.play.ddp.revealing import reveal_depth, reveal_unit, show_depth
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Choose,
    Procedure,
    Refused,
    Tell,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Ruling, Step
from app.referee.words import clauses, counted
from importers.questions import Names

LEDGER = "select * from ddp.close_combat(:position, :at, :attacker, :origin, :conditions, :policy)"
WITHDRAWAL = "select * from ddp.withdrawal(:position, :at, :origin, :conditions, :policy)"
REFUGE = "select * from ddp.refuge(:position, :at, :conditions, :policy)"
LINKED = (
    "select coalesce(bool_or(found.in_communication), false) as linked"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._japanese_communication(state) as found where found.label = :at"
)
IDLE = (
    "select code from unit where position_id = :position and side = 'us' and q is not null"
    " and not ddp._flag(attributes, 'acted') order by code"
)
READINGS = "select positions.readings(:position, :policy) as readings"
ASKED = "ask"
"""The word by which the US side is asked after every Japanese card whether it withdraws."""
MOST_TURNS = 200


class CloseCombat(Action):
    """Where the two sides meet, and who came."""

    at: Annotated[str, Names(("hex", "unit"))] = Field(description="The hex in which both sides stand")
    attacker: Literal["us", "japan"] = Field("us", description="Who entered the hex")
    origin: Annotated[str | None, Names(("hex",))] = Field(
        None,
        alias="from",
        description="The position hex from which an assault came; else the unit's own `from`",
    )


@dataclasses.dataclass(frozen=True)
class Sufferer(Choose):
    """Which unit loses a step: one of those offered, or a list that names those of the next hits as well."""

    def mistake(self, value: Any) -> str | None:
        return super().mistake(value[0] if isinstance(value, list) and value else value)


@dataclasses.dataclass
class Fight:
    """A close combat that is being fought."""

    at: str
    attacker: str
    origin: str | None
    hand: Hand
    suffix: str = ""
    us: int = 0
    japan: int = 0
    color: str | None = None
    enemy: str = ""
    fighters: list[str] = dataclasses.field(default_factory=list)
    stance: bool = False
    tank: bool = False
    elite: bool = False
    place: str | None = None
    over: str | None = None
    japanese_cards: int = 0
    hits: int = 0
    withdraw: Any = None
    withdrawing: bool = False
    depth_added: bool = False
    tactical: int = 0
    steps_lost: int = 0
    japanese_lost: int = 0
    rounds: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    listed: list[str] = dataclasses.field(default_factory=list)
    """Units named ahead for the next hits."""
    asked: int = 0

    def name(self, word: str, n: int = 1) -> str:
        """What a choice is called: with the suffix of this fight, and numbered where it comes again."""
        return f"{word}{self.suffix}" if n == 1 else f"{word}{self.suffix}_{n}"


def close_combat(of: CloseCombat) -> Procedure:
    """8.6: a close combat from the reveal to the last survivor."""
    return forgiving(of, _close_combat(of))


def _close_combat(of: CloseCombat) -> Procedure:
    yield from _actions_done()
    yield from _fought(Fight(of.at, of.attacker, of.origin, Hand(of)), of)


def _actions_done() -> Doing:
    """8.6: close combat comes when all US actions of the phase are done."""
    now = yield from scene()
    if now.conditions.get("phase") != "us_action":
        return
    for row in (yield Ask(IDLE, proves=False)):
        yield Change({"unit": row.code, "acted": True}, kept=True)


def close_combat_in(at: str, origin: str | None, of: Action, *, suffix: str, hand: Hand) -> Doing:
    """The same within an action that brings the Japanese there; gives what it found."""
    return (yield from _fought(Fight(at, "japan", origin, hand, suffix), of))


def _cards_or_ask(value: Any) -> str | None:
    if (
        value is None
        or value is False
        or value == ASKED
        or (isinstance(value, int) and not isinstance(value, bool) and value > 0)
    ):
        return None
    return f"withdraw is a number of Japanese cards, {ASKED}, or false"


def _fought(fight: Fight, of: Action) -> Doing:
    if (name := fight.name("withdraw")) in of.choices:
        # 8.63: whoever attacks
        fight.withdraw = yield Choose(
            name, "us", "after how many Japanese cards the US side withdraws", check=_cards_or_ask
        )
    yield from _reveal(fight)
    rows = yield Ask(LEDGER, at=fight.at, attacker=fight.attacker, origin=fight.origin)
    facts = rows[-1].facts
    if not facts["allowed"]:
        raise Refused(rows[-1].rule, rows[-1].note, facts["at"])
    yield from _take_sides(fight, facts)
    first = facts["first"]
    told: dict[str, Any] = {"piles": facts["piles"], "first": first, "color": fight.color}
    yield Tell(**told, rounds=fight.rounds)
    yield from _prepare(fight)
    yield from _rounds(fight, first)
    yield from _end(fight)
    told |= {
        "rounds": fight.rounds,
        "ends": fight.over,
        "returned": fight.us + fight.japan,
        "depth_added": fight.depth_added,
        "losses": {"us": fight.steps_lost, "japan": fight.japanese_lost},
    }
    yield Tell(**told)
    return told


# Before the cards.


def _reveal(fight: Fight) -> Doing:
    """8.6 step 1: all Japanese counters in the hex are turned up; a fortification gains a unit and depth (19.5)."""
    [*_, last] = yield Ask(LEDGER, proves=False, at=fight.at, attacker=fight.attacker, origin=fight.origin)
    facts = last.facts
    if not facts["fighters"]:
        return
    enemy = facts["enemy"]
    if enemy is None and facts.get("fortified"):
        enemy = yield from place_reserve(facts["at"], "19.5", fight.hand, depth=False, revealed=True)
    if enemy is None:
        return
    yield from reveal_unit(enemy, "8.6")
    found = yield from reveal_depth(enemy, "8.6")
    fight.tactical += found == "tactical"
    if found is None and facts.get("fortified"):
        fight.tactical += (yield from show_depth(enemy, "19.5", fight.hand)) == "tactical"
    if facts.get("cave") and facts.get("color") is None:
        drawn = yield Blind("counterattack", f"the colour of the cave in {facts['at']}")
        yield Change({"unit": enemy, "color": drawn.get("color")})


def _take_sides(fight: Fight, facts: dict[str, Any]) -> Doing:
    fight.at, fight.color = facts["at"], facts["color"]
    fight.us, fight.japan = facts["piles"]["us"], facts["piles"]["japan"]
    fight.enemy, fight.fighters = facts["enemy"], list(facts["fighters"])
    fight.stance, fight.tank, fight.elite = facts["stance"], facts["tank"], facts["elite"]
    fight.place = facts["place"]
    if fight.origin is None:
        unit = yield from counter(fight.enemy)
        fight.origin = unit.attributes.get("from")


def _prepare(fight: Fight) -> Doing:
    """13.44: a counterattack lifts US disruption; the flamethrower marker is spent right after the piles."""
    if fight.stance:
        for code in (yield from _disrupted(fight)):
            yield Change({"unit": code, "disrupted": False})
            yield Tell(Step("13.44", fight.at, "recovers", f"{code} faces a counterattack"))
    now = yield from scene()
    if fight.attacker != "us" or not now.tracks.get("us", {}).get("flamethrower"):
        return
    spent = yield Choose(
        fight.name("flamethrower"),
        "us",
        "whether the flamethrower marker is spent",
        [True, False],
        default=False,
    )
    if spent:
        yield Change({"side": "us", "flamethrower": 0})
        yield from _discard(fight, "japan")
        yield Tell(
            Step(
                "4.0",
                fight.at,
                "discarded",
                f"a Japanese card, for the flamethrower marker: {fight.japan} left",
            )
        )
        yield from _disrupt_enemy(fight, "4.0", "the flamethrower marker")


# Turn by turn.


def _rounds(fight: Fight, first: str) -> Doing:
    turn = first
    for _ in range(MOST_TURNS):
        if fight.over is not None:
            return
        if not fight.us and not fight.japan:
            fight.over = "exhaustion"
            return
        if turn == "japan" and fight.japan:
            yield from _japanese_turn(fight)
        elif turn == "us" and fight.us:
            yield from _us_turn(fight)
        turn = "us" if turn == "japan" else "japan"


def _noted(fight: Fight, by: str, hit: bool, event: str | None, **more: Any) -> None:
    fight.rounds.append({"by": by, "hit": hit, "event": event, "us": fight.us, "japan": fight.japan, **more})


def _japanese_turn(fight: Fight) -> Doing:
    """8.6 step 3: event, hit, and the chance to withdraw."""
    fight.japan -= 1
    yield from _japanese_card(fight)
    if fight.over is None and (yield from _wants_out(fight)):
        yield from _withdraw(fight)


def _japanese_card(fight: Fight) -> Doing:
    card = yield from cards.close_combat("japan")
    fight.japanese_cards += 1
    hit = card.shows(fight.color)
    if card.cc == "us_fire_on_counterattack" and fight.stance:
        yield Tell(Step("8.7", fight.at, "no hit", "US fire on the counterattack"))
        hit = False
    yield from _event(fight, card.cc, "japan")
    if hit and fight.over is None:
        yield from _discard(fight, "us")
        yield from _lose(fight, "8.6", "hit in close combat")
    _noted(fight, "japan", hit, card.cc)


def _us_turn(fight: Fight) -> Doing:
    """8.6 step 4: who is disrupted spends the turn on that; else event and hit."""
    disrupted = yield from _disrupted(fight)
    if disrupted:
        for code in disrupted:
            yield Change({"unit": code, "disrupted": False})
        yield Tell(Step("8.65", fight.at, "recovers", "the US side spends its turn on losing the disruption"))
        _noted(fight, "us", False, None, undisrupted=True)
        return
    card = yield from cards.close_combat("us")
    fight.us -= 1
    hit, event = card.shows(fight.color), card.cc
    if event == "us_fire_on_counterattack" and fight.stance:
        yield Tell(Step("8.7", fight.at, "hit", "US fire on the counterattack"))
        hit = True
    if event == "reinforce" and hit:
        yield Tell(Step("8.7", fight.at, "cancels", "the hit and the reinforcement set each other off"))
        _noted(fight, "us", False, None)
        return
    yield from _event(fight, event, "us")
    if hit and fight.over is None:
        yield from _discard(fight, "japan")
        yield from _hit_enemy(fight)
    _noted(fight, "us", hit, event)


def _discard(fight: Fight, side: str) -> Doing:
    """The top card of a pile, unseen, if there is one."""
    if getattr(fight, side):
        setattr(fight, side, getattr(fight, side) - 1)
        yield from cards.unseen(1)


def _disrupted(fight: Fight) -> Doing:
    found = []
    for code in fight.fighters:
        unit = yield from counter(code)
        if unit.attributes.get("disrupted"):
            found.append(code)
    return found


def _lose(fight: Fight, rule: str, why: str, among: list[str] | None = None, word: str = "step") -> Doing:
    """A step of a US unit of the player's choice; the last one may be the hero's (10.15, ddp-25)."""
    units = among or fight.fighters
    code = units[0] if len(units) == 1 else (yield from _chosen(fight, units, word))
    fight.hits += 1
    came = yield from lose_step(code, rule, why, choice=fight.name("sacrifice", fight.hits))
    if came == "sacrificed":
        [row] = yield Ask(READINGS, proves=False)
        yield Tell(points=("ddp-25",))
        if row.readings["ddp-25"] == "b":
            yield Change({"unit": code, "inspired": False})
        return
    fight.steps_lost += 1
    if came == "eliminated":
        fight.fighters.remove(code)
        if not fight.fighters:
            fight.over = "elimination"


def _chosen(fight: Fight, units: list[str], word: str) -> Doing:
    """Who loses the step: named one by one, or ahead as a list."""
    while fight.listed and word == "step":
        code = fight.listed.pop(0)
        if code in units:
            return code
    fight.asked += 1

    name = fight.name(word, fight.asked)
    value = yield Sufferer(name, "us", "the US unit that loses a step", list(units), default=units[0])
    named = value if isinstance(value, list) else [value]
    fight.listed = [*named[1:]] if word == "step" else fight.listed
    return named[0]


def _hit_enemy(fight: Fight) -> Doing:
    """8.6 step 4b: disruption, then the depth, then the unit."""
    unit = yield from counter(fight.enemy)
    if not unit.attributes.get("disrupted"):
        yield from _disrupt_enemy(fight, "8.6", "hit in close combat")
    elif (yield from _strip(fight, "8.6")):
        pass
    else:
        yield from _kill(fight, "8.6", "elimination")


def _disrupt_enemy(fight: Fight, rule: str, why: str) -> Doing:
    unit = yield from counter(fight.enemy)
    if not unit.attributes.get("disrupted"):
        yield Change({"unit": fight.enemy, "disrupted": True})
        yield Tell(Step(rule, fight.at, "disrupted", f"{fight.enemy}: {why}"))


def _strip(fight: Fight, rule: str) -> Doing:
    """The depth is lost; a counterattack marker is turned over (13.46)."""
    unit = yield from counter(fight.enemy)
    if "depth" in unit.attributes:
        yield Change({"unit": fight.enemy, "depth": None})
    elif unit.attributes.get("counterattack") is not None and unit.attributes["counterattack"].get(
        "depth", True
    ):
        yield Change(
            {"unit": fight.enemy, "counterattack": unit.attributes["counterattack"] | {"depth": False}}
        )
    else:
        return False
    fight.japanese_lost += 1
    yield Tell(Step(rule, fight.at, "depth eliminated", f"{fight.enemy} loses its depth"))
    return True


def _kill(fight: Fight, rule: str, ends: str) -> Doing:
    """8.61: elite units go to the eliminated box, others out of play."""
    yield from remove_japanese(fight.enemy, rule, "eliminated in close combat")
    fight.japanese_lost += 1
    fight.over = ends


def remove_japanese(code: str, rule: str, why: str) -> Doing:
    """A Japanese unit is eliminated; an elite one is kept in its box, but not on Bloody Nose Ridge (8.61, 18.42)."""
    unit = yield from counter(code)
    now = yield from scene()
    yield Change({"unit": code, "eliminated": True})
    yield Tell(Step(rule, unit.label, "eliminated", f"{code}: {why}"))
    if unit.attributes.get("elite") and not unit.attributes.get("tank") and not is_ridge(now.conditions):
        box = now.tracks.get("japan", {}).get("eliminated_elite")
        kept = [*box, code] if isinstance(box, list) else (box or 0) + 1
        yield Change({"side": "japan", "eliminated_elite": kept})
    if unit.attributes.get("cave"):
        yield Change({"marker": "cave", "at": unit.label, "removed": True})


# Events (8.7).


def _event(fight: Fight, event: str | None, by: str) -> Doing:
    match event:
        case "conscripts_surrender":
            yield from _surrender(fight)
        case "heroism":
            yield from _heroism(fight, by)
        case "naval_artillery_blast":
            yield from _blast(fight)
        case "reinforce":
            fight.japan += 1
            yield Tell(Step("8.7", fight.at, "adds", "a card for the Japanese side: Reinforce"))
            yield from _reinforce(fight)
        case "us_withdrawal_hit" if fight.withdrawing:
            yield from _lose(fight, "8.7", "hit while withdrawing")


def _surrender(fight: Fight) -> Doing:
    unit = yield from counter(fight.enemy)
    said = unit.attributes
    deep = "depth" in said or (
        said.get("counterattack") is not None and said["counterattack"].get("depth", True)
    )
    if said.get("elite") or said.get("tank") or deep:
        yield Tell(
            Step("8.7", fight.at, "no event", "elite units, tanks and units with depth do not surrender")
        )
        return
    yield from _kill(fight, "8.7", "surrender")


def _heroism(fight: Fight, by: str) -> Doing:
    setattr(fight, by, getattr(fight, by) + 1)
    yield Tell(
        Step("8.7", fight.at, "adds", f"a card for the {'US' if by == 'us' else 'Japanese'} side: Heroism")
    )
    yield from _discard(fight, "us" if by == "japan" else "japan")
    if by == "japan":
        yield from _reinforce(fight)


def _reinforce(fight: Fight) -> Doing:
    """A unit without depth gains it, revealed; not a tank, nor who is cut off (ddp-42). A counterattack marker is turned."""
    unit = yield from counter(fight.enemy)
    said = unit.attributes
    if "depth" in said:
        return
    if said.get("counterattack") is not None:
        if not said["counterattack"].get("depth", True):
            yield Change({"unit": fight.enemy, "counterattack": said["counterattack"] | {"depth": True}})
            yield Tell(Step("8.7", fight.at, "depth", "the counterattack marker is turned to its depth side"))
            fight.depth_added = True
        return
    if not (yield from _may_gain(fight)):
        return
    came = yield from show_depth(fight.enemy, "8.7", fight.hand)
    fight.tactical += came == "tactical"
    fight.depth_added = fight.depth_added or came == "added"


def _may_gain(fight: Fight) -> Doing:
    """9.22, 11.2 against 8.7: who gains depth in close combat (ddp-42)."""
    [row] = yield Ask(READINGS, proves=False)
    base = fight.origin if fight.origin is not None and fight.place is None else fight.at
    [found] = yield Ask(LINKED, proves=False, at=base)
    if not fight.tank and found.linked:
        return True
    gains = bool(row.readings["ddp-42"] == "b")
    why = "a tank" if fight.tank else "out of communication"
    yield Tell(
        Step(
            "9.22" if fight.tank else "11.2",
            fight.at,
            "gains" if gains else "gains nothing",
            f"{fight.enemy} is {why}",
        ),
        points=("ddp-42",),
    )
    return gains


def _blast(fight: Fight) -> Doing:
    card = yield from cards.close_combat("blast")
    if not card.shows(fight.color):
        yield Tell(Step("8.7", fight.at, "no event", "the blast falls elsewhere"))
        return
    struck: list[tuple[int, str]] = []
    for code in fight.fighters:
        unit = yield from counter(code)
        if unit.attributes.get("symbol") == card.symbol:
            struck.append((unit.attributes.get("steps") or 0, code))
    if struck:
        most = max(steps for steps, _ in struck)
        among = [code for steps, code in struck if steps == most]
        yield from _lose(fight, "8.7", "naval artillery blast", among, "blast")
    elif not (yield from _strip(fight, "8.7")):
        yield from _kill(fight, "8.7", "elimination")


# Withdrawal and ends.


def _wants_out(fight: Fight) -> Doing:
    if fight.withdraw is None:
        return False
    if fight.withdraw != ASKED:
        return fight.japanese_cards == fight.withdraw
    name = fight.name("out", fight.japanese_cards)
    return (yield Choose(name, "us", "whether the US units withdraw", [True, False], default=False))


def _withdraw(fight: Fight) -> Doing:
    """8.63: one more Japanese card, then the survivors leave (ddp-56: without a pile it comes off the deck)."""
    fight.withdrawing = True
    if not fight.japan:
        [row] = yield Ask(READINGS, proves=False)
        from_deck = row.readings["ddp-56"] == "a"
        yield Tell(
            Step("8.63", fight.at, "from the deck" if from_deck else "no card", "no Japanese card is left"),
            points=("ddp-56",),
        )
        if from_deck:
            fight.japan = 1
    if fight.japan:
        fight.japan -= 1
        yield from _japanese_card(fight)
    if fight.over is None:
        fight.over = "withdrawal"


def _end(fight: Fight) -> Doing:
    """8.61 to 8.63: who stays, who leaves, who is disrupted."""
    enemy = yield from counter(fight.enemy)
    alive = enemy.q is not None
    if fight.over == "withdrawal":
        yield from _us_leaves(fight, None)
        yield from _after_withdrawal(fight, alive)
    elif fight.over == "exhaustion":
        yield from _exhausted(fight)
    else:
        yield from _us_disrupted(fight)
        if alive:
            yield from _japanese_home(fight)
    if not alive or fight.over == "withdrawal":
        yield from _ground_won(fight, alive)
    for _ in range(fight.tactical):
        yield from place_one("tactical", fight.at, fight.hand)
    yield from _forget(fight)


def _after_withdrawal(fight: Fight, alive: bool) -> Doing:
    """8.63 says nothing of disruption (ddp-43)."""
    [row] = yield Ask(READINGS, proves=False)
    yield Tell(points=("ddp-43",))
    if row.readings["ddp-43"] == "b":
        yield from _us_disrupted(fight)
        if alive:
            yield from _disrupt_enemy(fight, "8.63", "the US units have withdrawn")
    if alive and fight.attacker == "japan":
        yield from _off_position(fight, disrupted=row.readings["ddp-43"] == "b")


def _exhausted(fight: Fight) -> Doing:
    """8.62: defenders stay, attackers go back where they came from; all are disrupted (ddp-2)."""
    if fight.attacker == "us":
        yield from _us_disrupted(fight)
        for code in fight.fighters:
            unit = yield from counter(code)
            yield from _us_leaves(fight, unit.attributes.get("from"), [code])
        yield from _disrupt_enemy(fight, "8.62", "the cards are exhausted")
        return
    yield from _us_disrupted(fight)
    [row] = yield Ask(READINGS, proves=False)
    yield Tell(points=("ddp-2",))
    if row.readings["ddp-2"] == "b":
        yield from _us_leaves(fight, None)
    yield from _japanese_home(fight, beaten=True)


def _us_disrupted(fight: Fight) -> Doing:
    now = yield from scene()
    for code in fight.fighters:
        unit = yield from counter(code)
        if unit.kind in ("regimental_hq", "command_post"):
            continue
        if not unit.attributes.get("disrupted"):
            yield Change({"unit": code, "disrupted": True})
        if now.conditions.get("phase") == "us_action" or fight.attacker == "us":
            yield Change({"unit": code, "fresh": True}, kept=True)


def _us_leaves(fight: Fight, origin: str | None, units: list[str] | None = None) -> Doing:
    """US units are placed in an adjacent land hex: nearest to where they came from, or of the player's choice."""
    rows = yield Ask(WITHDRAWAL, at=fight.at, origin=origin)
    options = rows[-1].facts["open"]
    if not options:
        return
    to = options[0]
    if len(options) > 1:
        to = yield Choose(
            fight.name("to"), "us", "the hex to which the US units go", options, default=options[0]
        )
    for code in units or fight.fighters:
        yield Change({"unit": code, "at": to})


def _japanese_home(fight: Fight, beaten: bool = False) -> Doing:
    """A Japanese survivor: disrupted, and off a hex that is no position of its own (8.61, 8.62, 8.64, 12.83)."""
    yield from _off_position(fight, disrupted=True, beaten=beaten)


def _off_position(fight: Fight, *, disrupted: bool, beaten: bool = False) -> Doing:
    [row] = yield Ask(READINGS, proves=False)
    readings, to = row.readings, None
    attacking = fight.attacker == "japan"
    if fight.tank and fight.place is None:
        point, to = "ddp-13", fight.origin if readings["ddp-13"] == "c" else None
        if to is None:
            [*_, found] = yield Ask(REFUGE, at=fight.at)
            to = found.facts["to"]
        disrupted = disrupted and not (readings["ddp-13"] == "b" and not fight.stance)
        yield Tell(points=(point,))
    elif attacking and fight.stance and fight.place is None and not beaten:
        pass
    elif attacking and (beaten or fight.place is None):
        to = fight.origin
        if fight.place is None and not beaten:
            yield Tell(points=("ddp-41",))
            if readings["ddp-41"] == "b":
                [*_, found] = yield Ask(REFUGE, at=fight.at)
                to = found.facts["to"]
    if disrupted:
        yield from _disrupt_enemy(fight, "8.61" if not beaten else "8.62", "it has survived a close combat")
    if to == "reserve":
        yield Change({"unit": fight.enemy, "at": None, "status": "reserve"})
    elif to is not None and to != fight.at:
        yield Change({"unit": fight.enemy, "at": to})
        yield Tell(Step("8.62" if beaten else "12.83", to, "returns", f"{fight.enemy} leaves {fight.at}"))


def _ground_won(fight: Fight, alive: bool) -> Doing:
    """Where US units alone are left: a fortification is removed (19.5), guns are destroyed (6.51)."""
    if alive or not fight.fighters:
        return
    yield from hold(fight.at)


HELD = """
select
  exists (
    select from marker where marker.position_id = :position and marker.kind = 'fortification' and marker.q = hex.q and marker.r = hex.r
  ) as fortified,
  exists (
    select from ddp._spots(position.map_id) as spot where spot.q = hex.q and spot.r = hex.r and spot.artillery
  ) and not exists (
    select from marker where marker.position_id = :position and marker.kind = 'artillery_destroyed' and marker.q = hex.q and marker.r = hex.r
  ) as guns,
  exists (
    select from unit where unit.position_id = :position and unit.side = 'japan' and unit.q = hex.q and unit.r = hex.r
  ) as held
from position
join hex on hex.map_id = position.map_id and hex.label = :at
where position.id = :position
"""


def hold(label: str) -> Doing:
    """US units alone hold a hex: guns there are destroyed for good, a fortification goes back to the cup (6.51, 19.2)."""
    [row] = yield Ask(HELD, proves=False, at=label)
    if row.held:
        return
    if row.guns:
        yield Change({"marker": "artillery_destroyed", "at": label})
        yield Tell(Step("6.51", label, "destroyed", "the guns of a position that US units hold"))
    if row.fortified:
        yield from remove_fortification(label)


def _forget(fight: Fight) -> Doing:
    """Where they came from matters no longer."""
    for code in (*fight.fighters, fight.enemy):
        unit = yield from counter(code)
        if unit is not None and unit.attributes.get("from"):
            yield Change({"unit": code, "from": None}, kept=True)


def _verdict(ruling: Ruling) -> str:
    of, answer = ruling.question["close_combat"], ruling.answer
    what = f"The close combat in {of['at']}"
    if answer["allowed"] is not True:
        return f"{what} is not fought: {answer.get('why') or 'something is not told'}"
    if "piles" not in answer:
        return f"{what} waits for a counter to be turned up"
    piles = f"{what} begins with {counted(answer['piles']['us'], 'US card')} and {counted(answer['piles']['japan'], 'Japanese card')}"
    if "ends" not in answer:
        return clauses(piles, f"{counted(len(answer['rounds']), 'turn')} played, and it waits")
    losses = answer["losses"]
    return clauses(
        f"{piles} and ends by {answer['ends']}",
        f"the US side lost {counted(losses['us'], 'step')}, the Japanese {counted(losses['japan'], 'counter')}",
    )


KINDS = [
    procedure_kind(
        close_combat,
        kinds=functools.partial(kinds_of, "ddp"),
        name="close_combat",
        title="Close combat",
        arguments=CloseCombat,
        rulesets=("ddp",),
        answers={
            "piles": "how many cards each side has at the start",
            "first": "the side that turns up the first card",
            "color": "the colour that hits",
            "rounds": "each turn: who, whether it hit, the event, and the piles after it",
            "ends": "elimination, surrender, exhaustion or withdrawal",
            "returned": "cards that go back on top of the deck",
            "depth_added": "whether the Japanese gained a depth marker",
            "losses": "steps that the US side lost; units and depth markers that the Japanese lost",
        },
        verdict=_verdict,
        points=("ddp-2", "ddp-13", "ddp-25", "ddp-41", "ddp-42", "ddp-43", "ddp-55", "ddp-56"),
        example='close_combat: {at: "0216", attacker: us}',
    )
]
