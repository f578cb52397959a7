"""The turns of Guam (2.0, 4.0): how its phases and steps follow each other, and the end of a turn."""

from __future__ import annotations

import datetime
import functools
from typing import Any

from app.play import sequence
from app.play.css.frame import Asking, NothingMore, css_kind, game
from app.play.css.points import lifted, to_transport
from app.play.procedures import Ask, Change, Procedure, Tell, Undecided
from app.play.sequence import Leaf, Moment, State
from app.referee.rulings import Need, Ruling, Step
from db.rulesets import Phase

MORNING = "0500"
NIGHT_1, NIGHT_2 = "night_1", "night_2"
DAY_STEPS = ("weather", "fatigue_check", "illumination_off", "whiskey_sake")
"""Steps that only the 0500 turn has (4.0 1 A to D)."""
NIGHT_STEPS = ("disband_ambush", "move_artillery")
"""Steps that only the second night turn has (4.0 1 E, F)."""
START = "start"
CHIT_STEPS = ("wind", "naval_support", "air_support", "random_event", "amphibious")
ACTIVATION = "leaders"
COMMANDS = "gain_commands"
LAST_STEP = "overstacking"
ACTIVATED = (
    "leaders", "attach", "restock", "detach", "clear_markers", "assaults", "place_assaults", "postures", "actions",
    "second_actions",
)  # fmt: skip
SIDES = ("us", "japan")


class Walk(sequence.Walk):
    """4.0: steps of the morning and of the night, chits that are drawn until the cup is empty."""

    def holds(self, leaf: Leaf, state: State) -> bool:
        turn, code = state.conditions.get("turn"), leaf.phase.code
        if code in DAY_STEPS:
            return turn == MORNING
        if code in NIGHT_STEPS:
            return turn == NIGHT_2
        return True

    def side(self, phase: Phase, state: State) -> str | None:
        """The owner of the chit that is played; both players in steps that are both's."""
        if phase.who != "owner":
            return super().side(phase, state)
        return active_side(state.conditions, state.tracks)

    def moment(self, state: State) -> Moment:
        told = state.conditions
        phase, step = told.get("phase"), told.get("step")
        here = next((leaf for leaf in self.leaves if (leaf.within, leaf.phase.code) == (phase, step)), None)
        fixed = here is not None and here.phase.who in SIDES
        side = here.phase.who if here is not None and fixed else active_side(told, state.tracks)
        return Moment(told.get("turn"), phase, side, step if phase else None)

    def leaf(self, state: State) -> Leaf | None:
        """Of the two steps of one name in the Action Phase it does not matter which."""
        if state.conditions.get("step") in (None, START) and state.conditions.get("phase"):
            return self._start(state.conditions["phase"])
        return super().leaf(state)

    @functools.cache  # noqa: B019 - there is one walk of a game
    def _start(self, phase: str) -> Leaf:
        """Before the first step of a phase nothing is done yet."""
        first = next(leaf for leaf in self.leaves if leaf.within == phase)
        title = f"Start of the {phase.title()} Phase"
        return Leaf(Phase(code=START, title=title, rule=first.phase.rule), phase)

    def following(self, state: State) -> Moment:
        told = state.conditions
        phase, step = told.get("phase"), told.get("step")
        if phase is None:
            return moment_at(
                self, "preparation", self._first("preparation", state.at(self.first_turn(state))), state
            )
        if step in (None, START):
            return moment_at(self, phase, self._first(phase, state), state)
        if phase == "action" and step not in ("fill_cup", "illumination_off", "purchase"):
            return self._after_chit(state)
        if phase == "preparation" and step == "weather" and told.get("weather") == "tropical_storm":
            # 4.0 1A: the day is skipped
            return moment_at(self, "preparation", "weather", state)
        within = [leaf for leaf in self.leaves if leaf.within == phase]
        codes = [leaf.phase.code for leaf in within]
        for leaf in within[codes.index(step) + 1 :]:
            if self._comes(leaf, state):
                return moment_at(self, phase, leaf.phase.code, state)
        phases = ("preparation", "action", "end")
        if phase == phases[-1]:
            later = state.at(self.next_turn(state))
            return moment_at(self, "preparation", self._first("preparation", later), later)
        later_phase = phases[phases.index(phase) + 1]
        return moment_at(self, later_phase, self._first(later_phase, state), state)

    def _comes(self, leaf: Leaf, state: State) -> bool:
        if leaf.within == "action" and leaf.phase.code == "illumination_off":
            return state.conditions.get("turn") == MORNING
        return self.holds(leaf, state)

    def _first(self, phase: str, state: State) -> str:
        return next(
            leaf.phase.code for leaf in self.leaves if leaf.within == phase and self._comes(leaf, state)
        )

    def _after_chit(self, state: State) -> Moment:
        """The steps of a chit, and after the last the next purchase, or the End Phase where the cup is empty."""
        step = state.conditions["step"]
        order = ACTIVATED if step in ACTIVATED else ("gain_commands", "activate")
        if step in order:
            n = order.index(step) + 1
            return moment_at(self, "action", order[n] if n < len(order) else LAST_STEP, state)
        if step == "draw" or state.tracks.get("cup"):
            return moment_at(self, "action", "purchase", state)
        return moment_at(self, "end", self._first("end", state), state)

    def next_turn(self, state: State) -> Any:
        return turn_after(state.conditions.get("turn"), state.tracks)

    def first_turn(self, state: State) -> Any:
        return state.conditions.get("turn") or MORNING

    def conditions(self, moment: Moment) -> dict[str, Any]:
        """Who is Active is the chit's to tell, not the step's; it ends with the chit."""
        told: dict[str, Any] = {"turn": moment.turn, "phase": moment.phase, "step": moment.step}
        if moment.phase != "action" or moment.step in ("purchase", "draw", "fill_cup"):
            told |= {"active": None, "activation": None}
        return told


