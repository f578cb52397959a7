"""The turn of D-Day at Peleliu (4.0, 16.0, 18.2): which phases it has, what ends with it, the night, and the set-up."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from app.play import sequence
from app.play.ddp import cards
from app.play.ddp.deciding import Deciding
from app.play.ddp.placing import Blind, Hand, draw_depth, left, pool, waiting
from app.play.procedures import (
    Action,
    Ask,
    Change,
    Procedure,
    Put,
    Refused,
    Tell,
    Undecided,
    procedure_kind,
)
from app.play.sequence import Leaf, Moment, State
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from app.referee.words import clauses, counted, series
from db.rulesets.ddp.counters import spelt_out

NIGHTS, MORNINGS = (4, 8, 12, 16), (5, 9, 13, 17)
"""18.21, 18.22: turns of Bloody Nose Ridge."""
NIGHT = 13
"""16.0: the overnight turn of the invasion."""
CHANGE_OF_COMMAND = 12
"""18.32: the turn by which the US command has changed."""
FIRST_TURNS = {"first_event": 2, "second_event": 5, "hq": 8}
"""4.0: the turn from which a phase is played."""
LAST_EVENTS = 24
OF_THE_ACTION_PHASE = ("acted", "moved", "started", "fresh", "from")
"""What units did in an Action Phase, forgotten when it ends."""
GAME = (
    "select cast(:conditions as jsonb) as conditions, coalesce(position.tracks, '{}') as tracks,"
    " positions.readings(:position, :policy) as readings from position where position.id = :position"
)


WAITING = (
    "select code from unit where position_id = :position and side = 'us' and q is null"
    " and ((attributes ? 'box' and not ddp._flag(attributes, 'acted') and :turn > 1)"
    " or (not attributes ? 'box' and (attributes ->> 'arrives')::integer = :turn + 1)) order by code"
)
"""5.0: who has still to be checked, landed, or put into a box; who stays in one has done so for this turn."""


class Walk(sequence.Walk):
    """The phases of a turn: fewer on the first turns and at night, others on Bloody Nose Ridge."""

    def first_moment(self, state: State) -> Moment:
        """The first phase of the turn of a state."""
        return self._first_of(self.leaves, state)

    def alone(self, state: State) -> bool:
        """One player plays; the Japanese are the rules'."""
        return True

    def holds(self, leaf: Leaf, state: State) -> bool:
        code, turn = leaf.phase.code, state.conditions.get("turn") or 1
        if is_ridge(state.conditions):
            return self._holds_on_the_ridge(code, turn, state.conditions)
        if code in ("night", "morning"):
            return False
        if turn == NIGHT and code in ("amphibious_operations", "second_event", "hq"):
            return False
        return bool(turn >= FIRST_TURNS.get(code, 1))

    def _holds_on_the_ridge(self, code: str, turn: int, conditions: Mapping[str, Any]) -> bool:
        """18.2: no landing; 18.21, 18.22: nights and mornings are all that their turns have."""
        if turn in NIGHTS:
            return code == "night"
        if turn in MORNINGS and has_new_command(conditions, turn):
            return code == "morning"
        if code in ("night", "morning", "amphibious_operations"):
            return False
        return turn > 1 or code in ("us_action", "end_of_turn")

    def rule(self, state: State) -> str:
        """3.0, 18.1: setting up."""
        if self.leaf(state) is not None:
            return super().rule(state)
        return "18.1" if is_ridge(state.conditions) else "3.0"

    def actions(self, state: State) -> tuple[str, ...]:
        """4.0: on turn 1 units only come into the boxes; 18.2: the HQ Phase of Bloody Nose Ridge."""
        allowed = super().actions(state)
        phase, ridge = state.conditions.get("phase"), is_ridge(state.conditions)
        if phase == "amphibious_operations" and state.conditions.get("turn") == 1:
            return tuple(name for name in allowed if name not in ("landing", "land"))
        if phase == "hq" and ridge:
            return tuple(name for name in ("recover", *allowed) if name != "command_post")
        if phase == "us_action" and state.conditions.get("turn") == NIGHT:
            return tuple(name for name in allowed if name != "barrage")
        return allowed

    def conditions(self, moment: Moment) -> dict[str, Any]:
        return super().conditions(moment) | {"drawn": None}


