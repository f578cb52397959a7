"""The end of player turns and game turns (4.1): flags fall, used markers return, the next game turn or the end."""

from __future__ import annotations

import functools
from collections.abc import Generator
from typing import Any

from app.play.procedures import (
    Action,
    Ask,
    Change,
    Procedure,
    Tell,
    Undecided,
    Want,
    procedure_kind,
)
from app.referee.questions import kinds_of
from app.referee.rulings import Need, Ruling, Step
from db.values import canonical

FLAGS = (
    "moved", "attacked", "advanced", "displaced", "landed", "hit", "forced", "blocked_by", "rebuilt",
)  # fmt: skip
"""What a unit did and suffered in a player turn."""
Reckoned = tuple[bool, str | None]
"""Whether the game is over, and who has won."""
SIDES = ("us", "japan")
FIRST_PHASE = "support_fire"
GAME = (
    "select cast(:conditions as jsonb) as conditions, positions.readings(:position, :policy) as readings,"
    " tracks from position where id = :position"
)


class NothingMore(Action):
    """What is asked is only the position."""


def end_player_turn(_: NothingMore) -> Procedure:
    """4.1: what was done in a player turn is forgotten; fpb-9 c: used markers return already."""
    yield from _flags_fall()
    [game] = yield Ask(GAME, proves=False)
    used = game.tracks.get("used", {})
    if any(used.values()):
        yield Tell(points=("fpb-9",))
    if game.readings["fpb-9"] == "c":
        yield from _markers_return(game)


def _flags_fall() -> Procedure:
    units = yield Ask(
        "select code, attributes from unit where position_id = :position and attributes ?| :flags order by code",
        proves=False,
        flags=list(FLAGS),
    )
    for unit in units:
        yield Change(
            {"unit": unit.code, **{flag: None for flag in FLAGS if flag in unit.attributes}}, kept=True
        )
    yield Tell(Step("4.1", None, "forgotten", "what units did and suffered in the player turn"))


def _markers_return(game: Any) -> Procedure:
    """17.0: markers go back into their cups; those that serve once are gone."""
    cups, used, removed = (game.tracks.get(name, {}) for name in ("cup", "used", "removed"))
    returned: dict[str, list[Any]] = {}
    if any(marker.get("type") == "naval" and not marker.get("single_use") for marker in used.get("us", [])):
        yield Tell(points=("fpb-7",))
    for side in SIDES:
        spent = [marker for marker in used.get(side, []) if _serves_once(marker, game.readings)]
        back = [marker for marker in used.get(side, []) if marker not in spent]
        if not spent and not back:
            continue
        returned[side] = back
        yield Change(
            {"track": f"cup.{side}", "value": cups.get(side, []) + back or None},
            {"track": f"used.{side}", "value": None},
            {"track": f"removed.{side}", "value": removed.get(side, []) + spent or None},
            kept=True,
        )
    if returned:
        yield Tell(Step("7.2", None, "returns", "used markers are in their cups again"), returned=returned)


def _serves_once(marker: dict[str, Any], readings: dict[str, str]) -> bool:
    # fpb-7 b: a naval marker that was not withheld returns
    naval = marker.get("type") == "naval" and readings["fpb-7"] == "a"
    return bool(marker.get("single_use")) or marker.get("type") == "banzai" or naval


def end_turn(_: NothingMore) -> Procedure:
    """4.1, 18.0: the last game turn is reckoned up; else the next begins."""
    yield from _flags_fall()
    [game] = yield Ask(GAME, proves=False)
    turn = game.conditions.get("turn")
    if turn is None:
        raise Undecided(Need("the game turn", "4.1"), over=None)
    yield from _markers_return(game)
    if turn == 1 and game.tracks.get("withheld"):
        # 18.1: they had to be used on the first game turn
        yield Change({"track": "withheld", "value": None}, kept=True)
    over, winner = yield from _reckoned(game, turn)
    yield Tell(over=over)
    if over:
        yield Tell(Step("4.1", None, "over", "the game ends here"), winner=winner)
        return
    yield Tell(Step("4.1", None, "begins", f"game turn {turn + 1}"))
    yield Change({"conditions": {"turn": turn + 1, "phase": FIRST_PHASE, "active": None}})