def moment_at(walk: sequence.Walk, phase: str, step: str, state: State | None = None) -> Moment:
    """The moment of a step; `turn` stays as it is where no state is told."""
    conditions = state.conditions if state is not None else {}
    leaf = next(leaf for leaf in walk.leaves if (leaf.within, leaf.phase.code) == (phase, step))
    side = walk.side(leaf.phase, state) if state is not None else None
    return Moment(conditions.get("turn"), phase, side, step)


def active_side(conditions: dict[str, Any], tracks: dict[str, Any]) -> str | None:
    """The side of who is Active."""
    active = conditions.get("active")
    if isinstance(active, str):
        return active
    if not active:
        return None
    if active.get("side"):
        side: str = active["side"]
        return side
    division = active.get("division")
    told = tracks.get("divisions", {}).get(division, {}).get("side")
    return told if told in SIDES else PRINTED.get(division or "")


PRINTED = {
    "3 MarDiv": "us",
    "77 InfDiv": "us",
    "1 PMB": "us",
    "29 InfDiv": "japan",
    "48 IMB": "japan",
    "Navy": "japan",
}
"""The Divisions of the game, of which a position may leave out the sides (19.0)."""


def first_step(turn: str) -> str:
    """The step with which a turn begins."""
    return {MORNING: "weather", NIGHT_2: "disband_ambush"}.get(turn, "spend_dispatch")


def turn_after(turn: Any, tracks: dict[str, Any]) -> Any:
    """The turn after one: two nights, then the morning; by day as the turn track has it, which is not printed."""
    track = (tracks.get("schedule") or {}).get("turns")
    if track and turn in track:
        return track[(track.index(turn) + 1) % len(track)]
    return {NIGHT_1: NIGHT_2, NIGHT_2: MORNING}.get(turn)


def day_after(day: str | None) -> str | None:
    """The next day of 1944, `07-26` after `07-25`."""
    if day is None:
        return None
    month, number = map(int, day.split("-"))
    later = datetime.date(1944, month, number) + datetime.timedelta(days=1)
    return f"{later:%m-%d}"


def storm_passes(_: NothingMore) -> Procedure:
    """4.0 1A: a day of storm is over before it began."""
    state, _tracks = yield from game()
    if state.conditions.get("weather") == "tropical_storm":
        yield Tell(Step("4.0", None, "skips", "the day is skipped"))
        yield Change({"conditions": {"day": day_after(state.conditions.get("day"))}})


def illumination_off(_: NothingMore) -> Procedure:
    """4.0 2B."""
    yield from lifted("illumination")


def _read_turn(track: Any, turn: Any) -> Any:
    """What the players read off the turn track, which is not printed: the turns in order, or the next one."""
    if isinstance(track, list):
        return turn_after(turn, {"schedule": {"turns": track}})
    return track