def is_ridge(conditions: Mapping[str, Any]) -> bool:
    return conditions.get("scenario") == "bloody_nose_ridge"


def has_new_command(conditions: Mapping[str, Any], turn: int) -> bool:
    """18.32: by the event, or on turn 12."""
    return conditions.get("rupertus") is False or turn >= CHANGE_OF_COMMAND


# What must be done before a phase ends, and what ends with it.


class NothingMore(Action):
    """What is asked is only the position."""


def phase_duties(_: NothingMore) -> Procedure:
    """4.0: an event or fire card is drawn in its phase; 5.1: boxes are checked and cleared."""
    [game] = yield Ask(GAME, proves=False)
    phase, turn = game.conditions.get("phase"), game.conditions.get("turn")
    wanted = {"first_event": 1, "second_event": 1, "japanese_fire": 2 if turn == NIGHT else 1}.get(phase, 0)
    if is_ridge(game.conditions):
        wanted = min(wanted, 1)
    if (game.conditions.get("drawn") or 0) < wanted:
        raise Refused("4.0", "the card of this phase has not been drawn")
    if phase == "amphibious_operations":
        waiting = yield Ask(WAITING, proves=False, turn=turn)
        if waiting:
            raise Refused(
                "5.0", f"{series([row.code for row in waiting])} must be checked, landed or put into boxes"
            )


def hq_ends(_: NothingMore) -> Procedure:
    """14.1: what a post did is no action, and is forgotten."""
    yield from _forget(("acted",))


def action_phase_ends(_: NothingMore) -> Procedure:
    """7.0: after close combat what units did is forgotten, and attack orders are gone (18.2)."""
    mixed = yield Ask(
        "select distinct hex.label from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " join unit as other on other.position_id = unit.position_id and other.q = unit.q and other.r = unit.r"
        " and other.side = 'japan' where unit.position_id = :position and unit.side = 'us' and unit.kind <> 'garrison'"
        " order by hex.label",
        proves=False,
    )
    if mixed:
        raise Refused("8.6", f"close combat is still to be fought in {series([row.label for row in mixed])}")
    over = yield Ask(
        "select hex.label from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
        " where unit.position_id = :position and unit.side = 'us'"
        " and unit.kind not in ('regimental_hq', 'command_post', 'hero', 'garrison')"
        " group by hex.label having count(*) > 2 order by hex.label",
        proves=False,
    )
    yield from _obeyed()
    if over:
        yield from _excess([row.label for row in over])
    yield from _forget(OF_THE_ACTION_PHASE)
    yield from _take_off("attack_orders")
    yield Change({"conditions": {"attacked": [], "barraged": [], "actions": 0}}, kept=True)


ORDERS = (
    "select hex.label, unit.code from positions.state(:position, :conditions, :policy) as state"
    " join marker on marker.position_id = state.position_id and marker.kind = 'attack_orders'"
    " join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
    " join lateral ddp._us_units(state) as unit on lattice.distance(unit.q, unit.r, hex.q, hex.r) = 1"
    " and (ddp._on_foot(unit.kind) or unit.kind = 'engineer') and not ddp._flag(unit.attributes, 'disrupted')"
    " and not ddp._flag(unit.attributes, 'acted')"
    " and not ddp._is_blocked(state.position_id, state.map_id, hex.q, hex.r, unit.q, unit.r)"
    " where ddp._ridge(state.conditions) and not coalesce(state.conditions -> 'attacked' ? hex.label, false)"
    " and exists (select from ddp._occupants(state) as held where held.q = marker.q and held.r = marker.r)"
    " and not exists (select from ddp._us_units(state) as there where there.q = marker.q and there.r = marker.r)"
    " order by hex.label, unit.code"
)


def _obeyed() -> Deciding:
    """18.32: a hex with attack orders is attacked or entered as long as somebody beside it can."""
    rows = yield Ask(ORDERS, proves=False)
    if rows:
        raise Refused(
            "18.32",
            f"{rows[0].label} has attack orders, and {rows[0].code} could attack or enter it",
            rows[0].label,
        )