def _reckoned(game: Any, turn: int) -> Generator[Want, Any, Reckoned]:
    """Whether the game is over, and who has won."""
    scenario = game.conditions.get("scenario")
    if game.conditions.get("island") is None:
        yield Tell(Step("18.0", None, "assumed", "no island is told, and so no last game turn"))
        return False, None
    last = scenario == "sequenced" or scenario == "simultaneous"
    [row] = yield Ask("select value from charts.cell('fpb', 'scenario_lengths', :island, 'game_turns')",
                      proves=False, island=game.conditions["island"])  # fmt: skip
    if not last and turn < int(row.value):
        return False, None
    rows = yield Ask("select * from fpb.island_won(:position, :conditions, :policy)")
    met = rows[-1].facts["met"]
    if not last:
        return True, None if met is None else "us" if met else "japan"
    if met and "won_on" not in game.tracks:
        yield Change({"track": "won_on", "value": turn})
    if scenario == "sequenced":
        return (yield from _sequenced(game, turn, bool(met)))
    return (yield from _simultaneous(game, turn, bool(met)))


def _campaign() -> Generator[Want, Any, dict[str, Any]]:
    [told] = yield Ask("select * from fpb.campaign(:position, :conditions, :policy)", proves=False)
    islands: dict[str, Any] = told.islands
    return islands


def _sequenced(game: Any, turn: int, met: bool) -> Generator[Want, Any, Reckoned]:
    """18.2: an island is played until it is won; one that cannot be is fpb-52."""
    island = game.conditions["island"]
    islands = yield from _campaign()
    if not met:
        [row] = yield Ask("select fpb.is_hopeless(:position, :conditions, :policy) as hopeless", proves=False)
        if not row.hopeless:
            return False, None
        islands = {**islands, island: {**islands[island], "given_up": turn}}
    rows = yield Ask(
        "select * from fpb.points(:position, cast(:islands as jsonb), :conditions, :policy)",
        islands=canonical(islands),
    )
    facts = rows[-1].facts
    yield Tell(facts={"points": facts["points"]})
    yield Change({"track": "vp", "value": facts["points"][island]})
    return True, facts["winner"]


def _simultaneous(game: Any, turn: int, met: bool) -> Generator[Want, Any, Reckoned]:
    """18.1: the track is as long as late islands leave it; of an island that is won the markers are discarded."""
    if met:
        for side in SIDES:
            if cup := game.tracks.get("cup", {}).get(side):
                gone = game.tracks.get("removed", {}).get(side, []) + cup
                yield Change(
                    {"track": f"cup.{side}", "value": None},
                    {"track": f"removed.{side}", "value": gone},
                    kept=True,
                )
        yield Tell(Step("18.1", None, "discards", "the support markers of an island that is won"))
    islands = yield from _campaign()
    rows = yield Ask(
        "select * from fpb.deadlines(:position, cast(:islands as jsonb), :conditions, :policy)",
        islands=canonical(islands),
    )
    facts = rows[-1].facts
    yield Tell(track=facts["track"])
    return facts["winner"] is not None, facts["winner"]


def _player_turn_verdict(_: Ruling) -> str:
    return "What was done in the player turn is forgotten"


def _turn_verdict(ruling: Ruling) -> str:
    answer = ruling.answer
    if answer["allowed"] is None:
        return "The game turn is not told, and so not which comes next"
    if not answer["over"]:
        turn = answer["effects"][-1]["conditions"]["turn"]
        return f"Game turn {turn} begins"
    whose = {"us": "the US side wins", "japan": "the Japanese win", "draw": "it is a draw"}
    return f"The game is over; {whose.get(answer.get('winner') or '', 'nobody has won')}"


KINDS = [
    procedure_kind(
        end_player_turn,
        kinds=functools.partial(kinds_of, "fpb"),
        name="end_player_turn",
        title="The end of a player turn",
        arguments=NothingMore,
        rulesets=("fpb",),
        answers={"returned": "support markers that are in their cups again, by side"},
        verdict=_player_turn_verdict,
        points=("fpb-7", "fpb-9"),
        acts=False,
        example="end_player_turn: {}",
    ),
    procedure_kind(
        end_turn,
        kinds=functools.partial(kinds_of, "fpb"),
        name="end_turn",
        title="The end of a game turn",
        arguments=NothingMore,
        rulesets=("fpb",),
        answers={
            "over": "whether the game is over; null where the game turn is not told",
            "winner": "who has won, where it is over: us, japan or draw",
            "returned": "support markers that are in their cups again, by side",
            "points": "sequenced: victory points of each island, and their total",
            "track": "simultaneous: game turns of the whole scenario",
        },
        verdict=_turn_verdict,
        points=("fpb-7", "fpb-24", "fpb-25", "fpb-37", "fpb-38", "fpb-52"),
        acts=False,
        example="end_turn: {}",
    ),
]