def end_turn(of: NothingMore) -> Procedure:
    """4.0 3 A to D: victory, the end of the game, the next turn; 17.0: at night all go back to Transport."""
    state, tracks = yield from game()
    told = state.conditions
    turn = told.get("turn")
    if turn is None:
        raise Undecided(Need("the turn", "4.0"), over=None)
    over, winner = yield from _reckoned(tracks, told)
    yield Tell(over=over)
    if over:
        yield Tell(Step("4.0", None, "over", "the game ends here"), winner=winner)
        return
    yield from _bombardments_end()
    later = turn_after(turn, tracks) or _read_turn(of.read.get("turn_track"), turn)
    if later is None:
        raise Undecided(Need("turn_track", "2.0"), over=False)
    yield Tell(Step("4.0", None, "begins", f"the turn {later}"), turn=later)
    changed: dict[str, Any] = {"turn": later, "time": "night" if later.startswith("night") else "day"}
    changed["night"] = {NIGHT_1: 1, NIGHT_2: 2}.get(later)
    if later == MORNING:
        changed["day"] = day_after(told.get("day"))
    yield Tell(day=changed.get("day", told.get("day")))
    changed |= {"active": None, "activation": None}
    changed |= {"phase": "preparation", "step": first_step(later)}
    yield Change({"conditions": changed})
    if later == NIGHT_1:
        yield from to_transport("17.0")
        yield from _skaggs_leaves()
    yield from _repaired(tracks, changed, told)
    yield from _counted_down(tracks)


def _repaired(tracks: dict[str, Any], now: dict[str, Any], before: dict[str, Any]) -> Procedure:
    """11.3.2: an airfield that was repaired is in use from the same turn of the day that was rolled for."""
    due = (tracks.get("schedule") or {}).get("orote_operational")
    if not isinstance(due, dict):
        return
    day = now.get("day", before.get("day"))
    if (day, now["turn"]) != (due.get("day"), due.get("turn")):
        return
    yield Tell(Step("11.3.2", "23.79", "operational", "Orote Airfield is in use"))
    rows = yield Ask(
        "select 1 from marker where position_id = :position and kind = 'orote_cleared'", proves=False
    )
    if rows:
        yield Change({"marker": "orote_cleared", "at": "23.79", "removed": True})
    yield Change({"marker": "orote_operational", "at": "23.79"})
    yield Change({"track": "schedule.orote_operational", "value": None}, kept=True)


def _bombardments_end() -> Procedure:
    """8.7.7: a bombardment lasts to the end of the turn."""
    yield from lifted("bombardment")


def _skaggs_leaves() -> Procedure:
    """14.1: until the next Night I turn."""
    query = "select code from unit where position_id = :position and kind = 'hero' and code ilike '%skaggs%' and q is not null"
    for row in (yield Ask(query, proves=False)):
        yield Tell(Step("14.1", None, "leaves", f"{row.code} leaves the game at nightfall"))
        yield Change({"unit": row.code, "eliminated": True})


def _counted_down(tracks: dict[str, Any]) -> Procedure:
    """Turns until what is delayed arrives, and turns played; chits bought are of one turn."""
    query = "select code, attributes ->> 'due' as due from unit where position_id = :position and attributes ? 'due' order by code"
    for row in (yield Ask(query, proves=False)):
        yield Change({"unit": row.code, "due": int(row.due) - 1 or None}, kept=True)
    played = (tracks.get("schedule") or {}).get("played")
    if played is not None:
        yield Change({"track": "schedule.played", "value": played + 1}, kept=True)
    yield Change({"track": "bought", "value": None}, {"track": "played", "value": None}, kept=True)


def _reckoned(tracks: dict[str, Any], conditions: dict[str, Any]) -> Asking:
    from app.play.css.victory import reckoned

    return (yield from reckoned())


def _turn_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if not answer["over"]:
        return f"The turn {answer['turn'].replace('_', ' ')} begins"
    whose = {"us": "the US side wins", "japan": "the Japanese win", "draw": "it is a draw"}
    return f"The game is over; {whose.get(answer.get('winner') or '', 'nobody has won')}"


KINDS = [
    css_kind(
        storm_passes,
        name="storm_passes",
        title="A day of storm is skipped",
        what="skipping",
        done=lambda ruling: "The day is skipped" if ruling.answer["effects"] else "The day is played",
        arguments=NothingMore,
        acts=False,
        example="storm_passes: {}",
    ),
    css_kind(
        illumination_off,
        name="illumination_off",
        title="Illumination Rounds come off",
        what="removal",
        done=lambda _: "No Illumination Rounds are left",
        arguments=NothingMore,
        acts=False,
        example="illumination_off: {}",
    ),
    css_kind(
        end_turn,
        name="end_turn",
        title="The end of a turn",
        what="end of the turn",
        done=_turn_verdict,
        arguments=NothingMore,
        answers={
            "over": "whether the game is over; null where the turn is not told",
            "winner": "who has won, where it is over",
            "turn": "the turn that begins",
        },
        acts=False,
        example="end_turn: {}",
    ),
]