def _excess(labels: Sequence[str]) -> Deciding:
    """7.53: what exceeds two units in a hex is eliminated, by the player's choice."""
    from app.play.ddp import losses
    from app.play.ddp.deciding import Names

    names = Names()
    for label in labels:
        rows = yield Ask(
            "select unit.code from unit join hex on hex.map_id = unit.map_id and hex.q = unit.q and hex.r = unit.r"
            " where unit.position_id = :position and unit.side = 'us' and hex.label = :at"
            " and unit.kind not in ('regimental_hq', 'command_post', 'hero', 'garrison') order by unit.code",
            proves=False,
            at=label,
        )
        there = [row.code for row in rows]
        while len(there) > 2:
            lost = yield from names.one("excess", f"which unit in {label} is eliminated", there)
            there.remove(lost)
            yield from losses.eliminate(lost, "7.53", f"{label} holds more than two units")


def _forget(flags: Sequence[str]) -> Deciding:
    rows = yield Ask(
        "select code, attributes from unit where position_id = :position and attributes ?| :flags order by code",
        proves=False,
        flags=list(flags),
    )
    for row in rows:
        yield Change(
            {"unit": row.code, **{flag: None for flag in flags if flag in row.attributes}}, kept=True
        )


def _ranges_back() -> Deciding:
    """A post that an event had left a range of one commands as far as its marker says again."""
    rows = yield Ask(
        "select code, kind, attributes -> 'range_before' as before from unit"
        " where position_id = :position and attributes ? 'range_before' order by code",
        proves=False,
    )
    for row in rows:
        if row.kind == "command_post":
            yield Change({"unit": row.code, "command_range": row.before})
            yield Tell(Step("14.2", None, f"range {row.before}", f"{row.code} is under fire no longer"))
    yield from _forget(("range_before",))


def _take_off(kind: str) -> Deciding:
    """All markers of a kind leave the map."""
    rows = yield Ask(
        "select hex.label from marker join hex on hex.map_id = marker.map_id and hex.q = marker.q and hex.r = marker.r"
        " where marker.position_id = :position and marker.kind = :kind order by hex.label",
        proves=False,
        kind=kind,
    )
    for row in rows:
        yield Change({"marker": kind, "at": row.label, "removed": True})


def dusk(_: NothingMore) -> Procedure:
    """18.21 step 1: at nightfall markers of action under fire and of disruption come off."""
    yield from _clean(("action_under_fire", "disrupted"), "18.21")


def hq_begins(_: NothingMore) -> Procedure:
    """18.2 IV: in the HQ Phase of Bloody Nose Ridge markers of action under fire come off."""
    [game] = yield Ask(GAME, proves=False)
    if is_ridge(game.conditions):
        yield from _clean(("action_under_fire",), "18.2")


def _clean(flags: Sequence[str], rule: str) -> Deciding:
    rows = yield Ask(
        "select code, attributes from unit where position_id = :position and attributes ?| :flags and q is not null order by code",
        proves=False,
        flags=list(flags),
    )
    for row in rows:
        yield Change({"unit": row.code, **{flag: False for flag in flags if row.attributes.get(flag)}})
        yield Tell(Step(rule, None, "markers off", row.code))


# The end of a turn.


def end_turn(_: NothingMore) -> Procedure:
    """4.0 VII: cards are discarded, the game is reckoned up, the next turn begins."""
    [game] = yield Ask(GAME, proves=False)
    turn = game.conditions.get("turn")
    if turn is None:
        raise Undecided(Need("the turn", "4.0"), over=None)
    yield from _discard(game.tracks.get("deck"))
    yield from _take_off("smoke")
    yield from _ranges_back()
    yield from _forget(("under_fire", "drifted"))
    if turn == NIGHT and not is_ridge(game.conditions):
        yield from lose_contact(Hand())
    if (
        is_ridge(game.conditions)
        and turn == CHANGE_OF_COMMAND
        and game.conditions.get("rupertus") is not False
    ):
        yield Change({"conditions": {"rupertus": False}})
        yield Tell(Step("18.32", None, "command changes", "on turn 12 at the latest"))
    ended = yield from _reckoned(game)
    yield Tell(over=ended["ended"])
    if ended["ended"]:
        yield Tell(
            Step("4.0", None, "over", "the game ends here"),
            winner=ended.get("winner"),
            level=ended.get("level"),
        )
        return
    yield from _loss_level(turn + 1)
    yield Tell(Step("4.0", None, "begins", f"turn {turn + 1}"), turn=turn + 1)
    [now] = yield Ask(GAME, proves=False)
    first = Walk("ddp").first_moment(State(now.conditions, now.tracks).at(turn + 1))
    yield Change({"conditions": {"turn": turn + 1, "phase": first.phase, "active": first.active}})


def _reckoned(game: Any) -> Deciding:
    """Whether the game is over (15.0, 17.0, 18.4)."""
    found = yield Put("victory", proves=False)
    return found.answer


def _discard(deck: Mapping[str, Sequence[int]] | None) -> Deciding:
    """4.0 VII: the cards of the turn go to the discards; more there than in the deck, and all is shuffled."""
    if not deck:
        return
    left, gone = list(deck.get("draw", ())), [*deck.get("discard", ()), *deck.get("shown", ())]
    shuffled = len(gone) > len(left)
    if shuffled:
        left, gone = [*left, *gone], []
        yield Tell(Step("4.0", None, "reshuffles", "there are more discards than cards in the deck"))
    yield Tell(reshuffled=shuffled)
    now = {"draw": sorted(left), "discard": gone}
    yield Change({"track": "deck", "value": {pile: cards for pile, cards in now.items() if cards}}, kept=True)


def _loss_level(turn: int) -> Deciding:
    """15.1: the level of catastrophic loss stands on the Turn Track."""
    [row] = yield Ask(
        "select max(cell.value) as level from charts.cell('ddp', 'turn_track', :turn, 'loss_level') as cell",
        proves=False,
        turn=str(turn),
    )
    if row.level is not None and row.level.isdigit():
        yield Change({"side": "us", "loss_level": int(row.level)})


# The night.


class Overnight(Action):
    """16.0: what is drawn are the elite units that come back."""


def overnight(of: Overnight) -> Procedure:
    """16.0 VII: half of the eliminated elite units come back to the reserve, and everything is face down again."""
    yield from lose_contact(Hand(of))


def lose_contact(hand: Hand) -> Deciding:
    """Japanese reorganization and loss of contact."""
    held = yield from pool("eliminated_elite")
    lost = len(held) if isinstance(held, list) else held or 0
    back = lost // 2
    yield Tell(
        Step(
            "16.0",
            None,
            f"{back} of {lost}",
            "eliminated elite units, half of them rounded down, go to the reserve",
        )
    )
    if back:
        yield from _elite_back(held, back, hand)
    rows = yield Ask(
        "select code, attributes from unit where position_id = :position and side = 'japan' and q is not null"
        " and (attributes @> '{\"revealed\": true}' or attributes -> 'depth' @> '{\"revealed\": true}') order by code",
        proves=False,
    )
    for row in rows:
        depth = row.attributes.get("depth")
        under = {} if depth is None else {"depth": {**depth, "revealed": False}}
        yield Change({"unit": row.code, "revealed": False, **under})
        yield Tell(Step("16.0", None, "face down", row.code))
    yield Tell(returned=back, hidden=[row.code for row in rows])


def _elite_back(held: Any, back: int, hand: Hand) -> Deciding:
    reserve = yield from pool("reserve")
    known_units = yield from waiting()
    drawn: list[Any] = []
    for _ in range(back):
        unit, held = yield from hand.counter("eliminated_elite", held, "an elite unit that comes back")
        drawn.append(unit)
        if isinstance(unit, str) and unit in known_units:
            yield Change({"unit": unit, "status": "reserve", "disrupted": False, "revealed": False})
    yield from left("eliminated_elite", held)
    if isinstance(reserve, list):
        # of a counter that nobody looked at no more is known
        known = [unit if isinstance(unit, str) else {**unit, "elite": True} for unit in drawn]
        yield from left("reserve", [*reserve, *known])
    elif isinstance(reserve, int):
        yield from left("reserve", reserve + back)


# The set-up.

SITES = (
    "select spot.label, spot.id, spot.place, spot.color, feature.attributes ->> 'setup' as setup, holder.code as held"
    " from positions.state(:position, :conditions, :policy) as state"
    " cross join lateral ddp._spots(state.map_id) as spot"
    " join map_feature as feature on feature.id = spot.feature"
    " left join unit as holder on holder.position_id = state.position_id and holder.side = 'japan'"
    " and holder.q = spot.q and holder.r = spot.r order by spot.label"
)
COUNTERS = (
    "select code, attributes from unit where position_id = :position and side = 'japan' and q is null"
    " and attributes ->> 'status' is distinct from 'eliminated' order by code"
)
COUNTS = "select column_key, value from charts.cells('ddp', 'setup_counts') where row_key = :scenario and value <> '-'"
DEPTH_AT = ("B1", "B4", "B5")
"""3.0: positions whose units begin with a depth marker."""


class Setup(Action):
    """Which scenario is set up; the counters and the bombardment card are drawn."""

    scenario: Annotated[
        Literal["invasion", "15_september", "peleliu_assault", "bloody_nose_ridge"] | None,
        BeforeValidator(spelt_out),
    ] = Field(None, description="The scenario; that of the conditions where nothing is said")
    alternate: bool = Field(False, description="Whether tanks begin in their alternate positions (20.2)")


def setup(of: Setup) -> Procedure:
    """3.0, 18.1: units drawn blind into the marked hexes, tanks, depth, and the bombardment before the invasion."""
    [game] = yield Ask(GAME, proves=False)
    if game.conditions.get("phase") is None and game.conditions.get("drawn"):
        raise Refused("3.0", "the scenario has been set up")
    yield Change({"conditions": {"drawn": 1}}, kept=True)
    scenario = of.scenario or game.conditions.get("scenario", "invasion")
    counts = yield Ask(COUNTS, proves=False, scenario="15_september" if scenario == "invasion" else scenario)
    if counts:
        rule = "18.1" if scenario == "bloody_nose_ridge" else "3.0"
        told = {row.column_key: int(row.value) for row in counts}
        yield Tell(Step(rule, None, "counts", "as the book has them"), counts=told)
    hand = Hand(of)
    sites = yield Ask(SITES, proves=False)
    counters = yield Ask(COUNTERS, proves=False)
    placed: dict[str, str] = {}
    if scenario != "bloody_nose_ridge":
        placed = yield from _placed(of, sites, counters, hand)
        yield Tell(placed=placed)
        yield from _bombarded()


def _placed(of: Setup, sites: Sequence[Any], counters: Sequence[Any], hand: Hand) -> Deciding:
    """Each marked hex gets a unit face down; those that are left are the reserve."""
    tanks = [unit.code for unit in counters if unit.attributes.get("tank")]
    others = [unit.code for unit in counters if not unit.attributes.get("tank")]
    # 3.0: an armor depth marker beneath each, which may say itself what it is
    deep_tanks = {unit.code for unit in counters if "depth" in unit.attributes}
    armor = "armor_alternate" if of.alternate else "armor"
    if of.alternate:
        yield Tell(points=("ddp-28",))
    placed: dict[str, str] = {}
    deep: dict[str, str] = {}
    for site in sites:
        if site.held is not None:
            continue
        if site.setup == armor and tanks:
            code = yield from _drawn(tanks, f"the tank in {site.id}", hand)
            under = {} if code in deep_tanks else {"depth": {"revealed": False}}
            yield Change({"unit": code, "at": site.label, "revealed": True, "disrupted": True, **under})
            placed[site.label] = code
        elif (
            site.setup in ("x", "artillery") or (of.alternate and site.id in ("B14", "B15", "C3"))
        ) and others:
            code = yield from _drawn(others, f"the unit in {site.id}", hand)
            yield Change({"unit": code, "at": site.label})
            placed[site.label] = code
            if site.id in DEPTH_AT:
                deep[site.id] = code
    for id, code in deep.items():
        depth = yield from draw_depth(hand, f"depth in {id}")
        if depth is not None:
            yield Change({"unit": code, "depth": depth})
    if counters:
        for code in others:
            yield Change({"unit": code, "status": "reserve"})
        yield from left("reserve", others)
        yield Tell(
            Step(
                "3.0", None, "placed", f"{counted(len(placed), 'unit')} on the map, {len(others)} in reserve"
            )
        )
    return placed


def _drawn(pool: list[str], purpose: str, hand: Hand) -> Deciding:
    """One of the units that are left, drawn blind."""
    code = pool[0] if len(pool) == 1 else (yield from hand.draw(Blind("reserve", purpose, tuple(pool))))
    if isinstance(code, Mapping):
        code = code["id"]
    pool.remove(code)
    return code


def _bombarded() -> Deciding:
    """3.0: one card disrupts all Japanese units in positions of its three colors."""
    card = yield from cards.fire("the bombardment before the invasion")
    colors = [color.name for color in card.colors]
    rows = yield Ask(
        "select holder.code, holder.label, holder.color, holder.disrupted"
        " from positions.state(:position, :conditions, :policy) as state"
        " cross join lateral ddp._occupants(state) as holder where holder.color = any(:colors) and not holder.fortification"
        " order by holder.code",
        proves=False,
        colors=colors,
    )
    hit = [row for row in rows if not row.disrupted]
    for row in hit:
        yield Change({"unit": row.code, "disrupted": True})
        yield Tell(Step("3.0", row.label, "disrupted", f"{row.code}: {row.color} is on the card"))
    yield Tell(disrupted=[row.code for row in hit])


# Words.


def _turn_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "The turn is not told, and so not which comes next"
    if not answer["over"]:
        return f"Turn {answer['turn']} begins"
    whose = {"us": "the US side wins", "japan": "the US side loses"}
    return f"The game is over; {whose.get(answer.get('winner') or '', 'nobody has won')}"


def _night_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if "returned" not in answer:
        return "The night waits for a draw"
    return f"{counted(answer['returned'], 'elite unit')} back in reserve, {counted(len(answer['hidden']), 'unit')} face down again"


def _setup_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if "disrupted" not in answer:
        return (
            "The set-up goes by the counts of the book"
            if "placed" not in answer
            else "The set-up waits for its card"
        )
    return clauses(
        f"{counted(len(answer['placed']), 'unit')} placed",
        f"disrupted: {series(answer['disrupted'])}" if answer["disrupted"] else "nobody is disrupted",
    )


def _done_verdict(ruling: Ruling) -> str:
    if ruling.answer["allowed"] is False:
        return f"The phase cannot end: {ruling.answer['why']}"
    return "What belongs to the end or beginning of the phase is done"


def _plain(play: Any, name: str, title: str) -> Any:
    return procedure_kind(
        play,
        kinds=functools.partial(kinds_of, "ddp"),
        name=name,
        title=title,
        arguments=NothingMore,
        rulesets=("ddp",),
        answers={},
        verdict=_done_verdict,
        acts=False,
        example=f"{name}: {{}}",
    )


KINDS = [
    _plain(phase_duties, "phase_duties", "What must be done before a phase ends"),
    _plain(action_phase_ends, "action_phase_ends", "The end of the US Action Phase"),
    _plain(dusk, "dusk", "Nightfall on Bloody Nose Ridge"),
    _plain(hq_ends, "hq_ends", "The end of the HQ Phase"),
    _plain(hq_begins, "hq_begins", "The beginning of the HQ Phase"),
    procedure_kind(
        end_turn,
        kinds=functools.partial(kinds_of, "ddp"),
        name="end_turn",
        title="The end of a turn",
        arguments=NothingMore,
        rulesets=("ddp",),
        answers={
            "over": "whether the game is over; null where the turn is not told",
            "winner": "who has won, where it is over",
            "level": "how: win, loss, decisive_loss or draw",
            "turn": "the turn that begins",
            "reshuffled": "whether the discards are shuffled back into the deck",
            "returned": "turn 13: elite units that come back to the reserve",
            "hidden": "turn 13: Japanese units that are face down again",
        },
        verdict=_turn_verdict,
        acts=False,
        example="end_turn: {}",
    ),
    procedure_kind(
        overnight,
        kinds=functools.partial(kinds_of, "ddp"),
        name="overnight",
        title="The end of the overnight turn",
        arguments=Overnight,
        rulesets=("ddp",),
        answers={
            "returned": "how many elite units come back to the reserve",
            "hidden": "Japanese units that are face down again, with their depth",
        },
        verdict=_night_verdict,
        acts=False,
        example="overnight: {}",
    ),
    procedure_kind(
        setup,
        kinds=functools.partial(kinds_of, "ddp"),
        name="setup",
        title="Setting up a scenario",
        arguments=Setup,
        rulesets=("ddp",),
        answers={
            "counts": "how many counters of each kind the book sets up",
            "placed": "the unit drawn for each marked hex",
            "disrupted": "the units that the bombardment disrupts",
        },
        verdict=_setup_verdict,
        points=("ddp-28",),
        example="setup: {scenario: 15_september, cards: [{colors: [red, blue, green], symbol: circle}]}",
    ),
]
